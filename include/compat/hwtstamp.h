/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hardware timestamping in a network driver.  It was an ioctl; 6.6 made it two
 * operations, which netlink can call as well, and 6.11 added a kernel-internal
 * structure for a NIC's timestamping capabilities.  A driver for both defines functions
 * of the new kind, and leaves them out of its operations on older kernels.
 */
#ifndef _QUELL_COMPAT_HWTSTAMP_H
#define _QUELL_COMPAT_HWTSTAMP_H

#include <compat/compat.h>
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>

#ifndef QUELL_HAVE_KERNEL_ETHTOOL_TS_INFO
#define kernel_ethtool_ts_info	ethtool_ts_info
#endif

#ifndef QUELL_HAVE_NDO_HWTSTAMP
struct kernel_hwtstamp_config {
	int	flags;
	int	tx_type;
	int	rx_filter;
};
#endif

#endif /* _QUELL_COMPAT_HWTSTAMP_H */
