-- The same pipeline as two queries over the tables of tables.sql: each reads the stream on its own and has its own
-- checkpoint and dead letters, so that one that is down does not hold the other. The features are the newest closed
-- window of each account. Run by two-queries.yaml.

CREATE TABLE features_latest (
  account_id STRING NOT NULL,
  window_start TIMESTAMP(3) NOT NULL,
  window_end TIMESTAMP(3) NOT NULL,
  txn_count_1h BIGINT NOT NULL,
  avg_amount_1h DECIMAL(38, 6),
  distinct_merchants_1h BIGINT,
  PRIMARY KEY (account_id) NOT ENFORCED
) WITH (
  'connector' = 'jdbc',
  'url' = 'jdbc:sqlite:neobank-data/features.db',
  'table-name' = 'features_latest',
  'caudal.create-table' = 'true'
);

INSERT INTO silver
SELECT transaction_id, account_id, merchant_id, amount, currency, `timestamp`, channel, country_code, status,
  merchant_category, source_file, source_offset,
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
