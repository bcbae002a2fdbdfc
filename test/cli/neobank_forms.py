#!/usr/bin/env python3
"""Both forms of examples/neobank, to the end, against the generator's own expectation.

  test/cli/neobank_forms.py build/release/caudal [-k PATTERN]

One statement set with GROUP BY HOP and early firing; two queries with the HOP table function and the newest closed window.
"""
import subprocess
import sys

from cli_case import NEOBANK, ROOT, CliCase, main

EVENTS = "200k"


class NeobankForms(CliCase):
    def run_form(self, name, features, queries):
        self.caudal("generate", "neobank", "--events", EVENTS, "--accounts", "500", "--file-events", "20k", "--out", "neobank-data/in",
                    "--expected", "expected.json", "--expected-tables", "expected")
        self.caudal("run", NEOBANK / f"{name}.yaml", "--state", "state", "--until-idle", "500 ms", "--set",
                    "execution.checkpointing.interval=500 ms", "--set", "execution.checkpointing.min-pause=50 ms", timeout=300)
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
        self.run_form("pipeline", "every_window", ["neobank/silver+features"])

    def test_two_queries(self):
        self.run_form("two-queries", "latest", ["neobank-two-queries/silver", "neobank-two-queries/features_latest"])


if __name__ == "__main__":
    main()
