// SPDX-License-Identifier: GPL-2.0
/*
 * Sending again what a NACK says was trimmed, a round trip after it first left.
 *
 *	LOCAL_IN	the NACK is looked at and noted; the segment becomes an ACK
 *	->in_ack_event	TCP looks at an ACK, this or another: what was noted is
 *			marked lost, and an Open connection is in Disorder, which
 *			has TCP look for losses whatever the ACK says
 *	same ACK	TCP begins a recovery and sends what is lost, if the window
 *			has room
 *
 * Between the first two the socket may be busy and the segment in its backlog.
 * Nothing depends on that segment: what was noted is not in it, and any ACK that
 * TCP looks at later will do.
 *
 * Marked is the packet that was trimmed and nothing else.  It may be the middle of
 * a burst that was cut into packets after TCP had sent it, so the burst is cut
 * here (tcp_internals.c), always between packets: then all of TCP's counts of segments
 * stay as they are.
 *
 * A NACK may be of an older copy of a segment that is on its way again, or has
 * arrived, or somebody may have made it up.  The departure it echoes tells: it is that
 * of the newest copy, or nothing is done.
 *
 * Ignored and counted, each once: what is outside of the data sent
 * (nack-outside, and receive.c: what has no echo, or not the connection's numbers); what
 * was acknowledged, selectively too, is marked already or did not leave then
 * (nack-stale); when the other end knows no SACK, or nothing is being sent (nack-unable).
 */
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/mptcp.h>
#include <net/tcp.h>
#include "counters.h"
#include "flow.h"
#include "memory.h"
#include "net.h"
#include "path.h"
#include "recover.h"
#include "tcp_internals.h"
#include "tx.h"

/* The states in which data may be outstanding. */
#define RECOVER_STATES		(TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_CLOSING | \
				 TCPF_CLOSE_WAIT | TCPF_LAST_ACK)

/**
 * quell_recover_init() - a flow begins
 * @flow: its context
 * @sk:   its socket
 *
 * Context: socket lock, before anybody else knows of @flow.
 */
void quell_recover_init(struct quell_flow *flow, const struct sock *sk)
{
	spin_lock_init(&flow->recover.lock);
	flow->recover.lost_pkts = tcp_sk(sk)->lost;
}

/* What can be said of a NACK without the socket lock. */
static enum quell_counter recover_judge(const struct sock *sk, const struct quell_lost *lost)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 snd_una = READ_ONCE(tp->snd_una);

	/* Nor one whose handshake is not through (Fast Open): it would complete it. */
	if (!tcp_is_sack(tp) || tp->repair ||
	    !((1 << READ_ONCE(sk->sk_state)) & RECOVER_STATES))
		return QUELL_N_NACK_UNABLE;
	/* It may be here before the sender has moved snd_nxt. */
	if (after(lost->end_seq, READ_ONCE(tp->write_seq)) ||
	    before(lost->seq, snd_una - max_t(u32, READ_ONCE(tp->max_window), U16_MAX)))
		return QUELL_N_NACK_OUTSIDE;
	return after(lost->end_seq, snd_una) ? QUELL_N_NACK_RECOVERED : QUELL_N_NACK_STALE;
}

/* Room for twice as many, the first time for some; no flow has any until it needs it. */
static bool recover_grow(struct quell_recover *recover, const struct sock *sk)
{
	struct quell_lost_ring *old = recover->ring, *ring;
	u32 size = old ? 2 * old->size : QUELL_LOST_MIN;
	u32 i;

	lockdep_assert_held(&recover->lock);
	if (recover->closed || size > QUELL_LOST_MAX)
		return false;
	ring = quell_sock_alloc(sk, struct_size(ring, lost, size));
	if (!ring)
		return false;
	ring->head = 0;
	ring->size = size;
	for (i = 0; i < recover->waiting; i++)
		ring->lost[i] = old->lost[(old->head + i) % old->size];
	WRITE_ONCE(recover->ring, ring);
	kfree(old);
	return true;
}

static bool recover_put(struct quell_recover *recover, const struct sock *sk,
			const struct quell_lost *lost)
{
	struct quell_lost_ring *ring;
	bool room;

	spin_lock_bh(&recover->lock);
	room = (recover->ring && recover->waiting < recover->ring->size) ||
	       recover_grow(recover, sk);
	if (room) {
		ring = recover->ring;
		ring->lost[(ring->head + recover->waiting) % ring->size] = *lost;
		WRITE_ONCE(recover->waiting, recover->waiting + 1);
	}
	spin_unlock_bh(&recover->lock);
	return room;
}

static bool recover_get(struct quell_recover *recover, struct quell_lost *lost)
{
	struct quell_lost_ring *ring;
	bool found;

	spin_lock_bh(&recover->lock);
	found = recover->waiting;
	if (found) {
		ring = recover->ring;
		*lost = ring->lost[ring->head];
		ring->head = (ring->head + 1) % ring->size;
		WRITE_ONCE(recover->waiting, recover->waiting - 1);
	}
	spin_unlock_bh(&recover->lock);
	return found;
}

/* Nobody looks at it but with the lock. */
static void recover_free(struct quell_recover *recover)
{
	spin_lock_bh(&recover->lock);
	if (recover->closed || !recover->waiting) {
		kfree(recover->ring);
		WRITE_ONCE(recover->ring, NULL);
		WRITE_ONCE(recover->waiting, 0);
	}
	spin_unlock_bh(&recover->lock);
}

/**
 * quell_recover_release() - a flow ends
 * @flow: its context; the receive hook may still have it
 *
 * Context: socket lock, or the socket is being destroyed.
 */
void quell_recover_release(struct quell_flow *flow)
{
	spin_lock_bh(&flow->recover.lock);
	flow->recover.closed = true;
	spin_unlock_bh(&flow->recover.lock);
	recover_free(&flow->recover);
}

/**
 * quell_recover_note() - a NACK came in
 * @flow: its flow
 * @sk:   the flow's socket, not locked
 * @lost: what it said
 *
 * Context: LOCAL_IN hook, RCU read section.
 * Return: whether TCP is to look at it; otherwise it was counted and is done with.
 */
bool quell_recover_note(struct quell_flow *flow, const struct sock *sk,
			const struct quell_lost *lost)
{
	enum quell_counter verdict = recover_judge(sk, lost);

	if (verdict == QUELL_N_NACK_RECOVERED && !recover_put(&flow->recover, sk, lost))
		verdict = QUELL_N_NACK_OVERFLOW;
	if (verdict == QUELL_N_NACK_RECOVERED)
		return true;
	quell_count(flow->qnet, verdict);
	return false;
}

/*
 * The segment with just the packets of @skb that have payload of @seq to @end_seq, in
 * whole: a NACK may state the length of a burst's shortest.  All of @skb where it cannot
 * be cut; NULL when the NACK is of none of its payload: a FIN takes a number, no byte.
 */
static struct sk_buff *recover_single_out(struct sock *sk, struct sk_buff *skb, u32 seq,
					  u32 end_seq)
{
	u32 mss_bytes = TCP_SKB_CB(skb)->tcp_gso_size, first_seq = TCP_SKB_CB(skb)->seq;
	u32 from_bytes = after(seq, first_seq) ? seq - first_seq : 0;
	u32 to_bytes = min_t(u32, end_seq - first_seq, skb->len);

	if (from_bytes >= to_bytes)
		return NULL;
	/* MPTCP has notes of its own on each segment. */
	if (tcp_skb_pcount(skb) == 1 || !mss_bytes || sk_is_mptcp(sk))
		return skb;
	from_bytes -= from_bytes % mss_bytes;
	if (from_bytes) {
		if (!quell_tcp_fragment(sk, skb, from_bytes))
			return skb;
		skb = skb_rb_next(skb);
	}
	quell_tcp_fragment(sk, skb, roundup(to_bytes - from_bytes, mss_bytes));
	return skb;
}

/* Whether @ns is from @first_ns to @last_ns, modulo 2^32. */
static bool recover_between(u32 ns, u32 first_ns, u32 last_ns)
{
	return ns - first_ns <= last_ns - first_ns;
}

/*
 * Whether the flow sent @seq, of @skb, when the NACK says, in the newest copy.  What was
 * sent once left as the ring of departures has it; what was sent again, not before the
 * stack sent that, nor after the newest packet of all.
 */
static bool recover_departed(struct quell_flow *flow, const struct sk_buff *skb, u32 seq,
			     const struct quell_lost *lost)
{
	u64 first_ns = skb->skb_mstamp_ns, last_ns;
	const struct quell_segment *segment = NULL;

	spin_lock_bh(&flow->lock);
	last_ns = flow->depart_ns;
	if (!(TCP_SKB_CB(skb)->sacked & TCPCB_RETRANS))
		segment = quell_segments_find(&flow->segments, seq + 1);
	if (segment) {
		first_ns = segment->depart_ns;
		last_ns = quell_segment_left_ns(segment, segment->end_seq,
						flow->link.bytes_ps);
	}
	spin_unlock_bh(&flow->lock);
	return recover_between(lost->echo_ns, first_ns, last_ns);
}

/* Whether a NACK of @seq says something new of a segment, and may be true. */
static bool recover_applies(struct quell_flow *flow, const struct sk_buff *skb, u32 seq,
			    const struct quell_lost *lost)
{
	u8 sacked = TCP_SKB_CB(skb)->sacked;

	if (sacked & TCPCB_SACKED_ACKED)
		return false;
	if (sacked & TCPCB_LOST && !(sacked & TCPCB_SACKED_RETRANS))
		return false;
	if (before(seq, TCP_SKB_CB(skb)->seq))
		seq = TCP_SKB_CB(skb)->seq;
	return recover_departed(flow, skb, seq, lost);
}

static void recover_account(struct quell_recover *recover, const struct tcp_sock *tp,
			    const struct sk_buff *skb)
{
	/* All that was marked before is acknowledged. */
	if (!recover->due) {
		recover->watched = true;
		recover->again = tp->total_retrans;
		recover->dsacks = tp->dsack_dups;
	}
	recover->pkts += tcp_skb_pcount(skb);
	recover->bytes += skb->len;
	if (!recover->due || after(TCP_SKB_CB(skb)->end_seq, recover->end_seq))
		recover->end_seq = TCP_SKB_CB(skb)->end_seq;
	recover->due = true;
	recover->trimmed_ns = max(recover->trimmed_ns, skb->skb_mstamp_ns);
}

/* Marks what a NACK names; what it is to be counted as. */
static enum quell_counter recover_one(struct quell_flow *flow, struct sock *sk,
				      const struct quell_lost *lost)
{
	struct quell_recover *recover = &flow->recover;
	struct tcp_sock *tp = tcp_sk(sk);
	u32 pkts = recover->pkts;
	struct sk_buff *skb;
	u32 seq;

	if (after(lost->end_seq, tp->snd_nxt))
		return QUELL_N_NACK_OUTSIDE;
	if (!after(lost->end_seq, tp->snd_una))
		return QUELL_N_NACK_STALE;
	seq = before(lost->seq, tp->snd_una) ? tp->snd_una : lost->seq;
	for (skb = quell_tcp_find(sk, seq); skb && before(TCP_SKB_CB(skb)->seq, lost->end_seq);
	     skb = skb_rb_next(skb)) {
		struct sk_buff *named = NULL;

		if (recover_applies(flow, skb, seq, lost))
			named = recover_single_out(sk, skb, seq, lost->end_seq);
		if (!named)
			continue;
		skb = named;
		quell_tcp_mark_lost(sk, skb);
		quell_tcp_forget_order(skb);
		recover_account(recover, tp, skb);
	}
	if (recover->pkts == pkts)
		return QUELL_N_NACK_STALE;
	/* It was trimmed where a queue was full: given up as if it had been marked. */
	quell_path_echo(flow, lost->entropy, true);
	return QUELL_N_NACK_RECOVERED;
}

/**
 * quell_recover_forbid_undo() - these losses are real, TCP is not to undo them
 * @flow: flow
 * @sk:   its socket
 *
 * Trimmed packets overtake others.  When those are acknowledged before anything was
 * sent again, TCP takes it for a proof that nothing was lost, and removes all marks.
 * What it would have found by DSACK, recover_undo() finds.
 *
 * Context: socket lock, after the marks, and again when a recovery begins, for there
 * TCP prepares to undo it.
 */
void quell_recover_forbid_undo(const struct quell_flow *flow, struct sock *sk)
{
	if (flow->recover.due && after(flow->recover.end_seq, tcp_sk(sk)->snd_una))
		quell_tcp_keep_marks(tcp_sk(sk));
}

/**
 * quell_recover_apply() - TCP looks at an ACK: what was noted is marked lost
 * @flow: flow
 * @sk:   its socket
 *
 * Whoever notes something looks at snd_una afterwards, and TCP has moved that
 * before: either what was noted is seen here, or its segment is no old ACK.
 *
 * Context: socket lock, within ->in_ack_event().
 */
void quell_recover_apply(struct quell_flow *flow, struct sock *sk)
{
	struct quell_recover *recover = &flow->recover;
	struct quell_lost lost;

	/* Against quell_nack_pass(). */
	smp_mb();
	if (!READ_ONCE(recover->waiting))
		return;
	while (recover_get(recover, &lost)) {
		enum quell_counter outcome = recover_one(flow, sk, &lost);

		if (outcome == QUELL_N_NACK_RECOVERED)
			WRITE_ONCE(recover->recovered, recover->recovered + 1);
		quell_count(flow->qnet, outcome);
	}
	if (!recover->pkts)
		return;
	/*
	 * RACK orders what was sent by microseconds, and takes what left in the same one
	 * for sent in the order of its numbers.  A retransmission is not, so new data that
	 * left just before it, and arrived, would make it count as lost: with each tenth
	 * packet trimmed at 100 Gbit/s, one in ten.
	 */
	quell_tcp_expect_reordering(tcp_sk(sk));
	quell_recover_forbid_undo(flow, sk);
	quell_tcp_disorder(sk);
}

/* Segments lost otherwise since the last sample. */
static u32 recover_others_pkts(const struct quell_recover *recover, const struct tcp_sock *tp)
{
	u32 lost_pkts = tp->lost - recover->lost_pkts;

	return lost_pkts - min(lost_pkts, recover->pkts);
}

/**
 * quell_recover_classify() - what a recovery that begins is about
 * @flow: flow
 * @sk:   its socket
 *
 * A trimmed segment may have been marked in the recovery before, behind the end of that.
 *
 * Context: socket lock, once per recovery.
 * Return: its cause.
 */
enum quell_recover_cause quell_recover_classify(struct quell_flow *flow, const struct sock *sk)
{
	struct quell_recover *recover = &flow->recover;
	bool other_loss = recover->other_loss || recover_others_pkts(recover, tcp_sk(sk));

	recover->other_loss = false;
	return recover->due && !other_loss ? QUELL_RECOVER_TRIMMED : QUELL_RECOVER_OTHER_LOSS;
}

/**
 * quell_recover_is_news() - whether something was trimmed that left after the last cut
 * @flow: flow
 *
 * What left before was lost to the congestion that the core knows of.  What left since,
 * a retransmission say, was lost to what is still there: RFC 5681, 4.3, has the loss of
 * a retransmission be another sign of congestion.  With NACKs that is known after a
 * round trip, and without a recovery that would end.
 *
 * Context: socket lock.
 * Return: whether the core is to be told of another loss.
 */
bool quell_recover_is_news(const struct quell_flow *flow)
{
	return flow->recover.trimmed_ns && flow->recover.trimmed_ns >= flow->recover.reported_ns;
}

/*
 * TCP undoes nothing here (quell_recover_forbid_undo()), so that is for us: all that NACKs
 * named is acknowledged, and DSACKs say that each segment sent again since had arrived, or
 * none had to be.  Then they were false, and the core has back what it cut.
 */
static void recover_undo(struct quell_flow *flow, struct sock *sk)
{
	struct quell_recover *recover = &flow->recover;
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!recover->watched || recover->due)
		return;
	/* Nothing was cut, or another episode of losses has begun. */
	if (!flow->undo.valid)
		recover->watched = false;
	if (!recover->watched ||
	    tp->dsack_dups - recover->dsacks < tp->total_retrans - recover->again)
		return;
	recover->watched = false;
	quell_event_undo(sk);
}

/**
 * quell_recover_take() - what was lost since the last call
 * @flow:	 flow
 * @sk:		 its socket
 * @others_pkts: set to segments that were not trimmed
 *
 * Context: socket lock.
 * Return: bytes of payload trimmed.
 */
u32 quell_recover_take(struct quell_flow *flow, struct sock *sk, u32 *others_pkts)
{
	struct quell_recover *recover = &flow->recover;
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 bytes = recover->bytes;

	*others_pkts = recover_others_pkts(recover, tp);
	recover->other_loss = recover->other_loss || *others_pkts;
	recover->due = recover->due && after(recover->end_seq, tp->snd_una);
	recover->lost_pkts = tp->lost;
	recover->pkts = 0;
	recover->bytes = 0;
	recover_undo(flow, sk);
	if (!recover->due && READ_ONCE(recover->ring))
		recover_free(recover);
	return bytes;
}
