/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Departure stamps: their form on the wire, and how far an echo is trusted.
 *
 *	out:	stamp = departure + the flow's secret		modulo 2^32
 *	in:	departure = stamp echoed - the flow's secret	modulo 2^32
 *		rtt = receipt - departure
 *		  refused unless 0 < rtt < 2^31 ns, and a packet left then that the
 *		  ACK can be for: not before the oldest data outstanding; of a time
 *		  later than the newest the other host can have received, the excess
 *		  is hold time
 *		hold, as the other host states, at most rtt - least / 2
 *
 * The secret hides the host's clock: without it all flows of a host, of all its
 * containers, would share one visible clock, which also reveals the uptime of the
 * host.  The secret cannot hide the rate of the clock.
 *
 * An ACK may be delayed at the other host without need: by a timer, or until a reply is sent
 * with it.  That is neither the network's delay nor that of a busy host.  The other host may add
 * it to the stamp, as the short form of the option does with all hold time.  The sender knows which
 * data is acknowledged, and its departure.  So it knows how much was added, and no echo can have a
 * round trip seem shorter than it was.  Such a delay is no sample; it is accepted where no other
 * data was outstanding, because a second segment makes a host acknowledge at once.
 *
 * By reporting a large hold time the other host could hide all delay of the network.  But it cannot
 * change the departure of data and the receipt of its ACK, so the sender itself measures the
 * smallest round trip, hold times included.  An unknown part of that smallest round trip may belong
 * to the other host, which holds every packet for some minimum time.  So half of it is always
 * attributed to the network.  If the minimum hold time of a host does not exceed the network's
 * smallest round trip, the sender accepts all of its reported hold times, to the ns; for a slower
 * host the excess counts as delay of the network.
 *
 * Not handled: how the smallest round trip is found; a queueing delay that the other host reports
 * as hold time, which cannot be detected here (Documentation/swift.md has the gain of such a host).
 */
#ifndef _QUELL_CORE_SIGNAL_ECHO_H
#define _QUELL_CORE_SIGNAL_ECHO_H

#include <quell/core/lib/types.h>

/* A round trip is below this, so that stamps modulo 2^32 are unambiguous, ns. */
#define QUELL_ECHO_RTT_LIMIT_NS		0x80000000U

/* Waits of an ACK above this are added to the stamp, ns. */
#define QUELL_ECHO_WAIT_NS		50000U

/* When the flow sent its packets. */
struct quell_echo_span {
	u64	oldest_ns;	/* of outstanding data; 0: no data is outstanding */
	u64	newest_ns;	/* of data that the other host can have received */
};

/* The stamp of a departure. */
static inline u32 quell_echo_hide(u64 depart_ns, u32 secret)
{
	return (u32)depart_ns + secret;
}

/* Modulo 2^32; plus the hold time, if the peer added it to the stamp. */
static inline u32 quell_echo_reveal(u32 stamp, u32 secret)
{
	return stamp - secret;
}

/*
 * Time by which the echoed departure, modulo 2^32, is later than the newest; 0 if it is not, or not
 * before the receipt.
 */
static inline u64 quell_echo_added_ns(const struct quell_echo_span *span, u64 rx_ns, u32 echo_ns)
{
	u32 ago_ns = (u32)rx_ns - echo_ns;

	if (!ago_ns || ago_ns >= QUELL_ECHO_RTT_LIMIT_NS || ago_ns > rx_ns)
		return 0;
	return quell_sub_sat_u64(rx_ns - ago_ns, span->newest_ns);
}

/*
 * 0: no packet can have been sent at @echo_ns, modulo 2^32 and without the time added: the echo is
 * refused.
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

/*
 * The accepted part of a reported hold time.  @least_ns: smallest round-trip time so far, hold
 * times included, as in @rtt_ns; 0 unknown.
 */
static inline u64 quell_echo_hold_ns(u64 hold_ns, u64 rtt_ns, u64 least_ns)
{
	return quell_min_u64(hold_ns, quell_sub_sat_u64(rtt_ns, least_ns - least_ns / 2));
}

#endif /* _QUELL_CORE_SIGNAL_ECHO_H */
