#!/usr/bin/env python3
"""Branches and tags of Iceberg tables: written, audited, moved to, kept by expiry, and what is refused.

  test/cli/branches.py build/release/caudal [-k PATTERN]
"""
import json

from cli_case import CliCase, main

CATALOG = "CREATE CATALOG lake WITH ('type' = 'iceberg', 'warehouse' = 'lake');\n"
MAKE = CATALOG + """
CREATE DATABASE IF NOT EXISTS lake.shop;
CREATE TABLE lake.shop.{name} (id BIGINT NOT NULL, s STRING{key}) WITH ('format-version' = '{version}');
"""
JOB = CATALOG + """
CREATE TABLE arriving (id BIGINT NOT NULL, s STRING) WITH ('connector' = 'filesystem', 'path' = 'in-{name}', 'format' = 'json', 'source.monitor-interval' = '50 ms');
INSERT INTO lake.shop.{name} /*+ OPTIONS('branch' = 'audit') */ SELECT id, s FROM arriving;
"""
FAULTS = ["sink_prepare_after:crash", "manifest_before:crash", "sink_commit_before:crash", "sink_commit_after:crash",
          "sink_commit_after:crash;restore_commit:crash"]


class Branches(CliCase):
    def make(self, name, version=3, key=""):
        self.write("catalog.sql", CATALOG)
        self.caudal("sql", MAKE.format(name=name, version=version, key=key))

    def insert(self, name, *rows, branch="main"):
        values = ", ".join(f"({number}, '{text}')" for number, text in rows)
        self.caudal("sql", CATALOG + f"INSERT INTO lake.shop.{name} /*+ OPTIONS('branch' = '{branch}') */ VALUES {values};")

    def read(self, name, hint=""):
        found = self.rows("sql", CATALOG + f"SELECT id, s FROM lake.shop.{name} {hint} ORDER BY id;")
        return [(row["id"], row["s"]) for row in found if "id" in row]

    def read_branch(self, name, branch):
        return self.read(name, f"/*+ OPTIONS('branch' = '{branch}') */")

    def table(self, *words, **options):
        return self.caudal("table", *words, **options)

    def test_rows_are_audited_on_a_branch_before_main_has_them(self):
        for version in (2, 3):
            for key in ("", ", PRIMARY KEY (id) NOT ENFORCED"):
                name = f"t{version}{'k' if key else ''}"
                self.make(name, version, key)
                self.insert(name, (1, "a"), (2, "b"))
                said = self.table("branch", "create", "catalog.sql", f"lake.shop.{name}", "audit").stdout
                self.assertRegex(said, rf"^lake\.shop\.{name}: branch 'audit' at snapshot \d+\n$")
                self.insert(name, (2, "c"), (3, "d"), branch="audit")
                self.assertEqual(self.read(name), [(1, "a"), (2, "b")])
                wanted = [(1, "a"), (2, "c"), (3, "d")] if key else [(1, "a"), (2, "b"), (2, "c"), (3, "d")]
                self.assertEqual(sorted(self.read_branch(name, "audit")), wanted)
                (moved,) = self.rows("table", "fast-forward", "catalog.sql", f"lake.shop.{name}", "main", "--to", "audit")
                self.assertEqual((moved["branch"], moved["snapshots"]), ("main", 1))
                self.assertEqual(sorted(self.read(name)), wanted)
                again = self.table("fast-forward", "catalog.sql", f"lake.shop.{name}", "main", "--to", "audit").stdout
                self.assertEqual(again, f"lake.shop.{name}: 'main' has all of 'audit' already\n")
                # A row whose key only the branch had is upserted in 'main' from now on.
                self.insert(name, (3, "e"))
                self.assertEqual((3, "e") in self.read(name), True)
                self.assertEqual(len(self.read(name)), 3 if key else 5)
                self.assertIn("whole: ", self.table("check", "catalog.sql", f"lake.shop.{name}").stdout)

    def test_a_main_that_moved_meanwhile_stays_where_it_is(self):
        self.make("t")
        self.insert("t", (1, "a"))
        self.insert("t", (2, "b"), branch="audit")  # made where 'main' is
        self.insert("t", (3, "c"))
        message = self.refused("table", "fast-forward", "catalog.sql", "lake.shop.t", "main", "--to", "audit", code=3)
        self.assertIn("which is not in the history of 'audit'", message)
        self.assertIn("somebody committed to 'main' since 'audit' began", message)
        self.assertEqual(self.read("t"), [(1, "a"), (3, "c")])

    def test_every_row_of_a_branch_is_there_once_wherever_the_engine_dies(self):
        for key in ("", ", PRIMARY KEY (id) NOT ENFORCED"):
            name = "k" if key else "a"
            self.make(name, 3, key)
            self.insert(name, (-1, "before"))
            self.write("job.sql", JOB.format(name=name))
            wanted = [-1]
            for number, fault in enumerate(FAULTS):
                rows = range(number * 10, number * 10 + 10)
                self.write(f"in-{name}/{number:04}.ndjson", "".join(json.dumps({"id": one, "s": "x"}) + "\n" for one in rows))
                said = self.caudal("run", "job.sql", "--state", f"state-{name}", "--until-idle", "300 ms", environment={"CAUDAL_FAULT": fault})
                self.assertEqual(said.stderr.count("the engine starts again"), fault.count("crash"), f"{fault}: {said.stderr}")
                wanted += rows
            self.assertEqual([row[0] for row in self.read_branch(name, "audit")], wanted)
            self.assertEqual(self.read(name), [(-1, "before")])
            # The query goes on over the move of 'main' and the end of its branch, which it begins anew there.
            self.table("fast-forward", "catalog.sql", f"lake.shop.{name}", "main", "--to", "audit")
            self.table("branch", "drop", "catalog.sql", f"lake.shop.{name}", "audit")
            self.write(f"in-{name}/9999.ndjson", json.dumps({"id": 9999, "s": "x"}) + "\n")
            self.caudal("run", "job.sql", "--state", f"state-{name}", "--until-idle", "300 ms")
            self.assertEqual([row[0] for row in self.read(name)], wanted)
            self.assertEqual([row[0] for row in self.read_branch(name, "audit")], wanted + [9999])
            self.assertIn("whole: ", self.table("check", "catalog.sql", f"lake.shop.{name}").stdout)

    def test_a_query_does_not_go_on_without_the_rows_of_its_branch(self):
        """A branch that is gone, or left out of the query, takes epochs along that are committed nowhere else."""
        for key in ("", ", PRIMARY KEY (id) NOT ENFORCED"):
            name = "gk" if key else "ga"
            self.make(name, 3, key)
            self.insert(name, (-1, "before"))
            to_audit = JOB.format(name=name)
            to_main = to_audit.replace("/*+ OPTIONS('branch' = 'audit') */", "")

            def arrive(number, name=name):
                self.write(f"in-{name}/{number:04}.ndjson", json.dumps({"id": number, "s": "x"}) + "\n")

            def run(job, code=0, name=name):
                self.write("job.sql", job)
                return self.caudal("run", "job.sql", "--state", f"state-{name}", "--until-idle", "300 ms", code=code).stderr

            arrive(1)
            run(to_audit)
            run(to_audit)  # epochs without rows are no reason to forget those that had some
            (branch,) = [row for row in self.rows("table", "branch", "list", "catalog.sql", f"lake.shop.{name}") if row["branch"] == "audit"]
            said = run(to_main, code=3)
            self.assertIn("were committed to branch 'audit', and it is to write to 'main' now", said)
            self.table("branch", "drop", "catalog.sql", f"lake.shop.{name}", "audit")
            arrive(2)
            self.assertIn("branch 'audit' is gone: the query's epochs up to", run(to_audit, code=3))
            self.assertEqual(self.read(name), [(-1, "before")])
            # The way out that it names.
            self.table("branch", "create", "catalog.sql", f"lake.shop.{name}", "audit", "--snapshot", branch["snapshot"])
            run(to_audit)
            self.assertEqual([row[0] for row in self.read_branch(name, "audit")], [-1, 1, 2])
            # Once 'main' has them all, the query may write there.
            self.table("fast-forward", "catalog.sql", f"lake.shop.{name}", "main", "--to", "audit")
            arrive(3)
            run(to_main)
            self.table("branch", "drop", "catalog.sql", f"lake.shop.{name}", "audit")
            arrive(4)
            run(to_main)
            self.assertEqual([row[0] for row in self.read(name)], [-1, 1, 2, 3, 4])

    def test_a_branch_is_read_as_it_grows(self):
        self.make("t")
        self.insert("t", (1, "a"))
        self.insert("t", (2, "b"), branch="audit")
        self.insert("t", (9, "main"))
        self.write("feed.sql", CATALOG + """
CREATE TABLE seen (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'seen', 'format' = 'json');
INSERT INTO seen SELECT id FROM lake.shop.t
/*+ OPTIONS('branch' = 'audit', 'streaming' = 'true', 'monitor-interval' = '50 ms', 'starting-strategy' = 'TABLE_SCAN_THEN_INCREMENTAL') */;
""")
        for number in (3, 4):
            self.caudal("run", "feed.sql", "--state", "state", "--until-idle", "500 ms")
            self.insert("t", (number, "c"), branch="audit")
        self.caudal("run", "feed.sql", "--state", "state", "--until-idle", "500 ms")
        rows = self.rows("sql", "SELECT id FROM `./seen` ORDER BY id")
        self.assertEqual([row["id"] for row in rows if "id" in row], [1, 2, 3, 4])

    def test_tags_and_branches_are_kept_as_long_as_they_say(self):
        self.make("t")
        self.insert("t", (1, "a"))
        self.table("tag", "create", "catalog.sql", "lake.shop.t", "first")
        self.insert("t", (2, "b"))
        self.table("branch", "create", "catalog.sql", "lake.shop.t", "brief", "--max-ref-age", "1 ms", "--max-snapshot-age", "2 h", "--keep-last", "3")
        self.insert("t", (3, "c"))
        (row,) = [row for row in self.rows("table", "branch", "list", "catalog.sql", "lake.shop.t") if row["branch"] == "brief"]
        self.assertEqual((row["max_ref_age_ms"], row["max_snapshot_age_ms"], row["min_snapshots_to_keep"]), (1, 7200000, 3))
        (expired,) = self.rows("table", "expire", "catalog.sql", "lake.shop.t", "--older-than", "0 s")
        self.assertEqual(expired["refs"], ["brief"])
        self.assertEqual(self.read("t", "/*+ OPTIONS('tag' = 'first') */"), [(1, "a")])
        (tag,) = self.rows("table", "tag", "list", "catalog.sql", "lake.shop.t")
        # A branch that begins at the tag.
        (branch,) = self.rows("table", "branch", "create", "catalog.sql", "lake.shop.t", "old", "--from", "first")
        self.assertEqual(branch["snapshot"], tag["snapshot"])
        (same,) = self.rows("table", "branch", "create", "catalog.sql", "lake.shop.t", "same", "--snapshot", str(tag["snapshot"]))
        self.assertEqual(same["snapshot"], tag["snapshot"])
        self.insert("t", (4, "d"), branch="old")
        self.assertEqual(self.read_branch("t", "old"), [(1, "a"), (4, "d")])
        for kind, name in (("tag", "first"), ("branch", "old"), ("branch", "same")):
            self.assertEqual(self.table(kind, "drop", "catalog.sql", "lake.shop.t", name).stdout, f"lake.shop.t: {kind} '{name}' is dropped\n")
        self.table("expire", "catalog.sql", "lake.shop.t", "--older-than", "0 s")
        self.assertIn("whole: 1 snapshots", self.table("check", "catalog.sql", "lake.shop.t").stdout)

    def test_an_empty_branch_is_filled_from_nothing(self):
        self.make("t", 3, ", PRIMARY KEY (id) NOT ENFORCED")
        self.insert("t", (1, "a"), (2, "b"))
        self.table("branch", "create", "catalog.sql", "lake.shop.t", "rebuilt", "--empty")
        self.assertEqual(self.read_branch("t", "rebuilt"), [])
        self.insert("t", (2, "c"), branch="rebuilt")
        self.assertEqual(self.read_branch("t", "rebuilt"), [(2, "c")])
        self.assertEqual(self.read("t"), [(1, "a"), (2, "b")])
        self.assertIn("whole: ", self.table("check", "catalog.sql", "lake.shop.t").stdout)

    def test_what_is_refused(self):
        self.make("t")
        self.insert("t", (1, "a"))
        self.table("tag", "create", "catalog.sql", "lake.shop.t", "first")
        on = ("catalog.sql", "lake.shop.t")
        for words, code, what in [
                (("branch", "create", *on, "first"), 3, "has a tag 'first' already"),
                (("tag", "create", *on, "x", "--from", "y"), 3, "has no branch or tag 'y'"),
                (("tag", "create", *on, "x", "--snapshot", "7"), 3, "has no snapshot 7"),
                (("tag", "create", *on, "caudal-token-7"), 3, "is a name that caudal keeps for itself"),
                (("tag", "create", *on, "x", "--max-ref-age", "5"), 1, "--max-ref-age"),
                (("branch", "create", *on, "x", "--empty", "--from", "first"), 1, "--empty"),
                (("branch", "create", *on), 1, "name is required"),
                (("tag", "create", *on, "x", "--empty"), 1, "--empty"),
                (("branch", "drop", *on, "main"), 3, "'main' is the table itself"),
                (("branch", "drop", *on, "first"), 3, "has no branch 'first'"),
                (("fast-forward", *on, "main"), 1, "--to"),
                (("fast-forward", *on, "first", "--to", "main"), 3, "'first' is a tag"),
                (("branch", "create", "catalog.sql", "lake.shop.u", "x"), 3, "shop.u")]:
            self.assertIn(what, self.refused("table", *words, code=code), words)
        for option, what in [("'branch' = 'first'", "'first' is a tag, which is not written"),
                             ("'tag' = 'first'", "'tag' names a snapshot, which is not written")]:
            said = self.refused("sql", CATALOG + f"INSERT INTO lake.shop.t /*+ OPTIONS({option}) */ VALUES (2, 'b');", code=3)
            self.assertIn(what, said)
        self.assertIn("no branch 'x'", self.refused("sql", CATALOG + "SELECT id FROM lake.shop.t /*+ OPTIONS('branch' = 'x') */;", code=3))


if __name__ == "__main__":
    main()
