// SPDX-License-Identifier: GPL-2.0
/*
 * Timestamps of a NIC: the requests, by the numbers of the kernel's headers, the parsed replies,
 * and when the ioctl is used instead.  The linker redirects both kernel interfaces here.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>

#include "stamps.h"
#include "test.h"

#define FILTER_BIT(f)	(1U << HWTSTAMP_FILTER_##f)
#define ABSENT		UINT32_MAX

int __wrap_nl_do(struct nl *nl, struct nlmsghdr *req, const struct nl_reader *reader,
		 struct nl_error *err);
int __wrap_ioctl(int fd, unsigned long request, ...);

/* A kernel with one NIC, and the requests to it. */
static struct {
	int			tsinfo_err;	/* errno values of the requests */
	int			get_err;
	int			set_err;
	int			ioctl_err;
	uint32_t		capabilities;	/* bits; ABSENT: the attribute is */
	uint32_t		tx_types;
	uint32_t		rx_filters;
	uint32_t		phc;
	uint32_t		rx_now;
	uint32_t		tx_now;
	uint32_t		chosen;		/* result of a set; ABSENT: as requested */
	bool			verbose;	/* sets as lists of bits */
	size_t			set_bytes;	/* length of a set's value */
	unsigned int		gets;
	unsigned int		sets;
	unsigned int		ioctl_gets;
	unsigned int		ioctl_sets;
	struct hwtstamp_config	ioctl_config;
	unsigned char		message[256];
	size_t			message_len;
} host;

static void put_set(struct nlmsghdr *nlh, uint16_t type, uint32_t bits)
{
	uint32_t value[2] = { bits, 0 };
	struct nlattr *set, *list;

	if (bits == ABSENT)
		return;
	set = mnl_attr_nest_start(nlh, type);
	mnl_attr_put(nlh, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	mnl_attr_put_u32(nlh, ETHTOOL_A_BITSET_SIZE, 17);
	if (host.verbose) {
		list = mnl_attr_nest_start(nlh, ETHTOOL_A_BITSET_BITS);
		mnl_attr_nest_end(nlh, list);
	} else {
		mnl_attr_put(nlh, ETHTOOL_A_BITSET_VALUE, host.set_bytes, value);
	}
	mnl_attr_nest_end(nlh, set);
}

static void answer(const struct nl_reader *reader, uint8_t cmd, struct nl_error *err)
{
	char buf[1024] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));

	genl->cmd = cmd;
	if (cmd == ETHTOOL_MSG_TSINFO_GET_REPLY) {
		put_set(nlh, ETHTOOL_A_TSINFO_TIMESTAMPING, host.capabilities);
		put_set(nlh, ETHTOOL_A_TSINFO_TX_TYPES, host.tx_types);
		put_set(nlh, ETHTOOL_A_TSINFO_RX_FILTERS, host.rx_filters);
		if (host.phc != ABSENT)
			mnl_attr_put_u32(nlh, ETHTOOL_A_TSINFO_PHC_INDEX, host.phc);
	} else {
		put_set(nlh, 3, host.tx_now);	/* ETHTOOL_A_TSCONFIG_TX_TYPES */
		put_set(nlh, 4, host.rx_now);	/* ETHTOOL_A_TSCONFIG_RX_FILTERS */
	}
	err->code = -reader->message(nlh, reader->data);
}

int __wrap_nl_do(struct nl *nl, struct nlmsghdr *req, const struct nl_reader *reader,
		 struct nl_error *err)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(req);

	(void)nl;
	*err = (struct nl_error){};
	host.message_len = req->nlmsg_len - sizeof(*req);
	memcpy(host.message, genl, host.message_len);
	switch (genl->cmd) {
	case 25:	/* ETHTOOL_MSG_TSINFO_GET */
		err->code = host.tsinfo_err;
		if (!err->code)
			answer(reader, ETHTOOL_MSG_TSINFO_GET_REPLY, err);
		break;
	case 46:	/* ETHTOOL_MSG_TSCONFIG_GET */
		host.gets++;
		err->code = host.get_err;
		if (!err->code)
			answer(reader, 47, err);
		break;
	case 47:	/* ETHTOOL_MSG_TSCONFIG_SET */
		host.sets++;
		err->code = host.set_err;
		if (!err->code && host.chosen != ABSENT)
			host.rx_now = host.chosen;
		break;
	default:
		err->code = ENOSYS;
	}
	return -err->code;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct hwtstamp_config *config;
	struct ethtool_ts_info *info;
	struct ifreq *ifr;
	va_list args;

	(void)fd;
	va_start(args, request);
	ifr = va_arg(args, struct ifreq *);
	va_end(args);
	errno = strcmp(ifr->ifr_name, "en7") ? ENODEV : host.ioctl_err;
	if (errno)
		return -1;
	config = (struct hwtstamp_config *)ifr->ifr_data;
	info = (struct ethtool_ts_info *)ifr->ifr_data;
	if (request == SIOCGHWTSTAMP) {
		host.ioctl_gets++;
		*config = host.ioctl_config;
	} else if (request == SIOCSHWTSTAMP) {
		host.ioctl_sets++;
		host.ioctl_config = *config;
		if (host.chosen != ABSENT)
			host.ioctl_config.rx_filter = config->rx_filter = host.chosen;
	} else {
		info->so_timestamping = SOF_TIMESTAMPING_RX_HARDWARE;
		info->rx_filters = FILTER_BIT(ALL);
		info->phc_index = 2;
	}
	return 0;
}

static struct stamps_kernel ways = { .fd = -1, .has_nl = true };

/* A 6.14 kernel whose NIC can stamp all packets, and does not now. */
static void new_host(void)
{
	memset(&host, 0, sizeof(host));
	host.capabilities = SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE;
	host.tx_types = 1 << HWTSTAMP_TX_OFF | 1 << HWTSTAMP_TX_ON;
	host.rx_filters = FILTER_BIT(NONE) | FILTER_BIT(ALL);
	host.phc = 3;
	host.rx_now = FILTER_BIT(NONE);
	host.tx_now = 1 << HWTSTAMP_TX_ON;
	host.chosen = ABSENT;
	host.set_bytes = 4;
}

TEST(read_config)
{
	struct stamps stamps;

	new_host();
	stamps_read(&ways, "en7", &stamps);
	expect(stamps.by_netlink && !stamps.config_err && !stamps.info_err, "netlink");
	expect_eq(host.capabilities, stamps.capabilities, "capabilities");
	expect_eq(host.tx_types, stamps.tx_types, "tx_types");
	expect_eq(host.rx_filters, stamps.rx_filters, "rx_filters");
	expect_eq(3, stamps.phc, "phc");
	expect_eq(HWTSTAMP_FILTER_NONE, stamps.rx_filter, "rx_filter");
	expect_eq(HWTSTAMP_TX_ON, stamps.tx_type, "tx_type");
	expect_eq(0, host.ioctl_gets, "no_ioctl");

	/* Sets longer than those known now, and a NIC without timestamps. */
	new_host();
	host.set_bytes = 8;
	host.capabilities = ABSENT;
	host.tx_types = ABSENT;
	host.rx_filters = ABSENT;
	host.phc = ABSENT;
	stamps_read(&ways, "en7", &stamps);
	expect(stamps.by_netlink && !stamps.info_err && !stamps.capabilities && !stamps.tx_types &&
		       !stamps.rx_filters && stamps.phc == STAMPS_NO_CLOCK,
	       "nothing");
}

/* All bytes of the two requests, as linux/ethtool_netlink_generated.h has them. */
TEST(messages)
{
	static const unsigned char get[] = {
		46, 1, 0, 0,				/* TSCONFIG_GET, version 1 */
		20, 0, 1, 0x80,				/* HEADER, nested */
		8, 0, 2, 0, 'e', 'n', '7', 0,	/* DEV_NAME */
		8, 0, 3, 0, 1, 0, 0, 0,			/* FLAGS: COMPACT_BITSETS */
	};
	static const unsigned char set[] = {
		47, 1, 0, 0,				/* TSCONFIG_SET, version 1 */
		20, 0, 1, 0x80,
		8, 0, 2, 0, 'e', 'n', '7', 0,
		8, 0, 3, 0, 1, 0, 0, 0,
		24, 0, 4, 0x80,				/* RX_FILTERS, nested */
		4, 0, 1, 0,				/* NOMASK */
		8, 0, 2, 0, 32, 0, 0, 0,		/* SIZE */
		8, 0, 4, 0, 2, 0, 0, 0,			/* VALUE: HWTSTAMP_FILTER_ALL */
	};
	struct stamps stamps;
	struct nl_error err;

	new_host();
	stamps_read(&ways, "en7", &stamps);
	expect(host.message_len == sizeof(get) && !memcmp(host.message, get, sizeof(get)), "get");
	host.get_err = EIO;	/* so that the set is the last that was sent */
	host.set_err = EIO;
	stamps_set_filter(&ways, "en7", &stamps, HWTSTAMP_FILTER_ALL, &err);
	expect(host.message_len == sizeof(set) && !memcmp(host.message, set, sizeof(set)), "set");
}

/* Kernels and drivers without it refuse TSCONFIG; then the ioctl is asked, and sets. */
TEST(ioctl_cases)
{
	struct stamps stamps;
	struct nl_error err;

	new_host();
	host.get_err = EOPNOTSUPP;
	host.ioctl_config = (struct hwtstamp_config){
		.flags = HWTSTAMP_FLAG_BONDED_PHC_INDEX, .tx_type = HWTSTAMP_TX_ON,
	};
	stamps_read(&ways, "en7", &stamps);
	expect(!stamps.by_netlink && !stamps.config_err && stamps.tx_type == HWTSTAMP_TX_ON &&
		       stamps.phc == 3,
	       "read");
	expect_eq(0, stamps_set_filter(&ways, "en7", &stamps, HWTSTAMP_FILTER_ALL, &err),
		  "set status");
	expect(host.ioctl_sets == 1 && !host.sets, "set way");
	expect(host.ioctl_config.rx_filter == HWTSTAMP_FILTER_ALL &&
		       host.ioctl_config.tx_type == HWTSTAMP_TX_ON &&
		       host.ioctl_config.flags == HWTSTAMP_FLAG_BONDED_PHC_INDEX,
	       "set keeps the rest");
	expect_eq(HWTSTAMP_FILTER_ALL, stamps.rx_filter, "set result");

	/* Before 5.6: no ethtool family at all. */
	ways.has_nl = false;
	stamps_read(&ways, "en7", &stamps);
	ways.has_nl = true;
	expect(stamps.phc == 2 && stamps.rx_filters == FILTER_BIT(ALL) &&
		       stamps.capabilities == SOF_TIMESTAMPING_RX_HARDWARE,
	       "info");

	host.ioctl_err = EOPNOTSUPP;
	host.tsinfo_err = EOPNOTSUPP;
	stamps_read(&ways, "en7", &stamps);
	expect(stamps.config_err == EOPNOTSUPP && stamps.info_err == EOPNOTSUPP &&
		       stamps.phc == STAMPS_NO_CLOCK && !stamps.capabilities,
	       "neither");
}

TEST(set_cases)
{
	struct stamps stamps;
	struct nl_error err;

	new_host();
	stamps_read(&ways, "en7", &stamps);
	host.chosen = FILTER_BIT(ALL);
	expect_eq(0, stamps_set_filter(&ways, "en7", &stamps, HWTSTAMP_FILTER_ALL, &err), "status");
	expect_eq(HWTSTAMP_FILTER_ALL, stamps.rx_filter, "result");
	expect(host.sets == 1 && !host.ioctl_sets, "way");

	/* A driver that chooses another filter is believed, not the request. */
	host.chosen = FILTER_BIT(PTP_V2_EVENT);
	stamps_set_filter(&ways, "en7", &stamps, HWTSTAMP_FILTER_ALL, &err);
	expect_eq(HWTSTAMP_FILTER_PTP_V2_EVENT, stamps.rx_filter, "narrower");
	host.set_err = ERANGE;
	expect_eq((uint64_t)-ERANGE,
		  stamps_set_filter(&ways, "en7", &stamps, HWTSTAMP_FILTER_ALL, &err), "refused");
	expect_eq(HWTSTAMP_FILTER_PTP_V2_EVENT, stamps.rx_filter, "refused keeps");
}

/* Malformed replies are ignored: the ioctl is used. */
TEST(bad_answers)
{
	struct stamps stamps;

	new_host();
	host.verbose = true;
	stamps_read(&ways, "en7", &stamps);
	expect(!stamps.by_netlink && host.ioctl_gets == 1 && stamps.phc == 2, "verbose");
	new_host();
	host.set_bytes = 2;
	stamps_read(&ways, "en7", &stamps);
	expect(!stamps.by_netlink && host.ioctl_gets == 1 && stamps.phc == 2, "short");
	new_host();
	host.rx_now = FILTER_BIT(NONE) | FILTER_BIT(ALL);
	stamps_read(&ways, "en7", &stamps);
	expect(!stamps.by_netlink && host.ioctl_gets == 1, "two_filters");
	new_host();
	host.rx_now = 0;
	stamps_read(&ways, "en7", &stamps);
	expect(!stamps.by_netlink && host.ioctl_gets == 1, "no_filter");
	new_host();
	host.tx_now = ABSENT;
	stamps_read(&ways, "en7", &stamps);
	expect(!stamps.by_netlink && host.ioctl_gets == 1, "no_tx");
}

TEST_HARNESS_MAIN
