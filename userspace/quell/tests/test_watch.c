// SPDX-License-Identifier: GPL-2.0
/*
 * quell flow watch without a terminal: flows and their past, the order, which flow is chosen and
 * which are seen, sparklines, cells, widths and sentences.
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

static float newest(const struct watch_row *row, enum watch_series series)
{
	return row->past[series][WATCH_PAST - 1];
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
	EXPECT_EQ(WATCH_UNKNOWN, newest(&w.rows[0], WATCH_RATE));
	EXPECT_EQ(WATCH_UNKNOWN, w.rows[0].past[WATCH_RTT][WATCH_PAST - 2]);
	EXPECT_EQ(1000, newest(&w.rows[0], WATCH_RTT));
	EXPECT_EQ(0, newest(&w.rows[0], WATCH_DELAY));
	take(&w, second, 3, 1000, 3 * SEC);
	ASSERT_EQ(3, w.n);
	EXPECT_EQ(500, newest(&w.rows[0], WATCH_RATE));
	EXPECT_EQ(WATCH_UNKNOWN, newest(&w.rows[1], WATCH_RATE));
	EXPECT_EQ(1500, newest(&w.rows[2], WATCH_RATE));
	EXPECT_EQ(WATCH_UNKNOWN, w.rows[1].past[WATCH_RTT][WATCH_PAST - 2]);
	EXPECT_EQ(3000, w.rows[2].past[WATCH_RTT][WATCH_PAST - 2]);
	EXPECT_EQ(2000, newest(&w.rows[2], WATCH_DELAY));
	take(&w, second, 0, 0, 4 * SEC);
	EXPECT_EQ(0, w.n);
	watch_free(&w);
}

static struct flow with_counters(uint64_t cookie)
{
	struct flow f = make_flow(cookie, 0);

	f.counters = (struct counters){ .list = calloc(1, sizeof(struct counter)), .n = 1 };
	f.counters.list[0].name = strdup("rtt-samples");
	return f;
}

/* All counters of the chosen flow, of the others those of a line. */
TEST(watch_keep_counters__of_one)
{
	struct flow_list list = { .list = calloc(3, sizeof(struct flow)), .n = 3 };
	struct watch w = { .sort = sort_of("rtt") };
	size_t i;

	for (i = 0; i < list.n; i++) {
		list.list[i] = with_counters(i + 1);
		watch_keep_counters(&list.list[i], 2);
	}
	EXPECT_EQ(NULL, watch_chosen(&w));
	ASSERT_EQ(0, watch_take(&w, &list, SEC));
	EXPECT_EQ(0, w.rows[0].flow.counters.n);
	EXPECT_EQ(1, w.rows[1].flow.counters.n);
	EXPECT_EQ(0, w.rows[2].flow.counters.n);
	EXPECT_EQ(NULL, w.rows[2].flow.counters.list);
	EXPECT_EQ(3, watch_chosen(&w)->key);
	watch_move(&w, 1);
	EXPECT_EQ(2, watch_chosen(&w)->key);
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
	EXPECT_EQ(WATCH_UNKNOWN, newest(&w.rows[0], WATCH_RATE));
	watch_free(&w);
}

TEST(watch_sort__keys)
{
	static const uint64_t cookies[] = { 2, 1, 3 };
	struct watch w = { .sort = sort_of("rate") };

	take(&w, cookies, 3, 0, SEC);
	EXPECT_EQ(1, w.order[0]->key);	/* no flow has a rate yet */
	take(&w, cookies, 3, 100, 2 * SEC);
	EXPECT_EQ(3, w.order[0]->key);
	EXPECT_EQ(1, w.order[2]->key);
	w.ascending = true;
	watch_sort(&w);
	EXPECT_EQ(1, w.order[0]->key);
	w.sort = sort_of("window");	/* all the same: the order stays */
	watch_sort(&w);
	EXPECT_EQ(1, w.order[0]->key);
	EXPECT_EQ(3, w.order[2]->key);
	w.ascending = false;
	watch_sort(&w);
	EXPECT_EQ(1, w.order[0]->key);
	w.sort = sort_of("rtt");
	watch_sort(&w);
	EXPECT_EQ(3, w.order[0]->key);
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
		EXPECT_EQ(rows[i].want, w.top)
			TH_LOG("row %zu", i);
	}
}

TEST(watch_sparkline__cases)
{
	float past[WATCH_PAST];
	char text[3 * WATCH_PAST + 1];

	for (int i = 0; i < WATCH_PAST; i++)
		past[i] = WATCH_UNKNOWN;
	watch_sparkline(text, past, 4, 0, false);
	EXPECT_EQ(0, strcmp("    ", text));
	for (int i = 0; i < 8; i++)
		past[WATCH_PAST - 8 + i] = i + 0.5;
	watch_sparkline(text, past, 9, 8, false);
	EXPECT_EQ(0, strcmp(" _.:-=+*#", text))
		TH_LOG("'%s'", text);
	watch_sparkline(text, past, 3, 0, true);
	EXPECT_EQ(0, strcmp("\u2586\u2587\u2588", text))
		TH_LOG("'%s'", text);
	watch_sparkline(text, past, 2, 1000, true);	/* far below the full scale */
	EXPECT_EQ(0, strcmp("\u2581\u2581", text));
	past[WATCH_PAST - 1] = 0;
	watch_sparkline(text, past, 1, 0, false);	/* all zero */
	EXPECT_EQ(0, strcmp("_", text));
}

TEST(watch_strip_control__cases)
{
	char buf[16];

	EXPECT_EQ(0, strcmp("a~ b", watch_strip_control(buf, sizeof(buf), "a~ b")));
	EXPECT_EQ(0, strcmp("\\x1b[2J", watch_strip_control(buf, sizeof(buf), "\033[2J")));
	EXPECT_EQ(0,
		  strcmp("\\x9b\\xc2\\x9b", watch_strip_control(buf, sizeof(buf), "\x9b\xc2\x9b")));
	EXPECT_EQ(0, strcmp("\\x01", watch_strip_control(buf, 8, "\x01\x02")));
	EXPECT_EQ(0, strcmp("abc", watch_strip_control(buf, 4, "abcd")));
}

static const char *cell_of(int col, const struct watch_row *row, bool utf8)
{
	static char cell[WATCH_CELL_LEN];
	struct watch_layout layout = { .utf8 = utf8 };

	layout.width[col] = 4;
	watch_cell(cell, col, row, &layout);
	return cell;
}

TEST(watch_cell__cases)
{
	struct watch_row row = { .flow = { .family = AF_INET, .sport = 43210, .dport = 5201,
					   .daddr = { 10, 9, 0, 2 }, .cc = "swift",
					   .rtt_ns = 81200, .min_rtt_ns = 15000,
					   .target_ns = 65000, .mss_bytes = 1448,
					   .window_bytes = 724, .reduction = "delay",
					   .reduction_age_ns = 1200000, .limited_by = "window",
					   .retrans_segs = 12, .state = 1 } };
	static const char * const want[WATCH_COLS] = {
		"swift", "43210", "10.9.0.2:5201", "0.50", "1.00G", "   #", "81.2us", "___#",
		"66.2us", "  *#", "65.0us", "12", "delay", "1.20ms", "window",
	};

	for (int i = 0; i < WATCH_SERIES; i++)
		for (int j = 0; j < WATCH_PAST; j++)
			row.past[i][j] = WATCH_UNKNOWN;
	row.past[WATCH_RATE][WATCH_PAST - 1] = 125000000;
	for (int j = 0; j < WATCH_PAST; j++)
		row.past[WATCH_RTT][j] = j == WATCH_PAST - 1 ? 81200 : 0;
	row.past[WATCH_DELAY][WATCH_PAST - 2] = 50000;	/* of 50 us that there is room for */
	row.past[WATCH_DELAY][WATCH_PAST - 1] = 66200;
	for (int c = 0; c < WATCH_COLS; c++) {
		EXPECT_EQ(0, strcmp(want[c], cell_of(c, &row, false)))
			TH_LOG("column %s: '%s'", watch_heading(c), cell_of(c, &row, false));
	}
	row.flow.rtt_ns = 15000;
	EXPECT_EQ(0, strcmp("0", cell_of(WATCH_COL_DELAY, &row, false)));
	row.past[WATCH_RATE][WATCH_PAST - 1] = WATCH_UNKNOWN;
	EXPECT_EQ(0, strcmp("-", cell_of(WATCH_COL_RATE, &row, false)));
	row.flow.state = 0;	/* nobody has said it */
	EXPECT_EQ(0, strcmp("-", cell_of(WATCH_COL_RETRANS, &row, false)));
	row.flow.cc = "\033[2J";
	row.flow.reduction = "\x9b";
	EXPECT_EQ(0, strcmp("\\x1b[2J", cell_of(WATCH_COL_CC, &row, false)));
	EXPECT_EQ(0, strcmp("\\x9b", cell_of(WATCH_COL_REDUCTION, &row, false)));
}

static size_t columns_used(const struct watch_layout *layout)
{
	size_t sum = 0;

	for (int c = 0; c < WATCH_COLS; c++)
		sum += layout->width[c] ? layout->width[c] + 1 : 0;
	return sum - 1;
}

/* At any width all fits that has a width, and the remote address is there. */
TEST(watch_fit__widths)
{
	static const uint64_t cookies[] = { 1, 2 };
	struct watch_layout layout = {};
	struct watch w = {};

	take(&w, cookies, 2, 0, SEC);
	watch_measure(&layout, &w, 10);
	for (size_t columns = 24; columns <= 300; columns++) {
		watch_fit(&layout, columns);
		EXPECT_GE(columns, columns_used(&layout))
			TH_LOG("%zu columns: %zu", columns, columns_used(&layout));
		EXPECT_NE(0, layout.width[WATCH_COL_PEER]);
		EXPECT_GE(WATCH_PAST, layout.width[WATCH_COL_RTT_PAST]);
	}
	watch_fit(&layout, 80);
	EXPECT_EQ(13, layout.width[WATCH_COL_PEER]);
	EXPECT_LE(6, layout.width[WATCH_COL_DELAY_PAST]);
	EXPECT_LE(5, layout.width[WATCH_COL_REDUCTION]);
	EXPECT_EQ(0, layout.width[WATCH_COL_PKTS]);
	watch_fit(&layout, 120);
	EXPECT_NE(0, layout.width[WATCH_COL_PORT]);
	EXPECT_NE(0, layout.width[WATCH_COL_PKTS]);
	EXPECT_NE(0, layout.width[WATCH_COL_AGO]);
	watch_free(&w);
}

/* The longest words and addresses there are, at 80 columns. */
TEST(watch_fit__longest)
{
	struct watch_layout layout = {};
	struct flow f = make_flow(1, 0);
	struct flow_list list = { .list = calloc(1, sizeof(f)), .n = 1 };
	struct watch w = {};

	free(f.cc);
	f.family = AF_INET6;
	memset(f.daddr, 0xfd, sizeof(f.daddr));
	f.cc = strdup("swift_vaisf");
	f.reduction = strdup("timeout");
	f.fallback = strdup("delay-stays");
	list.list[0] = f;
	watch_take(&w, &list, SEC);
	watch_measure(&layout, &w, 1);
	watch_fit(&layout, 80);
	EXPECT_GE(80, columns_used(&layout));
	EXPECT_EQ(11, layout.width[WATCH_COL_CC]);
	EXPECT_EQ(7, layout.width[WATCH_COL_REDUCTION]);
	EXPECT_EQ(4, layout.width[WATCH_COL_RATE_PAST]);
	watch_fit(&layout, 300);
	EXPECT_EQ(18, layout.width[WATCH_COL_LIMIT]);
	EXPECT_EQ(46, layout.width[WATCH_COL_PEER]);
	watch_free(&w);
}

TEST(watch_describe__flow)
{
	struct watch_row row = { .flow = { .family = AF_INET, .limited_by = "window",
					   .saddr = { 10, 0, 0, 1 }, .daddr = { 10, 9, 0, 2 },
					   .sport = 43210, .dport = 5201, .mss_bytes = 1448,
					   .window_bytes = 724, .inflight_bytes = 12345,
					   .retrans_segs = 7, .state = 1,
					   .rtt_ns = 81200, .min_rtt_ns = 15000,
					   .target_ns = 65000, .reduction = "delay",
					   .reduction_age_ns = 1200000, .reduction_rtt_ns =
						   90000 } };
	char text[WATCH_TEXT_LEN], many[4096];

	watch_describe(text, &row);
	EXPECT_EQ(0, strcmp("10.0.0.1:43210 > 10.9.0.2:5201: window 0.50 packets, "
			    "12.3K bytes in flight, 7 segments retransmitted; "
			    "limited by window; RTT 81.2us, smallest 15.0us; target 65.0us; "
			    "window reduced for delay 1.20ms ago at RTT 90.0us", text))
		TH_LOG("%s", text);
	row.flow.adapt = "fallback";
	row.flow.fallback = "long-path";
	row.flow.reduction = NULL;
	row.flow.cubic_ns = 750000000;
	row.flow.search_ns = 250000000;
	watch_describe(text, &row);
	EXPECT_NE(NULL, strstr(text, "; CUBIC governs: long-path, in all 750ms(75.0%); "
			       "window never reduced"))
		TH_LOG("%s", text);
	row.flow.adapt = "start";
	watch_describe(text, &row);
	EXPECT_NE(NULL, strstr(text, "; the window of the path is searched; window never reduced"))
		TH_LOG("%s", text);
	/* A kernel that says more than it should. */
	memset(many, 'x', sizeof(many));
	many[sizeof(many) - 1] = '\0';
	row.flow.adapt = "fallback";
	row.flow.limited_by = many;
	row.flow.fallback = many;
	row.flow.reduction = many;
	watch_describe(text, &row);
	EXPECT_NE(NULL, strstr(text, " ago"))
		TH_LOG("%s", text);
}

TEST(watch_describe__all)
{
	static const uint64_t cookies[] = { 1, 2 };
	char text[WATCH_TEXT_LEN];
	struct watch w = {};

	take(&w, cookies, 2, 0, SEC);
	take(&w, cookies, 2, 1000000, 2 * SEC);
	w.rows[0].flow.adapt = strdup("fallback");
	watch_describe_all(text, sizeof(text), &w);
	EXPECT_EQ(0, strcmp("24.0Mbit/s in all; limited by window 2; CUBIC governs 1", text))
		TH_LOG("%s", text);
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
			ASSERT_LT(w.rows[i - 1].key, w.rows[i].key);
	}
	watch_free(&w);
}

TEST_HARNESS_MAIN
