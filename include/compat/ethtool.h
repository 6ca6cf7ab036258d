/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Asking a device for its speed where both the RTNL and the device's own lock
 * are held, if it has one: in notifiers of a device that comes up or changes,
 * and in the operations of a qdisc.
 *
 * 7.x takes the device's lock in __ethtool_get_link_ksettings(), which would
 * deadlock there, and has netif_get_link_ksettings() for callers that hold it.
 */
#ifndef _QUELL_COMPAT_ETHTOOL_H
#define _QUELL_COMPAT_ETHTOOL_H

#include <compat/compat.h>
#include <linux/ethtool.h>

#ifndef QUELL_HAVE_NETIF_GET_LINK_KSETTINGS
static inline int netif_get_link_ksettings(struct net_device *dev,
					   struct ethtool_link_ksettings *settings)
{
	return __ethtool_get_link_ksettings(dev, settings);
}
#endif

#endif /* _QUELL_COMPAT_ETHTOOL_H */
