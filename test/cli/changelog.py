#!/usr/bin/env python3
"""A table that one query upserts, read by another as a changelog while engines die and files are compacted: what is made of it is right.

  test/cli/changelog.py build/release/caudal [-k PATTERN]
"""
import collections
import json
import os
import random
import re
import signal
import time

from cli_case import CliCase, main

CATALOG = "CREATE CATALOG lake WITH ('type' = 'iceberg', 'warehouse' = 'lake');\n"
MAKE = CATALOG + """
CREATE DATABASE lake.shop;
CREATE TABLE lake.shop.totals (id BIGINT NOT NULL, kind INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('format-version' = '{version}', 'caudal.partition-by' = 'kind');
CREATE TABLE lake.shop.copied (id BIGINT NOT NULL, kind INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('format-version' = '{version}');
CREATE TABLE lake.shop.kinds (kind INT NOT NULL, keys BIGINT, n BIGINT, PRIMARY KEY (kind) NOT ENFORCED) WITH ('format-version' = '{version}');
"""
# Keys are added, changed, moved to other partitions, and go: whenever their count is a multiple of four.
WRITER = CATALOG + """
SET 'execution.checkpointing.interval' = '150 ms';
CREATE TABLE arriving (id BIGINT, kind INT)
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json', 'source.monitor-interval' = '20 ms');
INSERT INTO lake.shop.totals SELECT id, MAX(kind), COUNT(*) FROM arriving WHERE id IS NOT NULL GROUP BY id HAVING MOD(COUNT(*), 4) <> 0;
"""
HINT = "/*+ OPTIONS('streaming' = 'true', 'streaming-changelog' = 'true', 'monitor-interval' = '50 ms') */"
READER = CATALOG + f"""
SET 'execution.checkpointing.interval' = '200 ms';
INSERT INTO lake.shop.copied SELECT id, kind, n FROM lake.shop.totals {HINT};
INSERT INTO lake.shop.kinds SELECT kind, COUNT(*), SUM(n) FROM lake.shop.totals {HINT} WHERE kind IS NOT NULL GROUP BY kind;
"""
ROWS = 40  # a file


class Changelog(CliCase):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(7)
        self.counts, self.kinds, self.files = collections.Counter(), {}, 0

    def arrive(self):
        rows = [{"id": self.chance.randrange(60), "kind": self.chance.randrange(self.files + 1) % 5} for _ in range(ROWS)]
        for row in rows:
            self.counts[row["id"]] += 1
            self.kinds[row["id"]] = max(self.kinds.get(row["id"], 0), row["kind"])
        self.write(f"in/.{self.files:04}", "".join(json.dumps(row) + "\n" for row in rows))
        (self.folder / f"in/.{self.files:04}").rename(self.folder / f"in/{self.files:04}.ndjson")
        self.files += 1

    def wanted(self):
        return sorted((key, self.kinds[key], n) for key, n in self.counts.items() if n % 4 != 0)

    def read(self, table, columns):
        found = self.rows("sql", CATALOG + f"SELECT {', '.join(columns)} FROM lake.shop.{table};")
        return sorted(tuple(row[column] for column in columns) for row in found if columns[0] in row)

    def kill_reader(self):
        """The engine of the reader, wherever it is."""
        log = self.folder / "follow/caudal.log"
        children = re.findall(r'"child":"?(\d+)|child=(\d+)', log.read_text()) if log.exists() else []
        if children:
            try:
                os.kill(int("".join(children[-1])), signal.SIGKILL)
                return 1
            except ProcessLookupError:
                pass
        return 0

    def follow(self, version):
        self.write("catalog.sql", CATALOG)
        self.write("writer.sql", WRITER)
        self.write("reader.sql", READER)
        self.caudal("sql", MAKE.format(version=version))
        self.arrive()
        writer = self.start("run", "writer.sql", "--state", "state", "--until-idle", "6 s")
        reader = self.start("run", "reader.sql", "--state", "follow", "--until-idle", "8 s")
        killed = compacted = 0
        for step in range(14):
            time.sleep(self.chance.uniform(0.2, 0.5))
            self.arrive()
            if step % 3 == 1:
                killed += self.kill_reader()
            if step % 3 == 2:
                self.caudal("table", "compact", "catalog.sql", "lake.shop.totals", "--min-input-files", "2", "--delete-file-threshold", "1")
                compacted += 1
        for process in (writer, reader):
            said = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, said)
        self.assertGreaterEqual(killed, 2, "engines of the reader that were killed")
        wanted = self.wanted()
        self.assertEqual(self.read("totals", ["id", "kind", "n"]), wanted, "what the writer wrote")
        self.assertEqual(self.read("copied", ["id", "kind", "n"]), wanted, "what the reader made of it")
        sums = collections.defaultdict(lambda: [0, 0])
        for _, kind, n in wanted:
            sums[kind][0] += 1
            sums[kind][1] += n
        self.assertEqual(self.read("kinds", ["kind", "keys", "n"]), sorted((kind, *both) for kind, both in sums.items()), "the aggregate")
        (row,) = self.rows("sql", CATALOG + "CREATE TEMPORARY TABLE told (operation STRING) WITH ('connector' = 'iceberg', 'catalog-name' = 'lake',"
                           " 'warehouse' = 'lake', 'catalog-database' = 'shop', 'catalog-table' = 'totals$snapshots');"
                           "SELECT SUM(CASE WHEN operation = 'overwrite' THEN 1 ELSE 0 END) AS updates,"
                           " SUM(CASE WHEN operation = 'replace' THEN 1 ELSE 0 END) AS rewrites FROM told;")[-1:]
        self.assertGreater(row["updates"], 3)
        self.assertGreater(row["rewrites"], 0)

    def test_a_table_is_followed_through_upserts_deletes_kills_and_compaction(self):
        self.follow(3)

    def test_the_same_with_position_deletes(self):
        self.follow(2)


if __name__ == "__main__":
    main()
