// SPDX-License-Identifier: GPL-2.0
/*
 * What governs the windows of an algorithm's flows in one namespace: the algorithm, the search or
 * CUBIC, by reason, and for how long.  Changes are rare, some per flow, so each takes a lock of
 * its CPU; ACKs do not.
 */
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "netns/governed.h"
#include "netns/net.h"

/**
 * quell_governed_alloc() - begin to count
 *
 * Context: process, may sleep.
 * Return: counters that are 0, or NULL.
 */
struct quell_governed *quell_governed_alloc(void)
{
	struct quell_governed *governed = kzalloc(sizeof(*governed), GFP_KERNEL_ACCOUNT);
	int cpu;

	if (!governed)
		return NULL;
	governed->cpu = alloc_percpu_gfp(struct quell_governed_cpu, GFP_KERNEL_ACCOUNT);
	if (!governed->cpu) {
		kfree(governed);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		spin_lock_init(&per_cpu_ptr(governed->cpu, cpu)->lock);
	return governed;
}

/**
 * quell_governed_free() - undo quell_governed_alloc()
 * @governed: no flow is counted in it; may be NULL
 *
 * Context: process.
 */
void quell_governed_free(struct quell_governed *governed)
{
	if (governed)
		free_percpu(governed->cpu);
	kfree(governed);
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
	/* Its lock makes it right also on another CPU. */
	struct quell_governed_cpu *cpu = raw_cpu_ptr(governed->cpu);
	u64 now_ms = div_u64(now_ns, NSEC_PER_MSEC);

	spin_lock_bh(&cpu->lock);
	if (from != QUELL_UNGOVERNED) {
		cpu->ended[from]++;
		cpu->ms[from] += now_ms;
	}
	if (to != QUELL_UNGOVERNED) {
		cpu->begun[to]++;
		cpu->ms[to] -= now_ms;
	}
	spin_unlock_bh(&cpu->lock);
}

/**
 * quell_governed_read() - what was counted so far, flows that are open included
 * @governed: counters of an algorithm
 * @sum:      set in full
 *
 * A flow that changes CPU and governor meanwhile may be missing for as long as this takes; a
 * counter never decreases for that.
 *
 * Context: process, quell_mutex.
 */
void quell_governed_read(struct quell_governed *governed, struct quell_governed_sum *sum)
{
	u64 ended[QUELL_GOVERNORS] = {}, now_ms;
	int cpu, i;

	lockdep_assert_held(&quell_mutex);
	*sum = (struct quell_governed_sum) {};
	for_each_possible_cpu(cpu) {
		struct quell_governed_cpu *one = per_cpu_ptr(governed->cpu, cpu);

		spin_lock_bh(&one->lock);
		for (i = 0; i < QUELL_GOVERNORS; i++) {
			sum->begun[i] += one->begun[i];
			sum->ms[i] += one->ms[i];
			ended[i] += one->ended[i];
		}
		spin_unlock_bh(&one->lock);
	}
	now_ms = div_u64(ktime_get_ns(), NSEC_PER_MSEC);
	for (i = 0; i < QUELL_GOVERNORS; i++) {
		sum->ms[i] += (sum->begun[i] - ended[i]) * now_ms;
		/* The difference of two times modulo 2^64. */
		if ((s64)(sum->ms[i] - governed->read_ms[i]) < 0)
			sum->ms[i] = governed->read_ms[i];
		governed->read_ms[i] = sum->ms[i];
	}
}
