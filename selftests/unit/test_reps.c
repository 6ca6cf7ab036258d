// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of <quell/core/signal/reps.h> by tables, its draws by their
 * distribution, and random histories against reps_model.h.
 */
#include <stddef.h>
#include <string.h>

#include <quell/core/signal/reps.h>

#include "random.h"
#include "reps_model.h"
#include "test.h"

/* A history in letters; see play(). */
#define MOST_STEPS	64

/* Expected entropies and their sources for a test's flow, in order. */
struct played {
	u8	entropy[MOST_STEPS];
	char	source[MOST_STEPS + 1];
	size_t	nr;
};

/*
 * Of entropies 1 to 64 and 200, 100 segments each are in flight.
 *
 *	1-9	that entropy is echoed unmarked
 *	a-i	entropy 1-9 is echoed marked
 *	0 x	entropy 0, and 200 of 64, are echoed unmarked
 *	s r	a segment is sent, is retransmitted
 *	T	timeout
 *	n m	the next ns, the next 9 999 999 ns
 */
static void play(const char *steps, struct played *out)
{
	enum quell_reps_source source;
	struct quell_reps reps;
	u64 now_ns = 1000;
	int i;

	*out = (struct played) { .nr = 0 };
	quell_reps_init(&reps, 1);
	for (i = 1; i <= 64; i++)
		reps.out[i] = 100;
	reps.out[200] = 100;
	for (; *steps; steps++) {
		if (*steps >= '0' && *steps <= '9') {
			quell_reps_echo(&reps, 64, *steps - '0', false);
		} else if (*steps >= 'a' && *steps <= 'i') {
			quell_reps_echo(&reps, 64, *steps - 'a' + 1, true);
		} else if (*steps == 'x') {
			quell_reps_echo(&reps, 64, 200, false);
		} else if (*steps == 'T') {
			quell_reps_on_rto(&reps, now_ns);
		} else if (*steps == 'n') {
			now_ns++;
		} else if (*steps == 'm') {
			now_ns += 9999999;
		} else {
			out->entropy[out->nr] = quell_reps_next(&reps, 64, *steps == 'r',
								now_ns, &source);
			out->source[out->nr++] = "FRZ"[source];
		}
	}
}

TEST(histories)
{
	static const struct {
		const char *name, *steps;
		const char *source;	/* F drawn, R recycled, Z frozen */
		const char *want;	/* digits: the entropy; -: any */
	} cases[] = {
		{ "nothing_known", "sss", "FFF", "---" },
		{ "used_once", "5ss", "RF", "5-" },
		{ "oldest_first", "123sss", "RRR", "123" },
		{ "one_in_between", "12s3sss", "RRRF", "123-" },
		{ "marked_is_not_used_again", "1b3sss", "RRF", "13-" },
		{ "none_is_none", "0s", "F", "-" },
		{ "more_than_there_are", "xs", "F", "-" },
		{ "twice_the_same", "77sss", "RRF", "77-" },
		{ "eight_kept", "12345678sssssssss", "RRRRRRRRF", "12345678-" },
		{ "ninth_over_the_oldest", "123456789ssssssssss", "RRRRRRRRFF",
		  "23456789--" },
		{ "round_the_ring", "12345s6s789ssssssss", "RRRRRRRRRF", "123456789-" },
		{ "retransmission_is_drawn", "12rs", "FR", "-1" },
		{ "retransmission_leaves_the_ring", "12rrss", "FFRR", "--12" },
		{ "timeout_without_knowledge", "Ts", "F", "-" },
		{ "frozen_in_turn", "123Tsssss", "ZZZZZ", "12312" },
		{ "frozen_used_ones_too", "123sssTsss", "RRRZZZ", "123123" },
		{ "frozen_full_ring", "123456789Tssssssssss", "ZZZZZZZZZZ",
		  "9234567892" },
		{ "frozen_retransmission", "12Trr", "ZZ", "12" },
		{ "frozen_takes_nothing_in", "12T3sss", "ZZZ", "121" },
		{ "frozen_until", "12Tms", "Z", "1" },
		{ "thawed_at", "12Tmns", "F", "-" },
		{ "second_timeout_does_not_prolong", "12TmTns", "F", "-" },
		{ "explores_sixteen", "12Tmns34ssssssssssssssssss",
		  "FFFFFFFFFFFFFFFFRRF", "----------------34-" },
		{ "timeout_while_exploring", "12Tmns3Ts", "FF", "--" },
		{ "timeout_after_exploring", "12Tmnssssssssssssssss34Tss",
		  "FFFFFFFFFFFFFFFFZZ", "----------------34" },
		{ "ring_emptied_by_the_thaw", "12Tmnssssssssssssssssss",
		  "FFFFFFFFFFFFFFFFFF", "------------------" },
	};
	struct played got;
	size_t k;

	for_each_row(row, cases) {
		bool same;

		play(row->steps, &got);
		same = !strcmp(got.source, row->source) && got.nr == strlen(row->want);
		for (k = 0; same && k < got.nr; k++)
			same = row->want[k] == '-' ? got.entropy[k] >= 1 && got.entropy[k] <= 64 :
						     got.entropy[k] == row->want[k] - '0';
		expect(same, "%s: got %s", row->name, got.source);
	}
}

/* A flow that has one segment of each entropy in flight. */
static void one_of_each(struct quell_reps *reps)
{
	unsigned int i;

	quell_reps_init(reps, 1);
	for (i = 1; i <= QUELL_REPS_ENTROPIES_MAX; i++)
		reps->out[i] = 1;
}

TEST(echo_says_whether_kept)
{
	struct quell_reps reps;

	one_of_each(&reps);
	expect(quell_reps_echo(&reps, 64, 64, false), "kept");
	expect(!quell_reps_echo(&reps, 64, 64, false), "second_of_a_burst");
	expect(!quell_reps_echo(&reps, 64, 63, true), "marked");
	expect(!quell_reps_echo(&reps, 64, 63, false), "behind_a_marked_one");
	expect(!quell_reps_echo(&reps, 64, 65, false), "too_large");
	expect(quell_reps_echo(&reps, 255, 255, false), "largest");
	quell_reps_init(&reps, 1);
	expect(!quell_reps_echo(&reps, 64, 1, false), "never_sent");
}

/* 300 segments with one entropy: echoes of 255 of them are accepted. */
TEST(count_stops)
{
	enum quell_reps_source source;
	struct quell_reps reps;
	unsigned int kept = 0, i;

	quell_reps_init(&reps, 1);
	for (i = 0; i < 300; i++)
		quell_reps_next(&reps, 1, false, 0, &source);
	for (i = 0; i < 300; i++)
		kept += quell_reps_echo(&reps, 1, 1, false);
	expect_eq(255, kept, "count_stops");
}

/* A timeout near the largest time must not wrap. */
TEST(late_timeout)
{
	enum quell_reps_source source;
	struct quell_reps reps;

	one_of_each(&reps);
	quell_reps_echo(&reps, 64, 1, false);
	quell_reps_on_rto(&reps, QUELL_U64_MAX - 5);
	quell_reps_next(&reps, 64, false, QUELL_U64_MAX - 5, &source);
	expect(source == QUELL_REPS_FROZEN, "saturates");
}

/*
 * A million draws over N: chi-square of the counts against a uniform distribution.  Its mean
 * is N - 1 and its standard deviation sqrt(2 (N - 1)); five of those are allowed.
 */
TEST(draws_are_even)
{
	static const u32 sizes[] = { 1, 2, 3, 64, 255 };
	enum { DRAWS = 1000000 };

	for_each_row(row, sizes) {
		double even = (double)DRAWS / *row, chi = 0, slack;
		u32 count[256] = { 0 }, k;
		struct quell_reps reps;

		quell_reps_init(&reps, *row);
		for (k = 0; k < DRAWS; k++)
			count[quell_reps_draw(&reps, *row)]++;
		for (k = 1; k <= *row; k++)
			chi += (count[k] - even) * (count[k] - even) / even;
		slack = 50.0 * (*row - 1);
		chi -= *row - 1;
		expect(!count[0] && chi * chi <= slack, "even_over_%u: %g from the mean", *row,
		       chi);
	}
}

TEST(seeds)
{
	struct quell_reps one, same, other;
	unsigned int equal = 0, k;
	bool repeats = true;

	quell_reps_init(&one, 7);
	quell_reps_init(&same, 7);
	quell_reps_init(&other, 8);
	for (k = 0; k < 1000; k++) {
		u8 entropy = quell_reps_draw(&one, 64);

		repeats = repeats && entropy == quell_reps_draw(&same, 64);
		equal += entropy == quell_reps_draw(&other, 64);
	}
	expect(repeats, "equal_seeds_equal_draws");
	/* One in 64 by chance, 16 of 1000; standard deviation 4. */
	expect(equal < 36, "other_seeds_other_draws");
}

/* One random history; returns the segments recycled or frozen, or -1 if model and core differ. */
static int compare(struct random_state *r, u32 entropies)
{
	struct reps_model model = { .count = 0 };
	enum quell_reps_source source;
	struct quell_reps reps;
	u8 sent[64] = { 0 };
	u64 now_ns = 1;
	int known = 0;
	int i;

	quell_reps_init(&reps, random_u64(r));
	for (i = 0; i < REPS_MODEL_ECHOES; i++) {
		u64 what = random_between(r, 0, 99);
		u8 entropy = random_between(r, 0, 9) ? sent[random_between(r, 0, 63)] :
						       random_between(r, 0, entropies + 3);
		bool flag = !random_between(r, 0, 3);

		/* The clock of another processor may be behind. */
		now_ns += random_between(r, 0, 100000) - (what == 1 ? now_ns / 2 : 0);
		if (what == 2)
			entropies = random_between(r, 1, QUELL_REPS_ENTROPIES_MAX - 3);
		if (what == 0) {
			quell_reps_on_rto(&reps, now_ns);
			reps_model_on_rto(&model, now_ns);
		} else if (what < 50) {
			quell_reps_echo(&reps, entropies, entropy, flag);
			reps_model_echo(&model, entropies, entropy, flag);
		} else {
			u8 want = reps_model_next(&model, flag, now_ns);
			u8 got = quell_reps_next(&reps, entropies, flag, now_ns, &source);

			if ((source == QUELL_REPS_FRESH) != !want || (want && got != want))
				return -1;
			known += !!want;
			reps_model_sent(&model, got);
			sent[random_between(r, 0, 63)] = got;
			if (!got || (!want && got > entropies))
				return -1;
		}
		if (reps.head >= QUELL_REPS_RING || reps.unused > reps.filled ||
		    reps.filled > QUELL_REPS_RING || (reps.frozen && reps.turn >= reps.filled))
			return -1;
	}
	return known;
}

TEST(model_cases)
{
	struct random_state r = { 3 };
	int known = 0, i;

	for (i = 0; i < 500 && known >= 0; i++) {
		int more = compare(&r, random_between(&r, 1, QUELL_REPS_ENTROPIES_MAX - 3));

		known = more < 0 ? -1 : known + more;
	}
	expect(known > 100000, "as_the_model");
	printf("# %d segments with a known entropy\n", known);
}

TEST(forgotten)
{
	enum quell_reps_source source;
	struct quell_reps reps;
	u8 entropy;

	quell_reps_init(&reps, 1);
	entropy = quell_reps_next(&reps, 64, false, 0, &source);
	quell_reps_echo(&reps, 64, entropy, false);
	quell_reps_on_rto(&reps, 0);
	quell_reps_forget(&reps);
	quell_reps_next(&reps, 64, false, 1, &source);
	expect_eq(QUELL_REPS_FRESH, source, "draws");
	quell_reps_on_rto(&reps, 2);
	quell_reps_next(&reps, 64, false, 3, &source);
	expect_eq(QUELL_REPS_FRESH, source, "nothing_to_freeze");
}

TEST_HARNESS_MAIN
