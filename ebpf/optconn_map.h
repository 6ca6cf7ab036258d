/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The storage of sockets with the Quell option.  The program of option.bpf.c writes it and the
 * algorithms' programs read it: the loader gives all of them one map.  Without that (bpftool) an
 * algorithm has an empty map, and the signals of TCP only.
 */
#ifndef _QUELL_EBPF_OPTCONN_MAP_H
#define _QUELL_EBPF_OPTCONN_MAP_H

#include "optconn.h"

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct quell_optconn);
} quell_options SEC(".maps");

#endif /* _QUELL_EBPF_OPTCONN_MAP_H */
