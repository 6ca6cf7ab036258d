// SPDX-License-Identifier: GPL-2.0
/*
 * quell sender: the hosts that send to this one, and their weights.
 */
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include <quell_lookahead.h>

#include "batch.h"
#include "qty.h"
#include "quell.h"

#define WEIGHT_MAX	255

static void print_sender(struct out *o, const struct sender *s)
{
	out_open_object(o, NULL);
	out_address(o, "address", "\t%s", &s->address);
	out_u64(o, "weight", " weight %s", s->weight);
	out_u64(o, "connections", " connections %s", s->connections);
	out_u64(o, "waiting", s->waiting ? " waiting %s" : NULL, s->waiting);
	out_text(o, "\n");
	out_close_object(o);
}

static void print_receiver(struct out *o, const struct receiver *r,
			   const struct sender_list *senders)
{
	char dev[IF_NAMESIZE];
	size_t i;

	if (!if_indextoname(r->ifindex, dev))
		return;
	out_open_object(o, NULL);
	out_str(o, "dev", "%s:", dev);
	out_str(o, "state", " state %s", r->state);
	out_u64(o, "active", " senders %s", r->senders);
	out_u64(o, "weight", " weight %s", r->weight);
	if (r->bytes_ps)
		out_qty(o, "rate_bytes_ps", " rate %s", QUELL_UNIT_BYTES_PS, r->bytes_ps);
	else
		out_null(o, "rate_bytes_ps", " rate unknown");
	out_text(o, "\n");
	out_open_array(o, "senders");
	for (i = 0; i < senders->n; i++)
		if (senders->list[i].ifindex == r->ifindex)
			print_sender(o, &senders->list[i]);
	out_close_array(o);
	out_close_object(o);
}

static int fetch_senders(struct app *app, struct sender_list *list)
{
	return app_fetch(app, QUELL_CMD_SENDER_GET, &sender_kind, list, "cannot list the senders");
}

/* [dev DEV]; without it @ifindex stays. */
static int read_dev(int argc, char **argv, uint32_t *ifindex)
{
	static const struct word dev = { "dev", word_dev, 0, NULL };
	static const struct words words = { .name = "sender", .list = &dev, .n = 1 };

	return words_read(&words, ifindex, argc, argv);
}

int sender_show(struct app *app, int argc, char **argv)
{
	struct receiver_list receivers = {};
	struct sender_list senders = {};
	uint32_t only = 0;
	int status;
	size_t i;

	if (read_dev(argc, argv, &only))
		return STATUS_INPUT;
	status = app_connect(app, "dart");
	if (status)
		return status;
	status = app_fetch(app, QUELL_CMD_RECEIVER_GET, &receiver_kind, &receivers,
			   "cannot list the senders") ?:
		 fetch_senders(app, &senders);
	if (!status) {
		out_open_array(&app->out, NULL);
		for (i = 0; i < receivers.n; i++)
			if (!only || receivers.list[i].ifindex == only)
				print_receiver(&app->out, &receivers.list[i], &senders);
		out_close_array(&app->out);
	}
	receiver_list_free(&receivers);
	sender_list_free(&senders);
	return status;
}

static int route_to(const struct sockaddr_storage *address, const char *name, uint32_t *ifindex)
{
	char text[QUELL_LOOKAHEAD_ERROR_BYTES];
	int ret = quell_lookahead_ifindex(address, text, sizeof(text));

	if (ret < 0)
		return complain_lookahead(name, ret, text);
	*ifindex = ret;
	return STATUS_OK;
}

static void put_address(struct nlmsghdr *nlh, const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		mnl_attr_put(nlh, QUELL_A_SENDER_ADDRESS, sizeof(struct in_addr),
			     &((const struct sockaddr_in *)address)->sin_addr);
	else
		mnl_attr_put(nlh, QUELL_A_SENDER_ADDRESS, sizeof(struct in6_addr),
			     &((const struct sockaddr_in6 *)address)->sin6_addr);
}

static int set_weight(struct app *app, uint32_t ifindex, const struct sockaddr_storage *address,
		      const char *name, uint32_t weight)
{
	char buf[NL_BUFFER_LEN] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = nl_prepare(&app->nl, buf, QUELL_CMD_WEIGHT_SET);
	struct nl_error err;

	mnl_attr_put_u32(nlh, QUELL_A_SENDER_IFINDEX, ifindex);
	put_address(nlh, address);
	mnl_attr_put_u32(nlh, QUELL_A_SENDER_WEIGHT, weight);
	if (nl_do(&app->nl, nlh, NULL, &err))
		return complain_kernel(name, &err);
	return STATUS_OK;
}

/* Write commands that set the weights, and commands that remove them. */
int sender_save(struct app *app, FILE *set, FILE *reset)
{
	char dev[IF_NAMESIZE], word[BATCH_WORD_LEN], text[INET6_ADDRSTRLEN];
	struct sender_list list = {};
	int status = fetch_senders(app, &list);
	size_t i;

	for (i = 0; !status && i < list.n; i++) {
		const struct sender *s = &list.list[i];

		if (s->weight == 1 || !if_indextoname(s->ifindex, dev))
			continue;
		address_text(&s->address, text);
		fprintf(set, "sender weight %s %u dev %s\n", text, s->weight,
			batch_word(word, dev));
		fprintf(reset, "sender weight %s 1 dev %s\n", text, word);
	}
	sender_list_free(&list);
	return status;
}

int sender_weight(struct app *app, int argc, char **argv)
{
	struct sockaddr_storage address;
	uint32_t ifindex = 0;
	uint64_t weight;
	int status;

	if (read_address(argv[0], &address))
		return STATUS_INPUT;
	if (read_number("weight", argv[1], WEIGHT_MAX, &weight))
		return STATUS_INPUT;
	if (read_dev(argc - 2, argv + 2, &ifindex))
		return STATUS_INPUT;
	status = app_connect(app, "dart");
	if (!status && !ifindex)
		status = route_to(&address, argv[0], &ifindex);
	if (!status && app->check)
		return dart_check(app, 0);
	if (status)
		return status;
	return set_weight(app, ifindex, &address, argv[0], weight);
}
