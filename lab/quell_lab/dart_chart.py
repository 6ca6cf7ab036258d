# SPDX-License-Identifier: GPL-2.0
"""The chart of a run of Dart: rates, n, and who governs, over one axis of time."""

import math

from . import chart, governs
from .chart import BESIDE, Axis, Chart, Facet, Line
from .rates import rate_steps

NS_PER_US = 1000
LANES_MAX = 24			# of one facet: more cannot be told apart
BINS = 900			# of a band
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#888888")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)))
# No congestion or the line: pale.  The receiver's n: blue.  DCQCN: orange.
BANDS = ("#dcdfe3", "#5aa5d8", "#e8853d")
STATE_KEY = ("No Congestion", "Receiver Congestion", "Non-Receiver Congestion")
LIMITER_KEY = ("nothing: line rate", "n of the receiver", "DCQCN")


def _bins(spans, end_ns):
    """The value that held longest in each of BINS parts of the time; neighbours joined."""
    held = [[0] * len(BANDS) for _ in range(BINS)]
    width = max(end_ns / BINS, 1)
    for begin, end, value in spans:
        place = int(begin / width)
        while place < BINS and place * width < end:
            held[place][value] += min(end, (place + 1) * width) - max(begin, place * width)
            place += 1
    joined = []
    for place, sums in enumerate(held):
        if not sum(sums):
            continue
        value = sums.index(max(sums))
        if joined and joined[-1][2] == value and joined[-1][1] == place:
            joined[-1][1] = place + 1
        else:
            joined.append([place, place + 1, value])
    return [(begin * width, (end - begin) * width, value) for begin, end, value in joined]


def _bands(named, x, end_ns, key, title):
    """One band a name, the first on top; key has the words of the colours."""
    bars = [Line([(begin / NS_PER_US, width / NS_PER_US, BANDS[value])
                  for begin, width, value in _bins(spans, end_ns)], row, "bars")
            for row, spans in enumerate(named.values())]
    bars += [Line([], [], "band", word, look={"color": colour, "alpha": 1})
             for colour, word in zip(BANDS, key)]
    return Facet(bars, x, Axis("", len(named) - 0.5, -0.5, ticks=(range(len(named)), list(named))),
                 title, legend=BESIDE, inch=max(0.21 * len(named), 0.55) + 0.5)


def name(lane):
    """'1: h1 → h3', of two flows '1, 4: h1 → h3', of more '1, 4, …: h1 → h3'."""
    numbers = [str(row.flow.number) for row in lane[:2]] + ["…"] * (len(lane) > 2)
    return f"{', '.join(numbers)}: {lane[0].flow.src} → {lane[0].flow.dst}"


def _rates(scenario, result, lanes, x, end_ns):
    """The rates of the flows of each lane, with a gap after each."""
    window_ns = scenario.record.window_ns
    lines = []
    for position, lane in enumerate(lanes):
        steps = []
        for row in lane:
            steps += rate_steps(result.delivered.get(row.flow.number, ()), window_ns, end_ns,
                                row.finished)
            steps += [(steps[-1][0], math.nan)] if steps else []
        lines.append(Line([time / NS_PER_US for time, _ in steps], [rate for _, rate in steps],
                          name=name(lane), look={
                              "color": COLOURS[position % len(COLOURS)],
                              "linestyle": DASHES[position // len(COLOURS) % len(DASHES)]}))
    top = max(cable.rate_bits_ps for cable in scenario.graph.cables) / 1e9 * 1.04
    return Facet(lines, x, Axis("Gbit/s", 0, top),
                 f"Goodput of each flow, windows of {window_ns / NS_PER_US:g} µs", legend=BESIDE,
                 inch=max(2.0, 0.18 * len(lanes)) + 0.5)


def _counts(result, x, end_ns):
    """n as receivers count it, dotted, and as senders heard it: the largest of those active."""
    lines, top = [], 2
    for column, word, look in ((governs.COUNTED, "counted", {"linestyle": (0, (1, 1.2)),
                                                             "linewidth": 1.6}),
                               (governs.TOLD, "stated", {})):
        for position, (host, found) in enumerate(governs.extremes(result, column).items()):
            look = {**look, "color": COLOURS[position % len(COLOURS)]}
            steps = [(time_ns / NS_PER_US, low / governs.ONE_Q8 or math.nan,
                      high / governs.ONE_Q8 or math.nan)
                     for time_ns, low, high in [*found, (end_ns, *found[-1][1:])]]
            times = [time for time, _, _ in steps]
            lines.append(Line(times, [high for *_, high in steps], name=f"{host} {word}",
                              look=look))
            if word == "stated":
                lines.append(Line(times, [step[1:] for step in steps], "band",
                                  look={"color": look["color"], "step": "post"}))
            top = max([top, *(high for *_, high in steps if high == high)])
    return Facet(lines, x, Axis("n", 0, top * 1.15),
                 "Largest n at each receiver: counted, and stated to its senders "
                 "(shaded: down to the smallest)", legend=BESIDE, inch=1.6)


def make(scenario, result):
    """The Chart of one run."""
    # Flows of other algorithms beside Dart's are shown, too: their rates.
    lanes = governs.lanes(result)
    shown = lanes[:LANES_MAX]
    end_ns = max(result.active_until_ns(row) for row in result.flows)
    x = chart.time_axis(end_ns / NS_PER_US)
    states = dict(list(governs.states(result).items())[:LANES_MAX])
    spans = governs.limits(result)
    limits = {name(lane): [span for row in lane for span in spans.get(row.flow.number, ())]
              for lane in shown if any(row.flow.number in spans for row in lane)}
    more = f" (the first {LANES_MAX} of {len(lanes)} pairs)" if len(lanes) > LANES_MAX else ""
    return Chart(f"{result.variant.label}: what limits each flow{more}", [
        _rates(scenario, result, shown, x, end_ns), _counts(result, x, end_ns),
        _bands(states, x, end_ns, STATE_KEY, "State of each receiver"),
        _bands(limits, x, end_ns, LIMITER_KEY, "What limits each sender")], 1, 9.2)
