/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Most of a switch port's packets: untagged Ethernet, IPv4 without options or IPv6 without
 * extension headers, and TCP with data.  They need a fraction of the work of
 * <quell/core/port/frame.h> for other frames, and give the same result.
 */
#ifndef _QUELL_CORE_PORT_FASTPATH_H
#define _QUELL_CORE_PORT_FASTPATH_H

#include <quell/core/port/frame.h>

#define QUELL_FASTPATH_IP_AT	QUELL_FRAME_ETHERNET_BYTES
#define QUELL_FASTPATH_TCP4_AT	(QUELL_FASTPATH_IP_AT + QUELL_FRAME_IPV4_BYTES)
#define QUELL_FASTPATH_TCP6_AT	(QUELL_FASTPATH_IP_AT + QUELL_FRAME_IPV6_BYTES)
/* The first octet of an IPv4 header without options. */
#define QUELL_FASTPATH_IPV4	0x45

/* Headers of a plain frame, as far as a port needs them. */
struct quell_fastpath {
	u8	dsfield;	/* DSCP and ECN */
	u8	ttl;
	u8	tcp_at;	/* offset of the TCP header */
	u8	tcp_bytes;	/* its length */
	u8	tcp_flags;	/* CWR to FIN */
};

/*
 * True for whole TCP segments with data, which are not control but by their DSCP;
 * quell_frame_parse() then gives the same.  Other frames may be anything.  @bytes of @len may be
 * read.
 */
static inline bool quell_fastpath_parse(struct quell_fastpath *plain, const u8 *data, u32 bytes,
					u32 len)
{
	const u8 *ip = data + QUELL_FASTPATH_IP_AT, *tcp;
	u32 end, tcp_bytes, ethertype;

	if (bytes < QUELL_FASTPATH_TCP6_AT)
		return false;
	ethertype = quell_frame_get(data + QUELL_FASTPATH_IP_AT - sizeof(u16));
	if (ethertype == QUELL_FRAME_IS_IPV4) {
		if (ip[0] != QUELL_FASTPATH_IPV4 || ip[9] != QUELL_FRAME_TCP ||
		    quell_frame_get(ip + 6) & QUELL_FRAME_FRAGMENT_MASK)
			return false;
		plain->dsfield = ip[1];
		plain->ttl = ip[8];
		tcp = data + QUELL_FASTPATH_TCP4_AT;
		end = QUELL_FASTPATH_IP_AT + quell_frame_get(ip + 2);
	} else if (ethertype == QUELL_FRAME_IS_IPV6) {
		if (ip[0] >> 4 != 6 || ip[6] != QUELL_FRAME_TCP ||
		    bytes < QUELL_FASTPATH_TCP6_AT + QUELL_FRAME_TCP_BYTES)
			return false;
		plain->dsfield = quell_frame_get(ip) >> 4;
		plain->ttl = ip[7];
		tcp = data + QUELL_FASTPATH_TCP6_AT;
		end = QUELL_FASTPATH_TCP6_AT + quell_frame_get(ip + 4);
	} else {
		return false;
	}
	tcp_bytes = (tcp[12] >> 4) * 4;
	plain->tcp_at = tcp - data;
	plain->tcp_bytes = tcp_bytes;
	plain->tcp_flags = tcp[13];
	if (tcp_bytes < QUELL_FRAME_TCP_BYTES)
		return false;
	tcp_bytes += plain->tcp_at;
	if (tcp_bytes > bytes || tcp_bytes >= end)
		return false;
	return end <= len;
}

#endif /* _QUELL_CORE_PORT_FASTPATH_H */
