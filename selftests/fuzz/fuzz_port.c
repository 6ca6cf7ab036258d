// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the switch port's cores with any packets, rates, changes of rate and
 * thresholds, and stops where a promise is broken:
 *
 *	the wire carries exactly its rate, against 128-bit arithmetic
 *	its clock never goes back while packets are charged
 *	a change of rate keeps the bytes still to leave, to within one nanosecond
 *	nothing is marked below min, everything from max on
 *
 * Input: little-endian records of 16 bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/red.h>
#include <quell/core/shaper.h>

#define MOST_RATE_BYTES_PS	(1ULL << 44)
#define MOST_PACKET_BYTES	(1U << 30)

/* 146 years: a packet more, 34 years at one byte per second, is still in time. */
#define LAST_NS			(1ULL << 62)

struct record {
	u32 kind;
	u32 small;
	u64 large;
};

struct port {
	struct quell_shaper wire;
	struct quell_red_params red;
	struct quell_red_vars lottery;
	u64 rate_bytes_ps;
	u64 now_ns;
};

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

/* Nanoseconds since time 0 times the rate, which charging must add to exactly. */
static unsigned __int128 wire_work(const struct port *p)
{
	return (unsigned __int128)p->wire.free_ns * p->rate_bytes_ps + p->wire.free_rem;
}

static void send(struct port *p, u32 bytes)
{
	unsigned __int128 before;

	p->now_ns += bytes & 0xfff;
	quell_shaper_wake(&p->wire, p->now_ns);
	p->now_ns = quell_shaper_ready_ns(&p->wire);
	before = wire_work(p);
	bytes %= MOST_PACKET_BYTES + 1;
	quell_shaper_charge(&p->wire, p->rate_bytes_ps, bytes);
	require(wire_work(p) - before == (unsigned __int128)bytes * QUELL_NS_PER_SEC,
		"the wire carries its rate");
	require(p->wire.free_rem < p->rate_bytes_ps, "the rest is below one nanosecond");
}

static void rerate(struct port *p, u64 rate_bytes_ps)
{
	unsigned __int128 left = 0, kept;

	rate_bytes_ps = 1 + rate_bytes_ps % MOST_RATE_BYTES_PS;
	if (p->wire.free_ns > p->now_ns)
		left = wire_work(p) - (unsigned __int128)p->now_ns * p->rate_bytes_ps;
	quell_shaper_rerate(&p->wire, p->now_ns, p->rate_bytes_ps, rate_bytes_ps);
	if (rate_bytes_ps == p->rate_bytes_ps)
		return;
	p->rate_bytes_ps = rate_bytes_ps;
	require(p->wire.free_ns >= p->now_ns, "a change of rate is not in the past");
	kept = wire_work(p) - (unsigned __int128)p->now_ns * rate_bytes_ps;
	require(kept == left, "a change of rate keeps what is to leave");
}

static void mark(struct port *p, u32 queued_bytes)
{
	bool marked = quell_red_marks(&p->red, &p->lottery, queued_bytes);

	require(!marked || queued_bytes >= p->red.min_bytes, "no mark below min");
	require(marked || queued_bytes < p->red.max_bytes, "a mark from max on");
	require(!marked || p->red.prob_q16 || queued_bytes >= p->red.max_bytes,
		"no mark without probability");
	require(p->lottery.lottery != 0, "the lottery goes on");
}

static void thresholds(struct port *p, u32 one, u32 other, u32 prob)
{
	p->red.min_bytes = one < other ? one : other;
	p->red.max_bytes = one < other ? other : one;
	p->red.prob_q16 = prob % (QUELL_Q16_ONE + 1);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct port p = { .rate_bytes_ps = 1250000000 };
	struct record r;

	quell_red_seed(&p.lottery, size);
	for (; size >= sizeof(r) && p.now_ns < LAST_NS; size -= sizeof(r), data += sizeof(r)) {
		memcpy(&r, data, sizeof(r));
		switch (r.kind % 4) {
		case 0:
			send(&p, r.small);
			break;
		case 1:
			rerate(&p, r.large);
			break;
		case 2:
			mark(&p, r.small);
			break;
		case 3:
			thresholds(&p, r.small, r.large, r.large >> 32);
			break;
		}
	}
	return 0;
}
