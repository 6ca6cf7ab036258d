# SPDX-License-Identifier: GPL-2.0
"""
Modules, parameters and presets of the cores.

Their one source is in C, include/quell/core/NAME/core.h and the presets of the quell command, of
which `make lab` writes cores.json.
"""

import functools
import json
import os
import sys

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "lab",
                      "cores.json")


@functools.cache
def cores():
    """{algorithm: {"module": ..., "parameters": ..., "presets": ...}}."""
    try:
        with open(SOURCE, encoding="ascii") as file:
            return json.load(file)["cores"]
    except FileNotFoundError:
        sys.exit(f"lab: no {os.path.normpath(SOURCE)}, run 'make lab'")
