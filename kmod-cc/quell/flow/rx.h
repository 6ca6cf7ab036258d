/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive side: receipts of ACKs that TCP has not processed yet, data packets to echo.
 */
#ifndef _QUELL_RX_H
#define _QUELL_RX_H

#include <quell/telemetry.h>
#include "flow/memory.h"

struct quell_flow;
struct sock;
struct tcp_sock;

/*
 * Arrivals kept from a packet's receipt until TCP processes it: embedded in the flow, and
 * the maximum.  There is more than one only while a process owns the socket.
 */
#define QUELL_ACK_RX_FEW	1
#define QUELL_ACK_RX_MAX	64

/*
 * Data packets kept between their receipt and their ACK.  There is more than one
 * only while a process owns the socket.
 */
#define QUELL_ECHOES_FEW	1
#define QUELL_ECHOES_MAX	64

/* Receipt of a segment that carried an ACK. */
struct quell_ack_rx {
	u64	rx_ns;	/* CLOCK_MONOTONIC */
	u32	ack_seq;
	u32	echo_ns;	/* departure that the segment echoed, modulo 2^32 */
	u32	hold_ns;	/* of the echo by the other host; 0: not stated */
	bool	has_echo;	/* @echo_ns and @hold_ns are set */
	bool	hardware;	/* @rx_ns is a NIC's stamp, mapped to CLOCK_MONOTONIC */
	bool	has_entropy;	/* the ACK echoed a path entropy */
	u8	record[QUELL_TELEMETRY_BYTES];	/* empty if it carried no record */
};

/* A data packet, the departure of which is to be echoed. */
struct quell_echo {
	u64	rx_ns;	/* CLOCK_MONOTONIC */
	u32	seq;
	u32	end_seq;
	u32	depart_ns;	/* as its sender stamped it, modulo 2^32 */
	u8	entropy;
	bool	marked;	/* CE */
	bool	hardware;	/* @rx_ns is a NIC's stamp, mapped to CLOCK_MONOTONIC */
	u8	record[QUELL_TELEMETRY_BYTES];	/* empty if it carried no record */
};

/* rx.c */
void quell_ack_rx_add(struct quell_flow *flow, const struct sock *sk,
		      struct quell_ack_rx *ack_rx);
bool quell_ack_rx_take(struct quell_flow *flow, u32 una, struct quell_ack_rx *ack_rx);

struct quell_echo *quell_echo_open(struct quell_flow *flow, const struct sock *sk);
bool quell_echo_take(struct quell_flow *flow, const struct tcp_sock *tp,
		     struct quell_echo *echo);

/* Whether a record was never written to. */
static inline bool quell_telemetry_is_empty(const u8 *record)
{
	return !record[QUELL_TELEMETRY_HOP_AT];
}

/* Keep the record of a packet that a newer one without a record replaces.  Lock of the flow. */
static inline void quell_telemetry_keep(u8 *newer, const u8 *older)
{
	if (quell_telemetry_is_empty(newer) && !quell_telemetry_is_empty(older))
		memcpy(newer, older, QUELL_TELEMETRY_BYTES);
}

#endif /* _QUELL_RX_H */
