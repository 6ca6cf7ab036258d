#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""
The core of hpcc_vaisf beside its model.

usage: test_hpcc_vaisf_model.py OUTDIR
"""

import copy

from hpcc_vaisf_model import HpccVaisf
from models import STEPS, main, numbers, single_steps
from test_hpcc_model import LONG_RELATIVE, HpccPair, long_run

MEMORY = ("measured", "bank_tokens", "sampled_pkts")


class HpccVaisfPair(HpccPair):
    """Both."""

    name, model = "hpcc_vaisf", HpccVaisf
    most_ambiguous = 1 / 10
    # As HPCC's; and 2^-16 * (1 + 100 / 8) = 2.1e-4 of the increase.
    standard_relative = 4e-4

    def __init__(self):
        super().__init__()
        self.flow, self.flow_stats = self.vars.hpcc, self.stats.hpcc

    def state(self):
        return super().state() | numbers(self.vars.vaisf)

    def follow(self):
        super().follow()
        self.m.spent, self.m.spent_before = 0, self.stats.spent

    def random_sample(self, r, event):
        """Random state of the two mechanisms as well."""
        v, p = self.vars.vaisf, self.params.vaisf
        v.measured = 0 if r.between(0, 1) else r.magnitude(0, 1 << 30)
        v.dampener_q16 = r.magnitude(0, 1 << 30)
        v.bank_tokens = r.magnitude(0, p.bank_cap_tokens)
        v.sampled_pkts = r.magnitude(0, 60000)
        return super().random_sample(r, event)

    def window_bound(self, before, du):
        """
        The increase adds to HPCC's: the step is rounded down by 2^-16 byte and multiplied; the
        multiplier is rounded down by 2^-16 and lacks the effect of 2^-16 of dampener, at most
        tokens / constant times that; one more 2^-16 byte in the product.
        """
        p, step = self.m.vp, self.m.w_ai
        slope = min(p.ai_cap_tokens, p.bank_cap_tokens) / p.dampener
        return (super().window_bound(before, du) +
                2**-16 * (p.ai_cap_tokens + step * (1 + slope) + 1) +
                step * p.ai_cap_tokens * 2**-44)

    def unlimited_window(self, m, before, spent):
        """Of a flow with the state @before and U and tokens of @m, before any were spent."""
        now = copy.copy(before)
        now.u, now.dampener = m.u, m.dampener
        now.bank_tokens = min(m.bank_tokens + spent, m.vp.bank_cap_tokens)
        return now.compute_wind(m.w_ai * now.multiplier())

    def is_branch_ambiguous(self, before, bound):
        m = self.m
        return ((m.f_util or before.f_util) and
                abs(self.unlimited_window(m, before, m.spent) - before.wc) <= bound)

    def is_close(self, ahead):
        """An additive increase counts as an increase however small it is."""
        m = self.m
        return super().is_close(ahead) or (
            (ahead.u >= m.p.eta or m.inc_stage >= m.p.max_stage) and
            abs(self.unlimited_window(ahead, m, ahead.spent - m.spent) - m.wc) <=
            LONG_RELATIVE * m.wc)

    def same_memory(self, errors, dampener=2**-16):
        """But for the dampener's last bit; it is added to 1: its error is relative to 1 below."""
        super().same_memory(errors, dampener)
        v, m = self.state(), self.m
        errors.same("tokens", all(v[name] == getattr(m, name) for name in MEMORY))
        errors.near("dampener", v["dampener"], m.dampener, dampener, of=max(m.dampener, 1))

    def compare(self, errors, before, event):
        super().compare(errors, before, event)
        m = self.m
        errors.same("tokens_spent", self.stats.spent - before.spent_before == m.spent)
        self.count(more=m.multiplier() > 1, spent=m.spent, rose=m.wc > before.wc,
                   fell=m.wc < before.wc)

    def enough(self):
        return {"measured": self.seen["measured"] > STEPS / 4} | {
            name: self.seen[name] > STEPS / 50 for name in ("more", "spent", "rose", "fell")}

    def drift(self, before, drift):
        """The dampener loses a last bit a round trip since it was 0."""
        m = self.m
        drift.dampener = drift.dampener if m.dampener else 0
        if m.dampener != before.dampener:
            drift.dampener += 2**-16
        return (super().drift(before, drift) +
                m.w_ai * m.vp.ai_cap_tokens / m.vp.dampener * drift.dampener)


if __name__ == "__main__":
    main(lambda: single_steps(HpccVaisfPair(), "any"),
         lambda: single_steps(HpccVaisfPair(), "standard"), lambda: long_run(HpccVaisfPair()))
