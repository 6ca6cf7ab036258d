# SPDX-License-Identifier: GPL-2.0
"""Lists of flows in the formats of two simulators.

htsim's connection matrix (.cm): "Nodes N", "Connections N", then per flow
"SRC->DST [id N] start PICOSECONDS size BYTES".  HPCC's (.txt): the number of
flows, then per flow "SRC DST PRIORITY PORT BYTES SECONDS".  Both count hosts
from 0.
"""

import os
import re
from fractions import Fraction

from .algorithms import KERNELS_OWN
from .errors import InputError
from .schema import Key, each
from .units import show_time
from .workload import Arrival, DSCP_MAX, FLOWS_MAX, TIME_MAX

SIZE_MAX = 1 << 36
KEYS = {
    "file": Key("text"),
    "origin": Key("time", 0, TIME_MAX, 0),
    "cold": Key("bool", default=False),
    "dscp": Key("int", 0, DSCP_MAX, 0),
    "cc": Key("text", default=None, choices=KERNELS_OWN),
}
MATRIX_FLOW = re.compile(r"([0-9]+)->([0-9]+)\s*(.*)")
MATRIX_HEADS = ("Nodes", "Connections", "Triggers", "Failures")
# What of a flow the laboratory has no counterpart for, but may ignore.
MATRIX_IGNORED = ("prio", "send_done_trigger", "recv_done_trigger")


class Reader:
    """The flows of one file; places of mistakes are its lines."""

    def __init__(self, where, path, graph, origin_ns):
        self.where = where
        self.path = path
        self.graph = graph
        self.origin_ns = origin_ns
        self.found = []

    def wrong(self, number, problem):
        """InputError about a line."""
        return InputError(f"{self.where}: {self.path}:{number}", problem)

    def _number(self, line, word, what):
        try:
            return Fraction(word)
        except (ValueError, ZeroDivisionError):
            raise self.wrong(line, f"'{word}' is no {what}") from None

    def add(self, line, ends, size, start_ns):
        """Take a flow; ends and size as written, the start as a fraction."""
        hosts = []
        for word in ends:
            if not word.isdecimal() or int(word) >= len(self.graph.hosts):
                raise self.wrong(line, f"no host '{word}': 0 to {len(self.graph.hosts) - 1}")
            hosts.append(self.graph.hosts[int(word)])
        if hosts[0] == hosts[1]:
            raise self.wrong(line, f"host {ends[0]} sends to itself")
        if not size.isdecimal() or not 1 <= int(size) <= SIZE_MAX:
            raise self.wrong(line, f"'{size}' bytes is out of range: 1 to {SIZE_MAX}")
        start_ns = int(start_ns) - self.origin_ns
        if not 0 <= start_ns <= TIME_MAX:
            raise self.wrong(line, f"a start at {show_time(start_ns + self.origin_ns)} is out of "
                             f"range: {show_time(self.origin_ns)}, the origin, and later")
        self.found.append(Arrival(start_ns, *hosts, int(size)))

    def matrix_line(self, line, text):
        """A line of htsim's format; the number of flows that it announces, or None."""
        words = text.split()
        if words[0] in MATRIX_HEADS:
            if len(words) != 2 or not words[1].isdecimal():
                raise self.wrong(line, f"'{text}' is not {words[0]} NUMBER")
            if words[0] == "Nodes" and int(words[1]) > len(self.graph.hosts):
                raise self.wrong(line, f"{words[1]} nodes, the topology has "
                                 f"{len(self.graph.hosts)} hosts")
            return int(words[1]) if words[0] == "Connections" else None
        match = MATRIX_FLOW.fullmatch(text)
        if not match:
            raise self.wrong(line, f"'{text}' is not SRC->DST start PICOSECONDS size BYTES")
        words = match[3].split()
        values = dict(zip(words[::2], words[1::2]))
        if "trigger" in values:
            raise self.wrong(line, "the flow waits for another (trigger), which lists cannot "
                             "say here: [[flow]] tables have after")
        unknown = set(values) - {"id", "start", "size", *MATRIX_IGNORED}
        if len(words) % 2 or unknown or not {"start", "size"} <= set(values):
            raise self.wrong(line, f"'{text}' is not SRC->DST start PICOSECONDS size BYTES")
        self.add(line, match.groups()[:2], values["size"],
                 self._number(line, values["start"], "time in picoseconds") / 1000)
        return None

    def table_line(self, line, text):
        """A line of HPCC's format; the number of flows that it announces, or None."""
        words = text.split()
        if len(words) == 1 and words[0].isdecimal():
            return int(words[0])
        if len(words) != 6:
            raise self.wrong(line, f"'{text}' is not SRC DST PRIORITY PORT BYTES SECONDS")
        self.add(line, words[:2], words[4],
                 self._number(line, words[5], "time in seconds") * 10**9)
        return None

    def read(self):
        """All flows in order of time; as many as announced, if it is said."""
        take = self.matrix_line if self.path.endswith(".cm") else self.table_line
        announced = None
        try:
            with open(self.path, encoding="ascii") as file:
                lines = file.read().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(self.where, f"cannot read '{self.path}': {error}") from None
        for number, line in enumerate(lines, 1):
            text = line.partition("#")[0].strip()
            if text and not text.startswith("trigger "):
                count = take(number, text)
                announced = count if count is not None else announced
        if announced is not None and announced != len(self.found):
            raise InputError(self.where, f"'{self.path}' announces {announced} flows and has "
                             f"{len(self.found)}")
        if not 1 <= len(self.found) <= FLOWS_MAX:
            raise InputError(self.where, f"{len(self.found)} flows is out of range: 1 to "
                             f"{FLOWS_MAX}")
        return sorted(self.found, key=lambda arrival: arrival.start_ns)


def build(places, tables, graph):
    """[(arrivals, table of what they have in common)] of the [[flow-list]] tables."""
    lists = []
    for path, values in each(places, "flow-list", tables, KEYS):
        if not values["file"].endswith((".cm", ".txt")):
            raise InputError(places.name(f"{path}.file"), f"'{values['file']}' is neither .cm "
                             "(htsim) nor .txt (HPCC)")
        name = os.path.join(os.path.dirname(places.source), values["file"])
        reader = Reader(places.name(f"{path}.file"), name, graph, values["origin"])
        lists.append((reader.read(), {key: values[key] for key in ("cold", "dscp", "cc")}))
    return lists
