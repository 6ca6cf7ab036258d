// SPDX-License-Identifier: GPL-2.0
/*
 * Commands: namespaces, cables, addresses, routes, sysctls.
 *
 * All NICs share one MAC address and do not use ARP: a frame on a cable can
 * only be for the other end, and the wire carries only the experiment's packets.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "../modules/quellnic_uapi.h"
#include "init.h"

static const uint8_t mac[6] = { 0x02, 0, 0, 0, 0, 1 };

static void link_up(int node, int ifindex)
{
	struct ifinfomsg ifm = {
		.ifi_index = ifindex,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP,
	};
	struct request req;

	nl_start(&req, RTM_NEWLINK, 0, &ifm, sizeof(ifm));
	nl_do(nodes[node].rt_fd, &req);
}

/*
 * Set the defaults that every namespace inherits: no IPv6 chatter, room for
 * many neighbours and sockets.
 */
void net_defaults(void)
{
	static const char *const settings[][2] = {
		{ "core/devconf_inherit_init_net",		"1" },
		{ "ipv6/conf/default/accept_dad",		"0" },
		{ "ipv6/conf/default/router_solicitations",	"0" },
		{ "ipv6/conf/default/addr_gen_mode",		"1" },
		{ "ipv4/neigh/default/gc_thresh1",		"1000000" },
		{ "ipv4/neigh/default/gc_thresh2",		"1000000" },
		{ "ipv4/neigh/default/gc_thresh3",		"1000000" },
		{ "ipv4/tcp_mem",	"100000000 100000000 100000000" },
	};
	char path[128];
	size_t i;

	node_add_current("-");
	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(path, sizeof(path), "/proc/sys/net/%s", settings[i][0]);
		write_text(path, settings[i][1]);
	}
}

/* node NAME */
void cmd_node(void)
{
	need_words(1, 1);
	if (strlen(line.word[1]) >= sizeof(nodes->name))
		fail("node name '%s' is longer than %zu", line.word[1],
		     sizeof(nodes->name) - 1);
	if (node_search(line.word[1]) >= 0)
		fail("node '%s' exists", line.word[1]);
	if (unshare(CLONE_NEWNET))
		fail("new namespace: %s", strerror(errno));
	node_add_current(line.word[1]);
	link_up(n_nodes - 1, 1);
}

static void put_end(struct request *req, const struct port *port, uint32_t mtu)
{
	nl_put_string(req, IFLA_IFNAME, port->name);
	nl_put(req, IFLA_ADDRESS, mac, sizeof(mac));
	nl_put_u32(req, IFLA_MTU, mtu);
}

static void put_clock(struct request *req, int offset_attr, int drift_attr,
		      const char *offset_key, const char *drift_key)
{
	const char *offset = option(5, offset_key);
	const char *drift = option(5, drift_key);
	int64_t offset_ns;
	int32_t drift_ppb;

	if (offset) {
		offset_ns = signed_number(offset, INT64_MIN / 2, INT64_MAX / 2);
		nl_put(req, offset_attr, &offset_ns, sizeof(offset_ns));
	}
	if (drift) {
		drift_ppb = signed_number(drift, INT32_MIN, INT32_MAX);
		nl_put(req, drift_attr, &drift_ppb, sizeof(drift_ppb));
	}
}

/* Priority flow control of one end; a host's has no headroom. */
static void put_pfc(struct request *req, int attr, const struct port *end, const char *ends,
		    const char *buffer)
{
	const char *alpha = option(5, "pfc-alpha");
	bool counts = !strcmp(ends, "both") || !strcmp(ends, attr == QUELLNIC_PFC ? "a" : "b");
	struct quellnic_pfc pfc = {
		.buffer_bytes = number(buffer ?: "0", 0, UINT32_MAX),
		.alpha_q16 = number(alpha ?: "0", 0, UINT32_MAX),
	};

	pfc.xoff_bytes = number(option(5, "pfc-xoff") ?: "0", 0, UINT32_MAX);
	pfc.resume_bytes = number(option(5, "pfc-resume") ?: "0", 0, UINT32_MAX);
	if (counts)
		pfc.headroom_bytes = number(option(5, "pfc-headroom") ?: "0", 1, UINT32_MAX);
	snprintf(pfc.name, sizeof(pfc.name), "%s %s", nodes[end->node].name, end->name);
	nl_put(req, attr, &pfc, sizeof(pfc));
}

/* Which ends are a switch's, and so pause the other. */
static void put_pfcs(struct request *req, const struct port *a, const struct port *b)
{
	const char *ends = option(5, "pfc");

	if (!ends)
		return;
	if (strcmp(ends, "a") && strcmp(ends, "b") && strcmp(ends, "both"))
		fail("'%s' is none of a, b and both", ends);
	put_pfc(req, QUELLNIC_PFC, a, ends, option(5, "pfc-buffer"));
	put_pfc(req, QUELLNIC_PEER_PFC, b, ends, option(5, "peer-pfc-buffer"));
}

/* Credits that the host at one end hands out: PERCENT:FIRST-BYTES[:FIRST-Q16:W-Q16]. */
static void put_credit(struct request *req, int attr, const char *value)
{
	uint32_t numbers[4] = { 0 };
	struct quellnic_credit credit;
	char *text, *at, *word;
	int found = 0;

	if (!value)
		return;
	text = strdup(value);
	if (!text)
		fail("out of memory");
	for (at = text; found < 4 && (word = strsep(&at, ":")); found++)
		numbers[found] = number(word, 1, UINT32_MAX);
	if (at || (found != 2 && found != 4))
		fail("'%s' is not PERCENT:FIRST-BYTES[:FIRST-Q16:W-Q16]", value);
	free(text);
	credit = (struct quellnic_credit) {
		.percent = numbers[0], .first_bytes = numbers[1],
		.first_q16 = numbers[2], .w_q16 = numbers[3],
	};
	nl_put(req, attr, &credit, sizeof(credit));
}

/* Of a network in parts: the cable's number, and which end is in which other part. */
static void put_part(struct request *req)
{
	const char *cable = option(5, "cable");
	const char *away = option(5, "away");
	struct quellnic_part part = { 0 };

	if (!cable)
		return;
	part.cable = number(cable, 1, INT32_MAX);
	if (away && ((away[0] != 'a' && away[0] != 'b') || away[1] != ':'))
		fail("'%s' is neither a:PART nor b:PART", away);
	if (away) {
		part.away = away[0] == 'a' ? QUELLNIC_NEAR_AWAY : QUELLNIC_FAR_AWAY;
		part.part = number(away + 2, 0, UINT32_MAX);
	}
	nl_put(req, QUELLNIC_PART, &part, sizeof(part));
}

static const struct number_option link_numbers[] = {
	NUMBER("rate", QUELLNIC_RATE, .wide = true, .least = 1),	/* bits/s, as of pace */
	NUMBER("delay", QUELLNIC_DELAY, .wide = true),
	NUMBER("ring", QUELLNIC_RING, .least = 1),
	NUMBER("tso", QUELLNIC_TSO, .least = 1),
	/* The module draws the noise of both ends from one seed. */
	NUMBER("noise", QUELLNIC_NOISE, .wide = true),
	NUMBER("peer-noise", QUELLNIC_PEER_NOISE, .wide = true),
	NUMBER("noise-seed", QUELLNIC_NOISE_SEED, .wide = true),
	/* Data packets that the cable drops or trims, counted per direction. */
	NUMBER("drop", QUELLNIC_DROP, .wide = true, .least = 1),
	NUMBER("peer-drop", QUELLNIC_PEER_DROP, .wide = true, .least = 1),
	NUMBER("drop-count", QUELLNIC_DROP_COUNT, .least = 1),
	NUMBER("trim", QUELLNIC_TRIM, .wide = true, .least = 1),
	NUMBER("peer-trim", QUELLNIC_PEER_TRIM, .wide = true, .least = 1),
	NUMBER("trim-every", QUELLNIC_TRIM_EVERY, .least = 1),
	NUMBER("trim-count", QUELLNIC_TRIM_COUNT, .least = 1),
	/* A byte of a data packet from A that the cable falsifies. */
	NUMBER("corrupt", QUELLNIC_CORRUPT, .wide = true, .least = 1),
	NUMBER("corrupt-at", QUELLNIC_CORRUPT_AT, .most = 65535),
	NUMBER("pace", QUELLNIC_PACE, .wide = true, .least = 1),
	NUMBER("peer-pace", QUELLNIC_PEER_PACE, .wide = true, .least = 1),
};

static void put_cable(struct request *req, const struct port *a, const struct port *b,
		      uint32_t mtu, const struct ifinfomsg *ifm_b)
{
	struct nlattr *peer;

	nl_put_numbers(req, 5, link_numbers, ARRAY_SIZE(link_numbers));
	put_clock(req, QUELLNIC_PHC_OFFSET, QUELLNIC_PHC_DRIFT,
		  "phc-offset", "phc-drift");
	put_clock(req, QUELLNIC_PEER_PHC_OFFSET, QUELLNIC_PEER_PHC_DRIFT,
		  "peer-phc-offset", "peer-phc-drift");
	put_pfcs(req, a, b);
	put_credit(req, QUELLNIC_CREDIT, option(5, "credit"));
	put_credit(req, QUELLNIC_PEER_CREDIT, option(5, "peer-credit"));
	put_part(req);
	peer = nl_nest(req, QUELLNIC_PEER);
	nl_append(req, ifm_b, sizeof(*ifm_b));
	put_end(req, b, mtu);
	nl_put_u32(req, IFLA_NET_NS_FD, nodes[b->node].ns_fd);
	nl_nest_end(req, peer);
}

/* link A DEVA B DEVB rate=BITS_PS delay=NS mtu=N [ring=] [phc-offset=] ... */
void cmd_link(void)
{
	static const char *const keys[] = {
		"rate", "delay", "mtu", "ring", "phc-offset", "phc-drift",
		"peer-phc-offset", "peer-phc-drift", "noise", "peer-noise",
		"noise-seed", "tso", "drop", "peer-drop", "drop-count", "trim",
		"peer-trim", "trim-every", "trim-count", "corrupt",
		"corrupt-at", "pfc", "pfc-xoff", "pfc-alpha", "pfc-buffer",
		"peer-pfc-buffer", "pfc-resume", "pfc-headroom", "credit",
		"peer-credit", "pace", "peer-pace", "cable", "away", NULL
	};
	struct ifinfomsg ifm_a = { .ifi_flags = IFF_NOARP, .ifi_change = IFF_NOARP };
	struct nlattr *info, *data;
	struct ifinfomsg ifm_b;
	struct request req;
	struct port a, b;
	uint32_t mtu;

	need_words(7, 4 + ARRAY_SIZE(keys) - 1);
	only_options(5, keys);
	if (!option(5, "rate") || !option(5, "delay") || !option(5, "mtu"))
		fail("a link needs rate=, delay= and mtu=");
	mtu = number(option(5, "mtu"), 68, 65535);
	a = *port_add(line.word[1], line.word[2]);
	b = *port_add(line.word[3], line.word[4]);
	ifm_b = ifm_a;
	ifm_a.ifi_index = a.ifindex;
	ifm_b.ifi_index = b.ifindex;

	nl_start(&req, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifm_a,
		 sizeof(ifm_a));
	put_end(&req, &a, mtu);
	info = nl_nest(&req, IFLA_LINKINFO);
	nl_put_string(&req, IFLA_INFO_KIND, QUELLNIC_KIND);
	data = nl_nest(&req, IFLA_INFO_DATA);
	put_cable(&req, &a, &b, mtu, &ifm_b);
	nl_nest_end(&req, data);
	nl_nest_end(&req, info);
	nl_do(nodes[a.node].rt_fd, &req);

	link_up(a.node, a.ifindex);
	link_up(b.node, b.ifindex);
	/* Grafting a root qdisc starts the queue at once, without linkwatch. */
	qdisc_default(&a);
	qdisc_default(&b);
}

/* addr NODE DEV ADDRESS/LEN */
void cmd_addr(void)
{
	struct ifaddrmsg ifa = { .ifa_flags = IFA_F_NODAD };
	struct address addr;
	struct request req;
	struct port *port;
	int length;

	need_words(3, 3);
	port = port_find(line.word[1], line.word[2]);
	addr = prefix(line.word[3], &length);
	ifa.ifa_family = addr.family;
	ifa.ifa_prefixlen = length;
	ifa.ifa_index = port->ifindex;
	nl_start(&req, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &ifa, sizeof(ifa));
	nl_put(&req, IFA_LOCAL, addr.bytes, addr.size);
	nl_put(&req, IFA_ADDRESS, addr.bytes, addr.size);
	nl_do(nodes[port->node].rt_fd, &req);
}

/* The device named by two words, "dev DEV", from @at on. */
static const struct port *route_port(int at)
{
	if (strcmp(line.word[at], "dev"))
		fail("'dev' expected, not '%s'", line.word[at]);
	return port_find(line.word[1], line.word[at + 1]);
}

static void put_gateway(struct request *req, int at)
{
	struct address addr = address(line.word[at]);

	if (strcmp(line.word[at - 1], "via"))
		fail("'via' expected, not '%s'", line.word[at - 1]);
	nl_put(req, RTA_GATEWAY, addr.bytes, addr.size);
}

/* Several "via ADDR dev DEV": an ECMP route with equal weights. */
static void put_next_hops(struct request *req)
{
	struct nlattr *hops = nl_nest(req, RTA_MULTIPATH);
	int at;

	for (at = 3; at < line.n; at += 4) {
		struct rtnexthop hop = { .rtnh_flags = RTNH_F_ONLINK };
		size_t start = NLMSG_ALIGN(req->nlh.nlmsg_len);
		struct rtnexthop *put = (struct rtnexthop *)(req->buffer + start);

		hop.rtnh_ifindex = route_port(at + 2)->ifindex;
		nl_append(req, &hop, sizeof(hop));
		put_gateway(req, at + 1);
		put->rtnh_len = NLMSG_ALIGN(req->nlh.nlmsg_len) - start;
	}
	nl_nest_end(req, hops);
}

/* route NODE PREFIX/LEN [via ADDR] dev DEV [via ADDR dev DEV]... */
void cmd_route(void)
{
	struct rtmsg rtm = {
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_type = RTN_UNICAST,
	};
	bool via = line.n > 3 && !strcmp(line.word[3], "via");
	struct address addr;
	struct request req;
	int length;

	need_words(via ? 6 : 4, via ? PLAN_WORDS_MAX - 1 : 4);
	if (via && (line.n - 3) % 4)
		fail("a next hop is 'via ADDR dev DEV'");
	addr = prefix(line.word[2], &length);
	rtm.rtm_family = addr.family;
	rtm.rtm_dst_len = length;
	rtm.rtm_scope = via ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
	rtm.rtm_flags = via ? RTNH_F_ONLINK : 0;
	nl_start(&req, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &rtm, sizeof(rtm));
	nl_put(&req, RTA_DST, addr.bytes, addr.size);
	if (via && line.n > 7) {
		put_next_hops(&req);
	} else {
		nl_put_u32(&req, RTA_OIF, route_port(via ? 5 : 3)->ifindex);
		if (via)
			put_gateway(&req, 4);
	}
	nl_do(nodes[node_index(line.word[1])].rt_fd, &req);
}

/* sysctl NODE KEY VALUE... */
void cmd_sysctl(void)
{
	char path[256], value[256] = "";
	int i;

	need_words(3, PLAN_WORDS_MAX);
	if (strstr(line.word[2], "..") ||
	    snprintf(path, sizeof(path), "/proc/sys/%s", line.word[2]) >=
	    (int)sizeof(path))
		fail("'%s' is not a sysctl", line.word[2]);
	for (i = strlen("/proc/sys/"); path[i]; i++)
		if (path[i] == '.')
			path[i] = '/';
	for (i = 3; i < line.n; i++) {
		size_t used = strlen(value);

		snprintf(value + used, sizeof(value) - used, "%s%s",
			 used ? " " : "", line.word[i]);
	}
	net_enter(node_index(line.word[1]));
	write_text(path, value);
}
