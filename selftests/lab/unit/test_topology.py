# SPDX-License-Identifier: GPL-2.0
"""Graphs: ports, addresses, shortest paths."""

import unittest

from quell_lab import topology
from quell_lab.errors import InputError
from quell_lab.topology import Cable, Graph


def fat_square():
    """Two leaves, two spines, a host at each leaf: two equal paths."""
    pairs = (("h1", "l1"), ("h2", "l2"), ("l1", "t1"), ("l1", "t2"), ("l2", "t1"), ("l2", "t2"))
    return Graph(["h1", "h2"], ["l1", "l2", "t1", "t2"],
                 [Cable(a, b, 10**10, 1000, 1500) for a, b in pairs])


class Star(unittest.TestCase):
    def setUp(self):
        self.graph = topology.star(17, 10**11, 1000, 1500)

    def test_port_of_switch_is_numbered_as_its_host(self):
        for number, port in enumerate(self.graph.ports["s1"], start=1):
            self.assertEqual((port.dev, port.peer, port.peer_dev),
                             (f"p{number}", f"h{number}", "eth0"))

    def test_path_crosses_the_switch(self):
        self.assertEqual([port.label for port in self.graph.path("h3", "h17")],
                         ["h3:eth0", "s1:p17"])

    def test_addresses(self):
        self.assertEqual(self.graph.address("h1"), "10.0.0.1")
        self.assertEqual(self.graph.address("h17"), "10.0.0.17")
        self.assertEqual(self.graph.address("s1"), "10.255.0.1")

    def test_addresses_differ_in_a_large_network(self):
        graph = topology.star(600, 10**11, 1000, 1500)
        self.assertEqual(graph.address("h256"), "10.0.1.0")
        self.assertEqual(len({graph.address(node) for node in graph.nodes}), 601)


class Dumbbell(unittest.TestCase):
    def setUp(self):
        self.graph = topology.dumbbell(2, 3, 10**11, 1000, 1500, 10**10, 7000)

    def test_path_takes_the_trunk(self):
        path = self.graph.path("h1", "h5")
        self.assertEqual([port.label for port in path], ["h1:eth0", "s1:p3", "s2:p3"])
        self.assertEqual([port.cable.rate_bits_ps for port in path], [10**11, 10**10, 10**11])
        self.assertEqual([port.cable.delay_ns for port in path], [1000, 7000, 1000])

    def test_neighbours_stay_off_the_trunk(self):
        self.assertEqual([port.label for port in self.graph.path("h1", "h2")],
                         ["h1:eth0", "s1:p2"])


class Routing(unittest.TestCase):
    def test_equal_next_hops_are_all_kept_in_cable_order(self):
        graph = fat_square()
        self.assertEqual([port.peer for port in graph.next_hops("l1", "h2")], ["t1", "t2"])
        self.assertEqual([port.peer for port in graph.next_hops("l1", "h1")], ["h1"])
        self.assertEqual([port.node for port in graph.path("h1", "h2")], ["h1", "l1", "t1", "l2"])

    def test_stages_have_the_ports_of_all_shortest_paths(self):
        graph = fat_square()
        self.assertEqual([[port.node for port in ports] for ports in graph.stages("h1", "h2")],
                         [["h1"], ["l1", "l1"], ["t1", "t2"], ["l2"]])
        self.assertEqual([[port.peer for port in ports] for ports in graph.stages("h1", "h2")],
                         [["l1"], ["t1", "t2"], ["l2", "l2"], ["h2"]])

    def test_addresses_of_both_families(self):
        graph = fat_square()
        self.assertEqual([graph.address(node) for node in ("h2", "l1")],
                         ["10.0.0.2", "10.255.0.1"])
        self.assertEqual([graph.address(node, 6) for node in ("h2", "l1")],
                         ["fd00::2", "fd00::ff:1"])

    def test_shorter_wins(self):
        pairs = (("h1", "a"), ("a", "b"), ("b", "c"), ("a", "c"), ("c", "h2"))
        graph = Graph(["h1", "h2"], ["a", "b", "c"],
                      [Cable(x, y, 10**9, 0, 1500) for x, y in pairs])
        self.assertEqual([port.node for port in graph.path("h1", "h2")], ["h1", "a", "c"])

    def test_no_path_is_an_error(self):
        graph = Graph(["h1", "h2"], ["a", "b"],
                      [Cable("h1", "a", 10**9, 0, 1500), Cable("h2", "b", 10**9, 0, 1500)])
        with self.assertRaisesRegex(InputError, "no path from h1 to h2"):
            graph.path("h1", "h2")

    def test_every_pair_of_a_star_arrives(self):
        graph = topology.star(5, 10**9, 0, 1500)
        for src in graph.hosts:
            for dst in graph.hosts:
                if src != dst:
                    self.assertEqual(graph.path(src, dst)[-1].peer, dst)


class Mistakes(unittest.TestCase):
    def test_graph_refuses(self):
        cable = Cable("h1", "s1", 10**9, 0, 1500)
        for hosts, switches, cables, words in (
                (["h1", "h1"], ["s1"], [cable], "named twice"),
                (["h1"], ["s1"], [], "has 0 cables"),
                (["h1"], ["s1"], [cable, cable], "has 2 cables"),
                (["h1"], ["s1", "s2"], [cable], "'s2' has no cable"),
                (["h1"], ["s1"], [cable, Cable("s1", "s9", 1, 0, 1500)], "no node 's9'"),
                (["h1"], ["s1"], [cable, Cable("s1", "s1", 1, 0, 1500)], "to itself")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                Graph(hosts, switches, cables)
