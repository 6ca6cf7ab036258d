// SPDX-License-Identifier: GPL-2.0
/*
 * Tail loss probes: sent when the timer of tail.c fires, found useful or spurious by their ACKs.
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
#include <linux/hrtimer.h>
#include <linux/skbuff.h>
#include <net/tcp.h>
#include <compat/hrtimer.h>
#include "cc/cc.h"
#include "signal/dasr.h"
#include "tcp/tcp_internals.h"

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
	quell_tail_update(flow);
	quell_count(flow->qnet, QUELL_N_TAIL_PROBES_SPURIOUS);
}

static void probe_succeed(struct quell_flow *flow)
{
	struct quell_tail *tail = &flow->tail;

	WRITE_ONCE(tail->probe, QUELL_PROBE_NONE);
	if (tail->patience) {
		tail->patience--;
		quell_tail_update(flow);
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
		quell_tail_arm(flow, tail->verdict_ns);
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
	quell_tail_update(flow);
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
	u64 at_ns = quell_tail_due_ns(flow);

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
	quell_delack_expire(flow, sk, now_ns);
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
		quell_tail_arm(flow, now_ns + tail->timeout_ns);
	} else if (at_ns > now_ns) {
		quell_tail_expect(flow, at_ns);
	} else if (at_ns) {
		probe_run(flow, sk, skb);
		/* It was not sent: quell_tail_sent() would have set the timer. */
		if (tail->timeout_ns && !hrtimer_is_queued(&tail->timer)) {
			tail->since_ns = now_ns;
			quell_tail_arm(flow, now_ns + tail->timeout_ns);
		}
	}
	if (tail->probe == QUELL_PROBE_ACKED)
		quell_tail_arm(flow, tail->verdict_ns);
}

/*
 * Begins an expiry; returns whether it must be handled.  A flow that is not closed has its socket,
 * which is then held.  Lifetime: tail.c.
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
			quell_tail_arm(flow, ktime_get_ns() + (PROBE_BUSY_NS << tail->busy));
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
	quell_tail_update(flow);
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
