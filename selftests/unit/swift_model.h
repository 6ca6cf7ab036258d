/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swift in floating point, written from the equations of the papers and from
 * the list of deviations in Documentation/swift.md, not from the integer code.
 * Windows are packets, times nanoseconds.
 *
 * The fabric's congestion window is fcwnd, that of the endpoint ecwnd; fcwnd is used alone
 * until the endpoint reports its delay.
 */
#ifndef _QUELL_TEST_SWIFT_MODEL_H
#define _QUELL_TEST_SWIFT_MODEL_H

#include <stdbool.h>

struct swift_model_params {
	double base_target_ns;
	double hop_ns;
	double fs_range_ns;
	double fs_min_cwnd;
	double fs_max_cwnd;
	double endpoint_target_ns;	/* 0: one delay */
	double ai_bytes_per_ns;
	double beta;
	double max_mdf;
	double min_cwnd;
	double max_window_bytes;
	double init_window_bytes;
	double restart_idle_ns;
	unsigned int retx_reset_threshold;
	bool probabilistic;
};

struct swift_model_window {
	double cwnd;
	double t_last_decrease_ns;
	bool ever_decreased;
	bool disregarded;		/* that decrease */
};

struct swift_model {
	struct swift_model_window fabric, endpoint;
	bool has_endpoint;
	double rtt_ns;
	double base_rtt_ns;
	double link_bytes_per_ns;
	double mss_bytes;
	unsigned int retransmit_cnt;
	bool loss_pending;
};

struct swift_model_event {
	double now_ns;
	double delay_ns;		/* round trip; 0: not measured */
		double endpoint_ns;		/* part of it in the remote host; 0: unknown */
	double acked_bytes;
	unsigned int hops;
	bool app_limited;
	double rand;			/* 0 to 1, for this ACK */
};

double swift_model_cwnd(const struct swift_model *m);
double swift_model_path_ns(const struct swift_model *m, const struct swift_model_params *p,
			   unsigned int hops);
double swift_model_target_ns(const struct swift_model *m,
			     const struct swift_model_params *p,
			     unsigned int hops);
double swift_model_pacing_bytes_per_ns(const struct swift_model *m);
double swift_model_init_window_bytes(const struct swift_model *m,
				     const struct swift_model_params *p);
void swift_model_ack(struct swift_model *m, const struct swift_model_params *p,
		     const struct swift_model_event *e);
void swift_model_fast_retransmit(struct swift_model *m,
				 const struct swift_model_params *p,
				 const struct swift_model_event *e);
void swift_model_timeout(struct swift_model *m, const struct swift_model_params *p,
			 const struct swift_model_event *e);
void swift_model_after_idle(struct swift_model *m,
			    const struct swift_model_params *p, double idle_ns);

#endif /* _QUELL_TEST_SWIFT_MODEL_H */
