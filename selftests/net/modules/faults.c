// SPDX-License-Identifier: GPL-2.0
/*
 * quell_faults: makes calls of our modules fail that were compiled with faults.h.
 *
 *	fail=PROCESS NTH	the NTH call from now on that this process makes; 0: no call
 *	every=N			one of N calls of any context; 0: no call
 *
 * Reading "fail" prints how many calls PROCESS has made since, and how many failed of all.
 *
 * Modules that were refused are loaded again, often to where others were.  User-mode Linux leaves
 * KASAN's red zones of a module's variables when it is freed, and KASAN would report the next one
 * there: they are cleared.
 */
#include <linux/atomic.h>
#include <linux/kasan.h>
#include <linux/module.h>
#include <linux/sched.h>

bool quell_fault(void);

static pid_t faults_process;
static int faults_nth;
static atomic_t faults_calls, faults_failed, faults_any;

static unsigned int faults_every;
module_param_named(every, faults_every, uint, 0644);
MODULE_PARM_DESC(every, "One of so many calls of any context fails; 0: no call.");

static bool faults_is_of_any(void)
{
	unsigned int every = READ_ONCE(faults_every);

	return every && !(atomic_inc_return(&faults_any) % every);
}

static bool faults_is_of_process(void)
{
	return in_task() && current->tgid == READ_ONCE(faults_process) &&
	       atomic_inc_return(&faults_calls) == READ_ONCE(faults_nth);
}

bool quell_fault(void)
{
	bool fails = faults_is_of_process() || faults_is_of_any();

	if (fails)
		atomic_inc(&faults_failed);
	return fails;
}
EXPORT_SYMBOL_GPL(quell_fault);

static int faults_set(const char *value, const struct kernel_param *param)
{
	int process, nth;

	if (sscanf(value, "%d %d", &process, &nth) != 2)
		return -EINVAL;
	WRITE_ONCE(faults_process, 0);
	atomic_set(&faults_calls, 0);
	atomic_set(&faults_failed, 0);
	WRITE_ONCE(faults_nth, nth);
	WRITE_ONCE(faults_process, process);
	return 0;
}

static int faults_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%d %d\n", atomic_read(&faults_calls),
			  atomic_read(&faults_failed));
}

static const struct kernel_param_ops faults_ops = {
	.set = faults_set,
	.get = faults_get,
};

module_param_cb(fail, &faults_ops, NULL, 0644);
MODULE_PARM_DESC(fail, "Process, and the number of its call that fails.");

#if IS_ENABLED(CONFIG_UML) && IS_ENABLED(CONFIG_KASAN_GENERIC)
static void faults_clear(const struct module_memory *memory)
{
	u8 *shadow = kasan_mem_to_shadow(memory->base);
	size_t i;

	for (i = 0; memory->base && i < memory->size >> KASAN_SHADOW_SCALE_SHIFT; i++)
		WRITE_ONCE(shadow[i], 0);
}

static int faults_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct module *module = data;

	if (event == MODULE_STATE_GOING)
		for_each_mod_mem_type(type)
			faults_clear(&module->mem[type]);
	if (event == MODULE_STATE_LIVE)
		for_class_mod_mem_type(type, init)
			faults_clear(&module->mem[type]);
	return NOTIFY_DONE;
}

static struct notifier_block faults_notifier = {
	.notifier_call = faults_module_event,
};

static int __init faults_init(void)
{
	return register_module_notifier(&faults_notifier);
}

static void __exit faults_exit(void)
{
	unregister_module_notifier(&faults_notifier);
}

module_init(faults_init);
module_exit(faults_exit);
#endif

MODULE_DESCRIPTION("Quell self-test: calls that fail");
MODULE_LICENSE("GPL");
