-- NeoBank's views, shared by both forms of the pipeline (pipeline.yaml, two-queries.yaml) and by all profiles: card
-- transactions, checked, deduplicated within the watermark.

SET 'execution.checkpointing.interval' = '30 s';
SET 'execution.checkpointing.min-pause' = '500 ms';
SET 'caudal.max-rows-per-epoch' = '5000000';

-- The two conditions have names: each row that fails one is counted under it.
CREATE VIEW checked AS
SELECT *, status = 'completed' AS status_completed, amount > 0 AS amount_positive
FROM transactions;

CREATE VIEW completed AS
SELECT transaction_id, account_id, merchant_id, amount, currency, `timestamp`, channel, country_code, status,
  merchant_category, source_name, source_offset
FROM checked
WHERE status_completed AND amount_positive;

-- A repeat of a transaction_id within five minutes of its first is dropped; its state is bounded by that.
CREATE VIEW deduplicated AS
SELECT * FROM DEDUPLICATE(
  input => TABLE completed PARTITION BY transaction_id,
  on_time => DESCRIPTOR(`timestamp`),
  retain => INTERVAL '5' MINUTE);
