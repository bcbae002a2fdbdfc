EXECUTE STATEMENT SET BEGIN
INSERT INTO silver SELECT *, DATE_FORMAT(ts, 'yyyy-MM-dd') AS dt FROM valid;
INSERT INTO features (account_id, n) SELECT account_id, COUNT(*) FROM valid GROUP BY account_id;
END;
