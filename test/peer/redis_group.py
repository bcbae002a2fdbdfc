"""Several real Redis servers of a test's own: behind sentinels, or as a cluster. Each keeps what it has acknowledged and is killed."""
import json
import socket
import subprocess
import time

from redis_features import wait_until
from redis_server import ALL_HASHES


def free_port():
    """Below 55536: the nodes of a cluster take the one 10,000 higher too."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port < 55536:
            return port


class Node:
    def __init__(self, folder, *options):
        self.folder, self.port, self.options, self.process = folder, free_port(), options, None
        folder.mkdir(parents=True)

    def start(self, *more):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(["redis-server", *self.options, "--port", str(self.port), "--bind", "127.0.0.1", "--dir",
                                             str(self.folder), *more], stdout=log, stderr=log)
        wait_until("a server's start", lambda: self.cli("ping") == "PONG")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def cli(self, *words):
        return subprocess.run(["redis-cli", "-p", str(self.port), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True).stdout.strip()

    def slots(self):
        """Which slots each master has, as this node of a cluster knows it."""
        lines = (line.split() for line in self.cli("cluster", "nodes").split("\n"))
        return frozenset((words[0], *(slot for slot in words[8:] if not slot.startswith("["))) for words in lines if len(words) > 8)

    def role(self):
        return self.cli("role").split("\n")[0]

    def hashes(self):
        found = json.loads(self.cli("eval", ALL_HASHES, "0")) or {}
        return {key: dict(zip(pairs[::2], pairs[1::2])) for key, pairs in found.items() if not key.startswith("caudal:ledger:")}


NODE_TIMEOUT_MS = 1000  # each pings every other one at least twice in that time
DATA = ("--save", "", "--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0")


class Group:
    """What both have; `alive` are the servers that were not killed."""

    def stop(self):
        for node in [*self.nodes, *getattr(self, "sentinels", [])]:
            if node.process is not None and node.process.poll() is None:
                node.kill()

    def masters(self):
        return [node for node in self.nodes if node.process.poll() is None and node.role() == "master"]

    def hashes(self):
        found = {}
        for node in self.masters():
            found.update(node.hashes())
        return found

    def kill_a_master(self, chance):
        """Kills one, waits until another has its place, and starts it again, as a replica; returns how long nobody had it."""
        victim = chance.choice(self.masters())
        before = {node.port for node in self.masters()}
        began = time.monotonic()
        victim.kill()
        wait_until("a replica's promotion", lambda: {node.port for node in self.masters()} - before)
        stall = time.monotonic() - began
        victim.start()
        wait_until("the old master's return as a replica", lambda: victim.role() == "slave" and "connected" in victim.cli("role"))
        return stall


class Guarded(Group):
    """A master with two replicas and three sentinels."""

    def __init__(self, folder):
        self.nodes = [Node(folder / f"data{i}", *DATA) for i in range(3)]
        self.sentinels = []
        for node in self.nodes:
            node.start(*(("--replicaof", f"127.0.0.1 {self.nodes[0].port}") if node is not self.nodes[0] else ()))
        for i in range(3):
            file = folder / f"sentinel{i}.conf"
            file.write_text(f"sentinel monitor bank 127.0.0.1 {self.nodes[0].port} 2\nsentinel down-after-milliseconds bank 500\n"
                            "sentinel failover-timeout bank 3000\nsentinel parallel-syncs bank 2\n")
            self.sentinels.append(Node(folder / f"sentinel{i}", str(file), "--sentinel"))
            self.sentinels[-1].start()
        wait_until("the sentinels' finding each other", lambda: all(
            "num-other-sentinels\n2" in sentinel.cli("sentinel", "master", "bank") for sentinel in self.sentinels))
        self.table = {"sentinel-nodes": ",".join(f"127.0.0.1:{node.port}" for node in self.sentinels), "master.name": "bank",
                      "caudal.wait-replicas": "2"}

    def disturb(self):
        """Nothing moves here."""


class Cluster(Group):
    """Three masters, each with a replica."""

    def __init__(self, folder):
        self.nodes = [Node(folder / f"node{i}", *DATA, "--cluster-enabled", "yes", "--cluster-node-timeout", str(NODE_TIMEOUT_MS)) for i in range(6)]
        for node in self.nodes:
            node.start()
        subprocess.run(["redis-cli", "--cluster", "create", *(f"127.0.0.1:{node.port}" for node in self.nodes), "--cluster-replicas", "1",
                        "--cluster-yes"], stdout=subprocess.DEVNULL, check=True)
        self.wait_until_whole()
        self.table = {"cluster-nodes": ",".join(f"127.0.0.1:{node.port}" for node in self.nodes), "caudal.wait-replicas": "1"}
        self.moved = 0

    def wait_until_whole(self):
        wait_until("the cluster's being whole", lambda: all(
            "cluster_state:ok" in node.cli("cluster", "info") for node in self.nodes if node.process.poll() is None))

    def disturb(self):
        """Moves slots with their keys from one master to another."""
        self.wait_until_whole()
        masters = self.masters()
        source = max(masters, key=lambda node: int(node.cli("dbsize")))
        target = min((node for node in masters if node is not source), key=lambda node: int(node.cli("dbsize")))
        done = subprocess.run(["redis-cli", "--cluster", "reshard", f"127.0.0.1:{source.port}", "--cluster-from", source.cli("cluster", "myid"),
                               "--cluster-to", target.cli("cluster", "myid"), "--cluster-slots", "2000", "--cluster-yes"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise SystemExit(f"the reshard failed:\n{done.stdout[-2000:]}")
        self.moved += 2000
        self.wait_until_agreed()

    def wait_until_agreed(self):
        """Until all nodes name the same owner of each slot, and then for two of the pings in which they tell it. Redis 7.0 loses the slot that
        was moved last if the target is killed within some 0.4 s: the replica that takes its place drops it as the old master comes back,
        and the cluster stays down until somebody repairs it with 'redis-cli --cluster fix'. No client can do anything about that."""
        wait_until("the servers' agreement on who has which slot", lambda: len({node.slots() for node in self.nodes}) == 1)
        time.sleep(NODE_TIMEOUT_MS / 1000)
