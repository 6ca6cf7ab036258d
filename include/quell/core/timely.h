/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY: congestion control by the gradient of the round-trip time.
 *
 * Data leaves in segments of some packets, with a delay between them that
 * makes the rate.  Each segment acknowledged in full gives one round-trip
 * time, and the rate follows how these times change:
 *
 *	on the completion of a segment with round-trip time `rtt':
 *		diff = (1 - alpha) * diff + alpha * (rtt - previous rtt)
 *		gradient = diff / min_rtt
 *		if rtt < t_low:
 *			rate += delta
 *		else if rtt > t_high:
 *			rate *= 1 - beta * (1 - t_high / rtt)
 *		else if gradient <= 0:
 *			rate += N * delta	N = hai after hai_after such
 *						gradients in a row, else 1
 *		else:
 *			rate *= 1 - beta * gradient
 *	each of these scaled by min(1, time since the last completion / min_rtt)
 *	no increase while the application sends 80 % of the rate or less
 *	rate = clamp(rate, min_rate, rate of the link)
 *	outstanding data <= a constant
 *
 * With t_low = t_high the gradient is never asked, and the rate steers for that
 * round-trip time (section 4.4).
 *
 * Patched TIMELY (Zhu et al.), an option, replaces what is done between the
 * thresholds:
 *
 *	w = clamp(2 * gradient + 1/2, 0, 1)
 *	rate = rate * (1 - beta' * w * (rtt - ref) / ref) + delta * (1 - w)
 *
 * The gradient is kept as magnitude and sign, for there is no signed division.
 *
 * Loss, which the paper excludes by flow control in the network, halves rate
 * and window, and the window grows from there as Reno's.  Without a delay
 * signal (no round-trip time was ever measured) that window is all there is.
 *
 * What it ignores: ECN marks, trimmed packets, the remote host's share of the
 * delay.  Deviations from the paper, each with its reason, are in
 * Documentation/timely.md.
 *
 * Expects: pacing in the stack (TCP's own or the fq qdisc), segments of
 * segment_bytes between two pacing delays, and ACKs that no queue delays.
 *
 * Papers: Mittal et al., "TIMELY: RTT-based Congestion Control for the
 * Datacenter", SIGCOMM 2015; Zhu et al., "ECN or Delay: Lessons Learnt from
 * Analysis of DCQCN and TIMELY", CoNEXT 2016 (patched TIMELY, first rate).
 */
#ifndef _QUELL_CORE_TIMELY_H
#define _QUELL_CORE_TIMELY_H

#include <quell/core/core.h>
#include <quell/core/math.h>
#include <quell/core/timely_params.h>

/* Segments of TCP a flow starts with when nothing is known (RFC 6928). */
#define QUELL_TIMELY_INIT_PKTS		10
/* Fraction bits of weights and cuts. */
#define QUELL_TIMELY_CUT_Q		32
#define QUELL_TIMELY_CUT_ONE		(1ULL << QUELL_TIMELY_CUT_Q)
/* Segments over which the application's demand is averaged. */
#define QUELL_TIMELY_DEMAND_SEGMENTS	8
/* Largest rate in the arithmetic: above any parameter, its Q16 fits 64 bits. */
#define QUELL_TIMELY_RATE_LIMIT		(1ULL << 40)
/* quell_timely_vars.flags */
#define QUELL_TIMELY_F_SIGNAL	0x1 /* a round-trip time was measured */
#define QUELL_TIMELY_F_PREV	0x2 /* prev_rtt_ns and last_ns are valid */
#define QUELL_TIMELY_F_FALLING	0x4 /* the average difference is negative */
#define QUELL_TIMELY_F_LOSS	0x8 /* the window is Reno's until it reaches its bound */

/**
 * struct quell_timely_vars - state of one flow
 * @rate_q16:		target rate, bytes/s Q16
 * @window_q16:		limit of outstanding data, bytes Q16
 * @diff_ns_q16:	magnitude of the average difference, ns Q16
 * @last_ns:		time of the last completion, ns
 * @prev_rtt_ns:	round-trip time of the last completion, ns, at most 2^32 - 1
 * @mss_bytes:		maximum segment size, > 0
 * @since_bytes:	acknowledged since the last completion
 * @sent_bytes:		what the application sent in the recent past
 * @allowed_bytes:	what the rate would have let it send meanwhile
 * @falling_nr:		gradients in a row that were not positive, at most 255
 * @flags:		QUELL_TIMELY_F_*
 *
 * Written by the functions below only, under the lock of the flow's socket.
 */
struct quell_timely_vars {
	u64	rate_q16;
	u64	window_q16;
	u64	diff_ns_q16;
	u64	last_ns;
	u32	prev_rtt_ns;
	u32	mss_bytes;
	u32	since_bytes;
	u32	sent_bytes;
	u32	allowed_bytes;
	u8	falling_nr;
	u8	flags;
};

/* Shares the 104 bytes of a socket's private area with the module's glue. */
static_assert(sizeof(struct quell_timely_vars) <= 64);

/**
 * struct quell_timely_stats - free-running counters
 * @below_low:		completions below t_low
 * @above_high:		completions above t_high
 * @gradient_up:	completions between them with a positive gradient
 * @gradient_down:	completions between them without
 * @hai:		those of @gradient_down that increased by more than one step
 * @partial:		ACKs for a part of a segment
 * @no_rtt:		ACKs without a round-trip time
 * @app_limited:	increases left out because the application sends too little
 * @fast_retx:		decreases because of a fast retransmit
 * @rtos:		retransmission timeouts
 * @restarts:		starts at the first rate after an idle time
 */
struct quell_timely_stats {
	u64	below_low;
	u64	above_high;
	u64	gradient_up;
	u64	gradient_down;
	u64	hai;
	u64	partial;
	u64	no_rtt;
	u64	app_limited;
	u64	fast_retx;
	u64	rtos;
	u64	restarts;
};

static inline u64 quell_timely_mss_q16(const struct quell_timely_vars *v)
{
	return (u64)v->mss_bytes << QUELL_Q16_SHIFT;
}

/* Largest rate: max_rate and the link's, whichever is known and smaller. */
static inline u64 quell_timely_cap_bytes_ps(const struct quell_timely_params *p,
					    u64 link_bytes_ps)
{
	u64 cap_bytes_ps = QUELL_TIMELY_RATE_LIMIT;

	if (p->max_rate_bytes_ps)
		cap_bytes_ps = p->max_rate_bytes_ps;
	if (link_bytes_ps)
		cap_bytes_ps = quell_min_u64(cap_bytes_ps, link_bytes_ps);
	return cap_bytes_ps;
}

/*
 * Section 3.3's static worst-case limit, bytes Q16: what the link carries in
 * t_high, the longest round trip that is tolerated, and two segments, because
 * the stack sends no more than half a window at once.
 */
static inline u64 quell_timely_bound_q16(const struct quell_timely_vars *v,
					 const struct quell_timely_params *p,
					 u64 link_bytes_ps)
{
	u64 bound_bytes = p->max_outstanding_bytes;

	if (!bound_bytes) {
		bound_bytes = quell_mul_div_u64(quell_timely_cap_bytes_ps(p, link_bytes_ps),
						p->t_high_ns, QUELL_NS_PER_SEC);
		bound_bytes += 2 * p->segment_bytes;
	}
	bound_bytes = quell_min_u64(bound_bytes,
				    QUELL_TIMELY_MAX_OUTSTANDING_BYTES_MAX);
	return quell_max_u64(bound_bytes << QUELL_Q16_SHIFT, quell_timely_mss_q16(v));
}

/*
 * The rate a flow starts with, before the limits, bytes/s: an equal share of
 * the link (Zhu et al.); without a known link ten packets per round trip.
 */
static inline u64 quell_timely_init_rate(const struct quell_timely_vars *v,
					 const struct quell_timely_params *p,
					 u64 link_bytes_ps, u64 rtt_ns, u32 others)
{
	u64 cap_bytes_ps = quell_timely_cap_bytes_ps(p, link_bytes_ps);

	if (p->init_rate_bytes_ps)
		return p->init_rate_bytes_ps;
	if (link_bytes_ps)
		return quell_div_u64(cap_bytes_ps, (u64)others + 1);
	return quell_div_u64((u64)QUELL_TIMELY_INIT_PKTS * v->mss_bytes * QUELL_NS_PER_SEC,
			     rtt_ns);
}

/* Limits rate and window and says what is to be done. */
static inline void quell_timely_decide(struct quell_timely_vars *v,
				       const struct quell_timely_params *p,
				       u64 link_bytes_ps, struct quell_decision *out)
{
	u64 cap_q16 = quell_min_u64(quell_timely_cap_bytes_ps(p, link_bytes_ps),
				    QUELL_TIMELY_RATE_LIMIT) << QUELL_Q16_SHIFT;
	u64 bound_q16 = quell_timely_bound_q16(v, p, link_bytes_ps);

	v->rate_q16 = quell_max_u64(v->rate_q16, p->min_rate_bytes_ps << QUELL_Q16_SHIFT);
	v->rate_q16 = quell_min_u64(v->rate_q16, cap_q16);
	if (v->window_q16 >= bound_q16)
		v->flags &= ~QUELL_TIMELY_F_LOSS;
	if (v->flags & QUELL_TIMELY_F_SIGNAL && !(v->flags & QUELL_TIMELY_F_LOSS))
		v->window_q16 = bound_q16;
	v->window_q16 = quell_min_u64(v->window_q16, bound_q16);
	v->window_q16 = quell_max_u64(v->window_q16, quell_timely_mss_q16(v));
	out->window_q16 = v->window_q16;
	out->pacing_bytes_ps = QUELL_RATE_UNLIMITED;
	if (v->flags & QUELL_TIMELY_F_SIGNAL)
		out->pacing_bytes_ps = quell_max_u64(v->rate_q16 >> QUELL_Q16_SHIFT, 1);
	out->target_ns = p->t_low_ns == p->t_high_ns ? p->t_low_ns : 0;
	out->change_path = false;
}

/* Whether the gradient is above zero. */
static inline bool quell_timely_rising(const struct quell_timely_vars *v)
{
	return v->diff_ns_q16 && !(v->flags & QUELL_TIMELY_F_FALLING);
}

/*
 * Lines 1 to 3 of Algorithm 1: the moving average of the differences, signs
 * apart from magnitudes.  (1 - alpha) is rounded toward zero, so that the
 * average of no change is none.  Below 2^48 + 2^48.
 */
static inline void quell_timely_average(struct quell_timely_vars *v,
					const struct quell_timely_params *p,
					u32 rtt_ns)
{
	u64 old_q16 = quell_mul_shr_u64(v->diff_ns_q16, QUELL_Q16_ONE - p->alpha_q16,
					QUELL_Q16_SHIFT);
	bool old_falls = v->flags & QUELL_TIMELY_F_FALLING;
	bool new_falls = rtt_ns < v->prev_rtt_ns;
	u64 new_q16;
	bool falls;

	new_q16 = new_falls ? v->prev_rtt_ns - rtt_ns : rtt_ns - v->prev_rtt_ns;
	new_q16 *= p->alpha_q16;
	falls = new_q16 > old_q16 ? new_falls : old_falls;
	if (old_falls == new_falls)
		v->diff_ns_q16 = old_q16 + new_q16;
	else
		v->diff_ns_q16 = quell_max_u64(old_q16, new_q16) -
				 quell_min_u64(old_q16, new_q16);
	v->flags &= ~QUELL_TIMELY_F_FALLING;
	if (falls)
		v->flags |= QUELL_TIMELY_F_FALLING;
	v->prev_rtt_ns = rtt_ns;
	if (quell_timely_rising(v))
		v->falling_nr = 0;
	else if (v->falling_nr < 255)
		v->falling_nr++;
}

/* beta times the gradient's magnitude, not above 1, Q32. */
static inline u64 quell_timely_gradient_cut_q32(const struct quell_timely_vars *v,
						const struct quell_timely_params *p,
						u64 beta_q16)
{
	return quell_min_u64(quell_mul_div_u64(v->diff_ns_q16, beta_q16, p->min_rtt_ns),
			     QUELL_TIMELY_CUT_ONE);
}

/*
 * Section 5: the share of a minimum round-trip time that passed since the last
 * completion, Q32, so that the completions of one together count once.
 */
static inline u64 quell_timely_weight_q32(const struct quell_timely_vars *v,
					  const struct quell_timely_params *p,
					  u64 now_ns)
{
	u64 since_ns = quell_sub_sat_u64(now_ns, v->last_ns);

	if (since_ns >= p->min_rtt_ns)
		return QUELL_TIMELY_CUT_ONE;
	return quell_div_u64(since_ns << QUELL_TIMELY_CUT_Q, p->min_rtt_ns);
}

/*
 * Section 5: notes what was sent, and what the rate would have allowed, since
 * the last completion.  Older bytes fade: the sum of what was allowed never
 * counts more than some segments.
 */
static inline void quell_timely_note_demand(struct quell_timely_vars *v,
					    const struct quell_timely_params *p,
					    u64 now_ns)
{
	u64 most_bytes = QUELL_TIMELY_DEMAND_SEGMENTS * p->segment_bytes;
	u64 since_ns = quell_sub_sat_u64(now_ns, v->last_ns);
	u64 allowed_bytes, sent_bytes;

	allowed_bytes = quell_mul_div_u64(v->rate_q16 >> QUELL_Q16_SHIFT, since_ns,
					  QUELL_NS_PER_SEC);
	allowed_bytes = quell_add_sat_u64(v->allowed_bytes, allowed_bytes);
	sent_bytes = (u64)v->sent_bytes + v->since_bytes;
	if (allowed_bytes > most_bytes) {
		sent_bytes = quell_mul_div_u64(sent_bytes, most_bytes, allowed_bytes);
		allowed_bytes = most_bytes;
	}
	/* More than was allowed is no credit for later. */
	v->sent_bytes = quell_min_u64(sent_bytes, most_bytes);
	v->allowed_bytes = allowed_bytes;
}

/* More than 80 % of what the rate allowed was sent. */
static inline bool quell_timely_has_demand(const struct quell_timely_vars *v)
{
	return 5ULL * v->sent_bytes > 4ULL * v->allowed_bytes;
}

static inline void quell_timely_increase(struct quell_timely_vars *v,
					 struct quell_timely_stats *st,
					 u64 step_bytes_ps, u64 weight_q32)
{
	if (!quell_timely_has_demand(v)) {
		st->app_limited++;
		return;
	}
	/* At most 2^34 * 1000 * 2^16 < 2^60. */
	v->rate_q16 += quell_mul_shr_u64(step_bytes_ps << QUELL_Q16_SHIFT, weight_q32,
					 QUELL_TIMELY_CUT_Q);
}

static inline void quell_timely_decrease(struct quell_timely_vars *v, u64 cut_q32,
					 u64 weight_q32)
{
	cut_q32 = quell_mul_shr_u64(cut_q32, weight_q32, QUELL_TIMELY_CUT_Q);
	v->rate_q16 -= quell_mul_shr_u64(v->rate_q16, cut_q32, QUELL_TIMELY_CUT_Q);
}

/* Between the thresholds as Zhu et al. patch it. */
static inline void quell_timely_patched(struct quell_timely_vars *v,
					const struct quell_timely_params *p,
					struct quell_timely_stats *st,
					u64 rtt_ns, u64 weight_q32)
{
	u64 twice_q32 = quell_timely_gradient_cut_q32(v, p, 2 * QUELL_Q16_ONE);
	u64 w_q32 = QUELL_TIMELY_CUT_ONE / 2;
	u64 error_ns, change_q32;

	w_q32 = quell_timely_rising(v) ?
		quell_min_u64(w_q32 + twice_q32, QUELL_TIMELY_CUT_ONE) :
		quell_sub_sat_u64(w_q32, twice_q32);
	error_ns = rtt_ns > p->patched_ref_ns ? rtt_ns - p->patched_ref_ns :
						p->patched_ref_ns - rtt_ns;
	change_q32 = quell_mul_div_u64(p->patched_beta_q16 << 16, error_ns,
				       p->patched_ref_ns);
	change_q32 = quell_mul_shr_u64(quell_min_u64(change_q32, QUELL_TIMELY_CUT_ONE),
				       w_q32, QUELL_TIMELY_CUT_Q);
	if (rtt_ns > p->patched_ref_ns)
		quell_timely_decrease(v, change_q32, weight_q32);
	else
		quell_timely_increase(v, st,
				      quell_mul_shr_u64(v->rate_q16 >> QUELL_Q16_SHIFT,
							change_q32, QUELL_TIMELY_CUT_Q),
				      weight_q32);
	quell_timely_increase(v, st,
			      quell_mul_shr_u64(p->delta_bytes_ps,
						QUELL_TIMELY_CUT_ONE - w_q32,
						QUELL_TIMELY_CUT_Q),
			      weight_q32);
}

/* Between the thresholds the gradient decides. */
static inline void quell_timely_gradient(struct quell_timely_vars *v,
					 const struct quell_timely_params *p,
					 struct quell_timely_stats *st,
					 u64 weight_q32)
{
	u64 steps = 1;

	if (quell_timely_rising(v)) {
		quell_timely_decrease(v, quell_timely_gradient_cut_q32(v, p, p->beta_q16),
				      weight_q32);
		return;
	}
	if (v->falling_nr >= p->hai_after_nr) {
		steps = p->hai_nr;
		st->hai++;
	}
	quell_timely_increase(v, st, steps * p->delta_bytes_ps, weight_q32);
}

/* Algorithm 1 from its fifth line on. */
static inline void quell_timely_update(struct quell_timely_vars *v,
				       const struct quell_timely_params *p,
				       struct quell_timely_stats *st,
				       u64 rtt_ns, u64 weight_q32)
{
	if (rtt_ns < p->t_low_ns) {
		st->below_low++;
		quell_timely_increase(v, st, p->delta_bytes_ps, weight_q32);
		return;
	}
	if (rtt_ns > p->t_high_ns) {
		st->above_high++;
		quell_timely_decrease(v, quell_mul_div_u64(p->beta_q16 << 16,
							   rtt_ns - p->t_high_ns, rtt_ns),
				      weight_q32);
		return;
	}
	if (quell_timely_rising(v))
		st->gradient_up++;
	else
		st->gradient_down++;
	if (p->patched_bool)
		quell_timely_patched(v, p, st, rtt_ns, weight_q32);
	else
		quell_timely_gradient(v, p, st, weight_q32);
}

/* A segment was acknowledged in full.  The first one has nothing to differ from. */
static inline void quell_timely_complete(struct quell_timely_vars *v,
					 const struct quell_timely_params *p,
					 struct quell_timely_stats *st,
					 const struct quell_sample *s)
{
	u32 rtt_ns = quell_min_u64(s->rtt_ns, 0xffffffffU);
	u64 weight_q32 = QUELL_TIMELY_CUT_ONE;

	if (v->flags & QUELL_TIMELY_F_PREV) {
		weight_q32 = quell_timely_weight_q32(v, p, s->now_ns);
		quell_timely_note_demand(v, p, s->now_ns);
		quell_timely_average(v, p, rtt_ns);
	} else {
		v->sent_bytes = v->since_bytes;
		v->prev_rtt_ns = rtt_ns;
		v->flags |= QUELL_TIMELY_F_PREV;
	}
	v->last_ns = s->now_ns;
	v->since_bytes = 0;
	quell_timely_update(v, p, st, rtt_ns, weight_q32);
}

/* What a window below its bound gains: one packet per window, as Reno's. */
static inline void quell_timely_grow_window(struct quell_timely_vars *v,
					    u32 acked_bytes)
{
	u64 mss_q16 = quell_timely_mss_q16(v);
	u64 step_q16 = quell_mul_div_u64(mss_q16, (u64)acked_bytes << QUELL_Q16_SHIFT,
					 quell_max_u64(v->window_q16, mss_q16));

	v->window_q16 = quell_add_sat_u64(v->window_q16, step_q16);
}

/**
 * quell_timely_init() - start a flow
 * @v:             set in full
 * @p:             parameters, within their ranges
 * @link_bytes_ps: rate of the interface the flow leaves by, bytes/s; 0 unknown
 * @rtt_ns:        round-trip time of the handshake, ns; 0 none
 * @mss_bytes:     maximum segment size; 0 counts as 1
 * @others:        flows of the same host to share the link with
 * @now_ns:        time, ns
 * @out:           set in full
 *
 * Context: any; the caller serialises per flow.
 */
static inline void quell_timely_init(struct quell_timely_vars *v,
				     const struct quell_timely_params *p,
				     u64 link_bytes_ps, u64 rtt_ns, u32 mss_bytes,
				     u32 others, u64 now_ns,
				     struct quell_decision *out)
{
	v->diff_ns_q16 = 0;
	v->last_ns = now_ns;
	v->prev_rtt_ns = 0;
	v->mss_bytes = mss_bytes ? mss_bytes : 1;
	v->since_bytes = 0;
	v->sent_bytes = 0;
	v->allowed_bytes = 0;
	v->falling_nr = 0;
	v->flags = rtt_ns ? QUELL_TIMELY_F_SIGNAL : 0;
	v->window_q16 = QUELL_TIMELY_INIT_PKTS * quell_timely_mss_q16(v);
	v->rate_q16 = quell_min_u64(quell_timely_init_rate(v, p, link_bytes_ps, rtt_ns,
							   others),
				    QUELL_TIMELY_RATE_LIMIT) << QUELL_Q16_SHIFT;
	quell_timely_decide(v, p, link_bytes_ps, out);
}

/**
 * quell_timely_on_ack() - new data was acknowledged
 * @v:   state of the flow
 * @p:   parameters, within their ranges
 * @st:  counters
 * @s:   what the ACK said
 * @out: set in full
 *
 * The ACK completes a segment when it says so (QUELL_S_SEGMENT_DONE), or when a
 * segment's worth of bytes was acknowledged since the last completion, which
 * covers lost and merged ACKs and the stack's own round-trip times.
 *
 * Context: any; the caller serialises per flow.
 */
static inline void quell_timely_on_ack(struct quell_timely_vars *v,
				       const struct quell_timely_params *p,
				       struct quell_timely_stats *st,
				       const struct quell_sample *s,
				       struct quell_decision *out)
{
	if (s->mss_bytes)
		v->mss_bytes = s->mss_bytes;
	v->since_bytes = quell_min_u64((u64)v->since_bytes + s->acked_bytes, 1U << 31);
	if (v->flags & QUELL_TIMELY_F_LOSS || !(v->flags & QUELL_TIMELY_F_SIGNAL))
		quell_timely_grow_window(v, s->acked_bytes);
	if (!s->rtt_ns) {
		st->no_rtt++;
	} else if (!(s->flags & QUELL_S_SEGMENT_DONE) &&
		   v->since_bytes < p->segment_bytes) {
		st->partial++;
	} else {
		v->flags |= QUELL_TIMELY_F_SIGNAL;
		quell_timely_complete(v, p, st, s);
	}
	quell_timely_decide(v, p, s->link_bytes_ps, out);
}

/**
 * quell_timely_on_loss() - fast retransmit began
 * @v:   state of the flow
 * @p:   parameters, within their ranges
 * @st:  counters
 * @s:   the sample at hand
 * @out: set in full
 *
 * To be called once per recovery episode.
 *
 * Context: any; the caller serialises per flow.
 */
static inline void quell_timely_on_loss(struct quell_timely_vars *v,
					const struct quell_timely_params *p,
					struct quell_timely_stats *st,
					const struct quell_sample *s,
					struct quell_decision *out)
{
	u64 flight_q16 = (u64)s->inflight_bytes << QUELL_Q16_SHIFT;

	v->rate_q16 /= 2;
	v->window_q16 = quell_min_u64(v->window_q16, flight_q16) / 2;
	v->flags |= QUELL_TIMELY_F_LOSS;
	st->fast_retx++;
	quell_timely_decide(v, p, s->link_bytes_ps, out);
}

/**
 * quell_timely_on_rto() - a retransmission timeout
 * @v:   state of the flow
 * @p:   parameters, within their ranges
 * @st:  counters
 * @s:   the sample at hand
 * @out: set in full
 *
 * Smallest rate, a window of one packet.
 *
 * Context: any; the caller serialises per flow.
 */
static inline void quell_timely_on_rto(struct quell_timely_vars *v,
				       const struct quell_timely_params *p,
				       struct quell_timely_stats *st,
				       const struct quell_sample *s,
				       struct quell_decision *out)
{
	v->rate_q16 = 0;
	v->window_q16 = 0;
	v->flags |= QUELL_TIMELY_F_LOSS;
	st->rtos++;
	quell_timely_decide(v, p, s->link_bytes_ps, out);
}

/**
 * quell_timely_on_idle_restart() - data to send after none was outstanding
 * @v:       state of the flow
 * @p:       parameters, within their ranges
 * @st:      counters
 * @s:       the sample at hand
 * @others:  flows of the same host to share the link with
 * @idle_ns: time since the last acknowledgment, ns
 * @out:     set in full
 *
 * The rate is kept unless restart_idle is set and has passed, and is not raised
 * while a loss is not made good.
 *
 * Context: any; the caller serialises per flow.
 */
static inline void quell_timely_on_idle_restart(struct quell_timely_vars *v,
						const struct quell_timely_params *p,
						struct quell_timely_stats *st,
						const struct quell_sample *s,
						u32 others, u64 idle_ns,
						struct quell_decision *out)
{
	u64 rate_q16;

	if (p->restart_idle_ns && idle_ns >= p->restart_idle_ns &&
	    !(v->flags & QUELL_TIMELY_F_LOSS)) {
		rate_q16 = quell_timely_init_rate(v, p, s->link_bytes_ps,
						  s->min_rtt_ns, others);
		v->rate_q16 = quell_min_u64(rate_q16, QUELL_TIMELY_RATE_LIMIT) <<
			      QUELL_Q16_SHIFT;
		v->flags &= ~(QUELL_TIMELY_F_PREV | QUELL_TIMELY_F_FALLING);
		v->diff_ns_q16 = 0;
		v->falling_nr = 0;
		v->allowed_bytes = 0;
		st->restarts++;
	}
	quell_timely_decide(v, p, s->link_bytes_ps, out);
}

/**
 * quell_timely_segment_pkts() - packets between two pacing delays
 * @p:         parameters
 * @mss_bytes: maximum segment size; 0 counts as 1
 *
 * Context: any.
 * Return: as many whole packets as segment_bytes hold, at least 1.
 */
static inline u32 quell_timely_segment_pkts(const struct quell_timely_params *p,
					    u32 mss_bytes)
{
	return quell_max_u64(quell_div_u64(p->segment_bytes, mss_bytes ? mss_bytes : 1), 1);
}

#endif /* _QUELL_CORE_TIMELY_H */
