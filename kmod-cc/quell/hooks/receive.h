/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A received segment, for the files of the LOCAL_IN hook.
 */
#ifndef _QUELL_RECEIVE_H
#define _QUELL_RECEIVE_H

#include <linux/types.h>
#include "flow/rx.h"

struct net;
struct quell_flow;
struct quell_opt;
struct request_sock;
struct sk_buff;
struct sock;
struct tcphdr;

/**
 * struct receive_headers - header fields of a received segment
 * @ip_bytes:	length of the network header
 * @seq:	sequence number
 * @ack_seq:	acknowledgment number
 * @ttl:	time-to-live
 * @marked:	the packet was marked CE
 * @had_room:	the header had room for the echo
 * @whole:	the TCP header is complete
 * @syn:	the segment has the SYN flag
 * @acks:	the segment has the ACK flag
 * @plain:	the segment has no flag beside SYN and ACK
 * @pushed:	the segment has PSH or FIN
 * @resets:	the segment has RST
 */
struct receive_headers {
	u32	ip_bytes;
	u32	seq;
	u32	ack_seq;
	u8	ttl;
	bool	marked;
	bool	had_room;
	bool	whole;
	bool	syn;
	bool	acks;
	bool	plain;
	bool	pushed;
	bool	resets;
};

/**
 * struct receive_segment - a received segment of a flow
 * @skb:	   the segment, without the option
 * @in:		   its headers
 * @opt:	   its option; NULL without a valid one
 * @payload_bytes: its payload
 * @missed:	   it had room for the option, but came without it
 * @of_program:	   the option is not where quell.ko puts it: its sender is a BPF program
 * @ack_rx:	   receipt and echo, for the sample
 */
struct receive_segment {
	struct sk_buff			*skb;
	const struct receive_headers	*in;
	const struct quell_opt		*opt;
	u32				payload_bytes;
	bool				missed;
	bool				of_program;
	struct quell_ack_rx		ack_rx;
};

/* receive_open.c */
void quell_receive_opening(struct sock *sk, struct sk_buff *skb, const struct tcphdr *th,
			   u32 ip_bytes);
void quell_receive_syn(struct net *net, struct sk_buff *skb, const struct tcphdr *th,
		       const struct receive_headers *in);
void quell_receive_request(const struct request_sock *req, struct sk_buff *skb,
			   const struct tcphdr *th, const struct receive_headers *in);

/* receive_data.c */
void quell_receive_data(struct quell_flow *flow, struct sock *sk,
			const struct receive_segment *segment);

#endif /* _QUELL_RECEIVE_H */
