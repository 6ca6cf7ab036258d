/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arguments of fuzz_core.c for the rules of one algorithm, rules/NAME.h, which define struct flow
 * by FUZZ_FLOW() and a struct fuzz_rules called rules.
 */
#ifndef _QUELL_FUZZ_RULES_H
#define _QUELL_FUZZ_RULES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"

/**
 * struct fuzz_step - one event of a flow, after the core has handled it
 * @event:	which one; EVENT_INIT has no state before it
 * @ev:		input of the event, state and decision after it
 * @before:	the algorithm's variables before the event
 * @counted:	its counters before the event
 * @decided:	decision before the event
 */
struct fuzz_step {
	enum event event;
	const struct quell_event *ev;
	const void *before;
	const void *counted;
	const struct quell_decision *decided;
};

/**
 * FUZZ_FLOW_OF() - a step as the rules of one algorithm read it, with the types of that algorithm
 * @params_: begins the name of its parameters
 * @algo_: begins the names of its other structures
 */
#define FUZZ_FLOW_OF(params_, algo_)					\
struct flow {								\
	const struct quell_event *ev;					\
	const struct quell_##params_##_params *p;			\
	const struct quell_##algo_##_vars *v, *before;			\
	const struct quell_##algo_##_stats *st, *counted;		\
	const struct quell_decision *out;				\
};									\
									\
static struct flow flow_of(const struct fuzz_step *step)		\
{									\
	return (struct flow) {						\
		.ev = step->ev, .p = step->ev->params,			\
		.v = step->ev->vars, .before = step->before,		\
		.st = step->ev->stats, .counted = step->counted,	\
		.out = &step->ev->decision,				\
	};								\
}

#define FUZZ_FLOW(algo_)	FUZZ_FLOW_OF(algo_, algo_)

struct flow;

typedef void fuzz_rule(const struct flow *f, const struct quell_sample *s);

/**
 * struct fuzz_rules - the promises of one algorithm, each called after the core
 * @apply:    optional: whether the promises are of such a flow
 * @ack:      of an ACK
 * @loss:     of a fast retransmit
 * @rto:      of a timeout
 * @idle:     of sending that resumes
 * @undo:     optional: of losses that were spurious, with what was recorded at them in f->ev->undo
 * @decision: of each event, and of the start
 */
struct fuzz_rules {
	bool (*apply)(const struct flow *f);
	fuzz_rule *ack, *loss, *rto, *idle, *undo, *decision;
};

/* Print @promise and the step, and stop, unless @holds. */
void require(bool holds, const char *promise);

#endif /* _QUELL_FUZZ_RULES_H */
