// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of the namespaces and of their NICs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

/* The first index given to a NIC; lo has 1 in every namespace. */
#define IFINDEX_BASE	100
#define BUCKETS		4096

static int current_node = -1;

struct node *nodes;
int n_nodes;
struct port *ports;
int n_ports;

/* Number of the first node, or port, in each bucket, plus 1; 0: empty. */
static int node_buckets[BUCKETS];
static int port_buckets[BUCKETS];

/* FNV-1a of a device's name in a node, or with node 0 of a node's name. */
static unsigned int bucket(unsigned int node, const char *name)
{
	unsigned int hash = 2166136261u ^ node * 2654435761u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (hash ^ hash >> 16) % BUCKETS;
}

void net_enter(int node)
{
	if (node == current_node)
		return;
	if (setns(nodes[node].ns_fd, CLONE_NEWNET))
		fail("entering namespace '%s': %s", nodes[node].name,
		     strerror(errno));
	current_node = node;
}

/* Put the node behind the last one under its name; the caller fills in the rest. */
static struct node *node_list(const char *name)
{
	struct node *node = &nodes[n_nodes];
	int *first;

	snprintf(node->name, sizeof(node->name), "%s", name);
	first = &node_buckets[bucket(0, node->name)];
	node->next = *first - 1;
	*first = ++n_nodes;
	return node;
}

/* Close every namespace but the first, with everything in it. */
void net_close(void)
{
	int i;

	net_enter(0);
	for (i = 1; i < n_nodes; i++) {
		close(nodes[i].ns_fd);
		close(nodes[i].rt_fd);
		if (nodes[i].genl_fd >= 0)
			close(nodes[i].genl_fd);
	}
	n_nodes = 0;
	n_ports = 0;
	memset(node_buckets, 0, sizeof(node_buckets));
	memset(port_buckets, 0, sizeof(port_buckets));
	node_list("-");
}

/* Make a node of the namespace this process is in. */
void node_add_current(const char *name)
{
	struct node *node;

	nodes = grow(nodes, n_nodes, sizeof(*nodes));
	node = node_list(name);
	node->ns_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (node->ns_fd < 0)
		fail("opening a namespace: %s", strerror(errno));
	node->rt_fd = nl_open(NETLINK_ROUTE);
	node->genl_fd = -1;
	current_node = n_nodes - 1;
}

int node_search(const char *name)
{
	int i;

	for (i = node_buckets[bucket(0, name)] - 1; i >= 0; i = nodes[i].next)
		if (!strcmp(nodes[i].name, name))
			return i;
	return -1;
}

int node_index(const char *name)
{
	static int last;

	/* Plans name the same node several times in a row. */
	if (strcmp(nodes[last].name, name)) {
		last = node_search(name);
		if (last < 0)
			fail("no node '%s'", name);
	}
	return last;
}

struct port *port_find(const char *node, const char *dev)
{
	int index = node_index(node), i;

	for (i = port_buckets[bucket(index, dev)] - 1; i >= 0; i = ports[i].next)
		if (ports[i].node == index && !strcmp(ports[i].name, dev))
			return &ports[i];
	fail("node '%s' has no device '%s'", node, dev);
}

/* NULL for the indices of other devices. */
struct port *port_by_ifindex(int ifindex)
{
	int i = ifindex - IFINDEX_BASE;

	return i >= 0 && i < n_ports ? &ports[i] : NULL;
}

struct port *port_add(const char *node, const char *dev)
{
	struct port *port;
	int *first;

	if (strlen(dev) >= sizeof(port->name))
		fail("device name '%s' is longer than %zu", dev,
		     sizeof(port->name) - 1);
	ports = grow(ports, n_ports, sizeof(*ports));
	port = &ports[n_ports];
	*port = (struct port) {
		.node = node_index(node),
		.ifindex = IFINDEX_BASE + n_ports,
	};
	snprintf(port->name, sizeof(port->name), "%s", dev);
	first = &port_buckets[bucket(port->node, port->name)];
	port->next = *first - 1;
	*first = ++n_ports;
	return port;
}
