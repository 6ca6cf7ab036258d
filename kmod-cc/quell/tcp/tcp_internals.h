/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copies of functions of the kernel's TCP: interface of tcp_internals.c.
 */
#ifndef _QUELL_TCP_INTERNALS_H
#define _QUELL_TCP_INTERNALS_H

#include <linux/types.h>

struct sk_buff;
struct sock;
struct tcp_sock;

struct sk_buff *quell_tcp_find(const struct sock *sk, u32 seq);
bool quell_tcp_fragment(struct sock *sk, struct sk_buff *skb, u32 bytes);
bool quell_tcp_mark_lost(struct sock *sk, struct sk_buff *skb);
bool quell_tcp_unmark_lost(struct sock *sk, u32 seq, u32 end_seq);
void quell_tcp_forget_order(struct sk_buff *skb);
void quell_tcp_expect_reordering(struct sock *sk);
void quell_tcp_reset_reordering(struct sock *sk);
void quell_tcp_forget_reordering(struct sock *sk, bool sprayed);
void quell_tcp_update_pacing_rate(struct sock *sk);
void quell_tcp_disorder(struct sock *sk);
void quell_tcp_keep_marks(struct tcp_sock *tp);
void quell_tcp_send_lost(struct sock *sk);
u32 quell_tcp_reduce(struct tcp_sock *tp, u32 to_pkts, u32 delivered_pkts, bool recovers);
bool quell_tcp_has_timed_out(const struct sock *sk);

#endif /* _QUELL_TCP_INTERNALS_H */
