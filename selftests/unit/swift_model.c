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

/* Effective window. */
double swift_model_cwnd(const struct swift_model *m)
{
	return m->has_endpoint ? fmin(m->fabric.cwnd, m->endpoint.cwnd) : m->fabric.cwnd;
}

/* If no base is configured: the path's own round trip plus a fourth of it, at least 25 us. */
double swift_model_path_ns(const struct swift_model *m, const struct swift_model_params *p,
			   unsigned int hops)
{
	if (p->base_target_ns > 0)
		return p->base_target_ns + hops * p->hop_ns;
	return m->base_rtt_ns + fmax(floor(m->base_rtt_ns / 4), 25000);
}

double swift_model_target_ns(const struct swift_model *m,
			     const struct swift_model_params *p,
			     unsigned int hops)
{
	double fs_alpha = p->fs_range_ns /
		(1 / sqrt(p->fs_min_cwnd) - 1 / sqrt(p->fs_max_cwnd));
	double fs_beta = -fs_alpha / sqrt(p->fs_max_cwnd);
	double scaling = fs_alpha / sqrt(m->fabric.cwnd) + fs_beta;

	return swift_model_path_ns(m, p, hops) + fmax(0, fmin(scaling, p->fs_range_ns));
}

double swift_model_pacing_bytes_per_ns(const struct swift_model *m)
{
	double cwnd = swift_model_cwnd(m);

	if (cwnd >= 1)
		return INFINITY;
	/* pacing_delay = rtt / cwnd between packets */
	return m->mss_bytes / (m->rtt_ns / cwnd);
}

/* The link's capacity in a round trip. */
static double max_window_bytes(const struct swift_model *m)
{
	double packet_ns = (m->mss_bytes + HEADERS_BYTES) / m->link_bytes_per_ns;

	return (ceil(m->base_rtt_ns / packet_ns) + 1) * m->mss_bytes;
}

double swift_model_init_window_bytes(const struct swift_model *m,
				     const struct swift_model_params *p)
{
	if (p->init_window_bytes > 0)
		return p->init_window_bytes;
	if (!(m->link_bytes_per_ns > 0) || !delay_signal(m))
		return UNKNOWN_PATH_SEGMENTS * m->mss_bytes;
	return max_window_bytes(m);
}

static void enforce_limits(struct swift_model *m, const struct swift_model_params *p)
{
	double floor_pkts = delay_signal(m) ? p->min_cwnd : 1;
	double ceiling_pkts = p->max_window_bytes / m->mss_bytes;

	m->fabric.cwnd = fmax(fmin(m->fabric.cwnd, ceiling_pkts), floor_pkts);
	m->endpoint.cwnd = fmax(fmin(m->endpoint.cwnd, ceiling_pkts), floor_pkts);
}

static bool can_decrease(const struct swift_model *m, const struct swift_model_window *w,
			 double now_ns)
{
	return !w->ever_decreased || now_ns - w->t_last_decrease_ns >= m->rtt_ns;
}

static void multiply(struct swift_model_window *w, double factor, double now_ns)
{
	w->cwnd *= factor;
	w->t_last_decrease_ns = now_ns;
	w->ever_decreased = true;
	w->disregarded = false;
}

static double loss_factor(const struct swift_model *m, const struct swift_model_params *p)
{
	double factor = 1 - p->max_mdf;

	return delay_signal(m) ? factor : fmin(factor, 0.5);
}

static void additive_increase(struct swift_model *m, struct swift_model_window *w,
			      const struct swift_model_params *p,
			      const struct swift_model_event *e)
{
	double num_acked = e->acked_bytes / m->mss_bytes;
	double ai = 1;

	if (delay_signal(m)) {
		ai = p->ai_bytes_per_ns * m->base_rtt_ns / m->mss_bytes;
		if (!(e->delay_ns > 0))
			ai = fmin(ai, 1);
	}
	if (w->cwnd >= 1)
		w->cwnd += ai / w->cwnd * num_acked;
	else
		w->cwnd += ai * num_acked;
}

/* VAI/SF III-D: Current Window < rand() % Max Window.  The fabric's. */
static bool disregarded(const struct swift_model *m, const struct swift_model_window *w,
			const struct swift_model_params *p, const struct swift_model_event *e)
{
	return p->probabilistic && w == &m->fabric && m->link_bytes_per_ns > 0 &&
	       w->cwnd * m->mss_bytes < e->rand * max_window_bytes(m);
}

/* Algorithm 1, on ACK, for one window with its delay and target. */
static void react(struct swift_model *m, struct swift_model_window *w,
		  const struct swift_model_params *p, const struct swift_model_event *e,
		  double delay_ns, double target_ns, bool unused)
{
	if (delay_ns < target_ns) {
		if (!e->app_limited && !unused)
			additive_increase(m, w, p, e);
	} else if (can_decrease(m, w, e->now_ns) && disregarded(m, w, p, e)) {
		multiply(w, 1, e->now_ns);
		w->disregarded = true;
	} else if (can_decrease(m, w, e->now_ns)) {
		double excess = (delay_ns - target_ns) / delay_ns;

		multiply(w, fmax(1 - p->beta * excess, 1 - p->max_mdf), e->now_ns);
	}
}

static void measure(struct swift_model *m, const struct swift_model_params *p,
		    const struct swift_model_event *e)
{
	m->retransmit_cnt = 0;
	if (!(p->endpoint_target_ns > 0))
		m->has_endpoint = false;
	if (!(e->delay_ns > 0))
		return;
	m->base_rtt_ns = delay_signal(m) ? fmin(m->base_rtt_ns, e->delay_ns) : e->delay_ns;
	m->rtt_ns = e->delay_ns;
	if (p->endpoint_target_ns > 0 && e->endpoint_ns > 0 && !m->has_endpoint) {
		m->has_endpoint = true;
		m->endpoint.cwnd = m->fabric.cwnd;
		m->endpoint.ever_decreased = false;
	}
}

void swift_model_ack(struct swift_model *m, const struct swift_model_params *p,
		     const struct swift_model_event *e)
{
	double endpoint_ns, target_ns, fcwnd, ecwnd;

	measure(m, p, e);
	target_ns = swift_model_target_ns(m, p, e->hops);
	endpoint_ns = m->has_endpoint ? fmin(e->endpoint_ns, e->delay_ns) : 0;
	fcwnd = m->fabric.cwnd;
	ecwnd = m->has_endpoint ? m->endpoint.cwnd : INFINITY;
	if (e->delay_ns > 0 && e->delay_ns - endpoint_ns < target_ns &&
	    !(m->has_endpoint && endpoint_ns >= p->endpoint_target_ns) &&
	    can_decrease(m, &m->fabric, e->now_ns))
		m->loss_pending = false;
	react(m, &m->fabric, p, e, e->delay_ns - endpoint_ns, target_ns, fcwnd >= 2 * ecwnd);
	if (m->has_endpoint)
		react(m, &m->endpoint, p, e, endpoint_ns, p->endpoint_target_ns,
		      ecwnd >= 2 * fcwnd);
	enforce_limits(m, p);
}

static void decrease_for_loss(struct swift_model *m, struct swift_model_window *w,
			      const struct swift_model_params *p, double now_ns)
{
	if (w->disregarded || can_decrease(m, w, now_ns))
		multiply(w, loss_factor(m, p), now_ns);
}

void swift_model_fast_retransmit(struct swift_model *m,
				 const struct swift_model_params *p,
				 const struct swift_model_event *e)
{
	m->retransmit_cnt = 0;
	m->loss_pending = true;
	decrease_for_loss(m, &m->fabric, p, e->now_ns);
	if (m->has_endpoint)
		decrease_for_loss(m, &m->endpoint, p, e->now_ns);
	enforce_limits(m, p);
}

static void decrease_for_timeout(struct swift_model *m, struct swift_model_window *w,
				 const struct swift_model_params *p, double now_ns)
{
	if (m->retransmit_cnt >= p->retx_reset_threshold || !delay_signal(m))
		multiply(w, 0, now_ns);
	else
		decrease_for_loss(m, w, p, now_ns);
}

void swift_model_timeout(struct swift_model *m, const struct swift_model_params *p,
			 const struct swift_model_event *e)
{
	m->retransmit_cnt++;
	m->loss_pending = true;
	decrease_for_timeout(m, &m->fabric, p, e->now_ns);
	if (m->has_endpoint)
		decrease_for_timeout(m, &m->endpoint, p, e->now_ns);
	enforce_limits(m, p);
}

static void restart(struct swift_model *m, struct swift_model_window *w,
		    const struct swift_model_params *p)
{
	double init_cwnd = swift_model_init_window_bytes(m, p) / m->mss_bytes;

	if (m->loss_pending || !delay_signal(m))
		init_cwnd = fmin(init_cwnd, w->cwnd);
	w->cwnd = init_cwnd;
}

void swift_model_after_idle(struct swift_model *m,
			    const struct swift_model_params *p, double idle_ns)
{
	if (p->restart_idle_ns > 0 && idle_ns >= p->restart_idle_ns) {
		restart(m, &m->fabric, p);
		if (m->has_endpoint)
			restart(m, &m->endpoint, p);
	}
	enforce_limits(m, p);
}
