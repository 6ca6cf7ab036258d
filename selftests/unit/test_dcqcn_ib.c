// SPDX-License-Identifier: GPL-2.0
/*
 * InfiniBand's congestion control of the laboratory: the index and the rate beside the same in
 * floating point, and each event by hand.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "../../lab/comparators/dcqcn_ib.h"
#include "random.h"
#include "test.h"

#define MSS		4096U
#define LINK_BYTES_PS	7000000000ULL	/* 56 Gbit/s */
#define START_NS	1000000ULL
#define TIMER_NS	QUELL_DCQCN_IB_TIMER_NS_DEFAULT
#define STEPS		200000

struct fixture {
	struct dcqcn_ib_params p;
	struct quell_dcqcn_vars v;
	struct quell_dcqcn_stats st;
	struct quell_param_desc table[DCQCN_IB_PARAMS_NR];
	struct quell_core core;
	struct quell_event ev;
};

static void fixture_start(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->core = dcqcn_ib_core(f->table);
	quell_core_params_default(&f->core, &f->p);
	f->ev = (struct quell_event) { .vars = &f->v, .params = &f->p, .stats = &f->st };
	f->ev.sample = (struct quell_sample) {
		.now_ns = START_NS, .min_rtt_ns = 15000, .link_bytes_ps = LINK_BYTES_PS,
		.mss_bytes = MSS, .flags = QUELL_S_ECN,
	};
	f->core.init(&f->ev);
	f->ev.sample.acked_bytes = MSS;
	f->ev.sample.inflight_bytes = 100000;
}

/* The rate after an ACK at @now_ns. */
static u64 fixture_ack(struct fixture *f, u64 now_ns, u32 marked_bytes)
{
	f->ev.sample.now_ns = now_ns;
	f->ev.sample.marked_bytes = marked_bytes;
	f->core.on_ack(&f->ev);
	return f->ev.decision.pacing_bytes_ps;
}

TEST(an_ack)
{
	static const struct {
		const char *name;
		u64 after_ns, marked_bytes, index, want;
	} cases[] = {
		{ "no_mark", 1000, 0, 0, LINK_BYTES_PS },
		{ "a_mark", 1000, MSS, 0, LINK_BYTES_PS / 2 },
		{ "part_of_a_packet", 1000, 1, 0, LINK_BYTES_PS / 2 },
		{ "three_marks", 1000, 3 * MSS, 0, LINK_BYTES_PS / 4 },
		{ "limit", 1000, 200 * MSS, 100, LINK_BYTES_PS / 128 },
		{ "before_the_timer", TIMER_NS - 1, 0, 3, LINK_BYTES_PS / 4 },
		{ "timer", TIMER_NS, 0, 3, LINK_BYTES_PS / 3 },
		{ "timer_before_mark", TIMER_NS, MSS, 3, LINK_BYTES_PS / 4 },
		{ "never_below_zero", 9 * TIMER_NS, 0, 3, LINK_BYTES_PS },
	};

	for_each_row(row, cases) {
		struct fixture f;

		fixture_start(&f);
		f.v.timer_steps = row->index;
		expect_eq(row->want, fixture_ack(&f, START_NS + row->after_ns, row->marked_bytes),
			  "%s", row->name);
	}
}

TEST(parameters)
{
	struct fixture f;

	fixture_start(&f);
	f.p.increase_steps = 4;
	f.p.step_q16 = 16384;
	expect_eq(LINK_BYTES_PS / 2, fixture_ack(&f, START_NS, MSS), "steps");
	f.p.limit_steps = 5;
	f.p.step_q16 = 65536;
	expect_eq(LINK_BYTES_PS / 6, fixture_ack(&f, START_NS, MSS), "limit");
	f.p.timer_ns = 1000;
	expect_eq(LINK_BYTES_PS / 4, fixture_ack(&f, START_NS + 2000, 0), "timer");
	expect_eq(quell_dcqcn_core.params_nr + 4, f.core.params_nr, "four_more");
	expect_eq(offsetof(struct dcqcn_ib_params, step_q16),
		  f.core.params[f.core.params_nr - 1].offset, "the_last_is_step");
	expect_eq(2, f.st.notifications, "counted");
}

/* Without marks echoed, and after a loss, DCQCN's frame bounds the window. */
TEST(frame)
{
	struct fixture f;
	u64 window_q16;

	fixture_start(&f);
	f.v.flags &= ~QUELL_DCQCN_F_ECN;
	expect(fixture_ack(&f, START_NS, 0) == QUELL_RATE_UNLIMITED, "without_ecn");
	fixture_start(&f);
	f.ev.sample.now_ns = START_NS;
	f.core.on_loss(&f.ev);
	fixture_ack(&f, START_NS, 0);
	expect(f.ev.decision.window_q16 >> 16 < 60000, "after_a_loss");
	fixture_start(&f);
	fixture_ack(&f, START_NS, 0);
	window_q16 = f.ev.decision.window_q16;
	f.ev.sample.inflight_bytes = window_q16 >> 16;
	f.core.on_loss(&f.ev);
	expect_eq(window_q16 / 2 >> 16, f.ev.decision.window_q16 >> 16, "half_of_a_full_window");
}

/* Losses, timeouts and pauses leave the index and its timer. */
TEST(index_is_kept)
{
	struct fixture f;

	fixture_start(&f);
	const struct {
		const char *name;
		void (*event)(struct quell_event *ev);
	} rows[] = {
		{ "loss", f.core.on_loss },
		{ "timeout", f.core.on_rto },
		{ "restart", f.core.on_idle_restart },
	};

	for_each_row(row, rows) {
		fixture_start(&f);
		f.v.timer_steps = 99;
		f.ev.sample.now_ns = START_NS + TIMER_NS / 2;
		f.ev.sample.idle_ns = QUELL_DCQCN_RESTART_IDLE_NS_DEFAULT;
		row->event(&f.ev);
		expect_eq(99, f.v.timer_steps, "%s_index", row->name);
		expect_eq(LINK_BYTES_PS / 100, f.ev.decision.pacing_bytes_ps, "%s_rate",
			  row->name);
		expect_eq(LINK_BYTES_PS / 100, fixture_ack(&f, START_NS + TIMER_NS - 1, 0),
			  "%s_ack", row->name);
		expect_eq(LINK_BYTES_PS / 99, fixture_ack(&f, START_NS + TIMER_NS, 0),
			  "%s_timer", row->name);
	}
	expect_eq(1, f.st.restarts, "restarts");
}

/* DCQCN's least rate holds for any index. */
TEST(least_rate)
{
	struct fixture f;

	fixture_start(&f);
	f.v.timer_steps = 127;
	f.p.dcqcn.min_rate_bytes_ps = LINK_BYTES_PS / 10;
	expect_eq(LINK_BYTES_PS / 10, fixture_ack(&f, START_NS, 0), "rate");
}

/* Random marks and pauses; the timer's expiries are counted from the flow's start. */
TEST(model)
{
	long double worst = 0, index = 0;
	struct random_state random = { 1 };
	u64 now_ns = START_NS, expired = 0;
	struct fixture f;
	int i;

	fixture_start(&f);
	for (i = 0; i < STEPS; i++) {
		u32 marks = random_between(&random, 0, 9) ? 0 : random_between(&random, 1, 4);
		u64 until;

		now_ns += random_magnitude(&random, 100, 2000000);
		until = (now_ns - START_NS) / TIMER_NS;
		index = fmaxl(index - (until - expired), 0);
		expired = until;
		index = fminl(index + marks, 127);
		worst = fmaxl(worst, fabsl(fixture_ack(&f, now_ns, marks * MSS) -
					   LINK_BYTES_PS / (1 + index)));
	}
	expect(worst < 1, "off by %.3Lf bytes/s", worst);
}

TEST_HARNESS_MAIN
