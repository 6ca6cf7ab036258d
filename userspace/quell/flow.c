// SPDX-License-Identifier: GPL-2.0
/*
 * quell flow: the sockets Quell algorithms control, in the manner of ss(8).
 *
 * The cookie is printed as ss -e prints it, so that rows of the two join.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "qty.h"
#include "quell.h"
#include "util.h"

/* Default interval of "flow watch", ns. */
#define WATCH_INTERVAL_NS	1000000000ULL
#define WATCH_INTERVAL_MIN_NS	10000000ULL
#define NS_PER_SEC		1000000000ULL

/* Pacing rate of a flow that is not paced. */
#define RATE_UNLIMITED		UINT64_MAX

/* A full IPv6 address, a scope, brackets. */
#define ADDRESS_LEN		(INET6_ADDRSTRLEN + IF_NAMESIZE + 4)

static int take_flow(const struct nlmsghdr *nlh, void *data)
{
	return flow_list_add(data, nlh);
}

static void restart_flow(void *data)
{
	flow_list_free(data);
}

static int flow_fetch(struct app *app, const char *cc, struct flow_list *list)
{
	struct nl_reader reader = {
		.message = take_flow,
		.restart = restart_flow,
		.data = list,
	};
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh;
	struct nl_error err;

	*list = (struct flow_list){};
	nlh = nl_prepare(&app->nl, buf, QUELL_CMD_FLOW_GET);
	if (cc)
		mnl_attr_put_strz(nlh, QUELL_A_FLOW_CC, cc);
	if (nl_dump(&app->nl, nlh, &reader, &err))
		return complain_kernel("cannot list the flows", &err);
	return STATUS_OK;
}

/* Format an address for JSON: without brackets, with the scope of IPv6 link-local addresses. */
static void format_address(char *buf, size_t len, const struct flow *f,
			   const uint8_t *address, const char *ifname)
{
	if (!inet_ntop(f->family, address, buf, len)) {
		snprintf(buf, len, "?");
		return;
	}
	if (f->family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(address) && *ifname) {
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

static void print_endpoint(struct out *o, const struct flow *f, const char *ifname,
			   const struct endpoint *end)
{
	bool v6 = f->family == AF_INET6;
	char text[ADDRESS_LEN];

	format_address(text, sizeof(text), f, end->address, ifname);
	out_str(o, end->address_key, v6 ? "[%s]" : "%s", text);
	out_u64(o, end->port_key, ":%s", end->port);
}

static void print_first_line(struct out *o, const struct flow *f)
{
	const struct endpoint src = { f->saddr, "src", "sport", f->sport };
	const struct endpoint dst = { f->daddr, "dst", "dport", f->dport };
	char ifname[IF_NAMESIZE] = "";
	char sk[QTY_TEXT_LEN];

	if (f->ifindex)
		if_indextoname(f->ifindex, ifname);

	print_endpoint(o, f, ifname, &src);
	out_text(o, " -> ");
	print_endpoint(o, f, ifname, &dst);
	if (*ifname)
		out_str(o, "dev", " dev %s", ifname);
	/* The kernel assigns a socket's cookie on the first query, by ss for example. */
	snprintf(sk, sizeof(sk), "%" PRIx64, f->cookie);
	if (HAVE(f, QUELL_A_FLOW_COOKIE))
		out_u64_as(o, "cookie", " sk:%s", f->cookie, sk);
	out_text(o, "\n");
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

/* Newest TCP-INT echo, to the Gbit/s and 8 KiB; hop 0 means there is none. */
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
	if (f->adapt)
		out_str(o, "adapt", " adapt:%s", f->adapt);
	if (f->fallback)
		out_str(o, "fallback", " fallback:%s", f->fallback);
	if (f->option)
		out_str(o, "option", " option:%s", f->option);
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

static void print_flow(struct out *o, const struct flow *f)
{
	out_open_object(o, NULL);
	print_first_line(o, f);
	print_second_line(o, f);
	print_counters_line(o, &f->counters);
	out_counters(o, &f->counters);
	out_close_object(o);
}

static int show_once(struct app *app, const char *cc)
{
	struct flow_list list;
	int status;
	size_t i;

	status = flow_fetch(app, cc, &list);
	if (!status) {
		out_open_array(&app->out, NULL);
		for (i = 0; i < list.n; i++)
			print_flow(&app->out, &list.list[i]);
		out_close_array(&app->out);
		out_document_end(&app->out);
	}
	flow_list_free(&list);
	return status;
}

/* An unknown algorithm is an error, not an empty list. */
static int check_cc(struct app *app, const char *cc)
{
	const struct cc *found;
	struct cc_list list;
	int status;

	if (!cc)
		return STATUS_OK;
	status = cc_fetch(app, &list);
	if (!status)
		status = cc_find(&list, cc, &found);
	cc_list_free(&list);
	return status;
}

static int read_interval(const char *text, uint64_t *interval_ns)
{
	enum qty_status why = qty_parse(text, QUELL_UNIT_NS, interval_ns);

	if (why) {
		complain("interval: '%s' %s; expected %s", text, qty_status_text(why),
			 qty_expected(QUELL_UNIT_NS));
		return STATUS_INPUT;
	}
	if (*interval_ns < WATCH_INTERVAL_MIN_NS) {
		complain("interval: '%s' is out of range 10ms ..", text);
		return STATUS_INPUT;
	}
	return STATUS_OK;
}

/* [cc ALGO] and, when @interval_ns is not NULL, [interval TIME] in any order. */
static int read_args(int argc, char **argv, const char **cc, uint64_t *interval_ns)
{
	const char *text;
	int i = 0;

	*cc = NULL;
	while (i < argc) {
		if (!strcmp(argv[i], "cc")) {
			if (keyword_value("cc", argc, argv, &i, cc))
				return STATUS_INPUT;
		} else if (interval_ns && !strcmp(argv[i], "interval")) {
			if (keyword_value("interval", argc, argv, &i, &text) ||
			    read_interval(text, interval_ns))
				return STATUS_INPUT;
		} else {
			complain("flow: unknown argument '%s', expected: [cc ALGO]%s", argv[i],
				 interval_ns ? " [interval TIME]" : "");
			return STATUS_INPUT;
		}
	}
	return STATUS_OK;
}

/* quell flow show [cc ALGO] */
int flow_show(struct app *app, int argc, char **argv)
{
	const char *cc;
	int status;

	status = read_args(argc, argv, &cc, NULL);
	if (!status)
		status = check_cc(app, cc);
	if (!status)
		status = show_once(app, cc);
	return status;
}

/* quell flow watch [cc ALGO] [interval TIME]: runs until interrupted or a write fails. */
int flow_watch(struct app *app, int argc, char **argv)
{
	uint64_t interval_ns = WATCH_INTERVAL_NS;
	struct timespec pause;
	const char *cc;
	int status;

	status = read_args(argc, argv, &cc, &interval_ns);
	if (!status)
		status = check_cc(app, cc);

	pause.tv_sec = interval_ns / NS_PER_SEC;
	pause.tv_nsec = interval_ns % NS_PER_SEC;
	while (!status) {
		if (isatty(STDOUT_FILENO))
			out_text(&app->out, "\033[H\033[J");	/* home, clear */
		status = show_once(app, cc);
		if (!app->out.json && !isatty(STDOUT_FILENO))
			out_text(&app->out, "\n");
		if (fflush(app->out.file))
			break;
		nanosleep(&pause, NULL);
	}
	return status;
}
