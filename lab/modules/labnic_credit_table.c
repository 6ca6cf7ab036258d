// SPDX-License-Identifier: GPL-2.0
/*
 * quell_labnic: the flows to which receivers' cards hand out credits, at both ends.
 *
 * One lock and one table for all cards: the laboratory has one processor.
 */
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/list.h>
#include <linux/slab.h>

#include "labnic.h"
#include "labnic_credit.h"

#define CREDIT_FLOWS_SHIFT	12
/* The laboratory has no more ports at which flows could end. */
#define CREDIT_FLOWS_MAX	(1U << 20)

/* All flows, and all of struct labnic_credit but @port, @config and @timer. */
DEFINE_SPINLOCK(labnic_credit_lock);
static DEFINE_HASHTABLE(credit_flows, CREDIT_FLOWS_SHIFT);
static u32 credit_flows_nr;

/* The same in each run. */
u32 labnic_credit_hash(const struct labnic_credit_key *key)
{
	return jhash(key, sizeof(*key), 0);
}

struct labnic_credit_key labnic_credit_reverse(const struct labnic_credit_key *key)
{
	return (struct labnic_credit_key) {
		.from = key->to, .to = key->from, .sport = key->dport, .dport = key->sport,
	};
}

/* labnic_credit_lock held. */
struct labnic_credit_flow *labnic_credit_find(const struct labnic_credit_key *key, bool is_sender)
{
	struct labnic_credit_flow *flow;

	lockdep_assert_held(&labnic_credit_lock);
	hash_for_each_possible(credit_flows, flow, node, labnic_credit_hash(key))
		if (flow->is_sender == is_sender && !memcmp(&flow->key, key, sizeof(*key)))
			return flow;
	return NULL;
}

/* Find a flow, or create it; labnic_credit_lock held. */
struct labnic_credit_flow *labnic_credit_add(struct labnic_credit *credit,
					     const struct labnic_credit_key *key, bool is_sender)
{
	struct labnic_credit_flow *flow = labnic_credit_find(key, is_sender);

	if (flow)
		return flow;
	flow = credit_flows_nr < CREDIT_FLOWS_MAX ? kzalloc(sizeof(*flow), GFP_ATOMIC) : NULL;
	if (WARN_ON_ONCE(!flow))
		return NULL;
	flow->key = *key;
	flow->is_sender = is_sender;
	flow->credit = credit;
	INIT_LIST_HEAD(&flow->waits);
	INIT_LIST_HEAD(&flow->untold);
	timerqueue_init(&flow->express.due);
	hash_add(credit_flows, &flow->node, labnic_credit_hash(key));
	credit_flows_nr++;
	return flow;
}

/* @flow may be NULL; labnic_credit_lock held. */
void labnic_credit_remove(struct labnic_credit_flow *flow)
{
	if (!flow)
		return;
	labnic_express_forget(flow);
	hash_del(&flow->node);
	list_del(&flow->waits);
	list_del(&flow->untold);
	credit_flows_nr--;
	kfree(flow);
}

void labnic_credit_remove_all(struct labnic_credit *credit)
{
	struct labnic_credit_flow *flow;
	struct hlist_node *next;
	int bucket;

	hash_for_each_safe(credit_flows, bucket, next, flow, node)
		if (flow->credit == credit)
			labnic_credit_remove(flow);
}
