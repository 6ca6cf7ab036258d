# SPDX-License-Identifier: GPL-2.0
"""Small scenarios and results to test with."""

import contextlib
import io
import os
import types
from unittest import mock

from quell_lab import cli, cost, results, scenario

STEADY = {"from": "20us", "to": "40us"}
LONG = [{"src": "h1", "dst": "h3", "bytes": 10**6}, {"src": "h2", "dst": "h3", "bytes": 10**6}]
STAR = {"kind": "star", "hosts": 3, "rate": "100gbit", "delay": "1us"}


def table(**changes):
    """A valid scenario dictionary with some keys replaced (None: left out)."""
    base = {
        "topology": dict(STAR),
        "algorithm": [{"name": "cubic"}],
        "flow": [{"src": "h1", "dst": "h3", "bytes": 3000},
                 {"src": "h2", "dst": "h3", "bytes": 3000, "start": "20us"}],
    }
    base.update(changes)
    return {key: value for key, value in base.items() if value is not None}


def build(**changes):
    """The scenario of such a dictionary."""
    return scenario.build(table(**changes))


def build_lasting(**changes):
    """Two flows that outlast a run of 50 us, and a window of 20 us in it."""
    values = {"flow": LONG, "until": "50us", "measure": dict(STEADY),
              "check": {"allow-unfinished": True}}
    values.update(changes)
    return build(**values)


def flow_result(flow, start_ns, end_ns, **changes):
    """A flow's result in which all is well."""
    values = {"sent_bytes": flow.size_bytes, "delivered_bytes": flow.size_bytes,
              "retrans_segs": 0, "segs_out": 1, "ideal_ns": 1}
    values.update(changes)
    return results.FlowResult(flow=flow, start_ns=start_ns, end_ns=end_ns, **values)


def run_result(wanted, flows, **changes):
    """A run's result around some flows."""
    values = {"queues": {}, "cwnd": {}, "delivered": {}, "dart": {}, "pauses": None, "truth": {},
              "ports": {},
              "counters": {}, "virtual_ns": 10**9,
              "cost": cost.Cost(3.0, 0.75, 2.0, 2.5, 0.5, 1.5, 1 << 20, "small (never)")}
    values.update(changes)
    return results.RunResult(variant=wanted.variants[0], flows=flows, **values)


def run_lab(*argv, environment=()):
    """A command in this process: a new one takes longer to start than most commands take."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error), \
            mock.patch.dict(os.environ, environment):
        try:
            status = cli.main(list(argv))
        except SystemExit as end:
            status = end.code
    return types.SimpleNamespace(returncode=status, stdout=out.getvalue(), stderr=error.getvalue())
