# SPDX-License-Identifier: GPL-2.0
"""RCP at switches' ports, with which the Dart paper compares itself: in the laboratory alone.

Runs of algorithm "rcp" have ports that compute its rate, quell_labrcp.ko; those of the others of
the same scenario have swport.
"""

from dataclasses import dataclass

from .errors import InputError
from .schema import Key

NAME = "rcp"
KIND = "labrcp"			# of the qdisc
TIME_MIN, TIME_MAX = 1000, 10**9	# LABRCP_TIME_*
GAIN_MAX_Q16 = 16 << 16			# LABRCP_GAIN_MAX_Q16
GAIN_Q16 = 26214			# 0.4, of the Dart paper
KEYS = {
    "rcp": Key("time", TIME_MIN, TIME_MAX, None),
    "rcp-interval": Key("time", TIME_MIN, TIME_MAX, 10**7),
    "rcp-alpha": Key("q16", 0, GAIN_MAX_Q16, GAIN_Q16),
    "rcp-beta": Key("q16", 0, GAIN_MAX_Q16, GAIN_Q16),
}


@dataclass(frozen=True)
class Rcp:
    """What RCP's equation takes beside the link's rate."""

    rtt_ns: int			# d before the first packet
    interval_ns: int		# longest T
    alpha_q16: int
    beta_q16: int

    def qdisc(self, limit_bytes):
        """The port's qdisc, as the plan has it."""
        return (f"{KIND} limit={limit_bytes} rtt={self.rtt_ns} interval={self.interval_ns} "
                f"alpha={self.alpha_q16} beta={self.beta_q16}")


def build(places, table, values):
    """Rcp of a [queue], None without."""
    if values["rcp"] is None:
        for key in KEYS:
            if key in (table or {}):
                raise InputError(places.name(f"queue.{key}"), "without rcp there is none")
        return None
    return Rcp(values["rcp"], values["rcp-interval"], values["rcp-alpha"], values["rcp-beta"])


def need(places, queue, pauses, variants):
    """Refuse the algorithm without its ports, its ports without it, and what they have not."""
    where = places.name("queue.rcp")
    runs = [variant.label for variant in variants if variant.name == NAME and not variant.program]
    if not runs and queue.rcp:
        raise InputError(where, f"no algorithm is {NAME}")
    if not runs:
        return
    if not queue.rcp:
        raise InputError(where, f"missing: '{runs[0]}' needs the round-trip time of the network, "
                         "by which ports compute its rate")
    if pauses:
        raise InputError(where, "not with pfc, which needs swport at both ends of a cable")
    if queue.fifo:
        raise InputError(where, "not with fifo: the rate of these ports is not computed")
