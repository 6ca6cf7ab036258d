# SPDX-License-Identifier: GPL-2.0
"""The CSV files: one row a line, algorithms in the order they were asked for."""

import csv
import os

from . import connections, governs, pfc

FLOWS = ("cc", "flow", "src", "dst", "bytes", "start_ns", "end_ns", "fct_ns", "ideal_ns",
         "retrans_segs")
QUEUES = ("cc", "port", "time_ns", "backlog_bytes")
CWND = ("cc", "flow", "time_ns", "cwnd_bytes", "pacing_bytes_ps", "rtt_ns", "hop")
DELIVERED = ("cc", "flow", "time_ns", "bytes")

SLOWDOWN = ("cc", "by", "from_bytes", "to_bytes", "flows", "p50", "p95", "p99", "p999", "max")
PFC = ("cc", "port", "priority", *pfc.COUNTERS)
PAUSES = ("cc", "port", "time_ns", "priority", "paused")
PROGRAMS = ("cc", "program", "host", "command", "background", "start_ns", "end_ns", "took_ns",
            "end", "status")
DART = ("cc", "flow", "time_ns", "state", "n_counted", "n_told", "limiter")


def _flow_rows(result):
    for row in result.flows:
        flow = row.flow
        yield (flow.number, flow.src, flow.dst, flow.size_bytes, row.start_ns, row.end_ns,
               row.fct_ns, row.ideal_ns, row.retrans_segs)


def _program_rows(result):
    for one in result.processes:
        process = one.process
        yield (process.number, process.host, process.command, int(process.background),
               one.start_ns, one.end_ns, one.took_ns, one.how, one.status)


def _connection_rows(result):
    for label, rows in result.connections.items():
        for one in rows:
            yield (label, *one.row())


def write_csv(path, header, rows):
    """Write a table."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


def write_slowdown(directory, summaries):
    """Write slowdown.csv: of all flows, by classes of size, and in bins of as many flows."""
    write_csv(os.path.join(directory, "slowdown.csv"), SLOWDOWN, (
        (label, by, *(row[key] for key in SLOWDOWN[2:]))
        for label, summary in summaries.items() for by, rows in (
            ("all", [summary["slowdown"]["all"]]), ("class", summary["slowdown"]["classes"]),
            ("bin", summary["slowdown"]["bins"])) for row in rows))


def _series_rows(series):
    for key in series:
        for row in series[key]:
            yield (key, *row)


def _write(directory, name, header, results, rows):
    write_csv(os.path.join(directory, name), header, (
        (result.variant.label, *row) for result in results for row in rows(result)))


def write(directory, results):
    """
    Write flows.csv, queues.csv, cwnd.csv, delivered.csv, of Dart's flows
    dart.csv, and with priority flow control pfc.csv and pauses.csv.
    """
    _write(directory, "flows.csv", FLOWS, results, _flow_rows)
    _write(directory, "queues.csv", QUEUES, results, lambda r: _series_rows(r.queues))
    _write(directory, "cwnd.csv", CWND, results, lambda r: _series_rows(r.cwnd))
    _write(directory, "delivered.csv", DELIVERED, results, lambda r: _series_rows(r.delivered))
    if any(result.processes for result in results):
        _write(directory, "programs.csv", PROGRAMS, results, _program_rows)
    if any(result.connections for result in results):
        _write(directory, "connections.csv", connections.COLUMNS, results, _connection_rows)
    if any(result.dart for result in results):
        _write(directory, "dart.csv", DART, results, lambda r: governs.rows(r.dart))
    if any(result.pauses is not None for result in results):
        _write(directory, "pfc.csv", PFC, results, lambda r: pfc.rows(r.ports))
        _write(directory, "pauses.csv", PAUSES, results, lambda r: _series_rows(r.pauses))
