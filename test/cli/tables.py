#!/usr/bin/env python3
"""Looking after Iceberg tables: what is whole, what is damaged, and what the commands say.

  test/cli/tables.py build/release/caudal [-k PATTERN]
"""
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

    def test_metadata_that_cannot_be_read_is_damage(self):
        self.make()
        self.insert((1, "a"))
        newest = max((self.folder / "lake/shop/orders/metadata").glob("*.metadata.json"))
        newest.write_text(newest.read_text()[:500])
        self.assertIn(str(newest), self.table("check", code=4).stderr)

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
        self.write("none.sql", "CREATE TABLE c (id BIGINT) WITH ('connector' = 'blackhole');")
        self.assertIn("'none' has no Iceberg table", self.refused("table", "check", "none.sql", code=3))


if __name__ == "__main__":
    main()
