/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receive side: receipts of ACKs that TCP has not processed yet, data packets to echo.
 */
#ifndef _QUELL_RX_H
#define _QUELL_RX_H

#include <quell/telemetry.h>
#include "flow/memory.h"

struct nf_hook_state;
struct quell_flow;
struct sk_buff;
struct tcp_sock;

/*
 * Arrivals kept from a packet's receipt until TCP processes it: embedded in the flow, and
 * the maximum.  There is more than one only while a process owns the socket.
 */
#define QUELL_ARRIVALS_FEW	1
#define QUELL_ARRIVALS_MAX	64

/*
 * Data packets kept between their receipt and the ACK that answers them.  There is more than one
 * only while a process owns the socket.
 */
#define QUELL_ECHOES_FEW	1
#define QUELL_ECHOES_MAX	64

/**
 * struct quell_arrival - receipt of a segment that carried an ACK
 * @rx_ns:	CLOCK_MONOTONIC, ns
 * @ack_seq:	acknowledgment number of the segment
 * @echo_ns:	departure that the segment echoed, ns modulo 2^32
 * @hold_ns:	how long the other host held the echo, ns; 0: not stated
 * @has_echo:	@echo_ns and @hold_ns are set
 * @record:	telemetry record of the segment; empty if it carried no record
 * @hardware:	@rx_ns is a NIC hardware timestamp, mapped to CLOCK_MONOTONIC
 * @has_entropy: the ACK echoed the path entropy of the packet it answers
 */
struct quell_arrival {
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
void quell_arrival_add(struct quell_flow *flow, const struct sock *sk,
		       struct quell_arrival *arrival);
bool quell_arrival_take(struct quell_flow *flow, u32 una, struct quell_arrival *arrival);

void quell_echo_add(struct quell_flow *flow, const struct sock *sk,
		    struct quell_echo *echo);
bool quell_echo_take(struct quell_flow *flow, const struct tcp_sock *tp,
		     struct quell_echo *echo);

/* receive.c */
unsigned int quell_receive4(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);
unsigned int quell_receive6(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);

#endif /* _QUELL_RX_H */
