"""What the tests of kills and outages share: the NeoBank pipeline on a paced feed, its log, its expected result."""
import atexit
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PIPELINE = ROOT / "examples/neobank/pipeline.yaml"


class Feed:
    """Generated files that wait outside and appear in the watched folder by rename, `pace` files a second."""

    def __init__(self, caudal, folder, watched, events, file_events, seed, pace):
        self.watched, self.pace, self.staged = watched, pace, folder / "staged"
        watched.mkdir(parents=True, exist_ok=True)
        subprocess.run([caudal, "generate", "neobank", "--events", str(events), "--file-events", str(file_events), "--seed", str(seed),
                        "--late", "2%", "--duplicates", "3%", "--accounts", "200", "--event-time-rate", "20", "--out", "staged",
                        "--expected", "expected.json", "--expected-tables", "expected"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        self.waiting = sorted(self.staged.iterdir())
        self.all, self.share = len(self.waiting), 1
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.feed, daemon=True)

    def start(self):
        self.thread.start()

    def feed(self):
        while self.waiting and not self.stopping.wait(1 / self.pace):
            if self.all - len(self.waiting) < self.share * self.all:
                self.give()

    def keep_pace(self, share):
        """No more than this share of all files may have appeared for now."""
        self.share = share

    def give(self):
        file = self.waiting.pop(0)
        os.utime(file)  # it arrives now
        file.rename(self.watched / file.name)

    def finish(self):
        """The rest at once. False if nothing was left: then the input had ended before."""
        self.stopping.set()
        self.thread.join()
        live = bool(self.waiting)
        while self.waiting:
            self.give()
        return live


class Log:
    """Events of <state>/caudal.log, as far as it has been read."""

    def __init__(self, path):
        self.path, self.events, self.offset = path, [], 0

    def read(self):
        if self.path.exists():
            with open(self.path, "rb") as stream:
                stream.seek(self.offset)
                text = stream.read()
            end = text.rfind(b"\n") + 1
            self.offset += end
            for line in text[:end].decode(errors="replace").splitlines():
                pairs = re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)', line)
                self.events.append({key: value.strip('"') for key, value in pairs})
        return [event for event in self.events if "event" in event]

    def of(self, kind):
        return [event for event in self.read() if event["event"] == kind]


class Pipeline:
    """`words` and `environment` of each run, such as a profile; `source` tells the check where input and output are; `path`: of its file."""

    def __init__(self, caudal, folder, interval, words=(), environment=None, source=(), path=PIPELINE):
        self.caudal, self.folder, self.interval = caudal, folder, interval
        self.words, self.environment, self.source, self.path = words, {**os.environ, **(environment or {})}, source, path
        self.log = Log(folder / "state/caudal.log")

    def command(self, *extra):
        return [self.caudal, "run", str(self.path), *self.words, "--state", "state", "--set",
                f"execution.checkpointing.interval={int(self.interval * 1000)} ms", "--set",
                "execution.checkpointing.min-pause=50 ms", "--set", "table.exec.emit.early-fire.delay=500 ms", *extra]

    def start(self, stderr, faults=""):
        process = subprocess.Popen(self.command(), cwd=self.folder, env=dict(self.environment, CAUDAL_FAULT=faults),
                                   stdout=subprocess.DEVNULL, stderr=stderr)
        atexit.register(process.kill)  # of a process that has ended it does nothing
        return process

    def wait_for_commit(self, process, seconds=60):
        """One that begins and ends from now on, by a process that lives."""
        seen, ends = len(self.log.of("commit")), len(self.log.of("child_end"))
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and process.poll() is None:
            starts, commits = self.log.of("child_start"), self.log.of("commit")
            if len(starts) > ends and len(commits) > seen and commits[-1]["pid"] == starts[-1]["child"]:
                return True
            time.sleep(0.02)
        return False

    def stop(self, process):
        """A last checkpoint: the run ends with 0, and the next one goes on exactly there."""
        if not self.wait_for_commit(process):
            sys.exit("no commit came any more")
        subprocess.run([self.caudal, "stop", "--state", "state"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        if process.wait(timeout=60) != 0:
            sys.exit(f"the stopped run's code is {process.returncode}")

    def run_to_end(self, idle="1 s"):
        subprocess.run(self.command("--until-idle", idle, "--drain"), cwd=self.folder, env=self.environment, check=True,
                       stdout=subprocess.DEVNULL)

    def result_is_exact(self):
        """Compares with the generator's own expectation, and prints it."""
        return subprocess.run([sys.executable, str(ROOT / "tools/neobank_check.py"), "--caudal", self.caudal, "--data",
                               "neobank-data", "--state", "state", "--expected", "expected.json", "--tables", "expected", *self.source],
                              cwd=self.folder).returncode == 0

    def leftovers(self):
        """Files that nothing refers to and nobody will ever finish."""
        found = [path for path in (self.folder / "neobank-data").rglob(".*") if path.is_file() and path.suffix != ".committed"]
        for query in (self.folder / "state").glob("*/*/identity"):
            found += [path for path in query.parent.rglob(".*") if path.is_file()]
            found += [path for path in query.parent.glob("sinks/*/*") if path.is_file()]
            manifests = b"".join(path.read_bytes() for path in query.parent.glob("manifest-*"))
            found += [path for path in query.parent.glob("segment-*") if path.name.encode() not in manifests]
        verify = subprocess.run([self.caudal, "checkpoint", "verify", "--state", "state", "--json"], cwd=self.folder,
                                stdout=subprocess.PIPE, text=True)
        if verify.returncode != 0:
            found.append(f"checkpoint verify: {verify.stdout}")
        return found


def fates(expected):
    return json.loads(expected.read_text())["fates"]
