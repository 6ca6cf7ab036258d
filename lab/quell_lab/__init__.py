# SPDX-License-Identifier: GPL-2.0
"""The laboratory's front end: scenario in, measurements and report out."""
