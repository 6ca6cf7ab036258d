// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of operations that TCP performs on its own socket and does not export, for NACKs
 * (recover.c) and probes (probe.c).  No other file of quell.ko writes to a socket's
 * retransmission queue or to TCP's counts of it.
 *
 * Each function names its original and the differences.  They were compared with 6.1.192,
 * 6.12.117 and 7.3.4, of which the differences do not matter here unless mentioned.
 * selftests/tcp_originals reports originals that have changed since.
 *
 *	here				in the kernel
 *	quell_tcp_find()		tcp_sacktag_bsearch()
 *	quell_tcp_fragment()		tcp_fragment(), tcp_fragment_tstamp(),
 *					tcp_skb_fragment_eor(), tcp_set_skb_tso_segs(),
 *					tcp_adjust_pcount(), tcp_stream_alloc_skb(),
 *					tcp_insert_write_queue_after(), tcp_rbtree_insert()
 *	quell_tcp_mark_lost()		tcp_mark_skb_lost(), tcp_verify_retransmit_hint(),
 *					tcp_notify_skb_loss_event()
 *	quell_tcp_unmark_lost()		no original: reverts quell_tcp_mark_lost()
 *	quell_tcp_forget_order()	tcp_rack_detect_loss(), tcp_update_skb_after_send()
 *	quell_tcp_expect_reordering()	tcp_check_sack_reordering(), tcp_rack_reo_wnd()
 *	quell_tcp_reset_reordering()	tcp_init_sock()
 *	quell_tcp_forget_reordering()	tcp_init_sock()
 *	quell_tcp_disorder()		tcp_try_keep_open(), tcp_set_ca_state()
 *	quell_tcp_keep_marks()		tcp_undo_cwnd_reduction(), tcp_try_undo_recovery(),
 *					tcp_try_undo_partial(), tcp_try_undo_loss(),
 *					tcp_try_undo_dsack()
 *	quell_tcp_send_lost()		tcp_tsq_handler(), tcp_tsq_write(), tcp_release_cb(),
 *					tcp_xmit_retransmit_queue(), tcp_retransmit_skb()
 *	quell_tcp_reduce()		tcp_cwnd_reduction(), tcp_init_cwnd_reduction(),
 *					tcp_enter_recovery(), tcp_enter_cwr()
 *	quell_tcp_update_pacing_rate()	tcp_update_pacing_rate()
 *	quell_tcp_has_timed_out()	tcp_non_congestion_loss_retransmit(), tcp_enter_loss()
 *
 * Changes of 7.3 around them:
 *	RACK is the only detection of losses, and lost_skb_hint, of the other, is gone.  6.1
 *	and 6.12 without RACK (net.ipv4.tcp_recovery) still retransmit data marked lost.
 *	tcp_skb_cb.tcp_flags has 16 bits: it is copied and masked, at any width.
 *	Fields that are read without the lock are written with WRITE_ONCE(), so they are here.
 *
 * Invariants, as in the kernel; selftests/net/nack-storm.sh checks them after each NACK:
 *	packets_out = sum of the packets of the queue
 *	lost_out, retrans_out, sacked_out = sum of the packets with that mark
 *	lost_out + sacked_out <= packets_out
 *	sk_wmem_queued = sum of truesize of both queues
 *
 * Context of all functions: socket lock.
 */
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include <net/tcp.h>
#include <compat/compat.h>
#include <quell/quell.h>
#include "tcp/tcp_internals.h"

/* tcp_sacktag_bsearch() unchanged.  NULL: @seq is acknowledged or was not sent. */
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
 * tcp_rbtree_insert(), which searches for the place that is known here, and the list_add() of
 * tcp_fragment().
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

/* tcp_fragment_tstamp() unchanged: a requested timestamp belongs to the last byte written. */
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

/* All that tcp_fragment() copies field by field. */
static void internals_split_cb(struct sk_buff *skb, struct sk_buff *rest, u32 bytes)
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

/* tcp_set_skb_tso_segs(), the same but for a size of 0. */
static void internals_set_pkts(struct sk_buff *skb, u32 mss_bytes)
{
	tcp_skb_pcount_set(skb, max_t(u32, DIV_ROUND_UP(skb->len, mss_bytes), 1));
	TCP_SKB_CB(skb)->tcp_gso_size = skb->len > mss_bytes ? mss_bytes : 0;
}

/* tcp_adjust_pcount() for a segment that is not SACKed, on a connection with SACK. */
static void internals_adjust_pkts(struct tcp_sock *tp, const struct sk_buff *skb, int fewer)
{
	u8 sacked = TCP_SKB_CB(skb)->sacked;

	tp->packets_out -= fewer;
	if (sacked & TCPCB_SACKED_RETRANS)
		tp->retrans_out -= fewer;
	if (sacked & TCPCB_LOST)
		tp->lost_out -= fewer;
}

/* tcp_stream_alloc_skb(), but not forced: without protocol memory the burst stays whole. */
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

/* skb_unclone_keeptruesize(), which is not exported, but truesize may change. */
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
 * The bound of tcp_fragment() against peers that make it split each segment as small as
 * possible (CVE-2019-11478), unchanged.  Each NACK of 76 bytes could otherwise make it
 * allocate 1.9 KB.
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

/*
 * Split a burst that was sent; @bytes is a multiple of its packets' size.  tcp_fragment(), with
 * TCP_FRAG_IN_RTX_QUEUE, but:
 *   packet boundaries stay as sent, at any MSS now
 *   both parts must have payload; a FIN does not count
 *   the allocation is not forced, and payload must be in pages: 6.1 can also split linear data,
 *   newer kernels have no linear data
 *   the clock of the time stamp is not copied: each transmission sets it
 *   no MPTCP
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
	internals_split_cb(skb, rest, bytes);
	skb_split(skb, rest, bytes);
	internals_move_stamp(skb, rest);
	internals_set_pkts(skb, mss_bytes);
	internals_set_pkts(rest, mss_bytes);
	/* A segment that TCP merged may count more packets than its payload needs. */
	internals_adjust_pkts(tcp_sk(sk), skb,
			      pkts - tcp_skb_pcount(skb) - tcp_skb_pcount(rest));
	__skb_header_release(rest);
	internals_enqueue(sk, rest, skb);
	return true;
}

/*
 * tcp_mark_skb_lost() unchanged, with tcp_verify_retransmit_hint() and tcp_notify_skb_loss_event().
 * Kernels with upstream/7.3 do it themselves.  Returns whether the segment was marked before.
 */
#ifdef QUELL_HAVE_MARK_RANGE_LOST
bool quell_tcp_mark_lost(struct sock *sk, struct sk_buff *skb)
{
	bool lost = TCP_SKB_CB(skb)->sacked & TCPCB_LOST;

	tcp_mark_range_lost(sk, TCP_SKB_CB(skb)->seq, TCP_SKB_CB(skb)->end_seq, U64_MAX);
	return lost;
}
#else
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
#endif

/*
 * Reverts quell_tcp_mark_lost() and a retransmission of @seq to @end_seq, which TCP may have split
 * since; returns whether it was retransmitted.  TCP may also have joined it to a lost segment
 * before it, which stays lost, and freed it.  Has no original: TCP's own probe
 * (tcp_send_loss_probe()) is never counted as lost or retransmitted.
 */
bool quell_tcp_unmark_lost(struct sock *sk, u32 seq, u32 end_seq)
{
	struct tcp_sock *tp = tcp_sk(sk);
	bool resent = false;
	struct sk_buff *skb;

	/* A retransmission is without the part that is acknowledged. */
	skb = quell_tcp_find(sk, before(seq, tp->snd_una) ? tp->snd_una : seq);
	if (skb && before(TCP_SKB_CB(skb)->seq, seq))
		return false;
	for (; skb && before(TCP_SKB_CB(skb)->seq, end_seq); skb = skb_rb_next(skb)) {
		u8 sacked = TCP_SKB_CB(skb)->sacked;

		if (sacked & TCPCB_LOST) {
			tp->lost_out -= tcp_skb_pcount(skb);
			tp->lost -= tcp_skb_pcount(skb);
		}
		if (sacked & TCPCB_SACKED_RETRANS) {
			tp->retrans_out -= tcp_skb_pcount(skb);
			resent = true;
		}
		TCP_SKB_CB(skb)->sacked &= ~(TCPCB_LOST | TCPCB_SACKED_RETRANS);
	}
	return resent;
}

/* As tcp_rack_detect_loss() with segments it marks; tcp_update_skb_after_send() adds it again. */
void quell_tcp_forget_order(struct sk_buff *skb)
{
	list_del_init(&skb->tcp_tsorted_anchor);
}

/*
 * As tcp_check_sack_reordering() increments reord_seen, which makes tcp_rack_reo_wnd() return a
 * quarter of the minimum round-trip time; but only from 0 to 1, without tp->reordering.
 */
void quell_tcp_expect_reordering(struct sock *sk)
{
	if (tcp_sk(sk)->reord_seen)
		return;
	WRITE_ONCE(tcp_sk(sk)->reord_seen, 1);
	quell_cc(sk)->reorders = true;
}

/* As tcp_init_sock() sets it. */
void quell_tcp_reset_reordering(struct sock *sk)
{
	WRITE_ONCE(tcp_sk(sk)->reordering, READ_ONCE(sock_net(sk)->ipv4.sysctl_tcp_reordering));
}

/* Of a socket that leaves its algorithm; @sprayed: all is as tcp_init_sock() sets it. */
void quell_tcp_forget_reordering(struct sock *sk, bool sprayed)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (sprayed) {
		quell_tcp_reset_reordering(sk);
		WRITE_ONCE(tp->reord_seen, 0);
		tp->rack.reo_wnd_steps = 1;
		tp->rack.reo_wnd_persist = 0;
	} else if (quell_cc(sk)->reorders) {
		WRITE_ONCE(tp->reord_seen, tp->reord_seen - 1);
	}
}

/* tcp_update_pacing_rate(), but unchanged without a round-trip time. */
void quell_tcp_update_pacing_rate(struct sock *sk)
{
	const struct netns_ipv4 *ipv4 = &sock_net(sk)->ipv4;
	const struct tcp_sock *tp = tcp_sk(sk);
	u64 rate_bytes_ps;

	if (!tp->srtt_us)
		return;
	rate_bytes_ps = (u64)tp->mss_cache * ((USEC_PER_SEC / 100) << 3);
	if (tcp_snd_cwnd(tp) < tp->snd_ssthresh / 2)
		rate_bytes_ps *= READ_ONCE(ipv4->sysctl_tcp_pacing_ss_ratio);
	else
		rate_bytes_ps *= READ_ONCE(ipv4->sysctl_tcp_pacing_ca_ratio);
	rate_bytes_ps *= max(tcp_snd_cwnd(tp), tp->packets_out);
	do_div(rate_bytes_ps, tp->srtt_us);
	WRITE_ONCE(sk->sk_pacing_rate,
		   min_t(u64, rate_bytes_ps, READ_ONCE(sk->sk_max_pacing_rate)));
}

/*
 * From Open to Disorder, in which TCP checks for losses: tcp_try_to_open(), without
 * tcp_set_ca_state(), as ->set_state() does not need this change.
 */
void quell_tcp_disorder(struct sock *sk)
{
	if (inet_csk(sk)->icsk_ca_state != TCP_CA_Open)
		return;
	inet_csk(sk)->icsk_ca_state = TCP_CA_Disorder;
	tcp_sk(sk)->high_seq = tcp_sk(sk)->snd_nxt;
}

/*
 * Clears undo_marker as tcp_undo_cwnd_reduction() does: without it tcp_try_undo_recovery(),
 * _partial(), _loss() and _dsack() do not undo.
 */
void quell_tcp_keep_marks(struct tcp_sock *tp)
{
	tp->undo_marker = 0;
}

/*
 * Have the stack send one lost segment, with any window: as when a process releases the socket
 * after the small-queue limit was reached (tcp_tsq_handler(), tcp_release_cb()), the window opened
 * by one segment.  Socket lock, not owned by a process: this calls ->release_cb().
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

/*
 * Proportional rate reduction (RFC 9937): tcp_cwnd_reduction(), which tcp_cong_control() does not
 * call for an algorithm with ->cong_control, to @to_pkts instead of ssthresh; tcp_enter_recovery()
 * and tcp_enter_cwr() set up the counts for any algorithm.  @recovers: the ACK advanced snd_una,
 * and no further loss was detected.
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
	/* The first retransmission is always allowed. */
	return inflight_pkts + max_t(s64, more_pkts, tp->prr_out ? 0 : 1);
}

/*
 * Within ->set_state(TCP_CA_Loss).  tcp_non_congestion_loss_retransmit() also enters Loss, for data
 * that exceeded the path MTU or was refused with the SYN: it keeps the window and clears
 * undo_marker, whereas tcp_enter_loss() sets the window to one more than the packets in flight.
 */
bool quell_tcp_has_timed_out(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return inet_csk(sk)->icsk_ca_state == TCP_CA_Loss || tp->undo_marker ||
	       tp->prior_ssthresh || tp->high_seq != tp->snd_nxt ||
	       tcp_snd_cwnd(tp) == tcp_packets_in_flight(tp) + 1;
}
