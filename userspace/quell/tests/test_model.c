// SPDX-License-Identifier: GPL-2.0
/*
 * Decoding of replies: what this kernel sends, what an older one leaves out,
 * what a newer one adds, and what none may send; and of error reports.
 */
#include <errno.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "model.h"
#include "nl.h"
#include "tap.h"

#define UNKNOWN_ATTR	31
#define FAR_ATTR	4000

static char buffer[NL_BUFFER_LEN] __attribute__((aligned(8)));

static struct nlmsghdr *start(void)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

	mnl_nlmsg_put_extra_header(nlh, sizeof(struct genlmsghdr));
	return nlh;
}

static void put_param(struct nlmsghdr *nlh, const char *name, uint64_t value)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, QUELL_A_CC_PARAM);

	mnl_attr_put_strz(nlh, QUELL_A_PARAM_NAME, name);
	mnl_attr_put_u64(nlh, QUELL_A_PARAM_VALUE, value);
	mnl_attr_put_u64(nlh, QUELL_A_PARAM_RANGE_MAX, 10 * value);
	mnl_attr_put_u32(nlh, QUELL_A_PARAM_UNIT, QUELL_UNIT_NS);
	mnl_attr_put_strz(nlh, UNKNOWN_ATTR, "from the future");
	mnl_attr_nest_end(nlh, nest);
}

static void cc_list_add__whole(void)
{
	struct cc_list l = {};
	struct nlmsghdr *nlh = start();
	const struct param *p;

	mnl_attr_put_strz(nlh, QUELL_A_CC_NAME, "swift");
	put_param(nlh, "base-target", 5000);
	put_param(nlh, "hop-scale", 2000);
	mnl_attr_put_u32(nlh, QUELL_A_CC_FLOWS, 3);
	mnl_attr_put_u32(nlh, FAR_ATTR, 1);

	tap_equal_u64(cc_list_add(&l, nlh), 0, "cc_list_add__whole status");
	tap_equal_u64(l.n, 1, "cc_list_add__whole count");
	tap_equal_u64(l.list[0].n_params, 2, "cc_list_add__whole params");
	tap_equal_u64(l.list[0].flows, 3, "cc_list_add__whole flows");
	p = &l.list[0].params[1];
	tap_ok(!strcmp(p->name, "hop-scale"), "cc_list_add__whole name '%s'", p->name);
	tap_equal_u64(p->value, 2000, "cc_list_add__whole value");
	tap_equal_u64(p->max, 20000, "cc_list_add__whole max");
	tap_ok(HAVE(p, QUELL_A_PARAM_RANGE_MAX) && !HAVE(p, QUELL_A_PARAM_RANGE_MIN) &&
	       !HAVE(p, QUELL_A_PARAM_DEFAULT), "cc_list_add__absent_attributes");
	cc_list_free(&l);
	tap_equal_u64(l.n, 0, "cc_list_free__empties");
}

/* Integers of another width, strings without terminator. */
static void cc_list_add__other_widths(void)
{
	struct cc_list l = {};
	struct nlmsghdr *nlh = start();
	struct nlattr *nest;

	mnl_attr_put(nlh, QUELL_A_CC_NAME, 5, "swift-and-more");
	nest = mnl_attr_nest_start(nlh, QUELL_A_CC_PARAM);
	mnl_attr_put(nlh, QUELL_A_PARAM_NAME, 2, "aiXXX");
	mnl_attr_put_u32(nlh, QUELL_A_PARAM_VALUE, 77);
	mnl_attr_put_u8(nlh, QUELL_A_PARAM_UNIT, QUELL_UNIT_BYTES);
	mnl_attr_nest_end(nlh, nest);

	tap_equal_u64(cc_list_add(&l, nlh), 0, "cc_list_add__other_widths status");
	tap_ok(!strcmp(l.list[0].name, "swift"), "cc_list_add__unterminated '%s'",
	       l.list[0].name);
	tap_ok(!strcmp(l.list[0].params[0].name, "ai"), "cc_list_add__unterminated '%s'",
	       l.list[0].params[0].name);
	tap_equal_u64(l.list[0].params[0].value, 77, "cc_list_add__u32_for_u64");
	tap_equal_u64(l.list[0].params[0].unit, QUELL_UNIT_BYTES, "cc_list_add__u8_for_u32");
	cc_list_free(&l);
}

static void cc_list_add__malformed(void)
{
	struct cc_list l = {};
	struct nlmsghdr *nlh = start();
	struct nlattr *nest;

	tap_ok(cc_list_add(&l, nlh) == -EBADMSG, "cc_list_add__no_name");

	nlh = start();
	mnl_attr_put_strz(nlh, QUELL_A_CC_NAME, "swift");
	nest = mnl_attr_nest_start(nlh, QUELL_A_CC_PARAM);
	mnl_attr_put_u64(nlh, QUELL_A_PARAM_VALUE, 1);
	mnl_attr_nest_end(nlh, nest);
	tap_ok(cc_list_add(&l, nlh) == -EBADMSG, "cc_list_add__param_without_name");

	nlh = start();
	mnl_attr_put_strz(nlh, QUELL_A_CC_NAME, "swift");
	mnl_attr_put(nlh, QUELL_A_CC_FLOWS, 3, "abc");
	tap_ok(cc_list_add(&l, nlh) == -EBADMSG, "cc_list_add__three_byte_integer");

	nlh = start();
	mnl_attr_put_strz(nlh, QUELL_A_CC_NAME, "swift");
	mnl_attr_put_u64(nlh, QUELL_A_CC_FLOWS, 1ULL << 32);
	tap_ok(cc_list_add(&l, nlh) == -EBADMSG, "cc_list_add__integer_too_wide");
	cc_list_free(&l);
}

static void flow_list_add__whole(void)
{
	static const uint8_t address[4] = { 10, 0, 0, 1 };
	struct flow_list l = {};
	struct nlmsghdr *nlh = start();
	struct nlattr *nest;

	mnl_attr_put_u64(nlh, QUELL_A_FLOW_COOKIE, 0x1f);
	mnl_attr_put_u16(nlh, QUELL_A_FLOW_FAMILY, 2);
	mnl_attr_put(nlh, QUELL_A_FLOW_SADDR, sizeof(address), address);
	mnl_attr_put_u16(nlh, QUELL_A_FLOW_DPORT, 5201);
	mnl_attr_put_strz(nlh, QUELL_A_FLOW_LIMITED_BY, "window");
	mnl_attr_put_strz(nlh, QUELL_A_FLOW_OPTION, "no-answer");
	mnl_attr_put_u64(nlh, QUELL_A_FLOW_REMOTE_DELAY, 1ULL << 40);
	mnl_attr_put_u32(nlh, QUELL_A_FLOW_RECORD_HOP, 255);
	mnl_attr_put_u64(nlh, QUELL_A_FLOW_RECORD_RATE, 12500000000ULL);
	mnl_attr_put_u64(nlh, QUELL_A_FLOW_RECORD_QUEUE, 1ULL << 31);
	mnl_attr_put_u32(nlh, QUELL_A_FLOW_ENTROPIES, 64);
	mnl_attr_put_u32(nlh, QUELL_A_FLOW_TCP_INT_HOP, 15);
	mnl_attr_put_u64(nlh, QUELL_A_FLOW_TCP_INT_RATE, 50000000000ULL);
	mnl_attr_put_u64(nlh, QUELL_A_FLOW_TCP_INT_AVAILABLE, 125000000);
	mnl_attr_put_u64(nlh, QUELL_A_FLOW_TCP_INT_QUEUE, 1040384);
	mnl_attr_put_u64(nlh, QUELL_A_FLOW_TCP_INT_LATENCY, 2147418112);
	nest = mnl_attr_nest_start(nlh, QUELL_A_FLOW_COUNTER);
	mnl_attr_put_strz(nlh, QUELL_A_COUNTER_NAME, "rtos");
	mnl_attr_put_u64(nlh, QUELL_A_COUNTER_VALUE, 4);
	mnl_attr_nest_end(nlh, nest);

	tap_equal_u64(flow_list_add(&l, nlh), 0, "flow_list_add__whole status");
	tap_equal_u64(l.list[0].cookie, 0x1f, "flow_list_add__cookie");
	tap_equal_u64(l.list[0].dport, 5201, "flow_list_add__dport");
	tap_ok(!memcmp(l.list[0].saddr, address, 4), "flow_list_add__saddr");
	tap_ok(!strcmp(l.list[0].option, "no-answer"), "flow_list_add__option");
	tap_equal_u64(l.list[0].remote_ns, 1ULL << 40, "flow_list_add__remote_delay");
	tap_equal_u64(l.list[0].record_hop, 255, "flow_list_add__record_hop");
	tap_equal_u64(l.list[0].record_bytes_ps, 12500000000ULL, "flow_list_add__record_rate");
	tap_equal_u64(l.list[0].record_queue_bytes, 1ULL << 31, "flow_list_add__record_queue");
	tap_equal_u64(l.list[0].entropies, 64, "flow_list_add__entropies");
	tap_equal_u64(l.list[0].tcp_int_hop, 15, "flow_list_add__tcp_int_hop");
	tap_equal_u64(l.list[0].tcp_int_bytes_ps, 50000000000ULL, "flow_list_add__tcp_int_rate");
	tap_equal_u64(l.list[0].tcp_int_available_bytes_ps, 125000000,
		      "flow_list_add__tcp_int_available");
	tap_equal_u64(l.list[0].tcp_int_queue_bytes, 1040384, "flow_list_add__tcp_int_queue");
	tap_equal_u64(l.list[0].tcp_int_latency_ns, 2147418112, "flow_list_add__tcp_int_latency");
	tap_equal_u64(l.list[0].counters.n, 1, "flow_list_add__counters");
	tap_equal_u64(l.list[0].counters.list[0].value, 4, "flow_list_add__counter_value");

	nlh = start();
	mnl_attr_put(nlh, QUELL_A_FLOW_SADDR, 5, "12345");
	tap_ok(flow_list_add(&l, nlh) == -EBADMSG, "flow_list_add__five_byte_address");
	flow_list_free(&l);
}

static void stat_list_add__whole(void)
{
	struct stat_list l = {};
	struct nlmsghdr *nlh = start();
	struct nlattr *nest;

	mnl_attr_put_strz(nlh, QUELL_A_STAT_NAME, "quell");
	nest = mnl_attr_nest_start(nlh, QUELL_A_STAT_COUNTER);
	mnl_attr_put_strz(nlh, QUELL_A_COUNTER_NAME, "rtt-ring-overrun");
	mnl_attr_put_u64(nlh, QUELL_A_COUNTER_VALUE, UINT64_MAX);
	mnl_attr_put_strz(nlh, QUELL_A_COUNTER_DOC, "why");
	mnl_attr_nest_end(nlh, nest);

	tap_equal_u64(stat_list_add(&l, nlh), 0, "stat_list_add__whole status");
	tap_equal_u64(l.list[0].counters.list[0].value, UINT64_MAX, "stat_list_add__value");
	tap_ok(!strcmp(l.list[0].counters.list[0].doc, "why"), "stat_list_add__doc");
	stat_list_free(&l);
}

/* The kernel's report on @request of @request_len bytes, capped or with its copy. */
static struct nlmsghdr *error_report(bool capped, size_t request_len)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct nlmsgerr *report;

	nlh->nlmsg_type = NLMSG_ERROR;
	nlh->nlmsg_flags = NLM_F_ACK_TLVS | (capped ? NLM_F_CAPPED : 0);
	report = mnl_nlmsg_put_extra_header(nlh, sizeof(*report));
	report->error = -ERANGE;
	report->msg.nlmsg_len = request_len;
	if (!capped)
		memset(mnl_nlmsg_put_extra_header(nlh, request_len - sizeof(report->msg)),
		       0xff, request_len - sizeof(report->msg));
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "value out of range");
	mnl_attr_put_u32(nlh, NLMSGERR_ATTR_OFFS, 28);
	return nlh;
}

static void check_report(const char *name, const struct nlmsghdr *nlh)
{
	struct nl_error err;

	nl_parse_error(nlh, &err);
	tap_ok(err.code == ERANGE && !strcmp(err.text, "value out of range") &&
	       err.has_offset && err.offset == 28,
	       "nl_parse_error__%s: %d '%s' at %u", name, err.code, err.text, err.offset);
}

static void nl_parse_error__reports(void)
{
	struct nlmsghdr *nlh;
	struct nl_error err;
	int code = -EINVAL;

	check_report("capped", error_report(true, 60));
	check_report("with_request", error_report(false, 60));
	check_report("with_unaligned_request", error_report(false, 61));

	nlh = error_report(true, 60);
	nlh->nlmsg_flags = 0;
	nl_parse_error(nlh, &err);
	tap_ok(err.code == ERANGE && !*err.text && !err.has_offset,
	       "nl_parse_error__old_kernel");

	nlh = error_report(false, 60);
	((struct nlmsgerr *)mnl_nlmsg_get_payload(nlh))->msg.nlmsg_len = 0x7fffffff;
	nl_parse_error(nlh, &err);
	tap_ok(err.code == ERANGE && !*err.text, "nl_parse_error__absurd_length");

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = NLMSG_DONE;
	nlh->nlmsg_flags = NLM_F_ACK_TLVS;
	memcpy(mnl_nlmsg_put_extra_header(nlh, sizeof(code)), &code, sizeof(code));
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "dump refused");
	nl_parse_error(nlh, &err);
	tap_ok(err.code == EINVAL && !strcmp(err.text, "dump refused"),
	       "nl_parse_error__done");

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = NLMSG_ERROR;
	nl_parse_error(nlh, &err);
	tap_ok(err.code == EBADMSG, "nl_parse_error__cut_short");
}

int main(void)
{
	cc_list_add__whole();
	cc_list_add__other_widths();
	cc_list_add__malformed();
	flow_list_add__whole();
	stat_list_add__whole();
	nl_parse_error__reports();
	return tap_done();
}
