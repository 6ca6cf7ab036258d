/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TIMELY in floating point, written from Algorithm 1, section 5 and the list of
 * deviations in Documentation/timely.md, not from the integer code.  Rates are
 * bytes per ns, windows bytes, times ns.
 */
#ifndef _QUELL_TEST_TIMELY_MODEL_H
#define _QUELL_TEST_TIMELY_MODEL_H

#include <stdbool.h>

struct timely_model_params {
	double t_low, t_high, min_rtt, delta, alpha, beta;
	double segment, init_rate, min_rate, max_rate, max_outstanding, restart_idle;
	double patched_beta, patched_ref;
	unsigned int hai, hai_after;
	bool patched;
};

struct timely_model {
	double rate, window, rtt_diff, prev_rtt, last_completion;
	double mss, since, sent, allowed;
	unsigned int falling;
	bool signal, have_prev, after_loss;
	/* Distance of the last step from the opposite decision. */
	double gradient_margin, demand_margin;
};

struct timely_model_event {
	double now, rtt, acked, link, inflight;	/* rtt, link 0: unknown */
	bool whole_segment;
};

double timely_model_bound(const struct timely_model *m,
			  const struct timely_model_params *p, double link);
void timely_model_ack(struct timely_model *m, const struct timely_model_params *p,
		      const struct timely_model_event *e);
void timely_model_loss(struct timely_model *m, const struct timely_model_params *p,
		       const struct timely_model_event *e);
void timely_model_timeout(struct timely_model *m, const struct timely_model_params *p,
			  const struct timely_model_event *e);
void timely_model_idle(struct timely_model *m, const struct timely_model_params *p,
		       const struct timely_model_event *e, double idle, double min_rtt,
		       unsigned int others);

#endif /* _QUELL_TEST_TIMELY_MODEL_H */
