# SPDX-License-Identifier: GPL-2.0
"""
Whole runs of the command, mostly in this process, and the real uml-run around a kernel that is a
script: what the front end makes of good, bad, late and interrupted runs.
"""

import json
import os
import pty
import re
import signal
import subprocess
import tempfile
import time
import unittest

from quell_lab import runner

import helpers

LAB = os.path.join(runner.HERE, "lab")
DETRAND = [os.path.join(runner.HERE, name) for name in ("detrand.c", "syscost.c")]
MODULES = ("quell_labnic.ko", "quell_labflow.ko", "sch_swport.ko", "quell.ko", "tcp_swift.ko")
CSV = ("flows.csv", "queues.csv", "cwnd.csv", "delivered.csv")
OUTPUT = {"flows.csv", "queues.csv", "cwnd.csv", "delivered.csv", "summary.json", "report.html",
          "fct-cdf.svg", "jain.svg", "queue.svg", "goodput.svg", "cwnd.svg",
          "raw", ".quell-lab"}
NARROW = {name.replace(".svg", "-narrow.svg") for name in OUTPUT if name.endswith(".svg")}
NARROW_PT = 290			# on a phone of 390 pixels their text has 11

# Two flows of 3000 bytes over 100 Gbit/s and 1 us cables take at least 2384 ns.
KERNEL = """\
#!/usr/bin/python3
import os, sys, time
if sys.argv[1:] == ["--version"]:
    sys.exit()
root = next(arg for arg in sys.argv if arg.startswith("rootflags=")).partition("=")[2]
out = "/" + root.strip("/") + "/out/"
def put(name, text):
    with open(out + name, "w") as file:
        file.write(text)
def results(end="40000", queue="3000", delivered="3000", first="30000", more=""):
    put("flows.out", "1 0 %s 3000 3000 0 3\\n2 0 %s 3000 %s 0 3\\n" % (first, end, delivered))
    put("marks.out", "1 16 0 0 0 0 0 16 15\\n2 16 0 0 0 0 0 16 15\\n")
    put("queues.out", "s1 p3 0 0\\ns1 p3 1000 1514\\ns1 p3 2000 0\\n")
    put("cwnd.out", "1 1000 14480 0 4000 0\\n2 1000 14480 0 4000 0\\n")
    put("delivered.out", "1 10000 1448\\n1 40000 3000\\n2 10000 1448\\n"
        + "2 40000 3000\\n" * (delivered == "3000"))
    put("ports.out", "".join("s1 p%d tx_packets=9 kind=swport data_backlog_max_bytes=%s "
        "control_backlog_max_bytes=0%s\\n" % (i, queue if i == 3 else 0, more)
        for i in (1, 2, 3)))
    put("counters.out", "h1 quell rtt-samples 9\\n")
    put("done.out", "ok virtual_ns=40000\\n")
print("quell-progress 0 0 2", flush=True)
"""

SCENARIO = """\
topology = { kind = "star", hosts = 3, rate = "100gbit", delay = "1us" }
queue = { limit = "10kb" }
algorithm = [{ name = "cubic" }]
flows = [{ src = "h[1-2]", dst = "h3", bytes = 3000 }]
"""
STEADY = """\
check = { allow-unfinished = true }
measure = { from = "10us", to = "40us" }
"""
FIGURES = """\
paper = [
    ["A Fig. 1", "cubic", "throughput", "0.4gbit"],
    ["A Fig. 1", "*", "fct_min", "60us"],
]
"""


# Another end with one seed, which the first port's lottery has in the plan.
OF_SEED = """\
text = open(out + "../plan").read()
(lambda seed, one, other: results(end=one if f"seed={seed * 65537 + 1} " in text + " "
    or f"seed={seed * 65537 + 1}\\n" in text else other))"""
PANIC = ["userspace - ptrace set fp regs failed, errno = 14",
         "Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b",
         *(f" [<{number:08x}>] ? block_signals+0x0/0x20" for number in range(40))]

# What the kernel does, options, and what standard error says.
FAILURES = (
    ("results(end='2383')", (), ["flow 2 (h2 to h3): completion in 2383 ns is below the physical "
                                 "limit of 2384 ns"]),
    ("results(queue='11755')", (), ["port s1:p3: data queue reached 11755 bytes"]),
    ("results(end='-1')", (), ["flow 2 (h2 to h3): not finished by 10"]),
    ("print('something odd')\nput('errors.out', 'plan line 3: node x: no')", (),
     ["cubic: plan line 3: node x: no", "| something odd"]),
    ("print('Out of memory and no killable processes...')\nsys.exit(1)", ("--mem", "48mb"),
     ["the guest's memory of 48M did not suffice: give more by --mem"]),
    ("time.sleep(600)", ("--timeout", "1"), ["killed after ", " s of --timeout"]),
    (f"print({chr(10).join(['boot'] * 40 + PANIC)!r})\nsys.exit(1)", (),
     [f"    | {text}\n" for text in PANIC[:3]]),
    *((f"print({text!r})\nresults()", (), [text]) for text in (
        "WARNING: CPU: 0", "BUG: KASAN: use-after-free", "quell-kmemleak 2",
        "possible circular locking dependency detected")))


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.detrand = os.path.join(scratch.name, "detrand.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", cls.detrand, *DETRAND], check=True)

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = scratch.name
        self.out = os.path.join(self.directory, "out")
        modules = os.path.join(self.directory, "modules")
        os.mkdir(modules)
        for path in [os.path.join(modules, name) for name in MODULES] + [self.path("lab-init")]:
            with open(path, "w", encoding="ascii"):
                pass
        os.symlink(self.detrand, self.path("detrand.so"))
        self.environment = {"QUELL_LAB_KERNEL": self.path("linux"), "QUELL_LAB_MODULES": modules,
                            "QUELL_LAB_INIT": self.path("lab-init")}

    def path(self, name):
        return os.path.join(self.directory, name)

    def kernel(self, body):
        with open(self.path("linux"), "w", encoding="ascii") as file:
            file.write(KERNEL + body)
        os.chmod(self.path("linux"), 0o755)

    def argv(self, *more, cc="cubic"):
        return ["incast", "--senders", "2", "--bytes", "3000", "--rate", "100gbit",
                "--delay", "1us", "--jitter", "0", "--cc", cc, "--limit", "10kb", "--out",
                self.out, *more]

    def lab(self, *more, cc="cubic", figures=("--no-figures",)):
        return helpers.run_lab(*self.argv(*more, *figures, cc=cc), environment=self.environment)

    @staticmethod
    def read(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def text(self, name):
        return self.read(os.path.join(self.out, name))

    def test_good_run(self):
        self.kernel("results()")
        run = self.lab(cc="cubic,swift:ai=1gbit", figures=())
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(set(os.listdir(self.out)), OUTPUT | NARROW)
        self.assertEqual(self.text("flows.csv").splitlines()[3],
                         "swift:ai=1gbit,1,h1,h3,3000,0,30000,30000,2384,0")
        summary = json.loads(self.text("summary.json"))
        self.assertEqual(list(summary["cc"]), ["cubic", "swift:ai=1gbit"])
        self.assertEqual(summary["cc"]["cubic"]["packet_hops"], 27)
        self.assertEqual(summary["failures"], {})
        self.assertRegex(summary["version"], r"^[0-9.]+, laboratory [0-9a-f]{12}$")
        page = self.text("report.html")
        self.assertIn(summary["version"], page)
        self.assertIn("drops  marks", run.stdout)
        self.assertEqual(page.count("<svg"), 2 * (len(NARROW) + 1))	# with the network
        self.assertEqual(page.count('<div class="narrow"><svg'), len(NARROW) + 1)
        widths = re.findall(r'<div class="narrow"><svg [^>]*?width="([0-9.]+)pt"', page)
        self.assertEqual([width for width in widths if float(width) > NARROW_PT], [])
        self.assertEqual(len(widths), len(NARROW) + 1)
        self.assertIn("All sanity checks hold", page)
        self.assertNotRegex(page, r'(src|href)="(?!#)')

    def test_trimmed_packets_are_told_beside_drops(self):
        self.kernel("results(more=' drops=5 trim_pkts=5')")
        run = self.lab("--trim", "128b")
        self.assertEqual(run.returncode, 0, run.stderr)
        header, row = run.stdout.splitlines()[:2]
        self.assertRegex(header, "drops  trims  marks")
        self.assertRegex(row, " 15     15      0 ")

    def test_notes_are_beside_the_verdict(self):
        self.kernel("results()")
        run = self.lab(cc="swift:base-target=1us")
        note, = json.loads(self.text("summary.json"))["notes"]
        self.assertIn(f"lab: note: {note}\n", run.stderr)
        self.assertRegex(self.text("report.html"), r"sanity checks hold(?s:.*)<b>Note</b>: "
                         r"swift:base-target=1us: its target is below(?s:.*)<h2>The whole run")
        self.lab()
        self.assertNotIn("<b>Note</b>", self.text("report.html"))

    def test_without_figures(self):
        self.kernel("results()")
        run = self.lab()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(set(os.listdir(self.out)),
                         {name for name in OUTPUT if not name.endswith(".svg")})
        self.assertNotIn("<svg", self.text("report.html"))

    def test_cost_of_a_run_is_in_the_summary_and_not_in_the_log(self):
        self.kernel("print('quell-cpu 500000000\\nquell-progress 1 0 2\\nquell-cpu 3500000000\\n"
                    "quell-progress 9 2 2\\nquell-cost 4000000000 2048')\nresults()")
        run = self.lab()
        self.assertEqual(run.returncode, 0, run.stderr)
        one = json.loads(self.text("summary.json"))["cc"]["cubic"]["cost"]
        self.assertEqual([one[key] for key in ("setup_cpu_s", "run_cpu_s", "cpu_s",
                                               "peak_memory_bytes", "packet_hops_per_cpu_s")],
                         [0.5, 3.0, 4.0, 2 << 20, 9])
        self.assertRegex(run.stdout, r"\n\ncost of the run +packet hops +wall +of it set-up +CPU "
                         r"+of it flows +hops/CPU s +memory\n"
                         r"cubic +27 +\d+\.\d s +\d+\.\d s +4\.0 s +3\.0 s +9 +2 MB\n")
        self.assertNotIn("CPU", run.stdout.splitlines()[0])
        self.assertNotIn("quell-c", self.text("raw/1-cubic/kernel.log"))

    def test_memory_of_a_run(self):
        self.kernel("print(next(arg for arg in sys.argv if arg.startswith('mem=')))\nresults()")
        self.assertEqual(self.lab().returncode, 0)
        self.assertIn("mem=1024M\n", self.text("raw/1-cubic/kernel.log"))
        self.assertEqual(self.lab("--mem", "48mb").returncode, 0)
        self.assertIn("mem=48M\n", self.text("raw/1-cubic/kernel.log"))

    def test_two_runs_are_byte_identical(self):
        self.kernel("results()")
        self.lab(figures=())
        first = [self.text(name) for name in CSV + ("queue.svg",)]
        run = self.lab(figures=())
        self.assertIn("replacing the earlier result", run.stderr)
        self.assertEqual([self.text(name) for name in CSV + ("queue.svg",)], first)

    def test_what_goes_wrong_fails_the_run_and_is_named(self):
        for body, options, words in FAILURES:
            with self.subTest(body):
                self.kernel(body)
                run = self.lab(*options)
                self.assertEqual(run.returncode, 1)
                for one in words:
                    self.assertIn(one, run.stderr)
                self.assertIn("must not be trusted", self.text("report.html"))

    def scenario(self, name, extra, end="until = '50us'"):
        path = self.path(name + ".scenario")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"title = '{name}'\n{end}\n{SCENARIO}{extra}")
        return path

    def run_lab(self, *argv):
        return helpers.run_lab(*argv, "--out", self.out, environment=self.environment)

    def test_flows_that_outlast_the_run(self):
        self.kernel("results(end='-1', delivered='1448')")
        path = self.scenario("steady", STEADY + FIGURES)
        run = self.run_lab("run", path, "--no-figures")
        self.assertEqual(run.returncode, 0, run.stderr)
        one = json.loads(self.text("summary.json"))
        self.assertEqual((one["cc"]["cubic"]["flows_finished"], one["failures"]), (1, {}))
        # flow 1 got 1552 bytes in the window's 30 us, flow 2 nothing more
        self.assertEqual(one["cc"]["cubic"]["measured"]["steady"]["throughput_bits_ps"],
                         1552 * 8 * 10**9 // 30000)
        self.assertEqual([(row["ours_text"], row["ratio"]) for row in one["paper"]],
                         [("0.4139gbit", 1.0347), ("30us", 0.5)])
        self.assertRegex(run.stdout, r"steady: 10us to 40us +payload")
        self.assertRegex(run.stdout, r"A Fig\. 1 +throughput +cubic +0\.4gbit +0\.4139gbit +1\.035\n")
        page = self.text("report.html")
        self.assertIn("Measured: steady, 10us to 40us, 2 flows", page)
        self.assertIn("<td>0.4139gbit</td>", page)

    def test_flows_that_outlast_the_run_must_be_allowed(self):
        self.kernel("results(end='-1', delivered='1448')")
        run = self.run_lab("run", "--no-figures",
                           self.scenario("steady", FIGURES.replace("throughput", "goodput")))
        self.assertEqual(run.returncode, 1)
        self.assertIn("flow 2 (h2 to h3): not finished by 50us, the end of the run; 1448 of 3000 "
                      "bytes", run.stderr)

    def test_nothing_finished_leaves_no_figures_of_completion(self):
        self.kernel("results(end='-1', delivered='1448', first='-1')")
        run = self.run_lab("run", self.scenario("steady", STEADY))
        self.assertEqual(run.returncode, 0, run.stderr)
        missing = {f"fct-cdf{end}.svg" for end in ("", "-narrow")}
        self.assertEqual(set(os.listdir(self.out)), (OUTPUT | NARROW) - missing)
        self.assertIn("0/2", run.stdout)

    def reproduce(self, *words):
        return self.run_lab("reproduce", *words, "--no-figures", "--scenarios", self.directory)

    def test_reproduce(self):
        self.kernel("results()")
        self.scenario("first", FIGURES.replace("throughput", "goodput"), "")
        self.scenario("none", "", "")
        self.scenario("other", "paper = [['B Fig. 2', 'cubic', 'fct[2]', '20us']]\n", "")
        run = self.reproduce()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.splitlines()[:-1], [
            "figure    quantity  run      paper     ours  ratio",
            "A Fig. 1  goodput   cubic  0.4gbit  1.2gbit  3.000",
            "A Fig. 1  fct_min   cubic     60us     30us  0.500",
            "B Fig. 2  fct[2]    cubic     20us     40us  2.000"])
        self.assertEqual([row["scenario"] for row in json.loads(self.text("figures.json"))["paper"]],
                         ["first", "first", "other"])
        page = self.text("index.html")
        for link in re.findall(r'href="([^"#]*)"', page):
            self.assertIn("All sanity checks hold", self.text(link))
        self.assertIn('href="other/report.html"', page)
        self.assertFalse(os.path.exists(os.path.join(self.out, "none")))

    def test_reproduce_one_figure(self):
        self.kernel("results()")
        self.scenario("first", FIGURES.replace("throughput", "goodput"), "")
        self.scenario("other", FIGURES.replace("throughput", "goodput").replace("A Fig", "B Fig"),
                      "")
        run = self.reproduce("b fig")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("A Fig", run.stdout)
        self.assertIn("B Fig. 1", run.stdout)
        run = self.reproduce("c fig")
        self.assertEqual(run.returncode, 2)
        self.assertIn("no figure has 'c fig' in its name: first, A Fig. 1, other, B Fig. 1\n",
                      run.stderr)
        run = self.reproduce("A Figg")
        self.assertIn("no figure has 'A Figg' in its name: A Fig. 1", run.stderr)

    def test_reproduce_fails_with_the_run_that_cannot_be(self):
        self.kernel("results(end='2383')")
        self.scenario("first", FIGURES.replace("throughput", "goodput"), "")
        run = self.reproduce()
        self.assertEqual(run.returncode, 1)
        self.assertIn("first: cubic: sanity checks failed", run.stderr)
        self.assertIn("Some runs must not be trusted", self.text("index.html"))

    def test_several_seeds_have_medians(self):
        self.kernel(f"{OF_SEED}(4, '36000', '38000')")
        self.scenario("first", FIGURES.replace("throughput", "goodput"), "")
        words = ("run", self.path("first.scenario"))
        run = self.run_lab(*words, "--seed", "4", "--seeds", "3")
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = self.text("seeds.csv").splitlines()
        self.assertEqual(rows[0], "cc,quantity,seeds,median,min,max")
        self.assertIn("cubic,fct_max_ns,3,38000,36000,38000", rows)
        self.assertIn("cubic,A Fig. 1: fct_min,3,30000,30000,30000", rows)
        self.assertRegex(run.stdout, "cubic: FCT max +3 +38.0 us +36.0 us +38.0 us\n")
        self.assertRegex(run.stdout, r"FCT \(us\) +flows +cubic\nall, p50 +2 +30.0\n"
                         r"all, p99 +2 +38.0 \(36.0 to 38.0\)\n")
        self.assertIn("FCT (us),0,68719476736,p99,cubic,2,3,38.0,36.0,38.0,36.0 38.0 38.0",
                      self.text("by-size.csv").splitlines())
        page = self.text("report.html")
        self.assertIn('href="by-size.tex"', page)
        for text in ("swport, 10,240 bytes of data", "cubic: defaults", "<td>4, 5, 6</td>",
                     "<td>Kernel</td>", json.loads(self.text("seed-4/summary.json"))["version"]):
            self.assertIn(text, page)
        self.assertNotIn("the same result", page + run.stderr)
        self.kernel("results()")
        words += ("--no-figures",)
        run = self.run_lab(*words, "--seeds", "2")
        self.assertIn("lab: note: all seeds have the same result", run.stderr)
        self.assertIn("all seeds have the same result", self.text("report.html"))
        run = self.run_lab(*words, "--seed", "4", "--seeds", "3")
        for seed in (4, 5, 6):
            told = json.loads(self.text(f"seed-{seed}/summary.json"))
            self.assertEqual(told["seed"], seed)
        self.assertIn('href="seed-6/report.html"', self.text("report.html"))
        self.assertEqual(self.run_lab(*words, "--seeds", "1").returncode, 2)

    def test_several_seeds_fail_with_one_of_them(self):
        self.kernel(f"{OF_SEED}(2, '2383', '38000')")
        self.scenario("first", "", "")
        run = self.run_lab("run", self.path("first.scenario"), "--seeds", "2", "--no-figures")
        self.assertEqual(run.returncode, 1)
        self.assertIn("seed-2: cubic: sanity checks failed", run.stderr)
        self.assertIn("Seed 2</a>: must not be trusted", self.text("report.html"))
        self.assertIn(",p99,cubic,2,1,38.0,38.0,38.0,38.0\n", self.text("by-size.csv"))

    def test_one_failure_does_not_hide_the_other_result(self):
        self.kernel("text = open(out + '../plan').read()\n"
                    "results() if ' swift' in text else sys.exit(3)")
        run = self.lab(cc="cubic,swift")
        self.assertEqual(run.returncode, 1)
        self.assertIn("cubic: the kernel ended early", run.stderr)
        self.assertEqual(list(json.loads(self.text("summary.json"))["cc"]), ["swift"])

    def test_kernel_without_our_random_numbers_is_refused(self):
        self.kernel("results()")
        os.remove(self.path("detrand.so"))
        for library in (LAB, "/dev/null"):	# neither is a library
            os.symlink(library, self.path("detrand.so"))
            with self.subTest(library):
                run = self.lab()
                self.assertEqual(run.returncode, 1)
                self.assertRegex(run.stderr, r"uml-start: '.*linux' does not load '")
            os.remove(self.path("detrand.so"))

    def test_clean_leak_scan_is_no_complaint(self):
        self.kernel("print('quell-kmemleak 0')\nresults()")
        run = self.lab()
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_interrupt_leaves_nothing_running(self):
        """By Ctrl-C, timeout(1) or kill(1), and a terminal that is closed."""
        def default():
            # A shell's background job ignores SIGINT, and so does what it starts.
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
        pid_file = self.path("pid")
        self.kernel(f"open({pid_file!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number), subprocess.Popen(
                    [LAB, *self.argv()], stderr=subprocess.PIPE, text=True,
                    env=os.environ | self.environment,
                    start_new_session=True, preexec_fn=default) as lab:
                self.addCleanup(lab.kill)
                pid = int(self.poll(lambda: os.path.exists(pid_file) and self.read(pid_file)))
                lab.send_signal(number)
                _, errors = lab.communicate(timeout=30)
                self.assertEqual(lab.returncode, 130)
                self.assertIn("interrupted", errors)
                self.poll(lambda pid=pid: not os.path.exists(f"/proc/{pid}"))
                os.unlink(pid_file)

    def poll(self, condition):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.02)
        self.fail("waited 30 s in vain")

    def test_progress_on_a_terminal_rewrites_one_line(self):
        self.kernel("print('quell-progress 1500000 1 2', flush=True)\n"
                    "time.sleep(1)\nresults()")
        main, terminal = pty.openpty()
        with subprocess.Popen([LAB, *self.argv("--no-figures")], stdout=subprocess.DEVNULL,
                              stderr=terminal,
                              env=os.environ | self.environment | {"COLUMNS": "200"}) as lab:
            os.close(terminal)
            shown = b""
            try:
                while part := os.read(main, 4096):
                    shown += part
            except OSError:
                pass
            self.assertEqual(lab.wait(30), 0)
        os.close(main)
        self.assertRegex(shown.decode(), r"\r\x1b\[K\[ *[0-9.]+ s\] cubic 1/2 flows at 1\.500 ms")

    def test_trimming_without_the_option_is_said(self):
        self.kernel("results()")
        note = "lab: note: --trim without --option: no host knows a trimmed packet"
        self.assertIn(note, self.lab("--trim", "128b").stderr)
        self.assertNotIn("note", self.lab("--trim", "128b", "--option").stderr)

    def test_quiet_is_quiet(self):
        self.kernel("results()")
        run = self.lab("--quiet", "--trim", "128b")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_missing_kernel_is_an_input_error(self):
        run = self.lab()
        self.assertEqual(run.returncode, 2)
        self.assertIn("QUELL_LAB_KERNEL: no linux at", run.stderr)
        self.assertFalse(os.path.exists(self.out))

    def test_missing_module_is_an_input_error(self):
        self.kernel("results()")
        os.remove(os.path.join(self.directory, "modules", "tcp_swift.ko"))
        run = self.lab(cc="cubic,swift")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--cc swift: no tcp_swift.ko", run.stderr)
        self.assertFalse(os.path.exists(self.out))
