// SPDX-License-Identifier: GPL-2.0
/*
 * Takes round-trip times from any echoes (<quell/core/signal/echo.h>), and stops where a
 * promise is broken:
 *
 *	an accepted echo names a time within the span of the flow's departures
 *	the echo of such a time is accepted with any secret
 *	an accepted hold time is at most the reported one, and leaves the network at
 *	least half of the smallest round trip
 *
 * Input: secret, span, receipt, echo, hold time, least round trip.
 */
#include <stdio.h>
#include <stdlib.h>

#include <quell/core/signal/echo.h>

#include "input.h"

static void require(bool holds, const char *promise)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static void check_hold(struct input *in, u64 rtt_ns)
{
	u64 hold_ns = take(in, 25), least_ns = take(in, 64);
	u64 got_ns = quell_echo_hold_ns(hold_ns, rtt_ns, least_ns);
	u64 floor_ns = least_ns / 2 + least_ns % 2;

	require(got_ns <= hold_ns && got_ns <= rtt_ns, "no more than was said");
	require(!got_ns || rtt_ns - got_ns >= floor_ns, "the network has its half");
	require(got_ns == hold_ns || rtt_ns - got_ns <= floor_ns || !got_ns, "all that may be");
}

/* The echo of a departure within the span must yield its exact round-trip time. */
static void check_genuine(const struct quell_echo_span *span, u64 rx_ns, u32 secret, u64 age_ns)
{
	u64 depart_ns = span->newest_ns - age_ns, got_ns;

	if (age_ns > span->newest_ns || depart_ns < span->oldest_ns || depart_ns >= rx_ns ||
	    rx_ns - depart_ns >= QUELL_ECHO_RTT_LIMIT_NS)
		return;
	got_ns = quell_echo_rtt_ns(span, rx_ns,
				   quell_echo_reveal(quell_echo_hide(depart_ns, secret), secret));
	require(got_ns == rx_ns - depart_ns, "a genuine echo is believed");
}

/* Less the added time an echo is of the newest departure. */
static void check_added(const struct quell_echo_span *span, u64 rx_ns, u32 echo_ns)
{
	u64 added_ns = quell_echo_added_ns(span, rx_ns, echo_ns);

	if (!added_ns)
		return;
	require(!quell_echo_rtt_ns(span, rx_ns, echo_ns), "what was added to is no sample");
	require(span->newest_ns + added_ns < rx_ns, "less was added than it took");
	require((u32)(span->newest_ns + added_ns) == echo_ns, "that was added");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	u32 secret = take(&in, 32);
	u64 rx_ns = take(&in, 62), lag_ns = take(&in, 33), age_ns = take(&in, 33);
	struct quell_echo_span span = { .newest_ns = rx_ns > lag_ns ? rx_ns - lag_ns : rx_ns };
	u32 stamp = take(&in, 32);
	u64 rtt_ns;

	span.oldest_ns = take_byte(&in) % 4 && span.newest_ns > age_ns ?
			 span.newest_ns - age_ns : 0;
	/* Choose a plausible stamp: random bytes would rarely hit a valid one. */
	if (take_byte(&in) % 2)
		stamp = quell_echo_hide(rx_ns - take(&in, 33), secret);
	rtt_ns = quell_echo_rtt_ns(&span, rx_ns, quell_echo_reveal(stamp, secret));
	if (rtt_ns) {
		require(rtt_ns <= rx_ns && rtt_ns < QUELL_ECHO_RTT_LIMIT_NS, "a time that was");
		require(rx_ns - rtt_ns >= span.oldest_ns && rx_ns - rtt_ns <= span.newest_ns,
			"a packet left then");
		require(quell_echo_hide(rx_ns - rtt_ns, secret) == stamp, "of that stamp");
	}
	check_added(&span, rx_ns, quell_echo_reveal(stamp, secret));
	check_genuine(&span, rx_ns, secret, take(&in, 33));
	check_hold(&in, rtt_ns);
	return 0;
}
