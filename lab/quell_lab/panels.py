# SPDX-License-Identifier: GPL-2.0
"""Figures over time with a panel for each algorithm, all on the same axes: the queue of one
port, and the goodput and the window of every flow."""

import bisect

import matplotlib
from matplotlib import pyplot as plt

from .drawing import NS_PER_US, PANEL_INCH, Panels, horizon_ns, kilobytes, late, mark_windows, \
    thin, time_axis
from .rates import rate_steps
from .stats import percentile

LINES_MAX = 24			# more flows are a band, a median and a few that are named
BAND_POINTS = 400
BAND = (10, 90)			# percentiles
POINTS_MAX = 12000		# of all lines of a panel
ROOM = 1.06			# above the highest value
NAMED = ("#d55e00", "#0072b2", "#cc79a7")


def _titles(results, end_ns):
    """{label: title}, all of as many lines, so that panels beside each other are level."""
    remarks = {result.variant.label: late(result, end_ns) for result in results}
    empty = "\n " if any(remarks.values()) else ""
    return {label: label + (remark or empty) for label, remark in remarks.items()}


def _panels(results, title, draw):
    """A figure per algorithm; draw(axes, result) fills one."""
    figures = {}
    for result in results:
        figure, axes = plt.subplots(figsize=PANEL_INCH, layout="constrained")
        draw(axes, result)
        figures[result.variant.label] = figure
    return Panels(title, figures)


def fullest_port(summaries):
    """The switch port with the longest queue of all runs, or None."""
    longest = {}
    for summary in summaries.values():
        for port, queue in summary["queues"].items():
            longest[port] = max(longest.get(port, 0), queue["max_bytes"])
    return max(longest, key=longest.get, default=None)


def _queue_top(scenario, summaries, port):
    """Of the axis: the limit is shown unless the queues never come near it."""
    limit = scenario.queue.limit_bytes
    top = max((summary["queues"][port]["max_bytes"] for summary in summaries.values()
               if port in summary["queues"]), default=limit)
    return limit if 4 * top > limit else max(top, 2 * scenario.queue.ecn_max_bytes, 1)


def queues(results, look, scenario, summaries):
    """Backlog over time of the port with the longest queue, the same one of every run."""
    port = fullest_port(summaries)
    limit = scenario.queue.limit_bytes
    top = _queue_top(scenario, summaries, port)
    end_ns = horizon_ns(results)
    titles = _titles(results, end_ns)

    def draw(axes, result):
        label = result.variant.label
        rows = [(0, 0)] + [row for row in result.queues.get(port, []) if row[0] <= end_ns]
        rows.append((end_ns, rows[-1][1]))
        times, values = thin([time_ns / NS_PER_US for time_ns, _ in rows],
                             [backlog for _, backlog in rows])
        axes.plot(times, values, color=look.colour(label), linewidth=0.9,
                  drawstyle="steps-post")
        axes.axhline(limit, color="#888888", linewidth=0.8)
        mark_windows(axes, scenario)
        if scenario.queue.ecn_max_bytes:
            axes.axhline(scenario.queue.ecn_min_bytes, color="#888888", linewidth=0.8,
                         linestyle=(0, (1, 2)))
        axes.set_ylim(0, top * ROOM)
        kilobytes(axes, "Queue (kB)")
        time_axis(axes, end_ns / NS_PER_US)
        axes.set_title(titles[label])

    marks = "dotted: ECN threshold" if scenario.queue.ecn_max_bytes else "no ECN"
    return _panels(results, f"Queue of switch port {port} (limit {limit / 1000:g} kB; {marks})",
                   draw)


def _shades(result):
    """Colour of each flow, from dark for the first to start to light for the last."""
    order = sorted(result.flows, key=lambda row: (row.start_ns, row.flow.number))
    count = max(len(order) - 1, 1)
    return {row.flow.number: matplotlib.colormaps["viridis"](0.15 + 0.72 * position / count)
            for position, row in enumerate(order)}


def _at(rows, times, time_ns):
    """Value of a step function; 0 before its first step."""
    place = bisect.bisect_right(times, time_ns)
    return rows[place - 1][1] if place else 0


def _band(axes, result, lines, end_ns):
    """Median and percentiles of the flows active at each time."""
    steps = [(row.start_ns, result.active_until_ns(row), rows, [time for time, _ in rows])
             for row in result.flows if (rows := lines.get(row.flow.number))]
    times, lows, middles, highs = [], [], [], []
    for number in range(BAND_POINTS + 1):
        time_ns = end_ns * number // BAND_POINTS
        values = sorted(_at(rows, starts, time_ns) for begin_ns, until_ns, rows, starts in steps
                        if begin_ns <= time_ns < until_ns)
        if values:
            times.append(time_ns / NS_PER_US)
            for found, percent in ((lows, BAND[0]), (middles, 50), (highs, BAND[1])):
                found.append(percentile(values, percent))
    axes.fill_between(times, lows, highs, color="#777777", alpha=0.3, linewidth=0, step="mid",
                      label=f"{BAND[0]}th to {BAND[1]}th percentile")
    axes.plot(times, middles, color="#222222", linewidth=1.2, label="median of active flows")


def _named(result):
    """[(which, number)] of the flows that are drawn beside a band."""
    first = min(result.flows, key=lambda row: (row.start_ns, row.flow.number))
    last = max(result.flows, key=lambda row: (row.start_ns, row.flow.number))
    slowest = max(result.flows, key=lambda row: result.active_until_ns(row) - row.start_ns)
    names = {}
    for name, row in (("first", first), ("last", last), ("slowest", slowest)):
        names.setdefault(row.flow.number, []).append(name)
    return [(f"flow {number}: {' and '.join(which)}", number) for number, which in names.items()]


def _line(axes, rows, points, **look):
    times, values = thin([time_ns / NS_PER_US for time_ns, _ in rows],
                         [value for _, value in rows], points)
    axes.plot(times, values, drawstyle="steps-post", **look)


def _flow_lines(axes, result, lines, end_ns):
    """A line for each flow, or what stands for many; lines: number -> [(time_ns, value)]."""
    if len(lines) <= LINES_MAX:
        shades = _shades(result)
        points = max(POINTS_MAX // max(len(lines), 1), 100)
        for number, rows in lines.items():
            _line(axes, rows, points, color=shades[number], linewidth=0.7)
        return
    _band(axes, result, lines, end_ns)
    for (name, number), colour in zip(_named(result), NAMED):
        if number in lines:
            _line(axes, lines[number], POINTS_MAX // len(NAMED), color=colour, linewidth=0.7,
                  label=name)
    axes.legend(loc="upper right", fontsize=7)


def _what(results):
    """How the flows are drawn, for a title."""
    return ("of every flow (dark: first to start, light: last)"
            if all(len(result.flows) <= LINES_MAX for result in results)
            else f"of the active flows: median, {BAND[0]}th to {BAND[1]}th percentile, some alone")


def windows(results):
    """Congestion window of the flows."""
    end_ns = horizon_ns(results)
    titles = _titles(results, end_ns)
    top = max((row[1] for result in results for rows in result.cwnd.values() for row in rows
               if row[0] <= end_ns), default=1)

    def draw(axes, result):
        lines = {number: [(row[0], row[1]) for row in rows if row[0] <= end_ns]
                 for number, rows in result.cwnd.items()}
        _flow_lines(axes, result, lines, end_ns)
        axes.set_yscale("symlog", linthresh=1500)
        axes.set_ylim(0, top * 1.2)
        kilobytes(axes, "Window (kB)")
        time_axis(axes, end_ns / NS_PER_US)
        axes.set_title(titles[result.variant.label])

    return _panels(results, f"Congestion window {_what(results)}", draw)


def rates(results, scenario):
    """What the flows were handed per window, as a rate up to that of the fastest cable."""
    window_ns = scenario.record.window_ns
    line_gbit = max(cable.rate_bits_ps for cable in scenario.graph.cables) / 1e9
    end_ns = horizon_ns(results)
    titles = _titles(results, end_ns)
    drawn = {}
    for result in results:
        finished = {row.flow.number for row in result.flows if row.finished}
        drawn[result.variant.label] = {
            number: rate_steps(rows, window_ns, end_ns, number in finished)
            for number, rows in result.delivered.items()}
    top = max((value for lines in drawn.values() for rows in lines.values() for _, value in rows),
              default=line_gbit)

    def draw(axes, result):
        _flow_lines(axes, result, drawn[result.variant.label], end_ns)
        mark_windows(axes, scenario)
        axes.set_ylabel("Goodput (Gbit/s)")
        axes.set_ylim(0, min(top * ROOM, line_gbit * 1.02))
        time_axis(axes, end_ns / NS_PER_US)
        axes.set_title(titles[result.variant.label])

    return _panels(results, f"Goodput {_what(results)}", draw)
