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
 * here, as tcp_fragment() does it, always between packets: then all of TCP's counts
 * of segments stay as they are.
 *
 * A NACK may be of an older copy of a segment that is on its way again, or has
 * arrived.  The departure it echoes tells: it is not before the newest copy's, or
 * it is of an older one.  A switch's NACK echoes none, and is believed: a switch
 * trims a copy once.
 *
 * Ignored and counted, each once: what is outside of the data sent
 * (nack-outside); what was acknowledged, selectively too, is marked already or was
 * an older copy (nack-stale); when the other end knows no SACK (nack-unable).
 */
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include <net/mptcp.h>
#include <net/tcp.h>
#include "internal.h"

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

	if (!tcp_is_sack(tp))
		return QUELL_N_NACK_UNABLE;
	/* It may be here before the sender has moved snd_nxt. */
	if (after(lost->end_seq, READ_ONCE(tp->write_seq)) ||
	    before(lost->seq, snd_una - max_t(u32, READ_ONCE(tp->max_window), U16_MAX)))
		return QUELL_N_NACK_OUTSIDE;
	return after(lost->end_seq, snd_una) ? QUELL_N_NACK_RECOVERED : QUELL_N_NACK_STALE;
}

static bool recover_put(struct quell_recover *recover, const struct quell_lost *lost)
{
	bool room;

	spin_lock_bh(&recover->lock);
	room = recover->tail - recover->head < QUELL_LOST_MAX;
	if (room) {
		recover->lost[recover->tail % QUELL_LOST_MAX] = *lost;
		WRITE_ONCE(recover->tail, recover->tail + 1);
	}
	spin_unlock_bh(&recover->lock);
	return room;
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

	if (verdict == QUELL_N_NACK_RECOVERED && !recover_put(&flow->recover, lost))
		verdict = QUELL_N_NACK_OVERFLOW;
	if (verdict == QUELL_N_NACK_RECOVERED)
		return true;
	quell_count(flow->qnet, verdict);
	return false;
}

static bool recover_get(struct quell_recover *recover, struct quell_lost *lost)
{
	bool found;

	spin_lock_bh(&recover->lock);
	found = recover->head != recover->tail;
	if (found) {
		*lost = recover->lost[recover->head % QUELL_LOST_MAX];
		WRITE_ONCE(recover->head, recover->head + 1);
	}
	spin_unlock_bh(&recover->lock);
	return found;
}

/* The segment with @seq; NULL when it is acknowledged. */
static struct sk_buff *recover_find(const struct sock *sk, u32 seq)
{
	struct rb_node *node = sk->tcp_rtx_queue.rb_node;

	while (node) {
		struct sk_buff *skb = rb_to_skb(node);

		if (before(seq, TCP_SKB_CB(skb)->seq))
			node = node->rb_left;
		else if (!before(seq, TCP_SKB_CB(skb)->end_seq))
			node = node->rb_right;
		else
			return skb;
	}
	return NULL;
}

/* Puts @skb behind @before into the retransmission queue. */
static void recover_enqueue(struct sock *sk, struct sk_buff *skb, struct sk_buff *before)
{
	struct rb_node **link = &before->rbnode.rb_right, *parent = &before->rbnode;

	while (*link) {
		parent = *link;
		link = &parent->rb_left;
	}
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color(&skb->rbnode, &sk->tcp_rtx_queue);
	list_add(&skb->tcp_tsorted_anchor, &before->tcp_tsorted_anchor);
}

/* A stamp the application asked for is of the last byte it wrote. */
static void recover_move_stamp(struct sk_buff *from, struct sk_buff *to)
{
	struct skb_shared_info *old = skb_shinfo(from), *new = skb_shinfo(to);
	u8 stamps = old->tx_flags & SKBTX_ANY_TSTAMP;

	if (!(stamps || TCP_SKB_CB(from)->txstamp_ack) ||
	    before(old->tskey, TCP_SKB_CB(to)->seq))
		return;
	old->tx_flags &= ~stamps;
	new->tx_flags |= stamps;
	swap(old->tskey, new->tskey);
	TCP_SKB_CB(to)->txstamp_ack = TCP_SKB_CB(from)->txstamp_ack;
	TCP_SKB_CB(from)->txstamp_ack = 0;
}

/* What both parts of a burst say of themselves. */
static void recover_describe(struct sk_buff *skb, struct sk_buff *rest, u32 bytes)
{
	struct tcp_skb_cb *first = TCP_SKB_CB(skb), *second = TCP_SKB_CB(rest);

	*second = *first;
	second->seq = first->seq + bytes;
	first->end_seq = second->seq;
	first->tcp_flags &= ~(TCPHDR_FIN | TCPHDR_PSH);
	first->eor = 0;
	second->txstamp_ack = 0;
	rest->tstamp = skb->tstamp;
	skb_copy_decrypted(rest, skb);
}

static void recover_set_pkts(struct sk_buff *skb, u32 mss_bytes)
{
	tcp_skb_pcount_set(skb, max_t(u32, DIV_ROUND_UP(skb->len, mss_bytes), 1));
	TCP_SKB_CB(skb)->tcp_gso_size = skb->len > mss_bytes ? mss_bytes : 0;
}

/* Memory for the second part of a burst, charged to the socket. */
static struct sk_buff *recover_alloc(struct sock *sk)
{
	struct sk_buff *skb = alloc_skb_fclone(MAX_TCP_HEADER, GFP_ATOMIC | __GFP_NOWARN);

	if (!skb)
		return NULL;
	skb->truesize = SKB_TRUESIZE(skb_end_offset(skb));
	if (!sk_wmem_schedule(sk, skb->truesize)) {
		__kfree_skb(skb);
		return NULL;
	}
	skb_reserve(skb, MAX_TCP_HEADER);
	skb->ip_summed = CHECKSUM_PARTIAL;
	INIT_LIST_HEAD(&skb->tcp_tsorted_anchor);
	sk_wmem_queued_add(sk, skb->truesize);
	sk_mem_charge(sk, skb->truesize);
	return skb;
}

/* A burst that a clone shares is made our own; that may change what it takes. */
static bool recover_unshare(struct sock *sk, struct sk_buff *skb)
{
	int truesize = skb->truesize, grown;

	if (skb_unclone(skb, GFP_ATOMIC | __GFP_NOWARN))
		return false;
	grown = skb->truesize - truesize;
	sk_wmem_queued_add(sk, grown);
	sk_mem_charge(sk, grown);
	return true;
}

/*
 * Cuts a burst of packets of @mss_bytes after @pkts of them; what follows becomes
 * the next in the queue.  As tcp_fragment(), but that the packets stay what they
 * were, so that no count changes.
 */
static bool recover_cut(struct sock *sk, struct sk_buff *skb, u32 pkts, u32 mss_bytes)
{
	u32 bytes = pkts * mss_bytes, moved_bytes = skb->len - bytes;
	struct sk_buff *rest;

	if (!recover_unshare(sk, skb))
		return false;
	rest = recover_alloc(sk);
	if (!rest)
		return false;
	rest->truesize += moved_bytes;
	skb->truesize -= moved_bytes;
	recover_describe(skb, rest, bytes);
	skb_split(skb, rest, bytes);
	recover_move_stamp(skb, rest);
	recover_set_pkts(skb, mss_bytes);
	recover_set_pkts(rest, mss_bytes);
	__skb_header_release(rest);
	recover_enqueue(sk, rest, skb);
	return true;
}

/*
 * The segment with just the packets of @skb that have something of @seq to
 * @end_seq, in whole: a NACK may state the length of a burst's shortest.  All of @skb
 * where it cannot be cut.
 */
static struct sk_buff *recover_single_out(struct sock *sk, struct sk_buff *skb, u32 seq,
					  u32 end_seq)
{
	u32 mss_bytes = TCP_SKB_CB(skb)->tcp_gso_size;
	u32 pkts;

	/* MPTCP has notes of its own on each segment. */
	if (tcp_skb_pcount(skb) == 1 || !mss_bytes || sk_is_mptcp(sk))
		return skb;
	pkts = after(seq, TCP_SKB_CB(skb)->seq) ? (seq - TCP_SKB_CB(skb)->seq) / mss_bytes : 0;
	if (pkts) {
		if (!recover_cut(sk, skb, pkts, mss_bytes))
			return skb;
		skb = skb_rb_next(skb);
	}
	pkts = DIV_ROUND_UP(end_seq - TCP_SKB_CB(skb)->seq, mss_bytes);
	if (pkts < tcp_skb_pcount(skb))
		recover_cut(sk, skb, pkts, mss_bytes);
	return skb;
}

/* Whether a NACK with that echo says something new of a segment. */
static bool recover_applies(const struct sk_buff *skb, const struct quell_lost *lost)
{
	u8 sacked = TCP_SKB_CB(skb)->sacked;

	if (sacked & TCPCB_SACKED_ACKED)
		return false;
	if (sacked & TCPCB_LOST && !(sacked & TCPCB_SACKED_RETRANS))
		return false;
	/* Its newest copy left at the earliest when the stack sent that. */
	return !(sacked & TCPCB_RETRANS) || !lost->echoed ||
	       (s32)(lost->echo_ns - (u32)skb->skb_mstamp_ns) >= 0;
}

/* What tcp_mark_skb_lost() does; RACK need not look at the segment any more. */
static void recover_mark(struct tcp_sock *tp, struct sk_buff *skb)
{
	struct sk_buff *hint = tp->retransmit_skb_hint;
	u32 pkts = tcp_skb_pcount(skb);

	if (hint ? before(TCP_SKB_CB(skb)->seq, TCP_SKB_CB(hint)->seq) :
		   tp->retrans_out >= tp->lost_out)
		tp->retransmit_skb_hint = skb;
	if (TCP_SKB_CB(skb)->sacked & TCPCB_LOST) {
		TCP_SKB_CB(skb)->sacked &= ~TCPCB_SACKED_RETRANS;
		tp->retrans_out -= pkts;
	} else {
		TCP_SKB_CB(skb)->sacked |= TCPCB_LOST;
		tp->lost_out += pkts;
	}
	tp->lost += pkts;
	list_del_init(&skb->tcp_tsorted_anchor);
}

static void recover_account(struct quell_recover *recover, const struct sk_buff *skb)
{
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
	for (skb = recover_find(sk, seq); skb && before(TCP_SKB_CB(skb)->seq, lost->end_seq);
	     skb = skb_rb_next(skb)) {
		if (!recover_applies(skb, lost))
			continue;
		skb = recover_single_out(sk, skb, seq, lost->end_seq);
		recover_mark(tp, skb);
		recover_account(recover, skb);
	}
	return recover->pkts == pkts ? QUELL_N_NACK_STALE : QUELL_N_NACK_RECOVERED;
}

/*
 * RACK orders what was sent by microseconds, and takes what left in the same one for
 * sent in the order of its numbers.  A retransmission is not, so new data that left
 * just before it, and arrived, would make it count as lost: with each tenth packet
 * trimmed at 100 Gbit/s, one in ten.  A flow that saw reordering is given a quarter of
 * the smallest round trip.
 */
static void recover_be_patient(struct tcp_sock *tp)
{
	if (!tp->reord_seen)
		tp->reord_seen = 1;
}

/**
 * quell_recover_is_certain() - what was just marked lost is, nothing is to undo that
 * @flow: flow
 * @sk:   its socket
 *
 * Trimmed packets overtake others.  When those are acknowledged before anything was
 * sent again, TCP takes it for a proof that nothing was lost, and removes all marks.
 *
 * Context: socket lock, after the marks, and again when a recovery begins, for there
 * TCP prepares to undo it.
 */
void quell_recover_is_certain(const struct quell_flow *flow, struct sock *sk)
{
	if (flow->recover.due && after(flow->recover.end_seq, tcp_sk(sk)->snd_una))
		tcp_sk(sk)->undo_marker = 0;
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
	if (READ_ONCE(recover->head) == READ_ONCE(recover->tail))
		return;
	while (recover_get(recover, &lost)) {
		enum quell_counter outcome = recover_one(flow, sk, &lost);

		if (outcome == QUELL_N_NACK_RECOVERED)
			WRITE_ONCE(recover->recovered, recover->recovered + 1);
		quell_count(flow->qnet, outcome);
	}
	if (!recover->pkts)
		return;
	recover_be_patient(tcp_sk(sk));
	quell_recover_is_certain(flow, sk);
	if (inet_csk(sk)->icsk_ca_state == TCP_CA_Open) {
		inet_csk(sk)->icsk_ca_state = TCP_CA_Disorder;
		tcp_sk(sk)->high_seq = tcp_sk(sk)->snd_nxt;
	}
}

/* Segments lost otherwise since the last sample. */
static u32 recover_others_pkts(const struct quell_recover *recover, const struct tcp_sock *tp)
{
	u32 lost_pkts = tp->lost - recover->lost_pkts;

	return lost_pkts - min(lost_pkts, recover->pkts);
}

/**
 * quell_recover_explains() - whether all that is lost as a recovery begins was trimmed
 * @flow: flow
 * @sk:   its socket
 *
 * It may have been marked in the recovery before, behind the end of that.
 *
 * Context: socket lock, once per recovery.
 * Return: whether it was.
 */
bool quell_recover_explains(struct quell_flow *flow, const struct sock *sk)
{
	struct quell_recover *recover = &flow->recover;
	bool others = recover->others || recover_others_pkts(recover, tcp_sk(sk));

	recover->others = false;
	return recover->due && !others;
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
	return flow->recover.trimmed_ns && flow->recover.trimmed_ns >= flow->recover.told_ns;
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
u32 quell_recover_take(struct quell_flow *flow, const struct sock *sk, u32 *others_pkts)
{
	struct quell_recover *recover = &flow->recover;
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 bytes = recover->bytes;

	*others_pkts = recover_others_pkts(recover, tp);
	recover->others = recover->others || *others_pkts;
	recover->due = recover->due && after(recover->end_seq, tp->snd_una);
	recover->lost_pkts = tp->lost;
	recover->pkts = 0;
	recover->bytes = 0;
	return bytes;
}
