/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One Swift flow at rest, for the table-driven tests: 100 Gbit/s, 4.3 us of
 * round trip, segments of 1448 bytes, default parameters.
 */
#ifndef _QUELL_TEST_SWIFT_FIXTURE_H
#define _QUELL_TEST_SWIFT_FIXTURE_H

#include <string.h>

#include <quell/core/swift/core.h>

#define MSS		1448U
#define MSS_Q16		((u64)MSS << 16)
#define LINK_BYTES_PS	12500000000ULL
#define RTT_NS		4300ULL
#define START_NS	1000000ULL
/* Default target with one switch at a window of fs_max or more. */
#define BARE_TARGET_NS	7000ULL

/* The first sample of a flow. */
static const struct quell_sample at_start = {
	.now_ns = START_NS, .min_rtt_ns = RTT_NS, .link_bytes_ps = LINK_BYTES_PS, .mss_bytes = MSS,
};

struct fixture {
	struct quell_swift_params p;
	struct quell_swift_vars v;
	struct quell_swift_stats st;
	struct quell_sample s;
	struct quell_decision out;
};

/* A flow that has measured its round trip and holds @window_pkts segments. */
static inline void fixture_start(struct fixture *f, u64 window_pkts)
{
	memset(f, 0, sizeof(*f));
	quell_core_params_default(&quell_swift_core, &f->p);
	f->p.base_target_ns = 5000;
	quell_swift_init(&f->v, &f->p, &at_start, &f->out);
	f->v.window_q16 = window_pkts * MSS_Q16;
	f->s.now_ns = START_NS;
	f->s.mss_bytes = MSS;
	f->s.acked_bytes = MSS;
	f->s.acked_pkts = 1;
	f->s.hops = 1;
}

/* A flow that never measured anything. */
static inline void fixture_start_blind(struct fixture *f, u64 window_pkts)
{
	fixture_start(f, window_pkts);
	quell_swift_init(&f->v, &f->p,
			 &(struct quell_sample) { .now_ns = START_NS, .mss_bytes = MSS }, &f->out);
	f->v.window_q16 = window_pkts * MSS_Q16;
}

static inline void fixture_ack(struct fixture *f, u64 now_ns, u64 rtt_ns)
{
	f->s.now_ns = now_ns;
	f->s.rtt_ns = rtt_ns;
	quell_swift_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
}

static inline void fixture_loss(struct fixture *f, u64 now_ns)
{
	f->s.now_ns = now_ns;
	f->s.rtt_ns = 0;
	quell_swift_on_loss(&f->v, &f->p, &f->st, &f->s, &f->out);
}

static inline void fixture_rto(struct fixture *f, u64 now_ns)
{
	f->s.now_ns = now_ns;
	f->s.rtt_ns = 0;
	quell_swift_on_rto(&f->v, &f->p, &f->st, &f->s, &f->out);
}

static inline void fixture_idle(struct fixture *f, u64 idle_ns)
{
	f->s.now_ns += idle_ns;
	f->s.rtt_ns = 0;
	f->s.idle_ns = idle_ns;
	quell_swift_on_idle_restart(&f->v, &f->p, &f->st, &f->s, &f->out);
}

#endif /* _QUELL_TEST_SWIFT_FIXTURE_H */
