# SPDX-License-Identifier: GPL-2.0
"""A scenario's network as a drawing: hosts below, switches above them by tier."""

import html
from statistics import mean

WIDTH = 960
MARGIN = 30
TIER_HEIGHT = 84
BOW_MAX = 40
LABELS_MAX = 34			# more nodes of a tier have no names
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
    rows = tiers(graph)
    at = {}
    for number, row in enumerate(rows):
        def middle(node):
            below = [at[port.peer][0] for port in graph.ports[node] if port.peer in at]
            return mean(below) if below else 0

        ordered = row if number == 0 else sorted(row, key=middle)
        step = (WIDTH - 2 * MARGIN) / len(ordered)
        for position, node in enumerate(ordered):
            at[node] = (MARGIN + step * (position + 0.5),
                        MARGIN + TIER_HEIGHT * (len(rows) - 1 - number))
    return at


def _way(one, other):
    """A straight line, or a bow above those of a tier that may be between two of it."""
    begin = f"M{one[0]:.1f} {one[1]:g}"
    if one[1] != other[1]:
        return f"{begin}L{other[0]:.1f} {other[1]:g}"
    top = one[1] - min(abs(one[0] - other[0]) / 8, BOW_MAX)
    return f"{begin}Q{(one[0] + other[0]) / 2:.1f} {top:g} {other[0]:.1f} {other[1]:g}"


def _lines(cables, at, **look):
    if not cables:
        return ""
    path = "".join(_way(at[cable.a], at[cable.b]) for cable in cables)
    words = " ".join(f'{key.replace("_", "-")}="{value}"' for key, value in look.items())
    return f'<path d="{path}" fill="none" {words}/>'


def _slower(graph, at):
    """Cables with less than the rate of the fastest one between the same tiers."""
    def kind(cable):
        return tuple(sorted((at[cable.a][1], at[cable.b][1])))

    fastest = {}
    for cable in graph.cables:
        fastest[kind(cable)] = max(cable.rate_bits_ps, fastest.get(kind(cable), 0))
    return [cable for cable in graph.cables if cable.rate_bits_ps < fastest[kind(cable)]]


def _nodes(graph, at):
    parts = []
    for row in tiers(graph):
        named = len(row) <= LABELS_MAX
        for node in row:
            x, y = at[node]
            if graph.is_host(node):
                parts.append(f'<circle cx="{x:.1f}" cy="{y:g}" r="{5 if named else 2.5}" '
                             f'fill="{SOFT}"/>')
            else:
                parts.append(f'<rect x="{x - 9:.1f}" y="{y - 6:g}" width="18" height="12" rx="2" '
                             f'fill="{INK}"/>')
            if named:
                below = y + 18 if graph.is_host(node) else y - 10
                parts.append(f'<text x="{x:.1f}" y="{below:g}">{html.escape(node)}</text>')
    return parts


def draw(graph, hot=None):
    """SVG text; hot: label of a port whose cable is drawn thick, or None."""
    at = places(graph)
    height = 2 * MARGIN + TIER_HEIGHT * (len(tiers(graph)) - 1)
    drawn = [cable for cable in graph.cables if cable.a in at and cable.b in at]
    slower = [cable for cable in _slower(graph, at) if cable in drawn]
    marked = [port.cable for ports in graph.ports.values() for port in ports if port.label == hot]
    return "".join([
        f'<svg class="network" role="img" aria-label="The network" viewBox="0 0 {WIDTH} {height}" '
        'font-family="DejaVu Sans, sans-serif" font-size="10" text-anchor="middle" '
        f'fill="{INK}">', _lines(drawn, at, stroke=SOFT, stroke_width=1, stroke_opacity=0.6),
        _lines(slower, at, stroke=SLOW, stroke_width=2, stroke_dasharray="5 3"),
        _lines(marked, at, stroke=HOT, stroke_width=3), *_nodes(graph, at), "</svg>"])
