#!/usr/bin/env python3
"""Gate: every file or folder that README.md, docs/ or examples/ name in backticks is there, and every page that sources name.

A path counts when it begins with a top folder of the repository, or with a topic of test/sql (`late/counted` is
test/sql/late/counted.test, `sink_key/*` some of its files); one with a placeholder (<name>, *, …) does not.
"""
import pathlib
import re

import gate

TOPS = "src test docs tools bench fuzz examples cmake".split()
PATH = re.compile(r"`((?:%s)/[^`\s]*)`" % "|".join(TOPS))
TEST = re.compile(r"`([a-z_]+)/([a-z0-9_*]+)`")
PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
PLACEHOLDER = re.compile(r"[<>*…{}]|\.\.\.")


def find_problems(root):
    problems = []
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
    ("example", {"examples/b/README.md": "`src/op/gone.cc`\n"}, "examples/b/README.md:1: 'src/op/gone.cc'"),
    ("folder", {"README.md": "`examples/gone/`\n"}, "README.md:1: 'examples/gone/'"),
]

if __name__ == "__main__":
    gate.main(find_problems, CLEAN, FAULTS)
