# SPDX-License-Identifier: GPL-2.0
"""What goes wrong, told apart by who can mend it."""

import difflib


class InputError(Exception):
    """Something the user wrote: names the place, the value and what is allowed."""

    def __init__(self, where, problem):
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.problem = problem


class SourceError(InputError):
    """A kernel source that cannot be built, unlike others of its tree perhaps."""


class RunError(Exception):
    """A run that could not be made or cannot be trusted."""


def nearest(word, known):
    """', did you mean ...' for a word close to a known one, else ''."""
    lower = {name.lower().lstrip("-"): name for name in known}
    close = difflib.get_close_matches(word.lower().lstrip("-"), lower, n=1)
    return f", did you mean '{lower[close[0]]}'?" if close else ""
