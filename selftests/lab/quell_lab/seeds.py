# SPDX-License-Identifier: GPL-2.0
"""One scenario with several seeds: each seed's own results, and medians over all."""

import csv
import html
import os
from statistics import median

from . import output, report, runner, show, slowdown
from .schema import Key

COUNT = Key("int", 2, 1000)
COLUMNS = ("cc", "quantity", "seeds", "median", "min", "max")


def build_all(build, first, count):
    """[(seed, Scenario)]: build(seed) for so many seeds from the first on."""
    return [(seed, build(seed)) for seed in range(first, first + count)]


class Seed:
    """The runs with one seed, evaluated when the last of them ends."""

    def __init__(self, number, wanted, kernel, out):
        self.name = f"seed-{number}"
        self.number = number
        self.scenario = wanted
        self.directory = os.path.join(out, self.name)
        os.makedirs(self.directory, exist_ok=True)
        output.clear(self.directory)
        self.jobs = runner.make_jobs(wanted, kernel, self.directory, self.name)
        self.outcomes = {}
        self.done = None

    def finished(self, job, outcome, facts):
        """Take an outcome; with the last one write this seed's results."""
        self.outcomes[job] = outcome
        if len(self.outcomes) == len(self.jobs):
            self.done = output.evaluate(self.directory, self.scenario, self.jobs, self.outcomes,
                                        facts)
            self.outcomes = {}	# tables of a run are large


def _values(done):
    """[(cc, quantity, value)] of one seed's results."""
    for label, one in done.summaries.items():
        for name in ("p50", "p99", "max"):
            yield label, f"fct_{name}_ns", one["fct_ns"][name]
        for numbers in one["slowdown"]["classes"] if one["slowdown"] else ():
            for name, _ in slowdown.PERCENTILES:
                yield label, f"slowdown_{name} {slowdown.class_name(numbers)}", numbers[name]
        yield label, "goodput_bits_ps", one["goodput_bits_ps"]
        yield label, "drops", one["drops"]
        yield label, "queue_max_bytes", one["queue"]["max_bytes"] if one["queue"] else None
    for row in done.paper:
        quantity = f"{row['figure']}: {row['quantity']}{row['of']}"
        for label, value in {row["run"]: row["ours"], **row["others"]}.items():
            yield label, quantity, value


def medians(evaluations):
    """Rows of COLUMNS over the seeds; quantities that a seed has no value of are left out."""
    found = {}
    for done in evaluations:
        for label, quantity, value in _values(done):
            found.setdefault((label, quantity), []).append(value)
    return [(label, quantity, len(values), median(values), min(values), max(values))
            for (label, quantity), values in found.items()
            if len(values) == len(evaluations) and None not in values]


def _text(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _write(out, seeds, rows, facts):
    with open(os.path.join(out, "seeds.csv"), "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(rows)
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in (
        f"{label}: {quantity}", *(_text(value) for value in values))) + "</tr>"
                    for label, quantity, _, *values in rows)
    items = "".join(f'<li><a href="{seed.name}/report.html">Seed {seed.number}</a>'
                    f"{'' if seed.done.good else ': must not be trusted'}</li>" for seed in seeds)
    parts = ['<div class="scroll"><table><thead><tr><th>Quantity</th><th>Median</th><th>Least'
             f"</th><th>Most</th></tr></thead><tbody>{lines}</tbody></table></div>",
             "<h2>Reports</h2>", f"<ul>{items}</ul>", "<h2>Reproduce</h2>",
             f"<pre>{html.escape(facts['command'])}</pre>"]
    with open(os.path.join(out, "report.html"), "w", encoding="utf-8") as file:
        file.write(report.page(html.escape(f"{seeds[0].scenario.title}: {len(seeds)} seeds"),
                               "Medians over seeds, with the least and the most of them.", parts))


def run(wanted, kernel, args, timeout_s, facts):
    """Run all seeds, print and write their medians; whether every run was good."""
    seeds = [Seed(number, one, kernel, args.out) for number, one in wanted]
    of_job = {job: seed for seed in seeds for job in seed.jobs}
    runner.run_all(list(of_job), facts["jobs"], timeout_s, args.quiet,
                   lambda job, outcome: of_job[job].finished(job, outcome, facts))
    rows = medians([seed.done for seed in seeds])
    _write(args.out, seeds, rows, facts)
    if not args.quiet:
        print("\n".join(show.lines(("", "median", "least", "most"), [
            (f"{label}: {quantity}", *(_text(value) for value in values))
            for label, quantity, _, *values in rows])))
        print(f"report: {os.path.join(args.out, 'report.html')}")
    return all(seed.done.good for seed in seeds)
