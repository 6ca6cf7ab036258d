/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations and registrations that fail on request, faults.c, in modules compiled with -include
 * of this file.  Of kernel 6.12.  Each is replaced in our own code alone: the kernel's calls within
 * it do not fail.
 */
#ifndef _QUELL_FAULTS_H
#define _QUELL_FAULTS_H

#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/rhashtable.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/genetlink.h>
#include <net/gso.h>
#include <net/net_namespace.h>
#include <net/pkt_sched.h>
#include <net/tcp.h>

/* Whether the call that this is part of fails.  Any context. */
bool quell_fault(void);

#undef kmalloc
#define kmalloc(...)		(quell_fault() ? NULL : alloc_hooks(kmalloc_noprof(__VA_ARGS__)))
#undef kzalloc
#define kzalloc(...)		(quell_fault() ? NULL : alloc_hooks(kzalloc_noprof(__VA_ARGS__)))
#undef kcalloc
#define kcalloc(nr, bytes, gfp) \
	(quell_fault() ? NULL : kmalloc_array(nr, bytes, (gfp) | __GFP_ZERO))
#undef kvzalloc
#define kvzalloc(bytes, gfp)	(quell_fault() ? NULL : kvmalloc(bytes, (gfp) | __GFP_ZERO))
#undef kvcalloc
#define kvcalloc(...)		(quell_fault() ? NULL : alloc_hooks(kvcalloc_noprof(__VA_ARGS__)))
#undef kmem_cache_zalloc
#define kmem_cache_zalloc(cache, gfp) \
	(quell_fault() ? NULL : kmem_cache_alloc(cache, (gfp) | __GFP_ZERO))
#undef KMEM_CACHE
#define KMEM_CACHE(type, flags) \
	(quell_fault() ? NULL : kmem_cache_create(#type, sizeof(struct type), \
						  __alignof__(struct type), flags, NULL))
#undef __alloc_percpu_gfp
#define __alloc_percpu_gfp(bytes, align, gfp) \
	(quell_fault() ? NULL : alloc_hooks(pcpu_alloc_noprof(bytes, align, false, gfp)))

#define quell_xa_fault()	((void *)XA_ERROR(-ENOMEM))

static inline void *quell_xa_store(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp)
{
	/* Erasing needs no memory. */
	return entry && quell_fault() ? quell_xa_fault() : xa_store(xa, index, entry, gfp);
}

#define xa_store		quell_xa_store
#define xa_cmpxchg_bh(...)	(quell_fault() ? quell_xa_fault() : xa_cmpxchg_bh(__VA_ARGS__))
#define __xa_cmpxchg(...)	(quell_fault() ? quell_xa_fault() : __xa_cmpxchg(__VA_ARGS__))
#define xa_alloc_cyclic(...)	(quell_fault() ? -ENOMEM : xa_alloc_cyclic(__VA_ARGS__))
#define xa_alloc_cyclic_bh(...)	(quell_fault() ? -ENOMEM : xa_alloc_cyclic_bh(__VA_ARGS__))

#undef rhashtable_init
#define rhashtable_init(...) \
	(quell_fault() ? -ENOMEM : alloc_hooks(rhashtable_init_noprof(__VA_ARGS__)))
#define rhashtable_insert_fast(...) \
	(quell_fault() ? -ENOMEM : rhashtable_insert_fast(__VA_ARGS__))

#undef alloc_skb
#define alloc_skb(...)		(quell_fault() ? NULL : alloc_skb(__VA_ARGS__))
#define genlmsg_new(...)	(quell_fault() ? NULL : genlmsg_new(__VA_ARGS__))
#define skb_cow_head(...)	(quell_fault() ? -ENOMEM : skb_cow_head(__VA_ARGS__))
#define skb_unclone(...)	(quell_fault() ? -ENOMEM : skb_unclone(__VA_ARGS__))
#define skb_ensure_writable(...) (quell_fault() ? -ENOMEM : skb_ensure_writable(__VA_ARGS__))
#define pskb_trim(...)		(quell_fault() ? -ENOMEM : pskb_trim(__VA_ARGS__))
#define skb_gso_segment(...) \
	(quell_fault() ? ERR_PTR(-ENOMEM) : skb_gso_segment(__VA_ARGS__))

#define nf_register_net_hook(...) (quell_fault() ? -ENOMEM : nf_register_net_hook(__VA_ARGS__))
#define register_pernet_subsys(...) \
	(quell_fault() ? -ENOMEM : register_pernet_subsys(__VA_ARGS__))
#define register_netdevice_notifier(...) \
	(quell_fault() ? -ENOMEM : register_netdevice_notifier(__VA_ARGS__))
#define genl_register_family(...) (quell_fault() ? -ENOMEM : genl_register_family(__VA_ARGS__))
#define tcp_register_congestion_control(...) \
	(quell_fault() ? -EEXIST : tcp_register_congestion_control(__VA_ARGS__))
#define register_qdisc(...)	(quell_fault() ? -EEXIST : register_qdisc(__VA_ARGS__))

#endif /* _QUELL_FAULTS_H */
