#!/usr/bin/env python3
"""Gate: the words of tools/banned_words.txt appear only where that list allows them."""
import fnmatch
import re

import gate

LIST = "tools/banned_words.txt"
TEXT = {".h", ".cc", ".def", ".md", ".txt", ".test", ".sql", ".yaml", ".yml", ".json", ".cmake", ".py", ".sh", ".supp", ""}


def read_rules(root):
    rules = []
    for number, line in enumerate((root / LIST).read_text().splitlines(), 1):
        if not line.strip() or line.startswith("# "):
            continue
        fields = re.split(r" {2,}", line.strip())
        if len(fields) != 4:
            raise SystemExit(f"{LIST}:{number}: a rule has 4 fields divided by two or more spaces, this has {len(fields)}")
        pattern, where, allowed, instead = fields
        rules.append((re.compile(pattern, re.MULTILINE), globs(where), globs(allowed), instead))
    return rules


def globs(field):
    """[(code only, glob)] of a field such as "code:src/**,test/**"."""
    found = []
    for item in field.split(","):
        code, _, place = item.rpartition("code:")
        found.append((_ == "code:", place))
    return found


def matches(path, places):
    """The first (code only, glob) that holds the path, or None. '**/' also stands for no folder at all."""
    for code, place in places:
        if fnmatch.fnmatch(path, place) or fnmatch.fnmatch(path, place.replace("**/", "")):
            return (code, place)
    return None


def find_problems(root):
    problems, rules = [], read_rules(root)
    for relative in gate.files(root):
        path = relative.as_posix()
        if relative.suffix not in TEXT or path == LIST:
            continue
        try:
            text = (root / relative).read_text()
        except UnicodeDecodeError:
            continue
        code = gate.blank(text) if relative.suffix in gate.CODE else text
        for pattern, where, allowed, instead in rules:
            place = matches(path, where)
            if place is None or matches(path, allowed):
                continue
            for match in pattern.finditer(code if place[0] else text):
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{path}:{line}: '{match.group(0).strip()}' ({instead})")
    return problems


RULES = (gate.pathlib.Path(__file__).resolve().parent / "banned_words.txt").read_text()
CLEAN = {
    LIST: RULES,
    "src/op/calc.cc": '// throw, std::cout and getenv in a comment; "quoted: throw"\nint x = 0;\nauto s = "throw";\n',
    "src/data/fwd.h": "// Contract.\nusing ColumnPtr = std::shared_ptr<const Column>;\n",
    "src/run/pool.cc": "std::thread t;\n",
    "README.md": "Catch what others throw.\n",
}
FAULTS = [
    ("throw", {"src/op/calc.cc": "\nthrow 1;\n"}, "src/op/calc.cc:2: 'throw'"),
    ("cout", {"src/op/calc.cc": "std::cout << 1;\n"}, "'std::cout'"),
    ("thread", {"src/op/calc.cc": "std::thread t;\n"}, "'std::thread'"),
    ("shared_ptr", {"src/op/calc.h": "std::shared_ptr<int> p;\n"}, "'shared_ptr'"),
    ("wall clock", {"src/op/calc.cc": "std::chrono::system_clock::now();\n"}, "'system_clock'"),
    ("environment", {"src/op/calc.cc": 'std::getenv("HOME");\n'}, "'getenv'"),
    ("unfinished", {"src/op/calc.cc": "// TO" + "DO later\n"}, "'TO" + "DO'"),
    ("class name", {"src/op/calc.cc": "class CalcHelper;\n"}, "'CalcHelper'"),
    ("machine path", {"docs/a.md": "see /ro" + "ot/x\n"}, "'/ro" + "ot/'"),
    ("registry", {".ci/run": "pip -i https://py" + "pi.org/simple\n"}, "'py" + "pi.org'"),
    ("sleep in a test", {"src/op/calc_test.cc": "std::this_thread::sleep_for(1ms);\n"}, "'sleep_for'"),
]

if __name__ == "__main__":
    gate.main(find_problems, CLEAN, FAULTS)
