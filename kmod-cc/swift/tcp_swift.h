/* SPDX-License-Identifier: GPL-2.0 */
/* What the two files of tcp_swift.ko know of each other. */
#ifndef _TCP_SWIFT_H
#define _TCP_SWIFT_H

#include <quell/quell.h>

extern struct quell_algo quell_swift_vaisf_algo;

#endif /* _TCP_SWIFT_H */
