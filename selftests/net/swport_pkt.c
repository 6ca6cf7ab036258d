// SPDX-License-Identifier: GPL-2.0
/*
 * swport_pkt - packets made to measure, for swport.sh
 *
 *	swport_pkt send DEV KIND COUNT BYTES [ECN [DSCP [PRIORITY]]]
 *		COUNT frames of BYTES (Ethernet header included) through the
 *		device's qdisc, numbered from 0 in the IPv4 identification, with SO_PRIORITY.
 *	swport_pkt recv DEV COUNT TIMEOUT_MS
 *		Says "ready", then a line per frame that send made:
 *		time_ns kind number ecn dscp bytes.  Fails unless COUNT came.
 */
#include <err.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "pkt.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define GSO_SIZE	1000
/* The shortest extension header. */
#define HOP_BYTES	8

/* By this source address recv knows the frames of send. */
static const uint8_t our_mac[6] = { 0x02, 'q', 'u', 'e', 'l', 'l' };
static const uint8_t any_mac[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

/* A sort of frame. */
struct kind {
	const char *name;	/* as on the command line */
	uint16_t ethertype;	/* of the innermost header */
	uint8_t proto;	/* IP protocol */
	uint8_t tcp_flags;	/* for TCP */
	uint8_t icmp_type;	/* for ICMPv6 */
	bool payload;	/* filled up to the length asked for; otherwise headers alone */
	bool fragment;	/* IPv4 fragment other than the first */
	bool vlan;	/* with an 802.1Q tag in the frame */
	bool gso;	/* one super-packet, to be cut into segments of GSO_SIZE */
	bool lie;	/* its sender states another place of the transport header */
	bool hop;	/* with a hop-by-hop header that has the router alert */
	bool flows;	/* each frame is of another flow: its source port is its number */
	uint8_t to[6];	/* destination; to all if it is 0 */
};

static const struct kind kinds[] = {
	{ .name = "udp", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_UDP, .payload = true },
	{ .name = "flows", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_UDP, .payload = true, .flows = true },
	{ .name = "tcp", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TH_ACK, .payload = true },
	{ .name = "ack", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TH_ACK },
	{ .name = "syn", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TH_SYN },
	{ .name = "synack", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TH_SYN | TH_ACK },
	{ .name = "fin", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TH_FIN | TH_ACK },
	{ .name = "rst", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TH_RST | TH_ACK },
	{ .name = "frag", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TH_ACK, .fragment = true },
	{ .name = "vlanack", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TH_ACK, .vlan = true },
	{ .name = "vlanudp", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_UDP, .payload = true, .vlan = true },
	{ .name = "gso", .ethertype = ETH_P_IP,
	  .proto = IPPROTO_TCP, .tcp_flags = TH_ACK, .payload = true, .gso = true },
	{ .name = "lie", .ethertype = ETH_P_IP, .proto = IPPROTO_TCP, .tcp_flags = TH_ACK,
	  .payload = true, .gso = true, .lie = true },
	{ .name = "udp6", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_UDP, .payload = true },
	{ .name = "tcp6", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_TCP, .tcp_flags = TH_ACK, .payload = true },
	{ .name = "ack6", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_TCP, .tcp_flags = TH_ACK },
	{ .name = "syn6", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_TCP, .tcp_flags = TH_SYN },
	{ .name = "nd", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_ICMPV6, .icmp_type = 135 },
	{ .name = "ping6", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_ICMPV6, .icmp_type = 128 },
	{ .name = "arp", .ethertype = ETH_P_ARP },
	{ .name = "mld", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_ICMPV6, .icmp_type = 143, .hop = true },
	{ .name = "ping6hop", .ethertype = ETH_P_IPV6,
	  .proto = IPPROTO_ICMPV6, .icmp_type = 128, .hop = true },
	{ .name = "igmp", .ethertype = ETH_P_IP, .proto = IPPROTO_IGMP },
	{ .name = "lacp", .ethertype = 0x8809, .payload = true,
	  .to = { 0x01, 0x80, 0xc2, 0, 0, 0x02 } },
	{ .name = "lldp", .ethertype = 0x88cc, .payload = true,
	  .to = { 0x01, 0x80, 0xc2, 0, 0, 0x0e } },
	/* The length of an LLC frame. */
	{ .name = "stp", .ethertype = 38, .payload = true,
	  .to = { 0x01, 0x80, 0xc2, 0, 0, 0 } },
	{ .name = "ptp", .ethertype = 0x88f7, .payload = true,
	  .to = { 0x01, 0x1b, 0x19, 0, 0, 0 } },
	{ .name = "eapol", .ethertype = 0x888e, .payload = true },
	/* To the first group that bridges forward. */
	{ .name = "group", .ethertype = 0x88b6, .payload = true,
	  .to = { 0x01, 0x80, 0xc2, 0, 0, 0x10 } },
	{ .name = "other", .ethertype = 0x88b5, .payload = true },
};

static void usage(void)
{
	fprintf(stderr,
		"usage: swport_pkt send DEV KIND COUNT BYTES [ECN [DSCP [PRIORITY]]]\n"
		"       swport_pkt recv DEV COUNT TIMEOUT_MS\n");
	exit(2);
}

/* The headers behind the IP header; returns their length. */
static size_t put_transport(uint8_t *at, const struct kind *kind)
{
	static const uint8_t router_alert[HOP_BYTES] = { IPPROTO_ICMPV6, 0, 5, 2, 0, 0, 1 };

	if (kind->hop) {
		memcpy(at, router_alert, sizeof(router_alert));
		at[HOP_BYTES] = kind->icmp_type;
		return HOP_BYTES + 24;
	}
	switch (kind->proto) {
	case IPPROTO_TCP:
		return put_tcp(at, &(struct tcp_header){ .flags = kind->tcp_flags });
	case IPPROTO_ICMPV6:
		at[0] = kind->icmp_type;
		return 24;
	default:
		return UDP_BYTES;
	}
}

/* Returns the length of the frame. */
static size_t make_frame(uint8_t *frame, const struct kind *kind, size_t bytes,
			 unsigned int number, uint8_t tos)
{
	static const uint8_t addresses4[8] = { 192, 0, 2, 1, 192, 0, 2, 2 };
	static const uint8_t addresses6[32] = { 0x20, 1, 0xd, 0xb8, [15] = 1,
						0x20, 1, 0xd, 0xb8, [31] = 1 };
	static const uint8_t none[6];
	bool v6 = kind->ethertype == ETH_P_IPV6;
	size_t ip_bytes = v6 ? IP6_BYTES : IP4_BYTES;
	struct ip_header ip = {
		.v6 = v6, .addresses = v6 ? addresses6 : addresses4, .tos = tos,
		.ttl = v6 ? 255 : 64, .proto = kind->hop ? 0 : kind->proto, .number = number,
		.fragment = kind->fragment ? 100 : 0,
	};
	uint8_t *at;
	size_t end;

	memset(frame, 0, FRAME_MAX);
	at = put_ethernet(frame, memcmp(kind->to, none, sizeof(none)) ? kind->to : any_mac, our_mac, kind->vlan, kind->ethertype);
	end = at - frame;
	if (kind->ethertype == ETH_P_ARP)
		end += 28;
	else if (kind->proto)
		end += ip_bytes + put_transport(at + ip_bytes, kind);
	if (kind->flows)
		quell_opt_put_u16(at + ip_bytes, number);
	if (kind->payload && bytes > end) {
		/* Read as a header of TCP it is as long as one without options. */
		memset(frame + end, kind->lie ? 0x50 : 0, bytes - end);
		end = bytes;
	}
	if (kind->proto)
		put_ip(at, &ip, end - (at - frame));
	if (kind->gso)
		put_check(at, at + ip_bytes, kind->proto, end - (at - frame) - ip_bytes, true);
	return end;
}

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	usage();
	return NULL;
}

static void set_priority(int fd, int priority)
{
	if (setsockopt(fd, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)))
		err(2, "SO_PRIORITY");
}

static int send_frames(int argc, char **argv)
{
	static struct departure out;
	const struct kind *kind;
	unsigned int count;
	size_t bytes;
	uint8_t tos;
	int fd;

	if (argc < 4)
		usage();
	kind = find_kind(argv[1]);
	count = atoi(argv[2]);
	bytes = atoi(argv[3]);
	tos = (argc > 5 ? atoi(argv[5]) : 0) << 2 | (argc > 4 ? atoi(argv[4]) : 0);
	fd = open_sender(argv[0]);
	if (argc > 6)
		set_priority(fd, atoi(argv[6]));
	if (kind->gso)
		out.vnet = make_vnet(false, kind->proto, ETH_HLEN + IP4_BYTES, TCP_BYTES, GSO_SIZE);
	if (kind->lie)
		out.vnet.csum_start += GSO_SIZE;
	for (unsigned int i = 0; i < count; i++)
		send_frame(fd, &out, make_frame(out.frame, kind, bytes, i, tos));
	return 0;
}

/* Name of the kind a frame is of, or "broken" when its checksum is wrong. */
static const char *name_frame(uint16_t ethertype, const uint8_t *at, bool vlan)
{
	const uint8_t *next = at + (ethertype == ETH_P_IP ? IP4_BYTES : IP6_BYTES);
	uint8_t proto = ethertype == ETH_P_IP ? at[9] : at[6];
	uint16_t ip_bytes = quell_opt_get_u16(at + (ethertype == ETH_P_IP ? 2 : 4));
	bool payload, hop = ethertype == ETH_P_IPV6 && !proto;

	if (hop) {
		proto = next[0];
		next += HOP_BYTES;
	}
	if (ethertype == ETH_P_IP && !is_ip4_intact(at))
		return "broken";
	payload = ip_bytes > TCP_BYTES + (ethertype == ETH_P_IP ? IP4_BYTES : 0);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct kind *kind = &kinds[i];

		if (kind->gso || kind->ethertype != ethertype || kind->vlan != vlan)
			continue;
		if (ethertype != ETH_P_IP && ethertype != ETH_P_IPV6)
			return kind->name;
		if (kind->proto != proto || kind->hop != hop ||
		    (ethertype == ETH_P_IP && kind->fragment != !!quell_opt_get_u16(at + 6)))
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

static bool print_frame(const struct arrival *in)
{
	bool inside = quell_opt_get_u16(in->frame + 12) == ETH_P_8021Q;
	const uint8_t *at = in->frame + ETH_HLEN + (inside ? 4 : 0);
	uint16_t ethertype = quell_opt_get_u16(at - 2);
	unsigned int number = 0;
	uint8_t tos = 0;

	if (memcmp(in->frame + 6, our_mac, sizeof(our_mac)))
		return false;
	if (ethertype == ETH_P_IP) {
		number = quell_opt_get_u16(at + 4);
		tos = at[1];
	} else if (ethertype == ETH_P_IPV6) {
		number = quell_opt_get_u16(at + 2);
		tos = at[0] << 4 | at[1] >> 4;
	}
	printf("%llu %s %u %u %u %zu\n", (unsigned long long)in->time_ns,
	       name_frame(ethertype, at, inside || in->tagged), number, tos & 3,
	       tos >> 2, in->bytes);
	return true;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		usage();
	if (!strcmp(argv[1], "send"))
		return send_frames(argc - 2, argv + 2);
	if (!strcmp(argv[1], "recv") && argc == 5)
		return recv_frames(argv[2], atoi(argv[3]), atoi(argv[4]), print_frame);
	usage();
	return 2;
}
