#!/usr/bin/env python3
"""Gate: each header compiles alone, so that any file may include it first.

A header is compiled again only when it, or one of our headers that it includes, has changed: the cache in
build/gates/headers.json holds a hash of all of them for each header that passed. No cache is needed for the result.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess

import gate

COMPILER = os.environ.get("CXX", "g++")
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-missing-field-initializers", "-fsyntax-only", "-Isrc", "-x", "c++", "-"]
CACHE = "build/gates/headers.json"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include\s+"([^"]+)"', re.MULTILINE)


def closure(root, name, texts):
    """The names below src/ that `name` includes, itself among them."""
    seen, todo = set(), [name]
    while todo:
        current = todo.pop()
        if current in seen or not (root / "src" / current).is_file():
            continue
        seen.add(current)
        if current not in texts:
            texts[current] = (root / "src" / current).read_text()
        todo.extend(INCLUDE.findall(texts[current]))
    return seen


def fingerprint(root, name, texts):
    digest = hashlib.sha256(" ".join([COMPILER, *FLAGS]).encode())
    for included in sorted(closure(root, name, texts)):
        digest.update(f"{included}\n{texts[included]}".encode())
    return digest.hexdigest()


def compile_alone(root, name):
    """None, or the compiler's first complaint."""
    done = subprocess.run([COMPILER, *FLAGS], cwd=root, input=f'#include "{name}"\n', capture_output=True, text=True)
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
    return f"src/{name}:1: does not compile alone: {errors[0].strip()}"


def find_problems(root):
    cache_file = root / CACHE
    try:
        cache = json.loads(cache_file.read_text())
    except (OSError, ValueError):
        cache = {}
    headers = [path.relative_to("src").as_posix() for path in gate.files(root, "src", {".h"})]
    texts = {}
    marks = {name: fingerprint(root, name, texts) for name in headers}
    stale = [name for name in headers if cache.get(name) != marks[name]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = dict(zip(stale, pool.map(lambda name: compile_alone(root, name), stale)))
    passed = {name: marks[name] for name in headers if answers.get(name) is None}
    cache_file.parent.mkdir(parents=True, exist_ok=True)
    cache_file.write_text(json.dumps(passed, indent=0))
    return [answer for answer in answers.values() if answer]


CLEAN = {
    "src/base/a.h": "#pragma once\n#include <string>\nstd::string A();\n",
    "src/base/b.h": '#pragma once\n#include "base/a.h"\ninline auto B() { return A(); }\n',
}
FAULTS = [
    ("missing include", {"src/base/a.h": "#pragma once\nstd::string A();\n"}, "src/base/a.h:1: does not compile alone"),
    ("fault in an included header", {"src/base/a.h": "#pragma once\nint A(;\n"}, "src/base/b.h:1: does not compile alone"),
    ("warning", {"src/base/a.h": CLEAN["src/base/a.h"] + "inline bool C(int x, unsigned y) { return x < y; }\n"}, "different signedness"),
]

if __name__ == "__main__":
    gate.main(find_problems, CLEAN, FAULTS)
