#!/usr/bin/env python3
"""Runs what README.md, docs/ and examples/ show: SQL, commands, output; checks what they name.

  test/docs/run_docs.py build/release/caudal [-k PATTERN]

The blocks of a page are run in order, in one scratch folder with `examples` in it. A fence says what its block is:

  sql                 runs with `caudal sql` and must end well
  sql NAME            is kept in the file NAME and can be planned
  sql refused         is refused with code 3; a text block behind it shows a part of the message
  sh                  runs with bash; of lines with make, cmake, ninja, ctest the targets and presets are looked up instead
  sh kafka            the same where KAFKA_BOOTSTRAP names a broker (make peer-kafka); elsewhere its command lines are looked up
  text                what the block before it printed; … stands for anything
  text kafka          the same where there is a broker
  json, yaml          parses; yaml is a pipeline file
  cmake               stands like this in a CMakeLists.txt

A server that a page starts has the port 7379; each run puts one that is free in its place.

In the text, `caudal …` must be a command line that the program takes, and `make …` a target.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BUILD_TOOLS = ("make", "cmake", "ninja", "ctest")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def make_targets():
    return set(re.findall(r"^([a-z0-9-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))


def presets():
    return {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}


class Page:
    """One page in its scratch folder."""

    def __init__(self, case, path, caudal):
        self.case, self.path, self.caudal = case, path, caudal
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="caudal-docs-"))
        (self.folder / "bin").mkdir()
        (self.folder / "bin/caudal").symlink_to(caudal)
        (self.folder / "examples").symlink_to(ROOT / "examples")
        self.environment = dict(os.environ, PATH=f"{self.folder}/bin:{os.environ['PATH']}")
        self.printed = None
        self.port = free_port()

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def play(self):
        text = self.path.read_text()
        for match in FENCE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            with self.case.subTest(f"{self.path.relative_to(ROOT)}:{line}"):
                self.block(match.group(1).split(), match.group(2).replace("7379", self.port))
        for code in re.findall(r"`([^`\n]+)`", FENCE.sub("", text)):
            with self.case.subTest(f"{self.path.relative_to(ROOT)}: {code}"):
                self.inline(code)

    def run(self, *command, stdin="", code=0):
        result = subprocess.run(command, cwd=self.folder, env=self.environment, input=stdin, capture_output=True, text=True, timeout=120)
        self.case.assertEqual(result.returncode, code, f"{command}\n{result.stderr}{result.stdout}")
        self.printed = result.stderr if code else result.stdout
        return self.printed

    def block(self, info, body):
        kind = info[0] if info else ""
        run = getattr(self, f"block_{kind}", None)
        self.case.assertIsNotNone(run, f"a block says what it is: {info or 'it says nothing'}")
        run(info[1:], body)

    def block_sql(self, info, body):
        if not info:
            self.run("caudal", "sql", "-", stdin=body)
        elif info == ["refused"]:
            self.run("caudal", "sql", "-", stdin=body, code=3)
        else:
            (self.folder / info[0]).write_text(body)
            self.run("caudal", "explain", info[0])

    def block_sh(self, info, body):
        lines = [line.split(" #")[0].strip() for line in body.splitlines() if line.strip()]
        if info == ["kafka"] and "KAFKA_BOOTSTRAP" not in self.environment:
            for line in lines:
                self.inline(line)
        elif all(line.split()[0] in BUILD_TOOLS for line in lines):
            for line in lines:
                for command in line.split("&&"):
                    self.build_command(command.split())
        else:
            self.run("bash", "-euo", "pipefail", "-c", body)

    def block_text(self, info, body):
        if info == ["kafka"] and "KAFKA_BOOTSTRAP" not in self.environment:
            return
        self.case.assertIsNotNone(self.printed, "nothing was printed before it")
        pattern = ".*".join(re.escape(part) for part in body.strip().split("…"))
        self.case.assertRegex(self.printed, re.compile(pattern, re.DOTALL))

    def block_json(self, info, body):
        json.loads(body)

    def block_yaml(self, info, body):
        (self.folder / "block.yaml").write_text(body)
        self.run("caudal", "validate", "block.yaml")

    def block_cmake(self, info, body):
        files = [path for path in ROOT.glob("src/**/CMakeLists.txt")] + [ROOT / "CMakeLists.txt"]
        self.case.assertTrue(any(body.strip() in path.read_text() for path in files), f"no CMakeLists.txt says {body}")

    def build_command(self, words):
        if words[0] == "make":
            targets = [word for word in words[1:] if "=" not in word]
            self.case.assertLessEqual(set(targets), make_targets(), f"make help does not list {targets}")
        else:
            named = words[words.index("--preset") + 1] if "--preset" in words else words[words.index("-C") + 1].removeprefix("build/")
            self.case.assertIn(named, presets())

    def inline(self, code):
        words = code.split()
        if words[0] == "make" and len(words) > 1:
            self.build_command(words)
        elif words[0] == "caudal" and len(words) > 1 and words[1] != "COMMAND":
            line = re.sub(r"<[^>]*>", "X", code).replace("…", "X")
            self.run(*shlex.split(line), "--help")


class Docs(unittest.TestCase):
    caudal = ""

    def test_pages(self):
        """All of them, or those that the environment variable DOCS_PAGES names, relative to the repository."""
        wanted = os.environ.get("DOCS_PAGES", "").split()
        for path in [ROOT / name for name in wanted] or PAGES:
            page = Page(self, path, self.caudal)
            try:
                page.play()
            finally:
                page.close()

    def test_the_reference_of_functions_is_the_programs_own(self):
        printed = subprocess.run([self.caudal, "functions", "--markdown"], capture_output=True, text=True, check=True).stdout
        self.assertEqual((ROOT / "docs/functions.md").read_text(), printed, "run: caudal functions --markdown > docs/functions.md")

    def test_every_claim_names_its_test(self):
        """The last column of these tables names at least one file or folder; tools/check_docs.py checks that it is there."""
        for page, header in (("README.md", "| guarantee |"), ("docs/contracts.md", "| contract |"), ("docs/differences.md", "| where |")):
            lines = (ROOT / page).read_text().splitlines()
            start = next(i for i, line in enumerate(lines) if line.startswith(header))
            rows = []
            for line in lines[start + 2:]:
                if not line.startswith("|"):
                    break
                rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
            self.assertGreater(len(rows), 4, page)
            for row in rows:
                with self.subTest(f"{page}: {row[0]}"):
                    self.assertRegex(row[-1], r"`[^`]+/[^`]*`|`make [a-z0-9-]+`")
                    self.assertTrue(all(row), row)

    def test_every_setting_and_option_is_described(self):
        settings = (ROOT / "docs/settings.md").read_text()
        used = re.compile(r'(?:plan\.setting|\bsetting|Read(?:Duration|Bytes|Integer))\((?:plan, )?"([a-z.-]+)"')
        for path in [*ROOT.glob("src/run/*.cc"), *ROOT.glob("src/sql/**/*.cc"), *ROOT.glob("src/op/*.cc")]:
            for key in used.findall(path.read_text()):
                self.assertIn(f"`{key}`", settings, f"{path.name} asks for it")
        names = (ROOT / "src/sql/physical/settings.cc").read_text()
        for key in re.findall(r'\{"([a-z0-9.*-]+)", Role::', names):
            self.assertIn(f"`{key}`", settings)
        described = {"filesystem": "filesystem", "iceberg": "iceberg", "jdbc": "jdbc", "kafka": "kafka", "redis": "redis", "datagen": "datagen", "print": "print"}
        option = re.compile(r'^    \{"([a-z.*-]+)", ', re.MULTILINE)
        for folder, page in described.items():
            text = (ROOT / f"docs/connectors/{page}.md").read_text()
            found = option.findall((ROOT / f"src/connect/{folder}/{folder}_connector.cc").read_text())
            self.assertTrue(found, folder)
            for name in found:
                self.assertIn(f"`{name.replace('fields.*', 'fields.<name>.kind')}`", text, folder)
        for name in option.findall((ROOT / "src/api/connector.cc").read_text().split("kEverywhere[]")[1]):
            self.assertIn(f"`{name}`", settings)

    def test_every_metric_table_and_column_is_described(self):
        page = (ROOT / "docs/operations.md").read_text()
        for name in re.findall(r'"(caudal_[a-z_]+)"', (ROOT / "src/watch/metrics_text.cc").read_text()):
            self.assertIn(f"`{name}`", page)
        for name in re.findall(r'^      \{"([a-z_]+)",$', (ROOT / "src/ops/ops_table.cc").read_text(), re.MULTILINE):
            self.assertIn(f"`ops.{name}`", page)

    def test_every_target_of_make_is_described(self):
        helped = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        self.assertEqual({line.split()[1] for line in helped.splitlines() if line.strip()}, make_targets())
        phony = set(re.findall(r"^\.PHONY: ([a-z0-9-]+)", (ROOT / "Makefile").read_text(), re.MULTILINE))
        self.assertEqual(phony, make_targets())


if __name__ == "__main__":
    Docs.caudal = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
