#!/usr/bin/env python3
"""Several queries and pipelines in one run: each with its own budget and fate.

  test/cli/pipelines.py build/release/caudal [-k PATTERN]
"""
import json
import os
import re
import signal
import sqlite3
import time
import urllib.request

from cli_case import CliCase, main


def query(name, sink):
    """Reads the folder <name>_in and writes the table <name>: the folder <name>, or one of the database <name>.db."""
    target = {"files": f"'connector' = 'filesystem', 'path' = '{name}', 'format' = 'json'",
              "database": f"'connector' = 'jdbc', 'url' = 'jdbc:sqlite:{name}.db', 'table-name' = 't', 'caudal.create-table' = 'true'"}[sink]
    return (f"CREATE TABLE {name}_in (id INT NOT NULL) WITH ('connector' = 'filesystem', 'path' = '{name}_in', 'format' = 'json', "
            f"'source.monitor-interval' = '50 ms');\nCREATE TABLE {name} (id INT NOT NULL) WITH ({target});\n"
            f"INSERT INTO {name} SELECT id FROM {name}_in;\n")


class RunCase(CliCase):
    def setUp(self):
        super().setUp()
        for name in ("a_in", "b_in"):
            (self.folder / name).mkdir()

    def feed(self, name, *ids):
        self.write("hidden", "".join('{"id": %d}\n' % i for i in ids))
        (self.folder / "hidden").rename(self.folder / f"{name}_in/{ids[0]:06}.json")

    def ids(self, name):
        lines = [line for path in (self.folder / name).glob("[!.]*") for line in path.read_text().splitlines()]
        return sorted(json.loads(line)["id"] for line in lines)

    def logged(self, event, query):
        return any(f"event={event} query={query} " in line for line in self.log().splitlines())

    def engine(self):
        return json.loads((self.folder / "state/run.json").read_text())["child"]

    def queries(self):
        said = json.loads(self.caudal("status", "--state", "state", "--json").stdout)
        return {query["query"]: query for query in said["queries"]}

    def end(self, process, code=0):
        """Stops the run; what it said on standard error."""
        process.terminate()
        _, said = process.communicate(timeout=30)
        self.assertEqual(process.returncode, code, said)
        return said


class OwnFate(RunCase):
    """Two queries of one script."""

    def setUp(self):
        super().setUp()
        self.feed("a", 1)
        self.feed("b", 1)

    def script(self, *queries):
        self.write("job.sql", "SET 'execution.checkpointing.interval' = '100 ms';\n" + "".join(queries))

    def test_one_that_cannot_start_again_after_a_crash_leaves_the_other_alone(self):
        self.script(query("b", "database"), query("a", "files"))
        process = self.start("run", "job.sql", "--state", "state")
        self.wait_for(lambda: self.logged("commit", "job/b") and self.ids("a") == [1], "both queries")
        with sqlite3.connect(self.folder / "b.db") as database:
            database.execute("DROP TABLE t")
            database.execute("CREATE TABLE t (other INT)")
        os.kill(self.engine(), signal.SIGKILL)
        self.wait_for(lambda: self.logged("ended", "job/b") or process.poll() is not None, "the end of the one")
        self.feed("a", 2)
        self.wait_for(lambda: self.ids("a") == [1, 2] or process.poll() is not None, "the other's rows")
        self.assertIsNone(process.poll())
        states = {"job/a": "running", "job/b": "failed"}
        self.wait_for(lambda: {name: query["state"] for name, query in self.queries().items()} == states, "both in the status")
        self.assertIn("has no column 'id'", self.queries()["job/b"]["error"])
        self.assertIn("query 'job/b' has ended, the others go on: error[user]", self.end(process, code=2))

    def start_again_with_a_source_that_is_away(self):
        """A run that goes on; what its first query reads besides is another program's just now, and asked for 5 s."""
        first, second = query("b", "files"), query("a", "files")
        self.script(first, second)
        self.caudal("run", "job.sql", "--state", "state", "--until-idle", "300 ms")
        (self.folder / "state/caudal.log").unlink()
        self.feed("a", 2)
        self.feed("b", 2)
        other = sqlite3.connect(self.folder / "more.db", isolation_level=None)
        self.addCleanup(other.close)
        other.execute("CREATE TABLE t (id INT)")
        other.execute("BEGIN EXCLUSIVE")
        more = "CREATE TABLE more (id INT NOT NULL) WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:more.db', 'table-name' = 't');\n"
        self.script(more, first.replace("FROM b_in", "FROM (SELECT id FROM b_in UNION ALL SELECT id FROM more)"), second)
        return self.start("run", "job.sql", "--state", "state"), other

    def test_one_whose_source_is_away_does_not_hold_the_others_start(self):
        process, other = self.start_again_with_a_source_that_is_away()
        self.wait_for(lambda: self.ids("a") == [1, 2], "the other's row")
        self.assertFalse(self.logged("failed", "job/b"))  # it has not even been answered
        self.wait_for(lambda: self.logged("failed", "job/b"), "the answer that it is away")
        self.assertEqual(self.ids("b"), [1])
        other.close()
        self.wait_for(lambda: self.ids("b") == [1, 2], "the one's row, once its source is there")
        self.end(process)

    def test_a_stop_is_obeyed_while_a_start_waits_for_an_answer(self):
        process, _ = self.start_again_with_a_source_that_is_away()
        self.wait_for(lambda: "event=child_start" in self.log(), "the engine")
        time.sleep(0.5)  # for it to ask
        begin = time.monotonic()
        self.end(process)
        self.assertLess(time.monotonic() - begin, 2)

    def test_a_mistake_in_one_refuses_the_run_before_the_other_has_written_a_row(self):
        with sqlite3.connect(self.folder / "b.db") as database:
            database.execute("CREATE TABLE t (other INT)")
        self.script(query("a", "files"), query("b", "database"))
        self.assertIn("has no column 'id'", self.refused("run", "job.sql", "--state", "state", code=3))
        self.assertFalse(self.logged("started", "job/a"))
        self.assertEqual(self.ids("a"), [])


class SeveralPipelines(RunCase):
    """A script 'one' with the query a, and a pipeline file 'two' with the query b, whose profile writes elsewhere."""

    INTERVAL = "SET 'execution.checkpointing.interval' = '100 ms';\n"

    def setUp(self):
        super().setUp()
        self.feed("a", 1)
        self.feed("b", 1)
        self.write("one.sql", self.INTERVAL + query("a", "files"))
        create_in, create_out, insert = query("b", "files").splitlines(keepends=True)
        self.write("two.yaml", "pipeline: two\nowner: me\nversion: '7'\ntables: [b.sql]\nsql: [insert.sql]\n"
                               "profiles: {elsewhere: {tables: [elsewhere.sql]}}\n")
        self.write("b.sql", self.INTERVAL + create_in + create_out)
        self.write("elsewhere.sql", self.INTERVAL + create_in + create_out.replace("'path' = 'b'", "'path' = 'other'"))
        self.write("insert.sql", insert)

    def run_both(self, *more, **options):
        return self.caudal("run", "one.sql", "two.yaml", "--state", "state", "--until-idle", "300 ms", *more, **options)

    def test_both_run_and_are_shown_by_pipeline(self):
        process = self.start("run", "one.sql", "two.yaml", "--state", "state", "--listen", "127.0.0.1:0")
        self.wait_for(lambda: self.ids("a") == [1] and self.ids("b") == [1], "both tables")
        self.wait_for(lambda: {name: query["state"] for name, query in self.queries().items()} ==
                      {"one/a": "running", "two/b": "running"}, "both in the status")
        versions = self.rows("ops", "query", "SELECT pipeline, owner, pipeline_version FROM ops.queries", "--state", "state")
        self.assertIn({"pipeline": "two", "owner": "me", "pipeline_version": "7"}, versions)
        port = re.search(r"event=listening address=127.0.0.1:(\d+)", self.log()).group(1)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            metrics = answer.read().decode()
        for name in ("one/a", "two/b"):
            self.assertIn(f'caudal_up{{query="{name}"}} 1', metrics)
        epochs = {name: query["epoch"] for name, query in self.queries().items()}
        self.caudal("checkpoint", "trigger", "--state", "state")
        self.wait_for(lambda: all(query["epoch"] > epochs[name] for name, query in self.queries().items()), "an epoch of both")
        self.caudal("stop", "--state", "state")
        self.assertEqual(process.wait(timeout=30), 0)
        report = process.stdout.read()
        self.assertIn("query one/a: 1 rows read", report)
        self.assertIn("query two/b: 1 rows read", report)
        self.assertEqual({line for line in self.lines("checkpoint", "ls", "--state", "state") if line[0] != " "}, {"one/a", "two/b"})
        self.feed("a", 2)
        self.run_both("--drain")
        self.assertEqual((self.ids("a"), self.ids("b")), ([1, 2], [1]))

    def test_one_joins_a_run_that_went_on_alone(self):
        self.caudal("run", "one.sql", "--state", "state", "--until-idle", "300 ms")
        self.write("three.sql", self.INTERVAL + query("a", "files").replace("'path' = 'a'", "'path' = 'b'"))  # its query is called a, too
        said = self.caudal("run", "one.sql", "three.sql", "--state", "state", "--until-idle", "300 ms").stderr
        self.assertIn("running 'one', 'three', state in state", said)
        self.assertNotIn("renamed", said)
        self.assertEqual((self.ids("a"), self.ids("b")), ([1], [1]))

    def test_the_end_of_one_is_not_that_of_the_other(self):
        process = self.start("run", "one.sql", "two.yaml", "--state", "state")
        self.wait_for(lambda: self.ids("a") == [1] and self.ids("b") == [1], "both tables")
        self.write("hidden", "no row\n")
        (self.folder / "hidden").rename(self.folder / "b_in/000002.json")
        self.wait_for(lambda: self.logged("ended", "two/b"), "the end of the one")
        self.feed("a", 2)
        self.wait_for(lambda: self.ids("a") == [1, 2], "the other's row")
        os.kill(self.engine(), signal.SIGKILL)
        self.feed("a", 3)
        self.wait_for(lambda: self.ids("a") == [1, 2, 3], "the other's row after a crash")
        self.wait_for(lambda: {name: query["state"] for name, query in self.queries().items()} ==
                      {"one/a": "running", "two/b": "failed"}, "both in the status")
        said = self.end(process, code=2)
        self.assertIn("run: warning: query 'two/b' has ended, the others go on: error[data]", said)

    def test_what_one_that_failed_has_left_unread_keeps_no_run_from_ending(self):
        self.write("b_in/000002.json", "no JSON\n")
        for n in range(3, 9):
            self.feed("b", n)
        said = self.run_both(code=2, timeout=30).stderr
        self.assertIn("query 'two/b' has ended, the others go on: error[data]: the record is not JSON", said)
        self.assertEqual(self.ids("a"), [1])

    def test_a_profile_is_of_all(self):
        self.assertIn("'one.sql' is a script, which has no profile 'elsewhere'", self.run_both("--profile", "elsewhere", code=3).stderr)
        self.write("one.yaml", "pipeline: one\nowner: me\ntables: [b.sql]\nsql: [insert.sql]\nprofiles: {elsewhere: {tables: [third.sql]}}\n")
        self.write("third.sql", (self.folder / "b.sql").read_text().replace("'path' = 'b'", "'path' = 'third'"))
        self.caudal("run", "one.yaml", "two.yaml", "--profile", "elsewhere", "--state", "state", "--until-idle", "300 ms")
        self.assertEqual((self.ids("b"), self.ids("other"), self.ids("third")), ([], [1], [1]))

    def test_two_of_one_name_are_refused(self):
        self.write("sub/one.sql", self.INTERVAL + query("b", "files"))
        message = self.refused("run", "one.sql", "sub/one.sql", "--state", "state", code=3)
        self.assertIn("'one.sql' and 'sub/one.sql' are both pipeline 'one'", message)
        self.assertIn("hint: give each its own name", message)
        self.assertEqual(self.refused("validate", "one.sql", "sub/one.sql", code=3), message)

    def test_a_name_that_the_state_has_for_itself_is_refused(self):
        self.write("named.yaml", "pipeline: ops.db\nowner: me\nsql: one.sql\n")
        (self.folder / "lock.sql").write_text((self.folder / "one.sql").read_text())
        (self.folder / "run.json.sql").write_text((self.folder / "one.sql").read_text())
        for file, name in (("named.yaml", "ops.db"), ("lock.sql", "lock"), ("run.json.sql", "run.json")):
            for command in (("run", file, "--state", "state"), ("validate", file)):
                message = self.refused(*command, code=3)
                self.assertIn(f"'{name}' cannot name a pipeline: the folder of the state has a file of its own", message)
                self.assertIn("hint: give it another name", message)

    def test_validate_takes_what_run_takes(self):
        self.assertEqual([row["pipeline"] for row in self.rows("validate", "one.sql", "two.yaml")], ["one", "two"])
        self.write("two.yaml", "pipeline: two\nowner: me\nmemory: much\n")
        self.assertIn("two.yaml, line 3", self.refused("validate", "one.sql", "two.yaml", code=3))

    def test_the_memory_of_a_pipeline_is_its_own(self):
        """The query that outgrows what its pipeline may hold stops; the other pipeline has room."""
        keep = "INSERT INTO {0} SELECT MAX(id) FROM {0}_in GROUP BY id;\n"
        for pipeline, name, memory in (("small", "b", "300 KB"), ("large", "a", "500 MB")):
            create_in, create_out, _ = query(name, "files").splitlines(keepends=True)
            create_out = create_out[:create_out.index("'connector'")] + "'connector' = 'blackhole');\n"
            self.write(f"{pipeline}.yaml", f"pipeline: {pipeline}\nowner: me\nmemory: {memory}\n")
            self.write(f"{pipeline}.sql", self.INTERVAL + create_in + create_out + keep.format(name))
            self.feed(name, *range(2, 20000))
        process = self.start("run", "small.yaml", "large.yaml", "--state", "state")
        self.wait_for(lambda: self.logged("ended", "small/b"), "the end of the one")
        self.wait_for(lambda: self.logged("commit", "large/a"), "the other")
        self.assertFalse(self.logged("ended", "large/a"))
        said = self.end(process, code=5)
        self.assertIn("more than the 0.3 MB of 'pipeline small'", said)
        self.assertIn("hint: raise the limit of 'pipeline small'", said)


if __name__ == "__main__":
    main()
