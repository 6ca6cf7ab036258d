// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of <quell/trim.h> and <quell/trim_nack.h>.
 */
#include <stdio.h>

#include <quell/trim_nack.h>

#include "random.h"
#include "test.h"
#include "trim_model.h"

#define PACKET_MAX	2048U
#define TRIM_DSCP	43

/* The option of a data packet: 962 bytes of payload. */
static const u8 quell_option[12] = { 0xfe, 12, 0x51, 0x55, 0x01, 0, 0x03, 0xc2, 1, 2, 3, 4 };

/* Description of a packet to build. */
struct recipe {
	bool ipv6;	/* IP version */
	u8 protocol;	/* 6 or 17 */
	u16 ip_bytes;	/* length from the IP header on */
	u8 ip_options;	/* bytes of IPv4 options */
	u8 tcp_options;	/* bytes of TCP options */
	u8 tos;	/* DSCP and ECN */
	u8 flags;	/* TCP flags */
};

static u32 transport_at(const struct recipe *r)
{
	return r->ipv6 ? 40 : 20 + r->ip_options;
}

static void put_u16(u8 *at, u32 value)
{
	at[0] = value >> 8;
	at[1] = value & 0xff;
}

/* Random bytes except the fields the recipe sets, and correct checksums. */
static void make_packet(u8 *ip, const struct recipe *r, struct random_state *random)
{
	u32 at = transport_at(r), bytes = r->ip_bytes - at, i;
	u32 check_at = at + (r->protocol == QUELL_FRAME_TCP ? 16 : 6);

	for (i = 0; i < r->ip_bytes; i++)
		ip[i] = random_u64(random);
	if (r->ipv6) {
		ip[0] = 0x60 | r->tos >> 4;
		ip[1] = r->tos << 4 | (ip[1] & 0xf);
		put_u16(ip + 4, bytes);
		ip[6] = r->protocol;
	} else {
		ip[0] = 0x40 | at / 4;
		ip[1] = r->tos;
		put_u16(ip + 2, r->ip_bytes);
		put_u16(ip + 6, 0x4000);
		ip[9] = r->protocol;
		put_u16(ip + 10, 0);
		put_u16(ip + 10, 65535 - model_sum(ip, at));
	}
	if (r->protocol == QUELL_FRAME_TCP) {
		ip[at + 12] = (20 + r->tcp_options) / 4 << 4;
		ip[at + 13] = r->flags;
	} else {
		put_u16(ip + at + 4, bytes);
	}
	put_u16(ip + check_at, 0);
	put_u16(ip + check_at, 65535 - (model_pseudo(ip, r->ipv6, r->protocol, bytes) +
					model_sum(ip + at, bytes)) % 65535);
}

/* Copy the packet to a buffer of exactly its size, so that the sanitizer sees overruns. */
static u8 *exact(const u8 *packet, u32 bytes)
{
	u8 *copy = malloc(bytes ? bytes : 1);

	memcpy(copy, packet, bytes);
	return copy;
}

/* Trim a packet and check the result; returns the complaint. */
static const char *trim_packet(const u8 *packet, u32 bytes, u32 size_bytes, bool partial)
{
	const char *complaint;
	struct quell_trim trim;
	u32 to_bytes;
	u8 *wire;

	if (!model_parse(packet, bytes < 120 ? bytes : 120, bytes, &trim))
		return "not to be trimmed";
	to_bytes = quell_trim_to_bytes(&trim, 14, size_bytes);
	if (!to_bytes)
		return "not long enough";
	wire = exact(packet, bytes);
	model_trim(wire, &trim, to_bytes, TRIM_DSCP, partial);
	complaint = model_complaint(packet, &trim, wire, to_bytes, TRIM_DSCP, partial);
	free(wire);
	return complaint;
}

static const struct recipe plain4 = { false, QUELL_FRAME_TCP, 1000, 0, 12, 0, 0x10 };
static const struct recipe plain6 = { true, QUELL_FRAME_UDP, 1000, 0, 0, 0, 0 };

/* A packet to build, bytes to change in it, and whether it must parse as trimmable. */
struct edit {
	const char *name;
	const struct recipe *recipe;
	u16 readable;
	struct { u16 at; u8 to; } byte[2];
	bool want;
};

TEST(parse)
{
	static const struct recipe udp4 = { false, QUELL_FRAME_UDP, 1000, 0, 0, 0, 0 };
	static const struct recipe tcp6 = { true, QUELL_FRAME_TCP, 1000, 0, 40, 0, 0x18 };
	static const struct recipe full = { false, QUELL_FRAME_TCP, 1000, 40, 40, 0, 0x10 };
	static const struct edit cases[] = {
		{ "tcp4", &plain4, 120, { { 0, 0x45 } }, true },
		{ "udp4", &udp4, 120, { { 0, 0x45 } }, true },
		{ "tcp6", &tcp6, 120, { { 6, 6 } }, true },
		{ "udp6", &plain6, 120, { { 6, 17 } }, true },
		{ "headers_full", &full, 120, { { 0, 0x4f } }, true },
		{ "headers_cut", &full, 119, { { 0, 0x4f } }, false },
		{ "nothing", &plain4, 0, { { 0, 0x45 } }, false },
		{ "version_5", &plain4, 120, { { 0, 0x55 } }, false },
		{ "ipv4_cut", &plain4, 19, { { 0, 0x45 } }, false },
		{ "ipv4_header_short", &plain4, 120, { { 0, 0x44 } }, false },
		{ "ipv6_cut", &plain6, 39, { { 6, 17 } }, false },
		{ "first_fragment", &plain4, 120, { { 6, 0x20 } }, false },
		{ "later_fragment", &plain4, 120, { { 6, 0 }, { 7, 5 } }, false },
		{ "may_be_fragmented", &plain4, 120, { { 6, 0 } }, true },
		{ "icmp", &plain4, 120, { { 9, 1 } }, false },
		{ "extension_header", &plain6, 120, { { 6, 0 } }, false },
		{ "shorter_than_its_header", &plain4, 120, { { 2, 0 }, { 3, 19 } }, false },
		{ "tcp_cut", &plain4, 39, { { 0, 0x45 } }, false },
		{ "tcp_length_short", &plain4, 120, { { 32, 0x40 } }, false },
		{ "tcp_beyond_packet", &plain4, 120, { { 2, 0 }, { 3, 51 } }, false },
		{ "syn", &plain4, 120, { { 33, 0x02 } }, false },
		{ "rst", &plain4, 120, { { 33, 0x14 } }, false },
		{ "fin", &plain4, 120, { { 33, 0x11 } }, true },
		{ "udp_cut", &plain6, 47, { { 6, 17 } }, false },
		{ "udp_shorter_than_packet", &plain6, 120, { { 45, 0xbf } }, false },
	};
	struct random_state random = { 1 };
	u8 packet[PACKET_MAX];
	size_t j;

	for_each_row(row, cases) {
		struct quell_trim trim;
		u8 *ip;

		make_packet(packet, row->recipe, &random);
		for (j = 0; j < 2; j++)
			if (!j || row->byte[j].at)
				packet[row->byte[j].at] = row->byte[j].to;
		ip = exact(packet, row->readable);
		expect(model_parse(ip, row->readable, 1000, &trim) == row->want, "%s", row->name);
		free(ip);
	}
}

TEST(parts)
{
	static const struct recipe r = { true, QUELL_FRAME_TCP, 777, 0, 12, 0xb9, 0x10 };
	struct random_state random = { 2 };
	struct quell_trim trim;
	u8 packet[PACKET_MAX];

	make_packet(packet, &r, &random);
	model_parse(packet, 120, PACKET_MAX, &trim);
	expect_eq(777, trim.ip_bytes, "ip_bytes");
	expect_eq(40, trim.transport_at, "transport_at");
	expect_eq(72, trim.header_bytes, "header_bytes");
	expect_eq(46, trim.dscp, "dscp");
	expect(trim.ipv6 && trim.protocol == QUELL_FRAME_TCP, "kind");
	make_packet(packet, &plain4, &random);
	packet[1] = 0xb9;
	model_parse(packet, 120, PACKET_MAX, &trim);
	expect_eq(46, trim.dscp, "dscp_ipv4");
	expect(!trim.ipv6, "ipv4");
}

TEST(to_bytes_cases)
{
	static const struct {
		const char *name;
		u32 ip_bytes, header_bytes, link_bytes, size_bytes, want;
	} cases[] = {
		{ "size_is_of_the_frame", 1000, 52, 14, 128, 114 },
		{ "tag_counts", 1000, 52, 18, 128, 110 },
		{ "headers_stay", 1000, 120, 14, 128, 120 },
		{ "size_below_link", 1000, 52, 14, 10, 52 },
		{ "one_longer", 115, 52, 14, 128, 114 },
		{ "as_long", 114, 52, 14, 128, 0 },
		{ "shorter", 60, 52, 14, 128, 0 },
		{ "headers_alone", 120, 120, 14, 64, 0 },
	};

	for_each_row(row, cases) {
		struct quell_trim trim = { .ip_bytes = row->ip_bytes,
					   .header_bytes = row->header_bytes };

		expect_eq(row->want, quell_trim_to_bytes(&trim, row->link_bytes, row->size_bytes),
			  "%s", row->name);
	}
}

/* All kinds of packets, all sizes of either parity, intact and damaged. */
TEST(edit_cases)
{
	static const struct recipe kinds[] = {
		{ false, QUELL_FRAME_TCP, 0, 0, 0, 0x02, 0x10 },
		{ false, QUELL_FRAME_TCP, 0, 8, 12, 0xff, 0x19 },
		{ false, QUELL_FRAME_UDP, 0, 40, 0, 0x01, 0 },
		{ true, QUELL_FRAME_TCP, 0, 0, 40, 0xb9, 0x11 },
		{ true, QUELL_FRAME_UDP, 0, 0, 0, 0x43, 0 },
	};
	static const char * const names[] = { "tcp4", "tcp4_options", "udp4_options",
					      "tcp6_options", "udp6" };
	struct random_state random = { 3 };
	u8 packet[PACKET_MAX];
	u32 n, damaged;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		const char *complaint = NULL;
		bool partial = false;

		for (n = 0; n < 20000 && !complaint; n++) {
			struct recipe r = kinds[i];

			r.ip_bytes = random_between(&random, 200, 1600);
			make_packet(packet, &r, &random);
			partial = n & 1;
			damaged = random_between(&random, 0, 3 * r.ip_bytes);
			if (damaged < r.ip_bytes && damaged >= transport_at(&r) + 40)
				packet[damaged] ^= 0x5a;
			if (n % 7 == 0)
				packet[transport_at(&r) + 6] ^= 0xff;
			if (r.protocol == QUELL_FRAME_UDP && n % 5 == 0)
				put_u16(packet + transport_at(&r) + 6, 0);
			complaint = trim_packet(packet, r.ip_bytes,
						random_between(&random, 64, 200), partial);
		}
		expect(!complaint, "%s %s", names[i], complaint ? complaint : "");
	}
}

/* The bytes cut off make the sum of the rest come to 0: the UDP checksum must be 65535. */
TEST(udp_zero)
{
	static const struct recipe r = { false, QUELL_FRAME_UDP, 200, 0, 0, 0, 0 };
	struct random_state random = { 4 };
	u8 packet[PACKET_MAX];
	struct quell_trim trim;
	u32 rest;

	make_packet(packet, &r, &random);
	model_parse(packet, 120, PACKET_MAX, &trim);
	/* The two payload bytes kept make the sum of the trimmed datagram 0. */
	put_u16(packet + 28, 0);
	put_u16(packet + 26, 0);
	put_u16(packet + 24, 86 - 20);
	rest = (model_pseudo(packet, false, 17, 66) + model_sum(packet + 20, 66)) % 65535;
	put_u16(packet + 28, 65535 - rest);
	put_u16(packet + 24, 180);
	rest = (model_pseudo(packet, false, 17, 180) + model_sum(packet + 20, 180)) % 65535;
	put_u16(packet + 26, 65535 - rest);
	model_trim(packet, &trim, 86, TRIM_DSCP, false);
	expect(packet[26] == 0xff && packet[27] == 0xff, "udp_sum_of_zero");
}

/* states: payload length in the option before trimming, got: after it. */
TEST(payload)
{
	static const struct {
		const char *name;
		u8 at;
		u8 change_at, change_to;
		u16 states, want;
	} cases[] = {
		{ "shorter_is_put_right", 0, 0, 0xfe, 900, 940 },
		{ "at_an_odd_place", 1, 0, 0xfe, 900, 940 },
		{ "equal_stays", 0, 0, 0xfe, 940, 940 },
		{ "longer_stays", 0, 0, 0xfe, 962, 962 },
		{ "no_option", 0, 0, 0xfd, 900, 900 },
		{ "no_data_section", 0, 4, 0x00, 900, 900 },
		{ "cut_short", 0, 1, 10, 900, 900 },
	};
	static const struct recipe r = { false, QUELL_FRAME_TCP, 1000, 0, 20, 0, 0x10 };
	struct random_state random = { 5 };
	u8 packet[PACKET_MAX], wire[PACKET_MAX];
	struct quell_trim trim;
	const char *complaint;

	for_each_row(row, cases) {
		u8 *option = packet + 40 + row->at;

		make_packet(packet, &r, &random);
		memset(packet + 40, QUELL_OPT_NOP, 20);
		memcpy(option, quell_option, sizeof(quell_option));
		put_u16(option + 6, row->states);
		option[row->change_at] = row->change_to;
		model_parse(packet, 120, PACKET_MAX, &trim);
		memcpy(wire, packet, r.ip_bytes);
		model_trim(wire, &trim, 114, TRIM_DSCP, false);
		complaint = model_complaint(packet, &trim, wire, 114, TRIM_DSCP, false);
		expect(!complaint, "payload_%s %s", row->name, complaint ? complaint : "");
		option = wire + 40 + row->at;
		expect_eq(row->want, option[6] << 8 | option[7], "payload_%s_says", row->name);
	}
}

/* The NACK must match the segment, byte for byte but for addresses and checksums. */
static bool nack_is_right(const u8 *segment, const struct recipe *r, u32 lost, const u8 *nack,
			  u32 bytes)
{
	u32 at = r->ipv6 ? 40 : 20, addresses = r->ipv6 ? 8 : 12, half = r->ipv6 ? 16 : 4;
	const u8 *tcp = segment + transport_at(r);
	struct quell_trim trim;

	if (bytes != at + 48 || !model_parse(nack, bytes, bytes, &trim) || trim.ip_bytes != bytes ||
	    trim.header_bytes != bytes || trim.dscp != TRIM_DSCP)
		return false;
	if (!r->ipv6 && model_sum(nack, 20))
		return false;
	return !memcmp(nack + addresses, segment + addresses + half, half) &&
	       !memcmp(nack + addresses + half, segment + addresses, half) &&
	       !memcmp(nack + at, tcp + 2, 2) && !memcmp(nack + at + 2, tcp, 2) &&
	       !memcmp(nack + at + 4, tcp + 8, 4) && !memcmp(nack + at + 8, tcp + 4, 4) &&
	       nack[at + 12] == 0xc0 && !nack[at + 13] && !nack[at + 14] && !nack[at + 15] &&
	       !memcmp(nack + at + 20, (u8[]) { 0xfe, 16, 0x51, 0x55, 2 }, 5) &&
	       !memcmp(nack + at + 26, tcp + 28, 4) && nack[at + 35] == tcp[25] &&
	       !memcmp(nack + at + 36, (u8[]) { 0xfe, 10, 0x51, 0x4e }, 4) &&
	       !memcmp(nack + at + 40, tcp + 4, 4) &&
	       nack[at + 44] == lost >> 8 && nack[at + 45] == (lost & 0xff) &&
	       nack[at + 46] == 1 && nack[at + 47] == 1 && !model_damage(nack, &trim, bytes);
}

TEST(nack_cases)
{
	static const struct recipe kinds[] = {
		{ false, QUELL_FRAME_TCP, 1000, 8, 12, 0xff, 0x18 },
		{ true, QUELL_FRAME_TCP, 1000, 0, 12, 0xb9, 0x19 },
	};
	struct random_state random = { 6 };
	u8 packet[PACKET_MAX];
	u32 n;

	for_each_row(row, kinds) {
		bool wants = true, right = true;

		for (n = 0; n < 1000; n++) {
			u32 lost, payload_bytes = 1000 - transport_at(row) - 32;
			u8 nack[QUELL_TRIM_NACK_MAX_BYTES] = { 0 };
			struct quell_trim trim;
			u32 bytes;

			make_packet(packet, row, &random);
			memcpy(packet + transport_at(row) + 20, quell_option, 12);
			lost = random_between(&random, 0, 1400);
			put_u16(packet + transport_at(row) + 26, lost);
			packet[transport_at(row) + 25] = n;
			put_u16(packet + transport_at(row) + 28, 7 * n);
			if (lost < payload_bytes)
				lost = payload_bytes;
			model_parse(packet, 120, PACKET_MAX, &trim);
			wants &= quell_trim_wants_nack(packet, &trim);
			bytes = quell_trim_nack(packet, &trim, TRIM_DSCP, nack);
			right &= nack_is_right(packet, row, lost, nack, bytes);
		}
		expect(wants, "ipv%d", row->ipv6 ? 6 : 4);
		expect(right, "ipv%d", row->ipv6 ? 6 : 4);
	}
}

TEST(no_nack)
{
	static const struct recipe udp = { false, QUELL_FRAME_UDP, 1000, 0, 0, 0, 0 };
	static const struct recipe empty = { false, QUELL_FRAME_TCP, 52, 0, 12, 0, 0x10 };
	struct random_state random = { 7 };
	u8 packet[PACKET_MAX];
	struct quell_trim trim;

	make_packet(packet, &udp, &random);
	model_parse(packet, 120, PACKET_MAX, &trim);
	expect(!quell_trim_wants_nack(packet, &trim), "udp");
	make_packet(packet, &empty, &random);
	memcpy(packet + 40, quell_option, 12);
	model_parse(packet, 52, 52, &trim);
	expect(!quell_trim_wants_nack(packet, &trim), "no_payload");
	make_packet(packet, &plain4, &random);
	memset(packet + 40, QUELL_OPT_NOP, 12);
	model_parse(packet, 120, PACKET_MAX, &trim);
	expect(!quell_trim_wants_nack(packet, &trim), "no_option");
}

TEST_HARNESS_MAIN
