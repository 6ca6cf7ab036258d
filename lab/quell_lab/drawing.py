# SPDX-License-Identifier: GPL-2.0
"""What all figures share: their look, their axes, and SVG text.

One figure shows every algorithm, each in its own colour throughout.  Colours
are Okabe and Ito's, told apart by colour-blind readers too; line styles and
markers differ as well.
"""

import html
import io
import re
from dataclasses import dataclass

import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter  # noqa: E402

from . import units  # noqa: E402

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = "osD^vPX*"		# not as many as colours: both together tell more apart
DASHES = ("-", "--", "-.", ":")
POINTS_MAX = 3000		# of one line: more only makes the file larger
HORIZON = 2			# time axes end at the last completion within so many times the median
NS_PER_US = 1000
MILLISECONDS_FROM_US = 20000	# axes as long as this are in milliseconds
PANEL_INCH = (4.6, 2.9)
FIGURE_INCH = (5.6, 3.6)	# of a figure without panels
PT_PER_INCH = 72
TITLE_PT = 22			# above the panels
BELOW = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "ncols": 3}	# place of a legend
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

    def series(self, label):
        """Name of what is drawn of a label, by which a page hides it."""
        return f"cc{self.numbers[label]}"


@dataclass(frozen=True)
class Panels:
    """One figure that has a panel per algorithm."""

    title: str
    figures: dict		# label -> figure


def horizon_ns(results):
    """
    Where the time axis of these results ends: for each its last completion not
    later than HORIZON times its median one, of all the latest.  A flow that
    waited out a retransmission timeout would otherwise press everything else
    against the axis.  A flow cut short by the end of the run counts as ending then.
    """
    latest_ns = 1
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


def mark_windows(axes, scenario):
    """The measured windows, shaded."""
    for window in scenario.windows:
        axes.axvspan(window.begin_ns / NS_PER_US, window.end_ns / NS_PER_US, color="#000000",
                     alpha=0.06, linewidth=0)


def thin(times, values, points=POINTS_MAX):
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


def time_axis(axes, end_us):
    """From 0 to the end; microseconds, or milliseconds when the run is long."""
    axes.set_xlim(0, end_us)
    if end_us >= MILLISECONDS_FROM_US:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda us, _: f"{us / 1000:g}"))
        axes.set_xlabel("Time (ms)")
    else:
        axes.set_xlabel("Time (µs)")


def kilobytes(axes, label):
    """A vertical axis of bytes."""
    axes.set_ylabel(label)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size / 1000:g}"))


def to_svg(figure, title):
    """SVG text of a figure, the same for the same figure."""
    buffer = io.StringIO()
    with plt.rc_context(STYLE):
        figure.savefig(buffer, format="svg",
                       metadata={"Date": None, "Creator": None, "Title": title})
    return buffer.getvalue()


def compose(title, svgs):
    """One SVG text of several of the same size, at most two beside each other, under a title."""
    width, height = (round(inch * PT_PER_INCH) for inch in PANEL_INCH)
    columns = min(len(svgs), 2)
    rows = -(-len(svgs) // columns)
    boxes = []
    for number, svg in enumerate(svgs):
        body = re.sub(r'^<svg[^>]*viewBox="([^"]+)"[^>]*>', r'<svg viewBox="\1" %s>' % (
            f'x="{number % columns * width}" y="{TITLE_PT + number // columns * height}" '
            f'width="{width}" height="{height}"'), inline(svg, f"p{number}"))
        boxes.append(body)
    total = (columns * width, TITLE_PT + rows * height)
    return "".join([
        '<?xml version="1.0" encoding="utf-8" standalone="no"?>\n',
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'width="{total[0]}pt" height="{total[1]}pt" viewBox="0 0 {total[0]} {total[1]}">\n'
        f"<title>{html.escape(title)}</title>\n"
        '<rect width="100%" height="100%" style="fill: #ffffff"/>\n'
        f'<text x="{total[0] / 2:g}" y="14" font-size="12" text-anchor="middle" '
        f'font-family="DejaVu Sans, sans-serif">{html.escape(title)}</text>\n', *boxes,
        "</svg>\n"])


def inline(svg, prefix):
    """The <svg> element alone, without a background, ids made unique so that several share one
    page; what has the id of a series gets it as class."""
    body = svg[svg.index("<svg"):].replace("fill: #ffffff", "fill: none")
    body = re.sub(r'\bid="(cc[0-9]+)"', r'class="\1"', body)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', body)
    body = re.sub(r'="#([^"]+)"', rf'="#{prefix}-\1"', body)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", body)
