/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Direct apportioning of sending rates: the receiver's set of active senders per interface,
 * a flow's part in it, as a receiver and as a sender, and
 * look-ahead groups and weights of senders, as users register them.
 */
#ifndef _QUELL_DASR_H
#define _QUELL_DASR_H

#include <linux/in6.h>
#include <linux/rbtree_types.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <quell/core/dart/machine.h>
#include <quell/core/dart/params.h>
#include <quell/core/dart/set.h>
#include "netns/net.h"

struct net;
struct net_device;
struct netlink_ext_ack;
struct quell_algo;
struct quell_flow;
struct quell_net;
struct quell_opt;
struct sk_buff;
struct sock;
struct tcp_sock;
struct user_namespace;

/* Interface on which senders reach this host. */
struct quell_dasr_port {
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
	struct rb_root			hosts;	/* struct quell_dasr_host, by address */
	struct rb_root			users;	/* struct quell_dasr_owner, by user */
	bool				is_behind;	/* more has expired than a run dropped */
	bool				gone;	/* no group may be added */
};

/* Host that sends to this one, or may do so. */
struct quell_dasr_host {
	struct rb_node			node;	/* in quell_dasr_port.hosts */
	struct in6_addr			addr;	/* IPv4 as a mapped one; constant */
	u32				refs;	/* pairs, and a weight that is not the default */
	struct quell_dasr_sender	sender;	/* its state in the set */
};

/* User with connections or groups at a port. */
struct quell_dasr_owner {
	struct rb_node		node;	/* in quell_dasr_port.users */
	kuid_t			uid;
	u32			refs;	/* pairs */
	struct rb_root		pairs;	/* struct quell_dasr_pair, by address of the host */
	struct quell_dasr_user	user;	/* its state in the set */
};

/* Host that sends to sockets of a user, or is in a group of that user. */
struct quell_dasr_pair {
	struct rb_node			node;	/* in quell_dasr_owner.pairs */
	struct quell_dasr_host		*host;	/* referenced */
	struct quell_dasr_owner		*owner;	/* referenced */
	u32				refs;	/* connections and memberships */
	u32				members;	/* of all groups of the user */
	struct quell_dasr_peer		peer;	/* its state in the set */
};

/* State of a flow with QUELL_CORE_SENDERS; its lock protects @port to @has_more. */
struct quell_dasr {
	struct quell_dasr_conn		conn;	/* in the set of @port, under its lock */
	/* On which its data is received; NULL before the first data. */
	struct quell_dasr_port		*port;
	struct quell_dasr_pair		*pair;	/* peer and user, under the lock of @port */
	u32				top_seq;	/* after the newest data */
	bool				has_more;	/* of the message follows that data */
	/* The peer's rate follows n; receive hook. */
	bool				peer_follows;
	/* CE since the last ACK processed; stated even if the mark is hidden from TCP. */
	bool				path_marked;
	/* n that the peer stated; 0 unknown; receive hook. */
	u32				senders_q8;
	u64				peer_link_bytes_ps;	/* 0 unknown; receive hook */
};

struct quell_dasr_packet {
	int	ifindex;
	u32	seq;
	u32	end_seq;
	u8	flags;	/* QUELL_OPT_F_* of its option; 0 without the option */
	bool	pushed;	/* it has PSH or FIN */
	bool	marked;	/* CE */
};

/* Length of a group's name, the end included. */
#define QUELL_LOOKAHEAD_NAME_BYTES	32

/*
 * Limits: members of a group, and of all groups of a user that one host is in, which a
 * message of that host visits; groups and members of a user, and of a namespace.
 */
#define QUELL_LOOKAHEAD_GROUP_MAX	1024U
#define QUELL_LOOKAHEAD_USER_GROUPS	64U
#define QUELL_LOOKAHEAD_USER_MEMBERS	4096U
#define QUELL_LOOKAHEAD_NET_GROUPS	1024U
#define QUELL_LOOKAHEAD_NET_MEMBERS	65536U
/* Weights of a namespace. */
#define QUELL_WEIGHTS_MAX		1024U

/* A registered group.  All but @group and @members is constant. */
struct quell_lookahead {
	u32				id;	/* in quell_lookahead_net.groups */
	/* Unique for the user in the namespace. */
	char				name[QUELL_LOOKAHEAD_NAME_BYTES];
	kuid_t				uid;
	struct quell_dasr_port		*port;	/* on which its members' data is received */
	struct quell_dasr_group		group;	/* lock of @port */
	struct quell_dasr_member	members[];	/* of @group */
};

/* Constant while the group is published. */
static inline struct quell_dasr_pair *quell_lookahead_pair(const struct quell_lookahead *ahead,
							   u32 i)
{
	return container_of(ahead->members[i].peer, struct quell_dasr_pair, peer);
}

/* A group to register. */
struct quell_lookahead_spec {
	const char		*name;	/* at most QUELL_LOOKAHEAD_NAME_BYTES with its end */
	kuid_t			uid;
	int			ifindex;
	/* Members count ahead; 0: parameter "lookahead" of dart, the maximum. */
	u64			time_ns;
	const struct in6_addr	*members;	/* IPv4 as mapped ones */
	u32			members_nr;
};

/* dasr.c */
bool quell_dasr_open(struct quell_flow *flow, const struct sock *sk);
void quell_dasr_close(struct quell_flow *flow);
bool quell_dasr_receive(struct quell_flow *flow, const struct sock *sk,
			const struct quell_dasr_packet *packet);
void quell_dasr_reset(struct quell_flow *flow, const struct sock *sk, u32 seq);
void quell_dasr_read_option(struct quell_flow *flow, const struct quell_opt *opt);
void quell_dasr_forget_n(struct quell_flow *flow);
void quell_dasr_state(struct quell_flow *flow, const struct tcp_sock *tp,
		      struct quell_opt *opt);
void quell_dasr_follow(const struct quell_flow *flow, struct quell_opt *opt);

/* dasr_port.c */
extern atomic_t quell_dasr_ports_nr;
void quell_dasr_net_init(struct quell_net *qnet);
void quell_dasr_register(const struct quell_algo *algo);
bool quell_dasr_is_ready(void);
void quell_dasr_meter(const struct net *net, const struct sk_buff *skb, u32 header_bytes);
struct quell_dasr_port *quell_dasr_port_get(struct quell_net *qnet, int ifindex,
					    const struct sock *sk);
void quell_dasr_port_put(struct quell_dasr_port *port);
struct quell_dasr_host *quell_dasr_host_find(const struct quell_dasr_port *port,
					     const struct in6_addr *addr);
struct quell_dasr_host *quell_dasr_host_get(struct quell_dasr_port *port,
					    const struct in6_addr *addr, const struct sock *sk);
void quell_dasr_host_put(struct quell_dasr_port *port, struct quell_dasr_host *host);
struct quell_dasr_host *quell_dasr_host_after(const struct quell_dasr_port *port,
					      const struct in6_addr *addr);
struct quell_dasr_pair *quell_dasr_pair_get(struct quell_dasr_port *port,
					    const struct in6_addr *addr, kuid_t uid,
					    const struct sock *sk);
void quell_dasr_pair_put(struct quell_dasr_port *port, struct quell_dasr_pair *pair);
void quell_dasr_count(struct quell_dasr_port *port);
void quell_dasr_port_expire(struct quell_dasr_port *port, const struct quell_dasr_params *soft,
			    u64 now_ns);
struct quell_dart_params quell_dasr_params(const struct quell_net *qnet);
void quell_dasr_refresh(struct quell_net *qnet);

/* lookahead.c */
void quell_lookahead_net_init(struct quell_net *qnet);
void quell_dasr_net_exit(struct quell_net *qnet);
void quell_dasr_forget(struct quell_net *qnet, int ifindex);
int quell_lookahead_add(struct quell_net *qnet, const struct quell_lookahead_spec *spec,
			struct netlink_ext_ack *extack);
int quell_put_lookahead(struct sk_buff *skb, const struct quell_lookahead *ahead,
			struct user_namespace *users);
int quell_lookahead_del(struct quell_net *qnet, const char *name, kuid_t uid);
int quell_weight_set(struct quell_net *qnet, int ifindex, const struct in6_addr *addr,
		     u32 weight, struct netlink_ext_ack *extack);

#endif /* _QUELL_DASR_H */
