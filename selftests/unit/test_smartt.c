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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		start(&f, 10, 0);
		f.p.init_window_bytes = cases[i].init_bytes;
		quell_smartt_init(&f.v, &f.p, &(struct quell_sample) {
				.now_ns = START_NS, .min_rtt_ns = cases[i].min_rtt_ns,
				.link_bytes_ps = cases[i].link_bytes_ps,
				.mss_bytes = cases[i].mss_bytes,
			}, &f.out);
		EXPECT_EQ(cases[i].want_bytes, window_bytes(&f))
			TH_LOG("quell_smartt_init__%s", cases[i].name);
	}
	EXPECT_TRUE(sizeof(struct quell_smartt_vars) == 64)
		TH_LOG("quell_smartt_vars__64_bytes");
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		start(&f, 10, cases[i].avg_ns);
		f.p.qa = 0;
		f.p.fast_q16 = 0;
		ack(&f, cases[i].rtt_ns, cases[i].marked_bytes);
		EXPECT_EQ(cases[i].want_bytes, window_bytes(&f))
			TH_LOG("quell_smartt_core_cases__%s", cases[i].name);
		EXPECT_TRUE(f.out.change_path == cases[i].want_path &&
			    f.out.target_ns == TARGET_NS &&
			    f.out.pacing_bytes_ps == QUELL_RATE_UNLIMITED)
			TH_LOG("quell_smartt_core_cases__%s_decision", cases[i].name);
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
	EXPECT_EQ(40960 + 1024, window_bytes(&f))
		TH_LOG("quell_smartt_increase__a_fourth_of_the_window");
	start(&f, 2, 20000);
	f.p.scale_bdp_bytes = 1;
	quell_smartt_observe(&f.v, &f.p, &at_start);
	f.p.adapt_bool = 1;
	ack(&f, 20000, 0);
	EXPECT_EQ(2 * MSS + MSS / 2, window_bytes(&f))
		TH_LOG("quell_smartt_increase__a_segment_at_least");
	start(&f, 1, 20000);
	f.p.scale_bdp_bytes = 1;
	quell_smartt_observe(&f.v, &f.p, &at_start);
	f.p.adapt_bool = 1;
	f.v.window_q16 = quell_mss_q16(MSS) / 4;
	ack(&f, 20000, 0);
	EXPECT_TRUE(window_bytes(&f) <= MSS / 4 + MSS)
		TH_LOG("quell_smartt_increase__by_itself_below_a_segment");
	start(&f, 10, 12000);
	f.p.adapt_bool = 1;
	f.v.flags |= QUELL_SMARTT_F_FAST;
	ack(&f, 12000, 0);
	EXPECT_EQ(11 * MSS, window_bytes(&f))
		TH_LOG("quell_smartt_fast_increase__as_slow_start");
}

TEST(increases)
{
	struct fixture f;

	start(&f, 10, 20000);
	f.p.pi_fair = 0;
	ack(&f, 15000, 0);
	EXPECT_EQ(40960 + 163, window_bytes(&f))
		TH_LOG("quell_smartt_increase__no_fair_after");
	start(&f, 10, 20000);
	/* a new parameter counts from the next base round trip on */
	f.p.scale_bdp_bytes = BDP_BYTES / 4;
	f.s.link_bytes_ps = LINK_BYTES_PS;
	f.s.now_ns = START_NS + BASE_NS;
	ack(&f, 20000, 0);
	EXPECT_EQ(40960 + 409, window_bytes(&f))
		TH_LOG("quell_smartt_scale__not_before_the_round");
	f.v.window_q16 = 10 * MSS << 16;
	ack(&f, 20000, 0);
	EXPECT_EQ(40960 + 1638, window_bytes(&f))
		TH_LOG("quell_smartt_increase__scaled_by_bdp");
	/* a new segment size counts at once: half the segment, half the BDP's part */
	start(&f, 10, 20000);
	f.p.scale_bdp_bytes = BDP_BYTES - MSS / 2;
	f.s.link_bytes_ps = LINK_BYTES_PS;
	f.s.mss_bytes = MSS / 2;
	ack(&f, 20000, 0);
	EXPECT_EQ(40960 + 204, window_bytes(&f))
		TH_LOG("quell_smartt_scale__new_segment_size");
	/* and so does a new base round-trip time: half of the window at most */
	start(&f, 50, 20000);
	f.s.link_bytes_ps = LINK_BYTES_PS;
	f.s.min_rtt_ns = BASE_NS / 2;
	ack(&f, 20000, 0);
	EXPECT_EQ((BDP_BYTES + MSS) * 3 / 4, window_bytes(&f))
		TH_LOG("quell_smartt_scale__new_base_rtt");
	/* steps of 64 GB a round trip are not for this world: 16 MiB a segment */
	start(&f, 10, 20000);
	f.p.scale_bdp_bytes = 1;
	quell_smartt_observe(&f.v, &f.p, &at_start);
	EXPECT_EQ(0xffffffff, f.v.unit_q8)
		TH_LOG("quell_smartt_scale__saturates");
	ack(&f, 20000, 0);
	EXPECT_EQ(MOST_BYTES, window_bytes(&f))
		TH_LOG("quell_smartt_due_q16__large");
	/* min(size, ...): sixty-four segments per window would be 6.4 of them */
	start(&f, 10, 20000);
	f.p.pi_pkts_q16 = 64 << 16;
	f.p.pi_fair = 0;
	f.p.fast_q16 = 0;
	ack(&f, 12000, 0);
	EXPECT_EQ(40960 + 4096, window_bytes(&f))
		TH_LOG("quell_smartt_increase__at_most_acked");
	/* half of the ACK marked: half of the increase, and another path */
	start(&f, 10, 15000);
	f.s.acked_bytes = 2 * MSS;
	ack(&f, 15000, MSS);
	EXPECT_EQ(40960 + 573, window_bytes(&f))
		TH_LOG("quell_smartt_increase__unmarked_part");
	EXPECT_TRUE(f.out.change_path)
		TH_LOG("quell_smartt_core_cases__marked_part");
	start(&f, 10, 15000);
	f.s.flags |= QUELL_S_APP_LIMITED;
	ack(&f, 15000, 0);
	EXPECT_EQ(40960, window_bytes(&f))
		TH_LOG("quell_smartt_increase__app_limited");
	EXPECT_EQ(1, f.st.app_limited)
		TH_LOG("quell_smartt_increase__app_limited_counted");
	start(&f, 50, 15000);
	f.v.window_q16 = MOST_BYTES << 16;
	ack(&f, 15000, 0);
	EXPECT_EQ(MOST_BYTES, window_bytes(&f))
		TH_LOG("quell_smartt_clamp__most");
	/* eta: one segment per base round trip regardless of the marks */
	start(&f, 10, 15000);
	f.p.eta_pkts_q16 = 65536;
	f.s.now_ns = START_NS + BASE_NS;
	ack(&f, 15000, MSS);
	EXPECT_EQ(11 * MSS, window_bytes(&f))
		TH_LOG("quell_smartt_settle__eta");
	f.s.now_ns += BASE_NS;
	f.s.flags |= QUELL_S_APP_LIMITED;
	ack(&f, 15000, MSS);
	EXPECT_EQ(11 * MSS, window_bytes(&f))
		TH_LOG("quell_smartt_settle__eta_app_limited");
}

TEST(decrease)
{
	struct fixture f;

	start(&f, 10, 100000);
	f.p.qa = 0;
	ack(&f, 100000, MSS);
	f.s.now_ns += BASE_NS - 1;
	ack(&f, 100000, MSS);
	EXPECT_EQ(5 * MSS, window_bytes(&f))
		TH_LOG("quell_smartt_decrease__once_per_base_rtt");
	EXPECT_EQ(1, f.st.held)
		TH_LOG("quell_smartt_decrease__held");
	f.s.now_ns += 1;
	ack(&f, 100000, MSS);
	EXPECT_EQ(10240, window_bytes(&f))
		TH_LOG("quell_smartt_decrease__after_base_rtt");
	f.s.now_ns += BASE_NS;
	ack(&f, 100000, MSS);
	f.s.now_ns += BASE_NS;
	ack(&f, 100000, MSS);
	EXPECT_EQ(MSS, window_bytes(&f))
		TH_LOG("quell_smartt_clamp__one_segment");
	/* of the queueing delay: 0.8 * 3.6 / 9.6 = 0.3, 0.8 being a little more in Q16 */
	start(&f, 10, 21600);
	f.p.md_queueing = 1;
	ack(&f, 21600, MSS);
	EXPECT_EQ(28671, window_bytes(&f))
		TH_LOG("quell_smartt_decrease__queueing");
	/* a target of 18 us given as target_rtt instead of target_delay */
	start(&f, 10, 21600);
	f.p.target_delay_ns = 6000;
	f.p.target_rtt_q16 = 2 * 65536;
	ack(&f, 21600, MSS);
	EXPECT_EQ(35498, window_bytes(&f))
		TH_LOG("quell_smartt_target_ns__delay");
	/* one change of path, then a whole base round trip without */
	start(&f, 10, 15000);
	f.p.qa = 0;
	ack(&f, 15000, MSS);
	EXPECT_TRUE(f.out.change_path)
		TH_LOG("quell_smartt_reroute__first");
	f.s.now_ns = START_NS + BASE_NS - 1;
	ack(&f, 15000, MSS);
	EXPECT_TRUE(!f.out.change_path)
		TH_LOG("quell_smartt_reroute__once_per_base_rtt");
	f.s.now_ns = START_NS + BASE_NS;
	ack(&f, 15000, MSS);
	f.s.now_ns = START_NS + 2 * BASE_NS;
	ack(&f, 15000, MSS);
	EXPECT_TRUE(!f.out.change_path)
		TH_LOG("quell_smartt_reroute__not_in_the_next");
	ack(&f, 15000, MSS);
	EXPECT_TRUE(f.out.change_path && f.st.path_changes == 2)
		TH_LOG("quell_smartt_reroute__after_base_rtt");
}

/* Fixed points: the average is never 0, any constant round trip is reached from both sides. */
TEST(average)
{
	static const u64 starts_ns[] = { 0, 12000, 15000, 200000 };
	struct fixture f;
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(starts_ns); i++) {
		start(&f, 10, starts_ns[i]);
		for (n = 0; n < 3000; n++)
			quell_smartt_average(&f.v, &f.p, 15000, 1);
		EXPECT_EQ(15000 << 4, f.v.avg_rtt_q4)
			TH_LOG("quell_smartt_average__from_%u", (unsigned int)starts_ns[i]);
	}
	/* 0.0125 of 16000 is 200 for one packet, all of it for 80 and more */
	start(&f, 10, 16000);
	quell_smartt_average(&f.v, &f.p, 32000, 1);
	EXPECT_EQ(16200, f.v.avg_rtt_q4 >> 4)
		TH_LOG("quell_smartt_average__one_packet");
	quell_smartt_average(&f.v, &f.p, 32000, 100);
	EXPECT_EQ(32000, f.v.avg_rtt_q4 >> 4)
		TH_LOG("quell_smartt_average__many_packets");
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
	EXPECT_TRUE(!f.st.fast_increases)
		TH_LOG("quell_smartt_fast_increase__not_within_a_window");
	ack(&f, 13000, 0);
	EXPECT_EQ(1, f.st.fast_increases)
		TH_LOG("quell_smartt_fast_increase__after_a_window");
	f.v.window_q16 = 4 * MSS << 16;
	ack(&f, 13000, 0);
	EXPECT_EQ(6 * MSS, window_bytes(&f))
		TH_LOG("quell_smartt_fast_increase__two_per_segment");
	f.s.flags |= QUELL_S_APP_LIMITED;
	ack(&f, 13000, 0);
	EXPECT_EQ(6 * MSS, window_bytes(&f))
		TH_LOG("quell_smartt_fast_increase__app_limited");
	ack(&f, 13001, 0);
	EXPECT_TRUE(!(f.v.flags & QUELL_SMARTT_F_FAST) && !f.v.clear_bytes)
		TH_LOG("quell_smartt_fast_increase__delay_ends_it");
	f.v.flags |= QUELL_SMARTT_F_FAST;
	ack(&f, 13000, 1);
	EXPECT_TRUE(!(f.v.flags & QUELL_SMARTT_F_FAST))
		TH_LOG("quell_smartt_fast_increase__mark_ends_it");
	f.v.clear_bytes = 0xffffffff;
	f.s.flags = QUELL_S_ECN;
	ack(&f, 13000, 0);
	EXPECT_TRUE(f.v.clear_bytes == 0xffffffff)
		TH_LOG("quell_smartt_count_bytes__saturates");
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
	EXPECT_EQ(10 * MSS, window_bytes(&f))
		TH_LOG("quell_smartt_settle__waits");
	ack(&f, 20000, 0);
	/* eight times 409.6 */
	EXPECT_EQ(10 * MSS + 3276, window_bytes(&f))
		TH_LOG("quell_smartt_settle__eight_segments");
	EXPECT_TRUE(!f.v.pending_bytes2 && !f.v.batch_pkts)
		TH_LOG("quell_smartt_settle__starts_anew");
	start(&f, 10, 20000);
	f.p.batch_pkts = 65535;
	ack(&f, 20000, 0);
	f.s.now_ns = START_NS + BASE_NS;
	ack(&f, 20000, 0);
	EXPECT_EQ(10 * MSS + 819, window_bytes(&f))
		TH_LOG("quell_smartt_settle__round_trip");
}

TEST_HARNESS_MAIN
