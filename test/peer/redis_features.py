"""What the tests of Redis share: the second form of the NeoBank pipeline, killed and restarted, and its features as they must be."""
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/cli")]

import neobank  # noqa: E402  (its folder is only known now)

FEATURES = "neobank-two-queries/features_latest"


class Pipeline(neobank.Pipeline):
    file = ROOT / "examples/neobank/two-queries.yaml"

    def command(self, *extra):
        return [self.caudal, "run", str(self.file), *self.words, "--state", "state", "--set",
                f"execution.checkpointing.interval={int(self.interval * 1000)} ms", "--set",
                "execution.checkpointing.min-pause=50 ms", *extra]

    def start(self, stderr, faults=""):
        return subprocess.Popen(self.command(), cwd=self.folder, env=dict(self.environment, CAUDAL_FAULT=faults),
                                stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=True)

    def commits(self):
        """Of the query that writes the features."""
        return [event for event in self.log.of("commit") if FEATURES.endswith(event.get("query", "-"))]


def kill_run(process):
    """With its supervisor: nobody is left to start anything again."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_until(what, condition, seconds=90):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"{what} did not happen within {seconds} s")
        time.sleep(0.01)


def expected_hashes(folder):
    """All but the approximate count, which comes second: what it is of."""
    hashes, exact = {}, {}
    with open(folder / "expected/features_latest.tsv") as lines:
        names = next(lines).split()
        for line in lines:
            row = dict(zip(names, line.rstrip("\n").split("\t")))
            key = f"account:{row['account_id']}"
            exact[key] = int(row["distinct_merchants_1h"])
            hashes[key] = {name: row[name] for name in ("account_id", "window_start", "window_end", "txn_count_1h", "avg_amount_1h")}
    return hashes, exact


def check_hashes(check, hashes, folder):
    """Against the generator's expectation."""
    expected, exact = expected_hashes(folder)
    check.equal("accounts", len(hashes), len(expected))
    without = {key: {name: value for name, value in fields.items() if name != "distinct_merchants_1h"} for key, fields in hashes.items()}
    differ = sorted(key for key in expected.keys() | without.keys() if expected.get(key) != without.get(key))
    check.equal("hashes that differ from the expectation", differ[:3], [])
    far = [key for key, fields in hashes.items() if abs(int(fields["distinct_merchants_1h"]) - exact.get(key, 0)) > 1 + exact.get(key, 0) // 10]
    check.equal("approximate counts far from the exact ones", far[:3], [])
