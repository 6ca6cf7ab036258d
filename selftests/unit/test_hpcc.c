// SPDX-License-Identifier: GPL-2.0
/*
 * HPCC: start, records, counters and extreme values, by tables of cases derived by hand from the
 * equations.  The rest is compared with these (test_hpcc_model.py); together they take every branch.
 */
#include <quell/core/hpcc/core.h>

#include "hpcc_fixture.h"
#include "test.h"

struct fixture {
	struct quell_hpcc_params p;
	struct quell_hpcc_vars v;
	struct quell_hpcc_stats st;
	struct quell_sample s;
	struct quell_decision out;
};

/* A new flow; eta is 0.75, so that fractions are exact. */
static void fixture_init(struct fixture *f, bool telemetry)
{
	memset(f, 0, sizeof(*f));
	quell_core_params_default(&quell_hpcc_core, &f->p);
	f->p.eta_q16 = 49152;
	sample_start(&f->s);
	f->s.flags = telemetry ? QUELL_S_TELEMETRY : 0;
	quell_hpcc_init(&f->v, &f->p, &f->s, &f->out);
}

/* A flow in the middle of a round trip with a reference of 20000 bytes and a record. */
static void fixture_start(struct fixture *f)
{
	fixture_init(f, true);
	quell_hpcc_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
	f->v.window_q16 = q16(20000);
	f->v.round_bytes = 20000;
	memset(&f->st, 0, sizeof(f->st));
}

static void fixture_ack(struct fixture *f)
{
	quell_hpcc_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
}

/* An ACK that makes U @percent / 100. */
static void fixture_util(struct fixture *f, u32 percent)
{
	sample_util(&f->s, percent);
	f->v.queue_bytes = f->s.telemetry.queue_bytes;
	fixture_ack(f);
}

TEST(init)
{
	static const struct {
		const char *name;
		bool telemetry;
		u64 link_bytes_ps, min_rtt_ns, init_window_bytes, want_window, want_rate;
		u32 mss_bytes;
	} cases[] = {
		/* 50000 / 1090 = 45.9, and one more; per 4 us */
		{ "line_rate", true, LINK_BYTES_PS, RTT_NS, 0, 47000, 11750000000, MSS },
		{ "init_window", true, LINK_BYTES_PS, RTT_NS, 30000, 30000, 7500000000, MSS },
		{ "not_above_line_rate", true, LINK_BYTES_PS, RTT_NS, 60000, 47000,
		  11750000000, MSS },
		{ "no_link", true, 0, RTT_NS, 0, 10000, 2500000000, MSS },
		{ "no_rtt", true, LINK_BYTES_PS, 0, 0, 10000, QUELL_RATE_UNLIMITED, MSS },
		{ "no_mss", true, 0, 0, 0, 10, QUELL_RATE_UNLIMITED, 0 },
		{ "no_telemetry", false, LINK_BYTES_PS, RTT_NS, 0, 10000,
		  QUELL_RATE_UNLIMITED, MSS },
		{ "no_telemetry_init_window", false, LINK_BYTES_PS, RTT_NS, 30000, 30000,
		  QUELL_RATE_UNLIMITED, MSS },
		/* the largest window, 16 MiB, per 4.295 s */
		{ "most", true, QUELL_U64_MAX, QUELL_U64_MAX, 0, 1 << 24, 3906250, MSS },
		/* a segment and one more; a link of half the smallest rate */
		{ "slow_link", true, 6250000, RTT_NS, 0, 2000, 500000000, MSS },
	};
	struct fixture f;

	for_each_row(row, cases) {
		memset(&f, 0xff, sizeof(f));
		quell_core_params_default(&quell_hpcc_core, &f.p);
		f.p.init_window_bytes = row->init_window_bytes;
		quell_hpcc_init(&f.v, &f.p,
				&(struct quell_sample){
					.now_ns = START_NS,
					.min_rtt_ns = row->min_rtt_ns,
					.link_bytes_ps = row->link_bytes_ps,
					.mss_bytes = row->mss_bytes,
					.flags = row->telemetry ? QUELL_S_TELEMETRY : 0,
				},
				&f.out);
		expect_eq(q16(row->want_window), f.out.window_q16, "%s_window", row->name);
		expect_eq(row->want_rate, f.out.pacing_bytes_ps, "%s_rate", row->name);
		expect(f.v.util_q24 == ONE_Q24 && f.v.recorded_ns == START_NS && !f.v.hop &&
			       !f.v.queue_bytes && !f.v.tx_units && !f.v.time_ns && !f.v.stage &&
			       !f.v.rtos && !f.v.round_bytes && !f.out.target_ns &&
			       !f.out.change_path &&
			       f.v.flags == (row->telemetry ? QUELL_HPCC_F_TELEMETRY : 0),
		       "%s_sets_all", row->name);
	}
}

/* U of a record after one round trip, which weighs 1. */
TEST(util_saturates)
{
	static const struct {
		const char *name;
		u32 util_q24, units, queue_bytes;
	} cases[] = {
		{ "longest_queue", 0xffffffff, 0, 0xffffffff },
		{ "all_bytes", 0, 0xffffff, 0 },
	};
	struct fixture f;

	for_each_row(row, cases) {
		fixture_start(&f);
		f.v.util_q24 = row->util_q24;
		f.v.queue_bytes = row->queue_bytes;
		f.s.telemetry.time_ns = RTT_NS;
		f.s.telemetry.tx_units = row->units;
		f.s.telemetry.queue_bytes = row->queue_bytes;
		fixture_ack(&f);
		expect_eq(0xffffffff, f.v.util_q24, "%s", row->name);
	}
}

/* The average of an idle link. */
TEST(average_reaches_0)
{
	struct fixture f;
	int i;

	fixture_start(&f);
	f.v.util_q24 = 0xffffffff;
	for (i = 0; i < 1000; i++) {
		f.s.telemetry.time_ns += 100;
		fixture_ack(&f);
	}
	expect_eq(0, f.v.util_q24, "idle_link");
}

enum verdict { MEASURED, STORED, REPEATED, NO_RECORD };

TEST(records)
{
	static const struct {
		const char *name;
		u64 link_bytes_ps, min_rtt_ns, after_ns;
		u32 tau_ns;
		u8 stored_hop, hop;
		enum verdict want;
	} cases[] = {
		{ "next", LINK_BYTES_PS, RTT_NS, 100, 100, HOP, HOP, MEASURED },
		{ "first", LINK_BYTES_PS, RTT_NS, 100, 100, 0, HOP, STORED },
		{ "other_hop", LINK_BYTES_PS, RTT_NS, 100, 100, 1, HOP, STORED },
		{ "still_fresh", LINK_BYTES_PS, RTT_NS, 8000000, 100, HOP, HOP, MEASURED },
		{ "stale", LINK_BYTES_PS, RTT_NS, 8000001, 100, HOP, HOP, STORED },
		{ "same_stamp", LINK_BYTES_PS, RTT_NS, 100, 0, HOP, HOP, REPEATED },
		{ "older", LINK_BYTES_PS, RTT_NS, 100, 0xffffff, HOP, HOP, REPEATED },
		{ "half_the_clock", LINK_BYTES_PS, RTT_NS, 100, 0x7fffff, HOP, HOP, MEASURED },
		{ "more_than_half", LINK_BYTES_PS, RTT_NS, 100, 0x800000, HOP, HOP, REPEATED },
		{ "none", LINK_BYTES_PS, RTT_NS, 100, 100, HOP, 0, NO_RECORD },
		{ "none_stored", LINK_BYTES_PS, RTT_NS, 100, 100, 0, 0, NO_RECORD },
		{ "none_for_long", LINK_BYTES_PS, RTT_NS, 8000001, 100, HOP, 0, NO_RECORD },
		{ "no_link", 0, RTT_NS, 100, 100, HOP, HOP, NO_RECORD },
		{ "no_rtt", LINK_BYTES_PS, 0, 100, 100, HOP, HOP, NO_RECORD },
	};
	struct fixture f;

	for_each_row(row, cases) {
		bool ignored = row->want == REPEATED || row->want == NO_RECORD;

		fixture_start(&f);
		f.v.hop = row->stored_hop;
		f.v.min_rtt_ns = row->min_rtt_ns;
		f.s.min_rtt_ns = 0;
		f.s.now_ns += row->after_ns;
		f.s.telemetry.hop = row->hop;
		f.s.telemetry.link_bytes_ps = row->link_bytes_ps;
		f.s.telemetry.time_ns = row->tau_ns;
		f.s.telemetry.queue_bytes = 77;
		fixture_ack(&f);
		expect(f.st.measured == (row->want == MEASURED) &&
			       f.st.stored == (row->want == STORED) &&
			       f.st.repeated == (row->want == REPEATED) &&
			       f.st.no_record == (row->want == NO_RECORD),
		       "%s_verdict", row->name);
		expect(f.v.queue_bytes == (ignored ? 0 : 77) &&
			       f.v.recorded_ns == (ignored ? START_NS : f.s.now_ns) &&
			       (ignored || f.v.hop == HOP),
		       "%s_kept", row->name);
	}
}

/* The window after an ACK, and the changes of the reference and the stage. */
TEST(ack)
{
	static const struct {
		const char *name;
		u32 percent;
		u8 stage;
		bool finishes, app_limited;
		u64 want_window, want_reference;
		u8 want_stage;
	} cases[] = {
		/* 20000 * 0.75 / 1.5 + 25 */
		{ "above_eta", 150, 2, false, false, 10025, 20000, 2 },
		{ "above_eta_round", 150, 2, true, false, 10025, 10025, 0 },
		{ "at_eta", 75, 2, false, false, 20025, 20000, 2 },
		{ "at_eta_round", 75, 2, true, false, 20025, 20025, 0 },
		{ "below_eta", 74, 0, false, false, 20025, 20000, 0 },
		{ "below_eta_round", 74, 0, true, false, 20025, 20025, 1 },
		{ "last_additive_round", 50, 4, true, false, 20025, 20025, 5 },
		/* 20000 * 0.75 / 0.5 + 25 */
		{ "max_stage", 50, 5, false, false, 30025, 20000, 5 },
		{ "max_stage_round", 50, 5, true, false, 30025, 30025, 0 },
		{ "idle_link", 0, 5, true, false, LINE_BYTES, LINE_BYTES, 0 },
		{ "app_limited", 50, 5, false, true, 20000, 20000, 5 },
		{ "app_limited_round", 50, 5, true, true, 20000, 20000, 5 },
		{ "app_limited_above_eta", 150, 2, true, true, 10025, 10025, 0 },
		/* 20000 * 0.75 / 200 + 25 */
		{ "queue_of_200", 20000, 2, false, false, 100, 20000, 2 },
	};
	struct fixture f;

	for_each_row(row, cases) {
		u64 want = q16(row->want_reference);

		fixture_start(&f);
		f.v.stage = row->stage;
		f.v.round_bytes = row->finishes ? 0 : 20000;
		f.s.flags = row->app_limited ? QUELL_S_APP_LIMITED : 0;
		fixture_util(&f, row->percent);
		expect_eq(q16(row->want_window), f.out.window_q16, "%s_window", row->name);
		expect_eq(want, f.v.window_q16, "%s_reference", row->name);
		expect_eq(row->want_stage, f.v.stage, "%s_stage", row->name);
		expect(f.st.increases == (want > q16(20000)) &&
			       f.st.decreases == (want < q16(20000)) && !f.st.blind &&
			       f.st.app_limited ==
				       (row->finishes && row->app_limited && want == q16(20000)),
		       "%s_verdict", row->name);
		expect_eq(row->want_window * 1000000000 / RTT_NS, f.out.pacing_bytes_ps,
			  "%s_pacing", row->name);
	}
}

/* Records that never come, stop coming, or start to come late. */
TEST(without_records)
{
	struct fixture f;

	fixture_init(&f, true);
	f.s.telemetry.hop = 0;
	fixture_ack(&f);
	expect(f.out.window_q16 == q16(10 * MSS) && f.st.lost == 1 &&
		       f.out.pacing_bytes_ps == QUELL_RATE_UNLIMITED,
	       "never_had_any");
	f.v.round_bytes = 0;
	fixture_ack(&f);
	expect(f.out.window_q16 == q16(11 * MSS) && f.st.lost == 1 && f.st.blind == 1,
	       "reno_adds_a_segment");
	f.s.inflight_bytes = 11 * MSS;
	quell_hpcc_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(q16(5500), f.out.window_q16, "reno_halves");
	quell_hpcc_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.window_q16 == q16(MSS) && f.st.rto_resets == 1, "reno_one_segment");
	f.s.telemetry.hop = HOP;
	fixture_ack(&f);
	expect((f.v.flags & QUELL_HPCC_F_TELEMETRY) && f.st.stored == 1 &&
		       f.out.pacing_bytes_ps == 250000000,
	       "comes_at_last");

	fixture_start(&f);
	fixture_util(&f, 150);
	f.s.telemetry.hop = 0;
	f.s.now_ns += 8000000;
	fixture_ack(&f);
	expect(!f.st.lost && f.v.hop == HOP, "too_early");
	f.s.now_ns++;
	fixture_ack(&f);
	expect(f.st.lost == 1 && !f.v.hop && f.v.util_q24 == ONE_Q24 &&
		       f.v.window_q16 == q16(10025) && f.out.window_q16 == q16(10025) &&
		       f.out.pacing_bytes_ps == QUELL_RATE_UNLIMITED,
	       "keeps_the_lower_window");
	fixture_init(&f, false);
	f.s.telemetry.hop = 0;
	fixture_ack(&f);
	expect(!f.st.lost && f.st.no_record == 1, "expected_none");
}

TEST(losses)
{
	struct fixture f;
	int i;

	fixture_start(&f);
	quell_hpcc_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.st.fast_retx == 1 && !f.st.rtos, "loss");
	fixture_start(&f);
	quell_hpcc_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.window_q16 == q16(10000) && f.v.rtos == 1 && f.st.rtos == 1 &&
		       !f.v.round_bytes && !(f.v.flags & QUELL_HPCC_F_ROUND) &&
		       (f.v.flags & QUELL_HPCC_F_LOSS),
	       "half");
	for (i = 2; i < 5; i++)
		quell_hpcc_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.window_q16 == q16(1250) && !f.st.rto_resets, "fourth");
	quell_hpcc_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.window_q16 == q16(LEAST_BYTES) && f.st.rto_resets == 1, "fifth_resets");
	f.v.rtos = 0xff;
	quell_hpcc_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(0xff, f.v.rtos, "saturates");
	fixture_util(&f, 50);
	expect_eq(0, f.v.rtos, "ends_row_of_timeouts");
	fixture_init(&f, true);
	quell_hpcc_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.out.window_q16 == q16(LEAST_BYTES) && f.st.rto_resets == 1, "without_a_record");
}

TEST(idle)
{
	static const struct {
		const char *name;
		u64 restart_idle_ns, idle_ns;
		u8 flags;
		u64 want_window, want_refused;
		bool want_restart;
	} cases[] = {
		{ "long_enough", 1000000, 1000000, QUELL_HPCC_F_TELEMETRY, LINE_BYTES, 0, true },
		{ "too_short", 1000000, 999999, QUELL_HPCC_F_TELEMETRY, 20000, 0, false },
		{ "switched_off", 0, 1000000000, QUELL_HPCC_F_TELEMETRY, 20000, 0, false },
		{ "after_loss", 1000000, 1000000, QUELL_HPCC_F_TELEMETRY | QUELL_HPCC_F_LOSS,
		  20000, 1, true },
		/* Reno's ten segments */
		{ "without_records", 1000000, 1000000, 0, 10000, 0, true },
	};
	struct fixture f;

	for_each_row(row, cases) {
		bool restart = row->want_restart;

		fixture_start(&f);
		f.v.flags = row->flags | QUELL_HPCC_F_ROUND;
		f.v.stage = 3;
		f.p.restart_idle_ns = row->restart_idle_ns;
		f.s.idle_ns = row->idle_ns;
		quell_hpcc_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
		expect(f.out.window_q16 == q16(row->want_window) &&
			       f.v.window_q16 == f.out.window_q16 && f.st.restarts == restart &&
			       f.st.restarts_refused == row->want_refused,
		       "%s", row->name);
		expect((f.v.hop == 0) == restart && (f.v.stage == 0) == restart &&
			       (f.v.round_bytes == 0) == restart &&
			       !(f.v.flags & QUELL_HPCC_F_ROUND) == restart,
		       "%s_forgets", row->name);
	}
}

TEST(extremes)
{
	struct fixture f;

	fixture_start(&f);
	f.s.telemetry.link_bytes_ps = 1;
	fixture_util(&f, 0);
	expect_eq(0xffffffff, f.v.util_q24, "utilisation_saturates");
	f.p.min_rate_bytes_ps = 1000;
	f.p.ai_bytes_ps = 1000;
	f.s.min_rtt_ns = 1;
	f.v.window_q16 = 1;
	fixture_util(&f, 20000);
	expect(f.out.window_q16 == 1 && f.out.pacing_bytes_ps == 1, "never_nothing");
	f.s.mss_bytes = 0;
	f.s.min_rtt_ns = QUELL_U64_MAX;
	fixture_util(&f, 50);
	expect(f.v.mss_bytes == MSS && f.v.min_rtt_ns == 0xffffffff, "kept");
	f.s.mss_bytes = 2 * MSS;
	fixture_util(&f, 50);
	expect_eq(2 * MSS, f.v.mss_bytes, "new_segment_size");
}

/* VAI/SF III-D, with a reference so small that chance keeps it, once per round trip. */
TEST(disregarded)
{
	struct fixture f;

	fixture_start(&f);
	f.p.probabilistic = 1;
	f.v.window_q16 = q16(200);
	f.v.round_bytes = 0;
	fixture_util(&f, 100);
	expect(f.st.disregarded == 1 && !f.st.decreases && f.out.window_q16 == q16(200),
	       "window_is_the_reference");
	fixture_util(&f, 100);
	expect(f.st.disregarded == 1 && f.v.window_q16 == q16(200) && f.out.window_q16 == q16(175),
	       "once_per_round_trip");
}

TEST_HARNESS_MAIN
