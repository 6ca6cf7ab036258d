# SPDX-License-Identifier: GPL-2.0
"""
The earliest that all flows of a run can be through: what no network can beat.

A host's cable carries what the host sends, or gets, packet by packet; the cables of
a switch with hosts to other switches carry what these hosts send beyond it, or get
from beyond; and no flow is through sooner than alone, nor begins before the end of
the one that it waits for is known to its host.
"""

from fractions import Fraction

from .physics import HEADER_BYTES, one_way_ns, payload_wire_bytes, serialise_ns


def earliest_starts_ns(scenario):
    """{flow number: earliest start}; of a flow that waits, after the other's ideal end."""
    by_number = {flow.number: flow for flow in scenario.flows}
    starts = {}
    for flow in scenario.flows:
        chain = []
        while flow.number not in starts and flow.after is not None:
            chain.append(flow)
            flow = by_number[flow.after]
        starts.setdefault(flow.number, flow.start_ns)
        while chain:
            other, flow = flow, chain.pop()
            known_ns = starts[other.number] + scenario.ideal_ns(other)
            if flow.src == other.src:	# by the last acknowledgment
                known_ns += one_way_ns(scenario.links(other), HEADER_BYTES)
            starts[flow.number] = int(known_ns) + flow.start_ns
    return starts


def _switch_of(graph, host):
    return graph.ports[host][0].peer


def _up_bits_ps(graph, switch):
    """Rates of a switch's cables to other switches, together."""
    return sum(port.cable.rate_bits_ps for port in graph.ports[switch]
               if graph.is_switch(port.peer))


def _loads(scenario):
    """{bottleneck: [rate, flows that it carries]}"""
    graph = scenario.graph
    found = {}
    for flow in scenario.flows:
        ends = {"from": flow.src, "to": flow.dst}
        switches = {way: _switch_of(graph, host) for way, host in ends.items()}
        for way, host in ends.items():
            rate = graph.ports[host][0].cable.rate_bits_ps
            found.setdefault((way, host), [rate, []])[1].append(flow)
            if switches["from"] != switches["to"]:
                switch = switches[way]
                found.setdefault((way, switch), [_up_bits_ps(graph, switch), []])[1].append(flow)
    return found


def limit_ns(scenario):
    """From the first start to the earliest end of all flows, whole ns; None without flows."""
    if not scenario.flows:
        return None
    starts = earliest_starts_ns(scenario)
    first_ns = min(starts.values())
    least = max(Fraction(starts[flow.number] + scenario.ideal_ns(flow))
                for flow in scenario.flows)
    for rate_bits_ps, flows in _loads(scenario).values():
        wire = sum(payload_wire_bytes(flow.size_bytes, scenario.mtu(flow)) for flow in flows)
        least = max(least, min(starts[flow.number] for flow in flows)
                    + serialise_ns(wire, rate_bits_ps))
    return int(least) - first_ns
