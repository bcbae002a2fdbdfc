-- NeoBank's features in Redis, the form in which they are served: profiles 'redis' and 'kafka'. REDIS_URL says where that is.

-- One hash an account and window, updated while the window is open, and gone a day later; for pipeline.yaml.
CREATE TABLE features (
  account_id STRING NOT NULL,
  window_start TIMESTAMP(3) NOT NULL,
  window_end TIMESTAMP(3) NOT NULL,
  txn_count_1h BIGINT NOT NULL,
  avg_amount_1h DECIMAL(38, 6),
  distinct_merchants_1h BIGINT,
  PRIMARY KEY (account_id, window_end) NOT ENFORCED
) WITH (
  'connector' = 'redis',
  'url' = '${env:REDIS_URL}',
  'caudal.key' = 'window:{account_id}@{window_end}',
  'caudal.ttl' = '1 d'
);

-- One hash an account with its newest closed window; for two-queries.yaml.
CREATE TABLE features_latest (
  account_id STRING NOT NULL,
  window_start TIMESTAMP(3) NOT NULL,
  window_end TIMESTAMP(3) NOT NULL,
  txn_count_1h BIGINT NOT NULL,
  avg_amount_1h DECIMAL(38, 6),
  distinct_merchants_1h BIGINT,
  PRIMARY KEY (account_id) NOT ENFORCED
) WITH (
  'connector' = 'redis',
  'url' = '${env:REDIS_URL}',
  'caudal.key' = 'account:{account_id}'
);
