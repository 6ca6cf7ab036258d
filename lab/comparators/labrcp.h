/* SPDX-License-Identifier: GPL-2.0 */
/*
 * quell_labrcp: options of qdisc "labrcp", and shared declarations.
 */
#ifndef _QUELL_LABRCP_H
#define _QUELL_LABRCP_H

#include <linux/types.h>

#define LABRCP_KIND	"labrcp"

/* TCA_OPTIONS of the qdisc, all required. */
struct labrcp_options {
	__u32	limit_bytes;	/* limit of the queue */
	__u32	rtt_ns;	/* d of RCP's equation before the first packet, 1 us .. 1 s */
	__u32	interval_ns;	/* longest T, 1 us .. 1 s */
	__u32	least_bytes;	/* the least rate, in d, 1 .. 65536 */
	__u32	alpha_q16;	/* alpha, above 0, at most 16 */
	__u32	beta_q16;	/* beta, at most 16 */
};

#define LABRCP_TIME_MIN_NS	1000U
#define LABRCP_TIME_MAX_NS	1000000000U
#define LABRCP_LEAST_MAX_BYTES	65536U
#define LABRCP_GAIN_MAX_Q16	(16U << 16)

#ifdef __KERNEL__
int labrcp_port_register(void);
void labrcp_port_unregister(void);
#endif

#endif /* _QUELL_LABRCP_H */
