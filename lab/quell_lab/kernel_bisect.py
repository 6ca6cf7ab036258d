# SPDX-License-Identifier: GPL-2.0
"""Conditions on a scenario's result, and the commit of a kernel from which one is not met."""

import os
import re
import tempfile

from . import kernel_build, kernel_source, output, runner, seeds, slowdown, units
from .errors import InputError, RunError, SourceError, nearest

# Exit codes of a test of git bisect
GOOD, BAD, SKIP = 0, 1, 125
TERM = re.compile(r"^\s*(?:(\S+):\s+)?(.+?)\s*(<=|>=|<|>)\s*(\S+)\s*$")
COMPARE = {"<": lambda one, other: one < other, "<=": lambda one, other: one <= other,
           ">": lambda one, other: one > other, ">=": lambda one, other: one >= other}
SHORT = {"p50": "fct_p50_ns", "p99": "fct_p99_ns", "max": "fct_max_ns"}
UNIT = {"ns": "time", "ps": "rate", "bytes": "size"}
# With quotes from git 2.55 on; 64 digits in a repository of SHA-256.
FIRST_BAD = re.compile(r"^([0-9a-f]{40,64}) is the first '?bad'? commit", re.MULTILINE)
SLOWDOWN = "slowdown_"
LOADS = ("offered_bits_ps", "carried_bits_ps")


class Condition:
    """'p99 < 80us', 'swift: drops < 5': as a table of seeds has a quantity, and a limit."""

    def __init__(self, text):
        found = TERM.match(text)
        if not found:
            raise InputError(f"condition '{text}'",
                             "not [LABEL:] QUANTITY < VALUE; <=, > and >= as well")
        self.text = text
        self.label, self.name, compare, limit = found.groups()
        name = self.name
        names = {shown: key for key, (shown, _) in seeds.OF_RUN.items()}
        self.quantity = SHORT.get(name) or names.get(name, name)
        known = (*seeds.OF_RUN, "drops")
        slowdowns = [f"{SLOWDOWN}{percentile} all" for percentile, _ in slowdown.PERCENTILES]
        if self.quantity not in known and self.quantity.partition(" ")[0] not in (
                one.partition(" ")[0] for one in slowdowns):
            words = (*SHORT, *names, "drops", *slowdowns)
            raise InputError(f"condition '{text}'", f"no quantity '{name}'{nearest(name, words)}: "
                             f"one of {', '.join(words)}")
        self.holds_for = COMPARE[compare]
        kind = UNIT.get(self.quantity.rpartition("_")[2], "number")
        try:
            self.limit, _ = units.exact(limit, kind)
        except ValueError as error:
            raise InputError(f"condition '{text}'", str(error)) from None

    def check(self, scenario):
        """InputError unless runs of a scenario have the quantity."""
        problem = None
        labels = [variant.label for variant in scenario.variants]
        if self.label and self.label not in labels:
            raise InputError(f"condition '{self.text}'", f"the scenario has no run '{self.label}'"
                             f"{nearest(self.label, labels)}: {', '.join(labels)}")
        is_slowdown = self.quantity.startswith(SLOWDOWN)
        if is_slowdown and not slowdown.has_sizes(scenario.flows):
            problem = "all flows are of one size"
        elif is_slowdown and self.quantity.removeprefix(SLOWDOWN) not in slowdown.names(scenario):
            problem = f"one of {SLOWDOWN}{f', {SLOWDOWN}'.join(slowdown.names(scenario))}"
        elif is_slowdown or self.quantity.startswith("fct_"):
            if not scenario.flows:
                problem = "no flows"
            elif scenario.allow_unfinished:
                problem = "with allow-unfinished, flows that do not finish do not count"
        elif self.quantity in LOADS and not scenario.config.get("workload"):
            problem = "no [[workload]]"
        elif self.quantity == "queue_max_bytes" and not scenario.watched_ports():
            problem = "no port of a switch has its queue recorded"
        if problem:
            raise InputError(f"condition '{self.text}'", f"the scenario has no {self.name}: "
                             f"{problem}")

    def _values(self, summaries):
        """{label: value} of the runs that it is about; RunError for one without."""
        found = {label: dict(seeds.of_summary(one)).get(self.quantity)
                 for label, one in summaries.items() if self.label in (None, label)}
        for label, value in found.items():
            if value is None:
                raise RunError(f"{label} has no {self.quantity}")
        return found

    def holds(self, summaries):
        """Whether all these runs of a result meet it; RunError for one without the quantity."""
        return all(self.holds_for(value, self.limit)
                   for value in self._values(summaries).values())

    def value(self, summaries):
        """The quantity of each run, for people."""
        _, text = seeds.OF_RUN.get(self.quantity, (None, "{:.4g}".format))
        return ", ".join(f"{label} {text(value)}"
                         for label, value in self._values(summaries).items())


class Test:
    """A scenario and a condition, as a test of kernels."""

    def __init__(self, scenario, condition, how, prepare):
        self.scenario = scenario
        self.condition = condition
        self.facts, self.timeout_s, self.quiet = how
        self.prepare = prepare		# a kernel for its runs

    def run(self, kernel):
        """(exit code of git bisect, reason) of a kernel that was built."""
        kernel = self.prepare(kernel)
        runner.check_modules(kernel, self.scenario)
        with tempfile.TemporaryDirectory() as out:
            batch = output.Batch("run", self.scenario, kernel, out)
            output.run([batch], self.timeout_s, True, dict(self.facts, kernel=kernel.version,
                                                           kernel_kind=kernel.kind))
            if not batch.done.good:
                return SKIP, "the scenario did not run to its end"
            value = self.condition.value(batch.done.summaries)
            return (GOOD if self.condition.holds(batch.done.summaries) else BAD), value

    def built(self, make):
        """The same of a kernel that make() builds; one that cannot be built or run is skipped."""
        try:
            return self.run(make())
        except (SourceError, RunError, OSError) as error:
            return SKIP, str(error)

    def of_source(self, source):
        """The same of a source."""
        return self.built(lambda: kernel_build.build(source, self.quiet))


def ends(good, bad):
    """The sources of two commits of one tree."""
    for text in (good, bad):
        if kernel_source.AT not in text:
            raise InputError(text, "not TREE@COMMIT, a commit of a git tree")
    found = [kernel_source.find(text) for text in (good, bad)]
    if found[0].directory != found[1].directory:
        raise InputError(f"{good}, {bad}", "commits of different trees")
    return found


class Bisection:
    """git bisect in the repository of the cache; the tree itself is only read."""

    def __init__(self, good, bad, test, say):
        self.good, self.bad, self.test, self.say = good, bad, test, say

    def _git(self, *words):
        """Output of git bisect; it may fail where only skipped commits are left."""
        done = kernel_source.run_git(self.bad.repository, "bisect", *words)
        out = done.stdout.decode(errors="replace")
        if done.returncode not in (0, 2):
            raise InputError("git bisect", kernel_source.reason(done) or out.strip())
        return out

    def _check_ends(self):
        """The test must tell both ends apart."""
        for source, wanted in ((self.good, GOOD), (self.bad, BAD)):
            code, why = self.test.of_source(source)
            self.say(source.commit, code, why)
            if code != wanted:
                word = {GOOD: "meets", BAD: "does not meet", SKIP: "cannot be tested for"}[code]
                raise InputError(source.where, f"it {word} '{self.test.condition.text}', so there "
                                 f"is no change to find: {why}")

    def run(self):
        """(first commit that does not meet the condition or None, output of git)"""
        for source in (self.good, self.bad):
            source.prepare()	# a tree that is refused gets no directory
        # Beside the repository, which git bisect may have only one of.
        with kernel_source.locked(f"{self.bad.repository}.bisect", (
                self.bad.where, "another bisection of this tree is running")):
            self._check_ends()
            return self._bisect()

    def _bisect(self):
        if kernel_source.run_git(self.bad.repository, "rev-parse", "-q", "--verify",
                                 "HEAD").returncode:
            # git bisect needs one; both ends were built before this repository was made.
            self.bad.git("update-ref", "--no-deref", "HEAD", self.bad.commit)
        self._git("start", "--no-checkout", self.bad.commit, self.good.commit)
        try:
            return self._steps()
        finally:
            self._git("reset", "HEAD")

    def _steps(self):
        tested, out = set(), ""
        while True:
            head = os.path.join(self.bad.repository, ".git", "BISECT_HEAD")
            with open(head, encoding="ascii") as file:
                commit = file.read().strip()
            if commit in tested:
                raise InputError("git bisect", f"{commit} is to be tested again, after: {out}")
            tested.add(commit)
            code, why = self.test.of_source(kernel_source.Git(self.bad.directory, commit))
            self.say(commit, code, why)
            out = self._git({GOOD: "good", BAD: "bad", SKIP: "skip"}[code], commit)
            found = FIRST_BAD.search(out)
            if found:
                return found[1], out
            if "only 'skip'ped commits left" in out:
                return None, out


def holds(text, test):
    """Test one kernel, as a script of git bisect run; its exit code."""
    code, why = test.built(lambda: kernel_build.find(text, test.quiet))
    word = {GOOD: "holds", BAD: "does not hold", SKIP: "cannot be tested"}[code]
    print(f"{test.condition.text} {word}: {why}")
    return code


def bisect(good, bad, test):
    """Find the commit and print it; exit status."""
    def say(commit, code, why):
        word = {GOOD: "good", BAD: "bad", SKIP: "skip"}[code]
        print(f"{word} {commit[:12]}: {why}", flush=True)
    commit, out = Bisection(*ends(good, bad), test, say).run()
    print(out.strip())
    return 0 if commit else 1
