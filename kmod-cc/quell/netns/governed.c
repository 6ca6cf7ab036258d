// SPDX-License-Identifier: GPL-2.0
/*
 * What governs the windows of an algorithm's flows in one namespace: the algorithm, the search or
 * CUBIC, by reason, and for how long.  Changes are rare, some per flow, so each takes a lock; ACKs
 * do not.
 */
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "netns/governed.h"

/**
 * quell_governed_alloc() - begin to count
 *
 * Context: process, may sleep.
 * Return: counters that are 0, to be freed by kfree(), or NULL.
 */
struct quell_governed *quell_governed_alloc(void)
{
	struct quell_governed *governed = kzalloc(sizeof(*governed), GFP_KERNEL_ACCOUNT);

	if (governed)
		spin_lock_init(&governed->lock);
	return governed;
}

/**
 * quell_governed_count() - another governs a flow's window
 * @governed: the counters of its algorithm
 * @from:     governor until now; QUELL_UNGOVERNED: the flow begins
 * @to:       governor from now on; QUELL_UNGOVERNED: the flow ends
 * @now_ns:   CLOCK_MONOTONIC, ns
 *
 * Whole milliseconds of the clock are counted: a shorter time counts as one or as none, on average
 * as it is.
 *
 * Context: any but hard interrupts.
 */
void quell_governed_count(struct quell_governed *governed, u8 from, u8 to, u64 now_ns)
{
	u64 now_ms = div_u64(now_ns, NSEC_PER_MSEC);

	spin_lock_bh(&governed->lock);
	if (from != QUELL_UNGOVERNED) {
		governed->ended[from]++;
		governed->ms[from] += now_ms;
	}
	if (to != QUELL_UNGOVERNED) {
		governed->begun[to]++;
		governed->ms[to] -= now_ms;
	}
	spin_unlock_bh(&governed->lock);
}

/**
 * quell_governed_read() - what was counted so far, flows that are open included
 * @governed: counters of an algorithm
 * @sum:      set in full
 *
 * The time of a change may be older than that of a reading before it, by the time for which the
 * change had to wait for the lock; a counter never decreases for that.
 *
 * Context: process, quell_mutex, under which the counters are freed.
 */
void quell_governed_read(struct quell_governed *governed, struct quell_governed_sum *sum)
{
	u64 now_ms, open;
	int i;

	spin_lock_bh(&governed->lock);
	now_ms = div_u64(ktime_get_ns(), NSEC_PER_MSEC);
	for (i = 0; i < QUELL_GOVERNORS; i++) {
		open = governed->begun[i] - governed->ended[i];
		sum->begun[i] = governed->begun[i];
		sum->ms[i] = governed->ms[i] + open * now_ms;
		/* The difference of two times modulo 2^64. */
		if ((s64)(sum->ms[i] - governed->read_ms[i]) < 0)
			sum->ms[i] = governed->read_ms[i];
		governed->read_ms[i] = sum->ms[i];
	}
	spin_unlock_bh(&governed->lock);
}
