# SPDX-License-Identifier: GPL-2.0
"""
What is wrong is refused: exit status 2, one line naming the option or key, the value
and what is allowed, and nothing created.
"""

import os
import subprocess
import tempfile
import unittest

from quell_lab import cli, runner

import helpers

LAB = os.path.join(runner.HERE, "lab")

INCAST = {"--senders": "16", "--bytes": "1000000", "--stagger": "2:20us", "--rate": "100gbit",
          "--delay": "1us", "--mtu": "1500", "--cc": "swift,cubic", "--limit": "500kb",
          "--ecn": "50kb", "--seed": "1"}

# options changed (None: left out), and what the message must say, in order
OPTIONS = (
    ({"--mem": "1mb"}, ("--mem", "'1mb'", "32mb to 1024gb")),
    ({"--senders": "0"}, ("--senders", "'0'", "1 to 2048")),
    ({"--senders": "many"}, ("--senders", "'many'", "1 to 2048")),
    ({"--senders": "2049"}, ("--senders", "'2049'", "1 to 2048")),
    ({"--senders": None}, ("--senders",)),
    ({"--bytes": "0"}, ("--bytes", "'0'", "1b to 64gb")),
    ({"--bytes": "-5"}, ("--bytes",)),
    ({"--bytes": "1.5"}, ("--bytes", "'1.5'", "not a whole number")),
    ({"--delay": "0.4ns"}, ("--delay", "'0.4ns'", "not a whole number")),
    ({"--bytes": "1e6"}, ("--bytes", "'1e6'", "not a size")),
    ({"--stagger": "2"}, ("--stagger", "'2'", "COUNT:TIME")),
    ({"--stagger": "0:20us"}, ("--stagger", "'0'", "1 to 2048")),
    ({"--stagger": "2:20furlong"}, ("--stagger", "'20furlong'", "furlong")),
    ({"--jitter": "2s"}, ("--jitter", "'2s'", "0ns to 1s")),
    ({"--rate": "0gbit"}, ("--rate", "'0gbit'", "1mbit to 1tbit")),
    ({"--rate": "2tbit"}, ("--rate", "'2tbit'", "1mbit to 1tbit")),
    ({"--rate": "100gb"}, ("--rate", "'100gb'", "'gb'", "gbit")),
    ({"--rate": "100 Gbit/s"}, ("--rate", "'100 Gbit/s'", "not a rate such as 100gbit")),
    ({"--delay": "1parsec"}, ("--delay", "'1parsec'", "0ns to 1s")),
    ({"--mtu": "100"}, ("--mtu", "'100'", "576 to 9216")),
    ({"--mtu": "65536"}, ("--mtu", "'65536'", "576 to 9216")),
    ({"--cc": "swfit"}, ("--cc", "'swfit'", "did you mean 'swift'", "dctcp")),
    ({"--cc": "DCTCP"}, ("--cc", "'DCTCP'", "did you mean 'dctcp'")),
    ({"--cc": "swift,swift"}, ("--cc", "'swift'", "twice")),
    ({"--cc": ""}, ("--cc", "''")),
    ({"--cc": "swift:ia=1gbit"}, ("--cc", "'ia'", "ai")),
    ({"--cc": "swift:ai"}, ("--cc", "'ai'", "KEY=VALUE")),
    ({"--cc": "swift:ai=9tbit"}, ("--cc", "swift.ai", "'9tbit'", "to 1tbit")),
    ({"--cc": "cubic:ai=1gbit"}, ("--cc", "cubic", "'ai'", "none")),
    ({"--cc": "smartt:preset=nsc"}, ("--cc", "smartt", "'nsc'", "did you mean 'nscc'")),
    ({"--cc": "cubic:preset=nscc"}, ("--cc", "cubic", "'nscc'", "none")),
    ({"--cc": "timely:patched=maybe"}, ("--cc", "timely.patched", "'maybe'", "off to on")),
    ({"--set": "swift.beta=2"}, ("--set swift.beta", "'2'", "to 1")),
    ({"--set": "swift.betta=0.5"}, ("--set", "'betta'", "did you mean 'beta'")),
    ({"--set": "bbr.beta=0.5"}, ("--set", "'bbr'", "swift, cubic")),
    ({"--set": "swift.beta"}, ("--set", "KEY=VALUE")),
    ({"--set": "beta=0.5"}, ("--set", "CC.KEY=VALUE")),
    ({"--limit": "1kb"}, ("--limit", "1024", "1514")),
    ({"--limit": "2gb"}, ("--limit", "'2gb'", "1gb")),
    ({"--control-limit": "0"}, ("--control-limit", "'0'", "1gb")),
    ({"--ecn": "80kb:50kb"}, ("--ecn", "'80kb:50kb'", "MIN <= MAX <= limit")),
    ({"--ecn": "600kb"}, ("--ecn", "'600kb'", "500kb")),
    ({"--ecn": "1:2:3"}, ("--ecn", "'1:2:3'", "MIN:MAX")),
    ({"--buffer": "10"}, ("--buffer", "'10'")),
    ({"--alpha": "0"}, ("--alpha", "'0'")),
    ({"--alpha": "1025"}, ("--alpha", "'1025'", "to 1024")),
    ({"--ecn-mode": "departure"}, ("--ecn-mode", "'departure'", "dequeue", "enqueue")),
    ({"--ecn-probability": "1.5"}, ("--ecn-probability", "'1.5'", "to 1")),
    ({"--telemetry": "99ns"}, ("--telemetry", "'99ns'", "100ns to 1s")),
    ({"--telemetry": "2s"}, ("--telemetry", "'2s'", "100ns to 1s")),
    ({"--telemetry": "off"}, ("--telemetry", "'off'", "100ns to 1s")),
    ({"--telemetry": "8kb"}, ("--telemetry", "'8kb'", "'kb'", "us")),
    ({"--trim": "63"}, ("--trim", "'63'", "64b to 65535b")),
    ({"--trim": "64kb"}, ("--trim", "'64kb'", "64b to 65535b")),
    ({"--trim": "off"}, ("--trim", "'off'", "64b to 65535b")),
    ({"--trim": "1514"}, ("--trim", "1514 bytes", "64b to 1513b", "1514")),
    ({"--trim": "9000", "--mtu": "1500"}, ("--trim", "9000 bytes", "64b to 1513b")),
    ({"--trim": "1025", "--control-limit": "1kb"}, ("--trim", "1025", "64b to control-limit 1kb")),
    ({"--seed": "-1"}, ("--seed",)),
    ({"--seed": "4294967296"}, ("--seed", "'4294967296'", "0 to 4294967295")),
    ({"--topology": "ring"}, ("--topology", "'ring'", "one of star, dumbbell, leaf-spine")),
    ({"--leaves": "1", "--topology": "leaf-spine"}, ("--leaves", "'1'", "2 to 64")),
    ({"--deflect": "15kb"}, ("--deflect", "no switch of this topology")),
    ({"--deflect-idle": "1ms"}, ("--deflect-idle", "without deflect")),
    ({"--deflect": "60kb", "--ecn": "50kb", "--topology": "leaf-spine"},
     ("--deflect", "61440 bytes", "1b to 51199b")),
    ({"--deflect": "break-evn", "--topology": "leaf-spine"},
     ("--deflect", "'break-evn'", "1b to 1gb, or break-even")),
    ({"--deflect": "break-even", "--ecn": "20kb", "--topology": "leaf-spine"},
     ("--deflect", "28076 bytes of l1:p6", "1b to 20479b")),
    ({"--deflect": "15kb", "--deflect-idle": "5us", "--topology": "leaf-spine"},
     ("--deflect-idle", "above 40.96us")),
    ({"--deflect": "15kb", "--deflect-base": "44", "--topology": "leaf-spine"},
     ("--deflect-tokens", "at most 47")),
    ({"--dscp": "64"}, ("--dscp", "0 to 63")),
    ({"--trunk-rate": "1gbit"}, ("--trunk-rate", "dumbbell")),
    ({"--topology": "dumbbell", "--trunk-rate": "9"}, ("--trunk-rate", "'9'", "1mbit")),
    ({"--until": "1us"}, ("--until", "'1us'", "above 140.073us")),
    ({"--jobs": "0"}, ("--jobs", "'0'", "1 to 1024")),
    ({"--timeout": "x"}, ("--timeout", "'x'", "1 to 1000000")),
    ({"--kernel": "fast"}, ("kernel", "fast", "6.12", "debug")),
    ({"--record-queue": "1ns"}, ("--record-queue", "'1ns'", "100ns to 1s")),
    ({"--window": "1ns"}, ("--window", "'1ns'", "1us to 1s")),
    ({"--tso": "65"}, ("--tso", "'65'", "1 to 64")),
    ({"--noise": "200ms"}, ("--noise", "'200ms'", "0ns to 100ms")),
    ({"--noise": "1us", "--noise-at": "switches"}, ("--noise-at", "'switches'", "receivers")),
    ({"--noise-at": "senders"}, ("--noise-at", "--noise")),
    ({"--colour": "red"}, ("--colour",)),
    ({"--out": None}, ("--out",)),
)

SCENARIO = """\
seed = 1
[topology]
kind = "star"
hosts = 3
rate = "100gbit"
delay = "1us"
[[algorithm]]
name = "cubic"
[[flow]]
src = "h1"
dst = "h3"
bytes = 1000
"""

ROW = '"A Fig. 1", "cubic", "fct_max"'

# text replaced in the scenario, its replacement, and what the message must say
FILES = (
    ("seed = 1", 'extends = "sun.scenario"', (":1: extends", "no file", "sun.scenario")),
    ("seed = 1", 'title = "a"\nextends = "bed.scenario"', (":2: extends", "bed.scenario",
                                                          "did you mean 'bad.scenario'")),
    ('delay = "1us"', 'delay = "1us"\nmultipath = true',
     ("topology.multipath", "not a key of a table: it precedes the first [table]")),
    ('kind = "star"\n', "", ("topology.kind", "missing: one of star, dumbbell")),
    ('name = "cubic"', 'name = "swift"\nadapt = "on"',
     ("algorithm[0].adapt", 'a parameter: write set = { adapt = "on" }')),
    ('[[flow]]\nsrc = "h1"', '[[flows]]\nsrc = "h1,h2"',
     ("flows[0].src", "'h1,h2' is not a name", "h[1-3], or a list")),
    ('src = "h1"', 'src = "h[1-2]"', ("flow[0].src", "'h[1-2]'", "one host is needed")),
    ('kind = "star"\nhosts = 3\nrate = "100gbit"\ndelay = "1us"',
     'kind = "graph"\nhosts = "h[1-3]"\nswitches = "s[1-2]"\ncables = [\n'
     '{ a = "h[1-2]", b = "s1", rate = "1gbit", delay = "1us" },\n'
     '{ a = "h3", b = "s2", rate = "1gbit", delay = "1us" }]',
     ("bad.scenario: topology: no path from h1 to h3",)),
    ("seed = 1", "pfc = true", ("pfc", "'true' is not a table: write [pfc], once")),
    ("seed = 1", 'extends = "bad.scenario"', (":1: extends", "'bad.scenario'", "a circle")),
    ("seed = 1", "extends = 1", (":1: extends", "'1'", "not the name of a file")),
    ("seed = 1", '"extends" = "sun.scenario"', (":1: extends", "no file", "sun.scenario")),
    ("bytes = 1000", "bytes = 1000\n[extends]", (": extends", "'{}'", "not the name of a file")),
    ("bytes = 1000", 'bytes = 1000\n[[paper]]\nfigure = "A"\nquantity = "fct_max"',
     ("paper[0]", "[[paper]]", "write paper = [ROW, ...]", '"FIGURE", "RUN", "QUANTITY"')),
    *(("seed = 1", f"paper = [{rows}]", words) for rows, words in (
        ('"A"', ("paper[0]", "'A' is not a row", "FIGURE")),
        ('["A", "cubic"]', ("paper[0]", "is not a row", "FIGURE")),
        (f'[{ROW}, "20us", "a", "b"]', ("paper[0]", "is not a row", "FIGURE")),
        ('["A", "cubic", "fct_max of"]', ("paper[0].quantity", "'fct_max of'", "NAME over RUN")),
        ('["A", "cubic", "fct_mx"]', ("paper[0].quantity", "'fct_mx'", "'fct_max'")),
        (f'[{ROW}], ["A", "cubick", "drops"]', ("paper[1].run", "'cubick'", "'cubic'")),
        ('["A", [], "drops"]', ("paper[0].run", "no run ''", "cubic")),
        ('["A", "cubic", "drops (stedy)"]', ("paper[0].measure", "'stedy'", "run")),
        ('["A", "cubic", "drops over cubick"]', ("paper[0].over", "'cubick'", "'cubic'")),
        ('["A", "cubic", "fct_p50 of 5"]', ("paper[0].sizes", "'5' is not LOW:HIGH")),
        (f'[{ROW}, "20"]', ("paper[0].value", "'20' has no unit")))),
    ("seed = 1", "sede = 1", ("sede", "did you mean 'seed'")),
    ("seed = 1", "seed = -1", ("seed", "'-1'", "0 to 4294967295")),
    ("seed = 1", "seed = true", ("seed", "'true'")),
    ("seed = 1", "seed = ", ("not TOML",)),
    ("seed = 1", "seed = " + "1" * 5000, ("not TOML", "4300 digits")),
    ("seed = 1", "family = 5", ("family", "'5'", "4 or 6")),
    ("seed = 1", "family = 10", ("family", "'10'", "4 to 6")),
    ("seed = 1", "multipath = 1", ("multipath", "'1'", "true or false")),
    ('name = "cubic"', 'name = "smartt"\nentropies = 64', ("family", "must be 6")),
    ('name = "cubic"', 'name = "smartt"\nentropies = 256', ("algorithm[0].entropies", "'256'",
                                                           "0 to 255")),
    ('name = "cubic"', 'name = "cubic"\nlookahead = true', ("algorithm[0].lookahead",
                                                          "cubic has no look-ahead")),
    ('name = "cubic"', 'name = "dart"\nlookahead = true', ("algorithm[0].lookahead",
                                                         "without [[lookahead]]")),
    ("seed = 1", 'lookahead = [{ receiver = "h3", members = "h1" }]', ("lookahead", "no [[alg")),
    *(('name = "cubic"', f'name = "dart"\nlookahead = true\n{setting}\n[[lookahead]]\n'
       f'receiver = "{receiver}"\nmembers = {members}\n{time}', words)
      for setting, receiver, members, time, words in (
          ("", "h4", '"h1"', "", ("lookahead[0].receiver", "'h4'", "h1 to h3")),
          ("", "h3", '"h4"', "", ("lookahead[0].members", "'h4'", "h1 to h3")),
          ("", "h3", "[]", "", ("lookahead[0].members", "0 hosts", "1 to 128")),
          ("", "h3", '["h1", "h1"]', "", ("lookahead[0].members", "twice")),
          ("", "h3", '"h[1-3]"', "", ("lookahead[0].members", "'h3'")),
          ("", "h3", '"h1"', 'time = "2ms"', ("lookahead[0].time", "2ms", "1ms", "'dart'")),
          ("set = { lookahead = 0 }", "h3", '"h1"', "", ("lookahead[0]", "'dart:lookahead=0'",
                                                         "no look-ahead")))),
    ('[topology]\nkind = "star"\nhosts = 3\nrate = "100gbit"\ndelay = "1us"\n',
     "multipath = true\n[topology]\nkind = 'graph'\nhosts = 'h[1-3]'\n"
     "switches = ['l', 't[1-1025]']\n"
     "cables = [{ a = 'h[1-3]', b = 'l', rate = '1gbit', delay = 0 }, { a = 'l', b = 't[1-1025]', rate = '1gbit', delay = 0 }]\n",
     ("topology", "'l' has 1025 cables", "at most 1024")),
    ("hosts = 3", "hosts = 1", ("topology.hosts", "'1'", "2 to 4096")),
    ("hosts = 3", "hosts = [3]", ("topology.hosts", "2 to 4096")),
    ("hosts = 3", "", ("topology.hosts", "missing")),
    ("hosts = 3", "hosts = 3\nhoops = 1", ("topology.hoops", "did you mean 'hosts'")),
    ('"star"', '"stra"', ("topology.kind", "'stra'", "did you mean 'star'")),
    ('"100gbit"', '"100"', ("topology.rate", "'100'", "1mbit to 1tbit")),
    ('"1us"', '"1kb"', ("topology.delay", "'1kb'", "kb")),
    ('[topology]', '[topologies]', ("topologies", "did you mean 'topology'")),
    ('name = "cubic"', 'name = "cubick"', ("algorithm[0]", "'cubick'", "'cubic'")),
    ('name = "cubic"', 'name = "swift"\nset = { base_target = "1us" }',
     ("algorithm[0]", "'base_target'", "'base-target'")),
    ('name = "cubic"', 'name = "swift"\nset = { base-target = "1h" }',
     ("algorithm[0]", "swift.base-target", "'1h'", "0ns to 1s")),
    ('name = "cubic"', 'name = "smartt"\npreset = "iiii"',
     ("algorithm[0]", "smartt", "'iiii'", "did you mean 'iii'")),
    ('name = "cubic"', 'name = "cubic"\nlabel = "a,b"', ("algorithm[0]", "'a,b'")),
    ('[[algorithm]]\nname = "cubic"', "algorithm = []", ("algorithm",)),
    ('src = "h1"', 'src = "h4"', ("flow[0].src", "'h4'", "h1 to h3")),
    ('src = "h1"', 'src = "h3"', ("flow[0]", "'h3'")),
    ("bytes = 1000", 'bytes = "0b"', ("flow[0].bytes", "'0b'", "1b to 64gb")),
    ("bytes = 1000", "bytes = 1000\ncold = 1", ("flow[0].cold", "'1'", "true or false")),
    ("bytes = 1000", "bytes = 1000\n[incast]\nsenders = 1\nbytes = 1", ("flow", "either")),
    ("bytes = 1000", "bytes = 1000\n[queue]\nlimit = 10", ("queue.limit", "'10'", "600b")),
    ("bytes = 1000", "bytes = 1000\n[queue]\ntelemetry = true",
     ("queue.telemetry", "'true'", "100ns to 1s")),
    ("bytes = 1000", "bytes = 1000\n[queue]\ntelemetri = 8", ("did you mean 'telemetry'",)),
    ("bytes = 1000", "bytes = 1000\n[record]\nqueue = 0", ("record.queue", "'0'", "100ns to 1s")),
    ("bytes = 1000", "bytes = 1000\n[check]\nexact = true", ("check.exact",)),
    *(("bytes = 1000", f"bytes = 1000\n[pfc]\n{keys}", words) for keys, words in (
        ("off = true", ("pfc.off", "unknown key", "on")),
        ("on = 1", ("pfc.on", "'1'", "true or false")),
        # Two us at 100 Gbit/s, a packet of 1538 bytes, two pause frames, two packets of 1514.
        ("headroom = 29733", ("pfc.headroom", "29733 bytes", "cable h1-s1 needs 29734 bytes")),
        ("headroom = '20kb'", ("pfc.headroom", "20480 bytes is too little", "29734")),
        ("headroom = 29734\n[[flows]]\nsrc = 'h1'\ndst = 'h3'\nbytes = 1\ndscp = 8",
         ("pfc.headroom", "29902")),
        ("xoff = 1000", ("pfc.xoff", "1000 bytes", "one packet of 1514")),
        ("xoff = '100kb'\nxon = '100kb'", ("pfc.xon", "102400 bytes", "below xoff, 102400")),
        ("alpha = 1", ("pfc.alpha", "needs buffer")),
        ("alpha = 0\nbuffer = '1mb'", ("pfc.alpha", "'0'")),
        ("alpha = 1\nbuffer = '1mb'\nxoff = '9kb'", ("pfc.xoff", "not with alpha")),
        ("alpha = 1\nbuffer = '1mb'\nxon = '9kb'", ("pfc.xon", "not with alpha")),
        ("buffer = '380kb'", ("pfc.buffer", "389120 bytes", "xoff and headroom", "3 ports of s1",
                              "396402")),
        ("alpha = 0.5\nbuffer = '90kb'", ("pfc.buffer", "92160 bytes", "89202", "3028 more")),
        ("[queue]\ntrim = 128", ("queue.trim", "not with pfc")),
        ("[queue]\nbuffer = '1mb'", ("queue.buffer", "not with pfc")),
    )),
)


def run_command(*argv):
    """The real command, where helpers.run_lab() stays in this process."""
    return subprocess.run([LAB, *argv], capture_output=True, text=True, timeout=60, check=False,
                          stdin=subprocess.DEVNULL)


class BadInput(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = scratch.name
        self.out = os.path.join(self.directory, "new", "out")

    def refused(self, argv, words, run=helpers.run_lab, expected=cli.EXIT_USAGE):
        before = sorted(os.listdir(self.directory))
        done = run(*argv)
        error = done.stderr
        self.assertEqual(done.returncode, expected, error)
        self.assertEqual(done.stdout, "")
        self.assertEqual(error.count("\n"), 1, error)
        position = 0
        for word in words:
            self.assertIn(word, error[position:], error)
            position = error.index(word, position)
        self.assertEqual(sorted(os.listdir(self.directory)), before)

    def test_options(self):
        for changes, words in OPTIONS:
            options = dict(INCAST, **{"--out": self.out})
            options.update(changes)
            argv = ["incast"]
            for option, value in options.items():
                if value is not None:
                    argv += [option, value]
            with self.subTest(changes):
                self.refused(argv, words)

    def test_files(self):
        path = os.path.join(self.directory, "bad.scenario")
        for old, new, words in FILES:
            with self.subTest(new):
                self.assertEqual(SCENARIO.count(old), 1)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(SCENARIO.replace(old, new))
                self.refused(["run", path, "--out", self.out], ("bad.scenario",) + words)

    def test_command_lines(self):
        for argv, words in (
                (["frob"], ("lab: command line: ", "'frob'", "incast", "see lab --help")),
                (["run"], ("lab: run: ", "FILE.scenario, --out", "see lab run --help")),
                (["plan", "x", "--frob"], ("lab: plan: ", "'--frob'; see lab plan --help")),
                (["run", "x", "--out", "y", "--sedes=5"],
                 ("lab: run: ", "'--sedes', did you mean '--seeds'?; see lab run --help")),
                (["run", "x", "--outt", "y"], ("lab: run: ", "'--outt', did you mean '--out'?")),
                (["run", "x", "y", "--outt=z"], ("lab: run: ", "'--outt', did you mean '--out'?")),
                (["run", "x", "--quiet"], ("lab: run: ", "are required: --out")),
                (["--hlep"], ("lab: command line: ", "'--hlep', did you mean '--help'?")),
                (["run", "x", "--out", "y", "--\x1b[2J\x9b"], ("'--\\x1b[2J\\x9b'",))):
            with self.subTest(argv):
                self.refused(argv, words)

    def test_missing_file(self):
        self.refused(["run", os.path.join(self.directory, "none"), "--out", self.out],
                     ("none", "No such file"))

    def test_file_that_is_not_text(self):
        path = os.path.join(self.directory, "bad.scenario")
        with open(path, "wb") as file:
            file.write(b"title = \"\xff\"\n")
        self.refused(["run", path, "--out", self.out], ("bad.scenario", "not UTF-8"))

    def test_no_command(self):
        self.refused([], ("COMMAND",), run_command)
        self.refused(["incats"], ("incats",))

    def test_directory_of_somebody_else(self):
        path = os.path.join(self.directory, "thesis")
        os.mkdir(path)
        with open(os.path.join(path, "chapter1"), "w", encoding="ascii") as file:
            file.write("x")
        argv = [part for option, value in INCAST.items() for part in (option, value)]
        self.refused(["incast", *argv, "--out", path], ("--out", "thesis", "not empty"))
        self.assertEqual(os.listdir(path), ["chapter1"])

    def test_file_in_place_of_directory(self):
        path = os.path.join(self.directory, "file")
        with open(path, "w", encoding="ascii") as file:
            file.write("x")
        argv = [part for option, value in INCAST.items() for part in (option, value)]
        self.refused(["incast", *argv, "--out", path], ("--out", "file", "not a directory"))

    def test_directory_that_cannot_be(self):
        """Refused before a kernel is looked for, by all commands."""
        path = os.path.join(self.directory, "good.scenario")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SCENARIO)
        for out in ("", "/proc/x", os.path.join(self.out, "n" * 300), os.path.join(path, "x")):
            for words in (["run", path], ["run", path, "--seeds", "2"], ["demo"], ["reproduce"],
                          ["diff", "7.4", "7.4", path]):
                with self.subTest(words=words, out=out):
                    self.refused([*words, "--out", out], ("--out", f"'{out}'"))

    def test_arguments_in_each_others_place(self):
        """A scenario for a sweep, a sweep for a scenario, a file for a kernel, --seed of diff."""
        scenario, sweep = (os.path.join(self.directory, name) for name in ("a.scenario", "a.sweep"))
        for path in (scenario, sweep):
            with open(path, "w", encoding="utf-8") as file:
                file.write(SCENARIO)
        for words in (["run"], ["run", "--seeds", "2"], ["exec", "--on", "h1", "true"]):
            self.refused([*words[:1], sweep, *words[1:], "--out", self.out],
                         (sweep, "a sweep", "'lab sweep'"))
        self.refused(["plan", sweep], (sweep, "a sweep", "'lab sweep'"))
        self.refused(["holds", sweep, "p99 < 1us"], (sweep, "a sweep", "'lab sweep'"),
                     expected=cli.EXIT_ABORT)
        self.refused(["sweep", scenario, "--list"], (scenario, "a scenario", "'lab run'"))
        for name, words in (("A", [scenario, "6.12", "7.3"]), ("B", ["6.12", sweep, "7.3"])):
            self.refused(["diff", *words, "--out", self.out], (f"lab: {name}: ", "follow A and B"))
        self.refused(["diff", "6.12", "6.12", scenario, "--seed", "2", "--out", self.out],
                     ("'--seed'", "'--seeds'"))

    def test_plan_of_unknown_label(self):
        path = os.path.join(self.directory, "good.scenario")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SCENARIO)
        self.refused(["plan", path, "--cc", "cubik"], ("--cc", "'cubik'", "did you mean 'cubic'"))

    def test_good_plan_is_printed(self):
        path = os.path.join(self.directory, "good.scenario")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SCENARIO)
        done = run_command("plan", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("quell-plan 1\n"))

    def test_default_grid_ends_with_the_lab(self):
        for names, words in (("nosuch", "unknown congestion control"),
                             ("tcp_cubic.ko", "this congestion control is written cubic"),
                             ("swift,cubic", "twice")):
            with self.subTest(names):
                done = subprocess.run(
                    [os.path.join(runner.HERE, "default-grid"), self.directory, "--cc", names,
                     "--only", "1gbit-10ms-50us"], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(words, done.stderr)
                self.assertNotIn("Traceback", done.stderr)
