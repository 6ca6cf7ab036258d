# SPDX-License-Identifier: GPL-2.0
"""Cables whose packets are written to pcap files."""

from .errors import InputError, nearest

CAPTURES_MAX = 256


def build(places, names, graph):
    """Ports that are named: h1 is the cable of a host, s1:p3 that of a switch's port."""
    where = places.name("record.pcap")
    found = []
    for name in names or ():
        node, _, dev = name.partition(":")
        if node not in graph.ports:
            raise InputError(where, f"no node '{node}'{nearest(node, graph.nodes)}: a host such "
                             f"as {graph.hosts[0]}, or a port such as {_example(graph)}")
        ports = [port for port in graph.ports[node] if dev in ("", port.dev)]
        if not ports:
            raise InputError(where, f"'{node}' has no port '{dev}': one of "
                             f"{', '.join(port.dev for port in graph.ports[node])}")
        found += ports
    if len(found) > CAPTURES_MAX:
        raise InputError(where, f"{len(found)} cables is out of range: at most {CAPTURES_MAX}")
    return tuple(dict.fromkeys(found))


def _example(graph):
    nodes = graph.switches or graph.hosts
    return graph.ports[nodes[0]][0].label
