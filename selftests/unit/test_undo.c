// SPDX-License-Identifier: GPL-2.0
/*
 * Each core's undo of the response to a spurious loss or timeout:
 * <quell/core/lib/undo.h> by a table, then each core through the same four histories.
 * One flow each: 100 Gbit/s, 20 us of round trip, segments of 1000 bytes, default
 * parameters.
 */
#include <string.h>

#include <quell/core/dart/core.h>
#include <quell/core/dcqcn/core.h>
#include <quell/core/hpcc/core.h>
#include <quell/core/hpcc_vaisf/core.h>
#include <quell/core/smartt/core.h>
#include <quell/core/swift/core.h>
#include <quell/core/swift_vaisf/core.h>
#include <quell/core/timely/core.h>

#include "test.h"

#define MSS		1000U
#define LINK_BYTES_PS	12500000000ULL
#define RTT_NS		20000ULL
#define START_NS	1000000ULL
#define SEGMENTS	40		/* a window below the limits of all cores */
#define RATE_BYTES_PS	50000000U	/* a fortieth of a rate within the limits */

TEST(parts)
{
	static const struct {
		const char *name;
		u64 before[2], after[2], now, want;
	} rows[] = {
		{ "all_of_it", { 100, 0 }, { 60, 0 }, 60, 100 },
		{ "what_was_cut_meanwhile_stands", { 100, 0 }, { 60, 0 }, 30, 70 },
		{ "what_grew_by_itself_counts", { 100, 0 }, { 60, 0 }, 90, 100 },
		{ "never_less_than_now", { 100, 0 }, { 60, 0 }, 130, 130 },
		{ "two_cuts", { 100, 60 }, { 60, 10 }, 10, 100 },
		{ "nothing_cut", { 100, 0 }, { 100, 0 }, 40, 40 },
		{ "grown_is_not_cut", { 100, 0 }, { 120, 0 }, 40, 40 },
		{ "saturates", { QUELL_U64_MAX, QUELL_U64_MAX }, { 0, 0 }, 5, QUELL_U64_MAX },
	};

	for_each_row(row, rows) {
		struct quell_undo_part part = {};

		quell_undo_note(&part, row->before[0], row->after[0]);
		quell_undo_note(&part, row->before[1], row->after[1]);
		expect_eq(row->want, quell_undo_given_back(&part, row->now), "%s", row->name);
	}
}

/* The first record of an episode decides. */
TEST(tell)
{
	struct quell_undo u = {};

	quell_undo_record(&u, false);
	quell_undo_record(&u, true);
	expect(u.valid && !u.lost, "the_first");
	u = (struct quell_undo) {};
	quell_undo_record(&u, true);
	quell_undo_record(&u, false);
	expect(u.valid && u.lost, "the_first_lost");
}

/* The flow: variables of one core, its parameters and counters. */
static struct {
	union {
		struct quell_swift_split_vars swift;
		struct quell_swift_vaisf_vars swift_vaisf;
		struct quell_hpcc_vars hpcc;
		struct quell_hpcc_vaisf_vars hpcc_vaisf;
		struct quell_timely_vars timely;
		struct quell_dcqcn_vars dcqcn;
		struct quell_dart_vars dart;
		struct quell_smartt_vars smartt;
	} vars, before;
	u64 params[32], stats[32];
	struct quell_undo undo;
	struct quell_event ev;
} f;

static void start_split(void)
{
	f.vars.swift.fabric.flags |= QUELL_SWIFT_SPLIT_F_HOST;
}

static void start_hpcc(void)
{
	f.vars.hpcc.hop = 1;
}

static void start_hpcc_vaisf(void)
{
	f.vars.hpcc_vaisf.hpcc.hop = 1;
}

/* Each quantity of a core that a loss reduces: undo must restore all of them. */
static const struct row {
	const char *name;
	const struct quell_core *core;
	void (*start)(void);	/* of a flow, after the core's; may be NULL */
	u64 unit;	/* of an amount: a segment, or so many bytes per second */
	u64 *amount[2];
	struct {
		void *at;
		size_t bytes;
		u32 bit;
	} lost;
} rows[] = {
	{ "swift", &quell_swift_core, NULL, MSS, { &f.vars.swift.fabric.window_q16 },
	  { &f.vars.swift.fabric.flags, sizeof(f.vars.swift.fabric.flags), QUELL_SWIFT_F_LOSS } },
	{ "swift_split", &quell_swift_core, start_split, MSS,
	  { &f.vars.swift.fabric.window_q16, &f.vars.swift.host_window_q16 },
	  { &f.vars.swift.fabric.flags, sizeof(f.vars.swift.fabric.flags), QUELL_SWIFT_F_LOSS } },
	{ "swift_vaisf", &quell_swift_vaisf_core, NULL, MSS,
	  { &f.vars.swift_vaisf.swift.window_q16 },
	  { &f.vars.swift_vaisf.swift.flags, sizeof(f.vars.swift_vaisf.swift.flags),
	    QUELL_SWIFT_F_LOSS } },
	{ "hpcc", &quell_hpcc_core, start_hpcc, MSS, { &f.vars.hpcc.window_q16 },
	  { &f.vars.hpcc.flags, sizeof(f.vars.hpcc.flags), QUELL_HPCC_F_LOSS } },
	{ "hpcc_vaisf", &quell_hpcc_vaisf_core, start_hpcc_vaisf, MSS,
	  { &f.vars.hpcc_vaisf.hpcc.window_q16 },
	  { &f.vars.hpcc_vaisf.hpcc.flags, sizeof(f.vars.hpcc_vaisf.hpcc.flags),
	    QUELL_HPCC_F_LOSS } },
	{ "dart", &quell_dart_core, NULL, RATE_BYTES_PS,
	  { &f.vars.dart.dcqcn.rate_q16, &f.vars.dart.dcqcn.target_q16 },
	  { &f.vars.dart.dcqcn.flags, sizeof(f.vars.dart.dcqcn.flags), QUELL_DCQCN_F_LOSS } },
	{ "timely", &quell_timely_core, NULL, RATE_BYTES_PS, { &f.vars.timely.rate_q16 },
	  { &f.vars.timely.flags, sizeof(f.vars.timely.flags), QUELL_TIMELY_F_LOSS } },
	{ "dcqcn", &quell_dcqcn_core, NULL, RATE_BYTES_PS,
	  { &f.vars.dcqcn.rate_q16, &f.vars.dcqcn.target_q16 },
	  { &f.vars.dcqcn.flags, sizeof(f.vars.dcqcn.flags), QUELL_DCQCN_F_LOSS } },
	{ "smartt", &quell_smartt_core, NULL, MSS, { &f.vars.smartt.window_q16 },
	  { &f.vars.smartt.flags, sizeof(f.vars.smartt.flags), QUELL_SMARTT_F_LOSS } },
};

static bool is_lost(const struct row *row)
{
	u32 flags = row->lost.bytes == sizeof(u8) ? *(u8 *)row->lost.at :
		    row->lost.bytes == sizeof(u16) ? *(u16 *)row->lost.at : *(u32 *)row->lost.at;

	return flags & row->lost.bit;
}

static u64 amount_q16(const struct row *row, u64 units)
{
	return units * row->unit << 16;
}

static void begin(const struct row *row)
{
	memset(&f, 0, sizeof(f));
	f.ev = (struct quell_event) {
		.vars = &f.vars, .before = &f.before, .params = f.params, .stats = f.stats,
		.undo = &f.undo,
		.sample = {
			.now_ns = START_NS, .min_rtt_ns = RTT_NS, .link_bytes_ps = LINK_BYTES_PS,
			.mss_bytes = MSS, .other_flows = 1,
			.flags = QUELL_S_ECN | QUELL_S_TELEMETRY,
		},
	};
	quell_core_params_default(row->core, f.params);
	row->core->init(&f.ev);
	if (row->start)
		row->start();
	for (size_t i = 0; i < ARRAY_SIZE(row->amount); i++)
		if (row->amount[i])
			*row->amount[i] = amount_q16(row, SEGMENTS);
	f.ev.sample = (struct quell_sample) {
		.now_ns = START_NS + 10 * RTT_NS, .min_rtt_ns = RTT_NS,
		.link_bytes_ps = LINK_BYTES_PS, .mss_bytes = MSS,
		.inflight_bytes = SEGMENTS * MSS, .hops = 1,
	};
}

/* ->on_loss or ->on_rto, with its record. */
static void lose(const struct row *row, void (*event)(struct quell_event *ev))
{
	f.before = f.vars;
	event(&f.ev);
	row->core->undo_note(&f.ev);
}

/* Whether all quantities are @segments segments, to 2^-16 byte. */
static bool all_are(const struct row *row, u64 segments)
{
	return *row->amount[0] == amount_q16(row, segments) &&
	       (!row->amount[1] || *row->amount[1] == amount_q16(row, segments));
}

static bool all_below(const struct row *row, u64 segments)
{
	return *row->amount[0] < amount_q16(row, segments) &&
	       (!row->amount[1] || *row->amount[1] < amount_q16(row, segments));
}

static void test_core(struct __test_metadata *_metadata, const struct row *row)
{
	const struct quell_core *core = row->core;
	bool cut;

	begin(row);
	expect(core->params_bytes <= sizeof(f.params) && core->counters_bytes <= sizeof(f.stats),
	       "%s_fits", row->name);
	lose(row, core->on_loss);
	cut = all_below(row, SEGMENTS) && is_lost(row);
	f.ev.sample.now_ns += RTT_NS;
	core->on_undo(&f.ev);
	expect(cut && all_are(row, SEGMENTS) && !is_lost(row), "%s_loss", row->name);

	begin(row);
	lose(row, core->on_rto);
	lose(row, core->on_rto);
	cut = all_below(row, SEGMENTS);
	core->on_undo(&f.ev);
	expect(cut && all_are(row, SEGMENTS), "%s_timeouts", row->name);

	begin(row);
	lose(row, core->on_loss);
	*row->amount[0] -= amount_q16(row, 2);
	if (row->amount[1])
		*row->amount[1] -= amount_q16(row, 2);
	core->on_undo(&f.ev);
	expect(all_are(row, SEGMENTS - 2), "%s_own_cuts_stand", row->name);

	begin(row);
	lose(row, core->on_loss);
	f.undo = (struct quell_undo) {};
	lose(row, core->on_loss);
	core->on_undo(&f.ev);
	expect(is_lost(row), "%s_earlier_loss_stays", row->name);
}

/* The same for Reno's window of a core that is a rate, after an earlier loss. */
static bool reno_is_undone(const struct row *row, u64 *window_q16)
{
	const u64 before_q16 = (u64)(SEGMENTS / 4) * MSS << 16;
	bool cut;

	begin(row);
	lose(row, row->core->on_loss);
	f.undo = (struct quell_undo) {};
	*window_q16 = before_q16;
	f.ev.sample.inflight_bytes = SEGMENTS / 4 * MSS;
	lose(row, row->core->on_loss);
	cut = f.ev.decision.window_q16 < before_q16;
	row->core->on_undo(&f.ev);
	return cut && f.ev.decision.window_q16 == before_q16;
}

TEST(reno)
{
	expect(reno_is_undone(&rows[ARRAY_SIZE(rows) - 3], &f.vars.timely.window_q16), "timely");
	expect(reno_is_undone(&rows[ARRAY_SIZE(rows) - 2], &f.vars.dcqcn.reno_q16), "dcqcn");
}

TEST(each_core)
{
	for_each_row(row, rows)
		test_core(_metadata, row);
}

TEST_HARNESS_MAIN
