# SPDX-License-Identifier: GPL-2.0
"""Credits of receivers, as EQDS and NDP have them: modules/labnic_credit.c, labeqds.c."""

from .errors import InputError
from .physics import mss_bytes

FIRST_MIN = 600			# bytes that a sender may send unasked, at least
FIRST_MAX_PKTS = 1 << 14	# numbers on the wire have 16 bits and are compared as signed
# Of their line that receivers let in; with all of it no queue would ever become shorter.
PERCENT = 99
# Of a trimmed packet of each flow, at any rate of the laboratory: none waits for a timer.
NACK_RATE = 10**9
# By variant: parameter "sender" of quell_labeqds.ko, which takes the place of tcp_smartt.ko.
SENDERS = {"open": "open", None: "smartt", "mprdma": "mprdma"}
COUNTERS = ("whole", "trimmed", "granted", "pulls")


def check(where, entry, variant, queue, top, graph):
    """InputError for credits that would have no effect or be lost."""
    if entry["credit"] is None:
        if entry["variant"] == "open":
            raise InputError(where, "open has no window of its own: it needs credit")
        return
    if variant.program or variant.name != "smartt":
        raise InputError(where, f"{variant.name} does not go by credit: smartt does")
    if entry["variant"] not in SENDERS:
        raise InputError(where, f"{entry['variant']} does not go by credit: smartt itself and its "
                         f"variants {' and '.join(name for name in SENDERS if name)} do")
    least = mss_bytes(min(cable.mtu_bytes for cable in graph.cables))
    if entry["credit"] > FIRST_MAX_PKTS * least:
        raise InputError(where, f"credit is more than {FIRST_MAX_PKTS} packets of {least} bytes")
    if top["pfc"] is not None and top["pfc"].get("on", True):
        raise InputError(where, "credit is for networks that trim, not for those that pause")
    if not queue.trim_bytes or queue.trim_to_sender or not top["option"]:
        raise InputError(where, "credit needs queue.trim without trim-to-sender, and option: a "
                         "packet of which the receiver hears nothing takes its credit with it")


def check_flows(where, wanted, variants):
    """InputError for flows that would not go by the credits that others go by."""
    if any(variant.credit_bytes or variant.is_express for variant in variants):
        for flow in wanted:
            if flow.cc:
                raise InputError(where, f"{flow.cc} does not go by credit: no flow has a cc of its "
                                 "own where an algorithm goes by it")


def words(graph, port, variant):
    """Of the link that begins at a port: which ends are hosts', and hand out credits."""
    if not variant.credit_bytes:
        return ""
    return "".join(f" {end}credit={PERCENT}:{variant.credit_bytes}"
                   for end, node in (("", port.node), ("peer-", port.peer))
                   if graph.is_host(node))


def lines(graph, variant):
    """Of a plan: parameters of hosts that hand out credits."""
    if not variant.credit_bytes:
        return []
    return [f"param {host} quell nack-rate {NACK_RATE}" for host in graph.hosts]


def numbers(ports):
    """Sums over all cards, in packets."""
    return {name: sum(port.get(f"credit_{name}", 0) for port in ports.values())
            for name in COUNTERS}
