// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: free-running, per namespace, one share per CPU.  Each share has one writer at a
 * time (bottom halves off, or this_cpu_inc()); a reader adds them up.
 */
#include "netns/counters.h"
#include "netns/net.h"

#define COUNTER(counter_, name_, doc_) \
	QUELL_COUNTER(struct quell_counters, name_, value[QUELL_N_##counter_], doc_)

const struct quell_counter_desc quell_counter_descs[QUELL_N_MAX] = {
#include "netns/counter_rows.h"
};

u64 quell_percpu_sum(const void __percpu *block, u32 offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		/* Cores add without marks; the shares are not read at one moment. */
		sum += data_race(READ_ONCE(*(const u64 *)(per_cpu_ptr(block, cpu) + offset)));
	return sum;
}
