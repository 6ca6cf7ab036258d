/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In-order flow deflection (IOFD): which packets of a congested port leave by
 * another port of the same switch, so that no flow is ever reordered.
 *
 *	packet of a flow in the table	by the table's alternate, whatever the queue
 *	start packet, queue above the	into the table, by a random alternate, if the
 *	threshold			packet has a token and the table an entry
 *	any other			into the port's own queue
 *
 * State of an entry:
 *
 *	           start                 end
 *	(free) ------------> (active) ----------> (ended)
 *	   ^                  |   ^                |  |
 *	   |   quiet, and     |   +----------------+  |
 *	   |   needed, or a   |        any other      | quiet, or
 *	   +---proven start---+                       | a proven start
 *	   +------------------------------------------+
 *
 * Quiet: idle_ns have passed since the last packet went by the alternate.
 *
 * A flow changes its way only where nothing of it can be overtaken:
 *
 *  - a proven start: the sender says that nothing was outstanding.  Segmentation
 *    copies that word to all packets of a burst; they have one departure stamp, so
 *    it counts only where the packet before, which must be known, had another.
 *  - any other start, after idle_ns in which the flow was not seen here.  When it
 *    was is kept in buckets that flows share: one may seem to have been seen later
 *    than it was, never earlier.
 *  - back to the port's queue: after idle_ns without a packet by the alternate.
 *
 * idle_ns must be longer than any two ways through the network differ, queues
 * included.  An end packet does not free its entry: what follows it could overtake
 * what went by the alternate.  It only says that the entry need not be kept beyond
 * idle_ns.  An entry without its end packet is kept until it is quiet and another
 * flow wants it.
 *
 * A packet that comes round, deflected here before, has another time to live: that
 * is part of a flow's identity, so each round is a flow of its own, whose start
 * packet pays a token.  There are thus no more rounds than tokens.  A packet that
 * follows its entry without tokens left goes by it all the same: order comes first,
 * and the start packet has paid for the round.
 *
 * While an alternate does not work, what is to go by it is dropped, and idle_ns
 * after the last packet that did its flows are free again.
 *
 * Differences from the paper: there the end packet frees the entry, which keeps
 * order within a message only, and any start packet may be deflected.  Left to the
 * caller: what a start and an end are, rewriting tokens, and virtual channels
 * (a port that drops instead of pausing cannot deadlock).
 *
 * Reference: Dart, section IV.
 */
#ifndef _QUELL_CORE_PORT_IOFD_H
#define _QUELL_CORE_PORT_IOFD_H

#include <quell/core/core.h>
#include <quell/core/port/red.h>

#define QUELL_IOFD_ENTRIES_MAX		64U
#define QUELL_IOFD_ALTERNATES_MAX	16U
#define QUELL_IOFD_BUCKETS		1024U	/* a power of two */
#define QUELL_IOFD_FLOW_WORDS		11

/* An entry's alternate that was taken away. */
#define QUELL_IOFD_GONE			0xff

/* quell_iofd_packet.flags */
#define QUELL_IOFD_START	0x1 /* first packet of a message */
#define QUELL_IOFD_END		0x2 /* last one */
#define QUELL_IOFD_STAMPED	0x4 /* has a departure stamp */
#define QUELL_IOFD_CLEAN	0x8 /* a start: nothing was outstanding at @stamp */

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
	QUELL_IOFD_ACTIVE,	/* its end packet is still to come */
	QUELL_IOFD_ENDED,	/* it came, but order still binds the flow */
};

enum quell_iofd_verdict {
	QUELL_IOFD_DIRECT,	/* into the port's own queue */
	QUELL_IOFD_DEFLECT,	/* by the alternate chosen */
	QUELL_IOFD_LOST,	/* drop: the flow's alternate does not work */
};

/**
 * struct quell_iofd_params - when to deflect
 * @threshold_bytes:	only what finds more than this queued begins
 * @entries:		flows deflected at a time, at most
 *			QUELL_IOFD_ENTRIES_MAX; 0: none
 * @idle_ns:		longer than any two ways differ, > 0
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
 * @now_ns:		time, ns, never going back
 * @bytes:		length, for the statistics
 * @queued_bytes:	bytes in the port's queue before it
 * @working:		bit per alternate that can be sent to now
 * @barred:		bit per alternate the packet may not begin to go by
 * @tokens:		deflections left
 * @flags:		QUELL_IOFD_*
 * @stamp:		when its burst left the sender; with QUELL_IOFD_STAMPED
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
 * @flow:	which one
 * @begun_ns:	when it began to be deflected, ns
 * @seen_ns:	when a packet last went by the alternate, ns
 * @pkts:	that went by it
 * @stamp:	of that packet; with @stamped
 * @alternate:	which one, or QUELL_IOFD_GONE
 * @state:	enum quell_iofd_state
 * @stamped:	whether that packet had a stamp
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
 * struct quell_iofd_bucket - the last packet into the port's queue of some flows
 * @seen_ns:	when, ns
 * @tag:	of its flow: with the bucket's number 42 bits of a hash
 * @stamp:	its stamp; with @stamped
 * @stamped:	whether it had one
 */
struct quell_iofd_bucket {
	u64	seen_ns;
	u32	tag;
	u32	stamp;
	bool	stamped;
};

/**
 * struct quell_iofd_vars - the table and what it needs
 * @since_ns:	nothing is known of before, ns
 * @lottery:	for the alternates
 * @used:	entries that are not free
 * @entry:	deflected flows
 * @bucket:	flows that were not
 */
struct quell_iofd_vars {
	u64				since_ns;
	struct quell_red_vars		lottery;
	u32				used;
	struct quell_iofd_entry		entry[QUELL_IOFD_ENTRIES_MAX];
	struct quell_iofd_bucket	bucket[QUELL_IOFD_BUCKETS];
};

/**
 * struct quell_iofd_stats - counters, free-running
 * @flows:		times a flow began to be deflected
 * @pkts:		packets deflected
 * @bytes:		the same in bytes
 * @lost_pkts:		packets dropped, as their flow's alternate did not work
 * @no_token_pkts:	start packets above the threshold, without a token
 * @recent_pkts:	such as might have overtaken what went before
 * @no_alternate_pkts:	such as no alternate worked for
 * @full_pkts:		such as found no entry
 * @used_max:		most flows there ever were in the table
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

/**
 * quell_iofd_bth() - what a RoCEv2 base transport header says of its message
 * @opcode: first byte of the header
 *
 * Requests to read, atomics and acknowledgements are neither start nor end: their
 * order with what goes the same way is kept, but they do not begin a deflection.
 *
 * Context: any.
 * Return: QUELL_IOFD_START and QUELL_IOFD_END, as they apply.
 */
static inline u8 quell_iofd_bth(u8 opcode)
{
	u32 operation = 1U << (opcode & QUELL_IOFD_BTH_OPERATION_MASK);
	u8 transport = opcode >> QUELL_IOFD_BTH_TRANSPORT_SHIFT;
	u8 flags = 0;

	if (transport > QUELL_IOFD_BTH_UD && transport != QUELL_IOFD_BTH_XRC)
		return 0;
	if (operation & QUELL_IOFD_BTH_STARTS)
		flags |= QUELL_IOFD_START;
	if (operation & QUELL_IOFD_BTH_ENDS)
		flags |= QUELL_IOFD_END;
	return flags;
}

/**
 * quell_iofd_seed() - start the draws of alternates
 * @vars: state
 * @seed: any value; equal seeds give equal draws
 *
 * Context: any; the caller owns @vars.
 */
static inline void quell_iofd_seed(struct quell_iofd_vars *vars, u64 seed)
{
	quell_red_seed(&vars->lottery, seed);
}

/**
 * quell_iofd_begin() - packets pass again after some that were not shown
 * @vars: state, all zeroes the first time
 * @now_ns: time, ns
 *
 * Every flow counts as just seen.
 *
 * Context: any; the caller owns @vars.
 */
static inline void quell_iofd_begin(struct quell_iofd_vars *vars, u64 now_ns)
{
	vars->since_ns = now_ns;
}

/* FNV-1a over words, and the finaliser of splitmix64, whose bits are all good. */
static inline u64 quell_iofd_hash(const struct quell_iofd_flow *flow)
{
	u64 z = 0xcbf29ce484222325ULL;
	u32 i;

	for (i = 0; i < QUELL_IOFD_FLOW_WORDS; i++)
		z = (z ^ flow->word[i]) * 0x100000001b3ULL;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline bool quell_iofd_same(const struct quell_iofd_flow *a,
				   const struct quell_iofd_flow *b)
{
	u32 i;

	for (i = 0; i < QUELL_IOFD_FLOW_WORDS; i++)
		if (a->word[i] != b->word[i])
			return false;
	return true;
}

static inline bool quell_iofd_is_quiet(const struct quell_iofd_params *params,
				       u64 seen_ns, u64 now_ns)
{
	return quell_sub_sat_u64(now_ns, seen_ns) >= params->idle_ns;
}

/* Does the packet prove that nothing is outstanding, given the stamp before it? */
static inline bool quell_iofd_is_proven(const struct quell_iofd_packet *packet,
					bool stamped, u32 stamp)
{
	return packet->flags & QUELL_IOFD_CLEAN && packet->flags & QUELL_IOFD_STAMPED &&
	       stamped && packet->stamp != stamp;
}

/* Its entry, or NULL. */
static inline struct quell_iofd_entry *
quell_iofd_find(struct quell_iofd_vars *vars, const struct quell_iofd_flow *flow)
{
	u32 i, left = vars->used;

	for (i = 0; left; i++) {
		if (vars->entry[i].state == QUELL_IOFD_FREE)
			continue;
		if (quell_iofd_same(&vars->entry[i].flow, flow))
			return &vars->entry[i];
		left--;
	}
	return NULL;
}

/* Is the alternate one of @set?  One that is gone is in none. */
static inline bool quell_iofd_has(u32 set, u8 alternate)
{
	return alternate < QUELL_IOFD_ALTERNATES_MAX && set >> alternate & 1;
}

/* May the flow of an entry change its way with this packet? */
static inline bool quell_iofd_is_free(const struct quell_iofd_params *params,
				      const struct quell_iofd_entry *entry,
				      const struct quell_iofd_packet *packet)
{
	bool quiet = quell_iofd_is_quiet(params, entry->seen_ns, packet->now_ns);

	if (quell_iofd_is_proven(packet, entry->stamped, entry->stamp))
		return true;
	if (!quiet)
		return false;
	return entry->state == QUELL_IOFD_ENDED || packet->flags & QUELL_IOFD_START ||
	       !quell_iofd_has(packet->working, entry->alternate);
}

static inline void quell_iofd_release(struct quell_iofd_vars *vars,
				      struct quell_iofd_entry *entry)
{
	entry->state = QUELL_IOFD_FREE;
	vars->used--;
}

/* By the entry's alternate, where that works. */
static inline enum quell_iofd_verdict
quell_iofd_follow(struct quell_iofd_entry *entry, const struct quell_iofd_packet *packet,
		  struct quell_iofd_stats *stats)
{
	if (!quell_iofd_has(packet->working, entry->alternate)) {
		stats->lost_pkts++;
		return QUELL_IOFD_LOST;
	}
	entry->seen_ns = packet->now_ns;
	entry->stamp = packet->stamp;
	entry->stamped = packet->flags & QUELL_IOFD_STAMPED;
	entry->state = packet->flags & QUELL_IOFD_END ? QUELL_IOFD_ENDED : QUELL_IOFD_ACTIVE;
	entry->pkts++;
	stats->pkts++;
	stats->bytes += packet->bytes;
	return QUELL_IOFD_DEFLECT;
}

/**
 * quell_iofd_is_in_use() - does order still bind the flow of an entry?
 * @entry: one of the table
 * @params: parameters
 * @now_ns: time, ns
 *
 * Context: any; the caller owns @entry.
 * Return: whether it does.
 */
static inline bool quell_iofd_is_in_use(const struct quell_iofd_entry *entry,
					const struct quell_iofd_params *params, u64 now_ns)
{
	return entry->state == QUELL_IOFD_ACTIVE ||
	       (entry->state == QUELL_IOFD_ENDED &&
		!quell_iofd_is_quiet(params, entry->seen_ns, now_ns));
}

/**
 * quell_iofd_in_use() - flows in the table that order still binds
 * @vars: state
 * @params: parameters
 * @now_ns: time, ns
 *
 * Context: any; the caller owns @vars.
 * Return: how many.
 */
static inline u32 quell_iofd_in_use(const struct quell_iofd_vars *vars,
				    const struct quell_iofd_params *params, u64 now_ns)
{
	u32 i, in_use = 0;

	for (i = 0; i < QUELL_IOFD_ENTRIES_MAX; i++)
		in_use += quell_iofd_is_in_use(&vars->entry[i], params, now_ns);
	return in_use;
}

/*
 * An entry for another flow: a free one, or one that ended and is quiet; else one that
 * is quiet though its end was not seen.  NULL when there is none.
 */
static inline struct quell_iofd_entry *
quell_iofd_take(struct quell_iofd_vars *vars, const struct quell_iofd_params *params,
		u64 now_ns)
{
	struct quell_iofd_entry *entry, *quiet = NULL;
	u32 i;

	for (i = 0; i < params->entries; i++) {
		entry = &vars->entry[i];
		if (entry->state == QUELL_IOFD_FREE) {
			vars->used++;
			return entry;
		}
		if (!quell_iofd_is_quiet(params, entry->seen_ns, now_ns))
			continue;
		if (!quiet || entry->state == QUELL_IOFD_ENDED)
			quiet = entry;
	}
	return quiet;
}

/* One of @set, which is not empty, each as likely. */
static inline u8 quell_iofd_draw(struct quell_iofd_vars *vars, u32 set)
{
	u32 i, members = 0, skip;

	for (i = 0; i < QUELL_IOFD_ALTERNATES_MAX; i++)
		members += set >> i & 1;
	skip = ((u64)quell_red_draw(&vars->lottery) * members) >> 32;
	for (i = 0; !(set >> i & 1) || skip; i++)
		skip -= set >> i & 1;
	return i;
}

/* May a flow that only went into the port's queue change its way with this packet? */
static inline bool quell_iofd_is_safe(const struct quell_iofd_vars *vars,
				      const struct quell_iofd_params *params,
				      const struct quell_iofd_bucket *bucket, u32 tag,
				      const struct quell_iofd_packet *packet)
{
	u64 seen_ns = quell_max_u64(bucket->seen_ns, vars->since_ns);
	bool known = bucket->tag == tag && bucket->stamped &&
		     bucket->seen_ns > vars->since_ns;

	return quell_iofd_is_quiet(params, seen_ns, packet->now_ns) ||
	       quell_iofd_is_proven(packet, known, bucket->stamp);
}

/* Whether a flow without an entry may begin to be deflected, and why not. */
static inline bool quell_iofd_may_begin(const struct quell_iofd_params *params,
					const struct quell_iofd_packet *packet, bool safe,
					struct quell_iofd_stats *stats)
{
	if (!(packet->flags & QUELL_IOFD_START) || !params->entries ||
	    packet->queued_bytes <= params->threshold_bytes)
		return false;
	if (!packet->tokens) {
		stats->no_token_pkts++;
		return false;
	}
	if (!safe) {
		stats->recent_pkts++;
		return false;
	}
	if (packet->working & ~packet->barred)
		return true;
	stats->no_alternate_pkts++;
	return false;
}

/* The flow's new entry, or NULL where it stays in the port's queue. */
static inline struct quell_iofd_entry *
quell_iofd_enter(struct quell_iofd_vars *vars, const struct quell_iofd_params *params,
		 const struct quell_iofd_packet *packet, struct quell_iofd_stats *stats)
{
	struct quell_iofd_entry *entry = quell_iofd_take(vars, params, packet->now_ns);
	u32 in_use;

	if (!entry) {
		stats->full_pkts++;
		return NULL;
	}
	entry->flow = packet->flow;
	entry->alternate = quell_iofd_draw(vars, packet->working & ~packet->barred);
	entry->state = QUELL_IOFD_ACTIVE;
	entry->begun_ns = packet->now_ns;
	entry->seen_ns = packet->now_ns;
	entry->pkts = 0;
	in_use = quell_iofd_in_use(vars, params, packet->now_ns);
	stats->used_max = quell_max_u64(stats->used_max, in_use);
	stats->flows++;
	return entry;
}

/* A packet goes into the port's queue. */
static inline void quell_iofd_note(struct quell_iofd_bucket *bucket, u32 tag,
				   const struct quell_iofd_packet *packet)
{
	bucket->seen_ns = packet->now_ns;
	bucket->tag = tag;
	bucket->stamp = packet->stamp;
	bucket->stamped = packet->flags & QUELL_IOFD_STAMPED;
}

/**
 * quell_iofd_decide() - which way a packet goes
 * @vars: state
 * @params: parameters
 * @stats: counters
 * @packet: the packet; every packet of its flow is shown, in order
 * @alternate: set with QUELL_IOFD_DEFLECT
 *
 * Context: any; the caller owns all of it.
 * Return: what to do.
 */
static inline enum quell_iofd_verdict
quell_iofd_decide(struct quell_iofd_vars *vars, const struct quell_iofd_params *params,
		  struct quell_iofd_stats *stats, const struct quell_iofd_packet *packet,
		  u8 *alternate)
{
	struct quell_iofd_entry *entry = quell_iofd_find(vars, &packet->flow);
	u64 hash = quell_iofd_hash(&packet->flow);
	struct quell_iofd_bucket *bucket = &vars->bucket[hash & (QUELL_IOFD_BUCKETS - 1)];
	u32 tag = hash >> 32;
	bool safe;

	if (entry && !quell_iofd_is_free(params, entry, packet)) {
		*alternate = entry->alternate;
		return quell_iofd_follow(entry, packet, stats);
	}
	/* What frees the flow's entry also lets a start go by another. */
	safe = entry || quell_iofd_is_safe(vars, params, bucket, tag, packet);
	if (entry)
		quell_iofd_release(vars, entry);
	entry = NULL;
	if (quell_iofd_may_begin(params, packet, safe, stats))
		entry = quell_iofd_enter(vars, params, packet, stats);
	if (entry) {
		*alternate = entry->alternate;
		return quell_iofd_follow(entry, packet, stats);
	}
	quell_iofd_note(bucket, tag, packet);
	return QUELL_IOFD_DIRECT;
}

/**
 * quell_iofd_remap() - the alternates changed
 * @vars: state
 * @to: by old number, the new one, or QUELL_IOFD_GONE
 *
 * Context: any; the caller owns @vars.
 */
static inline void quell_iofd_remap(struct quell_iofd_vars *vars,
				    const u8 to[QUELL_IOFD_ALTERNATES_MAX])
{
	u32 i;

	for (i = 0; i < QUELL_IOFD_ENTRIES_MAX; i++)
		if (vars->entry[i].alternate < QUELL_IOFD_ALTERNATES_MAX)
			vars->entry[i].alternate = to[vars->entry[i].alternate];
}

/**
 * quell_iofd_binds() - does order bind any flow still?
 * @vars: state; forgotten when not
 * @params: parameters
 * @now_ns: time, ns
 *
 * For a port that begins no more deflections: when the answer is no, packets need
 * not be shown until quell_iofd_begin().
 *
 * Context: any; the caller owns @vars.
 * Return: whether packets must still be shown.
 */
static inline bool quell_iofd_binds(struct quell_iofd_vars *vars,
				    const struct quell_iofd_params *params, u64 now_ns)
{
	u32 i;

	for (i = 0; vars->used && i < QUELL_IOFD_ENTRIES_MAX; i++)
		if (vars->entry[i].state != QUELL_IOFD_FREE &&
		    quell_iofd_is_quiet(params, vars->entry[i].seen_ns, now_ns))
			quell_iofd_release(vars, &vars->entry[i]);
	return vars->used;
}

#endif /* _QUELL_CORE_PORT_IOFD_H */
