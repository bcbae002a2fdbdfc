#!/usr/bin/env python3
"""The command line itself: help with examples that are right, --json everywhere, exit codes, version, generate, progress.

  test/cli/usage.py build/release/caudal [-k PATTERN]
"""
import json
import os
import re
import resource
import shlex
import shutil
import signal
import socket
import stat
import subprocess

from cli_case import CliCase, main

COMMANDS = ["run", "validate", "explain", "sql", "functions", "generate", "generate neobank", "stop", "status", "ops", "ops query",
            "checkpoint", "checkpoint ls", "checkpoint show", "checkpoint verify", "checkpoint diff", "checkpoint trigger", "dlq",
            "dlq ls", "dlq show", "rebuild", "table", "table branch", "table branch create", "table branch drop", "table branch list",
            "table check", "table compact", "table expire", "table fast-forward", "table orphans", "table rewrite-manifests", "table tag",
            "table tag create", "table tag drop", "table tag list", "digest", "version", "help"]
ENDLESS = """CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '100');
CREATE TABLE gone (n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO gone SELECT n FROM numbers;
"""


class Usage(CliCase):
    def help_of(self, command):
        return self.caudal(*command.split(), "--help").stdout

    def test_generate_says_what_a_topic_needs(self):
        neobank = ("generate", "neobank", "--events", "10")
        for words, said in ((("--to", "kafka"), "--to kafka needs --bootstrap and --topic"),
                            (("--to", "kafka", "--bootstrap", "127.0.0.1:1"), "--to kafka needs --bootstrap and --topic"),
                            (("--to", "kafka", "--bootstrap", "127.0.0.1:1", "--topic", "t", "--out", "in"), "--out is a folder of files"),
                            (("--topic", "t", "--out", "in"), "add --to kafka"),
                            (("--to", "pulsar", "--out", "in"), "'pulsar' is neither 'files' nor 'kafka'")):
            self.assertIn(said, self.refused(*neobank, *words, code=1))
        kafka = (*neobank, "--to", "kafka", "--bootstrap", "127.0.0.1:1", "--topic", "t")
        self.assertIn("no property 'nope'", self.refused(*kafka, "--property", "nope=1", code=3))
        self.assertIn("is not name=value", self.refused(*kafka, "--property", "nope", code=3))
        self.assertIn("no Kafka broker answers", self.refused(*kafka, code=3))
        self.assertFalse((self.folder / "in").exists())

    def test_every_command_is_listed_and_has_examples(self):
        listed = {line.split()[0] for line in self.help_of("").split("Subcommands:")[1].splitlines() if line.startswith("  ")}
        self.assertEqual(listed, {command.split()[0] for command in COMMANDS})
        for command in COMMANDS:
            self.assertIn("Examples:", self.help_of(command), command)
            self.assertIn("--json", self.help_of(command), command)

    def test_every_example_would_be_taken(self):
        for command in COMMANDS:
            for line in self.help_of(command).split("Examples:")[1].splitlines():
                for example in re.split(r"\s{4,}(?=caudal)", line.strip()):
                    if example:
                        self.check_example(example)

    def check_example(self, example):
        words = shlex.split(example.split(" | ")[-1].split(" > ")[0].split(" < ")[0], comments=True)
        self.assertEqual(words[0], "caudal", example)
        # --help after the words: they are parsed, nothing is run.
        self.caudal(*words[1:], "--help")

    def test_usage_faults_end_with_1(self):
        for words in (["runn"], ["run"], ["run", "a.sql", "--no-such"], ["checkpoint"], ["checkpoint", "diff"], ["dlq", "show"],
                      ["stop", "--drain", "--savepoint"], ["generate", "neobank"], ["run", "a.sql", "--listen", "nowhere:x"]):
            self.refused(*words, code=1)
        self.assertEqual(self.caudal(code=1).stdout, "")

    def test_numbers_out_of_range_name_the_range(self):
        self.write("job.sql", ENDLESS)
        for words, most in ((["run", "job.sql", "--threads"], 256), (["stop", "--timeout"], 10**9), (["dlq", "show", "job.sql", "--limit"], 10**9),
                            (["generate", "neobank", "--out", "x", "--rate"], 10**9)):
            for value in ("-1", "1e15", "abc", "nan", ""):
                self.assertIn(f"{words[-1]}: '{value}' is not between 0 and {most}", self.refused(*words, value, code=1))
        self.assertIn("--burst", self.refused("generate", "neobank", "--out", "x", "--burst", "-1", code=1))
        self.assertIn("at --until-idle", self.refused("run", "job.sql", "--until-idle", "soon", code=1))
        for words in (("run", "job.sql", "--until-idle"), ("sql", "SELECT 1", "--deadline")):
            self.assertIn(f"'5' has no unit\n  at {words[-1]}\n  hint: write {words[-1]} '5 s'", self.refused(*words, "5", code=1))
        self.assertIn("no time is none to wait", self.refused("run", "job.sql", "--until-idle", "0 s", code=1))
        self.assertIn("at --memory", self.refused("run", "job.sql", "--memory", "much", code=1))
        self.assertFalse((self.folder / "caudal-state").exists())

    def test_what_was_meant(self):
        for words, said in ((["runn", "x"], "there is no command 'runn'\n  hint: did you mean 'run'?"),
                            (["checkpoint", "verfy"], "there is no command 'verfy'\n  hint: did you mean 'verify'?"),
                            (["ops", "SELECT 1"], "there is no command 'SELECT 1'\n  hint: caudal ops --help lists them"),
                            (["run", "a.sql", "--threds=3"], "there is no option '--threds'\n  hint: did you mean '--threads'?"),
                            (["sql", "--jsn", "SELECT 1"], "there is no option '--jsn'\n  hint: did you mean '--json'?"),
                            (["stop", "--force"], "there is no option '--force'\n  hint: caudal stop --help lists them")):
            self.assertIn(said, self.refused(*words, code=1))
        self.assertEqual(json.loads(self.caudal("--json", code=1).stderr)["error"]["message"], "there is no command")

    def test_faults_as_json(self):
        for words, code in ((["run"], 1), (["validate", "none.yaml"], 3), (["sql", "SELEC"], 3), (["status", "--state", "none"], 3),
                            (["stop", "--state", "none"], 3), (["checkpoint", "ls", "--state", "none"], 3)):
            result = self.caudal(*words, "--json", code=code)
            fault = json.loads(result.stderr)
            self.assertEqual(fault["exit"], code)
            self.assertEqual(fault["error"]["domain"], "user")
            self.assertTrue(fault["error"]["message"])
            self.assertEqual(result.stdout, "")

    def test_faults_as_json_have_the_place_as_numbers(self):
        error = json.loads(self.caudal("sql", "SELECT 1;\n  SELEC", "--json", code=3).stderr)["error"]
        self.assertEqual((error["line"], error["column"], error["at"]), (2, 3, ["line 2, column 3"]))

    def test_version(self):
        self.assertRegex(self.caudal("version").stdout, r"^caudal \d+\.\d+\.\d+\n$")
        self.assertRegex(self.rows("version")[0]["caudal"], r"^\d+\.\d+\.\d+$")

        self.assertEqual(self.caudal("--version").stdout, self.caudal("version").stdout)

    def test_help_as_people_try_it(self):
        for command in ["", "sql", "checkpoint diff"]:
            self.assertEqual(self.caudal("help", *command.split()).stdout, self.help_of(command))
        self.assertIn("'checkpoint dif'", self.refused("help", "checkpoint", "dif", code=1))

    def test_lost_output_is_an_error(self):
        self.write("job.sql", ENDLESS.replace("rows-per-second' = '100", "number-of-rows' = '5"))
        self.caudal("run", "job.sql", "--state", "state")
        self.write("dead.sql", """CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json',
  'caudal.errors' = 'dead-letter', 'caudal.dead-letter' = 'dead');
CREATE TABLE dead (`raw` BYTES, error_class STRING) WITH ('connector' = 'filesystem', 'path' = 'dead', 'format' = 'json');
CREATE TABLE gone (n BIGINT) WITH ('connector' = 'blackhole');
INSERT INTO gone SELECT n FROM numbers;
""")
        self.write("in/a.ndjson", "no json\n")
        self.caudal("run", "dead.sql", "--state", "dead-state")
        for words in (["sql", "SELECT 1"], ["explain", "SELECT 1"], ["functions"], ["version"], ["--version"], ["--help"], ["help"],
                      ["sql", "--help"], ["status", "--state", "state"], ["checkpoint", "ls", "--state", "state"],
                      ["dlq", "show", "dead.sql"], ["run", "job.sql", "--state", "other"],
                      ["generate", "neobank", "--events", "10", "--out", f"in-{os.getpid()}"]):
            for also in ([], ["--json"]):
                if also and words[0] in ("run", "generate"):
                    continue  # they would find the first one's state or files
                with open("/dev/full", "w") as full:
                    result = subprocess.run([self.caudal_path, *words, *also], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(result.returncode, 5, f"{words} {result.stderr}")
                self.assertIn("cannot write to standard output: No space left on device", result.stderr)
        self.assertIn("No space left", self.refused("generate", "neobank", "--events", "10", "--expected", "/dev/full", code=5))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_no_further_thread_is_said(self):
        if os.geteuid() != 0:
            self.skipTest("starts the program as a user of its own")
        program = shutil.copy(self.caudal_path, self.folder / "caudal")  # where it lies may be root's alone
        self.folder.chmod(0o755)
        limit = lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        for also, start in (([], "error[external]: the system gives this process no further thread\n  hint: raise"), (["--json"], '{"error":{')):
            result = subprocess.run([program, "sql", "SELECT 1", *also], cwd=self.folder, capture_output=True, text=True, user=64321, group=64321,
                                    extra_groups=[], preexec_fn=limit)
            self.assertEqual(result.returncode, 5, result.stderr)
            self.assertTrue(result.stderr.startswith(start), result.stderr)
        self.assertEqual(json.loads(result.stderr)["error"]["domain"], "external")

    def test_a_reader_that_has_seen_enough_hears_nothing(self):
        for words in (["functions", "--markdown"], ["sql", "SELECT 1"]):
            reader, writer = os.pipe()
            os.close(reader)
            result = subprocess.run([self.caudal_path, *words], cwd=self.folder, stdout=writer, stderr=subprocess.PIPE, text=True)
            os.close(writer)
            self.assertEqual(result.stderr, "")
            self.assertIn(result.returncode, (0, -signal.SIGPIPE))

    def run_until_it_commits(self, *words, ignore_hangup=False):
        self.write("endless.sql", "SET 'execution.checkpointing.interval' = '100 ms';\n" + ENDLESS)
        prefix = ["nohup"] if ignore_hangup else []
        process = subprocess.Popen([*prefix, self.caudal_path, "run", "endless.sql", "--state", "state", *words], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(process)
        self.wait_for(lambda: list(self.folder.glob("state/endless/gone/manifest-*")), "a checkpoint")
        return process

    def test_a_hangup_ends_a_run_like_a_stop(self):
        process = self.run_until_it_commits()
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("published", out)

    def test_nohup_keeps_a_run_going(self):
        process = self.run_until_it_commits(ignore_hangup=True)
        process.send_signal(signal.SIGHUP)
        number = lambda: max(int(path.name.split("-")[2]) for path in self.folder.glob("state/endless/gone/manifest-*"))
        before = number()
        self.wait_for(lambda: number() > before + 1, "a later checkpoint")
        self.caudal("stop", "--state", "state")
        self.assertEqual(process.wait(timeout=30), 0)

    def test_listening_to_others_is_said(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.write("job.sql", ENDLESS.replace("rows-per-second' = '100", "number-of-rows' = '5"))
        said = self.caudal("run", "job.sql", "--state", "a", "--listen", f"0.0.0.0:{port}").stderr
        self.assertIn(f"warning: everyone who reaches 0.0.0.0:{port} can read /metrics", said)
        for number, listen in enumerate((f"127.0.0.1:{port}", f"localhost:{port}", f":{port}", str(port))):
            self.assertNotIn("warning", self.caudal("run", "job.sql", "--state", f"b{number}", "--listen", listen).stderr)
            self.assertIn(f"event=listening address={'localhost' if 'local' in listen else '127.0.0.1'}:{port}",
                          (self.folder / f"b{number}/caudal.log").read_text())

    def test_functions(self):
        self.assertIn("UPPER", self.caudal("functions", "upper").stdout)
        self.assertGreaterEqual(len(self.rows("functions")), 60)
        self.refused("functions", "no_such_function", code=1)
        said = self.caudal("functions", "deduplicate").stdout
        for text in ("DEDUPLICATE (table function)", "on_time => DESCRIPTOR(ts)", "retain: an INTERVAL", "rowtime, the only time attribute"):
            self.assertIn(text, said)
        self.assertEqual([row["name"] for row in self.rows("functions", "TUMBLE")], ["TUMBLE"])

    def test_generate_tells_what_must_come_out(self):
        said = self.rows("generate", "neobank", "--events", "2k", "--seed", "7", "--out", "in", "--expected", "expected.json")
        self.assertEqual(said[0]["events"], 2000)
        expected = json.loads((self.folder / "expected.json").read_text())
        self.assertEqual(expected["events"], 2000)
        self.assertEqual(sum(len(path.read_bytes().splitlines()) for path in (self.folder / "in").iterdir()), 2000)
        self.caudal("generate", "neobank", "--events", "2k", "--seed", "7", "--out", "again")
        for path in (self.folder / "in").iterdir():
            self.assertEqual(path.read_bytes(), (self.folder / "again" / path.name).read_bytes())

    def test_generate_refuses(self):
        words = ["generate", "neobank", "--events", "2k", "--out"]
        self.write("in/transactions-00000007.ndjson", "")
        self.assertIn("folder 'in' is not empty: it holds 'transactions-00000007.ndjson'", self.refused(*words, "in", code=3))
        self.write("hidden/.keep", "")
        self.caudal(*words, "hidden")
        self.assertIn("'/proc/x'", self.refused(*words, "/proc/x", code=3))
        for name in ("duplicates", "late", "malformed"):
            self.assertIn(f"option '--{name}': 'many'", self.refused(*words, "new", f"--{name}", "many", code=1))
        self.assertIn("option '--event-time-rate': '0'", self.refused(*words, "new", "--event-time-rate", "0", code=1))

    def test_digest_does_not_depend_on_order(self):
        self.assertEqual(self.lines("digest", stdin="a\nb\n"), self.lines("digest", stdin="b\na"))
        self.assertEqual(self.lines("digest", "--header", stdin="x\na\nb\n"), self.lines("digest", stdin="b\na\n"))
        self.assertNotEqual(self.lines("digest", stdin="a\nb\n"), self.lines("digest", stdin="a\na\n"))

    def test_progress_on_a_terminal_only(self):
        words = ["generate", "neobank", "--events", "12k", "--rate", "20000", "--out"]
        self.assertEqual(self.caudal(*words, "in").stderr, "")
        text = self.on_terminal(*words, "again", out=False)
        self.assertRegex(text, r"\r\x1b\[Kgenerate: [\d,]+ of 12,000 events in \d+ files, [\d,]+ events/s")
        self.assertTrue(text.endswith("\r\x1b[K"), text[-40:])  # nothing of it stays


if __name__ == "__main__":
    main()
