// SPDX-License-Identifier: GPL-2.0
/*
 * The table that "quell trace" writes: comma-separated values with a line of names.
 *
 * A column is a name and a printer; quell-trace(8) has the meaning of each.  A value that is
 * unknown, or does not apply, is an empty field.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <netinet/in.h>

#include <quell/core/adapt/names.h>

#include "trace_csv.h"
#include "util.h"

#define NS_PER_US		1000ULL
#define RATE_UNLIMITED		UINT64_MAX
#define SSTHRESH_INFINITE	0x7fffffffU
#define MIN_RTT_UNKNOWN		UINT32_MAX

static void put(FILE *file, uint64_t value)
{
	fprintf(file, "%" PRIu64, value);
}

/* A value that is unknown if it is @unknown. */
static void put_unless(FILE *file, uint64_t value, uint64_t unknown)
{
	if (value != unknown)
		put(file, value);
}

static void put_name(FILE *file, const char * const *names, size_t n, uint32_t i)
{
	if (i < n && names[i])
		fputs(names[i], file);
}

static void put_address(FILE *file, const uint32_t *addr)
{
	const struct in6_addr *in6 = (const struct in6_addr *)addr;
	char text[INET6_ADDRSTRLEN];

	if (IN6_IS_ADDR_V4MAPPED(in6))
		inet_ntop(AF_INET, &addr[QUELL_TRACE_ADDR_WORDS - 1], text, sizeof(text));
	else
		inet_ntop(AF_INET6, in6, text, sizeof(text));
	fputs(text, file);
}

static void put_time(FILE *file, const struct quell_trace_record *r)
{
	put(file, r->time_ns);
}

static void put_event(FILE *file, const struct quell_trace_record *r)
{
	static const char * const names[QUELL_TRACE_EVENTS] = {
		[QUELL_TRACE_ACK]		= "ack",
		[QUELL_TRACE_STATE]		= "state",
		[QUELL_TRACE_RETRANSMIT]	= "retransmit",
		[QUELL_TRACE_TIMEOUT]		= "timeout",
	};

	put_name(file, names, ARRAY_SIZE(names), r->event);
}

/* Names of modules that we do not know may hold anything. */
static void put_cc(FILE *file, const struct quell_trace_record *r)
{
	size_t i;

	for (i = 0; i < sizeof(r->cc) && r->cc[i]; i++)
		fputc(isalnum((unsigned char)r->cc[i]) || r->cc[i] == '-' || r->cc[i] == '_' ?
		      r->cc[i] : '?', file);
}

static void put_state(FILE *file, const struct quell_trace_record *r)
{
	/* TCP_CA_Open and so on, of the kernel's uapi. */
	static const char * const names[] = { "open", "disorder", "cwr", "recovery", "loss" };

	put_name(file, names, ARRAY_SIZE(names), r->ca_state);
}

static void put_cookie(FILE *file, const struct quell_trace_record *r)
{
	fprintf(file, "%" PRIx64, (uint64_t)r->cookie);
}

static void put_src(FILE *file, const struct quell_trace_record *r)
{
	put_address(file, r->saddr);
}

static void put_sport(FILE *file, const struct quell_trace_record *r)
{
	put(file, r->sport);
}

static void put_dst(FILE *file, const struct quell_trace_record *r)
{
	put_address(file, r->daddr);
}

static void put_dport(FILE *file, const struct quell_trace_record *r)
{
	put(file, ntohs(r->dport));
}

static void put_cwnd_packets(FILE *file, const struct quell_trace_record *r)
{
	put(file, r->cwnd_pkts);
}

static void put_cwnd_bytes(FILE *file, const struct quell_trace_record *r)
{
	put(file, (uint64_t)r->cwnd_pkts * r->mss_bytes);
}

static void put_ssthresh(FILE *file, const struct quell_trace_record *r)
{
	put_unless(file, r->ssthresh_pkts, SSTHRESH_INFINITE);
}

static void put_pacing(FILE *file, const struct quell_trace_record *r)
{
	put_unless(file, r->pacing_bytes_ps, RATE_UNLIMITED);
}

static void put_srtt(FILE *file, const struct quell_trace_record *r)
{
	put_unless(file, r->srtt_us * NS_PER_US, 0);
}

/* The algorithm's own, in nanoseconds, if it has one; else the stack's. */
static void put_rtt(FILE *file, const struct quell_trace_record *r)
{
	put_unless(file, r->has_view && r->view.rtt_ns ? r->view.rtt_ns : r->rtt_us * NS_PER_US, 0);
}

static void put_min_rtt(FILE *file, const struct quell_trace_record *r)
{
	if (r->has_view && r->view.min_rtt_ns)
		put(file, r->view.min_rtt_ns);
	else if (r->min_rtt_us != MIN_RTT_UNKNOWN)
		put(file, r->min_rtt_us * NS_PER_US);
}

static void put_inflight(FILE *file, const struct quell_trace_record *r)
{
	put(file, r->inflight_pkts);
}

static void put_delivered(FILE *file, const struct quell_trace_record *r)
{
	put(file, r->delivered_pkts);
}

static void put_marked(FILE *file, const struct quell_trace_record *r)
{
	put(file, r->marked_pkts);
}

static void put_lost(FILE *file, const struct quell_trace_record *r)
{
	put(file, r->lost_pkts);
}

static void put_retransmits(FILE *file, const struct quell_trace_record *r)
{
	put(file, r->retrans_pkts);
}

static void put_acked(FILE *file, const struct quell_trace_record *r)
{
	put(file, r->acked_bytes);
}

static void put_mss(FILE *file, const struct quell_trace_record *r)
{
	put(file, r->mss_bytes);
}

static void put_app_limited(FILE *file, const struct quell_trace_record *r)
{
	put(file, r->app_limited);
}

static void put_window(FILE *file, const struct quell_trace_record *r)
{
	if (r->has_view)
		put(file, r->view.window_bytes);
}

static void put_target(FILE *file, const struct quell_trace_record *r)
{
	if (r->has_view)
		put_unless(file, r->view.target_ns, 0);
}

static void put_phase(FILE *file, const struct quell_trace_record *r)
{
	if (r->has_view)
		put_name(file, quell_adapt_phases, ARRAY_SIZE(quell_adapt_phases), r->view.phase);
}

static void put_reason(FILE *file, const struct quell_trace_record *r)
{
	if (r->has_view && r->view.phase == QUELL_ADAPT_FALLBACK)
		put_name(file, quell_adapt_reasons, ARRAY_SIZE(quell_adapt_reasons),
			 r->view.reason);
}

static void put_dropped(FILE *file, const struct quell_trace_record *r)
{
	put(file, r->dropped);
}

static const struct {
	const char	*name;
	void		(*put)(FILE *file, const struct quell_trace_record *r);
} columns[] = {
	{ "time_ns", put_time },
	{ "event", put_event },
	{ "cc", put_cc },
	{ "ca_state", put_state },
	{ "cookie", put_cookie },
	{ "src", put_src },
	{ "sport", put_sport },
	{ "dst", put_dst },
	{ "dport", put_dport },
	{ "cwnd_packets", put_cwnd_packets },
	{ "cwnd_bytes", put_cwnd_bytes },
	{ "ssthresh_packets", put_ssthresh },
	{ "pacing_bytes_ps", put_pacing },
	{ "srtt_ns", put_srtt },
	{ "rtt_ns", put_rtt },
	{ "min_rtt_ns", put_min_rtt },
	{ "inflight_packets", put_inflight },
	{ "delivered_packets", put_delivered },
	{ "marked_packets", put_marked },
	{ "lost_packets", put_lost },
	{ "retransmits_packets", put_retransmits },
	{ "acked_bytes", put_acked },
	{ "mss_bytes", put_mss },
	{ "app_limited", put_app_limited },
	{ "window_bytes", put_window },
	{ "target_ns", put_target },
	{ "phase", put_phase },
	{ "reason", put_reason },
	{ "dropped_records", put_dropped },
};

/**
 * trace_csv_header() - write the line of names
 * @file: destination
 */
void trace_csv_header(FILE *file)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		fprintf(file, "%s%s", i ? "," : "", columns[i].name);
	fputc('\n', file);
}

/**
 * trace_csv_row() - write a record
 * @file: destination
 * @record: record
 */
void trace_csv_row(FILE *file, const struct quell_trace_record *record)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		if (i)
			fputc(',', file);
		columns[i].put(file, record);
	}
	fputc('\n', file);
}
