"""A proxy before an object store that refuses, loses and cuts answers, by chance with a seed."""
import collections
import http.client
import http.server
import random
import socket
import threading
import time
import urllib.parse

ERROR = b'<?xml version="1.0"?><Error><Code>%s</Code><Message>a fault of the test</Message></Error>'
# What becomes of a request, and how often.
FAULTS = {"": 40, "busy before": 2, "error after": 2, "reset before": 1, "reset after": 2, "cut": 2, "slow": 1, "hidden error": 2}


class FaultyStore(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, endpoint, seed):
        super().__init__(("127.0.0.1", 0), Handler)
        self.host = urllib.parse.urlparse(endpoint).netloc
        self.random, self.quiet, self.counts, self.lock = random.Random(seed), False, collections.Counter(), threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server_port}"

    def fault_of(self, method):
        if self.quiet:
            return ""
        with self.lock:
            fault = self.random.choices(list(FAULTS), list(FAULTS.values()))[0]
            if fault == "hidden error" and method != "POST":
                fault = ""
            self.counts[fault or "none"] += 1
            return fault

    def handle_error(self, request, client_address):
        pass  # the other side has gone, as it may


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, *_):
        pass

    def cut(self):
        self.wfile.flush()
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def say(self, code, body, headers=()):
        self.send_response_only(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.server.fault_of(self.command)
        if fault == "busy before":
            return self.say(503, ERROR % b"SlowDown")
        if fault == "hidden error":
            return self.say(200, ERROR % b"InternalError")
        if fault == "reset before":
            return self.cut()
        if fault == "slow":
            time.sleep(1)
        store = http.client.HTTPConnection(self.server.host, timeout=60)
        # The signature is over what the client said, the host's name among it.
        store.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in ("connection", "content-length"):
                store.putheader(name, value)
        if body or self.command in ("PUT", "POST"):
            store.putheader("Content-Length", str(len(body)))
        store.endheaders(body or None)
        got = store.getresponse()
        said = got.read()
        store.close()
        if fault == "error after":
            return self.say(500, ERROR % b"InternalError")
        if fault == "reset after":
            return self.cut()
        left = ("content-length", "connection", "transfer-encoding", "date", "server")
        headers = [(name, value) for name, value in got.getheaders() if name.lower() not in left]
        if self.command == "HEAD":
            self.send_response_only(got.status)
            for name, value in headers + [("Content-Length", got.headers.get("Content-Length", "0"))]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.flush()
            return None
        if fault == "cut" and len(said) > 1:
            self.send_response_only(got.status)
            for name, value in headers + [("Content-Length", str(len(said)))]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said[:len(said) // 2])
            return self.cut()
        return self.say(got.status, said, headers)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = forward
