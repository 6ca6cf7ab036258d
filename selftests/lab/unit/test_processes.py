# SPDX-License-Identifier: GPL-2.0
"""Programs of scenarios: what is refused, what a plan has, what is read back; packets of cables."""

import contextlib
import io
import os
import struct
import tempfile
import unittest

import helpers
from quell_lab import cli, connections, output, plan, processes, scenario, summary
from quell_lab.errors import InputError, RunError
from quell_lab.schema import Places

SERVER = {"host": "h1", "command": "sh -c 'cat {h2} {dir}/a%b #x {{}}' ''", "background": True}
CLIENT = {"host": "h[2-3]", "command": "true"}

# [[program]] tables, and what the message must say
BAD = (
    ([dict(CLIENT, host="h4")], ("program[0].host", "'h4'", "h1 to h3")),
    ([dict(CLIENT, host="s1")], ("program[0].host", "'s1'")),
    ([dict(CLIENT, comand="x")], ("program[0].comand", "did you mean 'command'")),
    ([{"host": "h1"}], ("program[0].command", "missing")),
    ([dict(CLIENT, command="")], ("program[0].command", "names no program")),
    ([dict(CLIENT, command="sh 'x")], ("program[0].command", "No closing quotation")),
    ([dict(CLIENT, command="no-such-program -x")],
     ("program[0].command", "no program 'no-such-program' on this machine", "install")),
    ([dict(CLIENT, command="./none")], ("program[0].command", "no file", "none")),
    ([dict(CLIENT, command="../none")], ("outside of the scenario's directory",)),
    ([dict(CLIENT, command="/etc/passwd")], ("'/etc/passwd' is not executable",)),
    ([dict(CLIENT, command="/tmp/x")], ("'/tmp/x'", "the machine's /tmp", "{dir}/x")),
    ([dict(CLIENT, command="true {h4}")], ("'{h4}' is no host", "{h1} to {h3}")),
    ([dict(SERVER, start="1ms"), CLIENT], ("program[0].start", "not with background")),
    ([SERVER], ("program", "all are in the background")),
    ([dict(CLIENT, listen=80)], ("program[0].listen", "without background")),
    ([dict(SERVER, listen=65536), CLIENT], ("program[0].listen", "'65536'", "1 to 65535")),
    ([dict(SERVER, listen="web"), CLIENT], ("program[0].listen", "'web'")),
    ([dict(CLIENT, env={"a-b": 1})], ("program[0].env.a-b", "letters")),
    ([dict(CLIENT, env={"A": [1]})], ("program[0].env.A",)),
    (["true"], ("program[0]", "not a table")),
    ([CLIENT] * 129, ("program", "258 programs", "at most 256")),
)


def build(programs, **changes):
    """A scenario of three hosts with these programs, without flows."""
    return helpers.build(program=programs, **dict({"flow": None}, **changes))


class Programs(unittest.TestCase):
    def test_bad_tables(self):
        for programs, words in BAD:
            with self.subTest(words), self.assertRaises(InputError) as caught:
                build(programs)
            for word in words:
                self.assertIn(word, str(caught.exception))

    def test_other_keys(self):
        for changes, words in (({"syscall": "2ms"}, ("syscall", "'2ms'", "0ns to 1ms")),
                               ({"record": {"pcap": ["s2"]}}, ("record.pcap", "'s2'", "s1:p1")),
                               ({"record": {"pcap": ["s1:p4"]}}, ("'p4'", "p1, p2, p3")),
                               ({"until": "1us", "program": [dict(CLIENT, start="2us")]},
                                ("until", "above 2us"))):
            with self.subTest(words), self.assertRaises(InputError) as caught:
                build(**dict({"programs": [CLIENT]}, **{
                    "programs" if key == "program" else key: value
                    for key, value in changes.items()}))
            for word in words:
                self.assertIn(word, str(caught.exception))

    def test_plan(self):
        wanted = build([SERVER, dict(CLIENT, start="1ms", env={"A": "b c"})], syscall="1us")
        lines = plan.write(wanted, wanted.variants[0]).splitlines()
        own = [line for line in lines if line.split()[0] in ("syscall", "hostname", "program")]
        self.assertEqual(own[:2], ["syscall 1000", "hostname h1 10.0.0.1"])
        server, *clients = (line for line in own if line.startswith("program"))
        self.assertTrue(server.startswith("program 1 h1 background 0 any PATH=/usr/local/sbin:"))
        self.assertTrue(server.endswith(
            "/sh sh -c cat%2010.0.0.2%20/run/scenario/a%25b%20%23x%20{} %"), server)
        self.assertRegex(clients[1], r"^program 3 h3 foreground 1000000 - .* LAB_HOST=h3 "
                                     r"A=b%20c /.*/true true$")
        # All hosts can be reached, and the ports between those with programs are sampled.
        self.assertIn("route s1 10.0.0.2/32 via 169.254.0.1 dev p2", lines)
        self.assertIn("watch s1 p1", lines)
        self.assertIn(f"directory {os.getcwd()}", lines)

    def test_nothing_of_it_without_programs(self):
        wanted = helpers.build()
        text = plan.write(wanted, wanted.variants[0])
        for word in ("syscall", "hostname", "program", "capture", "directory"):
            self.assertNotIn(f"\n{word}", text)
        self.assertFalse(wanted.allow_unfinished)

    def test_listen(self):
        for listen, word in ((None, "any"), (True, "any"), (False, "-"), (80, "80")):
            server = dict(SERVER, **({} if listen is None else {"listen": listen}))
            wanted = build([server, CLIENT])
            line, = (line for line in plan.write(wanted, wanted.variants[0]).splitlines()
                     if line.startswith("program 1 "))
            with self.subTest(listen):
                self.assertEqual(line.split()[5], word)

    def test_pcap_of_hosts_and_ports(self):
        wanted = build([CLIENT], record={"pcap": ["h1", "s1:p2", "h1"]})
        self.assertEqual([line for line in plan.write(wanted, wanted.variants[0]).splitlines()
                          if line.startswith("capture")], ["capture h1 eth0", "capture s1 p2"])

    def test_program_beside_the_scenario(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "mine")
            with open(path, "w", encoding="ascii") as file:
                file.write("#!/bin/sh\n")
            os.chmod(path, 0o755)
            for command in ("./mine {h1}", "{dir}/mine {h1}"):
                table = helpers.table(flow=None, program=[dict(CLIENT, command=command)])
                wanted = scenario.build(table, Places(os.path.join(directory, "x.scenario")))
                self.assertEqual(wanted.processes[0].path, "/run/scenario/mine")
                self.assertEqual(wanted.directory, directory)

    def test_results_and_what_is_wrong_with_them(self):
        wanted = build([dict(SERVER, command="true"), *[dict(CLIENT, host="h2")] * 5])
        rows = ["1 h1 background -99 5 exit 1", "2 h2 foreground 0 7 exit 0",
                "3 h2 foreground 0 7 exit 3", "4 h2 foreground 0 7 signal 9",
                "5 h2 foreground 0 -1 stopped 0", "6 h2 foreground 0 -1 unstarted 0"]
        found = processes.read([("x", row.split()) for row in rows], wanted)
        said = [one.problem for one in found]
        self.assertIsNone(said[1])
        for text, words in zip(said[:1] + said[2:], (
                "ended before those in the foreground, exit status 1", "exit status 3",
                "killed by signal 9", "had not ended", "to start after")):
            self.assertIn(words, text)
        self.assertEqual([one.took_ns for one in found], [104, 7, 7, 7, None, None])
        stopped = processes.read([("x", "1 h1 background -99 -1 stopped 0".split())], wanted)
        self.assertIsNone(stopped[0].problem)
        for row in ("1 h1", "9 h1 background 0 0 exit 0", "x h1 background 0 0 exit 0"):
            with self.assertRaises(RunError):
                processes.read([("x", row.split())], wanted)

    def test_summary_without_flows(self):
        wanted = build([CLIENT])
        result = helpers.run_result(wanted, [], processes=tuple(processes.read(
            [("x", "1 h2 foreground 0 7 exit 0".split())], wanted)))
        found = summary.summarise(wanted, result)
        self.assertEqual((found["flows"], found["last_completion_ns"]), (0, None))
        self.assertEqual(found["programs"][0]["took_ns"], 7)

    def test_result_without_flows_is_written(self):
        wanted = build([CLIENT])
        result = helpers.run_result(wanted, [], connections={"h1:eth0": []}, processes=tuple(
            processes.read([("x", "1 h2 foreground 0 7 exit 0".split())], wanted)))
        facts = {"kernel": "6.12", "kernel_kind": "normal", "jobs": 1, "command": "lab",
                 "version": "1", "has_figures": True}
        with tempfile.TemporaryDirectory() as out:
            output.write(out, wanted, [result], {}, facts)
            with open(os.path.join(out, "programs.csv"), encoding="ascii") as file:
                self.assertEqual(file.read().splitlines()[1], "cubic,1,h2,true,0,0,7,7,exit,0")
            with open(os.path.join(out, "report.html"), encoding="utf-8") as file:
                self.assertIn("Program 1 on h2", file.read())


class CommandLine(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = os.path.join(scratch.name, "x.scenario")
        self.out = os.path.join(scratch.name, "out")
        with open(self.path, "w", encoding="ascii") as file:
            file.write('topology = { kind = "star", hosts = 3, rate = "1gbit", delay = 0 }\n'
                       'algorithm = [{ name = "cubic" }]\n')

    def test_refused_before_anything_runs(self):
        for words, said in (
                ([], ("--on", "no program in")),
                (["--serve", "h1", "true"], ("--on: all are in the background",)),
                (["--on", "h4", "true"], ("--on", "'h4'")),
                (["--on", "h1", "no-such-program"], ("--on", "install the package")),
                (["--on", "h1", "true", "--serve", "h2", "true {h9}"], ("--serve", "'{h9}'")),
                (["--on", "h1", "true", "--syscall", "1h"], ("--syscall", "'1h'")),
                (["--on", "h1", "true", "--pcap", "h7"], ("--pcap", "'h7'")),
                (["--on", "h1", "true", "--cc", "cubick"], ("--cc", "'cubick'"))):
            err = io.StringIO()
            with contextlib.redirect_stderr(err):
                status = cli.main(["exec", self.path, *words, "--out", self.out])
            with self.subTest(words):
                self.assertEqual((status, err.getvalue().count("\n")), (2, 1))
                for word in said:
                    self.assertIn(word, err.getvalue())
                self.assertFalse(os.path.exists(self.out))


def frame(ends, seq, flags, payload=0):
    """An Ethernet frame with an IPv4 TCP segment between (address, port) and (address, port)."""
    (src, sport), (dst, dport) = ends
    tcp = struct.pack("!HHIIBBHHH", sport, dport, seq, 0, 5 << 4, flags, 0, 0, 0) + bytes(payload)
    packet = struct.pack("!BBHHHBBH4B4B", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0,
                         10, 0, 0, src, 10, 0, 0, dst) + tcp
    return bytes(12) + b"\x08\x00" + packet.ljust(46, b"\0")	# with padding


class Packets(unittest.TestCase):
    OUT, BACK = ((1, 1000), (2, 80)), ((2, 80), (1, 1000))

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = os.path.join(scratch.name, "x.pcap")

    def put(self, rows, magic=0xa1b23c4d, cut=0):
        data = struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
        for time_ns, one in rows:
            data += struct.pack("<4I", time_ns // 10**9, time_ns % 10**9, len(one), len(one)) + one
        with open(self.path, "wb") as file:
            file.write(data[:len(data) - cut])

    def test_a_connection(self):
        top = 2**32 - 1
        self.put([(5, frame(self.OUT, top, 2)), (2 * 10**9, frame(self.OUT, top, 2)),
                  (2 * 10**9 + 9, frame(self.BACK, 500, 18)),
                  (2 * 10**9 + 10, frame(self.OUT, 0, 16, 100)),
                  (2 * 10**9 + 11, frame(self.OUT, 0, 16, 100)),
                  (2 * 10**9 + 12, frame(self.BACK, 501, 16, 7)),
                  (2 * 10**9 + 13, frame(self.OUT, 100, 17)),
                  (2 * 10**9 + 14, frame(self.BACK, 508, 17)),
                  (2 * 10**9 + 15, frame(self.OUT, 101, 16))])
        one, = connections.read(self.path)
        self.assertEqual(one.row(), ("10.0.0.1", 1000, "10.0.0.2", 80, 5, 2 * 10**9 + 4,
                                     2 * 10**9 + 9, 100, 7, "closed"))

    def test_those_that_do_not_end(self):
        self.put([(0, frame(self.OUT, 9, 2)), (1, frame(self.BACK, 5, 20)),
                  (2, frame(self.OUT, 77, 2)), (3, frame(((3, 1), (2, 80)), 1, 16, 9))])
        first, second = connections.read(self.path)
        self.assertEqual((first.end, first.took_ns, first.connect_ns), ("reset", 1, None))
        self.assertEqual((second.end, second.took_ns), ("open", None))
        found = connections.numbers([first, second])
        self.assertEqual((found["connections"], found["opened"], found["closed"]), (2, 0, 1))

    def test_bad_files(self):
        self.put([], magic=0xa1b2c3d4)
        with self.assertRaisesRegex(RunError, "not a pcap file in nanoseconds"):
            connections.read(self.path)
        for cut in (1, 60):
            self.put([(0, frame(self.OUT, 1, 2))], cut=cut)
            with self.assertRaisesRegex(RunError, "cut off"):
                connections.read(self.path)
        os.remove(self.path)
        with self.assertRaisesRegex(RunError, "No such file"):
            connections.read(self.path)
