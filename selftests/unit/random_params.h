/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random parameters of any algorithm, within their ranges.
 */
#ifndef _QUELL_TEST_RANDOM_PARAMS_H
#define _QUELL_TEST_RANDOM_PARAMS_H

#include <quell/core/algorithm.h>

#include "random.h"

/* Changes one parameter of @of on average; all but one of @of where @most. */
static inline void random_params(struct random_state *r, const struct quell_core *core,
				 void *params, u32 of, bool most)
{
	const struct quell_param_desc *desc;

	for (desc = core->params; desc < core->params + core->params_nr; desc++)
		if (!random_between(r, 0, of - 1) != most)
			*quell_core_param(params, desc) = random_magnitude(r, desc->min, desc->max);
	if (core->params_derive)
		core->params_derive(params);
}

#endif /* _QUELL_TEST_RANDOM_PARAMS_H */
