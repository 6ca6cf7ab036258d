# SPDX-License-Identifier: GPL-2.0
"""Draws [[plot]] tables: figures of papers in the papers' own axes, with the papers' points."""

import bisect
import math

from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter

from . import distributions, drawing, measure, rounds
from .drawing import NS_PER_US

WIDE = 40			# times so far apart are on a logarithmic scale
POINTS_MAX = 600		# of a curve
MARKS_MAX = 1500		# rounds shown one by one
MARK_BINS = 12
FLOW_POINTS = 400		# of a flow over time
# Quantities of paper rows that are points of a distribution, and at which share.
POINTS = {"rtt_p50": 0.5, "rtt_p99": 0.99, "rtt_network_true_p50": 0.5,
          "rtt_network_true_p99": 0.99}
INK = "#444444"
CAPTION = ("In the axes of the paper's figure. Circles: numbers that the paper's text gives; its "
           "curves are not in the text.")


def _chosen(plot, results):
    return [result for result in results if result.variant.label in plot.runs]


def _name(plot, label, window):
    """Of a curve: what tells it from the others."""
    parts = ([label] if len(plot.runs) > 1 or len(plot.windows) == 1 else []) + (
        [window.name] if len(plot.windows) > 1 else [])
    return ", ".join(parts)


def _thin(curve):
    """A distribution of at most so many steps."""
    step = max(len(curve) // POINTS_MAX, 1)
    return curve[::step] + curve[-1:]


def _step(axes, curve, **how):
    times = [value / NS_PER_US for value, _ in _thin(curve)]
    axes.plot(times[:1] + times, [0] + [share for _, share in _thin(curve)],
              drawstyle="steps-post", linewidth=1.4, **how)


def _paper_points(axes, scenario, plot, colours):
    """The paper's percentiles of the curves drawn, in their colours."""
    found = [(float(row.value) / NS_PER_US, POINTS[row.name], colours[row.run, row.window])
             for row in scenario.paper
             if row.value is not None and row.name in POINTS and (row.run, row.window) in colours
             and row.name.startswith("rtt_network") == plot.truth]
    for time_us, share, colour in found:
        axes.plot([time_us], [share], "o", markersize=6, markerfacecolor="none",
                  markeredgecolor=colour, markeredgewidth=1.4, clip_on=False, zorder=4)
    if found:
        axes.plot([], [], "o", markerfacecolor="none", markeredgecolor=INK, label="the paper's")
    return [time_us for time_us, _, _ in found]


def _queue_curves(axes, scenario, result, window, name):
    """The queue of the window's fullest port as a time, and as packets found it."""
    def held(port):
        return sum(size * ns for size, ns in
                   distributions.queue_held(result, window, port).items())

    port = max(scenario.watched_ports(), key=held)
    _step(axes, distributions.queue_curve(result, window, port), color=INK,
          label=f"{name}queue of the port")
    _step(axes, distributions.of_samples(distributions.found_ns(scenario, result, window, port)),
          color=INK, linestyle=":", label=f"{name}as messages found it")


def _round_trips(scenario, plot, results):
    """Distribution of round trips, of each run and window; or less idle, beside the queue."""
    figure, axes = plt.subplots(figsize=drawing.FIGURE_INCH, layout="constrained")
    look = drawing.Look([(result.variant.label, window.name)
                         for result in _chosen(plot, results) for window in plot.windows])
    ends = []
    for result in _chosen(plot, results):
        for window in plot.windows:
            key = (result.variant.label, window.name)
            name = _name(plot, *key[:1], window)
            times = distributions.round_trips_ns(result, window, plot.truth)
            if not times:
                continue
            if plot.queue:
                name = f"{name}: " if len(look.numbers) > 1 else ""
                _queue_curves(axes, scenario, result, window, name)
                times = [time_ns - window.idle_ns for time_ns in times]
                name = f"{name}round trip less idle"
            curve = distributions.of_samples(times)
            _step(axes, curve, color=look.colour(key), linestyle=look.dash(key), label=name)
            ends += [curve[0][0] / NS_PER_US, distributions.at_share(curve, 99.9) / NS_PER_US]
    ends += _paper_points(axes, scenario, plot,
                          {key: look.colour(key) for key in look.numbers}) if not plot.queue else []
    if ends and min(ends) > 0 and max(ends) > WIDE * min(ends):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda time_us, _: f"{time_us:g}"))
    else:
        axes.set_xlim(0, 1.06 * max(ends, default=1))
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("Time (µs)" if plot.queue else "Round trip (µs)")
    axes.set_ylabel("Share at or below")
    axes.set_title(plot.figure)
    axes.legend(**dict(drawing.BELOW, ncols=2))
    return figure


def _flow_axes(axes, result, window, number, colour):
    """One flow's round trips above, its rate below, with mean and deviation of the rate."""
    mean, deviation = measure.pacing(result, window, [number]).get(number, (0, 0))
    rows = [row for row in result.cwnd.get(number, [])
            if window.begin_ns <= row[0] < window.end_ns]
    rows = rows[::max(len(rows) // FLOW_POINTS, 1)]
    times = [row[0] / 1e6 for row in rows]
    axes[0].plot(times, [row[3] / NS_PER_US for row in rows], ".", markersize=2, color=colour)
    axes[1].plot(times, [row[2] * 8 / 1e6 for row in rows], linewidth=1, color=colour,
                 drawstyle="steps-post",
                 label=f"{number}: {mean / 10**6:.0f} ± {deviation / 10**6:.0f}")


def _flows(scenario, plot, results):
    """Round trips and pacing rates of some flows over a window; of each run by itself."""
    figures = {}
    for result in _chosen(plot, results):
        figure, axes = plt.subplots(2, sharex=True, figsize=drawing.PANEL_INCH,
                                    layout="constrained")
        for position, number in enumerate(plot.flows):
            _flow_axes(axes, result, plot.windows[0], number,
                       drawing.COLOURS[position % len(drawing.COLOURS)])
        values = [(float(row.value) / 1e6) for row in scenario.paper
                  if row.name.startswith("pacing_mean[") and row.value is not None
                  and row.run == result.variant.label]
        for value in dict.fromkeys(values):
            axes[1].axhline(value, color=INK, linewidth=0.8, linestyle=(0, (1, 2)),
                            label="the paper's")
        axes[0].set_ylabel("Round trip (µs)")
        axes[1].set_ylabel("Rate (Mbit/s)")
        axes[1].set_xlabel("Time (ms)")
        for one in axes:
            one.set_ylim(0, None)
        axes[0].set_title(result.variant.label)
        axes[1].legend(fontsize=7, ncols=3, loc="lower right", columnspacing=1)
        figures[result.variant.label] = figure
    return drawing.Panels(plot.figure, figures)


def _windows(scenario, plot, results):
    """Congestion windows of some flows over a window of time, all runs on the same axes."""
    del scenario
    window = plot.windows[0]
    figures = {}
    top = max((row[1] for result in _chosen(plot, results) for number in plot.flows
               for row in result.cwnd.get(number, [])
               if window.begin_ns <= row[0] < window.end_ns), default=1)
    for result in _chosen(plot, results):
        figure, axes = plt.subplots(figsize=drawing.PANEL_INCH, layout="constrained")
        for position, number in enumerate(plot.flows):
            rows = [row for row in result.cwnd.get(number, [])
                    if window.begin_ns <= row[0] < window.end_ns]
            times, sizes = drawing.thin([row[0] / NS_PER_US for row in rows],
                                        [row[1] / 1024 for row in rows], FLOW_POINTS)
            axes.plot(times, sizes, drawstyle="steps-post", linewidth=0.9,
                      color=drawing.COLOURS[position % len(drawing.COLOURS)])
        axes.set_ylim(0, top / 1024 * 1.06)
        axes.set_xlabel("Time (µs)")
        axes.set_ylabel("Window (KiB)")
        axes.set_title(result.variant.label)
        figures[result.variant.label] = figure
    return drawing.Panels(plot.figure, figures)


def _mean_window(scenario, plot, results):
    """Mean window of the active flows over time, of each run."""
    figure, axes = plt.subplots(figsize=drawing.FIGURE_INCH, layout="constrained")
    look = drawing.Look(list(plot.runs))
    window = plot.windows[0]
    for result in _chosen(plot, results):
        label = result.variant.label
        times = range(window.begin_ns, window.end_ns, scenario.record.window_ns)
        means = [_mean_at(result, time_ns) for time_ns in times]
        axes.plot([time_ns / NS_PER_US for time_ns in times], means, look.dash(label),
                  color=look.colour(label), linewidth=1.4, label=label)
    axes.set_ylim(0, None)
    axes.set_xlabel("Time (µs)")
    axes.set_ylabel("Mean window of active flows (KiB)")
    axes.set_title(plot.figure)
    axes.legend(**dict(drawing.BELOW, ncols=2))
    return figure


def _marks(scenario, plot, results):
    """Share of marks in a round against its smallest round trip: points, and boxes of bins."""
    del scenario
    figures = {}
    for result in _chosen(plot, results):
        found = rounds.in_window(result.rounds, plot.windows[0])
        figure, axes = plt.subplots(2, sharex=True, figsize=drawing.PANEL_INCH,
                                    layout="constrained")
        shown = found[::max(len(found) // MARKS_MAX, 1)]
        axes[0].plot([one.min_rtt_ns / NS_PER_US for one in shown],
                     [one.marked for one in shown], ".", markersize=2, color=drawing.COLOURS[0])
        low = min((one.min_rtt_ns for one in found), default=0) / NS_PER_US
        high = max((one.min_rtt_ns for one in found), default=1) / NS_PER_US
        width = max((high - low) / MARK_BINS, 0.001)
        bins = [[one.marked for one in found
                 if number == min(int((one.min_rtt_ns / NS_PER_US - low) / width), MARK_BINS - 1)]
                for number in range(MARK_BINS)]
        axes[1].boxplot([values for values in bins if values], widths=width * 0.7,
                        positions=[low + (number + 0.5) * width
                                   for number, values in enumerate(bins) if values],
                        manage_ticks=False, whis=1.2, flierprops={"markersize": 2})
        for one in axes:
            one.set_ylim(-0.05, 1.05)
            one.set_ylabel("Share marked")
        axes[1].set_xlabel("Smallest round trip of the round (µs)")
        axes[0].set_title(result.variant.label)
        figures[result.variant.label] = figure
    return drawing.Panels(plot.figure, figures)


def _mean_at(result, time_ns):
    """Mean of the windows at a time of the flows that are active then, KiB; or nothing."""
    active = {row.flow.on or row.flow.number for row in result.flows
              if row.start_ns <= time_ns < result.active_until_ns(row)}
    sizes = []
    for number in active:
        rows = result.cwnd.get(number, [])
        at = bisect.bisect_right(rows, (time_ns, math.inf)) - 1
        if at >= 0:
            sizes.append(rows[at][1])
    return sum(sizes) / len(sizes) / 1024 if sizes else math.nan


DRAW = {"rtts": _round_trips, "flows": _flows, "windows": _windows,
        "mean-window": _mean_window, "marks": _marks}


def makers(scenario, results):
    """{file stem: function that draws its figure or Panels} of the [[plot]] tables."""
    return {plot.stem: lambda plot=plot: DRAW[plot.kind](scenario, plot, results)
            for plot in scenario.plots}
