/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who offered the Quell option, offer.c, as the rest of quell.ko sees it.
 */
#ifndef _QUELL_OFFER_H
#define _QUELL_OFFER_H

#include <linux/in6.h>
#include <linux/types.h>

struct quell_net;
struct sk_buff;
struct tcphdr;

/* What this host offered on a connection; offer.c. */
#define QUELL_OFFER_NONE	0
#define QUELL_OFFER_MADE	1
#define QUELL_OFFER_NO_ROOM	2

/**
 * struct quell_offer_key - a connection as offer.c names it
 * @local: this host's address, IPv4 in the first word and zeros behind
 * @peer:  the other host's
 * @sport: this host's port, network order
 * @dport: the other host's
 * @zero:  0, for the whole is hashed
 */
struct quell_offer_key {
	struct in6_addr	local;
	struct in6_addr	peer;
	__be16		sport;
	__be16		dport;
	u32		zero;
};

int quell_offers_net_init(struct quell_net *qnet);
void quell_offers_net_exit(struct quell_net *qnet);
void quell_offer_key(struct quell_offer_key *key, const struct in6_addr *local,
		     const struct in6_addr *peer, __be16 sport, __be16 dport);
void quell_offer_key_of(struct quell_offer_key *key, const struct sk_buff *skb,
			const struct tcphdr *th, bool out);
void quell_offer_peer(struct quell_net *qnet, const struct quell_offer_key *key,
		      u8 version);
void quell_offer_own(struct quell_net *qnet, const struct quell_offer_key *key, u8 own);
u8 quell_offer_get(struct quell_net *qnet, const struct quell_offer_key *key, u8 *own);

#endif /* _QUELL_OFFER_H */
