# SPDX-License-Identifier: GPL-2.0
"""Everything a run leaves in its directory."""

import contextlib
import fnmatch
import glob
import json
import os
import shutil
from dataclasses import asdict, dataclass

from . import charts, page, paper, parted, plot_tables, report, results as checks, \
    runner, show, slowdown, summary, tables, targets
from .errors import RunError

FILES = ("programs.csv", "connections.csv", "flows.csv", "queues.csv", "cwnd.csv", "delivered.csv", "dart.csv", "pfc.csv",
         "pauses.csv", "slowdown.csv", "summary.json", "report.html")
# Of several seeds, or kernels: their tables, and the directories of their runs.
TABLES = ("seeds.csv", "diff.csv", "by-size*")
PARTS = ("raw", "seed-*", "[ab]/*/seed-*")
STEMS = ("joins", "joins-cdf", "start-finish", "fct-cdf", "jain", "queue", "goodput", "cwnd",
         "slowdown")


@dataclass(frozen=True)
class Evaluation:
    """What became of a scenario's runs."""

    summaries: dict		# label -> summary of the runs that gave a result
    paper: list			# comparisons with the paper's figures
    good: bool			# every run gave a result that can be


def clear(directory):
    """Remove an earlier result, so that nothing old is taken for new."""
    names = FILES + tuple(f"{stem}{end}.svg" for stem in STEMS for end in ("", page.NARROW))
    if os.path.isdir(directory):
        names += tuple(name for stem in (charts.DART_STEM, plot_tables.STEM)
                       for name in fnmatch.filter(os.listdir(directory), f"{stem}*.svg"))
        names += tuple(name for one in TABLES
                       for name in fnmatch.filter(os.listdir(directory), one))
    for name in names:
        path = os.path.join(directory, name)
        if os.path.exists(path):
            os.remove(path)
    for part in PARTS:
        for path in glob.glob(os.path.join(glob.escape(directory), part)):
            shutil.rmtree(path, ignore_errors=True)
    for part in ("[ab]/*", "[ab]"):
        for path in glob.glob(os.path.join(glob.escape(directory), part)):
            with contextlib.suppress(OSError):	# it has other files, or is one
                os.rmdir(path)


def _record(record):
    """Sampling intervals; ports whose packets are written by their labels, if there are any."""
    found = dict(vars(record))
    labels = [port.label for port in found.pop("pcap")]
    return dict(found, pcap=labels) if labels else found


def _config(scenario):
    """The scenario as run, in base units."""
    return {
        "title": scenario.title,
        "as_written": scenario.config,
        "hosts": len(scenario.graph.hosts),
        "switches": len(scenario.graph.switches),
        "cables": [{"a": c.a, "b": c.b, "rate_bits_ps": c.rate_bits_ps, "delay_ns": c.delay_ns,
                    "mtu_bytes": c.mtu_bytes} for c in scenario.graph.cables],
        "queue": asdict(scenario.queue),
        **({"pfc": asdict(scenario.pfc)} if scenario.pfc else {}),
        "record": _record(scenario.record),
        "until_ns": scenario.until_ns,
    }


class Batch:
    """The runs of one scenario, evaluated when the last of them ends."""

    def __init__(self, name, scenario, kernel, out):
        self.name = name
        self.scenario = scenario
        self.directory = os.path.join(out, name)
        os.makedirs(self.directory, exist_ok=True)
        clear(self.directory)
        self.jobs = parted.make_jobs(scenario, kernel, self.directory, name)
        self.outcomes = {}
        self.done = Evaluation({}, [], False)
        self.facts = {}		# beside those of all

    def finished(self, job, outcome, facts):
        """Take an outcome; with the last one write the results."""
        self.outcomes[job] = outcome
        if len(self.outcomes) == len(self.jobs):
            self.done = evaluate(self.directory, self.scenario, self.jobs, self.outcomes, facts)
            self.outcomes = {}	# tables of a run are large


def run(batches, timeout_s, quiet, facts):
    """Make all runs of some batches."""
    of_job = {job: batch for batch in batches for job in batch.jobs}
    runner.run_all(list(of_job), facts["jobs"], timeout_s, quiet, lambda job, outcome:
                   of_job[job].finished(job, outcome, dict(facts, **of_job[job].facts)))


def evaluate(directory, scenario, jobs, outcomes, facts):
    """Judge the outcomes of a scenario's jobs, say what failed, write all files."""
    failures = {}
    for job in jobs:
        if isinstance(outcomes[job], RunError):
            failures.setdefault(job.variant.label, []).append(str(outcomes[job]))
        if job.complaints:
            failures.setdefault(job.variant.label, []).append(
                f"the kernel complained, see {job.log}: {job.complaints[0]}")
    good = [outcomes[job] for job in jobs if not isinstance(outcomes[job], RunError)]
    summaries, rows, problems = write(directory, scenario, good, failures, facts)
    show.explain(jobs, failures, problems)
    return Evaluation(summaries, rows, not failures and not problems)


def write(directory, scenario, results, failures, facts):
    """Write all files; ({label: summary}, paper's figures, {label: problems})."""
    tables.write(directory, results)
    summaries = {result.variant.label: summary.summarise(scenario, result) for result in results}
    if summaries and slowdown.has_sizes(scenario.flows):
        tables.write_slowdown(directory, summaries)
    problems = {}
    for result in results:
        found = checks.physics(scenario, result)
        summaries[result.variant.label]["physics"] = found
        if found:
            problems[result.variant.label] = found
    rows = paper.compare(scenario, summaries)
    document = {
        "quell_lab": 1,
        "version": facts["version"],
        "seed": scenario.seed,
        "kernel": facts["kernel"],
        "kernel_kind": facts["kernel_kind"],
        "jobs": facts["jobs"],
        "command": facts["command"],
        "config": _config(scenario),
        "notes": targets.of_scenario(scenario),
        "failures": failures,
        "paper": rows,
        "cc": summaries,
    }
    with open(os.path.join(directory, "summary.json"), "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    figures = {}
    if results and facts["has_figures"]:
        figures = _draw_all(directory, scenario, results, summaries)
    report.write(os.path.join(directory, "report.html"), scenario, summaries, rows, figures,
                 problems, failures, dict(facts, notes=document["notes"]))
    return summaries, rows, problems


def _draw_all(directory, scenario, results, summaries):
    """Write each figure's file; {stem: page.Drawn} for the report."""
    makers = charts.of_run(scenario, results, summaries)
    drawn = {}
    for number, (stem, make) in enumerate(makers.items(), 1):
        show.progress(f"drawing figure {number} of {len(makers)}: {stem}")
        drawn[stem] = page.write_figure(directory, stem, make(), list(summaries),
                                        f"{scenario.title}: {stem}")
    show.progress("")
    return drawn
