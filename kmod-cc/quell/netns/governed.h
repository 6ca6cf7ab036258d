/* SPDX-License-Identifier: GPL-2.0 */
/* The governors of an algorithm's windows in one namespace, and for how long; governed.c. */
#ifndef _QUELL_GOVERNED_H
#define _QUELL_GOVERNED_H

#include <linux/spinlock.h>
#include <quell/quell.h>

/* A flow that has not begun, or has ended. */
#define QUELL_UNGOVERNED	QUELL_GOVERNORS

/**
 * struct quell_governed - the counters
 * @lock:    protects all of it
 * @begun:   times that a governor took over a flow
 * @ended:   times that another did, or the flow ended
 * @ms:      the times of @ended less those of @begun, CLOCK_MONOTONIC, ms, modulo 2^64
 * @read_ms: times as last read
 *
 * A governor's time is @ms plus the present time for each flow that it has now, so a reader
 * need not visit the flows.  One lock, not one per CPU: that would cost 272 bytes for each
 * algorithm and CPU in each namespace.
 */
struct quell_governed {
	spinlock_t	lock;	/* see above */
	u64		begun[QUELL_GOVERNORS];
	u64		ended[QUELL_GOVERNORS];
	u64		ms[QUELL_GOVERNORS];
	u64		read_ms[QUELL_GOVERNORS];
};

/**
 * struct quell_governed_sum - counts so far
 * @begun: times that a governor took over a flow
 * @ms:    time it governed, summed over flows, ms
 */
struct quell_governed_sum {
	u64	begun[QUELL_GOVERNORS];
	u64	ms[QUELL_GOVERNORS];
};

struct quell_governed *quell_governed_alloc(void);
void quell_governed_count(struct quell_governed *governed, u8 from, u8 to, u64 now_ns);
void quell_governed_read(struct quell_governed *governed, struct quell_governed_sum *sum);

#endif /* _QUELL_GOVERNED_H */
