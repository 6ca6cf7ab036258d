# SPDX-License-Identifier: GPL-2.0
"""Routes by prefix: every host goes where its own route led, by as few routes as can be."""

import random
import unittest

from quell_lab import plan, routes, scenario


def longest_match(table, number):
    """Way of the smallest block that holds a number."""
    return min((bits, way) for base, bits, way in table if base <= number < base + (1 << bits))[1]


def fewest(hosts, bits, base=0, inherited=None):
    """Fewest routes by trying all: for blocks of a few hosts."""
    inside = [(number, way) for number, way in hosts if base <= number < base + (1 << bits)]
    if all(way == inherited for _, way in inside):
        return 0
    best = len(inside) + 1
    for way in {None, *(way for _, way in inside)}:
        cost, now = (0, inherited) if way is None else (1, way)
        if bits:
            half = base + (1 << bits - 1)
            cost += fewest(inside, bits - 1, base, now) + fewest(inside, bits - 1, half, now)
        elif inside[0][1] != now:
            continue
        best = min(best, cost)
    return best


class Cover(unittest.TestCase):
    def test_every_host_goes_its_way_by_the_fewest_routes(self):
        lots = random.Random(7)
        for _ in range(300):
            numbers = sorted(lots.sample(range(16), lots.randint(1, 12)))
            hosts = [(number, lots.choice((("p1",), ("p2",), ("p1", "p2")))) for number in numbers]
            table = routes.cover(hosts)
            self.assertEqual([longest_match(table, number) for number, _ in hosts],
                             [way for _, way in hosts], hosts)
            self.assertEqual(len(table), min(len(hosts), fewest(hosts, 4)), hosts)

    def test_long_runs_of_many_hosts(self):
        lots = random.Random(8)
        hosts = [(number, (f"p{number // lots.choice((1, 16, 100))}",))
                 for number in range(1, 2000) if lots.random() < 0.9]
        table = routes.cover(hosts)
        self.assertEqual([longest_match(table, number) for number, _ in hosts],
                         [way for _, way in hosts])

    def test_nothing_saved_is_a_route_each(self):
        hosts = [(1, ("p1",)), (2, ("p2",)), (3, ("p3",))]
        self.assertEqual(routes.cover(hosts), [(1, 0, ("p1",)), (2, 0, ("p2",)), (3, 0, ("p3",))])

    def test_no_host(self):
        self.assertEqual(routes.cover([]), [])


class OfAPlan(unittest.TestCase):
    LEAF_SPINE = {
        "topology": {"kind": "leaf-spine", "leaves": 4, "spines": 2, "hosts": 16,
                     "rate": "100gbit", "delay": "1us"},
        "multipath": True, "algorithm": [{"name": "reno"}],
        "flows": [{"src": "h[1-64]", "dst": ["h[17-64]", "h[1-16]"], "bytes": 1000,
                   "pairs": "one-to-one"}]}

    def lines(self, start, **changes):
        wanted = scenario.build(dict(self.LEAF_SPINE, **changes))
        return [line for line in plan.write(wanted, wanted.variants[0]).splitlines()
                if line.startswith(start)]

    def test_spine_has_a_prefix_per_leaf_and_the_ends_of_it(self):
        gateway = "via 169.254.0.1 dev"
        self.assertEqual(self.lines("route s1 "), [
            f"route s1 10.0.0.0/25 {gateway} p4", f"route s1 10.0.0.0/27 {gateway} p1",
            f"route s1 10.0.0.16/28 {gateway} p2", f"route s1 10.0.0.16/32 {gateway} p1",
            f"route s1 10.0.0.32/28 {gateway} p3", f"route s1 10.0.0.32/32 {gateway} p2",
            f"route s1 10.0.0.48/32 {gateway} p3"])

    def test_leaf_sends_all_else_over_its_spines(self):
        lines = self.lines("route l2 ", family=6)
        self.assertEqual(lines[0], "route l2 fd00::0/121 via fe80::1 dev p17 via fe80::1 dev p18")
        self.assertEqual(len(lines), 17)
        self.assertIn("route l2 fd00::11/128 via fe80::1 dev p1", lines)
