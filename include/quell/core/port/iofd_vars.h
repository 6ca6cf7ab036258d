/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In-order flow deflection (iofd.h): its parameters, its input of a packet, its table of flows, and
 * its counters.
 *
 * Reference: Dart, section IV.
 */
#ifndef _QUELL_CORE_PORT_IOFD_VARS_H
#define _QUELL_CORE_PORT_IOFD_VARS_H

#include <quell/core/core.h>
#include <quell/core/port/red.h>

#define QUELL_IOFD_ENTRIES_MAX		64U
#define QUELL_IOFD_ALTERNATES_MAX	16U
#define QUELL_IOFD_BUCKETS		1024U	/* a power of two */
#define QUELL_IOFD_FLOW_WORDS		11

/* After so long without a token a port need not check packets without one. */
#define QUELL_IOFD_SLEEP_NS		10000000000ULL

/* Value of an entry's alternate after its removal. */
#define QUELL_IOFD_REMOVED		0xff

/* quell_iofd_packet.flags */
#define QUELL_IOFD_START	0x1 /* first packet of a message */
#define QUELL_IOFD_END		0x2 /* last one */
#define QUELL_IOFD_STAMPED	0x4 /* has a departure stamp */
#define QUELL_IOFD_CLEAN	0x8 /* a start: no data was outstanding at @stamp */

/* A RoCEv2 opcode: transport and operation (InfiniBand, volume 1, section 9.2.1). */
#define QUELL_IOFD_BTH_UD		3	/* the last of RC, UC, RD, UD */
#define QUELL_IOFD_BTH_XRC		5
#define QUELL_IOFD_BTH_TRANSPORT_SHIFT	5
#define QUELL_IOFD_BTH_OPERATION_MASK	0x1f
/* Bit per operation.  FIRST and ONLY of sends, writes and read responses. */
#define QUELL_IOFD_BTH_STARTS		0x00812c71U
/* LAST and ONLY of the same. */
#define QUELL_IOFD_BTH_ENDS		0x00c18f3cU

enum quell_iofd_state {
	QUELL_IOFD_FREE,
	QUELL_IOFD_ACTIVE,	/* end packet not seen yet */
	QUELL_IOFD_ENDED,	/* end packet seen, but order still binds the flow */
};

enum quell_iofd_verdict {
	QUELL_IOFD_DIRECT,	/* into the port's own queue */
	QUELL_IOFD_DEFLECT,	/* by the alternate chosen */
	QUELL_IOFD_LOST,	/* drop: the flow's alternate does not work */
};

/**
 * struct quell_iofd_params - when to deflect
 * @threshold_bytes:	start deflecting a flow only if more than this is queued
 * @entries:		maximum number of flows deflected at a time, up to
 *			QUELL_IOFD_ENTRIES_MAX; 0: deflect no flow
 * @idle_ns:		must exceed the difference in delay of any two paths, > 0
 */
struct quell_iofd_params {
	u32	threshold_bytes;
	u32	entries;
	u64	idle_ns;
};

/**
 * struct quell_iofd_flow - identity of a flow, compared as a whole
 * @word: addresses, ports, queue pair, protocol, time to live; unused ones 0
 */
struct quell_iofd_flow {
	u32	word[QUELL_IOFD_FLOW_WORDS];
};

/**
 * struct quell_iofd_packet - one packet of a flow
 * @flow:		its flow
 * @now_ns:		time, ns, must not decrease
 * @bytes:		length, for the statistics
 * @queued_bytes:	bytes in the port's queue before it
 * @working:		bit per alternate that can be sent to now
 * @barred:		bit per alternate that must not be chosen for this packet
 * @tokens:		deflections left
 * @flags:		QUELL_IOFD_*
 * @stamp:		departure time of its burst at the sender; with QUELL_IOFD_STAMPED
 */
struct quell_iofd_packet {
	struct quell_iofd_flow	flow;
	u64			now_ns;
	u32			bytes;
	u32			queued_bytes;
	u32			working;
	u32			barred;
	u32			stamp;
	u8			tokens;
	u8			flags;
};

/**
 * struct quell_iofd_entry - a deflected flow
 * @flow:	its identity
 * @begun_ns:	start of the deflection, ns
 * @seen_ns:	time of the last packet sent by the alternate, ns
 * @pkts:	number of packets sent by the alternate
 * @stamp:	departure stamp of the last packet; with @stamped
 * @alternate:	index of the alternate, or QUELL_IOFD_REMOVED
 * @state:	enum quell_iofd_state
 * @stamped:	the last packet had a departure stamp
 */
struct quell_iofd_entry {
	struct quell_iofd_flow	flow;
	u64			begun_ns;
	u64			seen_ns;
	u64			pkts;
	u32			stamp;
	u8			alternate;
	u8			state;
	bool			stamped;
};

/**
 * struct quell_iofd_bucket - last packet into the port's queue, of flows with one hash
 * @seen_ns:	its time, ns
 * @tag:	upper hash bits of its flow: with the bucket's index 42 bits of the hash
 * @stamp:	its departure stamp; with @stamped
 * @stamped:	it had a departure stamp
 */
struct quell_iofd_bucket {
	u64	seen_ns;
	u32	tag;
	u32	stamp;
	bool	stamped;
};

/**
 * struct quell_iofd_vars - state of a port's deflection
 * @since_ns:	start of observation: packets before it were not seen, ns
 * @lottery:	random state for the choice of alternates
 * @used:	entries that are not free
 * @token_ns:	last packet with a token, or a later time from which to wait for one, ns
 * @asleep:	no packet has had a token for long, and no flow is deflected
 * @entry:	deflected flows
 * @bucket:	last packets of flows that were not deflected
 */
struct quell_iofd_vars {
	u64				since_ns;
	u64				token_ns;
	struct quell_red_vars		lottery;
	u32				used;
	bool				asleep;
	struct quell_iofd_entry		entry[QUELL_IOFD_ENTRIES_MAX];
	struct quell_iofd_bucket	bucket[QUELL_IOFD_BUCKETS];
};

/**
 * struct quell_iofd_stats - counters, free-running
 * @flows:		number of times a deflection started
 * @pkts:		packets deflected
 * @bytes:		bytes of deflected packets
 * @lost_pkts:		packets dropped because their flow's alternate did not work
 * @no_token_pkts:	start packets above the threshold, without a token
 * @recent_pkts:	start packets not deflected because they might overtake others
 * @no_alternate_pkts:	start packets not deflected because no alternate worked
 * @full_pkts:		start packets not deflected because the table was full
 * @used_max:		maximum number of flows in the table so far
 */
struct quell_iofd_stats {
	u64	flows;
	u64	pkts;
	u64	bytes;
	u64	lost_pkts;
	u64	no_token_pkts;
	u64	recent_pkts;
	u64	no_alternate_pkts;
	u64	full_pkts;
	u64	used_max;
};

#endif /* _QUELL_CORE_PORT_IOFD_VARS_H */
