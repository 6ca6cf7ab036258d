// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labgreed: a receiver that reports a false hold time, in the laboratory.
 *
 * In every ACK section from the port "port" the hold time is set to "hold_ns" on
 * arrival, before quell.ko reads it.  The checksum is corrected, so the receiver could
 * have written that value itself.  All other fields stay as they were.
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

/* Location of the hold time in the options; NULL when they have no hold time. */
static u8 *greed_hold(u8 *options, u32 bytes)
{
	struct quell_opt opt;
	u32 stated;

	if (quell_opt_find(options, bytes, &stated) ||
	    !quell_opt_decode(options, stated, false, &opt) ||
	    opt.form != QUELL_OPT_FULL || !(opt.flags & QUELL_OPT_F_ACK))
		return NULL;
	options += QUELL_OPT_HEAD_BYTES + sizeof(__be32);
	return opt.flags & QUELL_OPT_F_DATA ? options + QUELL_OPT_DATA_BYTES : options;
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
	u8 *hold;

	if (ip_hdr(skb)->protocol != IPPROTO_TCP || skb_linearize(skb) ||
	    skb_ensure_writable(skb, skb->len))
		return NF_ACCEPT;
	th = (struct tcphdr *)(skb->data + ip_hdrlen(skb));
	if (ntohs(th->source) != port || th->syn)
		return NF_ACCEPT;
	hold = greed_hold((u8 *)(th + 1), __tcp_hdrlen(th) - sizeof(*th));
	if (!hold)
		return NF_ACCEPT;
	hold[0] = hold_ns >> 16;
	quell_opt_put_u16(hold + 1, hold_ns & 0xffff);
	greed_fix(skb, th);
	return NF_ACCEPT;
}

static const struct nf_hook_ops greed_hook_ops = {
	.hook		= greed_hook,
	.pf		= NFPROTO_IPV4,
	.hooknum	= NF_INET_PRE_ROUTING,
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
	if (!port || port > U16_MAX || hold_ns > QUELL_OPT_HOLD_MAX_NS) {
		pr_err("quell_labgreed: port=%u hold_ns=%u out of range\n", port, hold_ns);
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

MODULE_DESCRIPTION("A receiver that lies of its hold time, for the laboratory");
MODULE_AUTHOR("The Quell authors");
MODULE_LICENSE("GPL");
