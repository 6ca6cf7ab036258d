# SPDX-License-Identifier: GPL-2.0
"""Who governs Dart's flows: spans and shares of time, and the figure."""

import unittest

from quell_lab import charts, dart_chart, governs

import helpers


class Governs(unittest.TestCase):
    def setUp(self):
        self.wanted = helpers.build(algorithm=[{"name": "dart"}])
        flows = [helpers.flow_result(flow, flow.start_ns, -1) for flow in self.wanted.flows]
        self.result = helpers.run_result(
            self.wanted, flows, virtual_ns=100000,
            delivered={1: [(10000, 1000), (20000, 2000)]},
            dart={1: [(0, 0, 256, 256, 0), (30000, 1, 512, 512, 1), (60000, 1, 512, 512, 2)],
                  2: [(40000, 1, 512, 512, 1), (90000, 2, 512, 256, 2)]})

    def test_n_is_shown_as_a_number(self):
        self.assertEqual([governs.show_n(n) for n in (0, 256, 640)], ["", "1", "2.5"])

    def test_a_receiver_has_the_newest_state_of_any_flow(self):
        self.assertEqual(governs.states(self.result),
                         {"h3": [(0, 30000, 0), (30000, 90000, 1), (90000, 100000, 2)]})

    def test_limits_last_until_the_flow_ends(self):
        self.assertEqual(governs.limits(self.result), {
            1: [(0, 30000, 0), (30000, 60000, 1), (60000, 100000, 2)],
            2: [(40000, 90000, 1), (90000, 100000, 2)]})

    def test_the_figure_has_a_name_of_its_own_per_run(self):
        self.assertEqual(charts.dart_stem(self.result), "dart")
        again = helpers.build(algorithm=[{"name": "dart", "label": "dart:slack=9us"}])
        self.assertEqual(charts.dart_stem(helpers.run_result(again, [])), "dart-dart-slack-9us")

    def test_rounds_of_a_pair_are_one_lane(self):
        starts = [("h1", 0, 50), ("h2", 10, 20), ("h2", 20, 40), ("h2", 30, 60), ("h1", 50, 70)]
        wanted = helpers.build(
            incast=None, check={"allow-unfinished": True}, until="1s",
            flow=[{"src": src, "dst": "h3", "bytes": "1kb", "start": f"{start}us"}
                  for src, start, _ in starts])
        result = helpers.run_result(wanted, [
            helpers.flow_result(flow, flow.start_ns, end * 1000)
            for flow, (_, _, end) in zip(wanted.flows, starts)])
        lanes = governs.lanes(result)
        self.assertEqual([[row.flow.number for row in lane] for lane in lanes],
                         [[1, 5], [2, 3], [4]])
        self.assertEqual([dart_chart.name(lane) for lane in lanes],
                         ["1, 5: h1 → h3", "2, 3: h2 → h3", "4: h2 → h3"])
        self.assertEqual(dart_chart.name(result.flows[:3]), "1, 2, …: h1 → h3")

    def test_extremes_are_of_flows_that_are_active(self):
        self.assertEqual(governs.extremes(self.result, governs.TOLD), {
            "h3": [(0, 256, 256), (30000, 512, 512), (90000, 256, 512), (100000, 0, 0)]})

    def test_the_chart_has_a_band_for_each_receiver(self):
        rates, _, states, limits = dart_chart.make(self.wanted, self.result).facets
        self.assertEqual([line.name for line in rates.lines], ["1: h1 → h3", "2: h2 → h3"])
        self.assertEqual([list(facet.y.ticks[1]) for facet in (states, limits)],
                         [["h3"], ["1: h1 → h3", "2: h2 → h3"]])
