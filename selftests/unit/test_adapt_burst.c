// SPDX-License-Identifier: GPL-2.0
/*
 * <quell/core/adapt/react.h>: traffic unlike later traffic.  Small messages before the bulk,
 * bursts that a slow hop spreads, applications that write little by little, and buffers that were
 * full when a flow began.
 */
#include "adapt_fixture.h"
#include "test.h"

#define GBIT_BYTES_PS	125000000ULL
/* A segment at 1 Gbit/s. */
#define SEGMENT_NS	8000ULL

/* An ACK of @bytes in one burst; it ends a round trip. */
static void burst(struct fixture *f, u64 rtt_ns, u32 bytes)
{
	f->s.now_ns += rtt_ns;
	f->s.rtt_ns = rtt_ns;
	f->s.acked_bytes = bytes;
	f->s.acked_pkts = (bytes + MSS - 1) / MSS;
	f->begins |= quell_adapt_on_ack(&f->a, &f->needs, &f->s, f->window_q16, true);
}

/* The path delivered at @bytes_ps, as TCP measures it. */
static void delivered(struct fixture *f, u64 bytes_ps)
{
	quell_adapt_note_rate(&f->a, bytes_ps, 1000000);
}

TEST(base)
{
	static const struct {
		const char *name;
		u64 rtt_ns[3];
		u32 bytes[3];
		u64 base_ns;
	} rows[] = {
		{ "smallest_of_full_packets", { 120000, 110000, 115000 }, { MSS, MSS, MSS },
		  110000 },
		{ "smallest_of_small_packets", { 120000, 110000, 115000 }, { 100, 100, 100 },
		  110000 },
		{ "full_packets_after_small_ones", { 100000, 110000, 112000 }, { 100, MSS, MSS },
		  110000 },
		{ "small_packets_after_full_ones", { 110000, 100000, 100000 }, { MSS, 100, 100 },
		  110000 },
		{ "half_a_segment_is_full", { 110000, 105000, 100000 }, { MSS, MSS / 2, 100 },
		  105000 },
		{ "a_queue_at_the_first_full_packet", { 100000, 900000, 300000 }, { 100, MSS, MSS },
		  100000 + 10 * SEGMENT_NS },
	};
	struct fixture f;
	int n;

	for_each_row(row, rows) {
		start(&f, QUELL_ADAPT_DELAY);
		f.needs.slowest_bytes_ps = GBIT_BYTES_PS / 10;
		for (n = 0; n < 3; n++)
			burst(&f, row->rtt_ns[n], row->bytes[n]);
		expect_eq(row->base_ns, f.a.base_ns, "%s", row->name);
	}
}

/* SMaRTT and HPCC take any share of a path, SMaRTT if its round trip is short. */
TEST(base_without_least_rate)
{
	static const struct {
		const char *name;
		u64 rtt_ns[3];
		u32 longest_ns;
		u64 base_ns;
	} rows[] = {
		{ "a_queue_at_the_first_full_packet", { 100000, 1900000, 300000 }, 0,
		  100000 + 10 * SEGMENT_NS },
		{ "and_no_path_too_long", { 100000, 1900000, 310000 }, 300000, 300001 },
		{ "which_goes", { 100000, 1900000, 250000 }, 300000, 250000 },
		{ "slow_hops_of_a_short_path", { 50000, 290000, 280000 }, 300000, 280000 },
		{ "a_long_path", { 500000, 1900000, 590000 }, 300000,
		  500000 + 10 * SEGMENT_NS },
	};
	struct fixture f;
	int n;

	for_each_row(row, rows) {
		start(&f, QUELL_ADAPT_MARKS);
		f.needs.slowest_bytes_ps = 0;
		f.needs.longest_ns = row->longest_ns;
		for (n = 0; n < 3; n++)
			burst(&f, row->rtt_ns[n], n ? MSS : 100);
		expect_eq(row->base_ns, f.a.base_ns, "%s", row->name);
	}
}

/* The first data of a flow met a full queue, its SYN did not. */
TEST(handshake)
{
	struct fixture f;

	start(&f, QUELL_ADAPT_DELAY);
	f.needs.slowest_bytes_ps = GBIT_BYTES_PS / 10;
	quell_adapt_note_handshake(&f.a, 100000);
	EXPECT_EQ(QUELL_ADAPT_NO_DELAY, quell_adapt_obstacle(&f.a, &f.needs));
	burst(&f, 1900000, MSS);
	EXPECT_EQ(100000 + 10 * SEGMENT_NS, f.a.base_ns);
	EXPECT_NE(QUELL_ADAPT_NO_DELAY, quell_adapt_obstacle(&f.a, &f.needs));
	burst(&f, 105000, MSS);
	EXPECT_EQ(105000, f.a.base_ns);

	start(&f, QUELL_ADAPT_DELAY);
	quell_adapt_note_handshake(&f.a, 0);
	burst(&f, 1900000, MSS);
	EXPECT_EQ(1900000, f.a.base_ns);
}

/* The standing round-trip time of a flow with the base of one segment. */
static u64 standing_ns(struct fixture *f, u64 rtt_ns, u32 pkts, u64 link_bytes_ps)
{
	start_fit(f);
	delivered(f, GBIT_BYTES_PS);
	f->s.link_bytes_ps = link_bytes_ps;
	f->window_q16 = 8 * MSS_Q16;
	acks_of(f, rtt_ns, pkts, 7);
	ack_of(f, rtt_ns, pkts, true);
	return f->a.stand_ns;
}

TEST(bursts)
{
	struct fixture f;

	expect_eq(BASE_NS, standing_ns(&f, BASE_NS + 3 * SEGMENT_NS, 4, 0), "is_no_queue");
	expect_eq(BASE_NS + 20000, standing_ns(&f, BASE_NS + 20000, 1, 0),
		  "of_one_segment_is_the_base's");
	expect_eq(BASE_NS + 20000, standing_ns(&f, BASE_NS + 20000 + 3 * SEGMENT_NS, 4, 0),
		  "before_it_was_a_queue");
	expect_eq(BASE_NS + 3 * SEGMENT_NS,
		  standing_ns(&f, BASE_NS + 3 * SEGMENT_NS, 4, GBIT_BYTES_PS), "left_as_slowly");
	expect_eq(BASE_NS, standing_ns(&f, BASE_NS + 3 * SEGMENT_NS / 2, 4, 2 * GBIT_BYTES_PS),
		  "left_twice_as_fast");
	expect_eq(BASE_NS, standing_ns(&f, 2 * BASE_NS, 100, 0), "is_half_of_a_round_trip_at_most");
	start_fit(&f);
	delivered(&f, GBIT_BYTES_PS);
	f.window_q16 = 8 * MSS_Q16;
	f.s.burst_bytes = 4 * MSS;
	acks(&f, BASE_NS + 3 * SEGMENT_NS, 8);
	expect_eq(BASE_NS, f.a.stand_ns, "that_is_acknowledged_one_by_one");
}

TEST(rate)
{
	struct fixture f;
	int i;

	start(&f, QUELL_ADAPT_DELAY);
	delivered(&f, GBIT_BYTES_PS);
	expect_eq(8U << 16, f.a.byte_ns_q16, "ns_of_a_byte");
	delivered(&f, GBIT_BYTES_PS / 100);
	expect_eq((8U << 16) + (8U << 16) / QUELL_ADAPT_RATE_SHARE, f.a.byte_ns_q16,
		  "less_is_believed_little_by_little");
	for (i = 0; i < 200; i++)
		delivered(&f, GBIT_BYTES_PS / 100);
	expect_eq(800U << 16, f.a.byte_ns_q16, "and_in_the_end");
	delivered(&f, GBIT_BYTES_PS);
	expect_eq(8U << 16, f.a.byte_ns_q16, "more_at_once");
	quell_adapt_note_rate(&f.a, 0, 1000);
	quell_adapt_note_rate(&f.a, 1000, 0);
	expect_eq(8U << 16, f.a.byte_ns_q16, "nothing_measured");
	quell_adapt_note_rate(&f.a, ~0ULL, 1);
	expect_eq(1, f.a.byte_ns_q16, "is_never_unlimited");
}

/* A start in bursts of different lengths, on a path without noise. */
TEST(bursts_are_no_noise)
{
	static const u32 lengths[] = { 10, 2, 6, 1 };
	struct fixture f;
	int i;

	start(&f, QUELL_ADAPT_DELAY);
	delivered(&f, GBIT_BYTES_PS);
	ack(&f, BASE_NS, true);
	for (i = 0; i < 12; i++)
		burst(&f, BASE_NS + (lengths[i % 4] - 1) * SEGMENT_NS, lengths[i % 4] * MSS);
	expect(!f.a.noise_ns && f.a.phase == QUELL_ADAPT_START, "bursts_are_none");
}

/* A queue that went because the application had no more data. */
TEST(pauses_are_no_noise)
{
	struct fixture f;
	int i;

	start(&f, QUELL_ADAPT_DELAY);
	acks(&f, BASE_NS, 10);
	acks(&f, BASE_NS, 10);
	f.s.flags = QUELL_S_APP_LIMITED;
	acks_within(&f, 2 * BASE_NS, 14);
	acks_within(&f, BASE_NS, 8);
	expect(!f.a.noise_ns && !f.a.checks, "not_by_a_pause_within_a_round");
	start(&f, QUELL_ADAPT_DELAY);
	acks(&f, BASE_NS, 10);
	f.s.flags = QUELL_S_APP_LIMITED;
	ack(&f, BASE_NS, true);
	ack(&f, BASE_NS, true);
	ack(&f, 3 * BASE_NS, true);
	acks(&f, BASE_NS, 8);
	expect_eq(0, f.a.noise_ns, "not_by_a_pause_between_rounds");
	start_fit(&f);
	for (i = 0; i < QUELL_ADAPT_QUIET_ROUNDS; i++)
		acks(&f, BASE_NS, 8);
	expect_eq(QUELL_ADAPT_START, (u32)f.a.phase, "searches_again");
	ack(&f, 2 * BASE_NS, true);
	f.s.flags = QUELL_S_APP_LIMITED;
	acks(&f, BASE_NS, 8);
	expect(!f.a.noise_ns && f.a.slack, "not_in_another_search");
}

/* One that writes little by little has no more data now and then, with a window used up. */
TEST(app_limited)
{
	struct fixture f;
	int i;

	start_fit(&f);
	f.s.flags = QUELL_S_APP_LIMITED;
	for (i = 0; i < QUELL_ADAPT_QUIET_ROUNDS; i++)
		acks(&f, BASE_NS, 8);
	quell_adapt_filter(&f.a, &f.needs, &f.s, 0);
	expect(f.a.phase == QUELL_ADAPT_START && !(f.s.flags & QUELL_S_APP_LIMITED),
	       "not_with_a_full_window");
	start_fit(&f);
	f.s.flags = QUELL_S_APP_LIMITED;
	f.a.flags &= ~QUELL_ADAPT_F_FULL;
	for (i = 0; i < 4 * QUELL_ADAPT_QUIET_ROUNDS; i++)
		burst(&f, BASE_NS, 8 * MSS);
	quell_adapt_filter(&f.a, &f.needs, &f.s, 0);
	expect(f.a.phase == QUELL_ADAPT_FIT && f.s.flags & QUELL_S_APP_LIMITED,
	       "with_an_unused_window");
}

/* Values for the algorithm: the standing round-trip time once, and the base. */
TEST(filter)
{
	struct fixture f;

	start_fit(&f);
	f.a.noise_ns = 10000;
	acks(&f, BASE_NS + 30000, 8);
	f.s.min_rtt_ns = BASE_NS / 2;
	quell_adapt_filter(&f.a, &f.needs, &f.s, 5000);
	expect(f.s.rtt_ns == BASE_NS + 25000 && f.s.min_rtt_ns == BASE_NS &&
		       f.s.remote_ns == 5000 && !(f.s.flags & QUELL_S_RTT_OLD),
	       "a_new_standing_time");
	acks_within(&f, BASE_NS + 50000, 1);
	quell_adapt_filter(&f.a, &f.needs, &f.s, 0);
	expect(f.s.rtt_ns == BASE_NS + 20000 && f.s.flags & QUELL_S_RTT_OLD,
	       "the_same_again_is_old");
	start(&f, QUELL_ADAPT_MARKS);
	f.s.rtt_ns = BASE_NS;
	f.s.min_rtt_ns = 1;
	quell_adapt_filter(&f.a, &f.needs, &f.s, 0);
	expect(f.s.rtt_ns == BASE_NS && f.s.min_rtt_ns == 1, "marks_need_none");
}

/* A verdict on a share or a path that were measured in a full buffer. */
TEST(verdicts)
{
	struct fixture f;

	start_fit(&f);
	delivered(&f, GBIT_BYTES_PS / 3);
	f.a.cubic.window_q16 = 2 * MSS_Q16;
	f.a.stand_ns = 1700000;
	f.needs.slowest_bytes_ps = GBIT_BYTES_PS / 10;
	expect_eq(QUELL_ADAPT_FITS, (u32)quell_adapt_obstacle(&f.a, &f.needs),
		  "not_by_a_window_that_was_just_reduced");
	f.needs.slowest_bytes_ps = GBIT_BYTES_PS;
	quell_adapt_settle(&f.a, &f.needs);
	expect(f.a.phase == QUELL_ADAPT_FALLBACK && f.a.reason == QUELL_ADAPT_SLOW_PATH,
	       "by_what_is_delivered");
	f.begins = quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect(!f.begins && f.a.phase == QUELL_ADAPT_FALLBACK, "stays_while_it_is");
	delivered(&f, GBIT_BYTES_PS);
	f.begins = quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect(f.begins && f.a.phase == QUELL_ADAPT_FIT, "is_checked_again_at_a_loss");
	start_fit(&f);
	f.a.base_ns = 400000;
	quell_adapt_settle(&f.a, &f.needs);
	expect_eq(QUELL_ADAPT_LONG_PATH, (u32)f.a.reason, "of_a_queue");
	acks(&f, BASE_NS, 8);
	f.begins = quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect(f.begins && f.a.phase == QUELL_ADAPT_FIT, "is_checked_again_at_a_loss");
}

TEST_HARNESS_MAIN
