// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of <quell/core/dcqcn/react.h>, by tables of cases.  The expected numbers
 * were derived by hand from the paper's equations, not from the code.
 */
#include "dcqcn_fixture.h"
#include "test.h"

#define ONE		QUELL_DCQCN_ALPHA_ONE
#define GBYTE		1000000000ULL

TEST(init)
{
	static const struct {
		const char *name;
		bool ecn;
		u64 link_bytes_ps, min_rtt_ns, want_rate, want_window;
		u32 mss_bytes;
	} cases[] = {
		/* 12.5 bytes/ns for 4300 + 100000 ns */
		{ "line_rate", true, LINK_BYTES_PS, RTT_NS, LINK_BYTES_PS, 1303750, MSS },
		/* ten segments per round trip; 14480 * 104300 / 4300 */
		{ "no_link", true, 0, 4300, 3367441860, 351224, MSS },
		{ "no_rtt", true, LINK_BYTES_PS, 0, LINK_BYTES_PS, 14480, MSS },
		/* ten segments per millisecond */
		{ "nothing", true, 0, 0, 14480000, 14480, MSS },
		{ "no_mss", true, LINK_BYTES_PS, 0, LINK_BYTES_PS, 10, 0 },
		{ "most", true, QUELL_U64_MAX, QUELL_U64_MAX, 1ULL << 37, 1 << 24, MSS },
		{ "slow_link", true, 1000000, RTT_NS, 1000000, MSS, MSS },
		{ "no_ecn", false, LINK_BYTES_PS, RTT_NS, QUELL_RATE_UNLIMITED, 14480, MSS },
	};
	struct fixture f;

	for_each_row(row, cases) {
		memset(&f, 0xff, sizeof(f));
		quell_core_params_default(&quell_dcqcn_core, &f.p);
		quell_dcqcn_init(&f.v, &f.p,
				 &(struct quell_sample){
					 .now_ns = START_NS,
					 .min_rtt_ns = row->min_rtt_ns,
					 .link_bytes_ps = row->link_bytes_ps,
					 .mss_bytes = row->mss_bytes,
					 .flags = row->ecn ? QUELL_S_ECN : 0,
				 },
				 &f.out);
		expect_eq(row->want_rate, f.out.pacing_bytes_ps, "%s_rate", row->name);
		expect_eq(row->want_window, f.out.window_q16 >> 16, "%s_window", row->name);
	}
	expect(f.v.alpha_q30 == ONE && f.v.since_ns == START_NS && !f.v.flags && !f.v.decays &&
		       !f.v.timer_steps && !f.v.byte_steps && !f.v.counted_bytes &&
		       !f.out.target_ns && !f.out.change_path,
	       "sets_all");
}

/* Equation 1: RT = RC, RC = RC (1 - alpha / 2), alpha = (1 - g) alpha + g. */
/* A rate measured on the path is no overload. */
TEST(init_fitted)
{
	struct fixture f;

	fixture_start(&f);
	quell_dcqcn_init(&f.v, &f.p, &(struct quell_sample) {
			.now_ns = START_NS, .min_rtt_ns = RTT_NS, .link_bytes_ps = LINK_BYTES_PS,
			.mss_bytes = MSS, .flags = QUELL_S_ECN | QUELL_S_FITTED,
		}, &f.out);
	fixture_ack(&f, 0, MSS);
	expect_eq(LINK_BYTES_PS / 8 * 7, f.v.rate_q16 >> 16, "fitted_gives_an_eighth_at_first");
}

TEST(notification)
{
	static const struct {
		const char *name;
		u64 alpha_q30, want_rate, want_alpha_q30;
	} cases[] = {
		{ "alpha_one", ONE, 4 * GBYTE, ONE },
		{ "alpha_half", ONE / 2, 6 * GBYTE, ONE / 2 / 256 * 255 + ONE / 256 },
		{ "alpha_zero", 0, 8 * GBYTE, ONE / 256 },
	};
	struct fixture f;

	for_each_row(row, cases) {
		fixture_start(&f);
		fixture_set(&f, 8 * GBYTE, 10 * GBYTE, row->alpha_q30);
		fixture_ack(&f, 1000, MSS);
		expect_eq(row->want_rate << 16, f.v.rate_q16, "%s_rate", row->name);
		expect_eq(8 * GBYTE << 16, f.v.target_q16, "%s_target", row->name);
		expect_eq(row->want_alpha_q30, f.v.alpha_q30, "%s_alpha", row->name);
	}
	expect(f.v.since_ns == START_NS + 1000 && !f.v.counted_bytes && f.st.notifications == 1 &&
		       f.st.marked_bytes == MSS,
	       "starts_over");
}

/* At most one notification per 50 us; the first mark of a flow is one. */
TEST(notify_interval)
{
	struct fixture f;

	fixture_start(&f);
	f.p.timer_ns = GBYTE;
	fixture_ack(&f, 0, MSS);
	expect_eq(LINK_BYTES_PS / 2, f.v.rate_q16 >> 16, "first_at_once");
	fixture_ack(&f, 49999, MSS);
	expect_eq(LINK_BYTES_PS / 2, f.v.rate_q16 >> 16, "within_the_interval");
	expect(f.st.held == 1 && f.st.marked_bytes == 2 * MSS, "held_is_counted");
	fixture_ack(&f, 50000, MSS);
	expect_eq(LINK_BYTES_PS / 4, f.v.rate_q16 >> 16, "after_the_interval");
	expect_eq(2, f.st.notifications, "counted");
}

/* Equation 2, once per 55 us: 255/256, squared, and so on. */
TEST(decay)
{
	static const struct {
		const char *name;
		u64 after_ns, want_alpha_q30;
	} cases[] = {
		{ "too_early", 54999, ONE },
		{ "once", 55000, ONE / 256 * 255 },
		{ "not_twice", 109999, ONE / 256 * 255 },
		{ "twice", 110000, ONE / 65536 * 65025 },
		/* (255/256)^256 = 0.36716 of 2^30, less rounding */
		{ "256_times", 14080000, 394234784 },
		{ "for_ever", 1ULL << 62, 0 },
	};
	struct fixture f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fixture_start(&f);
		fixture_ack(&f, cases[i].after_ns, 0);
		expect(f.v.alpha_q30 <= cases[i].want_alpha_q30 + 20 &&
			       f.v.alpha_q30 + 150 >= cases[i].want_alpha_q30,
		       "%s", cases[i].name);
		if (i == 1)
			fixture_ack(&f, 55001, 0);
		if (i == 1) {
			expect_eq(ONE / 256 * 255, f.v.alpha_q30, "no_period_twice");
		}
	}
	fixture_start(&f);
	f.s.now_ns = 0;
	quell_dcqcn_on_ack(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.v.alpha_q30 == ONE && !f.v.timer_steps, "clock_behind");
}

/* The parameter rises between the look whether the timer is due and the decay. */
TEST(decay_of_a_longer_timer)
{
	struct fixture f;

	fixture_start(&f);
	fixture_ack(&f, 110000, 0);
	f.p.alpha_timer_ns = 1000000;
	quell_dcqcn_decay_often(&f.v, &f.p, 165000);
	expect(f.v.alpha_q30 + 150 >= ONE / 65536 * 65025 && f.v.decays == 2, "longer_timer (%llu)",
	       (unsigned long long)f.v.alpha_q30);
}

TEST(powers)
{
	expect_eq(1ULL << 32, quell_dcqcn_pow_q32(1ULL << 31, 0), "nothing");
	expect_eq(1ULL << 27, quell_dcqcn_pow_q32(1ULL << 31, 5), "half_to_the_fifth");
	expect_eq(0, quell_dcqcn_pow_q32(0, 3), "zero");
}

/*
 * F = 5: four steps toward the target, then the target grows by ai; with both
 * counters beyond F by hai.
 */
TEST(increase)
{
	static const struct {
		const char *name;
		u32 timer_steps, byte_steps;
		u64 want_target_growth;
	} cases[] = {
		{ "fast_recovery_first", 1, 0, 0 },
		{ "fast_recovery_last", 4, 4, 0 },
		{ "additive_by_timer", 5, 0, 5000000 },
		{ "additive_by_bytes", 0, 5, 5000000 },
		{ "additive_one_beyond", 100, 5, 5000000 },
		{ "additive_other_beyond", 5, 100, 5000000 },
		{ "hyper", 6, 6, 50000000 },
	};
	struct fixture f;

	for_each_row(row, cases) {
		fixture_start(&f);
		fixture_set(&f, 4 * GBYTE, 8 * GBYTE, ONE);
		f.v.timer_steps = row->timer_steps;
		f.v.byte_steps = row->byte_steps;
		quell_dcqcn_increase(&f.v, &f.p, &f.st, LINK_BYTES_PS << QUELL_Q16_SHIFT);
		expect_eq((8 * GBYTE + row->want_target_growth) << 16, f.v.target_q16, "%s_target",
			  row->name);
		expect_eq((6 * GBYTE + row->want_target_growth / 2) << 16, f.v.rate_q16, "%s_rate",
			  row->name);
	}
	expect_eq(1, f.st.hyper_increases, "counted");
	fixture_start(&f);
	f.v.timer_steps = 5;
	quell_dcqcn_increase(&f.v, &f.p, &f.st, LINK_BYTES_PS << QUELL_Q16_SHIFT);
	expect_eq(LINK_BYTES_PS << 16, f.v.target_q16, "line_rate_is_the_most");
}

TEST(timer)
{
	struct fixture f;

	fixture_start(&f);
	fixture_set(&f, 4 * GBYTE, 8 * GBYTE, 0);
	fixture_ack(&f, 54999, 0);
	expect_eq(4 * GBYTE << 16, f.v.rate_q16, "too_early");
	fixture_ack(&f, 55000, 0);
	expect_eq(6 * GBYTE << 16, f.v.rate_q16, "once");
	fixture_ack(&f, 165000, 0);
	expect_eq(7500000000ULL << 16, f.v.rate_q16, "made_up_for");
	expect_eq(3, f.st.fast_recoveries, "counted");
	fixture_ack(&f, 55000 * 100, 0);
	expect(f.v.timer_steps == 100 && f.st.forgone == 97 - 64, "bounded");
}

/* Each timer expires by its own period. */
TEST(timers_apart)
{
	struct fixture f;

	fixture_start(&f);
	f.p.alpha_timer_ns = 110000;
	fixture_set(&f, 4 * GBYTE, 8 * GBYTE, ONE);
	fixture_ack(&f, 55000, 0);
	expect(f.v.rate_q16 == 6 * GBYTE << 16 && f.v.alpha_q30 == ONE, "increase_alone");
	fixture_start(&f);
	f.p.timer_ns = 110000;
	fixture_set(&f, 4 * GBYTE, 8 * GBYTE, ONE);
	fixture_ack(&f, 55000, 0);
	expect(f.v.rate_q16 == 4 * GBYTE << 16 && f.v.alpha_q30 < ONE, "decay_alone");
}

TEST(byte_counter)
{
	struct fixture f;

	fixture_start(&f);
	fixture_set(&f, 4 * GBYTE, 8 * GBYTE, 0);
	f.s.acked_bytes = 9999999;
	fixture_ack(&f, 0, 0);
	expect_eq(4 * GBYTE << 16, f.v.rate_q16, "too_few");
	f.s.acked_bytes = 3;
	fixture_ack(&f, 0, 0);
	expect(f.v.rate_q16 == 6 * GBYTE << 16 && f.v.byte_steps == 1 && f.v.counted_bytes == 2,
	       "once");
	f.p.byte_counter_bytes = 10000;
	f.s.acked_bytes = 1000007;
	fixture_ack(&f, 0, 0);
	expect(f.v.byte_steps == 65 && f.v.counted_bytes == 9, "bounded");
	f.v.byte_steps = 0xffffffff;
	fixture_ack(&f, 0, 0);
	expect_eq(0xffffffff, f.v.byte_steps, "saturates");
	fixture_ack(&f, 1ULL << 62, 0);
	expect_eq(0xffffffff, f.v.timer_steps, "saturates");
}

TEST(limits)
{
	struct fixture f;

	fixture_start(&f);
	fixture_set(&f, 1300000, 1300000, ONE);
	fixture_ack(&f, 0, MSS);
	expect_eq(1250000, f.out.pacing_bytes_ps, "least");
	expect_eq(MSS, f.out.window_q16 >> 16, "one_segment");
	f.p.min_rate_bytes_ps = 1000;
	fixture_set(&f, 0, 0, 0);
	fixture_ack(&f, 0, 0);
	expect_eq(1000, f.out.pacing_bytes_ps, "smallest_least");
	f.s.link_bytes_ps = 500;
	fixture_ack(&f, 0, 0);
	expect_eq(500, f.out.pacing_bytes_ps, "link_below_least");
	f.p.queue_bound_ns = GBYTE;
	f.s.link_bytes_ps = LINK_BYTES_PS;
	fixture_set(&f, LINK_BYTES_PS, LINK_BYTES_PS, 0);
	fixture_ack(&f, 0, 0);
	expect_eq(1 << 24, f.out.window_q16 >> 16, "largest_window");
	f.s.mss_bytes = 0;
	f.s.min_rtt_ns = 5000;
	fixture_ack(&f, 0, 0);
	expect(f.v.mss_bytes == MSS && f.v.min_rtt_ns == 5000, "kept");
	f.s.mss_bytes = 2 * MSS;
	fixture_ack(&f, 0, 0);
	expect_eq(2 * MSS, f.v.mss_bytes, "new_segment_size");
	fixture_set(&f, LINK_BYTES_PS, 0, 0);
	fixture_ack(&f, 0, 0);
	expect(f.v.rate_q16 >> 16 == LINK_BYTES_PS && f.v.target_q16 >> 16 == 1000, "target_alone");
}

/* Half the bytes in flight, half the rate, and recovery only as in Reno. */
TEST(loss)
{
	struct fixture f;

	fixture_start(&f);
	f.s.inflight_bytes = 100 * MSS;
	quell_dcqcn_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.window_q16 >> 16 == 50 * MSS && f.st.losses == 1, "half_of_the_flight");
	expect(f.v.rate_q16 >> 16 == LINK_BYTES_PS / 2 && f.v.target_q16 == f.v.rate_q16,
	       "half_of_the_rate");
	f.s.acked_bytes = 50 * MSS;
	fixture_ack(&f, 1000, 0);
	expect_eq(51 * MSS, f.out.window_q16 >> 16, "one_per_window");
	f.s.flags = QUELL_S_APP_LIMITED;
	fixture_ack(&f, 1000, 0);
	expect_eq(51 * MSS, f.out.window_q16 >> 16, "not_without_data");
	f.s.flags = 0;
	f.s.inflight_bytes = 3 * MSS;
	quell_dcqcn_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(2 * MSS, f.out.window_q16 >> 16, "two_at_least");
	f.s.acked_bytes = 0xffffffff;
	fixture_ack(&f, 1000, 0);
	expect(!(f.v.flags & QUELL_DCQCN_F_LOSS), "loss_is_over");
	quell_dcqcn_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.window_q16 >> 16 == MSS && f.st.rtos == 1, "one_segment");
	quell_dcqcn_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(MSS, f.out.window_q16 >> 16, "never_more");
}

/* Without an echo of marks: Reno, ten segments, no pacing. */
TEST(without_ecn)
{
	struct fixture f;

	fixture_start_ecn(&f, false);
	f.s.acked_bytes = 10 * MSS;
	fixture_ack(&f, 55000 * 50, 0);
	expect(f.out.window_q16 >> 16 == 11 * MSS && f.out.pacing_bytes_ps == QUELL_RATE_UNLIMITED,
	       "no_ecn");
	f.s.inflight_bytes = 11 * MSS;
	quell_dcqcn_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(11 * MSS / 2, f.out.window_q16 >> 16, "no_ecn");
}

TEST(idle)
{
	struct fixture f;

	fixture_start(&f);
	fixture_set(&f, GBYTE, GBYTE, 7);
	f.s.idle_ns = 999999;
	quell_dcqcn_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(GBYTE, f.out.pacing_bytes_ps, "too_early");
	f.p.restart_idle_ns = 0;
	f.s.idle_ns = QUELL_U64_MAX;
	quell_dcqcn_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(GBYTE, f.out.pacing_bytes_ps, "never");
	f.p.restart_idle_ns = 1000000;
	fixture_ack(&f, 0, MSS);
	f.s.idle_ns = 1000000;
	quell_dcqcn_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.pacing_bytes_ps == LINK_BYTES_PS && f.v.alpha_q30 == ONE &&
		       !(f.v.flags & QUELL_DCQCN_F_NOTIFIED) && f.st.restarts == 1,
	       "line_rate");
	quell_dcqcn_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	quell_dcqcn_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(MSS, f.out.window_q16 >> 16, "after_loss");
}

TEST_HARNESS_MAIN
