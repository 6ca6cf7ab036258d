# SPDX-License-Identifier: GPL-2.0
"""The charts of a run: each from its results, or from its summaries, as facets with tables."""

import bisect
import math
import re

from . import chart, dart_chart, own_axes, slowdown_chart, units
from .chart import DOTTED, INSIDE, Axis, Chart, Facet, Line
from .convergence import Steps, sender_rates
from .rates import rate_steps
from .slowdown import TAIL_FLOWS
from .stats import percentile
from .summary import FAIR, jain_windows

NS_PER_US = 1000
HORIZON = 2			# time axes end at the last completion within so many times the median
DART_STEM = "dart"
START_FINISH_MAX = 2048		# of more flows the marks hide each other
WIDE = 20			# times so far apart are on a logarithmic scale
JOINS_MAX = 5			# in a facet, as in Figure 9(a) of the Dart paper
LINES_MAX = 24			# more flows are a band, a median and a few with their numbers
BAND_POINTS = 400
BAND = (10, 90)			# percentiles
ROOM = 1.06			# above the highest value
NAMED = ("#d55e00", "#0072b2", "#cc79a7")


def horizon_ns(results, measured=()):
    """
    Where the time axis of these results ends: for each its last completion not
    later than HORIZON times its median one, of all the latest, or the last of the measured
    windows.  A flow that was late by a retransmission timeout would otherwise press everything
    else against the axis.  A flow cut short by the end of the run counts as ending then.
    """
    latest_ns = max((window.end_ns for window in measured), default=1)
    for result in results:
        ends = sorted(result.active_until_ns(row) for row in result.flows)
        if ends:
            median_ns = ends[(len(ends) - 1) // 2]
            latest_ns = max(latest_ns, *(end for end in ends if end <= HORIZON * median_ns))
    return latest_ns


def late(result, end_ns):
    """'N flows end later, until T (not shown)' on a line for an axis that ends before, else ''."""
    ends = [row.end_ns for row in result.flows if row.finished and row.end_ns > end_ns]
    if not ends:
        return ""
    last = re.sub(r"([0-9])([a-z])", r"\1 \2", units.show_time(max(ends) // NS_PER_US * NS_PER_US))
    return (f"\n1 flow ends later, at {last} (not shown)" if len(ends) == 1
            else f"\n{len(ends)} flows end later, until {last} (not shown)")


def _spans(scenario):
    """The measured windows, shaded."""
    return [Line((window.begin_ns / NS_PER_US, window.end_ns / NS_PER_US), (), "span")
            for window in scenario.windows]


def start_finish(results):
    """Start against finish time of each flow, as in Fig. 3 of the VAI/SF paper."""
    end_ns = horizon_ns(results)
    top_us = end_ns / NS_PER_US * 1.04
    lines = []
    numbers = chart.numbers([result.variant.label for result in results])
    for result in results:
        rows = [row for row in result.flows if row.finished]
        label = result.variant.label
        beyond = sum(row.end_ns > end_ns for row in rows)
        lines.append(Line([row.start_ns / NS_PER_US for row in rows],
                          [min(row.end_ns / NS_PER_US, top_us) for row in rows], "points",
                          f"{label} ({beyond} beyond)" if beyond else label, label,
                          {"marker": chart.marker(numbers[label])}))
    return Chart("Start and finish of every flow", [
        Facet(lines, Axis("Flow start (µs)"), Axis("Flow finish (µs)", 0, top_us * ROOM))])


def _gaps(points, step):
    """Lines end where windows are missing: no active flow, or no byte delivered."""
    found = []
    for time, value in points:
        if found and time > found[-1][0] + 1.5 * step:
            found.append((time, math.nan))
        found.append((time, value))
    return [list(column) for column in zip(*found)] or ([], [])


def fairness(results, scenario):
    """Jain's index of the flows active, per window."""
    window_us = scenario.record.window_ns / NS_PER_US
    lines = _spans(scenario) + [Line([], FAIR, "level", look={"linestyle": DOTTED})]
    for result in results:
        label = result.variant.label
        windows = jain_windows(result, scenario.record.window_ns, scenario.allow_unfinished)
        lines.append(Line(*_gaps([(begin / NS_PER_US + window_us / 2, index)
                                  for begin, index, _ in windows], window_us),
                          "line", label, label))
    return Chart(f"Fairness among active flows, windows of {window_us:g}\u00a0µs", [
        Facet(lines, chart.time_axis(horizon_ns(results, scenario.windows) / NS_PER_US),
              Axis("Jain index", 0, 1.04))])


def distribution(values, count, name, run=None, **look):
    """Steps of a cumulative distribution of some values, shares of so many."""
    values = sorted(values)
    return Line(values[:1] + values, [0, *((rank + 1) / count for rank in range(len(values)))]
                if values else [], "steps", name, run, look)


def completion(results):
    """Cumulative distribution of the completion times."""
    lines, ends = [], []
    for result in results:
        times = [row.fct_ns / NS_PER_US for row in result.flows if row.finished]
        if times:
            ends += [min(times), max(times)]
            lines.append(distribution(times, len(result.flows), result.variant.label,
                                      result.variant.label))
    return Chart("Distribution of flow completion times", [
        Facet(lines, Axis("Flow completion time (µs)", scale=chart.log(ends, WIDE)),
              Axis("Share of flows", 0, 1.02))])


def slowdown(summaries):
    """Median and tail of the slowdown beside each other, a point at the largest size of a bin."""
    numbers = {label: summary["slowdown"] for label, summary in summaries.items()}
    bins = [one for found in numbers.values() for one in found["bins"] if one["flows"]]
    shown = ["p50", "p99", *["p999"] * all(one["flows"] >= TAIL_FLOWS for one in bins)]
    return Chart("Slowdown by size", list(slowdown_chart.of_run(numbers, "bins", shown)),
                 len(shown), inch=5.2)


def fullest_port(summaries):
    """The switch port with the longest queue of all runs, or None."""
    longest = {}
    for summary in summaries.values():
        for port, queue in summary["queues"].items():
            longest[port] = max(longest.get(port, 0), queue["max_bytes"])
    return max(longest, key=longest.get, default=None)


def _of_runs(title, results, lines_of, end_ns, y, legend=None):
    """A facet for each run on the same axes, with a title of as many lines."""
    remarks = {result.variant.label: late(result, end_ns) for result in results}
    empty = "\n " if any(remarks.values()) else ""
    return Chart(title, [
        Facet(lines_of(result), chart.time_axis(end_ns / NS_PER_US), y,
              result.variant.label + (remarks[result.variant.label] or empty),
              result.variant.label, legend) for result in results])


def queues(results, scenario, summaries):
    """Backlog over time of the port with the longest queue, the same one of every run."""
    port, queue = fullest_port(summaries), scenario.queue
    # The limit is shown unless the queues are always far below.
    top = max((summary["queues"][port]["max_bytes"] for summary in summaries.values()
               if port in summary["queues"]), default=queue.limit_bytes)
    top = queue.limit_bytes if 4 * top > queue.limit_bytes else max(top, 2 * queue.ecn_max_bytes, 1)
    end_ns = horizon_ns(results, scenario.windows)

    def lines(result):
        rows = [(0, 0)] + [row for row in result.queues.get(port, []) if row[0] <= end_ns]
        rows.append((end_ns, rows[-1][1]))
        marks = [Line([], queue.ecn_min_bytes, "level", look={"linestyle": DOTTED})]
        return [Line([time_ns / NS_PER_US for time_ns, _ in rows], [size for _, size in rows],
                     "steps", run=result.variant.label, look={"linestyle": "-", "linewidth": 0.9}),
                Line([], queue.limit_bytes, "level"), *_spans(scenario),
                *(marks if queue.ecn_max_bytes else ())]

    marks = "dotted: ECN threshold" if queue.ecn_max_bytes else "no ECN"
    return _of_runs(f"Queue of switch port {port} (limit {queue.limit_bytes / 1000:g} kB; {marks})",
                    results, lines, end_ns, chart.kilobytes("Queue", 0, top * ROOM))


def _steps(rows, **look):
    return Line([time_ns / NS_PER_US for time_ns, _ in rows], [value for _, value in rows],
                "steps", look.pop("name", ""), look={"linewidth": 0.7, **look})


def _at(rows, times, time_ns):
    """Value of a step function; 0 before its first step."""
    place = bisect.bisect_right(times, time_ns)
    return rows[place - 1][1] if place else 0


def _band(result, lines, end_ns):
    """Median and percentiles of the flows active at each time."""
    steps = [(row.start_ns, result.active_until_ns(row), rows, [time for time, _ in rows])
             for row in result.flows if (rows := lines.get(row.flow.number))]
    times, middles, ends = [], [], []
    for number in range(BAND_POINTS + 1):
        time_ns = end_ns * number // BAND_POINTS
        values = sorted(_at(rows, starts, time_ns) for begin_ns, until_ns, rows, starts in steps
                        if begin_ns <= time_ns < until_ns)
        if values:
            times.append(time_ns / NS_PER_US)
            middles.append(percentile(values, 50))
            ends.append([percentile(values, percent) for percent in BAND])
    return [Line(times, ends, "band", f"{BAND[0]}th to {BAND[1]}th percentile",
                 look={"color": "#777777", "alpha": 0.3, "step": "mid"}),
            Line(times, middles, "line", "median of active flows", look={"color": "#222222"})]


def _named(result):
    """[(which, number)] of the flows that are drawn beside a band."""
    def by_start(row):
        return row.start_ns, row.flow.number
    names = {}
    for name, row in (("first", min(result.flows, key=by_start)),
                      ("last", max(result.flows, key=by_start)),
                      ("slowest", max(result.flows, key=lambda row: result.active_until_ns(row)
                                      - row.start_ns))):
        names.setdefault(row.flow.number, []).append(name)
    return [(f"flow {number}: {' and '.join(which)}", number) for number, which in names.items()]


def flow_lines(result, lines, end_ns):
    """A line for each flow, or those that stand for many; lines: number -> [(time_ns, value)]."""
    if len(lines) <= LINES_MAX:	# from dark for the first to start to light for the last
        order = sorted(result.flows, key=lambda row: (row.start_ns, row.flow.number))
        count = max(len(order) - 1, 1)
        return [_steps(lines[row.flow.number], color=chart.shade(position / count))
                for position, row in enumerate(order) if row.flow.number in lines]
    return _band(result, lines, end_ns) + [
        _steps(lines[number], color=colour, name=name)
        for (name, number), colour in zip(_named(result), NAMED) if number in lines]


def _of_flows(name, results, lines_of, end_ns, y, scenario=None):
    how = ("of every flow (purple: first to start, green: last)"
           if all(len(result.flows) <= LINES_MAX for result in results)
           else f"of the active flows: median, {BAND[0]}th to {BAND[1]}th percentile, some alone")
    spans = _spans(scenario) if scenario else []
    return _of_runs(f"{name} {how}", results,
                    lambda result: flow_lines(result, lines_of(result), end_ns) + spans, end_ns, y,
                    INSIDE)


def windows(results, scenario):
    """Congestion window of the flows, logarithmic above a packet."""
    end_ns = horizon_ns(results, scenario.windows)
    top = max((row[1] for result in results for rows in result.cwnd.values() for row in rows
               if row[0] <= end_ns), default=1)
    return _of_flows("Congestion window", results,
                     lambda result: {number: [row[:2] for row in rows if row[0] <= end_ns]
                                     for number, rows in result.cwnd.items()}, end_ns,
                     chart.kilobytes("Window", 0, top * 1.2,
                                     {"value": "symlog", "linthresh": 1500}))


def rates(results, scenario):
    """The flows' goodput per window, up to the rate of the fastest path."""
    window_ns = scenario.record.window_ns
    line_gbit = max(min(link.rate_bits_ps for link in scenario.links(flow)) for flow in
                    {(flow.src, flow.dst): flow for flow in scenario.flows}.values()) / 1e9
    end_ns = horizon_ns(results, scenario.windows)
    drawn = {}
    for result in results:
        finished = {row.flow.number for row in result.flows if row.finished}
        drawn[result.variant.label] = {
            number: rate_steps(rows, window_ns, end_ns, number in finished)
            for number, rows in result.delivered.items()}
    top = max((value for lines in drawn.values() for rows in lines.values() for _, value in rows),
              default=line_gbit)
    return _of_flows("Goodput", results, lambda result: drawn[result.variant.label], end_ns,
                     Axis("Goodput (Gbit/s)", 0, min(top * ROOM, line_gbit * 1.02)), scenario)


def _join_lines(wanted, result, line_gbit):
    """Rates of the senders around the first joins, and how long that is in microseconds."""
    shown = wanted.joins[:JOINS_MAX]
    begin_ns = max(shown[0].start_ns - (shown[-1].stop_ns - shown[0].start_ns) // 20, 0)
    end_ns = (wanted.joins[JOINS_MAX].start_ns if len(wanted.joins) > JOINS_MAX
              else result.virtual_ns)
    lines = [Line([], value, "level", look={"linestyle": DOTTED})
             for value in (line_gbit, line_gbit / (len(wanted.stays) + 1))]
    for name, colour, flows in (
            ("stays", "#0072b2", [(flow, begin_ns, end_ns) for flow in wanted.stays]),
            ("joins", "#d55e00", [(flow, flow.start_ns, flow.stop_ns) for flow in shown])):
        for flow, from_ns, to_ns in flows:
            steps = Steps(sender_rates(result, flow.number))
            times = [from_ns, *steps.changes(from_ns, to_ns), to_ns]
            lines.append(Line([(time_ns - begin_ns) / NS_PER_US for time_ns in times],
                              [steps.at(time_ns) * 8 / 1e9 for time_ns in times], "steps", name,
                              look={"color": colour, "linewidth": 1}))
    return lines, (end_ns - begin_ns) / NS_PER_US


def joins(scenario, results, summaries):
    """Rates of the senders over time."""
    facets = []
    for result in results:
        label = result.variant.label
        line_gbit = summaries[label]["convergence"]["line_bits_ps"] / 1e9
        lines, length_us = _join_lines(scenario.convergence, result, line_gbit)
        facets.append(Facet(lines, chart.time_axis(length_us, from_ms=math.inf),
                            Axis("Rate (Gbit/s)", 0, line_gbit * 1.25), label, label))
    return Chart("Rates of the senders, around the first joins", facets)


def joins_cdf(results, summaries):
    """Distribution of the time until the rates are equal shares."""
    lines, ends = [], []
    for result in results:
        label = result.variant.label
        found = summaries[label]["convergence"]
        times = [value / found["rtt_ns"] for value in found["of_join_ns"]["rates"]
                 if value is not None]
        ends += [max(time, 0.01) for time in times]
        lines.append(distribution(times, found["joins"], label if times else f"{label}: never",
                                  label))
    scale = chart.log(ends, WIDE)
    is_log = scale["value"] == "log"
    return Chart("Distribution of the time to the fair share", [Facet(
        lines, Axis("Round trips until the senders' rates are equal shares of the line",
                    None if is_log else 0, None if is_log else 2 * max(ends, default=1), scale),
        Axis("Share of joins", 0, 1.02))])


def dart_stem(result):
    """File stem of the figure of who governs: dart, dart-LABEL of a variant with parameters."""
    label = re.sub(r"[^A-Za-z0-9._-]+", "-", result.variant.label)
    return label if label == DART_STEM else f"{DART_STEM}-{label}"


def of_run(scenario, results, summaries):
    """{file stem: function that makes its Chart} of a report, in its order."""
    has_bins = any(one["flows"] for summary in summaries.values() if summary["slowdown"]
                   for one in summary["slowdown"]["bins"])
    has_ends = any(row.finished for result in results for row in result.flows)
    has_bytes = any(result.delivered for result in results)
    known = (
        ("joins", scenario.convergence, lambda: joins(scenario, results, summaries)),
        ("joins-cdf", scenario.convergence, lambda: joins_cdf(results, summaries)),
        ("slowdown", has_bins, lambda: slowdown(summaries)),
        ("fct-cdf", has_ends, lambda: completion(results)),
        ("start-finish", has_ends and len(scenario.flows) <= START_FINISH_MAX
         and len({flow.start_ns for flow in scenario.flows}) > 1,
         lambda: start_finish(results)),
        ("jain", has_bytes, lambda: fairness(results, scenario)),
        ("queue", fullest_port(summaries) is not None,
         lambda: queues(results, scenario, summaries)),
        ("goodput", has_bytes, lambda: rates(results, scenario)),
        ("cwnd", any(result.cwnd for result in results),
         lambda: windows(results, scenario)),
        *((dart_stem(result), result.dart, lambda result=result: dart_chart.make(scenario, result))
          for result in results))
    return own_axes.of_run(scenario, results) | {stem: make for stem, is_there, make in known
                                                 if is_there}
