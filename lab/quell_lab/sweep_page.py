# SPDX-License-Identifier: GPL-2.0
"""What a sweep leaves: one table of medians over seeds, one figure, one page."""

import itertools
import math
import os
import textwrap
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from . import by_size, chart, page, paper, seeds, sweep_store, tables, units, version
from .chart import Axis, Chart, Facet, Line
from .stats import rounded
from .sweep import shown

TABLE = "sweep.csv"
STEM = "sweep"
FIGURE = f"{STEM}.svg"
PDF = "sweep.pdf"
PAGE = "report.html"
NUMBERS = ("seeds", "median", "min", "max", "values")
TITLES = {"fct_p50": "Median FCT", "fct_p99": "99th percentile of FCT",
          "fct_max": "Maximum FCT", "goodput": "Goodput", "queue_max": "Maximum queue",
          "slowdown_p50": "Median slowdown", "slowdown_p99": "99th percentile of slowdown",
          "slowdown_p999": "99.9th percentile of slowdown", "drops": "Drops", "marks": "Marks"}


COLUMNS_MAX = 4
LOG_FROM = 30			# an axis is logarithmic if values differ by so much
LOG_X_FROM = 10
# Factor and unit of an axis by the kind of a quantity.
SCALES = {"time": (1e3, " (µs)"), "rate": (1e9, " (Gbit/s)"), "size": (1e3, " (kB)"),
          "number": (1, "")}
LABEL_LETTERS = 28		# of a line of an axis's label


@dataclass(frozen=True)
class Panel:
    """A quantity of the figure."""

    name: str			# as in the table
    title: str
    kind: str			# of unit
    quantity: str		# of which it is, and over which run's
    more: object		# sweep.PanelMore


def _panel_name(row):
    return paper.quantity_of({"quantity": row.name, "window": row.window, "of": paper.of_row(row)})


def values_of(wanted, run, summary):
    """{quantity: value} of a run's summary, those of the panels first; without what has none."""
    cell = run.cells[0]
    found = {_panel_name(row): paper.value_of(row, summary)
             for row in wanted.rows[cell.source.name, cell.values]}
    found.update(seeds.of_summary(summary))
    return {name: value for name, value in found.items() if value is not None}


class Sums:
    """Values of all runs, by place in the figure."""

    def __init__(self, wanted, values):
        self.wanted = wanted
        self.labels = list(dict.fromkeys(entry.label for source in wanted.sources
                                         for entry in source.entries))
        self.by_place = {}	# (source name, values, label) -> {quantity: [values by seed]}
        for run in wanted.runs:
            for cell in run.cells:
                place = self.by_place.setdefault((cell.source.name, cell.values, cell.label), {})
                for name, value in values.get(run.number, {}).items():
                    place.setdefault(name, []).append(value)
        self.panels = self._panels()
        names = [source.name for source in wanted.sources]
        self.x_name, self.x_values = "Scenario", names
        self.combos = [()]
        if wanted.axes:
            self.x_name, self.x_values = wanted.axes[0].name, wanted.axes[0].values
            self.combos = list(itertools.product(names, *(axis.values for axis in wanted.axes[1:])))

    def _panels(self):
        rows = next(iter(self.wanted.rows.values()))
        return [self._panel(row, more) for row, more in zip(rows, self.wanted.more)]

    def _panel(self, row, more):
        quantity = _panel_name(row)
        over = f" over {more.over}" if more.over else ""
        title = TITLES.get(row.name, row.name.replace("_", " ")) + quantity.removeprefix(row.name)
        return Panel(quantity + over, more.name or title + over,
                     "number" if over else row.quantity.kind, quantity, more)

    def _values(self, panel, place):
        """The panel's values of a place by seed, as many as there are."""
        values = self.by_place.get(place, {}).get(panel.quantity, [])
        if not panel.more.over:
            return values
        below = self.by_place.get((*place[:2], panel.more.over), {}).get(panel.quantity, [])
        return [value / other for value, other in zip(values, below) if other]

    def combo_title(self, combo):
        """What a column of panels is of."""
        if not combo:
            return ""
        words = [] if len(self.wanted.sources) == 1 else [combo[0]]
        words += [f"{axis.name} {shown(value)}"
                  for axis, value in zip(self.wanted.axes[1:], combo[1:])]
        return ", ".join(words)

    def at(self, panel, combo, x, label):
        """(median, least, most) over the seeds that have a value, or None."""
        place = (combo[0], (x, *combo[1:]), label) if combo else (x, (), label)
        values = self._values(panel, place)
        return (median(values), min(values), max(values)) if values else None


def _whole(number):
    value = rounded(number)
    return int(value) if value == int(value) else value


def _middle(numbers):
    """Their median, whole if it is."""
    return _whole(median(numbers))


def _write_table(path, wanted, sums):
    header = ("scenario", "cc", *(axis.key for axis in wanted.axes), "quantity", *NUMBERS)
    tables.write_csv(path, header, (
        (source, label, *map(shown, values), name, len(numbers),
         _middle(numbers),
         _whole(min(numbers)), _whole(max(numbers)), " ".join(map(str, map(_whole, numbers))))
        for (source, values, label), quantities in sums.by_place.items()
        for name, numbers in quantities.items()))


def _plain(text):
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def positions(values):
    """(where each value is on the x axis, whether that is logarithmic); texts are in a row."""
    texts = [shown(value).strip() for value in values]
    # The first way in which all values can be read as numbers.
    for parse in (_plain, units.parse_time, units.parse_size, units.parse_rate):
        try:
            numbers = [float(parse(text)) for text in texts]
        except ValueError:
            continue
        if len(set(numbers)) == len(numbers) and all(map(math.isfinite, numbers)):
            return numbers, min(numbers) > 0 and max(numbers) >= LOG_X_FROM * min(numbers)
    return [float(number) for number in range(len(texts))], False


def _points(sums, panel, combo, label):
    """[(x, value)] that the paper has of a panel and run."""
    where = dict(zip(sums.x_values, positions(sums.x_values)[0]))
    return [(where[point.at if combo else point.scenario],
             float(units.exact(str(point.value), panel.kind)[0]) / SCALES[panel.kind][0])
            for point in panel.more.points
            if point.run == label and point.value is not None
            and (not combo or point.scenario == combo[0])]


def _panel_lines(sums, panel, combo):
    """A curve of medians with a band and bars over the seeds for each run, the paper's as marks."""
    where, factor = positions(sums.x_values)[0], SCALES[panel.kind][0]
    lines = []
    for label, number in chart.numbers(sums.labels).items():
        rows = [[value / factor for value in row] if row else [math.nan] * 3 for row in (
            sums.at(panel, combo, x, label) for x in sums.x_values)]
        look = {"marker": chart.marker(number), "markersize": 4}
        lines += [Line(where, [row[0] for row in rows], "line", label, label, look),
                  Line(where, [row[1:] for row in rows], "band", run=label)]
        lines += [Line([x, x], row[1:], "line", run=label, look={"linewidth": 0.8})
                  for x, row in zip(where, rows)]
        points = _points(sums, panel, combo, label)
        lines.append(Line([x for x, _ in points], [value for _, value in points], "points",
                          run=label, look={"marker": chart.marker(number), "markersize": 9}))
    return lines


def _facets(sums, panel):
    """Of a quantity for each combination, with one scale: from 0, or logarithmic."""
    where, is_log = positions(sums.x_values)
    factor, unit = SCALES[panel.kind]
    values = [value / factor for combo in sums.combos for label in sums.labels
              for value in [value for x in sums.x_values
                            for value in sums.at(panel, combo, x, label) or ()]]
    values += [value for combo in sums.combos for label in sums.labels
               for _, value in _points(sums, panel, combo, label)]
    scale = chart.log(values, LOG_FROM)
    ends = (min(values) / 1.5, max(values) * 1.5) if scale["value"] == "log" else (
        0, (max(values, default=1) or 1) * 1.06)
    y = Axis(textwrap.fill(panel.title + unit, LABEL_LETTERS), *ends, scale)
    x = Axis(sums.x_name, scale={"value": "log" if is_log else "linear"},
             ticks=(where, [shown(value) for value in sums.x_values]))
    return [Facet(_panel_lines(sums, panel, combo), x, y, sums.combo_title(combo), inch=2.7)
            for combo in sums.combos]


def make_chart(sums):
    """
    The Chart: a facet for each quantity, and beside each other for each scenario and each value of
    the second parameter.
    """
    columns = min(len(sums.combos), COLUMNS_MAX) if len(sums.combos) > 1 else 2
    facets = []
    for panel in sums.panels:
        found = _facets(sums, panel)
        empty = -len(found) % columns if len(sums.combos) > 1 else 0
        facets += found + [None] * empty
    return Chart(sums.wanted.title, facets, columns, 3.7)


def _panel_table(sums, panel):
    factor, unit = SCALES[panel.kind]
    rows = []
    for combo, x in itertools.product(sums.combos, sums.x_values):
        cells = []
        for label in sums.labels:
            row = sums.at(panel, combo, x, label)
            texts = [seeds.plain(value / factor) for value in row] if row else []
            cells.append("–" if not row else texts[0] if texts[1] == texts[2] else
                         f"{texts[0]} ({texts[1]} to {texts[2]})")
        rows.append((", ".join(filter(None, [sums.combo_title(combo),
                                             f"{sums.x_name} {shown(x)}"])), *cells))
    return panel.title + unit, (("", *sums.labels), rows)


def compared(sums, name):
    """Rows as paper.compare() has them: a paper's numbers and ours."""
    wanted = sums.wanted
    rows = []
    for panel, point in ((panel, point) for panel in sums.panels for point in panel.more.points):
        values = (point.at, *(axis.values[0] for axis in wanted.axes[1:])) if wanted.axes else ()
        by_label = {label: sums.at(panel, (point.scenario, *values[1:]), point.at, label)
                    if wanted.axes else sums.at(panel, (), point.scenario, label)
                    for label in sums.labels}
        of = {label: row[0] for label, row in by_label.items() if row}
        rows.append(_row(panel, point, wanted, of, name))
    return rows


def _row(panel, point, wanted, of, name):
    """A row of a point; of: {label: ours}."""
    value, suffix = None, paper.UNIT_DEFAULT[panel.kind]
    if point.value is not None:
        value, suffix = units.exact(str(point.value), panel.kind)
    shown_of = {label: units.show_in(Fraction(str(one)), suffix, panel.kind)
                for label, one in of.items()}
    ours = of.pop(point.run, None)
    place = ", ".join(([point.scenario] if len(wanted.sources) > 1 else [])
                      + [f"{wanted.axes[0].name} {shown(point.at)}"] * bool(wanted.axes))
    return {"figure": panel.more.figure, "quantity": panel.name, "window": paper.RUN,
            "of": f" at {place}" if place else "", "run": point.run, "kind": panel.kind,
            "paper": float(value) if value is not None else None, "ours": ours,
            "ratio": round(float(Fraction(str(ours)) / value), 4) if value and ours is not None
            else None,
            "paper_text": str(point.value) if value is not None else "-",
            "ours_text": shown_of.pop(point.run, "-"), "others": of, "others_text": shown_of,
            "note": point.note, "scenario": name, "report": f"{name}/{PAGE}"}


def by_places(wanted, classes):
    """{what runs have in common: by_size.Table}, of each scenario and combination of values."""
    found = {}
    for run in wanted.runs:
        for cell in run.cells:
            words = [cell.source.name] * (len(wanted.sources) > 1) + [
                f"{axis.name} {shown(value)}" for axis, value in zip(wanted.axes, cell.values)]
            place = found.setdefault(", ".join(words) or wanted.title, {})
            if run.number in classes:
                place.setdefault(cell.label, []).append(classes[run.number])
    tables = {name: by_size.table(place) for name, place in found.items()}
    return {name: one for name, one in tables.items() if one}


def file_texts(wanted):
    """{path: text} of all files of a sweep, relative to its own directory."""
    top = os.path.dirname(wanted.path) or os.curdir
    return {os.path.relpath(path, top): text for source in (wanted, *wanted.sources)
            for path, text in source.texts.items()}


def write(out, wanted, found, failed, kernel):
    """Write tables, figure and page; the Sums.  found: {run number: values_of()} and {run number:
    by_size.classes()}; failed: {run number: why it has none}."""
    values, classes = found
    sums = Sums(wanted, values)
    sizes = by_places(wanted, classes)
    by_size.write_csv(os.path.join(out, by_size.FILES[0]), sizes)
    by_size.write_tex(os.path.join(out, by_size.FILES[1]), sizes, by_size.origin(
        version.text(), [(source.seeds, wanted.first(source)) for source in wanted.sources]))
    _write_table(os.path.join(out, TABLE), wanted, sums)
    one = make_chart(sums)
    chart.write_pdf(os.path.join(out, PDF), one, sums.labels, wanted.title)
    seeds_of = sorted({len(source.seeds) for source in wanted.sources})
    page.write(
        os.path.join(out, PAGE), "sweep.html", title=wanted.title, drawn=page.write_figure(
            out, STEM, one, sums.labels, wanted.title),
        lead=f"{len(wanted.runs)} runs of real kernel TCP in virtual time, "
        f"{' or '.join(map(str, seeds_of))} seed{'s' if seeds_of != [1] else ''} each.",
        caption="Medians over the seeds; bands and bars reach from the least to the most of them. "
        f"{TABLE} has these and more quantities in base units, and each seed's value.",
        tables=[_panel_table(sums, panel) for panel in sums.panels], runs=len(wanted.runs),
        sizes=[(name, by_size.texts(one)) for name, one in sizes.items()],
        outputs=(TABLE, FIGURE, PDF, *by_size.FILES[:2]),
        failed=[(number, wanted.runs[number - 1].text(wanted.axes), why)
                for number, why in sorted(failed.items())],
        kernel=kernel.version, version=sweep_store.lab_version()[:12],
        files=file_texts(wanted))
    return sums
