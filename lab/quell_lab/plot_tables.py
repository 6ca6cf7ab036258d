# SPDX-License-Identifier: GPL-2.0
"""[[plot]] tables: figures of papers in the papers' own axes, checked."""

import re
from dataclasses import dataclass

from . import slowdown
from .errors import InputError, nearest
from .schema import Key, each

KINDS = ("rtts", "flows", "windows", "mean-window", "marks", "slowdown")
OF_FLOWS = ("flows", "windows")	# these show some flows alone
OF_SIZES = "slowdown"		# this one has no window of time
OF_TIMES = "rtts"		# this one alone shows truth, a queue and several windows
FLOWS_MAX = 8			# of one figure: more lines hide each other
STEM = "plot-"			# of the files

KEYS = {
    "kind": Key("text", choices=KINDS),
    "figure": Key("text", default=None),
    "runs": Key("words", default=None),
    "measure": Key("words", default=None),
    "flows": Key("list", default=None),
    "truth": Key("bool", default=False),
    "queue": Key("bool", default=False),
    "percentiles": Key("words", default=None),
    "by": Key("text", default=None, choices=("bins", "classes")),
}


@dataclass(frozen=True)
class Plot:
    """One figure."""

    kind: str
    figure: str			# of which paper, or of which scenario
    runs: tuple			# labels
    windows: tuple		# measure.Window
    flows: tuple		# numbers
    truth: bool			# round trips as they were on the wire
    queue: bool			# the queue as a time beside them
    percentiles: tuple = ()	# of slowdown
    by: str = ""		# "bins" or "classes" of size

    @property
    def stem(self):
        """Of its file."""
        return STEM + re.sub(r"[^a-z0-9]+", "-", self.figure.lower()).strip("-")


def _chosen(where, wanted, known, what):
    """Those of the known that are named, all without names."""
    for name in wanted or ():
        if name not in known:
            raise InputError(where, f"no {what} '{name}'{nearest(str(name), known)}: one of "
                             f"{', '.join(map(str, known))}")
    return tuple(wanted or known)


def _flows(places, path, values, count):
    where = places.name(f"{path}.flows")
    flows = values["flows"] or []
    if (values["kind"] in OF_FLOWS) != bool(flows):
        raise InputError(where, f"kinds {', '.join(OF_FLOWS)} and numbers of flows go together")
    for number in flows:
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= count:
            raise InputError(where, f"'{number}' is no flow: 1 to {count}")
    if len(flows) > FLOWS_MAX:
        raise InputError(where, f"{len(flows)} flows is out of range: at most {FLOWS_MAX}")
    return tuple(flows)


def _by_size(places, path, values, labels, flows):
    """A figure of slowdown."""
    for key in ("measure", "flows", "truth", "queue"):
        if values[key]:
            raise InputError(places.name(f"{path}.{key}"), f"not with {OF_SIZES}, which is of "
                             "whole runs")
    if not slowdown.has_sizes(flows):
        raise InputError(places.name(f"{path}.kind"), f"{OF_SIZES} is by size, and all flows "
                         "are as large")
    known = [name for name, _ in slowdown.PERCENTILES]
    shown = _chosen(places.name(f"{path}.percentiles"), values["percentiles"] or ["p50", "p99"],
                    known, "percentile")
    return Plot(OF_SIZES, values["figure"],
                _chosen(places.name(f"{path}.runs"), values["runs"], labels, "run"), (), (), False,
                False, shown, values["by"] or "bins")


def _no_times(places, path, values, windows):
    """InputError for what the figure would not show."""
    for key in ("truth", "queue"):
        if values[key]:
            raise InputError(places.name(f"{path}.{key}"), f"is of kind {OF_TIMES} alone")
    if windows > 1:
        raise InputError(places.name(f"{path}.measure"), f"{windows} windows: {values['kind']} "
                         "shows one")


def _need_senders(places, path, flows, record):
    """InputError if other cables are written than those of hosts that only send: on others, the
    rounds are not a sender's, or are counted twice."""
    senders = {flow.src for flow in flows} - {flow.dst for flow in flows}
    if not record["pcap"]:
        raise InputError(places.name(f"{path}.kind"), "marks needs the senders' packets, pcap in "
                         "[record]")
    for name in record["pcap"]:
        if name.partition(":")[0] not in senders:
            raise InputError(places.name("record.pcap"), f"'{name}' is not a host that only "
                             "sends, as marks needs")


def _one(places, path, values, known):
    labels, windows, flows, record = known
    if values["kind"] == OF_SIZES:
        return _by_size(places, path, values, labels, flows)
    for key in ("percentiles", "by"):
        if values[key]:
            raise InputError(places.name(f"{path}.{key}"), f"is of kind {OF_SIZES} alone")
    if not windows:
        raise InputError(places.name(path), "needs a [measure] table with the window of time it "
                         "is of")
    names = _chosen(places.name(f"{path}.measure"), values["measure"],
                    [window.name for window in windows], "window")
    chosen = tuple(window for window in windows if window.name in names)
    if values["truth"] and not record["truth"]:
        raise InputError(places.name(f"{path}.truth"), "needs truth = true in [record]")
    if values["kind"] == "marks":
        _need_senders(places, path, flows, record)
    if values["kind"] != OF_TIMES:
        _no_times(places, path, values, len(chosen))
    if values["queue"] and any(window.idle_ns is None for window in chosen):
        raise InputError(places.name(f"{path}.queue"), "needs idle in the [measure] table")
    return Plot(values["kind"], values["figure"],
                _chosen(places.name(f"{path}.runs"), values["runs"], labels, "run"), chosen,
                _flows(places, path, values, len(flows)), values["truth"], values["queue"])


def build(places, tables, title, labels, windows, flows, record):
    """
    Plots of the [[plot]] tables; title: of the scenario; record: the [record] table's values.
    """
    known = list(each(places, "plot", tables, KEYS))
    several = sum(not values["figure"] for _, values in known) > 1
    plots = [_one(places, path, {**values, "figure": values["figure"] or (
        f"{title}, {values['kind']}" if several else title)}, (labels, windows, flows, record))
             for path, values in known]
    for index, one in enumerate(plots):
        if one.stem in (other.stem for other in plots[:index]):
            raise InputError(places.name(f"plot[{index}].figure"), f"'{one.figure}' is given "
                             "twice: files would have one name")
    return tuple(plots)
