# SPDX-License-Identifier: GPL-2.0
"""A network in parts: which node goes where, each part's plan, one result of all."""

import os
import tempfile
import unittest

from quell_lab import parted, parts, plan, scenario
from quell_lab.errors import InputError, RunError

FABRIC = {
    "topology": {"kind": "leaf-spine", "leaves": 8, "spines": 4, "hosts": 4, "rate": "100gbit",
                 "delay": "1us"},
    "multipath": True, "algorithm": [{"name": "swift"}],
    "flows": [{"src": "h[1-32]", "dst": ["h[5-32]", "h[1-4]"], "pairs": "one-to-one",
               "bytes": 100000}],
}
MIXED = {
    "topology": {"kind": "graph", "hosts": ["h1", "h2", "h3"], "switches": ["s1", "s2"], "cables": [
        {"a": "h1", "b": "s1", "rate": "10gbit", "delay": "0us"},
        {"a": "h2", "b": "s1", "rate": "10gbit", "delay": "5us"},
        {"a": "s1", "b": "s2", "rate": "10gbit", "delay": "20us"},
        {"a": "h3", "b": "s2", "rate": "10gbit", "delay": "0us"}]},
    "algorithm": [{"name": "reno"}],
    "flow": [{"src": "h1", "dst": "h3", "bytes": 1000}, {"src": "h2", "dst": "h1", "bytes": 1000}],
}


def built(table):
    return scenario.build(table)


def of_kind(text, kind):
    return [line.split() for line in text.splitlines() if line.split()[0] == kind]


class Cut(unittest.TestCase):
    def test_hosts_stay_at_their_switch_and_work_is_equal(self):
        one = built(FABRIC)
        for number in (2, 4):
            cut = parts.cut(one, number)
            for host in one.graph.hosts:
                self.assertEqual(cut.of_node[host], cut.of_node[one.graph.ports[host][0].peer])
            for part in range(number):
                self.assertEqual(sum(cut.of_node[host] == part for host in one.graph.hosts),
                                 32 // number)
            self.assertEqual(sorted(set(cut.of_node.values())), list(range(number)))

    def test_cables_without_delay_are_not_cut(self):
        one = built(MIXED)
        cut = parts.cut(one, 2)
        for cable in one.graph.cables:
            if cut.of_node[cable.a] != cut.of_node[cable.b]:
                self.assertGreaterEqual(cable.delay_ns, cut.lookahead_ns)
                self.assertGreater(cable.delay_ns, 0)
        self.assertEqual(cut.known_ns, 20000)
        self.assertRaisesRegex(InputError, "cannot be divided in 4", parts.cut, one, 4)

    def test_the_time_of_knowledge_does_not_depend_on_the_cut(self):
        one = built(MIXED)
        self.assertEqual({parts.cut(one, number).known_ns for number in (1, 2, 3)}, {20000})

    def test_long_delays_do_not_make_long_windows(self):
        one = built(dict(FABRIC, topology=dict(FABRIC["topology"], delay="10ms")))
        cut = parts.cut(one, 16)
        self.assertLessEqual(cut.lookahead_ns, 20000)
        self.assertLessEqual(cut.memory_bytes, 1 << 30)
        self.assertEqual(cut.known_ns, 10**7)

    def test_buffers_hold_all_acks_of_a_window(self):
        one = built(FABRIC)
        cut = parts.cut(one, 2)
        cables = sum(cut.of_node[cable.a] != cut.of_node[cable.b] for cable in one.graph.cables)
        acks = cables * cut.lookahead_ns * 100 // (84 * 8)
        # struct part_record, Ethernet, IPv4, TCP with timestamps
        self.assertGreater(cut.buffer_bytes, acks * (48 + 66 + 6))


class Plan(unittest.TestCase):
    def test_each_node_and_each_end_of_a_flow_is_in_one_part(self):
        one = built(FABRIC)
        text = plan.write(one, one.variants[0])
        cut = parts.cut(one, 3)
        texts = [parts.plan(text, cut, number) for number in range(3)]
        for kind in ("addr", "route", "sysctl", "qdisc", "param", "watch"):
            self.assertEqual(sorted(line for each in texts for line in of_kind(each, kind)),
                             sorted(of_kind(text, kind)))
        for column in (2, 3):
            for flow, *each in zip(of_kind(text, "flow"), *(of_kind(one, "flow") for one in texts)):
                ends = [words[column] for words in each]
                self.assertEqual(sorted(ends), ["-", "-", flow[column]])
                self.assertEqual(cut.of_node[flow[column]], ends.index(flow[column]))

    def test_both_parts_have_a_cut_cable_by_the_same_number(self):
        one = built(FABRIC)
        cut = parts.cut(one, 2)
        text = plan.write(one, one.variants[0])
        seen = {}
        for number in range(2):
            for words in of_kind(parts.plan(text, cut, number), "link"):
                cable = next(word for word in words if word.startswith("cable="))
                away = [word for word in words if word.startswith("away=")]
                seen.setdefault(cable, []).append((tuple(words[1:5]), away))
        self.assertEqual(len(seen), len(one.graph.cables))
        for both in seen.values():
            self.assertEqual(len({ends for ends, _ in both}), 1)
            self.assertEqual([len(away) for _, away in both], [1, 1] if len(both) == 2 else [0])

    def test_what_parts_cannot_do_is_refused(self):
        self.assertRaisesRegex(InputError, "tree", parts.check,
                               built(dict(FABRIC, algorithm=[{"name": "tcp_vegas.ko"}])))
        self.assertRaisesRegex(InputError, "probe", parts.plan, "probe h1 eth0\n",
                               parts.cut(built(FABRIC), 2), 0)


class Ring(unittest.TestCase):
    def test_ports_that_wait_for_each_other_are_a_ring(self):
        ring = {(f"s{i}", "p2"): (f"s{i % 3 + 1}", "p3") for i in (1, 2, 3)}
        found = parted.ring_of(ring)
        self.assertEqual(sorted(found), sorted(ring))
        for port, following in zip(found, [*found[1:], found[0]]):
            self.assertEqual(ring[following][0], port[0])

    def test_a_chain_is_not(self):
        chain = {("s1", "p2"): ("s2", "p3"), ("s2", "p2"): ("s3", "p3")}
        self.assertEqual(parted.ring_of(chain), [])
        # Each pauses the other, and neither another port.
        self.assertEqual(parted.ring_of({("s1", "p1"): ("s2", "p1"), ("s2", "p1"): ("s1", "p1")}),
                         [])
        self.assertEqual(parted.ring_of({}), [])


class Merge(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.scenario = built(MIXED)
        self.cut = parts.Cut(2, {"h1": 0, "s1": 0, "h2": 1, "s2": 1, "h3": 1}, 1, 1, 1)
        self.jobs = []
        for number in range(2):
            job = type("Job", (), {})()
            job.name, job.number = f"part {number}", number
            job.directory = os.path.join(self.scratch.name, f"part-{number}")
            os.makedirs(os.path.join(job.directory, "out"))
            self.jobs.append(job)

    def write(self, number, **files):
        for name in (*parted.TABLES, *parted.RECEIVERS, "dart.out", "ports.out", "done.out"):
            stem = name.partition(".")[0]
            with open(os.path.join(self.jobs[number].directory, "out", name), "w",
                      encoding="ascii") as file:
                file.write(files.get(stem, ""))

    def merged(self, name):
        out = os.path.join(self.scratch.name, "out")
        os.makedirs(out, exist_ok=True)
        parted.merge(self.jobs, self.cut, self.scenario, out)
        with open(os.path.join(out, name), encoding="ascii") as file:
            return file.read()

    def test_a_flow_has_its_senders_row_with_its_receivers_end(self):
        marks = "1 1 1 1 1 1 0 1 0\n2 0 0 0 0 0 7 0 9\n"
        self.write(0, flows="1 0 -1 1000 0 3 4\n2 5 77 0 1000 0 0\n", marks=marks, done="ok\n",
                   cwnd="1 20 5 5 5 0\n1 30 6 6 6 0\n", ports="s1 p2 a=1\ns2 p1 a=2\nh1 eth0 a=3\n")
        self.write(1, flows="1 0 55 0 1000 0 0\n2 5 -1 1000 0 6 7\n", done="ok\n",
                   marks="1 0 0 0 0 0 2 0 8\n2 4 4 4 4 4 0 4 0\n", cwnd="2 20 7 7 7 0\n",
                   ports="s1 p2 a=4\ns2 p1 a=5\nh2 eth0 a=6\n")
        self.assertEqual(self.merged("flows.out"), "1 0 55 1000 1000 3 4\n2 5 77 1000 1000 6 7\n")
        self.assertEqual(self.merged("marks.out"), "1 1 1 1 1 1 2 1 8\n2 4 4 4 4 4 7 4 9\n")
        self.assertEqual(self.merged("cwnd.out"), "1 20 5 5 5 0\n2 20 7 7 7 0\n1 30 6 6 6 0\n")
        self.assertEqual(sorted(self.merged("ports.out").splitlines()),
                         ["h1 eth0 a=3", "h2 eth0 a=6", "s1 p2 a=1", "s2 p1 a=5"])

    def test_rows_of_both_ends_of_a_flow_are_joined(self):
        rows = {"flows": "1 0 1 1 1 0 0\n2 0 1 1 1 0 0\n", "done": "ok\n",
                "marks": "1 0 0 0 0 0 0 0 0\n2 0 0 0 0 0 0 0 0\n"}
        self.write(0, dart="1 10 - - 256 0\n1 30 - - - -\n1 50 - - 256 0\n", **rows)
        self.write(1, dart="1 5 1 256 - -\n1 10 1 512 - -\n1 20 2 512 - -\n1 40 2 768 - -\n",
                   **rows)
        # Without a sender's values there is no row, also not for a receiver's change.
        self.assertEqual(self.merged("dart.out"),
                         "1 10 1 512 256 0\n1 20 2 512 256 0\n1 50 2 768 256 0\n")

    def test_parts_that_do_not_agree_are_an_error(self):
        rows = {"flows": "1 0 1 1 1 0 0\n2 0 1 1 1 0 0\n",
                "marks": "1 0 0 0 0 0 0 0 0\n2 0 0 0 0 0 0 0 0\n"}
        self.write(0, done="ok virtual_ns=5\n", **rows)
        self.write(1, done="ok virtual_ns=6\n", **rows)
        self.assertRaisesRegex(RunError, "different times", self.merged, "done.out")
        self.write(1, done="ok virtual_ns=5\n", flows=rows["flows"], marks="")
        self.assertRaisesRegex(RunError, "no line for flow 1", self.merged, "done.out")


if __name__ == "__main__":
    unittest.main()
