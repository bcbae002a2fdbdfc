#!/usr/bin/env python3
"""What goes wrong ends in one clear message: whose fault, where, what to do; the right exit code; nothing lost.

  test/cli/bad_input.py build/release/caudal [-k PATTERN]
"""
import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

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
        self.program = CAUDAL

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- what tests are made of ---

    def job(self, name="job.sql", source="", more="", expression="amount"):
        (self.folder / name).write_text(JOB.format(source=source, more=more, expression=expression))

    def feed(self, *rows, name="a.ndjson"):
        hidden = self.folder / "in" / ("." + name)
        at = {"ts": "2026-01-01 00:00:00"}
        hidden.write_bytes(b"".join((row if isinstance(row, bytes) else json.dumps(at | row).encode()) + b"\n" for row in rows))
        hidden.rename(self.folder / "in" / name)

    def offset(self, record, name="a.ndjson"):
        """Where the record, from 0, begins in the file."""
        return sum(len(line) for line in (self.folder / "in" / name).read_bytes().splitlines(keepends=True)[:record])

    def caudal(self, *arguments, environment=None, timeout=60, **options):
        return subprocess.run([self.program, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=timeout,
                              env=dict(os.environ, **(environment or {})), **options)

    def start(self, *arguments, environment=None, **options):
        process = subprocess.Popen([self.program, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=dict(os.environ, **(environment or {})), **options)
        self.started.append(process)
        return process

    def without_rights(self):
        """How to start a process that modes of files count for, also when the tests run as root."""
        if os.geteuid() != 0:
            return {}
        self.program = shutil.copy(CAUDAL, self.folder / "caudal")  # where it lies may be root's alone
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, 65534, 65534)
        return {"user": 65534, "group": 65534, "extra_groups": []}

    def expect(self, result, code, *texts):
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        for text in texts:
            self.assertIn(text, result.stderr)
        self.assertEqual(len(re.findall("^error\\[", result.stderr, re.MULTILINE)), 1 if code else 0, result.stderr)

    def rows(self):
        if not (self.folder / "out.db").exists():
            return []
        database = sqlite3.connect(f"file:{self.folder}/out.db?mode=ro", uri=True)
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

    def assert_nothing_half_written(self):
        """Neither hidden files nor prepared rows that nobody will commit."""
        self.assertEqual([str(path) for path in self.folder.rglob(".*") if path.is_file() and path.suffix != ".committed"], [])
        self.assertEqual(list(self.folder.glob("state/*/*/sinks/*/*")), [])

    def manifests(self):
        return list((self.folder / "state").rglob("manifest-*"))

    # --- refused before anything starts ---

    def test_usage(self):
        self.expect(self.caudal("runn", "x"), 1, "runn")
        self.expect(self.caudal("run"), 1, "program is required")
        self.expect(self.caudal("generate", "neobank", "--late", "many", "--out", "x"), 1, "--late")

    def test_malformed_sql(self):
        (self.folder / "job.sql").write_text("CREATE TABLE t (id INT);\nSELEC id FROM t;\n")
        self.expect(self.caudal("run", "job.sql"), 3, "error[user]", "SELEC", "line 2")
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name != "in"], ["job.sql"])

    def test_unknown_option_names_the_nearest(self):
        self.job(source=", 'formt' = 'json'")
        self.expect(self.caudal("run", "job.sql"), 3, "error[user]", "unknown option 'formt'", "line 4", "did you mean 'format'?")
        self.assertFalse((self.folder / "caudal-state").exists() or (self.folder / "out.db").exists())

    def test_options_of_the_format_are_checked_where_they_stand(self):
        for option, said in ((", 'json.nix' = 'x'", "unknown option 'json.nix' of format 'json'"),
                             (", 'json.fail-on-missing-field' = 'maybe'", "'maybe' is not true or false")):
            self.job(source=option)
            self.expect(self.caudal("run", "job.sql"), 3, "error[user]", said, "line 4")
            self.assertFalse((self.folder / "caudal-state").exists() or (self.folder / "out.db").exists())

    def test_type_mismatch(self):
        self.job(expression="ts")
        self.expect(self.caudal("run", "job.sql"), 3, "error[user]", "column 'amount' of table 'out_rows'", "TIMESTAMP(3)", "line 8",
                    "hint: write CAST")
        self.assertFalse((self.folder / "caudal-state").exists() or (self.folder / "out.db").exists())

    def test_missing_owner(self):
        (self.folder / "p.yaml").write_text("pipeline: p\nsources: [events]\n")
        for command in ("run", "validate"):
            self.expect(self.caudal(command, "p.yaml"), 3, "error[user]: pipeline 'p' has no owner", "at p.yaml", "hint:")
        self.assertFalse((self.folder / "caudal-state").exists())

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

    def test_unreadable_paths(self):
        self.job()
        script = (self.folder / "job.sql").read_text()
        (self.folder / "job.sql").write_text(script.replace("'path' = 'in'", "'path' = 'nowhere'"))
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 3, "error[user]", "no file or folder 'nowhere'", "'events'", "hint:")
        (self.folder / "job.sql").write_text(script.replace("sqlite:out.db", "sqlite:/proc/nowhere/out.db"))
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 3, "error[external]", "'/proc/nowhere/out.db'", "sink 'out_rows'", "hint:")
        (self.folder / "out.db").write_bytes(b"this is no database" * 100)
        (self.folder / "job.sql").write_text(script)
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 2, "error[data]", "'out.db'", "not a database", "hint:")
        self.assertEqual((self.folder / "out.db").read_bytes(), b"this is no database" * 100)
        self.assertEqual(self.manifests(), [])

    def test_path_without_the_right_to_read_is_refused_before_start(self):
        self.feed({"id": 1, "amount": 1})
        self.job()
        (self.folder / "in").chmod(0)
        rights = self.without_rights()
        for words in (("run", "job.sql", "--state", "state"), ("sql", (self.folder / "job.sql").read_text())):
            self.expect(self.caudal(*words, **rights), 3, "error[external]: cannot list 'in': permission denied", "at table 'events'", "hint:")
        (self.folder / "in").chmod(0o755)
        self.assertEqual(self.rows(), [])

    def test_file_without_the_right_to_read(self):
        self.feed({"id": 1, "amount": 1})
        self.job(source=WATCH)
        (self.folder / "in/a.ndjson").chmod(0)
        process = self.start("run", "job.sql", "--state", "state", **self.without_rights())
        self.wait_for(lambda: "event=stalled" in self.log(), "the message")
        self.assertIn("a.ndjson': permission denied", self.log())
        self.assertIsNone(process.poll())
        (self.folder / "in/a.ndjson").chmod(0o600)
        self.wait_for(lambda: self.rows(), "the row, once it may be read")
        process.terminate()
        _, text = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0, text)
        self.assertIn("run: it waits and tries again: error[external]: cannot", text)
        self.assertIn("run: it goes on", text)

    def test_unset_secret(self):
        self.job()
        script = (self.folder / "job.sql").read_text().replace("'out.db'", "").replace("jdbc:sqlite:out.db", "jdbc:sqlite:${env:CAUDAL_TEST_UNSET}")
        (self.folder / "job.sql").write_text(script)
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 3, "CAUDAL_TEST_UNSET")

    def test_secrets_are_never_printed(self):
        self.job()
        script = (self.folder / "job.sql").read_text().replace("jdbc:sqlite:out.db", "jdbc:sqlite:/proc/nowhere/${env:CAUDAL_TEST_SECRET}.db")
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

    def test_read_only_state_folder(self):
        self.job()
        (self.folder / "state").mkdir(mode=0o555)
        self.expect(self.caudal("run", "job.sql", "--state", "state", **self.without_rights()), 3, "error[external]",
                    "state folder 'state' cannot be written: Permission denied", "hint: make it writable")
        self.assertEqual((list((self.folder / "state").iterdir()), (self.folder / "out.db").exists()), ([], False))

    def test_state_folder_that_becomes_read_only(self):
        self.feed({"id": 1, "amount": 1})
        self.job(source=WATCH)
        process = self.start("run", "job.sql", "--state", "state", **self.without_rights())
        self.wait_for(lambda: "event=commit" in self.log(), "a commit")
        checkpoints = self.folder / "state/job/out_rows"
        checkpoints.chmod(0o555)
        self.feed({"id": 2, "amount": 2}, name="b.ndjson")
        self.wait_for(lambda: "event=stalled" in self.log(), "the message")
        self.assertIn("state/job/out_rows/", self.log())
        self.assertIn("permission denied", self.log())
        self.assertEqual([row[0] for row in self.rows()], [1])  # nothing is visible without its manifest
        checkpoints.chmod(0o755)
        self.wait_for(lambda: len(self.rows()) == 2, "the row, once it may be written")
        process.terminate()
        _, text = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0, text)
        self.assertIn("run: it waits and tries again: error[external]: cannot create", text)
        self.assertIn("run: it goes on", text)
        self.assert_nothing_half_written()

    def test_insert_into_a_server_that_is_away(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]  # nobody listens
        process = self.start("sql", "CREATE TABLE t (id INT NOT NULL, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'redis', "
                             f"'hostname' = '127.0.0.1', 'port' = '{port}'); INSERT INTO t VALUES (1, 2)")
        watchdog = threading.Timer(60, process.kill)  # ends the reading below
        watchdog.start()
        self.addCleanup(watchdog.cancel)
        told = ""
        while "hint: start the server" not in told:
            line = process.stderr.readline()
            self.assertTrue(line, told)
            told += line
        self.assertIn("it waits and tries again: error[external]", told)
        self.assertIn(f"127.0.0.1:{port}: no connection: Connection refused", told)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=20)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(rest.count("error["), 1, rest)

    def test_target_that_is_away_when_a_run_goes_on(self):
        """A first start without its target is refused (test_unreadable_paths); one that goes on waits for it."""
        self.feed({"id": 1, "amount": 1})
        self.job(source=WATCH)
        script = (self.folder / "job.sql").read_text()
        (self.folder / "job.sql").write_text(script.replace("sqlite:out.db", "sqlite:target/out.db"))
        (self.folder / "target").mkdir()
        rights = self.without_rights()
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "200 ms", **rights), 0)
        (self.folder / "target").chmod(0)
        self.feed({"id": 2, "amount": 2}, name="b.ndjson")
        process = self.start("run", "job.sql", "--state", "state", **rights)
        self.wait_for(lambda: "event=stalled" in self.log(), "the message")
        self.assertIsNone(process.poll())
        (self.folder / "target").chmod(0o755)
        self.wait_for(lambda: "event=recovered" in self.log(), "a commit, once the target is there")
        process.terminate()
        _, text = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0, text)
        self.assertIn("run: it waits and tries again: error[external]", text)
        (self.folder / "target/out.db").rename(self.folder / "out.db")
        self.assertEqual([row[0] for row in self.rows()], [1, 2])

    # --- what lies in the data ---

    def test_a_file_whose_name_sorts_before_what_is_read(self):
        """Names made by chance: the message says which file and what to do; whoever goes on has each row counted."""
        self.feed({"id": 1, "amount": 1}, name="m.ndjson")
        self.job(source=WATCH)
        until_idle = ("--state", "state", "--until-idle", "300 ms")
        self.expect(self.caudal("run", "job.sql", *until_idle), 0)
        self.feed({"id": 2}, {"id": 3}, {"id": 4}, name="c.ndjson")
        self.expect(self.caudal("run", "job.sql", *until_idle), 2, "file 'in/c.ndjson' appeared or changed after 'm.ndjson'",
                    "its 3 records are passed over", "hint: rename it so that it sorts after 'm.ndjson', or set 'caudal.errors'")
        (self.folder / "in/c.ndjson").rename(self.folder / "in/n.ndjson")
        self.expect(self.caudal("run", "job.sql", *until_idle), 0)
        self.assertEqual(len(self.rows()), 4)
        self.feed(*({"id": i} for i in range(10, 15)), name="b.ndjson")
        self.feed({"id": 20}, name="o.ndjson")
        self.job(source=WATCH + ", 'caudal.errors' = 'skip'")
        self.expect(self.caudal("run", "job.sql", *until_idle, "--json"), 0)
        said = json.loads(self.caudal("status", "--state", "state", "--json").stdout)
        self.assertEqual({fate["fate"]: fate["rows"] for fate in said["fates"]}, {"published": 5, "dead{out-of-order-file}": 5})
        self.assertEqual(len(self.rows()), 5)

    def test_poison_record_stops_with_its_place(self):
        self.feed({"id": 1, "amount": 1.5}, b'{"id": 2, "amount": ', {"id": 3, "amount": 3})
        self.job()
        result = self.caudal("run", "job.sql", "--state", "state")
        self.expect(result, 2, "error[data]: the record ends where a value should stand", "at filesystem events[0]@54, file 'in/a.ndjson'\n",
                    "in source 'events' of query 'job/out_rows'\n", "hint: set 'caudal.errors' = 'dead-letter'")
        self.assertEqual((self.rows(), self.manifests()), ([], []))
        self.assert_nothing_half_written()
        # Mended, it goes on as if nothing had been.
        self.feed({"id": 1, "amount": 1.5}, {"id": 2, "amount": 2}, {"id": 3, "amount": 3})
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 0)
        self.assertEqual([row[0] for row in self.rows()], [1, 2, 3])

    def test_not_null_is_a_contract(self):
        self.feed({"id": 1, "amount": 1}, {"id": None, "amount": 1})
        self.job()
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 2, "error[data]: column 'id' is NULL but declared NOT NULL",
                    f"at filesystem events[0]@{self.offset(1)}, file 'in/a.ndjson'\n", "in source 'events' of query 'job/out_rows'\n",
                    "hint: set 'caudal.errors' = 'dead-letter'")
        self.assertEqual((self.rows(), self.manifests()), ([], []))
        self.assert_nothing_half_written()

    def test_expression_names_its_place_and_its_record(self):
        self.feed({"id": 1, "amount": 1}, {"id": 2, "amount": 0}, {"id": 3, "amount": 0})
        self.job(expression="\n  ABS(10 / amount)")
        line = 1 + (self.folder / "job.sql").read_text().split("10 / amount")[0].count("\n")
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 2, ": division by zero\n",
                    f"  at job.sql, line {line}, column 7\n", f"  at filesystem events[0]@{self.offset(1)}, file 'in/a.ndjson'\n",
                    "  in operator 'out_rows/", " of query 'job/out_rows'\n", "hint: set 'caudal.errors' = 'dead-letter'")
        self.assertEqual((self.rows(), self.manifests()), ([], []))

    def test_poison_record_goes_aside(self):
        broken = b'{"id": 2, "amount": '
        self.feed({"id": 1, "amount": 1.5}, b"\xff\xfe", broken, {"amount": 3}, {"id": 4, "amount": 4})
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
        aside = [json.loads(line) for path in (self.folder / "aside").glob("[!.]*") for line in path.read_bytes().splitlines()]
        # Byte for byte, blanks at its end included.
        raws = [base64.b64decode(row["raw"]) for row in aside]
        self.assertIn(broken, raws)
        self.assertIn(b"\xff\xfe", raws)
        self.assert_nothing_half_written()

    def test_values_that_are_ignored_are_counted(self):
        self.feed({"id": 1, "amount": "much"}, {"id": 2, "amount": 2})
        self.job(source=WATCH + ", 'json.ignore-parse-errors' = 'true'")
        process = self.start("run", "job.sql", "--state", "state", "--listen", "127.0.0.1:0")
        self.wait_for(lambda: len(self.rows()) == 2, "the rows")
        self.assertIsNone(self.rows()[0][1])
        address = re.search(r"event=listening address=(\S+)", self.log()).group(1)

        def ignored():
            with urllib.request.urlopen(f"http://{address}/metrics") as page:
                return re.search(r"caudal_ignored_values_total\{[^}]*\} (\d+)\n", page.read().decode()).group(1)

        self.wait_for(lambda: ignored() == "1", "the count on /metrics, which is taken about once a second")
        self.expect(self.caudal("stop", "--state", "state"), 0)
        self.assertEqual(process.wait(timeout=20), 0)

    def test_a_day_in_the_future_does_not_move_the_clock(self):
        hour = int(time.time()) // 3600 * 3600  # so that no day ends in between

        def at(seconds):
            return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(hour + seconds))

        self.feed({"id": 1, "amount": 1, "ts": at(0)}, {"id": 2, "amount": 2, "ts": at(86400)}, {"id": 3, "amount": 3, "ts": at(10)})
        self.job()
        script = (self.folder / "job.sql").read_text().replace(
            "INSERT INTO out_rows SELECT id, amount FROM events",
            "INSERT INTO out_rows SELECT CAST(EXTRACT(DAY FROM window_start) AS INT), SUM(amount) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), "
            "INTERVAL '1' DAY)) GROUP BY window_start, window_end")
        (self.folder / "job.sql").write_text(script)
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 0)
        # The third is counted today with the first: it did not become late because one came from tomorrow.
        self.assertEqual(sorted(float(row[1]) for row in self.rows()), [2, 4])
        fates = self.caudal("ops", "query", "SELECT fate, `rows` FROM ops.fates", "--state", "state", "--json")
        self.assertIn('"absorbed"', fates.stdout, fates.stderr)
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

    def test_idle_is_who_has_been_looked_at(self):
        self.feed({"id": 1, "amount": 1})
        self.job(source=WATCH)
        for more in ((), ("--drain",)):
            shutil.rmtree(self.folder / "state", ignore_errors=True)
            (self.folder / "out.db").unlink(missing_ok=True)
            self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "1 ms", *more), 0)
            self.assertEqual([row[0] for row in self.rows()], [1])

    def test_a_query_that_waits_to_begin(self):
        self.run_to_end()
        away = {"CAUDAL_FAULT": "restore_commit:error:1:1000000"}
        query = lambda: json.loads(self.caudal("status", "--state", "state", "--json").stdout)["queries"][0]
        for words, code, said, state in ((("--drain",), 5, "the query was to be drained", "failed"), ((), 0, "", "finished")):
            process = self.start("run", "job.sql", "--state", "state", environment=away)
            self.wait_for(lambda: query()["state"] == "waiting" and query()["error"], "the query to wait")
            self.expect(self.caudal("checkpoint", "trigger", "--state", "state"), 3, "no query runs, so that no epoch can begin")
            self.expect(self.caudal("stop", "--state", "state", *words), code)
            self.assertEqual(process.wait(timeout=20), code)
            self.assertIn(said, process.stderr.read())
            self.assertEqual(query()["state"], state)
            self.assertEqual(query()["error"] is None, code == 0)

    def test_a_stop_without_a_last_checkpoint_is_told(self):
        self.feed({"id": 1, "amount": 1})
        self.job(source=WATCH)
        process = self.start("run", "job.sql", "--state", "state", environment={"CAUDAL_FAULT": "sink_commit_before:error:1:1000000"})
        self.wait_for(lambda: "event=stalled" in self.log(), "the stall")
        self.expect(self.caudal("stop", "--state", "state"), 5, "the run ended with code 5: injected fault at sink_commit_before",
                    "read again by the next run")
        self.assertEqual(process.wait(timeout=20), 5)
        # One that is killed meanwhile does not say how it ended. It has begun: one that waits to begin ends at once.
        shutil.rmtree(self.folder / "state")
        process = self.start("run", "job.sql", "--state", "state", environment={"CAUDAL_FAULT": "sink_commit_before:error:1:1000000"})
        self.wait_for(lambda: "event=stalled" in self.log(), "the second stall")
        stop = self.start("stop", "--state", "state")
        self.wait_for(lambda: "event=stopping" in self.log().rpartition("event=run")[2], "the stop")
        child = json.loads((self.folder / "state/run.json").read_text())["child"]
        process.kill()
        with contextlib.suppress(ProcessLookupError):  # it dies with its supervisor
            os.kill(child, signal.SIGKILL)
        self.assertEqual(stop.wait(timeout=20), 5)
        self.assertIn("the run ended without a word", stop.stderr.read())

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
        self.expect(self.caudal("run", "job.sql", "--state", "state"), 3, f"another instance, process {process.pid}, runs on state folder 'state'",
                    "caudal stop")
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
                    f"{path.relative_to(self.folder)} passed over: manifest is damaged", "would write rows twice")
        self.assertEqual([row[0] for row in self.rows()], [0, 1, 2, 7])

    def test_no_whole_manifest(self):
        self.run_to_savepoint()
        for path in (self.folder / "state/job").rglob("manifest-*"):
            path.write_bytes(b"rubbish")
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms"), 2, "error[data]", "hint:")
        self.assertEqual([row[0] for row in self.rows()], [0, 1, 2])

    def test_foreign_manifest(self):
        self.run_to_savepoint()
        foreign = self.folder / "foreign"
        foreign.mkdir()
        shutil.copy(self.folder / "job.sql", foreign)
        shutil.copytree(self.folder / "in", foreign / "in")
        subprocess.run([CAUDAL, "run", "job.sql", "--state", "state", "--until-idle", "300 ms"], cwd=foreign, check=True,
                       capture_output=True)
        theirs = next(path for path in (foreign / "state/job/out_rows").glob("manifest-*") if path.stat().st_size > 100)
        mine = self.newest_manifest()
        generation, number = map(int, mine.name.split("-")[1:])
        shutil.copy(theirs, mine.with_name(f"manifest-{generation}-{number + 1}"))
        self.feed({"id": 9, "amount": 9}, name="b.ndjson")
        result = self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms")
        self.expect(result, 0, "run: warning: query 'job/out_rows'", "was copied from another checkpoint folder")
        self.assertEqual([row[0] for row in self.rows()], [0, 1, 2, 9])

    def test_foreign_checkpoint(self):
        self.run_to_savepoint()
        shutil.copytree(self.folder / "state/job/out_rows", self.folder / "other/job2/out_rows")
        (self.folder / "job2.sql").write_text((self.folder / "job.sql").read_text())
        self.expect(self.caudal("run", "job2.sql", "--state", "other", "--until-idle", "500 ms"), 3, "error[user]", "job/out_rows")

    def test_changed_sql_on_old_state(self):
        """KF-48: an old checkpoint under a changed query."""
        counted = ("CREATE TABLE counts (amount DECIMAL(10, 2), n BIGINT, PRIMARY KEY (amount) NOT ENFORCED) WITH ('connector' = 'jdbc', "
                   "'url' = 'jdbc:sqlite:out.db', 'table-name' = 'counts', 'caudal.create-table' = 'true');"
                   "INSERT INTO counts SELECT {key}, COUNT(*) FROM events GROUP BY {key};")
        self.feed({"id": 1, "amount": 1})
        self.job(source=WATCH, more=counted.format(key="amount"))
        process = self.start("run", "job.sql", "--state", "state")
        self.wait_for(lambda: "query=job/counts generation=1 epoch=" in self.log(), "a commit")
        self.expect(self.caudal("stop", "--state", "state"), 0)
        process.wait(timeout=20)
        self.job(source=WATCH, more=counted.format(key="amount + 1"))
        self.expect(self.caudal("checkpoint", "diff", "job.sql", "--state", "state", "--query", "counts"), 3, "error[user]")
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms"), 3, "error[user]", "hint:")

    def test_an_added_operator_begins_empty_and_is_told(self):
        self.run_to_savepoint()
        self.job(source=WATCH)
        script = (self.folder / "job.sql").read_text()
        (self.folder / "job.sql").write_text(script.replace("SELECT id, amount FROM events", "SELECT DISTINCT id, amount FROM events"))
        self.feed({"id": 9, "amount": 9}, {"id": 9, "amount": 9}, name="b.ndjson")
        result = self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms")
        self.expect(result, 0, "is new and begins empty", "counts of rows begin anew")
        self.assertIn(" 0 unaccounted", result.stdout)
        self.assertEqual([row[0] for row in self.rows()], [0, 1, 2, 9])

    def test_changed_definitions_behind_old_state(self):
        job = """SET 'execution.checkpointing.interval' = '100 ms';
                 CREATE TABLE events (id INT NOT NULL, bucket AS {bucket}, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '{delay}' SECOND)
                 WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '50 ms');
                 CREATE VIEW chosen AS SELECT * FROM (SELECT *, bucket + 0 AS part FROM events) WHERE {chosen};
                 CREATE TABLE counts (part {type}, n BIGINT, PRIMARY KEY (part) NOT ENFORCED)
                 WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:out.db', 'table-name' = 'counts', 'caudal.create-table' = 'true');
                 CREATE TABLE copies WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:out.db', 'table-name' = 'copies',
                                           'caudal.create-table' = 'true') LIKE counts;
                 CREATE TABLE windows (begins TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'windows', 'format' = 'json');
                 INSERT INTO counts SELECT part, COUNT(*) FROM chosen GROUP BY part;
                 INSERT INTO copies SELECT id, 1 FROM events WHERE {copied};
                 INSERT INTO windows SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '{minutes}' MINUTE))
                 GROUP BY window_start, window_end;"""
        old = {"type": "INT", "minutes": "1", "bucket": "id % 10", "delay": "5", "chosen": "id >= 0", "copied": "id >= 0 AND id < 100"}
        self.feed(*({"id": i} for i in range(20)))
        (self.folder / "job.sql").write_text(job.format(**old))
        process = self.start("run", "job.sql", "--state", "state")
        for query in ("counts", "copies", "windows"):
            self.wait_for(lambda: f"query=job/{query} generation=1 epoch=" in self.log(), "a commit")
        self.expect(self.caudal("stop", "--state", "state"), 0)
        process.wait(timeout=20)

        def diff(**new):
            (self.folder / "job.sql").write_text(job.format(**old | new))
            result = self.caudal("checkpoint", "diff", "job.sql", "--state", "state", "--json")
            rows = [json.loads(line) for line in result.stdout.splitlines()]
            changes = [(row["query"].removeprefix("job/"), row["change"]) for row in rows if row.get("change", "identical") != "identical"]
            return result.returncode, sorted(changes) if result.returncode == 0 or changes else result.stderr

        self.assertEqual(diff(), (0, []))
        self.assertEqual(diff(copied="id < 100 AND id >= 0"), (0, []))
        self.assertEqual(diff(copied="id >= 0 /* all */ AND\n   id < 100 -- of them\n"), (0, []))
        code, changes = diff(minutes="2")
        self.assertEqual((code, ("windows", "changed") in changes), (3, True), changes)
        code, changes = diff(type="BIGINT", bucket="CAST(id % 10 AS BIGINT)")
        self.assertEqual((code, ("counts", "changed") in changes), (3, True), changes)
        # The operator's state, and what the sink gets from it.
        self.assertEqual(diff(bucket="id % 7"), (3, [("counts", "changed"), ("counts", "changed, stateless")]))
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms"), 3, "error[user]", "hint:")
        self.assertEqual(diff(chosen="id >= 50"), (3, [("counts", "changed")]))
        stateless = [(query, "changed, stateless") for query in ("copies", "counts")]
        self.assertEqual(diff(delay="6"), (3, stateless + [("windows", "changed"), ("windows", "changed, stateless")]))
        self.assertEqual(diff(copied="id >= 7"), (0, [("copies", "changed, stateless")]))
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms"), 0)
        self.assertIn("'copies/sink/1' has changed", self.log())

    # --- what never ends ---

    def test_limit_ends_the_read(self):
        endless = "CREATE TABLE g (a INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000');"
        result = self.caudal("sql", endless + "SELECT a FROM g LIMIT 3", timeout=20)
        self.expect(result, 0)
        self.assertEqual(len(result.stdout.splitlines()), 4, result.stdout)
        generated = ("CREATE TABLE g (a INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000', 'fields.a.kind' = 'sequence', "
                     "'fields.a.start' = '1', 'fields.a.end' = '1000000');")
        result = self.caudal("sql", generated + "SELECT a FROM g WHERE a % 2 = 0 LIMIT 2 OFFSET 1", timeout=20)
        self.assertEqual(result.stdout, "a\n4\n6\n", result.stderr)
        self.feed({"id": 1}, {"id": 2})
        watched = "CREATE TABLE w (id INT) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '50 ms');"
        result = self.caudal("sql", watched + "SELECT id FROM w LIMIT 1", timeout=20)
        self.assertEqual(result.stdout, "id\n1\n", result.stderr)
        self.expect(self.caudal("sql", watched + "SELECT COUNT(*) FROM w", timeout=20), 3, "unbounded table 'w' in batch mode", "'streaming'")

    def test_a_batch_over_unbounded_input_is_refused(self):
        endless = "CREATE TABLE g (a INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1000');"
        self.expect(self.caudal("sql", endless + "SELECT COUNT(*) FROM g", timeout=20), 3, "error[user]", "unbounded table 'g' in batch mode", "hint:")
        self.expect(self.caudal("sql", endless + "SELECT a FROM g ORDER BY a LIMIT 1", timeout=20), 3, "unbounded table 'g'")
        target = "CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');"
        self.expect(self.caudal("sql", endless + target + "INSERT INTO t SELECT a FROM g", timeout=20), 3, "unbounded", "caudal run")

    def test_a_streaming_select_shows_rows_until_its_deadline(self):
        endless = "SET 'execution.runtime-mode' = 'streaming'; CREATE TABLE g (a INT) WITH ('connector' = 'datagen', 'rows-per-second' = '100');"
        result = self.caudal("sql", endless + "SELECT a FROM g", "--deadline", "2 s", timeout=20)
        self.expect(result, 0)
        self.assertGreater(len(result.stdout.splitlines()), 50)
        process = self.start("sql", endless + "SELECT a FROM g")
        self.assertEqual(process.stdout.readline(), "a\n")  # long before the end
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=10), 0)

    def test_idle_means_idle_whatever_the_interval(self):
        self.feed({"id": 1, "amount": 1})
        self.job(source=WATCH)
        text = (self.folder / "job.sql").read_text().replace("'100 ms'", "'1 min'")
        (self.folder / "job.sql").write_text(text)
        begin = time.monotonic()
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "1 s"), 0)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(len(self.rows()), 1)

    # --- files of a source that are not what they should be ---

    def test_a_file_that_is_cut_or_replaced_between_two_runs(self):
        self.job(source=WATCH)
        self.feed(*({"id": i, "amount": i} for i in range(40_000)))
        size = (self.folder / "in/a.ndjson").stat().st_size
        # Killed in the middle of the file: its position is there.
        halves = {"CAUDAL_FAULT": "sink_commit_after:crash:2;" + ";".join(["manifest_before:crash:1"] * 6)}
        script = (self.folder / "job.sql").read_text()
        (self.folder / "job.sql").write_text("SET 'caudal.max-rows-per-epoch' = '5000';" + script)
        self.expect(self.caudal("run", "job.sql", "--state", "state", environment=halves), 5)
        before = len(self.rows())
        self.assertTrue(0 < before < 40_000, before)
        whole = (self.folder / "in/a.ndjson").read_bytes()
        shutil.copy2(self.folder / "in/a.ndjson", self.folder / "in/.a")
        os.truncate(self.folder / "in/a.ndjson", size * 3 // 4)
        result = self.caudal("run", "job.sql", "--state", "state", "--until-idle", "300 ms")
        self.expect(result, 2, "error[data]: file 'in/a.ndjson' changed: it went from", f"from {size} to {size * 3 // 4} bytes", "at filesystem events[0]@",
                    "hint: put the file back as it was", "or set 'caudal.errors' = 'dead-letter'")
        self.assertEqual(len(self.rows()), before)
        # As the hint says.
        modified = os.stat(self.folder / "in/.a").st_mtime_ns
        (self.folder / "in/a.ndjson").write_bytes(whole)
        os.utime(self.folder / "in/a.ndjson", ns=(modified, modified))
        self.expect(self.caudal("run", "job.sql", "--state", "state", "--until-idle", "300 ms"), 0)
        self.assertEqual(len(self.rows()), 40_000)

    def test_a_file_that_is_cut_is_counted_where_rows_may_die(self):
        self.job(source=WATCH + ", 'caudal.errors' = 'skip'")
        self.feed(*({"id": i, "amount": i} for i in range(20_000)))
        process = self.start("run", "job.sql", "--state", "state", environment={"CAUDAL_FAULT": "-"})
        self.wait_for(lambda: len(self.rows()) == 20_000, "the rows")
        os.truncate(self.folder / "in/a.ndjson", 1000)
        self.feed({"id": 20_001, "amount": 1}, name="b.ndjson")
        self.wait_for(lambda: len(self.rows()) == 20_001, "the next file")
        self.expect(self.caudal("stop", "--state", "state"), 0)
        out, _ = process.communicate(timeout=20)
        self.assertIn("1 dead{file-changed}", out)

    def test_a_file_that_cannot_be_read_does_not_stop_the_others(self):
        dead = "CREATE TABLE dead (file STRING, error_class STRING, error_message STRING) WITH ('connector' = 'filesystem', 'path' = 'dead', 'format' = 'json');"
        self.feed({"id": 1, "amount": 1}, name="a.ndjson")
        (self.folder / "in/b.ndjson.gz").write_bytes(b"\x1f\x8b\x08\x00" + b"x" * 100)
        self.feed({"id": 2, "amount": 2}, name="c.ndjson")
        self.job()
        self.expect(self.caudal("run", "job.sql", "--state", "strict"), 2, "file 'in/b.ndjson.gz' cannot be read: it is compressed with gzip",
                    "hint: decompress it, or keep it out of the folder, or set 'caudal.errors' = 'dead-letter'")
        self.assertEqual(self.rows(), [])
        self.job(source=", 'caudal.errors' = 'dead-letter', 'caudal.dead-letter' = 'dead'", more=dead)
        result = self.caudal("run", "job.sql", "--state", "state")
        self.expect(result, 0, "run: warning: query 'job/out_rows': file 'in/b.ndjson.gz' cannot be read")
        self.assertIn("1 dead{unreadable-file}", result.stdout)
        self.assertEqual([row[0] for row in self.rows()], [1, 2])
        kept = [json.loads(line) for path in (self.folder / "dead").glob("part-*") for line in path.read_text().splitlines()]
        self.assertEqual([(row["file"], row["error_class"]) for row in kept], [("in/b.ndjson.gz", "unreadable-file")])
        self.assertIn("unreadable-file", self.caudal("dlq", "ls", "job.sql").stdout)

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
    unittest.main(verbosity=1, warnings="ignore")
