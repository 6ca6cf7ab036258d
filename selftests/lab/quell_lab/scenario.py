# SPDX-License-Identifier: GPL-2.0
"""A scenario: network, queues, algorithms, flows and what to record.

The command line and the TOML files meet in one dictionary, build() checks it
and returns a Scenario in base units.
"""

import hashlib
import re
import tomllib
from dataclasses import dataclass

from . import topology
from .algorithms import make_variant
from .errors import InputError
from .physics import ETHERNET_BYTES, Link, ideal_ns, packet_time_ns
from .schema import Key, Places, check
from .units import Q16_ONE, show_size, show_time

SIZE_MAX = 1 << 30
RATE_MIN, RATE_MAX = 10**6, 10**12
DELAY_MAX = 10**9
TIME_MAX = 1000 * 10**9
MTU_MIN, MTU_MAX = 576, 9216
FLOW_BYTES_MAX = 1 << 36
FLOWS_MAX = 2048
NODE_NAME = re.compile(r"[a-z][a-z0-9-]{0,11}")
LABEL = re.compile(r"[A-Za-z0-9_.:=+-]{1,64}")

LINK_KEYS = {
    "rate": Key("rate", RATE_MIN, RATE_MAX),
    "delay": Key("time", 0, DELAY_MAX),
    "mtu": Key("int", MTU_MIN, MTU_MAX, 1500),
}
TOPOLOGY_KEYS = {
    "star": {
        "kind": Key("text"),
        "hosts": Key("int", 2, topology.HOSTS_MAX),
        **LINK_KEYS,
    },
    "dumbbell": {
        "kind": Key("text"),
        "left": Key("int", 1, topology.HOSTS_MAX // 2),
        "right": Key("int", 1, topology.HOSTS_MAX // 2),
        **LINK_KEYS,
        "trunk-rate": Key("rate", RATE_MIN, RATE_MAX, None),
        "trunk-delay": Key("time", 0, DELAY_MAX, None),
    },
    "graph": {
        "kind": Key("text"),
        "hosts": Key("list"),
        "switches": Key("list"),
        "cables": Key("list"),
    },
}
CABLE_KEYS = {"a": Key("text"), "b": Key("text"), **LINK_KEYS}
QUEUE_KEYS = {
    "limit": Key("size", 600, SIZE_MAX, 500 << 10),
    "control-limit": Key("size", 600, SIZE_MAX, 64 << 10),
    "ecn": Key("text", default=None),
    "ecn-probability": Key("q16", 1, Q16_ONE, Q16_ONE),
}
ECN_KEY = Key("size", 1, SIZE_MAX)
ALGORITHM_KEYS = {
    "name": Key("text"),
    "label": Key("text", default=None),
    "preset": Key("text", default=None),
    "set": Key("table", default=None),
}
FLOW_KEYS = {
    "src": Key("text"),
    "dst": Key("text"),
    "bytes": Key("size", 1, FLOW_BYTES_MAX),
    "start": Key("time", 0, TIME_MAX, 0),
    "cold": Key("bool", default=False),
}
INCAST_KEYS = {
    "senders": Key("int", 1, FLOWS_MAX),
    "receiver": Key("text", default=None),
    "bytes": Key("size", 1, FLOW_BYTES_MAX),
    "stagger": Key("text", default=None),
    "jitter": Key("time", 0, DELAY_MAX, None),
    "cold": Key("bool", default=False),
}
STAGGER_COUNT = Key("int", 1, FLOWS_MAX)
STAGGER_TIME = Key("time", 0, DELAY_MAX)
RECORD_KEYS = {
    "queue": Key("time", 100, 10**9, 1000),
    "cwnd": Key("time", 100, 10**9, 1000),
    "window": Key("time", 1000, 10**9, 10000),
}
CHECK_KEYS = {"within-one-packet": Key("bool", default=False)}
TOP_KEYS = {
    "title": Key("text", default=None),
    "seed": Key("int", 0, 2**32 - 1, 1),
    "until": Key("time", 1000, TIME_MAX, None),
    "topology": Key("table"),
    "queue": Key("table", default=None),
    "algorithm": Key("list"),
    "flow": Key("list", default=None),
    "incast": Key("table", default=None),
    "record": Key("table", default=None),
    "check": Key("table", default=None),
}


@dataclass(frozen=True)
class Queue:
    """A switch port's queue; without ECN both thresholds are 0."""

    limit_bytes: int
    control_limit_bytes: int
    ecn_min_bytes: int
    ecn_max_bytes: int
    ecn_prob_q16: int


@dataclass(frozen=True)
class Flow:
    """One transfer; start counts from the beginning of the measurement."""

    number: int
    src: str
    dst: str
    size_bytes: int
    start_ns: int
    cold: bool


@dataclass(frozen=True)
class Record:
    """Sampling intervals."""

    queue_ns: int
    cwnd_ns: int
    window_ns: int


@dataclass(frozen=True)
class Scenario:
    """Everything a run needs, checked, in base units."""

    title: str
    seed: int
    graph: topology.Graph
    queue: Queue
    variants: tuple
    flows: tuple
    record: Record
    until_ns: int
    within_one_packet: bool
    config: dict		# as written, for reports

    def links(self, flow):
        """The cables of a flow's path, as physics wants them."""
        return tuple(Link(port.cable.rate_bits_ps, port.cable.delay_ns)
                     for port in self.graph.path(flow.src, flow.dst))

    def mtu(self, flow):
        """Smallest MTU of a flow's path."""
        return min(port.cable.mtu_bytes for port in self.graph.path(flow.src, flow.dst))

    def ideal_ns(self, flow):
        """Earliest completion of the flow alone."""
        return ideal_ns(self.links(flow), flow.size_bytes, self.mtu(flow), flow.cold)

    def packet_time_ns(self, flow):
        """Wire time of a full packet on the flow's slowest cable."""
        return packet_time_ns(self.links(flow), self.mtu(flow))

    def watched_ports(self):
        """Switch ports data passes, in order of node and number."""
        seen = {port for flow in self.flows for port in self.graph.path(flow.src, flow.dst)
                if self.graph.is_switch(port.node)}
        return [port for switch in self.graph.switches
                for port in self.graph.ports[switch] if port in seen]


def load(path):
    """Read a scenario file into a dictionary."""
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise InputError(path, error.strerror) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(path, f"not TOML: {error}") from None
    except UnicodeDecodeError as error:
        raise InputError(path, f"not UTF-8: {error}") from None


def build(table, places=None):
    """Check a scenario dictionary; InputError names what is wrong."""
    places = places or Places()
    top = check(places, "", table, TOP_KEYS)
    graph = _topology(places, top["topology"])
    queue = _queue(places, top["queue"] or {}, graph)
    variants = _variants(places, top["algorithm"])
    flows = _flows(places, top, graph)
    record = check(places, "record", top["record"] or {}, RECORD_KEYS)
    for flow in flows:
        graph.path(flow.src, flow.dst)
    until_ns = top["until"]
    last_ns = max(flow.start_ns for flow in flows)
    if until_ns is None:
        until_ns = _patience_ns(graph, flows, last_ns)
    elif until_ns <= last_ns:
        raise InputError(places.name("until"), f"'{table['until']}' is out of range: above "
                         f"{show_time(last_ns)}, the start of the last flow")
    wanted = check(places, "check", top["check"] or {}, CHECK_KEYS)
    return Scenario(top["title"] or "scenario", top["seed"], graph, queue, variants, flows,
                    Record(record["queue"], record["cwnd"], record["window"]), until_ns,
                    wanted["within-one-packet"], table)


def _patience_ns(graph, flows, last_ns):
    """Generous end: twenty times all bytes over the slowest cable, and 10 s."""
    slowest = min(cable.rate_bits_ps for cable in graph.cables)
    total_bits = sum(flow.size_bytes for flow in flows) * 8
    return last_ns + 10 * 10**9 + 20 * total_bits * 10**9 // slowest


def _topology(places, table):
    kind = table.get("kind")
    check(places, "topology", {"kind": kind} if kind is not None else {},
          {"kind": Key("text", choices=tuple(TOPOLOGY_KEYS))})
    values = check(places, "topology", table, TOPOLOGY_KEYS[kind])
    if kind == "graph":
        return _graph(places, values)
    cable = (values["rate"], values["delay"], values["mtu"])
    if kind == "star":
        return topology.star(values["hosts"], *cable)
    trunk = (values["trunk-rate"], values["trunk-delay"])
    return topology.dumbbell(values["left"], values["right"], *cable,
                             values["rate"] if trunk[0] is None else trunk[0],
                             values["delay"] if trunk[1] is None else trunk[1])


def _graph(places, values):
    for key in ("hosts", "switches"):
        for name in values[key]:
            if not isinstance(name, str) or not NODE_NAME.fullmatch(name):
                raise InputError(places.name(f"topology.{key}"),
                                 f"'{name}' is not a node name: a letter, then letters, digits "
                                 "or -, in lower case, at most 12")
    cables = []
    for number, table in enumerate(values["cables"]):
        path = f"topology.cables[{number}]"
        if not isinstance(table, dict):
            raise InputError(places.name(path), f"'{table}' is not a table")
        cable = check(places, path, table, CABLE_KEYS)
        cables.append(topology.Cable(cable["a"], cable["b"], cable["rate"], cable["delay"],
                                     cable["mtu"]))
    if not values["hosts"] or len(values["hosts"]) > topology.HOSTS_MAX:
        raise InputError(places.name("topology.hosts"), f"{len(values['hosts'])} hosts is out "
                         f"of range: 1 to {topology.HOSTS_MAX}")
    try:
        return topology.Graph(values["hosts"], values["switches"], cables)
    except InputError as error:
        raise InputError(places.name("topology"), error.problem) from None


def _queue(places, table, graph):
    values = check(places, "queue", table, QUEUE_KEYS)
    packet = max(cable.mtu_bytes for cable in graph.cables) + ETHERNET_BYTES
    if values["limit"] < packet:
        raise InputError(places.name("queue.limit"), f"{values['limit']} bytes is out of range: "
                         f"one packet of {packet} bytes to {show_size(SIZE_MAX)}")
    low = high = 0
    if values["ecn"] is not None:
        where = places.name("queue.ecn")
        parts = values["ecn"].split(":")
        if len(parts) > 2:
            raise InputError(where, f"'{values['ecn']}' is not MIN or MIN:MAX")
        sizes = [check(Places(options={"ecn": where}), "", {"ecn": part}, {"ecn": ECN_KEY})["ecn"]
                 for part in parts]
        low, high = sizes[0], sizes[-1]
        if low > high or high > values["limit"]:
            raise InputError(where, f"'{values['ecn']}' is out of range: MIN <= MAX <= limit "
                             f"{show_size(values['limit'])}")
    return Queue(values["limit"], values["control-limit"], low, high, values["ecn-probability"])


def _variants(places, tables):
    if not tables:
        raise InputError(places.name("algorithm"), "missing: at least one is needed")
    variants = []
    for number, table in enumerate(tables):
        path = f"algorithm[{number}]"
        where = places.name("algorithm") if places.options else places.name(path)
        if not isinstance(table, dict):
            raise InputError(where, f"'{table}' is not a table")
        entry = check(places, path, table, ALGORITHM_KEYS)
        settings = entry["set"] or {}
        label = entry["label"]
        if label is None:
            pairs = {"preset": entry["preset"]} if entry["preset"] is not None else {}
            pairs.update(settings)
            label = ":".join([entry["name"]] + [f"{k}={v}" for k, v in pairs.items()])
        variant = make_variant(where, entry["name"], label, settings, entry["preset"])
        if not LABEL.fullmatch(label):
            raise InputError(where, f"label '{label}' is not 1 to 64 of letters, digits and _.:=+-")
        if label in (other.label for other in variants):
            raise InputError(where, f"'{label}' is given twice: labels must differ")
        variants.append(variant)
    return tuple(variants)


def _flows(places, top, graph):
    if (top["flow"] is None) == (top["incast"] is None):
        raise InputError(places.name("flow"),
                         "give either [[flow]] tables or one [incast] table")
    if top["incast"] is not None:
        return _incast(places, top["incast"], graph, top["seed"])
    if not 1 <= len(top["flow"]) <= FLOWS_MAX:
        raise InputError(places.name("flow"), f"{len(top['flow'])} flows is out of range: 1 to "
                         f"{FLOWS_MAX}")
    flows = []
    for number, table in enumerate(top["flow"], start=1):
        path = f"flow[{number - 1}]"
        if not isinstance(table, dict):
            raise InputError(places.name(path), f"'{table}' is not a table")
        values = check(places, path, table, FLOW_KEYS)
        for end in ("src", "dst"):
            _host(places.name(f"{path}.{end}"), values[end], graph)
        if values["src"] == values["dst"]:
            raise InputError(places.name(path), f"src and dst are both '{values['src']}'")
        flows.append(Flow(number, values["src"], values["dst"], values["bytes"],
                          values["start"], values["cold"]))
    return tuple(flows)


def _host(where, name, graph):
    if name not in graph.hosts:
        raise InputError(where, f"no host '{name}': {graph.hosts[0]} to {graph.hosts[-1]}")


def _incast(places, table, graph, seed):
    values = check(places, "incast", table, INCAST_KEYS)
    receiver = values["receiver"]
    if receiver is None:
        receiver = graph.hosts[-1]
    _host(places.name("incast.receiver"), receiver, graph)
    senders = [host for host in graph.hosts if host != receiver]
    if values["senders"] > len(senders):
        raise InputError(places.name("incast.senders"), f"'{values['senders']}' is out of range: "
                         f"1 to {len(senders)}, the hosts besides the receiver")
    group, gap_ns = _stagger(places, values["stagger"], values["senders"])
    jitter_ns = values["jitter"]
    flows = []
    for index, sender in enumerate(senders[:values["senders"]]):
        flow = Flow(index + 1, sender, receiver, values["bytes"],
                    index // group * gap_ns, values["cold"])
        if jitter_ns is None:
            links = [Link(port.cable.rate_bits_ps, 0) for port in graph.path(sender, receiver)]
            mtu = min(port.cable.mtu_bytes for port in graph.path(sender, receiver))
            jitter = _lottery(seed, flow.number, packet_time_ns(links, mtu))
        else:
            jitter = _lottery(seed, flow.number, jitter_ns)
        flows.append(Flow(flow.number, flow.src, flow.dst, flow.size_bytes,
                          flow.start_ns + jitter, flow.cold))
    return tuple(flows)


def _lottery(seed, number, high):
    """A number in 0..high fixed by seed and flow, the same for every algorithm."""
    digest = hashlib.sha256(f"quell-lab start {seed} {number}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % (high + 1)


def _stagger(places, text, senders):
    """COUNT:TIME, COUNT flows every TIME; without it all start together."""
    if text is None:
        return senders, 0
    where = places.name("incast.stagger")
    parts = text.split(":")
    if len(parts) != 2:
        raise InputError(where, f"'{text}' is not COUNT:TIME, for example 2:20us")
    inner = Places(options={"count": where, "time": where})
    values = check(inner, "", {"count": parts[0], "time": parts[1]},
                   {"count": STAGGER_COUNT, "time": STAGGER_TIME})
    return values["count"], values["time"]
