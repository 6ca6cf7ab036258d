# SPDX-License-Identifier: GPL-2.0
"""Flows for other simulators read back, and packet traces as flows."""

import json
import os
import struct
import tempfile
import unittest

from quell_lab import exchange, flowlist, scenario, sizes, tables
from quell_lab.errors import InputError
from quell_lab.schema import Places

import helpers

FLOWS = [{"src": "h1", "dst": "h3", "bytes": 3000, "start": "20us"},
         {"src": "h2", "dst": "h3", "bytes": 7000},
         {"src": "h3", "dst": "h1", "bytes": 9000, "start": "1500ns"}]
WAITING = [FLOWS[0], {"src": "h1", "dst": "h2", "bytes": 5, "after": 1},
           {"src": "h3", "dst": "h2", "bytes": 6, "after": 1}]
ENDS = {"src": "h1", "dst": "h3"}
LASTING = {"until": "1ms", "check": {"allow-unfinished": True}}


class Scratch(unittest.TestCase):
    """A directory while a test runs."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = scratch.name

    def write(self, name, text):
        path = os.path.join(self.directory, name)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path


class Lists(Scratch):
    def again(self, wanted, name, **keys):
        """Flows of a list made of a scenario's, as this laboratory reads it."""
        path = self.write("a.txt", "\n".join(exchange.Writer(wanted, name).lines()) + "\n")
        table = helpers.table(flow=None, **LASTING, **{"flow-list": [
            {"file": os.path.basename(path), "format": name, **keys}]})
        return scenario.build(table, Places(os.path.join(self.directory, "x"))).flows

    @staticmethod
    def known(flows):
        return sorted((one.src, one.dst, one.size_bytes, one.start_ns, one.after) for one in flows)

    def test_each_format_is_read_back(self):
        wanted = helpers.build(flow=FLOWS)
        for name in (flowlist.HTSIM, *flowlist.TABLES):
            with self.subTest(name):
                self.assertEqual(self.known(self.again(wanted, name)), self.known(wanted.flows))

    def test_flows_that_wait_are_triggered(self):
        wanted = helpers.build(flow=WAITING)
        self.assertEqual(self.known(self.again(wanted, "htsim")), self.known(wanted.flows))

    def test_flows_of_a_load_and_of_a_seed(self):
        load = [{"bytes": "10kb", "load": 0.5, "length": "100us"}]
        found = [self.known(self.again(helpers.build(flow=None, workload=load, seed=seed), "hpcc"))
                 for seed in (1, 1, 2)]
        self.assertTrue(found[0] == found[1] != found[2])

    def test_stops_and_flows_without_an_end(self):
        wanted = helpers.build(flow=[dict(ENDS, bytes=3000, stop="9us")], **LASTING)
        self.assertEqual(self.again(wanted, "ns3-rdma")[0].stop_ns, 9000)
        path = self.write("b.cm", "0->1 start 0 size 0\n")
        table = helpers.table(flow=None, **LASTING, **{"flow-list": [{"file": path}]})
        self.assertTrue(self.again(scenario.build(table), "htsim")[0].endless)

    def test_not_expressed(self):
        for flows, name, words in (
                (WAITING, "hpcc", "hpcc: flow 2 .h1 to h2. starts after flow 1, which hpcc cannot"),
                ([FLOWS[0], dict(WAITING[1], start="1us")], "htsim",
                 "starts some time after flow 1"),
                ([FLOWS[1], dict(FLOWS[1], on=1)], "htsim", "takes the connection of flow 1"),
                ([dict(ENDS, bytes=3000, stop="9us")], "conweave", "has a stop"),
                ([dict(ENDS, bytes="2gb")], "htsim", "2147483648 bytes: more than the 2147483647"),
                ([dict(ENDS, bytes="4gb")], "hpcc", "more than the 4294967295")):
            with self.subTest(words), self.assertRaisesRegex(InputError, words):
                list(exchange.Writer(helpers.build(flow=flows, **LASTING), name).lines())

    def test_by_the_command(self):
        path = self.write("a.scenario", "topology = { kind = 'star', hosts = 3, rate = '10gbit', "
                          "delay = '1us' }\nalgorithm = [{ name = 'cubic' }]\n"
                          "flow = [{ src = 'h1', dst = 'h3', bytes = 9 }]\n")
        self.assertEqual(helpers.run_lab("export", path, "--format", "conweave").stdout,
                         "1\n0 2 3 9 0.000000000\n")
        self.assertIn("'hpc', did you mean 'hpcc'",
                      helpers.run_lab("export", path, "--format", "hpc").stderr)


class Completions(Scratch):
    def test_as_hpcc_writes_them(self):
        self.write("summary.json", json.dumps({
            "quell_lab": 1, "cc": {"cubic": {}, "swift": {}}, "config": {"as_written": {
                "topology": dict(helpers.STAR, hosts=300)}}}))
        self.write("flows.csv", ",".join(tables.FLOWS) + "\n" + "\n".join((
            "cubic,1,h1,h300,1000,0,9000,9000,800,0", "cubic,2,h2,h1,2000,50,5050,5000,900,0",
            "cubic,3,h2,h1,2000,50,-1,-1,900,0", "swift,1,h1,h300,1000,0,1,1,800,0")) + "\n")
        self.assertEqual(list(exchange.completions(f"{self.directory}@cubic")), [
            "0b000101 0b000001 10002 100 2000 50 5000 900",
            "0b000001 0b012b01 10001 100 1000 0 9000 800"])
        with self.assertRaisesRegex(InputError, "has cubic, swift: name one as DIR@LABEL"):
            list(exchange.completions(self.directory))

    def test_hosts_are_numbered_in_their_order(self):
        hosts = ["server", "h1", "h0"]
        self.write("summary.json", json.dumps({"quell_lab": 1, "cc": {"cubic": {}}, "config": {
            "as_written": {"topology": {"kind": "graph", "hosts": hosts, "switches": ["s1"],
                                        "cables": [{"a": hosts, "b": "s1", "rate": "1gbit",
                                                    "delay": "1us"}]}}}}))
        self.write("flows.csv", ",".join(tables.FLOWS) + "\n" + "\n".join((
            "cubic,1,h0,server,1000,0,8000,8000,800,0", "cubic,2,h1,h0,10,0,9000,9000,8,0")) + "\n")
        self.assertEqual([line.split()[:2] for line in exchange.completions(self.directory)],
                         [["0b000201", "0b000001"], ["0b000101", "0b000201"]])


def packet(ends, ports, seq, payload, flags=16):
    """A frame of TCP over IPv4."""
    tcp = struct.pack("!HHIIBBHHH", *ports, seq, 0, 5 << 4, flags, 1000, 0, 0) + bytes(payload)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0,
                         *(bytes((10, 0, 0, end)) for end in ends))
    return bytes(12) + b"\x08\x00" + header + tcp


class Traces(Scratch):
    def trace(self, *packets):
        """A pcap file of (time in us, frame)."""
        text = struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
        for time_us, frame in packets:
            text += struct.pack("<IIII", 7, time_us, len(frame), len(frame)) + frame
        return self.write("a.pcap", text)

    def test_flows_are_directions_of_connections(self):
        path = self.trace((0, packet((1, 2), (900, 80), 99, 0, 2)),
                          (10, packet((1, 2), (900, 80), 100, 400)),
                          (12, packet((1, 2), (900, 80), 900, 100)),	# behind a loss
                          (15, packet((2, 1), (80, 900), 5000, 1200)),
                          (20, packet((1, 2), (900, 80), 500, 400)),
                          (20, packet((1, 2), (900, 80), 100, 400)),	# once more
                          (30, packet((3, 2), (901, 80), 2**32 - 50, 100)),
                          (40, packet((3, 2), (901, 80), 50, 100)))
        rows, hosts, notes = exchange.trace(path)
        self.assertEqual(notes, [])
        self.assertEqual(rows, [(0, 0, 1, "80", 900), (5000, 1, 0, "900", 1200),
                                (20000, 2, 1, "80", 200)])
        self.assertEqual(hosts, ["10.0.0.1", "10.0.0.2", "10.0.0.3"])
        text = helpers.run_lab("import", path).stdout
        self.assertEqual(text, "\n".join(exchange.list_lines(rows, hosts)) + "\n")
        self.write("a.txt", text)
        (arrivals, _), = flowlist.build(Places(os.path.join(self.directory, "x")),
                                        [{"file": "a.txt"}], helpers.build().graph)
        self.assertEqual([(one.src, one.dst, one.size_bytes, one.start_ns) for one in arrivals],
                         [("h1", "h2", 900, 0), ("h2", "h1", 1200, 5000), ("h3", "h2", 200, 20000)])

    def test_flows_far_larger_than_their_payload_are_noted(self):
        path = self.trace((0, packet((1, 2), (900, 80), 0, 1000)),
                          (9, packet((1, 2), (900, 80), 2 * 10**9, 1)),
                          (9, packet((2, 1), (80, 900), 0, 5)))
        run = helpers.run_lab("import", path)
        self.assertEqual(run.stderr, f"lab: note: {path}: 10.0.0.1 to port 80 of 10.0.0.2: "
                         "2000000001 bytes by sequence numbers, and 1001 of payload: packets are "
                         "missing, or a number is wrong\n")
        self.assertIn("0 1 3 80 2000000001 ", run.stdout)

    def test_more_than_sequence_numbers_there_are(self):
        one = exchange._Direction(0, 7)
        for number in range(6):
            one.see((7 + number * 2**30) % 2**32, 2**30)
        self.assertEqual(one.high - one.low, 6 * 2**30)

    def test_a_tshark_that_ends_without_a_word(self):
        self.write("tshark", "#!/bin/sh\nkill -9 $$\n")
        os.chmod(os.path.join(self.directory, "tshark"), 0o755)
        run = helpers.run_lab("import", "a.pcap", environment={
            "PATH": f"{self.directory}:{os.environ['PATH']}"})
        self.assertEqual((run.returncode, run.stderr), (2, "lab: a.pcap: tshark ended with -9\n"))

    def test_sizes(self):
        for count in (3, 5000):
            rows = [(0, 0, 1, "80", 10 * (number % 1000 + 1)) for number in range(count)]
            lines = list(exchange.size_lines(rows))
            self.assertLessEqual(len(lines), exchange.CDF_LINES)
            one = sizes.read("sizes", self.write("a.cdf", "\n".join(lines)), "a")
            self.assertAlmostEqual(float(one.mean_bytes), sum(row[-1] for row in rows) / count,
                                   delta=10)

    def test_mistakes(self):
        for path, words in ((self.write("b", "no packets\n" * 99), "isn't a capture file"),
                            (os.path.join(self.directory, "c"), "doesn't exist"),
                            (self.trace((0, packet((1, 2), (900, 80), 99, 0, 2))),
                             "0 flows of TCP with data is out of range")):
            with self.subTest(words):
                run = helpers.run_lab("import", path)
                self.assertEqual(run.returncode, 2)
                self.assertIn(words, run.stderr)
