// SPDX-License-Identifier: GPL-2.0
/* hrtimer_setup(timer, function, clock, mode) */
#include <linux/hrtimer.h>

static enum hrtimer_restart probe(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

void quell_probe(struct hrtimer *timer);
void quell_probe(struct hrtimer *timer)
{
	hrtimer_setup(timer, probe, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
