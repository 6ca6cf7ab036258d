# SPDX-License-Identifier: GPL-2.0
"""The figure of slowdown by size: median and tail beside each other, one point a bin."""

from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from .slowdown import size_name

PANELS = (("p50", "Median"), ("p999", "99.9th percentile"))
LEGEND_COLUMNS = 6
LEGEND_ROW = 0.07		# of the height
TAIL_FLOWS = 1000		# of fewer, the 99.9th percentile by nearest rank is the slowest
# Ticks of an axis up to so much, None: at even steps.
TICKS = ((5, None), (20, (1, 2, 3, 5, 7)), (float("inf"), (1, 2, 5)))


def tail_remark(bins):
    """What the 99.9th percentile of these bins is, where it is the slowest flow; else ''."""
    few = [one["flows"] < TAIL_FLOWS for one in bins]
    if not any(few):
        return ""
    return ("\n(the slowest flow: a point has fewer than 1000)" if all(few) else
            "\n(the slowest flow where a point has fewer than 1000)")


def _slowdown_axis(axes):
    """A logarithmic axis from 1 on, with more than two labels."""
    axes.set_yscale("log")
    axes.set_ylim(bottom=1)
    steps = next(steps for top, steps in TICKS if axes.get_ylim()[1] <= top)
    axes.yaxis.set_major_locator(LogLocator(subs=steps) if steps else MaxNLocator(5))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_ylabel("Slowdown")


def draw(summaries, look):
    """Figure of all algorithms; a point is at the largest size of its bin."""
    figure, panels = plt.subplots(1, 2, figsize=(10.4, 3.6), layout="constrained")
    drawn = [one for summary in summaries.values() for one in summary["slowdown"]["bins"]
             if one["flows"]]
    for axes, (name, title) in zip(panels, PANELS):
        for label, summary in summaries.items():
            bins = [one for one in summary["slowdown"]["bins"] if one["flows"]]
            axes.plot([one["to_bytes"] for one in bins], [one[name] for one in bins],
                      look.dash(label), color=look.colour(label), marker=look.marker(label),
                      markersize=3.5, linewidth=1.2, gid=look.series(label),
                      label=label)
        axes.set_xscale("log")
        _slowdown_axis(axes)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: size_name(round(size))))
        axes.set_xlabel("Flow size")
        axes.set_title(title + (tail_remark(drawn) if name == "p999" else ""))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center",
                  ncols=LEGEND_COLUMNS)
    below = LEGEND_ROW * -(-len(summaries) // LEGEND_COLUMNS) + 0.02
    figure.get_layout_engine().set(rect=(0, below, 1, 1 - below))
    return figure
