# SPDX-License-Identifier: GPL-2.0
"""
Dart's sender over DCQCN's model, written from sections III-A and III-C of the paper and from the
description in <quell/core/dart/react.h>.  Rates are bytes per second.
"""

from math import ceil, inf

from dcqcn_model import Dcqcn

# Preamble, Ethernet, FCS and gap, IPv4, TCP with timestamps.
HEADERS_BYTES = 8 + 14 + 4 + 12 + 20 + 32


class Dart(Dcqcn):
    """
    A flow.  pacing and w are the decision; segments are those that the share needs in time,
    before they are rounded up, or 0.
    """

    def __init__(self, p):
        super().__init__(p.dcqcn)
        self.slack = p.slack

    def line(self, s):
        """The rate at which both hosts can take part: the smaller one known."""
        return min(s.link or inf, s.peer_link or inf) * 1e9 if s.link or s.peer_link else 0

    def fall_back(self):
        """DCQCN's decision for its state."""
        self.pacing = max(self.rc, 1) if self.f_ecn else inf
        self.w, self.segments = self.window(), 0

    def fit_window(self, slack, wire):
        """The bytes of a rate on the wire in a base round trip and a slack, and a segment."""
        if self.min_rtt:
            self.time = self.min_rtt + (slack or self.min_rtt // 4)
            self.segments = wire * self.time / 1e9 / (self.mss + HEADERS_BYTES)
            self.w = min(self.w, (ceil(self.segments) + 1) * self.mss)

    def decide_start(self, s):
        """All flows begin at the full line rate and its window, also after an idle time."""
        self.fall_back()
        if line := self.line(s):
            self.fit_window(self.slack, line)

    def decide(self, s):
        """Section III-A: line rate / n of the receiver, at most the sender's line, if less."""
        self.fall_back()
        line, n = self.line(s), s.senders
        if not n or not line:
            return
        n = max(n, 1)
        share = max(min(line, s.peer_link * 1e9 / n) if s.peer_link else line / n, self.least)
        packet = self.mss + (s.header or HEADERS_BYTES)
        self.pacing = min(self.pacing, share / packet * self.mss)
        if n > 1:
            self.fit_window(self.slack, share)

    def on_ack(self, s):
        super().on_ack(s)
        self.decide(s)

    def on_loss(self, s):
        super().on_loss(s)
        self.decide(s)

    def on_rto(self, s):
        super().on_rto(s)
        self.decide(s)

    def on_idle(self, s):
        if super().on_idle(s):
            self.decide_start(s)
        else:
            self.decide(s)
