// SPDX-License-Identifier: GPL-2.0
/*
 * quell flow without a kernel: sockets as sock_diag describes them, the words of the command line,
 * which flows they let through and in which order, and the lines that are printed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#include "sock_diag.h"
#include "flow.h"
#include "quell.h"
#include "util.h"

#include "complaint.h"
#include "printed.h"
#include "test.h"

#define COOKIE		0x1122334455667788ULL

#define EXPECT_HAS(got, text)	EXPECT_TRUE(strstr(got, text)) TH_LOG("%s", got)

static char buffer[NL_BUFFER_LEN] __attribute__((aligned(8)));

/* A socket as sent by a kernel with @info_bytes of struct tcp_info. */
static struct nlmsghdr *socket_message(uint64_t cookie, size_t info_bytes)
{
	const struct tcp_info info = { .tcpi_total_retrans = 7, .tcpi_lost = 2,
				       .tcpi_data_segs_out = 1000,
				       .tcpi_delivery_rate = 125000000 };
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct inet_diag_msg *msg = mnl_nlmsg_put_extra_header(nlh, sizeof(*msg));

	nlh->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	msg->idiag_state = 1;
	msg->id.idiag_cookie[0] = cookie;
	msg->id.idiag_cookie[1] = cookie >> 32;
	mnl_attr_put_strz(nlh, INET_DIAG_CONG, "swift");
	if (info_bytes)
		mnl_attr_put(nlh, INET_DIAG_INFO, info_bytes, &info);
	mnl_attr_put_u32(nlh, 4000, 1);
	return nlh;
}

TEST(diag_list_add__cases)
{
	struct diag_list l = {};
	const struct diag *d;

	EXPECT_EQ(0, diag_list_add(&l, socket_message(COOKIE, sizeof(struct tcp_info))));
	EXPECT_EQ(0, diag_list_add(&l, socket_message(3, offsetof(struct tcp_info,
								  tcpi_data_segs_out))));
	EXPECT_EQ(0, diag_list_add(&l, socket_message(2, 0)));
	diag_list_sort(&l);
	EXPECT_EQ(NULL, diag_list_find(&l, 1));
	d = diag_list_find(&l, COOKIE);
	ASSERT_NE(NULL, d);
	EXPECT_EQ(1, d->state);
	EXPECT_STREQ("swift", d->cc);
	EXPECT_EQ(125000000, d->delivery_bytes_ps);
	EXPECT_EQ(7, d->retrans_segs);
	EXPECT_EQ(1000, d->sent_segs);
	EXPECT_EQ(2, d->lost_segs);
	d = diag_list_find(&l, 3);	/* an older kernel */
	ASSERT_NE(NULL, d);
	EXPECT_EQ(7, d->retrans_segs);
	EXPECT_EQ(0, d->sent_segs);
	EXPECT_EQ(0, d->delivery_bytes_ps);
	d = diag_list_find(&l, 2);
	ASSERT_NE(NULL, d);
	EXPECT_FALSE(d->has_info);
	diag_list_free(&l);
	EXPECT_EQ(NULL, diag_list_find(&l, 2));
}

/* The address of a peer is in commands of doctor, such as ip route get. */
TEST(diag_list_add__mapped)
{
	static const uint8_t ipv4[4] = { 10, 0, 0, 3 }, ipv6[16] = { 0xfd, [15] = 3 };
	struct nlmsghdr *nlh = socket_message(COOKIE, 0);
	struct inet_diag_msg *msg = mnl_nlmsg_get_payload(nlh);
	struct diag_list l = {};

	msg->idiag_family = AF_INET6;
	memcpy(msg->id.idiag_dst, ipv6, sizeof(ipv6));
	EXPECT_EQ(0, diag_list_add(&l, nlh));
	msg->id.idiag_dst[0] = 0;
	msg->id.idiag_dst[2] = htonl(0xffff);
	memcpy(&msg->id.idiag_dst[3], ipv4, sizeof(ipv4));
	EXPECT_EQ(0, diag_list_add(&l, nlh));
	ASSERT_EQ(2, l.n);
	EXPECT_EQ(AF_INET6, l.list[0].family);
	EXPECT_EQ(0, memcmp(l.list[0].daddr, ipv6, sizeof(ipv6)));
	EXPECT_EQ(AF_INET, l.list[1].family);
	EXPECT_EQ(0, memcmp(l.list[1].daddr, ipv4, sizeof(ipv4)));
	diag_list_free(&l);
}

TEST(diag_list_add__malformed_cases)
{
	struct diag_list l = {};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);

	mnl_nlmsg_put_extra_header(nlh, 4);
	EXPECT_EQ(-EBADMSG, diag_list_add(&l, nlh));
	EXPECT_EQ(0, l.n);
}

TEST(diag_state__cases)
{
	uint8_t state;

	for (unsigned int i = 1; i < 12; i++) {
		EXPECT_EQ(0, diag_state_number(diag_state_name(i), &state))
			TH_LOG("state %u", i);
		EXPECT_EQ(i, state);
	}
	EXPECT_EQ(-EINVAL, diag_state_number("estab", &state));
	EXPECT_STREQ("unknown", diag_state_name(200));
}

/* Parse a line of words; the result refers to the line. */
static int read_line(struct flow_args *words, bool watch, char *line)
{
	char *argv[WORDS_MAX];
	int argc = split_words(line, argv);

	return flow_args_parse(words, watch, argc, argv);
}

static struct flow flow_v4(uint16_t sport, uint16_t dport)
{
	return (struct flow){ .family = AF_INET, .sport = sport, .dport = dport, .ifindex = 4,
			      .saddr = { 10, 0, 0, 1 }, .daddr = { 10, 9, 0, 2 }, .state = 1 };
}

TEST(flow_matches__cases)
{
	static const struct {
		const char	*line;
		bool		v4;
		bool		v6;
	} rows[] = {
		{ "", true, true },
		{ "dst 10.0.0.0/8", true, false },
		{ "dst 10.9.0.2", true, false },
		{ "dst 10.9.0.3", false, false },
		{ "dst 0.0.0.0/0", true, false },
		{ "dst ::/0", true, true },
		{ "src 10.0.0.0/31", true, false },
		{ "src 10.0.0.0/32", false, false },
		{ "dst fd00::/8", false, true },
		{ "dst fd00::1", false, false },
		{ "sport 80", true, false },
		{ "dport 80", false, true },
		{ "sport 80 dport 5201", true, false },
		{ "sport 81 dport 5201", false, false },
		{ "state established", true, false },
		{ "state close-wait", false, true },
		{ "dev lo", false, true },
	};
	const struct flow v4 = flow_v4(80, 5201);
	const struct flow v6 = { .family = AF_INET6, .sport = 5201, .dport = 80, .state = 8,
				 .ifindex = 1, .saddr = { 0xfd }, .daddr = { 0xfd, [15] = 2 } };
	struct flow_args words;
	char line[64];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(line, sizeof(line), "%s", rows[i].line);
		EXPECT_EQ(STATUS_OK, read_line(&words, false, line))
			TH_LOG("%s: %s", rows[i].line, complaint);
		EXPECT_EQ(rows[i].v4, flow_matches(&words, &v4))
			TH_LOG("v4: %s", rows[i].line);
		EXPECT_EQ(rows[i].v6, flow_matches(&words, &v6))
			TH_LOG("v6: %s", rows[i].line);
	}
}

/* One that its algorithm governs, not fitted and fitted; one that searches; one of CUBIC. */
TEST(flow_matches__governor)
{
	static const struct {
		const char	*line;
		const char	*matches;
	} rows[] = {
		{ "by algorithm", "1100" }, { "by search", "0010" }, { "by cubic", "0001" },
		{ "by noise", "0001" }, { "by long-path", "0000" }, { "dport 1 by cubic", "0000" },
	};
	struct flow flows[] = { flow_v4(1, 9), flow_v4(2, 9), flow_v4(3, 9), flow_v4(4, 9) };
	struct flow_args words;
	char line[64];
	size_t i, j;

	flows[1].adapt = "fit";
	flows[2].adapt = "start";
	flows[3].adapt = "fallback";
	flows[3].fallback = "noise";
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(line, sizeof(line), "%s", rows[i].line);
		EXPECT_EQ(STATUS_OK, read_line(&words, i & 1, line))
			TH_LOG("%s: %s", rows[i].line, complaint);
		for (j = 0; j < ARRAY_SIZE(flows); j++)
			EXPECT_EQ(rows[i].matches[j] == '1', flow_matches(&words, &flows[j]))
				TH_LOG("%s: flow %zu", rows[i].line, j);
	}
}

TEST(flow_sort__cases)
{
	struct flow flows[] = { flow_v4(1, 1), flow_v4(2, 1), flow_v4(3, 1) };
	struct flow_list list = { .list = flows, .n = ARRAY_SIZE(flows) };
	char largest[] = "sort delay", smallest[] = "sort -delay", none[] = "cc swift";
	struct flow_args words;

	flows[0].rtt_ns = 50;
	flows[0].min_rtt_ns = 10;
	flows[1].rtt_ns = 100;
	flows[1].min_rtt_ns = 99;
	flows[2].rtt_ns = 90;
	flows[2].min_rtt_ns = 91;
	EXPECT_EQ(STATUS_OK, read_line(&words, false, smallest));
	flow_sort(&words, &list);
	EXPECT_EQ(3, flows[0].sport);
	EXPECT_EQ(1, flows[2].sport);
	EXPECT_EQ(STATUS_OK, read_line(&words, false, largest));
	flow_sort(&words, &list);
	EXPECT_EQ(1, flows[0].sport);
	EXPECT_EQ(2, flows[1].sport);
	EXPECT_EQ(STATUS_OK, read_line(&words, false, none));
	flow_sort(&words, &list);
	EXPECT_EQ(1, flows[0].sport);
}

/* Text of the last call of a printer, until the next. */
static char *last;

static char *printed(const struct flow_list *list, size_t columns)
{
	struct out o;

	free(last);
	return last = PRINTED(&o, false, false, flow_print_lines(&o, list, columns));
}

static void check_lines(struct __test_metadata *_metadata, const struct flow_list *list,
			const char *want)
{
	EXPECT_STREQ(want, printed(list, FLOW_COLUMNS));
}

/* One that its algorithm governs, one that searches, one of a kernel without sock_diag. */
TEST(flow_print_lines__cases)
{
	struct flow flows[] = { flow_v4(43210, 5201), flow_v4(80, 9), flow_v4(22, 22) };
	struct flow_list list = { .list = flows, .n = ARRAY_SIZE(flows) }, none = {};

	flows[0].cc = "swift";
	flows[0].window_bytes = 724;
	flows[0].mss_bytes = 1448;
	flows[0].rtt_ns = 81234;
	flows[0].target_ns = 65000;
	flows[0].delivery_bytes_ps = 117625000;
	flows[0].retrans_segs = 12345;
	flows[0].limited_by = "window";
	flows[0].adapt = "fit";
	flows[0].reduction = "delay";
	flows[1].cc = "dctcp_like";
	flows[1].window_bytes = 1448000;
	flows[1].mss_bytes = 1448;
	flows[1].rtt_ns = 999;
	flows[1].limited_by = "app";
	flows[1].adapt = "start";
	flows[2].state = 0;
	check_lines(_metadata, &none, "");
	check_lines(_metadata, &list,
		    "CC          PORT PEER          PKTS RATE    RTT TARGET  RETX CUT   BY     LIMIT\n"
		    "swift      43210 10.9.0.2:5201 0.50 941M 81.2us 65.0us 12.3K delay swift  window\n"
		    "dctcp_like    80 10.9.0.2:9    1000    0  999ns      -     0 -     search app\n"
		    "?             22 10.9.0.2:22      -    -      -      -     - -     -      -\n");
}

static char *printed_detail(const struct flow *f, bool json)
{
	struct out o;

	free(last);
	return last = PRINTED(&o, json, false, flow_print_detail(&o, f));
}

TEST(flow_print_detail__reduction)
{
	struct flow f = flow_v4(1, 2);
	char *got = printed_detail(&f, true);

	EXPECT_EQ(NULL, strstr(got, "reduction"));
	f.reduction = "delay";
	f.reduction_age_ns = 1200000;
	got = printed_detail(&f, false);
	EXPECT_HAS(got, " reduction:delay reduction-ago:1.2ms");
	EXPECT_EQ(NULL, strstr(got, "reduction-rtt"));
	f.reduction_rtt_ns = 64000;
	got = printed_detail(&f, true);
	EXPECT_HAS(got, "\"reduction\":\"delay\",\"reduction_age_ns\":1200000,"
			"\"reduction_rtt_ns\":64000");
}

/* The governor and its time; why it is CUBIC, in numbers; an older kernel has no times. */
TEST(flow_print_detail__governor)
{
	struct flow f = flow_v4(1, 2);
	char *got = printed_detail(&f, false);

	EXPECT_EQ(NULL, strstr(got, "by-for"));
	f.cc = "swift";
	f.adapt = "fallback";
	f.fallback = "slow-path";
	f.governor_age_ns = 5980000000;
	f.search_ns = 20000000;
	f.cubic_ns = 5980000000;
	f.base_ns = 35000;
	f.longest_ns = 300000;
	f.standing_ns = 1700000;
	f.fit_target_ns = 60000;
	f.path_bytes_ps = 8000000;
	f.least_bytes_ps = 12500000;
	got = printed_detail(&f, false);
	EXPECT_HAS(got, " fallback:slow-path by:cubic by-for:5.98s algorithm:0(0.0%)"
			" search:20.0ms(0.3%) cubic:5.98s(99.7%) base-rtt:35us"
			" longest-rtt:300us standing-rtt:1.7ms fit-target:60us noise:0ns"
			" path-rate:64Mbit least-rate:100Mbit");
	got = printed_detail(&f, true);
	EXPECT_HAS(got, "\"by\":\"cubic\",\"by_ns\":5980000000,\"algorithm_ns\":0,"
			"\"search_ns\":20000000,\"cubic_ns\":5980000000,"
			"\"base_rtt_ns\":35000,");
	f.adapt = NULL;
	f.fallback = NULL;
	got = printed_detail(&f, false);
	EXPECT_HAS(got, " by:swift ");
}

static void check_summary(struct __test_metadata *_metadata, const char *words, bool json,
			  const char *want)
{
	struct flow flows[] = { flow_v4(1, 9), flow_v4(2, 9), flow_v4(3, 9), flow_v4(4, 9),
				{ .cc = "swift", .family = AF_INET6, .rtt_ns = 9000,
				  .daddr = { 0xfd, 1, [6] = 0xab, 0xcd, 0xef } },
				{ .cc = "swift", .family = AF_INET6,
				  .daddr = { 0xfd, 1, [6] = 0xab, 0xcd } } };
	struct flow_list list = { .list = flows, .n = ARRAY_SIZE(flows) };
	struct flow_args args;
	char *got, line[64];
	struct out o;
	size_t i;

	for (i = 0; i < 4; i++) {
		flows[i].cc = i ? "swift" : "dart";
		flows[i].rtt_ns = 40000 - 10000 * i;
		flows[i].delivery_bytes_ps = 125000000;
		flows[i].retrans_segs = i;
		flows[i].adapt = "fit";
	}
	flows[2].daddr[2] = 7;
	flows[3].adapt = "fallback";
	flows[3].fallback = "noise";
	snprintf(line, sizeof(line), "%s", words);
	EXPECT_EQ(STATUS_OK, read_line(&args, false, line));
	free(last);
	last = got = PRINTED(&o, json, false, flow_print_summary(&o, &args, &list));
	EXPECT_STREQ(want, got);
}

TEST(flow_print_summary__cases)
{
	check_summary(_metadata, "-s", false,
		      "CC          NETWORK            FLOWS  RATE    RTT  RETX BY\n"
		      "dart        10.9.0.0/24            1 1.00G 40.0us     0 dart 1\n"
		      "swift       10.9.0.0/24            2 2.00G 10.0us     4 swift 1, cubic 1 (noise 1)\n"
		      "swift       10.9.7.0/24            1 1.00G 20.0us     2 swift 1\n"
		      "swift       fd01:0:0:abcd::/64     2     0 9.00us     0 swift 2\n");
	check_summary(_metadata, "-s prefix 16", false,
		      "CC          NETWORK            FLOWS  RATE    RTT  RETX BY\n"
		      "dart        10.9.0.0/16            1 1.00G 40.0us     0 dart 1\n"
		      "swift       10.9.0.0/16            3 3.00G 20.0us     6 swift 2, cubic 1 (noise 1)\n"
		      "swift       fd01::/16              2     0 9.00us     0 swift 2\n");
	check_summary(_metadata, "-s prefix 128", false,
		      "CC          NETWORK                  FLOWS  RATE    RTT  RETX BY\n"
		      "dart        10.9.0.2/32                  1 1.00G 40.0us     0 dart 1\n"
		      "swift       10.9.0.2/32                  2 2.00G 10.0us     4 swift 1, cubic 1 (noise 1)\n"
		      "swift       10.9.7.2/32                  1 1.00G 20.0us     2 swift 1\n"
		      "swift       fd01:0:0:abcd::/128          1     0      -     0 swift 1\n"
		      "swift       fd01:0:0:abcd:ef00::/128     1     0 9.00us     0 swift 1\n");
	check_summary(_metadata, "-s prefix 60", true,
		      "[{\"cc\":\"dart\",\"network\":\"10.9.0.2/32\",\"flows\":1,"
		      "\"delivery_bytes_ps\":125000000,\"rtt_ns\":40000,\"retrans_segs\":0,"
		      "\"algorithm\":1,\"search\":0,\"cubic\":0,\"fallback\":{}},"
		      "{\"cc\":\"swift\",\"network\":\"10.9.0.2/32\",\"flows\":2,"
		      "\"delivery_bytes_ps\":250000000,\"rtt_ns\":10000,\"retrans_segs\":4,"
		      "\"algorithm\":1,\"search\":0,\"cubic\":1,\"fallback\":{\"noise\":1}},"
		      "{\"cc\":\"swift\",\"network\":\"10.9.7.2/32\",\"flows\":1,"
		      "\"delivery_bytes_ps\":125000000,\"rtt_ns\":20000,\"retrans_segs\":2,"
		      "\"algorithm\":1,\"search\":0,\"cubic\":0,\"fallback\":{}},"
		      "{\"cc\":\"swift\",\"network\":\"fd01:0:0:abc0::/60\",\"flows\":2,"
		      "\"delivery_bytes_ps\":0,\"rtt_ns\":9000,\"retrans_segs\":0,"
		      "\"algorithm\":2,\"search\":0,\"cubic\":0,\"fallback\":{}}]\n");
}

/* The longest words and addresses there are. */
TEST(flow_print_lines__width)
{
	struct flow f = { .family = AF_INET6, .sport = 65535, .dport = 65535, .state = 1,
			  .cc = "swift_vaisf", .limited_by = "receiver", .adapt = "fallback",
			  .fallback = "delay-stays", .reduction = "timeout", .mss_bytes = 1,
				  .window_bytes = 99950,
			  .rtt_ns = 123456789, .min_rtt_ns = 1, .target_ns = 1,
			  .delivery_bytes_ps = 1234567890, .retrans_segs = UINT32_MAX };
	struct flow_list list = { .list = &f, .n = 1 };
	char *got, *line;

	memset(f.daddr, 0xfd, sizeof(f.daddr));
	got = printed(&list, FLOW_COLUMNS);
	EXPECT_HAS(got, "swift_vaisf 65535 [fdf");
	EXPECT_HAS(got, "5535 ");
	EXPECT_HAS(got, " 9.88G 123ms 4.29G cubic(delay-stays) receiver\n");
	for (line = strtok(got, "\n"); line; line = strtok(NULL, "\n"))
		EXPECT_GE(FLOW_COLUMNS, strlen(line))
			TH_LOG("%zu: %s", strlen(line), line);
	got = printed(&list, 200);
	EXPECT_HAS(got, " 123ms 1.00ns 4.29G timeout cubic(delay-stays) receiver\n");
	EXPECT_HAS(got, " [fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd]:65535 ");
}

/* An address of IPv4 is whole while TARGET can be left out instead, shortened else. */
TEST(flow_print_lines__ipv4)
{
	struct flow f = { .family = AF_INET, .sport = 59660, .dport = 5201, .state = 1,
			  .daddr = { 10, 84, 12, 123 }, .cc = "swift", .limited_by = "window",
			  .adapt = "fallback", .fallback = "delay-stays", .reduction = "loss",
			  .mss_bytes = 1, .window_bytes = 40, .rtt_ns = 12300000,
			  .delivery_bytes_ps = 1234567, .retrans_segs = 42 };
	struct flow_list list = { .list = &f, .n = 1 };
	char *got = printed(&list, FLOW_COLUMNS);

	EXPECT_HAS(got, " 10.84.12.123:5201 ");
	EXPECT_EQ(NULL, strstr(got, "TARGET"));
	got = printed(&list, 75);
	strtok(got, "\n");
	EXPECT_EQ(75, strlen(strtok(NULL, "\n")))
		TH_LOG("%s", got);
}

#define HOSTILE_IFINDEX	666

char *__real_if_indextoname(unsigned int ifindex, char *name);
char *__wrap_if_indextoname(unsigned int ifindex, char *name);

char *__wrap_if_indextoname(unsigned int ifindex, char *name)
{
	return ifindex == HOSTILE_IFINDEX ? strcpy(name, "\033[2J") :
					    __real_if_indextoname(ifindex, name);
}

/* The scope of an address is a name that somebody gave an interface. */
TEST(flow_print_lines__hostile_name)
{
	struct flow f = { .family = AF_INET6, .daddr = { 0xfe, 0x80, [15] = 1 }, .cc = "swift",
			  .sport = 1, .dport = 2, .ifindex = HOSTILE_IFINDEX };
	struct flow_list list = { .list = &f, .n = 1 };
	char *got = printed(&list, FLOW_COLUMNS);

	EXPECT_HAS(got, " [fe80::1%\\x1b[2J]:2 ");
}

/* Of the next request to rtnetlink; 0: it is made. */
static int route_err;

int __real_nl_open_route(struct nl *nl, struct nl_error *err);
int __wrap_nl_open_route(struct nl *nl, struct nl_error *err);

int __wrap_nl_open_route(struct nl *nl, struct nl_error *err)
{
	err->code = route_err;
	return route_err ? -route_err : __real_nl_open_route(nl, err);
}

TEST(find_dev__refused_cases)
{
	static const struct {
		const char	*name;
		int		route_err;
		const char	*text;
	} rows[] = {
		{ "no-such-dev", 0, "no-such-dev: No such device" },
		{ "no-such-dev-by-altname", 0, "no-such-dev-by-altname: No such device" },
		{ "no-such-dev-by-altname", EMFILE, "no-such-dev-by-altname: Too many open files" },
		{ "no-such-dev-by-altname", EPERM, "no-such-dev-by-altname: Operation not permitted" },
	};
	char longest[130] = "";
	uint32_t ifindex;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		route_err = rows[i].route_err;
		EXPECT_EQ(STATUS_INPUT, find_dev(rows[i].name, &ifindex));
		EXPECT_STREQ(rows[i].text, complaint);
	}
	/* The kernel has another error for a name that no interface can have. */
	route_err = 0;
	memset(longest, 'x', sizeof(longest) - 1);
	EXPECT_EQ(STATUS_INPUT, find_dev(longest, &ifindex));
	EXPECT_HAS(complaint, "xxx: No such device");
}

TEST_HARNESS_MAIN
