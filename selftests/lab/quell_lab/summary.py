# SPDX-License-Identifier: GPL-2.0
"""Numbers of a run: completion times, fairness, queues, goodput, counters."""

import math
from fractions import Fraction

from .results import queue_max_bytes

FAIR = 0.95
PERCENTILES = (("p50", 50), ("p99", 99), ("p999", Fraction(999, 10)))


def percentile(values, percent):
    """Nearest rank: the smallest value with at least percent % at or below it."""
    if not values:
        return None
    rank = math.ceil(Fraction(percent) * len(values) / 100)
    return sorted(values)[max(rank, 1) - 1]


def jain(values):
    """Jain's fairness index, 1/n to 1; None when nothing was delivered."""
    square_sum = sum(value * value for value in values)
    return sum(values)**2 / (len(values) * square_sum) if square_sum else None


def _bytes_by_tick(rows, tick_ns):
    """Cumulative bytes by tick number; the rows hold changes alone."""
    return {time_ns // tick_ns: count for time_ns, count in rows}


def jain_windows(result, window_ns):
    """
    [(start_ns, index, flows)] of the windows in which at least two flows were
    active from beginning to end.  What a flow got in a window is what its
    receiver was handed in it.
    """
    finished = [row for row in result.flows if row.finished]
    if len(finished) < 2:
        return []
    ticks = {row.flow.number: _bytes_by_tick(result.delivered.get(row.flow.number, []), window_ns)
             for row in finished}
    so_far = {number: 0 for number in ticks}
    windows = []
    last = max(row.end_ns for row in finished) // window_ns
    for tick in range(last + 1):
        got = {}
        for number, counts in ticks.items():
            now = counts.get(tick + 1, so_far[number])
            got[number] = now - so_far[number]
            so_far[number] = now
        begin, end = tick * window_ns, (tick + 1) * window_ns
        active = [got[row.flow.number] for row in finished
                  if row.start_ns <= begin and end <= row.end_ns]
        if len(active) >= 2:
            index = jain(active)
            if index is not None:
                windows.append((begin, index, len(active)))
    return windows


def fair_after_ns(windows, last_start_ns):
    """Time from the last start until the index stays above FAIR, or None."""
    since = None
    for begin, index, _ in windows:
        if begin < last_start_ns:
            continue
        if index < FAIR:
            since = None
        elif since is None:
            since = begin
    return None if since is None else since - last_start_ns


def active_spans(result):
    """Merged [start, end) during which at least one flow was active."""
    spans = []
    for row in sorted(result.flows, key=lambda row: row.start_ns):
        end_ns = row.end_ns if row.finished else result.virtual_ns
        if spans and row.start_ns <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end_ns)
        else:
            spans.append([row.start_ns, end_ns])
    return spans


def time_weighted(rows, spans):
    """
    {value: ns it held} of a step function given by its changes, within spans;
    before the first change the value is 0.
    """
    held = {}
    position = 0
    value = 0
    for begin, end in spans:
        now = begin
        while now < end:
            while position < len(rows) and rows[position][0] <= now:
                value = rows[position][1]
                position += 1
            until = rows[position][0] if position < len(rows) else end
            until = min(until, end)
            held[value] = held.get(value, 0) + until - now
            now = until
    return held


def queue_numbers(rows, spans, max_bytes):
    """Time-weighted mean and 99th percentile of the samples, exact maximum."""
    held = time_weighted(rows, spans)
    total = sum(held.values())
    mean = sum(value * ns for value, ns in held.items()) / total if total else 0.0
    p99 = 0
    passed = 0
    for value in sorted(held):
        passed += held[value]
        p99 = value
        if passed * 100 >= total * 99:
            break
    return {"mean_bytes": round(mean, 1), "p99_bytes": p99, "max_bytes": max_bytes}


def rank_correlation(pairs):
    """Spearman's: +1 later start, later finish; -1 the last to start finish first."""
    if len(pairs) < 3:
        return None
    ranks = [_ranks([pair[side] for pair in pairs]) for side in (0, 1)]
    middle = (len(pairs) + 1) / 2
    spread = [sum((rank - middle)**2 for rank in side) for side in ranks]
    if not spread[0] or not spread[1]:
        return None
    both = sum((a - middle) * (b - middle) for a, b in zip(*ranks))
    return round(both / math.sqrt(spread[0] * spread[1]), 4)


def _ranks(values):
    """Ranks from 1, ties share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for position in order[first:last + 1]:
            ranks[position] = (first + last) / 2 + 1
        first = last + 1
    return ranks


def fct_numbers(result):
    """Completion times of the finished flows."""
    times = [row.fct_ns for row in result.flows if row.finished]
    numbers = {"min": min(times, default=None)}
    numbers.update({name: percentile(times, percent) for name, percent in PERCENTILES})
    numbers["max"] = max(times, default=None)
    return numbers


def _start_group_pairs(scenario, result):
    """(nominal start, end): starts jittered within one window count as together."""
    return [(row.start_ns // scenario.record.window_ns, row.end_ns)
            for row in result.flows if row.finished]


def _counter(ports, *names):
    return sum(port.get(name, 0) for port in ports for name in names)


def summarise(scenario, result):
    """Dictionary of everything summary.json says of one run."""
    finished = [row for row in result.flows if row.finished]
    spans = active_spans(result)
    windows = jain_windows(result, scenario.record.window_ns)
    last_start_ns = max(row.start_ns for row in result.flows)
    queues = {port.label: queue_numbers(result.queues.get(port.label, []), spans,
                                        queue_max_bytes(result.ports.get(port.label, {})))
              for port in scenario.watched_ports()}
    worst = max(queues, key=lambda label: queues[label]["max_bytes"], default=None)
    hops = _counter(result.ports.values(), "tx_packets")
    busy_ns = max((row.end_ns for row in finished), default=0) - min(
        (row.start_ns for row in finished), default=0)
    size = sum(row.flow.size_bytes for row in finished)
    indices = [index for _, index, _ in windows]
    return {
        "algorithm": result.variant.name,
        "preset": result.variant.preset,
        "parameters": result.variant.texts,
        "flows": len(result.flows),
        "flows_finished": len(finished),
        "fct_ns": fct_numbers(result),
        "ideal_ns": {"min": min(row.ideal_ns for row in result.flows),
                     "max": max(row.ideal_ns for row in result.flows)},
        "slowdown_max": round(max((row.fct_ns / row.ideal_ns for row in finished), default=0), 4),
        "spread_ns": max((row.end_ns for row in finished), default=0) - min(
            (row.end_ns for row in finished), default=0),
        "start_finish_rank_correlation": rank_correlation(_start_group_pairs(scenario, result)),
        "jain": {
            "window_ns": scenario.record.window_ns,
            "mean": round(sum(indices) / len(indices), 6) if indices else None,
            "min": round(min(indices), 6) if indices else None,
            "fair_after_ns": fair_after_ns(windows, last_start_ns),
            "over_time": [[begin, round(index, 6), flows] for begin, index, flows in windows],
        },
        "queue": dict(queues[worst], port=worst) if worst else None,
        "queues": queues,
        "goodput_bits_ps": size * 8 * 10**9 // busy_ns if busy_ns else 0,
        "drops": _counter(result.ports.values(), "drops", "ring_drops"),
        "marks": _counter(result.ports.values(), "mark_pkts"),
        "trims": 0,
        "retransmitted_segs": sum(row.retrans_segs for row in result.flows),
        "segs_out": sum(row.segs_out for row in result.flows),
        "virtual_ns": result.virtual_ns,
        "wall_s": round(result.wall_s, 3),
        "run_wall_s": round(result.run_wall_s, 3),
        "packet_hops": hops,
        "packet_hops_ps": round(hops / result.run_wall_s) if result.run_wall_s else None,
    }
