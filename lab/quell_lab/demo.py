# SPDX-License-Identifier: GPL-2.0
"""The demonstration: a few scenarios, and a page with the finding of each."""

import json
import os
import shlex
import textwrap
from dataclasses import dataclass

from markupsafe import Markup

from . import chart, files, output, page, reproduce, runner, scenario, show
from .schema import Places

SCENARIOS = os.path.join(runner.HERE, "scenarios", "demo")
PAGE = "report.html"
FIGURE = "demo.svg"		# for README
BAR_WIDTH = 140
SHORT = 0			# class of size: up to 10 kB
LONG = -1			# above 1 MB
COMPARED = ("CUBIC and DCTCP are the kernel's own with its defaults, among them 200 ms as the "
            "least retransmission timeout; DCQCN, HPCC, Swift, SMaRTT and Dart are Quell's "
            "modules, each with the first preset of its paper. One seed: README.md has medians "
            "and ranges of five.")


@dataclass(frozen=True)
class Column:
    """Of a table: a number of each summary."""

    title: str
    value: object		# function of a summary; None: there is none
    write: object		# function of that value
    is_cost: bool = False	# of the gain in the columns before
    absent: str = "never"	# for None

    def text(self, summary):
        """The cell."""
        value = self.value(summary)
        return self.absent if value is None else self.write(value)

    def best(self, summaries):
        """The cell of the least value, "" where all are alike."""
        cells = {self.text(one) for one in summaries.values()}
        known = [one for one in summaries.values() if self.value(one) is not None]
        return self.text(min(known, key=self.value)) if known and len(cells) > 1 else ""


@dataclass(frozen=True)
class Story:
    """One scenario of the page."""

    stem: str			# of scenario file and directory
    finding: str		# a sentence; {label[column]}: cells of the table
    why: str			# its cause
    terms: str			# the scenario and the definitions
    columns: dict		# {name: Column}
    figure: str			# stem
    bars: tuple			# in README's figure: (column, title)


def _micro(value_ns):
    return f"{value_ns / 1000:,.{0 if value_ns >= 10**6 else 1}f}"


def _kilo(value_bytes):
    return f"{value_bytes / 1000:,.0f}"


def _queue(is_cost):
    return Column("max queue kB", lambda s: s["queue"]["max_bytes"], _kilo, is_cost)


STORIES = (
    Story("load",
          "Flows up to 10 kB have a p99 slowdown of {swift[short]} with Swift and {dctcp[short]} "
          "with DCTCP; in return the longest flow takes {swift[longest]} ms instead of "
          "{dctcp[longest]}.",
          "Short flows are queued behind the packets of long ones. Swift (by delay), HPCC (by "
          "telemetry) and SMaRTT (by marks and delay) keep that queue short, Swift at the expense "
          "of its longest flows.",
          "Flows of web search at 60 % load between 16 hosts, and a thousand requests, most of "
          "them below 1 kB. Slowdown: completion time over that on the idle network.",
          {"median": Column("up to 10 kB: p50", lambda s: s["slowdown"]["classes"][SHORT]["p50"],
                            "{:.1f}".format),
           "short": Column("p99", lambda s: s["slowdown"]["classes"][SHORT]["p99"],
                           "{:.1f}".format),
           "queue": _queue(False),
           "long": Column("above 1 MB: p50", lambda s: s["slowdown"]["classes"][LONG]["p50"],
                          "{:.1f}".format, True),
           "longest": Column("max FCT ms", lambda s: s["fct_ns"]["max"],
                             lambda value: f"{value / 10**6:.1f}", True)},
          "slowdown", ("short", "p99 slowdown of flows up to 10 kB")),
    Story("incast",
          "The last of 48 responses ends after {swift[last]} µs with Swift and {dctcp[last]} µs "
          "with DCTCP; in return {swift[trims]} packets are trimmed, and {dctcp[drops]} of DCTCP "
          "dropped.",
          "The responses do not fit the buffer. If the last packets of a flow are lost, no later "
          "data reports it: CUBIC's and DCTCP's flows recover after milliseconds, and the last "
          "ones after the retransmission timeout of 200 ms, for transfers of 67 µs. Quell's "
          "algorithms detect tail losses within round trips. If the port trims their packets to "
          "headers, a loss is reported at once (without trimming the last flow takes 160 µs).",
          "48 servers send 16 kB each at the same moment to a port with a buffer of 300 kB. The "
          "port trims packets that have the Quell option, as by default, and drops others.",
          {"median": Column("p50 FCT µs", lambda s: s["fct_ns"]["p50"], _micro),
           "last": Column("max FCT µs", lambda s: s["fct_ns"]["max"], _micro),
           "drops": Column("dropped", lambda s: s["drops"] - s["trims"], "{:,}".format, True),
           "trims": Column("trimmed", lambda s: s["trims"], "{:,}".format, True)},
          "fct-cdf", ("last", "48-to-1 incast: last end (µs)")),
    Story("fairness",
          "With Variable AI and Sampling Frequency Swift's flows have more equal shares: 1 − Jain's "
          "index is {swift_vaisf[unfair]} on average instead of {swift[unfair]}; in return the mean "
          "queue is {swift_vaisf[mean]} kB instead of {swift[mean]} kB.",
          "With equal shares at all times flows would finish in the order of their starts, the last "
          "275 µs after the first. With Swift and HPCC those that start last finish first. HPCC's "
          "mean queue doubles with the two extensions.",
          "16 senders, two more every 20 µs, 1 MB each, to one receiver. Spread: from the first "
          "flow's end to the last one's.",
          {"spread": Column("spread µs", lambda s: s["spread_ns"], _micro),
           "unfair": Column("1 − Jain's index", lambda s: 1 - (s["jain"]["mean"] or 0),
                            "{:.3f}".format),
           "mean": Column("mean queue kB", lambda s: s["queue"]["mean_bytes"],
                          lambda value: f"{value / 1000:,.1f}", True),
           "queue": _queue(True)},
          "start-finish", ("unfair", "16 staggered: 1 − Jain's index")),
    Story("join",
          "Dart's senders have equal shares {dart[median]} µs after a second one joins, HPCC's "
          "after {hpcc[median]} µs and in {hpcc[never]} of 20 joins never; in return the queue "
          "grows to {dart[queue]} kB, HPCC's to {hpcc[queue]} kB.",
          "Dart's receiver counts its senders and reports each one's share: both have it one round "
          "trip after the second one joins. HPCC converges in some of the joins, after "
          "several round trips; DCTCP and DCQCN, which have marks alone, do not.",
          "A second sender joins the first 20 times, for 150 µs, at 56 Gbit/s; a round trip is "
          "15 µs. Converged: the rates that both set differ by 5 % at most, their sum is within "
          "the link rate, and that holds until the second one ends.",
          {"median": Column("p50 convergence µs", lambda s: s["convergence"]["shares"]["p50_ns"],
                            _micro),
           "max": Column("max", lambda s: s["convergence"]["shares"]["max_ns"], _micro),
           "never": Column("never, of 20", lambda s: s["convergence"]["shares"]["never"], str),
           "queue": _queue(True)},
          "joins", ("median", "fair shares after a join, p50 (µs)")),
)


def load():
    """[(Story, path, Scenario)] of all stories."""
    found = []
    for story in STORIES:
        path = os.path.relpath(os.path.join(SCENARIOS, f"{story.stem}.scenario"))
        found.append((story, path, scenario.build(files.load(path), Places(path))))
    return found


def _numbers(story, summaries):
    """{label: {name of its column: cell}}"""
    return {label: {name: column.text(summary) for name, column in story.columns.items()}
            for label, summary in summaries.items()}


def _titles(story):
    return ("", *(f"cost: {one.title}" if one.is_cost else one.title
                  for one in story.columns.values()))


def _marked(story, summaries):
    """Table for the page, the best cells in bold."""
    best = {name: one.best(summaries) for name, one in story.columns.items()}
    return (_titles(story), [
        (label, *(Markup("<b>{}</b>").format(cell) if cell == best[name] else cell
                  for name, cell in cells.items()))
        for label, cells in _numbers(story, summaries).items()])


def _finding(story, summaries):
    """The sentence of a story; "" if a run of it gave no result."""
    try:
        return story.finding.format(**_numbers(story, summaries))
    except KeyError:
        return ""


def _section(story, group):
    """A story with its numbers and its figure, for the template."""
    summaries = group.done.summaries
    lost = [variant.label for variant in group.scenario.variants
            if variant.label not in summaries]
    return {"title": group.scenario.title, "terms": story.terms, "why": story.why,
            "finding": _finding(story, summaries), "stem": story.stem, "lost": ", ".join(lost),
            "drawn": page.of_file(group.directory, story.figure),
            "table": _marked(story, summaries), "looks": page.looks(summaries)}


def _panels(done):
    """Of README's figure, two in a row: a bar for each algorithm."""
    panels = []
    for number, (story, group) in enumerate(done):
        name, title = story.bars
        column = story.columns[name]
        values = {label: column.value(one) for label, one in group.done.summaries.items()}
        largest = max((value for value in values.values() if value is not None), default=1)
        colours = page.looks(values)
        panels.append({"title": title, "top": 150 * (number // 2), "bars": [
            {"label": label, "colour": colours[label][0], "is_never": value is None,
             "text": column.text(group.done.summaries[label]),
             "width": BAR_WIDTH if value is None else max(round(BAR_WIDTH * value / largest), 1)}
            for label, value in values.items()]})
    return panels


def _print(done):
    for story, group in done:
        summaries = group.done.summaries
        print("\n" + textwrap.fill(f"{group.scenario.title}. {story.terms}", 79))
        cells = [(label, *one.values()) for label, one in _numbers(story, summaries).items()]
        print("\n".join(show.lines(_titles(story), cells, indent="  ")))
        print(textwrap.fill(_finding(story, summaries), 79))


def run(wanted, kernel, out, timeout_s, quiet, facts):
    """Run all, print and write the findings; whether every run was good."""
    done = [(story, reproduce.batch(path, one, kernel, out)) for story, path, one in wanted]
    output.run([group for _, group in done], timeout_s, quiet, facts)
    document = {"quell_lab": 1, "version": facts["version"], "command": facts["command"],
                "kernel": facts["kernel"],
                "stories": {story.stem: _numbers(story, group.done.summaries)
                            for story, group in done}}
    with open(os.path.join(out, "demo.json"), "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    panels = _panels(done)
    colours = sorted({bar["colour"] for panel in panels for bar in panel["bars"]})
    page.write(os.path.join(out, FIGURE), "demo.svg", panels=panels, height=panels[-1]["top"] + 150,
               colours={colour: chart.on_dark(colour) for colour in colours})
    page.write(os.path.join(out, PAGE), "demo.html", title="What Quell does in a datacenter",
               lead="Real kernel TCP in virtual time: every packet was sent by the Linux stack and "
               "switched by a Linux router, at 56 and 100 Gbit/s, on this machine's processor.",
               good=all(group.done.good for _, group in done), compared=COMPARED,
               stories=[_section(story, group) for story, group in done],
               command=facts["command"], kernel=facts["kernel"])
    if not quiet:
        _print(done)
        print(f"\nreport: {shlex.quote(os.path.join(out, PAGE))}")
    return all(group.done.good for _, group in done)
