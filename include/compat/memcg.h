/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory cgroup charged for a socket.  7.x keeps a flag in the pointer, and
 * has a function that masks it.
 */
#ifndef _QUELL_COMPAT_MEMCG_H
#define _QUELL_COMPAT_MEMCG_H

#include <compat/compat.h>
#include <linux/memcontrol.h>
#include <net/sock.h>

static inline struct mem_cgroup *quell_sock_memcg(const struct sock *sk)
{
#ifndef CONFIG_MEMCG
	return NULL;
#elif defined(QUELL_HAVE_MEM_CGROUP_FROM_SK)
	return mem_cgroup_from_sk(sk);
#else
	return READ_ONCE(sk->sk_memcg);
#endif
}

#endif /* _QUELL_COMPAT_MEMCG_H */
