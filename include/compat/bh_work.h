/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work in softirq context, one run at a time: an item of a BH workqueue, as new code has it,
 * or, before 6.10, a tasklet.
 */
#ifndef _QUELL_COMPAT_BH_WORK_H
#define _QUELL_COMPAT_BH_WORK_H

#include <compat/compat.h>
#ifdef QUELL_HAVE_BH_WORK
#include <linux/workqueue.h>
#else
#include <linux/interrupt.h>
#endif

/**
 * struct quell_bh_work - work in softirq context
 * @item: the kernel's
 * @run: called with bottom halves off, never on two processors at a time
 */
struct quell_bh_work {
#ifdef QUELL_HAVE_BH_WORK
	struct work_struct	item;
#else
	struct tasklet_struct	item;
#endif
	void			(*run)(struct quell_bh_work *work);
};

#ifdef QUELL_HAVE_BH_WORK
static inline void quell_bh_work_run(struct work_struct *item)
{
	struct quell_bh_work *work = container_of(item, struct quell_bh_work, item);

	work->run(work);
}

static inline void quell_bh_work_init(struct quell_bh_work *work,
				      void (*run)(struct quell_bh_work *work))
{
	work->run = run;
	INIT_WORK(&work->item, quell_bh_work_run);
}

static inline void quell_bh_work_queue(struct quell_bh_work *work)
{
	queue_work(system_bh_wq, &work->item);
}

static inline void quell_bh_work_disable(struct quell_bh_work *work)
{
	disable_work_sync(&work->item);
}

static inline void quell_bh_work_enable(struct quell_bh_work *work)
{
	enable_work(&work->item);
	quell_bh_work_queue(work);
}

static inline void quell_bh_work_cancel(struct quell_bh_work *work)
{
	cancel_work_sync(&work->item);
}
#else
static inline void quell_bh_work_run(struct tasklet_struct *item)
{
	struct quell_bh_work *work = container_of(item, struct quell_bh_work, item);

	work->run(work);
}

/**
 * quell_bh_work_init() - initialise work that is not queued
 * @work: the work
 * @run: its function
 *
 * Context: any.
 */
static inline void quell_bh_work_init(struct quell_bh_work *work,
				      void (*run)(struct quell_bh_work *work))
{
	work->run = run;
	tasklet_setup(&work->item, quell_bh_work_run);
}

/**
 * quell_bh_work_queue() - run work soon, once however often it is queued until then
 * @work: the work
 *
 * While the work is disabled, whether the request is kept differs between kernels.
 *
 * Context: any.
 */
static inline void quell_bh_work_queue(struct quell_bh_work *work)
{
	tasklet_schedule(&work->item);
}

/**
 * quell_bh_work_disable() - wait for a run of the work to end, and let no other begin
 * @work: the work
 *
 * Context: process.
 */
static inline void quell_bh_work_disable(struct quell_bh_work *work)
{
	tasklet_disable(&work->item);
}

/**
 * quell_bh_work_enable() - let disabled work run again, and queue it if calls were missed
 * @work: the work
 *
 * Context: process.
 */
static inline void quell_bh_work_enable(struct quell_bh_work *work)
{
	tasklet_enable(&work->item);
	quell_bh_work_queue(work);
}

/**
 * quell_bh_work_cancel() - wait until the work neither runs nor is queued
 * @work: the work, which only its own run may still queue
 *
 * Context: process.
 */
static inline void quell_bh_work_cancel(struct quell_bh_work *work)
{
	tasklet_kill(&work->item);
}
#endif

#endif /* _QUELL_COMPAT_BH_WORK_H */
