// SPDX-License-Identifier: GPL-2.0
/*
 * Flows in a table: the lines of "flow show", and those of "flow watch" with their past.
 *
 * Columns are as wide as their widest cell.  Where that is too much, columns are left out by their
 * ranks, and remote addresses, which can be long, are shortened with "..".
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "flow.h"
#include "util.h"

enum {
	COL_CC, COL_PORT, COL_PEER, COL_PKTS, COL_RATE, COL_RATE_PAST, COL_RTT, COL_RTT_PAST,
	COL_DELAY, COL_DELAY_PAST, COL_TARGET, COL_GOVERNED, COL_RETRANS, COL_REDUCTION, COL_AGO,
		COL_BY,
	COL_LIMIT, COL_LIMIT_WHY
};

#define PAST_MIN	4
#define PAST_GOOD	8
#define RANK_MAX	13
/* Columns of higher ranks are left out also where others would have to be cut. */
#define RANK_EXTRA	9

/* Levels of a sparkline. */
#define LEVELS		8

/* Attributes of a terminal. */
#define RED		"\033[0;31"
#define GREEN		"\033[0;32"
#define YELLOW		"\033[0;33"
#define CYAN		"\033[0;36"
#define NORMAL		"\033[0"
#define REVERSE		";7m"
#define EMPHASIZED	";7;1;4m"

/* Names of algorithms and reasons are of any module: control characters are printed as \xHH. */
static void put_word(char *cell, const char *word, const char *none)
{
	out_escape(cell, FLOW_CELL_LEN, word && *word ? word : none);
}

static void put_port(char *cell, const struct flow *f)
{
	snprintf(cell, FLOW_CELL_LEN, "%u", f->sport);
}

/* The rate that TCP measured. */
static void put_rate(char *cell, const struct flow *f)
{
	strcpy(cell, "-");
	if (f->state)
		flow_format_rate(cell, f->delivery_bytes_ps);
}

/* Of a round trip that is as short as it can be, the delay is known, and 0. */
static void put_delay(char *cell, const struct flow *f)
{
	flow_format_time(cell, flow_delay_ns(f));
	if (f->rtt_ns && !flow_delay_ns(f))
		strcpy(cell, "0");
}

static void put_retrans(char *cell, const struct flow *f)
{
	strcpy(cell, "-");
	if (f->state)
		flow_format_count(cell, f->retrans_segs);
}

static void put_ago(char *cell, const struct flow *f)
{
	flow_format_time(cell, f->reduction ? f->reduction_age_ns : 0);
}

enum cell { CELL_PUT, CELL_PAST, CELL_TIME, CELL_WORD };

#define PUT(put_)	CELL_PUT, 0, put_
#define PAST		CELL_PAST, 0, NULL
#define TIME(member_)	CELL_TIME, offsetof(struct flow, member_), NULL
#define WORD(member_)	CELL_WORD, offsetof(struct flow, member_), NULL

/* Rank by table: 0: not in it, 1: always in it, else the highest is left out first. */
static const struct {
	const char	*name;
	bool		right;
	uint8_t		rank[2];
	uint8_t		least;		/* columns to which it may be cut; 0: it is not cut */
	const char	*key;		/* by which flows are sorted */
	enum cell	cell;		/* a function, a sparkline, or a member of the flow */
	size_t		offset;
	void		(*put)(char *cell, const struct flow *f);
} columns[FLOW_COLS] = {
	[COL_CC]	 = { "CC", false, { 1, 2 }, 0, "", WORD(cc) },
	[COL_PORT]	 = { "PORT", true, { 1, 13 }, 0, "", PUT(put_port) },
	[COL_PEER]	 = { "PEER", false, { 1, 1 }, 10, "", PUT(flow_format_peer) },
	[COL_PKTS]	 = { "PKTS", true, { 1, 11 }, 0, "window", PUT(flow_format_window) },
	[COL_RATE]	 = { "RATE", true, { 1, 1 }, 0, "rate", PUT(put_rate) },
	[COL_RATE_PAST]	 = { "", false, { 0, 8 }, PAST_MIN, "", PAST },
	[COL_RTT]	 = { "RTT", true, { 1, 4 }, 0, "rtt", TIME(rtt_ns) },
	[COL_RTT_PAST]	 = { "", false, { 0, 9 }, PAST_MIN, "", PAST },
	[COL_DELAY]	 = { "DELAY", true, { 0, 1 }, 0, "delay", PUT(put_delay) },
	[COL_DELAY_PAST] = { "", false, { 0, 5 }, PAST_MIN, "", PAST },
	[COL_TARGET]	 = { "TARGET", true, { 2, 0 }, 0, "", TIME(target_ns) },
	[COL_GOVERNED]	 = { "TARGET", true, { 0, 6 }, 0, "", PUT(flow_format_target) },
	[COL_RETRANS]	 = { "RETX", true, { 1, 12 }, 0, "retrans", PUT(put_retrans) },
	[COL_REDUCTION]	 = { "CUT", false, { 3, 7 }, 0, "", WORD(reduction) },
	[COL_AGO]	 = { "AGO", true, { 0, 10 }, 0, "", PUT(put_ago) },
	[COL_BY]	 = { "BY", false, { 1, 0 }, 0, "", PUT(flow_format_governor) },
	[COL_LIMIT]	 = { "LIMIT", false, { 1, 0 }, 0, "", WORD(limited_by) },
	[COL_LIMIT_WHY]	 = { "LIMIT", false, { 0, 3 }, 6, "", PUT(flow_format_limit) },
};

static bool is_sparkline(int col)
{
	return columns[col].cell == CELL_PAST;
}

/*
 * The newest @width of FLOW_PAST samples, the last of @past first, as a line of blocks of three
 * bytes each. A sample of @full, or the largest if that is more, is as high as a block gets.
 * Without UTF-8 they are characters of ASCII, the higher the darker.
 */
void flow_sparkline(char *text, const float *past, size_t width, float full, bool utf8)
{
	static const char ascii[] = "_.:-=+*#";
	size_t i, used = 0;
	int level;

	past += FLOW_PAST - width;
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
static void put_past(char *cell, int col, const struct flow_layout *l, const struct flow *f,
		     const struct flow_past *past)
{
	int series = col == COL_RATE_PAST ? FLOW_RATE : col == COL_RTT_PAST ? FLOW_RTT : FLOW_DELAY;
	uint64_t base_ns = series == FLOW_DELAY ? f->min_rtt_ns : 0;
	float full = series != FLOW_RATE && f->target_ns > base_ns ? f->target_ns - base_ns : 0;

	flow_sparkline(cell, past->sample[series], l->width[col], full, l->utf8);
}

/* A cell of FLOW_CELL_LEN bytes; with a past the rate is that of the newest sample. */
static void put_cell(char *cell, int col, const struct flow *f, const struct flow_past *past)
{
	float rate = past ? past->sample[FLOW_RATE][FLOW_PAST - 1] : FLOW_UNKNOWN;
	const void *member = (const char *)f + columns[col].offset;

	if (past && col == COL_RATE && rate < 0)
		strcpy(cell, "-");
	else if (past && col == COL_RATE)
		flow_format_rate(cell, rate);
	else if (columns[col].cell == CELL_TIME)
		flow_format_time(cell, *(const uint64_t *)member);
	else if (columns[col].cell == CELL_WORD)
		put_word(cell, *(char * const *)member, col == COL_CC ? "?" : "-");
	else
		columns[col].put(cell, f);
}

/*
 * Widen the columns for a flow; they never shrink, so that they stay in their places. @past may be
 * NULL.
 */
void flow_measure(struct flow_layout *l, const struct flow *f, const struct flow_past *past)
{
	char cell[FLOW_CELL_LEN];
	size_t len;
	int c;

	for (c = 0; c < FLOW_COLS; c++) {
		if (!columns[c].rank[l->table] || is_sparkline(c))
			continue;
		put_cell(cell, c, f, past);
		len = strlen(cell);
		if (l->need[c] < len)
			l->need[c] = len;
	}
}

/* Columns of the terminal that are not in use; less than 0 if the line is too long. */
static long room_of(const struct flow_layout *l)
{
	long used = -1;
	int c;

	for (c = 0; c < FLOW_COLS; c++)
		used += l->width[c] ? l->width[c] + 1 : 0;
	return l->columns - used;
}

/* Columns that cells lack which are cut, and sparklines that are short. */
static long lack_of(const struct flow_layout *l)
{
	long lack = 0;
	int c;

	for (c = 0; c < FLOW_COLS; c++)
		if (l->width[c])
			lack += (is_sparkline(c) ? PAST_GOOD : l->need[c]) - l->width[c];
	return lack;
}

/* Free columns go to cells that were cut, then to sparklines, each as much as the others. */
static void give_room(struct flow_layout *l)
{
	bool is_given = true;
	int c;

	for (c = 0; c < FLOW_COLS; c++)
		while (l->width[c] && l->width[c] < l->need[c] && room_of(l) > 0)
			l->width[c]++;
	while (is_given) {
		is_given = false;
		for (c = 0; c < FLOW_COLS; c++) {
			if (!is_sparkline(c) || !l->width[c] || l->width[c] == FLOW_PAST ||
			    room_of(l) <= 0)
				continue;
			l->width[c]++;
			is_given = true;
		}
	}
}

/*
 * Set the widths of the columns after flow_measure(); beyond FLOW_COLUMNS_MAX a line stays empty.
 */
void flow_fit(struct flow_layout *l, size_t columns_all)
{
	int c, rank;

	l->columns = columns_all < FLOW_COLUMNS_MAX ? columns_all : FLOW_COLUMNS_MAX;
	for (c = 0; c < FLOW_COLS; c++) {
		size_t name = strlen(columns[c].name), least = columns[c].least;

		l->need[c] = l->need[c] < name ? name : l->need[c];
		l->width[c] = !columns[c].rank[l->table] ? 0 :
			      least && (is_sparkline(c) || least < l->need[c]) ? least : l->need[c];
	}
	for (rank = RANK_MAX; rank > 1; rank--)
		for (c = 0; c < FLOW_COLS; c++)
			if (columns[c].rank[l->table] == rank &&
			    room_of(l) < (rank > RANK_EXTRA ? lack_of(l) : 0))
				l->width[c] = 0;
	give_room(l);
}

/* Cut a cell in its middle; the end has the port. */
static void shorten(char *cell, size_t width)
{
	size_t len = strlen(cell), tail = width / 2;

	if (len <= width || width < 4)
		return;
	memcpy(cell + width - tail - 2, "..", 2);
	memmove(cell + width - tail, cell + len - tail, tail + 1);
}

/* Reductions after a loss stand out; others are as intended. */
static bool is_loss(const struct flow *f)
{
	return f->reduction && (!strcmp(f->reduction, "loss") || !strcmp(f->reduction, "tail") ||
				!strcmp(f->reduction, "timeout"));
}

static const char *color_of(int col, const struct flow *f)
{
	switch (col) {
	case COL_RTT:
	case COL_RTT_PAST:
	case COL_DELAY:
	case COL_DELAY_PAST:
		if (f->target_ns && f->rtt_ns)
			return f->rtt_ns > f->target_ns ? YELLOW : GREEN;
		break;
	case COL_REDUCTION:
	case COL_AGO:
		if (is_loss(f))
			return RED;
		break;
	case COL_GOVERNED:
	case COL_LIMIT_WHY:
		if (f->fallback)
			return CYAN;
	}
	return NORMAL;
}

/* A line so far, and the columns of it that are in use. */
struct line {
	char	*text;
	size_t	bytes;
	size_t	columns;
};

static void put_attributes(struct line *line, const struct flow_layout *l, const char *color,
			   const char *more)
{
	if (l->table == FLOW_TABLE_WATCH)
		line->bytes += sprintf(line->text + line->bytes, "%s%s", color, more);
}

/* A cell as wide as its column, as far as the terminal goes. */
static void put_column(struct line *line, const struct flow_layout *l, int col, const char *cell)
{
	size_t width = l->width[col];

	line->bytes += sprintf(line->text + line->bytes, "%s", line->columns ? " " : "");
	line->columns += !!line->columns;
	if (width > l->columns - line->columns && l->table == FLOW_TABLE_WATCH)
		width = l->columns - line->columns;
	line->columns += width;
	if (is_sparkline(col) && *cell)
		line->bytes += sprintf(line->text + line->bytes, "%s", cell);
	else
		line->bytes += sprintf(line->text + line->bytes, "%*.*s",
				       columns[col].right ? (int)width : -(int)width, (int)width,
				       cell);
}

/* The rest of the line, which only a terminal needs. */
static void end_line(struct line *line, const struct flow_layout *l)
{
	if (l->table == FLOW_TABLE_WATCH && line->columns < l->columns)
		line->bytes += sprintf(line->text + line->bytes, "%*s",
				       (int)(l->columns - line->columns), "");
	put_attributes(line, l, NORMAL, "m");
	while (l->table == FLOW_TABLE_SHOW && line->bytes && line->text[line->bytes - 1] == ' ')
		line->text[--line->bytes] = '\0';
}

/*
 * The line of names, FLOW_LINE_LEN bytes, after flow_fit(); @sort is the key by which flows are
 * sorted.
 */
void flow_heading(char *text, const struct flow_layout *l, int sort)
{
	struct line line = { .text = text };
	int c;

	*text = '\0';
	for (c = 0; c < FLOW_COLS && (!line.columns || line.columns + 1 < l->columns); c++) {
		bool sorted = *columns[c].key && !strcmp(columns[c].key, flow_sort_name(sort));

		if (!l->width[c])
			continue;
		put_attributes(&line, l, NORMAL, sorted ? EMPHASIZED : REVERSE);
		put_column(&line, l, c, columns[c].name);
	}
	put_attributes(&line, l, NORMAL, REVERSE);
	end_line(&line, l);
}

/*
 * The line of a flow, FLOW_LINE_LEN bytes, after flow_fit(); @past may be NULL, @chosen displays it
 * in reverse.
 */
void flow_line(char *text, const struct flow_layout *l, const struct flow *f,
	       const struct flow_past *past, bool chosen)
{
	struct line line = { .text = text };
	char cell[3 * FLOW_PAST + FLOW_CELL_LEN];
	int c;

	*text = '\0';
	for (c = 0; c < FLOW_COLS && (!line.columns || line.columns + 1 < l->columns); c++) {
		if (!l->width[c])
			continue;
		if (is_sparkline(c))
			put_past(cell, c, l, f, past);
		else
			put_cell(cell, c, f, past);
		if (c == COL_PEER)
			shorten(cell, l->width[c]);
		if (c == COL_LIMIT_WHY && f->fallback && strlen(cell) > l->width[c])
			put_word(cell, f->fallback, "");
		put_attributes(&line, l, l->color ? color_of(c, f) : NORMAL,
			       chosen ? REVERSE : "m");
		put_column(&line, l, c, cell);
	}
	end_line(&line, l);
}

/* Print flows, a line each, below a heading; no heading without flows. */
void flow_print_lines(struct out *o, const struct flow_list *list, size_t columns_all)
{
	struct flow_layout layout = { .table = FLOW_TABLE_SHOW };
	char line[FLOW_LINE_LEN];
	size_t i;

	for (i = 0; i < list->n; i++)
		flow_measure(&layout, &list->list[i], NULL);
	flow_fit(&layout, columns_all);
	for (i = 0; i <= list->n && list->n; i++) {
		if (i)
			flow_line(line, &layout, &list->list[i - 1], NULL, false);
		else
			flow_heading(line, &layout, 0);
		out_text(o, line);
		out_text(o, "\n");
	}
}
