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
 *			rate += N * delta	N = hai after hai_after round-trip
 *						times that fell in a row, else 1
 *		else:
 *			rate *= 1 - beta * gradient
 *	each of these scaled by min(1, time since the last completion / min_rtt)
 *	no increase while the application sends 80 % of the rate or less
 *	rate = clamp(rate, min_rate, rate of the link)
 *	outstanding data <= a constant
 *
 * With t_low = t_high the gradient has practically no effect, and the rate steers for that
 * round-trip time (section 4.4).
 *
 * Patched TIMELY (Zhu et al.), an option, replaces the reaction between the thresholds:
 *
 *	w = clamp(2 * gradient + 1/2, 0, 1)
 *	rate = rate * (1 - beta' * w * (rtt - ref) / ref) + delta * (1 - w)
 *
 * The gradient is kept as magnitude and sign, for there is no signed division.
 *
 * Loss, which the paper excludes by flow control in the network, halves rate
 * and window, and the window grows from there as Reno's.  Without a delay
 * signal (no round-trip time was ever measured) only that window limits the flow.
 *
 * Ignored inputs: ECN marks, trimmed packets, the remote host's share of the delay.  Deviations
 * from the paper, each with its reason, are in Documentation/timely.md.
 *
 * Expects: pacing in the stack (TCP's own or the fq qdisc), segments of
 * segment_bytes between two pacing delays, and ACKs that no queue delays.
 *
 * Papers: Mittal et al., "TIMELY: RTT-based Congestion Control for the
 * Datacenter", SIGCOMM 2015; Zhu et al., "ECN or Delay: Lessons Learnt from
 * Analysis of DCQCN and TIMELY", CoNEXT 2016 (patched TIMELY, first rate).
 */
#ifndef _QUELL_CORE_TIMELY_REACT_H
#define _QUELL_CORE_TIMELY_REACT_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>
#include <quell/core/lib/undo.h>
#include <quell/core/lib/window.h>
#include <quell/core/timely/params.h>
#include <quell/core/timely/rate.h>

/* Largest rate in the arithmetic: above any parameter, its Q16 fits 64 bits. */
#define QUELL_TIMELY_RATE_LIMIT		(1ULL << 40)

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
 * Section 3.3's static worst-case limit, bytes Q16: the bytes that the link carries
 * in t_high, the longest tolerated round trip, and two segments, because
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
	return quell_max_u64(bound_bytes << QUELL_Q16_SHIFT, quell_mss_q16(v->mss_bytes));
}

/*
 * The rate a flow starts with, before the limits, bytes/s: an equal share of
 * the link (Zhu et al.); without a known link ten packets per round trip.
 */
static inline u64 quell_timely_init_rate(const struct quell_timely_vars *v,
					 const struct quell_timely_params *p,
					 const struct quell_sample *s)
{
	u64 cap_bytes_ps = quell_timely_cap_bytes_ps(p, s->link_bytes_ps);

	if (p->init_rate_bytes_ps)
		return p->init_rate_bytes_ps;
	if (s->link_bytes_ps)
		return quell_div_u64(cap_bytes_ps, (u64)s->other_flows + 1);
	return quell_div_u64((u64)QUELL_INIT_SEGMENTS * v->mss_bytes * QUELL_NS_PER_SEC,
			     s->min_rtt_ns);
}

/* Limits rate and window and fills in the decision. */
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
	v->window_q16 = quell_max_u64(v->window_q16, quell_mss_q16(v->mss_bytes));
	out->window_q16 = v->window_q16;
	out->pacing_bytes_ps = QUELL_RATE_UNLIMITED;
	if (v->flags & QUELL_TIMELY_F_SIGNAL)
		out->pacing_bytes_ps = quell_max_u64(v->rate_q16 >> QUELL_Q16_SHIFT, 1);
	out->target_ns = p->t_low_ns == p->t_high_ns ? p->t_low_ns : 0;
	out->change_path = false;
}

static inline void quell_timely_init(struct quell_timely_vars *v,
				     const struct quell_timely_params *p,
				     const struct quell_sample *s, struct quell_decision *out)
{
	v->diff_ns_q16 = 0;
	v->last_ns = s->now_ns;
	v->prev_rtt_ns = 0;
	v->mss_bytes = s->mss_bytes ? s->mss_bytes : 1;
	v->since_bytes = 0;
	v->sent_bytes = 0;
	v->allowed_bytes = 0;
	v->falling_nr = 0;
	v->flags = s->min_rtt_ns ? QUELL_TIMELY_F_SIGNAL : 0;
	v->window_q16 = quell_init_window_q16(v->mss_bytes);
	v->rate_q16 = quell_min_u64(quell_timely_init_rate(v, p, s), QUELL_TIMELY_RATE_LIMIT)
		      << QUELL_Q16_SHIFT;
	quell_timely_decide(v, p, s->link_bytes_ps, out);
}

/* The path, and with it the segment size, may change at any event. */
static inline void quell_timely_observe(struct quell_timely_vars *v,
					const struct quell_sample *s)
{
	if (s->mss_bytes)
		v->mss_bytes = s->mss_bytes;
}

/*
 * The ACK completes a segment if its sample has QUELL_S_SEGMENT_DONE, or if a segment's worth of
 * bytes was acknowledged since the last completion, which covers lost and merged ACKs and the
 * stack's own round-trip times.
 */
static inline __flatten void quell_timely_on_ack(struct quell_timely_vars *v,
						 const struct quell_timely_params *p,
						 struct quell_timely_stats *st,
						 const struct quell_sample *s,
						 struct quell_decision *out)
{
	quell_timely_observe(v, s);
	v->since_bytes = quell_min_u64((u64)v->since_bytes + s->acked_bytes, 1U << 31);
	if (v->flags & QUELL_TIMELY_F_LOSS || !(v->flags & QUELL_TIMELY_F_SIGNAL))
		v->window_q16 = quell_reno_window_q16(v->window_q16, s->acked_bytes,
						      v->mss_bytes);
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

static inline void quell_timely_on_loss(struct quell_timely_vars *v,
					const struct quell_timely_params *p,
					struct quell_timely_stats *st,
					const struct quell_sample *s,
					struct quell_decision *out)
{
	u64 flight_q16 = (u64)s->inflight_bytes << QUELL_Q16_SHIFT;

	quell_timely_observe(v, s);
	v->rate_q16 /= 2;
	v->window_q16 = quell_min_u64(v->window_q16, flight_q16) / 2;
	v->flags |= QUELL_TIMELY_F_LOSS;
	st->fast_retx++;
	quell_timely_decide(v, p, s->link_bytes_ps, out);
}

/* The rate becomes the smallest rate, the window one packet. */
static inline void quell_timely_on_rto(struct quell_timely_vars *v,
				       const struct quell_timely_params *p,
				       struct quell_timely_stats *st,
				       const struct quell_sample *s,
				       struct quell_decision *out)
{
	quell_timely_observe(v, s);
	v->rate_q16 = 0;
	v->window_q16 = 0;
	v->flags |= QUELL_TIMELY_F_LOSS;
	st->rtos++;
	quell_timely_decide(v, p, s->link_bytes_ps, out);
}

static inline void quell_timely_undo_note(struct quell_undo *u,
					  const struct quell_timely_vars *before,
					  const struct quell_timely_vars *after)
{
	quell_undo_record(u, before->flags & QUELL_TIMELY_F_LOSS);
	quell_undo_note(&u->part[0], before->rate_q16, after->rate_q16);
	quell_undo_note(&u->part[1], before->window_q16, after->window_q16);
}

static inline void quell_timely_on_undo(struct quell_timely_vars *v,
					const struct quell_timely_params *p,
					const struct quell_sample *s,
					const struct quell_undo *u,
					struct quell_decision *out)
{
	quell_timely_observe(v, s);
	v->rate_q16 = quell_undo_given_back(&u->part[0], v->rate_q16);
	v->window_q16 = quell_undo_given_back(&u->part[1], v->window_q16);
	quell_timely_decide(v, p, s->link_bytes_ps, out);
}

/*
 * The rate is kept unless restart_idle is set and has passed, and it is also kept while the window
 * has not recovered from a loss.
 */
static inline void quell_timely_on_idle_restart(struct quell_timely_vars *v,
						const struct quell_timely_params *p,
						struct quell_timely_stats *st,
						const struct quell_sample *s,
						struct quell_decision *out)
{
	u64 rate_q16;

	quell_timely_observe(v, s);
	if (quell_is_restart(p->restart_idle_ns, s->idle_ns) && !(v->flags & QUELL_TIMELY_F_LOSS)) {
		rate_q16 = quell_timely_init_rate(v, p, s);
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

/* Packets between two pacing delays: as many whole ones as segment_bytes hold, at least 1. */
static inline u32 quell_timely_segment_pkts(const struct quell_timely_params *p,
					    u32 mss_bytes)
{
	return quell_max_u64(quell_div_u64(p->segment_bytes, mss_bytes ? mss_bytes : 1), 1);
}

#endif /* _QUELL_CORE_TIMELY_REACT_H */
