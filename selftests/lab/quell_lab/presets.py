# SPDX-License-Identifier: GPL-2.0
"""Presets: sets of values named after the paper or simulator they are from.

Their one source is the table of the quell command, read here as text.
"""

import functools
import os
import re
from dataclasses import dataclass

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "..", "..", "..", "userspace", "quell", "presets.c")
STRINGS = r'"[^"\\]*"(?:\s*"[^"\\]*")*'
ENTRY = re.compile(r"\{" + r"\s*,".join(rf"\s*\.{field} = ({STRINGS})"
                                        for field in ("cc", "name", "source", "set")) + r",\s*\}")


@dataclass(frozen=True)
class Preset:
    """One preset of an algorithm, values as written."""

    name: str
    source: str
    texts: dict			# parameter -> value as quell cc set takes it


def _join(strings):
    return "".join(re.findall(r'"([^"]*)"', strings))


def read_presets(text):
    """{algorithm: {name: Preset}} of the table in presets.c."""
    found = {}
    table = text[text.index("presets[] = {"):]
    for match in ENTRY.finditer(table):
        algorithm, name, source, settings = (_join(group) for group in match.groups())
        words = settings.split(" ")
        texts = dict(zip(words[::2], words[1::2], strict=True))
        found.setdefault(algorithm, {})[name] = Preset(name, source, texts)
    if sum(len(of_one) for of_one in found.values()) != table.count(".cc ="):
        raise ValueError("presets.c: an entry cannot be read, or a name stands twice")
    return found


@functools.cache
def all_presets():
    """{algorithm: {name: Preset}}."""
    with open(SOURCE, encoding="ascii") as file:
        return read_presets(file.read())
