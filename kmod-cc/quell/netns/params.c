// SPDX-License-Identifier: GPL-2.0
/*
 * Parameters per algorithm and namespace.
 *
 * The values of an algorithm in a namespace are one block, published under RCU and never
 * written again: an ACK reads the pointer once and sees one consistent set; a change checks
 * and publishes an edited copy, and takes effect only if all its values are in range.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include "netns/net.h"

static struct quell_params_block *params_alloc(const struct quell_algo *algo)
{
	return kzalloc(sizeof(struct quell_params_block) + algo->core->params_bytes,
		       GFP_KERNEL_ACCOUNT);
}

/* 0 or -ENOMEM.  quell_mutex. */
int quell_algo_net_init(struct quell_algo_net *an, const struct quell_algo *algo)
{
	struct quell_params_block *block = params_alloc(algo);

	if (!block)
		return -ENOMEM;
	if (algo->core->counters_nr) {
		an->stats = __alloc_percpu_gfp(algo->core->counters_bytes, sizeof(u64),
					       GFP_KERNEL_ACCOUNT);
		if (!an->stats)
			goto free_block;
	}
	if (algo->core->init) {
		an->governed = quell_governed_alloc();
		if (!an->governed)
			goto free_stats;
	}
	quell_core_params_default(algo->core, block->data);
	rcu_assign_pointer(an->params, block);
	return 0;

free_stats:
	free_percpu(an->stats);
	an->stats = NULL;
free_block:
	kfree(block);
	return -ENOMEM;
}

/* It may never have been initialised.  quell_mutex; no socket uses the algorithm any more. */
void quell_algo_net_exit(struct quell_algo_net *an)
{
	struct quell_params_block *block;

	block = rcu_replace_pointer(an->params, NULL,
				    lockdep_is_held(&quell_mutex));
	if (block)
		kfree_rcu(block, rcu);
	free_percpu(an->stats);
	an->stats = NULL;
	kfree(an->governed);
	an->governed = NULL;
}

/* A block to edit, to be published or freed with kfree(); defaults without @an.  quell_mutex. */
struct quell_params_block *quell_params_copy(const struct quell_algo_net *an,
					     const struct quell_algo *algo)
{
	struct quell_params_block *block = params_alloc(algo);
	const struct quell_params_block *old;

	if (!block)
		return NULL;
	if (!an) {
		quell_core_params_default(algo->core, block->data);
		return block;
	}
	old = rcu_dereference_protected(an->params, lockdep_is_held(&quell_mutex));
	memcpy(block->data, old->data, algo->core->params_bytes);
	return block;
}

/* Takes ownership of @block; its values are in range.  quell_mutex. */
void quell_params_publish(struct quell_algo_net *an, const struct quell_algo *algo,
			  struct quell_params_block *block)
{
	struct quell_params_block *old;

	if (algo->core->params_derive)
		algo->core->params_derive(block->data);
	old = rcu_replace_pointer(an->params, block, lockdep_is_held(&quell_mutex));
	kfree_rcu(old, rcu);
}

const struct quell_param_desc *quell_param_find(const struct quell_algo *algo,
						const char *name)
{
	u32 i;

	for (i = 0; i < algo->core->params_nr; i++)
		if (!strcmp(algo->core->params[i].name, name))
			return &algo->core->params[i];
	return NULL;
}
