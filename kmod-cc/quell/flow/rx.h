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
 * Data packets kept between their receipt and the ACK that answers them.  There is more than one
 * only while a process owns the socket.
 */
#define QUELL_ECHOES_FEW	1
#define QUELL_ECHOES_MAX	64

/**
 * struct quell_ack_rx - receipt of a segment that carried an ACK
 * @rx_ns:	CLOCK_MONOTONIC, ns
 * @ack_seq:	acknowledgment number of the segment
 * @echo_ns:	departure that the segment echoed, ns modulo 2^32
 * @hold_ns:	how long the other host held the echo, ns; 0: not stated
 * @has_echo:	@echo_ns and @hold_ns are set
 * @record:	telemetry record of the segment; empty if it carried no record
 * @hardware:	@rx_ns is a NIC hardware timestamp, mapped to CLOCK_MONOTONIC
 * @has_entropy: the ACK echoed the path entropy of the packet it answers
 */
struct quell_ack_rx {
	u64	rx_ns;
	u32	ack_seq;
	u32	echo_ns;
	u32	hold_ns;
	bool	has_echo;
	bool	hardware;
	bool	has_entropy;
	u8	record[QUELL_TELEMETRY_BYTES];
};

/**
 * struct quell_echo - a data packet, the departure of which is to be echoed
 * @rx_ns:	receipt of the packet, CLOCK_MONOTONIC, ns
 * @seq:	first sequence number
 * @end_seq:	sequence number after the last
 * @depart_ns:	departure of the packet as its sender stamped it, ns modulo 2^32
 * @entropy:	path entropy of the packet
 * @marked:	the packet was marked CE
 * @record:	telemetry record of the packet; empty if it carried no record
 * @hardware:	@rx_ns is a NIC hardware timestamp, mapped to CLOCK_MONOTONIC
 */
struct quell_echo {
	u64	rx_ns;
	u32	seq;
	u32	end_seq;
	u32	depart_ns;
	u8	entropy;
	bool	marked;
	bool	hardware;
	u8	record[QUELL_TELEMETRY_BYTES];
};

/* rx.c */
void quell_ack_rx_add(struct quell_flow *flow, const struct sock *sk,
		      struct quell_ack_rx *ack_rx);
bool quell_ack_rx_take(struct quell_flow *flow, u32 una, struct quell_ack_rx *ack_rx);

void quell_echo_add(struct quell_flow *flow, const struct sock *sk,
		    struct quell_echo *echo);
bool quell_echo_take(struct quell_flow *flow, const struct tcp_sock *tp,
		     struct quell_echo *echo);

/* Whether a record was never written to. */
static inline bool quell_telemetry_is_empty(const u8 *record)
{
	return !record[QUELL_TELEMETRY_HOP_AT];
}

/**
 * quell_telemetry_keep() - keep the record of a packet that a newer one replaces
 * @newer: record; replaced by @older if it is empty
 * @older: record
 *
 * Context: lock of the flow that has the records.
 */
static inline void quell_telemetry_keep(u8 *newer, const u8 *older)
{
	if (quell_telemetry_is_empty(newer) && !quell_telemetry_is_empty(older))
		memcpy(newer, older, QUELL_TELEMETRY_BYTES);
}

#endif /* _QUELL_RX_H */
