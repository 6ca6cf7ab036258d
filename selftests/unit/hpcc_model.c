// SPDX-License-Identifier: GPL-2.0
/*
 * See hpcc_model.h.  Names follow the HPCC paper's: U, Wc, incStage, W_AI, and L,
 * the link's last record.
 */
#include <math.h>

#include "hpcc_model.h"

#define HEADERS_BYTES		90
#define UNKNOWN_PATH_SEGMENTS	10
#define TX_UNIT_BYTES		64
#define COUNTERS_WRAP		16777216.0
#define FRESH_NS		8e6
/* The core's U saturates; see the page's list of departures. */
#define MOST_U			(4294967295 / 16777216.0)

double hpcc_model_t(const struct hpcc_model *m, const struct hpcc_model_params *p)
{
	return p->base_rtt_ns > 0 ? p->base_rtt_ns : m->min_rtt_ns;
}

bool hpcc_model_steers(const struct hpcc_model *m, const struct hpcc_model_params *p)
{
	return m->uses_int && hpcc_model_t(m, p) > 0;
}

/* Number of the flow's packets that its own link carries in a base round trip. */
double hpcc_model_line_packets(const struct hpcc_model *m, const struct hpcc_model_params *p,
			       double link_bytes_per_ns)
{
	return hpcc_model_t(m, p) * link_bytes_per_ns / (m->mss_bytes + HEADERS_BYTES);
}

static double line_rate_window(const struct hpcc_model *m, const struct hpcc_model_params *p,
			       double link_bytes_per_ns)
{
	return (ceil(hpcc_model_line_packets(m, p, link_bytes_per_ns)) + 1) * m->mss_bytes;
}

static double within_limits(const struct hpcc_model *m, const struct hpcc_model_params *p,
			    double link_bytes_per_ns, double w)
{
	double most = p->max_window_bytes;

	if (!hpcc_model_steers(m, p))
		return fmax(fmin(w, most), m->mss_bytes);
	if (link_bytes_per_ns > 0)
		most = fmin(most, line_rate_window(m, p, link_bytes_per_ns));
	return fmin(fmax(w, p->min_rate_bytes_per_ns * hpcc_model_t(m, p)), most);
}

void hpcc_model_limit(struct hpcc_model *m, const struct hpcc_model_params *p,
		      const struct hpcc_model_event *e, double w)
{
	m->wc = within_limits(m, p, e->link_bytes_per_ns, m->wc);
	m->window_bytes = within_limits(m, p, e->link_bytes_per_ns, w);
}

double hpcc_model_pacing_bytes_per_ns(const struct hpcc_model *m,
				      const struct hpcc_model_params *p)
{
	return hpcc_model_steers(m, p) ? m->window_bytes / hpcc_model_t(m, p) : INFINITY;
}

double hpcc_model_w_ai(const struct hpcc_model *m, const struct hpcc_model_params *p)
{
	return p->ai_bytes_per_ns * hpcc_model_t(m, p);
}

static double difference(double now, double before)
{
	return now - before + (now < before ? COUNTERS_WRAP : 0);
}

/* Only the most loaded link is known, so there is no maximum over links. */
static void measure_inflight(struct hpcc_model *m, const struct hpcc_model_params *p,
			     const struct hpcc_model_link *l)
{
	double t = hpcc_model_t(m, p);
	double tau = difference(l->ts_ns, m->l.ts_ns);
	double tx_rate = difference(l->tx_units, m->l.tx_units) * TX_UNIT_BYTES / tau;
	double u = fmin(l->qlen_bytes, m->l.qlen_bytes) / (l->b_bytes_per_ns * t) +
		   tx_rate / l->b_bytes_per_ns;

	tau = fmin(tau, t);
	m->u = fmin((1 - tau / t) * m->u + tau / t * u, MOST_U);
}

/* W = Wc / (U / eta) + W_AI, or Wc + W_AI. */
double hpcc_model_compute_wind(const struct hpcc_model *m, const struct hpcc_model_params *p,
			       double w_ai)
{
	if (m->u >= p->eta || m->inc_stage >= p->max_stage)
		return m->wc / (m->u / p->eta) + w_ai;
	return m->wc + w_ai;
}

/* "updateWc": reference and stage. */
void hpcc_model_update(struct hpcc_model *m, const struct hpcc_model_params *p, double w)
{
	if (m->u >= p->eta || m->inc_stage >= p->max_stage)
		m->inc_stage = 0;
	else
		m->inc_stage++;
	m->wc = w;
}

/* The window used while ACKs bring no new telemetry. */
static double window_in_force(const struct hpcc_model *m, const struct hpcc_model_params *p)
{
	if (!m->u_applies)
		return m->wc;
	return fmin(hpcc_model_compute_wind(m, p, hpcc_model_w_ai(m, p)), m->wc);
}

static void path_unknown(struct hpcc_model *m)
{
	m->u = 1;
	m->inc_stage = 0;
	m->l.hop = 0;
	m->u_applies = false;
	m->u_in_this_rtt = false;
	m->congested_in_this_rtt = false;
}

bool hpcc_model_usable(const struct hpcc_model *m, const struct hpcc_model_params *p,
		       const struct hpcc_model_event *e)
{
	return e->l.hop && e->l.b_bytes_per_ns > 0 && hpcc_model_t(m, p) > 0;
}

static bool out_of_date(const struct hpcc_model *m, const struct hpcc_model_event *e)
{
	return e->now_ns - m->l_arrived_ns > FRESH_NS;
}

static void give_up_int(struct hpcc_model *m, const struct hpcc_model_params *p)
{
	double w = window_in_force(m, p);

	m->wc = m->l.hop ? w : fmin(w, UNKNOWN_PATH_SEGMENTS * m->mss_bytes);
	path_unknown(m);
	m->uses_int = false;
}

/* Process a record; returns whether U was updated. */
bool hpcc_model_record(struct hpcc_model *m, const struct hpcc_model_params *p,
		       const struct hpcc_model_event *e)
{
	bool fresh = m->l.hop && !out_of_date(m, e);
	double tau = difference(e->l.ts_ns, m->l.ts_ns);
	bool measured = false;

	m->retransmit_cnt = 0;
	if (e->min_rtt_ns > 0)
		m->min_rtt_ns = e->min_rtt_ns;
	if (!hpcc_model_usable(m, p, e)) {
		if (m->uses_int && !fresh)
			give_up_int(m, p);
		return false;
	}
	if (fresh && e->l.hop == m->l.hop) {
		if (tau <= 0 || tau >= COUNTERS_WRAP / 2)
			return false;
		measure_inflight(m, p, &e->l);
		measured = true;
		m->u_applies = true;
		m->u_in_this_rtt = true;
		m->congested_in_this_rtt |= m->u / p->eta >= 1;
	}
	m->uses_int = true;
	m->l = e->l;
	m->l_arrived_ns = e->now_ns;
	return measured;
}

bool hpcc_model_rtt_finished(struct hpcc_model *m, const struct hpcc_model_event *e)
{
	bool finished = m->rtt_begun;

	if (e->acked_bytes <= m->bytes_left_of_rtt) {
		m->bytes_left_of_rtt -= e->acked_bytes;
		return false;
	}
	m->rtt_begun = true;
	m->bytes_left_of_rtt = fmax(e->inflight_bytes - e->acked_bytes, 0);
	return finished;
}

/* A round trip without any measurement.  Returns the window. */
double hpcc_model_uninformed_rtt(struct hpcc_model *m, const struct hpcc_model_params *p,
				 const struct hpcc_model_event *e)
{
	double step = m->mss_bytes;

	m->wc = window_in_force(m, p);
	m->u_applies = false;
	if (hpcc_model_steers(m, p))
		step = fmin(step, hpcc_model_w_ai(m, p));
	if (!e->app_limited)
		m->wc += step;
	return m->wc;
}

void hpcc_model_rtt_over(struct hpcc_model *m)
{
	if (m->u_in_this_rtt && !m->congested_in_this_rtt)
		m->loss_pending = false;
	m->u_in_this_rtt = false;
	m->congested_in_this_rtt = false;
}

/* VAI/SF III-D: Current Window < rand() % Max Window. */
static bool disregarded(const struct hpcc_model *m, const struct hpcc_model_params *p,
			const struct hpcc_model_event *e, double w)
{
	return p->probabilistic && w < m->wc && e->link_bytes_per_ns > 0 &&
	       m->wc < e->rand * line_rate_window(m, p, e->link_bytes_per_ns);
}

void hpcc_model_ack(struct hpcc_model *m, const struct hpcc_model_params *p,
		    const struct hpcc_model_event *e)
{
	bool measured = hpcc_model_record(m, p, e);
	bool finished = hpcc_model_rtt_finished(m, e);
	double w = m->wc;

	if (measured || (finished && m->u_in_this_rtt)) {
		w = hpcc_model_compute_wind(m, p, hpcc_model_w_ai(m, p));
		if (e->app_limited)
			w = fmin(w, m->wc);
	} else {
		w = window_in_force(m, p);
	}
	if (finished && !m->u_in_this_rtt)
		w = hpcc_model_uninformed_rtt(m, p, e);
	else if (finished && disregarded(m, p, e, w))
		w = m->wc;
	else if (finished && !(e->app_limited && w >= m->wc))
		hpcc_model_update(m, p, w);
	if (finished)
		hpcc_model_rtt_over(m);
	hpcc_model_limit(m, p, e, w);
}

static void lower(struct hpcc_model *m, double w)
{
	m->wc = w;
	m->inc_stage = 0;
	m->u_applies = false;
	m->u_in_this_rtt = false;
	m->congested_in_this_rtt = false;
	m->loss_pending = true;
}

void hpcc_model_fast_retransmit(struct hpcc_model *m, const struct hpcc_model_params *p,
				const struct hpcc_model_event *e)
{
	m->retransmit_cnt = 0;
	lower(m, window_in_force(m, p) / 2);
	m->rtt_begun = true;
	m->bytes_left_of_rtt = e->inflight_bytes;
	hpcc_model_limit(m, p, e, m->wc);
}

void hpcc_model_timeout(struct hpcc_model *m, const struct hpcc_model_params *p,
			const struct hpcc_model_event *e)
{
	m->retransmit_cnt++;
	if (m->retransmit_cnt >= p->retx_reset_threshold || !m->l.hop)
		lower(m, 0);
	else
		lower(m, window_in_force(m, p) / 2);
	m->rtt_begun = false;
	m->bytes_left_of_rtt = 0;
	hpcc_model_limit(m, p, e, m->wc);
}

/* Process an idle period; returns whether the flow restarts. */
bool hpcc_model_after_idle(struct hpcc_model *m, const struct hpcc_model_params *p,
			   const struct hpcc_model_event *e, double idle_ns)
{
	bool anew = p->restart_idle_ns > 0 && idle_ns >= p->restart_idle_ns;
	double w = window_in_force(m, p);
	double init;

	if (!anew) {
		hpcc_model_limit(m, p, e, w);
		return false;
	}
	if (p->init_window_bytes > 0)
		init = p->init_window_bytes;
	else if (!(e->link_bytes_per_ns > 0) || !hpcc_model_steers(m, p))
		init = UNKNOWN_PATH_SEGMENTS * m->mss_bytes;
	else
		init = line_rate_window(m, p, e->link_bytes_per_ns);
	if (m->loss_pending || !hpcc_model_steers(m, p))
		init = fmin(init, w);
	m->wc = init;
	path_unknown(m);
	m->rtt_begun = false;
	m->bytes_left_of_rtt = 0;
	hpcc_model_limit(m, p, e, m->wc);
	return true;
}
