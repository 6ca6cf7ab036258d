/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finding the connection a segment belongs to.  7.x dropped the table from the
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
quell_inet_lookup(struct net *net, __be32 saddr, __be16 sport, __be32 daddr,
		  __be16 dport, int dif, int sdif)
{
#ifdef QUELL_HAVE_INET_LOOKUP_HASHINFO
	return __inet_lookup_established(net, net->ipv4.tcp_death_row.hashinfo,
					 saddr, sport, daddr, ntohs(dport),
					 dif, sdif);
#else
	return __inet_lookup_established(net, saddr, sport, daddr,
					 ntohs(dport), dif, sdif);
#endif
}

#if IS_ENABLED(CONFIG_IPV6)
static inline struct sock *
quell_inet6_lookup(struct net *net, const struct in6_addr *saddr, __be16 sport,
		   const struct in6_addr *daddr, __be16 dport, int dif, int sdif)
{
#ifdef QUELL_HAVE_INET_LOOKUP_HASHINFO
	return __inet6_lookup_established(net, net->ipv4.tcp_death_row.hashinfo,
					  saddr, sport, daddr, ntohs(dport),
					  dif, sdif);
#else
	return __inet6_lookup_established(net, saddr, sport, daddr,
					  ntohs(dport), dif, sdif);
#endif
}
#endif

#endif /* _QUELL_COMPAT_INET_LOOKUP_H */
