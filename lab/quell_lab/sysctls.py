# SPDX-License-Identifier: GPL-2.0
"""Settings of hosts' kernels, by the names of sysctl(8)."""

import re

from .errors import InputError

NAME = re.compile(r"net(\.[A-Za-z0-9_-]+)+")
VALUE = re.compile(r"[A-Za-z0-9_.-]+( [A-Za-z0-9_.-]+)*")
# That of each run, which its algorithm decides.
OF_RUN = ("net.ipv4.tcp_congestion_control",)


TCP_ECN = "net.ipv4.tcp_ecn"
INT_BITS = 64


def build(places, table, variants):
    """((name, value), ...) of [sysctl]."""
    for name, value in (table or {}).items():
        where = places.name(f'sysctl."{name}"')
        if not NAME.fullmatch(name):
            raise InputError(where, 'not a name such as "net.ipv4.tcp_sack", in quotes')
        if name in OF_RUN:
            raise InputError(where, "set by the algorithm of each run")
        if name == TCP_ECN and any(variant.tcp_ecn is not None for variant in variants):
            raise InputError(where, "not with tcp-ecn, which sets it")
        is_int = isinstance(value, int) and not isinstance(value, bool)
        if not is_int and not (isinstance(value, str) and VALUE.fullmatch(value)):
            raise InputError(where, f"'{value}' is not a whole number, or words in quotes")
        if is_int and not -2**(INT_BITS - 1) <= value < 2**INT_BITS:
            raise InputError(where, f"'{value}' is out of range: {INT_BITS} bits")
    return tuple((name, str(value)) for name, value in (table or {}).items())
