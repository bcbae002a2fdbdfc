-- Clicks as they come, from files: a record is a line's bytes and its place. Profile 'kafka' takes input_kafka.sql instead.
CREATE TABLE clicks (
  `raw` BYTES NOT NULL,
  source_name STRING NOT NULL METADATA FROM 'file.name' VIRTUAL,
  source_offset BIGINT NOT NULL METADATA FROM 'caudal.offset' VIRTUAL
) WITH (
  'connector' = 'filesystem',
  'path' = 'clickstream-data/in',
  'format' = 'raw',
  'source.monitor-interval' = '100 ms'
);
