/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Look-ahead groups and weights of senders, as users register them.
 */
#ifndef _QUELL_LOOKAHEAD_H
#define _QUELL_LOOKAHEAD_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/uidgid.h>
#include <linux/xarray.h>
#include <quell/core/dart/set.h>
#include "netns/notice.h"

struct netlink_ext_ack;
struct quell_dasr_host;
struct quell_dasr_pair;
struct quell_dasr_port;
struct quell_net;

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
 * struct quell_lookahead_net - groups and weights of a namespace
 * @lock:       protects the rest; inside RTNL, outside the lock of a port
 * @groups:     struct quell_lookahead, by number
 * @next:       number to try first for the next group
 * @gen:        incremented when @groups changes, never 0 before it wraps; for dumps
 * @weights:    struct quell_weight
 * @weights_nr: number of weights
 */
struct quell_lookahead_net {
	struct mutex		lock;	/* protects the rest */
	struct xarray		groups;
	u32			next;
	u32			gen;
	struct list_head	weights;
	u32			weights_nr;
};

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

int quell_lookahead_add(struct quell_net *qnet, const struct quell_lookahead_spec *spec,
			struct netlink_ext_ack *extack);
int quell_lookahead_del(struct quell_net *qnet, const char *name, kuid_t uid);
int quell_weight_set(struct quell_net *qnet, int ifindex, const struct in6_addr *addr,
		     u32 weight, struct netlink_ext_ack *extack);

/* tell.c */
void quell_tell_lookahead(const struct quell_lookahead *ahead, enum quell_notice notice);
void quell_tell_weight(const struct quell_dasr_port *port, const struct quell_dasr_host *host,
		       u32 value);

#endif /* _QUELL_LOOKAHEAD_H */
