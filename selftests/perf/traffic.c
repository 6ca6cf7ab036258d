// SPDX-License-Identifier: GPL-2.0
/* See traffic.h. */
#include <math.h>
#include <string.h>

#include "traffic.h"

#define LINK_BYTES_PER_NS	(PERF_LINK_BYTES_PS / 1e9)
/* Bytes of one TSO burst: TIMELY's 16 KB. */
#define BURST_BYTES		16384
/* Spread of the delay that does not depend on the queue. */
#define NOISE_NS		200

const struct traffic traffics[] = {
	{ "alone", "1 flow", 1, 1e6, 1e5, 0 },
	{ "incast", "16 flows, ECN from 100 kB", 16, 1e6, 1e5, 0 },
	{ "crowd", "256 flows, ECN from 50 kB", 256, 4e6, 5e4, 0 },
	{ "limited", "4 flows that ask for 10 % of the link each", 4, 1e6, 1e5, 10 },
	{ "losses", "16 flows, no ECN, drops from 150 kB", 16, 1.5e5, INFINITY, 0 },
	{ NULL }
};

const struct traffic *traffic_find(const char *name)
{
	const struct traffic *t;

	for (t = traffics; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

void traffic_start(struct traffic_state *state, const struct traffic *t)
{
	memset(state, 0, sizeof(*state));
	state->t = t;
	state->random.state = 1;
	state->rtt_ns = PERF_BASE_RTT_NS;
	state->min_rtt_ns = PERF_BASE_RTT_NS;
	state->lost_ns = -INFINITY;
}

/* The flow's sending rate, bytes/ns; @limited: the application offers less than it could send. */
static double flow_rate(const struct traffic_state *state, const struct perf_flow *f,
			bool *limited)
{
	double rate = f->ev.decision.window_q16 / 65536.0 / state->rtt_ns;
	double demand = LINK_BYTES_PER_NS * state->t->demand_pct / 100;

	if (f->ev.decision.pacing_bytes_ps != QUELL_RATE_UNLIMITED)
		rate = fmin(rate, f->ev.decision.pacing_bytes_ps / 1e9);
	rate = fmin(rate, LINK_BYTES_PER_NS);
	*limited = demand > 0 && demand < rate;
	return fmax(*limited ? demand : rate, 1e-6);
}

static bool is_marked(struct traffic_state *state)
{
	double over = state->queue_bytes / state->t->mark_from_bytes - 1;

	return random_between(&state->random, 0, 999999) < 1e6 * fmax(over, 0);
}

/* Advance the queue by the time between ACKs; true if it overflowed. */
static bool fill(struct traffic_state *state, double gap_ns, double rate)
{
	double offered = gap_ns * state->t->flows * rate;
	double taken = fmin(state->queue_bytes + offered, gap_ns * LINK_BYTES_PER_NS);
	double queue = state->queue_bytes + offered - taken;
	bool overflow = queue > state->t->limit_bytes &&
			state->now_ns - state->lost_ns > state->rtt_ns;

	state->sent_bytes += taken;
	state->queue_bytes = fmin(queue, state->t->limit_bytes);
	state->rtt_ns = PERF_BASE_RTT_NS + state->queue_bytes / LINK_BYTES_PER_NS +
			random_between(&state->random, 0, NOISE_NS);
	if (overflow)
		state->lost_ns = state->now_ns;
	return overflow;
}

/* Write the port's telemetry record as the packet leaves it. */
static void stamp(const struct traffic_state *state, struct quell_telemetry *record)
{
	record->link_bytes_ps = PERF_LINK_BYTES_PS;
	record->queue_bytes = state->queue_bytes;
	record->tx_units = (u64)(state->sent_bytes / QUELL_TELEMETRY_TX_UNIT_BYTES) &
			   QUELL_TELEMETRY_TX_MASK;
	record->time_ns = (u64)state->now_ns & QUELL_TELEMETRY_TIME_MASK;
	record->hop = 1;
}

bool traffic_next(struct traffic_state *state, struct perf_flow *f)
{
	u32 pkts = random_between(&state->random, 0, 3) ? 1 : 2;
	struct quell_sample *s = &f->ev.sample;
	bool limited, lost;
	double rate;

	rate = flow_rate(state, f, &limited);
	memset(s, 0, sizeof(*s));
	s->acked_pkts = pkts;
	s->acked_bytes = pkts * PERF_MSS_BYTES;
	state->now_ns += s->acked_bytes / rate;
	lost = fill(state, s->acked_bytes / rate, rate);
	state->min_rtt_ns = quell_min_u64(state->min_rtt_ns, state->rtt_ns);
	s->now_ns = state->now_ns;
	s->rtt_ns = state->rtt_ns;
	s->min_rtt_ns = state->min_rtt_ns;
	s->link_bytes_ps = PERF_LINK_BYTES_PS;
	s->marked_bytes = is_marked(state) ? s->acked_bytes : 0;
	s->lost_bytes = lost ? PERF_MSS_BYTES : 0;
	s->inflight_bytes = fmax(rate * state->rtt_ns, s->acked_bytes);
	s->mss_bytes = PERF_MSS_BYTES;
	s->hops = 1;
	stamp(state, &s->telemetry);
	s->flags = QUELL_S_ECN | QUELL_S_TELEMETRY | (limited ? QUELL_S_APP_LIMITED : 0);
	state->burst_bytes += s->acked_bytes;
	if (state->burst_bytes >= BURST_BYTES) {
		state->burst_bytes -= BURST_BYTES;
		s->flags |= QUELL_S_SEGMENT_DONE;
	}
	state->marked += s->marked_bytes > 0;
	state->losses += lost;
	state->rtt_sum_ns += state->rtt_ns;
	return lost;
}
