// SPDX-License-Identifier: GPL-2.0
/*
 * quell flow watch without a terminal: flows and their past, the order, which flow is selected and
 * which are on the screen, sparklines, lines, widths and the sum.
 */
#include <stdlib.h>
#include <string.h>

#include "quell.h"
#include "util.h"
#include "watch.h"

#include "complaint.h"
#include "test.h"

#define NS_PER_SEC	1000000000ULL
#define SEC		NS_PER_SEC

static struct flow make_flow(uint64_t cookie, uint64_t acked_bytes)
{
	return (struct flow){ .family = AF_INET, .sport = cookie, .dport = 5201, .cookie = cookie,
			      .saddr = { 10, 0, 0, 1 }, .daddr = { 10, 9, 0, 2 }, .state = 1,
			      .acked_bytes = acked_bytes, .cc = strdup("swift"),
			      .limited_by = strdup("window"), .rtt_ns = 1000 * cookie,
			      .min_rtt_ns = 1000, .mss_bytes = 1448, .window_bytes = 724 };
}

/* Take flows of these cookies, which have acknowledged so much. */
static void take(struct watch *w, const uint64_t *cookies, size_t n, uint64_t acked_bytes,
		 uint64_t now_ns)
{
	struct flow_list list = { .list = calloc(n + 1, sizeof(struct flow)), .n = n };
	size_t i;

	for (i = 0; i < n; i++)
		list.list[i] = make_flow(cookies[i], acked_bytes * cookies[i]);
	watch_take(w, &list, now_ns);
}

static float sample(const struct watch_row *row, enum flow_series series, int age)
{
	return row->past.sample[series][FLOW_PAST - 1 - age];
}

static int sort_of(const char *name)
{
	int sort = 0;

	while (strcmp(flow_sort_name(sort), name))
		sort++;
	return sort;
}

TEST(watch_take__rates)
{
	static const uint64_t first[] = { 3, 1 }, second[] = { 2, 3, 1 };
	struct watch w = {};

	take(&w, first, 2, 0, SEC);
	ASSERT_EQ(2, w.n);
	EXPECT_EQ(1, w.rows[0].key);
	EXPECT_EQ(FLOW_UNKNOWN, sample(&w.rows[0], FLOW_RATE, 0));
	EXPECT_EQ(FLOW_UNKNOWN, sample(&w.rows[0], FLOW_RTT, 1));
	EXPECT_EQ(1000, sample(&w.rows[0], FLOW_RTT, 0));
	EXPECT_EQ(0, sample(&w.rows[0], FLOW_DELAY, 0));
	take(&w, second, 3, 1000, 3 * SEC);
	ASSERT_EQ(3, w.n);
	/* Of the keys 3, 1 and 2, by rate. */
	EXPECT_EQ(1500, sample(&w.rows[0], FLOW_RATE, 0));
	EXPECT_EQ(3000, sample(&w.rows[0], FLOW_RTT, 1));
	EXPECT_EQ(2000, sample(&w.rows[0], FLOW_DELAY, 0));
	EXPECT_EQ(500, sample(&w.rows[1], FLOW_RATE, 0));
	EXPECT_EQ(FLOW_UNKNOWN, sample(&w.rows[2], FLOW_RATE, 0));
	EXPECT_EQ(FLOW_UNKNOWN, sample(&w.rows[2], FLOW_RTT, 1));
	take(&w, second, 0, 0, 4 * SEC);
	EXPECT_EQ(0, w.n);
	watch_free(&w);
}

/* Without tcp_diag a flow has no cookie, and no rate. */
TEST(watch_take__no_cookies)
{
	struct flow one = make_flow(7, 0), other = make_flow(8, 0);
	struct flow_list list = { .list = calloc(2, sizeof(one)), .n = 2 };
	struct watch w = {};

	one.cookie = 0;
	one.state = 0;
	other.cookie = 0;
	EXPECT_NE(watch_key(&one), watch_key(&other));
	EXPECT_NE(0, watch_key(&one));
	list.list[0] = one;
	list.list[1] = other;
	EXPECT_EQ(0, watch_take(&w, &list, SEC));
	EXPECT_EQ(2, w.n);
	EXPECT_EQ(0, list.n);
	EXPECT_EQ(NULL, list.list);
	watch_free(&w);
}

/* The kernel counts a connection anew that a program made anew. */
TEST(watch_take__counted_anew)
{
	static const uint64_t cookies[] = { 1 };
	struct watch w = {};

	take(&w, cookies, 1, 5000, SEC);
	take(&w, cookies, 1, 10, 2 * SEC);
	EXPECT_EQ(FLOW_UNKNOWN, sample(&w.rows[0], FLOW_RATE, 0));
	watch_free(&w);
}

TEST(watch_sort__keys)
{
	static const uint64_t cookies[] = { 2, 1, 3 };
	struct watch w = { .sort = sort_of("rate") };

	take(&w, cookies, 3, 0, SEC);
	EXPECT_EQ(1, w.rows[0].key);	/* no flow has a rate yet */
	take(&w, cookies, 3, 100, 2 * SEC);
	EXPECT_EQ(3, w.rows[0].key);
	EXPECT_EQ(1, w.rows[2].key);
	w.ascending = true;
	watch_sort(&w);
	EXPECT_EQ(1, w.rows[0].key);
	w.sort = sort_of("window");	/* all the same: the order stays */
	watch_sort(&w);
	EXPECT_EQ(1, w.rows[0].key);
	EXPECT_EQ(3, w.rows[2].key);
	w.ascending = false;
	watch_sort(&w);
	EXPECT_EQ(1, w.rows[0].key);
	w.sort = sort_of("rtt");
	watch_sort(&w);
	EXPECT_EQ(3, w.rows[0].key);
	watch_free(&w);
}

/* One that was chosen stays so, until it has gone; the first is whichever is first. */
TEST(watch_move__follows)
{
	static const uint64_t four[] = { 1, 2, 3, 4 }, three[] = { 1, 2, 4 };
	struct watch w = { .sort = sort_of("rtt") };

	watch_move(&w, 1);
	EXPECT_EQ(0, w.at);
	take(&w, four, 4, 0, SEC);
	watch_move(&w, 1);
	EXPECT_EQ(1, w.at);
	EXPECT_EQ(3, w.follow);
	w.ascending = true;
	watch_sort(&w);
	EXPECT_EQ(2, w.at);
	take(&w, three, 3, 0, 2 * SEC);
	EXPECT_EQ(2, w.at);
	EXPECT_EQ(0, w.follow);
	take(&w, three, 1, 0, 2 * SEC);
	EXPECT_EQ(0, w.at);
	take(&w, four, 4, 0, 2 * SEC);
	watch_move(&w, 100);
	EXPECT_EQ(3, w.at);
	watch_move(&w, -100);
	EXPECT_EQ(0, w.at);
	EXPECT_EQ(0, w.follow);
	watch_free(&w);
}

TEST(watch_scroll__cases)
{
	static const struct {
		size_t	n, at, top, lines, want;
	} rows[] = {
		{ 0, 0, 0, 10, 0 },
		{ 5, 4, 0, 10, 0 },
		{ 50, 9, 0, 10, 0 },
		{ 50, 10, 0, 10, 1 },
		{ 50, 49, 0, 10, 40 },
		{ 50, 3, 20, 10, 3 },
		{ 50, 49, 49, 10, 40 },	/* flows have gone, or the terminal has grown */
		{ 50, 49, 40, 0, 40 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct watch w = { .n = rows[i].n, .at = rows[i].at, .top = rows[i].top };

		watch_scroll(&w, rows[i].lines);
		expect_eq(rows[i].want, w.top, "row %zu", i);
	}
}

TEST(flow_sparkline__cases)
{
	float past[FLOW_PAST];
	char text[3 * FLOW_PAST + 1];

	for (int i = 0; i < FLOW_PAST; i++)
		past[i] = FLOW_UNKNOWN;
	flow_sparkline(text, past, 4, 0, false);
	EXPECT_EQ(0, strcmp("    ", text));
	for (int i = 0; i < 8; i++)
		past[FLOW_PAST - 8 + i] = i + 0.5;
	flow_sparkline(text, past, 9, 8, false);
	expect_eq(0, strcmp(" _.:-=+*#", text), "'%s'", text);
	flow_sparkline(text, past, 3, 0, true);
	expect_eq(0, strcmp("\u2586\u2587\u2588", text), "'%s'", text);
	flow_sparkline(text, past, 2, 1000, true);	/* far below the full scale */
	EXPECT_EQ(0, strcmp("\u2581\u2581", text));
	past[FLOW_PAST - 1] = 0;
	flow_sparkline(text, past, 1, 0, false);	/* all zero */
	EXPECT_EQ(0, strcmp("_", text));
}

/* The line of a flow in @columns, without attributes, and with them in @raw. */
static const char *line_of(const struct watch_row *row, size_t columns, char *raw)
{
	struct flow_layout l = { .table = FLOW_TABLE_WATCH, .color = true };
	static char plain[FLOW_LINE_LEN];
	size_t used = 0;
	const char *at;

	flow_measure(&l, &row->flow, &row->past);
	flow_fit(&l, columns);
	flow_line(raw, &l, &row->flow, &row->past, false);
	for (at = raw; *at; at++) {
		if (*at == '\033')
			at = strchr(at, 'm');
		else
			plain[used++] = *at;
	}
	plain[used] = '\0';
	return plain;
}

static struct watch_row a_row(void)
{
	struct watch_row row = { .flow = { .family = AF_INET, .sport = 43210, .dport = 5201,
					   .daddr = { 10, 9, 0, 2 }, .cc = "swift",
					   .rtt_ns = 81200, .min_rtt_ns = 15000,
					   .target_ns = 65000, .mss_bytes = 1448,
					   .window_bytes = 724, .reduction = "loss",
					   .reduction_age_ns = 1200000, .limited_by = "window",
					   .retrans_segs = 12, .state = 1 } };

	for (int i = 0; i < FLOW_SERIES; i++)
		for (int j = 0; j < FLOW_PAST; j++)
			row.past.sample[i][j] = FLOW_UNKNOWN;
	row.past.sample[FLOW_RATE][FLOW_PAST - 1] = 125000000;
	row.past.sample[FLOW_RTT][FLOW_PAST - 2] = 0;
	row.past.sample[FLOW_RTT][FLOW_PAST - 1] = 81200;
	row.past.sample[FLOW_DELAY][FLOW_PAST - 2] = 50000;	/* of 50 us that there is room for */
	row.past.sample[FLOW_DELAY][FLOW_PAST - 1] = 66200;
	return row;
}

TEST(flow_line__cells)
{
	struct watch_row row = a_row();
	char raw[FLOW_LINE_LEN];

	EXPECT_STREQ("swift 43210 10.9.0.2:5201 0.50 1.00G        # 81.2us       _# 66.2us       *# 65.0us"
		     "   12 loss 1.20ms window", line_of(&row, 108, raw));
	EXPECT_NE(NULL, strstr(raw, "\033[0;31m loss"))
		TH_LOG("%s", raw);
	EXPECT_NE(NULL, strstr(raw, "\033[0;33m 81.2us"));
	row.flow.rtt_ns = 15000;
	row.past.sample[FLOW_RATE][FLOW_PAST - 1] = FLOW_UNKNOWN;
	row.flow.state = 0;
	row.flow.cc = "\033[2J";
	row.flow.reduction = "\x9b";
	row.flow.fallback = "noise";
	EXPECT_STREQ("\\x1b[2J 43210 10.9.0.2:5201 0.50    -          15.0us       _#     0       *# 65.0us"
		     "    - \\x9b 1.20ms window,noise", line_of(&row, 114, raw));
}

/* At any width the line fits, and the remote address is there while there is room for it. */
TEST(flow_fit__widths)
{
	struct watch_row row = a_row();
	char raw[FLOW_LINE_LEN];
	const char *line;

	for (size_t columns = 1; columns <= 300; columns++) {
		line = line_of(&row, columns, raw);
		expect_eq(columns, strlen(line), "%zu columns: '%s'", columns, line);
		expect(columns < 32 || strstr(line, ":5201"), "%zu columns: '%s'", columns, line);
	}
	/* A terminal may say that it has any number, and the line has its bytes. */
	EXPECT_EQ(FLOW_COLUMNS_MAX, strlen(line_of(&row, 65535, raw)));
	EXPECT_LT(strlen(raw), sizeof(raw));
	EXPECT_NE(NULL, strstr(line_of(&row, 80, raw), " loss "));
	EXPECT_EQ(NULL, strstr(line_of(&row, 80, raw), " 43210 "));
	EXPECT_NE(NULL, strstr(line_of(&row, 120, raw), " 43210 "));
}

/* The longest words and addresses there are, at 80 columns. */
TEST(flow_fit__longest)
{
	struct watch_row row = a_row();
	char raw[FLOW_LINE_LEN];

	row.flow.family = AF_INET6;
	memset(row.flow.daddr, 0xfd, sizeof(row.flow.daddr));
	row.flow.cc = "swift_vaisf";
	row.flow.reduction = "timeout";
	row.flow.fallback = "delay-stays";
	EXPECT_STREQ("swift_vaisf [fd..:5201 1.00G    # 81.2us   _# 66.2us   *# 65.0us timeout"
		     " delay-", line_of(&row, 79, raw));
	EXPECT_NE(NULL, strstr(line_of(&row, 300, raw), "fdfd:fdfd]:5201 "));
	EXPECT_NE(NULL, strstr(line_of(&row, 300, raw), " window,delay-stays"));
}

TEST(watch_sum__cases)
{
	static const uint64_t cookies[] = { 1, 2 };
	char text[256];
	struct watch w = {};

	take(&w, cookies, 2, 0, SEC);
	take(&w, cookies, 2, 1000000, 2 * SEC);
	w.rows[0].flow.adapt = strdup("fallback");
	watch_sum(&w, text, sizeof(text));
	expect_eq(0, strcmp("24.0Mbit/s in all; limited by window 2; CUBIC governs 1", text), "%s",
		  text);
	watch_free(&w);
}

/* The cost is that of sorting: of ten thousand flows, and with all of them changing. */
TEST(watch_take__ten_thousand)
{
	enum { FLOWS = 10000 };
	static uint64_t cookies[FLOWS];
	struct watch w = {};

	for (uint64_t look = 1; look <= 3; look++) {
		for (uint64_t i = 0; i < FLOWS; i++)
			cookies[i] = 1 + (i * 7919 + look * FLOWS / 2) % (4 * FLOWS);
		take(&w, cookies, FLOWS, look, look * SEC);
		ASSERT_EQ(FLOWS, w.n);
		for (size_t i = 1; i < w.n; i++)
			ASSERT_GE(sample(&w.rows[i - 1], FLOW_RATE, 0),
				  sample(&w.rows[i], FLOW_RATE, 0));
	}
	watch_free(&w);
}

TEST_HARNESS_MAIN
