// SPDX-License-Identifier: GPL-2.0
/*
 * DCQCN: start, timers, counters and extreme values, by tables of cases derived by hand from the
 * paper's equations.  The rest is compared with these (test_dcqcn_model.py); together they take
 * every branch.
 */
#include <string.h>

#include <quell/core/dcqcn/core.h>

#include "test.h"

#define MSS		1448U
#define LINK_BYTES_PS	12500000000ULL
#define RTT_NS		4300ULL
#define START_NS	1000000ULL

struct fixture {
	struct quell_dcqcn_params p;
	struct quell_dcqcn_vars v;
	struct quell_dcqcn_stats st;
	struct quell_sample s;
	struct quell_decision out;
};

static void fixture_start(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	quell_core_params_default(&quell_dcqcn_core, &f->p);
	quell_dcqcn_init(&f->v, &f->p, &(struct quell_sample) {
			.now_ns = START_NS, .min_rtt_ns = RTT_NS, .link_bytes_ps = LINK_BYTES_PS,
			.mss_bytes = MSS, .flags = QUELL_S_ECN,
		}, &f->out);
	f->s.now_ns = START_NS;
	f->s.link_bytes_ps = LINK_BYTES_PS;
	f->s.mss_bytes = MSS;
	f->s.acked_bytes = MSS;
	f->s.acked_pkts = 1;
}

/* Rates in bytes/s, alpha in 1/2^30. */
static void fixture_set(struct fixture *f, u64 rate, u64 target, u64 alpha_q30)
{
	f->v.rate_q16 = rate << 16;
	f->v.target_q16 = target << 16;
	f->v.alpha_q30 = alpha_q30;
}

static void fixture_ack(struct fixture *f, u64 after_ns, u32 marked_bytes)
{
	f->s.now_ns = START_NS + after_ns;
	f->s.marked_bytes = marked_bytes;
	quell_dcqcn_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
}

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

/* F = 5: the number of steps of both counters decides which increase it is. */
TEST(increases)
{
	static const struct {
		const char *name;
		u32 timer_steps, byte_steps;
		struct quell_dcqcn_stats want;
	} cases[] = {
		{ "fast_recovery", 4, 4, .want.fast_recoveries = 1 },
		{ "additive", 5, 100, .want.additive_increases = 1 },
		{ "hyper", 6, 6, .want.hyper_increases = 1 },
	};
	struct fixture f;

	for_each_row(row, cases) {
		fixture_start(&f);
		f.v.timer_steps = row->timer_steps;
		f.v.byte_steps = row->byte_steps;
		quell_dcqcn_increase(&f.v, &f.p, &f.st, LINK_BYTES_PS << QUELL_Q16_SHIFT);
		expect(!memcmp(&f.st, &row->want, sizeof(f.st)), "%s", row->name);
	}
}

TEST(events)
{
	struct fixture f;

	fixture_start(&f);
	quell_dcqcn_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.st.losses == 1 && !f.st.rtos, "loss");
	quell_dcqcn_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.st.losses == 1 && f.st.rtos == 1, "timeout");
	f.s.idle_ns = 999999;
	quell_dcqcn_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(0, f.st.restarts, "too_early");
	f.s.idle_ns = 1000000;
	quell_dcqcn_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(1, f.st.restarts, "restart");
}

TEST(extremes)
{
	struct fixture f;

	fixture_start(&f);
	f.s.now_ns = 0;
	quell_dcqcn_on_ack(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.v.alpha_q30 == ONE && !f.v.timer_steps, "clock_behind");
	f.s.mss_bytes = 0;
	f.s.min_rtt_ns = 5000;
	fixture_ack(&f, 0, 0);
	expect(f.v.mss_bytes == MSS && f.v.min_rtt_ns == 5000, "kept");
	f.s.mss_bytes = 2 * MSS;
	fixture_ack(&f, 0, 0);
	expect_eq(2 * MSS, f.v.mss_bytes, "new_segment_size");
	fixture_set(&f, LINK_BYTES_PS, 0, 0);
	fixture_ack(&f, 0, 0);
	expect(f.v.rate_q16 >> 16 == LINK_BYTES_PS &&
		       f.v.target_q16 >> 16 == f.p.min_rate_bytes_ps, "target_alone");
	fixture_ack(&f, 1ULL << 62, 0);
	expect_eq(0, f.v.alpha_q30, "decayed_for_ever");
}

TEST_HARNESS_MAIN
