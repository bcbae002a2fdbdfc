#!/usr/bin/env python3
"""The forms of examples/neobank, to the end, against the generator's own expectation.

  test/cli/neobank_forms.py build/release/caudal [-k PATTERN]

One statement set with GROUP BY HOP and early firing; two queries with the HOP table function and the newest closed window;
Flink's own deduplication by ROW_NUMBER() = 1 on row time in place of DEDUPLICATE.
"""
import datetime
import json
import sqlite3
import subprocess
import sys

from cli_case import NEOBANK, ROOT, CliCase, main

EVENTS = "200k"
WATERMARK_DELAY = datetime.timedelta(minutes=5)

ROW_NUMBER = """
CREATE TABLE firsts (
  transaction_id STRING NOT NULL,
  account_id STRING NOT NULL,
  amount DECIMAL(18, 2) NOT NULL,
  ts TIMESTAMP(3) NOT NULL,
  source_name STRING NOT NULL,
  source_offset BIGINT NOT NULL,
  PRIMARY KEY (transaction_id) NOT ENFORCED
) WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:neobank-data/firsts.db', 'table-name' = 'firsts', 'caudal.create-table' = 'true');

INSERT INTO firsts
SELECT transaction_id, account_id, amount, `timestamp`, source_name, source_offset
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY transaction_id ORDER BY `timestamp`) AS place FROM completed)
WHERE place = 1;
"""


class NeobankForms(CliCase):
    def generate(self):
        self.caudal("generate", "neobank", "--events", EVENTS, "--accounts", "500", "--file-events", "20k", "--out", "neobank-data/in",
                    "--expected", "expected.json", "--expected-tables", "expected")

    def run_pipeline(self, pipeline):
        self.caudal("run", pipeline, "--state", "state", "--until-idle", "500 ms", "--drain", "--set",
                    "execution.checkpointing.interval=500 ms", "--set", "execution.checkpointing.min-pause=50 ms", timeout=300)

    def run_form(self, name, features, queries):
        self.generate()
        self.run_pipeline(NEOBANK / f"{name}.yaml")
        check = subprocess.run([sys.executable, ROOT / "tools/neobank_check.py", "--caudal", self.caudal_path, "--data", "neobank-data",
                                "--state", "state", "--expected", "expected.json", "--tables", "expected", "--features", features],
                               cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        for query in queries:
            self.assertIn(f"ok   {query}: dead letters, late", check.stdout)
            self.assertIn(f"{query} to ", check.stdout)
        listed = self.rows("dlq", "ls", NEOBANK / f"{name}.yaml")
        self.assertEqual({row["query"] for row in listed}, set(queries))

    def test_one_statement_set(self):
        self.run_form("pipeline", "every_window", ["neobank/silver"])

    def test_two_queries(self):
        self.run_form("two-queries", "latest", ["neobank-two-queries/silver", "neobank-two-queries/features_latest"])

    def first_rows(self):
        """The table that ROW_NUMBER() = 1 must leave, by transaction, and how many rows are late for it. Of all rows that are whole,
        pass the filters and are in time, the oldest of each transaction, the first that came where two are as old, however far
        apart they are. The fates are the generator's, with one difference: a row at the clock itself is in time here, as in Flink."""
        fates = {}
        for line in (self.folder / "expected/rejected.tsv").read_text().splitlines()[1:]:
            name, offset, fate = line.split("\t")
            fates[(name, int(offset))] = fate
        firsts, late, clock = {}, 0, ""
        for path in sorted((self.folder / "neobank-data/in").glob("*.ndjson")):
            offset = 0
            for line in path.read_bytes().splitlines(keepends=True):
                place, offset = (path.name, offset), offset + len(line)
                fate = fates.get(place, "published")
                if fate in ("malformed", "contract"):
                    continue  # they do not move the clock either
                row = json.loads(line)
                time = row["timestamp"]
                if fate == "late" and time < clock:
                    late += 1
                elif not fate.startswith("filtered"):
                    known = firsts.get(row["transaction_id"])
                    if known is None or time < known["timestamp"]:
                        firsts[row["transaction_id"]] = row | {"place": place}
                clock = max(clock, (datetime.datetime.fromisoformat(time) - WATERMARK_DELAY).isoformat(" ", "milliseconds"))
        return firsts, late

    def test_row_number_on_row_time(self):
        self.generate()
        self.write("row-number.sql", ROW_NUMBER)
        self.write("row-number.yaml", f"pipeline: row-number\nowner: me\nsql: [{NEOBANK / 'tables.sql'}, {NEOBANK / 'views.sql'}, row-number.sql]\n"
                   "watermark: {delay: 5 min, why: as in the example}\n")
        self.run_pipeline("row-number.yaml")
        firsts, late = self.first_rows()
        expected = json.loads((self.folder / "expected.json").read_text())
        self.assertGreater(expected["published_again"], 0)  # what DEDUPLICATE publishes twice is one row here
        at_the_clock = expected["fates"]["late"] - late
        self.assertGreater(at_the_clock, 0)
        distinct = expected["fates"]["published"] - expected["published_again"]
        self.assertTrue(distinct <= len(firsts) <= distinct + at_the_clock)
        rows = sqlite3.connect(self.folder / "neobank-data/firsts.db").execute(
            "SELECT transaction_id, account_id, amount, ts, source_name, source_offset FROM firsts").fetchall()
        self.assertEqual(len(rows), len(firsts))
        exact = lambda row: (row["account_id"], f"{row['amount']:.2f}", row["timestamp"], row["place"])
        differ = [row for row in rows if row[0] not in firsts or exact(firsts[row[0]]) !=
                  (row[1], f"{float(row[2]):.2f}", row[3], (row[4].rsplit("/", 1)[-1], row[5]))]
        self.assertEqual(differ[:5], [])
        fates = self.rows("ops", "query", "SELECT fate, SUM(`rows`) AS n FROM ops.fates GROUP BY fate", "--state", "state")
        self.assertEqual({row["fate"]: row["n"] for row in fates}["late"], late)


if __name__ == "__main__":
    main()
