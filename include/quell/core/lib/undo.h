/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Undo the response to spurious losses.
 *
 * TCP finds out, by DSACK, by its timestamps or by F-RTO, that all it sent again
 * had only been late (RFC 3708, 3522, 5682).  What the core cut for it is then
 * given back, but no more: what it cut meanwhile for delay, marks or telemetry
 * stands, and what it grew again by itself counts.
 *
 *	given back = min(before, now + cut), if that is more than now
 *
 * where "cut" is the sum of the cuts of one episode, a recovery and the timeouts
 * within it, and "before" the most that any of them found.  This is what Reno and
 * DCTCP do in the stack, max(now, before), where nothing was cut meanwhile.
 */
#ifndef _QUELL_CORE_LIB_UNDO_H
#define _QUELL_CORE_LIB_UNDO_H

#include <quell/core/lib/types.h>

#define QUELL_UNDO_PARTS	3

/**
 * struct quell_undo_part - one quantity of a core, a window or a rate
 * @before:	what it was, at most, before a cut; any unit
 * @cut:	what was taken from it
 */
struct quell_undo_part {
	u64	before;
	u64	cut;
};

/**
 * struct quell_undo - what the losses of one episode took from a core
 * @part:	of each quantity; which is which the core knows
 * @lost:	the core was answering an earlier loss when this episode's first came
 * @valid:	a cut was recorded in this episode
 *
 * All zero when an episode begins.
 */
struct quell_undo {
	struct quell_undo_part	part[QUELL_UNDO_PARTS];
	bool			lost;
	bool			valid;
};

/* A core answered a loss; @lost: whether it was answering one already. */
static inline void quell_undo_record(struct quell_undo *u, bool lost)
{
	if (!u->valid)
		u->lost = lost;
	u->valid = true;
}

/* One of its quantities was @before and is @after. */
static inline void quell_undo_note(struct quell_undo_part *part, u64 before, u64 after)
{
	if (after >= before)
		return;
	part->before = quell_max_u64(part->before, before);
	part->cut = quell_add_sat_u64(part->cut, before - after);
}

/* What it is to be, being @now. */
static inline u64 quell_undo_given_back(const struct quell_undo_part *part, u64 now)
{
	return quell_max_u64(now, quell_min_u64(part->before,
						quell_add_sat_u64(now, part->cut)));
}

#endif /* _QUELL_CORE_LIB_UNDO_H */
