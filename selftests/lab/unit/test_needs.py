# SPDX-License-Identifier: GPL-2.0
"""What a scenario lacks is said, marks and the ways of a fat tree; every key is on a page."""

import os
import re
import sys
import tomllib
import unittest

from quell_lab import runner, scenario
from quell_lab.errors import InputError
from quell_lab.schema import Key

import helpers

TREE = {"kind": "fat-tree", "pods": 2, "tors": 1, "aggs": 2, "spines": 2, "hosts": 2,
        "rate": "10gbit", "delay": "1us"}
LOAD = [{"bytes": "10kb", "load": 0.5, "length": "1ms"}]
MARKS = {"ecn": "65kb"}


class Marks(unittest.TestCase):
    def test_algorithms_that_work_by_them(self):
        for name in ("dctcp", "dcqcn", "dart", "smartt"):
            with self.subTest(name):
                said, = helpers.build(algorithm=[{"name": name}]).notes
                self.assertEqual(said, f"{name} without queue.ecn: no switch marks packets, by "
                                 "which it works")
                self.assertEqual(helpers.build(algorithm=[{"name": name}], queue=MARKS).notes, ())

    def test_algorithms_that_do_not(self):
        names = ("swift", "swift_vaisf", "timely", "cubic", "bbr", "reno")
        self.assertEqual(helpers.build(algorithm=[{"name": name} for name in names]).notes, ())

    def test_algorithms_that_work_by_records(self):
        runs = [{"name": "hpcc"}, {"name": "hpcc_vaisf", "tcp-int": 2}, {"name": "swift"}]
        for queue, labels in (({}, "hpcc, hpcc_vaisf"), ({"telemetry": "5us"}, "hpcc_vaisf"),
                              ({"telemetry": "5us", "tcp-int": "5us"}, None)):
            with self.subTest(queue):
                said = helpers.build(algorithm=runs, queue=queue).notes
                self.assertEqual(said, () if labels is None else (
                    f"{labels} without queue.telemetry: no switch writes records, without which a "
                    "flow runs as Reno",))

    def test_several_and_those_of_flows(self):
        flow = {"src": "h1", "dst": "h3", "bytes": 5}
        said, = helpers.build(algorithm=[{"name": "dcqcn"}, {"name": "swift"}],
                              flow=[dict(flow, cc="dctcp")]).notes
        self.assertEqual(said, "dcqcn, dctcp without queue.ecn: no switch marks packets, by which "
                         "they work")

    def test_of_the_kernels_qdiscs_those_that_mark(self):
        for text, is_marking in (("codel", False), ("codel ecn", True), ("fq_codel", True),
                                 ("codel ce_threshold 20us", True), ("fq_codel noecn", False),
                                 ("fq_codel noecn ce_threshold 20us", True), ("pie", False),
                                 ("pie ecn", True), ("red limit 90kb avpkt 1kb", False),
                                 ("red limit 90kb avpkt 1kb ecn", True), ("fq", False),
                                 ("fq ce_threshold 20us", True), ("cake", True), ("dualpi2", True)):
            for queue in ({}, MARKS):
                said = helpers.build(algorithm=[{"name": "dctcp", "qdisc": text, "label": "a"}, {
                    "name": "cubic"}], queue=queue).notes
                self.assertEqual(said, () if is_marking else (
                    f"a over '{text}': no switch marks packets, by which it works",))

    def test_marks_of_flows_and_ports_of_all_runs(self):
        flow = {"src": "h1", "dst": "h3", "bytes": 5, "cc": "dctcp"}
        self.assertEqual(helpers.build(queue={"qdisc": "fq_codel"}, flow=[flow]).notes, ())
        self.assertEqual(len(helpers.build(queue={"qdisc": "fq"}, flow=[flow]).notes), 1)

    def test_features_of_swport_beside_a_qdisc(self):
        said, = helpers.build(queue={"telemetry": "5us", "trim": "64b", "limit": "90kb"},
                              option=True, algorithm=[{"name": "hpcc"}, {
                                  "name": "hpcc", "label": "b", "qdisc": "fq"}]).notes
        self.assertEqual(said, "b over 'fq': runs without queue.telemetry, queue.trim, which "
                         "swport alone has")


class Tokens(unittest.TestCase):
    def test_flows_without_them(self):
        queue = {"limit": "225kb", "deflect": "15kb"}
        said = ("queue.deflect: no flow has tokens (dscp), so no packet is deflected",)
        for dscp, found in ((0, said), (4, ()), (5, said)):
            with self.subTest(dscp):
                flow = {"src": "h1", "dst": "h3", "bytes": 5, "dscp": dscp}
                self.assertEqual(helpers.build(queue=queue, flow=[flow], multipath=True,
                                               topology=TREE).notes, found)


class Rates(unittest.TestCase):
    def test_bytes_per_second_are_named(self):
        for rate, said in (("10Gbps", "'10Gbps' is 80gbit: bps is bytes per second, as for tc"),
                           ("10gbit", None)):
            with self.subTest(rate):
                wanted = helpers.build(topology=dict(helpers.STAR, rate=rate))
                self.assertEqual(wanted.notes, (said,) if said else ())


class Fifo(unittest.TestCase):
    """Switches whose ports are the kernel's bfifo."""

    def test_refused(self):
        for queue, words in (({"fifo": "h1"}, "queue.fifo: no switch 'h1': one of s1"),
                             ({"fifo": "s1", "ecn": "65kb"}, "queue.fifo: not with ecn"),
                             ({"fifo": "s1", "trim": "64b"}, "queue.fifo: not with trim"),
                             ({"fifo": "s1", "telemetry": "5us"}, "queue.fifo: not with telemetry")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                helpers.build(queue=queue)
        with self.assertRaisesRegex(InputError, "queue.fifo: not with pfc"):
            helpers.build(queue={"fifo": "s1"}, pfc={})


class Ways(unittest.TestCase):
    def notes(self, **changes):
        return helpers.build(**{"flow": None, "workload": LOAD, "topology": TREE, **changes}).notes

    def test_a_load_in_one_way_of_several(self):
        clos = {"kind": "clos", "hosts": 8, "tor-hosts": 2, "pod-tors": 2, "rate": "10gbit",
                "delay": "1us"}
        for topology in (TREE, clos):
            with self.subTest(topology["kind"]):
                said, = self.notes(topology=topology)
                self.assertEqual(said, "workload without multipath: of equal ways switches take "
                                 "the first alone, and the rest of the network stays idle")
                self.assertEqual(self.notes(topology=topology, multipath=True), ())

    def test_where_there_is_one_way(self):
        self.assertEqual(self.notes(topology=dict(TREE, aggs=1, spines=1)), ())
        self.assertEqual(self.notes(topology=helpers.STAR), ())

    def test_flows_one_by_one_may_be_meant_so(self):
        flow = {"src": "h1", "dst": "h3", "bytes": 5}
        self.assertEqual(self.notes(workload=None, flow=[flow]), ())


class Page(unittest.TestCase):
    def test_the_load_of_the_page_is_complete(self):
        with open(os.path.join(runner.ROOT, "Documentation", "lab-scenario.md"),
                  encoding="utf-8") as file:
            text = file.read().partition("### Loads")[2]
        lines = re.search(r"\n\n((?: {4}.*\n)+)", text)[1]
        wanted = scenario.build(tomllib.loads(re.sub("(?m)^ {4}", "", lines)))
        self.assertEqual(wanted.notes, ())
        self.assertEqual(len(wanted.variants), 2)
        self.assertGreater(len(wanted.flows), 1000)

    def test_every_key_of_a_scenario_is_on_a_page(self):
        keys = set()
        for name, module in list(sys.modules.items()):
            tables = list(vars(module).values()) if name.startswith("quell_lab.") else []
            while tables:
                table = tables.pop()
                if isinstance(table, dict):
                    keys.update(key for key, one in table.items() if isinstance(one, Key))
                    tables += [one for one in table.values() if isinstance(one, dict)]
        self.assertGreater(len(keys), 100)
        text = ""
        for page in ("lab.md", "lab-scenario.md", "lab-models.md"):
            with open(os.path.join(runner.ROOT, "Documentation", page), encoding="utf-8") as file:
                text += file.read()
        self.assertEqual([key for key in sorted(keys)
                          if not re.search(rf"[`.\"[ {{]{re.escape(key)}[`\" :=,\]}}]", text)], [])
