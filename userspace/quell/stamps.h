/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading and setting the hardware timestamping of NICs.
 *
 * The kernel has two interfaces for it.  The ethtool netlink family reports
 * capabilities (TSINFO, from 5.6) and the configuration (TSCONFIG, from 6.14); the ioctls
 * SIOCGHWTSTAMP, SIOCSHWTSTAMP and ETHTOOL_GET_TS_INFO exist on all kernels.
 * Netlink is tried first.  If the kernel does not know the request, or the driver only
 * has the older operation, it fails; then the ioctl is used.
 */
#ifndef QUELL_CLI_STAMPS_H
#define QUELL_CLI_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

#include "nl.h"

/* Newer than the headers some hosts build with; from linux/ethtool_netlink_generated.h. */
enum {
	STAMPS_MSG_TSCONFIG_GET		= 46,
	STAMPS_MSG_TSCONFIG_SET		= 47,
	STAMPS_MSG_TSCONFIG_GET_REPLY	= 47,
};

enum {
	STAMPS_A_TSCONFIG_HEADER	= 1,
	STAMPS_A_TSCONFIG_PROVIDER	= 2,
	STAMPS_A_TSCONFIG_TX_TYPES	= 3,
	STAMPS_A_TSCONFIG_RX_FILTERS	= 4,
};

#define STAMPS_NO_CLOCK	UINT32_MAX

/* Timestamping state of one device. */
struct stamps {
	/* the configuration was read by TSCONFIG, and must be set by it */
	bool		by_netlink;
	/* errno value if @rx_filter and @tx_type could not be read */
	int		config_err;
	/* enum hwtstamp_rx_filters, received packets that are timestamped */
	uint32_t	rx_filter;
	/* enum hwtstamp_tx_types, transmitted packets that are timestamped */
	uint32_t	tx_type;
	/* HWTSTAMP_FLAG_*, if the ioctl is used: it sets all of them */
	int		flags;
	int		info_err;	/* errno value if the fields below could not be read */
	uint32_t	capabilities;	/* SOF_TIMESTAMPING_* bits */
	uint32_t	tx_types;	/* bit per value of @tx_type that the driver supports */
	uint32_t	rx_filters;	/* bit per value of @rx_filter that the driver supports */
	uint32_t	phc;		/* index of the PTP hardware clock, or STAMPS_NO_CLOCK */
};

/* Sockets for requests. */
struct stamps_kernel {
	int		fd;	/* socket for ioctls */
	struct nl	nl;	/* socket of the ethtool family */
	bool		has_nl;	/* @nl is open; kernels before 5.6 lack the family */
};

int stamps_open(struct stamps_kernel *kernel);
void stamps_close(struct stamps_kernel *kernel);
void stamps_read(struct stamps_kernel *kernel, const char *dev, struct stamps *stamps);
int stamps_set_filter(struct stamps_kernel *kernel, const char *dev, struct stamps *stamps,
		      uint32_t filter, struct nl_error *err);

#endif /* QUELL_CLI_STAMPS_H */
