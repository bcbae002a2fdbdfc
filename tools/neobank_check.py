#!/usr/bin/env python3
"""Compare what the NeoBank pipeline left behind with what the generator says must be there.

The expectation comes from the generator's own rules (caudal generate --expected, --expected-tables), which share
no code with the engine. Features are read with Python's sqlite3 or from a dump, dead letters with its json or from a dump, silver's lines with
`caudal sql`; digests do not depend on the order of rows. Prints one line a check; exit 0 when all hold, else 4.
"""
import argparse
import base64
import collections
import json
import pathlib
import sqlite3
import subprocess
import sys

SILVER_COLUMNS = ("transaction_id, account_id, merchant_id, amount, currency, CAST(`timestamp` AS TIMESTAMP(3)), channel, country_code, "
                  "status, merchant_category")
DEAD = ("malformed", "contract", "late")  # what the pipeline keeps aside
FILTERS = {"status_completed": "status_completed", "amount_positive": "amount_positive"}


class Check:
    def __init__(self):
        self.failed = 0

    def equal(self, what, got, expected):
        ok = got == expected
        self.failed += not ok
        print(f"  {'ok  ' if ok else 'DIFF'} {what}: {got}" + ("" if ok else f", expected {expected}"), flush=True)


def digest_of(caudal, lines):
    """The digest of the lines that the process or iterable gives."""
    digest = subprocess.Popen([caudal, "digest"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    piece = []
    for line in lines:
        piece.append(line)
        if len(piece) == 10000:
            digest.stdin.write(("\n".join(piece) + "\n").encode())
            piece = []
    if piece:
        digest.stdin.write(("\n".join(piece) + "\n").encode())
    digest.stdin.close()
    out = digest.stdout.read().decode().strip()
    if digest.wait() != 0:
        sys.exit("caudal digest failed")
    return out


def silver_digest(caudal, folder):
    query = subprocess.Popen([caudal, "sql", f"SELECT {SILVER_COLUMNS} FROM `{folder}`"], stdout=subprocess.PIPE)
    digest = subprocess.run([caudal, "digest", "--header"], stdin=query.stdout, stdout=subprocess.PIPE, check=True)
    if query.wait() != 0:
        sys.exit("caudal sql failed on silver")
    return digest.stdout.decode().strip()


def check_silver(check, caudal, data, expected):
    check.equal("silver rows and digest", silver_digest(caudal, data / "silver"), expected["silver"]["digest"])
    hidden = [str(path) for path in [*data.glob("silver/**/.*"), *data.glob("dead_letters/**/.*")] if path.suffix != ".committed"]
    check.equal("half-written files", len(hidden), 0)


def output_lines(dump):
    """Silver's columns of a topic that has them as JSON, out of its dump by Kafka's own client."""
    names = SILVER_COLUMNS.replace("CAST(`timestamp` AS TIMESTAMP(3))", "timestamp").split(", ")
    with open(dump) as lines:
        for line in lines:
            row = json.loads(base64.b64decode(line.split("\t")[3]), parse_float=str, parse_int=str)
            second, _, fraction = row["timestamp"].partition(".")
            row["timestamp"] = f"{second}.{fraction:0<3}"  # JSON leaves zeros at the end out, as in Flink
            yield "\t".join("\\N" if row[name] is None else row[name] for name in names)


def feature_rows(data, dump, table):
    """Account, end of the window, count, average, distinct merchants: of the SQL table, or out of a dump of what serves them."""
    if dump:
        with open(dump) as lines:
            yield from (line.rstrip("\n").split("\t") for line in lines)
    else:
        database = sqlite3.connect(f"file:{data}/features.db?mode=ro", uri=True)
        yield from database.execute(f"SELECT account_id, window_end, txn_count_1h, avg_amount_1h, distinct_merchants_1h FROM {table}")


def check_features(check, caudal, data, dump, expected, tables, table, name):
    check.equal(f"{table} rows and digest", digest_of(caudal, ("\t".join(map(str, row[:4])) for row in feature_rows(data, dump, table))),
                expected["features"][name]["digest"])
    if not tables:
        return
    exact = {}
    with open(tables / ("features_latest.tsv" if name == "latest" else "features.tsv")) as lines:
        next(lines)
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            exact[(cells[0], cells[2])] = int(cells[6])
    wide = off = 0
    for account, end, _, _, merchants in feature_rows(data, dump, table):
        truth = exact.get((account, end), 0)
        error = abs(int(merchants) - truth)
        off += error
        # The standard error is at most 2 %; small sets are rounded to whole numbers.
        wide += error > max(1, 3 * 0.02 * truth)
    total = max(1, sum(exact.values()))
    check.equal(f"{table} approximate merchants beyond three sigma, in 1000", wide * 1000 // max(1, len(exact)) > 3, False)
    print(f"       mean error of distinct merchants {100 * off / total:.3f} %")


def read_dead_letters(data):
    """By query, which keeps its own: how many rows of each class, and which bytes."""
    counts, raws = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for path in sorted(data.glob("dead_letters/**/[!.]*")):
        if not path.is_file():
            continue
        for line in path.read_bytes().splitlines():
            row = json.loads(line)
            counts[row["query"]][row["error_class"]] += 1
            place = (row["file"].rsplit("/", 1)[-1], row["offset"])
            raws[row["query"]][(row["error_class"], place, base64.b64decode(row["raw"] or ""))] += 1
    return counts, raws


def read_dead_letter_topic(path):
    """The same of a dead-letter topic, out of its dump by Kafka's own client."""
    counts, raws = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    with open(path) as lines:
        for line in lines:
            _, _, key, value, headers = line.rstrip("\n").split("\t")
            reason = {}
            for header in headers.split(","):
                name, text = header.split("=", 1)
                reason[name.rsplit("errors.", 1)[-1]] = base64.b64decode(text).decode()
            counts[reason["query_id"]][reason["error_class"]] += 1
            place = (f"{reason['topic']}[{reason['partition']}]", int(reason["offset"]))
            raws[reason["query_id"]][(reason["error_class"], place, base64.b64decode(value))] += 1
    return counts, raws


class FileBytes:
    """The line at an offset of a file of the watched folder."""

    def __init__(self, folder):
        self.folder, self.files = folder, {}

    def at(self, name, offset):
        if name not in self.files:
            self.files = {name: (self.folder / name).read_bytes()}
        return self.files[name][offset:self.files[name].index(b"\n", offset)]


class TopicBytes:
    """The value at an offset of a partition, out of a dump of the topic by Kafka's own client."""

    def __init__(self, path):
        self.values = {}
        with open(path) as lines:
            for line in lines:
                name, offset, _, value, _ = line.rstrip("\n").split("\t")
                self.values[name, int(offset)] = value

    def at(self, name, offset):
        return base64.b64decode(self.values[name, offset])


def expected_raws(source, tables):
    truth = collections.Counter()
    with open(tables / "rejected.tsv") as lines:
        next(lines)
        for line in lines:
            name, offset, fate = line.rstrip("\n").split("\t")
            if fate in DEAD:
                truth[(fate, (name, int(offset)), source.at(name, int(offset)))] += 1
    return truth


def check_dead_letters(check, letters, expected, tables, source):
    counts, raws = letters
    check.equal("dead letters are there", bool(counts), any(expected["fates"][name] for name in DEAD))
    truth = expected_raws(source, tables) if tables else None
    for query in sorted(counts):
        for name in DEAD:
            check.equal(f"{query}: dead letters, {name}", counts[query].get(name, 0), expected["fates"][name])
        if truth is not None:
            differ = (raws[query] - truth) + (truth - raws[query])
            check.equal(f"{query}: dead letters' bytes or places that differ", sum(differ.values()), 0)


def ops(caudal, state, statement):
    out = subprocess.run([caudal, "ops", "query", statement, "--state", state, "--json"], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


def check_counters(check, caudal, state, expected):
    fates = collections.defaultdict(lambda: collections.Counter())
    for row in ops(caudal, state, "SELECT query_id, sink, fate, name, `rows` FROM ops.fates"):
        fates[(row["query_id"], row["sink"])][(row["fate"], row["name"])] += row["rows"]
    check.equal("counted paths are there", bool(fates), True)
    truth = expected["fates"]
    for (query, sink), counts in sorted(fates.items()):
        by_name = {name: counts[("filtered", name)] for name in FILTERS}
        total = sum(counts.values())
        label = f"{query} to {sink}"
        check.equal(f"{label}: rows with a fate", total, expected["events"])
        check.equal(f"{label}: filtered", by_name, truth["filtered"])
        by_fate = collections.Counter()
        for (fate, name), rows in counts.items():
            by_fate[fate if fate != "dead" else name] += rows
        check.equal(f"{label}: malformed, contract, late, duplicate",
                    [by_fate[name] for name in ("malformed", "contract", "late", "duplicate")],
                    [truth[name] for name in ("malformed", "contract", "late", "duplicate")])
        check.equal(f"{label}: published or absorbed", by_fate["published"] + by_fate["absorbed"], truth["published"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--caudal", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder neobank-data")
    parser.add_argument("--state", help="state folder, for the counters")
    parser.add_argument("--expected", required=True, type=pathlib.Path)
    parser.add_argument("--tables", type=pathlib.Path, help="folder of --expected-tables")
    parser.add_argument("--topic", type=pathlib.Path, help="dump of the Kafka topic that was read, in the place of DATA/in")
    parser.add_argument("--dead-letters", type=pathlib.Path, help="dump of the dead-letter topic, in the place of DATA/dead_letters")
    parser.add_argument("--features-dump", type=pathlib.Path, help="lines of the features' values, in the place of DATA/features.db")
    parser.add_argument("--output", type=pathlib.Path, help="dump of a topic that was written with the rows of silver")
    parser.add_argument("--features", choices=("every_window", "latest"), default="every_window")
    arguments = parser.parse_args()
    expected = json.loads(arguments.expected.read_text())
    check = Check()
    check_silver(check, arguments.caudal, arguments.data, expected)
    if arguments.output:
        check.equal("output topic's rows and digest", digest_of(arguments.caudal, output_lines(arguments.output)), expected["silver"]["digest"])
    table = "features" if arguments.features == "every_window" else "features_latest"
    check_features(check, arguments.caudal, arguments.data, arguments.features_dump, expected, arguments.tables, table, arguments.features)
    source = TopicBytes(arguments.topic) if arguments.topic else FileBytes(arguments.data / "in")
    letters = read_dead_letter_topic(arguments.dead_letters) if arguments.dead_letters else read_dead_letters(arguments.data)
    check_dead_letters(check, letters, expected, arguments.tables, source)
    if arguments.state:
        check_counters(check, arguments.caudal, arguments.state, expected)
    sys.exit(4 if check.failed else 0)


if __name__ == "__main__":
    main()
