// SPDX-License-Identifier: GPL-2.0
/* The bases of timers, in a header of their own */
#include <linux/hrtimer_bases.h>

struct hrtimer_cpu_base *quell_probe(struct hrtimer *timer);
struct hrtimer_cpu_base *quell_probe(struct hrtimer *timer)
{
	return timer->base->cpu_base;
}
