"""A real Redis of a test's own, on a Unix socket, that keeps what it has acknowledged."""
import json
import socket
import subprocess
import sys
import time

ALL_HASHES = """
local all = {}
for _, key in ipairs(redis.call('KEYS', '*')) do all[key] = redis.call('HGETALL', key) end
return cjson.encode(all)
"""


class RedisServer:
    """`port`: where it listens too, 0 = only on its socket; `options`: what its command line says besides."""

    def __init__(self, folder, port=0, options=()):
        self.folder, self.socket, self.port, self.process = folder / "redis", folder / "redis.sock", port, None
        self.options = options
        self.folder.mkdir()

    def url(self, database):
        return f"unix://{self.socket}?db={database}"

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", str(self.socket),
                                             "--dir", str(self.folder), "--save", "", "--appendonly", "yes", "--appendfsync", "always", *self.options],
                                            stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while self.cli(0, "ping").stdout.strip() != "PONG":
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"redis-server does not start:\n{(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def cli(self, database, *words):
        return subprocess.run(["redis-cli", "-s", str(self.socket), "-n", str(database), *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)

    def hashes(self, database):
        """Of accounts, and of ledgers: for few."""
        found = json.loads(self.cli(database, "eval", ALL_HASHES, "0").stdout)
        found = {key: dict(zip(pairs[::2], pairs[1::2])) for key, pairs in found.items()} if found else {}
        ledgers = {key: found.pop(key) for key in list(found) if key.startswith("caudal:ledger:")}
        return found, ledgers

    def read_hashes(self, database, pattern):
        """Key and fields of each that matches, however many there are."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.socket))
            answers = connection.makefile("rb")

            def send(*words):
                connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))

            def receive():
                line = answers.readline()
                kind, rest = line[:1], line[1:-2]
                if kind == b"*":
                    return [receive() for _ in range(int(rest))]
                if kind == b"$":
                    return None if int(rest) < 0 else answers.read(int(rest) + 2)[:-2]
                if kind == b"-":
                    raise AssertionError(f"Redis: {rest.decode()}")
                return rest

            send(b"SELECT", str(database).encode())
            receive()
            cursor, seen = b"0", set()
            while True:
                send(b"SCAN", cursor, b"MATCH", pattern.encode(), b"COUNT", b"2000")
                cursor, keys = receive()
                keys = [key for key in keys if key not in seen]  # a scan may give a key twice
                seen.update(keys)
                for key in keys:
                    send(b"HGETALL", key)
                for key in keys:
                    pairs = [part.decode() for part in receive()]
                    yield key.decode(), dict(zip(pairs[::2], pairs[1::2]))
                if cursor == b"0":
                    return
