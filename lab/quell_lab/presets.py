# SPDX-License-Identifier: GPL-2.0
"""Presets: sets of values named after the paper or simulator they are from."""

import functools
from dataclasses import dataclass

from .cores import cores


@dataclass(frozen=True)
class Preset:
    """One preset of an algorithm, values as written."""

    name: str
    source: str
    texts: dict			# parameter -> value as quell cc set takes it


def _preset(name, what):
    words = what["set"].split(" ")
    return Preset(name, what["source"], dict(zip(words[::2], words[1::2], strict=True)))


@functools.cache
def all_presets():
    """{algorithm: {name: Preset}}."""
    return {algorithm: {name: _preset(name, what) for name, what in core["presets"].items()}
            for algorithm, core in cores().items()}
