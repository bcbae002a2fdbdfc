#!/usr/bin/env python3
"""Dead letters in files: counted, shown, replayed into the folder they came from, discarded; and the share of rows that may be dead.

  test/cli/dead_letters.py build/release/caudal [-k PATTERN]
"""
import base64
import collections
import json
import random
import subprocess
import time

from cli_case import CliCase, main
from object_store import ObjectStore

LETTERS = """CREATE TABLE letters (query STRING, source STRING, file STRING, `offset` BIGINT, `raw` BYTES, error_class STRING, error_message STRING,
  rejected_at TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', 'path' = 'letters', 'format' = 'json');
"""
JOB = LETTERS + """CREATE TABLE events (id INT NOT NULL, amount INT{more}) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json',
  'source.monitor-interval' = '100 ms', 'caudal.errors' = 'dead-letter', 'caudal.dead-letter' = 'letters');
CREATE TABLE kept (id INT, amount INT) WITH ('connector' = 'filesystem', 'path' = 'kept', 'format' = 'json');
INSERT INTO kept SELECT id, amount FROM events;
"""
ROWS = ['{"id": 1, "amount": 2}', '{"id": null, "amount": 3}', "no json", '{"id": 2, "amount": "many"}', '{"id": null, "amount": 5}']


class DeadLetters(CliCase):
    def setUp(self):
        super().setUp()
        self.write("in/part-0001.json", "\n".join(ROWS) + "\n")
        self.write("job.sql", JOB.format(more=""))

    def run_job(self, *words, name="job.sql"):
        return self.rows("run", name, "--state", "state", "--until-idle", "500 ms", *words)[0]["queries"][0]

    def kept(self):
        return sorted(json.loads(line)["amount"] for path in (self.folder / "kept").glob("[!._]*") for line in path.read_text().splitlines())

    def input_lines(self):
        return collections.Counter(line for path in (self.folder / "in").glob("[!._]*") for line in path.read_text().splitlines())

    def test_stats_and_selected_show(self):
        self.run_job()
        stats = self.rows("dlq", "stats", "job.sql")
        self.assertEqual([(row["error_class"], row["topic"], row["rows"], row["open"]) for row in stats],
                         [("contract", "events", 2, 2), ("malformed", "events", 2, 2)])
        self.assertLessEqual(stats[0]["oldest"], stats[0]["newest"])
        by_day = self.rows("dlq", "stats", "job.sql", "--by", "day", "--class", "contract")
        self.assertEqual([row["day"] for row in by_day], [stats[0]["oldest"][:10]])
        offset = len(ROWS[0]) + 1
        shown = self.rows("dlq", "show", "job.sql", "--from-offset", str(offset), "--to-offset", str(offset))
        self.assertEqual([(row["value"], row["state"], row["error_class"]) for row in shown], [(ROWS[1], "open", "contract")])
        self.assertEqual(self.rows("dlq", "stats", "job.sql", "--since", "2999-01-01"), [])

    def test_replay_once_after_the_fix(self):
        self.run_job()
        self.assertEqual(self.kept(), [2])
        dry = self.rows("dlq", "replay", "job.sql", "--class", "contract", "--dry-run")
        self.assertEqual(dry, [{"letters": 2, "would_be_replayed": 2, "replayed_before": 0, "discarded_before": 0}])
        self.assertEqual(len(list((self.folder / "in").iterdir())), 1)
        done = self.rows("dlq", "replay", "job.sql", "--class", "contract")
        self.assertEqual(done, [{"letters": 2, "replayed": 2, "replayed_before": 0, "discarded_before": 0}])
        again = self.caudal("dlq", "replay", "job.sql", "--class", "contract").stdout
        self.assertEqual(again, "2 dead letters: 0 records replayed, 2 had been replayed before\n")
        self.assertEqual({row["error_class"]: (row["open"], row["replayed"]) for row in self.rows("dlq", "stats", "job.sql")},
                         {"contract": (0, 2), "malformed": (2, 0)})
        # The fix: the column may be NULL. The query goes on and reads the replayed records, and nothing else anew.
        self.write("job.sql", (self.folder / "job.sql").read_text().replace("id INT NOT NULL", "id INT"))
        self.assertEqual(self.run_job()["rows_read"], 7)
        self.assertEqual(self.kept(), [2, 3, 5])
        # Later files of the producer are not overtaken by the replay's.
        self.write("in/part-0002.json", '{"id": 9, "amount": 9}\n')
        self.run_job()
        self.assertEqual(self.kept(), [2, 3, 5, 9])

    def test_discard_with_a_reason(self):
        self.run_job()
        self.assertIn("--reason", self.refused("dlq", "discard", "job.sql", "--class", "malformed", code=1))
        done = self.rows("dlq", "discard", "job.sql", "--class", "malformed", "--reason", "test traffic")
        self.assertEqual((done[0]["letters"], done[0]["discarded"]), (2, 2))
        self.assertEqual({row["reason"] for row in self.rows("dlq", "show", "job.sql", "--class", "malformed", "--from-offset", "0")},
                         {"test traffic"})
        everything = self.rows("dlq", "replay", "job.sql", "--all")
        self.assertEqual(everything, [{"letters": 4, "replayed": 2, "replayed_before": 0, "discarded_before": 2}])

    def test_what_is_refused(self):
        self.run_job()
        self.assertIn("which dead letters?", self.refused("dlq", "replay", "job.sql", code=1))
        self.assertIn("--all and a selection", self.refused("dlq", "replay", "job.sql", "--all", "--class", "late", code=1))
        self.assertIn("is no time", self.refused("dlq", "stats", "job.sql", "--since", "yesterday", code=1))
        self.assertIn("is no class", self.refused("dlq", "replay", "job.sql", "--class", "strange", code=1))
        self.write("bare.sql", JOB.format(more="").replace("file STRING, ", "").replace("'path' = 'letters'", "'path' = 'bare'"))
        self.run_job(name="bare.sql")
        self.assertIn("has no column 'file'", self.refused("dlq", "replay", "bare.sql", "--all", code=3))
        self.assertIn("--reason is empty", self.refused("dlq", "discard", "job.sql", "--all", "--reason", " ", code=1))

    def test_a_dry_run_refuses_what_a_replay_refuses(self):
        self.run_job()
        job = (self.folder / "job.sql").read_text()
        self.write("job.sql", job.replace("'path' = 'in'", "'path' = 'in', 'source.path.regex-pattern' = '.*/part-[0-9]*.json'"))
        for how in ([], ["--dry-run"]):
            self.assertIn("as 'source.path.regex-pattern' says", self.refused("dlq", "replay", "job.sql", "--all", *how, code=3))
        self.caudal("dlq", "discard", "job.sql", "--all", "--reason", "nothing is replayed", "--dry-run")

    def test_each_record_once_though_the_replay_is_killed(self):
        bad = [f'{{"id": null, "amount": {n}}}' for n in range(20000)]
        self.write("in/part-0002.json", "\n".join(bad) + "\n")
        self.run_job()
        before = self.input_lines()
        chance = random.Random(3)
        for _ in range(12):
            process = subprocess.Popen([self.caudal_path, "dlq", "replay", "job.sql", "--class", "contract"], cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0.05, 0.6))
            process.kill()
            process.wait()
        self.caudal("dlq", "replay", "job.sql", "--class", "contract")
        self.assertEqual(self.input_lines() - before, collections.Counter(bad + [ROWS[1], ROWS[4]]))


class InStores(CliCase):
    """Letters and source name stores of their own, and the environment another one."""

    def test_letters_are_where_their_table_says(self):
        with ObjectStore() as letters, ObjectStore() as events, ObjectStore() as other:
            options = ", 's3.endpoint' = '{}', 's3.access-key-id' = '${{env:KEY}}', 's3.secret-access-key' = '${{env:KEY}}')"
            job = JOB.format(more="").replace("'path' = 'letters'", "'path' = 's3://b/letters'").replace("'path' = 'in'", "'path' = 's3://b/in'")
            job = job.replace("'format' = 'json');\nCREATE TABLE events", "'format' = 'json'" + options.format(letters.endpoint) + ";\nCREATE TABLE events")
            job = job.replace("'caudal.dead-letter' = 'letters')", "'caudal.dead-letter' = 'letters'" + options.format(events.endpoint))
            self.write("job.sql", job)
            environment = {"AWS_ENDPOINT_URL_S3": other.endpoint, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "KEY": "secret"}
            self.assertIn("no row has been kept aside yet", self.caudal("dlq", "ls", "job.sql", environment=environment).stderr)
            letter = {"query": "job/kept", "source": "events", "file": "s3://b/in/f.json", "offset": 0, "raw": base64.b64encode(b"no json").decode(),
                      "error_class": "malformed", "error_message": "it is none", "rejected_at": "2026-03-01 12:00:00.000Z"}
            letters.objects["b/letters/part-1.json"] = json.dumps(letter).encode() + b"\n"
            self.assertEqual([row["rows"] for row in self.rows("dlq", "ls", "job.sql", environment=environment)], [1])
            replay = ["dlq", "replay", "job.sql", "--class", "malformed"]
            self.assertEqual(self.rows(*replay, environment=environment)[0]["replayed"], 1)
            again = self.rows(*replay, environment=environment)[0]
            self.assertEqual((again["replayed"], again["replayed_before"]), (0, 1))
            self.assertEqual([content for name, content in events.objects.items() if name.startswith("b/in/")], [b"no json\n"])
            self.assertEqual(sum(name.startswith("b/letters/_handled/") for name in letters.objects), 1)
            self.assertEqual(other.objects, {})


class Budget(CliCase):
    def setUp(self):
        super().setUp()
        self.write("job.sql", "SET 'caudal.max-dead-ratio' = '0.1';\nSET 'caudal.dead-ratio-rows' = '100';\n" + JOB.format(more=""))

    run_job = DeadLetters.run_job
    kept = DeadLetters.kept

    def put(self, number, good, bad):
        lines = [f'{{"id": {n}, "amount": {n}}}' for n in range(good)] + [f"broken {n}" for n in range(bad)]
        self.write(f"in/part-{number:04}.json", "\n".join(lines) + "\n")

    def letters(self):
        return [path for path in (self.folder / "letters").glob("[!._]*")] if (self.folder / "letters").exists() else []

    def test_a_flood_stops_the_query_and_the_fix_reads_it_again(self):
        self.put(1, 195, 5)
        self.run_job()
        self.put(2, 50, 150)
        stopped = self.refused("run", "job.sql", "--state", "state", "--until-idle", "500 ms", code=2)
        self.assertIn("150 of the last 200 rows are dead (150 malformed): 75.0 %, and 'caudal.max-dead-ratio' is 0.1", stopped)
        self.assertIn("the first of this epoch, malformed: the record is not JSON", stopped)
        self.assertIn("part-0002.json", stopped)
        self.assertIn("raise 'caudal.max-dead-ratio'", stopped)
        self.assertEqual(len(self.kept()), 195)
        self.assertEqual(sum(row["rows"] for row in self.rows("dlq", "ls", "job.sql")), 5)
        # The same again, as long as nothing has changed: no row is lost, none diverted.
        self.refused("run", "job.sql", "--state", "state", "--until-idle", "500 ms", code=2)
        report = self.run_job("--set", "caudal.max-dead-ratio=1")
        self.assertEqual((report["rows_read"], len(self.kept())), (400, 245))
        self.assertEqual(sum(row["rows"] for row in self.rows("dlq", "ls", "job.sql")), 155)

    def test_a_few_rows_are_not_judged(self):
        self.put(1, 10, 40)
        self.run_job()
        self.assertEqual(len(self.kept()), 10)

    def test_a_long_good_past_does_not_hide_a_flood(self):
        self.put(1, 5000, 0)
        self.run_job()
        self.put(2, 80, 40)
        self.assertIn("40 of the last 120 rows", self.refused("run", "job.sql", "--state", "state", "--until-idle", "500 ms", code=2))

    def test_a_share_that_is_none(self):
        self.put(1, 1, 0)
        self.assertIn("'caudal.max-dead-ratio': '5' is no share of rows",
                      self.refused("run", "job.sql", "--state", "state", "--set", "caudal.max-dead-ratio=5", code=3))


if __name__ == "__main__":
    main()
