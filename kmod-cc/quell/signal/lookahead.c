// SPDX-License-Identifier: GPL-2.0
/*
 * Look-ahead (Dart, section III-D): groups of senders that an application expects to send at
 * one time, and weights of senders.
 *
 * Any user may register groups: they count only for sockets of the same user, and only
 * messages to such sockets visit them, so that no user can slow down another's senders or
 * packets.  Number and size are limited per user and per namespace; memory is charged to the
 * process that registers.  A group lasts until it is deleted or its interface is
 * unregistered.  Weights apply to all, and are the administrator's.  Hosts in a group or with
 * a weight are kept at their port without a connection.
 *
 * The mutex of a namespace is also taken under the RTNL, so allocations that sleep are made
 * before it; under it, and under the lock of a port, they do not sleep.
 */
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include <compat/extack.h>
#include "netns/net.h"
#include "signal/dasr.h"

/* Members per hold of the port's lock. */
#define LOOKAHEAD_BATCH		32

/* A weight that the administrator set; @port and @host are referenced. */
struct quell_weight {
	struct list_head	node;
	struct quell_dasr_port	*port;
	struct quell_dasr_host	*host;
};

static bool lookahead_has_duplicates(const struct quell_lookahead_spec *spec)
{
	u32 i, j;

	for (i = 0; i < spec->members_nr; i++, cond_resched())
		for (j = 0; j < i; j++)
			if (ipv6_addr_equal(&spec->members[i], &spec->members[j]))
				return true;
	return false;
}

static struct quell_lookahead *lookahead_find(struct quell_net *qnet, const char *name,
					      kuid_t uid)
{
	struct quell_lookahead *ahead;
	unsigned long id;

	xa_for_each(&qnet->lookahead.groups, id, ahead)
		if (uid_eq(ahead->uid, uid) && !strcmp(ahead->name, name))
			return ahead;
	return NULL;
}

static bool lookahead_has_room(struct quell_net *qnet, const struct quell_lookahead_spec *spec)
{
	u32 net_groups = 1, net_members = spec->members_nr;
	u32 user_groups = 1, user_members = spec->members_nr;
	const struct quell_lookahead *ahead;
	unsigned long id;

	xa_for_each(&qnet->lookahead.groups, id, ahead) {
		net_groups++;
		net_members += ahead->group.members_nr;
		if (!uid_eq(ahead->uid, spec->uid))
			continue;
		user_groups++;
		user_members += ahead->group.members_nr;
	}
	return net_groups <= QUELL_LOOKAHEAD_NET_GROUPS &&
	       net_members <= QUELL_LOOKAHEAD_NET_MEMBERS &&
	       user_groups <= QUELL_LOOKAHEAD_USER_GROUPS &&
	       user_members <= QUELL_LOOKAHEAD_USER_MEMBERS;
}

static int lookahead_check(const struct quell_lookahead_spec *spec, u64 most_ns,
			   struct netlink_ext_ack *extack)
{
	if (!most_ns) {
		NL_SET_ERR_MSG(extack, "look-ahead needs tcp_dart, and its parameter lookahead");
		return -EOPNOTSUPP;
	}
	if (spec->time_ns > most_ns) {
		quell_extack_fmt(extack, "time: at most %llu ns, dart's parameter lookahead",
				 most_ns);
		return -ERANGE;
	}
	if (!spec->members_nr || spec->members_nr > QUELL_LOOKAHEAD_GROUP_MAX) {
		NL_SET_ERR_MSG(extack, "members: 1 to 1024");
		return -ERANGE;
	}
	if (lookahead_has_duplicates(spec)) {
		NL_SET_ERR_MSG(extack, "members: one address is there twice");
		return -EINVAL;
	}
	return 0;
}

/* Checks against the other groups. */
static int lookahead_check_quota(struct quell_net *qnet, const struct quell_lookahead_spec *spec,
				 struct netlink_ext_ack *extack)
{
	if (lookahead_find(qnet, spec->name, spec->uid)) {
		NL_SET_ERR_MSG(extack, "you have a group of this name");
		return -EEXIST;
	}
	if (!lookahead_has_room(qnet, spec)) {
		NL_SET_ERR_MSG(extack, "too many groups or members, of the user or the namespace");
		return -EDQUOT;
	}
	return 0;
}

/* Releases the port's lock, for which packets of this interface spin, once in a while. */
static void lookahead_relax_lock(struct quell_dasr_port *port, u32 i)
{
	if (!i || i % LOOKAHEAD_BATCH)
		return;
	spin_unlock_bh(&port->lock);
	cond_resched();
	spin_lock_bh(&port->lock);
}

/* Drops the references of a group's first @hosts_nr members, which are not in the set. */
static void lookahead_put_hosts(struct quell_lookahead *ahead, u32 hosts_nr)
{
	u32 i;

	for (i = 0; i < hosts_nr; i++) {
		lookahead_relax_lock(ahead->port, i);
		ahead->pairs[i]->members -= ahead->group.members_nr;
		quell_dasr_pair_put(ahead->port, ahead->pairs[i]);
	}
}

/* Member number @i; -ENOMEM, or -EDQUOT: its groups have too many members. */
static int lookahead_get_host(struct quell_lookahead *ahead, const struct in6_addr *addr, u32 i,
			      struct netlink_ext_ack *extack)
{
	struct quell_dasr_group *group = &ahead->group;
	struct quell_dasr_pair *pair;

	pair = quell_dasr_pair_get(ahead->port, addr, ahead->uid, NULL);
	if (!pair)
		return -ENOMEM;
	if (pair->members + group->members_nr > QUELL_LOOKAHEAD_GROUP_MAX) {
		quell_dasr_pair_put(ahead->port, pair);
		NL_SET_ERR_MSG(extack, "groups with one host have over 1024 members");
		return -EDQUOT;
	}
	pair->members += group->members_nr;
	ahead->pairs[i] = pair;
	group->members[i].peer = &pair->peer;
	group->members[i].group = group;
	return 0;
}

static int lookahead_get_hosts(struct quell_lookahead *ahead,
			       const struct quell_lookahead_spec *spec,
			       struct netlink_ext_ack *extack)
{
	struct quell_dasr_port *port = ahead->port;
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
static void lookahead_free(struct quell_net *qnet, struct quell_lookahead *ahead)
{
	if (ahead->id)
		xa_erase(&qnet->lookahead.groups, ahead->id);
	if (ahead->port)
		quell_dasr_port_put(ahead->port);
	kvfree(ahead->pairs);
	kvfree(ahead->group.members);
	kfree(ahead);
}

/* Allocates a group and its number, which finds no group until it is published. */
static struct quell_lookahead *lookahead_make(struct quell_net *qnet,
					      const struct quell_lookahead_spec *spec)
{
	struct quell_lookahead *ahead = kzalloc(sizeof(*ahead), GFP_KERNEL_ACCOUNT);

	if (!ahead)
		return NULL;
	strscpy(ahead->name, spec->name, sizeof(ahead->name));
	ahead->uid = spec->uid;
	ahead->group.members_nr = spec->members_nr;
	ahead->group.time_ns = spec->time_ns;
	ahead->pairs = kvcalloc(spec->members_nr, sizeof(*ahead->pairs), GFP_KERNEL_ACCOUNT);
	ahead->group.members = kvcalloc(spec->members_nr, sizeof(*ahead->group.members),
					GFP_KERNEL_ACCOUNT);
	ahead->port = quell_dasr_port_get(qnet, spec->ifindex, NULL);
	if (ahead->pairs && ahead->group.members && ahead->port &&
	    xa_alloc_cyclic(&qnet->lookahead.groups, &ahead->id, NULL, xa_limit_31b,
			    &qnet->lookahead.next, GFP_KERNEL) >= 0)
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
 * after quell_dasr_forget(), so repeat that.
 */
static bool lookahead_lost_device(struct quell_net *qnet, int ifindex)
{
	if (lookahead_has_device(qnet, ifindex))
		return false;
	quell_dasr_forget(qnet, ifindex);
	return true;
}

static void lookahead_withdraw(struct quell_lookahead *ahead)
{
	struct quell_dasr_port *port = ahead->port;

	spin_lock_bh(&port->lock);
	quell_dasr_group_del(&port->set, &ahead->group);
	lookahead_put_hosts(ahead, ahead->group.members_nr);
	spin_unlock_bh(&port->lock);
}

static void lookahead_remove(struct quell_net *qnet, struct quell_lookahead *ahead)
{
	qnet->lookahead.gen++;
	lookahead_withdraw(ahead);
	quell_notify_lookahead(ahead, QUELL_NTF_LOOKAHEAD_DEL);
	lookahead_free(qnet, ahead);
}

/* On an error the group is unchanged. */
static int lookahead_publish(struct quell_net *qnet, struct quell_lookahead *ahead,
			     const struct quell_lookahead_spec *spec,
			     struct netlink_ext_ack *extack)
{
	int err = lookahead_get_hosts(ahead, spec, extack);

	if (err)
		return err;
	/* No allocation: the number is reserved. */
	err = xa_err(xa_store(&qnet->lookahead.groups, ahead->id, ahead, GFP_NOWAIT));
	if (err)
		lookahead_withdraw(ahead);
	else
		qnet->lookahead.gen++;
	return err;
}

/* Publishes a group, or frees it. */
static int lookahead_register(struct quell_net *qnet, struct quell_lookahead *ahead,
			      const struct quell_lookahead_spec *spec,
			      struct netlink_ext_ack *extack)
{
	int err;

	mutex_lock(&qnet->lookahead.lock);
	err = lookahead_check_quota(qnet, spec, extack);
	if (!err)
		err = lookahead_publish(qnet, ahead, spec, extack);
	if (!err)
		quell_notify_lookahead(ahead, QUELL_NTF_LOOKAHEAD_ADD);
	mutex_unlock(&qnet->lookahead.lock);
	if (err)
		lookahead_free(qnet, ahead);
	return err;
}

/*
 * Dart, section III-D.  -EOPNOTSUPP: no look-ahead; -ERANGE: time or number of members; -EINVAL: a
 * member twice; -EEXIST, -EDQUOT, -ENODEV, -ENOMEM.  May sleep.
 */
int quell_lookahead_add(struct quell_net *qnet, const struct quell_lookahead_spec *spec,
			struct netlink_ext_ack *extack)
{
	u64 most_ns = quell_dasr_params(qnet).lookahead_ns;
	struct quell_lookahead *ahead;
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
int quell_lookahead_del(struct quell_net *qnet, const char *name, kuid_t uid)
{
	struct quell_lookahead *ahead;

	mutex_lock(&qnet->lookahead.lock);
	ahead = lookahead_find(qnet, name, uid);
	if (ahead)
		lookahead_remove(qnet, ahead);
	mutex_unlock(&qnet->lookahead.lock);
	return ahead ? 0 : -ENOENT;
}

static void weight_change(const struct quell_weight *weight, u32 value)
{
	struct quell_dasr_port *port = weight->port;
	bool is_new;

	spin_lock_bh(&port->lock);
	is_new = weight->host->sender.weight != value;
	quell_dasr_set_weight(&port->set, &weight->host->sender, value);
	spin_unlock_bh(&port->lock);
	if (is_new)
		quell_notify_weight(port, weight->host, value);
}

/* The weight is in no list and has no host. */
static void weight_free(struct quell_weight *weight)
{
	quell_dasr_port_put(weight->port);
	kfree(weight);
}

static void weight_remove(struct quell_net *qnet, struct quell_weight *weight)
{
	weight_change(weight, QUELL_DASR_WEIGHT_DEFAULT);
	spin_lock_bh(&weight->port->lock);
	quell_dasr_host_put(weight->port, weight->host);
	spin_unlock_bh(&weight->port->lock);
	list_del(&weight->node);
	qnet->lookahead.weights_nr--;
	weight_free(weight);
}

static struct quell_weight *weight_find(struct quell_net *qnet, int ifindex,
					const struct in6_addr *addr)
{
	struct quell_weight *weight;

	list_for_each_entry(weight, &qnet->lookahead.weights, node)
		if (weight->port->ifindex == ifindex &&
		    ipv6_addr_equal(&weight->host->addr, addr))
			return weight;
	return NULL;
}

static struct quell_weight *weight_make(struct quell_net *qnet, int ifindex)
{
	struct quell_weight *weight = kzalloc(sizeof(*weight), GFP_KERNEL_ACCOUNT);

	if (!weight)
		return NULL;
	weight->port = quell_dasr_port_get(qnet, ifindex, NULL);
	if (weight->port)
		return weight;
	kfree(weight);
	return NULL;
}

/* -ENODEV: the interface is being unregistered; -ENOMEM. */
static int weight_add(struct quell_net *qnet, struct quell_weight *weight,
		      const struct in6_addr *addr)
{
	struct quell_dasr_port *port = weight->port;
	int err = 0;

	spin_lock_bh(&port->lock);
	if (port->gone)
		err = -ENODEV;
	else
		weight->host = quell_dasr_host_get(port, addr, NULL);
	spin_unlock_bh(&port->lock);
	if (err || !weight->host)
		return err ?: -ENOMEM;
	list_add(&weight->node, &qnet->lookahead.weights);
	qnet->lookahead.weights_nr++;
	return 0;
}

static void weight_delete(struct quell_net *qnet, int ifindex, const struct in6_addr *addr)
{
	struct quell_weight *weight;

	mutex_lock(&qnet->lookahead.lock);
	weight = weight_find(qnet, ifindex, addr);
	if (weight)
		weight_remove(qnet, weight);
	mutex_unlock(&qnet->lookahead.lock);
}

/* Sets an existing weight, or adds @spare for it, which is freed otherwise. */
static int weight_store(struct quell_net *qnet, struct quell_weight *spare,
			const struct in6_addr *addr, u32 value, struct netlink_ext_ack *extack)
{
	struct quell_weight *weight;
	int err = 0;

	mutex_lock(&qnet->lookahead.lock);
	weight = weight_find(qnet, spare->port->ifindex, addr);
	if (!weight && qnet->lookahead.weights_nr >= QUELL_WEIGHTS_MAX) {
		NL_SET_ERR_MSG(extack, "too many weights in this namespace");
		err = -EDQUOT;
	} else if (!weight) {
		err = weight_add(qnet, spare, addr);
		if (!err)
			swap(weight, spare);
	}
	if (!err)
		weight_change(weight, value);
	mutex_unlock(&qnet->lookahead.lock);
	if (spare)
		weight_free(spare);
	return err;
}

/*
 * Dart, section III.  @weight is 1 .. QUELL_DASR_WEIGHT_MAX; 1, the default, deletes it.  -ERANGE,
 * -ENODEV, -EDQUOT, -ENOMEM; -EOPNOTSUPP without tcp_dart.  May sleep.
 */
int quell_weight_set(struct quell_net *qnet, int ifindex, const struct in6_addr *addr,
		     u32 weight, struct netlink_ext_ack *extack)
{
	struct quell_weight *spare;
	int err;

	if (!weight || weight > QUELL_DASR_WEIGHT_MAX) {
		NL_SET_ERR_MSG(extack, "weight: 1 to 255");
		return -ERANGE;
	}
	if (!quell_dasr_is_ready()) {
		NL_SET_ERR_MSG(extack, "weights need tcp_dart");
		return -EOPNOTSUPP;
	}
	if (!lookahead_has_device(qnet, ifindex))
		return -ENODEV;
	if (weight == QUELL_DASR_WEIGHT_DEFAULT) {
		weight_delete(qnet, ifindex, addr);
		return 0;
	}
	spare = weight_make(qnet, ifindex);
	err = spare ? weight_store(qnet, spare, addr, weight, extack) : -ENOMEM;
	return lookahead_lost_device(qnet, ifindex) && !err ? -ENODEV : err;
}

/* Delete the groups and weights of an interface that is gone. */
static void lookahead_forget(struct quell_dasr_port *port)
{
	struct quell_lookahead_net *net = &port->qnet->lookahead;
	struct quell_weight *weight, *next;
	struct quell_lookahead *ahead;
	unsigned long id;

	mutex_lock(&net->lock);
	xa_for_each(&net->groups, id, ahead)
		if (ahead->port == port)
			lookahead_remove(port->qnet, ahead);
	list_for_each_entry_safe(weight, next, &net->weights, node)
		if (weight->port == port)
			weight_remove(port->qnet, weight);
	mutex_unlock(&net->lock);
}

/* Process context; the interface receives no packets, or no socket of the namespace is left. */
void quell_dasr_forget(struct quell_net *qnet, int ifindex)
{
	struct quell_dasr_port *port;

	xa_lock_bh(&qnet->dasr_ports);
	port = __xa_erase(&qnet->dasr_ports, ifindex);
	xa_unlock_bh(&qnet->dasr_ports);
	if (!port)
		return;
	atomic_dec(&quell_dasr_ports_nr);
	spin_lock_bh(&port->lock);
	WRITE_ONCE(port->gone, true);
	spin_unlock_bh(&port->lock);
	lookahead_forget(port);
	quell_dasr_port_put(port);
}

void quell_lookahead_net_init(struct quell_net *qnet)
{
	mutex_init(&qnet->lookahead.lock);
	xa_init_flags(&qnet->lookahead.groups, XA_FLAGS_ALLOC1);
	qnet->lookahead.gen = 1;
	INIT_LIST_HEAD(&qnet->lookahead.weights);
}

/* Called when the hooks and the sockets of the namespace are gone. */
void quell_dasr_net_exit(struct quell_net *qnet)
{
	struct quell_dasr_port *port;
	unsigned long ifindex;

	xa_for_each(&qnet->dasr_ports, ifindex, port)
		quell_dasr_forget(qnet, ifindex);
	xa_destroy(&qnet->dasr_ports);
	WARN_ON_ONCE(!xa_empty(&qnet->lookahead.groups));
	xa_destroy(&qnet->lookahead.groups);
}
