# SPDX-License-Identifier: GPL-2.0
"""All figures and tables of the papers: what each shows, and what became of it here."""

import os
import re
import shlex
import textwrap
import tomllib
from dataclasses import dataclass

from . import runner
from .errors import InputError, nearest

FILE = os.path.join(runner.HERE, "figures.toml")
SCENARIOS = os.path.join(runner.HERE, "scenarios")
LONG = os.path.join(SCENARIOS, "long")	# those that no suite runs
VERDICTS = ("reproduced", "same conclusion", "contradicted", "absent")
WIDTH = 100
LEAD = """Each figure and table of the four papers, the laboratory's result, and a verdict.
*Reproduced*: the paper's statement holds here, with numbers within 10 % if it has any. *Same
conclusion*: order, direction and mechanism of its main statement hold; numbers, or a part that is
named, differ. *Contradicted*: the main statement does not hold here. *Absent*: not reproduced here.
For differences, the page named has the known reasons."""


@dataclass(frozen=True)
class Figure:
    """One figure or table of a paper."""

    paper: str
    name: str
    shows: str
    verdict: str
    ours: str = ""
    why: str = ""
    scenarios: tuple = ()
    page: str = ""		# of Documentation, with its anchor
    scale: str = ""		# of the scenarios, that ours is of; "": as they stand

    def __str__(self):
        return f"{self.paper} {self.name}"


def load(path=FILE):
    """({paper: how many it has}, [Figure]), in the file's order."""
    with open(path, "rb") as file:
        known = tomllib.load(file)
    return known.pop("papers"), [
        Figure(paper, name, **{**one, "scenarios": tuple(one.get("scenarios", ()))})
        for paper, figures in known.items() for name, one in figures.items()]


def plain(name):
    """As names are compared: in small letters, "fig12", "Fig. 12" and "Figures 12" as one."""
    return re.sub(r"\bfig(ures?|s)?\b\.? *|\bfig(?=[0-9])", "figure ", name.lower()).strip()


def _is_whole(word, name):
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", name)


def _is_part(word, name):
    return word in name


def pick(word, named, is_part=True):
    """
    Things of [(thing, its scenarios, its other names)]: those of the scenario that has just this
    name; without one those with the word whole in a name, as "Figure 2" is not in "Figure 22";
    without such, unless is_part says no, those with it anywhere.  Without a word all.
    """
    if not word:
        return [thing for thing, _, _ in named]
    word = plain(word)
    found = [thing for thing, scenarios, _ in named if word in map(plain, scenarios)]
    for is_it in (_is_whole, _is_part)[:1 + is_part]:
        found = found or [thing for thing, scenarios, names in named
                          if any(is_it(word, plain(name)) for name in (*scenarios, *names))]
    return found


def command(word, directory, scale=""):
    """What runs the scenarios of a word that are in a directory."""
    scaled = f" --scale {scale}" if scale else ""
    where = "" if directory == SCENARIOS else f" --scenarios {_shown(directory)}"
    return f"lab/lab reproduce {shlex.quote(word)}{scaled}{where} --out DIR"


def _shown(directory):
    return os.path.join("lab", os.path.relpath(directory, runner.HERE))


def directories(one):
    """Those that have scenarios of a figure."""
    return [directory for directory in (SCENARIOS, LONG)
            if any(os.path.exists(os.path.join(directory, f"{name}.{kind}"))
                   for name in one.scenarios for kind in ("scenario", "sweep"))]


def elsewhere(figures, word):
    """A sentence about a figure with no scenario among the ready-made, or None."""
    for one in pick(word, [(one, one.scenarios, [str(one)]) for one in figures], is_part=False):
        if LONG in directories(one):
            return f"{one} takes long: {command(word, LONG, one.scale)}"
        if one.verdict == "absent":
            return f"{one} is absent: {one.why}"
    return None


def choose(figures, word):
    """Those with the word in the name of the figure or of a scenario, see pick()."""
    chosen = pick(word, [(one, one.scenarios, [str(one)]) for one in figures])
    if not chosen:
        raise InputError("figures", f"no figure has '{word}' in its name"
                         f"{nearest(plain(word), map(str, figures))}")
    return chosen


def count(figures):
    """{verdict: how many}"""
    return {verdict: sum(one.verdict == verdict for one in figures) for verdict in VERDICTS}


def count_line(figures):
    told = ", ".join(f"{number} {verdict}" for verdict, number in count(figures).items())
    return f"{len(figures)} figures and tables: {told}"


def text(figures):
    """Lines for a terminal."""
    lines = []
    for one in figures:
        lines.append(f"{str(one):18} {one.verdict:15} {' '.join(one.scenarios)}".rstrip())
        for name, words in (("paper", one.shows), ("ours", one.ours), ("why", one.why)):
            if words:
                lines += textwrap.wrap(words, WIDTH, initial_indent=f"    {name + ':':6} ",
                                       subsequent_indent=" " * 11)
        lines += [f"    run:   {command(str(one), directory, one.scale)}"
                  for directory in directories(one)]
    return [*lines, count_line(figures)]


def _name(one):
    return f"[{one.name}]({one.page})" if one.page else one.name


def page(papers, figures):
    """Documentation/figures.md."""
    lines = ["<!-- SPDX-License-Identifier: GPL-2.0 -->", "# The papers' figures, one by one", "",
             *LEAD.split("\n"), "",
             "Written by `lab/lab figures --page` from `lab/figures.toml`. `lab",
             "figures WORD` prints some rows with the command that runs them, `make reproduce",
             "FIGURE=\"TIMELY Figure 2\"` runs one figure (a long one with",
             "`SCENARIOS=lab/scenarios/long`, see [`lab.md`](lab.md#the-papers-figures)).",
             "The page of results has these rows, too.", "",
             "| paper | " + " | ".join(VERDICTS) + " | of |", "|---|---|---|---|---|---|"]
    for name in papers:
        own = [one for one in figures if one.paper == name]
        lines.append(f"| {name} | {' | '.join(map(str, count(own).values()))} | {papers[name]} |")
    lines.append(f"| all | {' | '.join(map(str, count(figures).values()))} | {len(figures)} |")
    for name in papers:
        lines += ["", f"## {name}", "", "| | the paper | ours | verdict, and why | scenarios |",
                  "|---|---|---|---|---|"]
        lines += [f"| {_name(one)} | {one.shows} | {one.ours} | "
                  f"{': '.join(filter(None, (one.verdict, one.why)))} | "
                  f"{', '.join(f'`{scenario}`' for scenario in one.scenarios)} |"
                  for one in figures if one.paper == name]
    return "\n".join(lines) + "\n"
