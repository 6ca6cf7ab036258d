# SPDX-License-Identifier: GPL-2.0
"""Slowdown by size, ratios of it, scales of a scenario, and medians over seeds."""

import unittest

from quell_lab import output, paper, slowdown, summary
from quell_lab import seeds as seeds_of
from quell_lab.errors import InputError
from quell_lab.schema import Places

import helpers

ENDS = {"src": "h1", "dst": "h3"}
FIGURE = {"figure": "A", "quantity": "slowdown_p50"}


def scenario_of(sizes, **changes):
    """A scenario with flows of these sizes."""
    return helpers.build(flow=[dict(ENDS, bytes=size) for size in sizes], **changes)


def summary_of(wanted, times, label="cubic"):
    """Its summary if the flows' ideal is 10 ns each and they take these times (None: never)."""
    flows = [helpers.flow_result(flow, 0, -1 if time is None else time, ideal_ns=10, segs_out=4,
                                 marked_pkts=int(flow.number == 1))
             for flow, time in zip(wanted.flows, times)]
    return {label: summary.summarise(wanted, helpers.run_result(wanted, flows))}


class Classes(unittest.TestCase):
    def found(self, sizes, times, **changes):
        wanted = scenario_of(sizes, **changes)
        return summary_of(wanted, times)["cubic"]["slowdown"]

    def test_by_hand(self):
        found = self.found([100, 10000, 10001, 2000000], [10, 30, 50, 70])
        self.assertEqual([(one["flows"], one["p50"], one["p999"], one["max"])
                          for one in found["classes"]],
                         [(2, 1, 3, 3), (1, 5, 5, 5), (0, None, None, None), (1, 7, 7, 7)])
        self.assertEqual((found["all"]["flows"], found["all"]["p50"], found["all"]["p95"]),
                         (4, 3, 7))

    def test_tails(self):
        found = self.found([1] + [5] * 1999, [10 * i for i in range(1, 2001)],
                           slowdown={"edges": ["1kb"]})
        self.assertEqual({name: found["all"][name] for name in ("p50", "p95", "p99", "p999")},
                         {"p50": 1000, "p95": 1900, "p99": 1980, "p999": 1998})

    def test_bins_have_as_many_flows(self):
        found = self.found([5, 1, 4, 2, 3], [50, 10, 40, 20, 30], slowdown={"bins": 2})
        self.assertEqual([(one["from_bytes"], one["to_bytes"], one["flows"], one["max"])
                          for one in found["bins"]], [(1, 2, 2, 2), (3, 5, 3, 5)])

    def test_flows_of_one_size_are_in_one_bin(self):
        def bins(sizes, count):
            found = self.found(sizes, [10] * len(sizes), slowdown={"bins": count})["bins"]
            return [(one["from_bytes"], one["to_bytes"], one["flows"]) for one in found]
        self.assertEqual(bins([1] * 3 + [9] * 97, 10), [(1, 1, 3), (9, 9, 97)])
        self.assertEqual(bins([1, 2, 2, 3], 2), [(1, 2, 3), (3, 3, 1)])
        self.assertEqual(bins([1] * 6 + [2, 3, 4, 5], 5), [(1, 1, 6), (2, 3, 2), (4, 5, 2)])

    def test_flows_that_did_not_finish_do_not_count(self):
        wanted = scenario_of([5, 6], until="1ms", check={"allow-unfinished": True})
        self.assertEqual(summary_of(wanted, [20, None])["cubic"]["slowdown"]["all"]["flows"], 1)

    def test_none_where_all_are_alike(self):
        self.assertIsNone(self.found([5, 5], [20, 30]))

    def test_edges_of_ones_own(self):
        found = self.found([1024, 1025], [20, 30], slowdown={"edges": ["1kb"]})
        self.assertEqual([one["max"] for one in found["classes"]], [2, 3])

    def test_names(self):
        names = [slowdown.class_name({"from_bytes": low, "to_bytes": high})
                 for low, high in ((0, 10000), (10000, 10**6), (10**6, slowdown.SIZE_MAX))]
        self.assertEqual(names, ["up to 10 kB", "10 kB to 1 MB", "above 1 MB"])

    def test_mistakes(self):
        for table, words in (({"edges": ["2kb", "1kb"]}, "slowdown.edges: sizes that rise"),
                             ({"edges": []}, "at least one"),
                             ({"edges": ["x"]}, "'x' is not a size"),
                             ({"bins": 0}, "slowdown.bins: '0' is out of range")):
            with self.subTest(table), self.assertRaisesRegex(InputError, words):
                scenario_of([1, 2], slowdown=table)


class Paper(unittest.TestCase):
    def rows(self, **changes):
        wanted = scenario_of([100, 2000000], algorithm=[{"name": "cubic"}, {"name": "reno"}],
                             paper=[dict(FIGURE, **changes)])
        found = {**summary_of(wanted, [20, 90]), **summary_of(wanted, [20, 30], "reno")}
        return paper.compare(wanted, found)

    def test_of_sizes(self):
        (row,) = self.rows(sizes="1000000:", value="3")
        self.assertEqual((row["ours"], row["ratio"], row["others"]), (9, 3, {"reno": 3}))
        self.assertEqual(paper.cells(row)[1], "slowdown_p50 above 1 MB")

    def test_completions_and_marks_of_sizes(self):
        for quantity, sizes, ours in (("fct_p50", "1000000:", "0.09us"),
                                      ("fct_p99", ":100", "0.02us"),
                                      ("marked", ":100", "25"), ("marked", None, "12.5")):
            (row,) = self.rows(quantity=quantity, **({"sizes": sizes} if sizes else {}))
            self.assertEqual(row["ours_text"], ours)

    def test_over_another_run(self):
        (row,) = self.rows(sizes="1000000:", over="reno", value="2")
        self.assertEqual((row["ours"], row["ratio"], row["others"]), (3, 1.5, {}))
        self.assertEqual(paper.cells(row)[1], "slowdown_p50 above 1 MB over reno")

    def test_mistakes(self):
        for changes, words in (({"sizes": "5"}, r"paper\[0\].sizes: '5' is not LOW:HIGH"),
                               ({"sizes": "9:5"}, "'9:5' is empty"),
                               ({"quantity": "drops", "sizes": "1:"}, "drops is not of sizes"),
                               ({"over": "ren"}, "no run 'ren', did you mean 'reno'")):
            with self.subTest(changes), self.assertRaisesRegex(InputError, words):
                self.rows(**changes)
        with self.assertRaisesRegex(InputError, "slowdown_p50 is by size, and all flows"):
            scenario_of([5, 5], paper=[FIGURE])


class Scale(unittest.TestCase):
    TABLE = helpers.table(scale={"paper": {"seed": 7}})

    def build(self, scale):
        from quell_lab import scenario
        return scenario.build(self.TABLE, Places("a.scenario"), scale)

    def test_replaces_what_it_names(self):
        self.assertEqual((self.build(None).seed, self.build("paper").seed), (1, 7))
        self.assertEqual(len(self.build("paper").flows), 2)

    def test_mistakes(self):
        with self.assertRaisesRegex(InputError, "no .scale.papr. in a.scenario, did you mean "
                                    "'paper'"):
            self.build("papr")


class Medians(unittest.TestCase):
    ROW = {"figure": "A", "quantity": "fct_max", "value": "2us"}

    def seeds(self, *seeds, **changes):
        """(rows by quantity, lines for people by name) of seeds whose flows take these times."""
        done = []
        for sizes, times in seeds:
            wanted = scenario_of(sizes, **changes)
            found = summary_of(wanted, times)
            done.append(output.Evaluation(found, paper.compare(wanted, found), True))
        rows = seeds_of.medians(done)
        return ({row[1]: row[2:] for row in rows},
                {line[0]: line[1:] for line in seeds_of.texts(rows, wanted, done[-1].paper)})

    def test_over_three_seeds(self):
        rows, _ = self.seeds(*(([100, 2000000], [10, time]) for time in (20, 60, 90)),
                             paper=[dict(FIGURE, sizes="1000000:")])
        self.assertEqual(rows["slowdown_p99 above 1 MB"], (3, 6, 2, 9))
        self.assertEqual(rows["A: slowdown_p50 above 1 MB"], (3, 6, 2, 9))
        self.assertEqual(rows["fct_max_ns"], (3, 60, 20, 90))
        self.assertEqual(rows["slowdown_p99 all"], (3, 6, 2, 9))
        self.assertNotIn("slowdown_p50 10 kB to 100 kB", rows)

    def test_over_the_seeds_that_have_a_value(self):
        rows, lines = self.seeds(([100, 2000000], [10, 20]), ([100, 200], [10, 60]),
                                 ([100, 2000000], [10, 80]))
        self.assertEqual(rows["slowdown_p50 above 1 MB"], (2, 5, 2, 8))
        self.assertEqual(lines["cubic: slowdown_p50 above 1 MB"], ("2", "5", "2", "8"))
        self.assertEqual(rows["slowdown_p99 up to 10 kB"], (3, 1, 1, 6))

    def test_rows_of_one_figure_and_several_runs_count_once(self):
        rows, _ = self.seeds(([1, 2], [10, 20]), ([1, 2], [10, 40]), paper=[self.ROW, self.ROW])
        self.assertEqual(rows["A: fct_max"], (2, 30, 20, 40))

    def test_units_are_those_of_a_single_run(self):
        _, lines = self.seeds(([1000, 4000], [1000, 2000]), ([1000, 4000], [1000, 4000]),
                              paper=[self.ROW])
        self.assertEqual(lines["cubic: FCT max"], ("2", "3.0 us", "2.0 us", "4.0 us"))
        self.assertEqual(lines["cubic: A: fct_max"], ("2", "3us", "2us", "4us"))
        self.assertEqual(lines["cubic: goodput"], ("2", "15.00 Gbit/s", "10.00 Gbit/s",
                                                   "20.00 Gbit/s"))
        self.assertEqual(lines["cubic: queue max"], ("2", "0.0 kB", "0.0 kB", "0.0 kB"))
