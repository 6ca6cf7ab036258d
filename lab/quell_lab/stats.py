# SPDX-License-Identifier: GPL-2.0
"""Percentiles, fairness, rank correlation, and means over time."""

import math
from fractions import Fraction


def percentile(values, percent):
    """Nearest rank: the smallest value with at least percent % at or below it."""
    if not values:
        return None
    rank = math.ceil(Fraction(percent) * len(values) / 100)
    return sorted(values)[max(rank, 1) - 1]


def rounded(value):
    """Without the digits that are the rounding of a float."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


def jain(values):
    """Jain's fairness index, 1/n to 1; None when nothing was delivered."""
    square_sum = sum(value * value for value in values)
    return sum(values)**2 / (len(values) * square_sum) if square_sum else None


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
    """Time-weighted mean and 99th percentile of the samples; the maximum as given."""
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
