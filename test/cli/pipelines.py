#!/usr/bin/env python3
"""Several queries in one run: each with its own fate.

  test/cli/pipelines.py build/release/caudal [-k PATTERN]
"""
import json
import os
import signal
import sqlite3
import time

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


if __name__ == "__main__":
    main()
