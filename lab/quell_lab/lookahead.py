# SPDX-License-Identifier: GPL-2.0
"""Look-ahead groups: hosts that a receiver expects to send at one time (Documentation/lookahead.md).

They are registered in runs whose algorithm has "lookahead = true" alone, so that one
scenario shows both.
"""

from dataclasses import dataclass

from .errors import InputError
from .flows import DELAY_MAX, known_host
from .schema import Key, each
from .units import show_time

PARAMETER = "lookahead"		# of algorithms that have groups: the longest time of one
MEMBERS_MAX = 128		# what a request of the lab's init has room for

KEYS = {
    "receiver": Key("text"),
    "members": Key("names"),
    "time": Key("time", 1, DELAY_MAX, None),
}


@dataclass(frozen=True)
class Group:
    """Members, expected to send to the receiver within time_ns of each other."""

    receiver: str
    members: tuple
    time_ns: int		# 0: the longest that the algorithm allows


def build(places, tables, graph, variants):
    """Groups of the [[lookahead]] tables."""
    _variants_fit(places, tables, variants)
    groups = []
    for path, values in each(places, "lookahead", tables, KEYS):
        known_host(places.name(f"{path}.receiver"), values["receiver"], graph)
        _members_fit(places, path, values, graph)
        _time_fits(places, path, values["time"], variants)
        groups.append(Group(values["receiver"], tuple(values["members"]), values["time"] or 0))
    return tuple(groups)


def _variants_fit(places, tables, variants):
    for number, variant in enumerate(variants):
        where = places.name(f"algorithm[{number}].lookahead")
        if not variant.lookahead:
            continue
        if variant.program or PARAMETER not in variant.algorithm.parameters:
            raise InputError(where, f"{variant.name} has no look-ahead")
        if not tables:
            raise InputError(where, "without [[lookahead]] there are no groups")
    if tables and not any(variant.lookahead for variant in variants):
        raise InputError(places.name("lookahead"), "no [[algorithm]] has lookahead = true")


def _members_fit(places, path, values, graph):
    where = places.name(f"{path}.members")
    members = values["members"]
    for name in members:
        known_host(where, name, graph)
    if not 1 <= len(members) <= MEMBERS_MAX:
        raise InputError(where, f"{len(members)} hosts is out of range: 1 to {MEMBERS_MAX}")
    if len(set(members)) < len(members):
        raise InputError(where, "a host is named twice")
    if values["receiver"] in members:
        raise InputError(where, f"the receiver '{values['receiver']}' is among them")


def _time_fits(places, path, time_ns, variants):
    for variant in variants:
        parameter = variant.algorithm.parameters.get(PARAMETER)
        if not variant.lookahead:
            continue
        most_ns = variant.values.get(PARAMETER, parameter.default)
        if not most_ns:
            raise InputError(places.name(path), f"the parameter lookahead of '{variant.label}' is "
                             "0: no look-ahead")
        if (time_ns or 0) > most_ns:
            raise InputError(places.name(f"{path}.time"), f"{show_time(time_ns)} is out of range: "
                             f"at most {show_time(most_ns)}, the parameter lookahead of "
                             f"'{variant.label}'")
