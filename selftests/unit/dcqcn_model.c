// SPDX-License-Identifier: GPL-2.0
/*
 * See dcqcn_model.h.  Names follow Algorithm 1 of Zhu et al. so that the two can
 * be read side by side.
 */
#include <math.h>

#include "dcqcn_model.h"

#define UNKNOWN_PATH_SEGMENTS	10
#define UNKNOWN_RTT_NS		1e6
#define MOST_RATE		137438953472.0	/* 2^37 */
/* Maximum number of increases of one kind that a single ACK makes up for. */
#define MOST_EXPIRIES		64

static double line(double line_rate)
{
	return line_rate > 0 ? fmin(line_rate, MOST_RATE) : MOST_RATE;
}

static void reset_timers(struct dcqcn_model *m, const struct dcqcn_model_params *p,
			 double now_ns)
{
	m->next_alpha_ns = now_ns + p->alpha_timer_ns;
	m->next_timer_ns = now_ns + p->timer_ns;
	m->last_notification_ns = now_ns;
	m->t = 0;
	m->bc = 0;
	m->bytes = 0;
}

double dcqcn_model_window_bytes(const struct dcqcn_model *m,
				const struct dcqcn_model_params *p)
{
	double window = UNKNOWN_PATH_SEGMENTS * m->mss_bytes;

	if (!m->ecn)
		return m->reno_window;
	if (m->base_rtt_ns > 0)
		window = m->rc * (m->base_rtt_ns + p->queue_bound_ns) / 1e9;
	window = fmax(fmin(window, p->max_window_bytes), m->mss_bytes);
	return m->after_loss ? fmin(window, m->reno_window) : window;
}

void dcqcn_model_limit(struct dcqcn_model *m, const struct dcqcn_model_params *p,
		       double line_rate)
{
	double most = line(line_rate), least = fmin(p->min_rate, most);

	m->rc = fmax(fmin(m->rc, most), least);
	m->rt = fmax(fmin(m->rt, most), least);
	m->reno_window = fmax(fmin(m->reno_window, p->max_window_bytes), m->mss_bytes);
}

void dcqcn_model_start(struct dcqcn_model *m, const struct dcqcn_model_params *p,
		       double line_rate, double now_ns)
{
	double rtt_ns = m->base_rtt_ns > 0 ? m->base_rtt_ns : UNKNOWN_RTT_NS;

	if (!(line_rate > 0))
		line_rate = UNKNOWN_PATH_SEGMENTS * m->mss_bytes * 1e9 / rtt_ns;
	m->rc = line(line_rate);
	m->rt = m->rc;
	m->alpha = 1;
	m->notified = false;
	reset_timers(m, p, now_ns);
}

static void increase(struct dcqcn_model *m, const struct dcqcn_model_params *p,
		     double line_rate)
{
	if (fmax(m->t, m->bc) < p->f)
		; /* FastRecovery: the target stays */
	else if (fmin(m->t, m->bc) > p->f)
		m->rt += p->rhai;
	else
		m->rt += p->rai;
	m->rt = fmin(m->rt, line(line_rate));
	m->rc = (m->rt + m->rc) / 2;
}

static void expire_alpha(struct dcqcn_model *m, const struct dcqcn_model_params *p,
			 double now_ns)
{
	double expired = floor((now_ns - m->next_alpha_ns) / p->alpha_timer_ns) + 1;

	if (expired < 1)
		return;
	m->alpha *= pow(1 - p->g, expired);
	m->next_alpha_ns += expired * p->alpha_timer_ns;
}

static void expire_timer(struct dcqcn_model *m, const struct dcqcn_model_params *p,
			 double now_ns, double line_rate)
{
	int made_up;

	for (made_up = 0; m->next_timer_ns <= now_ns && made_up < MOST_EXPIRIES; made_up++) {
		m->next_timer_ns += p->timer_ns;
		m->t++;
		increase(m, p, line_rate);
	}
	while (m->next_timer_ns <= now_ns) {
		double missed = floor((now_ns - m->next_timer_ns) / p->timer_ns) + 1;

		m->next_timer_ns += missed * p->timer_ns;
		m->t += missed;
	}
}

static void expire_byte_counter(struct dcqcn_model *m, const struct dcqcn_model_params *p,
				double acked_bytes, double line_rate)
{
	int made_up;

	m->bytes += acked_bytes;
	for (made_up = 0; m->bytes >= p->byte_counter_bytes && made_up < MOST_EXPIRIES;
	     made_up++) {
		m->bytes -= p->byte_counter_bytes;
		m->bc++;
		increase(m, p, line_rate);
	}
	m->bytes = fmod(m->bytes, p->byte_counter_bytes);
}

static void cut_rate(struct dcqcn_model *m, const struct dcqcn_model_params *p,
		     double now_ns)
{
	m->rt = m->rc;
	m->rc *= 1 - m->alpha / 2;
	m->alpha = (1 - p->g) * m->alpha + p->g;
	m->notified = true;
	reset_timers(m, p, now_ns);
}

/* A loss is over when the rate's own window is no larger than Reno's. */
static void finish(struct dcqcn_model *m, const struct dcqcn_model_params *p,
		   double line_rate)
{
	bool after_loss = m->after_loss;

	dcqcn_model_limit(m, p, line_rate);
	if (!m->ecn || !after_loss)
		return;
	m->after_loss = false;
	m->after_loss = m->reno_window < dcqcn_model_window_bytes(m, p);
}

void dcqcn_model_ack(struct dcqcn_model *m, const struct dcqcn_model_params *p,
		     const struct dcqcn_model_event *e)
{
	if ((!m->ecn || m->after_loss) && !e->app_limited)
		m->reno_window += m->mss_bytes * e->acked_bytes / m->reno_window;
	expire_alpha(m, p, e->now_ns);
	expire_timer(m, p, e->now_ns, e->line_rate);
	expire_byte_counter(m, p, e->acked_bytes, e->line_rate);
	if (e->marked && (!m->notified || e->now_ns - m->last_notification_ns >=
						  p->notify_interval_ns))
		cut_rate(m, p, e->now_ns);
	finish(m, p, e->line_rate);
}

static void halve(struct dcqcn_model *m, const struct dcqcn_model_params *p,
		  double reno_window, const struct dcqcn_model_event *e)
{
	m->rc /= 2;
	m->rt = m->rc;
	m->reno_window = reno_window;
	m->after_loss = true;
	reset_timers(m, p, e->now_ns);
	finish(m, p, e->line_rate);
}

void dcqcn_model_loss(struct dcqcn_model *m, const struct dcqcn_model_params *p,
		      const struct dcqcn_model_event *e)
{
	double window, half;

	finish(m, p, e->line_rate);
	window = dcqcn_model_window_bytes(m, p);
	half = fmax(fmin(window, e->inflight_bytes) / 2, 2 * m->mss_bytes);
	halve(m, p, fmin(half, window), e);
}

void dcqcn_model_timeout(struct dcqcn_model *m, const struct dcqcn_model_params *p,
			 const struct dcqcn_model_event *e)
{
	halve(m, p, m->mss_bytes, e);
}

void dcqcn_model_after_idle(struct dcqcn_model *m, const struct dcqcn_model_params *p,
			    const struct dcqcn_model_event *e, double idle_ns)
{
	if (p->restart_idle_ns > 0 && idle_ns >= p->restart_idle_ns) {
		m->reno_window = fmin(m->reno_window,
				      UNKNOWN_PATH_SEGMENTS * m->mss_bytes);
		dcqcn_model_start(m, p, e->line_rate, e->now_ns);
	}
	finish(m, p, e->line_rate);
}
