// SPDX-License-Identifier: GPL-2.0
/*
 * The table that "quell trace" writes: comma-separated values with a line of names.
 *
 * A column is a name, a field and its form; quell-trace(8) has the meaning of each.  A value that
 * is unknown, or does not apply, is an empty field.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include <quell/core/adapt/names.h>

#include "trace_parts.h"
#include "util.h"

#define NS_PER_US		1000ULL

/* How a column is made of the field at an offset: most are numbers. */
enum form {
	U8, U16, U32, U64,
	US,		/* u32 in microseconds */
	ADDRESS, HEX, PORT, EVENT, STATE, NAME, CWND_BYTES,
	RTT, MIN_RTT,	/* the algorithm's own, in nanoseconds, if it has one; else the stack's */
	VIEW,		/* u64, of an algorithm of Quell */
	PHASE, REASON,
};

static const struct {
	const char	*name;
	enum form	form;
	uint16_t	offset;
	bool		has_unknown;	/* a number that stands for an unknown value */
	uint64_t	unknown;
} columns[] = {
#define COLUMN(name_, form_, member_, ...) \
	{ .name = name_, .form = form_, \
	  .offset = offsetof(struct quell_trace_record, member_), ##__VA_ARGS__ }
#define UNLESS(unknown_)	.has_unknown = true, .unknown = unknown_
	COLUMN("time_ns", U64, time_ns),
	COLUMN("event", EVENT, event),
	COLUMN("cc", NAME, cc),
	COLUMN("ca_state", STATE, ca_state),
	COLUMN("cookie", HEX, cookie),
	COLUMN("src", ADDRESS, saddr),
	COLUMN("sport", U16, sport),
	COLUMN("dst", ADDRESS, daddr),
	COLUMN("dport", PORT, dport),
	COLUMN("cwnd_packets", U32, cwnd_pkts),
	COLUMN("cwnd_bytes", CWND_BYTES, cwnd_pkts),
	COLUMN("ssthresh_packets", U32, ssthresh_pkts, UNLESS(0x7fffffff)),
	COLUMN("pacing_bytes_ps", U64, pacing_bytes_ps, UNLESS(UINT64_MAX)),
	COLUMN("srtt_ns", US, srtt_us, UNLESS(0)),
	COLUMN("rtt_ns", RTT, rtt_us, UNLESS(0)),
	COLUMN("min_rtt_ns", MIN_RTT, min_rtt_us, UNLESS(UINT32_MAX * NS_PER_US)),
	COLUMN("inflight_packets", U32, inflight_pkts),
	COLUMN("delivered_packets", U32, delivered_pkts),
	COLUMN("marked_packets", U32, marked_pkts),
	COLUMN("lost_packets", U32, lost_pkts),
	COLUMN("retransmits_packets", U32, retrans_pkts),
	COLUMN("acked_bytes", U64, acked_bytes),
	COLUMN("mss_bytes", U32, mss_bytes),
	COLUMN("app_limited", U8, app_limited),
	COLUMN("window_bytes", VIEW, view.window_bytes),
	COLUMN("target_ns", VIEW, view.target_ns, UNLESS(0)),
	COLUMN("phase", PHASE, view.phase),
	COLUMN("reason", REASON, view.reason),
	COLUMN("dropped_records", U64, dropped),
};

static void put_name(FILE *file, const char * const *names, size_t n, uint32_t i)
{
	if (i < n && names[i])
		fputs(names[i], file);
}

static void put_address(FILE *file, const uint32_t *addr)
{
	const struct in6_addr *in6 = (const struct in6_addr *)addr;
	bool is_v4 = IN6_IS_ADDR_V4MAPPED(in6);
	char text[INET6_ADDRSTRLEN];

	inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? &addr[QUELL_TRACE_ADDR_WORDS - 1] : addr,
		  text, sizeof(text));
	fputs(text, file);
}

/* Names of modules that we do not know may hold anything. */
static void put_cc(FILE *file, const char *cc)
{
	size_t i;

	for (i = 0; i < QUELL_TRACE_CC_BYTES && cc[i]; i++)
		fputc(isalnum((unsigned char)cc[i]) || cc[i] == '-' || cc[i] == '_' ? cc[i] : '?',
		      file);
}

/* The number of a column that has one. */
static uint64_t number_of(enum form form, const void *field, const struct quell_trace_record *r)
{
	switch (form) {
	case U8:
		return *(const uint8_t *)field;
	case U16:
		return *(const uint16_t *)field;
	case PORT:
		return ntohs(*(const uint16_t *)field);
	case U32:
		return *(const uint32_t *)field;
	case CWND_BYTES:
		return (uint64_t)r->cwnd_pkts * r->mss_bytes;
	case RTT:
		if (r->has_view && r->view.rtt_ns)
			return r->view.rtt_ns;
		return r->rtt_us * NS_PER_US;
	case MIN_RTT:
		if (r->has_view && r->view.min_rtt_ns)
			return r->view.min_rtt_ns;
		return r->min_rtt_us * NS_PER_US;
	case US:
		return *(const uint32_t *)field * NS_PER_US;
	default:
		return *(const uint64_t *)field;
	}
}

static void put_column(FILE *file, size_t column, const struct quell_trace_record *r)
{
	static const char * const events[QUELL_TRACE_EVENTS] = {
		[QUELL_TRACE_ACK]		= "ack",
		[QUELL_TRACE_STATE]		= "state",
		[QUELL_TRACE_RETRANSMIT]	= "retransmit",
		[QUELL_TRACE_TIMEOUT]		= "timeout",
	};
	/* TCP_CA_Open and so on, of the kernel's uapi. */
	static const char * const states[] = { "open", "disorder", "cwr", "recovery", "loss" };
	const void *field = (const char *)r + columns[column].offset;
	uint64_t value;

	switch (columns[column].form) {
	case ADDRESS:
		put_address(file, field);
		return;
	case HEX:
		fprintf(file, "%" PRIx64, *(const uint64_t *)field);
		return;
	case NAME:
		put_cc(file, field);
		return;
	case EVENT:
		put_name(file, events, ARRAY_SIZE(events), r->event);
		return;
	case STATE:
		put_name(file, states, ARRAY_SIZE(states), r->ca_state);
		return;
	case PHASE:
		if (r->has_view)
			put_name(file, quell_adapt_phases, ARRAY_SIZE(quell_adapt_phases),
				 r->view.phase);
		return;
	case REASON:
		if (r->has_view && r->view.phase == QUELL_ADAPT_FALLBACK)
			put_name(file, quell_adapt_reasons, ARRAY_SIZE(quell_adapt_reasons),
				 r->view.reason);
		return;
	default:
		break;
	}
	value = number_of(columns[column].form, field, r);
	if ((value != columns[column].unknown || !columns[column].has_unknown) &&
	    (r->has_view || columns[column].form != VIEW))
		fprintf(file, "%" PRIu64, value);
}

void trace_csv_header(FILE *file)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		fprintf(file, "%s%s", i ? "," : "", columns[i].name);
	fputc('\n', file);
}

void trace_csv_row(FILE *file, const struct quell_trace_record *record)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		if (i)
			fputc(',', file);
		put_column(file, i, record);
	}
	fputc('\n', file);
}
