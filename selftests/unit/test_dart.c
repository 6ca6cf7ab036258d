// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of Dart's sender, <quell/core/dart/react.h> and core.h, by tables of cases.
 * The expected numbers were derived by hand from the paper's rule, rate = line / n.
 */
#include <string.h>

#include <quell/core/dart/core.h>

#include "test.h"

/* With 90 bytes of headers a packet has 1000. */
#define MSS		910U
#define LINE_BYTES_PS	10000000000ULL
#define RTT_NS		10000ULL
#define START_NS	1000000ULL
/* 15 us of the line, in packets of 1000 bytes, and one more. */
#define WINDOW_OF_ONE	151U
#define SLACK_NS	5000ULL

static struct flow {
	struct quell_dart_params p;
	struct quell_dart_vars v;
	struct quell_dart_stats st;
	struct quell_event ev;
} f;

/* A flow at the rate of its own line. */
static void start(bool ecn, u64 rtt_ns)
{
	memset(&f, 0, sizeof(f));
	quell_core_params_default(&quell_dart_core, &f.p);
	f.p.slack_ns = SLACK_NS;
	f.ev = (struct quell_event) {
		.vars = &f.v, .params = &f.p, .stats = &f.st,
		.sample = {
			.now_ns = START_NS, .link_bytes_ps = LINE_BYTES_PS,
			.min_rtt_ns = rtt_ns, .mss_bytes = MSS,
			.flags = ecn ? QUELL_S_ECN : 0,
		},
	};
	quell_dart_core.init(&f.ev);
	f.ev.sample.flags = 0;
}

static void ack(u32 senders_q8, u64 peer_bytes_ps, u32 marked_bytes)
{
	f.ev.sample.link_bytes_ps = LINE_BYTES_PS;
	f.ev.sample.peer_link_bytes_ps = peer_bytes_ps;
	f.ev.sample.senders_q8 = senders_q8;
	f.ev.sample.marked_bytes = marked_bytes;
	f.ev.sample.acked_bytes = MSS;
	f.ev.sample.acked_pkts = 1;
	quell_dart_core.on_ack(&f.ev);
}

static u64 rate(void)
{
	return f.ev.decision.pacing_bytes_ps;
}

static u64 window_segs(void)
{
	return (f.ev.decision.window_q16 >> 16) / MSS;
}

TEST(line)
{
	static const struct {
		const char *name;
		u64 own, peer, want;
	} cases[] = {
		{ "not_known", 0, 0, 0 },
		{ "own", 5, 0, 5 },
		{ "peer", 0, 5, 5 },
		{ "own_is_slower", 5, 6, 5 },
		{ "peer_is_slower", 6, 5, 5 },
	};

	for_each_row(row, cases) {
		struct quell_sample s = {
			.link_bytes_ps = row->own,
			.peer_link_bytes_ps = row->peer,
		};

		expect_eq(row->want, quell_dart_line_bytes_ps(&s), "%s", row->name);
	}
	expect_eq(9100000000, quell_dart_payload_bytes_ps(LINE_BYTES_PS, MSS, 0),
		  "headers_not_known");
	expect_eq(9100000000, quell_dart_payload_bytes_ps(LINE_BYTES_PS, MSS, 90),
		  "without_headers");
	/* The Quell option's 12 bytes. */
	expect_eq(8992094861, quell_dart_payload_bytes_ps(LINE_BYTES_PS, MSS, 102),
		  "without_options");
}

/* Section III-A: line / n, and a window of that for the base round trip and the slack. */
TEST(share)
{
	static const struct {
		const char *name;
		u32 senders_q8;
		u64 peer_bytes_ps, want_rate, want_segs;
	} cases[] = {
		/* DCQCN's: 10 bytes/ns for 110 us */
		{ "not_stated", 0, 0, LINE_BYTES_PS, 1208 },
		/* without headers */
		{ "one", 256, 0, 9100000000, 1208 },
		{ "less_than_one", 128, 0, 9100000000, 1208 },
		{ "one_at_a_slower_peer", 256, 1000000000, 910000000, 120 },
		/* 5 bytes/ns for 15 us are 75 packets; and one */
		{ "two", 512, 0, 4550000000, 76 },
		{ "three_halves", 384, 0, 6066666666, 101 },
		{ "four", 1024, 0, 2275000000, 39 },
		{ "three", 768, 0, 3033333333, 51 },
		{ "just_above_one", 257, 0, 9064591439, 151 },
		{ "two_at_a_slower_peer", 512, 1000000000, 455000000, 9 },
		{ "two_at_a_faster_peer", 512, 2 * LINE_BYTES_PS, 4550000000, 76 },
		/* 1.25 MB/s on the wire */
		{ "not_below_the_smallest_rate", 256 * 100000, 0, 1137500, 2 },
	};

	for_each_row(row, cases) {
		bool shares = row->senders_q8 > 256;

		start(true, RTT_NS);
		ack(row->senders_q8, row->peer_bytes_ps, 0);
		expect(row->want_rate <= rate() + 1 && rate() <= row->want_rate, "%s_rate: %llu",
		       row->name, rate());
		expect_eq(row->want_segs, window_segs(), "%s_window", row->name);
		expect(f.st.apportioned == shares && !f.st.fallen_back &&
			       f.st.unstated == !row->senders_q8,
		       "%s_counters", row->name);
	}
}

TEST(unknown)
{
	start(true, 0);
	ack(512, 0, 0);
	expect(rate() == 4550000000 && window_segs() == 10, "no_round_trip");
	start(true, RTT_NS);
	ack(512, 0, 0);
	f.ev.sample.link_bytes_ps = 0;
	f.ev.sample.peer_link_bytes_ps = 0;
	quell_dart_core.on_ack(&f.ev);
	expect(rate() == LINE_BYTES_PS && f.st.apportioned == 1 && !f.st.unstated &&
		       !f.st.fallen_back,
	       "no_line");
	/* A peer that does not echo marks: Reno's window, paced at the share. */
	start(false, RTT_NS);
	expect_eq(QUELL_RATE_UNLIMITED, rate(), "no_marks");
	ack(512, 0, 0);
	expect(rate() == 4550000000 && window_segs() == 10 && f.st.apportioned == 1, "no_marks");
	/* Rates below a byte per second are 0. */
	start(true, RTT_NS);
	f.p.dcqcn.min_rate_bytes_ps = 0;
	f.ev.sample.link_bytes_ps = 1;
	f.ev.sample.senders_q8 = 512;
	quell_dart_core.on_ack(&f.ev);
	expect_eq(1, rate(), "never_stops");
}

/* Section III-C: the smaller of both rates; with n = 1 DCQCN's alone. */
TEST(fall_back)
{
	start(true, RTT_NS);
	ack(256, 0, MSS);
	expect(rate() == LINE_BYTES_PS / 2 && f.st.fallen_back == 1 && !f.st.apportioned,
	       "dcqcn_governs");
	ack(0, 0, 0);
	expect(rate() == LINE_BYTES_PS / 2 && f.st.fallen_back == 2 && f.st.unstated == 1,
	       "dcqcn_governs_unstated");
	ack(1024, 0, 0);
	expect(rate() == 2275000000 && f.st.apportioned == 1, "share_is_less");
	ack(384, 0, 0);
	expect(rate() == LINE_BYTES_PS / 2 && window_segs() == 101 && f.st.fallen_back == 3,
	       "dcqcn_is_less");
	/* Where both are the same it is the share's. */
	f.v.dcqcn.rate_q16 = 4550000000ULL << 16;
	f.v.dcqcn.target_q16 = f.v.dcqcn.rate_q16;
	ack(512, 0, 0);
	expect(rate() == 4550000000 && f.st.apportioned == 2 && f.st.fallen_back == 3,
	       "both_alike");
	f.v.dcqcn.rate_q16 = LINE_BYTES_PS / 2 << 16;
	f.v.dcqcn.target_q16 = LINE_BYTES_PS << 16;
	/* 5 bytes/ns for 110 us */
	ack(256, 0, 0);
	expect_eq(604, window_segs(), "window_of_dcqcn");
}

/* A slack of 0 is a fourth of the base round trip, 2.5 us here. */
TEST(slack)
{
	start(true, RTT_NS);
	f.p.slack_ns = 0;
	ack(512, 0, 0);
	expect_eq(64, window_segs(), "two");
	/* At n = 1 queue-bound alone has an effect, 10 bytes/ns for 510 us here. */
	f.p.dcqcn.queue_bound_ns = 500000;
	ack(256, 0, 0);
	expect_eq(5604, window_segs(), "one_by_queue_bound");
	start(true, RTT_NS + 2);
	f.p.slack_ns = 0;
	ack(512, 0, 0);
	/* 12502 ns: rounded down */
	expect_eq(64, window_segs(), "not_a_multiple");
}

/*
 * Both of DCQCN's timers run at all n.  Alone for 5 of each 55 us, one of four for the others: after 2 ms
 * they have expired as often as alone.
 */
TEST(timers)
{
	u32 n;

	start(true, RTT_NS);
	ack(256, 0, MSS);
	for (n = 1; n <= 400; n++) {
		f.ev.sample.now_ns = START_NS + n * 5000;
		ack(n % 11 ? 1024 : 256, 0, 0);
	}
	expect_eq(36, f.v.dcqcn.timer_steps, "expired");
	/* Periods of notifications, too: one at their end reduces the rate at once. */
	start(true, RTT_NS);
	ack(256, 0, MSS);
	f.ev.sample.now_ns = START_NS + 49000;
	ack(1024, 0, 0);
	f.ev.sample.now_ns = START_NS + 50000;
	ack(256, 0, MSS);
	expect_eq(2, f.st.dcqcn.notifications, "notified");
}

/* Losses, timeouts and undone reductions are DCQCN's, at the share. */
TEST(losses)
{
	struct quell_dart_vars before;
	struct quell_undo undo = { .valid = false };

	start(true, RTT_NS);
	ack(512, 0, 0);
	f.ev.sample.inflight_bytes = 40 * MSS;
	before = f.v;
	f.ev.before = &before;
	f.ev.undo = &undo;
	quell_dart_core.on_loss(&f.ev);
	expect(f.st.dcqcn.losses == 1 && rate() == 4550000000 && window_segs() == 20, "window");
	expect_eq(LINE_BYTES_PS / 2, f.v.dcqcn.rate_q16 >> 16, "rate_of_dcqcn");
	quell_dart_core.undo_note(&f.ev);
	quell_dart_core.on_undo(&f.ev);
	expect(rate() == 4550000000 && window_segs() == 76 &&
		       f.v.dcqcn.rate_q16 >> 16 == LINE_BYTES_PS,
	       "at_the_share");
	quell_dart_core.on_rto(&f.ev);
	expect(f.st.dcqcn.rtos == 1 && rate() == 4550000000 && window_segs() == 1, "window");
	quell_dart_core.on_rto(&f.ev);
	expect_eq(LINE_BYTES_PS / 4, rate(), "below_the_share");
}

/* The first window is that of n = 1, also after an idle time, until n is stated or known to be 1. */
TEST(first_window)
{
	static const struct {
		const char *name;
		u64 line, rtt_ns, restarts, want;
	} cases[] = {
		{ "line_not_known", 0, RTT_NS, 0, 11 * QUELL_INIT_SEGMENTS },
		{ "round_trip_not_known", LINE_BYTES_PS, 0, 0, QUELL_INIT_SEGMENTS },
		{ "of_the_line", LINE_BYTES_PS, RTT_NS, 0, WINDOW_OF_ONE },
		{ "after_idle_time", LINE_BYTES_PS, RTT_NS, 1, WINDOW_OF_ONE },
	};

	for_each_row(row, cases) {
		start(true, row->rtt_ns);
		f.ev.sample.flags = QUELL_S_ECN;
		f.ev.sample.link_bytes_ps = row->line;
		f.ev.sample.idle_ns = f.p.dcqcn.restart_idle_ns;
		if (row->restarts)
			quell_dart_core.on_idle_restart(&f.ev);
		else
			quell_dart_core.init(&f.ev);
		expect_eq(row->want, window_segs(), "%s", row->name);
	}
	ack(QUELL_SHARE_ONE_Q8, LINE_BYTES_PS, 0);
	expect(window_segs() > WINDOW_OF_ONE, "window_of_dcqcn_for_one");
}

/* All flows begin at the line rate, also after an idle time. */
TEST(starts)
{
	static const struct {
		const char *name;
		u64 own, peer, want;
	} cases[] = {
		{ "own", LINE_BYTES_PS, 0, LINE_BYTES_PS },
		{ "peer_is_slower", LINE_BYTES_PS, 1000000000, 1000000000 },
		{ "peer_is_faster", LINE_BYTES_PS, 2 * LINE_BYTES_PS, LINE_BYTES_PS },
	};

	for_each_row(row, cases) {
		start(true, RTT_NS);
		f.ev.sample.flags = QUELL_S_ECN;
		f.ev.sample.link_bytes_ps = row->own;
		f.ev.sample.peer_link_bytes_ps = row->peer;
		f.ev.sample.senders_q8 = 1024;
		quell_dart_core.init(&f.ev);
		expect_eq(row->want, rate(), "%s", row->name);
		quell_dart_core.on_ack(&f.ev);
		f.ev.sample.link_bytes_ps = row->own;
		f.ev.sample.idle_ns = f.p.dcqcn.restart_idle_ns;
		quell_dart_core.on_idle_restart(&f.ev);
		expect(rate() == row->want && f.st.dcqcn.restarts == 1, "%s", row->name);
		f.ev.sample.idle_ns = f.p.dcqcn.restart_idle_ns - 1;
		quell_dart_core.on_idle_restart(&f.ev);
		expect_eq(row->want / 4000 * 910, rate(), "%s_keeps_its_share", row->name);
	}
}

TEST(params)
{
	struct quell_dart_params p;
	struct quell_dart_machine_params machine;
	struct quell_dasr_params set;

	quell_core_params_default(&quell_dart_core, &p);
	machine = quell_dart_machine_params(&p);
	set = quell_dart_set_params(&p);
	expect(machine.period_ns == 100000 && machine.clear_ns == 2000000 &&
		       machine.full_q16 == 58982 && machine.periods == 2,
	       "all");
	expect(set.idle_ns == 20000000 && set.plain_idle_ns == 1000000 &&
		       set.lookahead_ns == 1000000,
	       "all");
	expect(!p.slack_ns && p.lookahead_ns == 1000000 &&
		       p.dcqcn.g_q16 == 256 &&
		       quell_dart_core.flags == (QUELL_CORE_ECN | QUELL_CORE_SENDERS),
	       "defaults");
}

TEST_HARNESS_MAIN
