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

/**
 * quell_dump_begin() - begin a message of a dump
 * @skb: message to fill
 * @cb:  dump; its seq is that of what it lists, or stays 0
 *
 * Return: the message's header, for quell_dump_end(), or NULL if @skb is full.
 */
void *quell_dump_begin(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&quell_genl_family, NLM_F_MULTI, request->cmd);

	if (hdr)
		genl_dump_check_consistent(cb, hdr);
	return hdr;
}

/**
 * quell_dump_end() - end a message of a dump
 * @skb: message to fill
 * @hdr: its header
 * @err: 0, or an error, by which nothing of it stays in @skb
 *
 * Return: @err.
 */
int quell_dump_end(struct sk_buff *skb, void *hdr, int err)
{
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}
