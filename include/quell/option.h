/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Quell TCP option: encoding and decoding.
 *
 * Documentation/wire-format.md defines each byte.  Like a core,
 * this does not depend on sockets, packets or clocks, and is compiled into the kernel
 * and into the user-space tests alike.  Fields are in network order; an encoded
 * option is padded with no-operations to a multiple of four bytes.
 *
 *	SYN:		254 | 8 | ExID | version | 0 | 0 0
 *	else:		254 | length | ExID | flags | entropy | sections
 *	  data		payload length (2) | departure (4)
 *	  ACK		echoed departure (4) | hold time (3) | n (2) | its entropy
 *	  telemetry	record (12), filled in by switches
 *	  echo		record (12) of the packet echoed
 *	else, short:	254 | 8 | ExID | echoed departure + hold time
 *
 * Sections stand in the order of their flags.  All flags are defined; bytes
 * behind the announced sections are skipped, and may be used by a later version
 * that both ends negotiate.
 */
#ifndef _QUELL_OPTION_H
#define _QUELL_OPTION_H

#include <quell/core/lib/types.h>
#include <quell/telemetry.h>

/* RFC 4727's kind for experiments, with RFC 6994's identifier; not registered. */
#define QUELL_OPT_KIND		254
#define QUELL_OPT_EXID		0x5155U

#define QUELL_OPT_VERSION	1

/* Kinds of one byte (RFC 9293). */
#define QUELL_OPT_END		0
#define QUELL_OPT_NOP		1

/* Kind, length, ExID; then flags and entropy. */
#define QUELL_OPT_EXID_BYTES	4U
#define QUELL_OPT_HEAD_BYTES	6U
#define QUELL_OPT_DATA_BYTES	6U
#define QUELL_OPT_ACK_BYTES	10U
#define QUELL_OPT_SYN_BYTES	8U
#define QUELL_OPT_SHORT_BYTES	8U
/* All sections and the padding, more than fits into any TCP header. */
#define QUELL_OPT_MAX_BYTES	48U

/* flags on the wire */
#define QUELL_OPT_F_DATA	0x01	/* the data section is present */
#define QUELL_OPT_F_ACK		0x02	/* the ACK section is present */
#define QUELL_OPT_F_TELEMETRY	0x04	/* a record for the switches is present */
#define QUELL_OPT_F_RECORD	0x08	/* the record of the packet echoed is present */
#define QUELL_OPT_F_START	0x10	/* first packet of a message, no data was outstanding */
#define QUELL_OPT_F_MORE	0x20	/* more data waits behind this packet */
#define QUELL_OPT_F_CE		0x40	/* the packet echoed was marked CE */
#define QUELL_OPT_F_FOLLOWS	QUELL_OPT_F_CE	/* data without ACK section: by n */
#define QUELL_OPT_F_HARDWARE	0x80	/* the hold time begins at a hardware stamp */

#define QUELL_OPT_F_KNOWN	(QUELL_OPT_F_DATA | QUELL_OPT_F_ACK |		\
				 QUELL_OPT_F_TELEMETRY | QUELL_OPT_F_RECORD |	\
				 QUELL_OPT_F_START | QUELL_OPT_F_MORE |		\
				 QUELL_OPT_F_CE | QUELL_OPT_F_HARDWARE)

/* Maximum hold time; longer ones are encoded as this. */
#define QUELL_OPT_HOLD_MAX_NS	0xffffffU

enum quell_opt_form {
	QUELL_OPT_SYN,		/* on SYN and SYN-ACK: version */
	QUELL_OPT_FULL,		/* flags and sections */
	QUELL_OPT_SHORT,	/* echo_ns alone */
};

/**
 * struct quell_opt - contents of one option
 * @form:		enum quell_opt_form; determines which fields are valid
 * @version:		QUELL_OPT_SYN: highest version supported
 * @flags:		QUELL_OPT_F_*
 * @entropy:		path entropy of this packet
 * @payload_bytes:	data: length of the payload before any trimming
 * @depart_ns:		data: when the packet's last bit left the host, by its
 *			clock plus a secret of the flow (<quell/core/signal/echo.h>), ns
 *			modulo 2^32; that of the first packet in a burst segmented later
 * @echo_ns:		ACK: @depart_ns of the newest data packet received; in
 *			the short form with the hold time added
 * @hold_ns:		ACK: from that packet's arrival to this ACK, ns, at most
 *			QUELL_OPT_HOLD_MAX_NS
 * @senders:		ACK: number of active senders, 0 unknown
 * @echo_entropy:	ACK: entropy of the packet echoed
 * @telemetry:		telemetry: the record, <quell/telemetry.h>
 * @record:		echo: @telemetry of the packet echoed, byte for byte
 */
struct quell_opt {
	enum quell_opt_form	form;
	u8			version;
	u8			flags;
	u8			entropy;
	u16			payload_bytes;
	u32			depart_ns;
	u32			echo_ns;
	u32			hold_ns;
	u16			senders;
	u8			echo_entropy;
	u8			telemetry[QUELL_TELEMETRY_BYTES];
	u8			record[QUELL_TELEMETRY_BYTES];
};

/**
 * struct quell_opt_place - position of a data segment in its connection's send queue
 * @seq:	first sequence number of the segment
 * @end_seq:	sequence number behind its last byte, FIN counted
 * @snd_una:	oldest unacknowledged sequence number
 * @snd_nxt:	next sequence number never sent
 * @write_seq:	sequence number behind all data written, FIN counted
 * @pushed:	it has PSH or FIN: the application's write is complete, for now
 */
struct quell_opt_place {
	u32	seq;
	u32	end_seq;
	u32	snd_una;
	u32	snd_nxt;
	u32	write_seq;
	bool	pushed;
};

/**
 * quell_opt_message() - does a data segment start a message, and does the message go on?
 * @place: its position; of a burst that is segmented later, the position of all of it
 *
 * A message starts with new data when all earlier data has been acknowledged: no byte
 * is in flight then, and the new data may take any path without overtaking it.  A spurious
 * retransmission of acknowledged data may still be in flight; overtaking it is harmless,
 * as the receiver has the data.  A retransmission never starts a message, even if the
 * original did: other originals may be in flight ahead of it.
 *
 * A message goes on if more data is queued behind the segment, or will be: TCP sends a
 * full segment in the middle of a write, with an empty queue behind it, but without PSH.
 *
 * Context: any.
 * Return: QUELL_OPT_F_START and QUELL_OPT_F_MORE, as they apply.
 */
static inline u8 quell_opt_message(const struct quell_opt_place *place)
{
	u32 behind_bytes = place->write_seq - place->end_seq;
	u8 flags = 0;

	if (place->seq == place->snd_nxt && place->snd_una == place->snd_nxt)
		flags |= QUELL_OPT_F_START;
	/* Less than half of the number space is ever queued. */
	if ((behind_bytes && behind_bytes < 1U << 31) || !place->pushed)
		flags |= QUELL_OPT_F_MORE;
	return flags;
}

/**
 * quell_opt_ends() - does a message end with a data packet?
 * @flags:  of its option
 * @pushed: the packet has PSH or FIN
 *
 * All packets segmented from a burst carry the same option, so those of a message's last
 * burst are without MORE; but only the last of them keeps PSH and FIN.
 *
 * Context: any.
 * Return: true if it does.
 */
static inline bool quell_opt_ends(u8 flags, bool pushed)
{
	return !(flags & QUELL_OPT_F_MORE) && pushed;
}

static inline void quell_opt_put_u16(u8 *to, u16 value)
{
	to[0] = value >> 8;
	to[1] = value & 0xff;
}

static inline void quell_opt_put_u32(u8 *to, u32 value)
{
	quell_opt_put_u16(to, value >> 16);
	quell_opt_put_u16(to + 2, value & 0xffff);
}

static inline u16 quell_opt_get_u16(const u8 *from)
{
	return (u16)(from[0] << 8 | from[1]);
}

static inline u32 quell_opt_get_u32(const u8 *from)
{
	return (u32)quell_opt_get_u16(from) << 16 | quell_opt_get_u16(from + 2);
}

/* Value of the option's length field, which excludes the padding. */
static inline u32 quell_opt_stated_bytes(const struct quell_opt *opt)
{
	u32 bytes = QUELL_OPT_HEAD_BYTES;

	if (opt->form == QUELL_OPT_SYN)
		return QUELL_OPT_SYN_BYTES;
	if (opt->form == QUELL_OPT_SHORT)
		return QUELL_OPT_SHORT_BYTES;
	if (opt->flags & QUELL_OPT_F_DATA)
		bytes += QUELL_OPT_DATA_BYTES;
	if (opt->flags & QUELL_OPT_F_ACK)
		bytes += QUELL_OPT_ACK_BYTES;
	if (opt->flags & QUELL_OPT_F_TELEMETRY)
		bytes += QUELL_TELEMETRY_BYTES;
	if (opt->flags & QUELL_OPT_F_RECORD)
		bytes += QUELL_TELEMETRY_BYTES;
	return bytes;
}

/**
 * quell_opt_bytes() - header bytes an option occupies
 * @opt: only @form and @flags are used
 *
 * Context: any.
 * Return: bytes, a multiple of 4, at most QUELL_OPT_MAX_BYTES.
 */
static inline u32 quell_opt_bytes(const struct quell_opt *opt)
{
	return (quell_opt_stated_bytes(opt) + 3) & ~3U;
}

static inline u8 *quell_opt_put_record(u8 *to, const u8 *record)
{
	__builtin_memcpy(to, record, QUELL_TELEMETRY_BYTES);
	return to + QUELL_TELEMETRY_BYTES;
}

static inline u8 *quell_opt_put_ack(u8 *to, const struct quell_opt *opt)
{
	u32 hold_ns = opt->hold_ns;

	if (hold_ns > QUELL_OPT_HOLD_MAX_NS)
		hold_ns = QUELL_OPT_HOLD_MAX_NS;
	quell_opt_put_u32(to, opt->echo_ns);
	to[4] = hold_ns >> 16;
	quell_opt_put_u16(to + 5, hold_ns & 0xffff);
	quell_opt_put_u16(to + 7, opt->senders);
	to[9] = opt->echo_entropy;
	return to + QUELL_OPT_ACK_BYTES;
}

static inline u8 *quell_opt_put_full(u8 *to, const struct quell_opt *opt)
{
	*to++ = opt->flags;
	*to++ = opt->entropy;
	if (opt->flags & QUELL_OPT_F_DATA) {
		quell_opt_put_u16(to, opt->payload_bytes);
		quell_opt_put_u32(to + 2, opt->depart_ns);
		to += QUELL_OPT_DATA_BYTES;
	}
	if (opt->flags & QUELL_OPT_F_ACK)
		to = quell_opt_put_ack(to, opt);
	if (opt->flags & QUELL_OPT_F_TELEMETRY)
		to = quell_opt_put_record(to, opt->telemetry);
	if (opt->flags & QUELL_OPT_F_RECORD)
		to = quell_opt_put_record(to, opt->record);
	return to;
}

/**
 * quell_opt_encode() - write an option
 * @opt: values; flags must be known ones
 * @to:  quell_opt_bytes() bytes
 *
 * Context: any.
 * Return: bytes written, padding included.
 */
static inline u32 quell_opt_encode(const struct quell_opt *opt, u8 *to)
{
	u32 stated_bytes = quell_opt_stated_bytes(opt);

	*to++ = QUELL_OPT_KIND;
	*to++ = stated_bytes;
	quell_opt_put_u16(to, QUELL_OPT_EXID);
	to += 2;
	if (opt->form == QUELL_OPT_SYN) {
		*to++ = opt->version;
		*to++ = 0;
		quell_opt_put_u16(to, 0);
		to += 2;
	} else if (opt->form == QUELL_OPT_SHORT) {
		quell_opt_put_u32(to, opt->echo_ns);
		to += 4;
	} else {
		to = quell_opt_put_full(to, opt);
	}
	/* All lengths are even.  A BPF verifier would not follow a loop to an end. */
	if (stated_bytes & 2) {
		to[0] = QUELL_OPT_NOP;
		to[1] = QUELL_OPT_NOP;
	}
	return quell_opt_bytes(opt);
}

static inline void quell_opt_get_ack(const u8 *from, struct quell_opt *opt)
{
	opt->echo_ns = quell_opt_get_u32(from);
	opt->hold_ns = (u32)from[4] << 16 | quell_opt_get_u16(from + 5);
	opt->senders = quell_opt_get_u16(from + 7);
	opt->echo_entropy = from[9];
}

static inline bool quell_opt_get_full(const u8 *from, u32 bytes, struct quell_opt *opt)
{
	if (bytes < QUELL_OPT_HEAD_BYTES)
		return false;
	opt->form = QUELL_OPT_FULL;
	opt->flags = from[4] & QUELL_OPT_F_KNOWN;
	opt->entropy = from[5];
	if (bytes < quell_opt_stated_bytes(opt))
		return false;
	from += QUELL_OPT_HEAD_BYTES;
	if (opt->flags & QUELL_OPT_F_DATA) {
		opt->payload_bytes = quell_opt_get_u16(from);
		opt->depart_ns = quell_opt_get_u32(from + 2);
		from += QUELL_OPT_DATA_BYTES;
	}
	if (opt->flags & QUELL_OPT_F_ACK) {
		quell_opt_get_ack(from, opt);
		from += QUELL_OPT_ACK_BYTES;
	}
	if (opt->flags & QUELL_OPT_F_TELEMETRY) {
		quell_opt_put_record(opt->telemetry, from);
		from += QUELL_TELEMETRY_BYTES;
	}
	if (opt->flags & QUELL_OPT_F_RECORD)
		quell_opt_put_record(opt->record, from);
	return true;
}

/**
 * quell_opt_decode() - read an option
 * @from:  the option, from its kind on, as quell_opt_find() found it
 * @bytes: its stated length
 * @syn:   the segment has the SYN flag
 * @opt:   set in full when the result is true
 *
 * Context: any.
 * Return: false when it is too short for the sections its flags announce.
 */
static inline bool quell_opt_decode(const u8 *from, u32 bytes, bool syn,
				    struct quell_opt *opt)
{
	*opt = (struct quell_opt) { .form = QUELL_OPT_SHORT };
	if (syn) {
		if (bytes < QUELL_OPT_SYN_BYTES)
			return false;
		opt->form = QUELL_OPT_SYN;
		opt->version = from[4];
		return true;
	}
	if (bytes != QUELL_OPT_SHORT_BYTES)
		return quell_opt_get_full(from, bytes, opt);
	opt->echo_ns = quell_opt_get_u32(from + 4);
	return true;
}

static inline bool quell_opt_is_experiment(const u8 *option, u32 bytes, u32 exid)
{
	return option[0] == QUELL_OPT_KIND && bytes >= QUELL_OPT_EXID_BYTES &&
	       quell_opt_get_u16(option + 2) == exid;
}

/**
 * quell_opt_length() - length of one TCP option of a segment
 * @options: first byte behind the fixed TCP header
 * @bytes:   bytes of options
 * @at:      offset of the option's kind, below @bytes
 *
 * Context: any.
 * Return: its length; 0 where parsing must stop, as in TCP: at the end of options,
 * or at a malformed option.
 */
static inline u32 quell_opt_length(const u8 *options, u32 bytes, u32 at)
{
	if (options[at] == QUELL_OPT_END)
		return 0;
	if (options[at] == QUELL_OPT_NOP)
		return 1;
	if (at + 1 >= bytes || options[at + 1] < 2 || at + options[at + 1] > bytes)
		return 0;
	return options[at + 1];
}

/**
 * quell_opt_find_experiment() - find an experimental option among a segment's options
 * @options: first byte behind the fixed TCP header
 * @bytes:   bytes of options, at most 40
 * @exid:    identifier of the experiment (RFC 6994)
 * @stated:  set to the option's own length when it was found
 *
 * Context: any.
 * Return: offset of the option's kind in @options; @bytes if it was not found.
 */
static inline u32 quell_opt_find_experiment(const u8 *options, u32 bytes, u32 exid,
					    u32 *stated)
{
	u32 length, at;

	for (at = 0; at < bytes; at += length) {
		length = quell_opt_length(options, bytes, at);
		if (!length)
			break;
		if (quell_opt_is_experiment(options + at, length, exid)) {
			*stated = length;
			return at;
		}
	}
	return bytes;
}

/**
 * quell_opt_find() - find the Quell option among a segment's options
 * @options: first byte behind the fixed TCP header
 * @bytes:   bytes of options, at most 40
 * @stated:  set to the option's own length when it was found
 *
 * Context: any.
 * Return: offset of the option's kind in @options; @bytes if it was not found.
 */
static inline u32 quell_opt_find(const u8 *options, u32 bytes, u32 *stated)
{
	return quell_opt_find_experiment(options, bytes, QUELL_OPT_EXID, stated);
}

/**
 * quell_opt_telemetry_at() - find the telemetry record for switches in an option
 * @option: the option, from its kind on, as quell_opt_find() found it
 * @stated: its length field
 *
 * Context: any.
 * Return: offset of the record's first byte; 0 without one, or when the option is too short for the
 * sections its flags announce.
 */
static inline u32 quell_opt_telemetry_at(const u8 *option, u32 stated)
{
	/* By the first four flags: where it begins, and where the last record ends. */
	static const u8 at_of[] __table = {
		0, 0, 0, 0, 6, 12, 16, 22, 0, 0, 0, 0, 6, 12, 16, 22,
	};
	static const u8 end_of[] __table = {
		0, 0, 0, 0, 18, 24, 28, 34, 0, 0, 0, 0, 30, 36, 40, 46,
	};
	u32 flags;

	if (stated <= QUELL_OPT_SHORT_BYTES)
		return 0;
	flags = option[4] & (QUELL_OPT_F_DATA | QUELL_OPT_F_ACK | QUELL_OPT_F_TELEMETRY |
			     QUELL_OPT_F_RECORD);
	return end_of[flags] <= stated ? at_of[flags] : 0;
}

#endif /* _QUELL_OPTION_H */
