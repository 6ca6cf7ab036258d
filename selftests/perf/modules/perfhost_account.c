// SPDX-License-Identifier: GPL-2.0
/*
 * quell_perfhost: instructions by host.
 *
 *	echo reset > /sys/module/quell_perfhost/parameters/account
 *	cat /sys/module/quell_perfhost/parameters/account
 *
 * begins, and prints the counts since then: "ticks ACCOUNT NUMBER" for each account,
 * which add up to "elapsed ticks" (by the processor's counter) and, under QEMU's
 * -icount, to "elapsed ns"; "device NAME ..." with the counters of a device; and
 * "timer NAME EXPIRIES ACCOUNT" for each function of a timer.
 *
 * One processor.  A process counts for the host of its namespace: the one its
 * device is in at the reset.  Polling counts for the host of the device.  Any other
 * softirq counts for the host of the device that it sends through, else for the owner of the
 * timer that fired in it; an interrupt for the owner of its timer.  Work without an owner
 * is "other".  A probe does not count itself, only the jump to it is in the figures.
 */
#include <linux/interrupt.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/tracepoint.h>
#include <net/net_namespace.h>

#include "perfhost.h"

#define TIMERS_MAX	24
#define NOBODY		(-1)

static const char * const account_names[PERFHOST_ACCOUNTS] = {
	"idle", "other", "sender", "network", "receiver", "wire", "probe", "softirq", "irq",
};

/* A function that timers call. */
struct perfhost_fn {
	void			*fn;	/* its address */
	u64			expiries;	/* times it was called */
	enum perfhost_account	account;	/* owner of its instructions if it does not send */
};

/**
 * struct account - counts since the reset
 * @ticks: by account
 * @since: counter at the last change of account
 * @now: account of the present moment
 * @base: account that a softirq and an interrupt interrupted, each
 * @owner: of pending work in either, or NOBODY
 * @begin: counter at the reset
 * @begin_ns: time at the reset
 * @hosts: namespaces of the hosts
 * @stats: counters of the devices at the reset
 * @fns: timers
 *
 * Read and written with interrupts off, on one processor.
 */
static struct account {
	u64			ticks[PERFHOST_ACCOUNTS];
	u64			since;
	enum perfhost_account	now;
	enum perfhost_account	base[2];
	int			owner[2];
	u64			begin;
	u64			begin_ns;
	struct net		*hosts[PERFHOST_DEVICES];
	struct perfhost_stats	stats[PERFHOST_DEVICES];
	struct perfhost_fn	fns[TIMERS_MAX];
} account;

static u64 perfhost_ticks(void)
{
	u32 low, high;

	asm volatile("rdtsc" : "=a" (low), "=d" (high) : : "memory");
	return (u64)high << 32 | low;
}

/* Count the instructions since the last change. */
static void account_until(u64 ticks)
{
	account.ticks[account.now] += ticks - account.since;
	account.since = ticks;
}

/**
 * perfhost_enter() - instructions from here on count for another account
 * @to: that account
 *
 * Return: the account until now.
 */
enum perfhost_account perfhost_enter(enum perfhost_account to)
{
	enum perfhost_account before;
	unsigned long flags;

	local_irq_save(flags);
	account_until(perfhost_ticks());
	before = account.now;
	account.now = to;
	local_irq_restore(flags);
	return before;
}

static int pending_level(void)
{
	return account.now == PERFHOST_IRQ;
}

/* Book pending work of a softirq (0) or an interrupt (1). */
static void account_book(int level)
{
	u64 *pending = &account.ticks[PERFHOST_SOFTIRQ + level];
	int owner = account.owner[level];

	account.ticks[owner == NOBODY ? PERFHOST_OTHER : owner] += *pending;
	*pending = 0;
}

/**
 * perfhost_own() - the softirq or interrupt under way is this account's
 * @to: that account
 */
void perfhost_own(enum perfhost_account to)
{
	unsigned long flags;
	int level;

	local_irq_save(flags);
	level = pending_level();
	if (account.owner[level] != NOBODY && account.owner[level] != to) {
		account_until(perfhost_ticks());
		account_book(level);
	}
	account.owner[level] = to;
	local_irq_restore(flags);
}

/* A probe begins: the account that it interrupts is charged until here. */
static unsigned long probe_begin(void)
{
	unsigned long flags;

	local_irq_save(flags);
	account_until(perfhost_ticks());
	return flags;
}

static void probe_end(unsigned long flags)
{
	u64 ticks = perfhost_ticks();

	account.ticks[PERFHOST_PROBE] += ticks - account.since;
	account.since = ticks;
	local_irq_restore(flags);
}

static void level_begin(int level)
{
	unsigned long flags = probe_begin();

	account.base[level] = account.now;
	account.owner[level] = NOBODY;
	account.now = PERFHOST_SOFTIRQ + level;
	probe_end(flags);
}

static void level_end(int level)
{
	unsigned long flags = probe_begin();

	/* The first end after the probes were set may lack its beginning. */
	if (account.now == PERFHOST_SOFTIRQ + level) {
		account_book(level);
		account.now = account.base[level];
	}
	probe_end(flags);
}

static enum perfhost_account task_account(const struct task_struct *task)
{
	const struct nsproxy *nsproxy = READ_ONCE(task->nsproxy);
	int i;

	if (!task->pid)
		return PERFHOST_IDLE;
	for (i = 0; nsproxy && i < PERFHOST_DEVICES; i++)
		if (nsproxy->net_ns == account.hosts[i])
			return i == 0 ? PERFHOST_SENDER :
			       i == PERFHOST_DEVICES - 1 ? PERFHOST_RECEIVER : PERFHOST_NETWORK;
	return PERFHOST_OTHER;
}

static void probe_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int state)
{
	unsigned long flags = probe_begin();

	account.now = task_account(next);
	probe_end(flags);
}

static void probe_softirq_entry(void *data, unsigned int vec)
{
	level_begin(0);
}

static void probe_softirq_exit(void *data, unsigned int vec)
{
	level_end(0);
}

static void probe_timer_irq_entry(void *data, int vector)
{
	level_begin(1);
}

static void probe_timer_irq_exit(void *data, int vector)
{
	level_end(1);
}

static void probe_irq_entry(void *data, int irq, struct irqaction *action)
{
	level_begin(1);
}

static void probe_irq_exit(void *data, int irq, struct irqaction *action, int ret)
{
	level_end(1);
}

/* TCP's timers and Quell's are the sender's, unless they send through another device. */
static enum perfhost_account fn_account(void *fn)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%pS", fn);
	if (strstarts(name, "tcp_orphan"))
		return PERFHOST_OTHER;
	if (strstarts(name, "tcp_") || strstr(name, "[quell]"))
		return PERFHOST_SENDER;
	if (strstarts(name, "qdisc_watchdog") || strstr(name, "[sch_swport]"))
		return PERFHOST_NETWORK;
	return PERFHOST_OTHER;
}

static enum perfhost_account count_expiry(void *fn)
{
	struct perfhost_fn *entry;
	int i;

	for (i = 0; i < TIMERS_MAX; i++) {
		entry = &account.fns[i];
		if (!entry->fn) {
			entry->fn = fn;
			entry->account = fn_account(fn);
		}
		if (entry->fn != fn)
			continue;
		entry->expiries++;
		return entry->account;
	}
	return PERFHOST_OTHER;
}

static void probe_hrtimer(void *data, struct hrtimer *timer, ktime_t *now)
{
	unsigned long flags = probe_begin();
	enum perfhost_account owner = perfhost_timer_account(timer);

	if (owner == PERFHOST_OTHER)
		owner = count_expiry(timer->function);
	perfhost_own(owner);
	probe_end(flags);
}

static void probe_wheel(void *data, struct timer_list *timer, unsigned long baseclk)
{
	unsigned long flags = probe_begin();

	perfhost_own(count_expiry(timer->function));
	probe_end(flags);
}

static struct {
	const char		*name;
	void			*probe;
	struct tracepoint	*point;
} probes[] = {
	{ "sched_switch", probe_switch },
	{ "softirq_entry", probe_softirq_entry },
	{ "softirq_exit", probe_softirq_exit },
	{ "local_timer_entry", probe_timer_irq_entry },
	{ "local_timer_exit", probe_timer_irq_exit },
	{ "irq_handler_entry", probe_irq_entry },
	{ "irq_handler_exit", probe_irq_exit },
	{ "hrtimer_expire_entry", probe_hrtimer },
	{ "timer_expire_entry", probe_wheel },
};

static void find_point(struct tracepoint *point, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(point->name, probes[i].name))
			probes[i].point = point;
}

static void account_reset(void)
{
	struct perfhost_stats stats[PERFHOST_DEVICES];
	struct net *hosts[PERFHOST_DEVICES];
	unsigned long flags;
	int i;

	for (i = 0; i < PERFHOST_DEVICES; i++) {
		hosts[i] = dev_net(perfhost_device(i));
		stats[i] = *perfhost_device_stats(i);
	}
	local_irq_save(flags);
	memset(&account, 0, sizeof(account));
	memcpy(account.hosts, hosts, sizeof(hosts));
	memcpy(account.stats, stats, sizeof(stats));
	account.owner[0] = NOBODY;
	account.owner[1] = NOBODY;
	account.begin_ns = ktime_get_ns();
	account.begin = perfhost_ticks();
	account.since = account.begin;
	account.now = task_account(current);
	local_irq_restore(flags);
}

static int account_set(const char *value, const struct kernel_param *kp)
{
	if (!sysfs_streq(value, "reset"))
		return -EINVAL;
	/* Of the module's own parameters: devices come later. */
	if (!perfhost_device(PERFHOST_DEVICES - 1))
		return -ENODEV;
	account_reset();
	return 0;
}

static int show_devices(char *buffer, int at, const struct account *seen)
{
	const struct perfhost_stats *stats, *then;
	int i;

	for (i = 0; i < PERFHOST_DEVICES; i++) {
		stats = perfhost_device_stats(i);
		then = &seen->stats[i];
		at += sysfs_emit_at(buffer, at, "device ph%d %llu %llu %llu %llu %llu %llu\n", i,
				    stats->tx_skbs - then->tx_skbs,
				    stats->tx_pkts - then->tx_pkts,
				    stats->tx_bytes - then->tx_bytes,
				    stats->rx_pkts - then->rx_pkts,
				    stats->interrupts - then->interrupts,
				    stats->busy_ns - then->busy_ns);
	}
	return at;
}

static int account_get(char *buffer, const struct kernel_param *kp)
{
	struct account *seen = kmalloc(sizeof(*seen), GFP_KERNEL);
	unsigned long flags;
	u64 elapsed_ns;
	int i, at = 0;

	if (!seen)
		return -ENOMEM;
	local_irq_save(flags);
	account_until(perfhost_ticks());
	elapsed_ns = ktime_get_ns() - account.begin_ns;
	*seen = account;
	local_irq_restore(flags);
	at += sysfs_emit_at(buffer, at, "elapsed ticks %llu\nelapsed ns %llu\n",
			    seen->since - seen->begin, elapsed_ns);
	for (i = 0; i < PERFHOST_ACCOUNTS; i++)
		at += sysfs_emit_at(buffer, at, "ticks %s %llu\n", account_names[i],
				    seen->ticks[i]);
	at = show_devices(buffer, at, seen);
	for (i = 0; i < TIMERS_MAX && seen->fns[i].fn; i++)
		at += sysfs_emit_at(buffer, at, "timer %ps %llu %s\n", seen->fns[i].fn,
				    seen->fns[i].expiries, account_names[seen->fns[i].account]);
	kfree(seen);
	return at;
}

static const struct kernel_param_ops account_ops = {
	.set = account_set,
	.get = account_get,
};

module_param_cb(account, &account_ops, NULL, 0600);
MODULE_PARM_DESC(account, "write reset; read: instructions by account, counters");

int perfhost_account_init(void)
{
	int i, err = 0;

	account_reset();
	for_each_kernel_tracepoint(find_point, NULL);
	for (i = 0; !err && i < ARRAY_SIZE(probes); i++) {
		if (!probes[i].point)
			err = -ENOENT;
		else
			err = tracepoint_probe_register(probes[i].point, probes[i].probe, NULL);
	}
	if (!err)
		return 0;
	while (--i > 0)
		tracepoint_probe_unregister(probes[i - 1].point, probes[i - 1].probe, NULL);
	tracepoint_synchronize_unregister();
	return err;
}

void perfhost_account_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		tracepoint_probe_unregister(probes[i].point, probes[i].probe, NULL);
	tracepoint_synchronize_unregister();
}
