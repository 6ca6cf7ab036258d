/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory that the parts of a network share (labnic_part.c): a slot of each part, a mark for all
 * of them, then for each pair two buffers.  Also for lab/partslink.c, by which the parts of several
 * machines share it.
 */
#ifndef _QUELL_LABNIC_PART_MEMORY_H
#define _QUELL_LABNIC_PART_MEMORY_H

#include <linux/types.h>

#define PARTS_MAX		16
#define PART_SLOT_BYTES		192
#define PART_MARK_OFFSET	(PARTS_MAX * PART_SLOT_BYTES)
#define PART_HEAD_BYTES		4096

/* State of a part at each barrier, and the sum over all of them. */
struct quell_part_state {
	__u64	done;	/* flows that its receivers have all of; of all parts the sum */
	__u64	done_ns;	/* when the last of them was delivered; the maximum */
	__u64	turn;	/* warm-ups that were finished; the maximum */
	__u64	turn_ns;	/* when the next one begins; that of the maximum of @turn */
};

/* State of a part at one barrier. */
struct part_word {
	__u64			next_ns;	/* earliest event it has or causes */
	struct quell_part_state	state;
};

/*
 * The last barrier that one part, or all parts, came to.  Sleepers set @awaited of the parity of
 * their barrier: the next one of that parity is not reached while any of them has not woken.
 */
struct part_mark {
	__u32			met;
	__u32			awaited[2];	/* last barriers that had sleepers */
};

/* A part. */
struct part_slot {
	struct part_mark	mark;		/* for parts-link; parts use that of all */
	__u32			is_gone;	/* it comes no more */
	struct part_word	word[2];	/* of the last barrier and the one before */
};

/* Records of one part for another, of the time between two barriers. */
struct part_buffer {
	__u32	used_bytes;	/* of records, this head not counted */
	__u32	reserved;
};

/* Where the buffer from a part to another of @parts is, that the latter reads at @barrier. */
static inline __u64 part_buffer_offset(__u32 parts, __u32 from, __u32 to, __u32 barrier,
				       __u32 buffer_bytes)
{
	return PART_HEAD_BYTES + ((from * parts + to) * 2 + barrier % 2) * (__u64)buffer_bytes;
}

#endif /* _QUELL_LABNIC_PART_MEMORY_H */
