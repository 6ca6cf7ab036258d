# SPDX-License-Identifier: GPL-2.0
"""What the checks of the laboratory share: TAP, and runs that are judged."""
