# SPDX-License-Identifier: GPL-2.0
"""Text files of other programs, as words with their places."""

import re
from dataclasses import dataclass

from .errors import InputError

NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,2})?")


@dataclass(frozen=True)
class Word:
    """One word, and where it is."""

    text: str
    place: str			# FILE:LINE:COLUMN, from 1

    def wrong(self, problem):
        """InputError about it."""
        return InputError(self.place, problem)


def read(where, path):
    """[[Word]], a list of each line that has any; "#" begins a comment; InputError."""
    try:
        with open(path, "rb") as file:
            lines = file.read().removeprefix(b"\xef\xbb\xbf").splitlines()
    except OSError as error:
        raise InputError(where, f"cannot read '{path}': {error.strerror}") from None
    except ValueError as error:	# a NUL
        raise InputError(where, f"cannot read {path!r}: {error}") from None
    found = []
    for number, line in enumerate(lines, 1):
        text = line.decode(errors="replace")	# no word of use has other than ASCII
        words = [Word(match[0], f"{where}: {path}:{number}:{match.start() + 1}")
                 for match in re.finditer(r"\S+", text.partition("#")[0])]
        found += [words] if words else []
    return found
