/* SPDX-License-Identifier: GPL-2.0 */
/* Interface of offer.c: negotiation of the Quell option. */
#ifndef _QUELL_OFFER_H
#define _QUELL_OFFER_H

#include <linux/hashtable.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct quell_net;
struct sk_buff;
struct tcphdr;

#define QUELL_OFFER_BITS	6

/* Retransmissions of a SYN that still carry the offer. */
#define QUELL_SYN_OFFERS_MAX	1

/* Offers received, until ->init takes them. */
struct quell_offers {
	spinlock_t		lock;	/* protects the rest */
	/* struct offer_entry, by hash of the connection. */
	DECLARE_HASHTABLE(table, QUELL_OFFER_BITS);
	struct list_head	ages;	/* the same offers, oldest first */
	u32			nr;
};

/* The connection of a segment or a socket, as this host sees it. */
struct quell_offer_key {
	struct in6_addr	local;	/* IPv4 in the first word, the rest zero */
	struct in6_addr	peer;	/* in the same form */
	__be16		sport;	/* of this host */
	__be16		dport;
	int		ifindex;	/* the socket is bound to; 0: unbound */
};

void quell_offer_net_init(struct quell_net *qnet);
void quell_offer_net_exit(struct quell_net *qnet);
void quell_offer_key(struct quell_offer_key *key, const struct sk_buff *skb,
		     const struct tcphdr *th, bool out, int ifindex);
void quell_offer_store_syn(struct quell_net *qnet, const struct quell_offer_key *key);
bool quell_offer_is_pending(struct quell_net *qnet, const struct quell_offer_key *key);
void quell_offer_store(struct quell_net *qnet, const struct quell_offer_key *key,
		       u32 stamp_secret);
bool quell_offer_claim(struct quell_net *qnet, const struct quell_offer_key *key,
		       u32 *stamp_secret);

#endif /* _QUELL_OFFER_H */
