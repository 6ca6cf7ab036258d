/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The public TCP-INT option, tcpint.c, as the rest of quell.ko sees it.
 */
#ifndef _QUELL_TCPINT_H
#define _QUELL_TCPINT_H

#include <linux/types.h>
#include <quell/tcp_int.h>

struct quell_flow;
struct quell_sample;
struct sk_buff;

/* Parameter "tcp-int" of the signal plane. */
#define QUELL_TCPINT_OFF	0U
#define QUELL_TCPINT_SPEAK	1U
#define QUELL_TCPINT_USE	2U

/**
 * struct quell_tcpint - what a flow knows by the TCP-INT option
 * @mode:	QUELL_TCPINT_*
 * @due:	what the next segment is to echo, quell_tcp_int_pack(); 0 nothing
 * @told:	what the other end echoed, for the next sample; 0 nothing new
 * @newest:	the newest of that, for display
 * @link:	records made of it
 *
 * @mode and @link: socket lock.  The others are written by the receive hook; who
 * holds the socket lock takes @due and @told.
 */
struct quell_tcpint {
	u32				mode;
	u32				due;
	u32				told;
	u32				newest;
	struct quell_tcp_int_link	link;
};

u32 quell_tcpint_room(struct quell_flow *flow, const struct sk_buff *skb, u32 other_bytes);
void quell_tcpint_send(struct quell_flow *flow, struct sk_buff *skb);
void quell_tcpint_receive(struct quell_flow *flow, struct sk_buff *skb, u32 ip_bytes);
bool quell_tcpint_used(const struct quell_flow *flow);
void quell_tcpint_take(struct quell_flow *flow, struct quell_sample *sample);

#endif /* _QUELL_TCPINT_H */
