# SPDX-License-Identifier: GPL-2.0
"""Flows by a load: distributions of sizes, patterns, arrivals, and lists of flows."""

import os
import tempfile
import unittest
from collections import Counter
from fractions import Fraction

from quell_lab import flowlist, scenario, sizes, topology, workload
from quell_lab.errors import InputError
from quell_lab.schema import Places

import helpers

STAR = {"kind": "star", "hosts": 8, "rate": "100gbit", "delay": "1us"}
PUBLISHED = {"hadoop": 120421, "rpc": 2892, "storage": 40870, "websearch": 1711250}


def flows(*tables, **changes):
    """Flows of a star of eight with these [[workload]] tables."""
    return helpers.build(topology=STAR, flow=None, workload=list(tables), **changes).flows


def load(**changes):
    """A [[workload]] table with some keys changed."""
    base = {"bytes": "10kb", "load": 0.5, "length": "1ms"}
    return {key: value for key, value in {**base, **changes}.items() if value is not None}


class Written(unittest.TestCase):
    """A file that is there while a test runs."""

    def write(self, name, text):
        """Its path."""
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        path = os.path.join(directory.name, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path


class Distributions(Written):
    def read(self, text):
        return sizes.read("sizes", self.write("a.cdf", text), "a")

    def test_the_published_ones_and_their_means(self):
        self.assertEqual({name: round(sizes.find("sizes", name, "").mean_bytes)
                          for name in sizes.known()}, PUBLISHED)

    def test_straight_between_lines(self):
        one = self.read("# a comment\n0 0\n100 50\n\n1100 100\n")
        self.assertEqual([one.draw(chance) for chance in (0, 0.25, 0.5, 0.75, 0.999)],
                         [1, 50, 100, 600, 1098])
        self.assertEqual(one.mean_bytes, Fraction(50 * 50 + 600 * 50, 100))

    def test_a_share_at_the_smallest_size(self):
        one = self.read("64 20\n128 100\n")
        self.assertEqual([one.draw(chance) for chance in (0, 0.1, 0.2, 0.6)], [64, 64, 64, 96])
        self.assertEqual(one.mean_bytes, Fraction(64 * 20 + 96 * 80, 100))

    def test_sizes_alike_often(self):
        one = sizes.equally([8000, 2000, 4000])
        self.assertEqual([one.draw(chance) for chance in (0, 0.3, 0.4, 0.6, 0.7, 0.99)],
                         [2000, 2000, 4000, 4000, 8000, 8000])
        self.assertEqual(one.mean_bytes, Fraction(14000, 3))

    def test_mistakes(self):
        for text, words in (("0 0\n1000 99.5\n", "ends at 99.5 %: .* must be at 100 %"),
                            ("0 0\n1000 60\n500 100\n", "a.cdf:3: '500 100' is below the line"),
                            ("0 0\n1000 60\n2000 50\n", "a.cdf:3: '2000 50' is below"),
                            ("0 0\n1000 101\n", "a.cdf:2: 101 is no share"),
                            ("0 0 0\n", "a.cdf:1: '0 0 0' is not BYTES PERCENT"),
                            ("big 100\n", "'big 100' is not BYTES PERCENT"),
                            ("1.5 100\n", "1.5 is no size"),
                            ("0 100\n", "has no size above 0"),
                            ("# nothing\n", "has no line BYTES PERCENT")):
            with self.subTest(text), self.assertRaisesRegex(InputError, words):
                self.read(text)

    def test_unknown(self):
        with self.assertRaisesRegex(InputError, r"sizes: no distribution 'webserch', did you mean "
                                    r"'websearch'\?: one of hadoop, rpc, storage, websearch"):
            flows(load(bytes=None, sizes="webserch"))


class Arrivals(unittest.TestCase):
    def test_random_arrivals_offer_the_load(self):
        found = flows(load(length="8ms"))
        offered = sum(flow.size_bytes for flow in found) * 8 / 8e-3 / 8e11
        self.assertAlmostEqual(offered, 0.5, delta=0.02)
        self.assertEqual(len({flow.src for flow in found}), 8)
        self.assertEqual(len({(flow.src, flow.dst) for flow in found}), 56)
        self.assertTrue(all(0 <= flow.start_ns < 8 * 10**6 for flow in found))

    def test_gaps_are_those_of_chance(self):
        times = [flow.start_ns for flow in flows(load(length="8ms")) if flow.src == "h1"]
        gaps = [later - now for now, later in zip(times, times[1:])]
        mean = sum(gaps) / len(gaps)
        spread = (sum((gap - mean)**2 for gap in gaps) / len(gaps))**0.5
        self.assertAlmostEqual(mean, 10240 * 8 / 50, delta=0.1 * mean)
        self.assertAlmostEqual(spread / mean, 1, delta=0.1)

    def test_flows_are_numbered_by_time(self):
        found = flows(load())
        self.assertEqual([flow.number for flow in found], list(range(1, len(found) + 1)))
        self.assertEqual([flow.start_ns for flow in found],
                         sorted(flow.start_ns for flow in found))

    def test_the_seed_decides(self):
        self.assertEqual(flows(load(), seed=3), flows(load(), seed=3))
        self.assertNotEqual(flows(load(), seed=3), flows(load(), seed=4))

    def test_start_hosts_and_what_flows_have_in_common(self):
        found = flows(load(start="5ms", hosts="h[2-4]", dscp=3, cold=True, cc="cubic"))
        self.assertTrue(all(5 * 10**6 <= flow.start_ns < 6 * 10**6 for flow in found))
        self.assertEqual({end for flow in found for end in (flow.src, flow.dst)},
                         {"h2", "h3", "h4"})
        self.assertEqual({(flow.dscp, flow.cold, flow.cc) for flow in found},
                         {(3, True, "cubic")})

    def test_a_load_at_which_nothing_starts(self):
        with self.assertRaisesRegex(InputError, r"^workload\[0\]: no flow starts within 1ms at this "
                                    "load; a longer length or another seed$"):
            flows(load(load=0.000001))
        self.assertTrue(flows(load(load=0.000001), load()))

    def test_a_load_may_be_in_percent(self):
        self.assertEqual(flows(load(load="50%")), flows(load(load=0.5)))


class Patterns(unittest.TestCase):
    def test_permutation(self):
        found = flows({"pattern": "permutation", "bytes": 5})
        self.assertEqual({flow.src for flow in found}, {flow.dst for flow in found})
        self.assertEqual(len(found), 8)
        self.assertTrue(all(flow.src != flow.dst for flow in found))

    def test_permutation_under_load_keeps_its_pairs(self):
        found = flows(load(pattern="permutation"))
        self.assertGreater(len(found), 100)
        self.assertEqual(len({(flow.src, flow.dst) for flow in found}), 8)

    def test_tornado(self):
        found = flows({"pattern": "tornado", "bytes": 5})
        self.assertEqual({(flow.src, flow.dst) for flow in found},
                         {(f"h{i}", f"h{(i + 3) % 8 + 1}") for i in range(1, 9)})

    def test_incasts_repeated(self):
        found = flows({"pattern": "incast", "degree": 3, "bytes": 1000, "every": "100us",
                       "length": "1ms"})
        groups = {}
        for flow in found:
            groups.setdefault(flow.start_ns, []).append(flow)
        self.assertEqual(sorted(groups), list(range(0, 10**6, 10**5)))
        for group in groups.values():
            self.assertEqual(len({flow.src for flow in group}), 3)
            self.assertEqual(len({flow.dst for flow in group}), 1)
        self.assertGreater(len({flow.dst for flow in found}), 2)

    def test_incasts_at_a_load(self):
        found = flows(load(pattern="incast", degree=4, length="8ms", jitter="1us"))
        offered = sum(flow.size_bytes for flow in found) * 8 / 8e-3 / 8e11
        self.assertAlmostEqual(offered, 0.5, delta=0.05)

    def test_one_incast(self):
        found = flows({"pattern": "incast", "degree": 7, "bytes": 9})
        self.assertEqual(Counter(flow.start_ns for flow in found), {0: 7})

    def test_flows_that_are_there_from_the_start_on(self):
        found = flows({"bytes": "1gb", "load": 0.4, "standing": True, "start": "1ms"})
        self.assertEqual([flow.start_ns for flow in found], [10**6] * 3)
        self.assertEqual(len({flow.src for flow in found}), 3)
        self.assertTrue(all(flow.src != flow.dst for flow in found))
        self.assertEqual(len(flows({"bytes": 9, "load": 0.01, "standing": True})), 1)

    def test_mixes(self):
        found = flows(load(load=0.3, bytes="1mb"), load(pattern="incast", degree=4, load=0.2))
        self.assertEqual({flow.size_bytes for flow in found}, {1 << 20, 10240})

    def test_mistakes(self):
        for tables, words in (
                ([load(load=1.2)], r"workload\[0\].load: '1.2' is more than the hosts' cables"),
                ([load(load="120%")], "'120%' is more than"),
                ([load(load=0)], "'0' is out of range: above 0"),
                ([load(load="half")], "'half' is not a load such as 0.5"),
                ([load(load=0.6), load(load=0.5)],
                 r"workload: 'h1' is offered 110 % of what its cable carries at 0ns"),
                ([load(pattern="incast", degree=2, load=None, every="1us", bytes="1mb")],
                 "'h1' is offered .* % of what its cable"),
                ([load(load=None)], r"workload\[0\].load: missing"),
                ([load(length=None)], "load or every and length go together"),
                ([load(sizes="rpc")], "give either sizes, a distribution, or bytes"),
                ([load(bytes=[])], "an empty list"),
                ([load(bytes=["1kb", "x"])], "'x' is not a size"),
                ([load(length="10s")], "flows are expected, at most 2000000 can be"),
                ([load(degree=3)], "only an incast has it"),
                ([load(standing=True)], "length: not with standing"),
                ([load(pattern="tornado", standing=True)], "standing: not with tornado"),
                ([load(length=None, load=0.6, standing=True), load(load=0.5)],
                 "'h1' is offered 110 %"),
                ([load(pattern="incast")], "degree: missing"),
                ([load(pattern="incast", degree=8)], "'8' is out of range: 1 to 7"),
                ([load(pattern="incast", degree=2, every="1ms")], "give it or load, not both"),
                ([load(hosts="h[1-9]")], "no host 'h9'"),
                ([load(hosts="h1")], "one host alone"),
                ([load(hosts=["h1", "h1"])], "named twice"),
                ([load(pattern="ring")], "one of random, permutation, tornado, incast"),
                (["x"], "'x' is not a table")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                flows(*tables)

    def test_loads_one_after_the_other_do_not_add_up(self):
        self.assertTrue(flows(load(load=0.6), load(load=0.6, start="1ms")))


class Lists(Written):
    def list(self, name, text, **keys):
        path = self.write(name, text)
        graph = topology.star(4, 10**11, 1000, 1500)
        tables = [{"file": os.path.basename(path), **keys}]
        (arrivals, _), = flowlist.build(Places(os.path.join(os.path.dirname(path), "x")), tables,
                                        graph)
        return [(one.src, one.dst, one.size_bytes, one.start_ns) for one in arrivals]

    def test_htsim(self):
        text = "Nodes 4\nConnections 2\n3->0 id 2 start 2000500 size 9 prio 1\n0->1 start 0 size 7\n"
        self.assertEqual(self.list("a.cm", text), [("h1", "h2", 7, 0), ("h4", "h1", 9, 2000)])

    def test_hpcc(self):
        text = "2\n0 1 3 100 1000 2.000000123\n2 3 3 100 5 2.0\n"
        self.assertEqual(self.list("a.txt", text, origin="2s"),
                         [("h3", "h4", 5, 0), ("h1", "h2", 1000, 123)])

    def test_in_a_scenario(self):
        path = self.write("a.txt", "1\n0 2 3 100 77 0\n")
        table = helpers.table(flow=None, **{"flow-list": [{"file": "a.txt", "dscp": 5}]})
        wanted = scenario.build(table, Places(os.path.join(os.path.dirname(path), "a.scenario")))
        self.assertEqual([(flow.src, flow.dst, flow.size_bytes, flow.dscp)
                          for flow in wanted.flows], [("h1", "h3", 77, 5)])

    def test_mistakes(self):
        for name, text, words in (
                ("a.cm", "Nodes 5\n", "a.cm:1: 5 nodes, the topology has 4 hosts"),
                ("a.cm", "Connections 2\n0->1 start 0 size 7\n", "announces 2 flows and has 1"),
                ("a.cm", "0->4 start 0 size 7\n", "a.cm:1: no host '4': 0 to 3"),
                ("a.cm", "0->0 start 0 size 7\n", "host 0 sends to itself"),
                ("a.cm", "0->1 trigger 1 size 7\n", "waits for another"),
                ("a.cm", "0->1 size 7\n", "is not SRC->DST start"),
                ("a.cm", "0->1 start 0 size 7 colour red\n", "is not SRC->DST start"),
                ("a.cm", "0->1 start now size 7\n", "'now' is no time in picoseconds"),
                ("a.cm", "Nodes many\n", "is not Nodes NUMBER"),
                ("a.txt", "0 1 3 100 0 0\n", "'0' bytes is out of range"),
                ("a.txt", "0 1 3 100 5\n", "is not SRC DST PRIORITY PORT BYTES SECONDS"),
                ("a.txt", "", "0 flows is out of range"),
                ("a.csv", "", "is neither .cm")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                self.list(name, text)
        with self.assertRaisesRegex(InputError, "a start at 1s is out of range: 2s, the origin"):
            self.list("a.txt", "0 1 3 100 5 1\n", origin="2s")


class Draws(unittest.TestCase):
    def test_derangement(self):
        lottery = workload.Lottery(1, 0)
        for _ in range(50):
            self.assertTrue(all(a != b for a, b in zip(lottery.deranged((1, 2, 3)), (1, 2, 3))))
