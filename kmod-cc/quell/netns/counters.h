/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of quell.ko, counter_rows.h.
 */
#ifndef _QUELL_COUNTERS_H
#define _QUELL_COUNTERS_H

#include <linux/types.h>

/* Counters of quell.ko in one namespace. */
#define COUNTER(counter_, ...)	QUELL_N_##counter_

enum quell_counter {
#include "netns/counter_rows.h"
	QUELL_N_MAX,
};

#undef COUNTER

struct quell_counters {
	u64	value[QUELL_N_MAX];	/* one CPU's share */
};

#endif /* _QUELL_COUNTERS_H */
