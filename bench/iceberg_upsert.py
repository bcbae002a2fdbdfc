#!/usr/bin/env python3
"""Time upserts into an Iceberg table: a table of KEYS keys, then as many rows of which a share is of keys that are there.

  bench/iceberg_upsert.py build/release/caudal [--keys 10000000] [--churn 0.1] [--folder DIR]

Prints rows a second and the peak of memory, for the load, the upsert, and a few rows once the index is there.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import time

from job import Watch

TABLE = """
CREATE TABLE target (id BIGINT NOT NULL, amount INT, note STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'iceberg', 'catalog-name' = 'lake', 'warehouse' = 'lake', 'format-version' = '3');
"""
# The ids from `first` on.
JOB = """SET 'pipeline.name' = '{name}';
SET 'execution.checkpointing.interval' = '10 s';
{table}
CREATE TABLE arriving (id BIGINT, amount INT)
WITH ('connector' = 'datagen', 'number-of-rows' = '{rows}', 'rows-per-second' = '100000000',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '{first}', 'fields.id.end' = '{last}');
INSERT INTO target SELECT id, amount, 'a note of some length' FROM arriving;
"""


def run(caudal, folder, name, first, rows):
    (folder / f"{name}.sql").write_text(JOB.format(name="upserts", table=TABLE, rows=rows, first=first, last=first + rows - 1))
    started = time.monotonic()
    process = subprocess.Popen([caudal, "run", f"{name}.sql", "--state", name], cwd=folder, stdout=subprocess.PIPE, text=True)
    watch = Watch()
    while process.poll() is None:
        engine = watch.engine_of(process.pid)
        try:
            watch.sample(engine or process.pid)
        except OSError:
            pass  # it has just ended
        time.sleep(0.1)
    seconds = time.monotonic() - started
    said = process.stdout.read()
    if process.returncode != 0 or not re.search(rf"{rows} rows read", said):
        raise SystemExit(f"{name} ended with {process.returncode}: {said}")
    cpu = sum(watch.by_name().values())
    print(f"{name}: {rows} rows in {seconds:.1f} s, {rows / seconds:,.0f} rows/s, {cpu:.1f} s of CPU, peak {watch.peak_kb // 1024} MB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("caudal", type=pathlib.Path)
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--churn", type=float, default=0.1)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/bench/upsert"))
    options = parser.parse_args()
    caudal, folder = options.caudal.resolve(), options.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run(caudal, folder, "load", 0, options.keys)
    # A state of its own: the index is made of the table first.
    run(caudal, folder, "upsert", int(options.keys * (1 - options.churn)), options.keys)
    count = subprocess.run([caudal, "sql", "--json", TABLE + "SELECT COUNT(*) AS n FROM target;"], cwd=folder, capture_output=True, text=True, check=True)
    wanted = options.keys + int(options.keys * (1 - options.churn))
    if f'"n":{wanted}' not in count.stdout.replace(" ", ""):
        raise SystemExit(f"{wanted} rows are wanted: {count.stdout}")


if __name__ == "__main__":
    main()
