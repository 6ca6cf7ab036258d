// SPDX-License-Identifier: GPL-2.0
/*
 * Variable Additive Increase and Sampling Frequency with Swift: tokens, ACKs with their counters
 * and extreme values, by tables of cases derived by hand from the paper's algorithms.  The rest is
 * compared with these (test_swift_vaisf_model.py).
 *
 * The flow: 100 Gbit/s, 4 us of round trip, segments of 1000 bytes, one switch.
 * Then the target is 7 us, the token threshold 11 us, and 50 Mbit/s of additive
 * increase are 25 bytes per round trip.
 */
#include <string.h>

#include <quell/core/swift_vaisf/core.h>

#include "test.h"

#define MSS		1000U
#define LINK_BYTES_PS	12500000000ULL
#define RTT_NS		4000ULL
#define TARGET_NS	7000ULL
#define THRESH_NS	11000ULL
#define START_NS	1000000ULL

/* The first sample of a flow. */
static const struct quell_sample at_start = {
	.now_ns = START_NS, .min_rtt_ns = RTT_NS, .link_bytes_ps = LINK_BYTES_PS, .mss_bytes = MSS,
};

struct fixture {
	struct quell_swift_vaisf_params p;
	struct quell_swift_vaisf_vars v;
	struct quell_swift_vaisf_stats st;
	struct quell_sample s;
	struct quell_decision out;
};

static u64 q16(u64 bytes)
{
	return bytes << 16;
}

/* A flow with a reference of 40000 bytes in the middle of a round trip. */
static void fixture_start(struct fixture *f, u64 min_rtt_ns)
{
	memset(f, 0, sizeof(*f));
	quell_core_params_default(&quell_swift_vaisf_core, &f->p);
	/* Fractions without rounding: half of the excess, at most half. */
	f->p.swift.beta_q16 = 32768;
	f->p.swift.base_target_ns = 5000;
	quell_swift_vaisf_init(&f->v, &f->p, &(struct quell_sample) {
			.now_ns = START_NS, .min_rtt_ns = min_rtt_ns,
			.link_bytes_ps = LINK_BYTES_PS, .mss_bytes = MSS,
		}, &f->out);
	f->v.swift.window_q16 = q16(40000);
	f->v.round_bytes = 40000;
	f->s.now_ns = START_NS;
	f->s.mss_bytes = MSS;
	f->s.acked_bytes = MSS;
	f->s.acked_pkts = 1;
	f->s.inflight_bytes = 40000;
	f->s.hops = 1;
}

static void fixture_ack(struct fixture *f, u64 rtt_ns)
{
	f->s.rtt_ns = rtt_ns;
	quell_swift_vaisf_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
}

/* Algorithm 1, at the end of a round trip. */
TEST(finish_round)
{
	static const struct {
		const char *name;
		u64 measured, bank, dampener_q16, want_bank, want_dampener_q16;
	} rows[] = {
		/* (11001 - 4000) / 30 = 233; dampener += 11001 / 11000 */
		{ "above_threshold", 11001, 0, 0, 233, 65541 },
		{ "at_threshold", 11000, 0, 3 << 16, 0, 3 << 16 },
		{ "at_threshold_with_tokens", 11000, 5, 3 << 16, 5, 3 << 16 },
		/* (22000 - 4000) / 30 = 600, dampener += 2 */
		{ "twice_the_threshold", 22000, 100, 1 << 16, 700, 3 << 16 },
		{ "bank_cap", 22000, 900, 0, 1000, 2 << 16 },
		{ "tokens_saturate", 0xffffffff, 1000, 0xffffffff, 1000, 0xffffffff },
		{ "congested_below_threshold", 10999, 0, 3 << 16, 0, 2 << 16 },
		{ "dampener_stops_at_0", 10999, 0, 100, 0, 0 },
		{ "just_congested", 7001, 0, 3 << 16, 0, 2 << 16 },
		{ "at_target_is_uncongested", 7000, 0, 3 << 16, 0, 0 },
		{ "uncongested", 4000, 0, 3 << 16, 0, 0 },
		{ "uncongested_with_tokens", 4000, 1, 3 << 16, 1, 3 << 16 },
		{ "congested_with_tokens", 9000, 1, 3 << 16, 1, 3 << 16 },
		{ "nothing_measured", 0, 0, 3 << 16, 0, 0 },
	};
	struct fixture f;

	for_each_row(row, rows) {
		fixture_start(&f, RTT_NS);
		f.v.vaisf.measured = row->measured;
		f.v.vaisf.bank_tokens = row->bank;
		f.v.vaisf.dampener_q16 = row->dampener_q16;
		quell_swift_vaisf_finish_round(&f.v, &f.p, &f.st, TARGET_NS);
		expect(f.v.vaisf.bank_tokens == row->want_bank &&
			       f.v.vaisf.dampener_q16 == row->want_dampener_q16 &&
			       f.v.vaisf.measured == 0 && f.st.rounds == 1 &&
			       f.st.earned == (row->measured > THRESH_NS),
		       "%s", row->name);
	}
	fixture_start(&f, RTT_NS);
	f.v.vaisf.measured = 1;
	quell_vaisf_finish_round(&f.v.vaisf, &f.p.vaisf, 0, 7, true);
	expect(f.v.vaisf.bank_tokens == 7 && f.v.vaisf.dampener_q16 == 0xffffffff,
	       "threshold_zero_saturates");
}

enum verdict { HELD, INCREASED, DECREASED, LIMITED };

/* The window after an ACK, and the change of the reference. */
TEST(ack)
{
	static const struct {
		const char *name;
		u64 rtt_ns;
		u32 sampled_pkts, bank;
		bool finishes, app_limited;
		u64 want_window_bytes, want_reference_bytes;
		enum verdict want;
	} rows[] = {
		/* 40000 + 25 */
		{ "uncongested", 4000, 100, 0, false, false, 40025, 40000, HELD },
		{ "uncongested_round", 4000, 0, 0, true, false, 40025, 40025, INCREASED },
		{ "tokens_within_round", 4000, 0, 40, false, false, 41000, 40000, HELD },
		{ "tokens_round", 4000, 0, 40, true, false, 41000, 41000, INCREASED },
		{ "app_limited", 4000, 0, 40, false, true, 40000, 40000, HELD },
		{ "app_limited_round", 4000, 0, 40, true, true, 40000, 40000, LIMITED },
		/* 14000: half of half off, and 25 */
		{ "congested", 14000, 28, 0, false, false, 30025, 40000, HELD },
		{ "congested_at_sampling", 14000, 29, 0, false, false, 30025, 30025, DECREASED },
		{ "congested_app_limited", 14000, 29, 0, false, true, 30000, 30000, DECREASED },
		{ "congested_tokens", 14000, 29, 40, false, false, 31000, 31000, DECREASED },
		/* at the target: no decrease, hence an increase */
		{ "at_target", 7000, 100, 0, false, false, 40025, 40000, HELD },
		{ "at_target_round", 7000, 100, 0, true, false, 40025, 40025, INCREASED },
		/* 7700: 1/22 off = 1818.18, and 100 * 25: a rise in spite of congestion */
		{ "rise_in_congestion", 7700, 100, 100, false, false, 40681, 40000, HELD },
		{ "rise_in_congestion_round", 7700, 100, 100, true, false, 40681, 40681,
		  INCREASED },
		/* no delay: one step of the reference per round trip, no tokens */
		{ "no_delay", 0, 100, 40, false, false, 40000, 40000, HELD },
		{ "no_delay_round", 0, 100, 40, true, false, 40025, 40025, INCREASED },
	};
	struct fixture f;
	bool adjusted;

	for_each_row(row, rows) {
		fixture_start(&f, RTT_NS);
		f.v.vaisf.sampled_pkts = row->sampled_pkts;
		f.v.vaisf.bank_tokens = row->bank;
		f.v.round_bytes = row->finishes ? 0 : 40000;
		f.s.flags = row->app_limited ? QUELL_S_APP_LIMITED : 0;
		fixture_ack(&f, row->rtt_ns);
		expect_eq(row->want_window_bytes, f.out.window_q16 >> 16, "%s_window", row->name);
		expect_eq(row->want_reference_bytes, f.v.swift.window_q16 >> 16, "%s_reference",
			  row->name);
		expect(f.st.swift.held == (row->want == HELD) &&
			       f.st.swift.increases == (row->want == INCREASED) &&
			       f.st.swift.decreases == (row->want == DECREASED) &&
			       f.st.swift.app_limited == (row->want == LIMITED) &&
			       f.st.swift.no_rtt == !row->rtt_ns && f.st.rounds == row->finishes &&
			       f.out.target_ns == TARGET_NS &&
			       (f.v.vaisf.sampled_pkts == 0) == (row->want == DECREASED),
		       "%s_verdict", row->name);
		adjusted = row->want == INCREASED || row->want == DECREASED;
		expect_eq(row->rtt_ns && adjusted ? row->bank : 0, f.st.spent, "%s_spent",
			  row->name);
	}
}

static bool vaisf_is_new(const struct fixture *f)
{
	static const struct quell_vaisf_vars none;

	return !memcmp(&f->v.vaisf, &none, sizeof(none));
}

TEST(init)
{
	struct fixture f;

	fixture_start(&f, RTT_NS);
	memset(&f.v, 0xff, sizeof(f.v));
	quell_swift_vaisf_init(&f.v, &f.p, &at_start, &f.out);
	expect(f.out.window_q16 == q16(47000) && f.v.swift.window_q16 == q16(47000) &&
		       f.out.pacing_bytes_ps == QUELL_RATE_UNLIMITED && vaisf_is_new(&f),
	       "line_rate_start");
}

/* The delay of an earlier round trip is reported once and lowers the reference once. */
TEST(old_delay)
{
	struct fixture f;

	fixture_start(&f, RTT_NS);
	f.s.now_ns = START_NS + 100000;
	f.v.vaisf.sampled_pkts = 100;
	f.s.flags = QUELL_S_RTT_OLD;
	fixture_ack(&f, 100000);
	expect(f.v.swift.window_q16 == q16(40000) && f.st.swift.held == 1, "old_delay_holds");
	f.s.flags = 0;
	fixture_ack(&f, 100000);
	expect(f.v.swift.window_q16 < q16(40000) && f.st.swift.decreases == 1,
	       "a_new_one_does_not");
}

TEST(derive)
{
	struct quell_swift_vaisf_params p;

	/* Like the module's parameter block: zero except for the table's values. */
	quell_core_params_default(&quell_swift_vaisf_core, &p);
	expect(p.swift.fs_range_ns == 0 && p.swift.fs_min_pkts_q16 && p.swift.fs_max_pkts_q16,
	       "completes_a_zero_block");
}

/* Packets and the largest delay of a round trip. */
TEST(saturates)
{
	struct fixture f;

	fixture_start(&f, RTT_NS);
	f.s.acked_pkts = 0xffffffff;
	f.v.vaisf.sampled_pkts = 90;
	quell_vaisf_observe(&f.v.vaisf, &f.s, QUELL_U64_MAX);
	expect(f.v.vaisf.sampled_pkts == 0xffff && f.v.vaisf.measured == 0xffffffff, "observe");
	f.v.swift.window_q16 = QUELL_U64_MAX;
	fixture_ack(&f, 4000);
	expect_eq(q16(QUELL_SWIFT_MAX_WINDOW_BYTES_DEFAULT), f.out.window_q16, "window");
}

TEST_HARNESS_MAIN
