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

/* State for all flows; each core uses its own. */
static struct {
	struct quell_swift_params swift_params;
	struct quell_swift_split_vars swift_split, swift_split_before;
	struct quell_swift_split_stats swift_split_stats;
	struct quell_swift_vaisf_params swift_vaisf_params;
	struct quell_swift_vaisf_vars swift_vaisf, swift_vaisf_before;
	struct quell_swift_vaisf_stats swift_vaisf_stats;
	struct quell_hpcc_params hpcc_params;
	struct quell_hpcc_vars hpcc, hpcc_before;
	struct quell_hpcc_stats hpcc_stats;
	struct quell_hpcc_vaisf_params hpcc_vaisf_params;
	struct quell_hpcc_vaisf_vars hpcc_vaisf, hpcc_vaisf_before;
	struct quell_hpcc_vaisf_stats hpcc_vaisf_stats;
	struct quell_timely_params timely_params;
	struct quell_timely_vars timely, timely_before;
	struct quell_timely_stats timely_stats;
	struct quell_dcqcn_params dcqcn_params;
	struct quell_dcqcn_vars dcqcn, dcqcn_before;
	struct quell_dcqcn_stats dcqcn_stats;
	struct quell_dart_params dart_params;
	struct quell_dart_vars dart, dart_before;
	struct quell_dart_stats dart_stats;
	struct quell_smartt_params smartt_params;
	struct quell_smartt_vars smartt, smartt_before;
	struct quell_smartt_stats smartt_stats;
	struct quell_sample s;
	struct quell_decision out;
	struct quell_undo undo;
} f;

/* Two events and the undo of both; @NAME is a core of its own parameters. */
#define ADAPTER(NAME, PARAMS)						\
static void NAME##_loss(void)						\
{									\
	f.NAME##_before = f.NAME;					\
	quell_##NAME##_on_loss(&f.NAME, &f.PARAMS, &f.NAME##_stats, &f.s, &f.out); \
	quell_##NAME##_undo_note(&f.undo, &f.NAME##_before, &f.NAME);	\
}									\
									\
static void NAME##_rto(void)						\
{									\
	f.NAME##_before = f.NAME;					\
	quell_##NAME##_on_rto(&f.NAME, &f.PARAMS, &f.NAME##_stats, &f.s, &f.out); \
	quell_##NAME##_undo_note(&f.undo, &f.NAME##_before, &f.NAME);	\
}									\
									\
static void NAME##_undo(void)						\
{									\
	quell_##NAME##_on_undo(&f.NAME, &f.PARAMS, &f.s, &f.undo, &f.out); \
}

ADAPTER(swift_split, swift_params)
ADAPTER(swift_vaisf, swift_vaisf_params)
ADAPTER(hpcc, hpcc_params)
ADAPTER(hpcc_vaisf, hpcc_vaisf_params)
ADAPTER(timely, timely_params)
ADAPTER(dcqcn, dcqcn_params)
ADAPTER(smartt, smartt_params)

/* The first sample of a flow. */
static const struct quell_sample at_start = {
	.now_ns = START_NS, .min_rtt_ns = RTT_NS, .link_bytes_ps = LINK_BYTES_PS, .mss_bytes = MSS,
	.other_flows = 1, .flags = QUELL_S_ECN | QUELL_S_TELEMETRY,
};

static void swift_split_start(void)
{
	quell_core_params_default(&quell_swift_core, &f.swift_params);
	quell_swift_split_init(&f.swift_split, &f.swift_params, &at_start, &f.out);
	f.swift_split.fabric.flags |= QUELL_SWIFT_SPLIT_F_HOST;
}

/* The same as above, without a window for the host. */
static void swift_alone_start(void)
{
	swift_split_start();
	f.swift_split.fabric.flags &= ~QUELL_SWIFT_SPLIT_F_HOST;
}

static void swift_vaisf_start(void)
{
	quell_core_params_default(&quell_swift_vaisf_core, &f.swift_vaisf_params);
	quell_swift_vaisf_init(&f.swift_vaisf, &f.swift_vaisf_params, &at_start, &f.out);
}

static void hpcc_start(void)
{
	quell_core_params_default(&quell_hpcc_core, &f.hpcc_params);
	quell_hpcc_init(&f.hpcc, &f.hpcc_params, &at_start, &f.out);
	f.hpcc.hop = 1;
}

static void hpcc_vaisf_start(void)
{
	quell_core_params_default(&quell_hpcc_vaisf_core, &f.hpcc_vaisf_params);
	quell_hpcc_vaisf_init(&f.hpcc_vaisf, &f.hpcc_vaisf_params, &at_start, &f.out);
	f.hpcc_vaisf.hpcc.hop = 1;
}

static void timely_start(void)
{
	quell_core_params_default(&quell_timely_core, &f.timely_params);
	quell_timely_init(&f.timely, &f.timely_params, &at_start, &f.out);
}

static void dcqcn_start(void)
{
	quell_core_params_default(&quell_dcqcn_core, &f.dcqcn_params);
	quell_dcqcn_init(&f.dcqcn, &f.dcqcn_params, &at_start, &f.out);
}

/* Dart's events are DCQCN's, and then its share applies: they are called as a core's. */
static void dart_event(void (*event)(struct quell_event *ev))
{
	struct quell_event ev = {
		.vars = &f.dart, .params = &f.dart_params, .stats = &f.dart_stats, .sample = f.s,
		.before = &f.dart_before, .undo = &f.undo,
	};

	event(&ev);
}

static void dart_start(void)
{
	quell_core_params_default(&quell_dart_core, &f.dart_params);
	f.s = (struct quell_sample) {
		.now_ns = START_NS, .min_rtt_ns = RTT_NS, .link_bytes_ps = LINK_BYTES_PS,
		.mss_bytes = MSS, .flags = QUELL_S_ECN,
	};
	dart_event(quell_dart_core.init);
}

static void dart_loss(void)
{
	f.dart_before = f.dart;
	dart_event(quell_dart_core.on_loss);
	dart_event(quell_dart_core.undo_note);
}

static void dart_rto(void)
{
	f.dart_before = f.dart;
	dart_event(quell_dart_core.on_rto);
	dart_event(quell_dart_core.undo_note);
}

static void dart_undo(void)
{
	dart_event(quell_dart_core.on_undo);
}

static void smartt_start(void)
{
	quell_core_params_default(&quell_smartt_core, &f.smartt_params);
	quell_smartt_init(&f.smartt, &f.smartt_params, &at_start, &f.out);
}

/* Each quantity of a core that a loss reduces: undo must restore all of them. */
static const struct core {
	const char *name;
	void (*start)(void), (*loss)(void), (*rto)(void), (*undo)(void);
	u64 unit;	/* of an amount: a segment, or so many bytes per second */
	u64 *amount[3];
	void *flags;
	size_t flags_bytes;
	u32 lost;
} cores[] = {
	{ "swift", swift_alone_start, swift_split_loss, swift_split_rto, swift_split_undo, MSS,
	  { &f.swift_split.fabric.window_q16 },
	  &f.swift_split.fabric.flags, sizeof(u16), QUELL_SWIFT_F_LOSS },
	{ "swift_split", swift_split_start, swift_split_loss, swift_split_rto, swift_split_undo, MSS,
	  { &f.swift_split.fabric.window_q16, &f.swift_split.host_window_q16 },
	  &f.swift_split.fabric.flags, sizeof(u16), QUELL_SWIFT_F_LOSS },
	{ "swift_vaisf", swift_vaisf_start, swift_vaisf_loss, swift_vaisf_rto, swift_vaisf_undo, MSS,
	  { &f.swift_vaisf.swift.window_q16 },
	  &f.swift_vaisf.swift.flags, sizeof(u16), QUELL_SWIFT_F_LOSS },
	{ "hpcc", hpcc_start, hpcc_loss, hpcc_rto, hpcc_undo, MSS, { &f.hpcc.window_q16 },
	  &f.hpcc.flags, sizeof(u8), QUELL_HPCC_F_LOSS },
	{ "hpcc_vaisf", hpcc_vaisf_start, hpcc_vaisf_loss, hpcc_vaisf_rto, hpcc_vaisf_undo, MSS,
	  { &f.hpcc_vaisf.hpcc.window_q16 },
	  &f.hpcc_vaisf.hpcc.flags, sizeof(u8), QUELL_HPCC_F_LOSS },
	{ "dart", dart_start, dart_loss, dart_rto, dart_undo, RATE_BYTES_PS,
	  { &f.dart.dcqcn.rate_q16, &f.dart.dcqcn.target_q16 },
	  &f.dart.dcqcn.flags, sizeof(u32), QUELL_DCQCN_F_LOSS },
	{ "timely", timely_start, timely_loss, timely_rto, timely_undo, RATE_BYTES_PS,
	  { &f.timely.rate_q16 },
	  &f.timely.flags, sizeof(u8), QUELL_TIMELY_F_LOSS },
	{ "dcqcn", dcqcn_start, dcqcn_loss, dcqcn_rto, dcqcn_undo, RATE_BYTES_PS,
	  { &f.dcqcn.rate_q16, &f.dcqcn.target_q16 },
	  &f.dcqcn.flags, sizeof(u32), QUELL_DCQCN_F_LOSS },
	{ "smartt", smartt_start, smartt_loss, smartt_rto, smartt_undo, MSS,
	  { &f.smartt.window_q16 },
	  &f.smartt.flags, sizeof(u8), QUELL_SMARTT_F_LOSS },
};

static u64 amount_q16(const struct core *core, u64 units)
{
	return units * core->unit << 16;
}

static u32 flags_of(const struct core *core)
{
	switch (core->flags_bytes) {
	case sizeof(u8):
		return *(u8 *)core->flags;
	case sizeof(u16):
		return *(u16 *)core->flags;
	default:
		return *(u32 *)core->flags;
	}
}

static void set_lost(const struct core *core)
{
	switch (core->flags_bytes) {
	case sizeof(u8):
		*(u8 *)core->flags |= core->lost;
		break;
	case sizeof(u16):
		*(u16 *)core->flags |= core->lost;
		break;
	default:
		*(u32 *)core->flags |= core->lost;
	}
}

static void begin(const struct core *core)
{
	size_t i;

	memset(&f, 0, sizeof(f));
	core->start();
	for (i = 0; i < ARRAY_SIZE(core->amount); i++)
		if (core->amount[i])
			*core->amount[i] = amount_q16(core, SEGMENTS);
	f.s.now_ns = START_NS + 10 * RTT_NS;
	f.s.min_rtt_ns = RTT_NS;
	f.s.link_bytes_ps = LINK_BYTES_PS;
	f.s.mss_bytes = MSS;
	f.s.inflight_bytes = SEGMENTS * MSS;
	f.s.hops = 1;
}

/* Whether all quantities are @segments segments, to 2^-16 byte. */
static bool all_are(const struct core *core, u64 segments)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(core->amount); i++)
		if (core->amount[i] && *core->amount[i] != amount_q16(core, segments))
			return false;
	return true;
}

static bool all_below(const struct core *core, u64 segments)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(core->amount); i++)
		if (core->amount[i] && *core->amount[i] >= amount_q16(core, segments))
			return false;
	return true;
}

static void test_core(struct __test_metadata *_metadata, const struct core *core)
{
	size_t i;
	bool cut;
	u64 left[3];

	begin(core);
	core->loss();
	cut = all_below(core, SEGMENTS) && flags_of(core) & core->lost;
	f.s.now_ns += RTT_NS;
	core->undo();
	expect(cut && all_are(core, SEGMENTS) && !(flags_of(core) & core->lost), "%s_loss",
	       core->name);

	begin(core);
	core->rto();
	core->rto();
	cut = all_below(core, SEGMENTS);
	core->undo();
	expect(cut && all_are(core, SEGMENTS), "%s_timeouts", core->name);

	begin(core);
	core->loss();
	for (i = 0; i < ARRAY_SIZE(left); i++) {
		left[i] = core->amount[i] ? *core->amount[i] : 0;
		if (core->amount[i])
			*core->amount[i] -= amount_q16(core, 2);
	}
	core->undo();
	expect(all_are(core, SEGMENTS - 2) && left[0], "%s_own_cuts_stand", core->name);

	/* Reno's windows of the cores that go by a rate, below their bounds. */
	begin(core);
	set_lost(core);
	f.timely.window_q16 = (u64)(SEGMENTS / 4) * MSS << 16;
	f.dcqcn.reno_q16 = f.timely.window_q16;
	f.dart.dcqcn.reno_q16 = f.timely.window_q16;
	core->loss();
	core->undo();
	expect(flags_of(core) & core->lost, "%s_earlier_loss_stays", core->name);
}

/* The same for Reno's windows themselves. */
TEST(reno)
{
	const u64 window_q16 = (u64)(SEGMENTS / 4) * MSS << 16;
	bool cut;

	begin(&cores[ARRAY_SIZE(cores) - 3]);
	f.timely.window_q16 = window_q16;
	f.timely.flags |= QUELL_TIMELY_F_LOSS;
	timely_loss();
	cut = f.out.window_q16 < window_q16;
	timely_undo();
	expect(cut && f.out.window_q16 == window_q16, "timely_window");

	begin(&cores[ARRAY_SIZE(cores) - 2]);
	f.dcqcn.reno_q16 = window_q16;
	f.dcqcn.flags |= QUELL_DCQCN_F_LOSS;
	f.s.inflight_bytes = SEGMENTS / 4 * MSS;
	dcqcn_loss();
	cut = f.out.window_q16 < window_q16;
	dcqcn_undo();
	expect(cut && f.out.window_q16 == window_q16, "dcqcn_window");
}

TEST(each_core)
{

	for_each_row(row, cores)
		test_core(_metadata, row);
}

TEST_HARNESS_MAIN
