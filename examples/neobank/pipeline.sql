-- Both outputs in one statement set, over the tables of tables.sql and features.sql: the stream is read once, and both commit with one
-- checkpoint. Run by pipeline.yaml.
--   silver    Parquet by date and hour
--   features  one row an account and window, in a SQL database; updated while the window is open

-- Features are shown while their window is still open, and again as rows come in.
SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.early-fire.delay' = '10 s';

EXECUTE STATEMENT SET BEGIN

INSERT INTO silver
SELECT transaction_id, account_id, merchant_id, amount, currency, `timestamp`, channel, country_code, status,
  merchant_category, source_name, source_offset,
  DATE_FORMAT(`timestamp`, 'yyyy-MM-dd'), DATE_FORMAT(`timestamp`, 'HH')
FROM deduplicated;

INSERT INTO features
SELECT account_id,
  HOP_START(rowtime, INTERVAL '1' MINUTE, INTERVAL '1' HOUR),
  HOP_END(rowtime, INTERVAL '1' MINUTE, INTERVAL '1' HOUR),
  COUNT(*), AVG(amount), APPROX_COUNT_DISTINCT(merchant_id)
FROM deduplicated
GROUP BY account_id, HOP(rowtime, INTERVAL '1' MINUTE, INTERVAL '1' HOUR);

END;
