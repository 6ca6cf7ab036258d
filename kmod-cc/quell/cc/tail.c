// SPDX-License-Identifier: GPL-2.0
/*
 * Tail loss, detected by a timer in nanoseconds.
 *
 * The last segments of a message have no later segment with a SACK that would show
 * that they are lost.  TCP's own timers then take at least two jiffies (loss
 * probe) or 200 ms (timeout), thousands of round trips of a datacenter.  Here
 * each flow with data outstanding has a high-resolution timer:
 *
 *	deadline	end of the last segment's transmission, or time of the last
 *			acknowledgment, the later of both, + timeout
 *	ACK delivers	probes = 0
 *	expiry		one segment is retransmitted, probes += 1
 *	the same, late	the timer is set for another timeout, once; probe.c
 *	expiry before	the timer is set for the deadline as it is now
 *
 * An ACK does not move the timer, and a segment only if it would fire too late for it.
 *
 * While more data is queued behind the segments sent, and the window is not small, each ACK moves
 * the deadline, and an expiry costs as much as an ACK.  After TAIL_IDLE_EXPIRIES without a probe
 * the timer of such a flow fires TAIL_BUSY_TIMEOUTS later, until a segment is lost.  The last
 * segment of a message has it fire in time.  Of a flow that long without a loss the loss of a
 * whole large window in mid-message is detected that much later.
 *
 *	timeout = max(floor, 2 * srtt + 4 * var) << (probes + patience)
 *	floor = tail-floor, on links below 100 Gbit/s longer in proportion
 *
 * with srtt and var as in RFC 6298, but of the flow's nanosecond round-trip
 * times up to the stack, and of the handshake's before the first.  After
 * tail-probes probes in a row without an ACK TCP's own timers take over; no probe is
 * sent while TCP expects the ACK of a timeout's retransmission.  Probes are in probe.c.
 *
 * Lifetime: a queued timer holds no reference.
 *
 *	probe_enter()		unless the flow is closed, the expiry takes a reference to the
 *				socket, and only then the socket lock
 *	quell_probe_release()	closes the flow, after which the timer is not started, and
 *				cancels it unless its handler runs, so as not to wait for it
 *				with the socket lock.  On PREEMPT_RT that would be to wait for
 *				all handlers of a CPU, TCP's among them, which may wait for
 *				this very socket
 *	flow_free_rcu()		cancels a timer that was queued while its handler ran, and
 *				waits for the handler, without a lock
 *
 * The lock of the flow protects these steps, and @timer, @fires_ns, @tx_end_ns, @ack_ns and
 * @ack_seq with them, for LOCAL_OUT sets them with or without the socket lock.  @fires_ns stays
 * set until the handler has begun: an expiry set earlier than that needs no timer of its own.  The
 * handler considers it, or starts the timer again if a process has the socket.
 */
#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <net/tcp.h>
#include "cc/cc.h"
#include "signal/signal.h"

/* The longest timeout before doubling, which tail-floor does not exceed. */
#define TAIL_TIMEOUT_MAX_NS	((u64)NSEC_PER_SEC)

/* Of a link of unknown speed: ns for a byte at 10 Gbit/s, Q32. */
#define TAIL_LINK_UNKNOWN_NS_Q32	3435973836ULL

/*
 * Delay of the timer of a flow with more data queued, in timeouts, and the largest window that
 * counts as small, in segments: in an incast such a window is lost as a whole.
 */
#define TAIL_BUSY_TIMEOUTS		8U
#define TAIL_IDLE_EXPIRIES		64U
#define TAIL_SMALL_WINDOW_SEGS		8U

/* The time without an acknowledgment before a probe. */
static void tail_update(struct quell_flow *flow)
{
	const struct quell_signal_params *params = quell_signal_params_bh(flow->qnet);
	struct quell_tail *tail = &flow->tail;
	u64 floor_ns = params->tail_floor_ns, timeout_ns = 0;
	u64 ns_q32 = flow->link.ns_q32 ?: TAIL_LINK_UNKNOWN_NS_Q32;

	lockdep_assert_held(&flow->lock);
	/*
	 * tail-floor is meant for 100 Gbit/s: the same queue takes longer to drain into a slower
	 * link.  The bytes of 100 Gbit/s in that time, at most 12.5 * 10^9, on this link.
	 */
	floor_ns = max(floor_ns, mul_u64_u64_shr(floor_ns * 25 / 2, ns_q32, 32));
	if (tail->srtt_ns && tail->tries < params->tail_probes)
		timeout_ns = clamp(2 * tail->srtt_ns + 4 * tail->var_ns,
				   min(floor_ns, TAIL_TIMEOUT_MAX_NS), TAIL_TIMEOUT_MAX_NS);
	/* At most 10^9 << (8 + 9), probe.c: far from overflow. */
	tail->timeout_ns = timeout_ns << (tail->tries + tail->patience);
}

/*
 * The time is 0 without a round-trip time, or after tail-probes probes in a row.  Bottom halves
 * off; socket lock, not the flow's.
 */
void quell_tail_update(struct quell_flow *flow)
{
	spin_lock(&flow->lock);
	tail_update(flow);
	spin_unlock(&flow->lock);
}

/* Have the timer fire at @at_ns, unless it fires earlier anyway or, with @move, in any case. */
static void tail_start(struct quell_flow *flow, u64 at_ns, bool move)
{
	struct quell_tail *tail = &flow->tail;

	lockdep_assert_held(&flow->lock);
	if (flow->closed || (!move && tail->fires_ns && tail->fires_ns <= at_ns))
		return;
	tail->fires_ns = at_ns;
	/* The kernel moves a queued timer in one step. */
	hrtimer_start(&tail->timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* Have the timer fire no later than @at_ns.  Not in hard interrupts, nor with the flow's lock. */
void quell_tail_arm(struct quell_flow *flow, u64 at_ns)
{
	spin_lock_bh(&flow->lock);
	tail_start(flow, at_ns, false);
	spin_unlock_bh(&flow->lock);
}

/*
 * An ACK may be delayed until @at_ns; @keep: as may one that has to be sent earlier.
 * Not in hard interrupts, nor with the flow's lock.
 */
void quell_tail_delay_ack(struct quell_flow *flow, u64 at_ns, u32 ack_seq, bool keep)
{
	struct quell_tail *tail = &flow->tail;

	spin_lock_bh(&flow->lock);
	keep = keep && tail->delack_pending;
	if (!keep || (s32)(tail->ack_ns - (u32)at_ns) > 0)
		tail->ack_ns = at_ns;
	if (!keep || after(ack_seq, tail->ack_seq))
		tail->ack_seq = ack_seq;
	tail->delack_pending = true;
	tail_start(flow, at_ns + (s32)(tail->ack_ns - (u32)at_ns), false);
	spin_unlock_bh(&flow->lock);
}

/*
 * The timer has fired: whether to send an ACK that may have been delayed; true once.  If its time
 * has not come the timer is set again.  Socket lock, bottom halves off.
 */
bool quell_tail_ack_expired(struct quell_flow *flow, u64 now_ns)
{
	struct quell_tail *tail = &flow->tail;
	bool due = false;
	s32 remaining_ns;

	spin_lock(&flow->lock);
	if (tail->delack_pending) {
		remaining_ns = tail->ack_ns - (u32)now_ns;
		due = remaining_ns <= 0;
		tail->delack_pending = !due;
		if (!due)
			tail_start(flow, now_ns + remaining_ns, false);
	}
	spin_unlock(&flow->lock);
	return due;
}

/* Whether ACKs will move the deadline of the probe, if more data is queued. */
static bool tail_is_idle(const struct quell_flow *flow)
{
	return READ_ONCE(flow->tail.idle_expiries) >= TAIL_IDLE_EXPIRIES &&
	       READ_ONCE(tcp_sk(flow->sk)->snd_cwnd) > TAIL_SMALL_WINDOW_SEGS;
}

/*
 * Deadline of a probe, CLOCK_MONOTONIC; 0: never.  LOCAL_OUT may run without the socket lock
 * (locking.md) at the same time.  It sets the time and the timer in one step: an expiry that has
 * read the time before that finds its timer queued again.  Socket lock, bottom halves off.
 */
u64 quell_tail_due_ns(struct quell_flow *flow)
{
	const struct quell_tail *tail = &flow->tail;
	u64 tx_end_ns;

	spin_lock(&flow->lock);
	tx_end_ns = tail->tx_end_ns;
	spin_unlock(&flow->lock);
	return tail->timeout_ns ? max(tx_end_ns, tail->since_ns) + tail->timeout_ns : 0;
}

/* The timer has fired before the deadline @at_ns.  Socket lock, bottom halves off. */
void quell_tail_expect(struct quell_flow *flow, u64 at_ns)
{
	const struct tcp_sock *tp = tcp_sk(flow->sk);

	if (flow->tail.idle_expiries < TAIL_IDLE_EXPIRIES)
		WRITE_ONCE(flow->tail.idle_expiries, flow->tail.idle_expiries + 1);
	if (tp->write_seq != tp->snd_nxt && tail_is_idle(flow))
		at_ns += TAIL_BUSY_TIMEOUTS * flow->tail.timeout_ns;
	quell_tail_arm(flow, at_ns);
}

/* LOCAL_OUT hook, lock of @flow, any lock of the caller.  @tx_end_ns is not 0. */
void quell_tail_sent(struct quell_flow *flow, bool is_tail, u64 tx_end_ns, u32 ack_seq)
{
	struct quell_tail *tail = &flow->tail;
	u64 timeout_ns = tail->timeout_ns, next_ns;
	bool move = false;

	/*
	 * The delayed ACK is sent with this segment, a reply: the timer may fire later, as an
	 * expiry costs more than to set it anew.  The decision on a probe may need it as early.
	 * If it fires after the next reply, which takes as long as this one, that sets it.
	 */
	if (tail->delack_pending && !before(ack_seq, tail->ack_seq)) {
		tail->delack_pending = false;
		next_ns = tail->srtt_ns + ((u32)tx_end_ns - READ_ONCE(flow->delack.request_rx_ns));
		move = READ_ONCE(tail->probe) == QUELL_PROBE_NONE &&
		       tail->fires_ns < tx_end_ns + next_ns;
	}
	WRITE_ONCE(tail->tx_end_ns, tx_end_ns);
	if (!timeout_ns)
		return;
	if (!is_tail && tail_is_idle(flow))
		timeout_ns += TAIL_BUSY_TIMEOUTS * timeout_ns;
	/* Early enough for the delayed ACK of the next request, with which this is acknowledged. */
	if (move)
		timeout_ns = min(timeout_ns, tail->srtt_ns + quell_tail_ack_delay_ns(flow) / 4 * 3);
	tail_start(flow, tx_end_ns + timeout_ns, move);
}

/* Socket lock, lock of @flow. */
void quell_tail_acked(struct quell_flow *flow, u64 now_ns, bool delivered)
{
	struct quell_tail *tail = &flow->tail;

	if (delivered) {
		tail->since_ns = now_ns;
		if (tail->tries) {
			tail->tries = 0;
			tail_update(flow);
		}
	}
	/* It is not queued after the last probe in a row, or one that was not allowed. */
	if (!tail->fires_ns && tail->timeout_ns && tcp_sk(flow->sk)->packets_out)
		tail_start(flow, max(now_ns, tail->tx_end_ns) + tail->timeout_ns, false);
}

/*
 * RFC 6298, in ns, of the time from the departure until TCP processed the ACK.  If it is constant,
 * the mean converges to within 4 ns of it and the deviation to at most 4 ns.  Socket lock, lock of
 * @flow.
 */
void quell_tail_timed(struct quell_flow *flow, u64 rtt_ns)
{
	struct quell_tail *tail = &flow->tail;
	u64 error_ns = max(tail->srtt_ns, rtt_ns) - min(tail->srtt_ns, rtt_ns);

	if (tail->srtt_ns) {
		tail->var_ns = (3 * tail->var_ns + error_ns) / 4;
		tail->srtt_ns = (7 * tail->srtt_ns + rtt_ns + 4) / 8;
	} else {
		tail->var_ns = rtt_ns / 2;
		tail->srtt_ns = rtt_ns;
	}
	tail_update(flow);
}
