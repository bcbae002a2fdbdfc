#!/usr/bin/env python3
"""Gate: every C++ file is as clang-format 14 leaves it with the repository's .clang-format."""
import shutil
import subprocess

import gate

# Another version formats differently: CI and Debian 12 have 14.
CLANG_FORMAT = shutil.which("clang-format-14") or shutil.which("clang-format")


def find_problems(root):
    if CLANG_FORMAT is None:
        return ["tools:1: no clang-format here (tools/setup check installs it)"]
    sources = [path.as_posix() for top in ("src", "test", "bench", "fuzz") for path in gate.files(root, top, gate.CODE)]
    if not sources:
        return []
    done = subprocess.run([CLANG_FORMAT, "--dry-run", "-Werror", *sources], cwd=root, capture_output=True, text=True)
    if done.returncode == 0:
        return []
    first = {}
    for line in done.stderr.splitlines():
        if "-Wclang-format-violations" in line:
            name, number = line.split(":")[:2]
            first.setdefault(name, f"{name}:{number}: not formatted (clang-format -i {name})")
    return list(first.values()) or [f"tools:1: {done.stderr.strip()}"]


STYLE = (gate.pathlib.Path(__file__).resolve().parent.parent / ".clang-format").read_text()
CLEAN = {".clang-format": STYLE, "src/base/a.cc": "int a() { return 1; }\n"}
FAULTS = [("spaces", {"src/base/a.cc": "int  a() {return 1;}\n"}, "src/base/a.cc:1: not formatted")]

if __name__ == "__main__":
    gate.main(find_problems, CLEAN, FAULTS)
