// SPDX-License-Identifier: GPL-2.0
/*
 * quell_stall: a machine that stops, as a guest does without a processor of its host.
 *
 * Loading it stops all processors, with interrupts off, STALLS times for STALL_MS.  They run for
 * PAUSE_MS in between.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/stop_machine.h>

#define STALLS		10
#define STALL_MS	20
#define PAUSE_MS	60

static int stall_once(void *unused)
{
	mdelay(STALL_MS);
	return 0;
}

static int __init stall_init(void)
{
	int i;

	for (i = 0; i < STALLS; i++) {
		stop_machine(stall_once, NULL, NULL);
		msleep(PAUSE_MS);
	}
	return 0;
}
module_init(stall_init);

static void __exit stall_exit(void)
{
}
module_exit(stall_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Stops all processors, for tests of timers");
