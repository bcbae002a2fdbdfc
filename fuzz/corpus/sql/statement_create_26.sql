CREATE TABLE IF NOT EXISTS `cat`.db.transactions (
  transaction_id STRING NOT NULL COMMENT 'key',
  amount DECIMAL(18, 2), tags ARRAY<VARCHAR(10) NOT NULL>, attrs MAP<STRING, BIGINT>,
  place ROW<lat DOUBLE, `lon` DOUBLE COMMENT 'x'>, raw BYTES, flag BOOLEAN, d DATE, t TIME(0),
  ts TIMESTAMP(3), ltz TIMESTAMP(3) WITH LOCAL TIME ZONE, i INTERVAL DAY(3) TO SECOND(3),
  cost AS amount * 1.21, `offset` BIGINT METADATA VIRTUAL, key_ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE,
  CONSTRAINT pk PRIMARY KEY (transaction_id) NOT ENFORCED
) COMMENT 'it''s' PARTITIONED BY (d, flag) WITH ('connector' = 'filesystem', 'path' = '${env:HOME}/in', 'format' = 'json')
LIKE base (INCLUDING ALL EXCLUDING OPTIONS OVERWRITING WATERMARKS)
