/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of "quell monitor": its groups and its printers of events.
 */
#ifndef QUELL_CLI_MONITOR_H
#define QUELL_CLI_MONITOR_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "model.h"
#include "out.h"

struct monitor_args {
	bool		settings;	/* listen to changes of settings */
	bool		flows;		/* listen to events of flows */
	bool		stamp;		/* with the time, as ip -ts */
	uint64_t	buffer_bytes;	/* for events that were not read yet */
};

struct monitor_view {
	struct out		*o;		/* printer */
	bool			stamp;		/* with the time */
	struct timespec		now;		/* when the event was received */
	/* counters as they are known, to which those of events are compared */
	struct stat_list	counters;
	/* events were lost behind those that are still to be read */
	bool			lost;
	bool			deleted;	/* the event is of a group that was deleted */
};

/* monitor.c */
int monitor_args_parse(struct monitor_args *words, int argc, char **argv);

/* monitor_event.c */
int monitor_print(struct monitor_view *view, const struct nlmsghdr *nlh);
void monitor_print_overrun(struct monitor_view *view);

#endif /* QUELL_CLI_MONITOR_H */
