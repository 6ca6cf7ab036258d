// SPDX-License-Identifier: GPL-2.0
/*
 * SMaRTT: QuickAdapt and its ignore phase, by tables of cases.  The expected numbers were
 * derived by hand from the paper's equations, not from the code.
 */
#include "smartt_fixture.h"
#include "test.h"

/* Algorithm 2 with a trimmed packet. */
TEST(quick_adapt_trim)
{
	struct fixture f;

	start(&f, 10, 15000);
	f.s.trimmed_bytes = MSS;
	f.v.delivered_bytes = MSS;
	ack(&f, 15000, MSS);
	expect_eq(9 * MSS, window_bytes(&f), "takes_it_off");
	expect(f.v.flags & QUELL_SMARTT_F_QA_DUE, "triggers");
	f.s.trimmed_bytes = 0;
	f.s.now_ns = START_NS + TARGET_NS;
	ack(&f, 15000, MSS);
	expect_eq(3 * MSS, window_bytes(&f), "to_delivered");
	expect_eq(9 * MSS, f.v.ignore_bytes, "ignores_flight");
	expect_eq(1, f.st.quick_adapts, "counted");
	/* the flight: one acknowledged, one lost, one trimmed */
	f.s.lost_bytes = MSS;
	f.s.trimmed_bytes = MSS;
	f.s.now_ns += BASE_NS;
	ack(&f, 100000, MSS);
	expect_eq(6 * MSS, f.v.ignore_bytes, "counts_what_left");
	expect_eq(3 * MSS, window_bytes(&f), "not_of_the_flight");
	expect(f.v.flags & QUELL_SMARTT_F_QA_DUE, "of_the_flight_triggers");
	expect_eq(15000, f.v.avg_rtt_q4 >> 4, "delay");
	f.s.lost_bytes = 0;
	f.s.trimmed_bytes = 0;
	f.s.acked_bytes = 6 * MSS;
	f.v.flags &= ~QUELL_SMARTT_F_QA_DUE;
	f.p.qa_low_q16 = 0;
	ack(&f, 15000, MSS);
	expect_eq(1, f.st.ignored, "ends_with_flight");
	/* 15 + 0.0125 * (100 - 15), 0.0125 being a little less in Q16 */
	start(&f, 10, 15000);
	f.v.ignore_bytes = 10 * MSS;
	f.p.ignore_delay = 0;
	ack(&f, 100000, MSS);
	expect(f.st.ignored == 1 && f.v.avg_rtt_q4 >> 4 == 16062, "delay_averaged");
	/* the packet that ends the flight counts; off, all of them do */
	start(&f, 10, 15000);
	f.v.ignore_bytes = 2 * MSS;
	f.s.acked_bytes = 0;
	f.s.trimmed_bytes = MSS;
	ack(&f, 0, 0);
	expect_eq(10 * MSS, window_bytes(&f), "within_the_flight");
	ack(&f, 0, 0);
	expect_eq(9 * MSS, window_bytes(&f), "end_of_the_flight");
	f.v.ignore_bytes = 2 * MSS;
	f.p.ignore_trims = 0;
	ack(&f, 0, 0);
	expect_eq(8 * MSS, window_bytes(&f), "ignore_trims_off");
	/* the window set by QuickAdapt on the same ACK stays: the trim is of that flight */
	start(&f, 10, 15000);
	f.v.flags |= QUELL_SMARTT_F_QA_DUE;
	f.v.delivered_bytes = 2 * MSS;
	f.s.trimmed_bytes = MSS;
	f.s.now_ns = START_NS + TARGET_NS;
	ack(&f, 15000, MSS);
	expect_eq(3 * MSS, window_bytes(&f), "as_it_adapts");
	/* at the end of a period the trim itself adapts; never below a segment */
	start(&f, 2, 15000);
	f.s.trimmed_bytes = 5 * MSS;
	f.s.now_ns = START_NS + TARGET_NS - 1;
	f.s.acked_bytes = 0;
	ack(&f, 15000, 0);
	f.s.now_ns++;
	f.v.flags |= QUELL_SMARTT_F_MEASURING;
	ack(&f, 0, 0);
	expect_eq(MSS, window_bytes(&f), "one_segment");
	expect_eq(1, f.st.quick_adapts, "by_trim");
	/* the first period only measures */
	start(&f, 10, 15000);
	f.v.flags = QUELL_SMARTT_F_QA_DUE;
	ack(&f, 15000, MSS);
	expect_eq(10 * MSS, window_bytes(&f), "first_period");
	/* off, and with the ignore phase off */
	start(&f, 10, 15000);
	f.v.flags |= QUELL_SMARTT_F_QA_DUE;
	f.p.qa = 0;
	f.s.now_ns = START_NS + TARGET_NS;
	ack(&f, 15000, MSS);
	expect_eq(10 * MSS, window_bytes(&f), "off");
	start(&f, 10, 15000);
	f.v.flags |= QUELL_SMARTT_F_QA_DUE;
	f.p.ignore = 0;
	f.s.now_ns = START_NS + TARGET_NS;
	ack(&f, 15000, MSS);
	expect(window_bytes(&f) == MSS && !f.v.ignore_bytes, "ignore_off");
	/* trims before any round trip is known */
	start_blind(&f, 10);
	f.s.trimmed_bytes = MSS;
	f.s.acked_bytes = 0;
	ack(&f, 0, 0);
	expect_eq(9 * MSS, window_bytes(&f), "blind");
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

TEST(ignore_marked)
{
	struct fixture f;

	start(&f, 10, 15000);
	f.v.ignore_bytes = 10 * MSS;
	f.p.ignore_marked = 1;
	ack(&f, 15000, 0);
	expect(!f.st.ignored && window_bytes(&f) > 10 * MSS, "unmarked_counts");
	ack(&f, 15000, MSS);
	expect_eq(1, f.st.ignored, "marked_does_not");
	f.p.ignore_marked = 0;
	ack(&f, 15000, 0);
	expect_eq(2, f.st.ignored, "all");
}

TEST_HARNESS_MAIN
