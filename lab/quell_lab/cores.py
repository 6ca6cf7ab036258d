# SPDX-License-Identifier: GPL-2.0
"""
What the cores say of themselves: modules, parameters, presets.

Their one source is in C, include/quell/core/NAME/core.h and the presets of the quell command;
`make -C selftests/unit list` prints it into cores.json, and a unit test holds that against it.
"""

import functools
import json
import os

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cores.json")


@functools.cache
def cores():
    """{algorithm: {"module": ..., "parameters": ..., "presets": ...}}."""
    with open(SOURCE, encoding="ascii") as file:
        return json.load(file)["cores"]
