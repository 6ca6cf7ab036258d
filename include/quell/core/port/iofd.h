/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In-order flow deflection (IOFD): chooses which packets of a congested port leave by
 * another port of the same switch, so that no flow is ever reordered.
 *
 *	packet of a flow in the table	by the table's alternate, for any queue length
 *	start packet, queue above the	into the table, by a random alternate or the
 *	threshold			shorter of two, if the packet has a token and
 *					the table an entry
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
 * Quiet: idle_ns have passed since the last packet used the alternate.
 *
 * A flow changes its path only when none of its packets can be overtaken:
 *
 *  - at a proven start: the sender signals that no data was outstanding.  Segmentation
 *    copies the option to all packets of a burst; they have one departure stamp, so
 *    it counts only if the previous packet is known and had another stamp.
 *  - at any other start, after idle_ns in which the flow was not seen here.  The time
 *    it was last seen is kept in buckets that flows share: it may be too late for a
 *    flow, never too early.
 *  - back to the port's queue: after idle_ns without a packet by the alternate.
 *
 * idle_ns must be longer than the delays of any two paths through the network differ, queues
 * included.  Unless end_frees is set, an end packet does not free its entry: later packets could
 * overtake those sent by the alternate.  It only means that the entry need not be kept beyond
 * idle_ns.  An entry without its end packet is kept until it is quiet and another flow needs it.
 *
 * With end_frees order is kept within a message alone: an end packet, and a start without a stamp,
 * frees the entry.  A stamped start still has to be proven, as all packets of its burst have it.
 *
 * A packet that comes round, deflected here before, has another time to live.  That is part of a
 * flow's identity, so each round is a flow of its own, with a start packet that pays a token.
 * There are thus no more rounds than tokens.  A packet of a flow that has an entry is deflected
 * even without tokens left: order comes first, and the start packet has paid for the round.
 *
 * While an alternate does not work, packets bound to it are dropped; its flows
 * are released idle_ns after their last packet that was sent by it.
 *
 * Differences from the paper: there the end packet always frees the entry, which keeps
 * order within a message only, and any start packet may be deflected.  The shorter queue of
 * two alternates is not in the paper.  Left to the caller: detecting starts and ends, rewriting
 * tokens, and virtual channels (a port that drops instead of pausing cannot deadlock).
 *
 * Reference: Dart, section IV.
 */
#ifndef _QUELL_CORE_PORT_IOFD_H
#define _QUELL_CORE_PORT_IOFD_H

#include <quell/core/port/iofd_vars.h>

/*
 * QUELL_IOFD_START and QUELL_IOFD_END of a RoCEv2 base transport header.  Read requests, atomics
 * and acknowledgements are neither: they stay in order with other packets of their flow, but do not
 * start a deflection.
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

/* Equal seeds give equal draws. */
static inline void quell_iofd_seed(struct quell_iofd_vars *vars, u64 seed)
{
	quell_red_seed(&vars->lottery, seed);
}

/*
 * Resume after a time in which packets were not passed to decide: treats every flow as just seen.
 * @vars must be zeroed the first time.
 */
static inline void quell_iofd_begin(struct quell_iofd_vars *vars, u64 now_ns)
{
	vars->since_ns = now_ns;
	vars->token_ns = now_ns;
	vars->asleep = false;
}

/* True while quell_iofd_watch() has put the port to sleep, but for packets with a token. */
static inline bool quell_iofd_is_skipped(const struct quell_iofd_vars *vars, u8 tokens)
{
	return vars->asleep && !tokens;
}

/* FNV-1a over words, and the finaliser of splitmix64, for well-mixed bits. */
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

static inline bool quell_iofd_is_idle(const struct quell_iofd_params *params,
				      u64 seen_ns, u64 now_ns)
{
	return quell_sub_sat_u64(now_ns, seen_ns) >= params->idle_ns;
}

/* Does the packet prove that no data is outstanding, given the stamp of the one before? */
static inline bool quell_iofd_is_proven(const struct quell_iofd_packet *packet,
					bool stamped, u32 stamp)
{
	return packet->flags & QUELL_IOFD_CLEAN && packet->flags & QUELL_IOFD_STAMPED &&
	       stamped && packet->stamp != stamp;
}

/* The table's entry for a flow, or NULL. */
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

/* Is the alternate in @set?  QUELL_IOFD_REMOVED never is. */
static inline bool quell_iofd_has(u32 set, u8 alternate)
{
	return alternate < QUELL_IOFD_ALTERNATES_MAX && set >> alternate & 1;
}

/* With end_frees: is the packet of another message than those before it, by its flags alone? */
static inline bool quell_iofd_is_another(const struct quell_iofd_params *params,
					 const struct quell_iofd_packet *packet)
{
	return params->end_frees && packet->flags & QUELL_IOFD_START &&
	       !(packet->flags & QUELL_IOFD_STAMPED);
}

/* May a deflected flow change its path with this packet? */
static inline bool quell_iofd_is_free(const struct quell_iofd_params *params,
				      const struct quell_iofd_entry *entry,
				      const struct quell_iofd_packet *packet)
{
	bool quiet = quell_iofd_is_idle(params, entry->seen_ns, packet->now_ns);

	if (quell_iofd_is_another(params, packet) ||
	    quell_iofd_is_proven(packet, entry->stamped, entry->stamp))
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

/* Send the packet by the entry's alternate, or drop it if that does not work. */
static inline enum quell_iofd_verdict
quell_iofd_follow(struct quell_iofd_vars *vars, const struct quell_iofd_params *params,
		  struct quell_iofd_entry *entry, const struct quell_iofd_packet *packet,
		  struct quell_iofd_stats *stats)
{
	if (!quell_iofd_has(packet->working, entry->alternate)) {
		stats->lost_pkts++;
		if (params->end_frees && packet->flags & QUELL_IOFD_END)
			quell_iofd_release(vars, entry);
		return QUELL_IOFD_LOST;
	}
	entry->seen_ns = packet->now_ns;
	entry->stamp = packet->stamp;
	entry->stamped = packet->flags & QUELL_IOFD_STAMPED;
	entry->state = packet->flags & QUELL_IOFD_END ? QUELL_IOFD_ENDED : QUELL_IOFD_ACTIVE;
	entry->pkts++;
	stats->pkts++;
	stats->bytes += packet->bytes;
	if (params->end_frees && entry->state == QUELL_IOFD_ENDED)
		quell_iofd_release(vars, entry);
	return QUELL_IOFD_DEFLECT;
}

/* Whether an entry still binds its flow to the alternate. */
static inline bool quell_iofd_is_in_use(const struct quell_iofd_entry *entry,
					const struct quell_iofd_params *params, u64 now_ns)
{
	return entry->state == QUELL_IOFD_ACTIVE ||
	       (entry->state == QUELL_IOFD_ENDED &&
		!quell_iofd_is_idle(params, entry->seen_ns, now_ns));
}

/* Number of entries in use. */
static inline u32 quell_iofd_in_use(const struct quell_iofd_vars *vars,
				    const struct quell_iofd_params *params, u64 now_ns)
{
	u32 i, in_use = 0;

	for (i = 0; i < QUELL_IOFD_ENTRIES_MAX; i++)
		in_use += quell_iofd_is_in_use(&vars->entry[i], params, now_ns);
	return in_use;
}

/*
 * Find an entry for another flow: a free one, or one that ended and is quiet; else one
 * that is quiet but has not seen its end packet.  NULL if all are in use.
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
		if (!quell_iofd_is_idle(params, entry->seen_ns, now_ns))
			continue;
		if (!quiet || entry->state == QUELL_IOFD_ENDED)
			quiet = entry;
	}
	return quiet;
}

/* Draw one member of @set with equal probabilities; @set must not be empty. */
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

/* Of two members of @set drawn, one may be drawn twice, that with the shorter queue. */
static inline u8 quell_iofd_choose(struct quell_iofd_vars *vars,
				   const struct quell_iofd_params *params,
				   const struct quell_iofd_packet *packet, u32 set)
{
	u8 other, best = quell_iofd_draw(vars, set);
	u32 i;

	for (i = 1; params->shorter && i < QUELL_IOFD_CHOICES; i++) {
		other = quell_iofd_draw(vars, set);
		if (packet->alternate_bytes[other] < packet->alternate_bytes[best])
			best = other;
	}
	return best;
}

/* The alternates that a flow may start on. */
static inline u32 quell_iofd_usable(const struct quell_iofd_params *params,
				    const struct quell_iofd_packet *packet)
{
	u32 i, set = packet->working & ~packet->barred;

	for (i = 0; params->shorter && i < QUELL_IOFD_ALTERNATES_MAX; i++)
		if (set >> i & 1 && packet->alternate_bytes[i] >= packet->own_bytes)
			set &= ~(1U << i);
	return set;
}

/* May a flow that only used the port's queue change its path with this packet? */
static inline bool quell_iofd_is_safe(const struct quell_iofd_vars *vars,
				      const struct quell_iofd_params *params,
				      const struct quell_iofd_bucket *bucket, u32 tag,
				      const struct quell_iofd_packet *packet)
{
	u64 seen_ns = quell_max_u64(bucket->seen_ns, vars->since_ns);
	bool known = bucket->tag == tag && bucket->stamped &&
		     bucket->seen_ns > vars->since_ns;

	return quell_iofd_is_idle(params, seen_ns, packet->now_ns) ||
	       quell_iofd_is_proven(packet, known, bucket->stamp);
}

/* May a flow without an entry start to be deflected?  If not, count the reason. */
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
	if (quell_iofd_usable(params, packet))
		return true;
	stats->no_alternate_pkts++;
	return false;
}

/* Allocate an entry for the flow; NULL if it stays in the port's queue. */
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
	entry->alternate = quell_iofd_choose(vars, params, packet,
					     quell_iofd_usable(params, packet));
	entry->state = QUELL_IOFD_ACTIVE;
	entry->begun_ns = packet->now_ns;
	entry->seen_ns = packet->now_ns;
	entry->pkts = 0;
	in_use = quell_iofd_in_use(vars, params, packet->now_ns);
	stats->used_max = quell_max_u64(stats->used_max, in_use);
	stats->flows++;
	return entry;
}

/* Record a packet that goes into the port's queue. */
static inline void quell_iofd_note(struct quell_iofd_bucket *bucket, u32 tag,
				   const struct quell_iofd_packet *packet)
{
	bucket->seen_ns = packet->now_ns;
	bucket->tag = tag;
	bucket->stamp = packet->stamp;
	bucket->stamped = packet->flags & QUELL_IOFD_STAMPED;
}

/* Every packet of a flow must be passed, in order.  @alternate is set with QUELL_IOFD_DEFLECT. */
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
		return quell_iofd_follow(vars, params, entry, packet, stats);
	}
	/* A packet that may release its entry may also start on another alternate. */
	safe = entry || quell_iofd_is_another(params, packet) ||
	       quell_iofd_is_safe(vars, params, bucket, tag, packet);
	if (entry)
		quell_iofd_release(vars, entry);
	entry = NULL;
	if (quell_iofd_may_begin(params, packet, safe, stats))
		entry = quell_iofd_enter(vars, params, packet, stats);
	if (entry) {
		*alternate = entry->alternate;
		return quell_iofd_follow(vars, params, entry, packet, stats);
	}
	quell_iofd_note(bucket, tag, packet);
	return QUELL_IOFD_DIRECT;
}

/*
 * Whether quell_iofd_decide() would return QUELL_IOFD_DIRECT for each segment of a super-packet,
 * without counting it; then @vars are as after that.  False: no change, and it must be called for
 * each.  @packet: any of the segments, with the bytes queued before the last.
 */
static inline bool quell_iofd_is_local(struct quell_iofd_vars *vars,
				       const struct quell_iofd_params *params,
				       const struct quell_iofd_packet *packet)
{
	u64 hash;

	if (packet->flags & QUELL_IOFD_START && params->entries &&
	    packet->queued_bytes > params->threshold_bytes)
		return false;
	if (quell_iofd_find(vars, &packet->flow))
		return false;
	hash = quell_iofd_hash(&packet->flow);
	quell_iofd_note(&vars->bucket[hash & (QUELL_IOFD_BUCKETS - 1)], hash >> 32, packet);
	return true;
}

/* @to: new index by old index, or QUELL_IOFD_REMOVED. */
static inline void quell_iofd_remap(struct quell_iofd_vars *vars,
				    const u8 to[QUELL_IOFD_ALTERNATES_MAX])
{
	u32 i;

	for (i = 0; i < QUELL_IOFD_ENTRIES_MAX; i++)
		if (vars->entry[i].alternate < QUELL_IOFD_ALTERNATES_MAX)
			vars->entry[i].alternate = to[vars->entry[i].alternate];
}

/*
 * Whether any flow is still bound; quiet entries are released.  For a port that starts no more
 * deflections: once no flow is bound, packets need not be passed to quell_iofd_decide() until
 * quell_iofd_begin().
 */
static inline bool quell_iofd_binds(struct quell_iofd_vars *vars,
				    const struct quell_iofd_params *params, u64 now_ns)
{
	u32 i;

	for (i = 0; vars->used && i < QUELL_IOFD_ENTRIES_MAX; i++)
		if (vars->entry[i].state != QUELL_IOFD_FREE &&
		    quell_iofd_is_idle(params, vars->entry[i].seen_ns, now_ns))
			quell_iofd_release(vars, &vars->entry[i]);
	return vars->used;
}

/*
 * Only packets with tokens start to be deflected.  After a long time without one, and with no flow
 * bound, packets without tokens need not be checked: the port falls asleep.  The next packet with a
 * token wakes it, as if all flows had just been seen, so that no flow is reordered.
 */
static inline void quell_iofd_watch(struct quell_iofd_vars *vars,
				    const struct quell_iofd_params *params,
				    const struct quell_iofd_packet *packet)
{
	if (packet->tokens) {
		if (vars->asleep)
			quell_iofd_begin(vars, packet->now_ns);
		vars->token_ns = packet->now_ns;
		return;
	}
	if (quell_sub_sat_u64(packet->now_ns, vars->token_ns) < QUELL_IOFD_SLEEP_NS)
		return;
	vars->asleep = !quell_iofd_binds(vars, params, packet->now_ns);
	/* Some flow is bound, for as long as it has packets: check again later. */
	if (!vars->asleep)
		vars->token_ns += params->idle_ns;
}

#endif /* _QUELL_CORE_PORT_IOFD_H */
