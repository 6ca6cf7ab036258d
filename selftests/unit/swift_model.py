# SPDX-License-Identifier: GPL-2.0
"""
Swift, written from the equations of the papers and from the list of deviations in
Documentation/swift.md, in the names of Algorithm 1 of Kumar et al.  Windows are packets.  The
fabric's congestion window is fcwnd, that of the endpoint ecwnd; fcwnd is used alone until the
endpoint reports its delay.
"""

import copy
from math import ceil, inf, sqrt

HEADERS_BYTES = 90
UNKNOWN_PATH_SEGMENTS = 10


class Window:
    """Of the fabric or of the endpoint."""

    def __init__(self, cwnd, last_decrease, f_decreased, f_disregarded=False):
        self.cwnd, self.last_decrease = cwnd, last_decrease
        self.f_decreased, self.f_disregarded = f_decreased, f_disregarded

    def multiply(self, factor, now):
        self.cwnd *= factor
        self.last_decrease, self.f_decreased, self.f_disregarded = now, True, False


class Swift:
    """A flow with parameters @p."""

    def __init__(self, p):
        self.p = p
        self.fs_alpha = p.fs_range / (1 / sqrt(p.fs_min_pkts) - 1 / sqrt(p.fs_max_pkts))
        self.fs_beta = -self.fs_alpha / sqrt(p.fs_max_pkts)

    def __copy__(self):
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        other.fabric, other.endpoint = copy.copy(self.fabric), copy.copy(self.endpoint)
        return other

    @property
    def cwnd(self):
        return min(window.cwnd for window in self.windows())

    def windows(self):
        return (self.fabric, self.endpoint) if self.has_endpoint else (self.fabric,)

    def path(self, hops):
        """Without a configured base the path's own round trip and a fourth, at least 25 us."""
        if self.p.base_target:
            return self.p.base_target + hops * self.p.hop_scale
        return self.min_rtt + max(self.min_rtt // 4, 25000)

    def target(self, hops):
        scaling = self.fs_alpha / sqrt(self.fabric.cwnd) + self.fs_beta
        return self.path(hops) + max(0, min(scaling, self.p.fs_range))

    def pacing(self):
        """pacing_delay = rtt / cwnd between packets"""
        cwnd = self.cwnd
        return inf if cwnd >= 1 else self.mss / (self.rtt / cwnd)

    def link_packets(self):
        """The link's capacity in a round trip."""
        return self.min_rtt / ((self.mss + HEADERS_BYTES) / self.link)

    def max_window(self):
        return (ceil(self.link_packets()) + 1) * self.mss

    def init_window(self):
        if self.p.init_window:
            return self.p.init_window
        return self.max_window() if self.link and self.min_rtt else (UNKNOWN_PATH_SEGMENTS *
                                                                     self.mss)

    def enforce_limits(self):
        least = self.p.min_window_pkts if self.min_rtt else 1
        for w in self.windows():
            w.cwnd = max(min(w.cwnd, self.p.max_window / self.mss), least)

    def can_decrease(self, w, now):
        return not w.f_decreased or now - w.last_decrease >= self.rtt

    def additive_increase(self, w, s):
        ai = 1
        if self.min_rtt:
            ai = self.p.ai * self.min_rtt / self.mss
            if self.p.adapt:
                ai = max(ai, 1 / 4)
            if not s.rtt:
                ai = min(ai, 1)
        w.cwnd += ai / max(w.cwnd, 1) * s.acked / self.mss

    def disregarded(self, w, s):
        """VAI/SF III-D: Current Window < rand() % Max Window.  The fabric's."""
        return (self.p.probabilistic and w is self.fabric and self.link and
                w.cwnd * self.mss < s.rand * self.max_window())

    def react(self, w, s, delay, target, unused):
        """Algorithm 1, on ACK, for one window with its delay and target."""
        if delay < target:
            if not s.f_app_limited and not unused:
                self.additive_increase(w, s)
        elif self.can_decrease(w, s.now):
            if self.disregarded(w, s):
                w.multiply(1, s.now)
                w.f_disregarded = True
            else:
                excess = (delay - target) / delay if delay else 0
                w.multiply(max(1 - self.p.beta * excess, 1 - self.p.max_mdf), s.now)

    def measure(self, s):
        self.rtos = 0
        if not self.p.host_target:
            self.has_endpoint = False
        if not s.rtt:
            return
        self.min_rtt = min(self.min_rtt or inf, s.rtt)
        self.rtt = s.rtt
        if self.p.host_target and s.remote and not self.has_endpoint:
            self.has_endpoint = True
            self.endpoint.cwnd, self.endpoint.f_decreased = self.fabric.cwnd, False

    def on_ack(self, s):
        self.measure(s)
        target = self.target(s.hops)
        remote = min(s.remote, s.rtt) if self.has_endpoint else 0
        fcwnd, ecwnd = self.fabric.cwnd, self.endpoint.cwnd if self.has_endpoint else inf
        if (s.rtt and s.rtt - remote < target and
                not (self.has_endpoint and remote >= self.p.host_target) and
                self.can_decrease(self.fabric, s.now)):
            self.f_loss = False
        self.react(self.fabric, s, s.rtt - remote, target, fcwnd >= 2 * ecwnd)
        if self.has_endpoint:
            self.react(self.endpoint, s, remote, self.p.host_target, ecwnd >= 2 * fcwnd)
        self.enforce_limits()

    def decrease_for_loss(self, w, now):
        if w.f_disregarded or self.can_decrease(w, now):
            factor = 1 - self.p.max_mdf
            w.multiply(factor if self.min_rtt else min(factor, 0.5), now)

    def on_loss(self, s):
        self.rtos = 0
        self.f_loss = True
        for w in self.windows():
            self.decrease_for_loss(w, s.now)
        self.enforce_limits()

    def on_rto(self, s):
        self.rtos += 1
        self.f_loss = True
        for w in self.windows():
            if self.rtos >= self.p.retx_reset or not self.min_rtt:
                w.multiply(0, s.now)
            else:
                self.decrease_for_loss(w, s.now)
        self.enforce_limits()

    def on_idle(self, s):
        """Returns whether the flow restarts."""
        is_restart = 0 < self.p.restart_idle <= s.idle
        for w in self.windows() if is_restart else ():
            init_cwnd = self.init_window() / self.mss
            if self.f_loss or not self.min_rtt:
                init_cwnd = min(init_cwnd, w.cwnd)
            w.cwnd = init_cwnd
        self.enforce_limits()
        return is_restart
