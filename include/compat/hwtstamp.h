/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hardware stamps of a network driver.  They were an ioctl; 6.6 made them two
 * operations, which netlink can call as well, and 6.11 gave what a card says of
 * itself a structure of the kernel's own.  A driver for both has functions of the
 * new kind, which before are left out of its operations.
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
