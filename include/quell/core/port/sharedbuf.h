/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A packet buffer shared by several ports, with dynamic thresholds.
 *
 *	threshold of a port = alpha * (size - used)
 *
 * The threshold depends on the free space of the whole buffer, so that a single port may
 * take much, many ports take equal parts, and some of the buffer is always left for a port
 * that has only now become busy: n ports with full queues hold alpha / (1 + n * alpha) of it
 * each, 1 / (1 + n * alpha) stays free.  Reference: Choudhury and Hahne, "Dynamic
 * Queue Length Thresholds for Shared-Memory Packet Switches", 1998.
 */
#ifndef _QUELL_CORE_PORT_SHAREDBUF_H
#define _QUELL_CORE_PORT_SHAREDBUF_H

#include <quell/core/core.h>

/*
 * Bytes a port may hold now, at most @size_bytes; @used_bytes may be above after the buffer was
 * made smaller.  The product is below 2^64, since both factors are below 2^32.
 */
static inline u32 quell_sharedbuf_threshold(u32 size_bytes, u32 used_bytes, u32 alpha_q16)
{
	u64 threshold_bytes;

	if (used_bytes >= size_bytes)
		return 0;
	threshold_bytes = (u64)(size_bytes - used_bytes) * alpha_q16 >> QUELL_Q16_SHIFT;
	return threshold_bytes < size_bytes ? threshold_bytes : size_bytes;
}

/*
 * True when with the packet neither the port is above its threshold, taken before the packet, nor
 * the buffer above its size.
 */
static inline bool quell_sharedbuf_admits(u32 size_bytes, u32 used_bytes, u32 alpha_q16,
					  u32 port_bytes, u32 len_bytes)
{
	u64 port_after = (u64)port_bytes + len_bytes;

	return (u64)used_bytes + len_bytes <= size_bytes &&
	       port_after <= quell_sharedbuf_threshold(size_bytes, used_bytes, alpha_q16);
}

#endif /* _QUELL_CORE_PORT_SHAREDBUF_H */
