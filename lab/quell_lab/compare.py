# SPDX-License-Identifier: GPL-2.0
"""Two results beside each other: what differs in what was run, and in what came out."""

import csv
import glob
import json
import os
import sys

from . import show, slowdown, stats, tables
from .errors import InputError, nearest

AT = "@"			# between a directory and the label of one of its runs
SUMMARY = "summary.json"
FLOWS = "flows.csv"
PARTS = "parts.json"		# of a run's directory in raw/
FORMAT = 1			# "quell_lab" of summary.json
# What of a summary.json tells scenarios apart beside the scenario as it was written.
FACTS = ("seed", "kernel", "kernel_kind")
# Words of a scenario that change no run; of algorithms those that ran are compared.
NO_SETTING = ("title", "paper", "algorithm", "until")

# Keys of an algorithm's table that the summary of a run has, too.
OF_SUMMARY = ("name", "label", "preset", "set")
# What is in the configuration in base units, too: 100kb and 102400 are no difference.
IN_BASE_UNITS = ("queue", "record", "pfc", "until_ns")

# name, way to the number in a run's summary, unit
QUANTITIES = (
    ("flows finished", ("flows_finished",), "flows"),
    ("FCT p50", ("fct_ns", "p50"), "ns"),
    ("FCT p99", ("fct_ns", "p99"), "ns"),
    ("FCT max", ("fct_ns", "max"), "ns"),
    ("last completion", ("last_completion_ns",), "ns"),
    ("goodput", ("goodput_bits_ps",), "bits/s"),
    ("Jain mean", ("jain", "mean"), "1"),
    ("queue mean", ("queue", "mean_bytes"), "bytes"),
    ("queue p99", ("queue", "p99_bytes"), "bytes"),
    ("queue max", ("queue", "max_bytes"), "bytes"),
    ("drops", ("drops",), "packets"),
    ("marks", ("marks",), "packets"),
    ("trims", ("trims",), "packets"),
    ("retransmitted", ("retransmitted_segs",), "segments"),
)
SHOWN = {"ns": show.micro, "bits/s": show.gbit, "bytes": show.kilo,
         "1": lambda value: f"{value:.3f}"}
SLOWDOWNS = ("p50", "p99", "max")


class Side:
    """One run of a result directory."""

    def __init__(self, directory, document, label):
        self.directory = directory
        self.document = document
        self.label = label
        self.summary = document["cc"][label]

    def settings(self):
        """{key: value} of all that decided the run."""
        found = {key: self.document.get(key) for key in FACTS}
        found.update({key: self.summary.get(key) for key in ("algorithm", "preset")})
        found.update(_flat("parameters", self.summary.get("parameters") or {}))
        config = self.document["config"]
        entries, labels = config["as_written"].get("algorithm", ()), list(self.document["cc"])
        if len(entries) == len(labels):		# else a run has failed: which one is not said
            found.update(_flat("algorithm", {
                key: value for key, value in entries[labels.index(self.label)].items()
                if key not in OF_SUMMARY}))
        for key in IN_BASE_UNITS:
            found.update(_flat(key, config.get(key)))
        found["queue.qdisc"] = config["as_written"].get("queue", {}).get("qdisc")
        found["parts"] = self._parts()
        for key, value in config["as_written"].items():
            if key not in (*NO_SETTING, *FACTS, *IN_BASE_UNITS):
                found.update(_flat(key, value))
        return found

    def _parts(self):
        """Whether the network was in parts, of any number: events are in another order."""
        number = list(self.document["cc"]).index(self.label) + 1
        return any(os.path.exists(os.path.join(path, PARTS)) for path in
                   glob.glob(os.path.join(glob.escape(self.directory), "raw", f"{number}-*")))

    def network(self):
        """What the topology, however it was written, came to."""
        return [self.document["config"].get(key) for key in ("hosts", "switches", "cables")]

    def complaints(self):
        """Why its figures must not be trusted."""
        return [*(self.summary.get("physics") or ()),
                *self.document.get("failures", {}).get(self.label, ())]

    def rows(self):
        """[{column: text}] of the run in flows.csv."""
        path = os.path.join(self.directory, FLOWS)
        try:
            with open(path, encoding="ascii", newline="") as file:
                table = csv.reader(file)
                header = tuple(next(table, ()))
                if header != tables.FLOWS:
                    raise InputError(path, f"columns {','.join(header) or 'missing'} instead of "
                                     f"{','.join(tables.FLOWS)}: no flows in nanoseconds and bytes")
                rows = [dict(zip(header, row)) for row in table]
        except OSError as error:
            raise InputError(path, error.strerror) from None
        return [row for row in rows if row["cc"] == self.label]

    def flows(self):
        """{flow: (src, dst, bytes, completion time or None)} of flows.csv."""
        try:
            return {int(row["flow"]): (row["src"], row["dst"], int(row["bytes"]),
                                       int(row["fct_ns"]) if int(row["fct_ns"]) >= 0 else None)
                    for row in self.rows()}
        except (KeyError, ValueError) as error:
            raise InputError(os.path.join(self.directory, FLOWS),
                             f"not a table of flows: {error}") from None


def _flat(path, value):
    """{path: scalar} of tables and lists in each other."""
    if isinstance(value, dict):
        parts = [(f"{path}.{key}", one) for key, one in value.items()]
    elif isinstance(value, list) and any(isinstance(one, (dict, list)) for one in value):
        parts = [(f"{path}[{number}]", one) for number, one in enumerate(value)]
    else:
        return {path: value}
    return {key: one for name, part in parts for key, one in _flat(name, part).items()}


def _what_it_is(directory):
    """Why a directory has no summary of its own, as far as one can see."""
    if os.path.exists(os.path.join(directory, "sweep.csv")):
        return "it is a sweep's, which has curves: compare takes results of incast, run and exec"
    if os.path.exists(os.path.join(directory, "seeds.csv")):
        return "it has several seeds: name one of its directories seed-K"
    return "it is no result of incast, run or exec"


def _document(directory):
    """The summary.json of a result directory."""
    path = os.path.join(directory, SUMMARY)
    if not os.path.isdir(directory):
        raise InputError(directory, "no such directory")
    if not os.path.exists(path):
        raise InputError(directory, f"no {SUMMARY}: {_what_it_is(directory)}")
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read: {error}") from None
    if not isinstance(document, dict) or document.get("quell_lab") != FORMAT:
        raise InputError(path, f"not of the lab's format {FORMAT}")
    if not isinstance(document.get("cc"), dict) or "as_written" not in document.get("config", {}):
        raise InputError(path, "no runs or no configuration in it")
    if not document["cc"]:
        raise InputError(path, "none of its runs gave a result")
    return document


def _open(operand):
    """(directory, document, label or None) of DIR or DIR@LABEL."""
    directory, label = operand, None
    if not os.path.isdir(operand) and AT in operand:
        directory, _, label = operand.rpartition(AT)
    document = _document(directory)
    if label is not None and label not in document["cc"]:
        raise InputError(operand, f"no run '{label}'{nearest(label, document['cc'])}: "
                         f"one of {', '.join(document['cc'])}")
    return directory, document, label


def one_run(operand):
    """The Side that an operand names: its only run, or the one named."""
    directory, document, label = _open(operand)
    labels = [label] if label else list(document["cc"])
    if len(labels) > 1:
        raise InputError(operand, f"has {', '.join(labels)}: name one as DIR{AT}LABEL")
    return Side(directory, document, labels[0])


def pairs(first, second):
    """[(Side, Side)] that two operands name: runs of the same label, or the two named."""
    (dir_a, doc_a, label_a), (dir_b, doc_b, label_b) = _open(first), _open(second)
    labels_a = [label_a] if label_a else list(doc_a["cc"])
    labels_b = [label_b] if label_b else list(doc_b["cc"])
    if len(labels_a) == len(labels_b) == 1:
        both = [(labels_a[0], labels_b[0])]
    else:
        both = [(label, label) for label in labels_a if label in labels_b]
    if not both:
        raise InputError(f"{first}, {second}", f"no run in common: {', '.join(labels_a)} and "
                         f"{', '.join(labels_b)}: name one of each as DIR{AT}LABEL")
    return [(Side(dir_a, doc_a, one), Side(dir_b, doc_b, other)) for one, other in both]


def _number(side, way):
    """The number at the end of a way; None where the run has none."""
    value = side.summary
    for key in way:
        if value is None:
            return None
        if not isinstance(value, dict) or key not in value:
            raise InputError(os.path.join(side.directory, SUMMARY), f"no {'.'.join(way)} of "
                             f"'{side.label}': written by another version of the lab?")
        value = value[key]
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise InputError(os.path.join(side.directory, SUMMARY), f"{'.'.join(way)} of "
                         f"'{side.label}' is '{value}', not a number")
    return value


def _ratio(one, other):
    """Other over one, or None where there is none."""
    return round(other / one, 4) if one and other is not None else None


def _row(name, unit, one, other):
    return {"name": name, "unit": unit, "a": one, "b": other, "ratio": _ratio(one, other)}


def _plain(value):
    """A setting so that 16 and "16" are alike, and false and none at all."""
    return None if value is False else value if value is None else str(value)


def _differences(a, b):
    """What of scenario, kernel and algorithm is not the same."""
    ours, theirs = a.settings(), b.settings()
    keys = [key for key in dict.fromkeys((*ours, *theirs))
            if _plain(ours.get(key)) != _plain(theirs.get(key))]
    if a.network() == b.network():
        keys = [key for key in keys if not key.startswith("topology.")]
    return [{"key": key, "a": ours.get(key), "b": theirs.get(key)} for key in keys]


def _slowdowns(a, b):
    """Rows of slowdown of all flows and by size; InputError where classes differ."""
    ours, theirs = a.summary.get("slowdown"), b.summary.get("slowdown")
    if not ours or not theirs:
        return []
    edges = [[(row["from_bytes"], row["to_bytes"]) for row in one["classes"]]
             for one in (ours, theirs)]
    if edges[0] != edges[1]:
        raise InputError(f"{a.directory}, {b.directory}", "slowdowns by classes of different "
                         "sizes: run both with the same slowdown.edges")
    rows = []
    for one, other in zip([ours["all"], *ours["classes"]], [theirs["all"], *theirs["classes"]]):
        if one["flows"] or other["flows"]:
            rows += [_row(f"slowdown {key}, {slowdown.class_name(one)}", "1", one[key], other[key])
                     for key in SLOWDOWNS]
    return rows


def _programs(a, b):
    """How long the programs took that both ran in the foreground."""
    theirs = {(one["number"], one["host"], one["command"]): one["took_ns"]
              for one in b.summary.get("programs", ())}
    rows = []
    for one in a.summary.get("programs", ()):
        key = (one["number"], one["host"], one["command"])
        if key in theirs and not one["background"]:
            rows.append(_row(f"program {one['number']} on {one['host']}", "ns", one["took_ns"],
                             theirs[key]))
    return rows


def _flow_by_flow(a, b):
    """How each flow fared that both have, or why flows cannot be paired."""
    ours, theirs = a.flows(), b.flows()
    what = [{key: row[:3] for key, row in one.items()} for one in (ours, theirs)]
    if what[0] != what[1]:
        return {"paired": False, "reason": "the flows are not the same"}
    if not ours:
        return {"paired": False, "reason": "there are no flows"}
    ratios = [theirs[key][3] / row[3] for key, row in ours.items()
              if row[3] and theirs[key][3] is not None]
    return {"paired": True, "flows": len(ratios),
            "faster": sum(ratio < 1 for ratio in ratios),
            "slower": sum(ratio > 1 for ratio in ratios),
            **{key: None if not ratios else round(stats.percentile(ratios, percent), 4)
               for key, percent in (("p50", 50), ("p99", 99), ("max", 100))}}


def compare(a, b):
    """Everything that is said of two runs, in base units."""
    return {
        **{name: {"directory": side.directory, "label": side.label,
                  "complaints": side.complaints()} for name, side in (("a", a), ("b", b))},
        "differences": _differences(a, b),
        "quantities": [_row(name, unit, _number(a, way), _number(b, way))
                       for name, way, unit in QUANTITIES] + _programs(a, b),
        "slowdown": _slowdowns(a, b),
        "flows": _flow_by_flow(a, b),
    }


def _text(unit, value):
    if value is None:
        return "-"
    return SHOWN.get(unit, str)(value)


def _setting(value):
    return "-" if value is None else json.dumps(value) if isinstance(value, (list, bool)) \
        else str(value)


def _flow_line(found):
    if not found["paired"]:
        return f"flow by flow: not compared, {found['reason']}"
    if not found["flows"]:
        return "flow by flow: none finished in both"
    return (f"flow by flow, B/A: p50 {found['p50']:.3f}, p99 {found['p99']:.3f}, max "
            f"{found['max']:.3f}; of {found['flows']} flows {found['faster']} faster in B, "
            f"{found['slower']} slower")


def table(found):
    """Lines for people."""
    lines = []
    for name in ("a", "b"):
        side = found[name]
        lines.append(f"{name.upper()}: {side['directory']}{AT}{side['label']}")
        lines += [f"   not to be trusted: {text}" for text in side["complaints"]]
    lines.append("")
    rows = [(row["key"], _setting(row["a"]), _setting(row["b"])) for row in found["differences"]]
    lines += show.lines(("differs", "A", "B"), rows) if rows else \
        ["same scenario, algorithm, seed and kernel"]
    rows = [(row["name"], _text(row["unit"], row["a"]), _text(row["unit"], row["b"]),
             "-" if row["ratio"] is None else f"{row['ratio']:.3f}")
            for row in (*found["quantities"], *found["slowdown"])]
    return [*lines, "", *show.lines(("", "A", "B", "B/A"), rows), "", _flow_line(found["flows"])]


def run(first, second, as_json):
    """Print the comparison of two operands."""
    found = [compare(a, b) for a, b in pairs(first, second)]
    if as_json:
        json.dump({"quell_lab_compare": FORMAT, "pairs": found}, sys.stdout, indent=1)
        print()
    else:
        print("\n\n".join("\n".join(table(one)) for one in found))
