// SPDX-License-Identifier: GPL-2.0
/*
 * swport_pkt - packets made to measure, for swport.sh
 *
 *	swport_pkt send DEV KIND COUNT BYTES [ECN [DSCP]]
 *		COUNT frames of BYTES (Ethernet header included) through the
 *		device's qdisc, numbered from 0 in the IPv4 identification.
 *	swport_pkt recv DEV COUNT TIMEOUT_MS
 *		Says "ready", then a line per frame that send made:
 *		time_ns kind number ecn dscp bytes.  Fails unless COUNT came.
 *	swport_pkt set DEV [ATTRIBUTE=VALUE]...
 *		Change a root swport by netlink attribute number, without tc's
 *		checks; prints what the kernel says.  Newer ones have names.  "class", any number of times, is
 *		a class of ecn-class, DSCPS,MIN,MAX,PROB as numbers, and "classes=none"
 *		a list without any; what is left out at the end is not sent.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <linux/pkt_sched_swport.h>
#include <linux/rtnetlink.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define FRAME_MAX	65536
#define SOCKET_BYTES	(256 << 20)
#define GSO_SIZE	1000
#define ETH_BYTES	14
#define IP4_BYTES	20
#define IP6_BYTES	40
#define TCP_BYTES	20
#define UDP_BYTES	8
#define TCP_FIN		0x01
#define TCP_SYN		0x02
#define TCP_RST		0x04
#define TCP_ACK		0x10

/* By this source address recv knows the frames of send. */
static const uint8_t our_mac[6] = { 0x02, 'q', 'u', 'e', 'l', 'l' };
static const uint8_t any_mac[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

/**
 * struct kind - a sort of frame
 * @name: as on the command line
 * @ethertype: of the innermost header
 * @proto: IP protocol
 * @tcp_flags: for TCP
 * @icmp_type: for ICMPv6
 * @payload: filled up to the length asked for; otherwise headers alone
 * @fragment: IPv4 fragment other than the first
 * @vlan: with an 802.1Q tag in the frame
 * @gso: one super-packet, to be cut into segments of GSO_SIZE
 */
struct kind {
	const char *name;
	uint16_t ethertype;
	uint8_t proto;
	uint8_t tcp_flags;
	uint8_t icmp_type;
	bool payload;
	bool fragment;
	bool vlan;
	bool gso;
};

static const struct kind kinds[] = {
	{ .name = "udp", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_UDP, .payload = true },
	{ .name = "tcp", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TCP_ACK, .payload = true },
	{ .name = "ack", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TCP_ACK },
	{ .name = "syn", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TCP_SYN },
	{ .name = "synack", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TCP_SYN | TCP_ACK },
	{ .name = "fin", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TCP_FIN | TCP_ACK },
	{ .name = "rst", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TCP_RST | TCP_ACK },
	{ .name = "frag", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TCP_ACK, .fragment = true },
	{ .name = "vlanack", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TCP_ACK, .vlan = true },
	{ .name = "vlanudp", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_UDP, .payload = true, .vlan = true },
	{ .name = "gso", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TCP_ACK, .payload = true, .gso = true },
	{ .name = "udp6", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_UDP, .payload = true },
	{ .name = "tcp6", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_TCP, .tcp_flags = TCP_ACK, .payload = true },
	{ .name = "ack6", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_TCP, .tcp_flags = TCP_ACK },
	{ .name = "syn6", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_TCP, .tcp_flags = TCP_SYN },
	{ .name = "nd", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_ICMPV6, .icmp_type = 135 },
	{ .name = "ping6", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_ICMPV6, .icmp_type = 128 },
	{ .name = "arp", .ethertype = ETH_P_ARP },
	{ .name = "other", .ethertype = 0x88b5, .payload = true },
};

static void die(const char *what)
{
	fprintf(stderr, "swport_pkt: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: swport_pkt send DEV KIND COUNT BYTES [ECN [DSCP]]\n"
		"       swport_pkt recv DEV COUNT TIMEOUT_MS\n"
		"       swport_pkt set DEV [ATTRIBUTE=VALUE]...\n");
	exit(2);
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static uint16_t get16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static uint32_t sum16(const uint8_t *at, size_t bytes)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < bytes; i += 2)
		sum += get16(at + i);
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static size_t put_transport(uint8_t *at, const struct kind *kind)
{
	switch (kind->proto) {
	case IPPROTO_TCP:
		at[12] = TCP_BYTES / 4 << 4;
		at[13] = kind->tcp_flags;
		return TCP_BYTES;
	case IPPROTO_ICMPV6:
		at[0] = kind->icmp_type;
		return 24;
	default:
		return UDP_BYTES;
	}
}

static void put_ip4(uint8_t *ip, const struct kind *kind, uint16_t bytes,
		    unsigned int number, uint8_t tos)
{
	static const uint8_t addresses[8] = { 192, 0, 2, 1, 192, 0, 2, 2 };

	ip[0] = 0x45;
	ip[1] = tos;
	put16(ip + 2, bytes);
	put16(ip + 4, number);
	put16(ip + 6, kind->fragment ? 100 : 0);
	ip[8] = 64;
	ip[9] = kind->proto;
	memcpy(ip + 12, addresses, sizeof(addresses));
	put16(ip + 10, ~fold(sum16(ip, IP4_BYTES)));
	/* What a GSO packet carries instead of its checksum: the pseudo header. */
	if (kind->gso)
		put16(ip + IP4_BYTES + 16,
		      fold(sum16(ip + 12, 8) + kind->proto + bytes - IP4_BYTES));
}

static void put_ip6(uint8_t *ip, const struct kind *kind, uint16_t bytes,
		    unsigned int number, uint8_t tos)
{
	static const uint8_t source[16] = { 0x20, 1, 0xd, 0xb8, [15] = 1 };

	ip[0] = 0x60 | tos >> 4;
	ip[1] = tos << 4;
	/* The flow label carries the number. */
	put16(ip + 2, number);
	put16(ip + 4, bytes - IP6_BYTES);
	ip[6] = kind->proto;
	ip[7] = 255;
	memcpy(ip + 8, source, sizeof(source));
	memcpy(ip + 24, source, sizeof(source));
}

/* Returns the length of the frame. */
static size_t make_frame(uint8_t *frame, const struct kind *kind, size_t bytes,
			 unsigned int number, uint8_t tos)
{
	uint8_t *at = frame + ETH_BYTES;
	size_t end;

	memset(frame, 0, FRAME_MAX);
	memcpy(frame, any_mac, 6);
	memcpy(frame + 6, our_mac, 6);
	if (kind->vlan) {
		put16(frame + 12, ETH_P_8021Q);
		put16(frame + 14, 5);
		at += 4;
	}
	put16(at - 2, kind->ethertype);

	end = at - frame;
	if (kind->ethertype == ETH_P_ARP)
		end += 28;
	else if (kind->ethertype == ETH_P_IP)
		end += IP4_BYTES + put_transport(at + IP4_BYTES, kind);
	else if (kind->ethertype == ETH_P_IPV6)
		end += IP6_BYTES + put_transport(at + IP6_BYTES, kind);
	if (kind->payload && bytes > end)
		end = bytes;

	if (kind->ethertype == ETH_P_IP)
		put_ip4(at, kind, end - (at - frame), number, tos);
	else if (kind->ethertype == ETH_P_IPV6)
		put_ip6(at, kind, end - (at - frame), number, tos);
	return end;
}

static int open_packet(const char *dev, int protocol, int buffer)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = if_nametoindex(dev),
	};
	int bytes = SOCKET_BYTES;
	int fd;

	if (!address.sll_ifindex)
		die(dev);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0)
		die("socket");
	if (setsockopt(fd, SOL_SOCKET, buffer, &bytes, sizeof(bytes)))
		die("socket buffer");
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die("bind");
	return fd;
}

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	usage();
	return NULL;
}

static int send_frames(int argc, char **argv)
{
	static struct {
		struct virtio_net_hdr vnet;
		uint8_t frame[FRAME_MAX];
	} __attribute__((packed)) packet;
	const struct kind *kind;
	unsigned int count;
	size_t bytes;
	uint8_t tos;
	int one = 1;
	int fd;

	if (argc < 4)
		usage();
	kind = find_kind(argv[1]);
	count = atoi(argv[2]);
	bytes = atoi(argv[3]);
	tos = (argc > 5 ? atoi(argv[5]) : 0) << 2 | (argc > 4 ? atoi(argv[4]) : 0);
	fd = open_packet(argv[0], 0, SO_SNDBUFFORCE);
	if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)))
		die("vnet header");
	if (kind->gso) {
		packet.vnet.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		packet.vnet.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
		packet.vnet.hdr_len = ETH_BYTES + IP4_BYTES + TCP_BYTES;
		packet.vnet.gso_size = GSO_SIZE;
		packet.vnet.csum_start = ETH_BYTES + IP4_BYTES;
		packet.vnet.csum_offset = 16;
	}
	for (unsigned int i = 0; i < count; i++) {
		size_t length = make_frame(packet.frame, kind, bytes, i, tos);

		/* ENOBUFS is the qdisc's tail drop, which is part of the test. */
		if (send(fd, &packet, sizeof(packet.vnet) + length, 0) < 0 &&
		    errno != ENOBUFS)
			die("send");
	}
	return 0;
}

/* Name of the kind a frame is of, or "broken" when its checksum is wrong. */
static const char *name_frame(uint16_t ethertype, const uint8_t *at, bool vlan)
{
	const uint8_t *next = at + (ethertype == ETH_P_IP ? IP4_BYTES : IP6_BYTES);
	uint8_t proto = ethertype == ETH_P_IP ? at[9] : at[6];
	uint16_t ip_bytes = get16(at + (ethertype == ETH_P_IP ? 2 : 4));
	bool payload;

	if (ethertype == ETH_P_IP && fold(sum16(at, IP4_BYTES)) != 0xffff)
		return "broken";
	payload = ip_bytes > TCP_BYTES + (ethertype == ETH_P_IP ? IP4_BYTES : 0);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct kind *kind = &kinds[i];

		if (kind->gso || kind->ethertype != ethertype || kind->vlan != vlan)
			continue;
		if (ethertype != ETH_P_IP && ethertype != ETH_P_IPV6)
			return kind->name;
		if (kind->proto != proto ||
		    (ethertype == ETH_P_IP && kind->fragment != !!get16(at + 6)))
			continue;
		if (proto == IPPROTO_TCP && (kind->tcp_flags != next[13] ||
					     kind->payload != payload))
			continue;
		if (proto == IPPROTO_ICMPV6 && kind->icmp_type != next[0])
			continue;
		return kind->name;
	}
	return "unknown";
}

static void print_frame(uint64_t time_ns, const uint8_t *frame, size_t bytes,
			bool tagged)
{
	bool inside = get16(frame + 12) == ETH_P_8021Q;
	const uint8_t *at = frame + ETH_BYTES + (inside ? 4 : 0);
	uint16_t ethertype = get16(at - 2);
	unsigned int number = 0;
	uint8_t tos = 0;

	if (ethertype == ETH_P_IP) {
		number = get16(at + 4);
		tos = at[1];
	} else if (ethertype == ETH_P_IPV6) {
		number = get16(at + 2);
		tos = at[0] << 4 | at[1] >> 4;
	}
	printf("%llu %s %u %u %u %zu\n", (unsigned long long)time_ns,
	       name_frame(ethertype, at, inside || tagged), number, tos & 3,
	       tos >> 2, bytes);
}

/* One frame; false when it is none of ours. */
static bool recv_frame(int fd)
{
	static uint8_t frame[FRAME_MAX];
	struct iovec iov = { frame, sizeof(frame) };
	struct sockaddr_ll from;
	char control[256];
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from),
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	uint64_t time_ns = 0;
	bool tagged = false;
	ssize_t bytes;

	bytes = recvmsg(fd, &msg, 0);
	if (bytes < 0)
		die("recvmsg");
	if (bytes < ETH_BYTES || from.sll_pkttype == PACKET_OUTGOING ||
	    memcmp(frame + 6, our_mac, sizeof(our_mac)))
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		struct tpacket_auxdata aux;
		struct timespec ts;

		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
			time_ns = ts.tv_sec * 1000000000ULL + ts.tv_nsec;
		} else if (c->cmsg_level == SOL_PACKET &&
			   c->cmsg_type == PACKET_AUXDATA) {
			memcpy(&aux, CMSG_DATA(c), sizeof(aux));
			tagged = aux.tp_status & TP_STATUS_VLAN_VALID;
		}
	}
	print_frame(time_ns, frame, bytes, tagged);
	return true;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static int recv_frames(int argc, char **argv)
{
	unsigned int count;
	uint64_t end_ms;
	int one = 1;
	int fd;

	if (argc != 3)
		usage();
	count = atoi(argv[1]);
	fd = open_packet(argv[0], ETH_P_ALL, SO_RCVBUFFORCE);
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)))
		die("timestamps");
	printf("ready\n");
	fflush(stdout);
	end_ms = now_ms() + atoi(argv[2]);
	while (count) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		uint64_t ms = now_ms();

		if (ms >= end_ms || poll(&wait, 1, end_ms - ms) <= 0)
			return 1;
		count -= recv_frame(fd);
	}
	return 0;
}

/* Append an attribute; returns it. */
static struct rtattr *put_attr(struct nlmsghdr *n, int type, const void *data,
			       size_t bytes)
{
	struct rtattr *attr = (void *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));

	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(bytes);
	if (bytes)
		memcpy(RTA_DATA(attr), data, bytes);
	n->nlmsg_len = NLMSG_ALIGN(n->nlmsg_len) + RTA_ALIGN(attr->rta_len);
	return attr;
}

static void end_nest(struct nlmsghdr *n, struct rtattr *nest)
{
	nest->rta_len = (char *)n + n->nlmsg_len - (char *)nest;
}

/* One more class behind those there are; the first opens the list. */
static void put_class(struct nlmsghdr *n, const char *values)
{
	static struct rtattr *all;
	struct rtattr *one;

	if (!all)
		all = put_attr(n, TCA_SWPORT_ECN_CLASSES, NULL, 0);
	one = put_attr(n, TCA_SWPORT_ECN_CLASS, NULL, 0);
	for (int type = TCA_SWPORT_CLASS_DSCPS; *values; type++) {
		char *end;
		uint64_t value = strtoull(values, &end, 0);
		uint32_t small = value;

		if (type == TCA_SWPORT_CLASS_DSCPS)
			put_attr(n, type, &value, sizeof(value));
		else
			put_attr(n, type, &small, sizeof(small));
		values = *end ? end + 1 : end;
	}
	end_nest(n, one);
	end_nest(n, all);
}

/* Number of an attribute that has it before the "=", or a name. */
static int option_type(const char *option, char **end)
{
	static const struct {
		const char *name;
		int type;
	} names[] = {
		{ "buffer=", TCA_SWPORT_BUFFER },
		{ "alpha=", TCA_SWPORT_ALPHA },
		{ "percentiles=", TCA_SWPORT_PERCENTILES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strncmp(option, names[i].name, strlen(names[i].name))) {
			*end = strchr(option, '=');
			return names[i].type;
		}
	}
	return strtol(option, end, 0);
}

static void put_option(struct nlmsghdr *n, const char *option)
{
	char *end;
	int type = option_type(option, &end);
	uint64_t value;
	uint32_t small;

	if (!strncmp(option, "class=", 6)) {
		put_class(n, option + 6);
		return;
	}
	if (!strcmp(option, "classes=none")) {
		put_attr(n, TCA_SWPORT_ECN_CLASSES, NULL, 0);
		return;
	}

	if (*end != '=')
		usage();
	value = strtoull(end + 1, NULL, 0);
	small = value;
	if (type == TCA_SWPORT_RATE || type == TCA_SWPORT_TRIM_ELIGIBLE)
		put_attr(n, type, &value, sizeof(value));
	else
		put_attr(n, type, &small, sizeof(small));
}

static int print_answer(int fd)
{
	static char buffer[8192];
	struct nlmsghdr *n = (void *)buffer;
	struct nlmsgerr *error = NLMSG_DATA(n);
	struct rtattr *attr;
	int left;

	if (recv(fd, buffer, sizeof(buffer), 0) < 0)
		die("recv");
	if (!error->error) {
		printf("ok\n");
		return 0;
	}
	printf("%s:", strerror(-error->error));
	attr = (void *)((char *)error + sizeof(*error));
	if (!(n->nlmsg_flags & NLM_F_CAPPED))
		attr = (void *)((char *)attr +
				NLMSG_ALIGN(error->msg.nlmsg_len - NLMSG_HDRLEN));
	left = n->nlmsg_len - ((char *)attr - (char *)n);
	for (; RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		if (attr->rta_type == NLMSGERR_ATTR_MSG)
			printf(" %s", (char *)RTA_DATA(attr));
	printf("\n");
	return 1;
}

static int set_options(int argc, char **argv)
{
	static struct {
		struct nlmsghdr n;
		struct tcmsg t;
		char buffer[1024];
	} req;
	struct rtattr *nest;
	int one = 1;
	int fd;

	if (argc < 1)
		usage();
	req.n.nlmsg_len = NLMSG_LENGTH(sizeof(req.t));
	req.n.nlmsg_type = RTM_NEWQDISC;
	req.n.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	req.t.tcm_parent = TC_H_ROOT;
	req.t.tcm_ifindex = if_nametoindex(argv[0]);
	put_attr(&req.n, TCA_KIND, "swport", sizeof("swport"));
	nest = put_attr(&req.n, TCA_OPTIONS, NULL, 0);
	for (int i = 1; i < argc; i++)
		put_option(&req.n, argv[i]);
	nest->rta_len = (char *)&req.n + req.n.nlmsg_len - (char *)nest;

	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (fd < 0)
		die("netlink");
	if (setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)) ||
	    send(fd, &req, req.n.nlmsg_len, 0) < 0)
		die("netlink");
	return print_answer(fd);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		usage();
	if (!strcmp(argv[1], "send"))
		return send_frames(argc - 2, argv + 2);
	if (!strcmp(argv[1], "recv"))
		return recv_frames(argc - 2, argv + 2);
	if (!strcmp(argv[1], "set"))
		return set_options(argc - 2, argv + 2);
	usage();
	return 2;
}
