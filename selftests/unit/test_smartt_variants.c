// SPDX-License-Identifier: GPL-2.0
/*
 * SMaRTT's variants of the laboratory beside the core itself: their reactions to a mark and to a
 * delay, by hand.
 */
#include "smartt_fixture.h"
#include "../../lab/comparators/smartt_variants.h"
#include "test.h"

#define HIGH_NS		30000ULL	/* above the target */
#define LOW_NS		15000ULL	/* below it */

typedef void (*smartt_variant)(struct quell_event *ev);

/* The window after an ACK of one segment. */
static u64 after_ack(struct fixture *f, smartt_variant on_ack, u64 rtt_ns, u32 marked_bytes)
{
	struct quell_event ev = { .vars = &f->v, .params = &f->p, .stats = &f->st };

	f->s.rtt_ns = rtt_ns;
	f->s.marked_bytes = marked_bytes;
	ev.sample = f->s;
	on_ack(&ev);
	f->out = ev.decision;
	return window_bytes(f);
}

/* That of a window of ten segments. */
static u64 at_ack(smartt_variant on_ack, u64 rtt_ns, u32 marked_bytes)
{
	struct fixture f;

	start(&f, 10, 0);	/* the average begins with this round trip */
	return after_ack(&f, on_ack, rtt_ns, marked_bytes);
}

TEST(marks_alone)
{
	u64 clear_bytes = at_ack(smartt_variant_by_marks, LOW_NS, 0);

	expect(clear_bytes > 10 * MSS, "increases");
	expect_eq(clear_bytes, at_ack(smartt_variant_by_marks, HIGH_NS, 0), "whatever_the_delay");
	expect_eq(10 * MSS - MSS / 2, at_ack(smartt_variant_by_marks, LOW_NS, MSS),
		  "half_a_packet");
	expect_eq(10 * MSS - MSS / 2, at_ack(smartt_variant_by_marks, HIGH_NS, MSS),
		  "half_whatever_the_delay");
}

/* At the end of a target round trip in which two of ten segments were delivered. */
static void start_due(struct fixture *f)
{
	start(f, 10, LOW_NS);
	f->v.flags |= QUELL_SMARTT_F_QA_DUE;
	f->v.delivered_bytes = 2 * MSS;
	f->s.now_ns = START_NS + TARGET_NS;
}

TEST(marks_leave_quick_adapt_alone)
{
	struct fixture f;

	start_due(&f);
	/* the three segments that were delivered, and not half a packet less */
	expect_eq(3 * MSS, after_ack(&f, smartt_variant_by_marks, LOW_NS, MSS), "quick_adapt");
	expect_eq(1, f.st.quick_adapts, "quick_adapt_counted");
	expect_eq(3 * MSS, after_ack(&f, smartt_variant_by_marks, LOW_NS, MSS), "ignore_phase");
	expect_eq(1, f.st.ignored, "ignored");
}

/* Of a window of ten segments, after an ACK of @acked bytes. */
static u64 mprdma_at(u32 acked_bytes, u32 marked_bytes, u32 trimmed_bytes, u32 flags)
{
	struct fixture f;

	start(&f, 10, 0);
	f.s.acked_bytes = acked_bytes;
	f.s.trimmed_bytes = trimmed_bytes;
	f.s.flags |= flags;
	return after_ack(&f, smartt_variant_mprdma, HIGH_NS, marked_bytes);
}

TEST(mprdma)
{
	expect_eq(10 * MSS + MSS / 10, mprdma_at(MSS, 0, 0, 0), "one_over_the_window");
	expect_eq(10 * MSS - MSS / 2, mprdma_at(MSS, MSS, 0, 0), "half_a_packet");
	expect_eq(10 * MSS + 2 * MSS / 10 - MSS / 2, mprdma_at(3 * MSS, MSS, 0, 0),
		  "each_part_of_an_ack");
	expect_eq(7 * MSS + MSS / 10, mprdma_at(MSS, 0, 3 * MSS, 0), "trimmed_packets");
	expect_eq(MSS, mprdma_at(MSS, MSS, 20 * MSS, 0), "one_segment_at_least");
	expect_eq(10 * MSS, mprdma_at(MSS, 0, 0, QUELL_S_APP_LIMITED),
		  "not_while_the_application_has_nothing");
}

TEST(mprdma_has_no_quick_adapt)
{
	struct fixture f;

	start_due(&f);
	expect_eq(10 * MSS - MSS / 2, after_ack(&f, smartt_variant_mprdma, LOW_NS, MSS),
		  "no_quick_adapt");
	expect_eq(0, f.st.quick_adapts + f.st.ignored, "nor_its_phase");
}

TEST(mprdma_forgets_a_loss)
{
	struct quell_event ev;
	struct fixture f;

	start(&f, 10, LOW_NS);
	ev = (struct quell_event) { .vars = &f.v, .params = &f.p, .stats = &f.st, .sample = f.s };
	quell_smartt_core.on_loss(&ev);
	expect(f.v.flags & QUELL_SMARTT_F_LOSS, "loss");
	after_ack(&f, smartt_variant_mprdma, LOW_NS, 0);
	expect(f.v.flags & QUELL_SMARTT_F_LOSS, "not_within_the_round_trip");
	f.s.now_ns += BASE_NS;
	after_ack(&f, smartt_variant_mprdma, LOW_NS, MSS);
	expect(f.v.flags & QUELL_SMARTT_F_LOSS, "not_by_a_mark");
	after_ack(&f, smartt_variant_mprdma, LOW_NS, 0);
	EXPECT_FALSE(f.v.flags & QUELL_SMARTT_F_LOSS)
		TH_LOG("smartt_variant_mprdma__forgotten");
}

TEST(delay_alone)
{
	expect_eq(at_ack(quell_smartt_core_on_ack, LOW_NS, 0),
		  at_ack(smartt_variant_by_delay, LOW_NS, MSS), "no_mark");
	expect_eq(at_ack(quell_smartt_core_on_ack, HIGH_NS, MSS),
		  at_ack(smartt_variant_by_delay, HIGH_NS, 0), "decreases");
}

TEST(decrease_at_low_delay)
{
	expect_eq(10 * MSS, at_ack(quell_smartt_core_on_ack, LOW_NS, MSS),
		  "leaves_it_to_the_paths");
	expect_eq(10 * MSS - MSS / 2, at_ack(smartt_variant_decreasing, LOW_NS, MSS),
		  "half_a_packet");
	expect_eq(at_ack(quell_smartt_core_on_ack, HIGH_NS, MSS),
		  at_ack(smartt_variant_decreasing, HIGH_NS, MSS), "else_the_core");
}

/* Rounds of one ACK each, of which @marked are marked; the number of new paths asked for. */
static u32 plb_rounds(struct smartt_plb *plb, struct fixture *f, u32 rounds, u32 marked_bytes,
		      u64 rtt_ns)
{
	u32 changes = 0;

	for (; rounds; rounds--) {
		struct quell_event ev = { .vars = &f->v, .params = &f->p, .stats = &f->st };

		f->s.now_ns += rtt_ns ?: 1;
		f->s.rtt_ns = rtt_ns;
		f->s.marked_bytes = marked_bytes;
		ev.sample = f->s;
		smartt_variant_by_plb(&ev, plb);
		changes += ev.decision.change_path;
	}
	return changes;
}

TEST(plb_changes_paths_after_congested_rounds)
{
	struct smartt_plb plb = { 0 };
	struct fixture f;

	start(&f, 10, LOW_NS);
	expect_eq(0, plb_rounds(&plb, &f, SMARTT_PLB_ROUNDS - 1, MSS, LOW_NS), "not_yet");
	expect_eq(0, plb_rounds(&plb, &f, 1, MSS / 2, LOW_NS), "half_is_not_more_than_half");
	expect_eq(0, plb_rounds(&plb, &f, SMARTT_PLB_ROUNDS - 1, MSS, LOW_NS), "counts_anew");
	expect_eq(1, plb_rounds(&plb, &f, 1, MSS, LOW_NS), "changes");
	expect_eq(2, plb_rounds(&plb, &f, 2 * SMARTT_PLB_ROUNDS, MSS, LOW_NS),
		  "again_after_as_many");
	expect_eq(0, plb_rounds(&plb, &f, 2 * SMARTT_PLB_ROUNDS, MSS, 0),
		  "acks_without_a_round_trip_are_no_rounds");
}

TEST_HARNESS_MAIN
