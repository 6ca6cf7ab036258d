# SPDX-License-Identifier: GPL-2.0
"""
HPCC with Variable AI and Sampling Frequency, written from Algorithms 1 and 2, sections V-A and
V-B and the list of departures in Documentation/hpcc_vaisf.md, in the paper's names and order.
"""

from math import inf

from hpcc_model import Hpcc

# The core's counters saturate; see swift_vaisf's list of departures.
MOST_DAMPENER = (2**32 - 1) / 65536
MOST_PACKETS = 65535


class Vaisf:
    """Both mechanisms, of parameters @vp."""

    def multiplier(self):
        """Algorithm 2: of the base AI."""
        return max(min(self.vp.ai_cap_tokens, self.bank_tokens) /
                   (self.dampener / self.vp.dampener + 1), 1)

    def spend_tokens(self):
        tokens = min(self.vp.ai_cap_tokens, self.bank_tokens)
        self.bank_tokens = max(self.bank_tokens - tokens, 0)
        self.spent += tokens

    def generate_tokens(self, token_thresh, tokens, no_congestion):
        """Algorithm 1, within "if RTT Finished"."""
        if self.measured > token_thresh:
            self.bank_tokens = min(tokens + self.bank_tokens, self.vp.bank_cap_tokens)
            more = self.measured / token_thresh if token_thresh else inf
            self.dampener = min(self.dampener + more, MOST_DAMPENER)
        elif self.bank_tokens == 0:
            if no_congestion:
                self.dampener = 0
            elif self.measured < token_thresh:
                self.dampener = max(self.dampener - 1, 0)
        self.measured = 0

    def count_packets(self, s):
        self.sampled_pkts = min(self.sampled_pkts + s.acked_pkts, MOST_PACKETS)

    def may_decrease(self, finished):
        return (self.sampled_pkts >= self.vp.sampling_pkts or
                self.vp.sampling_rtt and finished)

    def forget(self):
        self.measured = self.bank_tokens = self.dampener = self.sampled_pkts = 0


class HpccVaisf(Vaisf, Hpcc):
    """A flow; Hpcc has its own part."""

    def __init__(self, p):
        super().__init__(p.hpcc)
        self.vp, self.token_thresh, self.token = p.vaisf, p.token_thresh, p.token

    def on_ack(self, s):
        informed = self.record(s)
        finished = self.rtt_finished(s)
        self.count_packets(s)
        if self.usable(s):
            self.measured = max(self.measured, s.telemetry.queue)
        if finished:
            self.generate_tokens(self.token_thresh, self.measured // self.token,
                                 not self.f_congested)
        w = self.wc
        if self.f_util:
            w = self.compute_wind(self.w_ai * self.multiplier())
        if s.f_app_limited or not (informed or finished and self.f_measured):
            w = min(w, self.wc)
        self.unlimited = w
        if finished and not self.f_measured:
            w = self.uninformed_rtt(s)
        elif (finished and not s.f_app_limited if w >= self.wc else
              informed and self.may_decrease(finished)):
            self.spend_tokens()
            if w < self.wc:
                self.sampled_pkts = 0
            self.update_wc(w)
        if finished:
            self.rtt_over()
        self.limit(s, w)

    def on_loss(self, s):
        super().on_loss(s)
        self.sampled_pkts = 0

    def on_rto(self, s):
        super().on_rto(s)
        self.forget()

    def on_idle(self, s):
        if super().on_idle(s):
            self.forget()
