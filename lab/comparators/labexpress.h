/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labexpress: options and counters of qdisc "labexpress", shared declarations.
 */
#ifndef _QUELL_LABEXPRESS_H
#define _QUELL_LABEXPRESS_H

#include <linux/types.h>

#define LABEXPRESS_KIND		"labexpress"

/* TCA_OPTIONS of the qdisc, all required. */
struct labexpress_options {
	__u32	limit_bytes;	/* data that waits at most */
	__u32	credit_pkts;	/* credits that wait at most, 1 .. 1000 */
};

#define LABEXPRESS_CREDIT_MAX_PKTS	1000U

/* TCA_STATS_APP of the qdisc. */
struct labexpress_stats {
	__u64	credit_pkts;	/* credits that left */
	/* Credits dropped, which the qdisc's drops do not count: they are meant to be. */
	__u64	credit_drop_pkts;
	__u64	backlog_max_bytes;	/* most data that waited */
};

#ifdef __KERNEL__
int labexpress_port_register(void);
void labexpress_port_unregister(void);
#endif

#endif /* _QUELL_LABEXPRESS_H */
