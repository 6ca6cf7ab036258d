/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RCP at a switch's port (Dukkipati, "Rate Control Protocol (RCP): Congestion control to make flows
 * complete quickly", 2008), for quell_labrcp and the unit tests.  The Dart paper compares itself
 * with it in Figure 15.
 *
 *	every T:	R = R (1 + (T / d) (alpha (C - y) - beta q / d) / C)
 *
 * R is the rate of every flow over the port, C the link's, y the bytes enqueued in the last T, over
 * T, q the queue, d the average of the round-trip times that packets carry, and T is d, or the
 * longest that is given.  R is at most C.  The least R is so many bytes in d as are given, or one
 * unit of the record that carries it: RCP has refresh packets, by which slower senders hear of
 * their rate each round trip, and ours have not.
 */
#ifndef _QUELL_LAB_RCP_PORT_H
#define _QUELL_LAB_RCP_PORT_H

#include <quell/core/core.h>
#include <quell/core/lib/math.h>
#include <quell/telemetry.h>

#define RCP_Q32_SHIFT		32
#define RCP_Q32_ONE		(1ULL << RCP_Q32_SHIFT)
/* The weight of a round-trip time in the average, as in the simulator of RCP's authors: 0.02. */
#define RCP_RTT_WEIGHTS		50U
/* Shortest and longest round-trip time in the arithmetic. */
#define RCP_RTT_MIN_NS		1000ULL
#define RCP_RTT_MAX_NS		4000000000ULL
/* Intervals of an idle time that are computed at an enqueue; more have no effect. */
#define RCP_IDLE_INTERVALS	1000
/* Largest link in the arithmetic, above 3.2 Tbit/s: its Q16 fits 56 bits. */
#define RCP_LINK_MAX_BYTES_PS	(1ULL << 40)

/* Parameters of a port. */
struct rcp_port_params {
	u64	link_bytes_ps;	/* C, 1 .. RCP_LINK_MAX_BYTES_PS */
	u64	rtt_ns;	/* d before the first packet, 1 us .. 1 s */
	u64	interval_max_ns;	/* longest T, 1 us .. 1 s */
	u64	least_bytes;	/* the least R, in d, 1 .. 65536 */
	u64	alpha_q16;	/* alpha, above 0, at most 16 */
	u64	beta_q16;	/* beta, at most 16 */
};

/* State of a port; all zero before its first packet. */
struct rcp_port {
	u64	rate_q16;	/* R, bytes/s */
	u64	rtt_ns_q16;	/* d, at least RCP_RTT_MIN_NS */
	u64	interval_ns;	/* T of the interval */
	u64	next_ns;	/* its end */
	u64	in_bytes;	/* bytes enqueued in it, as on the wire */
};

/* Bytes that the link carries in a time, Q16. */
static inline u64 rcp_port_carries_q16(const struct rcp_port_params *p, u64 time_ns)
{
	return quell_mul_div_u64(p->link_bytes_ps << QUELL_Q16_SHIFT, time_ns, QUELL_NS_PER_SEC);
}

/* The least and the largest R. */
static inline u64 rcp_port_limit_q16(const struct rcp_port_params *p, u64 rtt_ns, u64 rate_q16)
{
	u64 unit_q16 = (u64)QUELL_TELEMETRY_RATE_UNIT_BYTES_PS << QUELL_Q16_SHIFT;
	u64 least_q16 = quell_mul_div_u64(p->least_bytes << QUELL_Q16_SHIFT, QUELL_NS_PER_SEC,
					  rtt_ns);

	least_q16 = quell_max_u64(least_q16, unit_q16);
	return quell_min_u64(quell_max_u64(rate_q16, least_q16),
			     p->link_bytes_ps << QUELL_Q16_SHIFT);
}

/*
 * The equation.  With B = C d the factor is 1 + (alpha C T - alpha y T - beta q T / d) / B; its
 * parts are Q32. Three roundings in Q32, and those of B and q T / d, each of 2^-16 of a byte.
 * Returns R, with an error of at most one unit in the last place and, of R before, 3 * 2^-32 +
 * (beta + (alpha y T + beta q T / d) / B) * 2^-16 / B.
 */
static inline u64 rcp_port_rate_q16(const struct rcp_port_params *p, const struct rcp_port *port,
				    u64 queue_bytes)
{
	u64 alpha_q32 = p->alpha_q16 << QUELL_Q16_SHIFT, beta_q32 = p->beta_q16 << QUELL_Q16_SHIFT;
	u64 rtt_ns = port->rtt_ns_q16 >> QUELL_Q16_SHIFT;
	u64 bdp_q16 = rcp_port_carries_q16(p, rtt_ns);
	u64 in_q16 = port->in_bytes << QUELL_Q16_SHIFT;
	u64 rate_q16 = port->rate_q16;
	u64 more_q32, less_q32, queue_q16;

	queue_q16 = quell_mul_div_u64(queue_bytes << QUELL_Q16_SHIFT, port->interval_ns, rtt_ns);
	more_q32 = quell_mul_div_u64(alpha_q32, port->interval_ns, rtt_ns);
	less_q32 = quell_add_sat_u64(quell_mul_div_u64(in_q16, alpha_q32, bdp_q16),
				     quell_mul_div_u64(queue_q16, beta_q32, bdp_q16));
	if (more_q32 >= less_q32) {
		rate_q16 = quell_add_sat_u64(rate_q16, quell_mul_shr_u64(rate_q16,
									 more_q32 - less_q32,
									 RCP_Q32_SHIFT));
	} else {
		less_q32 = quell_min_u64(less_q32 - more_q32, RCP_Q32_ONE);
		rate_q16 -= quell_mul_shr_u64(rate_q16, less_q32, RCP_Q32_SHIFT);
	}
	return rcp_port_limit_q16(p, rtt_ns, rate_q16);
}

/* Taken as RCP_RTT_MIN_NS to RCP_RTT_MAX_NS. */
static inline void rcp_port_add_rtt(struct rcp_port *port, u64 rtt_ns)
{
	u64 rtt_ns_q16;

	rtt_ns = quell_min_u64(quell_max_u64(rtt_ns, RCP_RTT_MIN_NS), RCP_RTT_MAX_NS);
	rtt_ns_q16 = rtt_ns << QUELL_Q16_SHIFT;
	if (rtt_ns_q16 >= port->rtt_ns_q16)
		port->rtt_ns_q16 += quell_div_u64(rtt_ns_q16 - port->rtt_ns_q16, RCP_RTT_WEIGHTS);
	else
		port->rtt_ns_q16 -= quell_div_u64(port->rtt_ns_q16 - rtt_ns_q16, RCP_RTT_WEIGHTS);
}

/* A new interval, from the end of the last. */
static inline void rcp_port_begin(struct rcp_port *port, const struct rcp_port_params *p)
{
	port->interval_ns = quell_min_u64(port->rtt_ns_q16 >> QUELL_Q16_SHIFT, p->interval_max_ns);
	port->next_ns += port->interval_ns;
	port->in_bytes = 0;
}

/*
 * End the intervals that are over.  A port that has been idle is through when R is the link's, for
 * more intervals have no effect, and after RCP_IDLE_INTERVALS: this runs in softirq, under the
 * port's lock.
 */
static inline void rcp_port_advance(struct rcp_port *port, const struct rcp_port_params *p,
				    u64 now_ns, u64 queue_bytes)
{
	u64 link_q16 = p->link_bytes_ps << QUELL_Q16_SHIFT;
	u32 done;

	if (!port->next_ns) {
		*port = (struct rcp_port) {
			.rate_q16 = link_q16, .rtt_ns_q16 = p->rtt_ns << QUELL_Q16_SHIFT,
			.next_ns = now_ns,
		};
		rcp_port_begin(port, p);
	}
	for (done = 1; now_ns >= port->next_ns; done++) {
		port->rate_q16 = rcp_port_rate_q16(p, port, queue_bytes);
		rcp_port_begin(port, p);
		if (((port->rate_q16 == link_q16 && !queue_bytes) || done >= RCP_IDLE_INTERVALS) &&
		    now_ns > port->next_ns)
			port->next_ns += quell_div_u64(now_ns - port->next_ns, port->interval_ns) *
					 port->interval_ns;
	}
}

#endif /* _QUELL_LAB_RCP_PORT_H */
