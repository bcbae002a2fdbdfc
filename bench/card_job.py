"""Card transactions from a real Kafka to Parquet and Redis, checked against the peers' truth and a count of our own."""
import collections
import decimal
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import time

from job import ROOT, Job, cpu_of

PIPELINE = """pipeline: card
version: "1"
owner: bench
sql: [tables.sql, views.sql, statements.sql]
sources: [transactions]
targets: {targets}
slo: {{freshness_p95_seconds: 60, completeness_percent: 99.5}}
recovery: {{rto_minutes: 15, replay_source: transactions}}
watermark: {{delay: 5 min, why: as the peers, accepted_loss_ppm: 5000}}
"""
TARGETS = {"silver": "{silver: silver}", "features": "{gold: features}", "both": "{silver: silver, gold: features}"}
ALL_HASHES = """
local all = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do all[key] = redis.call('HGETALL', key) end
return cjson.encode(all)
"""


def peers_folder():
    for place in (os.environ.get("CAUDAL_PEERS"), ROOT.parent / "shared/peers"):
        if place and (pathlib.Path(place) / "generate.sh").is_file():
            return pathlib.Path(place)
    sys.exit("bench: no Kafka and no card transactions: generate.sh was found neither in $CAUDAL_PEERS nor in "
             f"{ROOT.parent / 'shared/peers'}\nhint: set CAUDAL_PEERS to the folder that holds it")


def is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port():
    """Of the broker, whose controller takes the next one; below those that the kernel gives to connections meanwhile."""
    choice = random.Random(os.getpid())
    while True:
        port = choice.randrange(20_000, 32_000)
        if is_free(port) and is_free(port + 1):
            return port


class CardJob(Job):
    pipeline = "card"

    def __init__(self, args):
        super().__init__(args)
        self.topic = f"card-{args.events}"
        self.port = free_port()
        self.redis = None
        self.broker = None
        self.data = self.folder / "peers"

    def about(self):
        return f"seed {self.args.seed}, outputs {self.args.outputs}"

    def environment(self):
        return {**os.environ, "PEERS_DATA": str(self.data), "KAFKA_PORT": str(self.port), "KAFKA_DATA": str(self.folder / "kafka"),
                "CARD_TOPIC": self.topic, "KAFKA_BOOTSTRAP": f"127.0.0.1:{self.port}", "REDIS_URL": f"unix://{self.folder}/redis.sock"}

    def peer(self, script, *words):
        done = subprocess.run([peers_folder() / script, *words], env=self.environment(), stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: {script} {' '.join(words)} failed: {done.stdout}")
        return done.stdout

    def prepare(self):
        events = str(self.args.events)
        if not self.args.keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.data.mkdir(parents=True, exist_ok=True)
        self.broker = int(re.search(r"pid (\d+)", self.peer("kafka.sh", "start")).group(1))
        if not (self.data / f"events-{events}.ndjson").exists():
            self.peer("generate.sh", "file", events, str(self.args.seed))
        if self.topic not in self.peer("kafka.sh", "topic", "list").split():
            self.peer("generate.sh", "load", self.topic, events, str(self.args.seed))
        self.redis = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", str(self.folder / "redis.sock"), "--save", ""],
                                      stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not (self.folder / "redis.sock").exists():
            if self.redis.poll() is not None or time.monotonic() > deadline:
                sys.exit("bench: redis-server does not start")
            time.sleep(0.02)
        self.write_pipeline()

    def close(self):
        if self.redis is not None:
            self.redis.terminate()
            self.redis.wait()
        if self.broker is not None:
            self.peer("kafka.sh", "stop")

    def write_pipeline(self):
        outputs = self.args.outputs
        for name in ("tables.sql", "views.sql"):
            shutil.copy(ROOT / "bench/card" / name, self.folder)
        shutil.copy(ROOT / f"bench/card/{outputs}.sql", self.folder / "statements.sql")
        (self.folder / "pipeline.yaml").write_text(PIPELINE.format(targets=TARGETS[outputs]))

    def beside(self):
        return {"Kafka": cpu_of(self.broker), "Redis": cpu_of(self.redis.pid)}

    def redis_cli(self, *words):
        return subprocess.run(["redis-cli", "-s", str(self.folder / "redis.sock"), *words], stdout=subprocess.PIPE, text=True, check=True).stdout

    def clear(self):
        self.remove("state", "out")
        self.redis_cli("flushall")

    def verify(self):
        right = True
        if self.args.outputs != "features":
            right &= self.verify_silver()
        if self.args.outputs != "silver":
            right &= self.verify_features()
        return right

    def say(self, text):
        print(text, file=sys.stderr if self.args.json else sys.stdout, flush=True)

    def verify_silver(self):
        truth = json.loads((self.data / f"truth-{self.args.events}.json").read_text())
        (found,) = self.caudal("sql", "SELECT COUNT(*) AS n, COUNT(DISTINCT event_id) AS ids, SUM(amount) AS total, "
                               "COUNT(*) FILTER (WHERE status = 'APPROVED') AS approved FROM `out/silver`")
        wanted = [truth["distinct_valid"], truth["distinct_valid"], decimal.Decimal(truth["amount_sum"]), truth["approved"]]
        got = [found["n"], found["ids"], decimal.Decimal(str(found["total"])), found["approved"]]
        self.say(f"  silver: {got[0]:,} rows, {'as the truth file has them' if got == wanted else f'{got} for {wanted}'}")
        return got == wanted

    def expected_features(self):
        """Of each account's newest window: the events of the minute of its last one, since no window ends later."""
        kept = self.data / f"features-{self.args.events}.json"
        if kept.exists():
            return json.loads(kept.read_text())
        newest, seen = {}, collections.deque()
        recent = set()  # repeats come at most 4 minutes behind their first
        with open(self.data / f"events-{self.args.events}.ndjson", "rb") as events:
            for line in events:
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                if event["event_id"] in recent:
                    continue
                recent.add(event["event_id"])
                seen.append(event["event_id"])
                if len(seen) > 1_000_000:
                    recent.discard(seen.popleft())
                minute = event["event_time"][:16]
                minutes = newest.setdefault(event["account_id"], {})
                at = minutes.setdefault(minute, [0, 0, []])
                at[0] += 1
                at[1] += round(float(event["amount"]) * 100)
                if event["merchant_id"] not in at[2]:
                    at[2].append(event["merchant_id"])
                if len(minutes) > 8:
                    del minutes[min(minutes)]
        expected = {}
        for account, minutes in newest.items():
            minute = max(minutes)
            n, cents, merchants = minutes[minute]
            average = (decimal.Decimal(cents) / 100 / n).quantize(decimal.Decimal("0.000001"), decimal.ROUND_HALF_UP)
            expected[account] = [minute.replace("T", " ") + ":00.000", n, str(average), len(merchants)]
        kept.write_text(json.dumps(expected))
        return expected

    def verify_features(self):
        expected, found, wrong = self.expected_features(), 0, []
        for digit in "0123456789":
            hashes = json.loads(self.redis_cli("eval", ALL_HASHES, "0", f"account:*{digit}"))
            found += len(hashes)
            for key, flat in hashes.items():
                fields = dict(zip(flat[::2], flat[1::2]))
                want = expected.get(key.removeprefix("account:"))
                got = [fields["window_start"], int(fields["n"]), fields["avg_amount"], int(fields["merchants"])]
                close = want is not None and abs(got[3] - want[3]) <= 0.06 * want[3]  # three standard errors
                if want is None or got[:3] != want[:3] or not close:
                    wrong.append((key, got, want))
        right = found == len(expected) and not wrong
        self.say(f"  features: {found:,} accounts, {'each as a count over the file has it' if right else f'{len(wrong)} wrong, {len(expected):,} wanted, such as {wrong[:2]}'}")
        return right

    def extras(self):
        return {}
