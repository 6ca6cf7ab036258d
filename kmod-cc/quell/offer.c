// SPDX-License-Identifier: GPL-2.0
/*
 * Who offered the Quell option while a connection opened.
 *
 * The option is spoken only when both ends offered it on their SYN.  When SYNs
 * pass the hooks there is no flow context yet, a listener keeps no socket for
 * a half-open connection, and a flood of SYNs must cost no memory: what was
 * seen is remembered in a table of fixed size, one word per connection, placed
 * by a keyed hash of addresses and ports.  Two connections that fall on one
 * place overwrite each other; the loser's is plain TCP.
 *
 *	word:	tag (32)	of the hash, so that others are not taken for it
 *		time (16)	seconds; forgotten after OFFER_LIFE_SEC
 *		own (8)		QUELL_OFFER_*: what this host did
 *		peer (8)	version the peer offered, 0 none
 */
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "internal.h"

/* A SYN-ACK is sent for a minute at most; one more for the last ACK. */
#define OFFER_LIFE_SEC		128

#define OFFERS_NR		1024

static siphash_key_t offer_secret __read_mostly;

static u64 offer_hash(const struct quell_offer_key *key)
{
	return siphash(key, sizeof(*key), &offer_secret);
}

static atomic64_t *offer_place(struct quell_net *qnet, u64 hash)
{
	return &qnet->offers[hash & (OFFERS_NR - 1)];
}

static u64 offer_word(u64 hash, u8 own, u8 peer)
{
	u64 now_sec = (u16)ktime_get_seconds();

	return (hash & ~(u64)U32_MAX) | now_sec << 16 | (u16)(own << 8) | peer;
}

static bool offer_is(u64 word, u64 hash)
{
	u16 age_sec = (u16)ktime_get_seconds() - (u16)(word >> 16);

	return word && word >> 32 == hash >> 32 && age_sec < OFFER_LIFE_SEC;
}

/**
 * quell_offer_key() - name of a connection, as the hooks see it
 * @key:   set in full
 * @local: this host's address, IPv4 in the first word and zeros behind
 * @peer:  the other host's
 * @sport: this host's port, network order
 * @dport: the other host's
 *
 * Context: any.
 */
void quell_offer_key(struct quell_offer_key *key, const struct in6_addr *local,
		     const struct in6_addr *peer, __be16 sport, __be16 dport)
{
	key->local = *local;
	key->peer = *peer;
	key->sport = sport;
	key->dport = dport;
	key->zero = 0;
}

/**
 * quell_offer_key_of() - name of the connection a packet belongs to
 * @key: set in full
 * @skb: packet, from the network header on
 * @th:  its TCP header
 * @out: it leaves this host; false: it came in
 *
 * Context: any.
 */
void quell_offer_key_of(struct quell_offer_key *key, const struct sk_buff *skb,
			const struct tcphdr *th, bool out)
{
	struct in6_addr from = {}, to = {};

	if (ip_hdr(skb)->version == 4) {
		from.s6_addr32[0] = ip_hdr(skb)->saddr;
		to.s6_addr32[0] = ip_hdr(skb)->daddr;
	} else {
		from = ipv6_hdr(skb)->saddr;
		to = ipv6_hdr(skb)->daddr;
	}
	if (out)
		quell_offer_key(key, &from, &to, th->source, th->dest);
	else
		quell_offer_key(key, &to, &from, th->dest, th->source);
}

/**
 * quell_offer_peer() - a SYN or SYN-ACK came in
 * @qnet:    namespace
 * @key:     connection
 * @version: version it offers; 0: it has no option, and what an earlier
 *	     connection of the same name offered is forgotten
 *
 * Context: any but hard interrupts.
 */
void quell_offer_peer(struct quell_net *qnet, const struct quell_offer_key *key,
		      u8 version)
{
	u64 hash = offer_hash(key);
	atomic64_t *place = offer_place(qnet, hash);
	u64 word = atomic64_read(place);
	bool known = offer_is(word, hash);

	if (!version && !known)
		return;
	atomic64_set(place, offer_word(hash, known ? word >> 8 : 0, version));
}

/**
 * quell_offer_own() - a SYN or SYN-ACK left
 * @qnet: namespace
 * @key:  connection
 * @own:  QUELL_OFFER_*
 *
 * Context: any but hard interrupts.
 */
void quell_offer_own(struct quell_net *qnet, const struct quell_offer_key *key, u8 own)
{
	u64 hash = offer_hash(key);
	atomic64_t *place = offer_place(qnet, hash);
	u64 word = atomic64_read(place);

	atomic64_set(place, offer_word(hash, own, offer_is(word, hash) ? word : 0));
}

/**
 * quell_offer_get() - what was offered
 * @qnet: namespace
 * @key:  connection
 * @own:  set to QUELL_OFFER_* of this host
 *
 * Context: any but hard interrupts.
 * Return: version the peer offered; 0 none.
 */
u8 quell_offer_get(struct quell_net *qnet, const struct quell_offer_key *key, u8 *own)
{
	u64 hash = offer_hash(key);
	u64 word = atomic64_read(offer_place(qnet, hash));

	*own = QUELL_OFFER_NONE;
	if (!offer_is(word, hash))
		return 0;
	*own = word >> 8;
	return word;
}

int quell_offers_net_init(struct quell_net *qnet)
{
	net_get_random_once(&offer_secret, sizeof(offer_secret));
	qnet->offers = kcalloc(OFFERS_NR, sizeof(*qnet->offers), GFP_KERNEL_ACCOUNT);
	return qnet->offers ? 0 : -ENOMEM;
}

/* The hooks are gone. */
void quell_offers_net_exit(struct quell_net *qnet)
{
	kfree(qnet->offers);
}
