# SPDX-License-Identifier: GPL-2.0
"""Percentiles, fairness, rank correlation, and means over time."""

import math
import statistics
from bisect import bisect_left, bisect_right
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


def correlation(pairs):
    """Pearson's; None where one side never changes."""
    try:
        return round(statistics.correlation(*zip(*pairs)), 4)
    except (statistics.StatisticsError, TypeError):
        return None


def rank_correlation(pairs):
    """Spearman's: +1 later start, later finish; -1 the last to start finish first."""
    if len(pairs) < 3:
        return None
    return correlation(list(zip(*map(_ranks, zip(*pairs)))))


def _ranks(values):
    """Ranks, ties share the mean of theirs."""
    ordered = sorted(values)
    return [(bisect_left(ordered, value) + bisect_right(ordered, value)) / 2 for value in values]
