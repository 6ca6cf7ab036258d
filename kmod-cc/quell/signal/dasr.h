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

/**
 * struct quell_dasr_port - an interface on which senders reach this host
 * @rcu:       for freeing after the last reader
 * @refs:      the table of the namespace, flows, look-ahead groups
 * @qnet:      namespace; constant
 * @ifindex:   index of the interface; constant
 * @bytes:     bytes received on the wire with TCP, free-running
 * @lock:      protects the fields from @set on, and all hosts, users and pairs of this port;
 *             inside the lock of a flow
 * @set:       active senders
 * @machine:   kind of congestion; the state may be read without the lock
 * @marks:     packets received with CE, free-running
 * @counted:   the counters of @set that have been added to those of the namespace
 * @hosts:     struct quell_dasr_host, by address
 * @users:     struct quell_dasr_owner, by user
 * @is_behind: more has expired than a run dropped
 * @gone:      the interface is gone: no group may be added
 */
struct quell_dasr_port {
	struct rcu_head			rcu;
	refcount_t			refs;
	struct quell_net		*qnet;
	int				ifindex;

	/* Written for each packet that comes in by the interface. */
	atomic64_t			bytes ____cacheline_aligned_in_smp;

	/* protects the rest */
	spinlock_t			lock ____cacheline_aligned_in_smp;
	struct quell_dasr_set		set;
	struct quell_dart_machine	machine;
	u64				marks;
	struct quell_dasr_set		counted;
	struct rb_root			hosts;
	struct rb_root			users;
	bool				is_behind;
	bool				gone;
};

/**
 * struct quell_dasr_host - a host that sends to this one, or may do so
 * @node:   in quell_dasr_port.hosts
 * @addr:   its address, IPv4 as a mapped one; constant
 * @refs:   pairs and a weight that was set
 * @sender: its state in the set
 */
struct quell_dasr_host {
	struct rb_node			node;
	struct in6_addr			addr;
	u32				refs;
	struct quell_dasr_sender	sender;
};

/**
 * struct quell_dasr_owner - a user with connections or groups at a port
 * @node:  in quell_dasr_port.users
 * @uid:   user
 * @refs:  pairs
 * @pairs: struct quell_dasr_pair, by address of the host
 * @user:  its state in the set
 */
struct quell_dasr_owner {
	struct rb_node		node;
	kuid_t			uid;
	u32			refs;
	struct rb_root		pairs;
	struct quell_dasr_user	user;
};

/**
 * struct quell_dasr_pair - a host that sends to sockets of a user, or is in a group of that user
 * @node:    in quell_dasr_owner.pairs
 * @host:    host, referenced
 * @owner:   user, referenced
 * @refs:    connections and memberships
 * @members: members of all groups of the user that have the host
 * @peer:    its state in the set
 */
struct quell_dasr_pair {
	struct rb_node			node;
	struct quell_dasr_host		*host;
	struct quell_dasr_owner		*owner;
	u32				refs;
	u32				members;
	struct quell_dasr_peer		peer;
};

/**
 * struct quell_dasr - state of a flow, if its algorithm has QUELL_CORE_SENDERS
 * @conn:        its state in the set of @port; lock of @port
 * @port:        interface on which its data is received; NULL before the first data
 * @pair:        its peer and its user at @port; lock of @port
 * @top_seq:     sequence number after the newest data
 * @has_more:    more of the message follows that data
 * @peer_follows: the peer's rate follows n; written by the receive hook
 * @path_marked: a packet of this flow was marked CE since an acknowledgment was
 *               processed; the peer states this even if it hides the mark from TCP
 * @senders_q8:  n that the peer stated; 0 unknown; written by the receive hook
 * @peer_link_bytes_ps: the peer's line rate; 0 unknown; written by the receive hook
 *
 * The lock of the flow protects @port to @has_more.
 */
struct quell_dasr {
	struct quell_dasr_conn		conn;
	struct quell_dasr_port		*port;
	struct quell_dasr_pair		*pair;
	u32				top_seq;
	bool				has_more;
	bool				peer_follows;
	bool				path_marked;
	u32				senders_q8;
	u64				peer_link_bytes_ps;
};

/**
 * struct quell_dasr_packet - data received
 * @ifindex: interface
 * @seq:     first sequence number
 * @end_seq: sequence number after the last
 * @flags:   QUELL_OPT_F_* of its option; 0 without the option
 * @pushed:  it has PSH or FIN
 * @marked:  it was marked CE
 */
struct quell_dasr_packet {
	int	ifindex;
	u32	seq;
	u32	end_seq;
	u8	flags;
	bool	pushed;
	bool	marked;
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

/**
 * struct quell_lookahead - a registered group
 * @id:    number in quell_lookahead_net.groups
 * @name:  name, unique for the user in the namespace
 * @uid:   user that registered it
 * @port:  interface on which its members' data is received
 * @pairs: of group.members, in their order: hosts as @uid knows them
 * @group: its state in the set of @port, under the lock of @port
 *
 * All but @group is constant.
 */
struct quell_lookahead {
	u32				id;
	char				name[QUELL_LOOKAHEAD_NAME_BYTES];
	kuid_t				uid;
	struct quell_dasr_port		*port;
	struct quell_dasr_pair		**pairs;
	struct quell_dasr_group		group;
};

/**
 * struct quell_lookahead_spec - a group to register
 * @name:       name, at most QUELL_LOOKAHEAD_NAME_BYTES with its end
 * @uid:        user
 * @ifindex:    interface
 * @time_ns:    time that members count ahead, ns; 0: parameter "lookahead" of dart, the maximum
 * @members:    addresses, IPv4 as mapped ones
 * @members_nr: number of @members
 */
struct quell_lookahead_spec {
	const char		*name;
	kuid_t			uid;
	int			ifindex;
	u64			time_ns;
	const struct in6_addr	*members;
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
struct quell_dasr_host *quell_dasr_host_get(struct quell_dasr_port *port,
					    const struct in6_addr *addr, const struct sock *sk);
void quell_dasr_host_put(struct quell_dasr_port *port, struct quell_dasr_host *host);
const struct quell_dasr_host *quell_dasr_host_after(const struct quell_dasr_port *port,
						    const struct in6_addr *addr);
struct quell_dasr_pair *quell_dasr_pair_get(struct quell_dasr_port *port,
					    const struct in6_addr *addr, kuid_t uid,
					    const struct sock *sk);
void quell_dasr_pair_put(struct quell_dasr_port *port, struct quell_dasr_pair *pair);
void quell_dasr_count(struct quell_dasr_port *port);
struct quell_dart_params quell_dasr_params(const struct quell_net *qnet);
void quell_dasr_refresh(struct quell_net *qnet);

/* lookahead.c */
void quell_lookahead_net_init(struct quell_net *qnet);
void quell_dasr_net_exit(struct quell_net *qnet);
void quell_dasr_forget(struct quell_net *qnet, int ifindex);
int quell_lookahead_add(struct quell_net *qnet, const struct quell_lookahead_spec *spec,
			struct netlink_ext_ack *extack);
int quell_lookahead_del(struct quell_net *qnet, const char *name, kuid_t uid);
int quell_weight_set(struct quell_net *qnet, int ifindex, const struct in6_addr *addr,
		     u32 weight, struct netlink_ext_ack *extack);

/* tell.c */
void quell_notify_lookahead(const struct quell_lookahead *ahead, enum quell_ntf notice);
void quell_notify_weight(const struct quell_dasr_port *port, const struct quell_dasr_host *host,
			 u32 value);

#endif /* _QUELL_DASR_H */
