-- Where the layers are: Iceberg tables in a folder, with a catalog in a SQLite file beside them. No service is needed.

SET 'execution.checkpointing.interval' = '30 s';

CREATE CATALOG main WITH ('type' = 'iceberg', 'warehouse' = 'clickstream-data/lake');
CREATE DATABASE IF NOT EXISTS main.bronze;
CREATE DATABASE IF NOT EXISTS main.silver;
CREATE DATABASE IF NOT EXISTS main.gold;
