# SPDX-License-Identifier: GPL-2.0
"""How long senders need for their shares when another joins and leaves.

One flow stays, or several do, another host's flows join it at the same link, one after the
other, each until its stop.  Of every join, of two senders or more:

rates	 until each sender's rate is within a part of half the line, or its share of it
shares	 until it is within that part of half of what both send, both together at most
	 that part above the line
arrivals until the bytes that arrive in one round trip, or as many as are counted over, are
	 halves of their sum, within the same part or a packet, where that is more
halves	 until they are, each, half of what the line carries in it, within the same part
	 and a packet
reached	 until the end of the first time for which they are, whether it lasts or not
leave	 after it, until the flow that stayed has the line again, less the same part

The first four count from the start of the joining flow and hold until its stop, for a
fifth of its time at least; else they are "never".  A sender's rate is the pacing rate that the
algorithm has set; where it sets none (DCTCP, Reno, CUBIC) the window over the newest round-trip
time, since their window is all that limits them.  The line is the payload of full packets, those
of RCP with its option, those of ExpressPass with what else there is room for.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction

from . import express, rcp, stats
from .errors import InputError
from .measure import NS_PER_S, UNPACED_BYTES_PS
from .physics import mss_bytes, wire_bytes
from .schema import Key, check
from .units import Q16_ONE, show_time

KINDS = ("rates", "shares", "arrivals", "halves", "reached", "leave")
PERCENTILES = {"p50": 50, "p90": 90, "p99": 99, "p999": Fraction(999, 10), "max": 100}
RTT_MAX = 10**9
OVER_MAX = 1000			# round trips
IP6_MORE_BYTES = 20		# of a header, than of IPv4's
WITHIN = Q16_ONE // 20		# 5 %
HELD_PART = 5			# who is fair for less than a part of a join was so by chance
PACED = ("bbr",)		# of the kernel's own algorithms

KEYS = {
    "joins": Key("text"),
    "rtt": Key("time", 1, RTT_MAX),
    "over": Key("int", 1, OVER_MAX, 1),
    "within": Key("q16", 1, Q16_ONE // 2, WITHIN),
}


@dataclass(frozen=True)
class Convergence:
    """What to look at."""

    stays: tuple		# flows.Flow
    joins: tuple		# flows.Flow, in order of time
    rtt_ns: int			# of the idle network
    over_ns: int		# in which arrivals are counted
    within: Fraction


@dataclass(frozen=True)
class Line:
    """The bottleneck, for one size of packets; floats, for there are millions of samples."""

    bytes_ps: float		# payload
    mss_bytes: int
    within: float

    def halves(self, rates):
        """Whether the rates of all senders are their shares of the line."""
        low, high = (self.bytes_ps / len(rates) * (1 + part)
                     for part in (-self.within, self.within))
        return all(low <= rate <= high for rate in rates)

    def alike(self, rates):
        """Whether they are alike, and no more than the line."""
        total = sum(rates)
        return (0 < total <= (1 + self.within) * self.bytes_ps
                and self._around_mean(rates, self.within * total / len(rates)))

    def arrive_alike(self, counts):
        """Whether counts of bytes are alike, but for a packet."""
        total = sum(counts)
        return total > 0 and self._around_mean(
            counts, max(self.within * total / len(counts), self.mss_bytes))

    def arrive_halves(self, counts, time_ns):
        """Whether counts of bytes of a time are shares of the line, but for a packet
        that the time's ends cut off."""
        share = self.bytes_ps / len(counts) * time_ns / NS_PER_S
        return all(abs(count - share) <= self.within * share + self.mss_bytes
                   for count in counts)

    @staticmethod
    def _around_mean(values, most):
        mean = sum(values) / len(values)
        return all(abs(value - mean) <= most for value in values)


def _check_link(where, graph, wanted):
    """All flows must meet at a link that none of them is without: the narrowest of each."""
    ways = [{(stage[0].node, stage[0].dev): stage[0].cable.rate_bits_ps
             for stage in graph.stages(flow.src, flow.dst) if len(stage) == 1}
            for flow in {(flow.src, flow.dst): flow for flow in wanted}.values()]
    shared = set.intersection(*(set(way) for way in ways))
    if not any(all(way[port] == min(way.values()) for way in ways) for port in shared):
        raise InputError(where, "the flows share no link that is the slowest of each one's")


def _check_stays(where, graph, others, joins):
    """Those that stay must be there before the first join and not be through before the last."""
    for flow in others:
        if flow.stop_ns is not None or flow.start_ns >= joins[0].start_ns:
            raise InputError(where, f"flow {flow.number} must be there before and stay")
        slowest = min(max(port.cable.rate_bits_ps for port in stage)
                      for stage in graph.stages(flow.src, flow.dst))
        if flow.start_ns + flow.size_bytes * 8 * NS_PER_S // slowest < joins[-1].stop_ns:
            raise InputError(where, f"flow {flow.number} can be through before the last join ends: "
                             "it needs more bytes")


def build(places, table, graph, wanted, window_ns):
    """The [convergence] table, or None."""
    if table is None:
        return None
    values = check(places, "convergence", table, KEYS)
    where = places.name("convergence.joins")
    joins = sorted((flow for flow in wanted if flow.src == values["joins"]),
                   key=lambda flow: flow.start_ns)
    others = [flow for flow in wanted if flow.src != values["joins"]]
    if not joins:
        sources = sorted({flow.src for flow in wanted})
        raise InputError(where, f"no flow has src '{values['joins']}': one of "
                         f"{', '.join(sources)}")
    if not others:
        raise InputError(where, f"'{values['joins']}' is src of all flows: none stays")
    _check_link(where, graph, wanted)
    for flow, after in zip(joins, joins[1:] + [None]):
        if flow.stop_ns is None or after and after.start_ns < flow.stop_ns:
            raise InputError(where, f"flow {flow.number} must have a stop before the next joins")
    _check_stays(where, graph, others, joins)
    over_ns = values["rtt"] * values["over"]
    if any(flow.stop_ns - flow.start_ns < over_ns for flow in joins):
        raise InputError(where, f"a join is shorter than the {show_time(over_ns)} that are counted")
    if values["rtt"] % window_ns:
        raise InputError(places.name("convergence.rtt"), f"'{table['rtt']}' is not a multiple of "
                         f"{show_time(window_ns)}, the window of [record]")
    return Convergence(tuple(others), tuple(joins), values["rtt"], over_ns,
                       Fraction(values["within"], Q16_ONE).limit_denominator(1000))


def _line(scenario, variant):
    wanted = scenario.convergence
    mtu = scenario.mtu(wanted.stays[0])
    wire_bits_ps = min(link.rate_bits_ps for link in scenario.links(wanted.stays[0]))
    more = IP6_MORE_BYTES * (scenario.family == 6)
    payload = mss_bytes(mtu) - rcp.OPTION_BYTES * variant.is_rcp - more
    wire = wire_bytes(mtu) + (express.BESIDE_BYTES + 2 * more) * variant.is_express
    return Line(wire_bits_ps * payload / (8 * wire), payload, float(wanted.within))


def sender_rates(result, number):
    """[(time_ns, bytes/s)] of a sender: what its algorithm allows it."""
    paced = bool(result.variant.algorithm.core) or result.variant.name in PACED
    rows = []
    for time_ns, window_bytes, pacing_bytes_ps, rtt_ns, *_ in result.cwnd.get(number, []):
        if paced and pacing_bytes_ps != UNPACED_BYTES_PS:
            rows.append((time_ns, pacing_bytes_ps))
        elif rtt_ns:
            rows.append((time_ns, window_bytes * NS_PER_S // rtt_ns))
    return rows


def _held_from(times, is_good, flow):
    """
    Time from a flow's start to the first of these times from which on all until its stop are
    good, for a part of the flow's time at least; None: never.
    """
    since = None
    for time_ns in times:
        if not is_good(time_ns):
            since = None
        elif since is None:
            since = time_ns
    if since is None or flow.stop_ns - since < (flow.stop_ns - flow.start_ns) // HELD_PART:
        return None
    return since - flow.start_ns


class Steps:
    """A value over time, given by its changes."""

    def __init__(self, rows):
        self.times = [row[0] for row in rows]
        self.values = [row[1] for row in rows]

    def at(self, time_ns):
        """The value then, 0 before the first."""
        index = bisect_right(self.times, time_ns)
        return self.values[index - 1] if index else 0

    def changes(self, begin_ns, end_ns):
        """Times of the changes from begin to before end."""
        return self.times[bisect_left(self.times, begin_ns):bisect_left(self.times, end_ns)]


def _join_rates_ns(one, senders, is_fair):
    """When the senders' rates became fair and stayed so, from the join on."""
    span = (one.start_ns, one.stop_ns)
    times = sorted({one.start_ns}.union(*(sender.changes(*span) for sender in senders)))
    return _held_from(times, lambda now: is_fair([sender.at(now) for sender in senders]), one)


def _join_arrivals_ns(one, counts, spans_ns, is_fair, lasts=True):
    """The same of what arrives in windows of some round trips, one at every sampling time, or for
    the first time."""
    window_ns, over_ns = spans_ns
    first_ns = -(-one.start_ns // window_ns) * window_ns
    times_ns = range(first_ns, one.stop_ns - over_ns + 1, window_ns)

    def is_good(now):
        return is_fair([count.at(now + over_ns) - count.at(now) for count in counts])

    if lasts:
        return _held_from(times_ns, is_good, one)
    return next((now + over_ns - one.start_ns for now in times_ns if is_good(now)), None)


def _leave_ns(one, stays, until_ns, rate_bytes_ps):
    """Time after the leave until those that stayed have that rate, each its share, or None."""
    changes = sorted(time_ns for sender in stays
                     for time_ns in sender.changes(one.stop_ns, until_ns))
    for now in [one.stop_ns, *changes]:
        if all(sender.at(now) >= rate_bytes_ps / len(stays) for sender in stays):
            return now - one.stop_ns
    return None


def times(scenario, result):
    """{kind: [ns, or None for never]}, one of each join."""
    wanted = scenario.convergence
    line = _line(scenario, result.variant)
    stays = [Steps(sender_rates(result, flow.number)) for flow in wanted.stays]
    got = [Steps(result.delivered.get(flow.number, [])) for flow in wanted.stays]
    spans_ns = (scenario.record.window_ns, wanted.over_ns)
    ends = [flow.start_ns for flow in wanted.joins[1:]] + [result.virtual_ns]
    found = {kind: [] for kind in KINDS}
    for one, until_ns in zip(wanted.joins, ends):
        senders = [*stays, Steps(sender_rates(result, one.number))]
        counts = [*got, Steps(result.delivered.get(one.number, []))]
        found["rates"].append(_join_rates_ns(one, senders, line.halves))
        found["shares"].append(_join_rates_ns(one, senders, line.alike))
        found["arrivals"].append(_join_arrivals_ns(one, counts, spans_ns, line.arrive_alike))
        for kind, lasts in (("halves", True), ("reached", False)):
            found[kind].append(_join_arrivals_ns(
                one, counts, spans_ns, lambda all_of: line.arrive_halves(all_of, wanted.over_ns),
                lasts))
        found["leave"].append(_leave_ns(one, stays, until_ns, (1 - line.within) * line.bytes_ps))
    return found


def last_ratios(scenario, result):
    """Of each join's last fifth: bytes that the slowest sender got over the fastest one's."""
    wanted = scenario.convergence
    stays = [Steps(result.delivered.get(flow.number, [])) for flow in wanted.stays]
    ratios = []
    for one in wanted.joins:
        joins = Steps(result.delivered.get(one.number, []))
        begin_ns = one.stop_ns - (one.stop_ns - one.start_ns) // HELD_PART
        got = [count.at(one.stop_ns) - count.at(begin_ns) for count in (*stays, joins)]
        ratios.append(round(min(got) / max(got), 4) if max(got) else 1.0)
    return ratios


def _distribution(values, rtt_ns):
    """Percentiles of all joins; one that falls on a join that never did is None."""
    never = float("inf")
    numbers = {}
    for name, percent in PERCENTILES.items():
        value = stats.percentile([never if one is None else one for one in values], percent)
        numbers[name] = None if value == never else value
    return {
        **{f"{name}_ns": value for name, value in numbers.items()},
        **{f"{name}_rtts": None if value is None else round(value / rtt_ns, 2)
           for name, value in numbers.items()},
        "never": sum(value is None for value in values),
        "never_share": round(sum(value is None for value in values) / len(values), 4),
    }


def numbers(scenario, result):
    """What summary.json says of the joins of one run, or None."""
    wanted = scenario.convergence
    if wanted is None:
        return None
    found = times(scenario, result)
    line = _line(scenario, result.variant)
    return {
        "joins": len(wanted.joins),
        "rtt_ns": wanted.rtt_ns,
        "line_bits_ps": int(line.bytes_ps * 8),
        **{kind: _distribution(values, wanted.rtt_ns) for kind, values in found.items()},
        "last_ratio_p50": stats.percentile(last_ratios(scenario, result), 50),
        "of_join_ns": found,
    }
