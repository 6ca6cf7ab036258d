/* SPDX-License-Identifier: GPL-2.0 */
/* State of quell.ko per network namespace. */
#ifndef _QUELL_NET_H
#define _QUELL_NET_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <quell/quell.h>
#include "netns/notify.h"

/* Algorithms registered at one time; the signal plane's parameters count as one. */
#define QUELL_ALGOS_MAX		16

/* Sums of shares; two interfaces with the same one only have less. */
#define QUELL_CLAIMS		16

/* Netfilter hooks of a namespace: LOCAL_OUT and LOCAL_IN of each address family. */
#define QUELL_HOOKS		(IS_ENABLED(CONFIG_IPV6) ? 4 : 2)

/* Hash of the offers, in bits. */
#define QUELL_OFFER_BITS	6

/* Offers received, until ->init takes them. */
struct quell_offers {
	spinlock_t		lock;	/* protects the rest */
	/* struct offer_entry, by hash of the connection. */
	DECLARE_HASHTABLE(table, QUELL_OFFER_BITS);
	struct list_head	ages;	/* the same offers, oldest first */
	u32			nr;
};

/* A flow that has not begun, or has ended. */
#define QUELL_UNGOVERNED	QUELL_GOVERNORS

/*
 * A governor's time is @ms plus the present time for each flow that it has now, so a reader need
 * not visit the flows.  One lock, not one per CPU: that would cost 272 bytes for each algorithm and
 * CPU in each namespace.
 */
struct quell_governed {
	spinlock_t	lock;	/* protects the rest */
	u64		begun[QUELL_GOVERNORS];	/* times that a governor took over a flow */
	u64		ended[QUELL_GOVERNORS];	/* times that another did, or the flow ended */
	/* Times of @ended less those of @begun, modulo 2^64. */
	u64		ms[QUELL_GOVERNORS];
	u64		read_ms[QUELL_GOVERNORS];	/* as last read */
};

struct quell_governed_sum {
	u64	begun[QUELL_GOVERNORS];	/* times that a governor took over a flow */
	u64	ms[QUELL_GOVERNORS];	/* time it governed, summed over flows */
};

/* Published parameters, never changed again. */
struct quell_params_block {
	struct rcu_head	rcu;
	u64		data[];	/* the algorithm's own struct */
};

/* An algorithm in a namespace. */
struct quell_algo_net {
	struct quell_params_block __rcu	*params;	/* replaced under quell_mutex */
	void __percpu			*stats;	/* counters */
	struct quell_governed		*governed;
};

/*
 * State of quell.ko in a network namespace.  No field that a connection or a packet writes shares a
 * cache line with those that packets read.
 */
struct quell_net {
	/* Read for each packet and ACK; changed by administrators, links and modules. */
	struct quell_counters __percpu	*counters;
	struct net			*net;
	/* Incremented when @links or @links_named change. */
	atomic_t			links_gen;
	/* Registered, QUELL_HOOKS when all are; never decreases. */
	u8				hooks_nr;
	struct xarray			clocks;	/* ifindex -> map of its NIC's clock; link.c */
	struct quell_algo_net		algos[QUELL_ALGOS_MAX];	/* by slot */

	/* Written as connections open and close. */
	/* Quell sockets, with or without a context. */
	atomic_t			socks ____cacheline_aligned_in_smp;
	atomic_t			algo_socks[QUELL_ALGOS_MAX];	/* by slot */
	/* Bytes/s, by an interface's index modulo QUELL_CLAIMS; signal.c. */
	atomic64_t			claims[QUELL_CLAIMS];
	struct xarray			flows;	/* contexts by number, for dumps */
	struct quell_offers		offers;	/* of the option, stored for ->init; option.c */

	/* Rarely used. */
	struct list_head		node;	/* in quell_nets; quell_mutex */
	struct xarray			links;	/* ifindex -> Mbit/s */
	/* ifindex -> kbit/s, overrides @links; RTNL. */
	struct xarray			links_named;
	struct work_struct		hooks_work;	/* registers the hooks */
	struct quell_ntf_state		ntf;
};

/* net.c */
extern unsigned int quell_net_id;
struct quell_net *quell_net(const struct net *net);
extern struct mutex quell_mutex;
extern struct list_head quell_nets;
extern const struct quell_algo *quell_algos[QUELL_ALGOS_MAX];
extern u32 quell_algos_gen;
extern const struct quell_counter_desc quell_counter_descs[QUELL_N_MAX];
u64 quell_percpu_sum(const void __percpu *block, u32 offset);
const struct quell_algo *quell_algo_of(const struct tcp_congestion_ops *ops);
const struct quell_algo *quell_algo_of_listener(const struct sock *listener);
const struct quell_algo *quell_algo_by_key(u32 key);
int quell_algo_join_nets(struct quell_algo *algo);
void quell_algo_leave_nets(struct quell_algo *algo);

int quell_net_join_algos(struct quell_net *qnet);
void quell_net_leave_algos(struct quell_net *qnet);
void quell_hooks_request(struct quell_net *qnet);
void quell_hooks_settle(struct quell_net *qnet);
struct quell_params_block *quell_params_copy(const struct quell_algo_net *an,
					     const struct quell_algo *algo);
void quell_governed_count(struct quell_governed *governed, u8 from, u8 to, u64 now_ns);
void quell_governed_read(struct quell_governed *governed, struct quell_governed_sum *sum);

static inline void quell_count(struct quell_net *qnet, enum quell_counter counter)
{
	this_cpu_inc(qnet->counters->value[counter]);
}

#endif /* _QUELL_NET_H */
