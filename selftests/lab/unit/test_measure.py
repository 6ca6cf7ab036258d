# SPDX-License-Identifier: GPL-2.0
"""Windows of time, and flows that outlast the run, on data done by hand."""

import unittest

from quell_lab import measure, results, summary
from quell_lab.errors import InputError

import helpers
from helpers import LONG, STEADY, build_lasting as build


class Keys(unittest.TestCase):
    def test_refused(self):
        for changes, words in (
                ({"measure": {"from": "20us"}}, "measure.to: missing"),
                ({"measure": {"from": "40us", "to": "20us"}}, "measure.to: '20us' is out of "
                 "range: above 40us, at most 50us"),
                ({"measure": {"from": "20us", "to": "60us"}}, "at most 50us"),
                ({"measure": {"from": "25us", "to": "40us"}}, "'25us' is not a multiple of 10us"),
                ({"measure": dict(STEADY, untill="1us")}, "measure.untill: unknown key"),
                ({"measure": dict(STEADY, name="run")}, "'run' is empty, 'run' or given twice"),
                ({"measure": [dict(STEADY), dict(STEADY)]}, "'steady' is empty"),
                ({"measure": dict(STEADY, src="h3")}, "'h3' is src of no flow"),
                ({"measure": [STEADY, 5]}, "'5' is not a table"),
                ({"until": None}, "allow-unfinished: needs until"),
                ({"check": {"allow-unfinished": True, "within-one-packet": True}},
                 "contradicts within-one-packet"),
                ({"flow": [dict(LONG[0], start="5us", stop="5us")]}, r"flow\[0\].stop: 5us is out "
                 "of range: above 5us, the start of flow 1"),
                ({"flow": None, "flows": [{"src": "h[1-2]", "dst": "h3", "bytes": 10**6,
                                           "stagger": "5us", "stop": "5us"}]},
                 r"flows\[0\].stop: 5us is out of range: above 5us, the start of flow 2"),
                ({"flow": None, "flows": [{"src": "h1", "dst": "h3", "bytes": 10, "repeat": 2}]},
                 r"flows\[0\].repeat: repeat above 1 and every go together"),
                ({"flow": None, "flows": [{"src": "h1", "dst": "h3", "bytes": 10, "every": "1us"}]},
                 r"flows\[0\].repeat: repeat above 1 and every go together"),
                ({"flow": None, "flows": [{"src": "h[1-2]", "dst": "h3", "bytes": 10,
                                           "repeat": 1025, "every": "1us"}]},
                 r"flows\[0\]: 2050 flows is out of range"),
                ({"flow": [dict(LONG[0], stop="9us")], "check": None, "measure": None},
                 "allow-unfinished: must be true where flows have a stop")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                build(**changes)

    def test_windows_of_goodput_hold_packets(self):
        for rate, window_ns in (("100gbit", 10000), ("10gbit", 10000), ("1gbit", 100000),
                                ("10mbit", 9850000)):
            with self.subTest(rate):
                wanted = helpers.build(topology=dict(helpers.STAR, rate=rate))
                self.assertEqual(wanted.record.window_ns, window_ns)

    def test_several_windows_with_some_flows(self):
        wanted = build(measure=[dict(STEADY, src="h2"), dict(STEADY, name="late")])
        self.assertEqual([(window.name, sorted(window.flows)) for window in wanted.windows],
                         [("steady", [2]), ("late", [1, 2])])

    def test_a_window_of_sizes(self):
        flows = [{"src": "h1", "dst": "h3", "bytes": size} for size in (3000, 4000)]
        wanted = build(flow=flows, measure=dict(STEADY, sizes="3000:"))
        self.assertEqual(wanted.windows[0].flows, {2})
        with self.assertRaisesRegex(InputError, "no flow has this src, this dst and this size"):
            build(flow=flows, measure=dict(STEADY, sizes="4000:"))


class Numbers(unittest.TestCase):
    def setUp(self):
        self.wanted = build()
        self.flows = [helpers.flow_result(flow, 0, -1, sent_bytes=9000, delivered_bytes=8000)
                      for flow in self.wanted.flows]
        # in the window: flow 1 gets 4344 (three packets), flow 2 1448; the rows
        # hold changes alone, flow 2's count of 30 us still stands at 40 us
        self.delivered = {1: [(10000, 100), (20000, 1000), (30000, 3000), (40000, 5344),
                              (50000, 8000)],
                          2: [(10000, 500), (30000, 1948), (50000, 8000)]}
        self.cwnd = {1: [(10000, 1, 1, 90000), (20000, 1, 1, 2000), (30000, 1, 1, 0),
                         (39999, 1, 1, 4000), (40000, 1, 1, 90000)],
                     2: [(25000, 1, 1, 6000)]}
        self.queues = {"s1:p3": [(0, 0), (15000, 1000), (25000, 3000), (39800, 9000),
                                 (45000, 99000)]}

    def result(self, **changes):
        values = {"delivered": self.delivered, "cwnd": self.cwnd, "queues": self.queues,
                  "virtual_ns": 50000}
        values.update(changes)
        return helpers.run_result(self.wanted, self.flows, **values)

    def numbers(self, **changes):
        return measure.numbers(self.wanted, self.result(**changes), self.wanted.windows[0])

    def test_throughput(self):
        numbers = self.numbers()
        # 5792 bytes in 20 us; on the wire four packets of 1538
        self.assertEqual(numbers["throughput_bits_ps"], 5792 * 8 * 10**9 // 20000)
        self.assertEqual(numbers["wire_throughput_bits_ps"], 4 * 1538 * 8 * 10**9 // 20000)

    def test_shares(self):
        numbers = self.numbers()
        self.assertEqual(numbers["flow_rate_bits_ps"],
                         {"min": 579200000, "max": 1737600000,
                          "of": {1: 1737600000, 2: 579200000}})
        self.assertEqual(numbers["flow_rate_ratio"], 0.3333)
        self.assertEqual(numbers["jain"], 0.8)		# (3 + 1)^2 / (2 * (9 + 1))

    def test_shares_are_of_flows_there_throughout(self):
        self.flows[1] = helpers.flow_result(self.wanted.flows[1], 20001, -1)
        numbers = self.numbers()
        self.assertEqual((numbers["flows"], numbers["flows_throughout"], numbers["jain"]),
                         (2, 1, 1.0))
        self.flows[1] = helpers.flow_result(self.wanted.flows[1], 0, 39999)
        self.assertEqual(list(self.numbers()["flow_rate_bits_ps"]["of"]), [1])
        self.assertIsNone(self.numbers()["flow_rate_ratio"])
        self.flows[1] = helpers.flow_result(self.wanted.flows[1], 20000, 40000)
        self.assertEqual(list(self.numbers()["flow_rate_bits_ps"]["of"]), [1, 2])

    def test_a_stopped_flow_is_there_until_its_stop(self):
        def spanning(stop):
            self.wanted = build(flow=[LONG[0], dict(LONG[1], stop=stop)])
            self.flows = [helpers.flow_result(flow, 0, -1) for flow in self.wanted.flows]
            return list(self.numbers()["flow_rate_bits_ps"]["of"])

        self.assertEqual(spanning("40us"), [1, 2])
        self.assertEqual(spanning("39us"), [1])
        self.assertEqual([entry[2] for entry in summary.jain_windows(self.result(), 10000, True)],
                         [2, 2, 2])

    def test_errors_of_round_trips(self):
        self.assertIsNone(self.numbers()["rtt_error_ns"])
        self.wanted = build(record={"truth": True})
        # time, clock, round trip, hold time, and both as they were; the first and
        # the last are outside the window
        truth = {1: [(10000, 2, 9000, 0, 1, 0), (20000, 3, 2100, 600, 2000, 500),
                     (40000, 3, 9000, 0, 1, 0)],
                 2: [(39999, 2, 2000, 100, 2300, 500)]}
        self.assertEqual(self.numbers(truth=truth)["rtt_error_ns"], {
            "samples": 2, "hardware": 1, "p50": 100, "p99": 300, "max": 300, "network_max": 100,
            "taken_p50": 1500, "taken_p99": 1900, "true_p50": 1500, "true_p99": 1800})
        nothing = self.numbers(truth={})["rtt_error_ns"]
        self.assertEqual((nothing["samples"], nothing["max"], nothing["network_max"]),
                         (0, None, None))

    def test_completions_are_of_flows_within(self):
        for start_ns, end_ns, within, unfinished in (
                (20000, 40000, True, 0), (19999, 30000, False, None), (20000, 40001, False, 1),
                (20001, -1, False, 1), (40000, -1, False, None)):
            self.flows = [helpers.flow_result(self.wanted.flows[0], start_ns, end_ns),
                          helpers.flow_result(self.wanted.flows[1], 0, 1)]
            times = [end_ns - start_ns] if within else []
            self.assertEqual(self.numbers()["fct_ns"],
                             {"flows": len(times), "unfinished_share": unfinished,
                              "p50": times[0] if times else None,
                              "p99": times[0] if times else None,
                              "max": max(times, default=None)})

    def test_rate_variation(self):
        # 10000 ns at 100 and 10000 at 300: mean 200, standard deviation 100;
        # flow 2 does not change
        self.cwnd = {1: [(5000, 1, 100, 1), (30000, 1, 300, 1), (40000, 1, 9000, 1)],
                     2: [(5000, 1, 700, 1)]}
        self.assertEqual(self.numbers()["rate_variation"], 0.25)
        self.cwnd[1][0] = (5000, 1, 2**64 - 1, 1)
        self.assertEqual(self.numbers()["rate_variation"], 0.0)
        self.assertIsNone(self.numbers(cwnd={})["rate_variation"])

    def test_flows_that_get_nothing_do_not_count_as_steady(self):
        # flow 1 has a window of 100 and then of 300 bytes, flow 2 one that stays
        self.cwnd = {1: [(5000, 100, 1, 1), (30000, 300, 1, 1)], 2: [(5000, 700, 1, 1)]}
        numbers = self.numbers()
        self.assertEqual((numbers["flows_stalled"], numbers["window_variation"]), (0, 0.25))
        self.assertEqual(numbers["window_bytes"], 450)
        self.delivered[2] = [(10000, 500)]
        numbers = self.numbers()
        self.assertEqual((numbers["flows_stalled"], numbers["window_variation"]), (1, 0.5))
        self.assertEqual(numbers["jain"], 0.5)

    def test_round_trips(self):
        self.assertEqual(self.numbers()["rtt_ns"],
                         {"samples": 3, "mean": 4000.0, "p50": 4000, "p99": 6000})
        self.assertEqual(self.numbers(cwnd={})["rtt_ns"],
                         {"samples": 0, "mean": None, "p50": None, "p99": None})

    def test_queue_in_the_window_alone(self):
        # 5 us of 1000, 14.8 us of 3000, 0.2 us of 9000
        self.assertEqual(self.numbers()["queue"], {"mean_bytes": 2560.0, "p99_bytes": 3000,
                                                   "max_bytes": 9000, "port": "s1:p3"})

    def test_summary_has_them_and_jain_over_time_counts_unfinished_flows(self):
        whole = summary.summarise(self.wanted, self.result())
        self.assertEqual(whole["measured"]["steady"]["jain"], 0.8)
        self.assertEqual((whole["flows_finished"], whole["last_completion_ns"],
                          whole["last_completion_over_ideal"]), (0, None, None))
        self.assertEqual([entry[0] for entry in whole["jain"]["over_time"]],
                         [0, 10000, 20000, 30000, 40000])


class Unfinished(unittest.TestCase):
    def setUp(self):
        self.wanted = build()
        counters = {"data_backlog_max_bytes": 0, "control_backlog_max_bytes": 0}
        self.ports = {f"s1:p{number}": dict(counters) for number in (1, 2, 3)}

    def problems(self, wanted=None, virtual_ns=50000, delivered=((40000, 8000),), **changes):
        wanted = wanted or self.wanted
        values = {"sent_bytes": 9000, "delivered_bytes": 8000}
        values.update(changes)
        flows = [helpers.flow_result(flow, 0, -1, **values) for flow in wanted.flows]
        result = helpers.run_result(wanted, flows, ports=self.ports, virtual_ns=virtual_ns,
                                    delivered={1: list(delivered)})
        return results.physics(wanted, result)

    def test_allowed(self):
        self.assertEqual(self.problems(), [])

    def test_only_where_the_scenario_says_so(self):
        self.assertIn("flow 1 (h1 to h3): not finished by 50us, the end of the run; 8000 of "
                      "1000000 bytes delivered until 50ms later",
                      self.problems(build(check=None))[0])

    def test_more_delivered_than_sent(self):
        self.assertIn("flow 1 (h1 to h3): 1000000 bytes asked for, 7999 sent, 8000 delivered",
                      self.problems(sent_bytes=7999)[0])

    def test_more_sent_than_asked_for(self):
        self.assertIn("1000001 sent", self.problems(sent_bytes=1000001)[0])

    def test_falling_count(self):
        problems = self.problems(delivered=((30000, 9000), (40000, 8000)))
        self.assertEqual(problems, ["flow 1 (h1 to h3): the count of bytes delivered fell"])
        self.assertIn("fell", self.problems(delivered=((30000, 8001),))[0])

    def test_faster_than_light(self):
        self.assertEqual(self.wanted.ideal_ns(helpers.build(flow=[
            {"src": "h1", "dst": "h3", "bytes": 8000}]).flows[0]), 2806)
        self.assertEqual(self.problems(delivered=((2806, 8000),)), [])
        self.assertEqual(self.problems(delivered=((2805, 8000),)),
                         ["flow 1 (h1 to h3): 8000 bytes in 2805 ns is below the physical limit "
                          "of 2806 ns"])

    def test_window_beyond_the_end(self):
        self.assertEqual(self.problems(virtual_ns=39000),
                         ["the run ended at 39us, before the end of the window 'steady' at 40us"])


class LastCompletion(unittest.TestCase):
    def test_incast_against_the_receivers_cable(self):
        wanted = helpers.build(flow=[{"src": f"h{number}", "dst": "h3", "bytes": 14480}
                                     for number in (1, 2)])
        # first packet at the switch after 1000 + 123.04 ns, twenty packets of
        # 123.04 ns on the last cable, 1000 ns to the host: 4583.84 ns
        flows = [helpers.flow_result(flow, 0, end)
                 for flow, end in zip(wanted.flows, (5000, 9166))]
        whole = summary.summarise(wanted, helpers.run_result(wanted, flows))
        self.assertEqual(whole["last_completion_ns"], 9166)
        self.assertEqual(whole["last_completion_over_ideal"], round(9166 / 4583, 4))
        self.assertEqual(whole["fct_of_flow_ns"], {1: 5000, 2: 9166})

    def test_one_flow_is_its_own_limit(self):
        wanted = helpers.build(flow=[{"src": "h1", "dst": "h3", "bytes": 100000}])
        ideal_ns = wanted.ideal_ns(wanted.flows[0])
        whole = summary.summarise(wanted, helpers.run_result(
            wanted, [helpers.flow_result(wanted.flows[0], 0, ideal_ns)]))
        self.assertEqual(whole["last_completion_over_ideal"], 1.0)

    def test_a_late_start_does_not_count_against_the_receiver_before(self):
        wanted = helpers.build(flow=[{"src": "h1", "dst": "h3", "bytes": 1448},
                                     {"src": "h2", "dst": "h3", "bytes": 1448, "start": "1ms"}])
        ends = [flow.start_ns + wanted.ideal_ns(flow) for flow in wanted.flows]
        flows = [helpers.flow_result(flow, flow.start_ns, end)
                 for flow, end in zip(wanted.flows, ends)]
        whole = summary.summarise(wanted, helpers.run_result(wanted, flows))
        self.assertEqual(whole["last_completion_over_ideal"], 1.0)
