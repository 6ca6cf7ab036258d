// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion between quantities as people write them and base units.
 *
 * A suffix is a fraction num / den of the base unit.  Text is a decimal, so
 *
 *	value = (whole + 0.d1d2...dn) * num / den
 *
 * is computed exactly: the digits behind the point are multiplied by num
 * from the last to the first as on paper, which needs no more than 64 bits
 * because num stays below 2^41.  The fraction of the product
 * decides rounding, or rejection where the base unit is indivisible.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <linux/quell.h>

#include "qty.h"
#include "util.h"

#define KIBI		(1ULL << 10)
#define MEBI		(1ULL << 20)
#define GIBI		(1ULL << 30)
#define TEBI		(1ULL << 40)
#define Q16_ONE		(1ULL << 16)

/* Number of decimals that distinguishes any two neighbouring Q16 values: 10^5 > 2^16. */
#define Q16_DIGITS	5

struct suffix {
	const char	*name;
	uint64_t	num;
	uint64_t	den;	/* 1 or even: rounding relies on it */
};

/* Those in front, down to the base unit, are used for output; case does not matter for input. */
static const struct suffix time_suffixes[] = {
	{ "s", 1000000000, 1 }, { "ms", 1000000, 1 }, { "us", 1000, 1 }, { "ns", 1, 1 },
	{ "sec", 1000000000, 1 }, { "secs", 1000000000, 1 }, { "msec", 1000000, 1 },
	{ "msecs", 1000000, 1 }, { "usec", 1000, 1 }, { "usecs", 1000, 1 }, { "nsec", 1, 1 },
	{ "nsecs", 1, 1 },
};

static const struct suffix rate_suffixes[] = {
	{ "Tbit", 125000000000, 1 }, { "Gbit", 125000000, 1 }, { "Mbit", 125000, 1 },
	{ "Kbit", 125, 1 }, { "bit", 1, 8 }, { "tibit", TEBI / 8, 1 }, { "gibit", GIBI / 8, 1 },
	{ "mibit", MEBI / 8, 1 }, { "kibit", KIBI / 8, 1 }, { "tbps", 1000000000000, 1 },
	{ "gbps", 1000000000, 1 }, { "mbps", 1000000, 1 }, { "kbps", 1000, 1 }, { "bps", 1, 1 },
	{ "tibps", TEBI, 1 }, { "gibps", GIBI, 1 }, { "mibps", MEBI, 1 }, { "kibps", KIBI, 1 },
};

static const struct suffix size_suffixes[] = {
	{ "gb", GIBI, 1 }, { "mb", MEBI, 1 }, { "kb", KIBI, 1 }, { "b", 1, 1 }, { "", 1, 1 },
	{ "k", KIBI, 1 }, { "m", MEBI, 1 }, { "g", GIBI, 1 }, { "kib", KIBI, 1 },
	{ "mib", MEBI, 1 }, { "gib", GIBI, 1 }, { "kbit", KIBI / 8, 1 }, { "mbit", MEBI / 8, 1 },
	{ "gbit", GIBI / 8, 1 },
};

static const struct suffix plain_suffixes[] = { { "", 1, 1 } };

static const struct suffix q16_suffixes[] = {
	{ "", Q16_ONE, 1 }, { "%", Q16_ONE, 100 },
};

static const struct suffix pkts_suffixes[] = {
	{ "", 1, 1 }, { "p", 1, 1 }, { "pkt", 1, 1 }, { "pkts", 1, 1 },
};

static const struct suffix pkts_q16_suffixes[] = {
	{ "", Q16_ONE, 1 }, { "p", Q16_ONE, 1 }, { "pkt", Q16_ONE, 1 }, { "pkts", Q16_ONE, 1 },
};

/* Words for a switch; the first two are used for output. */
static const struct {
	const char	*name;
	uint64_t	value;
} bool_names[] = {
	{ "off", 0 }, { "on", 1 }, { "0", 0 }, { "1", 1 },
	{ "no", 0 }, { "yes", 1 }, { "false", 0 }, { "true", 1 },
};

/*
 * Properties of a unit.  @nearest: round to the base unit instead of
 * rejecting values between two multiples of it.
 */
struct unit_desc {
	const char		*name;
	const char		*expected;
	const struct suffix	*suffixes;
	size_t			n_suffixes;
	bool			nearest;
};

#define UNIT(name_, expected_, suffixes_, ...) \
	{ .name = name_, .expected = expected_, .suffixes = suffixes_, \
	  .n_suffixes = ARRAY_SIZE(suffixes_), ##__VA_ARGS__ }

static const struct unit_desc units[] = {
	[QUELL_UNIT_NONE] = UNIT("none", "a whole number such as 5", plain_suffixes),
	[QUELL_UNIT_NS] = UNIT("ns", "a time such as 25us or 1.5ms (ns, us, ms, s)", time_suffixes),
	[QUELL_UNIT_BYTES] = UNIT("bytes",
		"a size such as 1500b or 225kb (b, kb, mb, gb; kb is 1024 bytes)", size_suffixes),
	[QUELL_UNIT_BYTES_PS] = UNIT("bytes-ps",
		"a rate such as 50mbit or 2.5gbit (bit, kbit .. tbit; bps is bytes/s)",
		rate_suffixes, .nearest = true),
	[QUELL_UNIT_Q16] = UNIT("q16", "a fraction such as 0.8 or 80%", q16_suffixes,
				.nearest = true),
	[QUELL_UNIT_PKTS] = UNIT("pkts", "a whole number of packets such as 10 or 10pkt",
				 pkts_suffixes),
	[QUELL_UNIT_PKTS_Q16] = UNIT("pkts-q16", "a number of packets such as 50 or 0.1pkt",
				     pkts_q16_suffixes, .nearest = true),
	[QUELL_UNIT_BOOL] = { .name = "bool", .expected = "on or off" },
};

/* A unit unknown to this program is handled as a plain number. */
static const struct unit_desc *unit_desc(uint32_t unit)
{
	return &units[unit < ARRAY_SIZE(units) ? unit : QUELL_UNIT_NONE];
}

static enum qty_status parse_bool(const char *text, uint64_t *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bool_names); i++) {
		if (!strcasecmp(text, bool_names[i].name)) {
			*value = bool_names[i].value;
			return QTY_OK;
		}
	}
	return *text == '-' ? QTY_NEGATIVE : QTY_SYNTAX;
}

/* A decimal split into its parts, not converted yet. */
struct decimal {
	const char	*whole;
	size_t		n_whole;
	const char	*frac;
	size_t		n_frac;
	const char	*suffix;
};

static enum qty_status split_decimal(const char *text, struct decimal *d)
{
	if (*text == '-')
		return QTY_NEGATIVE;

	d->whole = text;
	d->n_whole = strspn(text, "0123456789");
	text += d->n_whole;

	d->frac = text;
	d->n_frac = 0;
	if (*text == '.') {
		d->frac = ++text;
		d->n_frac = strspn(text, "0123456789");
		text += d->n_frac;
	}

	d->suffix = text;
	return d->n_whole + d->n_frac ? QTY_OK : QTY_SYNTAX;
}

static bool decimal_is_zero(const struct decimal *d)
{
	return strspn(d->whole, "0") >= d->n_whole &&
	       strspn(d->frac, "0") >= d->n_frac;
}

/*
 * scale_decimal() - compute (whole + fraction) * num / den
 * @d: the digits
 * @s: the suffix
 * @value: the quotient rounded down
 * @round_up: the remainder is at least one half
 * @exact: the remainder is 0
 *
 * Return: QTY_OK or QTY_TOO_LARGE.
 */
static enum qty_status scale_decimal(const struct decimal *d,
				     const struct suffix *s, uint64_t *value,
				     bool *round_up, bool *exact)
{
	uint64_t product = 0, carry = 0, digit = 0;
	bool frac_zero = true;
	size_t i;

	for (i = 0; i < d->n_whole; i++) {
		uint64_t add = d->whole[i] - '0';

		if (__builtin_mul_overflow(product, 10, &product) ||
		    __builtin_add_overflow(product, add, &product))
			return QTY_TOO_LARGE;
	}

	for (i = d->n_frac; i-- > 0;) {
		carry += (d->frac[i] - '0') * s->num;
		digit = carry % 10;
		carry /= 10;
		frac_zero = frac_zero && !digit;
	}

	if (__builtin_mul_overflow(product, s->num, &product) ||
	    __builtin_add_overflow(product, carry, &product))
		return QTY_TOO_LARGE;

	*value = product / s->den;
	*exact = frac_zero && !(product % s->den);
	*round_up = s->den == 1 ? digit >= 5 : product % s->den >= s->den / 2;
	return QTY_OK;
}

/*
 * Parse a decimal number and a suffix, or a word for a switch; *@value is written on success only.
 * An unknown unit takes whole numbers. Times and rates must carry a suffix unless they are 0: tc
 * and the kernel disagree on the unit of a bare number. Rates and fractions are rounded to the
 * nearest base unit, other quantities must be a whole number of them, and a non-zero quantity never
 * becomes 0.
 */
enum qty_status qty_parse(const char *text, uint32_t unit, uint64_t *value)
{
	const struct unit_desc *desc = unit_desc(unit);
	enum qty_status status;
	bool round_up, exact;
	struct decimal d;
	uint64_t result;
	size_t i;

	if (unit == QUELL_UNIT_BOOL)
		return parse_bool(text, value);

	status = split_decimal(text, &d);
	if (status)
		return status;
	if (!*d.suffix && decimal_is_zero(&d)) {
		*value = 0;
		return QTY_OK;
	}

	for (i = 0; i < desc->n_suffixes; i++)
		if (!strcasecmp(d.suffix, desc->suffixes[i].name))
			break;
	if (i == desc->n_suffixes)
		return *d.suffix ? QTY_SYNTAX : QTY_NO_SUFFIX;

	status = scale_decimal(&d, &desc->suffixes[i], &result, &round_up, &exact);
	if (status)
		return status;
	if (!exact && !desc->nearest)
		return QTY_TOO_FINE;
	if (round_up && __builtin_add_overflow(result, 1, &result))
		return QTY_TOO_LARGE;
	if (!result && !decimal_is_zero(&d))
		return QTY_TOO_FINE;

	*value = result;
	return QTY_OK;
}

/* Why a quantity was rejected: words that follow the quoted text in a message. */
const char *qty_status_text(enum qty_status status)
{
	static const char * const texts[] = {
		[QTY_OK] = "is fine",
		[QTY_SYNTAX] = "cannot be read",
		[QTY_NEGATIVE] = "is negative",
		[QTY_NO_SUFFIX] = "has no unit",
		[QTY_TOO_LARGE] = "is too large",
		[QTY_TOO_FINE] = "is finer than the parameter can hold",
	};

	return texts[status];
}

/* The syntax of a unit's quantities, also of an unknown unit: a phrase with an example. */
const char *qty_expected(uint32_t unit)
{
	return unit_desc(unit)->expected;
}

/* Name of a unit as in the netlink specification; @buf is for that of an unknown one. */
const char *qty_unit_name(uint32_t unit, char *buf, size_t len)
{
	if (unit < ARRAY_SIZE(units))
		return units[unit].name;
	snprintf(buf, len, "unit-%" PRIu32, unit);
	return buf;
}

/* The number whole + frac / scale; scale is a power of ten. */
struct mixed {
	uint64_t	whole;
	uint64_t	frac;
	uint64_t	scale;
};

static void format_mixed(char *buf, size_t len, struct mixed n, const char *suffix)
{
	int digits = 0;

	if (!n.frac) {
		snprintf(buf, len, "%" PRIu64 "%s", n.whole, suffix);
		return;
	}
	for (; n.scale > 1; n.scale /= 10)
		digits++;
	for (; !(n.frac % 10); n.frac /= 10)
		digits--;
	snprintf(buf, len, "%" PRIu64 ".%0*" PRIu64 "%s", n.whole, digits, n.frac, suffix);
}

static void format_decimal(char *buf, size_t len, uint64_t value,
			   uint64_t scale, const char *suffix)
{
	struct mixed n = { .whole = value / scale, .frac = value % scale, .scale = scale };

	format_mixed(buf, len, n, suffix);
}

/* The largest of which the quantity has one, and else the last of them, the base unit. */
static const struct suffix *largest_suffix(const struct suffix *s, uint64_t value)
{
	while (s->num > 1 && value < s->num)
		s++;
	return s;
}

/* Use the fewest decimals that convert back to the same value. */
static void format_q16(char *buf, size_t len, uint64_t value, const char *suffix)
{
	uint64_t whole = value / Q16_ONE, frac = value % Q16_ONE, scale = 1;
	uint64_t decimals = 0;
	int digits;

	for (digits = 0; digits <= Q16_DIGITS; digits++, scale *= 10) {
		decimals = (frac * scale + Q16_ONE / 2) / Q16_ONE;
		if ((decimals * Q16_ONE + scale / 2) / scale == frac)
			break;
	}
	format_mixed(buf, len, (struct mixed) { whole, decimals, scale }, suffix);
}

/* Write a size in the largest unit that divides it: 225kb, but 1500b. */
static void format_bytes(char *buf, size_t len, uint64_t value)
{
	const struct suffix *s = size_suffixes;

	while (value % s->num || (!value && s->num > 1))
		s++;
	snprintf(buf, len, "%" PRIu64 "%s", value / s->num, s->name);
}

static void format_rate(char *buf, size_t len, uint64_t bytes_ps)
{
	const struct suffix *s = largest_suffix(rate_suffixes, bytes_ps);
	uint64_t bits_ps;

	if (__builtin_mul_overflow(bytes_ps, 8, &bits_ps))
		snprintf(buf, len, "%" PRIu64 "Bps", bytes_ps);
	else
		format_decimal(buf, len, bits_ps, 8 * s->num / s->den, s->name);
}

/*
 * Format a quantity so that qty_parse() returns the same value; an unknown unit is a plain number.
 * QTY_TEXT_LEN bytes are always enough. Returns @buf.
 */
char *qty_format(char *buf, size_t len, uint32_t unit, uint64_t value)
{
	const struct suffix *s;

	switch (unit) {
	case QUELL_UNIT_NS:
		s = largest_suffix(time_suffixes, value);
		format_decimal(buf, len, value, s->num, s->name);
		break;
	case QUELL_UNIT_BYTES:
		format_bytes(buf, len, value);
		break;
	case QUELL_UNIT_BYTES_PS:
		format_rate(buf, len, value);
		break;
	case QUELL_UNIT_Q16:
		format_q16(buf, len, value, "");
		break;
	case QUELL_UNIT_PKTS:
		snprintf(buf, len, "%" PRIu64 "pkt", value);
		break;
	case QUELL_UNIT_PKTS_Q16:
		format_q16(buf, len, value, "pkt");
		break;
	case QUELL_UNIT_BOOL:
		if (value <= 1) {
			snprintf(buf, len, "%s", bool_names[value].name);
			break;
		}
		/* fall through */
	default:
		snprintf(buf, len, "%" PRIu64, value);
	}
	return buf;
}

/* Format a measured rate with three decimals, not exactly; otherwise as qty_format(). */
char *qty_format_rate_short(char *buf, size_t len, uint64_t bytes_ps)
{
	const struct suffix *s = largest_suffix(rate_suffixes, bytes_ps);

	if (s->num >= 1000)
		bytes_ps -= bytes_ps % (s->num / 1000);
	format_rate(buf, len, bytes_ps);
	return buf;
}
