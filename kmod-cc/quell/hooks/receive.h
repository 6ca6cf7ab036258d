/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A received segment, for the files of the LOCAL_IN hook.
 */
#ifndef _QUELL_RECEIVE_H
#define _QUELL_RECEIVE_H

#include <linux/tcp.h>
#include "flow/rx.h"

struct quell_flow;
struct quell_opt;

/* As received: the numbers of bytes are those before an option is removed. */
struct receive_headers {
	u32	ip_bytes;
	u32	tcp_bytes;
	s32	payload_bytes;	/* negative: the TCP header is cut off */
	u32	seq;
	u32	ack_seq;
	__be32	flags;	/* tcp_flag_word() */
	u8	ttl;
	bool	marked;	/* CE */
};

/* A received segment of a flow. */
struct receive_segment {
	struct sk_buff			*skb;	/* without the option */
	const struct receive_headers	*in;
	const struct quell_opt		*opt;	/* NULL without a valid one */
	/* It had room for the option, but came without it. */
	bool				missed;
	bool				of_program;	/* where BPF programs put it */
	struct quell_ack_rx		ack_rx;	/* receipt and echo, for the sample */
};

/* Whether the TCP header is complete. */
static inline bool receive_is_whole(const struct receive_headers *in)
{
	return in->tcp_bytes >= sizeof(struct tcphdr) && in->payload_bytes >= 0;
}

/* PSH or FIN. */
static inline bool receive_is_pushed(const struct receive_headers *in)
{
	return in->flags & (TCP_FLAG_PSH | TCP_FLAG_FIN);
}

/* receive_open.c */
void quell_receive_opening(struct sock *sk, struct sk_buff *skb, const struct tcphdr *th,
			   u32 ip_bytes);
void quell_receive_syn(struct net *net, struct sk_buff *skb, const struct receive_headers *in);
void quell_receive_request(const struct request_sock *req, struct sk_buff *skb,
			   const struct tcphdr *th, const struct receive_headers *in);

/* receive_data.c */
void quell_receive_data(struct quell_flow *flow, struct sock *sk,
			const struct receive_segment *segment);

#endif /* _QUELL_RECEIVE_H */
