#!/usr/bin/env python3
"""The command line itself: help with examples that are right, --json everywhere, exit codes, version, generate, progress.

  test/cli/usage.py build/release/caudal [-k PATTERN]
"""
import json
import re
import shlex

from cli_case import CliCase, main

COMMANDS = ["run", "validate", "explain", "sql", "functions", "generate", "generate neobank", "stop", "status", "ops", "ops query",
            "checkpoint", "checkpoint ls", "checkpoint show", "checkpoint verify", "checkpoint diff", "checkpoint trigger", "dlq",
            "dlq ls", "dlq show", "digest", "version"]


class Usage(CliCase):
    def help_of(self, command):
        return self.caudal(*command.split(), "--help").stdout

    def test_every_command_is_listed_and_has_examples(self):
        listed = {line.split()[0] for line in self.help_of("").split("Subcommands:")[1].splitlines() if line.startswith("  ")}
        self.assertEqual(listed, {command.split()[0] for command in COMMANDS})
        for command in COMMANDS:
            self.assertIn("Examples:", self.help_of(command), command)
            self.assertIn("--json", self.help_of(command), command)

    def test_every_example_would_be_taken(self):
        for command in COMMANDS:
            for line in self.help_of(command).split("Examples:")[1].splitlines():
                for example in re.split(r"\s{4,}(?=caudal)", line.strip()):
                    if example:
                        self.check_example(example)

    def check_example(self, example):
        words = shlex.split(example.split(" | ")[-1].split(" > ")[0].split(" < ")[0], comments=True)
        self.assertEqual(words[0], "caudal", example)
        # --help after the words: they are parsed, nothing is run.
        self.caudal(*words[1:], "--help")

    def test_usage_faults_end_with_1(self):
        for words in (["runn"], ["run"], ["run", "a.sql", "--no-such"], ["checkpoint"], ["checkpoint", "diff"], ["dlq", "show"],
                      ["stop", "--drain", "--savepoint"], ["generate", "neobank"], ["run", "a.sql", "--listen", "nowhere:x"]):
            self.refused(*words, code=1)
        self.assertEqual(self.caudal(code=1).stdout, "")

    def test_faults_as_json(self):
        for words, code in ((["run"], 1), (["validate", "none.yaml"], 3), (["sql", "SELEC"], 3), (["status", "--state", "none"], 3),
                            (["stop", "--state", "none"], 3), (["checkpoint", "ls", "--state", "none"], 3)):
            result = self.caudal(*words, "--json", code=code)
            fault = json.loads(result.stderr)
            self.assertEqual(fault["exit"], code)
            self.assertEqual(fault["error"]["domain"], "user")
            self.assertTrue(fault["error"]["message"])
            self.assertEqual(result.stdout, "")

    def test_version(self):
        self.assertRegex(self.caudal("version").stdout, r"^caudal \d+\.\d+\.\d+\n$")
        self.assertRegex(self.rows("version")[0]["caudal"], r"^\d+\.\d+\.\d+$")

    def test_functions(self):
        self.assertIn("UPPER", self.caudal("functions", "upper").stdout)
        self.assertGreaterEqual(len(self.rows("functions")), 60)
        self.refused("functions", "no_such_function", code=1)

    def test_generate_tells_what_must_come_out(self):
        said = self.rows("generate", "neobank", "--events", "2k", "--seed", "7", "--out", "in", "--expected", "expected.json")
        self.assertEqual(said[0]["events"], 2000)
        expected = json.loads((self.folder / "expected.json").read_text())
        self.assertEqual(expected["events"], 2000)
        self.assertEqual(sum(len(path.read_bytes().splitlines()) for path in (self.folder / "in").iterdir()), 2000)
        self.caudal("generate", "neobank", "--events", "2k", "--seed", "7", "--out", "again")
        for path in (self.folder / "in").iterdir():
            self.assertEqual(path.read_bytes(), (self.folder / "again" / path.name).read_bytes())

    def test_digest_does_not_depend_on_order(self):
        self.assertEqual(self.lines("digest", stdin="a\nb\n"), self.lines("digest", stdin="b\na"))
        self.assertEqual(self.lines("digest", "--header", stdin="x\na\nb\n"), self.lines("digest", stdin="b\na\n"))
        self.assertNotEqual(self.lines("digest", stdin="a\nb\n"), self.lines("digest", stdin="a\na\n"))

    def test_progress_on_a_terminal_only(self):
        words = ["generate", "neobank", "--events", "12k", "--rate", "20000", "--out", "in"]
        self.assertEqual(self.caudal(*words).stderr, "")
        text = self.on_terminal(*words, out=False)
        self.assertRegex(text, r"\r\x1b\[Kgenerate: [\d,]+ of 12,000 events in \d+ files, [\d,]+ events/s")
        self.assertTrue(text.endswith("\r\x1b[K"), text[-40:])  # nothing of it stays


if __name__ == "__main__":
    main()
