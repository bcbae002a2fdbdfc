#!/usr/bin/env python3
"""What a run leaves behind: `checkpoint ls|show|verify|diff` and `dlq ls|show`.

  test/cli/left_behind.py build/release/caudal [-k PATTERN]
"""
import json
import os
import shutil
import subprocess

from cli_case import CliCase, main

JOB = """
CREATE TABLE rejected (query STRING, error_class STRING, `raw` STRING)
WITH ('connector' = 'filesystem', 'path' = 'rejected', 'format' = 'json');
CREATE TABLE events (id INT NOT NULL, amount DECIMAL(10, 2))
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'caudal.errors' = 'dead-letter', 'caudal.dead-letter' = 'rejected');
CREATE TABLE totals (id INT NOT NULL, total DECIMAL(38, 2), PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:out.db', 'table-name' = 'totals', 'caudal.create-table' = 'true');
INSERT INTO totals SELECT id, SUM(amount) FROM events GROUP BY id;
"""
ROWS = ['{"id": 1, "amount": 2.50}', '{"id": 1, "amount": 0.25}', '{"id": null, "amount": 1}', "no json"]


class LeftBehind(CliCase):
    def setUp(self):
        super().setUp()
        self.write("in/a.ndjson", "\n".join(ROWS) + "\n")
        self.write("job.sql", JOB)
        self.caudal("run", "job.sql", "--state", "state")

    def test_ls_and_show(self):
        epochs = self.rows("checkpoint", "ls", "--state", "state")
        self.assertTrue(epochs)
        self.assertEqual(epochs[-1]["query"], "job/totals")
        self.assertIn(f"epoch {epochs[-1]['epoch']}", self.caudal("checkpoint", "ls", "--state", "state").stdout)
        shown = self.rows("checkpoint", "show", "--state", "state", "--query", "totals")[0]
        self.assertEqual((shown["epoch"], shown["final"]), (epochs[-1]["epoch"], True))
        scan = next(node for node in shown["nodes"] if node["kind"] == "Scan")
        self.assertEqual((scan["rows_out"], scan["fates"]), (2, {"dead{contract}": 1, "dead{malformed}": 1}))
        self.assertEqual(json.loads(self.caudal("checkpoint", "show", "--state", "state").stdout)["epoch"], shown["epoch"])
        self.assertIn("no checkpoint of query 'x'", self.refused("checkpoint", "show", "--query", "x", "--state", "state", code=3))

    def test_verify_finds_damage(self):
        self.assertEqual({row["whole"] for row in self.rows("checkpoint", "verify", "--state", "state")}, {True})
        self.assertIn("whole", self.caudal("checkpoint", "verify", "--state", "state").stdout)
        manifest = self.folder / self.rows("checkpoint", "ls", "--state", "state")[-1]["path"]
        bytes_ = bytearray(manifest.read_bytes())
        bytes_[len(bytes_) // 2] ^= 1
        manifest.write_bytes(bytes_)
        result = self.caudal("checkpoint", "verify", "--state", "state", "--json", code=4)
        self.assertIs(json.loads(result.stdout.splitlines()[-1])["whole"], False)
        self.assertEqual(json.loads(result.stderr)["exit"], 4)

    def test_diff_says_what_a_start_would_do(self):
        same = self.rows("checkpoint", "diff", "job.sql", "--state", "state")
        self.assertEqual({(row["query"], row["change"]) for row in same}, {("job/totals", "identical")})
        self.write("other/job.sql", JOB.replace("SUM(amount)", "MAX(amount)"))
        result = self.caudal("checkpoint", "diff", "other/job.sql", "--state", "state", code=3)
        self.assertIn("totals/group-by/1: changed", result.stdout)
        self.assertIn("hint:", result.stderr)
        self.refused("run", "other/job.sql", "--state", "state", code=3)

    def test_a_name_that_a_folder_cannot_have(self):
        self.write("set.sql", JOB.replace("INSERT INTO totals", "SET 'pipeline.name' = 'a+b';\nINSERT INTO totals"))
        self.caudal("run", "set.sql", "--state", "state")
        self.assertEqual(self.rows("checkpoint", "show", "--query", "a+b", "--state", "state")[0]["query"], "set/a+b")
        self.assertIn("set/a+b epoch", self.caudal("checkpoint", "verify", "--state", "state").stdout)
        self.assertEqual({row["change"] for row in self.rows("checkpoint", "diff", "set.sql", "--state", "state")}, {"identical"})

    def test_dlq_ls_counts_by_query_and_class(self):
        self.assertEqual(self.rows("dlq", "ls", "job.sql"), [{"query": "job/totals", "error_class": "contract", "rows": 1},
                                                             {"query": "job/totals", "error_class": "malformed", "rows": 1}])
        self.assertEqual(self.lines("dlq", "ls", "job.sql")[0], "query\terror_class\trows")

    def test_dlq_show(self):
        self.assertEqual(self.rows("dlq", "show", "job.sql", "--class", "malformed"),
                         [{"query": "job/totals", "error_class": "malformed", "raw": "no json"}])
        self.assertEqual(len(self.rows("dlq", "show", "job.sql", "--limit", "1")), 1)
        self.assertEqual(self.rows("dlq", "show", "job.sql", "--class", "file-changed"), [])
        self.assertIn("'it's none' is no class of rows", self.refused("dlq", "show", "job.sql", "--class", "it's none", code=1))

    def test_dlq_before_the_first_row(self):
        self.write("early.sql", JOB.replace("'path' = 'rejected'", "'path' = 'none-yet'"))
        for command in ("ls", "show"):
            result = self.caudal("dlq", command, "early.sql")
            self.assertEqual((result.stdout, result.stderr), ("", "no row has been kept aside yet: 'none-yet' is not there\n"))

    def test_dlq_of_one_of_two_programs_that_share_the_table(self):
        self.write("again.sql", JOB.replace("out.db", "again.db"))
        self.caudal("run", "again.sql", "--state", "again")
        self.assertEqual({row["query"] for row in self.rows("dlq", "ls", "job.sql")}, {"job/totals"})
        self.assertEqual({row["query"] for row in self.rows("dlq", "show", "again.sql")}, {"again/totals"})

    def test_changes_that_a_sink_refuses_have_a_fate_too(self):
        self.write("in/a.ndjson", '{"id": 1, "amount": null}\n{"id": 2, "amount": 5}\n{"id": 3, "amount": null}\n')
        self.write("strict.sql", JOB.replace("total DECIMAL(38, 2)", "total DECIMAL(38, 2) NOT NULL").replace("out.db", "strict.db"))
        self.assertIn("2 changes dead{expression}", self.caudal("run", "strict.sql", "--state", "strict").stdout)
        self.assertEqual(self.rows("ops", "query", "SELECT sink, fate, name, `rows` FROM ops.change_fates ORDER BY fate", "--state", "strict")[0],
                         {"sink": "totals/sink/1", "fate": "dead", "name": "expression", "rows": 2})
        self.assertIn({"query": "strict/totals", "error_class": "expression", "rows": 2}, self.rows("dlq", "ls", "strict.sql"))

    def test_verify_names_what_is_damaged_or_of_another_folder(self):
        folder = self.folder / "state/job/totals"
        identity = folder / "identity"
        good = identity.read_bytes()
        for damage, said in ((b"garbage", "'state/job/totals/identity' is not the identity"), (good.replace(good[20:30], b"0000000000"), "copied from another")):
            identity.write_bytes(damage)
            result = self.caudal("checkpoint", "verify", "--state", "state", code=4)
            self.assertIn(said, result.stdout)
            self.assertIn(said, result.stderr)
        identity.unlink()
        self.assertIn("identity", self.refused("checkpoint", "verify", "--state", "state", code=4))
        identity.write_bytes(good)
        self.caudal("checkpoint", "verify", "--state", "state")
        manifest = max(folder.glob("manifest-*"))
        manifest.write_bytes(manifest.read_bytes()[:-3])
        self.assertIn("damaged", self.caudal("checkpoint", "ls", "--state", "state").stdout)
        self.assertEqual([row["damaged"] for row in self.rows("checkpoint", "ls", "--state", "state")][-1], True)

    def test_a_state_folder_that_may_not_be_read_or_written(self):
        if os.geteuid() != 0:
            self.skipTest("gives its files to another user")
        program = shutil.copy(self.caudal_path, self.folder / "caudal")  # where it lies may be root's alone
        as_nobody = lambda *words: subprocess.run([program, *words, "--state", "state"], cwd=self.folder, capture_output=True, text=True,
                                                  user=65534, group=65534, extra_groups=[])
        self.folder.chmod(0o755)
        said = as_nobody("status")
        self.assertIn("finished", said.stdout, said.stderr)
        self.assertIn("published", as_nobody("ops", "query", "SELECT * FROM ops.change_fates").stdout)
        (self.folder / "state").chmod(0)
        for words in (["status"], ["stop"], ["checkpoint", "ls"], ["ops", "query", "SELECT 1"]):
            said = as_nobody(*words)
            self.assertEqual(said.returncode, 3, said.stderr)
            self.assertIn("ermission denied", said.stderr)
            self.assertIn("hint: give the user", said.stderr)
        (self.folder / "state").chmod(0o755)

    def test_dlq_without_a_table(self):
        self.write("plain.sql", "CREATE TABLE t (n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');"
                   "CREATE TABLE gone (n BIGINT) WITH ('connector' = 'blackhole'); INSERT INTO gone SELECT n FROM t;")
        self.assertIn("no query of 'plain' has a dead-letter table", self.refused("dlq", "ls", "plain.sql", code=3))


if __name__ == "__main__":
    main()
