# SPDX-License-Identifier: GPL-2.0
"""What a cable costs, and the earliest a flow can be through.

Every packet is charged what it occupies of the wire: payload, 20 bytes IPv4,
32 bytes TCP with timestamps, 14 Ethernet, 4 frame check sequence, padding to
64, and 20 of preamble and inter-frame gap.  A flow alone on the idle network
sends them back to back through store-and-forward hops; ideal_ns() is when the
last byte is received, computed in fractions and rounded down.
"""

import functools
from dataclasses import dataclass
from fractions import Fraction

IP_BYTES = 20
TCP_BYTES = 32			# with the timestamp option
SYN_TCP_BYTES = 40		# mss, sack-permitted, timestamps, window scale
HEADER_BYTES = IP_BYTES + TCP_BYTES
ETHERNET_BYTES = 14
FCS_BYTES = 4
FRAME_MIN_BYTES = 64		# with FCS
GAP_BYTES = 20			# preamble 8, inter-frame gap 12
WIRE_OVERHEAD_BYTES = FCS_BYTES + GAP_BYTES
NS_PER_S = 10**9


@dataclass(frozen=True)
class Link:
    """What matters of one cable on a path."""

    rate_bits_ps: int
    delay_ns: int


def links_of(stages):
    """
    Links along stages of ports.  Of several alike the fastest, or, where all
    are slower than the rest of the path, as one cable that has all their
    rates: no flow can be through earlier.
    """
    alone = min(ports[0].cable.rate_bits_ps for ports in stages if len(ports) == 1)
    links = []
    for ports in stages:
        rates = [port.cable.rate_bits_ps for port in ports]
        links.append(Link(max(rates) if max(rates) >= alone else sum(rates),
                          min(port.cable.delay_ns for port in ports)))
    return tuple(links)


def wire_bytes(ip_bytes):
    """Bytes of wire time an IP packet of this length takes."""
    return max(ip_bytes + ETHERNET_BYTES + FCS_BYTES, FRAME_MIN_BYTES) + GAP_BYTES


def mss_bytes(mtu_bytes):
    """Payload of a full segment."""
    return mtu_bytes - HEADER_BYTES


def serialise_ns(wire, rate_bits_ps):
    """Exact time on the wire."""
    return Fraction(wire * 8 * NS_PER_S, rate_bits_ps)


@functools.lru_cache(maxsize=None)
def one_way_ns(links, ip_bytes):
    """Exact time of one packet alone through store-and-forward hops."""
    return sum(serialise_ns(wire_bytes(ip_bytes), link.rate_bits_ps) + link.delay_ns
               for link in links)


def _bulk_ns(links, payload_bytes, segment_bytes):
    """
    Exact time from the first bit leaving to the last packet's arrival.

    All packets but the last are alike, so packet n (from 0) of them leaves
    link l at n times the slowest serialisation up to l after packet 0 does;
    only the last packet, which may be shorter, needs the recursion
    leave(l) = max(arrive(l), leave of the one before (l)) + serialisation(l).
    """
    full = (payload_bytes - 1) // segment_bytes
    last = payload_bytes - full * segment_bytes
    arrive = Fraction(0)		# of the last packet, at link l
    first = Fraction(0)			# of packet 0, at link l
    slowest = Fraction(0)
    for link in links:
        before = Fraction(0)
        if full:
            step = serialise_ns(wire_bytes(segment_bytes + HEADER_BYTES), link.rate_bits_ps)
            slowest = max(slowest, step)
            before = first + step + (full - 1) * slowest
            first += step + link.delay_ns
        leave = max(arrive, before) + serialise_ns(wire_bytes(last + HEADER_BYTES),
                                                   link.rate_bits_ps)
        arrive = leave + link.delay_ns
    return arrive


@functools.lru_cache(maxsize=None)
def ideal_ns(links, payload_bytes, mtu_bytes, cold=False):
    """
    Earliest completion of a flow alone on the idle network, whole ns.

    A cold flow adds SYN and SYN-ACK, each alone on the path (the way back has
    the same cables); the ACK that ends the handshake may ride on the data and
    is not counted.
    """
    total = _bulk_ns(links, payload_bytes, mss_bytes(mtu_bytes))
    if cold:
        total += 2 * one_way_ns(links, IP_BYTES + SYN_TCP_BYTES)
    return total.numerator // total.denominator


def payload_wire_bytes(payload_bytes, mtu_bytes):
    """Bytes of wire time that a flow's packets take, all but the last of them full."""
    full, rest = divmod(payload_bytes, mss_bytes(mtu_bytes))
    last = wire_bytes(rest + HEADER_BYTES) if rest else 0
    return full * wire_bytes(mtu_bytes) + last


def receive_limit_ns(flows):
    """
    Earliest time by which one host can have received all of some flows, whole
    ns: no flow is faster than alone, and the host's cable carries them one
    after the other, from when the first packet can be there.  flows:
    (start_ns, links, payload bytes, MTU), all ending in the same cable.
    """
    alone = max(start_ns + ideal_ns(links, size, mtu) for start_ns, links, size, mtu in flows)
    first = min(start_ns + one_way_ns(links[:-1], HEADER_BYTES + min(size, mss_bytes(mtu)))
                for start_ns, links, size, mtu in flows)
    last = flows[0][1][-1]
    carried = sum(serialise_ns(payload_wire_bytes(size, mtu), last.rate_bits_ps)
                  for _, _, size, mtu in flows)
    return max(alone, int(first + carried + last.delay_ns))


def packet_time_ns(links, mtu_bytes):
    """Wire time of one full packet on the slowest link, rounded up."""
    time = max(serialise_ns(wire_bytes(mtu_bytes), link.rate_bits_ps) for link in links)
    return -(-time.numerator // time.denominator)
