#!/usr/bin/env python3
"""Gate: a file includes its own folder and the folders of its DEPS line, and DEPS only ever points down.

The rule is stated once, in each folder's caudal_library(NAME DEPS ...) call. This gate adds what that line cannot
say: the height of each folder (docs/contributing.md), that strangers of one height stay strangers, and that
heavy third-party headers stay in the .cc files that call them.
"""
import re

import gate

# Height of each top folder of src/. A folder may use lower numbers only.
LAYERS = {
    "base": 1,
    "data": 2, "net": 2,
    "fs": 3, "db": 3,
    "expr": 4, "state": 4, "format": 4,
    "api": 5, "iceberg": 5,
    "sql": 6, "op": 6, "connect": 6, "pipeline": 6, "ops": 6,
    "run": 7,
    "watch": 8, "drill": 8,
    "server": 9,
}
# The generators' expected totals must not come out of the code that they check.
BASE_ONLY = "demo"
LAYERS[BASE_ONLY] = 8

# The program's main function wires everything.
TESTING = "testing"  # a folder of what tests share
PROGRAM = "src/server/main.cc"
# Folders whose sub-folders do not know each other; elsewhere they may, in one direction.
STRANGERS_INSIDE = ("connect", "server")

HEAVY = re.compile(r"(arrow|parquet|rocksdb|librdkafka|hiredis|CLI)/|(simdjson|httplib|rdkafka|sqlite3)\.h")
CALL = re.compile(r"caudal_library\(\s*([^\s)]+)([^)]*)\)", re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\s+(["<])([^">]+)[">]', re.MULTILINE)


def top(name):
    return name.split("/")[0]


def related(a, b):
    """One of the two folders lies inside the other."""
    return a.startswith(b + "/") or b.startswith(a + "/")


def keywords(arguments):
    lists, current = {}, None
    for word in arguments.split():
        if word in ("DEPS", "LIBS", "TEST_LIBS", "DIRS", "PLANTED", "COLD"):
            current = lists.setdefault(word, [])
        elif current is not None:
            current.append(word)
    return lists


def read_libraries(root, problems):
    libraries = {}
    for path in gate.files(root, "src"):
        if path.name != "CMakeLists.txt":
            continue
        folder = path.parent.relative_to("src").as_posix()
        text = re.sub(r"#[^\n]*", "", (root / path).read_text())
        for name, arguments in CALL.findall(text):
            if name != folder:
                problems.append(f"{path}:1: caudal_library({name}) must be named '{folder}' (one folder, one library)")
            lists = keywords(arguments)
            tested = [lib.removeprefix("caudal_") for lib in lists.get("TEST_LIBS", []) if lib.startswith("caudal_")]
            libraries[name] = {"deps": lists.get("DEPS", []), "tests": tested, "file": path}
    # A target is named by its folder with "_" for "/".
    folders = {name.replace("/", "_"): name for name in libraries}
    for library in libraries.values():
        library["tests"] = [folders.get(target, target) for target in library["tests"]]
    return libraries


def check_edge(name, dep, where, problems):
    """One step of DEPS from folder `name` to folder `dep`."""
    if top(name) not in LAYERS or top(dep) not in LAYERS:
        unknown = name if top(name) not in LAYERS else dep
        problems.append(f"{where}: folder '{unknown}' has no height (tools/check_layers.py lists them)")
    elif top(name) == BASE_ONLY and top(dep) not in ("base", BASE_ONLY):
        problems.append(f"{where}: '{name}' uses '{dep}' ('{BASE_ONLY}' may use base only)")
    elif top(name) == top(dep):
        if top(name) in STRANGERS_INSIDE and not related(name, dep):
            problems.append(f"{where}: '{name}' uses '{dep}' (strangers: neighbours in one folder do not know each other)")
    elif LAYERS[top(dep)] > LAYERS[top(name)]:
        problems.append(f"{where}: '{name}' ({LAYERS[top(name)]}) uses '{dep}' ({LAYERS[top(dep)]}) (upwards)")
    elif LAYERS[top(dep)] == LAYERS[top(name)]:
        problems.append(f"{where}: '{name}' uses '{dep}' (strangers: both have height {LAYERS[top(name)]})")


def check_cycles(libraries, problems):
    done, path = set(), []

    def visit(name):
        if name in path:
            circle = " -> ".join(path[path.index(name):] + [name])
            problems.append(f"{libraries[name]['file']}:1: DEPS go round in a circle: {circle}")
        elif name not in done and name in libraries:
            path.append(name)
            for dep in libraries[name]["deps"]:
                visit(dep)
            path.pop()
            done.add(name)

    for name in libraries:
        visit(name)


def owner(folder, libraries):
    """The innermost library whose folder holds `folder`, or None."""
    parts = folder.split("/")
    for length in range(len(parts), 0, -1):
        name = "/".join(parts[:length])
        if name in libraries:
            return name
    return None


def check_includes(root, path, libraries, problems):
    own = owner(path.parent.relative_to("src").as_posix(), libraries)
    if own is None:
        problems.append(f"{path.parent}:1: the folder has no caudal_library call")
        return
    text = (root / path).read_text()
    is_test = path.name.endswith("_test.cc") or TESTING in path.parts
    allowed = {own, *libraries[own]["deps"], *(libraries[own]["tests"] if is_test else [])}
    for match in INCLUDE.finditer(text):
        kind, name = match.groups()
        where = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
        if HEAVY.match(name) and path.suffix == ".h":
            problems.append(f"{where}: '{name}' in a header (heavy third-party headers belong in the .cc that calls them)")
        if kind == "<":
            continue
        if not (root / "src" / name).is_file():
            if top(name) in LAYERS or "/" not in name:
                problems.append(f"{where}: '{name}' is not there (an include is written from src/)")
            continue
        if TESTING in name.split("/") and not is_test:
            problems.append(f"{where}: '{name}' is for tests alone")
        used = owner(name.rpartition("/")[0], libraries)
        if used not in allowed:
            rule = ", ".join(sorted(allowed - {own})) or "nothing"
            problems.append(f"{where}: '{own}' includes '{name}' ('{own}' DEPS: {rule})")


def find_problems(root):
    problems = []
    libraries = read_libraries(root, problems)
    for name, library in libraries.items():
        for dep in library["deps"] + library["tests"]:
            check_edge(name, dep, f"{library['file']}:1", problems)
    check_cycles(libraries, problems)
    for path in gate.files(root, "src", gate.CODE):
        if path.as_posix() != PROGRAM:
            check_includes(root, path, libraries, problems)
    return list(dict.fromkeys(problems))


CLEAN = {
    "src/run/testing/job_fixture.h": '#include "connect/file/sink.h"\n',
    "src/base/CMakeLists.txt": "caudal_library(base)\n",
    "src/base/status.h": "",
    "src/data/CMakeLists.txt": "caudal_library(data DEPS base LIBS X::x COLD)\n",
    "src/data/chunk.h": '#include <vector>\n#include "base/status.h"\n',
    "src/op/CMakeLists.txt": "caudal_library(op\n  DEPS base data)\n",
    "src/op/calc.cc": '#include "op/calc.h"\n#include "data/chunk.h"\n#include <arrow/api.h>\n',
    "src/op/calc.h": "",
    "src/run/CMakeLists.txt": "caudal_library(run DEPS base TEST_LIBS caudal_connect_file)\n",
    "src/run/job_test.cc": '#include "connect/file/sink.h"\n',
    "src/server/main.cc": '#include "op/calc.h"\n',
    "src/sql/CMakeLists.txt": "caudal_library(sql DEPS base)\n",
    "src/sql/parser.h": "",
    "src/connect/file/CMakeLists.txt": "caudal_library(connect/file DEPS base)\n",
    "src/connect/file/sink.h": "",
}
FAULTS = [
    ("include upwards", {"src/base/status.h": '#include "data/chunk.h"\n'}, "src/base/status.h:1: 'base' includes 'data/chunk.h'"),
    ("include of a stranger", {"src/op/calc.h": '\n#include "sql/parser.h"\n'}, "src/op/calc.h:2: 'op' includes 'sql/parser.h' ('op' DEPS: base, data)"),
    ("include below, not in DEPS", {"src/sql/parser.h": '#include "data/chunk.h"\n'}, "('sql' DEPS: base)"),
    ("TEST_LIBS outside a test", {"src/run/job.cc": '#include "connect/file/sink.h"\n'}, "'run' includes 'connect/file/sink.h'"),
    ("what is for tests", {"src/run/job.cc": '#include "run/testing/job_fixture.h"\n'}, "'run/testing/job_fixture.h' is for tests alone"),
    ("DEPS upwards", {"src/base/CMakeLists.txt": "caudal_library(base DEPS data)\n"}, "'base' (1) uses 'data' (2) (upwards)"),
    ("DEPS to a stranger", {"src/sql/CMakeLists.txt": "caudal_library(sql DEPS base op)\n"}, "strangers: both have height 6"),
    ("neighbours", {"src/connect/db/CMakeLists.txt": "caudal_library(connect/db DEPS connect/file)\n"}, "strangers: neighbours"),
    ("circle of neighbours", {"src/op/a/CMakeLists.txt": "caudal_library(op/a DEPS op/b)\n", "src/op/b/CMakeLists.txt": "caudal_library(op/b DEPS op/a)\n"}, "in a circle"),
    ("circle inside a folder", {"src/connect/CMakeLists.txt": "caudal_library(connect DEPS connect/file)\n", "src/connect/file/CMakeLists.txt": "caudal_library(connect/file DEPS connect)\n"}, "in a circle"),
    ("demo above base", {"src/demo/CMakeLists.txt": "caudal_library(demo DEPS base data)\n"}, "may use base only"),
    ("unknown folder", {"src/misc/CMakeLists.txt": "caudal_library(misc DEPS base)\n"}, "has no height"),
    ("folder without a library", {"src/net/http.h": ""}, "has no caudal_library call"),
    ("wrong name", {"src/net/CMakeLists.txt": "caudal_library(nett)\n"}, "must be named 'net'"),
    ("include not from src/", {"src/op/calc.cc": '#include "calc.h"\n'}, "an include is written from src/"),
    ("heavy header", {"src/op/calc.h": "#include <arrow/api.h>\n"}, "heavy third-party headers"),
]

if __name__ == "__main__":
    gate.main(find_problems, CLEAN, FAULTS)
