#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The core of HPCC beside its model.

usage: test_hpcc_model.py OUTDIR
"""

import copy
from math import inf, isinf
from types import SimpleNamespace

from hpcc_model import Hpcc, difference
from models import (ACK, FLAGS, LIBRARY, STEPS, UNLIMITED, Errors, Pair, Random, main, numbers,
                    single_steps)

# Above the sum of drift's bounds: additive increase dilutes earlier errors.
LONG_RELATIVE = 2e-3
LONG_FLOWS = range(1, 61, 6)
LONG_STEPS = 5000
LINK_BYTES_PS = 12500000000
RTT_NS = 4300
MEMORY = ("inc_stage", "hop", "rtos", "round", "min_rtt", "f_round", "f_telemetry", "f_util",
          "f_measured", "f_congested", "f_loss")
RECORD = ("queue", "time", "tx_units", "recorded")


class HpccPair(Pair):
    """Both."""

    name, model = "hpcc", Hpcc
    # With the standard parameters, 8 Gbit/s and 1 us or more: 1000 bytes of product, so U loses
    # 2^-7 / 1000 = 8e-6, and 4e-6 of the value added.  Of a U of 1/16 that is 1.3e-4; a much
    # smaller one makes of nearly every reference the largest window.  The smallest window, 12.5
    # bytes, loses 4 * 2^-16: 5e-6.
    standard_relative = 2e-4

    def __init__(self):
        super().__init__()
        self.flow, self.flow_stats, self.seen = self.vars, self.stats, {}
        self.is_any, self.link_bytes_ps = False, 0

    def begin(self, r, any_):
        """A flow, at times without a link or a round-trip time."""
        self.is_any = any_
        self.link_bytes_ps = r.between(0, 7) and r.magnitude(1000000, 100000000000)
        self.start(any_ and r, 3, link_bytes_ps=self.link_bytes_ps, now_ns=r.between(0, 1000000),
                   mss_bytes=r.between(64, 65535), flags=r.between(0, 1) * 0x20,
                   min_rtt_ns=r.between(0, 7) and r.magnitude(100 if any_ else 1000, 1000000))

    def begin_long(self):
        """A flow of 100 Gbit/s."""
        self.start(min_rtt_ns=RTT_NS, link_bytes_ps=LINK_BYTES_PS, mss_bytes=1448, flags=0x20)

    def state(self):
        """In the paper's names."""
        v = numbers(self.flow, "HPCC_F_")
        v["wc"], v["u"], v["inc_stage"] = v.pop("window"), v.pop("util"), v.pop("stage")
        return v

    def follow(self):
        super().follow()
        self.m.w = self.m.wc
        self.m.counted = self.flow_stats.measured
        self.m.disregarded_before = self.flow_stats.disregarded

    def step(self, event, rand=0, **sample):
        super().step(event, LIBRARY.core_draw(int(sample["now_ns"]), self.flow.window_q16) * 2**-32,
                     **sample)

    def random_sample(self, r, _):
        """State within the range that calls of the core can leave, and a sample."""
        v = self.flow
        v.window_q16 = r.magnitude(1 << 16, int(self.m.p.max_window) << 16)
        v.util_q24 = int(2**24 * 2 ** r.uniform(-4, 4))
        v.stage = r.between(0, int(self.m.p.max_stage) + 1)
        v.round_bytes = 0 if r.between(0, 1) else r.magnitude(0, 1 << 30)
        v.hop = 3 if r.between(0, 15) else 0
        v.flags = self.random_flags(r.between(0, 63), v.hop)
        acked_pkts = r.magnitude(0, 64)
        return self.random_record(r, r.magnitude(1000000 if self.is_any else 1000000000,
                                                 100000000000)) | {
            "mss_bytes": v.mss_bytes, "link_bytes_ps": self.link_bytes_ps,
            "acked_pkts": acked_pkts, "acked_bytes": acked_pkts * v.mss_bytes,
            "inflight_bytes": r.magnitude(0, 1 << 30), "flags": not r.between(0, 9),
            "idle_ns": r.magnitude(0, 1 << 43),
        }

    @staticmethod
    def random_flags(flags, hop):
        """Only those that can be set together."""
        telemetry, util, measured, congested = (
            FLAGS["HPCC_F_" + name] for name in ("TELEMETRY", "UTIL", "MEASURED", "CONGESTED"))
        if hop:
            flags |= telemetry
        if not hop or not flags & util:
            flags &= ~(util | measured)
        if not flags & measured:
            flags &= ~congested
        return flags

    def random_record(self, r, bytes_ps):
        """Two records of a link: the flow's last one, and that of the ACK."""
        v = self.flow
        t = max(self.m.p.base_rtt or v.min_rtt_ns, 1)
        bdp = bytes_ps / 1e9 * t
        tau = max(min(t * 2 ** r.uniform(-6, 2), 0x7fffff), 1)

        def queue():
            return int(min(bdp * 2 ** r.uniform(-6, 4), 2**32 - 1)) if r.between(0, 3) else 0

        v.queue_bytes = queue()
        v.time_ns, v.tx_units = r.between(0, 0xffffff), r.between(0, 0xffffff)
        if not r.between(0, 31):
            tau = r.between(0, 0xffffff)
        units = min(tau * bytes_ps / 1e9 / 64 * 2 ** r.uniform(-4, 2), 0xffffff)
        return {"now_ns": v.recorded_ns + r.magnitude(0, 1000000 if r.between(0, 15) else 16000000),
                "telemetry": {
                    "hop": 3 if r.between(0, 15) else r.between(0, 1),
                    "link_bytes_ps": bytes_ps if r.between(0, 31) else 0, "queue_bytes": queue(),
                    "time_ns": v.time_ns + int(tau) & 0xffffff,
                    "tx_units": v.tx_units + int(units) & 0xffffff}}

    def util_bound(self, before):
        """
        Of U after a record.  Decay and gain are each rounded by 2^-24.  The weight lacks 2^-32,
        of U and of the queue; queue and bytes lose 2^-8 byte each; the bandwidth-delay product
        loses as much, which is a part of the gain.  Doubles lose 2^-44.
        """
        link, t = self.sample.telemetry, self.m.t
        tau, units = (difference(link.time_ns, before.time),
                      difference(link.tx_units, before.tx_units))
        queue, bdp = min(link.queue_bytes, before.queue), link.link_bytes_ps / 1e9 * t
        if bdp <= 2**-7:
            return inf
        gain = (64 * units * min(t / tau, 1) + queue * min(tau / t, 1)) / bdp
        return (2**-23 + before.u * 2**-32 + (2**-7 + queue * 2**-32) / bdp +
                gain * 2**-8 / (bdp - 2**-8) + (before.u + gain) * 2**-44)

    def window_bound(self, before, du):
        """
        Of a window from the reference @before when U is off by @du: the quotient's change, 2^-16
        byte for each of quotient, increase, half and smallest window.  Doubles lose 2^-44.
        """
        m, p, wc = self.m, self.m.p, before.wc
        bound = 4 * 2**-16 + (wc + m.w_ai + m.w) * 2**-44
        if not m.f_util and not before.f_util:
            return bound
        u = m.u if m.f_util else before.u
        if u < p.eta and before.inc_stage < p.max_stage:
            return bound
        if u <= du:
            return inf
        return bound + wc * p.eta * (1 / (u - du) - 1 / u) + wc * p.eta / u * 2**-44

    def measured(self, before):
        """Whether this step updated U, and by how much U may be off."""
        is_measured = self.flow_stats.measured != before.counted
        return is_measured, self.util_bound(before) if is_measured else 0

    def is_line_rate_ambiguous(self):
        """ceil() may round either way if a double cannot decide."""
        link = self.sample.link_bytes_ps / 1e9
        packets = self.m.line_packets(link)
        return self.m.steers and link and abs(packets - round(packets)) <= packets * 2**-40

    def is_ambiguous(self, before, _):
        """Whether rounding decides which branch is taken, not only the amount."""
        is_measured, du = self.measured(before)
        bound = self.window_bound(before, du)
        if isinf(bound) or self.is_line_rate_ambiguous():
            return True
        if is_measured and abs(self.m.u - self.m.p.eta) <= du:
            return True
        return self.is_branch_ambiguous(before, bound)

    def is_branch_ambiguous(self, before, bound):
        """Whether the window is too close to the reference."""
        now = copy.copy(before)
        now.u = self.m.u
        return ((self.sample.flags & 1 or self.m.p.probabilistic) and
                abs(now.compute_wind(self.m.w_ai) - before.wc) <= bound)

    def same_memory(self, errors, _=0):
        """The state other than reference and U."""
        v, m = self.state(), self.m
        errors.same("state", all(v[name] == getattr(m, name) for name in
                                 MEMORY + (RECORD if m.hop else ())))

    def same_pacing(self, errors, bound):
        """
        Whole bytes/s, at least 1, of a window of whole 2^-10 bytes; it may saturate with a base
        round trip of a few ns.
        """
        rate = self.m.pacing * 1e9
        errors.same("pacing", self.out.pacing_bytes_ps == UNLIMITED if isinf(rate) else
                    abs(self.out.pacing_bytes_ps - min(rate, 2.0**54)) <=
                    1.001 + (bound + 2**-10) * 1e9 / self.m.t + rate * 2**-44)

    def compare(self, errors, before, _):
        """After a step."""
        m, v = self.m, self.flow
        is_measured, du = self.measured(before)
        bound = self.window_bound(before, du)
        errors.near("window", self.out.window_q16 * 2**-16, m.w, bound,
                    limit=0 if self.is_any else self.standard_relative)
        errors.near("reference", v.window_q16 * 2**-16, m.wc, bound)
        # U is compared with eta, so below 1 its error is taken relative to 1.
        if is_measured:
            errors.near("utilisation", v.util_q24 * 2**-24, m.u, du, of=max(m.u, 1))
        else:
            errors.same("old_utilisation", v.util_q24 * 2**-24 == m.u)
        self.same_memory(errors)
        self.same_pacing(errors, bound)
        self.count(measured=is_measured, multiplied=is_measured and m.u >= m.p.eta,
                   moved=m.wc != before.wc,
                   disregarded=self.flow_stats.disregarded != before.disregarded_before)

    def count(self, **seen):
        """Steps in which this happened."""
        for name, has_happened in seen.items():
            self.seen[name] = self.seen.get(name, 0) + bool(has_happened)

    def enough(self):
        return {"measured": self.seen["measured"] > STEPS / 4,
                "multiplied": self.seen["multiplied"] > STEPS / 10,
                "moved": self.seen["moved"] > STEPS / 10,
                "disregarded": not self.is_any or self.seen["disregarded"] > STEPS / 500}


    def shared_record(self, r, flows, sample):
        """
        The record of a link that @flows flows with this window share: the bytes sent since the
        last record, and the queue, with some noise.  Units are added until rounding does not
        decide between increase and decrease.
        """
        bdp, tau, telemetry = 12.5 * RTT_NS, 123 * flows, sample["telemetry"]
        load = flows * self.m.w * (1 + r.between(0, 100) / 1000)
        telemetry["time_ns"] = telemetry["time_ns"] + tau & 0xffffff
        telemetry["queue_bytes"] = int(max(load - bdp, 0))
        telemetry["tx_units"] += int(12.5 * tau * min(load / bdp, 1) / 64)
        while True:
            telemetry["tx_units"] = telemetry["tx_units"] + 1 & 0xffffff
            ahead = copy.copy(self.m)
            ahead.on_ack(self.fill(sample))
            if not self.is_close(ahead):
                return

    def is_close(self, ahead):
        """Whether the drift by now could decide the branch of an ACK."""
        return abs(ahead.u - self.m.p.eta) <= LONG_RELATIVE

    def drift(self, before, drift):
        """
        Bound of the window's error by now.  U forgets a part of its error with each record and
        gains that of the step; the reference takes over the window's with each update.
        """
        m, p = self.m, self.m.p
        is_measured = self.flow_stats.measured != before.counted
        if is_measured:
            weight = min(difference(m.time, before.time) / RTT_NS, 1)
            drift.u = drift.u * (1 - weight) + self.util_bound(before)
        factor = 1
        if is_measured and (m.u >= p.eta or before.inc_stage >= p.max_stage):
            factor = p.eta / (m.u - drift.u)
        return self.window_bound(before, drift.u) + drift.wc * factor

    def long_compare(self, errors, before, drift):
        """Both started together and were never reconciled."""
        m, v = self.m, self.flow
        bound = self.drift(before, drift)
        errors.near("window", self.out.window_q16 * 2**-16, m.w, bound, limit=LONG_RELATIVE)
        if m.wc != before.wc:
            drift.wc = bound
        errors.near("reference", v.window_q16 * 2**-16, m.wc, drift.wc + 2**-16,
                    limit=LONG_RELATIVE)
        errors.same("util", abs(v.util_q24 * 2**-24 - m.u) <= drift.u)
        self.same_memory(errors, drift.dampener)


def long_run(pair):
    """Thousands of ACKs through a bottleneck shared by a number of such flows."""
    r, errors, increases, decreases = Random(8), Errors(pair.name, "long"), 0, 0
    for flows in LONG_FLOWS:
        pair.begin_long()
        drift = SimpleNamespace(u=0, wc=0, dampener=0)
        telemetry = {"hop": 1, "link_bytes_ps": LINK_BYTES_PS, "time_ns": 0, "tx_units": 0}
        for step in range(LONG_STEPS):
            sample = {"mss_bytes": 1448, "acked_bytes": 1448, "acked_pkts": 1,
                      "link_bytes_ps": LINK_BYTES_PS, "min_rtt_ns": RTT_NS,
                      "inflight_bytes": pair.m.w, "now_ns": step * 123 * flows,
                      "telemetry": telemetry}
            pair.shared_record(r, flows, sample)
            pair.m.counted = pair.flow_stats.measured
            before = copy.copy(pair.m)
            pair.step(ACK, **sample)
            pair.long_compare(errors, before, drift)
        increases += pair.flow_stats.increases
        decreases += pair.flow_stats.decreases
    print(f"# {increases} increases, {decreases} decreases of the reference")
    errors.finish(saw_congestion=min(increases, decreases) > 10 * len(LONG_FLOWS))


if __name__ == "__main__":
    main(lambda: single_steps(HpccPair(), "any"),
         lambda: single_steps(HpccPair(), "standard"), lambda: long_run(HpccPair()))
