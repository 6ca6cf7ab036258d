/* SPDX-License-Identifier: GPL-2.0 */
/* DCQCN as a struct quell_core; the algorithm is in <quell/core/dcqcn/react.h>. */
#ifndef _QUELL_CORE_DCQCN_CORE_H
#define _QUELL_CORE_DCQCN_CORE_H

#include <quell/core/algorithm.h>
#include <quell/core/dcqcn/react.h>

/*
 * Longest path on which a flow that is fitted to its path uses DCQCN: its timers and notifications
 * go off several times per round trip of a longer one, each before the effect of the last.
 */
#define QUELL_DCQCN_LONGEST_NS		50000ULL
/* Least share of the path, ten times the smallest rate, as Swift's. */
#define QUELL_DCQCN_SLOWEST_BYTES_PS	12500000ULL

#define DCQCN_PARAM(name_, unit_, field_, range_, doc_) \
	QUELL_PARAM(struct quell_dcqcn_params, name_, unit_, field_, DCQCN_##range_, doc_)

static const struct quell_param_desc quell_dcqcn_core_params[] = {
#include <quell/core/dcqcn/param_rows.h>
};

#define DCQCN_COUNTER(name_, field_, doc_) \
	QUELL_COUNTER(struct quell_dcqcn_stats, name_, field_, doc_)

static const struct quell_counter_desc quell_dcqcn_core_counters[] = {
#include <quell/core/dcqcn/counter_rows.h>
};

QUELL_CORE_EVENTS(dcqcn, dcqcn)

static const struct quell_core quell_dcqcn_core = {
	.name			= "dcqcn",
	.module			= "tcp_dcqcn",
	.flags			= QUELL_CORE_ECN,
	.needs			= { .signal = QUELL_ADAPT_MARKS,
				    .longest_ns = QUELL_DCQCN_LONGEST_NS,
				    .slowest_bytes_ps = QUELL_DCQCN_SLOWEST_BYTES_PS },
	QUELL_CORE_MEMBERS(dcqcn, dcqcn),
	.restart_offset		= offsetof(struct quell_dcqcn_params, restart_idle_ns),
};

#endif /* _QUELL_CORE_DCQCN_CORE_H */
