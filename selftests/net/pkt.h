/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pkt.h - frames made byte by byte, and the sockets they leave and come by
 *
 * Bytes are read and written by quell_opt_get_u16() and its kin.  The functions end the program
 * with a message and status 2 when the kernel refuses something.
 */
#ifndef _PKT_H
#define _PKT_H

#include <linux/if_ether.h>
#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quell/option.h>

#define FRAME_MAX	65536
#define IP4_BYTES	20
#define IP6_BYTES	40
#define TCP_BYTES	20
#define UDP_BYTES	8
#define TCP_OPTIONS_MAX	40
/* The port of the packets of ip_pkt and of their replies. */
#define OUR_PORT	20821

/* An IPv4 or IPv6 header; number: IPv4 identification, or the lower 16 bits of the flow label. */
struct ip_header {
	bool v6;	/* the version is 6 */
	/* source and destination in network order, 4 or 16 bytes each */
	const uint8_t *addresses;
	uint8_t tos, ttl, proto;
	uint16_t number, fragment;	/* flags and offset in units of 8 bytes, as in IPv4 */
	unsigned int options_bytes;	/* of IPv4 options, all no-operations */
};

/* A TCP header, but for its checksum and urgent pointer. */
struct tcp_header {
	uint16_t source, dest;
	uint32_t seq, ack;
	uint8_t flags;	/* TH_SYN and so on */
	uint16_t window;	/* as on the wire, not scaled */
	const uint8_t *options;	/* as on the wire */
	unsigned int options_bytes;	/* of them, a multiple of four */
};

/* A frame to be sent by a socket of open_sender(). */
struct departure {
	/* checksum and segmentation left to the device; all zero otherwise */
	struct virtio_net_hdr vnet;
	uint8_t frame[FRAME_MAX];	/* from the Ethernet header on */
} __attribute__((packed));

/* A frame that came. */
struct arrival {
	const uint8_t *frame;	/* from the Ethernet header on */
	size_t bytes;	/* of the frame */
	uint64_t time_ns;	/* when it came, CLOCK_REALTIME */
	bool tagged;	/* the kernel removed a VLAN tag from it */
};

uint8_t *put_ethernet(uint8_t *frame, const uint8_t *to, const uint8_t *from, bool vlan,
		      uint16_t ethertype);
void put_ip(uint8_t *at, const struct ip_header *ip, size_t bytes);
size_t put_tcp(uint8_t *at, const struct tcp_header *tcp);
void put_check(const uint8_t *ip, uint8_t *at, int proto, size_t bytes, bool partial);
struct virtio_net_hdr make_vnet(bool v6, int proto, size_t at, size_t tcp_bytes, size_t gso_bytes);
int parse_options(uint8_t *options, const char *hex);

bool is_ip4_intact(const uint8_t *ip);
void set_ip4_tos(uint8_t *ip, uint8_t tos);
const char *judge_check(const uint8_t *ip, const uint8_t *at, int proto, size_t bytes);
size_t find_transport(const uint8_t *frame, size_t *bytes);

int open_sender(const char *dev);
void send_frame(int fd, const struct departure *out, size_t bytes);
int recv_frames(const char *dev, unsigned int count, unsigned int timeout_ms,
		bool (*take)(const struct arrival *in));

/* pkt_tunnel.c */
size_t wrap_frame(struct departure *out, size_t bytes);
uint8_t *unwrap_frame(uint8_t *frame, size_t *bytes);

#endif
