// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC: losses, timeouts and restarts, by tables of cases.  The expected numbers were derived
 * by hand from the equations, not from the code.
 */
#include "hpcc_flow_fixture.h"
#include "test.h"

TEST(loss)
{
	struct fixture f;

	fixture_start(&f);
	f.v.stage = 3;
	fixture_util(&f, 150);
	f.v.rtos = 1;
	quell_hpcc_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	/* half of 10025, not of 20000 */
	expect(f.v.window_q16 == q16(10025) / 2 && f.out.window_q16 == q16(10025) / 2 &&
		       f.st.fast_retx == 1 && !f.v.stage && !f.v.rtos && f.v.hop == HOP,
	       "half_of_the_window");
	expect(f.v.round_bytes == 20000 && (f.v.flags & QUELL_HPCC_F_ROUND), "begins_a_round_trip");
	fixture_util(&f, 150);
	f.v.round_bytes = 0;
	fixture_util(&f, 50);
	expect(f.v.flags & QUELL_HPCC_F_LOSS, "loss_kept_in_congestion");
	f.v.round_bytes = 0;
	f.s.telemetry.hop = 0;
	fixture_ack(&f);
	expect(f.v.flags & QUELL_HPCC_F_LOSS, "loss_kept_without_records");
	f.v.round_bytes = 0;
	f.s.telemetry.hop = HOP;
	fixture_util(&f, 50);
	expect(!(f.v.flags & QUELL_HPCC_F_LOSS), "loss_is_past");
}

TEST(rto)
{
	struct fixture f;
	int i;

	fixture_start(&f);
	quell_hpcc_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.window_q16 == q16(10000) && f.v.rtos == 1 && f.st.rtos == 1 &&
		       !f.v.round_bytes && !(f.v.flags & QUELL_HPCC_F_ROUND) &&
		       (f.v.flags & QUELL_HPCC_F_LOSS),
	       "half");
	for (i = 2; i < 5; i++)
		quell_hpcc_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.window_q16 == q16(1250) && !f.st.rto_resets, "fourth");
	quell_hpcc_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.window_q16 == q16(LEAST_BYTES) && f.st.rto_resets == 1, "fifth_resets");
	f.v.rtos = 0xff;
	quell_hpcc_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(0xff, f.v.rtos, "saturates");
	fixture_util(&f, 50);
	expect_eq(0, f.v.rtos, "ends_row_of_timeouts");
	fixture_init(&f, true);
	quell_hpcc_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.window_q16 == q16(LEAST_BYTES) && f.st.rto_resets == 1, "without_a_record");
}

TEST(idle)
{
	static const struct {
		const char *name;
		u64 restart_idle_ns, idle_ns;
		u8 flags;
		u64 want_window, want_refused;
		bool want_restart;
	} cases[] = {
		{ "long_enough", 1000000, 1000000, QUELL_HPCC_F_TELEMETRY, LINE_BYTES, 0, true },
		{ "too_short", 1000000, 999999, QUELL_HPCC_F_TELEMETRY, 20000, 0, false },
		{ "switched_off", 0, 1000000000, QUELL_HPCC_F_TELEMETRY, 20000, 0, false },
		{ "after_loss", 1000000, 1000000, QUELL_HPCC_F_TELEMETRY | QUELL_HPCC_F_LOSS,
		  20000, 1, true },
		/* Reno's ten segments */
		{ "without_records", 1000000, 1000000, 0, 10000, 0, true },
	};
	struct fixture f;

	for_each_row(row, cases) {
		bool restart = row->want_restart;

		fixture_start(&f);
		f.v.flags = row->flags | QUELL_HPCC_F_ROUND;
		f.v.stage = 3;
		f.p.restart_idle_ns = row->restart_idle_ns;
		f.s.idle_ns = row->idle_ns;
		quell_hpcc_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
		expect(f.out.window_q16 == q16(row->want_window) &&
			       f.v.window_q16 == f.out.window_q16 && f.st.restarts == restart &&
			       f.st.restarts_refused == row->want_refused,
		       "%s", row->name);
		expect((f.v.hop == 0) == restart && (f.v.stage == 0) == restart &&
			       (f.v.round_bytes == 0) == restart &&
			       !(f.v.flags & QUELL_HPCC_F_ROUND) == restart,
		       "%s_forgets", row->name);
	}
}

TEST_HARNESS_MAIN
