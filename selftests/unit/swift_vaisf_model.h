/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swift with Variable AI and Sampling Frequency in floating point, written from
 * Algorithms 1 and 2, section V-B and the list of departures in
 * Documentation/swift_vaisf.md, not from the integer code.  Swift's own part is
 * swift_model.h; its cwnd is the reference.  The window is bytes.
 */
#ifndef _QUELL_TEST_SWIFT_VAISF_MODEL_H
#define _QUELL_TEST_SWIFT_VAISF_MODEL_H

#include "swift_model.h"

struct vaisf_model_params {
	struct swift_model_params swift;
	double min_bdp_ns;
	double token_ns;
	double bank_cap;
	double ai_cap;
	double dampener_constant;
	double sampling_frequency;
		bool or_rtt_finished;		/* alternative to that many ACKs */
};

struct vaisf_model {
	struct swift_model swift;
	double window_bytes;
	double unlimited_bytes;		/* the same before the limits */
	double measured_congestion_ns;
	double ai_bank;
	double dampener;
	double packets_since_decrease;
	double bytes_left_of_rtt;
	double spent;
};

struct vaisf_model_event {
	struct swift_model_event swift;
	double acked_packets;
	double inflight_bytes;
};

double vaisf_model_target_ns(const struct vaisf_model *m, const struct vaisf_model_params *p,
			     unsigned int hops);
double vaisf_model_multiplier(const struct vaisf_model *m,
			      const struct vaisf_model_params *p);
void vaisf_model_ack(struct vaisf_model *m, const struct vaisf_model_params *p,
		     const struct vaisf_model_event *e);
void vaisf_model_fast_retransmit(struct vaisf_model *m, const struct vaisf_model_params *p,
				 const struct vaisf_model_event *e);
void vaisf_model_timeout(struct vaisf_model *m, const struct vaisf_model_params *p,
			 const struct vaisf_model_event *e);
void vaisf_model_after_idle(struct vaisf_model *m, const struct vaisf_model_params *p,
			    double idle_ns);

#endif /* _QUELL_TEST_SWIFT_VAISF_MODEL_H */
