# SPDX-License-Identifier: GPL-2.0
"""Reading result files, and the checks that make a run fail."""

import dataclasses
import os
import tempfile
import unittest

from quell_lab import cost, results, tables
from quell_lab.errors import RunError

import helpers

SPENT = cost.Cost(2.0, 1.0, 1.0, 1.0, 0.5, 0.5, 1 << 20, "small (never)")
GOOD = {
    "flows.out": "2 20000 30000 3000 3000 0 3\n1 0 9000 3000 3000 1 4\n",
    "marks.out": "1 17 1 0 1 1448 0 17 15\n2 16 0 0 0 0 0 16 15\n",
    "queues.out": "s1 p3 2000 3000\ns1 p3 1000 1514\n",
    "cwnd.out": "1 1000 14480 0 2500 0\n2 21000 1448 77 3500 2\n",
    "delivered.out": "1 10000 3000\n",
    "ports.out": "s1 p1 tx_packets=4 kind=swport data_backlog_max_bytes=0 "
                 "control_backlog_max_bytes=66\n"
                 "s1 p2 tx_packets=1 kind=swport data_backlog_max_bytes=0 "
                 "control_backlog_max_bytes=0\n"
                 "s1 p3 tx_packets=6 kind=swport data_backlog_max_bytes=3000 "
                 "control_backlog_max_bytes=0\n",
    "done.out": "ok virtual_ns=50000\n",
}


class Reading(unittest.TestCase):
    def setUp(self):
        self.wanted = helpers.build()
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = scratch.name
        for name, text in GOOD.items():
            self.put(name, text)

    def put(self, name, text):
        with open(os.path.join(self.directory, name), "w", encoding="ascii") as file:
            file.write(text)

    def read(self):
        return results.read(self.directory, self.wanted, self.wanted.variants[0], SPENT)

    def test_governed_of_fitted_flows_alone(self):
        self.assertIsNone(self.read().governed)
        for adapt, wanted in ("off", None), ("on", {1: (9000, 0, 0), 2: (1, 2, 9997)}):
            with self.subTest(adapt):
                self.wanted = helpers.build(algorithm=[{"name": "swift", "set": {"adapt": adapt}}])
                self.put("governed.out", "2 1 2 9997\n1 9000 0 0\n")
                self.put("counters.out", "h1 swift cubic-slow-path 1\n")
                self.assertEqual(self.read().governed, wanted)
        self.put("governed.out", "1 9000 0\n")
        with self.assertRaises(RunError):
            self.read()

    def test_all_time_is_governed(self):
        self.wanted = helpers.build(algorithm=[{"name": "swift", "set": {"adapt": "on"}}])
        self.put("counters.out", "")
        for row, is_good in (("9000 0 0", True), ("4000 3000 2000", True), ("4000 3000 1999", True),
                             ("4000 3000 2001", False), ("4000 3000 999", False), ("0 0 0", False)):
            with self.subTest(row):
                self.put("governed.out", f"1 {row}\n2 10000 0 0\n")
                self.assertEqual(results.physics(self.wanted, self.read()) == [], is_good)

    def test_flows_of_the_kernels_own_are_never_governed(self):
        flows = [{"src": "h1", "dst": "h3", "bytes": "3000b", "cc": "cubic"},
                 {"src": "h2", "dst": "h3", "bytes": "3000b", "start": "20us"}]
        self.wanted = helpers.build(algorithm=[{"name": "swift", "set": {"adapt": "on"}}],
                                    incast=None, flow=flows)
        self.put("counters.out", "")
        for row, found in (("0 0 0", []), ("0 0 1", ["flow 1: governed for 1 ns, though its "
                                                     "congestion control is cubic"])):
            with self.subTest(row):
                self.put("governed.out", f"1 {row}\n2 10000 0 0\n")
                self.assertEqual(results.physics(self.wanted, self.read()), found)

    def test_good_files_are_sorted(self):
        result = self.read()
        self.assertEqual([row.flow.number for row in result.flows], [1, 2])
        self.assertEqual(result.flows[0].fct_ns, 9000)
        self.assertEqual([(row.marked_pkts, row.all_pkts) for row in result.flows],
                         [(1, 33), (0, 32)])
        self.assertEqual(result.queues, {"s1:p3": [(1000, 1514), (2000, 3000)]})
        self.assertEqual(result.cwnd[2], [(21000, 1448, 77, 3500, 2)])
        self.assertEqual(result.delivered, {1: [(10000, 3000)]})
        self.assertEqual(result.ports["s1:p3"]["data_backlog_max_bytes"], 3000)
        self.assertEqual(result.ports["s1:p3"]["kind"], "swport")
        self.assertEqual(result.virtual_ns, 50000)
        self.assertEqual(results.physics(self.wanted, result), [])

    def test_broken_files_are_refused(self):
        for name, text, words in (
                ("flows.out", "1 0 9000 3000 3000 0 3\n", "no line for flow 2"),
                ("flows.out", GOOD["flows.out"] + "1 0 1 1 1 0 1\n", "named twice"),
                ("flows.out", "7 0 1 1 1 0 1\n", "unknown"),
                ("flows.out", "1 0 9000 3000\n", "4 fields instead of 7"),
                ("flows.out", "1 0 soon 3000 3000 0 3\n", "not numbers"),
                ("marks.out", "1 17 0 0 0 0 0\n", "7 fields instead of 9"),
                ("queues.out", "s1 p3 1000\n", "3 fields instead of 4"),
                ("ports.out", "s1 p3 tx_packets\n", "not key=value"),
                ("done.out", "gave up\n", "no line 'ok virtual_ns=N'")):
            with self.subTest(words):
                self.put(name, text)
                with self.assertRaisesRegex(RunError, words):
                    self.read()
                self.put(name, GOOD[name])

    def test_counters_of_all_hosts_add_up(self):
        wanted = helpers.build(algorithm=[{"name": "swift"}])
        self.put("counters.out", "h2 swift rtos 1\nh1 quell rtt-echo 7\nh1 swift rtos 2\n")
        result = results.read(self.directory, wanted, wanted.variants[0], SPENT)
        self.assertEqual(result.counters, {"quell": {"rtt-echo": 7}, "swift": {"rtos": 3}})
        self.put("counters.out", "h2 swift rtos\n")
        with self.assertRaisesRegex(RunError, "3 fields instead of 4"):
            results.read(self.directory, wanted, wanted.variants[0], SPENT)
        os.remove(os.path.join(self.directory, "counters.out"))
        with self.assertRaisesRegex(RunError, "counters.out"):
            results.read(self.directory, wanted, wanted.variants[0], SPENT)
        self.assertEqual(self.read().counters, {})

    def test_flows_of_dart(self):
        wanted = helpers.build(algorithm=[{"name": "dart"}])
        self.put("counters.out", "")
        self.put("dart.out", "1 2000 2 512 256 2\n1 1000 0 0 0 0\n")
        result = results.read(self.directory, wanted, wanted.variants[0], SPENT)
        self.assertEqual(result.dart, {1: [(1000, 0, 0, 0, 0), (2000, 2, 512, 256, 2)]})
        tables.write(self.directory, [result])
        with open(os.path.join(self.directory, "dart.csv"), encoding="ascii", newline="") as file:
            self.assertEqual(file.read(), "cc,flow,time_ns,state,n_counted,n_told,limiter\n"
                             "dart,1,1000,none,,,line\ndart,1,2000,non-receiver,2,1,dcqcn\n")
        os.remove(os.path.join(self.directory, "dart.out"))
        with self.assertRaisesRegex(RunError, "dart.out"):
            results.read(self.directory, wanted, wanted.variants[0], SPENT)

    def test_missing_file_is_named(self):
        os.remove(os.path.join(self.directory, "cwnd.out"))
        with self.assertRaisesRegex(RunError, "cwnd.out"):
            self.read()

    def test_tables(self):
        tables.write(self.directory, [self.read()])
        def text(name):
            with open(os.path.join(self.directory, name), encoding="ascii", newline="") as file:
                return file.read()
        self.assertEqual(text("flows.csv"),
                         "cc,flow,src,dst,bytes,start_ns,end_ns,fct_ns,ideal_ns,retrans_segs\n"
                         "cubic,1,h1,h3,3000,0,9000,9000,2384,1\n"
                         "cubic,2,h2,h3,3000,20000,30000,10000,2384,0\n")
        self.assertEqual(text("queues.csv"), "cc,port,time_ns,backlog_bytes\n"
                         "cubic,s1:p3,1000,1514\ncubic,s1:p3,2000,3000\n")
        self.assertEqual(text("cwnd.csv"), "cc,flow,time_ns,cwnd_bytes,pacing_bytes_ps,rtt_ns,hop\n"
                         "cubic,1,1000,14480,0,2500,0\ncubic,2,21000,1448,77,3500,2\n")
        self.assertEqual(text("delivered.csv"), "cc,flow,time_ns,bytes\ncubic,1,10000,3000\n")
        self.assertFalse(os.path.exists(os.path.join(self.directory, "dart.csv")))


class Physics(unittest.TestCase):
    def setUp(self):
        self.wanted = helpers.build(queue={"limit": "10kb", "control-limit": "1kb"})
        counters = {"data_backlog_max_bytes": 0, "control_backlog_max_bytes": 0}
        self.ports = {f"s1:p{number}": dict(counters) for number in (1, 2, 3)}
        self.flows = [helpers.flow_result(flow, flow.start_ns, flow.start_ns + 2384,
                                          ideal_ns=self.wanted.ideal_ns(flow))
                      for flow in self.wanted.flows]

    def problems(self, number=None, **changes):
        flows = list(self.flows)
        if number is not None:
            flows[number] = dataclasses.replace(flows[number], **changes)
        return results.physics(self.wanted, helpers.run_result(self.wanted, flows,
                                                               ports=self.ports))

    def assert_one(self, problems, words):
        self.assertEqual(len(problems), 1, problems)
        self.assertRegex(problems[0], words)

    def test_exactly_the_limit_is_fine(self):
        self.assertEqual(self.wanted.ideal_ns(self.wanted.flows[0]), 2384)
        self.assertEqual(self.problems(), [])

    def test_one_ns_faster_is_not(self):
        self.assert_one(self.problems(1, end_ns=22383), r"^flow 2 .*2383 ns is below .* 2384 ns")

    def test_lost_byte(self):
        self.assert_one(self.problems(0, delivered_bytes=2999), r"^flow 1 .*2999 delivered")

    def test_surplus_byte(self):
        self.assert_one(self.problems(0, sent_bytes=3001), r"^flow 1 .*3001 sent")

    def test_unfinished(self):
        self.assert_one(self.problems(1, end_ns=-1, delivered_bytes=5),
                        r"^flow 2 .*not finished by .*; 5 of 3000 bytes delivered until 50ms later")

    def test_wrong_start(self):
        self.assert_one(self.problems(0, start_ns=1, end_ns=9000), "started at 1 ns instead of 0")

    def test_queue_may_exceed_its_limit_by_one_packet(self):
        self.ports["s1:p3"]["data_backlog_max_bytes"] = 10240 + 1514
        self.assertEqual(self.problems(), [])
        self.ports["s1:p3"]["data_backlog_max_bytes"] += 1
        self.assert_one(self.problems(), "s1:p3: data queue reached 11755")

    def test_control_queue_too(self):
        self.ports["s1:p1"]["control_backlog_max_bytes"] = 1024 + 1515
        self.assert_one(self.problems(), "s1:p1: control queue")

    def test_silent_port(self):
        del self.ports["s1:p2"]
        self.assert_one(self.problems(), "port s1:p2: no line")

    def test_port_without_watermark(self):
        del self.ports["s1:p3"]["data_backlog_max_bytes"]
        self.assert_one(self.problems(), "no data_backlog_max_bytes")

    def test_backlog_within_both_bands_maxima(self):
        marks = self.ports["s1:p3"]
        marks.update(data_backlog_max_bytes=5000, control_backlog_max_bytes=700)
        for backlog, words in ((5700, []), (5701, ["sampled backlog 5701 bytes above"])):
            result = helpers.run_result(self.wanted, self.flows, ports=self.ports,
                                        queues={"s1:p3": [(5, backlog)]})
            said = results.physics(self.wanted, result)
            self.assertEqual(len(said), len(words), said)
            self.assertTrue(all(word in " ".join(said) for word in words))

    def test_backlog_with_what_the_card_gave_back(self):
        packet = max(cable.mtu_bytes for cable in self.wanted.graph.cables) + 14
        self.ports["s1:p3"].update(data_backlog_max_bytes=5000, control_backlog_max_bytes=700,
                                   requeues=1)
        for more, count in ((0, 0), (1, 1)):
            rows = {"s1:p3": [(5, 5700 + 2 * packet + more)]}
            result = helpers.run_result(self.wanted, self.flows, ports=self.ports, queues=rows)
            self.assertEqual(len(results.physics(self.wanted, result)), count)

    def test_bfifo_has_none(self):
        self.ports["s1:p3"] = {"kind": "bfifo"}
        self.assertEqual(self.problems(), [])
        rows = {"s1:p3": [(0, 0), (5, 10240 + 1025)]}
        result = helpers.run_result(self.wanted, self.flows, ports=self.ports, queues=rows)
        self.assert_one(results.physics(self.wanted, result), "sampled backlog 11265 bytes above")
        self.assertEqual(results.queue_max_bytes({"kind": "bfifo"}, rows["s1:p3"]), 11265)

    def test_within_one_packet(self):
        self.wanted = dataclasses.replace(self.wanted, within_one_packet=True)
        self.assertEqual(self.problems(0, end_ns=2384 + 124), [])
        self.assert_one(self.problems(0, end_ns=2384 + 125), "125 ns above the physical limit")
