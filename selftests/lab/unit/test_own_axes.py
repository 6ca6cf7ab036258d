# SPDX-License-Identifier: GPL-2.0
"""Figures in the papers' own axes: what is refused, distributions on data done by hand, drawing."""

import dataclasses
import unittest

from quell_lab import distributions, own_axes, report, rounds
from quell_lab.errors import InputError

import helpers

STEADY = dict(helpers.STEADY, idle="2us")
RTTS = {"kind": "rtts", "figure": "TIMELY Fig. 14"}
SLOWDOWN = {"kind": "slowdown", "figure": "A"}
OF_SIZES = [dict(helpers.LONG[0], bytes=1000), helpers.LONG[1]]


def build(**changes):
    """Two flows that outlast the run, with a plot."""
    return helpers.build_lasting(**{"measure": dict(STEADY), "plot": [RTTS], **changes})


class Keys(unittest.TestCase):
    def test_without_names(self):
        plots = build(plot=[{"kind": "rtts", "runs": "cubic"},
                            {"kind": "mean-window", "measure": "steady"}]).plots
        self.assertEqual([one.stem for one in plots],
                         ["plot-scenario-rtts", "plot-scenario-mean-window"])
        self.assertEqual(plots[0].runs, ("cubic",))

    def test_refused(self):
        for changes, words in (
                ({"plot": [{"kind": "rtts"}] * 2},
                 r"plot\[1\].figure: 'scenario, rtts' is given twice"),
                ({"plot": [dict(RTTS, kind="rttz")]}, r"plot\[0\].kind: 'rttz', did you mean"),
                ({"plot": [dict(RTTS, runs=["cubik"])]}, r"plot\[0\].runs: no run 'cubik'"),
                ({"plot": [dict(RTTS, runs="cubik")]}, r"plot\[0\].runs: no run 'cubik'"),
                ({"plot": [dict(RTTS, measure=["x"])]}, r"plot\[0\].measure: no window 'x'"),
                ({"plot": [RTTS], "measure": None}, r"plot\[0\]: needs a \[measure\] table"),
                ({"plot": [dict(RTTS, truth=True)]}, r"plot\[0\].truth: needs truth = true"),
                ({"plot": [dict(RTTS, queue=True)], "measure": {"from": "20us", "to": "40us"}},
                 r"plot\[0\].queue: needs idle"),
                ({"plot": [dict(RTTS, flows=[1])]}, r"plot\[0\].flows: kinds flows, windows and"),
                ({"plot": [dict(RTTS, kind="flows", flows=[3])]}, "'3' is no flow: 1 to 2"),
                ({"plot": [dict(RTTS, kind="marks")]}, r"plot\[0\].kind: marks needs the senders'"),
                ({"paper": [{"figure": "x", "quantity": "marks_rtt_correlation"}]},
                 r"paper\[0\].quantity: marks_rtt_correlation needs a"),
                ({"plot": [dict(RTTS, kind="flows", flows=[1], truth=True)],
                  "record": {"truth": True}}, r"plot\[0\].truth: is of kind rtts alone"),
                ({"plot": [dict(RTTS, kind="mean-window", queue=True)]},
                 r"plot\[0\].queue: is of kind rtts alone"),
                ({"plot": [dict(RTTS, kind="windows", flows=[1])],
                  "measure": [dict(STEADY, name="a"), dict(STEADY, name="b")]},
                 r"plot\[0\].measure: 2 windows: windows shows one"),
                ({"plot": [dict(RTTS, kind="marks")], "record": {"pcap": ["h[1-2]", "h3"]}},
                 r"record.pcap: 'h3' is not a host that only"),
                ({"plot": [dict(RTTS, kind="marks")], "record": {"pcap": ["s1:p3"]}},
                 r"record.pcap: 's1:p3' is not a host that only"),
                ({"plot": [dict(RTTS, kind="slowdown")], "measure": None},
                 r"plot\[0\].kind: slowdown is by size, and all flows are as large"),
                ({"plot": [dict(SLOWDOWN, measure=["steady"])], "flow": OF_SIZES},
                 r"plot\[0\].measure: not with slowdown"),
                ({"plot": [dict(SLOWDOWN, percentiles=["p98"])], "flow": OF_SIZES},
                 r"plot\[0\].percentiles: no percentile 'p98'"),
                ({"plot": [dict(SLOWDOWN, by="class")], "flow": OF_SIZES}, "one of bins, classes"),
                ({"plot": [dict(RTTS, by="bins")]}, r"plot\[0\].by: is of kind slowdown alone"),
                ({"plot": [RTTS, RTTS]}, r"plot\[1\].figure: 'TIMELY Fig. 14' is given twice"),
                ({"paper": [{"figure": "x", "quantity": "queueing_p50"}], "plot": None,
                  "measure": {"from": "20us", "to": "40us"}},
                 r"paper\[0\].quantity: queueing_p50 needs idle")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                build(**changes)

    def test_slowdown_needs_no_window(self):
        plot = dict(SLOWDOWN, by="classes", percentiles=["p999"])
        wanted = build(plot=[plot], flow=OF_SIZES, measure=None)
        flows = [helpers.flow_result(flow, 0, 3000, ideal_ns=1000) for flow in wanted.flows]
        (make,) = own_axes.of_run(wanted, [helpers.run_result(wanted, flows)]).values()
        (facet,) = make().facets
        self.assertEqual(facet.title, "99.9th percentile\n(the slowest flow: a point has fewer "
                         "than 1000)")
        self.assertEqual((facet.x.ticks[1], facet.lines[0].ys),
                         (["up to 10 kB", "100 kB to 1 MB"], [3, 3]))

    def test_named_after_its_figure(self):
        self.assertEqual(build().plots[0].stem, "plot-timely-fig-14")
        (plot,) = build(plot=[{"kind": "rtts"}], title="A b").plots
        self.assertEqual((plot.figure, plot.stem), ("A b", "plot-a-b"))

    def test_captions_name_a_paper_where_there_is_one(self):
        self.assertIn("paper's figure", report._caption("plot-a", True))
        self.assertNotIn("paper", report._caption("plot-a", False))
        self.assertEqual(report._caption("queue", False), report._caption("queue", True))
        self.assertIn("exact; of a, s1 it is the largest sample.",
                      report._caption("queue", False, ("a", "s1")))


class Distributions(unittest.TestCase):
    def test_of_samples(self):
        self.assertEqual(distributions.of_samples([3, 1, 3, 7]), [(1, 0.25), (3, 0.75), (7, 1.0)])

    def test_percentiles(self):
        curve = distributions.of_samples(range(1, 101))
        self.assertEqual([distributions.at_share(curve, percent) for percent in (50, 99, 99.5)],
                         [50, 99, 100])
        self.assertIsNone(distributions.at_share([], 50))

    def test_distance(self):
        one = distributions.of_samples([1, 2, 3, 4])
        self.assertEqual(distributions.distance(one, one), 0)
        self.assertEqual(distributions.distance(one, distributions.of_samples([5, 6])), 1)
        # at 2: half of the one, nothing of the other
        self.assertEqual(distributions.distance(one, distributions.of_samples([3, 4])), 0.5)
        self.assertEqual(distributions.distance(distributions.of_samples([3, 4]), one), 0.5)


class Drawn(unittest.TestCase):
    """Round trips of 2 to 6 us, and a queue of a packet, which takes 123 ns, half of the time."""

    def setUp(self):
        self.wanted = build(paper=[
            {"figure": "TIMELY Fig. 14", "quantity": "rtt_p99", "value": "5us"}])
        flows = [helpers.flow_result(flow, 0, -1) for flow in self.wanted.flows]
        self.cwnd = {1: [(10000, 1, 10**9, 90000), (20000, 1, 10**9, 2000),
                         (30000, 1, 10**9, 4000)],
                     2: [(25000, 1, 3 * 10**9, 6000), (40000, 1, 10**9, 90000)]}
        self.result = helpers.run_result(
            self.wanted, flows, cwnd=self.cwnd, virtual_ns=50000,
            queues={"s1:p3": [(0, 0), (30000, 1514)]})
        self.window = self.wanted.windows[0]
        self.port = next(port for port in self.wanted.watched_ports() if port.label == "s1:p3")

    def test_queue_as_a_time(self):
        self.assertEqual(distributions.queue_ns(self.port, 1514), 123)	# 1538 bytes at 100 Gbit/s
        self.assertEqual(distributions.queue_ns(self.port, 15140), 1230)

    def test_queueing(self):
        self.assertEqual(distributions.queueing(self.wanted, self.result, self.window, self.port),
                         {"port": "s1:p3", "rtt_p50_ns": 2000, "rtt_p99_ns": 4000,
                          "queue_p50_ns": 0, "queue_p99_ns": 123, "distance": 0.6667,
                          "found_distance": 0.6667})

    def test_queue_as_packets_found_it(self):
        # a microsecond after they left: at 19, 27 and 20 us, before the packet came
        self.assertEqual(distributions.found_ns(self.wanted, self.result, self.window, self.port),
                         [0, 0, 0])
        result = dataclasses.replace(self.result, queues={"s1:p3": [(0, 0), (20000, 1514)]})
        self.assertEqual(sorted(distributions.found_ns(self.wanted, result, self.window,
                                                       self.port)), [0, 123, 123])

    def test_truth_leaves_out_what_the_hosts_took(self):
        result = dataclasses.replace(self.result, truth={1: [(20000, 1, 9, 0, 5000, 1000),
                                                             (50000, 1, 9, 0, 7000, 0)]})
        self.assertEqual(distributions.round_trips_ns(result, self.window, True), [4000])

    def test_a_flow_that_starts_has_one_round_trip_not_of_the_warm_up(self):
        late = helpers.flow_result(self.wanted.flows[1], 22000, -1)
        rows = [(22000, 1, 1, 1500), (23000, 2, 1, 1500), (30000, 2, 1, 6000), (31000, 1, 1, 1500)]
        result = dataclasses.replace(self.result, flows=[self.result.flows[0], late],
                                     cwnd={1: self.cwnd[1], 2: rows})
        self.assertEqual(distributions.round_trips_ns(result, self.window), [2000, 4000, 1500])
        warm = dataclasses.replace(result, cwnd={1: self.cwnd[1], 2: rows[:2]})
        self.assertEqual(distributions.round_trips_ns(warm, self.window), [2000, 4000])

    def draw(self, plot):
        wanted = build(plot=[plot], paper=[
            {"figure": "TIMELY Fig. 14", "quantity": "rtt_p99", "value": "5us"},
            {"figure": "TIMELY Fig. 13", "quantity": "pacing_mean[1]", "value": "8gbit"}])
        [(stem, make)] = own_axes.of_run(wanted, [self.result]).items()
        return stem, [(line.name, line.xs) for facet in make().facets for line in facet.lines]

    def test_round_trips(self):
        stem, lines = self.draw(RTTS)
        self.assertEqual(stem, "plot-timely-fig-14")
        self.assertEqual(lines[0], ("cubic", [2, 2, 4, 6]))
        self.assertEqual([line for line in lines[1:] if line[1]], [("", [5])])

    def test_queue_beside_them(self):
        _, lines = self.draw(dict(RTTS, queue=True))
        self.assertEqual(lines[0], ("queue of the port", [0, 0, 0.123]))
        self.assertEqual(lines[1], ("as messages found it", [0, 0]))
        self.assertEqual(lines[2], ("round trip less idle", [0, 0, 2, 4]))

    def test_flows_over_time(self):
        _, lines = self.draw(dict(RTTS, kind="flows", flows=[1, 2]))
        self.assertEqual([name for name, _ in lines if "±" in name],
                         ["1: 8000 ± 0", "2: 18000 ± 10392"])
        self.assertEqual(sum(name == "the paper's" for name, _ in lines), 1)
        _, lines = self.draw(dict(RTTS, kind="flows", flows=[1, 2] * 4))	# more than colours
        self.assertEqual(sum("±" in name for name, _ in lines), 8)

    def test_windows_over_time(self):
        _, lines = self.draw(dict(RTTS, kind="windows", flows=[1, 2]))
        self.assertEqual([times for _, times in lines], [[20, 30], [25]])

    def test_mean_window(self):
        _, lines = self.draw(dict(RTTS, kind="mean-window"))
        self.assertEqual(lines, [("cubic", [20, 30])])

    def test_marks(self):
        self.result = dataclasses.replace(self.result, rounds={
            "h1:eth0": [rounds.Round(21000, 0.5, 3000), rounds.Round(50000, 1, 9000)]})
        plot = dict(RTTS, kind="marks")
        wanted = build(plot=[plot], record={"pcap": "h1"})
        [(_, make)] = own_axes.of_run(wanted, [self.result]).items()
        points, boxes = (facet.lines[0] for facet in make().facets)
        self.assertEqual((points.xs, points.ys, boxes.ys), ([3], [0.5], [[0.5]]))
