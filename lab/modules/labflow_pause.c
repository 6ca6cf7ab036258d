// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labflow: pauses of ports with priority flow control, from T0 on.  A deadlock ends the run.
 */
#include <linux/slab.h>

#include "labflow.h"
#include "labnic_pause.h"

static void labflow_pause_notify(enum labnic_pause_event event, const char *text, u8 priority,
				 u64 time_ns)
{
	struct labflow_pause_row *row;

	if (event == LABNIC_DEADLOCK) {
		labflow_fail("deadlock: by priority %u each waits for the next, in a ring: %s",
			     priority, text);
		return;
	}
	if (time_ns < lab.t0_ns)
		return;
	row = labflow_rows_add(&lab.pauses, "pause");
	if (!row)
		return;
	row->time_ns = time_ns - lab.t0_ns;
	row->port = text;
	row->priority = priority;
	row->paused = event == LABNIC_PAUSED;
}

void labflow_pause_start(void)
{
	quell_labnic_pauses(labflow_pause_notify);
}

void labflow_pause_stop(void)
{
	quell_labnic_pauses(NULL);
}

/* Empty the table.  Nobody listens. */
void labflow_pause_reset(void)
{
	labflow_rows_reset(&lab.pauses);
}

/* 0 or -ENOMEM. */
int labflow_pause_init(void)
{
	return labflow_rows_init(&lab.pauses, sizeof(struct labflow_pause_row));
}

void labflow_pause_exit(void)
{
	labflow_pause_reset();
	kvfree(lab.pauses.chunks);
}
