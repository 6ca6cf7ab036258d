// SPDX-License-Identifier: GPL-2.0
/*
 * Look-ahead (Dart, section III-D): groups of senders that an application expects to send at
 * one time, and weights of senders.
 *
 * Any user may register groups: they count only for sockets of the same user, and only
 * messages to such sockets visit them, so that no user can slow down another's senders or
 * packets.  Number and size are limited per user and per namespace; memory is charged to the
 * process that registers.  A group lasts until it is deleted, its interface is unregistered or
 * the module is unloaded.  Weights apply to all, and are the administrator's.  Hosts in a group
 * or with a weight are kept at their port without a connection.
 *
 * The mutex of a namespace is also taken under the RTNL, so allocations that sleep are made
 * before it; under it, and under the lock of a port, they do not sleep.
 */
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include "dart.h"

/* Members per hold of the port's lock. */
#define LOOKAHEAD_BATCH		32

/* Attributes of a notification. */
#define LOOKAHEAD_NTF_BYTES	160

/* 0 or -EMSGSIZE.  Users are those of @users. */
int dart_put_lookahead(struct sk_buff *skb, const struct dart_lookahead *ahead,
		       struct user_namespace *users)
{
	return nla_put_string(skb, QUELL_A_LOOKAHEAD_NAME, ahead->name) ?:
	       nla_put_u32(skb, QUELL_A_LOOKAHEAD_IFINDEX, ahead->port->ifindex) ?:
	       nla_put_u32(skb, QUELL_A_LOOKAHEAD_UID, from_kuid_munged(users, ahead->uid)) ?:
	       nla_put_u64_64bit(skb, QUELL_A_LOOKAHEAD_TIME, ahead->group.time_ns,
				 QUELL_A_LOOKAHEAD_PAD) ?:
	       nla_put_u32(skb, QUELL_A_LOOKAHEAD_MEMBERS, ahead->group.members_nr);
}

static int put_lookahead_ntf(struct sk_buff *skb, const void *about)
{
	const struct dart_lookahead *ahead = about;

	return dart_put_lookahead(skb, ahead, ahead->port->qnet->net->user_ns);
}

struct weight_ntf {
	int			ifindex;
	const struct in6_addr	*addr;
	u32			weight;
};

static int put_weight_ntf(struct sk_buff *skb, const void *about)
{
	const struct weight_ntf *ntf = about;

	return nla_put_u32(skb, QUELL_A_SENDER_IFINDEX, ntf->ifindex) ?:
	       dart_put_host(skb, QUELL_A_SENDER_ADDRESS, ntf->addr) ?:
	       nla_put_u32(skb, QUELL_A_SENDER_WEIGHT, ntf->weight);
}

/* Listeners receive changes in their order.  dart_net.lock. */
static void lookahead_notify(const struct dart_lookahead *ahead, u8 cmd)
{
	quell_ntf_send(ahead->port->qnet, cmd, LOOKAHEAD_NTF_BYTES, put_lookahead_ntf, ahead);
}

static struct dart_net *net_of(const struct quell_net *qnet)
{
	return dart_net(qnet->net);
}

static bool lookahead_has_duplicates(const struct dart_lookahead_spec *spec)
{
	u32 i, j;

	for (i = 0; i < spec->members_nr; i++, cond_resched())
		for (j = 0; j < i; j++)
			if (ipv6_addr_equal(&spec->members[i], &spec->members[j]))
				return true;
	return false;
}

static struct dart_lookahead *lookahead_find(struct quell_net *qnet, const char *name, kuid_t uid)
{
	struct dart_lookahead *ahead;
	unsigned long id;

	xa_for_each(&net_of(qnet)->groups, id, ahead)
		if (uid_eq(ahead->uid, uid) && !strcmp(ahead->name, name))
			return ahead;
	return NULL;
}

static bool lookahead_has_room(struct quell_net *qnet, const struct dart_lookahead_spec *spec)
{
	u32 net_groups = 1, net_members = spec->members_nr;
	u32 user_groups = 1, user_members = spec->members_nr;
	const struct dart_lookahead *ahead;
	unsigned long id;

	xa_for_each(&net_of(qnet)->groups, id, ahead) {
		net_groups++;
		net_members += ahead->group.members_nr;
		if (!uid_eq(ahead->uid, spec->uid))
			continue;
		user_groups++;
		user_members += ahead->group.members_nr;
	}
	return net_groups <= DART_LOOKAHEAD_NET_GROUPS &&
	       net_members <= DART_LOOKAHEAD_NET_MEMBERS &&
	       user_groups <= DART_LOOKAHEAD_USER_GROUPS &&
	       user_members <= DART_LOOKAHEAD_USER_MEMBERS;
}

static int lookahead_check(const struct dart_lookahead_spec *spec, u64 most_ns,
			   struct netlink_ext_ack *extack)
{
	if (!most_ns)
		return quell_refuse(extack, NULL, -EOPNOTSUPP,
				    "look-ahead needs dart's parameter lookahead");
	if (spec->time_ns > most_ns)
		return quell_refuse(extack, NULL, -ERANGE,
				    "time: at most %llu ns, dart's parameter lookahead", most_ns);
	if (!spec->members_nr || spec->members_nr > DART_LOOKAHEAD_GROUP_MAX)
		return quell_refuse(extack, NULL, -ERANGE, "members: 1 to 1024");
	if (lookahead_has_duplicates(spec))
		return quell_refuse(extack, NULL, -EINVAL, "members: one address is there twice");
	return 0;
}

/* Releases the port's lock, for which packets of this interface spin, once in a while. */
static void lookahead_relax_lock(struct dart_port *port, u32 i)
{
	if (!i || i % LOOKAHEAD_BATCH)
		return;
	spin_unlock_bh(&port->lock);
	cond_resched();
	spin_lock_bh(&port->lock);
}

/* Drops the references of a group's first @hosts_nr members, which are not in the set. */
static void lookahead_put_hosts(struct dart_lookahead *ahead, u32 hosts_nr)
{
	struct dart_pair *pair;
	u32 i;

	for (i = 0; i < hosts_nr; i++) {
		lookahead_relax_lock(ahead->port, i);
		pair = dart_lookahead_pair(ahead, i);
		pair->members -= ahead->group.members_nr;
		dart_pair_put(ahead->port, pair);
	}
}

/* Member number @i; -ENOMEM, or -EDQUOT: its groups have too many members. */
static int lookahead_get_host(struct dart_lookahead *ahead, const struct in6_addr *addr, u32 i,
			      struct netlink_ext_ack *extack)
{
	struct quell_dasr_group *group = &ahead->group;
	struct dart_pair *pair;

	pair = dart_pair_get(ahead->port, addr, ahead->uid, NULL);
	if (!pair)
		return -ENOMEM;
	if (pair->members + group->members_nr > DART_LOOKAHEAD_GROUP_MAX) {
		dart_pair_put(ahead->port, pair);
		return quell_refuse(extack, NULL, -EDQUOT,
				    "groups with one host have over 1024 members");
	}
	pair->members += group->members_nr;
	group->members[i].peer = &pair->peer;
	group->members[i].group = group;
	return 0;
}

static int lookahead_get_hosts(struct dart_lookahead *ahead, const struct dart_lookahead_spec *spec,
			       struct netlink_ext_ack *extack)
{
	struct dart_port *port = ahead->port;
	int err = 0;
	u32 i;

	spin_lock_bh(&port->lock);
	for (i = 0; i < spec->members_nr && !err; i++) {
		lookahead_relax_lock(port, i);
		err = lookahead_get_host(ahead, &spec->members[i], i, extack);
	}
	if (err)
		lookahead_put_hosts(ahead, i - 1);
	else if (port->gone)
		lookahead_put_hosts(ahead, i);
	else
		quell_dasr_group_add(&ahead->group);
	err = port->gone ? -ENODEV : err;
	spin_unlock_bh(&port->lock);
	return err;
}

/* The group is not in the set of its port. */
static void lookahead_free(struct quell_net *qnet, struct dart_lookahead *ahead)
{
	if (ahead->id)
		xa_erase(&net_of(qnet)->groups, ahead->id);
	if (ahead->port)
		dart_port_put(ahead->port);
	kvfree(ahead);
}

/* Allocates a group and its number, which finds no group until it is published. */
static struct dart_lookahead *lookahead_make(struct quell_net *qnet,
					     const struct dart_lookahead_spec *spec)
{
	struct dart_lookahead *ahead;

	ahead = kvzalloc(struct_size(ahead, members, spec->members_nr), GFP_KERNEL_ACCOUNT);
	if (!ahead)
		return NULL;
	strscpy(ahead->name, spec->name, sizeof(ahead->name));
	ahead->uid = spec->uid;
	ahead->group.members_nr = spec->members_nr;
	ahead->group.time_ns = spec->time_ns;
	ahead->group.members = ahead->members;
	ahead->port = dart_port_get(qnet, spec->ifindex, NULL);
	if (ahead->port &&
	    xa_alloc_cyclic(&net_of(qnet)->groups, &ahead->id, NULL, xa_limit_31b,
			    &net_of(qnet)->next, GFP_KERNEL) >= 0)
		return ahead;
	lookahead_free(qnet, ahead);
	return NULL;
}

static bool lookahead_has_device(const struct quell_net *qnet, int ifindex)
{
	bool has_device;

	rcu_read_lock();
	has_device = dev_get_by_index_rcu(qnet->net, ifindex);
	rcu_read_unlock();
	return has_device;
}

/*
 * Whether the interface was unregistered meanwhile.  The port may then have been allocated
 * after dart_forget(), so repeat that.
 */
static bool lookahead_lost_device(struct quell_net *qnet, int ifindex)
{
	if (lookahead_has_device(qnet, ifindex))
		return false;
	dart_forget(qnet, ifindex);
	return true;
}

static void lookahead_withdraw(struct dart_lookahead *ahead)
{
	struct dart_port *port = ahead->port;

	spin_lock_bh(&port->lock);
	quell_dasr_group_del(&port->set, &ahead->group);
	lookahead_put_hosts(ahead, ahead->group.members_nr);
	spin_unlock_bh(&port->lock);
}

static void lookahead_remove(struct quell_net *qnet, struct dart_lookahead *ahead)
{
	net_of(qnet)->gen++;
	lookahead_withdraw(ahead);
	lookahead_notify(ahead, QUELL_CMD_LOOKAHEAD_DEL_NTF);
	lookahead_free(qnet, ahead);
}

/* On an error the group is unchanged. */
static int lookahead_publish(struct quell_net *qnet, struct dart_lookahead *ahead,
			     const struct dart_lookahead_spec *spec, struct netlink_ext_ack *extack)
{
	int err = lookahead_get_hosts(ahead, spec, extack);

	if (err)
		return err;
	/* No allocation: the number is reserved. */
	err = xa_err(xa_store(&net_of(qnet)->groups, ahead->id, ahead, GFP_NOWAIT));
	if (err) {
		lookahead_withdraw(ahead);
		return err;
	}
	net_of(qnet)->gen++;
	lookahead_notify(ahead, QUELL_CMD_LOOKAHEAD_ADD_NTF);
	return 0;
}

/* Publishes a group, or frees it. */
static int lookahead_register(struct quell_net *qnet, struct dart_lookahead *ahead,
			      const struct dart_lookahead_spec *spec,
			      struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&net_of(qnet)->lock);
	if (lookahead_find(qnet, spec->name, spec->uid))
		err = quell_refuse(extack, NULL, -EEXIST, "you have a group of this name");
	else if (!lookahead_has_room(qnet, spec))
		err = quell_refuse(extack, NULL, -EDQUOT,
				   "too many groups or members, of the user or the namespace");
	else
		err = lookahead_publish(qnet, ahead, spec, extack);
	mutex_unlock(&net_of(qnet)->lock);
	if (err)
		lookahead_free(qnet, ahead);
	return err;
}

/*
 * Dart, section III-D.  -EOPNOTSUPP: no look-ahead; -ERANGE: time or number of members; -EINVAL: a
 * member twice; -EEXIST, -EDQUOT, -ENODEV, -ENOMEM.  May sleep.
 */
int dart_lookahead_add(struct quell_net *qnet, const struct dart_lookahead_spec *spec,
		       struct netlink_ext_ack *extack)
{
	u64 most_ns = dart_params(qnet).lookahead_ns;
	struct dart_lookahead *ahead;
	int err;

	err = lookahead_check(spec, most_ns, extack);
	if (err)
		return err;
	if (!lookahead_has_device(qnet, spec->ifindex))
		return -ENODEV;
	ahead = lookahead_make(qnet, spec);
	if (!ahead)
		err = -ENOMEM;
	else if (!ahead->group.time_ns)
		ahead->group.time_ns = most_ns;
	if (!err)
		err = lookahead_register(qnet, ahead, spec, extack);
	return lookahead_lost_device(qnet, spec->ifindex) && !err ? -ENODEV : err;
}

/* -ENOENT.  May sleep. */
int dart_lookahead_del(struct quell_net *qnet, const char *name, kuid_t uid)
{
	struct dart_lookahead *ahead;

	mutex_lock(&net_of(qnet)->lock);
	ahead = lookahead_find(qnet, name, uid);
	if (ahead)
		lookahead_remove(qnet, ahead);
	mutex_unlock(&net_of(qnet)->lock);
	return ahead ? 0 : -ENOENT;
}

/*
 * A weight that is not the default holds a reference to its host.  1: changed; 0: it has that
 * weight; -EDQUOT, -ENOMEM.  dart_net.lock, lock of @port.
 */
static int weight_change(struct dart_port *port, const struct in6_addr *addr, u32 value,
			 struct netlink_ext_ack *extack)
{
	struct dart_host *host = dart_host_find(port, addr);
	u32 before = host ? host->sender.weight : QUELL_DASR_WEIGHT_DEFAULT;
	u32 *weights_nr = &net_of(port->qnet)->weights_nr;

	if (value == before)
		return 0;
	if (before == QUELL_DASR_WEIGHT_DEFAULT) {
		if (*weights_nr >= DART_WEIGHTS_MAX)
			return quell_refuse(extack, NULL, -EDQUOT,
					    "too many weights in this namespace");
		host = dart_host_get(port, addr, NULL);
		if (!host)
			return -ENOMEM;
		(*weights_nr)++;
	}
	quell_dasr_set_weight(&port->set, &host->sender, value);
	if (value == QUELL_DASR_WEIGHT_DEFAULT) {
		(*weights_nr)--;
		dart_host_put(port, host);
	}
	return 1;
}

/* As lookahead_notify(). */
static void weight_notify(const struct dart_port *port, const struct in6_addr *addr, u32 value)
{
	const struct weight_ntf ntf = { port->ifindex, addr, value };

	/* Packets spin for it. */
	lockdep_assert_not_held(&port->lock);
	quell_ntf_send(port->qnet, QUELL_CMD_WEIGHT_NTF, LOOKAHEAD_NTF_BYTES, put_weight_ntf, &ntf);
}

/* -ENODEV: the interface is being unregistered; -EDQUOT, -ENOMEM. */
static int weight_store(struct dart_port *port, const struct in6_addr *addr, u32 value,
			struct netlink_ext_ack *extack)
{
	int changed;

	mutex_lock(&net_of(port->qnet)->lock);
	spin_lock_bh(&port->lock);
	changed = port->gone ? -ENODEV : weight_change(port, addr, value, extack);
	spin_unlock_bh(&port->lock);
	if (changed > 0)
		weight_notify(port, addr, value);
	mutex_unlock(&net_of(port->qnet)->lock);
	return min(changed, 0);
}

/* Deletes the weight of the first host after @at, and sets @at to it; false: it was the last. */
static bool weight_delete_after(struct dart_port *port, struct in6_addr *at)
{
	struct dart_host *host;
	int changed = 0;

	spin_lock_bh(&port->lock);
	host = dart_host_after(port, at);
	if (host) {
		*at = host->addr;
		changed = weight_change(port, at, QUELL_DASR_WEIGHT_DEFAULT, NULL);
	}
	spin_unlock_bh(&port->lock);
	if (changed)
		weight_notify(port, at, QUELL_DASR_WEIGHT_DEFAULT);
	return host;
}

/*
 * Dart, section III.  @weight is 1 .. QUELL_DASR_WEIGHT_MAX; 1, the default, deletes it.  -ERANGE,
 * -ENODEV, -EDQUOT, -ENOMEM.  May sleep.
 */
int dart_weight_set(struct quell_net *qnet, int ifindex, const struct in6_addr *addr, u32 weight,
		    struct netlink_ext_ack *extack)
{
	struct dart_port *port;
	int err = -ENOMEM;

	if (!weight || weight > QUELL_DASR_WEIGHT_MAX)
		return quell_refuse(extack, NULL, -ERANGE, "weight: 1 to 255");
	if (!lookahead_has_device(qnet, ifindex))
		return -ENODEV;
	if (weight == QUELL_DASR_WEIGHT_DEFAULT && !xa_load(&net_of(qnet)->ports, ifindex))
		return 0;
	port = dart_port_get(qnet, ifindex, NULL);
	if (port) {
		err = weight_store(port, addr, weight, extack);
		dart_port_put(port);
	}
	return lookahead_lost_device(qnet, ifindex) && !err ? -ENODEV : err;
}

/* Delete the groups and weights of an interface that is gone. */
static void lookahead_forget(struct dart_port *port)
{
	struct dart_net *net = net_of(port->qnet);
	struct dart_lookahead *ahead;
	struct in6_addr at = {};
	unsigned long id;

	mutex_lock(&net->lock);
	xa_for_each(&net->groups, id, ahead)
		if (ahead->port == port)
			lookahead_remove(port->qnet, ahead);
	while (weight_delete_after(port, &at))
		cond_resched();
	mutex_unlock(&net->lock);
}

/* Process context; the interface receives no packets, or no socket of the namespace is left. */
void dart_forget(struct quell_net *qnet, int ifindex)
{
	struct dart_port *port = dart_port_erase(qnet, ifindex);

	if (!port)
		return;
	spin_lock_bh(&port->lock);
	WRITE_ONCE(port->gone, true);
	spin_unlock_bh(&port->lock);
	lookahead_forget(port);
	dart_port_put(port);
}
