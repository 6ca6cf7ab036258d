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
#include "trace_args.h"
#include "util.h"

#define BUFFER_BYTES		(4U << 20)
#define BUFFER_BYTES_MIN	4096U
#define BUFFER_BYTES_MAX	(1U << 30)
#define SAMPLE_SPAN		(1ULL << 32)

static const struct quantity time_range = { "for", QUELL_UNIT_NS, 1, UINT64_MAX };
static const struct quantity buffer_range = {
	"buffer", QUELL_UNIT_BYTES, BUFFER_BYTES_MIN, BUFFER_BYTES_MAX,
};

/* What a word takes. */
enum kind {
	PREFIX, LOCAL_PORT, REMOTE_PORT, COOKIE, CC, NETNS, SAMPLE, COUNT, TIME, BUFFER, TEXT, PLOT
};

static const struct {
	const char	*word;
	enum kind	kind;
	size_t		offset;		/* in struct trace_args */
} known[] = {
	{ "src", PREFIX, offsetof(struct trace_args, config.src) },
	{ "dst", PREFIX, offsetof(struct trace_args, config.dst) },
	{ "sport", LOCAL_PORT, offsetof(struct trace_args, config.sport) },
	{ "dport", REMOTE_PORT, offsetof(struct trace_args, config.dport) },
	{ "cookie", COOKIE, offsetof(struct trace_args, config.cookie) },
	{ "cc", CC, offsetof(struct trace_args, config.cc) },
	{ "netns", NETNS, offsetof(struct trace_args, any_netns) },
	{ "sample", SAMPLE, offsetof(struct trace_args, config.sample_below) },
	{ "count", COUNT, offsetof(struct trace_args, count) },
	{ "for", TIME, offsetof(struct trace_args, for_ns) },
	{ "buffer", BUFFER, offsetof(struct trace_args, buffer_bytes) },
	{ "dir", TEXT, offsetof(struct trace_args, dir) },
	{ "-o", TEXT, offsetof(struct trace_args, output) },
	{ "--plot", PLOT, offsetof(struct trace_args, plot) },
};

/* As ss -e prints it: hexadecimal, "sk:" before it or not. */
static int read_cookie(const char *text, u64 *cookie)
{
	uint64_t value;

	if (is_number(!strncmp(text, "sk:", 3) ? text + 3 : text, 16, &value) && value) {
		*cookie = value;
		return STATUS_OK;
	}
	complain("cookie: '%s' is no cookie; expected one as ss -e prints it, such as sk:1f", text);
	return STATUS_INPUT;
}

static int read_cc(const char *text, char *cc)
{
	if (*text && strlen(text) < QUELL_TRACE_CC_BYTES) {
		strcpy(cc, text);
		return STATUS_OK;
	}
	complain("cc: '%s' has not 1 to %d bytes", text, QUELL_TRACE_CC_BYTES - 1);
	return STATUS_INPUT;
}

static int read_netns(const char *text, bool *any)
{
	*any = !strcmp(text, "any");
	if (*any)
		return STATUS_OK;
	complain("netns: '%s' is not 'any'; one namespace: quell -n NETNS trace", text);
	return STATUS_INPUT;
}

static int read_sample(const char *text, u64 *below)
{
	uint64_t n;
	int status = read_number("sample", text, UINT32_MAX, &n);

	if (!status)
		*below = n > 1 ? SAMPLE_SPAN / n : 0;
	return status;
}

/* The format of a plot follows from its name, and only one is known. */
static int read_path(const char *text, const char **path, bool plot)
{
	size_t len = strlen(text);

	*path = text;
	if (!plot || (len > 4 && !strcmp(text + len - 4, ".svg")))
		return STATUS_OK;
	complain("--plot: '%s' does not end in .svg", text);
	return STATUS_INPUT;
}

/* Store the value of a word. */
static int read_value(struct trace_args *words, size_t n, const char *text)
{
	void *place = (char *)words + known[n].offset;
	uint16_t *port = place;
	int status;

	switch (known[n].kind) {
	case PREFIX:
		return read_prefix(known[n].word, text, place);
	case LOCAL_PORT:
		return read_port(known[n].word, text, port);
	case REMOTE_PORT:
		status = read_port(known[n].word, text, port);
		*port = htons(*port);
		return status;
	case COOKIE:
		return read_cookie(text, place);
	case CC:
		return read_cc(text, place);
	case NETNS:
		return read_netns(text, place);
	case SAMPLE:
		return read_sample(text, place);
	case COUNT:
		return read_number(known[n].word, text, UINT64_MAX, place);
	case TIME:
		return read_quantity(&time_range, text, place);
	case BUFFER:
		return read_quantity(&buffer_range, text, place);
	default:
		return read_path(text, place, known[n].kind == PLOT);
	}
}

/* The number of a word, ARRAY_SIZE(known) for one that is not known. */
static size_t find_word(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(word, known[i].word))
			break;
	return i;
}

/**
 * trace_args_parse() - parse the arguments of "quell trace"
 * @words: filled in; its texts are those of @argv
 * @argc: number of arguments
 * @argv: words and their values, in any order, each at most once
 *
 * Return: an exit status; the reason of a failure has been printed.
 */
int trace_args_parse(struct trace_args *words, int argc, char **argv)
{
	bool given[ARRAY_SIZE(known)] = {};
	const char *text;
	int i = 0;

	*words = (struct trace_args){ .buffer_bytes = BUFFER_BYTES };
	while (i < argc) {
		size_t n = find_word(argv[i]);

		if (n == ARRAY_SIZE(known)) {
			complain("trace: unknown argument '%s', try: quell help trace", argv[i]);
			return STATUS_INPUT;
		}
		if (given[n]) {
			complain("trace: '%s' is given twice", argv[i]);
			return STATUS_INPUT;
		}
		given[n] = true;
		if (keyword_value(argv[i], argc, argv, &i, &text) || read_value(words, n, text))
			return STATUS_INPUT;
	}
	words->config.wake_bytes = words->buffer_bytes / 4;
	return STATUS_OK;
}
