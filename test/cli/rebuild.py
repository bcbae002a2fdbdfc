#!/usr/bin/env python3
"""A table rebuilt on a branch from the one before it, put in its place, and put back; with a kill at each step.

  test/cli/rebuild.py build/release/caudal [-k PATTERN]
"""
import json
import os
import shutil
import subprocess

from cli_case import CliCase, main

TABLES = """
SET 'execution.checkpointing.interval' = '100 ms';
CREATE CATALOG lake WITH ('type' = 'iceberg', 'warehouse' = 'lake');
CREATE DATABASE IF NOT EXISTS lake.bronze;
CREATE DATABASE IF NOT EXISTS lake.silver;
CREATE TABLE IF NOT EXISTS lake.bronze.t (id BIGINT NOT NULL, n BIGINT) WITH ('format-version' = '3');
CREATE TABLE IF NOT EXISTS lake.silver.t (id BIGINT NOT NULL, n BIGINT, version STRING NOT NULL{key}) WITH ('format-version' = '3');
"""
BRONZE = TABLES + """
CREATE TABLE arriving (id BIGINT NOT NULL, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '20 ms');
SET 'pipeline.name' = 'bronze';
INSERT INTO lake.bronze.t SELECT id, n FROM arriving;
"""
SILVER = """
CREATE TEMPORARY TABLE unrefined WITH ('streaming' = 'true', 'monitor-interval' = '100 ms', 'starting-strategy' = '{strategy}') LIKE lake.bronze.t;
SET 'pipeline.name' = 'silver';
INSERT INTO {sink} SELECT id, n * {factor}, '{version}' FROM unrefined;
"""
PIPELINE = """pipeline: job
owner: nobody
sql: [job.sql]
targets: {bronze: lake.bronze.t, silver: lake.silver.t}
"""
KEY = ", PRIMARY KEY (id) NOT ENFORCED"
EARLIEST = "INCREMENTAL_FROM_EARLIEST_SNAPSHOT"


class Rebuild(CliCase):
    def begin(self, key=KEY):
        self.key = key
        self.files = 0
        self.wanted = []
        self.write("p.yaml", PIPELINE)
        self.program(1)

    def program(self, version, **changes):
        words = {"factor": 10 ** (version - 1), "version": f"v{version}", "sink": "lake.silver.t", "strategy": EARLIEST, **changes}
        self.write("job.sql", BRONZE.format(key=self.key) + SILVER.format(**words))

    def arrive(self, count=5):
        rows = range(self.files * 100, self.files * 100 + count)
        self.write(f"in/{self.files:04}.ndjson", "".join(json.dumps({"id": one, "n": one}) + "\n" for one in rows))
        self.wanted += rows
        self.files += 1

    def run_live(self, **options):
        return self.caudal("run", "p.yaml", "--state", "state", "--until-idle", "400 ms", **options)

    def rebuild(self, *words, **options):
        return self.caudal("rebuild", "p.yaml", "silver", "--state", "state", "--until-idle", "400 ms", *words, **options)

    def read(self, hint=""):
        rows = self.rows("sql", f"CREATE CATALOG lake WITH ('type' = 'iceberg', 'warehouse' = 'lake'); SELECT id, n, version FROM lake.silver.t {hint} ORDER BY id;")
        return [(row["id"], row["n"], row["version"]) for row in rows if "id" in row]

    def expected(self, version):
        return [(one, one * 10 ** (version - 1), f"v{version}") for one in self.wanted]

    def whole(self):
        self.assertEqual({row["whole"] for row in self.rows("table", "check", "p.yaml")}, {True})

    def test_silver_is_rebuilt_cut_over_and_rolled_back(self):
        for key in (KEY, ""):
            self.begin(key)
            self.arrive()
            self.run_live()
            self.program(2)
            said = self.rebuild("--from", "bronze")
            self.assertIn("job/silver: rebuilt in branch 'rebuild-silver' of lake.silver.t: 5 rows read\n", said.stdout)
            self.assertEqual(self.read(), self.expected(1), "nobody sees it yet")
            self.assertEqual(self.read("/*+ OPTIONS('branch' = 'rebuild-silver') */"), self.expected(2))
            # The live query, as it was, goes on meanwhile.
            self.program(1)
            self.arrive()
            self.run_live()
            self.assertEqual(self.read(), self.expected(1))
            self.program(2)
            (done,) = self.rows("rebuild", "p.yaml", "silver", "--from", "bronze", "--state", "state", "--until-idle", "400 ms", "--cut-over")
            self.assertEqual((done["query"], done["table"], done["rolled_back"]), ("job/silver", "lake.silver.t", False))
            self.assertEqual(self.read(), self.expected(2), "with what came since")
            self.assertEqual([row["branch"] for row in self.rows("table", "branch", "list", "p.yaml", "lake.silver.t")],
                             ["before-rebuild-silver", "main"])
            # The query goes on where the rebuild was, with its keys and positions.
            self.arrive()
            report = self.run_live().stdout
            self.assertIn("query job/silver: 15 rows read", report)
            self.assertEqual(self.read(), self.expected(2))
            # Expiry leaves what the way back needs.
            self.caudal("table", "expire", "p.yaml", "lake.silver.t", "--older-than", "0 s")
            self.whole()
            said = self.rebuild("--roll-back")
            self.assertIn("as before the cut-over", said.stdout)
            self.program(1)
            self.run_live()
            self.assertEqual(self.read(), self.expected(1), "with what came since")
            self.arrive()
            self.run_live()
            self.assertEqual(self.read(), self.expected(1))
            self.whole()
            self.assertIn("has no branch 'before-rebuild-silver' to go back to", self.rebuild("--roll-back", code=3).stderr)
            for folder in ("state", "lake", "in"):
                shutil.rmtree(self.folder / folder)

    def test_a_kill_at_any_step_leaves_it_undone_or_whole(self):
        self.begin()
        self.arrive()
        self.run_live()
        self.program(2)
        self.rebuild("--from", "bronze")
        places = ("state", "lake")
        kept = self.folder / "kept"
        for place in places:
            shutil.copytree(self.folder / place, kept / place)
        outcomes = set()
        for fault, step in (("disk_rename", 1), ("disk_sync", 4), ("database_commit", 1)):
            for number in range(1, 200, step):
                for place in places:
                    shutil.rmtree(self.folder / place)
                    shutil.copytree(kept / place, self.folder / place)
                cut_over = [self.caudal_path, "rebuild", "p.yaml", "silver", "--state", "state", "--until-idle", "200 ms", "--from", "bronze", "--cut-over"]
                done = subprocess.run(cut_over, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False,
                                      env={**os.environ, "CAUDAL_FAULT": f"{fault}:crash:{number}"})
                if done.returncode == 0:
                    break  # there is no such step any more
                rows = self.read()
                self.assertIn(rows, (self.expected(1), self.expected(2)), fault)
                begun = (self.folder / "state/cut-over.json").exists()
                outcomes.add((begun, rows == self.expected(2)))
                if begun:
                    message = self.run_live(code=3).stderr
                    self.assertIn("a cut-over of 'job/silver' is not complete", message)
                elif rows == self.expected(1):
                    self.program(1)
                    self.run_live()
                    self.assertEqual(self.read(), self.expected(1), f"{fault} {number}: the live query goes on")
                    self.program(2)
                self.rebuild("--from", "bronze", "--cut-over", code=0 if begun or rows == self.expected(1) else 3)
                self.assertEqual(self.read(), self.expected(2), f"{fault} {number}")
                self.run_live()
                self.assertEqual(self.read(), self.expected(2), f"{fault} {number}: once, and once alone")
            self.assertEqual(done.returncode, 0)
        self.assertLessEqual({(False, False), (True, False), (True, True)}, outcomes)

    def cut_over_killed_behind_the_move(self):
        for number in range(1, 50):
            self.begin()
            self.arrive()
            self.run_live()
            self.program(2)
            self.rebuild("--from", "bronze")
            words = [self.caudal_path, "rebuild", "p.yaml", "silver", "--state", "state", "--until-idle", "400 ms", "--from", "bronze", "--cut-over"]
            subprocess.run(words, cwd=self.folder, capture_output=True, timeout=60, check=False, env={**os.environ, "CAUDAL_FAULT": f"disk_rename:crash:{number}"})
            if (self.folder / "state/cut-over.json").exists() and self.read() == self.expected(2):
                return
            for folder in ("state", "lake", "in"):
                shutil.rmtree(self.folder / folder)
        self.fail("no kill was behind the move")

    def test_a_cut_over_that_was_cut_short_is_completed_and_nothing_else(self):
        self.cut_over_killed_behind_the_move()
        for words in (("--from", "bronze"), ("--discard",), ("--roll-back",)):
            said = self.refused("rebuild", "p.yaml", "silver", "--state", "state", *words, code=3)
            self.assertIn("a cut-over of 'job/silver' is not complete", said)
            self.assertIn("--cut-over", said)
        # Others go on with the table as if nothing were.
        self.caudal("sql", "CREATE CATALOG lake WITH ('type' = 'iceberg', 'warehouse' = 'lake'); INSERT INTO lake.silver.t VALUES (900, 1, 'hand');")
        by_hand = [(900, 1, "hand")]
        self.rebuild("--from", "bronze", "--cut-over")
        self.assertEqual(self.read(), self.expected(2) + by_hand)
        self.run_live()
        self.assertEqual(self.read(), self.expected(2) + by_hand, "once, and once alone")

    def test_a_checkpoint_that_was_taken_away_is_not_passed_over(self):
        self.cut_over_killed_behind_the_move()
        made = self.folder / "state/.rebuild/job/silver"
        self.assertTrue(made.exists())
        shutil.move(made, self.folder / "away")
        self.assertIn("was moved away by hand", self.refused("rebuild", "p.yaml", "silver", "--from", "bronze", "--state", "state", "--cut-over", code=2))
        self.assertIn("is not complete", self.run_live(code=3).stderr)
        shutil.move(self.folder / "away", made)
        self.rebuild("--from", "bronze", "--cut-over")
        self.assertEqual(self.read(), self.expected(2))

    def test_what_others_wrote_is_not_lost(self):
        self.begin()
        self.arrive()
        self.run_live()
        self.caudal("sql", "CREATE CATALOG lake WITH ('type' = 'iceberg', 'warehouse' = 'lake'); INSERT INTO lake.silver.t VALUES (900, 1, 'hand');")
        self.program(2)
        self.rebuild("--from", "bronze")
        said = self.refused("rebuild", "p.yaml", "silver", "--from", "bronze", "--state", "state", "--until-idle", "400 ms", "--cut-over", code=3)
        self.assertIn("'main' of table 'lake.silver.t' has 1 commits of others", said)
        self.assertEqual(self.read(), self.expected(1) + [(900, 1, "hand")])
        # A branch that went meanwhile, and was made anew where main is, is no rebuild.
        self.caudal("table", "branch", "drop", "p.yaml", "lake.silver.t", "rebuild-silver")
        self.caudal("table", "branch", "create", "p.yaml", "lake.silver.t", "rebuild-silver")
        said = self.refused("rebuild", "p.yaml", "silver", "--from", "bronze", "--state", "state", "--until-idle", "400 ms", "--cut-over", "--anyway", code=3)
        self.assertIn("branch 'rebuild-silver' has rows of 'main'", said)
        self.rebuild("--discard")
        self.rebuild("--from", "bronze")
        self.rebuild("--from", "bronze", "--cut-over", "--anyway")
        self.assertEqual(self.read(), self.expected(2))
        self.write("job.sql", (self.folder / "job.sql").read_text() + "SET 'pipeline.name' = 'more'; INSERT INTO lake.silver.t SELECT id, n, 'more' FROM arriving;")
        said = self.refused("rebuild", "p.yaml", "silver", "--from", "bronze", "--state", "state", code=3)
        self.assertIn("queries 'silver' and 'more' write 'lake.silver.t'", said)

    def test_a_source_that_begins_elsewhere_is_refused(self):
        self.write("p.yaml", "pipeline: job\nowner: nobody\nsql: [job.sql]\n")
        self.write("job.sql", TABLES.format(key="") + "CREATE TABLE topic (id BIGINT NOT NULL, n BIGINT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json',"
                   " 'properties.bootstrap.servers' = '127.0.0.1:1', 'properties.group.id' = 'g');"
                   "SET 'pipeline.name' = 'silver'; INSERT INTO lake.silver.t SELECT id, n, 'v' FROM topic;")
        said = self.refused("rebuild", "p.yaml", "silver", "--from", "topic", "--state", "state", code=3)
        self.assertIn("'topic' is not read from its first row on", said)
        self.assertIn("earliest-offset", said)

    def test_what_cannot_be_rebuilt_says_why(self):
        self.begin()
        self.arrive()
        self.run_live()
        self.assertIn("--from is missing", self.refused("rebuild", "p.yaml", "silver", code=1))
        refused = lambda *words: self.refused("rebuild", "p.yaml", *words, "--state", "state", code=3)
        self.assertIn("no query of 'job' writes 'gold'", refused("gold", "--from", "silver"))
        self.assertIn("reads 'lake.bronze.t', which is not 'gold'", refused("silver", "--from", "gold"))
        self.assertIn("has not been rebuilt", refused("silver", "--from", "bronze", "--cut-over"))
        self.assertIn("to go back to", refused("silver", "--roll-back"))
        self.program(1, strategy="INCREMENTAL_FROM_LATEST_SNAPSHOT")
        self.assertIn("is not read from its first row on", refused("silver", "--from", "bronze"))
        self.write("job.sql", BRONZE.format(key="") + "CREATE TABLE plain (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'parquet');"
                   "SET 'pipeline.name' = 'plain'; INSERT INTO plain SELECT id FROM lake.bronze.t;")
        self.write("p.yaml", "pipeline: job\nowner: nobody\nsql: [job.sql]\n")
        said = refused("plain", "--from", "bronze")
        self.assertIn("it is a table of connector 'filesystem', which has no branches", said)
        self.begin()
        self.program(2)
        self.rebuild("--from", "bronze")
        self.assertEqual(self.rebuild("--discard").stdout, "job/silver: the rebuild is discarded\n")
        self.assertEqual([row["branch"] for row in self.rows("table", "branch", "list", "p.yaml", "lake.silver.t")], ["main"])
        # While the pipeline runs nothing is changed over.
        self.rebuild("--from", "bronze")
        (self.folder / "state/run.json").unlink(missing_ok=True)  # of the run before
        process = self.start("run", "p.yaml", "--state", "state")
        self.wait_for(lambda: (self.folder / "state/run.json").exists(), "the run")
        self.assertIn("caudal stop --state", self.refused("rebuild", "p.yaml", "silver", "--from", "bronze", "--state", "state", "--cut-over", code=3))
        process.terminate()
        process.wait(timeout=30)


if __name__ == "__main__":
    main()
