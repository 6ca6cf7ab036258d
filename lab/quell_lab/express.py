# SPDX-License-Identifier: GPL-2.0
"""ExpressPass, with which the Dart paper compares itself: in the laboratory alone.

Runs of algorithm "expresspass" have cards that send credits (modules/labnic_credit.c) and, at
hosts and switches, ports that let only as many pass as data has room for (labexpress_port.c);
those of the others of the same scenario have swport.
"""

from . import needs
from .errors import InputError
from .units import Q16_ONE

KIND = "labexpress"			# of the qdisc
CREDITS = 8				# that wait at a port, of its authors' simulator
CREDIT_BYTES = 90			# on the wire, over IPv4, on average
ACK_BYTES = 90			# of the acknowledgment of each packet
BESIDE_BYTES = CREDIT_BYTES + ACK_BYTES
# Of its authors' simulator: first rate, as a part of the most, and first w.
FIRST_Q16, W_Q16 = Q16_ONE // 2, Q16_ONE // 16
W_MAX_Q16 = Q16_ONE // 2


def need(places, table, queue, pauses, variants, top, graph, wanted):
    """Refuse what its ports have not; table: [queue] as written."""
    runs = [variant.label for variant in variants if variant.is_express]
    if not runs:
        return
    where = places.name("algorithm")
    if queue.fifo:
        raise InputError(where, f"{runs[0]}: not with queue.fifo: these ports let all credits pass")
    if top["tso"] > 1:
        raise InputError(where, f"{runs[0]}: not with tso: a sender sends a packet for each credit")
    if len({cable.mtu_bytes for cable in graph.cables}) > 1:
        raise InputError(where, f"{runs[0]}: not with cables of different mtu, by which each port "
                         "counts the room that data needs")
    if top["multipath"]:
        _check_ways(where, runs[0], graph, wanted)
    needs.swport(places, table, pauses, f"{where}: {runs[0]}",
                 len(runs) == len(variants) and "expresspass")


def _check_ways(where, run, graph, wanted):
    """Refuse ways that data and credits would not choose alike: switches of a tier have one seed,
    so those that a flow may be at after so many cables must be of one tier, both ways the same."""
    level = graph.levels()
    for src, dst in dict.fromkeys((flow.src, flow.dst) for flow in wanted):
        there, back = ([{level[port.peer] for port in stage} for stage in graph.stages(*ends)][:-1]
                       for ends in ((src, dst), (dst, src)))
        if there != back[::-1] or any(len(levels) > 1 for levels in there):
            raise InputError(where, f"{run}: with multipath, data from {src} to {dst} would not "
                             "return as its credits came: switches that it may pass after as many "
                             "cables are not of one tier")


def qdisc(limit_bytes):
    """A port's qdisc, as the plan has it."""
    return f"{KIND} limit={limit_bytes} credits={CREDITS}"


def words(graph, port, variant):
    """Of the link that begins at a port: which ends are hosts', and send credits."""
    first, w = (variant.values.get(key, default)
                for key, default in (("first-rate", FIRST_Q16), ("w", W_Q16)))
    return "".join(f" {end}credit=100:1:{first}:{w}"
                   for end, node in (("", port.node), ("peer-", port.peer))
                   if graph.is_host(node))


def numbers(ports):
    """Sums over all ports, in packets."""
    return {name: sum(port.get(key, 0) for port in ports.values())
            for name, key in (("data", "credit_whole"), ("sent", "credit_granted"),
                              ("dropped", "credit_drops"))}
