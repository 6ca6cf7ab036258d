/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Direct apportioning of sending rates, the part that all hosts have: n of a flow as its peer
 * states it, and the calls to the module that counts senders, tcp_dart.ko.
 */
#ifndef _QUELL_DASR_H
#define _QUELL_DASR_H

#include <linux/types.h>

struct genl_info;
struct net;
struct netlink_callback;
struct quell_flow;
struct quell_opt;
struct quell_sample;
struct sk_buff;
struct sock;
struct tcp_sock;

/* Of a flow with QUELL_CORE_SENDERS; begins the memory that struct quell_dasr_ops allocates. */
struct quell_dasr {
	/* The peer's rate follows n; receive hook. */
	bool	peer_follows;
	/* CE since the last ACK processed; stated even if the mark is hidden from TCP. */
	bool	path_marked;
	/* n that the peer stated; 0 unknown; receive hook. */
	u32	senders_q8;
	u64	peer_link_bytes_ps;	/* 0 unknown; receive hook */
	/* n of the last sample, for the flow's part of its own line; 0: no sample yet. */
	u32	used_q8;
	u32	claim_slot;	/* in quell_net.claims; socket lock, as @claim_bytes_ps */
	u64	claim_bytes_ps;	/* 0: no claim */
};

struct quell_dasr_packet {
	int	ifindex;
	u32	seq;
	u32	end_seq;
	u8	flags;	/* QUELL_OPT_F_* of its option; 0 without the option */
	bool	pushed;	/* it has PSH or FIN */
	bool	marked;	/* CE */
};

/*
 * Receiver of an algorithm with QUELL_CORE_SENDERS, in its module.  A flow pins the module by its
 * socket, and after that until the end of the RCU read section in which the flow was found; a
 * request, by the lock of genl.c.
 */
struct quell_dasr_ops {
	/* Sets quell_flow.dasr, for kfree(); false: memory is short.  Socket lock. */
	bool	(*open)(struct quell_flow *flow, const struct sock *sk);
	/* Lock of @flow; a reader may still hold it. */
	void	(*close)(struct quell_flow *flow);
	/* Data; returns whether to hide its mark from TCP.  LOCAL_IN hook, RCU. */
	bool	(*receive)(struct quell_flow *flow, const struct sock *sk,
			   const struct quell_dasr_packet *packet);
	/* LOCAL_IN hook, RCU. */
	void	(*reset)(struct quell_flow *flow, const struct sock *sk, u32 seq);
	/* Puts n into the option of an ACK.  Lock of @flow. */
	void	(*state)(struct quell_flow *flow, const struct tcp_sock *tp,
			 struct quell_opt *opt);
	/* Attributes of a flow; 0 or -EMSGSIZE.  RCU read section. */
	int	(*put_flow)(struct sk_buff *skb, struct quell_flow *flow);

	/* Requests by netlink, distinguished by their command.  Process context, may sleep. */
	int	(*start)(struct netlink_callback *cb);
	int	(*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
	int	(*doit)(struct sk_buff *skb, struct genl_info *info);
};

/*
 * Measures a TCP packet of any connection, also one merged by GRO; NULL while no senders are
 * counted.  LOCAL_IN hook, RCU: its module waits for a grace period after it cleared this.
 */
typedef void quell_dasr_meter_t(const struct net *net, const struct sk_buff *skb,
				 u32 header_bytes);
extern quell_dasr_meter_t *quell_dasr_meter;

void quell_dasr_read_option(struct quell_flow *flow, const struct quell_opt *opt);
void quell_dasr_sample(struct quell_flow *flow, const struct tcp_sock *tp,
		       struct quell_sample *sample);
void quell_dasr_claim(struct quell_flow *flow, u64 bytes_ps);

#endif /* _QUELL_DASR_H */
