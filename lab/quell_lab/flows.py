# SPDX-License-Identifier: GPL-2.0
"""The flows of a scenario: one by one, in groups, as an incast, by a load, or from a list."""

import hashlib
from dataclasses import dataclass

from . import flowlist, workload
from .algorithms import KERNELS_OWN
from .errors import InputError
from .physics import Link, packet_time_ns
from .schema import PAIRS, Key, check, joined, value_of
from .units import show_time
from .workload import DSCP_MAX, FLOWS_MAX, TIME_MAX, known_host

FLOW_BYTES_MAX = 1 << 36
GROUP_MAX = 2048		# of a group or an incast
QUEUED_MAX = 1 << 20
DELAY_MAX = 10**9

SENDING_KEYS = {
    "bytes": Key("size", 1, FLOW_BYTES_MAX),
    "start": Key("time", 0, TIME_MAX, 0),
    "stop": Key("time", 1, TIME_MAX, None),
    "cold": Key("bool", default=False),
    "dscp": Key("int", 0, DSCP_MAX, 0),
    "queued": Key("size", 1, QUEUED_MAX, 0),
    "wake": Key("time", 0, DELAY_MAX, 0),
    "cc": Key("text", default=None, choices=KERNELS_OWN),
}
FLOW_KEYS = {
    "src": Key("text"),
    "dst": Key("text"),
    **SENDING_KEYS,
    "after": Key("int", 1, FLOWS_MAX, None),
    "on": Key("int", 1, FLOWS_MAX, None),
}
GROUP_KEYS = {
    "src": Key("names"),
    "dst": Key("names"),
    "pairs": PAIRS,
    "connections": Key("int", 1, GROUP_MAX, 1),
    **SENDING_KEYS,
    "stagger": Key("text", default=None),
    "jitter": Key("time", 0, DELAY_MAX, 0),
    "repeat": Key("int", 1, GROUP_MAX, 1),
    "every": Key("time", 1, TIME_MAX, None),
}
INCAST_KEYS = {
    "senders": Key("int", 1, GROUP_MAX),
    "receiver": Key("text", default=None),
    "bytes": Key("size", 1, FLOW_BYTES_MAX),
    "stagger": Key("text", default=None),
    "jitter": Key("time", 0, DELAY_MAX, None),
    "cold": Key("bool", default=False),
    "dscp": Key("int", 0, DSCP_MAX, 0),
}
KINDS = ("flow", "flows", "workload", "flow-list")
STAGGER_COUNT = Key("int", 1, GROUP_MAX)
STAGGER_TIME = Key("time", 0, DELAY_MAX)


@dataclass(frozen=True)
class Flow:
    """
    One transfer; times count from the beginning of the measurement, the start of
    a flow that waits for another from that one's end.
    """

    number: int
    src: str
    dst: str
    size_bytes: int
    start_ns: int
    cold: bool
    stop_ns: object = None	# the sender is reset then, if not through
    dscp: int = 0		# of what it sends
    cc: object = None		# the sending host's instead of the run's
    after: object = None	# number of the flow that it waits for
    on: object = None		# number of the flow whose connection it takes; None: its own
    answers: object = None	# number of the flow that it answers
    queued_bytes: int = 0	# of a write, and unsent when the writer waits; 0: all at once
    wake_ns: int = 0		# that the writer takes to write again
    endless: bool = False	# as large as a flow may be: it is to outlast the run


def build(places, top, graph):
    """All flows, numbered: [[flow]] tables, [[flows]], [[workload]], [[flow-list]], or the
    incast."""
    if top["program"] and all(top[kind] is None for kind in (*KINDS, "incast")):
        return ()
    if (any(top[kind] is not None for kind in KINDS)) == (top["incast"] is not None):
        raise InputError(places.name("flow"), "give either "
                         f"{', '.join(f'[[{kind}]]' for kind in KINDS)} tables or one [incast] "
                         "table")
    if top["incast"] is not None:
        return _incast(places, top["incast"], graph, top["seed"])
    flows = []
    for index, table in enumerate(top["flow"] or []):
        flows.append(_single(places, f"flow[{index}]", table, graph, len(flows) + 1))
    for index, table in enumerate(top["flows"] or []):
        flows += _group(places, f"flows[{index}]", table, graph, len(flows) + 1, top["seed"])
    for arrivals, common in (workload.build(places, top["workload"], graph, top["seed"])
                             + flowlist.build(places, top["flow-list"], graph)):
        first = len(flows) + 1
        flows += [_arriving(number, one, first, common)
                  for number, one in enumerate(arrivals, first)]
    if not 1 <= len(flows) <= FLOWS_MAX:
        raise InputError(places.name("flow"), f"{len(flows)} flows is out of range: 1 to "
                         f"{FLOWS_MAX}")
    _one_each(places, flows)
    _take_connections(places, top["flow"] or [], flows)
    _see_ends(places, top["flow"] or [], flows)
    return tuple(flows)


def _arriving(number, one, first, common):
    """A flow of a workload or a list; positions there count from flow number first."""
    after, on, answers = (None if position is None else first + position
                          for position in (one.after, one.on, one.answers))
    return Flow(number, one.src, one.dst, one.size_bytes, one.start_ns,
                common["cold"] and on is None, one.stop_ns, common["dscp"], common["cc"],
                after, on, answers, endless=one.endless)


def _take_connections(places, tables, flows):
    """InputError for a flow on a connection that there is not, or that is not for it."""
    for index, flow in enumerate(flows[:len(tables)]):
        where = places.name(f"flow[{index}].on")
        if flow.on is None:
            continue
        if flow.on >= flow.number:
            raise InputError(where, f"'{flow.on}' is out of range: the number of an earlier flow, "
                             f"1 to {flow.number - 1}" if flow.number > 1 else
                             "the first flow has no other's connection to take")
        other = flows[flow.on - 1]
        if other.on is not None:
            raise InputError(where, f"flow {other.number} takes the connection of flow {other.on}: "
                             "name that one")
        for key in ("src", "dst", "dscp", "queued_bytes", "wake_ns"):
            if getattr(flow, key) != getattr(other, key):
                raise InputError(where, f"{key} is {getattr(flow, key)}, and {getattr(other, key)} "
                                 f"of flow {other.number}: not one connection")
        if flow.stop_ns is not None or other.stop_ns is not None:
            raise InputError(where, "not with stop, which resets the connection")
        if other.after is not None:
            raise InputError(where, f"flow {other.number} waits for flow {other.after}, and may "
                             "start later: take the connection of one that does not wait")
        if flow.after is None and flow.start_ns < other.start_ns:
            raise InputError(where, f"starts before flow {other.number}, whose connection it takes")


def _see_ends(places, tables, flows):
    """
    InputError for a flow that waits for one that there is not, that its host does not
    see the end of, or that waits for it in turn.
    """
    shared = {flow.on for flow in flows}
    for index, flow in enumerate(flows[:len(tables)]):
        where = places.name(f"flow[{index}].after")
        if flow.after is None:
            continue
        if flow.stop_ns is not None:
            raise InputError(where, "not with stop, a time that may be before the start")
        if flow.after > len(flows):
            raise InputError(where, f"'{flow.after}' is out of range: 1 to {len(flows)}, the "
                             "number of a flow")
        other = flows[flow.after - 1]
        if flow.src == other.src and (other.on or other.number in shared):
            raise InputError(where, f"flow {other.number} shares a connection: only its receiver, "
                             f"{other.dst}, sees its end")
        if flow.src not in (other.src, other.dst):
            raise InputError(where, f"{flow.src} does not see the end of flow {other.number}, "
                             f"{other.src} to {other.dst}: only these two do")
        circle = [flow.number]
        while other.after is not None and other.number not in circle:
            circle.append(other.number)
            other = flows[other.after - 1]
        if other.number == flow.number:
            raise InputError(where, "a circle of flows that wait for each other: "
                             + ", ".join(map(str, (*circle, flow.number))))


def _one_each(places, flows):
    """InputError where flows of one host differ in cc: it is the host's."""
    of_host = {}
    for flow in flows:
        first = of_host.setdefault(flow.src, flow)
        if first.cc != flow.cc:
            raise InputError(places.name("flow"), f"flows {first.number} and {flow.number} of "
                             f"{flow.src} differ in cc: a host has one congestion control")


def _single(places, path, table, graph, number):
    values = check(places, path, table, FLOW_KEYS)
    for end in ("src", "dst"):
        known_host(places.name(f"{path}.{end}"), values[end], graph)
    if values["src"] == values["dst"]:
        raise InputError(places.name(path), f"src and dst are both '{values['src']}'")
    flow = Flow(number, values["src"], values["dst"], values["bytes"], values["start"],
                values["cold"] and values["on"] is None, values["stop"], values["dscp"],
                values["cc"], values["after"], values["on"],
                **_writer(places, path, values))
    if flow.after is None:
        _stops_later(places, path, flow)
    return flow


def _writer(places, path, values):
    """The keys of a flow whose writer keeps its queue short."""
    if values["wake"] and not values["queued"]:
        raise InputError(places.name(f"{path}.wake"), "only with queued: whose writer waits")
    return {"queued_bytes": values["queued"], "wake_ns": values["wake"]}


def _stops_later(places, path, flow):
    if flow.stop_ns is not None and flow.stop_ns <= flow.start_ns:
        raise InputError(places.name(f"{path}.stop"), f"{show_time(flow.stop_ns)} is out of range: "
                         f"above {show_time(flow.start_ns)}, the start of flow {flow.number}")


def _ends(where, values):
    """(src, dst) of every flow: a source serves all its partners once per connection."""
    partners = {}
    for src, dst in joined(where, values["src"], values["dst"], values["pairs"]):
        partners.setdefault(src, []).append(dst)
    return [(src, dst) for src, dsts in partners.items()
            for _ in range(values["connections"]) for dst in dsts]


def _group(places, path, table, graph, number, seed):
    values = check(places, path, table, GROUP_KEYS)
    for end in ("src", "dst"):
        for name in values[end]:
            known_host(places.name(f"{path}.{end}"), name, graph)
        if len(set(values[end])) < len(values[end]):
            raise InputError(places.name(f"{path}.{end}"), "a host is named twice: "
                             "use connections for more flows of one pair")
    ends = _ends(places.name(path), values)
    flows_nr = len(ends) * values["repeat"]
    if not 1 <= flows_nr <= GROUP_MAX:
        raise InputError(places.name(path), f"{flows_nr} flows is out of range: 1 to {GROUP_MAX}")
    count, gap_ns = _stagger(places.name(f"{path}.stagger"), values["stagger"], len(ends), True)
    writer = _writer(places, path, values)
    flows = []
    for round_ns in _rounds_ns(places, path, values):
        for index, (src, dst) in enumerate(ends):
            if src == dst:
                raise InputError(places.name(path), f"src and dst are both '{src}'")
            late_ns = (round_ns + index // count * gap_ns
                       + _lottery(seed, number + len(flows), values["jitter"]))
            stop_ns = None if values["stop"] is None else values["stop"] + round_ns
            flows.append(Flow(number + len(flows), src, dst, values["bytes"],
                              values["start"] + late_ns, values["cold"], stop_ns, values["dscp"],
                              values["cc"], **writer))
            _stops_later(places, path, flows[-1])
    return flows


def _rounds_ns(places, path, values):
    """How much later than the first each round of a group starts."""
    if (values["repeat"] > 1) != (values["every"] is not None):
        raise InputError(places.name(f"{path}.repeat"), "repeat above 1 and every go together: "
                         "how often the group starts, and after what time each")
    return [index * (values["every"] or 0) for index in range(values["repeat"])]


def _incast(places, table, graph, seed):
    values = check(places, "incast", table, INCAST_KEYS)
    receiver = values["receiver"]
    if receiver is None:
        receiver = graph.hosts[-1]
    known_host(places.name("incast.receiver"), receiver, graph)
    senders = [host for host in graph.hosts if host != receiver]
    if values["senders"] > len(senders):
        raise InputError(places.name("incast.senders"), f"'{values['senders']}' is out of range: "
                         f"1 to {len(senders)}, the hosts besides the receiver")
    group, gap_ns = _stagger(places.name("incast.stagger"), values["stagger"], values["senders"],
                             False)
    flows = []
    for index, sender in enumerate(senders[:values["senders"]]):
        jitter_ns = values["jitter"]
        if jitter_ns is None:
            path = graph.path(sender, receiver)
            jitter_ns = packet_time_ns([Link(port.cable.rate_bits_ps, 0) for port in path],
                                       min(port.cable.mtu_bytes for port in path))
        start_ns = index // group * gap_ns + _lottery(seed, index + 1, jitter_ns)
        flows.append(Flow(index + 1, sender, receiver, values["bytes"], start_ns, values["cold"],
                          dscp=values["dscp"]))
    return tuple(flows)


def _lottery(seed, number, high):
    """A number in 0..high fixed by seed and flow, the same for every algorithm."""
    digest = hashlib.sha256(f"quell-lab start {seed} {number}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % (high + 1)


def _stagger(where, text, flows, lone):
    """
    COUNT:TIME, COUNT flows every TIME; without it all start together.  Lone:
    TIME alone is allowed, one flow every TIME.
    """
    if text is None:
        return flows, 0
    parts = text.split(":")
    if lone and len(parts) == 1:
        parts = ["1", text]
    if len(parts) != 2:
        raise InputError(where, f"'{text}' is not {'TIME or ' if lone else ''}COUNT:TIME, for "
                         "example 2:20us")
    return value_of(where, parts[0], STAGGER_COUNT), value_of(where, parts[1], STAGGER_TIME)
