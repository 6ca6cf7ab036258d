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
#include "util.h"
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

	EXPECT_EQ(0, cc_list_add(&l, nlh));
	EXPECT_EQ(1, l.n);
	EXPECT_EQ(2, l.list[0].n_params);
	EXPECT_EQ(3, l.list[0].flows);
	p = &l.list[0].params[1];
	EXPECT_TRUE(!strcmp(p->name, "hop-scale"));
	EXPECT_EQ(2000, p->value);
	EXPECT_EQ(20000, p->max);
	EXPECT_TRUE(HAVE(p, QUELL_A_PARAM_RANGE_MAX) && !HAVE(p, QUELL_A_PARAM_RANGE_MIN) &&
		    !HAVE(p, QUELL_A_PARAM_DEFAULT));
	cc_list_free(&l);
	EXPECT_EQ(0, l.n);
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

	EXPECT_EQ(0, cc_list_add(&l, nlh));
	EXPECT_TRUE(!strcmp(l.list[0].name, "swift"));
	EXPECT_TRUE(!strcmp(l.list[0].params[0].name, "ai"));
	EXPECT_EQ(77, l.list[0].params[0].value);
	EXPECT_EQ(QUELL_UNIT_BYTES, l.list[0].params[0].unit);
	cc_list_free(&l);
}

TEST(cc_list_add__malformed_cases)
{
	static const struct {
		bool	has_name, has_param;
		size_t	flows_bytes;
	} rows[] = {
		{ false, false, 4 }, { true, true, 4 }, { true, false, 3 },
		{ true, false, 8 },	/* more than 32 bits */
	};
	struct cc_list l = {};
	struct nlmsghdr *nlh;
	struct nlattr *nest;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		nlh = start();
		if (rows[i].has_name)
			mnl_attr_put_strz(nlh, QUELL_A_CC_NAME, "swift");
		nest = rows[i].has_param ? mnl_attr_nest_start(nlh, QUELL_A_CC_PARAM) : NULL;
		if (nest) {
			mnl_attr_put_u64(nlh, QUELL_A_PARAM_VALUE, 1);	/* without its name */
			mnl_attr_nest_end(nlh, nest);
		}
		mnl_attr_put(nlh, QUELL_A_CC_FLOWS, rows[i].flows_bytes, "1234567");
		expect_eq(-EBADMSG, cc_list_add(&l, nlh), "row %zu", i);
	}
	cc_list_free(&l);
}

/* Numbers of an entry: attribute, bytes as sent, value, where it is stored and in how many. */
struct number {
	uint16_t	attr;
	uint8_t		sent;
	uint64_t	value;
	size_t		offset;
	size_t		bytes;
};

#define NUMBER(type_, attr_, sent_, value_, member_)				\
	{ attr_, sent_, value_, offsetof(struct type_, member_), sizeof(((struct type_ *)0)->member_) }
#define FLOW(attr_, sent_, value_, member_) \
	NUMBER(flow, QUELL_A_FLOW_##attr_, sent_, value_, member_)

static void put_numbers(struct nlmsghdr *nlh, const struct number *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		mnl_attr_put(nlh, rows[i].attr, rows[i].sent, &rows[i].value);
}

static void check_numbers(struct __test_metadata *_metadata, const void *entry,
			  const struct number *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t got = 0;

		memcpy(&got, (const char *)entry + rows[i].offset, rows[i].bytes);
		expect_eq(rows[i].value, got, "attribute %u", rows[i].attr);
	}
}

TEST(flow_list_add__cases)
{
	static const struct number rows[] = {
		FLOW(COOKIE, 8, 0x1f, cookie),
		FLOW(FAMILY, 2, 2, family),
		FLOW(DPORT, 2, 5201, dport),
		FLOW(REMOTE_DELAY, 8, 1ULL << 40, remote_ns),
		FLOW(RECORD_HOP, 4, 255, record_hop),
		FLOW(RECORD_RATE, 8, 12500000000ULL, record_bytes_ps),
		FLOW(RECORD_QUEUE, 8, 1ULL << 31, record_queue_bytes),
		FLOW(ENTROPIES, 4, 64, entropies),
		FLOW(TCP_INT_HOP, 1, 15, tcp_int_hop),
		FLOW(TCP_INT_RATE, 8, 50000000000ULL, tcp_int_bytes_ps),
		FLOW(TCP_INT_AVAILABLE, 4, 125000000, tcp_int_available_bytes_ps),
		FLOW(TCP_INT_QUEUE, 8, 1040384, tcp_int_queue_bytes),
		FLOW(TCP_INT_LATENCY, 8, 2147418112, tcp_int_latency_ns),
	};
	static const uint8_t address[4] = { 10, 0, 0, 1 };
	struct flow_list l = {}, brief = {};
	struct nlmsghdr *nlh = start();
	struct nlattr *nest;

	put_numbers(nlh, rows, ARRAY_SIZE(rows));
	mnl_attr_put(nlh, QUELL_A_FLOW_SADDR, sizeof(address), address);
	mnl_attr_put_strz(nlh, QUELL_A_FLOW_OPTION, "no-reply");
	nest = mnl_attr_nest_start(nlh, QUELL_A_FLOW_COUNTER);
	mnl_attr_put_strz(nlh, QUELL_A_COUNTER_NAME, "rtos");
	mnl_attr_put_u64(nlh, QUELL_A_COUNTER_VALUE, 4);
	mnl_attr_put_strz(nlh, QUELL_A_COUNTER_DOC, "not stored for each flow");
	mnl_attr_nest_end(nlh, nest);

	EXPECT_EQ(0, flow_list_add(&l, nlh));
	check_numbers(_metadata, &l.list[0], rows, ARRAY_SIZE(rows));
	EXPECT_EQ(0, memcmp(l.list[0].saddr, address, 4));
	EXPECT_STREQ("no-reply", l.list[0].option);
	ASSERT_EQ(1, l.list[0].counters.n);
	EXPECT_EQ(4, l.list[0].counters.list[0].value);
	EXPECT_EQ(NULL, l.list[0].counters.list[0].doc);
	EXPECT_EQ(0, list_add(&brief_flow_kind, &brief, nlh));
	EXPECT_EQ(0x1f, brief.list[0].cookie);
	EXPECT_EQ(0, brief.list[0].counters.n);
	flow_list_free(&brief);

	nlh = start();
	mnl_attr_put(nlh, QUELL_A_FLOW_SADDR, 5, "12345");
	expect_eq(-EBADMSG, flow_list_add(&l, nlh), "an address of five bytes");
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

	EXPECT_EQ(0, stat_list_add(&l, nlh));
	EXPECT_EQ(UINT64_MAX, l.list[0].counters.list[0].value);
	EXPECT_TRUE(!strcmp(l.list[0].counters.list[0].doc, "why"));
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
	expect(err.code == ERANGE && !strcmp(err.text, "value out of range") && err.has_offset &&
		       err.offset == 28,
	       "%s: %d '%s' at %u", name, err.code, err.text, err.offset);
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
	expect(err.code == ERANGE && !*err.text && !err.has_offset, "old_kernel");

	nlh = error_report(false, 60);
	((struct nlmsgerr *)mnl_nlmsg_get_payload(nlh))->msg.nlmsg_len = 0x7fffffff;
	nl_parse_error(nlh, &err);
	expect(err.code == ERANGE && !*err.text, "absurd_length");

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = NLMSG_DONE;
	nlh->nlmsg_flags = NLM_F_ACK_TLVS;
	memcpy(mnl_nlmsg_put_extra_header(nlh, sizeof(code)), &code, sizeof(code));
	mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, "dump refused");
	nl_parse_error(nlh, &err);
	expect(err.code == EINVAL && !strcmp(err.text, "dump refused"), "done");

	nlh = mnl_nlmsg_put_header(buffer);
	nlh->nlmsg_type = NLMSG_ERROR;
	nl_parse_error(nlh, &err);
	expect(err.code == EBADMSG, "cut_short");
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

TEST(sender_list_add__cases)
{
	static const struct number sender[] = {
		NUMBER(sender, QUELL_A_SENDER_IFINDEX, 4, 3, ifindex),
		NUMBER(sender, QUELL_A_SENDER_WEIGHT, 4, 255, weight),
		NUMBER(sender, QUELL_A_SENDER_CONNECTIONS, 4, 2, connections),
		NUMBER(sender, QUELL_A_SENDER_WAITING, 4, 1, waiting),
	};
	static const struct number receiver[] = {
		NUMBER(receiver, QUELL_A_RECEIVER_IFINDEX, 4, 3, ifindex),
		NUMBER(receiver, QUELL_A_RECEIVER_SENDERS, 4, 2, senders),
		NUMBER(receiver, QUELL_A_RECEIVER_WEIGHT, 8, 256, weight),
		NUMBER(receiver, QUELL_A_RECEIVER_RATE, 8, 1ULL << 33, bytes_ps),
	};
	static const uint8_t v4[4] = { 10, 0, 0, 1 };
	struct receiver_list receivers = {};
	struct sender_list senders = {};
	struct nlmsghdr *nlh = start();

	put_numbers(nlh, sender, ARRAY_SIZE(sender));
	mnl_attr_put(nlh, QUELL_A_SENDER_ADDRESS, sizeof(v4), v4);
	ASSERT_EQ(0, sender_list_add(&senders, nlh));
	check_numbers(_metadata, senders.list, sender, ARRAY_SIZE(sender));
	EXPECT_EQ(4, senders.list[0].address.len);

	nlh = start();
	put_numbers(nlh, receiver, ARRAY_SIZE(receiver));
	mnl_attr_put_strz(nlh, QUELL_A_RECEIVER_STATE, "non-receiver");
	ASSERT_EQ(0, receiver_list_add(&receivers, nlh));
	check_numbers(_metadata, receivers.list, receiver, ARRAY_SIZE(receiver));
	EXPECT_STREQ("non-receiver", receivers.list[0].state);
	sender_list_free(&senders);
	receiver_list_free(&receivers);
}

TEST_HARNESS_MAIN
