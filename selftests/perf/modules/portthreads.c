// SPDX-License-Identifier: GPL-2.0
/*
 * swport's data path for a program in user space, ../port-threads.c, which links this object and
 * sch_swport.o as they are compiled for a kernel: same instructions, same offsets.  No module.
 *
 * Each thread has a port, which may be a queue of one joint port, and share one buffer.  Packets
 * are TCP data of 1514 bytes.
 */
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/tcp.h>

#include "../../../kmod-qdisc/swport.h"
#include "portthreads.h"

#define FRAME_BYTES	1514
#define HEADER_BYTES	(ETH_HLEN + sizeof(struct iphdr) + sizeof(struct tcphdr))
#define WIRE_BYTES_PS	BIT_ULL(43)	/* never busy */
#define BUFFER_BYTES	SZ_4M

static struct net portthreads_net;
static struct net_device portthreads_dev;

/* A port and its packets, in cache lines of its own. */
struct portthreads {
	struct netdev_queue	txq;
	struct sk_buff		skb[PORTTHREADS_PKTS];
	struct sk_buff		*free[PORTTHREADS_PKTS];
	unsigned int		free_nr;
	u8			headers[PORTTHREADS_PKTS][HEADER_BYTES];
	struct Qdisc		sch;	/* last: the port is behind it */
};

static const struct portthreads_row portthreads_rows[] = {
	{ "alone" },
	{ "joint", .joint = true },
	{ "joint-rate", .joint = true, .rate = true },
	{ "joint-telemetry", .joint = true, .telemetry = true },
	{ "buffer", .buffer = true },
	{ "joint-rate-buffer", .joint = true, .rate = true, .buffer = true },
};

const struct portthreads_row *portthreads_row(unsigned int i)
{
	return i < ARRAY_SIZE(portthreads_rows) ? &portthreads_rows[i] : NULL;
}

static void portthreads_make_packet(struct sk_buff *skb, u8 *headers)
{
	struct ethhdr *eth = (struct ethhdr *)headers;
	struct iphdr *iph = (struct iphdr *)(headers + ETH_HLEN);
	struct tcphdr *th = (struct tcphdr *)(iph + 1);

	eth->h_proto = htons(ETH_P_IP);
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->ttl = 64;
	iph->protocol = IPPROTO_TCP;
	iph->tot_len = htons(FRAME_BYTES - ETH_HLEN);
	th->doff = sizeof(*th) / 4;
	skb->head = headers;
	skb->data = headers;
	skb->len = FRAME_BYTES;
	skb->data_len = FRAME_BYTES - HEADER_BYTES;
	skb->truesize = SKB_TRUESIZE(FRAME_BYTES);
	skb->dev = &portthreads_dev;
	qdisc_skb_cb(skb)->pkt_len = FRAME_BYTES;
}

/* As swport_commit() does, without attributes. */
static void portthreads_configure(struct Qdisc *sch, const struct portthreads_row *row)
{
	struct swport_sched *port = qdisc_priv(sch);
	struct swport_params params = port->params;
	struct swport_buffer *buffer;
	struct swport_joint *joint;

	params.joint = row->joint;
	params.rate_bytes_ps = row->rate ? WIRE_BYTES_PS : 0;
	params.telemetry_ns = row->telemetry ? 8000 : 0;
	params.alpha_q16 = row->buffer ? 8 * QUELL_Q16_ONE : 0;
	params.buffer_bytes = row->buffer ? BUFFER_BYTES : 0;
	quell_swport_joint_get(sch, &params, &joint);
	quell_swport_buffer_get(sch, &params, &buffer);
	port->params = params;
	quell_swport_buffer_set(port, buffer);
	quell_swport_joint_set(port, joint);
	quell_swport_set_features(port);
	quell_swport_link_set(port, 0);
	if (joint)
		quell_swport_joint_commit(port);
}

void qdisc_watchdog_init(struct qdisc_watchdog *watchdog, struct Qdisc *sch)
{
	watchdog->qdisc = sch;
}

void qdisc_watchdog_schedule_range_ns(struct qdisc_watchdog *watchdog, u64 expires, u64 delta_ns)
{
}

void *portthreads_make(const struct Qdisc_ops *ops, const struct portthreads_row *row)
{
	struct portthreads *me = portthreads_alloc(sizeof(*me) + ops->priv_size);
	unsigned int i;

	portthreads_dev.type = ARPHRD_ETHER;
	write_pnet(&portthreads_dev.nd_net, &portthreads_net);
	me->txq.dev = &portthreads_dev;
	rcu_assign_pointer(me->txq.qdisc_sleeping, &me->sch);
	me->sch.dev_queue = &me->txq;
	ops->init(&me->sch, NULL, NULL);
	portthreads_configure(&me->sch, row);
	for (i = 0; i < PORTTHREADS_PKTS; i++) {
		portthreads_make_packet(&me->skb[i], me->headers[i]);
		me->free[me->free_nr++] = &me->skb[i];
	}
	return me;
}

/* A queue of a joint port may have to let another send first. */
int portthreads_step(const struct Qdisc_ops *ops, void *port, unsigned int enqueue,
		     unsigned int dequeue)
{
	struct sk_buff *to_free = NULL, *skb;
	struct portthreads *me = port;
	unsigned int tries = 0;

	for (; enqueue && me->free_nr; enqueue--)
		ops->enqueue(me->free[--me->free_nr], &me->sch, &to_free);
	while (dequeue && tries++ < 1000000) {
		skb = ops->dequeue(&me->sch);
		if (!skb)
			continue;
		me->free[me->free_nr++] = skb;
		dequeue--;
	}
	return enqueue || dequeue || to_free ? -EIO : 0;
}
