# SPDX-License-Identifier: GPL-2.0
"""What a run costs: wall time, processor time, memory; and whether the machine has that memory."""

import re
import time
from dataclasses import dataclass

from .errors import InputError
from .units import show_size

PROGRESS = re.compile(r"^quell-progress (\d+) (\d+) (\d+)")
CPU = re.compile(r"^quell-cpu (\d+)")
WHOLE = re.compile(r"^quell-cost (\d+) (\d+)")
MEMORY = re.compile(r"^quell-memory (large|small|file) (.*)")
EXHAUSTED = re.compile(r"Out of memory|page allocation failure|Can't allocate|vmalloc error")

MB = 1 << 20
# What a guest may use.  Only what it touches is the machine's, and of each GB 16 MB that
# describe it, so this is generous.
GUEST_LEAST_BYTES = 1024 * MB
GUEST_MIN_BYTES, GUEST_MAX_BYTES = 32 * MB, 1 << 40
GUEST_BASE_BYTES = 768 * MB
GUEST_HOST_BYTES = MB
GUEST_FLOW_BYTES = 16 << 10	# of each flow above so many
GUEST_FLOWS = 2048
# Of each part, for queues, which are not in equal parts
PART_LEAST_BYTES = 256 * MB
PART_BASE_BYTES = 960 * MB	# by the number of parts
# What runs were seen to touch at least: of 64 to 1024 hosts, flows of one packet.
TOUCHED_BASE_BYTES = 48 * MB
TOUCHED_HOST_BYTES = 450 << 10


def guest_bytes(hosts, flows=0, parts=1):
    """Memory that a run with so many hosts and flows is given, or a part with so many of the hosts
    of a run: the others' flows may all end there."""
    least = (max(GUEST_LEAST_BYTES, GUEST_BASE_BYTES + hosts * GUEST_HOST_BYTES) if parts == 1 else
             max(PART_LEAST_BYTES, PART_BASE_BYTES // parts) + hosts * GUEST_HOST_BYTES)
    return least + max(flows - GUEST_FLOWS, 0) * GUEST_FLOW_BYTES


def touched_bytes(hosts):
    """Memory that a run with so many hosts takes of the machine, at least."""
    return TOUCHED_BASE_BYTES + hosts * TOUCHED_HOST_BYTES


def available_bytes(path="/proc/meminfo"):
    """Memory the machine can give without swapping; None if it does not say."""
    try:
        with open(path, encoding="ascii") as file:
            for line in file:
                name, _, rest = line.partition(":")
                if name == "MemAvailable":
                    return int(rest.split()[0]) << 10
    except (OSError, ValueError, IndexError):
        pass
    return None


def check_memory(hosts, runs, available=None):
    """InputError if so many runs at a time with so many hosts each do not fit this machine."""
    available = available_bytes() if available is None else available
    needed = touched_bytes(hosts) * runs
    if available is not None and needed > available:
        raise InputError("--jobs", f"{runs} runs at a time of {hosts} hosts take at least "
                         f"{show_size(needed >> 20 << 20)} of memory, and this machine has "
                         f"{show_size(available >> 20 << 20)} available"
                         + (": run fewer at a time" if runs > 1 else ""))


@dataclass(frozen=True)
class Cost:
    """Of one run; what a kernel does not tell is None."""

    wall_s: float		# of the whole process
    setup_s: object		# wall time until T0
    run_s: object		# wall time from T0 until all flows were complete
    cpu_s: object		# processor time of the whole process
    setup_cpu_s: object		# the same until T0
    run_cpu_s: object		# the same from T0 until all flows were complete
    peak_bytes: object		# most memory that was resident
    memory: object		# "large" or "small" pages, or "file", and why

    def summary(self, hops):
        """The part of summary.json about it; hops: packets that all ports sent."""
        return {
            "wall_s": _rounded(self.wall_s),
            "setup_wall_s": _rounded(self.setup_s),
            "run_wall_s": _rounded(self.run_s),
            "cpu_s": _rounded(self.cpu_s),
            "setup_cpu_s": _rounded(self.setup_cpu_s),
            "run_cpu_s": _rounded(self.run_cpu_s),
            "peak_memory_bytes": self.peak_bytes,
            "memory": self.memory,
            "packet_hops_ps": round(hops / self.run_s) if self.run_s else None,
            "packet_hops_per_cpu_s": round(hops / self.run_cpu_s) if self.run_cpu_s else None,
        }


def _rounded(seconds):
    return None if seconds is None else round(seconds, 3)


class Meter:
    """Reads a run's cost from its log as it comes."""

    def __init__(self):
        self.begin_s = time.monotonic()
        self.progress = []	# wall clock of the lines of progress
        self.cpu_ns = []	# and processor time
        self.whole = None	# (processor time, peak in KB)
        self.memory = None
        self.exhausted = False

    def is_own(self, text):
        """Take a line that is about cost alone."""
        cpu, whole = CPU.match(text), WHOLE.match(text)
        if cpu:
            self.cpu_ns.append(int(cpu[1]))
        if whole:
            self.whole = (int(whole[1]), int(whole[2]))
        return bool(cpu or whole)

    def see(self, text):
        """Look at any other line."""
        if PROGRESS.match(text):
            self.progress.append(time.monotonic())
        match = MEMORY.match(text)
        if match:
            self.memory = f"{match.group(1)} ({match.group(2)})"
        self.exhausted = self.exhausted or bool(EXHAUSTED.search(text))

    def cost(self):
        """All of it, when the process has ended."""
        wall_s = time.monotonic() - self.begin_s
        setup_s = run_s = setup_cpu_s = run_cpu_s = None
        if self.progress:
            setup_s = self.progress[0] - self.begin_s
            run_s = self.progress[-1] - self.progress[0]
        if self.cpu_ns:
            setup_cpu_s = self.cpu_ns[0] / 1e9
            run_cpu_s = (self.cpu_ns[-1] - self.cpu_ns[0]) / 1e9
        cpu_s, peak_bytes = (self.whole[0] / 1e9, self.whole[1] << 10) if self.whole else (None,
                                                                                          None)
        return Cost(wall_s, setup_s, run_s, cpu_s, setup_cpu_s, run_cpu_s, peak_bytes,
                    self.memory)
