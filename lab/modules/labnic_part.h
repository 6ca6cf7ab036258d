/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labnic: a network in several parts, each in a kernel of its own (labnic_part.c).
 */
#ifndef _QUELL_LABNIC_PART_H
#define _QUELL_LABNIC_PART_H

#include <linux/mm_types.h>
#include <linux/types.h>

/**
 * struct quell_part_state - state of a part at each barrier, and the sum over all of them
 * @done: flows that its receivers have all of; of all parts the sum
 * @done_ns: when the last of them was delivered; the maximum
 * @turn: warm-ups that were finished; the maximum
 * @turn_ns: when the next one begins; that of the maximum of @turn
 */
struct quell_part_state {
	u64	done;
	u64	done_ns;
	u64	turn;
	u64	turn_ns;
};

/**
 * struct quell_part_ops - called in softirq at a barrier
 * @met: all parts have met
 * @ended: a part has delivered the last byte of a flow that this one sends
 */
struct quell_part_ops {
	void	(*met)(const struct quell_part_state *all);
	void	(*ended)(u32 flow, u64 end_ns);
};

#ifdef CONFIG_UML
bool quell_part_is_on(void);
u64 quell_part_known_ns(void);
u64 quell_part_begin(const struct quell_part_ops *ops, struct page *payload, u32 payload_bytes);
void quell_part_report(const struct quell_part_state *state);
void quell_part_flow_ended(u32 flow, u64 end_ns);
void quell_part_freeze(void);
void quell_part_end(void);
#else
static inline bool quell_part_is_on(void) { return false; }
static inline u64 quell_part_known_ns(void) { return 0; }
static inline u64 quell_part_begin(const struct quell_part_ops *ops, struct page *payload,
				   u32 payload_bytes) { return 0; }
static inline void quell_part_report(const struct quell_part_state *state) { }
static inline void quell_part_flow_ended(u32 flow, u64 end_ns) { }
static inline void quell_part_freeze(void) { }
static inline void quell_part_end(void) { }
#endif

#endif /* _QUELL_LABNIC_PART_H */
