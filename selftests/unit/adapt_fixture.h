/* SPDX-License-Identifier: GPL-2.0 */
/* One flow that is fitted to its path, for the tests of <quell/core/adapt/react.h>. */
#ifndef _QUELL_TEST_ADAPT_FIXTURE_H
#define _QUELL_TEST_ADAPT_FIXTURE_H

#include <string.h>

#include <quell/core/adapt/react.h>

#define MSS		1000U
#define MSS_Q16		((u64)MSS << 16)
#define BASE_NS		100000ULL
/* Its room is 25 us. */
#define TARGET_NS	125000ULL

struct fixture {
	struct quell_adapt a;
	struct quell_adapt_needs needs;
	struct quell_sample s;
	u64 window_q16;
	bool begins;
};

static inline void start(struct fixture *f, u8 signal)
{
	memset(f, 0, sizeof(*f));
	f->needs = (struct quell_adapt_needs) {
		.signal = signal, .longest_ns = 300000, .slowest_bytes_ps = 1000000 };
	f->s = (struct quell_sample) { .now_ns = 1000000, .mss_bytes = MSS };
	quell_adapt_init(&f->a, 10, MSS);
	f->window_q16 = f->a.cubic.window_q16;
}

/* An ACK of @pkts segments of a fully used window. */
static inline void ack_of(struct fixture *f, u64 rtt_ns, u32 pkts, bool round)
{
	f->s.now_ns += 1000;
	f->s.rtt_ns = rtt_ns;
	f->s.acked_bytes = pkts * MSS;
	f->s.acked_pkts = pkts;
	f->s.inflight_bytes = f->a.cubic.window_q16 >> 16;
	f->a.flags |= QUELL_ADAPT_F_FULL;
	f->begins |= quell_adapt_on_ack(&f->a, &f->needs, &f->s, f->window_q16, round);
	if (!quell_adapt_is_fit(&f->a))
		f->window_q16 = f->a.cubic.window_q16;
}

/* An ACK of one segment of a fully used window. */
static inline void ack(struct fixture *f, u64 rtt_ns, bool round)
{
	ack_of(f, rtt_ns, 1, round);
}

/* @nr ACKs of @pkts segments each, within a round trip. */
static inline void acks_of(struct fixture *f, u64 rtt_ns, u32 pkts, int nr)
{
	while (nr--)
		ack_of(f, rtt_ns, pkts, false);
}

/* @nr ACKs, the last of which ends a round trip. */
static inline void acks(struct fixture *f, u64 rtt_ns, int nr)
{
	while (nr--)
		ack(f, rtt_ns, !nr);
}

/* @nr ACKs within a round trip. */
static inline void acks_within(struct fixture *f, u64 rtt_ns, int nr)
{
	while (nr--)
		ack(f, rtt_ns, false);
}

/* A flow that found its path. */
static inline void start_fit(struct fixture *f)
{
	start(f, QUELL_ADAPT_DELAY);
	acks(f, BASE_NS, 10);
	acks(f, 2 * BASE_NS, 30);
}

#endif /* _QUELL_TEST_ADAPT_FIXTURE_H */
