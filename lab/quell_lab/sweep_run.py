# SPDX-License-Identifier: GPL-2.0
"""Runs what a sweep still lacks, several at a time, and sums up when all is there."""

import os
import re
import sys

from . import cost, parted, parts, results, runner, summary, sweep, sweep_store, targets
from .errors import InputError, RunError

PART = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")
# Of a summary: names, which a run's result is not told apart by, and the machine's part.
NOT_KEPT = ("algorithm", "preset", "parameters", "cost")


class Kept:
    """What is said of a run whose result is kept; wall_s: None if it was there before."""

    def __init__(self, wall_s):
        self.cost = cost.Cost(wall_s, None, None, None, None, None, None, None)


class Job:
    """A run of a sweep, with the interface of runner.Job; its scenario is built when it begins."""

    def __init__(self, plan, run, store, kernel):
        self.plan = plan
        self.run_of = run
        self.name = run.text(plan.axes)
        self.store = store
        self.kernel = kernel
        self.key = None
        self.inner = None
        self._state = "waiting"

    @property
    def state(self):
        """As runner.Job's."""
        return self.inner.state if self.inner else self._state

    @state.setter
    def state(self, state):
        self._state = state
        if self.inner:
            self.inner.state = state

    @property
    def scenario(self):
        """The scenario of the run under way."""
        return self.inner.scenario

    @property
    def done(self):
        """Flows that are complete."""
        return self.inner.done

    @property
    def virtual_ns(self):
        """How far it is."""
        return self.inner.virtual_ns

    def kill(self):
        """End the process."""
        if self.inner:
            self.inner.kill()

    def run(self, timeout_s):
        """Make the result, unless it is there; RunError if it cannot be made."""
        if self._state == "stopped":
            raise RunError("interrupted")
        try:
            wanted = self.plan.build(self.run_of)
        except InputError as error:
            raise RunError(str(error)) from None
        self.key = sweep_store.key_of(wanted, self.kernel)
        there = self.store.load(self.key)
        if there:
            self._judge(there["problems"])
            return Kept(None)
        work = sweep_store.Work(self.store.runs)
        try:
            return self._make(wanted, work, timeout_s)
        finally:
            work.close()

    def _judge(self, problems):
        self.state = "failed" if problems else "done"
        if problems:
            raise RunError(f"must not be trusted: {problems[0]}")

    def _make(self, wanted, work, timeout_s):
        variant = wanted.variants[0]
        kernel = runner.kernel_of(variant, self.kernel)
        inner = parted.make_job(wanted, variant, self.kernel, os.path.join(work.path, "run"))
        inner.state = self._state
        self.inner = inner
        found = inner.run(timeout_s)
        problems = list(dict.fromkeys(inner.complaints))
        problems += results.physics(wanted, found)
        self.store.put(self.key, work, {
            "quell_lab_run": 1, "seed": wanted.seed, "algorithm": variant.name,
            "kernel": kernel.version, "lab": sweep_store.lab_version(), "problems": problems,
            "summary": kept(summary.summarise(wanted, found))}, inner.log)
        self._judge(problems)
        return Kept(found.cost.wall_s)


def kept(numbers):
    """A summary without what differs between two runs of one seed, and without long lists."""
    numbers = {key: value for key, value in numbers.items() if key not in NOT_KEPT}
    numbers["jain"] = {key: value for key, value in numbers["jain"].items() if key != "over_time"}
    return numbers


def lines(wanted):
    """A line for each run: number, scenario, algorithm, seed, values; tabs between."""
    for run in wanted.runs:
        cell = run.cells[0]
        yield "\t".join([str(run.number), cell.source.name, cell.label, f"seed={cell.seed}",
                         *sweep.point_words(wanted.axes, cell.values)])


def choose(wanted, only, part):
    """The runs that --only or --part names, or all."""
    if only is not None:
        if not re.fullmatch("[0-9]{1,9}", only) or not 1 <= int(only) <= len(wanted.runs):
            raise InputError("--only", f"'{only}' is out of range: 1 to {len(wanted.runs)}")
        return wanted.runs[int(only) - 1:int(only)]
    if part is not None:
        match = PART.fullmatch(part)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise InputError("--part", f"'{part}' is not I/N with I from 1 to N")
        return wanted.runs[int(match[1]) - 1::int(match[2])]
    return wanted.runs


def is_partial(args):
    """Whether a command line asks for some runs alone."""
    return args.only is not None or args.part is not None


def check(wanted, kernel, args, jobs_max):
    """
    Build every point, or those of the runs asked for, and ask for what it takes; InputError
    before anything runs.
    """
    notes, programs = {}, set()
    chosen = choose(wanted, args.only, args.part)
    for one in wanted.build_points(chosen if is_partial(args) else None):
        runner.check_modules(kernel, one)
        parts.of_kernel(one, kernel)
        cost.check_memory(len(one.graph.hosts), min(jobs_max, len(chosen)))
        objects = frozenset((variant.name, str(variant.values)) for variant in one.variants
                            if variant.program)
        if not objects <= programs:
            runner.check_programs(kernel, one)
            programs |= objects
        notes.update(dict.fromkeys(targets.of_scenario(one)))
    for note in () if args.quiet else notes:
        print(f"lab: note: {note}", file=sys.stderr)


def _sum_up(wanted, jobs, failed, kernel, args):
    """Table, figure and page of the results that can be trusted."""
    from . import by_size, sweep_page	# matplotlib takes a second to load
    values, classes = {}, {}
    for job in jobs:
        result = job.store.load(job.key) if job.key else None
        if result and not result["problems"]:
            number = job.run_of.number
            values[number] = sweep_page.values_of(wanted, job.run_of, result["summary"])
            classes[number] = by_size.classes(result["summary"])
    sums = sweep_page.write(args.out, wanted, (values, classes), failed, kernel)
    if not args.quiet:
        print(f"table: {os.path.join(args.out, sweep_page.TABLE)}\n"
              f"report: {os.path.join(args.out, sweep_page.PAGE)}")
    return sweep_page.compared(sums, os.path.basename(args.out))


def execute(wanted, kernel, args, how):
    """
    Run what is lacking; unless only some runs are asked for, write table, figure and page.
    how: (jobs at a time, time limit, quiet).  Whether all runs are good, and ours beside the
    papers' numbers.
    """
    store = sweep_store.Store(args.out)
    store.open()
    jobs = [Job(wanted, run, store, kernel) for run in choose(wanted, args.only, args.part)]
    failed = {}

    def finished(job, outcome):
        if isinstance(outcome, RunError):
            failed[job.run_of.number] = str(outcome)
            print(f"lab: run {job.run_of.number}, {job.name}: {outcome}", file=sys.stderr)
    runner.run_all(jobs, *how, finished)
    rows = [] if is_partial(args) else _sum_up(wanted, jobs, failed, kernel, args)
    return not failed, rows
