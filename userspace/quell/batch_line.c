// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of a batch file as words, and names as words of one.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attr.h"
#include "batch.h"

#define BLANKS	" \t\r\n"

#define STRING(macro)	STRING_OF(macro)
#define STRING_OF(text)	#text

/* A byte of a line, or false without room for it. */
static bool put_byte(struct batch_line *line, int byte)
{
	char *at = list_grow(&line->text, &line->bytes, 1);

	if (at)
		*at = byte;
	return at;
}

/*
 * A line with those that continue it, without the backslashes; a comment, which begins a word, ends
 * with its line, as in files of ip(8). 1, 0 at the end, or a negative errno value.
 */
static int read_text(FILE *file, struct batch_line *line)
{
	bool in_comment = false, in_word = false, is_end = false;
	int byte = '\n', before, quote = 0;

	while (!is_end) {
		before = byte;
		byte = getc(file);
		if (byte == EOF)
			break;
		line->number += before == '\n';
		line->error = byte ? "longer than " STRING(BATCH_LINE_BYTES) " bytes" :
			      "a byte of value 0";
		if (!byte || line->bytes == BATCH_LINE_BYTES)
			return -EBADMSG;
		line->error = strerror(ENOMEM);
		if (!put_byte(line, byte))
			return -ENOMEM;
		in_comment |= !quote && !in_word && byte == '#';
		if (quote ? byte == quote : byte == '"' || byte == '\'')
			quote = quote ? 0 : byte;
		in_word = quote || !strchr(BLANKS, byte);
		is_end = byte == '\n' && (in_comment || before != '\\');
		if (byte == '\n' && !is_end)
			line->text[line->bytes - 2] = ' ';
	}
	line->error = strerror(errno);
	if (byte == EOF && ferror(file))
		return -errno;
	if (!line->bytes)
		return 0;
	line->error = strerror(ENOMEM);
	return put_byte(line, '\0') ? 1 : -ENOMEM;
}

static int hex_value(const char *digits)
{
	char text[] = { digits[0], digits[0] ? digits[1] : '\0', '\0' };

	return isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]) ?
	       strtol(text, NULL, 16) : 0;
}

/* Take the quotes off a word, in place; the rest of the line behind it, or NULL. */
static char *take_word(char *from)
{
	char quote = '\0', *to = from;

	for (; *from && (quote || !strchr(BLANKS, *from)); from++) {
		if (quote ? *from == quote : *from == '"' || *from == '\'') {
			quote = quote ? '\0' : *from;
		} else if (from[0] == '\\' && from[1] == 'x' && hex_value(from + 2)) {
			*to++ = hex_value(from + 2);
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	if (quote)
		return NULL;
	from += *from != '\0';
	*to = '\0';
	return from;
}

static int split(struct batch_line *line)
{
	char **word, *at = line->text;

	while (*(at += strspn(at, BLANKS)) && *at != '#') {
		word = list_grow(&line->argv, &line->argc, sizeof(*word));
		line->error = strerror(ENOMEM);
		if (!word)
			return -ENOMEM;
		*word = at;
		at = take_word(at);
		line->error = "a quote is not closed";
		if (!at)
			return -EINVAL;
	}
	line->error = "a section, which the older form of this file has; now a line is a command such "
		      "as 'cc set swift beta 0.5', and quell save prints those of the present settings";
	return line->argc && *line->argv[0] == '[' ? -EINVAL : 1;
}

/*
 * Read the next line over the line before, which is zeroed for the first; it must be freed even on
 * failure. Returns 1, 0 at the end, -EINVAL for a line that is refused, or another negative errno
 * value, behind which no line follows: -EBADMSG if it is no text.
 */
int batch_next(FILE *file, struct batch_line *line)
{
	int ret;

	*line = (struct batch_line){ .number = line->number };
	ret = read_text(file, line);
	if (ret > 0)
		ret = split(line);
	line->bytes += sizeof(*line) + line->argc * sizeof(*line->argv);
	return ret;
}

void batch_line_free(struct batch_line *line)
{
	free(line->argv);
	free(line->text);
}

/*
 * A name as a word that batch_next() reads as the same, after "--" if it begins as an option.
 * Returns @buf.
 */
char *batch_word(char buf[BATCH_WORD_LEN], const char *name)
{
	size_t used = *name == '-' ? sprintf(buf, "-- ") : 0;

	for (; *name && used + 5 <= BATCH_WORD_LEN; name++) {
		unsigned char c = *name;

		if (c > ' ' && c < 0x7f && !strchr("#'\"\\", c))
			buf[used++] = c;
		else
			used += sprintf(buf + used, "\\x%02x", c);
	}
	buf[used] = '\0';
	return buf;
}
