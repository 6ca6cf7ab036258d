/* SPDX-License-Identifier: GPL-2.0 */
/*
 * DCQCN's reaction point in floating point, written from Algorithm 1 of Zhu et
 * al. and from the list of deviations in Documentation/dcqcn.md, not from the
 * integer code.  Every timer is a separate deadline, and expirations are handled one by one.
 * Rates are bytes per second, times nanoseconds.
 */
#ifndef _QUELL_TEST_DCQCN_MODEL_H
#define _QUELL_TEST_DCQCN_MODEL_H

#include <stdbool.h>

struct dcqcn_model_params {
	double g;
	double notify_interval_ns;
	double alpha_timer_ns;
	double timer_ns;
	double byte_counter_bytes;
	double f;
	double rai;
	double rhai;
	double min_rate;
	double queue_bound_ns;
	double max_window_bytes;
	double restart_idle_ns;
};

struct dcqcn_model {
	double rc, rt, alpha;
	double next_alpha_ns, next_timer_ns;
	double last_notification_ns;
	double bytes;			/* since the byte counter last expired */
	double t, bc;
	double reno_window;		/* bytes */
	double base_rtt_ns;
	double mss_bytes;
	bool ecn, notified, after_loss;
};

struct dcqcn_model_event {
	double now_ns;
	double line_rate;		/* 0: unknown */
	double acked_bytes;
	double inflight_bytes;
	bool marked, app_limited;
};

double dcqcn_model_window_bytes(const struct dcqcn_model *m,
				const struct dcqcn_model_params *p);
void dcqcn_model_limit(struct dcqcn_model *m, const struct dcqcn_model_params *p,
		       double line_rate);
void dcqcn_model_start(struct dcqcn_model *m, const struct dcqcn_model_params *p,
		       double line_rate, double now_ns);
void dcqcn_model_ack(struct dcqcn_model *m, const struct dcqcn_model_params *p,
		     const struct dcqcn_model_event *e);
void dcqcn_model_loss(struct dcqcn_model *m, const struct dcqcn_model_params *p,
		      const struct dcqcn_model_event *e);
void dcqcn_model_timeout(struct dcqcn_model *m, const struct dcqcn_model_params *p,
			 const struct dcqcn_model_event *e);
void dcqcn_model_after_idle(struct dcqcn_model *m, const struct dcqcn_model_params *p,
			    const struct dcqcn_model_event *e, double idle_ns);

#endif /* _QUELL_TEST_DCQCN_MODEL_H */
