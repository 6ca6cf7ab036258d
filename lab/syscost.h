/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Preloaded into user-mode Linux: the cost of a system call (syscost.c).
 */
#ifndef _QUELL_LAB_SYSCOST_H
#define _QUELL_LAB_SYSCOST_H

#include <stddef.h>
#include <sys/types.h>

void syscost_enter_user(pid_t pid);
void syscost_see_line(const char *text, size_t length);

#endif /* _QUELL_LAB_SYSCOST_H */
