# SPDX-License-Identifier: GPL-2.0
"""The figures of papers beside ours: what rows of "paper" ask for.

A quantity is a name for one value of summary.json.  The paper's value is only
compared with it, never a criterion.
"""

import re
from dataclasses import dataclass, replace
from fractions import Fraction

from . import convergence, slowdown, units
from .errors import InputError, nearest
from .measure import NAME_DEFAULT, RUN
from .schema import Key, each

KEYS = {
    "figure": Key("text"),
    "run": Key("names", default=None),
    "quantity": Key("text"),
    "measure": Key("text", default=None),
    "sizes": Key("text", default=None),
    "over": Key("text", default=None),
    "value": Key("scalar", default=None),
    "note": Key("text", default=None),
}
# A row of a file: [FIGURE, RUN, QUANTITY, VALUE, NOTE], the last two may be left out.
ROW = ("figure", "run", "quantity", "value", "note")
EVERY_RUN = "*"
NO_VALUE = "-"
MORE = (("measure", " (", ")"), ("sizes", " of ", ""), ("over", " over ", ""))
WRITTEN = re.compile(r"(?P<quantity>[^ ()]+)( \((?P<measure>[^()]+)\))?( of (?P<sizes>\S+))?"
                     r"( over (?P<over>\S+))?")
# How ours is shown where the paper has no number.
UNIT_DEFAULT = {"rate": "gbit", "time": "us", "size": "kb", "number": ""}
INDEXED = re.compile(r"([a-z_0-9]+)\[([1-9][0-9]*)\]")


@dataclass(frozen=True)
class Quantity:
    """Kind of unit, and where in a run's summary or a window's numbers it is."""

    kind: str			# rate, time, size or number
    path: tuple
    of_flow: bool = False	# written with a flow's number: fct[3]


def _ns(*path):
    return Quantity("time", path)


OF_RUN = {
    "fct_min": _ns("fct_ns", "min"),
    "fct_p50": _ns("fct_ns", "p50"),
    "fct_p99": _ns("fct_ns", "p99"),
    "fct_max": _ns("fct_ns", "max"),
    "fct": Quantity("time", ("fct_of_flow_ns",), True),
    "last_completion": _ns("last_completion_ns"),
    "last_completion_over_ideal": Quantity("number", ("last_completion_over_ideal",)),
    "last_completion_over_limit": Quantity("number", ("last_completion_over_limit",)),
    "slowdown_max": Quantity("number", ("slowdown_max",)),
    "spread": _ns("spread_ns"),
    "rank_correlation": Quantity("number", ("start_finish_rank_correlation",)),
    "fair_after": _ns("jain", "fair_after_ns"),
    "jain_mean": Quantity("number", ("jain", "mean")),
    "jain_min": Quantity("number", ("jain", "min")),
    "goodput": Quantity("rate", ("goodput_bits_ps",)),
    "drops": Quantity("number", ("drops",)),
    "trims": Quantity("number", ("trims",)),
    "marks": Quantity("number", ("marks",)),
    "load_increase": Quantity("number", ("deflection", "load_increase_percent")),
    "path_dilation": Quantity("number", ("deflection", "path_dilation_percent")),
    "retransmits": Quantity("number", ("retransmitted_segs",)),
}
OF_PAUSES = {"pauses": Quantity("number", ("pfc", "pauses"))}
OF_RUN |= OF_PAUSES
OF_WINDOW = {
    "throughput": Quantity("rate", ("throughput_bits_ps",)),
    "wire_throughput": Quantity("rate", ("wire_throughput_bits_ps",)),
    "rtt_mean": _ns("rtt_ns", "mean"),
    "rtt_p50": _ns("rtt_ns", "p50"),
    "rtt_p99": _ns("rtt_ns", "p99"),
    "window_fct_p50": _ns("fct_ns", "p50"),
    "window_fct_p99": _ns("fct_ns", "p99"),
    "window_unfinished": Quantity("number", ("fct_ns", "unfinished_share")),
    "rtt_network_p50": _ns("rtt_error_ns", "taken_p50"),
    "rtt_network_p99": _ns("rtt_error_ns", "taken_p99"),
    "rtt_network_true_p50": _ns("rtt_error_ns", "true_p50"),
    "rtt_network_true_p99": _ns("rtt_error_ns", "true_p99"),
    "rtt_error_p50": _ns("rtt_error_ns", "p50"),
    "rtt_error_p99": _ns("rtt_error_ns", "p99"),
    "rtt_error_max": _ns("rtt_error_ns", "max"),
    "network_error_max": _ns("rtt_error_ns", "network_max"),
    "jain": Quantity("number", ("jain",)),
    "flow_rate_min": Quantity("rate", ("flow_rate_bits_ps", "min")),
    "flow_rate_max": Quantity("rate", ("flow_rate_bits_ps", "max")),
    "flow_rate": Quantity("rate", ("flow_rate_bits_ps", "of"), True),
    "flow_rate_ratio": Quantity("number", ("flow_rate_ratio",)),
    "rate_variation": Quantity("number", ("rate_variation",)),
    "window_mean": Quantity("size", ("window_bytes",)),
    "window_variation": Quantity("number", ("window_variation",)),
    "flows_stalled": Quantity("number", ("flows_stalled",)),
    "pacing_mean": Quantity("rate", ("pacing_bits_ps", "mean"), True),
    "pacing_deviation": Quantity("rate", ("pacing_bits_ps", "deviation"), True),
}
# Of windows that say what the idle network takes.
OF_QUEUEING = {
    **{f"{what}_{name}": _ns("queueing", f"{key}_{name}_ns")
       for what, key in (("queueing", "rtt"), ("queue_time", "queue")) for name in ("p50", "p99")},
    "queueing_distance": Quantity("number", ("queueing", "distance")),
    "queueing_found_distance": Quantity("number", ("queueing", "found_distance")),
}
OF_WINDOW |= OF_QUEUEING
OF_ROUNDS = {"marks_rtt_correlation": Quantity("number", ("marks_rtt_correlation",))}
OF_WINDOW |= OF_ROUNDS
# Of windows in which flows are answered.
OF_REQUESTS = {
    "request_p50": _ns("request_ns", "p50"),
    "request_p99": _ns("request_ns", "p99"),
    "request_unanswered": Quantity("number", ("request_ns", "unanswered_share")),
}
OF_WINDOW |= OF_REQUESTS
OF_BOTH = {
    "queue_mean": Quantity("size", ("queue", "mean_bytes")),
    "queue_p99": Quantity("size", ("queue", "p99_bytes")),
    "queue_max": Quantity("size", ("queue", "max_bytes")),
}
# Of all joins: rates_p50, rates_p50_rtts, leave_never and so on.
OF_JOINS = {f"{kind}_{name}": _ns("convergence", kind, f"{name}_ns")
            for kind in convergence.KINDS for name in convergence.PERCENTILES}
OF_JOINS |= {f"{name}_rtts": Quantity("number", (*one.path[:2], one.path[2][:-2] + "rtts"))
             for name, one in OF_JOINS.items()}
OF_JOINS |= {f"{kind}_never": Quantity("number", ("convergence", kind, "never_share"))
             for kind in convergence.KINDS}
OF_RUN |= OF_JOINS
# With the key "sizes" of flows of these alone.
OF_SIZES = {f"slowdown_{name}": Quantity("number", (name,)) for name, _ in slowdown.PERCENTILES}
OF_RUN |= OF_SIZES
# The same, but of the run as a whole without that key.
OF_RUN["marked"] = Quantity("number", ("marked_percent",))
ALSO_OF_SIZES = {"fct_p50": _ns("fct_p50_ns"), "fct_p99": _ns("fct_p99_ns"),
                 "marked": Quantity("number", ("marked_percent",))}
QUANTITIES = {**OF_RUN, **OF_WINDOW, **OF_BOTH}


@dataclass(frozen=True)
class Row:
    """One figure of a paper."""

    figure: str
    run: str			# label of the algorithm
    name: str			# quantity as written
    quantity: Quantity
    flow: object		# number, or None
    window: str			# name of the measured window, or RUN
    value: object		# Fraction in base units, None: the paper has no number
    text: str			# as the paper has it
    suffix: str			# its unit
    note: str
    sizes: object = None	# (above, up to) in bytes, or None
    over: object = None		# label of the algorithm that ours is divided by, or None
    path: str = ""		# of its keys in messages


def read_rows(where, rows):
    """The tables that a file's rows stand for."""
    return [_read_row(f"{where}[{number}]", row) for number, row in enumerate(rows)]


def _read_row(where, row):
    if isinstance(row, dict):
        raise InputError(where, "a table, as [[paper]] has: write paper = [ROW, ...] above the "
                         'first table, each ROW being ["FIGURE", "RUN", "QUANTITY", VALUE, "NOTE"]')
    if not isinstance(row, list) or not len(ROW) - 2 <= len(row) <= len(ROW):
        raise InputError(where, f"'{row}' is not a row: "
                         '["FIGURE", "RUN", "QUANTITY", VALUE, "NOTE"], without the last or two')
    table = dict(zip(ROW, row))
    if table.get("value") == NO_VALUE:
        del table["value"]
    match = WRITTEN.fullmatch(str(table["quantity"]))
    if not match:
        raise InputError(f"{where}.quantity", f"'{table['quantity']}' is not written NAME, "
                         "NAME (WINDOW), NAME of LOW:HIGH or NAME over RUN")
    return table | {key: text for key, text in match.groupdict().items() if text is not None}


def written_row(table):
    """The row of a file that stands for a table."""
    quantity = table["quantity"] + "".join(f"{before}{table[key]}{after}"
                                           for key, before, after in MORE if key in table)
    row = [table["figure"], table["run"], quantity, table.get("value", NO_VALUE),
           table.get("note", "")]
    return row if row[-1] else row[:-1] if row[-2] != NO_VALUE else row[:-2]


def build(places, tables, labels, windows, flows):
    """Rows of the tables, one for each run of each."""
    rows = []
    for path, values in each(places, "paper", tables, KEYS):
        runs = labels[:1] if values["run"] is None else values["run"]
        if runs == [EVERY_RUN]:
            runs = labels
        for run in runs or [""]:
            _known_run(places, f"{path}.run", run, labels)
        name, flow = _quantity(places.name(f"{path}.quantity"), values["quantity"], flows)
        window = _window(places, path, name, values["measure"], windows)
        sizes = _sizes(places, path, name, values["sizes"])
        quantity = ALSO_OF_SIZES[name] if sizes and name in ALSO_OF_SIZES else QUANTITIES[name]
        if values["over"] is not None:
            quantity = replace(quantity, kind="number")
        value, text, suffix = None, "-", UNIT_DEFAULT[quantity.kind]
        if values["value"] is not None:
            text = str(values["value"])
            try:
                value, suffix = units.exact(text, quantity.kind)
            except ValueError as error:
                raise InputError(places.name(f"{path}.value"), str(error)) from None
        if values["over"] is not None:
            _known_run(places, f"{path}.over", values["over"], labels)
        rows += [Row(values["figure"], run, values["quantity"], quantity, flow, window, value,
                     text, suffix, values["note"] or "", sizes, values["over"], path)
                 for run in runs]
    return tuple(rows)


def _sizes(places, path, name, text):
    """The range of sizes that a slowdown is of; all without one."""
    where = places.name(f"{path}.sizes")
    known = (*OF_SIZES, *ALSO_OF_SIZES)
    if text is not None and name not in known:
        raise InputError(where, f"{name} is not of sizes: only {', '.join(known)}")
    if text is None:
        return (0, slowdown.SIZE_MAX) if name in OF_SIZES else None
    return slowdown.parse_range(where, text)


def _known_run(places, path, label, labels):
    if label not in labels:
        raise InputError(places.name(path), f"no run '{label}'{nearest(label, labels)}: "
                         f"one of {', '.join(labels)}")


def check_needs(places, rows, wanted):
    """InputError for a quantity of which the Scenario has, or records, no basis."""
    told = {window.name for window in wanted.windows if window.idle_ns is not None}
    needs = (
        (OF_JOINS, lambda _: wanted.convergence, "needs a [convergence] table"),
        (OF_PAUSES, lambda _: wanted.pfc, "needs a [pfc] table"),
        (OF_QUEUEING, lambda row: row.window in told, "needs idle in the [measure] table '{}'"),
        (OF_ROUNDS, lambda _: any(plot.kind == "marks" for plot in wanted.plots),
         "needs a [[plot]] of kind marks"),
        (OF_REQUESTS, lambda _: any(flow.answers is not None for flow in wanted.flows),
         "needs a [[workload]] with response"),
        (QUANTITIES, lambda row: not row.sizes or slowdown.has_sizes(wanted.flows),
         "is by size, and all flows are as large: slowdown_max is of all"))
    for names, is_there, words in needs:
        for row in rows:
            if row.name in names and not is_there(row):
                raise InputError(places.name(f"{row.path}.quantity"),
                                 f"{row.name} {words.format(row.window)}")


def _quantity(where, text, flows):
    """(name, flow number or None) of a quantity as written."""
    match = INDEXED.fullmatch(text)
    name = match[1] if match else text
    if name not in QUANTITIES:
        raise InputError(where, f"unknown quantity '{text}'{nearest(name, QUANTITIES)}: one of "
                         f"{', '.join(QUANTITIES)}")
    if QUANTITIES[name].of_flow != bool(match):
        wanted = f"{name}[1] to {name}[{flows}]" if QUANTITIES[name].of_flow else name
        raise InputError(where, f"'{text}' is written {wanted}")
    if match and int(match[2]) > flows:
        raise InputError(where, f"'{text}' is out of range: {name}[1] to {name}[{flows}]")
    return name, int(match[2]) if match else None


def _window(places, path, name, asked, windows):
    """Where a quantity is looked up: the window named, the first, or the whole run."""
    where = places.name(f"{path}.measure")
    if asked is not None and asked not in (*windows, RUN):
        known = (*windows, RUN)
        raise InputError(where, f"no window '{asked}'{nearest(asked, known)}: one of "
                         f"{', '.join(known)}")
    if name in OF_RUN:
        if asked not in (None, RUN):
            raise InputError(where, f"{name} is of the whole run, not of a window")
        return RUN
    if name in OF_BOTH:
        return asked or (windows[0] if windows else RUN)
    if asked == RUN or not windows:
        raise InputError(where, f"{name} needs a [measure] table with the window of time it is of")
    return asked or windows[0]


def value_of(row, summary):
    """What a row asks for, of one run's summary; None without a value."""
    if row.sizes:
        summary = summary["slowdown"]["ranges"]["{}:{}".format(*row.sizes)]
    value = summary if row.window == RUN else summary["measured"][row.window]
    if row.name in OF_REQUESTS and "request_ns" not in value:
        return None	# none began in the window
    for key in row.quantity.path:
        value = value[key] if value is not None else None
    if row.flow is not None and value is not None:
        value = value.get(row.flow)
    return value


def shown(row, value):
    """A value of a row in the unit that the paper's has."""
    if value is None:
        return "never" if row.name == "fair_after" or row.name in OF_JOINS else "-"
    return units.show_in(Fraction(str(value)), row.suffix, row.quantity.kind)


def _over_another(row, values):
    """Of a row that is a ratio: each run's value over that of the run named, but its own."""
    if row.over is None:
        return values
    below = values.pop(row.over, None)
    return {label: round(value / below, 4) if value is not None and below else None
            for label, value in values.items()}


def compare(scenario, summaries):
    """One dictionary a row, for summary.json; ours is None without a value."""
    rows = []
    for row in scenario.paper:
        values = _over_another(row, {label: value_of(row, summary)
                                     for label, summary in summaries.items()})
        ours = values.pop(row.run, None)
        ratio = None
        if ours is not None and row.value:
            ratio = round(float(Fraction(str(ours)) / row.value), 4)
        rows.append({
            "figure": row.figure,
            "quantity": row.name,
            "window": row.window,
            "of": of_row(row),
            "run": row.run,
            "kind": row.quantity.kind,
            "paper": float(row.value) if row.value is not None else None,
            "ours": ours,
            "ratio": ratio,
            "paper_text": row.text,
            "ours_text": shown(row, ours),
            "others": values,
            "others_text": {label: shown(row, value) for label, value in values.items()},
            "note": row.note,
        })
    return rows


def of_row(row):
    """What a row says beside its quantity: of which sizes, over what; as text."""
    text = ""
    if row.sizes and row.sizes != (0, slowdown.SIZE_MAX):
        text = " " + slowdown.class_name(dict(zip(("from_bytes", "to_bytes"), row.sizes)))
    return text + (f" over {row.over}" if row.over else "")


def quantity_of(row):
    """What a row of compare() says: quantity, window, of which sizes, over what."""
    window = f" ({row['window']})" if row["window"] not in (RUN, NAME_DEFAULT) else ""
    return f"{row['quantity']}{window}{row['of']}"


COLUMNS = ("figure", "quantity", "run", "paper", "ours", "ratio")
NAMES = 3			# of them are no numbers


def cells(row):
    """Texts of a row for a table for people."""
    ratio = f"{row['ratio']:.3f}" if row["ratio"] is not None else "-"
    return (row["figure"], quantity_of(row), row["run"], row["paper_text"], row["ours_text"],
            ratio)
