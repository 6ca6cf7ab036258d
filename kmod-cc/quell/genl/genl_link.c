// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "quell": the rates of interfaces.
 *
 * Context of all: process, may sleep.
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include "genl/genl.h"
#include "signal/signal.h"

/* 1 Tbit/s, the maximum of rate parameters; in kbit/s it fits an entry on 32 bits. */
#define LINK_MOST_BYTES_PS	125000000000ULL

/* args[0]: the last interface shown. */
int quell_nl_link_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct quell_net *qnet = quell_net(sock_net(skb->sk));
	int ifindex;

	while ((ifindex = quell_link_next(qnet, cb->args[0]))) {
		void *hdr = quell_dump_begin(skb, cb);

		if (!hdr || quell_dump_end(skb, hdr, quell_put_link(skb, qnet, ifindex)))
			return skb->len;
		cb->args[0] = ifindex;
	}
	return 0;
}

/* -EINVAL: an attribute is missing; -ERANGE: above LINK_MOST_BYTES_PS; -ENODEV, -ENOMEM. */
int quell_nl_link_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct net *net = genl_info_net(info);
	u64 bytes_ps;
	u32 ifindex;
	int err;

	if (!info->attrs[QUELL_A_LINK_IFINDEX] || !info->attrs[QUELL_A_LINK_RATE])
		return quell_refuse(info->extack, NULL, -EINVAL, "interface or rate is missing");
	ifindex = nla_get_u32(info->attrs[QUELL_A_LINK_IFINDEX]);
	bytes_ps = nla_get_u64(info->attrs[QUELL_A_LINK_RATE]);
	if (bytes_ps > LINK_MOST_BYTES_PS)
		return quell_refuse(info->extack, info->attrs[QUELL_A_LINK_RATE], -ERANGE,
				    "rate: at most 1 Tbit/s");
	rtnl_lock();
	err = __dev_get_by_index(net, ifindex) ?
	      quell_link_name_speed(quell_net(net), ifindex, bytes_ps) : -ENODEV;
	rtnl_unlock();
	if (err == -ENODEV)
		quell_refuse(info->extack, info->attrs[QUELL_A_LINK_IFINDEX], err,
			     "no such interface in this namespace");
	return err;
}
