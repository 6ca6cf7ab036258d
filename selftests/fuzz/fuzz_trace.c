// SPDX-License-Identifier: GPL-2.0
/*
 * Drives the command line of "quell trace" with arbitrary words, and its table with arbitrary
 * records, and stops where a promise is broken:
 *
 *	words are accepted, or refused with one complaint; accepted values are in their ranges
 *	a prefix matches exactly the addresses with its leading bits
 *	a row has a field for each column, on one line, of bytes that need no quoting
 *
 * Input: the operation, then words, a prefix, or a record.
 */
#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quell.h"
#include "trace_parts.h"
#include "util.h"

#include "input.h"

#define WORDS_MAX	32
#define WORD_BYTES	64
#define ADDR_BITS	128
#define MAPPED_BITS	96
#define COLUMNS_MAX	64

static const char * const keywords[] = {
	"src", "dst", "sport", "dport", "cookie", "cc", "netns", "sample", "count", "for",
	"buffer", "dir", "-o",
};

static const char * const values[] = {
	"10.0.0.0/8", "::ffff:10.1.2.3/97", "fd00::/0", "1", "65535", "sk:1f", "cubic",
	"0123456789abcde", "0123456789abcdef", "any", "4294967295", "1ns", "4kb", "1gb",
	"18446744073709551615", "\v50", "-1", "",
};

static unsigned int complaints;

int complain(const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	complaints++;
	return 1;
}

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

/* A known word, a likely value, or any text. */
static void take_word(struct input *in, char *word)
{
	u8 which = take_byte(in);
	size_t bytes, i;

	if (which < 0x60) {
		strcpy(word, keywords[which % ARRAY_SIZE(keywords)]);
	} else if (which < 0xc0) {
		strcpy(word, values[which % ARRAY_SIZE(values)]);
	} else {
		bytes = which & (WORD_BYTES - 1);
		for (i = 0; i < bytes && i < WORD_BYTES - 1 && in->size; i++) {
			word[i] = take_byte(in);
			if (!word[i])
				break;
		}
		word[i] = '\0';
	}
}

/* The values themselves are under test in test_trace.c. */
static void require_accepted(const struct trace_args *words, int argc)
{
	const struct quell_trace_config *c = &words->config;

	require(!(argc % 2), "a value for each word");
	require(c->sample_below <= 1ULL << 31, "one in two or more");
	require(memchr(c->cc, '\0', sizeof(c->cc)), "the name");
	require(!c->netns_inum && !c->views, "what the kernel tells");
	require(words->buffer_bytes >= 4096 && words->buffer_bytes <= 1U << 30 &&
		c->wake_bytes == words->buffer_bytes / 4, "the buffer's range");
}

static void words(struct input *in)
{
	static char text[WORDS_MAX][WORD_BYTES];
	char *argv[WORDS_MAX + 1] = {};
	struct trace_args words;
	int argc = 0, status;

	while (in->size && argc < WORDS_MAX) {
		take_word(in, text[argc]);
		argv[argc] = text[argc];
		argc++;
	}
	complaints = 0;
	status = trace_args_parse(&words, argc, argv);
	require(status == STATUS_OK || status == STATUS_INPUT, "a status");
	require(complaints == (status != STATUS_OK), "one complaint, or none");
	if (status == STATUS_OK)
		require_accepted(&words, argc);
}

static void take_bytes(struct input *in, void *to, size_t bytes)
{
	u8 *byte = to;
	size_t i;

	for (i = 0; i < bytes; i++)
		byte[i] = take_byte(in);
}

/* As the programs of trace.bpf.c decide. */
static bool passes(const struct quell_trace_prefix *prefix, const u32 *addr)
{
	u32 i, differ = 0;

	for (i = 0; i < QUELL_TRACE_ADDR_WORDS; i++)
		differ |= (addr[i] ^ prefix->addr[i]) & prefix->mask[i];
	return !differ;
}

/* The other address is the same up to a bit, and differs in that one. */
static void prefix(struct input *in)
{
	u32 bits, differs, addr[QUELL_TRACE_ADDR_WORDS] = { 0, 0, htonl(0xffff) };
	char text[INET6_ADDRSTRLEN + 8], *argv[] = { "dst", text };
	bool is_v4 = take_byte(in) & 1;
	struct trace_args words;
	u32 first = is_v4 ? MAPPED_BITS : 0;

	bits = take_byte(in) % (ADDR_BITS - first + 1);
	differs = first + take_byte(in) % (ADDR_BITS - first);
	take_bytes(in, is_v4 ? &addr[3] : addr, is_v4 ? 4 : sizeof(addr));
	inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? &addr[3] : addr, text, INET6_ADDRSTRLEN);
	sprintf(text + strlen(text), "/%u", bits);
	require(trace_args_parse(&words, ARRAY_SIZE(argv), argv) == STATUS_OK, "a prefix");
	require(passes(&words.config.dst, addr), "its own address passes");
	addr[differs / 32] ^= htonl(1U << (31 - differs % 32));
	require(passes(&words.config.dst, addr) == (differs >= first + bits), "leading bits");
}

/* Cut a line at its commas. */
static u32 fields_of(char *line, char **field)
{
	u32 nr = 1;

	field[0] = line;
	for (; *line; line++) {
		if (*line != ',')
			continue;
		require(nr < COLUMNS_MAX, "columns");
		field[nr++] = line + 1;
		*line = '\0';
	}
	return nr;
}

/* The line that a printer writes, without its end. */
static char *line_of(const struct quell_trace_record *record)
{
	size_t bytes = 0, i;
	char *text = NULL;
	FILE *file;

	file = open_memstream(&text, &bytes);
	require(file, "memory");
	if (record)
		trace_csv_row(file, record);
	else
		trace_csv_header(file);
	fclose(file);
	require(bytes && text[bytes - 1] == '\n', "a line");
	text[--bytes] = '\0';
	for (i = 0; i < bytes; i++)
		require(text[i] && strchr("0123456789abcdefghijklmnopqrstuvwxyz"
					  "ABCDEFGHIJKLMNOPQRSTUVWXYZ.:-_,?", text[i]),
			"bytes that need no quoting");
	return text;
}

static void row(struct input *in)
{
	char *fields[COLUMNS_MAX], *header, *line;
	struct quell_trace_record r;
	u32 nr;

	take_bytes(in, &r, sizeof(r));
	header = line_of(NULL);
	line = line_of(&r);
	nr = fields_of(header, fields);
	require(fields_of(line, fields) == nr, "a field for each column");
	require(strtoull(fields[0], NULL, 10) == r.time_ns, "the time first");
	require(strtoull(fields[nr - 1], NULL, 10) == r.dropped, "the dropped records last");
	free(header);
	free(line);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };

	switch (take_byte(&in) % 3) {
	case 0:
		words(&in);
		break;
	case 1:
		prefix(&in);
		break;
	default:
		row(&in);
	}
	return 0;
}
