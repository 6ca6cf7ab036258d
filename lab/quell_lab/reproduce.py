# SPDX-License-Identifier: GPL-2.0
"""Runs every scenario that names a paper's figure, and sets ours beside it."""

import difflib
import glob
import json
import os
from types import SimpleNamespace

from . import chart, figures, files, fluid, output, page, paper, runner, scenario, sweep, \
    sweep_page, sweep_run
from .errors import InputError
from .schema import Places

SCENARIOS = figures.SCENARIOS
NAMES_TOLD = 5
FLUID = ("Two flows that begin with 100 and 50 Gbit/s, by the paper's equations: how much nearer "
         "to each other they are if they decrease once per 30 packets, not per round trip of "
         "30 us.")


def _named(directory, scale):
    """
    [(thing, its file's name, names of its figures)] of a directory's files that name a paper's
    figure: a thing is (path, Scenario) or a Sweep.
    """
    known = figures.load()[1]
    named = []
    for path in sorted(glob.glob(os.path.join(directory, "*.scenario"))):
        table = files.load(path)
        one = scenario.build(table, Places(os.path.relpath(path)),
                             scale if scale in table.get("scale", {}) else None)
        named.append(((os.path.relpath(path), one), _stem(path), [row.figure for row in one.paper]))
    for path in sorted(glob.glob(os.path.join(directory, "*.sweep"))):
        one = sweep.Sweep(os.path.relpath(path), scale)
        named.append((one, _stem(path), [more.figure for more in one.more if more.figure]))
    return [(thing, [stem], list(dict.fromkeys(
                names + [str(one) for one in known if stem in one.scenarios])))
            for thing, stem, names in named if names]


def _suggestion(word, named):
    """Names that are like a word, or all of a few, or where all are."""
    names = list(dict.fromkeys(name for _, stems, names in named for name in [*stems, *names]))
    close = difflib.get_close_matches(word, names, NAMES_TOLD)
    told = ", ".join(close or (names if len(names) <= NAMES_TOLD else []))
    return f": {told}" if told else "; lab figures has all of them"


def choose(directory, word, scale=None):
    """
    [(path, Scenario)] and [Sweep] of a directory's files that name a paper's figure,
    those alone of which a figure or the file has the word in its name, see
    figures.pick(); at a scale those that have it.
    """
    named = _named(directory, scale)
    if not named:
        raise InputError("--scenarios", f"no scenario in '{directory}' has paper rows")
    chosen = figures.pick(word, named, is_part=False)
    told = None
    if not chosen and directory == SCENARIOS:
        told = figures.elsewhere(figures.load()[1], word)
    chosen = chosen or (figures.pick(word, named) if told is None else [])
    if not chosen:
        raise InputError("reproduce", told or f"no figure has '{word}' in its name" +
                         _suggestion(word, named))
    return ([one for one in chosen if isinstance(one, tuple)],
            [one for one in chosen if isinstance(one, sweep.Sweep)])


def _stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def check_sweep(wanted, kernel, quiet, jobs_max):
    """InputError before anything runs for what is wrong with a sweep or this machine."""
    sweep_run.check(wanted, kernel, SimpleNamespace(only=None, part=None, quiet=quiet), jobs_max)


class Swept:
    """A sweep, run as a whole."""

    def __init__(self, wanted, out):
        self.stem = _stem(wanted.path)
        self.path = wanted.path
        self.title = wanted.title
        self.wanted = wanted
        self.directory = os.path.join(out, self.stem)
        self.rows = []
        self.good = False

    def run(self, kernel, how):
        """Make its runs, table, figure and page."""
        os.makedirs(self.directory, exist_ok=True)
        args = SimpleNamespace(out=self.directory, only=None, part=None, quiet=how[2])
        self.good, self.rows = sweep_run.execute(self.wanted, kernel, args, how)

    def figure(self):
        """(page.Drawn, caption)."""
        with open(os.path.join(self.directory, sweep_page.FIGURE), encoding="utf-8") as file:
            return (page.drawn(file.read(), self.stem, True), f"{self.title}. Small marks and "
                    "lines: ours; large hollow marks: the paper's numbers.")


class Group:
    """The jobs of one scenario, evaluated when the last of them ends."""

    def __init__(self, path, wanted, kernel, out):
        self.path = path
        self.stem = _stem(path)
        self.title = wanted.title
        self.scenario = wanted
        self.directory = os.path.join(out, self.stem)
        os.makedirs(self.directory, exist_ok=True)
        output.clear(self.directory)
        self.jobs = runner.make_jobs(wanted, kernel, self.directory, self.stem)
        self.outcomes = {}
        self.rows = []
        self.summaries = {}
        self.good = False

    def finished(self, job, outcome, facts):
        """Take an outcome; with the last one write the scenario's results."""
        self.outcomes[job] = outcome
        if len(self.outcomes) < len(self.jobs):
            return
        command = f"lab/lab run {self.path} --out {self.stem}"
        done = output.evaluate(self.directory, self.scenario, self.jobs, self.outcomes,
                               dict(facts, command=command))
        self.rows = [dict(row, scenario=self.stem, report=f"{self.stem}/report.html")
                     for row in done.paper]
        self.summaries = done.summaries
        self.good = done.good
        self.outcomes = {}	# tables of a run are large


def write_index(out, groups, rows, facts):
    """The page of all."""
    reports = {group.stem: f"{group.stem}/report.html" for group in groups}
    known = figures.load()[1]
    run_of = [one for one in known if any(name in reports for name in one.scenarios)]
    page.write(
        os.path.join(out, "index.html"), "index.html", title="The papers' figures",
        lead="What papers report, what these runs of real kernel TCP in virtual time gave, and "
        "ours over theirs. The papers' numbers are compared with, never a criterion.",
        columns=paper.COLUMNS, rows=[(row, paper.cells(row)) for row in rows],
        swept=[group.figure() for group in groups if isinstance(group, Swept)],
        links=[(group.stem, group.title, group.good) for group in groups], reports=reports,
        run=run_of, rest=[one for one in known if one not in run_of],
        count=figures.count_line(known), fluid=page.drawn(chart.svg(fluid.make()), "fluid"),
        caption=FLUID, command=facts["command"])


def run(wanted, kernel, out, timeout_s, quiet, facts):
    """
    Run all, print and write the table of figures; whether every run was good.
    wanted: as choose() returns it.
    """
    groups = [Group(path, one, kernel, out) for path, one in wanted[0]]
    of_job = {job: group for group in groups for job in group.jobs}
    runner.run_all(list(of_job), facts["jobs"], timeout_s, quiet,
                   lambda job, outcome: of_job[job].finished(job, outcome, facts))
    swept = [Swept(one, out) for one in wanted[1]]
    for one in swept:
        one.run(kernel, (facts["jobs"], timeout_s, quiet))
    groups += swept
    rows = [row for group in groups for row in group.rows]
    document = {"quell_lab": 1, "version": facts["version"], "command": facts["command"],
                "kernel": facts["kernel"],
                "untrusted": [group.stem for group in groups if not group.good], "paper": rows}
    with open(os.path.join(out, "figures.json"), "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    write_index(out, groups, rows, facts)
    if not quiet:
        print("\n".join(paper.table(rows)))
        for group in groups:
            if not group.good:
                print(f"must not be trusted: {group.path}, "
                      f"see {os.path.join(group.directory, 'report.html')}")
        print(f"report: {os.path.join(out, 'index.html')}")
    return all(group.good for group in groups)
