/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Departure stamps: their form on the wire, and how far an echo is trusted.
 *
 *	out:	stamp = departure + the flow's secret		modulo 2^32
 *	in:	departure = stamp echoed - the flow's secret	modulo 2^32
 *		rtt = receipt - departure
 *		  refused unless 0 < rtt < 2^31 ns, and the flow had a packet leave
 *		  then: not before the oldest data outstanding, not after the newest
 *		  departure; or later by a wait, see below
 *		hold, of what the other host says, at most rtt - least / 2
 *
 * The secret hides the host's clock: without it all flows of a host, of all its
 * containers, would share one visible clock, which also reveals the uptime of the
 * host.  The secret cannot hide the rate of the clock.
 *
 * An ACK may wait at the other host though it could have left: for a timer, or for an answer
 * that takes it along.  That is neither the network's delay nor that of a busy host.  The other
 * host may add it to the stamp, as the short form of the option does with all hold time, and
 * the sum may be a time at which no packet left any more.  The round trip is taken for no less
 * than the smallest so far, so that no wait, true or false, can make the network seem shorter.
 *
 * By reporting a large hold time the other host could hide all delay of the network.
 * But it cannot change when data left and when its ACK arrived, so the sender itself
 * measures the smallest round trip, hold times included.  An unknown part of that
 * smallest round trip may belong to the other host, which holds every packet for some
 * minimum time.  So half of it is always attributed to the network.  If the minimum
 * hold time of a host does not exceed the network's smallest round trip, the sender
 * accepts all of its reported hold times, to the ns; for a slower host the excess
 * counts as delay of the network.
 *
 * Not handled: how the smallest round trip is found; an echo that names another packet
 * of the flow than the one received, or a wait that was none, by which the other host hides a
 * queue; a queueing delay that the other host reports as
 * hold time, which cannot be detected here (Documentation/swift.md has the gain of
 * such a host).
 */
#ifndef _QUELL_CORE_SIGNAL_ECHO_H
#define _QUELL_CORE_SIGNAL_ECHO_H

#include <quell/core/lib/types.h>

/* A round trip is below this, so that stamps modulo 2^32 can be told apart, ns. */
#define QUELL_ECHO_RTT_LIMIT_NS		0x80000000U

/**
 * struct quell_echo_span - when the flow had packets leave
 * @oldest_ns:	departure of the oldest outstanding data, ns; 0 if no data is
 *		outstanding
 * @newest_ns:	newest departure a packet was stamped with, ns
 * @least_ns:	smallest round-trip time so far, ns; 0 unknown: then no wait is believed
 */
struct quell_echo_span {
	u64	oldest_ns;
	u64	newest_ns;
	u64	least_ns;
};

/**
 * quell_echo_hide() - the stamp of a departure
 * @depart_ns: departure, ns
 * @secret:    secret of the flow
 *
 * Context: any.
 * Return: the stamp to send.
 */
static inline u32 quell_echo_hide(u64 depart_ns, u32 secret)
{
	return (u32)depart_ns + secret;
}

/**
 * quell_echo_reveal() - the departure of a stamp that came back
 * @stamp:  stamp received
 * @secret: secret of the flow
 *
 * Context: any.
 * Return: departure, ns modulo 2^32; plus the time that the peer added to the stamp.
 */
static inline u32 quell_echo_reveal(u32 stamp, u32 secret)
{
	return stamp - secret;
}

/* The time that an echo names, ns: the last before the receipt of the ACK that fits. */
static inline u64 quell_echo_time_ns(u64 rx_ns, u32 echo_ns)
{
	return rx_ns - (u32)((u32)rx_ns - echo_ns);
}

/**
 * quell_echo_has_waited() - has the other host added the wait of its ACK to the stamp?
 * @span:    when the flow had packets leave
 * @rx_ns:   receipt of the ACK, ns
 * @echo_ns: departure echoed, ns modulo 2^32; quell_echo_rtt_ns() accepts it
 *
 * Context: any.
 * Return: true if no packet left as late as that.  If one did this cannot be told.
 */
static inline bool quell_echo_has_waited(const struct quell_echo_span *span, u64 rx_ns,
					 u32 echo_ns)
{
	return quell_echo_time_ns(rx_ns, echo_ns) > span->newest_ns;
}

/**
 * quell_echo_rtt_ns() - round-trip time from an echoed departure
 * @span:    when the flow had packets leave
 * @rx_ns:   receipt of the ACK, ns
 * @echo_ns: departure echoed, ns modulo 2^32
 *
 * Context: any.
 * Return: ns, without what the other host added to the stamp; 0 if no packet can have left at
 * that time: the echo is refused.
 */
static inline u64 quell_echo_rtt_ns(const struct quell_echo_span *span, u64 rx_ns,
				    u32 echo_ns)
{
	u32 rtt_ns = (u32)rx_ns - echo_ns;
	u64 depart_ns = quell_echo_time_ns(rx_ns, echo_ns);

	if (!rtt_ns || rtt_ns >= QUELL_ECHO_RTT_LIMIT_NS || rtt_ns > rx_ns)
		return 0;
	if (depart_ns < span->oldest_ns)
		return 0;
	if (!quell_echo_has_waited(span, rx_ns, echo_ns))
		return rtt_ns;
	return span->least_ns ? quell_max_u64(rtt_ns, span->least_ns) : 0;
}

/**
 * quell_echo_hold_ns() - the accepted part of a reported hold time
 * @hold_ns:  hold time that the other host reports, ns
 * @rtt_ns:   round-trip time, hold time included, ns
 * @least_ns: smallest round-trip time so far, hold times included, ns; 0 unknown
 *
 * Context: any.
 * Return: ns, at most @hold_ns; less when the rest is refused.
 */
static inline u64 quell_echo_hold_ns(u64 hold_ns, u64 rtt_ns, u64 least_ns)
{
	return quell_min_u64(hold_ns, quell_sub_sat_u64(rtt_ns, least_ns - least_ns / 2));
}

#endif /* _QUELL_CORE_SIGNAL_ECHO_H */
