#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The core of Swift beside its model.

usage: test_swift_model.py OUTDIR
"""

import copy
from math import isinf

from models import (ACK, FLAGS, IDLE, LIBRARY, STEPS, UNLIMITED, Errors, Pair, Random, main,
                    numbers, single_steps)
from swift_model import Swift, Window

LONG_FLOWS = range(1, 61, 5)
LONG_STEPS = 5000
# In the long run an error of the target counts at every decrease, in one direction.  The core
# rounds its target down, by 1.1 ns at most (see target_bound()), and its decrease down, by 2^-24
# of the window, the effect of 0.01 ns more of target at delays below 100 us.  A window that
# differs grows or shrinks toward the other and never overtakes it, so the core must remain between
# two models with targets off by just that.
LONG_BELOW_NS = 1.15
LONG_ABOVE_NS = 0.05
# An increase is rounded down twice, by 2^-16 byte at most (see step_bound()).
LONG_LOST_BYTES = 2**-15
# Those two must be close together, or the test would be too weak.
LONG_BETWEEN = 5e-3


class SwiftPair(Pair):
    """Both."""

    name, parts, model = "swift", "swift_split", Swift
    # A decrease comes at a delay of at least the base target of 5000 ns, so 1.15 ns of target
    # (see LONG_BELOW_NS) take 0.8 * 2.3e-4 of the window.
    standard_relative = 1.9e-4

    def __init__(self):
        super().__init__()
        self.is_any, self.disregarded = False, 0

    def begin(self, r, any_):
        """A flow, at times without a delay or a link."""
        blind = not r.between(0, 7)
        self.is_any = any_
        self.start(any_ and r, 4, True, now_ns=r.between(0, 1000000),
                   mss_bytes=r.between(64, 65535),
                   min_rtt_ns=0 if blind else r.magnitude(100, 1000000),
                   link_bytes_ps=0 if blind else r.magnitude(1000000, 100000000000))

    def state(self):
        """Two windows in packets."""
        host = {name: self.vars.fabric.flags & FLAGS["SWIFT_SPLIT_F_" + name] != 0
                for name in ("HOST", "DECREASED")}
        v = numbers(self.vars.fabric, "SWIFT_F_")
        return v | {
            "has_endpoint": host["HOST"],
            "fabric": Window(v["window"] / v["mss"], v["last_decrease"], v["f_decreased"],
                             v["f_disregarded"]),
            "endpoint": Window(self.vars.host_window_q16 * 2**-16 / v["mss"],
                               self.vars.host_decrease_ns, host["DECREASED"]),
        }

    def follow(self):
        super().follow()
        self.m.disregarded_before = self.stats.swift.disregarded

    def step(self, event, rand=0, **sample):
        rand = LIBRARY.core_draw(int(sample["now_ns"]), self.vars.fabric.window_q16) * 2**-32
        super().step(event, rand, **sample)

    def random_sample(self, r, event):
        """Random windows, at times without one for the host, and delays around the targets."""
        v, p = self.vars.fabric, self.params
        v.window_q16 = r.magnitude(1, p.max_window_bytes << 16)
        self.vars.host_window_q16 = r.magnitude(1, p.max_window_bytes << 16)
        self.vars.host_decrease_ns = v.last_decrease_ns
        if not r.between(0, 7):
            v.flags &= ~FLAGS["SWIFT_SPLIT_F_HOST"]
        hops, rtt_ns, remote_ns = r.between(0, 8), 0, 0
        super().follow()
        if event == ACK:
            if v.min_rtt_ns and r.between(0, 15):
                rtt_ns = int(1 + self.m.target(hops) * 2 ** r.uniform(-3, 3))
            if r.between(0, 1):
                remote_ns = (r.magnitude(0, 4 * p.host_target_ns + 1) if r.between(0, 3) else
                             rtt_ns)
            if rtt_ns and r.between(0, 7):
                rtt_ns += remote_ns
        return {"mss_bytes": v.mss_bytes, "hops": hops, "rtt_ns": rtt_ns, "remote_ns": remote_ns,
                "now_ns": v.last_decrease_ns + r.magnitude(0, 4 * v.rtt_ns + 1),
                "acked_bytes": r.magnitude(0, 16 * v.mss_bytes), "flags": not r.between(0, 9),
                "idle_ns": r.magnitude(0, 1 << 43)}

    @staticmethod
    def target_bound(m, cwnd_error=0):
        """
        Of the target at the same window, ns: 1 for rounding down and 0.03 for alpha's last bit.
        The relative error of alpha is that of the difference of two reciprocal roots, at least
        0.29 of the larger one: below 2^-21.8.  alpha times the error of the two reciprocal roots
        is, alpha being at most 3.42 * range * sqrt(fs_min): below 2^-21.9 of the range.  Together
        below 2^-20 of the range.  The window counts packets in steps of 2^-16, and alpha /
        sqrt(w) changes by alpha / 2 w^1.5 per packet.
        """
        cwnd = max(m.fabric.cwnd - cwnd_error - 2**-16, m.p.fs_min_pkts)
        return (1.1 + m.p.fs_range * 2**-20 +
                (cwnd_error + 2**-16) * m.fs_alpha / 2 / cwnd ** 1.5)

    def step_bound(self, cwnd):
        """
        Of a window after one step, bytes: an increase loses less than 2^-16 byte of the step,
        times the windows acknowledged, and 2^-16 in the quotient; a decrease 2^-24 of the window.
        Doubles lose 2^-50.
        """
        window = cwnd * self.m.mss
        acked = self.sample.acked_bytes / max(window, self.m.mss)
        return 2**-16 * (acked + 2) + window * (2**-24 + 2**-48)

    def fabric_bound(self, before):
        """A decrease has the target's error over the delay, times beta, as well."""
        bound, delay = self.step_bound(before.fabric.cwnd), self.fabric_delay()
        if delay:
            bound += (before.fabric.cwnd * before.mss * self.m.p.beta *
                      self.target_bound(before) / delay)
        return bound

    def host_bound(self, before):
        """Its target is exact."""
        return self.step_bound((before.endpoint if before.has_endpoint else before.fabric).cwnd)

    def fabric_delay(self):
        """The delay that was compared with the target."""
        s = self.sample
        return s.rtt_ns - (min(s.rtt_ns, s.remote_ns) if self.m.has_endpoint else 0)

    @staticmethod
    def is_start_ambiguous(m):
        """ceil() may round either way if a double cannot decide."""
        packets = m.link_packets() if m.min_rtt and m.link else 0
        return packets > 0 and abs(packets - round(packets)) <= packets * 2**-40

    def is_ambiguous(self, before, event):
        """Whether rounding decides: at the target, or in ceil()."""
        now, delay = copy.copy(before), self.fabric_delay()
        return (delay and abs(delay - now.target(self.sample.hops)) <= self.target_bound(before)
                or event == IDLE and self.is_start_ambiguous(before)
                or self.m.p.probabilistic and self.is_start_ambiguous(self.m))

    def same_memory(self, errors, names=()):
        """The state other than the windows."""
        v, m = self.state(), self.m
        same = all(v[name] == getattr(m, name) for name in
                   ("rtos", "rtt", "min_rtt", "f_loss", "has_endpoint", *names))
        same &= v["fabric"].f_disregarded == m.fabric.f_disregarded
        for one in ("fabric", "endpoint") if m.has_endpoint else ("fabric",):
            a, b = v[one], getattr(m, one)
            same &= a.f_decreased == b.f_decreased and (
                not a.f_decreased or a.last_decrease == b.last_decrease)
        errors.same("state", same)

    def same_target(self, errors, before, event, bound):
        """
        An ACK reports the target for the window before it and the round trip known at that ACK,
        other events the target for those after.
        """
        m = copy.copy(before if event == ACK else self.m)
        m.min_rtt = self.m.min_rtt
        errors.near("target", self.out.target_ns, m.target(self.sample.hops),
                    self.target_bound(m, 0 if event == ACK else bound / m.mss))

    def same_pacing(self, errors, bound):
        """Of a window below one segment."""
        rate, window = self.m.pacing() * 1e9, self.m.cwnd * self.m.mss
        if abs(window - self.m.mss) <= bound:
            return
        if isinf(rate):
            errors.same("unpaced", self.out.pacing_bytes_ps == UNLIMITED)
        else:
            errors.near("pacing", self.out.pacing_bytes_ps, rate, 1.001 + rate * bound / window)

    def compare(self, errors, before, event):
        """After a step; the decision is the smaller window."""
        m, v, bound, host = self.m, self.vars, self.fabric_bound(before), self.host_bound(before)
        windows = [v.fabric.window_q16]
        errors.near("window", v.fabric.window_q16 * 2**-16, m.fabric.cwnd * m.mss, bound,
                    limit=0 if self.is_any else self.standard_relative)
        if m.has_endpoint:
            windows.append(v.host_window_q16)
            errors.near("host-window", v.host_window_q16 * 2**-16, m.endpoint.cwnd * m.mss, host)
        errors.same("decision", self.out.window_q16 == min(windows))
        self.same_memory(errors)
        self.same_pacing(errors, max(bound, host))
        self.same_target(errors, before, event, bound)
        self.disregarded += self.stats.swift.disregarded != before.disregarded_before

    def enough(self):
        return {"disregarded": self.disregarded > STEPS / 500 if self.is_any else
                not self.disregarded}


def shared_delay(r, pair, low, high, flows):
    """
    The delay that @flows flows with this window cause at a shared bottleneck, with some noise,
    adjusted so that all agree which side of the target it is on.  The lower window has the higher
    target, the lower base the lower one.
    """
    full = flows * pair.vars.fabric.window_q16 * 2**-16 / pair.m.link
    delay = int(max(full, 4300) * (1 + r.between(0, 100) / 1000))
    least, most = sorted((low.target(1), high.target(1)))
    return int(most + 3) if least - 2 < delay < most + 2 else delay


def shifted(m, by):
    """The same flow with a target off by this."""
    other = copy.copy(m)
    other.p = copy.copy(m.p)
    other.p.base_target += by
    return other


def long_run():
    """Both start together and are never reconciled, at a bottleneck of a number of flows."""
    r, errors, pair = Random(4), Errors("swift", "long"), SwiftPair()
    worst = decreases = 0
    for flows in LONG_FLOWS:
        pair.start(params={"base_target_ns": 5000,
                           "ai_bytes_ps": 125000000 if flows & 1 else 6250000},
                   min_rtt_ns=4300, link_bytes_ps=12500000000, mss_bytes=1448)
        low, high = shifted(pair.m, -LONG_BELOW_NS), shifted(pair.m, LONG_ABOVE_NS)
        for step in range(LONG_STEPS):
            sample = {"mss_bytes": 1448, "hops": 1, "acked_bytes": 1448,
                      "rtt_ns": shared_delay(r, pair, low, high, flows),
                      "now_ns": step * 123 * flows}
            pair.step(ACK, **sample)
            s = pair.fill(sample)
            low.on_ack(s)
            high.on_ack(s)
            cwnd, lost = (pair.vars.fabric.window_q16 * 2**-16 / 1448,
                          LONG_LOST_BYTES * (step + 1) / 1448)
            errors.same("enclosed", low.fabric.cwnd - lost <= cwnd <=
                        high.fabric.cwnd * (1 + 1e-12))
            errors.near("window", cwnd, pair.m.fabric.cwnd, LONG_BETWEEN * pair.m.fabric.cwnd,
                        limit=LONG_BETWEEN)
            worst = max(worst, high.fabric.cwnd / low.fabric.cwnd - 1)
        decreases += pair.stats.swift.decreases
    print(f"# {decreases} decreases, the enclosing models {worst:.2e} apart")
    errors.finish(bounds_are_close=worst <= LONG_BETWEEN,
                  saw_congestion=decreases > 100 * len(LONG_FLOWS))


if __name__ == "__main__":
    main(lambda: single_steps(SwiftPair(), "any"),
         lambda: single_steps(SwiftPair(), "standard"), long_run)
