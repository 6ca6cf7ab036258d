# SPDX-License-Identifier: GPL-2.0
"""Tables of keys with types, ranges and defaults, checked strictly."""

from dataclasses import dataclass

from . import ranges, units
from .errors import InputError, nearest

REQUIRED = object()
# Keys of a scenario or a sweep that no table has.
TOP_ALONE = ("title", "seed", "seeds", "until", "tso", "option", "family", "multipath", "syscall")


@dataclass(frozen=True)
class Key:
    """One key of a table; values are given as text or TOML scalars."""

    kind: str
    low: object = None
    high: object = None
    default: object = REQUIRED
    choices: tuple = ()


# How names of two sides are joined.
PAIRS = Key("text", default=ranges.EACH, choices=(ranges.EACH, ranges.TOGETHER))
PARSERS = {
    "size": (units.parse_size, units.show_size),
    "rate": (units.parse_rate, units.show_rate),
    "time": (units.parse_time, units.show_time),
    "int": (units.parse_int, str),
    "q16": (units.parse_q16, units.show_q16),
}
TYPES = {"bool": (bool, "true or false"), "text": (str, "a text in quotes"),
         "table": (dict, "a table"), "list": (list, "a list"),
         "names": ((str, list), "a name, a range such as h[1-4], or a list of them"),
         "tables": ((dict, list), "a table or a list of tables"),
         "words": ((str, list), "a text in quotes, or a list of them"),
         "scalar": ((str, int, float), "a text or a number"),
         "switch": ((bool, str, int), "true, false or a number"),
         "scalars": ((str, int, float, list), "a text, a number, or a list of them")}


class Places:
    """Turns a key's path into the name the user knows it by."""

    def __init__(self, source="", options=None):
        self.source = source
        self.options = options or {}

    def name(self, path):
        """Name of a key: the option it came from, or FILE: path."""
        if path in self.options:
            return self.options[path]
        return f"{self.source}: {path}" if self.source else path

    def word(self, path):
        """The same within a sentence: the option, or the key alone."""
        return self.options.get(path, path)


def _shown(value):
    """A value as TOML has it; tables and lists are not repeated."""
    if isinstance(value, bool):
        return f"'{str(value).lower()}'"
    return {dict: "a table", list: "a list"}.get(type(value), f"'{value}'")


def _brackets(where, key, value):
    """What to write where single and double brackets were taken for each other."""
    name = where.split(": ")[-1]
    if key.kind == "list" and isinstance(value, dict):
        return f": write [[{name}]], once per entry"
    if key.kind == "table":
        return f": write [{name}], once"
    return ""


def _number(where, key, value):
    parse, show = PARSERS[key.kind]
    allowed = f"{show(key.low)} to {show(key.high)}"
    if isinstance(value, (bool, list, dict)):
        raise InputError(where, f"{_shown(value)} is not a {key.kind}: allowed is {allowed}")
    try:
        number = parse(value)
    except ValueError as error:
        raise InputError(where, f"{error}: allowed is {allowed}") from None
    if not key.low <= number <= key.high:
        raise InputError(where, f"'{value}' is out of range: {allowed}")
    return number


def _names(where, value):
    try:
        names = ranges.expand_all(value)
    except ValueError as error:
        raise InputError(where, str(error)) from None
    if len(names) > ranges.NAMES_MAX:
        raise InputError(where, f"{len(names)} names is out of range: at most {ranges.NAMES_MAX}")
    return names


def _tables(where, value):
    tables = value if isinstance(value, list) else [value]
    for table in tables:
        if not isinstance(table, dict):
            raise InputError(where, f"'{table}' is not a table")
    return tables


def value_of(where, value, key):
    """One value in base units; where: its name in messages."""
    if key.kind in PARSERS:
        return _number(where, key, value)
    wanted, what = TYPES[key.kind]
    kinds = wanted if isinstance(wanted, tuple) else (wanted,)
    if not isinstance(value, wanted) or isinstance(value, bool) and bool not in kinds:
        raise InputError(where, f"{_shown(value)} is not {what}{_brackets(where, key, value)}")
    if key.kind == "names":
        return _names(where, value)
    if key.kind == "tables":
        return _tables(where, value)
    if key.kind == "words":
        return value if isinstance(value, list) else [value]
    if key.choices and value not in key.choices:
        raise InputError(where, f"'{value}'{nearest(value, key.choices)}: "
                         f"one of {', '.join(key.choices)}")
    return value


def check(places, path, table, keys):
    """Values of a table in base units, defaults filled in; strict about keys."""
    if not isinstance(table, dict):
        name, bracket, _ = path.partition("[")
        raise InputError(places.name(path), f"'{table}' is not a table"
                         + (f": write [[{name}]], once per entry" if bracket else ""))
    prefix = f"{path}." if path else ""
    for name in table:
        if name not in keys:
            raise InputError(places.name(prefix + name), "not a key of a table: it precedes the "
                             "first [table]" if path and name in TOP_ALONE else
                             f"unknown key{nearest(name, keys)}: one of {', '.join(keys)}")
    values = {}
    for name, key in keys.items():
        if name in table:
            values[name] = value_of(places.name(prefix + name), table[name], key)
        elif key.default is REQUIRED:
            raise InputError(places.name(prefix + name), "missing" + (
                f": one of {', '.join(key.choices)}" if key.choices else ""))
        else:
            values[name] = key.default
    return values


def each(places, name, tables, keys):
    """(path, values) of each of a list of tables, checked."""
    for number, table in enumerate(tables or []):
        path = f"{name}[{number}]"
        yield path, check(places, path, table, keys)


def joined(where, first, second, how):
    """[(name, name)] of two lists, as a key of PAIRS says."""
    try:
        return ranges.pair(first, second, how)
    except ValueError as error:
        raise InputError(where, str(error)) from None
