/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flows of "quell flow watch", with their past.
 */
#ifndef QUELL_CLI_WATCH_H
#define QUELL_CLI_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow.h"

/* A flow and its past. */
struct watch_row {
	/* identifies a flow: the socket's cookie, or a hash of addresses and ports */
	uint64_t		key;
	struct flow		flow;	/* at the last sample; its texts are the row's */
	struct flow_past	past;	/* samples */
};

/* All flows, and the selection. */
struct watch {
	struct watch_row	*rows;		/* in the order of @sort */
	size_t			n;
	uint64_t		sampled_ns;	/* time of the last sample; 0: no sample yet */
	int			sort;		/* position of the key among those of "flow show" */
	bool			ascending;	/* smallest first */
	size_t			at;		/* position of the selected flow */
	size_t			top;		/* position of the first one on the screen */
	/* key of the flow that remains selected when it moves; 0: the position does */
	uint64_t		follow;
};

uint64_t watch_key(const struct flow *f);
int watch_take(struct watch *w, struct flow_list *list, uint64_t now_ns);
void watch_sort(struct watch *w);
void watch_move(struct watch *w, long lines);
void watch_scroll(struct watch *w, size_t lines);
void watch_sum(const struct watch *w, char *text, size_t len);
void watch_free(struct watch *w);

#endif /* QUELL_CLI_WATCH_H */
