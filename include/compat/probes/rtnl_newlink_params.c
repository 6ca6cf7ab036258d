// SPDX-License-Identifier: GPL-2.0
/* rtnl_link_ops.newlink(dev, params, extack) */
#include <net/rtnetlink.h>

static int probe(struct net_device *dev, struct rtnl_newlink_params *params,
		 struct netlink_ext_ack *extack)
{
	return 0;
}

struct rtnl_link_ops quell_probe = { .newlink = probe };
