#!/usr/bin/env python3
"""Tables of Iceberg that lack what rows bring, and tables whose columns somebody changes while a query writes them.

  test/cli/evolution.py build/release/caudal [-k PATTERN]
"""
import json

from cli_case import CliCase, main

CATALOG = "CREATE CATALOG lake WITH ('type' = 'iceberg', 'warehouse' = 'lake');\n"
MAKE = CATALOG + """
CREATE DATABASE lake.shop;
CREATE TABLE lake.shop.orders (id BIGINT NOT NULL, n INT, price DECIMAL(9, 2), s STRING NOT NULL{key}) WITH ('format-version' = '{version}');
INSERT INTO lake.shop.orders VALUES (0, 7, 1.50, 'first');
"""
JOB = """
CREATE TABLE arriving (id BIGINT NOT NULL, n BIGINT, price DECIMAL(18, 2), s STRING, note STRING)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '50 ms');
CREATE TABLE orders ({columns}{key})
WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'warehouse' = 'lake', 'catalog-database' = 'shop'{evolution});
INSERT INTO orders SELECT {selected} FROM arriving;
"""
WIDER = "id BIGINT NOT NULL, n BIGINT, price DECIMAL(18, 2), s STRING, note STRING"
KEY = ", PRIMARY KEY (id) NOT ENFORCED"


class Evolution(CliCase):
    def arrive(self, *rows):
        number = len(list((self.folder / "in").glob("*"))) if (self.folder / "in").exists() else 0
        self.write(f"in/{number:04}.ndjson", "".join(json.dumps(row) + "\n" for row in rows))

    def run_job(self, evolution="", code=0, columns=WIDER, selected="id, n, price, s, note", key=""):
        option = f", 'caudal.schema-evolution' = '{evolution}'" if evolution else ""
        self.write("job.sql", JOB.format(columns=columns, selected=selected, evolution=option, key=key))
        return self.caudal("run", "job.sql", "--state", "state", "--until-idle", "300 ms", code=code).stderr

    def sql(self, text):
        return [row for row in self.rows("sql", CATALOG + text) if "message" not in row]

    def remake(self, version, key=""):
        self.caudal("sql", CATALOG + "DROP DATABASE IF EXISTS lake.shop CASCADE;")
        for file in (*(self.folder / "lake").rglob("*.*"), *(self.folder / "in").rglob("*")):
            if file.is_file() and "catalog.db" not in file.name:
                file.unlink()
        self.caudal("sql", MAKE.format(version=version, key=key))

    def test_a_query_stops_or_lets_the_table_grow(self):
        for version, key in ((2, ""), (3, KEY)):
            self.remake(version, key)
            self.arrive({"id": 1, "n": 5_000_000_000, "price": 12_345_678_901.25, "note": "big"})
            said = self.run_job(code=3, key=key)
            self.assertIn("column 'n' is declared as BIGINT, and the table has it as int", said)
            self.assertIn("ALTER TABLE lake.shop.orders ADD (`note` STRING); ALTER TABLE lake.shop.orders MODIFY (`n` BIGINT, `price` DECIMAL(18, 2),"
                          " `s` STRING)", said)
            self.assertIn("'caudal.schema-evolution' = 'evolve'", said)
            self.assertIn("is not known", self.run_job("grow", code=3, key=key))
            before = len(list((self.folder / "lake/shop/orders/metadata").glob("*.metadata.json")))
            self.caudal("validate", "job.sql", code=3)
            self.run_job("evolve", key=key)
            rows = self.sql("SELECT id, n, price, s, note FROM lake.shop.orders ORDER BY id;")
            self.assertEqual([(row["id"], row["n"], row["s"], row["note"]) for row in rows],
                             [(0, 7, "first", None), (1, 5_000_000_000, None, "big")])
            after = len(list((self.folder / "lake/shop/orders/metadata").glob("*.metadata.json")))
            self.assertEqual(after - before, 2, "one commit that changes the columns, one with the rows")
            self.run_job("evolve", key=key)
            self.arrive({"id": 2, "n": 1})
            self.run_job(key=key)  # nothing is lacking any more
            self.assertEqual(len(self.sql("SELECT id FROM lake.shop.orders;")), 3)
            (self.folder / "state").rename(self.folder / f"state-{version}")

    def test_rows_of_which_something_would_be_lost_are_kept_aside(self):
        letters = ("CREATE TABLE letters (error_class STRING, error_message STRING)"
                   " WITH ('connector' = 'filesystem', 'path' = 'letters', 'format' = 'json');\n")
        asides = "'source.monitor-interval' = '50 ms', 'caudal.errors' = 'dead-letter', 'caudal.dead-letter' = 'letters')"
        for version, key in ((2, ""), (3, KEY)):
            self.remake(version, key)
            self.arrive({"id": 1, "n": 5_000_000_000, "price": 2.25, "s": "wide"}, {"id": 2, "n": 5, "price": 12_345_678_901.25, "s": "dear"},
                        {"id": 3, "n": 5, "price": -9_999_999.99, "s": None}, {"id": 4, "n": 5, "s": "noted", "note": "x"},
                        {"id": 5, "n": -2_147_483_648, "price": 9_999_999.99, "s": "fits", "note": None}, {"id": 6, "s": "empty"})
            job = letters + JOB.format(columns=WIDER, selected="id, n, price, s, note", key=key,
                                       evolution=", 'caudal.schema-evolution' = 'dead-letter'")
            self.write("job.sql", job.replace("'source.monitor-interval' = '50 ms')", asides))
            self.caudal("run", "job.sql", "--state", f"aside-{version}", "--until-idle", "300 ms")
            rows = self.sql("SELECT id, n, s FROM lake.shop.orders ORDER BY id;")
            self.assertEqual([(row["id"], row["n"], row["s"]) for row in rows],
                             [(0, 7, "first"), (5, -2_147_483_648, "fits"), (6, None, "empty")])
            aside = [json.loads(line) for path in (self.folder / "letters").glob("[!._]*") for line in path.read_text().splitlines()]
            told = sorted((row["error_class"], row["error_message"]) for row in aside)
            self.assertEqual(told, [("sink", "column 's' is required in the table, and the row has NULL"),
                                    ("sink", "the table has no column 'note', and the row has a value of it"),
                                    ("sink", "the value of column 'n' does not fit INT, which the table has"),
                                    ("sink", "the value of column 'price' does not fit DECIMAL(9, 2), which the table has")])
            # Once somebody has let the table grow, the rows fit.
            self.caudal("sql", CATALOG + "ALTER TABLE lake.shop.orders ADD note STRING; ALTER TABLE lake.shop.orders MODIFY (n BIGINT);")
            self.arrive({"id": 7, "n": 5_000_000_000, "s": "now", "note": "y"})
            self.caudal("run", "job.sql", "--state", f"aside-{version}", "--until-idle", "300 ms")
            rows = self.sql("SELECT id, n, note FROM lake.shop.orders WHERE id = 7;")
            self.assertEqual([(row["id"], row["n"], row["note"]) for row in rows], [(7, 5_000_000_000, "y")])
            for file in (self.folder / "letters").rglob("*"):
                file.unlink()
        # Without such a table the first row that does not fit stops the query.
        self.remake(2)
        self.arrive({"id": 1, "n": 5_000_000_000, "s": "wide"})
        self.assertIn("the value of column 'n' does not fit INT", self.run_job("dead-letter", code=2))

    def test_what_no_growth_mends_is_refused(self):
        self.remake(2)
        said = self.run_job("evolve", code=3, columns="id BIGINT NOT NULL, n STRING, s STRING NOT NULL", selected="id, s, 'x'")
        self.assertIn("column 'n' is declared as STRING, and the table has it as int", said)
        said = self.run_job("evolve", code=3, columns="id BIGINT NOT NULL, N INT, s STRING NOT NULL", selected="id, 1, 'x'")
        self.assertIn("would differ by case alone", said)
        said = self.run_job("evolve", code=3, columns="id BIGINT NOT NULL", selected="id")
        self.assertIn("column 's' of the table is required, and is not declared", said)

    def test_the_key_is_what_it_is(self):
        """A key of a wider type would be another one: of epochs that wait, and of rows that are to be deleted."""
        self.remake(3, KEY)
        self.caudal("sql", CATALOG + "DROP TABLE lake.shop.orders; CREATE TABLE lake.shop.orders (id INT NOT NULL, s STRING"
                    f"{KEY}) WITH ('format-version' = '3'); INSERT INTO lake.shop.orders VALUES (0, 'first');")
        self.arrive({"id": 5_000_000_000, "s": "too large"})
        for evolution in ("evolve", "dead-letter"):
            said = self.run_job(evolution, code=3, columns="id BIGINT NOT NULL, s STRING", selected="id, s", key=KEY)
            self.assertIn("column 'id' of the PRIMARY KEY is declared as BIGINT", said)
            said = self.run_job(evolution, code=3, columns="id INT NOT NULL, n INT NOT NULL, s STRING", selected="1, 2, s",
                                key=", PRIMARY KEY (id, n) NOT ENFORCED")
            self.assertIn("column 'n' of the PRIMARY KEY is declared as INT", said)
        self.assertEqual([row["id"] for row in self.sql("SELECT id FROM lake.shop.orders;")], [0])

    def test_columns_that_somebody_changes_under_the_query(self):
        """Rows go where they went, by the columns' ids; a start with a declaration that no longer fits says so."""
        columns, selected = "id BIGINT NOT NULL, n INT, s STRING NOT NULL", "id, CAST(n AS INT), COALESCE(s, '')"
        for version, key in ((2, ""), (3, KEY)):
            self.remake(version, key)
            self.write("job.sql", "SET 'execution.checkpointing.interval' = '100 ms';" + JOB.format(columns=columns, selected=selected, evolution="", key=key))
            job = self.start("run", "job.sql", "--state", f"live-{version}", "--until-idle", "4 s")
            count = 1
            for change in ("ADD note STRING", "MODIFY n BIGINT", "RENAME s TO text", "MODIFY text STRING FIRST", "DROP n"):
                self.arrive({"id": count, "n": count, "s": f"row {count}"})
                count += 1
                self.wait_for(lambda wanted=count: len(self.sql("SELECT id FROM lake.shop.orders;")) == wanted, f"{count} rows")
                self.caudal("sql", CATALOG + f"ALTER TABLE lake.shop.orders {change};")
            self.arrive({"id": count, "n": count, "s": f"row {count}"})
            said = job.communicate(timeout=60)
            self.assertEqual(job.returncode, 0, said)
            rows = self.sql("SELECT id, text, note FROM lake.shop.orders ORDER BY id;")
            self.assertEqual([(row["id"], row["text"], row["note"]) for row in rows],
                             [(0, "first", None)] + [(n, f"row {n}", None) for n in range(1, count + 1)])
            self.write("catalog.sql", CATALOG)
            self.assertIn("whole: ", self.caudal("table", "check", "catalog.sql", "lake.shop.orders").stdout)
            said = self.caudal("run", "job.sql", "--state", f"live-{version}", "--until-idle", "300 ms", code=3).stderr
            self.assertIn("the table has no column 'n'", said)


if __name__ == "__main__":
    main()
