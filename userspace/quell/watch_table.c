// SPDX-License-Identifier: GPL-2.0
/*
 * Flows with their past: each sample is joined with the rows known before, by sorted keys, so that
 * it costs as much as sorting the flows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

#define NS_PER_SEC	1000000000.0

/* FNV-1a, of 64 bits. */
#define HASH_BASIS	0xcbf29ce484222325ULL
#define HASH_PRIME	0x100000001b3ULL
/* No cookie is that large: the kernel counts them from 1 on. */
#define HASH_MARK	(1ULL << 63)

static uint64_t hash(uint64_t sum, const void *bytes, size_t len)
{
	const uint8_t *byte = bytes;

	while (len--)
		sum = (sum ^ *byte++) * HASH_PRIME;
	return sum;
}

/**
 * watch_key() - identify a flow
 * @f: the flow
 *
 * Return: the socket's cookie, or, before it has one, a hash of its ends; not 0.
 */
uint64_t watch_key(const struct flow *f)
{
	uint64_t sum = HASH_BASIS;

	if (f->cookie)
		return f->cookie;
	sum = hash(sum, &f->ifindex, sizeof(f->ifindex));
	sum = hash(sum, &f->sport, sizeof(f->sport));
	sum = hash(sum, &f->dport, sizeof(f->dport));
	sum = hash(sum, f->saddr, sizeof(f->saddr));
	sum = hash(sum, f->daddr, sizeof(f->daddr));
	return sum | HASH_MARK;
}

/**
 * watch_keep_counters() - forget the counters of a flow that is not looked at closely
 * @f: the flow
 * @key: of the one that is
 */
void watch_keep_counters(struct flow *f, uint64_t key)
{
	if (watch_key(f) != key)
		flow_forget_counters(f);
}

static int compare_rows(const void *a, const void *b)
{
	const struct watch_row *one = a, *two = b;

	return (one->key > two->key) - (one->key < two->key);
}

/* Rate of data acknowledged since the previous sample. */
static float rate_since(const struct flow *now, const struct flow *before, uint64_t ns)
{
	if (!now->state || !before || !before->state || !ns ||
	    now->acked_bytes < before->acked_bytes)
		return WATCH_UNKNOWN;
	return (now->acked_bytes - before->acked_bytes) * (NS_PER_SEC / ns);
}

/* Go on with the samples of the look before, if there was one. */
static void add_samples(struct watch_row *row, const struct watch_row *before, uint64_t ns)
{
	const struct flow *f = &row->flow;
	int i, j;

	for (i = 0; i < WATCH_SERIES; i++) {
		if (before)
			memcpy(row->past[i], before->past[i] + 1,
			       (WATCH_PAST - 1) * sizeof(*row->past[i]));
		for (j = 0; !before && j < WATCH_PAST - 1; j++)
			row->past[i][j] = WATCH_UNKNOWN;
	}
	row->past[WATCH_RATE][WATCH_PAST - 1] = rate_since(f, before ? &before->flow : NULL, ns);
	row->past[WATCH_RTT][WATCH_PAST - 1] = f->rtt_ns ? f->rtt_ns : WATCH_UNKNOWN;
	row->past[WATCH_DELAY][WATCH_PAST - 1] = f->rtt_ns ? flow_delay_ns(f) : WATCH_UNKNOWN;
}

/* Samples of all rows; both lists are sorted by key. */
static void join_past(const struct watch *w, struct watch_row *rows, size_t n, uint64_t ns)
{
	size_t i, old = 0;

	for (i = 0; i < n; i++) {
		while (old < w->n && w->rows[old].key < rows[i].key)
			old++;
		add_samples(&rows[i], old < w->n && w->rows[old].key == rows[i].key ?
			    &w->rows[old] : NULL, ns);
	}
}

static void free_rows(struct watch *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		flow_release(&w->rows[i].flow);
	free(w->rows);
	free(w->order);
	w->rows = NULL;
	w->order = NULL;
	w->n = 0;
}

/**
 * watch_take() - add a sample
 * @w: the flows so far; those that are not in @list are forgotten
 * @list: flows of this look; empty afterwards, for they are moved
 * @now_ns: time of this look
 *
 * Return: 0 or -ENOMEM, after which both are as before.
 */
int watch_take(struct watch *w, struct flow_list *list, uint64_t now_ns)
{
	struct watch_row **order = calloc(list->n + 1, sizeof(*order));
	struct watch_row *rows = calloc(list->n + 1, sizeof(*rows));
	size_t i, n = list->n;

	if (!rows || !order) {
		free(rows);
		free(order);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		rows[i].flow = list->list[i];
		rows[i].key = watch_key(&rows[i].flow);
	}
	free(list->list);
	*list = (struct flow_list){ .brief = list->brief };
	qsort(rows, n, sizeof(*rows), compare_rows);
	join_past(w, rows, n, w->sampled_ns ? now_ns - w->sampled_ns : 0);
	free_rows(w);
	w->rows = rows;
	w->order = order;
	w->n = n;
	for (i = 0; i < n; i++)
		order[i] = &rows[i];
	w->sampled_ns = now_ns;
	w->looks++;
	watch_sort(w);
	return 0;
}

/* The rate is measured here; all else is as in "flow show". */
static uint64_t sort_value(const struct watch *w, const struct watch_row *row)
{
	float rate = row->past[WATCH_RATE][WATCH_PAST - 1];

	if (!strcmp(flow_sort_name(w->sort), "rate"))
		return rate > 0 ? rate : 0;
	return flow_sort_value(w->sort, &row->flow);
}

/* Those of the same value keep their places from one look to the next. */
static int compare_order(const void *a, const void *b, void *data)
{
	const struct watch_row *one = *(const struct watch_row **)a;
	const struct watch_row *two = *(const struct watch_row **)b;
	const struct watch *w = data;
	uint64_t first = sort_value(w, one), second = sort_value(w, two);

	if (first == second)
		return compare_rows(one, two);
	return (first > second) != w->ascending ? -1 : 1;
}

/**
 * watch_sort() - bring the flows into the order wanted
 * @w: the flows; a flow that was chosen stays so
 */
void watch_sort(struct watch *w)
{
	size_t i;

	if (w->n)
		qsort_r(w->order, w->n, sizeof(*w->order), compare_order, w);
	for (i = 0; w->follow && i < w->n; i++)
		if (w->order[i]->key == w->follow)
			break;
	if (w->follow && i < w->n)
		w->at = i;
	else
		w->follow = 0;
	if (w->at >= w->n)
		w->at = w->n ? w->n - 1 : 0;
}

/**
 * watch_move() - choose another flow
 * @w: the flows
 * @lines: how many further down, or up; it ends at the first and the last
 *
 * The first position stays the first when flows change; further down, the flow is followed.
 */
void watch_move(struct watch *w, long lines)
{
	size_t up = lines < 0 ? -(unsigned long)lines : 0, down = lines < 0 ? 0 : lines;

	if (!w->n)
		return;
	w->at -= up < w->at ? up : w->at;
	w->at += down < w->n - 1 - w->at ? down : w->n - 1 - w->at;
	w->follow = w->at ? w->order[w->at]->key : 0;
}

/**
 * watch_chosen() - the flow that is looked at closely
 * @w: the flows
 *
 * Return: the flow, or NULL without flows.
 */
struct watch_row *watch_chosen(const struct watch *w)
{
	return w->n ? w->order[w->at] : NULL;
}

/**
 * watch_scroll() - have the chosen flow seen
 * @w: the flows
 * @lines: how many are seen
 */
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

/* Forget all flows. */
void watch_free(struct watch *w)
{
	free_rows(w);
}
