# SPDX-License-Identifier: GPL-2.0
"""Slowdown by size as facets of a chart: of one run, or of several seeds with bands."""

from . import chart
from .chart import Axis, Facet, Line
from .slowdown import TAIL_FLOWS, class_name, size_name

TITLES = {"p50": "Median", "p95": "95th percentile", "p99": "99th percentile",
          "p999": "99.9th percentile"}
INCH = 3.6


def tail_remark(parts):
    """What the 99.9th percentile of bins or classes is, where it is the slowest flow; or ''."""
    few = [one["flows"] < TAIL_FLOWS for one in parts]
    if not any(few):
        return ""
    return ("\n(the slowest flow: a point has fewer than 1000)" if all(few) else
            "\n(the slowest flow where a point has fewer than 1000)")


def facet(name, of_label, title, ticks=()):
    """Of {label: [(x, median, least, most)]}; ticks: names of x = 0, 1, ... instead of sizes."""
    lines = []
    for label, number in chart.numbers(of_label).items():
        points = of_label[label]
        where = [x for x, *_ in points]
        lines.append(Line(where, [mid for _, mid, *_ in points], "line", label, label,
                          {"marker": chart.marker(number), "markersize": 3.5}))
        if any(low < high for *_, low, high in points):
            lines.append(Line(where, [(low, high) for *_, low, high in points], "band", run=label))
            lines += [Line([x, x], [low, high], "line", run=label, look={"linewidth": 0.8})
                      for x, _, low, high in points]
    x = Axis("Flow size", scale={"value": "log"}, show=lambda size: size_name(round(size)))
    if ticks:
        x = Axis("Flow size", -0.3, len(ticks) - 0.7, ticks=(range(len(ticks)), ticks))
    return Facet(lines, x, Axis(name, 1, scale={"value": "log"}), title, inch=INCH)


def of_run(numbers, by, percentiles):
    """Facets of {label: slowdown.numbers()}, by "bins" or "classes", one for each percentile."""
    parts = {label: one[by] for label, one in numbers.items()}
    first = next(iter(parts.values()))
    shown = [place for place in range(len(first))
             if by == "bins" or any(found[place]["flows"] for found in parts.values())]
    ticks = [class_name(first[place]) for place in shown] if by == "classes" else ()
    for key in percentiles:
        lines, drawn = {}, []
        for label, found in parts.items():
            found = found if by == "bins" else [found[place] for place in shown]
            points = [(place if ticks else one["to_bytes"], one) for place, one in enumerate(found)
                      if one["flows"]]
            lines[label] = [(x, *[one[key]] * 3) for x, one in points]
            drawn += [one for _, one in points]
        yield facet("Slowdown", lines, TITLES[key] + tail_remark(drawn) * (key == "p999"), ticks)
