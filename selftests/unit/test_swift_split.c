// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of <quell/core/swift/split.h>, by tables of cases: 100 Gbit/s,
 * 4.3 us of round trip, segments of 1448 bytes, default parameters, hence a
 * target of 100 us for the host.  The expected numbers were derived by hand.
 */
#include <string.h>

#include <quell/core/swift/core.h>

#include "swift_fixture.h"
#include "test.h"

#define HOST_NS		100000ULL
#define NEAR(a, b)	((a) + 700 >= (b) && (a) <= (b) + 700)	/* 2^-24 of a window */

struct split {
	struct quell_swift_params p;
	struct quell_swift_split_vars v;
	struct quell_swift_split_stats st;
	struct quell_sample s;
	struct quell_decision out;
};

/* A flow before the receiver has reported its delay. */
static void split_start(struct split *f, u64 window_pkts)
{
	memset(f, 0, sizeof(*f));
	quell_core_params_default(&quell_swift_core, &f->p);
	f->p.base_target_ns = 5000;
	quell_swift_split_init(&f->v, &f->p, &at_start, &f->out);
	f->v.fabric.window_q16 = window_pkts * MSS_Q16;
	f->s.mss_bytes = MSS;
	f->s.acked_bytes = MSS;
	f->s.acked_pkts = 1;
	f->s.hops = 1;
}

/* A flow with both windows. */
static void split_start_both(struct split *f, u64 fabric_pkts, u64 host_pkts)
{
	split_start(f, fabric_pkts);
	f->v.host_window_q16 = host_pkts * MSS_Q16;
	f->v.fabric.flags |= QUELL_SWIFT_SPLIT_F_HOST;
}

static void split_ack(struct split *f, u64 now_ns, u64 rtt_ns, u64 remote_ns)
{
	f->s.now_ns = now_ns;
	f->s.rtt_ns = rtt_ns;
	f->s.remote_ns = remote_ns;
	quell_swift_split_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
}

static void split_loss(struct split *f, u64 now_ns)
{
	f->s.now_ns = now_ns;
	f->s.rtt_ns = 0;
	quell_swift_split_on_loss(&f->v, &f->p, &f->st, &f->s, &f->out);
}

static void split_rto(struct split *f, u64 now_ns)
{
	f->s.now_ns = now_ns;
	f->s.rtt_ns = 0;
	quell_swift_split_on_rto(&f->v, &f->p, &f->st, &f->s, &f->out);
}

TEST(init)
{
	struct split f;

	memset(&f, 0xff, sizeof(f));
	quell_core_params_default(&quell_swift_core, &f.p);
	quell_swift_split_init(&f.v, &f.p, &at_start, &f.out);
	expect(f.out.window_q16 == 36 * MSS_Q16 && !f.v.host_window_q16 && !f.v.host_decrease_ns &&
		       !f.v.fabric.flags,
	       "sets_all_state");
}

/* When the host's window is created, and its first value. */
TEST(observe)
{
	static const struct {
		const char *name;
		u64 rtt_ns, remote_ns, target_ns;
		bool has_host;
	} rows[] = {
		{ "nothing_said", 5000, 0, HOST_NS, false },
		{ "said", 5000, 1000, HOST_NS, true },
		{ "said_without_rtt", 0, 1000, HOST_NS, false },
		{ "said_but_off", 5000, 1000, 0, false },
	};
	struct split f;

	for_each_row(row, rows) {
		split_start(&f, 100);
		f.p.host_target_ns = row->target_ns;
		split_ack(&f, START_NS, row->rtt_ns, row->remote_ns);
		expect(quell_swift_split_has_host(&f.v) == row->has_host &&
			       f.out.window_q16 == 100 * MSS_Q16 + 17612 &&
			       f.v.host_window_q16 == (row->has_host ? f.out.window_q16 : 0),
		       "%s", row->name);
	}
	split_start_both(&f, 100, 10);
	f.v.fabric.flags |= QUELL_SWIFT_SPLIT_F_DECREASED;
	f.p.host_target_ns = 0;
	split_ack(&f, START_NS, 5000, 1000);
	expect(!quell_swift_split_has_host(&f.v) && f.out.window_q16 == 100 * MSS_Q16 + 17612,
	       "switched_off");
	f.p.host_target_ns = HOST_NS;
	split_ack(&f, START_NS, 5000 + 2 * HOST_NS, 2 * HOST_NS);
	/* (100 segments + 17612) * 0.59999847 */
	expect(quell_swift_split_has_host(&f.v) && NEAR(f.v.host_window_q16, 5693763767ULL),
	       "on_again_knows_no_decrease");
}

/* The same as without the split until the receiver reports its delay. */
TEST(without_host)
{
	struct fixture one;
	struct split two;
	bool same = true;
	int i;

	fixture_start(&one, 100);
	split_start(&two, 100);
	for (i = 0; i < 3000; i++) {
		u64 now_ns = START_NS + i * 700, rtt_ns = i % 13 ? 4300 + i % 977 * 9 : 0;

		fixture_ack(&one, now_ns, rtt_ns);
		split_ack(&two, now_ns, rtt_ns, 0);
		if (i % 400 == 399) {
			fixture_loss(&one, now_ns);
			split_loss(&two, now_ns);
		}
		if (i % 1500 == 1499) {
			fixture_rto(&one, now_ns);
			split_rto(&two, now_ns);
		}
		same = same && !memcmp(&one.v, &two.v.fabric, sizeof(one.v)) &&
		       !memcmp(&one.out, &two.out, sizeof(one.out)) &&
		       !memcmp(&one.st, &two.st.swift, sizeof(one.st));
	}
	expect(same && one.st.decreases > 10 && one.st.increases > 1000, "without_a_host_is_swift");
}

/* 100 segments each: which delay changes which window, and by how much. */
TEST(two_delays)
{
	static const struct {
		const char *name;
		u64 rtt_ns, remote_ns, fabric_q16, host_q16;
	} rows[] = {
		{ "both_below", 5000, 1000, 100 * MSS_Q16 + 17612, 100 * MSS_Q16 + 17612 },
		/* fabric 6999 of 7000 ns */
		{ "host_slow_fabric_empty", 6999 + HOST_NS - 1, HOST_NS - 1,
		  100 * MSS_Q16 + 17612, 100 * MSS_Q16 + 17612 },
		{ "host_at_target", 5000 + HOST_NS, HOST_NS, 100 * MSS_Q16 + 17612, 100 * MSS_Q16 },
		/* 1 - 0.8000031 / 2 = 0.59999847 */
		{ "host_twice_its_target", 5000 + 2 * HOST_NS, 2 * HOST_NS,
		  100 * MSS_Q16 + 17612, 5693753200 },
		{ "fabric_twice_its_target", 14000 + 50000, 50000, 5693753200,
		  100 * MSS_Q16 + 17612 },
		{ "both_far_above", 40000 + 1000000, 1000000, 50 * MSS_Q16, 50 * MSS_Q16 },
		{ "all_of_it_the_hosts", 50000, 50000, 100 * MSS_Q16 + 17612,
		  100 * MSS_Q16 + 17612 },
		{ "more_than_all_of_it", 5000, 1000000, 100 * MSS_Q16 + 17612,
		  100 * MSS_Q16 + 17612 },
		{ "nothing_measured", 0, 1000000, 100 * MSS_Q16 + 17612, 100 * MSS_Q16 + 17612 },
		{ "nothing_said", 14000, 0, 5693753200, 100 * MSS_Q16 + 17612 },
	};
	struct split f;

	for_each_row(row, rows) {
		split_start_both(&f, 100, 100);
		split_ack(&f, START_NS, row->rtt_ns, row->remote_ns);
		expect(NEAR(f.v.fabric.window_q16, row->fabric_q16) &&
			       NEAR(f.v.host_window_q16, row->host_q16),
		       "%s", row->name);
		expect(f.out.window_q16 ==
				       quell_min_u64(f.v.fabric.window_q16, f.v.host_window_q16) &&
			       f.out.target_ns == BARE_TARGET_NS &&
			       f.st.host_limited == (f.v.host_window_q16 < f.v.fabric.window_q16),
		       "%s", row->name);
	}
	expect(f.st.swift.no_rtt == 0 && f.st.swift.decreases == 1 && !f.st.host_decreases,
	       "counted");
}

/* At most one decrease per round trip, timed for each window separately. */
TEST(own_clocks)
{
	struct split f;
	u64 rtt_ns = 5000 + 4 * HOST_NS;

	split_start_both(&f, 100, 100);
	split_ack(&f, START_NS, rtt_ns, 4 * HOST_NS);
	expect(NEAR(f.v.host_window_q16, 50 * MSS_Q16) && f.st.host_decreases == 1,
	       "first_decrease");
	/* Now the fabric is slow as well: its first decrease is due. */
	split_ack(&f, START_NS + 1, rtt_ns + 35000, 4 * HOST_NS);
	expect(f.v.fabric.window_q16 < 51 * MSS_Q16 && f.st.swift.decreases == 1 &&
		       NEAR(f.v.host_window_q16, 50 * MSS_Q16) && f.st.host_held == 1,
	       "held_while_the_fabric_is_not");
	split_ack(&f, START_NS + rtt_ns - 1, rtt_ns, 4 * HOST_NS);
	expect(NEAR(f.v.host_window_q16, 50 * MSS_Q16) && f.st.host_held == 2, "one_ns_early");
	split_ack(&f, START_NS + rtt_ns, rtt_ns, 4 * HOST_NS);
	expect(NEAR(f.v.host_window_q16, 25 * MSS_Q16) && f.st.host_decreases == 2 &&
		       f.v.host_decrease_ns == START_NS + rtt_ns,
	       "on_time");
}

/* ACKs do not grow a window that does not limit the flow. */
TEST(unused)
{
	static const struct {
		const char *name;
		u64 fabric_pkts, host_pkts;
		bool fabric_grows, host_grows;
	} rows[] = {
		{ "equal", 100, 100, true, true },
		{ "host_not_quite_twice", 50, 99, true, true },
		{ "host_twice", 50, 100, true, false },
		{ "fabric_twice", 100, 50, false, true },
		{ "fabric_not_quite_twice", 99, 50, true, true },
	};
	struct split f;

	for_each_row(row, rows) {
		split_start_both(&f, row->fabric_pkts, row->host_pkts);
		f.v.fabric.flags |= QUELL_SWIFT_F_LOSS;
		split_ack(&f, START_NS, 5000, 1000);
		expect((f.v.fabric.window_q16 > row->fabric_pkts * MSS_Q16) == row->fabric_grows &&
			       (f.v.host_window_q16 > row->host_pkts * MSS_Q16) ==
				       row->host_grows &&
			       f.st.unused == !row->fabric_grows &&
			       f.st.swift.increases == row->fabric_grows &&
			       !(f.v.fabric.flags & QUELL_SWIFT_F_LOSS),
		       "%s", row->name);
	}
	split_start_both(&f, 100, 100);
	f.s.flags = QUELL_S_APP_LIMITED;
	split_ack(&f, START_NS, 5000, 1000);
	expect(f.v.fabric.window_q16 == 100 * MSS_Q16 && f.v.host_window_q16 == 100 * MSS_Q16 &&
		       f.st.swift.app_limited == 1,
	       "app_limited_holds");
}

/* A host that is never slow never limits the flow, at any delay of the fabric. */
TEST(fast_host_is_unseen)
{
	struct fixture one;
	struct split two;
	bool same = true;
	int i;

	fixture_start(&one, 100);
	split_start(&two, 100);
	for (i = 0; i < 20000; i++) {
		u64 now_ns = START_NS + i * 700, rtt_ns = 4300 + i % 977 * 6;

		one.p.ai_bytes_ps = 125000000;
		two.p.ai_bytes_ps = 125000000;
		fixture_ack(&one, now_ns, rtt_ns);
		split_ack(&two, now_ns, rtt_ns + 1, 1);
		/* The round trip is longer by one. */
		two.v.fabric.rtt_ns--;
		two.v.fabric.min_rtt_ns = one.v.min_rtt_ns;
		same = same && one.out.window_q16 == two.out.window_q16;
	}
	expect(same && !two.st.host_limited && one.st.decreases > 10, "fast_host_is_unseen");
}

/* Random skipping applies to decreases due to the fabric's delay, not the host's. */
TEST(probabilistic)
{
	struct split f;

	split_start_both(&f, 1, 1);
	f.p.probabilistic = 1;
	f.p.min_window_pkts_q16 = 0;
	f.v.fabric.window_q16 = 1000;
	f.v.host_window_q16 = 1000;
	split_ack(&f, START_NS, 300000, 200000);
	expect(f.st.swift.disregarded == 1 && !f.st.swift.decreases &&
		       f.v.fabric.window_q16 == 1000 && f.st.host_decreases == 1 &&
		       f.v.host_window_q16 < 1000,
	       "disregards_the_fabric");
	f.v.host_window_q16 = 1000;
	split_loss(&f, START_NS + 1);
	expect(f.v.fabric.window_q16 == 500 && f.v.host_window_q16 == 1000,
	       "each_window_by_its_own_decrease");
}

TEST(loss_cases)
{
	struct split f;

	split_start_both(&f, 100, 80);
	split_loss(&f, START_NS);
	expect(f.v.fabric.window_q16 == 50 * MSS_Q16 && f.v.host_window_q16 == 40 * MSS_Q16 &&
		       f.out.window_q16 == 40 * MSS_Q16 && f.st.swift.fast_retx == 1,
	       "both");
	split_loss(&f, START_NS + RTT_NS - 1);
	expect(f.v.fabric.window_q16 == 50 * MSS_Q16 && f.v.host_window_q16 == 40 * MSS_Q16,
	       "held");
	/* Loss is over when neither delay is above its target. */
	split_ack(&f, START_NS + 10 * HOST_NS, 5000 + HOST_NS, HOST_NS);
	expect(f.v.fabric.flags & QUELL_SWIFT_F_LOSS, "loss_is_not_past_while_the_host_is_slow");
	split_ack(&f, START_NS + 20 * HOST_NS, 5000, 1000);
	expect(!(f.v.fabric.flags & QUELL_SWIFT_F_LOSS), "loss_is_past");
	split_ack(&f, START_NS + 30 * HOST_NS, 5000 + HOST_NS, HOST_NS);
	expect(!(f.v.fabric.flags & QUELL_SWIFT_F_LOSS), "a_slow_host_is_no_loss");
	split_start(&f, 100);
	split_loss(&f, START_NS);
	expect(f.out.window_q16 == 50 * MSS_Q16 && !f.v.host_window_q16, "no_host");
}

TEST(rto)
{
	struct split f;
	int i;

	split_start_both(&f, 100, 80);
	split_rto(&f, START_NS);
	expect(f.v.fabric.window_q16 == 50 * MSS_Q16 && f.v.host_window_q16 == 40 * MSS_Q16 &&
		       f.out.window_q16 == 40 * MSS_Q16 && f.st.swift.rtos == 1,
	       "both");
	for (i = 0; i < 4; i++)
		split_rto(&f, START_NS);
	/* 656 / 65536 of 1448 bytes */
	expect(f.v.fabric.window_q16 == 656 * MSS && f.v.host_window_q16 == 656 * MSS &&
		       f.st.swift.rto_resets == 1,
	       "fifth_resets_both");
	split_start(&f, 100);
	split_rto(&f, START_NS);
	expect(f.out.window_q16 == 50 * MSS_Q16 && !f.v.host_window_q16, "no_host");
}

TEST(idle)
{
	static const struct {
		const char *name;
		u64 idle_ns, host_pkts, want_fabric_pkts, want_host_pkts;
		bool loss, blind;
	} rows[] = {
		{ "too_short", 999999, 5, 5, 5, false, false },
		{ "both_anew", 1000000, 5, 36, 36, false, false },
		{ "after_loss_each_stays", 1000000, 3, 5, 3, true, false },
		{ "no_host", 1000000, 0, 36, 0, false, true },
	};
	struct split f;

	for_each_row(row, rows) {
		if (row->blind)
			split_start(&f, 5);
		else
			split_start_both(&f, 5, row->host_pkts);
		f.v.fabric.flags |= row->loss ? QUELL_SWIFT_F_LOSS : 0;
		f.s.now_ns = START_NS + row->idle_ns;
		f.s.idle_ns = row->idle_ns;
		quell_swift_split_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
		expect(f.v.fabric.window_q16 == row->want_fabric_pkts * MSS_Q16 &&
			       f.v.host_window_q16 == row->want_host_pkts * MSS_Q16,
		       "%s", row->name);
	}
}

/* Half a segment for the host: paced over the whole round trip. */
TEST(pacing)
{
	struct split f;

	split_start_both(&f, 100, 0);
	f.v.host_window_q16 = MSS_Q16 / 2;
	f.s.flags = QUELL_S_APP_LIMITED;
	split_ack(&f, START_NS, 10000, 5000);
	/* 724 bytes in 10 us */
	expect(f.out.window_q16 == MSS_Q16 / 2 && f.out.pacing_bytes_ps == 72400000,
	       "paces_the_smaller_window");
	f.v.host_window_q16 = 1;
	split_ack(&f, START_NS, 10000, 5000);
	expect_eq(656 * MSS, f.v.host_window_q16, "smallest");
	f.v.host_window_q16 = QUELL_U64_MAX;
	split_ack(&f, START_NS, 10000, 5000);
	expect_eq(1ULL << 40, f.v.host_window_q16, "largest");
}

TEST_HARNESS_MAIN
