#!/usr/bin/env python3
"""Prints the line coverage of each fuzzed parser by its corpus, from the coverage preset's gcov data.

fuzz/coverage.txt names the files of each parser, one line a target: NAME: glob glob ...
Ends non-zero when a target is below 80 %.
"""
import fnmatch
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/coverage"
LEAST = 80.0


def counts():
    """{file below the root: {line: times executed}} over all object files."""
    lines = {}
    data = [str(path) for path in BUILD.rglob("*.gcda")]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gcov", "--json-format", *data], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in pathlib.Path(folder).glob("*.gcov.json.gz"):
            for entry in json.loads(gzip.open(path).read())["files"]:
                name = pathlib.Path(entry["file"])
                name = (name if name.is_absolute() else BUILD / name).resolve()
                if not name.is_relative_to(ROOT):
                    continue
                seen = lines.setdefault(name.relative_to(ROOT).as_posix(), {})
                for line in entry["lines"]:
                    number = line["line_number"]
                    seen[number] = max(seen.get(number, 0), line["count"])
    return lines


def main():
    lines, low = counts(), []
    for entry in (ROOT / "fuzz/coverage.txt").read_text().splitlines():
        if not entry or entry.startswith("#"):
            continue
        target, globs = entry.split(":")
        total = reached = 0
        for name, seen in sorted(lines.items()):
            if not any(fnmatch.fnmatch(name, glob) for glob in globs.split()):
                continue
            hit = sum(1 for times in seen.values() if times > 0)
            total, reached = total + len(seen), reached + hit
            print(f"  {name:40} {hit:5} of {len(seen):5} lines {100 * hit / max(1, len(seen)):6.1f} %")
        percent = 100 * reached / max(1, total)
        print(f"coverage: {target}: {percent:.1f} % of {total} lines")
        if percent < LEAST:
            low.append(target)
    if low:
        sys.exit(f"coverage: below {LEAST:.0f} %: {', '.join(low)}")


if __name__ == "__main__":
    main()
