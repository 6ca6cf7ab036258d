/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the table-driven tests of SMaRTT.
 *
 * One flow: 100 Gbit/s, 12 us of base round trip, segments of 4096 bytes, so
 * that target = 18 us and BDP = 150000 + 4096 bytes; the increases are not
 * scaled or bounded unless a case specifies it.
 */
#ifndef _QUELL_TEST_SMARTT_FIXTURE_H
#define _QUELL_TEST_SMARTT_FIXTURE_H

#include <string.h>

#include <quell/core/smartt/core.h>

#define MSS		4096U
#define LINK_BYTES_PS	12500000000ULL
#define BASE_NS		12000ULL
#define TARGET_NS	18000ULL
#define START_NS	1000000ULL
#define BDP_BYTES	154096ULL
#define MOST_BYTES	231144ULL	/* 1.5 BDP */

/* The first sample of a flow. */
static const struct quell_sample at_start = {
	.now_ns = START_NS, .min_rtt_ns = BASE_NS, .link_bytes_ps = LINK_BYTES_PS, .mss_bytes = MSS,
};

struct fixture {
	struct quell_smartt_params p;
	struct quell_smartt_vars v;
	struct quell_smartt_stats st;
	struct quell_sample s;
	struct quell_decision out;
};

static inline u64 window_bytes(const struct fixture *f)
{
	return f->v.window_q16 >> 16;
}

/* A flow that holds @segments and has just been measured at @avg_ns. */
static inline void start(struct fixture *f, u64 segments, u64 avg_ns)
{
	memset(f, 0, sizeof(*f));
	quell_core_params_default(&quell_smartt_core, &f->p);
	f->p.adapt_bool = 0;
	f->p.scale_bdp_bytes = 0;
	quell_smartt_init(&f->v, &f->p, &at_start, &f->out);
	f->v.window_q16 = segments * MSS << 16;
	f->v.avg_rtt_q4 = avg_ns << 4;
	f->v.period_ns = START_NS;
	f->v.flags = QUELL_SMARTT_F_MEASURING;
	f->s.now_ns = START_NS + 1;
	f->s.min_rtt_ns = BASE_NS;
	f->s.mss_bytes = MSS;
	f->s.acked_bytes = MSS;
	f->s.acked_pkts = 1;
	f->s.inflight_bytes = segments * MSS;
	f->s.flags = QUELL_S_ECN;
}

static inline void start_blind(struct fixture *f, u64 segments)
{
	start(f, segments, 0);
	quell_smartt_init(&f->v, &f->p,
			  &(struct quell_sample) { .now_ns = START_NS, .mss_bytes = MSS }, &f->out);
	f->v.window_q16 = segments * MSS << 16;
	f->s.min_rtt_ns = 0;
}

static inline void ack(struct fixture *f, u64 rtt_ns, u32 marked_bytes)
{
	f->s.rtt_ns = rtt_ns;
	f->s.marked_bytes = marked_bytes;
	quell_smartt_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
}

#endif /* _QUELL_TEST_SMARTT_FIXTURE_H */
