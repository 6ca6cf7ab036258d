# SPDX-License-Identifier: GPL-2.0
"""Reads what a run left behind, and checks it against physics."""

import os
from dataclasses import dataclass, field
from functools import cached_property

from . import connections, express, measure, pfc, port_qdisc, processes, rcp, rounds
from .errors import RunError
from .physics import ETHERNET_BYTES, ideal_ns
from .units import show_time

UNFINISHED = -1
UNSTARTED = -1
START_LATE_NS = 1000		# by which a start may be put off while the socket is in use


@dataclass(frozen=True)
class FlowResult:
    """One flow of one run; times count from the beginning of the measurement."""

    flow: object		# flows.Flow
    start_ns: int
    end_ns: int
    sent_bytes: int
    delivered_bytes: int
    retrans_segs: int
    segs_out: int
    ideal_ns: int
    marked_pkts: int = 0	# that the sender was told were marked
    all_pkts: int = 0		# of both ends, since the connection was made

    @property
    def finished(self):
        """Whether the last byte arrived."""
        return self.end_ns != UNFINISHED

    @property
    def fct_ns(self):
        """Flow completion time, or -1."""
        return self.end_ns - self.start_ns if self.finished else UNFINISHED


@dataclass(frozen=True)
class RunResult:
    """All one run measured, sorted."""

    variant: object		# algorithms.Variant
    flows: list			# FlowResult by number
    queues: dict		# port label -> [(time_ns, backlog_bytes)]
    cwnd: dict			# flow number -> [(time_ns, cwnd_bytes, pacing_bytes_ps, rtt_ns, hop)]
    delivered: dict		# flow number -> [(time_ns, bytes so far)]
    dart: dict			# flow number -> [(time_ns, state, counted_q8, reported_q8, limiter)]
    pauses: dict		# port label -> [(time_ns, priority, 1 paused or 0)]; None without
    truth: dict			# flow number -> [(time_ns, clock, rtt_ns, hold_ns, and both true)]
    ports: dict			# port label -> {counter: value}
    counters: dict		# algorithm, "quell" -> {counter: sum of all hosts}
    virtual_ns: int
    cost: object		# cost.Cost
    processes: tuple = ()	# processes.ProcessResult
    connections: dict = field(default_factory=dict)	# port label -> [connections.Connection]
    rounds: dict = field(default_factory=dict)		# port label -> [rounds.Round]
    governed: dict = None	# flow number -> ns of the algorithm, the search, CUBIC; if fitted

    @cached_property
    def sharing(self):
        """Numbers of the flows whose connection carries other messages, too."""
        return {number for row in self.flows if row.flow.on is not None
                for number in (row.flow.on, row.flow.number)}

    def active_until_ns(self, row):
        """End of a flow, or for one that did not finish when it was stopped or the run ended."""
        if row.finished:
            return row.end_ns
        stop_ns = row.flow.stop_ns
        return self.virtual_ns if stop_ns is None else min(stop_ns, self.virtual_ns)


def _lines(directory, name):
    path = os.path.join(directory, name)
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            for number, line in enumerate(file, start=1):
                fields = line.split()
                if fields:
                    yield f"{name}:{number}", fields
    except OSError as error:
        raise RunError(f"{name}: {error.strerror}") from None


def _ints(place, fields, count):
    if len(fields) != count:
        raise RunError(f"{place}: {len(fields)} fields instead of {count}")
    try:
        return [int(field) for field in fields]
    except ValueError:
        raise RunError(f"{place}: not numbers: {' '.join(fields)}") from None


def _marks(directory):
    """{flow number: (marked packets, packets of both ends with the SYN-ACK)}"""
    marks = {}
    for place, fields in _lines(directory, "marks.out"):
        number, _, marked, _, _, _, _, sent, answered = _ints(place, fields, 9)
        marks[number] = (marked, sent + answered + (answered > 0))
    return marks


def _flows(directory, scenario, virtual_ns):
    by_number = {flow.number: flow for flow in scenario.flows}
    marks = _marks(directory)
    results = {}
    for place, fields in _lines(directory, "flows.out"):
        number, start, end, sent, delivered, retrans, segs = _ints(place, fields, 7)
        if number not in by_number or number in results:
            raise RunError(f"{place}: flow {number} is unknown or named twice")
        flow = by_number[number]
        # A flow whose turn never came, as the one that it waits for never ended.
        start = virtual_ns if start == UNSTARTED else start
        results[number] = FlowResult(flow, start, end, sent, delivered, retrans, segs,
                                     scenario.ideal_ns(flow), *marks.get(number, ()))
    missing = sorted(set(by_number) - set(results))
    if missing:
        raise RunError(f"flows.out: no line for flow {missing[0]}")
    return [results[number] for number in sorted(results)]


def _series(directory, name, columns):
    """Rows 'flow time values...' grouped by flow, in order of time."""
    series = {}
    for place, fields in _lines(directory, name):
        values = _ints(place, fields, columns + 2)
        series.setdefault(values[0], []).append(tuple(values[1:]))
    return {key: sorted(series[key]) for key in sorted(series)}


def _port_series(directory, name, columns):
    """Rows 'node dev time values...' grouped by port, in order of time."""
    series = {}
    for place, fields in _lines(directory, name):
        if len(fields) != columns + 3:
            raise RunError(f"{place}: {len(fields)} fields instead of {columns + 3}")
        row = tuple(_ints(place, fields[2:], columns + 1))
        series.setdefault(f"{fields[0]}:{fields[1]}", []).append(row)
    return {key: sorted(series[key]) for key in sorted(series)}


def _ports(directory):
    ports = {}
    for place, fields in _lines(directory, "ports.out"):
        counters = {}
        for pair in fields[2:]:
            key, equals, value = pair.partition("=")
            if not equals:
                raise RunError(f"{place}: '{pair}' is not key=value")
            counters[key] = int(value) if value.lstrip("-").isdigit() else value
        ports[f"{fields[0]}:{fields[1]}"] = counters
    return ports


def _governed(directory, variant):
    """For how long what governed each flow; None unless its algorithm may not."""
    if not variant.is_fitted:
        return None
    rows = [_ints(place, fields, 4) for place, fields in _lines(directory, "governed.out")]
    return {number: tuple(times) for number, *times in rows}


def _counters(directory, variant):
    """What Quell counted; without quell.ko there is no such file."""
    counters = {}
    if "quell.ko" not in variant.modules:
        return counters
    for place, fields in _lines(directory, "counters.out"):
        if len(fields) != 4:
            raise RunError(f"{place}: {len(fields)} fields instead of 4")
        one = counters.setdefault(fields[1], {})
        one[fields[2]] = one.get(fields[2], 0) + _ints(place, fields[3:], 1)[0]
    return {name: dict(sorted(counters[name].items())) for name in sorted(counters)}


def _virtual_ns(directory):
    for place, fields in _lines(directory, "done.out"):
        if fields[0] == "ok" and len(fields) > 1 and fields[1].startswith("virtual_ns="):
            return _ints(place, [fields[1].partition("=")[2]], 1)[0]
    raise RunError("done.out: no line 'ok virtual_ns=N'")


def read(directory, scenario, variant, spent):
    """Everything in a run's result directory; RunError if it does not parse."""
    virtual_ns = _virtual_ns(directory)
    return RunResult(variant, _flows(directory, scenario, virtual_ns),
                     _port_series(directory, "queues.out", 1),
                     _series(directory, "cwnd.out", 4), _series(directory, "delivered.out", 1),
                     _series(directory, "dart.out", 4) if "tcp_dart.ko" in variant.modules else {},
                     _port_series(directory, "pauses.out", 2) if scenario.pfc else None,
                     _series(directory, "truth.out", 5) if scenario.record.truth else {},
                     _ports(directory), _counters(directory, variant), virtual_ns, spent,
                     tuple(processes.read(_lines(directory, "programs.out"), scenario))
                     if scenario.processes else (),
                     _of_pcaps(directory, scenario, connections.read),
                     _of_pcaps(directory, scenario, rounds.read)
                     if any(plot.kind == "marks" for plot in scenario.plots) else {},
                     _governed(directory, variant))


def _of_pcaps(directory, scenario, read_one):
    """{port label: what a function reads from the packets of its cable}"""
    return {port.label: read_one(os.path.join(directory, f"{port.node}-{port.dev}.pcap"))
            for port in scenario.record.pcap}


def queue_max_bytes(counters, rows=()):
    """Most bytes a switch port's data band ever held: its exact watermark, or of a port without
    one the most that was sampled."""
    mark = counters.get("data_backlog_max_bytes")
    return max((size for _, size in rows), default=0) if mark is None else mark


def physics(scenario, result):
    """Sentences for everything that cannot be; empty when all is well."""
    problems = []
    ends_ns = {row.flow.number: row.end_ns for row in result.flows}
    for row in result.flows:
        problems += _flow_problems(scenario, row, ends_ns.get(row.flow.after))
        if not row.finished and scenario.allow_unfinished:
            problems += _unfinished_problems(scenario, row,
                                             result.delivered.get(row.flow.number, []))
    problems += _governed_problems(result)
    problems += measure.problems(result, scenario.windows)
    problems += [one.problem for one in result.processes if one.problem]
    packet = max(cable.mtu_bytes for cable in scenario.graph.cables) + ETHERNET_BYTES
    for switch in scenario.graph.switches:
        for port in scenario.graph.ports[switch]:
            problems += _port_problems(scenario, port.label, result.ports.get(port.label), packet)
            if all(row.finished for row in result.flows):
                problems += pfc.problems(port.label, result.ports.get(port.label, {}))
    for label, rows in result.queues.items():
        top = max(backlog for _, backlog in rows)
        counters = result.ports.get(label, {})
        if counters.get("kind") in port_qdisc.QDISCS:
            continue		# its limit is in packets, or in memory
        mark = (queue_max_bytes(counters, [(0, scenario.queue.limit_bytes)])
                + counters.get("control_backlog_max_bytes", scenario.queue.control_limit_bytes))
        # What the card gave back waits for it in the stack: in the backlog, but in no band.
        # Two packets are as many as a card with byte queue limits was seen to take at once.
        if counters.get("requeues"):
            mark += 2 * packet
        if top > mark:
            problems.append(f"port {label}: sampled backlog {top} bytes above the port's own "
                            f"maximum {mark} bytes")
    return problems


def _flow_problems(scenario, row, after_ns):
    flow = row.flow
    name = f"flow {flow.number} ({flow.src} to {flow.dst})"
    problems = []
    if flow.after is not None:
        if row.finished and (after_ns == UNFINISHED or row.start_ns < after_ns + flow.start_ns):
            problems.append(f"{name}: started at {row.start_ns} ns, before the end of flow "
                            f"{flow.after} at {after_ns} ns")
    elif row.start_ns != flow.start_ns:
        problems.append(f"{name}: started at {row.start_ns} ns instead of {flow.start_ns} ns")
    if not row.finished:
        if not scenario.allow_unfinished:
            problems.append(f"{name}: not finished by {show_time(scenario.until_ns)}, the end of "
                            f"the run; {row.delivered_bytes} of {flow.size_bytes} bytes delivered "
                            "until 50ms later")
        return problems
    if row.fct_ns < row.ideal_ns:
        problems.append(f"{name}: completion in {row.fct_ns} ns is below the physical limit of "
                        f"{row.ideal_ns} ns")
    if not row.sent_bytes == row.delivered_bytes == flow.size_bytes:
        problems.append(f"{name}: {flow.size_bytes} bytes asked for, {row.sent_bytes} sent, "
                        f"{row.delivered_bytes} delivered")
    if scenario.within_one_packet:
        allowed = row.ideal_ns + scenario.packet_time_ns(flow)
        if row.fct_ns > allowed:
            problems.append(f"{name}: completion in {row.fct_ns} ns is {row.fct_ns - row.ideal_ns}"
                            f" ns above the physical limit of {row.ideal_ns} ns, more than one "
                            f"packet time of {scenario.packet_time_ns(flow)} ns")
    return problems


def _governed_problems(result):
    """
    Something governs a flow all the time: until a handshake ends the search does not yet.
    Flows with a congestion control of the kernel's own are not governed by Quell at any time.
    """
    problems = []
    for row in result.flows if result.governed else ():
        flow = row.flow
        governed_ns = sum(result.governed.get(flow.number, ()))
        left_ns = row.fct_ns - governed_ns
        if flow.cc:
            if governed_ns:
                problems.append(f"flow {flow.number}: governed for {governed_ns} ns, though its "
                                f"congestion control is {flow.cc}")
        elif row.finished and not 0 <= left_ns <= (row.fct_ns if flow.cold else START_LATE_NS):
            problems.append(f"flow {flow.number}: no component, or more than one, governed its "
                            f"window for {abs(left_ns)} of {row.fct_ns} ns")
    return problems


def _unfinished_problems(scenario, row, delivered):
    """
    What must hold of a flow that the end of the run cut short.  The order and
    the content of its bytes were checked on delivery, as everybody's.
    """
    flow = row.flow
    name = f"flow {flow.number} ({flow.src} to {flow.dst})"
    problems = []
    if not row.delivered_bytes <= row.sent_bytes <= flow.size_bytes:
        problems.append(f"{name}: {flow.size_bytes} bytes asked for, {row.sent_bytes} sent, "
                        f"{row.delivered_bytes} delivered")
    counts = [count for _, count in delivered] + [row.delivered_bytes]
    if any(later < earlier for earlier, later in zip(counts, counts[1:])):
        problems.append(f"{name}: the count of bytes delivered fell")
    if delivered:
        time_ns, count = delivered[-1]
        least_ns = ideal_ns(scenario.links(flow), count, scenario.mtu(flow), flow.cold)
        if time_ns - row.start_ns < least_ns:
            problems.append(f"{name}: {count} bytes in {time_ns - row.start_ns} ns is below the "
                            f"physical limit of {least_ns} ns")
    return problems


def _port_problems(scenario, label, counters, packet):
    if counters is None:
        return [f"port {label}: no line in ports.out"]
    problems = []
    if counters.get("kind") in ("bfifo", rcp.KIND, *port_qdisc.QDISCS):
        return problems		# it has no watermark
    limits = (("data", scenario.queue.limit_bytes), ("control", scenario.queue.control_limit_bytes))
    if counters.get("kind") == express.KIND:
        limits = limits[:1]	# of credits it holds a few
    for band, limit in limits:
        key = f"{band}_backlog_max_bytes"
        if key not in counters:
            problems.append(f"port {label}: no {key} in ports.out")
        elif counters[key] > limit + packet:
            problems.append(f"port {label}: {band} queue reached {counters[key]} bytes, above "
                            f"its limit of {limit} and one packet of {packet}")
    return problems
