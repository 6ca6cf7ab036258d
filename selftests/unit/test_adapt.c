// SPDX-License-Identifier: GPL-2.0
/*
 * <quell/core/adapt/react.h>: which controller governs a flow, event by event, and that no
 * input from the network leads out of bounds.  test_adapt_delay.c has delay that stays and noise.
 */
#include "adapt_fixture.h"
#include "random.h"
#include "test.h"

#define RUNS		200
#define STEPS		5000

TEST(start_cases)
{
	struct fixture f;
	u64 before_q16;

	start(&f, QUELL_ADAPT_DELAY);
	expect_eq(10 * MSS_Q16, f.a.cubic.window_q16, "ten_segments");
	expect(!quell_adapt_is_fit(&f.a), "nobody_governs");
	acks(&f, BASE_NS, 10);
	expect_eq(20 * MSS_Q16, f.a.cubic.window_q16, "doubles_in_a_round_trip");
	/* Two are left of the ten. */
	acks_within(&f, TARGET_NS - 1, 6);
	acks_within(&f, TARGET_NS - 1, 8);
	expect_eq(0, (u32)f.a.checks, "goes_on_below_the_target");
	acks_within(&f, TARGET_NS, 8);
	expect_eq(1, (u32)f.a.checks, "a_queue_is_looked_at");
	before_q16 = f.a.cubic.window_q16;
	acks_within(&f, TARGET_NS, 4);
	expect_eq(before_q16 + MSS_Q16, f.a.cubic.window_q16, "grows_by_a_fourth_then");
	acks_within(&f, BASE_NS, 4);
	expect_eq(0, (u32)f.a.checks, "a_false_alarm_is_forgotten");
	f.a.flags &= ~QUELL_ADAPT_F_FULL;
	before_q16 = f.a.cubic.window_q16;
	f.s.rtt_ns = BASE_NS;
	quell_adapt_on_ack(&f.a, &f.needs, &f.s, f.window_q16, false);
	expect_eq(before_q16, f.a.cubic.window_q16, "unused_window_does_not_grow");
}

/* Receivers delay ACKs: a look is at eight packets, not at eight ACKs. */
TEST(look_at_packets)
{
	static const struct {
		const char *name;
		u32 acked_pkts;
		int before_look;
	} rows[] = {
		{ "one_packet_an_ack", 1, 7 },
		{ "two_packets_an_ack", 2, 3 },
		{ "more_packets_count_as_two", 44, 3 },
	};
	struct fixture f;

	for_each_row(row, rows) {
		start(&f, QUELL_ADAPT_DELAY);
		f.a.base_ns = BASE_NS;
		f.a.base_pkts = 1;
		acks_of(&f, TARGET_NS, row->acked_pkts, row->before_look);
		expect_eq(0, (u32)f.a.checks, "%s__not_before", row->name);
		acks_of(&f, TARGET_NS, row->acked_pkts, 1);
		expect_eq(1, (u32)f.a.checks, "%s", row->name);
	}
}

TEST(settle)
{
	static const struct {
		const char *name;
		u64 base_ns, slowest_bytes_ps;
		u8 signal, phase, reason;
	} rows[] = {
		{ "fits", BASE_NS, 1000000, QUELL_ADAPT_DELAY, QUELL_ADAPT_FIT, QUELL_ADAPT_FITS },
		{ "long_path", 300001, 1000000, QUELL_ADAPT_DELAY, QUELL_ADAPT_FALLBACK,
		  QUELL_ADAPT_LONG_PATH },
		{ "slow_path", BASE_NS, 10000000000, QUELL_ADAPT_DELAY, QUELL_ADAPT_FALLBACK,
		  QUELL_ADAPT_SLOW_PATH },
		{ "no_marks", BASE_NS, 0, QUELL_ADAPT_MARKS, QUELL_ADAPT_FALLBACK,
		  QUELL_ADAPT_NO_MARKS },
		{ "no_records", BASE_NS, 0, QUELL_ADAPT_RECORDS, QUELL_ADAPT_FALLBACK,
		  QUELL_ADAPT_NO_RECORDS },
	};
	struct fixture f;

	for_each_row(row, rows) {
		start(&f, row->signal);
		f.needs.slowest_bytes_ps = row->slowest_bytes_ps;
		acks(&f, row->base_ns, 10);
		acks(&f, 2 * row->base_ns, 30);
		expect(f.a.phase == row->phase && f.a.reason == row->reason &&
			       f.begins == (row->phase == QUELL_ADAPT_FIT),
		       "%s", row->name);
	}
	start_fit(&f);
	/* 38 segments at twice the base become 9 sixteenths: half the room is kept. */
	expect(f.a.cubic.window_q16 == 38 * MSS_Q16 / 16 * 9, "the_queue_is_drained");
}

TEST(signals_cases)
{
	struct fixture f;

	start(&f, QUELL_ADAPT_MARKS);
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect_eq(QUELL_ADAPT_NO_MARKS, (u32)f.a.reason, "without_them_cubic");
	f.s.marked_bytes = MSS;
	ack(&f, BASE_NS, false);
	expect(f.begins && f.a.phase == QUELL_ADAPT_FIT, "the_first_ends_cubic");
	start(&f, QUELL_ADAPT_RECORDS);
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect_eq(QUELL_ADAPT_NO_RECORDS, (u32)f.a.reason, "without_them_cubic");
	f.s.telemetry.hop = 1;
	ack(&f, BASE_NS, false);
	expect(f.begins && f.a.phase == QUELL_ADAPT_FIT, "the_first_begins_fit");
}

TEST(fit)
{
	struct fixture f;
	u64 before_q16;
	int i;

	start_fit(&f);
	for (i = 0; i < QUELL_ADAPT_QUIET_ROUNDS; i++)
		acks(&f, BASE_NS, 8);
	expect_eq(QUELL_ADAPT_START, (u32)f.a.phase, "no_queue_for_eight_rounds_searches");
	before_q16 = f.a.cubic.window_q16;
	acks(&f, BASE_NS, 8);
	expect_eq(before_q16 + 8 * MSS_Q16, f.a.cubic.window_q16, "it_doubles");
	start_fit(&f);
	/* The window takes 200 us at this rate. */
	f.window_q16 = 20 * MSS_Q16;
	f.a.byte_ns_q16 = 10 << 16;
	for (i = 0; i < QUELL_ADAPT_QUIET_ROUNDS; i++)
		acks(&f, BASE_NS, 8);
	expect_eq(QUELL_ADAPT_START, (u32)f.a.phase, "bursts_hide_a_queue");
	before_q16 = f.a.cubic.window_q16;
	acks(&f, BASE_NS, 8);
	expect_eq(before_q16 + 2 * MSS_Q16, f.a.cubic.window_q16, "by_a_fourth");
	quell_adapt_on_rto(&f.a, &f.s, false);
	f.a.cubic.window_q16 = 4 * MSS_Q16;
	f.a.cubic.ssthresh_bytes = 50 * MSS;
	acks(&f, BASE_NS, 8);
	expect_eq(12 * MSS_Q16, f.a.cubic.window_q16, "not_after_a_timeout");
	start_fit(&f);
	f.window_q16 = f.a.cubic.window_q16;
	for (i = 0; i < 2 * QUELL_ADAPT_ABOVE_ROUNDS; i++)
		acks(&f, 2 * BASE_NS, 8);
	expect_eq(QUELL_ADAPT_FIT, (u32)f.a.phase, "above_with_all_of_the_window_stays");
	f.window_q16 = f.a.cubic.window_q16 / 3;
	for (i = 0; i < QUELL_ADAPT_ABOVE_ROUNDS; i++)
		acks(&f, 2 * BASE_NS, 8);
	expect(f.a.phase == QUELL_ADAPT_FALLBACK && f.a.reason == QUELL_ADAPT_DELAY_STAYS,
	       "above_with_a_third_falls_back");
	start_fit(&f);
	acks(&f, BASE_NS, 8);
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect_eq(QUELL_ADAPT_FIT, (u32)f.a.phase, "a_loss_is_the_algorithms");
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect(f.a.phase == QUELL_ADAPT_FALLBACK && f.a.reason == QUELL_ADAPT_EARLY_LOSS,
	       "two_losses_without_delay_fall_back");
	start_fit(&f);
	acks(&f, BASE_NS, 8);
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	for (i = 0; i < QUELL_ADAPT_EARLY_ROUNDS; i++)
		acks(&f, BASE_NS + 20000, 8);
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect_eq(QUELL_ADAPT_FIT, (u32)f.a.phase, "two_losses_far_apart_do_not");
}

/* A round of ACKs, of which so many segments are marked. */
static void marked(struct fixture *f, u64 rtt_ns, int nr, int marks)
{
	while (nr--) {
		f->s.marked_bytes = marks-- > 0 ? MSS : 0;
		ack(f, rtt_ns, !nr);
	}
	f->s.marked_bytes = 0;
}

/* A search on a path of @base_ns past its first window: 20 segments. */
static void start_second_round(struct fixture *f, u64 base_ns)
{
	start(f, QUELL_ADAPT_MARKS);
	acks(f, base_ns, 10);
}

/* Marks slow the search, and end it where the queue stands. */
TEST(marked_search)
{
	struct fixture f;

	start(&f, QUELL_ADAPT_MARKS);
	marked(&f, BASE_NS, 10, 10);
	marked(&f, BASE_NS, 20, 0);
	expect(f.a.phase == QUELL_ADAPT_START && f.window_q16 == 40 * MSS_Q16,
	       "the_first_window_is_a_burst");
	start_second_round(&f, BASE_NS);
	marked(&f, BASE_NS, 20, 20);
	expect(f.a.phase == QUELL_ADAPT_START && f.window_q16 == 40 * MSS_Q16,
	       "without_a_queue_go_on");
	marked(&f, BASE_NS, 40, 20);
	expect(f.a.phase == QUELL_ADAPT_START && f.window_q16 == 50 * MSS_Q16,
	       "the_search_is_slowed");
	marked(&f, BASE_NS, 48, 0);
	marked(&f, BASE_NS, 60, 0);
	expect_eq(62 * MSS_Q16 + 60 * MSS_Q16, f.window_q16, "a_round_without_is_quick_again");
	start_second_round(&f, BASE_NS);
	acks(&f, BASE_NS + 10000, 20);
	marked(&f, BASE_NS + 10000, 40, 20);
	expect(f.begins && f.a.phase == QUELL_ADAPT_FIT && f.a.cubic.window_q16 == 60 * MSS_Q16,
	       "half_of_a_round_and_a_queue_begin_fit");
	expect(quell_adapt_has_responded(&f.a, &f.needs), "of_the_search_are_answered");
	start_second_round(&f, BASE_NS);
	acks(&f, BASE_NS + 10000, 20);
	marked(&f, BASE_NS + 10000, 40, 1);
	marked(&f, BASE_NS + 10000, 80, 1);
	expect_eq(QUELL_ADAPT_START, (u32)f.a.phase, "two_rounds_of_few_go_on");
	marked(&f, BASE_NS + 10000, 100, 1);
	expect(f.a.phase == QUELL_ADAPT_FIT, "the_third_round_of_few_begins_fit");
}

/* CUBIC on a path with marks that does not fit the algorithm. */
TEST(marked_cubic)
{
	struct fixture f;
	u64 before_q16;
	int i;

	start_second_round(&f, 300001);
	acks(&f, 330000, 20);
	marked(&f, 330000, 40, 40);
	expect(!f.begins && f.a.phase == QUELL_ADAPT_FALLBACK &&
		       f.a.reason == QUELL_ADAPT_LONG_PATH && f.window_q16 == 60 * MSS_Q16,
	       "on_a_long_path");
	marked(&f, 330000, 60, 60);
	expect(f.window_q16 >= 60 * MSS_Q16, "not_for_data_that_the_search_sent");
	before_q16 = f.window_q16;
	marked(&f, 330000, 60, 20);
	expect(f.window_q16 < before_q16 - 6 * MSS_Q16 && f.window_q16 >= before_q16 - 10 * MSS_Q16,
	       "half_of_the_marked_bytes");
	before_q16 = f.window_q16;
	marked(&f, 330000, 40, 40);
	expect(f.window_q16 >= before_q16, "not_for_data_sent_before");
	marked(&f, 330000, 60, 60);
	expect(f.window_q16 < before_q16 - 10 * MSS_Q16 &&
	       f.window_q16 >= before_q16 / 10 * 7, "but_for_data_sent_since_as_a_loss_at_most");
	for (i = 0; i < QUELL_ADAPT_QUIET_ROUNDS; i++)
		acks(&f, 300001, 20);
	before_q16 = f.window_q16;
	acks(&f, 300001, 20);
	expect(f.window_q16 >= before_q16 + MSS_Q16, "grows_without_marks_for_eight_rounds");
	f.s.marked_bytes = MSS;
	ack(&f, 300001, false);
	expect(!f.begins, "a_mark_alone_does_not_make_it_fit");
	f.s.marked_bytes = 0;
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	f.window_q16 = f.a.cubic.window_q16;
	acks(&f, 300001, 2);
	marked(&f, 330000, 40, 1);
	for (i = 0; i < QUELL_ADAPT_QUIET_ROUNDS; i++)
		acks(&f, 300001, 2);
	expect(f.a.cubic.prior_bytes > f.a.cubic.window_q16 >> 16,
	       "no_probe_below_the_window_of_the_last_loss");
	quell_adapt_on_rto(&f.a, &f.s, false);
	expect_eq(0U, (u32)f.a.above, "a_timeout_slows_no_search");
}

/* One congestion reduces CUBIC's window once, by its marks and its losses. */
TEST(marked_and_lost)
{
	struct fixture f;
	u64 before_q16, after_q16;

	start_second_round(&f, 300001);
	acks(&f, 330000, 20);
	before_q16 = f.window_q16;
	marked(&f, 330000, 40, 40);
	before_q16 += 40 * MSS_Q16;
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	f.window_q16 = f.a.cubic.window_q16;
	expect(f.window_q16 == before_q16 / 10 * 7, "the_loss_reduces_the_window_before_the_marks");
	expect_eq(80U, f.a.cubic.prior_bytes / MSS, "no_probe_below_the_window_before_the_marks");
	after_q16 = f.window_q16;
	marked(&f, 330000, 30, 30);
	marked(&f, 330000, 50, 50);
	expect(f.window_q16 >= after_q16, "marks_of_the_rest_of_the_round_and_the_next_do_not_count");
	marked(&f, 330000, 50, 50);
	expect(f.window_q16 < after_q16, "later_marks_do");
	acks(&f, 330000, 50);
	before_q16 = f.window_q16;
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect(f.a.cubic.window_q16 < before_q16 / 100 * 71, "a_later_loss_is_for_itself");
	quell_adapt_on_undo(&f.a);
	f.window_q16 = f.a.cubic.window_q16;
	before_q16 = f.window_q16;
	marked(&f, 330000, 50, 50);
	expect(f.window_q16 < before_q16, "after_an_undo_marks_count_at_once");
	quell_adapt_on_rto(&f.a, &f.s, false);
	expect(f.a.cubic.ssthresh_bytes >= before_q16 / 10 * 7 >> 16,
	       "a_timeout_and_the_marks_reduce_the_threshold_once");
}

/* Where the delay shows a long queue, marks take up to half, and a loss no less. */
TEST(marked_queue)
{
	struct fixture f;
	u64 before_q16;

	start_second_round(&f, 300001);
	acks(&f, 330000, 20);
	marked(&f, 330000, 40, 40);
	acks(&f, 900000, 60);
	acks(&f, 900000, 60);
	before_q16 = f.window_q16;
	marked(&f, 900000, 100, 100);
	expect(f.window_q16 <= before_q16 / 100 * 55, "by_half");
	expect(f.a.cubic.ssthresh_bytes == f.window_q16 >> 16, "and_the_threshold");
	before_q16 = f.window_q16;
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect_eq(before_q16, f.a.cubic.window_q16, "the_loss_restores_no_part");
	expect(f.a.cubic.ssthresh_bytes == before_q16 >> 16, "nor_of_the_threshold");
}

/* Rounds above the target, counted while the algorithm governed, are no marks. */
TEST(lost_after_rounds_above)
{
	struct fixture f;
	u64 before_q16;
	int above;

	for (above = 0; above < 6; above++) {
		start_fit(&f);
		acks(&f, BASE_NS, 8);
		f.a.above = above;
		f.a.early = 2 * QUELL_ADAPT_EARLY_ROUNDS;
		quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
		expect_eq(QUELL_ADAPT_FALLBACK, (u32)f.a.phase, "early_losses_end_fit");
		f.a.cubic.max_bytes = 1000 * MSS;
		f.a.reason = QUELL_ADAPT_LONG_PATH;
		f.a.base_ns = f.needs.longest_ns + 1;
		f.a.cubic.window_q16 = 100 * MSS_Q16;
		f.a.above = f.a.above == QUELL_ADAPT_REDUCED_BY_LOSS ? 0 : f.a.above;
		quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
		before_q16 = f.a.cubic.window_q16;
		expect_eq(70 * MSS_Q16, before_q16, "a_loss_is_a_loss");
	}
}

/* Marks and records that cease. */
TEST(signal_ends)
{
	struct fixture f;
	int i;

	start(&f, QUELL_ADAPT_RECORDS);
	f.s.telemetry.hop = 1;
	acks(&f, BASE_NS, 8);
	f.s.telemetry.hop = 0;
	for (i = 1; i < QUELL_ADAPT_SILENT_ROUNDS; i++)
		acks(&f, BASE_NS, 8);
	expect_eq(QUELL_ADAPT_FIT, (u32)f.a.phase, "fifteen_rounds_without_are_borne");
	acks(&f, BASE_NS, 8);
	expect(f.a.phase == QUELL_ADAPT_FALLBACK && f.a.reason == QUELL_ADAPT_NO_RECORDS,
	       "sixteen_are_not");
	start(&f, QUELL_ADAPT_MARKS);
	f.s.marked_bytes = MSS;
	acks(&f, BASE_NS, 8);
	f.s.marked_bytes = 0;
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect_eq(QUELL_ADAPT_FIT, (u32)f.a.phase, "a_loss_soon_after_is_the_algorithms");
	for (i = 0; i < 2 * QUELL_ADAPT_SILENT_ROUNDS; i++)
		acks(&f, BASE_NS, 8);
	expect_eq(QUELL_ADAPT_FIT, (u32)f.a.phase, "none_without_a_loss_is_no_reason");
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect(f.a.phase == QUELL_ADAPT_FALLBACK && f.a.reason == QUELL_ADAPT_NO_MARKS,
	       "a_loss_long_after_falls_back");
}

/* ECN-Echo while CUBIC governs, and the effect of an undo. */
TEST(marks_of_the_host)
{
	struct fixture f;

	start(&f, QUELL_ADAPT_RECORDS);
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	f.a.cubic.window_q16 = 100 * MSS_Q16;
	quell_adapt_cut(&f.a, &f.needs, &f.s);
	expect_eq(70 * MSS_Q16, f.a.cubic.window_q16, "a_mark_as_a_loss");
	start_fit(&f);
	acks(&f, BASE_NS, 8);
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	quell_adapt_on_undo(&f.a);
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	expect_eq(QUELL_ADAPT_FIT, (u32)f.a.phase, "a_loss_that_was_none_does_not_count");
}

TEST(events)
{
	struct fixture f;
	u64 before_q16;

	start(&f, QUELL_ADAPT_RECORDS);
	before_q16 = f.window_q16;
	quell_adapt_on_rto(&f.a, &f.s, false);
	expect(f.a.phase == QUELL_ADAPT_START && f.a.cubic.window_q16 == MSS_Q16 &&
		       f.a.cubic.ssthresh_bytes == 7 * MSS,
	       "one_segment_and_up_again");
	quell_adapt_on_undo(&f.a);
	expect_eq(before_q16, f.a.cubic.window_q16, "all_of_it");
	start_fit(&f);
	before_q16 = f.window_q16 = 50 * MSS_Q16;
	quell_adapt_on_idle(&f.a, &f.s, f.window_q16);
	expect(f.a.phase == QUELL_ADAPT_START && f.a.cubic.window_q16 == 10 * MSS_Q16 &&
		       f.a.cubic.ssthresh_bytes == 50 * MSS,
	       "from_ten_segments_to_what_was");
	start_fit(&f);
	quell_adapt_on_idle(&f.a, &f.s, 5 * MSS_Q16);
	expect_eq(QUELL_ADAPT_FIT, (u32)f.a.phase, "a_small_window_stays");
	quell_adapt_fall_back(&f.a, 5 * MSS_Q16, MSS, QUELL_ADAPT_DELAY_STAYS);
	quell_adapt_on_idle(&f.a, &f.s, 5 * MSS_Q16);
	expect(f.a.phase == QUELL_ADAPT_START && !f.a.base_ns &&
		       f.a.cubic.window_q16 == 5 * MSS_Q16,
	       "a_verdict_is_looked_at_anew");
}

/* After an undo of a spurious timeout or loss, the search goes on as before. */
TEST(undo_of_search)
{
	static const u8 signals[] = { QUELL_ADAPT_DELAY, QUELL_ADAPT_MARKS, QUELL_ADAPT_RECORDS };
	struct fixture f;
	u64 before_q16;

	for_each_row(row, signals) {
		start(&f, *row);
		acks(&f, BASE_NS, 10);
		before_q16 = f.a.cubic.window_q16;
		quell_adapt_on_rto(&f.a, &f.s, false);
		acks(&f, BASE_NS, 10);
		quell_adapt_on_undo(&f.a);
		expect(f.a.phase == QUELL_ADAPT_START && f.a.cubic.window_q16 >= before_q16 &&
			       f.a.cubic.ssthresh_bytes == ~0U,
		       "of_a_timeout_the_search_goes_on");
		start(&f, *row);
		acks(&f, BASE_NS, 10);
		acks(&f, BASE_NS, 20);
		acks(&f, BASE_NS, 20);
		acks(&f, BASE_NS, 20);
		before_q16 = f.a.cubic.window_q16;
		quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
		expect(f.a.phase != QUELL_ADAPT_START, "ends_the_search");
		acks_within(&f, BASE_NS, 10);
		quell_adapt_on_undo(&f.a);
		expect(f.a.phase == QUELL_ADAPT_START && f.a.cubic.window_q16 >= before_q16 &&
			       f.a.cubic.ssthresh_bytes == ~0U,
		       "of_a_loss_the_search_goes_on");
	}
	start_fit(&f);
	quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
	quell_adapt_on_undo(&f.a);
	expect_eq(QUELL_ADAPT_FIT, (u32)f.a.phase, "of_the_algorithms_loss_it_stays");
}

/* After losses under another algorithm: grow up to where its slow start would end. */
TEST(take_over)
{
	struct fixture f;

	start(&f, QUELL_ADAPT_RECORDS);
	quell_adapt_take_over(&f.a, 20 * MSS);
	acks(&f, BASE_NS, 11);
	expect(f.a.cubic.window_q16 >= 20 * MSS_Q16 && f.a.cubic.window_q16 < 21 * MSS_Q16 &&
		       f.a.phase == QUELL_ADAPT_FALLBACK,
	       "slow_start_to_ssthresh");
	start(&f, QUELL_ADAPT_RECORDS);
	quell_adapt_take_over(&f.a, 5 * MSS);
	acks(&f, BASE_NS, 10);
	expect(f.a.cubic.window_q16 < 11 * MSS_Q16 && f.a.phase == QUELL_ADAPT_FALLBACK,
	       "not_from_above_it");
}

/* A configured target that is shorter than the path itself. */
TEST(vain_target)
{
	struct fixture f;
	int i;

	start_fit(&f);
	f.a.aim_ns = BASE_NS / 2;
	for (i = 0; i < 2 * QUELL_ADAPT_QUIET_ROUNDS; i++)
		acks(&f, BASE_NS, 10);
	expect_eq(QUELL_ADAPT_FIT, (u32)f.a.phase, "a_target_below_the_path_begins_no_search");
	f.window_q16 = MSS_Q16 / 100;
	for (i = 0; i < QUELL_ADAPT_ABOVE_ROUNDS && f.a.phase == QUELL_ADAPT_FIT; i++)
		acks(&f, BASE_NS, 10);
	expect(f.a.phase == QUELL_ADAPT_FALLBACK && f.a.reason == QUELL_ADAPT_DELAY_STAYS,
	       "a_target_below_the_path_is_given_up");
}

/* Random events in random order. */
TEST(any)
{
	struct random_state r = { .state = 12 };
	struct fixture f;
	bool held = true;
	int run, step;

	for (run = 0; run < RUNS; run++) {
		start(&f, random_between(&r, 0, 2));
		for (step = 0; step < STEPS; step++) {
			f.s.now_ns += random_magnitude(&r, 0, 1ULL << 40);
			f.s.rtt_ns = random_magnitude(&r, 0, ~0ULL);
			f.s.acked_bytes = random_magnitude(&r, 0, 0xffffffff);
			f.s.inflight_bytes = random_magnitude(&r, 0, 0xffffffff);
			f.s.mss_bytes = random_between(&r, 1, 65535);
			f.s.marked_bytes = random_between(&r, 0, 1);
			f.s.telemetry.hop = random_between(&r, 0, 1);
			f.s.flags = random_between(&r, 0, 255);
			switch (random_between(&r, 0, 20)) {
			case 0:
				quell_adapt_on_loss(&f.a, &f.needs, &f.s, f.window_q16);
				break;
			case 1:
				quell_adapt_on_rto(&f.a, &f.s, random_between(&r, 0, 1));
				break;
			case 2:
				quell_adapt_on_undo(&f.a);
				break;
			case 3:
				quell_adapt_on_idle(&f.a, &f.s, f.window_q16);
				break;
			default:
				quell_adapt_on_ack(&f.a, &f.needs, &f.s, f.window_q16,
						   random_between(&r, 0, 1));
			}
			f.window_q16 = f.a.cubic.window_q16;
			held = held && f.a.phase >= QUELL_ADAPT_START &&
			       f.a.phase <= QUELL_ADAPT_FALLBACK &&
			       f.a.reason < QUELL_ADAPT_REASONS && f.window_q16 > 0 &&
			       f.window_q16 <= QUELL_CUBIC_MAX_WINDOW_Q16;
		}
	}
	expect(held, "window_and_phase_in_range");
}

TEST_HARNESS_MAIN
