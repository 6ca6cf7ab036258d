# SPDX-License-Identifier: GPL-2.0
"""Priority flow control: what a plan says of it, and what is made of the counters."""

import unittest

from quell_lab import pfc, plan, results

import helpers

FLOW = {"src": "h1", "dst": "h2", "bytes": 1000}
TWO = {"kind": "graph", "hosts": ["h1", "h2"], "switches": ["s1", "s2"],
       "cables": [{"a": "h1", "b": "s1", "rate": "10gbit", "delay": "1us"},
                  {"a": "s1", "b": "s2", "rate": "100gbit", "delay": "1us"},
                  {"a": "s2", "b": "h2", "rate": "10gbit", "delay": "1us"}]}


def build(**changes):
    """A scenario with two switches and these keys in its [pfc]."""
    top = {key: changes.pop(key) for key in ("tso", "queue", "flow") if key in changes}
    return helpers.build(topology=TWO, pfc=changes, **{"flow": [FLOW], **top})


def links(wanted):
    """What the plan says of each cable of priority flow control."""
    return [[word for word in line.split() if "pfc" in word]
            for line in plan.write(wanted, wanted.variants[0]).splitlines()
            if line.startswith("link ")]


class Pfc(unittest.TestCase):
    def test_off(self):
        plain = helpers.build(topology=TWO, flow=[FLOW])
        off = build(on=False)
        self.assertIsNone(off.pfc)
        self.assertEqual(*(plan.write(one, one.variants[0]) for one in (plain, off)))

    def test_fixed(self):
        # A round trip of the cable, a full packet, two pause frames, and two packets.
        slow, fast = (travel + 1538 + 2 * 84 + 2 * 1514 for travel in (2500, 25000))
        self.assertEqual(links(build(xoff="50kb", xon="40kb")), [
            ["pfc=b", "pfc-resume=10240", f"pfc-headroom={slow}", "pfc-xoff=51200"],
            ["pfc=both", "pfc-resume=10240", f"pfc-headroom={fast}", "pfc-xoff=51200"],
            ["pfc=a", "pfc-resume=10240", f"pfc-headroom={slow}", "pfc-xoff=51200"]])

    def test_defaults(self):
        wanted = build()
        self.assertEqual((wanted.pfc.xoff_bytes, wanted.pfc.resume_bytes), (102400, 3028))
        held = sum(102400 + wanted.pfc.headroom(wanted.graph, port.cable)
                   for port in wanted.graph.ports["s1"])
        self.assertEqual(wanted.queue.limit_bytes, held)
        text = plan.write(wanted, wanted.variants[0])
        self.assertIn("qdisc h1 eth0 swport limit=268435456 control-limit=268435456 seed=1", text)

    def test_bursts_of_hosts(self):
        one, many = build(), build(tso=11)
        more = [many.pfc.headroom(many.graph, cable) - one.pfc.headroom(one.graph, cable)
                for cable in one.graph.cables]
        self.assertEqual(more, [10 * 1514, 0, 10 * 1514])

    def test_shared(self):
        wanted = build(alpha=0.5, buffer="1mb", headroom="100kb")
        self.assertEqual(wanted.pfc.shared, {"s1": 1048576 - 204800, "s2": 1048576 - 204800})
        self.assertEqual(links(wanted)[0], [
            "pfc=b", "pfc-resume=3028", "pfc-headroom=102400", "pfc-alpha=32768", "pfc-buffer=0",
            "peer-pfc-buffer=843776"])

    def test_priorities(self):
        wanted = build(flow=[dict(FLOW, dscp=dscp) for dscp in (15, 47, 48)])
        self.assertEqual(wanted.pfc.priorities, (0, 1, 5))

    def test_limit_is_told(self):
        said = [note for note in build(queue={"limit": "1mb"}).notes if "pfc" in note]
        self.assertEqual(len(said), 1)
        self.assertIn("queue.limit has no effect", said[0])

    def test_counters(self):
        wanted = build()
        names = [*pfc.COUNTERS, "held_bytes"]
        port = {f"pfc{i}_{name}": value for i in (0, 3) for value, name in enumerate(names)}
        ports = {"h1:eth0": dict(port, tx_packets=3), "s1:p1": port, "s1:p2": {"tx_packets": 1}}
        self.assertEqual(list(pfc.rows(ports)), [(label, i, *range(8)) for label in
                                                 ("h1:eth0", "s1:p1") for i in (0, 3)])
        self.assertEqual(pfc.numbers(wanted, ports), {
            "pauses": 0, "paused_ns": {"hosts": 8, "switches": 8}, "held_max_bytes": 5,
            "headroom_max_bytes": 6, "drops": 28})

    def test_bytes_that_never_left(self):
        wanted = build()
        flows = [helpers.flow_result(flow, flow.start_ns, 10**6) for flow in wanted.flows]
        good = {"data_backlog_max_bytes": 1, "control_backlog_max_bytes": 1, "pfc0_held_bytes": 0}
        ports = {f"{switch}:p{i}": dict(good) for switch in ("s1", "s2") for i in (1, 2)}
        self.assertEqual(results.physics(wanted, helpers.run_result(wanted, flows, ports=ports)), [])
        ports["s2:p1"]["pfc0_held_bytes"] = 66
        self.assertEqual(results.physics(wanted, helpers.run_result(wanted, flows, ports=ports)),
                         ["port s2:p1: 66 bytes of priority 0 came in and never left the switch"])
