CREATE VIEW valid AS
SELECT * FROM transactions WHERE amount > 0 AND status IN ('APPROVED', 'DECLINED') AND risk_score BETWEEN 0 AND 100;

-- The peers forget an id after 15 minutes, too.
CREATE VIEW deduped AS
SELECT * FROM DEDUPLICATE(input => TABLE valid PARTITION BY event_id, on_time => DESCRIPTOR(event_time), retain => INTERVAL '15' MINUTE);

CREATE VIEW to_silver AS
SELECT event_id, account_id, event_time, amount, currency, merchant_id, mcc, country, channel, card_present, device_id, ip, status,
  risk_score, DATE_FORMAT(event_time, 'yyyy-MM-dd') AS dt, DATE_FORMAT(event_time, 'HH') AS hr
FROM deduped;

CREATE VIEW windows AS
SELECT account_id, window_start, window_end, COUNT(*) AS n, AVG(amount) AS avg_amount, APPROX_COUNT_DISTINCT(merchant_id) AS merchants
FROM TABLE(HOP(TABLE deduped, DESCRIPTOR(rowtime), INTERVAL '1' MINUTE, INTERVAL '1' HOUR))
GROUP BY account_id, window_start, window_end;

CREATE VIEW to_features AS
SELECT account_id, window_start, window_end, n, avg_amount, merchants
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY window_end DESC) AS rn FROM windows)
WHERE rn = 1;
