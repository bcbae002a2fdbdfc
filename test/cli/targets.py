#!/usr/bin/env python3
"""What stands in a target is what was written to it, whoever else writes there: no INSERT costs another one's rows.

  test/cli/targets.py build/release/caudal [-k PATTERN]
"""
import json
import shutil
import sqlite3

from cli_case import CliCase, main

IN = """
CREATE TABLE numbers (id INT, WATERMARK FOR ts AS ts, ts AS TO_TIMESTAMP('2026-01-01 00:00:00'))
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');
"""
FILES = "CREATE TABLE x (id INT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'json');"
SQLITE = """
CREATE TABLE x (id INT)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:out.db', 'table-name' = 'x', 'caudal.create-table' = 'true');
"""


class Targets(CliCase):
    def setUp(self):
        super().setUp()
        self.write("in/a.ndjson", "".join(json.dumps({"id": n}) + "\n" for n in (1, 2, 3, 4)))

    # --- what tests are made of ---

    def sql(self, *statements, code=0):
        return self.caudal("sql", "\n".join(statements), code=code)

    def run_job(self, script, state, code=0):
        self.write("job.sql", script)
        return self.caudal("run", "job.sql", "--state", state, code=code)

    def target(self, table):
        """The ids in the target, read by other means than caudal's."""
        if table is FILES:
            lines = [line for path in (self.folder / "out").glob("part-*") for line in path.read_text().splitlines()]
            return sorted(json.loads(line)["id"] for line in lines)
        database = sqlite3.connect(self.folder / "out.db")
        return [row[0] for row in database.execute("SELECT id FROM x ORDER BY id")]

    def hidden(self):
        return [path.name for path in (self.folder / "out").rglob(".*")]

    def expect(self, done, *texts):
        for text in texts:
            self.assertIn(text, done.stderr)
        self.assertEqual(done.stderr.count("error["), 1, done.stderr)

    # --- the tests ---

    BOTH = "EXECUTE STATEMENT SET BEGIN INSERT INTO x SELECT id FROM numbers; INSERT INTO x SELECT id + 100 FROM numbers; END;"

    def test_two_branches_of_a_statement_set_into_one_table(self):
        for table in (FILES, SQLITE):
            with self.subTest(table=table):
                self.run_job(IN + table + self.BOTH, "state-" + str(len(table)))
                self.assertEqual(self.target(table), [1, 2, 3, 4, 101, 102, 103, 104])

    def test_the_same_in_a_session(self):
        for table in (FILES, SQLITE):
            with self.subTest(table=table):
                self.sql(IN, table, self.BOTH)
                self.assertEqual(self.target(table), [1, 2, 3, 4, 101, 102, 103, 104])

    def test_two_inserts_of_one_script(self):
        for table in (FILES, SQLITE):
            with self.subTest(table=table):
                read = self.sql(IN, table, "INSERT INTO x SELECT id FROM numbers;", "INSERT INTO x SELECT id + 100 FROM numbers;",
                                "SELECT COUNT(*) AS n FROM x;")
                self.assertEqual(self.target(table), [1, 2, 3, 4, 101, 102, 103, 104])
                self.assertEqual(read.stdout.split(), ["n", "8"])

    def test_inserts_of_three_sessions(self):
        for table in (FILES, SQLITE):
            with self.subTest(table=table):
                for number in (1, 2, 3):
                    self.sql(table, f"INSERT INTO x VALUES ({number});")
                self.assertEqual(self.target(table), [1, 2, 3])
        database = sqlite3.connect(self.folder / "out.db")
        self.assertEqual(database.execute("SELECT name FROM sqlite_master").fetchall(), [("x",)], "nothing of ours stays")

    def test_a_new_state_folder_on_the_same_target(self):
        for table in (FILES, SQLITE):
            with self.subTest(table=table):
                for state in ("first", "second"):
                    self.run_job(IN + table + "INSERT INTO x SELECT id FROM numbers;", state + str(len(table)))
                self.assertEqual(self.target(table), [1, 1, 2, 2, 3, 3, 4, 4])
                self.run_job(IN + table + "INSERT INTO x SELECT id FROM numbers;", "second" + str(len(table)))
                self.assertEqual(self.target(table), [1, 1, 2, 2, 3, 3, 4, 4], "a start again adds nothing")

    def test_an_insert_that_fails_leaves_nothing(self):
        many = "".join(f'{{"id": {number}}}\n' for number in range(200_000))  # more than the sink keeps in memory
        self.write("in/b.ndjson", many + '{"id": "no number"}\n')
        self.sql(IN, FILES, "INSERT INTO x SELECT id FROM numbers;", code=2)
        self.assertEqual(self.target(FILES), [])
        self.assertEqual(self.hidden(), [])

    # --- what a target does not take ---

    COPY = "INSERT INTO x SELECT id FROM numbers;"

    def test_a_database_that_cannot_be_opened_is_refused_before_anything_runs(self):
        lost = SQLITE.replace("out.db", "/proc/nowhere/out.db")
        self.expect(self.sql(IN, lost, self.COPY, code=3), "/proc/nowhere/out.db")
        self.expect(self.run_job(IN + lost + self.COPY, "state", code=3), "/proc/nowhere/out.db")
        self.expect(self.sql(lost, "SELECT * FROM x;", code=3), "/proc/nowhere/out.db")
        self.expect(self.run_job(lost + "CREATE TABLE y (id INT) WITH ('connector' = 'blackhole'); INSERT INTO y SELECT id FROM x;",
                                 "state", code=3), "/proc/nowhere/out.db")

    def test_a_column_that_the_database_lacks_is_refused_before_anything_runs(self):
        self.sql(IN, SQLITE, self.COPY)
        self.expect(self.sql(SQLITE.replace("(id INT)", "(id INT, nope STRING)"), "SELECT * FROM x;", code=3), "no such column: nope")

    def test_rows_that_break_a_constraint_are_the_datas_fault(self):
        database = sqlite3.connect(self.folder / "out.db")
        database.execute("CREATE TABLE x (id INT UNIQUE)")
        database.execute("INSERT INTO x VALUES (3)")
        database.commit()
        in_session = self.sql(IN, SQLITE, self.COPY, code=2)
        self.expect(in_session, "error[data]", "UNIQUE", "run the statement again")
        self.assertNotIn("checkpoint", in_session.stderr)
        self.expect(self.run_job(IN + SQLITE + self.COPY, "state", code=2), "error[data]", "UNIQUE", "which repeats the commit")
        database.execute("DELETE FROM x")
        database.commit()
        self.run_job(IN + SQLITE + self.COPY, "state")  # as the hint said
        self.assertEqual(self.target(SQLITE), [1, 2, 3, 4])

    def test_too_little_memory_is_no_refusal(self):
        script = ("SET 'caudal.memory-limit' = '8 MB'; SET 'execution.checkpointing.interval' = '100 ms';"
                  "CREATE TABLE g (s STRING) WITH ('connector' = 'datagen', 'rows-per-second' = '1000000', 'number-of-rows' = '3000000');"
                  "CREATE TABLE k (s STRING, c BIGINT) WITH ('connector' = 'blackhole');"
                  "INSERT INTO k SELECT s, COUNT(*) FROM g GROUP BY s;")
        self.expect(self.sql(script, code=5), "caudal.memory-limit")
        self.expect(self.run_job(script, "state", code=5), "caudal.memory-limit")

    def test_a_changed_target_on_old_state_is_named_with_the_former(self):
        self.run_job(IN + SQLITE + self.COPY, "first")
        self.expect(self.run_job(IN + SQLITE.replace("out.db", "new.db") + self.COPY, "first", code=3),
                    f"'jdbc:sqlite:{self.folder}/out.db#x'", f"'jdbc:sqlite:{self.folder}/new.db#x'", "former 'url'")
        self.run_job(IN + FILES + self.COPY, "second")
        shutil.rmtree(self.folder / "out")
        self.expect(self.run_job(IN + FILES.replace("'out'", "'new'") + self.COPY, "second", code=2), f"{self.folder}/out/part-",
                    f"the table's folder is '{self.folder}/new' now", "former 'path'")

    WATCHED = IN.replace("'path' = 'in'", "'path' = '{folder}/in', 'source.monitor-interval' = '50 ms'")

    def test_a_start_in_another_folder_does_not_go_on_in_another_database(self):
        script = self.WATCHED.format(folder=self.folder) + SQLITE + self.COPY
        words = ["run", self.write("job.sql", script), "--state", self.folder / "state", "--until-idle", "300 ms"]
        self.caudal(*words)
        self.caudal(*words)  # its last epoch has no rows that could say where they belong
        first, elsewhere = self.folder, self.folder / "elsewhere"
        elsewhere.mkdir()
        self.write("in/b.ndjson", '{"id": 5}\n')
        words[1] = first / "job.sql"
        self.folder = elsewhere
        self.expect(self.caudal(*words, code=3), "the target of sink 'x/sink/1' knows no epoch of this query", "a relative path counts from")
        self.folder = first
        self.caudal(*words)
        self.assertEqual(self.target(SQLITE), [1, 2, 3, 4, 5])
        database = sqlite3.connect(elsewhere / "out.db")
        self.assertEqual(database.execute("SELECT COUNT(*) FROM x").fetchall(), [(0,)])

    def test_a_database_that_goes_away_under_a_run_is_told(self):
        """SQLite goes on writing to a file that has no name any more."""
        script = "SET 'execution.checkpointing.interval' = '100 ms';" + self.WATCHED.format(folder=self.folder) + SQLITE + self.COPY
        process = self.start("run", self.write("job.sql", script), "--state", "state")
        self.wait_for(lambda: (self.folder / "out.db").exists() and self.target_is([1, 2, 3, 4]), "the first rows")
        for suffix in ("", "-wal", "-shm"):
            if (self.folder / f"out.db{suffix}").exists():
                (self.folder / f"out.db{suffix}").rename(self.folder / f"away.db{suffix}")
        (self.folder / "hidden").write_text('{"id": 5}\n')
        (self.folder / "hidden").rename(self.folder / "in/b.ndjson")
        _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 2, errors)
        self.assertIn("'out.db' was moved, removed or replaced while it was in use", errors)
        self.assertIn("put the former file back", errors)
        words = ["run", "job.sql", "--state", "state", "--until-idle", "300 ms"]
        self.expect(self.caudal(*words, code=3), "knows no epoch of this query")
        for suffix in ("", "-wal", "-shm"):
            (self.folder / f"out.db{suffix}").unlink(missing_ok=True)
            if (self.folder / f"away.db{suffix}").exists():
                (self.folder / f"away.db{suffix}").rename(self.folder / f"out.db{suffix}")
        self.caudal(*words)
        self.assertEqual(self.target(SQLITE), [1, 2, 3, 4, 5])

    def target_is(self, ids):
        try:
            return self.target(SQLITE) == ids
        except sqlite3.OperationalError:
            return False  # the table is made when the run starts

    def test_an_older_copy_of_the_database_is_refused(self):
        script = self.WATCHED.format(folder=self.folder) + SQLITE + self.COPY
        words = ["run", self.write("job.sql", script), "--state", "state", "--until-idle", "300 ms"]
        self.caudal(*words)
        shutil.copy(self.folder / "out.db", self.folder / "copy.db")
        for name in ("b", "c", "d"):
            self.write(f"in/{name}.ndjson", '{"id": 5}\n')
            self.caudal(*words)
        shutil.copy(self.folder / "out.db", self.folder / "new.db")
        shutil.copy(self.folder / "copy.db", self.folder / "out.db")
        self.expect(self.caudal(*words, code=3), "knows epoch", "an older copy of it", "bring the former target back")
        shutil.copy(self.folder / "new.db", self.folder / "out.db")
        self.caudal(*words)
        self.assertEqual(self.target(SQLITE), [1, 2, 3, 4, 5, 5, 5])


if __name__ == "__main__":
    main()
