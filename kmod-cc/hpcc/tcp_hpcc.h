/* SPDX-License-Identifier: GPL-2.0 */
/* What the two files of tcp_hpcc.ko know of each other. */
#ifndef _TCP_HPCC_H
#define _TCP_HPCC_H

#include <quell/quell.h>

extern struct quell_algo quell_hpcc_vaisf_algo;

#endif /* _TCP_HPCC_H */
