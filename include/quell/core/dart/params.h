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

#define QUELL_DART_SLACK_NS_DEFAULT		0ULL		/* Documentation/dart.md */
#define QUELL_DART_SLACK_NS_MIN			0ULL
#define QUELL_DART_SLACK_NS_MAX			1000000000ULL
/* Part of the base round trip that a slack of 0 stands for. */
#define QUELL_DART_SLACK_RTT_SHIFT		2
#define QUELL_DART_PERIOD_NS_DEFAULT		100000ULL	/* Documentation/dart.md */
#define QUELL_DART_PERIOD_NS_MIN		1000ULL
#define QUELL_DART_PERIOD_NS_MAX		1000000000ULL
#define QUELL_DART_CLEAR_NS_DEFAULT		2000000ULL	/* Documentation/dart.md */
#define QUELL_DART_CLEAR_NS_MIN			1000ULL
#define QUELL_DART_CLEAR_NS_MAX			10000000000ULL
#define QUELL_DART_FULL_Q16_DEFAULT		58982ULL	/* 0.9, Documentation/dart.md */
#define QUELL_DART_FULL_Q16_MIN			1ULL
#define QUELL_DART_FULL_Q16_MAX			65536ULL
#define QUELL_DART_PERIODS_DEFAULT		2ULL		/* Documentation/dart.md */
#define QUELL_DART_PERIODS_MIN			1ULL
#define QUELL_DART_PERIODS_MAX			100ULL
/*
 * Dart III-B has 2 s.  A connection that sent one packet in that time would keep its host, or the
 * others of its host, from a part of the line.  At the smallest rate, 10 Mbit/s, a packet of 9000
 * bytes is sent each 7.2 ms: a sender silent for 20 ms does not use its part, and counts again with
 * its next packet.
 */
#define QUELL_DART_IDLE_NS_DEFAULT		20000000ULL	/* Documentation/dart.md */
#define QUELL_DART_IDLE_NS_MIN			1000000ULL
#define QUELL_DART_IDLE_NS_MAX			3600000000000ULL
#define QUELL_DART_PLAIN_IDLE_NS_DEFAULT	1000000ULL	/* Documentation/dart.md */
#define QUELL_DART_PLAIN_IDLE_NS_MIN		10000ULL
#define QUELL_DART_PLAIN_IDLE_NS_MAX		3600000000000ULL
#define QUELL_DART_LOOKAHEAD_NS_DEFAULT		1000000ULL	/* Documentation/dart.md */
#define QUELL_DART_LOOKAHEAD_NS_MIN		0ULL
#define QUELL_DART_LOOKAHEAD_NS_MAX		1000000000ULL

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
