// SPDX-License-Identifier: GPL-2.0
/*
 * quell hwtstamp: receive hardware timestamps of NICs.
 *
 * Quell needs a timestamp of every TCP packet, so it requests the filter "all"; the
 * settings of a NIC without this filter are not changed.  Transmit timestamping is
 * left as it is.
 */
#include <errno.h>
#include <linux/net_tstamp.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "quell.h"
#include "stamps.h"
#include "util.h"

/* By enum hwtstamp_rx_filters, and below hwtstamp_tx_types, named as by ethtool -T. */
static const char *const filter_names[] = {
	"none", "all", "some", "ptpv1-l4-event", "ptpv1-l4-sync", "ptpv1-l4-delay-req",
	"ptpv2-l4-event", "ptpv2-l4-sync", "ptpv2-l4-delay-req", "ptpv2-l2-event",
	"ptpv2-l2-sync", "ptpv2-l2-delay-req", "ptpv2-event", "ptpv2-sync", "ptpv2-delay-req",
	"ntp-all",
};

static const char *const tx_names[] = { "off", "on", "onestep-sync", "onestep-p2p" };

static const char *name_of(const char *const *names, size_t nr, uint32_t value)
{
	return value < nr && names[value] ? names[value] : "unknown";
}

static const char *filter_name(uint32_t filter)
{
	return name_of(filter_names, ARRAY_SIZE(filter_names), filter);
}

/* Write the names of a set; "none" if it is empty. */
static void filters_text(char *text, size_t len, uint32_t filters)
{
	size_t i;

	*text = '\0';
	for (i = 0; i < ARRAY_SIZE(filter_names); i++)
		if (filters >> i & 1)
			append_name(text, len, filter_names[i]);
	if (!*text)
		append_name(text, len, "none");
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
		out_str(o, "rx", " rx %s", filter_name(stamps->rx_filter));
		out_str(o, "tx", " tx %s", name_of(tx_names, ARRAY_SIZE(tx_names),
						   stamps->tx_type));
	}
	if (stamps->phc == STAMPS_NO_CLOCK)
		out_null(o, "phc", " clock none");
	else
		out_u64(o, "phc", " clock ptp%s", stamps->phc);
	filters_text(text, sizeof(text), stamps->rx_filters);
	out_str(o, "offers", " offers %s", text);
	out_text(o, "\n");
	out_close_object(o);
}

/* A socket, or a negative errno value after a complaint. */
static int open_socket(void)
{
	int fd = stamps_open();

	if (fd < 0)
		complain("cannot open a socket: %s", strerror(-fd));
	return fd;
}

/* The interfaces, and a socket for requests about them; NULL after a complaint. */
static struct if_nameindex *open_devs(int *fd)
{
	struct if_nameindex *names = NULL;

	*fd = open_socket();
	if (*fd >= 0)
		names = if_nameindex();
	if (*fd < 0 || names)
		return names;
	complain("cannot list the interfaces: %s", strerror(errno));
	close(*fd);
	return NULL;
}

int hwstamp_show(struct app *app, int argc, char **argv)
{
	struct if_nameindex *names, *name;
	uint32_t only = 0;
	struct stamps stamps;
	int fd;

	if (argc && find_dev(argv[0], &only))
		return STATUS_INPUT;
	names = open_devs(&fd);
	if (!names)
		return STATUS_KERNEL;
	out_open_array(&app->out, NULL);
	for (name = names; name->if_index; name++) {
		if (only && only != name->if_index)
			continue;
		stamps_read(fd, name->if_name, &stamps);
		print_stamps(&app->out, name->if_name, &stamps);
	}
	out_close_array(&app->out);
	if_freenameindex(names);
	close(fd);
	return STATUS_OK;
}

static int complain_stamps(const char *dev, const char *state, const struct stamps *stamps,
			   int err)
{
	char text[512];

	filters_text(text, sizeof(text), stamps->rx_filters);
	if (err == EPERM)
		complain("%s: cannot switch stamps %s: %s (needs CAP_NET_ADMIN)", dev, state,
			 strerror(err));
	else if (err == EOPNOTSUPP || err == ENOTTY)
		complain("%s: cannot switch stamps %s: the driver has no hardware stamps", dev, state);
	else
		complain("%s: cannot switch stamps %s: %s; it offers: %s", dev, state,
			 strerror(err), text);
	return STATUS_KERNEL;
}

/*
 * Filters for some packets only are of no use, as they do not cover TCP.  If the NIC
 * offers no other filter, do not request any: some drivers reset the NIC on a change.
 */
static int check_offers(const char *dev, const struct stamps *stamps)
{
	char text[512];

	if (!stamps->rx_filters || stamps->rx_filters & 1U << HWTSTAMP_FILTER_ALL)
		return STATUS_OK;
	filters_text(text, sizeof(text), stamps->rx_filters);
	complain("%s: cannot switch stamps on: the NIC cannot stamp TCP packets; it offers: %s",
		 dev, text);
	return STATUS_KERNEL;
}

/*
 * Another program, such as ptp4l, that stamps transmitted packets needs received ones stamped, too;
 * it sets its filter once, when it begins.
 */
static int check_unused(const char *dev, const struct stamps *stamps)
{
	if (stamps->config_err || stamps->tx_type == HWTSTAMP_TX_OFF ||
	    stamps->rx_filter == HWTSTAMP_FILTER_NONE)
		return STATUS_OK;
	complain("%s: stamps remain on: another program, such as ptp4l, has transmitted packets "
		 "stamped, too", dev);
	return STATUS_KERNEL;
}

/* A driver may choose another filter than requested: restore the old one if it is narrower. */
static int put_back(int fd, const char *dev, struct stamps *stamps, uint32_t before)
{
	uint32_t chosen = stamps->rx_filter;
	int err = stamps_set_filter(fd, dev, stamps, before);

	complain("%s: cannot switch stamps on: the driver chose '%s', which leaves TCP out; %s '%s'",
		 dev, filter_name(chosen), err ? "cannot go back to" : "back to",
		 filter_name(before));
	return STATUS_KERNEL;
}

/* Set the receive filter of a NIC, for all packets or no packet; keep its other settings. */
static int set_stamps(const struct app *app, const char *dev, bool on, struct stamps *stamps)
{
	uint32_t filter = on ? HWTSTAMP_FILTER_ALL : HWTSTAMP_FILTER_NONE, before;
	int fd = open_socket(), status, err = 0;

	if (fd < 0)
		return STATUS_KERNEL;
	stamps_read(fd, dev, stamps);
	before = stamps->rx_filter;
	status = on ? check_offers(dev, stamps) : check_unused(dev, stamps);
	if (!status && app->check)
		err = stamps->config_err;
	else if (!status && (stamps->config_err || before != filter))
		err = stamps_set_filter(fd, dev, stamps, filter);
	if (err)
		status = complain_stamps(dev, on ? "on" : "off", stamps, err);
	else if (!status && !app->check && on && stamps->rx_filter != HWTSTAMP_FILTER_ALL)
		status = put_back(fd, dev, stamps, before);
	close(fd);
	return status;
}

/*
 * Write commands that switch on the stamps of interfaces that stamp all packets, and commands that
 * switch them off. Stamps that another program needs, as it stamps transmitted packets, stay. A
 * VLAN shows the stamps of its NIC, which may be in another namespace and is listed in its own.
 */
int hwstamp_save(FILE *set, FILE *reset)
{
	int fd;
	struct if_nameindex *names = open_devs(&fd), *name;
	char word[BATCH_WORD_LEN];
	struct stamps stamps;

	if (!names)
		return STATUS_KERNEL;
	for (name = names; name->if_index; name++) {
		stamps_read(fd, name->if_name, &stamps);
		if (stamps.config_err || stamps.rx_filter != HWTSTAMP_FILTER_ALL || stamps.is_upper)
			continue;
		fprintf(set, "hwtstamp on %s\n", batch_word(word, name->if_name));
		fprintf(reset, "hwtstamp %s %s\n",
			stamps.tx_type == HWTSTAMP_TX_OFF ? "off" : "on", word);
	}
	if_freenameindex(names);
	close(fd);
	return STATUS_OK;
}

/* Switch the stamps of received packets on or off. */
int hwstamp_switch(struct app *app, int argc, char **argv)
{
	bool on = !strcmp(app->verb, "on");
	struct stamps stamps;
	char dev[IF_NAMESIZE];
	int status;

	if (find_dev_name(argv[0], dev))
		return STATUS_INPUT;
	status = set_stamps(app, dev, on, &stamps);
	if (status || app->check)
		return status;
	out_open_array(&app->out, NULL);
	print_stamps(&app->out, dev, &stamps);
	out_close_array(&app->out);
	return STATUS_OK;
}
