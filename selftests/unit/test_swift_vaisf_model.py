#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The core of swift_vaisf beside its model.

usage: test_swift_vaisf_model.py OUTDIR
"""

import copy

from models import ACK, IDLE, STEPS, UNLIMITED, Errors, Pair, Random, main, numbers, single_steps
from swift_model import Window
from swift_vaisf_model import SwiftVaisf
from test_swift_model import SwiftPair

LONG_FLOWS = range(1, 61, 6)
LONG_STEPS = 5000
# Above the sum of drift's bounds: every decrease reduces earlier errors.
LONG_RELATIVE = 1e-5
MEMORY = ("round", "measured", "bank_tokens", "sampled_pkts")


class SwiftVaisfPair(SwiftPair):
    """Both."""

    name, parts, model = "swift_vaisf", "swift_vaisf", SwiftVaisf
    # An increase lacks 2^-16 of the multiplier, which is at least 1, and the effect of 2^-16 of
    # dampener, an eighth of that; and the smallest window, 0.01 of 64 bytes, is wrong by
    # 4 * 2^-16 byte: 1.2e-4 together.
    standard_relative = 1.2e-4
    seen = None

    def state(self):
        """Of both."""
        v = numbers(self.vars.swift, "SWIFT_F_") | numbers(self.vars.vaisf)
        return v | {"round": self.vars.round_bytes, "has_endpoint": False, "endpoint": None,
                    "fabric": Window(v["window"] / v["mss"], v["last_decrease"],
                                     v["f_decreased"])}

    def follow(self):
        Pair.follow(self)
        self.m.w, self.m.spent, self.m.earned = (self.m.fabric.cwnd * self.m.mss, 0,
                                                 self.stats.earned)

    def step(self, event, rand=0, **sample):
        Pair.step(self, event, **sample)

    def random_sample(self, r, event):
        """Random state of the two mechanisms, within their types and parameters."""
        v, p, flow = self.vars.vaisf, self.params.vaisf, self.vars.swift
        flow.window_q16 = r.magnitude(1, self.params.swift.max_window_bytes << 16)
        self.vars.round_bytes = 0 if r.between(0, 1) else r.magnitude(0, 1 << 30)
        v.measured = 0 if r.between(0, 1) else r.magnitude(0, 1 << 30)
        v.dampener_q16 = r.magnitude(0, 1 << 30)
        v.bank_tokens = r.magnitude(0, p.bank_cap_tokens)
        v.sampled_pkts = r.magnitude(0, 60000)
        hops, acked_pkts, rtt_ns = r.between(0, 8), r.magnitude(0, 64), 0
        if event == ACK and flow.min_rtt_ns and r.between(0, 15):
            rtt_ns = 1 + self.m.target(hops) * 2 ** r.uniform(-3, 3)
        return {"mss_bytes": flow.mss_bytes, "hops": hops, "rtt_ns": rtt_ns,
                "now_ns": flow.last_decrease_ns + r.magnitude(0, 4 * flow.rtt_ns + 1),
                "acked_pkts": acked_pkts, "acked_bytes": acked_pkts * flow.mss_bytes,
                "inflight_bytes": r.magnitude(0, 1 << 30), "flags": not r.between(0, 9),
                "idle_ns": r.magnitude(0, 1 << 43)}

    def step_and_slope(self):
        """The step of one round trip, and how much of it a part of dampener takes."""
        p = self.m.vp
        return (self.m.p.ai * self.m.min_rtt,
                min(p.ai_cap_tokens, p.bank_cap_tokens) / p.dampener)

    def bound(self, before, multiplier):
        """
        Of both windows after one step, bytes.  The step of one round trip is rounded down by 2^-16
        byte and multiplied; the multiplier is rounded down by 2^-16 and lacks the effect of 2^-16
        of dampener, at most tokens / constant times that; one more 2^-16 byte in the product.  A
        decrease loses 2^-24 of the window and 2^-16 byte.  Doubles lose 2^-46 of window and step.
        """
        step, slope = self.step_and_slope()
        window = max(before.fabric.cwnd * before.mss, self.m.w)
        return (2**-16 * (multiplier + step * (1 + slope) + 4) + window * (2**-24 + 2**-46) +
                step * multiplier * 2**-46)

    def step_bound(self, before):
        """With the tokens that a step can use."""
        return self.bound(before, min(before.bank_tokens + 65536, self.m.vp.ai_cap_tokens))

    def is_ambiguous(self, before, event):
        """
        Whether the window is so close to the reference that rounding decides if it fell.  If no
        decrease was considered it cannot fall.
        """
        m = self.m
        if event == ACK:
            return (self.sample.rtt_ns >= m.target(self.sample.hops) and
                    abs(m.unlimited - before.fabric.cwnd * m.mss) <= self.step_bound(before))
        return event == IDLE and self.is_start_ambiguous(before)

    def same_sums(self, errors, dampener):
        """The dampener is added to 1, so below 1 its error is taken relative to 1."""
        m, v = self.m, self.state()
        errors.same("sums", all(v[name] == getattr(m, name) for name in MEMORY))
        errors.near("dampener", v["dampener"], m.dampener, dampener, of=max(m.dampener, 1))

    def same_decision(self, errors, bound):
        """The pacing of a window below one segment, and the target."""
        m, out = self.m, self.out
        errors.same("target", out.target_ns == m.target(self.sample.hops))
        if abs(m.w - m.mss) <= bound:
            return
        rate = m.w / m.rtt * 1e9 if m.w < m.mss else 0
        errors.same("pacing", out.pacing_bytes_ps == UNLIMITED if m.w >= m.mss else
                    abs(out.pacing_bytes_ps - rate) <= 1.001 + rate * bound / m.w)

    def compare(self, errors, before, event):
        """After a step."""
        m, bound, window = self.m, self.step_bound(before), self.vars.swift.window_q16 * 2**-16
        errors.near("window", self.out.window_q16 * 2**-16, m.w, bound,
                    limit=0 if self.is_any else self.standard_relative)
        errors.near("reference", window, m.fabric.cwnd * m.mss, bound)
        self.same_sums(errors, 2**-16)
        self.same_memory(errors)
        self.same_decision(errors, bound)
        self.seen = self.seen or {"earned": 0, "multiplied": 0, "adjusted": 0}
        self.seen["earned"] += self.stats.earned > before.earned
        self.seen["multiplied"] += m.multiplier() > 1
        self.seen["adjusted"] += abs(window - before.fabric.cwnd * m.mss) > bound

    def enough(self):
        return {name: count > STEPS / 50 for name, count in self.seen.items()}


def shared_delay(r, pair, flows, sample):
    """
    The delay that @flows flows with this window cause at a shared bottleneck, with some noise; a
    nanosecond more where rounding would decide the direction.
    """
    reference = pair.m.fabric.cwnd * 1448
    delay = int(max(flows * pair.m.w / pair.m.link, 4300) * (1 + r.between(0, 100) / 1000))
    while True:
        ahead = copy.copy(pair.m)
        ahead.on_ack(pair.fill(sample | {"rtt_ns": delay}))
        if abs(ahead.unlimited - reference) > LONG_RELATIVE * reference:
            return delay
        delay += 1


def long_run():
    """
    Both start together and are never reconciled.  The bound by now has the errors of all steps so
    far, each multiplied by at most 1; and the dampener's last bits, one a round trip since it was
    0, each of which moves the multiplier.
    """
    r, errors, pair = Random(6), Errors("swift_vaisf", "long"), SwiftVaisfPair()
    earned = decreases = 0
    for flows in LONG_FLOWS:
        pair.start(min_rtt_ns=4300, link_bytes_ps=12500000000, mss_bytes=1448)
        drift = dampener = 0
        for step in range(LONG_STEPS):
            sample = {"mss_bytes": 1448, "hops": 1, "acked_bytes": 1448, "acked_pkts": 1,
                      "inflight_bytes": pair.m.w, "now_ns": step * 123 * flows}
            sample["rtt_ns"] = shared_delay(r, pair, flows, sample)
            before = copy.copy(pair.m)
            pair.step(ACK, **sample)
            m, (one, slope) = pair.m, pair.step_and_slope()
            dampener = (dampener if m.dampener else 0) + (m.dampener != before.dampener) * 2**-16
            now = pair.bound(before, m.vp.ai_cap_tokens) + one * slope * dampener
            errors.near("window", pair.out.window_q16 * 2**-16, m.w, drift + now,
                        limit=LONG_RELATIVE)
            drift += now if m.fabric.cwnd != before.fabric.cwnd else 0
            errors.near("reference", pair.vars.swift.window_q16 * 2**-16, m.fabric.cwnd * 1448,
                        drift + 2**-16, limit=LONG_RELATIVE)
            pair.same_sums(errors, dampener)
        earned += pair.stats.earned
        decreases += pair.stats.swift.decreases
    print(f"# {earned} round trips earned tokens, {decreases} decreases")
    errors.finish(saw_congestion=min(earned, decreases) > 10 * len(LONG_FLOWS))


if __name__ == "__main__":
    main(lambda: single_steps(SwiftVaisfPair(), "any"),
         lambda: single_steps(SwiftVaisfPair(), "standard"), long_run)
