// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of <quell/option.h>.  The expected bytes were written by hand from
 * Documentation/wire-format.md, not by the code.
 */
#include <stdio.h>
#include <string.h>

#include <quell/option.h>

#include "random.h"
#include "test.h"

/* Maximum length of a TCP header's options, bytes. */
#define OPTIONS_BYTES	40U

static const struct {
	const char *name;
	struct quell_opt opt;
	u32 bytes;
	u8 wire[QUELL_OPT_MAX_BYTES];
} forms[] = {
	{ "syn", { .form = QUELL_OPT_SYN, .version = 1 }, 8,
	  { 254, 8, 0x51, 0x55, 1, 0, 0, 0 } },
	{ "short", { .form = QUELL_OPT_SHORT, .echo_ns = 0x12345678 }, 8,
	  { 254, 8, 0x51, 0x55, 0x12, 0x34, 0x56, 0x78 } },
	{ "data", { .form = QUELL_OPT_FULL, .flags = QUELL_OPT_F_DATA | QUELL_OPT_F_START,
		    .entropy = 7, .payload_bytes = 1436, .depart_ns = 0xfedcba98 }, 12,
	  { 254, 12, 0x51, 0x55, 0x11, 7, 0x05, 0x9c, 0xfe, 0xdc, 0xba, 0x98 } },
	{ "ack", { .form = QUELL_OPT_FULL, .flags = QUELL_OPT_F_ACK | QUELL_OPT_F_CE,
		   .entropy = 3, .echo_ns = 1, .hold_ns = 0x010203, .senders = 258,
		   .echo_entropy = 9 }, 16,
	  { 254, 16, 0x51, 0x55, 0x42, 3, 0, 0, 0, 1, 1, 2, 3, 1, 2, 9 } },
	{ "both", { .form = QUELL_OPT_FULL,
		    .flags = QUELL_OPT_F_DATA | QUELL_OPT_F_ACK | QUELL_OPT_F_MORE |
			     QUELL_OPT_F_HARDWARE,
		    .entropy = 255, .payload_bytes = 65535, .depart_ns = 0xffffffff,
		    .echo_ns = 0x80000000, .hold_ns = 0xffffff, .senders = 65535,
		    .echo_entropy = 128 }, 24,
	  { 254, 22, 0x51, 0x55, 0xa3, 255, 255, 255, 255, 255, 255, 255,
	    0x80, 0, 0, 0, 255, 255, 255, 255, 255, 128, 1, 1 } },
	{ "telemetry", { .form = QUELL_OPT_FULL,
			 .flags = QUELL_OPT_F_DATA | QUELL_OPT_F_TELEMETRY,
			 .payload_bytes = 1424, .depart_ns = 2,
			 .telemetry = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } }, 24,
	  { 254, 24, 0x51, 0x55, 0x05, 0, 0x05, 0x90, 0, 0, 0, 2,
	    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 } },
	{ "record", { .form = QUELL_OPT_FULL, .flags = QUELL_OPT_F_ACK | QUELL_OPT_F_RECORD,
		      .echo_ns = 3, .hold_ns = 4, .senders = 5, .echo_entropy = 6,
		      .record = { 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22 } }, 28,
	  { 254, 28, 0x51, 0x55, 0x0a, 0, 0, 0, 0, 3, 0, 0, 4, 0, 5, 6,
	    11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22 } },
	{ "no_section", { .form = QUELL_OPT_FULL, .flags = QUELL_OPT_F_START,
			  .entropy = 2 }, 8,
	  { 254, 6, 0x51, 0x55, 0x10, 2, 1, 1 } },
};

TEST(encode)
{

	for_each_row(row, forms) {
		u8 wire[QUELL_OPT_MAX_BYTES] = { 0 };

		expect_eq(row->bytes, quell_opt_bytes(&row->opt), "%s", row->name);
		expect_eq(row->bytes, quell_opt_encode(&row->opt, wire), "%s_length", row->name);
		expect(!memcmp(wire, row->wire, sizeof(wire)), "%s_bytes", row->name);
	}
}

static bool same(const struct quell_opt *a, const struct quell_opt *b)
{
	return a->form == b->form && a->version == b->version && a->flags == b->flags &&
	       a->entropy == b->entropy && a->payload_bytes == b->payload_bytes &&
	       a->depart_ns == b->depart_ns && a->echo_ns == b->echo_ns &&
	       a->hold_ns == b->hold_ns && a->senders == b->senders &&
	       a->echo_entropy == b->echo_entropy &&
	       !memcmp(a->telemetry, b->telemetry, sizeof(a->telemetry)) &&
	       !memcmp(a->record, b->record, sizeof(a->record));
}

TEST(decode)
{
	struct quell_opt opt;

	for_each_row(row, forms) {
		expect(quell_opt_decode(row->wire, row->wire[1], row->opt.form == QUELL_OPT_SYN,
					&opt) &&
			       same(&opt, &row->opt),
		       "%s", row->name);
	}
}

TEST(hold_saturates)
{
	struct quell_opt opt = { .form = QUELL_OPT_FULL, .flags = QUELL_OPT_F_ACK,
				 .hold_ns = 0x1000000 };
	u8 wire[QUELL_OPT_MAX_BYTES];
	struct quell_opt back;

	quell_opt_encode(&opt, wire);
	quell_opt_decode(wire, wire[1], false, &back);
	expect_eq(QUELL_OPT_HOLD_MAX_NS, back.hold_ns, "hold_time_saturates");
}

TEST(decode_length)
{
	static const struct {
		const char *name;
		u32 bytes;
		bool syn;
		u8 flags;
		bool good;
	} cases[] = {
		{ "syn_too_short", 7, true, 1, false },
		{ "syn_longer", 10, true, 1, true },
		{ "no_flags", 4, false, 0, false },
		{ "no_entropy", 5, false, 0, false },
		{ "data_too_short", 11, false, QUELL_OPT_F_DATA, false },
		{ "data_longer", 20, false, QUELL_OPT_F_DATA, true },
		{ "ack_too_short", 15, false, QUELL_OPT_F_ACK, false },
		{ "telemetry_too_short", 23, false,
		  QUELL_OPT_F_DATA | QUELL_OPT_F_TELEMETRY, false },
		{ "record_too_short", 27, false, QUELL_OPT_F_ACK | QUELL_OPT_F_RECORD, false },
		{ "both_too_short", 21, false, QUELL_OPT_F_DATA | QUELL_OPT_F_ACK, false },
	};

	for_each_row(row, cases) {
		u8 wire[OPTIONS_BYTES] = { 254, row->bytes, 0x51, 0x55, row->flags };
		struct quell_opt opt;

		expect(quell_opt_decode(wire, row->bytes, row->syn, &opt) == row->good, "%s",
		       row->name);
	}
}

TEST(telemetry_at)
{
	static const struct {
		const char *name;
		u8 flags;
		u32 stated;
		u32 at;
	} cases[] = {
		{ "alone", QUELL_OPT_F_TELEMETRY, 18, 6 },
		{ "behind_data", QUELL_OPT_F_TELEMETRY | QUELL_OPT_F_DATA, 24, 12 },
		{ "behind_data_and_ack",
		  QUELL_OPT_F_TELEMETRY | QUELL_OPT_F_DATA | QUELL_OPT_F_ACK, 34, 22 },
		{ "one_byte_missing", QUELL_OPT_F_TELEMETRY | QUELL_OPT_F_DATA, 23, 0 },
		{ "before_an_echo", QUELL_OPT_F_TELEMETRY | QUELL_OPT_F_RECORD, 30, 6 },
		{ "echo_missing", QUELL_OPT_F_TELEMETRY | QUELL_OPT_F_RECORD, 29, 0 },
		{ "no_flag", QUELL_OPT_F_DATA | QUELL_OPT_F_RECORD, 24, 0 },
		{ "short_form", QUELL_OPT_F_TELEMETRY, 8, 0 },
		{ "no_flags_at_all", QUELL_OPT_F_TELEMETRY, 4, 0 },
	};

	for_each_row(row, cases) {
		u8 wire[OPTIONS_BYTES] = { 254, row->stated, 0x51, 0x55, row->flags };

		expect_eq(row->at, quell_opt_telemetry_at(wire, row->stated), "%s", row->name);
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
		{ "first", 12, 0, 8, { 254, 8, 0x51, 0x55, 1, 0, 0, 0, 1, 1, 1, 0 } },
		{ "behind_timestamps", 20, 12, 8,
		  { 1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 254, 8, 0x51, 0x55 } },
		{ "other_experiment_before", 12, 4, 8,
		  { 254, 4, 0xf9, 0x89, 254, 8, 0x51, 0x55 } },
		{ "experiment_without_identifier", 4, 4, 0, { 254, 3, 0x51, 0 } },
		{ "other_kind", 8, 8, 0, { 253, 8, 0x51, 0x55 } },
		{ "behind_the_end", 12, 12, 0, { 0, 254, 8, 0x51, 0x55 } },
		{ "behind_length_zero", 12, 12, 0, { 8, 0, 254, 8, 0x51, 0x55 } },
		{ "behind_length_one", 12, 12, 0, { 8, 1, 254, 8, 0x51, 0x55 } },
		{ "beyond_the_header", 4, 4, 0, { 254, 8, 0x51, 0x55 } },
		{ "kind_alone", 1, 1, 0, { 254 } },
		{ "only_padding", 4, 4, 0, { 1, 1, 1, 1 } },
		{ "nothing", 0, 0, 0, { 254, 8, 0x51, 0x55 } },
	};

	for_each_row(row, cases) {
		u32 stated = 0;
		u32 at = quell_opt_find(row->options, row->bytes, &stated);

		expect_eq(row->at, at, "%s", row->name);
		if (row->at < row->bytes) {
			expect_eq(row->stated, stated, "%s_length", row->name);
		}
	}
}

static void random_record(struct random_state *random, u8 *record)
{
	u32 i;

	for (i = 0; i < QUELL_TELEMETRY_BYTES; i++)
		record[i] = random_u64(random);
}

static struct quell_opt random_option(struct random_state *random)
{
	struct quell_opt opt = { .form = QUELL_OPT_FULL };

	opt.flags = random_u64(random) & QUELL_OPT_F_KNOWN;
	opt.entropy = random_u64(random);
	if (opt.flags & QUELL_OPT_F_DATA) {
		opt.payload_bytes = random_u64(random);
		opt.depart_ns = random_u64(random);
	}
	if (opt.flags & QUELL_OPT_F_ACK) {
		opt.echo_ns = random_u64(random);
		opt.hold_ns = random_u64(random) & QUELL_OPT_HOLD_MAX_NS;
		opt.senders = random_u64(random);
		opt.echo_entropy = random_u64(random);
	}
	if (opt.flags & QUELL_OPT_F_TELEMETRY)
		random_record(random, opt.telemetry);
	if (opt.flags & QUELL_OPT_F_RECORD)
		random_record(random, opt.record);
	return opt;
}

/* A segment's position in the send queue: seq, end_seq, snd_una, snd_nxt, write_seq, pushed. */
static const struct {
	const char *name;
	struct quell_opt_place place;
	u8 flags;
} places[] = {
	{ "whole_message", { 100, 200, 100, 100, 200, true }, QUELL_OPT_F_START },
	{ "first_of_several", { 100, 200, 100, 100, 201, false },
	  QUELL_OPT_F_START | QUELL_OPT_F_MORE },
	{ "pushed_with_more_behind", { 100, 200, 100, 100, 300, true },
	  QUELL_OPT_F_START | QUELL_OPT_F_MORE },
	{ "in_the_middle", { 200, 300, 100, 200, 400, false }, QUELL_OPT_F_MORE },
	{ "middle_of_a_write", { 200, 300, 100, 200, 300, false }, QUELL_OPT_F_MORE },
	{ "last", { 200, 300, 100, 200, 300, true }, 0 },
	{ "last_but_the_fin", { 200, 300, 100, 200, 301, true }, QUELL_OPT_F_MORE },
	{ "more_while_one_is_out", { 300, 400, 200, 300, 400, true }, 0 },
	{ "first_sent_again", { 100, 200, 100, 300, 300, false }, QUELL_OPT_F_MORE },
	{ "all_sent_again", { 100, 200, 100, 200, 200, true }, 0 },
	{ "last_sent_again", { 200, 300, 200, 300, 300, true }, 0 },
	{ "not_all_acknowledged", { 100, 200, 99, 100, 200, true }, 0 },
	{ "numbers_come_round", { 0xffffff00, 0x20, 0xffffff00, 0xffffff00, 0x20, true },
	  QUELL_OPT_F_START },
	{ "more_comes_round", { 0xfffffe00, 0xffffff00, 0xfffffd00, 0xfffffe00, 0x20, true },
	  QUELL_OPT_F_MORE },
	{ "behind_what_was_written", { 100, 200, 100, 100, 199, true }, QUELL_OPT_F_START },
};

TEST(message)
{

	for_each_row(row, places) {
		expect_eq(row->flags, quell_opt_message(&row->place), "%s", row->name);
	}
	expect(quell_opt_ends(QUELL_OPT_F_DATA | QUELL_OPT_F_START, true), "last_packet");
	expect(!quell_opt_ends(QUELL_OPT_F_DATA, false), "rest_of_its_burst");
	expect(!quell_opt_ends(QUELL_OPT_F_MORE, true), "more_behind");
	expect(!quell_opt_ends(QUELL_OPT_F_MORE, false), "middle");
}

/* An option written behind any number of other options is found and decoded unchanged. */
TEST(round_trip)
{
	struct random_state random = { 1 };
	unsigned int wrong = 0;
	int i;

	for (i = 0; i < 1000000; i++) {
		struct quell_opt opt = random_option(&random), back = { 0 };
		u8 options[16 + QUELL_OPT_MAX_BYTES];
		u32 before = random_u64(&random) % 17, bytes, stated = 0, at;

		memset(options, QUELL_OPT_NOP, before);
		bytes = before + quell_opt_encode(&opt, options + before);
		at = quell_opt_find(options, bytes, &stated);
		wrong += at != before || !quell_opt_decode(options + at, stated, false, &back) ||
			 !same(&opt, &back);
	}
	expect_eq(0, wrong, "a_million_round_trips");
}

TEST_HARNESS_MAIN
