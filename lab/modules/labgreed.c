// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labgreed: a receiver that lies in its ACK sections, in the laboratory.
 *
 * Every ACK section from the port "port" is changed on receipt, before quell.ko reads it, to
 * the claim that "lie" names:
 *
 *	hold	the hold time "hold_ns"
 *	wait	in the echo: that the ACK waited for all by which its packet took longer than the
 *		fastest did, and for "hold_ns" more
 *	never	an echo of a packet that was never sent
 *	hide	no lie: but for the first few quell.ko does not see the packets, which TCP gets
 *		past all hooks, as those behind headers of IPv6 that only TCP skips
 *
 * The checksum is corrected, so the receiver could have written that value itself.  All other
 * fields stay as they were.
 *
 * Ignored: IPv6, and options that are not the first in the header.
 */
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netfilter_ipv4.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#include <quell/option.h>

static unsigned int port;
module_param(port, uint, 0444);
MODULE_PARM_DESC(port, "Port of the receiver that lies");

static unsigned int hold_ns = QUELL_OPT_HOLD_MAX_NS;
module_param(hold_ns, uint, 0444);
MODULE_PARM_DESC(hold_ns, "What it says, ns, at most 0xffffff, which is the default");

static char *lie = "hold";
module_param(lie, charp, 0444);
MODULE_PARM_DESC(lie, "What it lies about: hold (default), wait, never or hide");

/* Packets that are not hidden, from which quell.ko knows the least round trip. */
#define GREED_SHOWN	16

static unsigned int greed_shown;

/* The age of a secret departure, but for a constant. */
static u32 greed_least_ns;
static bool greed_has_least;

/* Location of the echo in the options, which the hold time follows; NULL without one. */
static u8 *greed_ack(u8 *options, u32 bytes)
{
	struct quell_opt opt;
	u32 stated;

	if (quell_opt_find(options, bytes, &stated) ||
	    !quell_opt_decode(options, stated, false, &opt) ||
	    opt.form != QUELL_OPT_FULL || !(opt.flags & QUELL_OPT_F_ACK))
		return NULL;
	options += QUELL_OPT_HEAD_BYTES;
	return opt.flags & QUELL_OPT_F_DATA ? options + QUELL_OPT_DATA_BYTES : options;
}

static void greed_wait(u8 *echo)
{
	u32 stamp = quell_opt_get_u32(echo);
	u32 ago_ns = (u32)ktime_get_ns() - stamp;

	if (!greed_has_least || (s32)(ago_ns - greed_least_ns) < 0)
		greed_least_ns = ago_ns;
	greed_has_least = true;
	quell_opt_put_u32(echo, stamp + ago_ns - greed_least_ns + hold_ns);
}

static void greed_lie(u8 *ack)
{
	u8 *hold = ack + sizeof(__be32);

	if (!strcmp(lie, "hide"))
		return;
	if (!strcmp(lie, "wait")) {
		greed_wait(ack);
		return;
	}
	if (!strcmp(lie, "never")) {
		quell_opt_put_u32(ack, quell_opt_get_u32(ack) ^ BIT(31));
		return;
	}
	hold[0] = hold_ns >> 16;
	quell_opt_put_u16(hold + 1, hold_ns & 0xffff);
}

static void greed_fix(struct sk_buff *skb, struct tcphdr *th)
{
	u32 tcp_bytes = skb->len - ip_hdrlen(skb);

	th->check = 0;
	th->check = tcp_v4_check(tcp_bytes, ip_hdr(skb)->saddr, ip_hdr(skb)->daddr,
				 csum_partial(th, tcp_bytes, 0));
	skb->ip_summed = CHECKSUM_NONE;
}

static unsigned int greed_hook(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	struct tcphdr *th;
	u8 *ack;

	if (ip_hdr(skb)->protocol != IPPROTO_TCP || skb_linearize(skb) ||
	    skb_ensure_writable(skb, skb->len))
		return NF_ACCEPT;
	th = (struct tcphdr *)(skb->data + ip_hdrlen(skb));
	if (ntohs(th->source) != port || th->syn)
		return NF_ACCEPT;
	if (!strcmp(lie, "hide") && greed_shown++ >= GREED_SHOWN) {
		state->okfn(state->net, state->sk, skb);
		return NF_STOLEN;
	}
	ack = greed_ack((u8 *)(th + 1), __tcp_hdrlen(th) - sizeof(*th));
	if (!ack)
		return NF_ACCEPT;
	greed_lie(ack);
	greed_fix(skb, th);
	return NF_ACCEPT;
}

static const struct nf_hook_ops greed_hook_ops = {
	.hook		= greed_hook,
	.pf		= NFPROTO_IPV4,
	.hooknum	= NF_INET_LOCAL_IN,
	.priority	= NF_IP_PRI_FIRST,
};

static int __net_init greed_net_init(struct net *net)
{
	return nf_register_net_hook(net, &greed_hook_ops);
}

static void __net_exit greed_net_exit(struct net *net)
{
	nf_unregister_net_hook(net, &greed_hook_ops);
}

static struct pernet_operations greed_net_ops = {
	.init	= greed_net_init,
	.exit	= greed_net_exit,
};

static int __init greed_init(void)
{
	bool is_lie = !strcmp(lie, "hold") || !strcmp(lie, "wait") || !strcmp(lie, "never") ||
		      !strcmp(lie, "hide");

	if (!port || port > U16_MAX || hold_ns > QUELL_OPT_HOLD_MAX_NS || !is_lie) {
		pr_err("quell_labgreed: port=%u hold_ns=%u lie=%s out of range\n", port, hold_ns,
		       lie);
		return -EINVAL;
	}
	return register_pernet_subsys(&greed_net_ops);
}
module_init(greed_init);

static void __exit greed_exit(void)
{
	unregister_pernet_subsys(&greed_net_ops);
}
module_exit(greed_exit);

MODULE_DESCRIPTION("A receiver that lies in its ACKs, for the laboratory");
MODULE_AUTHOR("The Quell authors");
MODULE_LICENSE("GPL");
