// SPDX-License-Identifier: GPL-2.0
/*
 * Quantities: tables of texts and values, every Q16 fraction, random values of all magnitudes there
 * and back, and random decimals against 128-bit arithmetic.
 */
#include <inttypes.h>
#include <string.h>

#include <linux/quell.h>

#include "qty.h"
#include "random.h"
#include "util.h"

#include "test.h"

#define ROUND_TRIPS	200000
#define SEED		2026

static const struct {
	const char	*text;
	uint32_t	unit;
	uint64_t	value;
} accepted[] = {
	{ "25us", QUELL_UNIT_NS, 25000 },
	{ "1.5ms", QUELL_UNIT_NS, 1500000 },
	{ "0.5us", QUELL_UNIT_NS, 500 },
	{ ".5us", QUELL_UNIT_NS, 500 },
	{ "5.us", QUELL_UNIT_NS, 5000 },
	{ "2s", QUELL_UNIT_NS, 2000000000 },
	{ "7NSecs", QUELL_UNIT_NS, 7 },
	{ "0", QUELL_UNIT_NS, 0 },
	{ "0.0", QUELL_UNIT_NS, 0 },
	{ "0ms", QUELL_UNIT_NS, 0 },
	{ "1.0000000000000000000000000000000us", QUELL_UNIT_NS, 1000 },
	{ "00000000000000000000000000000001ns", QUELL_UNIT_NS, 1 },
	{ "18446744073709551615ns", QUELL_UNIT_NS, UINT64_MAX },
	{ "18446744073.709551615s", QUELL_UNIT_NS, UINT64_MAX },
	{ "50mbit", QUELL_UNIT_BYTES_PS, 6250000 },
	{ "50Mbit", QUELL_UNIT_BYTES_PS, 6250000 },
	{ "1gbit", QUELL_UNIT_BYTES_PS, 125000000 },
	{ "0.4tbit", QUELL_UNIT_BYTES_PS, 50000000000 },
	{ "8bit", QUELL_UNIT_BYTES_PS, 1 },
	{ "4bit", QUELL_UNIT_BYTES_PS, 1 },
	{ "11bit", QUELL_UNIT_BYTES_PS, 1 },
	{ "12bit", QUELL_UNIT_BYTES_PS, 2 },
	{ "10bps", QUELL_UNIT_BYTES_PS, 10 },
	{ "1.5kbps", QUELL_UNIT_BYTES_PS, 1500 },
	{ "1kibit", QUELL_UNIT_BYTES_PS, 128 },
	{ "1kibps", QUELL_UNIT_BYTES_PS, 1024 },
	{ "0", QUELL_UNIT_BYTES_PS, 0 },
	{ "1500", QUELL_UNIT_BYTES, 1500 },
	{ "1500b", QUELL_UNIT_BYTES, 1500 },
	{ "225kb", QUELL_UNIT_BYTES, 230400 },
	{ "225k", QUELL_UNIT_BYTES, 230400 },
	{ "1.5kb", QUELL_UNIT_BYTES, 1536 },
	{ "1mb", QUELL_UNIT_BYTES, 1048576 },
	{ "2gib", QUELL_UNIT_BYTES, 2147483648 },
	{ "8kbit", QUELL_UNIT_BYTES, 1024 },
	{ "0.8", QUELL_UNIT_Q16, 52429 },
	{ "80%", QUELL_UNIT_Q16, 52429 },
	{ "1", QUELL_UNIT_Q16, 65536 },
	{ "0.5", QUELL_UNIT_Q16, 32768 },
	{ "0.00001", QUELL_UNIT_Q16, 1 },
	{ "281474976710655.99999", QUELL_UNIT_Q16, UINT64_MAX },
	{ "10", QUELL_UNIT_PKTS, 10 },
	{ "10p", QUELL_UNIT_PKTS, 10 },
	{ "10.0pkts", QUELL_UNIT_PKTS, 10 },
	{ "0.01", QUELL_UNIT_PKTS_Q16, 655 },
	{ "50pkt", QUELL_UNIT_PKTS_Q16, 3276800 },
	{ "5", QUELL_UNIT_NONE, 5 },
	{ "5", 99, 5 },
	{ "on", QUELL_UNIT_BOOL, 1 },
	{ "OFF", QUELL_UNIT_BOOL, 0 },
	{ "0", QUELL_UNIT_BOOL, 0 },
	{ "true", QUELL_UNIT_BOOL, 1 },
};

static const struct {
	const char	*text;
	uint32_t	unit;
	enum qty_status	status;
} refused[] = {
	{ "", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "us", QUELL_UNIT_NS, QTY_SYNTAX },
	{ ".", QUELL_UNIT_NS, QTY_SYNTAX },
	{ ".us", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "5usx", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "5 us", QUELL_UNIT_NS, QTY_SYNTAX },
	{ " 5us", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "5us ", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "+5us", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "5e3us", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "0x10us", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "1.2.3us", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "1,5us", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "nan", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "inf", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "5kb", QUELL_UNIT_NS, QTY_SYNTAX },
	{ "5us", QUELL_UNIT_BYTES, QTY_SYNTAX },
	{ "5us", QUELL_UNIT_BYTES_PS, QTY_SYNTAX },
	{ "5us", QUELL_UNIT_NONE, QTY_SYNTAX },
	{ "5us", QUELL_UNIT_Q16, QTY_SYNTAX },
	{ "5%", QUELL_UNIT_PKTS_Q16, QTY_SYNTAX },
	{ "2", QUELL_UNIT_BOOL, QTY_SYNTAX },
	{ "", QUELL_UNIT_BOOL, QTY_SYNTAX },
	{ "onn", QUELL_UNIT_BOOL, QTY_SYNTAX },
	{ "-5us", QUELL_UNIT_NS, QTY_NEGATIVE },
	{ "-0", QUELL_UNIT_NS, QTY_NEGATIVE },
	{ "-1", QUELL_UNIT_BOOL, QTY_NEGATIVE },
	{ "-0.8", QUELL_UNIT_Q16, QTY_NEGATIVE },
	{ "25", QUELL_UNIT_NS, QTY_NO_SUFFIX },
	{ "1000000", QUELL_UNIT_BYTES_PS, QTY_NO_SUFFIX },
	{ "18446744073709551616ns", QUELL_UNIT_NS, QTY_TOO_LARGE },
	{ "18446744073.709551616s", QUELL_UNIT_NS, QTY_TOO_LARGE },
	{ "99999999999999999999999999999999s", QUELL_UNIT_NS, QTY_TOO_LARGE },
	{ "20000000000gb", QUELL_UNIT_BYTES, QTY_TOO_LARGE },
	{ "148000000tbit", QUELL_UNIT_BYTES_PS, QTY_TOO_LARGE },
	{ "281474976710656", QUELL_UNIT_Q16, QTY_TOO_LARGE },
	{ "281474976710655.999999", QUELL_UNIT_Q16, QTY_TOO_LARGE },
	{ "0.5ns", QUELL_UNIT_NS, QTY_TOO_FINE },
	{ "25.0005us", QUELL_UNIT_NS, QTY_TOO_FINE },
	{ "1.0000000000000000000000000000001us", QUELL_UNIT_NS, QTY_TOO_FINE },
	{ "1.5b", QUELL_UNIT_BYTES, QTY_TOO_FINE },
	{ "0.0001kb", QUELL_UNIT_BYTES, QTY_TOO_FINE },
	{ "0.5", QUELL_UNIT_PKTS, QTY_TOO_FINE },
	{ "1.5", QUELL_UNIT_NONE, QTY_TOO_FINE },
	{ "3bit", QUELL_UNIT_BYTES_PS, QTY_TOO_FINE },
	{ "0.000007", QUELL_UNIT_Q16, QTY_TOO_FINE },
	{ "0.000001%", QUELL_UNIT_Q16, QTY_TOO_FINE },
};

static const struct {
	uint32_t	unit;
	uint64_t	value;
	const char	*text;
} written[] = {
	{ QUELL_UNIT_NS, 0, "0ns" },
	{ QUELL_UNIT_NS, 999, "999ns" },
	{ QUELL_UNIT_NS, 5000, "5us" },
	{ QUELL_UNIT_NS, 5001, "5.001us" },
	{ QUELL_UNIT_NS, 1234567, "1.234567ms" },
	{ QUELL_UNIT_NS, 2500000000, "2.5s" },
	{ QUELL_UNIT_NS, UINT64_MAX, "18446744073.709551615s" },
	{ QUELL_UNIT_BYTES, 0, "0b" },
	{ QUELL_UNIT_BYTES, 1500, "1500b" },
	{ QUELL_UNIT_BYTES, 230400, "225kb" },
	{ QUELL_UNIT_BYTES, 1073741824, "1gb" },
	{ QUELL_UNIT_BYTES_PS, 0, "0bit" },
	{ QUELL_UNIT_BYTES_PS, 1, "8bit" },
	{ QUELL_UNIT_BYTES_PS, 6250000, "50Mbit" },
	{ QUELL_UNIT_BYTES_PS, 12500000000, "100Gbit" },
	{ QUELL_UNIT_BYTES_PS, 6250001, "50.000008Mbit" },
	{ QUELL_UNIT_BYTES_PS, UINT64_MAX, "18446744073709551615Bps" },
	{ QUELL_UNIT_Q16, 0, "0" },
	{ QUELL_UNIT_Q16, 52429, "0.8" },
	{ QUELL_UNIT_Q16, 65536, "1" },
	{ QUELL_UNIT_Q16, 1, "0.00002" },
	{ QUELL_UNIT_PKTS, 10, "10pkt" },
	{ QUELL_UNIT_PKTS_Q16, 6554, "0.1pkt" },
	{ QUELL_UNIT_PKTS_Q16, 655, "0.01pkt" },
	{ QUELL_UNIT_PKTS_Q16, 3276800, "50pkt" },
	{ QUELL_UNIT_BOOL, 0, "off" },
	{ QUELL_UNIT_BOOL, 1, "on" },
	{ QUELL_UNIT_BOOL, 2, "2" },
	{ QUELL_UNIT_NONE, 7, "7" },
	{ 99, 7, "7" },
};

TEST(qty_parse__accepted_cases)
{

	for_each_row(row, accepted) {
		uint64_t value = 0xdead;
		enum qty_status status;

		status = qty_parse(row->text, row->unit, &value);
		expect(status == QTY_OK && value == row->value,
		       "accepted '%s' as unit %u: status %d, %" PRIu64, row->text, row->unit,
		       status, value);
	}
}

TEST(qty_parse__refused_cases)
{

	for_each_row(row, refused) {
		uint64_t value = 0xdead;
		enum qty_status status;

		status = qty_parse(row->text, row->unit, &value);
		expect(status == row->status && value == 0xdead,
		       "refused '%s' as unit %u: status %d, result %s", row->text, row->unit,
		       status, value == 0xdead ? "untouched" : "written");
	}
}

TEST(qty_format__table_cases)
{
	char text[QTY_TEXT_LEN];

	for_each_row(row, written) {
		qty_format(text, sizeof(text), row->unit, row->value);
		expect(!strcmp(text, row->text), "table unit %u %" PRIu64 ": '%s'", row->unit,
		       row->value, text);
	}
}

static bool round_trip(uint32_t unit, uint64_t value)
{
	char text[QTY_TEXT_LEN];
	uint64_t back = ~value;

	qty_format(text, sizeof(text), unit, value);
	if (qty_parse(text, unit, &back) == QTY_OK && back == value)
		return true;
	printf("# unit %u: %" PRIu64 " -> '%s' -> %" PRIu64 "\n", unit, value, text, back);
	return false;
}

TEST(qty_round_trip__every_fraction_cases)
{
	uint64_t value;
	bool pass = true;

	for (value = 0; pass && value <= 2 << 16; value++)
		pass = round_trip(QUELL_UNIT_Q16, value);
	expect(pass, "every_fraction");
}

TEST(qty_round_trip__random_cases)
{
	struct random_state r = { SEED };
	uint32_t unit;
	int i;

	for (unit = QUELL_UNIT_NONE; unit <= QUELL_UNIT_BOOL + 1; unit++) {
		uint64_t max = unit == QUELL_UNIT_BOOL ? 1 : UINT64_MAX;
		bool pass = round_trip(unit, max);

		for (i = 0; pass && i < ROUND_TRIPS; i++)
			pass = round_trip(unit, random_magnitude(&r, 0, max));
		expect(pass, "random unit %u, %d values", unit, i);
	}
}

/* Suffixes once more, as tc(8) documents them, for the reference. */
static const struct {
	const char	*name;
	uint32_t	unit;
	uint64_t	num;
	uint64_t	den;
	bool		nearest;
} suffixes[] = {
	{ "us", QUELL_UNIT_NS, 1000, 1, false },
	{ "s", QUELL_UNIT_NS, 1000000000, 1, false },
	{ "bit", QUELL_UNIT_BYTES_PS, 1, 8, true },
	{ "kbit", QUELL_UNIT_BYTES_PS, 1000, 8, true },
	{ "gbit", QUELL_UNIT_BYTES_PS, 1000000000, 8, true },
	{ "gibit", QUELL_UNIT_BYTES_PS, 1 << 30, 8, true },
	{ "tbps", QUELL_UNIT_BYTES_PS, 1000000000000, 1, true },
	{ "kb", QUELL_UNIT_BYTES, 1024, 1, false },
	{ "gb", QUELL_UNIT_BYTES, 1 << 30, 1, false },
	{ "", QUELL_UNIT_Q16, 65536, 1, true },
	{ "%", QUELL_UNIT_Q16, 65536, 100, true },
};

/* (whole + frac / 10^digits) * num / den in 128 bits. */
static bool agrees(size_t s, uint64_t whole, uint64_t frac, int digits)
{
	unsigned __int128 pow = 1, product, want;
	enum qty_status status, want_status = QTY_OK;
	uint64_t value = 0;
	char text[96];
	int i;

	for (i = 0; i < digits; i++)
		pow *= 10;
	frac %= (uint64_t)pow;
	snprintf(text, sizeof(text), "%" PRIu64 ".%0*" PRIu64 "%s", whole,
		 digits, frac, suffixes[s].name);

	product = (whole * pow + frac) * suffixes[s].num;
	pow *= suffixes[s].den;
	want = product / pow;
	if (product % pow && !suffixes[s].nearest)
		want_status = QTY_TOO_FINE;
	else if (product % pow * 2 >= pow)
		want++;
	if (!want && (whole || frac))
		want_status = QTY_TOO_FINE;

	status = qty_parse(text, suffixes[s].unit, &value);
	if (status == want_status && (status || value == want))
		return true;
	printf("# '%s': status %d, value %" PRIu64 ", want %d, %" PRIu64 "\n", text,
	       status, value, want_status, (uint64_t)want);
	return false;
}

TEST(qty_parse__against_128_bits_cases)
{
	struct random_state r = { SEED };
	size_t s;
	int i;

	for (s = 0; s < ARRAY_SIZE(suffixes); s++) {
		bool pass = true;

		for (i = 0; pass && i < ROUND_TRIPS; i++)
			pass = agrees(s, random_magnitude(&r, 0, 1 << 20),
				      random_magnitude(&r, 0, 999999999),
				      random_between(&r, 1, 9));
		expect(pass, "against_128_bits '%s', %d values", suffixes[s].name, i);
	}
}

TEST(qty_format_rate_short__table_cases)
{
	char text[QTY_TEXT_LEN];

	qty_format_rate_short(text, sizeof(text), 1234567890);
	expect(!strcmp(text, "9.876Gbit"), "cut '%s'", text);
	qty_format_rate_short(text, sizeof(text), 12500000000);
	expect(!strcmp(text, "100Gbit"), "whole '%s'", text);
	qty_format_rate_short(text, sizeof(text), 0);
	expect(!strcmp(text, "0bit"), "zero '%s'", text);
}

TEST_HARNESS_MAIN
