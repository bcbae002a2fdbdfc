"""Brokers that are set up for more than those of kafka.sh: several of them, with security, or behind proxies. The jars are kafka.sh's."""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from kafka_case import REPOSITORY, free_port, peers_folder

sys.path.insert(0, str(REPOSITORY / "test/peer"))

from proxy import Proxy  # noqa: E402  (its folder is only known now)

SECONDS_TO_START = 120  # on a machine that is busy

COMMON = """
controller.listener.names=CONTROLLER
inter.broker.listener.name=INTERNAL
num.partitions=4
auto.create.topics.enable=false
offsets.topic.num.partitions=4
transaction.state.log.num.partitions=4
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.max.timeout.ms=3600000
group.initial.rebalance.delay.ms=0
log.retention.hours=-1
broker.session.timeout.ms=6000
controlled.shutdown.max.retries=1
num.network.threads=2
num.io.threads=4
"""


class Node:
    """One broker; the first is the controller as well."""

    def __init__(self, cluster, number):
        self.cluster, self.number, self.process = cluster, number, None
        self.folder = cluster.folder / f"node-{number}"
        self.folder.mkdir()
        self.port = free_port()  # for the test itself, and the other brokers
        self.controller = self.port + 1
        self.listeners = {name: free_port() for name in cluster.listeners}
        self.proxies = {name: Proxy(("127.0.0.1", port)) for name, port in self.listeners.items()} if cluster.proxied else {}

    def address(self, listener):
        return f"127.0.0.1:{self.proxies[listener].port if self.proxies else self.listeners[listener]}"

    def configure(self, cluster_id):
        first = self.number == 1
        listeners = [f"INTERNAL://127.0.0.1:{self.port}", *(f"{name}://127.0.0.1:{port}" for name, port in self.listeners.items())]
        advertised = [listeners[0], *(f"{name}://{self.address(name)}" for name in self.listeners)]
        if first:
            listeners.append(f"CONTROLLER://127.0.0.1:{self.controller}")
        protocols = {"INTERNAL": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", **self.cluster.listeners}
        replicas = len(self.cluster.nodes)
        lines = {"process.roles": "broker,controller" if first else "broker", "node.id": self.number,
                 "controller.quorum.voters": f"1@127.0.0.1:{self.cluster.nodes[0].controller}",
                 "listeners": ",".join(listeners), "advertised.listeners": ",".join(advertised),
                 "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
                 "log.dirs": self.folder / "log", "default.replication.factor": replicas,
                 "offsets.topic.replication.factor": replicas, "transaction.state.log.replication.factor": replicas,
                 **self.cluster.properties}
        (self.folder / "server.properties").write_text(COMMON + "".join(f"{key}={value}\n" for key, value in lines.items()))
        self.java("kafka.tools.StorageTool", "format", "-c", self.folder / "server.properties", "-t", cluster_id)

    def command(self, *words, heap="256m"):
        return ["java", f"-Xmx{heap}", "-XX:+UseSerialGC", f"-Dlog4j2.configurationFile={self.cluster.peers}/conf/log4j2.properties",
                "-cp", f"{self.cluster.peers}/conf:{self.cluster.home}/kafka/lib/*", *map(str, words)]

    def java(self, *words):
        result = subprocess.run(self.command(*words), capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{words[0]} ended with {result.returncode}: {result.stdout}{result.stderr}")
        return result.stdout.strip().splitlines()[-1]

    def start(self):
        with open(self.folder / "out", "ab") as out:
            self.process = subprocess.Popen(self.command("kafka.Kafka", self.folder / "server.properties", heap="640m"), stdout=out,
                                            stderr=out, start_new_session=True)

    def wait(self):
        deadline = time.monotonic() + SECONDS_TO_START
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"broker {self.number} does not start:\n{(self.folder / 'out').read_text()[-3000:]}")
            time.sleep(0.1)

    def end(self, signal_):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal_)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Cluster:
    """`listeners`: name and protocol of those beside the plain one of the test itself; `proxied`: a proxy before each of them.
    `properties(folder)` of each broker."""

    def __init__(self, nodes=1, listeners=None, properties=None, proxied=False):
        self.peers = peers_folder()
        self.home = pathlib.Path(os.environ.get("PEERS_HOME", pathlib.Path.home() / ".cache/caudal-peers"))
        subprocess.run([self.peers / "kafka.sh", "install"], check=True)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="caudal-kafka-"))
        self.listeners, self.proxied = listeners or {}, proxied
        self.properties = properties(self.folder) if properties else {}
        self.nodes = []
        for number in range(1, nodes + 1):
            self.nodes.append(Node(self, number))
        self.bootstrap = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        cluster_id = self.nodes[0].java("kafka.tools.StorageTool", "random-uuid")
        for node in self.nodes:
            node.configure(cluster_id)

    def address(self, listener):
        return ",".join(node.address(listener) for node in self.nodes)

    def proxies(self):
        return [proxy for node in self.nodes for proxy in node.proxies.values()]

    def start(self):
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            node.wait()
        return self

    def stop(self):
        for node in reversed(self.nodes):  # the controller last
            node.end(signal.SIGTERM)

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
