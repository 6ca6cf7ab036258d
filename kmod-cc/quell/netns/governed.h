/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What governs the windows of an algorithm's flows in one namespace, and for how long; governed.c.
 */
#ifndef _QUELL_GOVERNED_H
#define _QUELL_GOVERNED_H

#include <linux/spinlock.h>
#include <quell/quell.h>

/* Of a flow that did not begin yet, or has ended. */
#define QUELL_UNGOVERNED	QUELL_GOVERNORS

/**
 * struct quell_governed - the counters
 * @lock:	protects all of it
 * @begun:	times that a governor took over a flow
 * @ended:	times that another did, or the flow ended
 * @ms:		the times of @ended less those of @begun, CLOCK_MONOTONIC, ms, modulo 2^64
 * @read_ms:	times as last read
 *
 * The time that a governor had is @ms, plus the present time for each flow that it has now: a
 * reader need not visit the flows.  That takes all three of one moment, hence the lock.  It is not
 * one per CPU: a namespace would have 272 bytes of each algorithm on each CPU before its first
 * flow, and a flow that begins or ends takes the lock of quell_net.flows as well.
 */
struct quell_governed {
	spinlock_t	lock;	/* see above */
	u64		begun[QUELL_GOVERNORS];
	u64		ended[QUELL_GOVERNORS];
	u64		ms[QUELL_GOVERNORS];
	u64		read_ms[QUELL_GOVERNORS];
};

/**
 * struct quell_governed_sum - what was counted so far
 * @begun: times that a governor took over a flow
 * @ms:    for how long it governed, summed over flows, ms
 */
struct quell_governed_sum {
	u64	begun[QUELL_GOVERNORS];
	u64	ms[QUELL_GOVERNORS];
};

struct quell_governed *quell_governed_alloc(void);
void quell_governed_count(struct quell_governed *governed, u8 from, u8 to, u64 now_ns);
void quell_governed_read(struct quell_governed *governed, struct quell_governed_sum *sum);

#endif /* _QUELL_GOVERNED_H */
