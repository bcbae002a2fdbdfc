#!/usr/bin/env python3
"""examples/clickstream: bronze, silver and gold against a reckoning of their own, undisturbed,
killed in the middle of each layer, and made anew from bronze.

  test/cli/clickstream.py build/release/caudal [-k PATTERN]
"""
import base64
import collections
import datetime
import json
import subprocess
import sys

from cli_case import ROOT, CliCase, main

CLICKSTREAM = ROOT / "examples/clickstream"
CATALOG = "CREATE CATALOG main WITH ('type' = 'iceberg', 'warehouse' = 'clickstream-data/lake');\n"
LAYERS = {"bronze": "web_events", "silver": "web_events", "gold": "sessions_5m"}
WATERMARK_DELAY = GAP = datetime.timedelta(minutes=5)
FUTURE = datetime.datetime(2100, 1, 1)  # between the clicks' true times and those of a wrong clock
IDLE = "5 s"  # several commits long, also where the machine is busy: each layer waits for those of the one before it


class Reckoning:
    """What must come of the clicks in a folder, and what becomes of each."""

    def __init__(self, folder):
        self.records = {}  # (file, offset) -> bytes
        self.silver = {}   # event_id -> (user_id, page, time, file, offset)
        self.fates = collections.Counter()
        self.clock = datetime.datetime.min
        for path in sorted(folder.glob("*.ndjson")):
            offset = 0
            for line in path.read_bytes().split(b"\n")[:-1]:
                self.records[(path.name, offset)] = line
                self.fates[self.fate_of(line, path.name, offset)] += 1
                offset += len(line) + 1

    def fate_of(self, line, name, offset):
        try:
            row = json.loads(line)
        except ValueError:
            return "filtered{is_json}"
        try:
            time = datetime.datetime.strptime(row["event_ts"], "%Y-%m-%d %H:%M:%S.%f")
        except ValueError:
            time = None
        before = self.clock
        if time is not None and time < FUTURE:
            self.clock = max(before, time - WATERMARK_DELAY)  # also by a row that is no good otherwise
        if not row.get("event_id"):
            return "filtered{has_event_id}"
        if not row.get("user_id"):
            return "filtered{has_user_id}"
        if time is None:
            return "filtered{has_time}"
        if time >= FUTURE:
            return "filtered{not_of_the_future}"
        if time <= before:
            return "late"
        if row["event_id"] in self.silver:
            return "duplicate"
        self.silver[row["event_id"]] = (row["user_id"], row["page"], time, name, offset)
        return "published"

    def sessions(self):
        """(user, start, end) -> (clicks, pages)"""
        of_user = collections.defaultdict(list)
        for user, page, time, _, _ in self.silver.values():
            of_user[user].append((time, page))
        found = {}
        for user, clicks in of_user.items():
            clicks.sort()
            session = []
            for time, page in clicks + [(datetime.datetime.max, None)]:
                if session and time > session[-1][0] + GAP:
                    found[(user, session[0][0], session[-1][0] + GAP)] = (len(session), len({each for _, each in session}))
                    session = []
                session.append((time, page))
        return found


class Clickstream(CliCase):
    def generate(self, out="clickstream-data/in"):
        subprocess.run([sys.executable, CLICKSTREAM / "clicks.py", "--out", out], cwd=self.folder, check=True, capture_output=True)

    def run_options(self):
        return ("run", CLICKSTREAM / "clickstream.yaml", "--state", "state", "--set", "execution.checkpointing.interval=200 ms")

    def table(self, layer, columns):
        rows = self.rows("sql", CATALOG + f"SELECT {columns} FROM main.{layer}.{LAYERS[layer]}")
        return [row for row in rows if "message" not in row]

    def bronze(self):
        """Its rows by way of JSON files, where bytes that are no text are Base64."""
        self.caudal("sql", CATALOG + "CREATE TABLE dump (`raw` BYTES, source_name STRING, source_offset BIGINT, ingested_at TIMESTAMP_LTZ(3))"
                    " WITH ('connector' = 'filesystem', 'path' = 'dump', 'format' = 'json');"
                    "INSERT INTO dump SELECT `raw`, source_name, source_offset, ingested_at FROM main.bronze.web_events")
        return [json.loads(line) for path in (self.folder / "dump").glob("part-*") for line in path.read_text().splitlines()]

    def check_layers(self):
        """All three tables, row by row."""
        moment = datetime.datetime.fromisoformat
        expected = Reckoning(self.folder / "clickstream-data/in")
        for fate in ("late", "duplicate", "filtered{is_json}", "filtered{has_event_id}", "filtered{has_user_id}", "filtered{has_time}",
                     "filtered{not_of_the_future}"):
            self.assertGreater(expected.fates[fate], 0, fate)

        bronze = self.bronze()
        self.assertEqual(len(bronze), len(expected.records))
        self.assertEqual({(row["source_name"], row["source_offset"]): base64.b64decode(row["raw"]) for row in bronze}, expected.records)
        self.assertTrue(all(row["ingested_at"] for row in bronze))

        silver = self.table("silver", "*")
        self.assertEqual(len(silver), len(expected.silver))
        self.assertEqual({row["event_id"]: (row["user_id"], row["page"], moment(row["event_ts"]), row["source_name"], row["source_offset"])
                          for row in silver}, expected.silver)
        for row in silver:
            self.assertEqual(row["event_date"], row["event_ts"][:10])
        self.assertEqual({row["pipeline_version"] for row in silver}, {"2026.03.01"})

        gold = self.table("gold", "*")
        sessions = expected.sessions()
        self.assertEqual(len(gold), len(sessions))
        self.assertEqual({(row["user_id"], moment(row["session_start"]), moment(row["session_end"])): (row["clicks"], row["pages"])
                          for row in gold}, sessions)
        self.assertGreater(max(clicks for clicks, _ in sessions.values()), 2)
        return expected

    def test_the_layers_and_what_becomes_of_each_click(self):
        self.generate()
        self.caudal(*self.run_options(), "--until-idle", IDLE, "--drain", timeout=120)
        expected = self.check_layers()
        counted = collections.defaultdict(collections.Counter)
        for row in self.rows("ops", "query", "SELECT query_id, fate, name, SUM(`rows`) AS n FROM ops.fates GROUP BY query_id, fate, name",
                             "--state", "state"):
            fate = f"filtered{{{row['name']}}}" if row["fate"] == "filtered" else row["fate"]
            counted[row["query_id"].split("/")[-1]][fate] += row["n"]
        self.assertEqual(counted["bronze"], {"published": len(expected.records)})
        self.assertEqual(counted["silver"], expected.fates)
        self.assertEqual(counted["gold"], {"absorbed": len(expected.silver)})
        again = self.rows("ops", "query", "SELECT SUM(`rows`) AS n FROM ops.fates WHERE name = 'unique'", "--state", "state")
        self.assertGreater(again[0]["n"], 0)  # what the query had forgotten, the table had not

    def test_killed_in_the_middle_of_each_layer(self):
        self.generate("made")
        files = sorted((self.folder / "made").glob("*.ndjson"))
        arriving = self.folder / "clickstream-data/in"
        arriving.mkdir(parents=True)
        for layer in [*LAYERS, *LAYERS]:
            data = self.folder / f"clickstream-data/lake/{layer}/{LAYERS[layer]}/data"
            before = set(data.rglob("*.parquet"))
            path = files.pop(0)
            path.rename(arriving / path.name)
            process = self.start(*self.run_options())
            # A data file is there before the epoch commits that it belongs to.
            self.wait_for(lambda: set(data.rglob("*.parquet")) - before or process.poll() is not None, f"a file of {layer}", 60)
            self.assertIsNone(process.poll(), process.stderr.read() if process.poll() is not None else "")
            process.kill()
            process.wait()
        for path in files:
            path.rename(arriving / path.name)
        self.caudal(*self.run_options(), "--until-idle", IDLE, "--drain", timeout=120)
        self.check_layers()
        self.caudal("table", "check", CLICKSTREAM / "clickstream.yaml")

    def test_the_layers_above_are_made_anew_from_bronze(self):
        self.generate()
        self.caudal(*self.run_options(), "--until-idle", IDLE, "--drain", timeout=120)
        by_name = lambda rows: sorted(json.dumps(row) for row in rows)
        live = [by_name(self.table(layer, "*")) for layer in ("silver", "gold")]
        self.caudal("sql", CATALOG + "ALTER TABLE main.silver.web_events RENAME TO former; ALTER TABLE main.gold.sessions_5m RENAME TO former")
        files = ", ".join(str(CLICKSTREAM / name) for name in ("lake.sql", "silver.sql", "gold.sql"))
        self.write("rebuild.yaml", f"pipeline: rebuild\nowner: me\nsql: [{files}]\nwatermark: {{delay: 5 min, why: as in the example}}\n")
        self.caudal("run", "rebuild.yaml", "--state", "state-rebuild", "--until-idle", IDLE, "--drain", "--set",
                    "execution.checkpointing.interval=200 ms", timeout=120)
        self.assertEqual([by_name(self.table(layer, "*")) for layer in ("silver", "gold")], live)
        self.check_layers()


if __name__ == "__main__":
    main()
