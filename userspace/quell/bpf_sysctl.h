/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Permission to choose a congestion control, and the namespaces that have chosen it.
 */
#ifndef QUELL_CLI_BPF_SYSCTL_H
#define QUELL_CLI_BPF_SYSCTL_H

#include <stdbool.h>

/* Length of the longest name with its terminator. */
#define BPF_SYSCTL_NAME_LEN	16

bool bpf_list_has(const char *list, const char *name);
bool bpf_is_default(const char *name);
bool bpf_is_allowed(const char *name);
int bpf_check_renewal(const char *name);
int bpf_wait_until_gone(const char *name);
int bpf_allow(const char *name);
int bpf_make_default(const char *name);

#endif /* QUELL_CLI_BPF_SYSCTL_H */
