"""NeoBank from files to Parquet and SQLite: examples/neobank/pipeline.yaml over a folder of finished files.

The one change: the folder is not watched, so the job ends by itself with its last commit and no wait is timed.
"""
import json
import os
import shutil
import subprocess
import sys
import time

from job import ROOT, Job, Watch, cpu_of

WATCHED = "  'source.monitor-interval' = '100 ms',\n"


class NeobankJob(Job):
    pipeline = "neobank"

    def about(self):
        args = self.args
        return f"seed {args.seed}, {args.accounts:,} accounts, {args.event_time_rate} events per second of event time"

    def prepare(self):
        args = self.args
        parameters = ["--events", str(args.events), "--accounts", str(args.accounts), "--event-time-rate",
                      str(args.event_time_rate), "--seed", str(args.seed), "--out", "neobank-data/in",
                      "--expected", "expected.json", "--expected-tables", "expected"]
        stamp = self.folder / "parameters.json"
        if args.keep and stamp.exists() and json.loads(stamp.read_text()) == parameters:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "neobank-data/in").mkdir(parents=True)
        subprocess.run([args.caudal, "generate", "neobank", *parameters], stdout=subprocess.DEVNULL, check=True, cwd=self.folder)
        stamp.write_text(json.dumps(parameters))

    def write_pipeline(self, watched):
        """The example, in the bench's folder; without its monitor interval the folder is read once."""
        tables = (ROOT / "examples/neobank/tables.sql").read_text()
        if WATCHED not in tables:
            sys.exit("bench: examples/neobank/tables.sql has no monitor interval any more")
        (self.folder / "tables.sql").write_text(tables if watched else tables.replace(WATCHED, ""))
        for name in ("features.sql", "views.sql", "pipeline.sql", "pipeline.yaml"):
            shutil.copy(ROOT / "examples/neobank" / name, self.folder)

    def clear(self, watched=False):
        self.remove("state", "neobank-data/silver", "neobank-data/dead_letters")
        for path in (self.folder / "neobank-data").glob("features.db*"):
            path.unlink()
        self.write_pipeline(watched)

    def verify(self):
        out = sys.stderr if self.args.json else sys.stdout
        out.flush()
        return subprocess.run([sys.executable, str(ROOT / "tools/neobank_check.py"), "--caudal", self.args.caudal, "--data",
                               "neobank-data", "--state", "state", "--expected", "expected.json", "--tables", "expected"],
                              cwd=self.folder, stdout=out).returncode == 0

    def extras(self):
        return {**self.small_sql(), **self.idle()}

    def small_sql(self):
        """A statement on 100 rows: the best of ten runs."""
        lines = next(iter(sorted((self.folder / "neobank-data/in").iterdir()))).read_bytes().splitlines()[:100]
        (self.folder / "hundred.ndjson").write_bytes(b"\n".join(line for line in lines if line.startswith(b"{")) + b"\n")
        best = (1e9, 0)
        for _ in range(10):
            began = time.monotonic()
            run = subprocess.Popen([self.args.caudal, "sql", "SELECT COUNT(*) FROM `hundred.ndjson`"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL)
            usage = os.wait4(run.pid, 0)[2]
            best = min(best, ((time.monotonic() - began) * 1000, usage.ru_maxrss / 1024))
        return {"sql_100_rows_ms": best[0], "sql_100_rows_rss_mb": best[1]}

    def idle(self):
        """CPU of a watching pipeline that has nothing to do, over 10 s, supervisor included."""
        inputs, aside = self.folder / "neobank-data/in", self.folder / "neobank-data/aside"
        inputs.rename(aside)
        inputs.mkdir()
        try:
            first = sorted(aside.iterdir())[0]
            shutil.copy(first, inputs / first.name)
            self.clear(watched=True)
            run = self.start()
            time.sleep(22)  # its windows have fired and two commits have passed
            processes = [run.pid, Watch().engine_of(run.pid)]
            began = [cpu_of(process) for process in processes]
            time.sleep(10)
            used = sum(cpu_of(process) for process in processes) - sum(began)
            run.terminate()
            run.wait()
        finally:
            shutil.rmtree(inputs)
            aside.rename(inputs)
        return {"idle_cpu_percent": used * 100 / 10}
