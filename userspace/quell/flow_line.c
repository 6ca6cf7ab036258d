// SPDX-License-Identifier: GPL-2.0
/*
 * Flows in a table: a line of 80 columns each.
 *
 * All columns are as wide as their widest cell.  Where that is too much, the remote addresses,
 * which can be long, are shortened with "..".  Then the column CUT is left out, then TARGET.
 */
#include <string.h>

#include "flow.h"
#include "util.h"

enum {
	COL_CC, COL_PORT, COL_PEER, COL_WINDOW, COL_RATE, COL_RTT, COL_TARGET, COL_RETRANS,
	COL_REDUCTION, COL_BY, COL_LIMIT, COLS
};

/* Columns of the remote address at least. */
#define PEER_MIN	10

#define LINE_LEN	1024

struct row {
	char	cell[COLS][FLOW_CELL_LEN];
};

static const struct {
	const char	*name;
	bool		right;
} columns[COLS] = {
	[COL_CC] = { "CC", false },
	[COL_PORT] = { "PORT", true },
	[COL_PEER] = { "PEER", false },
	[COL_WINDOW] = { "PKTS", true },
	[COL_RATE] = { "RATE", true },
	[COL_RTT] = { "RTT", true },
	[COL_TARGET] = { "TARGET", true },
	[COL_RETRANS] = { "RETX", true },
	[COL_REDUCTION] = { "CUT", false },
	[COL_BY] = { "BY", false },
	[COL_LIMIT] = { "LIMIT", false },
};

/* Columns that narrow lines have no room for, the first given up first. */
static const int given_up[] = { COL_REDUCTION, COL_TARGET };

static void format_row(struct row *row, const struct flow *f)
{
	snprintf(row->cell[COL_CC], FLOW_CELL_LEN, "%s", f->cc ? f->cc : "?");
	snprintf(row->cell[COL_PORT], FLOW_CELL_LEN, "%u", f->sport);
	flow_format_peer(row->cell[COL_PEER], f);
	flow_format_window(row->cell[COL_WINDOW], f);
	flow_format_time(row->cell[COL_RTT], f->rtt_ns);
	flow_format_time(row->cell[COL_TARGET], f->target_ns);
	snprintf(row->cell[COL_REDUCTION], FLOW_CELL_LEN, "%s", f->reduction ? f->reduction : "-");
	flow_format_governor(row->cell[COL_BY], f);
	snprintf(row->cell[COL_LIMIT], FLOW_CELL_LEN, "%s",
		 f->limited_by && *f->limited_by ? f->limited_by : "-");
	strcpy(row->cell[COL_RATE], "-");
	strcpy(row->cell[COL_RETRANS], "-");
	if (!f->state)
		return;
	flow_format_rate(row->cell[COL_RATE], f->delivery_bytes_ps);
	flow_format_count(row->cell[COL_RETRANS], f->retrans_segs);
}

/* Cut a cell in its middle; the end has the port. */
static void shorten(char *cell, size_t width)
{
	size_t len = strlen(cell), tail = width / 2;

	if (len <= width)
		return;
	memcpy(cell + width - tail - 2, "..", 2);
	memmove(cell + width - tail, cell + len - tail, tail + 1);
}

static void print_row(struct out *o, struct row *row, const size_t *widths)
{
	char line[LINE_LEN];
	size_t used = 0;
	int i;

	shorten(row->cell[COL_PEER], widths[COL_PEER]);
	for (i = 0; i < COLS; i++) {
		int width = i == COLS - 1 ? 0 : widths[i];

		if (!widths[i])
			continue;

		used += snprintf(line + used, sizeof(line) - used, "%s%*s", i ? " " : "",
				 columns[i].right ? width : -width, row->cell[i]);
	}
	snprintf(line + used, sizeof(line) - used, "\n");
	out_text(o, line);
}

/* Widths of the cells; the remote address gets the rest. */
static void measure(const struct flow_list *list, size_t columns_all, size_t *widths)
{
	size_t i, sum = COLS - 1;
	struct row row;
	int c;

	for (c = 0; c < COLS; c++)
		widths[c] = strlen(columns[c].name);
	for (i = 0; i < list->n; i++) {
		format_row(&row, &list->list[i]);
		for (c = 0; c < COLS; c++)
			if (widths[c] < strlen(row.cell[c]))
				widths[c] = strlen(row.cell[c]);
	}
	for (c = 0; c < COLS; c++)
		sum += widths[c];
	/* Where even the shortest addresses leave no room, other columns do. */
	for (i = 0; i < ARRAY_SIZE(given_up) &&
		    sum - widths[COL_PEER] + PEER_MIN > columns_all; i++) {
		sum -= widths[given_up[i]] + 1;
		widths[given_up[i]] = 0;
	}
	if (sum <= columns_all)
		return;
	sum -= columns_all;
	widths[COL_PEER] = widths[COL_PEER] > sum + PEER_MIN ? widths[COL_PEER] - sum : PEER_MIN;
}

/**
 * flow_print_lines() - print flows, a line each, below a heading; no heading without flows
 * @o: printer of text
 * @list: the flows
 * @width: columns of a line
 */
void flow_print_lines(struct out *o, const struct flow_list *list, unsigned int width)
{
	size_t widths[COLS], i;
	struct row row;
	int c;

	if (!list->n)
		return;
	measure(list, width, widths);
	for (c = 0; c < COLS; c++)
		strcpy(row.cell[c], columns[c].name);
	print_row(o, &row, widths);
	for (i = 0; i < list->n; i++) {
		format_row(&row, &list->list[i]);
		print_row(o, &row, widths);
	}
}
