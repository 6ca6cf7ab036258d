// SPDX-License-Identifier: GPL-2.0
/* net_device_ops::ndo_hwtstamp_get and _set, struct kernel_hwtstamp_config */
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>

static int get(struct net_device *dev, struct kernel_hwtstamp_config *config)
{
	config->rx_filter = HWTSTAMP_FILTER_NONE;
	return 0;
}

extern const struct net_device_ops quell_probe;
const struct net_device_ops quell_probe = { .ndo_hwtstamp_get = get };
