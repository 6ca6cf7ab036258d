// SPDX-License-Identifier: GPL-2.0
/*
 * Losses and other events that are no acknowledgments, reported to the core, and retransmission of
 * data that a NACK reports as trimmed, Documentation/recovery.md.
 *
 *	LOCAL_IN	the NACK is checked and queued; the segment becomes an ACK
 *	->in_ack_event	the data of queued NACKs is marked lost, and an Open connection
 *			enters Disorder, in which TCP checks for losses with any ACK
 *	same ACK	TCP enters Recovery and retransmits lost segments, if the
 *			window has room
 *
 * The socket may be busy in between and the segment in its backlog; any ACK that TCP
 * processes will do.
 *
 * A NACK may be for an older copy of a retransmitted or delivered segment, or forged: it is
 * used only if the departure that it echoes is that of the newest copy.
 */
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/mptcp.h>
#include <net/tcp.h>
#include <compat/tcp_ecn.h>
#include "cc/cc.h"
#include "signal/dasr.h"
#include "signal/signal.h"
#include "tcp/tcp.h"
#include "tcp/tcp_internals.h"

/*
 * Events other than acknowledgments: reported to the core, and its decision applied.  They are
 * rare, so the core is called through pointers.  Context of quell_sample_state() and the events:
 * socket lock.
 */

/* A sample without round-trip time and acknowledged data.  Socket lock. */
void quell_sample_state(struct sock *sk, struct quell_sample *sample)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	const struct tcp_sock *tp = tcp_sk(sk);

	*sample = (struct quell_sample) {
		.now_ns = tp->tcp_clock_cache,
		.mss_bytes = max_t(u32, tp->mss_cache, 1),
		.header_bytes = quell_header_bytes(sk),
		.inflight_bytes = quell_mul_sat_u32(tcp_packets_in_flight(tp), tp->mss_cache),
		.link_bytes_ps = flow ? READ_ONCE(flow->link.bytes_ps) : quell_link_bytes_ps(sk),
	};
	if (quell_ecn_is_negotiated(tp))
		sample->flags |= QUELL_S_ECN;
	if (flow) {
		sample->min_rtt_ns = flow->now.min_rtt_ns;
		sample->hops = READ_ONCE(flow->hops);
		if (flow->dasr)
			quell_dasr_sample(flow, tp, sample);
		/* Records are requested, and the peer echoes them. */
		if (quell_algo_has(flow->algo, QUELL_CORE_TELEMETRY) &&
		    (READ_ONCE(flow->option) == QUELL_OPTION_ON || quell_tcpint_used(flow)))
			sample->flags |= QUELL_S_TELEMETRY;
	}
}

/* Also records the cut for an undo. */
static void event_report(struct sock *sk, struct quell_event *ev,
			 void (*report)(struct quell_event *ev))
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	u64 before[QUELL_CC_VARS_BYTES / sizeof(u64)];

	memcpy(before, ev->vars, sizeof(before));
	quell_core_call(ev, report);
	if (!flow)
		return;
	ev->before = before;
	ev->undo = &flow->undo;
	quell_core_call(ev, flow->algo->core->undo_note);
	/* Losses of segments that left before now belong to the congestion just reported. */
	flow->recover.reported_ns = tcp_sk(sk)->tcp_clock_cache;
}

/* @why: QUELL_REDUCTION_LOSS or _TAIL. */
void quell_event_loss(struct sock *sk, enum quell_reduction why)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	struct quell_event ev;

	if (quell_adapt_has_begun(flow)) {
		/* The next loss is of segments sent from now on. */
		flow->adapt.flags |= QUELL_ADAPT_F_LOST;
		flow->recover.reported_ns = tcp_sk(sk)->tcp_clock_cache;
		return;
	}
	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	event_report(sk, &ev, quell_cc(sk)->algo->core->on_loss);
	quell_adapt_lost(sk, &ev);
	quell_apply_event(sk, &ev.sample, &ev.decision, why);
	quell_cc_leave();
}

/*
 * The probe was a retransmission that was needed: neither the reduction for it nor earlier ones of
 * the episode may be undone (RFC 3708 requires each retransmission to be unnecessary).  If the same
 * ACK has shown another loss, one reduction is for both, and stands.
 */
void quell_event_tail_loss(struct sock *sk)
{
	quell_event_loss(sk, QUELL_REDUCTION_TAIL);
	quell_cc(sk)->flow->undo = (struct quell_undo) {};
}

void quell_event_timeout(struct sock *sk)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	/* If this timeout begins an episode, cc_ssthresh() has just cleared both. */
	bool again = flow && (flow->undo.valid || flow->adapt.flags & QUELL_ADAPT_F_REDUCED);
	struct tcp_sock *tp = tcp_sk(sk);
	struct quell_event ev;
	u32 cwnd_pkts;

	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	event_report(sk, &ev, quell_cc(sk)->algo->core->on_rto);
	quell_adapt_timed_out(sk, &ev.sample, again);
	/* The stack's window, which lets out one segment, is not raised. */
	cwnd_pkts = tcp_snd_cwnd(tp);
	quell_apply_event(sk, &ev.sample, &ev.decision, QUELL_REDUCTION_TIMEOUT);
	tcp_snd_cwnd_set(tp, min(cwnd_pkts, tcp_snd_cwnd(tp)));
	quell_path_on_rto(flow);
	/* Until the next ACK: the peer may be gone. */
	if (flow && flow->dasr)
		quell_dasr_claim(flow, 0);
	quell_cc_leave();
}

/* The losses of the last episode were spurious. */
void quell_event_undo(struct sock *sk)
{
	struct quell_flow *flow = quell_cc(sk)->flow;
	struct quell_event ev;

	if (!flow->undo.valid)
		return;
	quell_cc_enter(sk, &ev);
	quell_sample_state(sk, &ev.sample);
	ev.undo = &flow->undo;
	quell_core_call(&ev, flow->algo->core->on_undo);
	quell_adapt_undone(sk);
	/* After a spurious timeout, too, the window need not grow from one segment. */
	tcp_snd_cwnd_set(tcp_sk(sk), quell_apply_event(sk, &ev.sample, &ev.decision,
						       QUELL_REDUCTION_NEVER));
	quell_count(flow->qnet, QUELL_N_UNDONE);
	quell_cc_leave();
	flow->undo = (struct quell_undo) {};
}

/* Retransmission of data that is reported as trimmed, as drawn above. */

/* States with outstanding data. */
#define RECOVER_STATES		(TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_CLOSING | \
				 TCPF_CLOSE_WAIT | TCPF_LAST_ACK)

/* Without the socket lock. */
static enum quell_counter recover_check(const struct sock *sk, const struct quell_lost *lost)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 snd_una = READ_ONCE(tp->snd_una);

	/*
	 * In SYN_RECV (Fast Open) the rewritten ACK would complete the handshake.  SACK and
	 * repair are stable, but share words with bits that change under the socket lock.
	 */
	if (data_race(!tcp_is_sack(tp) || tp->repair) ||
	    !((1 << READ_ONCE(sk->sk_state)) & RECOVER_STATES))
		return QUELL_N_NACK_UNABLE;
	/* snd_nxt may not be advanced yet when the NACK is received. */
	if (after(lost->end_seq, READ_ONCE(tp->write_seq)) ||
	    before(lost->seq, snd_una - max_t(u32, READ_ONCE(tp->max_window), U16_MAX)))
		return QUELL_N_NACK_OUTSIDE;
	return after(lost->end_seq, snd_una) ? QUELL_N_NACK_RECOVERED : QUELL_N_NACK_STALE;
}

/* Allocates the array, or doubles it.  Lock of the flow. */
static bool recover_grow(struct quell_recover *recover, const struct sock *sk)
{
	u32 room = recover->room ? 2 * recover->room : QUELL_LOST_MIN;
	struct quell_lost *lost;

	lost = room <= QUELL_LOST_MAX ? quell_sock_alloc(sk, room * sizeof(*lost)) : NULL;
	if (!lost)
		return false;
	memcpy(lost, recover->lost, recover->waiting * sizeof(*lost));
	kfree(recover->lost);
	recover->lost = lost;
	recover->room = room;
	return true;
}

static bool recover_put(struct quell_flow *flow, const struct sock *sk,
			const struct quell_lost *lost)
{
	struct quell_recover *recover = &flow->recover;
	bool room;

	spin_lock_bh(&flow->lock);
	room = !flow->closed &&
	       (recover->waiting < recover->room || recover_grow(recover, sk));
	if (room) {
		recover->lost[recover->waiting] = *lost;
		WRITE_ONCE(recover->waiting, recover->waiting + 1);
	}
	spin_unlock_bh(&flow->lock);
	return room;
}

/*
 * LOCAL_IN hook, RCU, without the socket lock.  Returns whether TCP must process the segment;
 * otherwise the NACK was ignored and counted.
 */
bool quell_recover_queue(struct quell_flow *flow, const struct sock *sk,
			 const struct quell_lost *lost)
{
	enum quell_counter verdict = recover_check(sk, lost);

	if (verdict == QUELL_N_NACK_RECOVERED && !recover_put(flow, sk, lost))
		verdict = QUELL_N_NACK_OVERFLOW;
	if (verdict == QUELL_N_NACK_RECOVERED)
		return true;
	quell_count(flow->qnet, verdict);
	return false;
}

/*
 * Returns a segment with just the packets of @seq to @end_seq, whole ones: a NACK may state
 * the length of a burst's shortest packet.  @skb if it cannot be split; NULL if the NACK covers
 * no payload of it (a FIN).
 */
static struct sk_buff *recover_split(struct sock *sk, struct sk_buff *skb, u32 seq,
				     u32 end_seq)
{
	u32 mss_bytes = TCP_SKB_CB(skb)->tcp_gso_size, first_seq = TCP_SKB_CB(skb)->seq;
	u32 from_bytes = after(seq, first_seq) ? seq - first_seq : 0;
	u32 to_bytes = min_t(u32, end_seq - first_seq, skb->len);

	if (from_bytes >= to_bytes)
		return NULL;
	/* MPTCP keeps metadata of its own for each segment. */
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

/*
 * Whether the newest copy of @seq, in @skb, left at the echoed time, modulo 2^32: data sent
 * once at that of the departure ring; a retransmission not before TCP's stamp of it, nor after
 * the newest departure of the flow.
 */
static bool recover_departed(struct quell_flow *flow, const struct sk_buff *skb, u32 seq,
			     const struct quell_lost *lost)
{
	u32 first_ns = skb->skb_mstamp_ns, last_ns;
	const struct quell_segment *segment = NULL;

	spin_lock_bh(&flow->lock);
	last_ns = flow->depart_ns;
	if (!(TCP_SKB_CB(skb)->sacked & TCPCB_RETRANS))
		segment = quell_segments_find(&flow->segments, seq + 1);
	if (segment) {
		first_ns = segment->depart_ns;
		last_ns = quell_segment_tx_end_ns(segment, segment->end_seq,
						  flow->link.ns_q32);
	}
	spin_unlock_bh(&flow->lock);
	return lost->echo_ns - first_ns <= last_ns - first_ns;
}

/* Whether a NACK of @seq is new for @skb, and plausible. */
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
	/* All data marked before is acknowledged. */
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
			named = recover_split(sk, skb, seq, lost->end_seq);
		if (!named)
			continue;
		skb = named;
		quell_tcp_mark_lost(sk, skb);
		quell_tcp_forget_order(skb);
		recover_account(recover, tp, skb);
	}
	if (recover->pkts == pkts)
		return QUELL_N_NACK_STALE;
	/* Trimmed at a full queue: do not reuse its entropy, as if marked. */
	quell_path_echo(flow, lost->entropy, true);
	return QUELL_N_NACK_RECOVERED;
}

/*
 * Trimmed packets overtake others.  If those are acknowledged before the first retransmission, TCP
 * would classify the loss as spurious and remove all marks.  recover_undo() detects spurious loss
 * by DSACK instead.  Socket lock, after marking, and again when a recovery begins, where TCP sets
 * undo_marker.
 */
void quell_recover_forbid_undo(const struct quell_flow *flow, struct sock *sk)
{
	if (flow->recover.due && after(flow->recover.end_seq, tcp_sk(sk)->snd_una))
		quell_tcp_keep_marks(tcp_sk(sk));
}

/*
 * Mark the data of queued NACKs lost; the next call, of those that are received meanwhile.  Socket
 * lock, within ->in_ack_event().
 */
void quell_recover_apply(struct quell_flow *flow, struct sock *sk)
{
	struct quell_recover *recover = &flow->recover;
	struct quell_lost *lost;
	u32 waiting, i;

	spin_lock_bh(&flow->lock);
	lost = recover->lost;
	waiting = recover->waiting;
	recover->lost = NULL;
	recover->room = 0;
	WRITE_ONCE(recover->waiting, 0);
	spin_unlock_bh(&flow->lock);
	for (i = 0; i < waiting; i++) {
		enum quell_counter outcome = recover_one(flow, sk, &lost[i]);

		if (outcome == QUELL_N_NACK_RECOVERED)
			WRITE_ONCE(recover->recovered, recover->recovered + 1);
		quell_count(flow->qnet, outcome);
	}
	kfree(lost);
	if (!recover->pkts)
		return;
	/*
	 * RACK orders segments by send time in us, then by sequence number: delivery of new data
	 * sent just before a retransmission would make it mark that lost (with each tenth packet
	 * trimmed at 100 Gbit/s, one retransmission in ten).
	 */
	quell_tcp_expect_reordering(sk);
	quell_recover_forbid_undo(flow, sk);
	quell_tcp_disorder(sk);
}

/* Segments lost since the last sample that were not trimmed. */
static u32 recover_others_pkts(const struct quell_recover *recover, const struct tcp_sock *tp)
{
	u32 lost_pkts = tp->lost - recover->lost_pkts;

	return lost_pkts - min(lost_pkts, recover->pkts);
}

/*
 * Whether all lost segments were trimmed.  A trimmed one beyond the end of the previous recovery
 * may have been marked in it.  Socket lock, once per recovery.
 */
bool quell_recover_is_trimmed(struct quell_flow *flow, const struct sock *sk)
{
	struct quell_recover *recover = &flow->recover;
	bool other_loss = recover->other_loss || recover_others_pkts(recover, tcp_sk(sk));

	recover->other_loss = false;
	return recover->due && !other_loss;
}

/*
 * Undoes the core's cut in place of TCP (quell_recover_forbid_undo()) if the NACKs were false:
 * all data that they named is acknowledged, and DSACKs report each retransmission since as
 * spurious, or there was no retransmission.
 */
static void recover_undo(struct quell_flow *flow, struct sock *sk)
{
	struct quell_recover *recover = &flow->recover;
	const struct tcp_sock *tp = tcp_sk(sk);

	if (!recover->watched || recover->due)
		return;
	/* The core made no cut, or another episode of losses has begun. */
	if (!flow->undo.valid)
		recover->watched = false;
	if (!recover->watched ||
	    tp->dsack_dups - recover->dsacks < tp->total_retrans - recover->again)
		return;
	recover->watched = false;
	quell_event_undo(sk);
}

/* Losses since the last call; returns bytes trimmed.  Socket lock. */
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
	return bytes;
}
