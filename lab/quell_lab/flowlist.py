# SPDX-License-Identifier: GPL-2.0
"""
Lists of flows as other simulators publish them; Documentation/lab-formats.md has their columns.

htsim's connection matrix is words; the lists of HPCC and its relatives for ns-3 are tables: the
number N of flows, then N lines, and after these any text, which their readers never reach.
"""

import os
import re
from dataclasses import dataclass, replace
from fractions import Fraction

from . import words
from .algorithms import KERNELS_OWN
from .errors import InputError
from .physics import NS_PER_S
from .schema import Key, each
from .sizes import SIZE_MAX
from .units import show_time
from .words import NUMBER
from .workload import Arrival, DSCP_MAX, FLOWS_MAX, TIME_MAX

HTSIM = "htsim"
# Columns of the lines of a table.
TABLES = {
    "hpcc": ("src", "dst", "priority", "port", "bytes", "start"),
    "conweave": ("src", "dst", "priority", "bytes", "start"),
    "ns3-rdma": ("src", "dst", "priority", "packets", "start", "stop"),
}
PACKET_BYTES = 1000		# of ns3-rdma, as its configuration has it
PORT_MAX = 65535
KEYS = {
    "file": Key("text"),
    "format": Key("text", default=None, choices=(HTSIM, *TABLES)),
    "switches": Key("scalars", default=None),
    "packet": Key("size", 1, 1 << 16, None),
    "origin": Key("time", 0, TIME_MAX, 0),
    "cold": Key("bool", default=False),
    "dscp": Key("int", 0, DSCP_MAX, 0),
    "cc": Key("text", default=None, choices=KERNELS_OWN),
}
MATRIX_FLOW = re.compile(r"([0-9]+)->([0-9]+)")
MATRIX_HEADS = ("Nodes", "Connections", "Triggers", "Failures")
# Words of a matrix's flow that a number follows.
MATRIX_KEYS = ("id", "start", "size", "prio", "trigger", "send_done_trigger", "recv_done_trigger")


@dataclass(frozen=True)
class Matrix:
    """What the flows of a connection matrix wait for, by position."""

    waits: dict			# position -> Word, the trigger that it waits for
    fires: dict			# number of a trigger -> [(position, host that fires it)]
    barriers: set		# numbers of triggers that wait for several


class Reader:
    """The flows of one file; places of mistakes are its words."""

    def __init__(self, where, path, graph, values):
        self.where = where
        self.path = path
        self.hosts = graph.hosts
        self.values = values
        self.switches = frozenset()
        self.found = []

    def whole(self, word, low, high, what):
        """A whole number of a word."""
        if not re.fullmatch("[0-9]{1,20}", word.text):
            raise word.wrong(f"'{word.text}' is no {what}")
        if not low <= int(word.text) <= high:
            raise word.wrong(f"'{word.text}', a {what}, is out of range: {low} to {high}")
        return int(word.text)

    def size(self, word, low):
        """Bytes: more than a flow may have are without an end."""
        if not re.fullmatch("[0-9]{1,20}", word.text):
            raise word.wrong(f"'{word.text}' is no whole number of bytes")
        if int(word.text) < low:
            raise word.wrong(f"'{word.text}' bytes is out of range: {low} and more")
        return int(word.text)

    def host(self, word, text):
        """Of a number in a word, without the switches before it."""
        number = int(text) if re.fullmatch("[0-9]{1,9}", text) else -1
        if number in self.switches:
            raise word.wrong(f"node {text} is a switch")
        place = number - sum(switch < number for switch in self.switches)
        if not 0 <= place < len(self.hosts):
            nodes = [node for node in range(len(self.hosts) + len(self.switches))
                     if node not in self.switches][:len(self.hosts)]
            raise word.wrong(f"no host '{text}': {nodes[0]} to {nodes[-1]}")
        return self.hosts[place]

    def ends(self, *ends):
        """The two hosts of a flow, of (word, number in it)."""
        src, dst = (self.host(*end) for end in ends)
        if src == dst:
            word, text = ends[1]
            raise word.wrong(f"host {text} sends to itself")
        return src, dst

    def time_ns(self, word, unit_ns, what):
        """A time from the origin on."""
        if not NUMBER.fullmatch(word.text):
            raise word.wrong(f"'{word.text}' is no time in {what}")
        time_ns = int(Fraction(word.text) * unit_ns) - self.values["origin"]
        if not 0 <= time_ns <= TIME_MAX:
            origin_ns = self.values["origin"]
            raise word.wrong(f"{show_time(time_ns + origin_ns)} is out of range: "
                             f"{show_time(origin_ns)}, the origin, to {show_time(TIME_MAX)} later")
        return time_ns

    def add(self, ends, size_bytes, start_ns, stop_ns=None):
        """Take a flow; without an end: of 0 bytes, or of more than a flow may have."""
        endless = not 0 < size_bytes <= SIZE_MAX
        self.found.append(Arrival(start_ns, *ends, SIZE_MAX if endless else size_bytes,
                                  stop_ns=stop_ns, endless=endless and stop_ns is None))

    # Tables

    def rows(self, lines):
        """The lines of flows: as many as announced, if the first line is a number."""
        if not lines or len(lines[0]) > 1:
            return lines
        count = self.whole(lines[0][0], 0, 10**12, "number of flows")
        if count <= len(lines) - 1:
            return lines[1:count + 1]
        few = str(len(lines) - 1)
        raise lines[0][0].wrong(
            f"announces {count} flows and has {few}" + (
                ": the generator may have written its estimate over, which had more digits"
                if lines[0][0].text.startswith(few) else ""))

    def tell(self, rows):
        """Name of a table's format by its columns, the same of all lines."""
        for row in rows:
            if len(row) not in (5, 6):
                raise row[0].wrong(f"{len(row)} columns: {self.columns(*TABLES)}")
        if all(len(row) == 5 for row in rows):
            return "conweave"
        fits = [(_is_hpcc(row), _is_rdma(row)) for row in rows if len(row) == 6]
        count = dict(zip(("hpcc", "ns3-rdma"), map(sum, zip(*fits))))
        if (False, False) in fits:	# reading it as most of the others are says why
            return max(count, key=count.get)
        possible = [name for name in count if count[name] == len(fits)]
        if len(possible) != 1:
            raise rows[0][0].wrong(("columns fit" if possible else "no columns of") + " hpcc and "
                                   "ns3-rdma: name one by format")
        return possible[0]

    @staticmethod
    def columns(*names):
        """How some formats have their lines."""
        return " or ".join(f"{' '.join(TABLES[name]).upper()} ({name})" for name in names)

    def table(self, lines):
        """Read HPCC's format or one of its relatives'."""
        rows = self.rows(lines)
        name = self.values["format"] or self.tell(rows)
        if self.values["packet"] and name != "ns3-rdma":
            raise InputError(self.where.removesuffix("file") + "packet", f"{name} has bytes, not "
                             "packets")
        for row in rows:
            if len(row) != len(TABLES[name]):
                raise row[0].wrong(f"{len(row)} columns are not {self.columns(name)}")
            self.row(dict(zip(TABLES[name], row)))

    def row(self, cells):
        """Take a line of a table, {column: Word}."""
        ends = self.ends((cells["src"], cells["src"].text), (cells["dst"], cells["dst"].text))
        self.whole(cells["priority"], 0, 255, "priority")
        start_ns = self.time_ns(cells["start"], NS_PER_S, "seconds")
        if "packets" in cells:
            size = self.whole(cells["packets"], 1, 10**18, "number of packets")
            stop_ns = self.time_ns(cells["stop"], NS_PER_S, "seconds")
            if stop_ns <= start_ns:
                raise cells["stop"].wrong("stops before it starts")
            self.add(ends, size * (self.values["packet"] or PACKET_BYTES), start_ns, stop_ns)
            return
        size = cells["bytes"]
        if "port" in cells:
            self.whole(cells["port"], 0, PORT_MAX, "port")
            self.add(ends, self.size(size, 1), start_ns)
        else:	# whose reader sends a byte where there is none
            self.add(ends, max(self.size(size, 0), 1), start_ns)

    # Connection matrices

    def matrix(self, lines):
        """Read htsim's format."""
        heads, waiting = {}, Matrix({}, {}, set())
        for line in lines:
            first = line[0].text
            if first in MATRIX_HEADS:
                if len(line) != 2:
                    raise line[0].wrong(f"'{first}' and {len(line) - 1} words behind it: is not "
                                        f"{first} NUMBER")
                heads[first] = self.whole(line[1], 0, 10**9, f"number of {first}")
                if first == "Nodes" and heads[first] > len(self.hosts):
                    raise line[1].wrong(f"{heads[first]} nodes, the topology has "
                                        f"{len(self.hosts)} hosts")
            elif first == "trigger":
                self.trigger(line, waiting)
            elif first == "failure":
                raise line[0].wrong("failed links are not in lists here: [topology] has failed")
            else:
                self.connection(line, waiting)
        if heads.get("Connections", len(self.found)) != len(self.found):
            raise InputError(self.where, f"'{self.path}' announces {heads['Connections']} flows "
                             f"and has {len(self.found)}")
        for position, word in waiting.waits.items():
            self.found[position] = replace(self.found[position],
                                           after=self.fired(position, word, waiting))
        self.no_circle(waiting.waits)

    def trigger(self, line, waiting):
        """A line "trigger id N KIND"."""
        texts = [word.text for word in line]
        if len(texts) < 4 or texts[1] != "id":
            raise line[0].wrong("not trigger id NUMBER oneshot")
        if "oneshot" not in texts and "multishot" not in texts:
            waiting.barriers.add(self.whole(line[2], 1, 10**9, "trigger"))

    def connection(self, line, waiting):
        """A line "SRC->DST KEY NUMBER ..."."""
        match = MATRIX_FLOW.fullmatch(line[0].text)
        if not match:
            raise line[0].wrong(f"'{line[0].text}' is not SRC->DST")
        given, rest = {}, iter(line[1:])
        for key in rest:
            if key.text == "msg":
                raise key.wrong("messages on one connection are not in lists here: [[flow]] has on")
            if key.text not in MATRIX_KEYS or key.text in given:
                raise key.wrong(f"'{key.text}' is not one of {', '.join(MATRIX_KEYS)}, once")
            given[key.text] = next(rest, None)
            if given[key.text] is None:
                raise key.wrong(f"no number behind {key.text}")
        if ("start" in given) == ("trigger" in given) or "size" not in given:
            text = " ".join(word.text for word in line)
            raise line[0].wrong(f"'{text}' is not SRC->DST start PICOSECONDS size BYTES")
        ends = self.ends(*((line[0], text) for text in match.groups()))
        start_ns = self.time_ns(given["start"], Fraction(1, 1000), "picoseconds") \
            if "start" in given else 0
        self.add(ends, self.size(given["size"], 0), start_ns)
        position = len(self.found) - 1
        if "trigger" in given:
            waiting.waits[position] = given["trigger"]
        for key in ("id", "prio"):
            if key in given:
                self.whole(given[key], 0, 10**9, key)
        for key, host in (("send_done_trigger", ends[0]), ("recv_done_trigger", ends[1])):
            if key in given:
                number = self.whole(given[key], 1, 10**9, "trigger")
                waiting.fires.setdefault(number, []).append((position, host))

    def fired(self, position, word, waiting):
        """Position of the flow that one waits for; InputError if its host does not see the end."""
        number = self.whole(word, 1, 10**9, "trigger")
        fires = waiting.fires.get(number, ())
        if number in waiting.barriers or len(fires) != 1:
            many = "a barrier" if number in waiting.barriers else f"fired by {len(fires)} flows"
            raise word.wrong(f"trigger {number} is {many}: here a flow waits for one other")
        if self.found[position].src != fires[0][1]:
            raise word.wrong(f"{self.found[position].src} does not see the end that fires trigger "
                             f"{number}: only {fires[0][1]} does")
        return fires[0][0]

    def no_circle(self, waits):
        """InputError for a flow that waits, by way of others or not, for itself."""
        seen = {}		# position -> the flow from which it was reached first
        for first in waits:
            position = first
            while position is not None and position not in seen:
                seen[position] = first
                position = self.found[position].after
            if position is not None and seen[position] == first:
                raise waits[position].wrong(f"trigger {waits[position].text} closes a circle of "
                                            "flows that wait for each other")

    def ordered(self):
        """The flows in order of time, those that wait behind the others."""
        order = sorted(range(len(self.found)), key=lambda position: (
            self.found[position].after is not None, self.found[position].start_ns))
        place = {position: number for number, position in enumerate(order)}
        return [replace(one, after=place.get(one.after)) for one in (
            self.found[position] for position in order)]

    def read(self):
        """All flows."""
        self.switches = _switches(self.where.removesuffix("file") + "switches", self.path,
                                  self.values["switches"])
        name = self.values["format"]
        if name is None and not self.path.endswith((".cm", ".txt")):
            raise InputError(self.where, f"'{os.path.basename(self.path)}' is neither .cm nor "
                             f".txt: name the format, {', '.join((HTSIM, *TABLES))}")
        lines = words.read(self.where, self.path)
        if name == HTSIM or name is None and self.path.endswith(".cm"):
            self.matrix(lines)
        else:
            self.table(lines)
        if not 1 <= len(self.found) <= FLOWS_MAX:
            raise InputError(self.where, f"'{self.path}': {len(self.found)} flows is out of "
                             f"range: 1 to {FLOWS_MAX}")
        return self.ordered()


def _is_hpcc(row):
    return (re.fullmatch("[0-9]+", row[4].text) is not None and NUMBER.fullmatch(row[3].text)
            is not None and float(row[3].text) <= PORT_MAX)


def _is_rdma(row):
    times = [word.text for word in row[4:]]
    return all(NUMBER.fullmatch(time) for time in times) and float(times[0]) < float(times[1])


def _switches(where, path, value):
    """Numbers of the nodes that are switches: of a list, or of HPCC's file of the topology."""
    if value is None:
        return frozenset()
    if isinstance(value, str):
        lines = words.read(where, os.path.join(os.path.dirname(path), value))
        numbers = [word for line in lines for word in line]
        if not lines or len(lines[0]) != 3 or not re.fullmatch("[0-9]{1,9}", lines[0][1].text):
            raise InputError(where, f"'{value}' does not begin with NODES SWITCHES LINKS")
        texts = [word.text for word in numbers[3:3 + int(numbers[1].text)]]
    else:
        texts = [str(one) for one in (value if isinstance(value, list) else [value])]
    if not all(re.fullmatch("[0-9]{1,9}", text) for text in texts):
        raise InputError(where, "not numbers of nodes")
    return frozenset(map(int, texts))


def build(places, tables, graph):
    """[(arrivals, table of what they have in common)] of the [[flow-list]] tables."""
    lists = []
    for path, values in each(places, "flow-list", tables, KEYS):
        name = os.path.join(os.path.dirname(places.source), values["file"])
        reader = Reader(places.name(f"{path}.file"), name, graph, values)
        lists.append((reader.read(), {key: values[key] for key in ("cold", "dscp", "cc")}))
    return lists
