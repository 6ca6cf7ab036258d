/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One end of a connection with the Quell option, without sockets: the contents of a socket's
 * storage, the choice of the option to send, the parsing of a received one.  It is the twin of
 * kmod-cc/quell/signal, hooks/transmit.c and hooks/receive.c; bytes and verdicts are those of
 * <quell/option.h> and <quell/core/signal/echo.h> here as there.
 *
 * Differences, all of them because TCP itself calls, with the socket locked:
 *	- Data is processed right after it was heard, so only the newest packet can be due to
 *	  be echoed, and only one ACK to be sampled: no lists.
 *	- Of the departures of data outstanding 16 are kept, an eighth of the least round trip
 *	  apart, or more where data waits long: an echo may be older than the oldest data by that.
 *	- The link's rate is not known: departure is that of the first bit.
 *	- ACKs wait as long as the stack lets them.  That is neither a queue nor a busy host, so
 *	  it is added to the stamp echoed, and not stated as hold time.
 */
#ifndef _QUELL_EBPF_OPTCONN_H
#define _QUELL_EBPF_OPTCONN_H

#include <quell/core/dart/share.h>
#include <quell/core/signal/echo.h>
#include <quell/option.h>
#include <quell/telemetry.h>

/* Departures kept of data outstanding; a power of two. */
#define QUELL_OPTCONN_MARKS		16U

/* Segments in a row without the option, before it counts as stripped; then after the first. */
#define QUELL_OPTCONN_MISSED_MAX	32U
#define QUELL_OPTCONN_MISSED_LATER_MAX	1024U

/* After so many ACKs in a row without an echo the stack's own round-trip times count again. */
#define QUELL_OPTCONN_NO_ECHO_MAX	32U

/* Acknowledgment numbers this far below the oldest expected one are accepted for any window. */
#define QUELL_OPTCONN_WINDOW_MIN_BYTES	65536U

/* Options of a header. */
#define QUELL_OPTCONN_HEADER_MAX_BYTES	40U

/* When data left. */
struct quell_optconn_mark {
	u64	depart_ns;	/* departure of the first packet */
	u32	end_seq;	/* sequence number behind the last */
	u32	unused;
};

/* The newest data packet received. */
struct quell_optconn_echo {
	u64	rx_ns;	/* when */
	u32	seq;	/* its first sequence number */
	u32	end_seq;	/* sequence number behind its last byte */
	u32	depart_ns;	/* departure as its sender stamped it, ns modulo 2^32 */
	u8	entropy;	/* its path entropy */
	bool	marked;	/* it was marked CE */
	bool	waits;	/* it was not echoed yet */
	u8	unused;
	/* telemetry record of it, or of the newest before it that had one; or empty */
	u8	record[QUELL_TELEMETRY_BYTES];
	u32	pad;
};

/*
 * State of a connection with the option, in its socket's storage.  The lock of the socket protects
 * all of it, and is held in all functions.
 */
struct quell_optconn {
	struct quell_optconn_echo	echo;	/* data to be echoed */
	/* when outstanding data left, oldest first, from @first on in a ring */
	struct quell_optconn_mark	marks[QUELL_OPTCONN_MARKS];
	/* telemetry record of the segment of @sample_ns, or empty */
	u8			record[QUELL_TELEMETRY_BYTES];
	/* this end's algorithm wants records: data leaves with room for them */
	bool			send_records;
	u8			pad[3];
	/* newest departure that a segment was stamped with */
	u64			newest_ns;
	/* newest departure of a retransmission; 0: not yet */
	u64			resent_ns;
	/* the clock of the segment that @rtt_ns and @hold_ns are of; 0: taken */
	u64			sample_ns;
	u64			rtt_ns;	/* round-trip time that it echoed; 0: no echo */
	/* the accepted part of how long the peer held the echo */
	u64			hold_ns;
	u64			min_rtt_ns;	/* least round-trip time sampled; 0: not yet */
	u64			echoes;	/* samples taken */
	/* line rate that the receiver states; 0: not stated */
	u64			peer_link_bytes_ps;
	u32			senders_q8;	/* n that the receiver states; 0: not stated */
	u32			secret;	/* added to departures */
	u32			option_segs;	/* segments received when the newest option came */
	u32			no_echo_acks;	/* ACKs since the last with an echo */
	u32			first;	/* place of the oldest mark, below QUELL_OPTCONN_MARKS */
	u32			marks_nr;	/* number of marks */
	bool			option_seen;	/* the peer's option was seen since the handshake */
	bool			follows;	/* the rate of this end's algorithm follows n */
	bool			waited;	/* the segment of @sample_ns says that it waited */
	u8			unused[5];
};

/* TCP's state, as far as it counts here. */
struct quell_optconn_tcp {
	u64	now_ns;	/* the clock */
	u32	rcv_nxt;	/* next sequence number expected */
	u32	block_seq;	/* start of the first SACK block; equal to @block_end without one */
	u32	block_end;	/* end of it */
	u32	snd_una;	/* oldest sequence number outstanding */
	u32	snd_nxt;	/* next one to send */
	u32	window_bytes;	/* largest window that the peer offered */
	u32	segs_in;	/* segments received */
	u32	flight_pkts;
	u32	sacked_pkts;
};

/* A segment that leaves, and the room in its header. */
struct quell_optconn_room {
	u32	payload_bytes;	/* its data; 0: pure ACK */
	u32	option_bytes;	/* room for options in its header */
	/* the most that payload and this option may have together, by the path's MTU */
	u32	packet_bytes;
};

/* A segment that came in, which TCP would accept. */
struct quell_optconn_segment {
	u64	rx_ns;	/* when */
	u64	least_ns;	/* TCP's own least round-trip time; 0: not yet */
	u32	seq;	/* first sequence number */
	u32	ack_seq;	/* acknowledgment number */
	u32	payload_bytes;	/* its data */
	bool	marked;	/* it was marked CE */
};

/* Results of quell_optconn_receive(). */
#define QUELL_OPTCONN_OUTSIDE	0x1U	/* TCP drops the ACK: the option is ignored */
#define QUELL_OPTCONN_SAMPLED	0x2U	/* an echo */
#define QUELL_OPTCONN_ECHO_REFUSED	0x4U	/* an echo of a departure never sent */
#define QUELL_OPTCONN_HOLD_REFUSED	0x8U	/* more hold time than can be */
#define QUELL_OPTCONN_DELAYED	0x10U	/* an echo of a lone segment that waited: no sample */

static inline bool quell_optconn_is_before(u32 seq, u32 other)
{
	return (seq - other) >> 31;
}

/* Whether TCP would take this acknowledgment number, or call it old. */
static inline bool quell_optconn_is_inside(const struct quell_optconn_tcp *tcp, u32 ack_seq)
{
	u32 most_bytes = quell_max_u64(tcp->window_bytes, QUELL_OPTCONN_WINDOW_MIN_BYTES);

	return !quell_optconn_is_before(tcp->snd_nxt, ack_seq) &&
	       !quell_optconn_is_before(ack_seq, tcp->snd_una - most_bytes);
}

static inline struct quell_optconn_mark *quell_optconn_mark_at(struct quell_optconn *conn,
							       u32 index)
{
	return &conn->marks[(conn->first + index) % QUELL_OPTCONN_MARKS];
}

/* Departure of the oldest data outstanding, 0 without any; acknowledged data is removed. */
static inline u64 quell_optconn_oldest_ns(struct quell_optconn *conn, u32 una)
{
	const struct quell_optconn_mark *mark;
	u32 i;

	for (i = 0; i < QUELL_OPTCONN_MARKS && conn->marks_nr; i++) {
		mark = quell_optconn_mark_at(conn, 0);
		if (quell_optconn_is_before(una, mark->end_seq))
			return mark->depart_ns;
		conn->first = (conn->first + 1) % QUELL_OPTCONN_MARKS;
		conn->marks_nr--;
	}
	return 0;
}

/*
 * Latest departure that an ACK can be for: before the data of the mark after its own.  An ACK
 * without new data, or with some out of order, can be for any packet.
 */
static inline u64 quell_optconn_newest_ns(struct quell_optconn *conn,
					  const struct quell_optconn_tcp *tcp,
					  u32 ack_seq)
{
	u32 i;

	if (tcp->sacked_pkts || ack_seq == tcp->snd_una)
		return conn->newest_ns;
	for (i = 0; i + 1 < QUELL_OPTCONN_MARKS && i + 1 < conn->marks_nr; i++) {
		if (!quell_optconn_is_before(quell_optconn_mark_at(conn, i)->end_seq, ack_seq))
			return quell_max_u64(quell_optconn_mark_at(conn, i + 1)->depart_ns,
					     conn->resent_ns);
	}
	return conn->newest_ns;
}

/* Merges each two marks, of 16, into one. */
static inline void quell_optconn_merge_marks(struct quell_optconn *conn)
{
	u32 i;

	for (i = 0; i < QUELL_OPTCONN_MARKS / 2; i++) {
		quell_optconn_mark_at(conn, i)->depart_ns =
			quell_optconn_mark_at(conn, 2 * i)->depart_ns;
		quell_optconn_mark_at(conn, i)->end_seq =
			quell_optconn_mark_at(conn, 2 * i + 1)->end_seq;
	}
	conn->marks_nr = QUELL_OPTCONN_MARKS / 2;
}

/* Whether data gets a mark of its own, with others outstanding, or belongs to the newest. */
static inline bool quell_optconn_needs_mark(struct quell_optconn *conn, u64 depart_ns)
{
	u64 newest_ns = quell_optconn_mark_at(conn, conn->marks_nr - 1)->depart_ns;
	u64 waits_ns = depart_ns - quell_optconn_mark_at(conn, 0)->depart_ns;

	return depart_ns - newest_ns >= quell_max_u64(conn->min_rtt_ns / 8, waits_ns / 16);
}

/*
 * A segment was sent with a departure stamp; @tcp is the state before it. Retransmissions add no
 * mark: the original may still be echoed.
 */
static inline void quell_optconn_sent(struct quell_optconn *conn,
				      const struct quell_optconn_tcp *tcp,
				      u32 end_seq, u64 depart_ns)
{
	struct quell_optconn_mark *newest;

	conn->newest_ns = quell_max_u64(conn->newest_ns, depart_ns);
	if (!quell_optconn_is_before(tcp->snd_nxt, end_seq)) {
		conn->resent_ns = depart_ns;
		return;
	}
	quell_optconn_oldest_ns(conn, tcp->snd_una);
	if (!conn->marks_nr || quell_optconn_needs_mark(conn, depart_ns)) {
		if (conn->marks_nr == QUELL_OPTCONN_MARKS)
			quell_optconn_merge_marks(conn);
		quell_optconn_mark_at(conn, conn->marks_nr)->depart_ns = depart_ns;
		conn->marks_nr++;
	}
	newest = quell_optconn_mark_at(conn, conn->marks_nr - 1);
	newest->end_seq = end_seq;
}

/* Whether TCP has the data that waits to be echoed: dropped for want of memory it has not. */
static inline bool quell_optconn_has_echo(const struct quell_optconn *conn,
					  const struct quell_optconn_tcp *tcp)
{
	const struct quell_optconn_echo *echo = &conn->echo;

	if (!echo->waits)
		return false;
	if (!quell_optconn_is_before(tcp->rcv_nxt, echo->end_seq))
		return true;
	return !quell_optconn_is_before(echo->seq, tcp->block_seq) &&
	       !quell_optconn_is_before(tcp->block_end, echo->end_seq);
}

/*
 * Whether so many segments were received without the option that it seems to be stripped on the
 * path.
 */
static inline bool quell_optconn_is_stripped(const struct quell_optconn *conn, u32 segs_in)
{
	return segs_in - conn->option_segs >=
	       (conn->option_seen ? QUELL_OPTCONN_MISSED_LATER_MAX : QUELL_OPTCONN_MISSED_MAX);
}

static inline bool quell_optconn_fits(const struct quell_optconn_room *room, u8 form, u8 flags)
{
	struct quell_opt opt = { .form = form, .flags = flags };
	u32 bytes = quell_opt_bytes(&opt);

	return bytes <= room->option_bytes &&
	       room->payload_bytes + bytes <= room->packet_bytes;
}

/* Bytes of the option for which full segments leave room. */
static inline u32 quell_optconn_data_bytes(const struct quell_optconn *conn)
{
	struct quell_opt opt = {
		.form = QUELL_OPT_FULL,
		.flags = QUELL_OPT_F_DATA | (conn->send_records ? QUELL_OPT_F_TELEMETRY : 0),
	};

	return quell_opt_bytes(&opt);
}

/* A section more, if there is room. */
static inline u8 quell_optconn_add(const struct quell_optconn_room *room, u8 flags, bool wanted,
				   u8 flag)
{
	return wanted && quell_optconn_fits(room, QUELL_OPT_FULL, flags | flag) ? flags | flag :
		flags;
}

/*
 * Which option a segment gets: @form and @flags of @opt are set if there is one, but neither START
 * nor MORE. Of a burst that is segmented later @room has the largest packet. Returns bytes of the
 * option, padding included; 0: no option. Data first has room for a record, if records are wanted,
 * then the echo, then the echo's record. A full segment has no room for the echo, and leaves it to
 * the next ACK. An ACK that SACK blocks leave little room leaves out the record, then gets the
 * short form. One without sections has an empty option until the peer's first option has come.
 */
static inline u32 quell_optconn_choose(const struct quell_optconn *conn,
				       const struct quell_optconn_tcp *tcp,
				       const struct quell_optconn_room *room, struct quell_opt *opt)
{
	u8 data = room->payload_bytes ? QUELL_OPT_F_DATA : 0;
	bool owes = quell_optconn_has_echo(conn, tcp);
	u8 flags;

	flags = quell_optconn_add(room, data, data && conn->send_records, QUELL_OPT_F_TELEMETRY);
	flags = quell_optconn_add(room, flags, owes, QUELL_OPT_F_ACK);
	flags = quell_optconn_add(room, flags, flags & QUELL_OPT_F_ACK &&
				  conn->echo.record[QUELL_TELEMETRY_HOP_AT], QUELL_OPT_F_RECORD);
	opt->form = QUELL_OPT_FULL;
	opt->flags = flags;
	if (flags != data)
		return quell_opt_bytes(opt);
	if (data || (!owes && !conn->option_seen))
		return quell_optconn_fits(room, QUELL_OPT_FULL, data) ? quell_opt_bytes(opt) : 0;
	if (!owes || !quell_optconn_fits(room, QUELL_OPT_SHORT, 0))
		return 0;
	opt->form = QUELL_OPT_SHORT;
	return quell_opt_bytes(opt);
}

/*
 * Put the due echo into the option of quell_optconn_choose(); data is echoed once. The short form
 * has all of the hold time added to the stamp, the ACK section a wait. Returns whether it was a
 * wait.
 */
static inline bool quell_optconn_fill(struct quell_optconn *conn, struct quell_opt *opt, u64 now_ns)
{
	struct quell_optconn_echo *echo = &conn->echo;
	u64 hold_ns = quell_sub_sat_u64(now_ns, echo->rx_ns);
	bool is_short = opt->form == QUELL_OPT_SHORT, waited = hold_ns > QUELL_ECHO_WAIT_NS;

	if (!is_short && !(opt->flags & QUELL_OPT_F_ACK)) {
		if (opt->flags & QUELL_OPT_F_DATA && conn->follows)
			opt->flags |= QUELL_OPT_F_FOLLOWS;
		return false;
	}
	opt->echo_ns = echo->depart_ns + (is_short || waited ? (u32)hold_ns : 0);
	opt->hold_ns = is_short || waited ? 0 : hold_ns;
	opt->echo_entropy = echo->entropy;
	if (!is_short && echo->marked)
		opt->flags |= QUELL_OPT_F_CE;
	if (opt->flags & QUELL_OPT_F_RECORD)
		__builtin_memcpy(opt->record, echo->record, sizeof(opt->record));
	echo->waits = false;
	return waited;
}

/*
 * The round-trip time that an ACK echoes, which TCP processes next.  The part that the peer added
 * to the stamp moves to the hold time.  If the echo is refused, the time is that of the oldest data
 * outstanding: no shorter than the ACK's.
 */
static inline u32 quell_optconn_time(struct quell_optconn *conn, struct quell_opt *opt,
				     const struct quell_optconn_tcp *tcp,
				     const struct quell_optconn_segment *segment)
{
	struct quell_echo_span span = {
		.oldest_ns = quell_optconn_oldest_ns(conn, tcp->snd_una),
		.newest_ns = quell_optconn_newest_ns(conn, tcp, segment->ack_seq),
	};
	u32 echo_ns = quell_echo_reveal(opt->echo_ns, conn->secret);
	u64 added_ns = quell_echo_added_ns(&span, segment->rx_ns, echo_ns);

	if (added_ns > QUELL_ECHO_WAIT_NS && tcp->flight_pkts == 1)
		return QUELL_OPTCONN_DELAYED;
	if (added_ns) {
		echo_ns = span.newest_ns;
		opt->hold_ns = quell_min_u64(opt->hold_ns + added_ns, QUELL_OPT_HOLD_MAX_NS);
	}
	conn->rtt_ns = quell_echo_rtt_ns(&span, segment->rx_ns, echo_ns);
	if (conn->rtt_ns)
		return QUELL_OPTCONN_SAMPLED;
	/* A duplicate ACK may be the first segment with room for an old echo. */
	if (segment->ack_seq == tcp->snd_una)
		return 0;
	if (span.oldest_ns > conn->resent_ns && span.oldest_ns < segment->rx_ns)
		conn->rtt_ns = segment->rx_ns - span.oldest_ns;
	return QUELL_OPTCONN_ECHO_REFUSED;
}

/* A sample of the ACK that TCP processes next. */
static inline u32 quell_optconn_sample(struct quell_optconn *conn, struct quell_opt *opt,
				       const struct quell_optconn_tcp *tcp,
				       const struct quell_optconn_segment *segment)
{
	u64 least_ns = quell_max_u64(conn->min_rtt_ns, segment->least_ns);
	u32 found;

	conn->rtt_ns = 0;
	conn->sample_ns = segment->rx_ns;
	found = quell_optconn_time(conn, opt, tcp, segment);
	conn->waited = found & QUELL_OPTCONN_DELAYED;
	conn->hold_ns = quell_echo_hold_ns(opt->hold_ns, conn->rtt_ns, least_ns);
	if (conn->rtt_ns && conn->hold_ns != opt->hold_ns)
		found |= QUELL_OPTCONN_HOLD_REFUSED;
	return found;
}

/* n and the line rate, of which a receiver states the second in segments without data. */
static inline void quell_optconn_receive_n(struct quell_optconn *conn, const struct quell_opt *opt)
{
	if (opt->form != QUELL_OPT_FULL || !(opt->flags & QUELL_OPT_F_ACK))
		return;
	conn->senders_q8 = quell_share_decode(opt->senders);
	if (!(opt->flags & QUELL_OPT_F_DATA))
		conn->peer_link_bytes_ps = quell_line_decode(opt->entropy);
}

/* The record of the most loaded hop of the path, if the echo it is of is believed. */
static inline void quell_optconn_receive_record(struct quell_optconn *conn,
						const struct quell_opt *opt,
						u32 found)
{
	if (opt->flags & QUELL_OPT_F_RECORD && found & QUELL_OPTCONN_SAMPLED)
		__builtin_memcpy(conn->record, opt->record, sizeof(conn->record));
	else
		conn->record[QUELL_TELEMETRY_HOP_AT] = 0;
}

/* Store the record of data to be echoed; without one, an older record not yet echoed stays. */
static inline void quell_optconn_keep_record(struct quell_optconn_echo *echo,
					     const struct quell_opt *opt)
{
	if (opt->flags & QUELL_OPT_F_TELEMETRY && opt->telemetry[QUELL_TELEMETRY_HOP_AT])
		__builtin_memcpy(echo->record, opt->telemetry, sizeof(echo->record));
	else if (!echo->waits)
		echo->record[QUELL_TELEMETRY_HOP_AT] = 0;
}

/*
 * A segment was received with the option, to which the part of the hold time moves; @tcp is the
 * state before it. Returns QUELL_OPTCONN_*.
 */
static inline u32 quell_optconn_receive(struct quell_optconn *conn, struct quell_opt *opt,
					const struct quell_optconn_tcp *tcp,
					const struct quell_optconn_segment *segment)
{
	u32 found = 0;

	if (!quell_optconn_is_inside(tcp, segment->ack_seq))
		return QUELL_OPTCONN_OUTSIDE;
	conn->option_seen = true;
	conn->option_segs = tcp->segs_in;
	if (opt->form == QUELL_OPT_SHORT || opt->flags & QUELL_OPT_F_ACK) {
		found = quell_optconn_sample(conn, opt, tcp, segment);
		quell_optconn_receive_record(conn, opt, found);
	}
	quell_optconn_receive_n(conn, opt);
	/* A segment trimmed by a switch to its header is no data. */
	if (!(opt->flags & QUELL_OPT_F_DATA) || !segment->payload_bytes)
		return found;
	quell_optconn_keep_record(&conn->echo, opt);
	conn->echo.rx_ns = segment->rx_ns;
	conn->echo.seq = segment->seq;
	conn->echo.end_seq = segment->seq + segment->payload_bytes;
	conn->echo.depart_ns = opt->depart_ns;
	conn->echo.entropy = opt->entropy;
	conn->echo.marked = segment->marked;
	conn->echo.waits = true;
	return found;
}

/*
 * Whether echoes provide the round-trip time. If so, the stack's own values are not comparable.
 * After a while without echoes the peer has left, or this end's option was turned off.
 */
static inline bool quell_optconn_has_rtt(const struct quell_optconn *conn)
{
	return conn->min_rtt_ns && conn->no_echo_acks < QUELL_OPTCONN_NO_ECHO_MAX;
}

/*
 * The round-trip time of an ACK that delivered data; 0: it had no echo, or says that it waited,
 * which is in @conn->waited then. @clock_ns: TCP's clock when it was received; @least_ns: TCP's own
 * sample of this ACK, rounded down, or 0. The marks have no time of segments acknowledged out of
 * order.
 */
static inline u64 quell_optconn_take(struct quell_optconn *conn, u64 clock_ns, u64 least_ns)
{
	u64 rtt_ns = conn->sample_ns == clock_ns ? conn->rtt_ns : 0;

	conn->waited = conn->waited && conn->sample_ns == clock_ns;
	conn->sample_ns = 0;
	if (!rtt_ns) {
		if (!conn->waited && conn->no_echo_acks < QUELL_OPTCONN_NO_ECHO_MAX)
			conn->no_echo_acks++;
		return 0;
	}
	conn->no_echo_acks = 0;
	rtt_ns = quell_max_u64(rtt_ns, least_ns);
	if (!conn->min_rtt_ns || rtt_ns < conn->min_rtt_ns)
		conn->min_rtt_ns = rtt_ns;
	conn->echoes++;
	return rtt_ns;
}

#endif /* _QUELL_EBPF_OPTCONN_H */
