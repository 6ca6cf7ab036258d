# SPDX-License-Identifier: GPL-2.0
"""Runs a network in parts, and makes one result of theirs."""

import glob
import itertools
import json
import os
import re
import shutil
import threading
import time
from dataclasses import asdict, replace

from . import cost, machines, parts, plan, results, runner
from .errors import RunError
from .machines import Lost

MET = re.compile(r"quell-parts (\d+): (\d+) barriers, (\d+) packets")
HANGS = re.compile(r"quell-part \d+ waits for part (\d+) since (\d+) s")
STUCK = re.compile(r"quell-stuck (\d+) (\d) (\S+) (\S+) (\S+) (\S+)")
LOG_LINES = 3		# of a part's log, for rank 0
# Tables of which each row is of one part, and what they are sorted by.
TABLES = {
    "governed.out": lambda row, _: int(row[0]),
    "queues.out": lambda row, order: (int(row[2]), order[row[0], row[1]]),
    "cwnd.out": lambda row, _: (int(row[1]), int(row[0])),
    "delivered.out": lambda row, _: (int(row[1]), int(row[0])),
    "pauses.out": lambda row, order: (int(row[2]), order[row[0], row[1]], int(row[3])),
    "truth.out": lambda row, _: (int(row[1]), int(row[0])),
}
# Fields of a row that the part of the flow's receiver knows; all others are the sender's.
RECEIVERS = {"flows.out": (2, 4), "marks.out": (6, 8)}


class Away:
    """The result of a rank whose tables are those of rank 0."""

    def __init__(self, spent):
        self.cost = spent


class PartJob(runner.Job):
    """One part: a process, of which only its files are of interest."""

    def __init__(self, whole, number):
        super().__init__(whole.scenario, whole.variant, whole.kernel,
                         os.path.join(whole.directory, f"part-{number}"))
        self.name = f"part {number} of {whole.cut.parts}"
        self.guest_bytes = whole.kernel.guest_bytes or cost.guest_bytes(
            sum(whole.cut.of_node[host] == number for host in whole.scenario.graph.hosts),
            len(whole.scenario.flows), whole.cut.parts)
        self.whole = whole
        self.number = number
        self.counts = (0, 0)		# barriers, packets to other parts
        self.waited = None		# in vain: for which part, so many seconds

    def plan_text(self):
        return parts.plan(self.whole.text, self.whole.cut, self.number, len(self.whole.own))

    def command(self):
        return ["setpriv", "--pdeathsig", "TERM", *super().command(),
                "--boot", f"iomem=labparts,/proc/self/fd/{self.whole.memory}"]

    def inherited(self):
        return (self.whole.memory,)

    def see(self, text):
        match = MET.search(text)
        if match:
            self.counts = int(match.group(2)), int(match.group(3))
        match = STUCK.search(text)
        if match:
            self.whole.see_stuck(self, match.groups())
        match = HANGS.search(text)
        if match:
            self.waited = int(match.group(1)), int(match.group(2))

    def result(self, spent):
        return spent


class _Other:
    """Parts of other ranks, of which this one takes the end, the results and the failures."""

    def __init__(self, whole, rank):
        self.whole = whole
        self.rank = rank
        self.end = whole.machines.control[rank]
        self.thread = threading.Thread(target=whole.run_other, args=(self,), daemon=True)

    def run(self):
        """Until the rank's parts have ended; of rank 0, until it has all results."""
        try:
            said = self.end.receive()
            while "running" in said:
                said = self.end.receive()
            if "failed" in said:
                raise RunError(said["failed"])
            if self.rank:
                self._take(said)
        except Lost as error:
            raise RunError(str(error)) from None
        except OSError as error:
            raise RunError(f"results of {self.end.name} cannot be written: "
                           f"{error.strerror}") from None
        except (KeyError, TypeError, ValueError):
            raise RunError(f"{self.end.name}: no results of ours") from None

    def _take(self, said):
        whole = self.whole
        for number, one in said["parts"].items():
            job = whole.jobs[int(number)]
            self.end.receive_files(job.directory, one["files"])
            job.counts, job.complaints = tuple(one["counts"]), one["complaints"]
            whole.costs[int(number)] = cost.Cost(**one["cost"])


class PartedJob(runner.Job):
    """A variant's run in parts: as many processes, one result."""

    def __init__(self, scenario, variant, kernel, directory, group=""):
        super().__init__(scenario, variant, kernel, directory, group)
        self.cut = parts.of_kernel(scenario, kernel)
        self.text = ""
        self.memory = -1
        self.machines = kernel.machines
        self.jobs = []			# of all parts
        self.costs = []			# of all parts that have ended
        self.others = []		# of other ranks
        self.link = None		# the process that carries windows to them
        self.lock = threading.Lock()
        self.first = None		# (part, reason) of the first that failed
        self.stuck = {}			# (time, priority): {stuck port: the port that it pauses}

    @property
    def own(self):
        """The parts of this machine."""
        return [self.jobs[number] for number in self.machines.own(self.cut.parts)] \
            if self.machines else self.jobs

    @property
    def log(self):
        """Path of the kernel log: of the part that failed, or of the first."""
        part = self.first[0] if self.first else 0
        return os.path.join(self.directory, f"part-{part}", "kernel.log")

    def run(self, timeout_s):
        """Run all parts to the end; results.RunResult, or RunError."""
        if self.state == "stopped":
            raise RunError("interrupted")
        if self.machines and self.machines.failure:
            raise RunError(f"not run, for {self.machines.failure}")
        self.state = "running"
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(os.path.join(self.directory, "out"))
        self.text = plan.write(self.scenario, self.variant)
        self.first, self.stuck = None, {}
        self.jobs = [PartJob(self, number) for number in range(self.cut.parts)]
        self.costs = [None] * self.cut.parts
        self.memory = os.memfd_create("quell-parts", os.MFD_CLOEXEC)
        try:
            os.ftruncate(self.memory, self.cut.memory_bytes)
            self._run_parts(timeout_s)
        finally:
            os.close(self.memory)
        if self.first:
            self.state = "failed" if self.state == "running" else self.state
            if self.state == "stopped":
                raise RunError("interrupted")
            raise RunError(self.first[1])
        self.complaints = [text for job in self.jobs for text in job.complaints]
        self.state = "done"
        self.done = len(self.scenario.flows)
        if self.machines and self.machines.rank:
            return Away(self._cost())
        spent = self._cost()
        merge(self.jobs, self.cut, self.scenario, os.path.join(self.directory, "out"))
        return results.read(os.path.join(self.directory, "out"), self.scenario, self.variant,
                            spent)

    def fail(self, number, reason):
        """The first failure is that of the run, and ends all parts, on other machines, too."""
        with self.lock:
            if self.first:
                return
            self.first = number, reason
        if self.machines:
            self.machines.failure = reason
        for other in self.others:
            try:
                other.end.send({"failed": reason})
            except Lost:
                pass	# it has the end of the connection
        self.kill()

    def _run_job(self, job, timeout_s):
        try:
            self.costs[job.number] = job.run(timeout_s)
        except (RunError, OSError) as error:
            if job.waited:
                waited = self.jobs[job.waited[0]]
                self.fail(waited.number, f"{waited.name}: hangs, {job.name} waited {job.waited[1]} "
                          "s for it")
            else:
                # Rank 0 has no log of another rank's part.
                log = job.excerpt()[-LOG_LINES:] if self.machines and self.machines.rank else []
                self.fail(job.number, "\n".join((f"{job.name}: {error}", *log)))

    def run_other(self, other):
        """Until a rank has sent all, or fails."""
        try:
            other.run()
        except RunError as error:
            self._fail_other(other, str(error))

    def _fail_other(self, other, reason):
        self.fail(self.machines.of(other.rank, self.cut.parts).start, reason)

    def _run_link(self):
        said = self.link.communicate()[1]
        if self.link.returncode:
            self.fail(self.own[0].number, said.strip() or "parts-link has ended")

    def _run_parts(self, timeout_s):
        threads = [threading.Thread(target=self._run_job, args=(job, timeout_s))
                   for job in self.own]
        others = []
        if self.machines and self.machines.data:
            self.others = [_Other(self, rank) for rank in self.machines.control]
            self.link = self.machines.start_link(self.cut, self.memory, self.kernel.init)
            threads.append(threading.Thread(target=self._run_link))
            others = [one.thread for one in self.others]
        for thread in threads + others:
            thread.start()
        if self.state == "stopped":
            self.kill()
        self._await(threads)
        if not self.others:
            return
        if self.machines.rank and not self.first:
            self._send_results()
        self._await(others)
        if not self.machines.rank and not self.first:
            for other in self.others:
                try:
                    other.end.send({"done": True})
                except Lost:
                    pass	# its results are here

    def _await(self, threads):
        """Until they have ended; after a failure those that read from others do not count."""
        began_s = sent_s = time.monotonic()
        for thread in threads:
            while thread.is_alive() and not (self.first and thread.daemon):
                thread.join(runner.REFRESH_S)
                self.virtual_ns = min(job.virtual_ns for job in self.own)
                self.done = sum(job.done for job in self.own)
                if self.machines and not self.machines.rank:
                    self._check_others(began_s)
                elif self.others and time.monotonic() - sent_s > machines.LOST_S / 6:
                    sent_s = time.monotonic()
                    self._send_running()

    def _check_others(self, began_s):
        """Other ranks send something all the time, or they are stopped."""
        for other in self.others:
            if other.thread.is_alive() and time.monotonic() - max(
                    began_s, other.end.heard_s) > machines.LOST_S:
                self._fail_other(other, f"{other.end.name}: has sent no message for "
                                 f"{machines.LOST_S} s")

    def _send_running(self):
        try:
            self.others[0].end.send({"running": True})
        except Lost:
            pass	# the thread that reads has the end of the connection

    def _send_results(self):
        """To rank 0."""
        found, paths = {}, []
        for job in self.own:
            files = []
            for path in [job.log, *sorted(glob.glob(os.path.join(job.directory, "out", "*")))]:
                paths.append(path)
                files.append((os.path.relpath(path, job.directory), os.path.getsize(path)))
            found[job.number] = {"files": files, "counts": job.counts, "complaints": job.complaints,
                                 "cost": asdict(self.costs[job.number])}
        try:
            self.others[0].end.send({"parts": found}, paths)
        except Lost as error:
            self.fail(self.own[0].number, str(error))

    def see_stuck(self, job, words):
        """A port of a part is stuck; end the run if it and others wait for each other in a ring."""
        time, priority, *ports = words
        stuck = self.stuck.setdefault((time, priority), {})
        stuck[tuple(ports[:2])] = tuple(ports[2:])
        ring = ring_of(stuck)
        if ring:
            self.fail(job.number, f"deadlock: by priority {priority} each waits for the next, in "
                      "a ring: " + ", ".join(" ".join(stuck[port]) for port in ring))

    def _cost(self):
        """The sum of all parts' costs; each is in parts.json."""
        costs = [one for one in self.costs if one]

        def total(name, add):
            values = [getattr(one, name) for one in costs]
            return None if None in values else add(values)
        with open(os.path.join(self.directory, "parts.json"), "w", encoding="ascii") as file:
            json.dump([{"part": job.number, "nodes": sum(part == job.number for part in
                                                         self.cut.of_node.values()),
                        "barriers": job.counts[0], "crossing_packets": job.counts[1],
                        "cpu_s": one.cpu_s, "run_cpu_s": one.run_cpu_s, "wall_s": one.wall_s,
                        "run_wall_s": one.run_s, "peak_bytes": one.peak_bytes}
                       for job, one in zip(self.jobs, self.costs) if one], file, indent=1)
            file.write("\n")
        return replace(costs[0], **{name: total(name, max) for name in (
            "wall_s", "setup_s", "run_s")}, **{name: total(name, sum) for name in (
                "cpu_s", "setup_cpu_s", "run_cpu_s", "peak_bytes")})

    def kill(self):
        """End all parts."""
        if self.link:
            self.link.kill()
        for job in self.own:
            if job.state in ("waiting", "running"):
                job.state = "stopped"
                job.kill()


def ring_of(stuck):
    """Stuck ports of which each waits for the next, the last for the first; or none.  A port waits
    for one that pauses another port of its switch."""
    def following(port):
        return next((other for other, paused in left.items()
                     if paused[0] == port[0] and paused != port), None)
    left, before = dict(stuck), None
    while before != len(left):
        before = len(left)
        left = {port: paused for port, paused in left.items() if following(port)}
    way = [next(iter(left), None)]
    while left and way[-1] not in way[:-1]:
        way.append(following(way[-1]))
    return way[way.index(way[-1]):-1]


def make_job(scenario, variant, kernel, directory, group=""):
    """A variant's run, in parts or not."""
    kind = runner.Job if kernel.parts is None else PartedJob
    return kind(scenario, variant, runner.kernel_of(variant, kernel), directory, group)


def make_jobs(scenario, kernel, directory, group=""):
    """One job per variant; the group's name goes before the label for people."""
    return [make_job(scenario, variant, kernel,
                     os.path.join(directory, "raw", runner.raw_name(number, variant)), group)
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


def _of_ends(jobs):
    """Rows of Dart's flows, of rows of their two ends: while the sender has values, each change."""
    rows = sorted((row.split() for job in jobs for row in _rows(job, "dart.out")),
                  key=lambda row: (int(row[1]), int(row[0])))
    found, receivers, senders, last = [], {}, {}, {}
    for (time, flow), group in itertools.groupby(rows, key=lambda row: (row[1], row[0])):
        for _, _, *values in group:
            if values[0] != "-":
                receivers[flow] = values[:2]
            else:
                senders[flow] = values[2:]
        values = [*receivers.get(flow, ("0", "0")), *senders.get(flow, "-")]
        if values[-1] != "-" and last.get(flow) != values:
            last[flow] = values
            found.append(" ".join((flow, time, *values)))
    return found


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
    ports = [port for node in scenario.graph.nodes for port in scenario.graph.ports[node]]
    order = {(port.node, port.dev): number for number, port in enumerate(ports)}
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
    files["dart.out"] = _of_ends(jobs)
    for job in jobs:
        for path in glob.glob(os.path.join(job.directory, "out", "*.pcap")):
            shutil.copy(path, out)
    for name, rows in files.items():
        with open(os.path.join(out, name), "w", encoding="ascii", errors="replace") as file:
            file.writelines(f"{row}\n" for row in rows)
