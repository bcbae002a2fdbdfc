#!/usr/bin/env python3
"""Scripts with catalogs: what is only planned changes nothing, what runs goes on where it was, and statements follow each other.

  test/cli/catalogs.py build/release/caudal [-k PATTERN]
"""
import shutil

from cli_case import CliCase, main

CATALOG = "CREATE CATALOG lake WITH ('type' = 'iceberg', 'warehouse' = 'lake');\n"
JOB = CATALOG + """
CREATE DATABASE IF NOT EXISTS lake.shop;
CREATE TABLE IF NOT EXISTS lake.shop.orders (id BIGINT, s STRING) WITH ('caudal.partition-by' = 'bucket(2, id)');
CREATE TABLE arriving (id BIGINT, s STRING)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '50 ms');
INSERT INTO lake.shop.orders SELECT id, s FROM arriving;
"""
FOLLOW = CATALOG + """
CREATE TABLE copied (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'copied', 'format' = 'json');
INSERT INTO copied SELECT id FROM lake.shop.orders
/*+ OPTIONS('streaming' = 'true', 'monitor-interval' = '50 ms', 'starting-strategy' = 'INCREMENTAL_FROM_EARLIEST_SNAPSHOT') */;
"""
LIKE = CATALOG + """
CREATE DATABASE IF NOT EXISTS lake.shop;
CREATE TABLE IF NOT EXISTS lake.shop.seen (id BIGINT NOT NULL, small SMALLINT, ts TIMESTAMP(3)) PARTITIONED BY (id)
WITH ('format-version' = '3');
CREATE TABLE arriving (id BIGINT, small SMALLINT, ts TIMESTAMP(3))
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '50 ms');
INSERT INTO lake.shop.seen SELECT id, small, ts FROM arriving;
CREATE TEMPORARY TABLE following (clock AS CAST(ts AS TIMESTAMP(3)), WATERMARK FOR clock AS clock)
WITH ('streaming' = 'true', 'monitor-interval' = '50 ms', 'starting-strategy' = 'INCREMENTAL_FROM_EARLIEST_SNAPSHOT')
LIKE lake.shop.seen;
CREATE TABLE copied (id BIGINT, small INT, clock STRING) WITH ('connector' = 'filesystem', 'path' = 'copied', 'format' = 'json');
INSERT INTO copied SELECT id, small, CAST(clock AS STRING) FROM following;
"""


class Catalogs(CliCase):
    def run_job(self, name, faults=""):
        return self.caudal("run", name, "--state", "state", "--until-idle", "1 s", environment={"CAUDAL_FAULT": faults})

    def test_what_is_only_planned_makes_nothing(self):
        self.write("job.sql", JOB)
        self.caudal("validate", "job.sql")
        self.caudal("explain", "job.sql")
        self.assertFalse((self.folder / "lake").exists())

    def test_a_table_of_the_same_script_is_taken_by_like(self):
        """Planned only, the table is not there yet: it has the types and the place that it will have, TIMESTAMP(6) among them."""
        self.write("in/0.ndjson", '{"id": 1, "small": 2, "ts": "2026-03-01 10:00:00"}\n')
        self.write("like.sql", LIKE)
        planned = self.caudal("explain", "like.sql").stdout
        self.caudal("validate", "like.sql")
        self.assertFalse((self.folder / "lake").exists())
        self.caudal("run", "like.sql", "--state", "state", "--until-idle", "3 s", "--drain", "--set",
                    "execution.checkpointing.interval=100 ms")
        rows = self.rows("sql", "SELECT id, small, clock FROM `copied`")
        self.assertEqual([row for row in rows if "id" in row], [{"id": 1, "small": 2, "clock": "2026-03-01 10:00:00.000"}])
        self.assertEqual(self.caudal("explain", "like.sql").stdout, planned)
        self.write("early.sql", LIKE.replace("CAST(ts AS TIMESTAMP(3))", "ts"))
        refused = self.refused("validate", "early.sql", code=3)
        self.assertIn("not TIMESTAMP(6)", refused)
        shutil.rmtree(self.folder / "lake")
        self.assertEqual(self.refused("validate", "early.sql", code=3), refused)

    def test_a_table_is_followed_by_another_query(self):
        self.write("job.sql", JOB)
        self.write("follow.sql", FOLLOW)
        for number, fault in enumerate(["", "manifest_after:crash", "sink_commit_before:crash"]):
            self.write(f"in/{number}.ndjson", "".join(f'{{"id": {10 * number + i}, "s": "x"}}\n' for i in range(10)))
            self.run_job("job.sql")
            self.run_job("follow.sql", fault)
        rows = self.rows("sql", "SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS d, MAX(id) AS high FROM `copied`")
        self.assertEqual([row for row in rows if "n" in row], [{"n": 30, "d": 30, "high": 29}])

    def test_each_statement_finds_what_the_one_before_it_left(self):
        script = CATALOG + ("CREATE TABLE lake.`default`.t (a INT); INSERT INTO lake.`default`.t VALUES (1), (2);"
                            "ALTER TABLE lake.`default`.t ADD b STRING; SELECT COUNT(*) AS n, COUNT(b) AS m FROM lake.`default`.t;"
                            "DROP TABLE lake.`default`.t; SELECT 1 FROM lake.`default`.t")
        said = self.caudal("sql", "--json", script, code=3)
        self.assertIn('{"n":2,"m":0}', said.stdout.replace(" ", ""))
        self.assertIn("unknown table 'lake.default.t'", said.stderr + said.stdout)

    def test_rows_are_upserted_by_the_key_that_the_catalog_keeps(self):
        name = "lake.`default`.prices"
        self.caudal("sql", CATALOG + f"CREATE TABLE {name} (item STRING, price INT, PRIMARY KEY (item) NOT ENFORCED);"
                    f"INSERT INTO {name} VALUES ('tea', 3), ('bread', 2)")
        rows = self.rows("sql", CATALOG + f"INSERT INTO {name} VALUES ('tea', 4); SELECT item, price FROM {name} ORDER BY item")
        self.assertEqual([row for row in rows if "item" in row], [{"item": "bread", "price": 2}, {"item": "tea", "price": 4}])

    def test_a_secret_of_a_catalog_is_never_said(self):
        script = ("CREATE CATALOG far WITH ('type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = 'http://127.0.0.1:1',"
                  " 'credential' = 'me:${env:LAKE_SECRET}'); SHOW CREATE CATALOG far; USE CATALOG far; SHOW TABLES")
        said = self.caudal("sql", script, code=3, environment={"LAKE_SECRET": "very-secret-word"})
        self.assertIn("${env:LAKE_SECRET}", said.stdout)
        self.assertNotIn("very-secret-word", said.stdout + said.stderr)


if __name__ == "__main__":
    main()
