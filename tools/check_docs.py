#!/usr/bin/env python3
"""Gate: every file or folder that README.md, docs/ or examples/ name in backticks is there, and every page that sources name.

A path counts when it begins with a top folder of the repository, or with a topic of test/sql (`late/counted` is
test/sql/late/counted.test, `sink_key/*` some of its files); one with a placeholder (<name>, *, …) does not.

Each case of docs/known-faults.md names a test that has its number, in the file's name (kf07) or in its text (KF-07), or waits.
"""
import pathlib
import re

import gate

TOPS = "src test docs tools bench fuzz examples cmake".split()
PATH = re.compile(r"`((?:%s)/[^`\s]*)`" % "|".join(TOPS))
TEST = re.compile(r"`([a-z_]+)/([a-z0-9_*]+)`")
PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
PLACEHOLDER = re.compile(r"[<>*…{}]|\.\.\.")


CASE_ROW = re.compile(r"^\| (KF-.*?) \| .* \| (.*) \|$", re.M)


def cases(text):
    """KF-10 to KF-12, KF-20 → 10, 11, 12, 20."""
    for part in text.split(", "):
        ends = [int(number) for number in re.findall(r"KF-(\d+)", part)]
        yield from range(ends[0], ends[-1] + 1)


def named_tests(root, where):
    for name in re.findall(r"`([^`]+)`", where):
        for path in (root / name, root / "test/sql" / f"{name}.test"):
            if path.is_file():
                yield path


def known_fault_problems(root):
    page = root / "docs/known-faults.md"
    text = page.read_text() if page.exists() else ""
    for row in CASE_ROW.finditer(text):
        if re.search(r"\bwaits?\b", row.group(2)):
            continue
        tests = list(named_tests(root, row.group(2)))
        for case in cases(row.group(1)):
            if not any(f"kf{case:02}" in path.name or f"KF-{case:02}" in path.read_text() for path in tests):
                line = text.count("\n", 0, row.start()) + 1
                yield f"docs/known-faults.md:{line}: no test that is named there has 'KF-{case:02}'"


def find_problems(root):
    problems = list(known_fault_problems(root))
    pages = [path for top in ("docs", "examples") for path in gate.files(root, top, {".md"})]
    pages += [pathlib.Path("README.md")] if (root / "README.md").exists() else []
    for page in pages:
        text = (root / page).read_text()
        for match in PATH.finditer(text):
            name = match.group(1).split("#")[0].rstrip(".,:;")
            if not PLACEHOLDER.search(name) and not (root / name).exists():
                problems.append(f"{page}:{text.count(chr(10), 0, match.start()) + 1}: '{name}' is not there")
        for match in TEST.finditer(text):
            topic = root / "test/sql" / match.group(1)
            if match.group(1) not in TOPS and topic.is_dir() and not any(topic.glob(match.group(2) + ".test")):
                problems.append(f"{page}:{text.count(chr(10), 0, match.start()) + 1}: test '{match.group(1)}/{match.group(2)}' is not there")
    for path in gate.files(root, "src", gate.CODE):
        text = (root / path).read_text()
        for match in PAGE.finditer(text):
            if not (root / match.group(0)).exists():
                problems.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: '{match.group(0)}' is not there")
    return problems


CLEAN = {"docs/a.md": "See `src/op/calc.cc`, `src/op/`, `src/op/<name>.cc` and `make test`.\n", "src/op/calc.cc": "", "README.md": "`docs/a.md`\n"}
FAULTS = [
    ("file", {"docs/a.md": "\n`src/op/gone.cc`\n"}, "docs/a.md:2: 'src/op/gone.cc' is not there"),
    ("page", {"src/op/calc.cc": "// see docs/gone.md\n"}, "src/op/calc.cc:1: 'docs/gone.md'"),
    ("test", {"docs/a.md": "`late/kept` `late/*` `late/gone`\n", "test/sql/late/kept.test": ""}, "docs/a.md:1: test 'late/gone'"),
    ("case", {"docs/known-faults.md": "| KF-01, KF-03 to KF-04 | a | `late/kf01`, `src/op/a_test.cc` |\n| KF-05 | b | waits |\n",
              "test/sql/late/kf01.test": "", "src/op/a_test.cc": "// KF-03\n"}, "docs/known-faults.md:1: no test that is named there has 'KF-04'"),
    ("example", {"examples/b/README.md": "`src/op/gone.cc`\n"}, "examples/b/README.md:1: 'src/op/gone.cc'"),
    ("folder", {"README.md": "`examples/gone/`\n"}, "README.md:1: 'examples/gone/'"),
]

if __name__ == "__main__":
    gate.main(find_problems, CLEAN, FAULTS)
