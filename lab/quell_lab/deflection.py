# SPDX-License-Identifier: GPL-2.0
"""What deflection did, by the ports' counters: Table II of the Dart paper.

Where nothing is dropped, each packet that a host sends for a flow is sent by as many
ports as the flow's way has links, deflection apart.  What the ports have sent beyond
that are detours.
"""

from dataclasses import dataclass
from fractions import Fraction

from .errors import InputError
from .physics import FCS_BYTES, GAP_BYTES, NS_PER_S, payload_wire_bytes, wire_bytes
from .schema import Key, value_of
from .units import show_time

SIZE_MAX = 1 << 30
BREAK_EVEN = "break-even"
ENTRIES_MAX, TOKENS_MAX = 64, 15		# SWPORT_DEFLECT_*
DSCP_MAX = 47
IDLE_MIN, IDLE_MAX = 1000, 4 * 10**9
RELEASES = ("idle", "end")		# enum swport_release
CHOICES = ("random", "shorter")		# enum swport_choice
WAYS = ("all", "up")
KEYS = {
    "deflect": Key("scalar", default=None),
    "deflect-entries": Key("int", 0, ENTRIES_MAX, 8),
    "deflect-base": Key("int", 0, DSCP_MAX, 0),
    "deflect-tokens": Key("int", 0, TOKENS_MAX, 4),
    "deflect-idle": Key("time", IDLE_MIN, IDLE_MAX, 10**7),
    "deflect-release": Key("text", default="idle", choices=RELEASES),
    "deflect-choice": Key("text", default="random", choices=CHOICES),
    "deflect-ways": Key("text", default="all", choices=WAYS),
}

SIZE = Key("size", 1, SIZE_MAX)

COUNTED = ("flows", "pkts", "bytes", "tokens", "no_token_pkts", "recent_pkts",
           "no_alternate_pkts", "full_pkts", "lost_pkts", "out_drop_pkts")


@dataclass(frozen=True)
class Deflection:
    """
    Other ways for flows at ports between switches, from a queue of threshold_bytes on;
    None: of each port's break_even_bytes().
    """

    threshold_bytes: object
    entries: int
    base: int			# DSCP of a flow without tokens
    tokens: int			# most a flow may have
    idle_ns: int
    release: str		# of RELEASES
    choice: str			# of CHOICES
    ways: str			# of WAYS


def alternates(graph, port, ways):
    """
    Ports by which a port may deflect: "all" to switches, the paper's, or for a port that leads
    up those that do, so that a packet takes no more links and no cycle of pauses arises.
    """
    others = graph.detours(port)
    if ways == "up":
        return [other for other in others if graph.leads_up(port) and graph.leads_up(other)]
    return others


def break_even_bytes(port, ways):
    """
    The queue in which a packet waits as long as its detour takes: there and back again over
    the cable of the quickest way, by which it leaves.
    """
    def detour_s(way):
        return 2 * (Fraction(way.cable.delay_ns, NS_PER_S)
                    + Fraction(8 * wire_bytes(way.cable.mtu_bytes), way.cable.rate_bits_ps))

    return max(1, int(min(map(detour_s, ways)) * port.cable.rate_bits_ps / 8))


def threshold_bytes(values, port, ways):
    """From what queue on the port deflects."""
    return values.threshold_bytes or break_even_bytes(port, ways)


def _need_below(where, size_bytes, top_bytes, port=None):
    """InputError for a threshold that the port would refuse."""
    if size_bytes > top_bytes:
        of = f" of {port.label}" if port else ""
        raise InputError(where, f"{size_bytes} bytes{of} is out of range: 1b to "
                         f"{top_bytes}b, below limit and where ecn begins")


def build(places, table, values, ecn_min, graph):
    """What the port refuses, with the names of this table, and what makes no difference."""
    where = {key: places.name(f"queue.{key}") for key in values}
    if values["deflect"] is None:
        for key in values:
            if key.startswith("deflect-") and key in table:
                raise InputError(where[key], "without deflect there is none")
        return None
    kind = values["deflect-ways"]
    ways = [port for switch in graph.switches for port in graph.ports[switch]
            if alternates(graph, port, kind)]
    if not ways:
        raise InputError(where["deflect"], "no switch of this topology has two paths to others")
    top = min(values["limit"], ecn_min or values["limit"]) - 1
    if values["deflect"] == BREAK_EVEN:
        fixed = None
        for port in ways:
            _need_below(where["deflect"], break_even_bytes(port, alternates(graph, port, kind)),
                        top, port)
    else:
        try:
            fixed = value_of(where["deflect"], values["deflect"], SIZE)
        except InputError as error:
            raise InputError(where["deflect"], f"{error.problem}, or {BREAK_EVEN}") from None
        _need_below(where["deflect"], fixed, top)
    if values["deflect-base"] + values["deflect-tokens"] > DSCP_MAX:
        raise InputError(where["deflect-tokens"], f"{values['deflect-tokens']} is out of range: "
                         f"with deflect-base at most {DSCP_MAX}")
    return Deflection(fixed, values["deflect-entries"], values["deflect-base"],
                      values["deflect-tokens"], values["deflect-idle"],
                      values["deflect-release"], values["deflect-choice"],
                      kind)


def need_idle(places, queue, graph):
    """InputError for a time in which a full queue on the slowest way is not emptied."""
    if not queue.deflection:
        return
    slowest = min(port.cable.rate_bits_ps for switch in graph.switches
                  for port in graph.ports[switch]
                  if alternates(graph, port, queue.deflection.ways))
    least_ns = queue.limit_bytes * 8 * NS_PER_S // slowest
    if queue.deflection.idle_ns <= least_ns:
        raise InputError(places.name("queue.deflect-idle"),
                         f"{show_time(queue.deflection.idle_ns)} is out of range: above "
                         f"{show_time(least_ns)}, what emptying a full port takes")


def numbers(scenario, result):
    """
    Sums over all ports, the most entries that one used, and what it cost; None without
    deflection.
    """
    if not scenario.queue.deflection or not result.variant.deflect:
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
    links = {row.flow.number: len(scenario.stages(row.flow)) for row in result.flows}
    lost = sum(port.get(name, 0) for port in result.ports.values()
               for name in ("drops", "ring_drops", "rx_drops", "deflect_out_drop_pkts"))
    sent = sum(links[row.flow.number] * row.segs_out for row in result.flows
               if has_tokens(row.flow, scenario.queue.deflection))
    if lost or not sent:
        return nothing
    if len(set(links.values())) > 1:
        pkts, size = _beyond_ways(scenario, result, links)
    else:
        pkts, size = (_beyond(scenario, result.ports, max(links.values()), f"tx_{what}")
                      for what in ("packets", "bytes"))
    return {"load_increase_percent": round(100 * size[0] / size[1], 3),
            "path_dilation_percent": round(100 * pkts[0] / sent, 3)}


def _beyond_ways(scenario, result, links):
    """
    The same where ways differ, by what each flow's ends have sent.  Bytes are those of
    data since the beginning of the measurement, packets on detours of the mean size of
    all that were deflected.
    """
    direct = sum(links[row.flow.number] * row.all_pkts for row in result.flows)
    beyond = sum(port.get("tx_packets", 0) for port in result.ports.values()) - direct
    pkts, size = (sum(port.get(f"deflect_{what}", 0) for port in result.ports.values())
                  for what in ("pkts", "bytes"))
    mean = size / pkts + FCS_BYTES + GAP_BYTES if pkts else 0
    load = sum(links[row.flow.number]
               * payload_wire_bytes(row.sent_bytes, scenario.mtu(row.flow))
               for row in result.flows)
    return (beyond, direct), (beyond * mean, load)


def _beyond(scenario, ports, links, key):
    """(what ports sent beyond it, what they would have sent)."""
    hosts = {port.label for host in scenario.graph.hosts for port in scenario.graph.ports[host]}
    direct = links * sum(ports[label].get(key, 0) for label in hosts if label in ports)
    return sum(port.get(key, 0) for port in ports.values()) - direct, direct
