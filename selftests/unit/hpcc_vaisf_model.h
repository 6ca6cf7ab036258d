/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPCC with Variable AI and Sampling Frequency in floating point, written from
 * Algorithms 1 and 2, sections V-A and V-B and the list of departures in
 * Documentation/hpcc_vaisf.md, not from the integer code.  HPCC's own part is
 * hpcc_model.h.
 */
#ifndef _QUELL_TEST_HPCC_VAISF_MODEL_H
#define _QUELL_TEST_HPCC_VAISF_MODEL_H

#include "hpcc_model.h"

struct hpcc_vaisf_model_params {
	struct hpcc_model_params hpcc;
	double min_bdp_bytes;		/* Token_Thresh */
	double ai_div_bytes;
	double bank_cap;
	double ai_cap;
	double dampener_constant;
	double sampling_frequency;
		bool or_rtt_finished;		/* alternative to that many ACKs */
};

struct hpcc_vaisf_model {
	struct hpcc_model hpcc;
	double measured_congestion_bytes;
	double ai_bank;
	double dampener;
	double packets_since_decrease;
	double spent;
};

double hpcc_vaisf_model_multiplier(const struct hpcc_vaisf_model *m,
				   const struct hpcc_vaisf_model_params *p);
void hpcc_vaisf_model_ack(struct hpcc_vaisf_model *m,
			  const struct hpcc_vaisf_model_params *p,
			  const struct hpcc_model_event *e, double acked_packets);
void hpcc_vaisf_model_fast_retransmit(struct hpcc_vaisf_model *m,
				      const struct hpcc_vaisf_model_params *p,
				      const struct hpcc_model_event *e);
void hpcc_vaisf_model_timeout(struct hpcc_vaisf_model *m,
			      const struct hpcc_vaisf_model_params *p,
			      const struct hpcc_model_event *e);
void hpcc_vaisf_model_after_idle(struct hpcc_vaisf_model *m,
				 const struct hpcc_vaisf_model_params *p,
				 const struct hpcc_model_event *e, double idle_ns);

#endif /* _QUELL_TEST_HPCC_VAISF_MODEL_H */
