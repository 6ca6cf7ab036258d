// SPDX-License-Identifier: GPL-2.0
/*
 * Every branch of a port's load (<quell/core/port/portload.h>), by hand, against the
 * equations in floating point, and its steady state; and of the distance
 * from the sender (<quell/hops.h>).
 */
#include <math.h>
#include <stddef.h>

#include <quell/core/port/portload.h>
#include <quell/hops.h>

#include "random.h"
#include "test.h"

#define GBIT_100_BYTES_PS	12500000000ULL

TEST(measure)
{
	static const struct {
		const char *name;
		u64 base_rtt_ns, link_bytes_ps, want_q8;
	} cases[] = {
		{ "100_gbit_8_us", 8000, GBIT_100_BYTES_PS, 100000ULL << 8 },
		/* 20.8 bytes, rounded down to 5324 / 256 */
		{ "fraction", 4160, 5000000, 5324 },
		{ "one_byte_ps", 1000000000, 1, 256 },
		{ "below_resolution", 1000, 1, 0 },
		{ "largest", 1000000000, 1250000000000ULL, 1250000000000ULL << 8 },
		{ "beyond_64_bits", 1000000000, QUELL_U64_MAX, QUELL_U64_MAX },
		{ "no_rate", 8000, 0, 0 },
		{ "no_time", 0, GBIT_100_BYTES_PS, 0 },
	};

	for_each_row(row, cases) {
		struct quell_portload_params p;

		quell_portload_measure(&p, row->base_rtt_ns, row->link_bytes_ps);
		expect_eq(row->want_q8, p.bdp_q8, "%s", row->name);
		expect_eq(row->base_rtt_ns, p.base_rtt_ns, "%s_time", row->name);
	}
}

TEST(advance)
{
	static const struct {
		const char *name;
		u64 base_rtt_ns, flight_q8, pending_q8, last_ns, now_ns;
		u64 want_q8, want_last_ns;
	} cases[] = {
		/* 3/4 of 1000 bytes and 500 of now */
		{ "within_t", 8000, 256000, 500 << 8, 1000, 3000, 192000 + 128000, 3000 },
		{ "at_once", 8000, 256000, 500 << 8, 1000, 1000, 256000 + 128000, 1000 },
		{ "one_ns", 8000, 8000, 0, 0, 1, 7999, 1 },
		{ "decay_rounded_up", 8000, 8001, 0, 0, 1, 7999, 1 },
		{ "just_within", 8000, 8000, 256, 0, 7999, 1 + 256, 7999 },
		{ "at_t", 8000, 256000, 500 << 8, 0, 8000, 128000, 8000 },
		{ "twice_t", 8000, 256000, 500 << 8, 0, 16000, 64000, 16000 },
		{ "first", 8000, 0, 0, 0, 1ULL << 60, 0, 1ULL << 60 },
		{ "after_a_year", 8000, 256000, 1500 << 8, 0, 1ULL << 55, 0, 1ULL << 55 },
		{ "back", 8000, 256000, 500 << 8, 2000, 1000, 256000 + 128000, 2000 },
		{ "saturated", 8000, QUELL_U64_MAX, 1, 0, 0, QUELL_U64_MAX, 0 },
		{ "most_pending", 8000, 0, QUELL_U64_MAX, 0, 16000, QUELL_U64_MAX / 2, 16000 },
		{ "decay_beyond_64_bits", 8000, 1ULL << 60, 0, 0, 4000, 1ULL << 59, 4000 },
		{ "no_time_constant", 0, 256000, 500 << 8, 0, 1000, 0, 1000 },
		{ "neither_time", 0, 256000, 500 << 8, 0, 0, QUELL_U64_MAX, 0 },
	};

	for_each_row(row, cases) {
		struct quell_portload_params p = { .base_rtt_ns = row->base_rtt_ns };
		struct quell_portload load = {
			.tx_bytes = 7,
			.pending_q8 = row->pending_q8,
			.flight_q8 = row->flight_q8,
			.last_ns = row->last_ns,
		};

		quell_portload_advance(&load, &p, row->now_ns);
		expect_eq(row->want_q8, load.flight_q8, "%s", row->name);
		expect(load.last_ns == row->want_last_ns && !load.pending_q8 && load.tx_bytes == 7,
		       "%s_rest", row->name);
	}
}

TEST(load_cases)
{
	static const struct {
		const char *name;
		u64 flight_q8, bdp_q8;
		u32 queue_bytes;
		u64 want_q16;
	} cases[] = {
		{ "idle", 0, 100000 << 8, 0, 0 },
		{ "full", 100000 << 8, 100000 << 8, 0, QUELL_Q16_ONE },
		{ "full_and_queued", 100000 << 8, 100000 << 8, 150000, QUELL_Q16_ONE * 5 / 2 },
		{ "queue_alone", 0, 100000 << 8, 25000, QUELL_Q16_ONE / 4 },
		{ "rounded_down", 1, 3, 0, QUELL_Q16_ONE / 3 },
		{ "no_product", 0, 0, 0, QUELL_U64_MAX },
		{ "beyond_64_bits", QUELL_U64_MAX, 1, 1, QUELL_U64_MAX },
		{ "largest_queue", 0, 0xffffffffULL << 8, 0xffffffff, QUELL_Q16_ONE },
	};

	for_each_row(row, cases) {
		struct quell_portload_params p = { .bdp_q8 = row->bdp_q8 };
		struct quell_portload load = { .flight_q8 = row->flight_q8 };

		expect_eq(row->want_q16, quell_portload_q16(&load, &p, row->queue_bytes), "%s",
			  row->name);
	}
}

TEST(add)
{
	struct quell_portload load = { 0 };

	quell_portload_add(&load, 1538);
	quell_portload_add(&load, 90);
	expect(load.tx_bytes == 1628 && load.pending_q8 == 1628 << 8, "adds");
	expect_eq(25, quell_portload_tx_units(&load), "rounds_down");
	load.tx_bytes = (1ULL << 30) + 64;
	expect_eq(1, quell_portload_tx_units(&load), "comes_round");
	load.tx_bytes = (1ULL << 30) - 1;
	expect_eq(0xffffff, quell_portload_tx_units(&load), "largest");
	load.pending_q8 = QUELL_U64_MAX - 1;
	quell_portload_add(&load, 5);
	expect_eq(QUELL_U64_MAX, load.pending_q8, "saturates");
}

/* Steady streams of any packet size settle at their rate. */
TEST(rest)
{
	static const struct {
		const char *name;
		u64 base_rtt_ns, link_bytes_ps, gap_ns;
		u32 bytes;
		double want;
	} cases[] = {
		{ "full_1538", 8000, GBIT_100_BYTES_PS, 123, 1538, 1538 / 123. / 12.5 },
		{ "full_4198", 8000, GBIT_100_BYTES_PS, 336, 4200, 1 },
		{ "half", 8000, GBIT_100_BYTES_PS, 672, 4200, 0.5 },
		{ "acks", 8000, GBIT_100_BYTES_PS, 123, 90, 90 / 123. / 12.5 },
		/* A packet takes longer than T. */
		{ "slow_link", 100000, 2500000, 605200, 1513, 1 },
		{ "slow_link_tenth", 100000, 2500000, 6052000, 1513, 0.1 },
		{ "hundredth", 8000, GBIT_100_BYTES_PS, 33600, 4200, 0.01 },
	};
	int k;

	for_each_row(row, cases) {
		struct quell_portload_params p;
		struct quell_portload load = { 0 };
		u64 now_ns = 1000000;
		double got;

		quell_portload_measure(&p, row->base_rtt_ns, row->link_bytes_ps);
		for (k = 0; k < 10000; k++) {
			quell_portload_advance(&load, &p, now_ns += row->gap_ns);
			quell_portload_add(&load, row->bytes);
		}
		got = quell_portload_q16(&load, &p, 0) / 65536.;
		expect(fabs(got - row->want) < 1e-4, "rests_at_%s: got %.6f, want %.6f", row->name,
		       got, row->want);
	}
}

/* Without further packets the bytes in flight decay to 0. */
TEST(empties)
{
	struct quell_portload_params p;
	struct quell_portload load = { .flight_q8 = 1ULL << 40 };
	int steps = 0;

	quell_portload_measure(&p, 1000000, GBIT_100_BYTES_PS);
	while (load.flight_q8 && steps < 100000000) {
		quell_portload_advance(&load, &p, load.last_ns + 1);
		steps++;
	}
	expect_eq(0, load.flight_q8, "empties_ns_by_ns");
}

/* The equations in floating point, with the errors of @load so far: see test_model(). */
struct model {
	double flight, pending, last_ns, error;
};

static void model_advance(struct model *m, double base_rtt_ns, double now_ns)
{
	double elapsed_ns = now_ns - m->last_ns;

	if (elapsed_ns < base_rtt_ns) {
		m->flight = (1 - elapsed_ns / base_rtt_ns) * m->flight + m->pending;
		m->error = (1 - elapsed_ns / base_rtt_ns) * m->error;
	} else {
		m->flight = base_rtt_ns / elapsed_ns * m->pending;
		m->error = 0;
	}
	/* One unit of Q8 each time, and the precision of a double. */
	m->error += 1. / 256 + m->flight * 1e-13;
	m->pending = 0;
	m->last_ns = now_ns;
}

/* Whether a run of random packets stays within the bound of the rounding error. */
static bool model_run(struct random_state *r, double *worst)
{
	u64 base_rtt_ns = random_magnitude(r, 100, 1000000000);
	u64 link_bytes_ps = random_magnitude(r, 125000, 1250000000000ULL);
	u64 gap_ns = random_magnitude(r, 1, 10 * base_rtt_ns);
	u64 now_ns = random_magnitude(r, 0, 1ULL << 50);
	struct model m = { .last_ns = now_ns };
	struct quell_portload load = { .last_ns = now_ns };
	struct quell_portload_params p;
	bool within = true;
	int k;

	quell_portload_measure(&p, base_rtt_ns, link_bytes_ps);
	for (k = 0; k < 300; k++) {
		u32 bytes = random_between(r, 60, 9216);
		double got;

		now_ns += random_between(r, 0, 2 * gap_ns);
		quell_portload_advance(&load, &p, now_ns);
		model_advance(&m, base_rtt_ns, now_ns);
		got = load.flight_q8 / 256.;
		*worst = fmax(*worst, (m.flight - got) / m.error);
		within = within && got <= m.flight * (1 + 1e-13) && m.flight - got <= m.error;
		quell_portload_add(&load, bytes);
		m.pending += bytes;
	}
	return within;
}

TEST(model_cases)
{
	struct random_state r = { 11 };
	bool within = true;
	double worst = 0;
	int run;

	for (run = 0; run < 3000; run++)
		within = within && model_run(&r, &worst);
	expect(within, "as_the_equations");
	printf("# largest error: %.3f of the bound, which is below 1/256 byte a packet kept\n",
	       worst);
	expect(worst > 0.5, "bound_is_near");
}

TEST(available)
{
	/* 100 Gbit/s, 8 us: 100000 bytes. */
	static const struct {
		const char *name;
		u64 flight_bytes, want_bytes_ps;
	} cases[] = {
		{ "idle", 0, 12500000000 }, { "half", 50000, 6250000000 },
		{ "one_byte_left", 99999, 125000 }, { "full", 100000, 0 },
		{ "more_than_full", 100001, 0 }, { "largest", 1ULL << 50, 0 },
	};
	struct quell_portload_params p;

	quell_portload_measure(&p, 8000, 12500000000);
	for_each_row(row, cases) {
		struct quell_portload load = {
			.flight_q8 = row->flight_bytes << QUELL_PORTLOAD_Q,
		};

		expect_eq(row->want_bytes_ps,
			  quell_portload_available_bytes_ps(&load, &p, 12500000000), "%s",
			  row->name);
	}
	/* A product of some 41 bytes, rounded down to 10666 / 256: idle is idle. */
	quell_portload_measure(&p, 100, 416666667);
	expect_eq(416666667,
		  quell_portload_available_bytes_ps(&(struct quell_portload){ 0 }, &p, 416666667),
		  "idle_fraction");
	quell_portload_measure(&p, 8000, 0);
	expect_eq(0, quell_portload_available_bytes_ps(&(struct quell_portload){ 0 }, &p, 0),
		  "no_link");
}

/* Against the rest of B * T over T, of any rate and time. */
TEST(available_any)
{
	struct random_state r = { 12 };
	int i;

	for (i = 0; i < 100000; i++) {
		u64 base_rtt_ns = random_magnitude(&r, 100, 1000000000);
		u64 link_bytes_ps = random_magnitude(&r, 1, 1250000000000ULL);
		struct quell_portload_params p;
		struct quell_portload load = { };
		long double want_bytes_ps;
		u64 bytes_ps;

		quell_portload_measure(&p, base_rtt_ns, link_bytes_ps);
		load.flight_q8 = random_between(&r, p.bdp_q8 ? 1 : 0, p.bdp_q8);
		bytes_ps = quell_portload_available_bytes_ps(&load, &p, link_bytes_ps);
		want_bytes_ps = (p.bdp_q8 - load.flight_q8) / 256.0L * 1e9L / base_rtt_ns;
		ASSERT_LE(bytes_ps, link_bytes_ps);
		ASSERT_LE(fabsl(bytes_ps - want_bytes_ps), 1 + want_bytes_ps * 1e-15L);
	}
}

TEST(hops_cases)
{
	static const struct {
		const char *name;
		u8 ttl, want;
	} cases[] = {
		{ "sender_64", 64, 0 }, { "first_64", 63, 1 }, { "last_64", 1, 63 },
		{ "none_left", 0, 64 },
		{ "sender_128", 128, 0 }, { "first_128", 127, 1 }, { "last_128", 65, 63 },
		{ "sender_255", 255, 0 }, { "first_255", 254, 1 }, { "last_255", 129, 126 },
	};

	for_each_row(row, cases) {
		expect_eq(row->want, quell_hops(row->ttl), "%s", row->name);
	}
}

TEST_HARNESS_MAIN
