"""What tests of the command line are made of: a folder of one's own, runs of the program, waiting for a condition.

  class Sql(CliCase): …
  if __name__ == "__main__": main()
"""
import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NEOBANK = ROOT / "examples/neobank"


class CliCase(unittest.TestCase):
    caudal_path = ""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="caudal-cli-"))
        self.started = []

    def tearDown(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name

    def caudal(self, *arguments, code=0, stdin="", timeout=60, environment=None):
        """What it printed; fails unless it ended with `code`."""
        result = subprocess.run([self.caudal_path, *map(str, arguments)], cwd=self.folder, input=stdin, capture_output=True,
                                text=True, timeout=timeout, env={**os.environ, **(environment or {})})
        self.assertEqual(result.returncode, code, f"{arguments}\n{result.stderr}{result.stdout}")
        return result

    def lines(self, *arguments, **options):
        return self.caudal(*arguments, **options).stdout.splitlines()

    def rows(self, *arguments, **options):
        """The JSON objects that it printed, one a line."""
        return [json.loads(line) for line in self.lines(*arguments, "--json", **options)]

    def refused(self, *arguments, code, **options):
        """The message of the one error."""
        message = self.caudal(*arguments, code=code, **options).stderr
        self.assertEqual(message.count("error["), 1, message)
        return message

    def start(self, *arguments):
        process = subprocess.Popen([self.caudal_path, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        return process

    def on_terminal(self, *arguments, out=True):
        """What a person at a terminal sees of a run that ends well; without standard output unless `out`."""
        master, slave = pty.openpty()
        process = subprocess.Popen([self.caudal_path, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=slave if out else subprocess.DEVNULL, stderr=slave)
        self.started.append(process)
        os.close(slave)
        text = b""
        try:
            while piece := os.read(master, 65536):
                text += piece
        except OSError:  # the other end is closed
            pass
        os.close(master)
        self.assertEqual(process.wait(timeout=30), 0, text)
        return text.decode()

    def wait_for(self, condition, what, seconds=30):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = condition()
            if value:
                return value
            time.sleep(0.02)
        log = self.folder / "state/caudal.log"
        self.fail(f"waited in vain for {what}: {log.read_text() if log.exists() else 'no log'}")

    def log(self):
        path = self.folder / "state/caudal.log"
        return path.read_text() if path.exists() else ""


def main():
    CliCase.caudal_path = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
