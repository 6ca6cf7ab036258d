// SPDX-License-Identifier: GPL-2.0
/*
 * The headers of a frame (<quell/core/port/frame.h>): stacks of tags and tunnels by hand, errors
 * in each field, truncation at every byte, and random ones against a model.
 */
#include <stdlib.h>

#include <quell/core/port/frame_control.h>

#include "frame_model.h"
#include "frame_stack.h"
#include "random.h"
#include "test.h"

/* In a block of its own size, which AddressSanitizer watches. */
static void parse(struct quell_frame *frame, const u8 *data, u32 bytes, u32 len)
{
	static u8 *copy;

	free(copy);
	copy = malloc(bytes ? bytes : 1);
	memcpy(copy, data, bytes);
	quell_frame_begin(frame, copy, bytes, len);
	quell_frame_parse(frame);
}

static const char * const stacks[] = {
	"e4t", "e6t", "eq4t", "ea4T", "eaq6T", "e4u", "e6u", "e4s", "exx", "ep", "eqp",
	"e44t", "e46T", "e64t", "e66T", "e6o4t", "e6o6T", "eaq44t", "e4g4t", "e4k4T", "e4g6t",
	"e6g4t", "e6og6t", "e4gep", "e4ge4t", "e4keq6T", "e4ve4t", "e4ve6T", "e6ve4t", "eaq4veaq4T",
	"e4n4t", "e4n6T", "e4ne4t", "e6neqap", "e4vep", "e4vex", "e4ve6m", "e4ve6d", "e4ve4i",
	"e6m", "e6d", "e4i", "e444t", "eqqq4t", "e4veqqq4t",
};

TEST(agrees_with_the_model)
{
	struct quell_frame frame;
	struct frame_model model;
	const char *complaint;
	struct stack s;

	for_each_row(row, stacks) {
		build(&s, *row, 10);
		parse(&frame, s.data, s.len, s.len);
		model = model_frame(s.data, s.len);
		complaint = model_complaint(&model, &frame);
		expect_eq(NULL, complaint, "%s: %s", *row, complaint);
		expect(!frame.is_short, "%s", *row);
	}
}

/* Cases in which the model could be wrong, too. */
TEST(by_hand)
{
	static const struct {
		const char *letters;
		u8 tunnel;
		u32 outer_at, transport_at, tcp_bytes, tunnel_id;
		bool tagged, control;
	} cases[] = {
		{ "e4t", QUELL_FRAME_NO_TUNNEL, 14, 34, 20, 0, false, true },
		{ "e6T", QUELL_FRAME_NO_TUNNEL, 14, 54, 32, 0, false, true },
		{ "e4s", QUELL_FRAME_NO_TUNNEL, 14, 34, 20, 0, false, false },
		{ "eq4t", QUELL_FRAME_NO_TUNNEL, 18, 38, 20, 0, true, true },
		{ "eaq4t", QUELL_FRAME_NO_TUNNEL, 22, 42, 20, 0, true, true },
		{ "e4u", QUELL_FRAME_NO_TUNNEL, 14, 34, 0, 0, false, false },
		{ "e44t", QUELL_FRAME_IN_IP, 14, 54, 20, 0, false, true },
		{ "e6o4t", QUELL_FRAME_IN_IP, 14, 82, 20, 0, false, true },
		{ "e46t", QUELL_FRAME_IN_IP, 14, 74, 20, 0, false, true },
		{ "e4g4t", QUELL_FRAME_IN_GRE, 14, 58, 20, 0, false, true },
		{ "e4k4t", QUELL_FRAME_IN_GRE, 14, 70, 20, 0x1234, false, true },
		{ "e4ge4t", QUELL_FRAME_IN_GRE, 14, 72, 20, 0, false, true },
		{ "e4ve4t", QUELL_FRAME_IN_VXLAN, 14, 84, 20, 7, false, true },
		{ "e4veq4t", QUELL_FRAME_IN_VXLAN, 14, 88, 20, 7, false, true },
		{ "e4ve4s", QUELL_FRAME_IN_VXLAN, 14, 84, 20, 7, false, false },
		{ "e4n4t", QUELL_FRAME_IN_GENEVE, 14, 78, 20, 9, false, true },
		{ "e4vep", QUELL_FRAME_IN_VXLAN, 14, 0, 0, 7, false, true },
		{ "e4ve6d", QUELL_FRAME_IN_VXLAN, 14, 104, 0, 7, false, true },
		{ "e4ve6m", QUELL_FRAME_IN_VXLAN, 14, 104, 0, 7, false, true },
		{ "e4ve4i", QUELL_FRAME_IN_VXLAN, 14, 84, 0, 7, false, true },
		{ "e4ve4u", QUELL_FRAME_IN_VXLAN, 14, 84, 0, 7, false, false },
		{ "e4vex", QUELL_FRAME_IN_VXLAN, 14, 0, 0, 7, false, false },
		/* One level: a second one is data. */
		{ "e444t", QUELL_FRAME_IN_IP, 14, 54, 0, 0, false, false },
		{ "e4ve4ve4t", QUELL_FRAME_IN_VXLAN, 14, 84, 0, 7, false, false },
		/* As is a third tag. */
		{ "eqqq4t", QUELL_FRAME_NO_TUNNEL, 0, 0, 0, 0, true, false },
	};
	struct quell_frame frame;
	struct stack s;

	for_each_row(row, cases) {
		build(&s, row->letters, 0);
		parse(&frame, s.data, s.len, s.len);
		expect_eq(row->tunnel, frame.tunnel, "%s", row->letters);
		expect_eq(row->outer_at, frame.ip[0].version ? frame.ip[0].at : 0, "%s",
			  row->letters);
		expect_eq(row->transport_at, quell_frame_flow(&frame)->transport_at, "%s",
			  row->letters);
		expect_eq(row->tcp_bytes, frame.tcp_bytes, "%s", row->letters);
		expect_eq(row->tunnel_id, frame.tunnel_id, "%s", row->letters);
		expect_eq(row->tagged, frame.tagged, "%s", row->letters);
		expect_eq(row->control, quell_frame_is_control(&frame), "%s", row->letters);
	}
}

/* A change of one byte, and whether the TCP header is still found, and is control. */
TEST(one_byte_wrong)
{
	static const struct {
		const char *name, *letters;
		u32 at;
		u8 value;
		bool tcp, control;
	} cases[] = {
		{ "as_it_is", "e4ve4t", 0, 0, true, true },
		{ "outer_version", "e4ve4t", 14, 0x65, false, false },
		{ "outer_header_short", "e4ve4t", 14, 0x44, false, false },
		{ "outer_longer_than_frame", "e4ve4t", 17, 0xff, false, false },
		{ "outer_more_fragments", "e4ve4t", 20, 0x20, false, false },
		{ "outer_later_fragment", "e4ve4t", 21, 1, false, false },
		{ "outer_do_not_fragment", "e4ve4t", 20, 0x40, true, true },
		{ "outer_network_control", "e4ve4s", 15, 0xc0, true, true },
		{ "inner_network_control", "e4ve4s", 65, 0xc0, true, false },
		{ "udp_too_long", "e4ve4t", 39, 0xff, false, false },
		{ "udp_too_short", "e4ve4t", 39, 20, false, false },
		{ "other_port", "e4ve4t", 37, 0xb6, false, false },
		{ "vxlan_not_valid", "e4ve4t", 42, 0, false, false },
		{ "vxlan_policy", "e4ve4t", 42, 0x88, true, true },
		{ "vxlan_checksum_offload", "e4ve4t", 43, 0x20, false, false },
		{ "inner_type", "e4ve4t", 63, 1, false, false },
		{ "inner_version", "e4ve4t", 64, 0x65, false, false },
		{ "inner_longer_than_outer", "e4ve4t", 67, 41, false, false },
		{ "inner_shorter", "e4ve4t", 67, 39, false, false },
		{ "inner_fragment", "e4ve4t", 71, 1, false, false },
		{ "tcp_header_short", "e4ve4t", 96, 0x40, false, false },
		{ "tcp_header_long", "e4ve4t", 96, 0x60, false, false },
		{ "tcp_fin", "e4ve4t", 97, 0x11, true, false },
		{ "tcp_without_ack", "e4ve4t", 97, 0, true, false },
		{ "gre_version", "e4g4t", 35, 1, false, false },
		{ "gre_routing", "e4g4t", 34, 0x40, false, false },
		{ "gre_other", "e4g4t", 37, 1, false, false },
		{ "geneve_version", "e4n4t", 42, 0x42, false, false },
		{ "geneve_control", "e4n4t", 43, 0x80, false, false },
		{ "geneve_critical", "e4n4t", 43, 0x40, true, true },
		{ "geneve_options_long", "e4n4t", 42, 0x3f, false, false },
		{ "limit_long", "e6o4t", 55, 1, false, false },
		{ "limit_other_option", "e6o4t", 56, 5, false, false },
		{ "limit_before_tcp", "e6ot", 0, 0, false, false },
		{ "listener_other_type", "e6m", 62, 128, false, false },
		{ "listener_longer_header", "e6m", 55, 1, false, false },
		{ "discovery_ping", "e6d", 54, 128, false, false },
	};
	struct quell_frame frame;
	struct stack s;

	for_each_row(row, cases) {
		build(&s, row->letters, 0);
		s.data[row->at] = row->value;
		parse(&frame, s.data, s.len, s.len);
		expect_eq(row->tcp, !!frame.tcp_bytes, "%s", row->name);
		expect_eq(row->control, quell_frame_is_control(&frame), "%s", row->name);
	}
}

/* An ACK by its lengths, with payload behind it, or padding. */
TEST(bytes_behind_an_ack)
{
	static const struct {
		const char *letters;
		u32 behind;
		bool control;
	} cases[] = {
		{ "e4t", 0, true }, { "e4t", QUELL_FRAME_PADDING_MAX, true },
		{ "e4t", QUELL_FRAME_PADDING_MAX + 1, false }, { "e4ve4t", 47, false },
		{ "e4ve4t", 46, true },
	};
	struct quell_frame frame;
	struct stack s;

	for_each_row(row, cases) {
		build(&s, row->letters, 0);
		parse(&frame, s.data, s.len, s.len + row->behind);
		expect_eq(row->control, quell_frame_is_control(&frame), "%s_%u", row->letters,
			  row->behind);
	}
}

/* Control of a network in a tunnel is small, or data. */
TEST(control_in_a_tunnel_is_small)
{
	static const struct {
		const char *letters;
		u32 len;
		bool control;
	} cases[] = {
		{ "ep", 1514, true }, { "e4i", 1514, true },
		{ "e4vep", 50 + QUELL_FRAME_INSIDE_MAX, true },
		{ "e4vep", 51 + QUELL_FRAME_INSIDE_MAX, false },
		{ "e4ve4i", 50 + QUELL_FRAME_INSIDE_MAX, true }, { "e4ve4i", 1514, false },
		{ "e4ve6d", 50 + QUELL_FRAME_INSIDE_MAX, true }, { "e4ve6d", 1514, false },
	};
	struct quell_frame frame;
	struct stack s;

	for_each_row(row, cases) {
		build(&s, row->letters, 0);
		parse(&frame, s.data, s.len, row->len);
		expect_eq(row->control, quell_frame_is_control(&frame), "%s_%u", row->letters,
			  row->len);
	}
}

/* To a group that no bridge forwards: outside of a tunnel alone. */
TEST(link_local)
{
	static const struct {
		const char *letters;
		u32 at;
		u8 last;
		bool control;
	} cases[] = {
		{ "ex", 0, 0x0f, true }, { "ex", 0, 0x10, false }, { "e4vex", 50, 0x02, false },
		{ "e4vex", 0, 0x02, false }, { "e4u", 0, 0x02, false },
	};
	struct quell_frame frame;
	struct stack s;

	for_each_row(row, cases) {
		build(&s, row->letters, 10);
		memcpy(s.data + row->at, (u8[]){ 1, 0x80, 0xc2, 0, 0, row->last }, 6);
		parse(&frame, s.data, s.len, s.len);
		expect_eq(row->control, quell_frame_is_control(&frame), "%s_%u_%02x", row->letters,
			  row->at, row->last);
	}
}

/*
 * Of a frame truncated at any byte no more is found than the model finds; of one of which the
 * first bytes alone can be read, either all is found or that more is needed.
 */
TEST(cut_at_every_byte)
{
	struct quell_frame frame;
	struct frame_model model;
	const char *complaint;
	struct stack s;
	bool is_plain;
	u32 bytes;

	for_each_row(row, stacks) {
		build(&s, *row, 10);
		for (bytes = 0; bytes <= s.len; bytes++) {
			parse(&frame, s.data, bytes, bytes);
			quell_frame_is_control(&frame);
			model = model_frame(s.data, bytes);
			complaint = model_complaint(&model, &frame);
			expect_eq(NULL, complaint, "%s_%u: %s", *row, bytes, complaint);
			expect(!frame.is_short, "%s_%u", *row, bytes);
			parse(&frame, s.data, bytes, s.len);
			quell_frame_is_control(&frame);
			model = model_frame(s.data, s.len);
			complaint = plain_complaint(&frame, &is_plain);
			if (!complaint && !frame.is_short)
				complaint = model_complaint(&model, &frame);
			expect_eq(NULL, complaint, "%s_%u: %s", *row, bytes, complaint);
		}
	}
}

/* Bytes changed at random, among them those that lead to other headers. */
TEST(random_changes)
{
	static const u8 likely[] = { 0, 1, 2, 4, 5, 6, 8, 17, 20, 41, 47, 58, 60, 0x40, 0x45, 0x60,
				     0x81, 0xff };
	struct random_state random = { 1 };
	struct quell_frame frame;
	struct frame_model model;
	const char *complaint;
	u32 i, changes, found = 0, plain = 0;
	struct stack s;
	bool is_plain;

	for (i = 0; i < 200000; i++) {
		build(&s, stacks[random_between(&random, 0, ARRAY_SIZE(stacks) - 1)],
		      random_between(&random, 0, 60 - 1));
		for (changes = random_between(&random, 0, 4 - 1); changes; changes--)
			s.data[random_between(&random, 0, s.len - 1)] =
				likely[random_between(&random, 0, sizeof(likely) - 1)];
		parse(&frame, s.data, s.len, s.len);
		quell_frame_is_control(&frame);
		model = model_frame(s.data, s.len);
		complaint = model_complaint(&model, &frame);
		found += frame.inner && frame.tcp_bytes;
		ASSERT_EQ(NULL, complaint)
			TH_LOG("random__%u: %s", i, complaint);
		complaint = plain_complaint(&frame, &is_plain);
		plain += is_plain;
		ASSERT_EQ(NULL, complaint)
			TH_LOG("random_plain__%u: %s", i, complaint);
	}
	EXPECT_GT(found, 20000U);
	EXPECT_GT(plain, 2000U);
}

/* Whole segments with data are plain, in any state of their connection. */
TEST(plain)
{
	static const struct {
		const char *letters;
		u32 bytes;
		bool plain;
	} cases[] = {
		{ "e4t", 1, true }, { "e4T", 500, true }, { "e6t", 1, true }, { "e6T", 500, true },
		{ "e4s", 10, true }, { "e6T", 0, false }, { "e4t", 0, false }, { "e4u", 10, false },
		{ "eq4t", 10, false }, { "e44t", 10, false }, { "e6o4t", 10, false },
		{ "ep", 10, false },
	};
	struct quell_fastpath plain;
	struct stack s;

	for_each_row(row, cases) {
		build(&s, row->letters, row->bytes);
		expect_eq(row->plain, quell_fastpath_parse(&plain, s.data, s.len, s.len), "%s_%u",
			  row->letters, row->bytes);
	}
}

/* Other frames than Ethernet's begin with an IP header. */
TEST(without_ethernet)
{
	struct quell_frame frame;
	struct stack s;

	build(&s, "e44t", 0);
	quell_frame_begin(&frame, s.data, s.len, s.len);
	quell_frame_parse_ip(&frame, 14, 0x0800);
	EXPECT_EQ(20, frame.tcp_bytes);
	quell_frame_begin(&frame, s.data + 14, s.len - 14, s.len - 14);
	quell_frame_parse_ip(&frame, 0, 0x0800);
	EXPECT_EQ(40, quell_frame_flow(&frame)->transport_at);
	EXPECT_TRUE(quell_frame_is_control(&frame));
	quell_frame_begin(&frame, s.data, s.len, s.len);
	quell_frame_parse_ip(&frame, 0, 0);
	EXPECT_EQ(0, frame.ip[0].version);
	EXPECT_FALSE(quell_frame_is_control(&frame));
}

TEST_HARNESS_MAIN
