# SPDX-License-Identifier: GPL-2.0
"""A network in parts: which node is in which, and each part's plan.

A part is one user-mode Linux.  Cables between parts are cut; their smallest propagation delay is
how far parts may run apart (lab/modules/labnic_part.c).
"""

import os
from dataclasses import dataclass, replace

from .errors import InputError
from .schema import Key, value_of
from .units import show_time

PARTS_MAX = 16			# of the module
CUT_DELAY_MIN_NS = 100		# below, parts would meet more often than packets pass
# Work per packet: of a switch 1, of a host with its TCP, for each end.
HOST_WORK = 2.5
BALANCE = 1.05			# a part's share of the work, at most, over the mean
PASSES = 20
# What a part writes for a packet, over its time on the wire: of an ACK, which is the worst.
RECORD_OVER_WIRE = 1.6
BUFFER_CABLE_BYTES = 20000	# of each cable, for packets that begin before a window
BUFFER_BASE_BYTES = 1 << 16	# for ends of flows
SPINS = 2000			# some 50 us
HANG_S = 20			# that a part may let others wait between two barriers
# Longer windows than this gain no time, and buffers hold all packets of a window.
LOOKAHEAD_MAX_NS = 20000
SHARED_MEMORY = b"iomem=<name>,<file>"	# help text of the option
SOCKET_RANDOM = b"net_random_seed"	# a symbol of its patch
SLACK = "net.ipv4.tcp_comp_sack_slack_ns"	# which quell_labnic sets
MEMORY_MAX_BYTES = 1 << 30	# of all buffers; user-mode Linux maps files below 2 GB
# Lines of a plan about one node, its second word.
OF_NODE = ("addr", "route", "sysctl", "qdisc", "param", "watch", "stamps", "lookahead",
           "capture")
# Those that have no meaning in parts yet; check() refuses what would need them.
REFUSED = ("probe", "step", "program", "directory", "syscall", "hostname", "bpf", "bpf-option")


@dataclass(frozen=True)
class Cut:
    """Which part each node is in."""

    parts: int
    of_node: dict		# node -> number of its part
    lookahead_ns: int		# smallest delay of a cut cable, or less; of one part any time
    known_ns: int		# largest delay of any cable, the same for any number of parts
    buffer_bytes: int		# of each buffer from a part to another

    @property
    def memory_bytes(self):
        """Size of the memory that the parts share."""
        return -(-((1 << 12) + 2 * self.parts ** 2 * self.buffer_bytes) // 4096) * 4096


def check(scenario):
    """InputError for what a network in parts cannot do yet."""
    def refuse(what, why):
        raise InputError("--parts", f"not with {what} yet: {why}")
    if scenario.processes:
        refuse("programs", "they would have to run in the parts of their hosts")
    if SLACK in dict(scenario.sysctls):
        refuse(SLACK, "it is 0, as timers with slack expire when others of their kernel do")
    for variant in scenario.variants:
        if variant.program:
            refuse(variant.label, "BPF objects")
        if variant.tree:
            refuse(f"a module of the kernel's tree ({variant.label})", "it may draw at random, too")
        if variant.qdisc:
            refuse(f"qdiscs of the kernel ({variant.label})", "they draw at random from it")


def of_command(args):
    """The option --parts of a command line; None without."""
    if getattr(args, "parts", None) is None:
        return None
    return value_of("--parts", args.parts, Key("int", 1, PARTS_MAX))


def of_kernel(scenario, kernel):
    """The Cut of a scenario for a kernel's runs; None if they are not divided."""
    if kernel.parts is None:
        return None
    if not kernel.has(SHARED_MEMORY) or not kernel.has(SOCKET_RANDOM):
        raise InputError("--parts", f"Linux {kernel.version} of user-mode Linux has no memory that "
                         "kernels share (iomem=), or no um-socket-random.patch: parts run on 6.12")
    check(scenario)
    return cut(scenario, kernel.parts)


def _loads(scenario):
    """(work of each node, traffic of each cable), as the flows' sizes have it."""
    pairs = {}
    for flow in scenario.flows:
        pairs[flow.src, flow.dst] = pairs.get((flow.src, flow.dst), 0) + flow.size_bytes
    work = dict.fromkeys(scenario.graph.nodes, 0)
    traffic = dict.fromkeys(map(id, scenario.graph.cables), 0)
    flow_of = {(flow.src, flow.dst): flow for flow in scenario.flows}
    for (src, dst), size in pairs.items():
        work[src] += HOST_WORK * size
        work[dst] += HOST_WORK * size
        for ports in scenario.stages(flow_of[src, dst]):
            for port in ports:
                traffic[id(port.cable)] += size / len(ports)
                if scenario.graph.is_switch(port.node):
                    work[port.node] += size / len(ports)
    return work, traffic


def _together(graph):
    """{node: the node that stands for all it cannot be cut from}."""
    leader = {node: node for node in graph.nodes}

    def find(node):
        while leader[node] != node:
            node = leader[node]
        return node
    for cable in graph.cables:
        if cable.delay_ns < CUT_DELAY_MIN_NS:
            leader[find(cable.b)] = find(cable.a)
    return {node: find(node) for node in graph.nodes}


def _bunches(graph):
    """Hosts with the switch that they are at, in the order of the hosts; and all other nodes."""
    bunches = {}
    for host in graph.hosts:
        peer = graph.ports[host][0].peer
        bunches.setdefault(peer if graph.is_switch(peer) else host, []).append(host)
    first = [[end, *(host for host in hosts if host != end)] for end, hosts in bunches.items()]
    return first, [switch for switch in graph.switches if switch not in bunches]


class _Partition:
    """Groups of nodes in parts, of equal work, improved by moving one at a time."""

    def __init__(self, scenario, parts):
        self.parts = parts
        self.leader = _together(scenario.graph)
        self.work, self.near = {}, {}
        work, traffic = _loads(scenario)
        for node, one in work.items():
            top = self.leader[node]
            self.work[top] = self.work.get(top, 0) + one
            self.near.setdefault(top, {})
        for cable in scenario.graph.cables:
            a, b = self.leader[cable.a], self.leader[cable.b]
            if a != b:
                for one, other in ((a, b), (b, a)):
                    self.near[one][other] = self.near[one].get(other, 0) + traffic[id(cable)]
        self.limit = BALANCE * sum(self.work.values()) / parts
        self.part, self.load, self.size = {}, [0.0] * parts, [0] * parts
        self._fill(*_bunches(scenario.graph))
        for _ in range(PASSES):
            if not any([self._move(node) for node in list(self.part)]):
                break

    def _put(self, node, part):
        old = self.part.get(node)
        if old is not None:
            self.load[old] -= self.work[node]
            self.size[old] -= 1
        self.part[node] = part
        self.load[part] += self.work[node]
        self.size[part] += 1

    def _fill(self, bunches, others):
        """Bunches one after the other, as whole as balance allows; each other node by traffic."""
        bunches = [list(dict.fromkeys(self.leader[node] for node in bunch)) for bunch in bunches]
        works = [sum(self.work[node] for node in bunch) for bunch in bunches]
        if max(works) > 0.6 * self.limit or len(bunches) < self.parts:
            bunches = [[node] for bunch in bunches for node in bunch]
            works = [self.work[node] for node, in bunches]
        mean, done = sum(works) / self.parts or 1, 0
        for bunch, work in zip(bunches, works):
            part = min(int((done + work / 2) / mean), self.parts - 1)
            done += work
            for node in bunch:
                if node not in self.part:
                    self._put(node, part)
        for node in others:
            node = self.leader[node]
            if node not in self.part:
                pull = self._pull(node)
                self._put(node, max(range(self.parts), key=lambda part, n=node, p=pull: (
                    self.load[part] + self.work[n] <= self.limit, p[part], -self.load[part])))

    def _pull(self, node):
        pull = [0.0] * self.parts
        for other, traffic in self.near[node].items():
            if other in self.part:
                pull[self.part[other]] += traffic
        return pull

    def _move(self, node):
        """Put a group where most of its traffic is, or out of a part that has too much work."""
        own, pull = self.part[node], self._pull(node)

        def is_better(part):
            load = self.load[part] + self.work[node]
            if self.load[own] > self.limit:
                return load < self.load[own]
            return load <= self.limit and pull[part] > pull[own]
        better = [part for part in range(self.parts)
                  if part != own and self.size[own] > 1 and is_better(part)]
        if not better:
            return False
        self._put(node, max(better, key=lambda part: (pull[part], -self.load[part])))
        return True


def cut(scenario, parts):
    """A Cut of a scenario's network; InputError if there is none."""
    graph = scenario.graph
    known_ns = max(cable.delay_ns for cable in graph.cables)
    if known_ns < CUT_DELAY_MIN_NS:
        raise InputError("--parts", f"no cable has a delay of {show_time(CUT_DELAY_MIN_NS)} or "
                         "more, and only such can be between two parts")
    if parts == 1:
        return Cut(1, dict.fromkeys(graph.nodes, 0), LOOKAHEAD_MAX_NS, known_ns, 4096)
    partition = _Partition(scenario, parts)
    of_node = {node: partition.part[partition.leader[node]] for node in graph.nodes}
    if len(set(of_node.values())) < parts:
        raise InputError("--parts", f"the network cannot be divided in {parts}: cables without "
                         f"{show_time(CUT_DELAY_MIN_NS)} of delay hold it together, or it is too "
                         "small")
    between = [cable for cable in graph.cables if of_node[cable.a] != of_node[cable.b]]
    lookahead_ns = min((cable.delay_ns for cable in between), default=known_ns)
    lookahead_ns = min(lookahead_ns, LOOKAHEAD_MAX_NS)
    one = Cut(parts, of_node, lookahead_ns, known_ns, _buffer_bytes(between, of_node, lookahead_ns))
    while one.memory_bytes > MEMORY_MAX_BYTES and lookahead_ns > CUT_DELAY_MIN_NS:
        lookahead_ns //= 2
        one = replace(one, lookahead_ns=lookahead_ns,
                      buffer_bytes=_buffer_bytes(between, of_node, lookahead_ns))
    return one


def _buffer_bytes(between, of_node, lookahead_ns):
    """What the cables from one part to another can carry in a window, at most."""
    pairs = {}
    for cable in between:
        for pair in ((cable.a, cable.b), (cable.b, cable.a)):
            key = tuple(of_node[node] for node in pair)
            pairs[key] = pairs.get(key, 0) + BUFFER_CABLE_BYTES + int(
                RECORD_OVER_WIRE * cable.rate_bits_ps * lookahead_ns / 8e9)
    return -(-(BUFFER_BASE_BYTES + max(pairs.values(), default=0)) // 4096) * 4096


def _module(one, number, here, words):
    spins = SPINS if here <= len(os.sched_getaffinity(0)) else 0
    return " ".join([*words, f"part={number}", f"parts={one.parts}",
                     f"lookahead_ns={one.lookahead_ns}", f"known_ns={one.known_ns}",
                     f"buffer_bytes={one.buffer_bytes}", f"spins={spins}", f"hang_s={HANG_S}"])


def _link(one, number, words, cable):
    """The line of a cable of this part, or None; "a" or "b" is in another part."""
    ends = [one.of_node[words[1]], one.of_node[words[3]]]
    if number not in ends:
        return None
    away = [f"away={letter}:{part}" for letter, part in zip("ab", ends) if part != number]
    return " ".join([*words, f"cable={cable}", *away])


def plan(text, one, number, here=None):
    """The plan of a part, of that of the whole network; of all parts some are on this machine."""
    lines, cables = [], 0
    own = {node for node, part in one.of_node.items() if part == number}
    links = [line.split() for line in text.splitlines() if line.startswith("link ")]
    stubs = {node for words in links for node in (words[1], words[3])
             if {words[1], words[3]} & own} - own
    for line in text.splitlines():
        words = line.split()
        kind = words[0]
        if kind in REFUSED:
            raise InputError("--parts", f"not with '{kind}' in a plan")
        if kind == "module" and words[1] == "quell_labnic.ko":
            line = _module(one, number, here or one.parts, words)
        elif kind == "node" and words[1] not in own | stubs:
            continue
        elif kind == "link":
            cables += 1
            line = _link(one, number, words, cables)
            if line is None:
                continue
        elif kind in OF_NODE and words[1] not in own:
            continue
        elif kind == "flow":
            words[2:4] = [node if node in own else "-" for node in words[2:4]]
            line = " ".join(words)
        lines.append(line)
    return "\n".join(lines) + "\n"
