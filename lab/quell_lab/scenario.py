# SPDX-License-Identifier: GPL-2.0
"""A scenario: network, queues, algorithms, flows and what to record.

The command line and the TOML files meet in one dictionary, build() checks it
and returns a Scenario in base units.
"""

import os
import re
from dataclasses import dataclass, field, replace

from . import captures, convergence, credit, deflection, express, fabric, files, flows, \
    lookahead, measure, needs, paper, pfc, plot_tables, port_qdisc, processes, rcp, slowdown, \
    sysctls, topology
from .algorithms import ALGORITHMS, SPRAYED, VARIANTS, find, make_variant
from .errors import InputError, nearest
from .physics import ETHERNET_BYTES, ideal_ns, links_of, packet_time_ns
from .schema import Key, Places, check, each, joined, value_of
from .units import Q16_ONE, show_size, show_time

SIZE_MAX = 1 << 30
RATE_MIN, RATE_MAX = 10**6, 10**12
TSO_MAX = 64			# LABNIC_TSO_MAX_PKTS
NOISE_MAX = 100 * 10**6		# LABNIC_NOISE_MAX_NS
TELEMETRY_MIN, TELEMETRY_MAX = 100, 10**9	# SWPORT_TELEMETRY_MIN, _MAX
TRIM_MIN, TRIM_MAX = 64, 65535			# SWPORT_TRIM_SIZE_MIN, _MAX
TCP_INT_USE = 2			# QUELL_TCPINT_USE
TCP_ECN_MAX = 5			# of net.ipv4.tcp_ecn, from 3 on Accurate ECN
# Parameter "acks-per-rtt" of "quell": its largest value, its default, one for each packet.
ACKS_PER_RTT_MAX = 1000
ACKS_PER_RTT = 4
ACKS_EACH_PACKET = 0
TAIL_FLOOR_MIN, TAIL_FLOOR_MAX = 1000, 10**9	# of "tail-floor" of "quell"
ALPHA_MAX_Q16 = 1024 * Q16_ONE	# SWPORT_ALPHA_MAX
ENTROPIES_MAX = 255		# QUELL_REPS_ENTROPIES_MAX
LEAVES_MAX = 64
# Where [record] has no window: so many full packets of the slowest cable, in steps of
WINDOW_PKTS, WINDOW_STEP_NS = 8, 10000
INCAST_TOPOLOGIES = ("star", "dumbbell", "leaf-spine")
MTU_MIN, MTU_MAX = 576, 9216
NODE_NAME = re.compile(r"[a-z][a-z0-9-]{0,11}")
LABEL = re.compile(r"[A-Za-z0-9_.:=+-]{1,64}")

LINK_KEYS = {
    "rate": Key("rate", RATE_MIN, RATE_MAX),
    "delay": Key("time", 0, flows.DELAY_MAX),
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
        "trunk-delay": Key("time", 0, flows.DELAY_MAX, None),
    },
    "leaf-spine": {
        "kind": Key("text"),
        "leaves": Key("int", 2, LEAVES_MAX),
        "spines": Key("int", 1, LEAVES_MAX),
        "hosts": Key("int", 1, topology.HOSTS_MAX // LEAVES_MAX),
        **LINK_KEYS,
        "spine-rate": Key("rate", RATE_MIN, RATE_MAX, None),
        "spine-delay": Key("time", 0, flows.DELAY_MAX, None),
        **fabric.DAMAGE_KEYS,
    },
    "fat-tree": {**fabric.FAT_TREE_KEYS, **LINK_KEYS},
    "clos": {**fabric.CLOS_KEYS, **LINK_KEYS},
    "graph": {
        "kind": Key("text"),
        "hosts": Key("names"),
        "switches": Key("names"),
        "cables": Key("list"),
    },
}
CABLE_KEYS = {**fabric.ENDS_KEYS, **LINK_KEYS}
QUEUE_KEYS = {
    "limit": Key("size", 600, SIZE_MAX, 500 << 10),
    "control-limit": Key("size", 600, SIZE_MAX, 64 << 10),
    "ecn": Key("scalar", default=None),
    "host-ecn": Key("scalar", default=None),
    "fifo": Key("names", default=None),
    "ecn-probability": Key("q16", 1, Q16_ONE, Q16_ONE),
    "ecn-mode": Key("text", default="dequeue", choices=("dequeue", "enqueue")),
    "telemetry": Key("time", TELEMETRY_MIN, TELEMETRY_MAX, None),
    "trim": Key("size", TRIM_MIN, TRIM_MAX, None),
    "trim-to-sender": Key("bool", default=False),
    "trim-eligible": Key("text", default="all", choices=("all", "quell")),
    "tcp-int": Key("time", TELEMETRY_MIN, TELEMETRY_MAX, None),
    "buffer": Key("size", 600, SIZE_MAX, None),
    "alpha": Key("q16", 1, ALPHA_MAX_Q16, Q16_ONE),
    "qdisc": Key("text", default=None),
    **deflection.KEYS,
    **rcp.KEYS,
}
ECN_KEY = Key("size", 1, SIZE_MAX)
NOISE_KEYS = {
    "max": Key("time", 0, NOISE_MAX),
    "at": Key("text", default="hosts", choices=("hosts", "senders", "receivers")),
}
ALGORITHM_KEYS = {
    "name": Key("text"),
    "label": Key("text", default=None),
    "preset": Key("text", default=None),
    "variant": Key("text", default=None, choices=tuple(VARIANTS)),
    "credit": Key("size", credit.FIRST_MIN, SIZE_MAX, None),
    "ops": Key("text", default=None),
    "entropies": Key("int", 0, ENTROPIES_MAX, 0),
    "recycle": Key("bool", default=True),
    "rehash": Key("bool", default=True),
    "hwstamp": Key("bool", default=False),
    "nic-pace": Key("rate", RATE_MIN, RATE_MAX, None),
    "lookahead": Key("bool", default=False),
    "deflect": Key("bool", default=True),
    "expedite": Key("bool", default=False),
    "tcp-int": Key("int", 0, TCP_INT_USE, 0),
    "acks-per-rtt": Key("int", 0, ACKS_PER_RTT_MAX, None),
    "tail-floor": Key("time", TAIL_FLOOR_MIN, TAIL_FLOOR_MAX, None),
    "qdisc": Key("text", default=None),
    "tcp-ecn": Key("int", 0, TCP_ECN_MAX, None),
    "set": Key("table", default=None),
}
# Of them those that a Variant has as they are.
AS_WRITTEN = ("entropies", "rehash", "recycle", "hwstamp", "lookahead", "deflect", "expedite")
RECORD_KEYS = {
    "queue": Key("time", 100, 10**9, 1000),
    "cwnd": Key("time", 100, 10**9, 1000),
    "window": Key("time", 1000, 10**9, None),
    "truth": Key("bool", default=False),
    "pcap": Key("names", default=None),
}
CHECK_KEYS = {
    "within-one-packet": Key("bool", default=False),
    "allow-unfinished": Key("bool", default=False),
}
TOP_KEYS = {
    "title": Key("text", default=None),
    "seed": Key("int", 0, 2**32 - 1, 1),
    "until": Key("time", 1000, flows.TIME_MAX, None),
    "tso": Key("int", 1, TSO_MAX, 1),
    "option": Key("bool", default=False),
    "tcp-ecn": Key("int", 0, TCP_ECN_MAX, None),
    "sysctl": Key("table", default=None),
    "family": Key("int", 4, 6, 4),
    "multipath": Key("bool", default=False),
    "topology": Key("table"),
    "queue": Key("table", default=None),
    "pfc": Key("table", default=None),
    "noise": Key("table", default=None),
    "algorithm": Key("list"),
    "flow": Key("list", default=None),
    "flows": Key("list", default=None),
    "workload": Key("list", default=None),
    "flow-list": Key("list", default=None),
    "incast": Key("table", default=None),
    "program": Key("list", default=None),
    "syscall": Key("time", 0, processes.SYSCALL_MAX_NS, processes.SYSCALL_NS),
    "lookahead": Key("list", default=None),
    "record": Key("table", default=None),
    "measure": Key("tables", default=None),
    "convergence": Key("table", default=None),
    "paper": Key("list", default=None),
    "plot": Key("list", default=None),
    "slowdown": Key("table", default=None),
    "scale": Key("table", default=None),
    "check": Key("table", default=None),
}


@dataclass(frozen=True)
class Queue:
    """A switch port's queue.

    Without ECN both thresholds are 0, without telemetry and TCP-INT T, without trimming or a
    shared buffer their sizes.
    """

    limit_bytes: int
    control_limit_bytes: int
    ecn_min_bytes: int
    ecn_max_bytes: int
    ecn_prob_q16: int
    ecn_mode: str
    telemetry_ns: int
    trim_bytes: int
    trim_to_sender: bool
    trim_all: bool		# else what has the Quell option alone, as swport's default is
    tcp_int_ns: int
    buffer_bytes: int
    alpha_q16: int
    deflection: object		# deflection.Deflection, or None
    host_ecn_min_bytes: int = 0	# of hosts' own ports; without, pfifo
    host_ecn_max_bytes: int = 0
    fifo: tuple = ()		# switches that serve all in order, ACKs too
    rcp: object = None		# rcp.Rcp of the runs of that algorithm


@dataclass(frozen=True)
class Noise:
    """What hosts add at random between wire and stack, at most; 0: nothing."""

    max_ns: int
    at: str			# "hosts": all; "senders", "receivers" of flows


@dataclass(frozen=True)
class Record:
    """Sampling intervals."""

    queue_ns: int
    cwnd_ns: int
    window_ns: int
    truth: bool			# round-trip times as they were on the wire
    pcap: tuple = ()		# ports whose packets are written to files


@dataclass(frozen=True)
class Scenario:
    """Everything a run needs, checked, in base units."""

    title: str
    seed: int
    graph: topology.Graph
    queue: Queue
    pfc: object			# pfc.Pfc, or None
    variants: tuple
    flows: tuple
    groups: tuple		# lookahead.Group
    record: Record
    until_ns: int
    within_one_packet: bool
    allow_unfinished: bool
    windows: tuple		# measure.Window
    convergence: object		# convergence.Convergence, or None
    paper: tuple		# paper.Row
    slowdown: slowdown.Slowdown
    noise: Noise
    tso_pkts: int
    option: bool		# hosts with Quell speak its TCP option
    family: int			# of addresses: 4 or 6
    multipath: bool		# switches use all shortest paths
    notes: tuple		# what is allowed, but rarely meant
    config: dict		# as written, for reports
    processes: tuple = ()	# processes.Process
    syscall_ns: int = 0		# what a system call of theirs takes
    directory: str = ""		# of the scenario file, or the working directory
    plots: tuple = ()		# plot_tables.Plot
    sysctls: tuple = ()		# (name, value) of hosts
    known_routes: dict = field(default_factory=dict)	# (src, dst): links and MTU, once asked

    def stages(self, flow):
        """Per hop the ports a flow's packets may take: one, but for multipath."""
        return self._stages(flow.src, flow.dst)

    def _stages(self, src, dst):
        if self.multipath:
            return self.graph.stages(src, dst)
        return [[port] for port in self.graph.path(src, dst)]

    def _route(self, flow):
        """(links, MTU) of a flow's paths."""
        ends = (flow.src, flow.dst)
        if ends not in self.known_routes:
            stages = self.stages(flow)
            mtu_bytes = min(port.cable.mtu_bytes for ports in stages for port in ports)
            self.known_routes[ends] = (links_of(stages), mtu_bytes)
        return self.known_routes[ends]

    def links(self, flow):
        """The cables of a flow's path, as physics wants them."""
        return self._route(flow)[0]

    def mtu(self, flow):
        """Smallest MTU of a flow's paths."""
        return self._route(flow)[1]

    def ideal_ns(self, flow):
        """Earliest completion of the flow alone."""
        return ideal_ns(self.links(flow), flow.size_bytes, self.mtu(flow), flow.cold)

    def packet_time_ns(self, flow):
        """Wire time of a full packet on the flow's slowest cable."""
        return packet_time_ns(self.links(flow), self.mtu(flow))

    def noisy_hosts(self):
        """Hosts that delay what they receive."""
        if not self.noise.max_ns:
            return frozenset()
        return frozenset({"hosts": self.graph.hosts,
                          "senders": (flow.src for flow in self.flows),
                          "receivers": (flow.dst for flow in self.flows)}[self.noise.at])

    def watched_ports(self):
        """Switch ports data passes, in order of node and number."""
        seen = set()
        hosts = processes.ends(self)
        pairs = [(src, dst) for src in hosts for dst in hosts if src != dst]
        pairs += [(flow.src, flow.dst) for flow in self.flows]
        for src, dst in dict.fromkeys(pairs):
            seen.update(port.label for ports in self._stages(src, dst) for port in ports)
        return [port for switch in self.graph.switches
                for port in self.graph.ports[switch] if port.label in seen]


def at_scale(table, places, scale):
    """A scenario dictionary with what its [scale.NAME] overrides."""
    scales = check(places, "", {"scale": table["scale"]}, {"scale": TOP_KEYS["scale"]})["scale"] \
        if "scale" in table else {}
    if scale is None:
        return {key: value for key, value in table.items() if key != "scale"}
    if scale not in scales:
        raise InputError("--scale", f"no [scale.{scale}] in {places.source}"
                         f"{nearest(scale, scales)}: it has {', '.join(scales) or 'none'}")
    changed = scales[scale]
    if not isinstance(changed, dict) or "scale" in changed:
        raise InputError(places.name(f"scale.{scale}"), "not a table with keys of the scenario")
    return files.merge({key: value for key, value in table.items() if key != "scale"}, changed)


def build(table, places=None, scale=None):
    """Check a scenario dictionary, as it is or at a scale; InputError names what is wrong."""
    places = places or Places()
    if places.source.endswith(".sweep"):
        raise InputError(places.source, "a sweep, not a scenario: 'lab sweep' and 'lab diff' run it")
    table = at_scale(table, places, scale)
    top = check(places, "", table, TOP_KEYS)
    graph = build_graph(places, top["topology"])
    _few_next_hops(places, top, graph)
    queue = _queue(places, pfc.unlimited(top), graph)
    variants = _variants(places, top, queue, graph)
    programs = processes.build(places, top["program"], graph, top["family"])
    wanted = flows.build(places, top, graph)
    credit.check_flows(places.name("flow"), wanted, variants)
    pauses = pfc.build(places, top, graph, wanted)
    if pauses:
        queue = replace(queue, limit_bytes=pauses.most_bytes(graph))
    for own in (rcp, express, port_qdisc):
        own.need(places, top["queue"] or {}, queue, pauses, variants, top, graph, wanted)
    deflection.need_idle(places, queue, graph)
    groups = lookahead.build(places, top["lookahead"], graph, variants)
    record = check(places, "record", top["record"] or {}, RECORD_KEYS)
    if record["window"] is None:
        packet_ns = packet_time_ns(graph.cables, max(cable.mtu_bytes for cable in graph.cables))
        record["window"] = -(-WINDOW_PKTS * packet_ns // WINDOW_STEP_NS) * WINDOW_STEP_NS
    for src, dst in dict.fromkeys((flow.src, flow.dst) for flow in wanted):
        graph.path(src, dst)
    until_ns = top["until"]
    last_ns = max((one.start_ns for one in (*wanted, *programs)), default=0)
    if until_ns is None:
        until_ns = max(_patience_ns(graph, wanted, last_ns),
                       last_ns + processes.UNTIL_NS * bool(programs))
    elif until_ns <= last_ns:
        raise InputError(places.name("until"), f"'{table['until']}' is out of range: above "
                         f"{show_time(last_ns)}, the start of the last flow or program")
    noise = Noise(0, "hosts")
    if top["noise"] is not None:
        values = check(places, "noise", top["noise"], NOISE_KEYS)
        noise = Noise(values["max"], values["at"])
    checks = _checks(places, top)
    # The run ends with its programs, whether flows have or not.
    checks["allow-unfinished"] |= bool(programs)
    if not checks["allow-unfinished"] and any(flow.stop_ns or flow.endless
                                                 for flow in wanted):
        raise InputError(places.name("check.allow-unfinished"), "must be true where flows have a "
                         "stop, or in a list no end: they do not finish")
    windows = measure.build(places, top["measure"], wanted, record["window"], until_ns)
    joins = convergence.build(places, top["convergence"], graph, wanted, record["window"])
    rows = paper.build(places, top["paper"], [variant.label for variant in variants],
                       [window.name for window in windows], len(wanted))
    title = top["title"] or "scenario"
    plots = plot_tables.build(places, top["plot"], title, [variant.label for variant in variants],
                              windows, wanted, record)
    found = Scenario(title, top["seed"], graph, queue, pauses, variants,
                    wanted, groups,
                    Record(record["queue"], record["cwnd"], record["window"], record["truth"],
                           captures.build(places, record["pcap"], graph)),
                    until_ns, checks["within-one-packet"], checks["allow-unfinished"], windows,
                    joins, rows, slowdown.build(places, top["slowdown"]), noise,
                    top["tso"], top["option"], _family(places, top), top["multipath"],
                    (*_notes(places, top, queue), *pfc.notes(places, top, pauses),
                     *needs.notes(places, top, queue, variants, (graph, wanted))),
                    table, programs, top["syscall"] if programs else 0,
                    processes.directory_of(places), plots,
                    sysctls.build(places, top["sysctl"], variants))
    paper.check_needs(places, rows, found)
    return found


def _notes(places, top, queue):
    if not queue.trim_bytes or top["option"]:
        return ()
    return (f"{places.name('queue.trim')} without {places.name('option')}: no host knows a trimmed "
            "packet, all are recovered by TCP's own means and timers",)


def _family(places, top):
    if top["family"] == 5:
        raise InputError(places.name("family"), "'5' is no family of addresses: 4 or 6")
    if top["family"] == 4 and any(table.get("entropies") for table in top["algorithm"]):
        raise InputError(places.name("family"), "must be 6 where an algorithm has entropies: IPv4 "
                         "has no flow label")
    return top["family"]


def _checks(places, top):
    values = check(places, "check", top["check"] or {}, CHECK_KEYS)
    if values["allow-unfinished"] and top["until"] is None:
        raise InputError(places.name("check.allow-unfinished"), "needs until: flows that never "
                         "finish would run for a very long time")
    if values["allow-unfinished"] and values["within-one-packet"]:
        raise InputError(places.name("check.allow-unfinished"), "contradicts within-one-packet")
    return values


def _patience_ns(graph, wanted, last_ns):
    """Generous end: twenty times all bytes over the slowest cable, and 10 s."""
    slowest = min(cable.rate_bits_ps for cable in graph.cables)
    total_bits = sum(flow.size_bytes for flow in wanted) * 8
    return last_ns + 10 * 10**9 + 20 * total_bits * 10**9 // slowest


def _other(values, tier):
    """Rate and delay of other cables than the hosts', theirs where not set."""
    return [values[key] if values[f"{tier}-{key}"] is None else values[f"{tier}-{key}"]
            for key in ("rate", "delay")]


def build_graph(places, table):
    """The network of a [topology] table."""
    kind = table.get("kind")
    check(places, "topology", {"kind": kind} if kind is not None else {},
          {"kind": Key("text", choices=tuple(TOPOLOGY_KEYS))})
    values = check(places, "topology", table, TOPOLOGY_KEYS[kind])
    if kind == "graph":
        return _graph(places, values)
    if kind in ("fat-tree", "clos"):
        return fabric.build(places, kind, values)
    cable = (values["rate"], values["delay"], values["mtu"])
    if kind == "star":
        return topology.star(values["hosts"], *cable)
    if kind == "leaf-spine":
        whole = topology.leaf_spine(values["leaves"], values["spines"], values["hosts"], cable,
                                    *_other(values, "spine"))
        return fabric.graph(places, whole.hosts, whole.switches,
                            fabric.damaged(places, values, whole.cables))
    return topology.dumbbell(values["left"], values["right"], *cable, *_other(values, "trunk"))


def _few_next_hops(places, top, graph):
    """InputError for a switch whose equal next hops may be more than a route can have."""
    for switch in graph.switches if top["multipath"] else ():
        hops = sum(graph.is_switch(port.peer) for port in graph.ports[switch])
        if hops > topology.NEXT_HOPS_MAX:
            raise InputError(places.name("topology"), f"'{switch}' has {hops} cables to switches: "
                             f"with multipath at most {topology.NEXT_HOPS_MAX}, the next hops "
                             "of a route")


def _graph(places, values):
    for key in ("hosts", "switches"):
        for name in values[key]:
            if not NODE_NAME.fullmatch(name):
                raise InputError(places.name(f"topology.{key}"),
                                 f"'{name}' is not a node name: a letter, then letters, digits "
                                 "or -, in lower case, at most 12")
    cables = []
    for path, cable in each(places, "topology.cables", values["cables"], CABLE_KEYS):
        cables += [topology.Cable(*ends, cable["rate"], cable["delay"], cable["mtu"]) for ends in
                   joined(places.name(path), cable["a"], cable["b"], cable["pairs"])]
    if not values["hosts"] or len(values["hosts"]) > topology.HOSTS_MAX:
        raise InputError(places.name("topology.hosts"), f"{len(values['hosts'])} hosts is out "
                         f"of range: 1 to {topology.HOSTS_MAX}")
    return fabric.graph(places, values["hosts"], values["switches"], cables)


def _queue(places, table, graph):
    values = check(places, "queue", table, QUEUE_KEYS)
    packet = max(cable.mtu_bytes for cable in graph.cables) + ETHERNET_BYTES
    if values["limit"] < packet:
        raise InputError(places.name("queue.limit"), f"{values['limit']} bytes is out of range: "
                         f"one packet of {packet} bytes to {show_size(SIZE_MAX)}")
    low, high = _thresholds(places, values, "ecn")
    host_low, host_high = _thresholds(places, values, "host-ecn")
    if values["trim-to-sender"] and not values["trim"]:
        raise InputError(places.name("queue.trim-to-sender"), "without trim there is none")
    if values["trim-eligible"] != "all" and not values["trim"]:
        raise InputError(places.name("queue.trim-eligible"), "without trim there is none")
    if (values["trim"] or 0) > values["control-limit"]:
        raise InputError(places.name("queue.trim"), f"{values['trim']} bytes is out of range: "
                         f"{TRIM_MIN}b to control-limit {show_size(values['control-limit'])}")
    shortest = min(cable.mtu_bytes for cable in graph.cables) + ETHERNET_BYTES
    if (values["trim"] or 0) >= shortest:
        raise InputError(places.name("queue.trim"), f"{values['trim']} bytes is out of range: "
                         f"{TRIM_MIN}b to {shortest - 1}b, below a packet of {shortest} bytes")
    return Queue(values["limit"], values["control-limit"], low, high, values["ecn-probability"],
                 values["ecn-mode"], values["telemetry"] or 0,
                 values["trim"] or 0, values["trim-to-sender"],
                 values["trim-eligible"] == "all",
                 values["tcp-int"] or 0, values["buffer"] or 0, values["alpha"],
                 deflection.build(places, table, values, low, graph), host_low, host_high,
                 needs.fifo(places, values, graph), rcp.build(places, table, values))


def _thresholds(places, values, key):
    """MIN and MAX of a key that has them; 0 without it."""
    if values[key] is None:
        return 0, 0
    where = places.name(f"queue.{key}")
    parts = str(values[key]).split(":")
    if len(parts) > 2:
        raise InputError(where, f"'{values[key]}' is not MIN or MIN:MAX")
    sizes = [value_of(where, part, ECN_KEY) for part in parts]
    low, high = sizes[0], sizes[-1]
    if low > high or high > values["limit"]:
        raise InputError(where, f"'{values[key]}' is out of range: MIN <= MAX <= limit "
                         f"{show_size(values['limit'])}")
    return low, high


def _acks_per_rtt(wanted, variant):
    """ACKs that data asks for: as on a host for an algorithm out of the box, else, as in the
    papers, one for each packet."""
    if wanted is not None:
        return wanted
    return ACKS_PER_RTT if variant.values.get("adapt") else ACKS_EACH_PACKET


def _check_paths(where, entry, variant, option):
    """InputError for keys of paths that would have no effect."""
    if entry["entropies"] and variant.name not in SPRAYED:
        raise InputError(where, f"{variant.name} has no entropies: only {', '.join(SPRAYED)}")
    if entry["entropies"] and not option:
        raise InputError(where, "entropies need option = true, by which they come back")
    if not entry["recycle"] and not entry["entropies"]:
        raise InputError(where, "recycle has no effect without entropies")
    if entry["variant"] == "plb" and (entry["entropies"] or not entry["rehash"]):
        raise InputError(where, "plb changes a flow's hash: not with entropies, nor without rehash")


def _of_network(entry):
    """What of an algorithm's keys its ports and hosts have, for its label."""
    kind = (entry["qdisc"] or "").split()[:1]
    return {**({"qdisc": kind[0]} if kind else {}),
            **({} if entry["tcp-ecn"] is None else {"tcp-ecn": entry["tcp-ecn"]})}


def _network(places, path, entry, top):
    """Qdisc of ports and tcp_ecn of hosts of a run: its own, or those of all."""
    own = entry["qdisc"] is not None
    qdisc = port_qdisc.build(places.name(f"{path}.qdisc" if own else "queue.qdisc"),
                             entry["qdisc"] if own else (top["queue"] or {}).get("qdisc"))
    tcp_ecn = top["tcp-ecn"] if entry["tcp-ecn"] is None else entry["tcp-ecn"]
    return {"qdisc": qdisc, "tcp_ecn": tcp_ecn}


def _check_parameters(places, tables):
    """InputError for a parameter that is not in [algorithm.set]."""
    for number, table in enumerate(tables):
        known = ALGORITHMS.get(str(table.get("name"))) if isinstance(table, dict) else None
        for key in known.parameters if known else ():
            if key in table and key not in ALGORITHM_KEYS:
                raise InputError(places.name(f"algorithm[{number}].{key}"), "a parameter: write "
                                 f"set = {{ {key} = \"{table[key]}\" }}")


def _variants(places, top, queue, graph):
    tables = top["algorithm"]
    # Without IPv6 entropies are refused whatever the option.
    option = top["option"] or top["family"] == 4
    if not tables:
        raise InputError(places.name("algorithm"), "missing: at least one is needed")
    variants = []
    _check_parameters(places, tables)
    for path, entry in each(places, "algorithm", tables, ALGORITHM_KEYS):
        where = places.name("algorithm") if places.options else places.name(path)
        settings = entry["set"] or {}
        found = find(where, entry["name"], os.path.dirname(places.source), entry["ops"])
        label = entry["label"]
        if label is None:
            pairs = {key: entry[key] for key in ("variant", "preset") if entry[key] is not None}
            if entry["credit"] is not None:
                pairs = {"credit": show_size(entry["credit"]), **pairs}
            pairs.update(_of_network(entry))
            pairs.update(settings)
            label = ":".join([found[0]] + [f"{k}={v}" for k, v in pairs.items()])
        variant = make_variant(where, found, label, settings, entry["preset"], entry["variant"])
        variant = replace(variant, nic_pace_bits_ps=entry["nic-pace"] or 0,
                          tcp_int=entry["tcp-int"],
                          tail_floor_ns=entry["tail-floor"] or 0,
                          credit_bytes=entry["credit"] or 0,
                          acks_per_rtt=_acks_per_rtt(entry["acks-per-rtt"], variant),
                          **_network(places, path, entry, top),
                          **{key: entry[key] for key in AS_WRITTEN})
        _check_paths(where, entry, variant, option)
        credit.check(where, entry, variant, queue, top, graph)
        needs.paced(where, variant, queue, top, graph)
        if not LABEL.fullmatch(label):
            raise InputError(where, f"label '{label}' is not 1 to 64 of letters, digits and _.:=+-")
        if label in (other.label for other in variants):
            raise InputError(where, f"'{label}' is given twice: labels must differ"
                             + ("" if places.options else "; label = \"NAME\" sets one"))
        variants.append(variant)
    return tuple(variants)
