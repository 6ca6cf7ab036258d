#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The core of SMaRTT beside its model.

usage: test_smartt_model.py OUTDIR
"""

from math import inf
from types import SimpleNamespace

from models import ACK, FLAGS, IDLE, LOSS, RTO, Errors, Pair, Random, main, numbers, single_steps
from smartt_model import Smartt

LONG_STEPS = 100000
LONG_CLOSE = 0.001		# of the window: one packet in a thousand
LINK_BYTES_PS = 12500000000
BASE_NS = 12000
MSS = 4096
BDP_BYTES = 150000
BUFFER_BYTES = 5 * BDP_BYTES
NSCC = {"target_delay_ns": 12000, "fi_pkts_q16": 5 * 65536, "pi_pkts_q16": 4 * 65536,
        "pi_fair": 0, "eta_pkts_q16": 9830, "fast_q16": 16384, "md_queueing": 1,
        "qa_low_q16": 8192, "ignore_marked": 1, "ignore_delay": 0, "batch_pkts": 8}
MEMORY = ("rtos", "brtt", "most", "delivered", "ignore", "clear", "batch_pkts", "decrease",
          "period", "round", "f_decreased", "f_rerouted", "f_new_path", "f_measuring", "f_qa_due",
          "f_fast", "f_loss")


class SmarttPair(Pair):
    """Both."""

    name, model = "smartt", Smartt
    most_ambiguous = 1 / 10
    starts = True

    def begin(self, r, any_):
        """A flow, at times without a delay or a link; both start with the same window."""
        blind = not r.between(0, 15)
        self.start_both(any_ and r, link_bytes_ps=0 if blind else r.magnitude(10**6, 10**11),
                        min_rtt_ns=0 if blind else r.magnitude(1000, 10000000),
                        mss_bytes=r.between(64, 65535), now_ns=r.between(0, 1000000))
        self.starts &= (abs(self.vars.window_q16 * 2**-16 - self.m.cwnd) <= 2**-16 and
                        self.is_same(0.125))

    def start_both(self, r=None, **sample):
        """The model derives its window."""
        self.start(r, 3, **sample)
        self.m.start(SimpleNamespace(**numbers(self.sample)))

    def state(self):
        """In the paper's names."""
        v = super().state()
        v["cwnd"], v["brtt"], v["mtu"] = v.pop("window"), v.pop("base_rtt"), v.pop("mss")
        return v

    def follow(self):
        """The model keeps the values it derived from the path."""
        kept = self.m.most, self.m.unit
        super().follow()
        self.m.most, self.m.unit = kept
        self.m.unsure = False

    def random_sample(self, r, event):
        """State of a flow, at least a minute away from a wrap of its stamps, and a sample."""
        v, now_ns = self.vars, 1 << 31
        base_ns, mss_bytes = v.base_rtt_ns, v.mss_bytes
        window = r.magnitude(mss_bytes, max(v.most_bytes or 1 << 30, mss_bytes))
        v.window_q16 = window << 16 | r.between(0, 65535)
        v.pending_bytes2 = 0 if r.between(0, 3) else r.magnitude(0, 1 << 34)
        v.avg_rtt_q4 = base_ns * 16 + r.magnitude(0, base_ns * 64) if r.between(0, 15) else 0
        v.delivered_bytes = r.magnitude(0, 2 * window)
        v.ignore_bytes = 0 if r.between(0, 3) else r.magnitude(0, window)
        v.clear_bytes = 0 if r.between(0, 1) else r.magnitude(0, 2 * window)
        v.decrease_ns = now_ns - r.between(0, 2 * base_ns)
        v.period_ns = now_ns - r.between(0, 4 * base_ns)
        v.round_ns = now_ns - r.between(0, 2 * base_ns)
        v.batch_pkts, v.flags, v.rtos = r.between(0, 20), r.between(0, 0x7f), r.between(0, 6)
        sample = {"now_ns": now_ns, "idle_ns": r.magnitude(0, 1 << 43)}
        if event != ACK:
            return sample
        self.follow()
        pkts = r.between(0, 4)
        acked_bytes = pkts * mss_bytes - (pkts and r.between(0, 60))
        sample |= {"mss_bytes": mss_bytes, "acked_pkts": pkts, "acked_bytes": acked_bytes,
                   "marked_bytes": 0 if r.between(0, 1) else r.between(0, acked_bytes),
                   "trimmed_bytes": 0 if r.between(0, 7) else r.between(1, 3) * mss_bytes,
                   "lost_bytes": 0 if r.between(0, 7) else mss_bytes,
                   "inflight_bytes": r.magnitude(0, 1 << 30),
                   "flags": (not r.between(0, 9)) | bool(r.between(0, 4)) * FLAGS["S_ECN"]}
        if base_ns and r.between(0, 15):
            target_ns = int(self.m.trtt)
            sample |= {"min_rtt_ns": base_ns,
                       "rtt_ns": base_ns + r.magnitude(0, 4 * target_ns) if r.between(0, 1) else
                                 r.between(base_ns, target_ns)}
        return sample

    def bound(self, before):
        """
        Of the windows after one step, bytes.  Increases: a scaled segment is rounded down to 2^-8
        byte, shares by 2^-24 each, steps to 2^-16 byte; the target, and an average that stands in
        for a missing round-trip time, are rounded down by 1 ns, which moves (target - rtt) base /
        rtt (target - base) by at most 2 + target / base parts in target - base.  The pending
        increase is rounded down by two bytes squared and divided by the window, one segment at
        least.  Decreases: 1 ns of the target, 1/8 ns of the average, over the divisor; and 2^-24
        of the window.  An increase in the same step is divided by the decreased window, of which
        the relative error is larger by 1 / (1 - max_mdf).  QuickAdapt and doubles add no error.
        """
        p, m, after = self.m.p, before, self.m
        span, ratio = max(m.trtt - m.brtt - 1, 1), m.trtt / m.brtt if m.brtt else 0
        segments, share = p.fi_pkts + p.pi_pkts + p.eta_pkts, self.sample.acked_bytes / m.mtu + 1
        windows = max(m.cwnd, m.mtu) + after.cwnd
        bound = 2**-12 + 4 / m.mtu + windows * 2**-23
        bound += share * ((segments + 1) * m.unit * 2**-22 + segments * 2**-8 + 2**-14)
        bound += share * p.pi_pkts * m.unit * (2 + ratio) / span
        if after.avg_rtt:
            whole = (1 - p.max_mdf) * (after.avg_rtt - (m.brtt if p.md_queueing else 0))
            bound += windows * p.md * 1.25 / whole if whole else inf
        return bound

    def is_ambiguous(self, *_):
        """Whether a comparison was."""
        return self.m.unsure

    def is_same(self, avg_rtt):
        """The state other than the window, with the average within this."""
        v, m = self.state(), self.m
        return (all(v[name] == getattr(m, name) for name in MEMORY) and
                abs(v["unit"] - m.unit) <= 2**-8 and abs(v["avg_rtt"] - m.avg_rtt) <= avg_rtt)

    def compare(self, errors, before, _):
        """After a step."""
        m, v, out, bound = self.m, self.vars, self.out, self.bound(before)
        errors.near("window", v.window_q16 * 2**-16, m.cwnd, bound)
        errors.same("pending", abs(v.pending_bytes2 - m.pending) <=
                    (bound + 1) * max(before.cwnd, m.mtu))
        errors.same("state", self.is_same(0.125))
        errors.same("decision", (out.window_q16, out.change_path) ==
                    (v.window_q16, m.change_path) and abs(out.target_ns - m.trtt) <= 1)

    def enough(self):
        return {"starts": self.starts}


class Network:
    """
    A link of 100 Gbit/s, 12 us away, with others that come and go: the flow's share of the link
    changes every few hundred ACKs.  The core's window and the share determine queue, delay, marks
    (20 % to 80 % of one bandwidth-delay product), losses and trimmed packets.
    """

    def __init__(self):
        self.r, self.now_ns, self.share, self.change = Random(11), 1000000, 1, 0

    def sample(self, window_bytes):
        """Of the next ACK."""
        r = self.r
        if not self.change:
            self.change = r.between(50, 800)
            self.share = r.magnitude(4096, 65536) / 65536 if r.between(0, 3) else 1
        self.change -= 1
        own_bytes = max(window_bytes - BDP_BYTES * self.share, 0)
        queue_bytes = min(own_bytes / self.share, BUFFER_BYTES)
        marked = (queue_bytes * 10 - 2 * BDP_BYTES) / (6 * BDP_BYTES)
        pkts = r.between(1, 3)
        self.now_ns += int(pkts * MSS * 1e9 / (LINK_BYTES_PS * self.share))
        return {"acked_pkts": pkts, "acked_bytes": pkts * MSS, "now_ns": self.now_ns,
                "rtt_ns": BASE_NS + queue_bytes * 1e9 / LINK_BYTES_PS + r.between(0, 600),
                "min_rtt_ns": BASE_NS, "link_bytes_ps": LINK_BYTES_PS, "mss_bytes": MSS,
                "inflight_bytes": window_bytes, "flags": FLAGS["S_ECN"],
                "marked_bytes": r.between(1, pkts) * MSS if r.random() < marked else 0,
                "trimmed_bytes": MSS if queue_bytes == BUFFER_BYTES and not r.between(0, 15)
                                 else 0}

    def next_event(self, sample):
        """Usually an ACK; losses when the buffer is full, rarely a timeout or idle time."""
        r = self.r
        if sample["rtt_ns"] > 5 * BASE_NS and not r.between(0, 15):
            return LOSS
        if not r.between(0, 1999):
            return RTO
        if r.between(0, 1999):
            return ACK
        sample["idle_ns"] = r.between(0, 4000000)
        self.now_ns += sample["idle_ns"]
        sample["now_ns"] = self.now_ns
        return IDLE


def long_run(name, **params):
    """
    Neither is ever set to the other's state, so errors could add up, and do not.  If a comparison
    falls between the two, most often that of the average round trip (exact to some 2 ns) with its
    target, one decreases and the other does not; the next increases, decreases and limits bring
    them together again.  Both are apart, by 1/1000 of the window or in any other state, in less
    than 2 % of the steps and never for long, and the mean distance is below 1/200 in every tenth.
    """
    pair, network, errors = SmarttPair(), Network(), Errors("smartt", name)
    pair.start_both(link_bytes_ps=LINK_BYTES_PS, min_rtt_ns=BASE_NS, mss_bytes=MSS,
                    now_ns=1000000, params=params)
    tenths, events, apart, most_apart, steps_apart = [0] * 10, [0] * 5, 0, 0, 0
    for step in range(LONG_STEPS):
        sample = network.sample(pair.vars.window_q16 >> 16)
        event = network.next_event(sample)
        pair.step(event, **sample)
        events[event] += 1
        error = abs(pair.vars.window_q16 * 2**-16 - pair.m.cwnd) / pair.m.cwnd
        tenths[step * 10 // LONG_STEPS] += error * 10 / LONG_STEPS
        apart = 0 if error < LONG_CLOSE and pair.is_same(2**32) else apart + 1
        most_apart = max(most_apart, apart)
        steps_apart += apart > 0
    st = pair.stats
    print(f"# {name}: windows apart by {max(tenths):.1e} in a tenth of the run on average, or "
          f"other state in {steps_apart} steps, {most_apart} in a row at most")
    print(f"# {name}: {st.fair_increases} fair, {st.proportional_increases} proportional, "
          f"{st.fast_increases} fast increases, {st.decreases} decreases, {st.quick_adapts} "
          f"QuickAdapts, {st.path_changes} new paths, {events[LOSS]} losses, {events[RTO]} "
          f"timeouts, {events[IDLE]} restarts")
    errors.finish(windows_do_not_drift=max(tenths) < 5 * LONG_CLOSE,
                  meet_again=steps_apart < LONG_STEPS / 50 and most_apart < 3000,
                  every_case_met=min(st.fair_increases, st.proportional_increases,
                                     st.decreases) > LONG_STEPS / 100 and
                  min(st.fast_increases, st.path_changes) > LONG_STEPS / 1000 and
                  min(st.quick_adapts, *events[LOSS:]) > 5)


if __name__ == "__main__":
    main(lambda: single_steps(SmarttPair(), "any"), lambda: long_run("defaults"),
         lambda: long_run("batch", batch_pkts=65535), lambda: long_run("nscc", **NSCC))
