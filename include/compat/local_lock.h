/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks of per-CPU data that is used with bottom halves off.  Only PREEMPT_RT needs them, and
 * only since local_bh_disable() holds no lock of the CPU there; kernels older than these locks
 * hold it.
 */
#ifndef _QUELL_COMPAT_LOCAL_LOCK_H
#define _QUELL_COMPAT_LOCAL_LOCK_H

/* Some kernels' local_lock.h does not include its dependencies. */
#include <linux/percpu.h>
#include <linux/local_lock.h>

#ifndef local_lock_nested_bh
#define local_lock_nested_bh(lock)	((void)(lock))
#define local_unlock_nested_bh(lock)	((void)(lock))
#endif

#endif /* _QUELL_COMPAT_LOCAL_LOCK_H */
