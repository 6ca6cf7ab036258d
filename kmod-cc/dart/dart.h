/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Direct apportioning of sending rates: the receiver's set of active senders per interface,
 * a flow's part in it, and look-ahead groups and weights of senders, as users register them.
 */
#ifndef _TCP_DART_H
#define _TCP_DART_H

#include <linux/in6.h>
#include <linux/rbtree_types.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <quell/core/dart/machine.h>
#include <quell/core/dart/params.h>
#include <quell/core/dart/set.h>
#include "flow/flow.h"
#include "signal/dasr.h"

struct genl_info;
struct netlink_callback;
struct netlink_ext_ack;
struct user_namespace;

/* Interface on which senders reach this host. */
struct dart_port {
	struct rcu_head			rcu;
	refcount_t			refs;	/* the table of the namespace, flows, groups */
	struct quell_net		*qnet;
	int				ifindex;

	/* Written for each packet that comes in by the interface. */
	/* Received on the wire with TCP, free-running. */
	atomic64_t			bytes ____cacheline_aligned_in_smp;

	/* Protects the rest, all hosts, users and pairs; inside a flow's lock. */
	spinlock_t			lock ____cacheline_aligned_in_smp;
	struct quell_dasr_set		set;	/* active senders */
	/* Kind of congestion; its state may be read without the lock. */
	struct quell_dart_machine	machine;
	u64				marks;	/* packets received with CE, free-running */
	/* Counters of @set that are in those of the namespace. */
	struct quell_dasr_set		counted;
	struct rb_root			hosts;	/* struct dart_host, by address */
	struct rb_root			users;	/* struct dart_owner, by user */
	bool				is_behind;	/* more has expired than a run dropped */
	bool				gone;	/* no group may be added */
};

/* Host that sends to this one, or may do so. */
struct dart_host {
	struct rb_node			node;	/* in dart_port.hosts */
	struct in6_addr			addr;	/* IPv4 as a mapped one; constant */
	u32				refs;	/* pairs, and a weight that is not the default */
	struct quell_dasr_sender	sender;	/* its state in the set */
};

/* User with connections or groups at a port. */
struct dart_owner {
	struct rb_node		node;	/* in dart_port.users */
	kuid_t			uid;
	u32			refs;	/* pairs */
	struct rb_root		pairs;	/* struct dart_pair, by address of the host */
	struct quell_dasr_user	user;	/* its state in the set */
};

/* Host that sends to sockets of a user, or is in a group of that user. */
struct dart_pair {
	struct rb_node			node;	/* in dart_owner.pairs */
	struct dart_host		*host;	/* referenced */
	struct dart_owner		*owner;	/* referenced */
	u32				refs;	/* connections and memberships */
	u32				members;	/* of all groups of the user */
	struct quell_dasr_peer		peer;	/* its state in the set */
};

/* State of a flow; its lock protects @port to @has_more. */
struct dart_flow {
	struct quell_dasr	dasr;	/* as a sender; first, for kfree() of it */
	struct quell_dasr_conn	conn;	/* in the set of @port, under its lock */
	/* On which its data is received; NULL before the first data. */
	struct dart_port	*port;
	struct dart_pair	*pair;	/* peer and user, under the lock of @port */
	u32			top_seq;	/* after the newest data */
	bool			has_more;	/* of the message follows that data */
};

static_assert(!offsetof(struct dart_flow, dasr));

/* @flow has n. */
static inline struct dart_flow *dart_flow(const struct quell_flow *flow)
{
	return container_of(flow->dasr, struct dart_flow, dasr);
}

/* State of a namespace. */
struct dart_net {
	struct xarray		ports;	/* ifindex -> struct dart_port */
	bool			gone;	/* no port may be added; lock of @ports */

	/* Protects the rest; inside RTNL, outside the lock of a port. */
	struct mutex		lock;
	struct xarray		groups;	/* struct dart_lookahead, by number */
	u32			next;	/* number to try first */
	/* Incremented when @groups changes, never 0 before it wraps; for dumps. */
	u32			gen;
	u32			weights_nr;	/* other than the default */
};

/* Length of a group's name, the end included. */
#define DART_LOOKAHEAD_NAME_BYTES	32

/*
 * Limits: members of a group, and of all groups of a user that one host is in, which a
 * message of that host visits; groups and members of a user, and of a namespace.
 */
#define DART_LOOKAHEAD_GROUP_MAX	1024U
#define DART_LOOKAHEAD_USER_GROUPS	64U
#define DART_LOOKAHEAD_USER_MEMBERS	4096U
#define DART_LOOKAHEAD_NET_GROUPS	1024U
#define DART_LOOKAHEAD_NET_MEMBERS	65536U
/* Weights of a namespace. */
#define DART_WEIGHTS_MAX		1024U

/* A registered group.  All but @group and @members is constant. */
struct dart_lookahead {
	u32				id;	/* in dart_net.groups */
	/* Unique for the user in the namespace. */
	char				name[DART_LOOKAHEAD_NAME_BYTES];
	kuid_t				uid;
	struct dart_port		*port;	/* on which its members' data is received */
	struct quell_dasr_group		group;	/* lock of @port */
	struct quell_dasr_member	members[];	/* of @group */
};

/* Constant while the group is published. */
static inline struct dart_pair *dart_lookahead_pair(const struct dart_lookahead *ahead,
						    u32 i)
{
	return container_of(ahead->members[i].peer, struct dart_pair, peer);
}

/* A group to register. */
struct dart_lookahead_spec {
	const char		*name;	/* at most DART_LOOKAHEAD_NAME_BYTES with its end */
	kuid_t			uid;
	int			ifindex;
	/* Members count ahead; 0: parameter "lookahead" of dart, the maximum. */
	u64			time_ns;
	const struct in6_addr	*members;	/* IPv4 as mapped ones */
	u32			members_nr;
};

/* tcp_dart.c */
struct dart_net *dart_net(const struct net *net);
struct quell_dart_params dart_params(const struct quell_net *qnet);

/* flow.c */
bool dart_open(struct quell_flow *flow, const struct sock *sk);
void dart_close(struct quell_flow *flow);
bool dart_receive(struct quell_flow *flow, const struct sock *sk,
		  const struct quell_dasr_packet *packet);
void dart_reset(struct quell_flow *flow, const struct sock *sk, u32 seq);
void dart_state(struct quell_flow *flow, const struct tcp_sock *tp, struct quell_opt *opt);

/* port.c */
struct dart_port *dart_port_get(struct quell_net *qnet, int ifindex, const struct sock *sk);
void dart_port_put(struct dart_port *port);
struct dart_host *dart_host_find(const struct dart_port *port, const struct in6_addr *addr);
struct dart_host *dart_host_get(struct dart_port *port, const struct in6_addr *addr,
				const struct sock *sk);
void dart_host_put(struct dart_port *port, struct dart_host *host);
struct dart_host *dart_host_after(const struct dart_port *port, const struct in6_addr *addr);
struct dart_pair *dart_pair_get(struct dart_port *port, const struct in6_addr *addr, kuid_t uid,
				const struct sock *sk);
void dart_pair_put(struct dart_port *port, struct dart_pair *pair);
void dart_count(struct dart_port *port);
void dart_port_expire(struct dart_port *port, const struct quell_dasr_params *soft, u64 now_ns);
void dart_refresh(struct quell_net *qnet);
struct dart_port *dart_port_erase(struct quell_net *qnet, int ifindex);

/* lookahead.c */
void dart_forget(struct quell_net *qnet, int ifindex);
int dart_lookahead_add(struct quell_net *qnet, const struct dart_lookahead_spec *spec,
		       struct netlink_ext_ack *extack);
int dart_put_lookahead(struct sk_buff *skb, const struct dart_lookahead *ahead,
		       struct user_namespace *users);
int dart_lookahead_del(struct quell_net *qnet, const char *name, kuid_t uid);
int dart_weight_set(struct quell_net *qnet, int ifindex, const struct in6_addr *addr, u32 weight,
		    struct netlink_ext_ack *extack);

/* genl.c */
int dart_put_host(struct sk_buff *skb, int attr, const struct in6_addr *addr);
int dart_put_flow(struct sk_buff *skb, struct quell_flow *flow);
int dart_start(struct netlink_callback *cb);
int dart_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int dart_doit(struct sk_buff *skb, struct genl_info *info);

#endif /* _TCP_DART_H */
