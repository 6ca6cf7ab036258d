# SPDX-License-Identifier: GPL-2.0
"""
SMaRTT, written from the paper's Algorithms 1 to 4 and equations and from the list of deviations
in Documentation/smartt.md, in their names.
"""

UNKNOWN_PATH_SEGMENTS = 10
MOST_WINDOW = 2.0**30
MOST_RTT_NS = 2**28 - 1
MOST_UNIT = (2**32 - 1) / 256
# The integer core keeps whole nanoseconds and bytes: smaller differences are undecidable.
CLOSE = 2.5


class Smartt:
    """
    A flow with parameters @p.  unsure: a comparison was too close to decide; f_qa_due is
    trigger_qa, f_fast increase, clear FastIncrease's count, pending bytes squared.
    """

    def __init__(self, p):
        self.p, self.unsure = p, False
        self.most = self.unit = self.brtt = self.mtu = 0
        self.change_path = False

    def above(self, a, b):
        """a > b"""
        if abs(a - b) <= CLOSE + (abs(a) + abs(b)) * 2**-40:
            self.unsure = True
        return a > b

    @property
    def trtt(self):
        if self.p.target_delay and self.brtt:
            return self.brtt + self.p.target_delay
        return self.brtt * self.p.target_rtt

    def clamp(self):
        self.cwnd = max(min(self.cwnd, self.most or MOST_WINDOW), self.mtu)

    def scale(self, s):
        """III-J.  Rates times delays have 63 bits: whole numbers."""
        p = self.p
        if not self.most:
            self.unit = self.mtu
        if s.link and self.brtt:
            bdp = min(int(self.brtt) * round(s.link * 1e9) // 10**9 + self.mtu, MOST_WINDOW)
            self.most = max(min(bdp * p.max_window // 1, MOST_WINDOW), 1)
            self.unit = min(self.mtu * bdp / p.scale_bdp if p.scale_bdp else self.mtu, MOST_UNIT)

    def path(self, s):
        """Returns whether the path's properties changed."""
        before = self.brtt, self.mtu
        if s.min_rtt:
            self.brtt = s.min_rtt
        elif s.rtt:
            self.brtt = min(self.brtt or s.rtt, s.rtt)
        self.mtu = s.mss or self.mtu
        return (self.brtt, self.mtu) != before

    def init_window(self):
        return self.p.init_window or self.most or UNKNOWN_PATH_SEGMENTS * self.mtu

    def start(self, s):
        self.brtt = self.mtu = 0
        self.path(s)
        self.scale(s)
        self.cwnd = self.init_window()
        self.clamp()

    def brtt_since(self, ever, since, now):
        return not ever or now - since >= self.brtt

    def can_decrease(self, now):
        return self.brtt_since(self.f_decreased, self.decrease, now)

    def severe(self, rtt):
        p = self.p
        return (self.above(rtt - self.brtt, p.qa_delay * (self.trtt - self.brtt)) and
                self.above(self.cwnd * p.qa_low, self.delivered))

    def quick_adapt(self, s, rtt, trimmed):
        """Algorithm 2"""
        p, adapted = self.p, False
        if self.f_measuring and self.above(self.trtt, s.now - self.period):
            return False
        if self.f_measuring and p.qa and (self.f_qa_due or not trimmed and self.severe(rtt)):
            self.f_qa_due, adapted = False, True
            self.cwnd = max(self.delivered, self.mtu)
            self.pending = 0
            if p.ignore:
                self.ignore = max(s.inflight - s.acked, 0)
        self.f_measuring, self.period, self.delivered = True, s.now, 0
        return adapted

    def fast_increase(self, s, rtt):
        """Algorithm 3"""
        k = min(self.p.fast, 1) if self.p.adapt else self.p.fast
        if k and not s.marked and not self.above(rtt, self.brtt + self.p.fast_slack):
            self.clear += s.acked
            if self.f_fast or self.above(self.clear, self.cwnd):
                if not s.f_app_limited:
                    self.cwnd += k * s.acked
                self.f_fast = True
            return self.f_fast
        self.clear, self.f_fast = 0, False
        return False

    def bounded(self, step):
        """adapt.md: at most a fourth of the window."""
        return (min(step, max(self.cwnd / 4, min(self.cwnd, self.mtu))) if self.p.adapt else
                step)

    def increase(self, size, rtt, high):
        """
        Equations 2 and 3 for @size unmarked bytes.  The divisor is the window at the end of the
        batch.
        """
        p, trtt, step = self.p, self.trtt, 0
        if high or p.pi_fair:
            step = p.fi_pkts * self.unit
        if not high:
            pi = self.brtt / (trtt - self.brtt)
            step += min(self.cwnd, (trtt - rtt) / rtt * pi * p.pi_pkts * self.unit)
        self.pending += size * self.bounded(step)

    def decreased(self, now):
        self.f_decreased, self.decrease = True, now
        self.f_fast, self.clear = False, 0

    def decrease_by_delay(self, now):
        """Equation 1"""
        p, trtt = self.p, self.trtt
        if self.above(self.avg_rtt, trtt) and self.can_decrease(now):
            whole = self.avg_rtt - (self.brtt if p.md_queueing else 0)
            self.cwnd *= max(1 - p.max_mdf, 1 - (self.avg_rtt - trtt) / whole * p.md)
            self.decreased(now)

    def core_cases(self, s, rtt):
        """Algorithm 1.  Returns whether the path changes."""
        high = not self.above(self.trtt, rtt)
        marked = min(s.marked, s.acked)
        if not s.f_ecn:
            marked = s.acked if high else 0
        if s.acked > marked:
            if not high and self.can_decrease(s.now):
                self.f_loss = False
            if not s.f_app_limited:
                self.increase(s.acked - marked, rtt, high)
        if marked and high:
            self.decrease_by_delay(s.now)
        elif marked and not self.f_rerouted and not self.f_new_path:
            self.f_rerouted = True
            return True
        return False

    def settle(self, s):
        is_round = self.brtt_since(True, self.round, s.now)
        self.batch_pkts += s.acked_pkts
        due = self.bounded(self.p.eta_pkts * self.unit if is_round and not s.f_app_limited else 0)
        if is_round or self.batch_pkts >= self.p.batch_pkts:
            due += self.pending / self.cwnd
            self.pending = self.batch_pkts = 0
        self.cwnd += due
        if is_round:
            self.round = s.now
            self.f_new_path, self.f_rerouted = self.f_rerouted, False
            self.scale(s)

    def ack(self, s):
        """Algorithm 4.  Returns whether the path changes."""
        p = self.p
        self.ignore = max(self.ignore - s.acked - s.trimmed - s.lost, 0)
        ignored = self.ignore > 0 and (s.marked > 0 or not p.ignore_marked)
        if ignored and p.ignore_delay:
            return False
        if s.rtt:
            rtt = max(min(s.rtt, MOST_RTT_NS), self.brtt)
            weight = min(p.avg_weight * max(s.acked_pkts, 1), 1)
            self.avg_rtt = self.avg_rtt + weight * (rtt - self.avg_rtt) if self.avg_rtt else rtt
        else:
            rtt = max(self.avg_rtt, self.brtt)
        if ignored:
            return False
        adapted = self.quick_adapt(s, rtt, False)
        increased = self.fast_increase(s, rtt)
        if adapted:
            return False
        change = not increased and self.core_cases(s, rtt)
        self.settle(s)
        return change

    def on_ack(self, s):
        if self.path(s):
            self.scale(s)
        self.rtos = 0
        self.delivered += s.acked
        self.change_path = False
        if self.brtt:
            self.change_path = self.ack(s)
        elif not s.f_app_limited:
            self.cwnd += self.mtu / self.cwnd * s.acked
        if s.trimmed:
            if not self.ignore or not self.p.ignore_trims:
                self.cwnd = max(self.cwnd - s.trimmed, self.mtu)
            self.f_qa_due = True
            if not self.ignore and self.brtt:
                self.quick_adapt(s, self.brtt, True)
        self.clamp()

    def lose(self, now):
        if self.can_decrease(now):
            factor = 1 - self.p.max_mdf
            self.cwnd *= factor if self.brtt else min(factor, 0.5)
            self.decreased(now)

    def on_loss(self, s):
        self.path(s)
        self.scale(s)
        self.change_path, self.f_loss = False, True
        self.rtos = self.pending = 0
        if not self.ignore:
            self.lose(s.now)
        self.clamp()

    def forget(self):
        self.f_measuring = self.f_qa_due = self.f_fast = False
        self.clear = self.delivered = self.pending = self.ignore = 0

    def on_rto(self, s):
        answered = self.ignore > 0
        self.path(s)
        self.scale(s)
        self.rtos += 1
        self.change_path, self.f_loss = False, True
        self.forget()
        if self.rtos >= self.p.retx_reset or not self.brtt:
            self.f_decreased, self.decrease, self.cwnd = True, s.now, 0
        elif not answered:
            self.lose(s.now)
        self.clamp()

    def on_idle(self, s):
        self.path(s)
        self.scale(s)
        self.change_path = False
        if 0 < self.p.restart_idle <= s.idle:
            init = self.init_window()
            if self.f_loss or not self.brtt:
                init = min(init, self.cwnd)
            self.cwnd = init
            self.avg_rtt = 0
            self.forget()
        self.clamp()
