#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The screen of "quell flow watch".

Without a terminal: flows and their past, the order, which flow is selected and which are on the
screen, sparklines, lines at all widths, and the sum.  In a terminal, with samples of a script:
failed ones, signals, terminals that stall or go, and the command that begins it.

usage: test_watch.py QUELL
"""

import json
import os
import re
import signal
import sys
import tempfile
import termios
import unittest
from array import array
from importlib.machinery import SourceFileLoader

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "../flow-watch")
watch = SourceFileLoader("watch", PROGRAM).load_module()
watch_pty = SourceFileLoader(
    "watch_pty", os.path.join(HERE, "../../../selftests/net/watch_pty")).load_module()


def flow(cookie, acked=0, **more):
    """One whose round trip is its cookie in microseconds."""
    return {"src": "10.0.0.1", "sport": cookie, "dst": "10.9.0.2", "dport": 5201, "cc": "swift",
            "cookie": cookie, "rtt_ns": 1000 * cookie, "min_rtt_ns": 1000, "mss_bytes": 1448,
            "window_bytes": 724, "limited_by": "window", "state": "established",
            "acked_bytes": acked * cookie} | more


def flows(sort="rate", ascending=False, cookies=(), acked=0, now_s=1):
    taken = watch.Flows(sort, ascending)
    sample(taken, [flow(cookie, acked) for cookie in cookies], now_s)
    return taken


def sample(taken, new, now_s):
    taken.take(new, taken.forget(), now_s)


def order(taken):
    return [row.key[0] for row in taken.rows]


class Samples(unittest.TestCase):
    """Rates and the past, and the order of flows."""

    def test_rates(self):
        taken = flows(cookies=(3, 1))
        self.assertEqual(order(taken), [1, 3])          # without a rate yet
        self.assertIsNone(taken.rows[0].rate)
        self.assertEqual(taken.rows[1].series("rtt")[-2:], [None, 3000])
        self.assertEqual(taken.rows[0].series("delay")[-1], 0)
        sample(taken, [flow(2, 1000), flow(3, 1000), flow(1, 1000)], 3)
        self.assertEqual([row.rate for row in taken.rows], [1500, 500, None])
        self.assertEqual(taken.rows[0].series("rtt")[-2:], [3000, 3000])
        sample(taken, [flow(3, 10)], 4)                    # counted anew
        self.assertIsNone(taken.rows[0].rate)
        sample(taken, [], 5)
        self.assertEqual((taken.rows, taken.at), ([], 0))

    def test_forget(self):
        """While a sample is parsed only the past of the one before takes memory."""
        taken = flows(cookies=(1, 2))
        before = taken.forget()
        self.assertEqual(taken.rows, [])
        self.assertEqual([(len(past), acked) for past, acked in before.values()],
                         [(3 * watch.PAST, 0)] * 2)
        self.assertEqual(watch.without_zeros({"rtos": 0, "cuts": 1}), {"cuts": 1})
        self.assertEqual(watch.without_zeros(flow(1)), flow(1))

    def test_no_cookies(self):
        """Without tcp_diag a flow has no cookie and no rate."""
        bare = [{key: value for key, value in flow(port).items()
                 if key not in ("cookie", "state", "acked_bytes")} for port in (7, 8)]
        taken = watch.Flows("rate", False)
        for now_s in (1, 2):
            sample(taken, bare, now_s)
        self.assertEqual([row.rate for row in taken.rows], [None, None])
        self.assertEqual(taken.rows[0].series("rtt")[-2], 7000)
        alike = [bare[0], bare[0] | {"dst": "10.9.0.3"}, bare[0] | {"src": "10.0.0.2"}]
        sample(taken, alike, 3)
        self.assertEqual(len({row.key for row in taken.rows}), 3)

    def test_order(self):
        taken = flows(cookies=(2, 1, 3))
        sample(taken, [flow(cookie, 100) for cookie in (2, 1, 3)], 2)
        for sort, ascending, want in (("rate", False, [3, 2, 1]), ("rate", True, [1, 2, 3]),
                                      ("window", True, [1, 2, 3]), ("window", False, [1, 2, 3]),
                                      ("rtt", False, [3, 2, 1]), ("delay", True, [1, 2, 3])):
            taken.sort, taken.ascending = sort, ascending
            taken.order()
            self.assertEqual(order(taken), want, (sort, ascending))

    def test_selection(self):
        """A selected flow remains so until it has gone; the first is whichever is first."""
        taken = flows("rtt", cookies=(1, 2, 3, 4))
        taken.move(1)
        self.assertEqual((taken.at, taken.follow[0]), (1, 3))
        taken.ascending = True
        taken.order()
        self.assertEqual(taken.at, 2)
        sample(taken, [flow(cookie) for cookie in (1, 2, 4)], 2)
        self.assertEqual((taken.at, taken.follow), (2, None))
        sample(taken, [flow(1)], 3)
        self.assertEqual(taken.at, 0)
        taken.move(100)
        taken.move(-100)
        self.assertEqual((taken.at, taken.follow), (0, None))
        sample(taken, [], 4)
        taken.move(1)
        self.assertEqual(taken.at, 0)

    def test_scroll(self):
        for n, at, top, lines, want in (
                (0, 0, 0, 10, 0), (5, 4, 0, 10, 0), (50, 9, 0, 10, 0), (50, 10, 0, 10, 1),
                (50, 49, 0, 10, 40), (50, 3, 20, 10, 3), (50, 49, 49, 10, 40), (50, 49, 40, 0, 40)):
            taken = watch.Flows("rtt", False)
            taken.rows, taken.at, taken.top = [None] * n, at, top
            taken.scroll(lines)
            self.assertEqual(taken.top, want, (n, at, top, lines))

    def test_sum(self):
        taken = flows(cookies=(1, 2))
        sample(taken, [flow(1, 1000000), flow(2, 1000000, adapt="fallback")], 2)
        self.assertEqual(taken.sum(), "24.0Mbit/s in all; limited by window 2; CUBIC governs 1")


class Lines(unittest.TestCase):
    """Cells, colours, widths."""

    FLOW = flow(81, sport=43210, rtt_ns=81200, min_rtt_ns=15000, target_ns=65000,
                reduction="loss", reduction_age_ns=1200000, retrans_segs=12)

    def line(self, columns, **more):
        row = watch.Row(self.FLOW | more, {}, 0)
        row.rate = 125000000
        # Delays of 50 us up to the target
        row.past = array("d", [watch.UNKNOWN] * 90 +
                         [watch.UNKNOWN, 0, 50000, row.rate, 81200, 66200])
        table = watch.Table(False, True)
        table.columns = columns
        table.fit([row])
        raw = table.flow(row, False)
        return re.sub("\033[^m]*m", "", raw), raw

    def test_sparkline(self):
        past = [None] * 24 + [i + 0.5 for i in range(8)]
        self.assertEqual(watch.blocks([None] * 32, 4, 0, False), "    ")
        self.assertEqual(watch.blocks(past, 9, 8, False), " _.:-=+*#")
        self.assertEqual(watch.blocks(past, 3, 0, True), "▆▇█")
        self.assertEqual(watch.blocks(past, 2, 1000, True), "▁▁")
        self.assertEqual(watch.blocks([0] * 32, 1, 0, False), "_")

    def test_cells(self):
        text, raw = self.line(108)
        self.assertEqual(text, "swift 43210 10.9.0.2:5201 0.50 1.00G        # 81.2us       _# "
                         "66.2us       *# 65.0us   12 loss 1.20ms window")
        self.assertIn("\033[0;31m loss", raw)
        self.assertIn("\033[0;33m 81.2us", raw)
        text, raw = self.line(200, cc="\033[2J", reduction="\x9b", fallback="noise",
                              adapt="fallback", dst="fe80::1%\n")
        for cell in ("\\x1b[2J ", " [fe80::1%\\x0a]:5201 ", " cubic ", " \\x9b ", "window,noise"):
            self.assertIn(cell, text)

    def test_widths(self):
        for columns in range(1, 301):
            text, _ = self.line(columns)
            self.assertEqual(len(text), columns)
            self.assertTrue(columns < 32 or ":5201" in text, text)
        for columns, port in ((80, False), (120, True)):
            text, _ = self.line(columns)
            self.assertIn(" loss ", text)
            self.assertEqual(" 43210 " in text, port)

    def test_longest(self):
        longest = {"dst": ":".join(["fdfd"] * 8), "cc": "swift_vaisf", "reduction": "timeout",
                   "fallback": "delay-stays"}
        self.assertEqual(self.line(79, **longest)[0],
                         "swift_vaisf [fd..:5201 1.00G    # 81.2us   _# 66.2us   *# 65.0us timeout"
                         " delay-")
        text = self.line(300, **longest)[0]
        self.assertIn("fdfd:fdfd]:5201 ", text)
        self.assertIn(" window,delay-stays", text)

    def test_words(self):
        words = watch.Row(self.FLOW | {"dev": "l\033", "pacing_bytes_ps": None, "n_q8": 384,
                                       "path_rate_bytes_ps": 125000000,
                                       "counters": {"rtt-samples": 9, "none": 0}}, {}, 0).words()
        self.assertEqual(list(words)[:5],
                         ["10.0.0.1:43210", "->", "10.9.0.2:5201", "dev l\\x1b", "sk:51"])
        words = set(watch.Row(self.FLOW | {"pacing_bytes_ps": None, "n_q8": 384,
                                           "counters": {"rtt-samples": 9, "none": 0}}, {}, 0).words())
        self.assertLess({"window:724b/0.50pkt", "rtt:81.2us", "pacing:none", "n:1.50", "retrans:12",
                         "limited-by:window", "rtt-samples:9"}, words)
        self.assertNotIn("none:0", words)

    def test_keys(self):
        self.assertEqual(list(watch.split_keys("j\033[A\033[99~\033[5~ \rq")), list("jk-pdq"))


class Terminal(unittest.TestCase):
    """A directory of scripts, and terminals."""

    def setUp(self):
        self.dir = self.enterContext(tempfile.TemporaryDirectory())

    def script(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)
        return path

    def terminal(self, *command):
        terminal = watch_pty.Terminal("xterm", (80, 24), command)
        self.addCleanup(terminal.program.wait)
        self.addCleanup(terminal.program.kill)
        return terminal


class InTerminal(Terminal):
    """A script instead of quell makes the samples, and counts them in a file."""

    SHOW = f"echo '{json.dumps([flow(7)])}'"

    def start(self, sample, *before, interval_s=0.05):
        """Of the script, $PPID is the program."""
        self.runs = os.path.join(self.dir, "runs")
        with open(self.runs, "w", encoding="ascii"):
            pass
        quell = self.script("quell", f"echo $PPID >> {self.runs}\n{sample}")
        return self.terminal(*before, PROGRAM, quell, str(int(interval_s * 1e9)), "rate", "u", "")

    def samples(self):
        """Process numbers of the program, one for each sample."""
        with open(self.runs, encoding="ascii") as file:
            return [int(line) for line in file]

    def ends_restored(self, terminal):
        """Within a while, with status 0 and the attributes of before."""
        self.assertEqual(terminal.program.wait(watch_pty.WAIT_S), 0)
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)

    def test_failures(self):
        """Of the first sample and of a later one."""
        later = f'[ "$(wc -l < {self.dir}/runs)" -gt 2 ] || {{ {self.SHOW}; exit 0; }}\n'
        for before in ("", later):
            for sample, status, message in (
                    ("echo broken >&2; exit 3", 3, "^broken$"),
                    ("kill -KILL $$", 2, "^quell: flow show: ended by signal 9$"),
                    ("true", 2, "^quell: flow show: no JSON"),
                    ("kill -WINCH $PPID; echo broken >&2; exit 2", 2, "^broken$"),
                    (f"rm {self.dir}/quell; {self.SHOW}", 2, "quell: No such file")):
                terminal = self.start(before + sample)
                terminal.end(status)
                self.assertRegex(terminal.screen.text(), "(?m)" + message)

    def test_interrupt_first_sample(self):
        terminal = self.start("echo begun >&2; exec sleep 100")
        terminal.see("^begun$")
        terminal.key("\\x03")
        terminal.end(0)
        terminal.never("Traceback")

    def test_longest_interval(self):
        terminal = self.start(self.SHOW, interval_s=18446744073)
        terminal.until("two samples", lambda: len(self.samples()) == 2)
        terminal.see("1 flow by rate")
        terminal.key("s")
        terminal.see("by window")
        terminal.key("q")
        terminal.end(0)

    def stall(self, terminal):
        """Until no sample follows, as the newest cannot be painted."""
        terminal.see("1 flow by rate")
        terminal.key("\\x13")
        n = 0
        while n < len(self.samples()):
            n = len(self.samples())
            terminal.calm(0.3)

    def test_signal_while_stalled(self):
        terminal = self.start(self.SHOW)
        self.stall(terminal)
        terminal.signal("TERM")
        self.ends_restored(terminal)

    def test_not_blocking(self):
        terminal = self.start(self.SHOW)
        os.set_blocking(terminal.slave, False)
        self.stall(terminal)
        terminal.key("\\x11s")
        terminal.see("by window")
        terminal.key("q")
        terminal.end(0)

    def test_hangup(self):
        terminal = self.start(self.SHOW)
        terminal.see("1 flow by rate")
        os.close(terminal.master)
        self.assertEqual(terminal.program.wait(watch_pty.WAIT_S), 0)

    def test_stop_and_go_on(self):
        """By the key and by another process, under a shell, which goes on at the next line."""
        for stop in ("key", "signal"):
            terminal = self.start(self.SHOW, "bash", "-c",
                                  'set -m; "$@"; echo stopped; read -r; fg > /dev/null', "bash")
            terminal.see("1 flow by rate")
            if stop == "key":
                terminal.key("\\x1a")
            else:
                os.kill(self.samples()[0], signal.SIGTSTP)
            terminal.see("^stopped$")
            self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)
            self.assertFalse(terminal.screen.modes["alternate"])
            terminal.key("\\r")
            terminal.until("the screen", lambda: terminal.screen.modes["alternate"])
            terminal.key("q")
            terminal.end(0)


class Command(Terminal):
    """The program's arguments, of the locale, and what it inherits."""

    def test_arguments(self):
        os.environ["QUELL_FLOW_WATCH"] = self.script(
            "program", 'echo "flags:$4 errors:$(readlink /proc/$$/fd/2)"')
        self.addCleanup(os.environ.pop, "QUELL_FLOW_WATCH")
        for locale, flags in (("C", "c"), ("C.UTF-8", "cu"), ("xx_XX.UTF-8", "c")):
            terminal = self.terminal("env", f"LC_ALL={locale}", "NO_COLOR=", QUELL, "flow", "watch")
            terminal.see(f"^flags:{flags} errors:/dev/pts")
        terminal = self.terminal("sh", "-c", 'exec "$0" flow watch 2>&-', QUELL)
        terminal.see("errors:/dev/null$")

    def test_no_interpreter(self):
        os.environ["QUELL_FLOW_WATCH"] = self.script("program", "")
        self.addCleanup(os.environ.pop, "QUELL_FLOW_WATCH")
        with open(os.environ["QUELL_FLOW_WATCH"], "w", encoding="ascii") as file:
            file.write("#!/nowhere/python3\n")
        terminal = self.terminal(QUELL, "flow", "watch")
        terminal.see("no interpreter .try: apt install")
        terminal.end(2)

    def test_as_built(self):
        """It is found beside the command, and runs no code of the user's environment."""
        with open(os.path.join(self.dir, "json.py"), "w", encoding="ascii") as file:
            file.write("raise RuntimeError\n")
        terminal = self.terminal("env", f"PYTHONPATH={self.dir}", QUELL, "flow", "watch")
        terminal.see("^quell: ")
        terminal.end(2)
        terminal.never("RuntimeError|no program")


if __name__ == "__main__":
    QUELL = os.path.abspath(sys.argv.pop(1))
    unittest.main()
