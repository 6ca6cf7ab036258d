// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC: start and ACKs, by tables of cases.  test_hpcc_events.c has the other events: together
 * they take every branch.  The expected numbers were derived by hand from the equations, not
 * from the code.
 */
#include "hpcc_flow_fixture.h"
#include "test.h"

TEST(init)
{
	static const struct {
		const char *name;
		bool telemetry;
		u64 link_bytes_ps, min_rtt_ns, init_window_bytes, want_window, want_rate;
		u32 mss_bytes;
	} cases[] = {
		/* 50000 / 1090 = 45.9, and one more; per 4 us */
		{ "line_rate", true, LINK_BYTES_PS, RTT_NS, 0, 47000, 11750000000, MSS },
		{ "init_window", true, LINK_BYTES_PS, RTT_NS, 30000, 30000, 7500000000, MSS },
		{ "not_above_line_rate", true, LINK_BYTES_PS, RTT_NS, 60000, 47000,
		  11750000000, MSS },
		{ "no_link", true, 0, RTT_NS, 0, 10000, 2500000000, MSS },
		{ "no_rtt", true, LINK_BYTES_PS, 0, 0, 10000, QUELL_RATE_UNLIMITED, MSS },
		{ "no_mss", true, 0, 0, 0, 10, QUELL_RATE_UNLIMITED, 0 },
		{ "no_telemetry", false, LINK_BYTES_PS, RTT_NS, 0, 10000,
		  QUELL_RATE_UNLIMITED, MSS },
		{ "no_telemetry_init_window", false, LINK_BYTES_PS, RTT_NS, 30000, 30000,
		  QUELL_RATE_UNLIMITED, MSS },
		/* the largest window, 16 MiB, per 4.295 s */
		{ "most", true, QUELL_U64_MAX, QUELL_U64_MAX, 0, 1 << 24, 3906250, MSS },
		/* a segment and one more; a link of half the smallest rate */
		{ "slow_link", true, 6250000, RTT_NS, 0, 2000, 500000000, MSS },
	};
	struct fixture f;

	for_each_row(row, cases) {
		memset(&f, 0xff, sizeof(f));
		quell_core_params_default(&quell_hpcc_core, &f.p);
		f.p.init_window_bytes = row->init_window_bytes;
		quell_hpcc_init(&f.v, &f.p,
				&(struct quell_sample){
					.now_ns = START_NS,
					.min_rtt_ns = row->min_rtt_ns,
					.link_bytes_ps = row->link_bytes_ps,
					.mss_bytes = row->mss_bytes,
					.flags = row->telemetry ? QUELL_S_TELEMETRY : 0,
				},
				&f.out);
		expect_eq(q16(row->want_window), f.out.window_q16, "%s_window", row->name);
		expect_eq(row->want_rate, f.out.pacing_bytes_ps, "%s_rate", row->name);
		expect(f.v.util_q24 == ONE_Q24 && f.v.recorded_ns == START_NS && !f.v.hop &&
			       !f.v.queue_bytes && !f.v.tx_units && !f.v.time_ns && !f.v.stage &&
			       !f.v.rtos && !f.v.round_bytes && !f.out.target_ns &&
			       !f.out.change_path &&
			       f.v.flags == (row->telemetry ? QUELL_HPCC_F_TELEMETRY : 0),
		       "%s_sets_all", row->name);
	}
}

/* U = (1 - tau / T) U + tau / T u, from one record to the next. */
TEST(measure)
{
	static const struct {
		const char *name;
		u32 util_q24, tau_ns, units, queue_before, queue, want_q24;
	} cases[] = {
		/* 3/4 + 12800 / 50000 = 1.006 */
		{ "rate", ONE_Q24, 1000, 200, 0, 0, 16877879 },
		/* 3/4 + 1/4 */
		{ "queue", ONE_Q24, 1000, 0, BDP_BYTES, BDP_BYTES, ONE_Q24 },
		{ "smaller_queue_before", ONE_Q24, 1000, 0, 25000, BDP_BYTES, ONE_Q24 / 8 * 7 },
		{ "smaller_queue_now", ONE_Q24, 1000, 0, BDP_BYTES, 25000, ONE_Q24 / 8 * 7 },
		/* 3/4 * 2 + 0.256 + 1/4 = 2.006 */
		{ "both", 2 * ONE_Q24, 1000, 200, BDP_BYTES, BDP_BYTES, 33655095 },
		{ "whole_weight", 0, RTT_NS, 0, BDP_BYTES, BDP_BYTES, ONE_Q24 },
		/* a whole round trip at 102400 bytes per 8 us: 1.024 */
		{ "longer_than_a_round_trip", 7 * ONE_Q24, 8000, 1600, 0, 0, 17179869 },
		{ "idle_link", 5 * ONE_Q24, RTT_NS, 0, BDP_BYTES, 0, 0 },
		{ "saturates", 0xffffffff, RTT_NS, 0, 0xffffffff, 0xffffffff, 0xffffffff },
		{ "all_bytes", 0, RTT_NS, 0xffffff, 0, 0, 0xffffffff },
	};
	struct fixture f;

	for_each_row(row, cases) {
		fixture_start(&f);
		f.v.util_q24 = row->util_q24;
		f.v.queue_bytes = row->queue_before;
		/* Both counters wrap in between. */
		f.v.time_ns = 0xffffff;
		f.v.tx_units = 0xffffff;
		f.s.telemetry.time_ns = row->tau_ns - 1;
		f.s.telemetry.tx_units = (row->units - 1) & 0xffffff;
		f.s.telemetry.queue_bytes = row->queue;
		fixture_ack(&f);
		expect_eq(row->want_q24, f.v.util_q24, "%s", row->name);
		expect(f.st.measured == 1 && f.v.tx_units == f.s.telemetry.tx_units &&
			       f.v.time_ns == row->tau_ns - 1 && f.v.queue_bytes == row->queue,
		       "%s_stored", row->name);
	}
	fixture_start(&f);
	f.s.telemetry.link_bytes_ps = 1;
	fixture_util(&f, 0);
	expect_eq(0xffffffff, f.v.util_q24, "no_link_to_speak_of");
}

/* The fixpoints of the average: 0, and u. */
TEST(average)
{
	struct fixture f;
	int i;

	fixture_start(&f);
	f.v.util_q24 = 0xffffffff;
	f.v.queue_bytes = 0;
	for (i = 0; i < 1000 && f.v.util_q24; i++) {
		f.s.telemetry.time_ns += 100;
		fixture_ack(&f);
	}
	expect_eq(0, f.v.util_q24, "average_reaches_0");
	f.v.queue_bytes = BDP_BYTES;
	f.s.telemetry.queue_bytes = BDP_BYTES;
	for (i = 0; i < 1000; i++) {
		f.s.telemetry.time_ns += 100;
		fixture_ack(&f);
	}
	/* 40 * (2 + 2^24 / 256 / 50000) */
	expect(f.v.util_q24 <= ONE_Q24 && f.v.util_q24 >= ONE_Q24 - 133, "average_reaches_1");
}

enum verdict { MEASURED, STORED, REPEATED, NO_RECORD };

TEST(records)
{
	static const struct {
		const char *name;
		u64 link_bytes_ps, min_rtt_ns, after_ns;
		u32 tau_ns;
		u8 stored_hop, hop;
		enum verdict want;
	} cases[] = {
		{ "next", LINK_BYTES_PS, RTT_NS, 100, 100, HOP, HOP, MEASURED },
		{ "first", LINK_BYTES_PS, RTT_NS, 100, 100, 0, HOP, STORED },
		{ "other_hop", LINK_BYTES_PS, RTT_NS, 100, 100, 1, HOP, STORED },
		{ "still_fresh", LINK_BYTES_PS, RTT_NS, 8000000, 100, HOP, HOP, MEASURED },
		{ "stale", LINK_BYTES_PS, RTT_NS, 8000001, 100, HOP, HOP, STORED },
		{ "same_stamp", LINK_BYTES_PS, RTT_NS, 100, 0, HOP, HOP, REPEATED },
		{ "older", LINK_BYTES_PS, RTT_NS, 100, 0xffffff, HOP, HOP, REPEATED },
		{ "half_the_clock", LINK_BYTES_PS, RTT_NS, 100, 0x7fffff, HOP, HOP, MEASURED },
		{ "more_than_half", LINK_BYTES_PS, RTT_NS, 100, 0x800000, HOP, HOP, REPEATED },
		{ "none", LINK_BYTES_PS, RTT_NS, 100, 100, HOP, 0, NO_RECORD },
		{ "none_stored", LINK_BYTES_PS, RTT_NS, 100, 100, 0, 0, NO_RECORD },
		{ "none_for_long", LINK_BYTES_PS, RTT_NS, 8000001, 100, HOP, 0, NO_RECORD },
		{ "no_link", 0, RTT_NS, 100, 100, HOP, HOP, NO_RECORD },
		{ "no_rtt", LINK_BYTES_PS, 0, 100, 100, HOP, HOP, NO_RECORD },
	};
	struct fixture f;

	for_each_row(row, cases) {
		bool ignored = row->want == REPEATED || row->want == NO_RECORD;

		fixture_start(&f);
		f.v.hop = row->stored_hop;
		f.v.min_rtt_ns = row->min_rtt_ns;
		f.s.min_rtt_ns = 0;
		f.s.now_ns += row->after_ns;
		f.s.telemetry.hop = row->hop;
		f.s.telemetry.link_bytes_ps = row->link_bytes_ps;
		f.s.telemetry.time_ns = row->tau_ns;
		f.s.telemetry.queue_bytes = 77;
		fixture_ack(&f);
		expect(f.st.measured == (row->want == MEASURED) &&
			       f.st.stored == (row->want == STORED) &&
			       f.st.repeated == (row->want == REPEATED) &&
			       f.st.no_record == (row->want == NO_RECORD),
		       "%s_verdict", row->name);
		expect(f.v.queue_bytes == (ignored ? 0 : 77) &&
			       f.v.recorded_ns == (ignored ? START_NS : f.s.now_ns) &&
			       (ignored || f.v.hop == HOP),
		       "%s_kept", row->name);
	}
}

/* The window after an ACK, and the changes of the reference and the stage. */
TEST(ack)
{
	static const struct {
		const char *name;
		u32 percent;
		u8 stage;
		bool finishes, app_limited;
		u64 want_window, want_reference;
		u8 want_stage;
	} cases[] = {
		/* 20000 * 0.75 / 1.5 + 25 */
		{ "above_eta", 150, 2, false, false, 10025, 20000, 2 },
		{ "above_eta_round", 150, 2, true, false, 10025, 10025, 0 },
		{ "at_eta", 75, 2, false, false, 20025, 20000, 2 },
		{ "at_eta_round", 75, 2, true, false, 20025, 20025, 0 },
		{ "below_eta", 74, 0, false, false, 20025, 20000, 0 },
		{ "below_eta_round", 74, 0, true, false, 20025, 20025, 1 },
		{ "last_additive_round", 50, 4, true, false, 20025, 20025, 5 },
		/* 20000 * 0.75 / 0.5 + 25 */
		{ "max_stage", 50, 5, false, false, 30025, 20000, 5 },
		{ "max_stage_round", 50, 5, true, false, 30025, 30025, 0 },
		{ "idle_link", 0, 5, true, false, LINE_BYTES, LINE_BYTES, 0 },
		{ "app_limited", 50, 5, false, true, 20000, 20000, 5 },
		{ "app_limited_round", 50, 5, true, true, 20000, 20000, 5 },
		{ "app_limited_above_eta", 150, 2, true, true, 10025, 10025, 0 },
		/* 20000 * 0.75 / 200 + 25 */
		{ "queue_of_200", 20000, 2, false, false, 100, 20000, 2 },
	};
	struct fixture f;

	for_each_row(row, cases) {
		u64 want = q16(row->want_reference);

		fixture_start(&f);
		f.v.stage = row->stage;
		f.v.round_bytes = row->finishes ? 0 : 20000;
		f.s.flags = row->app_limited ? QUELL_S_APP_LIMITED : 0;
		fixture_util(&f, row->percent);
		expect_eq(q16(row->want_window), f.out.window_q16, "%s_window", row->name);
		expect_eq(want, f.v.window_q16, "%s_reference", row->name);
		expect_eq(row->want_stage, f.v.stage, "%s_stage", row->name);
		expect(f.st.increases == (want > q16(20000)) &&
			       f.st.decreases == (want < q16(20000)) && !f.st.blind &&
			       f.st.app_limited ==
				       (row->finishes && row->app_limited && want == q16(20000)),
		       "%s_verdict", row->name);
		expect_eq(row->want_window * 1000000000 / RTT_NS, f.out.pacing_bytes_ps,
			  "%s_pacing", row->name);
	}
}

/* Two ACKs of one round trip start from the same reference. */
TEST(reference_cases)
{
	struct fixture f;

	fixture_init(&f, true);
	f.s.inflight_bytes = LINE_BYTES;
	fixture_ack(&f);
	expect(f.out.window_q16 == q16(LINE_BYTES) && f.st.stored == 1 && !f.st.blind &&
		       f.v.round_bytes == LINE_BYTES - MSS,
	       "first_only_stores");
	fixture_util(&f, 150);
	fixture_util(&f, 150);
	/* 47000 / 2 + 25 */
	expect(f.out.window_q16 == q16(23525) && f.v.window_q16 == q16(LINE_BYTES),
	       "both_from_the_reference");
	f.s.acked_bytes = LINE_BYTES - 3 * MSS;
	fixture_util(&f, 150);
	expect(f.v.window_q16 == q16(LINE_BYTES) && !f.v.round_bytes, "last_of_the_round_trip");
	f.s.acked_bytes = 1;
	fixture_util(&f, 150);
	expect(f.v.window_q16 == q16(23525) && f.st.decreases == 1 &&
		       f.v.round_bytes == LINE_BYTES - 1,
	       "first_beyond_commits");
	f.v.round_bytes = 0;
	f.s.acked_bytes = LINE_BYTES + 1;
	fixture_util(&f, 150);
	expect_eq(0, f.v.round_bytes, "more_acked_than_in_flight");
}

/* ACKs without a usable record between others. */
TEST(unmeasured)
{
	struct fixture f;

	fixture_start(&f);
	fixture_util(&f, 150);
	f.s.telemetry.hop = 0;
	fixture_ack(&f);
	expect_eq(q16(10025), f.out.window_q16, "lower_window_stays");
	f.s.telemetry.hop = HOP;
	fixture_util(&f, 50);
	expect_eq(q16(20025), f.out.window_q16, "rises_with_a_record");
	f.s.telemetry.hop = 0;
	fixture_ack(&f);
	expect_eq(q16(20000), f.out.window_q16, "does_not_rise");
	f.v.round_bytes = 0;
	fixture_ack(&f);
	expect(f.v.window_q16 == q16(20025) && f.out.window_q16 == q16(20025) && f.v.stage == 1 &&
		       !f.st.blind,
	       "round_trip_measured_before");
	f.v.round_bytes = 0;
	fixture_ack(&f);
	expect(f.v.window_q16 == q16(20050) && f.st.blind == 1 && !(f.v.flags & QUELL_HPCC_F_UTIL),
	       "one_step");
	f.p.ai_bytes_ps = LINK_BYTES_PS;
	f.v.round_bytes = 0;
	fixture_ack(&f);
	expect_eq(q16(21050), f.v.window_q16, "one_segment_at_most");
	f.v.round_bytes = 0;
	f.s.flags = QUELL_S_APP_LIMITED;
	fixture_ack(&f);
	expect(f.v.window_q16 == q16(21050) && f.st.app_limited == 1 && f.st.blind == 3,
	       "not_without_data");
}

/* Records that never come, stop coming, or start to come late. */
TEST(without_records)
{
	struct fixture f;

	fixture_init(&f, true);
	f.s.telemetry.hop = 0;
	fixture_ack(&f);
	expect(f.out.window_q16 == q16(10 * MSS) && f.st.lost == 1 &&
		       f.out.pacing_bytes_ps == QUELL_RATE_UNLIMITED,
	       "never_had_any");
	f.v.round_bytes = 0;
	fixture_ack(&f);
	expect(f.out.window_q16 == q16(11 * MSS) && f.st.lost == 1 && f.st.blind == 1,
	       "reno_adds_a_segment");
	f.s.inflight_bytes = 11 * MSS;
	quell_hpcc_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(q16(5500), f.out.window_q16, "reno_halves");
	quell_hpcc_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.window_q16 == q16(MSS) && f.st.rto_resets == 1, "reno_one_segment");
	f.s.telemetry.hop = HOP;
	fixture_ack(&f);
	expect((f.v.flags & QUELL_HPCC_F_TELEMETRY) && f.st.stored == 1 &&
		       f.out.pacing_bytes_ps == 250000000,
	       "comes_at_last");

	fixture_start(&f);
	fixture_util(&f, 150);
	f.s.telemetry.hop = 0;
	f.s.now_ns += 8000000;
	fixture_ack(&f);
	expect(!f.st.lost && f.v.hop == HOP, "too_early");
	f.s.now_ns++;
	fixture_ack(&f);
	expect(f.st.lost == 1 && !f.v.hop && f.v.util_q24 == ONE_Q24 &&
		       f.v.window_q16 == q16(10025) && f.out.window_q16 == q16(10025) &&
		       f.out.pacing_bytes_ps == QUELL_RATE_UNLIMITED,
	       "keeps_the_lower_window");
	fixture_init(&f, false);
	f.s.telemetry.hop = 0;
	fixture_ack(&f);
	expect(!f.st.lost && f.st.no_record == 1, "expected_none");
}

TEST(limits)
{
	struct fixture f;

	fixture_start(&f);
	f.v.window_q16 = q16(1000);
	fixture_util(&f, 20000);
	/* 1000 * 0.75 / 200 + 25 = 28.75 */
	expect(f.out.window_q16 == q16(LEAST_BYTES) && f.out.pacing_bytes_ps == 12500000,
	       "smallest_rate");
	f.p.min_rate_bytes_ps = 1000;
	f.p.ai_bytes_ps = 1000;
	f.s.min_rtt_ns = 1;
	f.v.window_q16 = 1;
	fixture_util(&f, 20000);
	expect(f.out.window_q16 == 1 && f.out.pacing_bytes_ps == 1, "never_nothing");
	fixture_start(&f);
	f.p.min_rate_bytes_ps = QUELL_HPCC_MIN_RATE_BYTES_PS_MAX;
	f.s.link_bytes_ps = 1000000;
	fixture_util(&f, 150);
	/* two segments are below 1.25 bytes/ns * 4 us */
	expect_eq(q16(2 * MSS), f.out.window_q16, "slow_link");
	fixture_start(&f);
	f.s.link_bytes_ps = 0;
	f.p.max_window_bytes = 65536;
	f.v.window_q16 = q16(70000);
	fixture_util(&f, 50);
	expect(f.out.window_q16 == q16(65536) && f.v.window_q16 == q16(65536), "largest_window");
	fixture_start(&f);
	f.p.base_rtt_ns = 2 * RTT_NS;
	fixture_util(&f, 50);
	/* 2 * 25 bytes, per 8 us */
	expect(f.out.window_q16 == q16(20050) && f.out.pacing_bytes_ps == 2506250000, "parameter");
	f.s.mss_bytes = 0;
	f.s.min_rtt_ns = QUELL_U64_MAX;
	fixture_util(&f, 50);
	expect(f.v.mss_bytes == MSS && f.v.min_rtt_ns == 0xffffffff, "kept");
	f.s.mss_bytes = 2 * MSS;
	fixture_util(&f, 50);
	expect_eq(2 * MSS, f.v.mss_bytes, "new_segment_size");
}

/* VAI/SF III-D: disregarded if the reference is below rand() % 47000, once per round trip. */
TEST(probabilistic)
{
	static const struct {
		const char *name;
		u64 reference, link_bytes_ps;
		u32 percent;
		bool on;
		u32 want_least, want_most;	/* disregarded of 1000 */
	} cases[] = {
		{ "off", 1000, LINK_BYTES_PS, 100, false, 0, 0 },
		{ "at_largest", 47000, LINK_BYTES_PS, 100, true, 0, 0 },
		/* five deviations of 16 and 14 */
		{ "at_half", 23500, LINK_BYTES_PS, 100, true, 421, 579 },
		{ "at_a_quarter", 11750, LINK_BYTES_PS, 100, true, 681, 819 },
		{ "small", 1000, LINK_BYTES_PS, 100, true, 955, 1000 },
		{ "increase", 11750, LINK_BYTES_PS, 50, true, 0, 0 },
		{ "no_link", 11750, 0, 100, true, 0, 0 },
	};
	struct fixture f;
	u32 n;

	for_each_row(row, cases) {
		u32 disregarded = 0;
		bool rule = true;

		for (n = 0; n < 1000; n++) {
			double limit;
			bool out;

			fixture_start(&f);
			f.p.probabilistic = row->on;
			f.s.now_ns += 1000 * n;
			f.s.link_bytes_ps = row->link_bytes_ps;
			f.v.window_q16 = q16(row->reference);
			f.v.round_bytes = 0;
			f.v.stage = 2;
			fixture_util(&f, row->percent);
			limit = quell_draw_u32(f.s.now_ns, q16(row->reference)) * 0x1p-32 *
				LINE_BYTES;
			out = row->want_most && row->reference < limit;
			disregarded += f.st.disregarded;
			rule = rule && f.st.disregarded == out &&
			       f.st.decreases == (!out && row->percent == 100) && f.v.round_bytes &&
			       f.out.window_q16 == f.v.window_q16 &&
			       (!out || (f.v.stage == 2 && f.v.window_q16 == q16(row->reference)));
		}
		expect(rule && disregarded >= row->want_least && disregarded <= row->want_most,
		       "%s", row->name);
	}
	/* The next ACK of the round trip lowers the window, not the reference. */
	fixture_start(&f);
	f.p.probabilistic = 1;
	f.v.window_q16 = q16(200);
	f.v.round_bytes = 0;
	fixture_util(&f, 100);
	expect(f.st.disregarded == 1 && f.out.window_q16 == q16(200), "window_is_the_reference");
	fixture_util(&f, 100);
	expect(f.st.disregarded == 1 && f.v.window_q16 == q16(200) && f.out.window_q16 == q16(175),
	       "once_per_round_trip");
}

TEST_HARNESS_MAIN
