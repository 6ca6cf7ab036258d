# SPDX-License-Identifier: GPL-2.0
"""The figure of Dart's runs: rates, n, and who governs, over one axis of time."""

from matplotlib import pyplot as plt
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from . import governs
from .rates import rate_steps

NS_PER_US = 1000
LANES_MAX = 24			# of one panel: more cannot be told apart
BINS = 900			# of a band
COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#888888")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)))
# No congestion or the line: pale.  The receiver's n: blue.  DCQCN: orange.
BANDS = ("#dcdfe3", "#5aa5d8", "#e8853d")
STATE_KEY = ("No Congestion", "Receiver Congestion", "Non-Receiver Congestion")
LIMITER_KEY = ("nothing: line rate", "n of the receiver", "DCQCN")
BAND_INCH = 0.21
KEY_INCH = 0.55
KEY_LINE_INCH = 0.18


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


def _lane_steps(result, lane, window_ns, end_ns):
    """The rates of a lane's flows, with a gap after each."""
    steps = []
    for row in lane:
        steps += rate_steps(result.delivered.get(row.flow.number, ()), window_ns, end_ns,
                            row.finished)
        if steps:
            steps.append((steps[-1][0], float("nan")))
    return steps


def _rates(axes, result, scenario, lanes, end_ns):
    window_ns = scenario.record.window_ns
    for position, lane in enumerate(lanes):
        steps = _lane_steps(result, lane, window_ns, end_ns)
        axes.plot([time / NS_PER_US for time, _ in steps], [rate for _, rate in steps],
                  drawstyle="steps-post", label=name(lane), **_look(position))
    line = max(cable.rate_bits_ps for cable in scenario.graph.cables) / 1e9
    axes.set_ylim(0, line * 1.04)
    axes.set_ylabel("Gbit/s")
    axes.set_title(f"Goodput of each flow, windows of {window_ns / NS_PER_US:g} µs",
                   loc="left", fontsize=9)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)


def name(lane):
    """'1: h1 → h3', of two flows '1, 4: h1 → h3', of more '1, 4, …: h1 → h3'."""
    numbers = [str(row.flow.number) for row in lane[:2]] + ["…"] * (len(lane) > 2)
    return f"{', '.join(numbers)}: {lane[0].flow.src} → {lane[0].flow.dst}"


def _n_line(axes, steps, end_ns, shaded, **look):
    """The largest n over time; shaded down to the smallest."""
    steps = [*steps, (end_ns, *steps[-1][1:])]
    times = [time / NS_PER_US for time, _, _ in steps]
    low, high = ([step[column] / governs.ONE_Q8 or float("nan") for step in steps]
                 for column in (1, 2))
    axes.plot(times, high, drawstyle="steps-post", **look)
    if shaded:
        axes.fill_between(times, low, high, step="post", color=look["color"], alpha=0.2,
                          linewidth=0)


def _counts(axes, result, end_ns):
    """n as receivers count it, dotted, and as senders heard it: the largest of those active."""
    counted = governs.extremes(result, governs.COUNTED)
    told = governs.extremes(result, governs.TOLD)
    for position, host in enumerate(counted):
        colour = _look(position)["color"]
        _n_line(axes, counted[host], end_ns, False, color=colour, linestyle=(0, (1, 1.2)),
                linewidth=1.6, label=f"{host} counted")
        _n_line(axes, told[host], end_ns, True, color=colour, linewidth=1.1,
                label=f"{host} stated")
    top = max((step[2] for found in (counted, told) for steps in found.values()
               for step in steps), default=governs.ONE_Q8)
    axes.set_ylim(0, max(top / governs.ONE_Q8, 2) * 1.15)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    axes.set_ylabel("n")
    axes.set_title("Largest n at each receiver: counted, and stated to its senders "
                   "(shaded: down to the smallest)", loc="left", fontsize=9)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)


def _first(mapping):
    return dict(list(mapping.items())[:LANES_MAX])


def draw(scenario, result, time_axis):
    """The figure of one run; time_axis(axes, end_us) labels the common axis."""
    # Flows of other algorithms beside Dart's are shown, too: their rates.
    lanes = governs.lanes(result)
    shown = lanes[:LANES_MAX]
    end_ns = max(result.active_until_ns(row) for row in result.flows)
    states = _first(governs.states(result))
    spans = governs.limits(result)
    limits = {name(lane): [span for row in lane for span in spans.get(row.flow.number, ())]
              for lane in shown if any(row.flow.number in spans for row in lane)}
    heights = (max(2.0, KEY_LINE_INCH * len(shown)), 1.1, max(BAND_INCH * len(states), KEY_INCH),
               max(BAND_INCH * len(limits), KEY_INCH))
    figure, panels = plt.subplots(4, 1, sharex=True, layout="constrained",
                                  figsize=(9.2, sum(heights) + 2.2),
                                  gridspec_kw={"height_ratios": heights})
    _rates(panels[0], result, scenario, shown, end_ns)
    _counts(panels[1], result, end_ns)
    _bands(panels[2], states, end_ns, STATE_KEY, "State of each receiver")
    _bands(panels[3], limits, end_ns, LIMITER_KEY, "What limits each sender")
    for axes in panels[:3]:
        axes.tick_params(axis="x", labelbottom=False)
    time_axis(panels[3], end_ns / NS_PER_US)
    figure.suptitle(f"{result.variant.label}: what limits each flow"
                    + (f" (the first {LANES_MAX} of {len(lanes)} pairs)"
                       if len(lanes) > LANES_MAX else ""), fontsize=10)
    return figure
