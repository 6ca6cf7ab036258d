// SPDX-License-Identifier: GPL-2.0
/*
 * Drives <quell/core/signal/reps.h> with any echoes, segments, timeouts and times, also
 * decreasing ones, and stops where a promise is broken:
 *
 *	an entropy is never 0; a drawn one is at most the number of entropies
 *	an entropy that is not drawn was echoed before, unmarked
 *	an echo is used at most once unless frozen, and at most one echo is kept per
 *	segment sent
 *	indices stay in the ring
 *	every choice is that of the unit tests' model
 */
#include <stdio.h>
#include <stdlib.h>

#include <quell/core/signal/reps.h>

#include "input.h"
#include "../unit/reps_model.h"

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

struct flow {
	struct quell_reps reps;
	struct reps_model model;
	u64 now_ns;
	u32 entropies;
	u32 echoed[256];
	u32 sent[256];
};

static void echo(struct flow *f, u8 entropy, bool marked)
{
	reps_model_echo(&f->model, f->entropies, entropy, marked);
	if (!quell_reps_echo(&f->reps, f->entropies, entropy, marked))
		return;
	require(!marked && entropy, "only good entropies are kept");
	require(f->sent[entropy], "an echo for each segment at most");
	f->sent[entropy]--;
	f->echoed[entropy]++;
}

static void segment(struct flow *f, bool again)
{
	enum quell_reps_source source;
	u8 want = reps_model_next(&f->model, again, f->now_ns);
	u8 got = quell_reps_next(&f->reps, f->entropies, again, f->now_ns, &source);

	require(got, "an entropy is not 0");
	f->sent[got]++;
	reps_model_sent(&f->model, got);
	require(want ? got == want && source != QUELL_REPS_FRESH : source == QUELL_REPS_FRESH,
		"as the model");
	if (source == QUELL_REPS_FRESH) {
		require(got <= f->entropies, "a draw is one of those there are");
	} else if (source == QUELL_REPS_RECYCLED) {
		require(f->echoed[got], "an echo is used once");
		f->echoed[got]--;
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct flow f = { .entropies = 64 };

	quell_reps_init(&f.reps, take(&in, 64));
	while (in.size && f.model.count < REPS_MODEL_ECHOES) {
		u8 what = take_byte(&in);

		switch (what % 5) {
		case 0:
			/* One of few entropies, so that echoes match segments sent. */
			f.entropies = f.entropies > 8 && what & 0x40 ? 8 : f.entropies;
			echo(&f, take_byte(&in) % (what & 0x40 ? 9 : 256), what & 0x80);
			break;
		case 1:
			segment(&f, what & 0x80);
			break;
		case 2:
			/* The model uses thaw_ns 0 as "not frozen", and does not saturate. */
			f.now_ns = take(&in, 60);
			break;
		case 3:
			quell_reps_on_rto(&f.reps, f.now_ns);
			reps_model_on_rto(&f.model, f.now_ns);
			break;
		case 4:
			f.entropies = 1 + take_byte(&in) % QUELL_REPS_ENTROPIES_MAX;
			break;
		}
		require(f.reps.head < QUELL_REPS_RING && f.reps.unused <= f.reps.filled &&
			f.reps.filled <= QUELL_REPS_RING &&
			(!f.reps.frozen || f.reps.turn < f.reps.filled), "indices in the ring");
	}
	return 0;
}
