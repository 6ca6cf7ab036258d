/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One parameter of a core, for the tables CORE_ranges.h.
 */
#ifndef _QUELL_TEST_PARAM_RANGE_H
#define _QUELL_TEST_PARAM_RANGE_H

#include <stddef.h>

#include <quell/core/types.h>

/**
 * struct param_range - a parameter
 * @name:	as the administrator writes it
 * @offset:	of the u64 in the core's parameters
 * @min:	smallest value
 * @max:	largest value
 * @standard:	default
 */
struct param_range {
	const char *name;
	size_t offset;
	u64 min, max, standard;
};

/* @NAME: what QUELL_..._MIN, _MAX and _DEFAULT have in the middle */
#define PARAM_RANGE(params, name, field, NAME) {			\
	name, offsetof(struct params, field),				\
	QUELL_##NAME##_MIN, QUELL_##NAME##_MAX, QUELL_##NAME##_DEFAULT }

static inline u64 *param_at(void *params, const struct param_range *range)
{
	return (u64 *)((char *)params + range->offset);
}

#endif /* _QUELL_TEST_PARAM_RANGE_H */
