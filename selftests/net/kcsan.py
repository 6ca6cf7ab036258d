# SPDX-License-Identifier: GPL-2.0
"""KCSAN's reports in a kernel log: whose races they are.

A report has one stack for each of the two accesses, or only one where the other was not seen
but in its value.  A race is ours if the instruction of a plain access is in a module of ours.
It is the kernel's if neither is, and also if our access is marked and the kernel's is plain:
then the field is the kernel's, and we cannot mark its write.  "Below MODULE" is a race of the
kernel's own code that a module of ours called on one side: mostly the kernel's too, as that of
ktime_get_seconds(), but the caller might hold too few locks.
"""

import collections
import re

EDGE = re.compile(r"={60,}$")
BEGIN = re.compile(r"BUG: KCSAN: (.*)")
SIDE = re.compile(r"(?:race at unknown origin, with )?"
                  r"((?:read|write|read-write|assert)[a-z -]*(?:\([a-z, ]*\) )?)(?:to|of) "
                  r"0x[0-9a-f]+ of (\d+) bytes by (task|interrupt)")
FRAME = re.compile(r"([\w.]+)\+0x([0-9a-f]+)/0x[0-9a-f]+(?: \[(\w+)\])?$")
STAMP = re.compile(r"^(<\d+>)?\[\s*\d+\.\d+\]\s?(\[\s*[TC]\d+\]\s?)?")


class Access:
    """One side of a race; frames are (function, offset, module or None), innermost first."""

    def __init__(self, kind, size):
        self.kind = kind.strip()
        self.size = int(size)
        self.frames = []

    def is_plain(self):
        return "marked" not in self.kind and "assert" not in self.kind

    def module(self):
        return self.frames[0][2] if self.frames else None

    def place(self):
        if not self.frames:
            return "?"
        function, offset, module = self.frames[0]
        return f"{function}+0x{offset:x}" + (f" [{module}]" if module else "")


class Race:
    """One report."""

    def __init__(self, title):
        self.title = title
        self.accesses = []
        self.lines = []

    def add(self, line):
        self.lines.append(line)
        side = SIDE.match(line)
        frame = FRAME.match(line)
        if side:
            self.accesses.append(Access(side[1], side[2]))
        elif frame and self.accesses:
            self.accesses[-1].frames.append((frame[1], int(frame[2], 16), frame[3]))

    def owner(self, modules):
        """A module of ours, "below MODULE", or "kernel"."""
        for access in self.accesses:
            if access.module() in modules and access.is_plain():
                return access.module()
        if any(access.module() in modules for access in self.accesses):
            return "kernel"
        for access in self.accesses:
            for frame in access.frames:
                if frame[2] in modules:
                    return f"below {frame[2]}"
        return "kernel"

    def name(self):
        """The pair of accesses, the same for each report of a race."""
        return " / ".join(sorted(f"{a.kind} of {a.size} in {a.place()}" for a in self.accesses))


def split(lines):
    """(races, the other lines) of a kernel log."""
    races, rest, race = [], [], None
    for line in lines:
        text = STAMP.sub("", line).strip()
        begin = BEGIN.match(text)
        if begin:
            race = Race(begin[1])
            races.append(race)
        elif race and EDGE.match(text):
            race = None
        elif race:
            race.add(text)
        elif not EDGE.match(text):
            rest.append(line)
    return races, rest


def by_owner(races, modules):
    """{owner: Counter of names}"""
    owners = collections.defaultdict(collections.Counter)
    for race in races:
        owners[race.owner(modules)][race.name()] += 1
    return owners
