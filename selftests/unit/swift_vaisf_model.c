// SPDX-License-Identifier: GPL-2.0
/*
 * See swift_vaisf_model.h.  Names and order follow Algorithms 1 and 2 of the
 * VAI/SF paper so that they can be read side by side.
 */
#include <math.h>

#include "swift_vaisf_model.h"

/* The core's counters saturate; see the page's list of departures. */
#define MOST_DAMPENER	(0xffffffff / 65536.0)
#define MOST_MEASURED	4294967295.0
#define MOST_PACKETS	65535.0

double vaisf_model_target_ns(const struct vaisf_model *m, const struct vaisf_model_params *p,
			     unsigned int hops)
{
	return swift_model_path_ns(&m->swift, &p->swift, hops);
}

/* Algorithm 1, within "if RTT Finished". */
static void generate_tokens(struct vaisf_model *m, const struct vaisf_model_params *p,
			    double target_ns)
{
	double token_thresh = target_ns + p->min_bdp_ns;
	double queueing_ns = fmax(m->measured_congestion_ns - m->swift.base_rtt_ns, 0);

	if (m->measured_congestion_ns > token_thresh)
		m->ai_bank = fmin(floor(queueing_ns / p->token_ns) + m->ai_bank, p->bank_cap);
	if (m->measured_congestion_ns > token_thresh) {
		m->dampener = fmin(m->dampener + m->measured_congestion_ns / token_thresh,
				   MOST_DAMPENER);
	} else if (m->ai_bank == 0) {
		if (m->measured_congestion_ns <= target_ns)
			m->dampener = 0;
		else if (m->measured_congestion_ns < token_thresh)
			m->dampener = fmax(m->dampener - 1, 0);
	}
	m->measured_congestion_ns = 0;
}

/* Algorithm 2: multiplier of the base AI. */
double vaisf_model_multiplier(const struct vaisf_model *m,
			      const struct vaisf_model_params *p)
{
	double tokens = fmin(p->ai_cap, m->ai_bank);
	double divisor = m->dampener / p->dampener_constant + 1;

	return fmax(tokens / divisor, 1);
}

static void spend_tokens(struct vaisf_model *m, const struct vaisf_model_params *p)
{
	double tokens = fmin(p->ai_cap, m->ai_bank);

	m->ai_bank = fmax(m->ai_bank - tokens, 0);
	m->spent += tokens;
}

/* Equation 1. */
static double mdf(const struct vaisf_model_params *p, double delay_ns, double target_ns)
{
	if (delay_ns < target_ns)
		return 1;
	return fmax(1 - p->swift.beta * (delay_ns - target_ns) / delay_ns,
		    1 - p->swift.max_mdf);
}

static double base_increase_bytes(const struct vaisf_model *m,
				  const struct vaisf_model_params *p, double delay_ns)
{
	double bytes = p->swift.ai_bytes_per_ns * m->swift.base_rtt_ns;

	if (!(m->swift.base_rtt_ns > 0))
		return m->swift.mss_bytes;
	return delay_ns > 0 ? bytes : fmin(bytes, m->swift.mss_bytes);
}

static double limited_bytes(const struct vaisf_model *m, const struct vaisf_model_params *p,
			    double bytes)
{
	double floor_pkts = m->swift.base_rtt_ns > 0 ? p->swift.min_cwnd : 1;

	return fmax(fmin(bytes, p->swift.max_window_bytes),
		    floor_pkts * m->swift.mss_bytes);
}

static bool rtt_finished(struct vaisf_model *m, const struct vaisf_model_event *e)
{
	if (e->swift.acked_bytes <= m->bytes_left_of_rtt) {
		m->bytes_left_of_rtt -= e->swift.acked_bytes;
		return false;
	}
	m->bytes_left_of_rtt = fmax(e->inflight_bytes - e->swift.acked_bytes, 0);
	return true;
}

/* Update the target, which may be derived from the path's own round trip. */
static double measure(struct vaisf_model *m, const struct vaisf_model_params *p,
		      const struct vaisf_model_event *e)
{
	double since_ns = e->swift.now_ns - m->swift.fabric.t_last_decrease_ns;
	double target_ns;

	m->swift.retransmit_cnt = 0;
	if (!(e->swift.delay_ns > 0))
		return vaisf_model_target_ns(m, p, e->swift.hops);
	m->swift.rtt_ns = e->swift.delay_ns;
	if (!(m->swift.base_rtt_ns > 0) || e->swift.delay_ns < m->swift.base_rtt_ns)
		m->swift.base_rtt_ns = e->swift.delay_ns;
	target_ns = vaisf_model_target_ns(m, p, e->swift.hops);
	if (e->swift.delay_ns < target_ns &&
	    (!m->swift.fabric.ever_decreased || since_ns >= m->swift.rtt_ns))
		m->swift.loss_pending = false;
	m->measured_congestion_ns = fmin(fmax(m->measured_congestion_ns, e->swift.delay_ns),
					 MOST_MEASURED);
	return target_ns;
}

/* Section V-B: each ACK sets the window from the reference, which changes rarely. */
void vaisf_model_ack(struct vaisf_model *m, const struct vaisf_model_params *p,
		     const struct vaisf_model_event *e)
{
	double reference = m->swift.fabric.cwnd * m->swift.mss_bytes;
	double target_ns, window, increase;
	bool finished, adjust;

	target_ns = measure(m, p, e);
	m->packets_since_decrease = fmin(m->packets_since_decrease + e->acked_packets,
					 MOST_PACKETS);
	finished = rtt_finished(m, e);
	if (finished)
		generate_tokens(m, p, target_ns);
	increase = base_increase_bytes(m, p, e->swift.delay_ns);
	if (e->swift.delay_ns > 0)
		increase *= vaisf_model_multiplier(m, p);
	window = reference * (e->swift.delay_ns > 0 ? mdf(p, e->swift.delay_ns, target_ns) : 1) +
		 (e->swift.app_limited ? 0 : increase);
	m->unlimited_bytes = window;
	if (window < reference)
		adjust = m->packets_since_decrease >= p->sampling_frequency ||
			 (p->or_rtt_finished && finished);
	else
		adjust = finished && !e->swift.app_limited;
	if (adjust && e->swift.delay_ns > 0)
		spend_tokens(m, p);
	if (adjust && window < reference)
		m->packets_since_decrease = 0;
	if (!adjust && !(e->swift.delay_ns > 0))
		window = reference;
	m->window_bytes = limited_bytes(m, p, window);
	m->swift.fabric.cwnd = limited_bytes(m, p, adjust ? window : reference) / m->swift.mss_bytes;
}

static void forget(struct vaisf_model *m)
{
	m->measured_congestion_ns = 0;
	m->ai_bank = 0;
	m->dampener = 0;
	m->packets_since_decrease = 0;
	m->bytes_left_of_rtt = 0;
}

void vaisf_model_fast_retransmit(struct vaisf_model *m, const struct vaisf_model_params *p,
				 const struct vaisf_model_event *e)
{
	swift_model_fast_retransmit(&m->swift, &p->swift, &e->swift);
	m->packets_since_decrease = 0;
	if (p->or_rtt_finished)
		m->bytes_left_of_rtt = e->inflight_bytes;
	m->window_bytes = m->swift.fabric.cwnd * m->swift.mss_bytes;
}

void vaisf_model_timeout(struct vaisf_model *m, const struct vaisf_model_params *p,
			 const struct vaisf_model_event *e)
{
	swift_model_timeout(&m->swift, &p->swift, &e->swift);
	forget(m);
	m->window_bytes = m->swift.fabric.cwnd * m->swift.mss_bytes;
}

void vaisf_model_after_idle(struct vaisf_model *m, const struct vaisf_model_params *p,
			    double idle_ns)
{
	swift_model_after_idle(&m->swift, &p->swift, idle_ns);
	if (p->swift.restart_idle_ns > 0 && idle_ns >= p->swift.restart_idle_ns)
		forget(m);
	m->window_bytes = m->swift.fabric.cwnd * m->swift.mss_bytes;
}
