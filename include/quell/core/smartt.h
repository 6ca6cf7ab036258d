/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SMaRTT: congestion control by delay, marks and trimmed packets.
 *
 * The window is bytes in flight.  Delay and mark of an ACK together choose one
 * of four cases; two mechanisms go before them: QuickAdapt sets the window to
 * what was delivered when congestion is severe, FastIncrease takes what others
 * left.
 *
 *	on an ACK:					Algorithm 4
 *		delivered += acked
 *		within the ignore phase: nothing else
 *		avg_rtt += weight * (rtt - avg_rtt)
 *		QuickAdapt, or else FastIncrease, or else:	Algorithm 1
 *			marked, rtt >= target:			equation 1
 *				once per base_rtt, window *= max(1 - max_mdf,
 *					1 - md * (avg_rtt - target) / avg_rtt)
 *			marked, rtt < target:
 *				another path, window unchanged
 *			unmarked, rtt >= target:		equation 2
 *				window += acked / window * mtu * fi
 *			unmarked, rtt < target:			equation 3
 *				window += min(acked, (target - rtt) / rtt
 *					      * acked / window * mtu * pi)
 *				and the fair increase
 *		trimmed packets: window -= trimmed, QuickAdapt is due
 *		window = clamp(window, mtu, 1.5 BDP)
 *
 *	QuickAdapt, at the end of each target round trip:	Algorithm 2
 *		due: window = delivered; ignore what is in flight
 *		delivered = 0
 *		due without trimming: queueing delay > qa_delay targets and
 *			delivered < qa_low windows
 *	FastIncrease:						Algorithm 3
 *		more than a window in a row unmarked, rtt ~ base_rtt:
 *			window += 2 * acked
 *
 *	target = target_rtt * base_rtt, fi and pi grow with BDP (section III-J)
 *
 * With QuickAdapt, a flight passes three phases:
 *
 *	measuring --(due at the end of a target_rtt)--> ignoring
 *	    ^                                               |
 *	    +------(what was in flight is accounted for)----+
 *
 * A connection without ECN takes delay above the target for a mark (the delay
 * variant of the paper's Figure 5).  Without a delay signal the flow is Reno
 * without slow start.  A loss found by fast retransmit takes max_mdf, once per
 * base round trip and not in the ignore phase.
 *
 * What it ignores: the remote host's share of the delay, the number of hops.
 *
 * Deviations from the paper, each with its reason, are in
 * Documentation/smartt.md.
 *
 * Expects: marks at dequeue between 20 % and 80 % of one BDP of queue.
 *
 * Paper: Bonato et al., "SMaRTT: Sender-based Marked Rapidly-adapting Trimmed
 * & Timed Transport".
 */
#ifndef _QUELL_CORE_SMARTT_H
#define _QUELL_CORE_SMARTT_H

#include <quell/core/core.h>
#include <quell/core/math.h>
#include <quell/core/smartt_params.h>

/* Segments a flow starts with when no bandwidth-delay product is known (RFC 6928). */
#define QUELL_SMARTT_INIT_SEGMENTS	10
/* TCP's own limit of a window, and the limit of what is kept of a BDP, bytes. */
#define QUELL_SMARTT_MOST_BYTES		(1ULL << 30)
/* Round-trip times are kept up to this, ns: in Q4 they fit into 32 bits. */
#define QUELL_SMARTT_MOST_NS		((1ULL << 28) - 1)
/* Fraction bits of the average round-trip time. */
#define QUELL_SMARTT_AVG_Q		4
/* Fraction bits of shares: the scale of the BDP, delays over delays, cuts. */
#define QUELL_SMARTT_SHARE_Q		24

/* quell_smartt_vars.flags */
#define QUELL_SMARTT_F_DECREASED	0x01 /* decrease_ns is valid */
#define QUELL_SMARTT_F_REROUTED		0x02 /* path_ns is valid */
#define QUELL_SMARTT_F_MEASURING	0x04 /* period_ns is valid */
#define QUELL_SMARTT_F_QA_DUE		0x08 /* a packet was trimmed */
#define QUELL_SMARTT_F_FAST		0x10 /* FastIncrease is active */
#define QUELL_SMARTT_F_LOSS		0x20 /* no clean round trip since the last loss */

/**
 * struct quell_smartt_vars - state of one flow
 * @window_q16:		congestion window, bytes Q16
 * @pending_bytes2:	increase not yet applied, times the window, bytes squared
 * @base_rtt_ns:	smallest round-trip time, ns; 0 none yet
 * @avg_rtt_q4:		average round-trip time, ns Q4; 0 none yet
 * @bdp_bytes:		bandwidth-delay product of the path, bytes; 0 unknown
 * @delivered_bytes:	acknowledged in this QuickAdapt period
 * @ignore_bytes:	still to be ignored
 * @clear_bytes:	acknowledged in a row without congestion
 * @decrease_ns:	time of the last decrease, low half, ns
 * @path_ns:		time of the last change of path, low half, ns
 * @period_ns:		start of the QuickAdapt period, low half, ns
 * @round_ns:		start of the round trip that eta and batches count, ns
 * @mss_bytes:		maximum segment size, > 0
 * @batch_pkts:		segments acknowledged since the window changed last
 * @flags:		QUELL_SMARTT_F_*
 * @rtos:		timeouts since the last ACK
 *
 * Times are compared by unsigned difference: after 4.3 s without an ACK a
 * period may seem younger than it is, by one round trip at most.
 *
 * Written by the functions below only, under the lock of the flow's socket.
 */
struct quell_smartt_vars {
	u64	window_q16;
	u64	pending_bytes2;
	u32	base_rtt_ns;
	u32	avg_rtt_q4;
	u32	bdp_bytes;
	u32	delivered_bytes;
	u32	ignore_bytes;
	u32	clear_bytes;
	u32	decrease_ns;
	u32	path_ns;
	u32	period_ns;
	u32	round_ns;
	u16	mss_bytes;
	u16	batch_pkts;
	u8	flags;
	u8	rtos;
};

/* Shares the 104 bytes of a socket's private area with the module's glue. */
static_assert(sizeof(struct quell_smartt_vars) <= 64);

/**
 * struct quell_smartt_stats - free-running counters
 * @fair_increases:	ACKs answered with a fair increase
 * @proportional_increases:	ACKs answered with a proportional increase
 * @fast_increases:	ACKs answered with FastIncrease
 * @decreases:	multiplicative decreases
 * @held:	congested ACKs within a base round trip of a decrease, or with an
 *			average below the target
 * @marked_low_delay:	marked ACKs below the target
 * @path_changes:	requests for another path
 * @quick_adapts:	QuickAdapt adjustments
 * @ignored:	ACKs ignored after QuickAdapt
 * @trimmed:	ACKs that reported trimmed packets
 * @no_ecn:	ACKs of a connection without ECN
 * @no_rtt:	ACKs without a round-trip time
 * @app_limited:	ACKs that would have grown the window of a flow with
 *			nothing more to send
 * @fast_retx:	decreases because of a fast retransmit
 * @losses_ignored:	losses and timeouts ignored after QuickAdapt
 * @rtos:	retransmission timeouts
 * @rto_resets:	timeouts that put the window to one segment
 * @restarts:	starts at the initial window after an idle time
 * @restarts_refused:	those that a recent loss, or the lack of a delay signal,
 *			kept from raising the window
 */
struct quell_smartt_stats {
	u64	fair_increases;
	u64	proportional_increases;
	u64	fast_increases;
	u64	decreases;
	u64	held;
	u64	marked_low_delay;
	u64	path_changes;
	u64	quick_adapts;
	u64	ignored;
	u64	trimmed;
	u64	no_ecn;
	u64	no_rtt;
	u64	app_limited;
	u64	fast_retx;
	u64	losses_ignored;
	u64	rtos;
	u64	rto_resets;
	u64	restarts;
	u64	restarts_refused;
};

/* Whether the flow ever measured a round-trip time. */
static inline bool quell_smartt_has_signal(const struct quell_smartt_vars *v)
{
	return v->base_rtt_ns != 0;
}

static inline u64 quell_smartt_mss_q16(const struct quell_smartt_vars *v)
{
	return (u64)v->mss_bytes << QUELL_Q16_SHIFT;
}

/* Target round-trip time, ns; 0 without a delay signal. */
static inline u64 quell_smartt_target_ns(const struct quell_smartt_vars *v,
					 const struct quell_smartt_params *p)
{
	if (p->target_delay_ns && v->base_rtt_ns)
		return v->base_rtt_ns + p->target_delay_ns;
	return (v->base_rtt_ns * p->target_rtt_q16) >> QUELL_Q16_SHIFT;
}

/* Whether @span_ns passed since the stamp @since_ns. */
static inline bool quell_smartt_passed(u64 now_ns, u32 since_ns, u64 span_ns)
{
	return (u32)((u32)now_ns - since_ns) >= span_ns;
}

/* Adds bytes to a counter that stops at its largest value. */
static inline u32 quell_smartt_count_bytes(u32 bytes, u32 more_bytes)
{
	return quell_min_u64((u64)bytes + more_bytes, 0xffffffffULL);
}

/* Section III-J: 1.5 bandwidth-delay products, bytes Q16. */
static inline u64 quell_smartt_max_window_q16(const struct quell_smartt_vars *v,
					      const struct quell_smartt_params *p)
{
	if (!v->bdp_bytes)
		return QUELL_SMARTT_MOST_BYTES << QUELL_Q16_SHIFT;
	return quell_min_u64(v->bdp_bytes * p->max_window_q16,
			     QUELL_SMARTT_MOST_BYTES << QUELL_Q16_SHIFT);
}

static inline void quell_smartt_clamp(struct quell_smartt_vars *v,
				      const struct quell_smartt_params *p)
{
	v->window_q16 = quell_max_u64(quell_min_u64(v->window_q16,
						    quell_smartt_max_window_q16(v, p)),
				      quell_smartt_mss_q16(v));
}

/* The window a message starts with, before the limits, bytes Q16. */
static inline u64 quell_smartt_init_window_q16(const struct quell_smartt_vars *v,
					       const struct quell_smartt_params *p)
{
	if (p->init_window_bytes)
		return p->init_window_bytes << QUELL_Q16_SHIFT;
	if (!v->bdp_bytes)
		return QUELL_SMARTT_INIT_SEGMENTS * quell_smartt_mss_q16(v);
	return quell_smartt_max_window_q16(v, p);
}

/* Limits the window and says what is to be done. */
static inline void quell_smartt_decide(struct quell_smartt_vars *v,
				       const struct quell_smartt_params *p,
				       bool change_path, struct quell_decision *out)
{
	quell_smartt_clamp(v, p);
	out->window_q16 = v->window_q16;
	out->pacing_bytes_ps = QUELL_RATE_UNLIMITED;
	out->target_ns = quell_smartt_target_ns(v, p);
	out->change_path = change_path;
}

/*
 * Takes over what a sample says about the path.  The sample's minimum replaces
 * the handshake's estimate even where that is smaller: SYN packets are short.
 * A round-trip time excludes the serialisation of the segment itself, hence one
 * segment more in the bandwidth-delay product.
 */
static inline void quell_smartt_observe(struct quell_smartt_vars *v, u64 rtt_ns,
					u64 min_rtt_ns, u64 link_bytes_ps,
					u32 mss_bytes)
{
	u64 least_ns = min_rtt_ns;
	u64 bdp_bytes;

	if (!least_ns) {
		least_ns = v->base_rtt_ns;
		if (rtt_ns && (!least_ns || rtt_ns < least_ns))
			least_ns = rtt_ns;
	}
	v->base_rtt_ns = quell_min_u64(least_ns, QUELL_SMARTT_MOST_NS);
	if (mss_bytes)
		v->mss_bytes = quell_min_u64(mss_bytes, 0xffff);
	if (!link_bytes_ps || !v->base_rtt_ns)
		return;
	bdp_bytes = quell_mul_div_u64(v->base_rtt_ns, link_bytes_ps, QUELL_NS_PER_SEC);
	v->bdp_bytes = quell_min_u64(quell_add_sat_u64(bdp_bytes, v->mss_bytes),
				     QUELL_SMARTT_MOST_BYTES);
}

static inline void quell_smartt_observe_sample(struct quell_smartt_vars *v,
					       const struct quell_sample *s)
{
	quell_smartt_observe(v, s->rtt_ns, s->min_rtt_ns, s->link_bytes_ps,
			     s->mss_bytes);
}

/*
 * Exponentially weighted average, one step per packet: n packets of one ACK
 * count n times, at most in full.  Steps are rounded away from 0, so that the
 * average reaches a constant round-trip time.
 */
static inline void quell_smartt_average(struct quell_smartt_vars *v,
					const struct quell_smartt_params *p,
					u64 rtt_ns, u32 pkts)
{
	u64 weight_q16 = quell_min_u64(p->avg_weight_q16 * quell_max_u64(pkts, 1),
				       QUELL_Q16_ONE);
	u64 rtt_q4 = rtt_ns << QUELL_SMARTT_AVG_Q;
	u64 avg_q4 = v->avg_rtt_q4;
	u64 round_q16 = QUELL_Q16_ONE - 1;

	if (!avg_q4)
		avg_q4 = rtt_q4;
	else if (rtt_q4 > avg_q4)
		avg_q4 += ((rtt_q4 - avg_q4) * weight_q16 + round_q16) >> QUELL_Q16_SHIFT;
	else
		avg_q4 -= ((avg_q4 - rtt_q4) * weight_q16 + round_q16) >> QUELL_Q16_SHIFT;
	v->avg_rtt_q4 = avg_q4;
}

/* Round-trip time to judge an ACK by, ns: its own, or the average. */
static inline u64 quell_smartt_rtt_ns(struct quell_smartt_vars *v,
				      const struct quell_smartt_params *p,
				      struct quell_smartt_stats *st,
				      const struct quell_sample *s)
{
	u64 rtt_ns = quell_min_u64(s->rtt_ns, QUELL_SMARTT_MOST_NS);

	if (!rtt_ns) {
		st->no_rtt++;
		return quell_max_u64(v->avg_rtt_q4 >> QUELL_SMARTT_AVG_Q, v->base_rtt_ns);
	}
	rtt_ns = quell_max_u64(rtt_ns, v->base_rtt_ns);
	quell_smartt_average(v, p, rtt_ns, s->acked_pkts);
	return rtt_ns;
}

/* Section III-J: an increase given in segments, scaled by the path's BDP, bytes Q16. */
static inline u64 quell_smartt_step_q16(const struct quell_smartt_vars *v,
					const struct quell_smartt_params *p,
					u64 pkts_q16)
{
	u64 scale_q24;

	if (!p->scale_bdp_bytes || !v->bdp_bytes)
		return pkts_q16 * v->mss_bytes;
	scale_q24 = quell_div_u64((u64)v->bdp_bytes << QUELL_SMARTT_SHARE_Q,
				  p->scale_bdp_bytes);
	return quell_mul_shr_u64(pkts_q16 * v->mss_bytes, scale_q24, QUELL_SMARTT_SHARE_Q);
}

/* At most one decrease per base round trip. */
static inline bool quell_smartt_may_decrease(const struct quell_smartt_vars *v,
					     u64 now_ns)
{
	return !(v->flags & QUELL_SMARTT_F_DECREASED) ||
	       quell_smartt_passed(now_ns, v->decrease_ns, v->base_rtt_ns);
}

/* Takes the fraction @cut_q24 <= 1 off the window, rounded down. */
static inline void quell_smartt_cut(struct quell_smartt_vars *v, u64 cut_q24,
				    u64 now_ns)
{
	v->window_q16 -= quell_mul_shr_u64(v->window_q16, cut_q24, QUELL_SMARTT_SHARE_Q);
	v->decrease_ns = now_ns;
	v->flags |= QUELL_SMARTT_F_DECREASED;
	v->flags &= ~QUELL_SMARTT_F_FAST;
	v->clear_bytes = 0;
}

/* Without trimming: the delay is high and little is delivered (section III-E). */
static inline bool quell_smartt_is_severe(const struct quell_smartt_vars *v,
					  const struct quell_smartt_params *p,
					  u64 rtt_ns, u64 target_ns)
{
	u64 limit_ns = ((target_ns - v->base_rtt_ns) * p->qa_delay_q16) >> QUELL_Q16_SHIFT;
	u64 low_bytes = ((v->window_q16 >> QUELL_Q16_SHIFT) * p->qa_low_q16) >>
			QUELL_Q16_SHIFT;

	return rtt_ns - v->base_rtt_ns > limit_ns && v->delivered_bytes < low_bytes;
}

/* Algorithm 2; true when the window was set. */
static inline bool quell_smartt_quick_adapt(struct quell_smartt_vars *v,
					    const struct quell_smartt_params *p,
					    struct quell_smartt_stats *st,
					    const struct quell_sample *s, u64 rtt_ns)
{
	u64 target_ns = quell_smartt_target_ns(v, p);
	bool adapt = false;

	if ((v->flags & QUELL_SMARTT_F_MEASURING) &&
	    !quell_smartt_passed(s->now_ns, v->period_ns, target_ns))
		return false;
	if ((v->flags & QUELL_SMARTT_F_MEASURING) && p->qa)
		adapt = (v->flags & QUELL_SMARTT_F_QA_DUE) ||
			quell_smartt_is_severe(v, p, rtt_ns, target_ns);
	if (adapt) {
		v->window_q16 = (u64)v->delivered_bytes << QUELL_Q16_SHIFT;
		v->pending_bytes2 = 0;
		v->flags &= ~QUELL_SMARTT_F_QA_DUE;
		if (p->ignore)
			v->ignore_bytes = quell_sub_sat_u64(s->inflight_bytes,
							    s->acked_bytes);
		st->quick_adapts++;
	}
	v->flags |= QUELL_SMARTT_F_MEASURING;
	v->period_ns = s->now_ns;
	v->delivered_bytes = 0;
	return adapt;
}

/* Algorithm 3; true while active.  2 MTU per ACK of one MTU are 2 bytes per byte. */
static inline bool quell_smartt_fast_increase(struct quell_smartt_vars *v,
					      const struct quell_smartt_params *p,
					      struct quell_smartt_stats *st,
					      const struct quell_sample *s, u64 rtt_ns)
{
	if (!p->fast_q16 || s->marked_bytes ||
	    rtt_ns > v->base_rtt_ns + p->fast_slack_ns) {
		v->clear_bytes = 0;
		v->flags &= ~QUELL_SMARTT_F_FAST;
		return false;
	}
	v->clear_bytes = quell_smartt_count_bytes(v->clear_bytes, s->acked_bytes);
	if (v->clear_bytes > v->window_q16 >> QUELL_Q16_SHIFT)
		v->flags |= QUELL_SMARTT_F_FAST;
	if (!(v->flags & QUELL_SMARTT_F_FAST))
		return false;
	if (s->flags & QUELL_S_APP_LIMITED) {
		st->app_limited++;
		return true;
	}
	v->window_q16 += s->acked_bytes * p->fast_q16;
	st->fast_increases++;
	return true;
}

/*
 * Equation 3 without acked / window: the largest step times the share that
 * (target - rtt) / rtt has of its value at rtt = base_rtt, bytes Q16.  At most
 * the window, which bounds the increase by the bytes acknowledged.
 */
static inline u64 quell_smartt_proportional_q16(const struct quell_smartt_vars *v,
						const struct quell_smartt_params *p,
						u64 rtt_ns, u64 target_ns)
{
	u64 share_q24 = quell_mul_div_u64((target_ns - rtt_ns) * v->base_rtt_ns,
					  1ULL << QUELL_SMARTT_SHARE_Q,
					  rtt_ns * (target_ns - v->base_rtt_ns));
	u64 step_q16 = quell_smartt_step_q16(v, p, p->pi_pkts_q16);

	step_q16 = quell_mul_shr_u64(step_q16, share_q24, QUELL_SMARTT_SHARE_Q);
	return quell_min_u64(step_q16, v->window_q16);
}

/* Equations 2 and 3 for @bytes unmarked bytes: what they add times the window. */
static inline void quell_smartt_increase(struct quell_smartt_vars *v,
					 const struct quell_smartt_params *p,
					 struct quell_smartt_stats *st, u32 bytes,
					 u64 rtt_ns, u64 target_ns)
{
	u64 step_q16 = 0;

	if (rtt_ns >= target_ns || p->pi_fair)
		step_q16 = quell_smartt_step_q16(v, p, p->fi_pkts_q16);
	if (rtt_ns >= target_ns) {
		st->fair_increases++;
	} else {
		u64 more_q16 = quell_smartt_proportional_q16(v, p, rtt_ns, target_ns);

		step_q16 = quell_add_sat_u64(step_q16, more_q16);
		st->proportional_increases++;
	}
	v->pending_bytes2 = quell_add_sat_u64(v->pending_bytes2,
					      quell_mul_shr_u64(step_q16, bytes,
								QUELL_Q16_SHIFT));
}

/* Equation 1, once per base round trip. */
static inline void quell_smartt_decrease(struct quell_smartt_vars *v,
					 const struct quell_smartt_params *p,
					 struct quell_smartt_stats *st, u64 now_ns,
					 u64 target_ns)
{
	u64 target_q4 = target_ns << QUELL_SMARTT_AVG_Q;
	u64 whole_q4 = v->avg_rtt_q4;
	u64 cut_q24;

	if (whole_q4 <= target_q4 || !quell_smartt_may_decrease(v, now_ns)) {
		st->held++;
		return;
	}
	if (p->md_queueing)
		whole_q4 -= (u64)v->base_rtt_ns << QUELL_SMARTT_AVG_Q;
	cut_q24 = quell_mul_div_u64(p->md_q16 << (QUELL_SMARTT_SHARE_Q - QUELL_Q16_SHIFT),
				    v->avg_rtt_q4 - target_q4, whole_q4);
	quell_smartt_cut(v, quell_min_u64(cut_q24, p->max_mdf_q16 <<
					  (QUELL_SMARTT_SHARE_Q - QUELL_Q16_SHIFT)),
			 now_ns);
	st->decreases++;
}

/* Marks without delay: the load balancer's turn, at most once per base round trip. */
static inline bool quell_smartt_reroute(struct quell_smartt_vars *v,
					struct quell_smartt_stats *st, u64 now_ns)
{
	st->marked_low_delay++;
	if ((v->flags & QUELL_SMARTT_F_REROUTED) &&
	    !quell_smartt_passed(now_ns, v->path_ns, v->base_rtt_ns))
		return false;
	v->path_ns = now_ns;
	v->flags |= QUELL_SMARTT_F_REROUTED;
	st->path_changes++;
	return true;
}

/*
 * Algorithm 1.  An ACK may cover marked and unmarked packets: each part is
 * treated as an ACK of its own, the unmarked one first.  True to change paths.
 */
static inline bool quell_smartt_core_cases(struct quell_smartt_vars *v,
					   const struct quell_smartt_params *p,
					   struct quell_smartt_stats *st,
					   const struct quell_sample *s, u64 rtt_ns)
{
	u64 target_ns = quell_smartt_target_ns(v, p);
	u32 marked_bytes = quell_min_u64(s->marked_bytes, s->acked_bytes);
	u32 clear_bytes;

	if (!(s->flags & QUELL_S_ECN))
		marked_bytes = rtt_ns >= target_ns ? s->acked_bytes : 0;
	clear_bytes = s->acked_bytes - marked_bytes;
	if (clear_bytes && rtt_ns < target_ns &&
	    quell_smartt_may_decrease(v, s->now_ns))
		v->flags &= ~QUELL_SMARTT_F_LOSS;
	if (clear_bytes && (s->flags & QUELL_S_APP_LIMITED))
		st->app_limited++;
	else if (clear_bytes)
		quell_smartt_increase(v, p, st, clear_bytes, rtt_ns, target_ns);
	if (!marked_bytes)
		return false;
	if (rtt_ns < target_ns)
		return quell_smartt_reroute(v, st, s->now_ns);
	quell_smartt_decrease(v, p, st, s->now_ns, target_ns);
	return false;
}

/* Section III-G: what was accumulated enters the window. */
static inline void quell_smartt_settle(struct quell_smartt_vars *v,
				       const struct quell_smartt_params *p,
				       const struct quell_sample *s)
{
	bool round = quell_smartt_passed(s->now_ns, v->round_ns, v->base_rtt_ns);
	u64 pkts = (u64)v->batch_pkts + s->acked_pkts;
	u64 more_q16 = 0;

	v->batch_pkts = quell_min_u64(pkts, 0xffff);
	if (round) {
		v->round_ns = s->now_ns;
		if (p->eta_pkts_q16 && !(s->flags & QUELL_S_APP_LIMITED))
			more_q16 = quell_smartt_step_q16(v, p, p->eta_pkts_q16);
	}
	if (round || pkts >= p->batch_pkts) {
		more_q16 = quell_add_sat_u64(more_q16,
					     quell_mul_div_u64(v->pending_bytes2,
							       1ULL << 32, v->window_q16));
		v->pending_bytes2 = 0;
		v->batch_pkts = 0;
	}
	v->window_q16 = quell_add_sat_u64(v->window_q16, more_q16);
}

/* Whether this ACK falls into the ignore phase; counts what left the network. */
static inline bool quell_smartt_ignores(struct quell_smartt_vars *v,
					const struct quell_smartt_params *p,
					const struct quell_sample *s)
{
	u64 gone_bytes = (u64)s->acked_bytes + s->trimmed_bytes + s->lost_bytes;

	v->ignore_bytes = quell_sub_sat_u64(v->ignore_bytes, gone_bytes);
	return v->ignore_bytes && (s->marked_bytes || !p->ignore_marked);
}

/* Algorithm 4, packets trimmed by a switch. */
static inline void quell_smartt_on_trim(struct quell_smartt_vars *v,
					const struct quell_smartt_params *p,
					struct quell_smartt_stats *st,
					const struct quell_sample *s)
{
	st->trimmed++;
	v->window_q16 = quell_max_u64(quell_sub_sat_u64(v->window_q16,
							(u64)s->trimmed_bytes << QUELL_Q16_SHIFT),
				      quell_smartt_mss_q16(v));
	v->flags |= QUELL_SMARTT_F_QA_DUE;
	if (!v->ignore_bytes && quell_smartt_has_signal(v))
		quell_smartt_quick_adapt(v, p, st, s, v->base_rtt_ns);
}

/* No round-trip time known: one segment more per window. */
static inline void quell_smartt_increase_blind(struct quell_smartt_vars *v,
					       struct quell_smartt_stats *st,
					       const struct quell_sample *s)
{
	st->no_rtt++;
	if (s->flags & QUELL_S_APP_LIMITED) {
		st->app_limited++;
		return;
	}
	v->window_q16 += quell_mul_div_u64(quell_smartt_mss_q16(v),
					   (u64)s->acked_bytes << QUELL_Q16_SHIFT,
					   v->window_q16);
}

/* Algorithm 4, an ACK.  True to change paths. */
static inline bool quell_smartt_congestion_loop(struct quell_smartt_vars *v,
						const struct quell_smartt_params *p,
						struct quell_smartt_stats *st,
						const struct quell_sample *s)
{
	bool change_path = false;
	u64 rtt_ns;

	if (quell_smartt_ignores(v, p, s)) {
		st->ignored++;
		return false;
	}
	rtt_ns = quell_smartt_rtt_ns(v, p, st, s);
	if (quell_smartt_quick_adapt(v, p, st, s, rtt_ns))
		return false;
	if (!quell_smartt_fast_increase(v, p, st, s, rtt_ns))
		change_path = quell_smartt_core_cases(v, p, st, s, rtt_ns);
	quell_smartt_settle(v, p, s);
	return change_path;
}

/**
 * quell_smartt_init() - start a flow
 * @v:             set in full
 * @p:             parameters
 * @link_bytes_ps: rate of the interface the flow leaves by, bytes/s; 0 unknown
 * @min_rtt_ns:    smallest round-trip time known, ns; 0 none
 * @mss_bytes:     maximum segment size; 0 counts as 1
 * @now_ns:        time, ns
 * @out:           set in full
 *
 * Context: any; the caller serialises per flow.
 */
static inline void quell_smartt_init(struct quell_smartt_vars *v,
				     const struct quell_smartt_params *p,
				     u64 link_bytes_ps, u64 min_rtt_ns,
				     u32 mss_bytes, u64 now_ns,
				     struct quell_decision *out)
{
	*v = (struct quell_smartt_vars) {
		.round_ns = now_ns,
		.mss_bytes = 1,
	};
	quell_smartt_observe(v, 0, min_rtt_ns, link_bytes_ps, mss_bytes);
	v->window_q16 = quell_smartt_init_window_q16(v, p);
	quell_smartt_decide(v, p, false, out);
}

/**
 * quell_smartt_on_ack() - new data was acknowledged
 * @v:   state of the flow
 * @p:   parameters, within their ranges
 * @st:  counters
 * @s:   what the ACK said
 * @out: set in full
 *
 * Context: any; the caller serialises per flow.
 */
static inline void quell_smartt_on_ack(struct quell_smartt_vars *v,
				       const struct quell_smartt_params *p,
				       struct quell_smartt_stats *st,
				       const struct quell_sample *s,
				       struct quell_decision *out)
{
	bool change_path = false;

	quell_smartt_observe_sample(v, s);
	v->rtos = 0;
	st->no_ecn += !(s->flags & QUELL_S_ECN);
	v->delivered_bytes = quell_smartt_count_bytes(v->delivered_bytes, s->acked_bytes);
	if (quell_smartt_has_signal(v))
		change_path = quell_smartt_congestion_loop(v, p, st, s);
	else
		quell_smartt_increase_blind(v, st, s);
	if (s->trimmed_bytes)
		quell_smartt_on_trim(v, p, st, s);
	quell_smartt_decide(v, p, change_path, out);
}

/*
 * What a loss takes off: max_mdf; without a delay signal, at least the half
 * that Reno takes.
 */
static inline u64 quell_smartt_loss_cut_q24(const struct quell_smartt_vars *v,
					    const struct quell_smartt_params *p)
{
	u64 cut_q16 = p->max_mdf_q16;

	if (!quell_smartt_has_signal(v))
		cut_q16 = quell_max_u64(cut_q16, QUELL_Q16_ONE / 2);
	return cut_q16 << (QUELL_SMARTT_SHARE_Q - QUELL_Q16_SHIFT);
}

/**
 * quell_smartt_on_loss() - fast retransmit began
 * @v:   state of the flow
 * @p:   parameters, within their ranges
 * @st:  counters
 * @s:   the sample at hand; rtt_ns 0 when there is none
 * @out: set in full
 *
 * To be called once per recovery episode.  What QuickAdapt has answered
 * already is not answered again.
 *
 * Context: any; the caller serialises per flow.
 */
static inline void quell_smartt_on_loss(struct quell_smartt_vars *v,
					const struct quell_smartt_params *p,
					struct quell_smartt_stats *st,
					const struct quell_sample *s,
					struct quell_decision *out)
{
	quell_smartt_observe_sample(v, s);
	v->rtos = 0;
	v->flags |= QUELL_SMARTT_F_LOSS;
	v->pending_bytes2 = 0;
	if (v->ignore_bytes) {
		st->losses_ignored++;
	} else if (quell_smartt_may_decrease(v, s->now_ns)) {
		quell_smartt_cut(v, quell_smartt_loss_cut_q24(v, p), s->now_ns);
		st->fast_retx++;
	}
	quell_smartt_decide(v, p, false, out);
}

/* Nothing is in flight: what was measured of the flight is void. */
static inline void quell_smartt_forget_flight(struct quell_smartt_vars *v)
{
	v->flags &= ~(QUELL_SMARTT_F_MEASURING | QUELL_SMARTT_F_QA_DUE |
		      QUELL_SMARTT_F_FAST);
	v->pending_bytes2 = 0;
	v->delivered_bytes = 0;
	v->ignore_bytes = 0;
	v->clear_bytes = 0;
}

/**
 * quell_smartt_on_rto() - the retransmission timer expired
 * @v:   state of the flow
 * @p:   parameters, within their ranges
 * @st:  counters
 * @s:   the sample at hand; rtt_ns 0
 * @out: set in full
 *
 * Context: any; the caller serialises per flow.
 */
static inline void quell_smartt_on_rto(struct quell_smartt_vars *v,
				       const struct quell_smartt_params *p,
				       struct quell_smartt_stats *st,
				       const struct quell_sample *s,
				       struct quell_decision *out)
{
	bool answered = v->ignore_bytes;

	quell_smartt_observe_sample(v, s);
	st->rtos++;
	v->flags |= QUELL_SMARTT_F_LOSS;
	if (v->rtos < 0xff)
		v->rtos++;
	quell_smartt_forget_flight(v);
	if (v->rtos >= p->retx_reset_rtos || !quell_smartt_has_signal(v)) {
		/* The whole window: the limits leave one segment. */
		quell_smartt_cut(v, 1ULL << QUELL_SMARTT_SHARE_Q, s->now_ns);
		st->rto_resets++;
	} else if (answered) {
		st->losses_ignored++;
	} else if (quell_smartt_may_decrease(v, s->now_ns)) {
		quell_smartt_cut(v, quell_smartt_loss_cut_q24(v, p), s->now_ns);
	}
	quell_smartt_decide(v, p, false, out);
}

/**
 * quell_smartt_on_idle_restart() - data to send after nothing was outstanding
 * @v:       state of the flow
 * @p:       parameters, within their ranges
 * @st:      counters
 * @s:       now_ns, mss_bytes and link_bytes_ps as far as known
 * @idle_ns: time since the last data was sent or acknowledged, ns
 * @out:     set in full
 *
 * A message after a pause starts as a new flow does.  It never rises above what
 * the window was while the last thing the path said was loss, or when no delay
 * signal would stop it (RFC 5681, section 4.1).
 *
 * Context: any; the caller serialises per flow.
 */
static inline void quell_smartt_on_idle_restart(struct quell_smartt_vars *v,
						const struct quell_smartt_params *p,
						struct quell_smartt_stats *st,
						const struct quell_sample *s,
						u64 idle_ns,
						struct quell_decision *out)
{
	quell_smartt_observe_sample(v, s);
	if (p->restart_idle_ns && idle_ns >= p->restart_idle_ns) {
		u64 init_q16 = quell_smartt_init_window_q16(v, p);

		if ((v->flags & QUELL_SMARTT_F_LOSS) || !quell_smartt_has_signal(v)) {
			st->restarts_refused += init_q16 > v->window_q16;
			init_q16 = quell_min_u64(init_q16, v->window_q16);
		}
		v->window_q16 = init_q16;
		v->avg_rtt_q4 = 0;
		quell_smartt_forget_flight(v);
		st->restarts++;
	}
	quell_smartt_decide(v, p, false, out);
}

#endif /* _QUELL_CORE_SMARTT_H */
