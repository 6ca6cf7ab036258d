// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of <quell/core/timely/react.h> and <quell/core/timely/rate.h>, by
 * tables of cases.  The expected numbers were derived by hand from the paper's
 * equations, not from the code.
 */
#include <string.h>

#include <quell/core/timely/core.h>

#include "test.h"

#define MSS		1448U
#define LINK_BYTES_PS	1250000000ULL
#define START_NS	1000000ULL
#define HALF_GBIT	62500000ULL
#define DELTA		1250000ULL

/* The first sample of a flow. */
static const struct quell_sample at_start = {
	.now_ns = START_NS, .min_rtt_ns = 20000, .link_bytes_ps = LINK_BYTES_PS, .mss_bytes = MSS,
};

struct fixture {
	struct quell_timely_params p;
	struct quell_timely_vars v;
	struct quell_timely_stats st;
	struct quell_sample s;
	struct quell_decision out;
};

/* A flow of 10 Gbit/s at 500 Mbit/s with a last round trip of @rtt_ns. */
static void fixture_start(struct fixture *f, u32 rtt_ns)
{
	memset(f, 0, sizeof(*f));
	quell_core_params_default(&quell_timely_core, &f->p);
	/* A weight of one half makes averages easy to compute by hand. */
	f->p.alpha_q16 = QUELL_Q16_ONE / 2;
	quell_timely_init(&f->v, &f->p, &at_start, &f->out);
	f->v.rate_q16 = HALF_GBIT << 16;
	f->v.prev_rtt_ns = rtt_ns;
	f->v.last_ns = START_NS;
	f->v.flags |= QUELL_TIMELY_F_PREV;
	f->s.mss_bytes = MSS;
	f->s.link_bytes_ps = LINK_BYTES_PS;
	f->s.now_ns = START_NS;
	f->s.acked_bytes = 16384;
	f->s.inflight_bytes = 100000;
	f->s.flags = QUELL_S_SEGMENT_DONE;
}

/* A segment completed @after_ns after the last. */
static void fixture_complete(struct fixture *f, u64 after_ns, u64 rtt_ns)
{
	f->s.now_ns += after_ns;
	f->s.rtt_ns = rtt_ns;
	quell_timely_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
}

TEST(init)
{
	static const struct {
		const char *name;
		u64 link_bytes_ps, rtt_ns, init_rate, max_rate, want_rate, want_window;
		u32 others, mss_bytes;
	} cases[] = {
		/* 1.25 B/ns * 500 us + 2 * 16384 B */
		{ "alone", LINK_BYTES_PS, 20000, 0, 0, LINK_BYTES_PS, 657768, 0, MSS },
		{ "fifth_flow", LINK_BYTES_PS, 20000, 0, 0, 250000000, 657768, 4, MSS },
		{ "given", LINK_BYTES_PS, 20000, 1000000, 0, 1250000, 657768, 4, MSS },
		{ "given_above_link", LINK_BYTES_PS, 20000, 2 * LINK_BYTES_PS, 0,
		  LINK_BYTES_PS, 657768, 0, MSS },
		{ "max_rate", LINK_BYTES_PS, 20000, 0, 125000000, 125000000, 95268, 0, MSS },
		/* 14480 B / 20 us; the bound is TCP's */
		{ "no_link", 0, 20000, 0, 0, 724000000, 549788581, 3, MSS },
		{ "no_link_max_rate", 0, 20000, 0, 125000000, 125000000, 95268, 3, MSS },
		{ "no_mss", LINK_BYTES_PS, 20000, 0, 0, LINK_BYTES_PS, 657768, 0, 0 },
		{ "blind", 0, 0, 0, 0, QUELL_RATE_UNLIMITED, 14480, 0, MSS },
	};
	struct fixture f;

	for_each_row(row, cases) {
		memset(&f, 0xff, sizeof(f));
		quell_core_params_default(&quell_timely_core, &f.p);
		f.p.init_rate_bytes_ps = row->init_rate;
		f.p.max_rate_bytes_ps = row->max_rate;
		quell_timely_init(&f.v, &f.p,
				  &(struct quell_sample){
					  .now_ns = START_NS,
					  .min_rtt_ns = row->rtt_ns,
					  .link_bytes_ps = row->link_bytes_ps,
					  .mss_bytes = row->mss_bytes,
					  .other_flows = row->others,
				  },
				  &f.out);
		expect_eq(row->want_rate, f.out.pacing_bytes_ps, "%s_rate", row->name);
		expect_eq(row->want_window, f.out.window_q16 >> 16, "%s_window", row->name);
	}
	expect(!f.out.target_ns && !f.out.change_path && !f.v.diff_ns_q16 &&
		       f.v.last_ns == START_NS && !f.v.falling_nr && !f.v.flags &&
		       !f.v.since_bytes && !f.v.sent_bytes && !f.v.allowed_bytes,
	       "sets_all_state");
}

TEST(bound)
{
	struct fixture f;

	fixture_start(&f, 60000);
	f.p.max_outstanding_bytes = 100000;
	fixture_complete(&f, 300000, 60000);
	expect_eq(100000ULL << 16, f.out.window_q16, "given");
	f.p.max_outstanding_bytes = 1;
	fixture_complete(&f, 300000, 60000);
	expect_eq((u64)MSS << 16, f.out.window_q16, "one_packet");
	f.s.mss_bytes = 0;
	fixture_complete(&f, 300000, 60000);
	expect_eq(MSS, f.v.mss_bytes, "no_mss_keeps_it");
}

/* Algorithm 1, one completion more than a minimum round trip after the last. */
TEST(algorithm)
{
	static const struct {
		const char *name;
		u64 prev_ns, rtt_ns, want_rate;
	} cases[] = {
		{ "below_low", 30000, 49999, HALF_GBIT + DELTA },
		{ "below_low_falling", 90000, 49999, HALF_GBIT + DELTA },
		/* 62.5e6 * (1 - 0.8 * (1 - 500 / 1000)); beta is 52429 / 65536 */
		{ "above_high", 1000000, 1000000, 37499904 },
		{ "above_high_falling", 2000000, 1000000, 37499904 },
		{ "just_above_high", 500000, 500001, 62499900 },
		/* 62.5e6 * (1 - 0.8 * 0.5 * 4 us / 20 us) */
		{ "rising", 60000, 64000, 57499980 },
		{ "steady", 60000, 60000, HALF_GBIT + DELTA },
		{ "falling", 64000, 60000, HALF_GBIT + DELTA },
		{ "at_low_rising", 46000, 50000, 57499980 },
		{ "at_high_falling", 510000, 500000, HALF_GBIT + DELTA },
		/* 0.8 * 0.5 * 100 / 20 > 1: the decrease leaves only the smallest rate */
		{ "rising_beyond_all", 60000, 160000, 1250000 },
	};
	struct fixture f;

	for_each_row(row, cases) {
		fixture_start(&f, row->prev_ns);
		fixture_complete(&f, 262144, row->rtt_ns);
		expect_eq(row->want_rate, f.out.pacing_bytes_ps, "%s", row->name);
	}
	expect(f.st.gradient_up == 1 && !f.st.gradient_down && !f.st.below_low &&
		       !f.st.above_high && !f.st.partial,
	       "counts_once");
}

TEST(average)
{
	static const struct {
		const char *name;
		u32 prev_ns, rtt_ns;
		u64 old_ns, want_ns_q16;
		bool old_falls, want_falls;
	} cases[] = {
		/* half of each */
		{ "up_up", 50000, 58000, 2000, 5000ULL << 16, false, false },
		{ "up_down", 58000, 50000, 2000, 3000ULL << 16, false, true },
		{ "up_down_less", 52000, 50000, 8000, 3000ULL << 16, false, false },
		{ "down_down", 58000, 50000, 2000, 5000ULL << 16, true, true },
		{ "down_up", 50000, 58000, 2000, 3000ULL << 16, true, false },
		{ "down_up_less", 50000, 52000, 8000, 3000ULL << 16, true, true },
		{ "cancelled", 50000, 52000, 2000, 0, true, true },
		{ "no_change_fades", 50000, 50000, 2000, 1000ULL << 16, false, false },
	};
	struct fixture f;
	size_t i;

	for_each_row(row, cases) {
		fixture_start(&f, row->prev_ns);
		f.v.diff_ns_q16 = row->old_ns << 16;
		if (row->old_falls)
			f.v.flags |= QUELL_TIMELY_F_FALLING;
		quell_timely_average(&f.v, &f.p, row->rtt_ns);
		expect(f.v.diff_ns_q16 == row->want_ns_q16 &&
			       !(f.v.flags & QUELL_TIMELY_F_FALLING) == !row->want_falls &&
			       f.v.prev_rtt_ns == row->rtt_ns,
		       "%s", row->name);
	}
	for (i = 0; i < 64; i++)
		quell_timely_average(&f.v, &f.p, 50000);
	expect_eq(0, f.v.diff_ns_q16, "reaches_zero");
	f.p.alpha_q16 = QUELL_Q16_ONE;
	quell_timely_average(&f.v, &f.p, 50007);
	expect_eq(7 << 16, f.v.diff_ns_q16, "weight_one_forgets");
}

TEST(hai)
{
	struct fixture f;
	int i;

	fixture_start(&f, 60000);
	for (i = 1; i < 5; i++)
		fixture_complete(&f, 262144, 60000 - i);
	expect_eq(HALF_GBIT + 4 * DELTA, f.out.pacing_bytes_ps, "four_plain");
	fixture_complete(&f, 200000, 59995);
	expect_eq(HALF_GBIT + 9 * DELTA, f.out.pacing_bytes_ps, "fifth_is_five");
	expect_eq(1, f.st.hai, "hai_counted");
	fixture_complete(&f, 200000, 59995);
	expect_eq(0, f.v.falling_nr, "level_ends_hai");
	expect_eq(HALF_GBIT + 10 * DELTA, f.out.pacing_bytes_ps, "level_is_plain");
	f.s.acked_bytes = 32768;
	for (i = 0; i < 300; i++)
		fixture_complete(&f, 20000, 59994 - i);
	expect_eq(255, f.v.falling_nr, "count_saturates");
	expect_eq(LINK_BYTES_PS, f.out.pacing_bytes_ps, "link_rate");
}

/* Section 5: completions within one minimum round trip count once together. */
TEST(weight)
{
	struct fixture f;

	fixture_start(&f, 60000);
	fixture_complete(&f, 5000, 60000);
	expect_eq(HALF_GBIT + DELTA / 4, f.out.pacing_bytes_ps, "quarter_increase");
	fixture_start(&f, 1000000);
	fixture_complete(&f, 5000, 1000000);
	/* 62.5e6 * (1 - 0.8 / 2 / 4) */
	expect_eq(56249976, f.out.pacing_bytes_ps, "quarter_decrease");
	fixture_complete(&f, 0, 1000000);
	expect_eq(56249976, f.out.pacing_bytes_ps, "same_time");
	f.s.now_ns -= 1000;
	fixture_complete(&f, 0, 1000000);
	expect_eq(56249976, f.out.pacing_bytes_ps, "time_backwards");
}

TEST(demand)
{
	struct fixture f;
	int i;

	fixture_start(&f, 60000);
	f.s.acked_bytes = 13107;	/* 80 % of 16384, which take 262.144 us */
	fixture_complete(&f, 262144, 60000);
	expect_eq(HALF_GBIT, f.out.pacing_bytes_ps, "quell_timely_demand__80_percent");
	expect_eq(1, f.st.app_limited, "counted");
	fixture_start(&f, 60000);
	f.s.acked_bytes = 13108;
	fixture_complete(&f, 262144, 60000);
	expect_eq(HALF_GBIT + DELTA, f.out.pacing_bytes_ps, "more");
	/* After a long pause the demand is only trusted after some segments. */
	fixture_start(&f, 60000);
	fixture_complete(&f, 1000000000, 60000);
	expect_eq(8 * 16384, f.v.allowed_bytes, "fades");
	for (i = 0; i < 60 && f.out.pacing_bytes_ps == HALF_GBIT; i++)
		fixture_complete(&f, 262144, 60000);
	expect(i > 8 && i < 20, "comes_back");
	f.s.acked_bytes = 0xffffffff;
	fixture_complete(&f, 1000, 60000);
	expect_eq(8 * 16384, f.v.sent_bytes, "no_credit");
}

TEST(samples)
{
	struct fixture f;

	fixture_start(&f, 60000);
	f.s.flags = 0;
	f.s.acked_bytes = 8192;
	fixture_complete(&f, 100000, 60000);
	expect(f.st.partial == 1 && f.v.since_bytes == 8192 && f.v.last_ns == START_NS,
	       "part_of_a_segment");
	fixture_complete(&f, 100000, 60000);
	expect(f.st.gradient_down == 1 && !f.v.since_bytes, "as_many_bytes_as_a_segment");
	fixture_complete(&f, 100000, 0);
	expect(f.st.no_rtt == 1 && f.v.since_bytes == 8192, "no_rtt");
	f.v.flags &= ~QUELL_TIMELY_F_PREV;
	fixture_complete(&f, 1, 70000);
	expect(f.v.prev_rtt_ns == 70000 && !f.v.diff_ns_q16 && f.v.flags & QUELL_TIMELY_F_PREV,
	       "first_has_no_difference");
	f.s.flags = QUELL_S_SEGMENT_DONE;
	fixture_complete(&f, 1, 1ULL << 40);
	expect_eq(0xffffffff, f.v.prev_rtt_ns, "rtt_saturates");
}

TEST(queue_mode)
{
	struct fixture f;

	fixture_start(&f, 90000);
	f.p.t_high_ns = 50000;
	fixture_complete(&f, 262144, 49000);
	expect_eq(HALF_GBIT + DELTA, f.out.pacing_bytes_ps, "target_mode_below");
	expect_eq(50000, f.out.target_ns, "target");
	fixture_start(&f, 90000);
	f.p.t_high_ns = 50000;
	fixture_complete(&f, 262144, 80000);
	/* 62.5e6 * (1 - 0.8 * 30 / 80), though the gradient is negative */
	expect_eq(43749928, f.out.pacing_bytes_ps, "target_mode_above");
}

/* Zhu et al.; beta' = 524 / 65536. */
TEST(patched)
{
	static const struct {
		const char *name;
		u64 prev_ns, rtt_ns, ref_ns, want_rate;
	} cases[] = {
		/* w = 1/2, error 1: 62.5e6 * (1 - 0.0079956 / 2) + delta / 2 */
		{ "steady", 100000, 100000, 50000, 62875137 },
		/* gradient 0.2: w = 0.9 */
		{ "rising", 92000, 100000, 50000, 62175247 },
		/* gradient -0.2: w = 0.1, rate loses 0.00079956 */
		{ "falling", 108000, 100000, 50000, 63575026 },
		{ "rising_fast", 60000, 100000, 50000, 62000274 },
		{ "falling_fast", 140000, 100000, 50000, HALF_GBIT + DELTA },
		/* below the reference: error -1/2 */
		{ "below_reference", 100000, 100000, 200000, 63249931 },
	};
	struct fixture f;

	for_each_row(row, cases) {
		fixture_start(&f, row->prev_ns);
		f.p.patched_bool = 1;
		f.p.patched_ref_ns = row->ref_ns;
		fixture_complete(&f, 262144, row->rtt_ns);
		expect(f.out.pacing_bytes_ps <= row->want_rate + 1 &&
			       f.out.pacing_bytes_ps + 3 >= row->want_rate,
		       "%s", row->name);
		if (f.out.pacing_bytes_ps != row->want_rate)
			printf("# %llu, %llu wanted\n", f.out.pacing_bytes_ps, row->want_rate);
	}
}

TEST(loss)
{
	struct fixture f;
	u64 window_q16;

	fixture_start(&f, 60000);
	quell_timely_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(HALF_GBIT / 2, f.out.pacing_bytes_ps, "half_rate");
	expect_eq(50000ULL << 16, f.out.window_q16, "half_flight");
	f.s.acked_bytes = 50000;
	fixture_complete(&f, 262144, 60000);
	expect_eq((50000ULL + MSS) << 16, f.out.window_q16, "one_packet");
	f.v.window_q16 = 657768ULL << 16;
	fixture_complete(&f, 262144, 60000);
	expect(!(f.v.flags & QUELL_TIMELY_F_LOSS), "loss_made_good");
	quell_timely_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.pacing_bytes_ps == 1250000 && f.out.window_q16 == (u64)MSS << 16 &&
		       f.st.rtos == 1 && f.st.fast_retx == 1,
	       "smallest");
	/* A router requests smaller segments: no data was acknowledged since. */
	f.s.mss_bytes = MSS / 2;
	quell_timely_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq((u64)MSS / 2 << 16, f.out.window_q16, "one_segment_of_the_new_size");
	f.s.mss_bytes = 2 * MSS;
	quell_timely_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(2ULL * MSS << 16, f.out.window_q16, "one_segment_of_the_new_size");
	f.s.mss_bytes = MSS;
	/* Without a signal: Reno. */
	quell_timely_init(&f.v, &f.p,
			  &(struct quell_sample) { .now_ns = START_NS, .mss_bytes = MSS }, &f.out);
	f.s.link_bytes_ps = 0;
	f.s.acked_bytes = 10 * MSS;
	fixture_complete(&f, 1000, 0);
	window_q16 = f.out.window_q16;
	expect(window_q16 == 11ULL * MSS << 16 && f.out.pacing_bytes_ps == QUELL_RATE_UNLIMITED,
	       "blind_grows_as_reno");
	f.s.inflight_bytes = 1 << 30;
	quell_timely_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(window_q16 / 2, f.out.window_q16, "blind_half");
	f.v.rate_q16 = 0;
	f.p.min_rate_bytes_ps = 0;
	fixture_complete(&f, 1000, 60000);
	expect(f.out.pacing_bytes_ps != QUELL_RATE_UNLIMITED && f.out.pacing_bytes_ps,
	       "first_rtt_starts_pacing");
}

TEST(idle)
{
	struct fixture f;

	fixture_start(&f, 60000);
	f.s.min_rtt_ns = 20000;
	f.s.idle_ns = 1ULL << 40;
	quell_timely_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(HALF_GBIT, f.out.pacing_bytes_ps, "rate_kept");
	f.p.restart_idle_ns = 1000000;
	f.s.idle_ns = 999999;
	quell_timely_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(HALF_GBIT, f.out.pacing_bytes_ps, "too_early");
	f.v.diff_ns_q16 = 5;
	f.s.other_flows = 1;
	f.s.idle_ns = 1000000;
	quell_timely_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.pacing_bytes_ps == LINK_BYTES_PS / 2 && !f.v.diff_ns_q16 &&
		       !(f.v.flags & QUELL_TIMELY_F_PREV) && f.st.restarts == 1,
	       "starts_anew");
	quell_timely_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	f.s.other_flows = 0;
	quell_timely_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(LINK_BYTES_PS / 4, f.out.pacing_bytes_ps, "not_after_loss");
}

TEST(segment)
{
	static const struct {
		const char *name;
		u64 segment_bytes;
		u32 mss_bytes, want;
	} cases[] = {
		{ "16_kb", 16384, 1448, 11 },
		{ "64_kb", 65536, 1448, 45 },
		{ "jumbo", 16384, 8948, 1 },
		{ "larger_packet", 1024, 1448, 1 },
		{ "no_mss", 1024, 0, 1024 },
	};
	struct quell_timely_params p;

	quell_core_params_default(&quell_timely_core, &p);
	for_each_row(row, cases) {
		p.segment_bytes = row->segment_bytes;
		expect_eq(row->want, quell_timely_segment_pkts(&p, row->mss_bytes), "%s",
			  row->name);
	}
}

TEST_HARNESS_MAIN
