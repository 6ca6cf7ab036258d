// SPDX-License-Identifier: GPL-2.0
/*
 * Imitates a host's TCP-INT agent, as Quell on the same host sees it: while loaded,
 * each IPv4 segment but SYNs that leaves port AGENT_PORT has the option already when
 * it reaches Quell's hook.  The public agents have the stack write it, by BPF, which
 * this kernel lacks.  Of hooks with equal priority the one registered last runs first.
 */
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netfilter_ipv4.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#define AGENT_PORT	8080
#define OPTION_BYTES	12

static const u8 option[OPTION_BYTES] = { 0x72, OPTION_BYTES, 0xf0 };

static void agent_write(struct sk_buff *skb)
{
	u32 ip_bytes = skb_transport_offset(skb);
	u32 moved_bytes = ip_bytes + sizeof(struct tcphdr);
	u8 *headers = skb->data;
	struct tcphdr *th;
	struct iphdr *ip;

	skb_push(skb, OPTION_BYTES);
	memmove(skb->data, headers, moved_bytes);
	memcpy(skb->data + moved_bytes, option, OPTION_BYTES);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, ip_bytes);
	skb->csum_start -= OPTION_BYTES;
	th = tcp_hdr(skb);
	th->doff += OPTION_BYTES / 4;
	ip = ip_hdr(skb);
	ip->tot_len = htons(skb->len);
	ip_send_check(ip);
	th->check = ~tcp_v4_check(skb->len - ip_bytes, ip->saddr, ip->daddr, 0);
}

static unsigned int agent_out(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	const struct tcphdr *th = tcp_hdr(skb);

	if (ip_hdr(skb)->protocol == IPPROTO_TCP && th->source == htons(AGENT_PORT) &&
	    !th->syn && skb->ip_summed == CHECKSUM_PARTIAL &&
	    __tcp_hdrlen(th) + OPTION_BYTES <= 60 && !skb_cow_head(skb, OPTION_BYTES))
		agent_write(skb);
	return NF_ACCEPT;
}

static const struct nf_hook_ops agent_hook = {
	.hook		= agent_out,
	.pf		= NFPROTO_IPV4,
	.hooknum	= NF_INET_LOCAL_OUT,
	.priority	= NF_IP_PRI_FIRST,
};

static int __net_init agent_net_init(struct net *net)
{
	return nf_register_net_hook(net, &agent_hook);
}

static void __net_exit agent_net_exit(struct net *net)
{
	nf_unregister_net_hook(net, &agent_hook);
}

static struct pernet_operations agent_net_ops = {
	.init = agent_net_init,
	.exit = agent_net_exit,
};

static int __init agent_init(void)
{
	return register_pernet_subsys(&agent_net_ops);
}

static void __exit agent_exit(void)
{
	unregister_pernet_subsys(&agent_net_ops);
}

module_init(agent_init);
module_exit(agent_exit);

MODULE_DESCRIPTION("TCP-INT option before Quell's, for tests");
MODULE_LICENSE("GPL");
