/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finding the connection a received segment belongs to.  7.x dropped the table from the
 * arguments; before, tcp_hashinfo itself is not exported, but the namespace
 * has a pointer to it.
 */
#ifndef _QUELL_COMPAT_INET_LOOKUP_H
#define _QUELL_COMPAT_INET_LOOKUP_H

#include <compat/compat.h>
#include <net/inet_hashtables.h>
#if IS_ENABLED(CONFIG_IPV6)
#include <net/inet6_hashtables.h>
#endif

static inline struct sock *
quell_inet_lookup(struct net *net, struct sk_buff *skb, const struct tcphdr *th)
{
	const struct iphdr *iph = ip_hdr(skb);

#ifdef QUELL_HAVE_INET_LOOKUP_HASHINFO
	return __inet_lookup_established(net, net->ipv4.tcp_death_row.hashinfo,
					 iph->saddr, th->source, iph->daddr,
					 ntohs(th->dest), inet_iif(skb), inet_sdif(skb));
#else
	return __inet_lookup_established(net, iph->saddr, th->source, iph->daddr,
					 ntohs(th->dest), inet_iif(skb), inet_sdif(skb));
#endif
}

#if IS_ENABLED(CONFIG_IPV6)
static inline struct sock *
quell_inet6_lookup(struct net *net, struct sk_buff *skb, const struct tcphdr *th)
{
	const struct ipv6hdr *ip6h = ipv6_hdr(skb);

#ifdef QUELL_HAVE_INET_LOOKUP_HASHINFO
	return __inet6_lookup_established(net, net->ipv4.tcp_death_row.hashinfo,
					  &ip6h->saddr, th->source, &ip6h->daddr,
					  ntohs(th->dest), inet6_iif(skb), inet6_sdif(skb));
#else
	return __inet6_lookup_established(net, &ip6h->saddr, th->source, &ip6h->daddr,
					  ntohs(th->dest), inet6_iif(skb), inet6_sdif(skb));
#endif
}
#endif

#endif /* _QUELL_COMPAT_INET_LOOKUP_H */
