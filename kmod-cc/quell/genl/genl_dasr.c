// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: requests about active senders, their weights, and look-ahead groups, handed to
 * the module that counts senders.  Without it the lists are empty.
 *
 * Context of all: process, may sleep.
 */
#include <linux/rwsem.h>
#include <net/genetlink.h>
#include "genl/genl.h"
#include "netns/notify.h"
#include "signal/dasr.h"

static const struct quell_dasr_ops *dasr_ops;
/* Changes with it; for dumps, not 0. */
static u32 dasr_epoch = 1;
/* Protects both; held while a request runs. */
static DECLARE_RWSEM(dasr_lock);

/* NULL: waits until no request runs; later ones are refused. */
void quell_genl_set_dasr(const struct quell_dasr_ops *ops)
{
	down_write(&dasr_lock);
	WARN_ON_ONCE(ops && dasr_ops);
	dasr_ops = ops;
	dasr_epoch += 2;
	up_write(&dasr_lock);
}

int quell_nl_senders_start(struct netlink_callback *cb)
{
	int err;

	down_read(&dasr_lock);
	err = dasr_ops ? dasr_ops->start(cb) : 0;
	up_read(&dasr_lock);
	return err;
}

/* Requests and lists have one body each: the module distinguishes them by their command. */
int quell_nl_lookahead_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	int err;

	down_read(&dasr_lock);
	err = dasr_ops ? dasr_ops->doit(skb, info) :
			 quell_refuse(info->extack, NULL, -EOPNOTSUPP, "needs tcp_dart");
	up_read(&dasr_lock);
	return err;
}

int quell_nl_lookahead_del_doit(struct sk_buff *skb, struct genl_info *info)
	__alias(quell_nl_lookahead_add_doit);
int quell_nl_weight_set_doit(struct sk_buff *skb, struct genl_info *info)
	__alias(quell_nl_lookahead_add_doit);

/* args[5]: epoch of the first message.  If the module went meanwhile the list was interrupted. */
int quell_nl_lookahead_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	int bytes = 0;

	down_read(&dasr_lock);
	if (dasr_ops && (!cb->args[5] || cb->args[5] == dasr_epoch)) {
		cb->args[5] = dasr_epoch;
		bytes = dasr_ops->dumpit(skb, cb);
	} else if (cb->prev_seq) {
		cb->seq = cb->prev_seq + 1;
	}
	up_read(&dasr_lock);
	return bytes;
}

int quell_nl_receiver_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
	__alias(quell_nl_lookahead_get_dumpit);
int quell_nl_sender_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
	__alias(quell_nl_lookahead_get_dumpit);
