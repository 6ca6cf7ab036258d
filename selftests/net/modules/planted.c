// SPDX-License-Identifier: GPL-2.0
/*
 * quell_planted: a race for KCSAN to find.
 *
 * While it is loaded, a thread on each processor adds to two counters: one by plain accesses,
 * in planted_plain(), which is a race; one by marked accesses, which is not to be reported.
 */
#include <linux/cpu.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

#define PLANTED_THREADS	2

static struct task_struct *planted_threads[PLANTED_THREADS];
static unsigned long planted_racy, planted_marked;

static noinline void planted_plain(void)
{
	planted_racy++;
}

static noinline void planted_mark(void)
{
	WRITE_ONCE(planted_marked, READ_ONCE(planted_marked) + 1);
}

static int planted_run(void *unused)
{
	while (!kthread_should_stop()) {
		planted_plain();
		planted_mark();
		cond_resched();
	}
	return 0;
}

static void planted_exit(void)
{
	int i;

	for (i = 0; i < PLANTED_THREADS; i++)
		if (!IS_ERR_OR_NULL(planted_threads[i]))
			kthread_stop(planted_threads[i]);
}

static int __init planted_init(void)
{
	int i;

	for (i = 0; i < PLANTED_THREADS; i++) {
		planted_threads[i] = kthread_create(planted_run, NULL, "planted/%d", i);
		if (IS_ERR(planted_threads[i])) {
			planted_exit();
			return PTR_ERR(planted_threads[i]);
		}
		if (cpu_online(i))
			kthread_bind(planted_threads[i], i);
		wake_up_process(planted_threads[i]);
	}
	return 0;
}
module_init(planted_init);
module_exit(planted_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A race for KCSAN to find");
