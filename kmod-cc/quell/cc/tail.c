// SPDX-License-Identifier: GPL-2.0
/*
 * Tail loss, detected by a timer in nanoseconds.
 *
 * The last segments of a message have no later segment whose SACK would show
 * that they are lost.  TCP's own timers then wait at least two jiffies (loss
 * probe) or 200 ms (timeout), thousands of round trips of a datacenter.  Here
 * each flow with data outstanding has a high-resolution timer:
 *
 *	sent		due = when the data has left the interface + timeout
 *	ACK delivers	due = the later of now and that time + timeout, probes = 0
 *	due		one segment is retransmitted, probes += 1
 *
 * While data waits behind what is sent, and the window is not small, ACKs keep coming and
 * putting the probe off, and an expiry costs as much as an ACK.  After TAIL_CALM_LOOKS in vain
 * the timer of such a flow fires TAIL_BUSY_TIMEOUTS later, until something is lost.  The last
 * segment of a message has it fire in time.  Of a flow that long without a loss the loss of a
 * whole large window in mid-message is found that much later.
 *
 *	timeout = max(floor, 2 * srtt + 4 * var) << (probes + patience)
 *	floor = tail-floor, on links below 100 Gbit/s longer in proportion
 *
 * with srtt and var as in RFC 6298, but of the flow's nanosecond round-trip
 * times up to the stack, and of the handshake's before the first.  After
 * tail-probes probes in a row without an answer TCP's own timers take over; no probe is
 * sent while TCP waits for the answer to a timeout.  Probes are sent and judged in
 * probe.c; the rules for starting the timer are in tail.h.
 */
#include <linux/hrtimer.h>
#include <net/tcp.h>
#include "flow/flow.h"
#include "flow/signal.h"
#include "flow/tail.h"

/* The longest timeout before doubling, which tail-floor does not exceed. */
#define TAIL_TIMEOUT_MAX_NS	((u64)NSEC_PER_SEC)

/*
 * The link speed that tail-floor is meant for: the same queue takes longer to
 * drain into a slower link.  A link of unknown speed counts as 10 Gbit/s.
 */
#define TAIL_LINK_BYTES_PS		12500000000ULL
#define TAIL_LINK_UNKNOWN_BYTES_PS	1250000000ULL

/*
 * How late the timer of a flow may look that has more to send, in timeouts, and the largest
 * window that counts as small, in segments: in an incast such a window is lost as a whole.
 */
#define TAIL_BUSY_TIMEOUTS		8U
#define TAIL_CALM_LOOKS			64U
#define TAIL_SMALL_WINDOW_SEGS		8U

/* @floor_ns is at most 10^9: the product fits. */
static u64 tail_scaled_ns(const struct quell_flow *flow, u64 floor_ns)
{
	u64 link_bytes_ps = READ_ONCE(flow->link.bytes_ps);

	if (!link_bytes_ps)
		link_bytes_ps = TAIL_LINK_UNKNOWN_BYTES_PS;
	if (link_bytes_ps >= TAIL_LINK_BYTES_PS)
		return floor_ns;
	floor_ns = div64_u64(floor_ns * TAIL_LINK_BYTES_PS, link_bytes_ps);
	return min_t(u64, floor_ns, TAIL_TIMEOUT_MAX_NS);
}

/**
 * quell_tail_timeout_ns() - time without an acknowledgment before a probe
 * @flow: flow
 *
 * Context: bottom halves off; without the socket lock an ACK may be processed meanwhile, and
 * the result is then that of before or after it, or of both.
 * Return: ns; 0 without a round-trip time, or after tail-probes probes in a row.
 */
u64 quell_tail_timeout_ns(const struct quell_flow *flow)
{
	const struct quell_tail *tail = &flow->tail;
	const struct quell_signal_params *params = quell_signal_params_bh(flow->qnet);
	u64 srtt_ns = READ_ONCE(tail->srtt_ns), timeout_ns;
	u8 tries = READ_ONCE(tail->tries);

	if (!srtt_ns || tries >= params->tail_probes)
		return 0;
	timeout_ns = clamp(2 * srtt_ns + 4 * READ_ONCE(tail->var_ns),
			   tail_scaled_ns(flow, params->tail_floor_ns), TAIL_TIMEOUT_MAX_NS);
	/* At most 10^9 << (8 + 9), probe.c: far from overflow. */
	return timeout_ns << (tries + READ_ONCE(tail->patience));
}

/* Have the timer fire at @at_ns; @tail->lock.  The kernel moves a queued timer in one step. */
static void tail_start(struct quell_tail *tail, u64 at_ns)
{
	lockdep_assert_held(&tail->lock);
	if (tail->closed)
		return;
	WRITE_ONCE(tail->at_ns, at_ns);
	hrtimer_start(&tail->timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* Whether the timer will fire no later than @at_ns anyway; certain with @tail->lock. */
static bool tail_is_awake(struct quell_tail *tail, u64 at_ns)
{
	return hrtimer_is_queued(&tail->timer) && READ_ONCE(tail->at_ns) <= at_ns;
}

/**
 * quell_tail_start() - have the timer fire
 * @tail:  timer
 * @at_ns: when, CLOCK_MONOTONIC, ns
 *
 * Context: any but hard interrupts.
 */
void quell_tail_start(struct quell_tail *tail, u64 at_ns)
{
	spin_lock_bh(&tail->lock);
	tail_start(tail, at_ns);
	spin_unlock_bh(&tail->lock);
}

/**
 * quell_tail_wake() - have the timer fire no later than a given time
 * @tail:  timer
 * @at_ns: latest expiry, CLOCK_MONOTONIC, ns
 *
 * An earlier expiry re-checks due_ns and rearms the timer itself, so it is not changed.
 *
 * Context: any but hard interrupts.
 */
void quell_tail_wake(struct quell_tail *tail, u64 at_ns)
{
	if (!tail_is_awake(tail, at_ns))
		quell_tail_start(tail, at_ns);
}

/**
 * quell_tail_await_ack() - an ACK may wait, and the timer must find it in time
 * @tail:    timer
 * @at_ns:   when it must leave, CLOCK_MONOTONIC, ns
 * @ack_seq: sequence number after the data that it is for
 * @keep:    an ACK that must leave earlier may wait, too
 *
 * Context: any but hard interrupts; not the flow's lock.
 */
void quell_tail_await_ack(struct quell_tail *tail, u64 at_ns, u32 ack_seq, bool keep)
{
	spin_lock_bh(&tail->lock);
	keep = keep && tail->ack_waits;
	if (!keep || (s32)(tail->ack_ns - (u32)at_ns) > 0)
		tail->ack_ns = at_ns;
	if (!keep || after(ack_seq, tail->ack_seq))
		tail->ack_seq = ack_seq;
	tail->ack_waits = true;
	at_ns += (s32)(tail->ack_ns - (u32)at_ns);
	if (!tail_is_awake(tail, at_ns))
		tail_start(tail, at_ns);
	spin_unlock_bh(&tail->lock);
}

/**
 * quell_tail_take_ack() - the timer has fired: must an ACK leave that may have waited?
 * @tail:   timer
 * @now_ns: now, CLOCK_MONOTONIC, ns
 *
 * If it may wait longer the timer comes again.
 *
 * Context: socket lock, bottom halves off.
 * Return: whether it must; then it is asked for no more.
 */
bool quell_tail_take_ack(struct quell_tail *tail, u64 now_ns)
{
	bool due = false;
	s32 left_ns;

	spin_lock(&tail->lock);
	if (tail->ack_waits) {
		left_ns = tail->ack_ns - (u32)now_ns;
		due = left_ns <= 0;
		tail->ack_waits = !due;
		if (!due && !tail_is_awake(tail, now_ns + left_ns))
			tail_start(tail, now_ns + left_ns);
	}
	spin_unlock(&tail->lock);
	return due;
}

/*
 * Sets when a probe is due; returns when the timer must look by then, 0: never.
 *
 * LOCAL_OUT may come without the socket lock (locking.md), while an expiry reads the due time.
 * So it changes under @tail->lock, in one step with starting the timer: an expiry that has
 * read it before that finds its timer queued again, and one that reads it later sees the new
 * time.
 */
static u64 tail_set_due(struct quell_tail *tail, bool busy, u64 now_ns, u64 timeout_ns)
{
	lockdep_assert_held(&tail->lock);
	tail->due_ns = timeout_ns ? max(now_ns, tail->left_ns) + timeout_ns : 0;
	return tail->due_ns + (busy ? TAIL_BUSY_TIMEOUTS * timeout_ns : 0);
}

/*
 * A segment leaves with the ACK that waits.  Whether the timer, which is set for that ACK, may
 * come later: an expiry costs more than to set it anew.  The verdict on a probe may have found it
 * set early enough.
 */
static bool tail_lets_ack_go(struct quell_tail *tail, u32 ack_seq)
{
	lockdep_assert_held(&tail->lock);
	if (!tail->ack_waits || before(ack_seq, tail->ack_seq))
		return false;
	tail->ack_waits = false;
	return (u32)tail->at_ns == tail->ack_ns && READ_ONCE(tail->probe) == QUELL_PROBE_NONE;
}

/* Whether ACKs will put the probe off before it is due, if data waits to be sent. */
static bool tail_is_calm(const struct quell_flow *flow)
{
	return READ_ONCE(flow->tail.calm) >= TAIL_CALM_LOOKS &&
	       READ_ONCE(tcp_sk(flow->tail.sk)->snd_cwnd) > TAIL_SMALL_WINDOW_SEGS;
}

/* Whether they will; the socket is locked. */
static bool tail_is_busy(const struct quell_flow *flow)
{
	const struct tcp_sock *tp = tcp_sk(flow->tail.sk);

	return tp->write_seq != tp->snd_nxt && tail_is_calm(flow);
}

/**
 * quell_tail_put_off() - postpone the probe, because data was acknowledged
 * @flow:   flow
 * @now_ns: now, CLOCK_MONOTONIC, ns
 *
 * Context: socket lock, bottom halves off.
 */
void quell_tail_put_off(struct quell_flow *flow, u64 now_ns)
{
	u64 timeout_ns = quell_tail_timeout_ns(flow), wake_ns;
	struct quell_tail *tail = &flow->tail;

	spin_lock(&tail->lock);
	wake_ns = tail_set_due(tail, tail_is_busy(flow), now_ns, timeout_ns);
	if (wake_ns && !tail_is_awake(tail, wake_ns))
		tail_start(tail, wake_ns);
	spin_unlock(&tail->lock);
}

/**
 * quell_tail_expect() - the timer has fired before a probe is due: have it look again
 * @flow:  flow
 * @at_ns: when a probe is due now, CLOCK_MONOTONIC, ns
 *
 * Context: socket lock, bottom halves off.
 */
void quell_tail_expect(struct quell_flow *flow, u64 at_ns)
{
	if (flow->tail.calm < TAIL_CALM_LOOKS)
		WRITE_ONCE(flow->tail.calm, flow->tail.calm + 1);
	if (tail_is_busy(flow))
		at_ns += TAIL_BUSY_TIMEOUTS * quell_tail_timeout_ns(flow);
	quell_tail_wake(&flow->tail, at_ns);
}

/**
 * quell_tail_sent() - data or a FIN is sent or retransmitted
 * @flow:    flow
 * @is_tail: no data waits behind it
 * @left_ns: when its last bit has left the interface, CLOCK_MONOTONIC, ns; not 0
 * @ack_seq: its acknowledgment number
 *
 * Context: LOCAL_OUT hook, bottom halves off, any lock of the caller; not @flow's.
 */
void quell_tail_sent(struct quell_flow *flow, bool is_tail, u64 left_ns, u32 ack_seq)
{
	u64 timeout_ns = quell_tail_timeout_ns(flow), wake_ns;
	struct quell_tail *tail = &flow->tail;

	spin_lock(&tail->lock);
	tail->left_ns = left_ns;
	wake_ns = tail_set_due(tail, !is_tail && tail_is_calm(flow), left_ns, timeout_ns);
	if ((tail_lets_ack_go(tail, ack_seq) || !tail_is_awake(tail, wake_ns)) && wake_ns)
		tail_start(tail, wake_ns);
	spin_unlock(&tail->lock);
}

/**
 * quell_tail_timed() - a round trip was measured
 * @flow:   flow
 * @rtt_ns: from the departure until the stack looked at the ACK, ns
 *
 * RFC 6298, in ns.  If the round-trip time is constant, the mean converges to within
 * 4 ns of it and the deviation to at most 4 ns.
 *
 * Context: socket lock.
 */
void quell_tail_timed(struct quell_flow *flow, u64 rtt_ns)
{
	struct quell_tail *tail = &flow->tail;
	u64 error_ns = max(tail->srtt_ns, rtt_ns) - min(tail->srtt_ns, rtt_ns);

	WRITE_ONCE(tail->var_ns, (3 * tail->var_ns + error_ns) / 4);
	WRITE_ONCE(tail->srtt_ns, (7 * tail->srtt_ns + rtt_ns + 4) / 8);
}
