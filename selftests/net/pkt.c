// SPDX-License-Identifier: GPL-2.0
/*
 * pkt.c - frames made byte by byte, and the sockets they leave and come by
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "pkt.h"

#define SOCKET_BYTES	(256 << 20)
#define VLAN_ID		5

/* Sum of 16-bit words in network order; an odd last byte is the upper half of a word. */
static uint32_t sum_words(const uint8_t *at, size_t bytes)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < bytes; i++)
		sum += i & 1 ? at[i] : at[i] << 8;
	return sum;
}

/* Add the carries of a sum to its lower 16 bits (RFC 1071). */
static uint16_t fold_sum(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/*
 * Folded sum of the pseudo header of TCP or UDP, by an IP header of either version; @bytes: of
 * transport header and payload.
 */
static uint16_t sum_pseudo(const uint8_t *ip, int proto, size_t bytes)
{
	uint32_t sum = ip[0] >> 4 == 6 ? sum_words(ip + 8, 32) : sum_words(ip + 12, 8);

	return fold_sum(proto + bytes + sum);
}

/* Offset of the checksum in a header of TCP, UDP or ICMP. */
static unsigned int get_check_at(int proto)
{
	return proto == IPPROTO_TCP ? 16 : proto == IPPROTO_UDP ? 6 : 2;
}

/* Write an Ethernet header, with @vlan that of VLAN_ID; returns where the payload begins. */
uint8_t *put_ethernet(uint8_t *frame, const uint8_t *to, const uint8_t *from, bool vlan,
		      uint16_t ethertype)
{
	uint8_t *at = frame + ETH_HLEN + (vlan ? 4 : 0);

	memcpy(frame, to, ETH_ALEN);
	memcpy(frame + ETH_ALEN, from, ETH_ALEN);
	if (vlan) {
		quell_opt_put_u16(frame + 12, ETH_P_8021Q);
		quell_opt_put_u16(frame + 14, VLAN_ID);
	}
	quell_opt_put_u16(at - 2, ethertype);
	return at;
}

/*
 * Write an IP header, for IPv4 with its checksum, where all is zero up to its end; @bytes: of the
 * packet, this header included.
 */
void put_ip(uint8_t *at, const struct ip_header *ip, size_t bytes)
{
	size_t header_bytes = IP4_BYTES + ip->options_bytes;

	if (ip->v6) {
		quell_opt_put_u16(at, 0x6000 | ip->tos << 4);
		quell_opt_put_u16(at + 2, ip->number);
		quell_opt_put_u16(at + 4, bytes - IP6_BYTES);
		at[6] = ip->proto;
		at[7] = ip->ttl;
		memcpy(at + 8, ip->addresses, 32);
		return;
	}
	at[0] = 0x40 | header_bytes / 4;
	at[1] = ip->tos;
	quell_opt_put_u16(at + 2, bytes);
	quell_opt_put_u16(at + 4, ip->number);
	quell_opt_put_u16(at + 6, ip->fragment);
	at[8] = ip->ttl;
	at[9] = ip->proto;
	memcpy(at + 12, ip->addresses, 8);
	memset(at + IP4_BYTES, QUELL_OPT_NOP, ip->options_bytes);
	quell_opt_put_u16(at + 10, ~fold_sum(sum_words(at, header_bytes)));
}

/*
 * Write a TCP header with its options, but for the checksum, where all is zero; returns its bytes.
 */
size_t put_tcp(uint8_t *at, const struct tcp_header *tcp)
{
	size_t bytes = TCP_BYTES + tcp->options_bytes;

	quell_opt_put_u16(at, tcp->source);
	quell_opt_put_u16(at + 2, tcp->dest);
	quell_opt_put_u32(at + 4, tcp->seq);
	quell_opt_put_u32(at + 8, tcp->ack);
	at[12] = bytes / 4 << 4;
	at[13] = tcp->flags;
	quell_opt_put_u16(at + 14, tcp->window);
	if (tcp->options_bytes)
		memcpy(at + TCP_BYTES, tcp->options, tcp->options_bytes);
	return bytes;
}

/*
 * Write the checksum of TCP, UDP or ICMP, behind a whole IP header. @bytes: of header and payload;
 * @partial: the sum of the pseudo header alone, which the device completes.
 */
void put_check(const uint8_t *ip, uint8_t *at, int proto, size_t bytes, bool partial)
{
	uint16_t sum = sum_pseudo(ip, proto, bytes);

	quell_opt_put_u16(at + get_check_at(proto), 0);
	if (!partial)
		sum = ~fold_sum(sum + sum_words(at, bytes));
	quell_opt_put_u16(at + get_check_at(proto), sum);
}

/*
 * A request to the device to compute a checksum and, with @gso_bytes of payload in each segment, to
 * divide a super-packet. @at: offset in the frame of the transport header; @tcp_bytes: of the TCP
 * header with its options.
 */
struct virtio_net_hdr make_vnet(bool v6, int proto, size_t at, size_t tcp_bytes, size_t gso_bytes)
{
	struct virtio_net_hdr vnet = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.csum_start = at,
		.csum_offset = get_check_at(proto),
	};

	if (!gso_bytes)
		return vnet;
	vnet.gso_type = v6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
	vnet.hdr_len = at + tcp_bytes;
	vnet.gso_size = gso_bytes;
	return vnet;
}

/*
 * Parse TCP options, two hexadecimal digits a byte, into TCP_OPTIONS_MAX bytes. Returns their
 * bytes, with no-operations up to a multiple of four, or -1.
 */
int parse_options(uint8_t *options, const char *hex)
{
	unsigned int byte;
	int n = 0;

	for (; *hex; hex += 2) {
		if (n == TCP_OPTIONS_MAX || sscanf(hex, "%2x", &byte) != 1 || !hex[1])
			return -1;
		options[n++] = byte;
	}
	while (n % 4)
		options[n++] = QUELL_OPT_NOP;
	return n;
}

/* Whether the checksum of an IPv4 header is right. */
bool is_ip4_intact(const uint8_t *ip)
{
	return fold_sum(sum_words(ip, (ip[0] & 15) * 4)) == 0xffff;
}

/* Change DSCP and ECN of an IPv4 header with its checksum. */
void set_ip4_tos(uint8_t *ip, uint8_t tos)
{
	ip[1] = tos;
	quell_opt_put_u16(ip + 10, 0);
	quell_opt_put_u16(ip + 10, ~fold_sum(sum_words(ip, (ip[0] & 15) * 4)));
}

/*
 * The checksum of TCP or UDP: "good", "partial" (the sum of the pseudo header alone), "none" or
 * "bad".
 */
const char *judge_check(const uint8_t *ip, const uint8_t *at, int proto, size_t bytes)
{
	uint16_t pseudo = sum_pseudo(ip, proto, bytes);
	uint16_t check = quell_opt_get_u16(at + get_check_at(proto));

	if (proto == IPPROTO_UDP && !check)
		return "none";
	if (fold_sum(pseudo + sum_words(at, bytes)) == 0xffff)
		return "good";
	return check == pseudo ? "partial" : "bad";
}

/*
 * Offset of the header behind the IP header in a frame without a VLAN tag; 0 if it is not IP or is
 * cut short. @bytes: of the frame, changed to those of transport header and payload.
 */
size_t find_transport(const uint8_t *frame, size_t *bytes)
{
	const uint8_t *ip = frame + ETH_HLEN;
	size_t at, end;

	if (*bytes < ETH_HLEN + IP4_BYTES)
		return 0;
	switch (quell_opt_get_u16(frame + 12)) {
	case ETH_P_IP:
		at = ETH_HLEN + (ip[0] & 15) * 4;
		end = ETH_HLEN + quell_opt_get_u16(ip + 2);
		break;
	case ETH_P_IPV6:
		at = ETH_HLEN + IP6_BYTES;
		end = at + quell_opt_get_u16(ip + 4);
		break;
	default:
		return 0;
	}
	if (end > *bytes || at > end)
		return 0;
	*bytes = end - at;
	return at;
}

/*
 * A packet socket on a device. @protocol: ethertype of the frames to receive, ETH_P_ALL for all, 0
 * for no frame.
 */
static int open_packet(const char *dev, int protocol)
{
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(protocol),
		.sll_ifindex = if_nametoindex(dev),
	};
	int ignore = 1, fd;

	if (!address.sll_ifindex)
		err(2, "%s", dev);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &ignore, sizeof(ignore)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)))
		err(2, "packet socket on %s", dev);
	return fd;
}

/* A socket for send_frame(); frames pass the device's qdisc. */
int open_sender(const char *dev)
{
	int fd = open_packet(dev, 0), bytes = SOCKET_BYTES, one = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof(one)))
		err(2, "socket to send by");
	return fd;
}

/*
 * Send a frame of so many bytes, without the header for the device. The qdisc may drop it, which is
 * part of the tests.
 */
void send_frame(int fd, const struct departure *out, size_t bytes)
{
	static struct departure wrapped;

	wrapped.vnet = out->vnet;
	memcpy(wrapped.frame, out->frame, bytes);
	bytes = wrap_frame(&wrapped, bytes);
	if (send(fd, &wrapped, sizeof(wrapped.vnet) + bytes, 0) < 0 && errno != ENOBUFS)
		err(2, "send");
}

/* Receive a frame and pass it to a function of recv_frames(); returns its result. */
static bool recv_frame(int fd, bool (*take)(const struct arrival *in))
{
	static uint8_t frame[FRAME_MAX];
	struct iovec iov = { frame, sizeof(frame) };
	char control[256];
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct arrival in = { .frame = frame };
	ssize_t bytes = recvmsg(fd, &msg, 0);

	if (bytes < 0)
		err(2, "recvmsg");
	in.bytes = bytes;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		struct tpacket_auxdata aux;
		struct timespec ts;

		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
			in.time_ns = ts.tv_sec * 1000000000ULL + ts.tv_nsec;
		} else if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA) {
			memcpy(&aux, CMSG_DATA(c), sizeof(aux));
			in.tagged = aux.tp_status & TP_STATUS_VLAN_VALID;
		}
	}
	if (in.bytes < ETH_HLEN)
		return false;
	in.frame = unwrap_frame(frame, &in.bytes);
	return in.frame && take(&in);
}

static uint64_t get_time_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

/*
 * Print "ready", then pass each frame that a device receives to @take, until that has returned true
 * for @count of them. Returns 1 if they are too few within @timeout_ms.
 */
int recv_frames(const char *dev, unsigned int count, unsigned int timeout_ms,
		bool (*take)(const struct arrival *in))
{
	int fd = open_packet(dev, ETH_P_ALL), bytes = SOCKET_BYTES, one = 1;
	uint64_t end_ms;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)))
		err(2, "socket to receive from");
	printf("ready\n");
	fflush(stdout);
	end_ms = get_time_ms() + timeout_ms;
	while (count) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		uint64_t ms = get_time_ms();

		if (ms >= end_ms || poll(&wait, 1, end_ms - ms) <= 0)
			return 1;
		count -= recv_frame(fd, take);
	}
	return 0;
}
