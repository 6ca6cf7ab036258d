# SPDX-License-Identifier: GPL-2.0
"""Two senders, of which one joins and leaves, on data done by hand."""

import glob
import os
import unittest

from quell_lab import convergence, measure, paper, reproduce, runner
from quell_lab.errors import InputError

import helpers

STAY = {"src": "h1", "dst": "h3", "bytes": 10**9}
JOINS = {"src": "h2", "dst": "h3", "bytes": 10**9, "start": "100us", "stop": "200us",
         "repeat": 2, "every": "200us"}
WANTED = {"joins": "h2", "rtt": "10us"}
# 100 Gbit/s, packets of 1538 with 1448 bytes of payload
LINE = 12.5e9 * 1448 / 1538
HALF = int(LINE / 2)


def build(**changes):
    """One flow that stays, and two joins, from 100 to 200 us and from 300 to 400 us."""
    values = {"flow": [STAY], "flows": [JOINS], "until": "500us", "convergence": WANTED,
              "check": {"allow-unfinished": True}, "algorithm": [{"name": "swift"}]}
    values.update(changes)
    return helpers.build(**values)


class Keys(unittest.TestCase):
    def test_refused(self):
        for changes, words in (
                ({"convergence": {"joins": "h2"}}, "convergence.rtt: missing"),
                ({"convergence": dict(WANTED, rtt="15us")}, "rtt: '15us' is not a multiple of "
                 "10us"),
                ({"convergence": dict(WANTED, joins="h9")}, "no flow has src 'h9': one of h1, h2"),
                ({"convergence": [WANTED]}, r"a list is not a table: write \[convergence\], once"),
                ({"lookahead": {"receiver": "h3", "members": ["h1"]}},
                 r"lookahead: a table is not a list: write \[\[lookahead\]\], once per entry"),
                ({"queue": {"host-ecn": True}}, "host-ecn: 'true' is not a text or a number"),
                ({"flow": []}, "'h2' is src of all flows: none stays"),
                ({"convergence": dict(WANTED, over=0)}, "convergence.over: '0' is out of range"),
                ({"flow": [dict(STAY, bytes=10**6)]}, "flow 1 can be through before the last join"),
                ({"convergence": dict(WANTED, over=11)}, "a join is shorter than the 110us that"),
                ({"flow": [dict(STAY, dst="h2")]}, "joins: the flows share no link that is the"),
                ({"flows": [dict(JOINS, stop="301us")]}, "flow 2 must have a stop before the next"),
                ({"flows": [dict(JOINS, stop=None, repeat=1, every=None)]},
                 "flow 2 must have a stop"),
                ({"flow": [dict(STAY, start="100us")]}, "flow 1 must be there before and stay"),
                ({"flow": [dict(STAY, stop="400us")]}, "flow 1 must be there before and stay"),
                ({"convergence": None, "paper": [{"figure": "x", "quantity": "rates_p50"}]},
                 r"paper\[0\].quantity: rates_p50 needs a \[convergence\] table")):
            changes = {key: ([{k: v for k, v in one.items() if v is not None} for one in value]
                             if key == "flows" else value) for key, value in changes.items()}
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                build(**changes)


class Times(unittest.TestCase):
    def setUp(self):
        self.wanted = build()

    def times(self, stays, joins, delivered=None):
        """Of rates, rows (time in us, part of half the line); the second join has no rows."""
        cwnd = {number: [(us * 1000, 1, int(part * HALF), 1, 0) for us, part in rows]
                for number, rows in ((1, stays), (2, joins))}
        flows = [helpers.flow_result(flow, flow.start_ns, -1) for flow in self.wanted.flows]
        result = helpers.run_result(self.wanted, flows, cwnd=cwnd, virtual_ns=500000,
                                    delivered=delivered or {})
        return convergence.times(self.wanted, result)

    def test_rates_hold_from_the_later_sender_on(self):
        found = self.times([(0, 2), (111, 1), (220, 2)], [(100, 2), (107, 1.04)])
        self.assertEqual(found["rates"], [11000, None])
        self.assertEqual(found["shares"], [11000, None])
        self.assertEqual(found["leave"], [20000, 0])

    def test_what_does_not_last_does_not_count(self):
        stays = [(0, 2), (111, 1), (150, 1.06), (160, 1)]
        self.assertEqual(self.times(stays, [(100, 1)])["rates"], [60000, None])
        stays[-1] = (181, 1)
        self.assertEqual(self.times(stays, [(100, 1)])["rates"], [None, None])

    def test_both_too_slow_are_alike_but_not_half_the_line(self):
        found = self.times([(0, 0.5)], [(100, 0.5)])
        self.assertEqual((found["rates"], found["shares"]), ([None] * 2, [0, None]))
        self.assertEqual(found["leave"], [None, None])

    def test_both_at_line_rate_are_not_alike(self):
        self.assertEqual(self.times([(0, 2)], [(100, 2)])["shares"], [None, None])

    def test_arrivals(self):
        # 100 packets in 10 us: 52 and 48 are within 5 %, 55 and 45 are not
        stays = [(90, 0), (100, 100)] + [(100 + 10 * n, 100 + 55 * min(n, 2) + 52 * max(n - 2, 0))
                                         for n in range(1, 11)]
        joins = [(100 + 10 * n, 45 * min(n, 2) + 48 * max(n - 2, 0)) for n in range(1, 11)]
        delivered = {number: [(us * 1000, packets * 1448) for us, packets in rows]
                     for number, rows in ((1, stays), (2, joins))}
        self.assertEqual(self.times([], [], delivered)["arrivals"], [20000, None])

    def halves(self, packets, algorithm="swift", payload=1448):
        """When so many packets of each flow, in each 10 us of a join, are halves of the line."""
        self.wanted = build(algorithm=[{"name": algorithm}], queue={"rcp": "10us"}
                            if algorithm == "rcp" else None)
        delivered = {number: [(t * 1000, int((t - 100) // 10 * packets * payload))
                              for t in range(110, 201, 10)] for number in (1, 2)}
        return self.times([], [], delivered)["halves"]

    def test_halves_are_of_the_line_and_not_of_the_sum(self):
        # 125 kB in a round trip: 40.6 packets each, 5 % are 2, and one more
        self.assertEqual(self.halves(38), [0, None])
        self.assertEqual(self.halves(37), [None, None])
        self.assertEqual(self.halves(43), [0, None])
        self.assertEqual(self.halves(44), [None, None])

    def test_the_line_of_rcp_is_that_of_its_packets(self):
        self.assertEqual(self.halves(43, "rcp", 1424), [0, None])
        self.assertEqual(self.halves(43, "rcp"), [None, None])

    def test_reached_is_the_first_time_whether_it_lasts_or_not(self):
        # In 10 us 40.6 packets are half: so many, none, so many.
        delivered = {number: [(us * 1000, packets * 1448) for us, packets in
                              ((110, 0), (120, 40), (130, 40), (140, 80))] for number in (1, 2)}
        found = self.times([], [], delivered)
        self.assertEqual((found["reached"], found["halves"]), ([20000, None], [None, None]))

    def test_shares_of_three_counted_over_some_round_trips(self):
        self.wanted = build(flow=[STAY, dict(STAY, src="h4")], convergence=WANTED | {"over": 2},
                            topology={"kind": "star", "hosts": 4, "rate": "100gbit",
                                      "delay": "1us"})
        # 27.1 packets each in 10 us, 54.2 in 20; 5 % and a packet are 3.7
        for packets, fair in ((26, True), (25, False), (28, True), (29, False)):
            delivered = {number: [(t * 1000, (t - 100) // 10 * packets * 1448)
                                  for t in range(110, 201, 10)] for number in (1, 2, 3)}
            self.assertEqual(self.times([], [], delivered)["halves"],
                             [0 if fair else None, None], packets)

    def test_the_line_over_ipv6_has_longer_headers(self):
        for family, payload in ((4, 1448), (6, 1428)):
            self.wanted = build(family=family)
            flows = [helpers.flow_result(flow, flow.start_ns, -1) for flow in self.wanted.flows]
            result = helpers.run_result(self.wanted, flows, virtual_ns=500000)
            self.assertEqual(convergence.numbers(self.wanted, result)["line_bits_ps"],
                             10**11 * payload // 1538)

    def test_every_quantity_is_in_the_summary(self):
        tables = [{"figure": "x", "quantity": name} for name in paper.OF_JOINS]
        self.wanted = build(paper=tables)
        flows = [helpers.flow_result(flow, flow.start_ns, -1) for flow in self.wanted.flows]
        result = helpers.run_result(self.wanted, flows, virtual_ns=500000)
        numbers = {"convergence": convergence.numbers(self.wanted, result)}
        texts = {row["quantity"]: row["ours_text"]
                 for row in paper.compare(self.wanted, {"swift": numbers})}
        self.assertEqual((len(texts), texts["rates_p50"], texts["leave_never"]),
                         (len(tables), "never", "1"))

    def test_ratio_in_the_last_fifth(self):
        delivered = {1: [(100000, 9), (180000, 1000), (190000, 4000)], 2: [(190000, 2000)]}
        flows = [helpers.flow_result(flow, flow.start_ns, -1) for flow in self.wanted.flows]
        result = helpers.run_result(self.wanted, flows, delivered=delivered)
        self.assertEqual(convergence.last_ratios(self.wanted, result), [0.6667, 1.0])

    def test_a_packet_is_no_difference(self):
        delivered = {1: [(t * 1000, (t - 100) // 10 * 3 * 1448) for t in range(110, 201, 10)],
                     2: [(t * 1000, (t - 100) // 10 * 5 * 1448) for t in range(110, 201, 10)]}
        self.assertEqual(self.times([], [], delivered)["arrivals"], [0, None])


class Rates(unittest.TestCase):
    def rates(self, algorithm, rows):
        wanted = build(algorithm=[{"name": algorithm}])
        return convergence.sender_rates(helpers.run_result(wanted, [], cwnd={1: rows}), 1)

    def test_pacing_rate_or_window(self):
        unpaced = measure.UNPACED_BYTES_PS
        rows = [(0, 1000, 7, 0, 0), (1, 1000, 7, 2000, 0), (2, 1000, unpaced, 2000, 0)]
        self.assertEqual(self.rates("swift", rows), [(0, 7), (1, 7), (2, 500000000)])
        self.assertEqual(self.rates("dctcp", rows), [(1, 500000000), (2, 500000000)])
        self.assertEqual(self.rates("bbr", rows[:2]), [(0, 7), (1, 7)])


class Long(unittest.TestCase):
    def test_scenarios_that_no_suite_runs_are_right(self):
        directory = os.path.join(runner.HERE, "scenarios", "long")
        chosen, _ = reproduce.choose(directory, "")
        self.assertEqual(len(chosen), len(glob.glob(os.path.join(directory, "*"))))
        for path, one in chosen:
            with self.subTest(path):
                # Dart's have flows that others join, or that have the line before and after,
                # TIMELY's an incast that lasts.
                self.assertEqual(one.allow_unfinished, "dart" in path or "timely" in path)
                self.assertEqual(one.convergence is not None, "converge" in path)


class Distribution(unittest.TestCase):
    def test_percentiles_count_who_never_got_there(self):
        numbers = convergence._distribution([None, 3000, 1000, 2000], 1000)
        self.assertEqual((numbers["p50_ns"], numbers["p50_rtts"]), (2000, 2.0))
        self.assertEqual((numbers["p90_ns"], numbers["max_ns"], numbers["max_rtts"]),
                         (None, None, None))
        self.assertEqual((numbers["never"], numbers["never_share"]), (1, 0.25))
