// SPDX-License-Identifier: GPL-2.0
/*
 * nfq_hold - holds packets in user space before it accepts them
 *
 *	nfq_hold QUEUE [gso] accept|delay MS|reverse COUNT|hold
 *		accept		at once
 *		delay		each after MS
 *		reverse		when COUNT packets are held, or no more came for
 *				QUIET_MS, the last first
 *		hold		on SIGUSR1: all held packets, and later ones at once
 *		Prints "ready".  gso: bursts whole, else the kernel splits them first.
 *		On SIGTERM it accepts all and prints "packets N".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define QUIET_MS	5
#define HELD_MAX	65536
#define QUEUE_LEN	65535
#define RECEIVE_BYTES	(64 << 20)

static struct mnl_socket *nl;
static char buffer[1 << 16];
static uint16_t queue;
static volatile sig_atomic_t released, ended;

/* Packets without a verdict, in the order they came. */
static struct {
	uint32_t id;
	uint64_t due_ms;
} held[HELD_MAX];
static unsigned int held_nr;
static unsigned long packets;

/* The mode; all are 0 and false for "accept". */
static unsigned int delay_ms, reverse;
static bool holds;

static void die(const char *what)
{
	fprintf(stderr, "nfq_hold: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void on_signal(int number)
{
	if (number == SIGUSR1)
		released = 1;
	else
		ended = 1;
}

static uint64_t now_ms(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * 1000ULL + at.tv_nsec / 1000000;
}

static struct nlmsghdr *begin(char *buf, int type, int flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct nfgenmsg *nfg;

	nlh->nlmsg_type = NFNL_SUBSYS_QUEUE << 8 | type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));
	nfg->nfgen_family = AF_UNSPEC;
	nfg->version = NFNETLINK_V0;
	nfg->res_id = htons(queue);
	return nlh;
}

static void send_or_die(const struct nlmsghdr *nlh, const char *what)
{
	if (mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		die(what);
}

static void answered(const char *what)
{
	int n = mnl_socket_recvfrom(nl, buffer, sizeof(buffer));

	if (n < 0 || mnl_cb_run(buffer, n, 0, mnl_socket_get_portid(nl), NULL, NULL) < 0)
		die(what);
}

static void bind_queue(bool gso)
{
	struct nfqnl_msg_config_cmd cmd = { .command = NFQNL_CFG_CMD_BIND };
	struct nfqnl_msg_config_params params = { .copy_mode = NFQNL_COPY_META };
	struct nlmsghdr *nlh = begin(buffer, NFQNL_MSG_CONFIG, NLM_F_ACK);

	mnl_attr_put(nlh, NFQA_CFG_CMD, sizeof(cmd), &cmd);
	send_or_die(nlh, "bind");
	answered("bind");
	nlh = begin(buffer, NFQNL_MSG_CONFIG, NLM_F_ACK);
	mnl_attr_put(nlh, NFQA_CFG_PARAMS, sizeof(params), &params);
	mnl_attr_put_u32(nlh, NFQA_CFG_QUEUE_MAXLEN, htonl(QUEUE_LEN));
	mnl_attr_put_u32(nlh, NFQA_CFG_FLAGS, htonl(gso ? NFQA_CFG_F_GSO : 0));
	mnl_attr_put_u32(nlh, NFQA_CFG_MASK, htonl(NFQA_CFG_F_GSO));
	send_or_die(nlh, "parameters");
	answered("parameters");
}

static void accept_packet(uint32_t id)
{
	struct nfqnl_msg_verdict_hdr verdict = { .verdict = htonl(NF_ACCEPT), .id = htonl(id) };
	char buf[256];
	struct nlmsghdr *nlh = begin(buf, NFQNL_MSG_VERDICT, 0);

	mnl_attr_put(nlh, NFQA_VERDICT_HDR, sizeof(verdict), &verdict);
	send_or_die(nlh, "verdict");
}

static void accept_first(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		accept_packet(held[i].id);
	memmove(held, held + nr, (held_nr - nr) * sizeof(held[0]));
	held_nr -= nr;
}

static void accept_reversed(void)
{
	while (held_nr)
		accept_packet(held[--held_nr].id);
}

static int on_attr(const struct nlattr *attr, void *data)
{
	if (mnl_attr_get_type(attr) == NFQA_PACKET_HDR)
		*(const struct nfqnl_msg_packet_hdr **)data = mnl_attr_get_payload(attr);
	return MNL_CB_OK;
}

static int on_packet(const struct nlmsghdr *nlh, void *data)
{
	const struct nfqnl_msg_packet_hdr *hdr = NULL;

	(void)data;
	mnl_attr_parse(nlh, sizeof(struct nfgenmsg), on_attr, &hdr);
	if (!hdr || held_nr == HELD_MAX)
		die("packet");
	held[held_nr].id = ntohl(hdr->packet_id);
	held[held_nr++].due_ms = now_ms() + delay_ms;
	packets++;
	return MNL_CB_OK;
}

/* Accept the packets that are due; @quiet: no packet came for a while. */
static void judge(bool quiet)
{
	uint64_t now = now_ms();
	unsigned int due = 0;

	if (ended || (holds && released)) {
		accept_first(held_nr);
	} else if (reverse) {
		if (quiet || held_nr >= reverse)
			accept_reversed();
	} else if (!holds) {
		while (due < held_nr && held[due].due_ms <= now)
			due++;
		accept_first(due);
	}
}

static int wait_ms(void)
{
	uint64_t now = now_ms();

	if (!held_nr || holds)
		return -1;
	if (reverse)
		return QUIET_MS;
	return held[0].due_ms > now ? held[0].due_ms - now : 0;
}

static void run(const sigset_t *while_waiting)
{
	struct pollfd fd = { .fd = mnl_socket_get_fd(nl), .events = POLLIN };

	while (!ended) {
		int timeout_ms = wait_ms();
		struct timespec timeout = {
			.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L,
		};
		int n = ppoll(&fd, 1, timeout_ms < 0 ? NULL : &timeout, while_waiting);

		if (n > 0) {
			n = mnl_socket_recvfrom(nl, buffer, sizeof(buffer));
			/* An error for a packet that vanished with its interface has no packet. */
			if (n > 0)
				mnl_cb_run(buffer, n, 0, 0, on_packet, NULL);
			n = 1;
		}
		judge(!n);
	}
	judge(true);
}

static bool parse(int argc, char **argv, bool *gso)
{
	if (argc < 3)
		return false;
	queue = atoi(argv[1]);
	*gso = !strcmp(argv[2], "gso");
	argv += 2 + *gso;
	argc -= 2 + *gso;
	if (argc == 2 && !strcmp(argv[0], "delay"))
		return (delay_ms = atoi(argv[1])) > 0;
	if (argc == 2 && !strcmp(argv[0], "reverse"))
		return (reverse = atoi(argv[1])) > 0;
	holds = argc == 1 && !strcmp(argv[0], "hold");
	return holds || (argc == 1 && !strcmp(argv[0], "accept"));
}

int main(int argc, char **argv)
{
	int bytes = RECEIVE_BYTES, no_errors = 1;
	sigset_t blocked, before;
	bool gso;

	if (!parse(argc, argv, &gso)) {
		fprintf(stderr, "usage: nfq_hold QUEUE [gso] accept|delay MS|reverse COUNT|hold\n");
		return 2;
	}
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	nl = mnl_socket_open(NETLINK_NETFILTER);
	if (!nl || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0)
		die("netlink");
	bind_queue(gso);
	setsockopt(mnl_socket_get_fd(nl), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes));
	mnl_socket_setsockopt(nl, NETLINK_NO_ENOBUFS, &no_errors, sizeof(no_errors));
	puts("ready");
	fflush(stdout);
	run(&before);
	printf("packets %lu\n", packets);
	return 0;
}
