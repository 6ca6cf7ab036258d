# SPDX-License-Identifier: GPL-2.0
"""Directories of results: which ones may be written, and their marks."""

import os

from .errors import InputError

MARKER = ".quell-lab"
SWEEP_MARKER = ".quell-sweep"


def check_directory(path, marker=MARKER):
    """InputError unless results may be written there; creates nothing."""
    if os.path.lexists(path) and not os.path.isdir(path):
        raise InputError("--out", f"'{path}' exists and is not a directory")
    if os.path.isdir(path) and os.listdir(path) and not os.path.exists(
            os.path.join(path, marker)):
        what = "sweep" if marker == SWEEP_MARKER else "result"
        raise InputError("--out", f"'{path}' is not empty and holds no earlier {what} of the lab: "
                         "name a new or empty directory")
    parent = os.path.dirname(os.path.abspath(path))
    while not os.path.exists(parent):
        parent = os.path.dirname(parent)
    if not os.path.isdir(parent) or not os.access(parent, os.W_OK | os.X_OK):
        raise InputError("--out", f"'{path}' cannot be created: no right to write in {parent}")


def open_directory(path):
    """Create the result directory, or mark the earlier one as being replaced."""
    replaced = os.path.exists(os.path.join(path, MARKER))
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, MARKER), "w", encoding="ascii") as file:
        file.write("Results of lab/lab; the next run into this directory "
                   "replaces them.\n")
    return replaced
