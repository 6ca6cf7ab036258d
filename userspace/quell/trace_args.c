// SPDX-License-Identifier: GPL-2.0
/*
 * The command line of "quell trace": which flows, in the words of ss(8), for how long, and where
 * to write it.
 */
#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

#include "qty.h"
#include "quell.h"
#include "trace_parts.h"
#include "util.h"

#define BUFFER_BYTES		(4U << 20)
#define SAMPLE_SPAN		(1ULL << 32)

/* As ss -e prints it: hexadecimal, "sk:" before it or not. */
static int word_cookie(const struct word *w, const char *text, void *cookie)
{
	uint64_t value;

	if (is_number(!strncmp(text, "sk:", 3) ? text + 3 : text, 16, &value) && value) {
		*(u64 *)cookie = value;
		return STATUS_OK;
	}
	return complain("%s: '%s' is no cookie; expected one as ss -e prints it, such as sk:1f",
			w->word, text);
}

static int word_cc(const struct word *w, const char *text, void *cc)
{
	if (*text && strlen(text) < QUELL_TRACE_CC_BYTES) {
		strcpy(cc, text);
		return STATUS_OK;
	}
	return complain("%s: '%s' has not 1 to %d bytes", w->word, text, QUELL_TRACE_CC_BYTES - 1);
}

static int word_netns(const struct word *w, const char *text, void *any)
{
	*(bool *)any = !strcmp(text, "any");
	if (*(bool *)any)
		return STATUS_OK;
	return complain("%s: '%s' is not 'any'; one namespace: quell -n NETNS trace", w->word,
			text);
}

static int word_sample(const struct word *w, const char *text, void *below)
{
	uint64_t n;
	int status = read_number(w->word, text, UINT32_MAX, &n);

	if (!status)
		*(u64 *)below = n > 1 ? SAMPLE_SPAN / n : 0;
	return status;
}

static int word_count(const struct word *w, const char *text, void *count)
{
	return read_number(w->word, text, UINT64_MAX, count);
}

#define AT(member)	offsetof(struct trace_args, member)

static const struct quantity time_range = { QUELL_UNIT_NS, 1, UINT64_MAX };
static const struct quantity buffer_range = { QUELL_UNIT_BYTES, 4096, 1 << 30 };

static const struct word known[] = {
	{ "src", word_prefix, AT(config.src), NULL },
	{ "dst", word_prefix, AT(config.dst), NULL },
	{ "sport", word_port, AT(config.sport), NULL },
	{ "dport", word_port, AT(config.dport), NULL },
	{ "cookie", word_cookie, AT(config.cookie), NULL },
	{ "cc", word_cc, AT(config.cc), NULL },
	{ "netns", word_netns, AT(any_netns), NULL },
	{ "sample", word_sample, AT(config.sample_below), NULL },
	{ "count", word_count, AT(count), NULL },
	{ "for", word_quantity, AT(for_ns), &time_range },
	{ "buffer", word_quantity, AT(buffer_bytes), &buffer_range },
	{ "dir", word_text, AT(dir), NULL },
	{ "-o", word_text, AT(output), NULL },
};

/* Parse the arguments of "quell trace", in any order; the texts in @words are those of @argv. */
int trace_args_parse(struct trace_args *words, int argc, char **argv)
{
	static const struct words all = { .name = "trace", .list = known, .n = ARRAY_SIZE(known) };
	int status;

	*words = (struct trace_args){ .buffer_bytes = BUFFER_BYTES };
	status = words_read(&all, words, argc, argv);
	words->config.dport = htons(words->config.dport);
	words->config.wake_bytes = words->buffer_bytes / 4;
	return status;
}
