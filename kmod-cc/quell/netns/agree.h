/* SPDX-License-Identifier: GPL-2.0 */
/* Interface of agree.c: negotiation of the Quell option. */
#ifndef _QUELL_AGREE_H
#define _QUELL_AGREE_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct quell_net;
struct sk_buff;
struct tcphdr;

#define QUELL_AGREE_BUCKETS	64U

/* Retransmissions of a SYN that still carry the offer. */
#define QUELL_SYN_OFFERS_MAX	1

/**
 * struct quell_agreements - offers received, until ->init takes them
 * @lock:   protects the other fields
 * @bucket: struct agree_offer, by hash of the connection
 * @ages:   the same offers, oldest first
 * @nr:     number of offers
 */
struct quell_agreements {
	spinlock_t		lock;	/* protects the rest */
	struct hlist_head	bucket[QUELL_AGREE_BUCKETS];
	struct list_head	ages;
	u32			nr;
};

/**
 * struct quell_agree_key - a connection, as this host's sockets see it
 * @local:   this host's address, IPv4 in the first word, the rest zero
 * @peer:    the peer's address, in the same form
 * @sport:   this host's port, network order
 * @dport:   the peer's port, network order
 * @ifindex: interface the socket is bound to; 0 if it is unbound
 */
struct quell_agree_key {
	struct in6_addr	local;
	struct in6_addr	peer;
	__be16		sport;
	__be16		dport;
	int		ifindex;
};

void quell_agree_net_init(struct quell_net *qnet);
void quell_agree_net_exit(struct quell_net *qnet);
void quell_agree_key(struct quell_agree_key *key, const struct sk_buff *skb,
		     const struct tcphdr *th, bool out, int ifindex);
void quell_agree_note_syn(struct quell_net *qnet, const struct quell_agree_key *key,
			  u8 version);
bool quell_agree_answers(struct quell_net *qnet, const struct quell_agree_key *key);
void quell_agree_put(struct quell_net *qnet, const struct quell_agree_key *key);
bool quell_agree_take(struct quell_net *qnet, const struct quell_agree_key *key);

#endif /* _QUELL_AGREE_H */
