// SPDX-License-Identifier: GPL-2.0
/*
 * quell link: rates of interfaces, from which first windows and rates are derived.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <net/if.h>
#include <string.h>

#include "qty.h"
#include "quell.h"

/**
 * struct link_shown - state for printing a dump
 * @o: printer
 * @only: interface, or 0 for all
 * @found: @only was in the dump
 */
struct link_shown {
	struct out	*o;
	uint32_t	only;
	bool		found;
};

static int take_attr(const struct nlattr *attr, void *data)
{
	const struct nlattr **attrs = data;
	uint16_t type = mnl_attr_get_type(attr);

	if (type <= QUELL_A_LINK_MAX)
		attrs[type] = attr;
	return MNL_CB_OK;
}

static void print_rate(struct out *o, const char *key, const char *fmt, const struct nlattr *attr)
{
	if (attr)
		out_qty(o, key, fmt, QUELL_UNIT_BYTES_PS, mnl_attr_get_u64(attr));
	else
		out_null(o, key, "");
}

static void print_link(struct out *o, const char *name, const struct nlattr *rate,
		       const struct nlattr *driver_rate)
{
	out_open_object(o, NULL);
	out_str(o, "dev", "%s:", name);
	print_rate(o, "rate_bytes_ps", " rate %s", rate);
	print_rate(o, "driver_bytes_ps", " driver %s", driver_rate);
	if (!rate && !driver_rate)
		out_text(o, " rate unknown");
	out_text(o, "\n");
	out_close_object(o);
}

static int show_link(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attrs[QUELL_A_LINK_MAX + 1] = {};
	struct link_shown *shown = data;
	char name[IF_NAMESIZE];
	uint32_t ifindex;

	if (mnl_attr_parse(nlh, sizeof(struct genlmsghdr), take_attr, attrs) < 0 ||
	    !attrs[QUELL_A_LINK_IFINDEX])
		return -EBADMSG;
	ifindex = mnl_attr_get_u32(attrs[QUELL_A_LINK_IFINDEX]);
	if ((shown->only && ifindex != shown->only) || !if_indextoname(ifindex, name))
		return 0;
	shown->found = true;
	print_link(shown->o, name, attrs[QUELL_A_LINK_RATE], attrs[QUELL_A_LINK_DRIVER_RATE]);
	return 0;
}

/**
 * find_dev() - look up an interface
 * @name: its name
 * @ifindex: its index
 *
 * Return: an exit status, after a complaint.
 */
int find_dev(const char *name, uint32_t *ifindex)
{
	*ifindex = if_nametoindex(name);
	if (*ifindex)
		return STATUS_OK;
	complain("%s: %s", name, strerror(ENODEV));
	return STATUS_INPUT;
}

struct link_wanted {
	uint32_t		ifindex;
	struct link_rates	*rates;
};

static int take_rates(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attrs[QUELL_A_LINK_MAX + 1] = {};
	const struct link_wanted *wanted = data;

	if (mnl_attr_parse(nlh, sizeof(struct genlmsghdr), take_attr, attrs) < 0 ||
	    !attrs[QUELL_A_LINK_IFINDEX])
		return -EBADMSG;
	if (mnl_attr_get_u32(attrs[QUELL_A_LINK_IFINDEX]) != wanted->ifindex)
		return 0;
	if (attrs[QUELL_A_LINK_RATE])
		wanted->rates->set_bytes_ps = mnl_attr_get_u64(attrs[QUELL_A_LINK_RATE]);
	if (attrs[QUELL_A_LINK_DRIVER_RATE])
		wanted->rates->driver_bytes_ps =
			mnl_attr_get_u64(attrs[QUELL_A_LINK_DRIVER_RATE]);
	return 0;
}

/**
 * link_fetch_rates() - the rates of an interface
 * @app: connected to the kernel
 * @ifindex: of the interface
 * @rates: filled in; 0 where not known
 *
 * Return: an exit status; the reason of a failure has been printed.
 */
int link_fetch_rates(struct app *app, uint32_t ifindex, struct link_rates *rates)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct link_wanted wanted = { .ifindex = ifindex, .rates = rates };
	struct nl_reader reader = { .message = take_rates, .data = &wanted };
	struct nl_error err;

	*rates = (struct link_rates){};
	if (nl_dump(&app->nl, nl_prepare(&app->nl, buf, QUELL_CMD_LINK_GET), &reader, &err))
		return complain_kernel("cannot read the rates", &err);
	return STATUS_OK;
}

/* quell link show [DEV] */
int link_show(struct app *app, int argc, char **argv)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct link_shown shown = { .o = &app->out };
	struct nl_reader reader = { .message = show_link, .data = &shown };
	struct nl_error err;

	if (argc && find_dev(argv[0], &shown.only))
		return STATUS_INPUT;
	out_open_array(&app->out, NULL);
	if (nl_dump(&app->nl, nl_prepare(&app->nl, buf, QUELL_CMD_LINK_GET), &reader, &err))
		return complain_kernel("cannot read the rates", &err);
	/* The kernel only lists interfaces with a rate. */
	if (shown.only && !shown.found)
		print_link(&app->out, argv[0], NULL, NULL);
	out_close_array(&app->out);
	out_document_end(&app->out);
	return STATUS_OK;
}

/**
 * link_set_rate() - set the rate of an interface
 * @app: connected to the kernel
 * @dev: its name
 * @bytes_ps: bytes per second; 0 goes back to the driver's
 *
 * Return: an exit status; the reason of a failure has been printed.
 */
int link_set_rate(struct app *app, const char *dev, uint64_t bytes_ps)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = nl_prepare(&app->nl, buf, QUELL_CMD_LINK_SET);
	struct nl_error err;
	uint32_t ifindex;

	if (find_dev(dev, &ifindex))
		return STATUS_INPUT;
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
	return link_set_rate(app, argv[0], bytes_ps);
}

/* quell link reset DEV */
int link_reset(struct app *app, int argc, char **argv)
{
	(void)argc;
	return link_set_rate(app, argv[0], 0);
}
