// SPDX-License-Identifier: GPL-2.0
/*
 * TIMELY: start, segments, counters and extreme values, by tables of cases derived by hand from the
 * paper's equations.  The rest is compared with these (test_timely_model.py); together they take
 * every branch.
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
		expect_eq(row->want, quell_timely_core.segment_pkts(&p, row->mss_bytes), "%s",
			  row->name);
	}
}

/* A completion counts in one zone. */
TEST(zones)
{
	static const struct {
		const char *name;
		u64 prev_ns, rtt_ns;
		u32 acked_bytes;
		u8 falling_nr;
		struct quell_timely_stats want;
	} cases[] = {
		{ "below_low", 30000, 49999, 16384, .want.below_low = 1 },
		{ "above_high", 1000000, 1000000, 16384, .want.above_high = 1 },
		{ "rising", 60000, 64000, 16384, .want.gradient_up = 1 },
		{ "steady", 60000, 60000, 16384, .want.gradient_down = 1 },
		{ "hai", 60000, 59999, 16384, 4, .want = { .gradient_down = 1, .hai = 1 } },
		/* 80 % of 16384, which take 262.144 us */
		{ "app_limited", 60000, 60000, 13107,
		  .want = { .gradient_down = 1, .app_limited = 1 } },
		{ "more_than_that", 60000, 60000, 13108, .want.gradient_down = 1 },
	};
	struct fixture f;

	for_each_row(row, cases) {
		fixture_start(&f, row->prev_ns);
		f.s.acked_bytes = row->acked_bytes;
		f.v.falling_nr = row->falling_nr;
		fixture_complete(&f, 262144, row->rtt_ns);
		expect(!memcmp(&f.st, &row->want, sizeof(f.st)), "%s", row->name);
	}
}

TEST(events)
{
	struct fixture f;

	/* A router requests other segments: no data was acknowledged since. */
	fixture_start(&f, 60000);
	f.s.mss_bytes = MSS / 2;
	quell_timely_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.st.rtos == 1 && !f.st.fast_retx && f.out.window_q16 == (u64)MSS / 2 << 16,
	       "timeout");
	f.s.mss_bytes = 2 * MSS;
	quell_timely_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.st.rtos == 1 && f.st.fast_retx == 1 && f.out.window_q16 == 2ULL * MSS << 16,
	       "loss");
	f.p.restart_idle_ns = 1000000;
	f.s.idle_ns = 1000000;
	quell_timely_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(0, f.st.restarts, "no_restart_after_loss");
	fixture_start(&f, 60000);
	f.p.restart_idle_ns = 1000000;
	f.s.idle_ns = 1000000;
	quell_timely_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(1, f.st.restarts, "restart");
}

TEST(extremes)
{
	struct fixture f;

	fixture_start(&f, 60000);
	f.s.mss_bytes = 0;
	f.v.falling_nr = 255;
	fixture_complete(&f, 300000, 59999);
	expect(f.v.mss_bytes == MSS && f.v.falling_nr == 255, "kept");
	f.s.mss_bytes = 2 * MSS;
	f.s.acked_bytes = 0xffffffff;
	fixture_complete(&f, 1000, 60000);
	expect(f.v.mss_bytes == 2 * MSS && f.v.sent_bytes == 8 * 16384, "no_credit");
	f.v.diff_ns_q16 = 2000 << 16;
	f.v.flags |= QUELL_TIMELY_F_FALLING;
	quell_timely_average(&f.v, &f.p, 62000);
	expect(!f.v.diff_ns_q16 && f.v.flags & QUELL_TIMELY_F_FALLING, "cancelled");
	fixture_start(&f, 1000000);
	f.s.now_ns -= 1000;
	fixture_complete(&f, 0, 1000000);
	expect_eq(HALF_GBIT, f.out.pacing_bytes_ps, "time_backwards");
}

TEST_HARNESS_MAIN
