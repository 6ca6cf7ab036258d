// SPDX-License-Identifier: GPL-2.0
/*
 * Long random histories of Dart's state machine, <quell/core/dart/machine.h>, compared with
 * the model of Figure 5 after every call.
 */
#include "dart_machine_pair.h"
#include "random.h"
#include "test.h"

#define HISTORIES	400
#define STEPS		5000

static void params(struct random_state *r, struct machine_pair *x)
{
	x->p.period_ns = random_magnitude(r, 1000, 1000000000);
	x->p.clear_ns = random_magnitude(r, 1000, 10000000000ULL);
	if (random_between(r, 0, 1))
		x->p.clear_ns = random_between(r, 1, 5) * x->p.period_ns;
	x->p.full_q16 = random_between(r, 0, 1) ? 58982 : random_magnitude(r, 1, 65536);
	x->p.periods = random_between(r, 0, 3) ? random_between(r, 1, 4) :
						 random_between(r, 1, 100);
}

/* A symptom stays for a while, so that the long way to a change is taken. */
struct weather {
	u32 steps;
	u64 percent;		/* of line rate */
	bool marked;
};

static void turn(struct random_state *r, struct weather *weather)
{
	if (weather->steps--)
		return;
	weather->steps = random_magnitude(r, 0, 128);
	weather->percent = random_between(r, 0, 1) ? random_between(r, 95, 100) :
						     random_between(r, 0, 60);
	weather->marked = random_between(r, 0, 2);
}

struct seen {
	u64 states[QUELL_DART_STATES], changes[QUELL_DART_STATES][QUELL_DART_STATES];
};

static const char *history(struct random_state *r, struct seen *seen)
{
	u64 line_bytes_ps = random_between(r, 0, 9) ? random_magnitude(r, 1250000, 1ULL << 37) : 0;
	struct machine_pair x = { .now_ns = random_magnitude(r, 0, 1ULL << 40) };
	struct weather weather = { .steps = 0 };
	const char *differs = NULL;
	u32 i;

	params(r, &x);
	for (i = 0; i < STEPS && !differs; i++) {
		u64 step_ns = random_between(r, 0, 2 * x.p.period_ns);
		u8 before = x.m.state;

		turn(r, &weather);
		if (!random_between(r, 0, 99))
			step_ns = random_magnitude(r, 0, 1ULL << 36);
		x.now_ns += step_ns;
		machine_pair_arrive(&x, (double)line_bytes_ps * step_ns / 1e9 *
				    weather.percent / 100,
				    weather.marked && random_between(r, 0, 4));
		differs = machine_pair_run(&x, line_bytes_ps);
		seen->states[x.m.state]++;
		seen->changes[before][x.m.state]++;
	}
	return differs;
}

TEST(histories)
{
	struct random_state r = { 11 };
	struct seen seen = { .states = { 0 } };
	const char *differs = NULL;
	u32 i, k;

	for (i = 0; i < HISTORIES && !differs; i++)
		differs = history(&r, &seen);
	expect_eq(NULL, differs, "as_the_model: %s, history %u", differs, i);
	for (i = 0; i < QUELL_DART_STATES; i++) {
		for (k = 0; k < QUELL_DART_STATES; k++) {
			expect(seen.changes[i][k] > 1000, "saw_change_%u_%u", i, k);
		}
		printf("# state %u: %llu calls; changes from it to the others: %llu %llu %llu\n", i,
		       seen.states[i], seen.changes[i][0], seen.changes[i][1],
		       seen.changes[i][2]);
	}
}

TEST_HARNESS_MAIN
