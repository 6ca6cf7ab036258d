// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC with VAI and SF: tokens and ACKs with their counters, by tables of cases derived by hand
 * from the paper's algorithms.  The rest is compared with these (test_hpcc_vaisf_model.py).
 */
#include <quell/core/hpcc_vaisf/core.h>

#include "hpcc_fixture.h"
#include "test.h"

struct fixture {
	struct quell_hpcc_vaisf_params p;
	struct quell_hpcc_vaisf_vars v;
	struct quell_hpcc_vaisf_stats st;
	struct quell_sample s;
	struct quell_decision out;
};

/* A new flow; eta is 0.75, so that fractions are exact. */
static void fixture_init(struct fixture *f, bool telemetry)
{
	memset(f, 0, sizeof(*f));
	quell_core_params_default(&quell_hpcc_vaisf_core, &f->p);
	f->p.hpcc.eta_q16 = 49152;
	sample_start(&f->s);
	f->s.flags = telemetry ? QUELL_S_TELEMETRY : 0;
	quell_hpcc_vaisf_init(&f->v, &f->p, &f->s, &f->out);
}

static void fixture_ack(struct fixture *f)
{
	quell_hpcc_vaisf_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
}

/* A flow in the middle of a round trip with a reference of 20000 bytes and a record. */
static void fixture_start(struct fixture *f)
{
	fixture_init(f, true);
	fixture_ack(f);
	f->v.hpcc.window_q16 = q16(20000);
	f->v.hpcc.round_bytes = 20000;
	f->v.vaisf.sampled_pkts = 0;
	memset(&f->st, 0, sizeof(f->st));
}

/* An ACK that makes U @percent / 100. */
static void fixture_util(struct fixture *f, u32 percent)
{
	sample_util(&f->s, percent);
	f->v.hpcc.queue_bytes = f->s.telemetry.queue_bytes;
	fixture_ack(f);
}

static void fixture_end_round(struct fixture *f)
{
	f->v.hpcc.round_bytes = 0;
}

/* Algorithm 1, at the end of a round trip. */
TEST(finish_round)
{
	static const struct {
		const char *name;
		u32 measured, bank, dampener_q16;
		bool congested;
		u32 want_bank, want_dampener_q16;
	} cases[] = {
		/* 50001 / 1000; dampener += 50001 / 50000 */
		{ "above_threshold", 50001, 0, 0, true, 50, 65537 },
		{ "at_threshold", 50000, 0, 3 << 16, true, 0, 3 << 16 },
		{ "twice_the_threshold", 100000, 100, 1 << 16, true, 200, 3 << 16 },
		{ "bank_cap", 100000, 950, 0, true, 1000, 2 << 16 },
		{ "congested_below_threshold", 49999, 0, 3 << 16, true, 0, 2 << 16 },
		/* a queue, and yet U below eta throughout */
		{ "uncongested_below_threshold", 49999, 0, 3 << 16, false, 0, 0 },
		{ "uncongested_with_tokens", 0, 1, 3 << 16, false, 1, 3 << 16 },
		{ "nothing_measured", 0, 0, 3 << 16, false, 0, 0 },
	};
	struct fixture f;

	for_each_row(row, cases) {
		fixture_start(&f);
		f.v.vaisf.measured = row->measured;
		f.v.vaisf.bank_tokens = row->bank;
		f.v.vaisf.dampener_q16 = row->dampener_q16;
		f.v.hpcc.flags = row->congested ? QUELL_HPCC_F_CONGESTED : 0;
		quell_hpcc_vaisf_finish_round(&f.v, &f.p, &f.st);
		expect(f.v.vaisf.bank_tokens == row->want_bank &&
			       f.v.vaisf.dampener_q16 == row->want_dampener_q16 &&
			       f.v.vaisf.measured == 0 && f.st.rounds == 1 &&
			       f.st.earned == (row->measured > 50000),
		       "%s", row->name);
	}
}

enum verdict { HELD, LOWERED, RAISED, LIMITED, NOTHING };

/* The window after an ACK, and the changes of the reference and the stage. */
TEST(ack)
{
	static const struct {
		const char *name;
		u32 percent, sampled_pkts, bank;
		u8 stage;
		bool finishes, app_limited;
		u64 want_window, want_reference;
		u8 want_stage;
		enum verdict want;
	} cases[] = {
		/* 20000 * 0.75 / 1 + 25, the 29th and the 30th packet */
		{ "above_eta", 100, 28, 0, 2, false, false, 15025, 20000, 2, HELD },
		{ "above_eta_at_sampling", 100, 29, 0, 2, false, false, 15025, 15025, 0,
		  LOWERED },
		{ "above_eta_round", 100, 28, 0, 2, true, false, 15025, 20000, 2, HELD },
		{ "above_eta_round_at_sampling", 100, 29, 0, 2, true, false, 15025, 15025, 0,
		  LOWERED },
		{ "above_eta_tokens", 100, 29, 40, 2, false, false, 16000, 16000, 0, LOWERED },
		{ "above_eta_app_limited", 100, 29, 0, 2, false, true, 15025, 15025, 0,
		  LOWERED },
		{ "below_eta", 50, 100, 0, 0, false, false, 20025, 20000, 0, NOTHING },
		{ "below_eta_round", 50, 100, 0, 0, true, false, 20025, 20025, 1, RAISED },
		{ "below_eta_tokens", 50, 100, 40, 0, false, false, 21000, 20000, 0, NOTHING },
		{ "below_eta_tokens_round", 50, 100, 40, 0, true, false, 21000, 21000, 1,
		  RAISED },
		{ "ai_cap", 50, 0, 250, 0, true, false, 22500, 22500, 1, RAISED },
		{ "max_stage_round", 50, 0, 0, 5, true, false, 30025, 30025, 0, RAISED },
		{ "app_limited", 50, 100, 40, 0, false, true, 20000, 20000, 0, NOTHING },
		{ "app_limited_round", 50, 100, 40, 0, true, true, 20000, 20000, 0, LIMITED },
		/* 20000 * 0.75 / 0.8 = 18750, and 60 * 25: a rise in spite of congestion */
		{ "rise_in_congestion", 80, 100, 60, 2, false, false, 20250, 20000, 2, NOTHING },
		{ "rise_in_congestion_round", 80, 100, 60, 2, true, false, 20250, 20250, 0,
		  RAISED },
	};
	struct fixture f;

	for_each_row(row, cases) {
		bool moved = row->want == LOWERED || row->want == RAISED;
		u32 cost = row->bank < 100 ? row->bank : 100;

		fixture_start(&f);
		f.v.hpcc.stage = row->stage;
		f.v.vaisf.sampled_pkts = row->sampled_pkts;
		f.v.vaisf.bank_tokens = row->bank;
		if (row->finishes)
			fixture_end_round(&f);
		f.s.flags = row->app_limited ? QUELL_S_APP_LIMITED : 0;
		fixture_util(&f, row->percent);
		/* 0.8 is not a multiple of 2^-24: compare without the fraction of a byte. */
		expect_eq(row->want_window, f.out.window_q16 >> 16, "%s_window", row->name);
		expect_eq(row->want_reference, f.v.hpcc.window_q16 >> 16, "%s_reference",
			  row->name);
		expect(f.v.hpcc.stage == row->want_stage && f.st.held == (row->want == HELD) &&
			       f.st.hpcc.decreases == (row->want == LOWERED) &&
			       f.st.hpcc.increases == (row->want == RAISED) &&
			       f.st.hpcc.app_limited == (row->want == LIMITED) &&
			       f.st.rounds == row->finishes && !f.st.hpcc.blind &&
			       (f.v.vaisf.sampled_pkts == 0) == (row->want == LOWERED),
		       "%s_verdict", row->name);
		expect(f.st.spent == (moved ? cost : 0) &&
			       f.v.vaisf.bank_tokens == row->bank - f.st.spent,
		       "%s_spent", row->name);
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

	fixture_start(&f);
	memset(&f.v, 0xff, sizeof(f.v));
	quell_hpcc_vaisf_init(&f.v, &f.p, &f.s, &f.out);
	expect(f.out.window_q16 == q16(LINE_BYTES) && f.v.hpcc.window_q16 == q16(LINE_BYTES) &&
		       f.out.pacing_bytes_ps == 11750000000 && vaisf_is_new(&f),
	       "line_rate_start");
}

TEST_HARNESS_MAIN
