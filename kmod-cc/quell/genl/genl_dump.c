// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of the netlink family's dumps.
 */
#include "genl/genl.h"
#include "netns/notify.h"

/* Replies are bigger than a dump's usual buffer. */
int quell_nl_dump_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = QUELL_REPLY_BYTES;
	return 0;
}

/* seq of @cb is that of the listed objects, or stays 0.  NULL: @skb is full. */
void *quell_dump_begin(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&quell_genl_family, NLM_F_MULTI, request->cmd);

	if (hdr)
		genl_dump_check_consistent(cb, hdr);
	return hdr;
}

/* On @err the message is removed from @skb. */
int quell_dump_end(struct sk_buff *skb, void *hdr, int err)
{
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}
