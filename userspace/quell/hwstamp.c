// SPDX-License-Identifier: GPL-2.0
/*
 * quell hwtstamp: whether network cards stamp the packets they receive.
 *
 * By ioctl, the interface every kernel here has: SIOCGHWTSTAMP and
 * SIOCSHWTSTAMP for what is on, ETHTOOL_GET_TS_INFO for what a card can do.
 * Quell needs every TCP packet stamped, so the filter asked for is "all"; a
 * driver may take more than it was asked for, and what it took is shown.  How
 * transmitted packets are stamped is left as it is.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "quell.h"
#include "util.h"

#define NO_CLOCK	(-1)

/* By enum hwtstamp_rx_filters, in the words of ethtool -T. */
static const char *const filter_names[] = {
	[HWTSTAMP_FILTER_NONE] = "none",
	[HWTSTAMP_FILTER_ALL] = "all",
	[HWTSTAMP_FILTER_SOME] = "some",
	[HWTSTAMP_FILTER_PTP_V1_L4_EVENT] = "ptpv1-l4-event",
	[HWTSTAMP_FILTER_PTP_V1_L4_SYNC] = "ptpv1-l4-sync",
	[HWTSTAMP_FILTER_PTP_V1_L4_DELAY_REQ] = "ptpv1-l4-delay-req",
	[HWTSTAMP_FILTER_PTP_V2_L4_EVENT] = "ptpv2-l4-event",
	[HWTSTAMP_FILTER_PTP_V2_L4_SYNC] = "ptpv2-l4-sync",
	[HWTSTAMP_FILTER_PTP_V2_L4_DELAY_REQ] = "ptpv2-l4-delay-req",
	[HWTSTAMP_FILTER_PTP_V2_L2_EVENT] = "ptpv2-l2-event",
	[HWTSTAMP_FILTER_PTP_V2_L2_SYNC] = "ptpv2-l2-sync",
	[HWTSTAMP_FILTER_PTP_V2_L2_DELAY_REQ] = "ptpv2-l2-delay-req",
	[HWTSTAMP_FILTER_PTP_V2_EVENT] = "ptpv2-event",
	[HWTSTAMP_FILTER_PTP_V2_SYNC] = "ptpv2-sync",
	[HWTSTAMP_FILTER_PTP_V2_DELAY_REQ] = "ptpv2-delay-req",
	[HWTSTAMP_FILTER_NTP_ALL] = "ntp-all",
};

static const char *const tx_names[] = {
	[HWTSTAMP_TX_OFF] = "off",
	[HWTSTAMP_TX_ON] = "on",
	[HWTSTAMP_TX_ONESTEP_SYNC] = "onestep-sync",
	[HWTSTAMP_TX_ONESTEP_P2P] = "onestep-p2p",
};

/* What is known of a device; each part with the errno that it is not. */
struct stamps {
	struct hwtstamp_config		config;
	int				config_err;
	struct ethtool_ts_info		info;
	int				info_err;
};

static const char *name_of(const char *const *names, size_t nr, uint32_t value)
{
	return value < nr && names[value] ? names[value] : "unknown";
}

static const char *filter_name(uint32_t filter)
{
	return name_of(filter_names, ARRAY_SIZE(filter_names), filter);
}

/* One request; returns 0 or the errno. */
static int request(int fd, const char *dev, unsigned long what, void *data)
{
	struct ifreq ifr = { .ifr_data = data };

	memcpy(ifr.ifr_name, dev, strnlen(dev, IFNAMSIZ - 1));
	return ioctl(fd, what, &ifr) ? errno : 0;
}

static void read_stamps(int fd, const char *dev, struct stamps *stamps)
{
	*stamps = (struct stamps){ .info.cmd = ETHTOOL_GET_TS_INFO };
	stamps->config_err = request(fd, dev, SIOCGHWTSTAMP, &stamps->config);
	stamps->info_err = request(fd, dev, SIOCETHTOOL, &stamps->info);
	if (stamps->info_err)
		stamps->info.phc_index = NO_CLOCK;
}

/* The filters a card offers, in words; "none" alone when it stamps nothing. */
static void offered(const struct stamps *stamps, char *text, size_t len)
{
	uint32_t filters = stamps->info_err ? 0 : stamps->info.rx_filters;
	size_t i;

	*text = '\0';
	for (i = 0; i < ARRAY_SIZE(filter_names); i++)
		if (filters >> i & 1)
			append_name(text, len, filter_names[i]);
	if (!*text)
		append_name(text, len, filter_names[HWTSTAMP_FILTER_NONE]);
}

static void print_stamps(struct out *o, const char *dev, const struct stamps *stamps)
{
	char text[512];

	out_open_object(o, NULL);
	out_str(o, "dev", "%s:", dev);
	if (stamps->config_err) {
		out_null(o, "rx", " rx not supported");
		out_null(o, "tx", NULL);
	} else {
		out_str(o, "rx", " rx %s", filter_name(stamps->config.rx_filter));
		out_str(o, "tx", " tx %s", name_of(tx_names, ARRAY_SIZE(tx_names),
						   stamps->config.tx_type));
	}
	if (stamps->info.phc_index == NO_CLOCK)
		out_null(o, "phc", " clock none");
	else
		out_u64(o, "phc", " clock ptp%s", stamps->info.phc_index);
	offered(stamps, text, sizeof(text));
	out_str(o, "offers", " offers %s\n", text);
	out_close_object(o);
}

static int open_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		complain("cannot open a socket: %s", strerror(errno));
	return fd;
}

static int check_dev(const char *dev)
{
	if (if_nametoindex(dev))
		return STATUS_OK;
	complain("%s: %s", dev, strerror(ENODEV));
	return STATUS_INPUT;
}

/* quell hwtstamp show [DEV] */
int hwstamp_show(struct app *app, int argc, char **argv)
{
	struct if_nameindex *names, *name;
	struct stamps stamps;
	int fd;

	if (argc && check_dev(argv[0]))
		return STATUS_INPUT;
	fd = open_socket();
	if (fd < 0)
		return STATUS_KERNEL;
	names = if_nameindex();
	out_open_array(&app->out, NULL);
	for (name = names; name && name->if_index; name++) {
		if (argc && strcmp(argv[0], name->if_name))
			continue;
		read_stamps(fd, name->if_name, &stamps);
		print_stamps(&app->out, name->if_name, &stamps);
	}
	out_close_array(&app->out);
	out_document_end(&app->out);
	if_freenameindex(names);
	close(fd);
	return STATUS_OK;
}

static int complain_stamps(const char *dev, const char *what, const struct stamps *stamps, int err)
{
	char text[512];

	offered(stamps, text, sizeof(text));
	if (err == EPERM)
		complain("%s: cannot switch stamps %s: %s (needs CAP_NET_ADMIN)", dev, what,
			 strerror(err));
	else if (err == EOPNOTSUPP || err == ENOTTY)
		complain("%s: cannot switch stamps %s: the driver has no hardware stamps", dev, what);
	else
		complain("%s: cannot switch stamps %s: %s; it offers: %s", dev, what,
			 strerror(err), text);
	return STATUS_KERNEL;
}

/* Sets the receive filter, keeps the rest. */
static int change(struct app *app, const char *dev, uint32_t filter, const char *what)
{
	struct stamps stamps;
	int fd, err;

	if (check_dev(dev))
		return STATUS_INPUT;
	fd = open_socket();
	if (fd < 0)
		return STATUS_KERNEL;
	read_stamps(fd, dev, &stamps);
	/* Drivers that only can set report nothing: transmit stamps are off then. */
	if (stamps.config_err)
		stamps.config = (struct hwtstamp_config){};
	stamps.config.rx_filter = filter;
	err = request(fd, dev, SIOCSHWTSTAMP, &stamps.config);
	close(fd);
	if (err)
		return complain_stamps(dev, what, &stamps, err);
	if (filter == HWTSTAMP_FILTER_ALL && stamps.config.rx_filter != HWTSTAMP_FILTER_ALL) {
		complain("%s: the driver stamps '%s' only, not all packets", dev,
			 filter_name(stamps.config.rx_filter));
		return STATUS_KERNEL;
	}
	stamps.config_err = 0;
	out_open_array(&app->out, NULL);
	print_stamps(&app->out, dev, &stamps);
	out_close_array(&app->out);
	out_document_end(&app->out);
	return STATUS_OK;
}

/* quell hwtstamp on DEV */
int hwstamp_on(struct app *app, int argc, char **argv)
{
	(void)argc;
	return change(app, argv[0], HWTSTAMP_FILTER_ALL, "on");
}

/* quell hwtstamp off DEV */
int hwstamp_off(struct app *app, int argc, char **argv)
{
	(void)argc;
	return change(app, argv[0], HWTSTAMP_FILTER_NONE, "off");
}
