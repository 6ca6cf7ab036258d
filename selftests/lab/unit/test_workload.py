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
                            ("0 0\n1000 60\n500 100\n", "a.cdf:3:1: '500 100' is below the line"),
                            ("0 0\n1000 60\n2000 50\n", "a.cdf:3:1: '2000 50' is below"),
                            ("0 0\n1000 101\n", "a.cdf:2:6: 101 is no share"),
                            ("0 0 0\n", "a.cdf:1:1: '0 0 0' is not BYTES PERCENT"),
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
    GRAPH = topology.star(4, 10**11, 1000, 1500)

    def arrivals(self, name, text, **keys):
        path = self.write(name, text)
        (arrivals, _), = flowlist.build(Places(os.path.join(os.path.dirname(path), "x")),
                                        [{"file": os.path.basename(path), **keys}], self.GRAPH)
        return arrivals

    def list(self, name, text, **keys):
        return [(one.src, one.dst, one.size_bytes, one.start_ns)
                for one in self.arrivals(name, text, **keys)]

    def test_htsim(self):
        text = "Nodes 4\nConnections 2\n3->0 id 2 start 2000500 size 9 prio 1\n0->1 start 0 size 7\n"
        self.assertEqual(self.list("a.cm", text), [("h1", "h2", 7, 0), ("h4", "h1", 9, 2000)])
        self.assertEqual(self.list("a.list", text, format="htsim"), self.list("a.cm", text))

    def test_htsim_s_flows_one_after_the_other(self):
        text = ("Nodes 4\nConnections 3\nTriggers 2\n0->2 id 2 trigger 1 size 8 "
                "send_done_trigger 2\n"
                "0->1 id 1 start 0 size 7 send_done_trigger 1\n3->0 id 3 start 5000 size 9\n"
                "trigger id 1 oneshot\ntrigger id 2 oneshot\n")
        found = self.arrivals("a.cm", text)
        self.assertEqual([(one.dst, one.start_ns, one.after) for one in found],
                         [("h2", 0, None), ("h1", 5, None), ("h3", 0, 0)])

    def test_hpcc(self):
        text = "2\n0 1 3 100 1000 2.000000123\n2 3 3 100 5 2.0\n"
        self.assertEqual(self.list("a.txt", text, origin="2s"),
                         [("h3", "h4", 5, 0), ("h1", "h2", 1000, 123)])

    def test_conweave(self):
        text = "2 \n0 1 3 1000 2.000000123\n2 3 3 0 2.0\n"
        self.assertEqual(self.list("a.txt", text, origin="2s"),
                         [("h3", "h4", 1, 0), ("h1", "h2", 1000, 123)])

    def test_ns3_rdma(self):
        text = "1\n2 1 3 10000000 2.0 9.5\n\nsrc dst priority\n"
        found = self.arrivals("a.txt", text, origin="2s")
        self.assertEqual([(one.src, one.dst, one.size_bytes, one.start_ns, one.stop_ns)
                          for one in found], [("h3", "h2", 10**10, 0, 7500 * 10**6)])
        (one,) = self.arrivals("a.txt", "2 1 3 100 2 9\n", format="ns3-rdma", packet="1500b")
        self.assertEqual((one.size_bytes, one.start_ns), (150000, 2 * 10**9))

    def test_what_follows_the_flows_announced(self):
        text = "1\n0 1 3 100 1000 0\n9 9 9 9\nsrc0 dst0 3 dst_port0 size0\n"
        self.assertEqual(self.list("a.txt", text), [("h1", "h2", 1000, 0)])

    def test_columns_tell_formats_apart(self):
        for row, name in (("2 1 3 100 70000 2", "hpcc"), ("2 1 3 100 70000 2.5", "hpcc"),
                          ("2 1 3 100000 2 9", "ns3-rdma"), ("2 1 3 100 2.5 9", "ns3-rdma")):
            with self.subTest(row):
                self.assertEqual(self.arrivals("a.txt", row),
                                 self.arrivals("a.txt", row, format=name))
        with self.assertRaisesRegex(InputError, r"a.txt:2:1: columns fit hpcc and ns3-rdma: name"):
            self.list("a.txt", "1\n2 1 3 100 2 9\n")
        self.assertEqual(self.list("a.txt", "1\n2 1 3 100 2 9\n", format="hpcc"),
                         [("h3", "h2", 2, 9 * 10**9)])

    def test_numbers_that_count_switches(self):
        row = "1\n2 4 3 100 77 0\n"
        for switches in (0, [0], "b.txt"):
            path = self.write("a.txt", row)
            directory = os.path.dirname(path)
            with open(os.path.join(directory, "b.txt"), "w", encoding="ascii") as file:
                file.write("5 1 4\n0\n0 1 100Gbps 0.001ms 0\n")
            (arrivals, _), = flowlist.build(Places(os.path.join(directory, "x")), [
                {"file": "a.txt", "switches": switches}], self.GRAPH)
            self.assertEqual([(one.src, one.dst) for one in arrivals], [("h2", "h4")])
        self.assertEqual(self.list("a.txt", row, switches=[1, 3])[0][:2], ("h2", "h3"))

    def test_flows_without_an_end(self):
        for name, text in (("a.cm", "0->1 start 0 size 0\n"),
                           ("a.txt", "0 1 3 100 1000000000000 0\n")):
            (one,) = self.arrivals(name, text)
            self.assertEqual((one.size_bytes, one.endless), (flowlist.SIZE_MAX, True))
        path = self.write("a.txt", "0 1 3 100 1000000000000 0\n")
        table = helpers.table(flow=None, **{"flow-list": [{"file": "a.txt"}]})
        places = Places(os.path.join(os.path.dirname(path), "a.scenario"))
        with self.assertRaisesRegex(InputError, "check.allow-unfinished: must be true"):
            scenario.build(table, places)
        table.update(until="1ms", check={"allow-unfinished": True})
        self.assertTrue(scenario.build(table, places).flows[0].endless)

    def test_a_mark_of_byte_order_and_comments_in_any_language(self):
        path = self.write("a.txt", "")
        with open(path, "wb") as file:
            file.write(b"\xef\xbb\xbf1\r\n# caf\xc3\xa9 \xff\r\n0 1 3 100 77 0\r\n")
        (arrivals, _), = flowlist.build(Places(os.path.join(os.path.dirname(path), "x")),
                                        [{"file": "a.txt"}], self.GRAPH)
        self.assertEqual([one.size_bytes for one in arrivals], [77])

    def test_in_a_scenario(self):
        path = self.write("a.txt", "1\n0 2 3 100 77 0\n")
        table = helpers.table(flow=None, **{"flow-list": [{"file": "a.txt", "dscp": 5}]})
        wanted = scenario.build(table, Places(os.path.join(os.path.dirname(path), "a.scenario")))
        self.assertEqual([(flow.src, flow.dst, flow.size_bytes, flow.dscp)
                          for flow in wanted.flows], [("h1", "h3", 77, 5)])

    def test_mistakes(self):
        for name, text, words in (
                ("a.cm", "Nodes 5\n", "a.cm:1:7: 5 nodes, the topology has 4 hosts"),
                ("a.cm", "Connections 2\n0->1 start 0 size 7\n", "announces 2 flows and has 1"),
                ("a.cm", "\n0->4 start 0 size 7\n", "a.cm:2:1: no host '4': 0 to 3"),
                ("a.cm", "0->0 start 0 size 7\n", "a.cm:1:1: host 0 sends to itself"),
                ("a.cm", "0->1 trigger 1 size 7\n", "1:14: trigger 1 is fired by 0 flows"),
                ("a.cm", "0->1 start 0 size 7 send_done_trigger 1\n2->1 trigger 1 size 7\n",
                 "a.cm:2:14: h3 does not see the end that fires trigger 1: only h1 does"),
                ("a.cm", "0->1 start 0 size 7 send_done_trigger 1\n0->2 trigger 1 size 7\n"
                         "trigger id 1 barrier count 2\n", "a.cm:2:14: trigger 1 is a barrier"),
                ("a.cm", "failure switch_type TOR\n", "a.cm:1:1: failed links are not in lists"),
                ("a.cm", "0->1 size 7\n", "is not SRC->DST start"),
                ("a.cm", "0->1 start 0 size 7 colour red\n", "1:21: 'colour' is not one of id"),
                ("a.cm", "0->1 id 1 msg start 0 size 7\n", "1:11: messages on one connection"),
                ("a.cm", "0->1 start 0 size\n", "a.cm:1:14: no number behind size"),
                ("a.cm", "0->1 start now size 7\n", "1:12: 'now' is no time in picoseconds"),
                ("a.cm", "0->1 start 1/2 size 7\n", "1:12: '1/2' is no time in picoseconds"),
                ("a.cm", "Nodes many\n", "a.cm:1:7: 'many' is no number of Nodes"),
                ("a.cm", "Nodes\n", "is not Nodes NUMBER"),
                ("a.cm", "0->1 trigger 1 size 7 send_done_trigger 1\n",
                 "a.cm:1:14: trigger 1 closes a circle"),
                ("a.cm", "0->1 start 0 size 7 send_done_trigger 1\n"
                         "0->2 trigger 3 size 7 send_done_trigger 2\n"
                         "0->3 trigger 2 size 7 send_done_trigger 3\n",
                 "a.cm:2:14: trigger 3 closes a circle"),
                ("a.cm", "0->1 id foo start 0 size 7\n", "a.cm:1:9: 'foo' is no id"),
                ("a.cm", "0->1 start 0 size 7 prio bar\n", "a.cm:1:26: 'bar' is no prio"),
                ("a.txt", "0 1 3 100 0 0\n", "a.txt:1:11: '0' bytes is out of range"),
                ("a.txt", "0 1 3 100 0x5 0\n", "a.txt:1:11: '0x5' is no whole number"),
                *(("a.txt", f"3\n0 1 3 100 90 9\n0 2 3 100 90000 1\n0 1 3 100 {size} 0.5\n",
                   f"a.txt:4:11: '{size}' is no whole number")
                  for size in ("1e5", "10000x", "-5")),
                ("a.txt", "3\n0 1 3 100 90000 1\n0 2 3 102000 90000 1\n0 1 3 100 90 0.5\n",
                 "a.txt:3:7: '102000', a port, is out of range: 0 to 65535"),
                ("a.txt", "0 1 3 100 1.5 2.5\n0 2 3 100 soon 2.5\n",
                 "a.txt:2:11: 'soon' is no time in seconds"),
                ("a.txt", "0 1 3 100 1.5 2\n0 2 3 100 9 1\n",
                 "a.txt:1:1: no columns of hpcc and ns3-rdma: name one"),
                ("a.txt", "0 1 3 100\n", "a.txt:1:1: 4 columns: SRC DST PRIORITY PORT BYTES"),
                ("a.txt", "0 1 3 100 90 1\n0 1 3 100 5 soon\n", "2:13: 'soon' is no time in sec"),
                ("a.txt", "3\n0 1 3 100 90 1\n", "a.txt:1:1: announces 3 flows and has 1$"),
                ("a.txt", "15\n0 1 3 100 90 1\n", "announces 15 .* written its estimate over"),
                ("a.txt", "", "0 flows is out of range"),
                ("a.csv", "", "'a.csv' is neither .cm nor .txt: name the format, htsim, hpcc")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                self.list(name, text)
        for row, keys, words in (
                ("0 1 3 100 90 1", {"origin": "2s"}, "1:14: 1s is out of range: 2s, the origin"),
                ("0 1 3 100 90 1", {"format": "conweave"}, "6 columns are not SRC DST PRIORITY BY"),
                ("0 1 3 100 90 1", {"format": "hpc"}, "one of htsim, hpcc, conweave, ns3-rdma"),
                ("0 1 3 100 90 1", {"packet": "1kb"}, r"flow-list\[0\].packet: hpcc has bytes"),
                ("0 1 3 9 5 5", {"format": "ns3-rdma"}, "1:11: stops before it starts"),
                ("0 1 3 100 90 1", {"switches": [1]}, "a.txt:1:3: node 1 is a switch"),
                ("0 5 3 100 90 1", {"switches": [1]}, "a.txt:1:3: no host '5': 0 to 4"),
                ("0 1 3 100 90 1", {"switches": "a.txt"}, "'a.txt' does not begin with NODES SW"),
                ("2 " + "1" * 5000 + " 3", {"switches": "a.txt"}, "does not begin with NODES SW"),
                ("0 1 3 100 90 1", {"switches": "a\0"}, "cannot read '.*a.x00': embedded null"),
                ("0 1 3 100 90 1", {"switches": ["s1"]}, "switches: not numbers of nodes")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                self.list("a.txt", row, **keys)


class Draws(unittest.TestCase):
    def test_derangement(self):
        lottery = workload.Lottery(1, 0)
        for _ in range(50):
            self.assertTrue(all(a != b for a, b in zip(lottery.deranged((1, 2, 3)), (1, 2, 3))))
