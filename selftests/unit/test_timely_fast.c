// SPDX-License-Identifier: GPL-2.0
/*
 * FAST* of the laboratory: its equation beside the same in floating point, and its parts of
 * TIMELY, by hand.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "../../lab/comparators/timely_fast.h"
#include "random.h"
#include "test.h"

#define MSS		1448U
#define LINK_BYTES_PS	1250000000ULL
#define START_NS	1000000ULL
#define BASE_NS		20000ULL
#define HALF_GBIT	62500000ULL
#define TEN_MBIT	1250000ULL
#define STEPS		1000000

struct fixture {
	struct timely_fast_params p;
	struct quell_timely_vars v;
	struct quell_timely_stats st;
	struct quell_param_desc table[TIMELY_FAST_PARAMS_NR];
	struct quell_core core;
	struct quell_event ev;
};

/* A flow of 10 Gbit/s at 500 Mbit/s that has completed a segment, with alpha 10 Mbit/s. */
static void fixture_start(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->core = timely_fast_core(f->table);
	quell_core_params_default(&f->core, &f->p);
	f->p.alpha_bytes_ps = TEN_MBIT;
	f->p.timely.init_rate_bytes_ps = HALF_GBIT;
	f->ev = (struct quell_event) { .vars = &f->v, .params = &f->p, .stats = &f->st };
	f->ev.sample = (struct quell_sample) {
		.now_ns = START_NS, .min_rtt_ns = BASE_NS, .link_bytes_ps = LINK_BYTES_PS,
		.mss_bytes = MSS,
	};
	f->core.init(&f->ev);
	f->v.prev_rtt_ns = BASE_NS;
	f->v.last_ns = START_NS;
	f->v.flags |= QUELL_TIMELY_F_PREV;
	f->ev.sample.acked_bytes = 16384;
	f->ev.sample.inflight_bytes = 100000;
	f->ev.sample.flags = QUELL_S_SEGMENT_DONE;
}

/* The rate after an ACK of @acked_bytes, @after_ns after the last completion. */
static u64 fixture_ack(struct fixture *f, u64 after_ns, u64 rtt_ns, u32 acked_bytes)
{
	f->ev.sample.now_ns = f->v.last_ns + after_ns;
	f->ev.sample.rtt_ns = rtt_ns;
	f->ev.sample.acked_bytes = acked_bytes;
	if (acked_bytes < 16384)
		f->ev.sample.flags &= ~QUELL_S_SEGMENT_DONE;
	f->core.on_ack(&f->ev);
	return f->ev.decision.pacing_bytes_ps;
}

/* The equation as FAST's authors write it. */
static long double fast_equation(long double rate, long double rtt, long double base,
				 long double alpha, long double gamma)
{
	return fminl(2 * rate, (1 - gamma) * rate + gamma * (base / rtt * rate + alpha));
}

/* How far a step with random numbers is from the equation, in units in the last place. */
static long double random_error(struct random_state *random)
{
	u64 rate_q16 = random_magnitude(random, 1000ULL << 16, QUELL_TIMELY_RATE_LIMIT << 16);
	u64 rtt_ns = random_magnitude(random, 1000, 0xffffffff);
	u64 base_ns = random_magnitude(random, 1000, rtt_ns);
	u64 alpha_bytes_ps = random_magnitude(random, QUELL_TIMELY_FAST_ALPHA_BYTES_PS_MIN,
					      QUELL_TIMELY_FAST_ALPHA_BYTES_PS_MAX);
	u64 weight_q32 = random_between(random, 0, QUELL_TIMELY_DECREASE_ONE);

	long double exact = fast_equation(rate_q16, rtt_ns, base_ns, 65536.0L * alpha_bytes_ps,
					  weight_q32 / 4294967296.0L);

	/* Where long double has 53 bits, as on 32-bit Arm, its own error counts. */
	return fabsl(timely_fast_rate_q16(rate_q16, rtt_ns, base_ns, alpha_bytes_ps, weight_q32) -
		     exact) - (LDBL_MANT_DIG < 64 ? 3 * LDBL_EPSILON * exact : 0);
}

TEST(equation)
{
	long double worst = 0;
	struct random_state random = { 1 };
	int i;

	for (i = 0; i < STEPS; i++)
		worst = fmaxl(worst, random_error(&random));
	/* Two roundings; an error of 64 bits is below a hundredth of a unit. */
	expect(worst > 0.5L && worst <= 2.05L, "equation: off by %.3Lf units", worst);
}

TEST(cases)
{
	static const struct {
		const char *name;
		u64 rate, rtt_ns, base_ns, alpha, gamma_q16, want;
	} cases[] = {
		/* No queue: alpha is added, half of it. */
		{ "empty", HALF_GBIT, BASE_NS, BASE_NS, TEN_MBIT, 32768, 63125000 },
		/* 10 of 500 Mbit/s in queues: a fiftieth of the round trip. */
		{ "at_rest", HALF_GBIT, 20400, 19992, TEN_MBIT, 32768, HALF_GBIT },
		/* Half of the round trip is queue: 250 Mbit/s for 10. */
		{ "queue", HALF_GBIT, 40000, BASE_NS, TEN_MBIT, 32768, 47500000 },
		{ "queue_gamma_one", HALF_GBIT, 40000, BASE_NS, TEN_MBIT, 65536, 32500000 },
		{ "base_above", HALF_GBIT, 10000, BASE_NS, TEN_MBIT, 65536, 63750000 },
		{ "doubles_at_most", 1000, BASE_NS, BASE_NS, TEN_MBIT, 65536, 2000 },
	};

	for_each_row(row, cases) {
		u64 got_q16 = timely_fast_rate_q16(row->rate << 16, row->rtt_ns, row->base_ns,
						   row->alpha, row->gamma_q16 << 16);

		expect_eq(row->want, got_q16 >> 16, "%s", row->name);
	}
}

TEST(completion)
{
	struct fixture f;

	fixture_start(&f);
	expect_eq(47500000, fixture_ack(&f, 262144, 40000, 16384), "instead_of_algorithm_1");
	fixture_start(&f);
	/* Half a minimum round trip after the last: half of the change. */
	expect_eq(55000000, fixture_ack(&f, 10000, 40000, 16384), "weight");
	fixture_start(&f);
	f.v.flags &= ~QUELL_TIMELY_F_PREV;
	expect_eq(47500000, fixture_ack(&f, 10000, 40000, 16384), "first");
	fixture_start(&f);
	f.p.base_ns = 40000;
	expect_eq(63125000, fixture_ack(&f, 262144, 40000, 16384), "base_given");
	fixture_start(&f);
	expect_eq(HALF_GBIT, fixture_ack(&f, 262144, 40000, 1448), "part_of_a_segment");
	fixture_start(&f);
	expect_eq(HALF_GBIT, fixture_ack(&f, 262144, 0, 16384), "no_rtt");
}

TEST(demand_and_limits)
{
	struct fixture f;

	fixture_start(&f);
	/* 16 KB in twice the time that the rate allows: no increase, but a decrease. */
	expect_eq(HALF_GBIT, fixture_ack(&f, 524288, BASE_NS, 16384), "no_demand");
	fixture_start(&f);
	expect_eq(47500000, fixture_ack(&f, 524288, 40000, 16384), "no_demand_decreases");
	fixture_start(&f);
	f.v.rate_q16 = LINK_BYTES_PS << 16;
	expect_eq(LINK_BYTES_PS, fixture_ack(&f, 13107, BASE_NS, 16384), "link");
	fixture_start(&f);
	f.v.rate_q16 = f.p.timely.min_rate_bytes_ps << 16;
	f.p.alpha_bytes_ps = QUELL_TIMELY_FAST_ALPHA_BYTES_PS_MIN;
	expect_eq(f.p.timely.min_rate_bytes_ps, fixture_ack(&f, 262144, 400000, 16384), "min_rate");
}

TEST(parameters)
{
	struct fixture f;

	fixture_start(&f);
	expect_eq(quell_timely_core.params_nr + 3, f.core.params_nr, "three_more");
	expect_eq(offsetof(struct timely_fast_params, base_ns),
		  f.core.params[f.core.params_nr - 1].offset, "the_last_is_base");
	expect_eq(32768, f.p.gamma_q16, "gamma");
	expect_eq(QUELL_TIMELY_T_LOW_NS_DEFAULT, f.p.timely.t_low_ns, "timely_s");
}

TEST_HARNESS_MAIN
