/* SPDX-License-Identifier: GPL-2.0 */
/* What the two files of tcp_swift.ko know of each other. */
#ifndef _TCP_SWIFT_H
#define _TCP_SWIFT_H

#include <linux/init.h>
#include <linux/types.h>

struct sock;

/* The window is the core's alone: losses and their undoing leave it. */
u32 quell_swift_ssthresh(struct sock *sk);
u32 quell_swift_undo_cwnd(struct sock *sk);

int __init quell_swift_vaisf_register(void);
void __exit quell_swift_vaisf_unregister(void);

#endif /* _TCP_SWIFT_H */
