// SPDX-License-Identifier: GPL-2.0
/*
 * What TCP does to its own socket and does not export, done again for NACKs
 * (recover.c) and probes (probe.c).  Nothing else of quell.ko writes to a socket's
 * retransmission queue or to TCP's counts of it.
 *
 * Each function names what it mirrors and what it does otherwise.  The text of 6.1.192
 * and 6.12.117 was compared with it; what they differ in does not matter here, but where
 * it is said.  7.3 is built against; its text is still to be compared.
 *
 *	here				in the kernel
 *	quell_tcp_find()		tcp_sacktag_bsearch(), tcp_input.c
 *	quell_tcp_fragment()		tcp_fragment(), tcp_output.c
 *	quell_tcp_mark_lost()		tcp_mark_skb_lost(), tcp_input.c
 *	quell_tcp_unmark_lost()		none: takes the above back
 *	quell_tcp_forget_order()	tcp_rack_detect_loss(), tcp_recovery.c
 *	quell_tcp_expect_reordering()	tcp_check_sack_reordering(), tcp_input.c
 *	quell_tcp_disorder()		tcp_try_to_open(), tcp_input.c
 *	quell_tcp_keep_marks()		tcp_undo_cwnd_reduction(), tcp_input.c
 *	quell_tcp_send_lost()		tcp_tsq_handler(), tcp_output.c
 *	quell_tcp_reduce()		tcp_cwnd_reduction(), tcp_input.c
 *	quell_tcp_has_timed_out()	tcp_non_congestion_loss_retransmit(), tcp_input.c
 *
 * All of it holds at any time, as in the kernel:
 *
 *	packets_out = sum of the packets of the queue
 *	lost_out, retrans_out, sacked_out = of those marked so
 *	lost_out + sacked_out <= packets_out
 *	sk_wmem_queued = sum of truesize of both queues
 *
 * selftests/net/nack-storm.sh walks the queue after each NACK and compares.
 *
 * Context of all: socket lock.
 */
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include <net/tcp.h>
#include "tcp_internals.h"

/**
 * quell_tcp_find() - the segment of the retransmission queue with a number
 * @sk:  socket
 * @seq: sequence number
 *
 * tcp_sacktag_bsearch() of 6.1 and 6.12, the same.
 *
 * Return: the segment; NULL when the number is acknowledged or not sent.
 */
struct sk_buff *quell_tcp_find(const struct sock *sk, u32 seq)
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

/*
 * Puts @skb behind @before: tcp_rbtree_insert() of 6.1 and 6.12, which searches for the
 * place that is known here, and the list_add() of tcp_fragment().
 */
static void internals_enqueue(struct sock *sk, struct sk_buff *skb, struct sk_buff *before)
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

/*
 * A stamp the application asked for is of the last byte it wrote: tcp_fragment_tstamp()
 * of 6.1 and 6.12, the same.
 */
static void internals_move_stamp(struct sk_buff *from, struct sk_buff *to)
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

/* What both parts say of themselves: all that tcp_fragment() copies field by field. */
static void internals_describe(struct sk_buff *skb, struct sk_buff *rest, u32 bytes)
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

/* tcp_set_skb_tso_segs() of 6.1 and 6.12, the same but for a size of 0. */
static void internals_set_pkts(struct sk_buff *skb, u32 mss_bytes)
{
	tcp_skb_pcount_set(skb, max_t(u32, DIV_ROUND_UP(skb->len, mss_bytes), 1));
	TCP_SKB_CB(skb)->tcp_gso_size = skb->len > mss_bytes ? mss_bytes : 0;
}

/*
 * The queue has so many packets less: tcp_adjust_pcount() of 6.1 and 6.12 for a segment
 * that is not SACKed, on a connection with SACK.
 */
static void internals_adjust_pkts(struct tcp_sock *tp, const struct sk_buff *skb, int fewer)
{
	u8 sacked = TCP_SKB_CB(skb)->sacked;

	tp->packets_out -= fewer;
	if (sacked & TCPCB_SACKED_RETRANS)
		tp->retrans_out -= fewer;
	if (sacked & TCPCB_LOST)
		tp->lost_out -= fewer;
}

/*
 * Memory for the second part, charged to the socket: tcp_stream_alloc_skb(), but not
 * forced: when the protocol's memory is used up, the burst stays whole.
 */
static struct sk_buff *internals_alloc(struct sock *sk)
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

/*
 * A burst that a clone shares is made our own; that may change what it takes.  Instead
 * of skb_unclone_keeptruesize(), which is not exported to modules.
 */
static bool internals_unshare(struct sock *sk, struct sk_buff *skb)
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
 * Whether the queue may take more memory: the bound of tcp_fragment() against whoever
 * has each segment cut as small as can be (CVE-2019-11478), 6.1 and 6.12, the same.  A
 * NACK of 76 bytes would otherwise take 1.9 KB each.
 */
static bool internals_has_room(struct sock *sk, const struct sk_buff *skb)
{
	long limit = sk->sk_sndbuf + 2 * SKB_TRUESIZE(GSO_LEGACY_MAX_SIZE);

	if ((sk->sk_wmem_queued >> 1) <= limit || skb == tcp_rtx_queue_head(sk) ||
	    skb == tcp_rtx_queue_tail(sk))
		return true;
	NET_INC_STATS(sock_net(sk), LINUX_MIB_TCPWQUEUETOOBIG);
	return false;
}

/**
 * quell_tcp_fragment() - cut a burst that was sent in two
 * @sk:    socket, with SACK
 * @skb:   of its retransmission queue, neither SACKed nor of MPTCP
 * @bytes: payload of the first part, a multiple of its packets' size
 *
 * tcp_fragment() of 6.1 and 6.12, with TCP_FRAG_IN_RTX_QUEUE, but:
 *	the packets stay those it was sent in, whatever the size is now
 *	either part must have payload; a FIN alone is none
 *	the parts' memory is not forced, and payload must be in pages: 6.1 can cut what
 *	is not, 6.12 has none
 *	no MPTCP
 *
 * Return: false when it is whole still, for want of memory, or as there is nothing to cut.
 */
bool quell_tcp_fragment(struct sock *sk, struct sk_buff *skb, u32 bytes)
{
	u32 mss_bytes = TCP_SKB_CB(skb)->tcp_gso_size, moved_bytes;
	int pkts = tcp_skb_pcount(skb);
	struct sk_buff *rest;

	if (!mss_bytes || !bytes || bytes >= skb->len || skb_headlen(skb) ||
	    TCP_SKB_CB(skb)->sacked & TCPCB_SACKED_ACKED)
		return false;
	if (!internals_has_room(sk, skb) || !internals_unshare(sk, skb))
		return false;
	rest = internals_alloc(sk);
	if (!rest)
		return false;
	moved_bytes = skb->len - bytes;
	rest->truesize += moved_bytes;
	skb->truesize -= moved_bytes;
	internals_describe(skb, rest, bytes);
	skb_split(skb, rest, bytes);
	internals_move_stamp(skb, rest);
	internals_set_pkts(skb, mss_bytes);
	internals_set_pkts(rest, mss_bytes);
	/* What TCP merged may count more packets than its bytes are. */
	internals_adjust_pkts(tcp_sk(sk), skb,
			      pkts - tcp_skb_pcount(skb) - tcp_skb_pcount(rest));
	__skb_header_release(rest);
	internals_enqueue(sk, rest, skb);
	return true;
}

/**
 * quell_tcp_mark_lost() - a segment is lost, or its retransmission
 * @sk:  socket
 * @skb: of its retransmission queue, not SACKed
 *
 * tcp_mark_skb_lost() of 6.1 and 6.12, the same, with tcp_verify_retransmit_hint() and
 * tcp_notify_skb_loss_event().
 *
 * Return: whether it counted as lost before.
 */
bool quell_tcp_mark_lost(struct sock *sk, struct sk_buff *skb)
{
	u8 sacked = TCP_SKB_CB(skb)->sacked;
	struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *hint = tp->retransmit_skb_hint;
	u32 pkts = tcp_skb_pcount(skb);

	if (hint ? before(TCP_SKB_CB(skb)->seq, TCP_SKB_CB(hint)->seq) :
		   tp->retrans_out >= tp->lost_out)
		tp->retransmit_skb_hint = skb;
	if (!(sacked & TCPCB_LOST)) {
		TCP_SKB_CB(skb)->sacked |= TCPCB_LOST;
		tp->lost_out += pkts;
		tp->lost += pkts;
		return false;
	}
	if (sacked & TCPCB_SACKED_RETRANS) {
		TCP_SKB_CB(skb)->sacked &= ~TCPCB_SACKED_RETRANS;
		tp->retrans_out -= pkts;
		tp->lost += pkts;
		NET_ADD_STATS(sock_net(sk), LINUX_MIB_TCPLOSTRETRANSMIT, pkts);
	}
	return true;
}

/**
 * quell_tcp_unmark_lost() - take quell_tcp_mark_lost() back, and a retransmission
 * @tp:	     socket
 * @skb:     first segment
 * @end_seq: sequence number after the last: it may have been cut since
 *
 * Mirrors nothing: TCP's own probe (tcp_send_loss_probe()) is not counted as lost nor
 * retransmitted from the start.
 */
void quell_tcp_unmark_lost(struct tcp_sock *tp, struct sk_buff *skb, u32 end_seq)
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

/**
 * quell_tcp_forget_order() - RACK need not look at a segment that is known to be lost
 * @skb: segment
 *
 * As tcp_rack_detect_loss() of 6.1 and 6.12 does with what it marks; tcp_update_skb_after_send()
 * puts it back when it is sent again.
 */
void quell_tcp_forget_order(struct sk_buff *skb)
{
	list_del_init(&skb->tcp_tsorted_anchor);
}

/**
 * quell_tcp_expect_reordering() - RACK is to give segments time
 * @tp: socket
 *
 * tcp_check_sack_reordering() of 6.1 and 6.12 counts in reord_seen, which makes
 * tcp_rack_reo_wnd() return a quarter of the smallest round trip; here it is no more
 * than seen, and tp->reordering stays.
 */
void quell_tcp_expect_reordering(struct tcp_sock *tp)
{
	if (!tp->reord_seen)
		tp->reord_seen = 1;
}

/**
 * quell_tcp_disorder() - from Open to Disorder, which has TCP look for losses
 * @sk: socket
 *
 * tcp_try_to_open() of 6.1 and 6.12, without tcp_set_ca_state(), which would tell
 * ->set_state() what it has no use for.
 */
void quell_tcp_disorder(struct sock *sk)
{
	if (inet_csk(sk)->icsk_ca_state != TCP_CA_Open)
		return;
	inet_csk(sk)->icsk_ca_state = TCP_CA_Disorder;
	tcp_sk(sk)->high_seq = tcp_sk(sk)->snd_nxt;
}

/**
 * quell_tcp_keep_marks() - TCP is not to remove the marks of what is lost
 * @tp: socket
 *
 * What tcp_undo_cwnd_reduction() of 6.1 and 6.12 leaves: without undo_marker none of
 * tcp_try_undo_recovery(), _partial(), _loss() and _dsack() does anything.
 */
void quell_tcp_keep_marks(struct tcp_sock *tp)
{
	tp->undo_marker = 0;
}

/**
 * quell_tcp_send_lost() - have the stack send one lost segment, whatever the window
 * @sk: socket, not owned by a process
 *
 * As when a process lets go of the socket and the small-queue limit had been reached
 * (tcp_tsq_handler(), tcp_release_cb() of 6.1 and 6.12), the window opened by one.
 */
void quell_tcp_send_lost(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	u32 cwnd_pkts = tcp_snd_cwnd(tp);

	tcp_snd_cwnd_set(tp, tcp_packets_in_flight(tp) + 1);
	if (!test_and_set_bit(TCP_TSQ_DEFERRED, &sk->sk_tsq_flags))
		sock_hold(sk);
	sk->sk_prot->release_cb(sk);
	tcp_snd_cwnd_set(tp, cwnd_pkts);
}

/**
 * quell_tcp_reduce() - the window on the way to a smaller one
 * @tp:		    socket, in CWR or Recovery
 * @to_pkts:	    the window at the end of that, > 0
 * @delivered_pkts: of the ACK, > 0
 * @recovers:	    the ACK moved the oldest data outstanding, and nothing was found lost
 *
 * Proportional rate reduction (RFC 9937).  tcp_cwnd_reduction() of 6.12, which
 * tcp_cong_control() does not call for an algorithm with ->cong_control; tcp_enter_recovery()
 * and tcp_enter_cwr() set up the counts whatever the algorithm has.  Otherwise than there
 * the window to come to is given, not ssthresh.
 *
 * Return: packets.
 */
u32 quell_tcp_reduce(struct tcp_sock *tp, u32 to_pkts, u32 delivered_pkts, bool recovers)
{
	u32 inflight_pkts = tcp_packets_in_flight(tp);
	s64 more_pkts;

	if (!tp->prior_cwnd)
		return to_pkts;
	tp->prr_delivered += delivered_pkts;
	if (inflight_pkts > to_pkts) {
		more_pkts = div_u64((u64)to_pkts * tp->prr_delivered + tp->prior_cwnd - 1,
				    tp->prior_cwnd);
		more_pkts -= tp->prr_out;
	} else {
		more_pkts = max_t(s64, (s64)tp->prr_delivered - tp->prr_out, delivered_pkts);
		more_pkts = min_t(s64, more_pkts + recovers, to_pkts - inflight_pkts);
	}
	/* The first retransmission does not wait. */
	return inflight_pkts + max_t(s64, more_pkts, tp->prr_out ? 0 : 1);
}

/**
 * quell_tcp_has_timed_out() - whether a socket goes to Loss because a timer expired
 * @sk: socket, within ->set_state(TCP_CA_Loss)
 *
 * tcp_non_congestion_loss_retransmit() of 6.1 and 6.12 has it go there, too, for data that
 * was too long for the path or that a server refused to take with the SYN.  That leaves the
 * window alone and no marker to undo by, where tcp_enter_loss() has the window one more than
 * what is in flight.
 */
bool quell_tcp_has_timed_out(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return inet_csk(sk)->icsk_ca_state == TCP_CA_Loss || tp->undo_marker ||
	       tp->prior_ssthresh || tp->high_seq != tp->snd_nxt ||
	       tcp_snd_cwnd(tp) == tcp_packets_in_flight(tp) + 1;
}
