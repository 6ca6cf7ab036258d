/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace of a core in the laboratory: what quell_labtrace writes, and selftests/bpf/trace.c reads.
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

/**
 * struct labtrace_head - begins a trace
 * @magic:	 LABTRACE_MAGIC
 * @events:	 that follow
 * @left_out:	 events after those, for which there was no room
 * @odd:	 events of another core than the first, with other parameters, or out of order: such
 *		 a trace tells nothing
 * @event_bytes: size of struct labtrace_event
 * @params_bytes: of @params in use
 * @name:	 of the algorithm
 * @params:	 its parameters, derived fields included
 */
struct labtrace_head {
	u64	magic;
	u64	events;
	u64	left_out;
	u64	odd;
	u32	event_bytes;
	u32	params_bytes;
	char	name[32];
	u8	params[LABTRACE_PARAMS_BYTES];
};

/**
 * struct labtrace_event - one event: what the core got, and what it made of it
 * @socket:	 the same for all events of a socket
 * @kind:	 enum labtrace_kind
 * @noted:	 ->undo_note followed
 * @undo_after:	 LABTRACE_LOSS, LABTRACE_RTO: the record of reductions, as ->undo_note left it
 * @undo:	 that record before; LABTRACE_UNDO: what ->on_undo got
 * @sample:	 input
 * @decision:	 output
 * @before:	 LABTRACE_INIT: variables before
 * @vars:	 variables after
 */
struct labtrace_event {
	u64			socket;
	u32			kind;
	u32			noted;
	struct quell_undo	undo_after;
	struct quell_undo	undo;
	struct quell_sample	sample;
	struct quell_decision	decision;
	u8			before[LABTRACE_VARS_BYTES];
	u8			vars[LABTRACE_VARS_BYTES];
};

#endif /* _QUELL_LABTRACE_H */
