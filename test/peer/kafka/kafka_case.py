"""What tests on a real Kafka are made of: a broker of one's own, and Kafka's own client to set the scene with.

The peers' folder is $CAUDAL_PEERS, or ../shared/peers beside the repository; it holds kafka.sh, which brings the broker.
"""
import base64
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
sys.path.insert(0, str(REPOSITORY / "test/cli"))

from cli_case import CliCase  # noqa: E402  (its folder is only known now)


def peers_folder():
    for place in (os.environ.get("CAUDAL_PEERS"), REPOSITORY.parent / "shared/peers"):
        if place and (pathlib.Path(place) / "kafka.sh").is_file():
            return pathlib.Path(place)
    sys.exit("no Kafka to try: kafka.sh was found neither in $CAUDAL_PEERS nor in "
             f"{REPOSITORY.parent / 'shared/peers'}\nhint: set CAUDAL_PEERS to the folder that holds kafka.sh")


def free_port():
    """The first of two that nobody listens on: the broker's and its controller's."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
                return port
            except OSError:
                continue


class Broker:
    """kafka.sh with a folder and port of its own."""

    def __init__(self):
        self.peers = peers_folder()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="caudal-kafka-"))
        self.port = free_port()
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.environment = {**os.environ, "KAFKA_PORT": str(self.port), "KAFKA_DATA": str(self.folder / "data"), "KAFKA_HEAP": "768m"}

    def script(self, *words):
        with open(self.folder / "kafka.log", "ab") as log:
            # It gives a broker 30 s to answer, which is little on a machine that is busy: the second call finds it running.
            attempts = 3 if words == ("start",) else 1
            codes = (subprocess.run([self.peers / "kafka.sh", *words], env=self.environment, stdout=log, stderr=log).returncode
                     for _ in range(attempts))
            done = any(code == 0 for code in codes)
        if not done:
            if words == ("start",):
                self.script("stop")
            sys.exit(f"kafka.sh {' '.join(words)} failed:\n{(self.folder / 'kafka.log').read_text()[-2000:]}")

    def output(self, *words):
        """What one of Kafka's own tools prints."""
        result = subprocess.run([self.peers / "kafka.sh", *words], env=self.environment, capture_output=True, text=True)
        if result.returncode != 0:
            raise AssertionError(f"kafka.sh {' '.join(words)} ended with {result.returncode}: {result.stdout}{result.stderr}")
        return result.stdout

    def start(self):
        self.script("start")
        return self

    def stop(self):
        self.script("stop")

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Driver:
    """Driver.java: one process that obeys a line at a time."""

    def __init__(self, broker):
        home = pathlib.Path(os.environ.get("PEERS_HOME", pathlib.Path.home() / ".cache/caudal-peers"))
        conf = broker.peers / "conf"
        self.process = subprocess.Popen(
            ["java", "-Xmx512m", "-XX:+UseSerialGC", f"-Dlog4j2.configurationFile={conf}/log4j2.properties", "-cp",
             f"{conf}:{home}/kafka/lib/*", str(HERE / "Driver.java"), broker.bootstrap],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer("its start")

    def answer(self, what):
        words = self.process.stdout.readline().rstrip("\n").split("\t")
        if words[0] != "ok":
            raise AssertionError(f"Kafka's client: {what}: {' '.join(words[1:])}")
        return [word for word in words[1:] if word]

    def __call__(self, *words):
        line = "\t".join(map(str, words))
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer(line)

    def ends(self, topic):
        """(begin, end) by partition."""
        return [tuple(map(int, word.split(":")[1:])) for word in self("ends", topic)]

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


class KafkaCase(CliCase):
    """A test with a topic of its own on the one broker of the run, which `setUpModule` starts."""
    broker = None
    driver = None

    def setUp(self):
        super().setUp()
        self.topic = self.id().rsplit(".", 1)[-1].removeprefix("test_").replace("_", "-")
        self.environment = {"KAFKA_BOOTSTRAP": self.broker.bootstrap}

    def caudal(self, *arguments, environment=None, **options):
        return super().caudal(*arguments, environment={**self.environment, **(environment or {})}, **options)

    def start(self, *arguments):
        process = subprocess.Popen([self.caudal_path, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env={**os.environ, **self.environment})
        self.started.append(process)
        return process


def main(make_broker=Broker):
    CliCase.caudal_path = os.path.abspath(sys.argv.pop(1))
    KafkaCase.broker = make_broker().start()
    try:
        KafkaCase.driver = Driver(KafkaCase.broker)
        print(f"kafka: a broker on {KafkaCase.broker.bootstrap}", flush=True)
        program = unittest.main(verbosity=2, exit=False, module="__main__")
        KafkaCase.driver.close()
    finally:
        KafkaCase.broker.remove()
    sys.exit(0 if program.result.wasSuccessful() else 1)


def headers_of(text):
    """Of a line of a dump: names and bytes, or None, in their order."""
    pairs = (each.split("=", 1) for each in text.split(",") if each)
    return [(name, None if value == "\\N" else base64.b64decode(value)) for name, value in pairs]


def ndjson(path):
    """The rows of a folder of NDJSON files."""
    files = sorted(each for each in pathlib.Path(path).rglob("[!.]*") if each.is_file())
    return [json.loads(line) for each in files for line in each.read_text().splitlines()]
