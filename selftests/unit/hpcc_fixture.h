/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the table-driven tests of HPCC and of hpcc_vaisf.  The flow: 100
 * Gbit/s and 4 us of base round trip, so 50000 bytes of bandwidth-delay product;
 * segments of 1000 bytes.  50 Mbit/s of additive increase are 25 bytes per round
 * trip, the smallest rate is 50 bytes, the link's 47 segments of 1090 on the wire.
 */
#ifndef _QUELL_TEST_HPCC_FIXTURE_H
#define _QUELL_TEST_HPCC_FIXTURE_H

#include <string.h>

#include <quell/core/core.h>

#define MSS		1000U
#define LINK_BYTES_PS	12500000000ULL
#define RTT_NS		4000U
#define BDP_BYTES	50000U
#define LINE_BYTES	47000U
#define LEAST_BYTES	50U
#define START_NS	1000000ULL
#define HOP		3
#define ONE_Q24		(1U << 24)

static inline u64 q16(u64 bytes)
{
	return bytes << 16;
}

/* An ACK of one segment, answering a flow with 20000 bytes in flight. */
static inline void sample_start(struct quell_sample *s)
{
	memset(s, 0, sizeof(*s));
	s->now_ns = START_NS;
	s->min_rtt_ns = RTT_NS;
	s->link_bytes_ps = LINK_BYTES_PS;
	s->mss_bytes = MSS;
	s->acked_bytes = MSS;
	s->acked_pkts = 1;
	s->inflight_bytes = 20000;
	s->telemetry.hop = HOP;
	s->telemetry.link_bytes_ps = LINK_BYTES_PS;
}

/*
 * A record one base round trip after the last one, which therefore weighs 1: no bytes
 * sent, and a queue that alone makes the utilisation @percent / 100.
 */
static inline void sample_util(struct quell_sample *s, u32 percent)
{
	s->now_ns += RTT_NS;
	s->telemetry.time_ns = (s->telemetry.time_ns + RTT_NS) & QUELL_TELEMETRY_TIME_MASK;
	s->telemetry.queue_bytes = percent * (BDP_BYTES / 100);
}

#endif /* _QUELL_TEST_HPCC_FIXTURE_H */
