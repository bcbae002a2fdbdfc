#!/usr/bin/env python3
"""Gate: every function of docs/functions.md has at least five cases recorded from Flink.

A case is one call in a query or pipeline of a test marked `oracle`, in one row of its recorded result; a query that Flink
refuses is one case for each call in it. Not asked of the functions that have no recordable value: see OURS and CLOCK.
"""
import collections
import re

import gate

LEAST = 5
OURS = {"APPROX_COUNT_DISTINCT": "an estimate of our own, compared with exact counts instead"}
CLOCK = {"CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_ROW_TIMESTAMP", "PROCTIME"}

NAME = re.compile(r"^\| `(.+?)` \| ", re.M)
OPERAND = r"(?:[\w')\]`]|\bNULL)\s*"
# What is not written as NAME(…); `-` and `+` between operands or in front of one.
WRITTEN = {
    "=": r"(?<![<>!=])=(?!>)", "<>": r"<>|!=", "<": r"<(?![>=])(?!\w+>)", ">": r"(?<![<=])>(?!=)", "<=": "<=", ">=": ">=|BETWEEN",
    "+": r"\+", "-": r"(?<![\d(,]-)-", "*": OPERAND + r"\*", "/": "/", "%": r"%|\bMOD\(", "||": r"\|\|",
    "NOT": r"(?<!IS )\bNOT (?!NULL|TRUE|FALSE|LIKE|IN\b|BETWEEN|DISTINCT)", "ARRAY": r"\bARRAY\[", "MAP": r"\bMAP\[",
    "FIELD": r"\)\.\w|\b\w+\.\w+\.\w", "ITEM": r"(?:\]|\)|(?<!ARRAY)(?<!MAP)(?<!\w)[a-z]\w*)\[", "PI": r"\bPI\b", "CASE": r"\bCASE\b",
    "CAST": r"(?<!TRY_)\bCAST\(", "LIKE": r"\bLIKE\b", "IN": r"\bIN \((?!SELECT)|\bIN\(", "SUBSTRING": r"\bSUBSTR(?:ING)?\(", "CEIL": r"\bCEIL(?:ING)?\(",
    "CHAR_LENGTH": r"\bCHAR(?:ACTER)?_LENGTH\(", "POWER": r"\bPOW(?:ER)?\(", "VAR_SAMP": r"\bVAR_SAMP\(|\bVARIANCE\(",
    "STDDEV_SAMP": r"\bSTDDEV(?:_SAMP)?\(",
}


def pattern(name):
    if name in WRITTEN:
        return re.compile(WRITTEN[name])
    words = re.escape(name).replace(r"\ ", r"\s+")
    if name.startswith("IS ") or name in ("AND", "OR", "SIMILAR TO"):
        return re.compile(rf"\b{words}\b(?!\s+(?:OBJECT|ARRAY|SCALAR)\b)" if name == "IS JSON" else rf"\b{words}\b")
    return re.compile(rf"(?<!\w){words}\(")


def recorded_cases(text):
    """(SQL without the contents of its strings, number of recorded rows) of each query and pipeline."""
    blocks = [block.split("\n") for block in re.split(r"\n\n+", text.strip("\n"))]
    blocks = [[line for line in block if not line.startswith("#")] for block in blocks]
    results = collections.Counter()
    for block in blocks:
        if block and block[0].startswith(("changelog ", "table ")) and "----" in block:
            rows = block[block.index("----") + 1:]
            # A row taken back says nothing new.
            count = sum(not row.startswith(("-U\t", "-D\t")) for row in rows)
            name = block[0].split()[1]
            results[name] = max(results[name], count)
    for block in blocks:
        words = block[0].split() if block else []
        if words[:1] == ["query"] and "----" in block:
            cut = block.index("----")
            yield "\n".join(block[1:cut]), max(1, len(block) - cut - 1 - ("types" in words))
        elif words[:1] == ["pipeline"]:
            yield "\n".join(block[1:]), results[words[1]]


def count_cases(root, names):
    patterns = {name: pattern(name) for name in names}
    counts = collections.Counter()
    for path in gate.files(root, "test/sql", {".test"}):
        text = (root / path).read_text()
        if not re.search(r"^oracle$", text, re.M):
            continue
        for sql, rows in recorded_cases(text):
            plain = re.sub(r"'(?:[^']|'')*'", "''", sql)
            for name in names:
                counts[name] += rows * len(patterns[name].findall(plain))
    return counts


def find_problems(root):
    page = root / "docs/functions.md"
    names = [name.replace("\\|", "|") for name in NAME.findall(page.read_text()) if name != "function"]
    names = [name for name in names if name not in OURS and name not in CLOCK]
    counts = count_cases(root, names)
    return [f"docs/functions.md: '{name}' has {counts[name]} cases recorded from Flink, {LEAST} are needed"
            for name in names if counts[name] < LEAST]


PAGE = "| function | meaning |\n| `UPPER` | Big. |\n| `IS JSON` | Is it. |\n| `-` | Less. |\n| `ITEM` | One of many. |\n"
ROWS = "\n----\n" + "x\n" * LEAST
CLEAN = {
    "docs/functions.md": PAGE,
    "test/sql/f/a.test": "oracle\n\nquery\nSELECT UPPER(a), a IS JSON, a - 1, c[1] FROM t" + ROWS,
    "test/sql/f/b.test": "query\nSELECT LOWER('a')" + ROWS,
}
FAULTS = [
    ("never called", {"docs/functions.md": PAGE + "| `LOWER` | Small. |\n"}, "'LOWER' has 0 cases"),
    ("too few rows", {"test/sql/f/a.test": "oracle\n\nquery types\nSELECT UPPER(a), a IS JSON, a - 1, c[1] FROM t\n----\nINT\n1\n2\n3\n4\n"},
     "'UPPER' has 4 cases"),
    ("called in a string", {"test/sql/f/a.test": "oracle\n\nquery\nSELECT 'UPPER(a)', a IS JSON, a - 1, c[1] FROM t" + ROWS}, "'UPPER' has 0 cases"),
    ("another of that name", {"test/sql/f/a.test": "oracle\n\nquery\nSELECT UPPER(a), a IS JSON OBJECT, a - 1, c[1] FROM t" + ROWS},
     "'IS JSON' has 0 cases"),
    ("a constructor is no access", {"test/sql/f/a.test": "oracle\n\nquery\nSELECT UPPER(a), a IS JSON, a - 1, ARRAY[1] FROM t" + ROWS},
     "'ITEM' has 0 cases"),
    ("rows taken back", {"test/sql/f/a.test": "oracle\n\npipeline p\nSELECT UPPER(a), a IS JSON, a - 1, c[1] FROM t\n\nchangelog p\n----\n+I\t1\n"
                         + "-U\t1\n+U\t1\n" * 3}, "'UPPER' has 4 cases"),
    ("not recorded", {"test/sql/f/a.test": "query\nSELECT UPPER(a), a IS JSON, a - 1, c[1] FROM t" + ROWS}, "'UPPER' has 0 cases"),
]

if __name__ == "__main__":
    gate.main(find_problems, CLEAN, FAULTS)
