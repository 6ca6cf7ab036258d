/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Initialising a high-resolution timer.  Newer kernels have hrtimer_setup() and
 * no hrtimer_init(); with older ones the caller must store the function afterwards.
 */
#ifndef _QUELL_COMPAT_HRTIMER_H
#define _QUELL_COMPAT_HRTIMER_H

#include <compat/compat.h>
#include <linux/hrtimer.h>

static inline void
quell_hrtimer_setup(struct hrtimer *timer,
		    enum hrtimer_restart (*function)(struct hrtimer *timer),
		    clockid_t clock, enum hrtimer_mode mode)
{
#ifdef QUELL_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

#endif /* _QUELL_COMPAT_HRTIMER_H */
