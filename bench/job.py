"""A whole job, timed: one run of `caudal run` watched from outside, with what ops.db says of it afterwards."""
import datetime
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(process):
    """Seconds of CPU that a process has used."""
    stat = pathlib.Path(f"/proc/{process}/stat").read_text()
    fields = stat[stat.rindex(")") + 2:].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def stolen():
    """Seconds of CPU that the host kept from this machine."""
    return int(pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[8]) / TICK


class Watch:
    """Samples /proc: CPU of each thread of the engine, peak RSS of the process."""

    def __init__(self):
        self.threads = {}
        self.peak_kb = 0

    def engine_of(self, supervisor):
        try:
            children = pathlib.Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
        except OSError:
            children = []
        return int(children[0]) if children else None

    def sample(self, process):
        for thread in pathlib.Path(f"/proc/{process}/task").iterdir():
            try:
                stat = (thread / "stat").read_text()
            except OSError:
                continue
            name = stat[stat.index("(") + 1:stat.rindex(")")]
            fields = stat[stat.rindex(")") + 2:].split()
            self.threads[thread.name] = (name, (int(fields[11]) + int(fields[12])) / TICK)
        for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                self.peak_kb = max(self.peak_kb, int(line.split()[1]))

    def by_name(self):
        total = {}
        for name, seconds in self.threads.values():
            # SQLite, Arrow and the supervisor's main thread have names of their own or the program's.
            total[name] = total.get(name, 0) + seconds
        return total


class Job:
    """What jobs share. A subclass has `pipeline` (its name), prepare(), clear(), verify() and extras()."""

    def __init__(self, args):
        self.args = args
        self.folder = args.folder.resolve()

    def environment(self):
        return os.environ

    def close(self):
        """Stops what prepare() started."""

    def beside(self):
        """Seconds of CPU of servers that work for the job, by name."""
        return {}

    def caudal(self, *arguments):
        out = subprocess.run([self.args.caudal, *arguments, "--json"], stdout=subprocess.PIPE, check=True, cwd=self.folder,
                             env=self.environment())
        return [json.loads(line) for line in out.stdout.splitlines()]

    def ops(self, statement):
        return self.caudal("ops", "query", statement, "--state", "state")

    def start(self):
        command = [self.args.caudal, "run", "pipeline.yaml", "--state", "state"]
        for setting in [f"execution.checkpointing.interval={self.args.interval}", *self.args.set]:
            command += ["--set", setting]
        with open(self.folder / "report.txt", "w") as report:
            return subprocess.Popen(command, cwd=self.folder, stdout=report, stderr=subprocess.STDOUT, env=self.environment())

    def run(self):
        self.clear()
        watch = Watch()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        servers, stole = self.beside(), stolen()
        began = time.monotonic()
        run = self.start()
        while run.poll() is None:
            engine = watch.engine_of(run.pid)
            if engine is not None:
                try:
                    watch.sample(engine)
                except OSError:
                    pass
            time.sleep(0.05)
        ended = time.monotonic()
        if run.returncode != 0:
            sys.exit(f"bench: the run ended with code {run.returncode}; its log is {self.folder}/state/caudal.log")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        servers = {name: used - servers[name] for name, used in self.beside().items()}
        return {**self.measured(watch, cpu), "process_seconds": ended - began, "stolen_seconds": stolen() - stole,
                "servers_us_per_event": {name: used * 1e6 / self.args.events for name, used in servers.items()}}

    def measured(self, watch, cpu):
        seconds = self.seconds()
        events = self.args.events
        operators = self.ops("SELECT `operator`, rows_in, rows_out, cpu_us, longest_step_us, longest_step_cpu_us, backpressured "
                             "FROM ops.operators")
        epochs = self.ops("SELECT epoch, duration_ms, `rows` FROM ops.epochs ORDER BY epoch")
        segments = sorted(path.stat().st_size for path in (self.folder / "state").glob(f"{self.pipeline}/*/segment-*"))
        return {
            "events_per_second": events / seconds, "seconds": seconds, "cpu_seconds": cpu,
            "cpu_us_per_event": cpu * 1e6 / events, "cores_busy": cpu / seconds,
            "threads_us_per_event": {name: used * 1e6 / events for name, used in sorted(watch.by_name().items())},
            "operators": operators,
            "longest_step_ms": max(row["longest_step_us"] for row in operators) / 1000,
            "longest_step_cpu_ms": max(row["longest_step_cpu_us"] for row in operators) / 1000,
            "peak_rss_mb": watch.peak_kb / 1024,
            "checkpoint_ms": [row["duration_ms"] for row in epochs], "checkpoint_bytes": segments,
        }

    def seconds(self):
        """From the start of the query to its last commit, both as ops.db has them."""
        read = datetime.datetime.fromisoformat
        began = min(row["started_at"] for row in self.ops("SELECT started_at FROM ops.queries"))
        ended = max(row["committed_at"] for row in self.ops("SELECT committed_at FROM ops.epochs"))
        return (read(ended) - read(began)).total_seconds()

    def remove(self, *names):
        for name in names:
            shutil.rmtree(self.folder / name, ignore_errors=True)


def show(result, events):
    print(f"  {result['events_per_second']:>12,.0f}  events/s, first row to last commit ({result['seconds']:.1f} s)")
    print(f"  {result['cpu_us_per_event']:>12.2f}  us of CPU an event; {result['cores_busy']:.2f} cores busy; "
          f"{result['stolen_seconds']:.1f} s stolen by the host")
    for name, used in result["threads_us_per_event"].items():
        print(f"  {used:>12.3f}    thread {name}")
    for name, used in result["servers_us_per_event"].items():
        print(f"  {used:>12.3f}    beside it: {name}")
    print("    CPU us/event   longest step: wall ms, CPU ms     rows out   operator")
    for row in result["operators"]:
        print(f"  {row['cpu_us'] / events:>12.3f}   {row['longest_step_us'] / 1000:>8.1f} {row['longest_step_cpu_us'] / 1000:>8.1f}"
              f"    {row['rows_out']:>11,}   {row['operator']}")
    print(f"  {result['longest_step_cpu_ms']:>12.1f}  ms of CPU in the longest step ({result['longest_step_ms']:.1f} ms by the clock)")
    print(f"  {result['peak_rss_mb']:>12.0f}  MB RSS at most")
    print(f"  {max(result['checkpoint_ms']):>12}  ms in the longest checkpoint, of {len(result['checkpoint_ms'])}")
    print(f"  {max(result['checkpoint_bytes'], default=0):>12,}  bytes in the largest state segment")
    if "sql_100_rows_ms" in result:
        print(f"  {result['sql_100_rows_ms']:>12.1f}  ms for `caudal sql` on 100 rows, {result['sql_100_rows_rss_mb']:.0f} MB RSS")
        print(f"  {result['idle_cpu_percent']:>12.2f}  % of a core while nothing comes")
