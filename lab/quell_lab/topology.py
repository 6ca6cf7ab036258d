# SPDX-License-Identifier: GPL-2.0
"""Networks as data: hosts, switches, cables, and what follows from them.

A builder returns a Graph and nothing else; ports, addresses, shortest paths
and routes are computed from the graph, so a new topology is a new list of
cables.  Several equal next hops are kept (next_hops()), path() takes the
first, in the order the cables were given.
"""

from collections import deque
from dataclasses import dataclass

from .errors import InputError

HOST_NET = 10 << 24
SWITCH_NET = (10 << 24) | (255 << 16)
HOSTS_MAX = 4096
NEXT_HOPS_MAX = 1024		# what a line of a plan holds: PLAN_WORDS_MAX of its reader


@dataclass(frozen=True)
class Cable:
    """A full-duplex cable; rate, delay and MTU are those of both directions."""

    a: str
    b: str
    rate_bits_ps: int
    delay_ns: int
    mtu_bytes: int


@dataclass(frozen=True)
class Port:
    """One end of a cable: the device a node sends through to its peer."""

    node: str
    dev: str
    peer: str
    peer_dev: str
    cable: Cable

    @property
    def label(self):
        """Name of the port in result files."""
        return f"{self.node}:{self.dev}"


def _dotted(number):
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def host_address(number, family=4):
    """Address of the host with this number; of number 0, which no host has, what all share."""
    return f"fd00::{number:x}" if family == 6 else _dotted(HOST_NET + number)


class Graph:
    """Hosts, switches and cables, with ports and routes derived."""

    def __init__(self, hosts, switches, cables):
        self.hosts = list(hosts)
        self.switches = list(switches)
        self.cables = list(cables)
        self.where = "topology"	# of its table in messages
        self._check()
        self.ports = self._make_ports()
        self._number = {name: number for names in (self.hosts, self.switches)
                        for number, name in enumerate(names, 1)}
        self._towards = {}
        self._hops = {}
        self._between = {}	# stages between the switches of two hosts

    @property
    def nodes(self):
        """All nodes, hosts first."""
        return self.hosts + self.switches

    def is_switch(self, node):
        """Whether the node forwards."""
        return node in self._switch_set

    def is_host(self, node):
        """Whether flows may end there."""
        return node in self._host_set

    def _check(self):
        names = self.nodes
        self._switch_set = set(self.switches)
        self._host_set = set(self.hosts)
        used = {}
        for name in names:
            if name in used:
                raise InputError("topology", f"node '{name}' is named twice")
            used[name] = 0
        for cable in self.cables:
            for end in (cable.a, cable.b):
                if end not in used:
                    raise InputError("topology", f"cable {cable.a}-{cable.b}: no node '{end}'")
                used[end] += 1
            if cable.a == cable.b:
                raise InputError("topology", f"cable {cable.a}-{cable.b} joins a node to itself")
        for host in self.hosts:
            if used[host] != 1:
                raise InputError("topology",
                                 f"host '{host}' has {used[host]} cables: a host has exactly 1")
        for switch in self.switches:
            if not used[switch]:
                raise InputError("topology", f"switch '{switch}' has no cable")

    def _make_ports(self):
        """Per node its ports, numbered from 1 in the order of the cables."""
        count = {node: 0 for node in self.nodes}
        ports = {node: [] for node in self.nodes}
        for cable in self.cables:
            devs = []
            for node in (cable.a, cable.b):
                count[node] += 1
                devs.append(f"p{count[node]}" if self.is_switch(node) else "eth0")
            ports[cable.a].append(Port(cable.a, devs[0], cable.b, devs[1], cable))
            ports[cable.b].append(Port(cable.b, devs[1], cable.a, devs[0], cable))
        return ports

    def number(self, node):
        """Number of a host among the hosts or of a switch among the switches, from 1."""
        return self._number[node]

    def address(self, node, family=4):
        """
        Hosts 10.0.0.1 and on, switches 10.255.0.1 and on; with IPv6 fd00::1 and
        fd00::ff:1.
        """
        if self.is_switch(node):
            number = self._number[node]
            return f"fd00::ff:{number:x}" if family == 6 else _dotted(SWITCH_NET + number)
        return host_address(self._number[node], family)

    def detours(self, port):
        """Ways round a switch's port to a switch: its ports to the other switches."""
        if not (self.is_switch(port.node) and self.is_switch(port.peer)):
            return []
        return [other for other in self.ports[port.node]
                if other != port and self.is_switch(other.peer)
                and other.cable.mtu_bytes >= port.cable.mtu_bytes]

    def leads_up(self, port):
        """Whether the other end is further from the nearest host."""
        links = self._distances(None)
        return links[port.peer] > links[port.node]

    def _distances(self, end):
        """
        Links from every node to one, None: to the nearest host; hosts, having one cable, are
        never on the way.
        """
        if end in self._towards:
            return self._towards[end]
        self._towards[end] = self._links_from([end] if end else self.hosts)
        return self._towards[end]

    def _links_from(self, ends):
        """{node: links to the nearest of some}; without nodes that none of them reaches."""
        distance = dict.fromkeys(ends, 0)
        todo = deque(ends)
        while todo:
            node = todo.popleft()
            for port in self.ports[node]:
                if port.peer not in distance:
                    distance[port.peer] = distance[node] + 1
                    todo.append(port.peer)
        return distance

    def next_hops(self, node, dst):
        """Ports of node on a shortest path to host dst, in cable order."""
        # The ways to a host are the ways to what its one cable leads to.
        end = self.ports[dst][0].peer
        if node == dst:
            return []
        if node == end:
            return [port for port in self.ports[node] if port.peer == dst]
        if (node, end) not in self._hops:
            distance = self._distances(end)
            self._hops[node, end] = [port for port in self.ports[node] if node in distance
                                     and distance[port.peer] == distance[node] - 1]
        return self._hops[node, end]

    def levels(self):
        """{node: how far it is from the nearest host}; without switches that no host reaches."""
        return self._links_from(self.hosts)

    def stages(self, src, dst):
        """
        Where packets may be between src and dst when they take all shortest
        paths: per hop the ports of all nodes they can be at, in cable order.
        """
        first = self.ports[src][0]
        key = (first.peer, self.ports[dst][0].peer)
        if not (self.is_switch(key[0]) and self.is_switch(key[1])):
            return self._stages(src, dst)
        if key not in self._between:
            self._between[key] = self._stages(src, dst)[1:-1]
        return [[first], *self._between[key], self.next_hops(key[1], dst)]

    def _stages(self, src, dst):
        """The same, computed."""
        stages = []
        nodes = [src]
        while nodes != [dst]:
            ports = [port for node in nodes for port in self.next_hops(node, dst)]
            if not ports:
                raise InputError(self.where, f"no path from {src} to {dst}")
            stages.append(ports)
            nodes = list(dict.fromkeys(port.peer for port in ports))
        return stages

    def path(self, src, dst):
        """Egress ports from host src to host dst; InputError if unreachable."""
        hops = []
        node = src
        while node != dst:
            choices = self.next_hops(node, dst)
            if not choices:
                raise InputError(self.where, f"no path from {src} to {dst}")
            hops.append(choices[0])
            node = choices[0].peer
        return hops


def star(hosts, rate_bits_ps, delay_ns, mtu_bytes):
    """Hosts h1..hN, each with a cable to switch s1; s1's port pI leads to hI."""
    names = [f"h{i}" for i in range(1, hosts + 1)]
    cables = [Cable(name, "s1", rate_bits_ps, delay_ns, mtu_bytes) for name in names]
    return Graph(names, ["s1"], cables)


def leaf_spine(leaves, spines, hosts, cable, spine_rate_bits_ps, spine_delay_ns):
    """Leaves l1..lL with as many hosts each, spines s1..sS; l1 has the first hosts.  cable: rate,
    delay and MTU of the hosts'."""
    names = [f"h{i}" for i in range(1, leaves * hosts + 1)]
    cables = [Cable(name, f"l{1 + i // hosts}", *cable)
              for i, name in enumerate(names)]
    tiers = [[f"{letter}{i}" for i in range(1, count + 1)]
             for letter, count in (("l", leaves), ("s", spines))]
    cables += [Cable(leaf, spine, spine_rate_bits_ps, spine_delay_ns, cable[-1])
               for leaf in tiers[0] for spine in tiers[1]]
    return Graph(names, tiers[0] + tiers[1], cables)


def dumbbell(left, right, rate_bits_ps, delay_ns, mtu_bytes, trunk_rate_bits_ps, trunk_delay_ns):
    """h1..hL at switch s1, the next R hosts at s2, one trunk between, cabled last."""
    names = [f"h{i}" for i in range(1, left + right + 1)]
    cables = [Cable(name, "s1" if i < left else "s2", rate_bits_ps, delay_ns, mtu_bytes)
              for i, name in enumerate(names)]
    cables.append(Cable("s1", "s2", trunk_rate_bits_ps, trunk_delay_ns, mtu_bytes))
    return Graph(names, ["s1", "s2"], cables)
