/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labspoof: what its source files share.
 */
#ifndef _QUELL_LABSPOOF_H
#define _QUELL_LABSPOOF_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct quell_flow;
struct sock;

/* Longest header options. */
#define LABSPOOF_OPTIONS_MAX	40

/* What a packet must be counted as by quell.ko, and nothing else. */
enum labspoof_verdict {
	LABSPOOF_PLAIN,			/* believed, has no option: not counted */
	LABSPOOF_RECEIVED,
	LABSPOOF_MALFORMED,
	LABSPOOF_BAD_CHECKSUM,
	LABSPOOF_OUT_OF_WINDOW,
	LABSPOOF_SEGMENT_MALFORMED,
	LABSPOOF_SEGMENT_BAD_CHECKSUM,
	LABSPOOF_SEGMENT_OUT_OF_WINDOW,
	LABSPOOF_NACK_MALFORMED,
	LABSPOOF_NACK_OUTSIDE,
	LABSPOOF_NACK_STALE,
	LABSPOOF_NACK_JUDGED,		/* of data outstanding: of use or stale */
	LABSPOOF_VERDICTS,
};

/* How the checksum of a packet is left. */
enum labspoof_sum {
	LABSPOOF_SUM_RIGHT,
	LABSPOOF_SUM_WRONG,		/* to be found by software */
	LABSPOOF_SUM_WRONG_COMPLETE,	/* the card summed the packet up */
	LABSPOOF_SUM_WRONG_TRUSTED,	/* the card says it is right */
	LABSPOOF_SUMS,
};

/* What must become of its echo. */
enum labspoof_echo {
	LABSPOOF_ECHO_ANY,		/* nothing is said of it */
	LABSPOOF_ECHO_REFUSED,
	LABSPOOF_ECHO_BELIEVED,
	LABSPOOF_ECHOES,
};

/**
 * struct labspoof_departures - when the flow of a packet had packets leave
 * @oldest_ns:	departure of the oldest data outstanding; 0 none
 * @newest_ns:	newest departure a packet was stamped with
 * @stamp_secret: what its stamps have beside that
 */
struct labspoof_departures {
	u64	oldest_ns;
	u64	newest_ns;
	u32	stamp_secret;
};

/**
 * struct labspoof_packet - a packet to be made up
 * @skb:	genuine packet it is like, from the network header on
 * @sk:		socket it is for
 * @options:	its TCP options
 * @options_bytes: how many, a multiple of 4
 * @seq:	sequence number
 * @ack_seq:	acknowledgment number
 * @doff:	header length it claims, in words; 0: the true one
 * @alone:	it has no payload and no flag but ACK
 * @bare:	and not even that
 * @flagless:	it has no flag at all, with its payload; TCP drops it and answers nothing
 * @sum:	what its checksum is like
 * @verdict:	what must be counted
 * @rejected:	nothing of the flow may change
 * @left:	departures of its flow
 * @echo:	what must become of its echo
 */
struct labspoof_packet {
	const struct sk_buff	*skb;
	const struct sock	*sk;
	u8			options[LABSPOOF_OPTIONS_MAX];
	u32			options_bytes;
	u32			seq;
	u32			ack_seq;
	u8			doff;
	bool			alone;
	bool			bare;
	bool			flagless;
	enum labspoof_sum	sum;
	enum labspoof_verdict	verdict;
	bool			rejected;
	struct labspoof_departures left;
	enum labspoof_echo	echo;
};

/* labspoof_cases.c */
#define LABSPOOF_CASE_ECHO_SAMPLED	1
extern const char * const labspoof_case_names[];
extern const u32 labspoof_cases_nr;
u32 labspoof_random(u32 below);
void labspoof_seed(u64 seed);
void labspoof_make(u32 number, struct labspoof_packet *packet);

/* labspoof_echo.c */
u32 labspoof_echo_room(const struct sock *sk, u32 ack_seq);
void labspoof_make_echo(struct labspoof_packet *packet);

/* labspoof_build.c */
struct sk_buff *labspoof_build(const struct labspoof_packet *packet);
struct sk_buff *labspoof_dress(struct sk_buff *skb);

#endif /* _QUELL_LABSPOOF_H */
