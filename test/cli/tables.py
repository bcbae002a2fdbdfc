#!/usr/bin/env python3
"""Looking after Iceberg tables: what is whole, what is damaged, and what the commands say.

  test/cli/tables.py build/release/caudal [-k PATTERN]
"""
import datetime
import os
import time

from cli_case import CliCase, main

CATALOG = "CREATE CATALOG lake WITH ('type' = 'iceberg', 'warehouse' = 'lake');\n"
MAKE = CATALOG + """
CREATE DATABASE lake.shop;
CREATE TABLE lake.shop.orders (id BIGINT NOT NULL, s STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('format-version' = '{version}');
"""


class Tables(CliCase):
    def make(self, version=3):
        self.write("catalog.sql", CATALOG)
        self.caudal("sql", MAKE.format(version=version))

    def insert(self, *rows):
        values = ", ".join(f"({number}, '{text}')" for number, text in rows)
        self.caudal("sql", CATALOG + f"INSERT INTO lake.shop.orders VALUES {values};")

    def table(self, verb, *words, **options):
        return self.caudal("table", verb, "catalog.sql", "lake.shop.orders", *words, **options)

    def data_files(self):
        return sorted((self.folder / "lake").rglob("data/**/*.parquet"))

    def test_a_whole_table_and_a_damaged_one(self):
        for version in (2, 3):
            self.make(version)
            self.insert((1, "a"), (2, "b"))
            self.insert((2, "c"), (3, "d"))
            self.assertRegex(self.table("check").stdout, r"^lake\.shop\.orders: whole: 2 snapshots, \d manifests, \d files, [\d,]+ bytes\n$")
            (row,) = self.rows("table", "check", "catalog.sql", "lake.shop.orders")
            self.assertEqual((row["table"], row["whole"], row["snapshots"]), ("lake.shop.orders", True, 2))
            first, second = self.data_files()[:2]
            first.unlink()
            second.write_bytes(second.read_bytes() + b"x")
            said = self.table("check", code=4)
            self.assertEqual(said.stdout.count("\n"), 1, "the first alone")
            self.assertIn("error[data]: table 'lake.shop.orders' is damaged: ", said.stderr)
            self.assertIn("file '", said.stderr)
            rows = self.rows("table", "check", "catalog.sql", "lake.shop.orders", "--all", code=4)
            violations = {(row["place"].split(", ")[1], row["violation"]) for row in rows if "violation" in row}
            self.assertIn((f"file '{first}'", "the file is not there"), violations)
            self.assertTrue(any(place == f"file '{second}'" and "bytes, and the table says" in what for place, what in violations), violations)
            self.assertFalse(rows[-1]["whole"])
            self.caudal("sql", CATALOG + "DROP TABLE lake.shop.orders; DROP DATABASE lake.shop;")
            for file in self.data_files():
                file.unlink()

    def test_a_table_is_read_as_it_was(self):
        """By the moment, in the time zone of the session; a column that came later is not there then."""
        self.make()
        self.insert((1, "a"), (2, "b"))
        time.sleep(0.01)
        moment = datetime.datetime.now(datetime.timezone.utc)
        time.sleep(0.01)
        self.insert((2, "c"), (3, "d"))
        self.caudal("sql", CATALOG + "ALTER TABLE lake.shop.orders ADD note STRING;")

        def read(what, when, setting=""):
            found = self.rows("sql", CATALOG + setting + f"SELECT {what} FROM lake.shop.orders FOR SYSTEM_TIME AS OF {when} AS o ORDER BY o.id;")
            return [(row["id"], row["s"]) for row in found if "id" in row]

        text = moment.isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00")
        self.assertEqual(read("id, s", f"TIMESTAMP '{text}'"), [(1, "a"), (2, "b")])
        self.assertEqual(read("id, s", f"TIMESTAMP '{text}' + INTERVAL '1' HOUR"), [(1, "a"), (2, "c"), (3, "d")])
        there = (moment + datetime.timedelta(hours=9)).isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00")
        self.assertEqual(read("id, s", f"TIMESTAMP '{there}'", "SET 'table.local-time-zone' = 'Asia/Tokyo';"), [(1, "a"), (2, "b")])
        for query, wanted in ((f"SELECT note FROM lake.shop.orders FOR SYSTEM_TIME AS OF TIMESTAMP '{text}'", "columns are those of the snapshot's time"),
                              ("SELECT id FROM lake.shop.orders FOR SYSTEM_TIME AS OF TIMESTAMP '2001-01-01 00:00:00'", "no snapshot of 978307200000 ms"),
                              ("SELECT id FROM lake.shop.orders FOR SYSTEM_TIME AS OF 'yesterday'", "needs a TIMESTAMP"),
                              ("SELECT id FROM lake.shop.orders FOR SYSTEM_TIME AS OF CURRENT_TIMESTAMP", "the same at every run"),
                              ("SELECT id FROM (SELECT id FROM lake.shop.orders) FOR SYSTEM_TIME AS OF TIMESTAMP '2026-01-01 00:00:00'", "needs a table"),
                              ("CREATE TABLE f (a INT) WITH ('connector' = 'filesystem', 'path' = 'f', 'format' = 'json');"
                               "SELECT a FROM f FOR SYSTEM_TIME AS OF TIMESTAMP '2026-01-01 00:00:00'", "connector 'filesystem' keeps none")):
            self.assertIn(wanted, self.refused("sql", CATALOG + query + ";", code=3), query)

    def test_metadata_that_cannot_be_read_is_damage(self):
        self.make()
        self.insert((1, "a"))
        newest = max((self.folder / "lake/shop/orders/metadata").glob("*.metadata.json"))
        newest.write_text(newest.read_text()[:500])
        self.assertIn(str(newest), self.table("check", code=4).stderr)

    def test_snapshots_expire_and_a_query_that_was_stopped_goes_on(self):
        program = CATALOG + """
CREATE TABLE arriving (id BIGINT, s STRING) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '50 ms');
INSERT INTO lake.shop.orders SELECT id, s FROM arriving WHERE id IS NOT NULL;
"""
        self.make()
        self.write("job.sql", program)
        for number in range(2):
            self.write(f"in/{number}.json", f'{{"id": {number}, "s": "x"}}\n')
            self.caudal("run", "job.sql", "--state", "state", "--until-idle", "300 ms")
        for number in range(10, 14):
            self.insert((number, "y"), (number + 1, "z"))
        before = len(list((self.folder / "lake").rglob("*.*")))
        (dry,) = self.rows("table", "expire", "catalog.sql", "lake.shop.orders", "--older-than", "0 s", "--dry-run")
        self.assertEqual(len(list((self.folder / "lake").rglob("*.*"))), before)
        (row,) = self.rows("table", "expire", "catalog.sql", "lake.shop.orders", "--older-than", "0 s")
        self.assertEqual((row["snapshots"], row["files"], row["not_removed"]), (dry["snapshots"], dry["files"], []))
        self.assertGreater(len(row["files"]), 0)
        self.assertEqual(len(row["snapshots"]), 4, "of six: the newest, and the last of the query that may come back")
        for file in row["files"]:
            self.assertFalse((self.folder / file).exists(), file)
        self.assertIn("whole: ", self.table("check").stdout)
        self.assertRegex(self.table("expire", "--older-than", "0 s").stdout, r"^lake\.shop\.orders: 0 snapshots and 0 files went\n$")
        # What the query had committed is still told, and is not written once more.
        self.write("in/2.json", '{"id": 2, "s": "x"}\n')
        self.caudal("run", "job.sql", "--state", "state", "--until-idle", "300 ms")
        found = self.rows("sql", CATALOG + "SELECT id, s FROM lake.shop.orders;")
        self.assertEqual(sorted(row["id"] for row in found if "id" in row), [0, 1, 2, 10, 11, 12, 13, 14])
        self.assertIn("whole: ", self.table("check").stdout)
        self.assertIn("--older-than", self.refused("table", "expire", "catalog.sql", "--older-than", "5", code=1))

    def test_orphans_are_listed_and_removed_when_told(self):
        self.make()
        self.insert((1, "a"))
        old = time.time() - 4 * 24 * 3600
        data, metadata = self.folder / "lake/shop/orders/data", self.folder / "lake/shop/orders/metadata"
        left = [data / "left.parquet", metadata / "left-m0.avro", metadata / "00009-x.metadata.json"]
        # Of an epoch that a stopped query has prepared, as far as the table can tell.
        prepared = data / "0123456789abcdef-1-7-0-0.parquet"
        for file in (*left, prepared):
            file.write_text("x")
            os.utime(file, (old, old))
        (data / "young.parquet").write_text("x")
        self.assertIn("3 orphans, 3 bytes; 1 files are too young, 1 may still be committed", self.table("orphans").stdout)
        self.assertIn("0 orphans", self.table("orphans", "--older-than", "5 d", "--remove").stdout)
        self.assertTrue(all(file.exists() for file in left))
        self.assertIn("less than a day is refused", self.refused("table", "orphans", "catalog.sql", "--older-than", "1 h", code=1))
        rows = self.rows("table", "orphans", "catalog.sql", "lake.shop.orders", "--remove")
        self.assertEqual([(row["orphan"], row["removed"]) for row in rows[:-1]], [(str(file), True) for file in sorted(left)])
        self.assertFalse(any(file.exists() for file in left))
        self.assertTrue(prepared.exists())
        self.assertIn("whole: ", self.table("check").stdout)

    def test_an_epoch_that_is_prepared_survives_all_of_it(self):
        self.write("job.sql", """
CREATE TABLE clicks (id BIGINT) WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'warehouse' = 'lake');
CREATE TABLE arriving (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '50 ms');
INSERT INTO clicks SELECT id FROM arriving;
""")
        run = ("run", "job.sql", "--state", "state", "--until-idle", "300 ms")
        for number in range(3):
            self.write(f"in/{number}.json", f'{{"id": {number}}}\n')
            self.caudal(*run)
        self.write("in/3.json", '{"id": 3}\n')
        # The checkpoint has the epoch, the table does not; and the engine comes no further.
        self.caudal(*run, code=5, environment={"CAUDAL_FAULT": "manifest_after:crash" + 9 * ";restore_commit:crash"})
        old = time.time() - 4 * 24 * 3600
        for file in (self.folder / "lake").rglob("*.*"):
            os.utime(file, (old, old))
        (row,) = self.rows("table", "rewrite-manifests", "job.sql")
        self.assertEqual((row["replaced"], row["written"]), (3, 1))
        (row,) = self.rows("table", "expire", "job.sql", "--older-than", "0 s")
        self.assertEqual(len(row["snapshots"]), 2, "the newest token's stays, and the head")
        (row,) = self.rows("table", "orphans", "job.sql", "--remove")
        self.assertEqual((row["orphans"], row["in_flight"]), (0, 2), row)
        self.caudal(*run)
        found = self.rows("sql", (self.folder / "job.sql").read_text().split("CREATE TABLE arriving")[0] + "SELECT id FROM clicks ORDER BY id;")
        self.assertEqual([row["id"] for row in found if "id" in row], [0, 1, 2, 3])
        self.assertIn("whole: ", self.caudal("table", "check", "job.sql").stdout)

    def test_many_manifests_become_few(self):
        for version in (2, 3):
            self.make(version)
            for number in range(4):
                self.insert((number, "a"), (number + 1, "b"))
            query = CATALOG + "SELECT id, s FROM lake.shop.orders ORDER BY id;"
            before = self.rows("sql", query)
            (row,) = self.rows("table", "rewrite-manifests", "catalog.sql", "lake.shop.orders")
            self.assertEqual((row["replaced"] - row["written"] > 2, row["snapshot"] != 0), (True, True), row)
            self.assertEqual(self.rows("sql", query), before)
            self.assertRegex(self.table("rewrite-manifests").stdout, r"^lake\.shop\.orders: 0 manifests became 0, \d stayed\n$")
            # Keys that were there before are found, and upserted.
            self.insert((4, "c"))
            self.assertEqual(len(self.rows("sql", query)), len(before))
            self.assertIn("whole: ", self.table("check").stdout)
            self.caudal("sql", CATALOG + "DROP TABLE lake.shop.orders; DROP DATABASE lake.shop;")

    def test_small_files_become_few_and_what_they_hold_stays(self):
        for version in (2, 3):
            self.make(version)
            for number in range(8):
                self.insert((number, "a"), (number + 1, "b"))
            query = CATALOG + "SELECT id, s FROM lake.shop.orders ORDER BY id;"
            before = self.rows("sql", query)
            self.assertRegex(self.table("compact", "--dry-run").stdout, r"^lake\.shop\.orders: 8 files, [\d,]+ bytes, would be rewritten in 1 groups\n$")
            self.assertEqual(self.rows("sql", query), before)
            (row,) = self.rows("table", "compact", "catalog.sql", "lake.shop.orders")
            self.assertEqual((row["files_in"], row["rows_in"], row["files_out"], row["rows_out"], row["lost"]), (8, 16, 1, 9, 0), row)
            self.assertEqual(row["deletes_gone"], 7, row)
            self.assertEqual(self.rows("sql", query), before)
            self.assertIn("whole: ", self.table("check", "--all").stdout)
            self.assertRegex(self.table("compact").stdout, r"^lake\.shop\.orders: 0 files, 0 bytes, became 0 files, 0 bytes; 0 files of deletes went\n$")
            # Keys are found where they are now.
            self.insert((3, "c"), (100, "d"))
            after = self.rows("sql", query)
            self.assertEqual(len(after), len(before) + 1)
            self.assertIn({"id": 3, "s": "c"}, after)
            self.assertIn("whole: ", self.table("check", "--all").stdout)
            self.caudal("sql", CATALOG + "DROP TABLE lake.shop.orders; DROP DATABASE lake.shop;")
        self.assertIn("--target-file-size", self.refused("table", "compact", "catalog.sql", "--target-file-size", "much", code=1))
        self.make()
        self.insert((1, "a"))
        self.assertIn("--min-file-size must not exceed", self.refused("table", "compact", "catalog.sql", "lake.shop.orders", "--target-file-size", "1MB", "--min-file-size", "2MB", code=3))

    def test_a_damaged_file_keeps_no_other_from_being_compacted(self):
        self.write("parts.sql", "CREATE TABLE parts (part INT, s STRING) WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'warehouse' = 'lake', "
                   "'caudal.partition-by' = 'part');")
        program = (self.folder / "parts.sql").read_text()
        for number in range(6):
            self.caudal("sql", program + f"INSERT INTO parts VALUES (1, 'a{number}'), (2, 'b{number}');")
        damaged = min((self.folder / "lake").rglob("part=1/*.parquet"))
        damaged.write_bytes(damaged.read_bytes()[:-1] + b"!")
        done = self.refused("table", "compact", "parts.sql", code=2)
        self.assertIn(str(damaged.name), done)
        self.assertEqual(len(list((self.folder / "lake").rglob("part=1/*.parquet"))), 6)
        self.assertEqual(len(list((self.folder / "lake").rglob("part=2/*.parquet"))), 7, "and one that holds the rows of all")
        damaged.unlink()
        self.assertIn(str(damaged.name), self.refused("table", "compact", "parts.sql", "--rewrite-all", code=2))
        self.assertIn({"n": 6}, self.rows("sql", program + "SELECT COUNT(*) AS n FROM parts WHERE part = 2;"))

    def test_every_table_of_a_program_is_looked_at(self):
        self.write("two.sql", """
CREATE TABLE a (id BIGINT) WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'warehouse' = 'lake');
CREATE TABLE b (id BIGINT) WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'warehouse' = 'lake');
CREATE TABLE c (id BIGINT) WITH ('connector' = 'blackhole');
""")
        self.assertIn("table 'a' is not there yet: nor is its catalog", self.refused("table", "check", "two.sql", code=3))
        self.caudal("sql", (self.folder / "two.sql").read_text() + "INSERT INTO a VALUES (1); INSERT INTO b VALUES (1), (2);")
        self.assertEqual([row["table"] for row in self.rows("table", "check", "two.sql")], ["a", "b"])
        self.assertEqual([row["table"] for row in self.rows("table", "check", "two.sql", "b")], ["b"])
        self.assertIn("table 'c' is not of connector 'iceberg'", self.refused("table", "check", "two.sql", "c", code=3))
        self.assertIn("unknown table 'd'", self.refused("table", "check", "two.sql", "d", code=3))
        self.write("names.sql", CATALOG + "CREATE TEMPORARY TABLE again LIKE lake.default_database.a;"
                   "INSERT INTO lake.default_database.a SELECT id FROM again;")
        self.assertEqual([row["table"] for row in self.rows("table", "check", "names.sql")], ["lake.default_database.a"])
        self.assertEqual([row["table"] for row in self.rows("table", "check", "names.sql", "again")], ["again"])
        self.write("none.sql", "CREATE TABLE c (id BIGINT) WITH ('connector' = 'blackhole');")
        self.assertIn("'none' has no Iceberg table", self.refused("table", "check", "none.sql", code=3))


if __name__ == "__main__":
    main()
