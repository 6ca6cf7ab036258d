// SPDX-License-Identifier: GPL-2.0
/* hrtimer_upcoming(timer), of the laboratory's kernels: lab/kernel/um-timer-wheel.patch */
#include <linux/hrtimer.h>

struct hrtimer *quell_probe(void);
struct hrtimer *quell_probe(void)
{
	return hrtimer_upcoming(NULL);
}
