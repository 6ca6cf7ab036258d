# SPDX-License-Identifier: GPL-2.0
"""
TIMELY, written from Algorithm 1, section 5 and the list of deviations in
Documentation/timely.md, in the paper's names.
"""

MOST_WINDOW = 2.0**30
MOST_RATE = 2**40 / 1e9


class Timely:
    """A flow with parameters @p."""

    def __init__(self, p):
        self.p = p

    def cap(self, link):
        most = self.p.max_rate or MOST_RATE
        return min(most, link) if link else most

    def bound(self, link):
        p = self.p
        bound = p.max_outstanding or self.cap(link) * p.t_high + 2 * p.segment
        return max(min(bound, MOST_WINDOW), self.mss)

    def limits(self, link):
        bound = self.bound(link)
        self.rate = min(max(self.rate, self.p.min_rate), self.cap(link))
        if self.window >= bound:
            self.f_loss = False
        if self.f_signal and not self.f_loss:
            self.window = bound
        self.window = max(min(self.window, bound), self.mss)

    def increase(self, more):
        """Section 5: only while the flow uses 80 % of its rate."""
        self.demand_margin = abs(self.sent - 0.8 * self.allowed)
        if self.sent > 0.8 * self.allowed:
            self.rate += more

    def patched(self, new_rtt, gradient, n):
        p = self.p
        w = max(0, min(1, 2 * gradient + 0.5))
        change = p.patched_beta * w * (new_rtt - p.patched_ref) / p.patched_ref
        if change > 0:
            self.rate *= 1 - n * min(change, w)
        else:
            self.increase(-n * change * self.rate)
        self.increase(n * p.delta * (1 - w))

    def update_rate(self, new_rtt, n):
        """n: 1 / completions per minimum RTT."""
        p = self.p
        normalized_gradient = self.rtt_diff / p.min_rtt
        if new_rtt < p.t_low:
            self.increase(n * p.delta)
        elif new_rtt > p.t_high:
            self.rate *= 1 - n * p.beta * (1 - p.t_high / new_rtt)
        elif p.patched:
            self.patched(new_rtt, normalized_gradient, n)
        elif normalized_gradient <= 0:
            self.increase(n * p.delta * (p.hai if self.falling >= p.hai_after else 1))
        else:
            self.rate *= 1 - n * min(1, p.beta * normalized_gradient)

    def completion(self, now, rtt):
        p = self.p
        n = 1
        if self.f_prev:
            gap = max(now - self.last, 0)
            most = 8 * p.segment
            n = min(1, gap / p.min_rtt)
            self.allowed += self.rate * gap
            self.sent += self.since
            if self.allowed > most:
                self.sent *= most / self.allowed
                self.allowed = most
            self.sent = min(self.sent, most)
            self.rtt_diff = (1 - p.alpha) * self.rtt_diff + p.alpha * (rtt - self.prev_rtt)
            self.falling = min(self.falling + 1, 255) if rtt < self.prev_rtt else 0
            self.gradient_margin = abs(self.rtt_diff)
        else:
            self.sent = self.since
        self.prev_rtt, self.f_prev, self.last, self.since = rtt, True, now, 0
        self.update_rate(rtt, n)

    def on_ack(self, s):
        self.since += s.acked
        if self.f_loss or not self.f_signal:
            self.window += self.mss * s.acked / max(self.window, self.mss)
        if s.rtt and (s.f_segment_done or self.since >= self.p.segment):
            self.f_signal = True
            self.completion(s.now, s.rtt)
        self.limits(s.link)

    def on_loss(self, s):
        self.rate /= 2
        self.window = min(self.window, s.inflight) / 2
        self.f_loss = True
        self.limits(s.link)

    def on_rto(self, s):
        self.rate = self.window = 0
        self.f_loss = True
        self.limits(s.link)

    def on_idle(self, s):
        p = self.p
        if 0 < p.restart_idle <= s.idle and not self.f_loss:
            if p.init_rate:
                self.rate = p.init_rate
            elif s.link:
                self.rate = self.cap(s.link) / (s.other_flows + 1)
            else:
                self.rate = min(10 * self.mss / s.min_rtt, MOST_RATE)
            self.rtt_diff = self.falling = self.allowed = 0
            self.f_prev = False
        self.limits(s.link)
