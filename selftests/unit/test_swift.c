// SPDX-License-Identifier: GPL-2.0
/*
 * Swift, with one window and with two: the start, extreme values and counters, by tables of cases.
 * The rest is compared with the papers' equations (test_swift_model.py); together they take every
 * branch.  The expected numbers were derived by hand, not from the code.
 */
#include <string.h>

#include <quell/core/swift/core.h>

#include "test.h"

#define MSS		1448U
#define MSS_Q16		((u64)MSS << 16)
#define LINK_BYTES_PS	12500000000ULL
#define RTT_NS		4300ULL
#define START_NS	1000000ULL
#define SLOW_NS		1000000ULL	/* above both targets */

struct fixture {
	struct quell_swift_params p;
	struct quell_swift_split_vars v;
	struct quell_swift_split_stats st;
	struct quell_sample s;
	struct quell_decision out;
};

/*
 * A flow with @window_pkts segments, and as many for the host if @has_host: 100 Gbit/s, a target
 * of 7 us, default parameters.  Without @min_rtt_ns it has never measured a round trip.
 */
static void fixture_start(struct fixture *f, u64 min_rtt_ns, u64 window_pkts, bool has_host)
{
	memset(f, 0, sizeof(*f));
	quell_core_params_default(&quell_swift_core, &f->p);
	f->p.base_target_ns = 5000;
	quell_swift_split_init(&f->v, &f->p, &(struct quell_sample) {
			.now_ns = START_NS, .min_rtt_ns = min_rtt_ns, .mss_bytes = MSS,
			.link_bytes_ps = min_rtt_ns ? LINK_BYTES_PS : 0,
		}, &f->out);
	f->v.fabric.window_q16 = window_pkts * MSS_Q16;
	f->v.host_window_q16 = has_host * window_pkts * MSS_Q16;
	f->v.fabric.flags |= has_host ? QUELL_SWIFT_SPLIT_F_HOST : 0;
	f->s = (struct quell_sample) {
		.now_ns = START_NS, .mss_bytes = MSS, .acked_bytes = MSS, .acked_pkts = 1,
		.hops = 1,
	};
}

static void fixture_ack(struct fixture *f, u64 now_ns, u64 rtt_ns)
{
	f->s.now_ns = now_ns;
	f->s.rtt_ns = rtt_ns;
	quell_swift_split_on_ack(&f->v, &f->p, &f->st, &f->s, &f->out);
}

/* Constants derived from the parameters, and degenerate ranges. */
TEST(derive)
{
	struct quell_swift_params p;

	quell_core_params_default(&quell_swift_core, &p);
	/* 25000 / (1 / sqrt(6554 / 65536) - 1 / sqrt(50)) = 8276.0635 ns */
	expect_eq(8474689, p.fs_alpha_ns_q10, "alpha");
	/* 1 / sqrt(50) = 0.14142136 */
	expect_eq(2372657, p.fs_offset_q24, "offset");
	p.fs_range_ns = 0;
	quell_swift_params_derive(&p);
	expect_eq(0, p.fs_alpha_ns_q10, "range_zero");
	p.fs_range_ns = 25000;
	p.fs_max_pkts_q16 = p.fs_min_pkts_q16;
	quell_swift_params_derive(&p);
	expect_eq(0, p.fs_alpha_ns_q10, "empty_interval");
}

TEST(flow_scale)
{
	static const struct {
		const char *name;
		u64 range_ns, window_pkts_q16, want_ns;
	} rows[] = {
		{ "off", 0, 6554, 0 },
		{ "at_fs_max", 25000, 50 << 16, 0 },
		{ "above_fs_max", 25000, 1 << 30, 0 },
		{ "just_below_fs_max", 25000, (50 << 16) - 1, 0 },
		{ "below_fs_max", 25000, 49 << 16, 11 },	/* 11.88 */
		{ "ten_packets", 25000, 10 << 16, 1446 },	/* 1446.71 */
		{ "two_packets", 25000, 2 << 16, 4681 },	/* 4681.65 */
		{ "one_packet", 25000, 1 << 16, 7105 },		/* 7105.65 */
		{ "half_a_packet", 25000, 1 << 15, 10533 },	/* 10533.71 */
		{ "at_fs_min", 25000, 6554, 24999 },		/* 25000 less rounding */
		{ "below_fs_min", 25000, 66, 24999 },
		{ "no_window", 25000, 0, 24999 },
	};
	struct quell_swift_params p;

	for_each_row(row, rows) {
		quell_core_params_default(&quell_swift_core, &p);
		p.fs_range_ns = row->range_ns;
		quell_swift_params_derive(&p);
		expect_eq(row->want_ns, quell_swift_flow_scale_ns(&p, row->window_pkts_q16), "%s",
			  row->name);
	}
	/* Even without deriving after a change the term must stay within the range. */
	p.fs_alpha_ns_q10 *= 1000;
	expect_eq(25000, quell_swift_flow_scale_ns(&p, 1 << 16), "stale_alpha_clamped");
}

TEST(init)
{
	static const struct {
		const char *name;
		u64 link_bytes_ps, min_rtt_ns, init_bytes, want_bytes;
		u32 mss_bytes;
	} rows[] = {
		/* 4300 ns * 12.5 B/ns / 1538 B = 34.9 packets, and one more */
		{ "bdp_100gbit", LINK_BYTES_PS, 4300, 0, 36 * 1448, 1448 },
		{ "bdp_10gbit", 1250000000, 4300, 0, 5 * 1448, 1448 },
		{ "bdp_400gbit_jumbo", 50000000000, 4300, 0, 25 * 8948, 8948 },
		/* exactly three packets of 1538 bytes in 3 us, and one more */
		{ "bdp_whole_packets", 1538000000, 3000, 0, 4 * 1448, 1448 },
		{ "bdp_one_ns_more", 1538000000, 3001, 0, 5 * 1448, 1448 },
		{ "no_link", 0, 4300, 0, 10 * 1448, 1448 },
		{ "no_rtt", LINK_BYTES_PS, 0, 0, 10 * 1448, 1448 },
		{ "given", LINK_BYTES_PS, 4300, 100000, 100000, 1448 },
		{ "given_above_max", LINK_BYTES_PS, 4300, 1 << 30, 1 << 24, 1448 },
		{ "no_mss", 0, 0, 0, 10, 0 },
		{ "bdp_saturates", QUELL_U64_MAX, QUELL_U64_MAX, 0, 1 << 24, 1448 },
	};
	struct fixture f;

	for_each_row(row, rows) {
		memset(&f, 0xff, sizeof(f));
		quell_core_params_default(&quell_swift_core, &f.p);
		f.p.init_window_bytes = row->init_bytes;
		quell_swift_split_init(&f.v, &f.p,
				 &(struct quell_sample){
					 .now_ns = START_NS,
					 .min_rtt_ns = row->min_rtt_ns,
					 .link_bytes_ps = row->link_bytes_ps,
					 .mss_bytes = row->mss_bytes,
				 },
				 &f.out);
		expect_eq(row->want_bytes << 16, f.out.window_q16, "%s", row->name);
	}
	expect(f.v.fabric.window_q16 == f.out.window_q16 &&
		       f.v.fabric.last_decrease_ns == START_NS &&
		       f.v.fabric.rtt_ns == QUELL_U64_MAX &&
		       f.v.fabric.min_rtt_ns == QUELL_U64_MAX &&
		       f.v.fabric.link_bytes_ps == QUELL_U64_MAX && f.v.fabric.mss_bytes == 1448 &&
		       !f.v.fabric.rtos && !f.v.fabric.flags && !f.v.host_window_q16 &&
		       !f.v.host_decrease_ns,
	       "sets_all_state");
	expect(f.out.pacing_bytes_ps == QUELL_RATE_UNLIMITED && f.out.target_ns == QUELL_U64_MAX &&
		       !f.out.change_path,
	       "sets_all_of_the_decision");
}

TEST(observe)
{
	struct fixture f;

	fixture_start(&f, RTT_NS, 10, false);
	f.s.min_rtt_ns = 4000;
	fixture_ack(&f, START_NS, 4500);
	expect(f.v.fabric.rtt_ns == 4500 && f.v.fabric.min_rtt_ns == 4000, "smaller_minimum");
	f.s.min_rtt_ns = 0;
	fixture_ack(&f, START_NS, 3900);
	expect(f.v.fabric.rtt_ns == 3900 && f.v.fabric.min_rtt_ns == 3900, "minimum_from_sample");
	fixture_ack(&f, START_NS, 0);
	expect(f.v.fabric.rtt_ns == 3900 && f.v.fabric.min_rtt_ns == 3900, "nothing_measured");
	fixture_ack(&f, START_NS, 4200);
	expect(f.v.fabric.rtt_ns == 4200 && f.v.fabric.min_rtt_ns == 3900, "not_a_minimum");
	f.s.min_rtt_ns = 5000;
	fixture_ack(&f, START_NS, 5500);
	expect(f.v.fabric.rtt_ns == 5500 && f.v.fabric.min_rtt_ns == 5000,
	       "minimum_replaces_handshake");
	f.s.link_bytes_ps = 77;
	f.s.mss_bytes = 536;
	fixture_ack(&f, START_NS, 0);
	expect(f.v.fabric.link_bytes_ps == 77 && f.v.fabric.mss_bytes == 536,
	       "link_and_segment_change");
	f.s.link_bytes_ps = 0;
	f.s.mss_bytes = 0;
	fixture_ack(&f, START_NS, 0);
	expect(f.v.fabric.link_bytes_ps == 77 && f.v.fabric.mss_bytes == 536, "unknown_is_kept");
	fixture_start(&f, 0, 10, false);
	f.s.min_rtt_ns = 4100;
	fixture_ack(&f, START_NS, 0);
	expect(f.v.fabric.rtt_ns == 4100 && f.v.fabric.min_rtt_ns == 4100, "first_from_minimum");
	fixture_start(&f, 0, 10, false);
	f.s.min_rtt_ns = 0;
	fixture_ack(&f, START_NS, 4300);
	expect(f.v.fabric.rtt_ns == 4300 && f.v.fabric.min_rtt_ns == 4300, "first_from_sample");
}

TEST(extremes)
{
	struct fixture f;

	fixture_start(&f, RTT_NS, 10, false);
	f.p.ai_bytes_ps = QUELL_U64_MAX;
	f.s.acked_bytes = 0xffffffff;
	fixture_ack(&f, START_NS, 5000);
	expect_eq(16777216ULL << 16, f.out.window_q16, "increase_saturates");
	f.p.max_window_bytes = QUELL_U64_MAX;
	fixture_ack(&f, START_NS, 5000);
	expect(f.out.window_q16 > 1ULL << 40, "limit_saturates");
	fixture_start(&f, RTT_NS, 100, false);
	fixture_ack(&f, START_NS, QUELL_U64_MAX);
	expect_eq(50 * MSS_Q16, f.out.window_q16, "endless_delay");
	fixture_ack(&f, START_NS - 100000, 40000);
	expect_eq(50 * MSS_Q16, f.out.window_q16, "clock_went_back");
	fixture_start(&f, RTT_NS, 100, false);
	f.v.fabric.last_decrease_ns = 0;
	fixture_ack(&f, 0, 40000);
	expect_eq(50 * MSS_Q16, f.out.window_q16, "first_at_time_zero");
	f.v.fabric.window_q16 = MSS_Q16 / 2;
	f.v.fabric.flags = 0;
	fixture_ack(&f, START_NS, QUELL_U64_MAX);
	expect_eq(1, f.out.pacing_bytes_ps, "paced_by_an_endless_round_trip");
	f.p.base_target_ns = 0;
	f.v.fabric.min_rtt_ns = QUELL_U64_MAX;
	expect_eq(QUELL_U64_MAX, quell_swift_target_ns(&f.v.fabric, &f.p, 5), "target_saturates");
	f.p.base_target_ns = QUELL_SWIFT_BASE_TARGET_NS_MAX;
	f.p.hop_scale_ns = QUELL_SWIFT_HOP_SCALE_NS_MAX;
	f.v.fabric.window_q16 = 100 * MSS_Q16;
	expect_eq(1255000000, quell_swift_target_ns(&f.v.fabric, &f.p, 255), "largest_parameters");
	f.v.fabric.rtos = 0xffff;
	f.p.retx_reset_rtos = 0x10000;
	quell_swift_split_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.v.fabric.rtos == 0xffff && !f.st.swift.rto_resets, "timeouts_saturate");
	fixture_start(&f, RTT_NS, 100, false);
	f.p.max_mdf_q16 = 1 << 20;
	quell_swift_split_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(f.p.min_window_pkts_q16 * MSS, f.out.window_q16, "decrease_is_at_most_all");
}

/* The delay of an earlier round trip is reported once and causes one decrease. */
TEST(old_delay)
{
	struct fixture f;

	fixture_start(&f, RTT_NS, 100, false);
	f.s.flags = QUELL_S_RTT_OLD;
	f.p.probabilistic = 1;
	fixture_ack(&f, START_NS + 100000, 20000);
	expect(f.v.fabric.window_q16 == 100 * MSS_Q16 && f.st.swift.held == 1, "old_delay_holds");
	fixture_ack(&f, START_NS + 200000, 1000);
	expect(f.v.fabric.window_q16 > 100 * MSS_Q16, "old_delay_grows");
}

/* Without a target for the host its window ends, and the next one has known no decrease. */
TEST(host_target_off)
{
	struct fixture f;

	fixture_start(&f, RTT_NS, 10, true);
	f.v.fabric.flags |= QUELL_SWIFT_SPLIT_F_DECREASED;
	f.p.host_target_ns = 0;
	f.s.remote_ns = 1000;
	fixture_ack(&f, START_NS, 5000);
	expect(!quell_swift_split_has_host(&f.v) && f.out.window_q16 > 10 * MSS_Q16, "off");
	f.p.host_target_ns = 100000;
	f.s.remote_ns = SLOW_NS;
	fixture_ack(&f, START_NS, SLOW_NS);
	expect(quell_swift_split_has_host(&f.v) && f.v.host_window_q16 < 10 * MSS_Q16, "on_again");
}

enum event { ACK, LOSS, RTO, IDLE };

/* Each event adds to these counters alone. */
TEST(counters)
{
	static const struct {
		const char *name;
		enum event event;
		u64 rtt_ns, remote_ns, host_pkts;
		u16 flags;		/* of the flow */
		u8 sample_flags;
		bool is_blind;
		struct quell_swift_split_stats want;
	} rows[] = {
		{ "grows", ACK, 5000, .want.swift.increases = 1 },
		{ "no_delay", ACK, 0, .want.swift = { .increases = 1, .no_rtt = 1 } },
		{ "app_limited", ACK, 5000, .sample_flags = QUELL_S_APP_LIMITED,
		  .want.swift.app_limited = 1 },
		{ "decreases", ACK, SLOW_NS, .want.swift.decreases = 1 },
		{ "at_target", ACK, 7000, .want.swift.decreases = 1 },
		{ "held", ACK, SLOW_NS, .flags = QUELL_SWIFT_F_DECREASED, .want.swift.held = 1 },
		{ "host_too", ACK, 5000, 1000, 100, .want.swift.increases = 1 },
		{ "host_no_delay", ACK, 0, 1000, 100,
		  .want.swift = { .increases = 1, .no_rtt = 1 } },
		{ "host_limits", ACK, 5000, 1000, 60,
		  .want = { .swift.increases = 1, .host_limited = 1 } },
		{ "fabric_unused", ACK, 5000, 1000, 50,
		  .want = { .unused = 1, .host_limited = 1 } },
		{ "fabric_slow", ACK, SLOW_NS, 1000, 100, .want.swift.decreases = 1 },
		{ "fabric_held", ACK, SLOW_NS, 1000, 100, .flags = QUELL_SWIFT_F_DECREASED,
		  .want.swift.held = 1 },
		{ "host_slow", ACK, SLOW_NS, SLOW_NS, 100,
		  .want = { .swift.increases = 1, .host_decreases = 1, .host_limited = 1 } },
		{ "host_at_target", ACK, 105000, 100000, 100,
		  .want = { .swift.increases = 1, .host_decreases = 1, .host_limited = 1 } },
		{ "host_held", ACK, SLOW_NS, SLOW_NS, 100, .flags = QUELL_SWIFT_SPLIT_F_DECREASED,
		  .want = { .swift.increases = 1, .host_held = 1, .host_limited = 1 } },
		{ "loss", LOSS, .want.swift.fast_retx = 1 },
		{ "loss_held", LOSS, .flags = QUELL_SWIFT_F_DECREASED },
		{ "timeout", RTO, .want.swift.rtos = 1 },
		{ "idle", IDLE, .want.swift.restarts = 1 },
		{ "idle_after_loss", IDLE, .flags = QUELL_SWIFT_F_LOSS,
		  .want.swift = { .restarts = 1, .restarts_refused = 1 } },
		{ "idle_blind", IDLE, .is_blind = true,
		  .want.swift = { .restarts = 1, .restarts_refused = 1 } },
	};
	struct fixture f;
	int i;

	for_each_row(row, rows) {
		fixture_start(&f, row->is_blind ? 0 : RTT_NS, row->event == IDLE ? 5 : 100,
			      row->host_pkts);
		f.v.fabric.flags |= row->flags;
		f.v.fabric.last_decrease_ns = START_NS;
		f.v.host_decrease_ns = START_NS;
		f.v.host_window_q16 = row->host_pkts * MSS_Q16;
		f.s.flags = row->sample_flags;
		f.s.remote_ns = row->remote_ns;
		f.s.idle_ns = 1000000;
		if (row->event == ACK)
			fixture_ack(&f, START_NS + 1, row->rtt_ns);
		else if (row->event == LOSS)
			quell_swift_split_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
		else if (row->event == RTO)
			quell_swift_split_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
		else
			quell_swift_split_on_idle_restart(&f.v, &f.p, &f.st, &f.s, &f.out);
		expect(!memcmp(&f.st, &row->want, sizeof(f.st)), "%s", row->name);
	}
	fixture_start(&f, RTT_NS, 100, false);
	for (i = 0; i < 5; i++)
		quell_swift_split_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(f.st.swift.rtos == 5 && f.st.swift.rto_resets == 1, "fifth_timeout_resets");
	/* A window so small that every decrease of the fabric's is skipped at random. */
	fixture_start(&f, RTT_NS, 1, false);
	f.p.probabilistic = 1;
	f.p.min_window_pkts_q16 = 0;
	f.v.fabric.window_q16 = 1000;
	fixture_ack(&f, START_NS, 60000);
	expect(f.st.swift.disregarded == 1 && !f.st.swift.decreases, "disregarded");
	f.s.flags = QUELL_S_RTT_OLD;
	fixture_ack(&f, START_NS + 100000, 60000);
	expect(f.st.swift.disregarded == 1 && f.st.swift.held == 1, "not_for_an_old_delay");
	f.s.flags = 0;
	f.v.fabric.flags |= QUELL_SWIFT_SPLIT_F_HOST;
	f.v.host_window_q16 = 1000;
	f.s.remote_ns = 200000;
	fixture_ack(&f, START_NS + 300000, 300000);
	expect(f.st.swift.disregarded == 2 && !f.st.swift.decreases && f.st.host_decreases == 1,
	       "disregarded_but_not_by_the_host");
}

TEST_HARNESS_MAIN
