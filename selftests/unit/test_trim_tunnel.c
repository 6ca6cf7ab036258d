// SPDX-License-Identifier: GPL-2.0
/*
 * Trimming inside of tunnels, and NACKs that go back by them (<quell/trim_tunnel.h>): lengths
 * agree at all levels, checksums hold or are as wrong as they were.
 */
#include <stdlib.h>

#include <quell/trim_tunnel.h>

#include "frame_stack.h"
#include "random.h"
#include "test.h"

#define TRIM_DSCP	43

static const char * const stacks[] = {
	"e44T", "e46T", "e64T", "e6o6T", "e4g4T", "e4ge6T", "e4ve4T", "e4ve6T", "e6ve4T", "eaq6veaq4T",
	"e4n4T", "e6ne6T", "e44u", "e4ve4u", "e6ve6u",
};

static u16 sum_of(const u8 *data, u32 bytes, u32 sum)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		sum += i & 1 ? data[i] : data[i] << 8;
	return quell_trim_fold(quell_trim_fold(sum));
}

/* The sum of a transport header with all behind it: 0xffff if the checksum is right. */
static u16 sum_transport(const u8 *data, const struct quell_frame_ip *ip)
{
	u32 bytes = ip->end - ip->transport_at;
	const u8 *addresses = data + ip->at + (ip->version == 4 ? 12 : 8);
	u32 sum = sum_of(addresses, ip->version == 4 ? 8 : 32, ip->protocol + bytes);

	return sum_of(data + ip->transport_at, bytes, sum);
}

static void put_check(u8 *data, const struct quell_frame_ip *ip, u32 at)
{
	put16(data + at, 0);
	put16(data + at, (u16)~sum_transport(data, ip));
}

static void put_ip_check(u8 *data, const struct quell_frame_ip *ip)
{
	if (ip->version == 4)
		put16(data + ip->at + 10, (u16)~sum_of(data + ip->at, 20, 0));
}

static void read_frame(struct quell_frame *frame, const u8 *data, u32 len)
{
	quell_frame_begin(frame, data, len, len);
	quell_frame_parse(frame);
}

/* A frame with random payload and right checksums. */
static void make(struct stack *s, const char *letters, u32 payload_bytes, bool check,
		 struct random_state *random)
{
	struct quell_frame frame;
	u32 i;

	build(s, letters, payload_bytes);
	for (i = s->len - payload_bytes; i < s->len; i++)
		s->data[i] = random_u64(random);
	read_frame(&frame, s->data, s->len);
	put_ip_check(s->data, &frame.ip[0]);
	put_ip_check(s->data, &frame.ip[1]);
	put_check(s->data, &frame.ip[1], frame.ip[1].transport_at + (frame.tcp_bytes ? 16 : 6));
	if (check && quell_trim_tunnel_udp_at(&frame))
		put_check(s->data, &frame.ip[0], frame.ip[0].transport_at + 6);
}

/* As the module does. */
static u32 trim_frame(struct stack *s, u32 size_bytes)
{
	struct quell_trim_cut cut = { .dscp = TRIM_DSCP };
	struct quell_trim_outside outside = { .dscp = TRIM_DSCP };
	struct quell_frame frame;
	struct quell_trim trim;
	u32 at;

	read_frame(&frame, s->data, s->len);
	at = quell_frame_flow(&frame)->at;
	if (!quell_trim_tunnel_may(&frame, false) || !quell_trim_parse(&frame, &trim))
		return 0;
	cut.to_bytes = quell_trim_to_bytes(&trim, at, size_bytes);
	if (!cut.to_bytes)
		return 0;
	outside.end = at + cut.to_bytes;
	cut.sum = sum_of(s->data + outside.end, trim.ip_bytes - cut.to_bytes, 0);
	if (quell_trim_tunnel_udp_at(&frame)) {
		outside.from_sum = quell_trim_inside_sum(s->data, &frame, &trim);
		outside.cut_sum = sum_of(s->data + outside.end, frame.ip[0].end - outside.end, 0);
	}
	quell_trim_edit(s->data + at, &trim, &cut);
	quell_trim_edit_outside(s->data, &frame, &trim, &outside);
	return outside.end;
}

static const char *complain(const struct stack *s, u32 len, bool good)
{
	struct quell_frame frame;
	int i;

	read_frame(&frame, s->data, len);
	if (!frame.inner || !quell_frame_flow(&frame)->transport_at)
		return "what is inside is not found";
	for (i = 0; i < 2; i++) {
		if (frame.ip[i].end != len)
			return i ? "inner length" : "outer length";
		if (frame.ip[i].dsfield >> 2 != TRIM_DSCP)
			return i ? "inner DSCP" : "outer DSCP";
		if (frame.ip[i].version == 4 && sum_of(s->data + frame.ip[i].at, 20, 0) != 0xffff)
			return i ? "inner IPv4 checksum" : "outer IPv4 checksum";
	}
	if ((sum_transport(s->data, &frame.ip[1]) == 0xffff) != good)
		return "inner checksum";
	i = quell_trim_tunnel_udp_at(&frame);
	if (!i)
		return NULL;
	if (quell_frame_u16(&frame, i + 4) != len - i)
		return "outer UDP length";
	if (quell_frame_u16(&frame, i + 6) &&
	    (sum_transport(s->data, &frame.ip[0]) == 0xffff) != good)
		return "outer UDP checksum";
	return NULL;
}

/* To any size, with an outer checksum and without, whole and damaged. */
TEST(trims)
{
	struct random_state random = { 1 };
	const char *complaint;
	u32 i, payload_bytes, size_bytes, len, trimmed = 0;
	bool check, good;
	struct stack s;
	size_t stack;

	for (i = 0; i < 60000; i++) {
		stack = i % ARRAY_SIZE(stacks);
		payload_bytes = random_between(&random, 1, 400);
		size_bytes = random_between(&random, 64, 500);
		check = random_between(&random, 0, 1);
		good = random_between(&random, 0, 3);
		make(&s, stacks[stack], payload_bytes, check, &random);
		if (!good)
			s.data[s.len - random_between(&random, 1, payload_bytes)] ^=
				random_between(&random, 1, 255);
		len = trim_frame(&s, size_bytes);
		if (!len)
			continue;
		trimmed++;
		complaint = complain(&s, len, good);
		ASSERT_EQ(NULL, complaint)
			TH_LOG("trim_%s_%u_to_%u: %s", stacks[stack], payload_bytes, size_bytes,
			       complaint);
	}
	EXPECT_GT(trimmed, 20000U);
}

TEST(which_may)
{
	static const struct {
		const char *letters;
		u32 at;
		u8 value;
		bool partial, may, returns;
	} cases[] = {
		{ "e4t", 0, 0, true, true, true },
		{ "e44t", 0, 0, true, true, true },
		{ "e4g4t", 0, 0, true, true, true },
		{ "e4k4t", 0, 0, false, false, false },
		{ "e4k4t", 34, 0x30, false, true, false },
		{ "e4k4t", 34, 0x20, false, true, true },
		{ "e4ve4t", 0, 0, true, true, true },
		{ "e4ve4t", 40, 1, true, false, true },
		{ "e4ve4t", 40, 1, false, true, true },
		{ "e4n4t", 0, 0, false, true, false },
	};
	struct quell_frame frame;
	struct stack s;

	for_each_row(row, cases) {
		build(&s, row->letters, 0);
		s.data[row->at] = row->value;
		read_frame(&frame, s.data, s.len);
		expect_eq(row->may, quell_trim_tunnel_may(&frame, row->partial), "%s_%u",
			  row->letters, row->at);
		expect_eq(row->returns, quell_trim_tunnel_returns(&frame), "%s_%u", row->letters,
			  row->at);
	}
}

/* The headers before the NACK are reversed: addresses, lengths, checksums. */
TEST(goes_back)
{
	static const char * const ways[] = { "e44T", "e6o6T", "e4ge4T", "e4ve4T", "e6ve6T" };
	static const u8 mac_there[] = { 8, 1, 2, 3, 4, 5, 10, 6, 7, 8, 9, 11 };
	static const u8 mac_back[] = { 10, 6, 7, 8, 9, 11, 14, 1, 2, 3, 4, 5 };
	u8 to[QUELL_TRIM_TUNNEL_NACK_MAX_BYTES];
	struct random_state random = { 1 };
	struct quell_frame frame, back;
	struct quell_trim trim;
	struct stack s;
	u32 at, end, link_at;

	for_each_row(row, ways) {
		make(&s, *row, 100, true, &random);
		read_frame(&frame, s.data, s.len);
		at = frame.ip[1].at;
		/* The option of a data packet, in place of twelve bytes of zeros. */
		memcpy(s.data + frame.ip[1].transport_at + 20,
		       (u8[]) { 0xfe, 12, 0x51, 0x55, 1, 0, 0, 100, 1, 2, 3, 4 }, 12);
		memset(s.data + frame.ip[0].at + (frame.ip[0].version == 4 ? 12 : 8), 0xa1, 4);
		link_at = frame.link_at;
		memcpy(s.data + link_at, mac_there, sizeof(mac_there));
		ASSERT_TRUE(quell_trim_parse(&frame, &trim));
		ASSERT_TRUE(quell_trim_wants_nack(s.data + at, &trim));
		memset(to, 0, sizeof(to));
		memcpy(to, s.data, at);
		end = at + quell_trim_nack(s.data + at, &trim, TRIM_DSCP, to + at);
		quell_trim_return(to, &frame, end, TRIM_DSCP);
		read_frame(&back, to, end);
		ASSERT_EQ(1, back.inner)
			TH_LOG("returned__%s", *row);
			expect_eq(end, back.ip[0].end, "%s", *row);
			expect_eq(end, back.ip[1].end, "%s", *row);
			expect_eq(TRIM_DSCP << 2, back.ip[0].dsfield, "%s", *row);
			expect_eq(64, back.ip[0].ttl, "%s", *row);
			expect_eq(0xa1, to[back.ip[0].at + (back.ip[0].version == 4 ? 16 : 24)],
				  "%s", *row);
			expect_eq(0xffff, sum_transport(to, &back.ip[1]), "%s", *row);
			if (back.ip[0].version == 4) {
				expect_eq(0xffff, sum_of(to + back.ip[0].at, 20, 0), "%s", *row);
				expect_eq(0x40, to[back.ip[0].at + 6], "%s", *row);
			}
			if (quell_trim_tunnel_udp_at(&back))
				expect_eq(0xffff, sum_transport(to, &back.ip[0]), "%s", *row);
			if (!link_at)
				continue;
			expect_eq(0, memcmp(to + link_at, mac_back, sizeof(mac_back)), "%s", *row);
	}
}

TEST_HARNESS_MAIN
