// SPDX-License-Identifier: GPL-2.0
/*
 * quell monitor without a kernel: its words, and each event as a line of text and of JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include "monitor.h"
#include "quell.h"
#include "util.h"

#include "complaint.h"
#include "printed.h"
#include "test.h"

/* Far above those of interfaces. */
#define NO_IFINDEX	2000000000U

static char buffer[NL_BUFFER_LEN] __attribute__((aligned(8)));
static char *printed;

static struct nlmsghdr *start(uint8_t cmd)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));

	genl->cmd = cmd;
	return nlh;
}

/* Print the message, or an overrun without one; the result is in @printed. */
static int print(struct monitor_view *view, const struct nlmsghdr *nlh, bool json)
{
	struct out o;
	int ret = 0;

	free(printed);
	view->o = &o;
	if (nlh)
		printed = PRINTED(&o, json, false, ret = monitor_print(view, nlh));
	else
		printed = PRINTED(&o, json, false, monitor_print_overrun(view));
	return ret;
}

static bool prints(const struct nlmsghdr *nlh, const char *text, const char *json)
{
	struct monitor_view view = {};

	if (print(&view, nlh, false) || strcmp(printed, text)) {
		printf("# '%s', not '%s'\n", printed, text);
		return false;
	}
	if (print(&view, nlh, true) || strcmp(printed, json)) {
		printf("# '%s', not '%s'\n", printed, json);
		return false;
	}
	return true;
}

static void put_param(struct nlmsghdr *nlh, const char *name, uint64_t value, uint32_t unit)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, QUELL_A_CC_PARAM);

	mnl_attr_put_strz(nlh, QUELL_A_PARAM_NAME, name);
	mnl_attr_put_u64(nlh, QUELL_A_PARAM_VALUE, value);
	mnl_attr_put_u64(nlh, QUELL_A_PARAM_DEFAULT, 0);
	mnl_attr_put_u32(nlh, QUELL_A_PARAM_UNIT, unit);
	mnl_attr_nest_end(nlh, nest);
}

TEST(monitor_print__settings_cases)
{
	static const uint8_t address[] = { 10, 0, 0, 1 };
	struct nlmsghdr *nlh = start(QUELL_CMD_CC_NTF);

	mnl_attr_put_strz(nlh, QUELL_A_CC_NAME, "swift");
	put_param(nlh, "base-target", 25000, QUELL_UNIT_NS);
	put_param(nlh, "ai", 125000000, QUELL_UNIT_BYTES_PS);
	EXPECT_TRUE(prints(nlh, "cc swift: base-target 25us ai 1Gbit\n",
			   "{\"event\":\"cc\",\"name\":\"swift\",\"params\":["
			   "{\"name\":\"base-target\",\"value\":25000,\"default\":0,\"unit\":\"ns\"},"
			   "{\"name\":\"ai\",\"value\":125000000,\"default\":0,"
			   "\"unit\":\"bytes-ps\"}]}\n"));

	nlh = start(QUELL_CMD_LINK_NTF);
	mnl_attr_put_u32(nlh, QUELL_A_LINK_IFINDEX, 1);
	mnl_attr_put_u64(nlh, QUELL_A_LINK_RATE, 125000000);
	EXPECT_TRUE(prints(nlh, "link lo: rate 1Gbit\n",
			   "{\"event\":\"link\",\"dev\":\"lo\",\"rate_bytes_ps\":125000000,"
			   "\"driver_bytes_ps\":null}\n"));
	nlh = start(QUELL_CMD_LINK_NTF);
	mnl_attr_put_u32(nlh, QUELL_A_LINK_IFINDEX, NO_IFINDEX);
	EXPECT_TRUE(prints(nlh, "link if2000000000: rate unknown\n",
			   "{\"event\":\"link\",\"dev\":\"if2000000000\",\"rate_bytes_ps\":null,"
			   "\"driver_bytes_ps\":null}\n"));

	nlh = start(QUELL_CMD_WEIGHT_NTF);
	mnl_attr_put_u32(nlh, QUELL_A_SENDER_IFINDEX, 1);
	mnl_attr_put(nlh, QUELL_A_SENDER_ADDRESS, sizeof(address), address);
	mnl_attr_put_u32(nlh, QUELL_A_SENDER_WEIGHT, 4);
	EXPECT_TRUE(prints(nlh, "sender 10.0.0.1 dev lo weight 4\n",
			   "{\"event\":\"sender\",\"address\":\"10.0.0.1\",\"dev\":\"lo\","
			   "\"weight\":4}\n"));

	/* A name is another user's: it must not look like a line of its own. */
	nlh = start(QUELL_CMD_LOOKAHEAD_DEL_NTF);
	mnl_attr_put_strz(nlh, QUELL_A_LOOKAHEAD_NAME, "a\nb");
	mnl_attr_put_u32(nlh, QUELL_A_LOOKAHEAD_IFINDEX, 1);
	mnl_attr_put_u32(nlh, QUELL_A_LOOKAHEAD_UID, 1000);
	mnl_attr_put_u64(nlh, QUELL_A_LOOKAHEAD_TIME, 1000000);
	mnl_attr_put_u32(nlh, QUELL_A_LOOKAHEAD_MEMBERS, 3);
	EXPECT_TRUE(prints(nlh, "Deleted lookahead a\\x0ab: uid 1000 dev lo time 1ms members 3\n",
			   "{\"event\":\"lookahead\",\"deleted\":true,\"name\":\"a\\u000ab\","
			   "\"uid\":1000,\"dev\":\"lo\",\"time_ns\":1000000,\"members_nr\":3}\n"));
}

static struct nlmsghdr *start_flow(uint8_t cmd)
{
	static const uint8_t from[] = { 10, 0, 0, 1 }, to[] = { 10, 0, 0, 2 };
	struct nlmsghdr *nlh = start(cmd);

	mnl_attr_put_u64(nlh, QUELL_A_FLOW_COOKIE, 0x1a);
	mnl_attr_put_strz(nlh, QUELL_A_FLOW_CC, "dcqcn");
	mnl_attr_put_u16(nlh, QUELL_A_FLOW_FAMILY, AF_INET);
	mnl_attr_put(nlh, QUELL_A_FLOW_SADDR, sizeof(from), from);
	mnl_attr_put(nlh, QUELL_A_FLOW_DADDR, sizeof(to), to);
	mnl_attr_put_u16(nlh, QUELL_A_FLOW_SPORT, 80);
	mnl_attr_put_u16(nlh, QUELL_A_FLOW_DPORT, 4000);
	mnl_attr_put_u32(nlh, QUELL_A_FLOW_IFINDEX, 1);
	return nlh;
}

#define FLOW_TEXT	"flow 10.0.0.1:80 -> 10.0.0.2:4000 dev lo sk:1a dcqcn"
#define FLOW_JSON	"\"src\":\"10.0.0.1\",\"sport\":80,\"dst\":\"10.0.0.2\",\"dport\":4000," \
			"\"dev\":\"lo\",\"cookie\":26,\"cc\":\"dcqcn\""

TEST(monitor_print__flow_cases)
{
	struct nlmsghdr *nlh = start_flow(QUELL_CMD_FLOW_OPTION_NTF);

	mnl_attr_put_strz(nlh, QUELL_A_FLOW_OPTION, "stripped");
	EXPECT_TRUE(prints(nlh, FLOW_TEXT " option stripped\n",
			   "{\"event\":\"option\"," FLOW_JSON ",\"option\":\"stripped\"}\n"));
	nlh = start_flow(QUELL_CMD_FLOW_ADAPT_NTF);
	mnl_attr_put_strz(nlh, QUELL_A_FLOW_ADAPT, "fallback");
	mnl_attr_put_strz(nlh, QUELL_A_FLOW_FALLBACK, "no-marks");
	EXPECT_TRUE(prints(nlh, FLOW_TEXT " fallback to cubic: no-marks\n",
			   "{\"event\":\"adapt\"," FLOW_JSON ",\"adapt\":\"fallback\","
			   "\"fallback\":\"no-marks\"}\n"));
	nlh = start_flow(QUELL_CMD_FLOW_ADAPT_NTF);
	mnl_attr_put_strz(nlh, QUELL_A_FLOW_ADAPT, "fit");
	EXPECT_TRUE(prints(nlh, FLOW_TEXT " fit\n",
			   "{\"event\":\"adapt\"," FLOW_JSON ",\"adapt\":\"fit\"}\n"));
}

static struct nlmsghdr *stat_message(uint8_t cmd, uint64_t value)
{
	struct nlmsghdr *nlh = start(cmd);
	struct nlattr *nest;

	mnl_attr_put_strz(nlh, QUELL_A_STAT_NAME, "quell");
	nest = mnl_attr_nest_start(nlh, QUELL_A_STAT_COUNTER);
	mnl_attr_put_strz(nlh, QUELL_A_COUNTER_NAME, "option-malformed");
	mnl_attr_put_u64(nlh, QUELL_A_COUNTER_VALUE, value);
	mnl_attr_nest_end(nlh, nest);
	return nlh;
}

/* Events carry totals; the increment since the last known value is printed. */
TEST(monitor_print__stat_cases)
{
	struct monitor_view view = {};

	ASSERT_EQ(0, stat_list_add(&view.counters, stat_message(QUELL_CMD_STAT_GET, 10)));
	EXPECT_EQ(0, print(&view, stat_message(QUELL_CMD_FLOW_STAT_NTF, 13), false));
	EXPECT_STREQ("stat quell: option-malformed +3\n", printed);
	EXPECT_EQ(0, print(&view, stat_message(QUELL_CMD_FLOW_STAT_NTF, 13), false));
	EXPECT_STREQ("", printed);
	/* It was sent before counters were read. */
	EXPECT_EQ(0, print(&view, stat_message(QUELL_CMD_FLOW_STAT_NTF, 8), false));
	EXPECT_STREQ("", printed);
	EXPECT_EQ(0, print(&view, stat_message(QUELL_CMD_SETTING_STAT_NTF, 20), true));
	EXPECT_STREQ("{\"event\":\"stat\",\"name\":\"quell\",\"counters\":["
		     "{\"name\":\"option-malformed\",\"new\":7,\"value\":20}]}\n", printed);
	stat_list_free(&view.counters);
}

TEST(monitor_print__time_cases)
{
	struct monitor_view view = { .stamp = true,
				     .now = { .tv_sec = 1000000000, .tv_nsec = 2345678 } };

	setenv("TZ", "UTC0", 1);
	EXPECT_EQ(0, print(&view, NULL, false));
	EXPECT_STREQ("[2001-09-09T01:46:40.002345] overrun: events were lost, they came faster "
		     "than they were read\n", printed);
	EXPECT_EQ(0, print(&view, NULL, true));
	EXPECT_STREQ("{\"timestamp_ns\":1000000000002345678,\"event\":\"overrun\"}\n", printed);
}

TEST(monitor_print__odd_cases)
{
	struct monitor_view view = {};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

	EXPECT_EQ(-EBADMSG, print(&view, nlh, false));
	EXPECT_EQ(-EBADMSG, print(&view, start(QUELL_CMD_CC_NTF), false));
	EXPECT_EQ(-EBADMSG, print(&view, start(QUELL_CMD_LINK_NTF), false));
	EXPECT_STREQ("", printed);
	/* Of a newer kernel. */
	EXPECT_EQ(0, print(&view, start(__QUELL_CMD_MAX), false));
	EXPECT_STREQ("", printed);
}

static int read_line(struct monitor_args *words, const char *text)
{
	char line[64], *argv[WORDS_MAX];

	snprintf(line, sizeof(line), "%s", text);
	return monitor_args_parse(words, split_words(line, argv), argv);
}

TEST(monitor_args_parse__cases)
{
	struct monitor_args w;

	EXPECT_EQ(0, read_line(&w, ""));
	EXPECT_TRUE(w.settings && w.flows && !w.stamp && w.buffer_bytes == 1024 * 1024);
	EXPECT_EQ(0, read_line(&w, "flows -ts"));
	EXPECT_TRUE(!w.settings && w.flows && w.stamp);
	EXPECT_EQ(0, read_line(&w, "settings rcvbuf 64kb"));
	EXPECT_TRUE(w.settings && !w.flows && !w.stamp && w.buffer_bytes == 65536);
}

TEST_HARNESS_MAIN
