# SPDX-License-Identifier: GPL-2.0
"""The same scenarios under two kernels: which quantities differ by more than the seeds do."""

import os
from dataclasses import dataclass
from statistics import median

from . import output, seeds, show, sweep, tables
from .errors import InputError
from .schema import Key
from .stats import rounded

COUNT = Key("int", 3, 1000)
SEEDS = "5"
# Of medians; closer ones are not reported, however little the seeds differ.
LEAST_RATIO = 0.01
FILE = "diff.csv"
NO_SPREAD = " (no spread)"
COLUMNS = ("scenario", "cc", "quantity", "seeds", "a_median", "a_min", "a_max", "b_median",
           "b_min", "b_max", "ratio", "differs")


@dataclass(frozen=True)
class Row:
    """A quantity of an algorithm in a scenario, under both kernels."""

    scenario: str
    label: str
    quantity: str
    a: tuple		# values of the seeds
    b: tuple

    @property
    def ratio(self):
        """Median under B over that under A; None where A's is 0."""
        return median(self.b) / median(self.a) if median(self.a) else None

    @property
    def differs(self):
        """Whether the seeds' ranges are apart, and the medians by more than LEAST_RATIO."""
        apart = max(self.a) < min(self.b) or max(self.b) < min(self.a)
        return apart and (self.ratio is None or abs(self.ratio - 1) >= LEAST_RATIO)


    @property
    def has_spread(self):
        """Whether the seeds change it at all."""
        return len({*self.a}) > 1 or len({*self.b}) > 1


def rows(stem, ours, theirs):
    """
    Rows of one scenario.  Ours and theirs: a list for each seed of {label: summary}; a quantity
    counts that has a value of each seed.
    """
    sides = []
    for evaluations in (ours, theirs):
        found = {}
        for summaries in evaluations:
            for label, one in summaries.items():
                for quantity, value in seeds.of_summary(one):
                    if value is not None:
                        found.setdefault((label, quantity), []).append(value)
        sides.append({key: tuple(values) for key, values in found.items()
                      if len(values) == len(evaluations)})
    return [Row(stem, *key, values, sides[1][key]) for key, values in sides[0].items()
            if key in sides[1]]


def write(path, found):
    """The table of all quantities, in base units."""
    tables.write_csv(path, COLUMNS, (
        (row.scenario, row.label, row.quantity, len(row.a),
         *(rounded(of(values)) for values in (row.a, row.b) for of in (median, min, max)),
         "" if row.ratio is None else round(row.ratio, 4), int(row.differs)) for row in found))


def _shown(quantity, values):
    _, text = seeds.OF_RUN.get(quantity, (quantity, lambda value: f"{value:.4g}"))
    return f"{text(median(values))} ({text(min(values))} to {text(max(values))})"


def texts(found):
    """Lines for people: the quantities that differ, the largest ratio of a scenario first."""
    for row in found:
        if row.differs:
            name, _ = seeds.OF_RUN.get(row.quantity, (row.quantity, None))
            yield (f"{row.scenario}, {row.label}: {name}{'' if row.has_spread else NO_SPREAD}",
                   _shown(row.quantity, row.a),
                   _shown(row.quantity, row.b), "-" if row.ratio is None else f"{row.ratio:.3f}")


def _points(path, scale):
    """[(stem, build(seed), first seed)] of the points of a sweep, each with all its algorithms."""
    plan = sweep.Sweep(path, scale)
    return [("-".join((source.name, *sweep.point_words(plan.axes, values))).replace("/", "_"),
             lambda seed, point=(source, values): plan.at(*point, seed), source.seeds[0])
            for source, values in plan.points()]


def scenarios(paths, build, scale, count):
    """
    [(stem, [(seed, Scenario)])] of the files and of the points of sweeps; build(path, seed) of a
    scenario, None: the file's seed.
    """
    found = {}
    for path in paths:
        if path.endswith(".sweep"):
            points = _points(path, scale)
        else:
            points = [(os.path.basename(path).removesuffix(".scenario"),
                       lambda seed, path=path: build(path, seed), build(path, None).seed)]
        for stem, build_one, first in points:
            if stem in found:
                raise InputError(path, f"a second scenario of the name '{stem}'")
            found[stem] = seeds.build_all(build_one, first, count)
    return list(found.items())


def run(wanted, kernels, args, timeout_s, facts):
    """Run all scenarios under both kernels, print and write the differences; whether all ran."""
    batches = {}
    for side, kernel in zip("ab", kernels):
        for stem, builds in wanted:
            batches[side, stem] = [
                output.Batch(os.path.join(side, stem, f"seed-{seed}"), one, kernel, args.out)
                for seed, one in builds]
            for batch in batches[side, stem]:
                batch.facts = {"kernel": kernel.version, "kernel_kind": kernel.kind}
    every = [batch for group in batches.values() for batch in group]
    output.run(every, timeout_s, args.quiet, facts)
    found = [row for stem, _ in wanted for row in rows(stem, *(
        [batch.done.summaries for batch in batches[side, stem]] for side in "ab"))]
    write(os.path.join(args.out, FILE), found)
    if not args.quiet:
        print("\n".join(f"{side.upper()}: {kernel.label}, Linux {kernel.version}"
                        for side, kernel in zip("ab", kernels)))
        lines = list(texts(found))
        print("\n".join(show.lines(("differs", "A", "B", "B/A"), lines)) if lines else
              "no difference above the seeds' spread")
        print(f"{len(lines)} of {len(found)} quantities differ; all are in "
              f"{os.path.join(args.out, FILE)}")
    return all(batch.done.good for batch in every)
