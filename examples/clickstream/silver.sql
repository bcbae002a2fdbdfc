-- Silver: what keeps the contract, once, in time. It reads bronze as that grows, with a checkpoint of its own; all that it decides
-- depends on what bronze keeps, so that the same bronze gives the same silver. A row's name is its event_id.

-- Bronze with a clock, under the name by which the pipeline file finds it. A click that claims to be made more than five minutes
-- after it arrived has no time of its own here: it must not move the clock.
CREATE TEMPORARY TABLE web_events (
  said_ts AS TO_TIMESTAMP(JSON_VALUE(CAST(`raw` AS STRING), '$.event_ts'), 'yyyy-MM-dd HH:mm:ss.SSS'),
  event_ts AS CASE
    WHEN TO_TIMESTAMP(JSON_VALUE(CAST(`raw` AS STRING), '$.event_ts'), 'yyyy-MM-dd HH:mm:ss.SSS')
      <= CAST(ingested_at AS TIMESTAMP(3)) + INTERVAL '5' MINUTE
    THEN TO_TIMESTAMP(JSON_VALUE(CAST(`raw` AS STRING), '$.event_ts'), 'yyyy-MM-dd HH:mm:ss.SSS')
  END,
  -- Five minutes: the pipeline file says why.
  WATERMARK FOR event_ts AS event_ts - INTERVAL '5' MINUTE
) WITH (
  'streaming' = 'true',
  'monitor-interval' = '100 ms',
  'starting-strategy' = 'INCREMENTAL_FROM_EARLIEST_SNAPSHOT'
) LIKE main.bronze.web_events;

CREATE TABLE IF NOT EXISTS main.silver.web_events (
  event_id STRING NOT NULL,
  user_id STRING NOT NULL,
  page STRING,
  event_ts TIMESTAMP(3) NOT NULL,
  event_date DATE NOT NULL,
  pipeline_version STRING NOT NULL,
  source_name STRING NOT NULL,
  source_offset BIGINT NOT NULL,
  ingested_at TIMESTAMP_LTZ(3) NOT NULL,
  PRIMARY KEY (event_id) NOT ENFORCED
) PARTITIONED BY (event_date) WITH ('format-version' = '3');

-- The conditions have names: each row that fails one is counted under it.
CREATE TEMPORARY VIEW checked AS
SELECT *, CAST(`raw` AS STRING) IS JSON OBJECT AS is_json, event_id <> '' AS has_event_id, user_id <> '' AS has_user_id,
  said_ts IS NOT NULL AS has_time, event_ts IS NOT NULL AS not_of_the_future
FROM (
  SELECT *, JSON_VALUE(CAST(`raw` AS STRING), '$.event_id') AS event_id,
    JSON_VALUE(CAST(`raw` AS STRING), '$.user_id') AS user_id,
    JSON_VALUE(CAST(`raw` AS STRING), '$.page') AS page
  FROM web_events
);

CREATE TEMPORARY VIEW valid AS
SELECT event_id, user_id, page, event_ts, source_name, source_offset, ingested_at
FROM checked
WHERE is_json AND has_event_id AND has_user_id AND has_time AND not_of_the_future;

SET 'pipeline.name' = 'silver';

-- The query remembers an event_id for an hour, the table for ever.
INSERT INTO main.silver.web_events /*+ OPTIONS('caudal.unique' = 'ignore') */
SELECT event_id, user_id, page, event_ts, CAST(event_ts AS DATE), '2026.03.01', source_name, source_offset, ingested_at
FROM DEDUPLICATE(
  input => TABLE valid PARTITION BY event_id,
  on_time => DESCRIPTOR(event_ts),
  retain => INTERVAL '1' HOUR);
