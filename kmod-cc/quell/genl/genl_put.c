// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "quell": the family, and a helper for all its messages.
 */
#include <net/genetlink.h>
#include "genl/genl.h"

/* quell_genl_init() adds the operations before it registers the family. */
struct genl_family quell_genl_family __ro_after_init = {
	.name		= QUELL_FAMILY_NAME,
	.version	= QUELL_FAMILY_VERSION,
	.netnsok	= true,
};

/**
 * quell_put_counter() - put one counter into a message
 * @skb:   message
 * @attr:  type of the nest
 * @name:  counter's name
 * @doc:   its explanation
 * @value: its value
 *
 * Context: any.
 * Return: 0 or -EMSGSIZE.
 */
int quell_put_counter(struct sk_buff *skb, int attr, const char *name,
		      const char *doc, u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest ||
	    nla_put_string(skb, QUELL_A_COUNTER_NAME, name) ||
	    nla_put_u64_64bit(skb, QUELL_A_COUNTER_VALUE, value, QUELL_A_COUNTER_PAD) ||
	    nla_put_string(skb, QUELL_A_COUNTER_DOC, doc))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
