/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An independent model of REPS: every entropy that was ever received is kept in one
 * long list, with a flag whether it was used, and entries the ring would have
 * overwritten are skipped.  Draws are not modelled: their test checks their
 * distribution.
 */
#ifndef _QUELL_REPS_MODEL_H
#define _QUELL_REPS_MODEL_H

#include <quell/core/signal/reps.h>

#define REPS_MODEL_ECHOES	4096

struct reps_model {
	u8		entropy[REPS_MODEL_ECHOES];
	bool		used[REPS_MODEL_ECHOES];
	unsigned int	count;		/* echoes kept */
	unsigned int	reset;		/* echoes before this one are ignored */
	unsigned int	turn;		/* segments sent while frozen */
	unsigned int	explore;
	u64		thaw_ns;	/* 0 not frozen */
	unsigned int	out[256];	/* sent and not echoed; at most 255 */
};

static inline unsigned int reps_model_first(const struct reps_model *m)
{
	unsigned int oldest = m->count > QUELL_REPS_RING ? m->count - QUELL_REPS_RING : 0;

	return oldest > m->reset ? oldest : m->reset;
}

/*
 * Expected entropy of the segment, or 0 for a random draw.  While frozen, the ring's
 * entries are used in turn, and the oldest is not always in the first.
 */
static inline u8 reps_model_next(struct reps_model *m, bool again, u64 now_ns)
{
	unsigned int first, kept, i;

	if (m->thaw_ns && now_ns >= m->thaw_ns) {
		m->thaw_ns = 0;
		m->explore = 16;
		m->reset = m->count;
	}
	first = reps_model_first(m);
	kept = m->count - first;
	if (m->thaw_ns) {
		unsigned int place = m->turn++ % kept;

		for (i = first; i < m->count; i++)
			if ((i - m->reset) % QUELL_REPS_RING == place)
				return m->entropy[i];
	}
	if (m->explore) {
		m->explore--;
		return 0;
	}
	for (i = first; i < m->count && !again; i++) {
		if (m->used[i])
			continue;
		m->used[i] = true;
		return m->entropy[i];
	}
	return 0;
}

/* Count an entropy that the core chose for a segment. */
static inline void reps_model_sent(struct reps_model *m, u8 entropy)
{
	if (m->out[entropy] != 255)
		m->out[entropy] += 1;
}

static inline void reps_model_echo(struct reps_model *m, u32 entropies, u8 entropy, bool marked)
{
	if (entropy == 0 || m->out[entropy] == 0)
		return;
	m->out[entropy] -= 1;
	if (m->thaw_ns || marked || entropy > entropies)
		return;
	m->entropy[m->count++] = entropy;
}

static inline void reps_model_on_rto(struct reps_model *m, u64 now_ns)
{
	if (m->thaw_ns || m->explore || m->count == m->reset)
		return;
	m->thaw_ns = now_ns + 10000000;
	m->turn = 0;
}

#endif /* _QUELL_REPS_MODEL_H */
