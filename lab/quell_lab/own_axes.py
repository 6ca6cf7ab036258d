# SPDX-License-Identifier: GPL-2.0
"""Charts of [[plot]] tables: figures of papers in the papers' own axes, with the papers' points."""

import bisect
import math

from . import chart, distributions, measure, rounds, slowdown, slowdown_chart
from .chart import BESIDE, DOTTED, Axis, Chart, Facet, Line

NS_PER_US = 1000
WIDE = 40			# times so far apart are on a logarithmic scale
MARK_BINS = 12
# Quantities of paper rows that are points of a distribution, and at which share.
POINTS = {"rtt_p50": 0.5, "rtt_p99": 0.99, "rtt_network_true_p50": 0.5,
          "rtt_network_true_p99": 0.99}
INK = "#444444"
PAPER = "the paper's"


def _curve(points, name, **look):
    """A distribution, [(ns, share)], as steps from 0."""
    times = [value / NS_PER_US for value, _ in points]
    return Line(times[:1] + times, [0, *(share for _, share in points)], "steps", name, look=look)


def _paper_points(scenario, plot, colours):
    """The paper's percentiles of the curves drawn, in their colours."""
    lines = [Line([float(row.value) / NS_PER_US], [POINTS[row.name]], "points", look={
        "markersize": 6, "markeredgecolor": colours[row.run, row.window], "zorder": 4})
             for row in scenario.paper
             if row.value is not None and row.name in POINTS and (row.run, row.window) in colours
             and row.name.startswith("rtt_network") == plot.truth]
    return lines + [Line([], [], "points", PAPER, look={"markeredgecolor": INK})] * bool(lines)


def _queue_curves(scenario, result, window, name):
    """The queue of the window's fullest port as a time, and as packets found it."""
    def held(port):
        return sum(size * ns for size, ns in
                   distributions.queue_held(result, window, port).items())

    port = max(scenario.watched_ports(), key=held)
    return [_curve(distributions.queue_curve(result, window, port), f"{name}queue of the port",
                   color=INK),
            _curve(distributions.of_samples(distributions.found_ns(scenario, result, window, port)),
                   f"{name}as messages found it", color=INK, linestyle=":")]


def _round_trips(scenario, plot, results):
    """Distribution of round trips, of each run and window; or less idle, beside the queue."""
    lines, ends, colours = [], [], {}
    curves = [(result, window) for result in results for window in plot.windows]
    for number, (result, window) in enumerate(curves):
        key = (result.variant.label, window.name)
        look = chart.style(number)
        colours[key] = look["color"]
        name = ", ".join([key[0]] * (len(plot.runs) > 1 or len(plot.windows) == 1)
                         + [key[1]] * (len(plot.windows) > 1))
        times = distributions.round_trips_ns(result, window, plot.truth)
        if not times:
            continue
        if plot.queue:
            name = f"{name}: " if len(curves) > 1 else ""
            lines += _queue_curves(scenario, result, window, name)
            times = [time_ns - window.idle_ns for time_ns in times]
            name = f"{name}round trip less idle"
        curve = distributions.of_samples(times)
        lines.append(_curve(curve, name, **look))
        ends += [curve[0][0] / NS_PER_US, distributions.at_share(curve, 99.9) / NS_PER_US]
    points = [] if plot.queue else _paper_points(scenario, plot, colours)
    ends += [x for line in points for x in line.xs]
    scale = chart.log(ends, WIDE)
    x = Axis("Time (µs)" if plot.queue else "Round trip (µs)", scale=scale)
    if scale["value"] != "log":
        x = Axis(x.name, 0, 1.06 * max(ends, default=1))
    return [Facet(lines + points, x, Axis("Share at or below", 0, 1.02))]


def _rows(result, window, number):
    """A flow's samples within a window."""
    return [row for row in result.cwnd.get(number, [])
            if window.begin_ns <= row[0] < window.end_ns]


def _flows(scenario, plot, results):
    """Round trips and pacing rates, with mean and deviation, of some flows; of each run."""
    facets = []
    for result in results:
        lines = ([], [])
        for position, number in enumerate(plot.flows):
            mean, deviation = measure.pacing(result, plot.windows[0], [number]).get(number, (0, 0))
            rows = _rows(result, plot.windows[0], number)
            times = [row[0] / 1e6 for row in rows]
            look = {"color": chart.style(position)["color"]}
            lines[0].append(Line(times, [row[3] / NS_PER_US for row in rows], "points",
                                 look={"marker": ".", "markersize": 2, **look}))
            lines[1].append(Line(times, [row[2] * 8 / 1e6 for row in rows], "steps",
                                 f"{number}: {mean / 10**6:.0f} ± {deviation / 10**6:.0f}",
                                 look=look))
        lines[1].extend(Line([], value, "level", PAPER, look={"color": INK, "linestyle": DOTTED})
                        for value in dict.fromkeys(
                            float(row.value) / 1e6 for row in scenario.paper
                            if row.name.startswith("pacing_mean[") and row.value is not None
                            and row.run == result.variant.label))
        facets += [Facet(one, Axis("Time (ms)"), Axis(name, 0), result.variant.label,
                         result.variant.label, BESIDE)
                   for one, name in zip(lines, ("Round trip (µs)", "Rate (Mbit/s)"))]
    return facets


def _windows(_scenario, plot, results):
    """Congestion windows of some flows over a window of time, all runs on the same axes."""
    of_run = {result.variant.label: [_rows(result, plot.windows[0], number)
                                     for number in plot.flows] for result in results}
    top = max((row[1] for flows in of_run.values() for rows in flows for row in rows), default=1)
    return [Facet([Line([row[0] / NS_PER_US for row in rows], [row[1] / 1000 for row in rows],
                        look={"color": chart.style(position)["color"], "linewidth": 0.9})
                   for position, rows in enumerate(flows)], Axis("Time (µs)"),
                  Axis("Window (kB)", 0, top / 1000 * 1.06), label, label)
            for label, flows in of_run.items()]


def _mean_at(result, time_ns):
    """Mean of the windows at a time of the flows that are active then, kB; or nothing."""
    active = {row.flow.on or row.flow.number for row in result.flows
              if row.start_ns <= time_ns < result.active_until_ns(row)}
    sizes = []
    for number in active:
        rows = result.cwnd.get(number, [])
        at = bisect.bisect_right(rows, (time_ns, math.inf)) - 1
        if at >= 0:
            sizes.append(rows[at][1])
    return sum(sizes) / len(sizes) / 1000 if sizes else math.nan


def _mean_window(scenario, plot, results):
    """Mean window of the active flows over time, of each run."""
    window = plot.windows[0]
    times = range(window.begin_ns, window.end_ns, scenario.record.window_ns)
    return [Facet([Line([time_ns / NS_PER_US for time_ns in times],
                        [_mean_at(result, time_ns) for time_ns in times], "line",
                        result.variant.label, result.variant.label) for result in results],
                  Axis("Time (µs)"), Axis("Mean window of active flows (kB)", 0))]


def _marks(_scenario, plot, results):
    """Share of marks in a round against its smallest round trip: points, and boxes of bins."""
    facets = []
    for result in results:
        found = [(one.min_rtt_ns / NS_PER_US, one.marked)
                 for one in rounds.in_window(result.rounds, plot.windows[0])]
        low, high = (end((time for time, _ in found), default=0) for end in (min, max))
        width = max((high - low) / MARK_BINS, 0.001)
        bins = {}
        for time, marked in found:
            number = min(int((time - low) / width), MARK_BINS - 1)
            bins.setdefault(low + (number + 0.5) * width, []).append(marked)
        lines = (Line(*([one[column] for one in found] for column in (0, 1)), "points",
                      look={"marker": ".", "markersize": 2, "color": chart.COLOURS[0]}),
                 Line(list(bins), list(bins.values()), "boxes", look={"widths": width * 0.7}))
        facets += [Facet([line], Axis("Smallest round trip of the round (µs)", low - width,
                                      high + width), Axis("Share marked", -0.05, 1.05),
                         result.variant.label, result.variant.label) for line in lines]
    return facets


def _slowdown(scenario, plot, results):
    """Slowdown by size, a facet for each percentile."""
    numbers = {result.variant.label: slowdown.numbers(scenario, result) for result in results}
    return list(slowdown_chart.of_run(numbers, plot.by, plot.percentiles))


MAKE = {"rtts": _round_trips, "flows": _flows, "windows": _windows,
        "mean-window": _mean_window, "marks": _marks, "slowdown": _slowdown}


def of_run(scenario, results):
    """{file stem: function that makes its Chart} of the [[plot]] tables."""
    def make(plot):
        chosen = [result for result in results if result.variant.label in plot.runs]
        return Chart(plot.figure, MAKE[plot.kind](scenario, plot, chosen))
    return {plot.stem: lambda plot=plot: make(plot) for plot in scenario.plots}
