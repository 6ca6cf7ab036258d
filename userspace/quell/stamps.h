/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading and setting the hardware timestamping of NICs by SIOCGHWTSTAMP, SIOCSHWTSTAMP and
 * ETHTOOL_GET_TS_INFO.  All kernels have these requests for all drivers; those of ethtool's
 * netlink family (TSCONFIG, from 6.14) reach drivers with a clock and the newer operations only.
 */
#ifndef QUELL_CLI_STAMPS_H
#define QUELL_CLI_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

#define STAMPS_NO_CLOCK	UINT32_MAX

struct stamps {
	int		config_err;	/* errno value if the next three could not be read */
	uint32_t	rx_filter;	/* enum hwtstamp_rx_filters: received packets */
	uint32_t	tx_type;	/* enum hwtstamp_tx_types: transmitted packets */
	int		flags;		/* HWTSTAMP_FLAG_* */
	int		info_err;	/* errno value if the fields below could not be read */
	uint32_t	rx_filters;	/* bit per value of @rx_filter that the driver supports */
	uint32_t	phc;		/* index of the PTP hardware clock, or STAMPS_NO_CLOCK */
	bool		is_upper;	/* a VLAN or macvlan, which has those of the NIC below it */
};

int stamps_open(void);
int stamps_request(int fd, const char *dev, unsigned long cmd, void *data);
void stamps_read(int fd, const char *dev, struct stamps *stamps);
int stamps_set_filter(int fd, const char *dev, struct stamps *stamps, uint32_t filter);

#endif /* QUELL_CLI_STAMPS_H */
