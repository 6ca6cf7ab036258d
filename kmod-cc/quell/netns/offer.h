/* SPDX-License-Identifier: GPL-2.0 */
/* Interface of offer.c: negotiation of the Quell option. */
#ifndef _QUELL_OFFER_H
#define _QUELL_OFFER_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct quell_net;
struct sk_buff;
struct tcphdr;

#define QUELL_OFFER_BUCKETS	64U

/* Retransmissions of a SYN that still carry the offer. */
#define QUELL_SYN_OFFERS_MAX	1

/**
 * struct quell_offers - offers received, until ->init takes them
 * @lock:   protects the other fields
 * @bucket: struct offer_entry, by hash of the connection
 * @ages:   the same offers, oldest first
 * @nr:     number of offers
 */
struct quell_offers {
	spinlock_t		lock;	/* protects the rest */
	struct hlist_head	bucket[QUELL_OFFER_BUCKETS];
	struct list_head	ages;
	u32			nr;
};

/**
 * struct quell_offer_key - a connection, as this host's sockets see it
 * @local:   this host's address, IPv4 in the first word, the rest zero
 * @peer:    the peer's address, in the same form
 * @sport:   this host's port, network order
 * @dport:   the peer's port, network order
 * @ifindex: interface the socket is bound to; 0 if it is unbound
 */
struct quell_offer_key {
	struct in6_addr	local;
	struct in6_addr	peer;
	__be16		sport;
	__be16		dport;
	int		ifindex;
};

void quell_offer_net_init(struct quell_net *qnet);
void quell_offer_net_exit(struct quell_net *qnet);
void quell_offer_key(struct quell_offer_key *key, const struct sk_buff *skb,
		     const struct tcphdr *th, bool out, int ifindex);
void quell_offer_store_syn(struct quell_net *qnet, const struct quell_offer_key *key,
			   u8 version);
bool quell_offer_is_pending(struct quell_net *qnet, const struct quell_offer_key *key);
void quell_offer_store(struct quell_net *qnet, const struct quell_offer_key *key);
bool quell_offer_claim(struct quell_net *qnet, const struct quell_offer_key *key);

#endif /* _QUELL_OFFER_H */
