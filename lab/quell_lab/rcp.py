# SPDX-License-Identifier: GPL-2.0
"""RCP at switches' ports, with which the Dart paper compares itself: in the laboratory alone.

Runs of algorithm "rcp" have ports that compute its rate, quell_labrcp.ko; those of the others of
the same scenario have swport.
"""

from dataclasses import dataclass

from . import needs
from .errors import InputError
from .schema import Key

KIND = "labrcp"			# of the qdisc
TIME_MIN, TIME_MAX = 1000, 10**9	# LABRCP_TIME_*
GAIN_MAX_Q16 = 16 << 16			# LABRCP_GAIN_MAX_Q16
LEAST_MAX = 65536			# LABRCP_LEAST_MAX_BYTES
GAIN_Q16 = 26214			# 0.4, of the Dart paper
LEAST = 1500				# a packet, by which a sender hears of its rate
# The option with room for a record, which data has.
OPTION_BYTES = 24
KEYS = {
    "rcp": Key("time", TIME_MIN, TIME_MAX, None),
    "rcp-interval": Key("time", TIME_MIN, TIME_MAX, 10**7),
    "rcp-least": Key("size", 1, LEAST_MAX, LEAST),
    "rcp-alpha": Key("q16", 1, GAIN_MAX_Q16, GAIN_Q16),
    "rcp-beta": Key("q16", 0, GAIN_MAX_Q16, GAIN_Q16),
}


@dataclass(frozen=True)
class Rcp:
    """What RCP's equation takes beside the link's rate."""

    rtt_ns: int			# d before the first packet
    interval_ns: int		# longest T
    least_bytes: int		# the least rate, in d
    alpha_q16: int
    beta_q16: int

    def qdisc(self, limit_bytes):
        """The port's qdisc, as the plan has it."""
        return (f"{KIND} limit={limit_bytes} rtt={self.rtt_ns} interval={self.interval_ns} "
                f"least={self.least_bytes} alpha={self.alpha_q16} beta={self.beta_q16}")


def build(places, table, values):
    """Rcp of a [queue], None without."""
    if values["rcp"] is None:
        for key in KEYS:
            if key in (table or {}):
                raise InputError(places.name(f"queue.{key}"), "without rcp there is none")
        return None
    return Rcp(*(values[key] for key in KEYS))


def need(places, table, queue, pauses, variants, *_):
    """Refuse the algorithm without its ports, its ports without it, and what they have not;
    table: [queue] as written."""
    where = places.name("queue.rcp")
    runs = [variant.label for variant in variants if variant.is_rcp]
    if not runs and queue.rcp:
        raise InputError(where, "no algorithm is rcp")
    if not runs:
        return
    if not queue.rcp:
        raise InputError(where, f"missing: '{runs[0]}' needs the round-trip time of the network, "
                         "by which ports compute its rate")
    if queue.fifo:
        raise InputError(where, "not with fifo: the rate of these ports is not computed")
    needs.swport(places, table, pauses, where, len(runs) == len(variants) and "rcp")
