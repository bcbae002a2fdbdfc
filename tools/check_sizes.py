#!/usr/bin/env python3
"""Gate: nothing grows beyond what a person can hold in mind.

Header <= 150 lines and opens with its contract comment; source <= 800 lines (a warning from 500 on); function
<= 80 lines (a warning from 60 on); <= 30 files a folder without its tests. Warnings never fail: `make check` shows
them so that a file is split before it must be.
"""
import re
import sys

import gate

HEADER, SOURCE, SOURCE_WARN, FUNCTION, FUNCTION_WARN, FOLDER = 150, 800, 500, 80, 60, 30

CONTAINER = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()]*$")
LEAD = re.compile(r"\s*(?:(?:public|private|protected)\s*:\s*)*")
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]|\balignas\s*\([^()]*\)")


def is_function(head):
    """Whether the text between the last ';', '{' or '}' and an opening brace is a function's signature."""
    head = ATTRIBUTE.sub(" ", head).strip()
    if not head or head.endswith(("=", ",", "(", "return")) or CONTAINER.search(head):
        return False
    return "(" in head


def functions(text):
    """(first line, last line, name) of each function body, found by braces at namespace or class height."""
    text = gate.blank(text)
    text = PREPROCESSOR.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)
    found, stack, begin = [], [], 0
    for match in re.finditer(r"[{};]", text):
        sign, at = match.group(0), match.start()
        inside = any(kind != "container" for kind, _ in stack)
        if sign == "{":
            head = text[begin:at]
            if inside:
                stack.append(("block", at))
            elif CONTAINER.search(ATTRIBUTE.sub(" ", head)) and not head.rstrip().endswith(")"):
                stack.append(("container", at))
            elif is_function(head):
                start = begin + LEAD.match(head).end()
                stack.append(("function", start))
            else:
                stack.append(("block", at))
        elif sign == "}" and stack:
            kind, start = stack.pop()
            if kind == "function":
                signature = text[start:text.index("{", start)]
                named = re.search(r"([\w:~]+|operator\S+)\s*\(", signature)
                first, last = text.count("\n", 0, start) + 1, text.count("\n", 0, at) + 1
                found.append((first, last, named.group(1) if named else "?"))
        if not any(kind != "container" for kind, _ in stack):
            begin = at + 1
    return found


def measure(root):
    """Two lists: problems and warnings."""
    problems, warnings, folders = [], [], {}
    for path in gate.files(root, "src", gate.CODE):
        text = (root / path).read_text()
        lines = text.count("\n")
        if not path.name.endswith("_test.cc"):
            folders.setdefault(path.parent, []).append(path)
        if path.suffix == ".h":
            if lines > HEADER:
                problems.append(f"{path}:{lines}: header of {lines} lines (at most {HEADER})")
            if not text.startswith("//"):
                problems.append(f"{path}:1: a header opens with its contract comment (what, owner, thread, lifetime)")
        elif lines > SOURCE_WARN:
            (problems if lines > SOURCE else warnings).append(f"{path}:{lines}: source of {lines} lines (aim {SOURCE_WARN}, at most {SOURCE})")
        for first, last, name in functions(text):
            length = last - first + 1
            if length > FUNCTION_WARN and "TEST" not in name:
                kind = problems if length > FUNCTION else warnings
                kind.append(f"{path}:{first}: function {name} of {length} lines (aim {FUNCTION_WARN}, at most {FUNCTION})")
    for folder, held in folders.items():
        if len(held) > FOLDER:
            problems.append(f"{folder}:1: {len(held)} files besides tests (at most {FOLDER}: split by concept)")
    return problems, warnings


def find_problems(root):
    return measure(root)[0]


def body(lines):
    return "\n".join(["  f(x);"] * (lines - 2))


CLEAN = {
    "src/base/status.h": "// Contract.\n" + "int x;\n" * 149,
    "src/base/status.cc": "namespace a {\nstatic const Row kTable[] = {\n" + "{1, 2},\n" * 90 + "};\n"
    "struct S : Base<int> {\n  S() : a_(1) {\n" + body(80) + "\n  }\n};\n}\n",
}
FAULTS = [
    ("header", {"src/base/status.h": "// Contract.\n" + "int x;\n" * 150}, "header of 151 lines"),
    ("header without contract", {"src/base/status.h": "#pragma once\n"}, "opens with its contract"),
    ("source", {"src/base/status.cc": "int x;\n" * 801}, "source of 801 lines"),
    ("function", {"src/base/status.cc": "namespace a {\n\nvoid A::Run(int x) const {\n" + body(81) + "\n}\n}\n"}, "status.cc:3: function A::Run of 81 lines"),
    ("method", {"src/base/status.cc": "class A {\n public:\n  int Run(int x = 3) override {\n" + body(81) + "\n  }\n};\n"}, "function Run of 81 lines"),
    ("constructor", {"src/base/status.cc": 'A::A(int x)\n    : a_(x) {\n  if (x) { s("}"); }\n' + body(80) + "\n}\n"}, "of 82 lines"),
    ("folder", {f"src/base/f{i}.cc": "" for i in range(29)}, "31 files besides tests"),
]

if __name__ == "__main__":
    if sys.argv[1:] == ["--warn"]:
        import pathlib

        print("\n".join("warning: " + w for w in measure(pathlib.Path(__file__).resolve().parent.parent)[1]))
    else:
        gate.main(find_problems, CLEAN, FAULTS)
