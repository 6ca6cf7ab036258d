# SPDX-License-Identifier: GPL-2.0
"""Distributions of flow sizes, and a way to draw from them that a seed decides.

A file has lines "BYTES PERCENT": so many percent of flows have at most so many
bytes, and sizes between two lines are equally likely, as in the traffic
generator published with HPCC.
"""

import os
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

from . import words
from .errors import InputError, nearest
from .words import NUMBER

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "workloads")
SUFFIX = ".cdf"
SIZE_MAX = 1 << 36


@dataclass(frozen=True)
class Distribution:
    """Sizes in bytes, and the share of flows (0 to 1) up to each."""

    name: str
    sizes: tuple
    shares: tuple

    @property
    def mean_bytes(self):
        """Exact mean, as a fraction, of what draw() gives but for its rounding."""
        return sum((Fraction(self.sizes[i] + self.sizes[i - 1], 2)
                    * (self.shares[i] - self.shares[i - 1])
                    for i in range(1, len(self.sizes))),
                   self.shares[0] * Fraction(self.sizes[0]))

    def draw(self, chance):
        """Size of at least a byte at a chance of 0 to below 1."""
        index = bisect_left(self.shares, chance)
        if not index:
            return max(self.sizes[0], 1)
        low, high = self.shares[index - 1], self.shares[index]
        part = (chance - float(low)) / float(high - low)
        return max(int(self.sizes[index - 1]
                       + part * (self.sizes[index] - self.sizes[index - 1])), 1)


def equally(sizes):
    """Some sizes, each as often."""
    ordered = sorted(sizes)
    # Twice each size: what lies between two of them has no chance.
    points = [(size, Fraction(position + step, len(ordered)))
              for position, size in enumerate(ordered) for step in (0, 1)]
    return Distribution("", tuple(size for size, _ in points), tuple(share for _, share in points))


def known():
    """Names of the distributions that the lab has."""
    return sorted(name.removesuffix(SUFFIX) for name in os.listdir(HERE) if name.endswith(SUFFIX))


def find(where, name, directory):
    """The Distribution of a name that the lab has, or of a file relative to a directory."""
    if name in known():
        return read(where, os.path.join(HERE, name + SUFFIX), name)
    path = os.path.join(directory, name)
    if not os.path.isfile(path):
        raise InputError(where, f"no distribution '{name}'{nearest(name, known())}: one of "
                         f"{', '.join(known())}, or a file")
    return read(where, path, name)


def _numbers(words_of):
    """(bytes, share) of the words of a line; InputError."""
    if len(words_of) != 2 or not all(NUMBER.fullmatch(word.text) for word in words_of):
        line = " ".join(word.text for word in words_of)
        raise words_of[0].wrong(f"'{line}' is not BYTES PERCENT")
    size, percent = (Fraction(word.text) for word in words_of)
    if size.denominator != 1 or not 0 <= size <= SIZE_MAX:
        raise words_of[0].wrong(f"{words_of[0].text} is no size: whole bytes, at most {SIZE_MAX}")
    if not 0 <= percent <= 100:
        raise words_of[1].wrong(f"{words_of[1].text} is no share: 0 to 100 percent")
    return int(size), percent / 100


def read(where, path, name):
    """The Distribution in a file; InputError names the line that is wrong."""
    points = []
    for line in words.read(where, path):
        point = _numbers(line)
        if points and (point[0] < points[-1][0] or point[1] < points[-1][1]):
            text = " ".join(word.text for word in line)
            raise line[0].wrong(f"'{text}' is below the line before: sizes and shares rise")
        points.append(point)
    if not points:
        raise InputError(where, f"'{path}' has no line BYTES PERCENT")
    if points[-1][1] != 1:
        raise InputError(where, f"'{path}' ends at {float(points[-1][1] * 100):g} %: the largest "
                         "size must be at 100 %")
    if not points[-1][0]:
        raise InputError(where, f"'{path}' has no size above 0")
    return Distribution(name, *(tuple(column) for column in zip(*points)))
