# SPDX-License-Identifier: GPL-2.0
"""Qdiscs of the kernel as ports: tc's words as netlink attributes, refusals."""

import os
import tempfile
import unittest

from helpers import build, table
from quell_lab import incast, options, plan, port_qdisc, report, runner, scenario
from quell_lab.errors import InputError

GBIT = 10**9
# Of the same words and "bandwidth 10mbit", tc 6.1 sends Wlog 5, Plog 20 and Scell_log 15, by strace.
# The last is in ticks of 64 ns; the kernel reads it as microseconds, for which it is 11.
RED = "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn probability 0.1"


def port(text, rate_bits_ps=10 * GBIT):
    """A port as the plan has it."""
    return port_qdisc.build("qdisc", text).plan(rate_bits_ps)


class Words(unittest.TestCase):
    def test_attributes(self):
        for text, wanted in (
                ("fq_codel", "fq_codel"),
                ("fq_codel limit 400 target 50us interval 1ms noecn memory_limit 1mb",
                 "fq_codel 2:u32=400 1:u32=50 3:u32=1000 4:u32=0 9:u32=1048576"),
                ("codel ecn ce_threshold 1ms", "codel 4:u32=1 5:u32=1000"),
                ("pie target 20us bytemode", "pie 1:u32=20 7:u32=1"),
                ("fq maxrate 8mbit nopacing", "fq 7:u32=1000000 5:u32=0"),
                ("cake bandwidth 80gbit besteffort dual-srchost rtt 1ms",
                 "cake 2:u64=10000000000 3:u32=3 5:u32=5 7:u32=1000 8:u32=50"),
                ("dualpi2 any_ect step_thresh 20us coupling_factor 2 drop_enqueue alpha 0.16",
                 "dualpi2 14:u8=3 8:u32=20 10:u8=2 12:u8=1 5:u32=40")):
            self.assertEqual(port(text), wanted)

    def test_derived_of_dualpi2(self):
        # By q_dualpi2.c: alpha 0.1 * tupdate / max_rtt^2, beta 0.3 / max_rtt, in Hz
        self.assertEqual(port("dualpi2 max_rtt 600us"),
                         "dualpi2 3:u32=100 4:u32=100 5:u32=7111 6:u32=128000")
        self.assertEqual(port("dualpi2 typical_rtt 100us"), port("dualpi2 max_rtt 600us"))
        with self.assertRaisesRegex(InputError, "typical_rtt above max_rtt"):
            port("dualpi2 max_rtt 10us typical_rtt 20us")
        with self.assertRaisesRegex(InputError, "out of range"):
            port("dualpi2 max_rtt 1us")

    def test_red(self):
        kind, options, decay, probability = port(RED, 10**7).split()
        self.assertEqual((kind, probability), ("red", f"3:u32={6554 << 16}"))
        self.assertEqual(options, "1:hex=" + b"".join(
            value.to_bytes(4, "little") for value in (400000, 30000, 90000)).hex()
            + bytes([5, 20, 11, 1]).hex())
        table_of_decay = bytes.fromhex(decay.removeprefix("2:hex="))
        self.assertEqual((len(table_of_decay), table_of_decay[0], table_of_decay[-1]), (256, 0, 31))
        self.assertEqual(sorted(table_of_decay), list(table_of_decay))
        for text, wanted in (("red min 10kb", "red without limit and avpkt"),
                             ("red limit 500kb min 1kb max 61kb avpkt 1500", "min above avpkt"),
                             ("red limit 500kb min 60kb max 61kb burst 1048576 avpkt 1500",
                              "burst 1048576 is too large"),
                             ("red limit 10kb min 20kb avpkt 1kb", "min <= max <= limit"),
                             ("red limit 500kb min 60kb max 61kb burst 30 avpkt 1500", "too small"),
                             ("red limit 500mb min 100kb max 400mb burst 900 avpkt 1500",
                              "too large")):
            with self.assertRaisesRegex(InputError, wanted):
                port(text)

    def test_wrong(self):
        for text, wanted in (
                ("fqcodel", "no qdisc 'fqcodel', did you mean 'fq_codel'"),
                ("fq_codel lmit 10", "fq_codel has no 'lmit', did you mean 'limit'"),
                ("fq_codel limit", "limit without a value"), ("codel limit 1k", "not a whole number"),
                ("codel target 1500ns", "not whole microseconds"),
                ("swport limit 1", "no qdisc 'swport'"),
                ("codel limit 5 limit 7", "codel limit is given twice"),
                ("red limit 9mb avpkt 1kb ecn ecn", "ecn is given twice"),
                ("pie ecn limit 5 noecn", "pie: noecn contradicts ecn"),
                ("cake bandwidth 1gbit unlimited", "unlimited contradicts bandwidth"),
                ("dualpi2 l4s_ect any_ect", "any_ect contradicts l4s_ect"),
                ("dualpi2 target 1ms max_rtt 1ms", "target contradicts max_rtt")):
            with self.assertRaisesRegex(InputError, wanted):
                port(text)
        self.assertIsNone(port_qdisc.build("qdisc", "swport"))
        self.assertIsNone(port_qdisc.build("qdisc", None))


    def test_values_that_the_kernel_would_not_take(self):
        for text in ("fq maxrate 34.36gbit", "fq maxrate 1bit", "fq limit 0", "fq flow_limit 0",
                     "fq quantum 1048577", "fq quantum 255b", "fq initial_quantum 2gb",
                     "fq_codel flows 0", "fq_codel flows 65537", "fq_codel limit 0",
                     "fq_codel memory_limit 0", "fq_codel memory_limit 3gb", "fq_codel quantum 9b",
                     "fq_codel drop_batch 0", "codel limit 0", "pie limit 0", "pie tupdate 0us",
                     "cake memlimit 0", "cake rtt 0us", "dualpi2 limit 0", "dualpi2 memlimit 0",
                     "dualpi2 tupdate 0us", "dualpi2 alpha 0.001", "dualpi2 beta 0",
                     "dualpi2 max_rtt 0us", "dualpi2 coupling_factor 0"):
            with self.subTest(text), self.assertRaisesRegex(InputError, "out of range: "):
                port(text)
        self.assertEqual(port("fq maxrate 34.3597gbit"), "fq 7:u32=4294962500")
        self.assertEqual(port("fq_codel flows 65536 drop_batch 1"), "fq_codel 5:u32=65536 8:u32=1")


class Scenarios(unittest.TestCase):
    def test_ports_and_hosts(self):
        wanted = build(queue={"qdisc": "codel limit 9"}, **{"tcp-ecn": 1}, algorithm=[
            {"name": "cubic"}, {"name": "reno", "qdisc": "swport", "tcp-ecn": 2}])
        first, second = (plan.write(wanted, variant) for variant in wanted.variants)
        for part in ("module sch_codel.ko\n", "qdisc s1 p3 codel 2:u32=9\n",
                     "sysctl h1 net.ipv4.tcp_ecn 1\n", "qdisc h1 eth0 pfifo limit=100000\n"):
            self.assertIn(part, first)
        self.assertIn("qdisc s1 p3 swport limit=512000", second)
        self.assertIn("sysctl h1 net.ipv4.tcp_ecn 2\n", second)
        self.assertNotIn("sch_codel", second)
        self.assertEqual([variant.label for variant in wanted.variants],
                         ["cubic", "reno:qdisc=swport:tcp-ecn=2"])
        self.assertNotIn("tcp_ecn", plan.write(build(), build().variants[0]))

    def test_sysctls(self):
        name = "net.ipv4.tcp_wmem"
        text = plan.write(*(lambda one: (one, one.variants[0]))(build(sysctl={
            name: "1 2 3", "net.core.somaxconn": 9})))
        self.assertIn("sysctl h3 net.core.somaxconn 9\n", text)
        # After the lab's, which it replaces.
        self.assertEqual(text[text.rindex(f"sysctl h1 {name}"):].splitlines()[0],
                         f"sysctl h1 {name} 1 2 3")
        self.assertNotIn("sysctl s1 net.core", text)
        for table, wanted in (({"tcp_wmem": 1}, 'sysctl."tcp_wmem": not a name'),
                              ({"net.ipv4": {"x": 1}}, "is not a whole number, or words"),
                              ({name: "1\n2"}, "is not a whole number, or words"),
                              ({name: True}, "is not a whole number, or words"),
                              ({name: 1.0}, "is not a whole number, or words"),
                              ({name: float("inf")}, "is not a whole number, or words"),
                              ({name: 2**64}, "out of range: 64 bits"),
                              ({"net.ipv4.tcp_congestion_control": "bbr"}, "by the algorithm")):
            with self.assertRaisesRegex(InputError, wanted):
                build(sysctl=table)
        for more in ({"tcp-ecn": 1}, {"algorithm": [{"name": "reno", "tcp-ecn": 2}]}):
            with self.assertRaisesRegex(InputError, "tcp_ecn\": not with tcp-ecn"):
                build(sysctl={"net.ipv4.tcp_ecn": 1}, **more)
        self.assertEqual(build(sysctl={"net.ipv4.tcp_ecn": -1}).sysctls,
                         (("net.ipv4.tcp_ecn", "-1"),))

    def test_refused(self):
        for changes, wanted in (
                ({"queue": {"qdisc": "fq", "ecn": "10kb"}}, "queue.ecn: has no effect: each run"),
                ({"queue": {"qdisc": "fq", "limit": "10kb"}}, "queue.limit: has no effect"),
                ({"queue": {"qdisc": "fq"}, "pfc": {}}, "not with pfc"),
                ({"queue": {"qdisc": "fq", "rcp": "10us"}, "algorithm": [{"name": "rcp"}]},
                 "has ports of its own"),
                ({"algorithm": [{"name": "cubic", "qdisc": "fg"}]}, r"algorithm\[0\].qdisc: no"),
                ({"algorithm": [{"name": "cubic", "qdisc": f"fq limit {n}"} for n in (1, 2)]},
                 'is given twice: labels must differ; label = "NAME" sets one'),
                ({"tcp-ecn": 6}, "out of range: 0 to 5")):
            with self.assertRaisesRegex(InputError, wanted):
                build(**changes)

    def test_rows_of_the_report(self):
        def rows(qdisc, **more):
            return dict(report.network(build(queue={"qdisc": qdisc, **more}, algorithm=[
                {"name": "cubic"}, {"name": "reno"}] + [
                    {"name": "dctcp", "qdisc": "swport"}] * bool(more))))
        self.assertEqual(rows("fq_codel limit 30")["Switch ports"], "fq_codel limit 30")
        self.assertNotIn("ECN", rows("fq_codel limit 30"))
        found = rows("fq_codel limit 30", ecn="10kb")
        self.assertEqual(found["Switch ports"], "fq_codel limit 30 (cubic, reno); swport, 512,000 "
                         "bytes of data, 65,536 of control packets (dctcp:qdisc=swport)")
        self.assertEqual(found["ECN of swport"], "every packet at dequeue above 10,240 bytes")

    def test_hosts_that_mark(self):
        queue = {"qdisc": "codel", "host-ecn": "10kb", "ecn-mode": "enqueue"}
        wanted = build(queue=queue)
        text = plan.write(wanted, wanted.variants[0])
        self.assertRegex(text, "qdisc h1 eth0 swport .* ecn-mode=2 ecn-min=10240")
        self.assertIn("qdisc s1 p1 codel\n", text)

    def test_command_line(self):
        def wanted(*words):
            return scenario.build(*incast.incast_table(options.make_parser().parse_args(
                ["incast", "--senders", "2", "--bytes", "1kb", "--rate", "1gbit", "--delay", "1us",
                 "--out", "x", *words])))
        self.assertEqual(wanted("--cc", "cubic", "--qdisc", "fq").variants[0].qdisc.kind, "fq")
        self.assertTrue(wanted("--cc", "expresspass").variants[0].is_express)
        for option in (("--limit", "1mb"), ("--ecn-probability", "0.5"), ("--ecn-mode", "enqueue")):
            with self.assertRaisesRegex(InputError, f"{option[0]}: has no effect: each run is over "
                                        "fq"):
                wanted("--cc", "cubic", "--qdisc", "fq", *option)

    def test_kernel_lacks_it(self):
        with tempfile.TemporaryDirectory() as scratch:
            linux = os.path.join(scratch, "linux")
            for name in ("linux", "quell_labnic.ko", "quell_labflow.ko", "sch_swport.ko"):
                with open(os.path.join(scratch, name), "w", encoding="ascii") as file:
                    file.write("Linux version 6.12.1 (lab)")
            kernel = runner.Kernel("normal", linux, scratch, "")
            for changes, wanted in (
                    ({"queue": {"qdisc": "dualpi2"}}, "--kernel 6.12: Linux 6.12.1 has no dualpi2"),
                    ({"tcp-ecn": 3}, "--kernel 6.12: Linux 6.12.1 has no Accurate ECN")):
                with self.assertRaisesRegex(InputError, wanted):
                    runner.check_modules(kernel, build(**changes))
            runner.check_modules(kernel, scenario.build(table(**{"tcp-ecn": 2})))
            with open(linux, "ab") as file:
                file.write(runner.ACCURATE_ECN)
            runner.check_modules(kernel, build(**{"tcp-ecn": 3}))


if __name__ == "__main__":
    unittest.main()
