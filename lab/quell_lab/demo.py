# SPDX-License-Identifier: GPL-2.0
"""The demonstration: a few scenarios, and on one page what to see in each."""

import json
import os
import shlex
import textwrap
from dataclasses import dataclass

from . import files, output, page, reproduce, runner, scenario, show
from .schema import Places

SCENARIOS = os.path.join(runner.HERE, "scenarios", "demo")
PAGE = "report.html"
SHORT = 0			# class of size: up to 10 kB
LONG = -1			# above 1 MB
COMPARED = ("CUBIC and DCTCP are the kernel's own with its defaults, among them 200 ms as the "
            "least retransmission timeout; DCQCN, HPCC, Swift, SMaRTT and Dart are Quell's "
            "modules, each with the first preset of its paper. One seed: with others the spreads "
            "of Variable AI are up to 2.2 times as long, and HPCC converges in 7 to 12 of the 20 "
            "joins.")


@dataclass(frozen=True)
class Story:
    """One scenario, told."""

    stem: str			# of scenario file and directory
    see: str			# what to look at, for people
    terms: str			# what to know for that
    columns: tuple		# (title, function that shows a summary)
    figure: str			# stem
    is_wide: bool = False	# the figure takes the whole width


def _tail(of_class, key):
    def show(summary):
        value = summary["slowdown"]["classes"][of_class][key]
        return "–" if value is None else f"{value:.1f}"

    return show


def _micro(value_ns):
    return "never" if value_ns is None else f"{value_ns / 1000:,.1f}"


def _join(summary, key):
    return _micro(summary["convergence"]["shares"][key])


STORIES = (
    Story("load",
          "How many times longer than on an empty network does a flow take? Algorithms that let a "
          "queue stand make short flows wait in it. Those that keep it short (Swift by delay, HPCC "
          "by telemetry, SMaRTT by marks and delay) do not: compare the 99th percentiles of flows "
          "up to 10 kB. Swift pays for that with its longest flows.",
          "Flows of web search at 60 % load between 16 hosts, and a thousand requests, most of "
          "them below 1 kB. Slowdown: completion time over that on the idle network.",
          (("up to 10 kB: median", _tail(SHORT, "p50")),
           ("and 99th percentile", _tail(SHORT, "p99")),
           ("above 1 MB: median", _tail(LONG, "p50")),
           ("longest flow ms", lambda s: f"{(s['fct_ns']['max'] or 0) / 10**6:.1f}"),
           ("longest queue kB", lambda s: f"{s['queue']['max_bytes'] / 1000:,.0f}")),
          "slowdown", True),
    Story("incast",
          "The responses do not fit the buffer. Where the last packets of a flow are lost, no "
          "later data shows it: CUBIC's and DCTCP's flows recover after milliseconds, and the "
          "last ones after the retransmission timeout of 200 ms, for transfers of 67 µs. Quell's "
          "algorithms detect lost tails within round trips, and where the port trims their packets "
          "to headers a loss is reported at once (without trimming their last flow takes 160 µs).",
          "48 servers send 16 kB each at the same moment to a port with a buffer of 300 kB. The "
          "port trims packets that have the Quell option, as by default, and drops others.",
          (("median µs", lambda s: _micro(s["fct_ns"]["p50"])),
           ("last flow µs", lambda s: _micro(s["fct_ns"]["max"])),
           ("packets dropped or trimmed", lambda s: f"{s['drops']:,}"),
           ("of them trimmed", lambda s: f"{s['trims']:,}")),
          "fct-cdf"),
    Story("fairness",
          "In a fair network all flows would finish together: a flat row of marks. With Swift and "
          "HPCC those that start last finish first. Variable AI and Sampling Frequency mend that, "
          "for a longer mean queue, of HPCC twice: compare the spreads.",
          "16 senders, two more every 20 µs, 1 MB each, to one receiver. Spread: from the first "
          "flow's end to the last one's.",
          (("spread µs", lambda s: _micro(s["spread_ns"])),
           ("Jain's index", lambda s: f"{s['jain']['mean'] or 0:.3f}"),
           ("longest queue kB", lambda s: f"{s['queue']['max_bytes'] / 1000:,.0f}"),
           ("mean kB", lambda s: f"{s['queue']['mean_bytes'] / 1000:,.1f}")),
          "start-finish"),
    Story("join",
          "A receiver that speaks Dart counts its senders and tells each its share: both have it "
          "one round trip after the second one joins. HPCC converges in about half of the joins, "
          "after several round trips; DCTCP and DCQCN, which have marks alone, do not.",
          "A second sender joins the first 20 times, for 150 µs, at 56 Gbit/s; a round trip is "
          "15 µs. Converged: the rates that both set differ by 5 % at most, are no more than the "
          "line together, and stay so until the second one leaves.",
          (("until converged: median µs", lambda s: _join(s, "p50_ns")),
           ("longest", lambda s: _join(s, "max_ns")),
           ("never", lambda s: f"{s['convergence']['shares']['never']} of "
                               f"{s['convergence']['joins']}"),
           ("longest queue kB", lambda s: f"{s['queue']['max_bytes'] / 1000:,.0f}")),
          "joins", True),
)


def load():
    """[(Story, path, Scenario)] of all stories."""
    found = []
    for story in STORIES:
        path = os.path.relpath(os.path.join(SCENARIOS, f"{story.stem}.scenario"))
        found.append((story, path, scenario.build(files.load(path), Places(path))))
    return found


def _section(out, story, group):
    """A story with its numbers and its figure, for the template."""
    lost = [variant.label for variant in group.scenario.variants
            if variant.label not in group.done.summaries]
    path = os.path.join(out, story.stem, f"{story.figure}.svg")
    drawn = None
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            drawn = page.drawn(file.read(), story.stem, story.is_wide)
    return {"title": group.scenario.title, "terms": story.terms, "see": story.see,
            "stem": story.stem, "lost": ", ".join(lost), "drawn": drawn,
            "table": show.table(story.columns, group.done.summaries),
            "looks": page.looks(group.done.summaries)}


def _numbers(story, summaries):
    """{label: {title: text}}"""
    return {label: {title: shown(summary) for title, shown in story.columns}
            for label, summary in summaries.items()}


def _print(told):
    for story, group in told:
        print("\n" + textwrap.fill(f"{group.scenario.title}. {story.terms}", 79))
        rows = show.lines(*show.table(story.columns, group.done.summaries))
        print("\n".join(f"  {line}" for line in rows))


def run(wanted, kernel, out, timeout_s, quiet, facts):
    """Run all, print and write what there is to see; whether every run was good."""
    told = [(story, reproduce.batch(path, one, kernel, out)) for story, path, one in wanted]
    output.run([group for _, group in told], timeout_s, quiet, facts)
    document = {"quell_lab": 1, "version": facts["version"], "command": facts["command"],
                "kernel": facts["kernel"],
                "stories": {story.stem: _numbers(story, group.done.summaries)
                            for story, group in told}}
    with open(os.path.join(out, "demo.json"), "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    page.write(os.path.join(out, PAGE), "demo.html", title="What Quell does in a datacenter",
               lead="Real kernel TCP in virtual time: every packet was sent by the Linux stack and "
               "switched by a Linux router, at 56 and 100 Gbit/s, on this machine's processor.",
               good=all(group.done.good for _, group in told), compared=COMPARED,
               stories=[_section(out, story, group) for story, group in told],
               command=facts["command"], kernel=facts["kernel"])
    if not quiet:
        _print(told)
        print(f"\nreport: {shlex.quote(os.path.join(out, PAGE))}")
    return all(group.done.good for _, group in told)
