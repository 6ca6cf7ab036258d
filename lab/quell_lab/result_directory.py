# SPDX-License-Identifier: GPL-2.0
"""Directories of results: which ones may be written, and their marks."""

import contextlib
import os
import tempfile

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
        if os.path.exists(os.path.join(path, SWEEP_MARKER)):
            raise InputError("--out", f"'{path}' holds the results of a sweep, which are not "
                             "replaced: name a new or empty directory")
        raise InputError("--out", f"'{path}' is not empty and holds no earlier {what} of the lab: "
                         "name a new or empty directory")
    if not path:
        raise InputError("--out", "'' is no directory")
    parent, missing = os.path.abspath(path), []
    while not os.path.lexists(parent):
        parent, name = os.path.split(parent)
        missing.append(name)
    try:
        for name in missing:	# one that is too long, for example
            with contextlib.suppress(FileNotFoundError):
                os.lstat(os.path.join(parent, name))
        with tempfile.TemporaryFile(dir=parent):
            pass
    except OSError as error:
        raise InputError("--out", f"'{path}' cannot be written, in {parent}: "
                         f"{error.strerror}") from None


def open_directory(path):
    """Create the result directory, or mark the earlier one as being replaced."""
    replaced = os.path.exists(os.path.join(path, MARKER))
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, MARKER), "w", encoding="ascii") as file:
        file.write("Results of lab/lab; the next run into this directory "
                   "replaces them.\n")
    return replaced
