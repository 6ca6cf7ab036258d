// SPDX-License-Identifier: GPL-2.0
/*
 * quell trace without a kernel: the words of its command line, the rows of its table, the sample
 * of flows.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "quell.h"
#include "trace_parts.h"
#include "util.h"

#include <quell/core/adapt/names.h>

#include "complaint.h"
#include "test.h"

#define HEADER									\
	"time_ns,event,cc,ca_state,cookie,src,sport,dst,dport,cwnd_packets,cwnd_bytes,"	\
	"ssthresh_packets,pacing_bytes_ps,srtt_ns,rtt_ns,min_rtt_ns,inflight_packets,"	\
	"delivered_packets,marked_packets,lost_packets,retransmits_packets,acked_bytes,"	\
	"mss_bytes,app_limited,window_bytes,target_ns,phase,reason,dropped_records\n"

/* Parse a line of words; the result refers to the line. */
static int read_line(struct trace_args *words, char *line)
{
	char *argv[WORDS_MAX];
	int argc = split_words(line, argv);

	return trace_args_parse(words, argc, argv);
}

/* The table's line of a record; NULL: the header. */
static char *printed(const struct quell_trace_record *record)
{
	static char text[2048];
	FILE *file = fmemopen(text, sizeof(text), "w");

	if (!file)
		exit(KSFT_FAIL);
	if (record)
		trace_csv_row(file, record);
	else
		trace_csv_header(file);
	fclose(file);
	return text;
}

TEST(words__none)
{
	static const struct quell_trace_config all;
	struct trace_args words;
	char line[] = "";

	ASSERT_EQ(STATUS_OK, read_line(&words, line));
	EXPECT_EQ(4U << 20, words.buffer_bytes);
	EXPECT_EQ(1U << 20, words.config.wake_bytes);
	words.config.wake_bytes = 0;
	EXPECT_EQ(0, memcmp(&words.config, &all, sizeof(all)));
	EXPECT_FALSE(words.any_netns || words.count || words.for_ns || words.output);
}

TEST(words__all)
{
	char line[] = "src 10.1.2.3/8 dst fd00::1/60 sport 65535 dport 443 cc cubic "
		      "cookie sk:1f sample 10000 count 7 for 1.5s buffer 64kb netns any -o x dir d";
	struct trace_args words;

	ASSERT_EQ(STATUS_OK, read_line(&words, line))
		TH_LOG("%s", complaint);
	EXPECT_EQ(0x1f, words.config.cookie);
	EXPECT_EQ((1ULL << 32) / 10000, words.config.sample_below);
	EXPECT_EQ(65535, words.config.sport);
	EXPECT_EQ(htons(443), words.config.dport);
	EXPECT_STREQ("cubic", words.config.cc);
	EXPECT_EQ(7, words.count);
	EXPECT_EQ(1500000000, words.for_ns);
	EXPECT_EQ(65536, words.buffer_bytes);
	EXPECT_EQ(16384, words.config.wake_bytes);
	EXPECT_TRUE(words.any_netns);
	EXPECT_STREQ("x", words.output);
	EXPECT_STREQ("d", words.dir);
}

static bool is_in_network_order(const uint32_t *net, const uint32_t *host)
{
	size_t i;

	for (i = 0; i < QUELL_TRACE_ADDR_WORDS; i++)
		if (ntohl(net[i]) != host[i])
			return false;
	return true;
}

TEST(words__prefixes)
{
	static const struct {
		const char	*text;
		uint32_t	addr[4], mask[4];	/* host order */
	} rows[] = {
		{ "10.1.2.3", { 0, 0, 0xffff, 0x0a010203 }, { ~0U, ~0U, ~0U, ~0U } },
		{ "10.1.2.3/32", { 0, 0, 0xffff, 0x0a010203 }, { ~0U, ~0U, ~0U, ~0U } },
		{ "10.1.2.3/9", { 0, 0, 0xffff, 0x0a010203 }, { ~0U, ~0U, ~0U, 0xff800000 } },
		{ "0.0.0.0/0", { 0, 0, 0xffff, 0 }, { ~0U, ~0U, ~0U, 0 } },
		{ "::/0", { 0, 0, 0, 0 }, { 0, 0, 0, 0 } },
		{ "fd00::1", { 0xfd000000, 0, 0, 1 }, { ~0U, ~0U, ~0U, ~0U } },
		{ "fd00::1/7", { 0xfd000000, 0, 0, 1 }, { 0xfe000000, 0, 0, 0 } },
		{ "fd00::1/32", { 0xfd000000, 0, 0, 1 }, { ~0U, 0, 0, 0 } },
		{ "fd00::1/65", { 0xfd000000, 0, 0, 1 }, { ~0U, ~0U, 0x80000000, 0 } },
	};
	struct trace_args words;
	char line[64];

	for_each_row(row, rows) {
		snprintf(line, sizeof(line), "dst %s", row->text);
		expect(read_line(&words, line) == STATUS_OK &&
			       is_in_network_order(words.config.dst.addr, row->addr) &&
			       is_in_network_order(words.config.dst.mask, row->mask),
		       "%s: %08x of %08x at the end", row->text, ntohl(words.config.dst.addr[3]),
		       ntohl(words.config.dst.mask[3]));
	}
}

/* A record with a value of its own in each field. */
static struct quell_trace_record a_record(void)
{
	return (struct quell_trace_record){
		.time_ns = 1000000000001, .cookie = 0xabc, .dropped = 17,
		.pacing_bytes_ps = 125000000, .acked_bytes = 5000000000,
		.cwnd_pkts = 10, .ssthresh_pkts = 7, .srtt_us = 4000001, .rtt_us = 25,
		.min_rtt_us = 20, .inflight_pkts = 9, .delivered_pkts = 100, .marked_pkts = 3,
		.lost_pkts = 4, .retrans_pkts = 5, .mss_bytes = 1448,
		.saddr = { 0, 0, htonl(0xffff), htonl(0x0a000001) },
		.daddr = { htonl(0xfd000000), 0, 0, htonl(2) },
		.cc = "cubic", .sport = 40000, .dport = htons(443),
		.event = QUELL_TRACE_RETRANSMIT, .ca_state = 3, .app_limited = 1,
	};
}

TEST(rows__header)
{
	EXPECT_STREQ(HEADER, printed(NULL));
}

TEST(rows__of_the_kernel)
{
	struct quell_trace_record r = a_record();

	EXPECT_STREQ("1000000000001,retransmit,cubic,recovery,abc,10.0.0.1,40000,fd00::2,443,10,"
		     "14480,7,125000000,4000001000,25000,20000,9,100,3,4,5,5000000000,1448,1,"
		     ",,,,17\n", printed(&r));
}

TEST(rows__of_quell)
{
	struct quell_trace_record r = a_record();

	r.has_view = true;
	r.view = (struct quell_bpf_view){
		.window_bytes = 700, .rtt_ns = 25123, .min_rtt_ns = 20456, .target_ns = 50000,
		.phase = QUELL_ADAPT_FALLBACK, .reason = QUELL_ADAPT_NOISE,
	};
	EXPECT_STREQ("1000000000001,retransmit,cubic,recovery,abc,10.0.0.1,40000,fd00::2,443,10,"
		     "14480,7,125000000,4000001000,25123,20456,9,100,3,4,5,5000000000,1448,1,"
		     "700,50000,fallback,noise,17\n", printed(&r));
	r.view.phase = QUELL_ADAPT_FIT;
	EXPECT_NE(NULL, strstr(printed(&r), ",700,50000,fit,,17\n"));
	r.view = (struct quell_bpf_view){};
	EXPECT_NE(NULL, strstr(printed(&r), ",25000,20000,9,"))
		TH_LOG("the stack's, where the algorithm has none");
}

TEST(rows__unknown)
{
	struct quell_trace_record r = a_record();

	r.pacing_bytes_ps = ~0ULL;
	r.ssthresh_pkts = 0x7fffffff;
	r.srtt_us = 0;
	r.rtt_us = 0;
	r.min_rtt_us = ~0U;
	r.event = QUELL_TRACE_EVENTS;
	r.ca_state = 31;
	memcpy(r.cc, "a,b\"\n89abcdefghi", sizeof(r.cc));
	EXPECT_STREQ("1000000000001,,a?b??89abcdefghi,,abc,10.0.0.1,40000,fd00::2,443,10,14480,,"
		     ",,,,9,100,3,4,5,5000000000,1448,1,,,,,17\n", printed(&r));
}

/* Each row has the fields of the header, and each name of an event and a phase stands in one. */
TEST(rows__fields)
{
	struct quell_trace_record r = a_record();
	size_t commas = 0, i;
	const char *at;

	for (at = HEADER; *at; at++)
		commas += *at == ',';
	r.has_view = true;
	for (i = 0; i < 300; i++) {
		size_t here = 0;

		r.event = i % 5;
		r.ca_state = i % 7;
		r.view.phase = i % 6;
		r.view.reason = i % 11;
		for (at = printed(&r); *at; at++)
			here += *at == ',';
		EXPECT_EQ(commas, here);
	}
}

/* One in n, within five deviations, of consecutive numbers and of those of four processors. */
TEST(sample)
{
	static const struct {
		uint64_t	n, step;
	} rows[] = { { 2, 1 }, { 10, 1 }, { 100, 4096 }, { 10000, 1 } };

	for_each_row(row, rows) {
		uint64_t below = (1ULL << 32) / row->n, wanted = 1000000 / row->n;
		uint64_t sampled = 0, cookie, distance;

		for (cookie = 1; cookie <= 1000000; cookie++)
			sampled += quell_trace_is_sampled(cookie * row->step, below);
		distance = sampled > wanted ? sampled - wanted : wanted - sampled;
		EXPECT_LT(distance * distance, 25 * wanted)
		TH_LOG("%llu of a million, one in %llu", (unsigned long long)sampled,
		       (unsigned long long)row->n);
	}
}

TEST_HARNESS_MAIN
