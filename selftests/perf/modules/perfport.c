// SPDX-License-Identifier: GPL-2.0
/*
 * Cost of a qdisc per packet, the root's, or below mq that of the first queue: enqueue and
 * dequeue called as the stack calls them, under their lock, and counted in ticks of the
 * processor's counter.  In user-mode Linux, which is native code, a tick is the machine's;
 * under QEMU's -icount it is an instruction.
 *
 *	echo DEV [KIND] > /sys/module/quell_perfport/parameters/run
 *	cat /sys/module/quell_perfport/parameters/run
 *
 * prints, in hundredths of a tick per packet, the minimum of ROUNDS rounds:
 * "ENQUEUE DEQUEUE".  A round enqueues BATCH packets into the empty qdisc and takes
 * them out again; before it, the packets are restored and time passes, for shapers.  Time
 * passes in between, too: so a wire of 1 Tbit/s could have sent them all, and swport, which
 * makes good for a late timer, lets them go.
 * The packets are TCP data of 1514 bytes, forwarded once, ECN-capable, with space for
 * a telemetry record and a TCP-INT option, and ask for an ACK; their hash is known, as
 * from a NIC.
 *
 * With "bare" they have TCP's timestamps instead, as those of other hosts.
 *
 * With "super" and "pushed" they are super-packets of 44 such segments, 8 in a batch, and
 * figures are per super-packet.  DEQUEUE is until the qdisc is empty, and includes freeing
 * its output, whole or in segments.  Only those of "pushed" request an ACK.
 *
 * The other kinds are for swport's deflection with 8 entries or more, a threshold of
 * one packet less a byte and DSCP 1 for a token.  The packets before the batch are not
 * counted:
 *
 *	KIND	before				the batch
 *	data	-				one flow
 *	miss	a packet that stays, and 8	one flow, not one of those
 *		flows that are deflected
 *	hit	a packet that stays, and one	that flow's
 *		flow that is deflected
 *	start	a packet that stays		each begins a flow, which is deflected
 *
 * Packets that are deflected do not come out of the qdisc.  They leave by another
 * device from a softirq, and DEQUEUE is the time of that, that device included.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/tcp.h>
#include <compat/qdisc.h>
#include <quell/option.h>
#include <quell/tcp_int.h>

#define BATCH		32
#define SUPERS		8
#define SEGMENTS	44
#define ROUNDS		1000
#define ROUND_US	2000
#define WIRE_US		10	/* more than a batch takes at 1 Tbit/s */
#define FRAME_BYTES	1514
#define HEAD_BYTES	128	/* bytes that a qdisc may write to */
#define OPTIONS_BYTES	40
#define ECT_0		2
#define TTL_FORWARDED	63
#define DSCP_TOKEN	1
#define DSCP_SHIFT	2
#define STARTERS_MAX	8

/* Source ports of the batch, and of the packets before it. */
#define PORT_DATA	5001
#define PORT_STAYS	6000
#define PORT_STARTERS	6001

/* The packets of a round. */
struct perfport_kind {
	const char	*name;	/* argument of the user */
	u32		starters;	/* number of flows that are deflected before the batch */
	bool		stays;	/* a packet that stays in the queue is enqueued first */
	u16		port;	/* source port of the batch */
	bool		begins;	/* each packet of the batch begins a flow of its own */
	bool		leaves;	/* all of the batch is deflected */
	bool		super;	/* super-packets */
	bool		pushed;	/* the packets ask for an ACK */
	bool		bare;	/* they have TCP's timestamps instead of the options */
};

static const struct perfport_kind perfport_kinds[] = {
	{ .name = "data", .port = PORT_DATA, .pushed = true },
	{ .name = "bare", .port = PORT_DATA, .pushed = true, .bare = true },
	{ .name = "super", .port = PORT_DATA, .super = true },
	{ .name = "pushed", .port = PORT_DATA, .super = true, .pushed = true },
	{ .name = "miss", .port = PORT_DATA, .stays = true, .starters = STARTERS_MAX },
	{ .name = "hit", .port = PORT_STARTERS, .stays = true, .starters = 1, .leaves = true },
	{ .name = "start", .port = PORT_DATA, .stays = true, .begins = true, .leaves = true },
};

/* Packets of a round in the order of enqueueing, those before the batch first. */
static struct sk_buff *perfport_skb[1 + STARTERS_MAX + BATCH];
static u8 perfport_head[HEAD_BYTES];
static struct page *perfport_page;	/* the payload of all super-packets */
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

/* Bytes of headers, and of payload of a segment. */
#define HEADERS_BYTES	(ETH_HLEN + sizeof(struct iphdr) + sizeof(struct tcphdr) + OPTIONS_BYTES)
#define PAYLOAD_BYTES	(FRAME_BYTES - HEADERS_BYTES)

/* Build the Ethernet, IPv4 and TCP headers with the options. */
static void perfport_make_head(u8 *head, const struct perfport_kind *kind)
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
	th->psh = kind->pushed;
	th->doff = (sizeof(*th) + OPTIONS_BYTES) / 4;
	perfport_put_options((u8 *)(th + 1));
	if (!kind->bare)
		return;
	th->doff = (sizeof(*th) + TCPOLEN_TSTAMP_ALIGNED) / 4;
	put_unaligned_be32(TCPOPT_NOP << 24 | TCPOPT_NOP << 16 | TCPOPT_TIMESTAMP << 8 |
			   TCPOLEN_TIMESTAMP, head + HEADERS_BYTES - OPTIONS_BYTES);
}

static void perfport_restore(struct sk_buff *skb, struct net_device *dev)
{
	/* Trimming shortens the packet but leaves its buffer. */
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

static struct sk_buff *perfport_make_packet(struct net_device *dev)
{
	struct sk_buff *skb = netdev_alloc_skb(dev, FRAME_BYTES);

	if (!skb)
		return NULL;
	skb_put_zero(skb, FRAME_BYTES);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb_set_transport_header(skb, ETH_HLEN + sizeof(struct iphdr));
	skb->protocol = htons(ETH_P_IP);
	perfport_restore(skb, dev);
	skb_get_hash(skb);
	return skb;
}

/* Turn a packet into the headers of a super-packet, and add its payload. */
static int perfport_make_super(struct sk_buff *skb)
{
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	u32 i, left_bytes = SEGMENTS * PAYLOAD_BYTES;

	skb_trim(skb, HEADERS_BYTES);
	for (i = 0; left_bytes; i++) {
		u32 bytes = min_t(u32, left_bytes, PAGE_SIZE);

		if (i == MAX_SKB_FRAGS)
			return -ENOSPC;
		get_page(perfport_page);
		skb_add_rx_frag(skb, i, perfport_page, 0, bytes, bytes);
		left_bytes -= bytes;
	}
	ip_hdr(skb)->tot_len = htons(skb->len - ETH_HLEN);
	ip_send_check(ip_hdr(skb));
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_headroom(skb) + skb_transport_offset(skb);
	skb->csum_offset = offsetof(struct tcphdr, check);
	shinfo->gso_type = SKB_GSO_TCPV4;
	shinfo->gso_size = PAYLOAD_BYTES;
	shinfo->gso_segs = SEGMENTS;
	quell_qdisc_set_pkt_len(skb);
	qdisc_skb_cb(skb)->pkt_len += (SEGMENTS - 1) * HEADERS_BYTES;
#ifdef QUELL_HAVE_QDISC_PKT_SEGS
	qdisc_skb_cb(skb)->pkt_segs = SEGMENTS;
#endif
	return 0;
}

static int perfport_prepare_supers(struct net_device *dev)
{
	u32 i;

	for (i = 0; i < SUPERS; i++) {
		kfree_skb(perfport_skb[i]);
		perfport_skb[i] = perfport_make_packet(dev);
		if (!perfport_skb[i])
			return -ENOMEM;
		if (perfport_make_super(perfport_skb[i]))
			return -ENOSPC;
	}
	return 0;
}

/* Make it a packet of the flow with that port; one that begins the flow pays a token. */
static void perfport_set_flow(struct sk_buff *skb, u16 port, bool begins)
{
	struct tcphdr *th = tcp_hdr(skb);

	th->source = htons(port);
	if (!begins)
		return;
	th->syn = 1;
	ip_hdr(skb)->tos |= DSCP_TOKEN << DSCP_SHIFT;
	ip_send_check(ip_hdr(skb));
}

/* Restore all packets of a round; allocate those that left. */
static int perfport_prepare(struct net_device *dev, const struct perfport_kind *kind)
{
	u32 i, before = kind->stays + kind->starters;

	for (i = 0; i < before + BATCH; i++) {
		if (perfport_skb[i])
			perfport_restore(perfport_skb[i], dev);
		else
			perfport_skb[i] = perfport_make_packet(dev);
		if (!perfport_skb[i])
			return -ENOMEM;
		if (i < kind->stays)
			perfport_set_flow(perfport_skb[i], PORT_STAYS, false);
		else if (i < before)
			perfport_set_flow(perfport_skb[i], PORT_STARTERS + i - 1, true);
		else
			perfport_set_flow(perfport_skb[i], kind->port + kind->begins * i,
					  kind->begins);
	}
	return 0;
}

static void perfport_free_packets(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(perfport_skb); i++) {
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

/*
 * Enqueue @nr packets from @first on and free those that the qdisc drops.  Return how
 * many it did not drop; @left is the number of deflected packets among these.
 */
static int perfport_enqueue(struct Qdisc *q, int first, int nr, u64 *ticks, int *left)
{
	struct sk_buff *to_free = NULL;
	int i, ret, taken = 0;
	u64 start;

	*left = 0;
	start = perfport_ticks();
	for (i = first; i < first + nr; i++) {
		perfport_lock(q);
		ret = q->enqueue(perfport_skb[i], q, &to_free);
		perfport_unlock(q);
		taken += (ret & ~__NET_XMIT_STOLEN) == NET_XMIT_SUCCESS;
		*left += !!(ret & __NET_XMIT_STOLEN);
	}
	*ticks = perfport_ticks() - start;
	kfree_skb_list(to_free);
	return taken;
}

/* Dequeue up to @nr packets, into @first and on; return how many there were. */
static int perfport_dequeue(struct Qdisc *q, int first, int nr, u64 *ticks)
{
	int i, taken = 0;
	u64 start;

	start = perfport_ticks();
	for (i = 0; i < nr; i++) {
		perfport_lock(q);
		perfport_skb[first + taken] = q->dequeue(q);
		perfport_unlock(q);
		taken += !!perfport_skb[first + taken];
	}
	*ticks = perfport_ticks() - start;
	return taken;
}

/* Run one round; all packets must come back or leave. */
static int perfport_round(struct net_device *dev, struct Qdisc *q,
			  const struct perfport_kind *kind, u64 *enqueue, u64 *dequeue)
{
	int before = kind->stays + kind->starters;
	int left_before, left, queued, taken;
	u64 ticks;

	if (perfport_prepare(dev, kind))
		return -ENOMEM;
	local_bh_disable();
	queued = perfport_enqueue(q, 0, before, &ticks, &left_before);
	queued += perfport_enqueue(q, before, BATCH, enqueue, &left);
	memset(perfport_skb, 0, sizeof(perfport_skb));
	udelay(WIRE_US);
	taken = perfport_dequeue(q, 0, BATCH, dequeue);
	taken += perfport_dequeue(q, taken, before, &ticks);
	ticks = perfport_ticks();
	local_bh_enable();
	if (kind->leaves)
		*dequeue = perfport_ticks() - ticks;
	return queued == before + BATCH && taken + left + left_before == queued &&
	       left_before == kind->starters && left == kind->leaves * BATCH ? 0 : -EIO;
}

/* Dequeue and free until there is no more; return how many bytes that was. */
static u32 perfport_drain(struct Qdisc *q, u64 *ticks)
{
	struct sk_buff *skb;
	u32 bytes = 0;
	u64 start;

	start = perfport_ticks();
	do {
		perfport_lock(q);
		skb = q->dequeue(q);
		perfport_unlock(q);
		bytes += skb ? qdisc_pkt_len(skb) : 0;
		consume_skb(skb);
	} while (skb);
	*ticks = perfport_ticks() - start;
	return bytes;
}

/* Run one round of super-packets; all that is queued must come out. */
static int perfport_round_supers(struct net_device *dev, struct Qdisc *q,
				 const struct perfport_kind *kind, u64 *enqueue, u64 *dequeue)
{
	int left, err;
	u32 bytes;

	err = perfport_prepare_supers(dev);
	if (err)
		return err;
	local_bh_disable();
	perfport_enqueue(q, 0, SUPERS, enqueue, &left);
	memset(perfport_skb, 0, sizeof(perfport_skb));
	udelay(WIRE_US);
	bytes = perfport_drain(q, dequeue);
	local_bh_enable();
	return bytes && !qdisc_qlen_sum(q) ? 0 : -EIO;
}

static int perfport_measure(struct net_device *dev, const struct perfport_kind *kind)
{
	u64 enqueue, dequeue, best_enqueue = U64_MAX, best_dequeue = U64_MAX;
	struct Qdisc *q = rtnl_dereference(netdev_get_tx_queue(dev, 0)->qdisc);
	u32 batch = kind->super ? SUPERS : BATCH;
	int err = 0, i;

	perfport_make_head(perfport_head, kind);
	for (i = 0; !err && i < ROUNDS; i++) {
		usleep_range(ROUND_US, ROUND_US + 1);
		err = (kind->super ? perfport_round_supers : perfport_round)
			(dev, q, kind, &enqueue, &dequeue);
		best_enqueue = min(best_enqueue, enqueue);
		best_dequeue = min(best_dequeue, dequeue);
	}
	perfport_free_packets();
	if (!err)
		snprintf(perfport_result, sizeof(perfport_result), "%llu %llu",
			 best_enqueue * 100 / batch, best_dequeue * 100 / batch);
	return err;
}

static const struct perfport_kind *perfport_kind_of(const char *name)
{
	int i;

	if (!name)
		return &perfport_kinds[0];
	for (i = 0; i < ARRAY_SIZE(perfport_kinds); i++)
		if (!strcmp(perfport_kinds[i].name, name))
			return &perfport_kinds[i];
	return NULL;
}

static int perfport_run(const char *value, const struct kernel_param *kp)
{
	char words[2 * IFNAMSIZ], *kind_name, *dev_name;
	const struct perfport_kind *kind;
	struct net_device *dev;
	int err;

	strscpy(words, value, sizeof(words));
	kind_name = strim(words);
	dev_name = strsep(&kind_name, " ");
	kind = perfport_kind_of(kind_name);
	perfport_result[0] = 0;
	if (!kind)
		return -EINVAL;
	rtnl_lock();
	dev = __dev_get_by_name(&init_net, dev_name);
	err = dev ? perfport_measure(dev, kind) : -ENODEV;
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

static int __init perfport_init(void)
{
	perfport_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	return perfport_page ? 0 : -ENOMEM;
}

static void __exit perfport_exit(void)
{
	put_page(perfport_page);
}

module_init(perfport_init);
module_exit(perfport_exit);
module_param_cb(run, &perfport_ops, NULL, 0600);
MODULE_PARM_DESC(run, "DEV [KIND]: measure its first qdisc; read: enqueue and dequeue, 1/100 tick");

MODULE_AUTHOR("The Quell authors");
MODULE_DESCRIPTION("What a qdisc costs a packet");
MODULE_LICENSE("GPL");
