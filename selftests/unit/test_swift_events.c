// SPDX-License-Identifier: GPL-2.0
/*
 * Swift: losses, timeouts, restarts and flows without a delay signal, by tables of cases.  The
 * expected numbers were derived by hand from the papers' equations, not from the code.
 */
#include "swift_fixture.h"
#include "test.h"

TEST(loss_cases)
{
	const u64 least_q16 = QUELL_SWIFT_MIN_WINDOW_PKTS_Q16_MIN * MSS;
	static const struct {
		const char *name;
		u64 max_mdf_q16, want_q16;
		bool blind;
	} rows[] = {
		{ "half", 32768, 50 * MSS_Q16, false },
		{ "quarter", 16384, 75 * MSS_Q16, false },
		{ "blind_at_least_half", 16384, 50 * MSS_Q16, true },
		{ "blind_more_than_half", 49152, 25 * MSS_Q16, true },
		{ "out_of_range_is_all", 1 << 20, 0, false },
	};
	struct fixture f;

	for_each_row(row, rows) {
		if (row->blind)
			fixture_start_blind(&f, 100);
		else
			fixture_start(&f, 100);
		f.p.max_mdf_q16 = row->max_mdf_q16;
		f.p.min_window_pkts_q16 = QUELL_SWIFT_MIN_WINDOW_PKTS_Q16_MIN;
		f.v.rtos = 3;
		fixture_loss(&f, START_NS);
		expect(f.out.window_q16 == quell_max_u64(row->want_q16, least_q16) &&
			       f.st.fast_retx == 1 && !f.v.rtos,
		       "%s", row->name);
	}
	fixture_start(&f, 100);
	fixture_ack(&f, START_NS, 40000);
	fixture_loss(&f, START_NS + 39999);
	expect(f.out.window_q16 == 50 * MSS_Q16 && !f.st.fast_retx &&
		       f.v.flags & QUELL_SWIFT_F_LOSS,
	       "held");
	fixture_loss(&f, START_NS + 40000);
	expect(f.out.window_q16 == 25 * MSS_Q16 && f.st.fast_retx == 1, "a_round_trip_later");
	fixture_start_blind(&f, 100);
	fixture_loss(&f, START_NS);
	fixture_loss(&f, START_NS);
	expect_eq(25 * MSS_Q16, f.out.window_q16, "blind_is_never_held");
}

TEST(loss_is_forgotten)
{
	static const struct {
		const char *name;
		u64 later_ns, rtt_ns;
		bool forgotten;
	} rows[] = {
		{ "clean_round_trip", 4300, 4300, true },
		{ "too_early", 4299, 4300, false },
		{ "without_rtt", 100000, 0, false },
		{ "congested", 100000, 20000, false },
	};
	struct fixture f;

	for_each_row(row, rows) {
		fixture_start(&f, 100);
		fixture_loss(&f, START_NS);
		fixture_ack(&f, START_NS + row->later_ns, row->rtt_ns);
		expect(!(f.v.flags & QUELL_SWIFT_F_LOSS) == row->forgotten, "loss_then_%s",
		       row->name);
	}
}

TEST(rto)
{
	struct fixture f;
	int i;

	fixture_start(&f, 100);
	fixture_rto(&f, START_NS);
	expect(f.out.window_q16 == 50 * MSS_Q16 && f.v.rtos == 1 && f.st.rtos == 1 &&
		       f.v.flags & QUELL_SWIFT_F_LOSS,
	       "first_cuts");
	fixture_rto(&f, START_NS + 4299);
	expect(f.out.window_q16 == 50 * MSS_Q16 && f.v.rtos == 2, "within_a_round_trip_holds");
	fixture_rto(&f, START_NS + 4300);
	expect(f.out.window_q16 == 25 * MSS_Q16 && f.v.rtos == 3, "a_round_trip_later_cuts");
	fixture_rto(&f, START_NS + 4300);
	expect(f.v.rtos == 4 && !f.st.rto_resets, "fourth_no_reset");
	fixture_rto(&f, START_NS + 4300);
	/* 656 / 65536 of 1448 bytes */
	expect(f.out.window_q16 == 656 * MSS && f.st.rto_resets == 1, "fifth_resets");
	fixture_ack(&f, START_NS + 4300, 0);
	expect(!f.v.rtos, "ends_the_row_of_timeouts");

	fixture_start(&f, 100);
	f.v.rtos = 0xffff;
	f.p.retx_reset_rtos = 0x10000;
	fixture_rto(&f, START_NS);
	expect(f.v.rtos == 0xffff && !f.st.rto_resets, "count_stops_at_its_largest");

	fixture_start_blind(&f, 100);
	fixture_rto(&f, START_NS);
	expect(f.out.window_q16 == MSS_Q16 && f.st.rto_resets == 1 &&
		       f.out.pacing_bytes_ps == QUELL_RATE_UNLIMITED,
	       "blind_falls_to_one_segment");
	for (i = 0; i < 10; i++)
		fixture_rto(&f, START_NS);
	expect_eq(MSS_Q16, f.out.window_q16, "blind_never_below_one_segment");
}

TEST(idle)
{
	/* The initial window is 36 segments, blind ten. */
	static const struct {
		const char *name;
		u64 restart_ns, idle_ns, window_pkts, want_pkts;
		u64 restarts, refused;
		bool loss, blind;
	} rows[] = {
		{ "too_short", 1000000, 999999, 5, 5, 0, 0, false, false },
		{ "raises", 1000000, 1000000, 5, 36, 1, 0, false, false },
		{ "lowers", 1000000, 1000000, 500, 36, 1, 0, false, false },
		{ "never", 0, QUELL_U64_MAX, 5, 5, 0, 0, false, false },
		{ "after_loss_stays", 1000000, 1000000, 5, 5, 1, 1, true, false },
		{ "after_loss_lowers", 1000000, 1000000, 500, 36, 1, 0, true, false },
		{ "blind_stays", 1000000, 1000000, 5, 5, 1, 1, false, true },
		{ "blind_lowers", 1000000, 1000000, 500, 10, 1, 0, false, true },
	};
	struct fixture f;

	for_each_row(row, rows) {
		if (row->blind)
			fixture_start_blind(&f, row->window_pkts);
		else
			fixture_start(&f, row->window_pkts);
		f.p.restart_idle_ns = row->restart_ns;
		f.v.flags = row->loss ? QUELL_SWIFT_F_LOSS : 0;
		fixture_idle(&f, row->idle_ns);
		expect(f.out.window_q16 == row->want_pkts * MSS_Q16 &&
			       f.st.restarts == row->restarts &&
			       f.st.restarts_refused == row->refused,
		       "%s", row->name);
	}
}

/* Without any signal a window's worth of ACKs adds at most one segment. */
TEST(blind_is_reno)
{
	bool gentle = true;
	struct fixture f;
	int round;

	fixture_start_blind(&f, 4);
	for (round = 0; round < 1000; round++) {
		u64 before_q16 = f.v.window_q16;
		u64 acked_bytes = 0;

		while ((acked_bytes + MSS) << 16 <= before_q16) {
			fixture_ack(&f, START_NS, 0);
			acked_bytes += MSS;
		}
		gentle = gentle && f.v.window_q16 <= before_q16 + MSS_Q16;
	}
	expect(gentle, "blind_adds_at_most_one_segment");
	expect(f.v.window_q16 > 900 * MSS_Q16, "blind_does_grow");
	expect_eq(f.st.increases, f.st.no_rtt, "blind_counted");
}

TEST_HARNESS_MAIN
