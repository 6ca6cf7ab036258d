# SPDX-License-Identifier: GPL-2.0
"""Congestion controls the lab can run, and the parameters that can be set."""

import functools
import os
import re
from dataclasses import dataclass

from . import units
from .errors import InputError, nearest
from .presets import all_presets


CORE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "..", "..", "..", "include", "quell", "core")
Q16_ONE_NAME = "QUELL_Q16_ONE"


@dataclass(frozen=True)
class Kind:
    """How the values of one kind of parameter are written."""

    parse: object
    show: object


# The unit that ends a constant's name in the core's header, longest first.
KINDS = {
    "_PKTS_Q16": Kind(units.parse_q16, units.show_q16),
    "_BYTES_PS": Kind(units.parse_byte_rate, units.show_byte_rate),
    "_BYTES": Kind(units.parse_size, units.show_size),
    "_STEPS": Kind(units.parse_int, str),
    "_RTOS": Kind(units.parse_int, str),
    "_TOKENS": Kind(units.parse_int, str),
    "_PKTS": Kind(units.parse_int, str),
    "_NR": Kind(units.parse_int, str),
    "_BOOL": Kind(units.parse_switch, units.show_switch),
    "_Q16": Kind(units.parse_q16, units.show_q16),
    "_NS": Kind(units.parse_time, units.show_time),
}


@dataclass(frozen=True)
class Parameter:
    """One parameter: kind, range and default in base units."""

    kind: Kind
    low: int
    high: int
    default: int

    def parse(self, where, text):
        """Base-unit value of the text, or InputError with the range."""
        allowed = f"{self.kind.show(self.low)} to {self.kind.show(self.high)}"
        try:
            value = self.kind.parse(text)
        except ValueError as error:
            raise InputError(where, f"{error}: allowed is {allowed}") from None
        if not self.low <= value <= self.high:
            raise InputError(where, f"'{text}' is out of range: {allowed}")
        return value


def _constant(text):
    """Value of a product of literals, as the headers write their ranges."""
    value = 1
    for factor in text.strip("() ").split("*"):
        factor = factor.strip()
        value *= units.Q16_ONE if factor == Q16_ONE_NAME else int(factor.removesuffix("ULL"))
    return value


def read_parameters(header, prefix):
    """
    Parameters of a core, from the QUELL_<ALGO>_<NAME>_<UNIT>_{DEFAULT,MIN,MAX}
    constants of its header, the one place that states them.
    """
    pattern = re.compile(rf"^#define {prefix}_(\w+)_(DEFAULT|MIN|MAX)\s+"
                         r"(\(?[0-9A-Z_a-z* ]+\)?)", re.MULTILINE)
    found = {}
    for name, what, text in pattern.findall(header):
        found.setdefault(name, {})[what] = text
    parameters = {}
    for name, texts in found.items():
        unit = next((unit for unit in KINDS if name.endswith(unit)), None)
        if unit is None or len(texts) != 3:
            continue
        key = name.removesuffix(unit).lower().replace("_", "-")
        parameters[key] = Parameter(KINDS[unit], _constant(texts["MIN"]),
                                    _constant(texts["MAX"]), _constant(texts["DEFAULT"]))
    return parameters


@dataclass(frozen=True)
class Algorithm:
    """
    A congestion control: modules beyond the kernel's own, core whose _params.h
    has its ranges, cores it is built of and has the parameters of, but for some.
    """

    modules: tuple = ()
    core: str = None
    parts: tuple = ()
    without: tuple = ()

    @functools.cached_property
    def parameters(self):
        """Parameters by name; none for the kernel's own algorithms."""
        found = {}
        for core in (*self.parts, self.core) if self.core else ():
            with open(os.path.join(CORE, core + "_params.h"), encoding="ascii") as file:
                found.update(read_parameters(file.read(), f"QUELL_{core.upper()}"))
        return {name: found[name] for name in found if name not in self.without}


ALGORITHMS = {
    "swift": Algorithm(("quell.ko", "tcp_swift.ko"), "swift"),
    "swift_vaisf": Algorithm(("quell.ko", "tcp_swift.ko"), "swift_vaisf", ("swift", "vaisf"),
                             ("fs-range", "fs-min", "fs-max")),
    "hpcc": Algorithm(("quell.ko", "tcp_hpcc.ko"), "hpcc"),
    "hpcc_vaisf": Algorithm(("quell.ko", "tcp_hpcc.ko"), "hpcc_vaisf", ("hpcc", "vaisf")),
    "dcqcn": Algorithm(("quell.ko", "tcp_dcqcn.ko"), "dcqcn"),
    "timely": Algorithm(("quell.ko", "tcp_timely.ko"), "timely"),
    "smartt": Algorithm(("quell.ko", "tcp_smartt.ko"), "smartt"),
    "dctcp": Algorithm(),
    "cubic": Algorithm(),
    "bbr": Algorithm(),
    "reno": Algorithm(),
}


@dataclass(frozen=True)
class Variant:
    """One run: an algorithm under a label, with parameters in base units."""

    name: str
    label: str
    values: dict		# parameter -> base-unit value, the preset's included
    texts: dict			# parameter -> as written, without the preset's
    preset: str = None
    entropies: int = 0		# of each flow's segments
    rehash: bool = True		# the hash of a flow may change
    hwstamp: bool = False	# cards of hosts stamp what arrives
    tcp_int: int = 0		# parameter "tcp-int" of "quell"

    @property
    def modules(self):
        """Modules to load, in order."""
        return ALGORITHMS[self.name].modules


def make_variant(where, name, label, texts, preset=None):
    """Check an algorithm's name, preset and the parameters that override it."""
    if name not in ALGORITHMS:
        raise InputError(where, f"unknown congestion control '{name}'"
                         f"{nearest(name, ALGORITHMS)}: one of {', '.join(ALGORITHMS)}")
    known = ALGORITHMS[name].parameters
    values = {}
    for key, text in {**preset_texts(where, name, preset), **texts}.items():
        if key not in known:
            raise InputError(where, unknown_parameter(name, key))
        values[key] = known[key].parse(f"{where}: {name}.{key}", text)
    return Variant(name, label, values, {key: str(text) for key, text in texts.items()}, preset)


def preset_texts(where, name, preset):
    """Values of an algorithm's preset as written, none without a preset."""
    if preset is None:
        return {}
    known = all_presets().get(name, {})
    if preset not in known:
        raise InputError(where, f"{name} has no preset '{preset}'" + (
            f"{nearest(preset, known)}: one of {', '.join(known)}" if known else ": it has none"))
    return known[preset].texts


def unknown_parameter(name, key):
    """Sentence for a parameter the algorithm does not have."""
    known = ALGORITHMS[name].parameters
    if not known:
        return f"{name} has no parameter '{key}': it takes none"
    return f"{name} has no parameter '{key}'{nearest(key, known)}: one of {', '.join(known)}"
