/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Initialising a high-resolution timer.  Newer kernels have hrtimer_setup() and
 * no hrtimer_init(); with older ones the caller must store the function afterwards.
 * And cancelling it for good, and the first timer of a base.
 */
#ifndef _QUELL_COMPAT_HRTIMER_H
#define _QUELL_COMPAT_HRTIMER_H

#include <compat/compat.h>
#include <linux/hrtimer.h>
#include <linux/lockdep.h>
#include <linux/timerqueue.h>

#ifdef QUELL_HAVE_HRTIMER_BASES
#include <linux/hrtimer_bases.h>
#endif

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

/*
 * hrtimer_cancel(), which waits for a handler that runs.  On PREEMPT_RT it waits for the lock that
 * a CPU holds around all its handlers in softirq, TCP's among them.  Lockdep is shown that lock
 * here even if no handler runs.
 *
 * Context: no lock that any such handler takes, as a socket's.
 */
static inline void quell_hrtimer_cancel(struct hrtimer *timer)
{
#ifdef CONFIG_PREEMPT_RT
	might_lock(&timer->base->cpu_base->softirq_expiry_lock);
#endif
	hrtimer_cancel(timer);
}

/* The timer of a base of this CPU that expires next; NULL without one. */
static inline struct hrtimer *quell_hrtimer_first(struct hrtimer_clock_base *base)
{
#ifdef QUELL_HAVE_TIMERQUEUE_LINKED
	struct timerqueue_linked_node *first = timerqueue_linked_first(&base->active);
#else
	struct timerqueue_node *first = timerqueue_getnext(&base->active);
#endif

	return first ? container_of(first, struct hrtimer, node) : NULL;
}

#endif /* _QUELL_COMPAT_HRTIMER_H */
