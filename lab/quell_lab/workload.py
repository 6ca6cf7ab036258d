# SPDX-License-Identifier: GPL-2.0
"""Traffic in a few lines: who sends to whom, flows of which sizes, arriving when.

A [[workload]] with a load has Poisson arrivals: its hosts are offered so much
payload per second, as a share of their cables' rate.  Several of them mix.
All is drawn from the scenario's seed and the workload's number, the same for
every algorithm.
"""

import math
import os
import random
from dataclasses import dataclass, replace
from fractions import Fraction

from . import sizes
from .algorithms import KERNELS_OWN
from .errors import InputError, nearest
from .physics import NS_PER_S
from .schema import Key, check, value_of
from .units import show_time

FLOWS_MAX = 2000000		# LABFLOW_FLOWS_MAX
TIME_MAX = 1000 * 10**9
DSCP_MAX = 63
CONNECTIONS_MAX = 1024		# of two hosts, for messages one after the other
SAME = "same"
ALL_TO_ALL = "all-to-all"
PATTERNS = ("random", "permutation", "tornado", "incast", ALL_TO_ALL)

KEYS = {
    "pattern": Key("text", default="random", choices=PATTERNS),
    "hosts": Key("names", default=None),
    "sizes": Key("text", default=None),
    "bytes": Key("scalars", default=None),
    "load": Key("scalar", default=None),
    "standing": Key("bool", default=False),
    "start": Key("time", 0, TIME_MAX, 0),
    "length": Key("time", 1, TIME_MAX, None),
    "degree": Key("int", 1, FLOWS_MAX, None),
    "every": Key("time", 1, TIME_MAX, None),
    "active": Key("int", 1, FLOWS_MAX, None),
    "partners": Key("int", 1, FLOWS_MAX, None),
    "connections": Key("int", 1, CONNECTIONS_MAX, None),
    "response": Key("scalar", default=None),
    "jitter": Key("time", 0, TIME_MAX, 0),
    "cold": Key("bool", default=False),
    "dscp": Key("int", 0, DSCP_MAX, 0),
    "cc": Key("text", default=None, choices=KERNELS_OWN),
}
SIZE = Key("size", 1, sizes.SIZE_MAX)


@dataclass(frozen=True)
class Arrival:
    """A flow to come."""

    start_ns: int
    src: str
    dst: str
    size_bytes: int
    after: object = None	# position of the one that it waits for; start_ns counts from its end
    on: object = None		# position of the one whose connection it takes, or None: its own
    answers: object = None	# position of the request that it answers
    stop_ns: object = None	# as of a Flow
    endless: bool = False


class Lottery:
    """Numbers that a seed and a workload's number decide."""

    def __init__(self, seed, number):
        self._random = random.Random(f"quell-lab workload {seed} {number}")

    def chance(self):
        """0 to below 1."""
        return self._random.random()

    def below(self, count):
        """A whole number of 0 to below count."""
        return int(self._random.random() * count)

    def wait_ns(self, mean_ns):
        """Time to the next of arrivals that come at random."""
        return -math.log(1 - self._random.random()) * mean_ns

    def shuffled(self, values):
        """The values in a random order."""
        mixed = list(values)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed

    def deranged(self, values):
        """A random order in which no value is where it was."""
        while True:
            mixed = self.shuffled(values)
            if all(new != old for new, old in zip(mixed, values)):
                return mixed


@dataclass(frozen=True)
class Workload:
    """A [[workload]] table, checked."""

    pattern: str
    hosts: tuple
    sizes: sizes.Distribution
    load: object		# Fraction of the hosts' cables, or None
    standing: bool		# the load is of flows that are there from the start on
    start_ns: int
    length_ns: object		# of arrivals, or None: one flow or incast each
    degree: int			# senders of an incast
    every_ns: object		# time between incasts, or None: by the load
    active: object		# flows of a host at a time, all to all; None: all of them
    partners: object		# others that a host sends to at random; None: all of them
    connections: object		# of two hosts, taken in turn; None: one for each message
    response: object		# bytes of the receiver's answer, SAME as the message, None
    jitter_ns: int
    table: dict			# the rest: cold, dscp, cc


def parse_load(where, value):
    """A load as a share of what the hosts' cables carry."""
    text = str(value).strip()
    try:
        load = Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise InputError(where, f"'{value}' is not a load such as 0.5 or 50%") from None
    if load <= 0:
        raise InputError(where, f"'{value}' is out of range: above 0, at most 1")
    if load > 1:
        raise InputError(where, f"'{value}' is more than the hosts' cables carry: above 0, at most "
                         "1 (or 100%)")
    return load


def _sizes(places, path, values):
    if (values["sizes"] is None) == (values["bytes"] is None):
        raise InputError(places.name(f"{path}.sizes"), "give either sizes, a distribution, or "
                         "bytes, one size or a list")
    if values["sizes"] is not None:
        return sizes.find(places.name(f"{path}.sizes"), values["sizes"],
                          os.path.dirname(places.source))
    wanted = values["bytes"] if isinstance(values["bytes"], list) else [values["bytes"]]
    if not wanted:
        raise InputError(places.name(f"{path}.bytes"), "an empty list")
    return sizes.equally([value_of(places.name(f"{path}.bytes"), one, SIZE) for one in wanted])


def known_host(where, name, graph):
    """InputError unless the host exists."""
    if "[" in name:
        raise InputError(where, f"'{name}' is a range: one host is needed")
    if not graph.is_host(name):
        raise InputError(where, f"no host '{name}'{nearest(name, graph.hosts)}: "
                         f"{graph.hosts[0]} to {graph.hosts[-1]}")


def _hosts(places, path, values, graph):
    hosts = graph.hosts if values["hosts"] is None else values["hosts"]
    where = places.name(f"{path}.hosts")
    for host in hosts:
        known_host(where, host, graph)
    if len(set(hosts)) < len(hosts):
        raise InputError(where, "a host is named twice")
    if len(hosts) < 2:
        raise InputError(where, "one host alone has none to send to")
    return tuple(hosts)


def _timing(places, path, values):
    """InputError for keys that say nothing together or contradict each other."""
    incast = values["pattern"] == "incast"
    for key in () if incast else ("degree", "every"):
        if values[key] is not None:
            raise InputError(places.name(f"{path}.{key}"), "only an incast has it")
    if incast and values["degree"] is None:
        raise InputError(places.name(f"{path}.degree"), "missing: how many send at once")
    if values["load"] is not None and values["every"] is not None:
        raise InputError(places.name(f"{path}.every"), "give it or load, not both")
    if values["active"] is not None and values["pattern"] != ALL_TO_ALL:
        raise InputError(places.name(f"{path}.active"), f"only {ALL_TO_ALL} has it")
    for key in ("load", "length") if values["pattern"] == ALL_TO_ALL else ():
        if values[key] is not None:
            raise InputError(places.name(f"{path}.{key}"), f"not with {ALL_TO_ALL}: each host "
                             "sends to each other once")
    _repeated_only(places, path, values)
    repeated = values["load"] is not None or values["every"] is not None
    if values["pattern"] == "random" and not repeated:
        raise InputError(places.name(f"{path}.load"), "missing: what share of their cables hosts "
                         "are offered")
    if values["standing"]:
        _standing(places, path, values)
    elif repeated != (values["length"] is not None):
        raise InputError(places.name(f"{path}.length"), "load or every and length go together: "
                         "how long flows arrive")


def _repeated_only(places, path, values):
    """InputError for keys of messages that come again and again."""
    if values["partners"] is not None and values["pattern"] != "random":
        raise InputError(places.name(f"{path}.partners"), "only random has it")
    once = (values["pattern"] == ALL_TO_ALL and f"{ALL_TO_ALL}: each host sends to each other once"
            or values["standing"] and "standing: no flows arrive")
    for key in ("connections", "response", "partners"):
        if once and values[key] is not None:
            raise InputError(places.name(f"{path}.{key}"), f"not with {once}")


def _response(places, path, value):
    """SAME, a size in bytes, or None."""
    if value in (None, SAME):
        return value
    where = places.name(f"{path}.response")
    try:
        return value_of(where, value, SIZE)
    except InputError as error:
        raise InputError(where, f"{error.problem}; or '{SAME}', as large as the message") from None


def _standing(places, path, values):
    """InputError for keys that say nothing of flows that are there from the start on."""
    if values["pattern"] != "random":
        raise InputError(places.name(f"{path}.standing"), f"not with {values['pattern']}: only "
                         "random has it")
    if values["length"] is not None:
        raise InputError(places.name(f"{path}.length"), "not with standing: no flows arrive")


def _checked(places, path, table, graph):
    values = check(places, path, table, KEYS)
    _timing(places, path, values)
    hosts = _hosts(places, path, values, graph)
    if values["degree"] is not None and values["degree"] >= len(hosts):
        raise InputError(places.name(f"{path}.degree"), f"'{values['degree']}' is out of range: "
                         f"1 to {len(hosts) - 1}, the hosts besides the receiver")
    if values["partners"] is not None and values["partners"] >= len(hosts):
        raise InputError(places.name(f"{path}.partners"), f"'{values['partners']}' is out of "
                         f"range: 1 to {len(hosts) - 1}, the other hosts")
    load = values["load"]
    return Workload(values["pattern"], hosts, _sizes(places, path, values),
                    None if load is None else parse_load(places.name(f"{path}.load"), load),
                    values["standing"], values["start"], values["length"], values["degree"] or 0,
                    values["every"], values["active"], values["partners"], values["connections"],
                    _response(places, path, values["response"]), values["jitter"],
                    {key: values[key] for key in ("cold", "dscp", "cc")})


def _rate_bits_ps(graph, host):
    return graph.ports[host][0].cable.rate_bits_ps


def _mean_bytes(one):
    """Of a message and its answer: a load is of both, as every host sends as many of each."""
    mean = one.sizes.mean_bytes
    return mean + (mean if one.response == SAME else one.response or 0)


def _events_ps(one, graph):
    """Flows, or incasts, per second, by host or for all together; as fractions."""
    if one.every_ns is not None:
        return [Fraction(NS_PER_S, one.every_ns)]
    bytes_ps = [one.load * _rate_bits_ps(graph, host) / 8 for host in one.hosts]
    if one.pattern == "incast":
        return [sum(bytes_ps) / (one.degree * _mean_bytes(one))]
    return [rate / _mean_bytes(one) for rate in bytes_ps]


def offered(one, graph):
    """{host: share of its cable that it is offered to send, and to receive, on average}."""
    if one.every_ns is None:
        return dict.fromkeys(one.hosts, one.load or Fraction(0))
    bits_ps = 8 * one.degree * _mean_bytes(one) * NS_PER_S / (one.every_ns * len(one.hosts))
    return {host: bits_ps / _rate_bits_ps(graph, host) for host in one.hosts}


def _not_too_much(places, workloads, graph):
    """InputError where mixed workloads overlap in time and offer a host more than its cable."""
    for now in workloads:
        total = {}
        for one in workloads:
            if not one.standing and (one.length_ns is None or not (one.start_ns <= now.start_ns
                                             < one.start_ns + one.length_ns)):
                continue
            for host, share in offered(one, graph).items():
                total[host] = total.get(host, 0) + share
        for host, share in total.items():
            if share > 1:
                raise InputError(places.name("workload"), f"'{host}' is offered "
                                 f"{float(share * 100):.4g} % of what its cable carries at "
                                 f"{show_time(now.start_ns)}: loads add up to at most 100 %")


def _not_too_many(places, path, one, graph):
    if one.pattern == ALL_TO_ALL and len(one.hosts) * (len(one.hosts) - 1) > FLOWS_MAX:
        raise InputError(places.name(f"{path}.hosts"), f"{len(one.hosts)} hosts have more than "
                         f"{FLOWS_MAX} flows to each other, the most there can be")
    if one.length_ns is None:
        return
    flows = (sum(_events_ps(one, graph)) * one.length_ns / NS_PER_S * max(one.degree, 1)
             * (1 if one.response is None else 2))
    if flows > FLOWS_MAX:
        longest_ns = int(one.length_ns * FLOWS_MAX / flows)
        raise InputError(places.name(f"{path}.length"), f"{int(flows)} flows are expected, at most "
                         f"{FLOWS_MAX} can be: {show_time(longest_ns)} have so many")


def _times_ns(one, events_ps, lottery):
    """When a host's flows, or incasts, arrive."""
    if one.every_ns is not None:
        yield from range(one.start_ns, one.start_ns + one.length_ns, one.every_ns)
        return
    mean_ns = float(NS_PER_S / events_ps)
    now = lottery.wait_ns(mean_ns)
    while now < one.length_ns:
        yield one.start_ns + int(now)
        now += lottery.wait_ns(mean_ns)


def _incast(one, start_ns, lottery):
    """A receiver and its senders, all different, as one incast."""
    chosen = lottery.shuffled(one.hosts)[:one.degree + 1]
    size_bytes = one.sizes.draw(lottery.chance())
    return [Arrival(start_ns + lottery.below(one.jitter_ns + 1), src, chosen[0], size_bytes)
            for src in chosen[1:]]


def _partners(one, lottery):
    """Where each host sends to, where that is fixed."""
    if one.pattern == "permutation":
        return lottery.deranged(one.hosts)
    half = len(one.hosts) // 2
    return one.hosts[half:] + one.hosts[:half]


def _other(one, number, lottery):
    """Any host but that with this number."""
    drawn = lottery.below(len(one.hosts) - 1)
    return one.hosts[drawn + (drawn >= number)]


def _circles(one, lottery):
    """
    {host: its partners}, drawn so that each host is a partner of as many as it has: all
    stand in a circle, and each one's partners are so many places on.
    """
    circle = lottery.shuffled(one.hosts)
    steps = lottery.shuffled(range(1, len(circle)))[:one.partners]
    return {host: [circle[(place + step) % len(circle)] for step in steps]
            for place, host in enumerate(circle)}


def _receiver(one, number, circles, lottery):
    """Of a message of a host that sends at random: any other, or any of its partners."""
    if circles is None:
        return _other(one, number, lottery)
    partners = circles[one.hosts[number]]
    return partners[lottery.below(len(partners))]


def _standing_flows(one, lottery):
    """Of as many hosts, drawn at random, as make the load at their cables' rate."""
    count = max(round(one.load * len(one.hosts)), 1)
    numbers = lottery.shuffled(range(len(one.hosts)))[:count]
    return [Arrival(one.start_ns + lottery.below(one.jitter_ns + 1), one.hosts[number],
                    _other(one, number, lottery), one.sizes.draw(lottery.chance()))
            for number in sorted(numbers)]


def _all_to_all(one, lottery):
    """
    Each host to each other in the order of a ring, host by host: those that may be
    active at first, and each other one after the one that it waits for.
    """
    count = len(one.hosts)
    active = count - 1 if one.active is None else min(one.active, count - 1)
    found = []
    for number, src in enumerate(one.hosts):
        for step in range(1, count):
            waits = step > active
            late_ns = 0 if waits else one.start_ns + lottery.below(one.jitter_ns + 1)
            found.append(Arrival(late_ns, src, one.hosts[(number + step) % count],
                                 one.sizes.draw(lottery.chance()),
                                 len(found) - active if waits else None))
    return found


def _answered(one, found):
    """Messages, and behind them all their answers, each due when its message is delivered."""
    if one.response is None:
        return found
    return found + [Arrival(0, message.dst, message.src,
                            message.size_bytes if one.response == SAME else one.response,
                            after=position, answers=position)
                    for position, message in enumerate(found)]


def _connected(one, found):
    """
    Messages from one host to another on their connections in turn.  An answer takes that
    of its message's answer: so on each they start in the order of their positions.
    """
    if one.connections is None:
        return found
    turns, firsts, turn_of = {}, {}, []
    shared = []
    for position, arrival in enumerate(found):
        pair = (arrival.src, arrival.dst, arrival.answers is not None)
        turn = turns.get(pair, 0)
        if arrival.answers is not None:
            turn = turn_of[arrival.answers]
        turns[pair] = turn + 1
        turn_of.append(turn)
        first = firsts.setdefault((*pair, turn % one.connections), position)
        shared.append(arrival if first == position else replace(arrival, on=first))
    return shared


def arrivals(one, graph, lottery):
    """All flows of a workload, by time, then in the order of its hosts; then answers."""
    return _connected(one, _answered(one, _messages(one, graph, lottery)))


def _messages(one, graph, lottery):
    if one.pattern == ALL_TO_ALL:
        return _all_to_all(one, lottery)
    if one.standing:
        return _standing_flows(one, lottery)
    if one.pattern == "incast":
        times = ([one.start_ns] if one.length_ns is None
                 else _times_ns(one, _events_ps(one, graph)[0], lottery))
        found = [arrival for time_ns in times for arrival in _incast(one, time_ns, lottery)]
        return sorted(found, key=lambda arrival: arrival.start_ns)
    partners = None if one.pattern == "random" else _partners(one, lottery)
    rates = [None] * len(one.hosts) if one.length_ns is None else _events_ps(one, graph)
    circles = _circles(one, lottery) if one.partners else None
    found = []
    for number, (host, events_ps) in enumerate(zip(one.hosts, rates)):
        for time_ns in ([one.start_ns] if events_ps is None
                        else _times_ns(one, events_ps, lottery)):
            dst = partners[number] if partners else _receiver(one, number, circles, lottery)
            found.append(Arrival(time_ns + lottery.below(one.jitter_ns + 1), host, dst,
                                 one.sizes.draw(lottery.chance())))
    return sorted(found, key=lambda arrival: arrival.start_ns)


def build(places, tables, graph, seed):
    """[(arrivals, table of what they have in common)] of the [[workload]] tables."""
    workloads = [_checked(places, f"workload[{number}]", table, graph)
                 for number, table in enumerate(tables or [])]
    _not_too_much(places, workloads, graph)
    for number, one in enumerate(workloads):
        _not_too_many(places, f"workload[{number}]", one, graph)
    found = [(arrivals(one, graph, Lottery(seed, number)), one.table)
             for number, one in enumerate(workloads)]
    if workloads and not any(flows for flows, _ in found):
        raise InputError(places.name("workload[0]"), "no flow starts within "
                         f"{show_time(workloads[0].length_ns)} at this load; a longer length or "
                         "another seed")
    return found
