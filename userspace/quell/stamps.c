// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware timestamping of NICs: requests to the kernel.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>

#include "stamps.h"

/* A socket for devices of the current network namespace, or a negative errno value. */
int stamps_open(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* A request about a device; @data as struct ifreq has it. Returns 0 or the errno value. */
int stamps_request(int fd, const char *dev, unsigned long cmd, void *data)
{
	struct ifreq ifr = { .ifr_data = data };

	memcpy(ifr.ifr_name, dev, strnlen(dev, IFNAMSIZ - 1));
	return ioctl(fd, cmd, &ifr) ? errno : 0;
}

/*
 * Devices that pass requests to another one: bonding to its active slave, if it has one. By the
 * names of their drivers: IFLA_LINK is set for ports of DSA, too, which have own stamps.
 */
static bool is_upper(int fd, const char *dev)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	return !stamps_request(fd, dev, SIOCETHTOOL, &info) &&
	       (!strcmp(info.driver, "802.1Q VLAN Support") || !strcmp(info.driver, "macvlan") ||
		!strcmp(info.driver, "bonding"));
}

void stamps_read(int fd, const char *dev, struct stamps *stamps)
{
	struct ethtool_ts_info info = { .cmd = ETHTOOL_GET_TS_INFO };
	struct hwtstamp_config config = {};

	*stamps = (struct stamps){};
	stamps->info_err = stamps_request(fd, dev, SIOCETHTOOL, &info);
	if (stamps->info_err)
		info = (struct ethtool_ts_info){ .phc_index = STAMPS_NO_CLOCK };
	stamps->rx_filters = info.rx_filters;
	stamps->phc = info.phc_index;

	stamps->config_err = stamps_request(fd, dev, SIOCGHWTSTAMP, &config);
	/*
	 * A driver without a get operation fails here.  A setting is for both directions, so assume
	 * transmit timestamps are on if the NIC has them: another program may use them, and without
	 * one no packet requests a stamp.
	 */
	if (stamps->config_err)
		config = (struct hwtstamp_config){
			.tx_type = info.tx_types & 1U << HWTSTAMP_TX_ON ? HWTSTAMP_TX_ON :
									  HWTSTAMP_TX_OFF,
		};
	stamps->rx_filter = config.rx_filter;
	stamps->tx_type = config.tx_type;
	stamps->flags = config.flags;
	stamps->is_upper = is_upper(fd, dev);
}

/*
 * Choose which received packets a device timestamps, by enum hwtstamp_rx_filters; transmit
 * timestamping stays as it is.  @stamps, of stamps_read(), is updated to the driver's choice, which
 * may be another filter.  Returns 0 or an errno value.
 */
int stamps_set_filter(int fd, const char *dev, struct stamps *stamps, uint32_t filter)
{
	struct hwtstamp_config config = {
		.flags = stamps->flags,
		.tx_type = stamps->tx_type,
		.rx_filter = filter,
	};
	int err = stamps_request(fd, dev, SIOCSHWTSTAMP, &config);

	if (err)
		return err;
	stamps->config_err = 0;
	stamps->rx_filter = config.rx_filter;
	stamps->tx_type = config.tx_type;
	return 0;
}
