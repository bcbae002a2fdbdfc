-- Gold: sessions of each user, which end five minutes after their last click. It reads silver as that grows, with a checkpoint of
-- its own, and gives a session once, when no click can come for it any more. A row's name is (user_id, session_start).

-- Silver with a clock that waits as long as silver's own: what was in time there is in time here.
CREATE TEMPORARY TABLE clicked (
  clicked_at AS CAST(event_ts AS TIMESTAMP(3)),
  WATERMARK FOR clicked_at AS clicked_at - INTERVAL '5' MINUTE
) WITH (
  'streaming' = 'true',
  'monitor-interval' = '100 ms',
  'starting-strategy' = 'INCREMENTAL_FROM_EARLIEST_SNAPSHOT'
) LIKE main.silver.web_events;

CREATE TABLE IF NOT EXISTS main.gold.sessions_5m (
  user_id STRING NOT NULL,
  session_start TIMESTAMP(3) NOT NULL,
  session_end TIMESTAMP(3) NOT NULL,
  clicks BIGINT NOT NULL,
  pages BIGINT NOT NULL
) WITH ('format-version' = '3');

SET 'pipeline.name' = 'gold';

INSERT INTO main.gold.sessions_5m
SELECT user_id, window_start, window_end, COUNT(*), COUNT(DISTINCT page)
FROM TABLE(SESSION(TABLE clicked PARTITION BY user_id, DESCRIPTOR(clicked_at), INTERVAL '5' MINUTE))
GROUP BY user_id, window_start, window_end;
