# SPDX-License-Identifier: GPL-2.0
"""The demonstration: a few scenarios, and on one page what to see in each."""

import html
import json
import os
import shlex
from dataclasses import dataclass

from . import drawing, page, reproduce, runner, scenario, show
from .schema import Places

SCENARIOS = os.path.join(runner.HERE, "scenarios", "demo")
PAGE = "report.html"
SHORT = 0			# class of size: up to 10 kB
LONG = -1			# above 1 MB


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
    return lambda summary: f"{summary['slowdown']['classes'][of_class][key]:.1f}"


def _micro(value_ns):
    return "never" if value_ns is None else f"{value_ns / 1000:,.1f}"


def _join(summary, key):
    return _micro(summary["convergence"]["rates"][key])


STORIES = (
    Story("load",
          "How many times longer than on an empty network does a flow take? Algorithms that let a "
          "queue stand make every short flow wait in it. Those that keep it empty (Swift by delay, "
          "HPCC by telemetry, SMaRTT by both signals) do not: compare the 99th percentiles of "
          "flows up to 10 kB. Swift pays for that with its longest flows.",
          "Flows of web search at 60 % load between 16 hosts, and a thousand requests of a few kB. "
          "Slowdown: completion time over that on the idle network.",
          (("up to 10 kB: median", _tail(SHORT, "p50")), ("99th percentile", _tail(SHORT, "p99")),
           ("above 1 MB: median", _tail(LONG, "p50")),
           ("longest flow ms", lambda s: f"{s['fct_ns']['max'] / 10**6:.1f}"),
           ("longest queue kB", lambda s: f"{s['queue']['max_bytes'] / 1000:,.0f}")),
          "slowdown", True),
    Story("incast",
          "The answers do not fit the buffer. The last packets of some flows are lost with nothing "
          "behind them to tell of it: their sender waits for its retransmission timer, 200 ms for "
          "what should take half of one. Our switch port cuts such packets to their headers; the "
          "receiver asks for them again at once, and senders that speak the Quell option answer.",
          "48 servers send 64 kB each at the same moment into a port with a buffer of 300 kB. "
          "Every algorithm has the same port; CUBIC and DCTCP do not understand its answer.",
          (("median µs", lambda s: _micro(s["fct_ns"]["p50"])),
           ("last flow µs", lambda s: _micro(s["fct_ns"]["max"])),
           ("cut packets", lambda s: f"{s['trims']:,}"),
           ("retransmitted", lambda s: f"{s['retransmitted_segs']:,}")),
          "fct-cdf"),
    Story("fairness",
          "In a fair network all flows would finish together: a flat row of marks. With Swift and "
          "HPCC those that start last finish first. Variable AI and Sampling Frequency mend that "
          "without a longer queue: compare the spread of swift_vaisf with that of swift.",
          "16 senders, two more every 20 µs, 1 MB each, to one receiver. Spread: from the first "
          "flow's end to the last one's.",
          (("spread µs", lambda s: _micro(s["spread_ns"])),
           ("Jain's index", lambda s: f"{s['jain']['mean']:.3f}"),
           ("longest queue kB", lambda s: f"{s['queue']['max_bytes'] / 1000:,.0f}"),
           ("mean kB", lambda s: f"{s['queue']['mean_bytes'] / 1000:,.1f}")),
          "start-finish"),
    Story("join",
          "A receiver that speaks Dart counts its senders and tells each its share: both have half "
          "the line one round trip after the second one joins. The others find out by marks and "
          "records, which takes longer than these joins last.",
          "A second sender joins the first 20 times, for 150 µs, at 56 Gbit/s; a round trip is "
          "15 µs.",
          (("median µs until both have half", lambda s: _join(s, "p50_ns")),
           ("longest", lambda s: _join(s, "max_ns")),
           ("never", lambda s: f"{s['convergence']['rates']['never']} of "
                               f"{s['convergence']['joins']}"),
           ("longest queue kB", lambda s: f"{s['queue']['max_bytes'] / 1000:,.0f}")),
          "joins"),
)


def load():
    """[(Story, path, Scenario)] of all stories."""
    found = []
    for story in STORIES:
        path = os.path.relpath(os.path.join(SCENARIOS, f"{story.stem}.scenario"))
        found.append((story, path, scenario.build(scenario.load(path), Places(path))))
    return found


def _section(out, story, group):
    """A story with its numbers and its figure."""
    look = drawing.Look(list(group.summaries))
    with open(os.path.join(out, story.stem, f"{story.figure}.svg"), encoding="utf-8") as file:
        svg = drawing.inline(file.read(), story.stem)
    drawn = page.figure(svg, "")
    return "".join([
        f"<h2>{html.escape(group.scenario.title)}</h2>",
        '<div class="tables"><div>', f"<p>{html.escape(story.terms)}</p>",
        f"<p><b>See:</b> {html.escape(story.see)}</p>",
        page.table(story.columns, group.summaries, look),
        f'<p><a href="{story.stem}/{PAGE}">All figures, the network, and how to run it again</a>'
        "</p></div>", "</div>" + drawn if story.is_wide else drawn + "</div>"])


def _write(out, told, facts):
    """The page; told: [(Story, reproduce.Group)]."""
    good = all(group.good for _, group in told)
    parts = ['<p><span class="verdict good">All physics checks hold</span></p>' if good else
             '<p><span class="verdict bad">Some runs must not be trusted</span></p>']
    parts += [_section(out, story, group) for story, group in told if group.summaries]
    parts += ["<h2>Run it again</h2>", f"<pre>{html.escape(facts['command'])}</pre>",
              f"<p>Kernel {html.escape(facts['kernel'])}. The same numbers come out every time, on "
              "any machine: time in these networks is virtual.</p>"]
    lead = ("Real kernel TCP in virtual time: every packet was sent by the Linux stack and "
            "switched by a Linux router, at 56 and 100 Gbit/s, on this machine's processor.")
    with open(os.path.join(out, PAGE), "w", encoding="utf-8") as file:
        file.write(page.page("What Quell does in a datacenter", lead, parts))


def _numbers(story, summaries):
    """{label: {title: text}}"""
    return {label: {title: shown(summary) for title, shown in story.columns}
            for label, summary in summaries.items()}


def _print(told):
    for story, group in told:
        print(f"\n{group.scenario.title}. {story.terms}")
        titles = [title for title, _ in story.columns]
        rows = [(label, *(shown(summary) for _, shown in story.columns))
                for label, summary in group.summaries.items()]
        print("\n".join(f"  {line}" for line in show.lines(("", *titles), rows)))


def run(wanted, kernel, out, timeout_s, quiet, facts):
    """Run all, print and write what there is to see; whether every run was good."""
    told = [(story, reproduce.Group(path, one, kernel, out)) for story, path, one in wanted]
    of_job = {job: group for _, group in told for job in group.jobs}
    runner.run_all(list(of_job), facts["jobs"], timeout_s, quiet,
                   lambda job, outcome: of_job[job].finished(job, outcome, facts))
    document = {"quell_lab": 1, "command": facts["command"], "kernel": facts["kernel"],
                "stories": {story.stem: _numbers(story, group.summaries)
                            for story, group in told}}
    with open(os.path.join(out, "demo.json"), "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    _write(out, told, facts)
    if not quiet:
        _print(told)
        print(f"\nreport: {shlex.quote(os.path.join(out, PAGE))}")
    return all(group.good for _, group in told)
