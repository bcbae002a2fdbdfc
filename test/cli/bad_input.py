#!/usr/bin/env python3
"""What goes wrong ends in one clear message: whose fault, where, what to do; the right exit code; nothing lost.

  test/cli/bad_input.py build/release/caudal [-k PATTERN]
"""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

CAUDAL = ""
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

JOB = """
SET 'execution.checkpointing.interval' = '100 ms';
CREATE TABLE events (id INT NOT NULL, amount DECIMAL(10, 2), ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json'{source});
CREATE TABLE out_rows (id INT NOT NULL, amount DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:out.db', 'table-name' = 'out_rows', 'caudal.create-table' = 'true');
{more}
INSERT INTO out_rows SELECT id, {expression} FROM events;
"""
WATCH = ", 'source.monitor-interval' = '50 ms'"


class BadInput(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="caudal-cli-"))
        (self.folder / "in").mkdir()
        self.started = []

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- what tests are made of ---

    def job(self, name="job.sql", source="", more="", expression="amount"):
        (self.folder / name).write_text(JOB.format(source=source, more=more, expression=expression))

    def feed(self, *rows, name="a.ndjson"):
        hidden = self.folder / "in" / ("." + name)
        at = {"ts": "2026-01-01 00:00:00"}
        hidden.write_bytes(b"".join((row if isinstance(row, bytes) else json.dumps(at | row).encode()) + b"\n" for row in rows))
        hidden.rename(self.folder / "in" / name)

    def caudal(self, *arguments, environment=None, timeout=60):
        return subprocess.run([CAUDAL, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=timeout,
                              env=dict(os.environ, **(environment or {})))

    def start(self, *arguments, environment=None):
        process = subprocess.Popen([CAUDAL, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=dict(os.environ, **(environment or {})))
        self.started.append(process)
        return process

    def expect(self, result, code, *texts):
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        for text in texts:
            self.assertIn(text, result.stderr)
        self.assertEqual(result.stderr.count("error["), 1 if code else 0, result.stderr)

    def rows(self):
        if not (self.folder / "out.db").exists():
            return []
        database = sqlite3.connect(self.folder / "out.db")
        try:
            return database.execute("SELECT id, amount FROM out_rows ORDER BY id").fetchall()
        except sqlite3.OperationalError:
            return []  # the table is made when the run starts
        finally:
            database.close()

    def wait_for(self, condition, what, seconds=20):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.02)
        self.fail(f"waited in vain for {what}: {self.log()}")

    def log(self):
        path = self.folder / "state/caudal.log"
        return path.read_text() if path.exists() else ""

    # --- refused before anything starts ---

    def test_usage(self):
        self.expect(self.caudal("runn", "x"), 1, "runn")
        self.expect(self.caudal("run"), 1, "program is required")
        self.expect(self.caudal("generate", "neobank", "--late", "many", "--out", "x"), 1, "--late")

    def test_malformed_sql(self):
        (self.folder / "job.sql").write_text("CREATE TABLE t (id INT);\nSELEC id FROM t;\n")
        self.expect(self.caudal("run", "job.sql"), 3, "error[user]", "SELEC", "line 2")
        self.assertFalse((self.folder / "caudal-state").exists())

    def test_unknown_option_names_the_nearest(self):
        self.job(source=", 'formt' = 'json'")
        self.expect(self.caudal("run", "job.sql"), 3, "'formt'", "did you mean 'format'?")

    def test_type_mismatch(self):
        self.job(expression="ts")
        self.expect(self.caudal("run", "job.sql"), 3, "error[user]", "amount", "TIMESTAMP(3)")

    def test_missing_owner(self):
        (self.folder / "p.yaml").write_text("pipeline: p\nsources: [events]\n")
        self.expect(self.caudal("run", "p.yaml"), 3, "owner")
        self.expect(self.caudal("validate", "p.yaml"), 3, "owner")

    def test_watermark_without_why(self):
        (self.folder / "p.yaml").write_text("pipeline: p\nowner: me\nwatermark: {delay: 1 min}\n")
        self.expect(self.caudal("validate", "p.yaml"), 3, "why")

    def test_two_queries_on_one_checkpoint(self):
        self.job(more="INSERT INTO out_rows SELECT id, amount FROM events;")
        self.expect(self.caudal("run", "job.sql"), 3, "would share the checkpoint")

    def test_target_without_query(self):
        (self.folder / "p.yaml").write_text("pipeline: p\nowner: me\ntargets: {silver: s, gold: g}\n")
        self.assertEqual(self.caudal("validate", "p.yaml").returncode, 0)
        self.expect(self.caudal("run", "p.yaml"), 3, "'s'", "'g'", "hint:")

    def test_missing_files(self):
        self.expect(self.caudal("run", "none.sql"), 3, "there is no file 'none.sql'")
        self.expect(self.caudal("validate", "none.yaml"), 3, "none.yaml")

    def test_unset_secret(self):
        self.job()
        script = (self.folder / "job.sql").read_text().replace("'out.db'", "").replace("jdbc:sqlite:out.db", "jdbc:sqlite:${env:CAUDAL_TEST_UNSET}")
        (self.folder / "job.sql").write_text(script)
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 3, "CAUDAL_TEST_UNSET")

    def test_secrets_are_never_printed(self):
        self.job()
        script = (self.folder / "job.sql").read_text().replace("jdbc:sqlite:out.db", "jdbc:sqlite:/nowhere/${env:CAUDAL_TEST_SECRET}.db")
        (self.folder / "job.sql").write_text(script)
        result = self.caudal("run", "job.sql", "--state", "state", environment={"CAUDAL_TEST_SECRET": "hunter2"})
        self.assertNotEqual(result.returncode, 0)
        self.assertNotIn("hunter2", result.stderr + result.stdout + self.log())
        self.assertIn("***", result.stderr)

    def test_unwritable_state_folder(self):
        self.job()
        (self.folder / "file").write_text("")
        self.expect(self.caudal("run", "job.sql", "--state", "file/state"), 3, "state folder 'file/state' cannot be written", "hint:")
        self.expect(self.caudal("run", "job.sql", "--state", "/proc/caudal-state"), 3, "cannot be written")

    # --- what lies in the data ---

    def test_poison_record_stops_with_its_place(self):
        self.feed({"id": 1, "amount": 1.5}, b'{"id": 2, "amount": ', {"id": 3, "amount": 3})
        self.job()
        result = self.caudal("run", "job.sql", "--state", "state")
        self.expect(result, 2, "error[data]", "record at", "'events/scan/1'", "dead-letter")

    def test_not_null_is_a_contract(self):
        self.feed({"id": None, "amount": 1})
        self.job()
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 2, "error[data]", "'id'")

    def test_poison_record_goes_aside(self):
        self.feed({"id": 1, "amount": 1.5}, b"\xff\xfe", b'{"id": 2, "amount": ', {"amount": 3}, {"id": 4, "amount": 4})
        aside = ("CREATE TABLE aside (error_class STRING, `raw` BYTES) WITH ('connector' = 'filesystem', 'path' = 'aside', "
                 "'format' = 'json');")
        self.job(source=", 'caudal.errors' = 'dead-letter', 'caudal.dead-letter' = 'aside'", more="")
        script = (self.folder / "job.sql").read_text()
        (self.folder / "job.sql").write_text(aside + script)
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 0)
        self.assertEqual([row[0] for row in self.rows()], [1, 4])
        listed = self.caudal("dlq", "ls", "job.sql", "--json")
        counts = {row["error_class"]: row["rows"] for row in map(json.loads, listed.stdout.splitlines())}
        self.assertEqual(counts, {"malformed": 2, "contract": 1}, listed.stderr)

    def test_a_day_in_the_future_does_not_move_the_clock(self):
        now = time.time()

        def at(seconds):
            return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now + seconds))

        self.feed({"id": 1, "amount": 1, "ts": at(-300)}, {"id": 2, "amount": 2, "ts": at(86400)}, {"id": 3, "amount": 3, "ts": at(-290)})
        self.job()
        script = (self.folder / "job.sql").read_text().replace(
            "INSERT INTO out_rows SELECT id, amount FROM events",
            "INSERT INTO out_rows SELECT CAST(COUNT(*) AS INT), SUM(amount) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), "
            "INTERVAL '1' DAY)) GROUP BY window_start, window_end")
        (self.folder / "job.sql").write_text(script)
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 0)
        # All three are counted: none became late because one is from tomorrow.
        self.assertEqual(sum(row[0] for row in self.rows()) if len(self.rows()) > 1 else 3, 3)
        fates = self.caudal("ops", "query", "SELECT fate, `rows` FROM ops.fates", "--state", "state", "--json")
        self.assertNotIn('"late"', fates.stdout, fates.stderr)

    # --- state ---

    def run_to_end(self, count=3):
        self.feed(*({"id": i, "amount": i} for i in range(count)))
        self.job(source=WATCH)
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms"), 0)

    def run_to_savepoint(self, count=3):
        self.feed(*({"id": i, "amount": i} for i in range(count)))
        self.job(source=WATCH)
        process = self.start("run", "job.sql", "--state", "state")
        self.wait_for(lambda: len(self.rows()) == count, "the rows")
        self.expect(self.caudal("stop", "--state", "state", "--savepoint"), 0)
        self.assertEqual(process.wait(timeout=20), 0, process.stderr.read())

    def newest_manifest(self):
        manifests = [path for path in (self.folder / "state/job").rglob("manifest-*") if path.stat().st_size > 0]
        return max(manifests, key=lambda path: [int(part) for part in path.name.split("-")[1:]])

    def test_stop_and_go_on(self):
        self.run_to_savepoint()
        self.feed({"id": 9, "amount": 9}, name="b.ndjson")
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms"), 0)
        self.assertEqual([row[0] for row in self.rows()], [0, 1, 2, 9])

    def test_sigterm_is_a_last_checkpoint(self):
        self.feed({"id": 1, "amount": 1})
        self.job(source=WATCH)
        process = self.start("run", "job.sql", "--state", "state", "--set", "execution.checkpointing.interval=1 h")
        self.wait_for(lambda: "event=started" in self.log(), "the start")
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=20), 0, process.stderr.read())
        self.assertEqual([row[0] for row in self.rows()], [1])

    def test_second_instance(self):
        self.job(source=WATCH)
        process = self.start("run", "job.sql", "--state", "state")
        self.wait_for(lambda: "event=started" in self.log(), "the first")
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 3, "another instance runs on state folder 'state'", "caudal stop")
        self.assertIsNone(process.poll())
        self.expect(self.caudal("stop", "--state", "state"), 0)
        self.assertEqual(process.wait(timeout=20), 0)

    def test_damaged_manifest_of_a_committed_epoch(self):
        self.run_to_savepoint()
        self.feed({"id": 7, "amount": 7}, name="b.ndjson")
        process = self.start("run", "job.sql", "--state", "state")
        self.wait_for(lambda: len(self.rows()) == 4, "the second epoch")
        self.expect(self.caudal("stop", "--state", "state"), 0)
        process.wait(timeout=20)
        path = self.newest_manifest()
        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 2] ^= 0xff
        path.write_bytes(damaged)
        self.expect(self.caudal("checkpoint", "verify", "--state", "state"), 4, "error[data]")
        self.feed({"id": 8, "amount": 8}, name="c.ndjson")
        # The one before is whole, but the table already holds what came after it.
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms"), 3, "has already committed epoch",
                    "would write rows twice")
        self.assertEqual([row[0] for row in self.rows()], [0, 1, 2, 7])

    def test_no_whole_manifest(self):
        self.run_to_savepoint()
        for path in (self.folder / "state/job").rglob("manifest-*"):
            path.write_bytes(b"rubbish")
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms"), 2, "error[data]", "hint:")
        self.assertEqual([row[0] for row in self.rows()], [0, 1, 2])

    def test_foreign_checkpoint(self):
        self.run_to_savepoint()
        shutil.copytree(self.folder / "state/job/out_rows", self.folder / "other/job2/out_rows")
        (self.folder / "job2.sql").write_text((self.folder / "job.sql").read_text())
        self.expect(self.caudal("run", "job2.sql", "--state", "other", "--until-idle", "500 ms"), 3, "error[user]", "job/out_rows")

    def test_changed_sql_on_old_state(self):
        counted = ("CREATE TABLE counts (amount DECIMAL(10, 2), n BIGINT, PRIMARY KEY (amount) NOT ENFORCED) WITH ('connector' = 'jdbc', "
                   "'url' = 'jdbc:sqlite:out.db', 'table-name' = 'counts', 'caudal.create-table' = 'true');"
                   "INSERT INTO counts SELECT {key}, COUNT(*) FROM events GROUP BY {key};")
        self.feed({"id": 1, "amount": 1})
        self.job(source=WATCH, more=counted.format(key="amount"))
        process = self.start("run", "job.sql", "--state", "state")
        self.wait_for(lambda: "query=counts generation=1 epoch=" in self.log(), "a commit")
        self.expect(self.caudal("stop", "--state", "state"), 0)
        process.wait(timeout=20)
        self.job(source=WATCH, more=counted.format(key="amount + 1"))
        self.expect(self.caudal("checkpoint", "diff", "job.sql", "--state", "state", "--query", "counts"), 3, "error[user]")
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms"), 3, "error[user]", "hint:")

    # --- the disk, and a crash ---

    def test_disk_that_refuses_for_a_while(self):
        self.feed(*({"id": i, "amount": i} for i in range(5)))
        self.job(source=WATCH)
        process = self.start("run", "job.sql", "--state", "state", environment={"CAUDAL_FAULT": "disk_write:error:6:8"})
        self.wait_for(lambda: len(self.rows()) == 5, "the rows after the disk is well again", seconds=40)
        self.expect(self.caudal("stop", "--state", "state"), 0)
        self.assertEqual(process.wait(timeout=20), 0, process.stderr.read())

    def test_crash_is_repeated_until_it_is_hopeless(self):
        self.feed({"id": 1, "amount": 1})
        self.job(source=WATCH)
        crashes = ";".join(["manifest_before:crash:1"] * 10)
        result = self.caudal("run", "job.sql", "--state", "state", environment={"CAUDAL_FAULT": crashes})
        self.expect(result, 5, "error[internal]")
        self.assertEqual(self.rows(), [])
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms"), 0)
        self.assertEqual([row[0] for row in self.rows()], [1])

    def test_json_errors(self):
        result = self.caudal("run", "none.sql", "--json")
        error = json.loads(result.stderr)
        self.assertEqual((result.returncode, error["exit"], error["error"]["domain"]), (3, 3, "user"))


if __name__ == "__main__":
    CAUDAL = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main(verbosity=1)
