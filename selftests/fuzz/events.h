/* SPDX-License-Identifier: GPL-2.0 */
/* The events and arbitrary samples with which the fuzzers drive a core. */
#ifndef _QUELL_FUZZ_EVENTS_H
#define _QUELL_FUZZ_EVENTS_H

#include <string.h>

#include <quell/core/core.h>

#include "input.h"

#define MOST_EVENTS	256

enum event {
	EVENT_ACK, EVENT_LOSS, EVENT_RTO, EVENT_IDLE, EVENT_PARAMS, EVENT_UNDO, EVENT_INIT
};

static inline void take_sample(struct input *in, struct quell_sample *s)
{
	memset(s, 0, sizeof(*s));
	s->now_ns = take(in, 64);
	s->rtt_ns = take(in, 64);
	s->remote_ns = take(in, 64);
	s->min_rtt_ns = take(in, 64);
	s->link_bytes_ps = take(in, 64);
	s->acked_bytes = take(in, 32);
	s->acked_pkts = take(in, 32);
	s->marked_bytes = take(in, 32);
	s->trimmed_bytes = take(in, 32);
	s->lost_bytes = take(in, 32);
	s->inflight_bytes = take(in, 32);
	s->mss_bytes = take(in, 16);
	s->hops = take_byte(in);
	s->flags = take_byte(in);
	s->telemetry.link_bytes_ps = take(in, 64);
	s->telemetry.queue_bytes = take(in, 32);
	s->telemetry.tx_units = take(in, 32);
	s->telemetry.time_ns = take(in, 32);
	/* Few hops, so that successive records are often of the same hop. */
	s->telemetry.hop = take_byte(in) % 3;
}

#endif /* _QUELL_FUZZ_EVENTS_H */
