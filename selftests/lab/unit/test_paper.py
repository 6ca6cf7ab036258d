# SPDX-License-Identifier: GPL-2.0
"""The papers' figures: keys, units, ratios."""

import json
import os
import re
import tomllib
import unittest
from fractions import Fraction

from quell_lab import paper, runner, show, summary, units
from quell_lab.errors import InputError

import helpers

FIGURE = {"figure": "A Fig. 1", "quantity": "fct_max", "value": "20us"}


def build(*tables, **changes):
    """A scenario with some figures."""
    return helpers.build(paper=list(tables), **changes)


class Keys(unittest.TestCase):
    def test_refused(self):
        steady = {"from": "10us", "to": "20us"}
        for change, words in (
                ({"quantity": "fct_mx"}, r"paper\[0\].quantity: unknown quantity 'fct_mx', did you "
                 "mean 'fct_max'"),
                ({"quantity": "fct"}, r"'fct' is written fct\[1\] to fct\[2\]"),
                ({"quantity": "fct[3]"}, r"'fct\[3\]' is out of range: fct\[1\] to fct\[2\]"),
                ({"quantity": "fct_max[1]"}, "is written fct_max"),
                ({"quantity": "rtt_mean"}, r"rtt_mean needs a \[measure\] table"),
                ({"run": "cubik"}, r"paper\[0\].run: no run 'cubik', did you mean 'cubic'"),
                ({"measure": "stedy"}, r"no window 'stedy': one of run"),
                ({"value": "20"}, r"paper\[0\].value: '20' has no unit"),
                ({"value": 20}, "'20' has no unit"),
                ({"value": "20gbit"}, "'gbit' is none of"),
                ({"value": True}, "'true' is not a text or a number"),
                ({"figur": "1"}, "unknown key, did you mean 'figure'"),
                ({"quantity": "jain_mean", "value": "1us"}, "it has no unit")):
            with self.subTest(change), self.assertRaisesRegex(InputError, words):
                build(dict(FIGURE, **change))
        with self.assertRaisesRegex(InputError, "fct_max is of the whole run"):
            build(dict(FIGURE, measure="steady"), measure=steady, until="50us")
        with self.assertRaisesRegex(InputError, "missing"):
            build({"figure": "x", "value": "1us"})

    def test_window_of_a_quantity(self):
        steady = {"from": "10us", "to": "20us"}
        row = {"figure": "x", "quantity": "queue_mean", "value": "1kb"}
        self.assertEqual(build(row).paper[0].window, "run")
        for measured, asked, window in ((steady, None, "steady"), (steady, "run", "run"),
                                        ([steady, dict(steady, name="b")], "b", "b")):
            table = row if asked is None else dict(row, measure=asked)
            wanted = build(table, measure=measured, until="50us")
            self.assertEqual(wanted.paper[0].window, window)

    def test_row_of_a_file(self):
        for row, table in (
                (["x", "a", "drops"], {"quantity": "drops"}),
                (["x", "a", "fct[3]", "1us"], {"quantity": "fct[3]", "value": "1us"}),
                (["x", "a", "drops", 0], {"quantity": "drops", "value": 0}),
                (["x", "a", "drops", "-", "a note"], {"quantity": "drops", "note": "a note"}),
                (["x", "a", "rtt_p99 (in order)"], {"quantity": "rtt_p99", "measure": "in order"}),
                (["x", "a", "fct_p50 of 5:9 over b:c=1.5", "2", "n"],
                 {"quantity": "fct_p50", "sizes": "5:9", "over": "b:c=1.5", "value": "2",
                  "note": "n"})):
            table = {"figure": "x", "run": "a", **table}
            with self.subTest(row):
                self.assertEqual(paper.read_rows("", [row]), [table])
                self.assertEqual(paper.written_row(table), row)

    def test_rows_of_the_page(self):
        with open(os.path.join(runner.ROOT, "Documentation", "lab-results.md"),
                  encoding="utf-8") as file:
            text = file.read().partition("## Numbers of a paper")[2]
        rows = tomllib.loads(re.search(r"\n\n((?: {4}.*\n)+)", text)[1])["paper"]
        self.assertEqual([list(one) for one in paper.read_rows("", rows)][1:3],
                         [["figure", "run", "quantity", "note", "measure"],
                          ["figure", "run", "quantity", "sizes"]])

    def test_several_runs(self):
        algorithms = [{"name": name} for name in ("cubic", "reno", "bbr")]
        for run, runs in (("reno", ["reno"]), (["bbr", "cubic"], ["bbr", "cubic"]),
                          ("*", ["cubic", "reno", "bbr"])):
            rows = build(dict(FIGURE, run=run), algorithm=algorithms).paper
            self.assertEqual([row.run for row in rows], runs)
        # Places count rows as they are written.
        with self.assertRaisesRegex(InputError, r"paper\[1\].quantity: pauses needs a \[pfc\]"):
            build(dict(FIGURE, run="*"), dict(FIGURE, quantity="pauses", value=1),
                  algorithm=algorithms)

    def test_first_run_is_meant_unless_named(self):
        algorithms = [{"name": "cubic"}, {"name": "reno"}]
        rows = build(FIGURE, dict(FIGURE, run="reno"), algorithm=algorithms).paper
        self.assertEqual([row.run for row in rows], ["cubic", "reno"])


class Units(unittest.TestCase):
    def test_exact(self):
        for text, kind, value, suffix in (
                ("19.4gbit", "rate", 19400000000, "gbit"), ("0.1us", "time", 100, "us"),
                ("1.5 KB", "size", 1536, "KB"), (0.953, "number", Fraction("0.953"), ""),
                ("-0.85", "number", Fraction("-0.85"), ""), (-1, "number", -1, ""),
                ("0.3ns", "time", Fraction("0.3"), "ns")):
            with self.subTest(text):
                self.assertEqual(units.exact(text, kind), (value, suffix))

    def test_ours_is_shown_in_the_papers_unit(self):
        for value, suffix, kind, text in (
                (18160000000, "gbit", "rate", "18.16gbit"), (56249, "us", "time", "56.25us"),
                (Fraction("1234567.5"), "kb", "size", "1206kb"), (1, "", "number", "1"),
                (Fraction("0.95348"), "", "number", "0.9535")):
            with self.subTest(text):
                self.assertEqual(units.show_in(value, suffix, kind), text)


class Compare(unittest.TestCase):

    def compare(self, *tables, ends=(30000, 60000)):
        wanted = build(*tables, algorithm=[{"name": "cubic"}, {"name": "reno"}])
        flows = [helpers.flow_result(flow, flow.start_ns, end)
                 for flow, end in zip(wanted.flows, ends)]
        result = helpers.run_result(wanted, flows)
        one = summary.summarise(wanted, result)
        return paper.compare(wanted, {"cubic": one, "reno": one})

    def test_ratio(self):
        row = self.compare(FIGURE)[0]
        self.assertEqual([row[key] for key in ("paper", "ours", "ratio", "ours_text")],
                         [20000.0, 40000, 2.0, "40us"])
        self.assertEqual(row["others"], {"reno": 40000})
        json.dumps(row)

    def test_of_one_flow(self):
        row = self.compare(dict(FIGURE, quantity="fct[1]"))[0]
        self.assertEqual((row["ours"], row["ratio"]), (30000, 1.5))

    def test_never(self):
        row = self.compare(dict(FIGURE, quantity="fair_after"))[0]
        self.assertEqual((row["ours"], row["ratio"], row["ours_text"]), (None, None, "never"))

    def test_paper_says_zero(self):
        row = self.compare({"figure": "x", "quantity": "drops", "value": 0})[0]
        self.assertEqual((row["ours"], row["ratio"]), (0, None))

    def test_paper_without_a_number(self):
        row = self.compare({"figure": "x", "quantity": "fct_max"})[0]
        self.assertEqual([row[key] for key in ("paper", "paper_text", "ours_text", "ratio")],
                         [None, "-", "40us", None])

    def test_run_that_failed(self):
        wanted = build(FIGURE)
        row = paper.compare(wanted, {})[0]
        self.assertEqual((row["ours"], row["ours_text"], row["ratio"]), (None, "-", None))

    def test_table(self):
        rows = self.compare(FIGURE, dict(FIGURE, quantity="fair_after", run="reno"))
        self.assertEqual(show.beside_paper(rows), [
            "figure    quantity    run    paper   ours  ratio",
            "A Fig. 1  fct_max     cubic   20us   40us  2.000",
            "A Fig. 1  fair_after  reno    20us  never      -"])

    def test_every_quantity_is_in_the_summary(self):
        steady = {"from": "10us", "to": "30us", "idle": "1us"}
        example = {"rate": "1gbit", "time": "1us", "size": "1kb", "number": 1}
        tables = [{"figure": "x", "quantity": f"{name}[1]" if one.of_flow else name,
                   "value": example[one.kind]} for name, one in paper.QUANTITIES.items()
                  # Tests of their own.
                  if name not in {**paper.OF_JOINS, **paper.OF_ROUNDS, **paper.OF_REQUESTS}]
        ends = {"src": "h1", "dst": "h3"}
        wanted = build(*tables, measure=steady, until="1ms", record={"truth": True}, pfc={},
                       flow=[dict(ends, bytes=3000), dict(ends, bytes=30000)])
        flows = [helpers.flow_result(flow, 0, 200000) for flow in wanted.flows]
        delivered = {number: [(10000, 100), (20000, 200), (30000, 300), (200000, 3000)]
                     for number in (1, 2)}
        cwnd = {1: [(15000, 1, 1, 5000)]}
        result = helpers.run_result(wanted, flows, delivered=delivered, cwnd=cwnd,
                                    truth={1: [(15000, 2, 5000, 0, 5000, 0)]},
                                    queues={"s1:p3": [(0, 10)]})
        rows = paper.compare(wanted, {"cubic": summary.summarise(wanted, result)})
        missing = [row["quantity"] for row in rows if row["ours"] is None]
        self.assertEqual(missing, ["rank_correlation",		# of two flows there is none
                                   "load_increase", "path_dilation",	# nor deflection
                                   "window_fct_p50", "window_fct_p99",	# nor one within
                                   "window_unfinished"])
