// SPDX-License-Identifier: GPL-2.0
/*
 * Swift: target, start and ACKs, by tables of cases.  test_swift_events.c has the other events:
 * together they take every branch.  The expected numbers were derived by hand from the papers'
 * equations, not from the code.
 */
#include "swift_fixture.h"
#include "test.h"

/* Constants derived from the parameters, and degenerate ranges. */
TEST(derive)
{
	struct quell_swift_params p;

	quell_core_params_default(&quell_swift_core, &p);
	/* 25000 / (1 / sqrt(6554 / 65536) - 1 / sqrt(50)) = 8276.0635 ns */
	expect_eq(8474689, p.fs_alpha_ns_q10, "alpha");
	/* 1 / sqrt(50) = 0.14142136 */
	expect_eq(2372657, p.fs_offset_q24, "offset");
	p.fs_range_ns = 0;
	quell_swift_params_derive(&p);
	expect_eq(0, p.fs_alpha_ns_q10, "range_zero");
	p.fs_range_ns = 25000;
	p.fs_max_pkts_q16 = p.fs_min_pkts_q16;
	quell_swift_params_derive(&p);
	expect_eq(0, p.fs_alpha_ns_q10, "empty_interval");
}

/* At the corners of the parameters' ranges: the full term at fs_min, about 0 at fs_max. */
TEST(params_corners)
{
	int corner;

	for (corner = 0; corner < 8; corner++) {
		struct quell_swift_params p;
		u64 all_ns, least_ns;

		quell_core_params_default(&quell_swift_core, &p);
		p.fs_range_ns = corner & 1 ? QUELL_SWIFT_FS_RANGE_NS_MAX : 1;
		p.fs_min_pkts_q16 = corner & 2 ? QUELL_SWIFT_FS_MIN_PKTS_Q16_MAX :
						 QUELL_SWIFT_FS_MIN_PKTS_Q16_MIN;
		p.fs_max_pkts_q16 = corner & 4 ? QUELL_SWIFT_FS_MAX_PKTS_Q16_MAX :
						 QUELL_SWIFT_FS_MAX_PKTS_Q16_MIN;
		quell_swift_params_derive(&p);
		all_ns = quell_swift_flow_scale_ns(&p, p.fs_min_pkts_q16);
		least_ns = quell_swift_flow_scale_ns(&p, p.fs_max_pkts_q16 - 1);
		expect(all_ns <= p.fs_range_ns &&
			       all_ns + 1 + (p.fs_range_ns >> 20) >= p.fs_range_ns &&
			       least_ns <= p.fs_range_ns >> 15,
		       "corner_%d", corner);
	}
}

TEST(flow_scale)
{
	static const struct {
		const char *name;
		u64 range_ns, window_pkts_q16, want_ns;
	} rows[] = {
		{ "off", 0, 6554, 0 },
		{ "at_fs_max", 25000, 50 << 16, 0 },
		{ "above_fs_max", 25000, 1 << 30, 0 },
		{ "below_fs_max", 25000, 49 << 16, 11 },	/* 11.88 */
		{ "ten_packets", 25000, 10 << 16, 1446 },	/* 1446.71 */
		{ "two_packets", 25000, 2 << 16, 4681 },	/* 4681.65 */
		{ "one_packet", 25000, 1 << 16, 7105 },		/* 7105.65 */
		{ "half_a_packet", 25000, 1 << 15, 10533 },	/* 10533.71 */
		{ "at_fs_min", 25000, 6554, 24999 },		/* 25000 less rounding */
		{ "below_fs_min", 25000, 66, 24999 },
		{ "no_window", 25000, 0, 24999 },
	};
	struct quell_swift_params p;

	for_each_row(row, rows) {
		quell_core_params_default(&quell_swift_core, &p);
		p.fs_range_ns = row->range_ns;
		quell_swift_params_derive(&p);
		expect_eq(row->want_ns, quell_swift_flow_scale_ns(&p, row->window_pkts_q16), "%s",
			  row->name);
	}
	/* Even without deriving after a change the term must stay within the range. */
	p.fs_alpha_ns_q10 *= 1000;
	expect_eq(25000, quell_swift_flow_scale_ns(&p, 1 << 16), "stale_alpha_clamped");
}

TEST(target)
{
	static const struct {
		const char *name;
		u64 base_ns, hop_ns, window_pkts, want_ns;
		u8 hops;
	} rows[] = {
		{ "no_switch", 5000, 2000, 100, 5000, 0 },
		{ "one_switch", 5000, 2000, 100, 7000, 1 },
		{ "five_switches", 5000, 2000, 100, 15000, 5 },
		{ "most_switches", 5000, 2000, 100, 515000, 255 },
		{ "flow_scaled", 5000, 2000, 2, 11681, 1 },
		{ "largest_parameters", QUELL_SWIFT_BASE_TARGET_NS_MAX,
		  QUELL_SWIFT_HOP_SCALE_NS_MAX, 100, 1255000000, 255 },
	};
	struct fixture f;

	for_each_row(row, rows) {
		fixture_start(&f, row->window_pkts);
		f.p.base_target_ns = row->base_ns;
		f.p.hop_scale_ns = row->hop_ns;
		expect_eq(row->want_ns, quell_swift_target_ns(&f.v, &f.p, row->hops), "%s",
			  row->name);
	}
}

TEST(init)
{
	static const struct {
		const char *name;
		u64 link_bytes_ps, min_rtt_ns, init_bytes, want_bytes;
		u32 mss_bytes;
	} rows[] = {
		/* 4300 ns * 12.5 B/ns / 1538 B = 34.9 packets, and one more */
		{ "bdp_100gbit", LINK_BYTES_PS, 4300, 0, 36 * 1448, 1448 },
		{ "bdp_10gbit", 1250000000, 4300, 0, 5 * 1448, 1448 },
		{ "bdp_400gbit_jumbo", 50000000000, 4300, 0, 25 * 8948, 8948 },
		/* exactly three packets of 1538 bytes in 3 us, and one more */
		{ "bdp_whole_packets", 1538000000, 3000, 0, 4 * 1448, 1448 },
		{ "bdp_one_ns_more", 1538000000, 3001, 0, 5 * 1448, 1448 },
		{ "no_link", 0, 4300, 0, 10 * 1448, 1448 },
		{ "no_rtt", LINK_BYTES_PS, 0, 0, 10 * 1448, 1448 },
		{ "given", LINK_BYTES_PS, 4300, 100000, 100000, 1448 },
		{ "given_above_max", LINK_BYTES_PS, 4300, 1 << 30, 1 << 24, 1448 },
		{ "no_mss", 0, 0, 0, 10, 0 },
		{ "bdp_saturates", QUELL_U64_MAX, QUELL_U64_MAX, 0, 1 << 24, 1448 },
	};
	struct fixture f;

	for_each_row(row, rows) {
		memset(&f, 0xff, sizeof(f));
		quell_core_params_default(&quell_swift_core, &f.p);
		f.p.init_window_bytes = row->init_bytes;
		quell_swift_init(&f.v, &f.p,
				 &(struct quell_sample){
					 .now_ns = START_NS,
					 .min_rtt_ns = row->min_rtt_ns,
					 .link_bytes_ps = row->link_bytes_ps,
					 .mss_bytes = row->mss_bytes,
				 },
				 &f.out);
		expect_eq(row->want_bytes << 16, f.out.window_q16, "%s", row->name);
	}
	expect(f.v.window_q16 == f.out.window_q16 && f.v.last_decrease_ns == START_NS &&
		       f.v.rtt_ns == QUELL_U64_MAX && f.v.min_rtt_ns == QUELL_U64_MAX &&
		       f.v.link_bytes_ps == QUELL_U64_MAX && f.v.mss_bytes == 1448 && !f.v.rtos &&
		       !f.v.flags,
	       "sets_all_state");
	expect(f.out.pacing_bytes_ps == QUELL_RATE_UNLIMITED && f.out.target_ns == QUELL_U64_MAX &&
		       !f.out.change_path,
	       "sets_all_of_the_decision");
}

TEST(observe)
{
	struct fixture f;

	fixture_start(&f, 10);
	f.s.min_rtt_ns = 4000;
	fixture_ack(&f, START_NS, 4500);
	expect(f.v.rtt_ns == 4500 && f.v.min_rtt_ns == 4000, "smaller_minimum");
	f.s.min_rtt_ns = 0;
	fixture_ack(&f, START_NS, 3900);
	expect(f.v.rtt_ns == 3900 && f.v.min_rtt_ns == 3900, "minimum_from_sample");
	fixture_ack(&f, START_NS, 0);
	expect(f.v.rtt_ns == 3900 && f.v.min_rtt_ns == 3900, "nothing_measured");
	fixture_ack(&f, START_NS, 4200);
	expect(f.v.rtt_ns == 4200 && f.v.min_rtt_ns == 3900, "not_a_minimum");
	f.s.min_rtt_ns = 5000;
	fixture_ack(&f, START_NS, 5500);
	expect(f.v.rtt_ns == 5500 && f.v.min_rtt_ns == 5000, "minimum_replaces_handshake");
	f.s.link_bytes_ps = 77;
	f.s.mss_bytes = 536;
	fixture_ack(&f, START_NS, 0);
	expect(f.v.link_bytes_ps == 77 && f.v.mss_bytes == 536, "link_and_segment_change");
	f.s.link_bytes_ps = 0;
	f.s.mss_bytes = 0;
	fixture_ack(&f, START_NS, 0);
	expect(f.v.link_bytes_ps == 77 && f.v.mss_bytes == 536, "unknown_is_kept");
	fixture_start_blind(&f, 10);
	f.s.min_rtt_ns = 4100;
	fixture_ack(&f, START_NS, 0);
	expect(f.v.rtt_ns == 4100 && f.v.min_rtt_ns == 4100, "first_from_minimum");
	fixture_start_blind(&f, 10);
	f.s.min_rtt_ns = 0;
	fixture_ack(&f, START_NS, 4300);
	expect(f.v.rtt_ns == 4300 && f.v.min_rtt_ns == 4300, "first_from_sample");
}

TEST(increase)
{
	static const struct {
		const char *name;
		u64 window_q16, ai_bytes_ps, rtt_ns, want_grown_q16;
		u32 acked_bytes;
	} rows[] = {
		/* 6.25 MB/s * 4300 ns = 26.875 bytes = 1761280 in Q16 */
		{ "one_of_ten", 10 * MSS_Q16, 6250000, 5000, 176128, 1448 },
		{ "whole_window", 10 * MSS_Q16, 6250000, 5000, 1761280, 14480 },
		{ "one_segment", MSS_Q16, 6250000, 5000, 1761280, 1448 },
		{ "half_a_segment", MSS_Q16 / 2, 6250000, 5000, 1761280, 1448 },
		{ "half_acked_of_half", MSS_Q16 / 2, 6250000, 5000, 880640, 724 },
		{ "nothing_acked", 10 * MSS_Q16, 6250000, 5000, 0, 0 },
		/* 4.3 MB a round trip, ten segments: 430000 bytes an ACK */
		{ "steep", 10 * MSS_Q16, 1000000000000, 5000, 430000ULL << 16, 1448 },
		{ "steep_without_rtt_as_reno", 10 * MSS_Q16, 1000000000000, 0, MSS_Q16 / 10, 1448 },
		{ "gentle_without_rtt", 10 * MSS_Q16, 6250000, 0, 176128, 1448 },
		{ "to_the_limit", 16776960ULL << 16, 6250000000, 5000, 256ULL << 16, 16776960 },
		{ "saturates", 10 * MSS_Q16, QUELL_U64_MAX, 5000,
		  (16777216ULL << 16) - 10 * MSS_Q16, 0xffffffff },
	};
	struct fixture f;

	for_each_row(row, rows) {
		fixture_start(&f, 0);
		f.v.window_q16 = row->window_q16;
		f.p.ai_bytes_ps = row->ai_bytes_ps;
		f.s.acked_bytes = row->acked_bytes;
		fixture_ack(&f, START_NS, row->rtt_ns);
		expect_eq(row->want_grown_q16, f.out.window_q16 - row->window_q16, "%s", row->name);
	}
	expect_eq(1, f.st.increases, "counted");
	fixture_start(&f, 10);
	f.s.flags = QUELL_S_APP_LIMITED;
	fixture_ack(&f, START_NS, 5000);
	expect(f.out.window_q16 == 10 * MSS_Q16 && f.st.app_limited == 1 && !f.st.increases,
	       "app_limited_holds");
}

TEST(decrease)
{
	/* With 100 segments the target is 7000 ns. */
	static const struct {
		const char *name;
		u64 rtt_ns, want_q16;
	} rows[] = {
		{ "just_below_target", BARE_TARGET_NS - 1, 100 * MSS_Q16 + 17612 },
		/* factor 1 */
		{ "at_target", BARE_TARGET_NS, 100 * MSS_Q16 },
		/* 1 - 0.8000031 * 1000 / 8000 = 0.89999962, cut rounded down in Q24 */
		{ "an_eighth_above", 8000, 8540647900 },
		/* 1 - 0.8000031 / 2 = 0.59999847 */
		{ "twice_target", 2 * BARE_TARGET_NS, 5693753200 },
		/* 0.8 * 3 / 4 = 0.6: max_mdf takes one half */
		{ "four_times_target", 4 * BARE_TARGET_NS, 50 * MSS_Q16 },
		{ "endless", QUELL_U64_MAX, 50 * MSS_Q16 },
	};
	struct fixture f;

	for_each_row(row, rows) {
		u64 got_q16;

		fixture_start(&f, 100);
		fixture_ack(&f, START_NS, row->rtt_ns);
		got_q16 = f.out.window_q16;
		/* 2^-24 of the window, the resolution of the cut. */
		expect(got_q16 + 700 >= row->want_q16 && got_q16 <= row->want_q16 + 700, "%s",
		       row->name);
	}
	expect(f.st.decreases == 1 && !f.st.increases, "counted");
	expect(f.v.last_decrease_ns == START_NS && f.v.flags == QUELL_SWIFT_F_DECREASED,
	       "remembered");
}

TEST(once_per_rtt)
{
	static const struct {
		const char *name;
		u64 later_ns, rtt_ns, want_pkts;
	} rows[] = {
		{ "same_instant", 0, 40000, 50 },
		{ "one_ns_early", 39999, 40000, 50 },
		{ "on_time", 40000, 40000, 25 },
		{ "rtt_grew", 40000, 40001, 50 },
		{ "rtt_shrank", 30000, 30000, 25 },
	};
	struct fixture f;

	for_each_row(row, rows) {
		fixture_start(&f, 100);
		fixture_ack(&f, START_NS, 40000);
		fixture_ack(&f, START_NS + row->later_ns, row->rtt_ns);
		expect(f.out.window_q16 == row->want_pkts * MSS_Q16 &&
			       f.st.held == (row->want_pkts == 50),
		       "%s", row->name);
	}
	fixture_start(&f, 100);
	fixture_ack(&f, START_NS, 40000);
	fixture_ack(&f, START_NS - 100000, 40000);
	expect_eq(50 * MSS_Q16, f.out.window_q16, "clock_went_back");
	fixture_start(&f, 100);
	f.v.last_decrease_ns = 0;
	fixture_ack(&f, 0, 40000);
	expect_eq(50 * MSS_Q16, f.out.window_q16, "first_at_time_zero");
}

TEST(clamp_and_pacing)
{
	struct fixture f;

	fixture_start(&f, 0);
	f.s.flags = QUELL_S_APP_LIMITED;
	fixture_ack(&f, START_NS, 5000);
	expect_eq(656 * MSS, f.out.window_q16, "smallest");
	/* 656 / 65536 * 1448 B / 5000 ns = 2898828 B/s */
	expect_eq(2898828, f.out.pacing_bytes_ps, "smallest_window");
	fixture_start(&f, 1000000);
	fixture_ack(&f, START_NS, 5000);
	expect_eq(1ULL << 40, f.out.window_q16, "largest");
	f.p.max_window_bytes = QUELL_U64_MAX;
	fixture_ack(&f, START_NS, 5000);
	expect(f.out.window_q16 > 1ULL << 40, "limit_saturates");
	fixture_start_blind(&f, 0);
	f.s.flags = QUELL_S_APP_LIMITED;
	fixture_ack(&f, START_NS, 0);
	expect_eq(MSS_Q16, f.out.window_q16, "blind_one_segment");
	fixture_start(&f, 0);
	f.v.window_q16 = MSS_Q16 / 2;
	f.s.flags = QUELL_S_APP_LIMITED;
	fixture_ack(&f, START_NS, 10000);
	/* 724 bytes in 10 us */
	expect_eq(72400000, f.out.pacing_bytes_ps, "half_a_segment");
	f.v.window_q16 = MSS_Q16;
	fixture_ack(&f, START_NS, 0);
	expect_eq(QUELL_RATE_UNLIMITED, f.out.pacing_bytes_ps, "one_segment");
	f.v.window_q16 = MSS_Q16 / 2;
	f.v.flags = 0;
	fixture_ack(&f, START_NS, QUELL_U64_MAX);
	expect_eq(1, f.out.pacing_bytes_ps, "endless_rtt");
}

/* VAI/SF III-D: disregarded if the window is below rand() % 36 segments of 1448. */
TEST(probabilistic)
{
	static const struct {
		const char *name;
		u64 window_pkts, delay_ns, link_bytes_ps;
		bool on;
		u32 want_least, want_most;	/* disregarded of 1000 */
	} rows[] = {
		{ "off", 1, 60000, LINK_BYTES_PS, false, 0, 0 },
		{ "at_largest", 36, 60000, LINK_BYTES_PS, true, 0, 0 },
		/* five deviations of 16 and 14 */
		{ "at_half", 18, 60000, LINK_BYTES_PS, true, 421, 579 },
		{ "at_a_quarter", 9, 60000, LINK_BYTES_PS, true, 681, 819 },
		{ "increase", 9, 4300, LINK_BYTES_PS, true, 0, 0 },
		{ "no_link", 9, 60000, 0, true, 0, 0 },
	};
	struct fixture f;
	u32 n;

	for_each_row(row, rows) {
		u32 disregarded = 0;
		bool rule = true;

		for (n = 0; n < 1000; n++) {
			u64 now_ns = START_NS + 1000 * n;
			bool out;

			fixture_start(&f, row->window_pkts);
			f.p.probabilistic = row->on;
			f.v.link_bytes_ps = row->link_bytes_ps;
			fixture_ack(&f, now_ns, row->delay_ns);
			out = row->want_most &&
			      row->window_pkts <
				      quell_draw_u32(now_ns, row->window_pkts * MSS_Q16) * 0x1p-32 *
					      36;
			disregarded += f.st.disregarded;
			rule = rule && f.st.disregarded == out &&
			       f.st.decreases == (!out && row->delay_ns > RTT_NS) &&
			       (!out || f.v.window_q16 == row->window_pkts * MSS_Q16);
		}
		expect(rule && disregarded >= row->want_least && disregarded <= row->want_most,
		       "%s", row->name);
	}
	/* A window so small that every decrease is skipped at random. */
	fixture_start(&f, 1);
	f.p.probabilistic = 1;
	f.v.window_q16 = 1000;
	f.p.min_window_pkts_q16 = 0;
	fixture_ack(&f, START_NS, 60000);
	fixture_ack(&f, START_NS + 59999, 60000);
	expect(f.st.disregarded == 1 && f.st.held == 1 && f.v.window_q16 == 1000,
	       "once_per_round_trip");
	fixture_ack(&f, START_NS + 60000, 60000);
	expect(f.st.disregarded == 2 && f.v.window_q16 == 1000, "again_a_round_trip_later");
	f.s.flags = QUELL_S_RTT_OLD;
	fixture_ack(&f, START_NS + 120001, 60000);
	expect(f.st.disregarded == 2 && f.st.held == 2, "no_chance_for_a_delay_told_before");
	f.s.flags = 0;
	fixture_loss(&f, START_NS + 120002);
	expect(f.st.fast_retx == 1 && f.v.window_q16 == 500 &&
		       !(f.v.flags & QUELL_SWIFT_F_DISREGARDED),
	       "cuts_after_a_disregarded_decrease");
	fixture_loss(&f, START_NS + 120003);
	expect(f.st.fast_retx == 1 && f.v.window_q16 == 500, "held_after_its_own");
	f.v.window_q16 = 1000;
	fixture_ack(&f, START_NS + 190000, 60000);
	fixture_rto(&f, START_NS + 190001);
	expect(f.st.disregarded == 3 && f.v.window_q16 == 500, "cuts_after_a_disregarded_decrease");
}

/* The delay of an earlier round trip is reported once and causes one decrease. */
TEST(old_delay)
{
	struct fixture f;

	fixture_start(&f, 100);
	f.s.flags = QUELL_S_RTT_OLD;
	fixture_ack(&f, START_NS + 100000, 20000);
	expect(f.v.window_q16 == 100 * MSS_Q16 && f.st.held == 1, "old_delay_holds");
	fixture_ack(&f, START_NS + 200000, 1000);
	expect(f.v.window_q16 > 100 * MSS_Q16, "old_delay_grows");
}

/* Without a configured target it is derived from the path. */
TEST(target_of_path)
{
	static const struct {
		const char *name;
		u64 min_rtt_ns, want_ns;
	} rows[] = {
		{ "unknown", 0, 25000 },
		{ "short", 20000, 45000 },
		{ "room_of_25us", 100000, 125000 },
		{ "long", 400000, 500000 },
		{ "saturates", QUELL_U64_MAX, QUELL_U64_MAX },
	};
	struct fixture f;

	for_each_row(row, rows) {
		fixture_start(&f, 100);
		f.p.base_target_ns = 0;
		f.v.min_rtt_ns = row->min_rtt_ns;
		expect_eq(row->want_ns, quell_swift_target_ns(&f.v, &f.p, 5), "of_path_%s",
			  row->name);
	}
}

TEST_HARNESS_MAIN
