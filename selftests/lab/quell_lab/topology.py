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


class Graph:
    """Hosts, switches and cables, with ports and routes derived."""

    def __init__(self, hosts, switches, cables):
        self.hosts = list(hosts)
        self.switches = list(switches)
        self.cables = list(cables)
        self._check()
        self.ports = self._make_ports()
        self._towards = {}

    @property
    def nodes(self):
        """All nodes, hosts first."""
        return self.hosts + self.switches

    def is_switch(self, node):
        """Whether the node forwards."""
        return node in self._switch_set

    def _check(self):
        names = self.nodes
        self._switch_set = set(self.switches)
        for name in names:
            if names.count(name) > 1:
                raise InputError("topology", f"node '{name}' is named twice")
        used = {name: 0 for name in names}
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

    def address(self, node, family=4):
        """
        Hosts 10.0.0.1 and on, switches 10.255.0.1 and on; with IPv6 fd00::1 and
        fd00::ff:1.
        """
        switch = self.is_switch(node)
        number = (self.switches if switch else self.hosts).index(node) + 1
        if family == 6:
            return f"fd00::{'ff:' if switch else ''}{number:x}"
        number += SWITCH_NET if switch else HOST_NET
        return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))

    def detours(self, port):
        """Ways round a switch's port to a switch: its ports to the other switches."""
        if not (self.is_switch(port.node) and self.is_switch(port.peer)):
            return []
        return [other for other in self.ports[port.node]
                if other != port and self.is_switch(other.peer)
                and other.cable.mtu_bytes >= port.cable.mtu_bytes]

    def _distances(self, dst):
        """Links from every node to host dst; hosts, having one cable, are never on the way."""
        if dst in self._towards:
            return self._towards[dst]
        distance = {dst: 0}
        todo = deque([dst])
        while todo:
            node = todo.popleft()
            for port in self.ports[node]:
                if port.peer not in distance:
                    distance[port.peer] = distance[node] + 1
                    todo.append(port.peer)
        self._towards[dst] = distance
        return distance

    def next_hops(self, node, dst):
        """Ports of node on a shortest path to host dst, in cable order."""
        distance = self._distances(dst)
        if node not in distance or node == dst:
            return []
        return [port for port in self.ports[node] if distance[port.peer] == distance[node] - 1]

    def stages(self, src, dst):
        """
        Where packets may be between src and dst when they take all shortest
        paths: per hop the ports of all nodes they can be at, in cable order.
        """
        stages = []
        nodes = [src]
        while nodes != [dst]:
            ports = [port for node in nodes for port in self.next_hops(node, dst)]
            if not ports:
                raise InputError("topology", f"no path from {src} to {dst}")
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
                raise InputError("topology", f"no path from {src} to {dst}")
            hops.append(choices[0])
            node = choices[0].peer
        return hops


def star(hosts, rate_bits_ps, delay_ns, mtu_bytes):
    """Hosts h1..hN, each with a cable to switch s1; s1's port pI leads to hI."""
    names = [f"h{i}" for i in range(1, hosts + 1)]
    cables = [Cable(name, "s1", rate_bits_ps, delay_ns, mtu_bytes) for name in names]
    return Graph(names, ["s1"], cables)


def leaf_spine(leaves, spines, hosts, rate_bits_ps, delay_ns, mtu_bytes):
    """Leaves l1..lL with as many hosts each, spines s1..sS; l1 has the first hosts."""
    names = [f"h{i}" for i in range(1, leaves * hosts + 1)]
    cables = [Cable(name, f"l{1 + i // hosts}", rate_bits_ps, delay_ns, mtu_bytes)
              for i, name in enumerate(names)]
    tiers = [[f"{letter}{i}" for i in range(1, count + 1)]
             for letter, count in (("l", leaves), ("s", spines))]
    cables += [Cable(leaf, spine, rate_bits_ps, delay_ns, mtu_bytes)
               for leaf in tiers[0] for spine in tiers[1]]
    return Graph(names, tiers[0] + tiers[1], cables)


def dumbbell(left, right, rate_bits_ps, delay_ns, mtu_bytes, trunk_rate_bits_ps, trunk_delay_ns):
    """h1..hL at switch s1, the next R hosts at s2, one trunk between, cabled last."""
    names = [f"h{i}" for i in range(1, left + right + 1)]
    cables = [Cable(name, "s1" if i < left else "s2", rate_bits_ps, delay_ns, mtu_bytes)
              for i, name in enumerate(names)]
    cables.append(Cable("s1", "s2", trunk_rate_bits_ps, trunk_delay_ns, mtu_bytes))
    return Graph(names, ["s1", "s2"], cables)
