/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the two files of tcp_swift.ko. */
#ifndef _TCP_SWIFT_H
#define _TCP_SWIFT_H

int swift_vaisf_register(void);
void swift_vaisf_unregister(void);

#endif /* _TCP_SWIFT_H */
