// SPDX-License-Identifier: GPL-2.0
/*
 * Flows with their past: each sample is joined with the rows known before, by sorted keys, so that
 * it costs as much as sorting the flows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"
#include "watch.h"

#define NS_PER_SEC	1000000000.0

/* No cookie is that large: the kernel counts them from 1 on. */
#define KEY_MARK	(1ULL << 63)

/* Identify a flow: the socket's cookie, or, before it has one, its interface and ports; not 0. */
uint64_t watch_key(const struct flow *f)
{
	return f->cookie ? f->cookie :
	       KEY_MARK | (uint64_t)f->ifindex << 32 | (uint32_t)f->sport << 16 | f->dport;
}

static int compare_keys(const void *a, const void *b)
{
	const struct watch_row *one = a, *two = b;

	return (one->key > two->key) - (one->key < two->key);
}

/* The rate is measured here; all else is as in "flow show". */
static uint64_t sort_value(const struct watch *w, const struct watch_row *row)
{
	float rate = row->past.sample[FLOW_RATE][FLOW_PAST - 1];

	if (!strcmp(flow_sort_name(w->sort), "rate"))
		return rate > 0 ? rate : 0;
	return flow_sort_value(w->sort, &row->flow);
}

/* Those of the same value keep their places from one sample to the next. */
static int compare_rows(const void *a, const void *b, void *data)
{
	uint64_t first = sort_value(data, a), second = sort_value(data, b);
	const struct watch *w = data;

	if (first == second)
		return compare_keys(a, b);
	return (first > second) != w->ascending ? -1 : 1;
}

/* Sort the flows; one that was selected remains so. */
void watch_sort(struct watch *w)
{
	size_t i;

	if (w->n)
		qsort_r(w->rows, w->n, sizeof(*w->rows), compare_rows, w);
	for (i = 0; w->follow && i < w->n && w->rows[i].key != w->follow; i++)
		;
	if (w->follow && i < w->n)
		w->at = i;
	else
		w->follow = 0;
	if (w->at >= w->n)
		w->at = w->n ? w->n - 1 : 0;
}

/* Rate of data acknowledged since the previous sample. */
static float rate_since(const struct flow *now, const struct flow *before, uint64_t ns)
{
	if (!now->state || !before->state || !ns || now->acked_bytes < before->acked_bytes)
		return FLOW_UNKNOWN;
	return (now->acked_bytes - before->acked_bytes) * (NS_PER_SEC / ns);
}

/* Go on with the samples of the row before, if there was one. */
static void add_samples(struct watch_row *row, const struct watch_row *before, uint64_t ns)
{
	const struct flow *f = &row->flow;
	const float now[FLOW_SERIES] = {
		[FLOW_RATE] = before ? rate_since(f, &before->flow, ns) : FLOW_UNKNOWN,
		[FLOW_RTT] = f->rtt_ns ? f->rtt_ns : FLOW_UNKNOWN,
		[FLOW_DELAY] = f->rtt_ns ? flow_delay_ns(f) : FLOW_UNKNOWN,
	};
	int i, j;

	for (i = 0; i < FLOW_SERIES; i++) {
		for (j = 0; j < FLOW_PAST - 1; j++)
			row->past.sample[i][j] = before ? before->past.sample[i][j + 1] :
							  FLOW_UNKNOWN;
		row->past.sample[i][j] = now[i];
	}
}

/* Forget all flows. */
void watch_free(struct watch *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		flow_release(&w->rows[i].flow);
	free(w->rows);
	w->rows = NULL;
	w->n = 0;
}

/*
 * Add a sample taken at @now_ns; flows that are not in @list are forgotten, those in it are moved.
 * Returns 0, or -ENOMEM, after which both are as before.
 */
int watch_take(struct watch *w, struct flow_list *list, uint64_t now_ns)
{
	struct watch_row *rows = calloc(list->n + 1, sizeof(*rows));
	size_t i, old = 0, n = list->n;

	if (!rows)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		rows[i].flow = list->list[i];
		rows[i].key = watch_key(&rows[i].flow);
	}
	free(list->list);
	*list = (struct flow_list){};
	qsort(rows, n, sizeof(*rows), compare_keys);
	if (w->n)
		qsort(w->rows, w->n, sizeof(*rows), compare_keys);
	for (i = 0; i < n; i++) {
		while (old < w->n && w->rows[old].key < rows[i].key)
			old++;
		add_samples(&rows[i], old < w->n && w->rows[old].key == rows[i].key ?
			    &w->rows[old] : NULL, now_ns - w->sampled_ns);
	}
	watch_free(w);
	w->rows = rows;
	w->n = n;
	w->sampled_ns = now_ns;
	watch_sort(w);
	return 0;
}

/* Select the flow so many lines further down. */
void watch_move(struct watch *w, long lines)
{
	size_t up = lines < 0 ? -lines : 0, down = lines < 0 ? 0 : lines;

	if (!w->n)
		return;
	w->at -= up < w->at ? up : w->at;
	w->at += down < w->n - 1 - w->at ? down : w->n - 1 - w->at;
	w->follow = w->at ? w->rows[w->at].key : 0;
}

/* Bring the selected flow into view, where there is room for @lines. */
void watch_scroll(struct watch *w, size_t lines)
{
	size_t last = w->n > lines ? w->n - lines : 0;

	if (w->top > w->at)
		w->top = w->at;
	if (lines && w->at - w->top >= lines)
		w->top = w->at - lines + 1;
	if (w->top > last)
		w->top = last;
}

/* A sentence on all flows together. */
void watch_sum(const struct watch *w, char *text, size_t len)
{
	static const char * const limits[] = { "window", "pacing", "app", "receiver" };
	size_t count[ARRAY_SIZE(limits)] = {}, cubic = 0, used, i, j;
	char cell[FLOW_CELL_LEN];
	double sum = 0;

	for (i = 0; i < w->n; i++) {
		const struct flow *f = &w->rows[i].flow;
		float rate = w->rows[i].past.sample[FLOW_RATE][FLOW_PAST - 1];

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
