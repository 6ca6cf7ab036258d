# SPDX-License-Identifier: GPL-2.0
"""Distributions of a measured window: of its round trips, and of its queue as a time.

A distribution is [(value, share at or below it)], rising, its last share 1.
"""

import bisect
import itertools
from fractions import Fraction

from . import stats
from .physics import ETHERNET_BYTES, NS_PER_S, WIRE_OVERHEAD_BYTES



def round_trips_ns(result, window, truth=False):
    """
    Of a window's flows: those at its sampling instants, or each as it was on the wire.  A flow
    that starts in the window, on a connection that was warmed up, has one, the newest: a message
    counts once, however long it takes.  It has none if it ends before one of its own is sampled.
    Of a connection that messages share all samples count.
    """
    if truth:
        return [row[4] - row[5] for number, rows in result.truth.items()
                if number in window.flows for row in rows
                if window.begin_ns <= row[0] < window.end_ns]
    new = {row.flow.number for row in result.flows
           if row.start_ns >= window.begin_ns and not row.flow.cold} - result.sharing
    wanted = {row.flow.on or row.flow.number for row in result.flows
              if row.flow.number in window.flows}
    return [rtt_ns for number, rows in result.cwnd.items() if number in wanted
            for time_ns, _, _, rtt_ns, *_ in (_newest(rows, window) if number in new else rows)
            if rtt_ns and window.begin_ns <= time_ns < window.end_ns]


def _newest(rows, window):
    """
    The last row of the window, as a list; without the first rows, which have one round-trip
    time, the newest of the warm-up.
    """
    own = itertools.dropwhile(lambda row: row[3] == rows[0][3], rows)
    return [row for row in own if row[0] < window.end_ns][-1:]


def queue_held(result, window, port):
    """{bytes: ns that the port's queue was so long} in a window."""
    return stats.time_weighted(result.queues.get(port.label, []),
                               [[window.begin_ns, window.end_ns]])


def queue_ns(port, size_bytes):
    """How long full packets of so many bytes take on the port's cable."""
    frame = port.cable.mtu_bytes + ETHERNET_BYTES
    wire_bits = Fraction(size_bytes * (frame + WIRE_OVERHEAD_BYTES) * 8, frame)
    return int(wire_bits * NS_PER_S / port.cable.rate_bits_ps)


def distribution(weights):
    """Of {value: weight}."""
    total = sum(weights.values())
    found, so_far = [], 0
    for value in sorted(weights):
        so_far += weights[value]
        found.append((value, so_far / total))
    return found


def of_samples(values):
    """Of values that weigh the same."""
    weights = {}
    for value in values:
        weights[value] = weights.get(value, 0) + 1
    return distribution(weights)


def at_share(curve, percent):
    """The smallest value with so many percent at or below it, or None."""
    return next((value for value, share in curve if share * 100 >= percent), None)


def distance(one, other):
    """The largest difference of two distributions' shares at one value (Kolmogorov, Smirnov)."""
    most = at_one = at_other = 0.0
    first, second = dict(one), dict(other)
    for value in sorted({*first, *second}):
        at_one = first.get(value, at_one)
        at_other = second.get(value, at_other)
        most = max(most, abs(at_one - at_other))
    return most


def found_ns(scenario, result, window, port):
    """
    What the port's queue took to leave when the packets arrived there whose round trips are
    known: by the newest round trip at a sampling instant, so up to one interval late.
    """
    rows = result.queues.get(port.label, [])
    times = [time_ns for time_ns, _ in rows]
    first_ns = {row.flow.number: scenario.stages(row.flow)[0][0].cable.delay_ns
                for row in result.flows}
    found = []
    for number in window.flows & result.cwnd.keys():
        for time_ns, _, _, rtt_ns, *_ in result.cwnd[number]:
            if rtt_ns and window.begin_ns <= time_ns < window.end_ns:
                came_ns = time_ns - rtt_ns + first_ns[number]
                at = bisect.bisect_right(times, came_ns) - 1
                found.append(queue_ns(port, rows[at][1]) if at >= 0 else 0)
    return found


def queue_curve(result, window, port):
    """Of the port's queue as a time, each length weighed by how long it was so."""
    held = {}
    for size_bytes, ns in queue_held(result, window, port).items():
        time_ns = queue_ns(port, size_bytes)
        held[time_ns] = held.get(time_ns, 0) + ns
    return distribution(held)


def queueing(scenario, result, window, port):
    """
    What round trips are longer than the idle network's, beside what the queue of a port takes
    to leave: percentiles, and how far apart the distributions are, of the queue over time and
    of the queue as packets found it.
    """
    rtts = of_samples([rtt_ns - window.idle_ns for rtt_ns in round_trips_ns(result, window)])
    queue = queue_curve(result, window, port)
    return {
        "port": port.label,
        **{f"{what}_{name}_ns": at_share(curve, percent)
           for what, curve in (("rtt", rtts), ("queue", queue))
           for name, percent in (("p50", 50), ("p99", 99))},
        "distance": round(distance(rtts, queue), 4) if rtts else None,
        "found_distance": round(distance(rtts, of_samples(found_ns(scenario, result, window,
                                                                    port))), 4)
                          if rtts else None,
    }
