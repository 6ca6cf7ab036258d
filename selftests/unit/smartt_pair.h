/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The integer core of SMaRTT and its floating-point model side by side.
 */
#ifndef _QUELL_TEST_SMARTT_PAIR_H
#define _QUELL_TEST_SMARTT_PAIR_H

#include <math.h>
#include <string.h>

#include <quell/core/smartt/core.h>

#include "model_steps.h"
#include "smartt_model.h"

struct pair {
	struct quell_smartt_params p;
	struct quell_smartt_vars v;
	struct quell_smartt_stats st;
	struct quell_decision out;
	struct smartt_model_params mp;
	struct smartt_model m;
	bool change_path;
};

static inline void model_params(struct smartt_model_params *mp,
			 const struct quell_smartt_params *p)
{
	*mp = (struct smartt_model_params) {
		.target = p->target_rtt_q16 / 65536.0,
		.target_delay = p->target_delay_ns,
		.scale_bdp = p->scale_bdp_bytes,
		.fi = p->fi_pkts_q16 / 65536.0,
		.pi = p->pi_pkts_q16 / 65536.0,
		.eta = p->eta_pkts_q16 / 65536.0,
		.k = p->fast_q16 / 65536.0,
		.slack_ns = p->fast_slack_ns,
		.md = p->md_q16 / 65536.0,
		.max_mdf = p->max_mdf_q16 / 65536.0,
		.weight = p->avg_weight_q16 / 65536.0,
		.qa_delay = p->qa_delay_q16 / 65536.0,
		.qa_low = p->qa_low_q16 / 65536.0,
		.max_bdps = p->max_window_q16 / 65536.0,
		.init_window = p->init_window_bytes,
		.restart_idle_ns = p->restart_idle_ns,
		.batch = p->batch_pkts,
		.reset_rtos = p->retx_reset_rtos,
		.bounded = p->adapt_bool,
		.pi_fair = p->pi_fair, .md_queueing = p->md_queueing, .qa = p->qa,
		.ignore = p->ignore, .ignore_marked = p->ignore_marked,
		.ignore_trims = p->ignore_trims, .ignore_delay = p->ignore_delay,
	};
}

/* Start both on a path with parameters x->p. */
static inline void start_pair(struct pair *x, const struct quell_sample *s)
{
	struct smartt_model_event e = {
		.now = s->now_ns, .min_rtt = s->min_rtt_ns, .link = s->link_bytes_ps,
		.mtu = s->mss_bytes,
	};

	model_params(&x->mp, &x->p);
	quell_smartt_init(&x->v, &x->p, s, &x->out);
	smartt_model_start(&x->m, &x->mp, &e);
}

static inline void apply(struct pair *x, enum event event, const struct quell_sample *s)
{
	struct smartt_model_event e = {
		.now = s->now_ns, .rtt = s->rtt_ns, .min_rtt = s->min_rtt_ns,
		.link = s->link_bytes_ps, .size = s->acked_bytes,
		.marked = s->marked_bytes, .trimmed = s->trimmed_bytes,
		.lost = s->lost_bytes, .unacked = s->inflight_bytes,
		.pkts = s->acked_pkts, .mtu = s->mss_bytes,
		.ecn = s->flags & QUELL_S_ECN,
		.app_limited = s->flags & QUELL_S_APP_LIMITED,
	};

	x->change_path = false;
	switch (event) {
	case EVENT_ACK:
		quell_smartt_on_ack(&x->v, &x->p, &x->st, s, &x->out);
		x->change_path = smartt_model_ack(&x->m, &x->mp, &e);
		break;
	case EVENT_LOSS:
		quell_smartt_on_loss(&x->v, &x->p, &x->st, s, &x->out);
		smartt_model_loss(&x->m, &x->mp, &e);
		break;
	case EVENT_RTO:
		quell_smartt_on_rto(&x->v, &x->p, &x->st, s, &x->out);
		smartt_model_timeout(&x->m, &x->mp, &e);
		break;
	case EVENT_IDLE:
		quell_smartt_on_idle_restart(&x->v, &x->p, &x->st, s, &x->out);
		smartt_model_idle(&x->m, &x->mp, &e, s->idle_ns);
		break;
	}
}

/* Whether the state other than the window and the average is the same. */
static inline bool same_memory_but_average(const struct pair *x)
{
	const struct quell_smartt_vars *v = &x->v;
	const struct smartt_model *m = &x->m;
	u8 flags = (m->decreased ? QUELL_SMARTT_F_DECREASED : 0) |
		   (m->rerouted ? QUELL_SMARTT_F_REROUTED : 0) |
		   (m->new_path ? QUELL_SMARTT_F_NEW_PATH : 0) |
		   (m->measuring ? QUELL_SMARTT_F_MEASURING : 0) |
		   (m->trigger_qa ? QUELL_SMARTT_F_QA_DUE : 0) |
		   (m->increase ? QUELL_SMARTT_F_FAST : 0) |
		   (m->loss ? QUELL_SMARTT_F_LOSS : 0);

	return v->flags == flags && v->rtos == m->rtos && v->base_rtt_ns == m->brtt &&
	       v->most_bytes == m->most && fabs(v->unit_q8 / 256.0 - m->unit) <= 1 / 256.0 &&
	       v->delivered_bytes == m->acked &&
	       v->ignore_bytes == m->to_ignore && v->clear_bytes == m->count &&
	       v->batch_pkts == m->batch_pkts && v->decrease_ns == m->decrease_at &&
	       v->period_ns == m->period_at &&
	       v->round_ns == m->round_at;
}

/* Whether the state other than the window is the same, with the average within 1/8 ns. */
static inline bool same_memory(const struct pair *x)
{
	return same_memory_but_average(x) &&
	       fabs(x->v.avg_rtt_q4 / 16.0 - x->m.avg_rtt) <= 0.125;
}

#endif /* _QUELL_TEST_SMARTT_PAIR_H */
