# SPDX-License-Identifier: GPL-2.0
"""Slowdown by size: how many times longer than alone on the idle network flows take.

Of the flows that finished, in two ways: in classes of size whose edges are
given, and in bins that have as many flows each, as the papers' figures have
one point per 1 or 5 % of flows.  Flows of one size are in one bin.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction

from .errors import InputError
from .schema import Key, check, value_of
from .sizes import SIZE_MAX
from .stats import percentile

PERCENTILES = (("p50", 50), ("p95", 95), ("p99", 99), ("p999", Fraction(999, 10)))
BINS_LEAST, BINS_MOST, BIN_FLOWS = 20, 100, 100	# as many bins as have so many flows
BINS_MAX = 1000
TAIL_FLOWS = 1000		# of fewer, the 99.9th percentile by nearest rank is the slowest
EDGES = (10**4, 10**5, 10**6)
KEYS = {
    "bins": Key("int", 1, BINS_MAX, None),
    "edges": Key("list", default=None),
}
EDGE = Key("size", 1, SIZE_MAX)


@dataclass(frozen=True)
class Slowdown:
    """How flows are told apart by size."""

    bins: object		# at most, of as many flows each; None: by the number of flows
    edges: tuple		# largest sizes of the classes but the last


def build(places, table):
    """Of the [slowdown] table, or without one as usual."""
    values = check(places, "slowdown", table or {}, KEYS)
    if values["edges"] is None:
        return Slowdown(values["bins"], EDGES)
    where = places.name("slowdown.edges")
    edges = tuple(value_of(where, edge, EDGE) for edge in values["edges"])
    if not edges or list(edges) != sorted(set(edges)):
        raise InputError(where, "sizes that rise, at least one")
    return Slowdown(values["bins"], edges)


def parse_range(where, text):
    """(low, high) of LOW:HIGH: sizes above low and up to high; either may be left out."""
    parts = str(text).split(":")
    if len(parts) != 2 or not any(parts):
        raise InputError(where, f"'{text}' is not LOW:HIGH, LOW: or :HIGH")
    low, high = (value_of(where, part, EDGE) if part else default
                 for part, default in zip(parts, (0, SIZE_MAX)))
    if low >= high:
        raise InputError(where, f"'{text}' is empty: above {low} bytes, up to {high}")
    return low, high


def has_sizes(flows):
    """Whether flows differ in size."""
    return any(flow.size_bytes != flows[0].size_bytes for flow in flows)


def of_flows(result):
    """[(size, slowdown)] of the flows that finished, by size."""
    return sorted((row.flow.size_bytes, row.fct_ns / row.ideal_ns)
                  for row in result.flows if row.finished)


def _numbers(rows, low, high):
    """What is said of flows of sizes above low and up to high."""
    ordered = sorted(value for _, value in rows)
    numbers = {"from_bytes": low, "to_bytes": high, "flows": len(ordered)}
    for name, percent in PERCENTILES:
        value = percentile(ordered, percent)
        numbers[name] = value if value is None else round(value, 4)
    numbers["max"] = round(ordered[-1], 4) if ordered else None
    return numbers


def of_range(rows, low, high):
    """Numbers of the flows of sizes above low and up to high."""
    return _numbers([row for row in rows if low < row[0] <= high], low, high)


def marked_percent(rows):
    """Of the packets of some flows those that their senders were told were marked."""
    sent = sum(row.segs_out for row in rows)
    return round(100 * sum(row.marked_pkts for row in rows) / sent, 3) if sent else None


def _measured(result, low, high):
    """What else is said of the flows of a range: completion times, marks."""
    rows = [row for row in result.flows if low < row.flow.size_bytes <= high]
    times = sorted(row.fct_ns for row in rows if row.finished)
    # Marks are a connection's: of some of its messages they are not known.
    is_known = len(rows) == len(result.flows) or all(row.flow.number not in result.sharing
                                                     for row in rows)
    return {**{f"fct_{name}_ns": percentile(times, percent) for name, percent in PERCENTILES},
            "marked_percent": marked_percent(rows) if is_known else None}


def _edges(sizes, count):
    """Indices at which a list of sizes is divided into so many parts; a size of which there are
    more is a part of its own, one of which there are fewer is in the first that has some."""
    edges = {0, len(sizes)}
    for number in range(1, count):
        edge = len(sizes) * number // count
        first, last = bisect_left(sizes, sizes[edge]), bisect_right(sizes, sizes[edge])
        edges |= {edge} if edge == first else {first, last} if (
            last - first) * count > len(sizes) else {last}
    return sorted(edges)


def _bins(rows, count):
    """Bins by _edges(); from the smallest size of each to its largest."""
    if count is None:
        count = max(BINS_LEAST, min(len(rows) // BIN_FLOWS, BINS_MOST))
    edges = _edges([size for size, _ in rows], min(count, len(rows))) if rows else []
    return [_numbers(part, part[0][0], part[-1][0])
            for part in (rows[first:last] for first, last in zip(edges, edges[1:]))]


def numbers(scenario, result):
    """What summary.json says of a run; None where all flows are as large."""
    if not has_sizes(scenario.flows):
        return None
    rows = of_flows(result)
    edges = (0, *scenario.slowdown.edges, SIZE_MAX)
    ranges = dict.fromkeys(row.sizes for row in scenario.paper if row.sizes)
    return {
        "all": of_range(rows, 0, SIZE_MAX),
        "classes": [of_range(rows, low, high) for low, high in zip(edges, edges[1:])],
        "bins": _bins(rows, scenario.slowdown.bins),
        "ranges": {f"{low}:{high}": {**of_range(rows, low, high), **_measured(result, low, high)}
                   for low, high in ranges},
    }


def size_name(size):
    """A size for people, in decimal units."""
    for factor, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= factor:
            return f"{size / factor:.3g} {name}"
    return f"{size} B"


def names(scenario):
    """Percentiles that the flows of a scenario have if all finish: 'p99 all', then by class."""
    edges = (0, *scenario.slowdown.edges, SIZE_MAX)
    for low, high in ((0, SIZE_MAX), *zip(edges, edges[1:])):
        flows = sum(low < flow.size_bytes <= high for flow in scenario.flows)
        for name, _ in PERCENTILES:
            if flows >= (TAIL_FLOWS if name == "p999" else 1):
                yield f"{name} {class_name({'from_bytes': low, 'to_bytes': high})}"


def class_name(numbers_of):
    """A class of sizes for people."""
    low, high = numbers_of["from_bytes"], numbers_of["to_bytes"]
    if high == SIZE_MAX:
        return f"above {size_name(low)}" if low else "all"
    return f"{size_name(low)} to {size_name(high)}" if low else f"up to {size_name(high)}"
