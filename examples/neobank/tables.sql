-- NeoBank's tables and views, shared by both forms of the pipeline (pipeline.yaml, two-queries.yaml): card transactions,
-- parsed and checked, deduplicated within the watermark.

SET 'execution.checkpointing.interval' = '30 s';
SET 'execution.checkpointing.min-pause' = '500 ms';
SET 'caudal.max-rows-per-epoch' = '5000000';

-- Rows that do not parse, break NOT NULL or come too late, with their bytes. Each query keeps its own and says so.
CREATE TABLE dead_letters (
  query STRING,
  source STRING,
  file STRING,
  split INT,
  `offset` BIGINT,
  `raw` BYTES,
  error_class STRING,
  error_message STRING,
  operator STRING,
  rejected_at TIMESTAMP_LTZ(3)
) WITH (
  'connector' = 'filesystem',
  'path' = 'neobank-data/dead_letters',
  'format' = 'json'
);

CREATE TABLE transactions (
  transaction_id STRING NOT NULL,
  account_id STRING NOT NULL,
  merchant_id STRING NOT NULL,
  amount DECIMAL(18, 2) NOT NULL,
  currency STRING NOT NULL,
  `timestamp` TIMESTAMP(3) NOT NULL,
  channel STRING,
  country_code STRING,
  status STRING NOT NULL,
  merchant_category STRING,
  source_file STRING NOT NULL METADATA FROM 'file.name' VIRTUAL,
  source_offset BIGINT NOT NULL METADATA FROM 'caudal.offset' VIRTUAL,
  -- Five minutes: the pipeline file says why.
  WATERMARK FOR `timestamp` AS `timestamp` - INTERVAL '5' MINUTE
) WITH (
  'connector' = 'filesystem',
  'path' = 'neobank-data/in',
  'format' = 'json',
  'source.monitor-interval' = '100 ms',
  'caudal.errors' = 'dead-letter',
  'caudal.dead-letter' = 'dead_letters'
);

-- The two conditions have names: each row that fails one is counted under it.
CREATE VIEW checked AS
SELECT *, status = 'completed' AS status_completed, amount > 0 AS amount_positive
FROM transactions;

CREATE VIEW completed AS
SELECT transaction_id, account_id, merchant_id, amount, currency, `timestamp`, channel, country_code, status,
  merchant_category, source_file, source_offset
FROM checked
WHERE status_completed AND amount_positive;

-- A repeat of a transaction_id within five minutes of its first is dropped; its state is bounded by that.
CREATE VIEW deduplicated AS
SELECT * FROM DEDUPLICATE(
  input => TABLE completed PARTITION BY transaction_id,
  on_time => DESCRIPTOR(`timestamp`),
  retain => INTERVAL '5' MINUTE);

CREATE TABLE silver (
  transaction_id STRING NOT NULL,
  account_id STRING NOT NULL,
  merchant_id STRING NOT NULL,
  amount DECIMAL(18, 2) NOT NULL,
  currency STRING NOT NULL,
  `timestamp` TIMESTAMP(3) NOT NULL,
  channel STRING,
  country_code STRING,
  status STRING NOT NULL,
  merchant_category STRING,
  source_file STRING NOT NULL,
  source_offset BIGINT NOT NULL,
  dt STRING NOT NULL,
  hr STRING NOT NULL
) PARTITIONED BY (dt, hr) WITH (
  'connector' = 'filesystem',
  'path' = 'neobank-data/silver',
  'format' = 'parquet'
);
