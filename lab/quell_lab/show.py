# SPDX-License-Identifier: GPL-2.0
"""What the command line says of results."""

import glob
import os
import re
import shutil
import sys

from . import loads, paper
from .units import show_time


PROGRAM = re.compile(r"program ([0-9]+) \(")
TAIL_LINES = 20			# of a failed program's output
ANY_COLUMNS = 1 << 20		# of an output that is not a terminal
GOVERNORS = ("algorithm", "search", "cubic")	# of a summary's "governed"


def micro(time_ns):
    """A time in microseconds."""
    return f"{time_ns / 1000:.1f} us" if time_ns is not None else "-"


def gbit(bits_ps):
    """A rate."""
    return f"{bits_ps / 1e9:.2f} Gbit/s" if bits_ps is not None else "-"


def _seconds(value):
    return "-" if value is None else f"{value:.1f} s"


def _thousands(value):
    return "-" if value is None else f"{value:,}"


def _mega(size_bytes):
    return "-" if size_bytes is None else f"{size_bytes / 1e6:,.0f} MB"


def kilo(size_bytes):
    """A size of a queue."""
    return f"{size_bytes / 1000:.1f} kB"


def _kilo(queue, key):
    return kilo(queue[key] if queue else 0)


def progress(text):
    """A line that the next one replaces, on a terminal; the last is empty."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def lines(header, rows, left=1, indent=""):
    """Rows under a header, the first columns to the left; a table that is wider than the terminal in
    parts, each with these columns."""
    rows, names, parts = (header, *rows), range(left), [[]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    room = shutil.get_terminal_size((ANY_COLUMNS, 1)).columns - len(indent)
    for column in range(left, len(header)):
        before = (*names, *parts[-1])
        if parts[-1] and sum(widths[one] + 2 for one in before) + widths[column] > room:
            parts.append([])
        parts[-1].append(column)
    found = []
    for part in parts:
        found += [""] * bool(found)
        found += [indent + "  ".join((*(row[one].ljust(widths[one]) for one in names),
                                      *(row[one].rjust(widths[one]) for one in part))).rstrip()
                  for row in rows]
    return found


def beside_paper(rows):
    """Lines of a table of a paper's numbers and ours."""
    return lines(paper.COLUMNS, [paper.cells(row) for row in rows], left=paper.NAMES)


def governed(summary, kind):
    """Share of the flows' time that the algorithm, the search or CUBIC governed; of CUBIC's with the
    reason that it took over for most often."""
    part = summary.get("governed")
    if part is None or part[kind] is None:
        return "-"
    reasons = part["cubic_times"]
    why = f" {max(reasons, key=reasons.get)}" if kind == "cubic" and part[kind] and reasons else ""
    return f"{part[kind]:.1%}{why}"


def table(columns, summaries, first=""):
    """(header, rows) of columns, (title, function that shows a summary), a row for each run."""
    return ((first, *(title for title, _ in columns)),
            [(label, *(cell(summary) for _, cell in columns))
             for label, summary in summaries.items()])


def _of(key, *keys, write=str):
    """Function that shows the value of a summary at the end of some keys."""
    def cell(summary):
        value = summary[key]
        for one in keys:
            value = value[one]
        return write(value)
    return cell


def whole_run(summaries):
    """Table of whole runs."""
    # A trimmed packet's payload is dropped: beside the drops, where there are any.
    has_trims = any(summary["trims"] for summary in summaries.values())
    is_fitted = any("governed" in summary for summary in summaries.values())
    has_load = any(summary["load"] and summary["load"]["offered_bits_ps"] is not None
                   for summary in summaries.values())
    return table((
        ("finished", lambda s: f"{s['flows_finished']}/{s['flows']}"),
        *((f"FCT {key}", _of("fct_ns", key, write=micro)) for key in ("p50", "p99", "max")),
        ("goodput", lambda s: gbit(s["goodput_bits_ps"] if s["flows_finished"] else None)),
        *((title, lambda s, title=title: loads.share(s["load"], title))
          for title in ("offered", "carried") if has_load),
        ("queue max", lambda s: _kilo(s["queue"], "max_bytes")), ("drops", _of("drops")),
        *[("trims", _of("trims"))] * has_trims,
        ("marks", _of("marks")), ("retrans", _of("retransmitted_segs")),
        *((title, lambda s, kind=kind: governed(s, kind)) for title, kind in
          zip(("by algorithm", "by search", "by CUBIC"), GOVERNORS if is_fitted else ()))),
                 summaries)


def costs(summaries):
    """Table of the machine's part: time and memory of the simulation."""
    return table((
        ("packet hops", lambda s: f"{s['packet_hops']:,}"),
        ("wall", _of("cost", "wall_s", write=_seconds)),
        ("of it set-up", _of("cost", "setup_wall_s", write=_seconds)),
        ("CPU", _of("cost", "cpu_s", write=_seconds)),
        ("of it flows", _of("cost", "run_cpu_s", write=_seconds)),
        ("hops/CPU s", lambda s: _thousands(s["cost"]["packet_hops_per_cpu_s"])),
        ("memory", lambda s: _mega(s["cost"]["peak_memory_bytes"]))), summaries, "cost of the run")


def window(name, summaries):
    """Table of one measured window."""
    parts = {label: summary["measured"][name] for label, summary in summaries.items()}
    first = next(iter(parts.values()))
    has_requests = any("request_ns" in part for part in parts.values())

    def request(key, write):
        return lambda part: write(part["request_ns"][key]) if "request_ns" in part else "-"

    return table((
        ("payload", _of("throughput_bits_ps", write=gbit)),
        ("on the wire", _of("wire_throughput_bits_ps", write=gbit)),
        *((f"RTT {key}", _of("rtt_ns", key, write=micro)) for key in ("mean", "p99")),
        ("Jain", lambda part: f"{part['jain']:.3f}" if part["jain"] is not None else "-"),
        ("slowest", _of("flow_rate_bits_ps", "min", write=gbit)),
        ("fastest", _of("flow_rate_bits_ps", "max", write=gbit)),
        *((title, lambda part, key=key: _kilo(part["queue"], key)) for title, key in
          (("queue mean", "mean_bytes"), ("p99", "p99_bytes"), ("max", "max_bytes"))),
        *((("request p50", request("p50", micro)), ("p99", request("p99", micro)),
           ("unanswered", request("unanswered_share", "{:.2%}".format)))
          if has_requests else ())), parts,
        f"{name}: {show_time(first['from_ns'])} to {show_time(first['to_ns'])}")


def programs(summaries, out):
    """What programs in the foreground printed, and how they ended, run by run."""
    for label, summary in summaries.items():
        for one in summary.get("programs", ()):
            if one["background"]:
                continue
            took = "" if one["took_ns"] is None else f", {show_time(one['took_ns'])}"
            print(f"== {label}: {one['host']}: {one['command']}: {one['end']} "
                  f"{one['status']}{took}")
            is_good = one["end"] == "exit" and not one["status"]
            for kind in ("stdout", "stderr") if is_good else ("stdout",):	# else explain() has it
                with open(os.path.join(out[label], one[kind]), encoding="utf-8",
                          errors="replace") as file:
                    text = file.read()
                sys.stdout.write(text + ("" if not text or text.endswith("\n") else "\n"))
        if summary.get("programs"):
            print()


def result(summaries, rows, out):
    """Tables of a scenario's runs on standard output."""
    tables = [lines(*whole_run(summaries))]
    tables += [lines(*window(name, summaries))
               for name in next(iter(summaries.values()))["measured"]]
    if rows:
        tables.append(beside_paper(rows))
    tables.append(lines(*costs(summaries)))
    print("\n\n".join("\n".join(table) for table in tables))
    print(f"report: {os.path.join(out, 'report.html')}")


def _output(job, text):
    """The last lines that the program named in a text wrote to stderr, or else to stdout."""
    match = PROGRAM.search(text)
    for kind in ("stderr", "stdout") if match else ():
        for path in glob.glob(os.path.join(glob.escape(job.directory), "out", "programs",
                                           f"{match[1]}-*.{kind}")):
            with open(path, encoding="utf-8", errors="replace") as file:
                found = file.read().splitlines()
            if found:
                return [f"its {kind}:", *(f"    | {line}" for line in found[-TAIL_LINES:])]
    return []


def explain(jobs, failures, problems):
    """What went wrong, on standard error: with the output of the program that failed, or the last
    lines of the log."""
    for job in jobs:
        error = failures.get(job.variant.label)
        if error is None:
            continue
        print(f"\n{job.name}: {error[0]}", file=sys.stderr)
        for text in error[1:]:
            print(f"    {text}", file=sys.stderr)
        output = _output(job, error[0])
        if output:
            print("\n".join(output), file=sys.stderr)
            print(f"kernel log: {job.log}", file=sys.stderr)
            continue
        excerpt = job.excerpt()
        if excerpt:
            print(f"from {job.log}:", file=sys.stderr)
            for line in excerpt:
                print(f"    | {line}", file=sys.stderr)
    of_label = {job.variant.label: job for job in jobs}
    for label, texts in problems.items():
        what = "programs" if all(text.startswith("program ") for text in texts) else \
            "sanity checks"
        print(f"\n{of_label[label].name}: {what} failed:", file=sys.stderr)
        for text in texts:
            print("\n    ".join((f"    {text}", *_output(of_label[label], text))), file=sys.stderr)
