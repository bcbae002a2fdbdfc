-- Bronze: every record as it came, where it came from and when. No operator with state: nothing here can hold up what arrives,
-- and whatever the layers above got wrong can be made anew from it. A row's name is (source_name, source_offset).

CREATE TABLE IF NOT EXISTS main.bronze.web_events (
  `raw` BYTES NOT NULL,
  source_name STRING NOT NULL,
  source_offset BIGINT NOT NULL,
  ingested_at TIMESTAMP_LTZ(3) NOT NULL
) WITH ('format-version' = '3', 'caudal.partition-by' = 'day(ingested_at)');

-- Two targets have the same last name: each query is named by its layer.
SET 'pipeline.name' = 'bronze';

INSERT INTO main.bronze.web_events
SELECT `raw`, source_name, source_offset, CURRENT_TIMESTAMP
FROM clicks;
