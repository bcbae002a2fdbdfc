-- NeoBank's tables of profile 'kafka': transactions come from a topic, keyed by account. Each partition has its own clock,
-- so repeats of a transaction, which have its account, meet their first whatever the order of partitions.

-- Rows that do not parse, break NOT NULL or come too late: the record's bytes, key and headers, and more headers that say why
-- (docs/connectors/kafka.md). Each query writes its own and says so.
CREATE TABLE dead_letters (
  `key` BYTES,
  `raw` BYTES,
  headers MAP<STRING, BYTES> METADATA
) WITH (
  'connector' = 'kafka',
  'topic' = 'transactions.dlq',
  'properties.bootstrap.servers' = '${env:KAFKA_BOOTSTRAP}',
  'key.format' = 'raw',
  'key.fields' = 'key',
  'value.format' = 'raw',
  'value.fields-include' = 'EXCEPT_KEY',
  'caudal.create-topic' = 'true'
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
  source_topic STRING NOT NULL METADATA FROM 'topic' VIRTUAL,
  source_partition INT NOT NULL METADATA FROM 'partition' VIRTUAL,
  source_offset BIGINT NOT NULL METADATA FROM 'offset' VIRTUAL,
  source_name AS source_topic || '[' || CAST(source_partition AS STRING) || ']',
  -- Five minutes: the pipeline file says why.
  WATERMARK FOR `timestamp` AS `timestamp` - INTERVAL '5' MINUTE
) WITH (
  'connector' = 'kafka',
  'topic' = 'transactions',
  'properties.bootstrap.servers' = '${env:KAFKA_BOOTSTRAP}',
  'properties.group.id' = 'neobank',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json',
  'caudal.errors' = 'dead-letter',
  'caudal.dead-letter' = 'dead_letters'
);

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
  source_name STRING NOT NULL,
  source_offset BIGINT NOT NULL,
  dt STRING NOT NULL,
  hr STRING NOT NULL
) PARTITIONED BY (dt, hr) WITH (
  'connector' = 'filesystem',
  'path' = 'neobank-data/silver',
  'format' = 'parquet'
);
