-- Card transactions, the job that the peers run too: one event a record, 14 fields, keyed by account.
CREATE TABLE dead_letters (
  query STRING, source STRING, file STRING, split INT, `offset` BIGINT, `raw` BYTES, error_class STRING, error_message STRING,
  operator STRING, rejected_at TIMESTAMP_LTZ(3)
) WITH ('connector' = 'filesystem', 'path' = 'out/dead_letters', 'format' = 'json');

CREATE TABLE transactions (
  event_id STRING NOT NULL, account_id STRING NOT NULL, event_time TIMESTAMP_LTZ(3) NOT NULL, amount DECIMAL(12, 2), currency STRING NOT NULL,
  merchant_id STRING NOT NULL, mcc STRING, country STRING, channel STRING, card_present BOOLEAN, device_id STRING, ip STRING,
  status STRING, risk_score INT,
  WATERMARK FOR event_time AS event_time - INTERVAL '5' MINUTE
) WITH (
  'connector' = 'kafka',
  'topic' = '${env:CARD_TOPIC}',
  'properties.bootstrap.servers' = '${env:KAFKA_BOOTSTRAP}',
  'scan.startup.mode' = 'earliest-offset',
  'scan.bounded.mode' = 'latest-offset',
  'format' = 'json',
  'json.timestamp-format.standard' = 'ISO-8601',
  'caudal.errors' = 'dead-letter',
  'caudal.dead-letter' = 'dead_letters'
);

CREATE TABLE silver (
  event_id STRING, account_id STRING, event_time TIMESTAMP_LTZ(3), amount DECIMAL(12, 2), currency STRING,
  merchant_id STRING, mcc STRING, country STRING, channel STRING, card_present BOOLEAN, device_id STRING, ip STRING,
  status STRING, risk_score INT, dt STRING, hr STRING
) PARTITIONED BY (dt, hr) WITH ('connector' = 'filesystem', 'path' = 'out/silver', 'format' = 'parquet', 'parquet.compression' = 'ZSTD');

-- One hash an account, of its newest closed window.
CREATE TABLE features (
  account_id STRING NOT NULL, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT, avg_amount DECIMAL(38, 6), merchants BIGINT,
  PRIMARY KEY (account_id) NOT ENFORCED
) WITH ('connector' = 'redis', 'url' = '${env:REDIS_URL}', 'caudal.key' = 'account:{account_id}');
