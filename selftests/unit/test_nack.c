// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of <quell/nack.h>.  The expected bytes were written by hand from
 * Documentation/wire-format.md, not by the code.
 */
#include <stdio.h>
#include <string.h>

#include <quell/nack.h>

#include "random.h"
#include "test.h"

/* Maximum length of a TCP header's options, bytes. */
#define OPTIONS_BYTES	40U

static const struct {
	const char *name;
	struct quell_nack nack;
	u8 wire[QUELL_NACK_BYTES];
} forms[] = {
	{ "full_segment", { .seq = 0x12345678, .bytes = 1436 },
	  { 254, 10, 0x51, 0x4e, 0x12, 0x34, 0x56, 0x78, 0x05, 0x9c, 1, 1 } },
	{ "one_byte", { .seq = 0, .bytes = 1 },
	  { 254, 10, 0x51, 0x4e, 0, 0, 0, 0, 0, 1, 1, 1 } },
	{ "largest", { .seq = 0xffffffff, .bytes = 65535 },
	  { 254, 10, 0x51, 0x4e, 255, 255, 255, 255, 255, 255, 1, 1 } },
};

TEST(forms_cases)
{

	for_each_row(row, forms) {
		u8 wire[QUELL_NACK_BYTES] = { 0 };
		struct quell_nack nack = { 0 };

		expect_eq(12, quell_nack_encode(&row->nack, wire), "%s_length", row->name);
		expect(!memcmp(wire, row->wire, sizeof(wire)), "%s_bytes", row->name);
		expect(quell_nack_decode(row->wire, 10, &nack), "%s", row->name);
		expect_eq(row->nack.seq, nack.seq, "%s_seq", row->name);
		expect_eq(row->nack.bytes, nack.bytes, "%s_bytes", row->name);
	}
}

TEST(decode_refuses)
{
	static const struct {
		const char *name;
		u32 stated;
		u8 bytes;
		bool good;
	} cases[] = {
		{ "one_byte_missing", 9, 1, false },
		{ "identifier_alone", 4, 1, false },
		{ "longer", 14, 1, true },
		{ "no_byte_lost", 10, 0, false },
	};

	for_each_row(row, cases) {
		u8 wire[OPTIONS_BYTES] = { 254, row->stated, 0x51, 0x4e, 1, 2, 3, 4, 0, row->bytes };
		struct quell_nack nack;

		expect(quell_nack_decode(wire, row->stated, &nack) == row->good, "%s", row->name);
	}
}

TEST(find)
{
	static const struct {
		const char *name;
		u32 bytes;
		u32 at;		/* bytes: not found */
		u32 stated;
		u8 options[OPTIONS_BYTES];
	} cases[] = {
		{ "alone", 12, 0, 10, { 254, 10, 0x51, 0x4e, 0, 0, 0, 1, 0, 1, 1, 1 } },
		{ "behind_the_quell_option", 20, 8, 10,
		  { 254, 8, 0x51, 0x55, 0, 0, 0, 1, 254, 10, 0x51, 0x4e } },
		{ "the_quell_option_alone", 8, 8, 0, { 254, 8, 0x51, 0x55 } },
		{ "too_short_for_its_number", 4, 0, 4, { 254, 4, 0x51, 0x4e } },
		{ "beyond_the_header", 8, 8, 0, { 254, 10, 0x51, 0x4e } },
		{ "behind_the_end", 12, 12, 0, { 0, 254, 10, 0x51, 0x4e } },
		{ "nothing", 0, 0, 0, { 254, 10, 0x51, 0x4e } },
	};

	for_each_row(row, cases) {
		u32 stated = 0;
		u32 at = quell_nack_find(row->options, row->bytes, &stated);

		expect_eq(row->at, at, "%s", row->name);
		expect_eq(row->stated, stated, "%s_length", row->name);
	}
}

/* A NACK written behind any number of other options is found and decoded unchanged. */
TEST(round_trip)
{
	struct random_state random = { 1 };
	unsigned int wrong = 0;
	int i;

	for (i = 0; i < 1000000; i++) {
		struct quell_nack nack = { .seq = random_u64(&random),
					   .bytes = 1 + random_u64(&random) % 65535 };
		struct quell_opt opt = { .form = QUELL_OPT_FULL, .flags = QUELL_OPT_F_ACK,
					 .echo_ns = random_u64(&random) };
		u32 before = 0, bytes, stated = 0, at;
		struct quell_nack back = { 0 };
		u8 options[OPTIONS_BYTES];

		if (random_u64(&random) & 1)
			before = quell_opt_encode(&opt, options);
		bytes = before + quell_nack_encode(&nack, options + before);
		at = quell_nack_find(options, bytes, &stated);
		wrong += at != before || !quell_nack_decode(options + at, stated, &back) ||
			 back.seq != nack.seq || back.bytes != nack.bytes ||
			 (before && quell_opt_find(options, bytes, &stated) != 0);
	}
	expect_eq(0, wrong, "a_million_round_trips");
}

TEST_HARNESS_MAIN
