/* SPDX-License-Identifier: GPL-2.0 */
/* Overhead of PSP, the transport encryption of newer kernels, in each segment of a socket. */
#ifndef _QUELL_COMPAT_PSP_H
#define _QUELL_COMPAT_PSP_H

#include <compat/compat.h>

#ifdef QUELL_HAVE_PSP_SK_OVERHEAD
#include <net/psp.h>
#else
#include <net/sock.h>

static inline unsigned int psp_sk_overhead(const struct sock *sk)
{
	return 0;
}
#endif

#endif /* _QUELL_COMPAT_PSP_H */
