#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The core of DCQCN beside its model.

usage: test_dcqcn_model.py OUTDIR
"""

from dcqcn_model import Dcqcn
from models import ACK, IDLE, Errors, Pair, Random, main, numbers, single_steps

# A start without a known link rounds to a byte/s, of min_rate's 1.25 MB/s or more.
STANDARD_RELATIVE = 1e-6
LONG_EPISODES = 4
LONG_STEPS = 20000
# A rounding of alpha enters every later decrease; fast recovery forgets them.
LONG_RELATIVE = 1e-6
MOST_BYTES_PS = 2**37
MEMORY = ("t", "bc", "counted", "since", "next_alpha", "f_notified", "min_rtt")


class DcqcnPair(Pair):
    """Both."""

    name, model = "dcqcn", Dcqcn
    limit = 0

    def __init__(self):
        super().__init__()
        self.flow = self.vars

    def begin(self, r, any_):
        """A flow, at times without ECN."""
        self.limit = 0 if any_ else STANDARD_RELATIVE
        self.start(any_ and r, 4, True, link_bytes_ps=r.magnitude(0, 100000000000),
                   min_rtt_ns=r.magnitude(0, 10000000), now_ns=r.between(0, 1000000),
                   mss_bytes=r.between(64, 65535), flags=bool(r.between(0, 7)) * 0x8)

    def state(self):
        """In the paper's names; each timer as a deadline."""
        v, p = numbers(self.flow, "DCQCN_F_"), self.m.p
        v["rc"], v["rt"] = v.pop("rate"), v.pop("target")
        v["t"], v["bc"] = v.pop("timer"), v.pop("byte")
        v["next_alpha"] = v["since"] + (v["decays"] + 1) * p.alpha_timer
        v["next_timer"] = v["since"] + (v["t"] + 1) * p.timer
        return v

    def random_flow(self, r, line):
        """Random rates within the limits, and a sample."""
        v, p = self.flow, self.m.p
        least = min(int(p.min_rate * 1e9 + 0.5), line or MOST_BYTES_PS)
        for rate in ("rate_q16", "target_q16"):
            setattr(v, rate, min(max(r.magnitude(1, 1 << 53), least << 16),
                                 min(line or MOST_BYTES_PS, MOST_BYTES_PS) << 16))
        v.alpha_q30 = r.magnitude(0, 1 << 30)
        acked_bytes = r.magnitude(1, 16 * v.mss_bytes)
        return {"mss_bytes": v.mss_bytes, "acked_bytes": acked_bytes,
                "now_ns": v.since_ns + r.magnitude(0, 80 * int(p.timer)),
                "marked_bytes": 0 if r.between(0, 2) else acked_bytes,
                "inflight_bytes": r.magnitude(0, 1 << 26), "flags": not r.between(0, 9),
                "idle_ns": r.magnitude(0, 1 << 43)}

    def random_sample(self, r, _):
        """At times for many bytes."""
        line = r.between(0, 7) and r.magnitude(1, 1 << 37)
        sample = self.random_flow(r, line)
        if not r.between(0, 9):
            sample["acked_bytes"] = r.magnitude(1, 0xffffffff)
        return sample | {"link_bytes_ps": line}

    def alpha_bound(self, before):
        """
        Its last bit twice, and that of the power, which is too small by 2 n 2^-32 at most and
        never below zero.
        """
        p, now = self.m.p, self.sample.now_ns
        n = max((now - before.next_alpha) / p.alpha_timer + 1, 0)
        return 2**-29 + min(n * 2**-31, before.alpha * (1 - p.g) ** int(n))

    def rate_bound(self, before, started):
        """
        Bytes/s: 2^-17 at every increase, each halving the earlier error, so less than 2^-16
        together; a decrease adds 2^-16 and half of alpha's error of the rate, which is the target
        after a decrease.  A start without a known link rounds to a byte/s.  Doubles lose 2^-50.
        """
        return (2**-15 + MOST_BYTES_PS * 2**-50 + started +
                max(before.rc, before.rt, self.m.rt) * self.alpha_bound(before) / 2)

    def window_bound(self, before, acked, rate_error):
        """
        Bytes: two roundings to a byte; less than a byte in the divisor of Reno's increase; the
        rate's error and its rounding to bytes/s over the time the window covers.
        """
        m = self.m
        reno = max(before.reno, m.mss)
        return (2 + m.mss * acked / reno / (reno - 1) +
                (rate_error + 1) * (m.min_rtt + m.p.queue_bound) / 1e9)

    def is_ambiguous(self, *_):
        """Each step is compared."""
        return False

    def same_memory(self, errors, window=None):
        """
        Counts, times and flags.  Where Reno's window is that of the rate, rounding decides whether
        a loss is over.
        """
        v, m = self.state(), self.m
        errors.same("state", all(v[name] == getattr(m, name) for name in MEMORY))
        if window is not None and v["f_loss"] != m.f_loss:
            rate_window = m.rc * (m.min_rtt + m.p.queue_bound) / 1e9 if m.min_rtt else 10 * m.mss
            rate_window = max(min(rate_window, m.p.max_window), m.mss)
            errors.same("loss", abs(v["reno"] - rate_window) <= 2 * window)

    def compare(self, errors, before, event):
        """After a step."""
        m, v, bound = self.m, self.flow, self.rate_bound(before, event == IDLE)
        window = self.window_bound(before, self.sample.acked_bytes, bound)
        errors.near("rate", v.rate_q16 * 2**-16, m.rc, bound, limit=self.limit)
        errors.near("target", v.target_q16 * 2**-16, m.rt, bound)
        errors.near("alpha", v.alpha_q30 * 2**-30, m.alpha, self.alpha_bound(before), of=1)
        errors.near("window", self.out.window_q16 * 2**-16, m.window(), window)
        self.same_memory(errors, window)


def long_run():
    """Both start together; a queue with the link's rate, filled by two such flows, marks."""
    r, errors, pair = Random(6), Errors("dcqcn", "long"), DcqcnPair()
    notifications = increases = 0
    for episode in range(LONG_EPISODES):
        now_ns = queue_bytes = 0
        pair.start(params={"timer_ns": 5000 * (5 * episode + 1)}, min_rtt_ns=4300, mss_bytes=1448,
                   flags=0x8, link_bytes_ps=12500000000)
        for _ in range(LONG_STEPS):
            gap_ns = int(14480e9 / pair.m.rc + 1)
            now_ns += gap_ns
            queue_bytes = max(0, queue_bytes + gap_ns * (2 * pair.m.rc - 12.5e9) / 1e9)
            is_marked = r.between(0, 1200000) * 5 < queue_bytes - 400000
            pair.step(ACK, mss_bytes=1448, acked_bytes=14480, link_bytes_ps=12500000000,
                      marked_bytes=1448 * is_marked, now_ns=now_ns)
            m, v = pair.m, pair.vars
            errors.near("rate", v.rate_q16 * 2**-16, m.rc, LONG_RELATIVE * m.rc,
                        limit=LONG_RELATIVE)
            errors.near("alpha", v.alpha_q30 * 2**-30, m.alpha, LONG_RELATIVE, of=1,
                        limit=LONG_RELATIVE)
            pair.same_memory(errors)
        notifications += pair.stats.notifications
        increases += pair.stats.additive_increases + pair.stats.hyper_increases
    print(f"# {notifications} notifications, {increases} increases of the target")
    errors.finish(saw_congestion=notifications > 20 * LONG_EPISODES and
                  increases > 100 * LONG_EPISODES)


if __name__ == "__main__":
    main(lambda: single_steps(DcqcnPair(), "any"),
         lambda: single_steps(DcqcnPair(), "standard"), long_run)
