// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of <quell/core/vaisf/react.h> and <quell/core/swift_vaisf/react.h>, by tables
 * of cases.  The expected numbers were derived by hand from the paper's algorithms,
 * not from the code.
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
#define STEP_BYTES	25ULL
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

/* Algorithm 2. */
TEST(increase)
{
	static const struct {
		const char *name;
		u64 bank, dampener_q16, want_q16, want_left;
	} rows[] = {
		{ "no_token", 0, 0, 1 << 16, 0 },
		{ "no_token_damped", 0, 8 << 16, 1 << 16, 0 },
		{ "few_tokens", 7, 0, 7 << 16, 0 },
		{ "at_ai_cap", 100, 0, 100 << 16, 0 },
		{ "above_ai_cap", 250, 0, 100 << 16, 150 },
		{ "halved", 250, 8 << 16, 50 << 16, 150 },
		/* 100 / (1 / 8 + 1) = 88.888 */
		{ "damped_a_little", 250, 1 << 16, 5825422, 150 },
		{ "damped_to_1", 3, 24 << 16, 1 << 16, 0 },
	};
	struct fixture f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		fixture_start(&f, RTT_NS);
		f.v.vaisf.bank_tokens = rows[i].bank;
		f.v.vaisf.dampener_q16 = rows[i].dampener_q16;
		expect_eq(rows[i].want_q16,
			  quell_vaisf_increase_q16(&f.v.vaisf, &f.p.vaisf, QUELL_Q16_ONE), "%s",
			  rows[i].name);
		f.v.vaisf.sampled_pkts = 9;
		expect(quell_vaisf_adjusted(&f.v.vaisf, &f.p.vaisf, i & 1) ==
				       rows[i].bank - rows[i].want_left &&
			       f.v.vaisf.bank_tokens == rows[i].want_left &&
			       f.v.vaisf.sampled_pkts == (i & 1 ? 0 : 9),
		       "%s", rows[i].name);
	}
}

/* Counting packets and round trips. */
TEST(observe)
{
	static const struct {
		const char *name;
		u32 round_bytes, acked_bytes, inflight_bytes, want_round_bytes;
		bool want_finished;
	} rows[] = {
		{ "within", 5000, 1000, 9000, 4000, false },
		{ "last_of_it", 1000, 1000, 9000, 0, false },
		{ "first_beyond", 0, 1000, 9000, 8000, true },
		{ "merged_ack_beyond", 1000, 3000, 9000, 6000, true },
		{ "nothing_acked", 0, 0, 9000, 0, false },
		{ "more_acked_than_in_flight", 0, 9000, 1000, 0, true },
	};
	struct fixture f;

	for_each_row(row, rows) {
		fixture_start(&f, RTT_NS);
		f.v.round_bytes = row->round_bytes;
		f.s.acked_bytes = row->acked_bytes;
		f.s.inflight_bytes = row->inflight_bytes;
		expect(quell_swift_vaisf_count_round(&f.v, &f.s) == row->want_finished &&
			       f.v.round_bytes == row->want_round_bytes,
		       "%s", row->name);
	}
	fixture_start(&f, RTT_NS);
	f.s.acked_pkts = 45;
	quell_vaisf_observe(&f.v.vaisf, &f.s, 9000);
	quell_vaisf_observe(&f.v.vaisf, &f.s, 8000);
	expect(f.v.vaisf.sampled_pkts == 90 && f.v.vaisf.measured == 9000, "packets_and_maximum");
	f.s.acked_pkts = 0xffffffff;
	quell_vaisf_observe(&f.v.vaisf, &f.s, QUELL_U64_MAX);
	expect(f.v.vaisf.sampled_pkts == 0xffff && f.v.vaisf.measured == 0xffffffff, "saturates");
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

/* The example of section V-B: the window falls from the reference, not from itself. */
TEST(reference)
{
	struct fixture f;
	int i;

	fixture_start(&f, RTT_NS);
	f.v.round_bytes = 1 << 30;
	for (i = 1; i < 30; i++)
		fixture_ack(&f, 14000);
	expect(f.out.window_q16 >> 16 == 30025 && f.v.swift.window_q16 == q16(40000),
	       "quell_swift_vaisf_on_ack__29_packets_leave_the_reference");
	fixture_ack(&f, 14000);
	expect(f.out.window_q16 >> 16 == 30025 && f.v.swift.window_q16 >> 16 == 30025,
	       "quell_swift_vaisf_on_ack__30th_packet_commits");
	fixture_ack(&f, 14000);
	expect_eq(22543, f.out.window_q16 >> 16, "next_from_the_new_reference");
	expect(f.st.swift.decreases == 1 && f.st.swift.increases == 0, "once_per_sampling_period");
}

/* Which ACK lowers the reference: after 30 packets, or with a finished round trip. */
TEST(sampling_rtt)
{
	static const struct {
		const char *name;
		u32 sampled_pkts;
		bool or_round, finishes, app_limited, want_decrease;
	} rows[] = {
		{ "off_round", 0, false, true, false, false },
		{ "off_packets", 29, false, false, false, true },
		{ "within", 28, true, false, false, false },
		{ "packets", 29, true, false, false, true },
		{ "round", 0, true, true, false, true },
		{ "round_app_limited", 0, true, true, true, true },
		{ "both", 29, true, true, false, true },
	};
	struct fixture f;

	for_each_row(row, rows) {
		fixture_start(&f, RTT_NS);
		f.p.vaisf.sampling_rtt = row->or_round;
		f.v.vaisf.sampled_pkts = row->sampled_pkts;
		f.v.round_bytes = row->finishes ? 0 : 40000;
		f.s.flags = row->app_limited ? QUELL_S_APP_LIMITED : 0;
		fixture_ack(&f, 14000);
		expect((f.v.swift.window_q16 < q16(40000)) == row->want_decrease &&
			       f.st.swift.decreases == row->want_decrease &&
			       f.st.swift.held == !row->want_decrease &&
			       (f.v.vaisf.sampled_pkts == 0) == row->want_decrease,
		       "sampling_rtt_%s", row->name);
	}
	fixture_start(&f, RTT_NS);
	f.v.round_bytes = 1000;
	quell_swift_vaisf_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(1000, f.v.round_bytes, "leaves_the_round_trip");
	f.p.vaisf.sampling_rtt = 1;
	quell_swift_vaisf_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(40000, f.v.round_bytes, "sampling_rtt_begins_a_round_trip");
}

/* A delay above the threshold earns tokens at the end of the round trip, spent at once. */
TEST(earning)
{
	struct fixture f;

	fixture_start(&f, RTT_NS);
	fixture_ack(&f, 13000);
	expect_eq(0, f.v.vaisf.bank_tokens, "earns_at_the_end_only");
	f.s.acked_bytes = 40000;
	fixture_ack(&f, 4000);
	/* 300 tokens for 9 us; dampener 13 / 11; 100 / (13 / 88 + 1) * 25 = 2178.2 */
	expect(f.v.vaisf.bank_tokens == 200 && f.st.spent == 100 && f.st.earned == 1,
	       "earned_and_spent");
	expect_eq(42178, f.v.swift.window_q16 >> 16, "damped_increase");
}

/* Limits of window and reference; pacing below one segment. */
TEST(limits)
{
	struct fixture f;

	fixture_start(&f, RTT_NS);
	f.v.swift.window_q16 = q16(1000);
	fixture_ack(&f, 14000);
	/* 775 bytes per 14 us */
	expect(f.out.window_q16 == q16(775) && f.out.pacing_bytes_ps == 55357142,
	       "paced_below_a_segment");
	expect(f.v.swift.window_q16 == q16(1000), "reference_not_paced");
	fixture_start(&f, RTT_NS);
	f.p.swift.max_window_bytes = 65536;
	f.v.swift.window_q16 = q16(70000);
	fixture_ack(&f, 4000);
	expect(f.out.window_q16 == q16(65536) && f.v.swift.window_q16 == q16(65536),
	       "largest_window");
	fixture_start(&f, RTT_NS);
	f.v.swift.window_q16 = QUELL_U64_MAX;
	fixture_ack(&f, 4000);
	expect_eq(q16(QUELL_SWIFT_MAX_WINDOW_BYTES_DEFAULT), f.out.window_q16, "saturates");
}

/* Without any delay: Reno without slow start. */
TEST(blind)
{
	struct fixture f;

	fixture_start(&f, 0);
	f.v.vaisf.bank_tokens = 1000;
	fixture_ack(&f, 0);
	expect_eq(q16(40000), f.out.window_q16, "blind_within_round");
	f.s.acked_bytes = 40000;
	fixture_ack(&f, 0);
	expect_eq(q16(41000), f.out.window_q16, "blind_adds_a_segment");
	quell_swift_vaisf_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(q16(20500), f.out.window_q16, "blind_halves");
	quell_swift_vaisf_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(q16(1000), f.out.window_q16, "blind_one_segment");
}

static bool vaisf_is_new(const struct fixture *f)
{
	static const struct quell_vaisf_vars none;

	return !memcmp(&f->v.vaisf, &none, sizeof(none));
}

TEST(loss)
{
	struct fixture f;

	fixture_start(&f, RTT_NS);
	f.v.vaisf.sampled_pkts = 29;
	f.v.vaisf.bank_tokens = 5;
	f.s.rtt_ns = 0;
	quell_swift_vaisf_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.v.swift.window_q16 == q16(20000) && f.out.window_q16 == q16(20000) &&
		       f.st.swift.fast_retx == 1,
	       "takes_half_of_the_reference");
	expect(f.v.vaisf.sampled_pkts == 0 && f.v.vaisf.bank_tokens == 5,
	       "begins_a_sampling_period");
	f.s.now_ns += RTT_NS - 1;
	fixture_ack(&f, 4000);
	expect(f.v.swift.flags & QUELL_SWIFT_F_LOSS, "loss_remembered_for_a_round_trip");
	f.s.now_ns++;
	fixture_ack(&f, TARGET_NS);
	expect(f.v.swift.flags & QUELL_SWIFT_F_LOSS, "loss_remembered_in_congestion");
	fixture_ack(&f, 4000);
	expect(!(f.v.swift.flags & QUELL_SWIFT_F_LOSS), "loss_past_after_a_clean_round_trip");
	f.v.vaisf.bank_tokens = 5;
	f.v.vaisf.dampener_q16 = 1;
	quell_swift_vaisf_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.st.swift.rtos == 1 && f.v.swift.rtos == 1 && vaisf_is_new(&f), "forgets_tokens");
	fixture_ack(&f, 4000);
	expect_eq(0, f.v.swift.rtos, "ends_row_of_timeouts");
}

TEST(idle)
{
	static const struct {
		const char *name;
		u64 restart_idle_ns, idle_ns;
		bool want_restart;
	} rows[] = {
		{ "long_enough", 1000000, 1000000, true },
		{ "too_short", 1000000, 999999, false },
		{ "switched_off", 0, 1000000000, false },
	};
	struct fixture f;

	for_each_row(row, rows) {
		fixture_start(&f, RTT_NS);
		f.p.swift.restart_idle_ns = row->restart_idle_ns;
		f.v.vaisf.bank_tokens = 5;
		f.s.idle_ns = row->idle_ns;
		quell_swift_vaisf_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
		/* 4000 ns * 12.5 B/ns / 1090 B = 45.9 packets, and one more */
		expect(f.out.window_q16 == q16(row->want_restart ? 47000 : 40000) &&
			       f.v.swift.window_q16 == f.out.window_q16 &&
			       vaisf_is_new(&f) == row->want_restart,
		       "%s", row->name);
	}
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

TEST_HARNESS_MAIN
