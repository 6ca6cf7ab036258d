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

/**
 * out_init() - start a printer
 * @o: the printer
 * @file: destination
 * @json: JSON instead of text
 * @pretty: JSON on many lines, indented
 */
void out_init(struct out *o, FILE *file, bool json, bool pretty)
{
	*o = (struct out){ .file = file, .json = json, .pretty = pretty };
}

/* Of a text: what a terminal obeys, in ASCII, or as UTF-8 has it beyond that. */
static size_t control_len(const char *text)
{
	unsigned char c = text[0], next = c ? text[1] : 0;

	if (c == 0xc2 && next >= 0x80 && next < 0xa0)
		return 2;
	return c && (c < 0x20 || c == 0x7f);
}

/**
 * has_control() - whether a text has characters that a terminal obeys
 * @text: such as a name that somebody else gave
 */
bool has_control(const char *text)
{
	for (; *text; text++)
		if (control_len(text))
			return true;
	return false;
}

/**
 * out_escape() - a text with what a terminal obeys as \\xHH
 * @buf: filled in; cut off, though not within a \\xHH, if it is too small
 * @len: size of @buf, OUT_ESCAPED times what @text takes is enough
 * @text: the text
 *
 * Return: @buf.
 */
char *out_escape(char *buf, size_t len, const char *text)
{
	size_t used = 0, left;

	while (*text) {
		left = control_len(text);
		if (used + (left ? OUT_ESCAPED * left : 1) >= len)
			break;
		if (!left)
			buf[used++] = *text++;
		for (; left; left--, used += OUT_ESCAPED)
			sprintf(buf + used, "\\x%02x", (unsigned char)*text++);
	}
	buf[used] = '\0';
	return buf;
}

/* Names are given by others: none may move the cursor, or seem to be another line. */
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

static void put_json_string(struct out *o, const char *s)
{
	fputc('"', o->file);
	for (; *s; s++) {
		unsigned char c = *s;

		if (c == '"' || c == '\\')
			fprintf(o->file, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(o->file, "\\u%04x", c);
		else
			fputc(c, o->file);
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

/**
 * out_document_end() - end the JSON document; another may follow
 * @o: the printer
 */
void out_document_end(struct out *o)
{
	if (!o->json)
		return;
	fputc('\n', o->file);
	o->filled[0] = false;
}

/**
 * out_text() - print text that JSON omits: headings, line ends
 * @o: the printer
 * @text: printed unchanged, not a format
 */
void out_text(struct out *o, const char *text)
{
	if (!o->json)
		fputs(text, o->file);
}

/**
 * out_str() - print a string
 * @o: the printer
 * @key: JSON key, or NULL for text only
 * @fmt: text format with one %s, or NULL for JSON only
 * @value: the string; in text, what a terminal obeys is written as \xHH
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

/**
 * out_u64_as() - print a number that has another form in text
 * @o: the printer
 * @key: JSON key, or NULL for text only
 * @fmt: text format with one %s, or NULL for JSON only
 * @value: for JSON
 * @text: for text
 */
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
