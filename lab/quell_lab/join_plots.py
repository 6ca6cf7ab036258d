# SPDX-License-Identifier: GPL-2.0
"""The figures of joins: rates over time, and how long the senders need."""

from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter

from . import convergence, drawing

WIDE = 20			# times so far apart are on a logarithmic scale
SHOWN = 5			# joins in a panel, as in Figure 9(a) of the Dart paper
SENDERS = (("stays", "#0072b2", "-"), ("joins", "#d55e00", "-"))


def _span_ns(wanted, result):
    """From a little before the first join shown until the one after the last."""
    joins = wanted.joins
    shown = joins[:SHOWN]
    end_ns = joins[SHOWN].start_ns if len(joins) > SHOWN else result.virtual_ns
    length_ns = shown[-1].stop_ns - shown[0].start_ns
    return max(shown[0].start_ns - length_ns // 20, 0), end_ns


def _steps(rows, begin_ns, end_ns):
    """Points of a step function within a span; rows of another time are left out."""
    steps = convergence.Steps(rows)
    times = [begin_ns, *steps.changes(begin_ns, end_ns), end_ns]
    return ([(time_ns - begin_ns) / drawing.NS_PER_US for time_ns in times],
            [steps.at(time_ns) * 8 / 1e9 for time_ns in times])


def _panel(axes, scenario, result, line_gbit):
    wanted = scenario.convergence
    begin_ns, end_ns = _span_ns(wanted, result)
    flows = [(0, flow, begin_ns, end_ns) for flow in wanted.stays]
    flows += [(1, one, one.start_ns, one.stop_ns) for one in wanted.joins[:SHOWN]]
    named = set()
    for kind, flow, from_ns, to_ns in flows:
        name, colour, dash = SENDERS[kind]
        times, values = _steps(convergence.sender_rates(result, flow.number), from_ns, to_ns)
        shift_us = (from_ns - begin_ns) / drawing.NS_PER_US
        axes.plot([time + shift_us for time in times], values, dash, color=colour, linewidth=1,
                  drawstyle="steps-post", label=None if kind in named else name)
        named.add(kind)
    for value in (line_gbit, line_gbit / (len(wanted.stays) + 1)):
        axes.axhline(value, color="#888888", linewidth=0.8, linestyle=(0, (1, 2)))
    axes.set_ylim(0, line_gbit * 1.25)
    axes.set_xlim(0, (end_ns - begin_ns) / drawing.NS_PER_US)
    axes.set_xlabel("Time (µs)")
    axes.set_ylabel("Rate (Gbit/s)")
    axes.set_title(result.variant.label)


def _rates(scenario, results, summaries):
    figures = {}
    for result in results:
        joins = summaries[result.variant.label]["convergence"]
        figure, axes = plt.subplots(figsize=drawing.PANEL_INCH, layout="constrained")
        _panel(axes, scenario, result, joins["line_bits_ps"] / 1e9)
        axes.legend(loc="upper right", ncols=2)
        figures[result.variant.label] = figure
    return drawing.Panels("Rates of the senders, around the first joins", figures)


def _distribution(results, summaries, look):
    figure, axes = plt.subplots(figsize=drawing.FIGURE_INCH, layout="constrained")
    all_times = []
    for result in results:
        label = result.variant.label
        joins = summaries[label]["convergence"]
        times = sorted(value / joins["rtt_ns"] for value in joins["of_join_ns"]["rates"]
                       if value is not None)
        all_times += times
        shares = [(rank + 1) / joins["joins"] for rank in range(len(times))]
        if times:
            axes.plot([times[0]] + times, [0] + shares, look.dash(label), label=label,
                      color=look.colour(label), linewidth=1.4, drawstyle="steps-post",
                      gid=look.series(label))
        else:
            axes.plot([], [], look.dash(label), color=look.colour(label), label=f"{label}: never")
    if all_times and max(all_times) > WIDE * max(min(all_times), 0.01):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda rtts, _: f"{rtts:g}"))
    else:
        axes.set_xlim(0, 2 * max(all_times, default=1))
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("Round trips until the senders' rates are equal shares of the line")
    axes.set_ylabel("Share of joins")
    axes.set_title("Distribution of the time to the fair share")
    axes.legend(**drawing.BELOW)
    return figure


def makers(scenario, results, summaries):
    """{file stem: function that draws its figure}; none where no joins are measured."""
    if scenario.convergence is None:
        return {}
    look = drawing.Look([result.variant.label for result in results])
    return {"joins": lambda: _rates(scenario, results, summaries),
            "joins-cdf": lambda: _distribution(results, summaries, look)}
