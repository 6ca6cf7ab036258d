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

/* Print the rates of an interface, with its name in front by @fmt. */
void link_print(struct out *o, const char *name, const char *fmt, const struct link *link)
{
	out_str(o, "dev", fmt, name);
	if (HAVE(link, QUELL_A_LINK_RATE))
		out_qty(o, "rate_bytes_ps", " rate %s", QUELL_UNIT_BYTES_PS, link->bytes_ps);
	else
		out_null(o, "rate_bytes_ps", "");
	if (HAVE(link, QUELL_A_LINK_DRIVER_RATE))
		out_qty(o, "driver_bytes_ps", " driver %s", QUELL_UNIT_BYTES_PS,
			link->driver_bytes_ps);
	else
		out_null(o, "driver_bytes_ps", "");
	if (!HAVE(link, QUELL_A_LINK_RATE) && !HAVE(link, QUELL_A_LINK_DRIVER_RATE))
		out_text(o, " rate unknown");
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

/* Look up an interface by its name, or an alternative name of any length. */
int find_dev(const char *name, uint32_t *ifindex)
{
	*ifindex = strlen(name) < IF_NAMESIZE ? if_nametoindex(name) : find_altname(name);
	if (*ifindex)
		return STATUS_OK;
	return complain("%s: %s", name, strerror(errno));
}

int word_dev(const struct word *w, const char *text, void *ifindex)
{
	return find_dev(text, ifindex);
}

/* The same, and its name in IF_NAMESIZE bytes, by which all requests know it. */
int find_dev_name(const char *name, char *dev)
{
	uint32_t ifindex;

	if (find_dev(name, &ifindex))
		return STATUS_INPUT;
	if (if_indextoname(ifindex, dev))
		return STATUS_OK;
	return complain("%s: %s", name, strerror(errno));
}

static int fetch_links(struct app *app, struct link_list *links)
{
	return app_fetch(app, QUELL_CMD_LINK_GET, &link_kind, links, "cannot read the rates");
}

static void print_link(struct out *o, const char *name, const struct link *link)
{
	out_open_object(o, NULL);
	link_print(o, name, "%s:", link);
	out_text(o, "\n");
	out_close_object(o);
}

/* Those of one interface, or with @only 0 all; the kernel lists only interfaces with a rate. */
static void print_links(struct out *o, const struct link_list *links, uint32_t only)
{
	static const struct link unknown;
	char name[IF_NAMESIZE];
	bool found = false;
	size_t i;

	out_open_array(o, NULL);
	for (i = 0; i < links->n; i++) {
		const struct link *link = &links->list[i];

		if ((only && link->ifindex != only) || !if_indextoname(link->ifindex, name))
			continue;
		print_link(o, name, link);
		found = true;
	}
	if (only && !found && if_indextoname(only, name))
		print_link(o, name, &unknown);
	out_close_array(o);
}

int link_show(struct app *app, int argc, char **argv)
{
	struct link_list links = {};
	uint32_t ifindex = 0;
	int status;

	if (argc && find_dev(argv[0], &ifindex))
		return STATUS_INPUT;
	status = app_connect(app, NULL) ?: fetch_links(app, &links);
	if (!status)
		print_links(&app->out, &links, ifindex);
	link_list_free(&links);
	return status;
}

/* Write commands that set the rates, and commands that reset them. */
int link_save(struct app *app, FILE *set, FILE *reset)
{
	char dev[IF_NAMESIZE], word[BATCH_WORD_LEN], rate[QTY_TEXT_LEN];
	struct link_list links = {};
	int status = fetch_links(app, &links);
	size_t i;

	for (i = 0; !status && i < links.n; i++) {
		const struct link *link = &links.list[i];

		if (!HAVE(link, QUELL_A_LINK_RATE) || !if_indextoname(link->ifindex, dev))
			continue;
		qty_format(rate, sizeof(rate), QUELL_UNIT_BYTES_PS, link->bytes_ps);
		fprintf(set, "link set %s rate %s\n", batch_word(word, dev), rate);
		fprintf(reset, "link reset %s\n", word);
	}
	link_list_free(&links);
	return status;
}

/* 0 goes back to the driver's. */
static int set_rate(struct app *app, const char *dev, uint64_t bytes_ps)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh;
	struct nl_error err;
	uint32_t ifindex;

	if (find_dev(dev, &ifindex))
		return STATUS_INPUT;
	if (app_connect(app, NULL))
		return STATUS_KERNEL;
	if (app->check)
		return STATUS_OK;
	nlh = nl_prepare(&app->nl, buf, QUELL_CMD_LINK_SET);
	mnl_attr_put_u32(nlh, QUELL_A_LINK_IFINDEX, ifindex);
	mnl_attr_put_u64(nlh, QUELL_A_LINK_RATE, bytes_ps);
	if (nl_do(&app->nl, nlh, NULL, &err))
		return complain_kernel(dev, &err);
	return STATUS_OK;
}

static int word_rate(const struct word *w, const char *text, void *bytes_ps)
{
	if (qty_parse(text, QUELL_UNIT_BYTES_PS, bytes_ps) || *(uint64_t *)bytes_ps)
		return word_quantity(w, text, bytes_ps);
	return complain("%s: '%s' is no rate; the driver's: quell link reset DEV", w->word, text);
}

int link_set(struct app *app, int argc, char **argv)
{
	static const struct quantity range = { QUELL_UNIT_BYTES_PS, 1, RATE_MAX_BYTES_PS };
	static const struct word rate = { "rate", word_rate, 0, &range };
	static const struct words words = { .name = "link", .list = &rate, .n = 1 };
	uint64_t bytes_ps;

	if (words_read(&words, &bytes_ps, argc - 1, argv + 1))
		return STATUS_INPUT;
	return set_rate(app, argv[0], bytes_ps);
}

int link_reset(struct app *app, int argc, char **argv)
{
	return set_rate(app, argv[0], 0);
}
