# SPDX-License-Identifier: GPL-2.0
"""The plan, word for word, for a small network."""

import glob
import os
import unittest
import unittest.mock
from dataclasses import replace

from quell_lab import files, plan, programs, report, runner, scenario, summary
from quell_lab.errors import InputError
from quell_lab.schema import Places

import helpers

SCENARIOS = os.path.join(runner.HERE, "scenarios")

GOLDEN = """\
quell-plan 1
module quell_labnic.ko
module quell_labflow.ko
module sch_swport.ko
module quell.ko
module tcp_swift.ko
cc-allowed reno swift
node h1
node h2
node s1
link h1 eth0 s1 p1 rate=100000000000 delay=1000 mtu=9000
link h2 eth0 s1 p2 rate=100000000000 delay=1000 mtu=9000
addr h1 eth0 10.0.0.1/32
addr h2 eth0 10.0.0.2/32
addr s1 p1 10.255.0.1/32
route h1 0.0.0.0/0 via 169.254.0.1 dev eth0
route h2 0.0.0.0/0 via 169.254.0.1 dev eth0
route s1 10.0.0.1/32 via 169.254.0.1 dev p1
route s1 10.0.0.2/32 via 169.254.0.1 dev p2
sysctl h1 net.ipv4.tcp_congestion_control swift
sysctl h1 net.ipv4.tcp_rmem 4096 16777216 67108864
sysctl h1 net.ipv4.tcp_wmem 4096 16777216 67108864
sysctl h1 net.ipv4.tcp_no_metrics_save 1
sysctl h2 net.ipv4.tcp_congestion_control swift
sysctl h2 net.ipv4.tcp_rmem 4096 16777216 67108864
sysctl h2 net.ipv4.tcp_wmem 4096 16777216 67108864
sysctl h2 net.ipv4.tcp_no_metrics_save 1
sysctl s1 net.ipv4.ip_forward 1
qdisc h1 eth0 pfifo limit=100000
qdisc h2 eth0 pfifo limit=100000
qdisc s1 p1 swport limit=204800 control-limit=65536 ecn-mode=1 ecn-min=51200 ecn-max=102400 \
ecn-prob=32768 seed=458760
qdisc s1 p2 swport limit=204800 control-limit=65536 ecn-mode=1 ecn-min=51200 ecn-max=102400 \
ecn-prob=32768 seed=458761
param h1 quell acks-per-rtt 0
param h2 quell acks-per-rtt 0
param h1 quell burst 0
param h2 quell burst 0
param h1 swift adapt 0
param h1 swift base-target 5000
param h1 swift hop-scale 2000
param h1 swift fs-max 3276800
param h1 swift ai 125000000
param h1 swift beta 26214
param h1 swift max-mdf 32768
param h2 swift adapt 0
param h2 swift base-target 5000
param h2 swift hop-scale 2000
param h2 swift fs-max 3276800
param h2 swift ai 125000000
param h2 swift beta 26214
param h2 swift max-mdf 32768
flow 1 h1 h2 10.0.0.2 5001 1000000 5000 cold
watch s1 p2
sample queue=1000 flow=2000 delivered=10000
until 1000000
run
"""


def lines_of(wanted, begin):
    """The lines of a scenario's plan that begin so."""
    return [line for line in plan.write(wanted, wanted.variants[0]).splitlines()
            if line.startswith(begin)]


class Plan(unittest.TestCase):
    def test_golden(self):
        wanted = scenario.build({
            "seed": 7,
            "until": "1ms",
            "topology": {"kind": "star", "hosts": 2, "rate": "100gbit", "delay": "1us",
                         "mtu": 9000},
            "queue": {"limit": "200kb", "ecn": "50kb:100kb", "ecn-probability": 0.5},
            "algorithm": [{"name": "swift", "set": {"ai": "1gbit", "beta": "0.4"}}],
            "flow": [{"src": "h1", "dst": "h2", "bytes": 1000000, "start": "5us", "cold": True}],
            "record": {"cwnd": "2us"},
        })
        self.assertEqual(plan.write(wanted, wanted.variants[0]), GOLDEN)

    def test_out_of_the_box_data_asks_as_on_a_host(self):
        wanted = scenario.build({
            "seed": 7, "until": "1ms",
            "topology": {"kind": "star", "hosts": 2, "rate": "100gbit", "delay": "1us"},
            "algorithm": [{"name": "swift", "set": {"adapt": "on"}},
                          {"name": "swift", "label": "seven", "acks-per-rtt": 7}],
            "flow": [{"src": "h1", "dst": "h2", "bytes": 1000}],
        })
        lines = [plan.write(wanted, variant) for variant in wanted.variants]
        self.assertIn("param h1 quell acks-per-rtt 4\n", lines[0])
        self.assertNotIn("quell burst", lines[0])
        self.assertIn("param h1 quell acks-per-rtt 7\n", lines[1])

    def test_without_ecn_nothing_is_said_of_it(self):
        wanted = helpers.build()
        self.assertNotIn("ecn", plan.write(wanted, wanted.variants[0]))

    def test_marks_at_enqueue(self):
        wanted = helpers.build(queue={"ecn": 51200, "ecn-mode": "enqueue"})
        self.assertIn(" ecn-mode=2 ecn-min=51200 ", plan.write(wanted, wanted.variants[0]))

    def test_ports_share_a_buffer(self):
        wanted = helpers.build(queue={"buffer": "300kb", "alpha": 0.5})
        self.assertIn(" buffer=307200 alpha=32768 ", plan.write(wanted, wanted.variants[0]))

    def test_telemetry_is_of_switch_ports_and_counts_the_whole_wire(self):
        wanted = helpers.build(queue={"telemetry": "4.16us"})
        lines = lines_of(wanted, "qdisc ")
        self.assertEqual([" telemetry=4160 overhead=24 " in line for line in lines],
                         [" swport " in line for line in lines])
        wanted = helpers.build()
        text = plan.write(wanted, wanted.variants[0])
        self.assertNotIn("telemetry", text)
        self.assertNotIn("overhead", text)

    def test_writers_that_keep_their_queue_short(self):
        writer = {"bytes": 3000, "queued": "4kb", "wake": "20us"}
        wanted = helpers.build(flow=[{"src": "h1", "dst": "h3", **writer}],
                               flows=[{"src": "h2", "dst": "h3", "repeat": 2, "every": "1ms",
                                       **writer}])
        ends = [line.split("warm")[1] for line in plan.write(wanted, wanted.variants[0]).split("\n")
                if line.startswith("flow ")]
        self.assertEqual(ends, [" queued=4096 wake=20000"] * 3)
        for tables, words in (
                ([{"src": "h1", "dst": "h3", "bytes": 1, "wake": "20us"}],
                 r"flow\[0\].wake: only with queued"),
                ([{"src": "h1", "dst": "h3", **writer},
                  {"src": "h1", "dst": "h3", "bytes": 1, "on": 1}], "queued_bytes is 0, and 4096")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                helpers.build(flow=tables)

    def test_trimming_is_of_switch_ports(self):
        wanted = helpers.build(queue={"trim": "128b"})
        lines = lines_of(wanted, "qdisc ")
        self.assertEqual([" trim=128 trim-eligible=18446744073709551615 trim-to-sender=0 " in line for line in lines],
                         [" swport " in line for line in lines])
        wanted = helpers.build()
        self.assertNotIn("trim", plan.write(wanted, wanted.variants[0]))

    def deflection(self, **queue):
        """What follows " deflect=" per port, and the plan."""
        wanted = helpers.build(
            topology={"kind": "graph", "hosts": "h[1-3]", "switches": ["l1", "l2", "s1", "s2"],
                      "cables": [{"a": "h[1-2]", "b": "l1", "rate": "1gbit", "delay": "1us"},
                                 {"a": "h3", "b": "l2", "rate": "1gbit", "delay": "1us"},
                                 {"a": "l[1-2]", "b": "s[1-2]", "rate": "1gbit", "delay": "1us"}]},
            queue={"limit": "100000", "ecn": "30000", "deflect": "15000", "deflect-idle": "1ms",
                   "deflect-base": 8, "deflect-tokens": 2, "deflect-entries": 1, **queue})
        text = plan.write(wanted, wanted.variants[0])
        found = {}
        for line in text.splitlines():
            words = line.split()
            if words[0] == "qdisc":
                found[f"{words[1]}:{words[2]}"] = line.partition(" deflect=")[2]
        return found, text

    def test_deflection_is_of_ports_between_switches(self):
        found, text = self.deflection()
        options = ("15000 deflect-entries=1 deflect-base=8 deflect-tokens=2 deflect-idle=1000000 "
                   "deflect-release=0 deflect-choice=0 deflect-via=169.254.0.1@")
        ways = {"l1:p3": "p4", "l1:p4": "p3", "l2:p2": "p3", "l2:p3": "p2",
                "s1:p1": "p2", "s1:p2": "p1", "s2:p1": "p2", "s2:p2": "p1"}
        self.assertEqual(found, {label: options + ways[label] if label in ways else ""
                                 for label in found})
        self.assertEqual(sum(label in ways for label in found), len(ways))
        self.assertIn("sysctl s2 net.ipv4.conf.p2.send_redirects 0\n", text)

    def test_deflection_of_ports_that_lead_up(self):
        found, _ = self.deflection(**{"deflect-ways": "up", "deflect-release": "end",
                                      "deflect-choice": "shorter"})
        self.assertEqual({label for label, options in found.items() if options},
                         {"l1:p3", "l1:p4", "l2:p2", "l2:p3"})
        self.assertIn("deflect-release=1 deflect-choice=1 ", found["l1:p3"])

    def test_break_even_follows_rate_and_delay(self):
        # A packet of 1500 bytes takes 1538 of wire: there and back by 40 Gbit/s and 1 us are
        # 2615.2 ns, by 4 Gbit/s and 5 us 16152.
        wanted = helpers.build(
            topology={"kind": "graph", "hosts": "h[1-3]", "switches": ["l1", "l2", "s1", "s2"],
                      "cables": [{"a": "h[1-2]", "b": "l1", "rate": "10gbit", "delay": "1us"},
                                 {"a": "h3", "b": "l2", "rate": "10gbit", "delay": "1us"},
                                 {"a": "l1", "b": "s1", "rate": "40gbit", "delay": "1us"},
                                 {"a": "l1", "b": "s2", "rate": "4gbit", "delay": "5us"},
                                 {"a": "l2", "b": "s[1-2]", "rate": "40gbit", "delay": "1us"}]},
            queue={"limit": "200000", "ecn": "100000", "deflect": "break-even",
                   "deflect-idle": "1ms"})
        found = {}
        for line in plan.write(wanted, wanted.variants[0]).splitlines():
            if " deflect=" in line:
                words = line.split()
                found[f"{words[1]}:{words[2]}"] = line.partition(" deflect=")[2].split()[0]
        self.assertEqual(found, {
            "l1:p3": "80760",		# 40 Gbit/s, round by the slow cable
            "l1:p4": "1307",		# 4 Gbit/s, round by the fast one
            "l2:p2": "13076", "l2:p3": "13076", "s1:p1": "13076", "s1:p2": "13076",
            "s2:p1": "1307", "s2:p2": "80760"})

    def test_hosts_mark_if_told_to_and_never_drop(self):
        wanted = helpers.build(queue={"limit": "200kb", "host-ecn": "20kb"})
        lines = lines_of(wanted, "qdisc h1 ")
        self.assertEqual(lines, ["qdisc h1 eth0 swport limit=268435456 control-limit=268435456 "
                                 "ecn-mode=1 ecn-min=20480 ecn-max=20480 ecn-prob=65536 seed=1"])

    def test_swift_over_many_paths_is_the_laboratory_s(self):
        wanted = helpers.build(family=6, option=True, algorithm=[
            {"name": "swift", "label": name, "entropies": number}
            for name, number in (("one", 0), ("many", 64))])
        self.assertEqual([variant.modules[-1] for variant in wanted.variants],
                         ["tcp_swift.ko", "quell_labswift.ko"])

    def test_keys_of_paths_that_would_do_nothing(self):
        many = {"name": "smartt", "entropies": 64}
        for one, option, words in (
                ({"name": "dctcp", "entropies": 64}, True, "dctcp has no entropies: only smartt"),
                (many, False, "entropies need option = true"),
                ({"name": "smartt", "recycle": False}, True, "recycle has no effect without"),
                ({**many, "variant": "plb"}, True, "plb changes a flow's hash: not with entropies"),
                ({"name": "smartt", "variant": "plb", "rehash": False}, True, "nor without rehash")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                helpers.build(family=6, option=option, algorithm=[one])

    def test_variants_of_smartt(self):
        wanted = helpers.build(algorithm=[
            {"name": "smartt", "label": name, "variant": name}
            for name in ("marks", "delay", "decrease", "plb", "mprdma")])
        for number, variant in enumerate(wanted.variants, 1):
            lines = plan.write(wanted, variant).splitlines()
            self.assertEqual([line for line in lines if line.startswith("module ")][-2:],
                             ["module quell.ko", f"module quell_labsmartt.ko variant={number}"])
        self.assertEqual([one.label for one in helpers.build(algorithm=[
            {"name": "smartt"}, {"name": "smartt", "variant": "marks", "preset": "nscc",
                                 "set": {"qa": "0"}}]).variants],
                         ["smartt", "smartt:variant=marks:preset=nscc:qa=0"])
        self.assertEqual([text.partition(":")[2].partition(",")[0]
                          for _, text in report.algorithms(wanted)],
                         [" variant marks", " variant delay", " variant decrease", " variant plb",
                          " variant mprdma"])
        self.assertEqual(summary.summarise(wanted, helpers.run_result(wanted, []))["variant"],
                         "marks")
        with self.assertRaisesRegex(InputError, "swift has no variant 'marks': smartt has"):
            helpers.build(algorithm=[{"name": "swift", "variant": "marks"}])

    def test_switches_that_serve_in_order(self):
        wanted = helpers.build(queue={"limit": "200kb", "fifo": "s1"})
        lines = plan.write(wanted, wanted.variants[0]).splitlines()
        self.assertEqual([line for line in lines if line.startswith("qdisc s1")],
                         [f"qdisc s1 p{port} bfifo limit=204800" for port in (1, 2, 3)])
        self.assertEqual(sum(line.startswith("qdisc h") and "pfifo" in line for line in lines), 3)

    def test_a_sender_may_have_another_congestion_control(self):
        flow = {"src": "h1", "dst": "h3", "bytes": 3000, "cc": "dctcp"}
        wanted = helpers.build(flow=[flow, {**flow, "src": "h2", "cc": "cubic"}],
                               algorithm=[{"name": "dart"}])
        text = plan.write(wanted, wanted.variants[0])
        self.assertIn("\ncc-allowed reno dart dctcp cubic\n", text)
        self.assertEqual([line.split()[-1] for line in text.splitlines()
                          if " net.ipv4.tcp_congestion_control " in line],
                         ["dctcp", "cubic", "dart"])
        with self.assertRaisesRegex(InputError, "flows 1 and 2 of h1 differ in cc"):
            helpers.build(flow=[flow, {**flow, "cc": "cubic"}])
        with self.assertRaisesRegex(InputError, "'swift': one of dctcp, cubic, bbr, reno"):
            helpers.build(flow=[{**flow, "cc": "swift"}])

    def test_dscp_is_of_a_flow(self):
        wanted = helpers.build(flow=[
            {"src": "h1", "dst": "h3", "bytes": 3000, "dscp": 4, "stop": "1s", "start": "1ms"},
            {"src": "h2", "dst": "h3", "bytes": 3000}],
            check={"allow-unfinished": True}, until="2s")
        lines = lines_of(wanted, "flow ")
        self.assertEqual([line.partition("warm")[2] for line in lines],
                         [" stop=1000000000 dscp=4", ""])

    def test_option_is_offered_by_hosts_with_quell_alone(self):
        for name, option, lines in (("swift", True, 3), ("swift", False, 0), ("cubic", True, 0)):
            wanted = helpers.build(option=option, algorithm=[{"name": name}])
            text = plan.write(wanted, wanted.variants[0])
            self.assertEqual(text.count(" quell option 1\n"), lines, (name, option))

    def test_ipv6_with_several_paths(self):
        wanted = scenario.build({
            "seed": 7, "family": 6, "multipath": True, "option": True,
            "topology": {"kind": "graph", "hosts": ["h1", "h2"],
                         "switches": ["l1", "l2", "t1", "t2"],
                         "cables": [{"a": "h1", "b": "l1", "rate": "10gbit", "delay": "1us"},
                                    {"a": "h2", "b": "l2", "rate": "10gbit", "delay": "1us"},
                                    {"a": ["l1", "l2"], "b": "t1", "rate": "4gbit",
                                     "delay": "1us"},
                                    {"a": ["l1", "l2"], "b": "t2", "rate": "3gbit",
                                     "delay": "2us"}]},
            "algorithm": [{"name": "smartt", "entropies": 64},
                          {"name": "smartt", "label": "one", "rehash": False}],
            "flow": [{"src": "h1", "dst": "h2", "bytes": 1000000}],
        })
        text = plan.write(wanted, wanted.variants[0])
        for line in ("addr h1 eth0 fd00::1/128", "route h1 ::/0 via fe80::1 dev eth0",
                     "route l1 fd00::1/128 via fe80::1 dev p1",
                     "route l1 fd00::2/128 via fe80::1 dev p2 via fe80::1 dev p3",
                     "sysctl t1 net.ipv6.conf.all.forwarding 1",
                     "sysctl l1 net.ipv6.fib_multipath_hash_policy 3",
                     "sysctl l1 net.ipv6.fib_multipath_hash_fields 63",
                     "sysctl l2 net.ipv4.fib_multipath_hash_seed 458761",
                     "param h2 quell entropies 64"):
            self.assertIn(line + "\n", text)
        self.assertIn("flow 1 h1 h2 fd00::2 ", text)
        self.assertNotIn("txrehash", text)
        text = plan.write(wanted, wanted.variants[1])
        self.assertIn("param h2 quell entropies 0\n", text)
        self.assertIn("sysctl h1 net.core.txrehash 0\n", text)
        # Slower than the hosts' cables: what both trunks carry, over the shorter.
        self.assertEqual([(link.rate_bits_ps, link.delay_ns)
                          for link in wanted.links(wanted.flows[0])],
                         [(10**10, 1000), (7 * 10**9, 1000), (7 * 10**9, 1000), (10**10, 1000)])
        self.assertEqual([port.label for port in wanted.watched_ports()],
                         ["l1:p2", "l1:p3", "l2:p1", "t1:p2", "t2:p2"])

    def test_tso_is_said_of_every_cable_when_allowed(self):
        for tso, words in ((1, 0), (44, 3)):
            wanted = helpers.build(tso=tso)
            self.assertEqual(plan.write(wanted, wanted.variants[0]).count(f" tso={tso}"), words)

    def test_noise_is_of_the_hosts_asked_for_and_fixed_by_the_seed(self):
        def links(**changes):
            wanted = helpers.build(**changes)
            return [line.partition(" mtu=1500")[2]
                    for line in plan.write(wanted, wanted.variants[0]).splitlines()
                    if line.startswith("link ")]

        self.assertEqual(links(), ["", "", ""])
        self.assertEqual(links(noise={"max": 0}), ["", "", ""])
        self.assertEqual(links(noise={"max": "50us"}, seed=1),
                         [f" noise=50000 noise-seed={65538 + number}" for number in range(3)])
        self.assertEqual([bool(words) for words in links(noise={"max": 50, "at": "senders"})],
                         [True, True, False])
        self.assertEqual([bool(words) for words in links(noise={"max": 50, "at": "receivers"})],
                         [False, False, True])
        self.assertNotEqual(links(noise={"max": 50}, seed=1), links(noise={"max": 50}, seed=2))

    def test_noise_of_a_cable_from_a_switch_is_its_far_end(self):
        wanted = helpers.build(
            topology={"kind": "graph", "hosts": ["a", "b"], "switches": ["s"],
                      "cables": [{"a": "s", "b": host, "rate": "1gbit", "delay": "1us"}
                                 for host in ("a", "b")]},
            flow=[{"src": "a", "dst": "b", "bytes": 1}], noise={"max": "1us"}, seed=0)
        lines = lines_of(wanted, "link ")
        self.assertTrue(lines[0].endswith(" peer-noise=1000 noise-seed=1"), lines[0])
        self.assertTrue(lines[1].endswith(" peer-noise=1000 noise-seed=2"), lines[1])

    def test_cards_stamp_by_clocks_of_their_own(self):
        wanted = helpers.build(algorithm=[{"name": "timely", "hwstamp": True},
                                          {"name": "timely", "label": "stack"}],
                               record={"truth": True})
        card = plan.write(wanted, wanted.variants[0]).splitlines()
        clocks = {line.partition(" phc-offset=")[2] for line in card if line.startswith("link ")}
        self.assertEqual(len(clocks), 3)
        self.assertNotIn("", clocks)
        self.assertEqual(sum(line.startswith("stamps h") for line in card), 3)
        self.assertIn("truth", card)
        stack = plan.write(wanted, wanted.variants[1])
        self.assertNotIn("stamps", stack)
        self.assertNotIn("phc", stack)
        self.assertIn("\ntruth\n", stack)
        self.assertNotIn("truth", plan.write(helpers.build(), wanted.variants[0]))

    def test_tcp_int_is_of_ports_and_of_hosts_that_are_told(self):
        wanted = helpers.build(queue={"tcp-int": "8us"},
                               algorithm=[{"name": "hpcc", "tcp-int": 2}, {"name": "swift"}])
        text = plan.write(wanted, wanted.variants[0])
        self.assertEqual(text.count(" quell tcp-int 2\n"), 3)
        self.assertEqual([" tcp-int=8000 " in line for line in text.splitlines()
                          if " swport " in line], [True] * 3)
        self.assertNotIn("quell tcp-int", plan.write(wanted, wanted.variants[1]))
        wanted = helpers.build()
        self.assertNotIn("tcp-int", plan.write(wanted, wanted.variants[0]))

    def test_tail_floor_is_a_parameter_of_the_hosts_of_its_run(self):
        wanted = helpers.build(algorithm=[{"name": "swift", "tail-floor": "84us"},
                                          {"name": "hpcc"}])
        text = plan.write(wanted, wanted.variants[0])
        self.assertEqual(text.count(" quell tail-floor 84000\n"), 3)
        self.assertNotIn("tail-floor", plan.write(wanted, wanted.variants[1]))
        with self.assertRaisesRegex(InputError, "tail-floor: '2s' is out of range"):
            helpers.build(algorithm=[{"name": "swift", "tail-floor": "2s"}])

    def test_lookahead_groups_are_of_runs_that_have_them(self):
        wanted = helpers.build(
            lookahead=[{"receiver": "h3", "members": "h[1-2]", "time": "500us"},
                       {"receiver": "h2", "members": ["h1"]}],
            algorithm=[{"name": "dart", "label": "ahead", "lookahead": True}, {"name": "dart"}])
        lines = plan.write(wanted, wanted.variants[0]).splitlines()
        groups = [number for number, line in enumerate(lines) if line.startswith("lookahead ")]
        self.assertEqual([lines[number] for number in groups],
                         ["lookahead h3 eth0 g1 500000 10.0.0.1 10.0.0.2",
                          "lookahead h2 eth0 g2 0 10.0.0.1"])
        # The parameter that bounds their time is set before, flows begin after.
        self.assertEqual({line.split()[0] for line in lines[groups[-1] + 1:]},
                         {"flow", "watch", "sample", "until", "run"})
        self.assertNotIn("\nlookahead ", plan.write(wanted, wanted.variants[1]))

    def test_stop_is_said_of_the_flows_that_have_one(self):
        wanted = helpers.build(
            flow=[{"src": "h1", "dst": "h3", "bytes": 3000, "stop": "7us"}],
            flows=[{"src": "h2", "dst": "h3", "bytes": 3000, "connections": 2}],
            until="1ms", check={"allow-unfinished": True})
        lines = lines_of(wanted, "flow ")
        self.assertEqual([line.rpartition(" ")[2] for line in lines],
                         ["stop=7000", "warm", "warm"])

    def test_port_seeds_are_never_zero_and_differ(self):
        for seed in (0, 1, 65535, 2**32 - 1):
            wanted = helpers.build(seed=seed)
            seeds = [plan.port_seed(wanted, number) for number in range(1, 200)]
            self.assertEqual(len(set(seeds)), 199)
            self.assertTrue(all(0 < value < 2**32 for value in seeds))


class Incast(unittest.TestCase):
    @staticmethod
    def starts(seed, **changes):
        incast = {"senders": 6, "bytes": 1000, "stagger": "2:20us"}
        incast.update(changes)
        incast = {key: value for key, value in incast.items() if value is not None}
        wanted = helpers.build(flow=None, incast=incast, seed=seed,
                               topology=dict(helpers.STAR, hosts=7))
        return [flow.start_ns for flow in wanted.flows]

    def test_stagger(self):
        self.assertEqual(self.starts(1, jitter=0), [0, 0, 20000, 20000, 40000, 40000])
        self.assertEqual(self.starts(1, jitter=0, stagger=None), [0] * 6)

    def test_jitter_is_at_most_a_packet_time_and_fixed_by_the_seed(self):
        plain = self.starts(1, jitter=0)
        first, again, other = self.starts(1), self.starts(1), self.starts(2)
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertTrue(all(0 <= late - start <= 124 for late, start in zip(first, plain)))
        self.assertNotEqual(first, plain)

    def test_last_host_receives_unless_named(self):
        wanted = helpers.build(flow=None, incast={"senders": 2, "bytes": 1})
        self.assertEqual([(flow.src, flow.dst) for flow in wanted.flows],
                         [("h1", "h3"), ("h2", "h3")])
        wanted = helpers.build(flow=None, incast={"senders": 2, "bytes": 1, "receiver": "h1"})
        self.assertEqual([(flow.src, flow.dst) for flow in wanted.flows],
                         [("h2", "h1"), ("h3", "h1")])


class Rounds(unittest.TestCase):
    @staticmethod
    def flows(**changes):
        group = dict({"src": "h[1-2]", "dst": "h3", "bytes": 1000, "repeat": 3, "every": "100us",
                      "start": "5us", "stagger": "1us"}, **changes)
        return helpers.build(flow=None, flows=[group], until="1ms",
                             check={"allow-unfinished": True}).flows

    def test_each_round_is_the_whole_group_later(self):
        flows = self.flows(stop="50us")
        self.assertEqual([flow.number for flow in flows], [1, 2, 3, 4, 5, 6])
        self.assertEqual([flow.src for flow in flows], ["h1", "h2"] * 3)
        self.assertEqual([flow.start_ns for flow in flows],
                         [5000, 6000, 105000, 106000, 205000, 206000])
        self.assertEqual([flow.stop_ns for flow in flows],
                         [50000, 50000, 150000, 150000, 250000, 250000])

    def test_each_flow_draws_its_own_jitter(self):
        late = [flow.start_ns - index // 2 * 100000 for index, flow in
                enumerate(self.flows(stagger="0", jitter="50us"))]
        self.assertEqual(len(set(late)), 6)
        self.assertTrue(all(5000 <= start_ns <= 55000 for start_ns in late))


def program_of_core(_where, name, _directory, _ops=None):
    """What "make ebpf" would have left in a file; lab/bpf reads those that it did."""
    core = os.path.basename(name).removesuffix(".bpf.o")
    return programs.Program(name, f"bpf_{core}", core, core, False, {})


class Readymade(unittest.TestCase):
    @unittest.mock.patch.object(programs, "find", program_of_core)
    def test_every_scenario_is_valid(self):
        paths = set(glob.glob(os.path.join(SCENARIOS, "**", "*.scenario"), recursive=True))
        # This machine need not have the programs of these; lab/exec sees to it.
        paths -= set(glob.glob(os.path.join(SCENARIOS, "programs", "*.scenario")))
        self.assertGreaterEqual(len(paths), 4)
        for path in paths:
            with self.subTest(os.path.basename(path)):
                wanted = scenario.build(files.load(path), Places(path))
                for variant in wanted.variants:
                    self.assertTrue(plan.write(wanted, variant).endswith("run\n"))

    def test_flows_that_share_a_senders_port_differ_in_the_receivers(self):
        wanted = helpers.build()
        flows = tuple(replace(wanted.flows[0], number=number)
                      for number in (1, 49000, 49001, 98001))
        text = plan.write(replace(wanted, flows=flows), wanted.variants[0])
        ports = [line.split()[5] for line in text.splitlines() if line.startswith("flow ")]
        self.assertEqual(ports, ["5001", "5001", "5002", "5003"])

    def test_the_papers_scale_is_its_network(self):
        path = os.path.join(SCENARIOS, "vai-sf-fig10.scenario")
        table = files.load(path)
        table["scale"]["paper"]["workload"][0]["length"] = "10us"
        wanted = scenario.build(table, Places(path), "paper")
        self.assertEqual((len(wanted.graph.hosts), len(wanted.graph.switches)), (320, 56))

    def test_watched_ports_are_those_data_passes(self):
        wanted = scenario.build(files.load(os.path.join(SCENARIOS, "dumbbell.scenario")))
        self.assertEqual([port.label for port in wanted.watched_ports()],
                         ["s1:p5", "s2:p1", "s2:p2", "s2:p3", "s2:p4"])
