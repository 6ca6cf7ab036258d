// SPDX-License-Identifier: GPL-2.0
/*
 * pkt_tunnel.c - the frames of pkt.c in a tunnel or with more tags, if PKT_TUNNEL says so
 *
 *	vlan, qinq		one tag, two tags (802.1ad, 802.1Q)
 *	ipip, gre		over IPv4: IPv4 or IPv6; gre with a key
 *	ip6tnl			over IPv6, with the option that limits encapsulation
 *	gretap, vxlan, geneve	over IPv4: Ethernet; geneve with a UDP checksum and options
 *	vxlan6			over IPv6, with a UDP checksum
 *
 * The tunnel's end does as RFC 6040 asks: it copies DSCP and ECN of the packet to the
 * outside, and CE back; it takes no frame with a wrong length or checksum.  PKT_TUNNEL_DSCP
 * sets another DSCP outside; otherwise both have to be the same where the tunnel ends.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pkt.h"

/* Set: the device is to compute the checksum of the UDP header outside. */
#define OUTER_PARTIAL	"PKT_TUNNEL_OUTER_PARTIAL"

#define OUTER_TTL	63
#define OPTION_BYTES	8
#define GRE_KEY		0x20

static const uint8_t outer4[8] = { 198, 51, 100, 1, 198, 51, 100, 2 };
static const uint8_t outer6[32] = { 0x20, 1, 0xd, 0xb8, 1, [15] = 1,
				    0x20, 1, 0xd, 0xb8, 1, [31] = 2 };

/* A kind of tunnel. */
struct tunnel {
	const char *name;	/* as in PKT_TUNNEL */
	int tags;	/* in front of all else */
	bool v6, option;	/* outside: IPv6, an option of a tunnel */
	uint8_t proto;	/* outside; 0: no tunnel, or that of the inner version */
	uint16_t port;	/* destination, of UDP */
	uint8_t head[20];	/* bytes between the outer header and the inner frame or packet */
	size_t head_bytes;	/* of that */
	bool ethernet, check;	/* a frame is inside, not a packet; UDP has a checksum */
};

static const struct tunnel tunnels[] = {
	{ .name = "vlan", .tags = 1 },
	{ .name = "qinq", .tags = 2 },
	{ .name = "ipip", .head_bytes = 0 },
	{ .name = "ip6tnl", .v6 = true, .option = true },
	{ .name = "gre", .proto = IPPROTO_GRE, .head = { GRE_KEY, [4] = 1, 2, 3, 4 }, .head_bytes = 8 },
	{ .name = "gretap", .proto = IPPROTO_GRE, .head = { 0, 0, 0x65, 0x58 }, .head_bytes = 4,
	  .ethernet = true },
	{ .name = "vxlan", .proto = IPPROTO_UDP, .port = 4789, .head = { 8, [6] = 7 }, .head_bytes = 8,
	  .ethernet = true },
	{ .name = "vxlan6", .v6 = true, .proto = IPPROTO_UDP, .port = 4789, .head = { 8, [6] = 7 },
	  .head_bytes = 8, .ethernet = true, .check = true },
	{ .name = "geneve", .proto = IPPROTO_UDP, .port = 6081,
	  .head = { 2, 0, 0x65, 0x58, [6] = 9, [8] = 1, 2, 3, 1 }, .head_bytes = 16,
	  .ethernet = true, .check = true },
};

static const struct tunnel *chosen(void)
{
	const char *name = getenv("PKT_TUNNEL");

	if (!name)
		return NULL;
	for (size_t i = 0; i < sizeof(tunnels) / sizeof(tunnels[0]); i++)
		if (!strcmp(name, tunnels[i].name))
			return &tunnels[i];
	errx(2, "no tunnel is called %s", name);
}

/* DSCP and ECN of the packet behind an Ethernet header. */
static uint8_t get_tos(const uint8_t *frame)
{
	switch (quell_opt_get_u16(frame + 12)) {
	case ETH_P_IP:
		return frame[ETH_HLEN + 1];
	case ETH_P_IPV6:
		return quell_opt_get_u16(frame + ETH_HLEN) >> 4;
	default:
		return 0;
	}
}

static size_t put_tags(uint8_t *to, const uint8_t *frame, int tags)
{
	memcpy(to, frame, 12);
	to += 12;
	if (tags == 2) {
		quell_opt_put_u16(to, ETH_P_8021AD);
		quell_opt_put_u16(to + 2, 100);
		to += 4;
	}
	quell_opt_put_u16(to, ETH_P_8021Q);
	quell_opt_put_u16(to + 2, 5);
	return 4 * tags;
}

static size_t get_ip_bytes(const struct tunnel *t)
{
	return t->v6 ? IP6_BYTES + (t->option ? OPTION_BYTES : 0) : IP4_BYTES;
}

static uint8_t get_proto(const struct tunnel *t, const uint8_t *inner)
{
	if (t->proto)
		return t->proto;
	return quell_opt_get_u16(inner + 12) == ETH_P_IPV6 ? IPPROTO_IPV6 : IPPROTO_IPIP;
}

/* Write all that is outside, before the inner frame or packet; it is bytes long. */
static void put_outside(uint8_t *to, const struct tunnel *t, const uint8_t *inner, size_t bytes,
			bool partial)
{
	const char *dscp = getenv("PKT_TUNNEL_DSCP");
	uint8_t *ip = to + ETH_HLEN, *at = ip + get_ip_bytes(t), *head = at;
	struct ip_header header = {
		.v6 = t->v6, .addresses = t->v6 ? outer6 : outer4, .ttl = OUTER_TTL,
		.tos = get_tos(inner), .proto = get_proto(t, inner),
	};

	if (dscp)
		header.tos = atoi(dscp) << 2 | (header.tos & 3);
	memcpy(to, inner, 12);
	quell_opt_put_u16(to + 12, t->v6 ? ETH_P_IPV6 : ETH_P_IP);
	bytes += t->head_bytes;
	if (t->port)
		head += UDP_BYTES;
	memcpy(head, t->head, t->head_bytes);
	if (t->proto == IPPROTO_GRE && !t->ethernet)
		memcpy(head + 2, inner + 12, 2);
	if (t->option) {
		memcpy(at - OPTION_BYTES, (uint8_t[]) { header.proto, 0, 4, 1, 4, 1, 1, 0 },
		       OPTION_BYTES);
		header.proto = IPPROTO_DSTOPTS;
	}
	if (t->port) {
		bytes += UDP_BYTES;
		quell_opt_put_u16(at, 50000);
		quell_opt_put_u16(at + 2, t->port);
		quell_opt_put_u16(at + 4, bytes);
	}
	put_ip(ip, &header, bytes + (at - ip));
	if (t->check && !partial)
		put_check(ip, at, IPPROTO_UDP, bytes, false);
}

/* Leave the checksum of the UDP header outside to the device, of a packet that has its own. */
static void leave_outer_check(struct departure *out, const struct tunnel *t, size_t bytes)
{
	uint8_t *ip = out->frame + ETH_HLEN, *at = ip + get_ip_bytes(t);

	if (!t->port || !getenv(OUTER_PARTIAL) ||
	    out->vnet.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)
		return;
	put_check(ip, at, IPPROTO_UDP, out->frame + bytes - at, true);
	out->vnet.flags |= VIRTIO_NET_HDR_F_NEEDS_CSUM;
	out->vnet.csum_start = at - out->frame;
	out->vnet.csum_offset = 6;
}

/* Put a frame of so many bytes into the tunnel of PKT_TUNNEL; returns its new length. */
size_t wrap_frame(struct departure *out, size_t bytes)
{
	static uint8_t inner[FRAME_MAX];
	const struct tunnel *t = chosen();
	size_t before, skip;

	if (!t)
		return bytes;
	memcpy(inner, out->frame, bytes);
	if (t->tags) {
		before = put_tags(out->frame, inner, t->tags);
		memcpy(out->frame + 12 + before, inner + 12, bytes - 12);
	} else {
		skip = t->ethernet ? 0 : ETH_HLEN;
		before = ETH_HLEN + get_ip_bytes(t) + (t->port ? UDP_BYTES : 0) + t->head_bytes;
		memset(out->frame, 0, before);
		memcpy(out->frame + before, inner + skip, bytes - skip);
		put_outside(out->frame, t, inner, bytes - skip,
			    out->vnet.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM);
		before -= skip;
	}
	out->vnet.csum_start += out->vnet.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM ? before : 0;
	leave_outer_check(out, t, bytes + before);
	return bytes + before;
}

/* Between the ends of the tunnel, in either direction? */
static bool is_ours(const struct tunnel *t, const uint8_t *ip)
{
	const uint8_t *addresses = t->v6 ? outer6 : outer4, *at = ip + (t->v6 ? 8 : 12);
	size_t half = t->v6 ? 16 : 4;

	return !memcmp(at, addresses, 2 * half) ||
	       (!memcmp(at, addresses + half, half) && !memcmp(at + half, addresses, half));
}

/* Is the outside, up to the inner packet, as the tunnel's end requires? */
static const char *judge_outside(const struct tunnel *t, const uint8_t *frame, size_t bytes)
{
	const uint8_t *ip = frame + ETH_HLEN, *at = ip + get_ip_bytes(t);
	size_t ip_bytes = bytes - ETH_HLEN;

	if (!t->v6 && (!is_ip4_intact(ip) || quell_opt_get_u16(ip + 2) != ip_bytes))
		return "outer IPv4 header";
	if (t->v6 && quell_opt_get_u16(ip + 4) != ip_bytes - IP6_BYTES)
		return "outer IPv6 length";
	ip_bytes -= at - ip;
	if (!t->port)
		return NULL;
	if (quell_opt_get_u16(at + 4) != ip_bytes)
		return "outer UDP length";
	if (getenv(OUTER_PARTIAL))
		return strcmp(judge_check(ip, at, IPPROTO_UDP, ip_bytes), "bad") ?
		       NULL : "outer UDP checksum, left to the device";
	if (!t->check && quell_opt_get_u16(at + 6))
		return "outer UDP checksum, of which there was none";
	if (t->check && strcmp(judge_check(ip, at, IPPROTO_UDP, ip_bytes), "good") &&
	    strcmp(judge_check(ip, at, IPPROTO_UDP, ip_bytes), "none"))
		return "outer UDP checksum";
	return NULL;
}

/* CE outside is CE inside; packets that cannot carry it are dropped. */
static bool carry_ce(uint8_t *inner, uint8_t outer_tos)
{
	uint8_t tos = get_tos(inner);

	if ((outer_tos & 3) != 3 || (tos & 3) == 3)
		return true;
	if (!(tos & 3))
		return false;
	if (quell_opt_get_u16(inner + 12) == ETH_P_IPV6) {
		inner[ETH_HLEN + 1] |= 0x30;
		return true;
	}
	set_ip4_tos(inner + ETH_HLEN, tos | 3);
	return true;
}

/*
 * Take a frame, without a tag that the kernel removed, out of the tunnel of PKT_TUNNEL; NULL if the
 * tunnel's end does not accept it, or without a tunnel.
 */
uint8_t *unwrap_frame(uint8_t *frame, size_t *bytes)
{
	const struct tunnel *t = chosen();
	const char *complaint;
	uint8_t *inner, tos;
	size_t before;

	if (!t || t->tags == 1)
		return frame;
	if (t->tags == 2) {
		if (*bytes < ETH_HLEN + 4 || quell_opt_get_u16(frame + 12) != ETH_P_8021Q)
			return NULL;
		memmove(frame + 4, frame, 12);
		*bytes -= 4;
		return frame + 4;
	}
	before = ETH_HLEN + get_ip_bytes(t) + (t->port ? UDP_BYTES : 0) + t->head_bytes;
	if (*bytes < before + (t->ethernet ? ETH_HLEN : IP4_BYTES) || !is_ours(t, frame + ETH_HLEN))
		return NULL;
	tos = get_tos(frame);
	complaint = judge_outside(t, frame, *bytes);
	inner = frame + before;
	if (!t->ethernet) {
		bool v6 = *inner >> 4 == 6;

		inner -= ETH_HLEN;
		memmove(inner, frame, 12);
		quell_opt_put_u16(inner + 12, v6 ? ETH_P_IPV6 : ETH_P_IP);
	}
	*bytes -= inner - frame;
	if (!complaint && !getenv("PKT_TUNNEL_DSCP") && (tos ^ get_tos(inner)) & 0xfc)
		complaint = "DSCP: it differs from that inside";
	if (complaint)
		warnx("%s: wrong %s", t->name, complaint);
	return !complaint && carry_ce(inner, tos) ? inner : NULL;
}
