// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: deadlocks of paused ports, and reports of pauses.
 *
 * A port is stuck if it pauses the other end of its cable, and no frame received on it has left
 * its switch for 10 ms and more, by however long 64 of the largest frames and a round trip take
 * on the slowest and the longest cable.  Its frames are queued at ports of its switch that are
 * paused themselves.  Where stuck ports wait for each other in a circle, they stay so forever.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#include <compat/hrtimer.h>

#include "labnic.h"

#define DEADLOCK_STUCK_NS	(10 * NSEC_PER_MSEC)
#define DEADLOCK_FRAMES		64
#define DEADLOCK_TEXT_BYTES	120

static LIST_HEAD(deadlock_ports);
static DEFINE_SPINLOCK(deadlock_lock);	/* the list, and the fields below */
static u64 deadlock_stuck_ns = DEADLOCK_STUCK_NS;
static bool deadlock_reported;
static struct hrtimer deadlock_timer;

static labnic_pause_notify_fn pause_notify_fn;

/**
 * quell_labnic_pauses() - register a function to be called for every pause
 * @fn: called from now on; NULL removes it
 *
 * Context: process context.
 */
void quell_labnic_pauses(labnic_pause_notify_fn fn)
{
	WRITE_ONCE(pause_notify_fn, fn);
}
EXPORT_SYMBOL_GPL(quell_labnic_pauses);

/* Softirq. */
void labnic_pause_notify(enum labnic_pause_event event, const char *text, u8 priority, u64 time_ns)
{
	labnic_pause_notify_fn fn = READ_ONCE(pause_notify_fn);

	if (fn)
		fn(event, text, priority, time_ns);
}

/* Whether a stuck port's pause holds up the switch that another stuck port belongs to. */
static bool deadlock_is_next(const struct labnic_pfc *pfc, const struct labnic_pfc *next, int i)
{
	const struct net_device *before = rcu_dereference(next->port->peer);

	return next->class[i].stuck && before && before != pfc->port->dev &&
	       net_eq(dev_net(before), dev_net(pfc->port->dev));
}

/* A stuck port that this one may wait for, or NULL. */
static struct labnic_pfc *deadlock_next(const struct labnic_pfc *pfc, int i)
{
	struct labnic_pfc *next;

	list_for_each_entry(next, &deadlock_ports, list)
		if (deadlock_is_next(pfc, next, i))
			return next;
	return NULL;
}

/* Note which ports are stuck; whether any still pauses the other end. */
static bool deadlock_note_stuck(u64 now_ns, int i)
{
	struct labnic_pfc *pfc;
	bool pausing = false;

	list_for_each_entry(pfc, &deadlock_ports, list) {
		struct labnic_pfc_class *class = &pfc->class[i];

		class->stuck = class->pausing && now_ns - class->moved_ns >= deadlock_stuck_ns;
		pausing |= class->pausing;
	}
	return pausing;
}

/* A port of a circle, or NULL.  A port that waits for no stuck one will be resumed. */
static struct labnic_pfc *deadlock_find(int i)
{
	struct labnic_pfc *pfc, *left;
	int stuck, before = INT_MAX;

	for (;;) {
		stuck = 0;
		left = NULL;
		list_for_each_entry(pfc, &deadlock_ports, list) {
			if (!pfc->class[i].stuck)
				continue;
			pfc->class[i].stuck = deadlock_next(pfc, i);
			if (pfc->class[i].stuck) {
				left = pfc;
				stuck++;
			}
		}
		if (stuck == before)
			break;
		before = stuck;
	}
	/* Every one has a next, so after as many steps this is in a circle. */
	while (left && stuck--)
		left = deadlock_next(left, i);
	return left;
}

/*
 * The stuck ports of one part of a network, each with the port that it pauses.  The front end
 * searches those of all parts for a circle.
 */
static void deadlock_print_stuck(u64 now_ns, int i)
{
	const struct labnic_pfc *pfc;

	list_for_each_entry(pfc, &deadlock_ports, list) {
		const struct net_device *dev = rcu_dereference(pfc->port->peer);
		const struct labnic_port *paused = dev ? netdev_priv(dev) : NULL;

		if (pfc->class[i].stuck && paused)
			pr_alert("quell-stuck %llu %d %s %s\n", now_ns, i, pfc->config.name,
				 paused->pfc->config.name);
	}
}

/* The paused ports of a circle, each waiting for the one behind it. */
static void deadlock_report(const struct labnic_pfc *first, int i, u64 now_ns)
{
	const struct labnic_pfc *pfc = first;
	char text[DEADLOCK_TEXT_BYTES];
	size_t used = 0;

	do {
		const struct net_device *dev = rcu_dereference(pfc->port->peer);
		const struct labnic_port *paused = netdev_priv(dev);

		used += scnprintf(text + used, sizeof(text) - used, "%s%s", used ? ", " : "",
				  paused->pfc->config.name);
		pfc = deadlock_next(pfc, i);
	} while (pfc != first);
	labnic_pause_notify(LABNIC_DEADLOCK, text, i, now_ns);
}

static enum hrtimer_restart deadlock_check(struct hrtimer *timer)
{
	u64 now_ns = ktime_get_ns();
	struct labnic_pfc *found;
	bool pausing = false;
	int i;

	spin_lock(&deadlock_lock);
	rcu_read_lock();
	for (i = 0; i < QUELLNIC_PFC_PRIORITIES && !deadlock_reported; i++) {
		pausing |= deadlock_note_stuck(now_ns, i);
		if (labnic_part_is_divided())
			deadlock_print_stuck(now_ns, i);
		found = deadlock_find(i);
		if (found) {
			deadlock_report(found, i, now_ns);
			deadlock_reported = true;
		}
	}
	rcu_read_unlock();
	spin_unlock(&deadlock_lock);
	if (!pausing || deadlock_reported)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(DEADLOCK_STUCK_NS));
	return HRTIMER_RESTART;
}

/* A port has sent a pause: check for deadlocks, in all parts of a network at the same times. */
void labnic_deadlock_watch(void)
{
	u64 next_ns = ktime_get_ns() + DEADLOCK_STUCK_NS;

	if (labnic_part_is_divided())
		next_ns = roundup_u64(next_ns, DEADLOCK_STUCK_NS);
	if (!hrtimer_active(&deadlock_timer))
		hrtimer_start(&deadlock_timer, ns_to_ktime(next_ns), HRTIMER_MODE_ABS_SOFT);
}

void labnic_deadlock_add(struct labnic_pfc *pfc)
{
	const struct labnic_port *port = pfc->port;
	u64 bits = 8ULL * DEADLOCK_FRAMES * LABNIC_MTU_MAX_BYTES;

	spin_lock_bh(&deadlock_lock);
	list_add_tail(&pfc->list, &deadlock_ports);
	deadlock_stuck_ns = max(deadlock_stuck_ns, DEADLOCK_STUCK_NS + 2 * port->delay_ns +
				div64_u64(bits * NSEC_PER_SEC, port->rate_bits_ps));
	spin_unlock_bh(&deadlock_lock);
}

void labnic_deadlock_remove(struct labnic_pfc *pfc)
{
	bool last;

	spin_lock_bh(&deadlock_lock);
	list_del(&pfc->list);
	last = list_empty(&deadlock_ports);
	spin_unlock_bh(&deadlock_lock);
	if (!last)
		return;
	hrtimer_cancel(&deadlock_timer);
	deadlock_stuck_ns = DEADLOCK_STUCK_NS;
	deadlock_reported = false;
}

void labnic_deadlock_init(void)
{
	quell_hrtimer_setup(&deadlock_timer, deadlock_check, CLOCK_MONOTONIC,
			    HRTIMER_MODE_ABS_SOFT);
}
