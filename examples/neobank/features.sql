-- NeoBank's features in SQLite, the form in which they can be asked anything.

-- One row an account and window, updated while the window is open; for pipeline.yaml.
CREATE TABLE features (
  account_id STRING NOT NULL,
  window_start TIMESTAMP(3) NOT NULL,
  window_end TIMESTAMP(3) NOT NULL,
  txn_count_1h BIGINT NOT NULL,
  avg_amount_1h DECIMAL(38, 6),
  distinct_merchants_1h BIGINT,
  PRIMARY KEY (account_id, window_end) NOT ENFORCED
) WITH (
  'connector' = 'jdbc',
  'url' = 'jdbc:sqlite:neobank-data/features.db',
  'table-name' = 'features',
  'caudal.create-table' = 'true'
);

-- The newest closed window of each account; for two-queries.yaml.
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
