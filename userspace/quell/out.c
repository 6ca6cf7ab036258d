// SPDX-License-Identifier: GPL-2.0
/*
 * The printer behind every verb: text or JSON from one call.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "qty.h"

void out_init(struct out *o, FILE *file, bool json, bool pretty)
{
	*o = (struct out){ .file = file, .json = json, .pretty = pretty };
}

/* Bytes of the character beyond ASCII that a text begins with, as UTF-8 has it; 0 if it does not. */
static size_t utf8_len(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t len = c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
	size_t i;

	for (i = 1; i < len; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong, a surrogate, or beyond the last code point. */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) ||
	    (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90))
		return 0;
	return len;
}

/* Bytes of the next character; @control: a control character, or not valid UTF-8. */
static size_t next_len(const char *text, bool *control)
{
	unsigned char c = text[0];
	size_t len = c < 0x80 ? 1 : utf8_len(text);

	*control = !len || c < 0x20 || c == 0x7f ||
		   (c == 0xc2 && (unsigned char)text[1] < 0xa0);
	return len ? len : 1;
}

/*
 * Whether a text, such as a name chosen by another user, has control characters or is not valid
 * UTF-8.
 */
bool has_control(const char *text)
{
	bool control = false;

	while (*text && !control)
		text += next_len(text, &control);
	return control;
}

/*
 * A text with control characters, and bytes that are not UTF-8, as \xHH. It is cut, though not
 * within a \xHH, if @buf is smaller than OUT_ESCAPED times its length. Returns @buf.
 */
char *out_escape(char *buf, size_t len, const char *text)
{
	size_t used = 0, left;
	bool control;

	while (*text) {
		left = next_len(text, &control);
		if (used + (control ? OUT_ESCAPED * left : left) >= len)
			break;
		for (; left; left--, text++) {
			if (control)
				used += sprintf(buf + used, "\\x%02x", (unsigned char)*text);
			else
				buf[used++] = *text;
		}
	}
	buf[used] = '\0';
	return buf;
}

/* Names are chosen by others and must not move the cursor or forge a line. */
static void put_text(struct out *o, const char *fmt, const char *value)
{
	size_t len = OUT_ESCAPED * strlen(value) + 1;
	char *plain = has_control(value) ? malloc(len) : NULL;

	if (plain)
		value = out_escape(plain, len, value);
	else if (has_control(value))
		value = "?";
	fprintf(o->file, fmt, value);
	free(plain);
}

/* The kernel does not check names for UTF-8: other bytes become U+FFFD. */
static void put_json_string(struct out *o, const char *s)
{
	bool control;
	size_t len;

	fputc('"', o->file);
	for (; *s; s += len) {
		len = next_len(s, &control);
		if (*s == '"' || *s == '\\')
			fprintf(o->file, "\\%c", *s);
		else if (!control)
			fwrite(s, 1, len, o->file);
		else if (len == 2 || (unsigned char)*s < 0x80)
			fprintf(o->file, "\\u%04x", (unsigned char)s[len - 1]);
		else
			fputs("\\ufffd", o->file);
	}
	fputc('"', o->file);
}

static void new_line(struct out *o)
{
	unsigned int i;

	if (!o->pretty)
		return;
	fputc('\n', o->file);
	for (i = 0; i < o->depth; i++)
		fputs("    ", o->file);
}

/* Write all that precedes a JSON value: comma, line break and key. */
static void begin_value(struct out *o, const char *key)
{
	if (o->filled[o->depth])
		fputc(',', o->file);
	if (o->depth)
		new_line(o);
	o->filled[o->depth] = true;
	if (!key)
		return;
	put_json_string(o, key);
	fputs(o->pretty ? ": " : ":", o->file);
}

static void open_nest(struct out *o, const char *key, char bracket)
{
	if (!o->json)
		return;
	begin_value(o, key);
	fputc(bracket, o->file);
	o->depth++;
	assert(o->depth < OUT_DEPTH_MAX);
	o->filled[o->depth] = false;
}

static void close_nest(struct out *o, char bracket)
{
	bool filled = o->filled[o->depth];

	if (!o->json)
		return;
	o->depth--;
	if (filled)
		new_line(o);
	fputc(bracket, o->file);
	/* The end of the document; another may follow. */
	if (!o->depth) {
		fputc('\n', o->file);
		o->filled[0] = false;
	}
}

/* Nesting exists only in JSON; @key is NULL inside an array or at the top. */
void out_open_object(struct out *o, const char *key)
{
	open_nest(o, key, '{');
}

void out_close_object(struct out *o)
{
	close_nest(o, '}');
}

void out_open_array(struct out *o, const char *key)
{
	open_nest(o, key, '[');
}

void out_close_array(struct out *o)
{
	close_nest(o, ']');
}

/* Print text that JSON omits: headings, line ends. It is not a format. */
void out_text(struct out *o, const char *text)
{
	if (!o->json)
		fputs(text, o->file);
}

/*
 * Print a string; in text, control characters are printed as \xHH. For @key and @fmt of all these
 * see out.h.
 */
void out_str(struct out *o, const char *key, const char *fmt, const char *value)
{
	if (o->json && key) {
		begin_value(o, key);
		put_json_string(o, value);
	} else if (!o->json && fmt) {
		put_text(o, fmt, value);
	}
}

/* Print a number that has another form in text. */
void out_u64_as(struct out *o, const char *key, const char *fmt, uint64_t value,
		const char *text)
{
	if (o->json && key) {
		begin_value(o, key);
		fprintf(o->file, "%" PRIu64, value);
	} else if (!o->json && fmt) {
		fprintf(o->file, fmt, text);
	}
}

/* A plain number; arguments as for out_str(). */
void out_u64(struct out *o, const char *key, const char *fmt, uint64_t value)
{
	char text[QTY_TEXT_LEN];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	out_u64_as(o, key, fmt, value, text);
}

/* A quantity: base units in JSON, formatted with a suffix in text. */
void out_qty(struct out *o, const char *key, const char *fmt, uint32_t unit,
	     uint64_t value)
{
	char text[QTY_TEXT_LEN];

	out_u64_as(o, key, fmt, value,
		   qty_format(text, sizeof(text), unit, value));
}

/* A boolean in JSON only; the caller prints its own text. */
void out_bool(struct out *o, const char *key, bool value)
{
	if (!o->json)
		return;
	begin_value(o, key);
	fputs(value ? "true" : "false", o->file);
}

/* A value that does not apply: null in JSON, @text in text. */
void out_null(struct out *o, const char *key, const char *text)
{
	if (o->json) {
		begin_value(o, key);
		fputs("null", o->file);
	} else if (text) {
		fputs(text, o->file);
	}
}
