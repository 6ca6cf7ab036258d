# SPDX-License-Identifier: GPL-2.0
"""Runs every scenario that names a paper's figure, and sets ours beside it."""

import difflib
import functools
import glob
import json
import os
from types import SimpleNamespace

from . import figures, files, fluid, output, page, paper, scenario, show, sweep, \
    sweep_page, sweep_run
from .errors import InputError
from .schema import Places

SCENARIOS = figures.SCENARIOS
NAMES_TOLD = 5
FLUID = ("Two flows that begin with 100 and 50 Gbit/s, by the paper's equations: how much nearer "
         "to each other they are if they decrease once per 30 packets, not per round trip of "
         "30 us.")


@functools.cache
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
        self.name = _stem(wanted.path)
        self.scenario = wanted
        self.directory = os.path.join(out, self.name)
        self.done = None

    def run(self, kernel, how):
        """Make its runs, table, figure and page."""
        os.makedirs(self.directory, exist_ok=True)
        args = SimpleNamespace(out=self.directory, only=None, part=None, quiet=how[2])
        good, rows = sweep_run.execute(self.scenario, kernel, args, how)
        self.done = output.Evaluation({}, rows, good)

    def figure(self):
        """(page.Drawn, caption)."""
        return (page.of_file(self.directory, sweep_page.STEM, self.name),
                f"{self.scenario.title}. Small marks and lines: ours; large hollow marks: the "
                "paper's numbers.")


def batch(path, wanted, kernel, out):
    """The output.Batch of a scenario file, in a directory of its name."""
    found = output.Batch(_stem(path), wanted, kernel, out)
    found.facts["command"] = f"lab/lab run {path} --out {found.name}"
    return found


def write_index(out, groups, rows, facts):
    """The page of all."""
    reports = {group.name: f"{group.name}/report.html" for group in groups}
    known = figures.load()[1]
    run_of = [one for one in known if any(name in reports for name in one.scenarios)]
    page.write(
        os.path.join(out, "index.html"), "index.html", title="The papers' figures",
        lead="What papers report, what these runs of real kernel TCP in virtual time gave, and "
        "ours over theirs. The papers' numbers are compared with, never a criterion.",
        columns=paper.COLUMNS, rows=[(row, paper.cells(row)) for row in rows],
        swept=[group.figure() for group in groups if isinstance(group, Swept)],
        links=[(group.name, group.scenario.title, group.done.good) for group in groups],
        reports=reports,
        run=run_of, rest=[one for one in known if one not in run_of],
        count=figures.count_line(known), fluid=page.drawn(fluid.make(), "fluid"),
        caption=FLUID, command=facts["command"])


def run(wanted, kernel, out, timeout_s, quiet, facts):
    """
    Run all, print and write the table of figures; whether every run was good.
    wanted: as choose() returns it.
    """
    groups = [batch(path, one, kernel, out) for path, one in wanted[0]]
    output.run(groups, timeout_s, quiet, facts)
    swept = [Swept(one, out) for one in wanted[1]]
    for one in swept:
        one.run(kernel, (facts["jobs"], timeout_s, quiet))
    rows = [row if "report" in row else dict(row, scenario=group.name,
                                             report=f"{group.name}/report.html")
            for group in (*groups, *swept) for row in group.done.paper]
    groups += swept
    document = {"quell_lab": 1, "version": facts["version"], "command": facts["command"],
                "kernel": facts["kernel"],
                "untrusted": [group.name for group in groups if not group.done.good], "paper": rows}
    with open(os.path.join(out, "figures.json"), "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    write_index(out, groups, rows, facts)
    if not quiet:
        print("\n".join(show.beside_paper(rows)))
        for group in groups:
            if not group.done.good:
                print(f"must not be trusted: {group.name}, "
                      f"see {os.path.join(group.directory, 'report.html')}")
        print(f"report: {os.path.join(out, 'index.html')}")
    return all(group.done.good for group in groups)
