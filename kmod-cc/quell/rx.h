/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What comes: receipts that TCP has not seen yet, data packets to be echoed.
 */
#ifndef _QUELL_RX_H
#define _QUELL_RX_H

#include <quell/telemetry.h>
#include "memory.h"

struct nf_hook_state;
struct quell_flow;
struct sk_buff;
struct tcp_sock;

/*
 * Arrivals kept between a packet's receipt and TCP's look at it: in the flow, and at
 * most.  More than one is there only while a process owns the socket.
 */
#define QUELL_ARRIVALS_FEW	1
#define QUELL_ARRIVALS_MAX	64

/* Data packets kept between their receipt and the ACK that answers them. */
#define QUELL_ECHOES_FEW	1
#define QUELL_ECHOES_MAX	64

/**
 * struct quell_arrival - receipt of a segment that carried an ACK
 * @rx_ns:	CLOCK_MONOTONIC, ns
 * @ack_seq:	its acknowledgment number
 * @echo_ns:	departure it echoed, ns modulo 2^32
 * @hold_ns:	how long the other host had held that echo, ns; 0 not said
 * @has_echo:	@echo_ns and @hold_ns are set
 * @record:	telemetry record it brought; empty: none
 * @hardware:	@rx_ns is a stamp of the card, mapped
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
 * struct quell_echo - a data packet whose departure is to be echoed
 * @rx_ns:	its receipt, CLOCK_MONOTONIC, ns
 * @seq:	first sequence number
 * @end_seq:	sequence number after the last
 * @depart_ns:	its departure as the sender stamped it, ns modulo 2^32
 * @entropy:	its path entropy
 * @marked:	it was marked CE
 * @record:	its telemetry record; empty: none
 * @hardware:	@rx_ns is a stamp of the card, mapped
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

/* arrivals.c */
void quell_arrival_add(struct quell_flow *flow, const struct sock *sk,
		       struct quell_arrival *arrival);
bool quell_arrival_take(struct quell_flow *flow, u32 una, struct quell_arrival *arrival);

/* echo.c */
void quell_echo_add(struct quell_flow *flow, const struct sock *sk,
		    const struct quell_echo *echo);
bool quell_echo_take(struct quell_flow *flow, const struct tcp_sock *tp,
		     struct quell_echo *echo);

/* receive.c */
unsigned int quell_receive4(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);
unsigned int quell_receive6(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);

#endif /* _QUELL_RX_H */
