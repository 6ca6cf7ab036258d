# SPDX-License-Identifier: GPL-2.0
"""Programs of the laboratory, each with a directory for its results."""

import os
import subprocess


def execute(*words):
    """A program's status, and all it said as its stdout."""
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", check=False)


def directory(scratch, name):
    """Where the results of the run with this name go."""
    return os.path.join(scratch, "".join(c if c.isalnum() else "-" for c in name))
