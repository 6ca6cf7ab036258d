// SPDX-License-Identifier: GPL-2.0
/*
 * ip_pkt - TCP segments and datagrams with given fields, for tests of the switch port
 *
 *	ip_pkt send DEV KEY=VALUE...
 *		Frames through the device's qdisc.
 *	ip_pkt route KEY=VALUE...
 *		The same packets through the routing table.
 *	ip_pkt recv DEV COUNT TIMEOUT_MS
 *		Prints "ready", then a line of JSON per packet of send that was received, with
 *		its telemetry record if there is one.  Fails unless COUNT were received.
 *
 * Keys: proto (tcp, udp, icmp), v6=1, bytes (of the frame), count, grow=1 (each a byte
 * longer), dscp, ecn, flags (of TCP, hexadecimal), options (of TCP, hexadecimal),
 * ipoptions (bytes of IPv4 options), seq, ack, vlan=1 (a tag in the frame), ext=1 (an
 * IPv6 extension header),
 * fragment=1 (more follow), nocheck=1 (UDP without a checksum), damage (place of a
 * byte from the transport header on that changes after the checksum was made),
 * ipdamage=1 (the IPv4 checksum is wrong), udplen (bytes by which UDP's length is too
 * small), partial=1 (the device is to compute the checksum), inner=1 (but of
 * something 8 bytes further inside), gso (payload per segment, implies partial), mac
 * (whom the frame is for), ttl, src and dst (addresses, of IPv6 imply v6).
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "pkt.h"

#define EXT_BYTES	8
#define IPV6_HDRINCL	36	/* linux/in6.h, which libc's headers bar */

static const uint8_t our_mac[6] = { 0x02, 'q', 't', 'r', 'i', 'm' };
static uint8_t to_mac[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
static uint8_t addresses4[8] = { 192, 0, 2, 1, 192, 0, 2, 2 };
static uint8_t addresses6[32] = { 0x20, 1, 0xd, 0xb8, [15] = 1,
					0x20, 1, 0xd, 0xb8, [31] = 2 };

/* The numbers among the keys, which the list above explains. */
struct packet {
	unsigned int v6, bytes, count, grow, dscp, ecn, ipoptions, seq, ack, vlan, ext, fragment,
		     nocheck, damage, ipdamage, udplen, partial, inner, gso, ttl;
	unsigned int flags;
	int proto;
	uint8_t options[TCP_OPTIONS_MAX];
	int option_bytes;
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

static void usage(void)
{
	fprintf(stderr, "usage: ip_pkt send DEV KEY=VALUE...\n"
			"       ip_pkt route KEY=VALUE...\n"
			"       ip_pkt recv DEV COUNT TIMEOUT_MS\n");
	exit(2);
}

/* Payload by number and place, so that the rest of a trimmed packet can be judged. */
static uint8_t payload_byte(unsigned int number, size_t i)
{
	return (i + 1) * 7 + number * 3;
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

static void parse_address(struct packet *p, const char *text, int which)
{
	void *to;

	p->v6 |= !!strchr(text, ':');
	to = p->v6 ? addresses6 + 16 * which : addresses4 + 4 * which;
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
		p->option_bytes = parse_options(p->options, value);
		if (p->option_bytes < 0)
			usage();
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
	*p = (struct packet) { .proto = IPPROTO_TCP, .bytes = 1000, .count = 1, .flags = 0x18,
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

static void put_network(uint8_t *ip, const struct packet *p, size_t ip_bytes, unsigned int number)
{
	put_ip(ip, &(struct ip_header){
		.v6 = p->v6, .addresses = p->v6 ? addresses6 : addresses4,
		.tos = p->dscp << 2 | p->ecn, .ttl = p->ttl,
		.proto = p->v6 && p->ext ? IPPROTO_HOPOPTS : p->proto, .number = number,
		.fragment = p->fragment ? 0x2000 : 0, .options_bytes = p->ipoptions,
	}, ip_bytes);
	if (p->v6 && p->ext)
		memcpy(ip + IP6_BYTES, (uint8_t[]) { p->proto, 0, 1, 4 }, 4);
	if (!p->v6 && p->ipdamage)
		quell_opt_put_u16(ip + 10, quell_opt_get_u16(ip + 10) ^ 0x1111);
}

static size_t put_transport(uint8_t *at, const struct packet *p, size_t bytes)
{
	if (p->proto == IPPROTO_ICMP) {
		at[0] = 8;
		return UDP_BYTES;
	}
	if (p->proto == IPPROTO_UDP) {
		quell_opt_put_u16(at, OUR_PORT);
		quell_opt_put_u16(at + 2, 9);
		quell_opt_put_u16(at + 4, bytes - p->udplen);
		return UDP_BYTES;
	}
	return put_tcp(at, &(struct tcp_header){
		.source = OUR_PORT, .dest = 9, .seq = p->seq, .ack = p->ack, .flags = p->flags,
		.window = 0x1234, .options = p->options, .options_bytes = p->option_bytes,
	});
}

/* The frame; returns its length. */
static size_t make_frame(uint8_t *frame, const struct packet *p, unsigned int number)
{
	size_t ip_bytes = p->bytes - link_bytes(p), bytes = ip_bytes - transport_at(p), i;
	uint8_t *ip = frame + link_bytes(p), *at = ip + transport_at(p);

	if (p->bytes > FRAME_MAX || p->bytes < link_bytes(p) + transport_at(p) + TCP_BYTES)
		usage();
	memset(frame, 0, p->bytes);
	put_ethernet(frame, to_mac, our_mac, p->vlan, p->v6 ? ETH_P_IPV6 : ETH_P_IP);
	put_network(ip, p, ip_bytes, number);
	i = put_transport(at, p, bytes);
	for (size_t first = i; i < bytes; i++)
		at[i] = payload_byte(number, i - first);
	if (!p->nocheck)
		put_check(ip, at, p->proto, bytes, p->partial && !p->inner);
	if (p->damage)
		at[p->damage] ^= 0x55;
	return p->bytes;
}

static int send_frames(int argc, char **argv)
{
	static struct departure out;
	struct packet p;
	int fd;

	if (argc < 1)
		usage();
	parse(&p, argc - 1, argv + 1);
	fd = open_sender(argv[0]);
	if (p.partial)
		out.vnet = make_vnet(p.v6, p.proto,
				     link_bytes(&p) + transport_at(&p) + (p.inner ? UDP_BYTES : 0),
				     TCP_BYTES + p.option_bytes, p.gso);
	for (unsigned int i = 0; i < p.count; i++) {
		send_frame(fd, &out, make_frame(out.frame, &p, i));
		p.bytes += p.grow;
	}
	return 0;
}

static void route_packets(int argc, char **argv)
{
	static uint8_t frame[FRAME_MAX];
	struct sockaddr_in to4 = { .sin_family = AF_INET };
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6 };
	struct sockaddr *to;
	socklen_t to_bytes;
	struct packet p;
	int fd, one = 1;

	parse(&p, argc, argv);
	memcpy(&to4.sin_addr, addresses4 + 4, 4);
	memcpy(&to6.sin6_addr, addresses6 + 16, 16);
	to = p.v6 ? (void *)&to6 : (void *)&to4;
	to_bytes = p.v6 ? sizeof(to6) : sizeof(to4);
	fd = socket(to->sa_family, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0 || (p.v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_HDRINCL, &one, sizeof(one))))
		err(2, "raw socket");
	for (unsigned int i = 0; i < p.count; i++) {
		size_t bytes = make_frame(frame, &p, i) - ETH_HLEN;

		if (sendto(fd, frame + ETH_HLEN, bytes, 0, to, to_bytes) < 0)
			err(2, "sendto");
	}
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

static void print_tcp(const uint8_t *at, size_t header_bytes)
{
	print_record(at + TCP_BYTES, header_bytes - TCP_BYTES);
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

/* A packet of TCP or UDP; false for packets of others. */
static bool print_packet(const struct arrival *in)
{
	size_t bytes = in->bytes, at = find_transport(in->frame, &bytes), header_bytes;
	const uint8_t *ip = in->frame + ETH_HLEN, *header = in->frame + at;
	bool v6 = ip[0] >> 4 == 6, tcp;
	unsigned int tos = v6 ? quell_opt_get_u16(ip) >> 4 & 0xff : ip[1];
	unsigned int number = quell_opt_get_u16(ip + (v6 ? 2 : 4));
	int proto = ip[v6 ? 6 : 9];

	tcp = proto == IPPROTO_TCP;
	if (!at || (!tcp && proto != IPPROTO_UDP) || bytes < (tcp ? TCP_BYTES : UDP_BYTES) ||
	    (quell_opt_get_u16(header) != OUR_PORT && quell_opt_get_u16(header + 2) != OUR_PORT))
		return false;
	header_bytes = tcp ? (header[12] >> 4) * 4 : UDP_BYTES;
	if (header_bytes > bytes || (tcp && header_bytes < TCP_BYTES))
		return false;
	printf("{\"proto\":\"%s\",\"family\":%d,\"vlan\":%d,\"bytes\":%zu,\"ip_bytes\":%zu",
	       tcp ? "tcp" : "udp", v6 ? 6 : 4, in->tagged, in->bytes, at - ETH_HLEN + bytes);
	printf(",\"arrival_ns\":%llu", (unsigned long long)in->time_ns);
	printf(",\"dscp\":%u,\"ecn\":%u,\"ttl\":%u,\"ip_check\":\"%s\",\"check\":\"%s\"",
	       tos >> 2, tos & 3, ip[v6 ? 7 : 8],
	       v6 ? "none" : is_ip4_intact(ip) ? "good" : "bad",
	       judge_check(ip, header, proto, bytes));
	bytes -= header_bytes;
	printf(",\"number\":%u,\"port\":%u,\"payload\":%zu,\"intact\":%s", number,
	       quell_opt_get_u16(header), bytes,
	       is_intact(header + header_bytes, bytes, number) ? "true" : "false");
	if (tcp)
		print_tcp(header, header_bytes);
	else
		printf(",\"udp_bytes\":%u", quell_opt_get_u16(header + 4));
	printf("}\n");
	return true;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		usage();
	if (!strcmp(argv[1], "send"))
		return send_frames(argc - 2, argv + 2);
	if (!strcmp(argv[1], "route")) {
		route_packets(argc - 2, argv + 2);
		return 0;
	}
	if (!strcmp(argv[1], "recv") && argc == 5)
		return recv_frames(argv[2], atoi(argv[3]), atoi(argv[4]), print_packet);
	usage();
	return 2;
}
