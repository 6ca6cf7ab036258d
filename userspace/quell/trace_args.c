// SPDX-License-Identifier: GPL-2.0
/*
 * The command line of "quell trace": which flows, in the words of ss(8), for how long, and where
 * to write it.
 */
#include <arpa/inet.h>
#include <string.h>

#include "qty.h"
#include "quell.h"
#include "trace_args.h"
#include "util.h"

#define BUFFER_BYTES		(4U << 20)
#define BUFFER_BYTES_MIN	4096U
#define BUFFER_BYTES_MAX	(1U << 30)
#define SAMPLE_SPAN		(1ULL << 32)

static int read_quantity(const char *word, const char *text, uint32_t unit, uint64_t *value)
{
	enum qty_status status = qty_parse(text, unit, value);

	if (status == QTY_OK && *value)
		return STATUS_OK;
	complain("%s: '%s' %s; expected %s", word, text,
		 status == QTY_OK ? "is nothing" : qty_status_text(status), qty_expected(unit));
	return STATUS_INPUT;
}

static int read_src(struct trace_args *words, const char *text)
{
	return read_prefix("src", text, &words->config.src);
}

static int read_dst(struct trace_args *words, const char *text)
{
	return read_prefix("dst", text, &words->config.dst);
}

static int read_sport(struct trace_args *words, const char *text)
{
	return read_port("sport", text, &words->config.sport);
}

static int read_dport(struct trace_args *words, const char *text)
{
	int status = read_port("dport", text, &words->config.dport);

	words->config.dport = htons(words->config.dport);
	return status;
}

/* As ss -e prints it: hexadecimal, "sk:" before it or not. */
static int read_cookie(struct trace_args *words, const char *text)
{
	const char *digits = !strncmp(text, "sk:", 3) ? text + 3 : text;
	uint64_t cookie;

	if (is_number(digits, 16, &cookie) && cookie) {
		words->config.cookie = cookie;
		return STATUS_OK;
	}
	complain("cookie: '%s' is no cookie; expected one as ss -e prints it, such as sk:1f", text);
	return STATUS_INPUT;
}

static int read_cc(struct trace_args *words, const char *text)
{
	if (*text && strlen(text) < sizeof(words->config.cc)) {
		strcpy(words->config.cc, text);
		return STATUS_OK;
	}
	complain("cc: '%s' has not 1 to %zu bytes", text, sizeof(words->config.cc) - 1);
	return STATUS_INPUT;
}

static int read_netns(struct trace_args *words, const char *text)
{
	if (!strcmp(text, "any")) {
		words->any_netns = true;
		return STATUS_OK;
	}
	complain("netns: '%s' is not 'any'; one namespace: quell -n NETNS trace", text);
	return STATUS_INPUT;
}

static int read_sample(struct trace_args *words, const char *text)
{
	uint64_t n;
	int status = read_number("sample", text, UINT32_MAX, &n);

	if (!status)
		words->config.sample_below = n > 1 ? SAMPLE_SPAN / n : 0;
	return status;
}

static int read_count(struct trace_args *words, const char *text)
{
	return read_number("count", text, UINT64_MAX, &words->count);
}

static int read_for(struct trace_args *words, const char *text)
{
	return read_quantity("for", text, QUELL_UNIT_NS, &words->for_ns);
}

static int read_buffer(struct trace_args *words, const char *text)
{
	int status = read_quantity("buffer", text, QUELL_UNIT_BYTES, &words->buffer_bytes);

	if (!status && (words->buffer_bytes < BUFFER_BYTES_MIN ||
			words->buffer_bytes > BUFFER_BYTES_MAX)) {
		complain("buffer: '%s' is out of range 4kb .. 1gb", text);
		status = STATUS_INPUT;
	}
	return status;
}

static int read_dir(struct trace_args *words, const char *text)
{
	words->dir = text;
	return STATUS_OK;
}

static int read_output(struct trace_args *words, const char *text)
{
	words->output = text;
	return STATUS_OK;
}

/* The format of the plot follows from the name, and only one is known. */
static int read_plot(struct trace_args *words, const char *text)
{
	size_t len = strlen(text);

	if (len > 4 && !strcmp(text + len - 4, ".svg")) {
		words->plot = text;
		return STATUS_OK;
	}
	complain("--plot: '%s' does not end in .svg", text);
	return STATUS_INPUT;
}

static const struct {
	const char	*word;
	int		(*read)(struct trace_args *words, const char *text);
} known[] = {
	{ "src", read_src },
	{ "dst", read_dst },
	{ "sport", read_sport },
	{ "dport", read_dport },
	{ "cookie", read_cookie },
	{ "cc", read_cc },
	{ "netns", read_netns },
	{ "sample", read_sample },
	{ "count", read_count },
	{ "for", read_for },
	{ "buffer", read_buffer },
	{ "dir", read_dir },
	{ "-o", read_output },
	{ "--plot", read_plot },
};

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
		if (keyword_value(argv[i], argc, argv, &i, &text) || known[n].read(words, text))
			return STATUS_INPUT;
	}
	words->config.wake_bytes = words->buffer_bytes / 4;
	return STATUS_OK;
}
