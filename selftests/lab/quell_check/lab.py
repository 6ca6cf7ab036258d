# SPDX-License-Identifier: GPL-2.0
"""Command lines of the laboratory, and the tables they leave."""

import csv
import glob
import json
import math
import os

from quell_lab import physics, runner

from .execute import directory, execute
from .tap import Failed


def command(verb, *words):
    """
    A run without figures, which take as long as many a run: unit/lab and lab/demo have them.
    """
    return (os.path.join(runner.HERE, "lab"), verb, *words, "--quiet",
            *(["--no-figures"] if verb in ("run", "incast", "exec") else []))


class Lab:
    """Runs the lab into directories of one scratch directory."""

    def __init__(self, tap, scratch):
        self.tap = tap
        self.scratch = scratch

    def run(self, name, *words):
        """Directory of the results; Failed for a run that failed, which is a result."""
        out = directory(self.scratch, name)
        done = execute(*command(*words), "--out", out)
        if not done.returncode:
            return out
        self.tap.fail(f"{name} runs and obeys physics", f"exit status {done.returncode}",
                      done.stdout, 30)
        raise Failed

    def write(self, name, text):
        """Path of a scenario's text."""
        path = directory(self.scratch, name) + ".scenario"
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def run_text(self, name, text, *words):
        """The same of a scenario's text."""
        return self.run(name, "run", self.write(name, text), *words)

    def run_scenario(self, name, *words):
        """The same of a ready-made scenario."""
        return self.run(name, "run", os.path.join(runner.HERE, "scenarios", f"{name}.scenario"),
                        *words)


def rows(out, table):
    """Rows of a table as dictionaries."""
    with open(os.path.join(out, table), encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def summary(out):
    """summary.json's part per algorithm."""
    with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
        return json.load(file)["cc"]


def marks_by_flow(out, label):
    """{flow: marked packets of which its sender was notified}: delivered_ce."""
    path, = glob.glob(os.path.join(out, "raw", f"*-{label}", "out", "marks.out"))
    with open(path, encoding="ascii") as file:
        return {fields[0]: int(fields[2]) for fields in map(str.split, file)}


def counted_marks(out, label):
    """The same of all flows."""
    return sum(marks_by_flow(out, label).values())


def round_trip_ns(rate_bits_ps, delay_ns, mtu_bytes, option_bytes=0):
    """
    Round-trip time on the idle star as Swift counts it: the data packet from
    its last bit on the first cable, the ACK on both cables back.  A cable
    delivers at the first whole ns at or after the last bit.
    """
    data = physics.serialise_ns(physics.wire_bytes(mtu_bytes), rate_bits_ps)
    ack = physics.serialise_ns(physics.wire_bytes(physics.HEADER_BYTES + option_bytes),
                               rate_bits_ps)
    return 4 * delay_ns + math.ceil(data) + 2 * math.ceil(ack)
