/* SPDX-License-Identifier: GPL-2.0 */
/* The governors of an algorithm's windows in one namespace, and for how long; governed.c. */
#ifndef _QUELL_GOVERNED_H
#define _QUELL_GOVERNED_H

#include <linux/spinlock.h>
#include <quell/quell.h>

/* A flow that has not begun, or has ended. */
#define QUELL_UNGOVERNED	QUELL_GOVERNORS

/*
 * A governor's time is @ms plus the present time for each flow that it has now, so a reader need
 * not visit the flows.  One lock, not one per CPU: that would cost 272 bytes for each algorithm and
 * CPU in each namespace.
 */
struct quell_governed {
	spinlock_t	lock;	/* protects the rest */
	u64		begun[QUELL_GOVERNORS];	/* times that a governor took over a flow */
	u64		ended[QUELL_GOVERNORS];	/* times that another did, or the flow ended */
	/* Times of @ended less those of @begun, modulo 2^64. */
	u64		ms[QUELL_GOVERNORS];
	u64		read_ms[QUELL_GOVERNORS];	/* as last read */
};

struct quell_governed_sum {
	u64	begun[QUELL_GOVERNORS];	/* times that a governor took over a flow */
	u64	ms[QUELL_GOVERNORS];	/* time it governed, summed over flows */
};

void quell_governed_count(struct quell_governed *governed, u8 from, u8 to, u64 now_ns);
void quell_governed_read(struct quell_governed *governed, struct quell_governed_sum *sum);

#endif /* _QUELL_GOVERNED_H */
