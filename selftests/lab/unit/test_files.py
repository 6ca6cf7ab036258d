# SPDX-License-Identifier: GPL-2.0
"""Scenario files that extend others, and what is overridden in them."""

import os
import tempfile
import unittest

from quell_lab import files, scenario
from quell_lab.errors import InputError
from quell_lab.schema import Places

BASE = """\
until = "1ms"
topology = { kind = "star", hosts = 3, rate = "100gbit", delay = "1us" }
queue = { limit = "200kb", ecn = "20kb" }
algorithm = [{ name = "cubic" }, { name = "reno" }]
flow = [{ src = "h1", dst = "h3", bytes = 3000 }, { src = "h2", dst = "h3", bytes = 3000 }]
paper = [["A Fig. 1", "*", "drops"]]
[scale.large]
topology = { hosts = 5 }
queue = { limit = "400kb" }
"""
MIDDLE = """\
extends = "../base.scenario"
flow = [{ src = "h2", dst = "h1", bytes = 500 }]
queue = { ecn = "30kb" }
[scale.large.queue]
ecn = "40kb"
"""
TOP = """\
# A comment.
extends = "more/middle.scenario"
queue.limit = "300kb"
algorithm = [{ name = "bbr" }]
"""
GRAPH = """\
extends = "base.scenario"
topology = { kind = "dumbbell", left = 1, right = 2, rate = "1gbit", delay = "2us" }
paper = []
"""


class Extends(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = scratch.name
        os.mkdir(self.path("more"))
        for name, text in (("base", BASE), ("more/middle", MIDDLE), ("top", TOP),
                           ("graph", GRAPH)):
            self.write(f"{name}.scenario", text)

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def build(self, name, scale=None):
        path = self.path(f"{name}.scenario")
        return scenario.build(files.load(path), Places(path), scale)

    def test_tables_key_by_key_and_lists_whole(self):
        base, middle, top = map(self.build, ("base", "more/middle", "top"))
        self.assertEqual([(one.queue.limit_bytes >> 10, one.queue.ecn_min_bytes >> 10)
                          for one in (base, middle, top)], [(200, 20), (200, 30), (300, 30)])
        self.assertEqual([len(one.flows) for one in (base, middle, top)], [2, 1, 1])
        self.assertEqual(top.until_ns, 10**6)
        self.assertEqual([[row.run for row in one.paper] for one in (middle, top)],
                         [["cubic", "reno"], ["bbr"]])
        self.assertNotIn("extends", top.config)

    def test_scales_are_overridden_as_all_else(self):
        base, top = self.build("base", "large"), self.build("top", "large")
        self.assertEqual(len(base.graph.hosts), 5)
        self.assertEqual((base.queue.limit_bytes >> 10, base.queue.ecn_min_bytes >> 10), (400, 20))
        self.assertEqual((top.queue.limit_bytes >> 10, top.queue.ecn_min_bytes >> 10), (400, 40))

    def test_a_table_of_another_kind_is_replaced(self):
        graph = self.build("graph")
        self.assertEqual({cable.rate_bits_ps for cable in graph.graph.cables}, {10**9})
        self.assertEqual(graph.paper, ())

    def test_what_is_below_does_not_change(self):
        below, above = {"a": {"b": 1}}, {"a": {"c": 2}}
        self.assertEqual(files.merge(below, above), {"a": {"b": 1, "c": 2}})
        self.assertEqual((below, above), ({"a": {"b": 1}}, {"a": {"c": 2}}))

    def test_texts_has_all_files(self):
        self.assertEqual(list(files.texts(self.path("top.scenario")).items()), [
            (self.path("base.scenario"), BASE), (self.path("more/middle.scenario"), MIDDLE),
            (self.path("top.scenario"), TOP)])

    def test_circle(self):
        self.write("base.scenario", 'title = "base"\n\nextends = "more/../top.scenario"\n' + BASE)
        with self.assertRaisesRegex(InputError, r"base.scenario:3: extends: '.*/top.scenario' "
                                                "is this file, or extends it: a circle"):
            files.load(self.path("top.scenario"))

    def test_rows_are_refused_where_they_are(self):
        self.write("base.scenario", BASE.replace('"*", "drops"', '"*"'))
        with self.assertRaisesRegex(InputError, r"base.scenario: paper\[0\]: .* is not a row"):
            files.load(self.path("top.scenario"))
        self.write("base.scenario", BASE + '[[scale.large.paper]]\nfigure = "A Fig. 1"\n')
        with self.assertRaisesRegex(InputError, r"scale.large.paper\[0\]: a table, as \[\[paper"):
            files.load(self.path("base.scenario"))
