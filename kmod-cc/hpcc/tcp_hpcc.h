/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the two files of tcp_hpcc.ko. */
#ifndef _TCP_HPCC_H
#define _TCP_HPCC_H

int hpcc_vaisf_register(void);
void hpcc_vaisf_unregister(void);

#endif /* _TCP_HPCC_H */
