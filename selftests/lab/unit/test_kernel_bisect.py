# SPDX-License-Identifier: GPL-2.0
"""Scenarios under two kernels or a range of commits: differences, conditions, bisections."""

import contextlib
import io
import os
import shutil
import subprocess
import tempfile
import types
import unittest
from unittest import mock

from quell_lab import cli, kernel_bisect, kernel_build, kernel_diff, kernel_source, output, \
    runner, slowdown
from quell_lab.errors import InputError, RunError
from test_kernels import Trees


class FakeTest:
    """A test of commits by what is in a file of theirs."""

    condition = types.SimpleNamespace(text="p99 < 1us")

    def __init__(self, tree):
        self.tree = tree
        self.tried = []

    def of_source(self, source):
        self.tried.append(source.commit)
        kernel_build.Tree(source, True).source.prepare()
        text = self.tree.git("show", f"{source.commit}:net/tcp.c")
        return {"good": 0, "bad": 1}.get(text.split()[0], 125), text


class Bisections(Trees):
    def history(self, change, broken=(), count=12):
        """Commits of which those from one on are bad, and some do not build."""
        self.commits = []
        for number in range(count):
            word = "broken" if number in broken else "bad" if number >= change else "good"
            self.put("linux/net/tcp.c", f"{word} {number}\n")
            self.commits.append(self.commit())

    def bisect(self):
        test, said = FakeTest(self), []
        good, bad = (f"{self.tree}@{self.commits[at]}" for at in (0, -1))
        sources = kernel_bisect.ends(good, bad)
        found, out = kernel_bisect.Bisection(*sources, test, lambda *words:
                                             said.append(words)).run()
        return found, out, test

    def test_change_is_found(self):
        for change, count in ((1, 4), (3, 4), (37, 64)):
            with self.subTest(change=change):
                self.history(change, count=count)
                before = self.git("for-each-ref"), self.git("status", "--porcelain")
                found, _, test = self.bisect()
                self.assertEqual(found, self.commits[change])
                self.assertLessEqual(len(test.tried), 2 + 7)
                self.assertEqual((self.git("for-each-ref"), self.git("status", "--porcelain")),
                                 before)

    def test_broken_commits_are_skipped(self):
        self.history(7, broken=(3, 4, 5))
        found, _, _ = self.bisect()
        self.assertEqual(found, self.commits[7])

    def test_only_broken_commits_are_left(self):
        self.history(7, broken=(6, 7))
        found, out, _ = self.bisect()
        self.assertIsNone(found)
        self.assertIn(self.commits[7], out)

    def test_shallow_clone(self):
        self.history(7)
        wanted, self.commits = self.commits[7], self.commits[-8:]
        other = os.path.join(self.scratch, "shallow")
        self.git("clone", "-q", "--depth", "8", f"file://{self.tree}", other)
        self.tree = other
        self.assertEqual(self.bisect()[0], wanted)

    def test_words_of_git(self):
        """git 2.55 quotes the term; no commit is tested twice."""
        commit = "a1" * 20
        for term in ("bad", "'bad'"):
            found = kernel_bisect.FIRST_BAD.search(f"x\n{commit} is the first {term} commit\n")
            self.assertEqual(found and found[1], commit)
        self.history(7)
        with mock.patch.object(kernel_bisect, "FIRST_BAD", kernel_bisect.TERM), \
                self.assertRaises(InputError) as caught:
            self.bisect()
        self.assertIn("is to be tested again, after: ", str(caught.exception))

    def test_one_at_a_time(self):
        self.history(7)
        source = kernel_source.find(f"{self.tree}@HEAD")
        with kernel_source.locked(f"{source.repository}.bisect"), \
                self.assertRaises(InputError) as caught:
            self.bisect()
        self.assertIn("another bisection of this tree", str(caught.exception))

    def test_ends(self):
        self.history(4, count=4)
        with self.assertRaises(InputError) as caught:
            self.bisect()
        self.assertIn("it meets 'p99 < 1us', so there is no change to find", str(caught.exception))
        for good in (self.tree, "6.12", "debug"):
            with self.assertRaises(InputError) as caught:
                kernel_bisect.ends(good, self.tree)
            self.assertEqual(str(caught.exception),
                             f"{good}: not TREE@COMMIT, a commit of a git tree")

    def test_exit_codes(self):
        """of holds: 0, 1, and 125 of a kernel that does not build."""
        def test_of(code):
            test = kernel_bisect.Test(None, FakeTest.condition, ({}, 1, True), lambda one: one)
            test.run = lambda kernel: (code, "why")
            return test
        with contextlib.redirect_stdout(io.StringIO()):
            for code in (0, 1, 125):
                self.assertEqual(kernel_bisect.holds(self.tree, test_of(code)), code)
            self.put("linux/net/tcp.c", "broken\n")
            self.assertEqual(kernel_bisect.holds(self.tree, test_of(0)), 125)
            self.put("linux/kernel/a.c", "")
            self.assertEqual(kernel_bisect.holds(self.tree, test_of(0)), 125)
            self.put("linux/Makefile", "VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 4\n")
            self.assertEqual(kernel_bisect.holds(self.tree, test_of(0)), 125)
            self.put("linux/Makefile", "VERSION = 1.2\n")
            with self.assertRaisesRegex(InputError, "no kernel source"):
                kernel_bisect.holds(self.tree, test_of(0))
            for error in (RunError("no value"), OSError("disk full")):
                test = test_of(0)
                test.run = mock.Mock(side_effect=error)
                self.assertEqual(kernel_bisect.holds("6.12", test), 125)

    def test_exit_codes_of_failures(self):
        """They end git bisect run; 1 would be a bad commit, 2 to 124 as well."""
        path = os.path.join(runner.HERE, "scenarios", "demo", "incast.scenario")
        err, kernel = io.StringIO(), runner.Kernel("normal", __file__, self.scratch, "lab-init")
        with contextlib.redirect_stderr(err), mock.patch.object(
                runner, "find_kernel", lambda _: kernel):
            for words in ([], ["missing.scenario", "p99 < 1us"], [path, "p9"], [path, "p99 < 1us",
                          "--kernel", "7.4"], [path, "p99 < 1us", "--mem", "1"], ["--wrong"]):
                with self.subTest(words):
                    self.assertEqual(cli.main(["holds", *words]), 128)
            self.assertNotIn("Traceback", err.getvalue())
            self.assertIn("neither 6.12, 7.3, debug", err.getvalue())
            with mock.patch.object(kernel_bisect, "holds", side_effect=KeyError("fault")):
                self.assertEqual(cli.main(["holds", path, "p99 < 1us"]), 128)
        self.assertIn("KeyError", err.getvalue())

    def test_help(self):
        """Each exit status has a line with its meaning."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), self.assertRaises(SystemExit):
            cli.main(["holds", "--help"])
        for status in (0, 1, 125, 128, 130):
            self.assertRegex(out.getvalue(), rf"(?m)^ +{status}  [a-z]")

    def test_exit_codes_without_a_build(self):
        """Of a clone without "make lab", which has no parameters of the cores."""
        clone = os.path.join(self.scratch, "clone", "lab")
        shutil.copytree(os.path.join(runner.HERE, "quell_lab"), os.path.join(clone, "quell_lab"))
        shutil.copy(os.path.join(runner.HERE, "lab"), clone)
        for word, status in (("holds", 128), ("run", 2)):
            run = subprocess.run([os.path.join(clone, "lab"), word],
                                 capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, status)
            self.assertIn("run 'make lab'", run.stderr)


def summary(p99_ns):
    """Of a run of flows alike."""
    return {"fct_ns": {"p50": 5, "p99": p99_ns, "max": 100}, "slowdown": None, "load": None,
            "goodput_bits_ps": None, "drops": 0, "queue": {"max_bytes": 2048}}


class Conditions(unittest.TestCase):
    def test_condition(self):
        for text, good in (("p99 < 80us", True), ("p99 < 79us", False), ("FCT p99 >= 79us", True),
                           ("drops <= 0", True), ("queue max < 2kb", False), ("max > 1us", False)):
            with self.subTest(text):
                condition = kernel_bisect.Condition(text)
                self.assertEqual(condition.holds({"cubic": summary(79000)}), good)
        both = {"cubic": summary(79000), "dctcp": summary(81000)}
        for label, good in (("", False), ("cubic: ", True), ("dctcp: ", False)):
            condition = kernel_bisect.Condition(f"{label}p99 < 80us")
            self.assertEqual(condition.holds(both), good, label)
        self.assertEqual(condition.value(both), "dctcp 81.0 us")

    def test_wrong(self):
        for text, words in (("p99", "not [LABEL:] QUANTITY < VALUE"),
                            ("p98 < 1us", "did you mean 'p9"), ("p99 < 1kb", "unit 'kb'")):
            with self.subTest(text), self.assertRaises(InputError) as caught:
                kernel_bisect.Condition(text)
            self.assertIn(words, str(caught.exception))
        for text in ("slowdown_p9 all < 2", "slowdown_max all < 2"):
            with self.subTest(text), self.assertRaises(InputError):
                kernel_bisect.Condition(text)
        condition = kernel_bisect.Condition("goodput > 1gbit")
        for use in (condition.holds, condition.value):
            with self.assertRaises(RunError):
                use({"cubic": summary(1)})

    def test_scenarios_without_the_quantity(self):
        def scenario(*sizes, **more):
            return types.SimpleNamespace(**{
                "flows": [types.SimpleNamespace(size_bytes=size) for size in sizes],
                "slowdown": types.SimpleNamespace(edges=slowdown.EDGES), "allow_unfinished": False,
                "variants": [types.SimpleNamespace(label="swift:ai=1")],
                "config": {"workload": [{}]}, "watched_ports": lambda: ["port"], **more})
        for text, without, words in (
                ("slowdown_p99 all < 2", scenario(5, 5), "all flows are of one size"),
                ("slowdown_p999 all < 2", scenario(5, 6), "one of slowdown_p50 all, slowdown_p95"),
                ("slowdown_p99 above 1 MB < 2", scenario(5, 6), "slowdown_p99 up to 10 kB"),
                ("p99 < 1us", scenario(), "no flows"),
                ("swift: p99 < 1us", scenario(5), "no run 'swift', did you mean 'swift:ai=1'?"),
                ("swift:ai=1: p99 < 1us", scenario(), "no flows"),
                ("p99 < 1us", scenario(5, allow_unfinished=True), "do not finish do not count"),
                ("carried load > 1gbit", scenario(5, config={}), "no [[workload]]"),
                ("queue max < 1kb", scenario(5, watched_ports=lambda: []), "recorded")):
            condition = kernel_bisect.Condition(text)
            with self.subTest(text), self.assertRaises(InputError) as caught:
                condition.check(without)
            self.assertIn(words, str(caught.exception))
            if not text.startswith("swift: "):
                condition.check(scenario(5, 2 * 10**6, *range(10, 1010)))


class Differences(unittest.TestCase):
    def differs(self, ours, theirs):
        found = kernel_diff.rows("one", *([{"cubic": summary(value)} for value in values]
                                          for values in (ours, theirs)))
        self.assertEqual({row.quantity for row in found}, {
            "fct_p50_ns", "fct_p99_ns", "fct_max_ns", "drops", "queue_max_bytes"})
        return [row.quantity for row in found if row.differs]

    def test_noise(self):
        self.assertEqual(self.differs((100, 110, 120), (119, 130, 140)), [])
        self.assertEqual(self.differs((100, 110, 120), (121, 130, 140)), ["fct_p99_ns"])
        self.assertEqual(self.differs((1000, 1000, 1000), (1009, 1009, 1009)), [])
        self.assertEqual(self.differs((100, 110, 120), (80, 90, 99)), ["fct_p99_ns"])

    def test_without_spread(self):
        for ours, is_named in (((1000,) * 3, True), ((1000, 1000, 1001), False)):
            line, = kernel_diff.texts(kernel_diff.rows("one", *(
                [{"cubic": summary(value)} for value in values] for values in (ours, (2000,) * 3))))
            self.assertEqual("(no spread)" in line[0], is_named)

    def test_earlier_result_is_cleared(self):
        """One of run, of several seeds, of diff; other files stay."""
        with tempfile.TemporaryDirectory() as out:
            for path in ("diff.csv", "a/one/seed-1/flows.csv", "b/one/seed-1/flows.csv",
                         "b/mine", "summary.json", "raw/x", "seeds.csv", "seed-3/flows.csv",
                         "by-size.tex", "notes"):
                os.makedirs(os.path.join(out, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(out, path), "w", encoding="ascii"):
                    pass
            output.clear(out)
            self.assertEqual(sorted(os.listdir(out)), ["b", "notes"])
            self.assertEqual(os.listdir(os.path.join(out, "b")), ["mine"])

    def test_command_line(self):
        """Input is parsed before a kernel is built, kernels before files."""
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            self.assertEqual(cli.main(["diff", "6.12", "7.4", "none.sweep", "--out", "missing"]),
                             cli.EXIT_USAGE)
            self.assertNotIn("none.sweep", err.getvalue())
            self.assertIn("lab: kernel 7.4: neither 6.12, 7.3", err.getvalue())
            self.assertEqual(cli.main(["diff", "6.12", "7.3", "missing.scenario", "--out",
                                       "missing"]), cli.EXIT_USAGE)
            self.assertEqual(cli.main(["bisect", "a", "b", "missing.scenario", "p99"]),
                             cli.EXIT_USAGE)
        self.assertIn("missing.scenario", err.getvalue())
        self.assertIn("not [LABEL:] QUANTITY < VALUE", err.getvalue())
