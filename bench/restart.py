"""What a restart costs: a run is killed in the middle, by SIGKILL, and started anew at once."""
import os
import signal
import subprocess
import sys
import time

from job import Watch, cpu_of


def observed(job):
    """The query as ops.db has it; None where there is none yet."""
    try:
        rows = job.ops("SELECT run_id, rows_read, epochs_committed, state FROM ops.queries")
    except subprocess.CalledProcessError:
        return None
    return rows[0] if rows else None


def wait_for(job, run, true_of):
    """Polls until true_of(query); ends the program when the run ends first."""
    while run.poll() is None:
        query = observed(job)
        if query is not None and true_of(query):
            return query
    sys.exit(f"bench: the run ended, with code {run.returncode}, before it could be killed: take more events")


def wait_until_started(job, run, starts):
    """Polls the log for another start of the query: its state is there and its tasks run. The CPU that it took."""
    while run.poll() is None:
        if (job.folder / "state/caudal.log").read_text().count("event=started") > starts:
            return cpu_of(Watch().engine_of(run.pid))
        time.sleep(0.01)
    sys.exit(f"bench: the run ended, with code {run.returncode}, before the query was there again")


def restart(job):
    """Killed a tenth of all rows behind the first commit. Seconds until new rows flow and until the end."""
    job.clear()
    run = job.start()
    more = job.args.events // 10
    first = wait_for(job, run, lambda query: query["epochs_committed"] > 0)
    killed = wait_for(job, run, lambda query: query["rows_read"] >= first["rows_read"] + more)
    engine = Watch().engine_of(run.pid)
    for process in (run.pid, engine):  # the supervisor first, which would start the engine again itself
        os.kill(process, signal.SIGKILL)
    run.wait()
    committed = sum(row["rows"] for row in job.ops("SELECT `rows` FROM ops.epochs"))
    starts = (job.folder / "state/caudal.log").read_text().count("event=started")
    began = time.monotonic()
    run = job.start()
    cpu = wait_until_started(job, run, starts)
    started = time.monotonic() - began
    flowing = wait_for(job, run, lambda query: query["run_id"] != killed["run_id"] and query["rows_read"] > committed)
    flow = time.monotonic() - began
    if run.wait() != 0:
        sys.exit(f"bench: the run ended with code {run.returncode}; its log is {job.folder}/state/caudal.log")
    return {"killed_at_rows": killed["rows_read"], "committed_rows": committed, "rows_when_seen": flowing["rows_read"],
            "started_seconds": started, "started_cpu_seconds": cpu, "restart_seconds": flow, "to_the_end_seconds": time.monotonic() - began}


def show_restart(result):
    print(f"  {result['started_seconds']:>12.2f}  s from the start after SIGKILL until the query ran, {result['started_cpu_seconds']:.2f} s of CPU")
    print(f"  {result['restart_seconds']:>12.2f}  s until new rows were seen in ops.db, which is told each second "
          f"({result['rows_when_seen'] - result['committed_rows']:,} by then)")
    print(f"  {result['killed_at_rows']:>12,}  rows read when it was killed, {result['committed_rows']:,} of them committed")
    print(f"  {result['to_the_end_seconds']:>12.1f}  s from there to the end of the topic")
