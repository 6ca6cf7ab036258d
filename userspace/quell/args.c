// SPDX-License-Identifier: GPL-2.0
/*
 * Words of command lines that several verbs have in common.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <quell/trace.h>

#include "quell.h"

#define V4_MAPPED_BITS		96
#define WORD_BITS		32

/* The value behind a keyword at index *@i, which is then that of the word behind the value. */
static int keyword_value(const char *keyword, int argc, char **argv, int *i, const char **value)
{
	if (*i + 1 >= argc)
		return complain("the value of '%s' is missing", keyword);
	*value = argv[*i + 1];
	*i += 2;
	return STATUS_OK;
}

/* Whether a word is NAME=VALUE; a path with an equals sign is not. */
static bool is_pair(const char *word)
{
	return word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-")] == '=';
}

/* The value behind a name without an equals sign. */
static int next_value(int argc, char **argv, int *i, const char **value)
{
	const char *name = argv[*i];

	if (keyword_value(name, argc, argv, i, value))
		return STATUS_INPUT;
	if (**value == '=')
		return complain("'%s %s': expected %s=VALUE, without spaces", name, *value, name);
	if (is_pair(*value))
		return complain("the value of '%s' is missing in front of '%s'", name, *value);
	return STATUS_OK;
}

/*
 * Read a name and its value, which is part of @argv: one word with an equals sign, or two. *@i is
 * then the index of the word behind the value.
 */
int pair_next(int argc, char **argv, int *i, struct pair *pair)
{
	const char *word = argv[*i];
	const char *equals = strchr(word, '=');

	if (!equals) {
		snprintf(pair->name, sizeof(pair->name), "%s", word);
		return next_value(argc, argv, i, &pair->value);
	}
	if (equals == word)
		return complain("'%s': expected NAME=VALUE, without spaces", word);
	snprintf(pair->name, sizeof(pair->name), "%.*s", (int)(equals - word), word);
	if (!equals[1])
		return complain("the value of '%s' is missing behind '%s'", pair->name, word);
	pair->value = equals + 1;
	++*i;
	return STATUS_OK;
}

int read_address(const char *text, struct sockaddr_storage *address)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
	struct sockaddr_in *in = (struct sockaddr_in *)address;

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1)
		address->ss_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1)
		address->ss_family = AF_INET6;
	else
		return complain("'%s' is no address; expected %s", text, strchr(text, '%') ?
				"it without %DEV" : "one such as 10.0.0.1 or fd00::1");
	return STATUS_OK;
}

/* Whether a text is a whole number and no more. */
bool is_number(const char *text, int base, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, base);
	/* strtoull() passes over white space and takes a sign. */
	return isxdigit((unsigned char)*text) && !*end && !errno;
}

/* Parse a number of 1 to @most; @word is for the complaint. */
int read_number(const char *word, const char *text, uint64_t most, uint64_t *value)
{
	const char *digits = text + (*text == '-');

	if (is_number(text, 10, value) && *value && *value <= most)
		return STATUS_OK;
	return complain("%s: '%s' %s 1 .. %llu", word, text,
			digits[strspn(digits, "0123456789")] ?
			"cannot be read; expected a number of" : "is out of range",
			(unsigned long long)most);
}

/*
 * Parse words, in any order, and their values into a struct, up to a word that is not one of them;
 * @argc and @argv are those of the rest.
 */
int words_take(const struct words *words, void *to, int *argc, char ***argv)
{
	uint64_t given = 0;
	const char *text = NULL;

	while (*argc) {
		const struct word *w = words->list;
		void *place;
		int i = 0;

		while (w < words->list + words->n && strcmp(w->word, **argv))
			w++;
		if (w == words->list + words->n)
			break;
		if (w->read && given & 1ULL << (w - words->list))
			return complain("%s: '%s' is given twice", words->name, **argv);
		given |= 1ULL << (w - words->list);
		place = (char *)to + w->offset;
		if (!w->read) {
			*(bool *)place = true;
			i++;
		} else if (keyword_value(w->word, *argc, *argv, &i, &text) ||
			   w->read(w, text, place)) {
			return STATUS_INPUT;
		}
		*argc -= i;
		*argv += i;
	}
	return STATUS_OK;
}

/* The same where no other word may be. */
int words_read(const struct words *words, void *to, int argc, char **argv)
{
	int status = words_take(words, to, &argc, &argv);

	if (status || !argc)
		return status;
	return complain("%s: unknown argument '%s', try: quell help %s", words->name, *argv,
			words->name);
}

/* A text as it is, of @argv. */
int word_text(const struct word *w, const char *text, void *place)
{
	*(const char **)place = text;
	return STATUS_OK;
}

/* A port, in host order. */
int word_port(const struct word *w, const char *text, void *place)
{
	uint64_t value;
	int status = read_number(w->word, text, UINT16_MAX, &value);

	if (!status)
		*(uint16_t *)place = value;
	return status;
}

/* A quantity, in base units, of the range that @data has. */
int word_quantity(const struct word *w, const char *text, void *place)
{
	const struct quantity *q = w->data;
	uint64_t *value = place;
	enum qty_status why = qty_parse(text, q->unit, value);
	char least[QTY_TEXT_LEN], most[QTY_TEXT_LEN];

	if (!why && *value >= q->least && *value <= q->most)
		return STATUS_OK;
	qty_format(least, sizeof(least), q->unit, q->least);
	qty_format(most, sizeof(most), q->unit, q->most);
	if (why)
		complain("%s: '%s' %s; expected %s", w->word, text, qty_status_text(why),
			 qty_expected(q->unit));
	else if (q->most == UINT64_MAX)
		complain("%s: '%s' is less than %s", w->word, text, least);
	else
		complain("%s: '%s' is out of range %s .. %s; expected %s", w->word, text, least,
			 most, qty_expected(q->unit));
	return STATUS_INPUT;
}

/* The leading bits of a prefix, over an address of IPv6. */
static void set_mask(uint32_t *mask, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < QUELL_TRACE_ADDR_WORDS; i++, bits -= bits < WORD_BITS ? bits : WORD_BITS)
		mask[i] = !bits ? 0 :
			  htonl(bits >= WORD_BITS ? UINT32_MAX : ~(UINT32_MAX >> bits));
}

static void map_address(uint32_t *addr, const struct sockaddr_storage *from)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)from;
	const struct sockaddr_in *in = (const struct sockaddr_in *)from;

	if (from->ss_family == AF_INET6) {
		memcpy(addr, &in6->sin6_addr, sizeof(in6->sin6_addr));
		return;
	}
	addr[0] = 0;
	addr[1] = 0;
	addr[2] = htonl(0xffff);
	addr[3] = in->sin_addr.s_addr;
}

/* An address, or the beginning of one with its length in bits, over an address of IPv6. */
int word_prefix(const struct word *w, const char *text, void *place)
{
	struct quell_trace_prefix *prefix = place;
	const char *slash = strchr(text, '/');
	struct sockaddr_storage address;
	char head[INET6_ADDRSTRLEN];
	unsigned int most_bits;
	uint64_t bits;

	if (slash && (size_t)(slash - text) >= sizeof(head))
		return complain("%s: '%s' is no address", w->word, text);
	if (slash)
		snprintf(head, sizeof(head), "%.*s", (int)(slash - text), text);
	if (read_address(slash ? head : text, &address))
		return STATUS_INPUT;
	most_bits = address.ss_family == AF_INET ? 32 : 128;
	bits = most_bits;
	if (slash && (!is_number(slash + 1, 10, &bits) || bits > most_bits))
		return complain("%s: the length of '%s' is out of range 0 .. %u", w->word, text,
				most_bits);
	map_address(prefix->addr, &address);
	set_mask(prefix->mask, bits + (most_bits == 32 ? V4_MAPPED_BITS : 0));
	return STATUS_OK;
}

/* An address as text in @text, which has INET6_ADDRSTRLEN bytes and is returned. */
const char *address_text(const struct address *address, char *text)
{
	return inet_ntop(address->len == sizeof(struct in_addr) ? AF_INET : AF_INET6,
			 address->bytes, text, INET6_ADDRSTRLEN);
}

void out_address(struct out *o, const char *key, const char *fmt,
		 const struct address *address)
{
	char text[INET6_ADDRSTRLEN];

	out_str(o, key, fmt, address_text(address, text));
}
