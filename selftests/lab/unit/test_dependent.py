# SPDX-License-Identifier: GPL-2.0
"""Flows that wait for others: who may, what a plan says, what is physically possible."""

import unittest
from dataclasses import replace

from quell_lab import limits, plan, results, summary
from quell_lab.errors import InputError
from quell_lab.physics import HEADER_BYTES, one_way_ns

import helpers

CLOS = {"kind": "clos", "hosts": 8, "tor-hosts": 4, "pod-tors": 2, "oversubscription": 4,
        "rate": "10gbit", "delay": "1us"}


def flow(src, dst, **keys):
    """A [[flow]] table."""
    return {"src": src, "dst": dst, "bytes": 3000, **keys}


def all_to_all(**keys):
    """A scenario in which all send to all."""
    return helpers.build(flow=None, multipath=True, topology=CLOS, workload=[
        {"pattern": "all-to-all", "bytes": 10000, **keys}])


class Written(unittest.TestCase):
    def test_the_plan_names_the_other_and_the_delay(self):
        wanted = helpers.build(flow=[flow("h1", "h3"), flow("h3", "h2", after=1, start="5us")])
        self.assertIn("\nflow 2 h3 h2 10.0.0.2 5001 3000 5000 warm after=1\n",
                      plan.write(wanted, wanted.variants[0]))

    def test_mistakes(self):
        for tables, words in (
                ([flow("h1", "h3", after=1)], r"flow\[0\].after: a circle .* each other: 1, 1"),
                ([flow("h1", "h3", after=2), flow("h1", "h2", after=3), flow("h2", "h1", after=1)],
                 r"flow\[0\].after: a circle of flows that wait for each other: 1, 2, 3, 1"),
                ([flow("h1", "h3", after=3), flow("h1", "h2")],
                 r"'3' is out of range: 1 to 2, the number of a flow"),
                ([flow("h1", "h3"), flow("h2", "h3", after=1)],
                 r"flow\[1\].after: h2 does not see the end of flow 1, h1 to h3"),
                ([flow("h1", "h3"), flow("h1", "h3", after=1, stop="1ms")], "not with stop")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                helpers.build(flow=tables, until="1s", check={"allow-unfinished": True})

    def test_a_chain_into_a_circle_that_it_is_no_part_of(self):
        with self.assertRaisesRegex(InputError, "each other: 2, 3, 2"):
            helpers.build(flow=[flow("h1", "h2", after=2), flow("h1", "h2", after=3),
                                flow("h1", "h2", after=2)])


class AllToAll(unittest.TestCase):
    def test_each_to_each_in_the_order_of_a_ring(self):
        found = all_to_all().flows
        self.assertEqual([one.dst for one in found if one.src == "h7"],
                         ["h8", "h1", "h2", "h3", "h4", "h5", "h6"])
        self.assertEqual(len({(one.src, one.dst) for one in found}), 56)
        self.assertTrue(all(one.after is None for one in found))

    def test_so_many_are_active(self):
        found = all_to_all(active=3, start="2us", jitter="1us").flows
        own = [one for one in found if one.src == "h2"]
        self.assertEqual([one.after for one in own],
                         [None] * 3 + [one.number for one in own[:4]])
        self.assertTrue(all(2000 <= one.start_ns <= 3000 for one in own[:3]))
        self.assertEqual([one.start_ns for one in own[3:]], [0] * 4)

    def test_more_active_than_there_are(self):
        self.assertTrue(all(one.after is None for one in all_to_all(active=99).flows))

    def test_mistakes(self):
        for keys, words in (({"load": 0.5}, "load: not with all-to-all"),
                            ({"length": "1ms"}, "length: not with all-to-all"),
                            ({"pattern": "tornado", "active": 2}, "active: only all-to-all has it"),
                            ({"active": 0}, "'0' is out of range")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                all_to_all(**keys)


class Limits(unittest.TestCase):
    def test_a_flow_begins_when_its_host_knows(self):
        wanted = helpers.build(flow=[flow("h1", "h3", start="1us"), flow("h1", "h2", after=1),
                                     flow("h3", "h2", after=1, start="3us")])
        first, ack, back = wanted.flows
        end_ns = 1000 + wanted.ideal_ns(first)
        self.assertEqual(limits.earliest_starts_ns(wanted), {
            1: 1000, 3: end_ns + 3000,
            2: int(end_ns + one_way_ns(wanted.links(first), HEADER_BYTES))})
        self.assertEqual(limits.limit_ns(wanted), end_ns + 3000 + wanted.ideal_ns(back) - 1000)
        self.assertEqual(ack.after, 1)

    def test_what_the_hosts_of_a_switch_send_goes_up_by_one_cable(self):
        wanted = helpers.build(multipath=True, flow=None, topology=CLOS, workload=[
            {"pattern": "tornado", "bytes": 1448 * 100}])
        # Four hosts' hundred packets of 1538 bytes over the one cable up, 10 Gbit/s.
        self.assertEqual(limits.limit_ns(wanted), 4 * 100 * 1538 * 8 // 10)

    def test_completion_over_it(self):
        wanted = helpers.build()
        limit_ns = limits.limit_ns(wanted)
        result = helpers.run_result(wanted, [
            helpers.flow_result(wanted.flows[0], 0, 10),
            helpers.flow_result(wanted.flows[1], 20000, 2 * limit_ns)])
        self.assertEqual(summary.last_completion_over_limit(wanted, result), 2)
        result.flows[0] = helpers.flow_result(wanted.flows[0], 0, -1)
        self.assertIsNone(summary.last_completion_over_limit(wanted, result))


class Physics(unittest.TestCase):
    def problems(self, start_ns, end_ns=9000):
        """What is said of a flow that waits 1 us for one that ends then."""
        wanted = helpers.build(flow=[flow("h1", "h3"), flow("h1", "h2", after=1, start="1us")])
        rows = [helpers.flow_result(wanted.flows[0], 0, end_ns, ideal_ns=10),
                helpers.flow_result(wanted.flows[1], start_ns, start_ns + 9000, ideal_ns=10)]
        result = helpers.run_result(wanted, rows, ports={
            port.label: {"data_backlog_max_bytes": 0, "control_backlog_max_bytes": 0}
            for port in wanted.graph.ports["s1"]})
        return results.physics(wanted, result)

    def test_not_before_the_other_ends(self):
        self.assertEqual(self.problems(10000), [])
        self.assertRegex(self.problems(9999)[0], "started at 9999 ns, before the end of flow 1 at "
                         "9000 ns")
        self.assertTrue(any("before the end" in one for one in self.problems(10000, -1)))


class Variants(unittest.TestCase):
    def test_expedited_flows_and_ports_that_do_not_deflect(self):
        wanted = helpers.build(multipath=True, topology={**CLOS, "oversubscription": 2},
                               flow=[flow("h1", "h8", dscp=4), flow("h2", "h7")],
                               queue={"limit": "200kb", "ecn": "20kb", "deflect": "10kb"},
                               algorithm=[{"name": "dcqcn"}, {"name": "dcqcn", "label": "plain",
                                                              "deflect": False, "expedite": True}])
        first, plain = (plan.write(wanted, one) for one in wanted.variants)
        self.assertIn(" deflect=10240 ", first)
        self.assertNotIn("deflect", plain)
        self.assertIn(" warm dscp=4\n", first)
        self.assertIn(" warm dscp=48\n", plain)
        self.assertEqual(plain.count("dscp="), 1)
        self.assertEqual(replace(wanted.variants[1], deflect=True).expedite, True)
