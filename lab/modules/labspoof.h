/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labspoof: declarations shared by its source files.
 */
#ifndef _QUELL_LABSPOOF_H
#define _QUELL_LABSPOOF_H

#include <linux/skbuff.h>
#include <linux/types.h>

struct quell_flow;
struct sock;

/* Longest header options. */
#define LABSPOOF_OPTIONS_MAX	40

/* The one counter of quell.ko that must count a packet. */
enum labspoof_verdict {
	LABSPOOF_NO_OPTION,		/* accepted, has no option: not counted */
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
	LABSPOOF_NACK_CHECKED,		/* of outstanding data: useful, outside or stale */
	LABSPOOF_VERDICTS,
};

/* The state of a packet's checksum. */
enum labspoof_sum {
	LABSPOOF_SUM_RIGHT,
	LABSPOOF_SUM_WRONG,		/* to be found by software */
	LABSPOOF_SUM_WRONG_COMPLETE,	/* the NIC gave the sum of the packet */
	LABSPOOF_SUM_WRONG_TRUSTED,	/* the NIC claims that it is right */
	LABSPOOF_SUMS,
};

/* The result required for a packet's echo. */
enum labspoof_echo {
	LABSPOOF_ECHO_ANY,		/* either result is allowed */
	LABSPOOF_ECHO_REFUSED,
	LABSPOOF_ECHO_BELIEVED,
	LABSPOOF_ECHO_DELAYED,		/* neither: a lone segment's ACK waited */
	LABSPOOF_ECHOES,
};

/* Departure times of a flow's packets. */
struct labspoof_departures {
	/* Departure of the oldest data outstanding; 0 if there is no such data. */
	u64	oldest_ns;
	u64	newest_ns;	/* newest departure a packet was stamped with */
	u32	flight_pkts;	/* segments in flight */
	bool	has_resent;	/* some packet left again since the oldest */
	u32	stamp_secret;	/* secret added to departure times to form stamps */
};

/* A packet to be made up. */
struct labspoof_packet {
	/* Genuine packet to start from, from the network header on. */
	const struct sk_buff	*skb;
	const struct sock	*sk;	/* receiving socket */
	u8			options[LABSPOOF_OPTIONS_MAX];	/* TCP options */
	u32			options_bytes;	/* length of @options, a multiple of 4 */
	u32			seq;	/* sequence number */
	u32			ack_seq;	/* acknowledgment number */
	u8			doff;	/* header length to claim, in words; 0: the true one */
	bool			alone;	/* no payload, and no PSH, URG, ECE or CWR flag */
	bool			bare;	/* with @alone: no ACK flag either */
	/* No flags, payload kept; TCP drops the packet and does not answer. */
	bool			flagless;
	enum labspoof_sum	sum;	/* state of the checksum */
	enum labspoof_verdict	verdict;	/* counter that must count the packet */
	bool			rejected;	/* the packet must not change the flow's state */
	struct labspoof_departures left;	/* departures of the flow */
	enum labspoof_echo	echo;	/* result required for the echo */
};

/* labspoof_random.c */
u32 labspoof_random(u32 below);
void labspoof_seed(u64 seed);

/* labspoof_cases.c */
#define LABSPOOF_CASE_ECHO_SAMPLED	1
extern const char * const labspoof_case_names[];
extern const u32 labspoof_cases_nr;
void labspoof_make(u32 number, struct labspoof_packet *packet);

/* labspoof_echo.c */
u32 labspoof_echo_room(const struct sock *sk, u32 ack_seq);
void labspoof_make_echo(struct labspoof_packet *packet);

/* labspoof_build.c */
struct sk_buff *labspoof_build(const struct labspoof_packet *packet);
struct sk_buff *labspoof_dress(struct sk_buff *skb);

#endif /* _QUELL_LABSPOOF_H */
