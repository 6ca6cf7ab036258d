/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of a switch port to a TCP segment at dequeue: the place of the telemetry record, and the
 * words that are replaced, with the segment's checksum.
 *
 * The sums of RFC 1624: HC' = ~(~HC + ~m + m').  They do not depend on the order of bytes, so
 * words are added up as they are in the segment.
 */
#ifndef _QUELL_CORE_PORT_STAMP_H
#define _QUELL_CORE_PORT_STAMP_H

#ifdef __KERNEL__
#include <linux/swab.h>
#endif
#include <quell/core/port/frame.h>
#include <quell/option.h>

/* Offsets in a TCP header: CWR to FIN, checksum. */
#define QUELL_STAMP_FLAGS_AT		13U
#define QUELL_STAMP_CHECK_AT		16U

/* Options in which a record has room. */
#define QUELL_STAMP_RECORD_BYTES_MIN	(QUELL_OPT_HEAD_BYTES + QUELL_TELEMETRY_BYTES)

/* quell_stamp_record_at() of a segment with another option first. */
static __rare u32 quell_stamp_search(const u8 *options, u32 bytes)
{
	u32 stated = 0, at = quell_opt_find(options, bytes, &stated), in_option;

	if (at == bytes)
		return 0;
	in_option = quell_opt_telemetry_at(options + at, stated);
	return in_option ? QUELL_FRAME_TCP_BYTES + at + in_option : 0;
}

/*
 * Offset from @tcp of the record that a port may replace in a segment without SYN; 0 without a
 * record, or if the segment does not request an ACK.  The sender's kernel puts the Quell option
 * before all others.  @bytes: QUELL_STAMP_RECORD_BYTES_MIN or more.
 */
static inline u32 quell_stamp_record_at(const u8 *tcp, u32 bytes)
{
	const u8 *option = tcp + QUELL_FRAME_TCP_BYTES;
	u32 in_option, stated = option[1];

	if (!(tcp[QUELL_STAMP_FLAGS_AT] & QUELL_FRAME_TCP_PSH))
		return 0;
	if (!quell_opt_is_experiment(option, QUELL_OPT_EXID_BYTES, QUELL_OPT_EXID) ||
	    stated < QUELL_OPT_EXID_BYTES)
		return quell_stamp_search(option, bytes);
	in_option = quell_opt_telemetry_at(option, stated);
	return in_option && stated <= bytes ? QUELL_FRAME_TCP_BYTES + in_option : 0;
}

/*
 * Eight and four bytes between the processor's order and the network's.  Where the processor lacks
 * an instruction, as riscv64 does, the compiler's own call functions that the kernel does not have.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && defined(__KERNEL__)
#define quell_stamp_swap_u64(value)	swab64(value)
#define quell_stamp_swap_u32(value)	swab32(value)
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define quell_stamp_swap_u64(value)	__builtin_bswap64(value)
#define quell_stamp_swap_u32(value)	__builtin_bswap32(value)
#else
#define quell_stamp_swap_u64(value)	(value)
#define quell_stamp_swap_u32(value)	(value)
#endif

/* Sum with the carry added in again. */
static inline u64 quell_stamp_add(u64 a, u64 b)
{
	a += b;
	return a + (a < b);
}

/* The complement of the sum of 16 bits of one of 64.  Upper halves get the carry of lower ones. */
static inline u16 quell_stamp_fold(u64 sum)
{
	u32 half = (sum + (sum << 32 | sum >> 32)) >> 32;

	return (~half - (half << 16 | half >> 16)) >> 16;
}

/* Eight bytes in network order. */
static inline u64 quell_stamp_get_u64(const u8 *from)
{
	u64 value;

	__builtin_memcpy(&value, from, sizeof(value));
	return quell_stamp_swap_u64(value);
}

/* In network order; returns @diff with the change of the sum of the segment's words added. */
static inline u64 quell_stamp_put_u64(u8 *to, u64 value, u64 diff)
{
	u64 was;

	value = quell_stamp_swap_u64(value);
	__builtin_memcpy(&was, to, sizeof(was));
	__builtin_memcpy(to, &value, sizeof(value));
	return quell_stamp_add(quell_stamp_add(diff, value), ~was);
}

/* quell_stamp_put_u64() of four bytes, before others. */
static inline u64 quell_stamp_put_u32(u8 *to, u32 value)
{
	u32 was;

	value = quell_stamp_swap_u32(value);
	__builtin_memcpy(&was, to, sizeof(was));
	__builtin_memcpy(to, &value, sizeof(value));
	return (u64)value + (u32)~was;
}

/*
 * @diff: sum of the results of replacing bytes at @at; at an odd offset they enter the sum swapped.
 */
static inline void quell_stamp_update(u8 *tcp, u32 at, u64 diff)
{
	u16 check;

	if (at % 2)
		diff = (u64)(u16)~quell_stamp_fold(diff) << 8;
	__builtin_memcpy(&check, tcp + QUELL_STAMP_CHECK_AT, sizeof(check));
	/* With the ones of the upper half the sum is never 0, nor is the checksum then 0xffff. */
	check = quell_stamp_fold(quell_stamp_add(diff, (u32)~(u32)check));
	__builtin_memcpy(tcp + QUELL_STAMP_CHECK_AT, &check, sizeof(check));
}

#endif /* _QUELL_CORE_PORT_STAMP_H */
