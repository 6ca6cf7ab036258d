/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Largest difference of a core from its floating-point model, in one format for all.
 *
 *	struct model_error window = { .limit = 1e-4 };
 *
 *	ok &= model_error_note(&window, error, value, bound);	(every step)
 *	model_error_print(&window, "swift", "standard", "window");
 *
 * test_model_errors makes the table of Documentation/notes/testing.md from these lines.
 */
#ifndef _QUELL_TEST_MODEL_ERROR_H
#define _QUELL_TEST_MODEL_ERROR_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/**
 * struct model_error - the largest errors of one quantity
 * @limit:	largest relative error allowed; 0: only the bound of each step
 * @steps:	steps compared
 * @relative:	largest error, as a part of the model's value
 * @bound:	the bound of that step, as a part of the same
 * @share:	largest error, as a part of the bound of its own step
 */
struct model_error {
	double limit;
	unsigned long long steps;
	double relative, bound, share;
};

/* Record the @error of one step; returns whether it stayed within its bounds. */
static inline bool model_error_note(struct model_error *e, double error, double value,
				    double bound)
{
	double relative = error > 0 ? error / value : 0;

	e->steps++;
	if (relative >= e->relative) {
		e->relative = relative;
		e->bound = bound / value;
	}
	e->share = fmax(e->share, error / bound);
	/* A comparison with a NaN is false, so a NaN fails here. */
	return error <= bound && (!(e->limit > 0) || relative <= e->limit);
}

static inline void model_error_print(const struct model_error *e, const char *core,
				     const char *run, const char *quantity)
{
	double bound = e->limit > 0 ? e->limit : e->bound;

	printf("# model-error %s %s %s %llu %.1e %.1e %.3f\n", core, run, quantity,
	       e->steps, e->relative, bound, e->share);
}

#endif /* _QUELL_TEST_MODEL_ERROR_H */
