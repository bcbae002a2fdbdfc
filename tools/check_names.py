#!/usr/bin/env python3
"""Gate: the local names of a folder's sources are unique, and those of its tests, since the release preset compiles them as merged files.

Looks at what stands in anonymous namespaces and at file-local aliases: constants, variables, types, aliases, and
functions with the same parameter types. A clash here is an error of the compiler in build/release only, where nobody
looks while editing.
"""
import re

import gate

OPEN = re.compile(r"\bnamespace\s*$")
DECLARED = [
    re.compile(r"\busing\s+(\w+)\s*=[^=]*$"),
    re.compile(r"\b(?:struct|class|enum(?:\s+class)?)\s+(\w+)\b[^;()=]*$"),
    re.compile(r"\b(\w+)(?:\s*\[[^\]]*\])*\s*(?:=(?!=)[^;]*|\{)?$"),
]
FUNCTION = re.compile(r"\b(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*(?:const|noexcept|->[^{]*|\s)*$")
NAMED_PARAMETER = re.compile(r"(?<=[\s&*>])\w+\s*(?:=.*)?$")


def parameter_types(text):
    types, depth, current = [], 0, ""
    for sign in text + ",":
        depth += (sign in "<([{") - (sign in ">)]}")
        if sign == "," and depth <= 0:
            types.append(re.sub(r"\s+", " ", NAMED_PARAMETER.sub("", current.strip())).strip())
            current = ""
        else:
            current += sign
    return ", ".join(types)


def declared(head, is_block):
    """The name that a statement or block head at local height declares, with its parameter types if a function."""
    head = re.sub(r"\[\[[^\]]*\]\]|^\s*#[^\n]*$", " ", head, flags=re.MULTILINE).strip()
    if not head or re.match(r"(namespace|friend|return|static_assert|template)\b", head):
        return None
    if head.count("(") > head.count(")"):
        return None  # the default of a parameter
    if is_block and not head.endswith("="):
        called = FUNCTION.search(head)
        if called and not re.match(r"(struct|class|enum)\b", head) and "::" not in head[:called.start(1)][-2:]:
            return f"{called.group(1)}({parameter_types(called.group(2))})"
    if "operator" in head or head.endswith(")"):
        return None
    for pattern in DECLARED:
        found = pattern.search(head.split("=")[0] + ("=" + head.split("=", 1)[1] if "=" in head else ""))
        if found:
            return found.group(1)
    return None


def local_names(text):
    """[(line, name)] of what the anonymous namespaces of a source declare."""
    text = gate.blank(text)
    found, stack, begin = [], [], 0
    for match in re.finditer(r"[{};]", text):
        sign, at = match.group(0), match.start()
        head = text[begin:at]
        local = "anonymous" in stack and all(kind in ("anonymous", "named") for kind in stack)
        if sign == "{":
            if OPEN.search(head):
                stack.append("anonymous")
            elif re.search(r"\bnamespace\s+[\w:]+\s*$", head):
                stack.append("named")
            else:
                name = declared(head, True) if local else None
                if name:
                    found.append((text.count("\n", 0, begin + len(head) - len(head.lstrip())) + 1, name))
                stack.append("block")
            begin = at + 1
        elif sign == "}":
            if stack:
                stack.pop()
            begin = at + 1
        else:
            alias = re.match(r"\s*using\s+(\w+)\s*=", head)
            if local or (alias and "block" not in stack):
                name = re.sub(r"\s+", " ", head.strip()).removeprefix("using ") if alias else declared(head, False)
                if name and (alias or "=" in head):
                    found.append((text.count("\n", 0, begin + len(head) - len(head.lstrip())) + 1, name))
            if all(kind in ("anonymous", "named") for kind in stack):
                begin = at + 1
    return found


def folder_of(root, path):
    """The folder whose CMakeLists.txt builds the source."""
    for parent in path.parents:
        if (root / parent / "CMakeLists.txt").is_file():
            return parent
    return path.parent


def public_types(root):
    """{type: header} of the types that the headers which everybody includes declare in namespace caudal itself."""
    found = {}
    for path in gate.files(root, "src", {".h"}):
        if path.parts[1] not in ("base", "data", "api"):
            continue
        text = gate.blank((root / path).read_text())
        if "namespace caudal {" in text:
            for name in re.findall(r"^(?:class|struct|enum class) (?:\[\[\w+\]\] )?(\w+)\b[^;\n]*\{", text, re.MULTILINE):
                found.setdefault(name, path)
    return found


def find_problems(root):
    first, problems = {}, []
    public = public_types(root)
    for path in gate.files(root, "src", {".cc"}):
        if path.name == "main.cc":
            continue
        test = path.name.endswith("_test.cc")
        for line, declaration in local_names((root / path).read_text()):
            name, _, meaning = declaration.partition(" = ")
            key = (folder_of(root, path), test, name)
            other, before = first.setdefault(key, (path, meaning))
            if other != path and not (meaning and meaning == before):
                problems.append(f"{path}:{line}: local name '{name}' also stands in {other} (the release preset merges them)")
            if name in public and not test:
                problems.append(f"{path}:{line}: local name '{name}' hides that of {public[name]}")
    return problems


A = "namespace caudal {\nnamespace {\nconstexpr int kSize = 3;\nstruct Part {\n  int size;\n};\nint Count(int a) { int kLocal = a; return kLocal; }\n}\nint F() { return 0; }\n}\n"
B = "namespace caudal {\nnamespace {\nconstexpr int kOther = 3;\nint Count(double size) { int kLocal = 1; return kLocal; }\n}\nint F() { return 0; }\n}\n"
CLEAN = {
    "src/data/type.h": "namespace caudal {\nclass Type {\n};\n}\n", "src/op/c.cc": "using Json = x::json;\n", "src/op/d.cc": "using Json = x::json;\n",
    "src/op/CMakeLists.txt": "", "src/op/a.cc": A, "src/op/b.cc": B, "src/sql/CMakeLists.txt": "", "src/sql/a.cc": A, "src/op/a_test.cc": A,
    "src/op/b_test.cc": B.replace("kOther", "kAnother").replace("double size", "double size, Limits limits = {}"), "src/op/c_test.cc":
    "namespace caudal {\nnamespace {\nint Read(int at, Limits limits = {}) { return at; }\n}\n}\n"}
FAULTS = [
    ("constant", {"src/op/b.cc": B.replace("kOther", "kSize")}, "src/op/b.cc:3: local name 'kSize'"),
    ("type", {"src/op/b.cc": B.replace("constexpr int kOther = 3;", "class Part {};")}, "'Part'"),
    ("function", {"src/op/b.cc": B.replace("double size", "int b")}, "'Count(int)'"),
    ("alias", {"src/op/a.cc": "namespace caudal {\nusing Type = int;\n}\n", "src/op/b.cc": "namespace caudal {\nusing Type = long;\n}\n"}, "'Type'"),
    ("alias that hides", {"src/op/a.cc": "namespace caudal {\nnamespace {\nusing Type = Spec::Type;\n}\n}\n"}, "'Type' hides"),
    ("tests of one folder", {"src/op/b_test.cc": B.replace("kOther", "kSize")}, "src/op/b_test.cc:3: local name 'kSize' also stands in src/op/a_test.cc"),
    ("sub-folder of one library", {"src/op/row/c.cc": A}, "src/op/row/c.cc:3: local name 'kSize'"),
]

if __name__ == "__main__":
    gate.main(find_problems, CLEAN, FAULTS)
