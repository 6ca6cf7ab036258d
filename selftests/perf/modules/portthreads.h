/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between portthreads.c, compiled for the kernel, and ../port-threads.c, compiled for user space.
 */
#ifndef _QUELL_PORTTHREADS_H
#define _QUELL_PORTTHREADS_H

#ifndef __KERNEL__
#include <stdbool.h>
#endif

#define PORTTHREADS_PKTS	64

struct Qdisc_ops;

/* Features of the ports of a row. */
struct portthreads_row {
	const char	*name;
	bool		joint;
	bool		rate;
	bool		telemetry;
	bool		buffer;
};

/* The program's: zeroed memory in cache lines of its own. */
void *portthreads_alloc(unsigned long bytes);

/* The module's, which registers its qdisc. */
int init_module(void);
/* NULL behind the last. */
const struct portthreads_row *portthreads_row(unsigned int i);
/* A port with that row's features, and its packets. */
void *portthreads_make(const struct Qdisc_ops *ops, const struct portthreads_row *row);
/* Enqueue and dequeue packets; not 0 if there were fewer. */
int portthreads_step(const struct Qdisc_ops *ops, void *port, unsigned int enqueue,
		     unsigned int dequeue);

#endif /* _QUELL_PORTTHREADS_H */
