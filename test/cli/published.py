#!/usr/bin/env python3
"""When the commits of Iceberg tables were acknowledged, kept over kills, and joined to the rows they wrote.

  test/cli/published.py build/release/caudal [-k PATTERN]
"""
import datetime
import json
import shutil

from cli_case import CliCase, main

CATALOG = "CREATE CATALOG lake WITH ('type' = 'iceberg', 'warehouse' = 'lake');\n"
MAKE = CATALOG + """
CREATE DATABASE IF NOT EXISTS lake.shop;
CREATE TABLE lake.shop.t (id BIGINT NOT NULL, n BIGINT{key}) WITH ('format-version' = '{version}');
"""
JOB = CATALOG + """
SET 'execution.checkpointing.interval' = '1 h';
CREATE TABLE arriving (id BIGINT NOT NULL, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '20 ms');
INSERT INTO lake.shop.t SELECT id, n FROM arriving;
"""
NUMBERED = CATALOG + """
CREATE TEMPORARY TABLE numbered (number BIGINT METADATA FROM '_last_updated_sequence_number' VIRTUAL,
  row_id BIGINT METADATA FROM '_row_id' VIRTUAL, asked_at AS PROCTIME()) LIKE lake.shop.t;
"""
PUBLISHED = NUMBERED + """
SELECT e.id, e.n, e.number, e.row_id, c.published_at, c.exact, c.snapshot_id, c.epoch, c.commit_ms
FROM numbered AS e LEFT JOIN ops.commits FOR SYSTEM_TIME AS OF e.asked_at AS c
ON c.sequence_number = e.number AND c.table_name = 'lake.shop.t' ORDER BY e.id;
"""
SNAPSHOTS = CATALOG + """
CREATE TEMPORARY TABLE s (snapshot_id BIGINT, committed_at TIMESTAMP_LTZ(3)) WITH ('connector' = 'iceberg', 'catalog-name' = 'lake',
  'warehouse' = 'lake', 'catalog-database' = 'shop', 'catalog-table' = 't$snapshots');
SELECT snapshot_id, committed_at FROM s;
"""


class Published(CliCase):
    def make(self, version=3, key=""):
        self.caudal("sql", MAKE.format(version=version, key=key))
        self.write("job.sql", JOB)
        self.files = 0

    def arrive(self, *rows):
        self.write(f"in/{self.files:04}.ndjson", "".join(json.dumps({"id": number, "n": n}) + "\n" for number, n in rows))
        self.files += 1

    def run_job(self, faults=""):
        before = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        said = self.caudal("run", "job.sql", "--state", "state", "--until-idle", "300 ms", environment={"CAUDAL_FAULT": faults})
        self.assertEqual(said.stderr.count("the engine starts again"), faults.count("crash"), said.stderr)
        return before, datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)

    def select(self, query):
        return [row for row in self.rows("sql", "--ops", "state", query) if "message" not in row]

    def times(self, row):
        return datetime.datetime.fromisoformat(row["published_at"])

    def test_each_row_knows_when_its_commit_was_acknowledged(self):
        for key in ("", ", PRIMARY KEY (id) NOT ENFORCED"):
            self.make(3, key)
            spans = {}
            for number in range(3):
                self.arrive((number, 1), (100, number))
                spans[number] = self.run_job()
            rows = self.select(PUBLISHED)
            self.assertEqual(len(rows), 4 if key else 6)
            for row in rows:
                # Of a key the last row counts, with the commit that wrote it.
                number = row["id"] if row["id"] < 100 else row["n"]
                first, last = spans[number]
                millis = datetime.timedelta(milliseconds=1)
                self.assertTrue(first - millis <= self.times(row) <= last + millis, (row, spans))
                self.assertEqual((row["exact"], row["commit_ms"] >= 0), (True, True), row)
            self.assertEqual(len({row["row_id"] for row in rows}), len(rows))
            commits = self.select("SELECT snapshot_id, published_at, exact FROM ops.commits;")
            self.assertEqual(sorted(row["snapshot_id"] for row in commits), sorted(row["snapshot_id"] for row in self.select(SNAPSHOTS)))
            for number in range(3):
                self.assertLessEqual(spans[number][0], max(self.times(row) for row in commits))
            self.caudal("sql", CATALOG + "DROP TABLE lake.shop.t;")
            for file in (self.folder / "in").iterdir():
                file.unlink()
            for folder in ("state", "lake/shop/t"):
                shutil.rmtree(self.folder / folder)

    def test_a_kill_between_the_answer_and_its_record_loses_no_commit(self):
        self.make()
        # The first commit of a start is that of the epoch before, once more.
        for number, fault in enumerate(["", "sink_commit_after:crash:2", "sink_commit_after:crash:2;restore_commit:crash", "sink_commit_before:crash:2", ""]):
            self.arrive((number, number))
            self.run_job(fault)
        rows = self.select(PUBLISHED)
        self.assertEqual([row["id"] for row in rows], [0, 1, 2, 3, 4])
        # Nobody saw the answer to two of them: they have the time of their snapshot, and say so.
        self.assertEqual([row["exact"] for row in rows], [True, False, False, True, True])
        made = {row["snapshot_id"]: row["committed_at"][:23] for row in self.select(SNAPSHOTS)}
        for row in rows:
            at, published = datetime.datetime.fromisoformat(made[row["snapshot_id"]]), self.times(row)
            self.assertTrue(at <= published if row["exact"] else at == published, (row, at))
        # What was seen stays as it was seen, however often the query starts.
        before = self.select("SELECT * FROM ops.commits ORDER BY sequence_number;")
        self.run_job()
        self.assertEqual(self.select("SELECT * FROM ops.commits ORDER BY sequence_number;"), before)
        # A store that is gone is filled again from the history.
        for file in (self.folder / "state").glob("ops.db*"):
            file.unlink()
        self.run_job()
        again = self.select("SELECT * FROM ops.commits ORDER BY sequence_number;")
        self.assertEqual([row["snapshot_id"] for row in again], [row["snapshot_id"] for row in before])
        self.assertEqual({row["exact"] for row in again}, {False})

    def test_a_table_of_format_2_has_no_lineage(self):
        self.make(2)
        self.arrive((1, 1))
        self.run_job()
        message = self.refused("sql", NUMBERED + "SELECT number FROM numbered;", code=3)
        self.assertIn("metadata column 'number' is of tables of format 3, and this one is of format 2", message)
        self.assertEqual(len(self.select("SELECT epoch FROM ops.commits;")), 1)


if __name__ == "__main__":
    main()
