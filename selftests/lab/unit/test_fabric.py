# SPDX-License-Identifier: GPL-2.0
"""Fat trees, Clos networks, and cables that fail or are slow."""

import unittest

from quell_lab.errors import InputError

import helpers

PAPER = {"kind": "fat-tree", "pods": 5, "tors": 4, "aggs": 4, "spines": 16, "hosts": 16,
         "rate": "100gbit", "delay": "1us"}
SMALL = {"kind": "fat-tree", "pods": 2, "tors": 2, "aggs": 2, "spines": 4, "hosts": 2,
         "rate": "10gbit", "delay": "1us"}
DART = {"kind": "clos", "hosts": 1024, "oversubscription": 4, "rate": "10gbit", "delay": "5us"}


def network(base, src="h1", dst="h3", **changes):
    """The scenario of a network with some keys changed and one flow."""
    topology = {key: value for key, value in {**base, **changes}.items() if value is not None}
    return helpers.build(topology=topology, multipath=True,
                         flow=[{"src": src, "dst": dst, "bytes": 1000}])


def rates(graph, first, second):
    """Rates of the cables between nodes of two kinds, each once."""
    return {cable.rate_bits_ps for cable in graph.cables
            if cable.a[0] == first and cable.b[0] == second}


def degree(graph, node):
    return sum(node in (cable.a, cable.b) for cable in graph.cables)


class FatTree(unittest.TestCase):
    def test_network_of_the_vai_sf_papers_figure_7(self):
        graph = network(PAPER, dst="h320").graph
        self.assertEqual((len(graph.hosts), len(graph.switches)), (320, 20 + 20 + 16))
        self.assertEqual((rates(graph, "h", "t"), rates(graph, "t", "a"), rates(graph, "a", "s")),
                         ({10**11}, {4 * 10**11}, {4 * 10**11}))
        self.assertEqual({degree(graph, f"t{i}") for i in range(1, 21)}, {16 + 4})
        self.assertEqual({degree(graph, f"a{i}") for i in range(1, 21)}, {4 + 4})
        self.assertEqual({degree(graph, f"s{i}") for i in range(1, 17)}, {5})

    def test_longest_way_has_five_switches_and_a_way_by_each_spine(self):
        graph = network(PAPER, dst="h320").graph
        self.assertEqual([len(ports) for ports in graph.stages("h1", "h320")],
                         [1, 4, 16, 16, 4, 1])
        self.assertEqual([len(ports) for ports in graph.stages("h1", "h64")], [1, 4, 4, 1])
        self.assertEqual([len(ports) for ports in graph.stages("h1", "h16")], [1, 1])

    def test_stages_of_other_hosts_at_the_same_switches_end_at_those(self):
        graph = network(PAPER, dst="h320").graph
        first, second = graph.stages("h1", "h320"), graph.stages("h2", "h319")
        self.assertEqual(first[1:-1], second[1:-1])
        self.assertEqual([second[0][0].node, second[-1][0].peer], ["h2", "h319"])

    def test_oversubscription_by_tier(self):
        graph = network(SMALL, **{"agg-oversubscription": 2, "spine-oversubscription": "2.5"}).graph
        # Two hosts of 10 Gbit/s over two cables, halved; two ToR switches over two spines.
        self.assertEqual((rates(graph, "t", "a"), rates(graph, "a", "s")),
                         ({5 * 10**9}, {2 * 10**9}))

    def test_delays_by_tier(self):
        flow = network(SMALL, dst="h8", **{"agg-delay": "2us", "spine-delay": "7us"})
        self.assertEqual([link.delay_ns for link in flow.links(flow.flows[0])],
                         [1000, 2000, 7000, 7000, 2000, 1000])

    def test_every_pair_has_a_way_and_hosts_are_pod_by_pod(self):
        graph = network(SMALL).graph
        for src in graph.hosts:
            for dst in graph.hosts:
                if src != dst:
                    graph.path(src, dst)
        self.assertEqual([port.peer for port in graph.path("h3", "h4")], ["t2", "h4"])

    def test_mistakes(self):
        for changes, words in (({"spines": 3}, r"topology.spines: '3' is no multiple of the 2"),
                               ({"pods": 100, "hosts": 100}, "20000 hosts in all is out of range"),
                               ({"agg-rate": "1gbit", "agg-oversubscription": 2},
                                "give it or agg-rate, not both"),
                               ({"agg-oversubscription": 0}, "'0' is out of range: 0.001 to 1000"),
                               ({"spine-oversubscription": "much"}, "not a number such as 4"),
                               ({"agg-oversubscription": 1000, "rate": "1mbit"}, "out of range"),
                               ({"tors": None}, "topology.tors: missing")):
            with self.subTest(changes), self.assertRaisesRegex(InputError, words):
                network(SMALL, **changes)


class Clos(unittest.TestCase):
    def test_network_of_dart(self):
        graph = network(DART, dst="h1024").graph
        self.assertEqual(len(graph.hosts), 1024)
        self.assertEqual({cable.rate_bits_ps for cable in graph.cables}, {10**10})
        # 16 hosts below a ToR switch and 4 cables up: 4:1.  Above it as many up as down.
        self.assertEqual({degree(graph, f"t{i}") for i in range(1, 65)}, {16 + 4})
        self.assertEqual({degree(graph, f"a{i}") for i in range(1, 33)}, {8 + 8})
        # The longest way: 6 cables, 30 us.
        path = graph.path("h1", "h1024")
        self.assertEqual((len(path), sum(port.cable.delay_ns for port in path)), (6, 30000))

    def test_smaller_ones(self):
        graph = network(DART, hosts=16, **{"tor-hosts": 4, "pod-tors": 2}).graph
        self.assertEqual((len(graph.hosts), len(graph.switches)), (16, 4 + 2 + 2))

    def test_mistakes(self):
        for changes, words in (({"oversubscription": 3}, "'3' does not divide the 16 hosts"),
                               ({"hosts": 1000}, "'1000' is no multiple of the 128 hosts"),
                               ({"hosts": 8192}, "2 to 4096")):
            with self.subTest(changes), self.assertRaisesRegex(InputError, words):
                network(DART, **changes)


class Damage(unittest.TestCase):
    def test_traffic_goes_round_a_cable_that_failed(self):
        graph = network(SMALL, dst="h8", failed=[{"a": "t4", "b": "a3"}]).graph
        self.assertEqual([len(ports) for ports in graph.stages("h1", "h8")], [1, 1, 2, 2, 1, 1])
        self.assertEqual({port.peer for port in graph.next_hops("t1", "h8")}, {"a2"})
        self.assertEqual({port.peer for port in graph.next_hops("t1", "h5")}, {"a1", "a2"})

    def test_slow_cables(self):
        wanted = network(SMALL, dst="h8", slow=[{"a": "t1", "b": "a[1-2]", "rate": "4gbit",
                                                 "delay": "3us"}])
        link = wanted.links(wanted.flows[0])[1]
        # Two ways of 4 Gbit/s are slower than the host's cable: no flow beats them together.
        self.assertEqual((link.rate_bits_ps, link.delay_ns), (8 * 10**9, 3000))

    def test_leaf_spine_has_it_too(self):
        base = {"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 2, "rate": "10gbit",
                "delay": "1us"}
        graph = network(base, failed=[{"a": "l1", "b": "s1"}]).graph
        self.assertEqual([port.peer for port in graph.next_hops("l1", "h3")], ["s2"])

    def test_leaf_spine_with_faster_spines(self):
        base = {"kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 2, "rate": "10gbit",
                "delay": "1us", "spine-rate": "40gbit", "spine-delay": "3us"}
        path = network(base).graph.path("h1", "h3")
        self.assertEqual([(port.cable.rate_bits_ps // 10**9, port.cable.delay_ns)
                          for port in path],
                         [(10, 1000), (40, 3000), (40, 3000), (10, 1000)])

    def test_mistakes(self):
        for changes, words in (
                ({"failed": [{"a": "t1", "b": "a3"}]},
                 r"topology.failed\[0\]: no cable a3 to t1: a3 has those to s1, s2, t3, t4$"),
                ({"failed": [{"a": "t1", "b": "a[1-2]"}]}, "no path from h1 to h3"),
                ({"failed": [{"a": "h1", "b": "t1"}]}, "host 'h1' has 0 cables"),
                ({"slow": [{"a": "t1", "b": "a1"}]}, "neither rate nor delay"),
                ({"slow": [{"a": "t1", "b": "x1", "rate": "1gbit"}]}, "no cable t1 to x1"),
                ({"slow": ["t1"]}, r"'t1' is not a table: write \[\[topology.slow\]\], once per "
                 "entry$")):
            with self.subTest(changes), self.assertRaisesRegex(InputError, words):
                network(SMALL, **changes)
