/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Draws of a namespace's sockets: of the laboratory's kernels by a generator of its own, if it was
 * given one.
 */
#ifndef _QUELL_COMPAT_NET_RANDOM_H
#define _QUELL_COMPAT_NET_RANDOM_H

#include <linux/random.h>

#include <compat/compat.h>
#include <net/net_namespace.h>

#ifdef QUELL_HAVE_NET_RANDOM_SEED
static inline u64 quell_net_random_u64(struct net *net)
{
	if (net->has_random)
		return (u64)net_random_u32(net) << 32 | net_random_u32(net);
	return get_random_u64();
}

#define quell_net_random_seed(net, seed)	net_random_seed(net, seed)
#else
static inline u64 quell_net_random_u64(struct net *net)
{
	return get_random_u64();
}

static inline void quell_net_random_seed(struct net *net, u64 seed) { }
#endif

#endif /* _QUELL_COMPAT_NET_RANDOM_H */
