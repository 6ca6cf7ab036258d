// SPDX-License-Identifier: GPL-2.0
/*
 * Negotiation of the Quell option, Documentation/wire-format.md: the state between segments,
 * without a table that third parties can fill.
 *
 *	SYN to SYN-ACK		one word per CPU, the offer of the newest SYN, as TCP sends
 *				the SYN-ACK in the same softirq.  On PREEMPT_RT another softirq's
 *				SYN may replace it; the offer is then lost.
 *	SYN-ACK, ACK to ->init	the segment may be in a socket's backlog: offers are stored
 *				here under a keyed hash of the connection.
 * An offer is stored only for a connection that this host opened, or after the peer
 * completed the handshake with the right numbers: an off-path attacker cannot store one.
 */
#include <linux/jiffies.h>
#include <linux/once.h>
#include <linux/percpu.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "netns/offer.h"
#include "netns/net.h"

/* Lifetime of an offer: longer than a process owns a socket. */
#define OFFER_LIFETIME	(10 * HZ)

/* Offers stored per namespace; the oldest is dropped for one more. */
#define OFFER_MAX	4096U

/* The peer of the connection with this hash offered the option. */
struct offer_entry {
	struct hlist_node	node;
	struct list_head	age;
	u64			hash;
	unsigned long		born;	/* jiffies */
	u32			stamp_secret;	/* of the flow before; 0: no flow */
};

/* offer_tag() of the newest SYN that a CPU received, if it had an offer; else 0. */
static DEFINE_PER_CPU(u64, offer_syn);

static siphash_key_t offer_secret __read_mostly;

/* Namespaces may have connections of the same name. */
static u64 offer_hash(const struct quell_net *qnet, const struct quell_offer_key *key)
{
	net_get_random_once(&offer_secret, sizeof(offer_secret));
	return siphash(key, sizeof(*key), &offer_secret) ^ (uintptr_t)qnet;
}

/* Never 0, which stands for no offer. */
static u64 offer_tag(const struct quell_net *qnet, const struct quell_offer_key *key)
{
	return offer_hash(qnet, key) | 1;
}

void quell_offer_key(struct quell_offer_key *key, const struct sk_buff *skb,
		     const struct tcphdr *th, bool out, int ifindex)
{
	struct in6_addr from = {}, to = {};

	if (ip_hdr(skb)->version == 4) {
		from.s6_addr32[0] = ip_hdr(skb)->saddr;
		to.s6_addr32[0] = ip_hdr(skb)->daddr;
	} else {
		from = ipv6_hdr(skb)->saddr;
		to = ipv6_hdr(skb)->daddr;
	}
	*key = (struct quell_offer_key) {
		.local = out ? from : to,
		.peer = out ? to : from,
		.sport = out ? th->source : th->dest,
		.dport = out ? th->dest : th->source,
		.ifindex = ifindex,
	};
}

/* @key is NULL without an offer.  Softirq; else the record may be lost. */
void quell_offer_store_syn(struct quell_net *qnet, const struct quell_offer_key *key)
{
	/* this_cpu_write() may evaluate its argument with interrupts off. */
	u64 tag = key ? offer_tag(qnet, key) : 0;

	this_cpu_write(offer_syn, tag);
}

/*
 * Whether the SYN that this CPU has just received is that of the connection and offered the option;
 * true once per SYN.  LOCAL_OUT hook.
 */
bool quell_offer_is_pending(struct quell_net *qnet, const struct quell_offer_key *key)
{
	u64 tag = offer_tag(qnet, key);

	return this_cpu_cmpxchg(offer_syn, tag, 0) == tag;
}

static void offer_drop(struct quell_offers *offers, struct offer_entry *offer)
{
	hash_del(&offer->node);
	list_del(&offer->age);
	WRITE_ONCE(offers->nr, offers->nr - 1);
	kfree(offer);
}

static struct offer_entry *offer_find(struct quell_offers *offers, u64 hash)
{
	struct offer_entry *offer;

	hash_for_each_possible(offers->table, offer, node, hash)
		if (offer->hash == hash)
			return offer;
	return NULL;
}

static bool offer_is_expired(const struct offer_entry *offer)
{
	return time_after(jiffies, offer->born + OFFER_LIFETIME);
}

/* Drops expired offers, and the oldest for room; true if that had not expired. */
static bool offer_make_room(struct quell_offers *offers)
{
	struct offer_entry *oldest;
	bool young;

	while (!list_empty(&offers->ages)) {
		oldest = list_first_entry(&offers->ages, struct offer_entry, age);
		young = !offer_is_expired(oldest);
		if (young && offers->nr < OFFER_MAX)
			break;
		offer_drop(offers, oldest);
		if (young)
			return true;
	}
	return false;
}

static struct offer_entry *offer_alloc(struct quell_offers *offers, u64 hash)
{
	struct offer_entry *offer;

	offer = kmalloc(sizeof(*offer), GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);
	if (!offer)
		return NULL;
	offer->hash = hash;
	hash_add(offers->table, &offer->node, hash);
	list_add_tail(&offer->age, &offers->ages);
	WRITE_ONCE(offers->nr, offers->nr + 1);
	return offer;
}

/*
 * The connection is about to be established, or its flow with @stamp_secret ends.  Hooks,
 * ->release; not in hard interrupts.
 */
void quell_offer_store(struct quell_net *qnet, const struct quell_offer_key *key,
		       u32 stamp_secret)
{
	struct quell_offers *offers = &qnet->offers;
	u64 hash = offer_hash(qnet, key);
	struct offer_entry *offer;
	bool lost = false;

	spin_lock_bh(&offers->lock);
	offer = offer_find(offers, hash);
	if (offer) {
		list_move_tail(&offer->age, &offers->ages);
	} else {
		lost = offer_make_room(offers);
		offer = offer_alloc(offers, hash);
	}
	if (offer) {
		offer->born = jiffies;
		offer->stamp_secret = stamp_secret;
	}
	spin_unlock_bh(&offers->lock);
	if (lost || !offer)
		quell_count_reported(qnet, QUELL_N_OPTION_FORGOTTEN);
}

/*
 * Whether an offer was stored and has not expired.  It is removed.  @stamp_secret becomes that of
 * the former flow, if any.  Not in hard interrupts.
 */
bool quell_offer_claim(struct quell_net *qnet, const struct quell_offer_key *key,
		       u32 *stamp_secret)
{
	struct quell_offers *offers = &qnet->offers;
	struct offer_entry *offer;
	bool found = false;

	if (!READ_ONCE(offers->nr))
		return false;
	spin_lock_bh(&offers->lock);
	offer = offer_find(offers, offer_hash(qnet, key));
	if (offer) {
		found = !offer_is_expired(offer);
		*stamp_secret = offer->stamp_secret ?: *stamp_secret;
		offer_drop(offers, offer);
	}
	spin_unlock_bh(&offers->lock);
	return found;
}

void quell_offer_net_init(struct quell_net *qnet)
{
	spin_lock_init(&qnet->offers.lock);
	INIT_LIST_HEAD(&qnet->offers.ages);
}

/* Called when the hooks and the sockets of the namespace are gone. */
void quell_offer_net_exit(struct quell_net *qnet)
{
	struct quell_offers *offers = &qnet->offers;
	struct offer_entry *offer, *next;

	list_for_each_entry_safe(offer, next, &offers->ages, age)
		offer_drop(offers, offer);
}
