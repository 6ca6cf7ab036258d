# SPDX-License-Identifier: GPL-2.0
"""
Swift with Variable AI and Sampling Frequency, written from Algorithms 1 and 2, section V-B and
the list of departures in Documentation/swift_vaisf.md, in the paper's names and order.
"""

from hpcc_vaisf_model import Vaisf
from swift_model import Swift

# The core's measurement saturates; see the page's list of departures.
MOST_MEASURED = 2**32 - 1


class SwiftVaisf(Vaisf, Swift):
    """A flow; the fabric's cwnd is the reference, w the window in bytes."""

    def __init__(self, p):
        super().__init__(p.swift)
        self.vp, self.token_thresh, self.token = p.vaisf, p.token_thresh, p.token

    def target(self, hops):
        return self.path(hops)

    def mdf(self, delay, target):
        """Equation 1."""
        if delay < target or not delay:
            return 1
        return max(1 - self.p.beta * (delay - target) / delay, 1 - self.p.max_mdf)

    def base_increase(self, delay):
        if not self.min_rtt:
            return self.mss
        increase = self.p.ai * self.min_rtt
        return increase if delay else min(increase, self.mss)

    def limited(self, w):
        return max(min(w, self.p.max_window),
                   (self.p.min_window_pkts if self.min_rtt else 1) * self.mss)

    def rtt_finished(self, s):
        if s.acked <= self.round:
            self.round -= s.acked
            return False
        self.round = max(s.inflight - s.acked, 0)
        return True

    def measure(self, s):
        """Returns the target, which may be derived from the path's own round trip."""
        super().measure(s)
        target = self.target(s.hops)
        if s.rtt:
            if s.rtt < target and self.can_decrease(self.fabric, s.now):
                self.f_loss = False
            self.measured = min(max(self.measured, s.rtt), MOST_MEASURED)
        return target

    def on_ack(self, s):
        """Section V-B: each ACK sets the window from the reference, which changes rarely."""
        reference = self.fabric.cwnd * self.mss
        target = self.measure(s)
        self.count_packets(s)
        finished = self.rtt_finished(s)
        if finished:
            self.generate_tokens(target + self.token_thresh,
                                 max(self.measured - self.min_rtt, 0) // self.token,
                                 self.measured <= target)
        increase = self.base_increase(s.rtt)
        if s.rtt:
            increase *= self.multiplier()
        w = reference * self.mdf(s.rtt, target) + (0 if s.f_app_limited else increase)
        self.unlimited = w
        adjust = (self.may_decrease(finished) if w < reference else
                  finished and not s.f_app_limited)
        if adjust and s.rtt:
            self.spend_tokens()
        if adjust and w < reference:
            self.sampled_pkts = 0
        if not adjust and not s.rtt:
            w = reference
        self.w = self.limited(w)
        self.fabric.cwnd = self.limited(w if adjust else reference) / self.mss

    def forget(self):
        super().forget()
        self.round = 0

    def on_loss(self, s):
        super().on_loss(s)
        self.sampled_pkts = 0
        if self.vp.sampling_rtt:
            self.round = s.inflight
        self.w = self.fabric.cwnd * self.mss

    def on_rto(self, s):
        super().on_rto(s)
        self.forget()
        self.w = self.fabric.cwnd * self.mss

    def on_idle(self, s):
        if super().on_idle(s):
            self.forget()
        self.w = self.fabric.cwnd * self.mss
