# SPDX-License-Identifier: GPL-2.0
"""Sizes, rates and times as tc(8) writes them, and back to text.

tc's own reading is followed to the letter: a size's k, m and g are powers of
1024 (500kb is 512000 bytes, and kbit is 128 bytes), a rate's are powers of
1000 unless written ki, mi, gi (100gbit is 10^11 bit/s, 1gbps is 10^9 byte/s),
and a bare number is bytes, bits per second or microseconds.  Nanoseconds (ns),
which tc takes only in newer options, are added.  Values are exact: parsed as
fractions.  A rate is rounded down to whole bits per second; a size of no whole
byte or a time of no whole nanosecond is refused.
"""

import re
from fractions import Fraction

NUMBER = re.compile(r"^\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zA-Z]*)\s*$")

SIZE_BYTES = {
    "": 1, "b": 1,
    "k": 1 << 10, "kb": 1 << 10, "kbit": (1 << 10) // 8,
    "m": 1 << 20, "mb": 1 << 20, "mbit": (1 << 20) // 8,
    "g": 1 << 30, "gb": 1 << 30, "gbit": (1 << 30) // 8,
}

TIME_NS = {
    "": 10**3,
    "s": 10**9, "sec": 10**9, "secs": 10**9,
    "ms": 10**6, "msec": 10**6, "msecs": 10**6,
    "us": 10**3, "usec": 10**3, "usecs": 10**3,
    "ns": 1, "nsec": 1, "nsecs": 1,
}

RATE_BITS_PS = {"": 1, "bit": 1, "bps": 8}
for _power, _letter in enumerate("kmgt", start=1):
    for _unit, _bits in (("bit", 1), ("bps", 8)):
        RATE_BITS_PS[_letter + _unit] = _bits * 1000**_power
        RATE_BITS_PS[_letter + "i" + _unit] = _bits * 1024**_power

EXAMPLES = {"size": "500kb", "rate": "100gbit", "time": "20us"}
Q16_ONE = 1 << 16


def _parse(text, suffixes, what):
    match = NUMBER.match(str(text))
    if not match:
        raise ValueError(f"'{text}' is not a {what} such as {EXAMPLES.get(what, 1.5)}")
    suffix = match.group(2).lower()
    if suffix not in suffixes:
        known = " ".join(s for s in suffixes if s)
        why = f"unit '{match.group(2)}' is none of {known}" if known else "it has no unit"
        raise ValueError(f"'{text}' is not a {what}: {why}")
    return Fraction(match.group(1)) * suffixes[suffix]


def _whole(text, suffixes, what, unit):
    value = _parse(text, suffixes, what)
    if value.denominator != 1:
        raise ValueError(f"'{text}' is {float(value):.12g} {unit}, not a whole number of them")
    return int(value)


def exact(text, kind):
    """
    (value in base units as a fraction, its unit as written) of a figure: a
    size, rate or time with its unit, or a plain number, which may be negative;
    ValueError.
    """
    suffixes = {"size": SIZE_BYTES, "rate": RATE_BITS_PS, "time": TIME_NS, "number": {"": 1}}[kind]
    digits, sign = str(text), 1
    if kind == "number" and digits.startswith("-"):
        digits, sign = digits[1:], -1
    _parse(digits, suffixes, kind)
    number, suffix = NUMBER.match(digits).groups()
    if not suffix and kind != "number":
        raise ValueError(f"'{text}' has no unit: one of {' '.join(s for s in suffixes if s)}")
    return sign * Fraction(number) * suffixes[suffix.lower()], suffix


def show_in(value, suffix, kind):
    """A value in base units, in the unit named, four digits."""
    factor = {"size": SIZE_BYTES, "rate": RATE_BITS_PS, "time": TIME_NS,
              "number": {"": 1}}[kind][suffix.lower()]
    number = float(Fraction(value) / factor)
    text = f"{number:.4g}" if abs(number) < 1000 else f"{number:.0f}"
    return text + suffix


def parse_size(text):
    """Bytes, for example 500kb."""
    return _whole(text, SIZE_BYTES, "size", "bytes")


def parse_rate(text):
    """Bits per second, for example 100gbit."""
    return int(_parse(text, RATE_BITS_PS, "rate"))


def parse_time(text):
    """Nanoseconds, for example 20us."""
    return _whole(text, TIME_NS, "time", "ns")


def parse_int(text):
    """A plain decimal number."""
    if isinstance(text, bool) or not re.fullmatch(r"\s*[0-9]+\s*", str(text)):
        raise ValueError(f"'{text}' is not a whole number")
    return int(text)


def parse_switch(text):
    """1 or 0, written as on or off, true or false, or as such."""
    value = {"on": 1, "off": 0, "true": 1, "false": 0, "1": 1, "0": 0}.get(
        str(text).strip().lower())
    if value is None:
        raise ValueError(f"'{text}' is neither on nor off")
    return value


def parse_q16(text):
    """A plain decimal fraction, in units of 1/65536, rounded to the nearest."""
    if not re.fullmatch(r"\s*([0-9]+(\.[0-9]*)?|\.[0-9]+)\s*", str(text)):
        raise ValueError(f"'{text}' is not a number")
    return int(Fraction(str(text).strip()) * Q16_ONE + Fraction(1, 2))


def parse_byte_rate(text):
    """Bytes per second, written as a rate, for example 50mbit."""
    return parse_rate(text) // 8


def _scaled(value, steps):
    for factor, name in steps:
        if value >= factor:
            return f"{float(Fraction(value, factor)):.6g}{name}"
    return f"{value}{steps[-1][1]}"


def show_size(size_bytes):
    """Text that parse_size() reads back, in the largest unit that is exact."""
    for factor, name in ((1 << 30, "gb"), (1 << 20, "mb"), (1 << 10, "kb")):
        if size_bytes and size_bytes % factor == 0:
            return f"{size_bytes // factor}{name}"
    return f"{size_bytes}b"


def show_rate(bits_ps):
    """Rate with a metric suffix, six digits."""
    return _scaled(bits_ps, ((10**12, "tbit"), (10**9, "gbit"), (10**6, "mbit"),
                             (10**3, "kbit"), (1, "bit")))


def show_byte_rate(bytes_ps):
    """A byte rate, shown in bits."""
    return show_rate(bytes_ps * 8)


def show_time(time_ns):
    """Time with the suffix that keeps it readable, six digits."""
    return _scaled(time_ns, ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns")))


def show_switch(value):
    """1 or 0 as a word."""
    return "on" if value else "off"


def show_q16(value):
    """A Q16 number as a decimal fraction."""
    return f"{value / Q16_ONE:.6g}"
