/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a network card stamps, asked and set.
 *
 * Two interfaces of the kernel do that.  The ethtool netlink family says what a
 * card can (TSINFO, from 5.6) and what is on (TSCONFIG, from 6.14); the ioctls
 * SIOCGHWTSTAMP, SIOCSHWTSTAMP and ETHTOOL_GET_TS_INFO are there on all kernels.
 * Netlink is asked first.  A kernel that does not know the request, and a driver
 * that only has the older operation, refuse it alike; then the ioctl is.
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

/**
 * struct stamps - what is known of one device
 * @by_netlink: what is on was told by TSCONFIG, and is set by it
 * @config_err: errno value why @rx_filter and @tx_type are not known
 * @rx_filter: enum hwtstamp_rx_filters, what is stamped on arrival
 * @tx_type: enum hwtstamp_tx_types, what is stamped on departure
 * @flags: HWTSTAMP_FLAG_*, where the ioctl is used: it sets all of them
 * @info_err: errno value why the fields below are not known
 * @capabilities: SOF_TIMESTAMPING_* bits
 * @tx_types: the values of @tx_type the driver takes, a bit for each
 * @rx_filters: those of @rx_filter
 * @phc: number of the clock, or STAMPS_NO_CLOCK
 */
struct stamps {
	bool		by_netlink;
	int		config_err;
	uint32_t	rx_filter;
	uint32_t	tx_type;
	int		flags;
	int		info_err;
	uint32_t	capabilities;
	uint32_t	tx_types;
	uint32_t	rx_filters;
	uint32_t	phc;
};

/**
 * struct stamps_kernel - the ways to the kernel
 * @fd: socket for ioctls
 * @nl: socket of the ethtool family
 * @has_nl: there is one; kernels before 5.6 have none
 */
struct stamps_kernel {
	int		fd;
	struct nl	nl;
	bool		has_nl;
};

int stamps_open(struct stamps_kernel *kernel);
void stamps_close(struct stamps_kernel *kernel);
void stamps_read(struct stamps_kernel *kernel, const char *dev, struct stamps *stamps);
int stamps_set_filter(struct stamps_kernel *kernel, const char *dev, struct stamps *stamps,
		      uint32_t filter, struct nl_error *err);

#endif /* QUELL_CLI_STAMPS_H */
