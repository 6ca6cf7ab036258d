/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labnic reports pauses: for a trace, and to end a run that is stuck.
 */
#ifndef _QUELL_LABNIC_PAUSE_H
#define _QUELL_LABNIC_PAUSE_H

#include <linux/types.h>

/* The state change of a port. */
enum labnic_pause_event {
	LABNIC_PAUSED,	/* a priority of it waits from now on */
	LABNIC_RESUMED,	/* it goes on */
	LABNIC_DEADLOCK,	/* it and others wait for each other forever */
};

/**
 * typedef labnic_pause_notify_fn - called for each event
 * @event: kind of event
 * @text: name of the port, which stays valid while the port exists; of a deadlock the names of
 *	its ports, valid during the call
 * @priority: of which priority
 * @time_ns: time of the event, CLOCK_MONOTONIC
 *
 * Called in softirq, one call at a time.
 */
typedef void (*labnic_pause_notify_fn)(enum labnic_pause_event event, const char *text, u8 priority,
				       u64 time_ns);

void quell_labnic_pauses(labnic_pause_notify_fn fn);

#endif /* _QUELL_LABNIC_PAUSE_H */
