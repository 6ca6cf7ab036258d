// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: active senders, their weights, and look-ahead groups.
 *
 * Any user of a namespace may see its senders and groups and register groups of its own, and
 * weights are the administrator's.  Addresses of 4 bytes are IPv4, of 16 bytes IPv6; an IPv4
 * address within IPv6 is taken for the IPv4 address, by which packets of its connections come.
 *
 * lookahead-get reports if the groups changed meanwhile; hosts that stay are listed once.
 *
 * Context of all but dart_put_flow(): process, may sleep.
 */
#include <linux/ctype.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include "genl/genl.h"
#include "signal/signal.h"
#include "dart.h"

/* Hosts that are listed before the lock of the interface is given to others. */
#define SENDER_BATCH	32

/* Where a dump of senders goes on: after @addr of interface @ifindex. */
struct sender_cursor {
	unsigned long	ifindex;
	struct in6_addr	addr;
};

static const char * const state_names[] = {
	[QUELL_DART_NO_CONGESTION]	= "none",
	[QUELL_DART_RECEIVER]		= "receiver",
	[QUELL_DART_NON_RECEIVER]	= "non-receiver",
};

/* Whether a host may send from an address. */
static bool is_of_host(const struct in6_addr *addr)
{
	__be32 ipv4 = addr->s6_addr32[3];

	if (ipv6_addr_v4mapped(addr))
		return !ipv4_is_zeronet(ipv4) && !ipv4_is_multicast(ipv4) && !ipv4_is_lbcast(ipv4);
	return !ipv6_addr_any(addr) && !ipv6_addr_is_multicast(addr);
}

static int get_addr(struct in6_addr *addr, const struct nlattr *attr,
		    struct netlink_ext_ack *extack)
{
	switch (nla_len(attr)) {
	case sizeof(struct in_addr):
		ipv6_addr_set_v4mapped(nla_get_in_addr(attr), addr);
		break;
	case sizeof(struct in6_addr):
		*addr = nla_get_in6_addr(attr);
		break;
	default:
		return quell_refuse(extack, attr, -EINVAL, "address: 4 or 16 bytes");
	}
	return is_of_host(addr) ? 0 : quell_refuse(extack, attr, -EINVAL,
						   "address: not that of a host");
}

/* The interface a request is about, or a negative error. */
static int get_ifindex(const struct genl_info *info, int attr)
{
	u32 ifindex;

	if (!info->attrs[attr])
		return quell_refuse(info->extack, NULL, -EINVAL, "interface is missing");
	ifindex = nla_get_u32(info->attrs[attr]);
	if (ifindex && ifindex <= INT_MAX)
		return ifindex;
	return quell_refuse(info->extack, info->attrs[attr], -ENODEV, "no such interface");
}

/* The functions of lookahead.c have no text for this error. */
static int explain(const struct genl_info *info, int ifindex_attr, int err)
{
	return err != -ENODEV ? err : quell_refuse(info->extack, info->attrs[ifindex_attr], err,
						   "no such interface in this namespace");
}

/* 0 or -EMSGSIZE.  @addr: IPv4 as a mapped one.  Not in hard interrupts. */
int dart_put_host(struct sk_buff *skb, int attr, const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return nla_put_in_addr(skb, attr, addr->s6_addr32[3]);
	return nla_put_in6_addr(skb, attr, addr);
}

/* 0 or -EMSGSIZE.  The values are of different times.  RCU read section. */
int dart_put_flow(struct sk_buff *skb, struct quell_flow *flow)
{
	struct dart_flow *dart = dart_flow(flow);
	u64 link_bytes_ps, peer_bytes_ps;
	struct dart_port *port;
	int state = -1;
	u32 n_q8, used_q8, hosts;

	n_q8 = READ_ONCE(dart->dasr.senders_q8);
	peer_bytes_ps = READ_ONCE(dart->dasr.peer_link_bytes_ps);
	link_bytes_ps = READ_ONCE(flow->link.bytes_ps);
	used_q8 = READ_ONCE(dart->dasr.used_q8) ?: n_q8;
	if (n_q8 && (nla_put_u32(skb, QUELL_A_FLOW_N, n_q8) ||
		     ((link_bytes_ps || peer_bytes_ps) &&
		      nla_put_u64_64bit(skb, QUELL_A_FLOW_SHARE,
					quell_share_of_sender_bytes_ps(link_bytes_ps,
								       peer_bytes_ps, used_q8),
					QUELL_A_FLOW_PAD))))
		return -EMSGSIZE;
	spin_lock_bh(&flow->lock);
	port = dart->port;
	if (port) {
		spin_lock(&port->lock);
		state = port->machine.state;
		hosts = port->set.hosts;
		spin_unlock(&port->lock);
	}
	spin_unlock_bh(&flow->lock);
	if (state >= 0 &&
	    (nla_put_string(skb, QUELL_A_FLOW_RECEIVER_STATE, state_names[state]) ||
	     nla_put_u32(skb, QUELL_A_FLOW_RECEIVER_SENDERS, hosts)))
		return -EMSGSIZE;
	return 0;
}

int dart_start(struct netlink_callback *cb)
{
	dart_refresh(quell_net(sock_net(cb->skb->sk)));
	return 0;
}

static int put_receiver(struct sk_buff *skb, struct dart_port *port)
{
	u64 line_bytes_ps = quell_link_speed(port->qnet, port->ifindex);
	u64 weight;
	u32 hosts;
	u8 state;

	spin_lock_bh(&port->lock);
	state = port->machine.state;
	hosts = port->set.hosts;
	weight = port->set.weight;
	spin_unlock_bh(&port->lock);
	if (nla_put_u32(skb, QUELL_A_RECEIVER_IFINDEX, port->ifindex) ||
	    nla_put_string(skb, QUELL_A_RECEIVER_STATE, state_names[state]) ||
	    nla_put_u32(skb, QUELL_A_RECEIVER_SENDERS, hosts) ||
	    nla_put_u64_64bit(skb, QUELL_A_RECEIVER_WEIGHT, weight, QUELL_A_RECEIVER_PAD) ||
	    (line_bytes_ps && nla_put_u64_64bit(skb, QUELL_A_RECEIVER_RATE, line_bytes_ps,
						QUELL_A_RECEIVER_PAD)))
		return -EMSGSIZE;
	return 0;
}

/* args[0]: the next interface. */
static int get_receivers(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dart_net *net = dart_net(sock_net(skb->sk));
	struct dart_port *port;
	unsigned long ifindex;

	rcu_read_lock();
	xa_for_each_start(&net->ports, ifindex, port, cb->args[0]) {
		void *hdr = quell_dump_begin(skb, cb);

		if (!hdr || quell_dump_end(skb, hdr, put_receiver(skb, port)))
			goto unlock;
	}
	ifindex = ULONG_MAX;
unlock:
	rcu_read_unlock();
	cb->args[0] = ifindex;
	return ifindex != ULONG_MAX ? skb->len : 0;
}

static int put_sender(struct sk_buff *skb, const struct dart_port *port,
		      const struct dart_host *host)
{
	const struct quell_dasr_peer *peer;
	u32 waiting = 0;

	for (peer = host->sender.awaited; peer; peer = peer->older)
		waiting += peer->waiting;
	if (nla_put_u32(skb, QUELL_A_SENDER_IFINDEX, port->ifindex) ||
	    dart_put_host(skb, QUELL_A_SENDER_ADDRESS, &host->addr) ||
	    nla_put_u32(skb, QUELL_A_SENDER_WEIGHT, host->sender.weight) ||
	    nla_put_u32(skb, QUELL_A_SENDER_CONNECTIONS, host->sender.active) ||
	    nla_put_u32(skb, QUELL_A_SENDER_WAITING, waiting))
		return -EMSGSIZE;
	return 0;
}

/* The next hosts of an interface; 1 if there may be more, 0, or -EMSGSIZE. */
static int put_senders(struct sk_buff *skb, struct netlink_callback *cb,
		       struct dart_port *port, struct sender_cursor *at)
{
	const struct dart_host *host;
	int i, ret = 1;
	void *hdr;

	spin_lock_bh(&port->lock);
	for (i = 0; i < SENDER_BATCH && ret > 0; i++) {
		host = dart_host_after(port, &at->addr);
		hdr = host ? quell_dump_begin(skb, cb) : NULL;
		if (hdr && !quell_dump_end(skb, hdr, put_sender(skb, port, host)))
			at->addr = host->addr;
		else
			ret = host ? -EMSGSIZE : 0;
	}
	spin_unlock_bh(&port->lock);
	return ret;
}

static int get_senders(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dart_net *net = dart_net(sock_net(skb->sk));
	struct sender_cursor *at = (void *)cb->ctx;
	struct dart_port *port;
	unsigned long ifindex;
	int err;

	BUILD_BUG_ON(sizeof(*at) > offsetof(typeof(*cb), args[5]) - offsetof(typeof(*cb), args));
	rcu_read_lock();
	xa_for_each_start(&net->ports, ifindex, port, at->ifindex) {
		if (ifindex != at->ifindex)
			*at = (struct sender_cursor) { .ifindex = ifindex };
		do {
			err = put_senders(skb, cb, port, at);
		} while (err > 0);
		if (err)
			goto unlock;
	}
	at->ifindex = ULONG_MAX;
unlock:
	rcu_read_unlock();
	return at->ifindex != ULONG_MAX ? skb->len : 0;
}

/* -EINVAL: an attribute is missing, or no address; errors of dart_weight_set(). */
static int set_weight(struct sk_buff *skb, struct genl_info *info)
{
	struct in6_addr addr;
	int ifindex, err;

	ifindex = get_ifindex(info, QUELL_A_SENDER_IFINDEX);
	if (ifindex < 0)
		return ifindex;
	if (!info->attrs[QUELL_A_SENDER_ADDRESS] || !info->attrs[QUELL_A_SENDER_WEIGHT])
		return quell_refuse(info->extack, NULL, -EINVAL, "address or weight is missing");
	err = get_addr(&addr, info->attrs[QUELL_A_SENDER_ADDRESS], info->extack);
	if (err)
		return err;
	err = dart_weight_set(quell_net(genl_info_net(info)), ifindex, &addr,
			      nla_get_u32(info->attrs[QUELL_A_SENDER_WEIGHT]), info->extack);
	return explain(info, QUELL_A_SENDER_IFINDEX, err);
}

static const char *lookahead_name(const struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[QUELL_A_LOOKAHEAD_NAME];

	const char *name = attr ? nla_data(attr) : "", *at;

	for (at = name; isascii(*at) && isgraph(*at) && *at != ':'; at++)
		;
	if (at != name && !*at)
		return name;
	quell_refuse(info->extack, attr, -EINVAL, *at ? "name: letters, digits and signs, no ':'" :
							 "name of the group is missing");
	return NULL;
}

/* Members of a request, one more than allowed at most; @members may be NULL, to count. */
static int get_members(struct in6_addr *members, const struct genl_info *info)
{
	const struct nlattr *attr;
	u32 members_nr = 0;
	int rem, err;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != QUELL_A_LOOKAHEAD_MEMBER)
			continue;
		err = members ? get_addr(&members[members_nr], attr, info->extack) : 0;
		if (err)
			return err;
		if (++members_nr > DART_LOOKAHEAD_GROUP_MAX)
			break;
	}
	return members_nr;
}

/*
 * The user that opened the socket of a request, not the one that writes to it: a privileged program
 * may be made to write data that it was handed.  TCP sockets are matched by the same.
 */
static kuid_t requester(const struct sk_buff *skb)
{
	return READ_ONCE(NETLINK_CB(skb).sk->sk_uid);
}

/*
 * -EPERM: from another user namespace than that of the network namespace; -EINVAL: an attribute is
 * missing, or no address; errors of dart_lookahead_add().
 */
static int add_lookahead(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *time = info->attrs[QUELL_A_LOOKAHEAD_TIME];
	struct dart_lookahead_spec spec = {
		.name	 = lookahead_name(info),
		.uid	 = requester(skb),
		.time_ns = time ? nla_get_u64(time) : 0,
	};
	struct in6_addr *members;
	int err;

	if (!spec.name)
		return -EINVAL;
	/* In a user namespace of its own a user has many identities, each with its own limits. */
	if (sk_user_ns(NETLINK_CB(skb).sk) != genl_info_net(info)->user_ns)
		return quell_refuse(info->extack, NULL, -EPERM,
				    "not from within another user namespace");
	spec.ifindex = get_ifindex(info, QUELL_A_LOOKAHEAD_IFINDEX);
	if (spec.ifindex < 0)
		return spec.ifindex;
	members = kvcalloc(get_members(NULL, info) + 1, sizeof(*members), GFP_KERNEL_ACCOUNT);
	if (!members)
		return -ENOMEM;
	err = get_members(members, info);
	if (err >= 0) {
		spec.members = members;
		spec.members_nr = err;
		err = dart_lookahead_add(quell_net(genl_info_net(info)), &spec, info->extack);
	}
	kvfree(members);
	return explain(info, QUELL_A_LOOKAHEAD_IFINDEX, err);
}

/* Owner of the group that a request names; INVALID_UID: the caller may not change it. */
static kuid_t lookahead_uid(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[QUELL_A_LOOKAHEAD_UID];
	kuid_t uid;

	if (!attr)
		return requester(skb);
	uid = make_kuid(sk_user_ns(NETLINK_CB(skb).sk), nla_get_u32(attr));
	if (uid_eq(uid, requester(skb)) ||
	    netlink_ns_capable(skb, genl_info_net(info)->user_ns, CAP_NET_ADMIN))
		return uid;
	return INVALID_UID;
}

/* -EINVAL: the name is missing; -EPERM: another user's; -ENOENT. */
static int del_lookahead(struct sk_buff *skb, struct genl_info *info)
{
	const char *name = lookahead_name(info);
	kuid_t uid = lookahead_uid(skb, info);

	if (!name)
		return -EINVAL;
	if (!uid_valid(uid))
		return quell_refuse(info->extack, info->attrs[QUELL_A_LOOKAHEAD_UID], -EPERM,
				    "another user's groups");
	if (!dart_lookahead_del(quell_net(genl_info_net(info)), name, uid))
		return 0;
	return quell_refuse(info->extack, info->attrs[QUELL_A_LOOKAHEAD_NAME], -ENOENT,
			    "the user has no group of this name");
}

static int put_group(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct dart_lookahead *ahead)
{
	u32 waiting;

	spin_lock_bh(&ahead->port->lock);
	waiting = ahead->group.waiting;
	spin_unlock_bh(&ahead->port->lock);
	return dart_put_lookahead(skb, ahead, sk_user_ns(NETLINK_CB(cb->skb).sk)) ?:
	       nla_put_u32(skb, QUELL_A_LOOKAHEAD_WAITING, waiting);
}

/* One message of a group, from its member args[1] on; whether that was the rest. */
static bool put_lookahead(struct sk_buff *skb, struct netlink_callback *cb,
			  const struct dart_lookahead *ahead)
{
	void *hdr = quell_dump_begin(skb, cb);
	u32 i = cb->args[1];
	int err;

	if (!hdr)
		return false;
	err = put_group(skb, cb, ahead);
	for (; !err && i < ahead->group.members_nr; i++)
		if (dart_put_host(skb, QUELL_A_LOOKAHEAD_MEMBER,
				  &dart_lookahead_pair(ahead, i)->host->addr))
			break;
	if (quell_dump_end(skb, hdr, i == cb->args[1] ? -EMSGSIZE : 0))
		return false;
	cb->args[1] = i;
	return i == ahead->group.members_nr;
}

/* args[0]: number of the next group, args[1]: its next member. */
static int get_lookahead(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dart_net *net = dart_net(sock_net(skb->sk));
	const struct dart_lookahead *ahead;
	unsigned long id;

	mutex_lock(&net->lock);
	cb->seq = net->gen;
	xa_for_each_start(&net->groups, id, ahead, cb->args[0]) {
		if (id != cb->args[0])
			cb->args[1] = 0;
		cb->args[0] = id;
		if (!put_lookahead(skb, cb, ahead))
			goto unlock;
	}
	cb->args[0] = ULONG_MAX;
unlock:
	mutex_unlock(&net->lock);
	return cb->args[0] != (long)ULONG_MAX ? skb->len : 0;
}

int dart_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genlmsghdr *request = nlmsg_data(cb->nlh);

	if (request->cmd == QUELL_CMD_LOOKAHEAD_GET)
		return get_lookahead(skb, cb);
	return request->cmd == QUELL_CMD_SENDER_GET ? get_senders(skb, cb) : get_receivers(skb, cb);
}

int dart_doit(struct sk_buff *skb, struct genl_info *info)
{
	if (info->genlhdr->cmd == QUELL_CMD_LOOKAHEAD_ADD)
		return add_lookahead(skb, info);
	return info->genlhdr->cmd == QUELL_CMD_LOOKAHEAD_DEL ? del_lookahead(skb, info) :
							       set_weight(skb, info);
}
