// SPDX-License-Identifier: GPL-2.0
/*
 * Reading and writing the file of "quell save", without a kernel.
 *
 * Input that does not exactly match the format is refused with its line number: a file parsed wrong
 * would be a host configured wrong.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "attr.h"
#include "settings.h"

/* A piece of the text; not terminated. */
struct span {
	const char	*at;
	size_t		len;
};

static int __attribute__((format(printf, 3, 4)))
refuse(struct settings_error *error, unsigned int line, const char *fmt, ...)
{
	va_list args;

	error->line = line;
	va_start(args, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, args);
	va_end(args);
	return -EINVAL;
}

static int no_memory(struct settings_error *error, unsigned int line)
{
	refuse(error, line, "%s", strerror(ENOMEM));
	return -ENOMEM;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct span trim(struct span s)
{
	for (; s.len && is_blank(s.at[0]); s.at++)
		s.len--;
	while (s.len && is_blank(s.at[s.len - 1]))
		s.len--;
	return s;
}

/* A "#" begins a comment at the margin and behind a blank or "="; within a word it is part of it. */
static struct span without_comment(struct span s)
{
	size_t i;

	for (i = 0; i < s.len; i++)
		if (s.at[i] == '#' && (!i || is_blank(s.at[i - 1]) || s.at[i - 1] == '='))
			break;
	s.len = i;
	return trim(s);
}

/* Complain of bytes that no editor shows, or that look like others. */
static int check_bytes(struct span raw, struct span said, unsigned int line,
		       struct settings_error *error)
{
	size_t i;

	for (i = 0; i < raw.len; i++) {
		unsigned char c = raw.at[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return refuse(error, line, "control character 0x%02x", c);
	}
	for (i = 0; i < said.len; i++)
		if ((unsigned char)said.at[i] >= 0x80)
			return refuse(error, line, "byte 0x%02x is not ASCII, write it as \\x%02x",
				      (unsigned char)said.at[i], (unsigned char)said.at[i]);
	return 0;
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Take \xHH back to the byte that it stands for, in place. */
static int unescape(char *text, unsigned int line, struct settings_error *error)
{
	char *to = text;

	for (; *text; text++) {
		char c = *text;

		if (c == '\\') {
			if (text[1] != 'x' || !isxdigit((unsigned char)text[2]) ||
			    !isxdigit((unsigned char)text[3]))
				return refuse(error, line, "'\\' is not followed by x and two digits");
			c = hex_digit(text[2]) << 4 | hex_digit(text[3]);
			text += 3;
		}
		if (!c)
			return refuse(error, line, "a text with \\x00");
		*to++ = c;
	}
	*to = '\0';
	return 0;
}

/* A word of a section's name. */
static int read_word(char **word, struct span s, unsigned int line, struct settings_error *error)
{
	size_t i;

	for (i = 0; i < s.len; i++)
		if (s.at[i] == '[' || s.at[i] == ']')
			return refuse(error, line, "a bracket in a name, write it as \\x%02x",
				      s.at[i]);
	*word = strndup(s.at, s.len);
	return *word ? unescape(*word, line, error) : no_memory(error, line);
}

/* "[WORD WORD]" */
static int read_name(struct settings *s, struct span said, unsigned int line,
		     struct settings_error *error)
{
	struct settings_part *part;
	struct span left;
	int ret = 0;

	if (said.at[said.len - 1] != ']')
		return refuse(error, line, "no ']' at the end of a section's name");
	part = list_grow(&s->list, &s->n, sizeof(*part));
	if (!part)
		return no_memory(error, line);
	part->line = line;
	left = trim((struct span){ said.at + 1, said.len - 2 });
	while (left.len && !ret) {
		struct span word = { left.at, 0 };

		while (word.len < left.len && !is_blank(left.at[word.len]))
			word.len++;
		if (part->n_words == SETTINGS_WORDS_MAX)
			return refuse(error, line, "a section's name has two words at most");
		ret = read_word(&part->words[part->n_words++], word, line, error);
		left = trim((struct span){ left.at + word.len, left.len - word.len });
	}
	if (!ret && !part->n_words)
		return refuse(error, line, "a section without a name");
	return ret;
}

/* A text with one space where blanks are. */
static char *copy_words(struct span s)
{
	char *copy = malloc(s.len + 1);
	size_t i, used = 0;

	for (i = 0; copy && i < s.len; i++)
		if (!is_blank(s.at[i]))
			copy[used++] = s.at[i];
		else if (!is_blank(s.at[i - 1]))
			copy[used++] = ' ';
	if (copy)
		copy[used] = '\0';
	return copy;
}

/* "KEY = VALUE" */
static int read_setting(struct settings *s, struct span said, unsigned int line,
			struct settings_error *error)
{
	const char *equals = memchr(said.at, '=', said.len);
	struct settings_part *part = s->n ? &s->list[s->n - 1] : NULL;
	struct setting *setting;
	struct span key, value;

	if (!equals)
		return refuse(error, line, "neither '[SECTION]' nor 'NAME = VALUE'");
	if (!part)
		return refuse(error, line, "a setting before the first [SECTION]");
	key = trim((struct span){ said.at, equals - said.at });
	value = trim((struct span){ equals + 1, said.at + said.len - equals - 1 });
	if (!key.len)
		return refuse(error, line, "no name before '='");
	if (!value.len)
		return refuse(error, line, "no value behind '='");
	setting = list_grow(&part->list, &part->n, sizeof(*setting));
	if (!setting)
		return no_memory(error, line);
	setting->line = line;
	setting->key = copy_words(key);
	setting->value = copy_words(value);
	if (!setting->key || !setting->value)
		return no_memory(error, line);
	return unescape(setting->value, line, error);
}

static int read_line(struct settings *s, struct span raw, unsigned int line,
		     struct settings_error *error)
{
	struct span said;
	int ret;

	if (raw.len && raw.at[raw.len - 1] == '\r')
		raw.len--;
	said = without_comment(raw);
	ret = check_bytes(raw, said, line, error);
	if (ret || !said.len)
		return ret;
	if (*said.at == '[')
		return read_name(s, said, line, error);
	return read_setting(s, said, line, error);
}

/* By the key, those of one key by the line. */
static int compare_settings(const void *a, const void *b)
{
	const struct setting *x = *(const struct setting *const *)a;
	const struct setting *y = *(const struct setting *const *)b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int compare_names(const struct settings_part *x, const struct settings_part *y)
{
	int order = strcmp(x->words[0], y->words[0]);

	if (order || x->n_words != y->n_words)
		return order ? order : (x->n_words > y->n_words) - (x->n_words < y->n_words);
	return x->n_words > 1 ? strcmp(x->words[1], y->words[1]) : 0;
}

static int compare_parts(const void *a, const void *b)
{
	const struct settings_part *x = *(const struct settings_part *const *)a;
	const struct settings_part *y = *(const struct settings_part *const *)b;
	int order = compare_names(x, y);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Addresses of @n entries of @size bytes, in order. */
static const void **sorted(const void *list, size_t n, size_t size,
			   int (*compare)(const void *a, const void *b))
{
	const void **order = calloc(n + 1, sizeof(*order));
	size_t i;

	for (i = 0; order && i < n; i++)
		order[i] = (const char *)list + i * size;
	if (order)
		qsort(order, n, sizeof(*order), compare);
	return order;
}

static int check_keys_once(const struct settings_part *part, struct settings_error *error)
{
	const struct setting **order = (const struct setting **)
		sorted(part->list, part->n, sizeof(*part->list), compare_settings);
	int ret = order ? 0 : no_memory(error, part->line);
	size_t i;

	for (i = 1; !ret && i < part->n; i++)
		if (!strcmp(order[i]->key, order[i - 1]->key) &&
		    strcmp(order[i]->key, SETTINGS_MEMBERS))
			ret = refuse(error, order[i]->line, "'%.40s' is given twice, first in line %u",
				     order[i]->key, order[i - 1]->line);
	free(order);
	return ret;
}

/* Of two that say the same thing, which holds? */
static int check_once(const struct settings *s, struct settings_error *error)
{
	const struct settings_part **order = (const struct settings_part **)
		sorted(s->list, s->n, sizeof(*s->list), compare_parts);
	int ret = order ? 0 : no_memory(error, 0);
	size_t i;

	for (i = 1; !ret && i < s->n; i++)
		if (!compare_names(order[i], order[i - 1]))
			ret = refuse(error, order[i]->line,
				     "the section is given twice, first in line %u",
				     order[i - 1]->line);
	for (i = 0; !ret && i < s->n; i++)
		ret = check_keys_once(&s->list[i], error);
	free(order);
	return ret;
}

/**
 * settings_parse() - read a file of settings
 * @s: filled in; the caller must free it even on failure
 * @text: the file
 * @len: its length, bytes
 * @error: on failure the reason and its line; line 0: of no line
 *
 * Return: 0, -EINVAL, -EFBIG or -ENOMEM.
 */
int settings_parse(struct settings *s, const char *text, size_t len,
		   struct settings_error *error)
{
	const char *end = text + len, *at = text;
	unsigned int line;
	int ret = 0;

	*s = (struct settings){};
	if (len > SETTINGS_BYTES_MAX) {
		refuse(error, 0, "longer than %d bytes", SETTINGS_BYTES_MAX);
		return -EFBIG;
	}
	for (line = 1; at < end && !ret; line++) {
		const char *stop = memchr(at, '\n', end - at);

		stop = stop ? stop : end;
		ret = read_line(s, (struct span){ at, stop - at }, line, error);
		at = stop + 1;
	}
	return ret ? ret : check_once(s, error);
}

/**
 * settings_free() - free the memory of settings_parse()
 * @s: the settings; zeroed is allowed
 */
void settings_free(struct settings *s)
{
	size_t i, j;

	for (i = 0; i < s->n; i++) {
		struct settings_part *part = &s->list[i];

		for (j = 0; j < part->n_words; j++)
			free(part->words[j]);
		for (j = 0; j < part->n; j++) {
			free(part->list[j].key);
			free(part->list[j].value);
		}
		free(part->list);
	}
	free(s->list);
	*s = (struct settings){};
}

/* A "#" could be taken for the beginning of a comment. */
static void write_escaped(FILE *file, unsigned char c, const char *special)
{
	if (c <= 0x20 || c >= 0x7f || c == '#' || c == '\\' || strchr(special, c))
		fprintf(file, "\\x%02x", c);
	else
		fputc(c, file);
}

/**
 * settings_write_name() - write the name of a section
 * @file: destination
 * @words: the name
 * @n: its words
 */
void settings_write_name(FILE *file, const char *const *words, size_t n)
{
	const char *c;
	size_t i;

	fputc('[', file);
	for (i = 0; i < n; i++) {
		if (i)
			fputc(' ', file);
		for (c = words[i]; *c; c++)
			write_escaped(file, *c, "[]");
	}
	fputs("]\n", file);
}

/**
 * settings_write_value() - write the text behind the equals sign
 * @file: destination
 * @value: any text
 */
void settings_write_value(FILE *file, const char *value)
{
	const char *c;

	for (c = value; *c; c++)
		if (*c == ' ' && c > value && c[-1] != ' ' && c[1])
			fputc(' ', file);
		else
			write_escaped(file, *c, "");
}

/**
 * settings_write() - write a file that settings_parse() reads as the same
 * @file: destination
 * @s: the settings
 */
void settings_write(FILE *file, const struct settings *s)
{
	size_t i, j;

	for (i = 0; i < s->n; i++) {
		const struct settings_part *part = &s->list[i];

		settings_write_name(file, (const char *const *)part->words, part->n_words);
		for (j = 0; j < part->n; j++) {
			fprintf(file, "%s = ", part->list[j].key);
			settings_write_value(file, part->list[j].value);
			fputc('\n', file);
		}
	}
}
