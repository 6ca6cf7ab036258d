# SPDX-License-Identifier: GPL-2.0
"""Files of scenarios and sweeps: TOML, each over the file that it extends."""

import glob
import os
import re
import tomllib

from . import paper
from .errors import InputError, nearest

EXTENDS = "extends"
EXTENDS_LINE = re.compile(rf"^[\[ \t\"']*{EXTENDS}\b", re.MULTILINE)


def load(path):
    """The dictionary of a file, over those of the files below it."""
    table = {}
    for _, _, own in reversed(_chain(path)):
        table = merge(table, own)
    return table


def texts(path):
    """{path: text as written} of the files that a file extends, the lowest first, and of itself."""
    return {name: written for name, written, _ in reversed(_chain(path))}


def merge(below, above):
    """
    A dictionary over another: tables key by key, unless they are of different kinds; of all else,
    lists of tables too, that above alone.
    """
    found = dict(below)
    for key, value in above.items():
        under = below.get(key)
        if isinstance(under, dict) and isinstance(value, dict) \
                and value.get("kind") in (None, under.get("kind")):
            value = merge(under, value)
        found[key] = value
    return found


def _chain(path):
    """[(path, text, own dictionary)] of a file, of that which it extends, and so on."""
    found = []
    while path:
        written, table = _read(path)
        found.append((path, written, table))
        path = _below(table, [one[0] for one in found], written)
    return found


def _below(table, paths, written):
    """The file that the last of some extends, or None."""
    name = table.pop(EXTENDS, None)
    if name is None:
        return None
    line = written[:EXTENDS_LINE.search(written).start()].count("\n") + 1
    where = f"{paths[-1]}:{line}: {EXTENDS}"
    if not isinstance(name, str):
        raise InputError(where, f"'{name}' is not the name of a file in quotes")
    path = os.path.normpath(os.path.join(os.path.dirname(paths[-1]), name))
    if not os.path.isfile(path):
        known = map(os.path.basename, glob.glob(os.path.join(os.path.dirname(path) or ".", "*")))
        raise InputError(where, f"no file '{path}'{nearest(os.path.basename(path), known)}")
    for one in paths:
        if os.path.samefile(one, path):
            raise InputError(where, f"'{name}' is this file, or extends it: a circle")
    return path


def _read(path):
    """(text, dictionary) of one file, with tables for the rows of "paper"."""
    try:
        with open(path, encoding="utf-8") as file:
            written = file.read()
        table = tomllib.loads(written)
    except OSError as error:
        raise InputError(path, error.strerror) from None
    except UnicodeDecodeError as error:
        raise InputError(path, f"not UTF-8: {error}") from None
    except ValueError as error:	# of tomllib, or of a number of thousands of digits
        raise InputError(path, f"not TOML: {error}") from None
    scales = table.get("scale")
    scales = scales if isinstance(scales, dict) else {}
    for where, one in (("", table), *((f"scale.{name}.", one) for name, one in scales.items())):
        if isinstance(one, dict) and isinstance(one.get("paper"), list):
            one["paper"] = paper.read_rows(f"{path}: {where}paper", one["paper"])
    return written, table
