# SPDX-License-Identifier: GPL-2.0
"""Plans of the laboratory, and the files they leave."""

import functools
import os

from quell_lab import runner

from .execute import directory, execute
from .tap import Failed


# What a host is told after it chose an algorithm; what a plan says itself comes later.
OF_PAPER = {name: ("adapt 0",) for name in
            ("timely", "smartt", "dcqcn", "dart", "hpcc", "hpcc_vaisf")}
OF_PAPER |= {name: ("adapt 0", "base-target 5000") for name in ("swift", "swift_vaisf")}


def as_in_paper(plan):
    """A plan whose hosts run the papers' algorithms: flows are not fitted to their path."""
    lines = []
    for line in plan.split("\n"):
        lines.append(line)
        words = line.split()
        if words[:1] == ["sysctl"] and words[2:3] == ["net.ipv4.tcp_congestion_control"]:
            lines += [f"param {words[1]} {words[3]} {value}"
                      for value in OF_PAPER.get(words[3], ())]
    return "\n".join(lines)


STACK = ("quell_labnic.ko", "quell_labflow.ko", "sch_swport.ko")
# Of each IP version: how switches forward, any address, their own, bits of an address.
IP = {4: ("net.ipv4.ip_forward", "0.0.0.0/0", "169.254.0.1", 32),
      6: ("net.ipv6.conf.all.forwarding", "::/0", "fe80::1", 128)}


def address(host, family=4):
    """Address of a host."""
    return f"10.0.{host}.1" if family == 4 else f"fd00::{host + 1}"


def star(cc, modules, link, params=(), others=(), more=None, family=4):
    """
    Lines of a plan: hosts h0, h1, ... at ports p0, p1, ... of the switch sw.

    cc: the algorithm of each host; modules: with their words; link: words of each host's; params:
    of each host, as "quell option 1"; others: algorithms that are allowed, too; more: {host: more
    words of its link}
    """
    forward, anywhere, gateway, bits = IP[family]
    lines = ["quell-plan 1", *(f"module {words}" for words in modules),
             f"cc-allowed {' '.join(dict.fromkeys(('reno', *others, *cc)))}", "node sw",
             f"sysctl sw {forward} 1"]
    for host, algorithm in enumerate(cc):
        where = f"{address(host, family)}/{bits}"
        lines += [f"node h{host}",
                  f"link h{host} eth0 sw p{host} {link} {(more or {}).get(host, '')}",
                  f"addr h{host} eth0 {where}",
                  f"route h{host} {anywhere} via {gateway} dev eth0",
                  f"route sw {where} dev p{host}",
                  f"sysctl h{host} net.ipv4.tcp_congestion_control {algorithm}",
                  *(f"param h{host} {words}" for words in params)]
    return [*lines, f"addr sw p0 {gateway}/{bits}"]


class PlanRun:
    """
    One plan (PLAN-FORMAT.md), executed when made.

    status: of uml-run, 0 if the plan came to its end and nothing complained;
    said: what it printed; out: the directory of its results.
    """

    def __init__(self, scratch, name, plan, kind="normal", seed=1, timeout_s=300, boot=None):
        kernel = runner.find_kernel(kind)
        self.kind = kind
        self.out = directory(scratch, name)
        path = self.out + ".plan"
        with open(path, "w", encoding="ascii") as file:
            file.write(as_in_paper(plan))
        done = execute(os.path.join(runner.HERE, "uml-run"), "--kernel", kernel.linux,
                        "--modules", kernel.modules, "--init", kernel.init, "--plan", path,
                        "--out", self.out, "--seed", str(seed), "--timeout", str(timeout_s),
                        *(("--boot", boot) if boot else ()))
        self.status = done.returncode
        self.said = done.stdout

    def text(self, name):
        """A result file, empty if it is not there."""
        try:
            with open(os.path.join(self.out, name), encoding="utf-8", errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def rows(self, name):
        """Rows of a result file as lists of words."""
        return [line.split() for line in self.text(name).splitlines()]

    def numbers(self, name):
        """Rows of a result file as tuples of numbers."""
        return [tuple(map(int, row)) for row in self.rows(name)]

    def port(self, node, dev):
        """Counters of a card and its root qdisc, those that are numbers."""
        row = next(row for row in self.rows("ports.out") if row[:2] == [node, dev])
        pairs = (word.split("=") for word in row[2:])
        return {key: int(value) for key, value in pairs if value.isdigit()}

    def counter(self, *names, node=None, module=None):
        """Sum of counters, of all nodes and modules or of one."""
        return sum(int(value) for at, of, name, value in self.rows("counters.out")
                   if name in names and node in (None, at) and module in (None, of))

    @functools.cached_property
    def flows(self):
        """Rows of flows.out."""
        return self.numbers("flows.out")

    @property
    def took_ns(self):
        """Completion time of the last flow."""
        return max(flow[2] - flow[1] for flow in self.flows)

    @property
    def again(self):
        """Segments sent again."""
        return sum(flow[5] for flow in self.flows)

    @property
    def unfinished(self):
        """Flows whose last byte did not arrive."""
        return sum(flow[2] < 0 for flow in self.flows)

    @property
    def searched(self):
        """Whether kmemleak looked, and found nothing; other complaints end a run."""
        return "quell-kmemleak 0\n" in self.text("uml.log")

    @property
    def completed(self):
        """Whether it ended well with all flows, on the debug kernel without a leak."""
        return (self.status == 0 and bool(self.flows) and not self.unfinished
                and (self.kind != "debug" or self.searched))

    def must(self, good, tap, name):
        """Failed for a run that is not good, which is a result of its own."""
        if not good:
            tap.fail(f"{name} runs", f"exit status {self.status}, "
                     f"{self.unfinished} of {len(self.flows)} flows unfinished", self.said)
            raise Failed
