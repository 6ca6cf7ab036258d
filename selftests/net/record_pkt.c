// SPDX-License-Identifier: GPL-2.0
/*
 * record_pkt - TCP segments with options made by hand, for telemetry.sh
 *
 *	record_pkt send DEV KEY=VALUE...
 *		Frames through the device's qdisc.
 *	record_pkt route KEY=VALUE...
 *		The same packets through the routing table.
 *	record_pkt recv DEV COUNT TIMEOUT_MS
 *		Says "ready", then a line of JSON per segment that came, with
 *		what the telemetry record in it says, if there is one.  Fails
 *		unless COUNT came.
 *
 * Keys: options (hexadecimal, filled up with no-operations), bytes (length of
 * the frame), count, ttl, flags (of TCP, hexadecimal), src and dst (IPv4 or IPv6,
 * which says the family), fragment=1 (more follow), partial=1 (the device is to
 * compute the checksum), gso (payload per segment, implies partial).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
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

#include <quell/option.h>

#define FRAME_MAX	65536
#define ETH_BYTES	14
#define IP4_BYTES	20
#define IP6_BYTES	40
#define TCP_BYTES	20
#define TCP_CHECK_AT	16
#define TCP_OPTIONS_MAX	40
#define TCP_ACK		0x10
/* By this source port recv knows the segments of send and route. */
#define OUR_PORT	20821
#define IPV6_HDRINCL	36	/* linux/in6.h, which libc's headers bar */

/**
 * struct segment - what is to be sent
 * @family: AF_INET or AF_INET6
 * @addresses: source and destination, as they are in a header
 * @options: of TCP, a multiple of four bytes
 * @options_bytes: how many
 * @frame_bytes: with the Ethernet header
 * @gso_bytes: payload per segment of a super-packet; 0 none
 */
struct segment {
	int family;
	uint8_t addresses[32];
	uint8_t options[TCP_OPTIONS_MAX];
	unsigned int options_bytes;
	unsigned int frame_bytes;
	unsigned int count;
	unsigned int gso_bytes;
	uint8_t ttl;
	uint8_t flags;
	bool fragment;
	bool partial;
};

static void die(const char *what)
{
	fprintf(stderr, "record_pkt: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: record_pkt send DEV KEY=VALUE...\n"
		"       record_pkt route KEY=VALUE...\n"
		"       record_pkt recv DEV COUNT TIMEOUT_MS\n");
	exit(2);
}

static uint32_t sum16(const uint8_t *at, size_t bytes)
{
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < bytes; i += 2)
		sum += quell_opt_get_u16(at + i);
	if (bytes & 1)
		sum += at[bytes - 1] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static size_t ip_bytes(int family)
{
	return family == AF_INET ? IP4_BYTES : IP6_BYTES;
}

/* Sum of the pseudo header of a TCP segment. */
static uint16_t pseudo_sum(int family, const uint8_t *ip, size_t tcp_bytes)
{
	uint32_t sum = IPPROTO_TCP + tcp_bytes;

	return fold(sum + (family == AF_INET ? sum16(ip + 12, 8) : sum16(ip + 8, 32)));
}

static void parse_hex(struct segment *s, const char *hex)
{
	unsigned int byte, n = 0;

	for (; *hex; hex += 2) {
		if (n == TCP_OPTIONS_MAX || sscanf(hex, "%2x", &byte) != 1 || !hex[1])
			usage();
		s->options[n++] = byte;
	}
	while (n % 4)
		s->options[n++] = QUELL_OPT_NOP;
	s->options_bytes = n;
}

static void parse_address(struct segment *s, int which, const char *text)
{
	s->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(s->family, text,
		      s->addresses + which * (s->family == AF_INET ? 4 : 16)) != 1)
		usage();
}

static void parse_key(struct segment *s, const char *key, const char *value)
{
	if (!strcmp(key, "options"))
		parse_hex(s, value);
	else if (!strcmp(key, "src"))
		parse_address(s, 0, value);
	else if (!strcmp(key, "dst"))
		parse_address(s, 1, value);
	else if (!strcmp(key, "bytes"))
		s->frame_bytes = atoi(value);
	else if (!strcmp(key, "count"))
		s->count = atoi(value);
	else if (!strcmp(key, "ttl"))
		s->ttl = atoi(value);
	else if (!strcmp(key, "flags"))
		s->flags = strtoul(value, NULL, 16);
	else if (!strcmp(key, "gso"))
		s->gso_bytes = atoi(value);
	else if (!strcmp(key, "fragment"))
		s->fragment = true;
	else if (!strcmp(key, "partial"))
		s->partial = true;
	else
		usage();
}

static void parse(struct segment *s, int argc, char **argv)
{
	static const struct segment defaults = {
		.family = AF_INET, .frame_bytes = 1000, .count = 1, .ttl = 63,
		.flags = TCP_ACK, .addresses = { 192, 0, 2, 1, 192, 0, 2, 2 },
	};

	*s = defaults;
	for (int i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			usage();
		*value++ = 0;
		parse_key(s, argv[i], value);
	}
	s->partial |= !!s->gso_bytes;
	if (s->frame_bytes > FRAME_MAX - 1 ||
	    s->frame_bytes < ETH_BYTES + ip_bytes(s->family) + TCP_BYTES + s->options_bytes)
		usage();
}

static void put_ip(uint8_t *ip, const struct segment *s, size_t tcp_bytes)
{
	if (s->family == AF_INET6) {
		ip[0] = 0x60;
		quell_opt_put_u16(ip + 4, tcp_bytes);
		ip[6] = IPPROTO_TCP;
		ip[7] = s->ttl;
		memcpy(ip + 8, s->addresses, 32);
		return;
	}
	ip[0] = 0x45;
	quell_opt_put_u16(ip + 2, IP4_BYTES + tcp_bytes);
	quell_opt_put_u16(ip + 6, s->fragment ? 0x2000 : 0);
	ip[8] = s->ttl;
	ip[9] = IPPROTO_TCP;
	memcpy(ip + 12, s->addresses, 8);
	quell_opt_put_u16(ip + 10, ~fold(sum16(ip, IP4_BYTES)));
}

/* The packet from its IP header on; the number tells segments apart. */
static size_t make_packet(uint8_t *ip, const struct segment *s, unsigned int number)
{
	size_t tcp_bytes = s->frame_bytes - ETH_BYTES - ip_bytes(s->family);
	uint8_t *tcp = ip + ip_bytes(s->family);
	uint32_t sum;

	memset(ip, 0, s->frame_bytes);
	put_ip(ip, s, tcp_bytes);
	quell_opt_put_u16(tcp, OUR_PORT);
	quell_opt_put_u16(tcp + 2, 9);
	quell_opt_put_u32(tcp + 4, number);
	tcp[12] = (TCP_BYTES + s->options_bytes) / 4 << 4;
	tcp[13] = s->flags;
	memcpy(tcp + TCP_BYTES, s->options, s->options_bytes);
	for (size_t i = TCP_BYTES + s->options_bytes; i < tcp_bytes; i++)
		tcp[i] = i * 7 + number;
	sum = pseudo_sum(s->family, ip, tcp_bytes);
	if (!s->partial)
		sum = (uint16_t)~fold(sum + sum16(tcp, tcp_bytes));
	quell_opt_put_u16(tcp + TCP_CHECK_AT, sum);
	return tcp + tcp_bytes - ip;
}

static struct virtio_net_hdr vnet_header(const struct segment *s)
{
	unsigned int tcp_at = ETH_BYTES + ip_bytes(s->family);
	struct virtio_net_hdr vnet = { 0 };

	if (!s->partial)
		return vnet;
	vnet.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	vnet.csum_start = tcp_at;
	vnet.csum_offset = TCP_CHECK_AT;
	if (!s->gso_bytes)
		return vnet;
	vnet.gso_type = s->family == AF_INET ? VIRTIO_NET_HDR_GSO_TCPV4 :
					       VIRTIO_NET_HDR_GSO_TCPV6;
	vnet.hdr_len = tcp_at + TCP_BYTES + s->options_bytes;
	vnet.gso_size = s->gso_bytes;
	return vnet;
}

static int open_packet(const char *dev, int protocol)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = if_nametoindex(dev),
	};
	int bytes = 64 << 20;
	int fd;

	if (!address.sll_ifindex)
		die(dev);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0)
		die("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die("packet socket");
	return fd;
}

static int send_frames(int argc, char **argv)
{
	static struct {
		struct virtio_net_hdr vnet;
		uint8_t frame[FRAME_MAX];
	} __attribute__((packed)) packet;
	struct segment s;
	int one = 1;
	int fd;

	if (argc < 1)
		usage();
	parse(&s, argc - 1, argv + 1);
	fd = open_packet(argv[0], 0);
	if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)))
		die("vnet header");
	packet.vnet = vnet_header(&s);
	memset(packet.frame, 0xff, ETH_ALEN);
	packet.frame[ETH_ALEN] = 2;
	quell_opt_put_u16(packet.frame + 12, s.family == AF_INET ? ETH_P_IP : ETH_P_IPV6);
	for (unsigned int i = 0; i < s.count; i++) {
		size_t bytes = ETH_BYTES + make_packet(packet.frame + ETH_BYTES, &s, i);

		if (send(fd, &packet, sizeof(packet.vnet) + bytes, 0) < 0)
			die("send");
	}
	return 0;
}

static int route_packets(int argc, char **argv)
{
	static uint8_t packet[FRAME_MAX];
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} to;
	struct segment s;
	int one = 1;
	int fd;

	parse(&s, argc, argv);
	memset(&to, 0, sizeof(to));
	to.any.sa_family = s.family;
	if (s.family == AF_INET)
		memcpy(&to.in.sin_addr, s.addresses + 4, 4);
	else
		memcpy(&to.in6.sin6_addr, s.addresses + 16, 16);
	fd = socket(s.family, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0)
		die("socket");
	if (s.family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_HDRINCL, &one, sizeof(one)))
		die("header included");
	for (unsigned int i = 0; i < s.count; i++) {
		size_t bytes = make_packet(packet, &s, i);

		if (sendto(fd, packet, bytes, 0, &to.any, sizeof(to)) < 0)
			die("sendto");
	}
	return 0;
}

static void print_record(const uint8_t *options, uint32_t bytes)
{
	uint32_t stated, at = quell_opt_find(options, bytes, &stated), in_option;
	struct quell_telemetry record;
	const uint8_t *wire;

	in_option = at < bytes ? quell_opt_telemetry_at(options + at, stated) : 0;
	if (!in_option)
		return;
	wire = options + at + in_option;
	quell_telemetry_decode(wire, &record);
	printf(",\"hop\":%u,\"load\":%u,\"link\":%llu,\"queue\":%u,\"tx\":%u,\"time\":%u",
	       record.hop, wire[QUELL_TELEMETRY_LOAD_AT],
	       (unsigned long long)record.link_bytes_ps, record.queue_bytes,
	       record.tx_units, record.time_ns);
}

static const char *judge_checksum(int family, const uint8_t *ip, size_t tcp_bytes)
{
	const uint8_t *tcp = ip + ip_bytes(family);
	uint16_t pseudo = pseudo_sum(family, ip, tcp_bytes);

	if (fold(pseudo + sum16(tcp, tcp_bytes)) == 0xffff)
		return "good";
	return quell_opt_get_u16(tcp + TCP_CHECK_AT) == pseudo ? "partial" : "bad";
}

/* One frame; false when it is none of ours. */
static bool print_frame(uint64_t time_ns, const uint8_t *frame, size_t bytes)
{
	int family = quell_opt_get_u16(frame + 12) == ETH_P_IP ? AF_INET : AF_INET6;
	const uint8_t *ip = frame + ETH_BYTES, *tcp = ip + ip_bytes(family);
	uint32_t options_bytes;
	size_t tcp_bytes;

	if (bytes < ETH_BYTES + ip_bytes(family) + TCP_BYTES ||
	    ip[family == AF_INET ? 9 : 6] != IPPROTO_TCP || quell_opt_get_u16(tcp) != OUR_PORT)
		return false;
	tcp_bytes = family == AF_INET ? quell_opt_get_u16(ip + 2) - IP4_BYTES :
					quell_opt_get_u16(ip + 4);
	if (tcp + tcp_bytes > frame + bytes)
		return false;
	options_bytes = (tcp[12] >> 4) * 4 - TCP_BYTES;
	printf("{\"arrival_ns\":%llu,\"family\":%d,\"ttl\":%u,\"bytes\":%zu,\"checksum\":\"%s\"",
	       (unsigned long long)time_ns, family == AF_INET ? 4 : 6,
	       ip[family == AF_INET ? 8 : 7], bytes, judge_checksum(family, ip, tcp_bytes));
	print_record(tcp + TCP_BYTES, options_bytes);
	printf(",\"number\":%u,\"options\":\"", quell_opt_get_u32(tcp + 4));
	for (uint32_t i = 0; i < options_bytes; i++)
		printf("%02x", tcp[TCP_BYTES + i]);
	printf("\"}\n");
	return true;
}

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
	struct timespec ts = { 0 };
	ssize_t bytes;

	bytes = recvmsg(fd, &msg, 0);
	if (bytes < 0)
		die("recvmsg");
	if (bytes < ETH_BYTES || from.sll_pkttype == PACKET_OUTGOING)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS)
			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
	return print_frame(ts.tv_sec * 1000000000ULL + ts.tv_nsec, frame, bytes);
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
	fd = open_packet(argv[0], ETH_P_ALL);
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)))
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

int main(int argc, char **argv)
{
	if (argc < 2)
		usage();
	if (!strcmp(argv[1], "send"))
		return send_frames(argc - 2, argv + 2);
	if (!strcmp(argv[1], "route"))
		return route_packets(argc - 2, argv + 2);
	if (!strcmp(argv[1], "recv"))
		return recv_frames(argc - 2, argv + 2);
	usage();
	return 2;
}
