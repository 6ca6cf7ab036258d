// SPDX-License-Identifier: GPL-2.0
/*
 * A lost tail, found by a timer in nanoseconds.
 *
 * The last segments of a message have nothing behind them whose SACK would show
 * that they are lost.  TCP's own timers then wait at least two jiffies (loss
 * probe) or 200 ms (timeout), thousands of round trips of a datacenter.  Here
 * each flow with data outstanding has a high-resolution timer:
 *
 *	sent		due = when it has left the interface + timeout
 *	ACK delivers	due = the later of now and that + timeout, probes = 0
 *	due		one segment is sent again, probes += 1
 *
 *	timeout = max(floor, 2 * srtt + 4 * var) << (probes + patience)
 *	floor = tail-floor, on links below 100 Gbit/s longer in proportion
 *
 * with srtt and var as in RFC 6298, but of the flow's nanosecond round-trip
 * times up to the stack, and of the handshake's before the first.  After
 * tail-probes of them in a row without an answer TCP's own timers are next;
 * nothing is sent while TCP waits for the answer to a timeout.
 *
 * A probe is the last segment outstanding, as in RFC 8985, section 7: if others
 * before it are lost, its SACK shows that, and RACK has them sent again.  Were it
 * the first, and late, not lost, RACK would take the late acknowledgment for the
 * probe's, and everything sent before the probe for lost.  Where retransmissions
 * are all there is outstanding, it is the first of them; and where the window had
 * no room for what is known to be lost, the stack chooses.
 *
 * What a probe leaves behind is what the stack's own loss probe does: neither
 * lost_out nor retrans_out count it, it is no congestion event, and F-RTO, undo
 * and Karn's rule see a segment that was sent twice.  It is sent by the stack:
 * the segment is marked lost, the window opened by one segment, and what
 * release_sock() calls is called; then marks and window are as before.  Only the
 * state is Disorder, which has RACK look at the answer even if it is no SACK.
 * A retransmission sent again counts as lost until then, and that stays.
 *
 * A probe whose segment had arrived was spurious.  It is acknowledged sooner
 * than a round trip after it left, or reported by DSACK, and patience doubles
 * the flow's timeouts until one was not.  The core hears of a loss once, as
 * ->on_loss: when a recovery begins, or no DSACK came for an acknowledged probe.
 *
 * Lifetime: the timer holds the socket, once when queued and once when it fires;
 * the flow is freed after a grace period, which ends after the softirq it fires in.
 * The socket's owner must be able to stop it, so nobody waits for an expiry that
 * waits for the socket lock:
 *
 *	fires		unless closed or queued anew it says that it runs, and
 *			only then waits for the socket lock
 *	start		where it runs, a time is left for it, and nothing queued
 *	its end		says that it no longer runs, starts the timer for the time
 *			left, and takes no lock from there on
 *	release		says closed; where one runs, that is all, for nothing is
 *			queued nor will be.  Else the timer is cancelled, and an
 *			expiry that is waited for has no lock to wait for
 *
 * This is under ->lock, inside the socket lock and with nothing inside.
 */
#include <linux/hrtimer.h>
#include <linux/skbuff.h>
#include <net/tcp.h>
#include <compat/hrtimer.h>
#include "internal.h"

/* Another try when a process owns the socket: as long as a copy of 64 KB takes. */
#define TAIL_BUSY_NS		(20 * NSEC_PER_USEC)

/*
 * Doublings for spurious probes: tail-floor's default then exceeds 40 ms, which
 * is what a receiver may put an ACK off.
 */
#define TAIL_PATIENCE_MAX	9

/* The longest timeout before doubling, which tail-floor does not exceed. */
#define TAIL_TIMEOUT_MAX_NS	((u64)NSEC_PER_SEC)

/*
 * The link tail-floor is for: a queue of as many bytes takes longer to drain
 * into a slower one.  One of unknown speed counts as the slowest usual one.
 */
#define TAIL_LINK_BYTES_PS		12500000000ULL
#define TAIL_LINK_UNKNOWN_BYTES_PS	1250000000ULL

/* The states in which a connection may send. */
#define TAIL_STATES		(TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_CLOSING | \
				 TCPF_CLOSE_WAIT | TCPF_LAST_ACK)

/* @floor_ns is at most 10^9: the product fits. */
static u64 tail_scaled_ns(const struct quell_flow *flow, u64 floor_ns)
{
	u64 link_bytes_ps = flow->link.bytes_ps ?: TAIL_LINK_UNKNOWN_BYTES_PS;

	if (link_bytes_ps >= TAIL_LINK_BYTES_PS)
		return floor_ns;
	floor_ns = div64_u64(floor_ns * TAIL_LINK_BYTES_PS, link_bytes_ps);
	return min_t(u64, floor_ns, TAIL_TIMEOUT_MAX_NS);
}

/* How long to wait; 0 without a round-trip time, or when it is switched off. */
static u64 tail_timeout_ns(const struct quell_flow *flow)
{
	const struct quell_tail *tail = &flow->tail;
	u64 timeout_ns = 2 * tail->srtt_ns + 4 * tail->var_ns;
	u64 floor_ns;

	if (!tail->srtt_ns || tail->tries >= quell_signal_tail(flow->qnet, &floor_ns))
		return 0;
	timeout_ns = clamp(timeout_ns, tail_scaled_ns(flow, floor_ns), TAIL_TIMEOUT_MAX_NS);
	/* At most 10^9 << (8 + 9): far from overflow. */
	return timeout_ns << (tail->tries + tail->patience);
}

static void tail_queue(struct quell_tail *tail, u64 at_ns)
{
	WRITE_ONCE(tail->at_ns, at_ns);
	hrtimer_start(&tail->timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_PINNED_SOFT);
}

/*
 * Has the timer fire at @at_ns.  An expiry that does not run yet, or no longer, has
 * a reference of its own; if it queued the timer again, that time is as good.
 */
static void tail_start(struct quell_tail *tail, u64 at_ns)
{
	int taken;

	spin_lock_bh(&tail->lock);
	if (tail->closed)
		goto unlock;
	if (tail->running) {
		WRITE_ONCE(tail->at_ns, at_ns);
		WRITE_ONCE(tail->again, true);
		goto unlock;
	}
	taken = hrtimer_try_to_cancel(&tail->timer);
	if (taken < 0 && hrtimer_is_queued(&tail->timer))
		goto unlock;
	if (taken <= 0)
		sock_hold(tail->sk);
	tail_queue(tail, at_ns);
unlock:
	spin_unlock_bh(&tail->lock);
}

/* One that fires sooner is left alone: it will look when, and start again. */
static void tail_wake(struct quell_tail *tail, u64 at_ns)
{
	bool awaited = hrtimer_is_queued(&tail->timer) || READ_ONCE(tail->again);

	if (!awaited || READ_ONCE(tail->at_ns) > at_ns)
		tail_start(tail, at_ns);
}

/* Something left or was acknowledged: what is outstanding is due later. */
static void tail_put_off(struct quell_flow *flow, u64 now_ns)
{
	struct quell_tail *tail = &flow->tail;
	u64 timeout_ns = tail_timeout_ns(flow);

	tail->due_ns = 0;
	if (!timeout_ns)
		return;
	tail->due_ns = max(now_ns, tail->left_ns) + timeout_ns;
	tail_wake(tail, tail->due_ns);
}

/**
 * quell_tail_sent() - data or a FIN leaves, new or again
 * @flow:    flow
 * @left_ns: when its last bit has left the interface, CLOCK_MONOTONIC, ns
 *
 * Context: socket lock.
 */
void quell_tail_sent(struct quell_flow *flow, u64 left_ns)
{
	flow->tail.left_ns = left_ns;
	tail_put_off(flow, left_ns);
}

/**
 * quell_tail_timed() - a round trip was measured
 * @flow:   flow
 * @rtt_ns: from the departure until the stack looked at the ACK, ns
 *
 * RFC 6298, in ns.  Of a constant time the mean comes within 4 ns, the deviation
 * to 0.
 *
 * Context: socket lock.
 */
void quell_tail_timed(struct quell_flow *flow, u64 rtt_ns)
{
	struct quell_tail *tail = &flow->tail;
	u64 error_ns = max(tail->srtt_ns, rtt_ns) - min(tail->srtt_ns, rtt_ns);

	tail->var_ns = (3 * tail->var_ns + error_ns) / 4;
	tail->srtt_ns = (7 * tail->srtt_ns + rtt_ns + 4) / 8;
}

static void tail_spurious(struct quell_flow *flow)
{
	struct quell_tail *tail = &flow->tail;

	tail->probe = QUELL_PROBE_NONE;
	tail->patience = min_t(u8, tail->patience + 1, TAIL_PATIENCE_MAX);
	quell_count(flow->qnet, QUELL_N_TAIL_PROBES_SPURIOUS);
}

static void tail_recovered(struct quell_flow *flow, struct sock *sk)
{
	struct quell_tail *tail = &flow->tail;

	tail->probe = QUELL_PROBE_NONE;
	if (tail->patience)
		tail->patience--;
	quell_count(flow->qnet, QUELL_N_TAIL_RECOVERED);
	if (!tail->heard) {
		quell_cc_on_loss(sk);
		/* This one was true, and is no part of what TCP may find false. */
		flow->undo = (struct quell_undo) {};
	}
}

/*
 * What is known of the last probe by now.  Its own acknowledgment takes a round
 * trip.  If it was the segment's, which was late by more than that, a DSACK for
 * the probe follows as long after it as the probe left after the segment; a
 * round trip more is for a queue that grew meanwhile.
 */
static void tail_judge(struct quell_flow *flow, struct sock *sk, u64 now_ns)
{
	struct quell_tail *tail = &flow->tail;
	struct tcp_sock *tp = tcp_sk(sk);

	if (tail->probe == QUELL_PROBE_NONE)
		return;
	if (tp->dsack_dups != tail->dsacks) {
		tail_spurious(flow);
	} else if (tail->probe == QUELL_PROBE_ANSWERED) {
		if (now_ns >= tail->verdict_ns)
			tail_recovered(flow, sk);
	} else if (!before(tp->snd_una, tail->probe_end)) {
		if (now_ns < tail->probe_ns + flow->now.min_rtt_ns) {
			tail_spurious(flow);
			return;
		}
		tail->probe = QUELL_PROBE_ANSWERED;
		tail->verdict_ns = now_ns + tail->wait_ns + tail->srtt_ns;
		tail_wake(tail, tail->verdict_ns);
	}
}

/**
 * quell_tail_heard() - a recovery begins, of which the core is told
 * @flow:    flow
 * @timeout: because TCP's timer fired: the last probe did not help
 *
 * Context: socket lock, within ->set_state().
 */
void quell_tail_heard(struct quell_flow *flow, bool timeout)
{
	flow->tail.heard = true;
	if (timeout)
		flow->tail.probe = QUELL_PROBE_NONE;
}

/**
 * quell_tail_answered() - an ACK came, before the core sees it
 * @flow: flow
 * @sk:   its socket
 *
 * The core may be told of a loss.
 *
 * Context: socket lock, within ->cong_control().
 */
void quell_tail_answered(struct quell_flow *flow, struct sock *sk)
{
	tail_judge(flow, sk, tcp_sk(sk)->tcp_clock_cache);
}

/**
 * quell_tail_acked() - an ACK was looked at
 * @flow: flow
 * @sk:   its socket
 * @pkts: segments it reported delivered
 *
 * Context: socket lock, within ->cong_control().
 */
void quell_tail_acked(struct quell_flow *flow, const struct sock *sk, u32 pkts)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!pkts)
		return;
	flow->tail.tries = 0;
	if (tp->packets_out)
		tail_put_off(flow, tp->tcp_clock_cache);
}

/*
 * Whether a probe may help: the stack's own would be allowed, the receiver did
 * not take back what it had reported, and nobody waits for the answer to a
 * timeout (F-RTO must not be disturbed in that).
 */
static bool tail_allowed(const struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tcp_sock *tp = tcp_sk(sk);

	return (1 << sk->sk_state) & TAIL_STATES && !tcp_rtx_queue_empty(sk) &&
	       tp->snd_wnd && tcp_is_sack(tp) &&
	       !rcu_access_pointer(tp->fastopen_rsk) &&
	       !(TCP_SKB_CB(tcp_rtx_queue_head(sk))->sacked & TCPCB_SACKED_ACKED) &&
	       !(icsk->icsk_ca_state == TCP_CA_Loss && (icsk->icsk_retransmits || tp->frto));
}

/*
 * What tcp_mark_skb_lost() does.  Returns whether the segment counted as lost
 * already.
 */
static bool tail_mark(struct tcp_sock *tp, struct sk_buff *skb)
{
	u8 sacked = TCP_SKB_CB(skb)->sacked;
	struct sk_buff *hint = tp->retransmit_skb_hint;

	if (hint ? before(TCP_SKB_CB(skb)->seq, TCP_SKB_CB(hint)->seq) :
		   tp->retrans_out >= tp->lost_out)
		tp->retransmit_skb_hint = skb;
	if (!(sacked & TCPCB_LOST)) {
		TCP_SKB_CB(skb)->sacked |= TCPCB_LOST;
		tp->lost_out += tcp_skb_pcount(skb);
		tp->lost += tcp_skb_pcount(skb);
		return false;
	}
	if (sacked & TCPCB_SACKED_RETRANS) {
		TCP_SKB_CB(skb)->sacked &= ~TCPCB_SACKED_RETRANS;
		tp->retrans_out -= tcp_skb_pcount(skb);
		tp->lost += tcp_skb_pcount(skb);
	}
	return true;
}

/* Takes tail_mark() back, also from what the segment was cut into. */
static void tail_unmark(struct tcp_sock *tp, struct sk_buff *skb, u32 end_seq)
{
	for (; skb && before(TCP_SKB_CB(skb)->seq, end_seq); skb = skb_rb_next(skb)) {
		u8 sacked = TCP_SKB_CB(skb)->sacked;

		if (sacked & TCPCB_LOST) {
			tp->lost_out -= tcp_skb_pcount(skb);
			tp->lost -= tcp_skb_pcount(skb);
		}
		if (sacked & TCPCB_SACKED_RETRANS)
			tp->retrans_out -= tcp_skb_pcount(skb);
		TCP_SKB_CB(skb)->sacked &= ~(TCPCB_LOST | TCPCB_SACKED_RETRANS);
	}
}

/*
 * Has the stack send one lost segment, whatever the window: as at the end of a
 * time the socket was owned, when the small-queue limit had been reached.
 */
static void tail_kick(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd_pkts = tcp_snd_cwnd(tp);

	tcp_snd_cwnd_set(tp, tcp_packets_in_flight(tp) + 1);
	if (!test_and_set_bit(TCP_TSQ_DEFERRED, &sk->sk_tsq_flags))
		sock_hold(sk);
	sk->sk_prot->release_cb(sk);
	tcp_snd_cwnd_set(tp, cwnd_pkts);
}

/* Which segment is to be sent again; NULL if the stack knows. */
static struct sk_buff *tail_choose(const struct sock *sk)
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

/* Sends a segment again, its first packet if it is a burst. */
static void tail_send(struct sock *sk, struct sk_buff *skb)
{
	u32 end_seq = TCP_SKB_CB(skb)->end_seq;
	struct tcp_sock *tp = tcp_sk(sk);
	u32 stamp = tp->retrans_stamp;
	int undo = tp->undo_retrans;

	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Open) {
		inet_csk(sk)->icsk_ca_state = TCP_CA_Disorder;
		tp->high_seq = tp->snd_nxt;
	}
	if (tail_mark(tp, skb)) {
		tail_kick(sk);
		return;
	}
	tail_kick(sk);
	tail_unmark(tp, skb, end_seq);
	tp->retrans_stamp = stamp;
	tp->undo_retrans = undo;
}

static void tail_probe(struct quell_flow *flow, struct sock *sk, struct sk_buff *skb)
{
	struct quell_tail *tail = &flow->tail;
	struct tcp_sock *tp = tcp_sk(sk);
	u32 sent = tp->total_retrans;

	/* Too late for a DSACK now: it would not say of which. */
	if (tail->probe == QUELL_PROBE_ANSWERED)
		tail_recovered(flow, sk);
	if (tail->probe == QUELL_PROBE_NONE)
		tail->heard = inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery;
	tail->probe = QUELL_PROBE_NONE;
	tail->wait_ns = tail_timeout_ns(flow);
	if (skb)
		tail->wait_ns = max(tail->wait_ns, ktime_get_ns() - skb->skb_mstamp_ns);
	tail->tries++;
	if (skb)
		tail_send(sk, skb);
	else
		tail_kick(sk);
	if (tp->total_retrans == sent)
		return;
	tail->probe = QUELL_PROBE_OPEN;
	tail->probe_ns = tp->tcp_clock_cache;
	tail->probe_end = skb ? TCP_SKB_CB(skb)->end_seq : tp->snd_nxt;
	tail->dsacks = tp->dsack_dups;
	WRITE_ONCE(tail->probes, tail->probes + 1);
	quell_count(flow->qnet, QUELL_N_TAIL_PROBES);
}

/* When a probe would leave; 0 none would. */
static u64 tail_probe_at_ns(const struct quell_flow *flow, struct sock *sk,
			    const struct sk_buff *skb, u64 now_ns)
{
	u64 at_ns = flow->tail.due_ns;

	if (!at_ns || !tail_allowed(sk))
		return 0;
	/* Internal pacing would not let it out. */
	if (READ_ONCE(sk->sk_pacing_status) == SK_PACING_NEEDED)
		at_ns = max(at_ns, tcp_sk(sk)->tcp_wstamp_ns);
	/* It did not even leave the host. */
	if (at_ns <= now_ns && skb && skb_fclone_busy(sk, skb))
		at_ns = now_ns + tail_timeout_ns(flow);
	return at_ns;
}

/* The timer fired and the socket is ours. */
static void tail_expired(struct quell_flow *flow, struct sock *sk)
{
	struct sk_buff *skb = tail_choose(sk);
	struct quell_tail *tail = &flow->tail;
	u64 now_ns = ktime_get_ns();
	u64 at_ns;

	tail_judge(flow, sk, now_ns);
	at_ns = tail_probe_at_ns(flow, sk, skb, now_ns);
	if (at_ns > now_ns) {
		tail_wake(tail, at_ns);
	} else if (at_ns) {
		tail_probe(flow, sk, skb);
		/* Where it was sent, that put the next one off. */
		if (tail->due_ns <= now_ns)
			tail_put_off(flow, now_ns);
	}
	if (tail->probe == QUELL_PROBE_ANSWERED)
		tail_wake(tail, tail->verdict_ns);
}

/* Whether the timer that fired has something to do: see the top of the file. */
static bool tail_enter(struct quell_tail *tail)
{
	bool enter;

	spin_lock(&tail->lock);
	enter = !tail->closed && !hrtimer_is_queued(&tail->timer);
	tail->running = enter;
	spin_unlock(&tail->lock);
	return enter;
}

/* Its end.  Returns whether it is queued again, and keeps its reference. */
static bool tail_leave(struct quell_tail *tail)
{
	bool again;

	spin_lock(&tail->lock);
	again = tail->again && !tail->closed;
	tail->running = false;
	WRITE_ONCE(tail->again, false);
	if (again)
		tail_queue(tail, tail->at_ns);
	spin_unlock(&tail->lock);
	return again;
}

static enum hrtimer_restart tail_fired(struct hrtimer *timer)
{
	struct quell_tail *tail = container_of(timer, struct quell_tail, timer);
	struct sock *sk = tail->sk;
	bool again = false;

	/* Against quell_tail_release(): the flow is freed after a grace period. */
	rcu_read_lock();
	if (tail_enter(tail)) {
		bh_lock_sock(sk);
		if (sock_owned_by_user(sk))
			tail_start(tail, ktime_get_ns() + TAIL_BUSY_NS);
		else if (!tail->closed)
			tail_expired(container_of(tail, struct quell_flow, tail), sk);
		bh_unlock_sock(sk);
		again = tail_leave(tail);
	}
	rcu_read_unlock();
	if (!again)
		sock_put(sk);
	return HRTIMER_NORESTART;
}

/**
 * quell_tail_init() - prepare the timer of a flow
 * @flow: flow, not yet published
 * @sk:   its socket, connected
 *
 * Context: socket lock.
 */
void quell_tail_init(struct quell_flow *flow, struct sock *sk)
{
	struct quell_tail *tail = &flow->tail;

	spin_lock_init(&tail->lock);
	tail->sk = sk;
	tail->srtt_ns = quell_first_rtt_ns(sk);
	tail->var_ns = tail->srtt_ns / 2;
	quell_hrtimer_setup(&tail->timer, tail_fired, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_PINNED_SOFT);
}

/**
 * quell_tail_release() - no timer from here on
 * @flow: flow
 * @sk:   its socket
 *
 * In this order:
 *	judged		 the last probe is counted if it was spurious
 *	closed		 nobody starts the timer, whatever lock he has
 *	cancelled	 unless it runs; if it was queued, its reference goes
 * One that runs on another CPU, or has called us, waits for the socket lock or has
 * it.  It will find the flow closed and drop its reference.
 *
 * Context: socket lock, or the socket is being destroyed.
 */
void quell_tail_release(struct quell_flow *flow, struct sock *sk)
{
	struct quell_tail *tail = &flow->tail;
	bool running;

	if (tail->probe != QUELL_PROBE_NONE && tcp_sk(sk)->dsack_dups != tail->dsacks)
		tail_spurious(flow);
	spin_lock_bh(&tail->lock);
	tail->closed = true;
	running = tail->running;
	spin_unlock_bh(&tail->lock);
	if (!running && hrtimer_cancel(&tail->timer))
		__sock_put(sk);
}
