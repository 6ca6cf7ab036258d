/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Quell option, spoken by the program of option.bpf.c for all sockets of the guest.
 */
#ifndef QUELL_LAB_BPF_OPTION_H
#define QUELL_LAB_BPF_OPTION_H

#include <bpf/libbpf.h>

void option_enable(const char *path, struct bpf_object *algorithm);

#endif /* QUELL_LAB_BPF_OPTION_H */
