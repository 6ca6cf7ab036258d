// SPDX-License-Identifier: GPL-2.0
/*
 * RCP of the laboratory: its equation beside the same in floating point, the port's intervals and
 * the sender by hand.
 */
#include <math.h>
#include <string.h>

#include "../../lab/comparators/rcp_port.h"
#include "../../lab/comparators/rcp_sender.h"
#include "random.h"
#include "test.h"

#define LINK_BYTES_PS	1250000000ULL	/* 10 Gbit/s */
#define RTT_NS		20000ULL
#define BDP_BYTES	25000ULL
#define GAIN_Q16	26214ULL	/* 0.4 */
#define LEAST_BYTES	1500ULL
#define UNIT_BYTES_PS	((u64)QUELL_TELEMETRY_RATE_UNIT_BYTES_PS)
#define MSS		1448U
#define HEADER_BYTES	90U
#define STEPS		1000000

static const struct rcp_port_params ten_gbit = {
	.link_bytes_ps = LINK_BYTES_PS, .rtt_ns = RTT_NS, .interval_max_ns = 10000000,
	.least_bytes = LEAST_BYTES, .alpha_q16 = GAIN_Q16, .beta_q16 = GAIN_Q16,
};

/* A port at a rate, with d, T and y T. */
static struct rcp_port port_at(u64 rate_bytes_ps, u64 rtt_ns, u64 interval_ns, u64 in_bytes)
{
	return (struct rcp_port) {
		.rate_q16 = rate_bytes_ps << 16, .rtt_ns_q16 = rtt_ns << 16,
		.interval_ns = interval_ns, .in_bytes = in_bytes,
	};
}

/* Reduction of the rate, of C, as RCP's author writes it: (alpha y + beta q / d) T / d / C. */
static double rcp_less(const struct rcp_port_params *p, const struct rcp_port *port,
		       double q)
{
	double d = port->rtt_ns_q16 / 65536.0 / 1e9, t = port->interval_ns / 1e9;
	double alpha = p->alpha_q16 / 65536.0, beta = p->beta_q16 / 65536.0;

	return t / d * (alpha * port->in_bytes / t + beta * q / d) / p->link_bytes_ps;
}

/* The equation, between its limits. */
static double rcp_equation(const struct rcp_port_params *p, const struct rcp_port *port,
			   double q)
{
	double d = port->rtt_ns_q16 / 65536.0 / 1e9, t = port->interval_ns / 1e9;
	double rate_q16 = port->rate_q16;

	rate_q16 *= 1 + t / d * p->alpha_q16 / 65536.0 - rcp_less(p, port, q);
	rate_q16 = fmax(rate_q16, fmax(p->least_bytes / d, UNIT_BYTES_PS) * 65536);
	return fmin(rate_q16, p->link_bytes_ps * 65536.0);
}

/* Error of a random step over its bound, and whether no limit decided it. */
static double random_error(struct random_state *random, bool *inside)
{
	struct rcp_port_params p = {
		.link_bytes_ps = random_magnitude(random, 125000, RCP_LINK_MAX_BYTES_PS),
		.least_bytes = random_magnitude(random, 1, 4096),
		.alpha_q16 = random_between(random, 0, 1 << 16),
		.beta_q16 = random_between(random, 0, 16 << 16),
	};
	u64 rtt_ns = random_magnitude(random, 1000, 1000000000);
	double bdp_bytes = p.link_bytes_ps / 1e9 * rtt_ns;
	struct rcp_port port = port_at(random_magnitude(random, 1, p.link_bytes_ps), rtt_ns,
				       random_magnitude(random, 1000, rtt_ns),
				       random_between(random, 0, 2 * (u64)bdp_bytes));
	u64 queue_bytes = random_between(random, 0, (u64)bdp_bytes / 4);
	double want = rcp_equation(&p, &port, queue_bytes);
	double allowed = 3 + (p.beta_q16 / 65536.0 + rcp_less(&p, &port, queue_bytes)) *
			      65536 / bdp_bytes;

	*inside = want < p.link_bytes_ps * 65536.0 &&
		  want > fmax(p.least_bytes * 1e9 / rtt_ns, UNIT_BYTES_PS) * 65536;
	/* The double's own error is far below the bound. */
	return fabs(rcp_port_rate_q16(&p, &port, queue_bytes) - want) /
	       (allowed / RCP_Q32_ONE * port.rate_q16 + 1.1);
}

TEST(equation)
{
	struct random_state random = { 1 };
	u32 i, within = 0;
	double worst = 0;
	bool inside;

	for (i = 0; i < STEPS; i++) {
		worst = fmax(worst, random_error(&random, &inside));
		within += inside;
	}
	expect(worst > 0.3 && worst <= 1, "equation: %.3f of what is allowed", worst);
	expect(within > STEPS / 4, "equation: no limit decided %u of %u", within, STEPS);
}

TEST(cases)
{
	static const struct {
		const char *name;
		u64 rate, interval_ns, in_bytes, queue_bytes, want;
	} cases[] = {
		/* As much as the link carries, no queue: it stays. */
		{ "at_rest", 625000000, RTT_NS, BDP_BYTES, 0, 625000000 },
		/* Without packets: 1.4 times, and half of that in half the time. */
		{ "idle", 500000000, RTT_NS, 0, 0, 699996948 },
		{ "idle_half", 500000000, RTT_NS / 2, 0, 0, 599998474 },
		/* Twice the link: 0.6 times. */
		{ "twice", 1250000000, RTT_NS, 2 * BDP_BYTES, 0, 750007629 },
		/* And a round trip of it in the queue: 0.2 times. */
		{ "twice_and_queue", 1250000000, RTT_NS, 2 * BDP_BYTES, BDP_BYTES, 250015259 },
		{ "link", 1250000000, RTT_NS, 0, 0, 1250000000 },
		/* 1500 bytes in a round trip. */
		{ "least", 1250000000, RTT_NS, 2 * BDP_BYTES, 4 * BDP_BYTES, 75000000 },
	};

	for_each_row(row, cases) {
		struct rcp_port port = port_at(row->rate, RTT_NS, row->interval_ns, row->in_bytes);
		u64 got_q16 = rcp_port_rate_q16(&ten_gbit, &port, row->queue_bytes);

		expect_eq(row->want, (got_q16 + 32768) >> 16, "%s", row->name);
	}
}

/* The least rate is one that a record can carry. */
TEST(least)
{
	struct rcp_port port = port_at(100000, 1000000000, 1000000000, LINK_BYTES_PS * 4);
	struct quell_telemetry record = { .hop = 1 };
	struct rcp_port_params p = ten_gbit;
	u8 wire[QUELL_TELEMETRY_BYTES];

	record.link_bytes_ps = rcp_port_rate_q16(&p, &port, 0) >> 16;
	expect_eq(UNIT_BYTES_PS, record.link_bytes_ps, "a_unit");
	quell_telemetry_encode(&record, 0, wire);
	quell_telemetry_decode(wire, &record);
	expect_eq(UNIT_BYTES_PS, record.link_bytes_ps, "is_carried");
	p.least_bytes = 65536;
	expect_eq(65536, rcp_port_rate_q16(&p, &port, 0) >> 16, "as_given");
}

TEST(round_trips)
{
	struct rcp_port port = port_at(LINK_BYTES_PS, RTT_NS, RTT_NS, 0);
	double want = RTT_NS;
	u32 i;

	rcp_port_add_rtt(&port, 70000);
	expect_eq(21000, port.rtt_ns_q16 >> 16, "a_fiftieth");
	port = port_at(LINK_BYTES_PS, RTT_NS, RTT_NS, 0);
	for (i = 0; i < 1000; i++) {
		u64 rtt_ns = i < 500 ? 70000 : 15000 + i;

		rcp_port_add_rtt(&port, rtt_ns);
		want += (rtt_ns - want) / 50;
	}
	expect(fabs(port.rtt_ns_q16 / 65536.0 - want) < 50 / 65536.0, "average");
	rcp_port_add_rtt(&port, ~0ULL);
	expect(port.rtt_ns_q16 >> 16 < RCP_RTT_MAX_NS / 40, "longest");
	port = port_at(LINK_BYTES_PS, RTT_NS, RTT_NS, 0);
	for (i = 0; i < 1000; i++)
		rcp_port_add_rtt(&port, 1);
	expect_eq(RCP_RTT_MIN_NS, port.rtt_ns_q16 >> 16, "shortest");
}

TEST(intervals)
{
	struct rcp_port_params p = ten_gbit;
	struct rcp_port port = { 0 };

	rcp_port_advance(&port, &p, 5000, 0);
	expect(port.rate_q16 == LINK_BYTES_PS << 16 && port.next_ns == 25000,
	       "begins_with_the_link");
	port.in_bytes = 2 * BDP_BYTES;
	rcp_port_advance(&port, &p, 24999, 0);
	expect_eq(LINK_BYTES_PS, port.rate_q16 >> 16, "not_before");
	rcp_port_add_rtt(&port, 70000);
	port.rtt_ns_q16 = 30000ULL << 16;
	rcp_port_advance(&port, &p, 25000, 0);
	expect(port.rate_q16 < LINK_BYTES_PS << 16 && !port.in_bytes, "ends");
	expect_eq(55000, port.next_ns, "the_next_is_d_long");
	/* A second without packets: the link's rate again, and an interval that has now in it. */
	rcp_port_advance(&port, &p, 1000000000, 0);
	expect(port.rate_q16 == LINK_BYTES_PS << 16 && port.next_ns > 1000000000 &&
		       port.next_ns <= 1000030000 && (port.next_ns - 55000) % 30000 == 0,
	       "idle");
	/* Two intervals without packets and a half: 1.4 times, twice. */
	port.rate_q16 = 500000000ULL << 16;
	rcp_port_advance(&port, &p, port.next_ns + 45000, 0);
	expect_eq(979991455, (port.rate_q16 + 32768) >> 16, "each");
	p.interval_max_ns = 4000;
	rcp_port_advance(&port, &p, port.next_ns, 0);
	expect_eq(4000, port.interval_ns, "longest");
}

/* A port that would need ten million intervals to come back computes some, and jumps. */
TEST(long_idle)
{
	struct rcp_port_params p = ten_gbit;
	struct rcp_port port = { 0 };
	u64 once;

	p.rtt_ns = 1000000000;
	p.interval_max_ns = 1000;
	rcp_port_advance(&port, &p, 5000, 0);
	port.rate_q16 = LINK_BYTES_PS << 15;
	once = rcp_port_rate_q16(&p, &port, 0) - port.rate_q16;
	rcp_port_advance(&port, &p, 10000000000, 0);
	expect(port.rate_q16 > (LINK_BYTES_PS << 15) + RCP_IDLE_INTERVALS * once &&
		       port.rate_q16 < (LINK_BYTES_PS << 15) + (RCP_IDLE_INTERVALS + 2) * once,
	       "no_more_than_some");
	expect(port.next_ns > 10000000000 && port.next_ns <= 10000001000 && !port.in_bytes,
	       "jumps");
}

/* The sender's rate after an ACK with a rate of @wire_bytes_ps in its record, or without one. */
static u64 sender_ack(struct quell_event *ev, u8 hop, u64 wire_bytes_ps)
{
	ev->sample.telemetry = (struct quell_telemetry) {
		.hop = hop, .link_bytes_ps = wire_bytes_ps,
	};
	quell_rcp_core.on_ack(ev);
	return ev->decision.pacing_bytes_ps;
}

TEST(sender)
{
	struct rcp_sender_stats stats = { 0 };
	struct rcp_sender_params params = { 0 };
	struct rcp_sender v = { 0 };
	struct quell_event ev = {
		.vars = &v, .params = &params, .stats = &stats,
		.sample = { .mss_bytes = MSS, .header_bytes = HEADER_BYTES, .min_rtt_ns = RTT_NS },
	};

	quell_rcp_core.init(&ev);
	expect(ev.decision.pacing_bytes_ps == QUELL_RATE_UNLIMITED &&
		       ev.decision.window_q16 == quell_init_window_q16(MSS),
	       "no_link");
	ev.sample.link_bytes_ps = LINK_BYTES_PS;
	quell_rcp_core.init(&ev);
	/* 1448 of 1538 bytes; twice 25000 bytes and four packets. */
	expect_eq(1176853055, ev.decision.pacing_bytes_ps, "line_rate");
	expect_eq(2 * BDP_BYTES + 4 * MSS, ev.decision.window_q16 >> 16, "window");
	expect_eq(588426527, sender_ack(&ev, 1, LINK_BYTES_PS / 2), "told");
	expect_eq(588426527, sender_ack(&ev, 0, 0), "untold_keeps_it");
	expect(stats.rate_acks == 1 && stats.rateless_acks == 1, "counters");
	quell_rcp_core.on_loss(&ev);
	expect_eq(588426527, ev.decision.pacing_bytes_ps, "loss_changes_nothing");
	ev.sample.rtt_ns = 2 * RTT_NS;
	sender_ack(&ev, 1, LINK_BYTES_PS / 2);
	expect_eq(2 * BDP_BYTES + 4 * MSS, ev.decision.window_q16 >> 16,
		  "window_by_the_newest_round_trip");
	expect_eq(1, sender_ack(&ev, 1, 0), "told_nothing_is_no_line_rate");
	quell_rcp_core.on_idle_restart(&ev);
	expect_eq(1176853055, ev.decision.pacing_bytes_ps, "asks_anew");
}

TEST_HARNESS_MAIN
