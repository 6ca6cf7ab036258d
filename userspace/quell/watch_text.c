// SPDX-License-Identifier: GPL-2.0
/*
 * The texts of "quell flow watch": cells, sparklines, sentences, and the widths of the columns.
 *
 * Other machines and users choose some of the texts, such as names of interfaces: all are made
 * printable ASCII, but for the sparklines of this file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sock_diag.h"
#include "qty.h"
#include "util.h"
#include "watch.h"

/* Columns of a sparkline: minimum, and the goal while other columns are complete. */
#define PAST_MIN	4
#define PAST_GOOD	8
#define PEER_MIN	10
#define LIMIT_MIN	6
#define LIMIT_GOOD	9

/* Characters of a word of the kernel. */
#define WORD_LEN	32

/* Levels of a sparkline. */
#define LEVELS		8

static const struct {
	const char	*name;
	size_t		least;		/* columns, also while all cells are narrower */
	bool		right;
	const char	*key;		/* by which flows can be sorted */
} columns[WATCH_COLS] = {
	[WATCH_COL_CC] = { "CC", 5, false, "" },
	[WATCH_COL_PORT] = { "PORT", 5, true, "" },
	[WATCH_COL_PEER] = { "PEER", PEER_MIN, false, "" },
	[WATCH_COL_PKTS] = { "PKTS", 5, true, "window" },
	[WATCH_COL_RATE] = { "RATE", 5, true, "rate" },
	[WATCH_COL_RATE_PAST] = { "", PAST_MIN, false, "" },
	[WATCH_COL_RTT] = { "RTT", 6, true, "rtt" },
	[WATCH_COL_RTT_PAST] = { "", PAST_MIN, false, "" },
	[WATCH_COL_DELAY] = { "DELAY", 6, true, "delay" },
	[WATCH_COL_DELAY_PAST] = { "", PAST_MIN, false, "" },
	[WATCH_COL_TARGET] = { "TARGET", 6, true, "" },
	[WATCH_COL_RETRANS] = { "RETX", 4, true, "retrans" },
	[WATCH_COL_REDUCTION] = { "CUT", 5, false, "" },
	[WATCH_COL_AGO] = { "AGO", 6, true, "" },
	[WATCH_COL_LIMIT] = { "LIMIT", LIMIT_MIN, false, "" },
};

/* Columns that a terminal of 80 has no room for, in the order in which they get some. */
static const int extra[] = {
	WATCH_COL_AGO, WATCH_COL_PKTS, WATCH_COL_RETRANS, WATCH_COL_PORT,
};

/* Columns that a narrow one has no room for, the first given up first. */
static const int given_up[] = {
	WATCH_COL_RTT_PAST, WATCH_COL_RATE_PAST, WATCH_COL_REDUCTION, WATCH_COL_TARGET,
	WATCH_COL_DELAY_PAST, WATCH_COL_RTT, WATCH_COL_LIMIT, WATCH_COL_CC,
};

static const int sparklines[] = {
	WATCH_COL_RATE_PAST, WATCH_COL_RTT_PAST, WATCH_COL_DELAY_PAST,
};

/**
 * watch_strip_control() - a text as printable ASCII
 * @buf: filled in; cut off, though not within a \\xHH, if it is too small
 * @len: size of @buf; OUT_ESCAPED times the length of @text is enough
 * @text: the text; all that is not printable ASCII becomes \\xHH
 *
 * Return: @buf.
 */
char *watch_strip_control(char *buf, size_t len, const char *text)
{
	size_t used = 0;

	for (; *text; text++) {
		unsigned char c = *text;
		bool plain = c >= ' ' && c <= '~';

		if (used + (plain ? 1 : OUT_ESCAPED) >= len)
			break;
		used += sprintf(buf + used, plain ? "%c" : "\\x%02x", c);
	}
	buf[used] = '\0';
	return buf;
}

/* The name of a column; a sparkline has that of the number before it. */
const char *watch_heading(int col)
{
	return columns[col].name;
}

/* Whether a column has its cells at the right. */
bool is_watch_right(int col)
{
	return columns[col].right;
}

/* Whether a column has the numbers by which flows are sorted. */
bool is_watch_key(int col, const char *key)
{
	return !strcmp(columns[col].key, key);
}

/**
 * watch_sparkline() - the newest samples as a line of blocks
 * @text: destination, three bytes for each column and one
 * @past: WATCH_PAST samples, the newest last
 * @width: columns, WATCH_PAST at most
 * @full: sample that is as high as a block gets; larger ones count if there are any
 * @utf8: the blocks of Unicode; else characters of ASCII, the higher the darker
 */
void watch_sparkline(char *text, const float *past, size_t width, float full, bool utf8)
{
	static const char ascii[] = "_.:-=+*#";
	size_t i, used = 0;
	int level;

	past += WATCH_PAST - width;
	for (i = 0; i < width; i++)
		full = past[i] > full ? past[i] : full;
	for (i = 0; i < width; i++) {
		level = full > 0 ? past[i] / full * LEVELS : 0;
		level = level < LEVELS ? level : LEVELS - 1;
		if (past[i] < 0)
			used += sprintf(text + used, " ");
		else if (utf8)
			used += sprintf(text + used, "\xe2\x96%c", 0x81 + level);
		else
			used += sprintf(text + used, "%c", ascii[level]);
	}
	text[used] = '\0';
}

/* The scale of round trips ends at the target, if there is one: values above it stand out. */
static void format_past(char *cell, int col, const struct watch_row *row,
			const struct watch_layout *layout)
{
	const struct flow *f = &row->flow;
	uint64_t room_ns = f->target_ns > f->min_rtt_ns ? f->target_ns - f->min_rtt_ns : 0;
	size_t width = layout->width[col] < WATCH_PAST ? layout->width[col] : WATCH_PAST;

	if (col == WATCH_COL_RATE_PAST)
		watch_sparkline(cell, row->past[WATCH_RATE], width, 0, layout->utf8);
	else if (col == WATCH_COL_RTT_PAST)
		watch_sparkline(cell, row->past[WATCH_RTT], width, f->target_ns, layout->utf8);
	else
		watch_sparkline(cell, row->past[WATCH_DELAY], width, room_ns, layout->utf8);
}

static void format_rate(char *cell, const struct watch_row *row)
{
	float rate = row->past[WATCH_RATE][WATCH_PAST - 1];

	if (rate < 0)
		strcpy(cell, "-");
	else
		flow_format_rate(cell, rate);
}

/* Of a round trip that is as short as it can be, the delay is known, and 0. */
static void format_delay(char *cell, const struct flow *f)
{
	if (f->rtt_ns && !flow_delay_ns(f))
		strcpy(cell, "0");
	else
		flow_format_time(cell, flow_delay_ns(f));
}

static bool is_sparkline(int col)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sparklines); i++)
		if (col == sparklines[i])
			return true;
	return false;
}

/* Text as it is, of anybody's. */
static void format_text(char *text, int col, const struct watch_row *row, size_t width)
{
	const struct flow *f = &row->flow;

	switch (col) {
	case WATCH_COL_CC:
		snprintf(text, FLOW_CELL_LEN, "%s", f->cc ? f->cc : "?");
		break;
	case WATCH_COL_PEER:
		flow_format_peer(text, f);
		break;
	case WATCH_COL_TARGET:
		flow_format_target(text, f);
		break;
	case WATCH_COL_REDUCTION:
		snprintf(text, FLOW_CELL_LEN, "%s", f->reduction ? f->reduction : "-");
		break;
	case WATCH_COL_LIMIT:
		flow_format_limit(text, f);
		if (f->fallback && strlen(text) > width)
			snprintf(text, FLOW_CELL_LEN, "%s", f->fallback);
		break;
	}
}

static void format_number(char *text, int col, const struct watch_row *row)
{
	const struct flow *f = &row->flow;

	switch (col) {
	case WATCH_COL_PORT:
		snprintf(text, FLOW_CELL_LEN, "%u", f->sport);
		break;
	case WATCH_COL_PKTS:
		flow_format_window(text, f);
		break;
	case WATCH_COL_RATE:
		format_rate(text, row);
		break;
	case WATCH_COL_RTT:
		flow_format_time(text, f->rtt_ns);
		break;
	case WATCH_COL_DELAY:
		format_delay(text, f);
		break;
	case WATCH_COL_RETRANS:
		if (f->state)
			flow_format_count(text, f->retrans_segs);
		else
			snprintf(text, FLOW_CELL_LEN, "-");
		break;
	case WATCH_COL_AGO:
		flow_format_time(text, f->reduction ? f->reduction_age_ns : 0);
		break;
	}
}

/**
 * watch_cell() - format a cell
 * @cell: filled in, of WATCH_CELL_LEN bytes
 * @col: the column
 * @row: the flow
 * @layout: for the widths of sparklines
 */
void watch_cell(char *cell, int col, const struct watch_row *row,
		const struct watch_layout *layout)
{
	char text[FLOW_CELL_LEN] = "";

	if (is_sparkline(col)) {
		format_past(cell, col, row, layout);
		return;
	}
	format_text(text, col, row, layout->width[col]);
	format_number(text, col, row);
	watch_strip_control(cell, WATCH_CELL_LEN, text);
}

/**
 * watch_measure() - how wide the columns have to be for the flows that are seen
 * @layout: its needs grow, so that columns stay in their places
 * @w: the flows
 * @lines: how many are seen
 */
void watch_measure(struct watch_layout *layout, const struct watch *w, size_t lines)
{
	char cell[WATCH_CELL_LEN];
	size_t i, len;
	int c;

	layout->width[WATCH_COL_LIMIT] = sizeof(cell);	/* all of it */
	for (c = 0; c < WATCH_COLS; c++) {
		if (layout->need[c] < columns[c].least)
			layout->need[c] = columns[c].least;
		for (i = w->top; !is_sparkline(c) && i < w->n && i - w->top < lines; i++) {
			watch_cell(cell, c, w->order[i], layout);
			len = strlen(cell);
			if (layout->need[c] < len)
				layout->need[c] = len;
		}
	}
}

static size_t used_columns(const struct watch_layout *layout)
{
	size_t sum = 0;
	int c;

	for (c = 0; c < WATCH_COLS; c++)
		if (layout->width[c])
			sum += layout->width[c] + 1;
	return sum ? sum - 1 : 0;
}

/* Widen a column as far as @want, and as there is room; that is less by it. */
static void widen(struct watch_layout *layout, int col, size_t want, size_t *room)
{
	size_t more = want > layout->width[col] ? want - layout->width[col] : 0;

	if (!layout->width[col])
		return;
	more = more < *room ? more : *room;
	layout->width[col] += more;
	*room -= more;
}

/* All sparklines by as much as each other, each up to @want. */
static void widen_sparklines(struct watch_layout *layout, size_t want, size_t *room)
{
	size_t i, width;

	for (width = PAST_MIN + 1; width <= want && *room >= ARRAY_SIZE(sparklines); width++)
		for (i = 0; i < ARRAY_SIZE(sparklines); i++)
			widen(layout, sparklines[i], width, room);
}

/* Free columns go to truncated cells, then to more columns, then to sparklines. */
static void give_room(struct watch_layout *layout, size_t room)
{
	size_t i, limit = layout->need[WATCH_COL_LIMIT];

	widen(layout, WATCH_COL_PEER, layout->need[WATCH_COL_PEER], &room);
	widen(layout, WATCH_COL_LIMIT, limit < LIMIT_GOOD ? limit : LIMIT_GOOD, &room);
	widen_sparklines(layout, PAST_GOOD, &room);
	widen(layout, WATCH_COL_LIMIT, limit, &room);
	for (i = 0; i < ARRAY_SIZE(extra); i++) {
		size_t need = layout->need[extra[i]] + 1;

		if (room < need)
			break;
		layout->width[extra[i]] = need - 1;
		room -= need;
	}
	widen_sparklines(layout, WATCH_PAST, &room);
}

/**
 * watch_fit() - give the columns their widths
 * @layout: after watch_measure()
 * @columns_all: columns of the terminal
 */
void watch_fit(struct watch_layout *layout, size_t columns_all)
{
	size_t i, used;
	int c;

	for (c = 0; c < WATCH_COLS; c++)
		layout->width[c] = layout->need[c];
	for (i = 0; i < ARRAY_SIZE(extra); i++)
		layout->width[extra[i]] = 0;
	layout->width[WATCH_COL_PEER] = PEER_MIN;
	layout->width[WATCH_COL_LIMIT] = LIMIT_MIN;
	for (i = 0; i < ARRAY_SIZE(given_up) && used_columns(layout) > columns_all; i++)
		layout->width[given_up[i]] = 0;
	used = used_columns(layout);
	if (used <= columns_all)
		give_room(layout, columns_all - used);
}

static int format_state(char *text, size_t len, const struct flow *f)
{
	char from[FLOW_ADDRESS_LEN], peer[FLOW_CELL_LEN], window[FLOW_CELL_LEN];
	char inflight[FLOW_CELL_LEN], count[FLOW_CELL_LEN], again[FLOW_CELL_LEN + 32] = "";
	bool v6 = f->family == AF_INET6;

	flow_format_address(from, sizeof(from), f, f->saddr);
	flow_format_peer(peer, f);
	flow_format_window(window, f);
	flow_format_count(inflight, f->inflight_bytes);
	flow_format_count(count, f->retrans_segs);
	if (f->state)
		snprintf(again, sizeof(again), ", %s segments retransmitted", count);
	return snprintf(text, len, "%s%s%s:%u > %s%s%s: window %s packets, %s bytes in flight%s",
			 v6 ? "[" : "", from, v6 ? "]" : "", f->sport,
			peer, f->state > 1 ? " " : "",
			f->state > 1 ? diag_state_name(f->state) : "", window, inflight, again);
}

/* The governor's target, and CUBIC's share of the flow's time. */
static int format_governor(char *text, size_t len, const struct flow *f)
{
	char target[FLOW_CELL_LEN], part[FLOW_CELL_LEN];

	flow_format_target(target, f);
	flow_format_governed(part, f, f->cubic_ns);
	if (!strcmp(target, "cubic"))
		return snprintf(text, len, "; CUBIC governs: %.*s, in all %s",
				WORD_LEN, f->fallback ? f->fallback : "?", part);
	if (!strcmp(target, "search"))
		return snprintf(text, len, "; the window of the path is searched");
	return snprintf(text, len, "; target %s", target);
}

/* The last window reduction. */
static int format_reduction(char *text, size_t len, const struct flow *f)
{
	char ago[FLOW_CELL_LEN], rtt[FLOW_CELL_LEN];

	if (!f->reduction)
		return snprintf(text, len, "; window never reduced");
	flow_format_time(ago, f->reduction_age_ns);
	flow_format_time(rtt, f->reduction_rtt_ns);
	return snprintf(text, len, "; window reduced for %.*s %s ago%s%s", WORD_LEN, f->reduction,
			ago, f->reduction_rtt_ns ? " at RTT " : "", f->reduction_rtt_ns ? rtt : "");
}

/**
 * watch_describe() - a sentence on the state of a flow, and its limit
 * @text: destination, of WATCH_TEXT_LEN bytes
 * @row: the flow
 */
void watch_describe(char *text, const struct watch_row *row)
{
	const struct flow *f = &row->flow;
	const char *limit = f->limited_by && *f->limited_by ? f->limited_by : "unknown";
	char raw[WATCH_TEXT_LEN], rtt[FLOW_CELL_LEN], least[FLOW_CELL_LEN];
	int used;

	flow_format_time(rtt, f->rtt_ns);
	flow_format_time(least, f->min_rtt_ns);
	used = format_state(raw, sizeof(raw), f);
	used += snprintf(raw + used, sizeof(raw) - used, "; limited by %.*s; RTT %s, smallest %s",
			 WORD_LEN, limit, rtt, least);
	used += format_governor(raw + used, sizeof(raw) - used, f);
	format_reduction(raw + used, sizeof(raw) - used, f);
	watch_strip_control(text, WATCH_TEXT_LEN, raw);
}

/**
 * watch_describe_all() - a sentence on all flows together
 * @text: destination
 * @len: its size
 * @w: the flows
 */
void watch_describe_all(char *text, size_t len, const struct watch *w)
{
	static const char * const limits[] = { "window", "pacing", "app", "receiver" };
	size_t count[ARRAY_SIZE(limits)] = {}, cubic = 0, used, i, j;
	char cell[FLOW_CELL_LEN];
	double sum = 0;

	for (i = 0; i < w->n; i++) {
		const struct flow *f = &w->rows[i].flow;
		float rate = w->rows[i].past[WATCH_RATE][WATCH_PAST - 1];

		sum += rate > 0 ? rate : 0;
		cubic += f->adapt && !strcmp(f->adapt, "fallback");
		for (j = 0; f->limited_by && j < ARRAY_SIZE(limits); j++)
			count[j] += !strcmp(f->limited_by, limits[j]);
	}
	flow_format_rate(cell, sum);
	used = snprintf(text, len, "%sbit/s in all", cell);
	for (i = 0, j = 0; j < ARRAY_SIZE(limits) && used < len; j++)
		if (count[j])
			used += snprintf(text + used, len - used, "%s %s %zu",
					 i++ ? "," : "; limited by", limits[j], count[j]);
	if (cubic && used < len)
		snprintf(text + used, len - used, "; CUBIC governs %zu", cubic);
}
