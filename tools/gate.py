"""What the gates of `make check` share: the command line, the file walk and the self-test.

A gate is a function from a source tree to a list of problems, each one line "file:line: what is wrong (rule)".
Its self-test builds small trees with one planted fault each and fails unless the gate names every one of them:
a gate that cannot fail proves nothing.
"""
import pathlib
import re
import sys
import tempfile

CODE = {".h", ".cc"}
SKIPPED = {"build", ".git", ".deps", ".cache"}


def files(root, top="", suffixes=None):
    """All files below root/top in a stable order, build output left out."""
    start = root / top
    found = []
    for path in sorted(start.rglob("*")) if start.is_dir() else []:
        relative = path.relative_to(root)
        if relative.parts[0] in SKIPPED or "__pycache__" in relative.parts or not path.is_file():
            continue
        if suffixes is None or path.suffix in suffixes:
            found.append(relative)
    return found


_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<delimiter>[^()\\\s]*)\(.*?\)(?P=delimiter)"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.DOTALL,
)


def blank(text, comments=True, strings=True):
    """The text with comments and literals replaced by spaces; every line keeps its number and length."""

    def replace(match):
        token = match.group(0)
        is_comment = token.startswith(("//", "/*"))
        if is_comment and not comments or not is_comment and not strings:
            return token
        spaces = re.sub(r"[^\n]", " ", token)
        return spaces if is_comment else token[0] + spaces[1:-1] + token[-1]

    return _TOKEN.sub(replace, text)


def _plant(root, tree):
    for name, text in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _self_test(find_problems, clean, faults):
    failures = 0
    for name, tree, expected in [("clean tree", {}, None)] + faults:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            _plant(root, {**clean, **tree})
            problems = find_problems(root)
        caught = not problems if expected is None else any(expected in problem for problem in problems)
        if not caught:
            failures += 1
            print(f"NOT caught: {name}: expected {expected!r}, got {problems}")
    print(f"{len(faults) + 1 - failures} passed, {failures} failed")
    return 1 if failures else 0


def main(find_problems, clean, faults):
    """Runs the gate on the repository, or its self-test with --self-test.

    clean: {path: text} of a tree without a problem; faults: [(name, {path: text}, expected part of a problem)].
    """
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(_self_test(find_problems, clean, faults))
    if sys.argv[1:]:
        sys.exit(f"usage: {sys.argv[0]} [--self-test]")
    problems = find_problems(pathlib.Path(__file__).resolve().parent.parent)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
