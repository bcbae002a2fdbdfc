-- Clicks as they come, from a topic: profile 'kafka'. A record is its value's bytes and its place.
CREATE TABLE clicks (
  `raw` BYTES NOT NULL,
  source_topic STRING NOT NULL METADATA FROM 'topic' VIRTUAL,
  source_partition INT NOT NULL METADATA FROM 'partition' VIRTUAL,
  source_offset BIGINT NOT NULL METADATA FROM 'offset' VIRTUAL,
  source_name AS source_topic || '[' || CAST(source_partition AS STRING) || ']'
) WITH (
  'connector' = 'kafka',
  'topic' = 'clicks',
  'properties.bootstrap.servers' = '${env:KAFKA_BOOTSTRAP}',
  'properties.group.id' = 'clickstream',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'raw'
);
