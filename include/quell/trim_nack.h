/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The NACK a switch port sends back to the sender of a TCP segment that it drops.
 *
 *	addresses, ports	the segment's, swapped
 *	sequence number		acknowledgment number of the segment
 *	acknowledgment number	sequence number of the segment
 *	flags, window		0, 0
 *	options			the Quell option with an ACK section: the segment's departure
 *				and entropy; the NACK (Documentation/wire-format.md)
 *
 * The echoed departure authenticates the NACK: only nodes on the path of the segment
 * know it.  A switch does not know which data the receiver has, so the ACK flag is not
 * set, and no host can take the NACK for an acknowledgment; TCP drops such a segment, and
 * a host that supports NACKs handles it before TCP does.
 *
 * Like a core, this does not depend on packet buffers or clocks.
 */
#ifndef _QUELL_TRIM_NACK_H
#define _QUELL_TRIM_NACK_H

#include <quell/nack.h>
#include <quell/trim.h>

/* The ACK section and its head, which is the whole option: 16 is a multiple of 4. */
#define QUELL_TRIM_NACK_ECHO_BYTES	(QUELL_OPT_HEAD_BYTES + QUELL_OPT_ACK_BYTES)
#define QUELL_TRIM_NACK_TCP_BYTES	(QUELL_FRAME_TCP_BYTES + QUELL_TRIM_NACK_ECHO_BYTES + \
					 QUELL_NACK_BYTES)
/* Maximum length, over IPv6. */
#define QUELL_TRIM_NACK_MAX_BYTES	(QUELL_FRAME_IPV6_BYTES + QUELL_TRIM_NACK_TCP_BYTES)

#define QUELL_TRIM_NACK_TTL		64
/* Do not fragment. */
#define QUELL_TRIM_NACK_FRAGMENT	0x4000U

#define QUELL_TRIM_IPV4_TTL_AT		8
#define QUELL_TRIM_IPV4_SOURCE_AT	12
#define QUELL_TRIM_IPV4_ADDRESS_BYTES	4U
#define QUELL_TRIM_IPV6_TTL_AT		7
#define QUELL_TRIM_IPV6_SOURCE_AT	8
#define QUELL_TRIM_IPV6_ADDRESS_BYTES	16U
#define QUELL_TRIM_TCP_SEQ_AT		4
#define QUELL_TRIM_TCP_ACK_AT		8

/**
 * quell_trim_wants_nack() - may the sender of a packet be sent a NACK?
 * @ip:	  the packet's headers, @trim->header_bytes
 * @trim: its parsed headers
 *
 * Context: any.
 * Return: true for TCP segments with payload that state its length in the Quell option.
 */
static inline bool quell_trim_wants_nack(const u8 *ip, const struct quell_trim *trim)
{
	return trim->ip_bytes > trim->header_bytes && quell_trim_is_stated(ip, trim);
}

/* One's complement sum of an even number of bytes. */
static inline u32 quell_trim_sum(const u8 *from, u32 bytes)
{
	u32 sum = 0, i;

	for (i = 0; i < bytes; i += 2)
		sum += quell_opt_get_u16(from + i);
	return sum;
}

static inline void quell_trim_swap(u8 *a, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes; i++) {
		u8 byte = a[i];

		a[i] = a[bytes + i];
		a[bytes + i] = byte;
	}
}

/*
 * Make the IP header of a segment, or that outside of it, the one of its NACK of @bytes; returns
 * the sum of its addresses.  The flow label is reused: any path will do.
 */
static inline u32 quell_trim_return_ip(u8 *ip, u32 bytes, bool ipv6, u8 dscp)
{
	if (ipv6) {
		quell_trim_swap(ip + QUELL_TRIM_IPV6_SOURCE_AT, QUELL_TRIM_IPV6_ADDRESS_BYTES);
		quell_opt_put_u16(ip, 0x6000 | dscp << (QUELL_TRIM_IPV6_TOS_SHIFT +
							QUELL_TRIM_DSCP_SHIFT) |
				  (quell_opt_get_u16(ip) & 0xf));
		quell_opt_put_u16(ip + QUELL_TRIM_IPV6_LENGTH_AT, bytes - QUELL_FRAME_IPV6_BYTES);
		ip[QUELL_TRIM_IPV6_TTL_AT] = QUELL_TRIM_NACK_TTL;
		return quell_trim_sum(ip + QUELL_TRIM_IPV6_SOURCE_AT,
				      2 * QUELL_TRIM_IPV6_ADDRESS_BYTES);
	}
	quell_trim_swap(ip + QUELL_TRIM_IPV4_SOURCE_AT, QUELL_TRIM_IPV4_ADDRESS_BYTES);
	quell_opt_put_u16(ip, 0x4500 | dscp << QUELL_TRIM_DSCP_SHIFT);
	quell_opt_put_u16(ip + QUELL_TRIM_IPV4_LENGTH_AT, bytes);
	quell_opt_put_u16(ip + QUELL_TRIM_IPV4_FRAGMENT_AT, QUELL_TRIM_NACK_FRAGMENT);
	ip[QUELL_TRIM_IPV4_TTL_AT] = QUELL_TRIM_NACK_TTL;
	quell_opt_put_u16(ip + QUELL_TRIM_IPV4_CHECK_AT, 0);
	quell_opt_put_u16(ip + QUELL_TRIM_IPV4_CHECK_AT,
			  ~quell_trim_fold(quell_trim_sum(ip, QUELL_FRAME_IPV4_BYTES)));
	return quell_trim_sum(ip + QUELL_TRIM_IPV4_SOURCE_AT, 2 * QUELL_TRIM_IPV4_ADDRESS_BYTES);
}

/* Payload length when the segment left its sender, even if it was trimmed since. */
static inline u16 quell_trim_nack_lost_bytes(const u8 *tcp, const struct quell_trim *trim)
{
	u32 at = quell_trim_payload_at(tcp, trim->header_bytes - trim->transport_at);
	u32 payload_bytes = trim->ip_bytes - trim->header_bytes;

	return quell_max_u64(quell_opt_get_u16(tcp + at), payload_bytes);
}

/* Echo the departure and entropy of the segment's option. */
static inline u32 quell_trim_nack_put_echo(const u8 *tcp, const struct quell_trim *trim, u8 *to)
{
	u32 at = quell_trim_payload_at(tcp, trim->header_bytes - trim->transport_at);
	struct quell_opt opt = {
		.form = QUELL_OPT_FULL,
		.flags = QUELL_OPT_F_ACK,
		.echo_ns = quell_opt_get_u32(tcp + at + 2),
		.echo_entropy = tcp[at - 1],
	};

	return quell_opt_encode(&opt, to);
}

static inline void quell_trim_nack_put_tcp(const u8 *tcp, const struct quell_trim *trim,
					   u32 address_sum, u8 *to)
{
	struct quell_nack nack = {
		.seq = quell_opt_get_u32(tcp + QUELL_TRIM_TCP_SEQ_AT),
		.bytes = quell_trim_nack_lost_bytes(tcp, trim),
	};

	__builtin_memcpy(to, tcp + 2, 2);
	__builtin_memcpy(to + 2, tcp, 2);
	__builtin_memcpy(to + QUELL_TRIM_TCP_SEQ_AT, tcp + QUELL_TRIM_TCP_ACK_AT, 4);
	quell_opt_put_u32(to + QUELL_TRIM_TCP_ACK_AT, nack.seq);
	to[QUELL_TRIM_TCP_FLAGS_AT] = QUELL_TRIM_NACK_TCP_BYTES / 4 << 4;
	quell_nack_encode(&nack, to + QUELL_FRAME_TCP_BYTES +
			  quell_trim_nack_put_echo(tcp, trim, to + QUELL_FRAME_TCP_BYTES));
	quell_opt_put_u16(to + QUELL_TRIM_TCP_CHECK_AT,
			  ~quell_trim_fold(address_sum + QUELL_FRAME_TCP +
					   QUELL_TRIM_NACK_TCP_BYTES +
					   quell_trim_sum(to, QUELL_TRIM_NACK_TCP_BYTES)));
}

/**
 * quell_trim_nack() - build the NACK
 * @ip:	  headers of the segment, @trim->header_bytes
 * @trim: its parsed headers; quell_trim_wants_nack() must have returned true
 * @dscp: DSCP of the NACK, 0 to 63
 * @to:	  QUELL_TRIM_NACK_MAX_BYTES bytes, must be zeroed
 *
 * Context: any.
 * Return: its length from the IP header on.
 */
static inline u32 quell_trim_nack(const u8 *ip, const struct quell_trim *trim, u8 dscp, u8 *to)
{
	u32 ip_bytes = trim->ipv6 ? QUELL_FRAME_IPV6_BYTES : QUELL_FRAME_IPV4_BYTES;
	u32 bytes = ip_bytes + QUELL_TRIM_NACK_TCP_BYTES, address_sum;

	/* An IPv4 header without its options. */
	__builtin_memcpy(to, ip, ip_bytes);
	address_sum = quell_trim_return_ip(to, bytes, trim->ipv6, dscp);
	quell_trim_nack_put_tcp(ip + trim->transport_at, trim, address_sum, to + ip_bytes);
	return bytes;
}

#endif /* _QUELL_TRIM_NACK_H */
