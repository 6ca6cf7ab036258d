// SPDX-License-Identifier: GPL-2.0
/*
 * Direct apportioning of sending rates: the interfaces, hosts and users of the set of active
 * senders, <quell/core/dart/set.h>.
 *
 * An interface (port) is allocated for the first data of a flow of an algorithm that counts
 * senders, or the first look-ahead group; a host, while it has a connection, a group or a
 * weight.  Memory is charged to the cgroup of the socket, or of the process that registers a
 * group.
 *
 * Lookup and lifetime
 *	port	by index in the namespace, under RCU; references
 *	host	by address in a tree of the port; under the lock of the port
 *	owner	by user in a tree of the port; under the lock of the port
 *	pair	a host and a user, by address in a tree of the owner; the same
 * Trees, because their depth is bounded for any choice of addresses and users, they need no
 * memory of their own, and a dump can be resumed.
 */
#include <linux/netdevice.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <net/tcp.h>
#include "signal/signal.h"
#include "dart.h"

/* Ports in all namespaces; while 0, packets need not be measured. */
static u32 ports_nr;
static DEFINE_SPINLOCK(ports_nr_lock);

static void *dart_alloc(const struct sock *sk, size_t bytes, gfp_t gfp)
{
	void *memory;

	if (!sk)
		return kzalloc(bytes, gfp | __GFP_NOWARN | __GFP_ACCOUNT);
	memory = quell_sock_alloc(sk, bytes);
	if (memory)
		memset(memory, 0, bytes);
	return memory;
}

static struct dart_port *port_make(struct quell_net *qnet, int ifindex, const struct sock *sk)
{
	struct dart_port *port = dart_alloc(sk, sizeof(*port), GFP_KERNEL);

	if (!port)
		return NULL;
	/* One for the table, one for the caller. */
	refcount_set(&port->refs, 2);
	spin_lock_init(&port->lock);
	port->qnet = qnet;
	port->ifindex = ifindex;
	port->hosts = RB_ROOT;
	port->users = RB_ROOT;
	port->machine.start_ns = ktime_get_ns();
	return port;
}

static void port_measure(const struct net *net, const struct sk_buff *skb, u32 header_bytes)
{
	struct dart_port *port = xa_load(&dart_net(net)->ports, quell_rx_ifindex(skb));
	u32 pkts = max_t(u32, skb_shinfo(skb)->gso_segs, 1);

	if (port)
		atomic64_add(skb->len + (pkts - 1) * header_bytes +
			     pkts * quell_framing_bytes(skb->dev), &port->bytes);
}

/* One port more, or less.  Not in hard interrupts. */
static void port_meter(int more)
{
	spin_lock_bh(&ports_nr_lock);
	ports_nr += more;
	WRITE_ONCE(quell_dasr_meter, ports_nr ? port_measure : NULL);
	spin_unlock_bh(&ports_nr_lock);
}

/*
 * A reference; NULL: memory is short.  RCU read section, or process context without @sk: then the
 * allocation may sleep.
 */
struct dart_port *dart_port_get(struct quell_net *qnet, int ifindex, const struct sock *sk)
{
	struct dart_net *net = dart_net(qnet->net);
	struct dart_port *port, *other;

	rcu_read_lock();
	port = xa_load(&net->ports, ifindex);
	if (port && !refcount_inc_not_zero(&port->refs))
		port = NULL;
	rcu_read_unlock();
	if (port)
		return port;
	port = port_make(qnet, ifindex, sk);
	if (!port)
		return NULL;
	xa_lock_bh(&net->ports);
	if (net->gone) {
		xa_unlock_bh(&net->ports);
		kfree(port);
		return NULL;
	}
	other = __xa_cmpxchg(&net->ports, ifindex, NULL, port, GFP_ATOMIC | __GFP_NOWARN);
	/* The table's own reference keeps it. */
	if (other && !xa_is_err(other))
		refcount_inc(&other->refs);
	xa_unlock_bh(&net->ports);
	if (!other) {
		port_meter(1);
		return port;
	}
	kfree(port);
	return xa_is_err(other) ? NULL : other;
}

void dart_port_put(struct dart_port *port)
{
	if (refcount_dec_and_test(&port->refs))
		kfree_rcu(port, rcu);
}

static struct dart_host *host_of(const struct rb_node *node)
{
	return rb_entry(node, struct dart_host, node);
}

static int host_compare(const void *addr, const struct rb_node *node)
{
	return ipv6_addr_cmp(addr, &host_of(node)->addr);
}

static bool host_is_less(struct rb_node *node, const struct rb_node *other)
{
	return host_compare(&host_of(node)->addr, other) < 0;
}

/* No reference; NULL: it has no connection, group or weight.  Lock of @port. */
struct dart_host *dart_host_find(const struct dart_port *port, const struct in6_addr *addr)
{
	struct rb_node *node = rb_find(addr, &port->hosts, host_compare);

	lockdep_assert_held(&port->lock);
	return node ? host_of(node) : NULL;
}

/* A reference; NULL: memory is short.  Lock of @port. */
struct dart_host *dart_host_get(struct dart_port *port, const struct in6_addr *addr,
				const struct sock *sk)
{
	struct dart_host *host = dart_host_find(port, addr);

	if (host) {
		host->refs++;
		return host;
	}
	host = dart_alloc(sk, sizeof(*host), GFP_ATOMIC);
	if (!host)
		return NULL;
	host->addr = *addr;
	host->refs = 1;
	host->sender.weight = QUELL_DASR_WEIGHT_DEFAULT;
	rb_add(&host->node, &port->hosts, host_is_less);
	return host;
}

/* Context: lock of @port. */
void dart_host_put(struct dart_port *port, struct dart_host *host)
{
	lockdep_assert_held(&port->lock);
	if (--host->refs)
		return;
	rb_erase(&host->node, &port->hosts);
	kfree(host);
}

/* The unspecified address is before all others; NULL after the last.  Lock of @port. */
struct dart_host *dart_host_after(const struct dart_port *port, const struct in6_addr *addr)
{
	const struct rb_node *node = port->hosts.rb_node;
	struct dart_host *after = NULL;

	lockdep_assert_held(&port->lock);
	while (node) {
		if (host_compare(addr, node) < 0) {
			after = host_of(node);
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return after;
}

static struct dart_owner *owner_of(const struct rb_node *node)
{
	return rb_entry(node, struct dart_owner, node);
}

static int owner_compare(const void *uid, const struct rb_node *node)
{
	const kuid_t *own = uid, other = owner_of(node)->uid;

	return uid_lt(*own, other) ? -1 : uid_gt(*own, other);
}

static bool owner_is_less(struct rb_node *node, const struct rb_node *other)
{
	return owner_compare(&owner_of(node)->uid, other) < 0;
}

static struct dart_owner *owner_get(struct dart_port *port, kuid_t uid, const struct sock *sk)
{
	struct rb_node *node = rb_find(&uid, &port->users, owner_compare);
	struct dart_owner *owner;

	if (node) {
		owner = owner_of(node);
		owner->refs++;
		return owner;
	}
	owner = dart_alloc(sk, sizeof(*owner), GFP_ATOMIC);
	if (!owner)
		return NULL;
	owner->uid = uid;
	owner->refs = 1;
	owner->pairs = RB_ROOT;
	rb_add(&owner->node, &port->users, owner_is_less);
	return owner;
}

static void owner_put(struct dart_port *port, struct dart_owner *owner)
{
	if (--owner->refs)
		return;
	rb_erase(&owner->node, &port->users);
	kfree(owner);
}

static struct dart_pair *pair_of(const struct rb_node *node)
{
	return rb_entry(node, struct dart_pair, node);
}

static int pair_compare(const void *addr, const struct rb_node *node)
{
	return ipv6_addr_cmp(addr, &pair_of(node)->host->addr);
}

static bool pair_is_less(struct rb_node *node, const struct rb_node *other)
{
	return pair_compare(&pair_of(node)->host->addr, other) < 0;
}

/* Takes over the reference to @owner. */
static struct dart_pair *pair_make(struct dart_port *port, struct dart_owner *owner,
				   const struct in6_addr *addr, const struct sock *sk)
{
	struct dart_pair *pair = dart_alloc(sk, sizeof(*pair), GFP_ATOMIC);

	if (!pair)
		return NULL;
	pair->host = dart_host_get(port, addr, sk);
	if (!pair->host) {
		kfree(pair);
		return NULL;
	}
	pair->owner = owner;
	pair->refs = 1;
	pair->peer.sender = &pair->host->sender;
	pair->peer.user = &owner->user;
	rb_add(&pair->node, &owner->pairs, pair_is_less);
	return pair;
}

/* A reference; NULL: memory is short.  Lock of @port. */
struct dart_pair *dart_pair_get(struct dart_port *port, const struct in6_addr *addr, kuid_t uid,
				const struct sock *sk)
{
	struct dart_owner *owner = owner_get(port, uid, sk);
	struct dart_pair *pair;
	struct rb_node *node;

	lockdep_assert_held(&port->lock);
	if (!owner)
		return NULL;
	node = rb_find(addr, &owner->pairs, pair_compare);
	pair = node ? pair_of(node) : pair_make(port, owner, addr, sk);
	if (node)
		pair->refs++;
	/* A new pair keeps the reference to the user. */
	if (node || !pair)
		owner_put(port, owner);
	return pair;
}

/* Context: lock of @port. */
void dart_pair_put(struct dart_port *port, struct dart_pair *pair)
{
	lockdep_assert_held(&port->lock);
	if (--pair->refs)
		return;
	rb_erase(&pair->node, &pair->owner->pairs);
	dart_host_put(port, pair->host);
	owner_put(port, pair->owner);
	kfree(pair);
}

static void count_since(struct dart_port *port, enum quell_counter counter, u64 now,
			u64 *counted)
{
	if (now == *counted)
		return;
	this_cpu_add(port->qnet->counters->value[counter], now - *counted);
	*counted = now;
}

/* Lock of @port, bottom halves off. */
void dart_count(struct dart_port *port)
{
	struct quell_dasr_set *set = &port->set, *counted = &port->counted;

	count_since(port, QUELL_N_DASR_JOINED, set->joins, &counted->joins);
	count_since(port, QUELL_N_DASR_LEFT, set->leaves, &counted->leaves);
	count_since(port, QUELL_N_DASR_EXPIRED, set->expiries, &counted->expiries);
	count_since(port, QUELL_N_LOOKAHEAD_ARMED, set->armings, &counted->armings);
	count_since(port, QUELL_N_LOOKAHEAD_ABSENT, set->absences, &counted->absences);
}

/* Context: lock of @port. */
void dart_port_expire(struct dart_port *port, const struct quell_dasr_params *soft, u64 now_ns)
{
	port->is_behind = quell_dasr_expire(&port->set, soft, now_ns);
}

static void port_refresh(struct dart_port *port, const struct quell_dasr_params *soft)
{
	bool is_behind;

	do {
		spin_lock_bh(&port->lock);
		dart_port_expire(port, soft, ktime_get_ns());
		is_behind = port->is_behind;
		dart_count(port);
		spin_unlock_bh(&port->lock);
		cond_resched();
	} while (is_behind);
}

/* Drop expired senders, for readers: a dead one's port gets no packet.  May sleep. */
void dart_refresh(struct quell_net *qnet)
{
	struct quell_dart_params params = dart_params(qnet);
	struct quell_dasr_params soft = quell_dart_set_params(&params);
	struct dart_port *port;
	unsigned long ifindex;

	rcu_read_lock();
	xa_for_each(&dart_net(qnet->net)->ports, ifindex, port) {
		if (!refcount_inc_not_zero(&port->refs))
			continue;
		rcu_read_unlock();
		port_refresh(port, &soft);
		dart_port_put(port);
		rcu_read_lock();
	}
	rcu_read_unlock();
}

/* Removes it from the table, of which the reference is the caller's; NULL: there is no port. */
struct dart_port *dart_port_erase(struct quell_net *qnet, int ifindex)
{
	struct xarray *ports = &dart_net(qnet->net)->ports;
	struct dart_port *port;

	xa_lock_bh(ports);
	port = __xa_erase(ports, ifindex);
	xa_unlock_bh(ports);
	if (port)
		port_meter(-1);
	return port;
}
