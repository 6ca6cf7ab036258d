// SPDX-License-Identifier: GPL-2.0
/*
 * quell_nl - requests to quell.ko's generic netlink family and to qdiscs, made by hand
 *
 *	quell_nl request COMMAND [dump] [ATTRIBUTE]...
 *		One message without the checks of the quell command.  An
 *		ATTRIBUTE is TYPE:s:TEXT, TYPE:u64:NUMBER, TYPE:u32:NUMBER,
 *		TYPE:x:HEXBYTES, or TYPE:{ ATTRIBUTE... } for a nest, which with
 *		"[" for "{" is not flagged as one.  Prints
 *		"ok", or "ERRNO: MESSAGE" with the kernel's message and fails.
 *	quell_nl qdisc DEV [ATTRIBUTE]...
 *		Change the root qdisc of a device, without the checks of tc.  Types are
 *		those of TCA_*.  Prints the same, and behind a message the
 *		type of the attribute that it is about.
 *	quell_nl dumps COUNT
 *		Dumps all flows and all counters that often.
 *	quell_nl midway COMMAND SHELL-COMMAND
 *		A dump, with the shell command after its first part; the second is queued by then,
 *		and the third is not.  Prints "interrupted" if the kernel reports that, or "whole".
 *	quell_nl fuzz SEED COUNT
 *		COUNT messages of half-right commands, attributes and lengths.
 *		Fails if one is not answered; prints how many were accepted.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/quell.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#define MESSAGE_BYTES	8192
#define REPLY_BYTES	65536
#define ANSWER_S	10
#define NEST_MAX	4

static struct mnl_socket *nl;
static uint32_t seq;
static uint16_t family;

static void die(const char *what)
{
	fprintf(stderr, "quell_nl: %s\n", what);
	exit(2);
}

/* An attribute of the kernel's extended error in an answer, or NULL. */
static const struct nlattr *answer_attr(const struct nlmsghdr *nlh, int type)
{
	const struct nlmsgerr *report = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*report);
	const struct nlattr *attr;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += report->msg.nlmsg_len - sizeof(report->msg);
	mnl_attr_for_each(attr, nlh, skip)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

/* The message in an answer, and for a qdisc the type of the attribute that it is about. */
static void answer_text(const struct nlmsghdr *nlh, const struct nlmsghdr *request, char *text,
			size_t len)
{
	const struct nlattr *message = answer_attr(nlh, NLMSGERR_ATTR_MSG);
	const struct nlattr *place = answer_attr(nlh, NLMSGERR_ATTR_OFFS);
	const struct nlattr *about;

	snprintf(text, len, "%s", message ? mnl_attr_get_str(message) : "");
	if (!place || request->nlmsg_type != RTM_NEWQDISC)
		return;
	about = (const void *)((const char *)request + mnl_attr_get_u32(place));
	snprintf(text + strlen(text), len - strlen(text), " [%u]", mnl_attr_get_type(about));
}

/* Send, and read until the end of the answer; return 0 or the errno in it. */
static int talk(const struct nlmsghdr *request, char *text, size_t len)
{
	static char buf[REPLY_BYTES];
	const struct nlmsghdr *nlh;
	int left, error;

	text[0] = '\0';
	if (mnl_socket_sendto(nl, request, request->nlmsg_len) < 0)
		die("cannot send");
	for (;;) {
		left = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (left < 0)
			die("no answer");
		for (nlh = (void *)buf; mnl_nlmsg_ok(nlh, left);
		     nlh = mnl_nlmsg_next(nlh, &left)) {
			if (nlh->nlmsg_seq != request->nlmsg_seq)
				continue;
			if (nlh->nlmsg_type == NLMSG_DONE)
				return 0;
			if (nlh->nlmsg_type != NLMSG_ERROR)
				continue;
			error = ((struct nlmsgerr *)mnl_nlmsg_get_payload(nlh))->error;
			answer_text(nlh, request, text, len);
			return -error;
		}
	}
}

static struct nlmsghdr *start(char *buf, uint16_t type, uint8_t command, uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++seq;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = command;
	genl->version = QUELL_FAMILY_VERSION;
	return nlh;
}

static int find_family_cb(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			*(uint16_t *)data = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static void find_family(void)
{
	char buf[MESSAGE_BYTES];
	struct nlmsghdr *nlh;
	int len;

	nlh = start(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, QUELL_FAMILY_NAME);
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		die("cannot send");
	len = mnl_socket_recvfrom(nl, buf, sizeof(buf));
	if (len < 0 || mnl_cb_run(buf, len, seq, 0, find_family_cb, &family) < 0 || !family)
		die("quell.ko is not loaded");
}

static void open_socket(int bus)
{
	struct timeval timeout = { .tv_sec = ANSWER_S };
	int one = 1;

	nl = mnl_socket_open(bus);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		die("no netlink socket");
	mnl_socket_setsockopt(nl, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
}

static void put_hex(struct nlmsghdr *nlh, uint16_t type, const char *hex)
{
	uint8_t bytes[256];
	unsigned int byte;
	size_t n = 0;

	for (; n < sizeof(bytes) && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		bytes[n++] = byte;
	mnl_attr_put(nlh, type, n, bytes);
}

static void put_attribute(struct nlmsghdr *nlh, const char *arg)
{
	static struct nlattr *nests[NEST_MAX];
	static int depth;
	uint16_t type;
	char *value;

	if (!strcmp(arg, "}")) {
		if (!depth)
			die("'}' without '{'");
		mnl_attr_nest_end(nlh, nests[--depth]);
		return;
	}
	type = strtoul(arg, &value, 0);
	if ((!strcmp(value, ":{") || !strcmp(value, ":[")) && depth < NEST_MAX) {
		nests[depth] = mnl_attr_nest_start(nlh, type);
		if (value[1] == '[')
			nests[depth]->nla_type &= ~NLA_F_NESTED;
		depth++;
	}
	else if (!strncmp(value, ":s:", 3))
		mnl_attr_put_strz(nlh, type, value + 3);
	else if (!strncmp(value, ":u64:", 5))
		mnl_attr_put_u64(nlh, type, strtoull(value + 5, NULL, 0));
	else if (!strncmp(value, ":u32:", 5))
		mnl_attr_put_u32(nlh, type, strtoul(value + 5, NULL, 0));
	else if (!strncmp(value, ":x:", 3))
		put_hex(nlh, type, value + 3);
	else
		die("an attribute is TYPE:s:, :u64:, :u32:, :x:, :{ or :[");
}

static int ask(struct nlmsghdr *nlh, int argc, char **argv)
{
	char text[256];
	int i, err;

	for (i = 0; i < argc; i++)
		put_attribute(nlh, argv[i]);
	err = talk(nlh, text, sizeof(text));
	if (!err) {
		puts("ok");
		return 0;
	}
	printf("%s: %s\n", strerrorname_np(err), text);
	return 1;
}

static int request(int argc, char **argv)
{
	bool dump = argc > 1 && !strcmp(argv[1], "dump");
	char buf[MESSAGE_BYTES];

	return ask(start(buf, family, strtoul(argv[0], NULL, 0), dump ? NLM_F_DUMP : NLM_F_ACK),
		   argc - 1 - dump, argv + 1 + dump);
}

static int qdisc(int argc, char **argv)
{
	char buf[MESSAGE_BYTES];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct tcmsg *tcm;

	nlh->nlmsg_type = RTM_NEWQDISC;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	nlh->nlmsg_seq = ++seq;
	tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));
	tcm->tcm_parent = TC_H_ROOT;
	tcm->tcm_ifindex = if_nametoindex(argv[0]);
	return ask(nlh, argc - 1, argv + 1);
}

/* Evenly distributed in [0, n). */
static uint32_t draw(uint32_t n)
{
	return random() % n;
}

static const char * const names[] = {
	"base-target", "beta", "ai", "max-mdf", "swift", "",
	"a-name-longer-than-any-parameter-may-have",
};

static const uint64_t values[] = { 0, 1, 5000, 65536, 1000000, UINT64_MAX };

#define ANY(array)	((array)[draw(sizeof(array) / sizeof((array)[0]))])

/* Put a well-formed parameter; name or value may be invalid. */
static void put_parameter(struct nlmsghdr *nlh)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, QUELL_A_CC_PARAM);

	mnl_attr_put_strz(nlh, QUELL_A_PARAM_NAME, ANY(names));
	mnl_attr_put_u64(nlh, QUELL_A_PARAM_VALUE, ANY(values));
	mnl_attr_nest_end(nlh, nest);
}

static void put_random(struct nlmsghdr *nlh, int depth)
{
	uint16_t type = draw(4) ? 1 + draw(4) : draw(40) | (draw(8) ? 0 : NLA_F_NESTED);
	uint64_t noise[4] = { random(), random(), random(), random() };
	struct nlattr *attr = mnl_nlmsg_get_payload_tail(nlh);
	struct nlattr *nest;

	switch (draw(depth ? 4 : 5)) {
	case 0:
		mnl_attr_put_strz(nlh, type, ANY(names));
		break;
	case 1:
		mnl_attr_put_u64(nlh, type, ANY(values));
		break;
	case 2:
		mnl_attr_put(nlh, type, draw(sizeof(noise) + 1), noise);
		break;
	case 3:
		mnl_attr_put_u32(nlh, type, random());
		break;
	default:
		nest = mnl_attr_nest_start(nlh, type);
		while (draw(3))
			put_random(nlh, depth + 1);
		mnl_attr_nest_end(nlh, nest);
	}
	if (!draw(10))
		attr->nla_len = draw(100);	/* a lie */
}

/* All flows and all counters, that often. */
static int dumps(unsigned long count)
{
	char buf[MESSAGE_BYTES], text[256];
	int err = 0;

	for (; count && !err; count--) {
		err = talk(start(buf, family, QUELL_CMD_FLOW_GET, NLM_F_DUMP), text, sizeof(text));
		if (!err)
			err = talk(start(buf, family, QUELL_CMD_STAT_GET, NLM_F_DUMP), text,
				   sizeof(text));
	}
	if (err)
		printf("%s: %s\n", strerrorname_np(err), text);
	return err != 0;
}

static int fuzz(unsigned int seed, unsigned long count)
{
	unsigned long accepted = 0, i;
	char buf[MESSAGE_BYTES], text[256];
	struct nlmsghdr *nlh;
	int attributes;

	srandom(seed);
	for (i = 0; i < count; i++) {
		memset(buf, 0, sizeof(buf));
		nlh = start(buf, family, draw(__QUELL_CMD_MAX + 2),
			    draw(3) ? NLM_F_ACK : NLM_F_ACK | NLM_F_DUMP);
		if (draw(2))
			mnl_attr_put_strz(nlh, QUELL_A_CC_NAME, "swift");
		if (draw(2))
			put_parameter(nlh);
		for (attributes = draw(2) ? 0 : draw(6); attributes; attributes--)
			put_random(nlh, 0);
		accepted += !talk(nlh, text, sizeof(text));
	}
	printf("accepted %lu of %lu\n", accepted, count);
	return 0;
}

/* A dump that is begun, and not read until somebody kills us. */
static int leave(const char *command)
{
	char buf[MESSAGE_BYTES];
	struct nlmsghdr *nlh = start(buf, family, strtoul(command, NULL, 0), NLM_F_DUMP);

	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		die("send");
	puts("begun");
	fflush(stdout);
	pause();
	return 0;
}

static int midway(const char *command, const char *shell)
{
	char buf[MESSAGE_BYTES];
	struct nlmsghdr *nlh = start(buf, family, strtoul(command, NULL, 0), NLM_F_DUMP);
	bool done = false, interrupted = false;
	int left, parts;

	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		die("send");
	for (parts = 0; !done; parts++) {
		if (parts == 1 && system(shell))
			die(shell);
		left = mnl_socket_recvfrom(nl, buf, sizeof(buf));
		if (left < 0)
			die("receive");
		for (nlh = (void *)buf; mnl_nlmsg_ok(nlh, left); nlh = mnl_nlmsg_next(nlh, &left)) {
			interrupted |= nlh->nlmsg_flags & NLM_F_DUMP_INTR;
			done |= nlh->nlmsg_type == NLMSG_DONE || nlh->nlmsg_type == NLMSG_ERROR;
		}
	}
	if (parts < 3)
		die("a dump of one part");
	puts(interrupted ? "interrupted" : "whole");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "qdisc")) {
		open_socket(NETLINK_ROUTE);
		return qdisc(argc - 2, argv + 2);
	}
	open_socket(NETLINK_GENERIC);
	find_family();
	if (argc >= 3 && !strcmp(argv[1], "request"))
		return request(argc - 2, argv + 2);
	if (argc == 3 && !strcmp(argv[1], "leave"))
		return leave(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "dumps"))
		return dumps(strtoul(argv[2], NULL, 0));
	if (argc == 4 && !strcmp(argv[1], "midway"))
		return midway(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "fuzz"))
		return fuzz(strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0));
	die("usage: quell_nl request COMMAND [dump] [ATTRIBUTE]... | leave COMMAND | "
	    "qdisc DEV [ATTRIBUTE]... | dumps COUNT | "
	    "midway COMMAND SHELL-COMMAND | fuzz SEED COUNT");
}
