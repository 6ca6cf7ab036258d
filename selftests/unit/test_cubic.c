// SPDX-License-Identifier: GPL-2.0
/*
 * <quell/core/lib/cubic.h> against RFC 9438 in floating point, and its corners.
 */
#include <math.h>
#include <string.h>

#include <quell/core/lib/cubic.h>

#include "random.h"
#include "test.h"

#define MSS		1448U
#define RUNS		200
#define STEPS		3000
#define NS_PER_MS	1000000ULL
/* The core knows whole milliseconds and bytes; relative error of a window. */
#define TOLERANCE	0.01

/*
 * Section 4, windows in segments and times in seconds, by the names of section 4.1.2.
 * The core's additions are marked.
 */
struct model {
	double cwnd, cwnd_prior, w_max, w_est, k, t_epoch, t_unused, t_last;
	bool running;
};

/* 4.6 and 4.7. */
static void model_loss(struct model *m)
{
	m->cwnd_prior = m->cwnd;
	m->w_max = m->cwnd < m->w_max ? m->cwnd * (1 + 0.7) / 2 : m->cwnd;
	m->cwnd = fmax(m->cwnd * 0.7, 2);
	m->running = false;
}

static void model_epoch(struct model *m, double now)
{
	m->running = true;
	m->t_epoch = now;
	m->t_unused = 0;
	m->w_est = m->cwnd;
	/* 4.8: without a cut before, K is 0 and W_max is cwnd. */
	if (m->w_max <= m->cwnd)
		m->w_max = m->cwnd;
	m->k = cbrt((m->w_max - m->cwnd) / 0.4);
}

/* 4.2 to 4.5; time in which the window was not used does not count. */
static void model_ack(struct model *m, double now, double rtt, double acked, bool used)
{
	double alpha, target, t, before = m->cwnd;

	if (!used) {
		m->t_unused += now - m->t_last;
		m->t_last = now;
		return;
	}
	m->t_last = now;
	if (!m->running)
		model_epoch(m, now);
	alpha = m->w_est < m->cwnd_prior ? 3 * (1 - 0.7) / (1 + 0.7) : 1;
	m->w_est += alpha * acked / before;
	t = now - m->t_epoch - m->t_unused;
	target = m->w_max + 0.4 * pow(t + rtt - m->k, 3);
	target = fmin(fmax(target, before), 1.5 * before);
	m->cwnd += (target - before) / before * acked;
	m->cwnd = fmax(m->cwnd, m->w_est);
	/* Not from the RFC but from tcp_cubic, before the first loss. */
	if (!m->cwnd_prior)
		m->cwnd = fmax(m->cwnd, before + acked / 20);
}

static double window_pkts(const struct quell_cubic *c)
{
	return c->window_q16 / 65536.0 / MSS;
}

/* Simulate one connection with occasional losses; returns its largest error. */
static double long_run(struct random_state *r, u64 first_pkts)
{
	u64 rtt_ms = random_between(r, 1, 200), now_ns = NS_PER_MS;
	struct model m = { .cwnd = first_pkts };
	struct quell_cubic c;
	double worst = 0;
	int step;

	quell_cubic_enter(&c, first_pkts * MSS << 16);
	for (step = 0; step < STEPS; step++) {
		u32 acked = random_between(r, 1, 4);

		now_ns += NS_PER_MS * random_between(r, 0, rtt_ms);
		if (!random_between(r, 0, 500)) {
			quell_cubic_on_loss(&c, MSS);
			model_loss(&m);
		} else if (random_between(r, 0, 9)) {
			quell_cubic_on_ack(&c, now_ns, rtt_ms * NS_PER_MS, acked * MSS, MSS);
			model_ack(&m, now_ns / 1e9, rtt_ms / 1e3, acked, true);
		} else {
			quell_cubic_wait(&c, now_ns);
			model_ack(&m, now_ns / 1e9, rtt_ms / 1e3, acked, false);
		}
		worst = fmax(worst, fabs(window_pkts(&c) / m.cwnd - 1));
	}
	return worst;
}

TEST(model_cases)
{
	struct random_state r = { .state = 9438 };
	double worst = 0;
	int run;

	for (run = 0; run < RUNS; run++)
		worst = fmax(worst, long_run(&r, random_between(&r, 2, 5000)));
	printf("# largest error of a window %.2e\n", worst);
	expect(worst < TOLERANCE, "windows_as_in_rfc_9438");
}

TEST(root)
{
	static const u64 rows[][2] = {
		{ 0, 0 }, { 1, 1 }, { 7, 1 }, { 8, 2 }, { 26, 2 }, { 27, 3 },
		{ 999999999, 999 }, { 1000000000, 1000 }, { 1ULL << 60, 1 << 20 },
	};

	for_each_row(row, rows) {
		expect_eq((*row)[1], quell_cubic_root((*row)[0]), "of_%llu",
			  (unsigned long long)(*row)[0]);
	}
}

TEST(corners)
{
	struct quell_cubic c;
	u64 before_q16;

	quell_cubic_enter(&c, ~0ULL);
	expect_eq(QUELL_CUBIC_MAX_WINDOW_Q16, c.window_q16, "at_most_1gib");
	quell_cubic_on_ack(&c, NS_PER_MS, 0, 0xffffffff, MSS);
	expect_eq(QUELL_CUBIC_MAX_WINDOW_Q16, c.window_q16, "at_most_1gib");
	quell_cubic_enter(&c, (u64)100 * MSS << 16);
	before_q16 = c.window_q16;
	quell_cubic_on_loss(&c, MSS);
	expect_eq(before_q16 / 10 * 7, c.window_q16, "seven_tenths");
	quell_cubic_undo(&c);
	expect_eq(before_q16, c.window_q16, "all_of_it");
	quell_cubic_enter(&c, (u64)MSS << 16);
	quell_cubic_on_loss(&c, MSS);
	expect_eq((u64)2 * MSS << 16, c.window_q16, "two_segments_at_least");
}

/* An outage: the timer expires twice for one segment, spuriously. */
TEST(outage)
{
	struct quell_cubic c;

	quell_cubic_enter(&c, (u64)1000 * MSS << 16);
	quell_cubic_on_rto(&c, MSS, false);
	quell_cubic_on_rto(&c, MSS, true);
	expect_eq(700 * MSS, c.ssthresh_bytes, "ssthresh_is_of_the_first");
	expect_eq(1000 * MSS, c.max_bytes, "w_max_is_of_the_first");
	expect_eq((u64)MSS << 16, c.window_q16, "one_segment");
	quell_cubic_undo(&c);
	expect_eq((u64)1000 * MSS << 16, c.window_q16, "of_two_timeouts");
}

/* A minute in which the application sent less must not count as growth. */
TEST(unused)
{
	struct quell_cubic c;
	u64 before_q16, now_ns = NS_PER_MS;

	quell_cubic_enter(&c, (u64)100 * MSS << 16);
	quell_cubic_on_ack(&c, now_ns, NS_PER_MS, MSS, MSS);
	before_q16 = c.window_q16;
	while (now_ns < 60000 * NS_PER_MS)
		quell_cubic_wait(&c, now_ns += NS_PER_MS);
	expect_eq(before_q16, c.window_q16, "the_window_stays");
	quell_cubic_on_ack(&c, now_ns, NS_PER_MS, MSS, MSS);
	expect(c.window_q16 - before_q16 < (u64)MSS << 16, "the_time_does_not_count");
}

TEST_HARNESS_MAIN
