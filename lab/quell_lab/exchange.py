# SPDX-License-Identifier: GPL-2.0
"""Flows for other simulators, and from packet traces; flowlist.py reads these lists."""

import subprocess
import sys

from . import compare, flowlist, scenario, sizes
from .errors import InputError
from .physics import NS_PER_S
from .schema import Places
from .workload import FLOWS_MAX

FCT = "fct"
FORMATS = (flowlist.HTSIM, *flowlist.TABLES, FCT)
# Most bytes, or of ns3-rdma packets, that the readers' integers hold.
LARGEST = {flowlist.HTSIM: 2**31 - 1, "hpcc": 2**32 - 1, "conweave": 2**32 - 1,
           "ns3-rdma": 2**32 - 1}
PRIORITY = 3			# as in the published lists
PORT = 100
FIRST_ADDRESS = 0x0b000001	# of node 0, as HPCC numbers them
CDF_LINES = 1000
TSHARK_FILTER = "tcp.len > 0 && !tcp.analysis.keep_alive"
TSHARK_FIELDS = ("frame.time_epoch", "tcp.stream", "ip.src", "ipv6.src", "ip.dst", "ipv6.dst",
                 "tcp.dstport", "tcp.seq", "tcp.len")
SEQ = 1 << 32
MISSING = 2			# a flow of so many times the payload in the trace is noted


def _seconds(time_ns):
    return f"{time_ns // NS_PER_S}.{time_ns % NS_PER_S:09d}"


class Writer:
    """The flows of a scenario in the format of a simulator."""

    def __init__(self, wanted, name):
        self.scenario = wanted
        self.name = name
        self.places = {host: place for place, host in enumerate(wanted.graph.hosts)}
        flows = wanted.flows
        if name != flowlist.HTSIM:	# whose readers want them so
            flows = sorted(flows, key=lambda flow: flow.start_ns)
        self.flows = flows

    def cannot(self, flow, problem):
        """InputError about a flow."""
        return InputError(self.name, f"flow {flow.number} ({flow.src} to {flow.dst}) {problem}")

    def size(self, flow, unit=1):
        """What the format has of the size of a flow."""
        if flow.endless and self.name == flowlist.HTSIM:
            return 0
        size = -(-flow.size_bytes // unit)
        if size > LARGEST[self.name]:
            raise self.cannot(flow, f"has {flow.size_bytes} bytes: more than the "
                              f"{LARGEST[self.name] * unit} that the reader holds")
        return size

    def check(self, flow):
        """InputError for a flow that the format cannot express."""
        if flow.on is not None:
            raise self.cannot(flow, f"takes the connection of flow {flow.on}, which lists cannot "
                              "express")
        if flow.after is not None and (self.name != flowlist.HTSIM or flow.start_ns):
            raise self.cannot(flow, f"starts {'some time ' * bool(flow.start_ns)}after flow "
                              f"{flow.after}, which {self.name} cannot express")
        if flow.stop_ns is not None and self.name != "ns3-rdma":
            raise self.cannot(flow, f"has a stop, which {self.name} cannot express")

    def lines(self):
        """The list, line by line."""
        for flow in self.flows:
            self.check(flow)
        if self.name == flowlist.HTSIM:
            yield from self.matrix()
            return
        yield str(len(self.flows))
        for flow in self.flows:
            ends = f"{self.places[flow.src]} {self.places[flow.dst]} {PRIORITY}"
            start = _seconds(flow.start_ns)
            if self.name == "ns3-rdma":
                stop_ns = self.scenario.until_ns if flow.stop_ns is None else flow.stop_ns
                yield (f"{ends} {self.size(flow, flowlist.PACKET_BYTES)} {start} "
                       f"{_seconds(stop_ns)}")
            elif self.name == "hpcc":
                yield f"{ends} {PORT} {self.size(flow)} {start}"
            else:
                yield f"{ends} {self.size(flow)} {start}"

    def matrix(self):
        """htsim's connection matrix; each flow that others wait for fires a trigger of its own."""
        number_of = {flow.number: flow for flow in self.flows}
        triggers = {}		# (number of a flow, which end sees its end) -> trigger
        for flow in self.flows:
            if flow.after is not None:
                end = "send" if flow.src == number_of[flow.after].src else "recv"
                triggers.setdefault((flow.after, end), len(triggers) + 1)
        yield f"Nodes {len(self.places)}"
        yield f"Connections {len(self.flows)}"
        yield f"Triggers {len(triggers)}"
        for flow in self.flows:
            begin = f"start {flow.start_ns * 1000}"
            if flow.after is not None:
                end = "send" if flow.src == number_of[flow.after].src else "recv"
                begin = f"trigger {triggers[flow.after, end]}"
            fires = "".join(f" {end}_done_trigger {triggers[flow.number, end]}"
                            for end in ("send", "recv") if (flow.number, end) in triggers)
            yield (f"{self.places[flow.src]}->{self.places[flow.dst]} id {flow.number} {begin} "
                   f"size {self.size(flow)}{fires}")
        for number in triggers.values():
            yield f"trigger id {number} oneshot"


def completions(operand):
    """Lines of HPCC's fct.txt of a run, DIR or DIR@LABEL: of its finished flows, by their ends."""
    side = compare.one_run(operand)
    rows = [row for row in side.rows() if int(row["fct_ns"]) >= 0]
    graph = scenario.build_graph(Places(side.directory),
                                 side.document["config"]["as_written"]["topology"])
    address = {host: f"{FIRST_ADDRESS + place // 256 * 0x10000 + place % 256 * 0x100:08x}"
               for place, host in enumerate(graph.hosts)}
    for row in sorted(rows, key=lambda row: int(row["end_ns"])):
        yield (f"{address[row['src']]} {address[row['dst']]} {10000 + int(row['flow'])} {PORT} "
               f"{row['bytes']} {row['start_ns']} {row['fct_ns']} {row['ideal_ns']}")


def _fields(path):
    """[{field: text}] of TCP's packets with data, by tshark."""
    command = ["tshark", "-n", "-r", path, "-Y", TSHARK_FILTER, "-T", "fields", "-E",
               "separator=,", "-E", "occurrence=l"]
    for name in TSHARK_FIELDS:
        command += ["-e", name]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise InputError("import", "needs tshark: apt install tshark") from None
    if found.returncode:
        lines = found.stderr.strip().splitlines() or [f"tshark ended with {found.returncode}"]
        raise InputError(path, lines[-1].removeprefix("tshark: "))
    return [dict(zip(TSHARK_FIELDS, line.split(","))) for line in found.stdout.splitlines()]


class _Direction:
    """Of a connection: the range of its sequence numbers, which may pass 2^32 several times."""

    def __init__(self, time_ns, seq):
        self.time_ns = time_ns
        self.last = seq		# place of the newest number, counted on
        self.low = self.high = seq
        self.seen = 0		# bytes of payload in the trace

    def see(self, seq, size):
        """A packet with data: at most half of the numbers from the one before it."""
        self.last += (seq - self.last + SEQ // 2) % SEQ - SEQ // 2
        self.low = min(self.low, self.last)
        self.high = max(self.high, self.last + size)
        self.seen += size


def trace(path):
    """
    ([(start_ns, source, destination, port, bytes)], addresses in order, notes) of the data of TCP
    connections in a packet trace: a flow is a direction of one.
    """
    flows, hosts, first_ns = {}, {}, None
    for one in _fields(path):
        seconds, _, fraction = one["frame.time_epoch"].partition(".")
        time_ns = int(seconds) * NS_PER_S + int(fraction.ljust(9, "0")[:9])
        first_ns = time_ns if first_ns is None else first_ns
        ends = [one[f"ip.{end}"] or one[f"ipv6.{end}"] for end in ("src", "dst")]
        for end in ends:
            hosts.setdefault(end, len(hosts))
        seq = int(one["tcp.seq"])
        flows.setdefault((one["tcp.stream"], *ends, one["tcp.dstport"]),
                         _Direction(time_ns, seq)).see(seq, int(one["tcp.len"]))
    if not 1 <= len(flows) <= FLOWS_MAX:
        raise InputError(path, f"{len(flows)} flows of TCP with data is out of range: 1 to "
                         f"{FLOWS_MAX}")
    rows = sorted((max(one.time_ns - first_ns, 0), hosts[src], hosts[dst], port,
                   one.high - one.low) for (_, src, dst, port), one in flows.items())
    notes = [f"{path}: {src} to port {port} of {dst}: {one.high - one.low} bytes by sequence "
             f"numbers, and {one.seen} of payload: packets are missing, or a number is wrong"
             for (_, src, dst, port), one in flows.items()
             if one.high - one.low > MISSING * one.seen]
    return rows, list(hosts), notes


def list_lines(rows, hosts):
    """A trace as HPCC's list; behind it, where no reader looks, the addresses of its hosts."""
    yield str(len(rows))
    for start_ns, src, dst, port, size in rows:
        yield f"{src} {dst} {PRIORITY} {port} {size} {_seconds(start_ns)}"
    yield ""
    for number, address in enumerate(hosts):
        yield f"# host {number}, h{number + 1}: {address}"


def size_lines(rows):
    """A trace's sizes as a distribution that [[workload]] takes, of at most so many lines."""
    ordered = sorted(row[-1] for row in rows)
    if len(ordered) > CDF_LINES // 2:
        half = CDF_LINES // 2
        ordered = [ordered[-(-len(ordered) * number // half) - 1] for number in
                   range(1, half + 1)]
    one = sizes.equally(ordered)
    shares = {}			# of each size, those below it and with it
    for size, share in zip(one.sizes, one.shares):
        shares.setdefault(size, [share]).append(share)
    for size, found in shares.items():
        yield f"{size} {float(found[0] * 100):.10g}"
        yield f"{size} {float(found[-1] * 100):.10g}"


def export(args, build):
    """Print a scenario's flows, or a result's completion times; build: makes the scenario."""
    if args.format == FCT:
        lines = list(completions(args.file))
    else:
        lines = list(Writer(build(), args.format).lines())
    sys.stdout.writelines(f"{line}\n" for line in lines)


def load(args):
    """Print a packet trace as a list of flows, or their sizes."""
    rows, hosts, notes = trace(args.file)
    for note in notes:
        print(f"lab: note: {note}", file=sys.stderr)
    lines = size_lines(rows) if args.sizes else list_lines(rows, hosts)
    sys.stdout.writelines(f"{line}\n" for line in lines)
