/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Variables on the stack that are not cleared.
 */
#ifndef _QUELL_UNINITIALIZED_H
#define _QUELL_UNINITIALIZED_H

/*
 * For a large variable of the packet path that is filled before it is read: kernels that
 * clear all variables on the stack (CONFIG_INIT_STACK_ALL_ZERO) leave this one alone.
 */
#if __has_attribute(__uninitialized__)
#define QUELL_UNINITIALIZED	__attribute__((__uninitialized__))
#else
#define QUELL_UNINITIALIZED
#endif

#endif /* _QUELL_UNINITIALIZED_H */
