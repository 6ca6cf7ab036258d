# SPDX-License-Identifier: GPL-2.0
"""Settings of hosts' kernels, by the names of sysctl(8)."""

import re

from .errors import InputError

NAME = re.compile(r"net(\.[A-Za-z0-9_-]+)+")
VALUE = re.compile(r"[A-Za-z0-9_.-]+( [A-Za-z0-9_.-]+)*")
# That of each run, which its algorithm decides.
OF_RUN = ("net.ipv4.tcp_congestion_control",)


def build(places, table):
    """((name, value), ...) of [sysctl]."""
    for name, value in (table or {}).items():
        where = places.name(f'sysctl."{name}"')
        if not NAME.fullmatch(name):
            raise InputError(where, 'not a name such as "net.ipv4.tcp_sack", in quotes')
        if name in OF_RUN:
            raise InputError(where, "set by the algorithm of each run")
        if isinstance(value, bool) or not VALUE.fullmatch(str(value)):
            raise InputError(where, f"'{value}' is not a number, or words in quotes")
    return tuple((name, str(value)) for name, value in (table or {}).items())
