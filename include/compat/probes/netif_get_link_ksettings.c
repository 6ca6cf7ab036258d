// SPDX-License-Identifier: GPL-2.0
/* netif_get_link_ksettings(dev, settings) */
#include <linux/ethtool.h>

int quell_probe(struct net_device *dev, struct ethtool_link_ksettings *settings);
int quell_probe(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	return netif_get_link_ksettings(dev, settings);
}
