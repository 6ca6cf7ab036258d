# SPDX-License-Identifier: GPL-2.0
"""
The one way to draw: a Chart has facets, a Facet tables of points over two axes; svg() draws it.

An algorithm has one colour and marker in all charts.  The first seven colours are Okabe and Ito's.
The others were searched for: any two differ by at least 15 in CIELAB, also with deuteranopia or
protanopia, on light and on dark paper.
"""

import io
import itertools
import math
import re
import textwrap
from dataclasses import dataclass, field, replace

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#553333",
           "#002299", "#005500", "#8877ff", "#11aa55")
MARKERS = "osD^vPX*<>ph"
DASHES = ("-", "--", "-.", ":")
# Numbers of style() and marker()
NUMBERS = {"cubic": 0, "dctcp": 1, "swift": 2, "hpcc": 3, "smartt": 4, "dart": 5, "timely": 6,
           "dcqcn": 7, "bbr": 8, "swift_vaisf": 9, "hpcc_vaisf": 10, "reno": 11}
GREY = "#888888"
DOTTED = (0, (1, 2))
POINTS_MAX = 12000		# of all lines of a facet: more only makes the file larger
LINE_POINTS = (100, 3000)	# of one line
FACET_INCH = (4.6, 2.9)
NARROW_INCH = 3.9
NARROW_LETTERS = (44, 36)	# of a line of its title, and of a facet's
SINGLE = 1.22			# a chart of one facet is so much larger than one of several
LEGEND_INCH = 0.2		# a row of the legend below
LEGEND_COLUMNS = {1: 3}		# at most, by columns of facets
LEGEND_LETTERS = (14, 5)	# in an inch, and instead of a line and the space beside a name
PT_PER_INCH = 72
PLACE_DIGITS = 6		# of axes' places, as parts of the figure
WIDE_PT = 500			# a wider figure takes the width of a page
# Ticks of a logarithmic axis up to this ratio of its ends: even steps, or these multiples.
LOG_TICKS = ((5, None), (20, (1, 2, 3, 5, 7)), (1000, (1, 2, 5)), (math.inf, (1,)))
EVEN_STEPS = (1, 2, 2.5, 5, 10)
STYLE = {"font.family": "DejaVu Sans", "font.size": 9, "axes.titlesize": 10,
         "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
         "grid.color": "#e4e4e4", "grid.linewidth": 0.6, "axes.axisbelow": True,
         "legend.frameon": False, "svg.hashsalt": "quell", "path.simplify": True,
         "pdf.fonttype": 42}
INSIDE = {"loc": "upper right", "fontsize": 7, "frameon": True, "framealpha": 0.8,
          "edgecolor": "none"}		# legends of a facet
BESIDE = {"loc": "center left", "bbox_to_anchor": (1, 0.5), "fontsize": 8}
BELOW = {"loc": "center right", "fontsize": 8, "ncols": 2, "columnspacing": 1, "handlelength": 1.2}


@dataclass(frozen=True)
class Line:
    """
    Points of one kind.  Without a colour in look the run's, and with a run its dashes, too.

    kind: "steps", "line", "points", "level" (ys: one value), "span" (xs: its two ends), "band" (ys:
    (low, high) of each x), "bars" (xs: (begin, width, colour), ys: the row), "boxes" (ys: samples
    at each x), "texts" (name of each point in look)
    """

    xs: list
    ys: list
    kind: str = "steps"
    name: str = ""		# in the legend
    run: object = None		# label of the algorithm: colour, and the box that hides the line
    look: dict = field(default_factory=dict)	# properties of matplotlib


@dataclass(frozen=True)
class Axis:
    """One of two; low, high: None, as the points need."""

    name: str = ""
    low: object = None
    high: object = None
    scale: dict = field(default_factory=lambda: {"value": "linear"})
    show: object = "{:g}".format	# text of a value
    ticks: tuple = ()		# (positions, texts) instead


@dataclass(frozen=True)
class Facet:
    """One pair of axes."""

    lines: list
    x: Axis
    y: Axis
    title: str = ""
    run: object = None		# label of the algorithm that it is of
    legend: object = None	# INSIDE, BESIDE, or None: in the chart's
    inch: float = FACET_INCH[1]	# height
    has_axes: bool = True


@dataclass(frozen=True)
class Chart:
    """Facets, so many beside each other, row by row."""

    title: str
    facets: list		# row by row; None: an empty place
    columns: int = 2
    inch: float = FACET_INCH[0]	# width of a column

    @property
    def is_wide(self):
        """Whether it takes the width of a page."""
        scale = SINGLE if len(self.facets) == 1 else 1
        return min(self.columns, len(self.facets)) * self.inch * scale * PT_PER_INCH > WIDE_PT


def _wrapped(text, letters):
    return "\n".join(textwrap.fill(line, letters) for line in text.split("\n"))


def _narrow(facet):
    """A facet in lines for a phone; a legend beside it becomes one of its own, below."""
    letters = NARROW_LETTERS[1]
    facet = replace(facet, title=_wrapped(facet.title, letters),
                    x=replace(facet.x, name=_wrapped(facet.x.name, letters)))
    named = [replace(line, xs=[], ys=[]) for line in facet.lines if line.name]
    if facet.legend is not BESIDE or not named:
        return [facet]
    rows = -(-len(named) // BELOW["ncols"])
    return [replace(facet, lines=[replace(line, name="") for line in facet.lines], legend=None),
            Facet(named, Axis(), Axis(), legend=BELOW, inch=LEGEND_INCH * rows, has_axes=False)]


def stacked(wide):
    """The same facets below each other, for the width of a phone."""
    facets = [part for facet in wide.facets if facet for part in _narrow(facet)]
    return replace(wide, facets=facets, columns=1, title=_wrapped(wide.title, NARROW_LETTERS[0]),
                   inch=NARROW_INCH / (SINGLE if len(facets) == 1 else 1))


def log(values, factor):
    """The scale of an axis: logarithmic where positive values differ by more than a factor."""
    values = list(values)
    is_log = bool(values) and min(values) > 0 and max(values) > factor * min(values)
    return {"value": "log" if is_log else "linear"}


def numbers(labels):
    """{label: number}: an algorithm's own everywhere, of others the first with a free colour."""
    own = {label: NUMBERS[label] for label in labels if label in NUMBERS}
    used = {number % len(COLOURS) for number in own.values()}
    free = itertools.chain((number for number in range(len(COLOURS)) if number not in used),
                           itertools.count(max(NUMBERS.values()) + 1))
    return {label: own[label] if label in own else next(free) for label in labels}


def style(number):
    """Colour and dashes of the algorithm, or curve, with a number."""
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}


def on_dark(colour):
    """A colour on dark paper: inverted, the hue kept, as templates/page.css does it by a filter."""
    red, green, blue = (255 - int(colour[place:place + 2], 16) for place in (1, 3, 5))
    twice = 2 * (0.213 * red + 0.715 * green + 0.072 * blue)
    return "#" + "".join(f"{min(max(round(twice - one), 0), 255):02x}"
                         for one in (red, green, blue))


def marker(number):
    """Shape of its points."""
    return MARKERS[number % len(MARKERS)]


def series(number):
    """The class by which a page hides all of it."""
    return f"cc{number}"


def time_axis(end_us, name="Time", from_ms=20000):
    """From 0 to the end; microseconds, or milliseconds where the end is late."""
    if end_us < from_ms:
        return Axis(f"{name} (µs)", 0, end_us)
    return Axis(f"{name} (ms)", 0, end_us, show=lambda us, _=None: f"{us / 1000:g}")


def kilobytes(name, low=0, high=None, scale=None):
    """A vertical axis of bytes."""
    return Axis(f"{name} (kB)", low, high, scale or {"value": "linear"},
                lambda size: f"{size / 1000:g}")


def thin(xs, ys, points):
    """At most so many points, keeping the extremes of each stretch."""
    if len(xs) <= points or any(map(math.isnan, ys)):
        return xs, ys
    stretch = -(-len(xs) * 2 // points)
    kept = set()
    for begin in range(0, len(xs), stretch):
        part = range(begin, min(begin + stretch, len(xs)))
        kept |= {min(part, key=ys.__getitem__), max(part, key=ys.__getitem__)}
    order = sorted(kept)
    return [xs[i] for i in order], [ys[i] for i in order]


def _draw_line(axes, line, look, points):
    """One Line by matplotlib; its artists."""
    xs, ys = line.xs, line.ys
    if line.kind in ("steps", "line"):
        xs, ys = thin(xs, ys, points)
        return axes.plot(xs, ys, drawstyle="steps-post" if line.kind == "steps" else "default",
                         **{"linewidth": 1.2, **look})
    if line.kind == "points":
        every = max(len(xs) // points, 1)
        return axes.plot(xs[::every], ys[::every], **{
            "marker": "o", "markersize": 5, "markerfacecolor": "none", "clip_on": not xs, **look,
            "linestyle": "none"})
    if line.kind == "level":
        return [axes.axhline(ys, **{"linewidth": 0.8, "color": GREY, **look})]
    if line.kind == "span":
        return [axes.axvspan(*xs, color="#000000", alpha=0.06, linewidth=0)]
    if line.kind == "band":
        look = {key: value for key, value in look.items() if key != "linestyle"}
        return [axes.fill_between(xs, [low for low, _ in ys], [high for _, high in ys],
                                  **{"alpha": 0.2, "linewidth": 0, **look})]
    if line.kind == "bars":
        return [axes.broken_barh([(begin, width) for begin, width, _ in xs], (ys - 0.4, 0.8),
                                 facecolors=[colour for *_, colour in xs], linewidth=0)]
    if line.kind == "boxes":
        axes.boxplot(ys, positions=xs, manage_ticks=False, whis=1.2, flierprops={"markersize": 2},
                     **look)
        return []
    return [axes.text(x, y, text, ha="center", va="center", fontsize=7)
            for x, y, text in zip(xs, ys, look["texts"])]


def _set_axis(axes, which, axis):
    """Scale, ends, name and ticks of the horizontal ("x") or the vertical axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
    limits = getattr(axes, f"set_{which}lim")
    getattr(axes, f"set_{which}scale")(**axis.scale)
    limits(axis.low, axis.high)
    getattr(axes, f"set_{which}label")(axis.name)
    if axis.ticks:
        getattr(axes, f"set_{which}ticks")(*axis.ticks)
        getattr(axes, f"{which}axis").set_minor_locator(NullLocator())
        if which == "x" and max(map(len, axis.ticks[1])) * len(axis.ticks[1]) > 40:
            axes.tick_params(axis="x", rotation=35)
        return
    one = getattr(axes, f"{which}axis")
    one.set_major_formatter(FuncFormatter(lambda value, _: axis.show(value)))
    if axis.scale["value"] == "log":
        low, high = getattr(axes, f"get_{which}lim")()
        steps = next(steps for ratio, steps in LOG_TICKS if high <= ratio * low)
        one.set_major_locator(LogLocator(subs=steps) if steps else MaxNLocator(5, steps=EVEN_STEPS))
        one.set_minor_locator(NullLocator())


def _draw_facet(axes, facet, runs, count):
    """Fill the axes of a facet; count numbers artists, whose names must differ."""
    points = min(max(POINTS_MAX // max(len(facet.lines), 1), LINE_POINTS[0]), LINE_POINTS[1])
    for line in facet.lines:
        look = {**(style(runs[line.run]) if line.run in runs else {}), **line.look}
        for artist in _draw_line(axes, line, look, points):
            artist.set_label(line.name or "_")
            if line.run in runs:
                artist.set_gid(f"{series(runs[line.run])}_{next(count)}")
    _set_axis(axes, "x", facet.x)
    _set_axis(axes, "y", facet.y)
    if any(line.kind == "bars" for line in facet.lines):
        axes.grid(False)
    axes.set_title(facet.title)
    if facet.run in runs:
        axes.set_gid(f"{series(runs[facet.run])}_{next(count)}")
    if not facet.has_axes:
        axes.set_axis_off()
    if facet.legend and axes.get_legend_handles_labels()[0]:
        axes.legend(**facet.legend)


def pyplot():
    """Matplotlib, which takes half a second to load: not for tables alone."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    return plt


def shade(part):
    """A colour from dark, 0, to light, 1."""
    from matplotlib import colormaps
    return colormaps["viridis"](0.15 + 0.72 * part)


def figure(chart, runs=()):
    """Matplotlib's figure of a chart; runs: labels of the algorithms in the report's order."""
    plt = pyplot()
    runs = numbers(runs)
    columns = min(chart.columns, len(chart.facets))
    rows = [chart.facets[first:first + columns]
            for first in range(0, len(chart.facets), columns)]
    heights = [max(facet.inch for facet in row if facet) for row in rows]
    scale = SINGLE if len(chart.facets) == 1 else 1
    with plt.rc_context(STYLE):
        drawn, grid = plt.subplots(
            len(rows), columns, squeeze=False, layout="constrained", gridspec_kw={
                "height_ratios": heights})
        flat = [axes for line in grid for axes in line]
        count = itertools.count()
        names = {}
        for facet, axes in itertools.zip_longest(chart.facets, flat):
            if facet is None:
                axes.set_visible(False)
                continue
            _draw_facet(axes, facet, runs, count)
            if not facet.legend:
                for handle, name in zip(*axes.get_legend_handles_labels()):
                    names.setdefault(name, handle)
        fit = int(columns * chart.inch * scale * LEGEND_LETTERS[0]) // (
            max(map(len, names), default=0) + LEGEND_LETTERS[1])
        ncols = min(LEGEND_COLUMNS.get(columns, 6), max(fit, 1))
        below = LEGEND_INCH * -(-len(names) // ncols) + 0.05 if names else 0
        height = sum(heights) * scale + below + 0.3 * (len(chart.facets) > 1)
        drawn.set_size_inches(columns * chart.inch * scale, height)
        drawn.get_layout_engine().set(rect=(0, below / height, 1, 1 - below / height))
        if names:
            drawn.legend(names.values(), names, loc="lower center", ncols=ncols)
        if len(chart.facets) > 1:
            drawn.suptitle(chart.title, fontsize=11)
        elif chart.title:
            flat[0].set_title(chart.title + (f"\n{chart.facets[0].title}"
                                             if chart.facets[0].title else ""))
        # The layout's solver orders by address: the last bits differ from process to process.
        drawn.get_layout_engine().execute(drawn)
        drawn.set_layout_engine(None)
        for axes in flat:
            axes.set_position([round(value, PLACE_DIGITS)
                               for value in axes.get_position().bounds])
    return drawn


def svg(chart, runs=(), title=None):
    """SVG text of a chart, the same for the same chart."""
    buffer = io.StringIO()
    plt = pyplot()
    drawn = figure(chart, runs)
    with plt.rc_context(STYLE):
        drawn.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None,
                                                      "Title": title or chart.title})
    plt.close(drawn)
    return buffer.getvalue()


def write_pdf(path, chart, runs=(), title=None):
    """Write a chart as PDF with its fonts, the same for the same chart."""
    plt = pyplot()
    drawn = figure(chart, runs)
    with plt.rc_context(STYLE):
        drawn.savefig(path, format="pdf", metadata={"CreationDate": None, "Creator": None,
                                                    "Producer": None,
                                                    "Title": title or chart.title})
    plt.close(drawn)


def width_pt(text):
    """Width of an SVG that svg() made."""
    return float(re.search(r'<svg [^>]*\bwidth="([0-9.]+)pt"', text)[1])


def inline(text, prefix):
    """The <svg> element alone, without a background, ids made unique so that several share one
    page; what has the id of a series gets it as class."""
    body = text[text.index("<svg"):].replace("fill: #ffffff", "fill: none")
    body = re.sub(r'\bid="(cc[0-9]+)_[0-9]+"', r'class="\1"', body)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', body)
    body = re.sub(r'="#([^"]+)"', rf'="#{prefix}-\1"', body)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", body)
