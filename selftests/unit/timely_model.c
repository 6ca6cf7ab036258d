// SPDX-License-Identifier: GPL-2.0
/*
 * See timely_model.h.  Names follow Algorithm 1 so that the two can be read
 * side by side.
 */
#include <math.h>

#include "timely_model.h"

#define MOST_WINDOW	1073741824.0
#define MOST_RATE	1099.511627776	/* 2^40 bytes/s */

static double cap(const struct timely_model_params *p, double link)
{
	double most = p->max_rate > 0 ? p->max_rate : MOST_RATE;

	return link > 0 ? fmin(most, link) : most;
}

double timely_model_bound(const struct timely_model *m,
			  const struct timely_model_params *p, double link)
{
	double bound = p->max_outstanding;

	if (!(bound > 0))
		bound = cap(p, link) * p->t_high + 2 * p->segment;
	return fmax(fmin(bound, MOST_WINDOW), m->mss);
}

static void limits(struct timely_model *m, const struct timely_model_params *p,
		   double link)
{
	double bound = timely_model_bound(m, p, link);

	m->rate = fmin(fmax(m->rate, p->min_rate), cap(p, link));
	if (m->window >= bound)
		m->after_loss = false;
	if (m->signal && !m->after_loss)
		m->window = bound;
	m->window = fmax(fmin(m->window, bound), m->mss);
}

static double rate_80_percent_rule(struct timely_model *m, double rate, double more)
{
	m->demand_margin = fabs(m->sent - 0.8 * m->allowed);
	return m->sent > 0.8 * m->allowed ? rate + more : rate;
}

static void patched(struct timely_model *m, const struct timely_model_params *p,
		    double new_rtt, double gradient, double n)
{
	double w = fmax(0, fmin(1, 2 * gradient + 0.5));
	double error = (new_rtt - p->patched_ref) / p->patched_ref;
	double change = p->patched_beta * w * error;

	if (change > 0)
		m->rate *= 1 - n * fmin(change, w);
	else
		m->rate = rate_80_percent_rule(m, m->rate, -n * change * m->rate);
	m->rate = rate_80_percent_rule(m, m->rate, n * p->delta * (1 - w));
}

/* @n: factor of the update, 1 / completions per minimum RTT */
static void update_rate(struct timely_model *m, const struct timely_model_params *p,
			double new_rtt, double n)
{
	double normalized_gradient = m->rtt_diff / p->min_rtt;

	if (new_rtt < p->t_low) {
		m->rate = rate_80_percent_rule(m, m->rate, n * p->delta);
		return;
	}
	if (new_rtt > p->t_high) {
		m->rate *= 1 - n * p->beta * (1 - p->t_high / new_rtt);
		return;
	}
	if (p->patched) {
		patched(m, p, new_rtt, normalized_gradient, n);
	} else if (normalized_gradient <= 0) {
		double big_n = m->falling >= p->hai_after ? p->hai : 1;

		m->rate = rate_80_percent_rule(m, m->rate, n * big_n * p->delta);
	} else {
		m->rate *= 1 - n * fmin(1, p->beta * normalized_gradient);
	}
}

static void completion(struct timely_model *m, const struct timely_model_params *p,
		       const struct timely_model_event *e)
{
	double n = 1;

	if (m->have_prev) {
		double gap = fmax(e->now - m->last_completion, 0);
		double most = 8 * p->segment;

		n = fmin(1, gap / p->min_rtt);
		m->allowed += m->rate * gap;
		m->sent += m->since;
		if (m->allowed > most) {
			m->sent *= most / m->allowed;
			m->allowed = most;
		}
		m->sent = fmin(m->sent, most);
		m->rtt_diff = (1 - p->alpha) * m->rtt_diff +
			      p->alpha * (e->rtt - m->prev_rtt);
		m->falling = e->rtt < m->prev_rtt ? fmin(m->falling + 1, 255) : 0;
		m->gradient_margin = fabs(m->rtt_diff);
	} else {
		m->sent = m->since;
	}
	m->prev_rtt = e->rtt;
	m->have_prev = true;
	m->last_completion = e->now;
	m->since = 0;
	update_rate(m, p, e->rtt, n);
}

void timely_model_ack(struct timely_model *m, const struct timely_model_params *p,
		      const struct timely_model_event *e)
{
	m->gradient_margin = INFINITY;
	m->demand_margin = INFINITY;
	m->since += e->acked;
	if (m->after_loss || !m->signal)
		m->window += m->mss * e->acked / fmax(m->window, m->mss);
	if (e->rtt > 0 && (e->whole_segment || m->since >= p->segment)) {
		m->signal = true;
		completion(m, p, e);
	}
	limits(m, p, e->link);
}

void timely_model_loss(struct timely_model *m, const struct timely_model_params *p,
		       const struct timely_model_event *e)
{
	m->rate /= 2;
	m->window = fmin(m->window, e->inflight) / 2;
	m->after_loss = true;
	limits(m, p, e->link);
}

void timely_model_timeout(struct timely_model *m, const struct timely_model_params *p,
			  const struct timely_model_event *e)
{
	m->rate = 0;
	m->window = 0;
	m->after_loss = true;
	limits(m, p, e->link);
}

void timely_model_idle(struct timely_model *m, const struct timely_model_params *p,
		       const struct timely_model_event *e, double idle, double min_rtt,
		       unsigned int others)
{
	if (p->restart_idle > 0 && idle >= p->restart_idle && !m->after_loss) {
		if (p->init_rate > 0)
			m->rate = p->init_rate;
		else if (e->link > 0)
			m->rate = cap(p, e->link) / (others + 1);
		else
			m->rate = fmin(10 * m->mss / min_rtt, MOST_RATE);
		m->rtt_diff = 0;
		m->have_prev = false;
		m->falling = 0;
		m->allowed = 0;
	}
	limits(m, p, e->link);
}
