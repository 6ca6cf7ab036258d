// SPDX-License-Identifier: GPL-2.0
/*
 * The public TCP-INT option (Documentation/tcp-int.md), as hosts speak it.
 *
 *	out	an empty option in every segment with room for it, behind the
 *		Quell option, and in it the echo of what came in
 *	in	what switches wrote waits to be echoed; what the other end echoes
 *		is shown and, if asked for, made into telemetry records
 *
 * Nothing is negotiated, the option has no way to: it is spoken where the
 * administrator says so.  It gives way to everything else in the header.
 *
 * An option where we put it is taken out of the packet, for TCP's fast path; any
 * other place is left to TCP, which skips it.
 */
#include <linux/ip.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include "counters.h"
#include "flow.h"
#include "net.h"
#include "signal.h"
#include "tcpint.h"

#define TCP_HEADER_MAX_BYTES	60

/* Whether an agent of this host's, or an earlier pass of ours, put one in already. */
static bool tcpint_is_there(const struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	u32 options_bytes = __tcp_hdrlen(th) - sizeof(*th);

	return quell_tcp_int_find((const u8 *)(th + 1), options_bytes) != options_bytes;
}

/**
 * quell_tcpint_room() - whether a segment gets the option
 * @flow:        flow it belongs to
 * @skb:         segment on its way out, from the network header on
 * @other_bytes: what the Quell option will take
 *
 * Context: socket lock, LOCAL_OUT hook.
 * Return: bytes it will take, 0 for none.
 */
u32 quell_tcpint_room(struct quell_flow *flow, const struct sk_buff *skb, u32 other_bytes)
{
	if (flow->tcp_int.mode == QUELL_TCPINT_OFF || tcpint_is_there(skb))
		return 0;
	if (quell_option_fits(skb, other_bytes + QUELL_TCP_INT_BYTES))
		return QUELL_TCP_INT_BYTES;
	quell_count(flow->qnet, QUELL_N_TCP_INT_NO_ROOM);
	return 0;
}

/**
 * quell_tcpint_send() - put the option into a segment
 * @flow: flow it belongs to
 * @skb:  segment that quell_tcpint_room() found room in
 *
 * Context: socket lock, LOCAL_OUT hook.  Pointers into the headers are stale
 * afterwards.
 */
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
	/* What came in meanwhile is for the next one. */
	if (due)
		cmpxchg(&flow->tcp_int.due, due, 0);
	quell_count(flow->qnet, QUELL_N_TCP_INT_SENT);
}

/* What switches wrote, and what the other end echoes. */
static void tcpint_note(struct quell_flow *flow, const struct quell_tcp_int *in)
{
	struct quell_tcp_int out;

	quell_count(flow->qnet, QUELL_N_TCP_INT_RECEIVED);
	if (quell_tcp_int_answer(in, &out))
		WRITE_ONCE(flow->tcp_int.due, quell_tcp_int_pack(&out));
	if (!in->echo_hop)
		return;
	quell_count(flow->qnet, QUELL_N_TCP_INT_ECHOED);
	WRITE_ONCE(flow->tcp_int.newest, quell_tcp_int_pack(in));
	WRITE_ONCE(flow->tcp_int.told, quell_tcp_int_pack(in));
}

/*
 * Apart from quell_tcpint_receive(): kernels that clear what is on the stack would
 * clear the buffer for flows that do not speak the option.
 */
static noinline_for_stack void tcpint_read(struct quell_flow *flow, struct sk_buff *skb,
					   u32 ip_bytes)
{
	u8 buffer[TCP_HEADER_MAX_BYTES];
	struct quell_tcp_int in;
	const struct tcphdr *th;
	u32 options_bytes, at;

	th = skb_header_pointer(skb, ip_bytes, sizeof(*th), buffer);
	if (!th || __tcp_hdrlen(th) < sizeof(*th) + QUELL_TCP_INT_BYTES)
		return;
	options_bytes = __tcp_hdrlen(th) - sizeof(*th);
	th = skb_header_pointer(skb, ip_bytes, __tcp_hdrlen(th), buffer);
	if (!th)
		return;
	at = quell_tcp_int_find((const u8 *)(th + 1), options_bytes);
	if (at == options_bytes)
		return;
	quell_tcp_int_decode((const u8 *)(th + 1) + at, &in);
	tcpint_note(flow, &in);
	if (!at && skb->len <= IP_MAX_MTU)
		quell_option_remove(skb, ip_bytes, QUELL_TCP_INT_BYTES);
}

/**
 * quell_tcpint_receive() - a segment came in: read its option, if it has one
 * @flow:     flow it belongs to
 * @skb:      segment that is believed, from the network header on; the Quell option
 *	      is out
 * @ip_bytes: length of the network header
 *
 * Context: LOCAL_IN hook.  Pointers into the headers may be stale afterwards.
 */
void quell_tcpint_receive(struct quell_flow *flow, struct sk_buff *skb, u32 ip_bytes)
{
	if (READ_ONCE(flow->tcp_int.mode) != QUELL_TCPINT_OFF)
		tcpint_read(flow, skb, ip_bytes);
}

/**
 * quell_tcpint_used() - whether a flow gets its telemetry records from TCP-INT
 * @flow: flow
 *
 * Such a flow asks for none of the Quell option's: there is no room for both.
 *
 * Context: socket lock.
 * Return: true if the administrator says so and the algorithm wants records; that
 * switches write and the other end echoes is not known.
 */
bool quell_tcpint_used(const struct quell_flow *flow)
{
	return flow->tcp_int.mode == QUELL_TCPINT_USE &&
	       quell_algo_has(flow->algo, QUELL_CORE_TELEMETRY);
}

/**
 * quell_tcpint_take() - what was echoed since the last sample goes into this one
 * @flow:   flow
 * @sample: now_ns is set; telemetry is set in full, or left alone
 *
 * Context: socket lock.
 */
void quell_tcpint_take(struct quell_flow *flow, struct quell_sample *sample)
{
	struct quell_tcp_int told = {};
	u32 packed;

	if (!quell_tcpint_used(flow) || !READ_ONCE(flow->tcp_int.told))
		return;
	packed = xchg(&flow->tcp_int.told, 0);
	quell_tcp_int_unpack(packed, &told);
	if (quell_tcp_int_record(&flow->tcp_int.link, &told, sample->now_ns,
				 &sample->telemetry))
		WRITE_ONCE(flow->records, flow->records + 1);
}
