/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The load of a link, measured by its switch: the data in flight over it in bandwidth-delay
 * products.  1 is a link just full, 2 one with a queue of another bandwidth-delay product.
 *
 *	when a packet leaves, dt after the one before it left:
 *		dt < T:	flight = (1 - dt / T) * flight + bytes of the one before
 *		else:	flight = T / dt * bytes of the one before
 *	load = (flight + queue it leaves behind) / (B * T)
 *
 * T is the base round-trip time of the network, B the rate of the link.  A
 * steady stream of r bytes/s has r * T bytes in flight, with packets of any size.
 *
 * After the switch of HPCC-PINT in its authors' simulator, with three differences.  All bytes on
 * the wire count: there, packets that are not data advance the clock but add no bytes, so a link
 * that carries acknowledgments as well seems idle.  After a gap longer than T the bytes are those
 * of T, not all of a packet that may be larger than the product.  And the queue is instantaneous,
 * not averaged: a hop that fills shows at once.
 *
 * Reference: Ben Basat et al., "PINT: Probabilistic In-band Network Telemetry",
 * SIGCOMM 2020, and the simulator of Li et al., "HPCC", SIGCOMM 2019.
 */
#ifndef _QUELL_CORE_PORT_PORTLOAD_H
#define _QUELL_CORE_PORT_PORTLOAD_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>

/* Fraction bits of bytes in flight. */
#define QUELL_PORTLOAD_Q	8

struct quell_portload_params {
	u64	base_rtt_ns;	/* T */
	u64	bdp_q8;	/* B * T, bytes */
};

/* Traffic measurement of one link. */
struct quell_portload {
	u64	tx_bytes;	/* on the wire while the load is measured, free-running */
	u64	pending_q8;	/* sent since @last_ns, not yet in @flight_q8 */
	u64	flight_q8;	/* bytes in flight at @last_ns without @pending_q8 */
	u64	last_ns;
};

/* Of T and B.  A product below 1/256 byte becomes 0; every load is then the maximum. */
static inline void quell_portload_measure(struct quell_portload_params *p,
					  u64 base_rtt_ns, u64 link_bytes_ps)
{
	u64 link_q8 = quell_mul_sat_u64(link_bytes_ps, 1U << QUELL_PORTLOAD_Q);

	p->base_rtt_ns = base_rtt_ns;
	p->bdp_q8 = quell_mul_div_u64(link_q8, base_rtt_ns, QUELL_NS_PER_SEC);
}

/* Decay of the bytes in flight: their part of T, rounded up. */
static inline u64 quell_portload_decay_q8(u64 flight_q8, u64 elapsed_ns, u64 base_rtt_ns)
{
	u64 product;

	if (quell_mul_overflows_u64(flight_q8, elapsed_ns, &product))
		return quell_mul_div_ceil_u64(flight_q8, elapsed_ns, base_rtt_ns);
	return quell_div_ceil_u64(product, base_rtt_ns);
}

/*
 * Must be called before each packet that is sent, before quell_portload_add(); a time before the
 * last one counts as the last one.  The decay is rounded up, so that an idle link decays to 0 bytes
 * in flight; a steady stream settles below its value by at most T / dt / 256 bytes.
 */
static inline void quell_portload_advance(struct quell_portload *load,
					  const struct quell_portload_params *p,
					  u64 now_ns)
{
	u64 elapsed_ns = 0, sent_q8 = load->pending_q8, kept_q8 = 0;

	if (now_ns > load->last_ns) {
		elapsed_ns = now_ns - load->last_ns;
		load->last_ns = now_ns;
	}
	if (elapsed_ns < p->base_rtt_ns)
		kept_q8 = load->flight_q8 - quell_portload_decay_q8(load->flight_q8, elapsed_ns,
								    p->base_rtt_ns);
	else
		sent_q8 = quell_mul_div_u64(sent_q8, p->base_rtt_ns, elapsed_ns);
	load->flight_q8 = quell_add_sat_u64(kept_q8, sent_q8);
	load->pending_q8 = 0;
}

static inline void quell_portload_add(struct quell_portload *load, u32 bytes)
{
	load->tx_bytes += bytes;
	load->pending_q8 = quell_add_sat_u64(load->pending_q8, (u64)bytes << QUELL_PORTLOAD_Q);
}

/*
 * Data in flight and queued, in bandwidth-delay products, rounded down; QUELL_U64_MAX when that
 * does not fit or the product is 0.  @load is advanced to now.
 */
static inline u64 quell_portload_q16(const struct quell_portload *load,
				     const struct quell_portload_params *p,
				     u32 queue_bytes)
{
	u64 queue_q8 = (u64)queue_bytes << QUELL_PORTLOAD_Q;

	return quell_mul_div_u64(quell_add_sat_u64(load->flight_q8, queue_q8), QUELL_Q16_ONE,
				 p->bdp_q8);
}

/*
 * B minus the rate sent over about the last T, on the wire, rounded down: B minus flight / T, as
 * the rest of B * T over T: B times the unused part of B * T would be a product beyond 64 bits from
 * 100 Gbit/s and 0.5 ms on, and its division a loop.  This one fits for B * T up to 16 GiB.  0 when
 * the product is 0.
 */
static inline u64 quell_portload_available_bytes_ps(const struct quell_portload *load,
						    const struct quell_portload_params *p,
						    u64 link_bytes_ps)
{
	u64 left_q8 = quell_sub_sat_u64(p->bdp_q8, load->flight_q8);

	if (left_q8 == p->bdp_q8)
		return left_q8 ? link_bytes_ps : 0;
	return quell_mul_div_u64(left_q8, QUELL_NS_PER_SEC >> QUELL_PORTLOAD_Q, p->base_rtt_ns);
}

/* Wire bytes sent, in a record's units, rounded down; see struct quell_telemetry. */
static inline u32 quell_portload_tx_units(const struct quell_portload *load)
{
	return (load->tx_bytes / QUELL_TELEMETRY_TX_UNIT_BYTES) & QUELL_TELEMETRY_TX_MASK;
}

#endif /* _QUELL_CORE_PORT_PORTLOAD_H */
