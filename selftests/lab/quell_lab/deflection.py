# SPDX-License-Identifier: GPL-2.0
"""What deflection did, by the ports' counters: Table II of the Dart paper.

Where all flows take ways of the same number of links, and nothing is dropped, each
packet a host sends is sent by that many ports, deflection apart.  What the ports
have sent beyond that are detours.
"""

COUNTED = ("flows", "pkts", "bytes", "tokens", "no_token_pkts", "recent_pkts",
           "no_way_pkts", "full_pkts", "lost_pkts", "out_drop_pkts")


def numbers(scenario, result):
    """
    Sums over all ports, the most entries that one used, and what it cost; None without
    deflection.
    """
    if not scenario.queue.deflection:
        return None
    ports = result.ports.values()
    sums = {name: sum(port.get(f"deflect_{name}", 0) for port in ports) for name in COUNTED}
    used = max((port.get("deflect_used_max", 0) for port in ports), default=0)
    return {**sums, "used_max": used, **cost(scenario, result)}


def has_tokens(flow, deflection):
    """Whether the flow's packets have tokens."""
    return 0 < flow.dscp - deflection.base <= deflection.tokens


def cost(scenario, result):
    """
    Percent: bytes on cables, and links per packet of the flows that have tokens
    (those of their senders), beyond what it is without deflection.
    """
    nothing = {"load_increase_percent": None, "path_dilation_percent": None}
    links = {len(scenario.stages(flow)) for flow in scenario.flows}
    lost = sum(port.get(name, 0) for port in result.ports.values()
               for name in ("drops", "ring_drops", "rx_drops", "deflect_out_drop_pkts"))
    if len(links) != 1 or lost:
        return nothing
    links = links.pop()
    pkts, size = (_beyond(scenario, result.ports, links, f"tx_{what}")
                  for what in ("packets", "bytes"))
    sent = sum(row.segs_out for row in result.flows
               if has_tokens(row.flow, scenario.queue.deflection))
    if not sent:
        return nothing
    return {"load_increase_percent": round(100 * size[0] / size[1], 3),
            "path_dilation_percent": round(100 * pkts[0] / (links * sent), 3)}


def _beyond(scenario, ports, links, key):
    """(what ports sent beyond it, what they would have sent)."""
    hosts = {port.label for host in scenario.graph.hosts for port in scenario.graph.ports[host]}
    direct = links * sum(ports[label].get(key, 0) for label in hosts if label in ports)
    return sum(port.get(key, 0) for port in ports.values()) - direct, direct
