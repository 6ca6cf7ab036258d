// SPDX-License-Identifier: GPL-2.0
/*
 * See swift_model.h.  Names follow Algorithm 1 of Kumar et al. so that the two
 * can be read side by side.
 */
#include <math.h>

#include "swift_model.h"

#define HEADERS_BYTES	90
#define UNKNOWN_PATH_SEGMENTS	10

static bool delay_signal(const struct swift_model *m)
{
	return m->base_rtt_ns > 0;
}

double swift_model_target_ns(const struct swift_model *m,
			     const struct swift_model_params *p,
			     unsigned int hops)
{
	double fs_alpha = p->fs_range_ns /
		(1 / sqrt(p->fs_min_cwnd) - 1 / sqrt(p->fs_max_cwnd));
	double fs_beta = -fs_alpha / sqrt(p->fs_max_cwnd);
	double scaling = fs_alpha / sqrt(m->cwnd) + fs_beta;

	return p->base_target_ns + hops * p->hop_ns +
	       fmax(0, fmin(scaling, p->fs_range_ns));
}

double swift_model_pacing_bytes_per_ns(const struct swift_model *m)
{
	if (m->cwnd >= 1)
		return INFINITY;
	/* pacing_delay = rtt / cwnd between packets */
	return m->mss_bytes / (m->rtt_ns / m->cwnd);
}

double swift_model_init_window_bytes(const struct swift_model *m,
				     const struct swift_model_params *p)
{
	double packet_ns;

	if (p->init_window_bytes > 0)
		return p->init_window_bytes;
	if (!(m->link_bytes_per_ns > 0) || !delay_signal(m))
		return UNKNOWN_PATH_SEGMENTS * m->mss_bytes;
	packet_ns = (m->mss_bytes + HEADERS_BYTES) / m->link_bytes_per_ns;
	return (ceil(m->base_rtt_ns / packet_ns) + 1) * m->mss_bytes;
}

static void enforce_limits(struct swift_model *m, const struct swift_model_params *p)
{
	double floor_pkts = delay_signal(m) ? p->min_cwnd : 1;

	m->cwnd = fmin(m->cwnd, p->max_window_bytes / m->mss_bytes);
	m->cwnd = fmax(m->cwnd, floor_pkts);
}

static bool can_decrease(const struct swift_model *m, double now_ns)
{
	return !m->ever_decreased || now_ns - m->t_last_decrease_ns >= m->rtt_ns;
}

static void multiply(struct swift_model *m, double factor, double now_ns)
{
	m->cwnd *= factor;
	m->t_last_decrease_ns = now_ns;
	m->ever_decreased = true;
}

static double loss_factor(const struct swift_model *m, const struct swift_model_params *p)
{
	double factor = 1 - p->max_mdf;

	return delay_signal(m) ? factor : fmin(factor, 0.5);
}

static void additive_increase(struct swift_model *m, const struct swift_model_params *p,
			      const struct swift_model_event *e)
{
	double num_acked = e->acked_bytes / m->mss_bytes;
	double ai = 1;

	if (delay_signal(m)) {
		ai = p->ai_bytes_per_ns * m->base_rtt_ns / m->mss_bytes;
		if (!(e->delay_ns > 0))
			ai = fmin(ai, 1);
	}
	if (m->cwnd >= 1)
		m->cwnd += ai / m->cwnd * num_acked;
	else
		m->cwnd += ai * num_acked;
}

void swift_model_ack(struct swift_model *m, const struct swift_model_params *p,
		     const struct swift_model_event *e)
{
	double target_ns;

	if (e->delay_ns > 0) {
		m->base_rtt_ns = delay_signal(m) ? fmin(m->base_rtt_ns, e->delay_ns) :
						   e->delay_ns;
		m->rtt_ns = e->delay_ns;
	}
	target_ns = swift_model_target_ns(m, p, e->hops);
	m->retransmit_cnt = 0;
	if (e->delay_ns < target_ns) {
		if (e->delay_ns > 0 && can_decrease(m, e->now_ns))
			m->loss_pending = false;
		if (!e->app_limited)
			additive_increase(m, p, e);
	} else if (can_decrease(m, e->now_ns)) {
		double excess = (e->delay_ns - target_ns) / e->delay_ns;

		multiply(m, fmax(1 - p->beta * excess, 1 - p->max_mdf), e->now_ns);
	}
	enforce_limits(m, p);
}

void swift_model_fast_retransmit(struct swift_model *m,
				 const struct swift_model_params *p,
				 const struct swift_model_event *e)
{
	m->retransmit_cnt = 0;
	m->loss_pending = true;
	if (can_decrease(m, e->now_ns))
		multiply(m, loss_factor(m, p), e->now_ns);
	enforce_limits(m, p);
}

void swift_model_timeout(struct swift_model *m, const struct swift_model_params *p,
			 const struct swift_model_event *e)
{
	m->retransmit_cnt++;
	m->loss_pending = true;
	if (m->retransmit_cnt >= p->retx_reset_threshold || !delay_signal(m))
		multiply(m, 0, e->now_ns);
	else if (can_decrease(m, e->now_ns))
		multiply(m, loss_factor(m, p), e->now_ns);
	enforce_limits(m, p);
}

void swift_model_after_idle(struct swift_model *m,
			    const struct swift_model_params *p, double idle_ns)
{
	if (p->restart_idle_ns > 0 && idle_ns >= p->restart_idle_ns) {
		double init_cwnd = swift_model_init_window_bytes(m, p) / m->mss_bytes;

		if (m->loss_pending || !delay_signal(m))
			init_cwnd = fmin(init_cwnd, m->cwnd);
		m->cwnd = init_cwnd;
	}
	enforce_limits(m, p);
}
