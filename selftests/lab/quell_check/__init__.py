# SPDX-License-Identifier: GPL-2.0
"""What the checks of the laboratory share: TAP, runs, and the way to its code."""

import os
import sys

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..",
                                "lab"))
