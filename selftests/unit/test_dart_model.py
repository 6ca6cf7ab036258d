#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The core of Dart's sender beside its model: the errors are DCQCN's, and two roundings to a byte/s
in the share.

usage: test_dart_model.py OUTDIR
"""

from math import ceil, isinf
from types import SimpleNamespace

from dart_model import Dart
from models import ACK, IDLE, STEPS, UNLIMITED, Errors, Random, main, numbers, single_steps
from test_dcqcn_model import DcqcnPair

LONG_EPISODES = 3
LONG_STEPS = 20000
# A rounding of alpha, 2^-28, enters each of some hundred decreases between two recoveries.
LONG_RELATIVE = 4e-6
LINE_BYTES_PS = 12500000000
MSS = 1448
MOST_SENDERS_Q8 = 0xfff << 15


class DartPair(DcqcnPair):
    """Both."""

    name, model = "dart", Dart

    def __init__(self):
        super().__init__()
        self.flow = self.vars.dcqcn
        self.edges = self.shared = 0

    def begin(self, r, any_):
        self.start(any_ and r, 4, True, min_rtt_ns=r.magnitude(0, 10000000),
                   now_ns=r.between(0, 1000000), link_bytes_ps=r.magnitude(0, 100000000000),
                   peer_link_bytes_ps=r.magnitude(0, 100000000000),
                   mss_bytes=r.between(64, 65535), flags=bool(r.between(0, 7)) * 0x8)
        self.m.decide_start(SimpleNamespace(**numbers(self.sample)))

    def random_sample(self, r, _):
        """Any n."""
        link = r.between(0, 7) and r.magnitude(1, 1 << 37)
        peer = r.between(0, 3) and r.magnitude(1, 1 << 37)
        senders = r.between(0, 7) and r.magnitude(256, MOST_SENDERS_Q8)
        return self.random_flow(r, min(link or peer, peer or link)) | {
            "link_bytes_ps": link, "peer_link_bytes_ps": peer,
            "senders_q8": senders if r.between(0, 7) else 256,
            "header_bytes": r.between(78, 200) if r.between(0, 3) else 0}

    def follow(self):
        super().follow()
        self.m.shared_before = self.stats.apportioned

    def is_edge(self):
        """
        The share is rounded down to a byte/s, which may take away the last of the segments that
        the window is rounded up to: then it may be a segment less.
        """
        m = self.m
        if not m.segments:
            return False
        lost = m.time / 1e9 / m.mss + m.segments * 2**-50
        return ceil(m.segments - lost) != ceil(m.segments + 1e-12)

    def same_decision(self, errors, rate, window):
        """Within these bounds."""
        m, out = self.m, self.out
        if isinf(m.pacing) or out.pacing_bytes_ps == UNLIMITED:
            errors.same("unpaced", isinf(m.pacing) and out.pacing_bytes_ps == UNLIMITED)
        else:
            errors.near("rate", out.pacing_bytes_ps, m.pacing, rate)
        if self.is_edge():
            self.edges += 1
        else:
            errors.near("window", out.window_q16 * 2**-16, m.w, window)

    def compare(self, errors, before, event):
        bound = self.rate_bound(before, event == IDLE)
        self.same_decision(errors, bound + 2,
                           self.window_bound(before, self.sample.acked_bytes, bound))
        self.shared += self.stats.apportioned != before.shared_before

    def enough(self):
        return {"few_edges": self.edges < STEPS / 100,
                "share_governed": self.shared > STEPS / 10}


def starts():
    """At the line's rate, before any sender was counted."""
    r, errors, pair = Random(9), Errors("dart", "start"), DartPair()
    for _ in range(STEPS // 50):
        pair.begin(r, True)
        pair.same_decision(errors, 2, pair.window_bound(pair.m, 0, 0))
    errors.finish()


def long_run():
    """
    Both start together; the receiver states n of senders that come and go, and the network is the
    bottleneck, and marks, where it states 1.
    """
    r, errors, pair = Random(9), Errors("dart", "long"), DartPair()
    notifications = shared = 0
    lines = {"link_bytes_ps": 2 * LINE_BYTES_PS, "peer_link_bytes_ps": LINE_BYTES_PS,
             "mss_bytes": MSS}
    for _ in range(LONG_EPISODES):
        now_ns, n_q8 = 0, 256
        pair.start(min_rtt_ns=4300, flags=0x8, **lines)
        pair.m.pacing = LINE_BYTES_PS
        for _ in range(LONG_STEPS):
            if not r.between(0, 99):
                n_q8 = r.magnitude(256, 64 * 256) if r.between(0, 1) else 256
            now_ns += int(10 * MSS * 1e9 / pair.m.pacing + 1)
            pair.step(ACK, acked_bytes=10 * MSS, now_ns=now_ns, senders_q8=n_q8,
                      marked_bytes=MSS if n_q8 == 256 and not r.between(0, 49) else 0, **lines)
            pair.same_decision(errors, LONG_RELATIVE * pair.m.pacing + 3,
                               2 + LONG_RELATIVE * pair.m.w)
        shared += pair.stats.apportioned
        notifications += pair.stats.dcqcn.notifications
    print(f"# the share governed {shared}, {notifications} notifications, {pair.edges} edges")
    errors.finish(saw_both_kinds=shared > LONG_EPISODES * LONG_STEPS / 10 and
                  notifications > 20 * LONG_EPISODES)


if __name__ == "__main__":
    main(starts, lambda: single_steps(DartPair(), "any"),
         lambda: single_steps(DartPair(), "standard"), long_run)
