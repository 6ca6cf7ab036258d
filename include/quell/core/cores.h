/* SPDX-License-Identifier: GPL-2.0 */
/* All algorithms, for user space: tests, benchmarks, the laboratory. */
#ifndef _QUELL_CORE_CORES_H
#define _QUELL_CORE_CORES_H

#include <quell/core/dart/core.h>
#include <quell/core/dcqcn/core.h>
#include <quell/core/hpcc/core.h>
#include <quell/core/hpcc_vaisf/core.h>
#include <quell/core/smartt/core.h>
#include <quell/core/swift/core.h>
#include <quell/core/swift_vaisf/core.h>
#include <quell/core/timely/core.h>

static const struct quell_core * const quell_cores[] = {
	&quell_swift_core,
	&quell_swift_vaisf_core,
	&quell_hpcc_core,
	&quell_hpcc_vaisf_core,
	&quell_timely_core,
	&quell_smartt_core,
	&quell_dcqcn_core,
	&quell_dart_core,
};

#define QUELL_CORES_NR	QUELL_ARRAY_NR(quell_cores)

/**
 * quell_core_find() - look up an algorithm
 * @name: its name
 *
 * Return: the algorithm, or NULL.
 */
static inline const struct quell_core *quell_core_find(const char *name)
{
	u32 i;

	for (i = 0; i < QUELL_CORES_NR; i++)
		if (!__builtin_strcmp(quell_cores[i]->name, name))
			return quell_cores[i];
	return NULL;
}

#endif /* _QUELL_CORE_CORES_H */
