// SPDX-License-Identifier: GPL-2.0
/*
 * SMaRTT: flows without signals, losses, timeouts and restarts, by tables of cases.  The
 * expected numbers were derived by hand from the paper's equations, not from the code.
 */
#include "smartt_fixture.h"
#include "test.h"

TEST(without_signals)
{
	struct fixture f;

	start_blind(&f, 10);
	f.p.target_delay_ns = 6000;
	ack(&f, 0, 0);
	expect_eq(0, f.out.target_ns, "blind");
	f.p.target_delay_ns = 0;
	expect_eq(40960 + 409, window_bytes(&f), "reno");
	f.s.flags |= QUELL_S_APP_LIMITED;
	ack(&f, 0, 0);
	expect_eq(40960 + 409, window_bytes(&f), "app_limited");
	/* a round trip but no link speed: the increase cannot be scaled */
	f.s.flags = QUELL_S_ECN;
	f.p.scale_bdp_bytes = 1000;
	f.v.window_q16 = 10 * MSS << 16;
	f.s.min_rtt_ns = BASE_NS;
	ack(&f, 20000, 0);
	expect_eq(40960 + 409, window_bytes(&f), "unknown_bdp");
	f.s.min_rtt_ns = 0;
	f.v.base_rtt_ns = 0;
	/* the first round-trip time, without a minimum from the glue, and a smaller one */
	ack(&f, 15000, 0);
	expect_eq(15000, f.v.base_rtt_ns, "first");
	ack(&f, 16000, 0);
	expect_eq(15000, f.v.base_rtt_ns, "larger");
	ack(&f, 14000, 0);
	expect_eq(14000, f.v.base_rtt_ns, "smaller");
	f.s.link_bytes_ps = LINK_BYTES_PS;
	f.s.now_ns += 20000;
	ack(&f, 14000, 0);
	expect_eq((175000 + MSS) * 3 / 2, f.v.most_bytes, "link_later");
	f.s.mss_bytes = 0;
	ack(&f, 14000, 0);
	expect_eq(MSS, f.v.mss_bytes, "no_segment_size");
	/* no ECN: delay stands for the mark */
	start(&f, 10, 100000);
	f.p.qa = 0;
	f.s.flags = 0;
	ack(&f, 100000, 0);
	expect_eq(5 * MSS, window_bytes(&f), "no_ecn_decreases");
	start(&f, 10, 15000);
	f.s.flags = 0;
	ack(&f, 15000, 0);
	expect(window_bytes(&f) > 10 * MSS && f.st.no_ecn == 1, "no_ecn_increases");
	/* an ACK without a round-trip time is handled by the average */
	start(&f, 10, 15000);
	ack(&f, 0, 0);
	expect_eq(40960 + 573, window_bytes(&f), "average");
}

TEST(loss)
{
	struct fixture f;

	start(&f, 10, 15000);
	f.s.rtt_ns = 0;
	quell_smartt_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(5 * MSS, window_bytes(&f), "half");
	quell_smartt_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(5 * MSS, window_bytes(&f), "once_per_base_rtt");
	f.v.ignore_bytes = 1;
	f.s.now_ns += BASE_NS;
	quell_smartt_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(1, f.st.losses_ignored, "ignored");
	start_blind(&f, 10);
	f.p.max_mdf_q16 = 656;
	quell_smartt_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(5 * MSS, window_bytes(&f), "blind_half");
	/* loss is forgotten by a clean ACK a base round trip later */
	start(&f, 10, 15000);
	quell_smartt_on_loss(&f.v, &f.p, &f.st, &f.s, &f.out);
	ack(&f, 15000, 0);
	expect(f.v.flags & QUELL_SMARTT_F_LOSS, "loss_remembered");
	f.s.now_ns += BASE_NS;
	ack(&f, 15000, MSS);
	expect(f.v.flags & QUELL_SMARTT_F_LOSS, "loss_remembered_at_a_mark");
	ack(&f, TARGET_NS, 0);
	expect(f.v.flags & QUELL_SMARTT_F_LOSS, "loss_remembered_at_the_target");
	ack(&f, 15000, 0);
	expect(!(f.v.flags & QUELL_SMARTT_F_LOSS), "loss_forgotten");
}

TEST(rto)
{
	struct fixture f;
	int n;

	start(&f, 16, 15000);
	f.v.ignore_bytes = MSS;
	quell_smartt_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(16 * MSS, window_bytes(&f), "ignored");
	expect(!f.v.ignore_bytes && f.st.losses_ignored == 1, "flight_is_gone");
	quell_smartt_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(8 * MSS, window_bytes(&f), "half");
	quell_smartt_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(8 * MSS, window_bytes(&f), "once_per_base_rtt");
	for (n = 0; n < 300; n++)
		quell_smartt_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect(window_bytes(&f) == MSS && f.v.rtos == 255, "in_a_row");
	start_blind(&f, 10);
	quell_smartt_on_rto(&f.v, &f.p, &f.st, &f.s, &f.out);
	expect_eq(MSS, window_bytes(&f), "blind");
}

static void idle(struct fixture *f, u64 idle_ns)
{
	f->s.idle_ns = idle_ns;
	quell_smartt_on_idle_restart(&f->v, &f->p, &f->st, &f->s, &f->out);
}

TEST(idle_cases)
{
	struct fixture f;

	start(&f, 10, 15000);
	idle(&f, 999999);
	expect_eq(10 * MSS, window_bytes(&f), "too_early");
	idle(&f, 1000000);
	expect_eq(MOST_BYTES, window_bytes(&f), "anew");
	start(&f, 10, 15000);
	f.p.restart_idle_ns = 0;
	idle(&f, QUELL_U64_MAX);
	expect_eq(10 * MSS, window_bytes(&f), "never");
	start(&f, 10, 15000);
	f.v.flags |= QUELL_SMARTT_F_LOSS;
	idle(&f, 1000000);
	expect(window_bytes(&f) == 10 * MSS && f.st.restarts_refused == 1, "after_loss");
	start_blind(&f, 5);
	idle(&f, 1000000);
	expect_eq(5 * MSS, window_bytes(&f), "blind");
}

TEST_HARNESS_MAIN
