// SPDX-License-Identifier: GPL-2.0
/*
 * The arguments of "quell flow": filters in the words of ss(8), and the order.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/adapt/names.h>

#include "sock_diag.h"
#include "flow.h"
#include "quell.h"
#include "util.h"

/* Default interval of "flow watch", ns. */
#define WATCH_INTERVAL_NS	1000000000ULL

/* Round-trip time above the minimum: queues, and the other host. */
static uint64_t delay_ns(const struct flow *f)
{
	return f->rtt_ns > f->min_rtt_ns ? f->rtt_ns - f->min_rtt_ns : 0;
}

/* Keys are members of 64 bits. */
static const struct {
	const char	*name;
	size_t		offset;		/* 0: delay_ns() */
} sort_keys[] = {
	{ "rate", offsetof(struct flow, delivery_bytes_ps) },
	{ "window", offsetof(struct flow, window_bytes) },
	{ "inflight", offsetof(struct flow, inflight_bytes) },
	{ "rtt", offsetof(struct flow, rtt_ns) },
	{ "delay", 0 },
	{ "retrans", offsetof(struct flow, retrans_segs) },
};

/* The name of the key at a position, or NULL behind the last. */
const char *flow_sort_name(int sort)
{
	return (size_t)sort < ARRAY_SIZE(sort_keys) ? sort_keys[sort].name : NULL;
}

static uint64_t sort_value(int sort, const struct flow *f)
{
	size_t offset = sort_keys[sort].offset;

	return offset ? *(const uint64_t *)((const char *)f + offset) : delay_ns(f);
}

static int word_state(const struct word *w, const char *text, void *state)
{
	if (!diag_state_number(text, state))
		return STATUS_OK;
	return complain("%s: '%s' is no state; expected one of ss(8), such as established",
			w->word, text);
}

/* Governors that every algorithm has beside itself; then the reasons for CUBIC. */
static const char * const governors[] = { FLOW_BY_ALGORITHM, "search", "cubic" };

static int word_by(const struct word *w, const char *text, void *place)
{
	char known[256] = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(governors) + QUELL_ADAPT_REASONS - 1; i++) {
		const char *name = i < ARRAY_SIZE(governors) ? governors[i] :
				   quell_adapt_reasons[i - ARRAY_SIZE(governors) + 1];

		if (!strcmp(text, name))
			return word_text(w, text, place);
		append_name(known, sizeof(known), name);
	}
	return complain("%s: '%s' is no governor and no reason (there are: %s)", w->word, text,
			known);
}

/* A minus in front: smallest first. */
static int word_sort(const struct word *w, const char *text, void *place)
{
	const char *name = text + (*text == '-');
	struct flow_order *order = place;
	char known[128] = "";
	size_t i;

	order->ascending = name != text;
	for (i = 0; i < ARRAY_SIZE(sort_keys); i++) {
		if (!strcmp(name, sort_keys[i].name)) {
			order->sort = i;
			return STATUS_OK;
		}
		append_name(known, sizeof(known), sort_keys[i].name);
	}
	return complain("%s: '%s' is no key (there are: %s)", w->word, text, known);
}

static int word_prefix_len(const struct word *w, const char *text, void *place)
{
	uint64_t bits;
	int status = read_number(w->word, text, 8 * ADDRESS_BYTES, &bits);

	if (!status)
		*(uint8_t *)place = bits;
	return status;
}

#define AT(member)	offsetof(struct flow_args, member)

static const struct quantity interval = { QUELL_UNIT_NS, 10000000, UINT64_MAX };

/* The first two are those of "flow show", the last two of "flow watch". */
static const struct word known[] = {
	{ "-s", NULL, AT(summary), NULL },
	{ "prefix", word_prefix_len, AT(prefix_bits), NULL },
	{ "cc", word_text, AT(cc), NULL },
	{ "src", word_prefix, AT(src), NULL },
	{ "dst", word_prefix, AT(dst), NULL },
	{ "sport", word_port, AT(sport), NULL },
	{ "dport", word_port, AT(dport), NULL },
	{ "dev", word_dev, AT(ifindex), NULL },
	{ "state", word_state, AT(state), NULL },
	{ "by", word_by, AT(by), NULL },
	{ "sort", word_sort, AT(order), NULL },
	{ "interval", word_quantity, AT(interval_ns), &interval },
	{ "--no-color", NULL, AT(no_color), NULL },
};

/*
 * Parse the arguments of "flow show" and "flow watch", in any order; the texts in @words are those
 * of @argv.
 */
int flow_args_parse(struct flow_args *words, bool watch, int argc, char **argv)
{
	const struct words all = {
		.name = "flow", .list = known + (watch ? 2 : 0), .n = ARRAY_SIZE(known) - 2,
	};

	*words = (struct flow_args){ .order.sort = -1, .interval_ns = WATCH_INTERVAL_NS };
	return words_read(&all, words, argc, argv);
}

/* A flow of which the algorithm governs has its name; the reason is that for CUBIC. */
static bool is_by(const char *by, const struct flow *f)
{
	if (f->fallback && !strcmp(by, f->fallback))
		return true;
	if (!strcmp(by, FLOW_BY_ALGORITHM))
		return !f->adapt || !strcmp(f->adapt, "fit");
	return !strcmp(by, flow_governor(f));
}

static bool has_prefix(const struct quell_trace_prefix *prefix, const struct flow *f,
		       const uint8_t *address)
{
	uint32_t words[QUELL_TRACE_ADDR_WORDS] = { 0, 0, htonl(0xffff) };
	unsigned int i;

	if (f->family == AF_INET6)
		memcpy(words, address, sizeof(words));
	else
		memcpy(&words[3], address, sizeof(words[3]));
	for (i = 0; i < QUELL_TRACE_ADDR_WORDS; i++)
		if ((words[i] ^ prefix->addr[i]) & prefix->mask[i])
			return false;
	return true;
}

/* Whether the filters let a flow through; that of the algorithm is the kernel's. */
bool flow_matches(const struct flow_args *words, const struct flow *f)
{
	return (!words->sport || words->sport == f->sport) &&
	       (!words->dport || words->dport == f->dport) &&
	       (!words->ifindex || words->ifindex == f->ifindex) &&
	       (!words->state || words->state == f->state) &&
	       (!words->by || is_by(words->by, f)) &&
	       has_prefix(&words->src, f, f->saddr) && has_prefix(&words->dst, f, f->daddr);
}

static int compare_flows(const void *a, const void *b, void *data)
{
	const struct flow_args *words = data;
	uint64_t one = sort_value(words->order.sort, a);
	uint64_t two = sort_value(words->order.sort, b);
	int order = (one > two) - (one < two);

	return words->order.ascending ? order : -order;
}

void flow_sort(const struct flow_args *words, struct flow_list *list)
{
	struct flow_args order = *words;

	if (words->order.sort >= 0 && list->n)
		qsort_r(list->list, list->n, sizeof(*list->list), compare_flows, &order);
}
