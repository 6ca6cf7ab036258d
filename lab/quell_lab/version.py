# SPDX-License-Identifier: GPL-2.0
"""Which Quell and which laboratory a result is of."""

import os
import re

from . import runner, sweep_store

HEADER = os.path.join(runner.HERE, "..", "include", "quell", "version.h")


def quell():
    """Version of the modules beside this laboratory."""
    with open(HEADER, encoding="utf-8") as file:
        return re.search(r'QUELL_VERSION\s+"([^"]+)"', file.read())[1]


def text():
    """Both, for people."""
    return f"{quell()}, laboratory {sweep_store.lab_version()[:12]}"
