/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace of a core in the laboratory, from quell_labtrace to selftests/bpf/trace.c.
 *
 * The file is struct labtrace_head, then @events times struct labtrace_event, as they are in the
 * memory of a 64-bit little-endian machine.
 */
#ifndef _QUELL_LABTRACE_H
#define _QUELL_LABTRACE_H

#include <quell/core/core.h>
#include <quell/core/lib/undo.h>

#define LABTRACE_MAGIC		0x6c61627472616365ULL
#define LABTRACE_PARAMS_BYTES	512
#define LABTRACE_VARS_BYTES	64

/* Which event of struct quell_core */
enum labtrace_kind {
	LABTRACE_INIT,
	LABTRACE_ACK,
	LABTRACE_LOSS,		/* with the ->undo_note that follows */
	LABTRACE_RTO,		/* the same */
	LABTRACE_IDLE,
	LABTRACE_UNDO,
	LABTRACE_KINDS,
};

/* Begins a trace. */
struct labtrace_head {
	u64	magic;	/* LABTRACE_MAGIC */
	u64	events;	/* that follow */
	u64	left_out;	/* events after those, for which there was no room */
	/*
	 * Events of another core than the first, with other parameters, or out of order: such a
	 * trace has no meaning.
	 */
	u64	odd;
	u32	event_bytes;	/* size of struct labtrace_event */
	u32	params_bytes;	/* of @params in use */
	char	name[32];	/* of the algorithm */
	u8	params[LABTRACE_PARAMS_BYTES];	/* its parameters, derived fields included */
};

/* One event: input and output of the core. */
struct labtrace_event {
	u64			socket;	/* the same for all events of a socket */
	u32			kind;	/* enum labtrace_kind */
	u32			noted;	/* ->undo_note followed */
	/* LABTRACE_LOSS, LABTRACE_RTO: the record of reductions, as ->undo_note left it. */
	struct quell_undo	undo_after;
	struct quell_undo	undo;	/* the same before; LABTRACE_UNDO: input of ->on_undo */
	struct quell_sample	sample;	/* input */
	struct quell_decision	decision;	/* output */
	/* LABTRACE_INIT: variables before. */
	u8			before[LABTRACE_VARS_BYTES];
	u8			vars[LABTRACE_VARS_BYTES];	/* variables after */
};

#endif /* _QUELL_LABTRACE_H */
