/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pkt.h - frames made byte by byte, and the sockets they leave and come by
 *
 * Bytes are read and written by quell_opt_get_u16() and its kin.  The functions, described
 * in pkt.c, end the program with a message and status 2 when the kernel refuses something.
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
/* By this port record_pkt and trim_pkt know their own packets, and trim_pkt the answers. */
#define OUR_PORT	20821

/**
 * struct ip_header - an IPv4 or IPv6 header
 * @v6: the version is 6
 * @addresses: source and destination in network order, 4 or 16 bytes each
 * @tos: DSCP in the upper six bits, ECN in the lower two
 * @ttl: time to live, or hop limit
 * @proto: protocol, or next header
 * @number: IPv4 identification, or the lower 16 bits of the flow label
 * @fragment: IPv4 flags and fragment offset in units of 8 bytes
 * @options_bytes: of IPv4 options, all no-operations
 */
struct ip_header {
	bool v6;
	const uint8_t *addresses;
	uint8_t tos, ttl, proto;
	uint16_t number, fragment;
	unsigned int options_bytes;
};

/**
 * struct tcp_header - a TCP header, but for its checksum and urgent pointer
 * @source: port
 * @dest: port
 * @seq: sequence number
 * @ack: acknowledgment number
 * @flags: TH_SYN and so on
 * @window: as on the wire, not scaled
 * @options: as on the wire
 * @options_bytes: of them, a multiple of four
 */
struct tcp_header {
	uint16_t source, dest;
	uint32_t seq, ack;
	uint8_t flags;
	uint16_t window;
	const uint8_t *options;
	unsigned int options_bytes;
};

/**
 * struct departure - a frame to be sent by a socket of open_sender()
 * @vnet: checksum and segmentation left to the device; all zero otherwise
 * @frame: from the Ethernet header on
 */
struct departure {
	struct virtio_net_hdr vnet;
	uint8_t frame[FRAME_MAX];
} __attribute__((packed));

/**
 * struct arrival - a frame that came
 * @frame: from the Ethernet header on
 * @bytes: of the frame
 * @time_ns: when it came, CLOCK_REALTIME, ns
 * @tagged: the kernel removed a VLAN tag from it
 */
struct arrival {
	const uint8_t *frame;
	size_t bytes;
	uint64_t time_ns;
	bool tagged;
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
size_t find_tcp(const uint8_t *frame, size_t *bytes);

int open_packet(const char *dev, int protocol, bool outgoing);
int open_sender(const char *dev);
void send_frame(int fd, const struct departure *out, size_t bytes);
int recv_frames(const char *dev, unsigned int count, unsigned int timeout_ms,
		bool (*take)(const struct arrival *in));

/* pkt_tunnel.c */
size_t wrap_frame(struct departure *out, size_t bytes);
uint8_t *unwrap_frame(uint8_t *frame, size_t *bytes);

#endif
