// SPDX-License-Identifier: GPL-2.0
/*
 * quell_badcontext: faults for the debugging options of a PREEMPT_RT kernel to report.
 *
 * When loaded it may sleep with preemption off, follows a pointer of RCU outside of a read
 * section, and may take a spinlock, which sleeps there, within a raw one.  The last report
 * turns lockdep off.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

static DEFINE_RAW_SPINLOCK(badcontext_raw);
static __maybe_unused DEFINE_SPINLOCK(badcontext_lock);
static int badcontext_value;
static int __rcu *badcontext_pointer = (int __force __rcu *)&badcontext_value;

static int __init badcontext_init(void)
{
	preempt_disable();
	might_sleep();
	preempt_enable();

	pr_info("value %d\n", *rcu_dereference(badcontext_pointer));

	raw_spin_lock(&badcontext_raw);
	might_lock(&badcontext_lock);
	raw_spin_unlock(&badcontext_raw);
	return 0;
}
module_init(badcontext_init);

static void __exit badcontext_exit(void)
{
}
module_exit(badcontext_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Faults for debugging options to report");
