/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One DCQCN flow at rest, for the table-driven tests: 100 Gbit/s, 4.3 us of
 * round trip, segments of 1448 bytes, default parameters, marks echoed.
 */
#ifndef _QUELL_TEST_DCQCN_FIXTURE_H
#define _QUELL_TEST_DCQCN_FIXTURE_H

#include <string.h>

#include <quell/core/dcqcn/core.h>

#define MSS		1448U
#define LINK_BYTES_PS	12500000000ULL
#define RTT_NS		4300ULL
#define START_NS	1000000ULL

struct fixture {
	struct quell_dcqcn_params p;
	struct quell_dcqcn_vars v;
	struct quell_dcqcn_stats st;
	struct quell_sample s;
	struct quell_decision out;
};

static inline void fixture_start_ecn(struct fixture *f, bool ecn)
{
	memset(f, 0, sizeof(*f));
	quell_core_params_default(&quell_dcqcn_core, &f->p);
	quell_dcqcn_init(&f->v, &f->p, &(struct quell_sample) {
			.now_ns = START_NS, .min_rtt_ns = RTT_NS, .link_bytes_ps = LINK_BYTES_PS,
			.mss_bytes = MSS, .flags = ecn ? QUELL_S_ECN : 0,
		}, &f->out);
	f->s.now_ns = START_NS;
	f->s.link_bytes_ps = LINK_BYTES_PS;
	f->s.mss_bytes = MSS;
	f->s.acked_bytes = MSS;
	f->s.acked_pkts = 1;
}

static inline void fixture_start(struct fixture *f)
{
	fixture_start_ecn(f, true);
}

/* Rates in bytes/s, alpha in 1/2^30. */
static inline void fixture_set(struct fixture *f, u64 rate, u64 target, u64 alpha_q30)
{
	f->v.rate_q16 = rate << 16;
	f->v.target_q16 = target << 16;
	f->v.alpha_q30 = alpha_q30;
}

static inline void fixture_ack(struct fixture *f, u64 after_ns, u32 marked_bytes)
{
	f->s.now_ns = START_NS + after_ns;
	f->s.marked_bytes = marked_bytes;
	quell_dcqcn_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
}

#endif /* _QUELL_TEST_DCQCN_FIXTURE_H */
