/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The NACK, a second TCP option that reports data a switch trimmed: encoding and
 * decoding.
 *
 *	254 | 10 | ExID | first sequence number lost (4) | payload bytes lost (2)
 *
 * padded with two no-operations to a multiple of four.  It is sent in a segment of its
 * own, without payload, and only on connections that negotiated the Quell option,
 * <quell/option.h>; if the segment carries that option too, the NACK follows it.
 * Documentation/wire-format.md defines each byte.
 */
#ifndef _QUELL_NACK_H
#define _QUELL_NACK_H

#include <quell/option.h>

/* RFC 6994's identifier; not registered. */
#define QUELL_NACK_EXID		0x514EU

/* Its length field, and its length with the padding. */
#define QUELL_NACK_STATED_BYTES	10U
#define QUELL_NACK_BYTES	12U

/**
 * struct quell_nack - contents of one NACK
 * @seq:   first sequence number lost
 * @bytes: payload bytes lost
 */
struct quell_nack {
	u32	seq;
	u16	bytes;
};

/**
 * quell_nack_encode() - write a NACK
 * @nack: values
 * @to:   QUELL_NACK_BYTES bytes
 *
 * Context: any.
 * Return: bytes written, padding included.
 */
static inline u32 quell_nack_encode(const struct quell_nack *nack, u8 *to)
{
	to[0] = QUELL_OPT_KIND;
	to[1] = QUELL_NACK_STATED_BYTES;
	quell_opt_put_u16(to + 2, QUELL_NACK_EXID);
	quell_opt_put_u32(to + 4, nack->seq);
	quell_opt_put_u16(to + 8, nack->bytes);
	to[10] = QUELL_OPT_NOP;
	to[11] = QUELL_OPT_NOP;
	return QUELL_NACK_BYTES;
}

/**
 * quell_nack_decode() - read a NACK
 * @from:   the option, from its kind on, as quell_nack_find() found it
 * @stated: its length field; bytes beyond the known ones are ignored
 * @nack:   set when the result is true
 *
 * Context: any.
 * Return: false when the option is too short, or reports 0 bytes lost.
 */
static inline bool quell_nack_decode(const u8 *from, u32 stated, struct quell_nack *nack)
{
	if (stated < QUELL_NACK_STATED_BYTES)
		return false;
	nack->seq = quell_opt_get_u32(from + 4);
	nack->bytes = quell_opt_get_u16(from + 8);
	return nack->bytes;
}

/**
 * quell_nack_find() - find a NACK among a segment's options
 * @options: first byte behind the fixed TCP header
 * @bytes:   bytes of options, at most 40
 * @stated:  set to the option's own length when it was found
 *
 * Context: any.
 * Return: offset of the option's kind in @options; @bytes if it was not found.
 */
static inline u32 quell_nack_find(const u8 *options, u32 bytes, u32 *stated)
{
	return quell_opt_find_experiment(options, bytes, QUELL_NACK_EXID, stated);
}

#endif /* _QUELL_NACK_H */
