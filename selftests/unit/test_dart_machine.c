// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of Dart's state machine, <quell/core/dart/machine.h>, by short histories.
 */
#include <string.h>

#include <quell/core/dart/machine.h>

#include "test.h"

#define PERIOD_NS	1000
#define CLEAR_NS	3000
/* 1 byte/ns: a period has 1000 bytes at line rate, of which 900 count as line rate. */
#define LINE_BYTES_PS	1000000000ULL

static const struct quell_dart_machine_params defaults = {
	.period_ns = PERIOD_NS,
	.clear_ns = CLEAR_NS,
	.full_q16 = 58983,
	.periods = 2,
};

static struct quell_dart_machine m;
static struct quell_dart_arrivals arrivals;
static u64 now_ns;

static void start(void)
{
	memset(&m, 0, sizeof(m));
	memset(&arrivals, 0, sizeof(arrivals));
	arrivals.hosts = 2;
	now_ns = 0;
}

static bool period(const struct quell_dart_machine_params *p, u64 bytes, u32 marks,
		   u64 line_bytes_ps)
{
	now_ns += PERIOD_NS;
	arrivals.bytes += bytes;
	arrivals.marks += marks;
	return quell_dart_machine_run(&m, p, now_ns, &arrivals, line_bytes_ps);
}

/*
 * Periods: F marked and at line rate, L marked and below it, f and l the same without marks,
 * U marked, at a line rate that is not known, O marked, at line rate, of one host.  Return: the state after each: "." No
 * Congestion, "R" Receiver Congestion, "N" Non-Receiver Congestion.
 */
static const char *play(const struct quell_dart_machine_params *p, const char *history)
{
	static char states[64];
	size_t i;

	start();
	memset(states, 0, sizeof(states));
	for (i = 0; history[i]; i++) {
		bool marked = history[i] < 'a';
		bool full = strchr("FfUO", history[i]);

		arrivals.hosts = history[i] == 'O' ? 1 : 2;
		period(p, full ? 1000 : 500, marked, history[i] == 'U' ? 0 : LINE_BYTES_PS);
		states[i] = ".RN"[m.state];
	}
	return states;
}

TEST(states)
{
	static const struct {
		const char *name, *history, *want;
		u64 periods, clear_ns;	/* 0: the defaults */
	} cases[] = {
		{ "no_marks", "flflf", ".....", 0, 0 },
		{ "receiver_at_once", "F", "R", 0, 0 },
		{ "non_receiver_in_two", "LL", ".N", 0, 0 },
		{ "first_period_of_an_incast", "LFF", ".RR", 0, 0 },
		{ "one_gap", "FLF", "RRR", 0, 0 },
		{ "two_gaps_apart", "FLFLF", "RRRRR", 0, 0 },
		{ "two_periods_below", "FLL", "RRN", 0, 0 },
		{ "back_in_two", "LLFF", ".NNR", 0, 0 },
		{ "single_full_period", "LLFL", ".NNN", 0, 0 },
		{ "single_full_periods", "LLFLFL", ".NNNNN", 0, 0 },
		{ "unmarked_between_counts_not", "LlL", "..N", 0, 0 },
		{ "unmarked_keeps_receiver", "Fll", "RRR", 0, 0 },
		{ "unmarked_keeps_non_receiver", "LLff", ".NNN", 0, 0 },
		{ "receiver_clears", "Flll", "RRR.", 0, 0 },
		{ "non_receiver_clears", "LLfff", ".NNN.", 0, 0 },
		{ "a_mark_in_time", "FllFll", "RRRRRR", 0, 0 },
		{ "clearing_forgets", "LlllL", ".....", 0, 0 },
		{ "clearing_forgets_in_receiver", "FLlllLL", "RRRR..N", 0, 0 },
		{ "after_clearing_at_once", "FlllF", "RRR.R", 0, 0 },
		{ "line_rate_unknown", "UUU", ".NN", 0, 0 },
		{ "line_rate_unknown_in_receiver", "FUU", "RRN", 0, 0 },
		{ "one_host", "OOO", ".NN", 0, 0 },
		{ "one_host_in_receiver", "FOO", "RRN", 0, 0 },
		{ "one_host_once", "FOFO", "RRRR", 0, 0 },
		{ "one_period_suffices", "LFLF", "NRNR", 1, 0 },
		{ "three_periods", "LLLFFF", "..NNNR", 3, 0 },
		{ "three_periods_receiver_at_once", "LLF", "..R", 3, 0 },
		{ "three_in_a_row", "FLLFLLL", "RRRRRRN", 3, 0 },
		{ "clears_at_once", "FlF", "R.R", 0, 1000 },
		{ "clears_sooner_than_a_period", "Fl", "R.", 0, 1 },
	};
	struct quell_dart_machine_params p;

	for_each_row(row, cases) {
		p = defaults;
		p.periods = row->periods ? row->periods : p.periods;
		p.clear_ns = row->clear_ns ? row->clear_ns : p.clear_ns;
		EXPECT_STREQ(row->want, play(&p, row->history))
		TH_LOG("dart_machine__%s", row->name);
	}
}

/* Both kinds of congestion at once, section III-C: two steps. */
TEST(both_at_once)
{
	EXPECT_STREQ("RRRRN", play(&defaults, "FFFLL"))
		TH_LOG("dart_machine__both_in_two_steps");
}

TEST(full)
{
	static const struct {
		const char *name;
		u64 bytes, elapsed_ns, line_bytes_ps, full_q16;
		bool want;
	} cases[] = {
		{ "not_known", 1000, 1000, 0, 65536, false },
		{ "nothing", 0, 1000, LINE_BYTES_PS, 65536, false },
		{ "exactly", 1000, 1000, LINE_BYTES_PS, 65536, true },
		{ "a_byte_less", 999, 1000, LINE_BYTES_PS, 65536, false },
		{ "half", 500, 1000, LINE_BYTES_PS, 32768, true },
		{ "less_than_half", 499, 1000, LINE_BYTES_PS, 32768, false },
		{ "long_period", 2000000, 2000000, LINE_BYTES_PS, 65536, true },
		{ "for_ever", 1ULL << 40, QUELL_U64_MAX, 1ULL << 37, 65536, false },
	};

	for_each_row(row, cases) {
		expect_eq(row->want,
			  quell_dart_is_full(row->bytes, row->elapsed_ns, row->line_bytes_ps,
					     row->full_q16),
			  "%s", row->name);
	}
}

TEST(periods)
{
	struct quell_dart_machine before;

	start();
	expect(period(&defaults, 1000, 1, LINE_BYTES_PS), "says_that_it_changed");
	EXPECT_FALSE(period(&defaults, 1000, 1, LINE_BYTES_PS))
		TH_LOG("quell_dart_machine_run__says_that_it_did_not");
		expect(m.start_ns == 2000 && m.marked_ns == 2000 && m.bytes == 2000 && m.marks == 2,
		       "begins_a_period");
		before = m;
		arrivals.marks++;
		expect(!quell_dart_machine_is_due(&m, &defaults, 2999) &&
			       !quell_dart_machine_run(&m, &defaults, 2999, &arrivals,
						       LINE_BYTES_PS) &&
			       !memcmp(&m, &before, sizeof(m)),
		       "period_not_over");
		expect(!quell_dart_machine_is_due(&m, &defaults, 1000) &&
			       !quell_dart_machine_run(&m, &defaults, 1000, &arrivals,
						       LINE_BYTES_PS) &&
			       !memcmp(&m, &before, sizeof(m)),
		       "clock_behind");
		expect(quell_dart_machine_is_due(&m, &defaults, 3000), "at_the_end");
		/* 2,000 bytes in two periods are line rate, in four they are not. */
		start();
		now_ns = 1000;
		period(&defaults, 2000, 1, LINE_BYTES_PS);
		expect_eq(QUELL_DART_RECEIVER, m.state, "longer_period");
		now_ns += 3000;
		period(&defaults, 2000, 1, LINE_BYTES_PS);
		expect_eq(1, m.against, "longer_period_below");
		/* Free-running counters wrap. */
		start();
		m.bytes = QUELL_U64_MAX - 499;
		m.marks = QUELL_U64_MAX;
		arrivals = (struct quell_dart_arrivals){ m.bytes, m.marks, 2 };
		period(&defaults, 1000, 1, LINE_BYTES_PS);
		expect_eq(QUELL_DART_RECEIVER, m.state, "counters_wrap");
}

/* More periods than a byte counts. */
TEST(against_saturates)
{
	struct quell_dart_machine_params p = defaults;
	u32 i;

	p.periods = 1000;
	start();
	for (i = 0; i < 600; i++)
		period(&p, 500, 1, LINE_BYTES_PS);
	expect(m.state == QUELL_DART_NO_CONGESTION && m.against == 0xff, "count_saturates");
}

TEST(consequences)
{
	static const struct {
		const char *name;
		u8 state;
		bool passes, states_n;
	} cases[] = {
		{ "no_congestion", QUELL_DART_NO_CONGESTION, false, true },
		{ "receiver", QUELL_DART_RECEIVER, false, true },
		{ "non_receiver", QUELL_DART_NON_RECEIVER, true, false },
	};

	for_each_row(row, cases) {
		expect_eq(row->passes, quell_dart_passes_marks(row->state), "%s", row->name);
		expect_eq(row->states_n, quell_dart_states_n(row->state), "%s", row->name);
	}
}

TEST_HARNESS_MAIN
