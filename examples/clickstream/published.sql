-- When each click became visible, and the freshness of the SLO: run with the state folder's operations store, as in
--   caudal sql --ops state examples/clickstream/published.sql

CREATE CATALOG main WITH ('type' = 'iceberg', 'warehouse' = 'clickstream-data/lake');

-- Silver, and with each row the number of the commit that wrote it last.
CREATE TEMPORARY TABLE numbered (
  commit_number BIGINT METADATA FROM '_last_updated_sequence_number' VIRTUAL,
  asked_at AS PROCTIME()
) LIKE main.silver.web_events;

-- A row cannot hold the time of its own commit; the operations store can.
CREATE TEMPORARY VIEW web_events_published AS
SELECT e.event_id, e.event_ts, e.ingested_at, e.pipeline_version, c.published_at
FROM numbered AS e
LEFT JOIN ops.commits FOR SYSTEM_TIME AS OF e.asked_at AS c
ON c.sequence_number = e.commit_number AND c.table_name = 'main.silver.web_events';

-- By hour of the event: how long 95 of 100 clicks took from the event to be visible. The rank from below and the
-- rank from above are one more than all rows together, so that each row knows which of how many it is.
CREATE TEMPORARY VIEW aged AS
SELECT DATE_FORMAT(event_ts, 'yyyy-MM-dd HH:00') AS `hour`, event_id,
  TIMESTAMPDIFF(SECOND, event_ts, published_at) AS freshness_s
FROM web_events_published
WHERE published_at IS NOT NULL;

CREATE TEMPORARY VIEW ranked AS
SELECT `hour`, freshness_s, from_below, from_above FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY `hour` ORDER BY freshness_s DESC, event_id DESC) AS from_above FROM (
    SELECT * FROM (
      SELECT *, ROW_NUMBER() OVER (PARTITION BY `hour` ORDER BY freshness_s, event_id) AS from_below FROM aged
    ) WHERE from_below <= 100000000
  )
) WHERE from_above <= 100000000;

SELECT `hour`, freshness_s AS freshness_p95_s, from_below + from_above - 1 AS published_events
FROM ranked
WHERE from_below = CAST(CEIL(0.95 * (from_below + from_above - 1)) AS BIGINT)
ORDER BY `hour` DESC;
