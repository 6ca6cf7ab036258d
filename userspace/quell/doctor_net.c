// SPDX-License-Identifier: GPL-2.0
/*
 * quell doctor: the interfaces of the namespace, by requests that any user may make.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>

#include "attr.h"
#include "doctor.h"
#include "nl.h"
#include "stamps.h"
#include "util.h"

static int request_ioctl(int fd, const char *dev, unsigned long request, void *data)
{
	struct ifreq ifr = {};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	ifr.ifr_data = data;
	return ioctl(fd, request, &ifr);
}

static bool is_up(int fd, const char *dev)
{
	struct ifreq ifr = {};

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	return !ioctl(fd, SIOCGIFFLAGS, &ifr) && ifr.ifr_flags & IFF_UP &&
	       !(ifr.ifr_flags & IFF_LOOPBACK);
}

static void read_dev(struct stamps_kernel *kernel, struct doctor_dev *dev)
{
	struct ethtool_coalesce coalesce = { .cmd = ETHTOOL_GCOALESCE };
	struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };
	struct stamps stamps;

	if (!request_ioctl(kernel->fd, dev->name, SIOCETHTOOL, &flags))
		dev->lro = flags.data & ETH_FLAG_LRO;
	if (!request_ioctl(kernel->fd, dev->name, SIOCETHTOOL, &coalesce))
		dev->rx_delay_us = coalesce.rx_coalesce_usecs;
	stamps_read(kernel, dev->name, &stamps);
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

/* Also for the children of another qdisc: mq has one for each queue. */
static int take_qdisc(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tc = mnl_nlmsg_get_payload(nlh);
	struct doctor_host *host = data;
	const struct nlattr *attr;
	size_t i;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*tc))
		return -EBADMSG;
	mnl_attr_for_each(attr, nlh, sizeof(*tc)) {
		char kind[IF_NAMESIZE];

		if (mnl_attr_get_type(attr) != TCA_KIND)
			continue;
		snprintf(kind, sizeof(kind), "%.*s", (int)mnl_attr_get_payload_len(attr),
			 (const char *)mnl_attr_get_payload(attr));
		for (i = 0; i < host->n_devs; i++)
			if ((int)host->devs[i].ifindex == tc->tcm_ifindex && is_shaper(kind))
				snprintf(host->devs[i].qdisc, sizeof(kind), "%s", kind);
	}
	return 0;
}

/* A dump that is repeated finds the same again. */
static void start_again(void *data)
{
	(void)data;
}

static int read_qdiscs(struct doctor_host *host)
{
	struct nl_reader reader = { .message = take_qdisc, .restart = start_again, .data = host };
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh;
	struct nl_error err;
	struct nl nl;

	if (nl_open_route(&nl, &err))
		return -err.code;
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RTM_GETQDISC;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct tcmsg));
	nl_dump(&nl, nlh, &reader, &err);
	nl_close(&nl);
	return -err.code;
}

/**
 * doctor_read_devs() - collect facts about the interfaces that are up
 * @host: the interfaces are added to it
 *
 * Return: 0 or a negative errno value.
 */
int doctor_read_devs(struct doctor_host *host)
{
	struct if_nameindex *names, *name;
	struct stamps_kernel kernel;
	struct doctor_dev *dev;
	int ret;

	ret = stamps_open(&kernel);
	if (ret)
		return ret;
	names = if_nameindex();
	for (name = names; name && name->if_index; name++) {
		if (!is_up(kernel.fd, name->if_name))
			continue;
		dev = list_grow(&host->devs, &host->n_devs, sizeof(*dev));
		if (!dev)
			break;
		snprintf(dev->name, sizeof(dev->name), "%s", name->if_name);
		dev->ifindex = name->if_index;
		read_dev(&kernel, dev);
	}
	if_freenameindex(names);
	stamps_close(&kernel);
	return read_qdiscs(host);
}
