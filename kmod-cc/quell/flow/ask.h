/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ACKs on demand, the sender's half: ask.c.
 */
#ifndef _QUELL_ASK_H
#define _QUELL_ASK_H

#include <linux/types.h>

struct quell_flow;
struct sock;

/* ask.c */
bool quell_ask(const struct quell_flow *flow, const struct sock *sk, u32 end_seq);

#endif /* _QUELL_ASK_H */
