# SPDX-License-Identifier: GPL-2.0
"""Rounds of a sender as the packets of its cable show them: which share of what was acknowledged
in a round came back as marked, and the round's smallest round-trip time.

A round begins with the newest byte sent and ends with the ACK that covers it, as in section 2 of
the TIMELY paper.  An ACK with ECE acknowledges marked bytes, as receivers of DCTCP say exactly.
"""

import struct
from dataclasses import dataclass, field

from .connections import ACK, SYN, network, packets

ECE = 64
HALF = 1 << 31


@dataclass(frozen=True)
class Round:
    """One of them."""

    end_ns: int
    marked: float		# share of the bytes acknowledged in it
    min_rtt_ns: int


@dataclass
class _Sender:
    """A direction of a connection, whose numbers count from its first packet seen."""

    base: int
    # number after the last byte: time, 0 if sent again; oldest first, those not acknowledged yet
    sent: dict = field(default_factory=dict)
    newest: int = 0
    acked: int = 0
    ends_at: int = 0		# the round ends when that is acknowledged
    acked_bytes: int = 0	# in this round
    marked_bytes: int = 0
    min_rtt_ns: object = None

    def number(self, seq):
        """Bytes since the first packet, of a number of 32 bits not far from the newest."""
        return (seq - self.base - self.newest + HALF) % (1 << 32) - HALF + self.newest

    def send(self, time_ns, seq, payload):
        """A packet with data leaves."""
        end = self.number(seq) + payload
        self.sent[end] = 0 if end <= self.newest else time_ns
        self.newest = max(self.newest, end)

    def ack(self, time_ns, seq, has_ece):
        """An ACK comes in; the Round that it ends, or None."""
        number = self.number(seq)
        if number <= self.acked:
            return None
        sent_ns = self.sent.get(number)
        if sent_ns:
            rtt_ns = time_ns - sent_ns
            self.min_rtt_ns = min(rtt_ns, self.min_rtt_ns or rtt_ns)
        self.acked_bytes += number - self.acked
        self.marked_bytes += (number - self.acked) * has_ece
        while self.sent and (end := next(iter(self.sent))) <= number:
            del self.sent[end]
        self.acked = number
        return self._end(time_ns) if number >= self.ends_at else None

    def _end(self, time_ns):
        ended = None
        if self.min_rtt_ns is not None:
            ended = Round(time_ns, self.marked_bytes / self.acked_bytes, self.min_rtt_ns)
        self.ends_at, self.acked_bytes, self.marked_bytes = self.newest, 0, 0
        self.min_rtt_ns = None
        return ended


def read(path):
    """Rounds of all senders of a pcap file of a host's cable, as they end."""
    senders = {}
    found = []
    for time_ns, frame in packets(path):
        src, dst, segment = network(frame) or (None, None, b"")
        if len(segment) < 20:
            continue
        sport, dport, seq, ack = struct.unpack("!HHII", segment[:12])
        payload = len(segment) - (segment[12] >> 4) * 4
        if payload:
            one = senders.setdefault((src, dst, sport, dport), _Sender(seq))
            one.send(time_ns, seq, payload)
        back = senders.get((dst, src, dport, sport))
        if back and segment[13] & (ACK | SYN) == ACK:
            ended = back.ack(time_ns, ack, bool(segment[13] & ECE))
            found += [ended] if ended else []
    return found


def in_window(rounds, window):
    """Those of all ports that end within a window."""
    return [one for of_port in rounds.values() for one in of_port
            if window.begin_ns <= one.end_ns < window.end_ns]
