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

/* A comment, which begins a word, ends with its line, as in files of ip(8). */
static bool is_continued(const char *text, size_t len)
{
	bool in_word = false;
	char quote = '\0';
	size_t i;

	for (i = 0; i < len; i++) {
		if (!quote && !in_word && text[i] == '#')
			return false;
		if (quote ? text[i] == quote : text[i] == '"' || text[i] == '\'')
			quote = quote ? '\0' : text[i];
		in_word = quote || !strchr(BLANKS, text[i]);
	}
	return len > 1 && text[len - 1] == '\n' && text[len - 2] == '\\';
}

/* A line with those that continue it: 1, 0 at the end, or a negative errno value. */
static int read_text(FILE *file, struct batch_line *line)
{
	size_t size = 0, more_size = 0;
	ssize_t len = getline(&line->text, &size, file), more = 0;
	char *text, *next = NULL;
	int ret = len < 0 ? -errno : 1;

	line->number++;
	while (ret > 0 && more >= 0 && is_continued(line->text, len)) {
		line->text[len - 2] = ' ';
		more = getline(&next, &more_size, file);
		text = more < 0 ? NULL : realloc(line->text, len + more + 1);
		if (text) {
			memcpy(text + len, next, more + 1);
			line->text = text;
			line->number++;
			len += more;
		} else if (more >= 0 || ferror(file)) {
			ret = more >= 0 ? -ENOMEM : -errno;
		}
	}
	free(next);
	if (len < 0 && feof(file))
		return 0;
	line->error = ret < 0 ? strerror(-ret) : "a byte of value 0";
	return ret < 0 ? ret : strlen(line->text) == (size_t)len ? 1 : -EINVAL;
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
 * failure. Returns 1, 0 at the end, -EINVAL, or a negative errno value of reading.
 */
int batch_next(FILE *file, struct batch_line *line)
{
	int ret;

	*line = (struct batch_line){ .number = line->number };
	ret = read_text(file, line);
	return ret > 0 ? split(line) : ret;
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
