// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters per algorithm and namespace.
 *
 * The values of an algorithm in a namespace are one block, published under RCU and never
 * written again: an ACK reads the pointer once and sees one consistent set; a change checks
 * and publishes an edited copy, and takes effect only if all its values are in range.
 */
#include <linux/slab.h>
#include "netns/net.h"

/*
 * A block to edit, to be published or freed with kfree(); defaults, if @an has no parameters yet or
 * is NULL.  quell_mutex.
 */
struct quell_params_block *quell_params_copy(const struct quell_algo_net *an,
					     const struct quell_algo *algo)
{
	const struct quell_params_block *old = NULL;
	struct quell_params_block *block;

	block = kzalloc(sizeof(*block) + algo->core->params_bytes, GFP_KERNEL_ACCOUNT);
	if (an)
		old = rcu_dereference_protected(an->params, lockdep_is_held(&quell_mutex));
	if (block && old)
		memcpy(block->data, old->data, algo->core->params_bytes);
	else if (block)
		quell_core_params_default(algo->core, block->data);
	return block;
}

/* 0 or -ENOMEM.  quell_mutex. */
int quell_algo_net_init(struct quell_algo_net *an, const struct quell_algo *algo)
{
	struct quell_params_block *block = quell_params_copy(an, algo);
	const struct quell_core *core = algo->core;

	rcu_assign_pointer(an->params, block);
	if (core->counters_nr)
		an->stats = __alloc_percpu_gfp(core->counters_bytes, sizeof(u64),
					       GFP_KERNEL_ACCOUNT);
	if (core->init)
		an->governed = kzalloc(sizeof(*an->governed), GFP_KERNEL_ACCOUNT);
	if (an->governed)
		spin_lock_init(&an->governed->lock);
	if (block && (an->stats || !core->counters_nr) && (an->governed || !core->init))
		return 0;
	quell_algo_net_exit(an);
	return -ENOMEM;
}

/*
 * It may never have been initialised, or in part.  quell_mutex; no socket uses the algorithm any
 * more.
 */
void quell_algo_net_exit(struct quell_algo_net *an)
{
	struct quell_params_block *block;

	block = rcu_replace_pointer(an->params, NULL, lockdep_is_held(&quell_mutex));
	kfree_rcu(block, rcu);
	free_percpu(an->stats);
	an->stats = NULL;
	kfree(an->governed);
	an->governed = NULL;
}
