# SPDX-License-Identifier: GPL-2.0
"""Instructions per call of a function, by two tools of valgrind.

lackey prints the address of every instruction executed, so each call can be
counted by itself; callgrind gives the sum over all calls and is the check.
"""

import re
import shutil
import subprocess


# Translated block by block: across blocks valgrind turns "a && b" into both,
# which lackey then counts although b was jumped over.
VALGRIND = ["valgrind", "--vex-guest-chase=no"]


class CountError(Exception):
    """The tools gave no usable answer."""


def have_valgrind():
    return shutil.which("valgrind") is not None


def symbols(program):
    """Functions of the program: name to (address, size in bytes)."""
    table = {}
    out = subprocess.run(["nm", "-S", program], check=True, capture_output=True, text=True)
    for line in out.stdout.splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tT":
            table[fields[3]] = (int(fields[0], 16), int(fields[1], 16))
    return table


def calls_in(trace, entry):
    """Instructions of each call of the function at entry, its own and its callees'.

    trace: lackey's lines, as bytes.  A call ends where the instruction after the
    one that called is reached.
    """
    begins = b"I  %08x," % entry
    ends = None
    counts = []
    count = 0
    before = b""
    for line in trace:
        if not line.startswith(b"I"):
            continue
        if ends is None:
            if line.startswith(begins):
                address, size = before[3:].split(b",")
                ends = b"I  %08x," % (int(address, 16) + int(size))
                count = 1
            before = line
        elif line.startswith(ends):
            counts.append(count)
            ends = None
            before = line
        else:
            count += 1
    return counts


def per_call(command, entry):
    """List of instructions per call, and what the program said."""
    valgrind = VALGRIND + ["--tool=lackey", "--basic-counts=no", "--trace-mem=yes"]
    with subprocess.Popen(valgrind + command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as run:
        counts = calls_in(run.stderr, entry)
        said = run.stdout.read().decode()
    if run.returncode or not counts:
        raise CountError(f"{' '.join(command)}: no call counted, status {run.returncode}")
    return counts, said


def total(command, function):
    """Instructions of all calls together, by callgrind."""
    valgrind = VALGRIND + ["--tool=callgrind", "--callgrind-out-file=/dev/null",
                "--toggle-collect=" + function]
    run = subprocess.run(valgrind + command, capture_output=True, text=True, check=False)
    match = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not match:
        raise CountError(f"{' '.join(command)}: callgrind says nothing, status {run.returncode}")
    return int(match.group(1))


def quantile(values, part):
    """The smallest value that part of all do not exceed."""
    ordered = sorted(values)
    rank = -(-len(ordered) * part // 100)
    return ordered[max(int(rank), 1) - 1]
