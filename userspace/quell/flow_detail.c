// SPDX-License-Identifier: GPL-2.0
/*
 * A flow with all that is known of it, in the manner of ss(8) -i, and its JSON.
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

/**
 * flow_format_address() - format an address as in JSON
 * @buf: destination
 * @len: size of @buf, FLOW_ADDRESS_LEN is always enough
 * @f: flow the address is of
 * @address: in network order
 *
 * Without brackets, with the scope of IPv6 link-local addresses.
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

/**
 * flow_print_ends() - print a flow's ends, interface and cookie
 * @o: printer
 * @f: the flow
 */
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

/* The window in bytes and, in text, also in packets: windows below one packet matter. */
static void print_window(struct out *o, const struct flow *f)
{
	char text[2 * QTY_TEXT_LEN];
	int used;

	used = snprintf(text, sizeof(text), "%" PRIu64 "b", f->window_bytes);
	if (f->mss_bytes)
		snprintf(text + used, sizeof(text) - used, "/%.2fpkt",
			 (double)f->window_bytes / f->mss_bytes);
	out_u64_as(o, "window_bytes", " window:%s", f->window_bytes, text);
}

static void print_rate(struct out *o, const char *key, const char *fmt,
		       uint64_t bytes_ps)
{
	char text[QTY_TEXT_LEN];

	out_u64_as(o, key, fmt, bytes_ps,
		   qty_format_rate_short(text, sizeof(text), bytes_ps));
}

static const char *clock_name(uint32_t clock)
{
	static const char * const names[] = {
		[QUELL_CLOCK_NONE] = "none",
		[QUELL_CLOCK_KERNEL] = "kernel",
		[QUELL_CLOCK_SOFTWARE] = "software",
		[QUELL_CLOCK_HARDWARE] = "hardware",
	};

	return clock < ARRAY_SIZE(names) ? names[clock] : "unknown";
}

/* Times not measured yet, and an unknown rate, are 0: leave them out. */
static void print_measured(struct out *o, const struct flow *f)
{
	if (f->rtt_ns)
		out_qty(o, "rtt_ns", " rtt:%s", QUELL_UNIT_NS, f->rtt_ns);
	if (f->min_rtt_ns)
		out_qty(o, "min_rtt_ns", " min-rtt:%s", QUELL_UNIT_NS, f->min_rtt_ns);
	if (f->target_ns)
		out_qty(o, "target_ns", " target:%s", QUELL_UNIT_NS, f->target_ns);
	if (HAVE(f, QUELL_A_FLOW_CLOCK))
		out_str(o, "clock", " clock:%s", clock_name(f->clock));
	if (f->remote_ns)
		out_qty(o, "remote_ns", " remote:%s", QUELL_UNIT_NS, f->remote_ns);
	if (HAVE(f, QUELL_A_FLOW_HOPS))
		out_u64(o, "hops", " hops:%s", f->hops);
	if (f->link_bytes_ps)
		print_rate(o, "link_bytes_ps", " link:%s", f->link_bytes_ps);
}

/* Newest telemetry record, of the most loaded switch on the path. */
static void print_record(struct out *o, const struct flow *f)
{
	if (!HAVE(f, QUELL_A_FLOW_RECORD_HOP))
		return;
	out_u64(o, "record_hop", " record-hop:%s", f->record_hop);
	print_rate(o, "record_link_bytes_ps", " record-link:%s", f->record_bytes_ps);
	out_u64(o, "record_queue_bytes", " record-queue:%sb", f->record_queue_bytes);
}

/* Newest TCP-INT echo, to the Gbit/s and 8 KiB; hop 0: no echo yet. */
static void print_tcp_int(struct out *o, const struct flow *f)
{
	if (!f->tcp_int_hop)
		return;
	out_u64(o, "tcp_int_hop", " tcp-int-hop:%s", f->tcp_int_hop);
	if (f->tcp_int_bytes_ps)
		print_rate(o, "tcp_int_link_bytes_ps", " tcp-int-link:%s",
			   f->tcp_int_bytes_ps);
	print_rate(o, "tcp_int_available_bytes_ps", " tcp-int-available:%s",
		   f->tcp_int_available_bytes_ps);
	out_u64(o, "tcp_int_queue_bytes", " tcp-int-queue:%sb", f->tcp_int_queue_bytes);
	out_qty(o, "tcp_int_latency_ns", " tcp-int-latency:%s", QUELL_UNIT_NS,
		f->tcp_int_latency_ns);
}

/* Of algorithms that count senders: n of the peer, and this host as a receiver. */
static void print_share(struct out *o, const struct flow *f)
{
	char n[QTY_TEXT_LEN];

	if (f->n_q8) {
		snprintf(n, sizeof(n), "%.2f", f->n_q8 / 256.0);
		out_u64_as(o, "n_q8", " n:%s", f->n_q8, n);
	}
	if (f->share_bytes_ps)
		print_rate(o, "share_bytes_ps", " share:%s", f->share_bytes_ps);
	if (!f->receiver_state)
		return;
	out_str(o, "receiver_state", " receiver-state:%s", f->receiver_state);
	out_u64(o, "receiver_senders", " receiver-senders:%s", f->receiver_senders);
}

/* The stack's own fields; missing in a kernel without sock_diag. */
static void print_diag(struct out *o, const struct flow *f)
{
	if (!f->state)
		return;
	out_str(o, "state", " state:%s", diag_state_name(f->state));
	print_rate(o, "delivery_bytes_ps", " delivery:%s", f->delivery_bytes_ps);
	out_u64(o, "retrans_segs", " retrans:%s", f->retrans_segs);
	out_u64(o, "sent_segs", "/%s", f->sent_segs);
	out_u64(o, "lost_segs", " lost:%s", f->lost_segs);
}

/* The last window reduction: reason, round-trip time, age. */
static void print_reduction(struct out *o, const struct flow *f)
{
	if (!f->reduction)
		return;
	out_str(o, "reduction", " reduction:%s", f->reduction);
	out_qty(o, "reduction_age_ns", " reduction-ago:%s", QUELL_UNIT_NS, f->reduction_age_ns);
	if (f->reduction_rtt_ns)
		out_qty(o, "reduction_rtt_ns", " reduction-rtt:%s", QUELL_UNIT_NS,
			f->reduction_rtt_ns);
}

static void print_part(struct out *o, const char *key, const char *fmt, const struct flow *f,
		       uint64_t ns)
{
	char text[FLOW_CELL_LEN];

	flow_format_governed(text, f, ns);
	out_u64_as(o, key, fmt, ns, text);
}

/* The governor of the window and since when, and each governor's share of the flow's time. */
static void print_governed(struct out *o, const struct flow *f)
{
	char age[FLOW_CELL_LEN];

	out_str(o, "by", " by:%s", flow_governor(f));
	/* An older kernel does not have the times. */
	if (!(f->algorithm_ns || f->search_ns || f->cubic_ns))
		return;
	flow_format_time(age, f->governor_age_ns);
	out_u64_as(o, "by_ns", " by-for:%s", f->governor_age_ns, age);
	print_part(o, "algorithm_ns", " algorithm:%s", f, f->algorithm_ns);
	print_part(o, "search_ns", " search:%s", f, f->search_ns);
	print_part(o, "cubic_ns", " cubic:%s", f, f->cubic_ns);
}

/* Inputs of the decision for CUBIC; missing for algorithms that do not use delay. */
static void print_obstacle(struct out *o, const struct flow *f)
{
	if (!f->base_ns)
		return;
	out_qty(o, "base_rtt_ns", " base-rtt:%s", QUELL_UNIT_NS, f->base_ns);
	out_qty(o, "longest_rtt_ns", " longest-rtt:%s", QUELL_UNIT_NS, f->longest_ns);
	out_qty(o, "standing_rtt_ns", " standing-rtt:%s", QUELL_UNIT_NS, f->standing_ns);
	out_qty(o, "fit_target_ns", " fit-target:%s", QUELL_UNIT_NS, f->fit_target_ns);
	out_qty(o, "noise_ns", " noise:%s", QUELL_UNIT_NS, f->noise_ns);
	print_rate(o, "path_rate_bytes_ps", " path-rate:%s", f->path_bytes_ps);
	print_rate(o, "least_rate_bytes_ps", " least-rate:%s", f->least_bytes_ps);
}

static void print_second_line(struct out *o, const struct flow *f)
{
	out_str(o, "cc", "\t%s", f->cc ? f->cc : "?");
	if (HAVE(f, QUELL_A_FLOW_WINDOW))
		print_window(o, f);
	if (f->pacing_bytes_ps == RATE_UNLIMITED)
		out_null(o, "pacing_bytes_ps", " pacing:none");
	else if (HAVE(f, QUELL_A_FLOW_PACING_RATE))
		print_rate(o, "pacing_bytes_ps", " pacing:%s", f->pacing_bytes_ps);
	print_measured(o, f);
	if (HAVE(f, QUELL_A_FLOW_MSS))
		out_u64(o, "mss_bytes", " mss:%s", f->mss_bytes);
	if (HAVE(f, QUELL_A_FLOW_INFLIGHT))
		out_u64(o, "inflight_bytes", " inflight:%sb", f->inflight_bytes);
	if (f->limited_by && *f->limited_by)
		out_str(o, "limited_by", " limited-by:%s", f->limited_by);
	print_reduction(o, f);
	if (f->adapt)
		out_str(o, "adapt", " adapt:%s", f->adapt);
	if (f->fallback)
		out_str(o, "fallback", " fallback:%s", f->fallback);
	print_governed(o, f);
	print_obstacle(o, f);
	if (f->option)
		out_str(o, "option", " option:%s", f->option);
	print_diag(o, f);
	print_share(o, f);
	print_record(o, f);
	print_tcp_int(o, f);
	if (f->entropies)
		out_u64(o, "entropies", " entropies:%s", f->entropies);
	out_text(o, "\n");
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

/**
 * flow_print_detail() - print all that is known of a flow: two or three lines, or its JSON
 * @o: printer
 * @f: the flow
 */
void flow_print_detail(struct out *o, const struct flow *f)
{
	out_open_object(o, NULL);
	flow_print_ends(o, f);
	out_text(o, "\n");
	print_second_line(o, f);
	print_counters_line(o, &f->counters);
	out_counters(o, &f->counters);
	out_close_object(o);
}
