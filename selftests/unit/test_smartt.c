// SPDX-License-Identifier: GPL-2.0
/*
 * SMaRTT: start and Algorithms 1 and 3, by tables of cases.  test_smartt_quickadapt.c and
 * test_smartt_events.c have the rest: together they take every branch.  The expected
 * numbers were derived by hand from the paper's equations, not from the code.
 */
#include "smartt_fixture.h"
#include "test.h"

TEST(init)
{
	static const struct {
		const char *name;
		u64 link_bytes_ps, min_rtt_ns, init_bytes, want_bytes;
		u32 mss_bytes;
	} cases[] = {
		{ "one_and_a_half_bdp", LINK_BYTES_PS, 12000, 0, MOST_BYTES, MSS },
		{ "800gbit", 100000000000, 12000, 0, 1806144, MSS },
		{ "no_link", 0, 12000, 0, 10 * MSS, MSS },
		{ "no_rtt", LINK_BYTES_PS, 0, 0, 10 * MSS, MSS },
		{ "given", LINK_BYTES_PS, 12000, 100000, 100000, MSS },
		{ "given_above_most", LINK_BYTES_PS, 12000, 1 << 30, MOST_BYTES, MSS },
		{ "given_below_least", LINK_BYTES_PS, 12000, 1, MSS, MSS },
		{ "no_mss", 0, 0, 0, 10, 0 },
		{ "large_mss", 0, 0, 0, 655350, 100000 },
		{ "saturates", QUELL_U64_MAX, QUELL_U64_MAX, 0, 1 << 30, MSS },
	};
	struct fixture f;

	for_each_row(row, cases) {
		start(&f, 10, 0);
		f.p.init_window_bytes = row->init_bytes;
		quell_smartt_init(&f.v, &f.p,
				  &(struct quell_sample){
					  .now_ns = START_NS,
					  .min_rtt_ns = row->min_rtt_ns,
					  .link_bytes_ps = row->link_bytes_ps,
					  .mss_bytes = row->mss_bytes,
				  },
				  &f.out);
		expect_eq(row->want_bytes, window_bytes(&f), "%s", row->name);
	}
	expect(sizeof(struct quell_smartt_vars) == 64, "quell_smartt_vars__64_bytes");
}

/* Algorithm 1: one ACK of one segment, window of 10 segments. */
TEST(core_cases)
{
	static const struct {
		const char *name;
		u64 rtt_ns, avg_ns;
		u32 marked_bytes;
		u64 want_bytes;
		bool want_path;
	} cases[] = {
		/* 4096 / 10 */
		{ "fair_increase", 20000, 20000, 0, 40960 + 409, false },
		{ "fair_increase_at_target", TARGET_NS, 20000, 0, 40960 + 409, false },
		/* pi = 2: (18 - 15) / 15 * 2 = 0.4 segments per window, and fair */
		{ "proportional", 15000, 15000, 0, 40960 + 163 + 410, false },
		/* at the base round trip: one segment per window, and fair */
		{ "proportional_most", 12000, 15000, 0, 40960 + 409 + 410, false },
		{ "path_change", 15000, 15000, MSS, 40960, true },
		/* average 21.6: 1 - 0.8 * 3.6 / 21.6 = 0.8667, up to 0.0125 of the sample */
		{ "decrease", 21600, 21600, MSS, 35498, false },
		/* average 100: 1 - 0.8 * 0.82 = 0.344, at least a half */
		{ "decrease_at_most_half", 100000, 100000, MSS, 20480, false },
		{ "average_below_target", 19000, 12000, MSS, 40960, false },
		{ "no_average", 0, 0, MSS, 40960, true },
	};
	struct fixture f;

	for_each_row(row, cases) {
		start(&f, 10, row->avg_ns);
		f.p.qa = 0;
		f.p.fast_q16 = 0;
		ack(&f, row->rtt_ns, row->marked_bytes);
		expect_eq(row->want_bytes, window_bytes(&f), "%s", row->name);
		expect(f.out.change_path == row->want_path && f.out.target_ns == TARGET_NS &&
			       f.out.pacing_bytes_ps == QUELL_RATE_UNLIMITED,
		       "%s_decision", row->name);
	}
}

/* Out of the box a step is a fourth of the window at most, FastIncrease a window. */
TEST(bounded)
{
	struct fixture f;

	start(&f, 10, 20000);
	f.p.scale_bdp_bytes = 1;
	quell_smartt_observe(&f.v, &f.p, &at_start);
	f.p.adapt_bool = 1;
	ack(&f, 20000, 0);
	expect_eq(40960 + 1024, window_bytes(&f), "a_fourth_of_the_window");
	start(&f, 2, 20000);
	f.p.scale_bdp_bytes = 1;
	quell_smartt_observe(&f.v, &f.p, &at_start);
	f.p.adapt_bool = 1;
	ack(&f, 20000, 0);
	expect_eq(2 * MSS + MSS / 2, window_bytes(&f), "a_segment_at_least");
	start(&f, 1, 20000);
	f.p.scale_bdp_bytes = 1;
	quell_smartt_observe(&f.v, &f.p, &at_start);
	f.p.adapt_bool = 1;
	f.v.window_q16 = quell_mss_q16(MSS) / 4;
	ack(&f, 20000, 0);
	expect(window_bytes(&f) <= MSS / 4 + MSS, "by_itself_below_a_segment");
	start(&f, 10, 12000);
	f.p.adapt_bool = 1;
	f.v.flags |= QUELL_SMARTT_F_FAST;
	ack(&f, 12000, 0);
	expect_eq(11 * MSS, window_bytes(&f), "as_slow_start");
}

TEST(increases)
{
	struct fixture f;

	start(&f, 10, 20000);
	f.p.pi_fair = 0;
	ack(&f, 15000, 0);
	expect_eq(40960 + 163, window_bytes(&f), "no_fair_after");
	start(&f, 10, 20000);
	/* a new parameter counts from the next base round trip on */
	f.p.scale_bdp_bytes = BDP_BYTES / 4;
	f.s.link_bytes_ps = LINK_BYTES_PS;
	f.s.now_ns = START_NS + BASE_NS;
	ack(&f, 20000, 0);
	expect_eq(40960 + 409, window_bytes(&f), "not_before_the_round");
	f.v.window_q16 = 10 * MSS << 16;
	ack(&f, 20000, 0);
	expect_eq(40960 + 1638, window_bytes(&f), "scaled_by_bdp");
	/* a new segment size counts at once: half the segment, half the BDP's part */
	start(&f, 10, 20000);
	f.p.scale_bdp_bytes = BDP_BYTES - MSS / 2;
	f.s.link_bytes_ps = LINK_BYTES_PS;
	f.s.mss_bytes = MSS / 2;
	ack(&f, 20000, 0);
	expect_eq(40960 + 204, window_bytes(&f), "new_segment_size");
	/* and so does a new base round-trip time: half of the window at most */
	start(&f, 50, 20000);
	f.s.link_bytes_ps = LINK_BYTES_PS;
	f.s.min_rtt_ns = BASE_NS / 2;
	ack(&f, 20000, 0);
	expect_eq((BDP_BYTES + MSS) * 3 / 4, window_bytes(&f), "new_base_rtt");
	/* steps of 64 GB a round trip are not for this world: 16 MiB a segment */
	start(&f, 10, 20000);
	f.p.scale_bdp_bytes = 1;
	quell_smartt_observe(&f.v, &f.p, &at_start);
	expect_eq(0xffffffff, f.v.unit_q8, "saturates");
	ack(&f, 20000, 0);
	expect_eq(MOST_BYTES, window_bytes(&f), "large");
	/* min(size, ...): sixty-four segments per window would be 6.4 of them */
	start(&f, 10, 20000);
	f.p.pi_pkts_q16 = 64 << 16;
	f.p.pi_fair = 0;
	f.p.fast_q16 = 0;
	ack(&f, 12000, 0);
	expect_eq(40960 + 4096, window_bytes(&f), "at_most_acked");
	/* half of the ACK marked: half of the increase, and another path */
	start(&f, 10, 15000);
	f.s.acked_bytes = 2 * MSS;
	ack(&f, 15000, MSS);
	expect_eq(40960 + 573, window_bytes(&f), "unmarked_part");
	expect(f.out.change_path, "marked_part");
	start(&f, 10, 15000);
	f.s.flags |= QUELL_S_APP_LIMITED;
	ack(&f, 15000, 0);
	expect_eq(40960, window_bytes(&f), "app_limited");
	expect_eq(1, f.st.app_limited, "app_limited_counted");
	start(&f, 50, 15000);
	f.v.window_q16 = MOST_BYTES << 16;
	ack(&f, 15000, 0);
	expect_eq(MOST_BYTES, window_bytes(&f), "most");
	/* eta: one segment per base round trip regardless of the marks */
	start(&f, 10, 15000);
	f.p.eta_pkts_q16 = 65536;
	f.s.now_ns = START_NS + BASE_NS;
	ack(&f, 15000, MSS);
	expect_eq(11 * MSS, window_bytes(&f), "eta");
	f.s.now_ns += BASE_NS;
	f.s.flags |= QUELL_S_APP_LIMITED;
	ack(&f, 15000, MSS);
	expect_eq(11 * MSS, window_bytes(&f), "eta_app_limited");
}

TEST(decrease)
{
	struct fixture f;

	start(&f, 10, 100000);
	f.p.qa = 0;
	ack(&f, 100000, MSS);
	f.s.now_ns += BASE_NS - 1;
	ack(&f, 100000, MSS);
	expect_eq(5 * MSS, window_bytes(&f), "once_per_base_rtt");
	expect_eq(1, f.st.held, "held");
	f.s.now_ns += 1;
	ack(&f, 100000, MSS);
	expect_eq(10240, window_bytes(&f), "after_base_rtt");
	f.s.now_ns += BASE_NS;
	ack(&f, 100000, MSS);
	f.s.now_ns += BASE_NS;
	ack(&f, 100000, MSS);
	expect_eq(MSS, window_bytes(&f), "one_segment");
	/* of the queueing delay: 0.8 * 3.6 / 9.6 = 0.3, 0.8 being a little more in Q16 */
	start(&f, 10, 21600);
	f.p.md_queueing = 1;
	ack(&f, 21600, MSS);
	expect_eq(28671, window_bytes(&f), "queueing");
	/* a target of 18 us given as target_rtt instead of target_delay */
	start(&f, 10, 21600);
	f.p.target_delay_ns = 6000;
	f.p.target_rtt_q16 = 2 * 65536;
	ack(&f, 21600, MSS);
	expect_eq(35498, window_bytes(&f), "delay");
	/* one change of path, then a whole base round trip without */
	start(&f, 10, 15000);
	f.p.qa = 0;
	ack(&f, 15000, MSS);
	expect(f.out.change_path, "first");
	f.s.now_ns = START_NS + BASE_NS - 1;
	ack(&f, 15000, MSS);
	expect(!f.out.change_path, "once_per_base_rtt");
	f.s.now_ns = START_NS + BASE_NS;
	ack(&f, 15000, MSS);
	f.s.now_ns = START_NS + 2 * BASE_NS;
	ack(&f, 15000, MSS);
	expect(!f.out.change_path, "not_in_the_next");
	ack(&f, 15000, MSS);
	expect(f.out.change_path && f.st.path_changes == 2, "after_base_rtt");
}

/* Fixed points: the average is never 0, any constant round trip is reached from both sides. */
TEST(average)
{
	static const u64 starts_ns[] = { 0, 12000, 15000, 200000 };
	struct fixture f;
	int n;

	for_each_row(row, starts_ns) {
		start(&f, 10, *row);
		for (n = 0; n < 3000; n++)
			quell_smartt_average(&f.v, &f.p, 15000, 1);
		expect_eq(15000 << 4, f.v.avg_rtt_q4, "from_%u", (unsigned int)*row);
	}
	/* 0.0125 of 16000 is 200 for one packet, all of it for 80 and more */
	start(&f, 10, 16000);
	quell_smartt_average(&f.v, &f.p, 32000, 1);
	expect_eq(16200, f.v.avg_rtt_q4 >> 4, "one_packet");
	quell_smartt_average(&f.v, &f.p, 32000, 100);
	expect_eq(32000, f.v.avg_rtt_q4 >> 4, "many_packets");
}

/* Algorithm 3. */
TEST(fast_increase)
{
	struct fixture f;
	int n;

	start(&f, 4, 12000);
	f.p.fi_pkts_q16 = 0;
	f.p.pi_pkts_q16 = 0;
	for (n = 0; n < 4; n++)
		ack(&f, 13000, 0);
	expect(!f.st.fast_increases, "not_within_a_window");
	ack(&f, 13000, 0);
	expect_eq(1, f.st.fast_increases, "after_a_window");
	f.v.window_q16 = 4 * MSS << 16;
	ack(&f, 13000, 0);
	expect_eq(6 * MSS, window_bytes(&f), "two_per_segment");
	f.s.flags |= QUELL_S_APP_LIMITED;
	ack(&f, 13000, 0);
	expect_eq(6 * MSS, window_bytes(&f), "app_limited");
	ack(&f, 13001, 0);
	expect(!(f.v.flags & QUELL_SMARTT_F_FAST) && !f.v.clear_bytes, "delay_ends_it");
	f.v.flags |= QUELL_SMARTT_F_FAST;
	ack(&f, 13000, 1);
	expect(!(f.v.flags & QUELL_SMARTT_F_FAST), "mark_ends_it");
	f.v.clear_bytes = 0xffffffff;
	f.s.flags = QUELL_S_ECN;
	ack(&f, 13000, 0);
	expect(f.v.clear_bytes == 0xffffffff, "saturates");
}

/* Section III-G. */
TEST(batch)
{
	struct fixture f;
	int n;

	start(&f, 10, 20000);
	f.p.batch_pkts = 8;
	for (n = 0; n < 7; n++)
		ack(&f, 20000, 0);
	expect_eq(10 * MSS, window_bytes(&f), "waits");
	ack(&f, 20000, 0);
	/* eight times 409.6 */
	expect_eq(10 * MSS + 3276, window_bytes(&f), "eight_segments");
	expect(!f.v.pending_bytes2 && !f.v.batch_pkts, "starts_anew");
	start(&f, 10, 20000);
	f.p.batch_pkts = 65535;
	ack(&f, 20000, 0);
	f.s.now_ns = START_NS + BASE_NS;
	ack(&f, 20000, 0);
	expect_eq(10 * MSS + 819, window_bytes(&f), "round_trip");
}

TEST_HARNESS_MAIN
