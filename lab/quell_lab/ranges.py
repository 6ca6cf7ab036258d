# SPDX-License-Identifier: GPL-2.0
"""Ranges in names: c[1-3] is c1, c2, c3; a[1,4]x[1-2] is a1x1, a1x2, a4x1, a4x2."""

import itertools
import re

EACH, TOGETHER = "each-with-each", "one-to-one"
NAMES_MAX = 4096		# as many as a network may have hosts
GROUP = re.compile(r"\[([^\[\]]*)\]")
OTHERS = re.compile(r"[\s,;{}]")	# by which other programs name several
PART = re.compile(r"(0|[1-9][0-9]{0,9})(?:-(0|[1-9][0-9]{0,9}))?")


def _numbers(text, group):
    """Numbers of a group such as 1,4-6."""
    numbers = []
    for part in group.split(","):
        match = PART.fullmatch(part.strip())
        if not match:
            raise ValueError(f"'{text}' is not a range: [{group}] is not numbers such as "
                             "[1-8] or [1,4-6]")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"'{text}' is not a range: {last} is below {first}")
        if last - first >= NAMES_MAX:
            raise ValueError(f"'{text}' is more than {NAMES_MAX} names")
        numbers += range(first, last + 1)
    return numbers


def expand(text):
    """Names a text stands for, the last range counting fastest; ValueError."""
    pieces = GROUP.split(text)
    if any("[" in piece or "]" in piece for piece in pieces[::2]):
        raise ValueError(f"'{text}' is not a range: a bracket has no partner")
    if any(OTHERS.search(piece) for piece in pieces[::2]):
        raise ValueError(f"'{text}' is not a name: several are a range, h[1-3], or a list")
    choices = [[piece] if number % 2 == 0 else _numbers(text, piece)
               for number, piece in enumerate(pieces)]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > NAMES_MAX:
        raise ValueError(f"'{text}' is more than {NAMES_MAX} names")
    return ["".join(str(part) for part in parts) for parts in itertools.product(*choices)]


def expand_all(value):
    """Names of a text or of a list of texts; ValueError."""
    texts = value if isinstance(value, list) else [value]
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"'{text}' is not a name or a range of names")
    return [name for text in texts for name in expand(text)]


def pair(first, second, how):
    """(a, b) of two lists: each with each, or the n-th with the n-th; ValueError."""
    if how == EACH:
        return list(itertools.product(first, second))
    if len(first) != len(second):
        raise ValueError(f"{len(first)} names on one side and {len(second)} on the other cannot "
                         f"be paired {TOGETHER}")
    return list(zip(first, second))
