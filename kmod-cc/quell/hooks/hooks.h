/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netfilter hooks of a namespace, and NACKs.
 */
#ifndef _QUELL_HOOKS_H
#define _QUELL_HOOKS_H

#include "flow/flow.h"

struct nf_hook_state;
struct quell_nack;

enum quell_nack_result {
	QUELL_NACK_ABSENT,
	QUELL_NACK_READ,
	QUELL_NACK_MALFORMED,
};

/* transmit.c */
void quell_hooks_init(struct quell_net *qnet);
void quell_hooks_exit(struct quell_net *qnet);

/* nack.c */
void quell_nack_send(struct quell_flow *flow, struct sock *sk, const struct sk_buff *skb,
		     const struct quell_echo *echo);
enum quell_nack_result quell_nack_read(struct sk_buff *skb, u32 ip_bytes,
				       struct quell_nack *nack);
bool quell_nack_is_plausible(const struct sk_buff *skb, u32 ip_bytes, const struct sock *sk);
bool quell_nack_to_ack(struct sk_buff *skb, u32 ip_bytes, const struct sock *sk);

/* receive.c */
unsigned int quell_receive4(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);
unsigned int quell_receive6(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state);

#endif /* _QUELL_HOOKS_H */
