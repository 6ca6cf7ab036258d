// SPDX-License-Identifier: GPL-2.0
/*
 * See smartt_model.h.  Names follow Algorithms 1 to 4 of the paper so that the
 * two can be read side by side.
 */
#include <math.h>

#include "smartt_model.h"

#define UNKNOWN_PATH_SEGMENTS	10
#define MOST_WINDOW		0x1p30
#define MOST_RTT_NS		(0x1p28 - 1)
#define MOST_UNIT		((0x1p32 - 1) / 256)
/* The integer core keeps whole nanoseconds and bytes: smaller differences are undecidable. */
#define CLOSE			2.5

/* a > b; sets a flag if the difference is too small to decide. */
static bool above(struct smartt_model *m, double a, double b)
{
	if (fabs(a - b) <= CLOSE + (fabs(a) + fabs(b)) * 0x1p-40)
		m->unsure = true;
	return a > b;
}

static bool reached(struct smartt_model *m, double a, double b)
{
	return !above(m, b, a);
}

double smartt_model_trtt(const struct smartt_model *m,
			 const struct smartt_model_params *p)
{
	if (p->target_delay > 0 && m->brtt > 0)
		return m->brtt + p->target_delay;
	return m->brtt * p->target;
}

static double most(const struct smartt_model *m)
{
	return m->most > 0 ? m->most : MOST_WINDOW;
}

static void clamp(struct smartt_model *m)
{
	m->cwnd = fmax(fmin(m->cwnd, most(m)), m->mtu);
}

/* III-J.  Rates times delays have 63 bits: more than a double holds. */
static void scale(struct smartt_model *m, const struct smartt_model_params *p,
		  const struct smartt_model_event *e)
{
	double bdp;

	if (!(m->most > 0))
		m->unit = m->mtu;
	if (!(e->link > 0) || !(m->brtt > 0))
		return;
	bdp = fmin(floorl((long double)m->brtt * e->link / 1e9L) + m->mtu, MOST_WINDOW);
	m->most = fmax(fmin(floor(bdp * p->max_bdps), MOST_WINDOW), 1);
	m->unit = fmin(p->scale_bdp > 0 ? m->mtu * bdp / p->scale_bdp : m->mtu, MOST_UNIT);
}

/* Update the path's properties from an event; true if they changed. */
static bool path(struct smartt_model *m, const struct smartt_model_event *e)
{
	double brtt = m->brtt, mtu = m->mtu;

	if (e->min_rtt > 0)
		m->brtt = e->min_rtt;
	else if (e->rtt > 0)
		m->brtt = m->brtt > 0 ? fmin(m->brtt, e->rtt) : e->rtt;
	if (e->mtu > 0)
		m->mtu = e->mtu;
	return m->brtt != brtt || m->mtu != mtu;
}

void smartt_model_start(struct smartt_model *m, const struct smartt_model_params *p,
			const struct smartt_model_event *e)
{
	*m = (struct smartt_model) { .round_at = e->now };
	path(m, e);
	scale(m, p, e);
	m->cwnd = p->init_window > 0 ? p->init_window :
		  m->most > 0 ? most(m) : UNKNOWN_PATH_SEGMENTS * m->mtu;
	clamp(m);
}

static double scaled(const struct smartt_model *m, double segments)
{
	return segments * m->unit;
}

static bool brtt_since(const struct smartt_model *m, bool ever, double since, double now)
{
	return !ever || now - since >= m->brtt;
}

static bool severe(struct smartt_model *m, const struct smartt_model_params *p, double rtt)
{
	double target_queueing = smartt_model_trtt(m, p) - m->brtt;

	return above(m, rtt - m->brtt, p->qa_delay * target_queueing) &&
	       above(m, m->cwnd * p->qa_low, m->acked);
}

/* Algorithm 2 */
static bool quick_adapt(struct smartt_model *m, const struct smartt_model_params *p,
			const struct smartt_model_event *e, double rtt, bool trimmed)
{
	bool adapted = false;

	if (m->measuring &&
	    !reached(m, e->now - m->period_at, smartt_model_trtt(m, p)))
		return false;
	if (m->measuring && p->qa && (m->trigger_qa || (!trimmed && severe(m, p, rtt)))) {
		m->trigger_qa = false;
		adapted = true;
		m->cwnd = fmax(m->acked, m->mtu);
		m->pending = 0;
		if (p->ignore)
			m->to_ignore = fmax(e->unacked - e->size, 0);
	}
	m->measuring = true;
	m->period_at = e->now;
	m->acked = 0;
	return adapted;
}

/* Algorithm 3 */
static bool fast_increase(struct smartt_model *m, const struct smartt_model_params *p,
			  const struct smartt_model_event *e, double rtt)
{
	if (p->k > 0 && e->marked == 0 && !above(m, rtt, m->brtt + p->slack_ns)) {
		m->count += e->size;
		if (m->increase || above(m, m->count, m->cwnd)) {
			if (!e->app_limited)
				m->cwnd += (p->bounded ? fmin(p->k, 1) : p->k) * e->size;
			m->increase = true;
		}
		return m->increase;
	}
	m->count = 0;
	m->increase = false;
	return false;
}

/*
 * Equations 2 and 3 for @size unmarked bytes.  The divisor is the window at the
 * end of the batch.
 */
static void increase(struct smartt_model *m, const struct smartt_model_params *p,
		     double size, double rtt, bool high)
{
	double trtt = smartt_model_trtt(m, p);
	double pi = m->brtt / (trtt - m->brtt);
	double step = 0;

	if (high || p->pi_fair)
		step = scaled(m, p->fi);
	if (!high)
		step += fmin(m->cwnd, (trtt - rtt) / rtt * pi * scaled(m, p->pi));
	if (p->bounded)
		step = fmin(step, fmax(m->cwnd / 4, fmin(m->cwnd, m->mtu)));
	m->pending += size * step;
}

/* Equation 1 */
static void decrease(struct smartt_model *m, const struct smartt_model_params *p,
		     double now)
{
	double trtt = smartt_model_trtt(m, p);
	double whole = m->avg_rtt - (p->md_queueing ? m->brtt : 0);

	if (!above(m, m->avg_rtt, trtt) ||
	    !brtt_since(m, m->decreased, m->decrease_at, now))
		return;
	m->cwnd *= fmax(1 - p->max_mdf, 1 - (m->avg_rtt - trtt) / whole * p->md);
	m->decreased = true;
	m->decrease_at = now;
	m->increase = false;
	m->count = 0;
}

/* Algorithm 1 */
static bool core_cases(struct smartt_model *m, const struct smartt_model_params *p,
		       const struct smartt_model_event *e, double rtt)
{
	bool high = reached(m, rtt, smartt_model_trtt(m, p));
	double marked = fmin(e->marked, e->size);

	if (!e->ecn)
		marked = high ? e->size : 0;
	if (e->size > marked) {
		if (!high && brtt_since(m, m->decreased, m->decrease_at, e->now))
			m->loss = false;
		if (!e->app_limited)
			increase(m, p, e->size - marked, rtt, high);
	}
	if (marked > 0 && high) {
		decrease(m, p, e->now);
	} else if (marked > 0 && !m->rerouted && !m->new_path) {
		m->rerouted = true;
		return true;
	}
	return false;
}

static void settle(struct smartt_model *m, const struct smartt_model_params *p,
		   const struct smartt_model_event *e)
{
	bool round = brtt_since(m, true, m->round_at, e->now);
	double due = 0;

	m->batch_pkts += e->pkts;
	if (round && !e->app_limited)
		due = scaled(m, p->eta);
	if (p->bounded)
		due = fmin(due, fmax(m->cwnd / 4, fmin(m->cwnd, m->mtu)));
	if (round || m->batch_pkts >= p->batch) {
		due += m->pending / m->cwnd;
		m->pending = 0;
		m->batch_pkts = 0;
	}
	m->cwnd += due;
	if (round) {
		m->round_at = e->now;
		m->new_path = m->rerouted;
		m->rerouted = false;
		scale(m, p, e);
	}
}

static void ewma(struct smartt_model *m, const struct smartt_model_params *p,
		 const struct smartt_model_event *e, double rtt)
{
	double weight = fmin(p->weight * fmax(e->pkts, 1), 1);

	m->avg_rtt = m->avg_rtt > 0 ? m->avg_rtt + weight * (rtt - m->avg_rtt) : rtt;
}

/* Algorithm 4 */
static bool ack(struct smartt_model *m, const struct smartt_model_params *p,
		const struct smartt_model_event *e)
{
	bool change = false, ignored, adapted, increased;
	double rtt;

	m->to_ignore = fmax(m->to_ignore - e->size - e->trimmed - e->lost, 0);
	ignored = m->to_ignore > 0 && (e->marked > 0 || !p->ignore_marked);
	if (ignored && p->ignore_delay)
		return false;
	if (e->rtt > 0) {
		rtt = fmax(fmin(e->rtt, MOST_RTT_NS), m->brtt);
		ewma(m, p, e, rtt);
	} else {
		rtt = fmax(m->avg_rtt, m->brtt);
	}
	if (ignored)
		return false;
	adapted = quick_adapt(m, p, e, rtt, false);
	increased = fast_increase(m, p, e, rtt);
	if (adapted)
		return false;
	if (!increased)
		change = core_cases(m, p, e, rtt);
	settle(m, p, e);
	return change;
}

bool smartt_model_ack(struct smartt_model *m, const struct smartt_model_params *p,
		      const struct smartt_model_event *e)
{
	bool change = false;

	if (path(m, e))
		scale(m, p, e);
	m->rtos = 0;
	m->acked += e->size;
	if (m->brtt > 0)
		change = ack(m, p, e);
	else if (!e->app_limited)
		m->cwnd += m->mtu / m->cwnd * e->size;
	if (e->trimmed > 0) {
		if (m->to_ignore <= 0 || !p->ignore_trims)
			m->cwnd = fmax(m->cwnd - e->trimmed, m->mtu);
		m->trigger_qa = true;
		if (m->to_ignore <= 0 && m->brtt > 0)
			quick_adapt(m, p, e, m->brtt, true);
	}
	clamp(m);
	return change;
}

static void lose(struct smartt_model *m, const struct smartt_model_params *p, double now)
{
	double factor = 1 - p->max_mdf;

	if (!brtt_since(m, m->decreased, m->decrease_at, now))
		return;
	m->cwnd *= m->brtt > 0 ? factor : fmin(factor, 0.5);
	m->decreased = true;
	m->decrease_at = now;
	m->increase = false;
	m->count = 0;
}

void smartt_model_loss(struct smartt_model *m, const struct smartt_model_params *p,
		       const struct smartt_model_event *e)
{
	path(m, e);
	scale(m, p, e);
	m->rtos = 0;
	m->loss = true;
	m->pending = 0;
	if (!(m->to_ignore > 0))
		lose(m, p, e->now);
	clamp(m);
}

static void forget(struct smartt_model *m)
{
	m->measuring = false;
	m->trigger_qa = false;
	m->increase = false;
	m->count = 0;
	m->acked = 0;
	m->pending = 0;
	m->to_ignore = 0;
}

void smartt_model_timeout(struct smartt_model *m, const struct smartt_model_params *p,
			  const struct smartt_model_event *e)
{
	bool answered = m->to_ignore > 0;

	path(m, e);
	scale(m, p, e);
	m->rtos++;
	m->loss = true;
	forget(m);
	if (m->rtos >= p->reset_rtos || !(m->brtt > 0)) {
		m->decreased = true;
		m->decrease_at = e->now;
		m->cwnd = 0;
	} else if (!answered) {
		lose(m, p, e->now);
	}
	clamp(m);
}

void smartt_model_idle(struct smartt_model *m, const struct smartt_model_params *p,
		       const struct smartt_model_event *e, double idle_ns)
{
	double init;

	path(m, e);
	scale(m, p, e);
	if (p->restart_idle_ns > 0 && idle_ns >= p->restart_idle_ns) {
		init = p->init_window > 0 ? p->init_window :
		       m->most > 0 ? most(m) : UNKNOWN_PATH_SEGMENTS * m->mtu;
		if (m->loss || !(m->brtt > 0))
			init = fmin(init, m->cwnd);
		m->cwnd = init;
		m->avg_rtt = 0;
		forget(m);
	}
	clamp(m);
}
