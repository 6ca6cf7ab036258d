// SPDX-License-Identifier: GPL-2.0
/*
 * trim_pkt - packets for a switch port to trim, and what became of them, for trim.sh
 *
 *	trim_pkt send DEV KEY=VALUE...
 *		Frames through the device's qdisc.
 *	trim_pkt recv DEV COUNT TIMEOUT_MS
 *		Says "ready", then a line of JSON per packet of send that came.  Fails
 *		unless COUNT came.
 *
 * Keys: proto (tcp, udp, icmp), v6=1, bytes (of the frame), count, grow=1 (each a byte
 * longer), dscp, ecn, flags (of TCP, hexadecimal), options (of TCP, hexadecimal),
 * ipoptions (bytes of IPv4 options), seq, ack, vlan=1 (a tag in the frame), ext=1 (an IPv6 extension header),
 * fragment=1 (more follow), nocheck=1 (UDP without a checksum), damage (place of a
 * byte from the transport header on that changes after the checksum was made),
 * ipdamage=1 (the IPv4 checksum is wrong), udplen (what UDP's length is less than it
 * should be), partial=1 (the device is to compute the checksum), inner=1 (but of
 * something 8 bytes further inside), gso (payload per segment, implies partial), mac
 * (whom the frame is for), ttl, src and dst (addresses, of the family v6 says).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <quell/option.h>

#define FRAME_MAX	65536
#define IP4_BYTES	20
#define IP6_BYTES	40
#define TCP_BYTES	20
#define UDP_BYTES	8
#define EXT_BYTES	8
#define OPTIONS_MAX	40
/* By this port at either end recv knows the packets of send and answers to them. */
#define OUR_PORT	20821

static const uint8_t our_mac[6] = { 0x02, 'q', 't', 'r', 'i', 'm' };
static uint8_t to_mac[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
static uint8_t addresses4[8] = { 192, 0, 2, 1, 192, 0, 2, 2 };
static uint8_t addresses6[32] = { 0x20, 1, 0xd, 0xb8, [15] = 1,
					0x20, 1, 0xd, 0xb8, [31] = 2 };

/* The numbers among the keys; what they mean is said above. */
struct packet {
	unsigned int v6, bytes, count, grow, dscp, ecn, ipoptions, seq, ack, vlan, ext, fragment,
		     nocheck, damage, ipdamage, udplen, partial, inner, gso, ttl;
	unsigned int flags;
	int proto;
	uint8_t options[OPTIONS_MAX];
	unsigned int option_bytes;
};

static const struct {
	const char *key;
	size_t at;
} keys[] = {
#define KEY(name)	{ #name, offsetof(struct packet, name) }
	KEY(v6), KEY(bytes), KEY(count), KEY(grow), KEY(dscp), KEY(ecn), KEY(ipoptions), KEY(seq),
	KEY(ack), KEY(vlan), KEY(ext), KEY(fragment), KEY(nocheck), KEY(damage),
	KEY(ipdamage), KEY(udplen), KEY(partial), KEY(inner), KEY(gso), KEY(ttl),
};

static void die(const char *what)
{
	fprintf(stderr, "trim_pkt: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void usage(void)
{
	fprintf(stderr, "usage: trim_pkt send DEV KEY=VALUE...\n"
			"       trim_pkt recv DEV COUNT TIMEOUT_MS\n");
	exit(2);
}

static uint32_t sum16(const uint8_t *at, size_t bytes)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < bytes; i++)
		sum += i & 1 ? at[i] : at[i] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static uint16_t pseudo_sum(bool v6, const uint8_t *ip, int proto, size_t bytes)
{
	return fold(proto + bytes + (v6 ? sum16(ip + 8, 32) : sum16(ip + 12, 8)));
}

static unsigned int check_at(int proto)
{
	return proto == IPPROTO_TCP ? 16 : proto == IPPROTO_UDP ? 6 : 2;
}

/* Payload by number and place, so that what stays of it can be judged. */
static uint8_t payload_byte(unsigned int number, size_t i)
{
	return (i + 1) * 7 + number * 3;
}

static void parse_options(struct packet *p, const char *hex)
{
	unsigned int byte;

	for (; *hex; hex += 2) {
		if (p->option_bytes == OPTIONS_MAX || sscanf(hex, "%2x", &byte) != 1 || !hex[1])
			usage();
		p->options[p->option_bytes++] = byte;
	}
	while (p->option_bytes % 4)
		p->options[p->option_bytes++] = QUELL_OPT_NOP;
}

static void parse_proto(struct packet *p, const char *name)
{
	if (!strcmp(name, "tcp"))
		p->proto = IPPROTO_TCP;
	else if (!strcmp(name, "udp"))
		p->proto = IPPROTO_UDP;
	else if (!strcmp(name, "icmp"))
		p->proto = IPPROTO_ICMP;
	else
		usage();
}

static void parse_address(const struct packet *p, const char *text, int which)
{
	void *to = p->v6 ? addresses6 + 16 * which : addresses4 + 4 * which;

	if (inet_pton(p->v6 ? AF_INET6 : AF_INET, text, to) != 1)
		usage();
}

static void parse_mac(const char *text)
{
	if (sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", to_mac, to_mac + 1, to_mac + 2,
		   to_mac + 3, to_mac + 4, to_mac + 5) != 6)
		usage();
}

static void parse_key(struct packet *p, const char *key, const char *value)
{
	if (!strcmp(key, "proto")) {
		parse_proto(p, value);
		return;
	}
	if (!strcmp(key, "options")) {
		parse_options(p, value);
		return;
	}
	if (!strcmp(key, "mac")) {
		parse_mac(value);
		return;
	}
	if (!strcmp(key, "src") || !strcmp(key, "dst")) {
		parse_address(p, value, !strcmp(key, "dst"));
		return;
	}
	if (!strcmp(key, "flags")) {
		p->flags = strtoul(value, NULL, 16);
		return;
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!strcmp(key, keys[i].key)) {
			*(unsigned int *)((char *)p + keys[i].at) = strtoul(value, NULL, 0);
			return;
		}
	}
	usage();
}

static void parse(struct packet *p, int argc, char **argv)
{
	*p = (struct packet) { .proto = IPPROTO_TCP, .bytes = 1000, .count = 1, .flags = 0x10,
				.ttl = 63 };
	for (int i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			usage();
		*value++ = 0;
		parse_key(p, argv[i], value);
	}
	p->partial |= p->gso || p->inner;
}

static size_t link_bytes(const struct packet *p)
{
	return ETH_HLEN + (p->vlan ? 4 : 0);
}

/* Place of the transport header in the IP packet. */
static size_t transport_at(const struct packet *p)
{
	return p->v6 ? IP6_BYTES + (p->ext ? EXT_BYTES : 0) : IP4_BYTES + p->ipoptions;
}

static void put_ip4(uint8_t *ip, const struct packet *p, size_t ip_bytes, unsigned int number)
{
	ip[0] = 0x40 | transport_at(p) / 4;
	ip[1] = p->dscp << 2 | p->ecn;
	quell_opt_put_u16(ip + 2, ip_bytes);
	quell_opt_put_u16(ip + 4, number);
	quell_opt_put_u16(ip + 6, p->fragment ? 0x2000 : 0);
	ip[8] = p->ttl;
	ip[9] = p->proto;
	memcpy(ip + 12, addresses4, sizeof(addresses4));
	memset(ip + IP4_BYTES, QUELL_OPT_NOP, p->ipoptions);
	quell_opt_put_u16(ip + 10, ~fold(sum16(ip, transport_at(p))) ^ (p->ipdamage ? 0x1111 : 0));
}

static void put_ip6(uint8_t *ip, const struct packet *p, size_t ip_bytes, unsigned int number)
{
	quell_opt_put_u16(ip, 0x6000 | p->dscp << 6 | p->ecn << 4);
	quell_opt_put_u16(ip + 2, number);
	quell_opt_put_u16(ip + 4, ip_bytes - IP6_BYTES);
	ip[6] = p->ext ? IPPROTO_HOPOPTS : p->proto;
	ip[7] = p->ttl;
	memcpy(ip + 8, addresses6, sizeof(addresses6));
	if (p->ext)
		memcpy(ip + IP6_BYTES, (uint8_t[]) { p->proto, 0, 1, 4 }, 4);
}

static size_t put_transport(uint8_t *at, const struct packet *p, size_t bytes)
{
	if (p->proto == IPPROTO_ICMP) {
		at[0] = 8;
		return UDP_BYTES;
	}
	quell_opt_put_u16(at, OUR_PORT);
	quell_opt_put_u16(at + 2, 9);
	if (p->proto == IPPROTO_UDP) {
		quell_opt_put_u16(at + 4, bytes - p->udplen);
		return UDP_BYTES;
	}
	quell_opt_put_u32(at + 4, p->seq);
	quell_opt_put_u32(at + 8, p->ack);
	at[12] = (TCP_BYTES + p->option_bytes) / 4 << 4;
	at[13] = p->flags;
	quell_opt_put_u16(at + 14, 0x1234);
	memcpy(at + TCP_BYTES, p->options, p->option_bytes);
	return TCP_BYTES + p->option_bytes;
}

static void put_checksum(uint8_t *ip, uint8_t *at, const struct packet *p, size_t bytes)
{
	uint16_t sum = pseudo_sum(p->v6, ip, p->proto, bytes);

	if (p->nocheck)
		return;
	if (!p->partial || p->inner)
		sum = ~fold(sum + sum16(at, bytes));
	quell_opt_put_u16(at + check_at(p->proto), sum);
}

/* The frame; returns its length. */
static size_t make_frame(uint8_t *frame, const struct packet *p, unsigned int number)
{
	size_t ip_bytes = p->bytes - link_bytes(p), bytes = ip_bytes - transport_at(p), i;
	uint8_t *ip = frame + link_bytes(p), *at = ip + transport_at(p);

	if (p->bytes > FRAME_MAX || p->bytes < link_bytes(p) + transport_at(p) + TCP_BYTES)
		usage();
	memset(frame, 0, p->bytes);
	memcpy(frame, to_mac, sizeof(to_mac));
	memcpy(frame + 6, our_mac, 6);
	if (p->vlan) {
		quell_opt_put_u16(frame + 12, ETH_P_8021Q);
		quell_opt_put_u16(frame + 14, 5);
	}
	quell_opt_put_u16(ip - 2, p->v6 ? ETH_P_IPV6 : ETH_P_IP);
	if (p->v6)
		put_ip6(ip, p, ip_bytes, number);
	else
		put_ip4(ip, p, ip_bytes, number);
	i = put_transport(at, p, bytes);
	for (size_t first = i; i < bytes; i++)
		at[i] = payload_byte(number, i - first);
	put_checksum(ip, at, p, bytes);
	if (p->damage)
		at[p->damage] ^= 0x55;
	return p->bytes;
}

static struct virtio_net_hdr vnet_header(const struct packet *p)
{
	struct virtio_net_hdr vnet = { 0 };

	if (!p->partial)
		return vnet;
	vnet.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	vnet.csum_start = link_bytes(p) + transport_at(p) + (p->inner ? UDP_BYTES : 0);
	vnet.csum_offset = check_at(p->proto);
	if (!p->gso)
		return vnet;
	vnet.gso_type = p->v6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
	vnet.hdr_len = vnet.csum_start + TCP_BYTES + p->option_bytes;
	vnet.gso_size = p->gso;
	return vnet;
}

static int open_packet(const char *dev, int protocol)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = if_nametoindex(dev),
	};
	int bytes = 64 << 20, one = 1;
	int fd;

	if (!address.sll_ifindex)
		die(dev);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0)
		die("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(fd, SOL_PACKET, protocol ? PACKET_AUXDATA : PACKET_VNET_HDR, &one,
		       sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die("packet socket");
	return fd;
}

static int send_frames(int argc, char **argv)
{
	static struct {
		struct virtio_net_hdr vnet;
		uint8_t frame[FRAME_MAX];
	} __attribute__((packed)) out;
	struct packet p;
	int fd;

	if (argc < 1)
		usage();
	parse(&p, argc - 1, argv + 1);
	fd = open_packet(argv[0], 0);
	out.vnet = vnet_header(&p);
	for (unsigned int i = 0; i < p.count; i++) {
		size_t bytes = make_frame(out.frame, &p, i);

		/* ENOBUFS is the qdisc's tail drop, which is part of the test. */
		if (send(fd, &out, sizeof(out.vnet) + bytes, 0) < 0 && errno != ENOBUFS)
			die("send");
		p.bytes += p.grow;
	}
	return 0;
}

static const char *judge_checksum(bool v6, const uint8_t *ip, int proto, const uint8_t *at,
				  size_t bytes)
{
	uint16_t pseudo = pseudo_sum(v6, ip, proto, bytes);
	uint16_t check = quell_opt_get_u16(at + check_at(proto));

	if (proto == IPPROTO_UDP && !check)
		return "none";
	if (fold(pseudo + sum16(at, bytes)) == 0xffff)
		return "good";
	return check == pseudo ? "partial" : "bad";
}

static void print_tcp(const uint8_t *at, size_t header_bytes)
{
	printf(",\"flags\":\"%02x\",\"seq\":%u,\"ack\":%u,\"window\":%u,\"options\":\"", at[13],
	       quell_opt_get_u32(at + 4), quell_opt_get_u32(at + 8),
	       quell_opt_get_u16(at + 14));
	for (size_t i = TCP_BYTES; i < header_bytes; i++)
		printf("%02x", at[i]);
	printf("\"");
}

static bool is_intact(const uint8_t *payload, size_t bytes, unsigned int number)
{
	for (size_t i = 0; i < bytes; i++)
		if (payload[i] != payload_byte(number, i))
			return false;
	return true;
}

/* A packet of TCP or UDP; false when it is none of ours. */
static bool print_packet(const uint8_t *ip, size_t frame_bytes, size_t left, bool vlan)
{
	bool v6 = ip[0] >> 4 == 6, tcp;
	size_t at = v6 ? IP6_BYTES : (ip[0] & 0xf) * 4, header_bytes, ip_bytes;
	unsigned int tos = v6 ? quell_opt_get_u16(ip) >> 4 & 0xff : ip[1];
	unsigned int number = quell_opt_get_u16(ip + (v6 ? 2 : 4));
	int proto = ip[v6 ? 6 : 9];
	const uint8_t *header = ip + at;

	tcp = proto == IPPROTO_TCP;
	if ((!tcp && proto != IPPROTO_UDP) || left < at + (tcp ? TCP_BYTES : UDP_BYTES) ||
	    (quell_opt_get_u16(header) != OUR_PORT && quell_opt_get_u16(header + 2) != OUR_PORT))
		return false;
	ip_bytes = v6 ? IP6_BYTES + quell_opt_get_u16(ip + 4) : quell_opt_get_u16(ip + 2);
	header_bytes = tcp ? (header[12] >> 4) * 4 : UDP_BYTES;
	if (ip_bytes > left || at + header_bytes > ip_bytes)
		return false;
	printf("{\"proto\":\"%s\",\"family\":%d,\"vlan\":%d,\"bytes\":%zu,\"ip_bytes\":%zu",
	       tcp ? "tcp" : "udp", v6 ? 6 : 4, vlan, frame_bytes, ip_bytes);
	printf(",\"dscp\":%u,\"ecn\":%u,\"ttl\":%u,\"ip_check\":\"%s\",\"check\":\"%s\"",
	       tos >> 2, tos & 3, ip[v6 ? 7 : 8],
	       v6 ? "none" : fold(sum16(ip, at)) == 0xffff ? "good" : "bad",
	       judge_checksum(v6, ip, proto, header, ip_bytes - at));
	printf(",\"number\":%u,\"port\":%u,\"payload\":%zu,\"intact\":%s", number,
	       quell_opt_get_u16(header), ip_bytes - at - header_bytes,
	       is_intact(header + header_bytes, ip_bytes - at - header_bytes, number) ?
	       "true" : "false");
	if (tcp)
		print_tcp(header, header_bytes);
	else
		printf(",\"udp_bytes\":%u", quell_opt_get_u16(header + 4));
	printf("}\n");
	return true;
}

static bool has_tag(struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		struct tpacket_auxdata aux;

		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		return aux.tp_status & TP_STATUS_VLAN_VALID;
	}
	return false;
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
	ssize_t bytes = recvmsg(fd, &msg, 0);

	if (bytes < 0)
		die("recvmsg");
	if (bytes < ETH_HLEN + IP4_BYTES || from.sll_pkttype == PACKET_OUTGOING)
		return false;
	switch (quell_opt_get_u16(frame + 12)) {
	case ETH_P_IP:
	case ETH_P_IPV6:
		return print_packet(frame + ETH_HLEN, bytes, bytes - ETH_HLEN, has_tag(&msg));
	default:
		return false;
	}
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
	int fd;

	if (argc != 3)
		usage();
	count = atoi(argv[1]);
	fd = open_packet(argv[0], ETH_P_ALL);
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
	if (!strcmp(argv[1], "recv"))
		return recv_frames(argc - 2, argv + 2);
	usage();
	return 2;
}
