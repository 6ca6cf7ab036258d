// SPDX-License-Identifier: GPL-2.0
/*
 * Negotiation of the Quell option, Documentation/wire-format.md: the state between segments,
 * without a table that third parties can fill.
 *
 *	SYN to SYN-ACK		one word per CPU, the offer of the newest SYN, as TCP answers
 *				a SYN in the same softirq.  On PREEMPT_RT another softirq's
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
#include "netns/agree.h"
#include "netns/counters.h"
#include "netns/net.h"

/* Lifetime of an offer: longer than a process owns a socket. */
#define AGREE_LIFE	(10 * HZ)

/* Offers stored per namespace; the oldest is dropped for one more. */
#define AGREE_MAX	4096U

/* The peer of the connection with this hash offered the option. */
struct agree_offer {
	struct hlist_node	node;
	struct list_head	age;
	u64			hash;
	unsigned long		born;	/* jiffies */
};

/* agree_tag() of the newest SYN that a CPU received, if it had an offer; else 0. */
static DEFINE_PER_CPU(u64, agree_syn);

static siphash_key_t agree_secret __read_mostly;

/* Namespaces may have connections of the same name. */
static u64 agree_hash(const struct quell_net *qnet, const struct quell_agree_key *key)
{
	net_get_random_once(&agree_secret, sizeof(agree_secret));
	return siphash(key, sizeof(*key), &agree_secret) ^ (uintptr_t)qnet;
}

/* Never 0, which stands for no offer. */
static u64 agree_tag(const struct quell_net *qnet, const struct quell_agree_key *key)
{
	return agree_hash(qnet, key) | 1;
}

static struct hlist_head *agree_bucket(struct quell_agreements *agreements, u64 hash)
{
	return &agreements->bucket[(hash >> 32) % QUELL_AGREE_BUCKETS];
}

/**
 * quell_agree_key() - key of the connection a segment belongs to
 * @key:     set in full
 * @skb:     segment, from the network header on
 * @th:      its TCP header
 * @out:     it leaves this host; false: it was received
 * @ifindex: interface its socket is bound to; 0 if it is unbound
 */
void quell_agree_key(struct quell_agree_key *key, const struct sk_buff *skb,
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
	*key = (struct quell_agree_key) {
		.local = out ? from : to,
		.peer = out ? to : from,
		.sport = out ? th->source : th->dest,
		.dport = out ? th->dest : th->source,
		.ifindex = ifindex,
	};
}

/**
 * quell_agree_note_syn() - record the SYN received for a listener
 * @qnet:    namespace
 * @key:     its connection
 * @version: version of the option it offers; 0 if it has no offer
 * Context: softirq; or process context, where the record may be lost.
 */
void quell_agree_note_syn(struct quell_net *qnet, const struct quell_agree_key *key,
			  u8 version)
{
	/* this_cpu_write() may evaluate its argument with interrupts off. */
	u64 tag = version ? agree_tag(qnet, key) : 0;

	this_cpu_write(agree_syn, tag);
}

/**
 * quell_agree_answers() - whether a SYN-ACK must answer an offer
 * @qnet: namespace
 * @key:  its connection
 * Context: LOCAL_OUT hook.
 * Return: whether the SYN that this CPU has just received is that of the connection
 * and offered the option.  True once per SYN.
 */
bool quell_agree_answers(struct quell_net *qnet, const struct quell_agree_key *key)
{
	u64 tag = agree_tag(qnet, key);

	return this_cpu_cmpxchg(agree_syn, tag, 0) == tag;
}

static void agree_drop(struct quell_agreements *agreements, struct agree_offer *offer)
{
	hlist_del(&offer->node);
	list_del(&offer->age);
	WRITE_ONCE(agreements->nr, agreements->nr - 1);
	kfree(offer);
}

static struct agree_offer *agree_find(struct quell_agreements *agreements, u64 hash)
{
	struct agree_offer *offer;

	hlist_for_each_entry(offer, agree_bucket(agreements, hash), node)
		if (offer->hash == hash)
			return offer;
	return NULL;
}

static bool agree_is_old(const struct agree_offer *offer)
{
	return time_after(jiffies, offer->born + AGREE_LIFE);
}

/* Drops expired offers, and the oldest for room; true if that had not expired. */
static bool agree_make_room(struct quell_agreements *agreements)
{
	struct agree_offer *oldest;
	bool young;

	while (!list_empty(&agreements->ages)) {
		oldest = list_first_entry(&agreements->ages, struct agree_offer, age);
		young = !agree_is_old(oldest);
		if (young && agreements->nr < AGREE_MAX)
			break;
		agree_drop(agreements, oldest);
		if (young)
			return true;
	}
	return false;
}

static struct agree_offer *agree_make(struct quell_agreements *agreements, u64 hash)
{
	struct agree_offer *offer;

	offer = kmalloc(sizeof(*offer), GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);
	if (!offer)
		return NULL;
	offer->hash = hash;
	hlist_add_head(&offer->node, agree_bucket(agreements, hash));
	list_add_tail(&offer->age, &agreements->ages);
	WRITE_ONCE(agreements->nr, agreements->nr + 1);
	return offer;
}

/**
 * quell_agree_put() - store the offer of a connection about to be established
 * @qnet: namespace
 * @key:  connection
 * Context: hooks, ->release; any but hard interrupts.
 */
void quell_agree_put(struct quell_net *qnet, const struct quell_agree_key *key)
{
	struct quell_agreements *agreements = &qnet->agreements;
	u64 hash = agree_hash(qnet, key);
	struct agree_offer *offer;
	bool lost = false;

	spin_lock_bh(&agreements->lock);
	offer = agree_find(agreements, hash);
	if (offer) {
		list_move_tail(&offer->age, &agreements->ages);
	} else {
		lost = agree_make_room(agreements);
		offer = agree_make(agreements, hash);
	}
	if (offer)
		offer->born = jiffies;
	spin_unlock_bh(&agreements->lock);
	if (lost || !offer)
		quell_count_told(qnet, QUELL_N_OPTION_FORGOTTEN);
}

/**
 * quell_agree_take() - whether the peer of a connection offered the option
 * @qnet: namespace
 * @key:  connection
 * Context: ->init; any but hard interrupts.
 * Return: whether an offer was stored and has not expired.  It is removed.
 */
bool quell_agree_take(struct quell_net *qnet, const struct quell_agree_key *key)
{
	struct quell_agreements *agreements = &qnet->agreements;
	struct agree_offer *offer;
	bool found = false;

	if (!READ_ONCE(agreements->nr))
		return false;
	spin_lock_bh(&agreements->lock);
	offer = agree_find(agreements, agree_hash(qnet, key));
	if (offer) {
		found = !agree_is_old(offer);
		agree_drop(agreements, offer);
	}
	spin_unlock_bh(&agreements->lock);
	return found;
}

void quell_agree_net_init(struct quell_net *qnet)
{
	spin_lock_init(&qnet->agreements.lock);
	INIT_LIST_HEAD(&qnet->agreements.ages);
}

/* Called when the hooks and the sockets of the namespace are gone. */
void quell_agree_net_exit(struct quell_net *qnet)
{
	struct quell_agreements *agreements = &qnet->agreements;
	struct agree_offer *offer, *next;

	list_for_each_entry_safe(offer, next, &agreements->ages, age)
		agree_drop(agreements, offer);
}
