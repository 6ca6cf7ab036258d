# SPDX-License-Identifier: GPL-2.0
"""The figures of a run that show all algorithms in one panel, and the list of all figures."""

import math
import re

from . import dart_plot, join_plots, own_axes, panels, slowdown_plot
from .drawing import BELOW, FIGURE_INCH, NS_PER_US, STYLE, Look, horizon_ns, mark_windows, plt, \
    time_axis
from .summary import FAIR, jain_windows

DART_STEM = "dart"
START_FINISH_MAX = 2048		# of more flows the marks hide each other


def start_finish(results, look):
    """Start against finish time of each flow, as in Fig. 3 of the VAI/SF paper."""
    figure, axes = plt.subplots(figsize=FIGURE_INCH, layout="constrained")
    end_ns = horizon_ns(results)
    top_us = end_ns / NS_PER_US * 1.04
    for result in results:
        rows = [row for row in result.flows if row.finished]
        label = result.variant.label
        late = sum(row.end_ns > end_ns for row in rows)
        axes.plot([row.start_ns / NS_PER_US for row in rows],
                  [min(row.end_ns / NS_PER_US, top_us) for row in rows], look.marker(label),
                  markersize=5, markerfacecolor="none", markeredgewidth=1.2,
                  color=look.colour(label), linestyle="none", clip_on=False,
                  gid=look.series(label), label=f"{label} ({late} beyond)" if late else label)
    axes.set_xlabel("Flow start (µs)")
    axes.set_ylabel("Flow finish (µs)")
    axes.set_ylim(0, top_us)
    axes.set_title("Start and finish of every flow")
    axes.legend(**BELOW)
    return figure


def _gaps(times, values, step):
    """Lines end where windows are missing: nobody active, or nothing delivered."""
    broken_times, broken_values = [], []
    for time, value in zip(times, values):
        if broken_times and time > broken_times[-1] + 1.5 * step:
            broken_times.append(time)
            broken_values.append(math.nan)
        broken_times.append(time)
        broken_values.append(value)
    return broken_times, broken_values


def fairness(results, look, scenario):
    """Jain's index of the flows active, per window."""
    window_ns = scenario.record.window_ns
    figure, axes = plt.subplots(figsize=FIGURE_INCH, layout="constrained")
    for result in results:
        windows = jain_windows(result, window_ns, scenario.allow_unfinished)
        times, values = _gaps([(begin + window_ns / 2) / NS_PER_US for begin, _, _ in windows],
                              [index for _, index, _ in windows], window_ns / NS_PER_US)
        label = result.variant.label
        axes.plot(times, values, look.dash(label), color=look.colour(label), linewidth=1.3,
                  gid=look.series(label), label=label)
    mark_windows(axes, scenario)
    axes.axhline(FAIR, color="#888888", linewidth=0.8, linestyle=(0, (1, 2)))
    axes.set_ylim(0, 1.04)
    time_axis(axes, horizon_ns(results) / NS_PER_US)
    axes.set_ylabel("Jain index")
    axes.set_title(f"Fairness among active flows, windows of {window_ns / NS_PER_US:g} µs")
    axes.legend(**BELOW)
    return figure


def completion(results, look):
    """Cumulative distribution of the completion times."""
    figure, axes = plt.subplots(figsize=FIGURE_INCH, layout="constrained")
    longest = shortest = None
    for result in results:
        times = sorted(row.fct_ns / NS_PER_US for row in result.flows if row.finished)
        if not times:
            continue
        longest = max(times[-1], longest or 0)
        shortest = min(times[0], shortest or times[0])
        shares = [(rank + 1) / len(result.flows) for rank in range(len(times))]
        label = result.variant.label
        axes.plot([times[0]] + times, [0] + shares, look.dash(label), color=look.colour(label),
                  linewidth=1.4, gid=look.series(label), label=label, drawstyle="steps-post")
    if longest and longest > 20 * shortest:
        axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("Flow completion time (µs)")
    axes.set_ylabel("Share of flows")
    axes.set_title("Distribution of flow completion times")
    axes.legend(**BELOW)
    return figure


def makers(scenario, results, summaries):
    """{file stem: function that draws its figure or Panels} of a report, in its order."""
    look = Look([result.variant.label for result in results])
    found = own_axes.makers(scenario, results)
    found |= join_plots.makers(scenario, results, summaries)
    if any(one["flows"] for summary in summaries.values() if summary["slowdown"]
           for one in summary["slowdown"]["bins"]):
        found["slowdown"] = lambda: slowdown_plot.draw(summaries, look)
    if any(row.finished for result in results for row in result.flows):
        found["fct-cdf"] = lambda: completion(results, look)
        if len(scenario.flows) <= START_FINISH_MAX:
            found["start-finish"] = lambda: start_finish(results, look)
    found |= _over_time(scenario, results, summaries, look)
    for result in results:
        if result.dart:
            found[dart_stem(result)] = lambda result=result: dart_plot.draw(scenario, result,
                                                                            time_axis)
    return found


def _over_time(scenario, results, summaries, look):
    """Figures over time, but of what was not sampled."""
    found = {}
    if any(result.delivered for result in results):
        found["jain"] = lambda: fairness(results, look, scenario)
    if panels.fullest_port(summaries) is not None:
        found["queue"] = lambda: panels.queues(results, look, scenario, summaries)
    if any(result.delivered for result in results):
        found["goodput"] = lambda: panels.rates(results, scenario)
    if any(result.cwnd for result in results):
        found["cwnd"] = lambda: panels.windows(results)
    return found


def draw(maker):
    """The figure or Panels that one of these functions draws."""
    with plt.rc_context(STYLE):
        return maker()


def dart_stem(result):
    """File stem of the figure of who governs: dart, dart-LABEL of a variant with parameters."""
    label = re.sub(r"[^A-Za-z0-9._-]+", "-", result.variant.label)
    return label if label == DART_STEM else f"{DART_STEM}-{label}"
