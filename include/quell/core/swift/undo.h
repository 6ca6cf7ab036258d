/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swift: undo the reductions for spurious losses, see <quell/core/lib/undo.h>.  The Swift
 * paper does not describe an undo.
 */
#ifndef _QUELL_CORE_SWIFT_UNDO_H
#define _QUELL_CORE_SWIFT_UNDO_H

#include <quell/core/lib/undo.h>
#include <quell/core/swift/react.h>

static inline void quell_swift_undo_note(struct quell_undo *u,
					 const struct quell_swift_vars *before,
					 const struct quell_swift_vars *after)
{
	quell_undo_record(u, before->flags & QUELL_SWIFT_F_LOSS);
	quell_undo_note(&u->part[0], before->window_q16, after->window_q16);
}

static inline void quell_swift_on_undo(struct quell_swift_vars *v,
				       const struct quell_swift_params *p,
				       const struct quell_sample *s,
				       const struct quell_undo *u,
				       struct quell_decision *out)
{
	quell_swift_observe(v, s);
	v->window_q16 = quell_undo_given_back(&u->part[0], v->window_q16);
	if (!u->lost)
		v->flags &= ~QUELL_SWIFT_F_LOSS;
	quell_swift_decide_afresh(v, p, s->hops, out);
}

#endif /* _QUELL_CORE_SWIFT_UNDO_H */
