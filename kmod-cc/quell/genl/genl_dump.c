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
 * @skb: of the dump
 * @cb:  its seq is that of the listed objects, or remains 0
 * Context: any but hard interrupts.
 * Return: for quell_dump_end(); NULL: @skb is full.
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
EXPORT_SYMBOL_GPL(quell_dump_begin);

/**
 * quell_dump_end() - end a message of a dump
 * @skb: of the dump
 * @hdr: of quell_dump_begin()
 * @err: 0, or a negative error, which removes the message
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
EXPORT_SYMBOL_GPL(quell_dump_end);
