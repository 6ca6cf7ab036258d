// SPDX-License-Identifier: GPL-2.0
/*
 * quell_nackstorm: made-up NACKs, and a check of TCP's own counts after each.
 *
 * It records data that leaves, and when (POST_ROUTING).  Before an ACK reaches the
 * sender of data (PRE_ROUTING) it inserts @copies NACKs that claim to be of the same
 * connection: of a packet, of part of one, of several bursts, of the FIN alone, in any
 * order and repeatedly.  They arrive at once, in softirq, and after each the socket's
 * queues are walked: packets_out, lost_out, retrans_out, sacked_out and sk_wmem_queued
 * must match them.
 *
 * @kinds selects; STORM_PACKET alone imitates a switch that trims copies and also
 * forwards the packets themselves.
 *
 *	debugfs quell_nackstorm:	"name number" a line
 */
#include <linux/debugfs.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netfilter_ipv4.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <net/tcp.h>
#include <compat/inet_lookup.h>
#include <quell/nack.h>

#include "flow/flow.h"
#include "signal/signal.h"
#include "netns/counters.h"
#include "netns/net.h"

/* Marks made-up packets, so that they do not cause more of them. */
#define STORM_MARK		0x6e61636b
#define STORM_SHOWN_MAX		10
#define STORM_SENT_MAX		128U
#define STORM_OPTIONS_BYTES	28U
#define STORM_HEADROOM_BYTES	128

/* The data that a NACK names, by bit of @kinds; its echo is of the departure of that packet. */
enum storm_kind {
	STORM_PACKET,		/* a packet, or burst, that left */
	STORM_PART,		/* any part of one */
	STORM_ACROSS,		/* from a byte within the packet on, up to 65535 bytes */
	STORM_FIN,		/* the FIN of a burst alone */
	STORM_OLD,		/* from before the packet to a byte within it */
	STORM_LIE,		/* a packet, with a departure it did not have */
	STORM_BARE,		/* a packet, without ACK flag and echo */
	STORM_ACK,		/* a packet, with an acknowledgment of data never sent */
	STORM_KINDS,
};

static const char * const storm_names[STORM_KINDS] = {
	"packet", "part", "across", "fin", "old", "lie", "bare", "ack",
};

static unsigned int seed = 1;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "Decides what is made up");

static unsigned int copies = 8;
module_param(copies, uint, 0644);
MODULE_PARM_DESC(copies, "NACKs made up before each ACK");

static unsigned int left;
module_param(left, uint, 0644);
MODULE_PARM_DESC(left, "NACKs still to be made up");

static unsigned int kinds = BIT(STORM_KINDS) - 1;
module_param(kinds, uint, 0644);
MODULE_PARM_DESC(kinds, "Bits of the kinds to be made up");

/* Data that left. */
struct storm_sent {
	u32	seq;	/* its first sequence number */
	u32	end_seq;	/* after its last, FIN counted */
	u32	depart_ns;	/* departure in its option */
	__be16	sport;	/* its local port */
	bool	fin;	/* it ends with the FIN */
};

/* A ring of the newest packets that left. */
static struct storm_sent storm_sent[STORM_SENT_MAX];
static u32 storm_sent_nr;
static u64 storm_random;
static u64 storm_by_kind[STORM_KINDS];
static u64 storm_walks, storm_wrong, storm_whole_fins, storm_believed_lies;
static u64 storm_full, storm_grown;
static struct dentry *storm_file;

static u32 storm_below(u32 below)
{
	storm_random ^= storm_random >> 12;
	storm_random ^= storm_random << 25;
	storm_random ^= storm_random >> 27;
	return (u32)((storm_random * 0x2545f4914f6cdd1dULL) >> 32) % below;
}

/* Decode the Quell option of a packet; false when it has no valid option. */
static bool storm_option(const struct sk_buff *skb, const struct tcphdr *th,
			 struct quell_opt *opt)
{
	u32 bytes = __tcp_hdrlen(th) - sizeof(*th), at, stated;
	const u8 *options = (const u8 *)(th + 1);

	at = quell_opt_find(options, bytes, &stated);
	return at != bytes && quell_opt_decode(options + at, stated, false, opt);
}

/* Record a packet that leaves with a departure time in its option. */
static unsigned int storm_leaves(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);
	const struct tcphdr *th;
	struct quell_opt opt;
	u32 payload_bytes;

	if (iph->protocol != IPPROTO_TCP || skb_headlen(skb) < ip_hdrlen(skb) + sizeof(*th))
		return NF_ACCEPT;
	th = (const struct tcphdr *)((const u8 *)iph + ip_hdrlen(skb));
	if (th->syn || skb_headlen(skb) < ip_hdrlen(skb) + __tcp_hdrlen(th) ||
	    !storm_option(skb, th, &opt) || opt.form != QUELL_OPT_FULL ||
	    !(opt.flags & QUELL_OPT_F_DATA))
		return NF_ACCEPT;
	payload_bytes = skb->len - ip_hdrlen(skb) - __tcp_hdrlen(th);
	storm_sent[storm_sent_nr++ % STORM_SENT_MAX] = (struct storm_sent) {
		.seq = ntohl(th->seq),
		.end_seq = ntohl(th->seq) + payload_bytes + th->fin,
		.depart_ns = opt.depart_ns,
		.sport = th->source,
		.fin = th->fin,
	};
	return NF_ACCEPT;
}

/* A random packet that the socket has outstanding; with @fin one that ends with the FIN. */
static const struct storm_sent *storm_choose(const struct sock *sk, bool fin)
{
	u32 nr = min(storm_sent_nr, STORM_SENT_MAX), tries, i;

	for (tries = 0; tries < 64; tries++) {
		i = nr ? storm_below(nr) : 0;
		if (nr && storm_sent[i].sport == inet_sk(sk)->inet_sport &&
		    after(storm_sent[i].end_seq, tcp_sk(sk)->snd_una) &&
		    !after(storm_sent[i].end_seq, tcp_sk(sk)->snd_nxt) &&
		    (!fin || storm_sent[i].fin))
			return &storm_sent[i];
	}
	return NULL;
}

/* Fill in the sequence range that a NACK of @kind names, relative to @from. */
static void storm_name(enum storm_kind kind, const struct storm_sent *from,
		       struct quell_nack *nack)
{
	u32 bytes = from->end_seq - from->seq, offset = storm_below(bytes);

	nack->seq = from->seq;
	nack->bytes = min_t(u32, bytes, U16_MAX);
	switch (kind) {
	case STORM_PART:
		nack->seq += offset;
		nack->bytes = 1 + storm_below(min_t(u32, bytes - offset, U16_MAX));
		break;
	case STORM_ACROSS:
		nack->seq += offset;
		nack->bytes = 1 + storm_below(U16_MAX);
		break;
	case STORM_FIN:
		nack->seq = from->end_seq - 1;
		nack->bytes = 1;
		break;
	case STORM_OLD:
		offset = storm_below(20000);
		nack->seq -= offset;
		nack->bytes = min_t(u32, offset + 1 + storm_below(bytes), U16_MAX);
		break;
	default:
		break;
	}
}

static u32 storm_options(enum storm_kind kind, const struct quell_nack *nack, u32 depart_ns,
			 u8 *to)
{
	struct quell_opt opt = {
		.form = QUELL_OPT_FULL,
		.flags = QUELL_OPT_F_ACK,
		.echo_ns = depart_ns,
	};
	u8 *options = to;

	/* Off by 1 s or more, not by microseconds: a burst has several departures. */
	if (kind == STORM_LIE)
		opt.echo_ns += (storm_below(2) ? 1 : -1) * (1000000000 + storm_below(1000000000));
	if (kind != STORM_BARE)
		to += quell_opt_encode(&opt, to);
	return to + quell_nack_encode(nack, to) - options;
}

/* Build the NACK with the sequence numbers of the genuine ACK. */
static struct sk_buff *storm_make(const struct sk_buff *genuine, enum storm_kind kind,
				  const struct quell_nack *nack, u32 depart_ns)
{
	u8 options[STORM_OPTIONS_BYTES + QUELL_OPT_MAX_BYTES];
	u32 bytes = storm_options(kind, nack, depart_ns, options);
	u32 tcp_bytes = sizeof(struct tcphdr) + bytes;
	struct sk_buff *skb;
	struct tcphdr *th;
	struct iphdr *iph;

	skb = alloc_skb(STORM_HEADROOM_BYTES + sizeof(*iph) + tcp_bytes, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, STORM_HEADROOM_BYTES);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, sizeof(*iph));
	iph = skb_put_data(skb, ip_hdr(genuine), sizeof(*iph));
	iph->ihl = sizeof(*iph) / 4;
	iph->tot_len = htons(sizeof(*iph) + tcp_bytes);
	ip_send_check(iph);
	th = skb_put_data(skb, tcp_hdr(genuine), sizeof(*th));
	skb_put_data(skb, options, bytes);
	tcp_flag_word(th) &= ~(TCP_FLAG_PSH | TCP_FLAG_URG | TCP_FLAG_ECE | TCP_FLAG_CWR);
	th->ack = kind != STORM_BARE;
	if (kind == STORM_ACK)
		th->ack_seq = htonl(ntohl(th->ack_seq) + (1U << 30));
	th->doff = tcp_bytes / 4;
	th->check = 0;
	th->check = tcp_v4_check(tcp_bytes, iph->saddr, iph->daddr,
				 csum_partial(th, tcp_bytes, 0));
	skb->dev = genuine->dev;
	skb->skb_iif = genuine->skb_iif;
	skb->protocol = htons(ETH_P_IP);
	skb->pkt_type = PACKET_HOST;
	skb->mark = STORM_MARK;
	return skb;
}

/* TCP's counts, worked out from its queues. */
struct storm_counts {
	u32	packets, lost, retrans, sacked;
	int	wmem_bytes;
	bool	sound;
};

static void storm_count(struct storm_counts *found, const struct sk_buff *skb)
{
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	u32 pkts = tcp_skb_pcount(skb);

	found->packets += pkts;
	found->lost += cb->sacked & TCPCB_LOST ? pkts : 0;
	found->retrans += cb->sacked & TCPCB_SACKED_RETRANS ? pkts : 0;
	found->sacked += cb->sacked & TCPCB_SACKED_ACKED ? pkts : 0;
	found->wmem_bytes += skb->truesize;
	if (!pkts || (pkts > 1 && (pkts - 1) * cb->tcp_gso_size >= skb->len) ||
	    cb->end_seq - cb->seq != skb->len + !!(cb->tcp_flags & TCPHDR_FIN))
		found->sound = false;
}

/* Check TCP's counts against its queues. */
static void storm_walk(struct sock *sk, const char *when)
{
	struct storm_counts found = { .sound = true };
	const struct tcp_sock *tp = tcp_sk(sk);
	u32 next_seq = tp->snd_una;
	struct sk_buff *skb;

	if (!((1 << sk->sk_state) & (TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_CLOSE_WAIT |
				     TCPF_LAST_ACK | TCPF_CLOSING)))
		return;
	for (skb = skb_rb_first(&sk->tcp_rtx_queue); skb; skb = skb_rb_next(skb)) {
		storm_count(&found, skb);
		if (TCP_SKB_CB(skb)->seq != next_seq && next_seq != tp->snd_una)
			found.sound = false;
		next_seq = TCP_SKB_CB(skb)->end_seq;
	}
	skb_queue_walk(&sk->sk_write_queue, skb)
		found.wmem_bytes += skb->truesize;
	storm_walks++;
	if (found.sound && found.packets == tp->packets_out && found.lost == tp->lost_out &&
	    found.retrans == tp->retrans_out && found.sacked == tp->sacked_out &&
	    found.wmem_bytes == sk->sk_wmem_queued &&
	    tcp_left_out(tp) <= tp->packets_out)
		return;
	if (storm_wrong++ < STORM_SHOWN_MAX)
		pr_info("quell_nackstorm: %s: packets %u/%u lost %u/%u retrans %u/%u sacked %u/%u wmem %d/%d sound %d\n",
			when, tp->packets_out, found.packets, tp->lost_out, found.lost,
			tp->retrans_out, found.retrans, tp->sacked_out, found.sacked,
			sk->sk_wmem_queued, found.wmem_bytes, found.sound);
}

static u64 storm_recovered(const struct quell_net *qnet)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(qnet->counters, cpu)->value[QUELL_N_NACK_RECOVERED];
	return sum;
}

static u32 storm_segments(const struct sock *sk)
{
	const struct sk_buff *skb;
	u32 nr = 0;

	for (skb = skb_rb_first(&sk->tcp_rtx_queue); skb; skb = skb_rb_next(skb))
		nr++;
	return nr;
}

/* Whether TCP would split only the first and the last segment (CVE-2019-11478). */
static bool storm_is_full(const struct sock *sk)
{
	return sk->sk_wmem_queued / 2 > sk->sk_sndbuf + 2 * SKB_TRUESIZE(GSO_LEGACY_MAX_SIZE);
}

/* Whether the last segment outstanding is a burst of full packets that ends with the FIN. */
static bool storm_is_whole(const struct sock *sk)
{
	const struct sk_buff *skb = skb_rb_last(&sk->tcp_rtx_queue);

	return skb && TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN && tcp_skb_pcount(skb) > 1 &&
	       tcp_skb_pcount(skb) * TCP_SKB_CB(skb)->tcp_gso_size == skb->len;
}

static bool storm_one(struct sock *sk, const struct sk_buff *genuine)
{
	enum storm_kind kind = storm_below(STORM_KINDS);
	const struct quell_net *qnet = quell_cc(sk)->flow->qnet;
	const struct storm_sent *from;
	struct quell_nack nack = {};
	struct sk_buff *skb;
	bool full = storm_is_full(sk);
	u32 segments;
	u64 recovered;

	if (!(kinds & BIT(kind)))
		return true;
	from = storm_choose(sk, kind == STORM_FIN);
	if (!from)
		return kind == STORM_FIN;
	storm_name(kind, from, &nack);
	skb = storm_make(genuine, kind, &nack, from->depart_ns);
	if (!skb)
		return false;
	storm_by_kind[kind]++;
	storm_whole_fins += kind == STORM_FIN && storm_is_whole(sk);
	left--;
	recovered = storm_recovered(qnet);
	segments = storm_segments(sk);
	netif_receive_skb(skb);
	if (full) {
		storm_full++;
		storm_grown += max(storm_segments(sk), segments) - segments;
	}
	if ((kind == STORM_LIE || kind == STORM_BARE || kind == STORM_ACK) &&
	    storm_recovered(qnet) != recovered)
		storm_believed_lies++;
	storm_walk(sk, storm_names[kind]);
	return true;
}

/* Whether a flow negotiated the option, has data outstanding and no process owns its socket. */
static bool storm_wants(const struct sock *sk)
{
	return sk_fullsock(sk) && !sock_owned_by_user_nocheck(sk) && quell_cc_ready(sk) &&
	       quell_cc(sk)->flow && quell_cc(sk)->flow->sk == sk &&
	       quell_cc(sk)->flow->option == QUELL_OPTION_ON && tcp_sk(sk)->packets_out;
}

static void storm(struct net *net, struct sk_buff *skb, const struct tcphdr *th)
{
	struct sock *sk;
	u32 i;

	sk = quell_inet_lookup(net, skb, th);
	if (!sk)
		return;
	for (i = 0; i < copies && left && storm_wants(sk); i++)
		if (!storm_one(sk, skb))
			break;
	sock_gen_put(sk);
}

static unsigned int storm_comes(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	const struct tcphdr *th;

	if (!left || skb->mark == STORM_MARK || ip_hdr(skb)->protocol != IPPROTO_TCP ||
	    !pskb_may_pull(skb, ip_hdrlen(skb) + sizeof(*th)))
		return NF_ACCEPT;
	skb_set_transport_header(skb, ip_hdrlen(skb));
	th = tcp_hdr(skb);
	if (th->ack && !th->syn && !th->fin && !th->rst)
		storm(state->net, skb, th);
	return NF_ACCEPT;
}

static const struct nf_hook_ops storm_hooks[] = {
	{
		.hook		= storm_comes,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= NF_IP_PRI_FIRST,
	}, {
		.hook		= storm_leaves,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_POST_ROUTING,
		.priority	= NF_IP_PRI_LAST,
	},
};

static int __net_init storm_net_init(struct net *net)
{
	return nf_register_net_hooks(net, storm_hooks, ARRAY_SIZE(storm_hooks));
}

static void __net_exit storm_net_exit(struct net *net)
{
	nf_unregister_net_hooks(net, storm_hooks, ARRAY_SIZE(storm_hooks));
}

static struct pernet_operations storm_net_ops = {
	.init	= storm_net_init,
	.exit	= storm_net_exit,
};

static int storm_show(struct seq_file *seq, void *unused)
{
	int i;

	for (i = 0; i < STORM_KINDS; i++)
		seq_printf(seq, "%s %llu\n", storm_names[i], storm_by_kind[i]);
	seq_printf(seq, "whole-fins %llu\nwalks %llu\nwrong %llu\nbelieved-lies %llu\n",
		   storm_whole_fins, storm_walks, storm_wrong, storm_believed_lies);
	seq_printf(seq, "full %llu\ngrown %llu\n", storm_full, storm_grown);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(storm);

static int __init storm_init(void)
{
	int err;

	storm_random = seed * 0x9e3779b97f4a7c15ULL + 1;
	err = register_pernet_subsys(&storm_net_ops);
	if (err)
		return err;
	storm_file = debugfs_create_file("quell_nackstorm", 0400, NULL, NULL, &storm_fops);
	return 0;
}
module_init(storm_init);

static void __exit storm_exit(void)
{
	debugfs_remove(storm_file);
	unregister_pernet_subsys(&storm_net_ops);
}
module_exit(storm_exit);

MODULE_DESCRIPTION("Made-up NACKs and TCP's counts after each, for self-tests");
MODULE_AUTHOR("The Quell authors");
MODULE_LICENSE("GPL");
