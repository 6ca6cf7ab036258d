// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of in-order flow deflection, <quell/core/port/iofd.h>.
 */
#include <string.h>

#include <quell/core/port/iofd.h>

#include "random.h"
#include "test.h"

#define IDLE_NS		1000
#define THRESHOLD	15000

static struct quell_iofd_vars vars;
static struct quell_iofd_stats stats;
static u8 alternate;	/* of the last packet that was deflected */

static const struct quell_iofd_params defaults = {
	.threshold_bytes = THRESHOLD,
	.entries = 8,
	.idle_ns = IDLE_NS,
};

static void start_over(void)
{
	memset(&vars, 0, sizeof(vars));
	memset(&stats, 0, sizeof(stats));
	quell_iofd_seed(&vars, 1);
}

/* A packet of flow @id that finds the queue long and has tokens. */
static struct quell_iofd_packet packet_of(u32 id, u64 now_ns, u8 flags)
{
	struct quell_iofd_packet packet = {
		.flow.word = { [0] = id },
		.now_ns = now_ns,
		.bytes = 1500,
		.queued_bytes = THRESHOLD + 1,
		.working = 0x3,
		.tokens = 4,
		.flags = flags,
	};

	return packet;
}

static char verdict_of(const struct quell_iofd_params *params,
		       const struct quell_iofd_packet *packet)
{
	return "-DX"[quell_iofd_decide(&vars, params, &stats, packet, &alternate)];
}

/* The same of a packet_of(). */
static char verdict(const struct quell_iofd_params *params, u32 id, u64 now_ns, u8 flags)
{
	struct quell_iofd_packet packet = packet_of(id, now_ns, flags);

	return verdict_of(params, &packet);
}

/*
 * One flow's history.  Packets: s start, c clean start of a burst of its own,
 * r the clean start that segmentation copied, e end, E end with the stamp, b start and end,
 * m middle, S start below the threshold, T middle below it, t middle without tokens,
 * n start without tokens, u clean start without a stamp, C clean start below the threshold.
 * Between them: . a time shorter than idle, | idle, x the
 * alternates stop working, w they work again, g they are removed.  First, f: end_frees.
 */
struct history {
	struct quell_iofd_params params;
	u64 now_ns;
	u32 working;
	u32 stamp;
	char got[64];
	u32 got_nr;
};

static struct quell_iofd_packet history_packet(struct history *h, char what)
{
	struct quell_iofd_packet packet = packet_of(7, h->now_ns, 0);

	packet.working = h->working;
	packet.flags |= strchr("scrubSnC", what) ? QUELL_IOFD_START : 0;
	packet.flags |= strchr("crCu", what) ? QUELL_IOFD_CLEAN : 0;
	packet.flags |= strchr("crCE", what) ? QUELL_IOFD_STAMPED : 0;
	packet.flags |= strchr("eEb", what) ? QUELL_IOFD_END : 0;
	if (strchr("STC", what))
		packet.queued_bytes = THRESHOLD;
	if (strchr("nt", what))
		packet.tokens = 0;
	h->stamp += strchr("cC", what) != NULL;
	packet.stamp = h->stamp;
	return packet;
}

static void history_step(struct history *h, char what)
{
	static const u8 gone[QUELL_IOFD_ALTERNATES_MAX] = {
		[0 ... QUELL_IOFD_ALTERNATES_MAX - 1] = QUELL_IOFD_REMOVED };
	struct quell_iofd_packet packet;

	if (what == 'f') {
		h->params.end_frees = true;
	} else if (what == '.') {
		h->now_ns += IDLE_NS - 1;
	} else if (what == '|') {
		h->now_ns += IDLE_NS;
	} else if (what == 'x' || what == 'w') {
		h->working = what == 'w' ? 0x3 : 0;
	} else if (what == 'g') {
		quell_iofd_remap(&vars, gone);
	} else {
		packet = history_packet(h, what);
		h->got[h->got_nr++] = verdict_of(&h->params, &packet);
	}
}

/* The verdicts of @steps, in h->got. */
static void history_run(struct history *h, const char *steps)
{
	*h = (struct history) { .params = defaults, .working = 0x3, .stamp = 40 };
	start_over();
	for (; *steps; steps++)
		history_step(h, *steps);
}

TEST(histories)
{
	static const struct {
		const char *name, *steps, *want;
	} cases[] = {
		{ "follows_to_the_end", "|sme", "DDD" },
		{ "single_packet_message", "|b", "D" },
		{ "below_the_threshold", "|Sm", "--" },
		{ "follows_whatever_the_queue", "|sTT", "DDD" },
		{ "only_from_the_start", "|mmm", "---" },
		{ "start_without_tokens", "|nm", "--" },
		{ "follows_without_tokens", "|stt", "DDD" },
		{ "nothing_known_at_first", "s", "-" },
		{ "nothing_known_just_below_idle", ".s", "-" },
		{ "seen_of_late", "|m.s", "--" },
		{ "not_seen_of_late", "|m|s", "-D" },
		{ "end_does_not_free", "|semmm", "DDDDD" },
		{ "end_frees_when_quiet", "|se|m", "DD-" },
		{ "end_does_not_free_just_below_idle", "|se.m", "DDD" },
		{ "every_packet_prolongs", "|se.m.m.m", "DDDDD" },
		{ "goes_on_after_its_end", "|sem|m", "DDDD" },
		{ "pause_in_a_message", "|s|m", "DD" },
		{ "next_message_below_the_threshold", "|se.S", "DDD" },
		{ "next_message_when_quiet", "|se|S", "DD-" },
		{ "next_message_after_a_lost_end", "|sm|Sm", "DD--" },
		{ "next_message_deflected_again", "|sm|sm", "DDDD" },
		{ "clean_start_frees", "|cEC", "DD-" },
		{ "clean_start_needs_a_stamp_before", "|sC", "DD" },
		{ "copied_start_does_not_free", "|crrr", "DDDD" },
		{ "clean_start_without_a_stamp", "|cuC", "DDD" },
		{ "clean_start_again", "|crcr", "DDDD" },
		{ "clean_start_after_its_own_stamp", "|Cc", "-D" },
		{ "copied_start_begins_nothing", "|Cr", "--" },
		{ "clean_start_behind_a_stampless", "|mc", "--" },
		{ "clean_start_unknown_before", "c", "-" },
		{ "alternate_stops", "|smxmm", "DDXX" },
		{ "alternate_comes_back", "|sx.mwm", "DXD" },
		{ "alternate_stops_for_idle", "|smx.m|m", "DDX-" },
		{ "drops_do_not_prolong", "|sx.m.m", "DX-" },
		{ "lost_end_does_not_free", "|sxewm", "DXD" },
		{ "alternate_stops_clean_start", "|cxcm", "D--" },
		{ "alternate_taken_away", "|sgm|m", "DX-" },
		{ "alternate_taken_away_stays_so", "|sggm", "DX" },
		{ "no_alternate", "|xs", "-" },
		{ "message_end_frees", "f|sem", "DD-" },
		{ "message_next_message_at_once", "f|se.S.s", "DD-D" },
		{ "message_seen_of_late", "f|m.s", "-D" },
		{ "message_copied_start_begins_nothing", "f|Crr", "---" },
		{ "message_copied_start_follows", "f|crrE", "DDDD" },
		{ "message_copied_start_behind_its_end", "f|cErC", "DDD-" },
		{ "message_next_burst_begins", "f|Crc", "--D" },
		{ "message_clean_start_behind_a_stampless", "f|mc", "--" },
		{ "message_start_after_a_lost_end", "f|smS", "DD-" },
		{ "message_clean_start_after_a_lost_end", "f|crC", "DD-" },
		{ "message_alternate_stops_end_is_lost", "f|sxeS", "DX-" },
		{ "message_alternate_stops_next_message", "f|sxmS", "DX-" },
	};
	struct history h;

	for_each_row(row, cases) {
		history_run(&h, row->steps);
		expect(!strcmp(h.got, row->want), "%s: got %s", row->name, h.got);
	}
}

/* The paper's rule: the end packet frees the entry, for this flow and for others. */
TEST(end_frees)
{
	struct quell_iofd_params params = defaults;
	u32 id;

	params.end_frees = true;
	params.entries = 1;
	start_over();
	for (id = 0; id < 3; id++) {
		expect_eq('D', verdict(&params, id, IDLE_NS, QUELL_IOFD_START), "start_%u", id);
		expect_eq('D', verdict(&params, id, IDLE_NS, 0), "middle_%u", id);
		expect_eq('D', verdict(&params, id, IDLE_NS, QUELL_IOFD_END), "end_%u", id);
		expect_eq(0, vars.used, "freed_%u", id);
		expect_eq('-', verdict(&params, id, IDLE_NS, 0), "after_its_end_%u", id);
	}
	expect(verdict(&params, 2, IDLE_NS, QUELL_IOFD_START | QUELL_IOFD_END) == 'D' &&
		       !vars.used && !stats.full_pkts && stats.flows == 4 && stats.used_max == 1,
	       "next_message_of_a_single_packet");
}

/* The shorter queue of two alternates, never one as long as the port's own. */
TEST(shorter)
{
	static const u32 bytes[QUELL_IOFD_ALTERNATES_MAX] = { 3000, 2000, 1000, THRESHOLD + 2, 0 };
	struct quell_iofd_params params = defaults;
	struct quell_iofd_packet packet;
	u32 id, count[5] = { };

	params.shorter = true;
	params.end_frees = true;
	start_over();
	for (id = 0; id < 900; id++) {
		packet = packet_of(id, IDLE_NS + id * IDLE_NS, QUELL_IOFD_START | QUELL_IOFD_END);
		packet.working = 0x1f;
		packet.barred = 0x10;
		packet.alternate_bytes = bytes;
		packet.own_bytes = THRESHOLD + 2;
		if (verdict_of(&params, &packet) == 'D')
			count[alternate]++;
	}
	/* Both draws equal, or the other one longer: 1, 3 and 5 of 9. */
	expect(count[0] + count[1] + count[2] == 900 && count[0] > 70 && count[0] < 130 &&
		       count[1] > 250 && count[1] < 350 && count[2] > 450 && count[2] < 550,
	       "two_draws: %u %u %u", count[0], count[1], count[2]);
	packet = packet_of(1, IDLE_NS * 2000, QUELL_IOFD_START);
	packet.working = 0x8;
	packet.alternate_bytes = bytes;
	packet.own_bytes = THRESHOLD + 2;
	expect(verdict_of(&params, &packet) == '-' && stats.no_alternate_pkts == 1,
	       "not_a_longer_one");
	/* All bands of the port, the one with the threshold and the other. */
	packet.own_bytes++;
	expect(verdict_of(&params, &packet) == 'D' && alternate == 3, "all_bands");
}

TEST(causes)
{
	struct quell_iofd_packet packet = packet_of(1, IDLE_NS, QUELL_IOFD_START);

	start_over();
	packet.tokens = 0;
	verdict_of(&defaults, &packet);
	expect(stats.no_token_pkts == 1 && !stats.recent_pkts, "no_token");
	packet.tokens = 1;
	verdict_of(&defaults, &packet);
	expect(stats.recent_pkts == 1 && !stats.no_alternate_pkts, "recent");
	packet.now_ns += IDLE_NS;
	packet.barred = 0x3;
	verdict_of(&defaults, &packet);
	expect(stats.no_alternate_pkts == 1 && !stats.flows, "no_alternate");
	packet.now_ns += IDLE_NS;
	packet.barred = 0x1;
	expect(verdict_of(&defaults, &packet) == 'D' && alternate == 1 &&
		       stats.flows == 1 && stats.pkts == 1 && stats.bytes == 1500 &&
		       stats.used_max == 1,
	       "deflected_past_the_barred");
	packet.flags = 0;
	packet.now_ns += 5;
	verdict_of(&defaults, &packet);
	expect(vars.entry[0].pkts == 2 && vars.entry[0].begun_ns + 5 == packet.now_ns &&
		       vars.entry[0].seen_ns == packet.now_ns &&
		       quell_iofd_is_in_use(&vars.entry[0], &defaults, packet.now_ns),
	       "counts_in_the_entry");
	packet.working = 0;
	verdict_of(&defaults, &packet);
	expect(stats.lost_pkts == 1 && stats.pkts == 2 && vars.entry[0].pkts == 2, "lost");
	packet.queued_bytes = THRESHOLD;
	packet.flow.word[0] = 2;
	verdict_of(&defaults, &packet);
	expect(stats.no_token_pkts == 1 && stats.recent_pkts == 1 && stats.no_alternate_pkts == 1 &&
		       !stats.full_pkts,
	       "below_the_threshold_counts_nothing");
}

/* Number of flows deflected, out of 100 that start together, by the size of the table. */
TEST(sizes)
{
	static const u32 entries[] = { 0, 1, 8, 64 };
	u32 id;

	for_each_row(row, entries) {
		struct quell_iofd_params params = defaults;
		bool first_come = true;

		start_over();
		params.entries = *row;
		for (id = 0; id < 100; id++)
			first_come &= (verdict(&params, id, IDLE_NS, QUELL_IOFD_START) == 'D') ==
				      (id < params.entries);
		expect(first_come && stats.flows == params.entries &&
			       stats.full_pkts + stats.recent_pkts ==
				       (params.entries ? 100 - params.entries : 0) &&
			       stats.used_max == params.entries && vars.used == params.entries &&
			       quell_iofd_in_use(&vars, &params, IDLE_NS) == params.entries,
		       "table_of_%u", *row);
	}
}

/* Flows that lose their entry to another flow, in a table of two. */
TEST(reuse)
{
	static const struct {
		const char *name;
		u8 flags[2];		/* of the last packet of the flows in it */
		u64 age_ns[2];
		char want;
		u32 survivor;		/* 0 or 1 still has its entry, 2: both */
		u32 in_use;		/* after */
	} cases[] = {
		{ "both_busy", { 0, 0 }, { 999, 999 }, '-', 2, 2 },
		{ "both_ended_and_busy", { QUELL_IOFD_END, QUELL_IOFD_END }, { 999, 1 },
		  '-', 2, 2 },
		{ "ended_and_quiet", { 0, QUELL_IOFD_END }, { 1, 1000 }, 'D', 0, 2 },
		{ "lost_end_and_quiet", { 0, 0 }, { 1000, 1 }, 'D', 1, 2 },
		{ "ended_before_lost_end", { 0, QUELL_IOFD_END }, { 5000, 1000 }, 'D', 0, 2 },
		{ "ended_first", { QUELL_IOFD_END, 0 }, { 1000, 5000 }, 'D', 1, 2 },
	};
	struct quell_iofd_params params = defaults;
	u32 k;

	params.entries = 2;
	for_each_row(row, cases) {
		bool holds;

		start_over();
		for (k = 0; k < 2; k++)
			verdict(&params, k, 10000 - row->age_ns[k],
				QUELL_IOFD_START | row->flags[k]);
		holds = verdict(&params, 9, 10000, QUELL_IOFD_START) == row->want;
		for (k = 0; k < 2; k++) {
			struct quell_iofd_packet packet = packet_of(k, 10000, 0);

			holds &= !quell_iofd_find(&vars, &packet.flow) == (row->survivor == 1 - k);
		}
		expect(holds && vars.used == 2 &&
			       quell_iofd_in_use(&vars, &params, 10000) == row->in_use,
		       "%s", row->name);
	}
}

TEST(in_use_cases)
{
	struct quell_iofd_packet packet = packet_of(1, IDLE_NS, QUELL_IOFD_START);
	struct quell_iofd_packet ended = packet_of(2, IDLE_NS, QUELL_IOFD_START | QUELL_IOFD_END);

	start_over();
	verdict_of(&defaults, &packet);
	verdict_of(&defaults, &ended);
	expect_eq(2, quell_iofd_in_use(&vars, &defaults, 2 * IDLE_NS - 1), "ended_still_binds");
	expect_eq(1, quell_iofd_in_use(&vars, &defaults, 2 * IDLE_NS), "ended_and_quiet");
	expect(quell_iofd_binds(&vars, &defaults, 2 * IDLE_NS - 1) && vars.used == 2, "both");
	packet.now_ns = ended.now_ns = 3 * IDLE_NS;
	packet.flags = 0;
	verdict_of(&defaults, &packet);
	expect(quell_iofd_binds(&vars, &defaults, 3 * IDLE_NS) && vars.used == 1, "one");
	ended.flags = QUELL_IOFD_START;
	expect(verdict_of(&defaults, &ended) == 'D' && vars.used == 2 &&
		       quell_iofd_binds(&vars, &defaults, 3 * IDLE_NS),
	       "two_again");
	packet.now_ns += 1;
	ended.now_ns += 1;
	verdict_of(&defaults, &ended);
	quell_iofd_binds(&vars, &defaults, 4 * IDLE_NS);
	expect(quell_iofd_find(&vars, &ended.flow) && !quell_iofd_find(&vars, &packet.flow),
	       "behind_a_free_one");
	expect(!quell_iofd_binds(&vars, &defaults, 5 * IDLE_NS) && !vars.used, "none");
	expect(!quell_iofd_binds(&vars, &defaults, 5 * IDLE_NS), "empty");
}

/* Flows without an end hold the table while they send, as a change of path may reorder them. */
TEST(endless)
{
	u64 now_ns = IDLE_NS;
	bool held = true;
	u32 round, id;

	start_over();
	for (round = 0; round < 1000; round++, now_ns += IDLE_NS - 1) {
		for (id = 0; id < defaults.entries; id++)
			held &= verdict(&defaults, id, now_ns, round ? 0 : QUELL_IOFD_START) == 'D';
		held &= verdict(&defaults, 1000 + round, now_ns, QUELL_IOFD_START) == '-';
	}
	expect(held && stats.full_pkts + stats.recent_pkts == 1000 && stats.full_pkts > 900,
	       "endless_flows_hold_the_table");
	expect(verdict(&defaults, 20, now_ns + 1, QUELL_IOFD_START) == 'D',
	       "until_they_are_quiet");
}

/* A shrunk table keeps the flows it has, and takes no new ones beyond its size. */
TEST(shrinks)
{
	struct quell_iofd_params params = defaults;
	bool all = true;
	u32 id;

	start_over();
	for (id = 0; id < 8; id++)
		verdict(&params, id, IDLE_NS, QUELL_IOFD_START);
	params.entries = 1;
	for (id = 0; id < 8; id++)
		all &= verdict(&params, id, IDLE_NS, 0) == 'D';
	expect(all, "smaller_table_keeps_its_flows");
	expect(verdict(&params, 20, 2 * IDLE_NS - 1, QUELL_IOFD_START) == '-' &&
		       stats.full_pkts == 1,
	       "smaller_table_takes_no_more");
}

/* Flows of one bucket: a flow may count as seen when it was not, never the reverse. */
TEST(buckets)
{
	struct quell_iofd_packet a = packet_of(1, IDLE_NS, 0), b;
	u32 other = 2;

	do {
		b = packet_of(other++, 2 * IDLE_NS - 1, QUELL_IOFD_START);
	} while ((quell_iofd_hash(&a.flow) ^ quell_iofd_hash(&b.flow)) &
		 (QUELL_IOFD_BUCKETS - 1));

	start_over();
	a.flags = QUELL_IOFD_STAMPED;
	verdict_of(&defaults, &a);
	b.flags = QUELL_IOFD_START | QUELL_IOFD_CLEAN | QUELL_IOFD_STAMPED;
	b.stamp = 1;
	expect(verdict_of(&defaults, &b) == '-' && stats.recent_pkts == 1,
	       "another_flow_proves_nothing");
	a = packet_of(1, 2 * IDLE_NS, QUELL_IOFD_START);
	expect(verdict_of(&defaults, &a) == '-' && stats.recent_pkts == 2,
	       "bucket_seen_by_another");
	b.now_ns = 3 * IDLE_NS;
	expect(verdict_of(&defaults, &b) == 'D', "quiet_bucket");
}

TEST(begin)
{
	u8 clean = QUELL_IOFD_START | QUELL_IOFD_CLEAN | QUELL_IOFD_STAMPED;
	struct quell_iofd_packet packet = packet_of(1, 5000, QUELL_IOFD_STAMPED);

	start_over();
	verdict_of(&defaults, &packet);
	quell_iofd_begin(&vars, 7000);
	packet.flags = clean;
	packet.stamp = 1;
	packet.now_ns = 7999;
	expect(verdict_of(&defaults, &packet) == '-', "forgets_what_it_knew");
	packet.stamp = 2;
	expect(verdict_of(&defaults, &packet) == 'D', "learns_again");
	packet.flow.word[0] = 2;
	packet.now_ns = 8000;
	expect(verdict_of(&defaults, &packet) == 'D', "idle_over");
}

/* A super-packet of SEGMENTS: kept whole where it may be, else segment by segment. */
#define SEGMENTS	5

static void offer(bool whole, struct quell_iofd_packet *packet, char *got, u32 *kept)
{
	u32 first_bytes = packet->queued_bytes;
	u8 flags = packet->flags;
	u32 i;

	memset(got, '-', SEGMENTS);
	packet->queued_bytes = first_bytes + (SEGMENTS - 1) * packet->bytes;
	if (whole && quell_iofd_is_local(&vars, &defaults, packet)) {
		++*kept;
		return;
	}
	packet->queued_bytes = first_bytes;
	for (i = 0; i < SEGMENTS; i++) {
		packet->flags = i + 1 < SEGMENTS ? flags & ~QUELL_IOFD_END : flags;
		got[i] = verdict_of(&defaults, packet);
		packet->queued_bytes += got[i] == '-' ? packet->bytes : 0;
	}
}

/* Input of the port: super-packets that are kept whole, and others. */
struct port_state {
	struct quell_iofd_vars vars;
	struct quell_iofd_stats stats;
	char got[SEGMENTS];
};

/* Offer a packet to a port in that state. */
static void offer_to(struct port_state *state, bool whole, struct quell_iofd_packet packet,
		     u32 *kept)
{
	vars = state->vars;
	stats = state->stats;
	offer(whole, &packet, state->got, kept);
	state->vars = vars;
	state->stats = stats;
}

/* The same state, counters and verdicts at every step, whether packets are kept whole. */
TEST(super_packets)
{
	static struct port_state whole, split;
	struct random_state r = { 3 };
	u64 now_ns = IDLE_NS;
	u32 i, kept = 0;
	bool same = true;

	start_over();
	whole.vars = vars;
	split.vars = vars;
	for (i = 0; same && i < 20000; i++) {
		struct quell_iofd_packet packet = packet_of(random_between(&r, 1, 20), now_ns,
							    random_between(&r, 0, 15));

		now_ns += random_magnitude(&r, 0, 2 * IDLE_NS);
		packet.tokens = random_between(&r, 0, 1);
		packet.stamp = random_between(&r, 0, 3);
		packet.queued_bytes = random_between(&r, THRESHOLD - 8 * packet.bytes,
						     THRESHOLD + packet.bytes);
		packet.working = random_between(&r, 0, 3);
		offer_to(&whole, true, packet, &kept);
		offer_to(&split, false, packet, &kept);
		same = !memcmp(&whole, &split, sizeof(whole));
	}
	expect(same, "as_by_segment: packet %u", i);
	expect(kept > 1000 && kept < 19000 && whole.stats.flows > 100, "kept_and_not_kept: %u",
	       kept);
}

/* Without room for flows a port does not deflect, with a queue of any length. */
TEST(super_packet_without_table)
{
	struct quell_iofd_packet packet = packet_of(1, IDLE_NS, QUELL_IOFD_START);
	struct quell_iofd_params none = defaults;

	start_over();
	packet.queued_bytes = defaults.threshold_bytes + 1;
	expect(!quell_iofd_is_local(&vars, &defaults, &packet), "one_may_be_deflected");
	none.entries = 0;
	expect(quell_iofd_is_local(&vars, &none, &packet), "no_table");
}

/* Each word is part of a flow's identity, as is the time to live of a packet that comes round. */
TEST(identity)
{
	struct quell_iofd_packet packet = packet_of(1, IDLE_NS, QUELL_IOFD_START);
	bool differ = true;
	u32 i;

	start_over();
	verdict_of(&defaults, &packet);
	for (i = 0; i < QUELL_IOFD_FLOW_WORDS; i++) {
		struct quell_iofd_packet other = packet_of(1, IDLE_NS, 0);

		other.flow.word[i] ^= 0x100;
		differ = differ && verdict_of(&defaults, &other) == '-' &&
			 quell_iofd_hash(&other.flow) != quell_iofd_hash(&packet.flow);
	}
	expect(differ, "every_word_counts");
}

TEST(draws)
{
	u32 drawn[QUELL_IOFD_ALTERNATES_MAX] = {}, i;
	bool within = true, even = true;

	start_over();
	for (i = 0; i < 30000; i++) {
		u8 alternate = quell_iofd_draw(&vars, 0x8421);

		within = within && quell_iofd_has(0x8421, alternate);
		drawn[alternate]++;
	}
	/* Five standard deviations of 75. */
	for (i = 0; i < QUELL_IOFD_ALTERNATES_MAX; i++)
		even = even && (0x8421 >> i & 1 ? drawn[i] > 7125 && drawn[i] < 7875 : !drawn[i]);
	expect(within, "of_the_set");
	expect(even, "evenly");
	expect(quell_iofd_draw(&vars, 0x10) == 4, "the_only_one");
}

TEST(remap)
{
	u8 to[QUELL_IOFD_ALTERNATES_MAX] = { 3, 2, 1, 0 };
	struct quell_iofd_packet packet = packet_of(1, IDLE_NS, QUELL_IOFD_START);

	start_over();
	packet.working = 0x2;
	verdict_of(&defaults, &packet);
	quell_iofd_remap(&vars, to);
	packet.working = 0x4;
	expect(verdict_of(&defaults, &packet) == 'D' && alternate == 2, "renumbered");
}

/* Of each operation: s starts a message, e ends one, b both. */
TEST(opcodes)
{
	static const char operations[32] = "s-eebbs-eebb-s-eb-----eb--------";
	u32 opcode;

	for (opcode = 0; opcode < 256; opcode++) {
		/* RC, UC, RD, UD and XRC; others are notifications and the manufacturers'. */
		char what = opcode < 0x80 || opcode >> 5 == 5 ? operations[opcode & 31] : '-';
		u8 want = (what == 's' || what == 'b' ? QUELL_IOFD_START : 0) |
			  (what == 'e' || what == 'b' ? QUELL_IOFD_END : 0);

		expect_eq(want, quell_iofd_bth(opcode), "opcode_%02x", opcode);
	}
}

TEST_HARNESS_MAIN
