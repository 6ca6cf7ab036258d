/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SMaRTT in floating point, written from the paper's algorithms and equations
 * and from the list of deviations in Documentation/smartt.md, not from the
 * integer code.  Sizes are bytes, times nanoseconds.
 */
#ifndef _QUELL_TEST_SMARTT_MODEL_H
#define _QUELL_TEST_SMARTT_MODEL_H

#include <stdbool.h>

struct smartt_model_params {
	double target;			/* trtt / brtt */
	double target_delay;		/* or trtt - brtt, if not 0 */
	double scale_bdp;		/* bytes, 0: no scaling */
	double fi, pi, eta;		/* segments */
	double k;			/* FastIncrease, bytes per byte */
	double slack_ns;
	double md, max_mdf;
	double weight;
	double qa_delay, qa_low;
	double max_bdps;
	double init_window;
	double restart_idle_ns;
	double batch;
	unsigned int reset_rtos;
	bool bounded;			/* adapt.md: steps of a fourth of the window */
	bool pi_fair, md_queueing, qa, ignore, ignore_marked, ignore_trims, ignore_delay;
};

struct smartt_model {
	double cwnd;
	double pending;			/* increase due times the window, bytes squared */
	double brtt, avg_rtt;
	double most;			/* maximum window, 0: unknown */
	double unit;			/* a segment scaled as in III-J */
	double mtu;
	double acked;			/* QuickAdapt's */
	double to_ignore;
	double count;			/* FastIncrease's */
	double batch_pkts;
	double decrease_at, period_at, round_at;
	bool decreased, measuring;
	bool rerouted, new_path;	/* in this round trip, in the one before */
	bool trigger_qa, increase, loss;
	unsigned int rtos;
	bool unsure;			/* a comparison was too close to decide */
};

struct smartt_model_event {
	double now, rtt, min_rtt;
	double link;			/* bytes/s */
	double size, marked, trimmed, lost, unacked;
	double pkts, mtu;
	bool ecn, app_limited;
};

double smartt_model_trtt(const struct smartt_model *m,
			 const struct smartt_model_params *p);
void smartt_model_start(struct smartt_model *m, const struct smartt_model_params *p,
			const struct smartt_model_event *e);
bool smartt_model_ack(struct smartt_model *m, const struct smartt_model_params *p,
		      const struct smartt_model_event *e);
void smartt_model_loss(struct smartt_model *m, const struct smartt_model_params *p,
		       const struct smartt_model_event *e);
void smartt_model_timeout(struct smartt_model *m, const struct smartt_model_params *p,
			  const struct smartt_model_event *e);
void smartt_model_idle(struct smartt_model *m, const struct smartt_model_params *p,
		       const struct smartt_model_event *e, double idle_ns);

#endif /* _QUELL_TEST_SMARTT_MODEL_H */
