// SPDX-License-Identifier: GPL-2.0
/*
 * ports.out: counters of every NIC and its root qdisc.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../include/uapi/linux/pkt_sched_swport.h"
#include "../comparators/labexpress.h"
#include "../modules/quellnic_uapi.h"
#include "init.h"

__attribute__((format(printf, 2, 3)))
static void add(struct port *port, const char *fmt, ...)
{
	char *old = port->stats, *more;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&more, fmt, args) < 0)
		fail("out of memory");
	va_end(args);
	if (asprintf(&port->stats, "%s%s", old ?: "", more) < 0)
		fail("out of memory");
	free(old);
	free(more);
}

/* Priority flow control, of the priorities of which there was anything to count. */
static void add_pfc(struct port *port, const struct nlattr *xstats)
{
	static const struct quellnic_pfc_stats nothing;
	struct quellnic_pfc_stats stats;
	int i;

	for (i = 0; i < QUELLNIC_PFC_PRIORITIES; i++) {
		memcpy(&stats, (const char *)nl_data(xstats) + i * sizeof(stats), sizeof(stats));
		if (!memcmp(&stats, &nothing, sizeof(stats)))
			continue;
		add(port, " pfc%d_xoff_sent=%llu pfc%d_xon_sent=%llu pfc%d_xoff_received=%llu"
		    " pfc%d_xon_received=%llu pfc%d_paused_ns=%llu pfc%d_held_bytes=%llu"
		    " pfc%d_held_max_bytes=%llu pfc%d_headroom_max_bytes=%llu"
		    " pfc%d_drop_pkts=%llu", i, stats.xoff_sent, i, stats.xon_sent, i,
		    stats.xoff_received, i, stats.xon_received, i, stats.paused_ns, i,
		    stats.held_bytes, i, stats.held_max_bytes, i, stats.headroom_max_bytes, i,
		    stats.drop_pkts);
	}
}

/* Credits, of a card that hands them out. */
static void add_credit(struct port *port, const struct nlattr *xstats)
{
	struct quellnic_credit_stats stats;

	memcpy(&stats, nl_data(xstats), sizeof(stats));
	add(port, " credit_whole=%llu credit_trimmed=%llu credit_granted=%llu credit_pulls=%llu",
	    stats.whole_pkts, stats.trimmed_pkts, stats.granted_pkts, stats.pull_pkts);
}

static void each_link(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifinfomsg *ifm = NLMSG_DATA(nlh);
	const struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	struct port *port = port_by_ifindex(ifm->ifi_index);
	struct rtnl_link_stats64 stats;
	int header = NLMSG_SPACE(sizeof(*ifm));

	(void)arg;
	if (!port)
		return;
	nl_parse(tb, IFLA_MAX, (const char *)nlh + header,
		 nlh->nlmsg_len - header);
	if (!tb[IFLA_STATS64])
		fail("device '%s' shows no counters", port->name);
	memcpy(&stats, nl_data(tb[IFLA_STATS64]), sizeof(stats));
	add(port, " tx_packets=%" PRIu64 " tx_bytes=%" PRIu64
	    " rx_packets=%" PRIu64 " rx_bytes=%" PRIu64 " ring_drops=%" PRIu64
	    " rx_drops=%" PRIu64, (uint64_t)stats.tx_packets,
	    (uint64_t)stats.tx_bytes, (uint64_t)stats.rx_packets,
	    (uint64_t)stats.rx_bytes, (uint64_t)stats.tx_dropped,
	    (uint64_t)stats.rx_dropped);
	if (!tb[IFLA_LINKINFO])
		return;
	nl_parse(info, IFLA_INFO_MAX, nl_data(tb[IFLA_LINKINFO]), nl_len(tb[IFLA_LINKINFO]));
	if (!info[IFLA_INFO_XSTATS])
		return;
	if (nl_len(info[IFLA_INFO_XSTATS]) == sizeof(struct quellnic_credit_stats))
		add_credit(port, info[IFLA_INFO_XSTATS]);
	else
		add_pfc(port, info[IFLA_INFO_XSTATS]);
}

static void add_swport(struct port *port, const struct nlattr *app)
{
	const struct nlattr *tb[TCA_SWPORT_STATS_MAX + 1];
	int i;

	nl_parse(tb, TCA_SWPORT_STATS_MAX, nl_data(app), nl_len(app));
	for (i = 0; i <= TCA_SWPORT_STATS_MAX; i++) {
		uint64_t value = 0;

		if (!swport_stat_name(i))
			continue;
		/* The kernel leaves out zeros. */
		if (tb[i])
			memcpy(&value, nl_data(tb[i]), sizeof(value));
		add(port, " %s=%" PRIu64, swport_stat_name(i), value);
	}
}

/* Credits of ExpressPass at a port. */
static void add_labexpress(struct port *port, const struct nlattr *app)
{
	struct labexpress_stats stats;

	if (nl_len(app) != sizeof(stats))
		fail("qdisc of '%s': its counters have another form", port->name);
	memcpy(&stats, nl_data(app), sizeof(stats));
	add(port, " credit_pkts=%llu credit_drops=%llu data_backlog_max_bytes=%llu",
	    stats.credit_pkts, stats.credit_drop_pkts, stats.backlog_max_bytes);
}

/*
 * Of tc_*_xstats, the words of 32 bits that count marked packets, and their number.  CoDel counts
 * a packet that its AQM marked again by ce_threshold.  With a threshold below the target each is,
 * so the larger count is that of packets; above it, it is the least that there can be.
 */
static const struct {
	const char *kind;
	int word[2];
	int n;
} mark_words[] = {
	{ "red",	{ 3 },		1 },
	{ "codel",	{ 6, 8 },	2 },
	{ "fq_codel",	{ 3, 7 },	2 },
	{ "pie",	{ 9 },		1 },
	{ "fq",		{ 20 },		1 },
	{ "dualpi2",	{ 6 },		1 },	/* marks of the step are among them */
};

static uint32_t marks_of_cake(const struct nlattr *app)
{
	const struct nlattr *tb[TCA_CAKE_STATS_MAX + 1], *tins[TC_CAKE_MAX_TINS + 1];
	const struct nlattr *tin[TCA_CAKE_TIN_STATS_MAX + 1];
	uint32_t sum = 0, marks;
	int i;

	nl_parse(tb, TCA_CAKE_STATS_MAX, nl_data(app), nl_len(app));
	if (!tb[TCA_CAKE_STATS_TIN_STATS])
		return 0;
	nl_parse(tins, TC_CAKE_MAX_TINS, nl_data(tb[TCA_CAKE_STATS_TIN_STATS]),
		 nl_len(tb[TCA_CAKE_STATS_TIN_STATS]));
	for (i = 1; i <= TC_CAKE_MAX_TINS; i++) {
		if (!tins[i])
			continue;
		nl_parse(tin, TCA_CAKE_TIN_STATS_MAX, nl_data(tins[i]), nl_len(tins[i]));
		if (!tin[TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS])
			continue;
		memcpy(&marks, nl_data(tin[TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS]),
		       sizeof(marks));
		sum += marks;
	}
	return sum;
}

/* Packets that a qdisc of the kernel marked. */
static void add_marks(struct port *port, const char *kind, const struct nlattr *app)
{
	uint32_t most = 0, marks;
	size_t i;
	int k;

	if (!strcmp(kind, "cake")) {
		add(port, " mark_pkts=%" PRIu32, marks_of_cake(app));
		return;
	}
	for (i = 0; i < ARRAY_SIZE(mark_words); i++)
		if (!strcmp(kind, mark_words[i].kind))
			break;
	if (i == ARRAY_SIZE(mark_words))
		return;
	for (k = 0; k < mark_words[i].n; k++) {
		size_t offset = mark_words[i].word[k] * sizeof(marks);

		if (nl_len(app) < (int)(offset + sizeof(marks)))
			fail("qdisc of '%s': its counters have another form", port->name);
		memcpy(&marks, (const char *)nl_data(app) + offset, sizeof(marks));
		if (marks > most)
			most = marks;
	}
	add(port, " mark_pkts=%" PRIu32, most);
}

static void each_qdisc(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *tb[TCA_MAX + 1], *st[TCA_STATS_MAX + 1];
	const struct tcmsg *tcm = NLMSG_DATA(nlh);
	struct port *port = port_by_ifindex(tcm->tcm_ifindex);
	int header = NLMSG_SPACE(sizeof(*tcm));
	struct gnet_stats_basic basic = { 0 };
	struct gnet_stats_queue queue = { 0 };
	uint64_t packets;
	const char *kind;

	(void)arg;
	if (!port || tcm->tcm_parent != TC_H_ROOT)
		return;
	nl_parse(tb, TCA_MAX, (const char *)nlh + header,
		 nlh->nlmsg_len - header);
	if (!tb[TCA_KIND] || !tb[TCA_STATS2])
		fail("root qdisc of '%s' shows no counters", port->name);
	kind = nl_data(tb[TCA_KIND]);
	nl_parse(st, TCA_STATS_MAX, nl_data(tb[TCA_STATS2]),
		 nl_len(tb[TCA_STATS2]));
	if (st[TCA_STATS_BASIC])
		memcpy(&basic, nl_data(st[TCA_STATS_BASIC]), sizeof(basic));
	if (st[TCA_STATS_QUEUE])
		memcpy(&queue, nl_data(st[TCA_STATS_QUEUE]), sizeof(queue));
	packets = basic.packets;
	if (st[TCA_STATS_PKT64])
		memcpy(&packets, nl_data(st[TCA_STATS_PKT64]), sizeof(packets));
	add(port, " kind=%s bytes=%" PRIu64 " packets=%" PRIu64
	    " drops=%" PRIu32 " requeues=%" PRIu32 " backlog=%" PRIu32, kind,
	    (uint64_t)basic.bytes, packets, (uint32_t)queue.drops,
	    (uint32_t)queue.requeues, (uint32_t)queue.backlog);
	if (!strcmp(kind, "swport") && st[TCA_STATS_APP])
		add_swport(port, st[TCA_STATS_APP]);
	if (!strcmp(kind, LABEXPRESS_KIND) && st[TCA_STATS_APP])
		add_labexpress(port, st[TCA_STATS_APP]);
	if (st[TCA_STATS_APP])
		add_marks(port, kind, st[TCA_STATS_APP]);
}

static void collect_node(const struct node *node)
{
	struct ifinfomsg ifm = { .ifi_family = AF_UNSPEC };
	struct tcmsg tcm = { .tcm_family = AF_UNSPEC };
	struct request req;

	nl_start(&req, RTM_GETLINK, NLM_F_DUMP, &ifm, sizeof(ifm));
	nl_dump(node->rt_fd, &req, each_link, NULL);
	nl_start(&req, RTM_GETQDISC, NLM_F_DUMP, &tcm, sizeof(tcm));
	nl_dump(node->rt_fd, &req, each_qdisc, NULL);
}

/* Packets that switches sent on without asking for a route. */
#define SHORTCUT_PKTS	"/sys/module/quell_labnic/parameters/shortcut_pkts"

/* Query every namespace and write ports.out, in the order of the plan. */
void stats_collect(void)
{
	FILE *out = fopen(OUT_DIR "ports.out", "w");
	char text[32];
	int i;

	if (!out)
		fail("opening ports.out: %s", strerror(errno));
	for (i = 0; i < n_nodes; i++)
		collect_node(&nodes[i]);
	for (i = 0; i < n_ports; i++)
		fprintf(out, "%s %s%s\n", nodes[ports[i].node].name,
			ports[i].name, ports[i].stats ?: "");
	if (fclose(out))
		fail("writing ports.out: %s", strerror(errno));
	if (!access(SHORTCUT_PKTS, F_OK))
		say("quell-shortcut %d", atoi(read_text(SHORTCUT_PKTS, text, sizeof(text))));
}
