// SPDX-License-Identifier: GPL-2.0
/*
 * "flow show -s": a line for the flows of an algorithm to a remote network, and how many of them
 * each governor has.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <quell/core/adapt/names.h>

#include "flow.h"
#include "quell.h"

#define BITS_IPV4	24
#define BITS_IPV6	64

#define NETWORK_LEN	(INET6_ADDRSTRLEN + 4)
/* Each governor and reason with a number. */
#define BY_LEN		256
#define LINE_LEN	(256 + BY_LEN)

/* Of an IPv4 network, and the least. */
#define NETWORK_COLUMNS	18

/* Flows of one algorithm to one network. */
struct summary {
	const struct flow	*flows;		/* sorted by round-trip time */
	size_t			n;		/* number of flows */
	/* address and length of its prefix */
	char			network[NETWORK_LEN];
	uint64_t		rate_bytes_ps;	/* delivery rates of all flows */
	uint64_t		retrans_segs;	/* of all flows */
	uint64_t		by_algorithm;	/* flows that the algorithm governs */
	uint64_t		by_search;	/* flows that search for their window */
	uint64_t		by_cubic;	/* flows that CUBIC governs, for any reason */
	/* the same, by enum quell_adapt_reason */
	uint64_t		reasons[QUELL_ADAPT_REASONS];
};

static unsigned int bits_of(const struct flow_args *words, const struct flow *f)
{
	unsigned int most = f->family == AF_INET6 ? 128 : 32;

	if (!words->prefix_bits)
		return f->family == AF_INET6 ? BITS_IPV6 : BITS_IPV4;
	return words->prefix_bits < most ? words->prefix_bits : most;
}

/* The remote address with the bits behind the prefix cleared. */
static void mask_address(uint8_t *network, const struct flow_args *words, const struct flow *f)
{
	unsigned int bits = bits_of(words, f), i;

	for (i = 0; i < ADDRESS_BYTES; i++, bits -= bits < 8 ? bits : 8)
		network[i] = f->daddr[i] & (bits < 8 ? ~(0xff >> bits) : 0xff);
}

static int compare_group(const struct flow *a, const struct flow *b, const struct flow_args *words)
{
	uint8_t one[ADDRESS_BYTES], two[ADDRESS_BYTES];
	int order = strcmp(a->cc ? a->cc : "", b->cc ? b->cc : "");

	if (!order)
		order = a->family - b->family;
	mask_address(one, words, a);
	mask_address(two, words, b);
	return order ? order : memcmp(one, two, sizeof(one));
}

static int compare_flows(const void *a, const void *b, void *words)
{
	const struct flow *one = a, *two = b;
	int order = compare_group(one, two, words);

	return order ? order : (one->rtt_ns > two->rtt_ns) - (one->rtt_ns < two->rtt_ns);
}

static void count_governor(struct summary *s, const struct flow *f)
{
	size_t i;

	if (f->adapt && !strcmp(f->adapt, "start"))
		s->by_search++;
	else if (f->adapt && !strcmp(f->adapt, "fallback"))
		s->by_cubic++;
	else
		s->by_algorithm++;
	for (i = 1; f->fallback && i < QUELL_ADAPT_REASONS; i++)
		s->reasons[i] += !strcmp(f->fallback, quell_adapt_reasons[i]);
}

static void sum_up(struct summary *s, const struct flow_args *words)
{
	struct flow first = *s->flows;
	char address[FLOW_ADDRESS_LEN];
	size_t i;

	mask_address(first.daddr, words, s->flows);
	first.ifindex = 0;
	flow_format_address(address, sizeof(address), &first, first.daddr);
	snprintf(s->network, sizeof(s->network), "%.*s/%u", INET6_ADDRSTRLEN - 1, address,
		 bits_of(words, &first));
	for (i = 0; i < s->n; i++) {
		s->rate_bytes_ps += s->flows[i].delivery_bytes_ps;
		s->retrans_segs += s->flows[i].retrans_segs;
		count_governor(s, &s->flows[i]);
	}
}

/* The median round trip of those that have one, which are sorted behind the others. */
static uint64_t median_rtt_ns(const struct summary *s)
{
	size_t unknown = 0;

	while (unknown < s->n && !s->flows[unknown].rtt_ns)
		unknown++;
	return unknown < s->n ? s->flows[unknown + (s->n - unknown - 1) / 2].rtt_ns : 0;
}

static void append_count(char *text, const char *name, uint64_t count)
{
	size_t used = strlen(text);

	if (count)
		snprintf(text + used, BY_LEN - used, "%s%s %" PRIu64, *text ? ", " : "", name,
			 count);
}

/* "swift 12, search 1, cubic 3 (long-path 2, noise 1)" */
static void format_governors(char *text, const char *cc, const struct summary *s)
{
	char reasons[BY_LEN] = "";
	size_t i, used;

	*text = '\0';
	append_count(text, cc, s->by_algorithm);
	append_count(text, "search", s->by_search);
	append_count(text, "cubic", s->by_cubic);
	for (i = 1; i < QUELL_ADAPT_REASONS; i++)
		append_count(reasons, quell_adapt_reasons[i], s->reasons[i]);
	used = strlen(text);
	if (*reasons)
		snprintf(text + used, BY_LEN - used, " (%.*s)", BY_LEN / 2, reasons);
}

static void print_line(struct out *o, const struct summary *s, int width)
{
	char rate[FLOW_CELL_LEN], rtt[FLOW_CELL_LEN], retrans[FLOW_CELL_LEN], by[BY_LEN];
	char line[LINE_LEN], cc[FLOW_CELL_LEN];

	flow_format_rate(rate, s->rate_bytes_ps);
	flow_format_time(rtt, median_rtt_ns(s));
	flow_format_count(retrans, s->retrans_segs);
	out_escape(cc, sizeof(cc), s->flows->cc ? s->flows->cc : "?");
	format_governors(by, cc, s);
	snprintf(line, sizeof(line), "%-11.24s %-*s %5zu %5.24s %6.24s %5.24s %s\n", cc, width,
		 s->network, s->n, rate, rtt, retrans, by);
	out_text(o, line);
}

static void print_object(struct out *o, const struct summary *s)
{
	size_t i;

	out_open_object(o, NULL);
	out_str(o, "cc", NULL, s->flows->cc ? s->flows->cc : "?");
	out_str(o, "network", NULL, s->network);
	out_u64(o, "flows", NULL, s->n);
	out_u64(o, "delivery_bytes_ps", NULL, s->rate_bytes_ps);
	out_u64(o, "rtt_ns", NULL, median_rtt_ns(s));
	out_u64(o, "retrans_segs", NULL, s->retrans_segs);
	out_u64(o, "algorithm", NULL, s->by_algorithm);
	out_u64(o, "search", NULL, s->by_search);
	out_u64(o, "cubic", NULL, s->by_cubic);
	out_open_object(o, "fallback");
	for (i = 1; i < QUELL_ADAPT_REASONS; i++)
		if (s->reasons[i])
			out_u64(o, quell_adapt_reasons[i], NULL, s->reasons[i]);
	out_close_object(o);
	out_close_object(o);
}

/* The flows of a sorted list, from @first on, that have its algorithm and network. */
static struct summary group_at(const struct flow_list *list, size_t first,
			       const struct flow_args *words)
{
	struct summary s = { .flows = &list->list[first], .n = 1 };

	while (first + s.n < list->n && !compare_group(s.flows, s.flows + s.n, words))
		s.n++;
	sum_up(&s, words);
	return s;
}

/* Print a line for each algorithm and remote network; sorts the flows. */
void flow_print_summary(struct out *o, const struct flow_args *words, struct flow_list *list)
{
	struct flow_args order = *words;
	char heading[LINE_LEN];
	int width = NETWORK_COLUMNS;
	struct summary s;
	size_t i;

	if (list->n)
		qsort_r(list->list, list->n, sizeof(*list->list), compare_flows, &order);
	for (i = 0; i < list->n; i += s.n) {
		s = group_at(list, i, words);
		if (width < (int)strlen(s.network))
			width = strlen(s.network);
	}
	snprintf(heading, sizeof(heading), "CC          %-*s FLOWS  RATE    RTT  RETX BY\n", width,
		 "NETWORK");
	if (list->n)
		out_text(o, heading);
	out_open_array(o, NULL);
	for (i = 0; i < list->n; i += s.n) {
		s = group_at(list, i, words);
		if (o->json)
			print_object(o, &s);
		else
			print_line(o, &s, width);
	}
	out_close_array(o);
}
