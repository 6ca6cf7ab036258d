/* SPDX-License-Identifier: GPL-2.0 */
/*
 * FAST*, with which the TIMELY paper compares itself (section 6.1, Table 1), for quell_labfast and
 * the unit tests: TIMELY with the equation of TCP FAST (Wei, Jin, Low, Hegde, "FAST TCP:
 * Motivation, Architecture, Algorithms, Performance", 2006) in place of Algorithm 1.
 *
 *	on the completion of a segment with round-trip time rtt:
 *		rate = min(2 rate, (1 - gamma) rate + gamma (base / rtt * rate + alpha))
 *
 * FAST has the window for the rate, and in alpha packets in the network's queues; the TIMELY paper
 * says that it adjusts the pacing rate instead, and that alpha becomes a throughput.  It says no
 * more.  As FAST has it, base is the smallest round-trip time that the flow measured.  Ours: gamma,
 * which FAST leaves between 0 and 1; the round-trip time of the completion where FAST has an
 * average.  The frame of Algorithm 1 is kept: the segments, the scaling by the share of a
 * minimum round-trip time since the last completion, no increase without demand, the limits, and
 * the reaction to loss.  TIMELY's counters count the cases of Algorithm 1, which has no effect.
 */
#ifndef _QUELL_LAB_TIMELY_FAST_H
#define _QUELL_LAB_TIMELY_FAST_H

#include <quell/core/timely/core.h>

#define QUELL_TIMELY_FAST_ALPHA_BYTES_PS_MIN		1000ULL
#define QUELL_TIMELY_FAST_ALPHA_BYTES_PS_MAX		12500000000ULL
/* 50 Mbit/s, Table 1; most: 100 Gbit/s */
#define QUELL_TIMELY_FAST_ALPHA_BYTES_PS \
	QUELL_RANGE(6250000, QUELL_TIMELY_FAST_ALPHA_BYTES_PS_MIN, \
		    QUELL_TIMELY_FAST_ALPHA_BYTES_PS_MAX)
#define QUELL_TIMELY_FAST_GAMMA_Q16	QUELL_RANGE(32768, 1, 65536) /* one half */
#define QUELL_TIMELY_FAST_BASE_NS	QUELL_RANGE(0, 0, 1000000000)

#define TIMELY_FAST_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct timely_fast_params, name_, unit_, field_, TIMELY_FAST_##range_, doc_)

/* Parameters of FAST*. */
struct timely_fast_params {
	struct quell_timely_params	timely;	/* TIMELY's */
	/* Throughput of the flow that is buffered in the network, bytes/s. */
	u64				alpha_bytes_ps;
	u64				gamma_q16;	/* weight of the new rate */
	/* Round-trip time without queues, ns; 0: the smallest that the flow measured. */
	u64				base_ns;
};

static const struct quell_param_desc timely_fast_own_params[] = {
	TIMELY_FAST_PARAM("fast-alpha", BYTES_PS, alpha_bytes_ps, ALPHA_BYTES_PS,
			  "Throughput of the flow that is buffered in the network."),
	TIMELY_FAST_PARAM("fast-gamma", Q16, gamma_q16, GAMMA_Q16, "Weight of the new rate."),
	TIMELY_FAST_PARAM("fast-base", NS, base_ns, BASE_NS,
			  "Round-trip time without queues; 0 is the smallest measured."),
};

#define TIMELY_FAST_PARAMS_NR \
	(QUELL_ARRAY_NR(quell_timely_core_params) + QUELL_ARRAY_NR(timely_fast_own_params))

/*
 * The equation of FAST.  (1 - gamma) rate + gamma (base / rtt * rate + alpha) is the rate and gamma
 * times the difference of alpha and the part of the rate that queues hold, (rtt - base) / rtt.
 * Returns the new rate, with an error of at most two units in the last place.
 */
static inline u64 timely_fast_rate_q16(u64 rate_q16, u64 rtt_ns, u64 base_ns, u64 alpha_bytes_ps,
				       u64 weight_q32)
{
	u64 queued_q16 = quell_mul_div_u64(rate_q16, quell_sub_sat_u64(rtt_ns, base_ns), rtt_ns);
	u64 alpha_q16 = alpha_bytes_ps << QUELL_Q16_SHIFT;

	if (queued_q16 > alpha_q16)
		return rate_q16 - quell_mul_shr_fits_u64(queued_q16 - alpha_q16, weight_q32,
							 QUELL_TIMELY_DECREASE_Q);
	return quell_min_u64(2 * rate_q16,
			     rate_q16 + quell_mul_shr_fits_u64(alpha_q16 - queued_q16, weight_q32,
							       QUELL_TIMELY_DECREASE_Q));
}

/* The rate after a completion; before is the flow's state when it came. */
static inline u64 timely_fast_next_q16(const struct quell_event *ev,
				       const struct quell_timely_vars *before)
{
	const struct timely_fast_params *p = ev->params;
	u64 base_ns = p->base_ns ? p->base_ns : ev->sample.min_rtt_ns;
	u64 weight_q32 = p->gamma_q16 << (QUELL_TIMELY_DECREASE_Q - QUELL_Q16_SHIFT);
	u64 next_q16;

	if (before->flags & QUELL_TIMELY_F_PREV)
		weight_q32 = quell_mul_shr_fits_u64(weight_q32,
						    quell_timely_weight_q32(before, &p->timely,
									    ev->sample.now_ns),
						    QUELL_TIMELY_DECREASE_Q);
	next_q16 = timely_fast_rate_q16(before->rate_q16, ev->sample.rtt_ns, base_ns,
					p->alpha_bytes_ps, weight_q32);
	if (next_q16 > before->rate_q16 && !quell_timely_has_demand(ev->vars))
		return before->rate_q16;
	return next_q16;
}

/*
 * The core does all of it, and where it took the ACK for a completion FAST's rate replaces its own.
 */
static inline void timely_fast_on_ack(struct quell_event *ev)
{
	const struct timely_fast_params *p = ev->params;
	const struct quell_timely_stats *stats = ev->stats;
	u64 others = stats->no_rtt + stats->partial;
	struct quell_timely_vars *v = ev->vars;
	struct quell_timely_vars before = *v;

	quell_timely_core_on_ack(ev);
	if (stats->no_rtt + stats->partial != others)
		return;
	v->rate_q16 = timely_fast_next_q16(ev, &before);
	quell_timely_decide(v, &p->timely, ev->sample.link_bytes_ps, &ev->decision);
}

/* FAST* as an algorithm: TIMELY's core with these parameters and this event. */
static inline struct quell_core timely_fast_core(struct quell_param_desc *params)
{
	struct quell_core core = quell_timely_core;

	__builtin_memcpy(params, quell_timely_core_params, sizeof(quell_timely_core_params));
	__builtin_memcpy(params + QUELL_ARRAY_NR(quell_timely_core_params), timely_fast_own_params,
			 sizeof(timely_fast_own_params));
	core.params = params;
	core.params_nr = TIMELY_FAST_PARAMS_NR;
	core.params_bytes = sizeof(struct timely_fast_params);
	core.on_ack = QUELL_CORE_ON_ACK(timely_fast_on_ack);
	return core;
}

#endif /* _QUELL_LAB_TIMELY_FAST_H */
