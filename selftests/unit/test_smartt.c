// SPDX-License-Identifier: GPL-2.0
/*
 * SMaRTT: start, counters and extreme values, by tables of cases derived by hand from the paper's
 * equations.  The rest is compared with these (test_smartt_model.py); together they take every
 * branch.
 */
#include "smartt_fixture.h"
#include "test.h"

TEST(init)
{
	static const struct {
		const char *name;
		u64 link_bytes_ps, min_rtt_ns, init_bytes, want_bytes;
		u32 mss_bytes;
	} cases[] = {
		{ "one_and_a_half_bdp", LINK_BYTES_PS, 12000, 0, MOST_BYTES, MSS },
		{ "800gbit", 100000000000, 12000, 0, 1806144, MSS },
		{ "no_link", 0, 12000, 0, 10 * MSS, MSS },
		{ "no_rtt", LINK_BYTES_PS, 0, 0, 10 * MSS, MSS },
		{ "given", LINK_BYTES_PS, 12000, 100000, 100000, MSS },
		{ "given_above_most", LINK_BYTES_PS, 12000, 1 << 30, MOST_BYTES, MSS },
		{ "given_below_least", LINK_BYTES_PS, 12000, 1, MSS, MSS },
		{ "no_mss", 0, 0, 0, 10, 0 },
		{ "large_mss", 0, 0, 0, 655350, 100000 },
		{ "saturates", QUELL_U64_MAX, QUELL_U64_MAX, 0, 1 << 30, MSS },
	};
	struct fixture f;

	for_each_row(row, cases) {
		start(&f, 10, 0);
		f.p.init_window_bytes = row->init_bytes;
		quell_smartt_init(&f.v, &f.p,
				  &(struct quell_sample){
					  .now_ns = START_NS,
					  .min_rtt_ns = row->min_rtt_ns,
					  .link_bytes_ps = row->link_bytes_ps,
					  .mss_bytes = row->mss_bytes,
				  },
				  &f.out);
		expect_eq(row->want_bytes, window_bytes(&f), "%s", row->name);
	}
	expect(sizeof(struct quell_smartt_vars) == 64, "quell_smartt_vars__64_bytes");
}

/* One ACK of one segment adds to these counters alone. */
TEST(acks)
{
	static const struct {
		const char *name;
		u64 rtt_ns, avg_ns;
		u32 marked_bytes, trimmed_bytes, ignore_bytes, clear_bytes;
		u8 flags;		/* of the flow, beside MEASURING */
		u8 sample_flags;
		struct quell_smartt_stats want;
	} rows[] = {
		{ "fair", TARGET_NS, 20000, .want.fair_increases = 1 },
		{ "proportional", 15000, 15000, .want.proportional_increases = 1 },
		{ "fast", 12000, 15000, .flags = QUELL_SMARTT_F_FAST, .want.fast_increases = 1 },
		/* FastIncrease begins when more than the window came without delay. */
		{ "fast_after_a_window", 12000, 15000, .clear_bytes = 9 * MSS + 1,
		  .want.fast_increases = 1 },
		{ "not_within_a_window", 12000, 15000, .clear_bytes = 9 * MSS,
		  .want.proportional_increases = 1 },
		{ "fast_app_limited", 12000, 15000, .flags = QUELL_SMARTT_F_FAST,
		  .sample_flags = QUELL_S_APP_LIMITED, .want.app_limited = 1 },
		{ "fast_at_slack", 13000, 15000, .flags = QUELL_SMARTT_F_FAST,
		  .want.fast_increases = 1 },
		{ "beyond_slack", 13001, 15000, .flags = QUELL_SMARTT_F_FAST,
		  .want.proportional_increases = 1 },
		{ "app_limited", 15000, 15000, .sample_flags = QUELL_S_APP_LIMITED,
		  .want.app_limited = 1 },
		{ "other_path", 15000, 15000, MSS,
		  .want = { .marked_low_delay = 1, .path_changes = 1 } },
		{ "path_requested", 15000, 15000, MSS, .flags = QUELL_SMARTT_F_NEW_PATH,
		  .want.marked_low_delay = 1 },
		{ "decrease", 21600, 21600, MSS, .want.decreases = 1 },
		{ "held", 21600, 21600, MSS, .flags = QUELL_SMARTT_F_DECREASED, .want.held = 1 },
		{ "average_below_target", 19000, 12000, MSS, .want.held = 1 },
		{ "no_delay", 0, 15000, .want = { .no_rtt = 1, .proportional_increases = 1 } },
		{ "trimmed", 15000, 15000, MSS, MSS,
		  .want = { .trimmed = 1, .marked_low_delay = 1, .path_changes = 1 } },
		{ "ignored", 15000, 15000, MSS, 0, 9 * MSS, .want.ignored = 1 },
		{ "quick_adapt", 15000, 15000, MSS, .flags = QUELL_SMARTT_F_QA_DUE,
		  .want.quick_adapts = 1 },
	};
	struct fixture f;

	for_each_row(row, rows) {
		start(&f, 10, row->avg_ns);
		f.v.flags |= row->flags;
		f.v.decrease_ns = START_NS;
		f.v.ignore_bytes = row->ignore_bytes;
		f.v.clear_bytes = row->clear_bytes;
		f.s.trimmed_bytes = row->trimmed_bytes;
		f.s.flags |= row->sample_flags;
		if (row->flags & QUELL_SMARTT_F_QA_DUE)
			f.v.period_ns = START_NS - TARGET_NS;
		ack(&f, row->rtt_ns, row->marked_bytes);
		expect(!memcmp(&f.st, &row->want, sizeof(f.st)), "%s", row->name);
	}
	/* Without ECN the delay stands for the mark, without any delay the window is Reno's. */
	start(&f, 10, 100000);
	f.s.flags = 0;
	f.p.qa = 0;
	ack(&f, 100000, 0);
	expect(f.st.no_ecn == 1 && f.st.decreases == 1, "no_ecn");
	start_blind(&f, 10);
	ack(&f, 0, 0);
	f.s.flags |= QUELL_S_APP_LIMITED;
	ack(&f, 0, 0);
	expect(f.st.no_rtt == 2 && f.st.app_limited == 1 && window_bytes(&f) == 40960 + 409,
	       "blind");
}

TEST(events)
{
	struct fixture f;
	int n;

	start(&f, 10, 15000);
	quell_smartt_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	quell_smartt_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.st.fast_retx == 1 && !f.st.losses_ignored, "loss_once_per_base_rtt");
	f.v.ignore_bytes = MSS;
	quell_smartt_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	quell_smartt_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.st.fast_retx == 1 && f.st.losses_ignored == 2 && f.st.rtos == 1, "ignored");
	for (n = 0; n < 4; n++)
		quell_smartt_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.st.rtos == 5 && f.st.rto_resets == 1, "fifth_timeout_resets");
	for (n = 0; n < 300; n++)
		quell_smartt_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(255, f.v.rtos, "timeouts_saturate");
	f.s.idle_ns = 999999;
	quell_smartt_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(0, f.st.restarts, "too_early");
	f.s.idle_ns = 1000000;
	quell_smartt_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.st.restarts == 1 && f.st.restarts_refused == 1, "restart_after_loss");
	start(&f, 10, 15000);
	f.s.idle_ns = 1000000;
	quell_smartt_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.st.restarts == 1 && !f.st.restarts_refused, "restart");
}

/* Properties of the path that change, and values too large to be true. */
TEST(extremes)
{
	struct fixture f;

	start(&f, 10, 20000);
	f.p.scale_bdp_bytes = 1;
	quell_smartt_observe(&f.v, &f.p, &at_start);
	expect_eq(0xffffffff, f.v.unit_q8, "unit_saturates");
	f.v.clear_bytes = 0xffffffff;
	ack(&f, 13000, 0);
	expect_eq(0xffffffff, f.v.clear_bytes, "bytes_saturate");
	/* a new segment size counts at once: half the segment, half the BDP's part */
	start(&f, 10, 20000);
	f.p.scale_bdp_bytes = BDP_BYTES - MSS / 2;
	f.s.link_bytes_ps = LINK_BYTES_PS;
	f.s.mss_bytes = MSS / 2;
	ack(&f, 20000, 0);
	expect_eq(40960 + 204, window_bytes(&f), "new_segment_size");
	/* and so does a new base round-trip time: half of the window at most */
	start(&f, 50, 20000);
	f.s.link_bytes_ps = LINK_BYTES_PS;
	f.s.min_rtt_ns = BASE_NS / 2;
	ack(&f, 20000, 0);
	expect_eq((BDP_BYTES + MSS) * 3 / 4, window_bytes(&f), "new_base_rtt");
	/* the first round-trip time, without a minimum from the glue, and other ones */
	start_blind(&f, 10);
	ack(&f, 15000, 0);
	ack(&f, 16000, 0);
	expect_eq(15000, f.v.base_rtt_ns, "first_base_rtt");
	ack(&f, 14000, 0);
	expect_eq(14000, f.v.base_rtt_ns, "smaller_base_rtt");
	f.s.mss_bytes = 0;
	ack(&f, 14000, 0);
	expect_eq(MSS, f.v.mss_bytes, "no_segment_size");
}

/* Algorithm 2 without trimming: delay above 4 targets of queueing, little delivered. */
TEST(quick_adapt_delay)
{
	static const struct {
		const char *name;
		u64 rtt_ns, low_q16;
		u32 delivered_bytes;
		bool want;
	} cases[] = {
		{ "severe", 36001, 32768, 0, true },
		{ "delay_at_limit", 36000, 32768, 0, false },
		{ "just_low", 50000, 32768, 4 * MSS - 1, true },
		{ "not_low", 50000, 32768, 4 * MSS, false },
		{ "never", 50000, 0, 0, false },
	};
	struct fixture f;

	for_each_row(row, cases) {
		start(&f, 10, 15000);
		f.p.qa_low_q16 = row->low_q16;
		f.v.delivered_bytes = row->delivered_bytes;
		f.s.now_ns = START_NS + TARGET_NS;
		ack(&f, row->rtt_ns, MSS);
		expect_eq(row->want, f.st.quick_adapts, "%s", row->name);
	}
}

/* Algorithm 4 runs FastIncrease even if QuickAdapt set the window: a queue ends it. */
TEST(quick_adapt_ends_fast_increase)
{
	struct fixture f;

	start(&f, 10, 15000);
	f.v.flags |= QUELL_SMARTT_F_FAST;
	f.v.clear_bytes = 20 * MSS;
	f.s.now_ns = START_NS + TARGET_NS;
	ack(&f, 100000, 0);
	expect_eq(1, f.st.quick_adapts, "adapted");
	expect(!(f.v.flags & QUELL_SMARTT_F_FAST) && !f.v.clear_bytes, "ended");
	/* The first ACK behind the ignored flight. */
	f.v.ignore_bytes = 0;
	f.s.now_ns++;
	ack(&f, BASE_NS, 0);
	expect_eq(0, f.st.fast_increases, "counts a window anew");
}

TEST_HARNESS_MAIN
