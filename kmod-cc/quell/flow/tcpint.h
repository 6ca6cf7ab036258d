/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The public TCP-INT option: interface of tcpint.c.
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
 * struct quell_tcpint - TCP-INT state of a flow
 * @mode:   QUELL_TCPINT_*
 * @due:    echo for the next segment, quell_tcp_int_pack(); 0: no echo
 * @echoed: newest echo received, for the next sample; 0: already used
 * @newest: newest echo received, for display
 * @link:   state from which echoes are made into telemetry records
 *
 * The socket lock protects @mode, written with WRITE_ONCE(), and @link.  The receive hook writes
 * the other fields; LOCAL_OUT consumes @due, the holder of the socket lock @echoed.
 */
struct quell_tcpint {
	u32				mode;
	u32				due;
	u32				echoed;
	u32				newest;
	struct quell_tcp_int_link	link;
};

u32 quell_tcpint_room(struct quell_flow *flow, const struct sk_buff *skb, u32 other_bytes);
void quell_tcpint_send(struct quell_flow *flow, struct sk_buff *skb);
void quell_tcpint_receive(struct quell_flow *flow, struct sk_buff *skb, u32 ip_bytes);
bool quell_tcpint_used(const struct quell_flow *flow);
void quell_tcpint_take(struct quell_flow *flow, struct quell_sample *sample);

#endif /* _QUELL_TCPINT_H */
