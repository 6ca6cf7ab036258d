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
 *		the telemetry record in it, if there is one.  Fails
 *		unless COUNT came.
 *
 * Keys: options (hexadecimal, filled up with no-operations), bytes (length of
 * the frame), count, ttl, flags (of TCP, hexadecimal), src and dst (IPv4 or IPv6,
 * which says the family), fragment=1 (more follow), partial=1 (the device is to
 * compute the checksum), gso (payload per segment, implies partial).
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "pkt.h"

#define IPV6_HDRINCL	36	/* linux/in6.h, which libc's headers bar */

/* The segments to be sent. */
struct segment {
	int family;	/* AF_INET or AF_INET6 */
	uint8_t addresses[32];	/* source and destination, as they are in a header */
	uint8_t options[TCP_OPTIONS_MAX];	/* of TCP, a multiple of four bytes */
	int options_bytes;	/* how many */
	unsigned int frame_bytes;	/* with the Ethernet header */
	unsigned int count;
	unsigned int gso_bytes;	/* payload per segment of a super-packet; 0: single packet */
	uint8_t ttl;
	uint8_t flags;
	bool fragment;
	bool partial;
};

static void usage(void)
{
	fprintf(stderr,
		"usage: record_pkt send DEV KEY=VALUE...\n"
		"       record_pkt route KEY=VALUE...\n"
		"       record_pkt recv DEV COUNT TIMEOUT_MS\n");
	exit(2);
}

static size_t ip_bytes(int family)
{
	return family == AF_INET ? IP4_BYTES : IP6_BYTES;
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
		s->options_bytes = parse_options(s->options, value);
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
		.flags = TH_ACK | TH_PUSH, .addresses = { 192, 0, 2, 1, 192, 0, 2, 2 },
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
	if (s->options_bytes < 0 || s->frame_bytes > FRAME_MAX - 1 ||
	    s->frame_bytes < ETH_HLEN + ip_bytes(s->family) + TCP_BYTES + s->options_bytes)
		usage();
}

/* The packet from its IP header on; the number distinguishes segments. */
static size_t make_packet(uint8_t *ip, const struct segment *s, unsigned int number)
{
	size_t bytes = s->frame_bytes - ETH_HLEN, tcp_bytes = bytes - ip_bytes(s->family), i;
	uint8_t *tcp = ip + ip_bytes(s->family);

	memset(ip, 0, bytes);
	put_ip(ip, &(struct ip_header){
		.v6 = s->family == AF_INET6, .addresses = s->addresses, .ttl = s->ttl,
		.proto = IPPROTO_TCP, .fragment = s->fragment ? 0x2000 : 0,
	}, bytes);
	i = put_tcp(tcp, &(struct tcp_header){
		.source = OUR_PORT, .dest = 9, .seq = number, .flags = s->flags,
		.options = s->options, .options_bytes = s->options_bytes,
	});
	for (; i < tcp_bytes; i++)
		tcp[i] = i * 7 + number;
	put_check(ip, tcp, IPPROTO_TCP, tcp_bytes, s->partial);
	return bytes;
}

static int send_frames(int argc, char **argv)
{
	static const uint8_t to[ETH_ALEN] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t from[ETH_ALEN] = { 2 };
	static struct departure out;
	struct segment s;
	uint8_t *ip;
	int fd;

	if (argc < 1)
		usage();
	parse(&s, argc - 1, argv + 1);
	fd = open_sender(argv[0]);
	if (s.partial)
		out.vnet = make_vnet(s.family == AF_INET6, IPPROTO_TCP,
				     ETH_HLEN + ip_bytes(s.family), TCP_BYTES + s.options_bytes,
				     s.gso_bytes);
	ip = put_ethernet(out.frame, to, from, false, s.family == AF_INET ? ETH_P_IP : ETH_P_IPV6);
	for (unsigned int i = 0; i < s.count; i++)
		send_frame(fd, &out, ETH_HLEN + make_packet(ip, &s, i));
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
		err(2, "socket");
	if (s.family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_HDRINCL, &one, sizeof(one)))
		err(2, "header included");
	for (unsigned int i = 0; i < s.count; i++) {
		size_t bytes = make_packet(packet, &s, i);

		if (sendto(fd, packet, bytes, 0, &to.any, sizeof(to)) < 0)
			err(2, "sendto");
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

/* One frame; false for frames of others. */
static bool print_frame(const struct arrival *in)
{
	size_t bytes = in->bytes, at = find_tcp(in->frame, &bytes);
	const uint8_t *ip = in->frame + ETH_HLEN, *tcp = in->frame + at;
	bool v6 = ip[0] >> 4 == 6;
	uint32_t options_bytes;

	if (!at || quell_opt_get_u16(tcp) != OUR_PORT)
		return false;
	options_bytes = (tcp[12] >> 4) * 4 - TCP_BYTES;
	printf("{\"arrival_ns\":%llu,\"family\":%d,\"ttl\":%u,\"bytes\":%zu,\"checksum\":\"%s\"",
	       (unsigned long long)in->time_ns, v6 ? 6 : 4, ip[v6 ? 7 : 8], in->bytes,
	       judge_check(ip, tcp, IPPROTO_TCP, bytes));
	print_record(tcp + TCP_BYTES, options_bytes);
	printf(",\"number\":%u,\"options\":\"", quell_opt_get_u32(tcp + 4));
	for (uint32_t i = 0; i < options_bytes; i++)
		printf("%02x", tcp[TCP_BYTES + i]);
	printf("\"}\n");
	return true;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		usage();
	if (!strcmp(argv[1], "send"))
		return send_frames(argc - 2, argv + 2);
	if (!strcmp(argv[1], "route"))
		return route_packets(argc - 2, argv + 2);
	if (!strcmp(argv[1], "recv") && argc == 5)
		return recv_frames(argv[2], atoi(argv[3]), atoi(argv[4]), print_frame);
	usage();
	return 2;
}
