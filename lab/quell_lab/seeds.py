# SPDX-License-Identifier: GPL-2.0
"""One scenario with several seeds: each seed's own results, tables and medians over all."""

import os
import sys
from statistics import median

from . import by_size, output, page, paper, report, show, slowdown, tables, targets
from .schema import Key
from .stats import rounded

COUNT = Key("int", 2, 1000)
SAME = "all seeds have the same result: the scenario has no random part"
COLUMNS = ("cc", "quantity", "seeds", "median", "min", "max")
# Quantities of a run: as its table names and writes them.
OF_RUN = {
    "fct_p50_ns": ("FCT p50", show.micro),
    "fct_p99_ns": ("FCT p99", show.micro),
    "fct_max_ns": ("FCT max", show.micro),
    "offered_bits_ps": ("offered load", show.gbit),
    "carried_bits_ps": ("carried load", show.gbit),
    "goodput_bits_ps": ("goodput", show.gbit),
    "queue_max_bytes": ("queue max", show.kilo),
}


def build_all(build, first, count):
    """[(seed, Scenario)]: build(seed) for so many seeds from the first on."""
    return [(seed, build(seed)) for seed in range(first, first + count)]


def _slowdowns(numbers):
    """[(quantity, value)] of all flows, then of each class of size; none of flows alike."""
    for one in (numbers["all"], *numbers["classes"]) if numbers else ():
        for name, _ in slowdown.PERCENTILES:
            if name != "p999" or one["flows"] >= slowdown.TAIL_FLOWS:
                yield f"slowdown_{name} {slowdown.class_name(one)}", one[name]


def _paper_name(row):
    return f"{row['figure']}: {paper.quantity_of(row)}"


def of_summary(one):
    """[(quantity, value)] of one run's summary, None without a value."""
    yield from ((f"fct_{name}_ns", one["fct_ns"][name]) for name in ("p50", "p99", "max"))
    yield from _slowdowns(one["slowdown"])
    for key in ("offered_bits_ps", "carried_bits_ps"):
        yield key, one["load"][key] if one["load"] else None
    yield "goodput_bits_ps", one["goodput_bits_ps"]
    yield "drops", one["drops"]
    yield "queue_max_bytes", one["queue"]["max_bytes"] if one["queue"] else None


def _values(done):
    """{(cc, quantity): value} of one seed's results, without those that have none."""
    found = {(label, quantity): value for label, one in done.summaries.items()
             for quantity, value in of_summary(one)}
    for row in done.paper:
        for label, value in {row["run"]: row["ours"], **row["others"]}.items():
            found[label, _paper_name(row)] = value
    return {key: value for key, value in found.items() if value is not None}


def is_same(evaluations):
    """Whether all seeds have the same values, and some."""
    first, *others = map(_values, evaluations)
    return bool(first) and all(other == first for other in others)


def medians(evaluations):
    """Rows of COLUMNS; of each quantity over the seeds that have a value of it."""
    found = {}
    for done in evaluations:
        for key, value in _values(done).items():
            found.setdefault(key, []).append(value)
    labels = list(dict.fromkeys(label for label, _ in found))
    return sorted(((label, quantity, len(values),
                    *map(rounded, (median(values), min(values), max(values))))
                   for (label, quantity), values in found.items()),
                  key=lambda row: labels.index(row[0]))


def plain(value):
    """Four digits, or all of a whole part."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def texts(rows, scenario, compared):
    """
    Rows for people, named and in the units of a single run's tables.  Compared:
    what paper.compare() said of the scenario, row by row.
    """
    of_paper = {_paper_name(said): row for row, said in zip(scenario.paper, compared)}
    for label, quantity, seeds, *values in rows:
        name, write = OF_RUN.get(quantity, (quantity, plain))
        if quantity in of_paper:
            shown = [paper.shown(of_paper[quantity], value) for value in values]
        else:
            shown = [write(value) for value in values]
        yield f"{label}: {name}", str(seeds), *shown


def _write(out, seeds, rows, lines, facts):
    """Write all files; the table by size, or None."""
    tables.write_csv(os.path.join(out, "seeds.csv"), COLUMNS, rows)
    title = f"{seeds[0].scenario.title}: {len(seeds)} seeds"
    found = by_size.table({label: [by_size.classes(seed.done.summaries[label]) for seed in seeds
                                   if seed.done.good]
                           for label in (one.label for one in seeds[0].scenario.variants)})
    good = [seed.scenario.seed for seed in seeds if seed.done.good]
    of = by_size.origin(facts["version"], [(good, seeds[0].scenario)])
    drawn = by_size.write(out, found, title, of) if found else None
    # Flows differ between seeds.
    network = [row for row in report.network(seeds[0].scenario) if row[0] != "Flows"]
    page.write(os.path.join(out, "report.html"), "seeds.html", lines=lines, title=title,
               command=facts["command"], notes=facts["notes"],
               facts=network + report.algorithms(seeds[0].scenario) + [
                   ("Seeds", ", ".join(str(seed.scenario.seed) for seed in seeds)),
                   ("Kernel", facts["kernel"]), ("Quell", facts["version"])],
               lead="Medians over the seeds that have a value, with the least and the most.",
               table=by_size.texts(found) if found else None,
               looks=page.looks(found.labels if found else ()),
               drawn=drawn,
               files=[name for name in by_size.FILES if os.path.exists(os.path.join(out, name))],
               links=[(seed.name, f"Seed {seed.scenario.seed}", seed.done.good) for seed in seeds])
    return found


def run(wanted, kernel, args, timeout_s, facts):
    """Run all seeds, print and write their medians; whether every run was good."""
    seeds = [output.Batch(f"seed-{number}", one, kernel, args.out) for number, one in wanted]
    output.run(seeds, timeout_s, args.quiet, facts)
    rows = medians([seed.done for seed in seeds])
    # The table by size has the classes.
    lines = [line for row, line in zip(rows, texts(rows, seeds[0].scenario, seeds[0].done.paper))
             if not row[1].startswith("slowdown_")]
    notes = targets.of_scenario(seeds[0].scenario)
    if is_same([seed.done for seed in seeds]):
        notes.append(SAME)
    found = _write(args.out, seeds, rows, lines, dict(facts, notes=notes))
    if not args.quiet:
        if SAME in notes:
            print(f"lab: note: {SAME}", file=sys.stderr)
        print("\n".join(show.lines(("", "seeds", "median", "least", "most"), lines)))
        if found:
            print("\n" + "\n".join(show.lines(*by_size.texts(found))))
        print(f"report: {os.path.join(args.out, 'report.html')}")
    return all(seed.done.good for seed in seeds)
