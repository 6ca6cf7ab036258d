/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the comparisons of hpcc and hpcc_vaisf with their models: starting the model
 * from the core's state, samples around the interesting points, and bounds of the rounding
 * error of one step.
 */
#ifndef _QUELL_TEST_HPCC_MODEL_STEP_H
#define _QUELL_TEST_HPCC_MODEL_STEP_H

#include <math.h>

#include <quell/core/hpcc/react.h>

#include "hpcc_model.h"
#include "model_steps.h"

static inline void hpcc_model_params_of(struct hpcc_model_params *mp,
					const struct quell_hpcc_params *p)
{
	mp->eta = p->eta_q16 / 65536.0;
	mp->max_stage = p->max_stage_steps;
	mp->ai_bytes_per_ns = p->ai_bytes_ps / 1e9;
	mp->base_rtt_ns = p->base_rtt_ns;
	mp->min_rate_bytes_per_ns = p->min_rate_bytes_ps / 1e9;
	mp->max_window_bytes = p->max_window_bytes;
	mp->init_window_bytes = p->init_window_bytes;
	mp->restart_idle_ns = p->restart_idle_ns;
	mp->retx_reset_threshold = p->retx_reset_rtos;
	mp->probabilistic = p->probabilistic;
}

/* Set the model to the core's state. */
static inline void hpcc_model_follow(struct hpcc_model *m, const struct quell_hpcc_vars *v)
{
	m->wc = v->window_q16 / 65536.0;
	m->window_bytes = m->wc;
	m->u = v->util_q24 / 16777216.0;
	m->inc_stage = v->stage;
	m->l.hop = v->hop;
	m->l.qlen_bytes = v->queue_bytes;
	m->l.tx_units = v->tx_units;
	m->l.ts_ns = v->time_ns;
	m->l_arrived_ns = v->recorded_ns;
	m->min_rtt_ns = v->min_rtt_ns;
	m->mss_bytes = v->mss_bytes;
	m->bytes_left_of_rtt = v->round_bytes;
	m->retransmit_cnt = v->rtos;
	m->rtt_begun = v->flags & QUELL_HPCC_F_ROUND;
	m->uses_int = v->flags & QUELL_HPCC_F_TELEMETRY;
	m->u_applies = v->flags & QUELL_HPCC_F_UTIL;
	m->u_in_this_rtt = v->flags & QUELL_HPCC_F_MEASURED;
	m->congested_in_this_rtt = v->flags & QUELL_HPCC_F_CONGESTED;
	m->loss_pending = v->flags & QUELL_HPCC_F_LOSS;
}

static inline struct hpcc_model_event hpcc_model_event_of(const struct quell_sample *s)
{
	return (struct hpcc_model_event) {
		.now_ns = s->now_ns, .min_rtt_ns = s->min_rtt_ns,
		.link_bytes_per_ns = s->link_bytes_ps / 1e9,
		.acked_bytes = s->acked_bytes, .inflight_bytes = s->inflight_bytes,
		.app_limited = s->flags & QUELL_S_APP_LIMITED,
		.l = {
			.hop = s->telemetry.hop,
			.b_bytes_per_ns = s->telemetry.link_bytes_ps / 1e9,
			.qlen_bytes = s->telemetry.queue_bytes,
			.tx_units = s->telemetry.tx_units,
			.ts_ns = s->telemetry.time_ns,
		},
	};
}

static inline double random_factor(struct random_state *r, double low_log2, double high_log2)
{
	return exp2(low_log2 + (high_log2 - low_log2) * random_between(r, 0, 1 << 20) / (1 << 20));
}

/* Random state within the range that calls of the core can leave. */
static inline void hpcc_random_state(struct random_state *r, struct quell_hpcc_vars *v,
				     const struct quell_hpcc_params *p)
{
	v->window_q16 = random_magnitude(r, 1 << 16, p->max_window_bytes << 16);
	v->util_q24 = QUELL_HPCC_UTIL_ONE * random_factor(r, -4, 4);
	v->stage = random_between(r, 0, p->max_stage_steps + 1);
	v->round_bytes = random_between(r, 0, 1) ? 0 : random_magnitude(r, 0, 1 << 30);
	v->hop = random_between(r, 0, 15) ? 3 : 0;
	v->flags = random_between(r, 0, 63);
	if (v->hop)
		v->flags |= QUELL_HPCC_F_TELEMETRY;
	if (!v->hop || !(v->flags & QUELL_HPCC_F_UTIL))
		v->flags &= ~(QUELL_HPCC_F_UTIL | QUELL_HPCC_F_MEASURED);
	if (!(v->flags & QUELL_HPCC_F_MEASURED))
		v->flags &= ~QUELL_HPCC_F_CONGESTED;
}

/* Two records of a link of @bytes_ps: the flow's last one, and that of the ACK. */
static inline void hpcc_random_record(struct random_state *r, struct quell_hpcc_vars *v,
				      const struct quell_hpcc_params *p, u64 bytes_ps,
				      struct quell_sample *s)
{
	double t = fmax(quell_hpcc_base_rtt_ns(v, p), 1);
	double bdp = bytes_ps / 1e9 * t;
	double tau = fmax(fmin(t * random_factor(r, -6, 2), 0x7fffff), 1);

	s->telemetry.hop = random_between(r, 0, 15) ? 3 : random_between(r, 0, 1);
	s->telemetry.link_bytes_ps = random_between(r, 0, 31) ? bytes_ps : 0;
	s->telemetry.queue_bytes = random_between(r, 0, 3) ?
				   fmin(bdp * random_factor(r, -6, 4), 0xffffffff) : 0;
	v->queue_bytes = random_between(r, 0, 3) ?
			 fmin(bdp * random_factor(r, -6, 4), 0xffffffff) : 0;
	v->time_ns = random_between(r, 0, 0xffffff);
	v->tx_units = random_between(r, 0, 0xffffff);
	if (!random_between(r, 0, 31))
		tau = random_between(r, 0, 0xffffff);
	s->telemetry.time_ns = (v->time_ns + (u32)tau) & 0xffffff;
	s->telemetry.tx_units = (v->tx_units + (u32)fmin(tau * bytes_ps / 1e9 / 64 *
							 random_factor(r, -4, 2), 0xffffff)) &
				0xffffff;
	s->now_ns = v->recorded_ns + (random_between(r, 0, 15) ? random_magnitude(r, 0, 1000000) :
				      random_magnitude(r, 0, 16000000));
}

static inline void hpcc_random_sample(struct random_state *r, struct quell_hpcc_vars *v,
				      const struct quell_hpcc_params *p, u64 link_bytes_ps,
				      u64 record_bytes_ps, struct quell_sample *s)
{
	*s = (struct quell_sample) { .mss_bytes = v->mss_bytes };
	hpcc_random_record(r, v, p, record_bytes_ps, s);
	s->link_bytes_ps = link_bytes_ps;
	s->acked_pkts = random_magnitude(r, 0, 64);
	s->acked_bytes = s->acked_pkts * v->mss_bytes;
	s->inflight_bytes = random_magnitude(r, 0, 1 << 30);
	s->flags = random_between(r, 0, 9) ? 0 : QUELL_S_APP_LIMITED;
}

/*
 * Bound of U's error after the record @l.  Decay and gain are each rounded by
 * 2^-24.  The weight lacks 2^-32, of U and of the queue; queue and bytes lose
 * 2^-8 byte each; the bandwidth-delay product loses as much, which is a part of
 * the gain.  Doubles lose 2^-44.
 */
static inline double hpcc_util_bound(const struct hpcc_model *before,
				     const struct hpcc_model_link *l, double t)
{
	double tau = l->ts_ns - before->l.ts_ns + (l->ts_ns < before->l.ts_ns ? 0x1p24 : 0);
	double units = l->tx_units - before->l.tx_units +
		       (l->tx_units < before->l.tx_units ? 0x1p24 : 0);
	double queue = fmin(l->qlen_bytes, before->l.qlen_bytes);
	double bdp = l->b_bytes_per_ns * t;
	double weight = fmin(tau / t, 1);
	double gain = (64 * units * fmin(t / tau, 1) + queue * weight) / bdp;

	if (bdp <= 0x1p-7)
		return INFINITY;
	return 0x1p-23 + before->u * 0x1p-32 + (0x1p-7 + queue * 0x1p-32) / bdp +
	       gain * 0x1p-8 / (bdp - 0x1p-8) + (before->u + gain) * 0x1p-44;
}

/*
 * Bound of the error of a window computed from a reference of @wc when U is off by @du: the
 * quotient's change, 2^-16 byte for each of quotient, increase, half and smallest
 * window.  Doubles lose 2^-44.
 */
static inline double hpcc_window_bound(const struct hpcc_model *before,
				       const struct hpcc_model *after,
				       const struct hpcc_model_params *p, double wc,
				       double w_ai, double du)
{
	double bound = 4 * 0x1p-16 + (wc + w_ai + after->window_bytes) * 0x1p-44;
	double u = after->u;

	if (!after->u_applies && !before->u_applies)
		return bound;
	if (!after->u_applies)
		u = before->u;
	if (u < p->eta && before->inc_stage < p->max_stage)
		return bound;
	if (u <= du)
		return INFINITY;
	return bound + wc * p->eta * (1 / (u - du) - 1 / u) + wc * p->eta / u * 0x1p-44;
}

/* ceil() may round either way if a double cannot decide. */
static inline bool hpcc_line_rate_is_ambiguous(const struct hpcc_model *m,
					       const struct hpcc_model_params *p,
					       double link_bytes_per_ns)
{
	double packets = hpcc_model_line_packets(m, p, link_bytes_per_ns);

	return hpcc_model_steers(m, p) && link_bytes_per_ns > 0 &&
	       fabs(packets - round(packets)) <= packets * 0x1p-40;
}

/* Whether the state other than reference and U is the same. */
static inline bool hpcc_same_memory(const struct quell_hpcc_vars *v, const struct hpcc_model *m)
{
	return v->stage == m->inc_stage && v->hop == m->l.hop &&
	       v->rtos == m->retransmit_cnt && v->round_bytes == m->bytes_left_of_rtt &&
	       v->min_rtt_ns == m->min_rtt_ns &&
	       (!v->hop || (v->queue_bytes == m->l.qlen_bytes && v->time_ns == m->l.ts_ns &&
			    v->tx_units == m->l.tx_units && v->recorded_ns == m->l_arrived_ns)) &&
	       !(v->flags & QUELL_HPCC_F_ROUND) == !m->rtt_begun &&
	       !(v->flags & QUELL_HPCC_F_TELEMETRY) == !m->uses_int &&
	       !(v->flags & QUELL_HPCC_F_UTIL) == !m->u_applies &&
	       !(v->flags & QUELL_HPCC_F_MEASURED) == !m->u_in_this_rtt &&
	       !(v->flags & QUELL_HPCC_F_CONGESTED) == !m->congested_in_this_rtt &&
	       !(v->flags & QUELL_HPCC_F_LOSS) == !m->loss_pending;
}

/*
 * Pacing: whole bytes/s, at least 1, of a window of whole 2^-10 bytes; it may saturate
 * with a base round trip of a few ns.
 */
static inline bool hpcc_same_pacing(const struct quell_decision *out,
				    const struct hpcc_model *m,
				    const struct hpcc_model_params *p, double bound)
{
	double rate = hpcc_model_pacing_bytes_per_ns(m, p) * 1e9;

	if (isinf(rate))
		return out->pacing_bytes_ps == QUELL_RATE_UNLIMITED;
	return fabs(out->pacing_bytes_ps - fmin(rate, 0x1p54)) <=
	       1.001 + (bound + 0x1p-10) * 1e9 / hpcc_model_t(m, p) + rate * 0x1p-44;
}

#endif /* _QUELL_TEST_HPCC_MODEL_STEP_H */
