/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SMaRTT: increases of the window, by FastIncrease (section III-F) and by fair
 * and proportional increase (equations 2 and 3), and when they take effect (III-G).
 */
#ifndef _QUELL_CORE_SMARTT_INCREASE_H
#define _QUELL_CORE_SMARTT_INCREASE_H

#include <quell/core/smartt/vars.h>

/*
 * III-J scales increases by the NIC's rate, and FastIncrease triples the window.  Where the path
 * is slower than the NIC, or flows are many, either fills a buffer within a round trip.  On a path
 * that is not configured a window increases by one part in QUELL_SMARTT_STEP_SHARE of it per round
 * trip, by a segment at least or, if it is below one, by itself; by FastIncrease as in slow start.
 */
#define QUELL_SMARTT_STEP_SHARE	4

/* Algorithm 3; true while active.  2 MTU per ACK of one MTU are 2 bytes per byte. */
static inline bool quell_smartt_fast_increase(struct quell_smartt_vars *v,
					      const struct quell_smartt_params *p,
					      struct quell_smartt_stats *st,
					      const struct quell_sample *s, u64 rtt_ns)
{
	/* The delay excludes most ACKs, so it is checked first. */
	if (rtt_ns > v->base_rtt_ns + p->fast_slack_ns || s->marked_bytes || !p->fast_q16) {
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
	v->window_q16 += s->acked_bytes *
			 quell_min_u64(p->fast_q16, p->adapt_bool ? QUELL_Q16_ONE : p->fast_q16);
	st->fast_increases++;
	return true;
}

/* An increase given in segments, scaled by the path's BDP, bytes Q16 below 2^46. */
static inline u64 quell_smartt_step_q16(const struct quell_smartt_vars *v, u64 pkts_q16)
{
	return (pkts_q16 * v->unit_q8) >> QUELL_SMARTT_UNIT_Q;
}

/*
 * Equation 3 without acked / window: the largest step times the share that (target - rtt) / rtt has
 * of its value at rtt = base_rtt, bytes Q16.  At most the window, which bounds the increase by the
 * bytes acknowledged.  Delays are below 2^31 ns, pi below 2^23, and the share at most 1.
 */
static inline u64 quell_smartt_proportional_q16(const struct quell_smartt_vars *v,
						const struct quell_smartt_params *p,
						const struct quell_smartt_delay *d)
{
	u64 share_q24, pi_q24;

	share_q24 = quell_div_u64((d->target_ns - d->rtt_ns) << QUELL_SMARTT_SHARE_Q,
				  d->target_ns - v->base_rtt_ns);
	share_q24 = quell_div_u64(share_q24 * v->base_rtt_ns, d->rtt_ns);
	pi_q24 = (p->pi_pkts_q16 * share_q24) >> QUELL_Q16_SHIFT;
	return quell_min_u64((pi_q24 * v->unit_q8) >> QUELL_Q16_SHIFT, v->window_q16);
}

/* The step that the path may bear, see QUELL_SMARTT_STEP_SHARE. */
static inline u64 quell_smartt_bound_q16(const struct quell_smartt_vars *v,
					 const struct quell_smartt_params *p, u64 step_q16)
{
	if (!p->adapt_bool)
		return step_q16;
	return quell_min_u64(step_q16, quell_max_u64(v->window_q16 / QUELL_SMARTT_STEP_SHARE,
						     quell_min_u64(v->window_q16,
								   quell_mss_q16(v->mss_bytes))));
}

/* Equations 2 and 3 for @bytes unmarked bytes: adds their increase times the window. */
static inline void quell_smartt_increase(struct quell_smartt_vars *v,
					 const struct quell_smartt_params *p,
					 struct quell_smartt_stats *st, u32 bytes,
					 const struct quell_smartt_delay *d)
{
	u64 step_q16 = 0, more_bytes2;

	if (d->rtt_ns >= d->target_ns || p->pi_fair)
		step_q16 = quell_smartt_step_q16(v, p->fi_pkts_q16);
	if (d->rtt_ns >= d->target_ns) {
		st->fair_increases++;
	} else {
		step_q16 += quell_smartt_proportional_q16(v, p, d);
		st->proportional_increases++;
	}
	step_q16 = quell_smartt_bound_q16(v, p, step_q16);
	/* A step has 47 bits, the bytes of an ACK up to 32. */
	more_bytes2 = quell_mul_shr_fits_u64(step_q16, bytes, QUELL_Q16_SHIFT);
	v->pending_bytes2 = quell_add_sat_u64(v->pending_bytes2, more_bytes2);
}

/* quell_smartt_due_q16() of 2^32 bytes squared or more. */
static __rare u64 quell_smartt_due_long_q16(const struct quell_smartt_vars *v)
{
	return quell_min_u64(quell_mul_div_u64(v->pending_bytes2, 1ULL << 32, v->window_q16),
			     1ULL << 62);
}

/*
 * The pending increase divided by the window, bytes Q16; usually one plain division.  At most
 * 2^62, which is above any window: a window of one byte less the largest decrease is 2^9 in Q16.
 */
static inline u64 quell_smartt_due_q16(const struct quell_smartt_vars *v)
{
	if (v->pending_bytes2 >> 32)
		return quell_smartt_due_long_q16(v);
	return quell_div_positive_u64(v->pending_bytes2 << 32, v->window_q16);
}

/* A base round trip passed: the path may have changed, or may be changed. */
static inline void quell_smartt_next_round(struct quell_smartt_vars *v,
					   const struct quell_smartt_params *p,
					   const struct quell_sample *s)
{
	bool rerouted = v->flags & QUELL_SMARTT_F_REROUTED;

	v->round_ns = s->now_ns;
	v->flags &= ~(QUELL_SMARTT_F_REROUTED | QUELL_SMARTT_F_NEW_PATH);
	if (rerouted)
		v->flags |= QUELL_SMARTT_F_NEW_PATH;
	quell_smartt_scale(v, p, s->link_bytes_ps);
}

/* Section III-G: adds the accumulated increase to the window. */
static inline void quell_smartt_settle(struct quell_smartt_vars *v,
				       const struct quell_smartt_params *p,
				       const struct quell_sample *s)
{
	bool round = quell_smartt_passed(s->now_ns, v->round_ns, v->base_rtt_ns);
	u64 pkts = (u64)v->batch_pkts + s->acked_pkts;
	u64 due_q16 = 0;

	if (!round && pkts < p->batch_pkts) {
		v->batch_pkts = pkts;
		return;
	}
	v->batch_pkts = 0;
	if (v->pending_bytes2) {
		due_q16 = quell_smartt_due_q16(v);
		v->pending_bytes2 = 0;
	}
	if (round) {
		if (p->eta_pkts_q16 && !(s->flags & QUELL_S_APP_LIMITED))
			due_q16 += quell_smartt_bound_q16(v, p,
				quell_smartt_step_q16(v, p->eta_pkts_q16));
		quell_smartt_next_round(v, p, s);
	}
	v->window_q16 += due_q16;
}

#endif /* _QUELL_CORE_SMARTT_INCREASE_H */
