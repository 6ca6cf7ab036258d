# SPDX-License-Identifier: GPL-2.0
"""The figures, as SVG text.

One figure shows every algorithm, each in its own colour throughout.  Colours
are Okabe and Ito's, told apart by colour-blind readers too; line styles and
markers differ as well.
"""

import io
import math
import re

import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter  # noqa: E402

from . import dart_plot, slowdown_plot, units  # noqa: E402
from .rates import rate_steps  # noqa: E402
from .summary import FAIR, jain_windows  # noqa: E402

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = "osD^vPX"
DASHES = ("-", "--", "-.", ":")
POINTS_MAX = 3000		# of one line: more only makes the file larger
# Time axes end at the last completion within so many times the median.
POOLED_HORIZON = 2
PANEL_HORIZON = 5
PANEL_POINTS_MAX = 12000	# of all lines of a panel
NS_PER_US = 1000
DART_STEM = "dart"
START_FINISH_MAX = 2048		# of more flows the marks hide each other
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "quell",
    "path.simplify": True,
}


class Look:
    """Colour, marker and dash of each algorithm of a report."""

    def __init__(self, labels):
        self.numbers = {label: number for number, label in enumerate(labels)}

    def colour(self, label):
        """Same for a label in every figure."""
        return COLOURS[self.numbers[label] % len(COLOURS)]

    def marker(self, label):
        """Shape of a label's points."""
        return MARKERS[self.numbers[label] % len(MARKERS)]

    def dash(self, label):
        """Style of a label's lines."""
        return DASHES[self.numbers[label] % len(DASHES)]


def _horizon_ns(results, factor):
    """
    Where a time axis ends: at the last completion not later than so many times
    the median one.  A flow that waited out a retransmission timeout would
    otherwise press everything else against the axis.  A flow cut short by the
    end of the run counts as ending then.
    """
    ends = sorted(result.active_until_ns(row) for result in results for row in result.flows)
    if not ends:
        return 1
    return max(end for end in ends if end <= factor * ends[(len(ends) - 1) // 2])


def _late(result, horizon_ns):
    """'N flows end later, until T (not shown)' on a line for a panel that ends before, else ''."""
    ends = [row.end_ns for row in result.flows if row.finished and row.end_ns > horizon_ns]
    if not ends:
        return ""
    last = re.sub(r"([0-9])([a-z])", r"\1 \2", units.show_time(max(ends) // NS_PER_US * NS_PER_US))
    return (f"\n1 flow ends later, at {last} (not shown)" if len(ends) == 1
            else f"\n{len(ends)} flows end later, until {last} (not shown)")


def _mark_windows(axes, scenario):
    """The measured windows, shaded."""
    for window in scenario.windows:
        axes.axvspan(window.begin_ns / NS_PER_US, window.end_ns / NS_PER_US, color="#000000",
                     alpha=0.06, linewidth=0)


def _thin(times, values, points=POINTS_MAX):
    """At most so many points, keeping the extremes of each stretch."""
    if len(times) <= points:
        return times, values
    stretch = -(-len(times) * 2 // points)
    kept = set()
    for begin in range(0, len(times), stretch):
        part = range(begin, min(begin + stretch, len(times)))
        kept.add(min(part, key=values.__getitem__))
        kept.add(max(part, key=values.__getitem__))
    order = sorted(kept)
    return [times[i] for i in order], [values[i] for i in order]


def _time_axis(axes, end_us):
    """From 0 to the end; microseconds, or milliseconds when the run is long."""
    axes.set_xlim(0, end_us)
    if end_us >= 20000:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda us, _: f"{us / 1000:g}"))
        axes.set_xlabel("Time (ms)")
    else:
        axes.set_xlabel("Time (µs)")


def _kilobytes(axes, label):
    axes.set_ylabel(label)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size / 1000:g}"))


def grid(count):
    """Figure with one panel per algorithm, at most two beside each other."""
    columns = min(count, 2)
    rows = -(-count // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4.6 * columns, 2.9 * rows),
                                squeeze=False, layout="constrained")
    panels = [panel for row in axes for panel in row]
    for panel in panels[count:]:
        panel.set_visible(False)
    return figure, panels[:count]


def start_finish(results, look):
    """Start against finish time of each flow, as in Fig. 3 of the VAI/SF paper."""
    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    horizon_ns = _horizon_ns(results, POOLED_HORIZON)
    top_us = horizon_ns / NS_PER_US * 1.04
    for result in results:
        rows = [row for row in result.flows if row.finished]
        label = result.variant.label
        late = sum(row.end_ns > horizon_ns for row in rows)
        axes.plot([row.start_ns / NS_PER_US for row in rows],
                  [min(row.end_ns / NS_PER_US, top_us) for row in rows], look.marker(label),
                  markersize=5, markerfacecolor="none", markeredgewidth=1.2,
                  color=look.colour(label), linestyle="none", clip_on=False,
                  label=f"{label} ({late} beyond)" if late else label)
    axes.set_xlabel("Flow start (µs)")
    axes.set_ylabel("Flow finish (µs)")
    axes.set_ylim(0, top_us)
    axes.set_title("Start and finish of every flow")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
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
    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for result in results:
        windows = jain_windows(result, window_ns, scenario.allow_unfinished)
        times, values = _gaps([(begin + window_ns / 2) / NS_PER_US for begin, _, _ in windows],
                              [index for _, index, _ in windows], window_ns / NS_PER_US)
        label = result.variant.label
        axes.plot(times, values, look.dash(label), color=look.colour(label), linewidth=1.3,
                  label=label)
    _mark_windows(axes, scenario)
    axes.axhline(FAIR, color="#888888", linewidth=0.8, linestyle=(0, (1, 2)))
    axes.set_ylim(0, 1.04)
    _time_axis(axes, _horizon_ns(results, POOLED_HORIZON) / NS_PER_US)
    axes.set_ylabel("Jain index")
    axes.set_title(f"Fairness among active flows, windows of {window_ns / NS_PER_US:g} µs")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def queues(results, look, scenario, summaries):
    """Backlog of each run's fullest port over time."""
    figure, panels = grid(len(results))
    limit = scenario.queue.limit_bytes
    top = max((summary["queue"]["max_bytes"] for summary in summaries.values()
               if summary["queue"]), default=limit)
    # One scale for all; the limit is shown unless the queues never come near it.
    scale = limit if 4 * top > limit else max(top, 2 * scenario.queue.ecn_max_bytes, 1)
    for result, axes in zip(results, panels):
        label = result.variant.label
        worst = summaries[label]["queue"]
        port = worst["port"] if worst else ""
        rows = [(0, 0)] + result.queues.get(port, [])
        end_ns = _horizon_ns([result], PANEL_HORIZON)
        rows = [row for row in rows if row[0] <= end_ns]
        rows.append((end_ns, rows[-1][1]))
        times, values = _thin([time_ns / NS_PER_US for time_ns, _ in rows],
                              [backlog for _, backlog in rows])
        axes.plot(times, values, color=look.colour(label), linewidth=0.9,
                  drawstyle="steps-post")
        axes.axhline(limit, color="#888888", linewidth=0.8)
        _mark_windows(axes, scenario)
        if scenario.queue.ecn_max_bytes:
            axes.axhline(scenario.queue.ecn_min_bytes, color="#888888", linewidth=0.8,
                         linestyle=(0, (1, 2)))
        axes.set_ylim(0, scale * 1.06)
        _kilobytes(axes, "Queue (kB)")
        _time_axis(axes, end_ns / NS_PER_US)
        axes.set_title(f"{label}, port {port}{_late(result, end_ns)}")
    marks = "dotted: ECN threshold" if scenario.queue.ecn_max_bytes else "no ECN"
    figure.suptitle(f"Queue at the switch (limit {limit / 1000:g} kB; {marks})", fontsize=10)
    return figure


def _flow_panel(axes, rows_by_flow, value, shades):
    points = max(PANEL_POINTS_MAX // max(len(rows_by_flow), 1), 100)
    for number, rows in rows_by_flow.items():
        times, values = _thin([row[0] / NS_PER_US for row in rows], [value(row) for row in rows],
                              points)
        axes.plot(times, values, color=shades[number], linewidth=0.7, drawstyle="steps-post")


def windows(results):
    """Congestion window of every flow; early starters dark, late ones light."""
    figure, panels = grid(len(results))
    for result, axes in zip(results, panels):
        end_ns = _horizon_ns([result], PANEL_HORIZON)
        shown = {number: [row for row in rows if row[0] <= end_ns]
                 for number, rows in result.cwnd.items()}
        _flow_panel(axes, shown, lambda row: row[1], _shades(result))
        axes.set_yscale("symlog", linthresh=1500)
        axes.set_ylim(0, axes.get_ylim()[1] * 1.2)
        _kilobytes(axes, "Window (kB)")
        _time_axis(axes, end_ns / NS_PER_US)
        axes.set_title(result.variant.label + _late(result, end_ns))
    figure.suptitle("Congestion window of every flow (dark: first to start, light: last)",
                    fontsize=10)
    return figure


def rates(results, scenario):
    """What every flow was handed per window, as a rate up to that of the fastest cable."""
    window_ns = scenario.record.window_ns
    line_gbit = max(cable.rate_bits_ps for cable in scenario.graph.cables) / 1e9
    figure, panels = grid(len(results))
    for result, axes in zip(results, panels):
        end_ns = _horizon_ns([result], PANEL_HORIZON)
        shown = {}
        finished = {row.flow.number for row in result.flows if row.finished}
        for number, rows in result.delivered.items():
            shown[number] = rate_steps(rows, window_ns, end_ns, number in finished)
        _flow_panel(axes, shown, lambda row: row[1], _shades(result))
        _mark_windows(axes, scenario)
        axes.set_ylabel("Goodput (Gbit/s)")
        axes.set_ylim(0, min(axes.get_ylim()[1], line_gbit * 1.02))
        _time_axis(axes, end_ns / NS_PER_US)
        axes.set_title(result.variant.label + _late(result, end_ns))
    figure.suptitle("Goodput of every flow (dark: first to start, light: last)", fontsize=10)
    return figure


def _shades(result):
    """Colour of each flow, from dark for the first to start to light for the last."""
    order = sorted(result.flows, key=lambda row: (row.start_ns, row.flow.number))
    count = max(len(order) - 1, 1)
    return {row.flow.number: matplotlib.colormaps["viridis"](0.92 * position / count)
            for position, row in enumerate(order)}


def completion(results, look):
    """Cumulative distribution of the completion times."""
    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    longest = shortest = None
    for result in results:
        times = sorted(row.fct_ns / NS_PER_US for row in result.flows if row.finished)
        if not times:
            continue
        longest = max(times[-1], longest or 0)
        shortest = min(times[0], shortest or times[0])
        shares = [(rank + 1) / len(times) for rank in range(len(times))]
        label = result.variant.label
        axes.plot([times[0]] + times, [0] + shares, look.dash(label), color=look.colour(label),
                  linewidth=1.4, label=label, drawstyle="steps-post")
    if longest and longest > 20 * shortest:
        axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("Flow completion time (µs)")
    axes.set_ylabel("Share of flows")
    axes.set_title("Distribution of flow completion times")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def draw(scenario, results, summaries):
    """{file stem: figure} of a report, in its order."""
    look = Look([result.variant.label for result in results])
    with plt.rc_context(STYLE):
        figures = {}
        if any(row.finished for result in results for row in result.flows):
            if len(scenario.flows) <= START_FINISH_MAX:
                figures["start-finish"] = start_finish(results, look)
            figures["fct-cdf"] = completion(results, look)
        if any(summary["slowdown"] for summary in summaries.values()):
            figures["slowdown"] = slowdown_plot.draw(summaries, look)
        figures |= _over_time(scenario, results, summaries, look)
        for result in results:
            if result.dart:
                figures[dart_stem(result)] = dart_plot.draw(scenario, result, _time_axis)
    return figures


def _over_time(scenario, results, summaries, look):
    """Figures over time, but of what was not sampled."""
    figures = {}
    if any(result.delivered for result in results):
        figures["jain"] = fairness(results, look, scenario)
    figures["queue"] = queues(results, look, scenario, summaries)
    if any(result.delivered for result in results):
        figures["goodput"] = rates(results, scenario)
    if any(result.cwnd for result in results):
        figures["cwnd"] = windows(results)
    return figures


def dart_stem(result):
    """File stem of the figure of who governs: dart, dart-LABEL of a variant with parameters."""
    label = re.sub(r"[^A-Za-z0-9._-]+", "-", result.variant.label)
    return label if label == DART_STEM else f"{DART_STEM}-{label}"


def to_svg(figure, title):
    """SVG text of a figure, the same for the same figure."""
    buffer = io.StringIO()
    with plt.rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None,
                                                       "Title": title})
    return buffer.getvalue()


def inline(svg, prefix):
    """The <svg> element alone, ids made unique so that several share one page."""
    body = svg[svg.index("<svg"):]
    body = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', body)
    body = re.sub(r'="#([^"]+)"', rf'="#{prefix}-\1"', body)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", body)


def close(figures):
    """Free what the figures hold."""
    for figure in figures.values():
        plt.close(figure)
