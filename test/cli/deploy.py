#!/usr/bin/env python3
"""Changed SQL on an old state folder, and what an earlier run's end means for the next one.

  test/cli/deploy.py build/release/caudal [-k PATTERN]
"""
import json
import socket

from cli_case import CliCase, main

TABLES = """
SET 'execution.checkpointing.interval' = '100 ms';
CREATE TABLE events (id INT NOT NULL, n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '50 ms');
CREATE TABLE clean (id INT NOT NULL, n INT) WITH ('connector' = 'filesystem', 'path' = 'clean', 'format' = 'json');
CREATE TABLE per_minute (window_end TIMESTAMP(3), n BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'per_minute', 'format' = 'json');
CREATE TABLE big (id INT NOT NULL, n INT) WITH ('connector' = 'filesystem', 'path' = 'big', 'format' = 'json');
"""
CLEAN = "INSERT INTO clean SELECT id, n FROM events WHERE n > 0;\n"
PER_MINUTE = """INSERT INTO per_minute SELECT window_end, COUNT(*)
FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
"""
BIG = "INSERT INTO big SELECT id, n FROM events WHERE n > 10;\n"
UNTIL_IDLE = ("--state", "state", "--until-idle", "300 ms")


def in_one(*inserts):
    return "EXECUTE STATEMENT SET BEGIN\n" + "".join(inserts) + "END;\n"


class DeployCase(CliCase):
    def setUp(self):
        super().setUp()
        self.fed = 0
        (self.folder / "in").mkdir()

    def program(self, *queries, name="job.sql"):
        self.write(name, TABLES + "".join(queries))

    def feed(self, *rows):
        """Rows of (id, n, second of the first hour) in a file of their own."""
        text = "".join('{"id": %d, "n": %d, "ts": "2026-01-01 00:%02d:%02d"}\n' % (i, n, s // 60, s % 60) for i, n, s in rows)
        self.write("hidden", text)
        (self.folder / "hidden").rename(self.folder / f"in/{self.fed:03}.json")
        self.fed += 1

    def written(self, table):
        folder = self.folder / table
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
        return [json.loads(line) for path in files for line in path.read_text().splitlines()]

    def ids(self, table):
        return sorted(row["id"] for row in self.written(table))

    def minutes(self):
        return sorted((row["window_end"][14:16], row["n"]) for row in self.written("per_minute"))

    def fates(self, sink):
        rows = self.rows("ops", "query", f"SELECT fate, SUM(`rows`) AS n FROM ops.fates WHERE sink = '{sink}' GROUP BY fate", "--state", "state")
        return {row["fate"]: row["n"] for row in rows}

    def run_job(self, *more, **options):
        return self.caudal("run", "job.sql", *UNTIL_IDLE, *more, **options)


class ChangedSql(DeployCase):
    def setUp(self):
        super().setUp()
        self.feed((1, 5, 0), (2, 50, 1))

    def test_a_sink_added_at_the_end_keeps_the_checkpoint(self):
        self.program(in_one(CLEAN, PER_MINUTE))
        self.run_job()
        self.feed((3, 70, 2))
        self.program(in_one(CLEAN, PER_MINUTE, BIG))
        changes = {row["id"]: row["change"] for row in self.rows("checkpoint", "diff", "job.sql", "--state", "state")}
        self.assertEqual((changes["clean/sink/1"], changes["big/sink/1"]), ("identical", "added"))
        result = self.run_job()
        self.assertIn("'big/sink/1' is new and begins empty", result.stderr)
        self.assertNotIn("begin anew", result.stderr)
        self.assertEqual((self.ids("clean"), self.ids("big")), ([1, 2, 3], [3]))
        # The counts of what stays go on; for the new sink, what was read before has that as its fate.
        self.assertEqual(self.fates("clean/sink/1"), {"published": 3})
        self.assertEqual(self.fates("big/sink/1"), {"earlier": 2, "published": 1})
        self.assertEqual(result.stdout.count(" 0 unaccounted"), 3)

    def test_an_insert_moved_into_a_set_keeps_its_checkpoint(self):
        self.program(CLEAN)
        self.run_job()
        self.program(in_one(CLEAN, BIG))
        self.run_job()
        self.assertEqual(self.ids("clean"), [1, 2])

    def test_another_name_is_refused_with_the_ways_out(self):
        self.program("SET 'pipeline.name' = 'clean+per_minute';\n" + in_one(CLEAN, PER_MINUTE))
        self.run_job()
        self.program(in_one(CLEAN, PER_MINUTE))
        message = self.refused("run", "job.sql", *UNTIL_IDLE, code=3)
        for part in ("'job/clean+per_minute' (epoch 1-", "'job/clean' would begin from nothing",
                     "SET 'pipeline.name' = 'clean+per_minute'", "--allow-abandoned 'clean+per_minute'"):
            self.assertIn(part, message)
        result = self.caudal("checkpoint", "diff", "job.sql", "--state", "state", code=3)
        self.assertIn("clean: added (no checkpoint: begins from nothing)", result.stdout)
        self.assertRegex(result.stdout, r"clean\+per_minute: abandoned \(epoch 1-\d+ of 20.*: no query takes it up\)")
        # The first way out goes on, the second begins from nothing.
        self.program("SET 'pipeline.name' = 'clean+per_minute';\n" + in_one(PER_MINUTE, CLEAN))
        self.run_job()
        self.assertEqual(self.ids("clean"), [1, 2])
        self.program(in_one(CLEAN, PER_MINUTE))
        self.run_job("--allow-abandoned", "clean+per_minute")
        self.assertEqual(self.ids("clean"), [1, 1, 2, 2])
        self.run_job()  # it has a checkpoint of its own now
        self.assertEqual(self.ids("clean"), [1, 1, 2, 2])

    def test_a_removed_first_sink_is_refused(self):
        self.program(in_one(CLEAN, BIG))
        self.run_job()
        self.program(in_one(BIG))
        self.assertIn("SET 'pipeline.name' = 'clean'", self.refused("run", "job.sql", *UNTIL_IDLE, code=3))
        self.program("SET 'pipeline.name' = 'clean';\n", in_one(BIG))
        message = self.refused("run", "job.sql", *UNTIL_IDLE, code=3)
        self.assertIn("start with --allow-dropped 'clean/sink/1'", message)
        self.run_job("--allow-dropped", "clean/sink/1")
        self.assertEqual(self.ids("big"), [2])
        self.assertEqual(self.fates("big/sink/1"), {"filtered": 1, "published": 1})

    def test_a_query_moved_into_another_is_refused(self):
        self.program(CLEAN, BIG)
        self.run_job()
        self.program(in_one(CLEAN, BIG))
        message = self.refused("run", "job.sql", *UNTIL_IDLE, code=3)
        self.assertIn("its sink 'big/sink/1' would go on in 'clean'", message)
        self.run_job("--allow-abandoned", "*")

    def test_a_query_may_go_and_another_come(self):
        self.program(CLEAN, BIG)
        self.run_job()
        self.program(CLEAN)
        self.run_job()
        self.program(CLEAN, PER_MINUTE)
        self.assertIn("'job/per_minute' would begin from nothing", self.refused("run", "job.sql", *UNTIL_IDLE, code=3))
        self.run_job("--allow-abandoned", "big")
        self.assertEqual((self.ids("clean"), self.ids("big")), ([1, 2], [2]))

    def test_a_renamed_script_is_told(self):
        self.program(CLEAN)
        self.run_job()
        (self.folder / "job.sql").rename(self.folder / "other.sql")
        said = self.caudal("run", "other.sql", *UNTIL_IDLE).stderr
        self.assertIn("'other' begins from nothing; state holds queries of the same names of 'job'", said)

    def test_hints_name_what_can_be_done(self):
        self.program(in_one(CLEAN, PER_MINUTE))
        self.run_job()
        self.program(in_one(CLEAN, PER_MINUTE.replace("'1' MINUTE", "'2' MINUTE")))
        message = self.refused("run", "job.sql", *UNTIL_IDLE, code=3)
        self.assertIn("has changed since the checkpoint", message)
        self.assertIn("SET 'pipeline.name'", message)
        self.assertIn("--state", message)


class Ends(DeployCase):
    def test_until_idle_goes_on_exactly_there(self):
        self.program(PER_MINUTE)
        self.feed((1, 1, 0), (2, 1, 10))
        self.run_job()
        self.assertEqual(self.written("per_minute"), [])  # its window is still open
        self.feed((3, 1, 20), (4, 1, 70))
        said = self.run_job().stdout
        self.assertNotIn("late", said)
        self.assertEqual(self.minutes(), [("01", 3)])

    def test_drain_closes_the_windows_and_is_final(self):
        self.program(PER_MINUTE)
        self.feed((1, 1, 0), (2, 1, 70))
        self.run_job("--drain")
        self.assertEqual(self.minutes(), [("01", 1), ("02", 1)])
        self.check_drained()

    def test_stop_with_drain_is_final(self):
        self.program(PER_MINUTE)
        self.feed((1, 1, 0), (2, 1, 70))
        process = self.start("run", "job.sql", "--state", "state")
        self.wait_for(lambda: self.minutes() == [("01", 1)], "the first window")
        self.caudal("stop", "--drain", "--state", "state")
        self.assertEqual(process.wait(timeout=30), 0)
        self.assertEqual(self.minutes(), [("01", 1), ("02", 1)])
        self.check_drained()

    def check_drained(self):
        self.assertEqual(self.rows("status", "--state", "state")[0]["queries"][0]["state"], "drained")
        self.assertIn("drained", self.caudal("checkpoint", "ls", "--state", "state").stdout.splitlines()[-1])
        self.assertEqual([row["drained"] for row in self.rows("checkpoint", "ls", "--state", "state")][-1], True)
        self.assertTrue(self.rows("checkpoint", "show", "--state", "state")[0]["drained"])
        result = self.caudal("checkpoint", "diff", "job.sql", "--state", "state", code=3)
        self.assertRegex(result.stdout, r"per_minute: drained \(epoch 1-\d+ of 20")
        self.feed((3, 1, 20))
        for words in ((), ("--drain",)):
            message = self.refused("run", "job.sql", *UNTIL_IDLE, *words, code=3)
            self.assertRegex(message, r"query 'job/per_minute' was drained by an earlier run \(epoch 1-\d+ of 20")
            self.assertIn("hint:", message)
            self.assertIn("SET 'pipeline.name'", message)

    def test_drain_needs_an_end(self):
        self.program(CLEAN)
        self.assertIn("--until-idle", self.refused("run", "job.sql", "--drain", code=1))

    def test_bounded_input_that_has_ended(self):
        self.write("job.sql", TABLES.replace(", 'source.monitor-interval' = '50 ms'", "") + CLEAN)
        self.feed((1, 1, 0))
        self.caudal("run", "job.sql", "--state", "state")
        self.feed((2, 1, 1))
        for words in ((), ("--until-idle", "300 ms")):
            result = self.caudal("run", "job.sql", "--state", "state", *words)
            self.assertRegex(result.stderr, r"query 'job/clean': its input ended in an earlier run \(epoch 1-\d+ of 20.*\); nothing to do")
            self.assertNotIn("rows read", result.stdout)
        self.assertEqual(self.ids("clean"), [1])
        self.assertEqual(self.rows("status", "--state", "state")[0]["queries"][0]["state"], "finished")

    def test_bounded_input_that_was_drained_is_not_ended(self):
        """What was not read would be lost without a word."""
        self.write("job.sql", "CREATE TABLE n (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '100000', "
                   "'rows-per-second' = '10'); CREATE TABLE gone (n BIGINT) WITH ('connector' = 'blackhole');"
                   "INSERT INTO gone SELECT n FROM n;")
        process = self.start("run", "job.sql", "--state", "state")
        self.wait_for(lambda: "event=started" in self.log(), "the start")
        self.caudal("stop", "--drain", "--state", "state")
        self.assertEqual(process.wait(timeout=30), 0)
        self.assertIn("was drained by an earlier run", self.refused("run", "job.sql", "--state", "state", code=3))

    def test_until_idle_does_not_wait_for_a_query_that_has_ended(self):
        self.write("job.sql", TABLES + CLEAN + "CREATE TABLE three (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '3');"
                   "CREATE TABLE gone (n BIGINT) WITH ('connector' = 'blackhole'); INSERT INTO gone SELECT n FROM three;")
        self.feed((1, 1, 0))
        self.run_job()
        self.run_job()
        self.assertEqual(self.ids("clean"), [1])


class Folder(DeployCase):
    def test_short_runs_keep_no_more_than_the_setting_says(self):
        self.write("job.sql", TABLES.replace("'100 ms'", "'1 h'") + CLEAN)  # one epoch a run, the savepoint's
        for i in range(8):
            self.feed((i, 1, i))
            self.run_job()
        self.assertEqual(len(self.rows("checkpoint", "ls", "--state", "state")), 4)
        self.assertEqual(self.ids("clean"), list(range(8)))

    def test_verify_beside_a_run(self):
        self.write("job.sql", TABLES.replace("'100 ms'", "'1 ms'") + in_one(CLEAN, PER_MINUTE))
        self.feed((1, 1, 0))
        self.start("run", "job.sql", "--state", "state")
        self.wait_for(lambda: self.ids("clean") == [1], "the row")
        for _ in range(60):
            self.caudal("checkpoint", "verify", "--state", "state")
        self.caudal("stop", "--state", "state")


class Listening(DeployCase):
    def test_a_port_that_is_taken(self):
        self.program(CLEAN)
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            message = self.refused("run", "job.sql", *UNTIL_IDLE, "--listen", port, code=3)
            self.assertIn(f"cannot listen on 127.0.0.1:{port}: address in use", message)
            self.assertIn("hint: choose another port with --listen", message)
        for host, why in (("192.0.2.1", "it is no address of this machine"), ("no.such.host.invalid", "")):
            message = self.refused("run", "job.sql", *UNTIL_IDLE, "--listen", host + ":9464", code=3)
            self.assertRegex(message, f"cannot listen on {host}:9464: {why or '[A-Z]'}")
            self.assertIn("hint: name an address of this machine with --listen", message)

    def test_two_runs_do_not_share_a_port(self):
        self.program(CLEAN)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.start("run", "job.sql", "--state", "state", "--listen", port)
        self.wait_for(lambda: "event=listening" in self.log(), "the first run")
        self.assertIn("address in use", self.refused("run", "job.sql", "--state", "other", "--listen", port, code=3))
        self.caudal("stop", "--state", "state")


if __name__ == "__main__":
    main()
