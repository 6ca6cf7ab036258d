# SPDX-License-Identifier: GPL-2.0
"""The figure of Dart's runs: rates, n, and who governs, over one axis of time."""

from matplotlib import pyplot as plt
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from . import governs
from .rates import rate_steps

NS_PER_US = 1000
FLOWS_MAX = 16			# of one panel: more cannot be told apart
BINS = 900			# of a band
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#888888")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)))
# No congestion or the line: pale.  The receiver's n: blue.  DCQCN: orange.
BANDS = ("#dcdfe3", "#5aa5d8", "#e8853d")
STATE_KEY = ("No Congestion", "Receiver Congestion", "Non-Receiver Congestion")
LIMITER_KEY = ("nothing: line rate", "n of the receiver", "DCQCN")
BAND_INCH = 0.21
KEY_INCH = 0.55


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


def _bands(axes, named, end_ns, key, title):
    """One band a name, the first on top; key has the words of the colours."""
    for position, spans in enumerate(named.values()):
        pieces = _bins(spans, end_ns)
        axes.broken_barh([(begin / NS_PER_US, width / NS_PER_US) for begin, width, _ in pieces],
                         (position - 0.4, 0.8), facecolors=[BANDS[v] for _, _, v in pieces],
                         linewidth=0)
    axes.set_ylim(len(named) - 0.5, -0.5)
    axes.set_yticks(range(len(named)), list(named))
    axes.tick_params(axis="y", length=0)
    axes.grid(False)
    axes.set_title(title, loc="left", fontsize=9)
    axes.legend(handles=[Patch(color=colour, label=word) for colour, word in zip(BANDS, key)],
                loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)


def _look(position):
    return {"color": COLOURS[position % len(COLOURS)],
            "linestyle": DASHES[position // len(COLOURS) % len(DASHES)], "linewidth": 1.1}


def _rates(axes, result, scenario, numbers, end_ns):
    flows = {row.flow.number: row for row in result.flows}
    for position, number in enumerate(numbers):
        row = flows[number]
        steps = rate_steps(result.delivered.get(number, ()), scenario.record.window_ns, end_ns,
                           row.finished)
        axes.plot([time / NS_PER_US for time, _ in steps], [rate for _, rate in steps],
                  drawstyle="steps-post", label=name(row.flow), **_look(position))
    line = max(cable.rate_bits_ps for cable in scenario.graph.cables) / 1e9
    axes.set_ylim(0, line * 1.04)
    axes.set_ylabel("Gbit/s")
    axes.set_title(f"Goodput of each flow, windows of {scenario.record.window_ns / NS_PER_US:g} µs",
                   loc="left", fontsize=9)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)


def name(flow):
    """'1: h1 → h3'."""
    return f"{flow.number}: {flow.src} → {flow.dst}"


def _counts(axes, result, end_ns):
    """n as receivers count it, dotted, and as senders heard it."""
    for position, (host, samples) in enumerate(governs.by_receiver(result).items()):
        look = _look(position)
        for column, dash, word in ((governs.COUNTED, (0, (1, 1.2)), "counted"),
                                   (governs.TOLD, "-", "stated")):
            points = [(row[governs.TIME], row[column] / governs.ONE_Q8)
                      for row in samples if row[column] and row[governs.TIME] <= end_ns]
            if not points:
                continue
            points.append((end_ns, points[-1][1]))
            axes.plot([time / NS_PER_US for time, _ in points], [n for _, n in points],
                      drawstyle="steps-post", color=look["color"], linestyle=dash,
                      linewidth=1.6 if column == governs.COUNTED else 1.1, label=f"{host} {word}")
    top = max((row[column] for samples in result.dart.values() for row in samples
               for column in (governs.COUNTED, governs.TOLD)), default=governs.ONE_Q8)
    axes.set_ylim(0, max(top / governs.ONE_Q8, 2) * 1.15)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    axes.set_ylabel("n")
    axes.set_title("n at each receiver: counted, and stated to the senders", loc="left", fontsize=9)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)


def _first(mapping):
    return dict(list(mapping.items())[:FLOWS_MAX])


def draw(scenario, result, time_axis):
    """The figure of one run; time_axis(axes, end_us) labels the common axis."""
    flows = {row.flow.number: row.flow for row in result.flows}
    # Flows of other algorithms beside Dart's are shown, too: their rates.
    numbers = list(flows)[:FLOWS_MAX]
    end_ns = max(result.active_until_ns(row) for row in result.flows)
    states = _first(governs.states(result))
    limits = _first({name(flows[number]): spans
                     for number, spans in governs.limits(result).items()})
    heights = (2.0, 1.1, max(BAND_INCH * len(states), KEY_INCH),
               max(BAND_INCH * len(limits), KEY_INCH))
    figure, panels = plt.subplots(4, 1, sharex=True, layout="constrained",
                                  figsize=(9.2, sum(heights) + 2.2),
                                  gridspec_kw={"height_ratios": heights})
    _rates(panels[0], result, scenario, numbers, end_ns)
    _counts(panels[1], result, end_ns)
    _bands(panels[2], states, end_ns, STATE_KEY, "State of each receiver")
    _bands(panels[3], limits, end_ns, LIMITER_KEY, "What limits each sender")
    for axes in panels[:3]:
        axes.tick_params(axis="x", labelbottom=False)
    time_axis(panels[3], end_ns / NS_PER_US)
    hidden = len(flows) - len(numbers)
    figure.suptitle(f"{result.variant.label}: who governs when"
                    + (f" ({FLOWS_MAX} of {len(flows)} flows)" if hidden else ""), fontsize=10)
    return figure
