/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labnic: shared by labnic_part.c and labnic_cross.c.
 */
#ifndef _QUELL_LABNIC_CROSS_H
#define _QUELL_LABNIC_CROSS_H

#include "labnic.h"

extern uint labnic_part;	/* number of this part */
extern uint labnic_parts;	/* how many there are; 0: the network is not divided */
extern uint labnic_buffer_bytes;	/* size of each buffer */

/* labnic_part.c */
struct quell_part_note;

void *labnic_part_memory(void);
u32 labnic_part_barrier(void);
bool labnic_part_is_moving(void);
void labnic_part_causes(u64 ns);
void labnic_part_noted(const struct quell_part_note *note);

/* labnic_cross.c */
int labnic_cross_add(struct labnic_port *port);
void labnic_cross_begin(struct page *block, u32 block_bytes);
void labnic_cross_receive(u32 barrier, u64 now_ns);
ulong labnic_crossings(void);

#endif /* _QUELL_LABNIC_CROSS_H */
