# SPDX-License-Identifier: GPL-2.0
"""Runs a network in parts, and makes one result of theirs."""

import json
import os
import re
import shutil
import threading
from dataclasses import replace

from . import parts, plan, results, runner
from .errors import RunError

MET = re.compile(r"quell-parts (\d+): (\d+) barriers, (\d+) packets")
HANGS = re.compile(r"quell-part \d+ waits for part (\d+) since (\d+) s")
# Tables of which each row is of one part, and what they are sorted by.
TABLES = {
    "governed.out": lambda row, _: int(row[0]),
    "queues.out": lambda row, order: (int(row[2]), order[row[0], row[1]]),
    "cwnd.out": lambda row, _: (int(row[1]), int(row[0])),
    "delivered.out": lambda row, _: (int(row[1]), int(row[0])),
    "dart.out": lambda row, _: (int(row[1]), int(row[0])),
}
EMPTY = ("pauses.out", "truth.out")	# check() refuses what would fill them
# Fields of a row that the part of the flow's receiver knows; all others are the sender's.
RECEIVERS = {"flows.out": (2, 4), "marks.out": (6, 8)}


class PartJob(runner.Job):
    """One part: a process, of which only its files are of interest."""

    def __init__(self, whole, number):
        super().__init__(whole.scenario, whole.variant, whole.kernel,
                         os.path.join(whole.directory, f"part-{number}"))
        self.name = f"part {number} of {whole.cut.parts}"
        self.whole = whole
        self.number = number
        self.counts = (0, 0)		# barriers, packets to other parts
        self.waited = None		# in vain: for which part, so many seconds

    def plan_text(self):
        return parts.plan(self.whole.text, self.whole.cut, self.number)

    def command(self):
        return [*super().command(), "--boot", f"iomem=labparts,/proc/self/fd/{self.whole.memory}"]

    def inherited(self):
        return (self.whole.memory,)

    def see(self, text):
        match = MET.search(text)
        if match:
            self.counts = int(match.group(2)), int(match.group(3))
        match = HANGS.search(text)
        if match:
            self.waited = int(match.group(1)), int(match.group(2))

    def result(self, spent):
        return spent


class PartedJob(runner.Job):
    """A variant's run in parts: as many processes, one result."""

    def __init__(self, scenario, variant, kernel, directory, cut):
        super().__init__(scenario, variant, kernel, directory)
        self.cut = cut
        self.text = ""
        self.memory = -1
        self.jobs = []
        self.first = None		# (part, RunError) of the first that failed

    @property
    def log(self):
        """Path of the kernel log: of the part that failed, or of the first."""
        part = self.first[0] if self.first else 0
        return os.path.join(self.directory, f"part-{part}", "kernel.log")

    def run(self, timeout_s):
        """Run all parts to the end; results.RunResult, or RunError."""
        if self.state == "stopped":
            raise RunError("interrupted")
        self.state = "running"
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(os.path.join(self.directory, "out"))
        self.text = plan.write(self.scenario, self.variant)
        self.first = None
        self.jobs = [PartJob(self, number) for number in range(self.cut.parts)]
        self.memory = os.memfd_create("quell-parts", os.MFD_CLOEXEC)
        try:
            os.ftruncate(self.memory, self.cut.memory_bytes)
            costs = self._run_parts(timeout_s)
        finally:
            os.close(self.memory)
        if self.first:
            self.state = "failed" if self.state == "running" else self.state
            if self.state == "stopped":
                raise RunError("interrupted")
            raise RunError(f"{self.jobs[self.first[0]].name}: {self.first[1]}")
        self.complaints = [text for job in self.jobs for text in job.complaints]
        spent = self._cost(costs)
        merge(self.jobs, self.cut, self.scenario, os.path.join(self.directory, "out"))
        result = results.read(os.path.join(self.directory, "out"), self.scenario, self.variant,
                              spent)
        self.state = "done"
        self.done = len(self.scenario.flows)
        return result

    def _run_parts(self, timeout_s):
        costs, lock = [None] * self.cut.parts, threading.Lock()

        def run(job):
            try:
                costs[job.number] = job.run(timeout_s)
            except (RunError, OSError) as error:
                failed = job.number, error
                if job.waited:
                    failed = job.waited[0], f"hangs, {job.name} waited {job.waited[1]} s for it"
                with lock:
                    self.first = self.first or failed
                self._kill_parts()
        threads = [threading.Thread(target=run, args=(job,)) for job in self.jobs]
        for thread in threads:
            thread.start()
        if self.state == "stopped":
            self._kill_parts()
        for thread in threads:
            while thread.is_alive():
                thread.join(runner.REFRESH_S)
                self.virtual_ns = min(job.virtual_ns for job in self.jobs)
                self.done = sum(job.done for job in self.jobs)
        return costs

    def _cost(self, costs):
        """The sum of all parts' costs; each is in parts.json."""
        def total(name, add):
            values = [getattr(one, name) for one in costs]
            return None if None in values else add(values)
        with open(os.path.join(self.directory, "parts.json"), "w", encoding="ascii") as file:
            json.dump([{"part": job.number, "nodes": sum(part == job.number for part in
                                                         self.cut.of_node.values()),
                        "barriers": job.counts[0], "crossing_packets": job.counts[1],
                        "cpu_s": one.cpu_s, "run_cpu_s": one.run_cpu_s, "wall_s": one.wall_s,
                        "run_wall_s": one.run_s, "peak_bytes": one.peak_bytes}
                       for job, one in zip(self.jobs, costs)], file, indent=1)
            file.write("\n")
        return replace(costs[0], **{name: total(name, max) for name in (
            "wall_s", "setup_s", "run_s")}, **{name: total(name, sum) for name in (
                "cpu_s", "setup_cpu_s", "run_cpu_s", "peak_bytes")})

    def _kill_parts(self):
        for job in self.jobs:
            if job.state in ("waiting", "running"):
                job.state = "stopped"
                job.kill()

    def kill(self):
        """End all parts."""
        self._kill_parts()


def make_jobs(scenario, kernel, directory, cut):
    """One job per variant; without a cut each is one process."""
    if cut is None:
        return runner.make_jobs(scenario, kernel, directory)
    return [PartedJob(scenario, variant, runner.kernel_of(variant, kernel),
                      os.path.join(directory, "raw", runner.raw_name(number, variant)), cut)
            for number, variant in enumerate(scenario.variants, start=1)]


def _rows(job, name):
    path = os.path.join(job.directory, "out", name)
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().splitlines()
    except OSError as error:
        raise RunError(f"{job.name}: {name}: {error.strerror}") from None


def _of_both(jobs, cut, scenario, name):
    """Rows of flows, each of what its sender's part knows and its receiver's."""
    tables = [{row.split(" ", 1)[0]: row.split() for row in _rows(job, name)} for job in jobs]
    rows = []
    for flow in scenario.flows:
        key = str(flow.number)
        try:
            row = list(tables[cut.of_node[flow.src]][key])
            other = tables[cut.of_node[flow.dst]][key]
        except KeyError:
            raise RunError(f"{name}: no line for flow {key}") from None
        for column in RECEIVERS[name]:
            row[column] = other[column]
        rows.append(" ".join(row))
    return rows


def _ports(jobs, cut, scenario):
    """Lines of ports, each of the part that it is in, in the order of the cables."""
    lines = {}
    for job in jobs:
        for row in _rows(job, "ports.out"):
            node, dev, _ = f"{row} ".split(" ", 2)
            if cut.of_node.get(node) == job.number:
                lines[node, dev] = row
    order = {(end.node, end.dev): None for node in scenario.graph.nodes
             for port in scenario.graph.ports[node] if port.cable.a == node
             for end in (port, _other(scenario.graph, port))}
    return [lines[key] for key in order if key in lines]


def _other(graph, port):
    return next(one for one in graph.ports[port.peer] if one.dev == port.peer_dev)


def merge(jobs, cut, scenario, out):
    """Write the tables of the whole network, of those of its parts."""
    files = {name: _of_both(jobs, cut, scenario, name) for name in RECEIVERS}
    files["ports.out"] = _ports(jobs, cut, scenario)
    order = {(port.node, port.dev): number for number, port in
             enumerate(scenario.watched_ports())}
    for name, key in TABLES.items():
        rows = [row for job in jobs for row in _rows(job, name)]
        files[name] = sorted(rows, key=lambda row, key=key: key(row.split(), order))
    if all(os.path.exists(os.path.join(job.directory, "out", "counters.out")) for job in jobs):
        place = {node: number for number, node in enumerate(scenario.graph.nodes)}
        files["counters.out"] = sorted((row for job in jobs for row in _rows(job, "counters.out")),
                                       key=lambda row: place.get(row.split(" ", 1)[0], -1))
    ends = {tuple(_rows(job, "done.out")) for job in jobs}
    if len(ends) > 1:
        raise RunError(f"parts ended at different times: {ends}")
    files["done.out"] = list(ends.pop())
    for name in EMPTY:
        files[name] = []
    for name, rows in files.items():
        with open(os.path.join(out, name), "w", encoding="ascii", errors="replace") as file:
            file.writelines(f"{row}\n" for row in rows)
