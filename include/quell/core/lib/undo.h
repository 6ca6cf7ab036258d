/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Undo the response to spurious losses.
 *
 * TCP detects by DSACK, by its timestamps or by F-RTO that all retransmissions of an
 * episode were spurious (RFC 3708, 3522, 5682).  The core then reverts its reductions for
 * those losses, but no others: reductions for delay, marks or telemetry in the meantime
 * persist, and growth in the meantime counts towards the window given back.
 *
 *	given back = min(before, now + cut), if that is more than now
 *
 * where "cut" is the sum of the reductions of one episode (a recovery and the timeouts within it),
 * and "before" the maximum of the values before each of them.  Without other reductions in the
 * meantime this equals max(now, before), which Reno and DCTCP use in the stack.
 */
#ifndef _QUELL_CORE_LIB_UNDO_H
#define _QUELL_CORE_LIB_UNDO_H

#include <quell/core/lib/types.h>

#define QUELL_UNDO_PARTS	3

/* One quantity of a core, a window or a rate. */
struct quell_undo_part {
	u64	before;	/* maximum before each reduction of the episode */
	u64	cut;	/* sum of the reductions of the episode */
};

/* Reductions of a core for the losses of one episode; all zero when an episode begins. */
struct quell_undo {
	struct quell_undo_part	part[QUELL_UNDO_PARTS];	/* the core assigns the indices */
	/* This episode began in the loss state of an earlier loss. */
	bool			lost;
	bool			valid;	/* a response to a loss was recorded */
};

/* Record the response to a loss; @lost: the core was in the loss state already. */
static inline void quell_undo_record(struct quell_undo *u, bool lost)
{
	if (!u->valid)
		u->lost = lost;
	u->valid = true;
}

/* Record the reduction of one quantity of a core from @before to @after. */
static inline void quell_undo_note(struct quell_undo_part *part, u64 before, u64 after)
{
	if (after >= before)
		return;
	part->before = quell_max_u64(part->before, before);
	part->cut = quell_add_sat_u64(part->cut, before - after);
}

/* The value of a quantity after the undo; @now is its value before the undo. */
static inline u64 quell_undo_given_back(const struct quell_undo_part *part, u64 now)
{
	return quell_max_u64(now, quell_min_u64(part->before,
						quell_add_sat_u64(now, part->cut)));
}

#endif /* _QUELL_CORE_LIB_UNDO_H */
