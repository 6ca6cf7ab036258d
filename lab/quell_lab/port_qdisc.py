# SPDX-License-Identifier: GPL-2.0
"""Qdiscs of the kernel as ports of switches, in the words of tc(8).

A run with queue.qdisc = "dualpi2 limit 1000 target 100us", or with qdisc of its algorithm, has
that qdisc in place of swport.  The words become netlink attributes here, and the plan has these.
"""

import math
from dataclasses import dataclass

from . import needs
from .errors import InputError, nearest
from .schema import Key, value_of

SWPORT = "swport"		# of an algorithm, where queue.qdisc is another
U32_MAX = 2**32 - 1
US_NS = 1000
# Not part of lab.config: modules, of trees that have the source.
MODULES = ("cake", "codel", "dualpi2", "pie")
# As the kernel takes them without a change: it refuses others, clamps them, or drops all packets.
COUNT = Key("int", 0, U32_MAX)
LIMIT = Key("int", 1, U32_MAX)
BYTES = Key("size", 0, U32_MAX)
MEMORY = Key("size", 1, U32_MAX)
QUANTUM = Key("size", 256, 1 << 20)
TIME = Key("time", 0, U32_MAX * US_NS)
PERIOD = Key("time", US_NS, U32_MAX * US_NS)
RATE = Key("rate", 8, 10**12)
RATE_U32 = Key("rate", 8, (U32_MAX - 1) * 8)	# that one more is no limit
PERCENT = Key("int", 0, 100)
GAIN = Key("q16", 256, ((1 << 24) - 1) << 8)
# Keys of [queue] that no such port reads.
UNREAD = ("limit", "fifo")


@dataclass(frozen=True)
class Word:
    """An option of a qdisc: netlink attributes, each its number, type and base units of a unit."""

    key: object			# of its value; None: a flag, with the value of each attribute
    attributes: tuple		# (number, "u8", "u32" or "u64", unit or value)


def _option(key, attribute, unit=1, kind="u32"):
    return Word(key, ((attribute, kind, unit),))


def _time(attribute, key=TIME):
    return _option(key, attribute, US_NS)


def _flags(attribute, names, kind="u32"):
    """{name: Word} of flags that exclude each other; their values count from 0."""
    return {name: Word(None, ((attribute, kind, value),)) for value, name in enumerate(names)}


QDISCS = {
    "codel": {"target": _time(1), "limit": _option(LIMIT, 2), "interval": _time(3),
              **_flags(4, ("noecn", "ecn")), "ce_threshold": _time(5)},
    "fq_codel": {"target": _time(1), "limit": _option(LIMIT, 2), "interval": _time(3),
                 **_flags(4, ("noecn", "ecn")), "flows": _option(Key("int", 1, 65536), 5),
                 "quantum": _option(QUANTUM, 6), "ce_threshold": _time(7),
                 "drop_batch": _option(LIMIT, 8),
                 "memory_limit": _option(Key("size", 1, 1 << 31), 9)},
    "pie": {"target": _time(1), "limit": _option(LIMIT, 2), "tupdate": _time(3, PERIOD),
            "alpha": _option(Key("int", 0, 32), 4), "beta": _option(Key("int", 0, 32), 5),
            **_flags(6, ("noecn", "ecn")), **_flags(7, ("nobytemode", "bytemode")),
            **_flags(8, ("no_dq_rate_estimator", "dq_rate_estimator"))},
    "fq": {"limit": _option(LIMIT, 1), "flow_limit": _option(LIMIT, 2),
           "quantum": _option(QUANTUM, 3), "initial_quantum": _option(Key("size", 0, 2**31 - 1), 4),
           **_flags(5, ("nopacing", "pacing")), "maxrate": _option(RATE_U32, 7, 8),
           "refill_delay": _time(9), "ce_threshold": _time(12)},
    "cake": {"unlimited": Word(None, ((2, "u64", 0),)), "bandwidth": _option(RATE, 2, 8, "u64"),
             **_flags(3, ("diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence")),
             **_flags(5, ("flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost",
                          "dual-dsthost", "triple-isolate")),
             # As tc has it, the target is a twentieth.
             "rtt": Word(PERIOD, ((7, "u32", US_NS), (8, "u32", 20 * US_NS))),
             "memlimit": _option(MEMORY, 10), **_flags(13, ("nowash", "wash")),
             **_flags(15, ("egress", "ingress")),
             **_flags(16, ("no-ack-filter", "ack-filter", "ack-filter-aggressive"))},
    "dualpi2": {"limit": _option(LIMIT, 1), "memlimit": _option(MEMORY, 2), "target": _time(3),
                "tupdate": _time(4, PERIOD),
                "alpha": _option(GAIN, 5, 256), "beta": _option(GAIN, 6, 256),
                "max_rtt": Word(PERIOD, ()), "typical_rtt": Word(PERIOD, ()),
                "step_thresh": _time(8), "min_qlen_step": _option(COUNT, 9),
                "coupling_factor": _option(Key("int", 1, 255), 10, kind="u8"),
                **_flags(11, ("overflow", "drop_on_overload"), "u8"),
                **_flags(12, ("drop_dequeue", "drop_enqueue"), "u8"),
                "classic_protection": _option(PERCENT, 13, kind="u8"),
                "l4s_ect": Word(None, ((14, "u8", 1),)), "any_ect": Word(None, ((14, "u8", 3),))},
    "red": {"limit": Word(BYTES, ()), "min": Word(BYTES, ()), "max": Word(BYTES, ()),
            "avpkt": Word(Key("size", 1, 1 << 20), ()), "burst": Word(Key("int", 1, 1 << 20), ()),
            "probability": Word(Key("q16", 1, 1 << 16), ()), "ecn": Word(None, ())},
}
# Words without any of which such a port marks no packets; others mark always.
MARKING = {"codel": ("ecn", "ce_threshold"), "fq": ("ce_threshold",), "pie": ("ecn",),
           "red": ("ecn",)}
RED_STAB_BYTES = 256
RED_SHIFT_MAX = 31
RED_ECN = 1			# TC_RED_ECN


@dataclass(frozen=True)
class PortQdisc:
    """A qdisc of the kernel, as a port."""

    kind: str
    text: str			# as written
    values: tuple		# (word, value in base units; of a flag None)

    @property
    def module(self):
        """That holds it, or None for those of lab.config."""
        return f"sch_{self.kind}.ko" if self.kind in MODULES else None

    @property
    def is_marking(self):
        """Whether it marks packets of ECN-capable transports."""
        words = dict(self.values)
        if self.kind == "fq_codel":
            return "noecn" not in words or "ce_threshold" in words
        return self.kind not in MARKING or any(word in words for word in MARKING[self.kind])

    def plan(self, rate_bits_ps):
        """Kind and attributes as the plan has them, for a port of a link of that rate."""
        if self.kind == "red":
            return f"red {_red(dict(self.values), rate_bits_ps)}"
        words = [f"{number}:{kind}={unit if value is None else value // unit}"
                 for name, value in self.values
                 for number, kind, unit in QDISCS[self.kind][name].attributes]
        return " ".join((self.kind, *words))


def _red_weight(least, burst_pkts, packet):
    """W of the average as a power of two, as tc finds it: the least with room for a burst."""
    room = burst_pkts + 1 - least / packet
    for shift in range(1, RED_SHIFT_MAX + 1):
        weight = 0.5**shift
        if 1 <= room <= (1 - (1 - weight)**burst_pkts) / weight:
            return shift
    return None


def _red(values, rate_bits_ps):
    """
    Attributes of RED: struct tc_red_qopt, the decay of an idle queue's average, probability.  The
    decay is in us, as the kernel reads it; tc(8) has ticks of 64 ns, which is 16 times as slow.
    """
    shift = _red_weight(values["min"], values["burst"], values["avpkt"])
    packet_us = values["avpkt"] * 8e6 / rate_bits_ps
    decay = -math.log(1 - 0.5**shift) / packet_us
    cell = next(cell for cell in range(32) if RED_SHIFT_MAX / decay / 2**cell < 512)
    table = bytes([0, *(min(RED_SHIFT_MAX, int((step << cell) * decay))
                        for step in range(1, RED_STAB_BYTES - 1)), RED_SHIFT_MAX])
    span = values["max"] - values["min"]
    # A last resort of kernels that do not read the probability itself.
    plog = min(RED_SHIFT_MAX, max(0, math.ceil(math.log2(max(1, span) * 65536
                                                        / values["probability"]))))
    options = b"".join(values[key].to_bytes(4, "little") for key in ("limit", "min", "max"))
    options += bytes([shift, plog, cell, RED_ECN * ("ecn" in values)])
    probability = min(U32_MAX, values["probability"] << 16)
    return f"1:hex={options.hex()} 2:hex={table.hex()} 3:u32={probability}"


def _check_red(where, values):
    """RED with defaults as tc(8) has them; InputError for values that it refuses."""
    missing = [key for key in ("limit", "avpkt") if key not in values]
    if missing:
        raise InputError(where, f"red without {' and '.join(missing)}")
    values.setdefault("max", values["limit"] // 4)
    values.setdefault("min", values["max"] // 3)
    values.setdefault("burst", max(1, (2 * values["min"] + values["max"])
                                   // (3 * values["avpkt"])))
    values.setdefault("probability", 1311)		# 0.02
    if not values["min"] <= values["max"] <= values["limit"] or values["limit"] >= 1 << 30:
        raise InputError(where, "red needs min <= max <= limit < 1gb")
    least, packet, burst = (values[key] for key in ("min", "avpkt", "burst"))
    if least <= packet:
        raise InputError(where, f"red needs min above avpkt: {least} bytes, and {packet}")
    if burst * packet < least:
        raise InputError(where, f"red: burst {burst} is too small: min {least} over avpkt {packet} "
                         f"is {-(-least // packet)}")
    shift = _red_weight(least, burst, packet)
    if shift is None or values["max"].bit_length() + shift >= 32:
        raise InputError(where, f"red: burst {burst} is too large for min {least}, max "
                         f"{values['max']}")


def _derive_dualpi2(where, values):
    """Target, interval and gains of max_rtt and typical_rtt, as tc(8) derives them."""
    given = [key for key in ("typical_rtt", "max_rtt") if key in values]
    if not given:
        return
    own = [key for key in ("target", "tupdate", "alpha", "beta") if key in values]
    if own:
        raise InputError(where, f"dualpi2: {own[0]} contradicts {given[0]}, by which it is set")
    typical, longest = (values.get(key, 0) // US_NS for key in ("typical_rtt", "max_rtt"))
    typical = typical or max(longest // 6, 1)
    longest = longest or typical * 6
    if typical > longest:
        raise InputError(where, "dualpi2: typical_rtt above max_rtt")
    interval = max(min(typical, longest // 3), 1)
    gains = {"alpha": 1e5 * interval / longest**2, "beta": 3e5 / longest}
    values.update(target=typical * US_NS, tupdate=interval * US_NS)
    for name, gain in gains.items():
        values[name] = int(gain * 65536)
        if not GAIN.low <= values[name] <= GAIN.high:
            raise InputError(where, f"dualpi2: {name} of {longest} us would be {gain:.4g}: out of "
                             "range")


def build(where, text):
    """PortQdisc of tc's words; None for swport, and without any."""
    kind, *words = (text or SWPORT).split() or [""]
    if kind == SWPORT and not words:
        return None
    if kind not in QDISCS:
        raise InputError(where, f"no qdisc '{kind}'{nearest(kind, QDISCS)}: one of {SWPORT}, "
                         f"{', '.join(QDISCS)}")
    values, known, left = {}, QDISCS[kind], iter(words)
    taken = {}			# attribute, or word without one: word
    for name in left:
        if name not in known:
            raise InputError(where, f"{kind} has no '{name}'{nearest(name, known)}: one of "
                             f"{', '.join(known)}")
        for one in [number for number, *_ in known[name].attributes] or [name]:
            if taken.setdefault(one, name) != name:
                raise InputError(where, f"{kind}: {name} contradicts {taken[one]}")
        if name in values:
            raise InputError(where, f"{kind} {name} is given twice")
        key = known[name].key
        value = key and next(left, None)
        if key and value is None:
            raise InputError(where, f"{kind} {name} without a value")
        values[name] = value_of(f"{where}: {kind} {name}", value, key) if key else None
        if key and key.kind == "time" and values[name] % US_NS:
            raise InputError(where, f"{kind} {name} {value}: not whole microseconds")
    if kind == "red":
        _check_red(where, values)
    if kind == "dualpi2":
        _derive_dualpi2(where, values)
    return PortQdisc(kind, text, tuple(values.items()))


def need(places, table, _queue, pauses, variants, *_):
    """Refuse what such ports have not; table: [queue] as written."""
    runs = [variant for variant in variants if variant.qdisc]
    if not runs:
        return
    where = places.name("queue.qdisc" if table.get("qdisc") else "algorithm")
    own = next((variant.label for variant in runs if variant.is_rcp or variant.is_express), None)
    if own:
        raise InputError(where, f"'{own}' has ports of its own")
    each = len(runs) == len(variants) and f"over {runs[0].qdisc.kind}"
    needs.swport(places, table, pauses, where, each,
                 UNREAD + ((needs.HOST_KEYS[1:]) if "host-ecn" not in table else ()))
