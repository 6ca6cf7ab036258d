# SPDX-License-Identifier: GPL-2.0
"""
HPCC, written from the description of its authors' simulator and from the list of departures
in Documentation/hpcc.md.  Names are the paper's: U, Wc, incStage, W_AI; L, the last record of
the link, is hop, queue, tx_units and time.
"""

from math import ceil, inf

HEADERS_BYTES = 90
UNKNOWN_PATH_SEGMENTS = 10
TX_UNIT_BYTES = 64
COUNTERS_WRAP = 2.0**24
FRESH_NS = 8e6
# The core's U saturates; see the page's list of departures.
MOST_U = (2**32 - 1) / 2**24


def difference(now, before):
    """Of two counters."""
    return now - before + (COUNTERS_WRAP if now < before else 0)


class Hpcc:
    """A flow with parameters @p.  wc is the reference, w the window."""

    def __init__(self, p):
        self.p = p

    @property
    def t(self):
        return self.p.base_rtt or self.min_rtt

    @property
    def steers(self):
        return self.f_telemetry and self.t > 0

    @property
    def w_ai(self):
        return self.p.ai * self.t

    @property
    def pacing(self):
        return self.w / self.t if self.steers else inf

    def line_packets(self, link):
        """The flow's packets that its link carries in a base round trip."""
        return self.t * link / (self.mss + HEADERS_BYTES)

    def line_rate_window(self, link):
        return (ceil(self.line_packets(link)) + 1) * self.mss

    def within_limits(self, link, w):
        most = self.p.max_window
        if not self.steers:
            return max(min(w, most), self.mss)
        if link:
            most = min(most, self.line_rate_window(link))
        return min(max(w, self.p.min_rate * self.t), most)

    def limit(self, s, w):
        self.wc = self.within_limits(s.link, self.wc)
        self.w = self.within_limits(s.link, w)

    def measure_inflight(self, link):
        """Only the most loaded link is known, so there is no maximum over links."""
        t = self.t
        tau = difference(link.time, self.time)
        tx_rate = difference(link.tx_units, self.tx_units) * TX_UNIT_BYTES / tau
        u = min(link.queue, self.queue) / (link.link * t) + tx_rate / link.link
        tau = min(tau, t)
        self.u = min((1 - tau / t) * self.u + tau / t * u, MOST_U)

    def multiplies(self):
        return self.u >= self.p.eta or self.inc_stage >= self.p.max_stage

    def compute_wind(self, w_ai):
        """W = Wc / (U / eta) + W_AI, or Wc + W_AI."""
        if self.multiplies():
            return self.wc / (self.u / self.p.eta) + w_ai if self.u else inf
        return self.wc + w_ai

    def update_wc(self, w):
        self.inc_stage = 0 if self.multiplies() else self.inc_stage + 1
        self.wc = w

    def window_in_force(self):
        """While ACKs have no new telemetry."""
        return min(self.compute_wind(self.w_ai), self.wc) if self.f_util else self.wc

    def path_unknown(self):
        self.u = 1
        self.inc_stage = self.hop = 0
        self.f_util = self.f_measured = self.f_congested = False

    def usable(self, s):
        return s.telemetry.hop and s.telemetry.link and self.t > 0

    def give_up_int(self):
        w = self.window_in_force()
        self.wc = w if self.hop else min(w, UNKNOWN_PATH_SEGMENTS * self.mss)
        self.path_unknown()
        self.f_telemetry = False

    def record(self, s):
        """Returns whether the record updated U."""
        link = s.telemetry
        fresh = self.hop and s.now - self.recorded <= FRESH_NS
        measured = False
        self.rtos = 0
        self.min_rtt = s.min_rtt or self.min_rtt
        if not self.usable(s):
            if self.f_telemetry and not fresh:
                self.give_up_int()
            return False
        if fresh and link.hop == self.hop:
            if not 0 < difference(link.time, self.time) < COUNTERS_WRAP / 2:
                return False
            self.measure_inflight(link)
            measured = self.f_util = self.f_measured = True
            self.f_congested |= self.u / self.p.eta >= 1
        self.f_telemetry = True
        self.hop, self.queue, self.tx_units, self.time = (link.hop, link.queue, link.tx_units,
                                                          link.time)
        self.recorded = s.now
        return measured

    def rtt_finished(self, s):
        finished = self.f_round
        if s.acked <= self.round:
            self.round -= s.acked
            return False
        self.f_round = True
        self.round = max(s.inflight - s.acked, 0)
        return finished

    def uninformed_rtt(self, s):
        """A round trip without any measurement.  Returns the window."""
        self.wc = self.window_in_force()
        self.f_util = False
        if not s.f_app_limited:
            self.wc += min(self.mss, self.w_ai) if self.steers else self.mss
        return self.wc

    def rtt_over(self):
        if self.f_measured and not self.f_congested:
            self.f_loss = False
        self.f_measured = self.f_congested = False

    def disregarded(self, s, w):
        """VAI/SF III-D: Current Window < rand() % Max Window."""
        return (self.p.probabilistic and w < self.wc and s.link and
                self.wc < s.rand * self.line_rate_window(s.link))

    def on_ack(self, s):
        measured = self.record(s)
        finished = self.rtt_finished(s)
        if measured or (finished and self.f_measured):
            w = self.compute_wind(self.w_ai)
            if s.f_app_limited:
                w = min(w, self.wc)
        else:
            w = self.window_in_force()
        if finished and not self.f_measured:
            w = self.uninformed_rtt(s)
        elif finished and self.disregarded(s, w):
            w = self.wc
        elif finished and not (s.f_app_limited and w >= self.wc):
            self.update_wc(w)
        if finished:
            self.rtt_over()
        self.limit(s, w)

    def lower(self, w):
        self.wc = w
        self.inc_stage = 0
        self.f_util = self.f_measured = self.f_congested = False
        self.f_loss = True

    def on_loss(self, s):
        self.rtos = 0
        self.lower(self.window_in_force() / 2)
        self.f_round = True
        self.round = s.inflight
        self.limit(s, self.wc)

    def on_rto(self, s):
        self.rtos += 1
        self.lower(0 if self.rtos >= self.p.retx_reset or not self.hop else
                   self.window_in_force() / 2)
        self.f_round = False
        self.round = 0
        self.limit(s, self.wc)

    def on_idle(self, s):
        """Returns whether the flow restarts."""
        w = self.window_in_force()
        if not 0 < self.p.restart_idle <= s.idle:
            self.limit(s, w)
            return False
        if self.p.init_window:
            self.wc = self.p.init_window
        elif not s.link or not self.steers:
            self.wc = UNKNOWN_PATH_SEGMENTS * self.mss
        else:
            self.wc = self.line_rate_window(s.link)
        if self.f_loss or not self.steers:
            self.wc = min(self.wc, w)
        self.path_unknown()
        self.f_round = False
        self.round = 0
        self.limit(s, self.wc)
        return True
