// SPDX-License-Identifier: GPL-2.0
/*
 * The governors of an algorithm's windows in one namespace, by reason, and for how long.
 * Changes are rare, some per flow, so each takes a lock; ACKs do not.
 */
#include <linux/ktime.h>
#include "netns/governed.h"

/*
 * QUELL_UNGOVERNED: the flow begins or ends.  @now_ns is rounded down to ms, without bias on
 * average.  Not in hard interrupts.
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

/*
 * Open flows included.  A change that blocked on the lock has a time older than an earlier
 * reading's; a counter never decreases for that.  quell_mutex, under which the counters are freed.
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
