/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One call prints either text for people or JSON for programs.
 *
 * Every value takes a JSON key and a text format with one "%s".  A key of NULL
 * omits the value from the JSON, a format of NULL from the text, so one line of
 * the caller defines both outputs.  JSON numbers are base units.
 */
#ifndef QUELL_CLI_OUT_H
#define QUELL_CLI_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define OUT_DEPTH_MAX	16

/* Characters that out_escape() makes of one. */
#define OUT_ESCAPED	4

struct out {
	FILE		*file;
	bool		json;
	bool		pretty;
	unsigned int	depth;
	bool		filled[OUT_DEPTH_MAX];	/* per depth: needs a comma */
};

void out_init(struct out *o, FILE *file, bool json, bool pretty);
void out_open_object(struct out *o, const char *key);
void out_close_object(struct out *o);
void out_open_array(struct out *o, const char *key);
void out_close_array(struct out *o);
void out_text(struct out *o, const char *text);
bool has_control(const char *text);
char *out_escape(char *buf, size_t len, const char *text);
void out_str(struct out *o, const char *key, const char *fmt, const char *value);
void out_u64(struct out *o, const char *key, const char *fmt, uint64_t value);
void out_u64_as(struct out *o, const char *key, const char *fmt, uint64_t value,
		const char *text);
void out_qty(struct out *o, const char *key, const char *fmt, uint32_t unit,
	     uint64_t value);
void out_bool(struct out *o, const char *key, bool value);
void out_null(struct out *o, const char *key, const char *text);

#endif /* QUELL_CLI_OUT_H */
