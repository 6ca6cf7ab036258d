/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The load of a link, as its switch sees it: the data in flight over it in
 * bandwidth-delay products.  1 is a link just full, 2 one before which as much
 * again is queued.
 *
 *	when a packet leaves, dt after the one before it left:
 *		dt < T:	flight = (1 - dt / T) * flight + bytes of the one before
 *		else:	flight = T / dt * bytes of the one before
 *	load = (flight + queue it leaves behind) / (B * T)
 *
 * T is the base round-trip time of the network, B the rate of the link.  A
 * steady stream of r bytes/s has r * T bytes in flight, whatever its packets.
 *
 * After the switch of HPCC-PINT in its authors' simulator, but for three things.
 * All bytes of the wire count: there, packets that are not data move the clock
 * and leave no bytes, so a link that carries acknowledgments as well looks idle.
 * After a gap longer than T the bytes are those of T, not all of a packet that
 * may be larger than the product.  And the queue is what there is, not averaged:
 * a hop that fills shows at once.
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

/**
 * struct quell_portload_params - what the link is measured against
 * @base_rtt_ns:	T, ns
 * @bdp_q8:		B * T, bytes Q8
 */
struct quell_portload_params {
	u64	base_rtt_ns;
	u64	bdp_q8;
};

/**
 * struct quell_portload - what went over one link
 * @tx_bytes:		wire bytes, free-running
 * @pending_bytes:	those since @last_ns, on their way now
 * @flight_q8:		bytes in flight at @last_ns without @pending_bytes, Q8
 * @last_ns:		when @flight_q8 was reckoned
 */
struct quell_portload {
	u64	tx_bytes;
	u64	pending_bytes;
	u64	flight_q8;
	u64	last_ns;
};

/**
 * quell_portload_measure() - set what to measure against
 * @p: set in full
 * @base_rtt_ns: T
 * @link_bytes_ps: B
 *
 * A product below 1/256 byte counts as none: every load is then the largest.
 *
 * Context: any; the caller owns @p.
 */
static inline void quell_portload_measure(struct quell_portload_params *p,
					  u64 base_rtt_ns, u64 link_bytes_ps)
{
	u64 link_q8 = quell_mul_sat_u64(link_bytes_ps, 1U << QUELL_PORTLOAD_Q);

	p->base_rtt_ns = base_rtt_ns;
	p->bdp_q8 = quell_mul_div_u64(link_q8, base_rtt_ns, QUELL_NS_PER_SEC);
}

/**
 * quell_portload_advance() - reckon what is in flight now
 * @load: the link
 * @p: T counts
 * @now_ns: time, ns; one before the last counts as the last
 *
 * To be called before each packet that leaves, before quell_portload_add().
 * What decays is rounded up, so that nothing sent becomes nothing in flight; a
 * steady stream rests below its value by at most T / dt / 256 bytes.
 *
 * Context: any; the caller owns @load.
 */
static inline void quell_portload_advance(struct quell_portload *load,
					  const struct quell_portload_params *p,
					  u64 now_ns)
{
	u64 elapsed_ns = quell_sub_sat_u64(now_ns, load->last_ns);
	u64 sent_q8 = quell_mul_sat_u64(load->pending_bytes, 1U << QUELL_PORTLOAD_Q);
	u64 kept_q8 = 0;

	if (elapsed_ns < p->base_rtt_ns)
		kept_q8 = load->flight_q8 - quell_mul_div_ceil_u64(load->flight_q8, elapsed_ns,
								   p->base_rtt_ns);
	else
		sent_q8 = quell_mul_div_u64(sent_q8, p->base_rtt_ns, elapsed_ns);
	load->flight_q8 = quell_add_sat_u64(kept_q8, sent_q8);
	load->pending_bytes = 0;
	load->last_ns = quell_max_u64(load->last_ns, now_ns);
}

/**
 * quell_portload_add() - a packet leaves
 * @load: the link
 * @bytes: its length on the wire
 *
 * Context: any; the caller owns @load.
 */
static inline void quell_portload_add(struct quell_portload *load, u32 bytes)
{
	load->tx_bytes += bytes;
	load->pending_bytes = quell_add_sat_u64(load->pending_bytes, bytes);
}

/**
 * quell_portload_q16() - the load
 * @load: the link, advanced to now
 * @p: B * T counts
 * @queue_bytes: what is queued before it
 *
 * Context: any.
 * Return: data in flight and queued, in bandwidth-delay products, Q16, rounded
 * down; QUELL_U64_MAX when that does not fit or the product is 0.
 */
static inline u64 quell_portload_q16(const struct quell_portload *load,
				     const struct quell_portload_params *p,
				     u32 queue_bytes)
{
	u64 queue_q8 = (u64)queue_bytes << QUELL_PORTLOAD_Q;

	return quell_mul_div_u64(quell_add_sat_u64(load->flight_q8, queue_q8), QUELL_Q16_ONE,
				 p->bdp_q8);
}

/**
 * quell_portload_available_bytes_ps() - rate the link has left
 * @load: the link, advanced to now
 * @p: B * T counts
 * @link_bytes_ps: B
 *
 * Context: any.
 * Return: B less what was sent in the last T or so, wire bytes/s, rounded down; 0
 * when the product is 0.
 */
static inline u64 quell_portload_available_bytes_ps(const struct quell_portload *load,
						    const struct quell_portload_params *p,
						    u64 link_bytes_ps)
{
	u64 left_q8 = quell_sub_sat_u64(p->bdp_q8, load->flight_q8);

	return left_q8 ? quell_mul_div_u64(link_bytes_ps, left_q8, p->bdp_q8) : 0;
}

/* Wire bytes so far as a record has them, rounded down; see struct quell_telemetry. */
static inline u32 quell_portload_tx_units(const struct quell_portload *load)
{
	return (load->tx_bytes / QUELL_TELEMETRY_TX_UNIT_BYTES) & QUELL_TELEMETRY_TX_MASK;
}

#endif /* _QUELL_CORE_PORT_PORTLOAD_H */
