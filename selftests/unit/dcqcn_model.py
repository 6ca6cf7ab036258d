# SPDX-License-Identifier: GPL-2.0
"""
DCQCN's reaction point, written from Algorithm 1 of Zhu et al. and from the list of deviations in
Documentation/dcqcn.md, in the paper's names.  Every timer is a separate deadline, and expirations
are handled one by one.  Rates are bytes per second.
"""

from math import floor, fmod

UNKNOWN_PATH_SEGMENTS = 10
UNKNOWN_RTT_NS = 1e6
MOST_RATE = 2.0**37
# Maximum number of increases of one kind that a single ACK makes up for.
MOST_EXPIRIES = 64


class Dcqcn:
    """A flow with parameters @p."""

    def __init__(self, p):
        self.p, self.rai, self.rhai = p, p.ai * 1e9, p.hai * 1e9
        self.least = p.min_rate * 1e9

    def line(self, s):
        """Bytes/s; 0 if it is not known."""
        return s.link * 1e9

    @staticmethod
    def line_or_most(line):
        return min(line, MOST_RATE) if line else MOST_RATE

    def reset_timers(self, now):
        self.next_alpha, self.next_timer = now + self.p.alpha_timer, now + self.p.timer
        self.since = now
        self.t = self.bc = self.counted = 0

    def window(self):
        w = UNKNOWN_PATH_SEGMENTS * self.mss
        if not self.f_ecn:
            return self.reno
        if self.min_rtt:
            w = self.rc * (self.min_rtt + self.p.queue_bound) / 1e9
        w = max(min(w, self.p.max_window), self.mss)
        return min(w, self.reno) if self.f_loss else w

    def limit(self, line):
        most = self.line_or_most(line)
        least = min(self.least, most)
        self.rc = max(min(self.rc, most), least)
        self.rt = max(min(self.rt, most), least)
        self.reno = max(min(self.reno, self.p.max_window), self.mss)

    def start(self, line, now):
        if not line:
            line = UNKNOWN_PATH_SEGMENTS * self.mss * 1e9 / (self.min_rtt or UNKNOWN_RTT_NS)
        self.rc = self.rt = self.line_or_most(line)
        self.alpha = 1
        self.f_notified = False
        self.reset_timers(now)

    def increase(self, line):
        f = self.p.fast_recovery
        if max(self.t, self.bc) >= f:
            self.rt += self.rhai if min(self.t, self.bc) > f else self.rai
        self.rt = min(self.rt, self.line_or_most(line))
        self.rc = (self.rt + self.rc) / 2

    def expire_alpha(self, now):
        expired = floor((now - self.next_alpha) / self.p.alpha_timer) + 1
        if expired >= 1:
            self.alpha *= (1 - self.p.g) ** expired
            self.next_alpha += expired * self.p.alpha_timer

    def expire_timer(self, now, line):
        for _ in range(MOST_EXPIRIES):
            if self.next_timer > now:
                return
            self.next_timer += self.p.timer
            self.t += 1
            self.increase(line)
        missed = max(floor((now - self.next_timer) / self.p.timer) + 1, 0)
        self.next_timer += missed * self.p.timer
        self.t += missed

    def expire_byte_counter(self, acked, line):
        self.counted += acked
        for _ in range(MOST_EXPIRIES):
            if self.counted < self.p.byte_counter:
                break
            self.counted -= self.p.byte_counter
            self.bc += 1
            self.increase(line)
        self.counted = fmod(self.counted, self.p.byte_counter)

    def cut_rate(self, now):
        self.rt = self.rc
        self.rc *= 1 - self.alpha / 2
        self.alpha = (1 - self.p.g) * self.alpha + self.p.g
        self.f_notified = True
        self.reset_timers(now)

    def finish(self, line):
        """A loss is over when the rate's own window is no larger than Reno's."""
        after_loss = self.f_loss
        self.limit(line)
        if self.f_ecn and after_loss:
            self.f_loss = False
            self.f_loss = self.reno < self.window()

    def on_ack(self, s):
        line = self.line(s)
        if (not self.f_ecn or self.f_loss) and not s.f_app_limited:
            self.reno += self.mss * s.acked / self.reno
        self.expire_alpha(s.now)
        self.expire_timer(s.now, line)
        self.expire_byte_counter(s.acked, line)
        if s.marked and (not self.f_notified or s.now - self.since >= self.p.notify_interval):
            self.cut_rate(s.now)
        self.finish(line)

    def halve(self, reno, s):
        self.rc /= 2
        self.rt = self.rc
        self.reno = reno
        self.f_loss = True
        self.reset_timers(s.now)
        self.finish(self.line(s))

    def on_loss(self, s):
        self.finish(self.line(s))
        w = self.window()
        self.halve(min(max(min(w, s.inflight) / 2, 2 * self.mss), w), s)

    def on_rto(self, s):
        self.halve(self.mss, s)

    def on_idle(self, s):
        """Returns whether the flow restarts."""
        is_restart = 0 < self.p.restart_idle <= s.idle
        if is_restart:
            self.reno = min(self.reno, UNKNOWN_PATH_SEGMENTS * self.mss)
            self.start(self.line(s), s.now)
        self.finish(self.line(s))
        return is_restart
