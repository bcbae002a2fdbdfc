#!/usr/bin/env python3
"""Rows into an Iceberg table while the engine dies at one place after another: each row is there once, and no file is left over.

  test/cli/iceberg.py build/release/caudal [-k PATTERN]
"""
import json
import shutil

from cli_case import CliCase, main

TABLE = """
CREATE TABLE clicks (id BIGINT, kind INT)
WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'warehouse' = 'lake', 'caudal.partition-by' = 'bucket(2, id), kind');
"""
JOB = TABLE + """
CREATE TABLE arriving (id BIGINT, kind INT)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '50 ms');
INSERT INTO clicks SELECT id, kind FROM arriving;
"""
# How often each id came, and its largest kind, by which the table is divided.
UPSERTED = """
CREATE TABLE totals (id BIGINT NOT NULL, kind INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'warehouse' = 'lake', 'caudal.partition-by' = 'kind', 'format-version' = '{version}');
"""
UPSERT_JOB = UPSERTED + """
CREATE TABLE arriving (id BIGINT, kind INT)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '50 ms');
INSERT INTO totals SELECT id % 40, MAX(kind), COUNT(*) FROM arriving WHERE id % 40 IS NOT NULL GROUP BY id % 40;
"""
UNIQUE = """
CREATE TABLE payments (tx STRING NOT NULL, ts TIMESTAMP(3), PRIMARY KEY (tx) NOT ENFORCED)
WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'warehouse' = 'lake', 'format-version' = '3', 'caudal.unique' = '{unique}');
"""
UNIQUE_JOB = """{table}
CREATE TABLE arriving (tx STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '50 ms');
INSERT INTO payments SELECT tx, ts
FROM DEDUPLICATE(input => TABLE arriving PARTITION BY tx, on_time => DESCRIPTOR(ts), retain => INTERVAL '5' MINUTE);
"""
ROWS = 50  # a file


class Iceberg(CliCase):
    def setUp(self):
        super().setUp()
        self.write("job.sql", JOB)
        self.files = 0

    def arrive(self):
        first = self.files * ROWS
        rows = "".join(json.dumps({"id": n, "kind": n % (2 + self.files)}) + "\n" for n in range(first, first + ROWS))
        self.write(f"in/{self.files:04}.ndjson", rows)
        self.files += 1

    def run_job(self, faults="", code=0):
        return self.caudal("run", "job.sql", "--state", "state", "--until-idle", "300 ms", code=code, environment={"CAUDAL_FAULT": faults})

    def check_rows(self, what):
        total = self.files * ROWS
        query = "SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS d, MIN(id) AS low, MAX(id) AS high FROM "
        (row,) = [line for line in self.rows("sql", TABLE + query + "clicks;") if "n" in line]
        self.assertEqual(row, {"n": total, "d": total, "low": 0, "high": total - 1}, what)
        # Whatever lies in the folder is in the table.
        (row,) = self.rows("sql", query + "`./lake/default_database/clicks/data`")
        self.assertEqual(row["n"], total, f"{what}: files that no snapshot has")
        self.assertEqual(list((self.folder / "lake").rglob(".*")), [], what)

    def test_every_row_is_there_once_wherever_the_engine_dies(self):
        places = ["sink_seal", "sink_prepare_before", "sink_prepare_after", "manifest_before", "manifest_after", "sink_commit_before",
                  "sink_commit_after"]
        faults = [f"{place}:crash" for place in places] + ["manifest_after:crash;restore_commit:crash", "sink_commit_after:crash;restore_commit:crash"]
        faults += [f"{place}:crash:{number}" for place in ("disk_write", "disk_sync", "disk_rename") for number in (2, 4, 7)]
        for fault in faults:
            self.arrive()
            said = self.run_job(fault).stderr
            self.assertEqual(said.count("the engine starts again"), fault.count("crash"), f"{fault}: {said}")
        self.arrive()
        self.run_job()
        self.check_rows("after all")

    def check_totals(self, version, what):
        wanted = {}
        for number in range(self.files):
            for n in range(number * ROWS, (number + 1) * ROWS):
                kind, count = wanted.get(n % 40, (0, 0))
                wanted[n % 40] = (max(kind, n % (2 + number)), count + 1)
        found = self.rows("sql", UPSERTED.format(version=version) + "SELECT id, kind, n FROM totals;")
        found = sorted((row["id"], row["kind"], row["n"]) for row in found if "n" in row)
        self.assertEqual(found, sorted((key, kind, count) for key, (kind, count) in wanted.items()), what)
        # What dies while it is written goes, but for metadata files, whose names tell no sink.
        self.assertEqual([file for file in (self.folder / "lake").rglob(".*") if ".metadata.json." not in file.name], [], what)

    def upsert(self, version, faults):
        self.write("job.sql", UPSERT_JOB.format(version=version))
        for fault in faults:
            self.arrive()
            said = self.run_job(fault).stderr
            self.assertEqual(said.count("the engine starts again"), fault.count("crash"), f"{fault}: {said}")
            self.check_totals(version, fault)
        # Without its index it finds the rows all the same.
        for index in (self.folder / "state").rglob("index"):
            shutil.rmtree(index)
        self.arrive()
        self.run_job()
        self.check_totals(version, "without the index")
        left = [file for file in (self.folder / "state").rglob("*.places")]
        self.assertEqual(left, [], "what a commit has done is not kept")

    def test_every_key_is_there_once_wherever_the_engine_dies(self):
        self.upsert(3, ["sink_prepare_before:crash", "sink_prepare_after:crash", "manifest_before:crash", "manifest_after:crash",
                        "sink_commit_before:crash", "sink_commit_after:crash", "manifest_after:crash;restore_commit:crash"]
                    + [f"{place}:crash:{number}" for place in ("disk_write", "disk_rename") for number in (3, 6, 9, 13)])

    def test_the_same_with_position_deletes(self):
        self.upsert(2, ["manifest_after:crash", "sink_commit_after:crash", "disk_write:crash:9", "disk_rename:crash:6"])

    def test_each_snapshot_tells_how_far_the_source_was_read(self):
        for _ in range(2):
            self.arrive()
            self.run_job()
        declared = TABLE.replace("clicks (id BIGINT, kind INT)", "told (summary STRING)").replace(
            "'caudal.partition-by' = 'bucket(2, id), kind'", "'catalog-table' = 'clicks$snapshots'")
        told = [json.loads(line["summary"]) for line in self.rows("sql", declared + "SELECT summary FROM told;") if "summary" in line]
        self.assertEqual(len(told), 2)
        positions = [json.loads(summary["caudal.positions"]) for summary in told]
        self.assertEqual([list(one) for one in positions], [["arriving/scan/1"]] * 2)
        self.assertNotEqual(*positions)

    def test_a_transaction_that_returns_is_found_in_the_table(self):
        """In 15 minutes, in an hour and the next night, far behind what the query itself remembers of keys."""
        table = UNIQUE.format(unique="ignore")
        self.write("job.sql", UNIQUE_JOB.format(table=table))
        moments = ["2026-03-01 10:00:00", "2026-03-01 10:15:00", "2026-03-01 11:00:00", "2026-03-02 02:00:00"]
        written = []
        for night, moment in enumerate(moments):
            rows = [("returns", moment), (f"new {night}", moment), ("returns", moment)]
            self.write(f"in/{night}.ndjson", "".join(json.dumps({"tx": tx, "ts": ts}) + "\n" for tx, ts in rows))
            if night == 3:  # the index is lost overnight, and the engine dies in the morning
                shutil.rmtree(next((self.folder / "state").rglob("index")))
            said = self.run_job("manifest_after:crash" if night == 3 else "")
            written += [f"new {night}"]
        # The repeat in a file is the query's own to find, that of other files the table's.
        self.assertRegex(said.stdout, r"to payments/sink/1: 5 rows written, 0 unaccounted")
        self.assertRegex(said.stdout, r"\b4 duplicate\b(?!{unique})")
        self.assertRegex(said.stdout, r"\b3 duplicate{unique}")
        found = self.rows("sql", table + "SELECT tx, CAST(ts AS STRING) AS ts FROM payments;")
        self.assertEqual(sorted((row["tx"], row["ts"][:19]) for row in found if "tx" in row),
                         sorted([("returns", moments[0])] + [(f"new {night}", moments[night]) for night in range(4)]))

    def test_a_transaction_that_must_not_return_stops_the_query(self):
        self.write("job.sql", UNIQUE_JOB.format(table=UNIQUE.format(unique="fail")))
        self.write("in/0.ndjson", json.dumps({"tx": "a", "ts": "2026-03-01 10:00:00"}) + "\n")
        self.run_job()
        rows = [("b", "2026-03-01 12:00:00"), ("a", "2026-03-01 12:00:01")]
        self.write("in/1.ndjson", "".join(json.dumps({"tx": tx, "ts": ts}) + "\n" for tx, ts in rows))
        self.assertIn('the table has a row of the key {"tx":"a"} already', self.run_job(code=2).stderr)

    def test_an_older_checkpoint_is_refused_and_an_empty_one_is_another_pipeline(self):
        self.arrive()
        self.run_job()
        older = self.folder / "older"
        (self.folder / "state").rename(older)
        shutil.copytree(older, self.folder / "state")
        self.arrive()
        self.run_job()
        shutil.rmtree(self.folder / "state")
        shutil.copytree(older, self.folder / "state")
        message = self.run_job(code=3).stderr
        self.assertIn("has already committed epoch", message)
        # All over again, as somebody wants who removes the state: every row comes a second time.
        shutil.rmtree(self.folder / "state")
        self.run_job()
        (row,) = [line for line in self.rows("sql", TABLE + "SELECT COUNT(*) AS n FROM clicks;") if "n" in line]
        self.assertEqual(row["n"], 2 * self.files * ROWS)


if __name__ == "__main__":
    main()
