// SPDX-License-Identifier: GPL-2.0
/*
 * ExpressPass of the laboratory: the rate of a receiver's credits beside the same in floating point,
 * its count of lost credits, and the distances between them.
 */
#include <math.h>
#include <stdint.h>

#include "../../lab/comparators/express_rate.h"
#include "random.h"
#include "test.h"

/* A credit of 88 bytes and a packet of 1538 on the wire, at 10 Gbit/s. */
#define INTERVAL_NS	1300.8
#define RTT_NS		30000ULL
#define STEPS		1000000

static const struct express_params ten_gbit = {
	.interval_ns_q16 = INTERVAL_NS * 65536, .first_q16 = 32768, .w_q16 = 4096,
};

/* A flow in the middle of its life; loss and round trip as given. */
static struct express_rate flow_at(double rate, double w, u32 total_pkts, u32 lost_pkts)
{
	return (struct express_rate) {
		.rate_q32 = rate * EXPRESS_Q32_ONE, .w_q32 = w * EXPRESS_Q32_ONE,
		.rtt_ns = RTT_NS, .total_pkts = total_pkts, .lost_pkts = lost_pkts,
	};
}

/* The simulator's results, as parts of the largest. */
struct model {
	double	rate;
	double	w;
	bool	grows;
};

static struct model model_update(const struct express_params *p, const struct express_rate *rate,
				 u64 now_ns)
{
	double interval_ns = p->interval_ns_q16 / 65536.0, one = EXPRESS_Q32_ONE;
	double time_ns = now_ns - rate->updated_ns;
	double loss = rate->lost_pkts / (double)rate->total_pkts;
	struct model m = { rate->rate_q32 / one, rate->w_q32 / one, rate->grows };
	double target = (1 - m.rate) * 0.125;

	if (loss > target) {
		double used = rate->total_pkts - rate->lost_pkts;

		m.rate = fmin(m.rate, used * interval_ns / time_ns * (1 + target));
		m.w = fmax(m.w / 2, 0.01);
		m.grows = false;
	} else {
		m.w = m.grows ? fmin(m.w + 0.05, 0.5) : m.w;
		m.grows = true;
		m.rate = m.w + (1 - m.w) * m.rate;
	}
	m.rate = fmin(fmax(m.rate, interval_ns / rate->rtt_ns), 1);
	return m;
}

/* A random update: its largest error, or -1 where rounding decides between loss and target. */
static double random_error(struct random_state *random, u32 *decreases)
{
	struct express_params p = {
		.interval_ns_q16 = random_magnitude(random, 1 << 16, EXPRESS_INTERVAL_MAX_NS << 16),
	};
	struct express_rate rate = {
		.rate_q32 = random_magnitude(random, 1, EXPRESS_Q32_ONE),
		.w_q32 = random_between(random, EXPRESS_W_MIN_Q32, EXPRESS_W_MAX_Q32),
		.rtt_ns = random_magnitude(random, 1000, 1000000000),
		.updated_ns = random_magnitude(random, 1, 1ULL << 60),
		.total_pkts = random_magnitude(random, 1, 1 << 24),
		.grows = random_between(random, 0, 1),
	};
	u64 now_ns = rate.updated_ns + rate.rtt_ns + random_magnitude(random, 0, rate.rtt_ns);
	struct model want;
	double loss, target;

	rate.lost_pkts = random_between(random, 0, 1) ? random_magnitude(random, 0,
									 rate.total_pkts - 1) : 0;
	loss = rate.lost_pkts / (double)rate.total_pkts;
	target = (1 - rate.rate_q32 / (double)EXPRESS_Q32_ONE) * 0.125;
	if (rate.lost_pkts && fabs(loss - target) < 1e-8)
		return -1;
	want = model_update(&p, &rate, now_ns);
	*decreases += loss > target;
	express_update(&rate, &p, now_ns);
	if (rate.grows != want.grows || rate.total_pkts || rate.lost_pkts ||
	    rate.updated_ns != now_ns)
		return INFINITY;
	return fmax(fabs(rate.rate_q32 - want.rate * EXPRESS_Q32_ONE),
		    fabs(rate.w_q32 - want.w * EXPRESS_Q32_ONE));
}

TEST(equations)
{
	struct random_state random = { 1 };
	u32 i, decreases = 0, compared = 0;
	double worst = 0;

	for (i = 0; i < STEPS; i++) {
		double error = random_error(&random, &decreases);

		if (error < 0)
			continue;
		compared++;
		worst = fmax(worst, error);
	}
	/* Units of 2^-32; the rounding of w is one, that of the products two more. */
	expect(worst > 0.3 && worst < 3, "equations: %.2f units", worst);
	expect(compared > STEPS * 0.9 && decreases > STEPS / 10 && decreases < STEPS * 0.8,
	       "equations: %u of %u decreases", decreases, compared);
}

TEST(updates)
{
	static const struct {
		const char *name;
		double rate, w;
		bool grows;
		u32 total_pkts, lost_pkts;
		double rate_after, w_after;
	} cases[] = {
		/* Half, without a loss: a sixteenth of the rest; w grows the second time. */
		{ "first_growth", 0.5, 0.0625, false, 11, 0, 0.53125, 0.0625 },
		{ "growth", 0.5, 0.0625, true, 11, 0, 0.55625, 0.1125 },
		{ "growth_at_most", 0.5, 0.48, true, 11, 0, 0.75, 0.5 },
		/* A twentieth of a half may be lost, and is not more than a sixteenth. */
		{ "loss_below_target", 0.5, 0.0625, false, 20, 1, 0.53125, 0.0625 },
		/* Ten were used in 30 us, 23.06 would fill the line: 0.4336, a sixteenth more. */
		{ "loss", 0.5, 0.0625, true, 12, 2, 0.4607, 0.03125 },
		{ "w_at_least", 0.5, 0.015, true, 12, 2, 0.4607, 0.01 },
		/* Never above the previous rate, and at least a credit in a round trip. */
		{ "loss_never_increases", 0.25, 0.0625, true, 30, 10, 0.25, 0.03125 },
		{ "least", 0.01, 0.02, true, 100, 99, INTERVAL_NS / RTT_NS, 0.01 },
		{ "most", 1, 0.5, true, 20, 0, 1, 0.5 },
		/* At the most no loss is allowed. */
		{ "any_loss_at_the_most", 1, 0.5, true, 23, 1, 0.9539, 0.25 },
	};

	for_each_row(row, cases) {
		struct express_rate rate =
			flow_at(row->rate, row->w, row->total_pkts, row->lost_pkts);

		rate.grows = row->grows;
		express_update(&rate, &ten_gbit, RTT_NS);
		expect(fabs(rate.rate_q32 / 4294967296.0 - row->rate_after) < 1e-4 &&
			       fabs(rate.w_q32 / 4294967296.0 - row->w_after) < 1e-6,
		       "%s: %f, %f", row->name, rate.rate_q32 / 4294967296.0,
		       rate.w_q32 / 4294967296.0);
	}
}

TEST(when)
{
	struct express_rate rate = flow_at(0.5, 0.0625, 11, 0);
	u64 before_q32 = rate.rate_q32;

	express_update(&rate, &ten_gbit, RTT_NS - 1);
	expect_eq(before_q32, rate.rate_q32, "not_before_a_round_trip");
	rate.total_pkts = 0;
	express_update(&rate, &ten_gbit, RTT_NS);
	expect_eq(before_q32, rate.rate_q32, "not_without_news");
	rate.total_pkts = 11;
	rate.rtt_ns = 0;
	express_update(&rate, &ten_gbit, RTT_NS);
	expect_eq(before_q32, rate.rate_q32, "not_without_a_round_trip");
}

/* Total and lost as one number. */
static u32 counts(const struct express_rate *rate)
{
	return rate->total_pkts * 100 + rate->lost_pkts;
}

TEST(losses)
{
	struct express_rate rate = { .number = 65530, .rtt_ns = 20000 };
	u32 i;

	express_start(&rate, &ten_gbit, 1000);
	expect(rate.rate_q32 == EXPRESS_Q32_ONE / 2 && rate.w_q32 == EXPRESS_Q32_ONE / 16 &&
		       rate.seen == 65530 && rate.rtt_ns == 20000,
	       "express_start");
	for (i = 0; i < 10; i++)
		express_credit(&rate, 2000 + i);
	expect_eq(4, rate.number, "numbers_begin_anew");
	express_used(&rate, 65531, 12000);
	expect(counts(&rate) == 100 && rate.rtt_ns == 18000 && !rate.timed_ns, "first: %u, %llu ns",
	       counts(&rate), (unsigned long long)rate.rtt_ns);
	express_used(&rate, 1, 12500);
	expect_eq(705, counts(&rate), "across_the_end: five were lost");
	express_used(&rate, 1, 12600);
	express_used(&rate, 65535, 12600);
	express_used(&rate, 5, 12600);
	expect_eq(705, counts(&rate), "again_or_old_or_never_sent");
	express_credit(&rate, 20000);
	express_used(&rate, 4, 21000);
	expect(counts(&rate) == 1007 && rate.timed_ns == 20000, "another_is_timed");
	express_credit(&rate, 22000);
	express_used(&rate, 6, 30000);
	expect(counts(&rate) == 1208 && rate.rtt_ns == 18000 && !rate.timed_ns,
	       "the_timed_one_was_lost");
}

TEST(restart)
{
	struct express_rate rate = flow_at(1, 0.5, 7, 3);

	rate.number = 20;
	rate.seen = 10;
	rate.timed_ns = 5;
	rate.grows = true;
	express_start(&rate, &ten_gbit, 90000);
	express_used(&rate, 15, 91000);
	expect(!counts(&rate) && !rate.grows && rate.updated_ns == 90000 && !rate.timed_ns,
	       "credits_of_before_count_no_more");
}

TEST(distances)
{
	struct express_rate rate = flow_at(0.25, 0.5, 0, 0);
	struct express_params fast = ten_gbit;
	struct random_state random = { 2 };
	double sum = 0;
	u32 i;

	expect_eq(4682, express_distance_ns_q16(&rate, &ten_gbit, 0) >> 16, "least");
	expect_eq(5723, express_distance_ns_q16(&rate, &ten_gbit, UINT32_MAX) >> 16, "most");
	for (i = 0; i < 100000; i++)
		sum += express_distance_ns_q16(&rate, &ten_gbit, random_u64(&random)) / 65536.0;
	expect(fabs(sum / 100000 - 4 * INTERVAL_NS) < 3, "mean: %.1f", sum / 100000);
	/* 400 Gbit/s: no fraction is lost. */
	fast.interval_ns_q16 = 32.56 * 65536;
	rate.rate_q32 = EXPRESS_Q32_ONE;
	expect_eq(fast.interval_ns_q16, express_distance_ns_q16(&rate, &fast, 1U << 31),
		  "fraction");
	rate.rate_q32 = 0;
	expect(express_distance_ns_q16(&rate, &ten_gbit, 0) > 1ULL << 40, "no_rate");
}

TEST_HARNESS_MAIN
