# SPDX-License-Identifier: GPL-2.0
"""Comparators of papers that are in the laboratory alone: names, parameters, what is refused."""

import os
import re
import unittest

from quell_lab import express, plan, rcp, runner, units
from quell_lab.algorithms import VARIANTS, Variant
from quell_lab.errors import InputError

import helpers

MODULES = os.path.join(runner.HERE, "comparators")


def ranges(header, prefix):
    """{name without the prefix: (smallest, largest, default)} of a header's QUELL_RANGE()."""
    with open(os.path.join(MODULES, header), encoding="ascii") as file:
        text = file.read().replace("\\\n", "")
    constants = dict(re.findall(r"^#define (\w+)\s+(\d+)ULL\b", text, re.M))
    found = {}
    for name, words in re.findall(rf"^#define {prefix}(\w+)\s+QUELL_RANGE\((.*?)\)", text, re.M):
        default, low, high = (int(constants.get(word, word)) for word in re.split(r",\s*", words))
        found[name] = (low, high, default)
    return found


class Fast(unittest.TestCase):
    """FAST* in place of TIMELY."""

    def test_it_is_a_variant_with_parameters_of_its_own(self):
        wanted = helpers.build(algorithm=[
            {"name": "timely", "variant": "fast",
             "set": {"fast-alpha": "100mbit", "delta": "1mbit"}},
            {"name": "timely"}])
        fast, timely = (plan.write(wanted, one).splitlines() for one in wanted.variants)
        self.assertEqual(wanted.variants[0].label,
                         "timely:variant=fast:fast-alpha=100mbit:delta=1mbit")
        self.assertEqual([line for line in fast if line.startswith("module ")][-2:],
                         ["module quell.ko", "module quell_labfast.ko"])
        self.assertIn("param h1 timely fast-alpha 12500000", fast)
        self.assertIn("param h1 timely delta 125000", fast)
        self.assertIn("module tcp_timely.ko", timely)

    def test_what_is_refused(self):
        fast = {"name": "timely", "variant": "fast"}
        for one, words in (
                ({**fast, "name": "swift"}, "swift has no variant 'fast': timely has"),
                ({**fast, "variant": "plb"}, "timely has no variant 'plb': smartt has"),
                ({**fast, "variant": "fats"}, "'fats'.*fast"),
                ({"name": "timely", "set": {"fast-alpha": "1mbit"}},
                 "timely has no parameter 'fast-alpha'"),
                ({**fast, "set": {"fast-gamma": "1.5"}}, "fast-gamma: '1.5' is out of range"),
                ({**fast, "set": {"fast-alpha": "1tbit"}}, "'1tbit' is out of range: .*100gbit"),
                ({**fast, "set": {"fast-base": "2s"}}, "fast-base: '2s' is out of range: .*1s")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                helpers.build(algorithm=[one])

    def test_its_parameters_are_those_of_the_header(self):
        header = ranges("timely_fast.h", "QUELL_TIMELY_FAST_")
        known = VARIANTS["fast"][1].parameters
        for key, name in (("fast-alpha", "ALPHA_BYTES_PS"), ("fast-gamma", "GAMMA_Q16"),
                          ("fast-base", "BASE_NS")):
            self.assertEqual(header[name], (known[key].low, known[key].high, known[key].default))
        self.assertEqual(known["fast-alpha"].default, units.parse_byte_rate("50mbit"))


class Infiniband(unittest.TestCase):
    """InfiniBand's congestion control in place of DCQCN."""

    def test_it_is_a_variant_with_parameters_of_its_own(self):
        wanted = helpers.build(algorithm=[
            {"name": "dcqcn", "variant": "infiniband",
             "set": {"ib-timer": "100us", "queue-bound": "1s"}}])
        lines = plan.write(wanted, wanted.variants[0]).splitlines()
        self.assertEqual([line for line in lines if line.startswith("module ")][-2:],
                         ["module quell.ko", "module quell_labib.ko"])
        self.assertIn("param h1 dcqcn ib-timer 100000", lines)
        self.assertIn("param h1 dcqcn queue-bound 1000000000", lines)
        for one, words in (({"variant": "infiniband", "set": {"ib-step": "2"}}, "ib-step: '2' is"),
                           ({"set": {"ib-timer": "1us"}}, "dcqcn has no parameter 'ib-timer'")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                helpers.build(algorithm=[{"name": "dcqcn", **one}])

    def test_its_parameters_are_those_of_the_header(self):
        header = ranges("dcqcn_ib.h", "QUELL_DCQCN_IB_")
        known = VARIANTS["infiniband"][1].parameters
        for key, name in (("ib-timer", "TIMER_NS"), ("ib-increase", "INCREASE_STEPS"),
                          ("ib-limit", "LIMIT_STEPS"), ("ib-step", "STEP_Q16")):
            self.assertEqual(header[name], (known[key].low, known[key].high, known[key].default))


class Rcp(unittest.TestCase):
    """RCP's sender and the ports of its runs."""

    def build(self, queue=None, names=("rcp", "dctcp"), **changes):
        values = {"limit": "225kb", "rcp": "20us", **(queue or {})}
        return helpers.build(queue={key: value for key, value in values.items() if value},
                             algorithm=[{"name": name} for name in names], **changes)

    def qdiscs(self, wanted, number):
        return [line for line in plan.write(wanted, wanted.variants[number]).splitlines()
                if line.startswith(("qdisc ", "module ")) and "lab" in line]

    def test_ports_of_its_runs_alone_compute_its_rate(self):
        wanted = self.build()
        self.assertEqual(self.qdiscs(wanted, 0), [
            "module quell_labnic.ko", "module quell_labflow.ko", "module quell_labrcp.ko",
            *(f"qdisc h{number} eth0 labrcp limit=268435456 rtt=20000 interval=10000000 "
              "least=1500 alpha=26214 beta=26214" for number in (1, 2, 3)),
            *(f"qdisc s1 p{number} labrcp limit=230400 rtt=20000 interval=10000000 "
              "least=1500 alpha=26214 beta=26214" for number in (1, 2, 3))])
        self.assertEqual(self.qdiscs(wanted, 1),
                         ["module quell_labnic.ko", "module quell_labflow.ko"])
        self.assertIn("cc-allowed reno rcp", plan.write(wanted, wanted.variants[0]))

    def test_an_object_file_of_its_name_is_another(self):
        self.assertTrue(Variant("rcp", "rcp", {}, {}).is_rcp)
        self.assertFalse(Variant("rcp", "rcp", {}, {}, program=object()).is_rcp)

    def test_what_the_equation_takes(self):
        wanted = self.build({"rcp-interval": "5us", "rcp-least": "15", "rcp-alpha": "0.5",
                             "rcp-beta": "2"})
        self.assertIn("qdisc s1 p3 labrcp limit=230400 rtt=20000 interval=5000 least=15 "
                      "alpha=32768 beta=131072", self.qdiscs(wanted, 0))

    def test_a_port_s_words_are_those_of_init(self):
        with open(os.path.join(MODULES, "labrcp.h"), encoding="ascii") as file:
            found = dict(re.findall(r"^#define LABRCP_(\w+)\s+\(?\"?(\w+)", file.read(), re.M))
        self.assertEqual(found["KIND"], rcp.KIND)
        self.assertEqual([found["TIME_MIN_NS"], found["TIME_MAX_NS"], found["GAIN_MAX_Q16"],
                          found["LEAST_MAX_BYTES"]],
                         [f"{rcp.TIME_MIN}U", f"{rcp.TIME_MAX}U", f"{rcp.GAIN_MAX_Q16 >> 16}U",
                          f"{rcp.LEAST_MAX}U"])
        with open(os.path.join(runner.HERE, "init", "qdisc.c"), encoding="ascii") as file:
            text = file.read().partition("qdisc_labrcp(const")[2].partition("\n}")[0]
        taken = re.findall(r'needed\("(\w+)"', text)
        self.assertEqual([word.partition("=")[0] for word in
                          self.build().queue.rcp.qdisc(1).split()[1:]], taken)

    def test_what_is_refused(self):
        pfc = {"on": True}
        for what, words in (
                ({"queue": {"rcp": None}}, "queue.rcp: missing: 'rcp' needs the round-trip time"),
                ({"names": ("dctcp",)}, "queue.rcp: no algorithm is rcp"),
                ({"queue": {"rcp": None, "rcp-alpha": "0.4"}, "names": ("dctcp",)},
                 "queue.rcp-alpha: without rcp there is none"),
                ({"queue": {"rcp": "100ns"}}, "queue.rcp: '100ns' is out of range: 1us to 1s"),
                ({"queue": {"rcp-interval": "2s"}}, "rcp-interval: '2s' is out of range"),
                ({"queue": {"rcp-alpha": "0"}}, "rcp-alpha: '0' is out of range"),
                ({"queue": {"rcp-least": "0"}}, "rcp-least: '0' is out of range"),
                ({"queue": {"rcp-beta": "17"}}, "rcp-beta: '17' is out of range: 0 to 16"),
                ({"queue": {"limit": None}, "pfc": pfc}, "queue.rcp: not with pfc"),
                ({"queue": {"fifo": "s1"}}, "queue.rcp: not with fifo")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                self.build(**what)
        self.assertTrue(self.build({"ecn": "65kb"}))
        for key, value in (("ecn", "65kb"), ("host-ecn", "65kb"), ("telemetry", "4us"),
                           ("trim", "64b"), ("buffer", "1mb"), ("control-limit", "64kb"),
                           ("tcp-int", "10us"), ("alpha", "0.1"), ("ecn-mode", "enqueue")):
            words = f"queue.{key}: has no effect: each run is rcp"
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                self.build({key: value}, names=("rcp",))
        with self.assertRaisesRegex(InputError, "rcp has no parameter 'alpha': it takes none"):
            helpers.build(algorithm=[{"name": "rcp", "set": {"alpha": "0.4"}}])


class Paced(unittest.TestCase):
    """Cards that pace flows."""

    def build(self, pace="700mbit", name="timely", **changes):
        return helpers.build(algorithm=[{"name": name, "nic-pace": pace},
                                        {"name": "dctcp"}], **changes)

    def test_hosts_ends_of_its_run_alone(self):
        wanted = self.build()
        links = [[line for line in plan.write(wanted, variant).splitlines()
                  if line.startswith("link ")] for variant in wanted.variants]
        self.assertEqual([line.count("pace=700000000") for line in links[0]], [1] * 3)
        self.assertNotIn("pace=", "".join(links[1]))

    def test_what_is_refused(self):
        for what, words in (
                ({"pace": "101gbit"}, "nic-pace is more than the cable of a host carries"),
                ({"pfc": {"on": True}, "queue": {}}, "nic-pace: not with pfc or queue.host-ecn"),
                ({"queue": {"host-ecn": "30kb"}}, "nic-pace: not with pfc or queue.host-ecn"),
                ({"name": "dart"}, "nic-pace: not with dart, whose receivers share out the line"),
                ({"name": "expresspass"}, "nic-pace: not with expresspass, whose receivers"),
                ({"pace": "1kbit"}, "nic-pace: '1kbit' is out of range")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                self.build(**what)


def graph(mtu=1500, stray=False):
    """Two ways between h1 and h3, by a and b; a stray host at one makes it of another tier."""
    cables = [{"a": one, "b": other, "rate": "10gbit", "delay": "1us", "mtu": 1500}
              for one, other in (("h1", "x"), ("h2", "x"), (["a", "b"], "x"), (["a", "b"], "y"))]
    cables.append({"a": "h3", "b": "y", "rate": "10gbit", "delay": "1us", "mtu": mtu})
    cables += [{"a": "h4", "b": "a", "rate": "10gbit", "delay": "1us", "mtu": 1500}] * stray
    return {"kind": "graph", "hosts": ["h1", "h2", "h3", *["h4"] * stray],
            "switches": ["x", "y", "a", "b"], "cables": cables}


class Express(unittest.TestCase):
    """ExpressPass's senders, cards and ports."""

    def build(self, names=("expresspass", "dctcp"), values=None, **changes):
        return helpers.build(algorithm=[{"name": name} | ({"set": values} if values else {})
                                        for name in names], **changes)

    def lines(self, wanted, *words):
        return [line for line in plan.write(wanted, wanted.variants[0]).splitlines()
                if any(word in line for word in words)]

    def test_ports_and_cards_of_its_runs(self):
        wanted = self.build(queue={"limit": "225kb"})
        self.assertEqual(self.lines(wanted, "qdisc ", "labexpress"), [
            "module quell_labexpress.ko",
            *(f"qdisc h{number} eth0 labexpress limit=268435456 credits=8"
              for number in (1, 2, 3)),
            *(f"qdisc s1 p{number} labexpress limit=230400 credits=8" for number in (1, 2, 3))])
        self.assertEqual([line.partition(" credit=")[2] or line.partition("peer-credit=")[2]
                          for line in self.lines(wanted, "link ")], ["100:1:32768:4096"] * 3)
        self.assertEqual(self.lines(wanted, "param ", "quell.ko"), [])
        other = plan.write(wanted, wanted.variants[1])
        self.assertNotIn("labexpress", other)
        self.assertNotIn("credit=", other)

    def test_both_ways_of_a_flow_take_one_path(self):
        wanted = self.build(multipath=True, family=6, topology={
            "kind": "leaf-spine", "leaves": 2, "spines": 2, "hosts": 2, "rate": "10gbit",
            "delay": "1us"})
        lines = self.lines(wanted, "multipath_hash")
        seeds = {line.split()[1]: line.split()[3] for line in lines if "hash_seed" in line}
        self.assertEqual((seeds["l1"], seeds["s1"]), (seeds["l2"], seeds["s2"]))
        self.assertNotEqual(seeds["l1"], seeds["s1"])
        # No label, which differs by direction: addresses, protocol and ports.
        self.assertEqual({line.split()[3] for line in lines if "hash_fields" in line}, {"55"})
        self.assertEqual(len(self.lines(wanted, "tcp_early_retrans 0")), 4)
        other = plan.write(wanted, wanted.variants[1])
        self.assertNotIn("tcp_early_retrans", other)
        self.assertEqual(len(set(re.findall(r"hash_seed (\w+)", other))), 4)

    def test_parameters_are_those_of_the_cards(self):
        wanted = self.build(("expresspass",), {"first-rate": "1", "w": "0.5"})
        self.assertIn("credit=100:1:65536:32768", self.lines(wanted, "link ")[0])
        self.assertEqual(self.lines(wanted, "param "), [])

    def test_a_port_s_words_are_those_of_init(self):
        with open(os.path.join(MODULES, "labexpress.h"), encoding="ascii") as file:
            self.assertIn(f'_KIND\t\t"{express.KIND}"', file.read())
        with open(os.path.join(runner.HERE, "init", "qdisc.c"), encoding="ascii") as file:
            text = file.read().partition("qdisc_labexpress(const")[2].partition("\n}")[0]
        self.assertEqual([word.partition("=")[0] for word in express.qdisc(1).split()[1:]],
                         re.findall(r'needed\("(\w+)"', text))

    def test_what_is_refused(self):
        own = ("expresspass",)
        flow = {"src": "h1", "dst": "h3", "bytes": 1000}
        for what, words in (
                ({"values": {"first-rate": "0"}, "names": own}, "first-rate: '0' is out of range"),
                ({"values": {"w": "0.6"}, "names": own}, "w: '0.6' is out of range"),
                ({"values": {"alpha": "1"}, "names": own}, "expresspass has no parameter 'alpha'"),
                ({"queue": {"fifo": ["s1"]}}, "expresspass: not with queue.fifo"),
                ({"queue": {"limit": None}, "pfc": {"on": True}},
                 "algorithm: expresspass: not with pfc"),
                ({"topology": graph(mtu=9000)}, "expresspass: not with cables of different mtu"),
                ({"topology": graph(stray=True), "multipath": True},
                 "expresspass: with multipath, data from h1 to h3 would not return as its credits"),
                ({"tso": 2}, "expresspass: not with tso: a sender sends a packet for each credit"),
                ({"queue": {"ecn": "30kb"}, "names": own},
                 "queue.ecn: has no effect: each run is expresspass"),
                ({"flow": [flow | {"cc": "dctcp"}]}, "dctcp does not go by credit: no flow has")):
            if what.get("queue", {}).get("limit", 1) is None:
                what = what | {"queue": {}}
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                self.build(**what)
        self.assertTrue(self.build(queue={"ecn": "30kb"}))
        self.assertTrue(self.build(topology=graph(), multipath=True))
