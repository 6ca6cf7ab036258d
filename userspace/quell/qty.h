/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quantities as people write them: "25us", "50mbit", "225kb", "0.8".
 *
 * Inside, every quantity is a u64 in the base unit the kernel named with it
 * (enum quell_unit).  The suffixes are those of tc(8), with tc's meaning: "kb"
 * is 1024 bytes, "kbit" 1000 bits per second, "bps" bytes per second.  All
 * arithmetic is integer, so that text and value convert without loss.
 */
#ifndef QUELL_CLI_QTY_H
#define QUELL_CLI_QTY_H

#include <stddef.h>
#include <stdint.h>

/* Length of the longest text qty_format() writes, with its terminator. */
#define QTY_TEXT_LEN	48

enum qty_status {
	QTY_OK,
	QTY_SYNTAX,	/* no number, or something after it that is no suffix */
	QTY_NEGATIVE,	/* a minus sign */
	QTY_NO_SUFFIX,	/* a time or a rate without its unit */
	QTY_TOO_LARGE,	/* over 64 bits in the base unit */
	QTY_TOO_FINE,	/* finer than the base unit counts */
};

enum qty_status qty_parse(const char *text, uint32_t unit, uint64_t *value);
const char *qty_status_text(enum qty_status status);
const char *qty_expected(uint32_t unit);
const char *qty_unit_name(uint32_t unit, char *buf, size_t len);
char *qty_format(char *buf, size_t len, uint32_t unit, uint64_t value);
char *qty_format_rate_short(char *buf, size_t len, uint64_t bytes_ps);

#endif /* QUELL_CLI_QTY_H */
