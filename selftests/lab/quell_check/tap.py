# SPDX-License-Identifier: GPL-2.0
"""Results as TAP on standard output."""

import sys
import tempfile


class Failed(Exception):
    """A run without a result, which has been reported: the rest of its check cannot be made."""


class Tap:
    """Numbers and prints results, each with the name of its suite."""

    def __init__(self, suite):
        self.suite = suite
        self.number = 0
        self.failed = 0

    def check(self, good, name, figures=""):
        """One result with what was measured; whether it was good."""
        self.number += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.number} - {self.suite}: {name}"
              f"{': ' if figures else ''}{figures}", flush=True)
        return good

    def fail(self, name, why, said, lines=20):
        """A result that did not come about, and the last a program said of it."""
        self.check(False, name, why)
        print("".join(f"# {line}\n" for line in said.splitlines()[-lines:]), end="", flush=True)

    def end(self):
        """Print the plan; the exit status, which is bad where nothing was checked."""
        print(f"1..{self.number}")
        return 1 if self.failed or not self.number else 0


def main(name, *checks, of=None):
    """
    Make the checks of a suite, each with its Tap and a scratch directory, or what is made of both;
    exit with status 1 if any failed.
    """
    tap = Tap(name)
    with tempfile.TemporaryDirectory(prefix=f"quell-{name}.") as scratch:
        for check in checks:
            made = tap.number
            try:
                check(tap, of(tap, scratch) if of else scratch)
            except Failed:
                pass
            if tap.number == made:
                tap.check(False, "each check has a result", str(check))
    sys.exit(tap.end())
