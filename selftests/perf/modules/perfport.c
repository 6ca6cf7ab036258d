// SPDX-License-Identifier: GPL-2.0
/*
 * What a root qdisc costs a packet: enqueue and dequeue called as the stack calls
 * them, under their lock, and counted in ticks of the processor's counter.  In
 * user-mode Linux, which is native code, a tick is the machine's; under QEMU's
 * -icount it is an instruction.
 *
 *	echo DEV > /sys/module/quell_perfport/parameters/run
 *	cat /sys/module/quell_perfport/parameters/run
 *
 * prints, in hundredths of a tick per packet, the least of ROUNDS rounds:
 * "ENQUEUE DEQUEUE".  A round enqueues BATCH packets into the empty qdisc and takes
 * them out again; before it, the packets are put back as they were and time passes,
 * for shapers.  The packets are TCP data of 1514 bytes, forwarded once, ECN-capable,
 * with a telemetry record and a TCP-INT option to be written; their hash is known,
 * as from a card.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <compat/qdisc.h>
#include <quell/option.h>
#include <quell/tcp_int.h>

#define BATCH		32
#define ROUNDS		1000
#define ROUND_US	2000
#define FRAME_BYTES	1514
#define HEAD_BYTES	128	/* what a qdisc may have written to */
#define OPTIONS_BYTES	40
#define ECT_0		2
#define TTL_FORWARDED	63

static struct sk_buff *perfport_skb[BATCH];
static u8 perfport_head[HEAD_BYTES];
static char perfport_result[64];

static u64 perfport_ticks(void)
{
	u32 low, high;

	asm volatile("lfence; rdtsc; lfence" : "=a" (low), "=d" (high) : : "memory");
	return (u64)high << 32 | low;
}

static void perfport_put_options(u8 *options)
{
	struct quell_opt opt = {
		.form = QUELL_OPT_FULL,
		.flags = QUELL_OPT_F_DATA | QUELL_OPT_F_TELEMETRY,
	};
	u32 bytes;

	memset(options, QUELL_OPT_NOP, OPTIONS_BYTES);
	bytes = quell_opt_bytes(&opt);
	if (WARN_ON(bytes + QUELL_TCP_INT_BYTES > OPTIONS_BYTES))
		return;
	quell_opt_encode(&opt, options);
	memset(options + bytes, 0, QUELL_TCP_INT_BYTES);
	options[bytes] = QUELL_TCP_INT_KIND;
	options[bytes + 1] = QUELL_TCP_INT_BYTES;
}

/* Ethernet, IPv4 and TCP with its options. */
static void perfport_make_head(u8 *head)
{
	struct ethhdr *eth = (struct ethhdr *)head;
	struct iphdr *iph = (struct iphdr *)(head + ETH_HLEN);
	struct tcphdr *th = (struct tcphdr *)(iph + 1);

	memset(head, 0, HEAD_BYTES);
	eth->h_proto = htons(ETH_P_IP);
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->tos = ECT_0;
	iph->ttl = TTL_FORWARDED;
	iph->protocol = IPPROTO_TCP;
	iph->tot_len = htons(FRAME_BYTES - ETH_HLEN);
	iph->saddr = htonl(0x0a000001);
	iph->daddr = htonl(0x0a000002);
	ip_send_check(iph);
	th->source = htons(5001);
	th->dest = htons(5002);
	th->ack = 1;
	th->doff = (sizeof(*th) + OPTIONS_BYTES) / 4;
	perfport_put_options((u8 *)(th + 1));
}

static void perfport_restore(struct sk_buff *skb, struct net_device *dev)
{
	/* What a port has trimmed is longer in memory. */
	if (skb->len < FRAME_BYTES)
		skb_put(skb, FRAME_BYTES - skb->len);
	memcpy(skb->data, perfport_head, HEAD_BYTES);
	memset(skb->cb, 0, sizeof(skb->cb));
	skb->next = NULL;
	skb->prev = NULL;
	skb->tstamp = 0;
	skb->dev = dev;
	quell_qdisc_set_pkt_len(skb);
}

static int perfport_make_packets(struct net_device *dev)
{
	int i;

	perfport_make_head(perfport_head);
	for (i = 0; i < BATCH; i++) {
		struct sk_buff *skb = netdev_alloc_skb(dev, FRAME_BYTES);

		if (!skb)
			return -ENOMEM;
		skb_put_zero(skb, FRAME_BYTES);
		skb_reset_mac_header(skb);
		skb_set_network_header(skb, ETH_HLEN);
		skb_set_transport_header(skb, ETH_HLEN + sizeof(struct iphdr));
		skb->protocol = htons(ETH_P_IP);
		perfport_restore(skb, dev);
		skb_get_hash(skb);
		perfport_skb[i] = skb;
	}
	return 0;
}

static void perfport_free_packets(void)
{
	int i;

	for (i = 0; i < BATCH; i++) {
		kfree_skb(perfport_skb[i]);
		perfport_skb[i] = NULL;
	}
}

static void perfport_lock(struct Qdisc *q)
{
	if (!(q->flags & TCQ_F_NOLOCK))
		spin_lock(qdisc_lock(q));
}

static void perfport_unlock(struct Qdisc *q)
{
	if (!(q->flags & TCQ_F_NOLOCK))
		spin_unlock(qdisc_lock(q));
}

/* How many were queued; what was not is freed. */
static int perfport_enqueue(struct Qdisc *q, u64 *ticks)
{
	struct sk_buff *to_free = NULL;
	int i, queued = 0;
	u64 start;

	start = perfport_ticks();
	for (i = 0; i < BATCH; i++) {
		perfport_lock(q);
		queued += q->enqueue(perfport_skb[i], q, &to_free) == NET_XMIT_SUCCESS;
		perfport_unlock(q);
	}
	*ticks = perfport_ticks() - start;
	kfree_skb_list(to_free);
	return queued;
}

static int perfport_dequeue(struct Qdisc *q, u64 *ticks)
{
	int i, taken = 0;
	u64 start;

	start = perfport_ticks();
	for (i = 0; i < BATCH; i++) {
		perfport_lock(q);
		perfport_skb[taken] = q->dequeue(q);
		perfport_unlock(q);
		taken += !!perfport_skb[taken];
	}
	*ticks = perfport_ticks() - start;
	return taken;
}

/* One round; all packets must come back. */
static int perfport_round(struct net_device *dev, struct Qdisc *q, u64 *enqueue, u64 *dequeue)
{
	int i, queued, taken;

	for (i = 0; i < BATCH; i++)
		perfport_restore(perfport_skb[i], dev);
	local_bh_disable();
	queued = perfport_enqueue(q, enqueue);
	taken = perfport_dequeue(q, dequeue);
	for (i = taken; i < BATCH; i++)
		perfport_skb[i] = NULL;
	local_bh_enable();
	return queued == BATCH && taken == BATCH ? 0 : -EIO;
}

static int perfport_measure(struct net_device *dev)
{
	u64 enqueue, dequeue, best_enqueue = U64_MAX, best_dequeue = U64_MAX;
	struct Qdisc *q = rtnl_dereference(dev->qdisc);
	int err, i;

	err = perfport_make_packets(dev);
	for (i = 0; !err && i < ROUNDS; i++) {
		usleep_range(ROUND_US, ROUND_US + 1);
		err = perfport_round(dev, q, &enqueue, &dequeue);
		best_enqueue = min(best_enqueue, enqueue);
		best_dequeue = min(best_dequeue, dequeue);
	}
	perfport_free_packets();
	if (!err)
		snprintf(perfport_result, sizeof(perfport_result), "%llu %llu",
			 best_enqueue * 100 / BATCH, best_dequeue * 100 / BATCH);
	return err;
}

static int perfport_run(const char *value, const struct kernel_param *kp)
{
	char name[IFNAMSIZ];
	struct net_device *dev;
	int err;

	strscpy(name, value, sizeof(name));
	perfport_result[0] = 0;
	rtnl_lock();
	dev = __dev_get_by_name(&init_net, strim(name));
	err = dev ? perfport_measure(dev) : -ENODEV;
	rtnl_unlock();
	return err;
}

static int perfport_show(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", perfport_result);
}

static const struct kernel_param_ops perfport_ops = {
	.set = perfport_run,
	.get = perfport_show,
};

module_param_cb(run, &perfport_ops, NULL, 0600);
MODULE_PARM_DESC(run, "device whose root qdisc is measured; read: enqueue and dequeue, 1/100 tick");

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("What a root qdisc costs a packet");
MODULE_LICENSE("GPL");
