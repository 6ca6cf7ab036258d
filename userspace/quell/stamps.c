// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware timestamping of NICs: requests to the kernel by netlink or ioctl, and
 * their replies.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>

#include "stamps.h"

/* Number of bits of a set that are sent and read: no set here has more. */
#define SET_BITS	32

/*
 * Open the sockets for devices of the current network namespace; they must be closed on success
 * only. Returns 0 or a negative errno value.
 */
int stamps_open(struct stamps_kernel *kernel)
{
	struct nl_error err;

	kernel->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (kernel->fd < 0)
		return -errno;
	kernel->has_nl = !nl_open(&kernel->nl, ETHTOOL_GENL_NAME, &err);
	return 0;
}

void stamps_close(struct stamps_kernel *kernel)
{
	if (kernel->has_nl)
		nl_close(&kernel->nl);
	close(kernel->fd);
}

/* One ioctl; returns 0 or the errno value. */
static int request(const struct stamps_kernel *kernel, const char *dev, unsigned long cmd,
		   void *data)
{
	struct ifreq ifr = { .ifr_data = data };

	memcpy(ifr.ifr_name, dev, strnlen(dev, IFNAMSIZ - 1));
	return ioctl(kernel->fd, cmd, &ifr) ? errno : 0;
}

/* Prepare a request about @dev; in all of them the header is attribute 1. */
static struct nlmsghdr *prepare(struct stamps_kernel *kernel, void *buf, uint8_t cmd,
				const char *dev)
{
	struct nlmsghdr *nlh = nl_prepare(&kernel->nl, buf, cmd);
	struct nlattr *header = mnl_attr_nest_start(nlh, ETHTOOL_A_TSINFO_HEADER);

	mnl_attr_put_strz(nlh, ETHTOOL_A_HEADER_DEV_NAME, dev);
	mnl_attr_put_u32(nlh, ETHTOOL_A_HEADER_FLAGS, ETHTOOL_FLAG_COMPACT_BITSETS);
	mnl_attr_nest_end(nlh, header);
	return nlh;
}

/* Read the lowest bits of a set in the compact form that was requested. */
static int read_set(const struct nlattr *set, uint32_t *bits)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, set) {
		if (mnl_attr_get_type(attr) != ETHTOOL_A_BITSET_VALUE)
			continue;
		if (mnl_attr_get_payload_len(attr) < sizeof(*bits))
			return -EBADMSG;
		memcpy(bits, mnl_attr_get_payload(attr), sizeof(*bits));
		return 0;
	}
	return -EBADMSG;
}

/* Read the only member of a set. */
static int read_member(const struct nlattr *set, uint32_t *member)
{
	uint32_t bits;
	int ret = read_set(set, &bits);

	if (ret)
		return ret;
	if (!bits || bits & (bits - 1))
		return -EBADMSG;
	*member = __builtin_ctz(bits);
	return 0;
}

static int read_phc(const struct nlattr *attr, uint32_t *phc)
{
	if (mnl_attr_get_payload_len(attr) != sizeof(*phc))
		return -EBADMSG;
	*phc = mnl_attr_get_u32(attr);
	return 0;
}

/* TSINFO_GET_REPLY: the kernel omits empty sets, and a missing clock. */
static int take_info(const struct nlmsghdr *nlh, void *data)
{
	struct stamps *stamps = data;
	const struct nlattr *attr;
	int ret = 0;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case ETHTOOL_A_TSINFO_TIMESTAMPING:
			ret = read_set(attr, &stamps->capabilities);
			break;
		case ETHTOOL_A_TSINFO_TX_TYPES:
			ret = read_set(attr, &stamps->tx_types);
			break;
		case ETHTOOL_A_TSINFO_RX_FILTERS:
			ret = read_set(attr, &stamps->rx_filters);
			break;
		case ETHTOOL_A_TSINFO_PHC_INDEX:
			ret = read_phc(attr, &stamps->phc);
			break;
		}
		if (ret)
			return ret;
	}
	return 0;
}

/* TSCONFIG_GET_REPLY: both sets have exactly one member, which may be the value for "off". */
static int take_config(const struct nlmsghdr *nlh, void *data)
{
	bool has_rx = false, has_tx = false;
	struct stamps *stamps = data;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) == STAMPS_A_TSCONFIG_RX_FILTERS)
			has_rx = !read_member(attr, &stamps->rx_filter);
		else if (mnl_attr_get_type(attr) == STAMPS_A_TSCONFIG_TX_TYPES)
			has_tx = !read_member(attr, &stamps->tx_type);
	}
	stamps->by_netlink = has_rx && has_tx;
	return stamps->by_netlink ? 0 : -EBADMSG;
}

/* Send a request and parse its reply; returns 0 or a negative errno value. */
static int get_reply(struct stamps_kernel *kernel, uint8_t cmd, const char *dev,
		     int (*message)(const struct nlmsghdr *nlh, void *data), struct stamps *stamps)
{
	const struct nl_reader reader = { .message = message, .data = stamps };
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nl_error err;

	if (!kernel->has_nl)
		return -EOPNOTSUPP;
	return nl_do(&kernel->nl, prepare(kernel, buf, cmd, dev), &reader, &err);
}

static void read_info(struct stamps_kernel *kernel, const char *dev, struct stamps *stamps)
{
	struct ethtool_ts_info info = { .cmd = ETHTOOL_GET_TS_INFO };

	stamps->phc = STAMPS_NO_CLOCK;
	if (!get_reply(kernel, ETHTOOL_MSG_TSINFO_GET, dev, take_info, stamps))
		return;
	stamps->info_err = request(kernel, dev, SIOCETHTOOL, &info);
	if (stamps->info_err)
		info = (struct ethtool_ts_info){ .phc_index = STAMPS_NO_CLOCK };
	stamps->capabilities = info.so_timestamping;
	stamps->tx_types = info.tx_types;
	stamps->rx_filters = info.rx_filters;
	stamps->phc = info.phc_index;
}

static void read_config(struct stamps_kernel *kernel, const char *dev, struct stamps *stamps)
{
	struct hwtstamp_config config = {};

	if (!get_reply(kernel, STAMPS_MSG_TSCONFIG_GET, dev, take_config, stamps))
		return;
	stamps->by_netlink = false;
	stamps->config_err = request(kernel, dev, SIOCGHWTSTAMP, &config);
	/* A driver without a get operation fails here: assume transmit timestamps are off. */
	if (stamps->config_err)
		config = (struct hwtstamp_config){};
	stamps->rx_filter = config.rx_filter;
	stamps->tx_type = config.tx_type;
	stamps->flags = config.flags;
}

void stamps_read(struct stamps_kernel *kernel, const char *dev, struct stamps *stamps)
{
	*stamps = (struct stamps){};
	read_info(kernel, dev, stamps);
	read_config(kernel, dev, stamps);
}

/* Put a set that replaces the current one: it has no mask. */
static void put_member(struct nlmsghdr *nlh, uint16_t type, uint32_t member)
{
	struct nlattr *set = mnl_attr_nest_start(nlh, type);

	mnl_attr_put(nlh, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	mnl_attr_put_u32(nlh, ETHTOOL_A_BITSET_SIZE, SET_BITS);
	mnl_attr_put_u32(nlh, ETHTOOL_A_BITSET_VALUE, 1U << member);
	mnl_attr_nest_end(nlh, set);
}

/* Settings absent from the request stay: transmit timestamps, flags, the clock. */
static int set_by_netlink(struct stamps_kernel *kernel, const char *dev, struct stamps *stamps,
			  uint32_t filter, struct nl_error *err)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = prepare(kernel, buf, STAMPS_MSG_TSCONFIG_SET, dev);

	put_member(nlh, STAMPS_A_TSCONFIG_RX_FILTERS, filter);
	if (nl_do(&kernel->nl, nlh, NULL, err))
		return -err->code;
	/* The reply to this request is never in compact form, so read the result separately. */
	err->code = -get_reply(kernel, STAMPS_MSG_TSCONFIG_GET, dev, take_config, stamps);
	return -err->code;
}

/* The driver writes the configuration it chose into the request. */
static int set_by_ioctl(struct stamps_kernel *kernel, const char *dev, struct stamps *stamps,
			uint32_t filter, struct nl_error *err)
{
	struct hwtstamp_config config = {
		.flags = stamps->flags,
		.tx_type = stamps->tx_type,
		.rx_filter = filter,
	};

	*err = (struct nl_error){ .code = request(kernel, dev, SIOCSHWTSTAMP, &config) };
	if (err->code)
		return -err->code;
	stamps->config_err = 0;
	stamps->rx_filter = config.rx_filter;
	stamps->tx_type = config.tx_type;
	return 0;
}

/*
 * Choose which received packets a device timestamps, by enum hwtstamp_rx_filters; transmit
 * timestamping stays as it is. @stamps, of stamps_read(), is updated to the driver's choice, which
 * may be another filter. Returns 0 or a negative errno value, the same as in @err.
 */
int stamps_set_filter(struct stamps_kernel *kernel, const char *dev, struct stamps *stamps,
		      uint32_t filter, struct nl_error *err)
{
	return stamps->by_netlink ? set_by_netlink(kernel, dev, stamps, filter, err) :
				    set_by_ioctl(kernel, dev, stamps, filter, err);
}
