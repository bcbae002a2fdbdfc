-- The same pipeline as two queries over the tables of tables.sql and features.sql: each reads the stream on its own and has its own
-- checkpoint and dead letters, so that one that is down does not hold the other. The features are the newest closed
-- window of each account. Run by two-queries.yaml.

INSERT INTO silver
SELECT transaction_id, account_id, merchant_id, amount, currency, `timestamp`, channel, country_code, status,
  merchant_category, source_name, source_offset,
  DATE_FORMAT(`timestamp`, 'yyyy-MM-dd'), DATE_FORMAT(`timestamp`, 'HH')
FROM deduplicated;

-- The window table function emits each window once, when the watermark closes it: an append.
CREATE VIEW closed_windows AS
SELECT account_id, window_start, window_end, COUNT(*) AS txn_count_1h, AVG(amount) AS avg_amount_1h,
  APPROX_COUNT_DISTINCT(merchant_id) AS distinct_merchants_1h
FROM TABLE(HOP(TABLE deduplicated, DESCRIPTOR(rowtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
GROUP BY account_id, window_start, window_end;

INSERT INTO features_latest
SELECT account_id, window_start, window_end, txn_count_1h, avg_amount_1h, distinct_merchants_1h
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY window_end DESC) AS newest
  FROM closed_windows
)
WHERE newest = 1;
