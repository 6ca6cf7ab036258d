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

/* How many alternates quell_iofd_choose() compares. */
#define QUELL_IOFD_CHOICES	2

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

/* When to deflect. */
struct quell_iofd_params {
	/* Start deflecting a flow only if more than this is queued. */
	u32	threshold_bytes;
	/* Flows deflected at a time, up to QUELL_IOFD_ENTRIES_MAX; 0: deflect no flow. */
	u32	entries;
	u64	idle_ns;	/* must exceed the difference in delay of any two paths, > 0 */
	/* The end packet frees the entry: order is kept within a message only. */
	bool	end_frees;
	/* The shorter queue of two alternates drawn, if it is shorter than that of the port. */
	bool	shorter;
};

/* Identity, compared as a whole. */
struct quell_iofd_flow {
	/* Addresses, ports, queue pair, protocol, TTL; unused ones 0. */
	u32	word[QUELL_IOFD_FLOW_WORDS];
};

/* One packet of a flow. */
struct quell_iofd_packet {
	struct quell_iofd_flow	flow;
	u64			now_ns;	/* must not decrease */
	u32			bytes;	/* length, for the statistics */
	u32			queued_bytes;	/* in the port's queue before it */
	u32			working;	/* bit per alternate that can be sent to now */
	/* Bit per alternate that must not be chosen for this packet. */
	u32			barred;
	/*
	 * Bytes queued in all bands of the port, and at each alternate, for @shorter and a packet
	 * with which a deflection may start; else unused.  U32_MAX: not known, not chosen.
	 */
	u32			own_bytes;
	const u32		*alternate_bytes;
	/* Departure of its burst at the sender; with QUELL_IOFD_STAMPED. */
	u32			stamp;
	u8			tokens;	/* deflections left */
	u8			flags;	/* QUELL_IOFD_* */
};

/* A deflected flow. */
struct quell_iofd_entry {
	struct quell_iofd_flow	flow;
	u64			begun_ns;	/* start of the deflection */
	u64			seen_ns;	/* last packet sent by the alternate */
	u64			pkts;	/* sent by the alternate */
	u32			stamp;	/* departure stamp of the last packet; with @stamped */
	u8			alternate;	/* index, or QUELL_IOFD_REMOVED */
	u8			state;	/* enum quell_iofd_state */
	bool			stamped;
};

/* Last packet into the port's queue, of flows with one hash. */
struct quell_iofd_bucket {
	u64	seen_ns;
	u32	tag;	/* upper hash bits: with the bucket's index 42 bits of the hash */
	u32	stamp;	/* its departure stamp; with @stamped */
	bool	stamped;
};

/* State of a port's deflection. */
struct quell_iofd_vars {
	u64				since_ns;	/* packets before it were not seen */
	/* Last packet with a token, or a later time from which to wait for one. */
	u64				token_ns;
	struct quell_red_vars		lottery;	/* for the choice of alternates */
	u32				used;	/* entries that are not free */
	/* No packet has had a token for long, and no flow is deflected. */
	bool				asleep;
	struct quell_iofd_entry		entry[QUELL_IOFD_ENTRIES_MAX];
	/* Of flows that were not deflected. */
	struct quell_iofd_bucket	bucket[QUELL_IOFD_BUCKETS];
};

/* Counters, free-running. */
struct quell_iofd_stats {
	u64	flows;	/* deflections started */
	u64	pkts;	/* deflected */
	u64	bytes;
	u64	lost_pkts;	/* dropped because their flow's alternate did not work */
	u64	no_token_pkts;	/* start packets above the threshold, without a token */
	u64	recent_pkts;	/* not deflected because they might overtake others */
	u64	no_alternate_pkts;	/* not deflected because no alternate worked */
	u64	full_pkts;	/* not deflected because the table was full */
	u64	used_max;	/* flows in the table */
};

#endif /* _QUELL_CORE_PORT_IOFD_VARS_H */
