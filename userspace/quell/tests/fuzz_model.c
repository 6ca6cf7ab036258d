// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a reply of the kernel.
 */
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "sock_diag.h"
#include "model.h"
#include "monitor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same bytes as a socket of sock_diag. */
static void try_socket(const uint8_t *data, size_t size)
{
	static char buffer[1024] __attribute__((aligned(8)));
	struct diag_list sockets = {};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

	memcpy(mnl_nlmsg_get_payload_tail(nlh), data, size);
	nlh->nlmsg_len += size;
	diag_list_add(&sockets, nlh);
	diag_list_sort(&sockets);
	diag_list_find(&sockets, 1);
	diag_list_free(&sockets);
}

/* The same bytes as an event of each kind, printed to nowhere. */
static void try_event(struct nlmsghdr *nlh)
{
	struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	static struct monitor_view view;
	static struct out o;

	if (!o.file)
		out_init(&o, fopen("/dev/null", "w"), true, false);
	view.o = &o;
	for (genl->cmd = QUELL_CMD_CC_NTF; genl->cmd <= QUELL_CMD_MAX; genl->cmd++)
		monitor_print(&view, nlh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char buffer[1024] __attribute__((aligned(8)));
	struct stat_list stats = {};
	struct flow_list flows = {};
	struct lookahead_list groups = {};
	struct receiver_list receivers = {};
	struct sender_list senders = {};
	struct cc_list ccs = {};
	struct nlmsghdr *nlh;

	if (size > 512)
		return 0;
	nlh = mnl_nlmsg_put_header(buffer);
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct genlmsghdr));
	memcpy(mnl_nlmsg_get_payload_tail(nlh), data, size);
	nlh->nlmsg_len += size;

	try_socket(data, size);
	try_event(nlh);
	cc_list_add(&ccs, nlh);
	stat_list_add(&stats, nlh);
	flow_list_add(&flows, nlh);
	/* Twice: the second message may continue the group of the first. */
	if (!lookahead_list_add(&groups, nlh))
		lookahead_list_add(&groups, nlh);
	sender_list_add(&senders, nlh);
	receiver_list_add(&receivers, nlh);
	lookahead_list_free(&groups);
	sender_list_free(&senders);
	receiver_list_free(&receivers);
	cc_list_free(&ccs);
	stat_list_free(&stats);
	flow_list_free(&flows);
	return 0;
}
