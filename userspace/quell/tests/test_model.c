// SPDX-License-Identifier: GPL-2.0
/*
 * Decoding of replies: those of this kernel, of older ones with fewer attributes, of newer ones
 * with more, malformed ones; and of error reports.
 */
#include <errno.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "model.h"
#include "nl.h"
#include "test.h"

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

TEST(cc_list_add__whole_cases)
{
	struct cc_list l = {};
	struct nlmsghdr *nlh = start();
	const struct param *p;

	mnl_attr_put_strz(nlh, QUELL_A_CC_NAME, "swift");
	put_param(nlh, "base-target", 5000);
	put_param(nlh, "hop-scale", 2000);
	mnl_attr_put_u32(nlh, QUELL_A_CC_FLOWS, 3);
	mnl_attr_put_u32(nlh, FAR_ATTR, 1);

	EXPECT_EQ(0, cc_list_add(&l, nlh))
		TH_LOG("cc_list_add__whole status");
	EXPECT_EQ(1, l.n)
		TH_LOG("cc_list_add__whole count");
	EXPECT_EQ(2, l.list[0].n_params)
		TH_LOG("cc_list_add__whole params");
	EXPECT_EQ(3, l.list[0].flows)
		TH_LOG("cc_list_add__whole flows");
	p = &l.list[0].params[1];
	EXPECT_TRUE(!strcmp(p->name, "hop-scale"))
		TH_LOG("cc_list_add__whole name '%s'", p->name);
	EXPECT_EQ(2000, p->value)
		TH_LOG("cc_list_add__whole value");
	EXPECT_EQ(20000, p->max)
		TH_LOG("cc_list_add__whole max");
	EXPECT_TRUE(HAVE(p, QUELL_A_PARAM_RANGE_MAX) && !HAVE(p, QUELL_A_PARAM_RANGE_MIN) &&
		    !HAVE(p, QUELL_A_PARAM_DEFAULT))
		TH_LOG("cc_list_add__absent_attributes");
	cc_list_free(&l);
	EXPECT_EQ(0, l.n)
		TH_LOG("cc_list_free__empties");
}

/* Integers of another width, strings without terminator. */
TEST(cc_list_add__other_widths_cases)
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

	EXPECT_EQ(0, cc_list_add(&l, nlh))
		TH_LOG("cc_list_add__other_widths status");
	EXPECT_TRUE(!strcmp(l.list[0].name, "swift"))
		TH_LOG("cc_list_add__unterminated '%s'", l.list[0].name);
	EXPECT_TRUE(!strcmp(l.list[0].params[0].name, "ai"))
		TH_LOG("cc_list_add__unterminated '%s'", l.list[0].params[0].name);
	EXPECT_EQ(77, l.list[0].params[0].value)
		TH_LOG("cc_list_add__u32_for_u64");
	EXPECT_EQ(QUELL_UNIT_BYTES, l.list[0].params[0].unit)
		TH_LOG("cc_list_add__u8_for_u32");
	cc_list_free(&l);
}

TEST(cc_list_add__malformed_cases)
{
	struct cc_list l = {};
	struct nlmsghdr *nlh = start();
	struct nlattr *nest;

	EXPECT_TRUE(cc_list_add(&l, nlh) == -EBADMSG)
		TH_LOG("cc_list_add__no_name");

	nlh = start();
	mnl_attr_put_strz(nlh, QUELL_A_CC_NAME, "swift");
	nest = mnl_attr_nest_start(nlh, QUELL_A_CC_PARAM);
	mnl_attr_put_u64(nlh, QUELL_A_PARAM_VALUE, 1);
	mnl_attr_nest_end(nlh, nest);
	EXPECT_TRUE(cc_list_add(&l, nlh) == -EBADMSG)
		TH_LOG("cc_list_add__param_without_name");

	nlh = start();
	mnl_attr_put_strz(nlh, QUELL_A_CC_NAME, "swift");
	mnl_attr_put(nlh, QUELL_A_CC_FLOWS, 3, "abc");
	EXPECT_TRUE(cc_list_add(&l, nlh) == -EBADMSG)
		TH_LOG("cc_list_add__three_byte_integer");

	nlh = start();
	mnl_attr_put_strz(nlh, QUELL_A_CC_NAME, "swift");
	mnl_attr_put_u64(nlh, QUELL_A_CC_FLOWS, 1ULL << 32);
	EXPECT_TRUE(cc_list_add(&l, nlh) == -EBADMSG)
		TH_LOG("cc_list_add__integer_too_wide");
	cc_list_free(&l);
}

TEST(flow_list_add__brief)
{
	struct flow_list l = {};
	struct nlmsghdr *nlh = start();
	struct nlattr *nest;

	mnl_attr_put_u64(nlh, QUELL_A_FLOW_COOKIE, 7);
	nest = mnl_attr_nest_start(nlh, QUELL_A_FLOW_COUNTER);
	mnl_attr_put_strz(nlh, QUELL_A_COUNTER_NAME, "rtos");
	mnl_attr_nest_end(nlh, nest);
	ASSERT_EQ(0, list_add(&brief_flow_kind, &l, nlh));
	EXPECT_EQ(7, l.list[0].cookie);
	EXPECT_EQ(0, l.list[0].counters.n);
	flow_list_free(&l);
}

TEST(flow_list_add__whole_cases)
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
	mnl_attr_put_strz(nlh, QUELL_A_FLOW_OPTION, "no-reply");
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

	EXPECT_EQ(0, flow_list_add(&l, nlh))
		TH_LOG("flow_list_add__whole status");
	EXPECT_EQ(0x1f, l.list[0].cookie)
		TH_LOG("flow_list_add__cookie");
	EXPECT_EQ(5201, l.list[0].dport)
		TH_LOG("flow_list_add__dport");
	EXPECT_TRUE(!memcmp(l.list[0].saddr, address, 4))
		TH_LOG("flow_list_add__saddr");
	EXPECT_TRUE(!strcmp(l.list[0].option, "no-reply"))
		TH_LOG("flow_list_add__option");
	EXPECT_EQ(1ULL << 40, l.list[0].remote_ns)
		TH_LOG("flow_list_add__remote_delay");
	EXPECT_EQ(255, l.list[0].record_hop)
		TH_LOG("flow_list_add__record_hop");
	EXPECT_EQ(12500000000ULL, l.list[0].record_bytes_ps)
		TH_LOG("flow_list_add__record_rate");
	EXPECT_EQ(1ULL << 31, l.list[0].record_queue_bytes)
		TH_LOG("flow_list_add__record_queue");
	EXPECT_EQ(64, l.list[0].entropies)
		TH_LOG("flow_list_add__entropies");
	EXPECT_EQ(15, l.list[0].tcp_int_hop)
		TH_LOG("flow_list_add__tcp_int_hop");
	EXPECT_EQ(50000000000ULL, l.list[0].tcp_int_bytes_ps)
		TH_LOG("flow_list_add__tcp_int_rate");
	EXPECT_EQ(125000000, l.list[0].tcp_int_available_bytes_ps)
		TH_LOG("flow_list_add__tcp_int_available");
	EXPECT_EQ(1040384, l.list[0].tcp_int_queue_bytes)
		TH_LOG("flow_list_add__tcp_int_queue");
	EXPECT_EQ(2147418112, l.list[0].tcp_int_latency_ns)
		TH_LOG("flow_list_add__tcp_int_latency");
	EXPECT_EQ(1, l.list[0].counters.n)
		TH_LOG("flow_list_add__counters");
	EXPECT_EQ(4, l.list[0].counters.list[0].value)
		TH_LOG("flow_list_add__counter_value");

	nlh = start();
	mnl_attr_put(nlh, QUELL_A_FLOW_SADDR, 5, "12345");
	EXPECT_TRUE(flow_list_add(&l, nlh) == -EBADMSG)
		TH_LOG("flow_list_add__five_byte_address");
	flow_list_free(&l);
}

TEST(stat_list_add__whole_cases)
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

	EXPECT_EQ(0, stat_list_add(&l, nlh))
		TH_LOG("stat_list_add__whole status");
	EXPECT_EQ(UINT64_MAX, l.list[0].counters.list[0].value)
		TH_LOG("stat_list_add__value");
	EXPECT_TRUE(!strcmp(l.list[0].counters.list[0].doc, "why"))
		TH_LOG("stat_list_add__doc");
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

static void check_report(struct __test_metadata *_metadata, const char *name,
			 const struct nlmsghdr *nlh)
{
	struct nl_error err;

	nl_parse_error(nlh, &err);
	EXPECT_TRUE(err.code == ERANGE && !strcmp(err.text, "value out of range") &&
		    err.has_offset && err.offset == 28)
		TH_LOG("nl_parse_error__%s: %d '%s' at %u", name, err.code, err.text, err.offset);
}

TEST(nl_parse_error__reports_cases)
{
	struct nlmsghdr *nlh;
	struct nl_error err;
	int code = -EINVAL;

	check_report(_metadata, "capped", error_report(true, 60));
	check_report(_metadata, "with_request", error_report(false, 60));
	check_report(_metadata, "with_unaligned_request", error_report(false, 61));

	nlh = error_report(true, 60);
	nlh->nlmsg_flags = 0;
	nl_parse_error(nlh, &err);
	EXPECT_TRUE(err.code == ERANGE && !*err.text && !err.has_offset)
		TH_LOG("nl_parse_error__old_kernel");

	nlh = error_report(false, 60);
	((struct nlmsgerr *)mnl_nlmsg_get_payload(nlh))->msg.nlmsg_len = 0x7fffffff;
	nl_parse_error(nlh, &err);
	EXPECT_TRUE(err.code == ERANGE && !*err.text)
		TH_LOG("nl_parse_error__absurd_length");

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = NLMSG_DONE;
	nlh->nlmsg_flags = NLM_F_ACK_TLVS;
	memcpy(mnl_nlmsg_put_extra_header(nlh, sizeof(code)), &code, sizeof(code));
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "dump refused");
	nl_parse_error(nlh, &err);
	EXPECT_TRUE(err.code == EINVAL && !strcmp(err.text, "dump refused"))
		TH_LOG("nl_parse_error__done");

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = NLMSG_ERROR;
	nl_parse_error(nlh, &err);
	EXPECT_TRUE(err.code == EBADMSG)
		TH_LOG("nl_parse_error__cut_short");
}

static void put_group(struct nlmsghdr *nlh, const char *name, uint32_t uid)
{
	mnl_attr_put_strz(nlh, QUELL_A_LOOKAHEAD_NAME, name);
	mnl_attr_put_u32(nlh, QUELL_A_LOOKAHEAD_UID, uid);
	mnl_attr_put_u32(nlh, QUELL_A_LOOKAHEAD_IFINDEX, 7);
	mnl_attr_put_u64(nlh, QUELL_A_LOOKAHEAD_TIME, 1000000);
	mnl_attr_put_u32(nlh, QUELL_A_LOOKAHEAD_MEMBERS, 3);
	mnl_attr_put_u32(nlh, QUELL_A_LOOKAHEAD_WAITING, 2);
}

/* A group in two messages, and one of another user that has the same name. */
TEST(lookahead_list_add__continued_cases)
{
	static const uint8_t v4[3][4] = { { 10, 0, 0, 1 }, { 10, 0, 0, 2 }, { 10, 0, 0, 3 } };
	static const uint8_t v6[16] = { 0xfd };
	struct lookahead_list l = {};
	struct nlmsghdr *nlh = start();

	put_group(nlh, "workers", 1000);
	mnl_attr_put(nlh, QUELL_A_LOOKAHEAD_MEMBER, sizeof(v4[0]), v4[0]);
	mnl_attr_put(nlh, QUELL_A_LOOKAHEAD_MEMBER, sizeof(v6), v6);
	mnl_attr_put_u32(nlh, FAR_ATTR, 1);
	EXPECT_EQ(0, lookahead_list_add(&l, nlh));
	nlh = start();
	put_group(nlh, "workers", 1000);
	mnl_attr_put(nlh, QUELL_A_LOOKAHEAD_MEMBER, sizeof(v4[1]), v4[1]);
	EXPECT_EQ(0, lookahead_list_add(&l, nlh));
	nlh = start();
	put_group(nlh, "workers", 1001);
	mnl_attr_put(nlh, QUELL_A_LOOKAHEAD_MEMBER, sizeof(v4[2]), v4[2]);
	EXPECT_EQ(0, lookahead_list_add(&l, nlh));

	ASSERT_EQ(2, l.n);
	ASSERT_EQ(3, l.list[0].n_members);
	EXPECT_EQ(4, l.list[0].members[0].len);
	EXPECT_EQ(16, l.list[0].members[1].len);
	EXPECT_EQ(0, memcmp(l.list[0].members[1].bytes, v6, sizeof(v6)));
	EXPECT_EQ(2, l.list[0].members[2].bytes[3]);
	EXPECT_EQ(1000, l.list[0].uid);
	EXPECT_EQ(7, l.list[0].ifindex);
	EXPECT_EQ(1000000, l.list[0].time_ns);
	EXPECT_EQ(2, l.list[0].waiting);
	ASSERT_EQ(1, l.list[1].n_members);
	EXPECT_EQ(3, l.list[1].members[0].bytes[3]);
	lookahead_list_free(&l);
	EXPECT_EQ(0, l.n);
}

TEST(dart_lists__malformed_cases)
{
	struct lookahead_list groups = {};
	struct receiver_list receivers = {};
	struct sender_list senders = {};
	struct nlmsghdr *nlh = start();

	EXPECT_EQ(-EBADMSG, lookahead_list_add(&groups, nlh));
	EXPECT_EQ(-EBADMSG, sender_list_add(&senders, nlh));
	EXPECT_EQ(-EBADMSG, receiver_list_add(&receivers, nlh));
	lookahead_list_free(&groups);

	nlh = start();
	mnl_attr_put_strz(nlh, QUELL_A_LOOKAHEAD_NAME, "workers");
	mnl_attr_put(nlh, QUELL_A_LOOKAHEAD_MEMBER, 5, "abcde");
	EXPECT_EQ(-EBADMSG, lookahead_list_add(&groups, nlh));
	lookahead_list_free(&groups);

	nlh = start();
	mnl_attr_put(nlh, QUELL_A_SENDER_ADDRESS, 0, "");
	EXPECT_EQ(-EBADMSG, sender_list_add(&senders, nlh));
	sender_list_free(&senders);
	receiver_list_free(&receivers);
}

TEST(sender_list_add__whole_cases)
{
	static const uint8_t v4[4] = { 10, 0, 0, 1 };
	struct receiver_list receivers = {};
	struct sender_list senders = {};
	struct nlmsghdr *nlh = start();

	mnl_attr_put_u32(nlh, QUELL_A_SENDER_IFINDEX, 3);
	mnl_attr_put(nlh, QUELL_A_SENDER_ADDRESS, sizeof(v4), v4);
	mnl_attr_put_u32(nlh, QUELL_A_SENDER_WEIGHT, 255);
	mnl_attr_put_u32(nlh, QUELL_A_SENDER_CONNECTIONS, 2);
	mnl_attr_put_u32(nlh, QUELL_A_SENDER_WAITING, 1);
	EXPECT_EQ(0, sender_list_add(&senders, nlh));
	ASSERT_EQ(1, senders.n);
	EXPECT_EQ(3, senders.list[0].ifindex);
	EXPECT_EQ(4, senders.list[0].address.len);
	EXPECT_EQ(255, senders.list[0].weight);
	EXPECT_EQ(2, senders.list[0].connections);
	EXPECT_EQ(1, senders.list[0].waiting);

	nlh = start();
	mnl_attr_put_u32(nlh, QUELL_A_RECEIVER_IFINDEX, 3);
	mnl_attr_put_strz(nlh, QUELL_A_RECEIVER_STATE, "non-receiver");
	mnl_attr_put_u32(nlh, QUELL_A_RECEIVER_SENDERS, 2);
	mnl_attr_put_u64(nlh, QUELL_A_RECEIVER_WEIGHT, 256);
	mnl_attr_put_u64(nlh, QUELL_A_RECEIVER_RATE, 1ULL << 33);
	EXPECT_EQ(0, receiver_list_add(&receivers, nlh));
	ASSERT_EQ(1, receivers.n);
	EXPECT_EQ(0, strcmp("non-receiver", receivers.list[0].state));
	EXPECT_EQ(2, receivers.list[0].senders);
	EXPECT_EQ(256, receivers.list[0].weight);
	EXPECT_EQ(1ULL << 33, receivers.list[0].bytes_ps);
	sender_list_free(&senders);
	receiver_list_free(&receivers);
}

TEST_HARNESS_MAIN
