/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labnic: a network in several parts, each in a kernel of its own (labnic_part.c).
 */
#ifndef _QUELL_LABNIC_PART_H
#define _QUELL_LABNIC_PART_H

#include <linux/mm_types.h>
#include <linux/types.h>

#include "labnic_part_memory.h"

/* Kinds of struct quell_part_note. */
enum quell_part_note_kind {
	QUELL_PART_STARTED,	/* a flow that waited for another has started */
	QUELL_PART_ENDED,	/* its last byte is delivered */
	QUELL_PART_HELD,	/* its receiver's stack has processed a packet */
};

/* An event of a flow, for the part of its other end. */
struct quell_part_note {
	u64	time_ns;	/* when it was */
	u64	arrived_ns;	/* of QUELL_PART_HELD, when the packet's last bit arrived */
	u32	flow;	/* position of the flow */
	u32	end_seq;	/* of QUELL_PART_HELD, the sequence number after the packet */
	u32	kind;	/* enum quell_part_note_kind */
};

/**
 * struct quell_part_ops - called in softirq at a barrier
 * @met: all parts have met
 * @noted: another part has sent a note
 */
struct quell_part_ops {
	void	(*met)(const struct quell_part_state *all);
	void	(*noted)(const struct quell_part_note *note);
};

#ifdef CONFIG_UML
bool quell_part_is_on(void);
u64 quell_part_known_ns(void);
u64 quell_part_begin(const struct quell_part_ops *ops, struct page *block, u32 block_bytes);
void quell_part_report(const struct quell_part_state *state);
void quell_part_notify(const struct quell_part_note *note);
void quell_part_freeze(void);
void quell_part_end(void);
#else
static inline bool quell_part_is_on(void) { return false; }
static inline u64 quell_part_known_ns(void) { return 0; }
static inline u64 quell_part_begin(const struct quell_part_ops *ops, struct page *block,
				   u32 block_bytes) { return 0; }
static inline void quell_part_report(const struct quell_part_state *state) { }
static inline void quell_part_notify(const struct quell_part_note *note) { }
static inline void quell_part_freeze(void) { }
static inline void quell_part_end(void) { }
#endif

#endif /* _QUELL_LABNIC_PART_H */
