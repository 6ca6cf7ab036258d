// SPDX-License-Identifier: GPL-2.0
/*
 * Dart's sender: the line, counters and extreme values, by tables of cases derived by hand from the
 * paper's rule, rate = line / n.  The rest is compared with it (test_dart_model.py).
 */
#include <string.h>

#include <quell/core/dart/core.h>

#include "test.h"

/* With 90 bytes of headers a packet has 1000. */
#define MSS		910U
#define LINE_BYTES_PS	10000000000ULL
#define RTT_NS		10000ULL
#define START_NS	1000000ULL
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
	ack(256, 0, 0);
	expect(rate() == 9100000000 && !f.st.apportioned && !f.st.fallen_back, "line_is_no_share");
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
