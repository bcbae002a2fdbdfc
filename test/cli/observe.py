#!/usr/bin/env python3
"""A run from outside: /metrics, /livez, /readyz, /status, `caudal status`, ops.*, progress on a terminal, stop and going on.

  test/cli/observe.py build/release/caudal [-k PATTERN]
"""
import json
import os
import re
import urllib.error
import urllib.request

from cli_case import CliCase, main

JOB = """
SET 'execution.checkpointing.interval' = '100 ms';
CREATE TABLE events (id INT NOT NULL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '50 ms', 'caudal.errors' = 'skip');
CREATE VIEW once AS
SELECT * FROM DEDUPLICATE(input => TABLE events PARTITION BY id, on_time => DESCRIPTOR(ts), retain => INTERVAL '1' MINUTE);
CREATE TABLE copy (id INT NOT NULL, ts TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');
INSERT INTO copy SELECT id, ts FROM once;
"""
QUERY = "job/copy"


class Observe(CliCase):
    def setUp(self):
        super().setUp()
        (self.folder / "in").mkdir()
        self.write("job.sql", JOB)

    def feed(self, name, first, count):
        lines = ['{"id": %d, "ts": "2026-01-01 00:00:%02d"}\n' % (i, i % 60) for i in range(first, first + count)]
        self.write("hidden", "".join(lines))
        (self.folder / "hidden").rename(self.folder / "in" / name)

    def run_job(self, *more):
        process = self.start("run", "job.sql", "--state", "state", *more)
        self.wait_for(lambda: "event=started" in self.log() or process.poll() is not None, "the start")
        if process.poll() is not None:
            self.assertEqual(process.returncode, 0, process.stderr.read())
        return process

    def written(self):
        return sorted(json.loads(line)["id"] for path in (self.folder / "out").glob("[!.]*") for line in path.read_text().splitlines())

    def page(self, path):
        port = re.search(r"event=listening address=127.0.0.1:(\d+)", self.log()).group(1)
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metric(self, name, labels=""):
        match = re.search(rf"^{name}{{[^}}]*{re.escape(labels)}[^}}]*}} (\S+)$", self.page("/metrics")[1], re.MULTILINE)
        return float(match.group(1)) if match else None

    def test_what_sources_warn_of(self):
        os.mkfifo(self.folder / "in/pipe.ndjson")
        self.run_job()
        self.feed("b.ndjson", 0, 10)
        self.wait_for(lambda: len(self.written()) == 10 if (self.folder / "out").exists() else False, "the rows")
        self.feed("a.ndjson", 10, 10)  # below the position

        def told():
            status = json.loads(self.caudal("status", "--state", "state", "--json").stdout)
            return [(each["query"], each["operator"], each["warning"]) for each in status["warnings"]]

        self.wait_for(lambda: len(told()) == 2, "the warnings")
        self.assertEqual({(query, operator) for query, operator, _ in told()}, {(QUERY, "events/scan/1")})
        self.assertIn("'in/pipe.ndjson' is a pipe: it is left out", told()[0][2])
        self.assertIn("file 'in/a.ndjson' appeared or changed after 'b.ndjson'", told()[1][2])
        self.assertIn("is a pipe", self.caudal("status", "--state", "state").stdout)
        self.caudal("stop", "--state", "state")
        # A run without the pipe has nothing to warn of.
        (self.folder / "in/pipe.ndjson").unlink()
        self.run_job("--until-idle", "300 ms")
        self.wait_for(lambda: told() == [], "a run without warnings")

    def test_pages(self):
        self.run_job("--listen", "127.0.0.1:0")
        self.feed("a.ndjson", 0, 100)
        self.feed("b.ndjson", 50, 100)
        self.wait_for(lambda: len(self.written()) == 150 if (self.folder / "out").exists() else False, "the rows")
        # Every task tells its counts for itself, within 200 ms.
        self.wait_for(lambda: self.metric("caudal_rows_fate_total", 'fate="published"') == 150, "the counter")
        self.wait_for(lambda: self.metric("caudal_rows_out_total", 'kind="Scan"') == 200, "the scan's counter")
        self.assertEqual(self.page("/livez"), (200, "ok\n"))
        self.assertEqual(self.page("/readyz"), (200, "ok\n"))
        self.assertEqual(self.page("/nothing")[0], 404)
        status = json.loads(self.page("/status")[1])
        self.assertEqual(status["queries"][0]["query"], QUERY)
        # What an operator of the run has to see: docs/operations.md.
        written = sum(path.stat().st_size for path in (self.folder / "out").rglob("part-*"))
        self.wait_for(lambda: self.metric("caudal_bytes_written_total", 'kind="Sink"') == written, "the bytes")
        self.assertEqual(self.metric("caudal_bytes_read_total", 'kind="Scan"'), sum(p.stat().st_size for p in (self.folder / "in").iterdir()))
        self.assertEqual(self.metric("caudal_rows_fate_total", 'fate="duplicate"'), 50)
        for name in ("rows", "files", "bytes", "seconds"):
            self.assertEqual(self.metric(f"caudal_backlog_{name}", 'kind="Scan"'), 0, name)
        self.assertGreater(self.metric("caudal_watermark_lag_seconds", 'kind="Scan"'), 0)
        self.assertEqual(self.metric("caudal_state_rows", 'kind="Deduplicate"'), 150)
        self.assertGreater(self.metric("caudal_state_bytes", 'kind="Deduplicate"'), 0)
        self.assertEqual(self.metric("caudal_checkpoint_ok"), 1)
        self.wait_for(lambda: self.metric("caudal_checkpoints_committed_total") > 0, "a commit")
        self.assertIsNotNone(self.metric("caudal_checkpoint_duration_seconds"))
        for operator in ("Scan", "Deduplicate", "Sink"):
            shares = [self.metric(f"caudal_{share}_ratio", f'kind="{operator}"') for share in ("busy", "blocked", "idle")]
            self.assertTrue(all(0 <= share <= 1 for share in shares), (operator, shares))
        self.caudal("stop", "--state", "state")

    def test_a_query_that_has_ended_does_not_make_the_others_unready(self):
        """Ended is not failed: one of two queries comes to the end of its input, then one fails."""
        self.write("job.sql", JOB + """
CREATE TABLE once_only (n INT) WITH ('connector' = 'filesystem', 'path' = 'once', 'format' = 'json');
CREATE TABLE gone (n INT) WITH ('connector' = 'blackhole');
INSERT INTO gone SELECT n FROM once_only;
CREATE TABLE later (n INT) WITH ('connector' = 'filesystem', 'path' = 'later', 'format' = 'json', 'source.monitor-interval' = '50 ms');
CREATE TABLE gone_too (n INT) WITH ('connector' = 'blackhole');
INSERT INTO gone_too SELECT n FROM later;
""")
        self.write("once/a.ndjson", '{"n": 1}\n')
        self.run_job("--listen", "127.0.0.1:0")
        self.wait_for(lambda: "event=ended query=job/gone ok=true" in self.log(), "the end of one")
        self.wait_for(lambda: self.page("/readyz") == (200, "ok\n"), "ready")
        self.write("later/a.ndjson", "no json\n")
        self.wait_for(lambda: "event=ended query=job/gone_too ok=false" in self.log(), "the failure")
        self.wait_for(lambda: self.page("/readyz")[0] == 503, "not ready")
        self.assertIn("query job/gone_too has failed: error[data]", self.page("/readyz")[1])

    def test_another_address_is_refused(self):
        self.assertIn("--listen", self.refused("run", "job.sql", "--listen", "127.0.0.1:99999", code=1))

    def test_status_while_it_runs_and_after(self):
        self.run_job()
        self.feed("a.ndjson", 0, 100)
        published = lambda: sum(fate["rows"] for fate in self.rows("status", "--state", "state")[0]["fates"] if fate["fate"] == "published")
        self.wait_for(lambda: published() == 100, "the fates")
        said = self.rows("status", "--state", "state")[0]
        self.assertTrue(said["running"])
        self.assertEqual((said["queries"][0]["query"], said["queries"][0]["state"]), (QUERY, "running"))
        self.assertIsInstance(said["queries"][0]["epoch"], int)
        self.assertIn("running on state", self.caudal("status", "--state", "state").stdout)
        self.caudal("stop", "--state", "state")
        said = self.rows("status", "--state", "state")[0]
        self.assertEqual((said["running"], said["queries"][0]["state"]), (False, "finished"))
        self.assertIn("stopped on state", self.caudal("status", "--state", "state").stdout)

    def test_ops_tables(self):
        self.feed("a.ndjson", 0, 100)
        self.run_job("--until-idle", "500 ms").wait(timeout=60)
        self.assertEqual(self.rows("ops", "query", "SELECT fate, `rows` FROM ops.fates", "--state", "state"), [{"fate": "published", "rows": 100}])
        progress = self.rows("ops", "query", "SELECT * FROM ops.streaming_progress", "--state", "state")
        self.assertEqual(list(progress[0])[:7], ["query_id", "batch_id", "observed_at", "input_rps", "processed_rps", "progress_json", "sink"])
        self.assertEqual({row["sink"] for row in progress}, {"copy/sink/1"})
        self.assertEqual(sum(row["rows_read"] for row in progress), 100)
        self.assertEqual({row["rows_unaccounted"] for row in progress}, {0})
        self.assertEqual(json.loads(progress[0]["progress_json"])["batchId"], progress[0]["batch_id"])
        self.assertEqual(json.loads(progress[-1]["source_offsets"])["events/scan/1"]["0"]["file"], "a.ndjson")
        joined = self.lines("sql", "SELECT q.state, COUNT(*) AS epochs FROM ops.queries AS q GROUP BY q.state", "--ops", "state")
        self.assertEqual(joined, ["state\tepochs", "finished\t1"])
        self.assertIn("ops.streaming_progress", self.caudal("sql", "SHOW TABLES", "--ops", "state").stdout)
        self.assertIn("there is no operations store", self.refused("ops", "query", "SELECT 1", "--state", "none", code=3))

    def test_a_restart_reads_nothing_twice(self):
        self.feed("a.ndjson", 0, 100)
        for _ in range(3):
            self.run_job("--until-idle", "500 ms").wait(timeout=60)
        read = "SELECT SUM(rows_read) AS r, SUM(rows_published) AS p, MAX(input_rps) > 0 AS moved FROM ops.streaming_progress GROUP BY run_id"
        self.assertEqual([(row["r"], row["p"], row["moved"]) for row in self.rows("ops", "query", read, "--state", "state")],
                         [(100, 100, True), (0, 0, False), (0, 0, False)])

    def test_a_killed_run_does_not_go_on_running(self):
        process = self.run_job()
        self.feed("a.ndjson", 0, 100)
        self.wait_for(lambda: self.rows("status", "--state", "state")[0]["queries"] != [], "the store")
        process.kill()
        process.wait()
        self.wait_for(lambda: not self.rows("status", "--state", "state")[0]["running"], "the engine's end")
        query = self.rows("status", "--state", "state")[0]["queries"][0]
        self.assertEqual((query["state"], query["rows_per_s"]), ("interrupted", 0))

    def test_stop_and_go_on(self):
        """Both spellings of a savepoint: what was read is not read again, what was remembered is still known."""
        for words in (["stop"], ["stop", "--savepoint"]):
            process = self.run_job()
            self.feed(f"{len(self.written()) if (self.folder / 'out').exists() else 0}.ndjson", 0, 100)
            self.wait_for(lambda: len(self.written()) == 100 if (self.folder / "out").exists() else False, "the rows")
            self.assertEqual(self.lines(*words, "--state", "state"), ["stopped"])
            self.assertEqual(process.wait(timeout=30), 0)
            (self.folder / "state/caudal.log").unlink()
        self.assertEqual(self.written(), list(range(100)))
        self.assertIn("nothing runs on", self.refused("stop", "--state", "state", code=3))

    def test_drain_is_final(self):
        process = self.run_job()
        self.feed("a.ndjson", 0, 10)
        self.wait_for(lambda: len(self.written()) == 10 if (self.folder / "out").exists() else False, "the rows")
        self.assertEqual(self.rows("stop", "--drain", "--state", "state"), [{"stopped": True}])
        self.assertEqual(process.wait(timeout=30), 0)

    def test_an_epoch_on_demand(self):
        self.write("job.sql", JOB.replace("'100 ms'", "'1 h'"))
        self.run_job()
        self.feed("a.ndjson", 0, 10)
        self.wait_for(lambda: self.rows("checkpoint", "trigger", "--state", "state") and "event=commit" in self.log(), "a commit")
        self.caudal("stop", "--state", "state")

    def test_crashes_without_a_commit_end_with_5(self):
        self.feed("a.ndjson", 0, 10)
        faults = {"CAUDAL_FAULT": ";".join(["manifest_before:crash"] * 6)}
        said = self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms", code=5, environment=faults).stderr
        self.assertIn("\nerror[internal]: the engine", said)
        self.assertEqual(self.log().count("event=restart"), 5)
        self.assertFalse(list((self.folder / "out").glob("[!.]*")))
        self.caudal("run", "job.sql", "--state", "state", "--until-idle", "500 ms")
        self.assertEqual(self.written(), list(range(10)))

    def test_progress_on_a_terminal(self):
        self.feed("a.ndjson", 0, 1000)
        text = self.on_terminal("run", "job.sql", "--state", "state", "--until-idle", "500 ms", out=False)
        self.assertIn("running 'job', state in state", text)
        self.assertRegex(text, r"\r\x1b\[Krun: 1,000 rows read, [\d,]+ rows/s, epoch \d+, 1 of 1 queries run")


if __name__ == "__main__":
    main()
