"""A TCP proxy of a test's own, whose connections it cuts or slows down."""
import socket
import threading
import time


class Proxy:
    """Listens on 127.0.0.1:`port` and hands on to `target`, (host, port). `delay`: seconds before each piece of bytes; `silent`: what the
    target answers is lost."""

    def __init__(self, target):
        self.target, self.delay, self.silent, self.lock, self.open = target, 0, False, threading.Lock(), set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            inside, _ = self.listener.accept()
            try:
                outside = socket.create_connection(self.target, timeout=5)
            except OSError:
                inside.close()
                continue
            outside.settimeout(None)
            with self.lock:
                self.open |= {inside, outside}
            for source, sink in ((inside, outside), (outside, inside)):
                threading.Thread(target=self.pump, args=(source, sink, source is outside), daemon=True).start()

    def pump(self, source, sink, answers):
        try:
            while piece := source.recv(65536):
                if self.delay:
                    time.sleep(self.delay)
                if not (answers and self.silent):
                    sink.sendall(piece)
        except OSError:
            pass  # cut, or the other side has gone
        for each in (source, sink):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        with self.lock:
            self.open -= {source, sink}

    def cut(self):
        """All connections, now."""
        with self.lock:
            connections = list(self.open)
        for each in connections:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
