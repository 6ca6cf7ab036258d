// SPDX-License-Identifier: GPL-2.0
/*
 * A flow with all that is known of it, in the manner of ss(8) -i, and its JSON, by one table of
 * where the kernel's attributes are stored and how they are printed.
 *
 * The cookie is printed as ss -e prints it, so that rows of the two join.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <net/if.h>
#include <string.h>

#include "sock_diag.h"
#include "flow.h"
#include "qty.h"
#include "quell.h"
#include "util.h"

/*
 * Format an address as in JSON: without brackets, with the scope of IPv6 link-local addresses.
 * FLOW_ADDRESS_LEN bytes are always enough.
 */
void flow_format_address(char *buf, size_t len, const struct flow *f, const uint8_t *address)
{
	char ifname[IF_NAMESIZE] = "";

	if (!inet_ntop(f->family, address, buf, len)) {
		snprintf(buf, len, "?");
		return;
	}
	if (f->family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(address) && f->ifindex &&
	    if_indextoname(f->ifindex, ifname)) {
		size_t used = strlen(buf);

		snprintf(buf + used, len - used, "%%%s", ifname);
	}
}

/* One end of a flow, and the keys of its address and port in JSON. */
struct endpoint {
	const uint8_t	*address;
	const char	*address_key;
	const char	*port_key;
	uint16_t	port;
};

static void print_endpoint(struct out *o, const struct flow *f, const struct endpoint *end)
{
	bool v6 = f->family == AF_INET6;
	char text[FLOW_ADDRESS_LEN];

	flow_format_address(text, sizeof(text), f, end->address);
	out_str(o, end->address_key, v6 ? "[%s]" : "%s", text);
	out_u64(o, end->port_key, ":%s", end->port);
}

void flow_print_ends(struct out *o, const struct flow *f)
{
	const struct endpoint src = { f->saddr, "src", "sport", f->sport };
	const struct endpoint dst = { f->daddr, "dst", "dport", f->dport };
	char ifname[IF_NAMESIZE] = "";
	char sk[QTY_TEXT_LEN];

	if (f->ifindex)
		if_indextoname(f->ifindex, ifname);

	print_endpoint(o, f, &src);
	out_text(o, " -> ");
	print_endpoint(o, f, &dst);
	if (*ifname)
		out_str(o, "dev", " dev %s", ifname);
	/* The kernel assigns a socket's cookie on the first query, by ss for example. */
	snprintf(sk, sizeof(sk), "%" PRIx64, f->cookie);
	if (HAVE(f, QUELL_A_FLOW_COOKIE))
		out_u64_as(o, "cookie", " sk:%s", f->cookie, sk);
}

/* How a value is written; its JSON is the number, or of the last three the word. */
enum {
	AS_PLAIN, AS_NS, AS_RATE, AS_WINDOW, AS_AGE, AS_SHARE, AS_Q8, AS_CLOCK, AS_GOVERNOR,
	AS_STATE,
};

/* Condition for a value: it is not 0; the kernel sent it; it belongs to another that is there. */
enum {
	IF_SET, IF_SENT, IF_REDUCED, IF_TIMES, IF_OBSTACLE, IF_DIAG, IF_RECEIVER, IF_RECORD, IF_TCP_INT,
	ALWAYS,
};

#define FLOW(attr, form, member) ATTR_ROW(QUELL_A_FLOW_##attr, form, struct flow, member)
#define DIAG(form, member)	ATTR_ROW(0, form, struct flow, member)
#define WORD			.form = ATTR_BYTES
#define SHOW(key_, fmt_, as_, when_) \
	.key = (key_), .fmt = (fmt_), .as = (as_), .when = (when_)

/* In the order in which they are printed, but for the first, of the line before. */
static const struct attr_row rows[] = {
	{ ATTR_ROW_LIST(QUELL_A_FLOW_COUNTER, flow_counter_kind, struct flow, counters) },
	{ FLOW(COOKIE, U64, cookie) },
	{ FLOW(FAMILY, U16, family) },
	{ FLOW(SADDR, BYTES, saddr) },
	{ FLOW(DADDR, BYTES, daddr) },
	{ FLOW(SPORT, U16, sport) },
	{ FLOW(DPORT, U16, dport) },
	{ FLOW(IFINDEX, U32, ifindex) },
	{ FLOW(CC, TEXT, cc), SHOW("cc", "\t%s", AS_PLAIN, ALWAYS) },
	{ FLOW(WINDOW, U64, window_bytes),
	  SHOW("window_bytes", " window:%s", AS_WINDOW, IF_SENT) },
	{ FLOW(PACING_RATE, U64, pacing_bytes_ps),
	  SHOW("pacing_bytes_ps", " pacing:%s", AS_RATE, IF_SENT) },
	{ FLOW(RTT, U64, rtt_ns), SHOW("rtt_ns", " rtt:%s", AS_NS, IF_SET) },
	{ FLOW(MIN_RTT, U64, min_rtt_ns), SHOW("min_rtt_ns", " min-rtt:%s", AS_NS, IF_SET) },
	{ FLOW(TARGET_DELAY, U64, target_ns), SHOW("target_ns", " target:%s", AS_NS, IF_SET) },
	{ FLOW(CLOCK, U32, clock), SHOW("clock", " clock:%s", AS_CLOCK, IF_SENT) },
	{ FLOW(REMOTE_DELAY, U64, remote_ns), SHOW("remote_ns", " remote:%s", AS_NS, IF_SET) },
	{ FLOW(HOPS, U32, hops), SHOW("hops", " hops:%s", AS_PLAIN, IF_SENT) },
	{ FLOW(LINK_RATE, U64, link_bytes_ps), SHOW("link_bytes_ps", " link:%s", AS_RATE, IF_SET) },
	{ FLOW(MSS, U32, mss_bytes), SHOW("mss_bytes", " mss:%s", AS_PLAIN, IF_SENT) },
	{ FLOW(INFLIGHT, U64, inflight_bytes),
	  SHOW("inflight_bytes", " inflight:%sb", AS_PLAIN, IF_SENT) },
	{ FLOW(LIMITED_BY, TEXT, limited_by),
	  SHOW("limited_by", " limited-by:%s", AS_PLAIN, IF_SET) },
	{ FLOW(REDUCTION, TEXT, reduction), SHOW("reduction", " reduction:%s", AS_PLAIN, IF_SET) },
	{ FLOW(REDUCTION_AGE, U64, reduction_age_ns),
	 SHOW("reduction_age_ns", " reduction-ago:%s", AS_NS, IF_REDUCED) },
	{ FLOW(REDUCTION_RTT, U64, reduction_rtt_ns),
	 SHOW("reduction_rtt_ns", " reduction-rtt:%s", AS_NS, IF_SET) },
	{ FLOW(ADAPT, TEXT, adapt), SHOW("adapt", " adapt:%s", AS_PLAIN, IF_SET) },
	{ FLOW(FALLBACK, TEXT, fallback), SHOW("fallback", " fallback:%s", AS_PLAIN, IF_SET) },
	{ WORD, SHOW("by", " by:%s", AS_GOVERNOR, ALWAYS) },
	{ FLOW(GOVERNOR_AGE, U64, governor_age_ns), SHOW("by_ns", " by-for:%s", AS_AGE, IF_TIMES) },
	{ FLOW(ALGORITHM_TIME, U64, algorithm_ns),
	  SHOW("algorithm_ns", " algorithm:%s", AS_SHARE, IF_TIMES) },
	{ FLOW(SEARCH_TIME, U64, search_ns), SHOW("search_ns", " search:%s", AS_SHARE, IF_TIMES) },
	{ FLOW(CUBIC_TIME, U64, cubic_ns), SHOW("cubic_ns", " cubic:%s", AS_SHARE, IF_TIMES) },
	{ FLOW(BASE_RTT, U64, base_ns), SHOW("base_rtt_ns", " base-rtt:%s", AS_NS, IF_OBSTACLE) },
	{ FLOW(LONGEST_RTT, U64, longest_ns),
	  SHOW("longest_rtt_ns", " longest-rtt:%s", AS_NS, IF_OBSTACLE) },
	{ FLOW(STANDING_RTT, U64, standing_ns),
	  SHOW("standing_rtt_ns", " standing-rtt:%s", AS_NS, IF_OBSTACLE) },
	{ FLOW(FIT_TARGET, U64, fit_target_ns),
	  SHOW("fit_target_ns", " fit-target:%s", AS_NS, IF_OBSTACLE) },
	{ FLOW(NOISE, U64, noise_ns), SHOW("noise_ns", " noise:%s", AS_NS, IF_OBSTACLE) },
	{ FLOW(PATH_RATE, U64, path_bytes_ps),
	  SHOW("path_rate_bytes_ps", " path-rate:%s", AS_RATE, IF_OBSTACLE) },
	{ FLOW(LEAST_RATE, U64, least_bytes_ps),
	  SHOW("least_rate_bytes_ps", " least-rate:%s", AS_RATE, IF_OBSTACLE) },
	{ FLOW(OPTION, TEXT, option), SHOW("option", " option:%s", AS_PLAIN, IF_SET) },
	{ WORD, SHOW("state", " state:%s", AS_STATE, IF_DIAG) },
	{ DIAG(U64, delivery_bytes_ps),
	  SHOW("delivery_bytes_ps", " delivery:%s", AS_RATE, IF_DIAG) },
	{ DIAG(U64, acked_bytes), SHOW("acked_bytes", NULL, AS_PLAIN, IF_DIAG) },
	{ DIAG(U64, retrans_segs), SHOW("retrans_segs", " retrans:%s", AS_PLAIN, IF_DIAG) },
	{ DIAG(U32, sent_segs), SHOW("sent_segs", "/%s", AS_PLAIN, IF_DIAG) },
	{ DIAG(U32, lost_segs), SHOW("lost_segs", " lost:%s", AS_PLAIN, IF_DIAG) },
	{ FLOW(N, U32, n_q8), SHOW("n_q8", " n:%s", AS_Q8, IF_SET) },
	{ FLOW(SHARE, U64, share_bytes_ps), SHOW("share_bytes_ps", " share:%s", AS_RATE, IF_SET) },
	{ FLOW(RECEIVER_STATE, TEXT, receiver_state),
	  SHOW("receiver_state", " receiver-state:%s", AS_PLAIN, IF_SET) },
	{ FLOW(RECEIVER_SENDERS, U32, receiver_senders),
	  SHOW("receiver_senders", " receiver-senders:%s", AS_PLAIN, IF_RECEIVER) },
	{ FLOW(RECORD_HOP, U32, record_hop),
	  SHOW("record_hop", " record-hop:%s", AS_PLAIN, IF_RECORD) },
	{ FLOW(RECORD_RATE, U64, record_bytes_ps),
	  SHOW("record_link_bytes_ps", " record-link:%s", AS_RATE, IF_RECORD) },
	{ FLOW(RECORD_QUEUE, U64, record_queue_bytes),
	  SHOW("record_queue_bytes", " record-queue:%sb", AS_PLAIN, IF_RECORD) },
	{ FLOW(TCP_INT_HOP, U32, tcp_int_hop),
	  SHOW("tcp_int_hop", " tcp-int-hop:%s", AS_PLAIN, IF_SET) },
	{ FLOW(TCP_INT_RATE, U64, tcp_int_bytes_ps),
	  SHOW("tcp_int_link_bytes_ps", " tcp-int-link:%s", AS_RATE, IF_SET) },
	{ FLOW(TCP_INT_AVAILABLE, U64, tcp_int_available_bytes_ps),
	  SHOW("tcp_int_available_bytes_ps", " tcp-int-available:%s", AS_RATE, IF_TCP_INT) },
	{ FLOW(TCP_INT_QUEUE, U64, tcp_int_queue_bytes),
	  SHOW("tcp_int_queue_bytes", " tcp-int-queue:%sb", AS_PLAIN, IF_TCP_INT) },
	{ FLOW(TCP_INT_LATENCY, U64, tcp_int_latency_ns),
	  SHOW("tcp_int_latency_ns", " tcp-int-latency:%s", AS_NS, IF_TCP_INT) },
	{ FLOW(ENTROPIES, U32, entropies), SHOW("entropies", " entropies:%s", AS_PLAIN, IF_SET) },
};

const struct attr_kind flow_kind = ATTR_KIND(rows, 0, struct flow, 0);
const struct attr_kind brief_flow_kind = ATTR_KIND(rows, 1, struct flow, 0);

void flow_release(struct flow *f)
{
	entry_free(&flow_kind, f);
}

static uint64_t number_of(const struct attr_row *row, const struct flow *f)
{
	const void *place = (const char *)f + row->offset;

	if (row->form == ATTR_TEXT)
		return *(char * const *)place && **(char * const *)place;
	return row->form == ATTR_U64 ? *(const uint64_t *)place : *(const uint32_t *)place;
}

/* Times not measured yet, and an unknown rate, are 0; an older kernel has no shares of time. */
static bool is_shown(const struct attr_row *row, const struct flow *f)
{
	switch (row->when) {
	case IF_SET:
		return number_of(row, f);
	case IF_SENT:
		return HAVE(f, row->attr);
	case IF_REDUCED:
		return f->reduction;
	case IF_TIMES:
		return f->algorithm_ns || f->search_ns || f->cubic_ns;
	case IF_OBSTACLE:
		return f->base_ns;
	case IF_DIAG:
		return f->state;
	case IF_RECEIVER:
		return f->receiver_state;
	case IF_RECORD:
		return HAVE(f, QUELL_A_FLOW_RECORD_HOP);
	case IF_TCP_INT:
		return f->tcp_int_hop;
	}
	return true;
}

/* A word instead of a number, or NULL. */
static const char *word_of(const struct attr_row *row, const struct flow *f)
{
	static const char * const clocks[] = {
		[QUELL_CLOCK_NONE] = "none",
		[QUELL_CLOCK_KERNEL] = "kernel",
		[QUELL_CLOCK_SOFTWARE] = "software",
		[QUELL_CLOCK_HARDWARE] = "hardware",
	};
	const char *text;

	switch (row->as) {
	case AS_CLOCK:
		return f->clock < ARRAY_SIZE(clocks) ? clocks[f->clock] : "unknown";
	case AS_GOVERNOR:
		return flow_governor(f);
	case AS_STATE:
		return diag_state_name(f->state);
	}
	text = row->form == ATTR_TEXT ? *(char **)((char *)f + row->offset) : NULL;
	return text || row->form != ATTR_TEXT ? text : "?";
}

static void format_number(char *text, const struct attr_row *row, const struct flow *f)
{
	uint64_t value = number_of(row, f);

	switch (row->as) {
	case AS_NS:
		qty_format(text, QTY_TEXT_LEN, QUELL_UNIT_NS, value);
		break;
	case AS_RATE:
		qty_format_rate_short(text, QTY_TEXT_LEN, value);
		break;
	case AS_WINDOW:
		/* In packets, too: windows below one matter. */
		snprintf(text, FLOW_CELL_LEN, f->mss_bytes ? "%" PRIu64 "b/%.2fpkt" :
			 "%" PRIu64 "b", value, (double)value / f->mss_bytes);
		break;
	case AS_AGE:
		flow_format_time(text, value);
		break;
	case AS_SHARE:
		flow_format_governed(text, f, value);
		break;
	case AS_Q8:
		snprintf(text, FLOW_CELL_LEN, "%.2f", value / 256.0);
		break;
	default:
		snprintf(text, FLOW_CELL_LEN, "%" PRIu64, value);
	}
}

static void print_row(struct out *o, const struct attr_row *row, const struct flow *f)
{
	const char *word = word_of(row, f);
	char text[FLOW_CELL_LEN];

	if (word) {
		out_str(o, row->key, row->fmt, word);
	} else if (row->as == AS_RATE && number_of(row, f) == RATE_UNLIMITED) {
		out_null(o, row->key, " pacing:none");
	} else {
		format_number(text, row, f);
		out_u64_as(o, row->key, row->fmt, number_of(row, f), text);
	}
}

/* In text only: the counters that are not 0, on a line of their own. */
static void print_counters_line(struct out *o, const struct counters *counters)
{
	const char *before = "\t";
	size_t i;

	for (i = 0; i < counters->n; i++) {
		const struct counter *c = &counters->list[i];

		if (!c->value)
			continue;
		out_text(o, before);
		out_str(o, NULL, "%s:", c->name);
		out_u64(o, NULL, "%s", c->value);
		before = " ";
	}
	if (*before == ' ')
		out_text(o, "\n");
}

/* Print all that is known of a flow: two or three lines, or its JSON. */
void flow_print_detail(struct out *o, const struct flow *f)
{
	size_t i;

	out_open_object(o, NULL);
	flow_print_ends(o, f);
	out_text(o, "\n");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].key && is_shown(&rows[i], f))
			print_row(o, &rows[i], f);
	out_text(o, "\n");
	print_counters_line(o, &f->counters);
	out_counters(o, &f->counters);
	out_close_object(o);
}
