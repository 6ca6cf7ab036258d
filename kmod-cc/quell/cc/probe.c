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
 *	the same, late	the timer is set for another timeout, once
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
 * sent while TCP expects the ACK of a timeout's retransmission.
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
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/skbuff.h>
#include <net/tcp.h>
#include <compat/hrtimer.h>
#include <compat/tcp_ecn.h>
#include "cc/cc.h"
#include "signal/dasr.h"
#include "signal/signal.h"
#include "tcp/tcp_internals.h"

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
static void tail_set_timeout(struct quell_flow *flow)
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
	/* At most 10^9 << (8 + 9): far from overflow. */
	tail->timeout_ns = timeout_ns << (tail->tries + tail->patience);
}

/*
 * The time is 0 without a round-trip time, or after tail-probes probes in a row.  Bottom halves
 * off; socket lock, not the flow's.
 */
static void tail_update(struct quell_flow *flow)
{
	spin_lock(&flow->lock);
	tail_set_timeout(flow);
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
static void tail_arm(struct quell_flow *flow, u64 at_ns)
{
	spin_lock_bh(&flow->lock);
	tail_start(flow, at_ns, false);
	spin_unlock_bh(&flow->lock);
}

/*
 * An ACK may be delayed until @at_ns; @keep: as may one that has to be sent earlier.
 * Not in hard interrupts, nor with the flow's lock.
 */
static void tail_delay_ack(struct quell_flow *flow, u64 at_ns, u32 ack_seq, bool keep)
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
static bool tail_ack_expired(struct quell_flow *flow, u64 now_ns)
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
static u64 tail_due_ns(struct quell_flow *flow)
{
	const struct quell_tail *tail = &flow->tail;
	u64 tx_end_ns;

	spin_lock(&flow->lock);
	tx_end_ns = tail->tx_end_ns;
	spin_unlock(&flow->lock);
	return tail->timeout_ns ? max(tx_end_ns, tail->since_ns) + tail->timeout_ns : 0;
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
			tail_set_timeout(flow);
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
	tail_set_timeout(flow);
}

/*
 * Delayed ACKs of requests.
 *
 * A receiver of ours acknowledges a packet with PSH at once, receive.c, and so each
 * request.  Where two programs take turns, every exchange is then four packets, two of them
 * pure ACKs; the stack's delayed ACK would be part of the reply, and make it two.
 *
 * So the ACK of a request is delayed if the last replies of the program were prompt:
 *
 *	request		the packet ends a message and acknowledges all that this end sent
 *	reply		the next new data of this end
 *	prompt		within quell_tail_ack_delay_ns() of the request; DELACK_PROMPT_MIN in a row
 *
 * If no reply is sent in that time the timer of the flow sends the ACK, and the next ones are
 * not delayed until replies have been prompt again.  A reply moves the timer to the time by which
 * the next request has to be acknowledged, quell_tail_sent(), unless it fires after the next reply
 * anyway.  It would fire for each request, and need not be set for the next one.  The delay is half
 * of tail-floor's default or, without the option, half of a round trip: the peer, which allows for
 * two, sends no tail loss probe meanwhile.
 *
 * The Quell option states how long an ACK was delayed.  Without it the round-trip time of a reply
 * includes the program's time and is no sample (ack.c), so every DELACK_SAMPLE_INTERVAL-th
 * request is then acknowledged at once.
 */

/* Delay of an ACK while a process owns the socket: the time to copy 64 KB. */
#define DELACK_BUSY_NS		(20U * NSEC_PER_USEC)
#define DELACK_PROMPT_MIN	4
#define DELACK_SAMPLE_INTERVAL	64

/*
 * Whether the ACK of a request, received up to @end_seq, may be delayed for the program's reply:
 * then the flow's timer sends it quell_tail_ack_delay_ns() after the oldest request without one.
 * LOCAL_IN hook, neither the socket lock nor that of @flow.
 */
bool quell_delack_start(struct quell_flow *flow, u64 rx_ns, u32 end_seq, bool marked)
{
	struct quell_delack *delack = &flow->delack;
	bool another = READ_ONCE(delack->has_request);
	u8 turn;

	WRITE_ONCE(delack->has_request, true);
	if (!another)
		WRITE_ONCE(delack->request_rx_ns, (u32)rx_ns);
	if (READ_ONCE(delack->prompt) < DELACK_PROMPT_MIN || marked)
		return false;
	turn = READ_ONCE(delack->turn) + 1;
	WRITE_ONCE(delack->turn, turn);
	if (READ_ONCE(flow->option) != QUELL_OPTION_ON && !(turn % DELACK_SAMPLE_INTERVAL))
		return false;
	tail_delay_ack(flow, rx_ns + quell_tail_ack_delay_ns(flow), end_seq, another);
	quell_count(flow->qnet, QUELL_N_ACK_DELAYED);
	return true;
}

/*
 * A process owns the socket, and TCP may then delay the ACK of data.  The flow's timer sends it if
 * it is still pending when the process releases the socket.  Not in hard interrupts, nor with the
 * lock of @flow.
 */
void quell_delack_watch(struct quell_flow *flow, u32 end_seq)
{
	tail_delay_ack(flow, ktime_get_ns() + DELACK_BUSY_NS, end_seq, true);
}

/* TCP will acknowledge data at once, if it gets to it first.  LOCAL_IN hook. */
void quell_delack_expedite(struct quell_flow *flow, u32 end_seq)
{
	WRITE_ONCE(flow->delack.expedite_seq, end_seq);
	WRITE_ONCE(flow->delack.expedited, true);
}

/*
 * A process that takes the socket between the hook and TCP may send a packet, after which TCP has
 * no ACK to send.  The data then comes from the backlog as any other.  LOCAL_OUT hook; not the lock
 * of @flow.
 */
void quell_delack_packet_sent(struct quell_flow *flow, u32 ack_seq)
{
	u32 expedite_seq;

	/* In this order: data that is expedited meanwhile is for the next packet, or this one. */
	WRITE_ONCE(flow->delack.expedited, false);
	expedite_seq = READ_ONCE(flow->delack.expedite_seq);
	if (before(ack_seq, expedite_seq))
		quell_delack_watch(flow, expedite_seq);
}

/*
 * New data is sent, the reply to a request, with the ACK of all that TCP has processed.  The
 * request may be in the socket's backlog instead, while a process sends: quell_tail_sent() compares
 * the numbers, and an expiry checks under the socket lock.  LOCAL_OUT hook.
 */
void quell_delack_data_sent(struct quell_flow *flow, u64 now_ns)
{
	struct quell_delack *delack = &flow->delack;
	u8 prompt = READ_ONCE(delack->prompt);

	WRITE_ONCE(delack->has_request, false);
	if ((u32)now_ns - READ_ONCE(delack->request_rx_ns) > quell_tail_ack_delay_ns(flow))
		WRITE_ONCE(delack->prompt, 0);
	else if (prompt < DELACK_PROMPT_MIN)
		WRITE_ONCE(delack->prompt, prompt + 1);
}

/*
 * Send the ACK that was delayed.  Socket lock, not owned by a process; the flow's timer has fired.
 */
static void delack_expire(struct quell_flow *flow, struct sock *sk, u64 now_ns)
{
	struct quell_delack *delack = &flow->delack;

	if (!tail_ack_expired(flow, now_ns))
		return;
	/* It was sent with a reply, or TCP sent it for another reason. */
	if (!inet_csk_ack_scheduled(sk))
		return;
	/* The program was busy, or has not replied. */
	if (READ_ONCE(delack->has_request))
		WRITE_ONCE(delack->prompt, 0);
	quell_count(flow->qnet, QUELL_N_ACK_DELAY_EXPIRED);
	quell_send_ack(sk, tcp_sk(sk)->rcv_nxt);
}

/*
 * Tail loss probes: sent when the timer fires, found useful or spurious by their ACKs.
 *
 * A probe is the last outstanding segment, as in RFC 8985, section 7: if earlier
 * segments are lost, the probe's SACK shows that, and RACK retransmits them.  Were
 * it the first, and late, not lost, RACK would take the late acknowledgment for the
 * probe's, and mark everything sent before the probe lost.  If all outstanding
 * segments are retransmissions, the probe is the first of them; if segments marked
 * lost are not retransmitted yet, the stack chooses.
 *
 * A probe leaves the same state as the stack's own loss probe: lost_out and
 * retrans_out do not count it, it is not a congestion event, and F-RTO, undo and
 * Karn's rule see a retransmitted segment.  The stack sends it: the segment is
 * marked lost, the window opened by one segment, and ->release_cb() called as by
 * release_sock(); then marks and window are restored.  Only the state stays
 * Disorder, so that RACK runs on the ACK even if that carries no SACK.
 * A retransmission that is sent again was marked lost before, and stays so.
 *
 * A probe is spurious if its segment had been received, which a DSACK reports (RFC 8985,
 * section 7.4); each spurious probe doubles the flow's timeout, each useful one
 * halves it again.  An ACK sooner than any RTT sample proves neither: a lone probe is
 * queued behind no burst of its flow.
 * ->on_loss is called once per loss: when a recovery begins, or when no DSACK was
 * received for an acknowledged probe.
 */

/* First retry while a process owns the socket: the time to copy 64 KB; doubled up to 5 ms. */
#define PROBE_BUSY_NS		(20 * NSEC_PER_USEC)
#define PROBE_BUSY_DOUBLINGS	8

/*
 * A timer that fires later than a processor takes to wake up, and by such a share of the timeout:
 * the processor was not available, as to a guest.  ACKs may have been received that are not
 * processed yet, and hosts on the same machine did not send any.
 */
#define PROBE_LATE_NS		(200 * NSEC_PER_USEC)
#define PROBE_LATE_SHIFT	5

/*
 * Maximum doublings for spurious probes: tail-floor's default then exceeds 40 ms,
 * for which a receiver may delay an ACK.
 */
#define PROBE_PATIENCE_MAX	9

/* The states in which a connection may send. */
#define PROBE_STATES		(TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_CLOSING | \
				 TCPF_CLOSE_WAIT | TCPF_LAST_ACK)

static void probe_spurious(struct quell_flow *flow)
{
	struct quell_tail *tail = &flow->tail;

	WRITE_ONCE(tail->probe, QUELL_PROBE_NONE);
	tail->patience = min_t(u8, tail->patience + 1, PROBE_PATIENCE_MAX);
	tail_update(flow);
	quell_count(flow->qnet, QUELL_N_TAIL_PROBES_SPURIOUS);
}

static void probe_succeed(struct quell_flow *flow)
{
	struct quell_tail *tail = &flow->tail;

	WRITE_ONCE(tail->probe, QUELL_PROBE_NONE);
	if (tail->patience) {
		tail->patience--;
		tail_update(flow);
	}
	quell_count(flow->qnet, QUELL_N_TAIL_RECOVERED);
}

/*
 * If the ACK was for the original segment, and late, a DSACK for the probe follows as long after it
 * as the probe was sent after the segment.  One more round trip allows for a queue that grew
 * meanwhile.  Socket lock.  Returns whether the probe repaired a loss that must be reported to the
 * core.
 */
bool quell_probe_check_spurious(struct quell_flow *flow, struct sock *sk, u64 now_ns)
{
	struct quell_tail *tail = &flow->tail;
	struct tcp_sock *tp = tcp_sk(sk);

	if (tail->probe == QUELL_PROBE_NONE)
		return false;
	if (tp->dsack_dups != tail->dsacks) {
		probe_spurious(flow);
	} else if (tail->probe == QUELL_PROBE_ACKED) {
		if (now_ns < tail->verdict_ns)
			return false;
		probe_succeed(flow);
		return !tail->loss_reported;
	} else if (!before(tp->snd_una, tail->probe_end)) {
		WRITE_ONCE(tail->probe, QUELL_PROBE_ACKED);
		tail->verdict_ns = now_ns + tail->wait_ns + tail->srtt_ns;
		tail_arm(flow, tail->verdict_ns);
	}
	return false;
}

/*
 * A recovery of trimmed segments alone may call no ->on_loss: a tail loss that a probe finds then
 * is reported for itself.  Socket lock.
 */
void quell_probe_loss_reported(struct quell_flow *flow)
{
	flow->tail.loss_reported = true;
	WRITE_ONCE(flow->tail.idle_expiries, 0);
}

/* TCP's retransmission timer fired: the last probe did not help.  Socket lock, in ->set_state(). */
void quell_probe_timed_out(struct quell_flow *flow)
{
	quell_probe_loss_reported(flow);
	WRITE_ONCE(flow->tail.probe, QUELL_PROBE_NONE);
}

/*
 * Whether a probe may help: the stack's own loss probe would be allowed, the receiver has not
 * reneged on SACKed data, and TCP does not expect the reply to a timeout (a probe must not disturb
 * F-RTO).  Not for a FIN without data: the stack delays the ACK of one up to 40 ms for its own
 * end's FIN.
 */
static bool probe_is_allowed(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct sk_buff *head = tcp_rtx_queue_head(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	return (1 << sk->sk_state) & PROBE_STATES && head && tp->snd_wnd && tcp_is_sack(tp) &&
	       !rcu_access_pointer(tp->fastopen_rsk) &&
	       !(TCP_SKB_CB(head)->sacked & TCPCB_SACKED_ACKED) &&
	       (head->len || !(TCP_SKB_CB(head)->tcp_flags & TCPHDR_FIN)) &&
	       !(icsk->icsk_ca_state == TCP_CA_Loss && (icsk->icsk_retransmits || tp->frto));
}

/* The segment to send as a probe; NULL if the stack must choose. */
static struct sk_buff *probe_choose(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;

	if (tp->lost_out > tp->retrans_out)
		return NULL;
	for (skb = skb_rb_last(&sk->tcp_rtx_queue); skb; skb = skb_rb_prev(skb))
		if (!(TCP_SKB_CB(skb)->sacked & (TCPCB_SACKED_ACKED | TCPCB_LOST)))
			return skb;
	return tcp_rtx_queue_head(sk);
}

/*
 * Retransmits a segment, or the first packet of a burst, or another lost segment that TCP prefers:
 * its counts may have retransmissions of segments that are not marked lost any more, after a
 * timeout that was spurious.  @skb may be freed.
 */
static void probe_send(struct sock *sk, struct sk_buff *skb)
{
	u32 seq = TCP_SKB_CB(skb)->seq, end_seq = TCP_SKB_CB(skb)->end_seq;
	struct tcp_sock *tp = tcp_sk(sk);
	u32 stamp = tp->retrans_stamp;
	int undo = tp->undo_retrans;
	bool lost;

	quell_tcp_disorder(sk);
	lost = quell_tcp_mark_lost(sk, skb);
	quell_tcp_send_lost(sk);
	if (lost || !quell_tcp_unmark_lost(sk, seq, end_seq))
		return;
	tp->retrans_stamp = stamp;
	tp->undo_retrans = undo;
}

static void probe_run(struct quell_flow *flow, struct sock *sk, struct sk_buff *skb)
{
	struct quell_tail *tail = &flow->tail;
	struct tcp_sock *tp = tcp_sk(sk);
	u32 sent = tp->total_retrans, seq = skb ? TCP_SKB_CB(skb)->seq : tp->snd_nxt;

	/* After a second probe, a DSACK could not be attributed: decide on the first one now. */
	if (tail->probe == QUELL_PROBE_ACKED) {
		probe_succeed(flow);
		if (!tail->loss_reported)
			quell_event_tail_loss(sk);
	}
	if (tail->probe == QUELL_PROBE_NONE)
		tail->loss_reported = inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery &&
				      !flow->recover.loss_unreported;
	WRITE_ONCE(tail->probe, QUELL_PROBE_NONE);
	WRITE_ONCE(tail->idle_expiries, 0);
	tail->wait_ns = tail->timeout_ns;
	if (skb)
		tail->wait_ns = max(tail->wait_ns, ktime_get_ns() - skb->skb_mstamp_ns);
	tail->tries++;
	tail_update(flow);
	if (skb)
		probe_send(sk, skb);
	else
		quell_tcp_send_lost(sk);
	if (tp->total_retrans == sent)
		return;
	WRITE_ONCE(tail->probe, QUELL_PROBE_SENT);
	skb = quell_tcp_find(sk, seq);
	tail->probe_end = skb ? TCP_SKB_CB(skb)->end_seq : tp->snd_nxt;
	tail->dsacks = tp->dsack_dups;
	WRITE_ONCE(tail->probes, tail->probes + 1);
	quell_count(flow->qnet, QUELL_N_TAIL_PROBES);
}

/* Time at which a probe may be sent; 0: never. */
static u64 probe_at_ns(struct quell_flow *flow, struct sock *sk,
		       const struct sk_buff *skb, u64 now_ns)
{
	u64 at_ns = tail_due_ns(flow);

	if (!at_ns || !probe_is_allowed(sk))
		return 0;
	/* TCP's internal pacing would not send the probe earlier. */
	if (READ_ONCE(sk->sk_pacing_status) == SK_PACING_NEEDED)
		at_ns = max(at_ns, tcp_sk(sk)->tcp_wstamp_ns);
	/* The original is still queued in this host. */
	if (at_ns <= now_ns && skb && skb_fclone_busy(sk, skb))
		at_ns = now_ns + flow->tail.timeout_ns;
	return at_ns;
}

/*
 * The timer fired; the socket is locked and not owned by a process.  If it was late, a probe that
 * is due is put off by a timeout, and the verdict on the last one by a round trip.  That is done
 * once until data is acknowledged, as some hosts are always late.
 */
static void probe_expired(struct quell_flow *flow, struct sock *sk)
{
	struct sk_buff *skb = probe_choose(sk);
	struct quell_tail *tail = &flow->tail;
	u32 snd_una = tcp_sk(sk)->snd_una;
	bool late = tail->late && tail->late_seq != snd_una;
	u64 now_ns = ktime_get_ns();
	u64 at_ns;

	tail->busy = 0;
	tail->late = false;
	delack_expire(flow, sk, now_ns);
	if (late && tail->probe == QUELL_PROBE_ACKED && tail->verdict_ns <= now_ns) {
		tail->late_seq = snd_una;
		tail->verdict_ns = now_ns + tail->srtt_ns;
	}
	if (quell_probe_check_spurious(flow, sk, now_ns))
		quell_event_tail_loss(sk);
	if (!tcp_sk(sk)->packets_out) {
		spin_lock(&flow->lock);
		quell_segments_settle(flow);
		spin_unlock(&flow->lock);
	}
	at_ns = probe_at_ns(flow, sk, skb, now_ns);
	/* No ACK was received for long, or the connection was reset. */
	if (flow->dasr && at_ns <= now_ns)
		quell_dasr_claim(flow, 0);
	if (at_ns && at_ns <= now_ns && late) {
		tail->late_seq = snd_una;
		tail->since_ns = now_ns;
		tail_arm(flow, now_ns + tail->timeout_ns);
	} else if (at_ns > now_ns) {
		/* The timer has fired before the deadline. */
		if (tail->idle_expiries < TAIL_IDLE_EXPIRIES)
			WRITE_ONCE(tail->idle_expiries, tail->idle_expiries + 1);
		if (tcp_sk(sk)->write_seq != tcp_sk(sk)->snd_nxt && tail_is_idle(flow))
			at_ns += TAIL_BUSY_TIMEOUTS * tail->timeout_ns;
		tail_arm(flow, at_ns);
	} else if (at_ns) {
		probe_run(flow, sk, skb);
		/* It was not sent: quell_tail_sent() would have set the timer. */
		if (tail->timeout_ns && !hrtimer_is_queued(&tail->timer)) {
			tail->since_ns = now_ns;
			tail_arm(flow, now_ns + tail->timeout_ns);
		}
	}
	if (tail->probe == QUELL_PROBE_ACKED)
		tail_arm(flow, tail->verdict_ns);
}

/*
 * Begins an expiry; returns whether it must be handled.  A flow that is not closed has its socket,
 * which is then held.
 */
static bool probe_enter(struct quell_flow *flow, struct sock *sk)
{
	struct quell_tail *tail = &flow->tail;
	s64 late_ns;
	bool enter;

	spin_lock(&flow->lock);
	late_ns = ktime_get_ns() - tail->fires_ns;
	if (late_ns > (s64)max_t(u64, PROBE_LATE_NS, tail->timeout_ns >> PROBE_LATE_SHIFT))
		tail->late = true;
	/* From here on an expiry that is set needs the timer, unless it was started anew. */
	if (!hrtimer_is_queued(&tail->timer))
		tail->fires_ns = 0;
	enter = !flow->closed && refcount_inc_not_zero(&sk->sk_refcnt);
	spin_unlock(&flow->lock);
	return enter;
}

static enum hrtimer_restart probe_fired(struct hrtimer *timer)
{
	struct quell_flow *flow = container_of(timer, struct quell_flow, tail.timer);
	struct quell_tail *tail = &flow->tail;
	struct sock *sk = (struct sock *)flow->sk;

	rcu_read_lock();
	if (probe_enter(flow, sk)) {
		bh_lock_sock(sk);
		if (sock_owned_by_user(sk)) {
			/*
			 * Again when the process may have unlocked it, or earlier if a hook
			 * requests that.  A process may sleep on memory that another one serves,
			 * so each expiry is later than the last.
			 */
			tail_arm(flow, ktime_get_ns() + (PROBE_BUSY_NS << tail->busy));
			if (tail->busy < PROBE_BUSY_DOUBLINGS)
				tail->busy++;
		/* It is set with the socket lock, too; its neighbours change without. */
		} else if (data_race(!flow->closed)) {
			probe_expired(flow, sk);
		}
		bh_unlock_sock(sk);
		sock_put(sk);
	}
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* Socket lock; @flow is not published yet. */
void quell_probe_init(struct quell_flow *flow, struct sock *sk)
{
	struct quell_tail *tail = &flow->tail;

	tail->srtt_ns = quell_first_rtt_ns(sk);
	tail->var_ns = tail->srtt_ns / 2;
	rcu_read_lock_bh();
	tail_update(flow);
	rcu_read_unlock_bh();
	quell_hrtimer_setup(&tail->timer, probe_fired, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_PINNED_SOFT);
}

/*
 * In this order: the last probe is counted if it was spurious; @closed keeps the timer from being
 * started, under any lock; it is cancelled unless its handler runs.  The handler may be about to
 * take the socket lock.  A timer queued behind its handler fires once more at most, and finds the
 * flow closed.  Socket lock, or the socket is being destroyed.
 */
void quell_probe_release(struct quell_flow *flow, struct sock *sk)
{
	struct quell_tail *tail = &flow->tail;

	if (tail->probe != QUELL_PROBE_NONE && tcp_sk(sk)->dsack_dups != tail->dsacks)
		quell_count(flow->qnet, QUELL_N_TAIL_PROBES_SPURIOUS);
	spin_lock_bh(&flow->lock);
	flow->closed = true;
	spin_unlock_bh(&flow->lock);
	hrtimer_try_to_cancel(&tail->timer);
}
