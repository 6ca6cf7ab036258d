# SPDX-License-Identifier: GPL-2.0
"""Two results beside each other, by the command line on results written by hand."""

import contextlib
import copy
import io
import json
import os
import tempfile
import types
import unittest

from quell_lab import cli, slowdown, tables

SLOW = {"from_bytes": 0, "to_bytes": slowdown.SIZE_MAX, "flows": 2,
        "p50": 2.0, "p95": 4.0, "p99": 4.0, "p999": 4.0, "max": 4.0}
RUN = {
    "algorithm": "cubic", "preset": None, "parameters": {}, "flows": 2, "flows_finished": 2,
    "fct_ns": {"min": 2000, "p50": 2000, "p99": 8000, "p999": 8000, "max": 8000},
    "last_completion_ns": 8000, "goodput_bits_ps": 10**9,
    "jain": {"mean": 0.5}, "queue": {"mean_bytes": 10.0, "p99_bytes": 20, "max_bytes": 4000},
    "drops": 0, "marks": 3, "trims": 0, "retransmitted_segs": 4, "physics": [],
    "slowdown": {"all": SLOW, "classes": [dict(SLOW, to_bytes=10000)], "bins": [], "ranges": {}},
}
DOCUMENT = {
    "quell_lab": 1, "seed": 1, "kernel": "6.12", "kernel_kind": "normal", "failures": {},
    "config": {"as_written": {"title": "one", "topology": {"kind": "star", "rate": "1gbit"},
                              "queue": {"limit": "100kb"}},
               "hosts": 3, "switches": 1, "cables": [{"rate_bits_ps": 10**9}],
               "queue": {"limit_bytes": 102400}, "record": {"queue_ns": 1000},
               "until_ns": 10**9},
    "cc": {"cubic": RUN},
}
# flow, bytes and completion time of each
ROWS = ((1, 100, 2000), (2, 200, 8000))


class Compare(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = scratch.name
        self.document = copy.deepcopy(DOCUMENT)

    def put(self, name, rows=ROWS, header=tables.FLOWS):
        """A result directory of the document as it is now."""
        path = os.path.join(self.directory, name)
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, "summary.json"), "w", encoding="ascii") as file:
            json.dump(self.document, file)
        with open(os.path.join(path, "flows.csv"), "w", encoding="ascii") as file:
            file.write(",".join(header) + "\n")
            for label in self.document["cc"]:
                file.writelines(f"{label},{flow},h{flow},h3,{size},0,{fct},{fct},1000,0\n"
                                for flow, size, fct in rows)
        return path

    def lab(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = cli.main(["compare", *words])
        return types.SimpleNamespace(returncode=status, stdout=out.getvalue(),
                                     stderr=err.getvalue())

    def found(self, *words):
        run = self.lab(*words, "-j")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return json.loads(run.stdout)["pairs"]

    def refused(self, words, *said):
        run = self.lab(*words)
        self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        for word in said:
            self.assertIn(word, run.stderr)

    def other(self):
        """The second of two results: half the times, twice the queue, another limit."""
        self.put("a")
        run = self.document["cc"]["cubic"]
        run["fct_ns"].update(p50=1000, p99=4000, max=4000)
        run["queue"]["max_bytes"] = 8000
        run["slowdown"]["all"] = dict(SLOW, p50=1.0)
        self.document["config"]["queue"]["limit_bytes"] = 204800
        self.document["config"]["as_written"]["queue"]["limit"] = "200kb"
        return self.put("b", ((1, 100, 1000), (2, 200, 8000)))

    def test_ratios_of_b_over_a(self):
        self.other()
        one, = self.found(os.path.join(self.directory, "a"), os.path.join(self.directory, "b"))
        ratios = {row["name"]: row["ratio"] for row in (*one["quantities"], *one["slowdown"])}
        self.assertEqual([ratios[name] for name in ("FCT p50", "FCT p99", "queue max", "goodput",
                                                    "slowdown p50, all")], [0.5, 0.5, 2, 1, 0.5])
        self.assertIsNone(ratios["drops"])		# nothing over nothing
        self.assertEqual({row["unit"] for row in one["quantities"]},
                         {"flows", "ns", "bits/s", "1", "bytes", "packets", "segments"})
        self.assertEqual(one["flows"], {"paired": True, "flows": 2, "faster": 1, "slower": 0,
                                        "p50": 0.5, "p99": 1.0, "max": 1.0})

    def test_what_differs_is_named_and_nothing_else(self):
        self.other()
        one, = self.found(os.path.join(self.directory, "a"), os.path.join(self.directory, "b"))
        self.assertEqual(one["differences"],
                         [{"key": "queue.limit_bytes", "a": 102400, "b": 204800}])

    def test_other_words_for_the_same_are_no_difference(self):
        written = self.document["config"]["as_written"]
        written["tso"] = 1
        first = self.put("a")
        written.update(title="two", until="1s", tso="1", multipath=False,
                       queue={"limit": "102400b"})
        written["topology"]["rate"] = "1000mbit"
        one, = self.found(first, self.put("b"))
        self.assertEqual(one["differences"], [])
        self.assertIn("same scenario, algorithm, seed and kernel",
                      self.lab(first, os.path.join(self.directory, "b")).stdout)

    def test_scenario_seed_and_parameters_that_differ(self):
        first = self.put("a")
        self.document["seed"] = 2
        config = self.document["config"]
        config["as_written"]["topology"]["rate"] = "2gbit"
        config["cables"] = [{"rate_bits_ps": 2 * 10**9}]
        self.document["cc"]["cubic"]["parameters"] = {"ai": "1gbit"}
        one, = self.found(first, self.put("b"))
        self.assertEqual(one["differences"], [
            {"key": "seed", "a": 1, "b": 2},
            {"key": "topology.rate", "a": "1gbit", "b": "2gbit"},
            {"key": "parameters.ai", "a": None, "b": "1gbit"}])

    def test_keys_of_algorithms_that_differ(self):
        self.document["cc"]["reps"] = copy.deepcopy(RUN)
        self.document["config"]["as_written"]["algorithm"] = [
            {"name": "cubic"}, {"name": "cubic", "label": "reps", "entropies": 64, "set": {}}]
        first = self.put("a")
        one, = self.found(f"{first}@cubic", f"{first}@reps")
        self.assertEqual(one["differences"],
                         [{"key": "algorithm.entropies", "a": None, "b": 64}])

    def test_qdiscs_and_parts_that_differ(self):
        first = self.put("a")
        self.document["config"]["as_written"]["queue"] = {"qdisc": "fq_codel"}
        second = self.put("b")
        part = os.path.join(second, "raw", "1-cubic")
        os.makedirs(part)
        with open(os.path.join(part, "parts.json"), "w", encoding="ascii"):
            pass
        one, = self.found(first, second)
        self.assertEqual(one["differences"], [
            {"key": "queue.qdisc", "a": None, "b": "fq_codel"},
            {"key": "parts", "a": False, "b": True}])

    def test_table_for_people(self):
        self.other()
        run = self.lab(os.path.join(self.directory, "a"), os.path.join(self.directory, "b"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"queue\.limit_bytes +102400 +204800\n")
        self.assertRegex(run.stdout, r"\n +A +B +B/A\n")
        self.assertRegex(run.stdout, r"FCT p50 +2\.0 us +1\.0 us +0\.500\n")
        self.assertRegex(run.stdout, r"drops +0 +0 +-\n")
        self.assertIn("of 2 flows 1 faster in B, 0 slower", run.stdout)

    def test_runs_of_one_directory_and_common_labels(self):
        cc = self.document["cc"]
        cc["swift:ai=1gbit"] = copy.deepcopy(cc["cubic"])
        first = self.put("a")
        one, = self.found(f"{first}@cubic", f"{first}@swift:ai=1gbit")
        self.assertEqual([one[side]["label"] for side in "ab"], ["cubic", "swift:ai=1gbit"])
        self.assertEqual(len(self.found(first, first)), 2)
        self.assertEqual(len(self.found(first, f"{first}@cubic")), 1)

    def test_programs_of_both(self):
        programs = [{"number": number, "host": "h1", "command": command, "background": back,
                     "took_ns": took_ns} for number, command, back, took_ns in (
                         (1, "server", True, None), (2, "client", False, 4), (3, "x", False, 1))]
        self.document["cc"]["cubic"]["programs"] = programs
        first = self.put("a")
        programs[1]["took_ns"] = 6
        programs[2]["command"] = "y"
        one, = self.found(first, self.put("b"))
        self.assertEqual([row for row in one["quantities"] if "program" in row["name"]],
                         [{"name": "program 2 on h1", "unit": "ns", "a": 4, "b": 6, "ratio": 1.5}])

    def test_physics_violated_is_said(self):
        first = self.put("a")
        self.document["cc"]["cubic"]["physics"] = ["flow 1: too early"]
        run = self.lab(first, self.put("b"))
        self.assertIn("not to be trusted: flow 1: too early", run.stdout)

    def test_other_flows_are_not_paired(self):
        first = self.put("a")
        one, = self.found(first, self.put("b", ((1, 100, 2000), (2, 300, 8000))))
        self.assertFalse(one["flows"]["paired"])
        one, = self.found(first, self.put("c", ((1, 100, 2000), (2, 200, -1))))
        self.assertEqual(one["flows"]["flows"], 1)
        run = self.lab(self.put("d", ()), self.put("e", ()))
        self.assertIn("flow by flow: not compared, there are no flows", run.stdout)

    def test_what_is_missing(self):
        first, none = self.put("a"), os.path.join(self.directory, "none")
        self.refused([first, none], none, "no such directory")
        self.refused([f"{first}@cubik", first], "'cubik'", "did you mean 'cubic'")
        self.refused([first], "required: B")
        os.remove(os.path.join(first, "flows.csv"))
        self.refused([first, first], "flows.csv", "No such file")
        os.remove(os.path.join(first, "summary.json"))
        self.refused([first, first], "no summary.json", "no result")
        for name, said in (("sweep.csv", "a sweep's"), ("seeds.csv", "seed-K")):
            with open(os.path.join(first, name), "w", encoding="ascii"):
                pass
            with self.subTest(name):
                self.refused([first, first], said)
            os.remove(os.path.join(first, name))

    def test_labels_with_nothing_in_common(self):
        self.document["cc"]["reno"] = RUN
        first = self.put("a")
        self.document["cc"] = {"swift": RUN, "bbr": RUN}
        self.refused([first, self.put("b")], "no run in common", "cubic, reno and swift, bbr",
                     "DIR@LABEL")

    def test_other_units_and_formats(self):
        first = self.put("a")
        header = [name.replace("fct_ns", "fct_us") for name in tables.FLOWS]
        self.refused([first, self.put("b", header=header)], "flows.csv", "fct_us", "nanoseconds")
        run = self.document["cc"]["cubic"]
        run["fct_us"] = run.pop("fct_ns")
        self.refused([first, self.put("b")], "no fct_ns.p50 of 'cubic'")
        run["fct_ns"] = {"p50": "2us", "p99": 1, "max": 1}
        self.refused([first, self.put("b")], "fct_ns.p50", "'2us', not a number")
        self.document["quell_lab"] = 2
        self.refused([first, self.put("b")], "not of the lab's format 1")
        with open(os.path.join(first, "summary.json"), "w", encoding="ascii") as file:
            file.write("{")
        self.refused([first, first], "summary.json", "cannot be read")

    def test_classes_of_other_sizes(self):
        first = self.put("a")
        self.document["cc"]["cubic"]["slowdown"]["classes"][0]["to_bytes"] = 20000
        self.refused([first, self.put("b")], "different sizes", "slowdown.edges")
