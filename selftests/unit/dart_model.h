/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dart's sender in floating point, over DCQCN's model: written from section III-A and III-C of
 * the paper and from the description in <quell/core/dart/react.h>, not from the integer code.
 * Rates are bytes per second, times nanoseconds, windows bytes.
 */
#ifndef _QUELL_TEST_DART_MODEL_H
#define _QUELL_TEST_DART_MODEL_H

#include <stdbool.h>

#include "dcqcn_model.h"

struct dart_model_params {
	struct dcqcn_model_params dcqcn;
	double slack_ns;		/* at n > 1; 0: a fourth of the base */
};

struct dart_model {
	struct dcqcn_model dcqcn;
};

/* @e.line_rate is unused: the line is made of both interfaces' rates. */
struct dart_model_event {
	struct dcqcn_model_event e;
	double own_line, peer_line;	/* 0: unknown */
	double n;			/* 0: not stated */
	double header_bytes;		/* of a packet; 0: unknown */
};

struct dart_model_decision {
	double rate;		/* INFINITY: not paced */
	double window;
	double segments;	/* the share needs, before it is rounded up; 0: it has no window */
	double time_ns;		/* that @segments are for */
};

double dart_model_line(const struct dart_model_event *e);
void dart_model_start(const struct dart_model *m, const struct dart_model_params *p,
		      const struct dart_model_event *e, struct dart_model_decision *d);
void dart_model_decide(const struct dart_model *m, const struct dart_model_params *p,
		       const struct dart_model_event *e, struct dart_model_decision *d);
void dart_model_ack(struct dart_model *m, const struct dart_model_params *p,
		    struct dart_model_event *e, struct dart_model_decision *d);
void dart_model_loss(struct dart_model *m, const struct dart_model_params *p,
		     struct dart_model_event *e, struct dart_model_decision *d);
void dart_model_timeout(struct dart_model *m, const struct dart_model_params *p,
			struct dart_model_event *e, struct dart_model_decision *d);
void dart_model_after_idle(struct dart_model *m, const struct dart_model_params *p,
			   struct dart_model_event *e, double idle_ns,
			   struct dart_model_decision *d);

#endif /* _QUELL_TEST_DART_MODEL_H */
