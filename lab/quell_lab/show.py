# SPDX-License-Identifier: GPL-2.0
"""What the command line says of results."""

import os
import sys

from . import paper
from .units import show_time


GOVERNORS = ("algorithm", "search", "cubic")	# of a summary's "governed"


def micro(time_ns):
    """A time in microseconds."""
    return f"{time_ns / 1000:.1f} us" if time_ns is not None else "-"


def gbit(bits_ps):
    """A rate."""
    return f"{bits_ps / 1e9:.2f} Gbit/s" if bits_ps is not None else "-"


def _seconds(value):
    return "-" if value is None else f"{value:.1f} s"


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


def lines(header, rows):
    """Rows under a header, first column to the left."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    return ["  ".join(text.rjust(width) if column else text.ljust(width)
                      for column, (text, width) in enumerate(zip(row, widths))).rstrip()
            for row in (header, *rows)]


def governed(summary, kind, missing="-"):
    """Share of the flows' time that the algorithm, the search or CUBIC governed; of CUBIC's with the
    reason that it took over for most often."""
    part = summary.get("governed")
    if part is None or part[kind] is None:
        return missing
    reasons = part["cubic_times"]
    why = f" {max(reasons, key=reasons.get)}" if kind == "cubic" and part[kind] and reasons else ""
    return f"{part[kind]:.1%}{why}"


def whole_run(summaries):
    """Lines of the table of whole runs."""
    # A trimmed packet's payload is dropped: beside the drops, where there are any.
    has_trims = any(summary["trims"] for summary in summaries.values())
    is_fitted = any("governed" in summary for summary in summaries.values())
    header = ("", "finished", "FCT p50", "FCT p99", "FCT max", "goodput", "queue max", "drops",
              *(("trims",) if has_trims else ()), "marks", "retrans",
              *(("by algorithm", "by search", "by CUBIC") if is_fitted else ()),
              "hops", "set-up", "CPU", "hops/CPU s")
    rows = []
    for label, summary in summaries.items():
        fct = summary["fct_ns"]
        rows.append((label, f"{summary['flows_finished']}/{summary['flows']}", micro(fct["p50"]),
                     micro(fct["p99"]), micro(fct["max"]),
                     gbit(summary["goodput_bits_ps"] if summary["flows_finished"] else None),
                     _kilo(summary["queue"], "max_bytes"), str(summary["drops"]),
                     *((str(summary["trims"]),) if has_trims else ()),
                     str(summary["marks"]), str(summary["retransmitted_segs"]),
                     *(tuple(governed(summary, kind) for kind in GOVERNORS) if is_fitted else ()),
                     str(summary["packet_hops"]), _seconds(summary["setup_wall_s"]),
                     _seconds(summary["cpu_s"]), str(summary["packet_hops_per_cpu_s"] or "-")))
    return lines(header, rows)


def _requests(part):
    """Cells of a window's requests, if there are any."""
    requests = part.get("request_ns")
    return () if requests is None else (micro(requests["p50"]), micro(requests["p99"]),
                                        f"{requests['unanswered_share']:.2%}")


def _window(name, summaries):
    parts = {label: summary["measured"][name] for label, summary in summaries.items()}
    first = next(iter(parts.values()))
    header = (f"{name}: {show_time(first['from_ns'])} to {show_time(first['to_ns'])}", "payload",
              "on the wire", "RTT mean", "RTT p99", "Jain", "slowest", "fastest", "queue mean",
              "p99", "max", *(("request p50", "p99", "unanswered")
                              if any("request_ns" in part for part in parts.values()) else ()))
    rows = []
    for label, part in parts.items():
        rate = part["flow_rate_bits_ps"]
        rows.append((label, gbit(part["throughput_bits_ps"]),
                     gbit(part["wire_throughput_bits_ps"]), micro(part["rtt_ns"]["mean"]),
                     micro(part["rtt_ns"]["p99"]),
                     f"{part['jain']:.3f}" if part["jain"] is not None else "-",
                     gbit(rate["min"]), gbit(rate["max"]), _kilo(part["queue"], "mean_bytes"),
                     _kilo(part["queue"], "p99_bytes"), _kilo(part["queue"], "max_bytes"),
                     *_requests(part)))
    return lines(header, rows)


def programs(summaries, out):
    """What programs in the foreground printed, and how they ended, run by run."""
    for label, summary in summaries.items():
        for one in summary.get("programs", ()):
            if one["background"]:
                continue
            took = "" if one["took_ns"] is None else f", {show_time(one['took_ns'])}"
            print(f"== {label}: {one['host']}: {one['command']}: {one['end']} "
                  f"{one['status']}{took}")
            for kind in ("stdout", "stderr"):
                with open(os.path.join(out[label], one[kind]), encoding="utf-8",
                          errors="replace") as file:
                    text = file.read()
                sys.stdout.write(text + ("" if not text or text.endswith("\n") else "\n"))
        if summary.get("programs"):
            print()


def result(summaries, rows, out):
    """Tables of a scenario's runs on standard output."""
    tables = [whole_run(summaries)]
    tables += [_window(name, summaries) for name in next(iter(summaries.values()))["measured"]]
    if rows:
        tables.append(paper.table(rows))
    print("\n\n".join("\n".join(table) for table in tables))
    print(f"report: {os.path.join(out, 'report.html')}")


def explain(jobs, failures, problems):
    """What went wrong, on standard error, with the last lines of the log."""
    for job in jobs:
        error = failures.get(job.variant.label)
        if error is None:
            continue
        print(f"\n{job.name}: {error[0]}", file=sys.stderr)
        for text in error[1:]:
            print(f"    {text}", file=sys.stderr)
        excerpt = job.excerpt()
        if excerpt:
            print(f"from {job.log}:", file=sys.stderr)
            for line in excerpt:
                print(f"    | {line}", file=sys.stderr)
    names = {job.variant.label: job.name for job in jobs}
    for label, texts in problems.items():
        what = "programs" if all(text.startswith("program ") for text in texts) else \
            "sanity checks"
        print(f"\n{names[label]}: {what} failed:", file=sys.stderr)
        for text in texts:
            print(f"    {text}", file=sys.stderr)
