# SPDX-License-Identifier: GPL-2.0
"""Congestion controls in BPF object files, which lab-bpf describes and loads."""

import functools
import json
import os
import re
import subprocess
from dataclasses import dataclass

from .errors import InputError, nearest

PREFIX = "bpf:"			# of a congestion control that is a file
LOADER = "lab-bpf"
# The program of the Quell option: as make ebpf names it, and as plans do, like no other's.
OPTION = "option.bpf.o"
OPTION_FILE = "+option.bpf.o"
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(os.path.dirname(HERE), "build", "lab-bpf")
# The name goes into plans and into the kernel's lists of names.
NAME = re.compile(r"[A-Za-z0-9_.-]{1,15}")


@dataclass(frozen=True)
class Variable:
    """A global variable of a program: its range and its value in the file."""

    low: int
    high: int
    value: int


@dataclass(frozen=True)
class Program:
    """A congestion control of an object file."""

    path: str
    name: str			# of the congestion control
    ops: str			# of the struct tcp_congestion_ops
    core: object		# of the algorithm of Quell that it is made of, or None
    offers: bool		# it gets nothing from peers without the Quell option
    variables: dict		# name -> Variable; of those made of a core, none

    @property
    def file(self):
        """Its name in a plan, and where a plan's objects are."""
        return f"{self.name}.bpf.o"

    @property
    def option(self):
        """The program by which its hosts speak the Quell option, made with it."""
        return os.path.join(os.path.dirname(self.path), OPTION)


def is_program(name):
    """Whether a congestion control is named by its file."""
    return name.startswith(PREFIX)


def _loader():
    """The static program that reads objects; on the host it loads nothing."""
    init = os.environ.get("QUELL_LAB_INIT")
    path = os.path.join(os.path.dirname(init) if init else BUILD, LOADER)
    if not os.path.exists(path):
        raise InputError("lab kernel", f"no {LOADER} at {path}, run 'make lab-bpf'")
    return path


@functools.cache
def _describe(path):
    """What is in a file, or the sentence that says why nothing is."""
    done = subprocess.run([_loader(), "describe", path], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    if done.returncode:
        return done.stderr.decode("utf-8", "replace").strip() or "the loader died"
    return json.loads(done.stdout)


def _variable(what):
    bits = 8 * what["bytes"]
    low = -(1 << bits - 1) if what["signed"] else 0
    return Variable(low, low + (1 << bits) - 1, what["value"])


def _choose(where, path, known, wanted):
    """The one struct tcp_congestion_ops of a file, or the one that is asked for."""
    names = [ops["map"] for ops in known]
    if wanted is None:
        if len(known) > 1:
            raise InputError(where, f"'{path}' has several congestion controls: choose with ops, "
                             f"one of {', '.join(names)}")
        return known[0]
    if wanted not in names:
        raise InputError(where, f"'{path}' has no congestion control '{wanted}'"
                         f"{nearest(wanted, names)}: one of {', '.join(names)}")
    return known[names.index(wanted)]


def find(where, name, directory, ops=None):
    """The Program of a name such as bpf:FILE, relative to a directory; InputError."""
    path = os.path.join(directory, name[len(PREFIX):])
    if not os.path.isfile(path):
        raise InputError(where, f"no file '{path}'")
    said = _describe(os.path.abspath(path))
    if isinstance(said, str):
        raise InputError(where, said)
    chosen = _choose(where, path, said["ops"], ops)
    if not NAME.fullmatch(chosen["name"]):
        raise InputError(where, f"'{path}': the name '{chosen['name']}' of {chosen['map']} is not "
                         "1 to 15 of letters, digits and _.-")
    variables = {} if chosen["core"] else {key: _variable(what)
                                           for key, what in said["globals"].items()}
    return Program(os.path.abspath(path), chosen["name"], chosen["map"], chosen["core"],
                   chosen["offers"], variables)
