# SPDX-License-Identifier: GPL-2.0
"""Networks of three tiers of switches, and cables of any network that fail or are slow.

A fat tree has pods of ToR and aggregation switches.  Aggregation switch i of
every pod is joined to the i-th group of spines, so each flow between pods has
as many ways as there are spines, and each way is as long.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from . import topology
from .errors import InputError
from .schema import PAIRS, Key, check, joined
from .topology import Cable, Graph

SWITCHES_MAX = 1024
DELAY_MAX = 10**9
RATE_MIN, RATE_MAX = 10**6, 32 * 10**11	# of a plan's link
RATIO_MAX = 1000

ENDS_KEYS = {
    "a": Key("names"),
    "b": Key("names"),
    "pairs": PAIRS,
}
SLOW_KEYS = {
    **ENDS_KEYS,
    "rate": Key("rate", RATE_MIN, RATE_MAX, None),
    "delay": Key("time", 0, DELAY_MAX, None),
}
DAMAGE_KEYS = {
    "failed": Key("list", default=None),
    "slow": Key("list", default=None),
}
FAT_TREE_KEYS = {
    "kind": Key("text"),
    "pods": Key("int", 1, SWITCHES_MAX),
    "tors": Key("int", 1, SWITCHES_MAX),
    "aggs": Key("int", 1, SWITCHES_MAX),
    "spines": Key("int", 1, SWITCHES_MAX),
    "hosts": Key("int", 1, topology.HOSTS_MAX),
    "agg-rate": Key("rate", RATE_MIN, RATE_MAX, None),
    "agg-oversubscription": Key("scalar", default=None),
    "agg-delay": Key("time", 0, DELAY_MAX, None),
    "spine-rate": Key("rate", RATE_MIN, RATE_MAX, None),
    "spine-oversubscription": Key("scalar", default=None),
    "spine-delay": Key("time", 0, DELAY_MAX, None),
    **DAMAGE_KEYS,
}
CLOS_KEYS = {
    "kind": Key("text"),
    "hosts": Key("int", 2, topology.HOSTS_MAX),
    "tor-hosts": Key("int", 1, topology.HOSTS_MAX, 16),
    "pod-tors": Key("int", 1, SWITCHES_MAX, 8),
    "oversubscription": Key("int", 1, RATIO_MAX, 1),
    **DAMAGE_KEYS,
}


@dataclass(frozen=True)
class Sizes:
    """How many there are: ToR and aggregation switches of a pod, hosts of a ToR switch."""

    pods: int
    tors: int
    aggs: int
    spines: int
    hosts: int


@dataclass(frozen=True)
class Tiers:
    """Rate and delay of the cables at hosts, to aggregation switches, to spines, and the MTU."""

    host: tuple
    agg: tuple
    spine: tuple
    mtu_bytes: int


def fat_tree(sizes, tiers):
    """Hosts h1.., ToR switches t1.., aggregation switches a1.., spines s1.., pod by pod."""
    tors, aggs = sizes.pods * sizes.tors, sizes.pods * sizes.aggs
    hosts = [f"h{i}" for i in range(1, tors * sizes.hosts + 1)]
    cables = [Cable(host, f"t{1 + i // sizes.hosts}", *tiers.host, tiers.mtu_bytes)
              for i, host in enumerate(hosts)]
    cables += [Cable(f"t{1 + tor}", f"a{1 + tor // sizes.tors * sizes.aggs + agg}", *tiers.agg,
                     tiers.mtu_bytes)
               for tor in range(tors) for agg in range(sizes.aggs)]
    group = sizes.spines // sizes.aggs
    cables += [Cable(f"a{1 + agg}", f"s{1 + agg % sizes.aggs * group + spine}", *tiers.spine,
                     tiers.mtu_bytes)
               for agg in range(aggs) for spine in range(group)]
    switches = [f"{letter}{i}" for letter, count in (("t", tors), ("a", aggs),
                                                     ("s", sizes.spines))
                for i in range(1, count + 1)]
    return hosts, switches, cables


def _ratio(where, value):
    """What comes from below over what goes up, as a fraction of at least 1/1000."""
    try:
        ratio = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        raise InputError(where, f"'{value}' is not a number such as 4 or 1.5") from None
    if not Fraction(1, RATIO_MAX) <= ratio <= RATIO_MAX:
        raise InputError(where, f"'{value}' is out of range: {1 / RATIO_MAX} to {RATIO_MAX}")
    return ratio


def _up_rate(places, values, tier, below_bits_ps, cables):
    """Rate of each of a tier's cables: as given, or by what comes from below (default 1:1)."""
    rate, ratio = values[f"{tier}-rate"], values[f"{tier}-oversubscription"]
    where = places.name(f"topology.{tier}-oversubscription")
    if rate is not None:
        if ratio is not None:
            raise InputError(where, f"give it or {tier}-rate, not both")
        return rate
    rate = int(below_bits_ps / (cables * _ratio(where, 1 if ratio is None else ratio)))
    if not RATE_MIN <= rate <= RATE_MAX:
        raise InputError(where, f"makes cables of {rate} bit/s: out of range")
    return rate


def _few_hosts(places, hosts):
    if not 2 <= hosts <= topology.HOSTS_MAX:
        raise InputError(places.name("topology.hosts"), f"{hosts} hosts in all is out of range: "
                         f"2 to {topology.HOSTS_MAX}")


def _build_fat_tree(places, values):
    sizes = Sizes(*(values[key] for key in ("pods", "tors", "aggs", "spines", "hosts")))
    if sizes.spines % sizes.aggs:
        raise InputError(places.name("topology.spines"), f"'{sizes.spines}' is no multiple of the "
                         f"{sizes.aggs} aggregation switches of a pod: each has its own group")
    _few_hosts(places, sizes.pods * sizes.tors * sizes.hosts)
    agg_rate = _up_rate(places, values, "agg", sizes.hosts * values["rate"], sizes.aggs)
    spine_rate = _up_rate(places, values, "spine", sizes.tors * agg_rate,
                          sizes.spines // sizes.aggs)
    agg_delay, spine_delay = (values["delay"] if values[key] is None else values[key]
                              for key in ("agg-delay", "spine-delay"))
    return fat_tree(sizes, Tiers((values["rate"], values["delay"]), (agg_rate, agg_delay),
                                 (spine_rate, spine_delay), values["mtu"]))


def _build_clos(places, values):
    """All cables alike; ToR switches have fewer of them up than down, the others as many."""
    below, ratio = values["tor-hosts"], values["oversubscription"]
    if below % ratio:
        raise InputError(places.name("topology.oversubscription"), f"'{ratio}' does not divide "
                         f"the {below} hosts of a ToR switch, tor-hosts")
    pod = below * values["pod-tors"]
    if values["hosts"] % pod:
        raise InputError(places.name("topology.hosts"), f"'{values['hosts']}' is no multiple of "
                         f"the {pod} hosts of a pod, tor-hosts times pod-tors")
    _few_hosts(places, values["hosts"])
    aggs = below // ratio
    sizes = Sizes(values["hosts"] // pod, values["pod-tors"], aggs, aggs * values["pod-tors"],
                  below)
    cable = (values["rate"], values["delay"])
    return fat_tree(sizes, Tiers(cable, cable, cable, values["mtu"]))


def _chosen(places, path, table, keys):
    """(values of a table, the ends of the cables that it names)."""
    values = check(places, path, table, keys)
    return values, [frozenset(ends) for ends in joined(places.name(path), values["a"], values["b"],
                                                       values["pairs"])]


def _known_ends(places, path, ends, cables):
    known = {frozenset((cable.a, cable.b)) for cable in cables}
    for pair in ends:
        if pair not in known:
            one, *other = sorted(pair)
            peers = {end for ends in known if one in ends for end in ends - {one}}
            raise InputError(places.name(path), f"no cable {' to '.join((one, *other))}" + (
                f": {one} has those to {', '.join(sorted(peers))}" if peers else ""))


def damaged(places, values, cables):
    """The cables without those that failed, and with the rates and delays of slow ones."""
    for number, table in enumerate(values["slow"] or []):
        path = f"topology.slow[{number}]"
        slow, ends = _chosen(places, path, table, SLOW_KEYS)
        if slow["rate"] is None and slow["delay"] is None:
            raise InputError(places.name(path), "neither rate nor delay: nothing is slow")
        _known_ends(places, path, ends, cables)
        changes = {name: slow[key] for key, name in (("rate", "rate_bits_ps"),
                                                     ("delay", "delay_ns"))
                   if slow[key] is not None}
        cables = [replace(cable, **changes) if frozenset((cable.a, cable.b)) in ends else cable
                  for cable in cables]
    for number, table in enumerate(values["failed"] or []):
        path = f"topology.failed[{number}]"
        _, ends = _chosen(places, path, table, ENDS_KEYS)
        _known_ends(places, path, ends, cables)
        cables = [cable for cable in cables if frozenset((cable.a, cable.b)) not in ends]
    return cables


def build(places, kind, values):
    """The Graph of a fat tree or Clos network."""
    hosts, switches, cables = (_build_clos if kind == "clos" else _build_fat_tree)(places, values)
    return graph(places, hosts, switches, damaged(places, values, cables))


def graph(places, hosts, switches, cables):
    """A Graph, of which what is wrong is a fault of the topology's table."""
    try:
        found = Graph(hosts, switches, cables)
    except InputError as error:
        raise InputError(places.name("topology"), error.problem) from None
    found.where = places.name("topology")
    return found
