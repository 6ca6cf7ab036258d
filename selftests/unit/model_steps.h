/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Steps of a core and its model from the same state, with parameters anywhere in their ranges
 * and with the standard ones.  Before this a test includes test.h.
 */
#ifndef _QUELL_TEST_MODEL_STEPS_H
#define _QUELL_TEST_MODEL_STEPS_H

#include <stdio.h>

#include "random.h"

#ifndef STEPS
#define STEPS		1200000
#endif
#define EPISODE		50	/* steps of one flow */

enum event { EVENT_ACK, EVENT_LOSS, EVENT_RTO, EVENT_IDLE };

static inline enum event random_event(struct random_state *r)
{
	static const enum event events[] = {
		EVENT_ACK, EVENT_ACK, EVENT_ACK, EVENT_ACK, EVENT_ACK, EVENT_ACK,
		EVENT_ACK, EVENT_LOSS, EVENT_RTO, EVENT_IDLE,
	};

	return events[random_between(r, 0, 9)];
}

/* Steps that were compared, steps in which rounding decides the branch, and events. */
struct model_steps {
	unsigned int compared, ambiguous, events[EVENT_IDLE + 1];
};

static inline void model_steps_print(const struct model_steps *n)
{
	printf("# %u steps compared, %u undecidable (%u ACKs, %u losses, %u timeouts, %u idle)\n",
	       n->compared, n->ambiguous, n->events[EVENT_ACK], n->events[EVENT_LOSS],
	       n->events[EVENT_RTO], n->events[EVENT_IDLE]);
}

#define MODEL_STEPS_TESTS						\
TEST(single_steps_any)							\
{									\
	test_single_steps(_metadata, "any");				\
}									\
									\
TEST(single_steps_standard)						\
{									\
	test_single_steps(_metadata, "standard");			\
}

#endif /* _QUELL_TEST_MODEL_STEPS_H */
