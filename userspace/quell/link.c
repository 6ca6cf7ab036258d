// SPDX-License-Identifier: GPL-2.0
/*
 * quell link: rates of interfaces, from which first windows and rates are derived.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "qty.h"
#include "quell.h"

/* Longest alternative name of an interface: the kernel's ALTIFNAMSIZ, less its end. */
#define ALTNAME_MAX	127

/* 1 Tbit/s, as the kernel has it. */
#define RATE_MAX_BYTES_PS	125000000000ULL

/* The kernel's attributes of an interface. */
struct link_entry {
	uint32_t	ifindex;
	bool		has_rate, has_driver;
	uint64_t	rate_bytes_ps, driver_bytes_ps;
};

/**
 * struct links - interfaces from a dump
 * @only: interface, or 0 for all
 * @list: on the heap
 * @n: its length
 */
struct links {
	uint32_t		only;
	struct link_entry	*list;
	size_t			n;
};

static int take_attr(const struct nlattr *attr, void *data)
{
	const struct nlattr **attrs = data;
	uint16_t type = mnl_attr_get_type(attr);

	if (type <= QUELL_A_LINK_MAX)
		attrs[type] = attr;
	return MNL_CB_OK;
}

static bool take_rate(const struct nlattr *attr, uint64_t *bytes_ps)
{
	if (attr)
		*bytes_ps = mnl_attr_get_u64(attr);
	return attr;
}

static int take_link(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attrs[QUELL_A_LINK_MAX + 1] = {};
	struct link_entry *list, link = {};
	struct links *links = data;

	if (mnl_attr_parse(nlh, sizeof(struct genlmsghdr), take_attr, attrs) < 0 ||
	    !attrs[QUELL_A_LINK_IFINDEX])
		return -EBADMSG;
	link.ifindex = mnl_attr_get_u32(attrs[QUELL_A_LINK_IFINDEX]);
	if (links->only && link.ifindex != links->only)
		return 0;
	link.has_rate = take_rate(attrs[QUELL_A_LINK_RATE], &link.rate_bytes_ps);
	link.has_driver = take_rate(attrs[QUELL_A_LINK_DRIVER_RATE], &link.driver_bytes_ps);
	list = reallocarray(links->list, links->n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	links->list = list;
	list[links->n++] = link;
	return 0;
}

static void forget_links(void *data)
{
	struct links *links = data;

	links->n = 0;
}

/* Those of the interface, or all; to be freed. */
static int fetch_links(struct app *app, struct links *links)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nl_reader reader = {
		.message = take_link, .restart = forget_links, .data = links,
	};
	struct nl_error err;

	if (nl_dump(&app->nl, nl_prepare(&app->nl, buf, QUELL_CMD_LINK_GET), &reader, &err))
		return complain_kernel("cannot read the rates", &err);
	return STATUS_OK;
}

static void print_rate(struct out *o, const char *key, const char *fmt, bool has, uint64_t bytes_ps)
{
	if (has)
		out_qty(o, key, fmt, QUELL_UNIT_BYTES_PS, bytes_ps);
	else
		out_null(o, key, "");
}

static void print_link(struct out *o, const char *name, const struct link_entry *link)
{
	out_open_object(o, NULL);
	out_str(o, "dev", "%s:", name);
	print_rate(o, "rate_bytes_ps", " rate %s", link->has_rate, link->rate_bytes_ps);
	print_rate(o, "driver_bytes_ps", " driver %s", link->has_driver, link->driver_bytes_ps);
	if (!link->has_rate && !link->has_driver)
		out_text(o, " rate unknown");
	out_text(o, "\n");
	out_close_object(o);
}

static int take_ifindex(const struct nlmsghdr *nlh, void *data)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(nlh);
	uint32_t *ifindex = data;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*link))
		return -EBADMSG;
	*ifindex = link->ifi_index;
	return 0;
}

/*
 * As if_nametoindex(), with errno, which knows no name of IF_NAMESIZE bytes or more; "ip link
 * property" gives such.
 */
static uint32_t find_altname(const char *name)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8))) = {};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	uint32_t ifindex = 0;
	struct nl_reader reader = { .message = take_ifindex, .data = &ifindex };
	struct nl_error err = { .code = ENODEV };
	struct nl nl;

	nlh->nlmsg_type = RTM_GETLINK;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	mnl_attr_put_u32(nlh, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	if (strlen(name) <= ALTNAME_MAX && !nl_open_route(&nl, &err)) {
		mnl_attr_put_strz(nlh, IFLA_ALT_IFNAME, name);
		nl_do(&nl, nlh, &reader, &err);
		nl_close(&nl);
	}
	errno = err.code;
	return ifindex;
}

/**
 * find_dev() - look up an interface
 * @name: its name, or an alternative name of any length
 * @ifindex: its index
 *
 * Return: an exit status, after a complaint.
 */
int find_dev(const char *name, uint32_t *ifindex)
{
	*ifindex = strlen(name) < IF_NAMESIZE ? if_nametoindex(name) : find_altname(name);
	if (*ifindex)
		return STATUS_OK;
	complain("%s: %s", name, strerror(errno));
	return STATUS_INPUT;
}

/**
 * find_dev_name() - look up the name by which all requests know an interface
 * @name: its name, or an alternative name of any length
 * @dev: its own name, IF_NAMESIZE bytes
 *
 * Return: an exit status, after a complaint.
 */
int find_dev_name(const char *name, char *dev)
{
	uint32_t ifindex;

	if (find_dev(name, &ifindex))
		return STATUS_INPUT;
	if (if_indextoname(ifindex, dev))
		return STATUS_OK;
	complain("%s: %s", name, strerror(errno));
	return STATUS_INPUT;
}

static void print_links(struct out *o, const struct links *links, const char *only)
{
	static const struct link_entry unknown;
	char name[IF_NAMESIZE];
	size_t i;

	out_open_array(o, NULL);
	for (i = 0; i < links->n; i++)
		if (if_indextoname(links->list[i].ifindex, name))
			print_link(o, name, &links->list[i]);
	/* The kernel only lists interfaces with a rate. */
	if (only && !links->n)
		print_link(o, only, &unknown);
	out_close_array(o);
	out_document_end(o);
}

/* quell link show [DEV] */
int link_show(struct app *app, int argc, char **argv)
{
	struct links links = {};
	int status;

	if (argc && find_dev(argv[0], &links.only))
		return STATUS_INPUT;
	status = fetch_links(app, &links);
	if (!status)
		print_links(&app->out, &links, argc ? argv[0] : NULL);
	free(links.list);
	return status;
}

/**
 * link_save() - write the rates that are set
 * @app: connected to the kernel
 * @set: destination of commands that set them
 * @reset: destination of commands that reset them
 *
 * Return: an exit status; the reason of a failure has been printed.
 */
int link_save(struct app *app, FILE *set, FILE *reset)
{
	char dev[IF_NAMESIZE], word[BATCH_WORD_LEN], rate[QTY_TEXT_LEN];
	struct links links = {};
	int status = fetch_links(app, &links);
	size_t i;

	for (i = 0; !status && i < links.n; i++) {
		if (!links.list[i].has_rate || !if_indextoname(links.list[i].ifindex, dev))
			continue;
		qty_format(rate, sizeof(rate), QUELL_UNIT_BYTES_PS, links.list[i].rate_bytes_ps);
		fprintf(set, "link set %s rate %s\n", batch_word(word, dev), rate);
		fprintf(reset, "link reset %s\n", word);
	}
	free(links.list);
	return status;
}

/* 0 goes back to the driver's. */
static int set_rate(struct app *app, const char *dev, uint64_t bytes_ps)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = nl_prepare(&app->nl, buf, QUELL_CMD_LINK_SET);
	struct nl_error err;
	uint32_t ifindex;

	if (find_dev(dev, &ifindex))
		return STATUS_INPUT;
	if (app->check)
		return STATUS_OK;
	mnl_attr_put_u32(nlh, QUELL_A_LINK_IFINDEX, ifindex);
	mnl_attr_put_u64(nlh, QUELL_A_LINK_RATE, bytes_ps);
	if (nl_do(&app->nl, nlh, NULL, &err))
		return complain_kernel(dev, &err);
	return STATUS_OK;
}

/* quell link set DEV rate RATE */
int link_set(struct app *app, int argc, char **argv)
{
	enum qty_status why;
	uint64_t bytes_ps;

	(void)argc;
	if (strcmp(argv[1], "rate")) {
		complain("unknown word '%s', usage: quell link set DEV rate RATE", argv[1]);
		return STATUS_INPUT;
	}
	why = qty_parse(argv[2], QUELL_UNIT_BYTES_PS, &bytes_ps);
	if (why) {
		complain("rate: '%s' %s; expected %s", argv[2], qty_status_text(why),
			 qty_expected(QUELL_UNIT_BYTES_PS));
		return STATUS_INPUT;
	}
	if (!bytes_ps) {
		complain("rate: '%s' is no rate; quell link reset %s has the driver's", argv[2],
			 argv[0]);
		return STATUS_INPUT;
	}
	if (bytes_ps > RATE_MAX_BYTES_PS) {
		complain("rate: '%s' is out of range 8bit .. 1Tbit", argv[2]);
		return STATUS_INPUT;
	}
	return set_rate(app, argv[0], bytes_ps);
}

/* quell link reset DEV */
int link_reset(struct app *app, int argc, char **argv)
{
	(void)argc;
	return set_rate(app, argv[0], 0);
}
