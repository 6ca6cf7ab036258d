// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the switch port's cores with any packets, rates, changes of rate,
 * thresholds, times and queues, and stops where a promise is broken:
 *
 *	the wire carries exactly its rate, against 128-bit arithmetic
 *	its clock never goes back while packets are charged
 *	a change of rate keeps exactly the bytes still to leave
 *	no packet is marked below min, and every packet is marked from max on
 *	the bytes in flight over the link are those of the equations, against 128-bit
 *	arithmetic, and saturate; without transmission they decay to zero
 *	a longer queue or a slower link never lowers the load
 *	a packet is judged by the first class with its DSCP, and two only where classes
 *	overlap
 *
 * Input: little-endian records of 16 bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/port/portload.h>
#include <quell/core/port/redclass.h>
#include <quell/core/port/shaper.h>

#define MOST_RATE_BYTES_PS	(1ULL << 44)
#define MOST_PACKET_BYTES	(1U << 30)

/* 146 years: one more packet, 34 years at one byte per second, still fits. */
#define LAST_NS			(1ULL << 62)

#define CLASSES			3

struct record {
	u32 kind;
	u32 small;
	u64 large;
};

struct port {
	struct quell_shaper wire;
	struct quell_red_params red;
	struct quell_red_vars lottery;
	struct quell_portload_params load_params;
	struct quell_portload load;
	u64 link_bytes_ps;
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

/* Nanoseconds since time 0 times the rate: charging a packet must add exactly its bytes * 10^9. */
static unsigned __int128 wire_work(const struct port *p)
{
	return (unsigned __int128)p->wire.free_ns * p->rate_bytes_ps + p->wire.free_rem;
}

static void send(struct port *p, u32 bytes)
{
	unsigned __int128 before;

	p->now_ns += bytes & 0xfff;
	quell_shaper_restart(&p->wire, p->now_ns);
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

static u64 saturated(unsigned __int128 value)
{
	return value >> 64 ? QUELL_U64_MAX : (u64)value;
}

/* Bytes in flight (Q8) after advancing to @now_ns, worked out from the description. */
static u64 flight_at(const struct port *p, u64 now_ns)
{
	u64 dt_ns = now_ns > p->load.last_ns ? now_ns - p->load.last_ns : 0;
	u64 sent_q8 = p->load.pending_q8;
	unsigned __int128 base_rtt_ns = p->load_params.base_rtt_ns;
	unsigned __int128 gone_q8;

	if (dt_ns >= base_rtt_ns)
		return dt_ns ? saturated(sent_q8 * base_rtt_ns / dt_ns) : QUELL_U64_MAX;
	gone_q8 = ((unsigned __int128)p->load.flight_q8 * dt_ns + base_rtt_ns - 1) / base_rtt_ns;
	return saturated(p->load.flight_q8 - gone_q8 + sent_q8);
}

static void leave(struct port *p, u32 bytes, u64 now_ns)
{
	u64 want_q8 = flight_at(p, now_ns), tx_bytes = p->load.tx_bytes;
	u64 was_q8 = p->load.flight_q8, last_ns = p->load.last_ns;
	bool idle = !p->load.pending_q8;

	quell_portload_advance(&p->load, &p->load_params, now_ns);
	require(p->load.flight_q8 == want_q8, "in flight is what the equations say");
	require(!idle || !was_q8 || now_ns <= last_ns || p->load.flight_q8 < was_q8,
		"with nothing sent it decays");
	quell_portload_add(&p->load, bytes);
	require(p->load.tx_bytes - tx_bytes == bytes &&
		p->load.pending_q8 == (u64)bytes << QUELL_PORTLOAD_Q,
		"bytes sent are counted");
}

static void look(const struct port *p, u32 queue_bytes, u32 more_bytes)
{
	u64 load_q16 = quell_portload_q16(&p->load, &p->load_params, queue_bytes);
	u64 sum_q8 = quell_add_sat_u64(p->load.flight_q8, (u64)queue_bytes << QUELL_PORTLOAD_Q);
	struct quell_portload_params slower;
	u64 want_q16 = QUELL_U64_MAX;

	if (p->load_params.bdp_q8)
		want_q16 = saturated(((unsigned __int128)sum_q8 << QUELL_Q16_SHIFT) /
				     p->load_params.bdp_q8);
	require(load_q16 == want_q16, "the load is what is in flight and queued");
	more_bytes = queue_bytes + more_bytes < queue_bytes ? 0xffffffff : queue_bytes + more_bytes;
	require(quell_portload_q16(&p->load, &p->load_params, more_bytes) >= load_q16,
		"a longer queue is never less load");
	quell_portload_measure(&slower, p->load_params.base_rtt_ns, p->link_bytes_ps / 2);
	require(quell_portload_q16(&p->load, &slower, queue_bytes) >= load_q16,
		"a slower link is never less loaded");
}

static void measure(struct port *p, u32 base_rtt_ns, u64 link_bytes_ps)
{
	p->link_bytes_ps = link_bytes_ps;
	quell_portload_measure(&p->load_params, base_rtt_ns, link_bytes_ps);
	require(p->load_params.bdp_q8 == QUELL_U64_MAX ||
		(unsigned __int128)p->load_params.bdp_q8 * QUELL_NS_PER_SEC <=
		((unsigned __int128)link_bytes_ps << QUELL_PORTLOAD_Q) * base_rtt_ns,
		"the product is rounded down");
}

static void classify(u64 dscps, u32 other_dscps)
{
	struct quell_red_classes classes = {
		.count = CLASSES,
		.class = {
			{ .dscps = dscps },
			{ .dscps = other_dscps },
			{ .dscps = (u64)other_dscps << 32 },
		},
	};
	bool overlap = false;
	u32 dscp, i;

	for (dscp = 0; dscp <= QUELL_DSCP_NONE; dscp++) {
		u32 want = QUELL_RED_CLASSES_MAX, found = 0;

		for (i = CLASSES; dscp < QUELL_DSCP_NONE && i-- > 0;) {
			if (!(classes.class[i].dscps & 1ULL << dscp))
				continue;
			want = i;
			found++;
		}
		overlap = overlap || found > 1;
		require(quell_red_class_index(&classes, dscp) == want,
			"the first class with the DSCP judges");
	}
	require(quell_red_class_overlap(&classes) == overlap, "an overlap is found");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct port p = {
		.rate_bytes_ps = 1250000000, .link_bytes_ps = 1250000000,
		.load_params = { .base_rtt_ns = 8000, .bdp_q8 = 10000 << QUELL_PORTLOAD_Q },
	};
	struct record r;

	quell_red_seed(&p.lottery, size);
	for (; size >= sizeof(r) && p.now_ns < LAST_NS; size -= sizeof(r), data += sizeof(r)) {
		memcpy(&r, data, sizeof(r));
		switch (r.kind % 9) {
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
		case 4:
			/* The time since the last packet, of any magnitude. */
			leave(&p, r.small, p.load.last_ns + (r.large >> (r.kind >> 26)));
			break;
		case 5:
			leave(&p, r.small, r.large);
			break;
		case 6:
			look(&p, r.small, r.large);
			break;
		case 7:
			measure(&p, r.small >> (r.kind >> 27), r.large);
			break;
		case 8:
			classify(r.large, r.small);
			break;
		}
	}
	return 0;
}
