# SPDX-License-Identifier: GPL-2.0
"""The figure of slowdown by size: median and tail beside each other, one point a bin."""

from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from .slowdown import size_name

PANELS = (("p50", "Median"), ("p999", "99.9th percentile"))


def draw(summaries, look):
    """Figure of all algorithms; a point is at the largest size of its bin."""
    figure, panels = plt.subplots(1, 2, figsize=(10.4, 3.6), layout="constrained")
    for axes, (name, title) in zip(panels, PANELS):
        for label, summary in summaries.items():
            bins = [one for one in summary["slowdown"]["bins"] if one["flows"]]
            axes.plot([one["to_bytes"] for one in bins], [one[name] for one in bins],
                      look.dash(label), color=look.colour(label), marker=look.marker(label),
                      markersize=3.5, linewidth=1.2, label=label)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(bottom=1)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: size_name(round(size))))
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlabel("Flow size")
        axes.set_ylabel("Slowdown")
        axes.set_title(title)
    panels[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
