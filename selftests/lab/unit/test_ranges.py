# SPDX-License-Identifier: GPL-2.0
"""Ranges of names, and the networks and flows made of them."""

import unittest

from quell_lab import plan, ranges, scenario
from quell_lab.errors import InputError

import helpers

GRAPH = {"kind": "graph", "hosts": ["a[1-2]", "b[1-2]"], "switches": ["s"],
         "cables": [{"a": ["a[1-2]", "b[1-2]"], "b": "s", "rate": "10gbit", "delay": "1us"}]}


class Expand(unittest.TestCase):
    def test_names(self):
        for text, names in (("h1", ["h1"]), ("h[1-3]", ["h1", "h2", "h3"]),
                            ("h[0]", ["h0"]), ("h[2,9-10]x", ["h2x", "h9x", "h10x"]),
                            ("l[1-2]h[3-4]", ["l1h3", "l1h4", "l2h3", "l2h4"])):
            with self.subTest(text):
                self.assertEqual(ranges.expand(text), names)

    def test_lists_join(self):
        self.assertEqual(ranges.expand_all(["a[1-2]", "b"]), ["a1", "a2", "b"])

    def test_mistakes(self):
        for text, words in (("h[1-", "no partner"), ("h1]", "no partner"), ("h[]", "not numbers"),
                            ("h[a-b]", "not numbers"), ("h[3-1]", "1 is below 3"),
                            ("h[01-02]", "not numbers"), ("h[1--2]", "not numbers"),
                            ("h[1-5000]", "more than 4096"), ("h[1-4294967296]", "more than"),
                            ("h[1-99]x[1-99]", "more than 4096")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, words):
                ranges.expand(text)
        with self.assertRaisesRegex(ValueError, "'7' is not a name"):
            ranges.expand_all(["h1", 7])

    def test_pairs(self):
        self.assertEqual(ranges.pair(["a", "b"], ["x", "y"], ranges.EACH),
                         [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")])
        self.assertEqual(ranges.pair(["a", "b"], ["x", "y"], ranges.TOGETHER),
                         [("a", "x"), ("b", "y")])
        with self.assertRaisesRegex(ValueError, "2 names on one side and 1 on the other"):
            ranges.pair(["a", "b"], ["x"], ranges.TOGETHER)


class Flows(unittest.TestCase):
    def flows(self, **changes):
        group = {"src": "a[1-2]", "dst": "b[1-2]", "bytes": 1000}
        group.update(changes)
        wanted = helpers.build(topology=GRAPH, flow=None, flows=[group])
        return [(flow.src, flow.dst, flow.start_ns) for flow in wanted.flows]

    def test_each_with_each(self):
        self.assertEqual(self.flows(), [("a1", "b1", 0), ("a1", "b2", 0), ("a2", "b1", 0),
                                        ("a2", "b2", 0)])

    def test_a_source_serves_all_its_partners_once_per_connection(self):
        self.assertEqual([ends[:2] for ends in self.flows(connections=2)],
                         [("a1", "b1"), ("a1", "b2")] * 2 + [("a2", "b1"), ("a2", "b2")] * 2)

    def test_one_to_one(self):
        self.assertEqual(self.flows(pairs="one-to-one"), [("a1", "b1", 0), ("a2", "b2", 0)])

    def test_stagger(self):
        starts = [start for _, _, start in self.flows(start="5us", stagger="2us")]
        self.assertEqual(starts, [5000, 7000, 9000, 11000])
        starts = [start for _, _, start in self.flows(stagger="2:3us")]
        self.assertEqual(starts, [0, 0, 3000, 3000])

    def test_jitter_is_bounded_and_only_on_demand(self):
        starts = [start for _, _, start in self.flows(jitter="1us")]
        self.assertTrue(all(0 <= start <= 1000 for start in starts))
        self.assertEqual(len(set(starts)), 4)

    def test_numbered_on_after_single_flows(self):
        wanted = helpers.build(flows=[{"src": "h[1-2]", "dst": "h3", "bytes": 5}])
        self.assertEqual([(flow.number, flow.size_bytes) for flow in wanted.flows],
                         [(1, 3000), (2, 3000), (3, 5), (4, 5)])

    def test_mistakes(self):
        for changes, words in (({"pairs": "one-to-one", "dst": "b1"}, "2 names on one side"),
                               ({"dst": "a[1-2]"}, "src and dst are both 'a1'"),
                               ({"src": "a[1-3]"}, r"flows\[0\].src: no host 'a3'"),
                               ({"src": ["a1", "a1"]}, "named twice"),
                               ({"connections": 1000}, "4000 flows is out of range: 1 to 2048"),
                               ({"stagger": "x"}, r"flows\[0\].stagger: 'x' is not"),
                               ({"stagger": "1:2:3"}, "TIME or COUNT:TIME")):
            with self.subTest(changes), self.assertRaisesRegex(InputError, words):
                self.flows(**changes)


class Short(unittest.TestCase):
    def test_ranges_give_the_plan_of_the_long_form(self):
        cable = {"b": "s", "rate": "10gbit", "delay": "1us"}
        long = {
            "topology": {"kind": "graph", "hosts": ["a1", "a2", "b1", "b2"], "switches": ["s"],
                         "cables": [dict(cable, a=name) for name in ("a1", "a2", "b1", "b2")]},
            "algorithm": [{"name": "cubic"}],
            "flow": [{"src": "a1", "dst": "b1", "bytes": 7, "start": "1us"},
                     {"src": "a2", "dst": "b2", "bytes": 7, "start": "3us"}],
        }
        short = {
            "topology": GRAPH,
            "algorithm": [{"name": "cubic"}],
            "flows": [{"src": "a[1-2]", "dst": "b[1-2]", "pairs": "one-to-one", "bytes": 7,
                       "start": "1us", "stagger": "2us"}],
        }
        texts = [plan.write(wanted, wanted.variants[0])
                 for wanted in (scenario.build(long), scenario.build(short))]
        self.assertEqual(texts[0], texts[1])

    def test_trunks_join_every_leaf_to_every_spine(self):
        wanted = helpers.build(flow=[{"src": "h1", "dst": "h2", "bytes": 1}], topology={
            "kind": "graph", "hosts": "h[1-2]", "switches": ["leaf[1-2]", "spine[1-2]"],
            "cables": [
                {"a": "h[1-2]", "b": "leaf[1-2]", "pairs": "one-to-one", "rate": "10gbit",
                 "delay": "1us"},
                {"a": "leaf[1-2]", "b": "spine[1-2]", "rate": "40gbit", "delay": "2us"}]})
        self.assertEqual([(cable.a, cable.b) for cable in wanted.graph.cables],
                         [("h1", "leaf1"), ("h2", "leaf2"), ("leaf1", "spine1"),
                          ("leaf1", "spine2"), ("leaf2", "spine1"), ("leaf2", "spine2")])
