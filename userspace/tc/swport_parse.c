// SPDX-License-Identifier: GPL-2.0
/*
 * Parsing words of a command line, and printing values as text and JSON: common to all
 * options of swport.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "q_swport.h"

#define DSCPS	64

struct unit {
	const char *suffix;
	uint32_t scale;
};

/* The first of each scale is used for output. */
static const struct unit times_ns[] = {
	{ "s", 1000000000 }, { "sec", 1000000000 }, { "secs", 1000000000 },
	{ "ms", 1000000 }, { "msec", 1000000 }, { "msecs", 1000000 },
	{ "us", 1000 }, { "usec", 1000 }, { "usecs", 1000 }, { "", 1000 },
	{ "ns", 1 }, { "nsec", 1 }, { "nsecs", 1 }, {}
};

static const struct unit sizes_bytes[] = {
	{ "", 1 }, { "b", 1 },
	{ "k", 1024 }, { "kb", 1024 }, { "kbit", 1024 / 8 },
	{ "m", 1 << 20 }, { "mb", 1 << 20 }, { "mbit", (1 << 20) / 8 },
	{ "g", 1 << 30 }, { "gb", 1 << 30 }, { "gbit", (1 << 30) / 8 }, {}
};

/* Read a number without a sign and of @chars alone; *@end is behind it. */
static bool read_number(const char *word, const char *chars, double *value, char **end)
{
	*value = strtod(word, end);
	return *word != '-' && *end > word && *end == word + strspn(word, chars) &&
	       isfinite(*value);
}

/* Sizes and times as in tc, but strict: decimal digits, a known suffix, the end of the word. */
static bool read_unit(const char *word, const struct unit *unit, double *value)
{
	char *end;

	if (!read_number(word, "0123456789.", value, &end))
		return false;
	while (unit->suffix && strcasecmp(end, unit->suffix))
		unit++;
	*value *= unit->scale;
	return unit->suffix;
}

/* Print an error; returns -1. */
int swport_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fputs("swport: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	return -1;
}

/* The next word, or NULL. */
const char *swport_peek(const struct swport_args *args)
{
	return args->argc > 0 ? *args->argv : NULL;
}

const char *swport_next(struct swport_args *args)
{
	const char *word = swport_peek(args);

	if (word) {
		args->argc--;
		args->argv++;
	}
	return word;
}

/* Consume the next word if it is @word. */
bool swport_accept(struct swport_args *args, const char *word)
{
	const char *next = swport_peek(args);

	if (!next || strcmp(next, word))
		return false;
	swport_next(args);
	return true;
}

bool swport_given(const struct swport_args *args, int attr)
{
	return args->given & (1ULL << attr);
}

int swport_set(struct swport_args *args, int attr, const char *name, uint64_t value)
{
	if (swport_given(args, attr))
		return swport_error("%s given twice", name);
	args->given |= 1ULL << attr;
	args->value[attr] = value;
	return 0;
}

/* The name of an option in error messages. */
static const char *name_of(const struct swport_word *w)
{
	return w->name ? w->name : w->word;
}

/* A word without a value. */
int swport_set_word(struct swport_args *args, const struct swport_word *w)
{
	return swport_set(args, w->attr, name_of(w), w->min);
}

/* Options of a table, in any order, up to a word that is not one; its last row has no word. */
int swport_parse_words(struct swport_args *args, const struct swport_word *words)
{
	const struct swport_word *w = words;
	int err = 0;

	while (!err && w->word) {
		for (w = words; w->word && !swport_accept(args, w->word); w++)
			;
		if (w->word)
			err = w->parse(args, w);
	}
	return err;
}

/* A value that cannot be read, or NULL. */
int swport_refuse(const char *name, const char *word, const char *expected)
{
	return swport_error("bad %s \"%s\": must be %s", name, word ? word : "", expected);
}

/* Write a size in the largest unit that divides it; return @text. */
const char *swport_write_size(uint32_t bytes, char *text)
{
	static const char * const units[] = { "b", "Kb", "Mb", "Gb" };
	size_t i = 0;

	for (; bytes && !(bytes % 1024) && i + 1 < ARRAY_SIZE(units); i++)
		bytes /= 1024;
	snprintf(text, SWPORT_SIZE_TEXT, "%" PRIu32 "%s", bytes, units[i]);
	return text;
}

/* Parse a size within its range; name is the option in error messages. */
int swport_read_size_word(struct swport_args *args, const char *name,
			  uint32_t min, uint32_t max, uint32_t *bytes)
{
	char least[SWPORT_SIZE_TEXT], most[SWPORT_SIZE_TEXT];
	const char *word = swport_next(args);
	double number;

	if (!word || !read_unit(word, sizes_bytes, &number) ||
	    number < min || number > max || number != floor(number)) {
		return swport_error("bad %s \"%s\": must be a size of %s to %s, in whole bytes",
				    name, word ? word : "", swport_write_size(min, least),
				    swport_write_size(max, most));
	}
	*bytes = number;
	return 0;
}

/* A maximum below its minimum; both as typed, or @max is NULL. */
int swport_refuse_max(const char *name, const char *max, const char *min)
{
	char most[SWPORT_SIZE_TEXT];

	return swport_error("bad %s max \"%s\": must be a size of %s min (%s) to %s", name, max, name,
			    min, swport_write_size(SWPORT_LIMIT_MAX, most));
}

/* A clause without its minimum; the word behind it is named, as it may be misspelt. */
int swport_need_size(const struct swport_args *args, const char *name, const char *word,
		     uint32_t min, uint32_t max)
{
	char least[SWPORT_SIZE_TEXT], most[SWPORT_SIZE_TEXT];
	const char *next = swport_peek(args);

	return swport_error("%s needs \"%s SIZE\", a size of %s to %s%s%s%s", name, word,
			    swport_write_size(min, least), swport_write_size(max, most),
			    next ? ", not \"" : "", next ? next : "", next ? "\"" : "");
}

int swport_parse_size(struct swport_args *args, const struct swport_word *w)
{
	uint32_t bytes;

	args->word[w->attr] = swport_peek(args);
	if (swport_read_size_word(args, name_of(w), w->min, w->max, &bytes))
		return -1;
	return swport_set(args, w->attr, name_of(w), bytes);
}

/* A number of 0, or 2^-16, to the largest, as its nearest 2^-16; small ones have exponents. */
int swport_read_q16(struct swport_args *args, const struct swport_word *w, uint32_t *value_q16)
{
	const char *word = swport_next(args);
	char *end = NULL, expected[64];
	double number, value;

	if (word && read_number(word, "0123456789.e-", &number, &end) && !*end) {
		value = rint(number * SWPORT_ONE);
		if (value >= w->min && value <= w->max && (value || !number)) {
			*value_q16 = value;
			return 0;
		}
	}
	snprintf(expected, sizeof(expected), "a number of %s to %d", w->min ? "2^-16" : "0",
		 w->max / SWPORT_ONE);
	return swport_refuse(name_of(w), word, expected);
}

int swport_parse_q16(struct swport_args *args, const struct swport_word *w)
{
	uint32_t value_q16;

	if (swport_read_q16(args, w, &value_q16))
		return -1;
	return swport_set(args, w->attr, name_of(w), value_q16);
}

/* To the nearest nanosecond, as fractions of a microsecond are not exact, but not to 0. */
bool swport_read_time(const char *word, double *ns)
{
	double exact;

	if (!read_unit(word, times_ns, &exact))
		return false;
	*ns = rint(exact);
	return *ns || !exact;
}

/* Write a time in the largest unit that divides it; return @text. */
static const char *swport_write_time(uint32_t ns, char *text)
{
	size_t i = 0;

	while (ns % times_ns[i].scale || (!ns && times_ns[i].scale > 1))
		i++;
	snprintf(text, SWPORT_SIZE_TEXT, "%" PRIu32 "%s", ns / times_ns[i].scale, times_ns[i].suffix);
	return text;
}

/* TIME, or off where the option has it; its value is 0 then. */
int swport_parse_time(struct swport_args *args, const struct swport_word *w)
{
	char least[SWPORT_SIZE_TEXT], most[SWPORT_SIZE_TEXT], expected[64];
	bool has_off = w->attr != TCA_SWPORT_DEFLECT_IDLE;
	const char *word;
	double ns = 0;

	if (has_off && swport_accept(args, "off"))
		return swport_set(args, w->attr, name_of(w), 0);
	word = swport_next(args);
	if (word && swport_read_time(word, &ns) && ns >= w->min && ns <= w->max)
		return swport_set(args, w->attr, name_of(w), ns);
	snprintf(expected, sizeof(expected), "%sa time of %s to %s", has_off ? "off or " : "",
		 swport_write_time(w->min, least), swport_write_time(w->max, most));
	return swport_refuse(name_of(w), word, expected);
}

/* One of two names: its position among them. */
int swport_parse_choice(struct swport_args *args, const struct swport_word *w)
{
	char expected[64];
	int i;

	for (i = 0; i < SWPORT_CHOICES; i++)
		if (swport_accept(args, w->choices[i]))
			return swport_set(args, w->attr, name_of(w), i);
	snprintf(expected, sizeof(expected), "%s or %s", w->choices[0], w->choices[1]);
	return swport_refuse(name_of(w), swport_peek(args), expected);
}

/* Parse a number of 0 to 63 followed by one of @ends; return its end, or NULL. */
static const char *read_dscp(const char *text, const char *ends, unsigned long *dscp)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	*dscp = strtoul(text, &end, 0);
	return *dscp < DSCPS && (!*end || strchr(ends, *end)) ? end : NULL;
}

/* Parse 46, 8-15, or 0,10-12,46 to a bit per DSCP; false for anything else. */
bool swport_read_dscps(const char *text, uint64_t *dscps)
{
	unsigned long first, last;

	*dscps = 0;
	for (;;) {
		text = read_dscp(text, ",-", &first);
		last = first;
		if (text && *text == '-')
			text = read_dscp(text + 1, ",", &last);
		if (!text || last < first)
			return false;
		for (; first <= last; first++)
			*dscps |= 1ULL << first;
		if (!*text)
			return true;
		text++;
	}
}

/* Write a set of DSCPs in that syntax, as short as possible. */
void swport_write_dscps(uint64_t dscps, char *text)
{
	unsigned int dscp, first;
	size_t length = 0;

	*text = 0;
	for (dscp = 0; dscp < DSCPS; dscp++) {
		if (!(dscps >> dscp & 1))
			continue;
		first = dscp;
		while (dscp + 1 < DSCPS && dscps >> (dscp + 1) & 1)
			dscp++;
		length += snprintf(text + length, SWPORT_DSCPS_TEXT - length,
				   first == dscp ? "%s%u" : "%s%u-%u",
				   length ? "," : "", first, dscp);
	}
}

/* Parse a whole number. */
int swport_parse_number(struct swport_args *args, const struct swport_word *w)
{
	const char *word = swport_next(args);
	unsigned long long value = 0;
	char *end = NULL, expected[64];

	if (word && word[0] >= '0' && word[0] <= '9')
		value = strtoull(word, &end, 0);
	if (end && !*end && value >= w->min && value <= w->max)
		return swport_set(args, w->attr, name_of(w), value);
	snprintf(expected, sizeof(expected), "a number of %" PRIu32 " to %" PRIu32, w->min, w->max);
	return swport_refuse(name_of(w), word, expected);
}

uint32_t swport_get_u32(const struct rtattr *attr)
{
	uint32_t value;

	memcpy(&value, RTA_DATA(attr), sizeof(value));
	return value;
}

uint64_t swport_get_u64(const struct rtattr *attr)
{
	uint64_t value;

	memcpy(&value, RTA_DATA(attr), sizeof(value));
	return value;
}

bool swport_has(struct rtattr *attr, size_t bytes)
{
	return attr && RTA_PAYLOAD(attr) >= bytes;
}

/* The kernel leaves out counters of 0. */
uint64_t swport_get_counter(struct rtattr *attr)
{
	return swport_has(attr, sizeof(uint64_t)) ? swport_get_u64(attr) : 0;
}

/* An option that is set to more than 0. */
bool swport_is_on(struct rtattr *attr)
{
	return swport_has(attr, sizeof(uint32_t)) && swport_get_u32(attr);
}

void swport_parse_nest(struct rtattr **tb, int max, struct rtattr *nest)
{
	parse_rtattr_flags(tb, max, RTA_DATA(nest), RTA_PAYLOAD(nest), NLA_F_NESTED);
}

/* Print each attribute of a list, if there is one: in JSON an array. */
void swport_print_list(const char *key, struct rtattr *list, void (*print)(struct rtattr *attr))
{
	struct rtattr *attr;
	int left;

	if (!list)
		return;
	open_json_array(PRINT_JSON, key);
	left = RTA_PAYLOAD(list);
	for (attr = RTA_DATA(list); RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		print(attr);
	close_json_array(PRINT_JSON, NULL);
}

void swport_print_counters(enum output_type type, const struct swport_counter *counters, size_t n,
			   struct rtattr **tb)
{
	for (size_t i = 0; i < n; i++)
		print_color_u64(type, COLOR_NONE, counters[i].key, counters[i].fmt,
				swport_get_counter(tb[counters[i].attr]));
}

void swport_print_number(const char *key, const char *fmt, struct rtattr *attr)
{
	if (swport_has(attr, sizeof(uint32_t)))
		print_color_u64(PRINT_ANY, COLOR_NONE, key, fmt, swport_get_u32(attr));
}

/* Print a multiple of 2^-16 as the shortest number that is read as the same. */
void swport_print_q16(const char *key, const char *fmt, struct rtattr *attr)
{
	char text[32];
	uint32_t value;
	int digits = 0;

	if (!swport_has(attr, sizeof(value)))
		return;
	value = swport_get_u32(attr);
	do {
		snprintf(text, sizeof(text), "%.*g", ++digits, value / (double)SWPORT_ONE);
	} while (rint(strtod(text, NULL) * SWPORT_ONE) != value);
	print_color_float(PRINT_ANY, COLOR_NONE, key, fmt, strtod(text, NULL));
}

/* Print the text of a flag that is set, true in JSON; no output for the default. */
void swport_print_flag(const char *key, const char *text, struct rtattr *attr)
{
	if (!swport_is_on(attr))
		return;
	print_color_bool(PRINT_JSON, COLOR_NONE, key, NULL, true);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
}

/* Print the name of a choice. */
void swport_print_choice(const char *key, const char *fmt, struct rtattr *attr,
			 const char * const *choices)
{
	if (swport_has(attr, sizeof(uint32_t)) && swport_get_u32(attr) < SWPORT_CHOICES)
		print_color_string(PRINT_ANY, COLOR_NONE, key, fmt, choices[swport_get_u32(attr)]);
}

/* Print a size: bytes in JSON; in text the largest unit that divides it. */
void swport_print_size(const char *key, const char *fmt, struct rtattr *attr)
{
	char text[SWPORT_SIZE_TEXT];

	if (!swport_has(attr, sizeof(uint32_t)))
		return;
	print_color_u64(PRINT_JSON, COLOR_NONE, key, NULL, swport_get_u32(attr));
	print_color_string(PRINT_FP, COLOR_NONE, NULL, fmt,
			   swport_write_size(swport_get_u32(attr), text));
}

/* Print a time: nanoseconds in JSON; in text the largest unit that divides it. */
void swport_print_time(const char *key, const char *name, struct rtattr *attr)
{
	char text[SWPORT_SIZE_TEXT] = "off";
	uint32_t ns;

	if (!swport_has(attr, sizeof(ns)))
		return;
	ns = swport_get_u32(attr);
	if (ns)
		swport_write_time(ns, text);
	print_color_u64(PRINT_JSON, COLOR_NONE, key, NULL, ns);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", name);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", text);
}
