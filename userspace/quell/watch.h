/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of "quell flow watch": flows with their past, the selection, and the screen.
 */
#ifndef QUELL_CLI_WATCH_H
#define QUELL_CLI_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow.h"

/* Looks that a flow remembers, as many as a sparkline is wide at most. */
#define WATCH_PAST	32

/* A missing sample. */
#define WATCH_UNKNOWN	(-1.0f)

enum watch_series {
	WATCH_RATE,		/* bytes/s acknowledged since the look before */
	WATCH_RTT,		/* ns */
	WATCH_DELAY,		/* ns above the smallest RTT */
	WATCH_SERIES
};

/**
 * struct watch_row - a flow and its past
 * @key: identifies a flow: the socket's cookie, or a hash of addresses and ports
 * @flow: at the last look; its texts are the row's
 * @past: samples, the newest last
 */
struct watch_row {
	uint64_t	key;
	struct flow	flow;
	float		past[WATCH_SERIES][WATCH_PAST];
};

/**
 * struct watch - all flows, and which of them are seen
 * @rows: sorted by key
 * @order: the same in the order wanted
 * @n: number of both
 * @sampled_ns: time of the last look, 0: no sample yet
 * @looks: number of looks
 * @sort: position of the key among those of "flow show"
 * @ascending: smallest first
 * @at: position of the chosen flow in @order
 * @top: position of the first one that is seen
 * @follow: key of the flow that stays chosen wherever it goes; 0: the position does
 */
struct watch {
	struct watch_row	*rows;
	struct watch_row	**order;
	size_t			n;
	uint64_t		sampled_ns;
	uint64_t		looks;
	int			sort;
	bool			ascending;
	size_t			at;
	size_t			top;
	uint64_t		follow;
};

/* watch_table.c */
uint64_t watch_key(const struct flow *f);
void watch_keep_counters(struct flow *f, uint64_t key);
struct watch_row *watch_chosen(const struct watch *w);
int watch_take(struct watch *w, struct flow_list *list, uint64_t now_ns);
void watch_sort(struct watch *w);
void watch_move(struct watch *w, long lines);
void watch_scroll(struct watch *w, size_t lines);
void watch_free(struct watch *w);

/* Columns of the table. */
enum watch_column {
	WATCH_COL_CC, WATCH_COL_PORT, WATCH_COL_PEER, WATCH_COL_PKTS, WATCH_COL_RATE,
	WATCH_COL_RATE_PAST, WATCH_COL_RTT, WATCH_COL_RTT_PAST, WATCH_COL_DELAY,
	WATCH_COL_DELAY_PAST, WATCH_COL_TARGET, WATCH_COL_RETRANS, WATCH_COL_REDUCTION,
	WATCH_COL_AGO, WATCH_COL_LIMIT, WATCH_COLS
};

/* Bytes of a cell: a sparkline has three a column, a text at most four a character. */
#define WATCH_CELL_LEN	(OUT_ESCAPED * FLOW_CELL_LEN)

/* Bytes of a sentence about a flow. */
#define WATCH_TEXT_LEN	1024

/**
 * struct watch_layout - where the columns are
 * @need: of the widest cell seen so far in each
 * @width: of each, 0: there is no room for it
 * @utf8: the terminal shows more than ASCII
 */
struct watch_layout {
	size_t	need[WATCH_COLS];
	size_t	width[WATCH_COLS];
	bool	utf8;
};

/* watch_text.c */
char *watch_strip_control(char *buf, size_t len, const char *text);
const char *watch_heading(int col);
bool is_watch_right(int col);
bool is_watch_key(int col, const char *key);
void watch_cell(char *cell, int col, const struct watch_row *row,
		const struct watch_layout *layout);
void watch_measure(struct watch_layout *layout, const struct watch *w, size_t lines);
void watch_fit(struct watch_layout *layout, size_t columns);
void watch_sparkline(char *text, const float *past, size_t width, float full, bool utf8);
void watch_describe(char *text, const struct watch_row *row);
void watch_describe_all(char *text, size_t len, const struct watch *w);

/**
 * struct watch_view - the screen beside the flows
 * @title: namespace, filters and state
 * @help: the keys are explained
 * @details: all that is known of the chosen flow
 * @color: colours may be used
 */
struct watch_view {
	char	title[WATCH_TEXT_LEN];
	bool	help;
	bool	details;
	bool	color;
};

/* Actions of the keys; ACTION_NONE: no key, ACTION_OTHER: a key without one. */
enum watch_action {
	ACTION_NONE, ACTION_OTHER, ACTION_QUIT, ACTION_PAUSE, ACTION_HELP, ACTION_DETAILS,
		ACTION_SORT, ACTION_REVERSE,
	ACTION_UP, ACTION_DOWN, ACTION_PAGE_UP, ACTION_PAGE_DOWN, ACTION_FIRST, ACTION_LAST,
		ACTION_REDRAW
};

/* watch_screen.c */
int watch_screen_check(void);
int watch_screen_open(struct watch_view *view, struct watch_layout *layout);
void watch_screen_restore(void);
void watch_screen_close(void);
size_t watch_screen_draw(struct watch *w, struct watch_layout *layout,
			 const struct watch_view *view);
enum watch_action watch_screen_key(uint64_t wait_ns);

#endif /* QUELL_CLI_WATCH_H */
