// SPDX-License-Identifier: GPL-2.0
/*
 * See hpcc_vaisf_model.h.  Names and order follow Algorithms 1 and 2 of the VAI/SF
 * paper so that they can be read side by side.
 */
#include <math.h>

#include "hpcc_vaisf_model.h"

/* The core's counters saturate; see swift_vaisf's list of departures. */
#define MOST_DAMPENER	(0xffffffff / 65536.0)
#define MOST_PACKETS	65535.0

/* Algorithm 1, within "if RTT Finished".  No Congestion: C < 1 all the time. */
static void generate_tokens(struct hpcc_vaisf_model *m,
			    const struct hpcc_vaisf_model_params *p)
{
	double measured = m->measured_congestion_bytes;
	double token_thresh = p->min_bdp_bytes;

	if (measured > token_thresh) {
		m->ai_bank = fmin(floor(measured / p->ai_div_bytes) + m->ai_bank, p->bank_cap);
		m->dampener = fmin(m->dampener + measured / token_thresh, MOST_DAMPENER);
	} else if (m->ai_bank == 0) {
		if (!m->hpcc.congested_in_this_rtt)
			m->dampener = 0;
		else if (measured < token_thresh)
			m->dampener = fmax(m->dampener - 1, 0);
	}
	m->measured_congestion_bytes = 0;
}

/* Algorithm 2: multiplier of the base AI. */
double hpcc_vaisf_model_multiplier(const struct hpcc_vaisf_model *m,
				   const struct hpcc_vaisf_model_params *p)
{
	double tokens = fmin(p->ai_cap, m->ai_bank);
	double divisor = m->dampener / p->dampener_constant + 1;

	return fmax(tokens / divisor, 1);
}

/* A rate adjustment. */
static void adjust_reference(struct hpcc_vaisf_model *m,
			     const struct hpcc_vaisf_model_params *p, double w)
{
	double tokens = fmin(p->ai_cap, m->ai_bank);

	m->ai_bank = fmax(m->ai_bank - tokens, 0);
	m->spent += tokens;
	if (w < m->hpcc.wc)
		m->packets_since_decrease = 0;
	hpcc_model_update(&m->hpcc, &p->hpcc, w);
}

void hpcc_vaisf_model_ack(struct hpcc_vaisf_model *m,
			  const struct hpcc_vaisf_model_params *p,
			  const struct hpcc_model_event *e, double acked_packets)
{
	bool informed = hpcc_model_record(&m->hpcc, &p->hpcc, e);
	bool finished = hpcc_model_rtt_finished(&m->hpcc, e);
	bool may_fall, rises;
	double w;

	m->packets_since_decrease = fmin(m->packets_since_decrease + acked_packets,
					 MOST_PACKETS);
	if (hpcc_model_usable(&m->hpcc, &p->hpcc, e))
		m->measured_congestion_bytes = fmax(m->measured_congestion_bytes,
						    e->l.qlen_bytes);
	if (finished)
		generate_tokens(m, p);

	w = m->hpcc.wc;
	if (m->hpcc.u_applies)
		w = hpcc_model_compute_wind(&m->hpcc, &p->hpcc,
					    hpcc_model_w_ai(&m->hpcc, &p->hpcc) *
					    hpcc_vaisf_model_multiplier(m, p));
	if (e->app_limited || !(informed || (finished && m->hpcc.u_in_this_rtt)))
		w = fmin(w, m->hpcc.wc);

	rises = w >= m->hpcc.wc && finished && !e->app_limited;
	may_fall = w < m->hpcc.wc && informed &&
		   (m->packets_since_decrease >= p->sampling_frequency ||
		    (p->or_rtt_finished && finished));
	if (finished && !m->hpcc.u_in_this_rtt)
		w = hpcc_model_uninformed_rtt(&m->hpcc, &p->hpcc, e);
	else if (rises || may_fall)
		adjust_reference(m, p, w);
	if (finished)
		hpcc_model_rtt_over(&m->hpcc);
	hpcc_model_limit(&m->hpcc, &p->hpcc, e, w);
}

static void forget(struct hpcc_vaisf_model *m)
{
	m->measured_congestion_bytes = 0;
	m->ai_bank = 0;
	m->dampener = 0;
	m->packets_since_decrease = 0;
}

void hpcc_vaisf_model_fast_retransmit(struct hpcc_vaisf_model *m,
				      const struct hpcc_vaisf_model_params *p,
				      const struct hpcc_model_event *e)
{
	hpcc_model_fast_retransmit(&m->hpcc, &p->hpcc, e);
	m->packets_since_decrease = 0;
}

void hpcc_vaisf_model_timeout(struct hpcc_vaisf_model *m,
			      const struct hpcc_vaisf_model_params *p,
			      const struct hpcc_model_event *e)
{
	hpcc_model_timeout(&m->hpcc, &p->hpcc, e);
	forget(m);
}

void hpcc_vaisf_model_after_idle(struct hpcc_vaisf_model *m,
				 const struct hpcc_vaisf_model_params *p,
				 const struct hpcc_model_event *e, double idle_ns)
{
	if (hpcc_model_after_idle(&m->hpcc, &p->hpcc, e, idle_ns))
		forget(m);
}
