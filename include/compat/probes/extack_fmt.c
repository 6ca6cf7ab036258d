// SPDX-License-Identifier: GPL-2.0
/* NL_SET_ERR_MSG_FMT() */
#include <linux/netlink.h>

void quell_probe(struct netlink_ext_ack *extack);
void quell_probe(struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG_FMT(extack, "%u", 1);
}
