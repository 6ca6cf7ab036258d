/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of Dart; those of the fall-back are DCQCN's.  Any values within their ranges are
 * compatible.  The receiver's half reads the parameters of the receiving host, the sender's half
 * those of the sending one.
 */
#ifndef _QUELL_CORE_DART_PARAMS_H
#define _QUELL_CORE_DART_PARAMS_H

#include <quell/core/core.h>
#include <quell/core/dart/machine.h>
#include <quell/core/dart/set.h>
#include <quell/core/dcqcn/params.h>

#define QUELL_DART_SLACK_NS		QUELL_RANGE(0, 0, 1000000000) /* Documentation/dart.md */
/* Part of the base round trip that a slack of 0 stands for. */
#define QUELL_DART_SLACK_RTT_SHIFT		2
#define QUELL_DART_PERIOD_NS		QUELL_RANGE(100000, 1000, 1000000000) /* dart.md */
#define QUELL_DART_CLEAR_NS		QUELL_RANGE(2000000, 1000, 10000000000ULL) /* dart.md */
#define QUELL_DART_FULL_Q16		QUELL_RANGE(58982, 1, 65536) /* 0.9, dart.md */
#define QUELL_DART_PERIODS		QUELL_RANGE(2, 1, 100) /* Documentation/dart.md */
/*
 * Dart III-B has 2 s.  A connection that sent one packet in that time would keep its host, or the
 * others of its host, from a part of the line.  At the smallest rate, 10 Mbit/s, a packet of 9000
 * bytes is sent each 7.2 ms: a sender silent for 20 ms does not use its part, and counts again with
 * its next packet.
 */
/* Documentation/dart.md */
#define QUELL_DART_IDLE_NS		QUELL_RANGE(20000000, 1000000, 3600000000000ULL)
#define QUELL_DART_PLAIN_IDLE_NS	QUELL_RANGE(1000000, 10000, 3600000000000ULL) /* dart.md */
#define QUELL_DART_LOOKAHEAD_NS		QUELL_RANGE(1000000, 0, 1000000000) /* dart.md */

/* Every field is u64 so that a table of offsets can address it; core.h explains them. */
struct quell_dart_params {
	struct quell_dcqcn_params	dcqcn;	/* sender: the fall-back's */
	/* Sender: queueing delay with room in the window at n > 1, 0: by the base round trip. */
	u64				slack_ns;
	u64				period_ns;
	u64				clear_ns;
	u64				full_q16;
	u64				periods;
	u64				idle_ns;
	u64				plain_idle_ns;
	u64				lookahead_ns;
};

/* The parameters of the state machine, <quell/core/dart/machine.h>. */
static inline struct quell_dart_machine_params
quell_dart_machine_params(const struct quell_dart_params *p)
{
	return (struct quell_dart_machine_params) {
		.period_ns = p->period_ns,
		.clear_ns = p->clear_ns,
		.full_q16 = p->full_q16,
		.periods = p->periods,
	};
}

/* The parameters of the set, <quell/core/dart/set.h>. */
static inline struct quell_dasr_params quell_dart_set_params(const struct quell_dart_params *p)
{
	return (struct quell_dasr_params) {
		.idle_ns = p->idle_ns,
		.plain_idle_ns = p->plain_idle_ns,
		.lookahead_ns = p->lookahead_ns,
	};
}

#endif /* _QUELL_CORE_DART_PARAMS_H */
