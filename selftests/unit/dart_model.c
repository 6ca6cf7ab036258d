// SPDX-License-Identifier: GPL-2.0
/*
 * See dart_model.h.
 */
#include <math.h>

#include "dart_model.h"

/* Preamble, Ethernet, FCS and gap, IPv4, TCP with timestamps. */
#define HEADERS_BYTES	(8 + 14 + 4 + 12 + 20 + 32)

/* The rate at which both hosts can take part: the smaller one known. */
double dart_model_line(const struct dart_model_event *e)
{
	double own = e->own_line > 0 ? e->own_line : INFINITY;
	double peer = e->peer_line > 0 ? e->peer_line : INFINITY;
	double line = fmin(own, peer);

	return isinf(line) ? 0 : line;
}

/* DCQCN's decision for its state. */
static void fall_back(const struct dart_model *m, const struct dart_model_params *p,
		      struct dart_model_decision *d)
{
	d->rate = m->dcqcn.ecn ? fmax(m->dcqcn.rc, 1) : INFINITY;
	d->window = dcqcn_model_window_bytes(&m->dcqcn, &p->dcqcn);
	d->segments = 0;
}

/* The bytes of a rate on the wire in a base round trip and a slack, and a segment. */
static void fit_window(const struct dart_model *m, double slack_ns, double wire,
		       struct dart_model_decision *d)
{
	double mss = m->dcqcn.mss_bytes;

	if (!(m->dcqcn.base_rtt_ns > 0))
		return;
	d->time_ns = m->dcqcn.base_rtt_ns +
		     (slack_ns > 0 ? slack_ns : floor(m->dcqcn.base_rtt_ns / 4));
	d->segments = wire * d->time_ns / 1e9 / (mss + HEADERS_BYTES);
	d->window = fmin(d->window, (ceil(d->segments) + 1) * mss);
}

/* All flows begin at the full line rate and its window, also after an idle time. */
void dart_model_start(const struct dart_model *m, const struct dart_model_params *p,
		      const struct dart_model_event *e, struct dart_model_decision *d)
{
	double line = dart_model_line(e);

	fall_back(m, p, d);
	if (line > 0)
		fit_window(m, p->slack_ns, line, d);
}

/* Section III-A: line rate / n, if it is less. */
void dart_model_decide(const struct dart_model *m, const struct dart_model_params *p,
		       const struct dart_model_event *e, struct dart_model_decision *d)
{
	double mss = m->dcqcn.mss_bytes;
	double packet = mss + (e->header_bytes > 0 ? e->header_bytes : HEADERS_BYTES);
	double line = dart_model_line(e), share;

	fall_back(m, p, d);
	if (!(e->n > 0) || !(line > 0))
		return;
	share = fmax(line / fmax(e->n, 1), p->dcqcn.min_rate);
	d->rate = fmin(d->rate, share / packet * mss);
	if (e->n > 1)
		fit_window(m, p->slack_ns, share, d);
}

void dart_model_ack(struct dart_model *m, const struct dart_model_params *p,
		    struct dart_model_event *e, struct dart_model_decision *d)
{
	e->e.line_rate = dart_model_line(e);
	dcqcn_model_ack(&m->dcqcn, &p->dcqcn, &e->e);
	dart_model_decide(m, p, e, d);
}

void dart_model_loss(struct dart_model *m, const struct dart_model_params *p,
		     struct dart_model_event *e, struct dart_model_decision *d)
{
	e->e.line_rate = dart_model_line(e);
	dcqcn_model_loss(&m->dcqcn, &p->dcqcn, &e->e);
	dart_model_decide(m, p, e, d);
}

void dart_model_timeout(struct dart_model *m, const struct dart_model_params *p,
			struct dart_model_event *e, struct dart_model_decision *d)
{
	e->e.line_rate = dart_model_line(e);
	dcqcn_model_timeout(&m->dcqcn, &p->dcqcn, &e->e);
	dart_model_decide(m, p, e, d);
}

void dart_model_after_idle(struct dart_model *m, const struct dart_model_params *p,
			   struct dart_model_event *e, double idle_ns,
			   struct dart_model_decision *d)
{
	bool starts = p->dcqcn.restart_idle_ns > 0 && idle_ns >= p->dcqcn.restart_idle_ns;

	e->e.line_rate = dart_model_line(e);
	dcqcn_model_after_idle(&m->dcqcn, &p->dcqcn, &e->e, idle_ns);
	if (starts)
		dart_model_start(m, p, e, d);
	else
		dart_model_decide(m, p, e, d);
}
