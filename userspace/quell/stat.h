/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of "quell stat": increments since the last call, and the counters as metrics.
 */
#ifndef QUELL_CLI_STAT_H
#define QUELL_CLI_STAT_H

#include <stdint.h>
#include <stdio.h>

#include "model.h"

/* A counter as it was at the last call. */
struct past {
	char		group[32];	/* algorithm, or "quell" */
	char		name[64];
	uint64_t	value;
};

struct history {
	struct past	*list;
	size_t		n;
	uint64_t	time_ns;	/* of that call, CLOCK_BOOTTIME */
};

/* stat_history.c */
int history_read(struct history *h, FILE *file, const char *id);
int history_write(const struct stat_list *stats, uint64_t now_ns, FILE *file, const char *id);
const struct past *history_find(const struct history *h, const char *group, const char *name);
uint64_t history_count(const struct past *past, uint64_t value);
void history_free(struct history *h);
int history_load(struct history *h, const char *path, const char *id);
int history_store(const struct stat_list *stats, uint64_t now_ns, const char *path, const char *id);
int history_path(char *path, size_t path_len, char *id, size_t id_len);

struct metrics {
	const struct stat_list	*stats;	/* the counters */
	const struct cc_list	*ccs;	/* the algorithms, for their numbers of flows */
	const char		*netns;	/* label of all, or NULL */
};

/* stat_metrics.c */
void metrics_print(FILE *file, const struct metrics *m);

#endif /* QUELL_CLI_STAT_H */
