/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPCC in floating point, written from the description of its authors' simulator
 * and from the list of departures in Documentation/hpcc.md, not from the integer
 * code.  Windows are bytes, times nanoseconds, rates bytes per nanosecond.
 */
#ifndef _QUELL_TEST_HPCC_MODEL_H
#define _QUELL_TEST_HPCC_MODEL_H

#include <stdbool.h>

struct hpcc_model_params {
	double eta;
	double max_stage;
	double ai_bytes_per_ns;
	double base_rtt_ns;		/* 0: the smallest seen */
	double min_rate_bytes_per_ns;
	double max_window_bytes;
	double init_window_bytes;
	double restart_idle_ns;
	double retx_reset_threshold;
	bool probabilistic;
};

/* The INT record of a link, as the HPCC paper calls it. */
struct hpcc_model_link {
	unsigned int hop;		/* 0: no record */
	double b_bytes_per_ns;
	double qlen_bytes;
	double tx_units;
	double ts_ns;
};

struct hpcc_model {
	double wc;			/* the reference */
	double window_bytes;
	double u;
	double inc_stage;
	struct hpcc_model_link l;
	double l_arrived_ns;
	double min_rtt_ns;
	double mss_bytes;
	double bytes_left_of_rtt;
	double retransmit_cnt;
	bool rtt_begun;
	bool uses_int;
	bool u_applies;			/* to this reference or the one before */
	bool u_in_this_rtt;
	bool congested_in_this_rtt;
	bool loss_pending;
};

struct hpcc_model_event {
	double now_ns;
	double min_rtt_ns;
	double link_bytes_per_ns;	/* the flow's own */
	double acked_bytes;
	double inflight_bytes;
	bool app_limited;
	double rand;			/* 0 to 1, for this ACK */
	struct hpcc_model_link l;
};

double hpcc_model_t(const struct hpcc_model *m, const struct hpcc_model_params *p);
bool hpcc_model_steers(const struct hpcc_model *m, const struct hpcc_model_params *p);
double hpcc_model_line_packets(const struct hpcc_model *m, const struct hpcc_model_params *p,
			       double link_bytes_per_ns);
double hpcc_model_pacing_bytes_per_ns(const struct hpcc_model *m,
				      const struct hpcc_model_params *p);
double hpcc_model_w_ai(const struct hpcc_model *m, const struct hpcc_model_params *p);
/* The parts of an ACK, for hpcc_vaisf's model as well. */
bool hpcc_model_record(struct hpcc_model *m, const struct hpcc_model_params *p,
		       const struct hpcc_model_event *e);
bool hpcc_model_usable(const struct hpcc_model *m, const struct hpcc_model_params *p,
		       const struct hpcc_model_event *e);
bool hpcc_model_rtt_finished(struct hpcc_model *m, const struct hpcc_model_event *e);
double hpcc_model_compute_wind(const struct hpcc_model *m, const struct hpcc_model_params *p,
			       double w_ai);
void hpcc_model_update(struct hpcc_model *m, const struct hpcc_model_params *p, double w);
double hpcc_model_uninformed_rtt(struct hpcc_model *m, const struct hpcc_model_params *p,
				 const struct hpcc_model_event *e);
void hpcc_model_rtt_over(struct hpcc_model *m);
void hpcc_model_limit(struct hpcc_model *m, const struct hpcc_model_params *p,
		      const struct hpcc_model_event *e, double w);

void hpcc_model_ack(struct hpcc_model *m, const struct hpcc_model_params *p,
		    const struct hpcc_model_event *e);
void hpcc_model_fast_retransmit(struct hpcc_model *m, const struct hpcc_model_params *p,
				const struct hpcc_model_event *e);
void hpcc_model_timeout(struct hpcc_model *m, const struct hpcc_model_params *p,
			const struct hpcc_model_event *e);
bool hpcc_model_after_idle(struct hpcc_model *m, const struct hpcc_model_params *p,
			   const struct hpcc_model_event *e, double idle_ns);

#endif /* _QUELL_TEST_HPCC_MODEL_H */
