// SPDX-License-Identifier: GPL-2.0
/*
 * The table of "quell flow show": columns as wide as their widest cell.  Where that is too much,
 * CUT and then TARGET are left out, and remote addresses are shortened with "..".
 */
#include <string.h>

#include "flow.h"

enum { CC, PORT, PEER, PKTS, RATE, RTT, TARGET, RETX, CUT, BY, LIMIT, COLS };

/*
 * Columns to which a remote address may be shortened, and of the longest of IPv4, which is whole as
 * long as there is another column to leave out.
 */
#define PEER_LEAST	10
#define PEER_IPV4	21

#define LINE_LEN	(COLS * (FLOW_CELL_LEN + 1))

static const struct {
	const char	*name;
	bool		right;
} columns[COLS] = {
	{ "CC", false }, { "PORT", true }, { "PEER", false }, { "PKTS", true }, { "RATE", true },
	{ "RTT", true }, { "TARGET", true }, { "RETX", true }, { "CUT", false }, { "BY", false },
	{ "LIMIT", false },
};

/* Names of algorithms and reasons are of any module: control characters are printed as \xHH. */
static void put_word(char *cell, const char *word, const char *none)
{
	out_escape(cell, FLOW_CELL_LEN, word && *word ? word : none);
}

/* A cell of FLOW_CELL_LEN bytes; the heading without a flow. */
static void put_cell(char *cell, int col, const struct flow *f)
{
	strcpy(cell, f ? "-" : columns[col].name);
	if (!f)
		return;
	if (col == CC)
		put_word(cell, f->cc, "?");
	else if (col == PORT)
		snprintf(cell, FLOW_CELL_LEN, "%u", f->sport);
	else if (col == PEER)
		flow_format_peer(cell, f);
	else if (col == PKTS)
		flow_format_window(cell, f);
	else if (col == RATE && f->state)
		flow_format_rate(cell, f->delivery_bytes_ps);
	else if (col == RTT || col == TARGET)
		flow_format_time(cell, col == RTT ? f->rtt_ns : f->target_ns);
	else if (col == RETX && f->state)
		flow_format_count(cell, f->retrans_segs);
	else if (col == CUT || col == LIMIT)
		put_word(cell, col == CUT ? f->reduction : f->limited_by, "-");
	else if (col == BY)
		flow_format_governor(cell, f);
}

static void shorten(char *cell, size_t width)
{
	size_t len = strlen(cell), tail = width / 2;

	if (len <= width)
		return;
	memcpy(cell + width - tail - 2, "..", 2);
	memmove(cell + width - tail, cell + len - tail, tail + 1);
}

/* A line of cells; a column of width 0 is left out. */
static void print_line(struct out *o, const size_t *width, const struct flow *f)
{
	char line[LINE_LEN], cell[FLOW_CELL_LEN];
	size_t used = 0;
	int col;

	for (col = 0; col < COLS; col++) {
		if (!width[col])
			continue;
		put_cell(cell, col, f);
		shorten(cell, width[col]);
		used += sprintf(line + used, "%s%*s", used ? " " : "",
				columns[col].right ? (int)width[col] : -(int)width[col], cell);
	}
	while (used && line[used - 1] == ' ')
		line[--used] = '\0';
	out_text(o, line);
	out_text(o, "\n");
}

static size_t sum(const size_t *width)
{
	size_t used = 0;
	int col;

	for (col = 0; col < COLS; col++)
		used += width[col] ? width[col] + 1 : 0;
	return used - 1;
}

/* Print flows, a line each, below a heading; no heading without flows. */
void flow_print_lines(struct out *o, const struct flow_list *list, size_t columns_all)
{
	size_t width[COLS] = {}, peer, i;
	char cell[FLOW_CELL_LEN];
	int col;

	for (col = 0; col < COLS; col++) {
		for (i = 0; i <= list->n; i++) {
			put_cell(cell, col, i ? &list->list[i - 1] : NULL);
			if (width[col] < strlen(cell))
				width[col] = strlen(cell);
		}
	}
	peer = width[PEER];
	width[PEER] = peer < PEER_IPV4 ? peer : PEER_IPV4;
	if (sum(width) > columns_all)
		width[CUT] = 0;
	if (sum(width) > columns_all)
		width[TARGET] = 0;
	while (width[PEER] > PEER_LEAST && sum(width) > columns_all)
		width[PEER]--;
	while (width[PEER] < peer && sum(width) < columns_all)
		width[PEER]++;
	for (i = 0; i <= list->n && list->n; i++)
		print_line(o, width, i ? &list->list[i - 1] : NULL);
}
