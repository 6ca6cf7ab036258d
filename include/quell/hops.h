/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Number of routers a packet has passed, from its time to live.  Hosts and
 * switches count alike: the first router behind the sender is 1.
 */
#ifndef _QUELL_HOPS_H
#define _QUELL_HOPS_H

#include <quell/core/lib/types.h>

/**
 * quell_hops() - number of routers passed so far
 * @ttl: IPv4's time to live, or IPv6's hop limit, as received or after
 *	forwarding
 *
 * The initial values in use are 64, 128 and 255; the smallest of them not below
 * @ttl is assumed.
 *
 * Context: any.
 * Return: 0 at the sender, at most 126.
 */
static inline u8 quell_hops(u8 ttl)
{
	if (ttl <= 64)
		return 64 - ttl;
	if (ttl <= 128)
		return 128 - ttl;
	return 255 - ttl;
}

#endif /* _QUELL_HOPS_H */
