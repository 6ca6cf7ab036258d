// SPDX-License-Identifier: GPL-2.0
/*
 * The hosts' part of the public TCP-INT option (Documentation/tcp-int.md).
 *
 *	out	an empty option, behind the Quell option, in each segment with room for it
 *		that requests an ACK (ack_request.c) or has an echo to carry
 *	in	the values of switches are stored to be echoed; echoes of the peer are
 *		shown and, if enabled, made into telemetry records
 *
 * There is no negotiation: the administrator enables it.  All other options take precedence
 * in the header.  An option directly behind the fixed header is removed for TCP's fast path;
 * elsewhere TCP skips it.
 */
#include <linux/ip.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "signal/signal.h"

/* 0: no option.  Lock of @flow, LOCAL_OUT hook; the socket lock is not certain. */
u32 quell_tcpint_room(struct quell_flow *flow, const struct sk_buff *skb, u32 other_bytes)
{
	const struct tcphdr *th = tcp_hdr(skb);
	u32 options_bytes = __tcp_hdrlen(th) - sizeof(*th);

	/* It may be inserted already, by another agent of this host or an earlier pass here. */
	if (READ_ONCE(flow->tcp_int_mode) == QUELL_TCPINT_OFF ||
	    quell_tcp_int_find((const u8 *)(th + 1), options_bytes) != options_bytes)
		return 0;
	if (other_bytes + QUELL_TCP_INT_BYTES <= quell_option_room(skb))
		return QUELL_TCP_INT_BYTES;
	quell_count(flow->qnet, QUELL_N_TCP_INT_NO_ROOM);
	return 0;
}

/* Lock of @flow, LOCAL_OUT hook.  Pointers into the headers are stale afterwards. */
void quell_tcpint_send(struct quell_flow *flow, struct sk_buff *skb)
{
	struct quell_tcp_int opt = { .tag_freq = QUELL_TCP_INT_FREQ_SWITCH };
	u8 *place = quell_option_open(skb, QUELL_TCP_INT_BYTES);
	u32 due = READ_ONCE(flow->tcp_int.due);

	if (!place) {
		quell_count(flow->qnet, QUELL_N_TCP_INT_NO_ROOM);
		return;
	}
	quell_tcp_int_unpack(due, &opt);
	quell_tcp_int_encode(&opt, place);
	/* A newer echo is for the next segment. */
	if (due)
		cmpxchg(&flow->tcp_int.due, due, 0);
	quell_count(flow->qnet, QUELL_N_TCP_INT_SENT);
}

static void tcpint_record(struct quell_flow *flow, const struct quell_tcp_int *in)
{
	struct quell_tcp_int out;

	quell_count(flow->qnet, QUELL_N_TCP_INT_RECEIVED);
	if (quell_tcp_int_echo(in, &out))
		WRITE_ONCE(flow->tcp_int.due, quell_tcp_int_pack(&out));
	if (!in->echo_hop)
		return;
	quell_count(flow->qnet, QUELL_N_TCP_INT_ECHOED);
	WRITE_ONCE(flow->tcp_int.newest, quell_tcp_int_pack(in));
	WRITE_ONCE(flow->tcp_int.echoed, quell_tcp_int_pack(in));
}

/*
 * @skb is without the Quell option.  LOCAL_IN hook.  Pointers into the headers may be stale
 * afterwards.
 */
void quell_tcpint_receive(struct quell_flow *flow, struct sk_buff *skb, u32 ip_bytes)
{
	const struct tcphdr *th = quell_option_header(skb, ip_bytes);
	struct quell_tcp_int in;
	u32 options_bytes, at;

	if (!th || __tcp_hdrlen(th) < sizeof(*th) + QUELL_TCP_INT_BYTES)
		return;
	options_bytes = __tcp_hdrlen(th) - sizeof(*th);
	at = quell_tcp_int_find((const u8 *)(th + 1), options_bytes);
	if (at == options_bytes)
		return;
	quell_tcp_int_decode((const u8 *)(th + 1) + at, &in);
	tcpint_record(flow, &in);
	if (!at && skb->len <= IP_MAX_MTU)
		quell_option_remove(skb, ip_bytes, QUELL_TCP_INT_BYTES);
}

/* Such a flow does not request the Quell option's records: no room for both.  Socket lock. */
bool quell_tcpint_used(const struct quell_flow *flow)
{
	return READ_ONCE(flow->tcp_int_mode) == QUELL_TCPINT_USE &&
	       quell_algo_has(flow->algo, QUELL_CORE_TELEMETRY);
}

/* Sets the telemetry in full, or not at all.  Socket lock. */
void quell_tcpint_take(struct quell_flow *flow, struct quell_sample *sample)
{
	struct quell_tcp_int echo = {};
	u32 packed;

	if (!quell_tcpint_used(flow) || !READ_ONCE(flow->tcp_int.echoed))
		return;
	packed = xchg(&flow->tcp_int.echoed, 0);
	quell_tcp_int_unpack(packed, &echo);
	if (quell_tcp_int_record(&flow->tcp_int.link, &echo, sample->now_ns,
				 &sample->telemetry))
		WRITE_ONCE(flow->records, flow->records + 1);
}
