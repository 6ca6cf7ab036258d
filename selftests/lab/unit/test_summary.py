# SPDX-License-Identifier: GPL-2.0
"""Arithmetic of the summary, on data small enough to do by hand."""

import os
import unittest
from dataclasses import replace
from types import MappingProxyType
from unittest import mock

from quell_lab import loads, show, stats, summary

import helpers


class Tables(unittest.TestCase):
    """On a terminal with some columns."""

    def lines(self, columns, **more):
        with mock.patch.dict(os.environ, {"COLUMNS": str(columns)}):
            return show.lines(("run", "p50", "p99", "max"), (
                ("swift", "1.0", "2.0", "3.0"), ("dctcp:x", "10.0", "20.0", "30.0")), **more)

    def test_table_that_fits(self):
        whole = ["run       p50   p99   max", "swift     1.0   2.0   3.0",
                 "dctcp:x  10.0  20.0  30.0"]
        self.assertEqual(self.lines(25), whole)
        self.assertEqual(self.lines(27, indent="  "), [f"  {line}" for line in whole])

    def test_wide_table_is_in_parts(self):
        self.assertEqual(self.lines(24), [
            "run       p50   p99", "swift     1.0   2.0", "dctcp:x  10.0  20.0", "",
            "run       max", "swift     3.0", "dctcp:x  30.0"])
        self.assertEqual(self.lines(26, indent="  ")[-1], "  dctcp:x  30.0")
        self.assertEqual(self.lines(24, left=2)[4:], [
            "run      p50    max", "swift    1.0    3.0", "dctcp:x  10.0  30.0"])

    def test_column_wider_than_the_terminal(self):
        self.assertEqual(len(self.lines(1)), 3 * 3 + 2)


class Percentile(unittest.TestCase):
    def test_nearest_rank(self):
        values = [15, 20, 35, 40, 50]
        for percent, value in ((5, 15), (20, 15), (30, 20), (40, 20), (50, 35), (99, 50),
                               (100, 50)):
            with self.subTest(percent):
                self.assertEqual(summary.percentile(values, percent), value)

    def test_thousand(self):
        values = list(range(1, 1001))
        self.assertEqual(summary.percentile(values, 50), 500)
        self.assertEqual(summary.percentile(values, 99), 990)
        self.assertEqual(dict(summary.PERCENTILES)["p999"] * 10, 999)
        self.assertEqual(summary.percentile(values, dict(summary.PERCENTILES)["p999"]), 999)

    def test_order_does_not_matter_and_nothing_is_none(self):
        self.assertEqual(summary.percentile([3, 1, 2], 50), 2)
        self.assertIsNone(summary.percentile([], 50))


class Jain(unittest.TestCase):
    def test_by_hand(self):
        self.assertEqual(summary.jain([5, 5, 5, 5]), 1)
        self.assertEqual(summary.jain([8, 0, 0, 0]), 0.25)
        self.assertAlmostEqual(summary.jain([1, 2, 3]), 36 / 42)
        self.assertIsNone(summary.jain([0, 0]))


class JainWindows(unittest.TestCase):
    def setUp(self):
        self.scenario = helpers.build(flow=[
            {"src": "h1", "dst": "h3", "bytes": 400},
            {"src": "h2", "dst": "h3", "bytes": 300, "start": "10us"}])
        first, second = self.scenario.flows
        flows = [helpers.flow_result(first, 0, 40000), helpers.flow_result(second, 10000, 35000)]
        # flow 1: 100 in each window but none in the third; flow 2: 100, 150, 50
        delivered = {1: [(10000, 100), (20000, 200), (40000, 400)],
                     2: [(20000, 100), (30000, 250), (40000, 300)]}
        self.result = helpers.run_result(self.scenario, flows, delivered=delivered)

    def test_only_windows_both_span(self):
        windows = summary.jain_windows(self.result, 10000)
        self.assertEqual([(begin, flows) for begin, _, flows in windows],
                         [(10000, 2), (20000, 2)])

    def test_unchanged_count_means_nothing_delivered(self):
        windows = summary.jain_windows(self.result, 10000)
        self.assertEqual([index for _, index, _ in windows], [1.0, 0.5])

    def test_fair_after(self):
        windows = [(0, 0.99, 2), (10, 0.5, 2), (20, 0.96, 3), (30, 0.94, 3), (40, 0.95, 3),
                   (50, 1.0, 2)]
        self.assertEqual(summary.fair_after_ns(windows, 0), 40)
        self.assertEqual(summary.fair_after_ns(windows, 20), 20)
        self.assertEqual(summary.fair_after_ns(windows[:3], 15), 5)
        self.assertIsNone(summary.fair_after_ns(windows[:4], 0))
        self.assertIsNone(summary.fair_after_ns([], 0))


class Queue(unittest.TestCase):
    def test_time_weighted(self):
        rows = [(10, 100), (20, 300), (50, 0), (70, 500)]
        self.assertEqual(stats.time_weighted(rows, [[0, 60]]), {0: 20, 100: 10, 300: 30})

    def test_only_while_flows_are_active(self):
        rows = [(10, 100), (20, 300), (50, 0), (70, 500)]
        self.assertEqual(stats.time_weighted(rows, [[15, 25], [65, 80]]),
                         {100: 5, 300: 5, 0: 5, 500: 10})

    def test_numbers(self):
        # 60 ns at 0, 39 at 100, 1 at 900: mean 48, p99 100, max from the port
        rows = [(60, 100), (99, 900)]
        self.assertEqual(summary.queue_numbers(rows, [[0, 100]], 1234),
                         {"mean_bytes": 48.0, "p99_bytes": 100, "max_bytes": 1234})
        rows = [(60, 100), (98, 900)]
        self.assertEqual(summary.queue_numbers(rows, [[0, 100]], 1)["p99_bytes"], 900)

    def test_no_time_no_queue(self):
        self.assertEqual(summary.queue_numbers([], [], 0),
                         {"mean_bytes": 0.0, "p99_bytes": 0, "max_bytes": 0})

    def test_spans_merge(self):
        wanted = helpers.build(flow=[{"src": "h1", "dst": "h3", "bytes": 1},
                                     {"src": "h1", "dst": "h3", "bytes": 1, "start": "2ns"},
                                     {"src": "h1", "dst": "h3", "bytes": 1, "start": "30ns"}])
        flows = [helpers.flow_result(flow, flow.start_ns, end)
                 for flow, end in zip(wanted.flows, (10, 20, 40))]
        self.assertEqual(summary.active_spans(helpers.run_result(wanted, flows)),
                         [[0, 20], [30, 40]])


class RankCorrelation(unittest.TestCase):
    def test_by_hand(self):
        self.assertEqual(summary.rank_correlation([(1, 10), (2, 20), (3, 30)]), 1.0)
        self.assertEqual(summary.rank_correlation([(1, 30), (2, 20), (3, 10)]), -1.0)
        # ranks 1 2 3 4 against 2 1 4 3: 1 - 6 * 4 / (4 * 15)
        self.assertEqual(summary.rank_correlation([(1, 2), (2, 1), (3, 4), (4, 3)]), 0.6)

    def test_ties_share_their_rank(self):
        # ranks 1.5 1.5 3 against 1 2 3: covariance 1.5, variances 1.5 and 2
        self.assertEqual(summary.rank_correlation([(0, 1), (0, 2), (5, 3)]), 0.866)

    def test_nothing_to_order(self):
        self.assertIsNone(summary.rank_correlation([(1, 1), (2, 2)]))
        self.assertIsNone(summary.rank_correlation([(0, 1), (0, 2), (0, 3)]))


class Governed(unittest.TestCase):
    def summaries(self, governed, counters):
        wanted = helpers.build(algorithm=[{"name": "swift", "set": {"adapt": "on"}}])
        flows = [helpers.flow_result(flow, flow.start_ns, 60000) for flow in wanted.flows]
        result = helpers.run_result(wanted, flows, governed=governed, counters=counters)
        return {"swift": summary.summarise(wanted, result)}

    def test_shares_of_all_time_and_reasons(self):
        counters = {"quell": {"cubic-x": 9}, "swift": {
            "algorithm-ms": 1, "cubic-ms": 3, "cubic-noise": 1, "cubic-slow-path": 2,
            "cubic-slow-path-ms": 3, "decreases": 4}}
        found = self.summaries({1: (9000, 1000, 0), 2: (0, 1000, 29000)}, counters)
        self.assertEqual(found["swift"]["governed"],
                         {"algorithm": 0.225, "search": 0.05, "cubic": 0.725,
                          "cubic_times": {"noise": 1, "slow-path": 2}})
        self.assertEqual([show.governed(found["swift"], kind) for kind in show.GOVERNORS],
                         ["22.5%", "5.0%", "72.5% slow-path"])

    def test_no_reason_without_time_and_no_share_without_flows(self):
        counters = {"swift": {"cubic-noise": 1}}
        found = self.summaries({1: (9000, 1000, 0)}, counters)
        self.assertEqual(show.governed(found["swift"], "cubic"), "0.0%")
        found = self.summaries({}, counters)
        self.assertEqual(show.governed(found["swift"], "algorithm"), "-")

    def test_no_columns_of_runs_that_are_not_fitted(self):
        found = self.summaries(None, {})
        self.assertNotIn("governed", found["swift"])
        self.assertEqual(show.governed(found["swift"], "cubic"), "-")
        for governed, has_columns in (None, False), ({1: (1, 1, 2)}, True):
            with self.subTest(governed):
                found = self.summaries(governed, {"swift": {"cubic-noise": 1}})
                head, [row] = show.whole_run(found)
                self.assertEqual("by search" in head and "by CUBIC" in head, has_columns)
                self.assertEqual("50.0% noise" in row, has_columns)


class Loads(unittest.TestCase):
    FLOWS = [{"src": "h1", "dst": "h3", "bytes": 10**6},
             {"src": "h2", "dst": "h3", "bytes": 4 * 10**6, "start": "50us"},
             {"src": "h1", "dst": "h3", "bytes": 10**6, "start": "100us"}]

    def found(self, ends, flows=None, config=MappingProxyType({"flow-list": [{}]}), **changes):
        wanted = helpers.build(flow=flows or self.FLOWS, until="1ms",
                               check={"allow-unfinished": True})
        wanted = replace(wanted, config=config)
        rows = [helpers.flow_result(flow, flow.start_ns, end) for flow, end in
                zip(wanted.flows, ends)]
        return loads.numbers(wanted, helpers.run_result(wanted, rows, **changes))

    def test_while_flows_start(self):
        load = self.found((80000, 150000, 180000))
        # 5 MB in 100 us; 1 MB delivered, and half of 4 MB at an even rate
        self.assertEqual((load["from_ns"], load["to_ns"], load["offered_bits_ps"],
                          load["carried_bits_ps"], load["capacity_bits_ps"]),
                         (0, 100000, 400 * 10**9, 240 * 10**9, 10**11))
        self.assertEqual((loads.share(load, "offered"), loads.share(load, "carried")),
                         ("400.0%", "240.0%"))

    def test_by_the_samples_where_there_are_some(self):
        delivered = {2: [(90000, 7 * 10**5), (100000, 10**6), (110000, 2 * 10**6)]}
        self.assertEqual(self.found((80000, 150000, 180000), delivered=delivered)
                         ["carried_bits_ps"], 160 * 10**9)

    def test_no_offer_without_a_workload(self):
        load = self.found((80000, 150000, 180000), config={})
        self.assertEqual((load["offered_bits_ps"], load["carried_bits_ps"]), (None, 240 * 10**9))

    def test_no_offer_of_flows_that_the_run_starts_or_ends(self):
        for flows in ([dict(self.FLOWS[0], stop="900us"), *self.FLOWS[1:]],
                      [self.FLOWS[0], dict(self.FLOWS[2], after=1, start=0)]):
            self.assertIsNone(self.found((80000, 150000, 180000), flows)["offered_bits_ps"])

    def test_all_together_count_to_the_last_end(self):
        for start in 0, "12ns":
            load = self.found((80000, 100000), [self.FLOWS[0], dict(self.FLOWS[1], start=start)])
            self.assertEqual((load["offered_bits_ps"], load["carried_bits_ps"]),
                             (None, 400 * 10**9))
        self.assertEqual(loads.share(load, "offered"), "-")
        self.assertEqual(loads.share(None, "carried"), "-")


class Summarise(unittest.TestCase):
    def test_whole(self):
        wanted = helpers.build()
        flows = [helpers.flow_result(wanted.flows[0], 0, 30000, ideal_ns=10000, retrans_segs=2),
                 helpers.flow_result(wanted.flows[1], 20000, 60000, ideal_ns=10000, segs_out=4)]
        ports = {"s1:p3": {"tx_packets": 7, "drops": 1, "mark_pkts": 3, "ring_drops": 1,
                           "stamp_pkts": 8, "stamp_kept_pkts": 9, "data_backlog_max_bytes": 4542, "kind": "swport",
                           "trim_pkts": 15, "trim_sent_pkts": 11, "trim_drop_pkts": 4,
                           "to_sender_pkts": 6},
                 "h1:eth0": {"tx_packets": 5, "drops": 0, "ring_drops": 0, "kind": "pfifo"}}
        queues = {"s1:p3": [(15000, 3000), (30000, 0)]}
        result = summary.summarise(wanted, helpers.run_result(wanted, flows, ports=ports,
                                                              queues=queues))
        self.assertEqual(result["fct_ns"],
                         {"min": 30000, "p50": 30000, "p99": 40000, "p999": 40000, "max": 40000})
        self.assertEqual(result["spread_ns"], 30000)
        self.assertEqual(result["slowdown_max"], 4.0)
        self.assertEqual(result["queue"], {"mean_bytes": 750.0, "p99_bytes": 3000,
                                           "max_bytes": 4542, "port": "s1:p3"})
        self.assertEqual(result["goodput_bits_ps"], 6000 * 8 * 10**9 // 60000)
        self.assertEqual([result[key] for key in ("drops", "marks", "stamps", "stamps_kept",
                                                  "trims", "trims_sent", "trims_dropped",
                                                  "answered_to_sender",
                                                  "retransmitted_segs", "segs_out",
                                                  "packet_hops")],
                         [2, 3, 8, 9, 15, 11, 4, 6, 2, 5, 12])
        self.assertEqual(result["cost"]["packet_hops_ps"], 6)
