# SPDX-License-Identifier: GPL-2.0
"""What algorithms and traffic need of a network that has not been given it."""

import json
import re

from . import deflection
from .errors import InputError
from .units import parse_rate, show_rate

# Keys of [queue] by which swport does more than serve ACKs first.
PORT_KEYS = ("ecn", "telemetry", "trim", "tcp-int", "buffer", "deflect")
# Keys of [queue] without effect where no port is swport; hosts' first.
HOST_KEYS = ("host-ecn", "ecn-probability", "ecn-mode")
SWPORT_KEYS = ("control-limit", "ecn", "telemetry", "trim", "buffer", "alpha", "deflect",
               "tcp-int")
# Those of which the absence changes a run without a word of the summary, beside a qdisc's own.
SWPORT_FEATURES = ("telemetry", "trim", "buffer", "deflect", "tcp-int")
# Those whose receivers divide their line among senders.
SHARES_LINE = ("dart", "expresspass")
# Cores and algorithms of the kernel that reduce, or increase, by marks.
BY_MARKS = ("dctcp", "dcqcn", "dart", "smartt")
# Cores that run as Reno without the ports' records.
BY_RECORDS = ("hpcc", "hpcc_vaisf")
BYTE_RATE = re.compile(r'"\s*([0-9.]+\s*[kmgt]i?bps)\s*"', re.IGNORECASE)


def fifo(places, values, graph):
    """Switches whose ports serve all packets in order of arrival, as [queue] names them."""
    where = places.name("queue.fifo")
    for name in values["fifo"] or ():
        if not graph.is_switch(name):
            raise InputError(where, f"no switch '{name}': one of {', '.join(graph.switches)}")
    for key in PORT_KEYS if values["fifo"] else ():
        if values[key] is not None:
            raise InputError(where, f"not with {key}: these ports are the kernel's own bfifo")
    return tuple(values["fifo"] or ())


def paced(where, variant, queue, top, graph):
    """Refuse NICs that pace flows where they would not, or where others count on their link."""
    if not variant.nic_pace_bits_ps:
        return
    core = variant.algorithm.core or variant.name
    if core in SHARES_LINE or variant.lookahead:
        raise InputError(where, f"nic-pace: not with {core}, whose receivers share out the line "
                         "that ethtool reports, which is then the pace")
    slowest = min(graph.ports[host][0].cable.rate_bits_ps for host in graph.hosts)
    if variant.nic_pace_bits_ps > slowest:
        raise InputError(where, "nic-pace is more than the cable of a host carries")
    if top["pfc"] is not None or queue.host_ecn_max_bytes:
        raise InputError(where, "nic-pace: not with pfc or queue.host-ecn: what waits in the NIC "
                         "is not in the host's port")


def swport(places, table, pauses, where, each, more=HOST_KEYS):
    """Refuse what ports without swport have not; each: what every run is, if one has such ports,
    more: keys without effect then; table: [queue] as written."""
    if pauses:
        raise InputError(where, "not with pfc, which needs swport at both ends of a cable")
    for key in (*SWPORT_KEYS, *more) if each else ():
        if key in table:
            raise InputError(places.name(f"queue.{key}"), f"has no effect: each run is {each}")


def is_by_marks(variant):
    """Whether an algorithm knows of a queue by marks; these two variants of smartt do not."""
    name = variant.algorithm.core or variant.name
    return name in BY_MARKS and variant.variant not in ("open", "delay")


def _marks(places, ecn_bytes, variants, flows):
    """A sentence for each kind of port that marks no packets, with runs that need it."""
    of_flows = {flow.cc for flow in flows if flow.cc in BY_MARKS}
    found = {}			# PortQdisc, None of swport: names
    for variant in variants:
        if not (variant.qdisc.is_marking if variant.qdisc else ecn_bytes):
            names = found.setdefault(variant.qdisc, {})
            names.update({variant.label: None} if is_by_marks(variant) else {})
    for qdisc, names in found.items():
        names.update(dict.fromkeys(sorted(of_flows)))
        if names:
            ports = f"over '{qdisc.text}'" if qdisc else f"without {places.word('queue.ecn')}"
            yield (f"{', '.join(names)} {ports}: no switch marks packets, by which "
                   f"{'it works' if len(names) == 1 else 'they work'}")


def _records(places, queue, variants):
    """A sentence about runs that need records of ports that write no records; queue: [queue]."""
    names = [variant.label for variant in variants if variant.algorithm.core in BY_RECORDS
             and not queue.get("tcp-int" if variant.tcp_int else "telemetry")]
    if names:
        yield (f"{', '.join(names)} without {places.word('queue.telemetry')}: no switch writes "
               "records, without which a flow runs as Reno")


def _without_swport(places, table, variants):
    """A sentence for each run over another qdisc, beside features of swport; table: [queue]."""
    keys = [places.word(f"queue.{key}") for key in table if key in SWPORT_FEATURES]
    for variant in variants if keys else ():
        if variant.qdisc:
            yield (f"{variant.label} over '{variant.qdisc.text}': runs without {', '.join(keys)}, "
                   "which swport alone has")


def _tokens(places, deflects, flows):
    """A sentence where ports deflect and no flow has tokens."""
    if deflects and not any(deflection.has_tokens(flow, deflects) for flow in flows):
        yield (f"{places.word('queue.deflect')}: no flow has tokens (dscp), so no packet is "
               "deflected")


def has_equal_ways(graph, flows):
    """Whether a flow has more than one shortest way to take."""
    return any(len(ports) > 1 for src, dst in dict.fromkeys((flow.src, flow.dst) for flow in flows)
               for ports in graph.stages(src, dst))


def notes(places, top, queue, variants, built):
    """Sentences about what a scenario, as read, lacks; built: (graph, flows)."""
    graph, flows = built
    yield from _marks(places, queue.ecn_max_bytes, variants, flows)
    yield from _tokens(places, queue.deflection, flows)
    yield from _records(places, top["queue"] or {}, variants)
    yield from _without_swport(places, top["queue"] or {}, variants)
    for text in dict.fromkeys(BYTE_RATE.findall(json.dumps(top["topology"]))):
        yield f"'{text}' is {show_rate(parse_rate(text))}: bps is bytes per second, as for tc"
    if top["workload"] and not top["multipath"] and has_equal_ways(graph, flows):
        yield (f"{places.name('workload')} without {places.word('multipath')}: of equal ways "
               "switches take the first alone, and the rest of the network stays idle")
