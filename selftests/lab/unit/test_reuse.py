# SPDX-License-Identifier: GPL-2.0
"""Connections that carry message after message, and answers: who takes which, what is measured."""

import unittest

from quell_lab import distributions, measure, plan, slowdown, summary
from quell_lab.errors import InputError

import helpers

STAR = {"kind": "star", "hosts": 8, "rate": "100gbit", "delay": "1us"}


def flow(src, dst, **keys):
    """A [[flow]] table."""
    return {"src": src, "dst": dst, "bytes": 3000, **keys}


def load(scenario=None, **keys):
    """A scenario of a star of eight with one [[workload]]; scenario: more of its keys."""
    base = {"bytes": "10kb", "load": 0.5, "length": "1ms"}
    return helpers.build(topology=STAR, flow=None, workload=[
        {key: value for key, value in {**base, **keys}.items() if value is not None}],
                         **scenario or {})


class Single(unittest.TestCase):
    def test_the_plan_names_the_other(self):
        wanted = helpers.build(flow=[flow("h1", "h3", cold=True),
                                     flow("h1", "h3", on=1, start="5us", cold=True)])
        text = plan.write(wanted, wanted.variants[0])
        self.assertIn("\nflow 1 h1 h3 10.0.0.3 5001 3000 0 cold\n", text)
        self.assertIn("\nflow 2 h1 h3 10.0.0.3 5001 3000 5000 warm on=1\n", text)
        self.assertFalse(wanted.flows[1].cold, "no handshake is part of its time")

    def test_mistakes(self):
        for tables, words in (
                ([flow("h1", "h3", on=1)], r"flow\[0\].on: the first flow has no other's"),
                ([flow("h1", "h3"), flow("h1", "h3", on=3), flow("h1", "h3")],
                 r"flow\[1\].on: '3' is out of range: the number of an earlier flow, 1 to 1"),
                ([flow("h1", "h3"), flow("h1", "h3", on=1), flow("h1", "h3", on=2)],
                 r"flow 2 takes the connection of flow 1: name that one"),
                ([flow("h1", "h3"), flow("h2", "h3", on=1)], "src is h2, and h1 of flow 1"),
                ([flow("h1", "h3"), flow("h1", "h2", on=1)], "dst is h2, and h3 of flow 1"),
                ([flow("h1", "h3", dscp=1), flow("h1", "h3", on=1)], "dscp is 0, and 1 of flow 1"),
                ([flow("h1", "h3", stop="1ms"), flow("h1", "h3", on=1)], "not with stop"),
                ([flow("h1", "h3", start="2us"), flow("h1", "h3", on=1)],
                 "starts before flow 1, whose connection it takes"),
                ([flow("h1", "h3", after=2), flow("h3", "h1"), flow("h1", "h3", on=1)],
                 "flow 1 waits for flow 2, and may start later"),
                ([flow("h1", "h3"), flow("h1", "h3", on=1), flow("h1", "h2", after=2)],
                 "flow 2 shares a connection: only its receiver, h3, sees its end"),
                ([flow("h1", "h3"), flow("h1", "h3", on=1), flow("h1", "h2", after=1)],
                 "flow 1 shares a connection")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                helpers.build(flow=tables, until="1s", check={"allow-unfinished": True})

    def test_its_receiver_sees_the_end(self):
        wanted = helpers.build(flow=[flow("h1", "h3"), flow("h1", "h3", on=1),
                                     flow("h3", "h2", after=2)])
        self.assertEqual([one.after for one in wanted.flows], [None, None, 2])


class Workload(unittest.TestCase):
    def test_messages_of_two_hosts_take_turns(self):
        found = load(connections=2, length="3ms").flows
        pairs = {}
        for one in found:
            pairs.setdefault((one.src, one.dst), []).append(one)
        self.assertGreater(max(map(len, pairs.values())), 4)
        for own in pairs.values():
            firsts = [one.number for one in own[:2]]
            self.assertEqual([one.on for one in own],
                             [None] * len(firsts) + [firsts[turn % 2]
                                                     for turn in range(2, len(own))])

    def test_the_same_messages_as_without(self):
        told = [[(one.start_ns, one.src, one.dst, one.size_bytes) for one in load(**keys).flows]
                for keys in ({}, {"connections": 1})]
        self.assertEqual(told[0], told[1])

    def test_few_partners(self):
        found = load(partners=2, length="5ms").flows
        partners = {}
        for one in found:
            partners.setdefault(one.src, set()).add(one.dst)
        self.assertEqual({len(dsts) for dsts in partners.values()}, {2})
        self.assertTrue(all(src not in dsts for src, dsts in partners.items()))
        taken = [dst for dsts in partners.values() for dst in dsts]
        self.assertEqual({taken.count(dst) for dst in partners}, {2}, "as many each")

    def test_answers(self):
        found = load(response="1kb").flows
        half = len(found) // 2
        for message, answer in zip(found[:half], found[half:]):
            self.assertEqual((answer.src, answer.dst, answer.size_bytes, answer.start_ns),
                             (message.dst, message.src, 1024, 0))
            self.assertEqual((answer.after, answer.answers), (message.number,) * 2)
        self.assertEqual({one.size_bytes for one in load(response="same").flows}, {10240})

    def test_an_answer_takes_the_connection_that_answers_its_messages(self):
        found = load(response="same", connections=2, length="3ms").flows
        by_number = {one.number: one for one in found}
        carried = {}
        for one in found:
            if one.answers is not None:
                carried.setdefault(one.on or one.number, set()).add(
                    by_number[one.answers].on or one.answers)
        self.assertTrue(all(len(asked) == 1 for asked in carried.values()))
        self.assertLess(len(carried), len(found) // 2)

    def test_a_load_is_of_messages_and_answers(self):
        plain, answered = (sum(one.size_bytes for one in load(length="20ms", **keys).flows)
                           for keys in ({}, {"response": "same"}))
        self.assertAlmostEqual(plain / answered, 1, delta=0.1)

    def test_mistakes(self):
        for keys, words in (
                ({"connections": 0}, "connections: '0' is out of range"),
                ({"partners": 8}, r"partners: '8' is out of range: 1 to 7, the other hosts"),
                ({"pattern": "permutation", "partners": 2}, "partners: only random has it"),
                ({"response": "big"}, "response: .*; or 'same', as large as the message"),
                ({"response": 0}, "response: '0' is out of range"),
                ({"standing": True, "length": None, "connections": 2},
                 "connections: not with standing: no flows arrive"),
                ({"pattern": "all-to-all", "load": None, "length": None, "response": "same"},
                 "response: not with all-to-all: each host sends to each other once")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                load(**keys)


class Shared(unittest.TestCase):
    def result(self):
        """Of two messages on one connection, 100 and 9000 bytes, and a third one alone."""
        wanted = helpers.build(flow=[flow("h1", "h3", bytes=100), flow("h1", "h3", on=1, bytes=9000),
                                     flow("h2", "h3")])
        rows = [helpers.flow_result(wanted.flows[0], 0, 50000),
                helpers.flow_result(wanted.flows[1], 0, 90000),
                helpers.flow_result(wanted.flows[2], 0, 90000)]
        delivered = {1: [(50000, 100)], 2: [(90000, 9000)], 3: [(90000, 3000)]}
        return wanted, helpers.run_result(wanted, rows, delivered=delivered,
                                          cwnd={1: [(1000, 1, 1, 7000), (60000, 1, 1, 8000)]})

    def test_who_shares(self):
        self.assertEqual(self.result()[1].sharing, {1, 2})

    def test_a_message_that_waits_is_not_stalled(self):
        wanted, result = self.result()
        window = measure.Window("steady", 0, 40000, frozenset((1, 2, 3)))
        told = measure.numbers(wanted, result, window)
        self.assertEqual((told["flows_throughout"], told["flow_rate_ratio"]), (1, None))
        self.assertEqual(summary.jain_windows(result, 10000), [])

    def test_round_trips_are_the_connection_s(self):
        _, result = self.result()
        window = measure.Window("steady", 0, 100000, frozenset((2,)))
        self.assertEqual(distributions.round_trips_ns(result, window), [7000, 8000])

    def test_marks_by_size_are_not_known(self):
        _, result = self.result()
        self.assertIsNone(slowdown._measured(result, 0, 1000)["marked_percent"])
        self.assertIsNotNone(slowdown._measured(result, 0, 10**9)["marked_percent"])


class Requests(unittest.TestCase):
    def test_from_the_message_to_the_end_of_its_answer(self):
        wanted = load(response="same")
        half = len(wanted.flows) // 2
        rows = [helpers.flow_result(one, one.start_ns, one.start_ns + 10)
                for one in wanted.flows[:half]]
        rows += [helpers.flow_result(one, row.end_ns, row.end_ns + 1000 + number)
                 for number, (one, row) in enumerate(zip(wanted.flows[half:], rows))]
        rows[-1] = helpers.flow_result(wanted.flows[-1], 0, -1)
        window = measure.Window("steady", 0, 10**9, frozenset(range(1, len(rows) + 1)))
        told = measure.numbers(wanted, helpers.run_result(wanted, rows), window)["request_ns"]
        self.assertEqual(told["requests"], half)
        self.assertIsNone(told["max"], "one is not answered")
        self.assertEqual(told["p50"], 1010 + (half - 1) // 2)
        self.assertEqual(told["unanswered_share"], round(1 / half, 4))

    def test_nothing_without_answers(self):
        wanted = load()
        rows = [helpers.flow_result(one, one.start_ns, one.start_ns + 10) for one in wanted.flows]
        window = measure.Window("steady", 0, 10**9, frozenset(range(1, len(rows) + 1)))
        self.assertNotIn("request_ns",
                         measure.numbers(wanted, helpers.run_result(wanted, rows), window))

    def test_a_quantity_of_them_needs_answers(self):
        rows = [{"figure": "Fig. 1", "quantity": "request_p99", "measure": "steady"}]
        window = {"from": "0", "to": "1ms"}
        load(response="same", scenario={"paper": rows, "measure": window})
        with self.assertRaisesRegex(InputError, "request_p99 needs a .*workload.* with response"):
            load(scenario={"paper": rows, "measure": window})
