/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dart's state machine and its model side by side: for a fuzzer,
 * selftests/fuzz/fuzz_dart_machine.c.
 */
#ifndef _QUELL_TEST_DART_MACHINE_PAIR_H
#define _QUELL_TEST_DART_MACHINE_PAIR_H

#include <quell/core/dart/machine.h>

#include "dart_machine_model.h"

struct machine_pair {
	struct quell_dart_machine m;
	struct quell_dart_machine_params p;
	struct quell_dart_arrivals arrivals;
	struct machine_model model;
	u64 now_ns, start_ns;
	u64 bytes;		/* that arrived in this period */
	bool marked;		/* some of them were */
};

/* Bytes at a rate too near to line rate for a model in floating point. */
static inline bool machine_pair_is_near(const struct machine_pair *x, u64 line_bytes_ps)
{
	double full = (double)(x->now_ns - x->start_ns) * line_bytes_ps / 1e9 *
		      x->p.full_q16 / 65536.0;
	double distance = x->bytes - full;

	return line_bytes_ps && distance < 3 && distance > -3;
}

static inline void machine_pair_arrive(struct machine_pair *x, u64 bytes, u64 marks)
{
	x->arrivals.bytes += bytes;
	x->arrivals.marks += marks;
	x->bytes += bytes;
	x->marked |= marks > 0;
}

/* The first difference after a call of quell_dart_machine_run(), or NULL. */
static inline const char *machine_pair_run(struct machine_pair *x, u64 line_bytes_ps)
{
	bool due = quell_dart_machine_is_due(&x->m, &x->p, x->now_ns);
	struct quell_dart_machine before = x->m;
	bool changed;

	if (x->now_ns - x->start_ns >= x->p.period_ns &&
	    machine_pair_is_near(x, line_bytes_ps))
		machine_pair_arrive(x, 8, 0);
	changed = quell_dart_machine_run(&x->m, &x->p, x->now_ns, &x->arrivals, line_bytes_ps);
	if (changed != (before.state != x->m.state))
		return "whether the state changed";
	if (due != (x->now_ns - x->start_ns >= x->p.period_ns))
		return "whether a period has ended";
	if (!due)
		return __builtin_memcmp(&before, &x->m, sizeof(before)) ?
		       "within a period" : NULL;
	machine_model_period(&x->model, x->now_ns, x->now_ns - x->start_ns, x->bytes, x->marked,
			     x->arrivals.hosts < 2 ? 0 : line_bytes_ps, x->p.full_q16 / 65536.0,
			     x->p.periods, x->p.clear_ns);
	x->start_ns = x->now_ns;
	x->bytes = 0;
	x->marked = false;
	return (int)x->m.state == (int)x->model.state ? NULL : "state";
}

#endif /* _QUELL_TEST_DART_MACHINE_PAIR_H */
