/* SPDX-License-Identifier: GPL-2.0 */
/* What the two files of tcp_hpcc.ko know of each other. */
#ifndef _TCP_HPCC_H
#define _TCP_HPCC_H

int hpcc_vaisf_register(void);
void hpcc_vaisf_unregister(void);

#endif /* _TCP_HPCC_H */
