/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Departure stamps: how they stand on the wire, and what of an echo is believed.
 *
 *	out:	stamp = departure + the flow's secret		modulo 2^32
 *	in:	departure = stamp echoed - the flow's secret	modulo 2^32
 *		rtt = receipt - departure
 *		  refused unless 0 < rtt < 2^31 ns, and the flow had a packet leave
 *		  then: not before the oldest data outstanding, not after the newest
 *		hold, of what the other host says, at most rtt - least / 2
 *
 * The secret hides the host's clock: without it all flows of a host, of all its
 * containers, would have one clock in common, which also tells how long the host
 * has been up.  How fast the clock runs it cannot hide.
 *
 * What the other host says it spent itself would be a way to deny the whole network.
 * But it does not change when data left and when its ACK came, so the least round trip
 * with hold times left in is the sender's own.  Part of that may be the other host's,
 * which holds every packet for a while at the least, and nobody can tell how much; so
 * half of it is taken for the network's for certain, and always left to it.  A host
 * whose least hold time is no longer than the network's least round trip has all
 * it says believed, to the ns; of a slower one the rest counts as the network's.
 *
 * Ignored: where the least comes from; an echo that names another packet of the
 * flow than the one that came; that a queue is said to be the host's, which nothing
 * here can tell (Documentation/swift.md has what that pays).
 */
#ifndef _QUELL_CORE_SIGNAL_ECHO_H
#define _QUELL_CORE_SIGNAL_ECHO_H

#include <quell/core/lib/types.h>

/* A round trip is below this, so that stamps modulo 2^32 can be told apart, ns. */
#define QUELL_ECHO_RTT_LIMIT_NS		0x80000000U

/**
 * struct quell_echo_span - when the flow had packets leave
 * @oldest_ns:	departure of the oldest data outstanding, ns; 0 none is
 * @newest_ns:	newest departure a packet was stamped with, ns
 */
struct quell_echo_span {
	u64	oldest_ns;
	u64	newest_ns;
};

/**
 * quell_echo_hide() - the stamp of a departure
 * @depart_ns: departure, ns
 * @secret:    the flow's
 *
 * Context: any.
 * Return: what goes on the wire.
 */
static inline u32 quell_echo_hide(u64 depart_ns, u32 secret)
{
	return (u32)depart_ns + secret;
}

/**
 * quell_echo_reveal() - the departure of a stamp that came back
 * @stamp:  from the wire
 * @secret: the flow's
 *
 * Context: any.
 * Return: departure, ns modulo 2^32; with the hold time, where that was added.
 */
static inline u32 quell_echo_reveal(u32 stamp, u32 secret)
{
	return stamp - secret;
}

/**
 * quell_echo_rtt_ns() - round-trip time from an echoed departure
 * @span:    when the flow had packets leave
 * @rx_ns:   receipt of the ACK, ns
 * @echo_ns: departure echoed, ns modulo 2^32
 *
 * Context: any.
 * Return: ns; 0 when no packet left then, and the echo is refused.
 */
static inline u64 quell_echo_rtt_ns(const struct quell_echo_span *span, u64 rx_ns,
				    u32 echo_ns)
{
	u32 rtt_ns = (u32)rx_ns - echo_ns;
	u64 depart_ns = rx_ns - rtt_ns;

	if (!rtt_ns || rtt_ns >= QUELL_ECHO_RTT_LIMIT_NS || rtt_ns > rx_ns)
		return 0;
	if (depart_ns > span->newest_ns || depart_ns < span->oldest_ns)
		return 0;
	return rtt_ns;
}

/**
 * quell_echo_hold_ns() - what is believed of a hold time
 * @hold_ns:  what the other host says, ns
 * @rtt_ns:   round-trip time, that included, ns
 * @least_ns: the least it has been, hold times included, ns; 0 not known
 *
 * Context: any.
 * Return: ns, at most @hold_ns; less when the rest is refused.
 */
static inline u64 quell_echo_hold_ns(u64 hold_ns, u64 rtt_ns, u64 least_ns)
{
	return quell_min_u64(hold_ns, quell_sub_sat_u64(rtt_ns, least_ns - least_ns / 2));
}

#endif /* _QUELL_CORE_SIGNAL_ECHO_H */
