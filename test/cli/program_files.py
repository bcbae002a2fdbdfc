#!/usr/bin/env python3
"""Pipeline files and scripts: validate, explain, what run refuses, and the SQL files that a pipeline file names.

  test/cli/program_files.py build/release/caudal [-k PATTERN]
"""
import shutil
import sqlite3

from cli_case import NEOBANK, CliCase, main

# The pipeline file of the SLO document, unchanged.
CLICKSTREAM = """pipeline: clickstream
sources:
  - main.bronze.web_events
targets:
  silver: main.silver.web_events
  gold: main.gold.sessions_5m
slo:
  freshness_p95_seconds: 300
  completeness_percent: 99.5
recovery:
  rto_minutes: 30
  replay_source: main.bronze.web_events
owner: data-platform-oncall
"""
TABLES = """CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
CREATE TABLE gone (n BIGINT) WITH ('connector' = 'blackhole');
"""


class ProgramFiles(CliCase):
    def test_the_slo_documents_file_is_valid(self):
        self.write("clickstream.yaml", CLICKSTREAM)
        text = self.caudal("validate", "clickstream.yaml").stdout
        self.assertIn("pipeline 'clickstream' is valid", text)
        self.assertIn("no SQL", text)
        said = self.rows("validate", "clickstream.yaml")[0]
        self.assertEqual((said["valid"], said["owner"], said["sql"]), (True, "data-platform-oncall", []))

    def test_run_names_each_target_that_nothing_writes(self):
        self.write("clickstream.yaml", CLICKSTREAM)
        message = self.refused("run", "clickstream.yaml", code=3)
        self.assertIn("'main.silver.web_events'", message)
        self.assertIn("'main.gold.sessions_5m'", message)
        self.assertFalse((self.folder / "caudal-state").exists())

    def test_run_takes_the_sql_beside_it_and_names_what_is_missing(self):
        self.write("clickstream.yaml", CLICKSTREAM)
        self.write("clickstream.sql", TABLES.replace("gone", "web_events") + "INSERT INTO web_events SELECT n FROM numbers;")
        for command in ("run", "validate"):
            message = self.refused(command, "clickstream.yaml", code=3)
            self.assertIn("target 'main.gold.sessions_5m' (gold) is written by no query", message)
            self.assertIn("INSERT INTO `sessions_5m`", message)

    def test_several_sql_files_in_order(self):
        self.write("p.yaml", "pipeline: p\nowner: me\nsql: [tables.sql, queries/all.sql]\n")
        self.write("tables.sql", TABLES)
        self.write("queries/all.sql", "INSERT INTO gone SELECT n FROM numbers;\n")
        self.assertEqual(self.rows("validate", "p.yaml")[0]["sql"], ["tables.sql", "queries/all.sql"])
        self.caudal("run", "p.yaml", "--state", "state")
        self.write("queries/all.sql", "-- one\nINSERT INTO gone SELECT m FROM numbers;\n")
        message = self.refused("run", "p.yaml", "--state", "state", code=3)
        self.assertIn("line 2", message)
        self.assertIn("at queries/all.sql", message)
        (self.folder / "queries/all.sql").unlink()
        self.assertIn("there is no file 'queries/all.sql'", self.refused("validate", "p.yaml", code=3))

    def test_both_forms_of_the_example_are_valid(self):
        for name, sinks in (("pipeline", [["silver", "features"]]), ("two-queries", [["silver"], ["features_latest"]])):
            said = self.rows("validate", NEOBANK / f"{name}.yaml")[0]
            self.assertEqual([query["sinks"] for query in said["queries"]], sinks)
            self.assertEqual(said["watermarks"], {"transactions": 300000})
            self.assertEqual(self.rows("validate", NEOBANK / f"{name}.yaml", "--profile", "kafka",
                                       environment={"KAFKA_BOOTSTRAP": "127.0.0.1:1", "REDIS_URL": "redis://127.0.0.1:1/0"})[0]["queries"], said["queries"])

    def test_a_profile_runs_the_same_queries_over_other_tables(self):
        self.write("p.yaml", "pipeline: p\nowner: me\ntables: tables.sql\nsql: queries.sql\nprofiles:\n  many: {tables: many.sql}\n")
        self.write("tables.sql", TABLES)
        self.write("many.sql", TABLES.replace("'5'", "'7'"))
        self.write("queries.sql", "INSERT INTO gone SELECT n FROM numbers;\n")
        read = lambda *arguments: self.rows("run", "p.yaml", *arguments)[0]["queries"][0]["rows_read"]
        self.assertEqual((read("--state", "one"), read("--state", "two", "--profile", "many")), (5, 7))
        said = self.rows("validate", "p.yaml", "--profile", "many")[0]
        self.assertEqual((said["profile"], said["profiles"], said["sql"]), ("many", ["many"], ["many.sql", "queries.sql"]))
        for command in ("run", "validate", "explain", ("dlq", "ls"), ("checkpoint", "diff")):
            words = command if isinstance(command, tuple) else (command,)
            message = self.refused(*words, "p.yaml", "--profile", "few", code=3)
            self.assertIn("pipeline 'p' has no profile 'few'", message)
            self.assertIn("it has 'many'", message)
        self.assertIn("is a script, which has no profile 'many'", self.refused("run", "many.sql", "--profile", "many", code=3))

    def test_what_the_file_says_is_compared_with_the_sql(self):
        self.write("p.sql", TABLES.replace("(n BIGINT) WITH ('connector' = 'datagen'", "(n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS "
                                           "ts - INTERVAL '5' MINUTE) WITH ('connector' = 'datagen'") +
                   "INSERT INTO gone SELECT n FROM numbers;")
        head = "pipeline: p\nowner: me\n"
        for more, said in (
                ("", "the watermark of table 'numbers' waits 300000 ms, and the pipeline file does not say why"),
                ("watermark: {delay: 5 min}\n", "'watermark' does not say why\n  at p.yaml, line 3"),
                ("watermark: {delay: 4 min, why: x}\n", "gives its reason for 240000 ms\n  at p.yaml, line 3"),
                ("sources:\n  - nothere\n", "source 'nothere' is read by no query\n  at p.yaml, line 4"),
                ("recovery:\n  replay_source: alsonot\n", "there is no table 'alsonot' to replay from\n  at p.yaml, line 4"),
                ("targets:\n  gold: nowhere\n", "target 'nowhere' (gold) is written by no query\n  at p.yaml, line 4"),
                ("owner: you\n", "key 'owner' is there twice\n  at p.yaml, line 3"),
                ("---\npipeline: q\nowner: you\n", "a second document begins in the pipeline file\n  at p.yaml, line 3")):
            self.write("p.yaml", head + more)
            for command in ("validate", "run"):
                self.assertIn(said, self.refused(command, "p.yaml", code=3))
        self.write("p.yaml", head + "sources: [main.numbers]\nrecovery: {replay_source: numbers}\nwatermark: {delay: 5 min, why: agreed}\n")
        self.caudal("validate", "p.yaml")

    def test_validate_refuses_what_run_refuses(self):
        self.write("in/a.ndjson", '{"n": 1}\n')
        database = "'connector' = 'jdbc', 'url' = 'jdbc:sqlite:%s', 'table-name' = 't'"
        connection = sqlite3.connect(self.folder / "narrow.db")
        connection.execute("CREATE TABLE t (n BIGINT)")
        connection.close()
        numbers = "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '5');\n"
        write = "INSERT INTO gone SELECT n, n FROM numbers;"
        for sql, said in (
                (numbers, "has no query to run"),
                ("CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'jsn');\n" +
                 "CREATE TABLE gone (n BIGINT, loaded BIGINT) WITH ('connector' = 'blackhole');" + write, "format 'jsn' is not known"),
                (numbers + "CREATE TABLE gone (n BIGINT, loaded BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out', 'format' = 'csv');" + write,
                 "format 'csv' is not known"),
                (numbers + f"CREATE TABLE gone (n BIGINT, loaded BIGINT) WITH ({database % 'narrow.db'});" + write,
                 "has no column 'loaded'"),
                (numbers + f"CREATE TABLE gone (n BIGINT, loaded BIGINT) WITH ({database % 'none.db'});" + write, "none.db")):
            self.write("p.sql", sql)
            for command in ("validate", "run"):
                message = self.refused(command, "p.sql", code=3)
                self.assertIn(said, message)
                self.assertIn("hint:", message)
            shutil.rmtree(self.folder / "caudal-state", ignore_errors=True)
            (self.folder / "none.db").unlink(missing_ok=True)

    def test_validate_makes_nothing_and_run_makes_the_databases_folder(self):
        self.write("p.sql", "CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '5');\n"
                   "CREATE TABLE t (n BIGINT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:some/where/out.db', 'table-name' = 't', "
                   "'caudal.create-table' = 'true');\nINSERT INTO t SELECT n FROM numbers;")
        self.caudal("validate", "p.sql")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["p.sql"])
        self.caudal("run", "p.sql")
        self.assertTrue((self.folder / "some/where/out.db").exists())

    def test_explain_with_changelog_modes(self):
        plan = self.caudal("explain", NEOBANK / "pipeline.yaml", "--changelog").stdout
        for text in ("== silver ==", "Deduplicate", "changelogMode=[I]", "changelogMode=[I,UA"):
            self.assertIn(text, plan)
        self.assertNotIn("changelogMode", self.caudal("explain", NEOBANK / "pipeline.yaml").stdout)
        self.assertEqual([row["query"] for row in self.rows("explain", NEOBANK / "two-queries.yaml")], ["silver", "features_latest"])
        self.assertIn("Values", self.caudal("explain", "SELECT n + 1 FROM (VALUES (1)) AS t (n)").stdout)

    def test_a_folder_or_nothing_is_no_program(self):
        self.assertIn("is a folder", self.refused("run", ".", code=3))
        self.write("empty.sql", "SET 'pipeline.name' = 'x';\n")
        self.assertIn("has no query to run", self.refused("run", "empty.sql", code=3))

    def test_set_on_the_command_line_is_checked_like_a_statement(self):
        self.write("job.sql", TABLES + "INSERT INTO gone SELECT n FROM numbers;")
        for text, said in (("nope=1", "unknown setting 'nope'"), ("table.exec.state.tll=1 h", "did you mean 'table.exec.state.ttl'?"),
                           ("execution.checkpointing.interval=soon", "'soon'")):
            self.assertIn(said, self.refused("run", "job.sql", "--set", text, code=3))
        self.assertIn("is not key=value", self.refused("run", "job.sql", "--set", "nope", code=1))
        self.caudal("run", "job.sql", "--state", "state", "--set", "pipeline.name=it's mine")
        self.assertEqual(self.rows("checkpoint", "ls", "--state", "state")[0]["query"], "job/it's mine")

    def test_a_bounded_run_reports_its_fates(self):
        self.write("job.sql", TABLES + "INSERT INTO gone SELECT n FROM numbers;")
        report = self.rows("run", "job.sql", "--state", "state")[0]["queries"][0]
        self.assertEqual((report["rows_read"], report["paths"][0]["rows_unaccounted"]), (5, 0))
        self.assertIn("5 published", self.caudal("run", "job.sql", "--state", "other").stdout)


if __name__ == "__main__":
    main()
