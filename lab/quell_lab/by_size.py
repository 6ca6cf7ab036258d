# SPDX-License-Identifier: GPL-2.0
"""
What a paper prints of several seeds: classes of size by algorithms, percentiles of slowdown with
the band of the seeds; as text, CSV, LaTeX (booktabs), and a figure as SVG and PDF.
"""

import os
import re
from dataclasses import dataclass
from statistics import median

from . import chart, page, report, slowdown, slowdown_chart
from .stats import rounded
from .tables import write_csv as write_rows

STEM = "by-size"
FILES = tuple(f"{STEM}.{ending}" for ending in ("csv", "tex", "svg", "pdf"))
PHONE = f"{STEM}{page.NARROW}.svg"
PERCENTILES = (("p50", "p50"), ("p99", "p99"), ("p999", "p99.9"))
COLUMNS = ("quantity", "from_bytes", "to_bytes", "percentile", "cc", "flows", "seeds", "median",
           "min", "max", "values")
SLOWDOWN, FCT = "slowdown", "FCT (us)"
P99_FLOWS = 100			# of fewer, the 99th percentile by nearest rank is the slowest
DAGGER = r"$^\dagger$"
PLAIN_TEX = re.compile(r"([#$%&_{}])")


@dataclass(frozen=True)
class Row:
    """A percentile of a class of size."""

    low: int			# sizes above so many bytes
    high: int			# and up to so many
    key: str			# of PERCENTILES
    of: dict			# label -> [(flows, value)] by seed

    @property
    def is_all(self):
        """Whether it is of all flows."""
        return (self.low, self.high) == (0, slowdown.SIZE_MAX)

    @property
    def size(self):
        """The class for people."""
        return slowdown.class_name({"from_bytes": self.low, "to_bytes": self.high})

    def band(self, label):
        """(median, least, most) over the seeds, or None."""
        values = [value for _, value in self.of[label]]
        return (median(values), min(values), max(values)) if values else None

    def flows(self, label=None):
        """Flows of a seed at least, of one run or of all."""
        return min((flows for one, found in self.of.items() if label in (None, one)
                    for flows, _ in found), default=0)


@dataclass(frozen=True)
class Table:
    """All rows of some runs."""

    quantity: str
    labels: tuple
    rows: tuple


def classes(summary):
    """Classes of size of a run's summary; where all flows are alike, completion times of them."""
    if summary["slowdown"]:
        return SLOWDOWN, [summary["slowdown"]["all"], *summary["slowdown"]["classes"]]
    times = summary["fct_ns"]
    return FCT, [{"from_bytes": 0, "to_bytes": slowdown.SIZE_MAX,
                  "flows": summary["flows_finished"],
                  **{key: None if times[key] is None else times[key] / 1000
                     for key, _ in PERCENTILES}}]


def table(of_label):
    """The Table of {label: [classes() of each seed]}; None without results."""
    of_label = {label: found for label, found in of_label.items() if found}
    if not of_label:
        return None
    (quantity, first), *_ = next(iter(of_label.values()))
    rows = []
    for place, one in enumerate(first):
        for key, _ in PERCENTILES:
            of = {label: [(parts[place]["flows"], parts[place][key]) for _, parts in found
                          if parts[place][key] is not None] for label, found in of_label.items()}
            # Below so many flows it is the slowest of them.
            of = {label: found if key != "p999" or all(
                flows >= slowdown.TAIL_FLOWS for flows, _ in found) else []
                for label, found in of.items()}
            if any(of.values()):
                rows.append(Row(one["from_bytes"], one["to_bytes"], key, of))
    return Table(quantity, tuple(of_label), tuple(rows))


def number(value):
    """Three digits, or all of a whole one."""
    return f"{value:,.0f}" if value >= 999.5 else f"{value:#.3g}".rstrip(".")


def cell(band):
    """A median with the band of the seeds."""
    if band is None:
        return "–"
    mid, low, high = map(number, band)
    return mid if low == high else f"{mid} ({low} to {high})"


def texts(found):
    """(header, rows) for people."""
    names = dict(PERCENTILES)
    return ((found.quantity, "flows", *found.labels),
            [(f"{row.size}, {names[row.key]}", f"{row.flows():,}",
              *(cell(row.band(label)) for label in found.labels)) for row in found.rows])


def csv_rows(found):
    """Rows of COLUMNS."""
    names = dict(PERCENTILES)
    for row in found.rows:
        for label in found.labels:
            if row.of[label]:
                yield (found.quantity, row.low, row.high, names[row.key], label, row.flows(label),
                       len(row.of[label]), *map(rounded, row.band(label)),
                       " ".join(str(rounded(value)) for _, value in row.of[label]))


def write_csv(path, tables):
    """Write {what a table is of: Table}, with a column for that where there are several."""
    is_named = len(tables) > 1
    write_rows(path, ("of",) * is_named + COLUMNS, (
        (name,) * is_named + row for name, found in tables.items() for row in csv_rows(found)))


def _tex(text):
    return PLAIN_TEX.sub(r"\\\1", text)


def _tex_cell(band):
    if band is None:
        return "--"
    mid, low, high = (number(value).replace(",", "{,}") for value in band)
    return mid if low == high else rf"{mid} {{\scriptsize [{low}, {high}]}}"


def origin(version, sources):
    """What tables are of, in lines; sources: [(seeds, scenario)]."""
    yield f"Quell {version}"
    for seeds, scenario in sources:
        yield f"{scenario.title}, seeds {', '.join(map(str, seeds))}"
        yield from (f"{label}: {text}" for label, text in report.algorithms(scenario))


def tex(tables, of):
    """Lines of LaTeX, a tabular for each table; of: origin()."""
    names = dict(PERCENTILES)
    yield r"% \usepackage{booktabs}; medians of the seeds, [least, most]"
    yield from (f"% {' '.join(line.split())}" for line in of)
    for name, found in tables.items():
        yield rf"% {name}: {found.quantity}"
        yield rf"\begin{{tabular}}{{llr{'r' * len(found.labels)}}}"
        yield r"\toprule"
        yield " & ".join(("Flow size", "", "Flows", *map(_tex, found.labels))) + r" \\"
        previous, few = None, False
        for row in found.rows:
            is_slowest = row.key == "p99" and row.flows() < P99_FLOWS
            few |= is_slowest
            if row.size != previous:
                yield r"\midrule"
            first = ("", "") if row.size == previous else (row.size, f"{row.flows():,}")
            yield " & ".join((_tex(first[0]), names[row.key] + DAGGER * is_slowest,
                              first[1].replace(",", "{,}"),
                              *(_tex_cell(row.band(label)) for label in found.labels))) + r" \\"
            previous = row.size
        yield r"\bottomrule"
        if few:
            yield (rf"\multicolumn{{{3 + len(found.labels)}}}{{l}}{{\footnotesize {DAGGER} the "
                   rf"slowest: fewer than {P99_FLOWS} flows}} \\")
        yield r"\end{tabular}"


def write_tex(path, tables, of):
    """Write them."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in tex(tables, of))


def make_chart(found, title):
    """The figure of the classes, a facet for each percentile; None of one class alone."""
    facets = []
    for key, _ in PERCENTILES:
        rows = [row for row in found.rows if row.key == key and not row.is_all]
        if len(rows) > 1:
            of_label = {label: [(place, *row.band(label)) for place, row in enumerate(rows)
                                if row.of[label]] for label in found.labels}
            facets.append(slowdown_chart.facet("Slowdown", of_label, slowdown_chart.TITLES[key],
                                               [row.size for row in rows]))
    return chart.Chart(title, facets, min(len(facets), 3), inch=5.2) if facets else None


def write(out, found, title, of):
    """Write a Table's files, of: origin(); the figure for a page, or None."""
    write_csv(os.path.join(out, FILES[0]), {title: found})
    write_tex(os.path.join(out, FILES[1]), {title: found}, of)
    one = make_chart(found, title)
    if one is None:
        return None
    chart.write_pdf(os.path.join(out, FILES[3]), one, found.labels, title)
    return page.write_figure(out, STEM, one, found.labels, title)
