# SPDX-License-Identifier: GPL-2.0
"""A scenario's network as a chart: hosts below, switches above them by tier."""

import math
from statistics import mean

from . import chart
from .chart import Axis, Chart, Facet, Line

WIDTH = 960
TIER_HEIGHT = 84
BOW_MAX = 40
INCH = 8
LABELS_MAX = {False: 34, True: 14}	# by whether it is narrow; more nodes of a tier have no names
INK, SOFT, HOT, SLOW = "#1b1f24", "#8a94a0", "#d55e00", "#cc79a7"


def tiers(graph):
    """[[nodes]], hosts first; a switch is as high as it is far from the nearest host."""
    level = graph.levels()
    found = [[] for _ in range(max(level.values()) + 1)]
    for node in graph.nodes:
        if node in level:	# else a switch that no host can reach
            found[level[node]].append(node)
    return found


def places(graph):
    """{node: (x, y)}; a switch stands above the middle of what it has below it."""
    at = {}
    for number, row in enumerate(tiers(graph)):
        def middle(node):
            below = [at[port.peer][0] for port in graph.ports[node] if port.peer in at]
            return mean(below) if below else 0

        step = WIDTH / len(row)
        for position, node in enumerate(row if number == 0 else sorted(row, key=middle)):
            at[node] = (step * (position + 0.5), TIER_HEIGHT * number)
    return at


def _cables(cables, at, **look):
    """Straight lines, and bows above those of a tier that may be between two of it."""
    points = []
    for cable in cables:
        one, other = at[cable.a], at[cable.b]
        bow = min(abs(one[0] - other[0]) / 8, BOW_MAX)
        middle = [((one[0] + other[0]) / 2, one[1] + bow)] if one[1] == other[1] else []
        points += [one, *middle, other, (math.nan, math.nan)]
    return Line(*([point[column] for point in points] for column in (0, 1)), "line",
                look.pop("name", ""), look=look)


def _slower(graph, at):
    """Cables with less than the rate of the fastest one between the same tiers."""
    def kind(cable):
        return tuple(sorted((at[cable.a][1], at[cable.b][1])))

    fastest = {}
    for cable in graph.cables:
        fastest[kind(cable)] = max(cable.rate_bits_ps, fastest.get(kind(cable), 0))
    return [cable for cable in graph.cables if cable.rate_bits_ps < fastest[kind(cable)]]


def make(graph, hot=None, is_narrow=False):
    """The Chart; hot: label of a port, of which the cable is drawn thick, or None; is_narrow: for
    phones."""
    at = places(graph)
    drawn = [cable for cable in graph.cables if cable.a in at and cable.b in at]
    lines = [_cables(drawn, at, color=SOFT, linewidth=0.8)]
    slower = [cable for cable in _slower(graph, at) if cable in drawn]
    marked = [port.cable for ports in graph.ports.values() for port in ports if port.label == hot]
    if slower:
        lines.append(_cables(slower, at, color=SLOW, linestyle="--", linewidth=1.6,
                             name="slower than others of its tier"))
    if marked:
        lines.append(_cables(marked, at, color=HOT, linewidth=2.5,
                             name=f"port {hot}, the longest queue"))
    for row in tiers(graph):
        is_named = len(row) <= LABELS_MAX[is_narrow]
        look = {"marker": "o" if graph.is_host(row[0]) else "s", "color": INK, "zorder": 3,
                "markerfacecolor": SOFT if graph.is_host(row[0]) else INK,
                "markersize": 6 if is_named else 2}
        xs, ys = zip(*(at[node] for node in row))
        lines.append(Line(xs, ys, "points", look=look))
        if is_named:
            shift = -16 if graph.is_host(row[0]) else 16
            lines.append(Line(xs, [y + shift for y in ys], "texts", look={"texts": row}))
    top = max(y for _, y in at.values()) + 40
    return Chart("", [Facet(lines, Axis("", 0, WIDTH), Axis("", -30, top),
                            inch=top / 90 + 0.3, has_axes=False)], 1,
                 chart.NARROW_INCH / chart.SINGLE if is_narrow else INCH)
