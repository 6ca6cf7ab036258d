#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The core of TIMELY beside its model.

usage: test_timely_model.py OUTDIR
"""

from math import inf

from models import ACK, IDLE, UNLIMITED, Errors, Pair, Random, main, single_steps
from timely_model import Timely

# 2^-16 ns of difference over the 20 us of minimum round trip, and 2^-29.
STANDARD_RELATIVE = 3e-9
LONG_EPISODES = 2
LONG_STEPS = 20000
# 20000 steps, each wrong by 2^-29 of the rate and a step's 2^-30: 4e-5 and as much.
LONG_BOUND = 1e-4
MEMORY = ("prev_rtt", "last", "since", "falling", "f_signal", "f_prev")


class TimelyPair(Pair):
    """Both."""

    name, model = "timely", Timely
    limit = 0

    def begin(self, r, any_):
        """A flow, at times without a delay or a link."""
        blind = not r.between(0, 7)
        self.limit = 0 if any_ else STANDARD_RELATIVE
        self.start(any_ and r, 3, True, now_ns=r.between(0, 1000000),
                   other_flows=r.between(0, 63), mss_bytes=r.between(64, 65535),
                   min_rtt_ns=0 if blind else r.magnitude(100, 1000000),
                   link_bytes_ps=0 if blind else r.magnitude(1000000, 100000000000))

    def state(self):
        """Rates are bytes/ns, the difference has a sign, and the model no flag for it."""
        v = super().state()
        v["rate"] /= 1e9
        v["rtt_diff"] = v.pop("diff") * (1 - 2 * self.was_falling())
        return v

    def was_falling(self):
        """Whether the average difference is negative."""
        return self.vars.flags >> 2 & 1

    def random_sample(self, r, event):
        """Near one of the thresholds, near the last one, or no measurement."""
        p, v = self.params, self.vars
        rtt_ns = 0
        if event == ACK and r.between(0, 15):
            center = (p.t_low_ns, p.t_high_ns, v.prev_rtt_ns, v.prev_rtt_ns)[r.between(0, 3)]
            rtt_ns = min(1 + center * 2 ** r.uniform(-1, 1), 2000000000)
        return {
            "mss_bytes": v.mss_bytes, "rtt_ns": rtt_ns,
            "now_ns": v.last_ns + r.magnitude(0, 100000000),
            "min_rtt_ns": r.magnitude(1, 1000000),
            "link_bytes_ps": r.between(0, 7) and r.magnitude(1000000, 100000000000),
            "acked_bytes": r.magnitude(1, 2 * p.segment_bytes),
            "inflight_bytes": r.magnitude(0, 1000000), "flags": r.between(0, 1) * 0x10,
            "idle_ns": r.magnitude(0, 1000000000), "other_flows": r.between(0, 63),
        }

    def follow(self):
        super().follow()
        self.m.gradient_margin = self.m.demand_margin = inf

    def rate_bound(self, before):
        """
        The average loses less than 2^-16 ns, which over the minimum round trip is the error of
        the gradient; weight, decrease and step lose 2^-32 each.  Patched, the gradient counts
        twice, and two terms are rounded to whole bytes/s.
        """
        p, rate, gradient = self.p, before.rate * 1e9, 2**-16 / self.p.min_rtt
        delta = p.delta * 1e9
        return (rate * (2**-29 + gradient) + delta * p.hai * 2**-30 + 2**-14 +
                (3 + 4 * gradient * (rate + delta) if p.patched else 0))

    def demand_bound(self, before):
        """Bytes of the 80 % rule: each rounding, and the rate's fraction over the time."""
        sent, segment = before.sent + before.since, self.p.segment
        return 4 + (sent + 8 * segment) * 2e-9 / before.rate + sent / (4 * segment)

    def is_ambiguous(self, before, _):
        """Whether rounding decides."""
        return (self.m.gradient_margin <= 2**-15 and (self.vars.diff_ns_q16 or before.rtt_diff)
                or self.m.demand_margin <= 2 * self.demand_bound(before))

    def compare(self, errors, before, event):
        """After a step; the first rate is a quotient in whole bytes/s."""
        m, v, out = self.m, self.state(), self.out
        errors.near("rate", v["rate"] * 1e9, m.rate * 1e9,
                    self.rate_bound(before) + (event == IDLE), limit=self.limit)
        errors.near("window", v["window"], m.window, 1 + m.window * 2**-40)
        errors.near("gradient", v["rtt_diff"], m.rtt_diff, 2**-15 + abs(m.rtt_diff) * 2**-48,
                    of=self.p.min_rtt)
        bound = self.demand_bound(before)
        errors.same("state", all(v[name] == getattr(m, name) for name in MEMORY)
                    and abs(v["sent"] - m.sent) <= bound
                    and abs(v["allowed"] - m.allowed) <= bound
                    and (v["f_loss"] == m.f_loss
                         or abs(m.window - m.bound(self.sample.link_bytes_ps / 1e9)) <= 1))
        rate = max(self.vars.rate_q16 >> 16, 1) if m.f_signal else UNLIMITED
        errors.same("decision", (out.window_q16, out.pacing_bytes_ps) ==
                    (self.vars.window_q16, rate))


def long_run():
    """A flow that always has data; its round-trip time wanders through all zones."""
    r, errors, pair = Random(8), Errors("timely", "long"), TimelyPair()
    seen = dict.fromkeys(("below_low", "above_high", "gradient_up", "hai"), 0)
    for _ in range(LONG_EPISODES):
        now_ns, rtt_ns = 0, 60000
        pair.start(min_rtt_ns=20000, link_bytes_ps=1250000000, mss_bytes=1448, other_flows=39)
        for _ in range(LONG_STEPS):
            rate = pair.vars.rate_q16 >> 16
            now_ns += 1 + 15928000000000 // rate
            rtt_ns = (rtt_ns * 15 + (700000 if rate > 62500000 else 15000)) // 16
            rtt_ns += r.between(0, 2000)
            pair.step(ACK, mss_bytes=1448, acked_bytes=15928, link_bytes_ps=1250000000,
                      flags=0x10, rtt_ns=rtt_ns, now_ns=now_ns)
            errors.near("rate", pair.vars.rate_q16 * 2**-16, pair.m.rate * 1e9,
                        LONG_BOUND * pair.m.rate * 1e9, limit=LONG_BOUND)
        for name in seen:
            seen[name] += getattr(pair.stats, name)
    print("#", seen)
    errors.finish(saw_all_zones=all(count > 5 * LONG_EPISODES for count in seen.values()))


if __name__ == "__main__":
    main(lambda: single_steps(TimelyPair(), "any"),
         lambda: single_steps(TimelyPair(), "standard"), long_run)
