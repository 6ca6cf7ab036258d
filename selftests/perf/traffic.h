/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ACKs as a flow at a bottleneck gets them: the flow's own window and rate fill
 * the queue, and the queue causes delay, marks, losses and telemetry records.  The
 * model is a fluid of equal flows, from a seed, so equal cores give equal traces.
 */
#ifndef _QUELL_PERF_TRAFFIC_H
#define _QUELL_PERF_TRAFFIC_H

#include "../unit/random.h"
#include "flow.h"

/**
 * struct traffic - a bottleneck and its load
 * @name:	name on the command line
 * @what:	description in one line
 * @flows:	equal flows at the bottleneck
 * @limit_bytes: size of the queue
 * @mark_from_bytes: queue from which ACKs carry marks; at twice of it all do
 * @demand_pct:	application's demand in percent of the link; 0: unlimited
 */
struct traffic {
	const char *name, *what;
	double flows;
	double limit_bytes, mark_from_bytes;
	double demand_pct;
};

struct traffic_state {
	const struct traffic *t;
	struct random_state random;
	double now_ns, queue_bytes, sent_bytes, rtt_ns, lost_ns;
	u64 burst_bytes, min_rtt_ns;
	u64 marked, losses;
	double rtt_sum_ns;
};

extern const struct traffic traffics[];
const struct traffic *traffic_find(const char *name);
void traffic_start(struct traffic_state *state, const struct traffic *t);
/* Sets the sample of @f->ev to the next ACK; returns whether it reports a loss. */
bool traffic_next(struct traffic_state *state, struct perf_flow *f);

#endif /* _QUELL_PERF_TRAFFIC_H */
