// SPDX-License-Identifier: GPL-2.0
/*
 * quell doctor: the interfaces of the namespace, by requests that any user may make.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/gen_stats.h>
#include <linux/net_tstamp.h>
#include <linux/pkt_sched.h>
#include <linux/pkt_sched_swport.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>

#include "attr.h"
#include "doctor.h"
#include "nl.h"
#include "stamps.h"
#include "util.h"

static bool is_up(int fd, const char *dev)
{
	struct ifreq ifr = {};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	return !ioctl(fd, SIOCGIFFLAGS, &ifr) && ifr.ifr_flags & IFF_UP &&
	       !(ifr.ifr_flags & IFF_LOOPBACK);
}

static void read_dev(int fd, struct doctor_dev *dev)
{
	struct ethtool_coalesce coalesce = { .cmd = ETHTOOL_GCOALESCE };
	struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };
	struct ethtool_cmd link = { .cmd = ETHTOOL_GSET };
	struct stamps stamps;

	if (!stamps_request(fd, dev->name, SIOCETHTOOL, &flags))
		dev->lro = flags.data & ETH_FLAG_LRO;
	if (!stamps_request(fd, dev->name, SIOCETHTOOL, &coalesce))
		dev->rx_delay_us = coalesce.rx_coalesce_usecs;
	if (!stamps_request(fd, dev->name, SIOCETHTOOL, &link) &&
	    ethtool_cmd_speed(&link) < (uint32_t)SPEED_UNKNOWN)
		dev->bytes_ps = 125000ULL * ethtool_cmd_speed(&link);
	stamps_read(fd, dev->name, &stamps);
	dev->can_stamp = !stamps.info_err && stamps.rx_filters & 1U << HWTSTAMP_FILTER_ALL;
	dev->stamps = !stamps.config_err && stamps.rx_filter == HWTSTAMP_FILTER_ALL;
}

/* Those that shape, delay or drop; not those that only hand packets on in some order. */
static bool is_shaper(const char *kind)
{
	static const char * const kinds[] = {
		"netem", "tbf", "htb", "hfsc", "cake", "red", "codel", "pie", "sfb", "choke",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

static uint64_t counter_of(const struct nlattr *nest, int type)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest)
		if (mnl_attr_get_type(attr) == type &&
		    mnl_attr_get_payload_len(attr) == sizeof(uint64_t))
			return mnl_attr_get_u64(attr);
	return 0;
}

/* Those below another qdisc count only once: mq has the sum of their drops. */
static void take_stats(struct doctor_dev *dev, const struct nlattr *stats, bool is_swport)
{
	const struct gnet_stats_queue *queue;
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, stats) {
		queue = mnl_attr_get_payload(attr);
		if (mnl_attr_get_type(attr) == TCA_STATS_QUEUE &&
		    mnl_attr_get_payload_len(attr) >= sizeof(*queue) &&
		    dev->drop_pkts < queue->drops)
			dev->drop_pkts = queue->drops;
		if (mnl_attr_get_type(attr) == TCA_STATS_APP && is_swport) {
			dev->mark_pkts += counter_of(attr, TCA_SWPORT_STATS_MARK_PKTS);
			dev->trim_pkts += counter_of(attr, TCA_SWPORT_STATS_TRIM_PKTS);
		}
	}
}

/* Also for the children of another qdisc: mq has one for each queue. */
static int take_qdisc(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr, *stats = NULL;
	struct doctor_host *host = data;
	struct doctor_dev *dev = NULL;
	char kind[IF_NAMESIZE] = "";
	bool is_swport;
	size_t i;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*tc))
		return -EBADMSG;
	for (i = 0; i < host->n_devs; i++)
		if ((int)host->devs[i].ifindex == tc->tcm_ifindex)
			dev = &host->devs[i];
	mnl_attr_for_each(attr, nlh, sizeof(*tc)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			snprintf(kind, sizeof(kind), "%.*s", (int)mnl_attr_get_payload_len(attr),
				 (const char *)mnl_attr_get_payload(attr));
		if (mnl_attr_get_type(attr) == TCA_STATS2)
			stats = attr;
	}
	is_swport = !strcmp(kind, "swport");
	if (!dev || tc->tcm_parent == TC_H_INGRESS)
		return 0;
	if (is_shaper(kind))
		snprintf(dev->qdisc, sizeof(kind), "%s", kind);
	if (is_swport || (tc->tcm_parent == TC_H_ROOT && strcmp(dev->root, "swport")))
		snprintf(dev->root, sizeof(kind), "%s", kind);
	if (stats)
		take_stats(dev, stats, is_swport);
	return 0;
}

/* The prefix of a route, or "default". */
static void format_network(char *text, size_t len, const struct rtmsg *rtm,
			   const struct nlattr *dst)
{
	char address[INET6_ADDRSTRLEN];

	if (dst && inet_ntop(rtm->rtm_family, mnl_attr_get_payload(dst), address, sizeof(address)))
		snprintf(text, len, "%s/%u", address, rtm->rtm_dst_len);
	else
		snprintf(text, len, "default");
}

/* The algorithm of a route's metrics, or NULL. */
static const struct nlattr *find_cc(const struct nlattr *metrics)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, metrics)
		if (mnl_attr_get_type(attr) == RTAX_CC_ALGO)
			return attr;
	return NULL;
}

static int take_route(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr, *dst = NULL, *cc = NULL;
	struct doctor_change *change = data;
	struct doctor_route *route;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*rtm))
		return -EBADMSG;
	mnl_attr_for_each(attr, nlh, sizeof(*rtm)) {
		if (mnl_attr_get_type(attr) == RTA_DST)
			dst = attr;
		if (mnl_attr_get_type(attr) == RTA_METRICS)
			cc = find_cc(attr);
	}
	if (!cc || rtm->rtm_type != RTN_UNICAST)
		return 0;
	route = list_grow(&change->routes, &change->n_routes, sizeof(*route));
	if (!route)
		return -ENOMEM;
	format_network(route->network, sizeof(route->network), rtm, dst);
	snprintf(route->cc, sizeof(route->cc), "%.*s", (int)mnl_attr_get_payload_len(cc),
		 (const char *)mnl_attr_get_payload(cc));
	return 0;
}

/* The counts of a dump that is repeated are those of the last. */
static void restart_qdiscs(void *data)
{
	struct doctor_host *host = data;
	size_t i;

	for (i = 0; i < host->n_devs; i++) {
		host->devs[i].drop_pkts = 0;
		host->devs[i].mark_pkts = 0;
		host->devs[i].trim_pkts = 0;
	}
}

static void restart_routes(void *data)
{
	struct doctor_change *change = data;

	change->n_routes = 0;
}

/* @family: the bytes behind the header, zeroed, begin with it. */
static int dump(uint16_t type, size_t header_bytes, uint8_t family, const struct nl_reader *reader)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh;
	struct nl_error err;
	struct nl nl;

	if (nl_open_route(&nl, &err))
		return -err.code;
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = type;
	*(uint8_t *)mnl_nlmsg_put_extra_header(nlh, header_bytes) = family;
	nl_dump(&nl, nlh, reader, &err);
	nl_close(&nl);
	return -err.code;
}

/* Collect the routes that name an algorithm; returns 0 or a negative errno value. */
int doctor_read_routes(struct doctor_change *change)
{
	const struct nl_reader reader = { .message = take_route, .restart = restart_routes,
					  .data = change };

	return dump(RTM_GETROUTE, sizeof(struct rtmsg), AF_UNSPEC, &reader);
}

/* Collect facts about the interfaces that are up; returns 0 or a negative errno value. */
int doctor_read_devs(struct doctor_host *host)
{
	const struct nl_reader reader = { .message = take_qdisc, .restart = restart_qdiscs,
					  .data = host };
	struct if_nameindex *names, *name;
	struct doctor_dev *dev;
	int fd = stamps_open(), ret;

	if (fd < 0)
		return fd;
	names = if_nameindex();
	if (!names) {
		ret = -errno;
		close(fd);
		return ret;
	}
	for (name = names; name->if_index; name++) {
		if (!is_up(fd, name->if_name))
			continue;
		dev = list_grow(&host->devs, &host->n_devs, sizeof(*dev));
		if (!dev)
			break;
		snprintf(dev->name, sizeof(dev->name), "%s", name->if_name);
		dev->ifindex = name->if_index;
		read_dev(fd, dev);
	}
	if_freenameindex(names);
	close(fd);
	return dump(RTM_GETQDISC, sizeof(struct tcmsg), AF_UNSPEC, &reader);
}
