# SPDX-License-Identifier: GPL-2.0
"""Priority flow control: what a scenario says of it, what it needs, what came of it.

Each port of a switch has headroom for what still arrives after it has found
that it must pause the other end of its cable.
"""

import re
from dataclasses import dataclass

from .errors import InputError
from .physics import ETHERNET_BYTES, FRAME_MIN_BYTES, GAP_BYTES, NS_PER_S, wire_bytes
from .schema import Key, check
from .units import Q16_ONE, show_q16, show_size

SIZE_MAX = 1 << 30
ALPHA_MAX_Q16 = 1024 * Q16_ONE
PAUSE_WIRE_BYTES = FRAME_MIN_BYTES + GAP_BYTES
RESUME_PKTS = 2			# so many full packets below the threshold the other end goes on
PRIORITY_SHIFT = 3		# the class selector of a DSCP
CONTROL_DSCP = 48		# from there on packets are control, which is not paused
KEYS = {
    "on": Key("bool", default=True),
    "xoff": Key("size", 600, SIZE_MAX, None),
    "xon": Key("size", 0, SIZE_MAX, None),
    "alpha": Key("q16", 1, ALPHA_MAX_Q16, None),
    "buffer": Key("size", 600, SIZE_MAX, None),
    "headroom": Key("size", 0, SIZE_MAX, None),
}
XOFF_DEFAULT = 100 << 10
COUNTERS = ("xoff_sent", "xon_sent", "xoff_received", "xon_received", "paused_ns",
            "held_max_bytes", "headroom_max_bytes", "drop_pkts")
COUNTER = re.compile(r"pfc([0-7])_(\w+)")


@dataclass(frozen=True)
class Pfc:
    """Thresholds of all switches' ports; alpha_q16 is 0 where they are fixed."""

    xoff_bytes: int
    resume_bytes: int
    alpha_q16: int
    headroom_bytes: object	# given; None: what each cable needs
    shared: dict		# switch: bytes that its ports share, headrooms not counted
    priorities: tuple
    tso_pkts: int

    def headroom(self, graph, cable):
        """Headroom of a cable's ends, for each priority."""
        return self.headroom_bytes or _need(graph, cable, len(self.priorities), self.tso_pkts)

    def most_bytes(self, graph):
        """Most that a port of any switch can have to send: all that came in and may be held."""
        held = 0
        for switch in graph.switches:
            each = len(self.priorities) * sum(self.xoff_bytes + self.headroom(graph, port.cable)
                                              for port in graph.ports[switch])
            held = max(held, each + self.shared.get(switch, 0))
        return min(held, SIZE_MAX)

    def words(self, graph, cable):
        """What a plan says of a cable."""
        ends = [name for name, node in (("a", cable.a), ("b", cable.b)) if graph.is_switch(node)]
        if not ends:
            return ""
        text = (f" pfc={'both' if len(ends) == 2 else ends[0]} pfc-resume={self.resume_bytes}"
                f" pfc-headroom={self.headroom(graph, cable)}")
        if not self.alpha_q16:
            return text + f" pfc-xoff={self.xoff_bytes}"
        return (text + f" pfc-alpha={self.alpha_q16} pfc-buffer={self.shared.get(cable.a, 0)}"
                f" peer-pfc-buffer={self.shared.get(cable.b, 0)}")


def _need(graph, cable, priorities, tso_pkts):
    """
    Most that arrives from the packet on that does not fit under the threshold:
    that one; what is on its way and what the other end sends until it knows, a
    round trip of the cable, the packet that the pause frame waits for and
    pause frames, at most two of each priority, at the cable's rate; and what
    the other end has just begun to send, where it is a host all of what TCP
    handed over as one.
    """
    packet = cable.mtu_bytes + ETHERNET_BYTES
    begun = tso_pkts if graph.is_host(cable.a) or graph.is_host(cable.b) else 1
    travel = -(-2 * cable.delay_ns * cable.rate_bits_ps // (8 * NS_PER_S))
    return (travel + wire_bytes(cable.mtu_bytes) + 2 * priorities * PAUSE_WIRE_BYTES
            + packet + begun * packet)


def _thresholds(places, values, packet):
    """(XOFF, bytes below it at which the other end goes on)."""
    if values["alpha"] is not None:
        for key in ("xoff", "xon"):
            if values[key] is not None:
                raise InputError(places.name(f"pfc.{key}"), "not with alpha: the threshold is a "
                                 "part of what is free of buffer")
        if values["buffer"] is None:
            raise InputError(places.name("pfc.alpha"), "needs buffer, of which it is a part")
        return 0, RESUME_PKTS * packet
    xoff = XOFF_DEFAULT if values["xoff"] is None else values["xoff"]
    xon = max(xoff - RESUME_PKTS * packet, 0) if values["xon"] is None else values["xon"]
    if xoff < packet:
        raise InputError(places.name("pfc.xoff"), f"{xoff} bytes is out of range: one packet of "
                         f"{packet} bytes to {show_size(SIZE_MAX)}")
    if xon >= xoff:
        raise InputError(places.name("pfc.xon"), f"{xon} bytes is out of range: below xoff, "
                         f"{xoff} bytes")
    return xoff, xoff - xon


def _check_headroom(places, found, graph):
    """InputError for a headroom with which packets would be lost."""
    for cable in graph.cables:
        need = _need(graph, cable, len(found.priorities), found.tso_pkts)
        if found.headroom_bytes is not None and found.headroom_bytes < need and (
                graph.is_switch(cable.a) or graph.is_switch(cable.b)):
            raise InputError(places.name("pfc.headroom"), f"{found.headroom_bytes} bytes is too "
                             f"little: cable {cable.a}-{cable.b} needs {need} bytes, or packets "
                             "are lost")


def _shared(places, values, found, graph, packet):
    """Per switch what the ports share of its buffer; InputError if the buffer is too small."""
    shared = {}
    for switch in graph.switches if values["buffer"] is not None else ():
        ports = graph.ports[switch]
        reserved = len(found.priorities) * sum(
            found.headroom(graph, port.cable) + found.xoff_bytes for port in ports)
        # Of an empty buffer a port must be allowed a packet.
        least = -(-packet * Q16_ONE // found.alpha_q16) if found.alpha_q16 else 0
        if values["buffer"] < reserved + max(least, packet if found.alpha_q16 else 0):
            what = "headroom" if found.alpha_q16 else "xoff and headroom"
            raise InputError(places.name("pfc.buffer"), f"{values['buffer']} bytes is too little: "
                             f"{what} of the {len(ports)} ports of {switch} take {reserved}"
                             + (f", and a packet needs {max(least, packet)} more"
                                if found.alpha_q16 else ""))
        shared[switch] = values["buffer"] - reserved
    return shared


def build(places, top, graph, flows):
    """Pfc of a scenario's [pfc], or None; InputError names what is wrong."""
    if top["pfc"] is None:
        return None
    values = check(places, "pfc", top["pfc"], KEYS)
    if not values["on"]:
        return None
    for key in ("trim", "buffer", "alpha"):
        if key in (top["queue"] or {}):
            raise InputError(places.name(f"queue.{key}"), "not with pfc, which divides the memory "
                             "of a switch by where packets come in, and drops none")
    if "fifo" in (top["queue"] or {}):
        raise InputError(places.name("queue.fifo"), "not with pfc, which needs swport at both ends "
                         "of a cable")
    packet = max(cable.mtu_bytes for cable in graph.cables) + ETHERNET_BYTES
    xoff, resume = _thresholds(places, values, packet)
    priorities = {0} | {flow.dscp >> PRIORITY_SHIFT for flow in flows if flow.dscp < CONTROL_DSCP}
    found = Pfc(xoff, resume, values["alpha"] or 0, values["headroom"], {},
                tuple(sorted(priorities)), top["tso"])
    _check_headroom(places, found, graph)
    found.shared.update(_shared(places, values, found, graph, packet))
    return found


def unlimited(top):
    """The [queue] table; with priority flow control ports have no limit unless one is given."""
    given = top["queue"] or {}
    if top["pfc"] is None or top["pfc"].get("on") is False:
        return given
    return {"limit": SIZE_MAX, **given}


def described(found):
    """What a report says."""
    threshold = f"from {found.xoff_bytes:,} bytes on"
    if found.alpha_q16:
        threshold = f"above {show_q16(found.alpha_q16)} times what is free of the buffer"
    headroom = f"{found.headroom_bytes:,} bytes" if found.headroom_bytes else "as cables need"
    return (f"pause {threshold} of a port and priority, until {found.resume_bytes:,} bytes less; "
            f"headroom {headroom}")


def notes(places, top, found):
    """What is allowed, but has no effect."""
    if found and "limit" in (top["queue"] or {}):
        yield (f"{places.name('queue.limit')} has no effect with pfc: packets are admitted where "
               "they come in")


def rows(ports):
    """(port, priority, counters in the order of COUNTERS) where there was anything to count."""
    for label, counters in ports.items():
        found = {}
        for key, value in counters.items():
            match = COUNTER.fullmatch(key)
            if match:
                found.setdefault(int(match[1]), {})[match[2]] = value
        for priority in sorted(found):
            yield (label, priority, *(found[priority][name] for name in COUNTERS))


def numbers(scenario, ports):
    """What summary.json says."""
    sums = dict.fromkeys(COUNTERS, 0)
    paused = {"hosts": 0, "switches": 0}
    for label, _, *values in rows(ports):
        one = dict(zip(COUNTERS, values))
        node = label.partition(":")[0]
        paused["switches" if scenario.graph.is_switch(node) else "hosts"] += one["paused_ns"]
        for name in COUNTERS:
            sums[name] = max(sums[name], one[name]) if "max" in name else sums[name] + one[name]
    return {"pauses": sums["xoff_sent"], "paused_ns": paused,
            "held_max_bytes": sums["held_max_bytes"],
            "headroom_max_bytes": sums["headroom_max_bytes"], "drops": sums["drop_pkts"]}


def problems(label, counters):
    """Bytes that a switch's port still counts when all flows are through."""
    for key, value in counters.items():
        match = COUNTER.fullmatch(key)
        if match and match[2] == "held_bytes" and value:
            yield (f"port {label}: {value} bytes of priority {match[1]} came in and never left "
                   "the switch")
