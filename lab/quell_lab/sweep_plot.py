# SPDX-License-Identifier: GPL-2.0
"""The figure of a sweep: one parameter on the x axis, a curve per algorithm, spread over seeds."""

import math
import textwrap

from matplotlib import pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from . import drawing, units
from .sweep import shown

PANEL_INCHES = (3.7, 2.7)
COLUMNS_MAX = 4
LOG_FROM = 30			# an axis is logarithmic if values differ by so much
LOG_X_FROM = 10
SPREAD_ALPHA = 0.16
# Factor and unit of an axis by the kind of a quantity.
SCALES = {"time": (1e3, " (µs)"), "rate": (1e9, " (Gbit/s)"), "size": (1e3, " (kB)"),
          "number": (1, "")}
LABEL_LETTERS = 28		# of a line of an axis's label


def _plain(text):
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


# How values are read as numbers, the first way in which all can be.
PARSERS = (_plain, units.parse_time, units.parse_size, units.parse_rate)


def positions(values):
    """(where each value is on the x axis, whether that is logarithmic); texts are in a row."""
    texts = [shown(value).strip() for value in values]
    for parse in PARSERS:
        try:
            numbers = [float(parse(text)) for text in texts]
        except ValueError:
            continue
        if len(set(numbers)) == len(numbers) and all(map(math.isfinite, numbers)):
            return numbers, min(numbers) > 0 and max(numbers) >= LOG_X_FROM * min(numbers)
    return [float(number) for number in range(len(texts))], False


def _x_axis(axes, values, name):
    where, is_log = positions(values)
    if is_log:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks(where, [shown(value) for value in values])
    if len(max(map(shown, values), key=len)) * len(values) > 40:
        axes.tick_params(axis="x", rotation=35)
    axes.set_xlabel(name)


def _curve(axes, where, rows, factor, style):
    """Medians, and from the least to the most over seeds; rows: (median, least, most) or None."""
    def line(index):
        return [row[index] / factor if row else math.nan for row in rows]
    middle, low, high = (line(index) for index in (0, 1, 2))
    axes.plot(where, middle, **style)
    if len(where) > 1:
        axes.fill_between(where, low, high, color=style["color"], alpha=SPREAD_ALPHA, linewidth=0)
    axes.errorbar(where, middle, [[m - l for m, l in zip(middle, low)],
                                  [h - m for m, h in zip(middle, high)]], fmt="none",
                  ecolor=style["color"], elinewidth=0.8, capsize=2)


def _y_limits(group, factor, rows):
    """The panels of a quantity have one scale: from 0, or logarithmic."""
    values = [value / factor for row in rows if row for value in row]
    top = max(values, default=1) or 1
    least = min((value for value in values if value > 0), default=top)
    is_log = bool(values) and min(values) > 0 and top > LOG_FROM * least
    for axes in group:
        if is_log:
            axes.set_yscale("log")
            axes.set_ylim(least / 1.5, top * 1.5)
        else:
            axes.set_ylim(0, top * 1.06)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _grid(panels, combos):
    """(figure, axes by panel and combination): combinations beside each other, or the panels."""
    if combos == 1:
        columns, lines_each = min(panels, 2), 1
        rows = -(-panels // columns)
    else:
        columns = min(combos, COLUMNS_MAX)
        lines_each = -(-combos // columns)
        rows = panels * lines_each
    figure, grid = plt.subplots(rows, columns, squeeze=False, layout="constrained", figsize=(
        max(PANEL_INCHES[0] * columns, 5), PANEL_INCHES[1] * rows + 0.5))
    flat = [axes for line in grid for axes in line]
    each = columns * lines_each if combos > 1 else 1
    groups = [flat[number * each:number * each + combos] for number in range(panels)]
    for axes in set(flat) - {axes for group in groups for axes in group}:
        axes.set_visible(False)
    return figure, groups


def _points(axes, sums, panel, of, style):
    """What the paper has of a panel and run, as large hollow marks; rows as those of curves."""
    combo, label = of
    where = dict(zip(sums.x_values, positions(sums.x_values)[0]))
    rows = []
    for point in panel.more.points:
        x = point.at if combo else point.scenario
        if point.run != label or point.value is None or combo and point.scenario != combo[0]:
            continue
        value = float(units.exact(str(point.value), panel.kind)[0])
        axes.plot([where[x]], [value / SCALES[panel.kind][0]], linestyle="none", markersize=9,
                  marker=style["marker"], color=style["color"], markerfacecolor="none")
        rows.append((value, value, value))
    return rows


def _panel(axes, sums, panel, combo, look):
    """Curves of one panel; what it has drawn."""
    factor, unit = SCALES[panel.kind]
    drawn = []
    for label in sums.labels:
        rows = [sums.at(panel, combo, x, label) for x in sums.x_values]
        if any(rows):
            _curve(axes, positions(sums.x_values)[0], rows, factor, _style(look, label))
        drawn += rows + _points(axes, sums, panel, (combo, label), _style(look, label))
    _x_axis(axes, sums.x_values, sums.x_name)
    if sums.combos.index(combo) % COLUMNS_MAX == 0:
        axes.set_ylabel(textwrap.fill(panel.title + unit, LABEL_LETTERS))
    axes.set_title(sums.combo_title(combo))
    return drawn


def draw(sums):
    """
    Figure of a sweep_page.Sums: a panel for each quantity, and beside each other for each
    scenario and each value of the second parameter.
    """
    look = drawing.Look(sums.labels)
    with plt.rc_context(drawing.STYLE):
        figure, groups = _grid(len(sums.panels), len(sums.combos))
        for panel, group in zip(sums.panels, groups):
            drawn = []
            for combo, axes in zip(sums.combos, group):
                drawn += _panel(axes, sums, panel, combo, look)
            _y_limits(group, SCALES[panel.kind][0], drawn)
        last = min(len(sums.combos), COLUMNS_MAX) if len(sums.combos) > 1 else 2
        beside = [axes for group in groups for axes in group][:last][-1]
        beside.legend(handles=[plt.Line2D([], [], label=label, **_style(look, label))
                               for label in sums.labels],
                      loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _style(look, label):
    return {"color": look.colour(label), "linestyle": look.dash(label),
            "marker": look.marker(label), "markersize": 4, "linewidth": 1.3}
