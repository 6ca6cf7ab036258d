// SPDX-License-Identifier: GPL-2.0
/*
 * Timestamps of a NIC: the requests, and the replies.  The linker redirects ioctl() here.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>

#include "stamps.h"
#include "test.h"

#define FILTER_BIT(f)	(1U << HWTSTAMP_FILTER_##f)
#define AS_REQUESTED	(-1)

int __wrap_ioctl(int fd, unsigned long request, ...);

/* A kernel with one NIC. */
static struct {
	int			info_err;	/* errno values of the requests */
	int			config_err;
	int			set_err;
	int			chosen;		/* filter that the driver sets */
	const char		*driver;
	struct hwtstamp_config	config;
} host;

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct ethtool_ts_info *info;
	struct hwtstamp_config *config;
	struct ifreq *ifr;
	va_list args;

	va_start(args, request);
	ifr = va_arg(args, struct ifreq *);
	va_end(args);
	config = (struct hwtstamp_config *)ifr->ifr_data;
	info = (struct ethtool_ts_info *)ifr->ifr_data;
	errno = strcmp(ifr->ifr_name, "en7") ? ENODEV :
		request == SIOCGHWTSTAMP ? host.config_err :
		request == SIOCSHWTSTAMP ? host.set_err : host.info_err;
	if (errno)
		return -1;
	if (request == SIOCGHWTSTAMP) {
		*config = host.config;
	} else if (request == SIOCSHWTSTAMP) {
		if (host.chosen != AS_REQUESTED)
			config->rx_filter = host.chosen;
		host.config = *config;
	} else if (request == SIOCETHTOOL && info->cmd == ETHTOOL_GET_TS_INFO) {
		info->tx_types = 1 << HWTSTAMP_TX_OFF | 1 << HWTSTAMP_TX_ON;
		info->rx_filters = FILTER_BIT(NONE) | FILTER_BIT(ALL);
		info->phc_index = 2;
	} else if (request == SIOCETHTOOL && info->cmd == ETHTOOL_GDRVINFO) {
		strcpy(((struct ethtool_drvinfo *)ifr->ifr_data)->driver, host.driver);
	}
	return 0;
}

/* A NIC that can stamp all packets, and stamps those that it transmits. */
static void new_host(void)
{
	memset(&host, 0, sizeof(host));
	host.chosen = AS_REQUESTED;
	host.driver = "ice";
	host.config = (struct hwtstamp_config){
		.flags = HWTSTAMP_FLAG_BONDED_PHC_INDEX, .tx_type = HWTSTAMP_TX_ON,
	};
}

TEST(read_cases)
{
	struct stamps stamps;

	new_host();
	stamps_read(0, "en7", &stamps);
	expect(!stamps.config_err && !stamps.info_err, "status");
	expect_eq(FILTER_BIT(NONE) | FILTER_BIT(ALL), stamps.rx_filters, "rx_filters");
	expect_eq(2, stamps.phc, "phc");
	expect_eq(HWTSTAMP_FILTER_NONE, stamps.rx_filter, "rx_filter");
	expect_eq(HWTSTAMP_TX_ON, stamps.tx_type, "tx_type");
	expect(!stamps.is_upper, "a NIC");
	host.driver = "802.1Q VLAN Support";
	stamps_read(0, "en7", &stamps);
	expect(stamps.is_upper, "a VLAN");
	host.driver = "macvlan";
	stamps_read(0, "en7", &stamps);
	expect(stamps.is_upper, "a macvlan");
	host.driver = "bonding";
	stamps_read(0, "en7", &stamps);
	expect(stamps.is_upper, "a bond");

	host.config_err = EOPNOTSUPP;
	host.info_err = EOPNOTSUPP;
	stamps_read(0, "en7", &stamps);
	expect(stamps.config_err == EOPNOTSUPP && stamps.info_err == EOPNOTSUPP &&
		       stamps.phc == STAMPS_NO_CLOCK && !stamps.rx_filters &&
		       !stamps.tx_type && !stamps.flags,
	       "neither");
	host.config_err = 0;
	stamps_read(0, "no-such-device-of-16-bytes", &stamps);
	expect_eq(ENODEV, stamps.config_err, "no device");
}

TEST(set_cases)
{
	struct stamps stamps;

	new_host();
	stamps_read(0, "en7", &stamps);
	expect_eq(0, stamps_set_filter(0, "en7", &stamps, HWTSTAMP_FILTER_ALL), "status");
	expect_eq(HWTSTAMP_FILTER_ALL, stamps.rx_filter, "result");
	expect(host.config.rx_filter == HWTSTAMP_FILTER_ALL &&
		       host.config.tx_type == HWTSTAMP_TX_ON &&
		       host.config.flags == HWTSTAMP_FLAG_BONDED_PHC_INDEX,
	       "set keeps the rest");

	/* A driver that chooses another filter is believed, not the request. */
	host.chosen = HWTSTAMP_FILTER_PTP_V2_EVENT;
	stamps_set_filter(0, "en7", &stamps, HWTSTAMP_FILTER_ALL);
	expect_eq(HWTSTAMP_FILTER_PTP_V2_EVENT, stamps.rx_filter, "narrower");
	host.set_err = ERANGE;
	expect_eq(ERANGE, stamps_set_filter(0, "en7", &stamps, HWTSTAMP_FILTER_ALL), "refused");
	expect_eq(HWTSTAMP_FILTER_PTP_V2_EVENT, stamps.rx_filter, "refused keeps");

	/* A driver without a get operation. */
	new_host();
	host.config_err = EOPNOTSUPP;
	stamps_read(0, "en7", &stamps);
	expect_eq(0, stamps_set_filter(0, "en7", &stamps, HWTSTAMP_FILTER_ALL), "set alone");
	expect(!stamps.config_err && stamps.rx_filter == HWTSTAMP_FILTER_ALL, "set alone, result");
	expect_eq(HWTSTAMP_TX_ON, host.config.tx_type, "set alone keeps what may be on");
	new_host();
	host.config_err = EOPNOTSUPP;
	host.info_err = EOPNOTSUPP;
	stamps_read(0, "en7", &stamps);
	expect_eq(0, stamps_set_filter(0, "en7", &stamps, HWTSTAMP_FILTER_ALL), "no abilities");
	expect_eq(HWTSTAMP_TX_OFF, host.config.tx_type, "no abilities, no transmit stamps");
}

TEST_HARNESS_MAIN
