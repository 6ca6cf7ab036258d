// SPDX-License-Identifier: GPL-2.0
/*
 * tc class show: the flows a port deflects.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/pkt_sched_swport.h>

#include "q_swport.h"

/* An IPv6 address before a port must be in brackets. */
static void flow_print_end(const char *key, const char *port_key, struct rtattr *address,
			   struct rtattr *port)
{
	char text[INET6_ADDRSTRLEN];
	bool ipv4;

	if (!swport_has(address, 4) || !swport_has(port, sizeof(uint32_t)))
		return;
	ipv4 = RTA_PAYLOAD(address) < 16;
	if (!inet_ntop(ipv4 ? AF_INET : AF_INET6, RTA_DATA(address), text, sizeof(text)))
		return;
	print_color_string(PRINT_JSON, COLOR_NONE, key, NULL, text);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, ipv4 ? "%s" : "[%s]", text);
	print_color_u64(PRINT_ANY, COLOR_NONE, port_key, ":%" PRIu64 " ", swport_get_u32(port));
}

static void flow_print_protocol(struct rtattr *attr)
{
	uint32_t protocol;

	if (!swport_has(attr, sizeof(protocol)))
		return;
	protocol = swport_get_u32(attr);
	if (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP)
		print_color_string(PRINT_ANY, COLOR_NONE, "protocol", "%s ",
				   protocol == IPPROTO_TCP ? "tcp" : "udp");
}

static void flow_print_u64(const char *key, const char *fmt, struct rtattr *attr)
{
	if (swport_has(attr, sizeof(uint64_t)))
		print_color_u64(PRINT_ANY, COLOR_NONE, key, fmt, swport_get_u64(attr));
}

int swport_print_flow(struct qdisc_util *qu, FILE *f, struct rtattr *options)
{
	struct rtattr *tb[TCA_SWPORT_FLOW_MAX + 1];

	if (!options)
		return 0;
	swport_parse_nest(tb, TCA_SWPORT_FLOW_MAX, options);
	flow_print_protocol(tb[TCA_SWPORT_FLOW_PROTOCOL]);
	flow_print_end("src", "sport", tb[TCA_SWPORT_FLOW_SRC], tb[TCA_SWPORT_FLOW_SPORT]);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", ">");
	flow_print_end("dst", "dport", tb[TCA_SWPORT_FLOW_DST], tb[TCA_SWPORT_FLOW_DPORT]);
	swport_print_number("qp", "qp %" PRIu64 " ", tb[TCA_SWPORT_FLOW_QP]);
	swport_print_number("ttl", "ttl %" PRIu64 " ", tb[TCA_SWPORT_FLOW_TTL]);
	swport_print_via(tb[TCA_SWPORT_FLOW_VIA], "via_dev");
	if (swport_has(tb[TCA_SWPORT_FLOW_ENDED], sizeof(uint32_t)))
		print_color_string(PRINT_ANY, COLOR_NONE, "state", "%s ",
				   swport_get_u32(tb[TCA_SWPORT_FLOW_ENDED]) ? "ended" : "active");
	flow_print_u64("age_ns", "age %" PRIu64 "ns ", tb[TCA_SWPORT_FLOW_AGE]);
	flow_print_u64("idle_ns", "idle %" PRIu64 "ns ", tb[TCA_SWPORT_FLOW_IDLE]);
	flow_print_u64("pkts", "%" PRIu64 " pkts ", tb[TCA_SWPORT_FLOW_PKTS]);
	return 0;
}
